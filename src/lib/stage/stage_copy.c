/* Who reads a block first goes on as soon as it has the bytes; a thread, which calls no
 * MPI, writes them to the staged file. There are a few buffers for that: where they are
 * all on their way, the device is slower than the dataset's file, and the reader copies
 * itself. */
#include "stage_copy.h"

#include <pthread.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"

enum { BUFFERS = 16, BUFFER_BYTES = 8 << 20 };

struct stage_copy {
    struct stage *s;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work, idle;
    bool running, hopeless, stop;
    struct stage_buffer *first, **last; /* in the order in which they came */
    struct stage_buffer buffers[BUFFERS];
};

static bool is_full(int err)
{
    return err == NC_ENO_SPACE || err == NC_EQUOTA;
}

bool stage_copy_now(struct stage *s, const struct stage_claim *c,
                    const unsigned char *bytes)
{
    int64_t block = s->shared->block;
    int err = base_write_at(s->file, c->slot * block, bytes, block, "the staged file");
    if (err == NC_NOERR) {
        atomic_fetch_add(&s->counts.copied, block);
        return true;
    }
    atomic_fetch_add(&s->counts.failed, 1);
    if (is_full(err) && s->shared->mirror)
        stage_table_bar(s->table, c); /* what lies behind it may be there already */
    else if (is_full(err))
        stage_table_shrink(s->table, c->slot);
    else
        stage_table_break(s->table);
    return false;
}

/* ---- the thread ---- */

static void *run(void *arg)
{
    struct stage_copy *p = arg;
    pthread_mutex_lock(&p->lock);
    while (p->first != NULL || !p->stop) {
        struct stage_buffer *b = p->first;
        if (b == NULL) {
            pthread_cond_wait(&p->work, &p->lock);
            continue;
        }
        pthread_mutex_unlock(&p->lock);
        stage_table_finish(p->s->table, &b->claim,
                           stage_copy_now(p->s, &b->claim, b->bytes));
        pthread_mutex_lock(&p->lock);
        p->first = b->next;
        if (p->first == NULL) p->last = &p->first;
        b->uses--;
        if (p->first == NULL) pthread_cond_broadcast(&p->idle);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* With the lock. */
static bool is_running(struct stage_copy *p)
{
    if (!p->running && !p->hopeless) {
        p->running = pthread_create(&p->thread, NULL, run, p) == 0;
        p->hopeless = !p->running;
    }
    return p->running;
}

void stage_copy_begin(struct stage *s)
{
    struct stage_copy *p = base_calloc(1, sizeof *p);
    s->copy = p;
    if (p == NULL) return;
    p->s = s;
    p->last = &p->first;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->idle, NULL);
}

void stage_copy_stop(struct stage *s)
{
    struct stage_copy *p = s->copy;
    if (p == NULL) return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    if (p->running) pthread_join(p->thread, NULL);
    for (int i = 0; i < BUFFERS; i++)
        base_free(p->buffers[i].bytes);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->idle);
    base_free(p);
    s->copy = NULL;
}

void stage_copy_wait(struct stage *s)
{
    struct stage_copy *p = s->copy;
    if (p == NULL) return;
    pthread_mutex_lock(&p->lock);
    while (p->first != NULL)
        pthread_cond_wait(&p->idle, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

/* ---- buffers ---- */

struct stage_buffer *stage_copy_take(struct stage *s)
{
    struct stage_copy *p = s->copy;
    struct stage_buffer *b = NULL;
    int64_t block = s->shared->block, most = BUFFER_BYTES / block;
    int64_t room = s->shared->nslots / 4; /* a place that waits for its bytes is no use */
    if (p == NULL) return NULL;
    if (most > room && room < s->shared->nblocks / 4) most = room;
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < BUFFERS && i < most && b == NULL && !p->hopeless; i++)
        if (p->buffers[i].uses == 0) b = &p->buffers[i];
    if (b != NULL && b->bytes == NULL) b->bytes = base_malloc((size_t)block);
    if (b != NULL && b->bytes == NULL) b = NULL;
    if (b != NULL) b->uses = 1;
    pthread_mutex_unlock(&p->lock);
    return b;
}

void stage_copy_give_back(struct stage *s, struct stage_buffer *b)
{
    struct stage_copy *p = s->copy;
    pthread_mutex_lock(&p->lock);
    b->uses--;
    pthread_mutex_unlock(&p->lock);
}

bool stage_copy_add(struct stage *s, struct stage_buffer *b, const struct stage_claim *c)
{
    struct stage_copy *p = s->copy;
    pthread_mutex_lock(&p->lock);
    bool can = is_running(p);
    if (can) {
        b->claim = *c;
        b->uses++;
        b->next = NULL;
        *p->last = b;
        p->last = &b->next;
        pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->lock);
    return can;
}

struct stage_buffer *stage_copy_find(struct stage *s, int64_t block)
{
    struct stage_copy *p = s->copy;
    if (p == NULL) return NULL;
    pthread_mutex_lock(&p->lock);
    struct stage_buffer *b = p->first;
    while (b != NULL &&
           (b->claim.block != block || !stage_table_is_coming(s->table, &b->claim)))
        b = b->next;
    if (b != NULL) b->uses++;
    pthread_mutex_unlock(&p->lock);
    return b;
}
