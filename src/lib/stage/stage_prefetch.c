/* Prefetches blocks in a thread that makes no MPI calls, so any level of MPI thread
 * support suffices. Prefetch requests become jobs, as do guesses about programs that step
 * through time. The thread traverses each job's region and fetches missing blocks. If
 * there is no thread, the caller runs requested jobs itself and drops guesses. */
#include "stage_prefetch.h"

#include <string.h>

#include "access_runs.h"
#include "base_error.h"
#include "base_mem.h"
#include "base_worker.h"
#include "stage_copy.h"
#include "stage_nodes.h"

/* A job that prefetches a region in one file, or all files. */
struct job {
    struct job *next;
    const struct stage_source *source; /* NULL for all files */
    struct region *region;
    struct region_cursor *cursor;
    int64_t from; /* offset at which this process starts, to spread the load */
    int64_t left; /* bytes not yet prefetched */
    bool guessed; /* the job is a guess, not a request */
};

struct stage_prefetch {
    struct stage *s;
    struct base_worker worker;
    struct job *first, **last;
    int guesses; /* number of queued jobs that are guesses */
    struct stage_connections lines;
    unsigned char *bytes; /* memory for one block */
};

/* Resources that the thread or the caller uses to fetch a block. */
struct fetch_context {
    struct stage_connections *lines;
    const _Atomic bool *stop;
    unsigned char *bytes; /* memory for one block */
};

/* ---- running a job ---- */

static void free_job(struct stage *s, struct job *j)
{
    atomic_fetch_sub(&s->counts.waiting, j->left);
    region_cursor_free(j->cursor);
    region_free(j->region);
    base_free(j);
}

/* Creates a job and takes ownership of the region. If r is NULL, the job covers all
 * files. Returns NULL if out of memory. */
static struct job *new_job(struct stage *s, const struct stage_reader *r,
                           struct region *region, bool guessed)
{
    const struct dataset *ds = s->ds;
    int64_t low, high;
    struct job *j = base_calloc(1, sizeof *j);
    if (j != NULL && r == NULL) {
        j->left = s->shared->nblocks * s->shared->block;
        atomic_fetch_add(&s->counts.waiting, j->left);
        return j;
    }
    if (j != NULL) j->cursor = region_cursor_new(region);
    if (j == NULL || j->cursor == NULL) {
        region_free(region);
        base_free(j);
        return NULL;
    }
    region_bounds(region, &low, &high);
    j->source = &r->source;
    j->region = region;
    j->guessed = guessed;
    j->from = guessed ? low : low + (high - low) / ds->nprocs * ds->rank;
    j->left = region_bytes(region);
    atomic_fetch_add(&s->counts.waiting, j->left);
    return j;
}

/* Fetches a block if it is missing and there is space for it. Returns false if reading
 * the file fails. */
static bool fetch_missing_block(struct stage *s, const struct stage_source *source,
                                int64_t block, const struct fetch_context *m)
{
    struct stage_slot_ref hold;
    struct stage_claim claim;
    if (stage_table_find(s->table, block, &hold) ||
        (!stage_fits_dataset(s) &&
         stage_client_get(s, m->lines, block, 0, NULL, 0) == STAGE_GOT) ||
        stage_table_claim(s->table, block, &claim) != STAGE_CLAIMED ||
        stage_shared_dir_try_finish(s, m->lines, &claim))
        return true;
    struct stage_buffer *buffer;
    int err = stage_fetch(s, source, m->lines, &claim, m->bytes, &buffer);
    if (buffer != NULL) stage_copy_release_buffer(s, buffer);
    if (err != NC_NOERR) return false;
    atomic_fetch_add(&s->counts.ahead, s->shared->block);
    return true;
}

/* Returns whether another block may be fetched, and counts it in *most. */
static bool has_budget(struct stage *s, int64_t *most, const struct fetch_context *m)
{
    return !atomic_load(m->stop) && --*most >= 0 && !stage_table_is_disabled(s->table);
}

/* Fetches up to *most of the job's blocks in [from, to). Returns false to stop the
 * job. */
