/* Tests a dataset in subfiles while calls on its files fail, or the device fails for a
 * while. Existing values must remain, and a call may return success only if it has taken
 * effect. The test `each_fault` tries all calls; this file contains cases that once
 * failed. */
#include <stdio.h>
#include <string.h>

#include "../api/made_dataset.h"
#include "base_compress.h"
#include "base_sum.h"
#include "fault.h"

enum { N = 5, MOST_CALLS = 12 };

static int ncid, first, late;

static void filled(void)
{
    MPI_Info info;
    int values[N], dims[2];
    MPI_Offset start = (MPI_Offset)N * check.rank, count = N;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_blob", "enable");
    MPI_Info_set(info, "nc_num_subfiles", "2");
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), NC_CLOBBER, info, &ncid));
    MPI_Info_free(&info);
    dims[0] = new_dim(ncid, "x", (MPI_Offset)N * check.nprocs);
    dims[1] = new_dim(ncid, "y", (MPI_Offset)N * check.nprocs);
    first = new_var(ncid, "first", NC_INT, 1, &dims[0]);
    late = new_var(ncid, "late", NC_INT, 1, &dims[1]);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int i = 0; i < N; i++)
        values[i] = (int)start + i + 1;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, first, &start, &count, values));
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
}

static void holds(int varid)
{
    int values[N];
    MPI_Offset start = (MPI_Offset)N * check.rank, count = N;
    if (CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, varid, &start, &count, values)))
        for (int i = 0; i < N; i++)
            CHECK_EQ(start + i + 1, values[i]);
}

/* Makes the nth matching call of process 0 fail, and also later ones if `what` begins
 * with "+". */
static void arm(const char *op, int nth, const char *what, const char *file)
{
    char plan[5000];
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank != 0) return;
    snprintf(plan, sizeof plan, "%s:%d%s:%s", op, nth, what, check_path(file));
    CHECK(fault_arm(plan));
}

static bool disarm(void)
{
    int met = check.rank == 0 && fault_disarm() > 0;
    MPI_Bcast(&met, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return met != 0;
}

/* Closes the dataset, reopens it read-only, so that nothing is repaired, and checks its
 * values. */
static void close_and_look(bool with_late)
{
    (void)ncmpi_close(ncid); /* the close may report an earlier error */
    MPI_Barrier(MPI_COMM_WORLD);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    holds(first);
    if (with_late) holds(late);
    close_dataset(ncid);
}

/* ---- */

static int many_attributes(void)
{
    for (int i = 0; i < 40; i++) {
        char name[32];
        snprintf(name, sizeof name, "attribute %d", i);
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, name, 10, "ten bytes."));
    }
    return ncmpi_enddef(ncid);
}

static void a_redefinition_that_cannot_read(void)
{
    bool met = true;
    for (int nth = 1; met && nth < MOST_CALLS; nth++) {
        filled();
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        arm("read", nth, ":EIO", "a.nc");
        int rc = many_attributes();
        met = disarm();
        if (rc != NC_NOERR) CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        holds(first);
        close_and_look(false);
    }
}

static void put_late(bool *told)
{
    int values[N], all;
    MPI_Offset start = (MPI_Offset)N * check.rank, count = N;
    for (int i = 0; i < N; i++)
        values[i] = (int)start + i + 1;
    int good = ncmpi_put_vara_int_all(ncid, late, &start, &count, values) == NC_NOERR;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    *told = all != 0;
}

/* The page must describe the new header before it is written, even if both have the same
 * size. */
static void a_changed_header_can_be_read_before_the_close(void)
{
    int other, id = -1;
    filled();
    CHECK_NC(NC_NOERR, ncmpi_rename_var(ncid, late, "tale"));
    other = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(other, "tale", &id));
    CHECK_EQ(late, id);
    close_dataset(other);
    close_and_look(false);
}

/* Makes writes fail while a variable is put for the first time, which also defines it in
 * the subfiles. */
static void a_device_goes(const char *file)
{
    bool met = true, told;
    for (int nth = 1; met && nth < MOST_CALLS; nth++) {
        filled();
        arm("write", nth, "+:part", file);
        put_late(&told);
        met = disarm();
        if (nth % 2 == 0) { /* only the next call may report the error */
            put_late(&told);
            put_late(&told);
            CHECK(told);
        }
        close_and_look(told);
    }
}

