/* Finds a dataset's processes that run on this node, and counts references to them.
 * MPI_Comm_split_type finds the processes; nc_node_procs may divide them further. If some
 * process lacks an object, the others abandon theirs (node_abandon) instead of freeing
 * it, because freeing is collective. */
#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "node.h"

/* Divides a node as if it were several. Either all processes get a part or none does. */
static int divide_node_all(struct dataset *ds, MPI_Comm *node, int mpi)
{
    MPI_Comm whole = *node;
    int64_t lacking = mpi != MPI_SUCCESS;
    int rank = 0, err = dataset_agree_all(ds, NC_NOERR, NULL, &lacking, 1);
    *node = MPI_COMM_NULL;
    if (err != NC_NOERR || lacking)
        return err != NC_NOERR ? err : base_mpi_error(mpi, NC_EMPI, "splitting a node");
    int ranked = MPI_Comm_rank(whole, &rank);
    mpi = MPI_Comm_split(whole, (int)(rank / ds->hints.node_procs), rank, node);
    if (mpi != MPI_SUCCESS) *node = MPI_COMM_NULL;
    int freed = MPI_Comm_free(&whole);
    if (mpi == MPI_SUCCESS) mpi = ranked != MPI_SUCCESS ? ranked : freed;
    return base_mpi_error(mpi, NC_EMPI, "splitting a node");
}

static int split_all(struct dataset *ds, MPI_Comm *comm)
{
    int mpi = MPI_Comm_split_type(ds->comm, MPI_COMM_TYPE_SHARED, ds->rank, MPI_INFO_NULL,
                                  comm);
    if (mpi != MPI_SUCCESS) *comm = MPI_COMM_NULL;
    if (ds->hints.node_procs > 0) return divide_node_all(ds, comm, mpi);
    return base_mpi_error(mpi, NC_EMPI, "finding the processes of a node");
}

static int describe_node(struct node *n)
{
    int mpi = MPI_Comm_set_errhandler(n->comm, MPI_ERRORS_RETURN);
    if (mpi == MPI_SUCCESS) mpi = MPI_Comm_rank(n->comm, &n->rank);
    if (mpi == MPI_SUCCESS) mpi = MPI_Comm_size(n->comm, &n->nprocs);
    return base_mpi_error(mpi, NC_EMPI, "finding the processes of a node");
}

struct node *node_new(void)
{
    struct node *n = base_calloc(1, sizeof *n);
    if (n == NULL) return NULL;
    base_mem_exclude(n, true); /* may outlive all datasets */
    n->comm = MPI_COMM_NULL;
    n->references = 1;
    return n;
}

struct node *node_find_all(struct dataset *ds, int *error, int64_t *lacking)
{
    struct node *n = ds->node;
    MPI_Comm comm;
    *error = NC_NOERR;
    *lacking = 0;
    if (n != NULL && n->found) return node_retain(n);
    *error = split_all(ds, &comm);
    if (*error == NC_NOERR && comm == MPI_COMM_NULL) *error = NC_EMPI;
    if (*error == NC_NOERR && n == NULL) *error = NC_ENOMEM;
    *lacking = n == NULL || comm == MPI_COMM_NULL;
    if (*lacking) return NULL;
    n->comm = comm;
    n->found = true;
    if (*error == NC_NOERR) *error = describe_node(n);
    return node_retain(n);
}

/* Abandons the node. Freeing is collective, so a communicator that other processes lack
 * cannot be freed. */
void node_abandon(struct dataset *ds)
{
    struct node *n = ds->node;
    if (n == NULL || !n->found) return;
    n->comm = MPI_COMM_NULL;
    n->found = false;
    n->references--;
}

struct node *node_retain(struct node *n)
{
    if (n != NULL) n->references++;
    return n;
}

/* Errors here cannot be reported, and have no consequences. */
void node_release_all(struct node *n)
{
    if (n == NULL || --n->references > 0) return;
    if (n->comm != MPI_COMM_NULL) (void)MPI_Comm_free(&n->comm);
    base_free(n);
}

void node_assign(struct dataset *ds, struct node *n)
{
    if (ds->node != NULL && ds->node->found) return;
    base_free(ds->node);
    ds->node = node_retain(n);
}

void node_leave_all(struct dataset *ds)
{
    node_release_all(ds->node);
    ds->node = NULL;
}
