/* Chooses the shape of a variable's chunks. Chunks are extended along one dimension after
 * another, from the last to the first, as long as every chunk remains a single run of
 * bytes in the file. */
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_number.h"
#include "refs.h"
#include "util_blob.h"
#include "util_message.h"

/* Returns the first dimension of a record, or 0 if records are contiguous. */
static int first_of(const struct refs_var *p)
{
    return p->apart ? 1 : 0;
}

static bool follows(const struct util_location *from, int64_t n,
                    const struct util_location *to)
{
    return to->sub == from->sub && to->pos == from->pos + n && !to->starts;
}

/* ---- breaks ---- */

/* State of the search for breaks along dimension d. A unit is the chunk determined so
 * far, which covers the dimensions after d; it has `inner` elements. A break is an index
 * at which two units are adjacent along d, but not in the file, so a chunk must end
 * there. `part` is the largest length for which a chunk ends at every break. */
struct breaks {
    int d;
    int64_t inner,
        stride; /* number of elements in a unit, and between adjacent units along d */
    int64_t part;
};

/* Finds the breaks if each unit spans all later dimensions, which makes units
 * consecutive. */
static int break_rows(struct refs_var *p, struct breaks *b)
{
    struct util_location here, next;
    int err = util_location_find(&p->locations, 0, &here);
    for (int64_t at = 0, step; err == NC_NOERR && b->part != 1; at += step, here = next) {
        step = here.n > b->inner ? here.n - here.n % b->inner : b->inner;
        if (at + step >= p->locations.nelems) break;
        err = util_location_find(&p->locations, at + step, &next);
        int64_t unit = (at + step) / b->inner % p->shape[b->d];
        if (err == NC_NOERR && unit != 0 && !follows(&here, step, &next))
            b->part = base_gcd(b->part, unit);
    }
    return err;
}

/* Advances to the first element of the next unit of a record. Returns false if there is
 * none. */
static bool next_unit(const struct refs_var *p, int d, int64_t *at)
{
    for (int i = p->var->ndims - 1; i >= first_of(p); i--) {
        at[i] += i > d ? p->chunk[i] : 1;
        if (at[i] < p->shape[i]) return true;
        at[i] = 0;
    }
    return false;
}

static int64_t element_at(const struct refs_var *p, const int64_t *at)
{
    int64_t element = 0;
    for (int i = first_of(p); i < p->var->ndims; i++)
        element = element * p->shape[i] + at[i];
    return element;
}

static int break_blocks(struct refs_var *p, struct breaks *b)
{
    int err = NC_NOERR;
    memset(p->at, 0, (size_t)p->var->ndims * sizeof *p->at);
    do {
        struct util_location here, next;
        int64_t element = element_at(p, p->at);
        if (p->at[b->d] + 1 == p->shape[b->d]) continue;
        err = util_location_find(&p->locations, element, &here);
        if (err == NC_NOERR)
            err = util_location_find(&p->locations, element + b->stride, &next);
        if (err == NC_NOERR && !follows(&here, b->inner, &next))
            b->part = base_gcd(b->part, p->at[b->d] + 1);
    } while (err == NC_NOERR && b->part != 1 && next_unit(p, b->d, p->at));
    return err;
}

static int find_chunk(struct refs_var *p)
{
    struct breaks b = {.inner = 1, .stride = 1};
    int err = NC_NOERR;
    for (int d = p->var->ndims - 1; d >= first_of(p) && err == NC_NOERR; d--) {
        b.d = d;
        b.part = 0;
        err = b.inner == b.stride ? break_rows(p, &b) : break_blocks(p, &b);
        p->chunk[d] = b.part > 0 ? b.part : p->shape[d];
        b.inner *= p->chunk[d];
        b.stride *= p->shape[d];
    }
    return err;
}

/* ---- size ---- */

/* Returns whether the last chunk would be completely inside the file if chunks had `part`
 * units along d. */
static bool fits(struct refs_var *p, int d, int64_t part, int64_t inner)
{
    struct util_location location;
    struct util_range range;
    int64_t element = 0;
    if (p->copied || p->shape[d] % part == 0) return true;
    for (int i = first_of(p); i < p->var->ndims; i++) {
        int64_t length = i < d ? 1 : i == d ? part : p->chunk[i];
        element = element * p->shape[i] + (p->shape[i] - 1) / length * length;
    }
    p->locations.record = p->apart ? p->shape[0] - 1 : 0;
    bool known = util_location_find(&p->locations, element, &location) == NC_NOERR &&
                 util_location_range(&p->locations, &location, &range) == NC_NOERR;
    p->locations.record = 0;
    return known && range.bytes >= part * inner * p->size;
}

/* Shortens chunks along d to `most` units or slightly fewer. Leaves them unchanged if
 * they would become much shorter. */
static void shorten(struct refs_var *p, int d, int64_t most, int64_t inner)
{
    enum { ENOUGH = 1 << 16 }; /* minimum size in bytes of a shortened chunk */
    int64_t n = p->chunk[d], part = most < 1 ? 1 : most;
    bool divides = n < p->shape[d]; /* the new length must also divide the old one */
    while (part > 1 && ((divides && n % part != 0) || !fits(p, d, part, inner)))
        part--;
    if (part > most / 8 || part * inner * p->size >= ENOUGH) p->chunk[d] = part;
}

/* Limits chunks to the size that the user allows, and reduces the number of chunks that
 * extend beyond the end of their file. */
