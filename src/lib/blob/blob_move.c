/* Moves values between requests and their locations.
 *
 * 1. Requests are split into parts. A request for the process's whole blob, which is the
 *    usual put, is one part, because blob and request both have their elements in file
 *    order. The elements of any other request are looked up in the process's own map,
 *    then in the index of all blobs. Elements that are in neither are in the master file.
 * 2. The parts of one request, or of several requests for the same variable and record,
 *    form a group. (A list of segments that is not in ascending order arrives as many
 *    requests.)
 * 3. The parts of a group are sorted by location and offset, and contiguous parts become
 *    a run. The runs of a location become one request, to or from copies of the values
 *    unless it can use the caller's buffer. A put that contains some element twice is not
 *    sorted, because the later value must take precedence.
 * 4. Drivers carry out the requests of a batch, which has one or more groups. Then the
 *    results are stored in the callers' requests. */
#include <string.h>

#include "base_arena.h"
#include "base_error.h"
#include "base_mem.h"
#include "blob.h"
#include "blob_frames.h"

enum {
    MOST_PARTS = 1 << 18,    /* limit on parts; a single request may exceed it */
    MOST_COPIED = 16 << 20,  /* limit on copied bytes; a single request may exceed it */
    PARTS_REMOTE = 1 << 16,  /* limit on parts in a group if some are in other blobs */
    COPIED_REMOTE = 1 << 20, /* limit on bytes copied by a get of such a group */
    SPARE = 3 << 20,         /* maximum number of gap bytes that one group reads */
    GAP = 256,               /* maximum size of a gap that is faster to read than skip */
    LONG = 1 << 16           /* minimum size in bytes of runs moved without a copy */
};

/* A call's options, and its result so far. */
struct call {
    struct blob *b;
    bool put, ahead; /* a put, an announcement (`ahead`), or a get if both are false */
    bool together;   /* all values are in this process's blob and move collectively */
    int err;         /* worst error so far */
};

/* Parts that become requests together: the last ones of a batch. */
struct group {
    int64_t first, n;      /* index of the first part; number of parts */
    bool joins;            /* values of several requests may be copied together */
    bool remote;           /* some parts may be outside this process's blob */
    int64_t size, bytes;   /* bytes per value, 0 without values; bytes to copy */
    int64_t records, step; /* records of a whole blob; distance between them */
};

/* The parts and requests that are carried out together. */
struct batch {
    struct subfile_part *parts;
    int64_t nparts, parts_capacity;
    struct access_request **reqs; /* requests for locations, each after its struct made */
    int64_t nreqs, reqs_capacity;
    struct base_arena arena; /* contains these requests */
    char *copies;
    int64_t copied, copies_capacity;
    struct subfile_runs runs; /* of the last group */
    bool unordered;           /* the parts of a get are not sorted by file offset */
};

/* Data stored in memory before each request for a location. */
struct made {
    struct driver *driver; /* NULL if no file has the values, which then read as zeros */
    struct blob_sub *sub;  /* NULL for the master */
    int64_t from, to;      /* range of the group's parts; uses those at its location */
    int64_t copy;          /* offset of its values in the copies; -1 if not copied */
    bool whole;            /* covers this process's whole blob */
    bool framed;           /* its values are in frames of the subfile */
    bool last;             /* last request of a group that has copies */
    struct region *file;   /* region of a raw request */
};

static struct made *made_of(const struct access_request *r)
{
    return (struct made *)r - 1;
}

static const struct cdf_var *moved_var(const struct blob *b,
                                       const struct access_request *r)
{
    return &b->base.ds->header.vars[r->varid];
}

/* Returns the memory type to use for a subfile's variable. Subfiles are always CDF-5, but
 * bytes from 0 to 255 must stay as they are in the master's format. */
static int type_in_subfile(const struct blob *b, const struct access_request *r)
{
    int type = moved_var(b, r)->type, format = b->base.ds->header.format;
    bool same = conv_effective_type(format, type, r->type) == type;
    return same ? r->type : conv_type_of(type);
}

/* Returns whether a request can use the caller's values in place. If the values are
 * scattered in memory, it can only if it uses all values of the caller's request. */
