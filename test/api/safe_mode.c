/* Tests safe mode. If the processes pass different arguments to a collective call, or
 * call different functions, all must get the same code, the message must name the
 * difference and the processes, and the dataset must be as if the call had not been made.
 * In all tests the last process, called the odd one, differs from the others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_dataset.h"

/* Ids of the dimensions and variables that every dataset has. */
enum { LAT, TIME };
enum { TEMP, WIND, NAME };

static int ncid, other; /* `other`: dataset from which attributes are copied */

struct difference {
    const char *name;
    int (*call)(bool odd); /* `odd` is true only on the last process */
    int code;
    const char *here, *there; /* text in the last process's and process 0's message */
};

/* ---- in define mode ---- */

static int dim_name(bool odd)
{
    return ncmpi_def_dim(ncid, odd ? "dim_b" : "dim_a", 5, NULL);
}

static int dim_len(bool odd)
{
    return ncmpi_def_dim(ncid, "dim_a", odd ? 77 : 55, NULL);
}

static int var_name(bool odd)
{
    return ncmpi_def_var(ncid, odd ? "var_b" : "var_a", NC_INT, 0, NULL, NULL);
}

static int var_type(bool odd)
{
    return ncmpi_def_var(ncid, "var_a", odd ? NC_DOUBLE : NC_INT, 0, NULL, NULL);
}

static int var_ndims(bool odd)
{
    const int dims[2] = {LAT, LAT};
    return ncmpi_def_var(ncid, "var_a", NC_INT, odd ? 2 : 1, dims, NULL);
}

static int var_dimids(bool odd)
{
    const int dims[1] = {odd ? LAT : TIME};
    return ncmpi_def_var(ncid, "var_a", NC_INT, 1, dims, NULL);
}

static int rename_dim_id(bool odd)
{
    return ncmpi_rename_dim(ncid, odd ? TIME : LAT, "c");
}

static int rename_dim_name(bool odd)
{
    return ncmpi_rename_dim(ncid, LAT, odd ? "y" : "z");
}

static int rename_var_id(bool odd)
{
    return ncmpi_rename_var(ncid, odd ? WIND : TEMP, "c");
}

static int rename_var_name(bool odd)
{
    return ncmpi_rename_var(ncid, TEMP, odd ? "y" : "z");
}

static int rename_att_name(bool odd)
{
    return ncmpi_rename_att(ncid, TEMP, odd ? "units" : "level", "c");
}

static int rename_att_new_name(bool odd)
{
    return ncmpi_rename_att(ncid, TEMP, "units", odd ? "y" : "z");
}

static int att_varid(bool odd)
{
    return ncmpi_put_att_text(ncid, odd ? WIND : TEMP, "units", 1, "K");
}

static int att_name(bool odd)
{
    return ncmpi_put_att_text(ncid, TEMP, odd ? "level" : "units", 1, "K");
}

static int att_type(bool odd)
{
    int value = 1;
    return ncmpi_put_att_int(ncid, TEMP, "level", odd ? NC_SHORT : NC_INT, 1, &value);
}

static int att_length(bool odd)
{
    return ncmpi_put_att_text(ncid, TEMP, "units", odd ? 3 : 1, "K m");
}

static int att_value(bool odd)
{
    int value = odd ? 1 : 2;
    return ncmpi_put_att_int(ncid, TEMP, "level", NC_INT, 1, &value);
}

static int att_text(bool odd)
{
    return ncmpi_put_att_text(ncid, TEMP, "units", 1, odd ? "m" : "K");
}

static int copy_att_name(bool odd)
{
    return ncmpi_copy_att(other, TEMP, odd ? "level" : "units", ncid, WIND);
}

static int copy_att_varid(bool odd)
{
    return ncmpi_copy_att(other, TEMP, "units", ncid, odd ? NC_GLOBAL : WIND);
}

static int del_att_name(bool odd)
{
    return ncmpi_del_att(ncid, TEMP, odd ? "level" : "units");
}

static int fill_mode(bool odd)
{
    return ncmpi_set_fill(ncid, odd ? NC_FILL : NC_NOFILL, NULL);
}