static bool run_part(struct stage *s, struct job *j, int64_t from, int64_t to,
                     int64_t *most, const struct fetch_context *m)
{
    struct stage_shared *all = s->shared;
    int64_t size = all->block, first = stage_part_of(all, j->source->part)->first, at;
    int64_t before = region_seek(j->cursor, from);
    while (region_peek(j->cursor, &at) && at < to) {
        int64_t block = first + at / size;
        if (block >= stage_part_end(all, j->source->part)) return true;
        if (!has_budget(s, most, m) || !fetch_missing_block(s, j->source, block, m))
            return false;
        int64_t next = (at / size + 1) * size;
        int64_t passed = region_seek(j->cursor, next < to ? next : to);
        atomic_fetch_sub(&s->counts.waiting, passed - before);
        j->left -= passed - before;
        before = passed;
    }
    return true;
}

/* Returns the number of the file that contains a block. */
static int part_of_block(struct stage_shared *all, int64_t block)
{
    int64_t low = 0, high = all->nparts;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (stage_part_of(all, middle)->first <= block)
            low = middle;
        else
            high = middle;
    }
    return (int)low;
}

/* Fetches all blocks, starting at a different one in each process. Opens one file at a
 * time and skips files that cannot be opened. */
static void run_files(struct stage *s, struct job *j, int64_t *most,
                      const struct fetch_context *m)
{
    struct stage_shared *all = s->shared;
    int64_t n = all->nblocks, from = n / s->ds->nprocs * s->ds->rank;
    struct stage_source source = STAGE_NO_SOURCE(-1);
    bool open = false;
    for (int64_t i = 0; i < n && has_budget(s, most, m); i++) {
        int64_t block = (from + i) % n;
        int part = part_of_block(all, block);
        if (part != source.part) {
            stage_source_close(&source);
            source.part = part;
            open = stage_source_open_part(s, &source);
        }
        if (open && !fetch_missing_block(s, &source, block, m)) break;
        atomic_fetch_sub(&s->counts.waiting, all->block);
        j->left -= all->block;
    }
    stage_source_close(&source);
}

/* Runs a job. If not all blocks fit, prefetches at most this process's share of the
 * space, because later blocks would evict earlier ones. */
static void run_job(struct stage *s, struct job *j, const struct fetch_context *m)
{
    const struct stage_shared *all = s->shared;
    int64_t most = all->nslots, share = most / s->nprocs;
    if (most < all->nblocks) most = share > 0 ? share : 1;
    if (j->source == NULL)
        run_files(s, j, &most, m);
    else if (run_part(s, j, j->from, INT64_MAX, &most, m))
        (void)run_part(s, j, 0, j->from, &most, m);
}

/* ---- the thread ---- */

/* Runs the first job without holding the lock. Drops a job that was stopped. */
static bool run_next(void *of)
{
    struct stage_prefetch *a = of;
    const struct fetch_context m = {&a->lines, &a->worker.stop, a->bytes};
    struct job *j = a->first;
    if (j == NULL || a->worker.stop) return false;
    base_worker_unlock(&a->worker);
    run_job(a->s, j, &m);
    base_worker_lock(&a->worker);
    a->first = j->next;
    if (a->first == NULL) a->last = &a->first;
    a->guesses -= j->guessed;
    free_job(a->s, j);
    base_worker_report_done(&a->worker);
    return true;
}

static void free_prefetch(struct stage_prefetch *a)
{
    base_worker_stop(&a->worker);
    for (struct job *j = a->first, *next; j != NULL; j = next) {
        next = j->next;
        free_job(a->s, j);
    }
    stage_connections_end(&a->lines);
    base_free(a->bytes);
    base_free(a);
}

/* Starts the thread. Returns NULL on error. */
static struct stage_prefetch *start_prefetch(struct stage *s)
{
    struct stage_prefetch *a = base_calloc(1, sizeof *a);
    if (a == NULL) return NULL;
    a->s = s;
    a->last = &a->first;
    stage_connections_begin(&a->lines);
    a->bytes = base_malloc((size_t)s->shared->block);
    base_worker_init(&a->worker);
    if (a->bytes != NULL && base_worker_start(&a->worker, run_next, a)) return a;
    free_prefetch(a);
    return NULL;
}

void stage_prefetch_stop(struct stage *s)
{
    struct stage_prefetch *a = s->prefetch;
    if (a != NULL) free_prefetch(a);
    s->prefetch = NULL;
}

