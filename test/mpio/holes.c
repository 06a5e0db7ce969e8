/* All processes simultaneously put short pieces into the gaps between each other's
 * pieces, by independent calls. They either open the dataset together or, like separate
 * jobs, each by itself. Every piece must have the values that its process put last,
 * whatever other processes have written around it.
 *
 * NCMPI_HOLES=N makes each process call put N times after each open of the dataset. */
#include <stdlib.h>

#include "made_dataset.h"

enum { ROWS = 5, COLUMNS = 4099, LEAST = 60, MOST_CALLS = 1 << 28 };

/* The values that this process put last, indexed by variable, row and column. Columns are
 * assigned to the processes round-robin. */
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

/* The columns of one row that this process puts in a call. */
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

/* Puts the part with one varn call, which has a segment for each element. */
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

/* First puts all elements, so that the gaps contain values. */
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

static void writes_around_holes_lose_nothing_one_opening(void)
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

static void writes_around_holes_lose_nothing_one_opening_per_process(void)
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

/* All processes append records at the same time, so the file grows while pieces near its
 * end are being written. When a write extends a file past its old end, ext4 makes the new
 * size visible before it has zeroed the bytes in between. */
static void writes_around_holes_lose_nothing_growing_file(void)
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

static const struct check_test tests[] = {
    {"writes around holes lose nothing: one opening",
     writes_around_holes_lose_nothing_one_opening, CHECK_FORMATS},
    {"writes around holes lose nothing: one opening per process",
     writes_around_holes_lose_nothing_one_opening_per_process, CHECK_FORMATS},
    {"writes around holes lose nothing: growing file",
     writes_around_holes_lose_nothing_growing_file, CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 4");
}
