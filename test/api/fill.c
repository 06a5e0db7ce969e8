/* Tests fill mode and fill values. An element that was never written must have the fill
 * value. */

#include <string.h>

#include "made_dataset.h"

enum { N = 37 };

/* Returns whether all `n` ints are equal to `value`. */
static bool all_are(const int *values, int n, int value)
{
    for (int i = 0; i < n; i++)
        if (values[i] != value) return false;
    return true;
}

static void the_default_is_no_fill(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", N), old = -1, nofill = -1;
    int v = new_var(ncid, "v", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_inq_var_fill(ncid, v, &nofill, NULL));
    CHECK_EQ(1, nofill);
    CHECK_NC(NC_NOERR, ncmpi_set_fill(ncid, NC_FILL, &old));
    CHECK_EQ(NC_NOFILL, old);
    CHECK_NC(NC_NOERR, ncmpi_set_fill(ncid, NC_NOFILL, &old));
    CHECK_EQ(NC_FILL, old);
    CHECK_NC(NC_EINVAL, ncmpi_set_fill(ncid, 77, &old));
    close_dataset(ncid);
}

static void set_fill_sets_earlier_and_later_variables(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", N), values[N];
    int before = new_var(ncid, "before", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_set_fill(ncid, NC_FILL, NULL));
    int after = new_var(ncid, "after", NC_INT, 1, &x);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, before, values));
    CHECK(all_are(values, N, NC_FILL_INT));
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, after, values));
    CHECK(all_are(values, N, NC_FILL_INT));
    close_dataset(ncid);
}

static void a_variable_may_be_filled_with_its_own_value(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", N), values[N], own = 42;
    int v = new_var(ncid, "v", NC_INT, 1, &x), w = new_var(ncid, "w", NC_INT, 1, &x);
    int nofill = -1, value = 0;
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, v, 0, &own));
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, w, 0, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_var_fill(ncid, v, &nofill, &value));
    CHECK_EQ(0, nofill);
    CHECK_EQ(42, value);
    CHECK_NC(NC_NOERR, ncmpi_inq_var_fill(ncid, w, &nofill, &value));
    CHECK_EQ(0, nofill);
    CHECK_EQ(NC_FILL_INT, value);
    CHECK_NC(NC_NOERR, ncmpi_get_att_int(ncid, v, "_FillValue", &value));
    CHECK_EQ(42, value);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, v, values));
    CHECK(all_are(values, N, 42));
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, w, values));
    CHECK(all_are(values, N, NC_FILL_INT));
    close_dataset(ncid);
}

static void filling_may_be_disabled_again(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", N), nofill = -1;
    int v = new_var(ncid, "v", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, v, 0, NULL));
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, v, 1, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_var_fill(ncid, v, &nofill, NULL));
    CHECK_EQ(1, nofill);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_ENOTINDEFINE, ncmpi_def_var_fill(ncid, v, 0, NULL));
    close_dataset(ncid);
}

static void every_type_has_a_default_fill_value(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", 3);
    int last = check.format == 5 ? NC_UINT64 : NC_DOUBLE;
    static const double fills[] = {0,
                                   NC_FILL_BYTE,
                                   NC_FILL_CHAR,
                                   NC_FILL_SHORT,
                                   NC_FILL_INT,
                                   NC_FILL_FLOAT,
                                   NC_FILL_DOUBLE,
                                   NC_FILL_UBYTE,
                                   NC_FILL_USHORT,
                                   NC_FILL_UINT,
                                   (double)NC_FILL_INT64,
                                   (double)NC_FILL_UINT64};
    CHECK_NC(NC_NOERR, ncmpi_set_fill(ncid, NC_FILL, NULL));
    for (nc_type t = NC_BYTE; t <= last; t++) {
        char name[2] = {(char)('a' + t), '\0'};
        new_var(ncid, name, t, 1, &x);
    }
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    for (nc_type t = NC_BYTE; t <= last; t++) {
        double values[3] = {0, 0, 0};
        char text[3] = "xyz";
        if (t == NC_CHAR) {
            CHECK_NC(NC_NOERR, ncmpi_get_var_text_all(ncid, t - 1, text));
            CHECK_BYTES("\0\0\0", text, 3);
            continue;
        }
        CHECK_NC(NC_NOERR, ncmpi_get_var_double_all(ncid, t - 1, values));
        CHECK(values[0] == fills[t] && values[1] == fills[t] && values[2] == fills[t]);
    }
    close_dataset(ncid);
}