static bool can_be_direct(const struct blob *b, const struct subfile_part *run,
                          int64_t records)
{
    const struct access_request *of = run->of;
    if (run->run > 1 || access_mem(of) == NULL) return run->run == 1;
    int64_t all = access_nelems(of, moved_var(b, of)->ndims);
    return run->sub >= 0 && !b->facts.framed && run->n * records == all;
}

/* ---- splitting requests into groups of parts ---- */

/* The requests that have not been split completely. */
struct split {
    struct access_request *const *reqs;
    int64_t n, next; /* reqs[next] is the request being split */
    bool begun;      /* its splitting has begun */
    bool walks;      /* `walk` is in use */
    struct blob_walk walk;
    struct blob_stretch rest; /* elements of the walk's stretch that are in no part yet */
    struct blob_decomp *decomp;
    struct subfile_part part; /* its next part; none if this has 0 elements */
    struct group alone;       /* properties of a group that consists of this part */
};

/* Begins to split a request, which has only one part if it covers the whole blob. If a
 * value might be out of range, the request's values are not copied together with those of
 * other requests: only one of the requests would get the error. */
static int begin_request(const struct call *c, struct split *s, struct access_request *r)
{
    struct blob *b = c->b;
    const struct cdf_var *v = moved_var(b, r);
    struct blob_decomp *d = s->decomp = blob_decomp_of(b, r->varid);
    struct blob_span span;
    int type = type_in_subfile(b, r), err = NC_NOERR;
    bool fits = c->put ? conv_always_fits(v->type, type) : conv_type_of(v->type) == type;
    bool fill = access_is_fill(r), moves = !fill && !c->ahead;
    s->begun = true;
    s->rest.n = 0;
    s->part = (struct subfile_part){.values = r->buf, .of = r, .copy = -1, .run = 1};
    if (access_nelems(r, v->ndims) == 0) return NC_NOERR;
    if (!c->together) err = blob_read_own(b, d);
    if (err != NC_NOERR) return err;
    bool whole = !b->facts.framed && blob_find_whole(b, d, r, &span, &err);
    if (err != NC_NOERR) return err;
    s->alone = (struct group){.joins = moves && fits && !whole && access_mem(r) == NULL,
                              .size = moves ? conv_size(r->type) : 0,
                              .records = whole ? span.records : 1,
                              .step = whole ? span.step : 1};
    if (whole) {
        s->part.record = span.record;
        s->part.at = d->start;
        s->part.n = subfile_map_count(&d->own);
        s->part.sub = b->group;
        return NC_NOERR;
    }
    if (c->together && fill) return BLOB_ELSEWHERE;
    s->walks = true;
    return blob_walk_begin(&s->walk, &b->base.ds->header, r);
}

static void end_request(struct split *s)
{
    if (s->walks) blob_walk_end(&s->walk);
    s->begun = s->walks = false;
    s->part.n = 0;
}

/* Finds the next part of the request, if there is one. If the values are scattered in
 * memory, it is short enough to be copied. */
static inline int find_part(const struct call *c, struct split *s)
{
    struct subfile_part *p = &s->part;
    struct blob *b = c->b;
    while (s->rest.n == 0)
        if (!s->walks || !blob_walk_next(&s->walk, &s->rest)) return NC_NOERR;
    int64_t at = s->rest.at, size = s->alone.size;
    p->record = s->rest.record;
    p->n = s->rest.n;
    int err = blob_find_part(b, s->decomp, at, c->together, p, &s->alone.remote);
    if (err == NC_NOERR && b->facts.framed)
        err = c->put ? blob_frames_leave(b, s->decomp, at, p)
                     : blob_frames_locate(b, s->decomp, at, p);
    bool scattered = access_mem(p->of) != NULL;
    if (scattered && size > 0 && p->n > COPIED_REMOTE / size && !can_be_direct(b, p, 1))
        p->n = COPIED_REMOTE / size;
    s->rest.at += p->n;
    s->rest.n -= p->n;
    s->alone.bytes = scattered || p->n * size < LONG ? p->n * size : 0;
    return err;
}

