/* Implements enddef: moves data if necessary, fills new variables, and writes the header.
 * While data move, no other job may write. */
#include "mpio.h"

#include "base_error.h"
#include "journal.h"
#include "driver_fill.h"
#include "mpio_move.h"

int mpio_redef_all(struct driver *self)
{
    struct mpio *m = (struct mpio *)self;
    int err = self->ds->writable ? mpio_sync_numrecs_all(self) : NC_NOERR;
    return m->pending && err == NC_NOERR ? mpio_report_pending(m, NC_EFILE) : err;
}

/* Fills new variables, then writes the header that describes them. */
static int define_in_place_all(struct mpio *m, const struct cdf_header *before)
{
    struct dataset *ds = m->base.ds;
    int first = before == NULL ? 0 : before->nvars;
    int err = NC_NOERR, failed = NC_NOERR; /* error of an earlier, delayed write */
    if (driver_has_fill(&ds->header, first))
        err =
            dataset_agree_all(ds, driver_fill_new_all(&m->base, first), &failed, NULL, 0);
    if (err != NC_NOERR || failed != NC_NOERR) return err != NC_NOERR ? err : failed;
    err = mpio_write_header_all(&m->base);
    int agreed = dataset_agree_all(ds, err, NULL, NULL, 0);
    if (agreed != NC_NOERR) mpio_restore_header_all(m);
    return agreed;
}

/* Returns whether a variable's offset changes. Even so, if there are no records, there
 * may be nothing to move. */
static bool relocates(const struct cdf_header *before, const struct cdf_header *after)
{
    if (before->nrecord_vars > 0 && before->record_size != after->record_size)
        return true;
    for (int id = 0; id < before->nvars; id++)
        if (before->vars[id].begin != after->vars[id].begin) return true;
    return false;
}

/* Runs enddef while no other job can write. Another job would put its values, or replay
 * its log, at the old offsets, which may now belong to a new variable. */
static int define_alone_all(struct mpio *m, const struct cdf_header *before)
{
    struct dataset *ds = m->base.ds;
    struct journal j = {.fd = -1, .file = -1, .guard = -1};
    int err = NC_NOERR;
    if (ds->rank == 0) {
        const int64_t size = cdf_file_size(before);
        err = journal_init(&j, ds->full_path);
        if (err == NC_NOERR) err = mpio_lock_layout(m, &j, before);
        if (err == NC_NOERR && file_known_end(&m->file) > size)
            file_set_end(&m->file, size);
    }
    err = dataset_share_result_all(ds, err);
    if (err == NC_NOERR) err = define_in_place_all(m, before);
    journal_free(&j);
    return err;
}

int mpio_enddef_all(struct driver *self, const struct cdf_header *before)
{
    struct mpio *m = (struct mpio *)self;
    const struct cdf_header *after = &self->ds->header;
    int err;
    if (before != NULL && cdf_move_total(before, after) > 0)
        err = mpio_move_all(m, before);
    else if (before != NULL && relocates(before, after))
        err = define_alone_all(m, before);
    else
        err = define_in_place_all(m, before);
    if (err != NC_NOERR) return err;
    m->created = false;
    m->defined = true;
    return NC_NOERR;
}
