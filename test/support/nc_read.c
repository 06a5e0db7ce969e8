/* nc_read FILE: prints the contents of a dataset as netCDF-C reads it: every dimension,
 * every attribute with its bytes, and for every variable a sum of its elements. The
 * tests' own readers print the same text; see element_sum.h. */
#include <netcdf.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "element_sum.h"

static void need(int rc, const char *what)
{
    if (rc == NC_NOERR) return;
    fprintf(stderr, "%s: %s\n", what, nc_strerror(rc));
    exit(1);
}

static void *room(size_t size)
{
    void *p = malloc(size + 1);
    if (p == NULL) need(NC_ENOMEM, "memory");
    return p;
}

static void print_attributes(int ncid, int varid, int natts)
{
    for (int a = 0; a < natts; a++) {
        char name[NC_MAX_NAME + 1];
        nc_type type;
        size_t length, size;
        need(nc_inq_attname(ncid, varid, a, name), "nc_inq_attname");
        need(nc_inq_att(ncid, varid, name, &type, &length), name);
        need(nc_inq_type(ncid, type, NULL, &size), name);
        unsigned char *values = room(length * size);
        need(nc_get_att(ncid, varid, name, values), name);
        printf("  att %s type %d length %zu ", name, type, length);
        for (size_t i = 0; i < length * size; i++)
            printf("%02x", values[i]);
        printf("\n");
        free(values);
    }
}

static void print_variable(int ncid, int varid)
{
    char name[NC_MAX_NAME + 1];
    nc_type type;
    int ndims, dimids[NC_MAX_VAR_DIMS], natts;
    size_t n = 1, size;
    need(nc_inq_var(ncid, varid, name, &type, &ndims, dimids, &natts), "nc_inq_var");
    need(nc_inq_type(ncid, type, NULL, &size), name);
    printf("var %s type %d dims", name, type);
    for (int d = 0; d < ndims; d++) {
        size_t length;
        need(nc_inq_dimlen(ncid, dimids[d], &length), name);
        printf(" %d", dimids[d]);
        n *= length;
    }
    printf("\n");
    print_attributes(ncid, varid, natts);
    void *values = room(n * size);
    if (n > 0) need(nc_get_var(ncid, varid, values), name);
    printf("  sum %016" PRIx64 "\n", element_sum(0, values, n, size));
    free(values);
}

int main(int argc, char **argv)
{
    int ncid, ndims, nvars, natts, unlimited;
    if (argc != 2) need(NC_EINVAL, "usage: nc_read FILE");
    need(nc_open(argv[1], NC_NOWRITE, &ncid), argv[1]);
    need(nc_inq(ncid, &ndims, &nvars, &natts, &unlimited), "nc_inq");
    for (int d = 0; d < ndims; d++) {
        char name[NC_MAX_NAME + 1];
        size_t length;
        need(nc_inq_dim(ncid, d, name, &length), "nc_inq_dim");
        printf("dim %s %zu%s\n", name, length, d == unlimited ? " unlimited" : "");
    }
    print_attributes(ncid, NC_GLOBAL, natts);
    for (int v = 0; v < nvars; v++)
        print_variable(ncid, v);
    need(nc_close(ncid), "nc_close");
    return 0;
}
