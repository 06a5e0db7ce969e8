/* Values between requests and blobs, by one process alone.
 *
 * Requests for elements that are in the process's own blob alone, as a program's puts are
 * as a rule, are carried out together (blob_own.c). Any other is taken apart: each
 * stretch of elements is looked up in the process's own map, then among the blobs of all,
 * and what no blob has is in the master file. */
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_sort.h"
#include "blob_own.h"

enum {
    MOST_PARTS = 1 << 16, /* of a request, moved at a time: 16 times 4 to some power */
    GATHERED = 1 << 20,   /* bytes of them that are read together ... */
    READ = 4 << 20,       /* ... with what lies between them */
    GAP = 256,            /* bytes that are sooner read than passed over */
    LONG = 1 << 16,       /* bytes that are not worth a copy */
    ENDS = 1 << 9         /* of runs that are looked for; a power of 2 */
};

struct blob_decomp *blob_decomp_of(const struct blob *b, int varid)
{
    int number = varid < b->nvars ? b->state[varid] : BLOB_CANONICAL;
    for (int i = 0; number > BLOB_OPEN && i < b->ndecomps; i++)
        if (b->decomps[i].number == number) return &b->decomps[i];
    return NULL;
}

/* ---- a request that is taken apart ---- */

/* Where some of its values are: in a subfile, or (sub -1) in the master. */
struct part {
    int sub, next;      /* of a run: its last part; of a part: the one before; -1: none */
    int64_t record, at; /* element of the variable there */
    int64_t n, rank; /* of the request's values (of a run: in p->values), from this on */
};

/* Parts, and room to sort them in. */
struct parts {
    struct part *list, *sorted;
    struct base_key *keys, *spare;
    int64_t n, room;
};

struct pieces {
    struct blob *b;
    struct blob_decomp *d;
    const struct access_request *r;
    const struct cdf_var *v;
    bool put, announced; /* neither: got */
    bool gathers;        /* got, as the file has them, to contiguous memory */
    struct parts parts;
    struct parts runs;         /* parts that lie side by side, if they are gathered ... */
    char *values;              /* ... to this */
    int64_t elements;          /* of all parts */
    int64_t hint;              /* of the index: where the last one was */
    struct region_cursor *mem; /* of the request's values; NULL: contiguous */
};

static void swap_lists(struct parts *x)
{
    struct part *other = x->sorted;
    x->sorted = x->list;
    x->list = other;
}

/* By home: subfile, record, element; what is at one place keeps its order. The other list
 * has them as they were. */
static void sort_moved_parts(struct parts *x)
{
    for (int64_t i = 0; i < x->n; i++)
        x->keys[i] = (struct base_key){(uint64_t)x->list[i].at, i};
    base_sort_keys(x->keys, x->spare, x->n);
    for (int64_t i = 0; i < x->n; i++)
        x->keys[i].key = (uint64_t)x->list[x->keys[i].index].record;
    base_sort_keys(x->keys, x->spare, x->n);
    for (int64_t i = 0; i < x->n; i++)
        x->keys[i].key = (uint64_t)x->list[x->keys[i].index].sub + 1;
    base_sort_keys(x->keys, x->spare, x->n);
    for (int64_t i = 0; i < x->n; i++)
        x->sorted[i] = x->list[x->keys[i].index];
    swap_lists(x);
}

/* Room for one more, and to sort them. Most requests have few. */
static int reserve_parts(struct parts *x)
{
    if (x->n < x->room) return NC_NOERR;
    int64_t room = x->room == 0 ? 16 : 4 * x->room;
    size_t each = 2 * (sizeof *x->list + sizeof *x->keys);
    struct base_key *grown = base_malloc((size_t)room * each);
    if (grown == NULL) return NC_ENOMEM;
    struct part *list = (struct part *)(grown + 2 * room);
    if (x->n > 0) memcpy(list, x->list, (size_t)x->n * sizeof *list);
    base_free(x->keys);
    *x = (struct parts){list, list + room, grown, grown + room, x->n, room};
    return NC_NOERR;
}

/* Is there a place in two of them? They are sorted: then in two that follow each other.
 */
static bool any_twice(const struct parts *x)
{
    for (int64_t i = 1; i < x->n; i++) {
        const struct part *a = &x->list[i - 1], *b = &x->list[i];
        if (a->sub == b->sub && a->record == b->record && a->at + a->n > b->at)
            return true;
    }
    return false;
}

/* A list of blocks that grows; adjacent ones become one. */
struct blocks {
    struct region_extent *list;
    int64_t n, room;
};

