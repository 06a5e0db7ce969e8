/* Presents another library's dataset in subfiles as if it were a single file.
 *
 * No file contains the header of the whole dataset. So it is composed from the headers of
 * the master file and the subfiles, encoded in memory, and read from there. */
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "util_blob_impl.h"

bool util_blob_is_apart(const struct util_classic *c)
{
    return c->base > 0 || c->stands_in ||
           subfile_foreign_is_parted(&c->header, false, c->size);
}

int util_blob_compose(struct util_classic *c)
{
    struct util_blob *b = c->blob;
    struct cdf_header whole;
    if (subfile_foreign_kind(&c->header, c->stands_in) == SUBFILE_FOREIGN_NONE)
        return base_error_set(NC_ENOENT, "No such file or directory");
    int err =
        subfile_foreign_begin(&b->foreign, &c->header, c->stands_in, c->path, &whole);
    if (err == NC_NOERR) {
        b->head = base_malloc((size_t)whole.size);
        if (b->head == NULL) err = NC_ENOMEM;
    }
    if (err != NC_NOERR) {
        cdf_free(&whole);
        return err;
    }
    cdf_free(&c->header);
    c->header = whole;
    b->facts.nsubfiles = b->foreign.nfiles;
    b->facts.nprocs = b->foreign.nprocs;
    b->facts.defined = true;
    return NC_NOERR;
}

int util_blob_assign(struct util_classic *c, const struct subfile_tally *t)
{
    struct util_blob *b = c->blob;
    int err = subfile_foreign_assign(&b->foreign, &c->header, c->path, t);
    c->size = cdf_file_size(&c->header);
    cdf_encode(&c->header, b->head);
    return err;
}

int util_blob_find_cut(const struct util_classic *c, int number)
{
    const struct util_blob_sub *s = &c->blob->subs[number];
    int err = NC_NOERR;
    for (int i = 0; i < c->header.nvars && err == NC_NOERR; i++) {
        const struct cdf_var *v = &c->header.vars[i];
        int id = s->subfile.varids[i];
        bool any = v->nelems > 0 && (!v->is_record || c->header.numrecs > 0);
        if (!any || id < 0 || !subfile_foreign_is_used(&c->blob->foreign, i, number))
            continue;
        err = subfile_foreign_check_size(&s->subfile, id, c->header.numrecs - 1, 0,
                                         s->file.header.vars[id].nelems);
    }
    return err;
}

bool util_blob_has_head(const struct util_classic *c)
{
    return c->blob != NULL && c->blob->head != NULL;
}

int64_t util_blob_head(const struct util_classic *c, int64_t offset, void *bytes,
                       size_t length)
{
    int64_t left = c->size - offset, head = c->header.size - offset;
    size_t there = left <= 0 ? 0 : (uint64_t)left < length ? (size_t)left : length;
    size_t n = head <= 0 ? 0 : (uint64_t)head < there ? (size_t)head : there;
    memset(bytes, 0, there);
    if (n > 0) memcpy(bytes, c->blob->head + offset, n);
    return (int64_t)there;
}
