/* Tests definitions and modes that differ between processes. Every process must get an
 * error that names the object and both values, process 0's definitions must take effect,
 * and no process may hang. In all tests the last process, called the odd one, differs
 * from the rest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_dataset.h"

/* A case in which the last process makes different definitions: the code that all
 * processes must get, and the strings that the message must contain (the object's name
 * and both values). */
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
};

/* Checks that process 0's definitions took effect on all processes and in the file. */
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

/* Defines attributes with different values on the odd process. Process 0's attributes
 * must take effect on all processes and in the file. If `long_one` is set, the headers
 * differ so much in size that the processes would choose different data offsets. */
static void put_odd_attributes(int ncid, int v, bool odd, bool long_one)
{
    static char text[5000];
    int value = odd ? 4242 : 1717, fill = odd ? 42 : 17;
    memset(text, odd ? 'o' : 'e', sizeof text);
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, NC_GLOBAL, "level", NC_INT, 1, &value));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "title",
                                          odd && long_one ? 5000 : 11, text));
    CHECK_NC(NC_NOERR,
             ncmpi_put_att_int(ncid, v, "kind", odd ? NC_DOUBLE : NC_INT, 1, &value));
    if (!long_one)
        CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, v, "_FillValue", NC_INT, 1, &fill));
}

static void attributes_are_those_of_0(int ncid, int v, bool filled)
{
    int value = 0;
    nc_type type = NC_NAT;
    MPI_Offset length = -1;
    char text[12] = "";
    CHECK_NC(NC_NOERR, ncmpi_inq_att(ncid, NC_GLOBAL, "title", NULL, &length));
    CHECK_EQ(11, length);
    if (length == 11)
        CHECK_NC(NC_NOERR, ncmpi_get_att_text(ncid, NC_GLOBAL, "title", text));
    CHECK_STR("eeeeeeeeeee", text);
    CHECK_NC(NC_NOERR, ncmpi_get_att_int(ncid, NC_GLOBAL, "level", &value));
    CHECK_EQ(1717, value);
    CHECK_NC(NC_NOERR, ncmpi_inq_atttype(ncid, v, "kind", &type));
    CHECK_EQ(NC_INT, type);
    if (!filled) return;
    CHECK_NC(NC_NOERR, ncmpi_inq_var_fill(ncid, v, NULL, &value));
    CHECK_EQ(17, value);
}

/* Checks that all processes use the same file offset for the variable's data. */
static void data_goes_where_all_look(int ncid, int v)
{
    int mine = 100 + check.rank, all[16];
    MPI_Offset at[1] = {check.rank};
    CHECK_NC(NC_NOERR, ncmpi_put_var1_int_all(ncid, v, at, &mine));
    make_visible(ncid);
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, v, all));
    for (int i = 0; i < check.nprocs; i++)
        CHECK_EQ(100 + i, all[i]);
}

static void attributes_of_process_0_take_precedence(void)
{
    bool odd = check.rank == check.nprocs - 1;
    for (int long_one = 0; long_one < 2; long_one++) {
        int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", check.nprocs);
        int v = new_var(ncid, "v", NC_INT, 1, &x), id;
        put_odd_attributes(ncid, v, odd, long_one);
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        attributes_are_those_of_0(ncid, v, !long_one);
        data_goes_where_all_look(ncid, v);
        /* repeats the test in a later define phase, in which a dimension also differs */
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        put_odd_attributes(ncid, v, odd, true);
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "y", odd ? 77 : 55, &id));
        int rc = ncmpi_enddef(ncid);
        CHECK_NC(NC_EMULTIDEFINE_DIM_SIZE, rc);
        CHECK(strstr(ncmpi_strerror(rc), "'y'") != NULL);
        attributes_are_those_of_0(ncid, v, !long_one);
        data_goes_where_all_look(ncid, v);
        close_dataset(ncid);
        ncid = open_dataset("a.nc", NC_NOWRITE);
        attributes_are_those_of_0(ncid, v, !long_one);
        close_dataset(ncid);
    }
}

/* The processes' headers differ only in one bit, whose offset depends on the number of
 * variables. */
