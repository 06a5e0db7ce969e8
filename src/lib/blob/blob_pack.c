/* Packs values that the processes of a group put together into frames of the group's log.
 *
 * 1. To limit memory, this is done in rounds. Each process packs frames, and reserves
 *    space for each complete chain, until its buffer is full.
 * 2. A prefix sum over the lengths gives each process its offset in the log. Then all
 *    processes write.
 * 3. When no process has any values left, the places of the chains are written to the
 *    tables.
 *
 * While a round is being written, a thread (if available) fills the next one. The thread
 * uses the values, the coder and the list of chains, none of which the write accesses. It
 * never reads tables, because that would involve the layers that are writing. */
#include <string.h>
#include <time.h>

#include "access_values.h"
#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "base_number.h"
#include "base_rules.h"
#include "base_segments.h"
#include "base_sum.h"
#include "base_worker.h"
#include "blob_frames.h"
#include "subfile_digest.h"
#include "subfile_names.h"

/* Sizes of rounds in bytes, which one frame and one chain may exceed. Each round is twice
 * as long as the one before, up to ROUND. The first one is short, because nothing is
 * written while it is packed. */
enum { FIRST_ROUND = 512 << 10, ROUND = 4 << 20 };

/* A request that covers this process's whole blob, in one or more records. */
struct whole {
    struct access_request *r;
    struct blob_decomp *d;
    struct blob_span span;
};

/* A chain under construction. */
struct growing {
    struct subfile_chain chain;
    int64_t done, fresh; /* complete frames; first frame without a final offset */
    int64_t pos;         /* offset of the chain in the buffer; -1 until it is complete */
};

/* A table entry to be written, and its address in the log. */
struct entry {
    int64_t address; /* offset of the place in the log */
    int64_t record;
    int varid;
    struct subfile_place place;
    bool fresh; /* the place is relative to the start of this round */
};

struct packing {
    struct blob *b;
    struct whole *wholes;
    int64_t n, next; /* number of requests; index of the current one */
    int64_t record;  /* current record of the current request */
    bool open;       /* `values` has been initialized */
    struct access_values values;
    unsigned char *bytes, *tile, *scratch; /* buffer of the round; values of one frame;
                                            * scratch space for packing */
    int64_t used, room;                    /* bytes used in that buffer; its capacity */
    int64_t round;                         /* size at which a round is full */
    struct growing *grown;
    int64_t ngrown, grown_room;
    struct entry *entries;
    int64_t nentries, entries_room;
    int64_t packed;      /* total size of the round's values in bytes */
    int64_t overwriting; /* entries replacing values that may be on the device */
    int err;
    struct base_worker worker;
    bool helped, due;       /* a thread is running; it has a round to fill */
    unsigned char *written; /* buffer of the previous round, which is being written */
    int64_t written_room;
};

bool blob_frames_wanted(const struct hints *h)
{
    bool any = false;
    for (int i = 1; base_compress_modes[i].word != NULL; i++)
        any = any || (base_has_codec(i) &&
                      base_rules_have_mode(base_compress_modes, h->compress, i));
    return any && base_can_sum();
}

/* ---- frames of this process ---- */

/* Begins a chain for the current record. For the first record of a request, also starts
 * reading the request's values. */
static int begin_chain(struct packing *p)
{
    const struct cdf_header *h = &p->b->base.ds->header;
    const struct whole *w = &p->wholes[p->next];
    const struct cdf_var *v = &h->vars[w->r->varid];
    struct base_coder *coder = &p->b->frames.cache.coder;
    int64_t nelems = subfile_map_count(&w->d->own);
    int size = cdf_type_size(v->type);
    base_require(nelems > 0 && (v->is_record || w->span.records == 1));
    if (!p->open) {
        struct base_rule rule;
        base_require(access_nelems(w->r, v->ndims) == nelems * w->span.records);
        int err = access_values_begin(&p->values, h, w->r, true);
        if (err != NC_NOERR) return err;
        p->open = true;
        base_rules_find(base_compress_modes, p->b->frames.rules, v->name, &rule);
        coder->codec = base_has_codec(rule.mode) ? rule.mode : BASE_CODEC_NONE;
        coder->level = rule.number;
    }
    void *grown = base_grow(p->grown, &p->grown_room, p->ngrown + 1, sizeof *p->grown);
    if (grown == NULL) return NC_ENOMEM;
    p->grown = grown;
    struct subfile_frame *frames =
        base_malloc((size_t)subfile_chain_frames(nelems * size) * sizeof *frames);
    if (frames == NULL) return NC_ENOMEM;
    p->grown[p->ngrown++] = (struct growing){
        .pos = -1,
        .chain = {.varid = w->r->varid,
                  .record = v->is_record ? w->span.record + p->record * w->span.step : 0,
                  .blob = p->b->rank,
                  .nelems = nelems,
                  .size = size,
                  .codec = coder->codec,
                  .frames = frames}};
    return NC_NOERR;
}

