/* A typical program for serial netCDF that does not use MPI. It writes a CDF-1 and a
 * CDF-2 file with mapped, strided and text puts, redefines each file, and prints the
 * values that it reads back. serial_programs.sh compiles this program with netCDF's
 * netcdf.h and with ours. Both programs must print the same output and write the same
 * files. Usage: ocean FILE. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>

enum { NX = 6, NY = 4 };

static void check(int status, int line)
{
    if (status == NC_NOERR) return;
    printf("line %d: %s\n", line, nc_strerror(status));
    exit(1);
}
#define CHECK(call) check(call, __LINE__)

static void define(int file, int *depth, int *temp, int *flag, int *name)
{
    int x, y, t, dims[NC_MAX_VAR_DIMS], old;
    double range[2] = {-2.0, 40.5};
    int none = -9;
    CHECK(nc_def_dim(file, "x", NX, &x));
    CHECK(nc_def_dim(file, "y", NY, &y));
    CHECK(nc_def_dim(file, "time", NC_UNLIMITED, &t));
    dims[0] = t, dims[1] = y, dims[2] = x;
    CHECK(nc_def_var(file, "depth", NC_SHORT, 2, dims + 1, depth));
    CHECK(nc_def_var(file, "temp", NC_FLOAT, 3, dims, temp));
    CHECK(nc_def_var(file, "flag", NC_INT, 1, dims, flag));
    CHECK(nc_def_var(file, "name", NC_CHAR, 1, &x, name));
    CHECK(nc_put_att_text(file, NC_GLOBAL, "title", 5, "ocean"));
    CHECK(nc_put_att_double(file, *temp, "valid_range", NC_FLOAT, 2, range));
    CHECK(nc_put_att_int(file, *flag, _FillValue, NC_INT, 1, &none));
    CHECK(nc_set_fill(file, NC_FILL, &old));
    CHECK(nc_enddef(file));
}

static void write_values(int file, int depth, int temp, int flag, int name)
{
    size_t start[3] = {0, 1, 2}, count[3] = {1, 2, 3}, at = 4, corner[2] = {0, 0},
           all[2] = {NY, 3};
    ptrdiff_t stride[2] = {1, 2}, map[2] = {1, NY};
    float block[6] = {1.5f, 2, 3, 4, 5, 6};
    int column[3 * NY];
    for (int i = 0; i < 3 * NY; i++)
        column[i] = 100 + i;
    CHECK(nc_put_varm_int(file, depth, corner, all, stride, map, column));
    CHECK(nc_put_vara_float(file, temp, start, count, block));
    start[0] = 2; /* record 1 is never put, so it is filled */
    CHECK(nc_put_vara_float(file, temp, start, count, block));
    CHECK(nc_put_var1_int(file, flag, &at, (int[]){3}));
    CHECK(nc_put_var_text(file, name, "pacifi"));
    signed char small[3 * NY];
    int status = nc_get_var_schar(file, flag, small); /* 3 and -9 are in range */
    printf("fits: %d, %d\n", status, small[4]);
    printf("too large: %d\n", nc_put_var1_double(file, flag, &at, (double[]){1e20}));
    CHECK(nc_put_var1_int(file, flag, &at, (int[]){-7}));
}

static void create(const char *path, int format)
{
    int file, depth, temp, flag, name, again;
    CHECK(nc_create(path, NC_CLOBBER | format, &file));
    define(file, &depth, &temp, &flag, &name);
    write_values(file, depth, temp, flag, name);
    CHECK(nc_redef(file));
    CHECK(nc_rename_att(file, NC_GLOBAL, "title", "name"));
    CHECK(nc_def_var(file, "again", NC_DOUBLE, 0, NULL, &again));
    CHECK(nc_enddef(file));
    CHECK(nc_put_var_double(file, again, (double[]){0.125}));
    CHECK(nc_sync(file));
    CHECK(nc_close(file));
}

static void report(const char *path)
{
    int file, ndims, nvars, natts, unlimited, id;
    char name[NC_MAX_NAME + 1];
    CHECK(nc_open(path, NC_NOWRITE, &file));
    CHECK(nc_inq(file, &ndims, &nvars, &natts, &unlimited));
    printf("%d %d %d %d\n", ndims, nvars, natts, unlimited);
    for (int d = 0; d < ndims; d++) {
        size_t len;
        CHECK(nc_inq_dim(file, d, name, &len));
        printf("%s %zu\n", name, len);
    }
    for (int v = 0; v < nvars; v++) {
        nc_type type;
        int n, dims[NC_MAX_VAR_DIMS], atts;
        CHECK(nc_inq_var(file, v, name, &type, &n, dims, &atts));
        printf("%s %d %d %d\n", name, type, n, atts);
    }
    double values[5 * NY * NX], sum = 0;
    CHECK(nc_inq_varid(file, "temp", &id));
    CHECK(nc_get_var_double(file, id, values));
    for (int i = 0; i < 5 * NY * NX; i++)
        sum += values[i] < 100 ? values[i] : 0.01;
    printf("%g\n", sum);
    printf("errors %d %d %d\n", nc_inq_varid(file, "none", &id), nc_redef(file),
           nc_put_var_double(file, 0, values));
    CHECK(nc_close(file));
    printf("closed %d, missing %s\n", nc_close(file),
           nc_open("no-such-file.nc", 0, &file) == NC_NOERR ? "no" : "yes");
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    for (int format = 0; format < 2; format++) {
        create(argv[1], format == 1 ? NC_64BIT_OFFSET : 0);
        report(argv[1]);
    }
    return 0;
}
