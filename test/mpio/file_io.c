/* Tests how files are opened, read and written: through a descriptor (nc_file_io=posix)
 * or through MPI-IO. Only processes that access the file may open it. The library must
 * choose MPI-IO if it does not know the file system, report the file system's striping,
 * refuse a file that has replaced the dataset's file, and report failed system calls with
 * the right error codes on all processes. Interposes fstatfs and fgetxattr to simulate
 * other file systems. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "counts.h"
#include "made_dataset.h"
#include "fault.h"

/* ---- simulated file systems ---- */

static struct {
    uint32_t type; /* magic number reported for all files; 0 for the real one */
    unsigned char layout[256];
    size_t length;
} elsewhere;

int fstatfs(int fd, struct statfs *fs)
{
    int (*next)(int, struct statfs *);
    *(void **)&next = dlsym(RTLD_NEXT, "fstatfs");
    int rc = next(fd, fs);
    if (elsewhere.type != 0) fs->f_type = (long)elsewhere.type;
    return rc;
}

ssize_t fgetxattr(int fd, const char *name, void *value, size_t size)
{
    (void)fd;
    if (strcmp(name, "lustre.lov") != 0 || size < elsewhere.length) return -1;
    memcpy(value, elsewhere.layout, elsewhere.length);
    return (ssize_t)elsewhere.length;
}

/* ---- common functions ---- */

enum { N = 400 };
static const char *const ways[] = {"posix", "mpi"};
static int x, v;

static int new_one(const char *way)
{
    int ncid = counting_dataset("a.nc", way == NULL ? NULL : "nc_file_io", way);
    x = new_dim(ncid, "x", (MPI_Offset)N * check.nprocs);
    v = new_var(ncid, "v", NC_INT, 1, &x);
    return ncid;
}

static int open_with(const char *path, const char *way)
{
    MPI_Info info;
    int ncid = -1;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_statistics", "enable");
    if (way != NULL) MPI_Info_set(info, "nc_file_io", way);
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid));
    MPI_Info_free(&info);
    return ncid;
}

static const char *told(int ncid, const char *key)
{
    static char text[MPI_MAX_INFO_VAL + 1];
    MPI_Info info;
    int there = 0;
    text[0] = '\0';
    CHECK_NC(NC_NOERR, ncmpi_inq_file_info(ncid, &info));
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &there);
    MPI_Info_free(&info);
    return there ? text : "";
}

/* Puts this process's part of the variable with an independent call. */
static int put_mine(int ncid, int salt)
{
    int values[N];
    MPI_Offset start = (MPI_Offset)N * check.rank, count = N;
    for (int i = 0; i < N; i++)
        values[i] = salt + N * check.rank + i;
    return ncmpi_put_vara_int(ncid, v, &start, &count, values);
}

static int put_mine_all(int ncid)
{
    int values[N] = {0};
    MPI_Offset start = (MPI_Offset)N * check.rank, count = N;
    return ncmpi_put_vara_int_all(ncid, v, &start, &count, values);
}

static void holds(int ncid, int salt)
{
    int *values = calloc((size_t)N * (size_t)check.nprocs, sizeof *values), wrong = 0;
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, v, values));
    for (int i = 0; i < N * check.nprocs; i++)
        wrong += values[i] != salt + i;
    CHECK_EQ(0, wrong);
    free(values);
}

static int last(void)
{
    return check.nprocs - 1;
}

static void only_processes_that_read_or_write_open_the_file(void)
{
    for (int i = 0; i < 2; i++) {
        int ncid = new_one(ways[i]), first = check.rank == 0;
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_EQ(first, count_of(ncid, "file_opens"));
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        if (check.rank == last()) CHECK_NC(NC_NOERR, put_mine(ncid, 0));
        CHECK_EQ(first || check.rank == last(), count_of(ncid, "file_opens"));
        CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        CHECK_EQ(first || check.rank == last(), count_of(ncid, "file_syncs"));
        CHECK_EQ(i == 0 ? 0 : count_of(ncid, "file_opens"),
                 count_of(ncid, "file_opens_mpi"));
        close_dataset(ncid);
        ncid = open_with(check_path("a.nc"), ways[i]);
        CHECK_EQ(first, count_of(ncid, "file_opens"));
        close_dataset(ncid);
    }
}

