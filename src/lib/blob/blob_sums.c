/* Checksums of blobs: when they hold, and when they come to the files.
 *
 * Who puts all of its own blob, of a record, keeps the sum in memory; sums go to the
 * subfiles when all processes sync or close. Who changes a part of a blob, its own or
 * another's, tells so there: the variable's sums of the time since the last such call
 * then do not count. What a file had of before is taken away first, before any value is
 * changed: a job that is killed leaves blobs without a sum, or with one that is right. */
#include <string.h>

#include "base_mem.h"
#include "base_mpi.h"
#include "blob.h"
#include "blob_sum.h"
#include "blob_values.h"

enum {
    MOST_SUMS = 1 << 14, /* kept at a time; of what is put then nobody knows one */
    MOST_TAKEN = 1 << 10 /* places that are known to be without one */
};

/* Of this process's own blob. */
struct blob_sum_entry {
    int64_t record;
    uint64_t sum; /* not known: it was changed again */
    int varid;    /* and 1; 0: a free place */
};

/* Whose sums were taken away since the last time: of a row of blobs, or (sub -1) of the
 * own one. */
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

/* The place of an entry: its own, or a free one. There is one. */
static struct blob_sum_entry *find_entry(const struct blob_sums *s, int varid,
                                         int64_t record)
{
    uint64_t i = mix_place(varid, 0, record);
    for (;; i++) {
        struct blob_sum_entry *e = &s->list[i & (uint64_t)(s->room - 1)];
        if (e->varid == 0 || (e->varid == varid + 1 && e->record == record)) return e;
    }
}

/* At most half of the places are taken. */
static int make_room_for_sums(struct blob_sums *s)
{
    struct blob_sums more = {.room = s->room == 0 ? 64 : 2 * s->room};
    if (2 * (s->n + 1) <= s->room) return NC_NOERR;
    more.list = base_calloc((size_t)more.room, sizeof *more.list);
    if (more.list == NULL) return NC_ENOMEM;
    for (int64_t i = 0; i < s->room; i++)
        if (s->list[i].varid != 0)
            *find_entry(&more, s->list[i].varid - 1, s->list[i].record) = s->list[i];
    base_free(s->list);
    s->list = more.list;
    s->room = more.room;
    return NC_NOERR;
}

bool blob_sums_wanted(const struct blob *b)
{
    return b->base.ds->hints.blob_sums == BASE_ENABLE && base_can_sum() &&
           !b->facts.framed; /* frames have their own */
}

bool blob_sums_full(const struct blob *b)
{
    return b->sums.n >= MOST_SUMS;
}

static void keep_sum(struct blob_sums *s, int varid, int64_t record, uint64_t sum)
{
    if (s->n >= MOST_SUMS || make_room_for_sums(s) != NC_NOERR) return;
    struct blob_sum_entry *e = find_entry(s, varid, record);
    s->n += e->varid == 0;
    *e = (struct blob_sum_entry){record, sum, varid + 1};
}

/* ---- before values change ---- */

/* May the file have a sum there? */
static bool may_have(const struct blob_sub *sub, int64_t record)
{
    return record < sub->summed;
}

/* n sums of a record, from `first` on, are known no more. The fill value says so. */
static int take_away(struct blob_sub *sub, int id, int64_t record, int64_t first,
                     int64_t n)
{
    union {
        struct access_request r;
        unsigned char room[sizeof(struct access_request) + 4 * sizeof(int64_t)];
    } one = {.r = {.varid = id, .type = CONV_LONGLONG}};
    struct access_request *r = &one.r;
    bool of_record = sub->ds.header.vars[id].is_record;
    int64_t *count = r->slab + 1 + of_record;
    r->slab[0] = record;
    r->slab[of_record] = first;
    count[0] = 1;
    count[of_record] = n;
    return driver_call(sub->driver, put, &r, 1);
}

/* The place where it would be noted that there is no sum. */
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
    struct blob_taken *all = find_taken(b, varid, sub->number, record, &row);
    struct blob_taken *place = find_taken(b, varid, -1, record, &one);
    if (!may_have(sub, record) || row || (own && one)) return NC_NOERR;
    int id = blob_sum_var(&sub->ds.header, b->state[varid], varid);
    if (id < 0) return NC_NOERR;
    int64_t n = sub->ds.header.vars[id].nelems;
    if (own && b->rank >= n) return NC_NOERR;
    int err = take_away(sub, id, record, own ? b->rank : 0, own ? 1 : n);
    if (err != NC_NOERR) return err;
    *(own ? place : all) =
        (struct blob_taken){record, varid, own ? -1 : sub->number, true};
    return NC_NOERR;
}

int blob_sums_change_part(struct blob *b, struct blob_sub *sub, int varid, int64_t record)
{
    b->sums.changed[varid] = 1;
    return take_from_file(b, sub, varid, record, false);
}

int blob_sums_change_own(struct blob *b, struct blob_sub *sub, int varid, int64_t record,
                         int64_t records, int64_t step)
{
    int err = NC_NOERR;
    for (int64_t i = 0; i < records && err == NC_NOERR; i++, record += step) {
        if (b->sums.n > 0) find_entry(&b->sums, varid, record)->sum = 0;
        err = take_from_file(b, sub, varid, record, true);
    }
    return err;
}

/* ---- after they have changed ---- */

/* Do they lie in memory as a sum goes over them? */
static bool as_they_lie(const struct blob_values *v)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && v->memory == NULL &&
           conv_type_of(v->xtype) == (int)v->r->type;
}

/* Of the next n values, through a tile. All of them fit their type, or the put would have
 * told. */