static void a_first_put_loses_nothing_when_the_masters_device_fails(void)
{
    a_device_goes("a.nc");
}

static void a_first_put_loses_nothing_when_a_subfiles_device_fails(void)
{
    a_device_goes("a.nc.0000");
}

/* A device failure cuts a header write short, and the first attempt to restore the header
 * also fails. */
static void a_partially_written_header_is_restored(void)
{
    for (int nth = 1; nth < 4; nth++) {
        filled();
        arm("write", nth, "+:part", "a.nc");
        int rc = ncmpi_rename_var(ncid, first, "f");
        if (disarm()) CHECK(rc != NC_NOERR);
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        close_and_look(false);
    }
}

/* ---- tables of frames ---- */

enum { WIDE = 64, LATER = 300 }; /* ints per process; a record in another page */

static int number(MPI_Offset record, int i)
{
    return (int)(1000003 * record) + 257 * (check.rank * WIDE + i) + 16843009;
}

/* Puts a record, or nothing, and returns the result. */
static int put_record(int v, MPI_Offset record, bool all)
{
    int values[WIDE];
    MPI_Offset start[2] = {record, WIDE * check.rank}, count[2] = {all, all ? WIDE : 0};
    for (int i = 0; i < WIDE; i++)
        values[i] = number(record, i);
    return ncmpi_put_vara_int_all(ncid, v, start, count, values);
}

static void has_record(int v, MPI_Offset record)
{
    int values[WIDE] = {0};
    MPI_Offset start[2] = {record, WIDE * check.rank}, count[2] = {1, WIDE};
    if (CHECK_NC(NC_NOERR, ncmpi_get_vara_int(ncid, v, start, count, values)))
        for (int i = 0; i < WIDE; i++)
            CHECK_EQ(number(record, i), values[i]);
}

/* The process that writes the lists of the tables' pages puts nothing into a new
 * variable, and cannot read its list, to which the others need to add a page. What they
 * have put without an error must be found. */
static void entries_are_found_or_the_put_fails(void)
{
    bool met = true;
    if (!base_has_codec(BASE_CODEC_ZSTD) || !base_can_sum()) {
        check_skip("nothing is compressed in this build");
        return;
    }
    for (int nth = 1; met && nth < MOST_CALLS; nth++) {
        MPI_Info info = check_info("nc_blob=enable;nc_num_subfiles=1;nc_compress=zstd");
        int dims[2];
        CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), NC_CLOBBER,
                                        info, &ncid));
        dims[0] = new_dim(ncid, "t", NC_UNLIMITED);
        dims[1] = new_dim(ncid, "x", (MPI_Offset)WIDE * check.nprocs);
        int v = new_var(ncid, "v", NC_INT, 2, dims);
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR, put_record(v, 0, true));
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        int w = new_var(ncid, "w", NC_INT, 2, dims);
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        MPI_Info_free(&info);
        arm("read", nth, ":EIO", "a.nc.0000");
        int put = put_record(w, LATER, check.rank > 0);
        met = disarm();
        CHECK_NC(NC_NOERR,
                 put_record(w, LATER + 1, check.rank > 0)); /* in the same page */
        int closed = ncmpi_close(ncid);
        if (!met) CHECK(put == NC_NOERR && closed == NC_NOERR);
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                      MPI_INFO_NULL, &ncid));
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        has_record(v, 0);
        if (put == NC_NOERR && closed == NC_NOERR && check.rank > 0) has_record(w, LATER);
        if (closed == NC_NOERR && check.rank > 0) has_record(w, LATER + 1);
        CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
    CHECK(!met);
}

static const struct check_test tests[] = {
    {"a redefinition that cannot read loses nothing", a_redefinition_that_cannot_read, 0},
    {"a changed header can be read before the close",
     a_changed_header_can_be_read_before_the_close, 0},
    {"a first put loses nothing when the master's device fails",
     a_first_put_loses_nothing_when_the_masters_device_fails, 0},
    {"a first put loses nothing when a subfile's device fails",
     a_first_put_loses_nothing_when_a_subfiles_device_fails, 0},
    {"a partially written header is restored", a_partially_written_header_is_restored, 0},
    {"entries are found or the put fails", entries_are_found_or_the_put_fails,
     CHECK_SEVERAL},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, NULL);
}
