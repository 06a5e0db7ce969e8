/* Tests the cdl_hdr_* functions, which parse a CDL file and return its definitions. No
 * netCDF file is involved. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "pnetcdf.h"

static const char known[] = "netcdf known {\n"
                            "dimensions: time = UNLIMITED; x = 5;\n"
                            "variables: int64 v(time, x); double w;\n"
                            "v:units = \"m\"; v:range = -1LL, 4294967296ll;\n"
                            ":b = 1b; :d = 0.5, -2.; :s = 3s; :empty = \"\";\n"
                            "data: w = 1;\n"
                            "}\n";

/* Writes a file private to this process, and returns its path. */
static const char *write_text(const char *text)
{
    int rank;
    char name[40];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "text%d.cdl", rank);
    const char *path = check_path(name);
    FILE *f = fopen(path, "w");
    CHECK(f != NULL && fputs(text, f) >= 0);
    if (f != NULL) CHECK(fclose(f) == 0);
    return path;
}

static int open_text(const char *text)
{
    int hid = -1;
    CHECK_NC(NC_NOERR, cdl_hdr_open(write_text(text), &hid));
    return hid;
}

static void counts_and_the_format_are_returned(void)
{
    int hid = open_text(known), n = -1;
    CHECK_NC(NC_NOERR, cdl_hdr_inq_format(hid, &n));
    CHECK_EQ(NC_FORMAT_CDF5, n);
    CHECK_NC(NC_NOERR, cdl_hdr_inq_ndims(hid, &n));
    CHECK_EQ(2, n);
    CHECK_NC(NC_NOERR, cdl_hdr_inq_nvars(hid, &n));
    CHECK_EQ(2, n);
    CHECK_NC(NC_NOERR, cdl_hdr_inq_nattrs(hid, NC_GLOBAL, &n));
    CHECK_EQ(4, n);
    CHECK_NC(NC_NOERR, cdl_hdr_inq_nattrs(hid, 0, &n));
    CHECK_EQ(2, n);
    CHECK_NC(NC_NOERR, cdl_hdr_close(hid));
    hid = open_text("netcdf x { :_Format = \"64-bit offset\"; }");
    CHECK_NC(NC_NOERR, cdl_hdr_inq_format(hid, &n));
    CHECK_EQ(NC_FORMAT_CDF2, n);
    CHECK_NC(NC_NOERR, cdl_hdr_close(hid));
}

static void dimensions_and_variables_are_returned(void)
{
    int hid = open_text(known), ndims = -1, *dimids = NULL;
    char *name = NULL;
    MPI_Offset size = -1;
    nc_type type = -1;
    CHECK_NC(NC_NOERR, cdl_hdr_inq_dim(hid, 0, &name, &size));
    CHECK_STR("time", name);
    CHECK_EQ(NC_UNLIMITED, size);
    CHECK_NC(NC_NOERR, cdl_hdr_inq_dim(hid, 1, &name, &size));
    CHECK_STR("x", name);
    CHECK_EQ(5, size);
    CHECK_NC(NC_NOERR, cdl_hdr_inq_var(hid, 0, &name, &type, &ndims, &dimids));
    CHECK_STR("v", name);
    CHECK_EQ(NC_INT64, type);
    CHECK_EQ(2, ndims);
    CHECK(dimids[0] == 0 && dimids[1] == 1);
    CHECK_NC(NC_NOERR, cdl_hdr_inq_var(hid, 1, NULL, NULL, &ndims, NULL));
    CHECK_EQ(0, ndims);
    CHECK_NC(NC_NOERR, cdl_hdr_close(hid));
}

static void attributes_are_returned_in_native_byte_order(void)
{
    int hid = open_text(known);
    char *name = NULL;
    nc_type type = -1;
    MPI_Offset n = -1;
    void *value = NULL;
    CHECK_NC(NC_NOERR, cdl_hdr_inq_attr(hid, 0, 0, &name, &type, &n, &value));
    CHECK_STR("units", name);
    CHECK(type == NC_CHAR && n == 1 && *(char *)value == 'm');
    CHECK_NC(NC_NOERR, cdl_hdr_inq_attr(hid, 0, 1, NULL, &type, &n, &value));
    const long long *range = value;
    CHECK(type == NC_INT64 && n == 2 && range[0] == -1 && range[1] == 4294967296);
    CHECK_NC(NC_NOERR, cdl_hdr_inq_attr(hid, NC_GLOBAL, 1, NULL, &type, &n, &value));
    const double *d = value;
    CHECK(type == NC_DOUBLE && n == 2 && d[0] == 0.5 && d[1] == -2);
    CHECK_NC(NC_NOERR, cdl_hdr_inq_attr(hid, NC_GLOBAL, 2, NULL, &type, NULL, &value));
    CHECK(type == NC_SHORT && *(short *)value == 3);
    CHECK_NC(NC_NOERR, cdl_hdr_inq_attr(hid, NC_GLOBAL, 3, NULL, &type, &n, NULL));
    CHECK(type == NC_CHAR && n == 0);
    CHECK_NC(NC_NOERR, cdl_hdr_close(hid));
}