/* Returns whether the next part can join a group whose last part is given. */
static inline bool can_join(const struct call *c, const struct split *s,
                            const struct group *g, const struct subfile_part *last)
{
    const struct access_request *r = s->part.of, *before = last->of;
    int64_t most = MOST_PARTS, most_bytes = MOST_COPIED,
            bytes = g->bytes + s->alone.bytes;
    if (r != before && (!s->alone.joins || !g->joins || before->varid != r->varid ||
                        before->type != r->type || last->record != s->part.record))
        return false;
    if (g->n < PARTS_REMOTE && bytes <= COPIED_REMOTE) return true;
    if (c->together) {
        most = 2 * (int64_t)MOST_PARTS;
        if (access_mem(r) == NULL) most_bytes = INT64_MAX;
    } else if (g->remote || s->alone.remote) {
        most = PARTS_REMOTE;
        if (!c->put) most_bytes = COPIED_REMOTE;
    }
    return g->n < most && bytes <= most_bytes;
}

/* Moves the next part to the end of the batch and of its group. */
static inline int append_part(struct split *s, struct group *g, struct batch *t)
{
    struct subfile_part *part = &s->part;
    void *grown = base_grow(t->parts, &t->parts_capacity, t->nparts + 1, sizeof *part);
    if (grown == NULL) return NC_ENOMEM;
    t->parts = grown;
    t->parts[t->nparts++] = *part;
    if (g->n == 0) {
        s->alone.first = g->first;
        *g = s->alone;
    } else {
        g->bytes += s->alone.bytes;
        g->remote = g->remote || s->alone.remote;
    }
    g->n++;
    part->values = (char *)((uintptr_t)part->values + (uintptr_t)(part->n * g->size));
    part->n = 0;
    return NC_NOERR;
}

/* Makes the next group. Returns false if there are no more parts. If a request fails,
 * removes its parts from the group. A collective call then ends, with this request next;
 * all parts of a request must be in one group. */
static bool next_group(struct call *c, struct split *s, struct group *g, struct batch *t)
{
    *g = (struct group){.first = t->nparts};
    for (; s->next < s->n && (s->begun || t->nparts < MOST_PARTS); s->next++) {
        struct access_request *r = s->reqs[s->next];
        struct subfile_part *part = &s->part;
        int err = NC_NOERR;
        if (!s->begun)
            err = begin_request(c, s, r);
        else if (r->status != NC_ERANGE) /* its parts in the previous group failed */
            err = r->status;
        while (err == NC_NOERR) {
            if (part->n == 0) err = find_part(c, s);
            if (err != NC_NOERR || part->n == 0) break;
            if (g->n > 0 && !can_join(c, s, g, &t->parts[t->nparts - 1])) {
                if (!c->together || t->parts[t->nparts - 1].of != r) return true;
                err = BLOB_ELSEWHERE;
                break;
            }
            err = append_part(s, g, t);
        }
        end_request(s);
        if (err == NC_NOERR) continue;
        for (; g->n > 0 && t->parts[t->nparts - 1].of == r; g->n--)
            t->nparts--;
        if (c->together) {
            s->n = s->next;
            break;
        }
        if (!c->ahead) access_set_status(r, err);
        c->err = base_error_merge(c->err, err);
    }
    return g->n > 0;
}

/* ---- requests for locations ---- */

/* Makes the request cover runs [from, to), which have n elements in total. */
static int name_runs(const struct call *c, const struct subfile_runs *runs, int64_t from,
                     int64_t to, int64_t n, struct access_request *r)
{
    struct made *m = made_of(r);
    const struct subfile_part *first = subfile_runs_at(runs, from);
    const struct cdf_var *v = moved_var(c->b, first->of);
    const struct dataset *ds = m->sub == NULL ? c->b->base.ds : &m->sub->ds;
    int64_t size = cdf_type_size(v->type), blocks = 0, *slab = r->slab + r->mapped;
    int64_t stride = m->framed ? blob_frames_stride(c->b, m->sub, first->of->varid)
                               : ds->header.record_size;
    struct region_extent *x = base_malloc((size_t)(to - from) * sizeof *x);
    for (int64_t i = from; i < to && x != NULL; i++) {
        const struct subfile_part *p = subfile_runs_at(runs, i);
        int64_t at = p->at * size;
        if (v->is_record) at += (p->record - first->record) * stride;
        blocks = region_add_extent(x, blocks, at, p->n * size);
    }
    m->file = x == NULL ? NULL : region_of_extents(x, blocks);
    r->raw = true;
    slab[0] = (int64_t)(intptr_t)m->file;
    slab[1] = n;
    slab[2] = first->record;
    return m->file == NULL ? NC_ENOMEM : NC_NOERR;
}

