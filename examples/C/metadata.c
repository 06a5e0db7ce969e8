/* Writes, lists and changes attributes, which describe a variable or the whole file.
 *
 *     mpicc -o metadata metadata.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./metadata */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Checks the error code that a library call returned. If only one process exited, the
 * others would wait forever, so an error aborts all of them. */
static void check(int status, int line)
{
    if (status == NC_NOERR) return;
    fprintf(stderr, "%s, line %d: %s\n", __FILE__, line, ncmpi_strerror(status));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}
#define CHECK(call) check(call, __LINE__)

static void put_text(int file, int var, const char *name, const char *text)
{
    CHECK(ncmpi_put_att_text(file, var, name, (MPI_Offset)strlen(text), text));
}

/* Defines the variables and their attributes. Attributes are part of the definitions, so
 * all processes make the same calls. */
static void define(int file)
{
    int dim, vars[2];
    const double range[2] = {-40.5, 60};
    const int version = 3;
    CHECK(ncmpi_def_dim(file, "station", 4, &dim));
    CHECK(ncmpi_def_var(file, "temperature", NC_FLOAT, 1, &dim, &vars[0]));
    CHECK(ncmpi_def_var(file, "dew_point", NC_FLOAT, 1, &dim, &vars[1]));

    put_text(file, NC_GLOBAL, "title", "What attributes are for");
    /* The type in the file and the type in memory may differ. */
    CHECK(ncmpi_put_att_int(file, NC_GLOBAL, "version", NC_SHORT, 1, &version));

    put_text(file, vars[0], "units", "degC");
    put_text(file, vars[0], "comment", "to be removed");
    CHECK(ncmpi_put_att_double(file, vars[0], "valid_range", NC_FLOAT, 2, range));
    CHECK(ncmpi_copy_att(file, vars[0], "units", file, vars[1]));
    CHECK(ncmpi_enddef(file));
}

/* Changes attributes. In data mode, an attribute can only be replaced with one that is
 * not larger. All other changes require define mode. */
static void change(int file)
{
    int var;
    CHECK(ncmpi_inq_varid(file, "temperature", &var));
    put_text(file, NC_GLOBAL, "title", "Attributes");
    CHECK(ncmpi_redef(file));
    CHECK(ncmpi_del_att(file, var, "comment"));
    CHECK(ncmpi_rename_att(file, var, "valid_range", "actual_range"));
    CHECK(ncmpi_enddef(file));
}

/* Lists all attributes without knowing their names. Reads numbers as double, and text as
 * text. */
static void list(int file, int var, int natts)
{
    for (int i = 0; i < natts; i++) {
        char name[NC_MAX_NAME + 1], text[64] = "";
        double numbers[8];
        nc_type type;
        MPI_Offset length;
        CHECK(ncmpi_inq_attname(file, var, i, name));
        CHECK(ncmpi_inq_att(file, var, name, &type, &length));
        if (type == NC_CHAR && length < (MPI_Offset)sizeof text) {
            CHECK(ncmpi_get_att_text(file, var, name, text)); /* does not append '\0' */
            printf("%s = \"%s\"\n", name, text);
        } else if (type != NC_CHAR && length > 0 && length <= 8) {
            CHECK(ncmpi_get_att_double(file, var, name, numbers));
            printf("%s = %g ... (%lld)\n", name, numbers[0], (long long)length);
        }
    }
}

int main(int argc, char **argv)
{
    int rank, file, natts;
    const char *path = argc > 1 ? argv[1] : "metadata.nc";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &file));
    define(file);
    change(file);
    CHECK(ncmpi_inq_natts(file, &natts)); /* attributes of the whole file */
    if (rank == 0) list(file, NC_GLOBAL, natts);
    CHECK(ncmpi_inq_varnatts(file, 0, &natts));
    if (rank == 0) list(file, 0, natts);
    CHECK(ncmpi_close(file));
    MPI_Finalize();
    return EXIT_SUCCESS;
}
