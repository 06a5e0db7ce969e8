/* Values between requests and their homes.
 *
 * A request for the whole of the process's own blob, which is what a put of a program's
 * own decomposition is, becomes one of a run, with the same buffer: the blob has its
 * elements in the order of the file, as a request has its values. Any other is taken
 * apart: each stretch of elements is looked up in the process's own map, then among the
 * blobs of all, and what no blob has is in the master file. Such parts make a group:
 * those of a request, or of several of one variable and record, as a list of segments
 * that does not ascend comes here as many requests. A group is sorted by home and place,
 * what lies side by side in a file is a run, and the runs of a home become one request,
 * to or from copies of the values. Of a put that has an element twice nothing is sorted,
 * as the later of the two holds. */
#include <string.h>

#include "base_arena.h"
#include "base_error.h"
#include "base_mem.h"
#include "blob.h"
#include "blob_frames.h"
#include "blob_parts.h"

enum {
    MOST_PARTS = 1 << 18,    /* at a time, and those of one request more */
    MOST_COPIED = 16 << 20,  /* bytes, likewise */
    PARTS_ABROAD = 1 << 16,  /* parts of a group of which some are in others' blobs */
    COPIED_ABROAD = 1 << 20, /* bytes of such a group, that are got */
    SPARE = 3 << 20,         /* bytes between those that are wanted, read with a group */
    GAP = 256,               /* bytes that are sooner read than passed over */
    LONG = 1 << 16           /* bytes that are not worth a copy */
};

struct placing {
    struct blob *b;
    bool put, ahead; /* neither: got; ahead: announced */
    bool together;   /* nothing but the own blob, and it is carried out by its group */
    struct blob_part *parts;
    int64_t n, room, closed; /* those before `closed` have become requests; the others: */
    bool joins;              /* values of several requests may be copied as one's */
    bool abroad;             /* some are not in the own blob, as far as was looked */
    bool unordered;          /* parts that are got do not go upwards where they lie */
    int64_t size, bytes;     /* of a value, 0: there are none; of all that are copied */
    int64_t records, step;   /* it is all of the own blob, and there are so many */
    struct blob_runs runs;
    struct access_request **reqs; /* of homes, each behind its struct made */
    int64_t nreqs, reqs_room;
    char *copies;
    int64_t copied, copies_room;
    struct base_arena arena;
    int first; /* error: the worst of all */
};

/* A request of a home. */
struct made {
    struct driver *driver; /* NULL: no file has it; that is read as zeros */
    struct blob_sub *sub;  /* NULL: the master */
    int64_t from, to;      /* the parts of its group: those of its home are its own */
    int64_t copy;          /* where its values are copied to; -1: they are not */
    bool whole;            /* all of the own blob */
    bool framed;           /* its values are in frames of the subfile */
    bool last;             /* of a group that is copied */
    struct region *file;   /* of a raw one */
};

static struct made *made_of(const struct access_request *r)
{
    return (struct made *)r - 1;
}

static const struct cdf_var *placed_var(const struct placing *o,
                                        const struct access_request *r)
{
    return &o->b->base.ds->header.vars[r->varid];
}

/* ---- requests of homes ---- */

/* The type in memory for a subfile's variable. These are CDF-5 whatever the master is:
 * what it takes for bytes from 0 to 255 stays as it is. */
static int type_in_subfile(const struct placing *o, const struct access_request *r)
{
    int type = placed_var(o, r)->type, format = o->b->base.ds->header.format;
    bool same = conv_effective_type(format, type, r->type) == type;
    return same ? r->type : conv_type_of(type);
}

/* It names n elements of the own blob, of one record or of several. */
static void name_span(const struct placing *o, struct access_request *r,
                      const struct blob_part *first, int64_t n)
{
    bool is_record = placed_var(o, first->of)->is_record;
    int64_t *slab = r->slab + r->mapped;
    r->strided = is_record && o->step != 1;
    if (is_record) {
        slab[0] = first->record;
        slab[2] = o->records;
        slab[4] = o->step;
        slab[5] = 1;
    }
    slab[is_record] = first->at;
    slab[1 + 2 * is_record] = n;
}