/* Invalidates the checksums of values that a put is about to change. */
static int change_sums(const struct call *c, const struct group *g,
                       const struct subfile_runs *runs, int64_t from, int64_t to,
                       const struct made *m)
{
    const struct subfile_part *p = subfile_runs_at(runs, from);
    int err = NC_NOERR, varid = p->of->varid;
    if (m->whole)
        return blob_sums_change_own(c->b, m->sub, varid, p->record, g->records, g->step);
    for (int64_t i = from, last = -1; i < to && err == NC_NOERR; last = p->record, i++) {
        p = subfile_runs_at(runs, i);
        if (p->record != last)
            err = blob_sums_change_part(c->b, m->sub, varid, p->record);
    }
    return err;
}

/* Makes one request from runs [from, to) of a group. */
static int make_request(const struct call *c, const struct group *g, struct batch *t,
                        int64_t from, int64_t to, bool copied)
{
    struct blob *b = c->b;
    const struct subfile_part *first = subfile_runs_at(&t->runs, from);
    const struct access_request *of = first->of;
    const struct blob_decomp *d = blob_decomp_of(b, of->varid);
    const struct region *mem = copied ? NULL : access_mem(of);
    int varid = of->varid, type = of->type, err = NC_NOERR;
    bool one = d->mine && first->sub == b->group; /* it is contiguous in our blob */
    int64_t n = 0;
    for (int64_t i = from; i < to; i++) {
        const struct subfile_part *p = subfile_runs_at(&t->runs, i);
        one = one && p->record == first->record && p->at == first->at + n;
        n += p->n;
    }
    struct made m = {.driver = blob_is_foreign(b) ? NULL : b->base.lower,
                     .from = g->first,
                     .to = g->first + g->n,
                     .copy = copied && g->size > 0 ? t->copied : -1,
                     .whole = one && first->at == d->start && !access_is_fill(of) &&
                              n == subfile_map_count(&d->own)};
    if (first->sub >= 0) {
        err = blob_sub_find(b, first->sub, of->varid, &m.sub, &varid);
        if (err == NC_NOERR && c->put) err = change_sums(c, g, &t->runs, from, to, &m);
        if (err != NC_NOERR) return err;
        m.driver = m.sub->driver;
        m.framed = b->facts.framed;
        if (m.framed) varid = of->varid;
        type = type_in_subfile(b, of);
    }
    struct access_request *r;
    struct made *made =
        base_arena_alloc(&t->arena, sizeof *made + sizeof *r + 7 * sizeof r->slab[0]);
    void *grown = base_grow(t->reqs, &t->reqs_capacity, t->nreqs + 1, sizeof(void *));
    if (grown != NULL) t->reqs = grown;
    if (made == NULL || grown == NULL) return NC_ENOMEM;
    *made = m;
    r = t->reqs[t->nreqs++] = (struct access_request *)(made + 1);
    *r = (struct access_request){.buf = first->values,
                                 .varid = varid,
                                 .type = (unsigned char)type,
                                 .mapped = mem != NULL};
    access_set_mem(r, mem);
    if (!one || m.framed) return name_runs(c, &t->runs, from, to, n, r);
    int64_t *slab = r->slab + r->mapped, is_record = moved_var(b, of)->is_record;
    r->strided = is_record && g->step != 1;
    if (is_record) {
        slab[0] = first->record;
        slab[2] = g->records;
        slab[4] = g->step;
        slab[5] = 1;
    }
    slab[is_record] = first->at;
    slab[1 + 2 * is_record] = n;
    return NC_NOERR;
}