void stage_prefetch_wait(struct stage *s)
{
    struct stage_prefetch *a = s->prefetch;
    if (a == NULL) return;
    base_worker_lock(&a->worker);
    while (a->first != NULL)
        base_worker_wait(&a->worker);
    base_worker_unlock(&a->worker);
}

/* Queues a job. Without a thread, runs it in the caller, or drops it if it is a guess. */
static int add_job(struct stage *s, struct job *j)
{
    static const _Atomic bool never = false;
    enum { GUESSES = 64 };
    if (j == NULL) return NC_ENOMEM;
    bool guessed = j->guessed;
    if (s->prefetch == NULL) s->prefetch = start_prefetch(s);
    struct stage_prefetch *a = s->prefetch;
    if (a == NULL) {
        stage_clear_view(s);
        const struct fetch_context own = {&s->lines, &never, s->view.own};
        if (!guessed) run_job(s, j, &own);
        free_job(s, j);
        return NC_NOERR;
    }
    base_worker_lock(&a->worker);
    bool wanted = !guessed || a->guesses < GUESSES;
    if (wanted) {
        a->guesses += guessed;
        *a->last = j;
        a->last = &j->next;
        base_worker_wake(&a->worker);
    }
    base_worker_unlock(&a->worker);
    if (!wanted) free_job(s, j);
    return wanted ? NC_NOERR : NC_ENOMEM;
}

/* Queues a job for a region, and takes ownership of the region. */
static int queue_region(struct stage_reader *r, struct region *region, bool guessed)
{
    struct stage *s = r->stage;
    return add_job(s, region == NULL ? NULL : new_job(s, r, region, guessed));
}

/* ---- requests ---- */

/* Returns the region of all blocks that overlap a region shifted by `shift` bytes. It is
 * a copy, because the caller's region may be freed before the job runs. Returns NULL if
 * out of memory or if the region is not ascending. */
static struct region *blocks_of(const struct stage *s, const struct region *region,
                                int64_t shift)
{
    int64_t size = s->shared->block, n = 0, room = 0, at;
    struct region_extent *list = NULL;
    struct region_cursor *c =
        region_is_ascending(region) ? region_cursor_new(region) : NULL;
    bool good = c != NULL;
    while (good && region_peek(c, &at)) {
        int64_t low = (at + shift) / size * size;
        void *grown = base_grow(list, &room, n + 1, sizeof *list);
        good = grown != NULL;
        if (!good) break;
        list = grown;
        n = region_add_extent(list, n, low, size);
        (void)region_seek(c, low + size - shift);
    }
    region_cursor_free(c);
    if (good) return region_of_extents(list, n);
    base_free(list);
    return NULL;
}

int stage_prefetch_request(struct stage_reader *r, const struct access_request *q)
{
    const struct dataset *ds = r->base.ds;
    struct stage *s = r->stage;
    bool others = q == NULL && s->parts.all;
    if (others ? !stage_is_usable(s) : !stage_try_open(r)) {
        s->ds->stats.stage_fallbacks++;
        return NC_NOERR;
    }
    if (q == NULL) return add_job(s, new_job(s, NULL, NULL, false));
    if (q->raw)
        return queue_region(r,
                            blocks_of(s, access_raw_region(q),
                                      ds->base + access_raw_shift(&ds->header, q)),
                            false);
    const struct cdf_var *v = &ds->header.vars[q->varid];
    return queue_region(r,
                        access_slab_region(&ds->header, v, ds->base, access_start(q),
                                           access_count(q, v->ndims),
                                           access_stride(q, v->ndims)),
                        false);
}

/* ---- guesses: programs step through time ---- */

/* Updates the step after a get. Doubles the prefetch distance if the get had to wait. */
static void update_step(struct stage_step *p, int64_t at, int64_t count, bool waited)
{
    enum { FURTHEST = 8 };
    int64_t step = at - p->at;
    if (p->wanted_steps == 0) *p = (struct stage_step){.at = at, .wanted_steps = 1};
    if (p->at == at) return;
    bool sure = step == p->step || step == count || step == -count;
    if (!p->is_regular || step != p->step) *p = (struct stage_step){.wanted_steps = 1};
    if (p->is_regular && waited && p->wanted_steps < FURTHEST) p->wanted_steps *= 2;
    if (p->queued_steps > 0) p->queued_steps--;
    p->at = at;
    p->step = step;
    p->is_regular = sure;
}

