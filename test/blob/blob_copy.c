/* blob_copy IN OUT: copies a dataset. Each process reads and writes its part of each
 * variable: columns of the last dimension, or rows of the one before it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "pnetcdf.h"

enum { MOST_DIMS = 32 };

static int rank, nprocs, in, out, bad;

static void must(int err, const char *what)
{
    if (err == NC_NOERR) return;
    printf("process %d: %s: %s\n", rank, what, ncmpi_strerror(err));
    bad++;
}

static void copy_atts(int varid, int natts)
{
    char name[NC_MAX_NAME + 1];
    for (int i = 0; i < natts; i++) {
        must(ncmpi_inq_attname(in, varid, i, name), "attribute");
        must(ncmpi_copy_att(in, varid, name, out, varid), name);
    }
}

static void define(int ndims, int nvars, int natts, int unlimited)
{
    char name[NC_MAX_NAME + 1];
    int id, type, n, dimids[MOST_DIMS];
    for (int i = 0; i < ndims; i++) {
        MPI_Offset length;
        must(ncmpi_inq_dim(in, i, name, &length), "dimension");
        must(ncmpi_def_dim(out, name, i == unlimited ? NC_UNLIMITED : length, &id), name);
    }
    for (int i = 0; i < nvars; i++) {
        int own;
        must(ncmpi_inq_varndims(in, i, &n), "dimensions");
        if (n > MOST_DIMS) must(NC_EMAXDIMS, "this program");
        if (n > MOST_DIMS) return;
        must(ncmpi_inq_var(in, i, name, &type, &n, dimids, &own), "variable");
        must(ncmpi_def_var(out, name, type, n, dimids, &id), name);
        copy_atts(i, own);
    }
    copy_atts(NC_GLOBAL, natts);
    must(ncmpi_enddef(out), "enddef");
}

/* Selects this process's part of a record or of a fixed-size variable. Returns its number
 * of elements. */
static MPI_Offset own_part(int varid, int ndims, int first, MPI_Offset *start,
                           MPI_Offset *count)
{
    MPI_Offset n = 1;
    if (ndims > first) {
        int dim = ndims - 1;
        if (varid % 3 == 2 && dim > first) dim--;
        start[dim] = count[dim] * rank / nprocs;
        count[dim] = count[dim] * (rank + 1) / nprocs - start[dim];
    } else if (rank > 0) {
        n = 0;
    }
    for (int i = first; i < ndims; i++)
        n *= count[i];
    return n;
}

static void copy_part(int varid, int ndims, int first, const MPI_Offset *shape,
                      MPI_Offset record)
{
    MPI_Offset start[MOST_DIMS], count[MOST_DIMS];
    for (int i = 0; i < ndims; i++) {
        start[i] = 0;
        count[i] = shape[i];
    }
    if (first == 1) {
        start[0] = record;
        count[0] = 1;
    }
    MPI_Offset n = own_part(varid, ndims, first, start, count);
    if (n == 0)
        for (int i = 0; i < ndims; i++)
            count[i] = 0;
    void *values = malloc(8 * (size_t)n + 8);
    /* Zero segments select nothing. A slab cannot do that for a scalar, because its empty
     * count selects the value. */
    MPI_Offset **none = NULL;
    if (ndims == 0 && n == 0) {
        must(ncmpi_get_varn_all(in, varid, 0, none, none, values, 0, MPI_DATATYPE_NULL),
             "get");
        must(ncmpi_put_varn_all(out, varid, 0, none, none, values, 0, MPI_DATATYPE_NULL),
             "put");
    } else {
        must(ncmpi_get_vara_all(in, varid, start, count, values, 0, MPI_DATATYPE_NULL),
             "get");
        must(ncmpi_put_vara_all(out, varid, start, count, values, 0, MPI_DATATYPE_NULL),
             "put");
    }
    free(values);
}

static void copy_var(int varid, int unlimited)
{
    int ndims, dimids[MOST_DIMS];
    MPI_Offset shape[MOST_DIMS], records = 1;
    must(ncmpi_inq_varndims(in, varid, &ndims), "dimensions");
    must(ncmpi_inq_vardimid(in, varid, dimids), "dimensions");
    for (int i = 0; i < ndims; i++)
        must(ncmpi_inq_dimlen(in, dimids[i], &shape[i]), "length");
    int first = ndims > 0 && dimids[0] == unlimited;
    if (first == 1) records = shape[0];
    for (MPI_Offset r = 0; r < records; r++)
        copy_part(varid, ndims, first, shape, r);
}

int main(int argc, char **argv)
{
    int ndims = 0, nvars = 0, natts = 0, unlimited = -1, format = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (argc != 3) return 2;
    must(ncmpi_open(MPI_COMM_WORLD, argv[1], NC_NOWRITE, MPI_INFO_NULL, &in), argv[1]);
    must(ncmpi_inq_format(in, &format), "format");
    int mode = format == 5 ? NC_64BIT_DATA : format == 2 ? NC_64BIT_OFFSET : 0;
    must(ncmpi_create(MPI_COMM_WORLD, argv[2], mode, MPI_INFO_NULL, &out), argv[2]);
    must(ncmpi_inq(in, &ndims, &nvars, &natts, &unlimited), "inq");
    if (bad == 0) define(ndims, nvars, natts, unlimited);
    for (int i = 0; i < nvars && bad == 0; i++)
        copy_var(i, unlimited);
    must(ncmpi_close(in), "close");
    must(ncmpi_close(out), "close");
    MPI_Finalize();
    return bad > 0;
}
