/* Processes that put short pieces into each other's holes, each by itself and all at the
 * same time: in one opening, and in openings of their own, as jobs have them. What each
 * has put last is there, whatever the others did to the bytes around it.
 *
 *   NCMPI_HOLES=N   N calls of each process and opening */
#include <stdlib.h>

#include "counts.h"
#include "made_dataset.h"

enum { ROWS = 5, COLUMNS = 4099, LEAST = 60, MOST_CALLS = 1 << 28 };

/* Columns are dealt out. What this process has put: by variable, row, column. */
static int put_last[2][ROWS][COLUMNS], count_of_calls;
static int vars[2];

static long calls(void)
{
    const char *asked = getenv("NCMPI_HOLES");
    long n = asked == NULL ? LEAST : atol(asked);
    return n < MOST_CALLS ? n : MOST_CALLS;
}

static int define(void)
{
    int ncid = new_dataset("a.nc"), dims[2];
    dims[0] = new_dim(ncid, "y", ROWS);
    dims[1] = new_dim(ncid, "x", COLUMNS);
    vars[0] = new_var(ncid, "v", NC_INT, 2, dims);
    vars[1] = new_var(ncid, "w", NC_SHORT, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    memset(put_last, 0, sizeof put_last);
    count_of_calls = 0;
    return ncid;
}

/* A part of the columns of a row that are this process's. */
struct part {
    int which, row;
    MPI_Offset first, n, step;
};

static struct part choose_part(void)
{
    int mine = (COLUMNS - check.rank + check.nprocs - 1) / check.nprocs;
    struct part p = {.which = (int)check_random_own(2),
                     .row = (int)check_random_own(ROWS)};
    int64_t skipped = (int64_t)check_random_own((uint64_t)mine), pace;
    if (check_random_own(3) == 0) skipped = 0;
    pace = 1 + (int64_t)check_random_own(3);
    p.first = check.rank + skipped * check.nprocs;
    p.step = pace * check.nprocs;
    p.n = (mine - skipped + pace - 1) / pace;
    return p;
}

static void note(const struct part *p, const int *values)
{
    for (MPI_Offset i = 0; i < p->n; i++)
        put_last[p->which][p->row][p->first + i * p->step] = values[i];
}

static void put_strided(int ncid, const struct part *p, const int *values)
{
    MPI_Offset start[2] = {p->row, p->first}, count[2] = {1, p->n},
               step[2] = {1, p->step};
    CHECK_NC(NC_NOERR,
             ncmpi_put_vars_int(ncid, vars[p->which], start, count, step, values));
}

/* The same elements one by one, all in one call. */
static void put_singly(int ncid, const struct part *p, const int *values)
{
    static MPI_Offset at[COLUMNS][2], *starts[COLUMNS];
    for (MPI_Offset i = 0; i < p->n; i++) {
        at[i][0] = p->row;
        at[i][1] = p->first + i * p->step;
        starts[i] = at[i];
    }
    CHECK_NC(NC_NOERR,
             ncmpi_put_varn_int(ncid, vars[p->which], (int)p->n, starts, NULL, values));
}

static void put_posted(int ncid, const struct part *p, const int *values)
{
    int ids[2], statuses[2];
    MPI_Offset half = p->n / 2, left = p->n - half;
    MPI_Offset start[2] = {p->row, p->first}, count[2] = {1, half},
               step[2] = {1, p->step};
    CHECK_NC(NC_NOERR, ncmpi_iput_vars_int(ncid, vars[p->which], start, count, step,
                                           values, &ids[0]));
    start[1] += half * p->step;
    count[1] = left;
    CHECK_NC(NC_NOERR, ncmpi_iput_vars_int(ncid, vars[p->which], start, count, step,
                                           values + half, &ids[1]));
    CHECK_NC(NC_NOERR, ncmpi_wait(ncid, 2, ids, statuses));
}

static void put_something(int ncid)
{
    static void (*const ways[])(int, const struct part *,
                                const int *) = {put_strided, put_singly, put_posted};
    static int values[COLUMNS];
    struct part p = choose_part();
    if (check_random_own(4) == 0) p.n = 1;
    for (MPI_Offset i = 0; i < p.n; i++)
        values[i] = ++count_of_calls % 32000 + 1;
    ways[check_random_own(3)](ncid, &p, values);
    note(&p, values);
}

static void check_mine(int ncid)
{
    static int row[COLUMNS];
    for (int which = 0; which < 2; which++)
        for (int y = 0; y < ROWS; y++) {
            MPI_Offset start[2] = {y, 0}, count[2] = {1, COLUMNS};
            CHECK_NC(NC_NOERR,
                     ncmpi_get_vara_int_all(ncid, vars[which], start, count, row));
            for (int x = check.rank; x < COLUMNS; x += check.nprocs)
                if (!CHECK_EQ(put_last[which][y][x], row[x])) return;
        }
}

static void check_file(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    int ncid = open_dataset("a.nc", NC_NOWRITE);
    check_mine(ncid);
    close_dataset(ncid);
}

/* ---- the tests ---- */

/* All of the variables is there before: holes have values that were put. */
static void fill_first(int ncid)
{
    static int ones[COLUMNS];
    for (int x = 0; x < COLUMNS; x++)
        ones[x] = -1;
    for (int which = 0; which < 2; which++)
        for (int y = 0; y < ROWS; y++) {
            MPI_Offset start[2] = {y, 0}, count[2] = {check.rank == 0, COLUMNS};
            CHECK_NC(NC_NOERR,
                     ncmpi_put_vara_int_all(ncid, vars[which], start, count, ones));
            for (int x = check.rank; x < COLUMNS; x += check.nprocs)
                put_last[which][y][x] = -1;
        }
}

static void in_one_opening(void)
{
    for (int filled = 0; filled < 2; filled++) {
        int ncid = define();
        if (filled) fill_first(ncid);
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        for (long i = calls(); i > 0; i--)
            put_something(ncid);
        CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
        check_mine(ncid);
        close_dataset(ncid);
        check_file();
    }
}

static void in_openings_of_their_own(void)
{
    int ncid = define();
    close_dataset(ncid);
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_SELF, check_path("a.nc"), NC_WRITE,
                                  MPI_INFO_NULL, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    for (long i = calls(); i > 0; i--)
        put_something(ncid);
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    check_file();
}

/* Records are added by all at the same time, so that the file grows while pieces are
 * stored near its end: ext4 shows a length before it has put zeros in front of what made
 * it. */
static void while_the_file_grows(void)
{
    enum { SHORT = 211 };
    static int values[SHORT], have[SHORT];
    long n = 10 * calls();
    int ncid = new_dataset("a.nc"), dims[2];
    dims[0] = new_dim(ncid, "t", NC_UNLIMITED);
    dims[1] = new_dim(ncid, "x", SHORT);
    int v = new_var(ncid, "v", NC_INT, 2, dims);
    MPI_Offset start[2] = {0, check.rank}, step[2] = {1, check.nprocs},
               count[2] = {1, (SHORT - check.rank + check.nprocs - 1) / check.nprocs};
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    for (start[0] = 0; start[0] < n; start[0]++) {
        for (int i = 0; i < count[1]; i++)
            values[i] = (int)(start[0] * SHORT + i * step[1] + check.rank + 1);
        CHECK_NC(NC_NOERR, ncmpi_put_vars_int(ncid, v, start, count, step, values));
    }
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    for (start[0] = 0; start[0] < n; start[0]++) {
        MPI_Offset from[2] = {start[0], 0}, row[2] = {1, SHORT};
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, from, row, have));
        bool right = true;
        for (int x = 0; x < SHORT && right; x++)
            right = CHECK_EQ(start[0] * SHORT + x + 1, have[x]);
        if (!right) break;
    }
    close_dataset(ncid);
}

