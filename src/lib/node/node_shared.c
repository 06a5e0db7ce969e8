/* Implements a node's shared memory: an MPI-3 window in one passive epoch that lasts as
 * long as the window. MPI creates a file for it, in which the first process writes the
 * last byte. If that process may not create a file of that size (base_can_write_to), a
 * signal would kill it. In that case it requests no bytes, and all processes find a
 * window of size 0. */
#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_mpi.h"
#include "node.h"

/* Begins the epoch even if setting the error handler fails, so that end_epoch is
 * valid. */
static int begin_epoch(MPI_Win window)
{
    int handled = MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    int locked = MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    return handled != MPI_SUCCESS ? handled : locked;
}

/* Returns this process's contribution, in bytes, to a window of `size` (> 0) bytes. */
static MPI_Aint own_bytes(const struct node *n, int64_t size)
{
    enum { ADDED = 1 << 16 }; /* more than MPI adds for rounding or its own use */
    bool allowed = n->nprocs == 1 || base_can_write_to(size + ADDED);
    return n->rank == 0 && allowed ? (MPI_Aint)size : 0;
}

int node_memory_make_all(const struct node *n, int64_t size, struct node_memory *m)
{
    MPI_Aint bytes = own_bytes(n, size);
    void *base = NULL;
    int unit;
    *m = NODE_NO_MEMORY;
    int mpi =
        MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, n->comm, &base, &m->window);
    if (mpi != MPI_SUCCESS) m->window = MPI_WIN_NULL;
    if (mpi == MPI_SUCCESS) mpi = begin_epoch(m->window);
    if (mpi == MPI_SUCCESS)
        mpi = MPI_Win_shared_query(m->window, 0, &bytes, &unit, &base);
    if (mpi == MPI_SUCCESS && bytes == 0)
        return base_error_set(NC_ENOMEM,
                              "sharing memory on a node: ulimit -f of its first process "
                              "does not allow a file of this size");
    if (mpi == MPI_SUCCESS) m->bytes = base;
    return base_mpi_error(mpi, NC_ENOMEM, "sharing memory on a node");
}

/* Errors here cannot be reported, and have no consequences. */
static void end_epoch(MPI_Win window)
{
    if (window != MPI_WIN_NULL) (void)MPI_Win_unlock_all(window);
}

void node_memory_agree_all(const struct node *n, struct node_memory *m)
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