/* It names n elements, in runs [from, to). */
static int name_runs(const struct placing *o, struct access_request *r, int64_t from,
                     int64_t to, int64_t n)
{
    struct made *m = made_of(r);
    const struct blob_part *first = blob_runs_at(&o->runs, from);
    const struct cdf_var *v = placed_var(o, first->of);
    const struct dataset *ds = m->sub == NULL ? o->b->base.ds : &m->sub->ds;
    int64_t size = cdf_type_size(v->type), blocks = 0, *slab = r->slab + r->mapped;
    int64_t stride = m->framed ? blob_frames_stride(o->b, m->sub, first->of->varid)
                               : ds->header.record_size;
    struct region_extent *x = base_malloc((size_t)(to - from) * sizeof *x);
    for (int64_t i = from; i < to && x != NULL; i++) {
        const struct blob_part *p = blob_runs_at(&o->runs, i);
        int64_t at = p->at * size;
        if (v->is_record) at += (p->record - first->record) * stride;
        if (blocks > 0 && x[blocks - 1].offset + x[blocks - 1].length == at)
            x[blocks - 1].length += p->n * size;
        else
            x[blocks++] = (struct region_extent){at, p->n * size};
    }
    m->file = x == NULL ? NULL : region_of_extents(x, blocks);
    r->raw = true;
    slab[0] = (int64_t)(intptr_t)m->file;
    slab[1] = n;
    slab[2] = first->record;
    return m->file == NULL ? NC_ENOMEM : NC_NOERR;
}

/* Those from number `from` on are no more. */
static void drop_requests(struct placing *o, int64_t from)
{
    while (o->nreqs > from)
        region_free(made_of(o->reqs[--o->nreqs])->file);
}

/* ---- a group becomes requests ---- */

/* Checksums of what a put will change are known no more. */
static int change_sums(const struct placing *o, const struct made *m, int64_t from,
                       int64_t to)
{
    const struct blob_part *p = blob_runs_at(&o->runs, from);
    int err = NC_NOERR, varid = p->of->varid;
    if (m->whole)
        return blob_sums_change_own(o->b, m->sub, varid, p->record, o->records, o->step);
    for (int64_t i = from, last = -1; i < to && err == NC_NOERR; last = p->record, i++) {
        p = blob_runs_at(&o->runs, i);
        if (p->record != last)
            err = blob_sums_change_part(o->b, m->sub, varid, p->record);
    }
    return err;
}

/* How many elements have runs [from, to), all of one home? *one: they are one run of the
 * own blob. */
static int64_t count_elements(const struct placing *o, const struct blob_decomp *d,
                              int64_t from, int64_t to, bool *one)
{
    const struct blob_part *first = blob_runs_at(&o->runs, from);
    int64_t n = 0;
    *one = d->mine && first->sub == o->b->group;
    for (int64_t i = from; i < to; i++) {
        const struct blob_part *p = blob_runs_at(&o->runs, i);
        *one = *one && p->record == first->record && p->at == first->at + n;
        n += p->n;
    }
    return n;
}

