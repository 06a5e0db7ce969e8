/* A typical program for serial netCDF: it writes pressure and temperature on a
 * four-dimensional grid, with coordinates and attributes, one time step at a time. Then
 * it reads a part of the values with a map and strides, and prints their sum.
 * serial_programs.sh compiles this program with netCDF's netcdf.h and with ours. Both
 * programs must print the same output and write the same file. Usage: weather [FILE]. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEVELS = 2, LATS = 6, LONS = 12, STEPS = 3 };
enum { TIME, LEVEL, LAT, LON, DIMS };

static void check(int err, int line)
{
    if (err == NC_NOERR) return;
    printf("line %d: %s\n", line, nc_strerror(err));
    exit(2);
}
#define CHECK(call) check(call, __LINE__)

static float pressure[LEVELS][LATS][LONS], temperature[LEVELS][LATS][LONS];

static void text(int nc, int var, const char *name, size_t n, const char *value)
{
    CHECK(nc_put_att_text(nc, var, name, n, value));
}

static void fields(size_t step)
{
    for (int k = 0; k < LEVELS; k++)
        for (int j = 0; j < LATS; j++)
            for (int i = 0; i < LONS; i++) {
                pressure[k][j][i] =
                    900.0F + (float)(100 * step + k * LATS * LONS + j * LONS + i);
                temperature[k][j][i] = 9.0F + 0.25F * (float)(k + j * i) - (float)step;
            }
}

static void coordinate(int nc, const char *name, int dim, const char *units, size_t len,
                       int *var)
{
    CHECK(nc_def_var(nc, name, NC_FLOAT, 1, &dim, var));
    text(nc, *var, "units", len, units);
}

static void make(const char *path)
{
    int nc, dims[DIMS], lat, lon, pres, temp;
    float lats[LATS], lons[LONS];
    const float range[2] = {-90, 60};
    CHECK(nc_create(path, NC_CLOBBER, &nc));
    CHECK(nc_def_dim(nc, "level", LEVELS, &dims[LEVEL]));
    CHECK(nc_def_dim(nc, "latitude", LATS, &dims[LAT]));
    CHECK(nc_def_dim(nc, "longitude", LONS, &dims[LON]));
    CHECK(nc_def_dim(nc, "time", NC_UNLIMITED, &dims[TIME]));
    coordinate(nc, "latitude", dims[LAT], "degrees_north", 13, &lat);
    coordinate(nc, "longitude", dims[LON], "degrees_east", 12, &lon);
    CHECK(nc_def_var(nc, "pressure", NC_FLOAT, DIMS, dims, &pres));
    CHECK(nc_def_var(nc, "temperature", NC_SHORT, DIMS, dims, &temp));
    text(nc, pres, "units", 3, "hPa");
    text(nc, temp, "units", 7, "celsius");
    CHECK(nc_put_att_float(nc, temp, "valid_range", NC_FLOAT, 2, range));
    text(nc, NC_GLOBAL, "title", 11, "the weather");
    CHECK(nc_enddef(nc));
    for (int i = 0; i < LATS; i++)
        lats[i] = 25.0F + 5.0F * (float)i;
    for (int i = 0; i < LONS; i++)
        lons[i] = -125.0F + 5.0F * (float)i;
    CHECK(nc_put_var_float(nc, lat, lats));
    CHECK(nc_put_var_float(nc, lon, lons));
    size_t start[DIMS] = {0}, count[DIMS] = {1, LEVELS, LATS, LONS};
    for (start[TIME] = 0; start[TIME] < STEPS; start[TIME]++) {
        fields(start[TIME]);
        CHECK(nc_put_vara_float(nc, pres, start, count, &pressure[0][0][0]));
        CHECK(nc_put_vara_float(nc, temp, start, count, &temperature[0][0][0]));
    }
    CHECK(nc_close(nc));
}

static void look(const char *path)
{
    int nc, ndims, nvars, natts, unlimited;
    CHECK(nc_open(path, NC_NOWRITE, &nc));
    CHECK(nc_inq(nc, &ndims, &nvars, &natts, &unlimited));
    printf("%d dimensions, %d variables, %d attributes, unlimited %d\n", ndims, nvars,
           natts, unlimited);
    for (int v = 0; v < nvars; v++) {
        char name[NC_MAX_NAME + 1];
        nc_type type;
        int n, dims[NC_MAX_VAR_DIMS];
        CHECK(nc_inq_var(nc, v, name, &type, &n, dims, &natts));
        printf("%s: type %d, %d dimensions, %d attributes\n", name, (int)type, n, natts);
    }
    int temp;
    double sum = 0;
    const size_t start[DIMS] = {0, 1, 0, 1}, count[DIMS] = {STEPS, 1, 3, 5};
    const ptrdiff_t stride[DIMS] = {1, 1, 2, 2}, imap[DIMS] = {15, 15, 5, 1};
    double values[STEPS * 15];
    CHECK(nc_inq_varid(nc, "temperature", &temp));
    CHECK(nc_get_varm_double(nc, temp, start, count, stride, imap, values));
    for (int i = 0; i < STEPS * 15; i++)
        sum += values[i];
    printf("sum %.3f\n", sum);
    const size_t beyond[DIMS] = {STEPS, 0, 0, 0};
    printf("beyond the end: %d\n", nc_get_vara_double(nc, temp, beyond, count, values));
    CHECK(nc_close(nc));
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "weather.nc";
    make(path);
    look(path);
    return 0;
}