static int add_block(struct blocks *x, int64_t offset, int64_t length)
{
    if (x->n > 0 && x->list[x->n - 1].offset + x->list[x->n - 1].length == offset) {
        x->list[x->n - 1].length += length;
        return NC_NOERR;
    }
    void *grown = base_grow(x->list, &x->room, x->n + 1, sizeof *x->list);
    if (grown == NULL) return NC_ENOMEM;
    x->list = grown;
    x->list[x->n++] = (struct region_extent){offset, length};
    return NC_NOERR;
}

/* Where `n` values from number `rank` on are in memory. */
static int add_memory(const struct pieces *p, struct blocks *x, int64_t rank, int64_t n)
{
    int64_t size = conv_size(p->r->type), left = n * size;
    if (p->mem == NULL) return add_block(x, rank * size, left);
    int err = region_skip_to(p->mem, rank * size) ? NC_NOERR : NC_EINVAL;
    while (left > 0 && err == NC_NOERR) {
        struct region_strip strip;
        if (!region_next(p->mem, left, INT64_MAX, &strip)) return NC_EINVAL;
        for (int64_t i = 0; i < strip.count && err == NC_NOERR; i++)
            err = add_block(x, strip.offset + i * strip.stride, strip.length);
        left -= strip.length * strip.count;
    }
    return err;
}

/* The same runs in a file and in memory. */
struct both {
    struct blocks file, memory;
    int64_t nelems;
};

static bool has_memory(const struct pieces *p)
{
    return !p->announced && !p->gathers && !access_is_fill(p->r);
}

static int list_moved_parts(const struct pieces *p, const struct cdf_header *h,
                            const struct part *parts, int64_t n, struct both *both)
{
    int64_t xsize = cdf_type_size(p->v->type);
    int err = NC_NOERR;
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        int64_t offset = parts[i].at * xsize;
        if (p->v->is_record)
            offset += (parts[i].record - parts[0].record) * h->record_size;
        err = add_block(&both->file, offset, parts[i].n * xsize);
        if (err == NC_NOERR && has_memory(p))
            err = add_memory(p, &both->memory, parts[i].rank, parts[i].n);
        both->nelems += parts[i].n;
    }
    return err;
}

/* The parts of one home, as one request of runs; what is gathered goes to `to`. */
static int move_blob_parts(struct pieces *p, struct driver *d, int varid,
                           const struct cdf_header *h, const struct part *parts,
                           int64_t n, void *to)
{
    struct both both = {.nelems = 0};
    bool mapped = has_memory(p);
    int err = list_moved_parts(p, h, parts, n, &both);
    if (err != NC_NOERR) {
        base_free(both.file.list);
        base_free(both.memory.list);
        return err;
    }
    struct region *where = region_of_extents(both.file.list, both.file.n);
    struct region *mem =
        mapped ? region_of_extents(both.memory.list, both.memory.n) : NULL;
    union {
        struct access_request r;
        unsigned char
            room[sizeof(struct access_request) + (1 + ACCESS_RAW_SLAB) * sizeof(int64_t)];
    } one = {.r = {.buf = p->gathers ? to : p->r->buf,
                   .varid = varid,
                   .type = d == p->b->base.lower ? p->r->type : blob_own_type(p->b, p->r),
                   .raw = true,
                   .mapped = mapped}};
    struct access_request *r = &one.r;
    int64_t *slab = r->slab + r->mapped;
    access_set_mem(r, mem);
    slab[0] = (int64_t)(intptr_t)where;
    slab[1] = both.nelems;
    slab[2] = parts[0].record;
    if (where == NULL || (mem == NULL && mapped))
        err = NC_ENOMEM;
    else if (p->announced)
        err = driver_call(d, ahead.prefetch, r);
    else
        err = p->put ? driver_call(d, put, &r, 1) : driver_call(d, get, &r, 1);
    region_free(where);
    region_free(mem);
    return err;
}

/* What no file of another library's dataset has reads as zeros. */
static int get_zeros(const struct pieces *p, const struct part *parts, int64_t n,
                     void *to)
{
    struct blocks mem = {.n = 0};
    int64_t elements = 0;
    int err = NC_NOERR;
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        elements += parts[i].n;
        if (has_memory(p)) err = add_memory(p, &mem, parts[i].rank, parts[i].n);
    }
    if (p->gathers) memset(to, 0, (size_t)(elements * conv_size(p->r->type)));
    for (int64_t i = 0; i < mem.n && err == NC_NOERR; i++)
        memset((void *)((intptr_t)p->r->buf + mem.list[i].offset), 0,
               (size_t)mem.list[i].length);
    base_free(mem.list);
    return err;
}