/* They become a request. */
static int make_request(struct placing *o, int64_t from, int64_t to, bool copied)
{
    const struct blob_part *first = blob_runs_at(&o->runs, from);
    const struct access_request *of = first->of;
    const struct blob_decomp *d = blob_decomp_of(o->b, of->varid);
    const struct region *mem = copied ? NULL : access_mem(of);
    bool one;
    int64_t n = count_elements(o, d, from, to, &one);
    int varid = of->varid, type = of->type, err = NC_NOERR;
    struct access_request *r;
    struct made *m =
        base_arena_alloc(&o->arena, sizeof *m + sizeof *r + 7 * sizeof r->slab[0]);
    void *grown =
        base_grow(o->reqs, &o->reqs_room, o->nreqs + 1, sizeof(struct access_request *));
    if (grown != NULL) o->reqs = grown;
    if (m == NULL || grown == NULL) return NC_ENOMEM;
    *m = (struct made){.driver = blob_is_foreign(o->b) ? NULL : o->b->base.lower,
                       .from = o->closed,
                       .to = o->n,
                       .copy = copied && o->size > 0 ? o->copied : -1,
                       .whole = one && first->at == d->start && !access_is_fill(of) &&
                                n == blob_map_count(&d->own)};
    if (first->sub >= 0) {
        err = blob_sub_find(o->b, first->sub, of->varid, &m->sub, &varid);
        if (err == NC_NOERR && o->put) err = change_sums(o, m, from, to);
        if (err != NC_NOERR) return err;
        m->driver = m->sub->driver;
        m->framed = o->b->facts.framed;
        if (m->framed) varid = of->varid;
        type = type_in_subfile(o, of);
    }
    r = o->reqs[o->nreqs++] = (struct access_request *)(m + 1);
    *r = (struct access_request){.buf = first->values,
                                 .varid = varid,
                                 .type = (unsigned char)type,
                                 .mapped = mem != NULL};
    access_set_mem(r, mem);
    if (!one || m->framed) return name_runs(o, r, from, to, n);
    name_span(o, r, first, n);
    return NC_NOERR;
}

/* Are its values where a request can have them? If they are scattered, as all of one. */
static bool can_be_direct(const struct placing *o, const struct blob_part *run)
{
    const struct access_request *of = run->of;
    if (run->run > 1 || access_mem(of) == NULL) return run->run == 1;
    int64_t all = access_nelems(of, placed_var(o, of)->ndims);
    return run->sub >= 0 && !o->b->facts.framed && run->n * o->records == all;
}

/* Those of each home in turn: each file is gone through upwards. Runs of so many elements
 * are not copied. */
static int make_requests(struct placing *o, int64_t most)
{
    const struct blob_runs *x = &o->runs;
    int err = NC_NOERR;
    for (int64_t from = 0, to; from < x->nordered && err == NC_NOERR; from = to) {
        const struct blob_part *first = blob_runs_at(x, from);
        bool direct = can_be_direct(o, first), alone = direct && first->n >= most;
        for (to = from + 1; to < x->nordered && !alone; to++) {
            const struct blob_part *p = blob_runs_at(x, to);
            if (p->sub != first->sub || (p->n >= most && can_be_direct(o, p))) break;
        }
        direct = direct && to == from + 1;
        err = make_request(o, from, to, !direct);
        for (int64_t i = from; i < to && !direct; i++) {
            blob_runs_at(x, i)->copy = o->copied;
            o->copied += blob_runs_at(x, i)->n * o->size;
        }
    }
    return err;
}

/* Values of a group go to their copies, or come from there. */
static int copy_values(const struct placing *o, const struct blob_part *parts, int64_t n)
{
    const struct access_request *of = parts->of;
    const struct region *mem = access_mem(of);
    struct region_cursor *c = mem == NULL ? NULL : region_cursor_new(mem);
    int64_t size = conv_size(of->type);
    if (mem != NULL && c == NULL) return NC_ENOMEM;
    for (const struct blob_part *p = parts; p < parts + n; p++) {
        size_t bytes = (size_t)(p->n * size);
        char *copy = p->copy < 0 ? NULL : o->copies + p->copy;
        if (copy == NULL) continue;
        if (c == NULL) {
            memcpy(o->put ? copy : p->values, o->put ? p->values : copy, bytes);
            continue;
        }
        (void)region_skip_to(c, (int64_t)((uintptr_t)p->values - (uintptr_t)of->buf));
        if (o->put)
            region_gather(c, of->buf, copy, bytes);
        else
            region_scatter(c, of->buf, copy, bytes);
    }
    region_cursor_free(c);
    return NC_NOERR;
}

