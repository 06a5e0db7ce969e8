/* Tests type conversion between memory and file: limits, out-of-range values, fill
 * values, text, and special values. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include <stdlib.h>

#include "made_dataset.h"

enum { N = 5 };

static int x, v;

/* Creates a dataset with a variable `v` of the given type, with N elements per process,
 * and leaves it in define mode. */
static int defined(nc_type type)
{
    int ncid = new_dataset("a.nc");
    x = new_dim(ncid, "x", N * check.nprocs);
    v = new_var(ncid, "v", type, 1, &x);
    return ncid;
}

static void part(MPI_Offset *start, MPI_Offset *count)
{
    *start = N * check.rank;
    *count = N;
}

static int put_doubles(int ncid, const double *values)
{
    MPI_Offset start, count;
    part(&start, &count);
    return check.collective ? ncmpi_put_vara_double_all(ncid, v, &start, &count, values)
                            : ncmpi_put_vara_double(ncid, v, &start, &count, values);
}

static int get_doubles(int ncid, double *values)
{
    MPI_Offset start, count;
    part(&start, &count);
    return check.collective ? ncmpi_get_vara_double_all(ncid, v, &start, &count, values)
                            : ncmpi_get_vara_double(ncid, v, &start, &count, values);
}

static nc_type last_type(void)
{
    return check.format == 5 ? NC_UINT64 : NC_DOUBLE;
}

/* The limits and the default fill value of each external type. */
static const struct {
    double least, most, fill;
} types[] = {{0, 0, 0},
             {SCHAR_MIN, SCHAR_MAX, NC_FILL_BYTE},
             {0, 0, 0},
             {SHRT_MIN, SHRT_MAX, NC_FILL_SHORT},
             {INT_MIN, INT_MAX, NC_FILL_INT},
             {-FLT_MAX, FLT_MAX, NC_FILL_FLOAT},
             {-DBL_MAX, DBL_MAX, NC_FILL_DOUBLE},
             {0, UCHAR_MAX, NC_FILL_UBYTE},
             {0, USHRT_MAX, NC_FILL_USHORT},
             {0, UINT_MAX, NC_FILL_UINT},
             {-9223372036854775808.0, 9223372036854774784.0, (double)NC_FILL_INT64},
             {0, 18446744073709549568.0, (double)NC_FILL_UINT64}};

static void the_limits_of_every_type_are_converted(void)
{
    for (nc_type t = NC_BYTE; t <= last_type(); t++) {
        double values[N] = {types[t].least, types[t].most, 0, 1, 2}, back[N];
        if (t == NC_CHAR) continue;
        int ncid = defined(t);
        begin_data(ncid);
        CHECK_NC(NC_NOERR, put_doubles(ncid, values));
        CHECK_NC(NC_NOERR, get_doubles(ncid, back));
        CHECK_BYTES(values, back, sizeof values);
        end_data(ncid);
        close_dataset(ncid);
    }
}

static void a_put_replaces_values_out_of_range_by_the_fill_value(void)
{
    for (nc_type t = NC_BYTE; t <= last_type(); t++) {
        double values[N] = {1, 1e300, 2, -1e300, 3}, back[N] = {0};
        if (t == NC_CHAR || t == NC_DOUBLE) continue;
        int ncid = defined(t);
        begin_data(ncid);
        CHECK_NC(NC_ERANGE, put_doubles(ncid, values));
        CHECK_NC(NC_NOERR, get_doubles(ncid, back));
        CHECK(back[0] == 1 && back[2] == 2 && back[4] == 3);
        CHECK(back[1] == types[t].fill && back[3] == types[t].fill);
        end_data(ncid);
        close_dataset(ncid);
    }
}

static void the_variables_own_fill_value_is_used(void)
{
    double values[N] = {1, 1e300, 2, 3, 4}, back[N] = {0};
    short own = -5;
    int ncid = defined(NC_SHORT);
    CHECK_NC(NC_NOERR, ncmpi_put_att_short(ncid, v, "_FillValue", NC_SHORT, 1, &own));
    begin_data(ncid);
    CHECK_NC(NC_ERANGE, put_doubles(ncid, values));
    CHECK_NC(NC_NOERR, get_doubles(ncid, back));
    CHECK(back[0] == 1 && back[1] == -5 && back[2] == 2);
    end_data(ncid);
    close_dataset(ncid);
}

