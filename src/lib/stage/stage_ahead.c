/* Blocks that are brought before anybody asks for them: by a thread, which calls no MPI,
 * so that any level of thread support does. */
#include "stage_ahead.h"

#include <string.h>

#include "access_runs.h"
#include "base_error.h"
#include "base_mem.h"
#include "base_worker.h"
#include "stage_copy.h"
#include "stage_nodes.h"

/* A region of a file, or all of all files. */
struct job {
    struct job *next;
    const struct stage_source *source; /* NULL: all */
    struct region *region;
    struct region_cursor *cursor;
    int64_t from; /* where the process begins: others do elsewhere */
    int64_t left; /* of its bytes */
    bool guessed; /* nobody asked for it */
};

struct stage_ahead {
    struct stage *s;
    struct base_worker worker;
    struct job *first, **last;
    int guesses; /* jobs that are */
    struct stage_lines lines;
    unsigned char *bytes; /* a block */
};

/* What blocks are brought with. */
struct means {
    struct stage_lines *lines;
    const _Atomic bool *stop;
    unsigned char *bytes; /* a block */
};

/* ---- a job ---- */

static void free_job(struct stage *s, struct job *j)
{
    atomic_fetch_sub(&s->counts.waiting, j->left);
    region_cursor_free(j->cursor);
    region_free(j->region);
    base_free(j);
}

/* Without a reader it is for all. Takes over the region. NULL: no memory. */
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

/* False: the file cannot be read. What somebody else brings just now, or there is no room
 * for, stays as it is. */
static bool bring(struct stage *s, const struct stage_source *source, int64_t block,
                  const struct means *m)
{
    struct stage_hold hold;
    struct stage_claim claim;
    if (stage_table_find(s->table, block, &hold) ||
        (!stage_has_room(s) && stage_ask(s, m->lines, block, 0, NULL, 0) == STAGE_GOT) ||
        stage_table_claim(s->table, block, &claim) != STAGE_MINE ||
        stage_mirror_settles(s, m->lines, &claim))
        return true;
    struct stage_buffer *buffer;
    int err = stage_fetch(s, source, m->lines, &claim, m->bytes, &buffer);
    if (buffer != NULL) stage_copy_give_back(s, buffer);
    if (err != NC_NOERR) return false;
    atomic_fetch_add(&s->counts.ahead, s->shared->block);
    return true;
}

/* May more be brought? */
static bool may_go_on(struct stage *s, int64_t *most, const struct means *m)
{
    return !atomic_load(m->stop) && --*most >= 0 && !stage_table_broken(s->table);
}

/* The blocks of the job's bytes between two places, `most` at the most. */
static bool run_part(struct stage *s, struct job *j, int64_t from, int64_t to,
                     int64_t *most, const struct means *m)
{
    struct stage_shared *all = s->shared;
    int64_t size = all->block, first = stage_part_of(all, j->source->part)->first, at;
    int64_t before = region_seek(j->cursor, from);
    while (region_peek(j->cursor, &at) && at < to) {
        int64_t block = first + at / size;
        if (block >= stage_part_end(all, j->source->part)) return true;
        if (!may_go_on(s, most, m) || !bring(s, j->source, block, m)) return false;
        int64_t next = (at / size + 1) * size;
        int64_t passed = region_seek(j->cursor, next < to ? next : to);
        atomic_fetch_sub(&s->counts.waiting, passed - before);
        j->left -= passed - before;
        before = passed;
    }
    return true;
}

/* The number of the file that has a block. */
static int part_with(struct stage_shared *all, int64_t block)
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

/* All blocks, each process from another one on. One file is open at a time, and one that
 * cannot be is left out. */
static void run_files(struct stage *s, struct job *j, int64_t *most,
                      const struct means *m)
{
    struct stage_shared *all = s->shared;
    int64_t n = all->nblocks, from = n / s->ds->nprocs * s->ds->rank;
    struct stage_source source = STAGE_NO_SOURCE(-1);
    bool open = false;
    for (int64_t i = 0; i < n && may_go_on(s, most, m); i++) {
        int64_t block = (from + i) % n;
        int part = part_with(all, block);
        if (part != source.part) {
            stage_source_close(&source);
            source.part = part;
            open = stage_source_open_part(s, &source);
        }
        if (open && !bring(s, &source, block, m)) break;
        atomic_fetch_sub(&s->counts.waiting, all->block);
        j->left -= all->block;
    }
    stage_source_close(&source);
}

/* No more than there is room for, beside what others of the node bring: it would go for
 * what comes behind it. */
static void run_job(struct stage *s, struct job *j, const struct means *m)
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

/* Does one job, with the lock but for the work itself. What is left at the end is not
 * done. */
static bool run_next(void *of)
{
    struct stage_ahead *a = of;
    const struct means m = {&a->lines, &a->worker.stop, a->bytes};
    struct job *j = a->first;
    if (j == NULL || a->worker.stop) return false;
    base_worker_unlock(&a->worker);
    run_job(a->s, j, &m);
    base_worker_lock(&a->worker);
    a->first = j->next;
    if (a->first == NULL) a->last = &a->first;
    a->guesses -= j->guessed;
    free_job(a->s, j);
    base_worker_tell(&a->worker);
    return true;
}

static void free_ahead(struct stage_ahead *a)
{
    base_worker_stop(&a->worker);
    for (struct job *j = a->first, *next; j != NULL; j = next) {
        next = j->next;
        free_job(a->s, j);
    }
    stage_lines_end(&a->lines);
    base_free(a->bytes);
    base_free(a);
}

