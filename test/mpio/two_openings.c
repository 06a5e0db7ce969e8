/* Opens a dataset twice, as two jobs might. Records added by one of them must survive
 * when the other continues. If one changes the header, the other must not overwrite that
 * change. */
#include <unistd.h>

#include "two_openings.h"

/* Hints that select different ways to access the file. */
static const char *const ways[] = {"nc_file_io=posix", "nc_file_io=mpi",
                                   "nc_transfer=view", "romio_no_indep_rw=true"};
enum { WAYS = sizeof ways / sizeof ways[0] };

static void append_beside(const char *name, int rec)
{
    int ncid = open_beside(name, NC_WRITE);
    CHECK_NC(NC_NOERR, put_record(ncid, FIRST, rec, true));
    CHECK_NC(NC_NOERR, put_record(ncid, SECOND, rec, true));
    close_dataset(ncid);
}

static void expect_both(const char *name)
{
    expect_records(name, 10);
    expect_record(name, FIRST, 3);
    expect_record(name, FIRST, 9);
    expect_record(name, SECOND, 9);
}

/* ---- records added through the other open dataset ---- */

static void close_keeps_records_that_another_opening_added(void)
{
    for (int way = 0; way < WAYS; way++) {
        make_dataset("a.nc", 0);
        int ncid = open_with("a.nc", ways[way]);
        BESIDE(append_beside("a.nc", 9));
        CHECK_NC(NC_NOERR, put_record(ncid, FIRST, 3, true));
        close_dataset(ncid);
        BESIDE(expect_both("a.nc"));
    }
}

static void close_keeps_records_that_were_added_during_its_own_puts(void)
{
    for (int way = 0; way < WAYS; way++) {
        make_dataset("a.nc", 0);
        int ncid = open_with("a.nc", ways[way]);
        CHECK_NC(NC_NOERR, put_record(ncid, FIRST, 3, true));
        BESIDE(append_beside("a.nc", 9));
        close_dataset(ncid);
        BESIDE(expect_both("a.nc"));
    }
}

static void a_sync_returns_records_that_another_opening_added(void)
{
    for (int way = 0; way < WAYS; way++) {
        MPI_Offset length = -1;
        make_dataset("a.nc", 0);
        int ncid = open_with("a.nc", ways[way]);
        CHECK_NC(NC_NOERR, put_record(ncid, FIRST, 3, true));
        BESIDE(append_beside("a.nc", 9));
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, 0, &length));
        CHECK_EQ(10, length);
        CHECK_NC(NC_NOERR, put_record(ncid, FIRST, 10, true));
        CHECK_NC(NC_NOERR, put_record(ncid, SECOND, 10, true));
        close_dataset(ncid);
        BESIDE(expect_records("a.nc", 11));
        BESIDE(expect_record("a.nc", SECOND, 9));
    }
}

static void independent_puts_keep_records_that_another_opening_added(void)
{
    for (int sync = 0; sync < 2; sync++) {
        make_dataset("a.nc", 0);
        int ncid = open_with("a.nc", ways[0]);
        BESIDE(append_beside("a.nc", 9));
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        CHECK_NC(NC_NOERR, put_record(ncid, FIRST, 3, false));
        if (sync) CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
        close_dataset(ncid);
        BESIDE(expect_both("a.nc"));
    }
}

/* Another program, which has not seen all records, overwrites the number of records
 * without checking it. The close must restore the correct number. */
static void a_number_of_records_that_was_lowered_is_restored(void)
{
    make_dataset("a.nc", 0);
    int ncid = open_with("a.nc", ways[0]);
    CHECK_NC(NC_NOERR, put_record(ncid, FIRST, 3, true));
    CHECK_NC(NC_NOERR, put_record(ncid, FIRST, 9, true));
    CHECK_NC(NC_NOERR, put_record(ncid, SECOND, 9, true));
    const char lower[] = {0, 0, 0, 0, 0, 0, 0, 2};
    int width = check.format == 5 ? 8 : 4;
    BESIDE(FILE *f = fopen(check_path("a.nc"), "r+");
           CHECK(f != NULL && fseek(f, 4, SEEK_SET) == 0);
           CHECK_EQ(1, fwrite(lower + 8 - width, (size_t)width, 1, f)); fclose(f));
    close_dataset(ncid);
    BESIDE(expect_both("a.nc"));
}

