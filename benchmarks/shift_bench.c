/* What it costs that a header grows: all data behind it move by little.
 *
 *     shift_bench FILE MIB SHIFT
 *
 * A variable of so many MiB is written and synced; then an attribute of SHIFT bytes moves
 * it. Prints the seconds that redef, put_att and enddef took, and with a sync behind
 * them, and looks whether the values are there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

enum { PIECE = 1 << 20 }; /* elements put or looked at in one call */

static int rank, nprocs;

static void need(int err, const char *what)
{
    if (err == NC_NOERR) return;
    fprintf(stderr, "shift_bench: %s: %s\n", what, ncmpi_strerror(err));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* This process's part of the variable, piece by piece. */
static void each_piece(int ncid, MPI_Offset all, int put)
{
    static double values[PIECE];
    MPI_Offset first = all * rank / nprocs, end = all * (rank + 1) / nprocs;
    for (MPI_Offset done = 0; done < all / nprocs + 1; done += PIECE) {
        MPI_Offset at = first + done < end ? first + done : end;
        MPI_Offset n = end - at < PIECE ? end - at : PIECE;
        for (MPI_Offset i = 0; put && i < n; i++)
            values[i] = (double)(at + i);
        need(put ? ncmpi_put_vara_double_all(ncid, 0, &at, &n, values)
                 : ncmpi_get_vara_double_all(ncid, 0, &at, &n, values),
             "data");
        for (MPI_Offset i = 0; i < n; i++)
            if (values[i] != (double)(at + i)) need(NC_EREAD, "a value is another");
    }
}

static void make(const char *path, MPI_Offset all)
{
    int ncid, dim, var;
    need(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, &ncid), path);
    need(ncmpi_def_dim(ncid, "x", all, &dim), "def_dim");
    need(ncmpi_def_var(ncid, "v", NC_DOUBLE, 1, &dim, &var), "def_var");
    need(ncmpi_enddef(ncid), "enddef");
    each_piece(ncid, all, 1);
    need(ncmpi_sync(ncid), "sync");
    need(ncmpi_close(ncid), "close");
}

static double now_all(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

static void shift(const char *path, MPI_Offset all, long bytes)
{
    char *text = calloc(1, (size_t)bytes);
    int ncid;
    if (text == NULL) need(NC_ENOMEM, "an attribute");
    need(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), path);
    double begin = now_all();
    need(ncmpi_redef(ncid), "redef");
    need(ncmpi_put_att_text(ncid, NC_GLOBAL, "a", bytes, text), "put_att");
    need(ncmpi_enddef(ncid), "enddef");
    double moved = now_all() - begin;
    need(ncmpi_sync(ncid), "sync");
    double synced = now_all() - begin;
    each_piece(ncid, all, 0);
    need(ncmpi_close(ncid), "close");
    if (rank == 0)
        printf("%d processes, by %ld bytes: %.3f s, with a sync %.3f s\n", nprocs, bytes,
               moved, synced);
    free(text);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    MPI_Offset all = argc == 4 ? strtoll(argv[2], NULL, 10) * 131072 : 0;
    long bytes = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
    if (all <= 0 || bytes <= 0) {
        fprintf(stderr, "usage: shift_bench FILE MIB SHIFT\n");
        MPI_Finalize();
        return 2;
    }
    make(argv[1], all);
    shift(argv[1], all, bytes);
    if (rank == 0) need(ncmpi_delete(argv[1], MPI_INFO_NULL), "delete");
    MPI_Finalize();
    return 0;
}