/* There are copies from number `before` on. */
static int make_copies(struct placing *o, struct blob_part *parts, int64_t n,
                       int64_t before)
{
    if (o->copied == before) return NC_NOERR;
    int64_t tile = COPIED_ABROAD + SPARE, room = o->copied;
    if (!o->put && room < tile) room = tile; /* as large as any: malloc then keeps it */
    void *copies = base_grow(o->copies, &o->copies_room, room, 1);
    if (copies == NULL) return NC_ENOMEM;
    o->copies = copies;
    made_of(o->reqs[o->nreqs - 1])->last = true;
    for (struct blob_part *p = parts; p < parts + n; p++) {
        const struct blob_part *run = blob_runs_of(&o->runs, p);
        p->copy = run->copy < 0 ? -1 : run->copy + (p->at - run->at) * o->size;
    }
    return o->put ? copy_values(o, parts, n) : NC_NOERR;
}

/* Runs of a group, in order. What is put goes to each place once; of what is got, what
 * lies close by is read along: in the order of the parts, if they go upwards. */
static int make_runs(struct placing *o, struct blob_part *parts, int64_t n, int64_t most)
{
    struct blob_joining how = {.longest = INT64_MAX, .most = most}, plain = how;
    /* What lies between parts that are in frames may be in the master. */
    bool apart, along = o->joins && !o->put && !o->b->facts.framed;
    if (along) {
        how.gap = GAP / o->size;
        how.spare = SPARE / o->size;
    }
    bool first = along && !o->unordered;
    int err = blob_runs_make(&o->runs, parts, n, first ? &how : &plain);
    if (err == NC_NOERR) err = blob_runs_sort(&o->runs, &apart);
    if (err != NC_NOERR) return err;
    if (first && o->runs.order != NULL) {
        o->unordered = true;
        return make_runs(o, parts, n, most);
    }
    if (along && !first) return blob_runs_join(&o->runs, &how);
    if (apart || !o->put) return NC_NOERR;
    plain.longest = 0;
    err = blob_runs_make(&o->runs, parts, n, &plain);
    o->runs.order = NULL;
    o->runs.nordered = o->runs.n;
    return err;
}

static int make_group(struct placing *o, struct blob_part *parts, int64_t n)
{
    int64_t before = o->copied, most = INT64_MAX;
    bool room = o->copied + o->bytes <= 2 * (int64_t)MOST_COPIED;
    if (o->size > 0) most = room ? LONG / o->size : 0;
    int err = make_runs(o, parts, n, most);
    if (err == NC_NOERR) err = make_requests(o, most);
    return err == NC_NOERR ? make_copies(o, parts, n, before) : err;
}

/* What fails, its requests know. */
static void close_group(struct placing *o)
{
    int64_t n = o->n - o->closed, before = o->nreqs;
    int err = n == 0 ? NC_NOERR : make_group(o, o->parts + o->closed, n);
    if (err != NC_NOERR) drop_requests(o, before);
    for (int64_t i = o->closed; i < o->n && err != NC_NOERR && !o->ahead; i++)
        access_blame(o->parts[i].of, err);
    o->first = base_error_worse(o->first, err);
    o->closed = o->n;
    o->bytes = 0;
    o->abroad = false;
    o->records = o->step = 1;
}

/* ---- requests are carried out ---- */

/* What is not in a blob is counted apart. */
static void count_master(const struct placing *o, const struct access_request *r)
{
    struct trace_stats *stats = &o->b->base.ds->stats;
    int64_t bytes = access_start(r)[1] * cdf_type_size(placed_var(o, r)->type);
    *(o->put ? &stats->blob_put_bytes : &stats->blob_get_bytes) -= bytes;
    *(o->put ? &stats->blob_master_put_bytes : &stats->blob_master_get_bytes) += bytes;
}

