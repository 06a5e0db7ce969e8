/* Blocks of the file through shared memory.
 *
 * The file is cut into blocks. All processes of the node put their values into a block,
 * meet, and each writes its share of it; while some still write, others put values into
 * the next block, in the other buffer: one meeting a block. Reading is the same
 * backwards. */
#include "mpio_node.h"

#include <string.h>

#include "base_error.h"
#include "base_mpi.h"

enum { GRAIN = 64, LEAST_SHARE = 65536 };

/* What the processes told each other, put together. */
static struct mpio_slot meet_node_all(struct mpio_window *w, const struct mpio_slot *mine)
{
    const struct mpio_slot *all;
    struct mpio_slot sum = {.next = INT64_MAX, .low = INT64_MAX};
    mpio_window_meet_all(w, mine, &all);
    for (int i = 0; i < w->nprocs; i++) {
        if (all[i].next < sum.next) sum.next = all[i].next;
        if (all[i].low < sum.low) sum.low = all[i].low;
        if (all[i].high > sum.high) sum.high = all[i].high;
        if (all[i].error < sum.error) sum.error = all[i].error;
    }
    return sum;
}

/* The same with all nodes. Their first processes put it together, by one reduction. */
static struct mpio_slot meet_nodes_all(struct mpio_window *w,
                                       const struct mpio_slot *mine)
{
    struct mpio_slot all = meet_node_all(w, mine);
    if (w->nodes == 1) return all;
    if (w->rank == 0) {
        int64_t v[] = {-all.next, -all.low, all.high, -all.error};
        int mpi = MPI_Allreduce(MPI_IN_PLACE, v, 4, MPI_INT64_T, MPI_MAX, w->leaders);
        int err = base_mpi_error(mpi, NC_EMPI, "agreeing between nodes");
        all = (struct mpio_slot){
            .next = -v[0], .low = -v[1], .high = v[2], .error = err != 0 ? err : -v[3]};
    } else {
        all = (struct mpio_slot){.next = INT64_MAX, .low = INT64_MAX};
    }
    return meet_node_all(w, &all);
}

/* Where the i-th of nprocs shares of [low, high) begins, at whole stripes of the file.
 * The slack behind a block is no share of its own. */
static int64_t bound(const struct mpio *m, const struct mpio_block *b, int i, int64_t low,
                     int64_t high)
{
    int n = m->window.nprocs;
    if (i == 0 || low >= high) return low;
    if (i == n) return high;
    int64_t unit = mpio_node_unit(m);
    int64_t first = (b->start + low) / unit * unit - b->start;
    int64_t units = (high - MPIO_SLACK - first + unit - 1) / unit;
    int64_t share = (units + n - 1) / n * unit;
    if (share < LEAST_SHARE) share = (LEAST_SHARE + unit - 1) / unit * unit;
    int64_t at = first + i * share;
    return at < high - MPIO_SLACK ? at : high;
}

/* The part of the file from `next` to the end of its block. */
static void begin_block(const struct mpio_window *w, int64_t next, int64_t turn,
                        int shift, struct mpio_block *b)
{
    const struct mpio_buffer *buffer = &w->buffers[turn % MPIO_BUFFERS];
    int64_t start = next & -(int64_t)GRAIN;
    *b = (struct mpio_block){.bytes = buffer->bytes,
                             .marks = buffer->marks,
                             .start = start,
                             .end = (start | (w->size - 1)) + 1,
                             .shift = shift};
}

/* All marks that can be needed are 0, from the first call that needs them on. */
static void clear_marks_all(struct mpio_window *w, const struct mpio_reach *reach)
{
    int64_t bytes = reach->high - reach->low + GRAIN;
    if (bytes > w->size) bytes = w->size;
    bytes = (bytes + MPIO_SLACK + GRAIN) >> reach->shift;
    if (bytes <= w->cleared) return;
    int64_t each = (bytes - w->cleared) / w->nprocs + 1,
            low = w->cleared + w->rank * each;
    int64_t high = low + each < bytes ? low + each : bytes;
    for (int i = 0; i < MPIO_BUFFERS && low < high; i++)
        memset(w->buffers[i].marks + low, 0, (size_t)(high - low));
    w->cleared = bytes;
    (void)meet_node_all(w, &(struct mpio_slot){0});
}

