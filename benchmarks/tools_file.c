/* tools_file FILE MIB: a CDF-5 file with so much of double, float, int and short values,
 * of fixed size and in records, to time tools with. tools_file FILE 0 N: a file of N
 * scalars with two attributes each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pnetcdf.h>

enum { ROW = 1024, ROWS = 256 };

static void must(int err)
{
    if (err == NC_NOERR) return;
    fprintf(stderr, "tools_file: %s\n", ncmpi_strerror(err));
    exit(1);
}

/* As many digits as measured or computed values have. */
static void fill(double *values, int v, long long row)
{
    unsigned long long state = (unsigned long long)row * 4 + (unsigned)v;
    for (int i = 0; i < ROW * ROWS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        values[i] = 280 + 30 * sin((double)i / 700) + ldexp((double)(state >> 40), -24);
    }
}

static void put_values(int ncid, const int *varids, const long long *rows)
{
    static double values[ROW * ROWS];
    for (int v = 0; v < 4; v++)
        for (long long row = 0; row < rows[v]; row += ROWS) {
            MPI_Offset start[2] = {row, 0}, count[2] = {ROWS, ROW};
            if (rows[v] - row < ROWS) count[0] = rows[v] - row;
            fill(values, v, row);
            must(ncmpi_put_vara_double_all(ncid, varids[v], start, count, values));
        }
}

static void make_values(int ncid, long long mib)
{
    static const struct {
        const char *name;
        nc_type type;
        int size;
        int records;
    } vars[] = {{"temp", NC_DOUBLE, 8, 0},
                {"salt", NC_FLOAT, 4, 0},
                {"mask", NC_INT, 4, 1},
                {"ssh", NC_SHORT, 2, 1}};
    int dims[3], varids[4];
    const long long records = mib * 256 / 6; /* a quarter of all in both */
    const long long rows[4] = {mib * 64, mib * 64, records, records};
    must(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
    must(ncmpi_def_dim(ncid, "lat", mib * 64, &dims[1]));
    must(ncmpi_def_dim(ncid, "lon", ROW, &dims[2]));
    for (int v = 0; v < 4; v++) {
        const int ids[2] = {vars[v].records ? dims[0] : dims[1], dims[2]};
        must(ncmpi_def_var(ncid, vars[v].name, vars[v].type, 2, ids, &varids[v]));
    }
    must(ncmpi_enddef(ncid));
    put_values(ncid, varids, rows);
}

static void make_header(int ncid, int n)
{
    for (int i = 0; i < n; i++) {
        char name[32];
        int varid;
        snprintf(name, sizeof name, "variable_%d", i);
        must(ncmpi_def_var(ncid, name, NC_DOUBLE, 0, NULL, &varid));
        must(ncmpi_put_att_text(ncid, varid, "units", 7, "m per s"));
        must(ncmpi_put_att_double(ncid, varid, "valid_range", NC_DOUBLE, 2,
                                  (const double[]){-1.5, 1e5 / 3}));
    }
    must(ncmpi_enddef(ncid));
}

int main(int argc, char **argv)
{
    int ncid;
    if (argc != 3 && argc != 4) return 1;
    MPI_Init(&argc, &argv);
    must(ncmpi_create(MPI_COMM_SELF, argv[1], NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                      &ncid));
    if (argc == 3)
        make_values(ncid, strtoll(argv[2], NULL, 10));
    else
        make_header(ncid, (int)strtol(argv[3], NULL, 10));
    must(ncmpi_close(ncid));
    MPI_Finalize();
    return 0;
}
