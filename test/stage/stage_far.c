/* Tests nodes that get blocks from each other, or that share one staged file. Together,
 * the nodes must read each block of the dataset's file only once, even if the processes
 * that have a block are computing when another node requests it. If a node receives no
 * reply to its requests, it must read the file itself. Since a single node exchanges
 * nothing, test/stage/stage_nodes.sh runs this test on several nodes, and stage_parts.sh
 * divides one node into several (PNETCDF_HINTS=nc_node_procs=1). */
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

static int nodes, node; /* number of nodes; index of this process's node */
static int generation;

/* ---- interposed calls ---- */

#define NEXT(name)                                                                       \
    static _Atomic(void *) found;                                                        \
    if (found == NULL) found = dlsym(RTLD_NEXT, #name);                                  \
    void *known = found;                                                                 \
    __typeof__(&name) next;                                                              \
    memcpy(&next, &known, sizeof next)

/* Adds `later` seconds to the time, so the file seems to be old. */
static _Atomic long later;
int clock_gettime(clockid_t clock, struct timespec *now)
{
    long result = syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME) now->tv_sec += later;
    return (int)result;
}

/* Ways in which other nodes fail: they accept no requests, their replies do not arrive in
 * time, or their connections break. */
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

/* Fails as if no reply had arrived in time. */
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

/* Pretends that the staged file is on NFS, where nodes may read stale data. */
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

/* Returns the communicator of the processes that the library treats as this process's
 * node. */
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

/* Opens the dataset for staged reads. Each node has its own staging directory. */
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

/* Gets all blocks, in a random order that differs between processes. */
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
    CHECK_EQ((nodes - 1) * once, far); /* nodes store the blocks that they receive */
    CHECK_EQ(far, of_all(ncid, "stage_given_bytes"));
    CHECK_EQ(0, of_all(ncid, "stage_unanswered"));
    CHECK_EQ(nodes * once, of_all(ncid, "stage_copied_bytes"));
    get_blocks(ncid);
    CHECK_EQ(before + once, of_all(ncid, "file_read_bytes"));
    CHECK_EQ(far, of_all(ncid, "stage_far_bytes"));
    end(ncid);
}

/* Each node can store two thirds of the blocks, so the nodes together can store all of
 * them. */
static void nodes_store_the_blocks_together(void)
{
    char more[100];
    snprintf(more, sizeof more, "nc_stage_size=%d", BLOCKS * BLOCK * 2 / 3);
    int ncid = start(more);
    /* Each node first gets a different part of the file. */
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

/* Prefetching must distribute the blocks among the nodes. */
static void prefetched_blocks_are_distributed_over_the_nodes(void)
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

/* The processes that have the blocks make no MPI or library calls while another node gets
 * them. */
static void blocks_are_sent_without_calls_of_the_sender(void)
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

/* If other nodes cannot be reached, do not reply, or break off a reply, each node must
 * read the file and eventually stop sending requests. */
static void nodes_that_do_not_answer_are_no_longer_asked(void)
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

static void a_hint_disables_the_exchange_of_blocks(void)
{
    int ncid = start("nc_stage_exchange=disable");
    get_blocks(ncid);
    CHECK_EQ(0, of_all(ncid, "stage_far_bytes"));
    end(ncid);
    /* Nodes do not exchange blocks of a file that has just changed, because it may change
     * again without getting a new modification time. */
    write_file();
    ncid = open_staged("");
    get_blocks(ncid);
    CHECK_EQ(0, of_all(ncid, "stage_far_bytes"));
    end(ncid);
}

/* A node that has not yet noticed a change of the file must not send blocks to a node
 * that has. */
static void stale_blocks_are_not_sent_to_other_nodes(void)
{
    const struct timespec pause = {0, 20000000}; /* longer than the resolution of file
                                                  * times */
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
            /* The nodes revalidate one after the other. */
            for (int k = 0; k < nodes; k++) {
                if (node == (k + i) % nodes) CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
                if (node == (k + i) % nodes) get_blocks(ncid);
                MPI_Barrier(MPI_COMM_WORLD);
            }
        }
    }
    end(ncid);
}

/* ---- a shared staged file ---- */

static const char global[] = "nc_stage_scope=global";

/* Returns the number of staged files that this process has open, and stores the inode and
 * the descriptor of the last one. */
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
        CHECK_EQ(0600, st.st_mode & 0777); /* other users must not read the file */
        *inode = (long long)st.st_ino;
        *last = fd;
        n++;
    }
    if (d != NULL) closedir(d);
    return n;
}

