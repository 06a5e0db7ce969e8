/* Between nodes: the first process of each sends what its node has of the others' parts
 * of a block, or its own part to all.
 *
 * Pairs take turns, so that a message and its room are never more than one part. A part
 * is sent as it lies in the block, with the marks of what is in it. */
#include <string.h>

#include "base_error.h"
#include "base_mpi.h"
#include "mpio_node.h"

int64_t mpio_node_unit(const struct mpio *m)
{
    enum { PAGE = 4096 };
    int procs = m->window.nprocs * m->window.nodes;
    return procs > 1 && m->unit > m->window.size / 2 ? PAGE : m->unit;
}

int64_t mpio_node_cut(const struct mpio *m, const struct mpio_block *b, int node,
                      int64_t low, int64_t high)
{
    enum { GRAIN = 64 };
    const struct mpio_window *w = &m->window;
    int64_t unit = mpio_node_unit(m);
    if (unit > w->size / w->nodes) unit = GRAIN;
    int64_t at = (b->end - w->size + w->size / w->nodes * node) / unit * unit;
    if (node == w->nodes) return high;
    if (node == 0 || at - b->start < low) return low;
    return at - b->start < high ? at - b->start : high;
}

/* Adds what another node has of this node's part, from the inbox. */
static void merge(struct mpio_window *w, const struct mpio_block *b, int64_t low,
                  int64_t n, int64_t nmarks)
{
    const unsigned char *marks = w->inbox + n;
    unsigned char *to = b->marks + (low >> b->shift);
    for (int64_t i = 0; i < nmarks; i++) {
        if (!marks[i]) continue;
        int64_t at = i << b->shift, size = (int64_t)1 << b->shift;
        memcpy(b->bytes + low + at, w->inbox + at, (size_t)size);
        to[i] = 1;
    }
}

/* What two nodes send each other: n bytes of `from`, most of them at most to the inbox.
 */
static int swap_all(struct mpio_window *w, const unsigned char *from, int64_t n, int to,
                    unsigned char *inbox, int64_t most, int source, int64_t *received)
{
    MPI_Status status;
    int count = 0;
    int mpi = MPI_Sendrecv(from, (int)n, MPI_BYTE, to, 0, inbox, (int)most, MPI_BYTE,
                           source, 0, w->leaders, &status);
    if (mpi == MPI_SUCCESS) mpi = MPI_Get_count(&status, MPI_BYTE, &count);
    *received = count;
    return base_mpi_error(mpi, NC_EMPI, "between nodes");
}

/* Marks of a part of the block. */
static int64_t marks_of(const struct mpio_block *b, int64_t low, int64_t high)
{
    return high > low ? ((high - 1) >> b->shift) - (low >> b->shift) + 1 : 0;
}

int mpio_exchange_put_all(struct mpio *m, const struct mpio_block *b, int64_t low,
                          int64_t high)
{
    struct mpio_window *w = &m->window;
    struct driver_stats *stats = &m->base.ds->stats;
    int64_t mine = mpio_node_cut(m, b, w->node, low, high);
    int64_t my_marks = marks_of(b, mine, mpio_node_cut(m, b, w->node + 1, low, high));
    int result = NC_NOERR;
    for (int step = 1; step < w->nodes; step++) {
        int to = (w->node + step) % w->nodes, err;
        int from = (w->node - step + w->nodes) % w->nodes;
        int64_t first = mpio_node_cut(m, b, to, low, high);
        int64_t n = marks_of(b, first, mpio_node_cut(m, b, to + 1, low, high)), got, more;
        unsigned char *marks = b->marks + (first >> b->shift);
        int64_t sent = n > 0 && memchr(marks, 1, (size_t)n) != NULL ? n : 0;
        err = swap_all(w, b->bytes + first, sent << b->shift, to, w->inbox,
                       my_marks << b->shift, from, &got);
        int other = swap_all(w, marks, sent, to, w->inbox + got, my_marks, from, &more);
        if (err == NC_NOERR) err = other;
        if (err == NC_NOERR) merge(w, b, mine, got, more);
        if (result == NC_NOERR) result = err;
        memset(marks, 0, (size_t)n);
        stats->exchanges++;
        stats->exchanged_bytes += (sent << b->shift) + sent;
    }
    return result;
}

int mpio_exchange_get_all(struct mpio *m, const struct mpio_block *b, int64_t low,
                          int64_t high)
{
    struct mpio_window *w = &m->window;
    struct driver_stats *stats = &m->base.ds->stats;
    int64_t mine = mpio_node_cut(m, b, w->node, low, high);
    int64_t n = mpio_node_cut(m, b, w->node + 1, low, high) - mine, got;
    int result = NC_NOERR;
    for (int step = 1; step < w->nodes; step++) {
        int to = (w->node + step) % w->nodes;
        int from = (w->node - step + w->nodes) % w->nodes;
        int64_t first = mpio_node_cut(m, b, from, low, high);
        int64_t most = mpio_node_cut(m, b, from + 1, low, high) - first;
        int err = swap_all(w, b->bytes + mine, n, to, b->bytes + first, most, from, &got);
        if (result == NC_NOERR) result = err;
        stats->exchanges++;
        stats->exchanged_bytes += n;
    }
    return result;
}
