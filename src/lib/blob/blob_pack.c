/* Frames from values that a group puts together.
 *
 * In rounds, as memory is bounded: each process makes frames, and chains of those that
 * are complete, as far as its buffer goes; the sum of all lengths before its own tells
 * where they go to in the log; all write. When nobody has any more, the places of the
 * chains go into the tables.
 *
 * While a round is written a thread fills the next one, if there is one: from the values,
 * with the coder, into the list of chains, which the writing does not look at. It asks
 * for no tables, as these are read through the layers that write. */
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "base_rules.h"
#include "base_sum.h"
#include "base_worker.h"
#include "blob_frames.h"
#include "blob_values.h"

/* Bytes of a round, and of a frame and a chain more. The first is short, as nothing is
 * written while it is filled, and each is twice as long as the one before. */
enum { FIRST_ROUND = 512 << 10, ROUND = 4 << 20 };

/* A request for all of the own blob, in so many records. */
struct whole {
    struct access_request *r;
    struct blob_decomp *d;
    struct blob_span span;
};

/* A chain on its way. */
struct growing {
    struct blob_chain chain;
    int64_t done,
        fresh;   /* frames; the first one of this round, which is not placed yet */
    int64_t pos; /* of the chain in the buffer; -1: it is not complete */
};

/* What tells of a chain, at an address in the log; in the order of the requests. */
struct telling {
    int varid;
    int64_t record, address, order;
    struct blob_place place;
    bool fresh; /* the place counts from this round's begin */
};

struct packing {
    struct blob *b;
    struct whole *wholes;
    int64_t n, next; /* of these, the one at hand, */
    int64_t record;  /* and the number of its record */
    bool open;       /* its values are being taken */
    struct blob_values values;
    unsigned char *bytes, *tile, *scratch; /* the round's; values of a frame; likewise */
    int64_t used, room;                    /* of the round */
    int64_t round;                         /* bytes with which it is full */
    struct growing *grown;
    int64_t ngrown, grown_room;
    struct telling *told;
    int64_t ntold, told_room;
    int64_t packed;      /* bytes of values in the round */
    int64_t overwriting; /* records that may be on the device */
    int err;
    struct base_worker worker;
    bool helped, due;       /* it has a thread, which is to fill a round */
    unsigned char *written; /* the round before, and its room */
    int64_t written_room;
};

bool blob_frames_wanted(const struct base_hints *h)
{
    bool any = false;
    for (int i = 1; base_compress_modes[i].word != NULL; i++)
        any = any ||
              (base_has_codec(i) && base_rules_have(base_compress_modes, h->compress, i));
    return any && base_can_sum();
}

/* ---- frames of this process ---- */

static int64_t record_of(const struct packing *p)
{
    const struct blob_span *s = &p->wholes[p->next].span;
    return s->record + p->record * s->step;
}

static const struct cdf_var *var_of(const struct packing *p)
{
    return &p->b->base.ds->header.vars[p->wholes[p->next].r->varid];
}

/* Nothing of the request is told of, and its values go nowhere. */
static void give_up(struct packing *p, int err)
{
    access_blame(p->wholes[p->next].r, err);
    if (p->open) blob_values_end(&p->values);
    p->open = false;
    if (p->ngrown > 0 && p->grown[p->ngrown - 1].pos < 0)
        base_free(p->grown[--p->ngrown].chain.frames);
    p->next++;
    p->record = 0;
}

static int begin_values(struct packing *p)
{
    const struct cdf_header *h = &p->b->base.ds->header;
    struct access_request *r = p->wholes[p->next].r;
    struct base_rule rule;
    unsigned char xfill[8];
    int xtype = conv_effective_type(h->format, h->vars[r->varid].type, r->type);
    cdf_fill_value(h, r->varid, xfill);
    int err = blob_values_begin(&p->values, r, xtype, xfill);
    p->open = err == NC_NOERR;
    base_rules_find(base_compress_modes, p->b->frames.rules, h->vars[r->varid].name,
                    &rule);
    p->b->frames.coder.codec = base_has_codec(rule.mode) ? rule.mode : BASE_CODEC_NONE;
    p->b->frames.coder.level = rule.number;
    return err;
}

