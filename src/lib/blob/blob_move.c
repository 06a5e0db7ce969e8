/* Values between requests and blobs, by one process alone.
 *
 * A request for all that is in the process's blob, which is what a put of a program's own
 * decomposition is, becomes one of a run of the subfile, with the same buffer: the blob
 * has its elements in the order of the file, as a request has its values. So does one for
 * elements that lie side by side there. Any other is taken apart: each stretch of
 * elements is looked up in the process's own map, then among the blobs of all, and what
 * no blob has is in the master file. */
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_sort.h"
#include "blob.h"

enum {
    MOST_PARTS = 1 << 16, /* of a request, moved at a time: 16 times 4 to some power */
    MOST_SPANS =
        1 << 16 /* of blobs, carried out at a time, and those of one request more */
};

struct blob_decomp *blob_decomp_of(const struct blob *b, int varid)
{
    int number = varid < b->nvars ? b->state[varid] : BLOB_CANONICAL;
    for (int i = 0; number > BLOB_OPEN && i < b->ndecomps; i++)
        if (b->decomps[i].number == number) return &b->decomps[i];
    return NULL;
}

/* ---- the whole of the own blob ---- */

/* Does it name just the own map's elements, of each of *records records that follow each
 * other? */
static bool is_whole(struct blob *b, const struct blob_decomp *d,
                     const struct driver_request *r, int64_t *record, int64_t *records,
                     int *err)
{
    struct blob_walk w;
    struct blob_stretch s;
    int64_t i = 0, n = d->own.n;
    *records = 0;
    if (n == 0) return false;
    *err = blob_walk_begin(&w, &b->base.ds->header, r);
    bool whole = *err == NC_NOERR;
    while (whole && blob_walk_next(&w, &s, err)) {
        const struct blob_run *run = &d->own.runs[i];
        if (i == 0 && *records == 0) *record = s.record;
        whole = s.at == run->at && s.n == blob_run_length(run) &&
                s.record == *record + *records;
        if (++i < n) continue;
        i = 0;
        ++*records;
    }
    blob_walk_end(&w);
    return whole && *err == NC_NOERR && i == 0;
}

/* Requests of this group's subfile that are made to be carried out together. */
struct batch {
    struct driver_request **made;    /* from the arena */
    struct driver_request **parents; /* whose results they have */
    int64_t n, room;
    struct blob_sub *sub;
    struct base_arena arena;
};

/* n elements from `at` on, of some records. */
struct span {
    int64_t record, records, step, at, n;
};

/* Subfiles are CDF-5 whatever the master is: what it takes for bytes from 0 to 255 stays
 * as it is. */
static unsigned char type_in_subfile(const struct blob *b, const struct driver_request *r)
{
    const struct cdf_header *h = &b->base.ds->header;
    int type = h->vars[r->varid].type;
    bool same = conv_effective_type(h->format, type, r->type) == type;
    return (unsigned char)(same ? r->type : conv_type_of(type));
}

/* A request of a span of a subfile's variable, with the buffer of another. */
static struct driver_request *make_span(struct base_arena *arena,
                                        const struct driver_request *like, int varid,
                                        int type, bool is_record, const struct span *s)
{
    const struct region *mem = driver_mem(like);
    struct driver_request *r = base_arena_alloc(arena, sizeof *r + 7 * sizeof r->slab[0]);
    if (r == NULL) return NULL;
    *r = (struct driver_request){.buf = like->buf,
                                 .varid = varid,
                                 .type = type,
                                 .mapped = mem != NULL,
                                 .strided = is_record && s->step != 1};
    driver_set_mem(r, mem);
    int64_t *start = r->slab + r->mapped, *count = start + 1 + is_record,
            *stride = count + 1 + is_record;
    if (is_record) {
        start[0] = s->record;
        count[0] = s->records;
        if (r->strided) {
            stride[0] = s->step;
            stride[1] = 1;
        }
    }
    start[is_record] = s->at;
    count[is_record] = s->n;
    return r;
}

/* Is the request for all of the own blob, and of which records? */
static bool find_whole(struct blob *b, const struct blob_decomp *d,
                       const struct driver_request *r, struct span *s, int *err)
{
    const struct cdf_var *v = &b->base.ds->header.vars[r->varid];
    struct blob_form form;
    *s = (struct span){0, 1, 1, d->start, blob_map_count(&d->own)};
    blob_form_of(v, r, &form);
    if (blob_walk_is_map(v, r, &d->own)) {
        s->record = driver_start(r)[2];
        return true;
    }
    if (form.ndims < 0 || d->form.ndims < 0)
        return is_whole(b, d, r, &s->record, &s->records, err);
    if (!blob_form_is(&form, &d->form)) return false;
    if (v->is_record) {
        const int64_t *stride = driver_stride(r, v->ndims);
        s->record = driver_start(r)[0];
        s->records = driver_count(r, v->ndims)[0];
        if (stride != NULL) s->step = stride[0];
    }
    return true;
}

