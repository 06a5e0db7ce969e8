/* Tests defining and renaming dimensions and variables: names, lengths, types, and the
 * required mode. */
#include <stdio.h>
#include <string.h>

#include "made_dataset.h"

static void invalid_names_are_refused(void)
{
    static const char *const bad[] = {"",
                                      "a/b",
                                      "a ",
                                      " a",
                                      "a\nb",
                                      ("\x7f"
                                       "a"),
                                      "-a",
                                      "\xff\xfe",
                                      "/"};
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", 3), id;
    int v = new_var(ncid, "v", NC_INT, 1, &x);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_NC(NC_EBADNAME, ncmpi_def_dim(ncid, bad[i], 3, &id));
        CHECK_NC(NC_EBADNAME, ncmpi_def_var(ncid, bad[i], NC_INT, 1, &x, &id));
        CHECK_NC(NC_EBADNAME, ncmpi_rename_dim(ncid, x, bad[i]));
        CHECK_NC(NC_EBADNAME, ncmpi_rename_var(ncid, v, bad[i]));
        CHECK_NC(NC_EBADNAME, ncmpi_put_att_text(ncid, v, bad[i], 1, "a"));
    }
    CHECK_NC(NC_NOERR, ncmpi_inq_ndims(ncid, &id));
    CHECK_EQ(1, id);
    close_dataset(ncid);
}

static void unusual_names_are_kept(void)
{
    static const char *const good[] = {"_a",
                                       "9a",
                                       "a b",
                                       "a:b",
                                       "a-b+c@d",
                                       "\xc3\xa9t\xc3\xa9",
                                       "\xe6\xb8\xa9\xe5\xba\xa6",
                                       "a.b,c(d)"};
    int ncid = new_dataset("a.nc"), id, n = sizeof good / sizeof good[0];
    char name[NC_MAX_NAME + 1];
    for (int i = 0; i < n; i++) {
        new_dim(ncid, good[i], i + 1);
        new_var(ncid, good[i], NC_INT, 1, &i);
    }
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    for (int i = 0; i < n; i++) {
        CHECK_NC(NC_NOERR, ncmpi_inq_dimname(ncid, i, name));
        CHECK_STR(good[i], name);
        CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, good[i], &id));
        CHECK_EQ(i, id);
    }
    close_dataset(ncid);
}

static void names_have_a_maximum_length(void)
{
    char name[NC_MAX_NAME + 2], back[NC_MAX_NAME + 1];
    int ncid = new_dataset("a.nc"), id;
    memset(name, 'n', sizeof name);
    name[NC_MAX_NAME + 1] = '\0';
    CHECK_NC(NC_EMAXNAME, ncmpi_def_dim(ncid, name, 3, &id));
    CHECK_NC(NC_EMAXNAME, ncmpi_def_var(ncid, name, NC_INT, 0, NULL, &id));
    CHECK_NC(NC_EMAXNAME, ncmpi_put_att_text(ncid, NC_GLOBAL, name, 1, "a"));
    name[NC_MAX_NAME] = '\0';
    new_dim(ncid, name, 3);
    new_var(ncid, name, NC_INT, 0, NULL);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_inq_dimname(ncid, 0, back));
    CHECK_STR(name, back);
    close_dataset(ncid);
}

static void a_name_can_only_be_defined_once(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", 3), id;
    int v = new_var(ncid, "v", NC_INT, 1, &x);
    new_dim(ncid, "y", 3);
    new_var(ncid, "w", NC_INT, 1, &x);
    new_var(ncid, "x", NC_INT, 1, &x); /* dimensions and variables have separate name
                                        * spaces */
    CHECK_NC(NC_ENAMEINUSE, ncmpi_def_dim(ncid, "x", 4, &id));
    CHECK_NC(NC_ENAMEINUSE, ncmpi_def_var(ncid, "v", NC_INT, 0, NULL, &id));
    CHECK_NC(NC_ENAMEINUSE, ncmpi_rename_dim(ncid, x, "y"));
    CHECK_NC(NC_ENAMEINUSE, ncmpi_rename_var(ncid, v, "w"));
    close_dataset(ncid);
}

static void dimension_lengths_have_bounds(void)
{
    int ncid = new_dataset("a.nc"), id;
    CHECK_NC(NC_EDIMSIZE, ncmpi_def_dim(ncid, "a", -1, &id));
    CHECK_NC(NC_EDIMSIZE, ncmpi_def_dim(ncid, "b", -(1LL << 40), &id));
    MPI_Offset most = check.format == 5 ? NC_MAX_INT64 : NC_MAX_INT;
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "c", most, &id));
    if (check.format != 5) CHECK_NC(NC_EDIMSIZE, ncmpi_def_dim(ncid, "d", most + 1, &id));
    CHECK_EQ(most, dim_length(ncid, id));
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_EQ(most, dim_length(ncid, 0));
    close_dataset(ncid);
}

