/* Tests that a single job owns a dataset in subfiles, from the call that creates it or
 * opens it for writing until its close is complete. Other jobs are refused. If several
 * jobs compete, one succeeds. The lease of a dead owner is taken over, and an owner that
 * has lost its lease stops writing. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../api/made_dataset.h"
#include "base_owner.h"
#include "cdf_superblock.h"

enum { N = 37 };

static const char hints[] = "nc_blob=enable;nc_num_subfiles=2";

static int value_of(int job, int i)
{
    return (int)((unsigned)(job + 1) * 2654435761u ^ (unsigned)i * 40503u);
}

static int create(MPI_Comm comm, const char *text, int *ncid)
{
    MPI_Info info = check_info(text);
    int err =
        ncmpi_create(comm, check_path("a.nc"), NC_CLOBBER | check.cmode, info, ncid);
    MPI_Info_free(&info);
    return err;
}

static int open_to_write(MPI_Comm comm, int *ncid)
{
    return ncmpi_open(comm, check_path("a.nc"), NC_WRITE, MPI_INFO_NULL, ncid);
}

/* Defines variable 0. Each process puts a part of it. */
static void define(int ncid)
{
    int dim = new_dim(ncid, "x", N), id;
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &id));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
}

static int put(MPI_Comm comm, int ncid, int job)
{
    int values[N], rank, nprocs;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &nprocs);
    MPI_Offset low = N * rank / nprocs, count = N * (rank + 1) / nprocs - low;
    for (int i = 0; i < count; i++)
        values[i] = value_of(job, (int)low + i);
    return ncmpi_put_vara_int_all(ncid, 0, &low, &count, values);
}

/* Returns the number of the job that wrote all values, or -1 if the values come from
 * several jobs. */
static int job_of_values(void)
{
    int values[N], ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, 0, values));
    close_dataset(ncid);
    for (int job = 0; job < 10; job++) {
        int same = 0;
        for (int i = 0; i < N; i++)
            same += values[i] == value_of(job, i);
        if (same == N) return job;
    }
    return -1;
}

static void check_refused(int err)
{
    CHECK_NC(NC_EFILE, err);
    CHECK(strstr(ncmpi_strerror(err), "is open for writing by process ") != NULL);
    CHECK(strstr(ncmpi_strerror(err), " on host ") != NULL);
    CHECK(strstr(ncmpi_strerror(err), " since 2") != NULL);
}

static int new_filled(int job)
{
    int ncid = -1;
    CHECK_NC(NC_NOERR, create(MPI_COMM_WORLD, hints, &ncid));
    define(ncid);
    CHECK_NC(NC_NOERR, put(MPI_COMM_WORLD, ncid, job));
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    return ncid;
}