static int var_fill_varid(bool odd)
{
    return ncmpi_def_var_fill(ncid, odd ? WIND : TEMP, 0, NULL);
}

static int var_fill_mode(bool odd)
{
    return ncmpi_def_var_fill(ncid, TEMP, odd, NULL);
}

static int var_fill_value(bool odd)
{
    int value = odd ? -1 : -2;
    return ncmpi_def_var_fill(ncid, TEMP, 0, &value);
}

static int room(bool odd)
{
    return ncmpi__enddef(ncid, 0, odd ? 4096 : 512, 0, 4);
}

static int enddef_in_two_ways(bool odd)
{
    return odd ? ncmpi__enddef(ncid, 0, 512, 0, 4) : ncmpi_enddef(ncid);
}

static int definitions_of_two_kinds(bool odd)
{
    return odd ? ncmpi_def_dim(ncid, "a", 5, NULL)
               : ncmpi_def_var(ncid, "a", NC_INT, 0, NULL, NULL);
}

static int attribute_or_end(bool odd)
{
    return odd ? ncmpi_put_att_text(ncid, TEMP, "units", 1, "K") : ncmpi_enddef(ncid);
}

static const struct difference defining[] = {
    {"def_dim, name", dim_name, NC_EMULTIDEFINE_DIM_NAME, "'dim_b'", "'dim_a'"},
    {"def_dim, length", dim_len, NC_EMULTIDEFINE_DIM_SIZE, "is 77", "but 55"},
    {"def_var, name", var_name, NC_EMULTIDEFINE_VAR_NAME, "'var_b'", "'var_a'"},
    {"def_var, type", var_type, NC_EMULTIDEFINE_VAR_TYPE, "is 6", "but 4"},
    {"def_var, ndims", var_ndims, NC_EMULTIDEFINE_VAR_NDIMS, "is 2", "but 1"},
    {"def_var, dimids", var_dimids, NC_EMULTIDEFINE_VAR_DIMIDS, "dimids is", "process 0"},
    {"rename_dim, id", rename_dim_id, NC_EMULTIDEFINE_FNC_ARGS, "is 1", "but 0"},
    {"rename_dim, name", rename_dim_name, NC_EMULTIDEFINE_DIM_NAME, "'y'", "'z'"},
    {"rename_var, id", rename_var_id, NC_EMULTIDEFINE_FNC_ARGS, "is 1", "but 0"},
    {"rename_var, name", rename_var_name, NC_EMULTIDEFINE_VAR_NAME, "'y'", "'z'"},
    {"rename_att, name", rename_att_name, NC_EMULTIDEFINE_ATTR_NAME, "'units'",
     "'level'"},
    {"rename_att, new name", rename_att_new_name, NC_EMULTIDEFINE_ATTR_NAME, "'y'",
     "'z'"},
    {"put_att, varid", att_varid, NC_EMULTIDEFINE_FNC_ARGS, "is 1", "but 0"},
    {"put_att, name", att_name, NC_EMULTIDEFINE_ATTR_NAME, "'level'", "'units'"},
    {"put_att, type", att_type, NC_EMULTIDEFINE_ATTR_TYPE, "is 3", "but 4"},
    {"put_att, length", att_length, NC_EMULTIDEFINE_ATTR_LEN, "is 3", "but 1"},
    {"put_att, value", att_value, NC_EMULTIDEFINE_ATTR_VAL, "values is", "process 0"},
    {"put_att, text", att_text, NC_EMULTIDEFINE_ATTR_VAL, "values is", "process 0"},
    {"copy_att, name", copy_att_name, NC_EMULTIDEFINE_ATTR_NAME, "'level'", "'units'"},
    {"copy_att, varid", copy_att_varid, NC_EMULTIDEFINE_FNC_ARGS, "is -1", "but 1"},
    {"del_att, name", del_att_name, NC_EMULTIDEFINE_ATTR_NAME, "'level'", "'units'"},
    {"set_fill", fill_mode, NC_EMULTIDEFINE_FILL_MODE, "fill: fill mode is", "process 0"},
    {"def_var_fill, varid", var_fill_varid, NC_EMULTIDEFINE_FNC_ARGS, "is 1", "but 0"},
    {"def_var_fill, mode", var_fill_mode, NC_EMULTIDEFINE_VAR_FILL_MODE, "is 1", "but 0"},
    {"def_var_fill, value", var_fill_value, NC_EMULTIDEFINE_VAR_FILL_VALUE, "value is",
     "process 0"},
    {"_enddef", room, NC_EMULTIDEFINE_FNC_ARGS, "is 4096", "but 512"},
    {"enddef and _enddef", enddef_in_two_ways, NC_EMULTIDEFINE_FNC_ARGS, "ncmpi__enddef",
     "ncmpi_enddef"},
    {"def_dim and def_var", definitions_of_two_kinds, NC_EMULTIDEFINE_FNC_ARGS,
     "ncmpi_def_dim", "ncmpi_def_var"},
    {"put_att and enddef", attribute_or_end, NC_EMULTIDEFINE_FNC_ARGS, "ncmpi_put_att",
     "ncmpi_enddef"},
};

