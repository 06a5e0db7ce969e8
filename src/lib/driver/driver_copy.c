/* Copies the values of a dataset in pieces, many of which are moved together. Shares are
 * ranges of the file's bytes, so if the values come from many files, each process needs
 * only a few maps at a time. */
#include "driver_copy.h"

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_share.h"

enum {
    PIECE = 1 << 16, /* maximum number of bytes of a piece; zeros are skipped by piece */
    BATCH = 4 << 20, /* maximum number of bytes moved at one time */
    MOST = 256       /* maximum number of pieces moved at one time */
};

/* Pieces that are moved together. */
struct batch {
    union access_own_request list[MOST];
    struct access_request *reqs[MOST], *put[MOST]; /* all; those that are not zero */
    int n;
    int64_t used; /* number of bytes of values in use */
    char values[BATCH];
};

/* Moves the batch, except zeros, or only empties it if there was an error. */
static int move_batch(const struct driver_copy *c, struct batch *b, int err)
{
    int64_t n = 0;
    if (err == NC_NOERR) err = driver_call(c->from, get, b->reqs, b->n);
    for (int i = 0; i < b->n && err == NC_NOERR; i++) {
        const struct access_request *r = b->reqs[i];
        if (!base_is_zero(r->buf, access_nelems(r, 0) * conv_size(r->type)))
            b->put[n++] = b->reqs[i];
    }
    if (err == NC_NOERR) err = driver_call(c->to, put, b->put, n);
    for (int i = 0; i < b->n; i++)
        region_free((struct region *)(intptr_t)access_raw_region(b->reqs[i]));
    b->n = 0;
    b->used = 0;
    return err;
}

/* Adds n elements of a record of variable `varid`, starting at element `at`. */
static int add_elements(struct batch *b, const struct cdf_var *v, int varid,
                        int64_t record, int64_t at, int64_t n)
{
    const int64_t size = cdf_type_size(v->type);
    struct region *where = region_block(at * size, n * size);
    struct access_request *r = b->reqs[b->n] = &b->list[b->n].r;
    int err = access_set_raw(r, varid, conv_type_of(v->type), where, n, record,
                             b->values + b->used);
    if (err != NC_NOERR) return err;
    b->n++;
    b->used += (n * size + 7) & ~INT64_C(7); /* aligns the next piece */
    return NC_NOERR;
}

/* Returns the first element at or after an offset relative to the variable's begin. */
static int64_t element_at(const struct cdf_var *v, int64_t offset)
{
    int64_t size = cdf_type_size(v->type), i = (offset + size - 1) / size;
    return offset < 0 ? 0 : i < v->nelems ? i : v->nelems;
}

/* Moves the values of a record that begin at offsets [low, high); of all fixed-size
 * variables if the record is -1. */
static int move_record(const struct driver_copy *c, struct batch *b, int64_t record,
                       int64_t low, int64_t high)
{
    const struct cdf_header *h = &c->to->ds->header;
    const int64_t number = record < 0 ? 0 : record;
    int err = NC_NOERR;
    for (int id = 0; id < h->nvars; id++) {
        const struct cdf_var *v = &h->vars[id];
        if (v->is_record != (record >= 0)) continue;
        int64_t begin = cdf_record_offset(h, v, number), n, size = cdf_type_size(v->type);
        int64_t end = element_at(v, high - begin), most = PIECE / size;
        for (int64_t at = element_at(v, low - begin); at < end; at += n) {
            n = end - at < most ? end - at : most;
            if (b->n == MOST || b->used > BATCH - PIECE) {
                err = move_batch(c, b, NC_NOERR);
                if (c->report != NULL)
                    c->report(c->arg, begin + at * size - low, high - low);
            }
            if (err == NC_NOERR) err = add_elements(b, v, id, number, at, n);
            if (err != NC_NOERR || *c->unwanted) return err;
        }
    }
    return err;
}

/* Returns the offset at which the share of the process `after` this one begins. */
static int64_t begin_of(const struct dataset *ds, int after)
{
    int64_t pieces = (cdf_file_size(&ds->header) + PIECE - 1) / PIECE;
    return base_share_begin(pieces, ds->nprocs, ds->rank + after) * PIECE;
}

int driver_copy_share(const struct driver_copy *c)
{
    const struct cdf_header *h = &c->to->ds->header;
    const int64_t low = begin_of(c->to->ds, 0), high = begin_of(c->to->ds, 1);
    struct batch *b = base_malloc(sizeof *b);
    if (b == NULL) return NC_ENOMEM;
    b->n = 0;
    b->used = 0;
    int err = move_record(c, b, -1, low, high);
    int64_t step = h->record_size, at = h->begin_record;
    int64_t i = low > at && step > 0 ? (low - at) / step : 0;
    for (at += i * step; step > 0 && at < high && i < h->numrecs; i++, at += step)
        if (err == NC_NOERR && !*c->unwanted) err = move_record(c, b, i, low, high);
    err = move_batch(c, b, err);
    base_free(b);
    return err;
}
