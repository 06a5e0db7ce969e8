/* Manages checksums of blobs in memory and in the files.
 *
 * 1. A process that puts its whole blob in a record stores the blob's checksum in memory.
 *    Checksums are written to the subfiles when all processes sync or close.
 * 2. A process that changes a part of any blob marks the variable as changed. All
 *    processes then drop the variable's checksums that were computed since the last sync.
 * 3. A checksum in the file is invalidated before any value changes. So after a kill each
 *    blob has either no checksum or a correct one. */
#include <string.h>

#include "access_values.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "blob.h"
#include "subfile_sum.h"

enum {
    MOST_SUMS = 1 << 14, /* maximum number of sums in memory; the rest remain unknown */
    MOST_TAKEN = 1 << 10 /* number of entries in the cache of invalidated places */
};

/* The checksum of one record of this process's blob. */
struct blob_sum_entry {
    int64_t record;
    uint64_t sum; /* unknown if the values have changed in the meantime */
    int varid;    /* the variable's id + 1; 0 for a free slot */
};

/* A place whose checksums have been invalidated since the last sync: those of all blobs
 * in subfile `sub` or, if `sub` is -1, that of this process's blob. */
struct blob_taken {
    int64_t record;
    int varid, sub;
    bool any;
};

static uint64_t mix_place(int varid, int sub, int64_t record)
{
    uint64_t x = (uint64_t)record * UINT64_C(0x9e3779b97f4a7c15) ^
                 (uint64_t)varid * UINT64_C(0xc2b2ae3d27d4eb4f) ^ (uint64_t)(sub + 1);
    return x ^ x >> 29;
}

/* ---- memory ---- */

int blob_sums_grow(struct blob_sums *s, int before, int nvars)
{
    unsigned char *changed = base_realloc(s->changed, (size_t)nvars + 1);
    if (changed == NULL) return NC_ENOMEM;
    s->changed = changed;
    if (nvars > before) memset(changed + before, 0, (size_t)(nvars - before));
    if (s->taken == NULL) s->taken = base_calloc(MOST_TAKEN, sizeof *s->taken);
    return s->taken == NULL ? NC_ENOMEM : NC_NOERR;
}

void blob_sums_free(struct blob_sums *s)
{
    base_free(s->list);
    base_free(s->changed);
    base_free(s->taken);
    *s = (struct blob_sums){.n = 0};
}

/* Returns the slot of an entry, or a free slot, of which there is always one. */
static struct blob_sum_entry *find_entry(const struct blob_sums *s, int varid,
                                         int64_t record)
{
    uint64_t i = mix_place(varid, 0, record);
    for (;; i++) {
        struct blob_sum_entry *e = &s->list[i & (uint64_t)(s->room - 1)];
        if (e->varid == 0 || (e->varid == varid + 1 && e->record == record)) return e;
    }
}

bool blob_sums_wanted(const struct blob *b)
{
    return b->base.ds->hints.blob_sums == HINTS_ENABLE && base_can_sum() &&
           !b->facts.framed; /* frames have checksums of their own */
}

bool blob_sums_full(const struct blob *b)
{
    return b->sums.n >= MOST_SUMS;
}

/* Stores a checksum in memory if there is space. Uses at most half of the slots. */
static void keep_sum(struct blob_sums *s, int varid, int64_t record, uint64_t sum)
{
    if (s->n >= MOST_SUMS) return;
    if (2 * (s->n + 1) > s->room) {
        struct blob_sums more = {.room = s->room == 0 ? 64 : 2 * s->room};
        more.list = base_calloc((size_t)more.room, sizeof *more.list);
        if (more.list == NULL) return;
        for (int64_t i = 0; i < s->room; i++)
            if (s->list[i].varid != 0)
                *find_entry(&more, s->list[i].varid - 1, s->list[i].record) = s->list[i];
        base_free(s->list);
        s->list = more.list;
        s->room = more.room;
    }
    struct blob_sum_entry *e = find_entry(s, varid, record);
    s->n += e->varid == 0;
    *e = (struct blob_sum_entry){record, sum, varid + 1};
}