static int begin_chain(struct packing *p)
{
    const struct whole *w = &p->wholes[p->next];
    int64_t nelems = blob_map_count(&w->d->own);
    int size = cdf_type_size(var_of(p)->type);
    int64_t n = blob_chain_frames(nelems * size);
    int err = p->open ? NC_NOERR : begin_values(p);
    void *grown = base_grow(p->grown, &p->grown_room, p->ngrown + 1, sizeof *p->grown);
    if (grown != NULL) p->grown = grown;
    if (err != NC_NOERR || grown == NULL) return err != NC_NOERR ? err : NC_ENOMEM;
    struct blob_frame *frames = base_malloc((size_t)n * sizeof *frames);
    if (frames == NULL) return NC_ENOMEM;
    p->grown[p->ngrown++] =
        (struct growing){.pos = -1,
                         .chain = {.varid = w->r->varid,
                                   .record = var_of(p)->is_record ? record_of(p) : 0,
                                   .blob = p->b->rank,
                                   .nelems = nelems,
                                   .size = size,
                                   .codec = p->b->frames.coder.codec,
                                   .frames = frames}};
    return NC_NOERR;
}

/* The chain has its place in the buffer, and is made when its frames have theirs. */
static int end_chain(struct packing *p, struct growing *g)
{
    int64_t bytes = blob_chain_bytes(g->done);
    void *room = base_grow(p->bytes, &p->room, p->used + bytes, 1);
    if (room != NULL) p->bytes = room;
    void *told = base_grow(p->told, &p->told_room, p->ntold + 1, sizeof *p->told);
    if (told != NULL) p->told = told;
    if (room == NULL || told == NULL) return NC_ENOMEM;
    p->told[p->ntold] = (struct telling){.varid = (int)g->chain.varid,
                                         .record = g->chain.record,
                                         .order = p->ntold,
                                         .place = {p->used, bytes},
                                         .fresh = true};
    p->ntold++;
    g->pos = p->used;
    p->used += bytes;
    return NC_NOERR;
}

static void count_framed(struct packing *p, int64_t varid, int64_t values, int64_t bytes,
                         int64_t time)
{
    struct trace_framed *f = &p->b->base.ds->framed[varid];
    f->values += values;
    f->frames += bytes;
    f->time += time;
}

static int add_frame(struct packing *p)
{
    struct growing *g = &p->grown[p->ngrown - 1];
    int64_t n = blob_frame_values(&g->chain, g->done);
    void *room = base_grow(p->bytes, &p->room, p->used + n, 1);
    if (room == NULL) return NC_ENOMEM;
    p->bytes = room;
    int ranged = blob_values_next(&p->values, p->tile, n / g->chain.size);
    if (ranged != NC_NOERR) access_blame(p->wholes[p->next].r, ranged);
    int64_t since = trace_clock();
    int64_t bytes = blob_frame_pack(&p->b->frames.coder, p->tile, n, g->chain.size,
                                    p->scratch, p->bytes + p->used);
    if (g->chain.codec != BASE_CODEC_NONE)
        count_framed(p, g->chain.varid, n, bytes, trace_clock() - since);
    uint64_t sum = base_sum(p->bytes + p->used, (size_t)bytes, blob_frames_seed(p->b));
    g->chain.frames[g->done++] = (struct blob_frame){p->used, bytes, sum};
    p->used += bytes;
    p->packed += n;
    return NC_NOERR;
}

/* Goes on to the next record, or request. */
static void go_on(struct packing *p)
{
    if (++p->record < p->wholes[p->next].span.records) return;
    blob_values_end(&p->values);
    p->open = false;
    p->record = 0;
    p->next++;
}

static void fill_round(struct packing *p)
{
    while (p->next < p->n && p->used < p->round) {
        bool begins = p->ngrown == 0 || p->grown[p->ngrown - 1].pos >= 0;
        int err = begins ? begin_chain(p) : NC_NOERR;
        if (err == NC_NOERR) err = add_frame(p);
        struct growing *g = p->ngrown == 0 ? NULL : &p->grown[p->ngrown - 1];
        bool whole = err == NC_NOERR &&
                     g->done == blob_chain_frames(g->chain.nelems * g->chain.size);
        if (whole) err = end_chain(p, g);
        if (err != NC_NOERR)
            give_up(p, err);
        else if (whole)
            go_on(p);
    }
}