static int make_room(struct batch *batch)
{
    if (batch->n < batch->room) return NC_NOERR;
    int64_t room = 2 * batch->room + 16;
    size_t bytes = (size_t)room * sizeof(struct driver_request *);
    void *made = base_realloc(batch->made, bytes);
    if (made != NULL) batch->made = made;
    void *parents = made == NULL ? NULL : base_realloc(batch->parents, bytes);
    if (parents == NULL) return NC_ENOMEM;
    batch->parents = parents;
    batch->room = room;
    return NC_NOERR;
}

/* Adds a request of a span of the own blob, whole or a part, whose values begin so many
 * bytes behind the other's. */
static bool add_span(struct blob *b, struct batch *batch, struct driver_request *r,
                     int64_t behind, const struct span *s, bool whole, bool put, int *err)
{
    *err = make_room(batch);
    if (*err == NC_NOERR) *err = blob_sub_get(b, b->group, &batch->sub);
    int varid = *err == NC_NOERR ? blob_sub_var(batch->sub, r->varid) : -1;
    if (varid < 0) return false;
    struct driver_request *made =
        make_span(&batch->arena, r, varid, type_in_subfile(b, r),
                  b->base.ds->header.vars[r->varid].is_record, s);
    if (made == NULL)
        *err = NC_ENOMEM;
    else if (put && whole)
        *err =
            blob_sums_change_own(b, batch->sub, r->varid, s->record, s->records, s->step);
    else if (put)
        *err = blob_sums_change_part(b, batch->sub, r->varid, s->record);
    if (*err != NC_NOERR || made == NULL) return false;
    made->buf = (char *)r->buf + behind;
    batch->parents[batch->n] = r;
    batch->made[batch->n++] = made;
    return true;
}

/* How many elements from `at` on lie side by side in the own blob, and where in the
 * subfile; 0: it has not that one. */
static int64_t find_own(const struct blob_decomp *d, int64_t at, int64_t *place)
{
    int64_t i = d->mine ? blob_map_find(&d->own, at) : -1;
    if (i < 0) return 0;
    const struct blob_run *run = &d->own.runs[i];
    int64_t behind = at - run->at, length = blob_run_length(run);
    *place = d->start + run->pos + behind;
    return behind < length ? length - behind : 0;
}

/* Adds a put of elements that all lie in the own blob, in whatever order: a part of a
 * list, as a rule, of which each run would else be a write of its own. Several runs of
 * values that are scattered in memory are left to others. */
static bool add_runs(struct blob *b, struct batch *batch, const struct blob_decomp *d,
                     struct driver_request *r, int *err)
{
    struct blob_walk w;
    struct blob_stretch s;
    int64_t place = 0, before = batch->n, done = 0, size = conv_size(r->type);
    *err = blob_walk_begin(&w, &b->base.ds->header, r);
    bool all = *err == NC_NOERR;
    while (all && blob_walk_next(&w, &s, err)) {
        all = (done == 0 || driver_mem(r) == NULL) && find_own(d, s.at, &place) >= s.n;
        const struct span span = {s.record, 1, 1, place, s.n};
        all = all && add_span(b, batch, r, done * size, &span, false, true, err);
        done += s.n;
    }
    blob_walk_end(&w);
    if (all && done > 0 && *err == NC_NOERR) return true;
    batch->n = before;
    return false;
}

/* Adds a request for the whole of the own blob, or a put of parts of it. False: it is
 * neither, or (*err) failed. */
static bool add_own(struct blob *b, struct batch *batch, const struct blob_decomp *d,
                    struct driver_request *r, bool put, int *err)
{
    struct span s;
    *err = NC_NOERR;
    if (!d->mine || driver_is_fill(r)) return false;
    if (find_whole(b, d, r, &s, err)) return add_span(b, batch, r, 0, &s, true, put, err);
    return put && *err == NC_NOERR && add_runs(b, batch, d, r, err);
}

