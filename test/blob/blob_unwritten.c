/* Tests elements that no process has put: in variables that receive their decomposition
 * late, in skipped records, and outside of all maps. They must read as zeros, as in an
 * ordinary file. */
#include <stdio.h>
#include <stdlib.h>

#include "../api/made_dataset.h"

enum { N = 24, NRECORDS = 4 };

static int create(const char *hints, int dims[2])
{
    int ncid = -1;
    MPI_Info info = check_info(hints);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                    NC_CLOBBER | check.cmode, info, &ncid));
    MPI_Info_free(&info);
    dims[0] = new_dim(ncid, "time", NC_UNLIMITED);
    dims[1] = new_dim(ncid, "x", N);
    return ncid;
}

static int value_of(int record, int i)
{
    return 1000 * (record + 1) + i;
}

/* Puts a record. Each process puts an equal part of it. */
static void put_record(int ncid, int id, int record)
{
    int values[N];
    MPI_Offset low = N * check.rank / check.nprocs, start[2] = {record, low},
               count[2] = {1, N * (check.rank + 1) / check.nprocs - low};
    for (int i = 0; i < count[1]; i++)
        values[i] = value_of(record, (int)low + i);
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, id, start, count, values));
}

/* Checks that the records whose bits are set in `put` have values, and that all others
 * are zero. */
static void check_records(int ncid, int id, unsigned put)
{
    int values[NRECORDS * N];
    MPI_Offset start[2] = {0, 0}, count[2] = {NRECORDS, N};
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, id, start, count, values));
    for (int r = 0; r < NRECORDS; r++)
        for (int i = 0; i < N; i++)
            if (!CHECK_EQ(put >> r & 1 ? value_of(r, i) : 0, values[r * N + i])) return;
}

/* Runs the check three times: while the writer still has the dataset open, after a
 * collective reopen for reading, and after a reopen by process 0 alone. */
static void check_all(int ncid, int id, void (*check_one)(int ncid, int id, unsigned put),
                      unsigned put)
{
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    check_one(ncid, id, put);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    check_one(ncid, id, put);
    close_dataset(ncid);
    if (check.rank > 0) return;
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_SELF, check_path("a.nc"), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    check_one(ncid, id, put);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static const char *const hints[] = {
    "nc_blob=enable;nc_num_subfiles=1", "nc_blob=enable;nc_num_subfiles=2",
    "nc_blob=enable;nc_num_subfiles=2;nc_blob_join=close", ""};
enum { HINTS = sizeof hints / sizeof *hints };

/* The second variable has a different length than the first, so it does not receive its
 * decomposition at the same time. When it does, the subfile already has records, which
 * must be moved. */
static void unwritten_values_are_filled_variable_decomposed_late(void)
{
    for (int i = 0; i < HINTS; i++) {
        int dims[2], ncid = create(hints[i], dims), first[2] = {dims[0], -1};
        first[1] = new_dim(ncid, "y", N / 2);
        int a = new_var(ncid, "a", NC_INT, 2, dims),
            b = new_var(ncid, "b", NC_INT, 2, first);
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        MPI_Offset low = N / 2 * check.rank / check.nprocs,
                   count[2] = {1, N / 2 * (check.rank + 1) / check.nprocs - low};
        int ones[N];
        for (int k = 0; k < N; k++)
            ones[k] = -1;
        for (int r = 0; r < NRECORDS; r++) {
            MPI_Offset start[2] = {r, low};
            CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, b, start, count, ones));
        }
        put_record(ncid, a, 3);
        check_all(ncid, a, check_records, 8);
    }
}

/* The variable is added after records have been written to the master file and
 * subfiles. */
static void unwritten_values_are_filled_added_variable(void)
{
    for (int i = 0; i < HINTS; i++) {
        int dims[2], ncid = create(hints[i], dims);
        int a = new_var(ncid, "a", NC_INT, 2, dims);
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        for (int r = 0; r < NRECORDS; r++)
            put_record(ncid, a, r);
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        int b = new_var(ncid, "b", NC_INT, 2, dims);
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        check_records(ncid, b, 0);
        put_record(ncid, b, 2);
        check_records(ncid, a, 15);
        check_all(ncid, b, check_records, 4);
    }
}

static void unwritten_values_are_filled_skipped_records(void)
{
    for (int i = 0; i < HINTS; i++) {
        int dims[2], ncid = create(hints[i], dims);
        int a = new_var(ncid, "a", NC_INT, 2, dims);
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        put_record(ncid, a, 3);
        put_record(ncid, a, 1);
        check_all(ncid, a, check_records, 10);
    }
}

/* ---- maps with only land points ---- */

/* Returns true for two of every three elements. */
static bool is_land(int i)
{
    return i % 3 > 0;
}

static int owner(int i)
{
    int process = i / 2 % check.nprocs;
    return process == 1 ? 0 : process;
}

static void put_land(int ncid, int id, int record)
{
    MPI_Offset at[N][2], *starts[N];
    int values[N], n = 0;
    for (int i = 0; i < N; i++) {
        if (!is_land(i) || owner(i) != check.rank) continue;
        starts[n] = at[n];
        at[n][0] = record;
        at[n][1] = i;
        values[n++] = value_of(record, i);
    }
    CHECK_NC(NC_NOERR, ncmpi_put_varn_int_all(ncid, id, n, starts, NULL, values));
}

/* Checks that all land points have values, and that sea points are zero. The exception
 * is element 0, a sea point: it also has a value in the records whose bits are set in
 * `put`. */
static void check_land(int ncid, int id, unsigned put)
{
    int values[2 * N];
    MPI_Offset start[2] = {0, 0}, count[2] = {2, N};
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, id, start, count, values));
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < N; i++) {
            bool known = is_land(i) || (i == 0 && (put >> r & 1) != 0);
            if (!CHECK_EQ(known ? value_of(r, i) : 0, values[r * N + i])) return;
        }
}

static void unwritten_values_are_filled_elements_outside_of_all_maps(void)
{
    for (int i = 0; i < HINTS; i++) {
        int dims[2], ncid = create(hints[i], dims), value = value_of(1, 0);
        int a = new_var(ncid, "a", NC_INT, 2, dims);
        MPI_Offset at[2] = {1, 0};
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        put_land(ncid, a, 0);
        put_land(ncid, a, 1);
        check_land(ncid, a, 0);
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        if (check.rank == check.nprocs - 1)
            CHECK_NC(NC_NOERR, ncmpi_put_var1_int(ncid, a, at, &value));
        CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
        check_all(ncid, a, check_land, 2);
    }
}

static const struct check_test tests[] = {
    {"unwritten values are filled: variable decomposed late",
     unwritten_values_are_filled_variable_decomposed_late, CHECK_FORMATS},
    {"unwritten values are filled: added variable",
     unwritten_values_are_filled_added_variable, CHECK_FORMATS},
    {"unwritten values are filled: skipped records",
     unwritten_values_are_filled_skipped_records, 0},
    {"unwritten values are filled: elements outside of all maps",
     unwritten_values_are_filled_elements_outside_of_all_maps, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3");
}
