/* Determines whether the parts of a range that several processes own overlap.
 *
 * 1. All bounds are divided by the largest power of two that divides all of them. If
 *    processes own whole rows, for example, a row becomes a single unit.
 * 2. The range is divided into cells. An allreduce counts the processes that own
 *    something in each cell. A cell with at most one process has no overlap.
 * 3. A cell with several processes is divided in the same way, until it has at most
 *    TILE_BITS units.
 * 4. Then each process sets a bit for each unit that it owns, and the bits of all
 *    processes are combined by XOR. If no unit has two owners, the result has as many
 *    bits set as all processes have units in the tile. Otherwise it has fewer: a unit
 *    with k owners contributes k to the sum of units, but at most 1 to the bits. So it
 *    suffices to compare the two totals over all tiles once, at the end.
 *
 * All processes see the same counts, so they take the same steps. The cost depends on the
 * number of tiles in which several processes own something. It grows only with the
 * logarithm of the range's length. */
#include "access_overlap.h"

#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "base_require.h"

/* ---- tiles of bits ---- */

enum { TILE_BYTES = 1 << 20, TILE_BITS = 8 * TILE_BYTES };

struct comparison {
    MPI_Comm comm;
    int rank, nprocs;
    const struct access_spans *spans;
    int grain;            /* a unit consists of 2^grain numbers */
    unsigned char *tile;  /* send and receive buffers of TILE_BYTES each */
    int64_t ntiles;       /* number of tiles compared so far */
    int64_t owned, drawn; /* number of units owned; number of bits counted here */
    int err;
};

/* Sets the bounds of span i in units. */
static void get_span(const struct comparison *x, int64_t i, int64_t *low, int64_t *high)
{
    x->spans->bounds(x->spans->list, i, low, high);
    *low >>= x->grain;
    *high >>= x->grain;
}

/* Returns the first span that ends after unit `at`. */
static int64_t find_span(const struct comparison *x, int64_t at)
{
    int64_t first = 0, last = x->spans->n;
    while (first < last) {
        int64_t middle = first + (last - first) / 2, low, high;
        get_span(x, middle, &low, &high);
        if (high <= at)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

static void set_bits(unsigned char *bytes, int64_t from, int64_t to)
{
    while (from < to && from % 8 != 0) {
        bytes[from / 8] |= (unsigned char)(1 << from % 8);
        from++;
    }
    memset(bytes + from / 8, 0xff, (size_t)((to - from) / 8));
    for (from += (to - from) / 8 * 8; from < to; from++)
        bytes[from / 8] |= (unsigned char)(1 << from % 8);
}

static int64_t count_bits(const unsigned char *bytes, size_t n)
{
    int64_t count = 0;
    for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        count += __builtin_popcountll(word);
    }
    return count;
}

/* Compares the units [low, high). The reduction avoids MPI_IN_PLACE, because MPICH up to
 * 4.0.2 crashes if a root other than process 0 uses it. */
static void compare_tile_all(struct comparison *x, int64_t low, int64_t high)
{
    const int n = (int)((high - low + 63) / 64), root = (int)(x->ntiles++ % x->nprocs);
    memset(x->tile, 0, (size_t)n * 8);
    for (int64_t i = find_span(x, low), from, to; i < x->spans->n; i++) {
        get_span(x, i, &from, &to);
        if (from >= high) break;
        if (from < low) from = low;
        if (to > high) to = high;
        set_bits(x->tile, from - low, to - low);
        x->owned += to - from;
    }
    unsigned char *sum = x->tile + TILE_BYTES;
    int mpi = MPI_Reduce(x->tile, sum, n, MPI_UINT64_T, MPI_BXOR, root, x->comm);
    if (x->err == NC_NOERR)
        x->err = base_mpi_error(mpi, NC_EMPI, "comparing the parts of processes");
    if (x->rank == root) x->drawn += count_bits(sum, 8 * (size_t)n);
}

/* ---- comparing ---- */

enum { CELLS = 2048 };

/* Compares the units [low, high), in which several processes may own something. */
static void compare_range_all(struct comparison *x, int64_t low, int64_t high)
{
    int owners[CELLS] = {0}; /* for each cell, the number of processes that own a part */
    if (high - low <= TILE_BITS) {
        compare_tile_all(x, low, high);
        return;
    }
    const int64_t tiles = (high - low - 1) / TILE_BITS + 1;
    const int64_t size = ((tiles - 1) / CELLS + 1) * TILE_BITS; /* of a cell */
    const int n = (int)((high - low - 1) / size + 1);
    for (int64_t i = find_span(x, low), from, to; i < x->spans->n; i++) {
        get_span(x, i, &from, &to);
        if (from >= high) break;
        if (from < low) from = low;
        if (to > high) to = high;
        for (int64_t k = (from - low) / size; k <= (to - 1 - low) / size; k++)
            owners[k] = 1;
    }
    int mpi = MPI_Allreduce(MPI_IN_PLACE, owners, n, MPI_INT, MPI_SUM, x->comm);
    int err = base_mpi_error(mpi, NC_EMPI, "comparing the parts of processes");
    if (x->err == NC_NOERR) x->err = err;
    for (int k = 0; k < n && err == NC_NOERR; k++) {
        int64_t from = low + k * size;
        if (owners[k] > 1)
            compare_range_all(x, from, high - from < size ? high : from + size);
    }
}

int access_overlap_all(MPI_Comm comm, const struct access_spans *spans, int64_t length,
                       bool *overlap)
{
    struct comparison x = {.comm = comm, .spans = spans};
    uint64_t bits = UINT64_C(1) << 62;
    bool sound = true; /* the spans are disjoint and ascend */
    for (int64_t i = 0, low, high, end = 0; i < spans->n; i++, end = high) {
        spans->bounds(spans->list, i, &low, &high);
        sound = sound && low >= end && low <= high && high <= length;
        bits |= (uint64_t)low | (uint64_t)high;
    }
    x.tile = base_malloc((size_t)2 * TILE_BYTES);
    int own = base_holds(sound);
    if (own == NC_NOERR && x.tile == NULL) own = NC_ENOMEM;
    uint64_t shared[3] = {bits, own == NC_ENOMEM, own == NC_EINTERNAL};
    MPI_Comm_rank(comm, &x.rank);
    MPI_Comm_size(comm, &x.nprocs);
    *overlap = true;
    int mpi = MPI_Allreduce(MPI_IN_PLACE, shared, 3, MPI_UINT64_T, MPI_BOR, comm);
    int err = base_mpi_error(mpi, NC_EMPI, "comparing the parts of processes");
    if (err == NC_NOERR && (shared[1] | shared[2]) != 0)
        err = shared[2] != 0 ? NC_EINTERNAL : NC_ENOMEM;
    if (err == NC_NOERR) {
        x.grain = __builtin_ctzll(shared[0]);
        compare_range_all(&x, 0, (length >> x.grain) + 1);
        int64_t sums[2] = {x.owned, x.drawn};
        mpi = MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, comm);
        err = x.err != NC_NOERR ? x.err : base_mpi_error(mpi, NC_EMPI, "comparing parts");
        *overlap = sums[0] != sums[1];
    }
    base_free(x.tile);
    return err;
}