/* ---- the next round meanwhile ---- */

static bool fill_behind(void *of)
{
    struct packing *p = of;
    if (!p->due) return false;
    base_worker_unlock(&p->worker);
    fill_round(p);
    base_worker_lock(&p->worker);
    p->due = false;
    base_worker_tell(&p->worker);
    return false;
}

/* What has been filled is to be written; there is room for the next round, which a thread
 * begins to fill, if there is one to be had. */
static void begin_next(struct packing *p)
{
    unsigned char *written = p->bytes;
    int64_t room = p->room;
    p->bytes = p->written;
    p->room = p->written_room;
    p->written = written;
    p->written_room = room;
    p->used = p->packed = 0;
    if (p->round < ROUND) p->round *= 2;
    if (p->next == p->n) return;
    if (!p->helped) {
        base_worker_init(&p->worker);
        p->helped = base_worker_start(&p->worker, fill_behind, p);
        if (!p->helped) base_worker_stop(&p->worker);
    }
    if (!p->helped) return;
    base_worker_lock(&p->worker);
    p->due = true;
    base_worker_wake(&p->worker);
    base_worker_unlock(&p->worker);
}

/* It is filled now: a thread has done so, or does, or there is none. */
static void end_next(struct packing *p)
{
    struct dataset *ds = p->b->base.ds;
    struct trace_span span = trace_begin(ds->trace);
    if (p->helped) base_worker_lock(&p->worker);
    while (p->due)
        base_worker_wait(&p->worker);
    if (p->helped) base_worker_unlock(&p->worker);
    if (!p->helped) fill_round(p);
    trace_end_at(ds->trace, TRACE_COMPRESSION, span, -1, p->packed);
    ds->stats.blob_framed_bytes += p->packed;
}

/* ---- the group's log ---- */

/* Does what is there of the record count, whatever becomes of this? */
static bool may_be_safe(const struct blob *b, const struct telling *t)
{
    return b->base.ds->header.vars[t->varid].is_record ? t->record < b->frames.safe
                                                       : b->frames.safe > 0;
}

/* Counts the pages of tables that are missing for the chains completed in this round. */
static int64_t look_for_pages(struct packing *p)
{
    struct blob *b = p->b;
    int64_t lacking = 0;
    for (int64_t i = 0; i < p->ntold; i++) {
        const struct telling *t = &p->told[i];
        int64_t page = -1;
        if (!t->fresh) continue;
        int err = blob_frames_page(b, b->own, t->varid, t->record, &page);
        if (p->err == NC_NOERR) p->err = err;
        if (err != NC_NOERR) continue; /* there may be one: none is put in its place */
        if (page == 0) b->frames.wanted[t->varid] |= UINT64_C(1) << blob_level(t->record);
        lacking += page == 0;
        p->overwriting += may_be_safe(b, t);
    }
    return lacking;
}

/* Pages that anybody lacks are there, at the log's end. Nobody has written there yet:
 * they are zeros. */
static int add_pages_all(struct blob *b)
{
    int nvars = b->base.ds->header.nvars, err = NC_NOERR;
    uint64_t *wanted = b->frames.wanted;
    int mpi = MPI_Allreduce(MPI_IN_PLACE, wanted, nvars, MPI_UINT64_T, MPI_BOR, b->comm);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "pages of tables");
    /* The log begins at a page of the file: so no place is on two of them, of which a
     * power cut may leave one as it was. */
    b->frames.end = (b->frames.end + BLOB_PLACE - 1) / BLOB_PLACE * BLOB_PLACE;
    for (int id = 0; id < nvars; id++) {
        for (int level = 0; level < BLOB_LEVELS; level++) {
            if ((wanted[id] >> level & 1) == 0) continue;
            int added = blob_frames_add_page(b, b->own, id, level, b->frames.end);
            if (err == NC_NOERR) err = added;
            b->frames.end += blob_page_bytes(level, b->size);
        }
        b->frames.added = b->frames.added || wanted[id] != 0;
        wanted[id] = 0;
    }
    return err;
}