/* ---- in data mode ---- */

static int value = 7;
static const MPI_Offset first[1] = {0}, one[1] = {1};

static int put_or_get(bool odd)
{
    return odd ? ncmpi_put_vara_int_all(ncid, TEMP, first, one, &value)
               : ncmpi_get_vara_int_all(ncid, TEMP, first, one, &value);
}

static int sync_or_put(bool odd)
{
    return odd ? ncmpi_sync(ncid) : ncmpi_put_var1_int_all(ncid, TEMP, first, &value);
}

static int sync_or_redef(bool odd)
{
    return odd ? ncmpi_sync(ncid) : ncmpi_redef(ncid);
}

static int begin_or_end(bool odd)
{
    return odd ? ncmpi_begin_indep_data(ncid) : ncmpi_end_indep_data(ncid);
}

static int numrecs_or_flush(bool odd)
{
    return odd ? ncmpi_sync_numrecs(ncid) : ncmpi_flush(ncid);
}

static int wait_or_put(bool odd)
{
    return odd ? ncmpi_wait_all(ncid, 0, NULL, NULL)
               : ncmpi_put_var1_int_all(ncid, TEMP, first, &value);
}

static int fill_or_put(bool odd)
{
    return odd ? ncmpi_fill_var_rec(ncid, WIND, 1)
               : ncmpi_put_var1_int_all(ncid, TEMP, first, &value);
}

static int fill_record(bool odd)
{
    return ncmpi_fill_var_rec(ncid, WIND, odd ? 3 : 2);
}

static int several_or_one(bool odd)
{
    int varids[1] = {TEMP};
    MPI_Offset *starts[1] = {(MPI_Offset *)first}, *counts[1] = {(MPI_Offset *)one};
    int *bufs[1] = {&value};
    return odd ? ncmpi_mput_vara_int_all(ncid, 1, varids, starts, counts, bufs)
               : ncmpi_put_vara_int_all(ncid, TEMP, first, one, &value);
}

static const struct difference in_data_mode[] = {
    {"put and get", put_or_get, NC_EMULTIDEFINE_FNC_ARGS, "a put", "a get"},
    {"sync and put", sync_or_put, NC_EMULTIDEFINE_FNC_ARGS, "ncmpi_sync", "a put"},
    {"sync and redef", sync_or_redef, NC_EMULTIDEFINE_FNC_ARGS, "ncmpi_sync",
     "ncmpi_redef"},
    {"begin_indep and end_indep", begin_or_end, NC_EMULTIDEFINE_FNC_ARGS,
     "ncmpi_begin_indep_data", "ncmpi_end_indep_data"},
    {"sync_numrecs and flush", numrecs_or_flush, NC_EMULTIDEFINE_FNC_ARGS,
     "ncmpi_sync_numrecs", "ncmpi_flush"},
    {"wait_all and put", wait_or_put, NC_EMULTIDEFINE_FNC_ARGS, "ncmpi_wait_all",
     "a put"},
    {"fill_var_rec and put", fill_or_put, NC_EMULTIDEFINE_FNC_ARGS, "ncmpi_fill_var_rec",
     "a put"},
    {"fill_var_rec, recno", fill_record, NC_EMULTIDEFINE_FNC_ARGS, "is 3", "but 2"},
    {"mput and put", several_or_one, NC_EMULTIDEFINE_FNC_ARGS, "an mput", "a put"},
};