/* Packs the next frame of the last chain. */
static int add_frame(struct packing *p)
{
    struct growing *g = &p->grown[p->ngrown - 1];
    struct trace_framed *counted = &p->b->base.ds->frames.vars[g->chain.varid];
    int64_t n = subfile_frame_values(&g->chain, g->done);
    base_require(n > 0 && n <= SUBFILE_FRAME && n % g->chain.size == 0);
    void *room = base_grow(p->bytes, &p->room, p->used + n, 1);
    if (room == NULL) return NC_ENOMEM;
    p->bytes = room;
    (void)access_values_put(&p->values, p->tile, n / g->chain.size);
    int64_t since = base_now(CLOCK_MONOTONIC);
    int64_t bytes = subfile_frame_pack(&p->b->frames.cache.coder, p->tile, n,
                                       g->chain.size, p->scratch, p->bytes + p->used);
    base_require(bytes > 0 && bytes <= n);
    if (g->chain.codec != BASE_CODEC_NONE) {
        counted->values += n;
        counted->frames += bytes;
        counted->time += base_now(CLOCK_MONOTONIC) - since;
    }
    uint64_t sum =
        base_sum(p->bytes + p->used, (size_t)bytes, subfile_seed(&p->b->facts));
    g->chain.frames[g->done++] = (struct subfile_frame){p->used, bytes, sum};
    p->used += bytes;
    p->packed += n;
    return NC_NOERR;
}

/* Reserves space in the buffer for the chain, which place_round will encode. */
static int end_chain(struct packing *p, struct growing *g)
{
    int64_t bytes = subfile_chain_size(g->done);
    void *room = base_grow(p->bytes, &p->room, p->used + bytes, 1);
    if (room != NULL) p->bytes = room;
    void *list =
        base_grow(p->entries, &p->entries_room, p->nentries + 1, sizeof *p->entries);
    if (list != NULL) p->entries = list;
    if (room == NULL || list == NULL) return NC_ENOMEM;
    p->entries[p->nentries] = (struct entry){.varid = (int)g->chain.varid,
                                             .record = g->chain.record,
                                             .place = {p->used, bytes},
                                             .fresh = true};
    p->nentries++;
    g->pos = p->used;
    p->used += bytes;
    return NC_NOERR;
}

/* Fills the round. If a request fails, skips the rest of the request and drops its
 * incomplete chain. */
static void fill_round(struct packing *p)
{
    while (p->next < p->n && p->used < p->round) {
        struct whole *w = &p->wholes[p->next];
        bool begins = p->ngrown == 0 || p->grown[p->ngrown - 1].pos >= 0;
        int err = begins ? begin_chain(p) : NC_NOERR;
        if (err == NC_NOERR) err = add_frame(p);
        struct growing *g = p->ngrown == 0 ? NULL : &p->grown[p->ngrown - 1];
        bool whole = err == NC_NOERR &&
                     g->done == subfile_chain_frames(g->chain.nelems * g->chain.size);
        if (whole) err = end_chain(p, g);
        if (err != NC_NOERR) {
            access_set_status(w->r, err);
            if (g != NULL && g->pos < 0) base_free(p->grown[--p->ngrown].chain.frames);
        }
        if (err == NC_NOERR && (!whole || ++p->record < w->span.records)) continue;
        if (p->open) access_values_end(&p->values);
        p->open = false;
        p->record = 0;
        p->next++;
    }
}

/* ---- filling the next round ---- */

static bool fill_behind(void *of)
{
    struct packing *p = of;
    if (!p->due) return false;
    base_worker_unlock(&p->worker);
    fill_round(p);
    base_worker_lock(&p->worker);
    p->due = false;
    base_worker_report_done(&p->worker);
    return false;
}

/* Swaps the buffers. Then makes a thread, if one can be started, fill the next round
 * while the caller writes this one. */
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

/* Waits until the thread has filled the round; without a thread, fills it. */
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

