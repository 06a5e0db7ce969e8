/* Requests for elements that are all in this process's own blob: they become requests of
 * runs of the group's subfile, to be carried out together.
 *
 * One for the whole blob, which is what a put of a program's own decomposition is,
 * becomes one of a run, with the same buffer: the blob has its elements in the order of
 * the file, as a request has its values. Any other names some stretches of it. Those of
 * one variable and record, of one request or of several that follow each other, are
 * sorted, and what lies side by side in the blob becomes one run, whose values are
 * copied: a list of segments that does not ascend comes here as many requests, of which
 * each has a value here and a value there. Where an element comes twice they stay as they
 * are, in their order, as the later of two puts holds. */
#include "blob_own.h"

#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_sort.h"

enum {
    MOST_PARTS = 1 << 18,   /* at a time, and those of one request more */
    MOST_COPIED = 16 << 20, /* bytes, likewise */
    LONG = 1 << 16          /* bytes that are not worth a copy */
};

/* Some elements that lie side by side in the blob and in memory. */
struct blob_own_part {
    int64_t record, at, n; /* of the subfile's variable */
    char *values;
    struct access_request *of;
};

/* Which parts a request of the subfile is made of. */
struct blob_own_made {
    int64_t from, to;
    char *copies; /* of their values; NULL: it has the buffer of the one there is */
};

void blob_own_begin(struct blob_own *o, struct blob *b, bool put)
{
    *o = (struct blob_own){.b = b, .put = put};
}

void blob_own_end(struct blob_own *o)
{
    base_free(o->parts);
    base_free(o->keys);
    base_free(o->reqs);
    base_free(o->made);
    base_arena_free(&o->arena);
}

bool blob_own_is_full(const struct blob_own *o)
{
    return o->nparts >= MOST_PARTS || o->copied >= MOST_COPIED;
}

static const struct cdf_var *owned_var(const struct blob_own *o,
                                       const struct access_request *r)
{
    return &o->b->base.ds->header.vars[r->varid];
}

/* ---- requests of the subfile ---- */

/* n elements from `at` on, of some records. */
struct span {
    int64_t record, records, step, at, n;
};

unsigned char blob_own_type(const struct blob *b, const struct access_request *r)
{
    const struct cdf_header *h = &b->base.ds->header;
    int type = h->vars[r->varid].type;
    bool same = conv_effective_type(h->format, type, r->type) == type;
    return (unsigned char)(same ? r->type : conv_type_of(type));
}

