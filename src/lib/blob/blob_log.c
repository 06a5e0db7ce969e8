/* Extends the log in the group's subfile: finds its end, and adds pages to its tables. */
#include <string.h>
#include <sys/stat.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_mpi.h"
#include "blob_frames.h"
#include "subfile_digest.h"
#include "subfile_names.h"

int blob_frames_add_page(struct blob_sub *own, int varid, int level, int64_t page)
{
    int64_t *pages;
    if (page >> SUBFILE_DIGEST_PAGE_BITS != 0)
        return base_error_set(NC_EVARSIZE, "%s: its log of frames would be too long",
                              own->ds.path);
    base_require(level >= 0 && level < SUBFILE_LEVELS && page >= SUBFILE_LOG_BEGIN &&
                 page % SUBFILE_PLACE == 0);
    int err = subfile_get_pages(&own->subfile, varid, false, &pages);
    if (err == NC_NOERR) pages[level] = page;
    return err;
}

/* Finds the end of the log, on process 0 of the group. The end comes after everything
 * that may contain data, including pages that may still be empty, and bytes that a killed
 * job wrote beyond the number of records in the header. */
static int find_end(struct blob *b, int64_t *end)
{
    struct blob_sub *s = b->own;
    const struct cdf_header *h = &s->ds.header, *master = &b->base.ds->header;
    struct stat st;
    int err = NC_NOERR;
    *end = h->numrecs < SUBFILE_LOG_BEGIN ? SUBFILE_LOG_BEGIN : h->numrecs;
    if (base_fs_stat(s->ds.full_path, &st) != 0)
        return base_error_system(NC_EFILE, "examining", s->ds.full_path);
    if (st.st_size - h->begin_record > *end) *end = st.st_size - h->begin_record;
    for (int id = 0; id < master->nvars && err == NC_NOERR; id++) {
        int64_t *pages;
        if (subfile_var(&s->subfile, id) < 0) continue;
        err = subfile_get_pages(&s->subfile, id, false, &pages);
        for (int i = 0; i < SUBFILE_LEVELS && err == NC_NOERR; i++) {
            int64_t after = pages[i] + subfile_page_size(i, b->size);
            if (pages[i] < 0)
                err = subfile_complain(&s->subfile, id, 0, -1, NC_ENOTNC,
                                       "the offset of a page of its table is damaged");
            else if (pages[i] != 0 && after > *end)
                *end = after;
        }
    }
    return err;
}

int blob_frames_end_all(struct blob *b)
{
    int64_t end = 0;
    if (b->frames.end > 0) return NC_NOERR;
    int err = b->rank == 0 ? find_end(b, &end) : NC_NOERR;
    if (err != NC_NOERR) end = -1;
    int mpi = MPI_Bcast(&end, 1, MPI_INT64_T, 0, b->comm);
    if (mpi != MPI_SUCCESS)
        return base_mpi_error(mpi, NC_EMPI, "broadcasting the end of a log");
    b->frames.end = end > 0 ? end : 0;
    if (end > 0) return NC_NOERR;
    return err != NC_NOERR ? err
                           : base_error_set(NC_EREAD, "%s: its log could not be read",
                                            b->own->ds.path);
}

void blob_frames_opened(struct blob *b)
{
    const char *hint = b->base.ds->hints.compress;
    struct blob_frames *f = &b->frames;
    int i;
    f->safe = b->base.ds->header.numrecs > 0 ? b->base.ds->header.numrecs : 1;
    memcpy(f->rules, hint, sizeof f->rules);
    if (hint[0] != '\0' || b->own == NULL) return;
    const struct cdf_header *h = &b->own->ds.header;
    if (cdf_find_att(h, NC_GLOBAL, SUBFILE_ATT_CODEC, &i) != NC_NOERR) return;
    const struct cdf_att *a = &h->gatts.list[i];
    if (a->type != NC_CHAR || a->nelems >= (int64_t)sizeof f->rules) return;
    memcpy(f->rules, a->values, (size_t)a->nelems);
    f->rules[a->nelems] = '\0';
}
