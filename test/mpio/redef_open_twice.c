/* A dataset that is open for writing twice: what moves data needs it alone. */
#include <string.h>

#include "made_dataset.h"

enum { LENGTH = 500, MORE = 20000 };

/* Who opens: the descriptor of the data has the lock, or one of its own. */
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

/* The data must move for it. */
static void grow(int ncid)
{
    static char text[MORE];
    memset(text, 't', sizeof text);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "more", MORE, text));
}

static void needs_it_alone(void)
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

static void a_reader_is_in_nobodys_way(void)
{
    make();
    int reader = open_so(ways[0], NC_NOWRITE), ncid = open_so(ways[0], NC_WRITE);
    grow(ncid);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    check_values(ncid);
    close_dataset(ncid);
    close_dataset(reader);
}

static void a_header_that_was_changed(void)
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
    {"what moves data needs it alone", needs_it_alone, CHECK_FORMATS},
    {"a reader is in nobody's way", a_reader_is_in_nobodys_way, 0},
    {"a header that was changed elsewhere stays", a_header_that_was_changed,
     CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