/* What no map names goes to the master file, though its variable has a decomposition. */
static int move_rest_of_pieces(struct pieces *p, const struct part *parts, int64_t n,
                               void *to)
{
    struct trace_stats *stats = &p->b->base.ds->stats;
    int64_t bytes = 0;
    if (blob_is_foreign(p->b)) return get_zeros(p, parts, n, to);
    int err = move_blob_parts(p, p->b->base.lower, p->r->varid, &p->b->base.ds->header,
                              parts, n, to);
    if (p->announced) return err;
    for (int64_t i = 0; i < n && (err == NC_NOERR || err == NC_ERANGE); i++)
        bytes += parts[i].n * cdf_type_size(p->v->type);
    *(p->put ? &stats->blob_put_bytes : &stats->blob_get_bytes) -= bytes;
    *(p->put ? &stats->blob_master_put_bytes : &stats->blob_master_get_bytes) += bytes;
    return err;
}

static int move_home(struct pieces *p, const struct part *parts, int64_t n, void *to)
{
    struct blob *b = p->b;
    struct blob_sub *sub;
    int varid, err;
    if (parts->sub < 0) return move_rest_of_pieces(p, parts, n, to);
    err = blob_sub_find(b, parts->sub, p->r->varid, &sub, &varid);
    for (int64_t i = 0; p->put && err == NC_NOERR && i < n; i++)
        if (i == 0 || parts[i].record != parts[i - 1].record)
            err = blob_sums_change_part(b, sub, p->r->varid, parts[i].record);
    if (err != NC_NOERR) return err;
    return move_blob_parts(p, sub->driver, varid, &sub->ds.header, parts, n, to);
}

/* ---- what is gathered ---- */

static uint64_t slot_of_part(int sub, int64_t record, int64_t at)
{
    uint64_t x = (uint64_t)at * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)record +
                 ((uint64_t)sub << 32);
    return (x ^ x >> 32) & (ENDS - 1);
}

/* Does it begin where a run ends, or at most so many elements behind that? What is in the
 * master is counted, so that there nothing is read along. */
static bool goes_on(const struct part *run, const struct part *part, int64_t gap)
{
    int64_t behind = part->at - (run->at + run->n);
    return run->sub == part->sub && run->record == part->record && behind >= 0 &&
           behind <= (part->sub < 0 ? 0 : gap);
}

/* Parts that lie side by side in a blob, though others come between them in the request,
 * become a run: there are about as many of these as there are blobs. */
static int make_runs(struct pieces *p)
{
    int ends[ENDS], last = -1;
    const int64_t size = conv_size(p->r->type), gap = GAP / size;
    int64_t spare = READ / size - p->elements; /* for what lies between */
    memset(ends, -1, sizeof ends);
    p->runs.n = 0;
    for (int64_t i = 0; i < p->parts.n; i++) {
        struct part *part = &p->parts.list[i];
        int number = ends[slot_of_part(part->sub, part->record, part->at)];
        if (number < 0 || !goes_on(&p->runs.list[number], part, 0)) number = last;
        if (number < 0 || !goes_on(&p->runs.list[number], part, spare < gap ? 0 : gap)) {
            if (reserve_parts(&p->runs) != NC_NOERR) return NC_ENOMEM;
            number = (int)p->runs.n++;
            p->runs.list[number] = *part;
            p->runs.list[number].next = -1;
            p->runs.list[number].n = 0;
        }
        struct part *run = &p->runs.list[number];
        part->next = run->next;
        run->next = (int)i;
        spare -= part->at - (run->at + run->n);
        run->n = part->at + part->n - run->at;
        last = number;
        ends[slot_of_part(part->sub, part->record, part->at + part->n)] = number;
    }
    return NC_NOERR;
}

/* What a run has goes where it belongs. */
static void deal_out_pieces(const struct pieces *p, const struct part *run,
                            const char *values)
{
    int64_t size = conv_size(p->r->type);
    char *buf = p->r->buf;
    for (int i = run->next; i >= 0; i = p->parts.list[i].next) {
        const struct part *part = &p->parts.list[i];
        memcpy(buf + part->rank * size, values + (part->at - run->at) * size,
               (size_t)(part->n * size));
    }
}