/* ---- the cases ---- */

static int template(const char *name)
{
    int id = new_dataset(name), level = 1, dims[2] = {TIME, LAT};
    CHECK_EQ(LAT, new_dim(id, "lat", 5));
    CHECK_EQ(TIME, new_dim(id, "time", NC_UNLIMITED));
    CHECK_EQ(TEMP, new_var(id, "temp", NC_INT, 1, dims + 1));
    CHECK_EQ(WIND, new_var(id, "wind", NC_INT, 1, dims));
    CHECK_EQ(NAME, new_var(id, "name", NC_CHAR, 1, dims + 1));
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(id, WIND, 0, NULL));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(id, TEMP, "units", 1, "C"));
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(id, TEMP, "level", NC_INT, 1, &level));
    return id;
}

static void says(const struct difference *d, int code)
{
    char process[32];
    const char *text = ncmpi_strerror(code);
    snprintf(process, sizeof process, "process %d", check.nprocs - 1);
    const char *const words[] = {process, d->here, d->there, "process 0"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(text, words[i]) == NULL) {
            fprintf(stderr, "# %s\n", d->name);
            CHECK_STR(words[i], text);
        }
}

/* Checks that the dataset is unchanged and still usable. */
static void still_works(int numrecs)
{
    int ndims, nvars, level = 0, back = 0, mine = check.rank;
    MPI_Offset where[1] = {check.rank};
    CHECK_NC(NC_NOERR, ncmpi_inq(ncid, &ndims, &nvars, NULL, NULL));
    CHECK_EQ(2, ndims);
    CHECK_EQ(3, nvars);
    CHECK_NC(NC_NOERR, ncmpi_get_att_int(ncid, TEMP, "level", &level));
    CHECK_EQ(1, level);
    CHECK_EQ(numrecs, dim_length(ncid, TIME));
    CHECK_NC(NC_NOERR, ncmpi_put_var1_int_all(ncid, WIND, where, &mine));
    CHECK_NC(NC_NOERR, ncmpi_get_var1_int_all(ncid, WIND, where, &back));
    CHECK_EQ(mine, back);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_EQ(check.nprocs, dim_length(ncid, TIME));
    close_dataset(ncid);
}

static void try_each(const struct difference *list, size_t n, bool data_mode)
{
    bool odd = check.rank == check.nprocs - 1;
    CHECK_EQ(0, setenv("PNETCDF_SAFE_MODE", "1", 1));
    other = template("b.nc");
    for (size_t i = 0; i < n; i++) {
        const struct difference *d = &list[i];
        ncid = template("a.nc");
        if (data_mode) CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        int code = d->call(odd);
        if (!CHECK_NC(d->code, code)) fprintf(stderr, "# %s\n", d->name);
        says(d, code);
        if (!data_mode) CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        still_works(0);
    }
    close_dataset(other);
    CHECK_EQ(0, unsetenv("PNETCDF_SAFE_MODE"));
}

static void definitions(void)
{
    try_each(defining, sizeof defining / sizeof defining[0], false);
}

static void data_calls(void)
{
    try_each(in_data_mode, sizeof in_data_mode / sizeof in_data_mode[0], true);
}

/* ---- create and open ---- */

static MPI_Info hint(const char *key, const char *text)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, text);
    return info;
}

/* Creates or opens a dataset with arguments that may differ between processes, and checks
 * that the call fails. */
static void refused(const struct difference *d, bool create, const char *name, int mode,
                    const char *alignment)
{
    int id = -1, n = -1;
    MPI_Info info = hint("nc_var_align_size", alignment);
    int code = create ? ncmpi_create(MPI_COMM_WORLD, check_path(name), mode, info, &id)
                      : ncmpi_open(MPI_COMM_WORLD, check_path(name), mode, info, &id);
    MPI_Info_free(&info);
    CHECK_NC(d->code, code);
    says(d, code);
    CHECK_NC(NC_NOERR, ncmpi_inq_files_opened(&n, NULL));
    CHECK_EQ(0, n);
}