/* Results go to the requests that these are made of; the batch is empty again. */
static void settle_batch(struct blob *b, struct batch *batch, bool put, int err)
{
    for (int64_t i = 0; i < batch->n; i++) {
        if (batch->made[i]->status != NC_NOERR)
            driver_blame(batch->parents[i], batch->made[i]->status);
        else if (put && (err == NC_NOERR || driver_is_own(err)))
            blob_sums_keep(b, batch->parents[i]->varid, batch->made[i]);
    }
    batch->n = 0;
    base_arena_free(&batch->arena);
}

static int carry_out(struct blob *b, struct batch *batch, bool put)
{
    if (batch->n == 0) return NC_NOERR;
    struct driver *d = batch->sub->driver;
    int err =
        put ? driver_put(d, batch->made, batch->n) : driver_get(d, batch->made, batch->n);
    settle_batch(b, batch, put, err);
    return err;
}

/* ---- a request that is taken apart ---- */

/* Where some of its values are: in a subfile, or (sub -1) in the master. */
struct part {
    int sub;
    int64_t record, at; /* element of the variable there */
    int64_t n, rank;    /* of the request's values, from this one on */
};

struct pieces {
    struct blob *b;
    struct blob_decomp *d;
    const struct driver_request *r;
    const struct cdf_var *v;
    bool put, announced; /* neither: got */
    void *memory;        /* of these */
    struct part *parts, *sorted;
    struct base_key *keys, *spare;
    int64_t n, room;
    int64_t hint;              /* of the index: where the last one was */
    struct region_cursor *mem; /* of the request's values; NULL: contiguous */
};

static void swap_lists(struct pieces *p)
{
    struct part *other = p->sorted;
    p->sorted = p->parts;
    p->parts = other;
}

/* By home: subfile, record, element; what is at one place keeps its order. The other list
 * has them as they were. */
static void sort_parts(struct pieces *p)
{
    for (int64_t i = 0; i < p->n; i++)
        p->keys[i] = (struct base_key){(uint64_t)p->parts[i].at, i};
    base_sort_keys(p->keys, p->spare, p->n);
    for (int64_t i = 0; i < p->n; i++)
        p->keys[i].key = (uint64_t)p->parts[p->keys[i].index].record;
    base_sort_keys(p->keys, p->spare, p->n);
    for (int64_t i = 0; i < p->n; i++)
        p->keys[i].key = (uint64_t)p->parts[p->keys[i].index].sub + 1;
    base_sort_keys(p->keys, p->spare, p->n);
    for (int64_t i = 0; i < p->n; i++)
        p->sorted[i] = p->parts[p->keys[i].index];
    swap_lists(p);
}

/* Is there a place in two of them? They are sorted: then in two that follow each other.
 */