/* Makes requests for each location, in ascending order of location. Runs of at least
 * `most` elements are not copied. */
static int make_requests(const struct call *c, const struct group *g, struct batch *t,
                         int64_t most)
{
    const struct subfile_runs *runs = &t->runs;
    int err = NC_NOERR;
    for (int64_t from = 0, to; from < runs->nordered && err == NC_NOERR; from = to) {
        const struct subfile_part *first = subfile_runs_at(runs, from);
        bool direct = can_be_direct(c->b, first, g->records);
        bool alone = direct && first->n >= most;
        for (to = from + 1; to < runs->nordered && !alone; to++) {
            const struct subfile_part *p = subfile_runs_at(runs, to);
            if (p->sub != first->sub ||
                (p->n >= most && can_be_direct(c->b, p, g->records)))
                break;
        }
        direct = direct && to == from + 1;
        err = make_request(c, g, t, from, to, !direct);
        for (int64_t i = from; i < to && !direct; i++) {
            subfile_runs_at(runs, i)->copy = t->copied;
            t->copied += subfile_runs_at(runs, i)->n * g->size;
        }
    }
    return err;
}

/* ---- turning a group into requests ---- */

/* Copies the values of n parts to their copies (put) or back from them (get). */
static int copy_values(const struct call *c, const struct batch *t,
                       const struct subfile_part *parts, int64_t n)
{
    const struct access_request *of = parts->of;
    const struct region *mem = access_mem(of);
    struct region_cursor *cursor = mem == NULL ? NULL : region_cursor_new(mem);
    int64_t size = conv_size(of->type);
    if (mem != NULL && cursor == NULL) return NC_ENOMEM;
    for (const struct subfile_part *p = parts; p < parts + n; p++) {
        size_t bytes = (size_t)(p->n * size);
        char *copy = p->copy < 0 ? NULL : t->copies + p->copy;
        if (copy == NULL) continue;
        if (cursor == NULL) {
            memcpy(c->put ? copy : p->values, c->put ? p->values : copy, bytes);
            continue;
        }
        (void)region_skip_to(cursor,
                             (int64_t)((uintptr_t)p->values - (uintptr_t)of->buf));
        if (c->put)
            region_gather(cursor, of->buf, copy, bytes);
        else
            region_scatter(cursor, of->buf, copy, bytes);
    }
    region_cursor_free(cursor);
    return NC_NOERR;
}

/* Makes the runs of a group's parts, and orders them. A put writes each element once. A
 * get also reads small gaps; it sorts the parts first if they are not ordered by file
 * offset. A part of at least `most` elements is a separate run. */
static int make_runs(const struct call *c, const struct group *g,
                     struct subfile_part *parts, int64_t most, struct batch *t)
{
    struct subfile_joining how = {.longest = INT64_MAX, .most = most}, plain = how;
    struct subfile_runs *runs = &t->runs;
    /* If the dataset has frames, values between two parts may be in the master. */
    bool apart, gaps = g->joins && !c->put && !c->b->facts.framed;
    if (gaps) {
        how.gap = GAP / g->size;
        how.spare = SPARE / g->size;
    }
    for (bool again = true; again;) {
        bool joined = gaps && !t->unordered;
        int err = subfile_runs_make(runs, parts, g->n, joined ? &how : &plain);
        if (err == NC_NOERR) err = subfile_runs_sort(runs, &apart);
        if (err != NC_NOERR) return err;
        again = joined && runs->order != NULL;
        if (again) t->unordered = true;
    }
    if (gaps && t->unordered) return subfile_runs_join(runs, &how);
    if (apart || !c->put) return NC_NOERR;
    plain.longest = 0; /* puts each part separately, in the order of the requests */
    int err = subfile_runs_make(runs, parts, g->n, &plain);
    runs->order = NULL;
    runs->nordered = runs->n;
    return err;
}

/* Removes the requests numbered `n` and above. */
static void drop_requests(struct batch *t, int64_t n)
{
    while (t->nreqs > n)
        region_free(made_of(t->reqs[--t->nreqs])->file);
}