/* Reads what is in one home. A single part goes where it belongs at once. */
static int gather_home(struct pieces *p, const struct part *runs, int64_t n)
{
    int64_t size = conv_size(p->r->type);
    if (p->parts.n == 1)
        return move_home(p, runs, n, (char *)p->r->buf + p->parts.list[0].rank * size);
    int err = move_home(p, runs, n, p->values);
    const char *values = p->values;
    for (int64_t i = 0; i < n && err == NC_NOERR; values += runs[i++].n * size)
        deal_out_pieces(p, &runs[i], values);
    return err;
}

static int prepare_to_gather(struct pieces *p)
{
    int err = make_runs(p);
    if (err != NC_NOERR || p->parts.n == 1 || p->values != NULL) return err;
    p->values = base_malloc(READ);
    return p->values == NULL ? NC_ENOMEM : NC_NOERR;
}

/* ---- all parts there are ---- */

/* Each home's. They are sorted: each file is gone through once and upwards. */
static int move_homes(struct pieces *p, const struct parts *x)
{
    int first = NC_NOERR;
    for (int64_t from = 0, to; from < x->n; from = to) {
        for (to = from + 1; to < x->n && x->list[to].sub == x->list[from].sub;)
            to++;
        int err = p->gathers ? gather_home(p, x->list + from, to - from)
                             : move_home(p, x->list + from, to - from, NULL);
        first = base_error_worse(first, err);
    }
    return first;
}

/* Moves them. Pieces of a blob in whatever order are written as one; but of a put whose
 * elements come twice the last one counts. */
static int flush_pieces(struct pieces *p)
{
    struct parts *x = p->gathers ? &p->runs : &p->parts;
    if (p->parts.n == 0) return NC_NOERR;
    bool ordered = p->put && p->r->raw && !region_is_ascending(access_raw_region(p->r));
    int err = p->gathers ? prepare_to_gather(p) : NC_NOERR;
    if (err == NC_NOERR && x->n > 1) sort_moved_parts(x);
    if (ordered && any_twice(x)) swap_lists(x);
    if (err == NC_NOERR) err = move_homes(p, x);
    p->parts.n = p->elements = 0;
    return err;
}

/* Where the first elements of a stretch are, and how many are there. */
static int find_part(struct pieces *p, const struct blob_stretch *s, struct part *part)
{
    struct blob_decomp *d = p->d;
    *part = (struct part){.record = s->record, .n = s->n};
    if (s->at < d->index.low || s->at >= d->index.high) {
        int64_t n = blob_own_find(d, s->at, &part->at);
        if (n > 0) {
            part->sub = p->b->group;
            if (part->n > n) part->n = n;
            return NC_NOERR;
        }
        int err = blob_read_index(p->b, p->d, s->at);
        if (err != NC_NOERR) return err;
    }
    int64_t at = blob_index_find_next(&d->index, s->at, &p->hint), end = d->index.high;
    if (at < d->index.n && d->index.pieces[at].at <= s->at) {
        const struct blob_piece *piece = &d->index.pieces[at];
        part->sub = piece->sub;
        part->at = piece->pos + (s->at - piece->at);
        end = piece->at + piece->n;
    } else {
        part->sub = -1;
        part->at = s->at;
        if (at < d->index.n && d->index.pieces[at].at < end) end = d->index.pieces[at].at;
    }
    if (part->n > end - s->at) part->n = end - s->at;
    return blob_is_foreign(p->b) ? blob_foreign_part(p->b, p->r->varid, part->sub,
                                                     part->record, part->at, part->n)
                                 : NC_NOERR;
}

/* Adds a part. What is gathered is so a tile at a time, and what is long by itself. */
static int add_moved_part(struct pieces *p, const struct part *part)
{
    int64_t size = conv_size(p->r->type);
    bool full = p->gathers && (p->elements + part->n) * size > GATHERED;
    bool alone = p->gathers && part->n * size >= LONG;
    int err = full || alone ? flush_pieces(p) : NC_NOERR;
    if (err == NC_NOERR) err = reserve_parts(&p->parts);
    if (err != NC_NOERR) return err;
    p->parts.list[p->parts.n++] = *part;
    p->elements += part->n;
    return alone || p->parts.n == MOST_PARTS ? flush_pieces(p) : NC_NOERR;
}

static int move_stretches(struct pieces *p, struct blob_walk *w)
{
    int first = NC_NOERR, err = NC_NOERR;
    int64_t rank = 0;
    struct blob_stretch s;
    while (err == NC_NOERR && blob_walk_next(w, &s)) {
        while (s.n > 0 && err == NC_NOERR) {
            struct part part;
            err = find_part(p, &s, &part);
            if (err != NC_NOERR) break;
            part.rank = rank;
            rank += part.n;
            s.at += part.n;
            s.n -= part.n;
            err = add_moved_part(p, &part);
            if (err == NC_ERANGE) {
                first = err;
                err = NC_NOERR;
            }
        }
    }
    if (err == NC_NOERR) err = flush_pieces(p);
    return err != NC_NOERR ? err : first;
}

