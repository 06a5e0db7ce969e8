/* Writes elements that are scattered over a variable. A single varn call writes all of
 * these pieces.
 *
 *     mpicc -o scattered scattered.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./scattered */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

/* Checks the error code that a library call returned. If only one process exited, the
 * others would wait forever, so an error aborts all of them. */
static void check(int status, int line)
{
    if (status == NC_NOERR) return;
    fprintf(stderr, "%s, line %d: %s\n", __FILE__, line, ncmpi_strerror(status));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}
#define CHECK(call) check(call, __LINE__)

enum { NY = 6, NX = 12, WIDTH = 3, PIECES = NY * NX / WIDTH };

/* The pieces of one process. A piece has WIDTH elements of a row. Pieces are assigned to
 * the processes round-robin. */
struct pieces {
    int n;
    MPI_Offset start[PIECES][2], count[PIECES][2];
    MPI_Offset *starts[PIECES], *counts[PIECES]; /* varn needs a pointer for each piece */
};

static void deal(struct pieces *p, int rank, int nprocs)
{
    p->n = 0;
    for (int piece = rank; piece < PIECES; piece += nprocs) {
        int i = p->n++;
        p->start[i][0] = piece * WIDTH / NX;
        p->start[i][1] = piece * WIDTH % NX;
        p->count[i][0] = 1;
        p->count[i][1] = WIDTH;
        p->starts[i] = p->start[i];
        p->counts[i] = p->count[i];
    }
}

int main(int argc, char **argv)
{
    int rank, nprocs, file, dims[2], var, values[PIECES * WIDTH], corners[4];
    static struct pieces mine;
    const char *path = argc > 1 ? argv[1] : "scattered.nc";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                       &file));
    CHECK(ncmpi_def_dim(file, "y", NY, &dims[0]));
    CHECK(ncmpi_def_dim(file, "x", NX, &dims[1]));
    CHECK(ncmpi_def_var(file, "cards", NC_INT, 2, dims, &var));
    CHECK(ncmpi_enddef(file));

    /* One array contains the values of all pieces, one after another. Processes may have
     * different numbers of pieces, or none. */
    deal(&mine, rank, nprocs);
    for (int i = 0; i < mine.n; i++)
        for (int k = 0; k < WIDTH; k++)
            values[i * WIDTH + k] = (int)(mine.start[i][0] * NX + mine.start[i][1]) + k;
    CHECK(ncmpi_put_varn_int_all(file, var, mine.n, mine.starts, mine.counts, values));
    CHECK(ncmpi_sync(file));

    /* To write single elements, pass NULL for the counts. */
    MPI_Offset corner[4][2] = {{0, 0}, {0, NX - 1}, {NY - 1, 0}, {NY - 1, NX - 1}};
    MPI_Offset *places[4] = {corner[0], corner[1], corner[2], corner[3]};
    CHECK(ncmpi_get_varn_int_all(file, var, 4, places, NULL, corners));
    for (int i = 0; i < 4; i++)
        if (corners[i] != corner[i][0] * NX + corner[i][1]) CHECK(NC_EREAD);

    CHECK(ncmpi_close(file));
    printf("process %d wrote %d pieces\n", rank, mine.n);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