static void limit(struct refs *r, struct refs_var *p, int first)
{
    int64_t inner = 1, most = r->chunk_bytes / p->size;
    int d = p->var->ndims - 1;
    for (; d > first && p->chunk[d] <= most / inner; d--) {
        bool last = true; /* chunks have length 1 along all earlier dimensions */
        for (int i = first; i < d; i++)
            last = last && p->chunk[i] == 1;
        if (last) break;
        inner *= p->chunk[d];
    }
    if (d < first) return;
    int64_t n = p->chunk[d] < most / inner ? p->chunk[d] : most / inner;
    if (n < p->chunk[d] || !fits(p, d, n, inner)) shorten(p, d, n, inner);
    while (d-- > first)
        p->chunk[d] = 1;
}

/* ---- the chunks of a variable ---- */

/* Counts elements and chunks after the shape has changed. */
static void count(struct refs_var *p)
{
    p->nelems = p->nchunks = 1;
    for (int d = 0; d < p->var->ndims; d++) {
        p->nelems *= p->chunk[d];
        p->nchunks *= (p->shape[d] + p->chunk[d] - 1) / p->chunk[d];
    }
}

void refs_copy_all(struct refs *r, struct refs_var *p)
{
    p->copied = true;
    p->compressed = false;
    memcpy(p->chunk, p->shape, (size_t)p->var->ndims * sizeof *p->shape);
    limit(r, p, 0);
    count(p);
}

/* Copies the chunk shape from an earlier variable with the same decomposition. This saves
 * time, because models have hundreds of such variables. */
static bool copy_chunk_shape(struct refs *r, struct refs_var *p)
{
    for (const struct refs_var *q = p; q-- > r->vars;) {
        if (q->locations.blobs == NULL || q->left_out || q->size != p->size) continue;
        if (q->apart != p->apart || q->var->ndims != p->var->ndims ||
            util_locations_decomposition(&q->locations) !=
                util_locations_decomposition(&p->locations))
            continue;
        memcpy(p->chunk, q->run, (size_t)p->var->ndims * sizeof *p->chunk);
        return true;
    }
    return false;
}

static int choose_chunk_shape(struct refs *r, struct refs_var *p)
{
    bool taken = p->locations.blobs != NULL && copy_chunk_shape(r, p);
    int err = taken ? NC_NOERR : find_chunk(p);
    if (err != NC_NOERR) return refs_complain(r, p->var, base_error_detail(err));
    memcpy(p->run, p->chunk, (size_t)p->var->ndims * sizeof *p->run);
    int64_t bytes = p->size;
    for (int d = first_of(p); d < p->var->ndims; d++)
        bytes *= p->chunk[d];
    bool many = bytes < p->locations.nelems * p->size || (p->apart && p->shape[0] > 1);
    if (many && bytes < REFS_WORTHY)
        refs_copy_all(r, p);
    else if (!p->locations.framed)
        limit(r, p, first_of(p));
    return 0;
}

/* Returns whether the file ends so early that most of the variable's values would be read
 * as zeros. */
static bool is_short(const struct refs *r, const struct refs_var *p)
{
    const struct util_classic *c = &r->file;
    int64_t last = p->var->is_record ? p->shape[0] - 1 : 0;
    int64_t end = cdf_record_offset(&c->header, p->var, last) + p->var->nelems * p->size;
    return c->blob == NULL && end > c->size &&
           util_file_is_short(REFS_TOOL, r->path, c->size, p->var->name, end - c->size,
                              r->copy_bytes) != 0;
}

int refs_cut(struct refs *r, int varid)
{
    const struct cdf_header *h = &r->file.header;
    struct refs_var *p = &r->vars[varid];
    p->var = &h->vars[varid];
    int n = p->var->ndims;
    util_locations_init(&p->locations, &r->file, varid);
    p->size = cdf_type_size(p->var->type);
    p->shape = base_calloc(4 * (size_t)n + 1, sizeof *p->shape);
    if (p->shape == NULL) return refs_complain(r, p->var, base_error_text(NC_ENOMEM));
    p->chunk = p->shape + n;
    p->at = p->chunk + n;
    p->run = p->at + n;
    for (int d = 0; d < n; d++)
        p->shape[d] = d == 0 && p->var->is_record ? h->numrecs : p->var->shape[d];
    p->apart = p->var->is_record &&
               (p->locations.blobs != NULL || h->record_size != p->var->nelems * p->size);
    if (p->apart) p->chunk[0] = 1;
    if (p->var->is_record && !p->apart) p->locations.nelems *= h->numrecs;
    p->nelems = 1;
    if (p->var->nelems == 0 || (p->var->is_record && h->numrecs == 0)) {
        for (int d = 0; d < n; d++)
            p->chunk[d] = 1;
        return 0;
    }
    if (is_short(r, p)) return -1;
    if (choose_chunk_shape(r, p) != 0) return -1;
    count(p);
    return 0;
}

void refs_first_chunk(struct refs_var *p)
{
    memset(p->at, 0, (size_t)p->var->ndims * sizeof *p->at);
    p->locations.record = 0;
}

bool refs_next_chunk(struct refs_var *p)
{
    for (int d = p->var->ndims - 1; d >= 0; d--) {
        p->at[d] += p->chunk[d];
        if (p->at[d] < p->shape[d]) {
            if (p->apart) p->locations.record = p->at[0];
            return true;
        }
        p->at[d] = 0;
    }
    return false;
}