/* What counted from the round's begin counts from the log's. */
static void place_round(struct packing *p, int64_t begin)
{
    for (int64_t i = 0; i < p->ntold; i++) {
        if (p->told[i].fresh) p->told[i].place.at += begin;
        p->told[i].fresh = false;
    }
    for (int64_t i = 0; i < p->ngrown; i++) {
        struct growing *g = &p->grown[i];
        for (int64_t k = g->fresh; k < g->done; k++)
            g->chain.frames[k].at += begin;
        g->fresh = g->done;
        if (g->pos >= 0)
            blob_chain_encode(&g->chain, blob_frames_seed(p->b), p->bytes + g->pos);
    }
    int64_t left = 0;
    for (int64_t i = 0; i < p->ngrown; i++)
        if (p->grown[i].pos >= 0)
            base_free(p->grown[i].chain.frames);
        else
            p->grown[left++] = p->grown[i];
    p->ngrown = left;
}

/* Puts what all have into the log. */
static int put_log_all(struct packing *p, struct region *where, int64_t n,
                       const void *bytes, int error)
{
    struct blob_sub *s = p->b->own;
    struct blob_log_request q;
    struct access_request *r = &q.one.r;
    int err = n == 0 ? error : blob_log_request(s, &q, where, n, bytes);
    int put = driver_call(s->driver, put_all, &r, err == NC_NOERR && n > 0, err);
    region_free(where);
    return err != NC_NOERR ? err : put;
}

/* One round: is there another one? *any: anybody had something. The same in the group. */
static bool put_round_all(struct packing *p, bool *any)
{
    enum { BYTES, MORE, LACKING, ALL };
    struct blob *b = p->b;
    const int64_t used = p->used;
    int64_t sums[ALL] = {used, p->next < p->n, look_for_pages(p)}, before = 0;
    int mpi = MPI_Exscan(&sums[BYTES], &before, 1, MPI_INT64_T, MPI_SUM, b->comm);
    if (b->rank == 0) before = 0;
    int other = MPI_Allreduce(MPI_IN_PLACE, sums, ALL, MPI_INT64_T, MPI_SUM, b->comm);
    int err = base_mpi_error(mpi == MPI_SUCCESS ? other : mpi, NC_EMPI, "placing frames");
    if (err == NC_NOERR && sums[LACKING] > 0) err = add_pages_all(b);
    *any = *any || sums[BYTES] > 0;
    if (sums[BYTES] == 0) return false;
    int64_t at = b->frames.end + before;
    b->frames.end += sums[BYTES];
    place_round(p, at);
    begin_next(p);
    int put = put_log_all(p, used > 0 ? region_block(at, used) : NULL, used, p->written,
                          NC_NOERR);
    end_next(p);
    if (p->err == NC_NOERR) p->err = err != NC_NOERR ? err : put;
    b->base.ds->stats.blob_frame_bytes += used;
    return sums[MORE] > 0;
}

/* ---- tables ---- */