static uint64_t sum_of(struct blob_values *v, int64_t n, unsigned char *tile)
{
    int xsize = cdf_type_size(v->xtype);
    int64_t most = BLOB_SUM_TILE / xsize;
    uint64_t sum = 0;
    if (as_they_lie(v)) {
        sum = blob_sum_add(0, (char *)v->r->buf + v->done * xsize, n * xsize);
        v->done += n;
        return blob_sum_end(sum);
    }
    for (int64_t m; n > 0; n -= m) {
        m = n < most ? n : most;
        (void)blob_values_next(v, tile, m);
        sum = blob_sum_add_external(sum, tile, xsize, m * xsize);
    }
    return blob_sum_end(sum);
}

void blob_sums_keep(struct blob *b, int varid, const struct access_request *r)
{
    const struct cdf_var *v = &b->base.ds->header.vars[varid];
    const int64_t *start = access_start(r), *count = start + 1 + v->is_record;
    const int64_t *stride = access_stride(r, 1 + v->is_record);
    static const unsigned char none[8];
    struct blob_values values;
    if (!blob_sums_wanted(b) || b->own == NULL || b->sums.changed[varid] ||
        blob_sums_full(b))
        return;
    if (blob_sum_var(&b->own->ds.header, b->state[varid], varid) < 0) return;
    unsigned char *tile = base_malloc(BLOB_SUM_TILE);
    if (tile == NULL) return;
    if (blob_values_begin(&values, r, v->type, none) == NC_NOERR) {
        int64_t records = v->is_record ? count[0] : 1;
        for (int64_t i = 0; i < records; i++) {
            int64_t record =
                v->is_record ? start[0] + i * (stride == NULL ? 1 : stride[0]) : 0;
            keep_sum(&b->sums, varid, record, sum_of(&values, count[v->is_record], tile));
        }
        blob_values_end(&values);
    }
    base_free(tile);
}

/* ---- into the files ---- */

void blob_sums_tell(const struct blob *b, int64_t told[BLOB_SUMS_TOLD])
{
    told[0] = b->sums.n;
    told[1] = 0;
    told[BLOB_SUMS_RECORDS] = b->base.ds->held;
    told[BLOB_SUMS_SYNC] = 0;
    for (int id = 0; id < b->nvars && told[1] == 0; id++)
        told[1] = b->sums.changed[id];
}

/* A request for each sum that holds, as far as there is memory. */
static int64_t make_puts(struct blob *b, struct base_arena *arena,
                         struct access_request ***reqs)
{
    const struct blob_sums *s = &b->sums;
    int64_t n = 0;
    *reqs = base_arena_alloc(arena, ((size_t)s->n + 1) * sizeof(struct access_request *));
    for (int64_t i = 0; *reqs != NULL && i < s->room; i++) {
        struct blob_sum_entry *e = &s->list[i];
        int varid = e->varid - 1;
        if (varid < 0 || !blob_sum_is_known(e->sum) || s->changed[varid]) continue;
        int id = blob_sum_var(&b->own->ds.header, b->state[varid], varid);
        struct access_request *r =
            id < 0 ? NULL : base_arena_alloc(arena, sizeof *r + 4 * sizeof r->slab[0]);
        if (r == NULL) continue;
        bool of_record = b->own->ds.header.vars[id].is_record;
        *r = (struct access_request){.buf = &e->sum, .varid = id, .type = CONV_LONGLONG};
        r->slab[0] = e->record;
        r->slab[of_record] = b->rank;
        r->slab[1 + of_record] = r->slab[1 + 2 * of_record] = 1;
        (*reqs)[n++] = r;
    }
    return n;
}

/* Sums are new from here on. */
static void begin_anew(struct blob *b, int64_t records)
{
    struct blob_sums *s = &b->sums;
    base_free(s->list);
    s->list = NULL;
    s->n = s->room = 0;
    memset(s->changed, 0, (size_t)b->nvars);
    memset(s->taken, 0, MOST_TAKEN * sizeof *s->taken);
    for (int64_t i = 0; i < b->facts.nsubfiles; i++) {
        struct blob_sub *sub = b->subs[i];
        if (sub == NULL) continue;
        if (sub->summed < 1) sub->summed = 1;
        if (sub->summed < records) sub->summed = records;
    }
}

int blob_sums_write_all(struct blob *b, const int64_t told[BLOB_SUMS_TOLD])
{
    struct base_arena arena = {NULL, 0};
    struct access_request **reqs = NULL;
    int err = NC_NOERR;
    if (b->own == NULL || told[0] == 0) return NC_NOERR;
    if (told[1] != 0) {
        int mpi = MPI_Allreduce(MPI_IN_PLACE, b->sums.changed, b->nvars, MPI_BYTE,
                                MPI_BOR, b->base.ds->comm);
        err = base_mpi_error(mpi, NC_EMPI, "comparing checksums");
    }
    int64_t n = err == NC_NOERR ? make_puts(b, &arena, &reqs) : 0;
    int put = driver_call(b->own->driver, put_all, reqs, n, NC_NOERR);
    base_arena_free(&arena);
    begin_anew(b, told[BLOB_SUMS_RECORDS]);
    return err != NC_NOERR ? err : put;
}

int blob_sums_flush_all(struct blob *b)
{
    int64_t told[BLOB_SUMS_TOLD];
    blob_sums_tell(b, told);
    int err = dataset_agree_all(b->base.ds, NC_NOERR, NULL, told, BLOB_SUMS_TOLD);
    return err == NC_NOERR ? blob_sums_write_all(b, told) : err;
}