/* The result of one goes to the requests that it is made of. */
static int settle_result(struct placing *o, const struct access_request *r, bool done)
{
    const struct made *m = made_of(r);
    struct blob_part *parts = o->parts + m->from;
    int64_t n = m->to - m->from;
    int number = m->sub == NULL ? -1 : m->sub->number;
    bool moved = r->status == NC_NOERR || r->status == NC_ERANGE;
    for (int64_t i = 0; i < n && r->status != NC_NOERR; i++)
        if (parts[i].sub == number) {
            access_blame(parts[i].of, r->status);
            if (!moved) parts[i].copy = -1;
        }
    if (moved && m->driver == o->b->base.lower) count_master(o, r);
    if (r->status == NC_NOERR && done && o->put && m->whole)
        blob_sums_keep(o->b, parts->of->varid, r);
    int err = m->last && !o->put ? copy_values(o, parts, n) : NC_NOERR;
    if (err != NC_NOERR) access_blame(parts->of, err);
    return err;
}

/* There is nothing again. */
static void settle_results(struct placing *o, int err)
{
    bool done = err == NC_NOERR || dataset_is_own(err);
    o->first = base_error_worse(o->first, err);
    for (int64_t i = 0; i < o->nreqs && !o->ahead; i++)
        o->first = base_error_worse(o->first, settle_result(o, o->reqs[i], done));
    drop_requests(o, 0);
    o->n = o->closed = o->copied = 0;
    base_arena_free(&o->arena);
}

/* All there is, is in requests from here on. */
static void make_ready(struct placing *o)
{
    close_group(o);
    for (int64_t i = 0; i < o->nreqs; i++) {
        struct access_request *r = o->reqs[i];
        if (made_of(r)->copy >= 0) r->buf = o->copies + made_of(r)->copy;
    }
}

/* n requests of one home. Those from frames are not announced: nobody knows yet where
 * they are. */
static int move_requests(const struct placing *o, struct access_request *const *reqs,
                         int64_t n)
{
    struct driver *d = made_of(reqs[0])->driver;
    int err = NC_NOERR;
    bool framed = made_of(reqs[0])->framed;
    for (int64_t i = 0; i < n && framed && !o->ahead; i++)
        err =
            base_error_worse(err, blob_frames_get(o->b, made_of(reqs[i])->sub, reqs[i]));
    if (framed) return err;
    for (int64_t i = 0; i < n && d == NULL && !o->ahead; i++)
        memset(reqs[i]->buf, 0,
               (size_t)(access_start(reqs[i])[1] * conv_size(reqs[i]->type)));
    for (int64_t i = 0; i < n && d != NULL && o->ahead; i++)
        err = base_error_worse(err, driver_call(d, ahead.prefetch, reqs[i]));
    if (d == NULL || o->ahead) return err;
    return o->put ? driver_call(d, put, reqs, n) : driver_call(d, get, reqs, n);
}

static void carry_out(struct placing *o)
{
    int err = NC_NOERR;
    make_ready(o);
    for (int64_t from = 0, to; from < o->nreqs; from = to) {
        const struct driver *d = made_of(o->reqs[from])->driver;
        for (to = from + 1; to < o->nreqs && made_of(o->reqs[to])->driver == d;)
            to++;
        err = base_error_worse(err, move_requests(o, o->reqs + from, to - from));
    }
    settle_results(o, err);
}

static void carry_out_all(struct placing *o)
{
    struct driver *d = o->b->own->driver;
    make_ready(o);
    int err = o->put ? driver_call(d, put_all, o->reqs, o->nreqs, NC_NOERR)
                     : driver_call(d, get_all, o->reqs, o->nreqs, NC_NOERR);
    settle_results(o, err);
}

static bool is_full(const struct placing *o)
{
    return o->n >= MOST_PARTS || o->copied >= MOST_COPIED;
}

static void end_placing(struct placing *o)
{
    blob_runs_free(&o->runs);
    base_free(o->parts);
    base_free(o->reqs);
    base_free(o->copies);
    base_arena_free(&o->arena);
}

/* ---- requests become parts ---- */

/* May values of the request be copied, and converted as part of another? None of them can
 * be out of range, of which only the request itself would be told. */
static bool can_be_joined(const struct placing *o, const struct access_request *r)
{
    int xtype = placed_var(o, r)->type, type = type_in_subfile(o, r);
    if (access_mem(r) != NULL || access_is_fill(r) || o->ahead) return false;
    return o->put ? conv_always_fits(xtype, type) : conv_type_of(xtype) == type;
}