static void new_records_are_filled_on_demand(void)
{
    int ncid = new_dataset("a.nc"), values[5] = {1, 2, 3, 4, 5}, own = 9;
    int dims[2] = {new_dim(ncid, "t", NC_UNLIMITED), new_dim(ncid, "x", 5)};
    int v = new_var(ncid, "v", NC_INT, 2, dims), w = new_var(ncid, "w", NC_INT, 2, dims);
    int fixed = new_var(ncid, "fixed", NC_INT, 1, dims + 1);
    int nofill = new_var(ncid, "nofill", NC_INT, 2, dims);
    MPI_Offset start[2] = {2, 0}, count[2] = {1, 5};
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, v, 0, NULL));
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, w, 0, &own));
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, nofill, 1, NULL));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_fill_var_rec(ncid, v, 2));
    CHECK_NC(NC_NOERR, ncmpi_fill_var_rec(ncid, w, 2));
    CHECK_NC(NC_ENOTRECVAR, ncmpi_fill_var_rec(ncid, fixed, 0));
    CHECK_NC(NC_ENOTFILL, ncmpi_fill_var_rec(ncid, nofill, 0));
    CHECK_EQ(3, dim_length(ncid, dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, start, count, values));
    CHECK(all_are(values, 5, NC_FILL_INT));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, w, start, count, values));
    CHECK(all_are(values, 5, 9));
    close_dataset(ncid);
}

/* The functions below set a variable's fill value in different ways. None of them enables
 * fill mode. */
static void own_by_put_att(int ncid, int v, int own)
{
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, v, "_FillValue", NC_INT, 1, &own));
}

static void own_by_copy_att(int ncid, int v, int own)
{
    int x = new_dim(ncid, "of_other", 1), other = new_var(ncid, "other", NC_INT, 1, &x);
    own_by_put_att(ncid, other, own);
    CHECK_NC(NC_NOERR, ncmpi_copy_att(ncid, other, "_FillValue", ncid, v));
}

static void own_by_rename_att(int ncid, int v, int own)
{
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, v, "longer_name", NC_INT, 1, &own));
    CHECK_NC(NC_NOERR, ncmpi_rename_att(ncid, v, "longer_name", "_FillValue"));
}

static void own_by_def_var_fill(int ncid, int v, int own)
{
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, v, 0, &own));
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, v, 1, NULL));
}

static void own_before_set_fill(int ncid, int v, int own)
{
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, v, 0, &own));
    CHECK_NC(NC_NOERR, ncmpi_set_fill(ncid, NC_NOFILL, NULL));
}

static void a_record_is_filled_with_the_variables_own_value(void)
{
    static void (*const ways[])(int, int, int) = {own_by_put_att, own_by_copy_att,
                                                  own_by_rename_att, own_by_def_var_fill,
                                                  own_before_set_fill};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        int ncid = new_dataset("a.nc"), values[N], nofill = -1, own = 42 + (int)i;
        int dims[2] = {new_dim(ncid, "t", NC_UNLIMITED), new_dim(ncid, "x", N)};
        int v = new_var(ncid, "v", NC_INT, 2, dims);
        MPI_Offset start[2] = {1, 0}, count[2] = {1, N};
        ways[i](ncid, v, own);
        CHECK_NC(NC_NOERR, ncmpi_inq_var_fill(ncid, v, &nofill, NULL));
        CHECK_EQ(1, nofill);
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_fill_var_rec(ncid, v, 1));
        CHECK_EQ(2, dim_length(ncid, dims[0]));
        memset(values, 0, sizeof values);
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, start, count, values));
        CHECK(all_are(values, N, own));
        close_dataset(ncid);
    }
}

/* Creates variables f and r, which are not filled, and g and s, which are. r has its own
 * fill value. */
static void write_fill_modes(void)
{
    int ncid = new_dataset("a.nc"), own = 42;
    int dims[2] = {new_dim(ncid, "t", NC_UNLIMITED), new_dim(ncid, "x", N)};
    new_var(ncid, "f", NC_INT, 1, dims + 1);
    int r = new_var(ncid, "r", NC_INT, 2, dims);
    int g = new_var(ncid, "g", NC_INT, 1, dims + 1);
    int s = new_var(ncid, "s", NC_INT, 2, dims);
    own_by_put_att(ncid, r, own);
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, g, 0, NULL));
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, s, 0, NULL));
    close_dataset(ncid);
}

static void after_reopening_every_variable_is_in_fill_mode(void)
{
    write_fill_modes();
    for (int omode = NC_NOWRITE; omode <= NC_WRITE; omode += NC_WRITE) {
        int ncid = open_dataset("a.nc", omode);
        for (int v = 0; v < 4; v++) {
            int nofill = -1, value = 0;
            CHECK_NC(NC_NOERR, ncmpi_inq_var_fill(ncid, v, &nofill, &value));
            CHECK_EQ(0, nofill);
            CHECK_EQ(v == 1 ? 42 : NC_FILL_INT, value);
        }
        close_dataset(ncid);
    }
}

/* Appends records like a program that fills each record before it writes to it. set_fill
 * must affect only variables that are defined afterwards. */
