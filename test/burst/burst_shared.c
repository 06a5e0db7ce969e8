/* Writes a log that several PnetCDF processes share, for ncmpilog to replay. Both the
 * metadata and the values are longer than a block of 8 MiB.
 *
 *     burst_shared write FILE LOGS   creates a dataset, and the log of two processes
 *     burst_shared check FILE        checks that the logged values are in the dataset */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"
#include "pnetcdf_log.h"

enum { RANKS = 2, SHARE = 1100003, FIRST = 1000001, SMALL = 140009 };

static void need(int rc, const char *what)
{
    if (rc == NC_NOERR) return;
    fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(rc));
    exit(3);
}

/* Returns `n` doubles that depend only on the seed and in which all bits vary. */
static double *values_of(int n, unsigned seed)
{
    double *values = malloc((size_t)n * sizeof *values);
    if (values == NULL) exit(3);
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = (double)seed / 7 - 1e8;
    }
    return values;
}

static void write_dataset(const char *path)
{
    int ncid, dims[2], v;
    need(ncmpi_create(MPI_COMM_SELF, path, NC_64BIT_DATA, MPI_INFO_NULL, &ncid),
         "create");
    need(ncmpi_def_dim(ncid, "x", RANKS * SHARE, &dims[0]), "def_dim");
    need(ncmpi_def_dim(ncid, "y", SMALL, &dims[1]), "def_dim");
    need(ncmpi_def_var(ncid, "large", NC_DOUBLE, 1, &dims[0], &v), "def_var");
    need(ncmpi_def_var(ncid, "small", NC_INT, 1, &dims[1], &v), "def_var");
    need(ncmpi_close(ncid), "close");
}

static void write_log(const char *path, const char *dir)
{
    struct pnetcdf_log l;
    char name[1000];
    double *values = values_of(RANKS * SHARE, 7);
    snprintf(name, sizeof name, "%s/a.nc_3_0", dir);
    pnetcdf_log_start(&l, name, path, 0, RANKS, RANKS);
    for (int s = 0; s < RANKS; s++) {
        int64_t start = (int64_t)s * SHARE, count = FIRST;
        pnetcdf_log_put(&l, s, PNETCDF_DOUBLE, 0, 1, &start, &count, NULL, values + start,
                        count * (int64_t)sizeof *values);
        start += count;
        count = SHARE - FIRST;
        pnetcdf_log_put(&l, s, PNETCDF_DOUBLE, 0, 1, &start, &count, NULL, values + start,
                        count * (int64_t)sizeof *values);
    }
    for (int64_t i = 0, one = 1; i < SMALL; i++) {
        int value = (int)(i * i % 1000003 - 500000);
        pnetcdf_log_put(&l, 1, PNETCDF_INT, 1, 1, &i, &one, NULL, &value, sizeof value);
    }
    pnetcdf_log_end(&l);
    free(values);
}

static int check(const char *path)
{
    double *values = values_of(RANKS * SHARE, 7), *large = values_of(RANKS * SHARE, 8);
    int *small = calloc(SMALL, sizeof *small), ncid;
    if (small == NULL) exit(3);
    need(ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    need(ncmpi_get_var_double_all(ncid, 0, large), "get");
    need(ncmpi_get_var_int_all(ncid, 1, small), "get");
    need(ncmpi_close(ncid), "close");
    int wrong = memcmp(values, large, RANKS * SHARE * sizeof *values) != 0;
    for (int64_t i = 0; i < SMALL; i++)
        wrong |= small[i] != (int)(i * i % 1000003 - 500000);
    free(values);
    free(large);
    free(small);
    return wrong;
}

int main(int argc, char **argv)
{
    int status = 2;
    MPI_Init(&argc, &argv);
    if (argc == 4 && strcmp(argv[1], "write") == 0) {
        write_dataset(argv[2]);
        write_log(argv[2], argv[3]);
        status = 0;
    } else if (argc == 3 && strcmp(argv[1], "check") == 0) {
        status = check(argv[2]);
    }
    MPI_Finalize();
    return status;
}