static void different_fill_modes_are_reported(void)
{
    bool odd = check.rank == check.nprocs - 1;
    for (int n = 1; n <= 12; n++) {
        int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", check.nprocs), v = -1;
        for (int i = 0; i < n; i++) {
            const char name[2] = {(char)('a' + i), '\0'};
            v = new_var(ncid, name, NC_INT, 1, &x);
        }
        CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, v, odd != (n % 2 == 0), NULL));
        int rc = ncmpi_enddef(ncid), no_fill = -1;
        CHECK_NC(NC_EMULTIDEFINE_VAR_FILL_MODE, rc);
        CHECK_NC(NC_NOERR, ncmpi_inq_var_fill(ncid, v, &no_fill, NULL));
        CHECK_EQ(n % 2 == 0, no_fill); /* process 0's mode */
        data_goes_where_all_look(ncid, v);
        close_dataset(ncid);
    }
}

/* Tests putting different attributes in data mode, when the number of records may also
 * differ. */
static void attributes_of_process_0_take_precedence_in_data_mode(void)
{
    bool odd = check.rank == check.nprocs - 1;
    int ncid = new_dataset("a.nc"), t = new_dim(ncid, "t", NC_UNLIMITED), got[2] = {0, 0};
    int v = new_var(ncid, "v", NC_INT, 1, &t), first[2] = {1, 2}, value[2] = {5 + odd, 6};
    MPI_Offset at[1] = {check.rank}, length = -1;
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, v, "level", NC_INT, 2, first));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, v, "level", NC_INT, 2, value));
    CHECK_NC(NC_NOERR, ncmpi_get_att_int(ncid, v, "level", got));
    CHECK_EQ(5, got[0]);
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_var1_int(ncid, v, at, &check.rank));
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, v, "level", NC_INT, odd ? 2 : 1, value));
    CHECK_NC(NC_NOERR, ncmpi_inq_attlen(ncid, v, "level", &length));
    CHECK_EQ(1, length);
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    CHECK_EQ(check.nprocs, dim_length(ncid, t));
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_get_att_int(ncid, v, "level", got));
    CHECK_EQ(5, got[0]);
    close_dataset(ncid);
}

/* If process 0's attributes override those of another process, that process must count
 * them in its statistics and name them in its report. */
static void overridden_arguments_are_reported(void)
{
    bool odd = check.rank == check.nprocs - 1;
    char path[600], text[4096] = "", count[MPI_MAX_INFO_VAL + 1] = "";
    int ncid = -1, there = 0, x, v;
    MPI_Info info, used;
    snprintf(path, sizeof path, "%s", check_path("report.txt"));
    CHECK_EQ(MPI_SUCCESS, MPI_Info_create(&info));
    MPI_Info_set(info, "nc_statistics", "enable");
    MPI_Info_set(info, "nc_report", path);
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    x = new_dim(ncid, "x", check.nprocs);
    v = new_var(ncid, "v", NC_INT, 1, &x);
    put_odd_attributes(ncid, v, odd, true);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_file_info(ncid, &used));
    MPI_Info_get(used, "nc_stat_atts_overruled", MPI_MAX_INFO_VAL, count, &there);
    MPI_Info_free(&used);
    CHECK(there);
    CHECK_STR(odd ? "3" : "0", count);
    close_dataset(ncid);
    complete_closes();
    MPI_Barrier(MPI_COMM_WORLD);
    FILE *file = fopen(path, "r");
    if (!CHECK(file != NULL)) return;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    CHECK(
        strstr(text, "'level' of the dataset differs in element 0: 4242 here, but 1717"));
    CHECK(
        strstr(text, "'title' of the dataset has length 5000 here, but 11 on process 0"));
    CHECK(strstr(text, "'kind' of variable 'v' has type 6 here, but 4 on process 0"));
    CHECK(strstr(text, "attributes replaced with process 0's values"));
}

static void different_definitions_are_reported(void)
{
    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++)
        try_difference(&differences[i]);
}

/* Checks the result of a call for which the odd process passed a different mode. The odd
 * process must get an error; in safe mode, all processes must get it. */
static void check_mode_code(int code, bool odd, bool safe, int rc)
{
    CHECK_NC(odd || safe ? code : NC_NOERR, rc);
    if (odd || safe) CHECK(strstr(ncmpi_strerror(rc), "on process 0") != NULL);
}