static void many_headers_may_be_open(void)
{
    enum { MANY = 50 };
    int hids[MANY], n = 0;
    char text[100], want[20], *name = NULL;
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "netcdf x { dimensions: d%d = 1; }", i);
        hids[i] = open_text(text);
    }
    for (int i = 0; i < MANY; i += 2)
        CHECK_NC(NC_NOERR, cdl_hdr_close(hids[i]));
    CHECK_NC(NC_EBADID, cdl_hdr_close(hids[0]));
    for (int i = 1; i < MANY; i += 2) {
        snprintf(want, sizeof want, "d%d", i);
        CHECK_NC(NC_NOERR, cdl_hdr_inq_dim(hids[i], 0, &name, NULL));
        CHECK_STR(want, name);
        CHECK_NC(NC_EBADID, cdl_hdr_inq_ndims(hids[i - 1], &n));
    }
    for (int i = 1; i < MANY; i += 2)
        CHECK_NC(NC_NOERR, cdl_hdr_close(hids[i]));
}

static void missing_objects_are_an_error(void)
{
    int hid = open_text(known), n;
    CHECK_NC(NC_EBADDIM, cdl_hdr_inq_dim(hid, 2, NULL, NULL));
    CHECK_NC(NC_EBADDIM, cdl_hdr_inq_dim(hid, -1, NULL, NULL));
    CHECK_NC(NC_ENOTVAR, cdl_hdr_inq_var(hid, 2, NULL, NULL, NULL, NULL));
    CHECK_NC(NC_ENOTVAR, cdl_hdr_inq_var(hid, NC_GLOBAL, NULL, NULL, NULL, NULL));
    CHECK_NC(NC_ENOTVAR, cdl_hdr_inq_nattrs(hid, 2, &n));
    CHECK_NC(NC_ENOTVAR, cdl_hdr_inq_attr(hid, 2, 0, NULL, NULL, NULL, NULL));
    CHECK_NC(NC_ENOTATT, cdl_hdr_inq_attr(hid, 0, 2, NULL, NULL, NULL, NULL));
    CHECK_NC(NC_ENOTATT, cdl_hdr_inq_attr(hid, 0, -1, NULL, NULL, NULL, NULL));
    CHECK_NC(NC_NOERR, cdl_hdr_close(hid));
    CHECK_NC(NC_EBADID, cdl_hdr_close(hid));
    CHECK_NC(NC_EBADID, cdl_hdr_close(-1));
    CHECK_NC(NC_EBADID, cdl_hdr_inq_format(hid, &n));
    CHECK_NC(NC_EBADID, cdl_hdr_inq_nvars(hid, &n));
    CHECK_NC(NC_EBADID, cdl_hdr_inq_dim(hid, 0, NULL, NULL));
    CHECK_NC(NC_EBADID, cdl_hdr_inq_var(hid, 0, NULL, NULL, NULL, NULL));
    CHECK_NC(NC_EBADID, cdl_hdr_inq_nattrs(hid, 0, &n));
    CHECK_NC(NC_EBADID, cdl_hdr_inq_attr(hid, 0, 0, NULL, NULL, NULL, NULL));
}

static void errors_report_the_line_and_column(void)
{
    int hid = 77;
    const char *path = write_text("netcdf x {\n  variables: int v(y);\n}");
    char want[1200];
    snprintf(want, sizeof want, "%s: line 2, column 20: no dimension is named 'y'", path);
    CHECK_NC(NC_EBADDIM, cdl_hdr_open(path, &hid));
    CHECK(strstr(ncmpi_strerror(NC_EBADDIM), want) != NULL);
    CHECK_NC(NC_ENOENT, cdl_hdr_open("/no/such/file", &hid));
    CHECK_NC(NC_EREAD, cdl_hdr_open("/", &hid));
    CHECK_NC(NC_EINVAL, cdl_hdr_open(NULL, &hid));
    CHECK_NC(NC_EINVAL, cdl_hdr_open(path, NULL));
    CHECK_EQ(77, hid);
}

/* Must run last, because it also checks that the errors above leaked no memory. */
static void all_memory_is_freed(void)
{
    MPI_Offset size = -1;
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&size));
    CHECK_EQ(0, size);
}

static const struct check_test tests[] = {
    {"counts and the format are returned", counts_and_the_format_are_returned, 0},
    {"dimensions and variables are returned", dimensions_and_variables_are_returned, 0},
    {"attributes are returned in native byte order",
     attributes_are_returned_in_native_byte_order, 0},
    {"many headers may be open", many_headers_may_be_open, 0},
    {"missing objects are an error", missing_objects_are_an_error, 0},
    {"errors report the line and column", errors_report_the_line_and_column, 0},
    {"all memory is freed", all_memory_is_freed, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2");
}
