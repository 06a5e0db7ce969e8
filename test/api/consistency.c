/* Processes that define different things: all are told what differs, and how; process 0's
 * definitions stand, and nothing hangs. */
#include <stdlib.h>
#include <string.h>

#include "dataset.h"

/* One way to differ: what the last process does otherwise than the rest, the code all
 * get, and what the text must name: the object and both values. */
struct difference {
    const char *name;
    void (*define)(int ncid, bool odd);
    int code;
    const char *named[3];
};

static void dim_number(int ncid, bool odd)
{
    new_dim(ncid, "lat", 5);
    if (odd) new_dim(ncid, "extra", 5);
}

static void dim_size(int ncid, bool odd)
{
    new_dim(ncid, "lat", odd ? 77 : 55);
}

static void dim_name(int ncid, bool odd)
{
    new_dim(ncid, odd ? "odd_name" : "lat", 5);
}

static void var_number(int ncid, bool odd)
{
    new_var(ncid, "temp", NC_INT, 0, NULL);
    if (odd) new_var(ncid, "extra", NC_INT, 0, NULL);
}

static void var_name(int ncid, bool odd)
{
    new_var(ncid, odd ? "odd_name" : "temp", NC_INT, 0, NULL);
}

static void var_type(int ncid, bool odd)
{
    new_var(ncid, "temp", odd ? NC_FLOAT : NC_INT, 0, NULL);
}

static void var_ndims(int ncid, bool odd)
{
    int dims[2] = {new_dim(ncid, "y", 5), new_dim(ncid, "x", 5)};
    new_var(ncid, "temp", NC_INT, odd ? 2 : 1, dims);
}

static void var_dimids(int ncid, bool odd)
{
    int dims[2] = {new_dim(ncid, "y", 5), new_dim(ncid, "x", 5)};
    new_var(ncid, "temp", NC_INT, 1, dims + odd);
}

static void att_number(int ncid, bool odd)
{
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 1, "a"));
    if (odd) CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "extra", 1, "a"));
}

static void att_name(int ncid, bool odd)
{
    CHECK_NC(NC_NOERR,
             ncmpi_put_att_text(ncid, NC_GLOBAL, odd ? "odd_name" : "title", 1, "a"));
}

static void att_type(int ncid, bool odd)
{
    int one = 1;
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, NC_GLOBAL, "level",
                                         odd ? NC_SHORT : NC_INT, 1, &one));
}

static void att_length(int ncid, bool odd)
{
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "title", odd ? 17 : 11,
                                          "seventeen letters"));
}

static void att_value(int ncid, bool odd)
{
    int value = odd ? 4242 : 1717;
    int v = new_var(ncid, "temp", NC_INT, 0, NULL);
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, v, "level", NC_INT, 1, &value));
}

static const struct difference differences[] = {
    {"number of dimensions", dim_number, NC_EMULTIDEFINE_DIM_NUM, {"2", "1", ""}},
    {"length of a dimension", dim_size, NC_EMULTIDEFINE_DIM_SIZE, {"lat", "77", "55"}},
    {"name of a dimension", dim_name, NC_EMULTIDEFINE_DIM_NAME, {"lat", "odd_name", ""}},
    {"number of variables", var_number, NC_EMULTIDEFINE_VAR_NUM, {"2", "1", ""}},
    {"name of a variable", var_name, NC_EMULTIDEFINE_VAR_NAME, {"temp", "odd_name", ""}},
    {"type of a variable", var_type, NC_EMULTIDEFINE_VAR_TYPE, {"temp", "", ""}},
    {"rank of a variable", var_ndims, NC_EMULTIDEFINE_VAR_NDIMS, {"temp", "2", "1"}},
    {"shape of a variable", var_dimids, NC_EMULTIDEFINE_VAR_DIMIDS, {"temp", "", ""}},
    {"number of attributes", att_number, NC_EMULTIDEFINE_ATTR_NUM, {"2", "1", ""}},
    {"name of an attribute",
     att_name,
     NC_EMULTIDEFINE_ATTR_NAME,
     {"title", "odd_name", ""}},
    {"type of an attribute", att_type, NC_EMULTIDEFINE_ATTR_TYPE, {"level", "", ""}},
    {"length of an attribute",
     att_length,
     NC_EMULTIDEFINE_ATTR_LEN,
     {"title", "17", "11"}},
    {"value of an attribute", att_value, NC_EMULTIDEFINE_ATTR_VAL, {"level", "temp", ""}},
};