/* ---- before values change ---- */

/* Returns a place's cache entry. Sets *is if the place is known to have no checksum. */
static struct blob_taken *find_taken(const struct blob *b, int varid, int sub,
                                     int64_t record, bool *is)
{
    struct blob_taken *t = &b->sums.taken[mix_place(varid, sub, record) % MOST_TAKEN];
    *is = t->any && t->varid == varid && t->sub == sub && t->record == record;
    return t;
}

static int take_from_file(struct blob *b, struct blob_sub *sub, int varid, int64_t record,
                          bool own)
{
    bool row, one;
    union access_own_request fill;
    struct access_request *r = &fill.r;
    struct blob_taken *all = find_taken(b, varid, sub->subfile.number, record, &row);
    struct blob_taken *place = find_taken(b, varid, -1, record, &one);
    if (record >= sub->summed || row || (own && one)) return NC_NOERR;
    int id = subfile_sum_var(&sub->ds.header, b->state[varid], varid);
    if (id < 0) return NC_NOERR;
    int64_t n = sub->ds.header.vars[id].nelems;
    if (own && b->rank >= n) return NC_NOERR;
    blob_request_numbers(r, &sub->ds.header, id, record, own ? b->rank : 0, own ? 1 : n,
                         NULL); /* the fill value, which means unknown */
    int err = driver_call(sub->driver, put, &r, 1);
    if (err != NC_NOERR) return err;
    *(own ? place : all) =
        (struct blob_taken){record, varid, own ? -1 : sub->subfile.number, true};
    return NC_NOERR;
}

int blob_sums_change_part(struct blob *b, struct blob_sub *sub, int varid, int64_t record)
{
    base_require(varid >= 0 && varid < b->nvars && record >= 0);
    b->sums.changed[varid] = 1;
    return take_from_file(b, sub, varid, record, false);
}

int blob_sums_change_own(struct blob *b, struct blob_sub *sub, int varid, int64_t record,
                         int64_t records, int64_t step)
{
    int err = NC_NOERR;
    base_require(varid >= 0 && varid < b->nvars && record >= 0 && step > 0);
    for (int64_t i = 0; i < records && err == NC_NOERR; i++, record += step) {
        if (b->sums.n > 0) find_entry(&b->sums, varid, record)->sum = 0;
        err = take_from_file(b, sub, varid, record, true);
    }
    return err;
}

/* ---- after they have changed ---- */

/* Returns the checksum of the next n values. Converts them through a tile unless they
 * have the same representation in memory. All values are in range, because otherwise the
 * put would have failed. */
static uint64_t sum_values(struct access_values *v, int64_t n, unsigned char *tile)
{
    int64_t most = SUBFILE_SUM_TILE / v->xsize;
    const unsigned char *values = access_values_buf(v);
    uint64_t sum = 0;
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && values != NULL &&
        conv_type_of(v->xtype) == (int)v->req->type) {
        v->done += n;
        return subfile_sum_end(subfile_sum_add(0, values, n * v->xsize));
    }
    for (int64_t m; n > 0; n -= m) {
        m = n < most ? n : most;
        (void)access_values_put(v, tile, m);
        sum = subfile_sum_add_external(sum, tile, v->xsize, m * v->xsize);
    }
    return subfile_sum_end(sum);
}

