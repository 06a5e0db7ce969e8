/* Finishes an interrupted redefinition when the dataset is next opened for writing, by
 * any number of processes. Process 0 takes over the journal, all processes read both
 * headers from it, and the journal's rounds are completed. */
#include <sys/stat.h>

#include "base_error.h"
#include "base_mem.h"
#include "mpio_move.h"

/* Makes process 0 take over the journal and describe it to all. Returns the agreed
 * result. */
static int find_all(struct mpio *m, struct journal *j)
{
    struct dataset *ds = m->base.ds;
    int err = dataset_agree_all(ds, journal_init(j, ds->full_path), NULL, NULL, 0);
    if (err != NC_NOERR) return err;
    if (ds->rank == 0) {
        err = journal_open_dataset(j, (uint64_t)ds->identity.inode);
        j->guard = m->file.guard;
        if (err == NC_NOERR) err = journal_acquire(j, ds->hints.redef_wait);
    }
    err = dataset_share_result_all(ds, err);
    return err == NC_NOERR ? mpio_share_journal_all(m, j) : err;
}

/* Reads both headers on all processes. All processes get the same result. */
static int read_headers_all(struct mpio *m, struct journal *j, struct cdf_header *before,
                            struct cdf_header *after)
{
    struct dataset *ds = m->base.ds;
    const struct journal_facts *f = &j->facts;
    int64_t n = f->before + f->after + f->fills;
    unsigned char *bytes = base_malloc((size_t)n);
    int err = dataset_agree_all(ds, bytes == NULL ? NC_ENOMEM : NC_NOERR, NULL, NULL, 0);
    if (err == NC_NOERR && ds->rank == 0) err = journal_read_headers(j, bytes);
    err = dataset_share_result_all(ds, err);
    if (err == NC_NOERR) err = dataset_share_all(ds, bytes, n, 0);
    int decoded = err;
    if (decoded == NC_NOERR) decoded = journal_decode_headers(f, bytes, before, after);
    base_free(bytes);
    err = dataset_concur_all(ds, decoded, NULL, NULL, 0);
    if (err != NC_NOERR && decoded == NC_NOERR) {
        cdf_free(before);
        cdf_free(after);
    }
    return err;
}

/* Passes the current size of the file to all processes. Returns the agreed result. */
static int share_size_all(struct mpio *m)
{
    int64_t size = 0;
    int err = m->base.ds->rank == 0 ? file_size(&m->file, &size) : NC_NOERR;
    err = dataset_agree_all(m->base.ds, err, NULL, &size, 1);
    m->known_size = size;
    file_set_end(&m->file, size);
    return err;
}

static int resume_all(struct mpio *m, struct journal *j, const struct cdf_header *before)
{
    struct dataset *ds = m->base.ds;
    struct mpio_mover v;
    int err = mpio_mover_init(&v, m, j, before, &ds->header);
    dataset_raise_records(ds, ds->header.numrecs);
    m->numrecs_in_file = ds->header.numrecs;
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    if (err == NC_NOERR) err = journal_resume_all(&v.movers);
    mpio_mover_free(&v);
    cdf_free(&ds->header);
    cdf_init(&ds->header, 1);
    return err;
}

/* Finishes the redefinition, unless another job has finished it in the meantime. All
 * processes get the same result. */
static int finish_recovery_all(struct mpio *m, struct journal *j)
{
    struct dataset *ds = m->base.ds;
    struct cdf_header before;
    if (j->state.phase == JOURNAL_NONE) return NC_NOERR;
    int err = read_headers_all(m, j, &before, &ds->header);
    if (err != NC_NOERR) return err;
    err = resume_all(m, j, &before);
    cdf_free(&before);
    return err;
}

int mpio_recover_all(struct mpio *m)
{
    struct journal j;
    int err = find_all(m, &j);
    if (err == NC_NOERR) err = finish_recovery_all(m, &j);
    if (err == NC_NOERR) err = share_size_all(m);
    journal_free(&j);
    return err;
}

int mpio_delete(const char *path, MPI_Info info)
{
    char *journal = journal_of(path);
    int err = file_delete(path, info);
    if (err == NC_NOERR)
        journal_forget(journal);
    else
        base_free(journal);
    return err;
}