static int by_address(const void *a, const void *b)
{
    const struct telling *p = a, *q = b;
    if (p->address != q->address) return p->address < q->address ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

/* The addresses of places, which ascend; of two for one record the later one holds. */
static int find_addresses(struct packing *p)
{
    struct blob *b = p->b;
    int64_t n = 0;
    for (int64_t i = 0; i < p->ntold; i++) {
        struct telling *t = &p->told[i];
        int64_t page;
        int err = blob_frames_page(b, b->own, t->varid, t->record, &page);
        if (err == NC_NOERR && page == 0) err = NC_ENOMEM; /* it could not be added */
        if (err != NC_NOERR) return err;
        t->address = blob_place_at(page, t->record, b->size, b->rank);
    }
    if (p->ntold > 0) qsort(p->told, (size_t)p->ntold, sizeof *p->told, by_address);
    for (int64_t i = 0; i < p->ntold; i++)
        if (i + 1 == p->ntold || p->told[i].address != p->told[i + 1].address)
            p->told[n++] = p->told[i];
    p->ntold = n;
    return NC_NOERR;
}

/* The places as bytes, and where they go. */
static int make_places(struct packing *p, unsigned char **bytes, struct region **where)
{
    size_t n = (size_t)p->ntold;
    struct region_extent *list = base_malloc((n + 1) * sizeof *list);
    *where = NULL;
    *bytes = base_malloc((n + 1) * BLOB_PLACE);
    int err = list == NULL || *bytes == NULL ? NC_ENOMEM : find_addresses(p);
    if (err != NC_NOERR) {
        base_free(list);
        return err;
    }
    int64_t blocks = 0;
    for (int64_t i = 0; i < p->ntold; i++) {
        int64_t at = p->told[i].address;
        blob_place_encode(&p->told[i].place, *bytes + i * BLOB_PLACE);
        if (blocks > 0 && list[blocks - 1].offset + list[blocks - 1].length == at)
            list[blocks - 1].length += BLOB_PLACE;
        else
            list[blocks++] = (struct region_extent){at, BLOB_PLACE};
    }
    *where = region_of_extents(list, blocks);
    return *where == NULL ? NC_ENOMEM : NC_NOERR;
}

/* Process 0 of the group tells where pages are, once more if that failed before. */
static int put_pages_all(struct packing *p, int error)
{
    struct blob *b = p->b;
    int nvars = b->base.ds->header.nvars;
    struct base_arena arena = {NULL, 0};
    struct access_request **reqs =
        base_arena_alloc(&arena, ((size_t)nvars + 1) * sizeof(struct access_request *));
    int64_t n = 0;
    int err = reqs == NULL ? NC_ENOMEM : error;
    for (int id = 0; id < nvars && err == NC_NOERR && b->rank == 0; id++) {
        const int64_t *pages = blob_frames_known(b->own, id);
        struct access_request *r =
            base_arena_alloc(&arena, sizeof *r + 2 * sizeof r->slab[0]);
        if (r == NULL) err = NC_ENOMEM;
        if (r == NULL || pages == NULL) continue;
        *r = (struct access_request){.buf = (void *)(intptr_t)pages,
                                     .varid = blob_sub_var(b->own, id),
                                     .type = CONV_LONGLONG};
        r->slab[0] = 0;
        r->slab[1] = BLOB_LEVELS;
        reqs[n++] = r;
    }
    int put = driver_call(b->own->driver, put_all, reqs, err == NC_NOERR ? n : 0, err);
    base_arena_free(&arena);
    if (err == NC_NOERR) err = put;
    b->frames.added = err != NC_NOERR;
    return err;
}

/* Chains that are in the log count from here on. */
static int tell_all(struct packing *p)
{
    enum { ADDED, OVERWRITING, ALL };
    struct blob *b = p->b;
    unsigned char *bytes = NULL;
    struct region *where = NULL;
    int64_t sums[ALL] = {b->frames.added, p->overwriting};
    int err = p->err;
    int mpi = MPI_Allreduce(MPI_IN_PLACE, sums, ALL, MPI_INT64_T, MPI_SUM, b->comm);
    if (err == NC_NOERR) err = base_mpi_error(mpi, NC_EMPI, "telling of frames");
    dataset_hold_records(&b->own->ds, b->frames.end);
    if (sums[OVERWRITING] > 0) {
        int synced = driver_call(b->own->driver, sync_all);
        if (err == NC_NOERR) err = synced;
    }
    if (sums[ADDED] > 0) {
        int put = put_pages_all(p, err);
        if (err == NC_NOERR) err = put;
    }
    if (err == NC_NOERR) err = make_places(p, &bytes, &where);
    int64_t n = err == NC_NOERR ? p->ntold * BLOB_PLACE : 0;
    int put = put_log_all(p, where, n, bytes, err);
    base_free(bytes);
    return err != NC_NOERR ? err : put;
}

/* ---- all of it ---- */

static int reserve(struct packing *p)
{
    if (p->n == 0) return NC_NOERR;
    p->room = ROUND + BLOB_FRAME;
    p->bytes = base_malloc((size_t)p->room);
    p->tile = base_malloc(2 * (size_t)BLOB_FRAME);
    p->scratch = p->tile == NULL ? NULL : p->tile + BLOB_FRAME;
    return p->bytes == NULL || p->tile == NULL ? NC_ENOMEM : NC_NOERR;
}

static void end_packing(struct packing *p)
{
    for (int64_t i = 0; i < p->n && p->err != NC_NOERR; i++)
        access_blame(p->wholes[i].r, p->err);
    if (p->helped) base_worker_stop(&p->worker);
    base_free(p->bytes);
    base_free(p->written);
    base_free(p->tile);
    base_free(p->grown);
    base_free(p->told);
}

/* Each request's result is its status, what failed besides is returned. */
static int pack_all(struct blob *b, struct whole *wholes, int64_t n)
{
    struct packing p = {.b = b, .wholes = wholes, .n = n, .round = FIRST_ROUND};
    struct blob_sub *own;
    bool any = false;
    int err = blob_frames_end_all(b);
    for (int64_t i = 0; i < n && err != NC_NOERR; i++)
        access_blame(wholes[i].r, err);
    if (err != NC_NOERR) return err;
    p.err = blob_sub_get(b, b->group, &own); /* which lists its variables, where needed */
    if (p.err == NC_NOERR) p.err = reserve(&p);
    if (p.err != NC_NOERR) p.next = n;
    end_next(&p);
    while (put_round_all(&p, &any))
        continue;
    if (any) {
        err = tell_all(&p);
        if (p.err == NC_NOERR) p.err = err;
    }
    end_packing(&p);
    return p.err;
}

/* ---- which requests they are of ---- */

/* Requests for all of the own blob become frames; of a variable of which parts are put,
 * too (mixed), none does, as the later of two puts holds. The others are left in rest[],
 * *left of them. What is no whole because of an error comes to light as one of the rest.
 */
static int64_t find_wholes(struct blob *b, struct access_request *const *reqs, int64_t n,
                           struct whole *wholes, struct access_request **rest,
                           unsigned char *mixed, int64_t *left)
{
    int64_t found = 0, kept = 0;
    for (int64_t i = 0; i < n; i++) {
        struct whole w = {.r = reqs[i], .d = blob_decomp_of(b, reqs[i]->varid)};
        int err = NC_NOERR;
        bool whole = access_nelems(w.r, b->base.ds->header.vars[w.r->varid].ndims) > 0 &&
                     w.d->mine && blob_find_whole(b, w.d, w.r, &w.span, &err);
        if (whole) wholes[found++] = w;
        if (!whole) mixed[w.r->varid] = 1;
    }
    *left = 0;
    for (int64_t i = 0; i < n; i++)
        if (mixed[reqs[i]->varid]) rest[(*left)++] = reqs[i];
    for (int64_t i = 0; i < found; i++)
        if (!mixed[wholes[i].r->varid]) wholes[kept++] = wholes[i];
    return kept;
}

int blob_frames_put_all(struct blob *b, struct access_request *const *reqs, int64_t n)
{
    struct whole *wholes = base_malloc((size_t)(n + 1) * sizeof *wholes);
    struct access_request **rest =
        base_malloc((size_t)(n + 1) * sizeof(struct access_request *));
    unsigned char *mixed = base_calloc((size_t)b->nvars + 1, 1);
    int64_t found = 0, left = 0;
    int err = blob_read_own_all(b, reqs, n);
    if (err == NC_NOERR && (wholes == NULL || rest == NULL || mixed == NULL))
        err = NC_ENOMEM;
    for (int64_t i = 0; i < n && err != NC_NOERR; i++)
        access_blame(reqs[i], err);
    blob_frames_forget(b);
    if (err == NC_NOERR) found = find_wholes(b, reqs, n, wholes, rest, mixed, &left);
    int packed = pack_all(b, wholes, found);
    if (err == NC_NOERR) err = packed;
    int moved = blob_move(b, rest, left, true);
    base_free(wholes);
    base_free(rest);
    base_free(mixed);
    err = base_error_worse(err, moved);
    for (int64_t i = 0; i < n; i++)
        err = base_error_worse(err, reqs[i]->status);
    return err;
}