/* All processes end with the same definitions: those that the file has. */
static void same_as_the_file(int ncid)
{
    int n[3], of_zero[3];
    CHECK_NC(NC_NOERR, ncmpi_inq(ncid, &n[0], &n[1], &n[2], NULL));
    memcpy(of_zero, n, sizeof n);
    MPI_Bcast(of_zero, 3, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK_BYTES(of_zero, n, sizeof n);
    for (int i = 0; i < of_zero[0]; i++) {
        char name[NC_MAX_NAME + 1] = "", name_of_zero[NC_MAX_NAME + 1];
        MPI_Offset length = -1, length_of_zero;
        CHECK_NC(NC_NOERR, ncmpi_inq_dim(ncid, i, name, &length));
        memcpy(name_of_zero, name, sizeof name);
        length_of_zero = length;
        MPI_Bcast(name_of_zero, sizeof name_of_zero, MPI_CHAR, 0, MPI_COMM_WORLD);
        MPI_Bcast(&length_of_zero, 1, MPI_OFFSET, 0, MPI_COMM_WORLD);
        CHECK_STR(name_of_zero, name);
        CHECK_EQ(length_of_zero, length);
        CHECK(strcmp(name, "odd_name") != 0 && length != 77);
    }
}

static void try_difference(const struct difference *d)
{
    bool odd = check.rank == check.nprocs - 1;
    int ncid = new_dataset("a.nc");
    d->define(ncid, odd);
    int rc = ncmpi_enddef(ncid);
    CHECK_NC(d->code, rc);
    for (int i = 0; i < 3; i++)
        if (strstr(ncmpi_strerror(rc), d->named[i]) == NULL)
            CHECK_STR(d->named[i], ncmpi_strerror(rc));
    same_as_the_file(ncid);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    same_as_the_file(ncid);
    close_dataset(ncid);
}

static void definitions_that_differ_are_told(void)
{
    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++)
        try_difference(&differences[i]);
}

/* The code of a call in which the odd process asked for another mode: an error there, in
 * safe mode everywhere. */
static void check_mode_code(int code, bool odd, bool safe, int rc)
{
    CHECK_NC(odd || safe ? code : NC_NOERR, rc);
    if (odd || safe) CHECK(strstr(ncmpi_strerror(rc), "on process 0") != NULL);
}

static void set_safe_mode(bool safe)
{
    CHECK_EQ(0, setenv("PNETCDF_SAFE_MODE", safe ? "1" : "0", 1));
}

/* Process 0's mode holds: format and all else. */
static void create_modes_that_differ(void)
{
    static const int others[] = {0, NC_64BIT_OFFSET, NC_64BIT_OFFSET | NC_64BIT_DATA,
                                 NC_64BIT_DATA | NC_NOCLOBBER};
    bool odd = check.rank == check.nprocs - 1;
    for (int i = 0; i < 8; i++) {
        bool safe = i % 2 == 1;
        int ncid = -1, format = -1, got = -1, mine = check.rank;
        MPI_Offset at[1] = {check.rank};
        set_safe_mode(safe);
        check_mode_code(NC_EMULTIDEFINE_CMODE, odd, safe,
                        ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                     odd ? others[i / 2] : NC_64BIT_DATA, MPI_INFO_NULL,
                                     &ncid));
        CHECK_NC(NC_NOERR, ncmpi_inq_format(ncid, &format));
        CHECK_EQ(NC_FORMAT_CDF5, format);
        int x = new_dim(ncid, "x", check.nprocs), v = new_var(ncid, "v", NC_INT, 1, &x);
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_put_var1_int_all(ncid, v, at, &mine));
        CHECK_NC(NC_NOERR, ncmpi_get_var1_int_all(ncid, v, at, &got));
        CHECK_EQ(mine, got);
        close_dataset(ncid);
    }
    set_safe_mode(false);
}

