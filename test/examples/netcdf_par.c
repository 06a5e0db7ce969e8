/* A program for netCDF-C's parallel mode. It writes a CDF-5 file, for which netCDF-C
 * calls the functions of pnetcdf.h. Then it reads the file and prints the number of wrong
 * values. Exits with 0 if there are none. netcdf_par.sh runs it with PnetCDF and with
 * this library. Usage: netcdf_par FILE. */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>

enum { EACH = 7, RECORDS = 3 };

static int rank, nprocs, wrong;

static void need(const char *what, int err)
{
    if (err == NC_NOERR) return;
    printf("process %d: %s: %s\n", rank, what, nc_strerror(err));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double value_at(size_t record, size_t x)
{
    return (double)(1000 * record + x);
}

static void write_file(const char *path)
{
    int ncid, dims[2], field, cyclic;
    need("create", nc_create_par(path, NC_CLOBBER | NC_64BIT_DATA, MPI_COMM_WORLD,
                                 MPI_INFO_NULL, &ncid));
    need("def_dim", nc_def_dim(ncid, "record", NC_UNLIMITED, &dims[0]));
    need("def_dim", nc_def_dim(ncid, "x", (size_t)(EACH * nprocs), &dims[1]));
    need("def_var", nc_def_var(ncid, "field", NC_DOUBLE, 2, dims, &field));
    need("def_var", nc_def_var(ncid, "cyclic", NC_INT, 1, dims + 1, &cyclic));
    need("put_att", nc_put_att_text(ncid, field, "units", 1, "K"));
    need("enddef", nc_enddef(ncid));
    need("par_access", nc_var_par_access(ncid, NC_GLOBAL, NC_COLLECTIVE));
    for (size_t record = 0; record < RECORDS; record++) {
        size_t start[2] = {record, (size_t)(EACH * rank)}, count[2] = {1, EACH};
        double values[EACH];
        for (size_t i = 0; i < EACH; i++)
            values[i] = value_at(record, start[1] + i);
        need("put_vara", nc_put_vara_double(ncid, field, start, count, values));
    }
    size_t start = (size_t)rank, count = EACH;
    ptrdiff_t stride = nprocs;
    int values[EACH];
    for (int i = 0; i < EACH; i++)
        values[i] = rank + nprocs * i;
    need("put_vars", nc_put_vars_int(ncid, cyclic, &start, &count, &stride, values));
    need("close", nc_close(ncid));
}

static void read_file(const char *path)
{
    int ncid, first[EACH];
    size_t records, start[2] = {0, (size_t)((rank + 1) % nprocs * EACH)};
    size_t count[2] = {RECORDS, EACH};
    double values[RECORDS][EACH];
    need("open", nc_open_par(path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
    need("inq_dimlen", nc_inq_dimlen(ncid, 0, &records));
    wrong += records != RECORDS;
    need("get_vara", nc_get_vara_double(ncid, 0, start, count, &values[0][0]));
    for (size_t record = 0; record < RECORDS; record++)
        for (size_t i = 0; i < EACH; i++)
            wrong += values[record][i] != value_at(record, start[1] + i);
    need("get_vara", nc_get_vara_int(ncid, 1, start + 1, count + 1, first));
    for (int i = 0; i < EACH; i++)
        wrong += first[i] != (int)start[1] + i;
    need("close", nc_close(ncid));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (argc == 2) {
        write_file(argv[1]);
        read_file(argv[1]);
    }
    if (wrong > 0) printf("process %d: %d wrong values\n", rank, wrong);
    MPI_Finalize();
    return argc != 2 || wrong > 0;
}
