/* Nodes that have each other's blocks, or one staged file together: together they read
 * the dataset's file once, while those who have a block compute; and each reads it alone
 * where others do not answer. On one node nothing is exchanged: test/stage/stage_nodes.sh
 * runs it on several, and on parts of one (PNETCDF_HINTS=nc_node_procs=1). */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base_sum.h"
#include "check.h"
#include "fault.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"
#include "stage_ints.h"

enum { BLOCK = 4096, BLOCKS = 60, PER_BLOCK = BLOCK / 4, N = BLOCKS * PER_BLOCK };

static int nodes, node; /* of all; this process's */
static int generation;

/* ---- the system, as the library finds it ---- */

#define NEXT(name)                                                                       \
    static _Atomic(void *) found;                                                        \
    if (found == NULL) found = dlsym(RTLD_NEXT, #name);                                  \
    void *known = found;                                                                 \
    __typeof__(&name) next;                                                              \
    memcpy(&next, &known, sizeof next)

/* The library believes that it is later, so that the file seems to be old. */
static _Atomic long later;
int clock_gettime(clockid_t clock, struct timespec *now)
{
    long result = syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME) now->tv_sec += later;
    return (int)result;
}

/* Other nodes are deaf, or mute. */
enum { FINE, DEAF, MUTE, BREAKING };
static _Atomic int others, nsent;

ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
    NEXT(send);
    if (others == DEAF && flags == MSG_NOSIGNAL) {
        errno = EPIPE;
        return -1;
    }
    if (others == BREAKING && (flags & MSG_DONTWAIT) && ++nsent % 5 == 0) {
        errno = ECONNRESET;
        return -1;
    }
    return next(fd, bytes, n, flags);
}

/* As if no answer had come in time. */
ssize_t recv(int fd, void *bytes, size_t n, int flags)
{
    NEXT(recv);
    if (others == MUTE && flags == MSG_WAITALL) {
        errno = EAGAIN;
        return -1;
    }
    return next(fd, bytes, n, flags);
}

static bool is_staged_file(int fd)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return strstr(path, "ncmpi-stage") != NULL;
}

/* The staged file lies where nodes may read what is old. */
static _Atomic bool on_nfs;
int fstatfs(int fd, struct statfs *fs)
{
    enum { NFS = 0x6969 };
    NEXT(fstatfs);
    int result = next(fd, fs);
    if (on_nfs && is_staged_file(fd)) fs->f_type = NFS;
    return result;
}

/* ---- the dataset ---- */

static int value_at(int i)
{
    return i * 7 + generation * 1000003;
}

static void write_file(void)
{
    static int values[N];
    generation++;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        values[i] = value_at(i);
    write_ints(values, N, "nc_var_align_size=4096");
}

/* The processes of the node that count as one to the library. */
static MPI_Comm find_own(void)
{
    MPI_Comm whole, own;
    const char *hints = getenv("PNETCDF_HINTS"),
               *part = hints == NULL ? NULL : strstr(hints, "nc_node_procs=");
    int rank, most = part == NULL ? check.nprocs : atoi(part + strlen("nc_node_procs="));
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, check.rank, MPI_INFO_NULL,
                        &whole);
    MPI_Comm_rank(whole, &rank);
    MPI_Comm_split(whole, rank / most, rank, &own);
    MPI_Comm_free(&whole);
    return own;
}

static void find_nodes(void)
{
    MPI_Comm own = find_own(), firsts;
    int rank, place[2] = {0, 1};
    MPI_Comm_rank(own, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : MPI_UNDEFINED, check.rank, &firsts);
    if (firsts != MPI_COMM_NULL) {
        MPI_Comm_rank(firsts, &place[0]);
        MPI_Comm_size(firsts, &place[1]);
        MPI_Comm_free(&firsts);
    }
    MPI_Bcast(place, 2, MPI_INT, 0, own);
    MPI_Comm_free(&own);
    node = place[0];
    nodes = place[1];
}