static void open_modes_that_differ(void)
{
    bool odd = check.rank == check.nprocs - 1;
    close_dataset(new_dataset("a.nc"));
    for (int i = 0; i < 4; i++) {
        bool safe = i % 2 == 1, writable = i / 2 == 1;
        int ncid = -1;
        set_safe_mode(safe);
        check_mode_code(NC_EMULTIDEFINE_OMODE, odd, safe,
                        ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"),
                                   odd != writable ? NC_WRITE : NC_NOWRITE, MPI_INFO_NULL,
                                   &ncid));
        CHECK_NC(writable ? NC_NOERR : NC_EPERM, ncmpi_redef(ncid));
        close_dataset(ncid);
    }
    set_safe_mode(false);
}

/* A mode that cannot be is an error where process 0 has it, on all. */
static void a_bad_mode_of_process_0_is_refused(void)
{
    int ncid = -1, n = -1, bad = NC_64BIT_OFFSET | NC_64BIT_DATA;
    CHECK_NC(NC_EINVAL_CMODE,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                          check.rank == 0 ? bad : NC_CLOBBER, MPI_INFO_NULL, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_files_opened(&n, NULL));
    CHECK_EQ(0, n);
}

/* In safe mode the call itself tells; the odd process says something else in each. */
static void in_safe_mode_the_call_tells(void)
{
    bool odd = check.rank == check.nprocs - 1;
    int ncid, id, x, value = odd ? 4242 : 1717, code;
    CHECK_EQ(0, setenv("PNETCDF_SAFE_MODE", "1", 1));
    ncid = new_dataset("a.nc");
    CHECK_NC(NC_EMULTIDEFINE_DIM_NAME,
             ncmpi_def_dim(ncid, odd ? "odd_name" : "lat", 5, &id));
    CHECK_NC(NC_EMULTIDEFINE_DIM_SIZE, ncmpi_def_dim(ncid, "lat", odd ? 77 : 55, &id));
    x = new_dim(ncid, "x", 5);
    CHECK_NC(NC_EMULTIDEFINE_VAR_NAME,
             ncmpi_def_var(ncid, odd ? "odd_name" : "temp", NC_INT, 1, &x, &id));
    CHECK_NC(NC_EMULTIDEFINE_VAR_TYPE,
             ncmpi_def_var(ncid, "temp", odd ? NC_FLOAT : NC_INT, 1, &x, &id));
    CHECK_NC(NC_EMULTIDEFINE_VAR_NDIMS,
             ncmpi_def_var(ncid, "temp", NC_INT, odd ? 0 : 1, &x, &id));
    code = ncmpi_put_att_int(ncid, NC_GLOBAL, "level", NC_INT, 1, &value);
    CHECK_NC(NC_EMULTIDEFINE_ATTR_VAL, code);
    CHECK(strstr(ncmpi_strerror(code), "level") != NULL);
    CHECK_NC(NC_EMULTIDEFINE_ATTR_LEN,
             ncmpi_put_att_text(ncid, NC_GLOBAL, "title", odd ? 3 : 2, "abc"));
    CHECK_NC(NC_EMULTIDEFINE_FILL_MODE,
             ncmpi_set_fill(ncid, odd ? NC_FILL : NC_NOFILL, NULL));
    same_as_the_file(ncid);
    close_dataset(ncid);
    CHECK_EQ(0, unsetenv("PNETCDF_SAFE_MODE"));
}

static void equal_definitions_are_no_error_at_any_pace(void)
{
    int ncid = new_dataset("a.nc"), one = 1;
    if (check.rank == 0) MPI_Barrier(MPI_COMM_WORLD); /* late, against the others */
    int x = new_dim(ncid, "x", 5), v = new_var(ncid, "v", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, v, "a", NC_INT, 1, &one));
    if (check.rank != 0) MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"definitions that differ are told", definitions_that_differ_are_told,
     CHECK_FORMATS | CHECK_SEVERAL},
    {"create modes that differ", create_modes_that_differ, CHECK_SEVERAL},
    {"open modes that differ", open_modes_that_differ, CHECK_SEVERAL},
    {"a bad mode of process 0 is refused", a_bad_mode_of_process_0_is_refused,
     CHECK_SEVERAL},
    {"in safe mode the call tells", in_safe_mode_the_call_tells, CHECK_SEVERAL},
    {"equal definitions are no error at any pace",
     equal_definitions_are_no_error_at_any_pace, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "2 3 4 16");
}
