/* A field of a classic netCDF file, written by columns: each process has all of it, side
 * by side with the others' along its last dimension. What is first of three dimensions or
 * more are the records. How it is written hints say, of the environment. Read back by the
 * same columns, and by slabs of the last dimension but one; values are compared.
 *
 *     compress_bench NAME SOURCE VARIABLE FILE [TIMES]
 *     compress_bench-hdf5 NAME SOURCE VARIABLE FILE [TIMES]
 *
 * TIMES: the records are repeated. The second one writes by parallel HDF5, a chunk for
 * each process and record, shuffled and deflated at level 1. A line of output: name,
 * processes, bytes of values, seconds from create to close, from open to close by
 * columns, and by slabs, of the slowest process; the largest difference, of the value. */
#include <math.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

static int rank, nprocs;
static struct {
    bool records; /* else it is one piece */
    int ndims;    /* of one record */
    MPI_Offset n, shape[MOST], length;
    MPI_Offset times;
    float *values, *got;
} field;

static void need(int rc)
{
    if (rc == NC_NOERR) return;
    fprintf(stderr, "compress_bench: %s\n", ncmpi_strerror(rc));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double slowest(double since)
{
    double mine = MPI_Wtime() - since, all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static void read_field(const char *path, const char *name)
{
    int ncid, v, ndims, dims[MOST];
    MPI_Offset shape[MOST] = {1}, all = 1;
    need(ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    need(ncmpi_inq_varid(ncid, name, &v));
    need(ncmpi_inq_varndims(ncid, v, &ndims));
    if (ndims < 2 || ndims > MOST) need(NC_EINVAL);
    need(ncmpi_inq_vardimid(ncid, v, dims));
    for (int i = 0; i < ndims; i++) {
        need(ncmpi_inq_dimlen(ncid, dims[i], &shape[i]));
        all *= shape[i];
    }
    field.records = ndims > 2;
    field.n = field.records ? shape[0] : 1;
    field.ndims = field.records ? ndims - 1 : ndims;
    memcpy(field.shape, shape + field.records,
           (size_t)field.ndims * sizeof field.shape[0]);
    field.length = all / field.n;
    field.values = malloc((size_t)all * sizeof *field.values);
    /* A slab may have a row more than its share. */
    MPI_Offset high = field.shape[field.ndims - 2];
    field.got =
        malloc((size_t)(field.length / high * (high + nprocs)) * sizeof *field.got);
    if (field.values == NULL || field.got == NULL) need(NC_ENOMEM);
    need(ncmpi_get_var_float_all(ncid, v, field.values));
    need(ncmpi_close(ncid));
}

static const float *of_record(MPI_Offset record)
{
    return field.values + record % field.n * field.length;
}

/* This process's columns of a record, or its slab. */
static void mine(MPI_Offset record, bool slab, MPI_Offset *at, MPI_Offset *n)
{
    int last = field.ndims;
    at[0] = record;
    n[0] = 1;
    for (int i = 0; i < field.ndims; i++) {
        at[i + 1] = 0;
        n[i + 1] = field.shape[i];
    }
    if (slab) {
        n[last] *= nprocs;
        at[last - 1] = field.shape[last - 2] * rank / nprocs;
        n[last - 1] = field.shape[last - 2] * (rank + 1) / nprocs - at[last - 1];
    } else {
        at[last] = field.shape[last - 1] * rank;
    }
}

/* The largest difference, as a part of the value, of what was got of a record. */
static double difference(MPI_Offset record, bool slab)
{
    MPI_Offset at[MOST + 1], n[MOST + 1], i = 0;
    mine(record, slab, at, n);
    MPI_Offset columns = field.shape[field.ndims - 1],
               high = field.shape[field.ndims - 2],
               planes = field.length / columns / high;
    const float *is = of_record(record);
    double most = 0;
    for (MPI_Offset p = 0; p < planes; p++)
        for (MPI_Offset y = 0; y < n[field.ndims - 1]; y++)
            for (MPI_Offset x = 0; x < n[field.ndims]; x++, i++) {
                double want = is[(p * high + (slab ? at[field.ndims - 1] : 0) + y) *
                                     columns +
                                 x % columns],
                       off = fabs(field.got[i] - want);
                if (off > most * fabs(want)) most = off / fabs(want);
            }
    return most;
}

#ifndef BENCH_HDF5
static void put_all(const char *path)
{
    int ncid, v, dims[MOST + 1];
    char name[8];
    need(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    need(ncmpi_def_dim(ncid, "record", NC_UNLIMITED, &dims[0]));
    for (int i = 0; i < field.ndims; i++) {
        snprintf(name, sizeof name, "d%d", i);
        need(ncmpi_def_dim(ncid, name,
                           field.shape[i] * (i == field.ndims - 1 ? nprocs : 1),
                           &dims[i + 1]));
    }
    need(ncmpi_def_var(ncid, "v", NC_FLOAT, field.ndims + 1, dims, &v));
    need(ncmpi_enddef(ncid));
    for (MPI_Offset r = 0; r < field.n * field.times; r++) {
        MPI_Offset at[MOST + 1], n[MOST + 1];
        mine(r, false, at, n);
        need(ncmpi_put_vara_float_all(ncid, v, at, n, of_record(r)));
    }
    need(ncmpi_close(ncid));
}

static double get_all(const char *path, bool slab, double *took)
{
    int ncid;
    double most = 0, since = MPI_Wtime(), apart = 0;
    need(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    for (MPI_Offset r = 0; r < field.n * field.times; r++) {
        MPI_Offset at[MOST + 1], n[MOST + 1];
        mine(r, slab, at, n);
        need(ncmpi_get_vara_float_all(ncid, 0, at, n, field.got));
        apart -= MPI_Wtime();
        most = fmax(most, difference(r, slab));
        apart += MPI_Wtime();
    }
    need(ncmpi_close(ncid));
    *took = slowest(since + apart);
    return most;
}
#else
#include <hdf5.h>

#define NEED(call) need((call) < 0 ? NC_EIO : NC_NOERR)

/* One record's part, collectively. */
static void move(hid_t var, hid_t how, MPI_Offset record, bool slab, const float *put)
{
    MPI_Offset at[MOST + 1], n[MOST + 1];
    hsize_t start[MOST + 1], count[MOST + 1];
    mine(record, slab, at, n);
    for (int i = 0; i <= field.ndims; i++) {
        start[i] = (hsize_t)at[i];
        count[i] = (hsize_t)n[i];
    }
    hid_t there = H5Dget_space(var),
          here = H5Screate_simple(field.ndims + 1, count, NULL);
    NEED(H5Sselect_hyperslab(there, H5S_SELECT_SET, start, NULL, count, NULL));
    if (put != NULL)
        NEED(H5Dwrite(var, H5T_NATIVE_FLOAT, here, there, how, put));
    else
        NEED(H5Dread(var, H5T_NATIVE_FLOAT, here, there, how, field.got));
    NEED(H5Sclose(there));
    NEED(H5Sclose(here));
}

static hid_t opened(const char *path, bool make)
{
    hid_t how = H5Pcreate(H5P_FILE_ACCESS);
    NEED(H5Pset_fapl_mpio(how, MPI_COMM_WORLD, MPI_INFO_NULL));
    NEED(H5Pset_libver_bounds(how, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
    hid_t file = make ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, how)
                      : H5Fopen(path, H5F_ACC_RDONLY, how);
    NEED(file);
    NEED(H5Pclose(how));
    return file;
}

static hid_t collective(void)
{
    hid_t how = H5Pcreate(H5P_DATASET_XFER);
    NEED(H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE));
    return how;
}

static void put_all(const char *path)
{
    hsize_t shape[MOST + 1] = {(hsize_t)(field.n * field.times)}, chunk[MOST + 1] = {1};
    for (int i = 0; i < field.ndims; i++) {
        chunk[i + 1] = (hsize_t)field.shape[i];
        shape[i + 1] = chunk[i + 1] * (i == field.ndims - 1 ? (hsize_t)nprocs : 1);
    }
    hid_t file = opened(path, true), how = collective(),
          space = H5Screate_simple(field.ndims + 1, shape, NULL),
          plist = H5Pcreate(H5P_DATASET_CREATE);
    NEED(H5Pset_chunk(plist, field.ndims + 1, chunk));
    NEED(H5Pset_shuffle(plist));
    NEED(H5Pset_deflate(plist, 1));
    NEED(H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER));
    hid_t var =
        H5Dcreate2(file, "v", H5T_IEEE_F32LE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    NEED(var);
    for (MPI_Offset r = 0; r < field.n * field.times; r++)
        move(var, how, r, false, of_record(r));
    NEED(H5Dclose(var));
    NEED(H5Sclose(space));
    NEED(H5Pclose(plist));
    NEED(H5Pclose(how));
    NEED(H5Fclose(file));
}

static double get_all(const char *path, bool slab, double *took)
{
    double most = 0, since = MPI_Wtime(), apart = 0;
    hid_t file = opened(path, false), how = collective(),
          var = H5Dopen2(file, "v", H5P_DEFAULT);
    NEED(var);
    for (MPI_Offset r = 0; r < field.n * field.times; r++) {
        move(var, how, r, slab, NULL);
        apart -= MPI_Wtime();
        most = fmax(most, difference(r, slab));
        apart += MPI_Wtime();
    }
    NEED(H5Dclose(var));
    NEED(H5Pclose(how));
    NEED(H5Fclose(file));
    *took = slowest(since + apart);
    return most;
}
#endif

int main(int argc, char **argv)
{
    double put, columns, slabs, most, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (argc < 5) need(NC_EINVAL);
    read_field(argv[2], argv[3]);
    field.times = argc > 5 ? strtoll(argv[5], NULL, 10) : 1;
    MPI_Barrier(MPI_COMM_WORLD);
    double since = MPI_Wtime();
    put_all(argv[4]);
    put = slowest(since);
    most = get_all(argv[4], false, &columns);
    most = fmax(most, get_all(argv[4], true, &slabs));
    MPI_Reduce(&most, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %d %lld %.3f %.3f %.3f %.1e\n", argv[1], nprocs,
               (long long)(field.n * field.times * field.length * nprocs) * 4, put,
               columns, slabs, all);
    free(field.values);
    free(field.got);
    MPI_Finalize();
    return 0;
}
