/* Tests that faults occur where the plan requires them and nowhere else. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"

static char plan[5000];

static const char *planned(const char *head, const char *path, const char *tail)
{
    snprintf(plan, sizeof plan, "%s:%s%s", head, path, tail);
    return plan;
}

static void the_nth_call_fails(void)
{
    char byte = 'x', name[16];
    snprintf(name, sizeof name, "%d", check.rank);
    const char *path = check_path(name);
    CHECK(fault_arm(planned("write:2:ENOSPC", path, "")));
    int fd = open(path, O_RDWR | O_CREAT, 0666);
    CHECK_EQ(1, write(fd, &byte, 1));
    errno = 0;
    CHECK_EQ(-1, pwrite(fd, &byte, 1, 1));
    CHECK_EQ(ENOSPC, errno);
    CHECK_EQ(1, pwrite(fd, &byte, 1, 1));
    CHECK_EQ(1, pread(fd, &byte, 1, 1));
    CHECK_EQ(1, fault_disarm());
    CHECK_EQ(0, close(fd));
}

static void calls_after_the_nth_fail_if_requested(void)
{
    CHECK(fault_arm("open:1+:EACCES:*/nowhere/*"));
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(-1, open("/nowhere/at/all", O_RDONLY));
        CHECK_EQ(EACCES, errno);
    }
    CHECK_EQ(3, fault_disarm());
    CHECK_EQ(-1, open("/nowhere/at/all", O_RDONLY));
    CHECK_EQ(ENOENT, errno);
}

static void a_short_transfer_moves_half(void)
{
    char bytes[10] = "0123456789", name[16];
    snprintf(name, sizeof name, "%d", check.rank);
    int fd = open(check_path(name), O_RDWR | O_CREAT, 0666);
    CHECK(fault_arm(planned("write:1:short", check_path(name), "")));
    CHECK_EQ(5, pwrite(fd, bytes, 10, 0));
    CHECK_EQ(10, pwrite(fd, bytes, 10, 0));
    CHECK_EQ(1, fault_disarm());
    CHECK_EQ(0, close(fd));
}

static void a_device_ends_between_pages(void)
{
    static char bytes[9000];
    char name[16];
    snprintf(name, sizeof name, "%d", check.rank);
    int fd = open(check_path(name), O_RDWR | O_CREAT, 0666);
    CHECK(fault_arm(planned("write:1+:pages", check_path(name), "")));
    CHECK_EQ(4096, pwrite(fd, bytes, 9000, 0));
    CHECK_EQ(-1, pwrite(fd, bytes, 9000, 4096));
    CHECK(fault_arm(planned("write:1+:pages", check_path(name), "")));
    CHECK_EQ(-1, pwrite(fd, bytes, 4096, 0));
    CHECK_EQ(EIO, errno);
    CHECK_EQ(1, fault_disarm());
    CHECK_EQ(0, close(fd));
}

static void only_the_named_rank_fails(void)
{
    CHECK(fault_arm("open:1:EIO:/nowhere:0"));
    CHECK_EQ(-1, open("/nowhere", O_RDONLY));
    CHECK_EQ(check.rank == 0 ? EIO : ENOENT, errno);
    CHECK_EQ(check.rank == 0, fault_disarm());
}

/* Faults can also be injected into writes by MPI-IO. */
static void mpi_io_is_reached(void)
{
    MPI_File f;
    char byte = 'x';
    if (!CHECK(MPI_File_open(MPI_COMM_SELF, check_path(check.rank ? "b" : "a"),
                             MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                             &f) == MPI_SUCCESS))
        return;
    CHECK(fault_arm("write:1:EIO:*:0"));
    MPI_File_write_at(f, check.rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK_EQ(check.rank == 0, fault_disarm());
    MPI_File_close(&f);
}

static void an_invalid_plan_is_refused(void)
{
    CHECK(!fault_arm("write"));
    CHECK(!fault_arm("write:1:EIO"));
    CHECK(!fault_arm("dance:1:EIO:*"));
    CHECK(!fault_arm("write:0:EIO:*"));
    CHECK(!fault_arm("write:1:nothing:*"));
}

static const struct check_test tests[] = {
    {"the nth call fails", the_nth_call_fails, 0},
    {"calls after the nth fail if requested", calls_after_the_nth_fail_if_requested, 0},
    {"a short transfer moves half", a_short_transfer_moves_half, 0},
    {"a device ends between pages", a_device_ends_between_pages, 0},
    {"only the named rank fails", only_the_named_rank_fails, 0},
    {"faults affect MPI-IO", mpi_io_is_reached, 0},
    {"an invalid plan is refused", an_invalid_plan_is_refused, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "2");
}