/* Each node has a directory of its own. */
static int open_staged(const char *more)
{
    char text[512];
    int ncid = -1;
    snprintf(text, sizeof text,
             "nc_stage=enable;nc_stage_block_size=%d;nc_stage_ahead=disable;"
             "nc_statistics=enable;%s%s",
             BLOCK, strstr(more, "exchange") != NULL ? "" : "nc_stage_exchange=enable;",
             more);
    MPI_Info info = check_info(text);
    MPI_Info_set(info, "nc_stage_dirname", check_path(""));
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    return ncid;
}

static int start(const char *more)
{
    find_nodes();
    write_file();
    later = 60;
    return open_staged(more);
}

static void end(int ncid)
{
    others = FINE;
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    later = 0;
}

static void get_values(int ncid, MPI_Offset first, MPI_Offset n)
{
    static int values[N];
    int wrong = 0;
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int(ncid, 0, &first, &n, values));
    for (int i = 0; i < n; i++)
        wrong += values[i] != value_at((int)first + i);
    CHECK_EQ(0, wrong);
}

/* All blocks, in an order of the process's own. */
static void get_blocks(int ncid)
{
    int order[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        order[i] = i;
    for (int i = BLOCKS - 1; i > 0; i--) {
        int j = (int)check_random_own((uint64_t)i + 1), at = order[i];
        order[i] = order[j];
        order[j] = at;
    }
    for (int i = 0; i < BLOCKS; i++)
        get_values(ncid, order[i] * PER_BLOCK, PER_BLOCK);
}

static long long of_all(int ncid, const char *name)
{
    char key[64], value[MPI_MAX_INFO_VAL + 1] = "";
    int there = 0;
    long long one, all;
    MPI_Info info;
    snprintf(key, sizeof key, "nc_stat_%s", name);
    CHECK_NC(NC_NOERR, ncmpi_inq_file_info(ncid, &info));
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there);
    MPI_Info_free(&info);
    CHECK(there);
    one = atoll(value);
    MPI_Allreduce(&one, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* ---- tests ---- */

static void all_nodes_read_the_file_once(void)
{
    int ncid = start("");
    long long before = of_all(ncid, "file_read_bytes");
    get_blocks(ncid);
    long long once = of_all(ncid, "file_read_bytes") - before;
    long long far = of_all(ncid, "stage_far_bytes");
    CHECK(once >= BLOCKS * BLOCK && once <= (BLOCKS + 1) * BLOCK);
    CHECK_EQ((nodes - 1) * once, far); /* and keep what they got */
    CHECK_EQ(far, of_all(ncid, "stage_given_bytes"));
    CHECK_EQ(0, of_all(ncid, "stage_unanswered"));
    CHECK_EQ(nodes * once, of_all(ncid, "stage_copied_bytes"));
    get_blocks(ncid);
    CHECK_EQ(before + once, of_all(ncid, "file_read_bytes"));
    CHECK_EQ(far, of_all(ncid, "stage_far_bytes"));
    end(ncid);
}

/* Nodes that have room for two thirds each have all of it together. */
static void nodes_have_room_together(void)
{
    char more[100];
    snprintf(more, sizeof more, "nc_stage_size=%d", BLOCKS * BLOCK * 2 / 3);
    int ncid = start(more);
    /* Each node begins with a part of its own. */
    int low = BLOCKS * node / nodes, high = BLOCKS * (node + 1) / nodes;
    get_values(ncid, low * PER_BLOCK, (high - low) * PER_BLOCK);
    long long before = of_all(ncid, "file_read_bytes"),
              far = of_all(ncid, "stage_far_bytes");
    get_blocks(ncid);
    get_blocks(ncid);
    if (nodes > 1) CHECK_EQ(before, of_all(ncid, "file_read_bytes"));
    if (nodes > 1) CHECK(of_all(ncid, "stage_far_bytes") > far);
    CHECK_EQ(0, of_all(ncid, "stage_unanswered"));
    end(ncid);
}

/* ... and what is brought ahead is spread over them. */
static void what_is_prefetched_is_spread(void)
{
    for (int little = 0; little < 2; little++) {
        char more[100] = "";
        if (little)
            snprintf(more, sizeof more, "nc_stage_size=%d", BLOCKS * BLOCK * 2 / 3);
        int ncid = start(more);
        long long first = of_all(ncid, "file_read_bytes");
        CHECK_NC(NC_NOERR, ncmpix_prefetch(ncid, 0, NULL, NULL));
        CHECK_NC(NC_NOERR, ncmpix_prefetch_wait(ncid));
        long long before = of_all(ncid, "file_read_bytes");
        CHECK(before - first <= (BLOCKS + 1) * BLOCK);
        get_blocks(ncid);
        if (nodes > 1 || !little) CHECK_EQ(before, of_all(ncid, "file_read_bytes"));
        end(ncid);
    }
}

/* Who has the blocks is in no call of MPI, or of the library, until they have come. */
static void nobody_has_to_help(void)
{
    int ncid = start("");
    if (node == 0) get_blocks(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
    long long before = of_all(ncid, "file_read_bytes");
    char done[1100];
    snprintf(done, sizeof done, "%s", check_path("done"));
    if (node == nodes - 1) get_blocks(ncid);
    if (check.rank == check.nprocs - 1) CHECK(check_write_file(done, "x", 1));
    int waited = 0;
    while (access(done, F_OK) != 0 && waited++ < 10000)
        usleep(10000);
    CHECK(waited < 10000);
    CHECK_EQ(before, of_all(ncid, "file_read_bytes"));
    end(ncid);
}

/* Others that cannot be reached, do not answer, or go while they do: each node reads the
 * file, and does not ask for ever. */
static void who_does_not_answer_is_left_alone(void)
{
    for (int how = DEAF; how <= BREAKING; how++) {
        int ncid = start("");
        others = how;
        for (int i = 0; i < 3; i++)
            get_blocks(ncid);
        long long unanswered = of_all(ncid, "stage_unanswered");
        if (nodes > 1 && how != BREAKING) {
            CHECK(unanswered > 0);
            CHECK_EQ(0, of_all(ncid, "stage_far_bytes"));
        }
        CHECK_EQ(0, of_all(ncid, "stage_fallbacks"));
        end(ncid);
    }
}

static void not_where_the_hint_says_so(void)
{
    int ncid = start("nc_stage_exchange=disable");
    get_blocks(ncid);
    CHECK_EQ(0, of_all(ncid, "stage_far_bytes"));
    end(ncid);
    /* A file of this moment may change without another time. */
    write_file();
    ncid = open_staged("");
    get_blocks(ncid);
    CHECK_EQ(0, of_all(ncid, "stage_far_bytes"));
    end(ncid);
}

/* A node that has not yet looked at the file again gives nothing to one that has. */
static void what_is_old_goes_to_nobody(void)
{
    const struct timespec pause = {0, 20000000}; /* more than a tick of a file's time */
    int ncid = start("nc_stage_keep=enable");
    for (int i = 0; i < 12; i++) {
        get_blocks(ncid);
        MPI_Barrier(MPI_COMM_WORLD);
        nanosleep(&pause, NULL);
        write_file();
        if (i % 4 == 3) {
            end(ncid);
            later = 60;
            ncid = open_staged("nc_stage_keep=enable");
        } else {
            /* The nodes look one after the other. */
            for (int k = 0; k < nodes; k++) {
                if (node == (k + i) % nodes) CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
                if (node == (k + i) % nodes) get_blocks(ncid);
                MPI_Barrier(MPI_COMM_WORLD);
            }
        }
    }
    end(ncid);
}

/* ---- one staged file ---- */

static const char global[] = "nc_stage_scope=global";

/* How many staged files this process has; the inode of the last one, and its descriptor.
 */
static int find_staged_file(long long *inode, int *last)
{
    int n = 0;
    struct dirent *e;
    DIR *d = opendir("/proc/self/fd");
    *inode = 0;
    *last = -1;
    while (d != NULL && (e = readdir(d)) != NULL) {
        struct stat st;
        int fd = atoi(e->d_name);
        if (e->d_name[0] == '.' || !is_staged_file(fd) || fstat(fd, &st) != 0) continue;
        CHECK_EQ(0600, st.st_mode & 0777); /* nobody else may read it */
        *inode = (long long)st.st_ino;
        *last = fd;
        n++;
    }
    if (d != NULL) closedir(d);
    return n;
}

/* Have all processes the same one? */
static bool have_one_together(void)
{
    long long own[2], all[2];
    int fd, n = find_staged_file(&own[0], &fd);
    own[1] = -own[0];
    CHECK_EQ(1, n);
    MPI_Allreduce(own, all, 2, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    return all[0] == -all[1];
}

static void all_nodes_have_one_staged_file(void)
{
    int ncid = start(global);
    CHECK(have_one_together());
    long long before = of_all(ncid, "file_read_bytes");
    get_blocks(ncid);
    long long once = of_all(ncid, "file_read_bytes") - before;
    CHECK(once >= BLOCKS * BLOCK && once <= (BLOCKS + 1) * BLOCK);
    CHECK_EQ(once, of_all(ncid, "stage_copied_bytes"));
    CHECK_EQ((nodes - 1) * once, of_all(ncid, "stage_mirror_bytes"));
    CHECK_EQ(0, of_all(ncid, "stage_far_bytes"));
    CHECK_EQ(0, of_all(ncid, "stage_unanswered"));
    CHECK_EQ(0, of_all(ncid, "stage_fallbacks"));
    long long staged = of_all(ncid, "stage_read_bytes");
    get_blocks(ncid);
    CHECK_EQ(before + once, of_all(ncid, "file_read_bytes"));
    CHECK_EQ(staged + (long long)check.nprocs * N * (long long)sizeof(int),
             of_all(ncid, "stage_read_bytes"));
    CHECK_EQ((nodes - 1) * once, of_all(ncid, "stage_mirror_bytes"));
    end(ncid);
}

/* Where it may not be as large as the file, what came first stays, and the rest is read
 * from the file each time. */
static void one_staged_file_has_an_end(void)
{
    enum { SOME = BLOCKS / 3 * 2 };
    char more[100];
    snprintf(more, sizeof more, "%s;nc_stage_size=%d", global, SOME * BLOCK);
    int ncid = start(more);
    if (nodes == 1) { /* its own file, which has another order */
        end(ncid);
        return;
    }
    get_blocks(ncid);
    CHECK_EQ(SOME / nodes * nodes * BLOCK, of_all(ncid, "stage_copied_bytes"));
    for (int i = 0; i < 3; i++) {
        long long before = of_all(ncid, "file_read_bytes");
        get_blocks(ncid);
        /* A block or two of the file are its header's alone. */
        long long again = of_all(ncid, "file_read_bytes") - before;
        CHECK(again >= (long long)check.nprocs * (BLOCKS - SOME - 1) * BLOCK);
        CHECK(again <= (long long)check.nprocs * (BLOCKS - SOME + nodes + 1) * BLOCK);
    }
    CHECK_EQ(SOME / nodes * nodes * BLOCK, of_all(ncid, "stage_copied_bytes"));
    CHECK_EQ(0, of_all(ncid, "stage_fallbacks"));
    end(ncid);
}

static void it_is_filled_ahead(void)
{
    for (int by_hint = 0; by_hint < 2; by_hint++) {
        char more[100];
        snprintf(more, sizeof more, "%s%s", global,
                 by_hint ? ";nc_stage_prefetch=open" : "");
        int ncid = start(more);
        if (!by_hint) CHECK_NC(NC_NOERR, ncmpix_prefetch(ncid, 0, NULL, NULL));
        CHECK_NC(NC_NOERR, ncmpix_prefetch_wait(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
        long long before = of_all(ncid, "file_read_bytes");
        CHECK(of_all(ncid, "stage_copied_bytes") <= (BLOCKS + 2) * BLOCK);
        get_blocks(ncid);
        CHECK_EQ(before, of_all(ncid, "file_read_bytes"));
        end(ncid);
    }
}

/* Nodes that find no home for a block bring it themselves. */
static void it_does_without_answers(void)
{
    for (int how = DEAF; how <= BREAKING; how++) {
        int ncid = start(global);
        others = how;
        for (int i = 0; i < 3; i++)
            get_blocks(ncid);
        if (nodes > 1 && how != BREAKING) CHECK(of_all(ncid, "stage_unanswered") > 0);
        CHECK_EQ(0, of_all(ncid, "stage_fallbacks"));
        end(ncid);
    }
}

/* A file that may change without another time, a file system on which others may read
 * what is old, nodes that do not talk: each node has its own. */
static void not_where_it_might_be_wrong(void)
{
    for (int why = 0; why < 3; why++) {
        char more[100];
        find_nodes();
        write_file();
        later = why == 0 ? 0 : 60;
        on_nfs = why == 1;
        snprintf(more, sizeof more, "%s%s", global,
                 why == 2 ? ";nc_stage_exchange=disable" : "");
        int ncid = open_staged(more);
        CHECK_EQ(nodes == 1, have_one_together());
        CHECK_EQ(nodes == 1 ? 0 : nodes, of_all(ncid, "stage_fallbacks"));
        get_blocks(ncid);
        get_blocks(ncid);
        CHECK_EQ(0, of_all(ncid, "stage_mirror_bytes"));
        end(ncid);
        on_nfs = false;
    }
}

/* Calls on it fail on one process or on all; a node may have a file of its own beside. */
static void some_may_not_have_it(void)
{
    static const char *const plans[] = {
        "open:1:EACCES:*ncmpi-stage*",  "open:1+:EACCES:*ncmpi-stage*",
        "read:1:EIO:*ncmpi-stage*",     "read:9+:EIO:*ncmpi-stage*",
        "read:7:short:*ncmpi-stage*",   "write:1:ENOSPC:*ncmpi-stage*",
        "write:5:ENOSPC:*ncmpi-stage*", "write:5+:ENOSPC:*ncmpi-stage*",
        "write:7:EIO:*ncmpi-stage*",    "unlink:1+:EACCES:*ncmpi-stage*"};
    for (size_t i = 0; i < 3 * sizeof plans / sizeof plans[0]; i++) {
        char plan[100];
        const char *of = i % 3 == 2 ? "" : i % 3 == 0 ? ":0" : ":1";
        find_nodes();
        write_file();
        later = 60;
        snprintf(plan, sizeof plan, "%s%s", plans[i / 3], of);
        CHECK(fault_arm(plan));
        int ncid = open_staged(global);
        for (int k = 0; k < 3; k++)
            get_blocks(ncid);
        end(ncid);
        fault_disarm();
    }
}

/* Its user gets at a staged file through the system's list of open ones. What is written
 * later behind the cut leaves holes before it. */
static void who_cuts_it_off_is_found_out(void)
{
    static const int left[] = {0, 5 * BLOCK + 7, BLOCKS / 2 * BLOCK};
    for (int i = 0; i < 6; i++) {
        int fd, ncid = start(i % 2 ? global : "");
        long long inode;
        get_values(ncid, 0, N / 2);
        of_all(ncid, "stage_copied_bytes"); /* and its copy is there */
        if (check.rank == 0 && CHECK_EQ(1, find_staged_file(&inode, &fd)))
            CHECK_EQ(0, ftruncate(fd, left[i / 2]));
        MPI_Barrier(MPI_COMM_WORLD);
        get_values(ncid, N - PER_BLOCK, PER_BLOCK);
        get_blocks(ncid);
        get_blocks(ncid);
        end(ncid);
    }
}

static void turn_a_bit_of_each_block(int fd)
{
    for (int i = 0; i <= BLOCKS; i++) {
        off_t at = (off_t)i * BLOCK + (off_t)check_random_own(BLOCK);
        unsigned char byte;
        if (pread(fd, &byte, 1, at) != 1) continue;
        byte ^= 4;
        CHECK_EQ(1, pwrite(fd, &byte, 1, at));
    }
}

/* ... or changes what is in it, where blocks have checksums; of a node's own, of all
 * nodes', and where nodes get single values from each other. */
static void who_changes_it_is_found_out(void)
{
    static const char *const how[] = {"", "nc_stage_scope=global",
                                      "nc_stage_size=163840"};
    if (!base_can_sum()) {
        check_skip("no checksums in this build");
        return;
    }
    for (int i = 0; i < 6; i++) {
        int fd;
        char more[200];
        long long inode;
        snprintf(more, sizeof more, "nc_stage_checksums=enable;%s", how[i / 2]);
        int ncid = start(more);
        get_values(ncid, node == 0 ? 0 : N / 2, N / 2);
        if (i % 2) get_blocks(ncid);
        of_all(ncid, "stage_copied_bytes"); /* and its copy is there */
        if (check.rank == 0 && CHECK_EQ(1, find_staged_file(&inode, &fd)))
            turn_a_bit_of_each_block(fd);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int k = 0; k < 20; k++)
            get_values(ncid, (MPI_Offset)check_random_own(N), 1);
        get_blocks(ncid);
        end(ncid);
    }
}

/* Checksums keep nobody from what is right. */
static void checksums_cost_no_reads(void)
{
    for (int i = 0; i < 2; i++) {
        int ncid = start(i == 0 ? "nc_stage_checksums=enable"
                                : "nc_stage_checksums=enable;nc_stage_scope=global");
        long long before = of_all(ncid, "file_read_bytes");
        get_blocks(ncid);
        long long once = of_all(ncid, "file_read_bytes") - before;
        CHECK(once <= (BLOCKS + 1) * BLOCK);
        get_blocks(ncid);
        CHECK_EQ(before + once, of_all(ncid, "file_read_bytes"));
        CHECK_EQ(0, of_all(ncid, "stage_fallbacks"));
        end(ncid);
    }
}

/* Who finds the file changed leaves what others may still be writing. */
static void what_has_changed_is_read_anew(void)
{
    const struct timespec pause = {0, 20000000};
    char more[100];
    snprintf(more, sizeof more, "%s;nc_stage_keep=enable", global);
    int ncid = start(more);
    for (int i = 0; i < 12; i++) {
        get_blocks(ncid);
        MPI_Barrier(MPI_COMM_WORLD);
        nanosleep(&pause, NULL);
        if (i % 3 != 1) write_file();
        if (i % 4 == 3) {
            end(ncid);
            later = 60;
            ncid = open_staged(more);
            continue;
        }
        for (int k = 0; k < nodes; k++) {
            if (node == (k + i) % nodes) CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
            if (node == (k + i) % nodes) get_blocks(ncid);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    end(ncid);
}

/* ... and what is kept is the same file again, or filled again. */
static void one_that_is_kept_is_found(void)
{
    const struct timespec pause = {0, 20000000};
    char more[100];
    snprintf(more, sizeof more, "%s;nc_stage_keep=enable;nc_stage_block_size=8192",
             global);
    int ncid = start(more);
    for (int i = 0; i < 4; i++) {
        get_blocks(ncid);
        CHECK(have_one_together() || nodes == 1);
        end(ncid);
        nanosleep(&pause, NULL);
        if (i == 1) write_file();
        later = 60;
        ncid = open_staged(more);
        CHECK_EQ(check.nprocs, of_all(ncid, "stage_kept"));
        long long before = of_all(ncid, "file_read_bytes");
        get_blocks(ncid);
        if (i != 1) CHECK_EQ(before, of_all(ncid, "file_read_bytes"));
        if (i == 1) CHECK(of_all(ncid, "file_read_bytes") > before);
        CHECK_EQ(0, of_all(ncid, "stage_fallbacks"));
    }
    end(ncid);
}

static const struct check_test tests[] = {
    {"all nodes read the file once", all_nodes_read_the_file_once, 0},
    {"nodes have room together", nodes_have_room_together, 0},
    {"what is prefetched is spread", what_is_prefetched_is_spread, 0},
    {"nobody has to help", nobody_has_to_help, 0},
    {"who does not answer is left alone", who_does_not_answer_is_left_alone, 0},
    {"not where the hint says so", not_where_the_hint_says_so, 0},
    {"all nodes have one staged file", all_nodes_have_one_staged_file, 0},
    {"one staged file has an end", one_staged_file_has_an_end, 0},
    {"it is filled ahead", it_is_filled_ahead, 0},
    {"it does without answers", it_does_without_answers, 0},
    {"not where it might be wrong", not_where_it_might_be_wrong, 0},
    {"some may not have it", some_may_not_have_it, 0},
    {"who cuts it off is found out", who_cuts_it_off_is_found_out, 0},
    {"who changes it is found out", who_changes_it_is_found_out, 0},
    {"checksums cost no reads", checksums_cost_no_reads, 0},
    {"one that is kept is found", one_that_is_kept_is_found, 0},
    /* Those below leave some that are kept. */
    {"what has changed is read anew", what_has_changed_is_read_anew, 0},
    {"what is old goes to nobody", what_is_old_goes_to_nobody, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2");
}
