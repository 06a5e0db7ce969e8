/* Epochs over a dataset, samples in random order, another one each time: seconds of each
 * epoch, without a stage, with one, and with one that was filled before; and a loop over
 * records that computes as long as it reads. benchmarks/stage_run has the source slow.
 * Built with parallel HDF5, the epochs of that, too, contiguous, and in chunks of a
 * sample which its cache has room for.
 *
 *     stage_bench FILE DIRECTORY [MIBYTES [SAMPLE_KIBYTES]] */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pnetcdf.h"
#include "pnetcdf_ext.h"

enum { EPOCHS = 4 };

static int rank, nprocs;
static MPI_Offset samples, length; /* of them, and doubles of each */

static void need(int rc)
{
    if (rc == NC_NOERR) return;
    fprintf(stderr, "stage_bench: %s\n", ncmpi_strerror(rc));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void make(const char *path, double *values)
{
    int ncid, dims[2], v;
    need(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    need(ncmpi_def_dim(ncid, "sample", NC_UNLIMITED, &dims[0]));
    need(ncmpi_def_dim(ncid, "x", length, &dims[1]));
    need(ncmpi_def_var(ncid, "v", NC_DOUBLE, 2, dims, &v));
    need(ncmpi_enddef(ncid));
    need(ncmpi_begin_indep_data(ncid));
    for (MPI_Offset at[2] = {rank, 0}, n[2] = {1, length}; at[0] < samples;
         at[0] += nprocs) {
        for (MPI_Offset i = 0; i < length; i++)
            values[i] = (double)(at[0] * length + i);
        need(ncmpi_put_vara_double(ncid, v, at, n, values));
    }
    need(ncmpi_end_indep_data(ncid));
    need(ncmpi_close(ncid));
}

static int open_it(const char *path, const char *directory, int staged)
{
    int ncid;
    MPI_Info info;
    MPI_Info_create(&info);
    if (staged) MPI_Info_set(info, "nc_stage", "enable");
    MPI_Info_set(info, "nc_stage_dirname", directory);
    MPI_Info_set(info, "nc_statistics", "enable");
    need(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &ncid));
    MPI_Info_free(&info);
    return ncid;
}

static double from_file(int ncid)
{
    char text[MPI_MAX_INFO_VAL + 1] = "0";
    int there;
    double mine, all;
    MPI_Info info;
    need(ncmpi_inq_file_info(ncid, &info));
    MPI_Info_get(info, "nc_stat_file_read_bytes", MPI_MAX_INFO_VAL, text, &there);
    MPI_Info_free(&info);
    mine = strtod(text, NULL);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* Of a file that is younger than this nodes exchange nothing. */
static void age(void)
{
    enum { YOUNG = 12 };
    MPI_Comm node;
    int n;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    MPI_Comm_free(&node);
    if (n < nprocs) sleep(YOUNG);
}

static double slowest(double since)
{
    double mine = MPI_Wtime() - since, all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

/* The same order on all processes; each takes its share of it. */
static void shuffle(int number, MPI_Offset *order)
{
    unsigned seed = 1000U + (unsigned)number;
    for (MPI_Offset i = 0; i < samples; i++)
        order[i] = i;
    for (MPI_Offset i = samples - 1; i > 0; i--) {
        MPI_Offset j = rand_r(&seed) % (i + 1), at = order[i];
        order[i] = order[j];
        order[j] = at;
    }
}

static void check_sample(MPI_Offset sample, const double *values)
{
    if (values[length - 1] != (double)(sample * length + length - 1)) need(NC_EREAD);
}

static void epoch(int ncid, int number, double *values, MPI_Offset *order)
{
    shuffle(number, order);
    for (MPI_Offset i = rank; i < samples; i += nprocs) {
        const MPI_Offset at[2] = {order[i], 0}, n[2] = {1, length};
        need(ncmpi_get_vara_double(ncid, 0, at, n, values));
        check_sample(order[i], values);
    }
}

static void run(const char *name, const char *path, const char *directory, int staged,
                int before, double *values, MPI_Offset *order)
{
    int ncid = open_it(path, directory, staged);
    need(ncmpi_begin_indep_data(ncid)); /* it looks at the file, which is new */
    double since = MPI_Wtime();
    if (before) need(ncmpix_prefetch(ncid, NC_GLOBAL, NULL, NULL));
    need(ncmpix_prefetch_wait(ncid));
    double filled = slowest(since);
    if (rank == 0) printf("%-12s", name);
    if (rank == 0 && before) printf(" staging %6.3f s;", filled);
    for (int i = 0; i < EPOCHS; i++) {
        double bytes = from_file(ncid);
        since = MPI_Wtime();
        epoch(ncid, i, values, order);
        double took = slowest(since);
        bytes = from_file(ncid) - bytes;
        if (rank == 0) printf(" %6.3f s (%4.0f MiB)", took, bytes / 1048576);
    }
    if (rank == 0) printf("\n");
    need(ncmpi_end_indep_data(ncid));
    need(ncmpi_close(ncid));
}

#ifdef BENCH_HDF5
#include <hdf5.h>

#define NEED(call) need((call) < 0 ? NC_EIO : NC_NOERR)

/* One sample, of the file and in memory. */
static void move_sample(hid_t var, MPI_Offset sample, bool write, double *values)
{
    const hsize_t at[2] = {(hsize_t)sample, 0}, n[2] = {1, (hsize_t)length};
    hid_t there = H5Dget_space(var), here = H5Screate_simple(2, n, NULL);
    NEED(H5Sselect_hyperslab(there, H5S_SELECT_SET, at, NULL, n, NULL));
    if (write)
        NEED(H5Dwrite(var, H5T_NATIVE_DOUBLE, here, there, H5P_DEFAULT, values));
    else
        NEED(H5Dread(var, H5T_NATIVE_DOUBLE, here, there, H5P_DEFAULT, values));
    NEED(H5Sclose(there));
    NEED(H5Sclose(here));
}

static void make_hdf5(const char *path, hid_t how, bool chunked, double *values)
{
    const hsize_t shape[2] = {(hsize_t)samples, (hsize_t)length},
                  chunk[2] = {1, (hsize_t)length};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, how),
          space = H5Screate_simple(2, shape, NULL), plist = H5Pcreate(H5P_DATASET_CREATE);
    NEED(file);
    if (chunked) NEED(H5Pset_chunk(plist, 2, chunk));
    hid_t var =
        H5Dcreate2(file, "v", H5T_IEEE_F64BE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    NEED(var);
    for (MPI_Offset s = rank; s < samples; s += nprocs) {
        for (MPI_Offset i = 0; i < length; i++)
            values[i] = (double)(s * length + i);
        move_sample(var, s, true, values);
    }
    NEED(H5Dclose(var));
    NEED(H5Sclose(space));
    NEED(H5Pclose(plist));
    NEED(H5Fclose(file));
}

static void run_hdf5(const char *name, const char *path, bool chunked, double *values,
                     MPI_Offset *order)
{
    hid_t how = H5Pcreate(H5P_FILE_ACCESS), cache = H5Pcreate(H5P_DATASET_ACCESS);
    NEED(H5Pset_fapl_mpio(how, MPI_COMM_WORLD, MPI_INFO_NULL));
    make_hdf5(path, how, chunked, values);
    if (chunked)
        NEED(H5Pset_chunk_cache(cache, (size_t)samples * 100 + 1,
                                (size_t)(samples * length) * sizeof *values, 0));
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, how);
    NEED(file);
    hid_t var = H5Dopen2(file, "v", cache);
    NEED(var);
    if (rank == 0) printf("%-12s", name);
    for (int e = 0; e < EPOCHS; e++) {
        double since = MPI_Wtime();
        shuffle(e, order);
        for (MPI_Offset i = rank; i < samples; i += nprocs) {
            move_sample(var, order[i], false, values);
            check_sample(order[i], values);
        }
        double took = slowest(since);
        if (rank == 0) printf(" %6.3f s           ", took);
    }
    if (rank == 0) printf("\n");
    NEED(H5Dclose(var));
    NEED(H5Fclose(file));
    NEED(H5Pclose(how));
    NEED(H5Pclose(cache));
}

static void compare(const char *path, double *values, MPI_Offset *order)
{
    char other[4096];
    snprintf(other, sizeof other, "%s.h5", path);
    run_hdf5("HDF5", other, false, values, order);
    run_hdf5("HDF5, cache", other, true, values, order);
}
#endif

/* One record after the other, and as much computing behind each as reading one takes. */
static void forcing(const char *path, const char *directory, int staged, double compute,
                    double *values)
{
    int ncid = open_it(path, directory, staged);
    double reading = 0;
    for (MPI_Offset at[2] = {0, 0}, n[2] = {1, length}; at[0] < samples; at[0]++) {
        double since = MPI_Wtime();
        need(ncmpi_get_vara_double_all(ncid, 0, at, n, values));
        reading += MPI_Wtime() - since;
        usleep((useconds_t)(compute * 1e6));
    }
    if (rank == 0)
        printf("%-12s %6.3f s of reading\n", staged ? "staged" : "not staged", reading);
    need(ncmpi_close(ncid));
}

/* The local copy by pread. */
static void plain(const char *path, double *values)
{
    FILE *f = fopen(path, "r");
    int fd = f == NULL ? -1 : fileno(f);
    double since = MPI_Wtime();
    for (MPI_Offset i = rank; i < samples && fd >= 0; i += nprocs)
        if (pread(fd, values, (size_t)length * 8, (off_t)(i * length * 8)) < 0)
            need(NC_EREAD);
    double took = slowest(since);
    if (rank == 0) printf("%-12s %6.3f s\n", "by pread", took);
    if (f != NULL) fclose(f);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (argc < 3) need(NC_EINVAL);
    MPI_Offset bytes = (argc > 3 ? strtoll(argv[3], NULL, 10) : 64) << 20,
               sample = (argc > 4 ? strtoll(argv[4], NULL, 10) : 1024) << 10;
    length = sample / 8;
    samples = bytes / sample;
    double *values = malloc((size_t)sample);
    MPI_Offset *order = malloc((size_t)samples * sizeof *order);
    const char *rate = getenv("SLOW_READ_MBS");
    if (values == NULL || order == NULL) {
        fprintf(stderr, "stage_bench: no memory\n");
        free(values);
        free(order);
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
    make(argv[1], values);
    age();
    if (rank == 0)
        printf("%d processes, %lld samples of %lld KiB\n", nprocs, (long long)samples,
               (long long)(sample >> 10));
    run("not staged", argv[1], argv[2], 0, 0, values, order);
    run("staged", argv[1], argv[2], 1, 0, values, order);
    run("prestaged", argv[1], argv[2], 1, 1, values, order);
#ifdef BENCH_HDF5
    compare(argv[1], values, order);
#endif
    if (argc > 5) plain(argv[5], values);
    double compute = rate == NULL ? 0 : (double)sample / (strtod(rate, NULL) * 1e6);
    forcing(argv[1], argv[2], 0, compute, values);
    forcing(argv[1], argv[2], 1, compute, values);
    free(values);
    free(order);
    MPI_Finalize();
    return 0;
}