static void set_safe_mode(bool safe)
{
    CHECK_EQ(0, setenv("PNETCDF_SAFE_MODE", safe ? "1" : "0", 1));
}

/* Process 0's mode takes effect, including the format that it selects. */
static void process_0s_create_mode_takes_precedence(void)
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

static void different_open_modes_are_reported(void)
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

/* An invalid mode on process 0 is an error on all processes. */
static void an_invalid_mode_of_process_0_is_refused(void)
{
    int ncid = -1, n = -1, bad = NC_64BIT_OFFSET | NC_64BIT_DATA;
    CHECK_NC(NC_EINVAL_CMODE,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                          check.rank == 0 ? bad : NC_CLOBBER, MPI_INFO_NULL, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_files_opened(&n, NULL));
    CHECK_EQ(0, n);
}

/* In safe mode, each call reports a difference between the processes' arguments. The
 * calls below differ in one argument each. */
static void in_safe_mode_the_call_itself_reports_a_difference(void)
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

/* Some differences cannot be seen in the arguments of any single call. In safe mode,
 * enddef reports them. */
static void in_safe_mode_enddef_reports_a_difference(void)
{
    char name[32];
    int own = -1, value = check.rank == 0 ? 1717 : 4242, got = 0;
    snprintf(name, sizeof name, "own%d.nc", check.rank);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_SELF, check_path(name), check.cmode,
                                    MPI_INFO_NULL, &own));
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(own, NC_GLOBAL, "level", NC_INT, 1, &value));
    set_safe_mode(true);
    int ncid = new_dataset("a.nc");
    CHECK_NC(NC_NOERR, ncmpi_copy_att(own, NC_GLOBAL, "level", ncid, NC_GLOBAL));
    int rc = ncmpi_enddef(ncid);
    CHECK_NC(NC_EMULTIDEFINE_ATTR_VAL, rc);
    CHECK(strstr(ncmpi_strerror(rc), "'level' of the dataset") != NULL);
    CHECK_NC(NC_NOERR, ncmpi_get_att_int(ncid, NC_GLOBAL, "level", &got));
    CHECK_EQ(1717, got);
    close_dataset(ncid);
    set_safe_mode(false);
    CHECK_NC(NC_NOERR, ncmpi_close(own));
}

static void equal_definitions_are_no_error_whatever_the_timing(void)
{
    int ncid = new_dataset("a.nc"), one = 1;
    if (check.rank == 0) MPI_Barrier(MPI_COMM_WORLD); /* process 0 defines last */
    int x = new_dim(ncid, "x", 5), v = new_var(ncid, "v", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, v, "a", NC_INT, 1, &one));
    if (check.rank != 0) MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"different definitions are reported", different_definitions_are_reported,
     CHECK_FORMATS | CHECK_SEVERAL},
    {"different fill modes are reported", different_fill_modes_are_reported,
     CHECK_FORMATS | CHECK_SEVERAL},
    {"attributes of process 0 take precedence", attributes_of_process_0_take_precedence,
     CHECK_FORMATS | CHECK_SEVERAL},
    {"attributes of process 0 take precedence in data mode",
     attributes_of_process_0_take_precedence_in_data_mode, CHECK_FORMATS | CHECK_SEVERAL},
    {"overridden arguments are reported", overridden_arguments_are_reported,
     CHECK_SEVERAL},
    {"process 0's create mode takes precedence", process_0s_create_mode_takes_precedence,
     CHECK_SEVERAL},
    {"different open modes are reported", different_open_modes_are_reported,
     CHECK_SEVERAL},
    {"an invalid mode of process 0 is refused", an_invalid_mode_of_process_0_is_refused,
     CHECK_SEVERAL},
    {"in safe mode the call itself reports a difference",
     in_safe_mode_the_call_itself_reports_a_difference, CHECK_SEVERAL},
    {"in safe mode enddef reports a difference", in_safe_mode_enddef_reports_a_difference,
     CHECK_SEVERAL},
    {"equal definitions are no error, whatever the timing",
     equal_definitions_are_no_error_whatever_the_timing, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "2 3 4 16");
}