/* The group is closed. If some of it is abroad it does not wait. */
static void end_group(struct placing *o)
{
    bool waits = !o->abroad;
    close_group(o);
    if (!o->together && (!waits || is_full(o))) carry_out(o);
}

static inline int add_part(struct placing *o, const struct blob_part *part)
{
    void *grown = base_grow(o->parts, &o->room, o->n + 1, sizeof *part);
    if (grown == NULL) return NC_ENOMEM;
    o->parts = grown;
    o->parts[o->n++] = *part;
    return NC_NOERR;
}

/* The group that is open is of requests like this one. */
static void begin_request(struct placing *o, const struct access_request *r)
{
    bool joins = can_be_joined(o, r);
    if (o->n > o->closed) {
        const struct access_request *last = o->parts[o->n - 1].of;
        if (!joins || !o->joins || last->varid != r->varid || last->type != r->type)
            end_group(o);
    }
    o->joins = joins;
    o->size = o->ahead || access_is_fill(r) ? 0 : conv_size(r->type);
}

/* Room in the group for one more part, of which so many bytes are copied; else the group
 * is closed. Of a request that nothing may be carried out of yet it has all. */
static int make_room_in_group(struct placing *o, const struct blob_part *part,
                              bool abroad, int64_t bytes)
{
    int64_t n = o->n - o->closed, all = o->bytes + bytes;
    const struct blob_part *last = n == 0 ? part : &o->parts[o->n - 1];
    bool same = last->of == part->of || last->record == part->record;
    bool scattered = access_mem(part->of) != NULL;
    abroad = abroad || o->abroad;
    if (o->together &&
        (n >= 2 * (int64_t)MOST_PARTS || (n > 0 && scattered && all > MOST_COPIED)))
        return BLOB_ELSEWHERE;
    if (n == 0 || (same && o->together)) return NC_NOERR;
    if (same && n < (abroad ? PARTS_ABROAD : MOST_PARTS) &&
        all <= (abroad && !o->put ? COPIED_ABROAD : MOST_COPIED))
        return NC_NOERR;
    end_group(o);
    int err = part->of->status;
    return err == NC_ERANGE ? NC_NOERR : err;
}

/* Parts of values that are scattered in memory are copied, and no longer than a tile. */
static int add_stretches(struct placing *o, struct blob_decomp *d,
                         struct access_request *r)
{
    struct blob_walk w;
    struct blob_stretch s;
    struct blob_part part = {.values = r->buf, .of = r, .copy = -1, .run = 1};
    int64_t size = o->size, tile = size == 0 ? INT64_MAX : COPIED_ABROAD / size;
    bool abroad, scattered = access_mem(r) != NULL, first = true;
    bool framed = o->b->facts.framed;
    int err = blob_walk_begin(&w, &o->b->base.ds->header, r);
    while (err == NC_NOERR && blob_walk_next(&w, &s))
        for (part.record = s.record; s.n > 0; s.at += part.n, s.n -= part.n) {
            part.n = s.n;
            err = blob_find_part(o->b, d, s.at, o->together, &part, &abroad);
            if (err == NC_NOERR && framed)
                err = o->put ? blob_frames_leave(o->b, d, s.at, &part)
                             : blob_frames_home(o->b, d, s.at, &part);
            if (err != NC_NOERR) break;
            if (scattered && part.n > tile && !can_be_direct(o, &part)) part.n = tile;
            int64_t bytes = part.n * size, copied = scattered || bytes < LONG ? bytes : 0;
            if (first || o->n - o->closed >= PARTS_ABROAD ||
                o->bytes + copied > COPIED_ABROAD)
                err = make_room_in_group(o, &part, abroad, copied);
            if (err == NC_NOERR) err = add_part(o, &part);
            if (err != NC_NOERR) break;
            o->abroad = o->abroad || abroad;
            o->bytes += copied;
            part.values = (char *)((uintptr_t)part.values + (uintptr_t)bytes);
            first = false;
        }
    blob_walk_end(&w);
    return err;
}

