/* Collective calls that SMPI makes with messages in proportion to the number of
 * processes, and MPI libraries with its logarithm. */
#include <stdlib.h>
#include <string.h>

#include "machine_mpi.h"

/* Recursive doubling: with each partner the sum of a group twice as large. Operations
 * commute. */
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