/* ---- headers ---- */

static void change_beside(const char *name, const char *units)
{
    int ncid = open_beside(name, NC_WRITE);
    CHECK_NC(NC_NOERR,
             ncmpi_put_att_text(ncid, FIRST, "units", (MPI_Offset)strlen(units), units));
    close_dataset(ncid);
}

static void expect_changed(const char *name, const char *units)
{
    int varid = -1, ncid = open_beside(name, NC_NOWRITE);
    expect_units(ncid, units);
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "second", &varid));
    close_dataset(ncid);
}

static void a_header_that_another_opening_changed_is_kept(void)
{
    static const char *const units[] = {"inches", "m"};
    for (int i = 0; i < 2 * WAYS; i++) {
        const char *is = units[i % 2];
        make_dataset("a.nc", 2000);
        int ncid = open_with("a.nc", ways[i / 2]);
        BESIDE(change_beside("a.nc", is));
        expect_refused(ncmpi_put_att_text(ncid, FIRST, "units", 3, "kmh"), "another");
        expect_units(ncid, "metres");
        expect_refused(ncmpi_rename_var(ncid, SECOND, "third"), "another");
        expect_refused(ncmpi_rename_dim(ncid, 1, "y"), "another");
        expect_refused(ncmpi_rename_att(ncid, FIRST, "units", "unit"), "another");
        BESIDE(expect_changed("a.nc", is));
        CHECK_NC(NC_NOERR, put_record(ncid, FIRST, 3, true)); /* puts still succeed */
        close_dataset(ncid);
        BESIDE(expect_changed("a.nc", is));
        BESIDE(expect_record("a.nc", FIRST, 3));
    }
}

/* Same as the test above, but with a header so long that it is written through a
 * journal. */
static void a_long_header_that_another_opening_changed_is_kept(void)
{
    char name[64];
    int ncid = new_dataset("a.nc");
    for (int i = 0; i < 300; i++) {
        sprintf(name, "a variable with a long name, number %d", i);
        new_var(ncid, name, NC_INT, 0, NULL);
    }
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, FIRST, "units", 6, "metres"));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    close_dataset(ncid);
    complete_closes();

    ncid = open_with("a.nc", ways[0]);
    BESIDE(change_beside("a.nc", "inches"));
    long size = 0;
    char *was = check.rank == 0 ? contents("a.nc", &size) : NULL;
    expect_refused(ncmpi_rename_var(ncid, FIRST, "short"), "another");
    CHECK_NC(NC_NOERR,
             ncmpi_inq_varid(ncid, "a variable with a long name, number 0", NULL));
    close_dataset(ncid);
    BESIDE(expect_contents("a.nc", was, size);
           CHECK(access(check_path("a.nc.redef"), F_OK) != 0));
}

/* Two jobs can take turns changing the header, provided that each reopens the dataset
 * before its change. */
static void a_later_opening_may_change_the_header(void)
{
    make_dataset("a.nc", 2000);
    int ncid = open_with("a.nc", ways[0]);
    BESIDE(change_beside("a.nc", "m"));
    expect_refused(ncmpi_put_att_text(ncid, FIRST, "units", 3, "kmh"), "another");
    close_dataset(ncid);
    ncid = open_with("a.nc", ways[0]);
    expect_units(ncid, "m");
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, FIRST, "units", 3, "kmh"));
    CHECK_NC(NC_NOERR, ncmpi_rename_var(ncid, SECOND, "third"));
    close_dataset(ncid);
    BESIDE(ncid = open_beside("a.nc", NC_NOWRITE); expect_units(ncid, "kmh");
           close_dataset(ncid));
}

/* ---- redefinitions ---- */

/* Changes an attribute or adds a variable. Adding a record variable moves all records; a
 * fixed-size variable is placed in unused space and filled. */
static void define(int ncid, int change)
{
    int dims[] = {0, 1}, varid;
    if (change == 0)
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, FIRST, "units", 3, "kmh"));
    if (change == 1) new_var(ncid, "third", NC_DOUBLE, 2, dims);
    if (change == 2) {
        varid = new_var(ncid, "fixed", NC_INT, 1, &dims[1]);
        CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, varid, 0, NULL));
    }
}