static void only_one_dimension_may_be_unlimited(void)
{
    int ncid = new_dataset("a.nc"), id, dims[2];
    dims[1] = new_dim(ncid, "t", NC_UNLIMITED);
    dims[0] = new_dim(ncid, "x", 3);
    CHECK_NC(NC_EUNLIMIT, ncmpi_def_dim(ncid, "u", NC_UNLIMITED, &id));
    CHECK_NC(NC_EUNLIMPOS, ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &id));
    close_dataset(ncid);
}

static void invalid_variables_are_refused(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", 3), id, bad = 7;
    CHECK_NC(NC_EBADDIM, ncmpi_def_var(ncid, "v", NC_INT, 1, &bad, &id));
    bad = -1;
    CHECK_NC(NC_EBADDIM, ncmpi_def_var(ncid, "v", NC_INT, 1, &bad, &id));
    CHECK_NC(NC_EINVAL, ncmpi_def_var(ncid, "v", NC_INT, -1, &x, &id));
    CHECK_NC(NC_EINVAL, ncmpi_def_var(ncid, "v", NC_INT, 1, NULL, &id));
    CHECK_NC(NC_EBADTYPE, ncmpi_def_var(ncid, "v", 0, 1, &x, &id));
    CHECK_NC(NC_EBADTYPE, ncmpi_def_var(ncid, "v", 99, 1, &x, &id));
    CHECK_NC(NC_NOERR, ncmpi_inq_nvars(ncid, &id));
    CHECK_EQ(0, id);
    close_dataset(ncid);
}

static void new_types_need_cdf5(void)
{
    int ncid = new_dataset("a.nc"), id, ok = check.format == 5;
    for (nc_type type = NC_BYTE; type <= NC_UINT64; type++) {
        char name[8] = {'v', (char)('a' + type), '\0'};
        CHECK_NC(ok || type <= NC_DOUBLE ? NC_NOERR : NC_ESTRICTCDF2,
                 ncmpi_def_var(ncid, name, type, 0, NULL, &id));
    }
    close_dataset(ncid);
}

static void definitions_require_define_mode(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", 3), id;
    CHECK_NC(NC_EINDEFINE, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_ENOTINDEFINE, ncmpi_enddef(ncid));
    CHECK_NC(NC_ENOTINDEFINE, ncmpi_def_dim(ncid, "y", 3, &id));
    CHECK_NC(NC_ENOTINDEFINE, ncmpi_def_var(ncid, "v", NC_INT, 1, &x, &id));
    close_dataset(ncid);
}

static void objects_can_be_renamed_in_define_mode(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", 3), id;
    int v = new_var(ncid, "v", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_rename_dim(ncid, x, "a_longer_name"));
    CHECK_NC(NC_NOERR, ncmpi_rename_var(ncid, v, "another_longer_name"));
    CHECK_NC(NC_EBADDIM, ncmpi_inq_dimid(ncid, "x", &id));
    CHECK_NC(NC_ENOTVAR, ncmpi_inq_varid(ncid, "v", &id));
    CHECK_NC(NC_EBADDIM, ncmpi_rename_dim(ncid, 5, "y"));
    CHECK_NC(NC_ENOTVAR, ncmpi_rename_var(ncid, 5, "y"));
    CHECK_NC(NC_EBADNAME, ncmpi_rename_dim(ncid, 5, "a/b"));
    CHECK_NC(NC_EBADNAME, ncmpi_rename_dim(ncid, -1, NULL));
    CHECK_NC(NC_ENOTVAR, ncmpi_rename_var(ncid, 5, "a/b"));
    CHECK_NC(NC_EGLOBAL, ncmpi_rename_var(ncid, NC_GLOBAL, "y"));
    CHECK_NC(NC_EGLOBAL, ncmpi_rename_var(ncid, NC_GLOBAL, "a/b"));
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_inq_dimid(ncid, "a_longer_name", &id));
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "another_longer_name", &id));
    close_dataset(ncid);
}