static void others_are_refused(void)
{
    int ncid = new_filled(0), other;
    for (int turn = 0; turn < 2; turn++) {
        MPI_Barrier(MPI_COMM_WORLD);
        check_refused(open_to_write(MPI_COMM_WORLD, &other));
        check_refused(open_to_write(MPI_COMM_SELF, &other));
        check_refused(create(MPI_COMM_WORLD, hints, &other));
        check_refused(create(MPI_COMM_SELF, "nc_blob=disable", &other));
        check_refused(create(MPI_COMM_SELF, "nc_burst_buf=enable", &other));
        check_refused(ncmpi_delete(check_path("a.nc"), MPI_INFO_NULL));
        CHECK_EQ(turn, job_of_values());
        CHECK_NC(NC_NOERR, put(MPI_COMM_WORLD, ncid, 1));
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    }
    close_dataset(ncid);
    CHECK_NC(NC_NOERR, open_to_write(MPI_COMM_WORLD, &ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    check_refused(open_to_write(MPI_COMM_SELF, &other));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR, put(MPI_COMM_WORLD, ncid, 2));
    close_dataset(ncid);
    CHECK_EQ(2, job_of_values());
}

/* If every process tries to create the dataset on its own, some of them win. All of a
 * winner's calls must succeed, and all values must come from one winner. */
static void one_of_several_creators_succeeds(void)
{
    for (int round = 0; round < 30; round++) {
        int ncid, winners = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        int won = create(MPI_COMM_SELF, hints, &ncid) == NC_NOERR;
        if (won) {
            define(ncid);
            CHECK_NC(NC_NOERR, put(MPI_COMM_SELF, ncid, check.rank));
            close_dataset(ncid);
        }
        won = won ? 1 << check.rank : 0;
        MPI_Allreduce(&won, &winners, 1, MPI_INT, MPI_BOR, MPI_COMM_WORLD);
        int job = job_of_values();
        CHECK(job >= 0 && (winners >> job & 1) != 0);
    }
}

/* Overwrites the owner in the first page, as another job would. */
static void set_owner(bool dead)
{
    unsigned char page[CDF_SUPERBLOCK];
    struct cdf_superblock e;
    struct base_owner o;
    int fd = open(check_path("a.nc"), O_RDWR);
    CHECK(pread(fd, page, sizeof page, 0) == sizeof page);
    CHECK(cdf_decode_superblock(&e, page, sizeof page) == NC_NOERR);
    base_owner_set(&o);
    o.started += dead;
    base_owner_encode(&o, e.owner);
    e.purpose = CDF_WRITES;
    cdf_encode_superblock(&e, page);
    CHECK(pwrite(fd, page, sizeof page, 0) == sizeof page);
    close(fd);
}

static void one_of_several_jobs_takes_over_from_a_dead_owner(void)
{
    int ncid = new_filled(0), taken = 0;
    close_dataset(ncid);
    if (check.rank == 0) set_owner(true);
    MPI_Barrier(MPI_COMM_WORLD);
    int took = open_to_write(MPI_COMM_SELF, &ncid) == NC_NOERR;
    MPI_Allreduce(&took, &taken, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(1, taken);
    if (took) {
        CHECK_NC(NC_NOERR, put(MPI_COMM_SELF, ncid, 3));
        close_dataset(ncid);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(3, job_of_values());
}

static void an_owner_that_lost_its_lease_writes_nothing(void)
{
    int ncid = new_filled(4);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) set_owner(false);
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(150000);
    int err = put(MPI_COMM_WORLD, ncid, 5);
    CHECK_NC(NC_EFILE, err);
    CHECK(strstr(ncmpi_strerror(err), "lease") != NULL);
    CHECK(ncmpi_close(ncid) != NC_NOERR);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(4, job_of_values());
}

/* A reader that opened the dataset before a variable got its decomposition must not read
 * zeros. */
static void a_reader_has_to_reopen_after_a_variables_first_put(void)
{
    int writer;
    CHECK_NC(NC_NOERR, create(MPI_COMM_WORLD, hints, &writer));
    define(writer);
    CHECK_NC(NC_NOERR, ncmpi_sync(writer));
    int reader = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_sync(reader));
    CHECK_NC(NC_NOERR, put(MPI_COMM_WORLD, writer, 3));
    CHECK_NC(NC_NOERR, ncmpi_sync(writer));
    CHECK_NC(NC_EFILE, ncmpi_sync(reader));
    close_dataset(reader);
    CHECK_EQ(3, job_of_values());
    close_dataset(writer);
}

static const struct check_test tests[] = {
    {"another job is refused", others_are_refused, 0},
    {"one of several creators succeeds", one_of_several_creators_succeeds, 0},
    {"one of several jobs takes over from a dead owner",
     one_of_several_jobs_takes_over_from_a_dead_owner, 0},
    {"a reader has to reopen after a variable's first put",
     a_reader_has_to_reopen_after_a_variables_first_put, 0},
    {"an owner that lost its lease writes nothing",
     an_owner_that_lost_its_lease_writes_nothing, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, NULL);
}