/* A file written by one method must be readable by the other. */
static void MPI_IO_and_descriptors_make_the_same_file(void)
{
    for (int i = 0; i < 2; i++) {
        int ncid = new_one(ways[i]);
        CHECK_STR(ways[i], told(ncid, "nc_file_io"));
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        CHECK_NC(NC_NOERR, put_mine(ncid, i));
        CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
        holds(ncid, i);
        close_dataset(ncid);
        ncid = open_with(check_path("a.nc"), ways[1 - i]);
        holds(ncid, i);
        close_dataset(ncid);
    }
}

/* Unless a hint is set, the library uses descriptors only on file systems that it knows.
 * FUSE is tested by test/file/mounts.sh. */
static void MPI_IO_is_used_on_an_unknown_file_system(void)
{
    static const struct {
        uint32_t type;
        const char *way, *expected;
    } known[] = {{0x01021994, NULL, "posix"}, {0xef53, NULL, "posix"},
                 {0x0bd00bd0, NULL, "posix"}, {0x6969, NULL, "mpi"},
                 {0x19830326, NULL, "mpi"},   {0x6969, "posix", "posix"},
                 {0xef53, "mpi", "mpi"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        elsewhere.type = known[i].type;
        int ncid = new_one(known[i].way), mpi = strcmp(known[i].expected, "mpi") == 0;
        CHECK_STR(known[i].expected, told(ncid, "nc_file_io"));
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        CHECK_NC(NC_NOERR, put_mine(ncid, 7));
        CHECK_EQ(mpi, count_of(ncid, "file_opens_mpi"));
        CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
        holds(ncid, 7);
        close_dataset(ncid);
    }
    elsewhere.type = 0;
}

static void a_prefix_selects_MPI_IO(void)
{
    char path[4096];
    close_dataset(new_one("mpi"));
    snprintf(path, sizeof path, "ufs:%s", check_path("a.nc"));
    int ncid = open_with(path, NULL);
    CHECK_STR("mpi", told(ncid, "nc_file_io"));
    CHECK_STR(check_path("a.nc"), path + 4);
    close_dataset(ncid);
}

/* ---- stripes ---- */

static void put_number(size_t at, uint32_t number, size_t width)
{
    uint32_t bytes = htole32(number);
    memcpy(elsewhere.layout + at, &bytes, width);
    if (elsewhere.length < at + width) elsewhere.length = at + width;
}

static void one_layout(size_t at, uint32_t magic, uint32_t unit, uint32_t count)
{
    put_number(at, magic, 4);
    put_number(at + 24, unit, 4);
    put_number(at + 28, count, 2);
    put_number(at + 30, 0, 2);
}

static void stripes_are(int unit, int count)
{
    int ncid = new_one(NULL), size = -1, factor = -1;
    CHECK_NC(NC_NOERR, ncmpi_inq_striping(ncid, &size, &factor));
    CHECK_EQ(unit, size);
    CHECK_EQ(count, factor);
    close_dataset(ncid);
}

static void Lustres_stripes_are_detected(void)
{
    enum { V1 = 0x0bd10bd0, V3 = 0x0bd30bd0, COMPOSITE = 0x0bd60bd0, MIB = 1 << 20 };
    memset(&elsewhere, 0, sizeof elsewhere);
    elsewhere.type = 0x0bd00bd0;
    one_layout(0, V1, 4 * MIB, 16);
    stripes_are(4 * MIB, 16);
    one_layout(0, V3, MIB, 0xffff); /* the file uses all servers */
    stripes_are(MIB, 0);
    one_layout(0, 0x12345678, MIB, 4);
    stripes_are(0, 0);
    one_layout(0, V1, 1000, 4);
    stripes_are(0, 0);
    elsewhere.length = 20;
    stripes_are(0, 0);
    /* A composite layout with two components. */
    memset(elsewhere.layout, 0, sizeof elsewhere.layout);
    put_number(0, COMPOSITE, 4);
    put_number(14, 2, 2);
    put_number(32 + 24, 128, 4);
    put_number(32 + 48 + 24, 160, 4);
    one_layout(128, V1, MIB, 1);
    one_layout(160, V3, 8 * MIB, 32);
    stripes_are(8 * MIB, 32);
    put_number(32 + 48 + 24, 4000, 4); /* offset beyond the end of the attribute */
    stripes_are(0, 0);
    put_number(14, 3000, 2);
    stripes_are(0, 0);
    memset(&elsewhere, 0, sizeof elsewhere);
}

static void GPFSs_blocks_are_detected(void)
{
    struct stat st;
    elsewhere.type = 0x47504653;
    close_dataset(new_one(NULL));
    CHECK_EQ(0, stat(check_path("a.nc"), &st));
    stripes_are((int)st.st_blksize, 0);
    elsewhere.type = 0;
}

/* ---- files that were replaced ---- */

static const char words[] = "what somebody else has written";

static void put_other(const char *path)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        CHECK_EQ(0, rename(path, check_path("moved.nc")));
        FILE *f = fopen(path, "wb");
        CHECK(f != NULL);
        if (f != NULL) CHECK(fputs(words, f) >= 0 && fclose(f) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void another_file_with_the_datasets_name_is_not_written(void)
{
    for (int i = 0; i < 2; i++) {
        char text[sizeof words + 1] = "";
        int ncid = new_one(ways[i]), late = check.rank == last();
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        if (!late) CHECK_NC(NC_NOERR, put_mine(ncid, 0));
        put_other(check_path("a.nc"));
        int rc = put_mine(ncid, 0);
        CHECK_NC(late ? NC_EFILE : NC_NOERR, rc);
        if (late) CHECK(strstr(ncmpi_strerror(rc), "another file") != NULL);
        CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
        close_dataset(ncid);
        FILE *f = fopen(check_path("a.nc"), "rb");
        CHECK(f != NULL);
        if (f == NULL) return;
        CHECK_EQ(sizeof words - 1, fread(text, 1, sizeof text, f));
        CHECK_STR(words, text);
        fclose(f);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void anything_but_a_regular_file_is_refused(void)
{
    const char *path = check_path("pipe");
    if (check.rank == 0) CHECK_EQ(0, mkfifo(path, 0666));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
        int ncid = -1;
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "nc_file_io", ways[i]);
        for (int mode = NC_NOWRITE; mode <= NC_WRITE; mode++) {
            int rc = ncmpi_open(MPI_COMM_WORLD, path, mode, info, &ncid);
            CHECK_NC(NC_EFILE, rc);
            CHECK(strstr(ncmpi_strerror(rc), "not a regular file") != NULL);
        }
        CHECK_NC(NC_EFILE, ncmpi_create(MPI_COMM_WORLD, path, check.cmode, info, &ncid));
        CHECK_NC(NC_EFILE,
                 ncmpi_create(MPI_COMM_WORLD, "/dev/null", check.cmode, info, &ncid));
        MPI_Info_free(&info);
    }
}

/* ---- failures ---- */

static const char *plan(const char *head, int rank)
{
    static char text[5000];
    snprintf(text, sizeof text, "%s:%s:%d", head, check_path("a.nc"), rank);
    return text;
}

/* Only the last process fails to open the file. Its call must return the error; the next
 * call must return the error on all processes. */
static void an_open_that_fails_on_one_process_is_reported_by_all_later(void)
{
    for (int i = 0; i < 2; i++) {
        int ncid = new_one(ways[i]), values[N] = {0}, refused = check.rank == last();
        MPI_Offset start = (MPI_Offset)N * check.rank, count = N;
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK(fault_arm(plan("open:1+:EACCES", last())));
        int rc = ncmpi_put_vara_int_all(ncid, v, &start, &count, values);
        CHECK_NC(refused ? NC_EACCESS : NC_NOERR, rc);
        CHECK_EQ(refused, fault_disarm() > 0);
        /* The next call reports the error on all processes, and later calls succeed. */
        rc = ncmpi_put_vara_int_all(ncid, v, &start, &count, values);
        CHECK_NC(NC_EACCESS, rc);
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
        close_dataset(ncid);
    }
}

static void system_errors_have_distinct_error_codes(void)
{
    static const struct {
        const char *what;
        int written, read;
    } known[] = {{"ENOSPC", NC_ENO_SPACE, NC_ENO_SPACE},
                 {"EDQUOT", NC_EQUOTA, NC_EQUOTA},
                 {"EIO", NC_EWRITE, NC_EREAD}};
    int ncid = new_one("posix"), values[N];
    MPI_Offset start = (MPI_Offset)N * check.rank, count = N;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char head[64];
        snprintf(head, sizeof head, "write:1:%s", known[i].what);
        CHECK(fault_arm(plan(head, check.rank)));
        int rc = put_mine(ncid, 0);
        CHECK_NC(known[i].written, rc);
        CHECK(strstr(ncmpi_strerror(rc), check_path("a.nc")) != NULL);
        snprintf(head, sizeof head, "read:1:%s", known[i].what);
        CHECK(fault_arm(plan(head, check.rank)));
        CHECK_NC(known[i].read, ncmpi_get_vara_int(ncid, v, &start, &count, values));
        (void)fault_disarm();
    }
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    close_dataset(ncid);
}

/* The library must repeat interrupted system calls and complete short ones, so that no
 * bytes are lost. */
static void interrupted_and_short_transfers_lose_no_byte(void)
{
    static const char *const faults[] = {"write:1:4", "write:1:short", "read:1:4",
                                         "read:1:short", "sync:1:4"}; /* EINTR */
    int ncid = new_one("posix");
    CHECK_EQ(4, EINTR);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int i = 0; i < 5; i++) {
        CHECK(fault_arm(plan(faults[i], check.rank)));
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        CHECK_NC(NC_NOERR, put_mine(ncid, i));
        CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        holds(ncid, i);
        CHECK_EQ(1, fault_disarm());
    }
    close_dataset(ncid);
}