/* Counts the missing table pages for the chains completed in this round. */
static int64_t look_for_pages(struct packing *p)
{
    struct blob *b = p->b;
    int64_t lacking = 0;
    for (int64_t i = 0; i < p->nentries; i++) {
        const struct entry *t = &p->entries[i];
        int64_t page = -1;
        if (!t->fresh) continue;
        int err = subfile_find_page(&b->own->subfile, t->varid, t->record, &page);
        if (p->err == NC_NOERR) p->err = err;
        if (err != NC_NOERR) continue; /* a page may exist, so do not create another */
        if (page == 0)
            b->frames.wanted[t->varid] |= UINT64_C(1) << subfile_level(t->record);
        lacking += page == 0;
        p->overwriting += blob_frames_may_be_safe(b, t->varid, t->record);
    }
    return lacking;
}

/* Reads the lists of pages to which pages will be added. If a process that cannot read a
 * list went on without the new page, the other processes would put entries that no reader
 * finds. So all processes of the group get an error. */
static int read_page_lists_all(struct blob *b)
{
    int err = NC_NOERR;
    for (int id = 0; id < b->base.ds->header.nvars && err == NC_NOERR; id++) {
        int64_t *pages;
        if (b->frames.wanted[id] != 0)
            err = subfile_get_pages(&b->own->subfile, id, false, &pages);
    }
    int failed = err != NC_NOERR;
    int mpi = MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_LOR, b->comm);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "pages of tables");
    if (!failed || err != NC_NOERR) return err;
    return base_error_set(NC_EREAD, "%s: another process could not read its tables",
                          b->own->ds.path);
}

/* Adds the pages that any process needs at the end of the log. Nothing has been written
 * there, so the pages contain zeros. */
static int add_pages_all(struct blob *b)
{
    int nvars = b->base.ds->header.nvars;
    uint64_t *wanted = b->frames.wanted;
    int mpi = MPI_Allreduce(MPI_IN_PLACE, wanted, nvars, MPI_UINT64_T, MPI_BOR, b->comm);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "pages of tables");
    int err = read_page_lists_all(b);
    if (err != NC_NOERR) memset(wanted, 0, (size_t)nvars * sizeof *wanted);
    /* The log begins at a page boundary of the file, so an aligned place never crosses
     * two pages, of which only one might be written at a power failure. */
    b->frames.end = (b->frames.end + SUBFILE_PLACE - 1) / SUBFILE_PLACE * SUBFILE_PLACE;
    for (int id = 0; id < nvars; id++) {
        for (int level = 0; level < SUBFILE_LEVELS; level++) {
            if ((wanted[id] >> level & 1) == 0) continue;
            int added = blob_frames_add_page(b->own, id, level, b->frames.end);
            if (err == NC_NOERR) err = added;
            b->frames.end += subfile_page_size(level, b->size);
        }
        b->frames.added = b->frames.added || wanted[id] != 0;
        wanted[id] = 0;
    }
    return err;
}

/* Makes the round's offsets absolute. Then encodes its complete chains and frees them. */
static void place_round(struct packing *p, int64_t begin)
{
    for (int64_t i = 0; i < p->nentries; i++) {
        if (p->entries[i].fresh) p->entries[i].place.at += begin;
        p->entries[i].fresh = false;
    }
    for (int64_t i = 0; i < p->ngrown; i++) {
        struct growing *g = &p->grown[i];
        for (int64_t k = g->fresh; k < g->done; k++)
            g->chain.frames[k].at += begin;
        g->fresh = g->done;
        if (g->pos >= 0)
            subfile_chain_encode(&g->chain, subfile_seed(&p->b->facts),
                                 p->bytes + g->pos);
    }
    int64_t left = 0;
    for (int64_t i = 0; i < p->ngrown; i++)
        if (p->grown[i].pos >= 0)
            base_free(p->grown[i].chain.frames);
        else
            p->grown[left++] = p->grown[i];
    p->ngrown = left;
}

/* Writes each process's n bytes to the log. */
static int put_log_all(struct packing *p, struct region *where, int64_t n,
                       const void *bytes, int error)
{
    struct blob_sub *s = p->b->own;
    union access_own_request one;
    struct access_request *r = &one.r;
    int err = n == 0 ? error
                     : access_set_raw(r, s->subfile.log, CONV_SCHAR, where, n, 0, bytes);
    int put = driver_call(s->driver, put_all, &r, err == NC_NOERR && n > 0, err);
    region_free(where);
    return err != NC_NOERR ? err : put;
}

/* Writes one round and returns whether another one follows. Sets *any if any process had
 * data. The result is the same in the whole group. */
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
    int own = err != NC_NOERR ? NC_NOERR
                              : base_holds(b->frames.end >= SUBFILE_LOG_BEGIN &&
                                           before >= 0 && used <= sums[BYTES] - before);
    int64_t n = own == NC_NOERR ? used : 0;
    b->frames.end += sums[BYTES];
    place_round(p, at);
    begin_next(p);
    int put = put_log_all(p, n > 0 ? region_block(at, n) : NULL, n, p->written, own);
    end_next(p);
    if (p->err == NC_NOERR) p->err = err != NC_NOERR ? err : put;
    b->base.ds->stats.blob_frame_bytes += used;
    return sums[MORE] > 0;
}