static void a_get_replaces_values_out_of_range_by_the_default_fill(void)
{
    double values[N] = {1, 1e30, 2, -1e30, 3};
    int ncid = defined(NC_DOUBLE);
    MPI_Offset start, count;
    signed char bytes[N];
    short shorts[N];
    int ints[N];
    float floats[N];
    unsigned uints[N];
    long long longs[N];
    part(&start, &count);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, put_doubles(ncid, values));
    CHECK_NC(NC_ERANGE, ncmpi_get_vara_schar_all(ncid, v, &start, &count, bytes));
    CHECK_NC(NC_ERANGE, ncmpi_get_vara_short_all(ncid, v, &start, &count, shorts));
    CHECK_NC(NC_ERANGE, ncmpi_get_vara_int_all(ncid, v, &start, &count, ints));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_float_all(ncid, v, &start, &count, floats));
    CHECK_NC(NC_ERANGE, ncmpi_get_vara_uint_all(ncid, v, &start, &count, uints));
    CHECK_NC(NC_ERANGE, ncmpi_get_vara_longlong_all(ncid, v, &start, &count, longs));
    CHECK(bytes[0] == 1 && bytes[2] == 2 && bytes[4] == 3);
    CHECK(bytes[1] == NC_FILL_BYTE && bytes[3] == NC_FILL_BYTE);
    CHECK(shorts[1] == NC_FILL_SHORT && shorts[3] == NC_FILL_SHORT && shorts[4] == 3);
    CHECK(ints[1] == NC_FILL_INT && ints[3] == NC_FILL_INT && ints[4] == 3);
    CHECK(floats[1] == 1e30f && floats[3] == -1e30f && floats[4] == 3);
    CHECK(uints[1] == NC_FILL_UINT && uints[3] == NC_FILL_UINT && uints[4] == 3);
    CHECK(longs[1] == NC_FILL_INT64 && longs[3] == NC_FILL_INT64 && longs[4] == 3);
    close_dataset(ncid);
}

static void only_the_process_with_the_value_gets_the_range_error(void)
{
    for (int safe = 0; safe <= 1; safe++) {
        double values[N] = {1, 2, 3, 4, 5}, back[N];
        CHECK_EQ(0, setenv("PNETCDF_SAFE_MODE", safe ? "1" : "0", 1));
        int ncid = defined(NC_BYTE), odd = check.rank == check.nprocs - 1;
        if (odd) values[2] = 1000;
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(odd ? NC_ERANGE : NC_NOERR, put_doubles(ncid, values));
        CHECK_NC(NC_NOERR, get_doubles(ncid, back));
        if (odd) values[2] = NC_FILL_BYTE;
        CHECK_BYTES(values, back, sizeof back);
        close_dataset(ncid);
    }
    CHECK_EQ(0, unsetenv("PNETCDF_SAFE_MODE"));
}

static void bytes_are_converted_to_and_from_unsigned_characters(void)
{
    unsigned char values[N] = {0, 127, 128, 200, 255}, back[N];
    int ncid = defined(NC_BYTE), rc = check.format == 5 ? NC_ERANGE : NC_NOERR;
    MPI_Offset start, count;
    signed char raw[N];
    part(&start, &count);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(rc, ncmpi_put_vara_uchar_all(ncid, v, &start, &count, values));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_schar_all(ncid, v, &start, &count, raw));
    CHECK(raw[0] == 0 && raw[1] == 127);
    if (check.format != 5) {
        CHECK_BYTES(values, raw, sizeof raw);
        CHECK_NC(NC_NOERR, ncmpi_get_vara_uchar_all(ncid, v, &start, &count, back));
        CHECK_BYTES(values, back, sizeof back);
    } else {
        CHECK(raw[2] == NC_FILL_BYTE && raw[4] == NC_FILL_BYTE);
        CHECK_NC(NC_ERANGE, ncmpi_get_vara_uchar_all(ncid, v, &start, &count, back));
    }
    close_dataset(ncid);
}

