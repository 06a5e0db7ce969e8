/* Tests a dataset that is open for writing while process 0 changes it through the serial
 * netCDF library. That library does not notice when other programs change the file, so
 * its changes must survive. This library's close must return an error if values put
 * through it may be lost. */
#include "two_openings.h"

#include <netcdf.h>

/* When the file is changed: before, between, or after two puts. */
enum { POINTS = 3 };

static int open_theirs(const char *name)
{
    int ncid = -1;
    CHECK_EQ(NC_NOERR, nc_open(check_path(name), NC_WRITE, &ncid));
    return ncid;
}

static void append_theirs(const char *name, int rec)
{
    double values[X];
    int ncid = open_theirs(name);
    size_t start[] = {(size_t)rec, 0}, count[] = {1, X};
    for (int varid = FIRST; varid <= SECOND; varid++) {
        for (int i = 0; i < X; i++)
            values[i] = value_of(varid, rec);
        CHECK_EQ(NC_NOERR, nc_put_vara_double(ncid, varid, start, count, values));
    }
    CHECK_EQ(NC_NOERR, nc_close(ncid));
}

static void records_that_netCDF_C_added_are_kept(void)
{
    for (int point = 0; point < POINTS; point++) {
        make_dataset("a.nc", 0);
        int ncid = open_with("a.nc", "");
        for (int put = 0; put < POINTS; put++) {
            if (put == point) BESIDE(append_theirs("a.nc", 9));
            if (put < POINTS - 1)
                CHECK_NC(NC_NOERR, put_record(ncid, FIRST, 2 + put, true));
        }
        close_dataset(ncid);
        BESIDE(expect_records("a.nc", 10); expect_record("a.nc", FIRST, 2);
               expect_record("a.nc", FIRST, 3); expect_record("a.nc", FIRST, 9);
               expect_record("a.nc", SECOND, 9));
    }
}

/* Makes a change to the header that fits into its padding. */
static void change_theirs(const char *name, int change)
{
    int ncid = open_theirs(name);
    if (change == 0) CHECK_EQ(NC_NOERR, nc_rename_var(ncid, SECOND, "b"));
    if (change == 1)
        CHECK_EQ(NC_NOERR, nc_put_att_text(ncid, FIRST, "units", 6, "inches"));
    if (change == 2) {
        CHECK_EQ(NC_NOERR, nc_redef(ncid));
        CHECK_EQ(NC_NOERR, nc_put_att_text(ncid, NC_GLOBAL, "title", 9, "a title, "));
        CHECK_EQ(NC_NOERR, nc__enddef(ncid, 0, 4, 0, 4));
    }
    CHECK_EQ(NC_NOERR, nc_close(ncid));
}

static void a_header_that_netCDF_C_changed_is_kept(void)
{
    for (int change = 0; change < 3; change++) {
        make_dataset("a.nc", 2000);
        int ncid = open_with("a.nc", "");
        BESIDE(change_theirs("a.nc", change));
        long size = 0;
        char *was = check.rank == 0 ? contents("a.nc", &size) : NULL;
        expect_refused(ncmpi_put_att_text(ncid, FIRST, "units", 3, "kmh"), "another");
        expect_refused(ncmpi_rename_var(ncid, SECOND, "bet"), "another");
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        expect_refused(ncmpi_enddef(ncid), "another");
        CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
        BESIDE(expect_contents("a.nc", was, size));
    }
}

/* Adds a record variable, so that all data moves. Afterwards, this library cannot
 * determine whether a value was put before or after the move. */
static void move_theirs(const char *name)
{
    int ncid = open_theirs(name), dims[] = {0, 1};
    CHECK_EQ(NC_NOERR, nc_redef(ncid));
    CHECK_EQ(NC_NOERR, nc_def_var(ncid, "third", NC_DOUBLE, 2, dims, NULL));
    CHECK_EQ(NC_NOERR, nc_enddef(ncid));
    CHECK_EQ(NC_NOERR, nc_close(ncid));
}

static void replace_theirs(const char *name)
{
    int ncid = -1;
    CHECK_EQ(NC_NOERR, nc_create(check_path(name), NC_CLOBBER, &ncid));
    CHECK_EQ(NC_NOERR, nc_close(ncid));
}

static void close_reports_that_netCDF_C_moved_or_replaced_values(void)
{
    for (int change = 0; change < 2; change++) {
        make_dataset("a.nc", 0);
        int ncid = open_with("a.nc", "");
        CHECK_NC(NC_NOERR, put_record(ncid, FIRST, 0, true));
        BESIDE(change == 0 ? move_theirs("a.nc") : replace_theirs("a.nc"));
        (void)put_record(ncid, SECOND, 0, true);
        int err = ncmpi_close(ncid);
        CHECK_NC(NC_EFILE, err);
        if (check.rank == 0) expect_refused(err, "another program");
    }
}

/* A program that put nothing cannot have lost anything, so its close must succeed. */
static void close_succeeds_on_a_process_that_put_nothing(void)
{
    make_dataset("a.nc", 0);
    int ncid = open_with("a.nc", "");
    BESIDE(move_theirs("a.nc"));
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"records that netCDF-C added are kept", records_that_netCDF_C_added_are_kept,
     CHECK_FORMATS},
    {"a header that netCDF-C changed is kept", a_header_that_netCDF_C_changed_is_kept,
     CHECK_FORMATS},
    {"close reports that netCDF-C moved or replaced values",
     close_reports_that_netCDF_C_moved_or_replaced_values, 0},
    {"close succeeds on a process that put nothing",
     close_succeeds_on_a_process_that_put_nothing, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2");
}
