/* Replaces collective calls for which SMPI sends a number of messages proportional to the
 * number of processes, where real MPI libraries send only a logarithmic number. */
#include <stdlib.h>
#include <string.h>

#include "machine_mpi.h"

/* Implements the reduction by recursive doubling: each exchange with a partner doubles
 * the size of the group whose values have been combined. Requires commutative
 * operations. */
static int scan(const void *mine, void *result, int count, MPI_Datatype type, MPI_Op op,
                MPI_Comm comm, bool exclusive)
{
    enum { TAG = 4711 };
    int rank, n, mpi = MPI_SUCCESS;
    bool empty = exclusive;
    MPI_Aint low, extent;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    MPI_Type_get_extent(type, &low, &extent);
    size_t bytes = (size_t)count * (size_t)extent;
    char *sum = malloc(2 * bytes + 1), *got = sum + bytes;
    if (sum == NULL) return MPI_ERR_NO_MEM;
    memcpy(sum, mine == MPI_IN_PLACE ? result : mine, bytes);
    if (!exclusive && mine != MPI_IN_PLACE) memcpy(result, mine, bytes);
    for (int mask = 1; mask < n && mpi == MPI_SUCCESS; mask *= 2) {
        int peer = rank ^ mask;
        if (peer >= n) continue;
        mpi = MPI_Sendrecv(sum, count, type, peer, TAG, got, count, type, peer, TAG, comm,
                           MPI_STATUS_IGNORE);
        if (mpi == MPI_SUCCESS) mpi = MPI_Reduce_local(got, sum, count, type, op);
        if (mpi != MPI_SUCCESS || peer > rank) continue;
        if (empty)
            memcpy(result, got, bytes);
        else
            mpi = MPI_Reduce_local(got, result, count, type, op);
        empty = false;
    }
    free(sum);
    return mpi;
}

int __wrap_MPI_Scan(const void *mine, void *result, int count, MPI_Datatype type,
                    MPI_Op op, MPI_Comm comm)
{
    return scan(mine, result, count, type, op, comm, false);
}

int __wrap_MPI_Exscan(const void *mine, void *result, int count, MPI_Datatype type,
                      MPI_Op op, MPI_Comm comm)
{
    return scan(mine, result, count, type, op, comm, true);
}

/* ---- communicators ---- */

struct member {
    int colour, key, rank;
};

static int by_key(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Stores the ranks of the members that have `colour` in `ranks`, ordered by key. Returns
 * their number. */
static int pick(struct member *all, int n, int colour, int *ranks)
{
    int found = 0;
    for (int i = 0; i < n; i++)
        if (all[i].colour == colour) all[found++] = all[i];
    qsort(all, (size_t)found, sizeof *all, by_key);
    for (int i = 0; i < found; i++)
        ranks[i] = all[i].rank;
    return found;
}

/* Splits the communicator by an allgather. SMPI's own version sends everything through
 * process 0, which takes quadratic time to simulate. */
int __wrap_MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm *made)
{
    struct member me = {colour, key, 0};
    MPI_Group whole, part;
    int n;
    MPI_Comm_rank(comm, &me.rank);
    MPI_Comm_size(comm, &n);
    struct member *all = malloc((size_t)n * sizeof *all);
    int *ranks = malloc((size_t)n * sizeof *ranks);
    int mpi = all == NULL || ranks == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    if (mpi == MPI_SUCCESS)
        mpi = MPI_Allgather(&me, sizeof me, MPI_BYTE, all, sizeof me, MPI_BYTE, comm);
    int members =
        mpi == MPI_SUCCESS && colour != MPI_UNDEFINED ? pick(all, n, colour, ranks) : 0;
    *made = MPI_COMM_NULL;
    if (members > 0) {
        MPI_Comm_group(comm, &whole);
        mpi = MPI_Group_incl(whole, members, ranks, &part);
        if (mpi == MPI_SUCCESS) {
            mpi = MPI_Comm_create(comm, part, made);
            MPI_Group_free(&part);
        }
        MPI_Group_free(&whole);
    }
    free(all);
    free(ranks);
    return mpi;
}