/* Returns whether the first and last blocks of the region are staged. */
static bool is_region_staged(struct stage_reader *r, const struct region *region)
{
    struct stage_slot_ref hold;
    struct stage_shared *all = r->stage->shared;
    struct stage_table *t = r->stage->table;
    int64_t low, high, size = all->block,
                       first = stage_part_of(all, r->source.part)->first;
    region_bounds(region, &low, &high);
    int64_t last = first + (high - 1) / size;
    return low >= high || (last < stage_part_end(all, r->source.part) &&
                           stage_table_find(t, first + low / size, &hold) &&
                           stage_table_find(t, last, &hold));
}

/* Returns whether another guess would use too much space. Guesses may use a quarter of
 * the space; the first guess is always allowed. */
static bool exceeds_guess_limit(const struct stage *s, const struct region *region,
                                int ahead)
{
    const struct stage_shared *all = s->shared;
    return ahead > 0 &&
           region_bytes(region) > all->nslots * all->block / 4 / s->nprocs / (ahead + 1);
}

/* A get's position along the first dimension, which may be the record dimension. */
struct place {
    int64_t at, count, end;
};

static bool find_place(const struct stage_reader *r, const struct access_request *q,
                       struct place *p)
{
    const struct cdf_header *h = &r->base.ds->header;
    const struct cdf_var *v = &h->vars[q->varid];
    if (v->ndims == 0 || (q->raw && !v->is_record)) return false;
    if (!q->raw && access_stride(q, v->ndims) != NULL) return false;
    /* Only the dataset's own header always has the current number of records. */
    p->end = v->is_record ? r->stage->ds->header.numrecs : v->shape[0];
    if (q->raw) {
        int64_t low, high;
        region_bounds(access_raw_region(q), &low, &high);
        p->at = access_start(q)[2];
        p->count = h->record_size > 0 ? (high - 1) / h->record_size + 1 : 1;
    } else {
        p->at = access_start(q)[0];
        p->count = access_count(q, v->ndims)[0];
    }
    return true;
}

/* Returns the region that the same get would access at position `at`. Returns NULL if out
 * of memory. */
static struct region *region_at(const struct stage_reader *r,
                                const struct access_request *q, int64_t at)
{
    const struct dataset *ds = r->base.ds;
    const struct cdf_header *h = &ds->header;
    size_t n = (size_t)h->vars[q->varid].ndims;
    if (q->raw)
        return blocks_of(r->stage, access_raw_region(q),
                         ds->base + h->vars[q->varid].begin + at * h->record_size);
    int64_t *there = base_malloc(n * sizeof *there);
    if (there == NULL) return NULL;
    memcpy(there, access_start(q), n * sizeof *there);
    there[0] = at;
    struct region *next = access_slab_region(h, &h->vars[q->varid], ds->base, there,
                                             access_count(q, (int)n), NULL);
    base_free(there);
    return next;
}

void stage_prefetch_next(struct stage_reader *r, const struct access_request *q)
{
    const struct cdf_header *h = &r->base.ds->header;
    struct stage *s = r->stage;
    struct place place;
    if (s->ds->hints.stage_ahead != HINTS_ENABLE || !find_place(r, q, &place)) return;
    if (r->steps == NULL) r->steps = base_calloc((size_t)h->nvars, sizeof *r->steps);
    if (r->steps == NULL) return;
    struct stage_step *p = &r->steps[q->varid];
    update_step(p, place.at, place.count, s->waited);
    for (bool more = p->is_regular; more && p->queued_steps < p->wanted_steps;
         p->queued_steps += more) {
        int64_t at = place.at + (p->queued_steps + 1) * p->step;
        if (at < 0 || at > place.end - place.count) break;
        struct region *next = region_at(r, q, at);
        more = next != NULL && !exceeds_guess_limit(s, next, p->queued_steps);
        if (more && !is_region_staged(r, next))
            more = queue_region(r, next, true) == NC_NOERR;
        else
            region_free(next);
    }
}
