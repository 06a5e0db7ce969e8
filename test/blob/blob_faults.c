/* Calls on the files of a dataset with subfiles fail, or the device goes for a while:
 * what was there before is there afterwards, and what is told is so. `each_fault` tries
 * all of them; here are those that went wrong once. */
#include <stdio.h>
#include <string.h>

#include "../api/made_dataset.h"
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

/* Calls of process 0, from the nth on. */
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

/* A reader, which repairs nothing, finds what was put. */
static void close_and_look(bool with_late)
{
    (void)ncmpi_close(ncid); /* it may tell of what failed before */
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

/* The first put of a variable, which defines it in subfiles. */
static void a_device_goes(const char *file)
{
    bool met = true, told;
    for (int nth = 1; met && nth < MOST_CALLS; nth++) {
        filled();
        arm("write", nth, "+:part", file);
        put_late(&told);
        met = disarm();
        if (nth % 2 == 0) { /* the next call may tell of it, and no more */
            put_late(&told);
            put_late(&told);
            CHECK(told);
        }
        close_and_look(told);
    }
}

static void the_masters_device_goes(void)
{
    a_device_goes("a.nc");
}

static void a_subfiles_device_goes(void)
{
    a_device_goes("a.nc.0000");
}

/* A header is written in part, and cannot be taken back at once. */
static void a_header_written_in_part(void)
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

static const struct check_test tests[] = {
    {"a redefinition that cannot read loses nothing", a_redefinition_that_cannot_read, 0},
    {"nor a first put when the master's device goes", the_masters_device_goes, 0},
    {"nor when a subfile's does", a_subfiles_device_goes, 0},
    {"a header written in part is mended", a_header_written_in_part, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, NULL);
}