/* All processes must return process 0's error code and message. */
static void a_failed_open_returns_the_same_error_on_all_processes(void)
{
    static const struct {
        const char *what;
        int code;
    } known[] = {{"EACCES", NC_EACCESS}, {"EROFS", NC_EPERM}, {"EMFILE", NC_ENFILE}};
    close_dataset(new_one("posix"));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char head[64];
        int ncid = -1;
        snprintf(head, sizeof head, "open:1+:%s", known[i].what);
        CHECK(fault_arm(plan(head, 0)));
        int rc = ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, MPI_INFO_NULL,
                            &ncid);
        (void)fault_disarm();
        CHECK_NC(known[i].code, rc);
        CHECK(strstr(ncmpi_strerror(rc), check_path("a.nc")) != NULL);
    }
}

/* Makes process `by` put every second value of the last process's part. */
static int put_with_gaps(int ncid, int by)
{
    int values[N / 2] = {0};
    MPI_Offset start = (MPI_Offset)N * last(), count = check.rank == by ? N / 2 : 0;
    MPI_Offset stride = 2;
    return ncmpi_put_vars_int_all(ncid, v, &start, &count, &stride, values);
}

/* To write a range with gaps, ROMIO locks it, reads it and writes it back. If one of
 * these calls fails, ROMIO must release the lock, or the next put would wait forever. */