static void records_appended_to_a_reopened_file_are_filled(void)
{
    write_fill_modes();
    for (int rec = 0; rec < 3; rec++) {
        int ncid = open_dataset("a.nc", NC_WRITE), values[N], nofill = -1, old = -1;
        MPI_Offset start[2] = {rec, 0}, count[2] = {1, N}, one[2] = {1, 1};
        if (rec > 0) {
            char name[2] = {(char)('0' + rec), '\0'};
            CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
            CHECK_NC(NC_NOERR, ncmpi_set_fill(ncid, NC_NOFILL, &old));
            CHECK_EQ(NC_NOFILL, old);
            int more = new_var(ncid, name, NC_INT, 0, NULL);
            CHECK_NC(NC_NOERR, ncmpi_inq_var_fill(ncid, more, &nofill, NULL));
            CHECK_EQ(1, nofill);
            CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        }
        for (int v = 1; v < 4; v += 2) {
            CHECK_NC(NC_NOERR, ncmpi_fill_var_rec(ncid, v, rec));
            CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, one, &rec));
            CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, start, count, values));
            CHECK_EQ(rec, values[0]);
            CHECK(all_are(values + 1, N - 1, v == 1 ? 42 : NC_FILL_INT));
        }
        close_dataset(ncid);
    }
}

static void a_variable_added_later_is_filled(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", N), values[N], kept[N];
    int v = new_var(ncid, "v", NC_INT, 1, &x), w;
    for (int i = 0; i < N; i++)
        kept[i] = i;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(ncid, v, kept));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    w = new_var(ncid, "w", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, w, 0, NULL));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, w, values));
    CHECK(all_are(values, N, NC_FILL_INT));
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, v, values));
    CHECK_BYTES(kept, values, sizeof kept);
    close_dataset(ncid);
}

/* Renames an attribute to _FillValue and checks that the call returns `code`. */
static void put_and_rename(int ncid, int v, nc_type type, int n, int code)
{
    int two[2] = {1, 2};
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, v, "a_longer_name", type, n, two));
    CHECK_NC(code, ncmpi_rename_att(ncid, v, "a_longer_name", "_FillValue"));
    if (code != NC_NOERR)
        CHECK_NC(NC_NOERR, ncmpi_inq_attlen(ncid, v, "a_longer_name", NULL));
}

static void a_fill_value_must_match_its_variable(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", N), two[2] = {1, 2}, n = -1;
    int v = new_var(ncid, "v", NC_INT, 1, &x);
    CHECK_NC(NC_EBADTYPE, ncmpi_put_att_int(ncid, v, "_FillValue", NC_SHORT, 1, two));
    CHECK_NC(NC_EINVAL, ncmpi_put_att_int(ncid, v, "_FillValue", NC_INT, 2, two));
    put_and_rename(ncid, v, NC_SHORT, 1, NC_EBADTYPE);
    put_and_rename(ncid, v, NC_INT, 2, NC_EINVAL);
    put_and_rename(ncid, NC_GLOBAL, NC_INT, 2, NC_NOERR);
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, v, "_FillValue", NC_INT, 1, two));
    CHECK_NC(NC_NOERR, ncmpi_inq_var_fill(ncid, v, &n, NULL));
    CHECK_EQ(1, n); /* fill mode has not changed */
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_ELATEFILL, ncmpi_put_att_int(ncid, v, "_FillValue", NC_INT, 1, two + 1));
    CHECK_NC(NC_NOERR, ncmpi_del_att(ncid, v, "_FillValue"));
    put_and_rename(ncid, v, NC_INT, 1, NC_ELATEFILL);
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"the default is no fill", the_default_is_no_fill, CHECK_FORMATS},
    {"set_fill sets earlier and later variables",
     set_fill_sets_earlier_and_later_variables, CHECK_FORMATS},
    {"a variable may be filled with its own value",
     a_variable_may_be_filled_with_its_own_value, CHECK_FORMATS},
    {"filling may be disabled again", filling_may_be_disabled_again, CHECK_FORMATS},
    {"every type has a default fill value", every_type_has_a_default_fill_value,
     CHECK_FORMATS},
    {"new records are filled on demand", new_records_are_filled_on_demand, CHECK_FORMATS},
    {"a record is filled with the variable's own value",
     a_record_is_filled_with_the_variables_own_value, CHECK_FORMATS},
    {"after reopening every variable is in fill mode",
     after_reopening_every_variable_is_in_fill_mode, CHECK_FORMATS},
    {"records appended to a reopened file are filled",
     records_appended_to_a_reopened_file_are_filled, CHECK_FORMATS},
    {"a variable added later is filled", a_variable_added_later_is_filled, CHECK_FORMATS},
    {"a fill value must match its variable", a_fill_value_must_match_its_variable,
     CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, NULL);
}
