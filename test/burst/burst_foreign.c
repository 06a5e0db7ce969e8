/* Writes logs in the format that PnetCDF's published grammar describes (version 0),
 * independently of the library. ncmpilog then replays them.
 *
 *     burst_foreign write FILE LOGS   creates a dataset, and the logs of three processes
 *     burst_foreign far FILE LOGS     creates a dataset, and a log with a record number
 *                                     beyond the format's limit
 *     burst_foreign check FILE        checks that the logged values are in the dataset */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

enum { VAR = -1, VAR1 = -2, VARA = -3, VARS = -4 }; /* values of api_kind */
enum { SHORT = 4, INT = 6, FLOAT = 8, DOUBLE = 9 }; /* values of itype */
enum { RANKS = 3, ROWS = 4, COLUMNS = 6 };

static void need(int rc, const char *what)
{
    if (rc == NC_NOERR) return;
    fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(rc));
    exit(3);
}

/* ---- a log ---- */

static struct {
    FILE *meta, *data;
    int64_t data_off;
} made;

static void put32(int32_t v)
{
    if (fwrite(&v, sizeof v, 1, made.meta) != 1) exit(3);
}

static void put64(int64_t v)
{
    if (fwrite(&v, sizeof v, 1, made.meta) != 1) exit(3);
}

static void put_name(const char *name)
{
    put32((int32_t)strlen(name));
    fputs(name, made.meta);
    while (ftell(made.meta) % 4 != 0)
        fputc(0, made.meta);
}

static void start_log(const char *dir, int rank, int ranks, int entries, bool external)
{
    static const char base[] = "a.nc", node[] = "node7.site"; /* padded to 8 and 16
                                                               * bytes */
    const uint16_t one = 1;
    char path[1000];
    snprintf(path, sizeof path, "%s/a.nc_1_%d.meta", dir, rank);
    made.meta = fopen(path, "wb");
    snprintf(path, sizeof path, "%s/a.nc_1_%d.data", dir, rank);
    made.data = fopen(path, "wb");
    if (made.meta == NULL || made.data == NULL) exit(3);
    fputs("PnetCDF0CDF2", made.meta);
    put32(0);
    put32(*(const unsigned char *)&one == 0);
    put32(external);
    put64(ranks);
    put64(rank);
    put64(2); /* maximum number of dimensions */
    put64(entries);
    put64(64 + 8 + 16); /* offset of the first entry */
    put_name(base);
    put_name(node);
    fputs("PnetCDF0", made.data);
    made.data_off = 8;
}

static void add(int kind, int itype, int varid, int ndims, const int64_t *numbers, int n,
                const void *values, size_t bytes)
{
    put64(40 + 8 * n);
    put32(kind);
    put32(itype);
    put32(varid);
    put32(ndims);
    put64(made.data_off);
    put64((int64_t)bytes);
    for (int i = 0; i < n; i++)
        put64(numbers[i]);
    if (fwrite(values, 1, bytes, made.data) != bytes) exit(3);
    made.data_off += (int64_t)bytes;
}

static void end_log(void)
{
    if (fclose(made.meta) != 0 || fclose(made.data) != 0) exit(3);
}

/* ---- logged values ---- */

static void write_logs(const char *dir)
{
    start_log(dir, 0, RANKS, 2, false);
    static const int64_t row[] = {0, 0, 1, COLUMNS};
    static const int ints[COLUMNS] = {1, 2, 3, 4, 5, 6};
    add(VARA, INT, 0, 2, row, 4, ints, sizeof ints);
    static const int64_t odd[] = {1, 1, 1, 3, 1, 2};
    static const double doubles[] = {-1.5, 1e5, 7};
    add(VARS, DOUBLE, 0, 2, odd, 6, doubles, sizeof doubles);
    end_log();

    start_log(dir, 1, RANKS, 3, false);
    static const int64_t two[] = {2, 0, 2, 3, 1, 2, 1, 3}; /* starts, then counts */
    static const short shorts[] = {21, 22, 31, 32, 33};
    add(2, SHORT, 0, 2, two, 8, shorts, sizeof shorts);
    static const int64_t last[] = {ROWS - 1, COLUMNS - 1, 1, 1};
    static const int corner = 99;
    add(VAR1, INT, 0, 2, last, 4, &corner, sizeof corner);
    static const int64_t whole[] = {0, COLUMNS};
    static const float floats[COLUMNS] = {0.5F, 1.5F, 2.5F, 3.5F, 4.5F, 5.5F};
    add(VAR, FLOAT, 1, 1, whole, 2, floats, sizeof floats);
    end_log();

    start_log(dir, 2, RANKS, 1,
              true); /* values as in the file: big-endian, 2 bytes each */
    static const int64_t record[] = {2, 1, 1, 2};
    static const unsigned char bytes[] = {1, 2, 0xff, 0xfe};
    add(VARA, SHORT, 2, 2, record, 4, bytes, sizeof bytes);
    end_log();
}