/* Turns a group into requests, and allocates their copies. For a put, also fills these.
 * On error, stores the error in the original requests. */
static void queue_group(struct call *c, const struct group *g, struct batch *t)
{
    struct subfile_part *parts = t->parts + g->first;
    int64_t before = t->nreqs, copied = t->copied, most = INT64_MAX;
    bool fits = copied + g->bytes <= 2 * (int64_t)MOST_COPIED;
    if (g->size > 0) most = fits ? LONG / g->size : 0;
    int err = make_runs(c, g, parts, most, t);
    if (err == NC_NOERR) err = make_requests(c, g, t, most);
    if (err == NC_NOERR && t->copied > copied) {
        int64_t tile = COPIED_REMOTE + SPARE, all = t->copied;
        if (!c->put && all < tile) all = tile; /* a fixed size, which malloc can reuse */
        void *copies = base_grow(t->copies, &t->copies_capacity, all, 1);
        if (copies == NULL) err = NC_ENOMEM;
        if (copies != NULL) t->copies = copies;
        made_of(t->reqs[t->nreqs - 1])->last = true;
        for (struct subfile_part *part = parts; part < parts + g->n; part++) {
            const struct subfile_part *run = subfile_runs_find(&t->runs, part);
            part->copy = run->copy < 0 ? -1 : run->copy + (part->at - run->at) * g->size;
        }
        if (err == NC_NOERR && c->put) err = copy_values(c, t, parts, g->n);
    }
    if (err != NC_NOERR) drop_requests(t, before);
    for (int64_t i = 0; i < g->n && err != NC_NOERR && !c->ahead; i++)
        access_set_status(parts[i].of, err);
    c->err = base_error_merge(c->err, err);
}

/* ---- carrying out requests ---- */

/* Moves n requests for one location. Frames are not announced, because they have not been
 * located yet. */
static int move_requests(const struct call *c, struct access_request *const *reqs,
                         int64_t n)
{
    const struct made *m = made_of(reqs[0]);
    int err = NC_NOERR;
    if (!c->ahead && !m->framed && m->driver != NULL)
        return c->put ? driver_call(m->driver, put, reqs, n)
                      : driver_call(m->driver, get, reqs, n);
    for (int64_t i = 0; i < n; i++) {
        struct access_request *r = reqs[i];
        int moved = NC_NOERR;
        if (m->framed && !c->ahead)
            moved = blob_frames_get(c->b, made_of(r)->sub, r);
        else if (!m->framed && m->driver != NULL)
            moved = driver_call(m->driver, prefetching.prefetch, r);
        else if (!m->framed && !c->ahead)
            memset(r->buf, 0, (size_t)(access_start(r)[1] * conv_size(r->type)));
        err = base_error_merge(err, moved);
    }
    return err;
}

/* Stores the results of all requests in the requests that their parts belong to, and
 * empties the batch. Counts values in the master separately. */
static void report_results(struct call *c, struct batch *t, int err)
{
    struct trace_stats *stats = &c->b->base.ds->stats;
    bool done = err == NC_NOERR || dataset_is_local_error(err);
    c->err = base_error_merge(c->err, err);
    for (int64_t k = 0; k < t->nreqs && !c->ahead; k++) {
        struct access_request *r = t->reqs[k];
        const struct made *m = made_of(r);
        struct subfile_part *parts = t->parts + m->from;
        int64_t n = m->to - m->from;
        int number = m->sub == NULL ? -1 : m->sub->subfile.number;
        bool moved = r->status == NC_NOERR || r->status == NC_ERANGE;
        for (int64_t i = 0; i < n && r->status != NC_NOERR; i++)
            if (parts[i].sub == number) {
                access_set_status(parts[i].of, r->status);
                if (!moved) parts[i].copy = -1;
            }
        if (moved && m->driver == c->b->base.lower) {
            int64_t bytes = access_start(r)[1] * cdf_type_size(moved_var(c->b, r)->type);
            *(c->put ? &stats->blob_put_bytes : &stats->blob_get_bytes) -= bytes;
            *(c->put ? &stats->blob_master_put_bytes : &stats->blob_master_get_bytes) +=
                bytes;
        }
        if (r->status == NC_NOERR && done && c->put && m->whole)
            blob_sums_keep(c->b, parts->of->varid, r);
        err = m->last && !c->put ? copy_values(c, t, parts, n) : NC_NOERR;
        if (err != NC_NOERR) access_set_status(parts->of, err);
        c->err = base_error_merge(c->err, err);
    }
    drop_requests(t, 0);
    base_arena_free(&t->arena);
    t->nparts = t->copied = 0;
}

