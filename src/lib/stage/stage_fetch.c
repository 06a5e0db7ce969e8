/* Blocks: from the staged file if they are there; else from the dataset's, and a copy of
 * them into the staged one. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "stage.h"

static bool is_full(int err)
{
    return err == NC_ENO_SPACE || err == NC_EQUOTA;
}

/* The copy. One that fails leaves the block where it is; a device that is full keeps what
 * it has. */
static bool keep_block(struct stage *s, const struct stage_claim *c,
                       const unsigned char *bytes)
{
    int64_t block = s->shared->block;
    int err = base_write_at(s->file, c->slot * block, bytes, block, "the staged file");
    if (err == NC_NOERR) {
        atomic_fetch_add(&s->counts.copied, block);
        return true;
    }
    atomic_fetch_add(&s->counts.failed, 1);
    if (is_full(err))
        stage_table_shrink(s->table, c->slot);
    else
        stage_table_break(s->table);
    return false;
}

int stage_fetch(struct stage *s, const struct stage_claim *c, unsigned char *bytes)
{
    int64_t block = s->shared->block;
    int err = stage_source_read(s, c->block * block, bytes, block);
    stage_table_finish(s->table, c, err == NC_NOERR && keep_block(s, c, bytes));
    if (c->dropped) atomic_fetch_add(&s->counts.dropped, 1);
    return err;
}

/* Into the view: all of the block. */
static int fetch_to_view(struct stage *s, const struct stage_claim *c)
{
    int64_t low = c->block * s->shared->block;
    s->view.low = s->view.high = 0;
    int err = stage_fetch(s, c, s->view.bytes);
    if (err != NC_NOERR) return err;
    s->view.low = low;
    s->view.high = low + s->shared->block;
    return NC_NOERR;
}

/* Memory for n bytes at a place of the file: the caller's, or the view. */
static unsigned char *memory(struct stage *s, int64_t at, int64_t n, unsigned char *to)
{
    if (to != NULL) return to;
    s->view.low = at;
    s->view.high = at + n;
    return s->view.bytes;
}

/* Is it there, and all of it? */
static bool read_staged(struct stage *s, const struct stage_hold *h, int64_t from,
                        unsigned char *bytes, int64_t n)
{
    if (base_read_at(s->file, h->slot * s->shared->block + from, bytes, n,
                     "the staged file") == NC_NOERR)
        return true;
    if (stage_table_held(s->table, h)) stage_table_break(s->table);
    return false;
}

/* Somebody else is reading the block; how long one waits for that, in all. */
static bool wait_for(int *waited)
{
    enum { YIELDS = 200, PAUSE_NS = 100000, MOST = 100000 };
    const struct timespec pause = {0, PAUSE_NS};
    if (++*waited > MOST) return false;
    if (*waited < YIELDS)
        sched_yield();
    else
        (void)nanosleep(&pause, NULL);
    return true;
}

int stage_fetch_part(struct stage *s, int64_t at, int64_t n, unsigned char *to)
{
    struct stage_hold hold;
    struct stage_claim claim;
    int64_t size = s->shared->block, block = at / size;
    int waited = 0;
    bool possible = block < s->shared->nblocks;
    while (possible && !stage_table_broken(s->table)) {
        if (stage_table_find(s->table, block, &hold)) {
            unsigned char *bytes = memory(s, at, n, to);
            if (read_staged(s, &hold, at % size, bytes, n) &&
                stage_table_held(s->table, &hold)) {
                s->base.ds->stats.stage_read_bytes += n;
                return NC_NOERR;
            }
            continue;
        }
        enum stage_claimed claimed = stage_table_claim(s->table, block, &claim);
        if (claimed == STAGE_MINE) return fetch_to_view(s, &claim);
        possible = claimed == STAGE_HERE || (claimed == STAGE_BUSY && wait_for(&waited));
    }
    s->view.low = s->view.high = 0;
    int err = stage_source_read(s, at, to != NULL ? to : s->view.bytes, n);
    if (err == NC_NOERR && to == NULL) (void)memory(s, at, n, to);
    return err;
}
