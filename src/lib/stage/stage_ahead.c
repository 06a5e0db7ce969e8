/* Blocks that are brought before anybody asks for them: by a thread, which calls no MPI,
 * so that any level of thread support does. */
#include "stage_ahead.h"

#include <pthread.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "stage_copy.h"
#include "stage_nodes.h"

/* A region of the file. */
struct job {
    struct job *next;
    struct region *region;
    struct region_cursor *cursor;
    int64_t from; /* where the process begins: others do elsewhere */
    int64_t left; /* of its bytes */
    bool guessed; /* nobody asked for it */
};

struct stage_ahead {
    struct stage *s;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work, idle;
    struct job *first, **last;
    int guesses; /* jobs that are */
    _Atomic bool stop;
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

/* Takes over the region. NULL: no memory. */
static struct job *new_job(struct stage *s, struct region *region, bool guessed)
{
    const struct driver_dataset *ds = s->base.ds;
    int64_t low, high;
    struct job *j = base_calloc(1, sizeof *j);
    if (j != NULL) j->cursor = region_cursor_new(region);
    if (j == NULL || j->cursor == NULL) {
        region_free(region);
        base_free(j);
        return NULL;
    }
    region_bounds(region, &low, &high);
    j->region = region;
    j->guessed = guessed;
    j->from = guessed ? low : low + (high - low) / ds->nprocs * ds->rank;
    j->left = region_bytes(region);
    atomic_fetch_add(&s->counts.waiting, j->left);
    return j;
}

/* False: the file cannot be read. What somebody else brings just now, or there is no room
 * for, stays as it is. */
static bool bring(struct stage *s, struct stage_lines *lines, int64_t block,
                  unsigned char *bytes)
{
    struct stage_hold hold;
    struct stage_claim claim;
    if (stage_table_find(s->table, block, &hold) ||
        (!stage_has_room(s) && stage_ask(s, lines, block, 0, NULL, 0) == STAGE_GOT) ||
        stage_table_claim(s->table, block, &claim) != STAGE_MINE ||
        stage_mirror_settles(s, lines, &claim))
        return true;
    struct stage_buffer *buffer;
    int err = stage_fetch(s, lines, &claim, bytes, &buffer);
    if (buffer != NULL) stage_copy_give_back(s, buffer);
    if (err != NC_NOERR) return false;
    atomic_fetch_add(&s->counts.ahead, s->shared->block);
    return true;
}

/* The blocks of the job's bytes between two places, `most` at the most. */
static bool run_part(struct stage *s, struct job *j, int64_t from, int64_t to,
                     int64_t *most, const struct means *m)
{
    int64_t size = s->shared->block, at;
    int64_t before = region_seek(j->cursor, from);
    while (region_peek(j->cursor, &at) && at < to) {
        if (at / size >= s->shared->nblocks) return true;
        if (atomic_load(m->stop) || --*most < 0 || stage_table_broken(s->table) ||
            !bring(s, m->lines, at / size, m->bytes))
            return false;
        int64_t next = (at / size + 1) * size;
        int64_t passed = region_seek(j->cursor, next < to ? next : to);
        atomic_fetch_sub(&s->counts.waiting, passed - before);
        j->left -= passed - before;
        before = passed;
    }
    return true;
}

/* No more than there is room for, beside what others of the node bring: it would go for
 * what comes behind it. */
static void run_job(struct stage *s, struct job *j, const struct means *m)
{
    const struct stage_shared *all = s->shared;
    int64_t most = all->nslots, share = most / s->nprocs;
    if (most < all->nblocks) most = share > 0 ? share : 1;
    if (run_part(s, j, j->from, INT64_MAX, &most, m))
        (void)run_part(s, j, 0, j->from, &most, m);
}

/* ---- the thread ---- */

static void *run(void *arg)
{
    struct stage_ahead *a = arg;
    const struct means m = {&a->lines, &a->stop, a->bytes};
    pthread_mutex_lock(&a->lock);
    while (!atomic_load(&a->stop)) {
        struct job *j = a->first;
        if (j == NULL) {
            pthread_cond_wait(&a->work, &a->lock);
            continue;
        }
        pthread_mutex_unlock(&a->lock);
        run_job(a->s, j, &m);
        pthread_mutex_lock(&a->lock);
        a->first = j->next;
        if (a->first == NULL) a->last = &a->first;
        a->guesses -= j->guessed;
        free_job(a->s, j);
        pthread_cond_broadcast(&a->idle);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

static void free_ahead(struct stage_ahead *a)
{
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->work);
    pthread_cond_destroy(&a->idle);
    stage_lines_end(&a->lines);
    base_free(a->bytes);
    base_free(a);
}

/* NULL: there is none to be had. */
static struct stage_ahead *start(struct stage *s)
{
    struct stage_ahead *a = base_calloc(1, sizeof *a);
    if (a == NULL) return NULL;
    a->s = s;
    a->last = &a->first;
    stage_lines_begin(&a->lines);
    a->bytes = base_malloc((size_t)s->shared->block);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->work, NULL);
    pthread_cond_init(&a->idle, NULL);
    if (a->bytes != NULL && pthread_create(&a->thread, NULL, run, a) == 0) return a;
    free_ahead(a);
    return NULL;
}

void stage_ahead_stop(struct stage *s)
{
    struct stage_ahead *a = s->ahead;
    if (a == NULL) return;
    pthread_mutex_lock(&a->lock);
    atomic_store(&a->stop, true);
    pthread_cond_broadcast(&a->work);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    for (struct job *j = a->first, *next; j != NULL; j = next) {
        next = j->next;
        free_job(s, j);
    }
    free_ahead(a);
    s->ahead = NULL;
}

void stage_ahead_wait(struct stage *s)
{
    struct stage_ahead *a = s->ahead;
    if (a == NULL) return;
    pthread_mutex_lock(&a->lock);
    while (a->first != NULL)
        pthread_cond_wait(&a->idle, &a->lock);
    pthread_mutex_unlock(&a->lock);
}

/* Takes over the region. Without a thread the caller does what was asked for. */
static int add_ahead(struct stage *s, struct region *region, bool guessed)
{
    static const _Atomic bool never = false;
    enum { GUESSES = 64 };
    struct job *j = region == NULL ? NULL : new_job(s, region, guessed);
    if (j == NULL) return NC_ENOMEM;
    if (s->ahead == NULL) s->ahead = start(s);
    struct stage_ahead *a = s->ahead;
    if (a == NULL) {
        stage_clear_view(s);
        const struct means own = {&s->lines, &never, s->view.own};
        if (!guessed) run_job(s, j, &own);
        free_job(s, j);
        return NC_NOERR;
    }
    pthread_mutex_lock(&a->lock);
    bool wanted = !guessed || a->guesses < GUESSES;
    if (wanted) {
        a->guesses += guessed;
        *a->last = j;
        a->last = &j->next;
        pthread_cond_signal(&a->work);
    }
    pthread_mutex_unlock(&a->lock);
    if (!wanted) free_job(s, j);
    return wanted ? NC_NOERR : NC_ENOMEM;
}

/* ---- what is asked for ---- */

static struct region *slab(const struct cdf_header *h, int varid, const int64_t *start,
                           const int64_t *count, const int64_t *stride)
{
    const struct cdf_var *v = &h->vars[varid];
    return region_slab(v->begin, v->ndims, v->shape, start, count, stride,
                       cdf_type_size(v->type), v->is_record ? h->record_size : 0);
}

int stage_ahead_prefetch(struct stage *s, const struct driver_request *r)
{
    const struct cdf_header *h = &s->base.ds->header;
    if (!stage_ready(s)) {
        s->base.ds->stats.stage_fallbacks++;
        return NC_NOERR;
    }
    if (r == NULL)
        return add_ahead(s, region_block(0, s->shared->nblocks * s->shared->block),
                         false);
    int ndims = h->vars[r->varid].ndims;
    return add_ahead(s,
                     slab(h, r->varid, driver_start(r), driver_count(r, ndims),
                          driver_stride(r, ndims)),
                     false);
}

/* The whole variable. */
static void prefetch_variable(struct stage *s, int varid)
{
    const struct cdf_header *h = &s->base.ds->header;
    const struct cdf_var *v = &h->vars[varid];
    size_t n = (size_t)v->ndims;
    int64_t *both = base_calloc(2 * n + 1, sizeof *both);
    if (both == NULL) return;
    for (size_t i = 0; i < n; i++)
        both[n + i] = i == 0 && v->is_record ? h->numrecs : v->shape[i];
    (void)add_ahead(s, slab(h, varid, both, both + n, NULL), false);
    base_free(both);
}

void stage_ahead_begin(struct stage *s)
{
    char names[sizeof s->base.ds->hints.stage_prefetch], *saved, *rest = names, *name;
    int varid;
    strcpy(names, s->base.ds->hints.stage_prefetch);
    if (names[0] == '\0' || !stage_ready(s)) return;
    if (strcmp(names, "open") == 0) {
        (void)stage_ahead_prefetch(s, NULL);
        return;
    }
    for (; (name = strtok_r(rest, ",", &saved)) != NULL; rest = NULL)
        if (cdf_find_var(&s->base.ds->header, name, &varid) == NC_NOERR)
            prefetch_variable(s, varid);
}

/* ---- what can be guessed: programs go through time ---- */

/* Where the next get goes on as this one came after the last. */
static void learn(struct stage_step *p, int64_t at, int64_t count, bool waited)
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
static bool is_there(struct stage *s, const struct region *region)
{
    struct stage_hold hold;
    int64_t low, high, size = s->shared->block;
    region_bounds(region, &low, &high);
    return low >= high || (high <= s->shared->nblocks * size &&
                           stage_table_find(s->table, low / size, &hold) &&
                           stage_table_find(s->table, (high - 1) / size, &hold));
}

/* What is brought so takes no more than a quarter of the room. */
static bool is_too_much(const struct stage *s, const struct region *region, int ahead)
{
    const struct stage_shared *all = s->shared;
    return ahead > 0 &&
           region_bytes(region) > all->nslots * all->block / 4 / s->nprocs / (ahead + 1);
}

void stage_ahead_follow(struct stage *s, const struct driver_request *r)
{
    const struct driver_dataset *ds = s->base.ds;
    const struct cdf_var *v = &ds->header.vars[r->varid];
    if (ds->hints.stage_ahead != BASE_ENABLE || v->ndims == 0 || r->raw ||
        driver_stride(r, v->ndims) != NULL)
        return;
    if (s->steps == NULL)
        s->steps = base_calloc((size_t)ds->header.nvars, sizeof *s->steps);
    if (s->steps == NULL) return;
    struct stage_step *p = &s->steps[r->varid];
    const int64_t *start = driver_start(r), *count = driver_count(r, v->ndims);
    int64_t end = v->is_record ? ds->header.numrecs : v->shape[0];
    learn(p, start[0], count[0], s->waited);
    if (!p->sure) return;
    size_t n = (size_t)v->ndims;
    int64_t *there = base_malloc(n * sizeof *there);
    if (there == NULL) return;
    memcpy(there, start, n * sizeof *there);
    for (bool more = true; more && p->ahead < p->far; p->ahead += more) {
        there[0] = start[0] + (p->ahead + 1) * p->step;
        if (there[0] < 0 || there[0] > end - count[0]) break;
        struct region *next = slab(&ds->header, r->varid, there, count, NULL);
        more = next != NULL && !is_too_much(s, next, p->ahead);
        if (more && !is_there(s, next))
            more = add_ahead(s, next, true) == NC_NOERR;
        else
            region_free(next);
    }
    base_free(there);
}
