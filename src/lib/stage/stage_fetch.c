/* Gets blocks from the staged file if it has them. Otherwise claims the block, reads it
 * from another node or from the dataset's file, and stores it or queues it for storing.
 * If a block cannot be staged, reads only the required bytes from the dataset's file. */
#include <sched.h>

#include "base_error.h"
#include "base_io.h"
#include "base_number.h"
#include "base_sum.h"
#include "stage_copy.h"
#include "stage_nodes.h"
#include "trace_record.h"

static bool has_sums(const struct stage *s)
{
    return s->ds->hints.stage_sums == HINTS_ENABLE;
}

uint32_t stage_sum(const struct stage *s, const void *bytes)
{
    return has_sums(s) ? (uint32_t)base_sum(bytes, (size_t)s->shared->block, 0) : 0;
}

/* Gets a whole block from another node and verifies its checksum. */
static bool request_whole_block(struct stage *s, struct stage_connections *lines,
                                int64_t block, unsigned char *bytes)
{
    return stage_client_get(s, lines, block, 0, bytes, s->shared->block) == STAGE_GOT &&
           stage_sum(s, bytes) == lines->sum;
}

/* Reads the dataset's file in the calling thread, and traces the read. Reads by
 * background threads are not traced. */
static inline int read_in_call(struct stage *s, const struct stage_source *source,
                               int64_t at, void *bytes, int64_t n)
{
    struct trace_span span = trace_begin(s->ds->trace);
    int err = stage_source_read(s, source, at, bytes, n);
    trace_end_at(s->ds->trace, TRACE_READ, span, at, err == NC_NOERR ? n : 0);
    return err;
}

int stage_fetch(struct stage *s, const struct stage_source *source,
                struct stage_connections *lines, const struct stage_claim *c,
                unsigned char *bytes, struct stage_buffer **buffer)
{
    int64_t block = s->shared->block,
            first = stage_part_of(s->shared, source->part)->first;
    struct stage_buffer *b = *buffer = stage_copy_get_buffer(s);
    if (b != NULL) bytes = b->bytes;
    struct stage_claim own = *c;
    int64_t at = (c->block - first) * block,
            end = stage_part_end(s->shared, source->part);
    int err = base_holds(at >= 0 && c->block < end);
    if (err == NC_NOERR) err = base_holds(c->slot >= 0 && c->slot < s->shared->nslots);
    if (err == NC_NOERR && (s->shared->mirror || !stage_fits_dataset(s) ||
                            !request_whole_block(s, lines, c->block, bytes)))
        err = lines == &s->lines ? read_in_call(s, source, at, bytes, block)
                                 : stage_source_read(s, source, at, bytes, block);
    if (err == NC_NOERR) own.sum = stage_sum(s, bytes);
    if (err != NC_NOERR || b == NULL || !stage_copy_add(s, b, &own))
        stage_table_finish(s->table, &own,
                           err == NC_NOERR && stage_copy_now(s, &own, bytes));
    if (c->dropped) {
        atomic_fetch_add(&s->counts.dropped, 1);
        atomic_fetch_add(&s->shared->dropped, 1);
    }
    return err;
}

/* ---- the view ---- */

void stage_clear_view(struct stage *s)
{
    struct stage_view *v = &s->view;
    if (v->buffer != NULL) stage_copy_release_buffer(s, v->buffer);
    *v = (struct stage_view){.bytes = v->own, .own = v->own};
}

/* Sets the view to a whole block: in `b`, or if `b` is NULL, in the view's own memory. */
static void set_view_to_block(struct stage_reader *r, int64_t block,
                              struct stage_buffer *b)
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
    if (err == NC_NOERR) set_view_to_block(r, c->block, b);
    if (err != NC_NOERR && b != NULL) stage_copy_release_buffer(s, b);
    return err;
}

/* If this process has queued the block for storing, sets the view to it. */
static bool find_queued_block(struct stage_reader *r, int64_t block)
{
    struct stage_buffer *b = stage_copy_find(r->stage, block);
    if (b == NULL) return false;
    stage_clear_view(r->stage);
    set_view_to_block(r, block, b);
    return true;
}

