/* Tests input that the library cannot use: unusable communicators, inaccessible memory,
 * and truncated files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "made_dataset.h"

/* ---- communicators ---- */

static void expect_einval(int rc, const char *text)
{
    CHECK_NC(NC_EINVAL, rc);
    CHECK(strstr(ncmpi_strerror(rc), text) != NULL);
}

static void intercommunicators_are_refused(void)
{
    int ncid = -1;
    MPI_Comm half, inter;
    close_dataset(new_dataset("a.nc"));
    MPI_Comm_split(MPI_COMM_WORLD, check.rank % 2, check.rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, check.rank % 2 ? 0 : 1, 5, &inter);
    const char *path = check_path("a.nc");
    expect_einval(ncmpi_open(inter, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "inter");
    expect_einval(ncmpi_create(inter, path, check.cmode, MPI_INFO_NULL, &ncid), "inter");
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    close_dataset(open_dataset("a.nc", NC_NOWRITE)); /* not truncated by create */
}

static void MPI_COMM_NULL_is_refused(void)
{
    int ncid = -1;
    const char *path = check_path("a.nc");
    expect_einval(ncmpi_open(MPI_COMM_NULL, path, NC_NOWRITE, MPI_INFO_NULL, &ncid),
                  "NULL");
    expect_einval(ncmpi_create(MPI_COMM_NULL, path, 0, MPI_INFO_NULL, &ncid), "NULL");
    CHECK(access(path, F_OK) != 0);
}

/* ---- memory ---- */

static void inaccessible_memory_is_reported(void)
{
    enum { N = 1 << 20 };
    void *values = mmap(NULL, N, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Offset start = check.rank * (MPI_Offset)N, count = N;
    int ncid = new_dataset("a.nc"),
        dim = new_dim(ncid, "x", (MPI_Offset)N * check.nprocs);
    int varid = new_var(ncid, "bytes", NC_BYTE, 1, &dim);
    CHECK(values != MAP_FAILED);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    if (!has_log(ncid)) {
        int rc = ncmpi_put_vara_schar(ncid, varid, &start, &count, values);
        CHECK_NC(NC_EWRITE, rc);
        CHECK(strstr(ncmpi_strerror(rc), "memory that cannot be accessed") != NULL);
        CHECK(strstr(ncmpi_strerror(rc), "quota") == NULL);
    }
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    close_dataset(ncid);
    (void)munmap(values, N);
}

/* ---- truncated files ---- */

enum { X = 501 };

/* Creates a dataset with two variables and truncates the file after the first 5 values of
 * the second. */
static void make_cut_off(void)
{
    int values[X], ncid = new_dataset("a.nc"), dim = new_dim(ncid, "x", X);
    MPI_Offset begin = 0;
    int whole = new_var(ncid, "whole", NC_INT, 1, &dim);
    int cut = new_var(ncid, "cut", NC_INT, 1, &dim);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int i = 0; i < X; i++)
        values[i] = (int)(check_random(INT32_MAX) | 1);
    CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(ncid, whole, values));
    CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(ncid, cut, values));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, cut, &begin));
    close_dataset(ncid);
    complete_closes();
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) CHECK_EQ(0, truncate(check_path("a.nc"), (off_t)begin + 20));
    MPI_Barrier(MPI_COMM_WORLD);
}

static int open_short(const char *hints, int omode)
{
    int ncid = -1;
    MPI_Info info = check_info(hints);
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), omode, info, &ncid));
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    return ncid;
}

static const char *const ways[] = {"nc_file_io=posix", "nc_file_io=mpi",
                                   "romio_no_indep_rw=true", "nc_transfer=view",
                                   "nc_stage=enable"};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* Like other netCDF libraries, this one returns zeros for missing values. */
static void they_read_as_zeros_with_a_warning(void)
{
    int values[X];
    make_cut_off();
    for (int i = 0; i < 2 * WAYS; i++) {
        char hints[200];
        bool warn = i % 2 == 0;
        snprintf(hints, sizeof hints, "%s%s", ways[i / 2],
                 warn ? "" : ";nc_short_file=zeros");
        int ncid = open_short(hints, NC_NOWRITE);
        CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, 1, values));
        CHECK(values[4] != 0 && values[5] == 0 && values[X - 1] == 0);
        const char *told = hint_in_force(ncid, "nc_file_warning");
        CHECK_EQ(warn, strstr(told, "the file ends at byte") != NULL);
        close_dataset(ncid);
    }
}

static void they_are_an_error_where_that_is_asked_for(void)
{
    make_cut_off();
    for (int i = 0; i < 2 * WAYS; i++) {
        char hints[200];
        int values[X];
        MPI_Offset start = check.rank == 0 ? X - 1 : 0, count = 1, five = 5;
        snprintf(hints, sizeof hints, "%s;nc_short_file=error", ways[i / 2]);
        int ncid = open_short(hints, i % 2 ? NC_WRITE : NC_NOWRITE);
        CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, 0, values));
        CHECK_NC(NC_NOERR,
                 ncmpi_get_vara_int_all(ncid, 1, &(MPI_Offset){0}, &five, values));
        /* Only process 0 reads beyond the end of the file, but all processes must get the
         * error. */
        int rc = ncmpi_get_vara_int_all(ncid, 1, &start, &count, values);
        CHECK_NC(NC_EREAD, rc);
        if (check.rank == 0)
            CHECK(strstr(ncmpi_strerror(rc), "values of variable cut extend to byte") !=
                  NULL);
        if (strcmp(ways[i / 2], "romio_no_indep_rw=true") != 0) {
            CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
            rc = ncmpi_get_vara_int(ncid, 1, &start, &count, values);
            CHECK_NC(check.rank == 0 ? NC_EREAD : NC_NOERR, rc);
            CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
        }
        close_dataset(ncid);
        make_cut_off(); /* the close extended the truncated file */
    }
}

/* In a dataset that is being written, reading values that were never put is not an
 * error. */
static void values_may_be_read_before_they_are_put(void)
{
    int values[X], ncid = -1;
    MPI_Info info = check_info("nc_short_file=error");
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    int dim = new_dim(ncid, "x", X), varid = new_var(ncid, "x", NC_INT, 1, &dim);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, varid, values));
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"intercommunicators are refused", intercommunicators_are_refused, CHECK_SEVERAL},
    {"MPI_COMM_NULL is refused", MPI_COMM_NULL_is_refused, 0},
    {"inaccessible memory is reported", inaccessible_memory_is_reported, 0},
    {"truncated files read as zeros with a warning", they_read_as_zeros_with_a_warning,
     0},
    {"a hint makes truncated files an error", they_are_an_error_where_that_is_asked_for,
     CHECK_FORMATS},
    {"values may be read before they are put", values_may_be_read_before_they_are_put, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3");
}
