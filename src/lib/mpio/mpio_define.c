/* In and out of define mode: the file follows its definitions. */
#include "mpio.h"

#include "base_error.h"
#include "driver_fill.h"

int mpio_redef_all(struct driver *self)
{
    struct mpio *m = (struct mpio *)self;
    int err = self->ds->writable ? mpio_sync_numrecs_all(self) : NC_NOERR;
    return m->pending && err == NC_NOERR ? mpio_tell_pending(m, NC_EFILE) : err;
}

/* Are there variables from `first` on to be filled? */
static bool wants_fill(const struct cdf_header *h, int first)
{
    for (int id = first; id < h->nvars; id++)
        if (h->vars[id].fill && (!h->vars[id].is_record || h->numrecs > 0)) return true;
    return false;
}

int mpio_fill_new_all(struct mpio *m, int first)
{
    if (!wants_fill(&m->base.ds->header, first)) return NC_NOERR;
    return driver_fill_new_all(&m->base, first);
}

/* New variables are filled first, then a header tells of them. */
static int define_in_place_all(struct mpio *m, const struct cdf_header *before)
{
    struct dataset *ds = m->base.ds;
    int first = before == NULL ? 0 : before->nvars;
    int err = NC_NOERR, failed = NC_NOERR; /* of what a late mount had still to write */
    if (wants_fill(&ds->header, first))
        err = dataset_agree_all(ds, mpio_fill_new_all(m, first), &failed, NULL, 0);
    if (err != NC_NOERR || failed != NC_NOERR) return err != NC_NOERR ? err : failed;
    err = mpio_write_header_all(&m->base);
    int agreed = dataset_agree_all(ds, err, NULL, NULL, 0);
    if (agreed != NC_NOERR) mpio_restore_header_all(m);
    return agreed;
}

int mpio_enddef_all(struct driver *self, const struct cdf_header *before)
{
    struct mpio *m = (struct mpio *)self;
    bool moves = before != NULL && cdf_move_total(before, &self->ds->header) > 0;
    int err = moves ? mpio_move_all(m, before) : define_in_place_all(m, before);
    if (err != NC_NOERR) return err;
    m->created = false;
    m->defined = true;
    return NC_NOERR;
}
