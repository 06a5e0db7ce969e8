/* Runs the test bodies that are written in Fortran. Also writes a file in C, to which the
 * file written in Fortran must be identical. */
#include "check.h"

#include "pnetcdf.h"

void optional_arguments(void);
void nothing_optional(void);
void sections(void);
void waiting_sections(void);
void waiting_dummies(void);
void datatypes(void);
void errors(void);
void dimensions_and_variables(void);
void attributes(void);
void fill_values(void);
void files(void);
void requests(void);
void write_in_fortran(void);
void history(void);
void one_request_fails(void);
void text_arrays(void);
void odd_attributes(void);
void lists(void);
void messages(void);
void text_attributes(void);

enum { NX = 5, NY = 4, RECORDS = 3 };

static void define(int ncid, int *vars)
{
    int dims[3], text;
    const short range[2] = {-3, 300};
    const int whole = 77;
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "y", NY, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", NX, &dims[2]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "characters", 6, &text));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "name", NC_CHAR, 1, &text, &vars[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "b", NC_BYTE, 2, dims + 1, &vars[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "s", NC_SHORT, 3, dims, &vars[2]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "i", NC_INT, 2, dims + 1, &vars[3]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "f", NC_FLOAT, 3, dims, &vars[4]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "d", NC_DOUBLE, 1, dims, &vars[5]));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 5, "twins"));
    CHECK_NC(NC_NOERR, ncmpi_put_att_short(ncid, vars[2], "range", NC_SHORT, 2, range));
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, vars[3], "whole", NC_INT, 1, &whole));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
}

/* Process 0 puts all values. The other processes transfer no elements. */
static void write_in_c(void)
{
    int ncid, vars[6];
    signed char b[NY][NX];
    int s[RECORDS][NY][NX], i[NY][NX];
    float f[RECORDS][NY][NX];
    double d[RECORDS];
    const MPI_Offset some = check.rank == 0, zero[3] = {0};
    const MPI_Offset all[3] = {RECORDS * some, NY * some, NX * some};
    for (int t = 0; t < RECORDS; t++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++) {
                b[y][x] = (signed char)(10 * y + x);
                i[y][x] = 100000 * y + x;
                s[t][y][x] = 100 * t + 10 * y + x;
                f[t][y][x] = (float)s[t][y][x] / 4;
                d[t] = t + 0.125;
            }
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("c.nc"), check.cmode,
                                    MPI_INFO_NULL, &ncid));
    define(ncid, vars);
    const MPI_Offset six = 6 * some;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_text_all(ncid, vars[0], zero, &six, "marvin"));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_schar_all(ncid, vars[1], zero, all + 1, b[0]));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, vars[2], zero, all, s[0][0]));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, vars[3], zero, all + 1, i[0]));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_float_all(ncid, vars[4], zero, all, f[0][0]));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_double_all(ncid, vars[5], zero, all, d));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void same_file_as_c(void)
{
    write_in_c();
    write_in_fortran();
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) CHECK(check_same_files(check_path("c.nc"), check_path("f.nc")));
}

static const struct check_test tests[] = {
    {"start, count, stride and map are optional", optional_arguments, CHECK_FORMATS},
    {"all four optional arguments may be omitted", nothing_optional, 0},
    {"sections of arrays are put and read", sections, CHECK_FORMATS},
    {"sections of arrays are posted", waiting_sections, 0},
    {"dummies, pointers and allocatables are posted", waiting_dummies, 0},
    {"datatypes describe memory", datatypes, 0},
    {"errors are returned", errors, 0},
    {"dimensions and variables are defined and inquired", dimensions_and_variables,
     CHECK_FORMATS},
    {"attributes are put and read", attributes, CHECK_FORMATS},
    {"fill values are set and inquired", fill_values, 0},
    {"files are created and opened", files, CHECK_FORMATS},
    {"requests are posted and waited for", requests, 0},
    {"files have the same bytes as those of C", same_file_as_c, CHECK_FORMATS},
    {"a time series is written by buffered puts", history, CHECK_FORMATS},
    {"one request of several fails", one_request_fails, 0},
    {"arrays of text are put and read", text_arrays, CHECK_FORMATS},
    {"attributes may be empty, and arguments have keywords", odd_attributes,
     CHECK_FORMATS},
    {"lists may be shorter or longer than needed", lists, CHECK_FORMATS},
    {"messages are those of module pnetcdf", messages, 0},
    {"text attributes have no trailing blanks", text_attributes, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 4");
}