static bool any_twice(const struct pieces *p)
{
    for (int64_t i = 1; i < p->n; i++) {
        const struct part *a = &p->parts[i - 1], *b = &p->parts[i];
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
    if (x->n == x->room) {
        int64_t room = 2 * x->room + 64;
        void *grown = base_realloc(x->list, (size_t)room * sizeof *x->list);
        if (grown == NULL) return NC_ENOMEM;
        x->list = grown;
        x->room = room;
    }
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
    return !p->announced && !driver_is_fill(p->r);
}

static int list_parts(const struct pieces *p, const struct cdf_header *h,
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

/* The parts of one home, as one request of runs. */
static int move_parts(struct pieces *p, struct driver *d, int varid,
                      const struct cdf_header *h, const struct part *parts, int64_t n)
{
    struct both both = {.nelems = 0};
    bool mapped = has_memory(p);
    int err = list_parts(p, h, parts, n, &both);
    if (err != NC_NOERR) {
        base_free(both.file.list);
        base_free(both.memory.list);
        return err;
    }
    struct region *where = region_of_extents(both.file.list, both.file.n);
    struct region *mem =
        mapped ? region_of_extents(both.memory.list, both.memory.n) : NULL;
    union {
        struct driver_request r;
        unsigned char
            room[sizeof(struct driver_request) + (1 + DRIVER_RAW_SLAB) * sizeof(int64_t)];
    } one = {
        .r = {.buf = p->r->buf,
              .varid = varid,
              .type = d == p->b->base.lower ? p->r->type : type_in_subfile(p->b, p->r),
              .raw = true,
              .mapped = mapped}};
    struct driver_request *r = &one.r;
    int64_t *slab = r->slab + r->mapped;
    driver_set_mem(r, mem);
    slab[0] = (int64_t)(intptr_t)where;
    slab[1] = both.nelems;
    slab[2] = parts[0].record;
    if (where == NULL || (mem == NULL && mapped))
        err = NC_ENOMEM;
    else if (p->announced)
        err = driver_prefetch(d, r);
    else
        err = p->put ? driver_put(d, &r, 1) : driver_get(d, &r, 1);
    region_free(where);
    region_free(mem);
    return err;
}

/* What no map names goes to the master file, though its variable has a decomposition. */
static int move_rest(struct pieces *p, const struct part *parts, int64_t n)
{
    struct driver_stats *stats = &p->b->base.ds->stats;
    int64_t bytes = 0;
    int err =
        move_parts(p, p->b->base.lower, p->r->varid, &p->b->base.ds->header, parts, n);
    if (p->announced) return err;
    for (int64_t i = 0; i < n && (err == NC_NOERR || err == NC_ERANGE); i++)
        bytes += parts[i].n * cdf_type_size(p->v->type);
    *(p->put ? &stats->blob_put_bytes : &stats->blob_get_bytes) -= bytes;
    *(p->put ? &stats->blob_master_put_bytes : &stats->blob_master_get_bytes) += bytes;
    return err;
}

static int move_home(struct pieces *p, const struct part *parts, int64_t n)
{
    struct blob *b = p->b;
    struct blob_sub *sub;
    if (parts->sub < 0) return move_rest(p, parts, n);
    int err = blob_sub_get(b, parts->sub, &sub);
    int varid = err == NC_NOERR ? blob_sub_var(sub, p->r->varid) : -1;
    if (err == NC_NOERR && varid < 0)
        err = base_error_set(NC_ENOTNC, "%s: variable '%s' is missing", sub->ds.path,
                             p->v->name);
    for (int64_t i = 0; p->put && err == NC_NOERR && i < n; i++)
        if (i == 0 || parts[i].record != parts[i - 1].record)
            err = blob_sums_change_part(b, sub, p->r->varid, parts[i].record);
    if (err != NC_NOERR) return err;
    return move_parts(p, sub->driver, varid, &sub->ds.header, parts, n);
}

/* Moves the parts there are. They are sorted by home, so that each file is gone through
 * once and upwards, and pieces of a blob in whatever order are written as one; but of a
 * put whose elements come twice the last one counts. */
static int flush(struct pieces *p)
{
    int first = NC_NOERR;
    if (p->n == 0) return NC_NOERR;
    bool ordered = p->put && p->r->raw && !region_is_ascending(driver_raw_region(p->r));
    if (p->n > 1) sort_parts(p);
    if (ordered && any_twice(p)) swap_lists(p);
    for (int64_t from = 0, to; from < p->n; from = to) {
        for (to = from + 1; to < p->n && p->parts[to].sub == p->parts[from].sub;)
            to++;
        int err = move_home(p, p->parts + from, to - from);
        if (first == NC_NOERR || (first == NC_ERANGE && err != NC_NOERR)) first = err;
    }
    p->n = 0;
    return first;
}

/* Where the first elements of a stretch are, and how many are there. */
static int find_part(struct pieces *p, const struct blob_stretch *s, struct part *part)
{
    const struct blob_decomp *d = p->d;
    *part = (struct part){.record = s->record, .n = s->n};
    int64_t n = find_own(d, s->at, &part->at);
    if (n > 0) {
        part->sub = p->b->group;
        if (part->n > n) part->n = n;
        return NC_NOERR;
    }
    int err = blob_read_index(p->b, p->d, s->at);
    if (err != NC_NOERR) return err;
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

/* Room for one more part, and to sort them. Most requests have few. */
static int reserve(struct pieces *p)
{
    if (p->n < p->room) return NC_NOERR;
    int64_t room = p->room == 0 ? 16 : 4 * p->room;
    size_t each = 2 * (sizeof *p->parts + sizeof *p->keys);
    struct part *grown = base_malloc((size_t)room * each);
    if (grown == NULL) return NC_ENOMEM;
    if (p->n > 0) memcpy(grown, p->parts, (size_t)p->n * sizeof *grown);
    base_free(p->memory);
    p->memory = p->parts = grown;
    p->sorted = grown + room;
    p->keys = (struct base_key *)(grown + 2 * room);
    p->spare = p->keys + room;
    p->room = room;
    return NC_NOERR;
}

static int move_stretches(struct pieces *p, struct blob_walk *w)
{
    int first = NC_NOERR, err = NC_NOERR;
    int64_t rank = 0;
    struct blob_stretch s;
    while (err == NC_NOERR && blob_walk_next(w, &s, &err)) {
        while (s.n > 0 && err == NC_NOERR) {
            struct part part;
            err = reserve(p);
            if (err == NC_NOERR) err = find_part(p, &s, &part);
            if (err != NC_NOERR) break;
            part.rank = rank;
            rank += part.n;
            s.at += part.n;
            s.n -= part.n;
            p->parts[p->n] = part;
            if (++p->n == MOST_PARTS) err = flush(p);
            if (err == NC_ERANGE) {
                first = err;
                err = NC_NOERR;
            }
        }
    }
    if (err == NC_NOERR) err = flush(p);
    return err != NC_NOERR ? err : first;
}

/* What else is to be known of it is in p. */
static int take_apart(struct pieces p)
{
    struct blob_walk w;
    const struct region *mem = driver_mem(p.r);
    p.v = &p.b->base.ds->header.vars[p.r->varid];
    if (mem != NULL) p.mem = region_cursor_new(mem);
    int err = blob_walk_begin(&w, &p.b->base.ds->header, p.r);
    if (mem != NULL && p.mem == NULL) err = NC_ENOMEM;
    if (err == NC_NOERR) err = move_stretches(&p, &w);
    blob_walk_end(&w);
    region_cursor_free(p.mem);
    base_free(p.memory);
    return err;
}

/* ---- both ---- */

static void end_batch(struct batch *batch)
{
    base_free(batch->made);
    base_free(batch->parents);
    base_arena_free(&batch->arena); /* of a request that was not added in the end */
}

static bool is_nothing(const struct blob *b, const struct driver_request *r)
{
    return driver_nelems(r, b->base.ds->header.vars[r->varid].ndims) == 0;
}

/* One after the other, as later ones count; those that are whole blobs, or runs of one,
 * are collected as long as no other comes between. */
int blob_move(struct blob *b, struct driver_request *const *reqs, int64_t n, bool put)
{
    struct batch batch = {.n = 0};
    int first = NC_NOERR;
    for (int64_t i = 0; i < n; i++) {
        struct blob_decomp *d = blob_decomp_of(b, reqs[i]->varid);
        if (is_nothing(b, reqs[i])) continue;
        int err = blob_read_own(b, d);
        bool own = err == NC_NOERR && add_own(b, &batch, d, reqs[i], put, &err);
        if (own && batch.n < MOST_SPANS) continue;
        int before = carry_out(b, &batch, put);
        if (err == NC_NOERR && !own)
            err = take_apart((struct pieces){.b = b, .d = d, .r = reqs[i], .put = put});
        if (err != NC_NOERR) driver_blame(reqs[i], err);
        if (first == NC_NOERR) first = before != NC_NOERR ? before : err;
    }
    int err = carry_out(b, &batch, put);
    end_batch(&batch);
    return first != NC_NOERR ? first : err;
}

/* The first requests, as long as they are of whole blobs, or runs of one, go into the
 * group's subfile together: blobs of neighbours lie side by side, and the driver below
 * decides whether they are better written in large pieces. The rest is each process's own
 * affair. */
int blob_move_all(struct blob *b, struct driver_request *const *reqs, int64_t n, bool put)
{
    struct batch batch = {.n = 0};
    if (b->own == NULL) return blob_move(b, reqs, n, put);
    int64_t done = 0;
    int err, known = blob_read_own_all(b, reqs, n);
    bool more = known == NC_NOERR;
    for (; more && done < n && batch.n < MOST_SPANS; done += more) {
        struct blob_decomp *d = blob_decomp_of(b, reqs[done]->varid);
        if (is_nothing(b, reqs[done])) continue;
        more = add_own(b, &batch, d, reqs[done], put, &err);
    }
    struct driver *sub = b->own->driver;
    int moved = put ? driver_put_all(sub, batch.made, batch.n, NC_NOERR)
                    : driver_get_all(sub, batch.made, batch.n, NC_NOERR);
    settle_batch(b, &batch, put, moved);
    end_batch(&batch);
    int rest = blob_move(b, reqs + done, n - done, put);
    return moved != NC_NOERR ? moved : rest;
}

/* Where the values are is found out now, as by a get, which tells what cannot be. */
int blob_prefetch(struct driver *self, const struct driver_request *r)
{
    struct blob *b = (struct blob *)self;
    struct blob_decomp *d = r == NULL ? NULL : blob_decomp_of(b, r->varid);
    if (d == NULL) return driver_prefetch(self->lower, r);
    if (self->ds->hints.stage != BASE_ENABLE || self->ds->writable || is_nothing(b, r))
        return NC_NOERR;
    if (blob_read_own(b, d) == NC_NOERR)
        (void)take_apart((struct pieces){.b = b, .d = d, .r = r, .announced = true});
    return NC_NOERR;
}
