/* The shape of a variable's chunks. From the last dimension to the first, a chunk grows
 * as long as what it has is one run of bytes wherever it begins. */
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_number.h"
#include "refs.h"
#include "util_blob.h"
#include "util_message.h"

/* The dimensions of one record, or of all where records lie side by side. */
static int first_of(const struct refs_var *p)
{
    return p->apart ? 1 : 0;
}

static bool follows(const struct util_home *from, int64_t n, const struct util_home *to)
{
    return to->sub == from->sub && to->pos == from->pos + n && !to->starts;
}

/* ---- breaks ---- */

/* Units are chunks as far as they have been cut, from the dimension behind d on; `inner`
 * elements each. At the break between two units that are neighbours along d, but not in
 * their file, a chunk must end: *part is the longest one that ends at all of them. */
struct breaks {
    int d;
    int64_t inner, stride; /* elements of a unit; from one to the next along d */
    int64_t part;
};

/* Units that have all of their dimensions: they come one after the other. */
static int break_rows(struct refs_var *p, struct breaks *b)
{
    struct util_home here, next;
    int err = util_home_find(&p->homes, 0, &here);
    for (int64_t at = 0, step; err == NC_NOERR && b->part != 1; at += step, here = next) {
        step = here.n > b->inner ? here.n - here.n % b->inner : b->inner;
        if (at + step >= p->homes.nelems) break;
        err = util_home_find(&p->homes, at + step, &next);
        int64_t unit = (at + step) / b->inner % p->shape[b->d];
        if (err == NC_NOERR && unit != 0 && !follows(&here, step, &next))
            b->part = base_gcd(b->part, unit);
    }
    return err;
}

/* The next unit of a record, by its first element; false: there is none. */
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
        struct util_home here, next;
        int64_t element = element_at(p, p->at);
        if (p->at[b->d] + 1 == p->shape[b->d]) continue;
        err = util_home_find(&p->homes, element, &here);
        if (err == NC_NOERR) err = util_home_find(&p->homes, element + b->stride, &next);
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

/* Has its file as many bytes from the last chunk on as the others have, if chunks have
 * `part` units along d? */
static bool fits(struct refs_var *p, int d, int64_t part, int64_t inner)
{
    struct util_home home;
    struct util_range range;
    int64_t element = 0;
    if (p->copied || p->shape[d] % part == 0) return true;
    for (int i = first_of(p); i < p->var->ndims; i++) {
        int64_t length = i < d ? 1 : i == d ? part : p->chunk[i];
        element = element * p->shape[i] + (p->shape[i] - 1) / length * length;
    }
    p->homes.record = p->apart ? p->shape[0] - 1 : 0;
    bool known = util_home_find(&p->homes, element, &home) == NC_NOERR &&
                 util_home_range(&p->homes, &home, &range) == NC_NOERR;
    p->homes.record = 0;
    return known && range.bytes >= part * inner * p->size;
}

/* Makes a chunk shorter along d: `most` units or as few less as can be; it stays as it is
 * if it would have to be much shorter. */
static void shorten(struct refs_var *p, int d, int64_t most, int64_t inner)
{
    enum { ENOUGH = 1 << 16 }; /* bytes */
    int64_t n = p->chunk[d], part = most < 1 ? 1 : most;
    bool divides = n < p->shape[d]; /* and must do so again */
    while (part > 1 && ((divides && n % part != 0) || !fits(p, d, part, inner)))
        part--;
    if (part > most / 8 || part * inner * p->size >= ENOUGH) p->chunk[d] = part;
}

/* No chunk is larger than the user allows, and as few as can be reach beyond the end of
 * their file. */
static void limit(struct refs *r, struct refs_var *p, int first)
{
    int64_t inner = 1, most = r->chunk_bytes / p->size;
    int d = p->var->ndims - 1;
    for (; d > first && p->chunk[d] <= most / inner; d--) {
        bool last = true; /* there is only one unit behind it */
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

/* ---- all ---- */

/* After a change of the chunk. */
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

/* Variables of a decomposition lie alike, and such models have hundreds of them. */
static bool take_chunk(struct refs *r, struct refs_var *p)
{
    for (const struct refs_var *q = p; q-- > r->vars;) {
        if (q->homes.blobs == NULL || q->left_out || q->size != p->size) continue;
        if (q->apart != p->apart || q->var->ndims != p->var->ndims ||
            util_homes_decomposition(&q->homes) != util_homes_decomposition(&p->homes))
            continue;
        memcpy(p->chunk, q->run, (size_t)p->var->ndims * sizeof *p->chunk);
        return true;
    }
    return false;
}

static int cut(struct refs *r, struct refs_var *p)
{
    bool taken = p->homes.blobs != NULL && take_chunk(r, p);
    int err = taken ? NC_NOERR : find_chunk(p);
    if (err != NC_NOERR) return refs_complain(r, p->var, base_error_detail(err));
    memcpy(p->run, p->chunk, (size_t)p->var->ndims * sizeof *p->run);
    int64_t bytes = p->size;
    for (int d = first_of(p); d < p->var->ndims; d++)
        bytes *= p->chunk[d];
    bool many = bytes < p->homes.nelems * p->size || (p->apart && p->shape[0] > 1);
    if (many && bytes < REFS_WORTHY)
        refs_copy_all(r, p);
    else if (!p->homes.framed)
        limit(r, p, first_of(p));
    return 0;
}

/* Does its file end so much before it that it would be zeros, for the most part? */
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
    util_homes_init(&p->homes, &r->file, varid);
    p->size = cdf_type_size(p->var->type);
    p->shape = base_calloc(4 * (size_t)n + 1, sizeof *p->shape);
    if (p->shape == NULL) return refs_complain(r, p->var, base_error_text(NC_ENOMEM));
    p->chunk = p->shape + n;
    p->at = p->chunk + n;
    p->run = p->at + n;
    for (int d = 0; d < n; d++)
        p->shape[d] = d == 0 && p->var->is_record ? h->numrecs : p->var->shape[d];
    p->apart = p->var->is_record &&
               (p->homes.blobs != NULL || h->record_size != p->var->nelems * p->size);
    if (p->apart) p->chunk[0] = 1;
    if (p->var->is_record && !p->apart) p->homes.nelems *= h->numrecs;
    p->nelems = 1;
    if (p->var->nelems == 0 || (p->var->is_record && h->numrecs == 0)) {
        for (int d = 0; d < n; d++)
            p->chunk[d] = 1;
        return 0;
    }
    if (is_short(r, p)) return -1;
    if (cut(r, p) != 0) return -1;
    count(p);
    return 0;
}

void refs_first_chunk(struct refs_var *p)
{
    memset(p->at, 0, (size_t)p->var->ndims * sizeof *p->at);
    p->homes.record = 0;
}

bool refs_next_chunk(struct refs_var *p)
{
    for (int d = p->var->ndims - 1; d >= 0; d--) {
        p->at[d] += p->chunk[d];
        if (p->at[d] < p->shape[d]) {
            if (p->apart) p->homes.record = p->at[0];
            return true;
        }
        p->at[d] = 0;
    }
    return false;
}
