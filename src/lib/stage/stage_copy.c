/* Stores fetched blocks in the background, so that a reader continues as soon as it has
 * the bytes. A thread, which makes no MPI calls, writes the queued buffers to the staged
 * file in order and finishes their claims. If all buffers are in use, the device is
 * slower than the dataset's file, and the reader stores the block itself. */
#include "stage_copy.h"

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_worker.h"

enum { BUFFERS = 16, BUFFER_BYTES = 8 << 20 };

struct stage_copy {
    struct stage *s;
    struct base_worker worker;
    bool running, hopeless;
    struct stage_buffer *first, **last; /* queue of buffers, oldest first */
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
        atomic_fetch_add(&s->shared->read, block);
        return true;
    }
    atomic_fetch_add(&s->counts.failed, 1);
    if (is_full(err) && s->shared->mirror)
        stage_table_refuse(s->table, c); /* in a mirror, later slots may be in use */
    else if (is_full(err))
        stage_table_shrink(s->table, c->slot);
    else
        stage_table_disable(s->table);
    return false;
}

/* ---- the thread ---- */

/* Stores the block in the first queued buffer. Releases the lock during the write. */
static bool copy_next(void *of)
{
    struct stage_copy *p = of;
    struct stage_buffer *b = p->first;
    if (b == NULL) return false;
    base_worker_unlock(&p->worker);
    stage_table_finish(p->s->table, &b->claim, stage_copy_now(p->s, &b->claim, b->bytes));
    base_worker_lock(&p->worker);
    p->first = b->next;
    if (p->first == NULL) p->last = &p->first;
    b->uses--;
    if (p->first == NULL) base_worker_report_done(&p->worker);
    return true;
}

/* Starts the thread on first use. Caller must hold the lock. */
static bool is_running(struct stage_copy *p)
{
    if (!p->running && !p->hopeless) {
        p->running = base_worker_start(&p->worker, copy_next, p);
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
    base_worker_init(&p->worker);
}

void stage_copy_stop(struct stage *s)
{
    struct stage_copy *p = s->copy;
    if (p == NULL) return;
    base_worker_stop(&p->worker);
    for (int i = 0; i < BUFFERS; i++)
        base_free(p->buffers[i].bytes);
    base_free(p);
    s->copy = NULL;
}

void stage_copy_wait(struct stage *s)
{
    struct stage_copy *p = s->copy;
    if (p == NULL) return;
    base_worker_lock(&p->worker);
    while (p->first != NULL)
        base_worker_wait(&p->worker);
    base_worker_unlock(&p->worker);
}

/* ---- buffers ---- */

struct stage_buffer *stage_copy_get_buffer(struct stage *s)
{
    struct stage_copy *p = s->copy;
    struct stage_buffer *b = NULL;
    int64_t block = s->shared->block, most = BUFFER_BYTES / block;
    int64_t room =
        s->shared->nslots / 4; /* a slot is useless until its bytes are written */
    if (p == NULL) return NULL;
    if (most > room && room < s->shared->nblocks / 4) most = room;
    base_worker_lock(&p->worker);
    for (int i = 0; i < BUFFERS && i < most && b == NULL && !p->hopeless; i++)
        if (p->buffers[i].uses == 0) b = &p->buffers[i];
    if (b != NULL && b->bytes == NULL) b->bytes = base_malloc((size_t)block);
    if (b != NULL && b->bytes == NULL) b = NULL;
    if (b != NULL) b->uses = 1;
    base_worker_unlock(&p->worker);
    return b;
}

void stage_copy_release_buffer(struct stage *s, struct stage_buffer *b)
{
    struct stage_copy *p = s->copy;
    base_worker_lock(&p->worker);
    b->uses--;
    base_worker_unlock(&p->worker);
}

bool stage_copy_add(struct stage *s, struct stage_buffer *b, const struct stage_claim *c)
{
    struct stage_copy *p = s->copy;
    base_worker_lock(&p->worker);
    bool can = is_running(p);
    if (can) {
        b->claim = *c;
        b->uses++;
        b->next = NULL;
        *p->last = b;
        p->last = &b->next;
        base_worker_wake(&p->worker);
    }
    base_worker_unlock(&p->worker);
    return can;
}

struct stage_buffer *stage_copy_find(struct stage *s, int64_t block)
{
    struct stage_copy *p = s->copy;
    if (p == NULL) return NULL;
    base_worker_lock(&p->worker);
    struct stage_buffer *b = p->first;
    while (b != NULL &&
           (b->claim.block != block || !stage_table_is_pending(s->table, &b->claim)))
        b = b->next;
    if (b != NULL) b->uses++;
    base_worker_unlock(&p->worker);
    return b;
}