/* Returns true if all processes have the same staged file open. */
static bool have_one_together(void)
{
    long long own[2], all[2];
    int fd, n = find_staged_file(&own[0], &fd);
    own[1] = -own[0];
    CHECK_EQ(1, n);
    MPI_Allreduce(own, all, 2, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    return all[0] == -all[1];
}

static void all_nodes_share_one_staged_file(void)
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

/* Limits the staged file to fewer blocks than the dataset has (nc_stage_size). The blocks
 * that were requested first must be staged; the others must be read from the dataset's
 * file each time. */
static void a_shared_stage_has_a_limited_size(void)
{
    enum { SOME = BLOCKS / 3 * 2 };
    char more[100];
    snprintf(more, sizeof more, "%s;nc_stage_size=%d", global, SOME * BLOCK);
    int ncid = start(more);
    if (nodes == 1) { /* a single node organizes its file differently */
        end(ncid);
        return;
    }
    get_blocks(ncid);
    CHECK_EQ(SOME / nodes * nodes * BLOCK, of_all(ncid, "stage_copied_bytes"));
    for (int i = 0; i < 3; i++) {
        long long before = of_all(ncid, "file_read_bytes");
        get_blocks(ncid);
        /* Allows for one or two blocks that contain only the header. */
        long long again = of_all(ncid, "file_read_bytes") - before;
        CHECK(again >= (long long)check.nprocs * (BLOCKS - SOME - 1) * BLOCK);
        CHECK(again <= (long long)check.nprocs * (BLOCKS - SOME + nodes + 1) * BLOCK);
    }
    CHECK_EQ(SOME / nodes * nodes * BLOCK, of_all(ncid, "stage_copied_bytes"));
    CHECK_EQ(0, of_all(ncid, "stage_fallbacks"));
    end(ncid);
}

static void a_shared_stage_is_prefetched(void)
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

/* If the node that stores a block does not reply, other nodes must read the block from
 * the dataset's file. */
static void a_shared_stage_works_without_answers(void)
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

/* Nodes must not share a staged file in three cases: the dataset's file may change
 * without a new modification time, the staged file is on a file system where nodes may
 * read stale data, or nodes do not exchange messages. */
static void a_stage_is_not_shared_where_it_might_be_stale(void)
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

/* Makes calls on the shared staged file fail on one process or on all of them. Some nodes
 * may then use files of their own. */
static void a_shared_stage_may_fail_on_some_processes(void)
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

/* Other programs of the user can truncate a staged file through /proc. Then a later write
 * beyond the new end leaves a hole. */
static void a_truncated_stage_is_detected(void)
{
    static const int left[] = {0, 5 * BLOCK + 7, BLOCKS / 2 * BLOCK};
    for (int i = 0; i < 6; i++) {
        int fd, ncid = start(i % 2 ? global : "");
        long long inode;
        get_values(ncid, 0, N / 2);
        of_all(ncid, "stage_copied_bytes"); /* waits until all blocks are copied */
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

/* Checksums must detect that the contents of the staged file have changed, whether it
 * belongs to one node or to all nodes, and also when nodes get single values from each
 * other. */
static void changed_contents_of_a_stage_are_detected(void)
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
        of_all(ncid, "stage_copied_bytes"); /* waits until all blocks are copied */
        if (check.rank == 0 && CHECK_EQ(1, find_staged_file(&inode, &fd)))
            turn_a_bit_of_each_block(fd);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int k = 0; k < 20; k++)
            get_values(ncid, (MPI_Offset)check_random_own(N), 1);
        get_blocks(ncid);
        end(ncid);
    }
}

/* Checksums must not reject valid blocks. */
static void checksums_cause_no_reads_of_the_file(void)
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

/* If a process has noticed a change of the file, it must not use blocks that other
 * processes may still be writing. */
static void blocks_of_a_changed_file_are_read_again(void)
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

/* When the dataset is opened, all nodes must use the same kept stage. If the dataset has
 * changed, the stage must be filled again. */
static void a_kept_shared_stage_is_used_again(void)
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
    {"nodes store the blocks together", nodes_store_the_blocks_together, 0},
    {"prefetched blocks are distributed over the nodes",
     prefetched_blocks_are_distributed_over_the_nodes, 0},
    {"blocks are sent without calls of the sender",
     blocks_are_sent_without_calls_of_the_sender, 0},
    {"nodes that do not answer are no longer asked",
     nodes_that_do_not_answer_are_no_longer_asked, 0},
    {"a hint disables the exchange of blocks", a_hint_disables_the_exchange_of_blocks, 0},
    {"all nodes share one staged file", all_nodes_share_one_staged_file, 0},
    {"a shared stage has a limited size", a_shared_stage_has_a_limited_size, 0},
    {"a shared stage is prefetched", a_shared_stage_is_prefetched, 0},
    {"a shared stage works without answers", a_shared_stage_works_without_answers, 0},
    {"a stage is not shared where it might be stale",
     a_stage_is_not_shared_where_it_might_be_stale, 0},
    {"a shared stage may fail on some processes",
     a_shared_stage_may_fail_on_some_processes, 0},
    {"a truncated stage is detected", a_truncated_stage_is_detected, 0},
    {"changed contents of a stage are detected", changed_contents_of_a_stage_are_detected,
     0},
    {"checksums cause no reads of the file", checksums_cause_no_reads_of_the_file, 0},
    {"a kept shared stage is used again", a_kept_shared_stage_is_used_again, 0},
    /* The remaining tests leave kept stages behind. */
    {"blocks of a changed file are read again", blocks_of_a_changed_file_are_read_again,
     0},
    {"stale blocks are not sent to other nodes", stale_blocks_are_not_sent_to_other_nodes,
     0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2");
}