/* Logs a put beyond the last record that CDF-2 can represent. */
static void write_far(const char *dir)
{
    static const int64_t record[] = {((int64_t)1 << 32) - 2, 1, 1, 2};
    static const short shorts[] = {1, 2};
    start_log(dir, 0, 1, 1, false);
    add(VARA, SHORT, 2, 2, record, 4, shorts, sizeof shorts);
    end_log();
}

static void write_all(const char *path, const char *dir, void (*write)(const char *dir))
{
    int ncid, dims[3], v, zeros[ROWS * COLUMNS] = {0};
    need(ncmpi_create(MPI_COMM_SELF, path, NC_64BIT_OFFSET, MPI_INFO_NULL, &ncid),
         "create");
    need(ncmpi_def_dim(ncid, "y", ROWS, &dims[0]), "def_dim");
    need(ncmpi_def_dim(ncid, "x", COLUMNS, &dims[1]), "def_dim");
    need(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[2]), "def_dim");
    int record[2] = {dims[2], dims[1]};
    need(ncmpi_def_var(ncid, "i", NC_INT, 2, dims, &v), "def_var");
    need(ncmpi_def_var(ncid, "f", NC_FLOAT, 1, &dims[1], &v), "def_var");
    need(ncmpi_def_var(ncid, "s", NC_SHORT, 2, record, &v), "def_var");
    need(ncmpi_enddef(ncid), "enddef");
    need(ncmpi_put_var_int_all(ncid, 0, zeros), "put");
    need(ncmpi_close(ncid), "close");
    write(dir);
}

/* ---- checks ---- */

static int check_all(const char *path)
{
    static const int rows[ROWS][COLUMNS] = {{1, 2, 3, 4, 5, 6},
                                            {0, -1, 0, 100000, 0, 7},
                                            {21, 22, 0, 31, 32, 33},
                                            {0, 0, 0, 0, 0, 99}};
    int ncid, i[ROWS][COLUMNS], wrong = 0;
    short s[2] = {0, 0};
    float f[COLUMNS];
    MPI_Offset start[2] = {2, 1}, count[2] = {1, 2}, records = 0;
    need(ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    need(ncmpi_inq_dimlen(ncid, 2, &records), "inq_dimlen");
    need(ncmpi_get_var_int_all(ncid, 0, &i[0][0]), "get");
    need(ncmpi_get_var_float_all(ncid, 1, f), "get");
    if (records == 3) need(ncmpi_get_vara_short_all(ncid, 2, start, count, s), "get");
    need(ncmpi_close(ncid), "close");
    wrong |= memcmp(i, rows, sizeof rows) != 0;
    for (int k = 0; k < COLUMNS; k++)
        wrong |= f[k] != (float)k + 0.5F;
    wrong |= s[0] != 0x102 || s[1] != -2;
    return wrong;
}

int main(int argc, char **argv)
{
    int status = 2;
    MPI_Init(&argc, &argv);
    if (argc == 4 && strcmp(argv[1], "write") == 0) {
        write_all(argv[2], argv[3], write_logs);
        status = 0;
    } else if (argc == 4 && strcmp(argv[1], "far") == 0) {
        write_all(argv[2], argv[3], write_far);
        status = 0;
    } else if (argc == 3 && strcmp(argv[1], "check") == 0) {
        status = check_all(argv[2]);
    }
    MPI_Finalize();
    return status;
}
