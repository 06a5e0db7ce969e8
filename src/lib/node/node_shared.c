/* Memory that the processes of a node share: an MPI-3 window. */
#include "base_mpi.h"
#include "node.h"

/* The epoch is begun even where errors would end the program: so it can be ended. */
static int begin_epoch(MPI_Win window)
{
    int handled = MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    int locked = MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    return handled != MPI_SUCCESS ? handled : locked;
}

int node_memory_make_all(const struct node *n, int64_t size, struct node_memory *m)
{
    MPI_Aint bytes = n->rank == 0 ? (MPI_Aint)size : 0;
    void *base = NULL;
    int unit;
    *m = NODE_NO_MEMORY;
    int mpi =
        MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, n->comm, &base, &m->window);
    if (mpi != MPI_SUCCESS) m->window = MPI_WIN_NULL;
    if (mpi == MPI_SUCCESS) mpi = begin_epoch(m->window);
    if (mpi == MPI_SUCCESS)
        mpi = MPI_Win_shared_query(m->window, 0, &bytes, &unit, &base);
    if (mpi == MPI_SUCCESS) m->bytes = base;
    return base_mpi_error(mpi, NC_ENOMEM, "sharing memory on a node");
}

/* Nobody can be told of a failure, nor does anything hang on it. */
static void end_epoch(MPI_Win window)
{
    if (window != MPI_WIN_NULL) (void)MPI_Win_unlock_all(window);
}

void node_memory_whole_all(const struct node *n, struct node_memory *m)
{
    int lacking = m->window == MPI_WIN_NULL, any = 1;
    int mpi = MPI_Allreduce(&lacking, &any, 1, MPI_INT, MPI_MAX, n->comm);
    if (mpi == MPI_SUCCESS && !any) return;
    end_epoch(m->window);
    *m = NODE_NO_MEMORY;
}

void node_memory_sync(const struct node_memory *m)
{
    (void)MPI_Win_sync(m->window);
}

void node_memory_free_all(struct node_memory *m)
{
    end_epoch(m->window);
    if (m->window != MPI_WIN_NULL) (void)MPI_Win_free(&m->window);
    *m = NODE_NO_MEMORY;
}