static void note(int *result, int err)
{
    if (*result == NC_NOERR || (*result == NC_ERANGE && err != NC_NOERR)) *result = err;
}

/* This process's share of what its node writes of bytes [low, high) of the block. */
static int write_part_all(struct mpio *m, const struct mpio_block *b, int64_t low,
                          int64_t high)
{
    struct mpio_window *w = &m->window;
    int err = NC_NOERR;
    if (low >= high) return NC_NOERR;
    if (w->nodes > 1) {
        if (w->rank == 0) err = mpio_exchange_put_all(m, b, low, high);
        (void)meet_node_all(w, &(struct mpio_slot){0});
        int64_t all = low, end = high;
        low = mpio_node_cut(m, b, w->node, all, end);
        high = mpio_node_cut(m, b, w->node + 1, all, end);
    }
    int written = mpio_cover_write(m, b, bound(m, b, w->rank, low, high),
                                   bound(m, b, w->rank + 1, low, high));
    return err != NC_NOERR ? err : written;
}

/* Bytes [low, high) of the block from the file, all there when all have met. */
static int read_part_all(struct mpio *m, const struct mpio_block *b, int64_t low,
                         int64_t high)
{
    struct mpio_window *w = &m->window;
    int64_t from = mpio_node_cut(m, b, w->node, low, high);
    int64_t to = mpio_node_cut(m, b, w->node + 1, low, high);
    int64_t first = bound(m, b, w->rank, from, to);
    int64_t n = bound(m, b, w->rank + 1, from, to) - first;
    int err = n > 0 ? mpio_file_read(&m->file, b->start + first, b->bytes + first, n) : 0;
    if (w->nodes == 1) return err;
    (void)meet_node_all(w, &(struct mpio_slot){0});
    int sent = w->rank == 0 ? mpio_exchange_get_all(m, b, low, high) : NC_NOERR;
    return err != NC_NOERR ? err : sent;
}

static int put_blocks_all(struct mpio *m, struct mpio_walk *walk,
                          const struct mpio_reach *reach, int *io)
{
    struct mpio_window *w = &m->window;
    int64_t next = reach->low;
    int result = NC_NOERR;
    clear_marks_all(w, reach);
    for (int64_t turn = 0; next != INT64_MAX; turn++) {
        struct mpio_block b;
        begin_block(w, next, turn, reach->shift, &b);
        note(&result, mpio_walk_block(walk, &b));
        struct mpio_slot all = meet_nodes_all(
            w, &(struct mpio_slot){
                   .next = mpio_walk_next(walk), .low = b.low, .high = b.high});
        int err = write_part_all(m, &b, all.low, all.high);
        if (*io == NC_NOERR) *io = err;
        next = all.next;
    }
    *io = (int)meet_nodes_all(w, &(struct mpio_slot){.error = *io}).error;
    return result;
}

/* One meeting a block: it is read on the supposition that it follows the last one, while
 * some still get their values from that, out of the other buffer. Who has been through a
 * block tells where to go on; a block that nobody needs is left out then. */
static int get_blocks_all(struct mpio *m, struct mpio_walk *walk,
                          const struct mpio_reach *reach, int *io)
{
    struct mpio_window *w = &m->window;
    int64_t at = reach->low, turn = 0;
    int result = NC_NOERR;
    while (at < reach->high) {
        struct mpio_block b;
        begin_block(w, at, turn, reach->shift, &b);
        int64_t end = b.end + MPIO_SLACK < reach->high ? b.end + MPIO_SLACK : reach->high;
        int err = read_part_all(m, &b, at - b.start, end - b.start);
        struct mpio_slot all = meet_nodes_all(
            w, &(struct mpio_slot){.next = mpio_walk_next(walk), .error = err});
        *io = (int)all.error;
        if (*io != NC_NOERR) break;
        at = all.next;
        if (at >= b.end) continue;
        note(&result, mpio_walk_block(walk, &b));
        at = b.end;
        turn++;
    }
    return result;
}

int mpio_node_move_all(struct mpio *m, struct mpio_walk *walk,
                       const struct mpio_reach *reach, int *io)
{
    *io = NC_NOERR;
    return walk->put ? put_blocks_all(m, walk, reach, io)
                     : get_blocks_all(m, walk, reach, io);
}
