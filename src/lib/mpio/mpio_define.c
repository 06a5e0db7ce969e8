/* In and out of define mode: the file follows its definitions. */
#include "mpio.h"

#include "base_error.h"
#include "driver_fill.h"

int mpio_redef_all(struct driver *self)
{
    return self->ds->writable ? mpio_sync_numrecs_all(self) : NC_NOERR;
}

/* Are there variables from `first` on to be filled? */
static bool wants_fill(const struct cdf_header *h, int first)
{
    for (int id = first; id < h->nvars; id++)
        if (h->vars[id].fill && (!h->vars[id].is_record || h->numrecs > 0)) return true;
    return false;
}

int mpio_enddef_all(struct driver *self, const struct cdf_header *before)
{
    struct mpio *m = (struct mpio *)self;
    struct driver_dataset *ds = self->ds;
    int first = before == NULL ? 0 : before->nvars;

    int err = before == NULL ? NC_NOERR : mpio_move_all(m, before);
    if (err != NC_NOERR) return err;
    err = mpio_write_header_all(self);
    err = driver_agree_all(ds, err, NULL, NULL, 0);
    if (err != NC_NOERR) return err;

    m->created = false;
    m->defined = true;
    if (!wants_fill(&ds->header, first)) return NC_NOERR;
    err = driver_fill_new_all(self, first);
    return driver_agree_all(ds, err, NULL, NULL, 0);
}