/* ---- tables ---- */

/* Encodes the places in ascending order of address, and builds the region of their
 * addresses. If several places have the same address, the last one takes precedence. */
static int make_places(struct packing *p, unsigned char **bytes, int64_t *nbytes,
                       struct region **where)
{
    struct blob *b = p->b;
    struct region_extent *list = base_malloc((size_t)(p->nentries + 1) * sizeof *list);
    int64_t blocks = 0;
    *bytes = base_malloc((size_t)(p->nentries + 1) * SUBFILE_PLACE);
    int err = list == NULL || *bytes == NULL ? NC_ENOMEM : NC_NOERR;
    for (int64_t i = 0, page; i < p->nentries && err == NC_NOERR; i++) {
        struct entry *t = &p->entries[i];
        err = subfile_find_page(&b->own->subfile, t->varid, t->record, &page);
        if (err == NC_NOERR && page == 0) err = NC_ENOMEM; /* adding the page failed */
        t->address = subfile_place_offset(page, t->record, b->size, b->rank);
        int64_t end = b->frames.end, after = end - SUBFILE_PLACE;
        if (err == NC_NOERR) err = base_holds(t->address >= page && t->address <= after);
        if (err == NC_NOERR)
            err = base_holds(!t->fresh && t->place.at >= SUBFILE_LOG_BEGIN &&
                             t->place.bytes > 0 && t->place.bytes <= end - t->place.at);
    }
    if (err == NC_NOERR)
        err = base_segments_sort(p->entries, p->nentries, sizeof *p->entries);
    if (err != NC_NOERR) {
        base_free(list);
        return err;
    }
    for (int64_t i = 0; i < p->nentries; i++) {
        int64_t at = p->entries[i].address;
        if (i + 1 < p->nentries && at == p->entries[i + 1].address) continue;
        subfile_place_encode(&b->facts, &p->entries[i].place, *bytes + *nbytes);
        *nbytes += SUBFILE_PLACE;
        if (blocks > 0 && list[blocks - 1].offset + list[blocks - 1].length == at)
            list[blocks - 1].length += SUBFILE_PLACE;
        else
            list[blocks++] = (struct region_extent){at, SUBFILE_PLACE};
    }
    *where = region_of_extents(list, blocks);
    return *where == NULL ? NC_ENOMEM : NC_NOERR;
}

/* Writes the offsets of all pages, on process 0 of the group. */
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
        const int64_t *pages =
            id < b->own->subfile.npages ? b->own->subfile.pages[id] : NULL;
        union access_own_request *r = base_arena_alloc(&arena, sizeof *r);
        int64_t *list = base_arena_alloc(&arena, SUBFILE_LEVELS * sizeof *list);
        if (r == NULL || list == NULL) err = NC_ENOMEM;
        if (err != NC_NOERR || pages == NULL) continue;
        for (int level = 0; level < SUBFILE_LEVELS; level++) {
            if (err == NC_NOERR)
                err = base_holds(pages[level] >= 0 && pages[level] < b->frames.end);
            list[level] = subfile_digest_encode_page(&b->facts, id, level, pages[level]);
        }
        blob_request_numbers(&r->r, &b->own->ds.header, subfile_var(&b->own->subfile, id),
                             0, 0, SUBFILE_LEVELS, list);
        reqs[n++] = &r->r;
    }
    int put = driver_call(b->own->driver, put_all, reqs, err == NC_NOERR ? n : 0, err);
    base_arena_free(&arena);
    if (err == NC_NOERR) err = put;
    b->frames.added = err != NC_NOERR;
    return err;
}

/* Writes the table entries, which make the chains in the log valid. */
static int write_entries_all(struct packing *p)
{
    enum { ADDED, OVERWRITING, ALL };
    struct blob *b = p->b;
    unsigned char *bytes = NULL;
    struct region *where = NULL;
    int64_t sums[ALL] = {b->frames.added, p->overwriting}, n = 0;
    int err = p->err;
    int mpi = MPI_Allreduce(MPI_IN_PLACE, sums, ALL, MPI_INT64_T, MPI_SUM, b->comm);
    if (err == NC_NOERR) err = base_mpi_error(mpi, NC_EMPI, "placing frames");
    dataset_raise_records(&b->own->ds, b->frames.end);
    if (sums[OVERWRITING] > 0) {
        int synced = driver_call(b->own->driver, sync_all);
        if (err == NC_NOERR) err = synced;
    }
    if (sums[ADDED] > 0) {
        int put = put_pages_all(p, err);
        if (err == NC_NOERR) err = put;
    }
    if (err == NC_NOERR) err = make_places(p, &bytes, &n, &where);
    int put = put_log_all(p, where, err == NC_NOERR ? n : 0, bytes, err);
    base_free(bytes);
    return err != NC_NOERR ? err : put;
}