/* Renames each object before the next one is defined with the same name. */
static void renamed_objects_are_found_as_a_dataset_grows(void)
{
    enum { N = 100 };
    int ncid = new_dataset("a.nc"), id;
    char name[32];
    for (int i = 0; i < N; i++) {
        const int dim = new_dim(ncid, "dim", i + 1);
        const int v = new_var(ncid, "var", NC_INT, 1, &dim);
        snprintf(name, sizeof name, "dim_%d", i);
        CHECK_NC(NC_NOERR, ncmpi_rename_dim(ncid, dim, name));
        snprintf(name, sizeof name, "var_%d", i);
        CHECK_NC(NC_NOERR, ncmpi_rename_var(ncid, v, name));
    }
    CHECK_NC(NC_EBADDIM, ncmpi_inq_dimid(ncid, "dim", &id));
    CHECK_NC(NC_ENOTVAR, ncmpi_inq_varid(ncid, "var", &id));
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "dim_%d", i);
        CHECK_NC(NC_NOERR, ncmpi_inq_dimid(ncid, name, &id));
        CHECK_EQ(i, id);
        snprintf(name, sizeof name, "var_%d", i);
        CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, name, &id));
        CHECK_EQ(i, id);
    }
    close_dataset(ncid);
}

static void a_name_in_data_mode_may_not_become_longer(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "dim", 3), id;
    int v = new_var(ncid, "var", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_rename_dim(ncid, x, "mid"));
    CHECK_NC(NC_NOERR, ncmpi_rename_var(ncid, v, "v"));
    CHECK_NC(NC_ENOTINDEFINE, ncmpi_rename_dim(ncid, x, "longer"));
    CHECK_NC(NC_ENOTINDEFINE, ncmpi_rename_var(ncid, v, "longer"));
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_inq_dimid(ncid, "mid", &id));
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "v", &id));
    close_dataset(ncid);
}

static void a_dataset_may_have_very_many_objects(void)
{
    enum { N = 3000 };
    int ncid = new_dataset("a.nc"), id;
    char name[32];
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "object_%d", i);
        new_dim(ncid, name, i + 1);
        new_var(ncid, name, NC_BYTE, 1, &i);
    }
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    for (int i = 0; i < N; i += 37) {
        snprintf(name, sizeof name, "object_%d", i);
        CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, name, &id));
        CHECK_EQ(i, id);
        CHECK_EQ(i + 1, dim_length(ncid, i));
    }
    close_dataset(ncid);
}

static void the_default_format_is_used_by_create(void)
{
    static const int formats[] = {NC_FORMAT_CLASSIC, NC_FORMAT_CDF2, NC_FORMAT_CDF5};
    int old = -1, now = -1, ncid = -1;
    CHECK_NC(NC_NOERR, ncmpi_inq_default_format(&now));
    CHECK_EQ(NC_FORMAT_CLASSIC, now);
    for (int i = 0; i < 3; i++) {
        CHECK_NC(NC_NOERR, ncmpi_set_default_format(formats[i], &old));
        CHECK_EQ(now, old);
        CHECK_NC(NC_NOERR, ncmpi_inq_default_format(&now));
        CHECK_EQ(formats[i], now);
        CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), NC_CLOBBER,
                                        MPI_INFO_NULL, &ncid));
        CHECK_NC(NC_NOERR, ncmpi_inq_format(ncid, &old));
        CHECK_EQ(formats[i], old);
        close_dataset(ncid);
    }
    CHECK_NC(NC_EINVAL, ncmpi_set_default_format(99, NULL));
    CHECK_NC(NC_NOERR, ncmpi_set_default_format(NC_FORMAT_CLASSIC, NULL));
}

static const struct check_test tests[] = {
    {"invalid names are refused", invalid_names_are_refused, 0},
    {"unusual names are kept", unusual_names_are_kept, CHECK_FORMATS},
    {"names have a maximum length", names_have_a_maximum_length, 0},
    {"a name can only be defined once", a_name_can_only_be_defined_once, 0},
    {"dimension lengths have bounds", dimension_lengths_have_bounds, CHECK_FORMATS},
    {"only one dimension may be unlimited", only_one_dimension_may_be_unlimited, 0},
    {"invalid variables are refused", invalid_variables_are_refused, CHECK_FORMATS},
    {"new types require CDF-5", new_types_need_cdf5, CHECK_FORMATS},
    {"definitions require define mode", definitions_require_define_mode, 0},
    {"objects can be renamed in define mode", objects_can_be_renamed_in_define_mode,
     CHECK_FORMATS},
    {"renamed objects are found as a dataset grows",
     renamed_objects_are_found_as_a_dataset_grows, CHECK_FORMATS},
    {"a name in data mode may not become longer",
     a_name_in_data_mode_may_not_become_longer, CHECK_FORMATS},
    {"a dataset may have very many objects", a_dataset_may_have_very_many_objects,
     CHECK_FORMATS},
    {"the default format is used by create", the_default_format_is_used_by_create, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