/* NULL: there is none to be had. */
static struct stage_ahead *start_ahead(struct stage *s)
{
    struct stage_ahead *a = base_calloc(1, sizeof *a);
    if (a == NULL) return NULL;
    a->s = s;
    a->last = &a->first;
    stage_lines_begin(&a->lines);
    a->bytes = base_malloc((size_t)s->shared->block);
    base_worker_init(&a->worker);
    if (a->bytes != NULL && base_worker_start(&a->worker, run_next, a)) return a;
    free_ahead(a);
    return NULL;
}

void stage_ahead_stop(struct stage *s)
{
    struct stage_ahead *a = s->ahead;
    if (a != NULL) free_ahead(a);
    s->ahead = NULL;
}

void stage_ahead_wait(struct stage *s)
{
    struct stage_ahead *a = s->ahead;
    if (a == NULL) return;
    base_worker_lock(&a->worker);
    while (a->first != NULL)
        base_worker_wait(&a->worker);
    base_worker_unlock(&a->worker);
}

/* Without a thread the caller does what was asked for. */
static int add_job(struct stage *s, struct job *j)
{
    static const _Atomic bool never = false;
    enum { GUESSES = 64 };
    if (j == NULL) return NC_ENOMEM;
    bool guessed = j->guessed;
    if (s->ahead == NULL) s->ahead = start_ahead(s);
    struct stage_ahead *a = s->ahead;
    if (a == NULL) {
        stage_clear_view(s);
        const struct means own = {&s->lines, &never, s->view.own};
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

/* Takes over the region. */
static int add_ahead(struct stage_reader *r, struct region *region, bool guessed)
{
    struct stage *s = r->stage;
    return add_job(s, region == NULL ? NULL : new_job(s, r, region, guessed));
}

/* ---- what is asked for ---- */

/* The blocks that have bytes of a region, moved so far: whose that is may be gone when
 * they are brought. NULL: no memory, or it does not ascend. */
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
        bool joins = n > 0 && list[n - 1].offset + list[n - 1].length == low;
        if (joins) list[n - 1].length += size;
        void *grown = base_grow(list, &room, n + 1, sizeof *list);
        good = grown != NULL;
        if (!good) break;
        list = grown;
        if (!joins) list[n++] = (struct region_extent){low, size};
        (void)region_seek(c, low + size - shift);
    }
    region_cursor_free(c);
    if (good) return region_of_extents(list, n);
    base_free(list);
    return NULL;
}

int stage_ahead_prefetch(struct stage_reader *r, const struct access_request *q)
{
    const struct dataset *ds = r->base.ds;
    struct stage *s = r->stage;
    bool others = q == NULL && s->parts.all;
    if (others ? !stage_works(s) : !stage_ready(r)) {
        s->ds->stats.stage_fallbacks++;
        return NC_NOERR;
    }
    if (q == NULL) return add_job(s, new_job(s, NULL, NULL, false));
    if (q->raw)
        return add_ahead(r,
                         blocks_of(s, access_raw_region(q),
                                   ds->base + access_raw_shift(&ds->header, q)),
                         false);
    const struct cdf_var *v = &ds->header.vars[q->varid];
    return add_ahead(r,
                     access_slab_region(&ds->header, v, ds->base, access_start(q),
                                        access_count(q, v->ndims),
                                        access_stride(q, v->ndims)),
                     false);
}

/* ---- what can be guessed: programs go through time ---- */

/* Where the next get goes on as this one came after the last. */
static void learn_pace(struct stage_step *p, int64_t at, int64_t count, bool waited)
{
    enum { FURTHEST = 8 };
    int64_t step = at - p->at;
    if (p->far == 0) *p = (struct stage_step){.at = at, .far = 1};
    if (p->at == at) return;
    bool sure = step == p->step || step == count || step == -count;
    if (!p->sure || step != p->step) *p = (struct stage_step){.far = 1};
    if (p->sure && waited && p->far < FURTHEST) p->far *= 2;
    if (p->ahead > 0) p->ahead--;
    p->at = at;
    p->step = step;
    p->sure = sure;
}

/* It is there, as far as its first and last blocks tell. */
static bool is_there(struct stage_reader *r, const struct region *region)
{
    struct stage_hold hold;
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

/* What is brought so takes no more than a quarter of the room. */
static bool is_too_much(const struct stage *s, const struct region *region, int ahead)
{
    const struct stage_shared *all = s->shared;
    return ahead > 0 &&
           region_bytes(region) > all->nslots * all->block / 4 / s->nprocs / (ahead + 1);
}

/* Where a get was along the first dimension, or among the records. */
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
    /* Other files need not tell how many records there are. */
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

/* What would be read at another place. NULL: no memory. */
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

void stage_ahead_follow(struct stage_reader *r, const struct access_request *q)
{
    const struct cdf_header *h = &r->base.ds->header;
    struct stage *s = r->stage;
    struct place place;
    if (s->ds->hints.stage_ahead != BASE_ENABLE || !find_place(r, q, &place)) return;
    if (r->steps == NULL) r->steps = base_calloc((size_t)h->nvars, sizeof *r->steps);
    if (r->steps == NULL) return;
    struct stage_step *p = &r->steps[q->varid];
    learn_pace(p, place.at, place.count, s->waited);
    for (bool more = p->sure; more && p->ahead < p->far; p->ahead += more) {
        int64_t at = place.at + (p->ahead + 1) * p->step;
        if (at < 0 || at > place.end - place.count) break;
        struct region *next = region_at(r, q, at);
        more = next != NULL && !is_too_much(s, next, p->ahead);
        if (more && !is_there(r, next))
            more = add_ahead(r, next, true) == NC_NOERR;
        else
            region_free(next);
    }
}
