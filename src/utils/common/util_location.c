/* Finds where elements of a variable are stored, by searching the maps of blobs and the
 * chains of frames. */
#include "util_location.h"

#include "base_error.h"
#include "util_blob_impl.h"

void util_locations_init(struct util_locations *x, const struct util_classic *file,
                         int varid)
{
    const struct util_blob *b = file->blob;
    const struct cdf_var *v = &file->header.vars[varid];
    *x = (struct util_locations){.file = file, .var = v, .nelems = v->nelems};
    for (int i = 0; b != NULL && i < b->nvars && x->blobs == NULL; i++)
        if (b->vars[i].varid == varid) x->blobs = &b->vars[i];
    x->framed = b != NULL && x->blobs != NULL && b->facts.framed;
}

int util_locations_decomposition(const struct util_locations *x)
{
    return x->blobs->decomp;
}

static int missing(const struct util_locations *x)
{
    const struct util_blob *b = x->file->blob;
    int i = 0;
    while (b->subs[i].there)
        i++;
    return base_error_set(NC_ENOENT, "values may be in a missing subfile: %s",
                          b->subs[i].path);
}

static struct util_blob_row row_of(const struct util_locations *x, int sub)
{
    return (struct util_blob_row){x->file, sub, x->blobs, x->record};
}

/* Limits the location to the element's frame. */
static int find_frame(struct util_locations *x, struct util_location *location)
{
    const struct util_blob_row row = row_of(x, location->sub);
    struct subfile_blob blob;
    bool in_master;
    int err = util_blob_framed_at(&row, location->pos, &blob, &in_master);
    if (err != NC_NOERR) return err;
    int64_t most = SUBFILE_FRAME / x->blobs->size,
            before = (location->pos - blob.start) % most;
    int64_t left = blob.start + blob.nelems - location->pos;
    if (left > most - before) left = most - before;
    if (location->n > left) location->n = left;
    location->starts = before == 0;
    return NC_NOERR;
}

int util_location_find(struct util_locations *x, int64_t element,
                       struct util_location *location)
{
    struct util_blob *b = x->file->blob;
    *location =
        (struct util_location){.sub = -1, .pos = element, .n = x->nelems - element};
    if (x->blobs == NULL) return NC_NOERR;
    struct util_blob_decomp *d = &b->decomps[x->blobs->decomp];
    int err = util_blob_index(x->file, d, element);
    if (err != NC_NOERR) return err;
    int64_t i = subfile_index_find_next(&d->index, element, &x->hint);
    const struct subfile_piece *p = i < d->index.n ? &d->index.pieces[i] : NULL;
    if (p == NULL || p->at > element) {
        location->n = (p == NULL ? d->index.high : p->at) - element;
        return b->nmissing > 0 ? missing(x) : NC_NOERR;
    }
    location->sub = p->sub;
    location->pos = p->pos + element - p->at;
    location->n = p->n - (element - p->at);
    return x->framed ? find_frame(x, location) : NC_NOERR;
}

static int range_of_frame(struct util_locations *x, const struct util_location *location,
                          struct util_range *range)
{
    const struct util_blob_row row = row_of(x, location->sub);
    struct subfile *sub = &x->file->blob->subs[location->sub].subfile;
    struct subfile_blob blob;
    const struct subfile_chain *chain;
    bool in_master;
    int err = util_blob_framed_at(&row, location->pos, &blob, &in_master);
    if (err != NC_NOERR || in_master || !location->starts) return err;
    err = util_blob_framed_chain(&row, &blob, &chain);
    if (err != NC_NOERR) return err;
    int64_t i = (location->pos - blob.start) / (SUBFILE_FRAME / chain->size);
    int64_t bytes = subfile_frame_values(chain, i);
    const struct subfile_frame *f = &chain->frames[i];
    if (!subfile_has_log(sub, f->at, f->bytes))
        return base_error_set(NC_ENOTNC, "%s: a frame is outside the log", sub->path);
    *range =
        (struct util_range){.offset = sub->h->vars[sub->log].begin + f->at,
                            .bytes = f->bytes,
                            .nelems = bytes / chain->size,
                            .codec = f->bytes == bytes ? BASE_CODEC_NONE : chain->codec};
    return NC_NOERR;
}

/* If the header was composed from the headers of the subfiles (util_blob_has_head), only
 * subfiles contain values. */
int util_location_range(struct util_locations *x, const struct util_location *location,
                        struct util_range *range)
{
    const struct util_classic *c = x->file;
    *range = (struct util_range){.offset = 0};
    if (location->sub >= 0 && x->framed) return range_of_frame(x, location, range);
    if (location->sub < 0 && util_blob_has_head(c)) return NC_NOERR;
    const struct cdf_var *v = x->var;
    if (location->sub >= 0) {
        const struct util_blob_sub *sub = &c->blob->subs[location->sub];
        c = &sub->file;
        v = &c->header.vars[sub->subfile.varids[x->blobs->varid]];
        if (location->pos >= v->nelems) return NC_NOERR;
    }
    if (v->is_record && x->record >= cdf_max_records(&c->header)) return NC_NOERR;
    int64_t at = cdf_record_offset(&c->header, v, x->record) +
                 location->pos * cdf_type_size(v->type);
    range->offset = c->base + at;
    range->bytes = at < c->size ? c->size - at : 0;
    return NC_NOERR;
}