/* ---- puts ---- */

/* Packs the requests. Stores their results in their status, and returns other errors. */
static int pack_all(struct blob *b, struct whole *wholes, int64_t n)
{
    struct packing p = {.b = b, .wholes = wholes, .n = n, .round = FIRST_ROUND};
    struct blob_sub *own;
    bool any = false;
    int err = blob_frames_end_all(b);
    for (int64_t i = 0; i < n && err != NC_NOERR; i++)
        access_set_status(wholes[i].r, err);
    if (err != NC_NOERR) return err;
    p.err = blob_sub_get(b, b->group, &own); /* also lists the variables if needed */
    if (p.err == NC_NOERR && n > 0) {
        p.room = ROUND + SUBFILE_FRAME;
        p.bytes = base_malloc((size_t)p.room);
        p.tile = base_malloc(2 * (size_t)SUBFILE_FRAME);
        p.scratch = p.tile == NULL ? NULL : p.tile + SUBFILE_FRAME;
        if (p.bytes == NULL || p.tile == NULL) p.err = NC_ENOMEM;
    }
    if (p.err != NC_NOERR) p.next = n;
    end_next(&p);
    while (put_round_all(&p, &any))
        continue;
    if (p.err == NC_NOERR) p.err = base_holds(p.next == n && p.ngrown == 0);
    if (any) {
        err = write_entries_all(&p);
        if (p.err == NC_NOERR) p.err = err;
    }
    for (int64_t i = 0; i < n && p.err != NC_NOERR; i++)
        access_set_status(wholes[i].r, p.err);
    if (p.helped) base_worker_stop(&p.worker);
    base_free(p.bytes);
    base_free(p.written);
    base_free(p.tile);
    base_free(p.grown);
    base_free(p.entries);
    return p.err;
}

/* Puts requests that cover this process's whole blob together with the group, and all
 * others through blob_move. If other parts of a variable are also put, all requests for
 * that variable go through blob_move, so that the later of two puts takes precedence.
 * Invalid requests fail there. */
int blob_frames_put_all(struct blob *b, struct access_request *const *reqs, int64_t n)
{
    struct whole *wholes = base_malloc((size_t)(n + 1) * sizeof *wholes);
    struct access_request **rest =
        base_malloc((size_t)(n + 1) * sizeof(struct access_request *));
    unsigned char *mixed = base_calloc((size_t)b->nvars + 1, 1);
    int64_t found = 0, whole = 0, left = 0;
    int err = blob_read_own_all(b, reqs, n);
    if (err == NC_NOERR && (wholes == NULL || rest == NULL || mixed == NULL))
        err = NC_ENOMEM;
    blob_frames_forget(b);
    for (int64_t i = 0; i < n; i++) {
        struct whole w = {.r = reqs[i], .d = blob_decomp_of(b, reqs[i]->varid)};
        int ignored = NC_NOERR;
        if (err != NC_NOERR)
            access_set_status(reqs[i], err);
        else if (access_nelems(w.r, b->base.ds->header.vars[w.r->varid].ndims) > 0 &&
                 w.d->mine && blob_find_whole(b, w.d, w.r, &w.span, &ignored))
            wholes[found++] = w;
        else
            mixed[w.r->varid] = 1;
    }
    for (int64_t i = 0; i < n && err == NC_NOERR; i++)
        if (mixed[reqs[i]->varid]) rest[left++] = reqs[i];
    for (int64_t i = 0; i < found; i++)
        if (!mixed[wholes[i].r->varid]) wholes[whole++] = wholes[i];
    if (err == NC_NOERR) err = base_holds(whole + left == n);
    int packed = pack_all(b, wholes, whole);
    if (err == NC_NOERR) err = packed;
    int moved = blob_move(b, rest, left, true);
    base_free(wholes);
    base_free(rest);
    base_free(mixed);
    err = base_error_merge(err, moved);
    for (int64_t i = 0; i < n; i++)
        err = base_error_merge(err, reqs[i]->status);
    return err;
}