static void enddef_fails_and_changes_nothing_if_the_header_was_changed(void)
{
    for (int i = 0; i < 3 * WAYS; i++) {
        make_dataset("a.nc", 8000);
        BESIDE(append_beside("a.nc", 2));
        int ncid = open_with("a.nc", ways[i / 3]);
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        define(ncid, i % 3);
        BESIDE(change_beside("a.nc", "m"));
        long size = 0;
        char *was = check.rank == 0 ? contents("a.nc", &size) : NULL;
        expect_refused(ncmpi_enddef(ncid), "another program");
        CHECK_NC(NC_EINDEFINE, ncmpi_sync(ncid)); /* still in define mode */
        CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
        BESIDE(expect_contents("a.nc", was, size));
    }
}

static void enddef_refuses_to_move_records_that_another_opening_added(void)
{
    make_dataset("a.nc", 8000);
    int ncid = open_with("a.nc", ways[0]);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    define(ncid, 1);
    BESIDE(append_beside("a.nc", 9));
    long size = 0;
    char *was = check.rank == 0 ? contents("a.nc", &size) : NULL;
    expect_refused(ncmpi_enddef(ncid), "added records");
    CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
    BESIDE(expect_contents("a.nc", was, size));
}

static void enddef_keeps_records_that_another_opening_added(void)
{
    make_dataset("a.nc", 8000);
    int ncid = open_with("a.nc", ways[0]);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    define(ncid, 0);
    BESIDE(append_beside("a.nc", 9));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, put_record(ncid, FIRST, 3, true));
    close_dataset(ncid);
    BESIDE(expect_both("a.nc"); expect_changed("a.nc", "kmh"));
}

static void a_redefinition_moves_records_that_another_opening_added(void)
{
    make_dataset("a.nc", 0);
    int ncid = open_with("a.nc", ways[0]);
    BESIDE(append_beside("a.nc", 9));
    CHECK_NC(NC_NOERR, put_record(ncid, FIRST, 3, true));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    define(ncid, 1);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    close_dataset(ncid);
    BESIDE(expect_both("a.nc"));
}

/* ---- creating two datasets with the same name ---- */

static void make_beside(const char *name)
{
    int ncid = -1, dims[2];
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_SELF, check_path(name),
                                    NC_CLOBBER | check.cmode, MPI_INFO_NULL, &ncid));
    dims[0] = new_dim(ncid, "t", NC_UNLIMITED);
    dims[1] = new_dim(ncid, "x", X);
    new_var(ncid, "first", NC_DOUBLE, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, put_record(ncid, FIRST, 0, true));
    close_dataset(ncid);
}

static void the_earlier_of_two_creates_is_refused(void)
{
    for (int abort = 0; abort < 2; abort++) {
        int ncid = new_dataset("a.nc");
        new_var(ncid, "mine", NC_INT, 0, NULL);
        BESIDE(make_beside("a.nc"));
        long size = 0;
        char *was = check.rank == 0 ? contents("a.nc", &size) : NULL;
        expect_refused(ncmpi_enddef(ncid), "another program");
        if (abort)
            CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
        else
            CHECK_NC(NC_EFILE, ncmpi_close(ncid));
        BESIDE(expect_contents("a.nc", was, size));
    }
}

/* ---- concurrent changes ---- */

/* Opens the dataset on this process only, appends records and changes an attribute,
 * without waiting for other processes. Returns whether all of this succeeded. */
static bool race(const char *name, int records)
{
    char units[] = "0etres";
    int ncid = -1;
    double values[X];
    units[0] = (char)('0' + check.rank);
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_SELF, check_path(name), NC_WRITE, MPI_INFO_NULL, &ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < records; i++) {
        MPI_Offset start[] = {i * check.nprocs + check.rank, 0}, count[] = {1, X};
        for (int k = 0; k < X; k++)
            values[k] = value_of(FIRST, (int)start[0]);
        CHECK_NC(NC_NOERR, ncmpi_put_vara_double_all(ncid, FIRST, start, count, values));
    }
    int err = ncmpi_put_att_text(ncid, FIRST, "units", 6, units);
    CHECK(err == NC_NOERR || err == NC_EFILE);
    close_dataset(ncid);
    return err == NC_NOERR;
}