static void text_is_not_converted_to_numbers(void)
{
    int ncid = new_dataset("a.nc"), value = 1;
    char c = 'x';
    int text = new_var(ncid, "text", NC_CHAR, 0, NULL);
    int byte = new_var(ncid, "byte", NC_BYTE, 0, NULL);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_ECHAR, ncmpi_put_var_int_all(ncid, text, &value));
    CHECK_NC(NC_ECHAR, ncmpi_get_var_int_all(ncid, text, &value));
    CHECK_NC(NC_ECHAR, ncmpi_put_var_text_all(ncid, byte, &c));
    CHECK_NC(NC_ECHAR, ncmpi_get_var_text_all(ncid, byte, &c));
    CHECK_NC(NC_NOERR, ncmpi_put_var_text_all(ncid, text, &c));
    c = 0;
    CHECK_NC(NC_NOERR, ncmpi_get_var_text_all(ncid, text, &c));
    CHECK_EQ('x', c);
    close_dataset(ncid);
}

static void NaN_and_infinity_are_kept(void)
{
    double values[N] = {NAN, INFINITY, -INFINITY, -0.0, 1}, back[N];
    int ncid = defined(NC_DOUBLE);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, put_doubles(ncid, values));
    CHECK_NC(NC_NOERR, get_doubles(ncid, back));
    CHECK(isnan(back[0]) && back[1] == INFINITY && back[2] == -INFINITY);
    CHECK(back[3] == 0 && signbit(back[3]));
    close_dataset(ncid);
}

static void large_integers_keep_every_bit(void)
{
    long long values[N] = {LLONG_MIN, LLONG_MAX, (1LL << 53) + 1, -(1LL << 53) - 1, -1};
    unsigned long long unsigned_values[N] = {ULLONG_MAX, 1ULL << 63, 1, 0, 7};
    long long back[N];
    unsigned long long unsigned_back[N];
    MPI_Offset start, count;
    part(&start, &count);
    int ncid = defined(NC_INT64), u = new_var(ncid, "u", NC_UINT64, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_longlong_all(ncid, v, &start, &count, values));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_longlong_all(ncid, v, &start, &count, back));
    CHECK_BYTES(values, back, sizeof values);
    CHECK_NC(NC_NOERR,
             ncmpi_put_vara_ulonglong_all(ncid, u, &start, &count, unsigned_values));
    CHECK_NC(NC_NOERR,
             ncmpi_get_vara_ulonglong_all(ncid, u, &start, &count, unsigned_back));
    CHECK_BYTES(unsigned_values, unsigned_back, sizeof unsigned_back);
    CHECK_NC(NC_ERANGE, ncmpi_get_vara_longlong_all(ncid, u, &start, &count, back));
    CHECK(back[0] == NC_FILL_INT64 && back[2] == 1 && back[4] == 7);
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"the limits of every type are converted", the_limits_of_every_type_are_converted,
     CHECK_FORMATS | CHECK_MODES},
    {"a put replaces values out of range by the fill value",
     a_put_replaces_values_out_of_range_by_the_fill_value, CHECK_FORMATS | CHECK_MODES},
    {"the variable's own fill value is used", the_variables_own_fill_value_is_used,
     CHECK_FORMATS | CHECK_MODES},
    {"a get replaces values out of range by the default fill",
     a_get_replaces_values_out_of_range_by_the_default_fill, CHECK_FORMATS},
    {"only the process with the value gets the range error",
     only_the_process_with_the_value_gets_the_range_error, CHECK_FORMATS},
    {"bytes are converted to and from unsigned characters",
     bytes_are_converted_to_and_from_unsigned_characters, CHECK_FORMATS},
    {"text is not converted to numbers", text_is_not_converted_to_numbers, CHECK_FORMATS},
    {"NaN and infinity are kept", NaN_and_infinity_are_kept, CHECK_FORMATS},
    {"large integers keep every bit", large_integers_keep_every_bit, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
