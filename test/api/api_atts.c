/* Tests the typed attribute functions. An attribute put as one C type must be read back
 * correctly as every other type, both before the file is closed and after it is reopened.
 * All combinations of C type and external type are tested. */
#include "api_calls.h"
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 9 }; /* maximum number of values in an attribute */

/* An attribute that the file must contain. */
struct att {
    char name[16];
    int varid;
    nc_type xtype;
    int n, values[MOST];
};

static const nc_type number_types[] = {NC_BYTE,  NC_SHORT,  NC_INT,  NC_FLOAT, NC_DOUBLE,
                                       NC_UBYTE, NC_USHORT, NC_UINT, NC_INT64, NC_UINT64};

/* Returns the C type that corresponds to an external type. */
static const struct calls_type *natural_type(nc_type xtype)
{
    static const char *names[] = {
        [NC_BYTE] = "schar",     [NC_CHAR] = "text",       [NC_SHORT] = "short",
        [NC_INT] = "int",        [NC_FLOAT] = "float",     [NC_DOUBLE] = "double",
        [NC_UBYTE] = "uchar",    [NC_USHORT] = "ushort",   [NC_UINT] = "uint",
        [NC_INT64] = "longlong", [NC_UINT64] = "ulonglong"};
    const struct calls_type *type = calls_types;
    while (strcmp(type->name, names[xtype]) != 0)
        type++;
    return type;
}

static void fill(void *buf, const struct calls_type *type, const struct att *a)
{
    memset(buf, 0x55, (MOST + 1) * sizeof(double));
    for (int i = 0; i < a->n; i++)
        type->set(buf, (size_t)i, a->values[i]);
}

static void make(struct att *a, const char *name, int number, nc_type xtype)
{
    snprintf(a->name, sizeof a->name, "%s%d", name, number);
    a->varid = check_random(2) ? NC_GLOBAL : 0;
    a->xtype = xtype;
    a->n = (int)check_random(MOST + 1);
    for (int i = 0; i < a->n; i++)
        a->values[i] = 1 + (int)check_random(100);
}

/* Checks the type, length and untyped value of an attribute. */
static void verify_one(int ncid, const struct att *a)
{
    const struct calls_type *natural = natural_type(a->xtype);
    double got[MOST + 1], expected[MOST + 1];
    nc_type xtype = NC_NAT;
    MPI_Offset n = -1;
    CHECK_NC(NC_NOERR, ncmpi_inq_att(ncid, a->varid, a->name, &xtype, &n));
    CHECK_EQ(a->xtype, xtype);
    CHECK_EQ(a->n, n);
    memset(got, 0x55, sizeof got);
    fill(expected, natural, a);
    CHECK_NC(NC_NOERR, ncmpi_get_att(ncid, a->varid, a->name, got));
    CHECK_BYTES(expected, got, sizeof got);
}

/* Reads a numeric attribute with each typed function and checks the values. */
static void verify_numbers(int ncid, const struct att *a)
{
    verify_one(ncid, a);
    for (int i = 0; i < calls_att_count; i++) {
        const struct calls_att *as = &calls_atts[i];
        double got[MOST + 1], expected[MOST + 1];
        memset(got, 0x55, sizeof got);
        fill(expected, as->type, a);
        check_nc(NC_NOERR, as->get(ncid, a->varid, a->name, got), as->name, __FILE__,
                 __LINE__);
        check_bytes(expected, got, sizeof got, as->name, __FILE__, __LINE__);
    }
    if (a->n == 0) return; /* an empty attribute can be read as any type */
    CHECK_NC(NC_ECHAR, ncmpi_get_att_text(ncid, a->varid, a->name, (char[64]){0}));
}

static void verify_text(int ncid, const struct att *a)
{
    double got[MOST + 1], expected[MOST + 1];
    verify_one(ncid, a);
    memset(got, 0x55, sizeof got);
    fill(expected, natural_type(NC_CHAR), a);
    CHECK_NC(NC_NOERR, ncmpi_get_att_text(ncid, a->varid, a->name, (char *)got));
    CHECK_BYTES(expected, got, sizeof got);
    for (int i = 0; i < calls_att_count && a->n > 0; i++)
        check_nc(NC_ECHAR, calls_atts[i].get(ncid, a->varid, a->name, got),
                 calls_atts[i].name, __FILE__, __LINE__);
}