/* Is what the request reads in memory as in the file, but for the order of bytes? */
static bool can_be_gathered(const struct pieces *p)
{
    return !p->put && !p->announced && access_mem(p->r) == NULL &&
           conv_type_of(p->v->type) == blob_own_type(p->b, p->r);
}

/* What else is to be known of it is in p. */
static int take_pieces_apart(struct pieces p)
{
    struct blob_walk w;
    const struct region *mem = access_mem(p.r);
    p.v = &p.b->base.ds->header.vars[p.r->varid];
    p.gathers = can_be_gathered(&p);
    if (mem != NULL) p.mem = region_cursor_new(mem);
    int err = blob_walk_begin(&w, &p.b->base.ds->header, p.r);
    if (mem != NULL && p.mem == NULL) err = NC_ENOMEM;
    if (err == NC_NOERR) err = move_stretches(&p, &w);
    blob_walk_end(&w);
    region_cursor_free(p.mem);
    base_free(p.parts.keys);
    base_free(p.runs.keys);
    base_free(p.values);
    return err;
}

/* ---- both ---- */

static bool is_nothing(const struct blob *b, const struct access_request *r)
{
    return access_nelems(r, b->base.ds->header.vars[r->varid].ndims) == 0;
}

/* One after the other, as later ones count; those that are in the own blob are collected
 * as long as no other comes between. */
int blob_move(struct blob *b, struct access_request *const *reqs, int64_t n, bool put)
{
    struct blob_own o;
    int first = NC_NOERR;
    blob_own_begin(&o, b, put);
    for (int64_t i = 0; i < n; i++) {
        struct blob_decomp *d = blob_decomp_of(b, reqs[i]->varid);
        if (is_nothing(b, reqs[i])) continue;
        int err = blob_read_own(b, d);
        bool own = err == NC_NOERR && blob_own_add(&o, d, reqs[i], &err);
        if (own && !blob_own_is_full(&o)) continue;
        int before = blob_own_carry_out(&o);
        if (err == NC_NOERR && !own)
            err = take_pieces_apart(
                (struct pieces){.b = b, .d = d, .r = reqs[i], .put = put});
        if (err != NC_NOERR) access_blame(reqs[i], err);
        first = base_error_worse(base_error_worse(first, before), err);
    }
    int err = blob_own_carry_out(&o);
    blob_own_end(&o);
    return base_error_worse(first, err);
}

/* The first requests, as long as they are in the own blob, go into the group's subfile
 * together: blobs of neighbours lie side by side, and the driver below decides whether
 * they are better written in large pieces. The rest is each process's own affair. */
int blob_move_all(struct blob *b, struct access_request *const *reqs, int64_t n, bool put)
{
    struct blob_own o;
    if (b->own == NULL) return blob_move(b, reqs, n, put);
    blob_own_begin(&o, b, put);
    int64_t done = 0;
    int err, known = blob_read_own_all(b, reqs, n);
    bool more = known == NC_NOERR;
    for (; more && done < n && !blob_own_is_full(&o); done += more) {
        struct blob_decomp *d = blob_decomp_of(b, reqs[done]->varid);
        if (is_nothing(b, reqs[done])) continue;
        more = blob_own_add(&o, d, reqs[done], &err);
    }
    int moved = blob_own_carry_out_all(&o);
    blob_own_end(&o);
    int rest = blob_move(b, reqs + done, n - done, put);
    return base_error_worse(moved, rest);
}

/* Where the values are is found out now, as by a get, which tells what cannot be. */
int blob_prefetch(struct driver *self, const struct access_request *r)
{
    struct blob *b = (struct blob *)self;
    struct blob_decomp *d = r == NULL ? NULL : blob_decomp_of(b, r->varid);
    if (d == NULL) return driver_call(self->lower, ahead.prefetch, r);
    if (self->ds->hints.stage != BASE_ENABLE || self->ds->writable || is_nothing(b, r))
        return NC_NOERR;
    if (blob_read_own(b, d) == NC_NOERR)
        (void)take_pieces_apart(
            (struct pieces){.b = b, .d = d, .r = r, .announced = true});
    return NC_NOERR;
}
