/* Blocks: from the staged file if they are there; else from the dataset's, and a copy of
 * them into the staged one. */
#include <sched.h>
#include <time.h>

#include "base_error.h"
#include "base_io.h"
#include "base_sum.h"
#include "stage_copy.h"
#include "stage_nodes.h"
#include "trace_record.h"

static bool has_sums(const struct stage *s)
{
    return s->ds->hints.stage_sums == BASE_ENABLE;
}

uint32_t stage_sum(const struct stage *s, const void *bytes)
{
    return has_sums(s) ? (uint32_t)base_sum(bytes, (size_t)s->shared->block, 0) : 0;
}

/* A block that another node has, and has as it was written there. */
static bool ask_whole(struct stage *s, struct stage_lines *lines, int64_t block,
                      unsigned char *bytes)
{
    return stage_ask(s, lines, block, 0, bytes, s->shared->block) == STAGE_GOT &&
           stage_sum(s, bytes) == lines->sum;
}

/* Reads the dataset's file for a call, whose trace shows it. Threads do so for none. */
static inline int read_in_call(struct stage *s, const struct stage_source *source,
                               int64_t at, void *bytes, int64_t n)
{
    struct trace_span span = trace_begin(s->ds->trace);
    int err = stage_source_read(s, source, at, bytes, n);
    trace_end_at(s->ds->trace, TRACE_READ, span, at, err == NC_NOERR ? n : 0);
    return err;
}

int stage_fetch(struct stage *s, const struct stage_source *source,
                struct stage_lines *lines, const struct stage_claim *c,
                unsigned char *bytes, struct stage_buffer **buffer)
{
    int64_t block = s->shared->block,
            first = stage_part_of(s->shared, source->part)->first;
    struct stage_buffer *b = *buffer = stage_copy_take(s);
    if (b != NULL) bytes = b->bytes;
    struct stage_claim own = *c;
    int err = NC_NOERR;
    int64_t at = (c->block - first) * block;
    if (s->shared->mirror || !stage_has_room(s) || !ask_whole(s, lines, c->block, bytes))
        err = lines == &s->lines ? read_in_call(s, source, at, bytes, block)
                                 : stage_source_read(s, source, at, bytes, block);
    if (err == NC_NOERR) own.sum = stage_sum(s, bytes);
    if (err != NC_NOERR || b == NULL || !stage_copy_add(s, b, &own))
        stage_table_finish(s->table, &own,
                           err == NC_NOERR && stage_copy_now(s, &own, bytes));
    if (c->dropped) atomic_fetch_add(&s->counts.dropped, 1);
    return err;
}

/* ---- the view ---- */

void stage_clear_view(struct stage *s)
{
    struct stage_view *v = &s->view;
    if (v->buffer != NULL) stage_copy_give_back(s, v->buffer);
    *v = (struct stage_view){.bytes = v->own, .own = v->own};
}

/* All of a block of a file: of a buffer, or what is in the view's own memory. */
static void look_at_block(struct stage_reader *r, int64_t block, struct stage_buffer *b)
{
    struct stage *s = r->stage;
    s->view.buffer = b;
    if (b != NULL) s->view.bytes = b->bytes;
    s->view.low =
        (block - stage_part_of(s->shared, r->source.part)->first) * s->shared->block;
    s->view.high = s->view.low + s->shared->block;
}

static int fetch_to_view(struct stage_reader *r, const struct stage_claim *c)
{
    struct stage *s = r->stage;
    struct stage_buffer *b;
    stage_clear_view(s);
    int err = stage_fetch(s, &r->source, &s->lines, c, s->view.own, &b);
    if (err == NC_NOERR) look_at_block(r, c->block, b);
    if (err != NC_NOERR && b != NULL) stage_copy_give_back(s, b);
    return err;
}

/* Is the copy of it still to be made, by this process? */
static bool find_on_its_way(struct stage_reader *r, int64_t block)
{
    struct stage_buffer *b = stage_copy_find(r->stage, block);
    if (b == NULL) return false;
    stage_clear_view(r->stage);
    look_at_block(r, block, b);
    return true;
}

/* Memory for n bytes at a place of the file: the caller's, or the view. */
static unsigned char *memory(struct stage *s, int64_t at, int64_t n, unsigned char *to)
{
    if (to != NULL) return to;
    stage_clear_view(s);
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

/* Where a node has not room for all, blocks stay with the one that has them. */
static bool get_from_far(struct stage *s, int64_t block, int64_t at, int64_t n,
                         unsigned char *to)
{
    int64_t size = s->shared->block;
    if (stage_has_room(s) || s->shared->nodes == 1) return false;
    unsigned char *bytes = memory(s, at, n, to);
    bool got = has_sums(s)
                   ? ask_whole(s, &s->lines, block, bytes)
                   : stage_ask(s, &s->lines, block, at % size, bytes, n) == STAGE_GOT;
    if (!got && to == NULL) stage_clear_view(s);
    return got;
}

/* A block that is there and was there all the time; else it is to be looked for again. */
static bool get_held(struct stage *s, const struct stage_hold *h, int64_t from, int64_t n,
                     unsigned char *bytes)
{
    if (!read_staged(s, h, from, bytes, n) || !stage_table_held(s->table, h))
        return false;
    if (has_sums(s) && stage_sum(s, bytes) != h->sum) {
        stage_table_break(s->table);
        return false;
    }
    s->ds->stats.stage_read_bytes += n;
    return true;
}

int stage_fetch_part(struct stage_reader *r, int64_t at, int64_t n, unsigned char *to)
{
    struct stage *s = r->stage;
    int part = r->source.part;
    struct stage_hold hold;
    struct stage_claim claim;
    int64_t size = s->shared->block,
            block = stage_part_of(s->shared, part)->first + at / size;
    int waited = 0;
    bool asked = false;
    bool possible = block < stage_part_end(s->shared, part);
    if (possible && has_sums(s)) { /* all of it goes to the view */
        at -= at % size;
        n = size;
        to = NULL;
    }
    while (possible && !stage_table_broken(s->table)) {
        if (stage_table_find(s->table, block, &hold)) {
            unsigned char *bytes = memory(s, at, n, to);
            if (get_held(s, &hold, at % size, n, bytes)) return NC_NOERR;
            continue;
        }
        s->waited = true;
        if (!asked && get_from_far(s, block, at, n, to)) return NC_NOERR;
        asked = true;
        enum stage_claimed claimed = stage_table_claim(s->table, block, &claim);
        if (claimed == STAGE_MINE && stage_mirror_settles(s, &s->lines, &claim)) continue;
        if (claimed == STAGE_MINE) return fetch_to_view(r, &claim);
        if (claimed == STAGE_BUSY && find_on_its_way(r, block)) return NC_NOERR;
        possible = claimed == STAGE_HERE || (claimed == STAGE_BUSY && wait_for(&waited));
    }
    stage_clear_view(s);
    int err = read_in_call(s, &r->source, at, to != NULL ? to : s->view.bytes, n);
    if (err == NC_NOERR && to == NULL) (void)memory(s, at, n, to);
    return err;
}