static void create(int *ncid)
{
    int varid;
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("atts.nc"), check.cmode,
                                    MPI_INFO_NULL, ncid));
    CHECK_NC(NC_NOERR, ncmpi_def_var(*ncid, "scalar", NC_INT, 0, NULL, &varid));
}

static void reopen(int *ncid)
{
    CHECK_NC(NC_NOERR, ncmpi_enddef(*ncid));
    CHECK_NC(NC_NOERR, ncmpi_close(*ncid));
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("atts.nc"), NC_NOWRITE,
                                  MPI_INFO_NULL, ncid));
}

/* Tests each combination of a C type and an external type. */
static void every_att_of_numbers(void)
{
    int nxtypes = check.format == 5 ? 10 : 5, n = calls_att_count * nxtypes, ncid;
    struct att *atts = calloc((size_t)n, sizeof *atts);
    create(&ncid);
    for (int i = 0; i < n; i++) {
        const struct calls_att *as = &calls_atts[i / nxtypes];
        double values[MOST + 1];
        make(&atts[i], as->name, i, number_types[i % nxtypes]);
        fill(values, as->type, &atts[i]);
        check_nc(
            NC_NOERR,
            as->put(ncid, atts[i].varid, atts[i].name, atts[i].xtype, atts[i].n, values),
            as->name, __FILE__, __LINE__);
        CHECK_NC(NC_ECHAR,
                 as->put(ncid, atts[i].varid, atts[i].name, NC_CHAR, 1, values));
        verify_numbers(ncid, &atts[i]);
    }
    reopen(&ncid);
    for (int i = 0; i < n; i++)
        verify_numbers(ncid, &atts[i]);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    free(atts);
}

static void atts_without_a_c_type(void)
{
    int n = check.format == 5 ? 11 : 6, ncid;
    struct att atts[11];
    create(&ncid);
    for (int i = 0; i < n; i++) {
        double values[MOST + 1];
        nc_type xtype = i == 0 ? NC_CHAR : number_types[i - 1];
        make(&atts[i], "natural", i, xtype);
        fill(values, natural_type(xtype), &atts[i]);
        CHECK_NC(NC_NOERR, ncmpi_put_att(ncid, atts[i].varid, atts[i].name, xtype,
                                         atts[i].n, values));
        verify_one(ncid, &atts[i]);
    }
    reopen(&ncid);
    for (int i = 0; i < n; i++)
        verify_one(ncid, &atts[i]);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void atts_of_text(void)
{
    int ncid;
    struct att a = {0};
    double values[MOST + 1];
    create(&ncid);
    make(&a, "text", 0, NC_CHAR);
    fill(values, natural_type(NC_CHAR), &a);
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, a.varid, a.name, a.n, (char *)values));
    verify_text(ncid, &a);
    reopen(&ncid);
    verify_text(ncid, &a);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void types_of_cdf5_are_refused_elsewhere(void)
{
    int ncid, expected = check.format == 5 ? NC_NOERR : NC_ESTRICTCDF2;
    create(&ncid);
    for (int i = 5; i < 10; i++) {
        char name[16];
        snprintf(name, sizeof name, "a%d", i);
        CHECK_NC(expected,
                 ncmpi_put_att_int(ncid, 0, name, number_types[i], 1, &(int){7}));
    }
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static const struct check_test tests[] = {
    {"values of every put_att are read by every get_att", every_att_of_numbers,
     CHECK_FORMATS},
    {"put_att and get_att use the natural type", atts_without_a_c_type, CHECK_FORMATS},
    {"text attributes can only be accessed as text", atts_of_text, CHECK_FORMATS},
    {"types of CDF-5 are refused in other formats", types_of_cdf5_are_refused_elsewhere,
     CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
