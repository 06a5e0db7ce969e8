/* Opens a dataset twice for writing. While both are open, a redefinition through one of
 * them must fail if it would move data or change the offset of a variable. */
#include <string.h>

#include "made_dataset.h"

enum { LENGTH = 500, MORE = 20000 };

/* These hints determine whether the lock belongs to the descriptor through which data is
 * written, or to a separate one. */
static const char *const ways[] = {"nc_file_io=posix", "nc_file_io=mpi"};
enum { NWAYS = sizeof ways / sizeof ways[0] };

static int value(int at)
{
    return at * 3 + 1;
}

static void make(void)
{
    int values[LENGTH], x, v, ncid = new_dataset("a.nc");
    for (int i = 0; i < LENGTH; i++)
        values[i] = value(i);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", LENGTH, &x));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 1, &x, &v));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, v, "units", 1, "m"));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(ncid, v, values));
    close_dataset(ncid);
}

static int open_so(const char *how, int omode)
{
    MPI_Info info = check_info(how);
    int ncid = -1;
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), omode, info, &ncid));
    MPI_Info_free(&info);
    return ncid;
}

static void check_values(int ncid)
{
    int values[LENGTH] = {0}, wrong = 0;
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, 0, values));
    for (int i = 0; i < LENGTH; i++)
        wrong += values[i] != value(i);
    CHECK_EQ(0, wrong);
}

/* Makes the header so long that the data must move. */
static void grow(int ncid)
{
    static char text[MORE];
    memset(text, 't', sizeof text);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "more", MORE, text));
}

static void moving_data_requires_that_no_other_process_can_write(void)
{
    for (int how = 0; how < NWAYS; how++) {
        make();
        int other = open_so(ways[NWAYS - 1 - how], NC_WRITE);
        int ncid = open_so(ways[how], NC_WRITE);
        grow(ncid);
        CHECK_NC(NC_EFILE, ncmpi_enddef(ncid));
        CHECK(strstr(ncmpi_strerror(NC_EFILE), "open for writing") != NULL);
        check_values(other);
        close_dataset(other);
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        check_values(ncid);
        close_dataset(ncid);
        int again = open_so(ways[how], NC_NOWRITE);
        check_values(again);
        close_dataset(again);
    }
}

/* A new variable would be placed where the records begin. No data would have to move,
 * because there are no records yet, but a record put through the other ncid would
 * overwrite the variable. */
static void moving_a_variable_requires_that_no_other_process_can_write(void)
{
    for (int how = 0; how < NWAYS; how++) {
        int t, x, record, added, ncid = new_dataset("a.nc"), values[LENGTH];
        MPI_Offset start[] = {0, 0}, count[] = {1, LENGTH};
        for (int i = 0; i < LENGTH; i++)
            values[i] = value(i);
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &t));
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", LENGTH, &x));
        int dimids[] = {t, x};
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 2, dimids, &record));
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        close_dataset(ncid);

        int other = open_so("nc_burst_buf=enable", NC_WRITE);
        ncid = open_so(ways[how], NC_WRITE);
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "w", NC_INT, 1, &x, &added));
        CHECK_NC(NC_EFILE, ncmpi_enddef(ncid));
        CHECK(strstr(ncmpi_strerror(NC_EFILE), "open for writing") != NULL);
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(other, record, start, count, values));
        close_dataset(other);
        CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
        ncid = open_so(ways[how], NC_NOWRITE);
        check_values(ncid);
        close_dataset(ncid);
    }
}

static void an_open_for_reading_does_not_prevent_moving_data(void)
{
    make();
    int reader = open_so(ways[0], NC_NOWRITE), ncid = open_so(ways[0], NC_WRITE);
    grow(ncid);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    check_values(ncid);
    close_dataset(ncid);
    close_dataset(reader);
}

static void a_header_that_was_changed_by_another_opening_is_kept(void)
{
    make();
    int ncid = open_so(ways[0], NC_WRITE), other = open_so(ways[0], NC_WRITE);
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(other, 0, "units", 1, "s"));
    close_dataset(other);
    grow(ncid);
    CHECK_NC(NC_EFILE, ncmpi_enddef(ncid));
    CHECK(strstr(ncmpi_strerror(NC_EFILE), "changed by another program") != NULL);
    CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
    ncid = open_so(ways[0], NC_NOWRITE);
    char units = 0;
    CHECK_NC(NC_NOERR, ncmpi_get_att_text(ncid, 0, "units", &units));
    CHECK_EQ('s', units);
    check_values(ncid);
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"moving data requires that no other process can write",
     moving_data_requires_that_no_other_process_can_write, CHECK_FORMATS},
    {"moving a variable requires that no other process can write",
     moving_a_variable_requires_that_no_other_process_can_write, CHECK_FORMATS},
    {"an open for reading does not prevent moving data",
     an_open_for_reading_does_not_prevent_moving_data, 0},
    {"a header that was changed by another opening is kept",
     a_header_that_was_changed_by_another_opening_is_kept, CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
