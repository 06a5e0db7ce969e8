/* Connects the nodes of a dataset: their first processes form a communicator, number the
 * nodes, exchange addresses, and free the communicator. Blocks travel over sockets. */
#include "stage_nodes.h"

#include <string.h>

#include "base_error.h"
#include "base_mpi.h"

static bool nodes_exchange(const struct stage *s)
{
    return s->nprocs < s->ds->nprocs && s->ds->hints.stage_exchange != HINTS_DISABLE;
}

int stage_nodes_create_comm_all(struct stage *s)
{
    if (!nodes_exchange(s)) return NC_NOERR;
    int mpi = MPI_Comm_split(s->ds->comm, s->first ? 0 : MPI_UNDEFINED, s->ds->rank,
                             &s->firsts);
    int64_t lacking = mpi != MPI_SUCCESS;
    int err = base_mpi_error(mpi, NC_EMPI, "connecting the nodes");
    err = dataset_agree_all(s->ds, err, NULL, &lacking, 1);
    if (lacking) s->firsts = MPI_COMM_NULL;
    return err;
}

int stage_nodes_count(struct stage *s, struct stage_shared *plan)
{
    int nodes = 1, node = 0, mpi = MPI_SUCCESS;
    if (s->firsts != MPI_COMM_NULL) {
        mpi = MPI_Comm_set_errhandler(s->firsts, MPI_ERRORS_RETURN);
        if (mpi == MPI_SUCCESS) mpi = MPI_Comm_rank(s->firsts, &node);
        if (mpi == MPI_SUCCESS) mpi = MPI_Comm_size(s->firsts, &nodes);
    }
    plan->node = node;
    plan->nodes = nodes;
    return base_mpi_error(mpi, NC_EMPI, "counting the nodes");
}

void stage_nodes_exchange_all(struct stage *s)
{
    struct stage_address own;
    if (s->firsts == MPI_COMM_NULL) return;
    memset(&own, 0, sizeof own);
    s->listener = stage_server_listen(&own);
    int mpi = MPI_Allgather(&own, sizeof own, MPI_BYTE, stage_address_of(s->shared, 0),
                            sizeof own, MPI_BYTE, s->firsts);
    if (mpi != MPI_SUCCESS)
        for (int i = 0; i < s->shared->nodes; i++)
            stage_address_of(s->shared, i)->port = 0;
    (void)MPI_Comm_free(&s->firsts);
}
