/* Looks elements up in the maps of blobs, and frames up in their chains. */
#include "util_home.h"

#include "base_error.h"
#include "blob_frame.h"
#include "util_blob_impl.h"

void util_homes_init(struct util_homes *x, const struct util_classic *file, int varid)
{
    const struct util_blob *b = file->blob;
    const struct cdf_var *v = &file->header.vars[varid];
    *x = (struct util_homes){.file = file, .var = v, .nelems = v->nelems};
    for (int i = 0; b != NULL && i < b->nvars && x->blobs == NULL; i++)
        if (b->vars[i].varid == varid) x->blobs = &b->vars[i];
    x->framed = b != NULL && x->blobs != NULL && b->facts.framed;
}

int util_homes_decomposition(const struct util_homes *x)
{
    return x->blobs->decomp;
}

static int missing(const struct util_homes *x)
{
    const struct util_blob *b = x->file->blob;
    int i = 0;
    while (b->subs[i].there)
        i++;
    return base_error_set(NC_ENOENT, "values may be in a subfile that is missing: %s",
                          b->subs[i].path);
}

static struct util_blob_row row_of(const struct util_homes *x, int sub)
{
    return (struct util_blob_row){x->file, sub, x->blobs, x->record};
}

/* Elements go on up to the end of a frame at most. */
static int find_frame(struct util_homes *x, struct util_home *home)
{
    const struct util_blob_row row = row_of(x, home->sub);
    struct util_blob_framed blob;
    int err = util_blob_framed_at(&row, home->pos, &blob);
    if (err != NC_NOERR) return err;
    int64_t most = BLOB_FRAME / x->blobs->size, before = (home->pos - blob.start) % most;
    int64_t left = blob.end - home->pos;
    if (left > most - before) left = most - before;
    if (home->n > left) home->n = left;
    home->starts = before == 0;
    return NC_NOERR;
}

int util_home_find(struct util_homes *x, int64_t element, struct util_home *home)
{
    struct util_blob *b = x->file->blob;
    *home = (struct util_home){.sub = -1, .pos = element, .n = x->nelems - element};
    if (x->blobs == NULL) return NC_NOERR;
    struct util_blob_decomp *d = &b->decomps[x->blobs->decomp];
    int err = util_blob_index(x->file, d, element);
    if (err != NC_NOERR) return err;
    int64_t i = blob_index_find_next(&d->index, element, &x->hint);
    const struct blob_piece *p = i < d->index.n ? &d->index.pieces[i] : NULL;
    if (p == NULL || p->at > element) {
        home->n = (p == NULL ? d->index.high : p->at) - element;
        return b->nmissing > 0 ? missing(x) : NC_NOERR;
    }
    home->sub = p->sub;
    home->pos = p->pos + element - p->at;
    home->n = p->n - (element - p->at);
    return x->framed ? find_frame(x, home) : NC_NOERR;
}

static int range_of_frame(struct util_homes *x, const struct util_home *home,
                          struct util_range *range)
{
    const struct util_blob_row row = row_of(x, home->sub);
    const struct util_blob_sub *sub = &x->file->blob->subs[home->sub];
    struct util_blob_framed blob;
    struct blob_chain chain;
    int err = util_blob_framed_at(&row, home->pos, &blob);
    if (err != NC_NOERR || blob.in_master || !home->starts) return err;
    err = util_blob_framed_chain(&row, blob.blob, &chain);
    if (err != NC_NOERR) return err;
    int64_t i = (home->pos - blob.start) / (BLOB_FRAME / chain.size);
    int64_t bytes = blob_frame_values(&chain, i);
    const struct blob_frame *f = &chain.frames[i];
    if (!util_blob_log_has(x->file->blob, home->sub, f->at, f->bytes))
        return base_error_set(NC_ENOTNC, "%s: a frame is outside of the log", sub->path);
    *range =
        (struct util_range){.offset = sub->log + f->at,
                            .bytes = f->bytes,
                            .nelems = bytes / chain.size,
                            .codec = f->bytes == bytes ? BASE_CODEC_NONE : chain.codec};
    return NC_NOERR;
}

/* Another library's subfiles may have a file beside them that has no values at all. */
int util_home_range(struct util_homes *x, const struct util_home *home,
                    struct util_range *range)
{
    const struct util_classic *c = x->file;
    *range = (struct util_range){.offset = 0};
    if (home->sub >= 0 && x->framed) return range_of_frame(x, home, range);
    if (home->sub < 0 && util_blob_has_head(c)) return NC_NOERR;
    const struct cdf_var *v = x->var;
    if (home->sub >= 0) {
        const struct util_blob_sub *sub = &c->blob->subs[home->sub];
        c = &sub->file;
        v = &c->header.vars[sub->varids[x->blobs->varid]];
        if (home->pos >= v->nelems) return NC_NOERR;
    }
    if (v->is_record && x->record >= cdf_max_records(&c->header)) return NC_NOERR;
    int64_t at =
        cdf_record_offset(&c->header, v, x->record) + home->pos * cdf_type_size(v->type);
    range->offset = c->base + at;
    range->bytes = at < c->size ? c->size - at : 0;
    return NC_NOERR;
}