static void a_failed_write_releases_its_lock(void)
{
    static const char *const heads[] = {"read:1:EIO", "write:1:EIO"};
    for (int i = 0; i < 2; i++) {
        int ncid = counting_dataset("a.nc", "nc_transfer", "view");
        x = new_dim(ncid, "x", (MPI_Offset)N * check.nprocs);
        v = new_var(ncid, "v", NC_INT, 1, &x);
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR, put_mine_all(ncid));
        CHECK(fault_arm(plan(heads[i], last())));
        int rc = put_with_gaps(ncid, last());
        int faults = fault_disarm(), all;
        MPI_Allreduce(&faults, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (faults > 0) CHECK(rc != NC_NOERR);
        if (all > 0) CHECK(put_with_gaps(ncid, 0) != NC_NOERR || faults > 0);
        CHECK_NC(NC_NOERR, put_with_gaps(ncid, 0));
        close_dataset(ncid);
    }
}

static const struct check_test tests[] = {
    {"only processes that read or write open the file",
     only_processes_that_read_or_write_open_the_file, 0},
    {"MPI-IO and descriptors make the same file",
     MPI_IO_and_descriptors_make_the_same_file, CHECK_FORMATS},
    {"MPI-IO is used on an unknown file system", MPI_IO_is_used_on_an_unknown_file_system,
     0},
    {"a prefix selects MPI-IO", a_prefix_selects_MPI_IO, 0},
    {"Lustre's stripes are detected", Lustres_stripes_are_detected, 0},
    {"GPFS's blocks are detected", GPFSs_blocks_are_detected, 0},
    {"another file with the dataset's name is not written",
     another_file_with_the_datasets_name_is_not_written, CHECK_SEVERAL},
    {"anything but a regular file is refused", anything_but_a_regular_file_is_refused, 0},
    {"an open that fails on one process is reported by all later",
     an_open_that_fails_on_one_process_is_reported_by_all_later, CHECK_SEVERAL},
    {"system errors have distinct error codes", system_errors_have_distinct_error_codes,
     0},
    {"interrupted and short transfers lose no byte",
     interrupted_and_short_transfers_lose_no_byte, 0},
    {"a failed open returns the same error on all processes",
     a_failed_open_returns_the_same_error_on_all_processes, 0},
    {"a failed write releases its lock", a_failed_write_releases_its_lock, CHECK_SEVERAL},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