void blob_sums_keep(struct blob *b, int varid, struct access_request *r)
{
    bool is_record = b->base.ds->header.vars[varid].is_record;
    const int64_t *start = access_start(r), *count = start + 1 + is_record;
    const int64_t *stride = access_stride(r, 1 + is_record);
    struct access_values values;
    if (!blob_sums_wanted(b) || b->own == NULL || b->sums.changed[varid] ||
        blob_sums_full(b))
        return;
    if (subfile_sum_var(&b->own->ds.header, b->state[varid], varid) < 0) return;
    unsigned char *tile = base_malloc(SUBFILE_SUM_TILE);
    if (tile == NULL) return;
    if (access_values_begin(&values, &b->own->ds.header, r, true) == NC_NOERR) {
        int64_t records = is_record ? count[0] : 1, step = stride == NULL ? 1 : stride[0];
        for (int64_t i = 0; i < records; i++)
            keep_sum(&b->sums, varid, is_record ? start[0] + i * step : 0,
                     sum_values(&values, count[is_record], tile));
        access_values_end(&values);
    }
    base_free(tile);
}

/* ---- writing to the files ---- */

void blob_sums_fill_shared(const struct blob *b, int64_t shared[BLOB_SUMS_SHARED])
{
    shared[0] = b->sums.n;
    shared[1] = 0;
    shared[BLOB_SUMS_RECORDS] = b->base.ds->numrecs_seen;
    shared[BLOB_SUMS_SYNC] = 0;
    for (int id = 0; id < b->nvars && shared[1] == 0; id++)
        shared[1] = b->sums.changed[id];
}

/* Writes each valid checksum, as far as memory permits, and empties the table. */
int blob_sums_write_all(struct blob *b, const int64_t shared[BLOB_SUMS_SHARED])
{
    struct blob_sums *s = &b->sums;
    struct base_arena arena = {NULL, 0};
    int64_t n = 0, summed = shared[BLOB_SUMS_RECORDS] > 1 ? shared[BLOB_SUMS_RECORDS] : 1;
    int err = NC_NOERR;
    if (b->own == NULL || shared[0] == 0) return NC_NOERR;
    const struct cdf_header *h = &b->own->ds.header;
    if (shared[1] != 0) {
        int mpi = MPI_Allreduce(MPI_IN_PLACE, s->changed, b->nvars, MPI_BYTE, MPI_BOR,
                                b->base.ds->comm);
        err = base_mpi_error(mpi, NC_EMPI, "comparing checksums");
    }
    struct access_request **reqs =
        base_arena_alloc(&arena, ((size_t)s->n + 1) * sizeof(struct access_request *));
    for (int64_t i = 0; err == NC_NOERR && reqs != NULL && i < s->room; i++) {
        struct blob_sum_entry *e = &s->list[i];
        int varid = e->varid - 1;
        if (varid < 0 || !subfile_sum_is_known(e->sum) || s->changed[varid]) continue;
        int id = subfile_sum_var(h, b->state[varid], varid);
        union access_own_request *r = id < 0 ? NULL : base_arena_alloc(&arena, sizeof *r);
        if (r == NULL) continue;
        blob_request_numbers(&r->r, h, id, e->record, b->rank, 1, &e->sum);
        reqs[n++] = &r->r;
    }
    int put = driver_call(b->own->driver, put_all, reqs, n, NC_NOERR);
    base_arena_free(&arena);
    base_free(s->list);
    s->list = NULL;
    s->n = s->room = 0;
    memset(s->changed, 0, (size_t)b->nvars);
    memset(s->taken, 0, MOST_TAKEN * sizeof *s->taken);
    for (int64_t i = 0; i < b->facts.nsubfiles; i++)
        if (b->subs[i] != NULL && b->subs[i]->summed < summed)
            b->subs[i]->summed = summed;
    return err != NC_NOERR ? err : put;
}

int blob_sums_flush_all(struct blob *b)
{
    int64_t shared[BLOB_SUMS_SHARED];
    blob_sums_fill_shared(b, shared);
    int err = dataset_agree_all(b->base.ds, NC_NOERR, NULL, shared, BLOB_SUMS_SHARED);
    return err == NC_NOERR ? blob_sums_write_all(b, shared) : err;
}