/* ---- all requests ---- */

/* Fills an empty batch. To limit the memory for copies, a group with parts in other blobs
 * ends the batch. Returns whether requests remain, which a full batch leaves. */
static bool fill_batch(struct call *c, struct split *s, struct batch *t)
{
    struct group g;
    bool full = false;
    while (!full && next_group(c, s, &g, t)) {
        queue_group(c, &g, t);
        full = (g.remote && !c->together) || t->nparts >= MOST_PARTS ||
               t->copied >= MOST_COPIED;
    }
    for (int64_t i = 0; i < t->nreqs; i++) {
        int64_t copy = made_of(t->reqs[i])->copy;
        if (copy >= 0) t->reqs[i]->buf = t->copies + copy;
    }
    return full;
}

static void free_batch(struct batch *t)
{
    subfile_runs_free(&t->runs);
    base_free(t->parts);
    base_free(t->reqs);
    base_free(t->copies);
}

/* Moves the requests as if one after the other, so that later ones take precedence. */
static int move_batches(struct call *c, struct access_request *const *reqs, int64_t n)
{
    struct split s = {.reqs = reqs, .n = n};
    struct batch t = {.parts = NULL};
    blob_frames_forget(c->b);
    for (bool more = true; more;) {
        int err = NC_NOERR;
        more = fill_batch(c, &s, &t);
        for (int64_t from = 0, to; from < t.nreqs; from = to) {
            const struct driver *d = made_of(t.reqs[from])->driver;
            for (to = from + 1; to < t.nreqs && made_of(t.reqs[to])->driver == d;)
                to++;
            err = base_error_merge(err, move_requests(c, t.reqs + from, to - from));
        }
        report_results(c, &t, err);
    }
    free_batch(&t);
    return c->err;
}

int blob_move(struct blob *b, struct access_request *const *reqs, int64_t n, bool put)
{
    return move_batches(&(struct call){.b = b, .put = put}, reqs, n);
}

/* Moves the leading requests collectively as long as they are in this process's blob:
 * blobs of neighbouring ranks are adjacent, so the lower driver may write them in larger
 * pieces. Each process moves the remaining requests independently. */
int blob_move_all(struct blob *b, struct access_request *const *reqs, int64_t n, bool put)
{
    struct call c = {.b = b, .put = put, .together = true};
    struct split s = {.reqs = reqs, .n = n};
    struct batch t = {.parts = NULL};
    if (b->own == NULL || b->facts.framed) return blob_move(b, reqs, n, put);
    if (blob_read_own_all(b, reqs, n) != NC_NOERR) s.n = 0;
    (void)fill_batch(&c, &s, &t);
    end_request(&s);
    struct driver *d = b->own->driver;
    int err = put ? driver_call(d, put_all, t.reqs, t.nreqs, NC_NOERR)
                  : driver_call(d, get_all, t.reqs, t.nreqs, NC_NOERR);
    report_results(&c, &t, err);
    free_batch(&t);
    int rest = blob_move(b, reqs + s.next, n - s.next, put);
    return base_error_merge(c.err, rest);
}

/* Locates the values as a get does. Ignores errors, because the get will report them. */
int blob_prefetch(struct driver *self, const struct access_request *r)
{
    struct call c = {.b = (struct blob *)self, .ahead = true};
    struct access_request *one = (struct access_request *)(intptr_t)r;
    if (r == NULL || blob_decomp_of(c.b, r->varid) == NULL)
        return driver_call(self->lower, prefetching.prefetch, r);
    if (self->ds->hints.stage == HINTS_ENABLE && !self->ds->writable)
        (void)move_batches(&c, &one, 1);
    return NC_NOERR;
}