static void processes_with_separate_openings_lose_no_record(void)
{
    for (int round = 0; round < 40; round++) {
        int records = 10 + (int)check_random(5), winner = -1, winners = 0, mine;
        char units[] = "0etres";
        make_dataset("a.nc", 1000);
        mine = race("a.nc", records);
        MPI_Allreduce(&mine, &winners, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(1, winners);
        mine = mine ? check.rank : -1;
        MPI_Allreduce(&mine, &winner, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        units[0] = (char)('0' + winner);
        BESIDE(expect_records("a.nc", records * check.nprocs);
               for (int i = 0; i < records * check.nprocs; i++)
                   expect_record("a.nc", FIRST, i);
               expect_changed("a.nc", units));
    }
}

/* ---- values in a log ---- */

/* Programs in Python open a file again before their earlier object is closed. */
static void an_opening_finds_values_that_the_program_has_logged(void)
{
    static const char *const logs[] = {
        "nc_burst_buf=enable;nc_burst_buf_dirname=%s",
        "e10_cache=enable;e10_cache_path=%s",
        "nc_blob=enable;nc_burst_buf=enable;nc_burst_buf_dirname=%s",
        "nc_burst_buf=enable;nc_burst_buf_dirname=%s;nc_burst_buf_shared_logs=enable"};
    enum { N = 37, LOGS = sizeof logs / sizeof logs[0] };
    for (int i = 0; i < 2 * LOGS && PNETCDF_BURST_BUFFERING; i++) {
        int err, dims[2], ncid, varid, other;
        MPI_Offset start[2] = {4, N * check.rank}, count[2] = {1, N}, records = 0;
        double put[N], got[N] = {0};
        bool alone = i >= LOGS;
        for (int k = 0; k < N; k++)
            put[k] = (double)check_random_own(UINT64_MAX) * 1.1e-7;
        ncid = create_through(MPI_COMM_WORLD, "again.nc", logs[i % LOGS], &err);
        CHECK_NC(NC_NOERR, err);
        dims[0] = new_dim(ncid, "t", NC_UNLIMITED);
        dims[1] = new_dim(ncid, "x", N * check.nprocs);
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_DOUBLE, 2, dims, &varid));
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_put_vara_double_all(ncid, varid, start, count, put));
        if (alone) {
            CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
            put[0] = -put[0];
            CHECK_NC(NC_NOERR, ncmpi_put_vara_double(ncid, varid, start, count, put));
        }
        other = open_dataset("again.nc", NC_NOWRITE);
        CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(other, dims[0], &records));
        CHECK_EQ(5, records);
        CHECK_NC(NC_NOERR, ncmpi_get_vara_double_all(other, varid, start, count, got));
        CHECK_BYTES(put, got, sizeof put);
        close_dataset(other);
        close_dataset(ncid);
    }
}

static const struct check_test tests[] = {
    {"close keeps records that another opening added",
     close_keeps_records_that_another_opening_added, CHECK_FORMATS},
    {"close keeps records that were added during its own puts",
     close_keeps_records_that_were_added_during_its_own_puts, CHECK_FORMATS},
    {"a sync returns records that another opening added",
     a_sync_returns_records_that_another_opening_added, CHECK_FORMATS},
    {"independent puts keep records that another opening added",
     independent_puts_keep_records_that_another_opening_added, CHECK_FORMATS},
    {"a number of records that was lowered is restored",
     a_number_of_records_that_was_lowered_is_restored, CHECK_FORMATS},
    {"a header that another opening changed is kept",
     a_header_that_another_opening_changed_is_kept, 0},
    {"a long header that another opening changed is kept",
     a_long_header_that_another_opening_changed_is_kept, 0},
    {"a later opening may change the header", a_later_opening_may_change_the_header, 0},
    {"enddef fails and changes nothing if the header was changed",
     enddef_fails_and_changes_nothing_if_the_header_was_changed, 0},
    {"enddef refuses to move records that another opening added",
     enddef_refuses_to_move_records_that_another_opening_added, 0},
    {"enddef keeps records that another opening added",
     enddef_keeps_records_that_another_opening_added, 0},
    {"a redefinition moves records that another opening added",
     a_redefinition_moves_records_that_another_opening_added, 0},
    {"an opening finds values that the program has logged",
     an_opening_finds_values_that_the_program_has_logged, 0},
    {"the earlier of two creates is refused", the_earlier_of_two_creates_is_refused, 0},
    {"processes with separate openings lose no record",
     processes_with_separate_openings_lose_no_record, CHECK_SEVERAL},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3");
}