/* All of the own blob. */
static int add_whole(struct placing *o, const struct blob_decomp *d,
                     struct access_request *r, const struct blob_span *s)
{
    end_group(o);
    int err = add_part(o, &(struct blob_part){.record = s->record,
                                              .at = d->start,
                                              .n = blob_map_count(&d->own),
                                              .values = r->buf,
                                              .copy = -1,
                                              .of = r,
                                              .run = 1,
                                              .sub = o->b->group});
    o->records = s->records;
    o->step = s->step;
    if (err == NC_NOERR) close_group(o);
    return err;
}

/* Nothing of it is in the group any more if it fails, or is elsewhere. */
static int add_request(struct placing *o, struct access_request *r)
{
    struct blob_decomp *d = blob_decomp_of(o->b, r->varid);
    struct blob_span s;
    if (access_nelems(r, placed_var(o, r)->ndims) == 0) return NC_NOERR;
    int err = o->together ? NC_NOERR : blob_read_own(o->b, d);
    if (err != NC_NOERR) return err;
    begin_request(o, r);
    if (!o->b->facts.framed && blob_find_whole(o->b, d, r, &s, &err))
        return add_whole(o, d, r, &s);
    if (err == NC_NOERR)
        err = o->together && access_is_fill(r) ? BLOB_ELSEWHERE : add_stretches(o, d, r);
    while (err != NC_NOERR && o->n > o->closed && o->parts[o->n - 1].of == r)
        o->n--;
    return err;
}

/* ---- all requests ---- */

static struct placing begin_placing(struct blob *b, bool put)
{
    blob_frames_forget(b);
    return (struct placing){.b = b, .put = put, .records = 1, .step = 1};
}

/* As if one after the other, as later ones count. */
int blob_move(struct blob *b, struct access_request *const *reqs, int64_t n, bool put)
{
    struct placing o = begin_placing(b, put);
    for (int64_t i = 0; i < n; i++) {
        int err = add_request(&o, reqs[i]);
        if (err != NC_NOERR) access_blame(reqs[i], err);
        o.first = base_error_worse(o.first, err);
        if (is_full(&o)) carry_out(&o);
    }
    carry_out(&o);
    end_placing(&o);
    return o.first;
}

/* The first requests, as long as they are in the own blob, go into the group's subfile
 * together: blobs of neighbours lie side by side, and the driver below decides whether
 * they are better written in large pieces. The rest is each process's own affair. */
int blob_move_all(struct blob *b, struct access_request *const *reqs, int64_t n, bool put)
{
    struct placing o = begin_placing(b, put);
    if (put && blob_frames_made(b)) return blob_frames_put_all(b, reqs, n);
    if (b->own == NULL || b->facts.framed) return blob_move(b, reqs, n, put);
    o.together = true;
    int64_t done = 0;
    bool more = blob_read_own_all(b, reqs, n) == NC_NOERR;
    for (; more && done < n && !is_full(&o); done += more)
        more = add_request(&o, reqs[done]) == NC_NOERR;
    carry_out_all(&o);
    end_placing(&o);
    int rest = blob_move(b, reqs + done, n - done, put);
    return base_error_worse(o.first, rest);
}

/* Where the values are is found out now, as by a get, which tells what cannot be. */
int blob_prefetch(struct driver *self, const struct access_request *r)
{
    struct blob *b = (struct blob *)self;
    struct placing o = begin_placing(b, false);
    if (r == NULL || blob_decomp_of(b, r->varid) == NULL)
        return driver_call(self->lower, ahead.prefetch, r);
    if (self->ds->hints.stage != BASE_ENABLE || self->ds->writable) return NC_NOERR;
    o.ahead = true;
    (void)add_request(&o, (struct access_request *)(intptr_t)r);
    carry_out(&o);
    end_placing(&o);
    return NC_NOERR;
}
