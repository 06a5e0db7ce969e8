/* What nobody has put: in a variable that is settled late, in records that were passed
 * over, where no map of a decomposition names it. It reads as in an ordinary file: zeros.
 */
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

/* Each process an even part of a record. */
static void put_record(int ncid, int id, int record)
{
    int values[N];
    MPI_Offset low = N * check.rank / check.nprocs, start[2] = {record, low},
               count[2] = {1, N * (check.rank + 1) / check.nprocs - low};
    for (int i = 0; i < count[1]; i++)
        values[i] = value_of(record, (int)low + i);
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, id, start, count, values));
}

/* Records as bits; the others are zeros. */
static void check_records(int ncid, int id, unsigned put)
{
    int values[NRECORDS * N];
    MPI_Offset start[2] = {0, 0}, count[2] = {NRECORDS, N};
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, id, start, count, values));
    for (int r = 0; r < NRECORDS; r++)
        for (int i = 0; i < N; i++)
            if (!CHECK_EQ(put >> r & 1 ? value_of(r, i) : 0, values[r * N + i])) return;
}

/* By those who put it, by readers, and by one alone. */
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

/* Of another length, so that it is not settled along with the first; the subfile has
 * records by then, which move. */
static void in_a_variable_that_is_settled_late(void)
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

/* Added when there are records already, in the master and in subfiles. */
static void in_a_variable_that_is_added(void)
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

static void in_records_that_are_passed_over(void)
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

/* ---- land alone ---- */

/* Two of three elements; the second process has none. */
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

/* put: records in which element 0, at sea, has been put later. */
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

static void where_no_map_names_it(void)
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
    {"in a variable that is settled late", in_a_variable_that_is_settled_late,
     CHECK_FORMATS},
    {"in a variable that is added", in_a_variable_that_is_added, CHECK_FORMATS},
    {"in records that are passed over", in_records_that_are_passed_over, 0},
    {"where no map names it", where_no_map_names_it, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3");
}
