/* The serial netCDF library changes a dataset that is open here. It looks at nothing that
 * others have done; what it has done stays, or is told. */
#include "two_openings.h"

#include <netcdf.h>

enum { POINTS = 3 }; /* before a put, between two of them, after both */

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

static void its_records_stay(void)
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

/* Within the header's room. */
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

static void its_header_stays(void)
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

/* All data have other places then: nobody can tell whether a put came before. */
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

static void values_that_it_moved_are_told_at_close(void)
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

/* Nothing was put here: nothing can be lost. */
static void who_wrote_nothing_closes_in_peace(void)
{
    make_dataset("a.nc", 0);
    int ncid = open_with("a.nc", "");
    BESIDE(move_theirs("a.nc"));
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"its records stay", its_records_stay, CHECK_FORMATS},
    {"its header stays", its_header_stays, CHECK_FORMATS},
    {"values that it moved are told at close", values_that_it_moved_are_told_at_close, 0},
    {"who wrote nothing closes in peace", who_wrote_nothing_closes_in_peace, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2");
}
