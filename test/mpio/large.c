/* Tests offsets beyond 4 GiB and requests larger than 2 GiB, and checks that large
 * requests use little memory. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>

#include "check.h"
#include "pnetcdf.h"

static int create(const char *key, const char *value)
{
    int ncid = -1;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    return ncid;
}

/* Accesses a few elements of a 40 GB variable, nearly all of which is a hole. */
static void elements_far_apart_in_a_large_variable_are_accessed(void)
{
    static const char *const ways[] = {"direct", "view"};
    const MPI_Offset length = 5000000011, step = 800000003;
    for (int way = 0; way < 2; way++) {
        int ncid = create("nc_transfer", ways[way]), x, v;
        double values[6], back[6] = {0};
        MPI_Offset start = check.rank, count = 6, stride = step;
        for (int i = 0; i < 6; i++)
            values[i] = check.rank + i * 10 + 0.5;
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", length, &x));
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_DOUBLE, 1, &x, &v));
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR,
                 ncmpi_put_vars_double_all(ncid, v, &start, &count, &stride, values));
        CHECK_NC(NC_NOERR,
                 ncmpi_get_vars_double_all(ncid, v, &start, &count, &stride, back));
        CHECK_BYTES(values, back, sizeof back);
        for (int i = 0; i < 6; i++) {
            MPI_Offset place = check.rank + i * step;
            back[0] = 0;
            CHECK_NC(NC_NOERR, ncmpi_get_var1_double_all(ncid, v, &place, back));
            CHECK(back[0] == values[i]);
        }
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Returns whether both the file system and the memory have more than twice this number of
 * gigabytes free. Process 0 decides for all processes. */
static bool room_for(int gigabytes)
{
    struct statvfs fs;
    char line[256];
    long long kilobytes = 0, wanted = gigabytes * 1048576LL, value;
    FILE *f = fopen("/proc/meminfo", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "MemAvailable: %lld kB", &value) == 1) kilobytes = value;
    if (f != NULL) fclose(f);
    int ok = statvfs(check_path(""), &fs) == 0 && kilobytes > 2 * wanted &&
             (long long)(fs.f_bavail * (fs.f_frsize / 1024)) > 2 * wanted;
    MPI_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return ok;
}

/* One process puts more than 2^31 bytes in one call. Nearly the whole buffer consists of
 * zero pages, which use no memory. */
static void one_request_may_exceed_2_gib(void)
{
    const MPI_Offset n = (1LL << 29) + 1000003; /* number of ints to put */
    MPI_Offset places[] = {0, 1, 1 << 28, (1 << 29) - 1, 1 << 29, n - 1};
    enum { PLACES = sizeof places / sizeof places[0] };
    if (!room_for(3)) {
        check_skip("no room for 3 GiB");
        return;
    }
    int ncid = create("nc_ibuf_size", "1048576"), x, v;
    MPI_Offset start = 0, count = check.rank == 0 ? n : 0;
    int *values = mmap(NULL, (size_t)n * sizeof *values, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!CHECK(values != MAP_FAILED)) return;
    for (int i = 0; i < PLACES; i++)
        values[places[i]] = i + 1;
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", n, &x));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 1, &x, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
    for (int i = 0; i < PLACES; i++) {
        int around[3] = {-1, -1, -1};
        MPI_Offset s = places[i] > 0 && places[i] < n - 1 ? places[i] - 1 : places[i];
        MPI_Offset c = s < places[i] ? 3 : 1;
        CHECK_EQ(i + 1, values[places[i]]);
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, &s, &c, around));
        CHECK_EQ(i + 1, around[places[i] - s]);
    }
    MPI_Offset most = 0;
    if (ncmpi_inq_malloc_max_size(&most) == NC_NOERR) CHECK(most < 64 << 20);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    munmap(values, (size_t)n * sizeof *values);
}

/* The memory used for packing must be limited, regardless of the request's size and the
 * transfer method. */
static void the_memory_for_packing_is_limited(void)
{
    enum { N = 6 << 20 };
    static const char *const ways[] = {"direct", "view"};
    int *values = malloc(N * sizeof *values);
    for (int i = 0; i < N; i++)
        values[i] = i % 1000;
    for (int way = 0; way < 2; way++) {
        MPI_Info info;
        int ncid = -1, x, v;
        MPI_Offset start = check.rank, count = N, stride = check.nprocs, before, after;
        if (ncmpi_inq_malloc_max_size(&before) != NC_NOERR) {
            check_skip("memory is not counted in this build");
            break;
        }
        MPI_Info_create(&info);
        MPI_Info_set(info, "nc_ibuf_size", "1048576");
        MPI_Info_set(info, "nc_transfer", ways[way]);
        CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode,
                                        info, &ncid));
        MPI_Info_free(&info);
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", (MPI_Offset)N * check.nprocs, &x));
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_DOUBLE, 1, &x, &v));
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        if (way == 0) { /* one contiguous run per process */
            start = (MPI_Offset)N * check.rank;
            stride = 1;
        }
        CHECK_NC(NC_NOERR,
                 ncmpi_put_vars_int_all(ncid, v, &start, &count, &stride, values));
        CHECK_NC(NC_NOERR, ncmpi_inq_malloc_max_size(&after));
        CHECK(after < 16 << 20); /* much less than the 48 MiB that each process puts */
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(values);
}

static const struct check_test tests[] = {
    {"elements far apart in a large variable are accessed",
     elements_far_apart_in_a_large_variable_are_accessed, 0},
    {"the memory for packing is limited", the_memory_for_packing_is_limited, 0},
    {"one request may exceed 2 GiB", one_request_may_exceed_2_gib, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "2");
}