/* Where the file system allows it; else the counts tell that it does not. */
static void many_go_by_one_call(void)
{
    enum { N = 500 };
    static int values[N];
    int ncid = counting_dataset("a.nc", NULL, NULL), dim = new_dim(ncid, "x", 4 * N);
    int v = new_var(ncid, "v", NC_INT, 1, &dim);
    MPI_Offset start = 0, count = check.rank == 0 ? N : 0, step = 3;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vars_int(ncid, v, &start, &count, &step, values));
    long long writes = count_of(ncid, "file_writes"), many, singly;
    CHECK_NC(NC_NOERR, ncmpi_put_vars_int(ncid, v, &start, &count, &step, values));
    writes = count_of(ncid, "file_writes") - writes;
    many = count_of(ncid, "file_scattered");
    singly = count_of(ncid, "file_singles");
    CHECK_EQ(check.rank == 0 ? 2 * N : 0, many + singly);
    CHECK_EQ(check.rank > 0 ? 0 : many > 0 ? 1 : N, writes);
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"in one opening", in_one_opening, CHECK_FORMATS},
    {"in openings of their own", in_openings_of_their_own, CHECK_FORMATS},
    {"while the file grows", while_the_file_grows, CHECK_FORMATS},
    {"many go by one call", many_go_by_one_call, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 4");
}
