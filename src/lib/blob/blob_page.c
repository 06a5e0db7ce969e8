/* Writes the master's first page and the generation of the subfiles (see blob.h). */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_mem.h"
#include "blob.h"
#include "blob_lease.h"
#include "subfile_digest.h"
#include "subfile_generation.h"
#include "subfile_names.h"

/* ---- begin ---- */

void blob_page_first(struct cdf_superblock *e)
{
    e->stage = CDF_WRITING;
    e->now = (struct cdf_generation){.opening = 1, .nonce = base_owner_new_nonce()};
}

/* Checks that there is a lease: without a descriptor of the master, other jobs could not
 * be excluded. */
static int check_lease(const struct blob *b)
{
    if (b->base.ds->lease != NULL) return NC_NOERR;
    return base_error_set(NC_EFILE,
                          "%s: cannot acquire a lease on it: only MPI-IO may be able to "
                          "access its file system",
                          b->base.ds->full_path);
}

int blob_page_create(struct blob *b)
{
    int err = check_lease(b);
    return err == NC_NOERR ? blob_lease_begin(b->base.ds->lease, &b->facts) : err;
}

/* Compares the header that mpio has read with the page. Sets b->facts.numrecs. */
static int check_header(struct blob *b, int fd)
{
    struct dataset *ds = b->base.ds;
    int err = subfile_digest_check_master(&ds->header, &b->facts, fd, ds->full_path);
    b->facts.numrecs = ds->header.numrecs;
    return err;
}

/* When opening for writing, begins a generation. If a job was killed right after
 * beginning one, no value has changed in that generation, so it is reused. The page
 * reaches its device before any subfile gets the generation; otherwise a subfile could be
 * newer after a power failure. Removes the file of a killed join, because it is unknown
 * which values in it are valid. */
int blob_page_open(struct blob *b)
{
    const struct dataset *ds = b->base.ds;
    struct cdf_superblock *e = &b->facts;
    struct blob_lease *lease = ds->lease;
    if (!ds->writable) {
        int read = subfile_read_superblock(ds->full_path, e);
        return read == NC_NOERR ? check_header(b, -1) : read;
    }
    int err = check_lease(b);
    if (err == NC_NOERR) err = subfile_read_page(lease->fd, ds->full_path, e);
    b->found = *e;
    if (err == NC_NOERR) err = check_header(b, lease->fd);
    if (err != NC_NOERR) return err;
    char *joining = subfile_join_path(b->path, e);
    if (joining != NULL) (void)unlink(joining);
    base_free(joining);
    if (e->stage != CDF_BEGINNING) {
        e->before = e->now;
        e->now =
            (struct cdf_generation){e->before.opening + 1, base_owner_new_nonce(), 0};
        e->stage = CDF_BEGINNING;
    }
    b->untouched = true;
    err = blob_lease_write(lease, e, true);
    return err == NC_NOERR ? base_sync_data(lease->fd, lease->path) : err;
}

int blob_page_begun(struct blob *b)
{
    base_require(b->facts.stage == CDF_BEGINNING);
    b->facts.stage = CDF_WRITING;
    return blob_lease_write(b->base.ds->lease, &b->facts, true);
}

/* ---- subfiles ---- */

int blob_page_define(struct cdf_header *h)
{
    int dim, id;
    int err = cdf_def_dim(h, SUBFILE_VAR_GENERATION, SUBFILE_GENERATION, &dim);
    return err == NC_NOERR
               ? cdf_def_var(h, SUBFILE_VAR_GENERATION, NC_INT64, 1, &dim, &id)
               : err;
}

/* Skips a missing subfile, which will be recognised as outdated if it reappears. */
int blob_page_stamp(struct blob *b, uint64_t syncs, bool sync)
{
    int first = NC_NOERR;
    if (b->own != NULL)
        return b->rank == 0 ? blob_sub_stamp(b, b->own, syncs, sync) : NC_NOERR;
    for (int64_t i = b->base.ds->rank; i < b->facts.nsubfiles; i += b->base.ds->nprocs) {
        struct blob_sub *s;
        int err = blob_sub_get(b, (int)i, &s);
        if (err == NC_NOERR) err = blob_sub_stamp(b, s, syncs, sync);
        if (err != NC_ENOENT && first == NC_NOERR) first = err;
    }
    return first;
}

/* ---- while it is open ---- */

int blob_page_commit(struct blob *b)
{
    base_require(b->facts.stage == CDF_WRITING);
    return blob_lease_write(b->base.ds->lease, &b->facts, false);
}

int blob_page_undo(struct blob *b, const struct cdf_superblock *before)
{
    return blob_lease_write(b->base.ds->lease, before, false);
}

/* Syncs the page before the header changes, so that the device never has a page older
 * than the header. */
int blob_page_redefine(struct blob *b)
{
    struct cdf_definitions *d = b->facts.definitions, after;
    const struct blob_lease *lease = b->base.ds->lease;
    if (!b->facts.checked) return NC_NOERR;
    int err = subfile_digest_master(&b->base.ds->header, &after);
    if (err != NC_NOERR) return err;
    /* If a change is being undone, the page already describes both headers. */
    bool same = after.sum == d[0].sum && after.size == d[0].size;
    d[1] = after;
    if (same) return NC_NOERR;
    err = blob_page_commit(b);
    return err != NC_NOERR || b->fresh ? err : base_sync_data(lease->fd, lease->path);
}

void blob_page_redefined(struct blob *b)
{
    if (b->facts.definitions[1].size > 0)
        b->facts.definitions[0] = b->facts.definitions[1];
}

int64_t blob_page_next_sync(const struct blob *b)
{
    return b->base.ds->rank == 0 ? (int64_t)b->facts.now.syncs + 1 : 0;
}

int blob_page_synced(struct blob *b, int64_t syncs)
{
    base_require(b->base.ds->rank != 0 || (uint64_t)syncs == b->facts.now.syncs + 1);
    b->facts.now.syncs = (uint64_t)syncs;
    b->unsynced = true;
    return b->base.ds->rank == 0 ? blob_page_commit(b) : NC_NOERR;
}

/* ---- end ---- */

void blob_page_restore(struct blob *b)
{
    if (b->untouched) (void)blob_lease_write(b->base.ds->lease, &b->found, true);
    b->untouched = false;
}

/* Returns the number of records in the master's header; if the header cannot be read, the
 * number known to this opening. */
static int64_t find_numrecs(const struct blob *b)
{
    enum { HEAD = 12 };
    const struct cdf_header *h = &b->base.ds->header;
    const struct blob_lease *lease = b->base.ds->lease;
    unsigned char head[HEAD];
    int64_t n = base_read_some(lease->fd, CDF_SUPERBLOCK, head, HEAD);
    return n == HEAD ? cdf_decode_numrecs(h->format, head) : h->numrecs;
}

int blob_page_end(struct blob *b, bool complete)
{
    struct dataset *ds = b->base.ds;
    struct blob_lease *lease = ds->lease;
    if (complete && lease != NULL && lease->owner) b->facts.numrecs = find_numrecs(b);
    if (complete) b->facts.stage = CDF_COMPLETE;
    ds->lease = NULL;
    return blob_lease_release(lease, &b->facts, ds->open_failed);
}
