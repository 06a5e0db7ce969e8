/* nc4_words FILE [dimension NAME | variable NAME | attribute VARIABLE:NAME | get NAME]...
 * Opens a file for reading, looks these objects up or gets a variable's text, and prints
 * the error messages on the last process. Fails if close fails. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

static int look_up(int ncid, const char *kind, char *name)
{
    int id, varid = NC_GLOBAL, err = NC_NOERR;
    char *colon = strchr(name, ':'), text[100];
    if (*kind == 'd') return ncmpi_inq_dimid(ncid, name, &id);
    if (*kind == 'v') return ncmpi_inq_varid(ncid, name, &id);
    if (*kind == 'g') err = ncmpi_inq_varid(ncid, name, &varid);
    if (*kind == 'g' && err == NC_NOERR) return ncmpi_get_var_text_all(ncid, varid, text);
    if (colon == NULL) return NC_EINVAL;
    *colon = '\0';
    if (*name != '\0') err = ncmpi_inq_varid(ncid, name, &varid);
    return err != NC_NOERR ? err : ncmpi_inq_attid(ncid, varid, colon + 1, &id);
}

int main(int argc, char **argv)
{
    int ncid, rank, nprocs;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    int err = argc < 2
                  ? NC_EINVAL
                  : ncmpi_open(MPI_COMM_WORLD, argv[1], NC_NOWRITE, MPI_INFO_NULL, &ncid);
    if (err != NC_NOERR) {
        fprintf(stderr, "open: %s\n", ncmpi_strerror(err));
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 2; i + 1 < argc; i += 2) {
        err = look_up(ncid, argv[i], argv[i + 1]);
        if (rank == nprocs - 1) puts(ncmpi_strerror(err));
    }
    err = ncmpi_close(ncid);
    MPI_Finalize();
    return err == NC_NOERR ? EXIT_SUCCESS : EXIT_FAILURE;
}