/* A request of a span of the subfile's variable, with the buffer of another. */
static struct access_request *make_span(struct blob_own *o,
                                        const struct access_request *like, int varid,
                                        const struct span *s)
{
    const struct region *mem = access_mem(like);
    bool is_record = owned_var(o, like)->is_record;
    struct access_request *r =
        base_arena_alloc(&o->arena, sizeof *r + 7 * sizeof r->slab[0]);
    if (r == NULL) return NULL;
    *r = (struct access_request){.buf = like->buf,
                                 .varid = varid,
                                 .type = blob_own_type(o->b, like),
                                 .mapped = mem != NULL,
                                 .strided = is_record && s->step != 1};
    access_set_mem(r, mem);
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

static int make_room_for_parts(struct blob_own *o)
{
    int64_t room = o->room; /* of both */
    void *reqs = base_grow(o->reqs, &room, o->n + 1, sizeof(struct access_request *));
    if (reqs == NULL) return NC_ENOMEM;
    o->reqs = reqs;
    void *made = base_grow(o->made, &o->room, o->n + 1, sizeof *o->made);
    if (made == NULL) return NC_ENOMEM;
    o->made = made;
    return NC_NOERR;
}

/* Checksums of what a put will change are known no more. */
static int change_sums(struct blob_own *o, int varid, const struct span *s, bool whole)
{
    if (!o->put) return NC_NOERR;
    if (!whole) return blob_sums_change_part(o->b, o->sub, varid, s->record);
    return blob_sums_change_own(o->b, o->sub, varid, s->record, s->records, s->step);
}

/* Adds a request of a span, of these parts. */
static int add_span(struct blob_own *o, const struct span *s, bool whole,
                    const struct blob_own_made *of)
{
    struct access_request *like = o->parts[of->from].of;
    int varid, err = make_room_for_parts(o);
    if (err == NC_NOERR)
        err = blob_sub_find(o->b, o->b->group, like->varid, &o->sub, &varid);
    if (err != NC_NOERR) return err;
    struct access_request *r = make_span(o, like, varid, s);
    if (r == NULL) return NC_ENOMEM;
    if (of->copies != NULL)
        r->buf = of->copies;
    else if (access_mem(like) == NULL)
        r->buf = o->parts[of->from].values;
    err = change_sums(o, like->varid, s, whole);
    if (err != NC_NOERR) return err;
    o->made[o->n] = *of;
    o->reqs[o->n++] = r;
    return NC_NOERR;
}

/* ---- stretches ---- */

static int add_owned_part(struct blob_own *o, const struct blob_own_part *part)
{
    void *grown = base_grow(o->parts, &o->parts_room, o->nparts + 1, sizeof *o->parts);
    if (grown == NULL) return NC_ENOMEM;
    o->parts = grown;
    o->parts[o->nparts++] = *part;
    return NC_NOERR;
}

int64_t blob_own_find(struct blob_decomp *d, int64_t at, int64_t *place)
{
    int64_t i = d->mine ? blob_map_find(&d->own, at, &d->hint) : -1;
    if (i < 0) return 0;
    const struct blob_run *run = &d->own.runs[i];
    int64_t behind = at - run->at, length = blob_run_length(run);
    *place = d->start + run->pos + behind;
    return behind < length ? length - behind : 0;
}

/* Lists the parts of a request, if it names elements of the own blob alone: several of
 * them only if its values are not scattered in memory. */
static bool list_owned_parts(struct blob_own *o, struct blob_decomp *d,
                             struct access_request *r, int *err)
{
    struct blob_walk w;
    struct blob_stretch s;
    int64_t size = conv_size(r->type), before = o->nparts;
    struct blob_own_part part = {.values = r->buf, .of = r};
    bool all = true;
    *err = blob_walk_begin(&w, &o->b->base.ds->header, r);
    while (all && *err == NC_NOERR && blob_walk_next(&w, &s)) {
        all = (o->nparts == before || access_mem(r) == NULL) &&
              o->nparts - before < MOST_PARTS && blob_own_find(d, s.at, &part.at) >= s.n;
        part.record = s.record;
        part.n = s.n;
        if (all) *err = add_owned_part(o, &part);
        if (access_mem(r) == NULL) part.values += s.n * size;
    }
    blob_walk_end(&w);
    if (all && *err == NC_NOERR && o->nparts > before) return true;
    o->nparts = before;
    return false;
}

/* ---- stretches of one variable and record ---- */

/* May values of the request be copied, and converted as part of another? None of them can
 * be out of range, of which only the request itself would be told. */
static bool can_be_joined(const struct blob_own *o, const struct access_request *r)
{
    int xtype = owned_var(o, r)->type, type = blob_own_type(o->b, r);
    if (access_mem(r) != NULL) return false;
    return o->put ? conv_always_fits(xtype, type) : conv_type_of(xtype) == type;
}

static bool of_one_group(const struct blob_own *o, const struct blob_own_part *p,
                         const struct blob_own_part *q)
{
    if (p->record != q->record) return false;
    return p->of == q->of || (p->of->varid == q->of->varid &&
                              p->of->type == q->of->type && can_be_joined(o, q->of));
}

static int reserve_keys(struct blob_own *o, int64_t n)
{
    if (n <= o->keys_room) return NC_NOERR;
    size_t each = 2 * sizeof *o->keys + sizeof *o->parts;
    struct base_key *keys = base_malloc((size_t)(2 * n) * each);
    if (keys == NULL) return NC_ENOMEM;
    base_free(o->keys);
    o->keys = keys;
    o->keys_room = 2 * n;
    o->nkeys = 0;
    return NC_NOERR;
}

static bool ascend(const struct blob_own_part *p, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (p[i - 1].at + p[i - 1].n > p[i].at) return false;
    return true;
}

/* As the keys tell. Do they ascend then? */
static bool permute(const struct blob_own *o, const struct blob_own_part *p, int64_t n,
                    struct blob_own_part *sorted)
{
    for (int64_t i = 0; i < n; i++)
        sorted[i] = p[o->keys[i].index];
    return ascend(sorted, n);
}

/* By their place, perhaps in the order of the last ones: a program's variables are in the
 * same one, as a rule. *apart: no element is in two of them; else they stay as they are.
 */
static int sort_owned_parts(struct blob_own *o, struct blob_own_part *p, int64_t n,
                            bool *apart)
{
    *apart = ascend(p, n);
    if (*apart) return NC_NOERR;
    int err = reserve_keys(o, n);
    if (err != NC_NOERR) return err;
    struct blob_own_part *sorted = (struct blob_own_part *)(o->keys + 2 * o->keys_room);
    *apart = n == o->nkeys && permute(o, p, n, sorted);
    if (!*apart) {
        for (int64_t i = 0; i < n; i++)
            o->keys[i] = (struct base_key){(uint64_t)p[i].at, i};
        base_sort_keys(o->keys, o->keys + o->keys_room, n);
        o->nkeys = n;
        *apart = permute(o, p, n, sorted);
    }
    if (*apart) memcpy(p, sorted, (size_t)n * sizeof *p);
    return NC_NOERR;
}

/* Parts that lie side by side become one request. */
static int join_parts(struct blob_own *o, int64_t from, int64_t to)
{
    const struct blob_own_part *p = &o->parts[from];
    const struct blob_decomp *d = blob_decomp_of(o->b, p->of->varid);
    struct span s = {p->record, 1, 1, p->at, 0};
    struct blob_own_made made = {from, to, NULL};
    const int64_t size = conv_size(p->of->type); /* of all parts */
    for (int64_t i = from; i < to; i++)
        s.n += o->parts[i].n;
    if (to - from > 1) {
        char *copy = made.copies = base_arena_alloc(&o->arena, (size_t)(s.n * size));
        if (copy == NULL) return NC_ENOMEM;
        o->copied += s.n * size;
        for (int64_t i = from; i < to && o->put; copy += o->parts[i++].n * size)
            memcpy(copy, o->parts[i].values, (size_t)(o->parts[i].n * size));
    }
    bool whole = s.at == d->start && s.n == blob_map_count(&d->own);
    return add_span(o, &s, whole, &made);
}

/* The parts behind the last group, up to `end`, are one. What cannot be made of it, its
 * requests know. */
static int close_group(struct blob_own *o, int64_t end)
{
    int64_t from = o->closed, n = end - from;
    int64_t size = n > 0 ? conv_size(o->parts[from].of->type) : 0; /* of all parts */
    bool joins = n > 1 && can_be_joined(o, o->parts[from].of);
    int err = joins ? sort_owned_parts(o, o->parts + from, n, &joins) : NC_NOERR;
    for (int64_t to; from < end && err == NC_NOERR; from = to) {
        const struct blob_own_part *p = &o->parts[from];
        int64_t bytes = p->n * size;
        bool room = o->copied < MOST_COPIED; /* else values go from where they are */
        for (to = from + 1; joins && room && to < end; to++, p++) {
            bytes += p[1].n * size;
            if (p->at + p->n != p[1].at || bytes > MOST_COPIED) break;
            if (p->n * size >= LONG || p[1].n * size >= LONG) break;
        }
        err = join_parts(o, from, to);
        if (err != NC_NOERR) break;
    }
    for (; from < end && err != NC_NOERR; from++)
        access_blame(o->parts[from].of, err);
    o->closed = end;
    return err;
}

/* Adds the parts listed from `from` on to the group there is, or to others. */
static int add_to_groups(struct blob_own *o, int64_t from)
{
    int err = NC_NOERR;
    for (int64_t i = from; i < o->nparts && err == NC_NOERR; i++)
        if (i > o->closed && !of_one_group(o, &o->parts[i - 1], &o->parts[i]))
            err = close_group(o, i);
    return err;
}

/* ---- the whole of the blob ---- */

/* Does it name just the own map's elements, of each of *records records that follow each
 * other? */
static bool is_whole(struct blob *b, const struct blob_decomp *d,
                     const struct access_request *r, int64_t *record, int64_t *records,
                     int *err)
{
    struct blob_walk w;
    struct blob_stretch s;
    int64_t i = 0, n = d->own.n, all = blob_map_count(&d->own);
    *records = 0;
    if (all == 0 || access_nelems(r, b->base.ds->header.vars[r->varid].ndims) % all != 0)
        return false;
    *err = blob_walk_begin(&w, &b->base.ds->header, r);
    bool whole = *err == NC_NOERR;
    while (whole && blob_walk_next(&w, &s)) {
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

/* Are the fixed dimensions of a variable as long as those that hyperslabs of the
 * decomposition are told in? They are, but a file may say anything. */
static bool has_dims_of(const struct blob *b, const struct blob_decomp *d,
                        const struct cdf_var *v)
{
    const struct cdf_var *w = &b->base.ds->header.vars[d->varid];
    int n = v->ndims - blob_first_dim(v);
    return n == w->ndims - blob_first_dim(w) &&
           memcmp(v->shape + blob_first_dim(v), w->shape + blob_first_dim(w),
                  (size_t)n * sizeof *v->shape) == 0;
}

/* Is the request for all of the own blob, and of which records? A hyperslab that was
 * found to be is known again. */
static bool find_whole(struct blob *b, struct blob_decomp *d,
                       const struct access_request *r, struct span *s, int *err)
{
    const struct cdf_var *v = &b->base.ds->header.vars[r->varid];
    struct blob_form form;
    *s = (struct span){0, 1, 1, d->start, blob_map_count(&d->own)};
    blob_form_of(v, r, &form);
    if (blob_walk_is_map(v, r, &d->own)) {
        s->record = access_start(r)[2];
        return true;
    }
    if (form.ndims < 0 || d->form.ndims < 0 || !has_dims_of(b, d, v)) {
        bool whole = is_whole(b, d, r, &s->record, &s->records, err);
        if (whole && has_dims_of(b, d, v)) d->form = form;
        return whole;
    }
    if (!blob_form_is(&form, &d->form)) return false;
    if (v->is_record) {
        const int64_t *stride = access_stride(r, v->ndims);
        s->record = access_start(r)[0];
        s->records = access_count(r, v->ndims)[0];
        if (stride != NULL) s->step = stride[0];
    }
    return true;
}

static int add_whole(struct blob_own *o, struct access_request *r, const struct span *s)
{
    struct blob_own_part part = {s->record, s->at, s->n, r->buf, r};
    int err = close_group(o, o->nparts);
    struct blob_own_made made = {o->nparts, o->nparts + 1, NULL};
    if (err == NC_NOERR) err = add_owned_part(o, &part);
    if (err != NC_NOERR) return err;
    o->closed = o->nparts;
    return add_span(o, s, true, &made);
}

/* ---- all of them ---- */

bool blob_own_add(struct blob_own *o, struct blob_decomp *d, struct access_request *r,
                  int *err)
{
    struct span s;
    *err = NC_NOERR;
    if (!d->mine || access_is_fill(r)) return false;
    if (find_whole(o->b, d, r, &s, err)) {
        *err = add_whole(o, r, &s);
        return *err == NC_NOERR;
    }
    int64_t before = o->nparts;
    if (*err != NC_NOERR || !list_owned_parts(o, d, r, err)) return false;
    *err = add_to_groups(o, before);
    return *err == NC_NOERR;
}

/* What was read goes where it belongs. */
static void deal_out_parts(const struct blob_own *o, const struct blob_own_made *made)
{
    const char *copy = made->copies;
    const int64_t size = copy == NULL ? 0 : conv_size(o->parts[made->from].of->type);
    for (int64_t i = made->from; copy != NULL && i < made->to; i++) {
        memcpy(o->parts[i].values, copy, (size_t)(o->parts[i].n * size));
        copy += o->parts[i].n * size;
    }
}

/* Results go to the requests that these are made of; there are none again. */
static void settle_results(struct blob_own *o, int err)
{
    bool done = err == NC_NOERR || dataset_is_own(err);
    for (int64_t i = 0; i < o->n; i++) {
        const struct blob_own_made *made = &o->made[i];
        int status = o->reqs[i]->status;
        for (int64_t k = made->from; k < made->to && status != NC_NOERR; k++)
            access_blame(o->parts[k].of, status);
        if (status == NC_NOERR && done && o->put)
            blob_sums_keep(o->b, o->parts[made->from].of->varid, o->reqs[i]);
        if (status == NC_NOERR && !o->put) deal_out_parts(o, made);
    }
    o->n = o->nparts = o->closed = o->copied = 0;
    base_arena_free(&o->arena);
}

int blob_own_carry_out(struct blob_own *o)
{
    int lacking = close_group(o, o->nparts), err = NC_NOERR;
    if (o->n > 0)
        err = o->put ? driver_call(o->sub->driver, put, o->reqs, o->n)
                     : driver_call(o->sub->driver, get, o->reqs, o->n);
    settle_results(o, err);
    return lacking != NC_NOERR ? lacking : err;
}

int blob_own_carry_out_all(struct blob_own *o)
{
    struct driver *d = o->b->own->driver;
    int lacking = close_group(o, o->nparts);
    int err = o->put ? driver_call(d, put_all, o->reqs, o->n, NC_NOERR)
                     : driver_call(d, get_all, o->reqs, o->n, NC_NOERR);
    settle_results(o, err);
    return lacking != NC_NOERR ? lacking : err;
}