static void create_and_open(void)
{
    static const struct difference path = {"path", NULL, NC_EMULTIDEFINE_FNC_ARGS,
                                           "c.nc'", "a.nc'"},
                                   hints = {"hint", NULL, NC_EMULTIDEFINE_HINTS,
                                            "nc_var_align_size is 1024", "512"};
    bool odd = check.rank == check.nprocs - 1;
    const char *name = odd ? "c.nc" : "a.nc", *alignment = odd ? "1024" : "512";
    CHECK_EQ(0, setenv("PNETCDF_SAFE_MODE", "1", 1));
    refused(&path, true, name, 0, "512");
    refused(&hints, true, "a.nc", 0, alignment);
    close_dataset(new_dataset("a.nc"));
    close_dataset(new_dataset("c.nc"));
    refused(&path, false, name, NC_NOWRITE, "512");
    refused(&hints, false, "a.nc", NC_NOWRITE, alignment);
    close_dataset(open_dataset("a.nc", NC_NOWRITE));
    CHECK_EQ(0, unsetenv("PNETCDF_SAFE_MODE"));
}

/* In a single call, each process accesses a different variable and element. */
static void each_process_may_access_another_variable(void)
{
    enum { VARS = 3 };
    int varids[VARS], dims[2], values[2] = {10 * check.rank, 10 * check.rank + 1},
                               back[2];
    MPI_Offset start[2] = {check.rank / VARS, 1}, count[2] = {1, 2}, *starts[1] = {start};
    int mine = check.rank % VARS;
    CHECK_EQ(0, setenv("PNETCDF_SAFE_MODE", "1", 1));
    ncid = new_dataset("a.nc");
    dims[0] = new_dim(ncid, "t", NC_UNLIMITED);
    dims[1] = new_dim(ncid, "x", 4);
    for (int v = 0; v < VARS; v++) {
        char name[2] = {(char)('a' + v), '\0'};
        varids[v] = new_var(ncid, name, v == 1 ? NC_DOUBLE : NC_INT, 2, dims);
    }
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, varids[mine], start, count, values));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, varids[mine], start, count, back));
    CHECK_BYTES(values, back, sizeof values);
    values[0] = -check.rank;
    CHECK_NC(NC_NOERR,
             ncmpi_put_varn_int_all(ncid, varids[mine], 1, starts, NULL, values));
    CHECK_NC(NC_NOERR, ncmpi_get_varn_int_all(ncid, varids[mine], 1, starts, NULL, back));
    CHECK_EQ(values[0], back[0]);
    CHECK_EQ((check.nprocs + VARS - 1) / VARS, dim_length(ncid, dims[0]));
    close_dataset(ncid);
    CHECK_EQ(0, unsetenv("PNETCDF_SAFE_MODE"));
}

/* Process 0's environment determines whether safe mode is on. */
static void one_process_in_safe_mode(void)
{
    for (int first_is = 0; first_is <= 1; first_is++) {
        bool here = (check.rank == 0) == first_is;
        CHECK_EQ(0, setenv("PNETCDF_SAFE_MODE", here ? "1" : "0", 1));
        ncid = template("a.nc");
        int id, code = ncmpi_def_dim(ncid, "again", 5 + (check.rank == 0), &id);
        CHECK_NC(first_is ? NC_EMULTIDEFINE_DIM_SIZE : NC_NOERR, code);
        CHECK_NC(first_is ? NC_NOERR : NC_EMULTIDEFINE_DIM_SIZE, ncmpi_enddef(ncid));
        close_dataset(ncid);
    }
    CHECK_EQ(0, unsetenv("PNETCDF_SAFE_MODE"));
}

static const struct check_test tests[] = {
    {"different definitions are reported", definitions, CHECK_SEVERAL},
    {"different data calls are reported", data_calls, CHECK_SEVERAL},
    {"each process may access another variable", each_process_may_access_another_variable,
     CHECK_SEVERAL},
    {"different arguments of create and open are reported", create_and_open,
     CHECK_SEVERAL},
    {"process 0's environment determines safe mode", one_process_in_safe_mode,
     CHECK_SEVERAL},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "2 3 16");
}