/* Returns memory for n bytes at a file offset: `to`, or the view's if `to` is NULL. */
static unsigned char *destination(struct stage *s, int64_t at, int64_t n,
                                  unsigned char *to)
{
    if (to != NULL) return to;
    stage_clear_view(s);
    s->view.low = at;
    s->view.high = at + n;
    return s->view.bytes;
}

/* Reads bytes from a staged block. A failure ends staging, unless the slot was reused in
 * the meantime. */
static bool read_staged(struct stage *s, const struct stage_slot_ref *h, int64_t from,
                        unsigned char *bytes, int64_t n)
{
    if (base_read_at(s->file, h->slot * s->shared->block + from, bytes, n,
                     "the staged file") == NC_NOERR)
        return true;
    if (stage_table_is_current(s->table, h)) stage_table_disable(s->table);
    return false;
}

/* Waits briefly for the process that is fetching the block. Returns false if it has taken
 * too long. */
static bool wait_for(int *waited)
{
    enum { YIELDS = 200, MOST = 100000 };
    if (++*waited > MOST) return false;
    if (*waited < YIELDS)
        sched_yield();
    else
        base_sleep_us(100);
    return true;
}

/* Gets a block's bytes from another node without staging them. No-op if the staged file
 * has space for all blocks. */
static bool get_from_keeper(struct stage *s, int64_t block, int64_t at, int64_t n,
                            unsigned char *to)
{
    int64_t size = s->shared->block;
    if (stage_fits_dataset(s) || s->shared->nodes == 1) return false;
    unsigned char *bytes = destination(s, at, n, to);
    bool got = has_sums(s) ? request_whole_block(s, &s->lines, block, bytes)
                           : stage_client_get(s, &s->lines, block, at % size, bytes, n) ==
                                 STAGE_GOT;
    if (!got && to == NULL) stage_clear_view(s);
    return got;
}

/* Gets bytes from a staged block. Returns false if the caller must look it up again. */
static bool get_staged_bytes(struct stage *s, const struct stage_slot_ref *h,
                             int64_t from, int64_t n, unsigned char *bytes)
{
    if (!read_staged(s, h, from, bytes, n) || !stage_table_is_current(s->table, h))
        return false;
    if (has_sums(s) && stage_sum(s, bytes) != h->sum) {
        stage_table_disable(s->table);
        return false;
    }
    s->ds->stats.stage_read_bytes += n;
    return true;
}

int stage_fetch_part(struct stage_reader *r, int64_t at, int64_t n, unsigned char *to)
{
    struct stage *s = r->stage;
    int part = r->source.part;
    struct stage_slot_ref hold;
    struct stage_claim claim;
    int64_t size = s->shared->block,
            block = stage_part_of(s->shared, part)->first + at / size;
    int waited = 0;
    bool asked = false;
    base_require(at >= 0 && n > 0 && n <= size - at % size);
    bool possible = block < stage_part_end(s->shared, part);
    if (possible && has_sums(s)) { /* checksums cover whole blocks */
        at -= at % size;
        n = size;
        to = NULL;
    }
    while (possible && !stage_table_is_disabled(s->table)) {
        if (stage_table_find(s->table, block, &hold)) {
            unsigned char *bytes = destination(s, at, n, to);
            if (get_staged_bytes(s, &hold, at % size, n, bytes)) return NC_NOERR;
            continue;
        }
        s->waited = true;
        if (!asked && get_from_keeper(s, block, at, n, to)) return NC_NOERR;
        asked = true;
        enum stage_claimed claimed = stage_table_claim(s->table, block, &claim);
        if (claimed == STAGE_CLAIMED && stage_shared_dir_try_finish(s, &s->lines, &claim))
            continue;
        if (claimed == STAGE_CLAIMED) return fetch_to_view(r, &claim);
        if (claimed == STAGE_BUSY && find_queued_block(r, block)) return NC_NOERR;
        possible = claimed == STAGE_ALREADY_STAGED ||
                   (claimed == STAGE_BUSY && wait_for(&waited));
    }
    stage_clear_view(s);
    int err = read_in_call(s, &r->source, at, to != NULL ? to : s->view.bytes, n);
    if (err == NC_NOERR && to == NULL) (void)destination(s, at, n, to);
    return err;
}
