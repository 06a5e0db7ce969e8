/* Opens and closes the trace file.
 *
 * Thousands of processes should neither write one file each nor send their lines to one
 * process. Instead, they append whole lines to one file. With O_APPEND, a write() appends
 * after all data that other processes have written. POSIX requires this, and coherent
 * file systems implement it (base_fs_is_coherent). Other file systems (NFS) guarantee it
 * only for the processes of one node. On these, the processes of process 0's node share
 * the file, and each other node has a separate file whose name ends with the host name.
 * %r and %h in the name stand for the rank and the host, for users who want one file per
 * process.
 *
 * Clocks: CLOCK_MONOTONIC is the same for all processes on a node. Processes on process
 * 0's node use process 0's offset to the time of day. Processes on other nodes receive
 * process 0's time, taken when all processes leave a barrier. The error of their clocks
 * is the duration of a barrier plus the later drift of the clocks (a few microseconds per
 * second). A process uses the offset of its first dataset for all later ones, so that its
 * times are in order. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base_fs.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "base_names.h"
#include "base_number.h"
#include "trace_impl.h"

/* ---- the file ---- */

/* Creates the file, with the bracket that begins a JSON list, unless it exists. Other
 * processes may append at any time, so the file is given its name only after the bracket
 * has been written. Returns a descriptor open for appending, or -1 if the file exists or
 * cannot be created. */
static int make_trace_file(const char *path)
{
    char fresh[PATH_MAX];
    int64_t own[2] = {base_now(CLOCK_MONOTONIC), base_mpi_host()};
    unsigned long long mark = base_hash(own, sizeof own, (uint64_t)getpid());
    if (access(path, F_OK) == 0) return -1;
    if ((size_t)snprintf(fresh, sizeof fresh, "%s.%llx", path, mark) >= sizeof fresh)
        return -1;
    int fd = base_open_with(fresh, O_RDWR | O_APPEND | O_CREAT | O_EXCL, 0666);
    if (fd < 0) return -1; /* a later open reports the error */
    bool named = base_write_stream(fd, "[\n", 2) && link(fresh, path) == 0;
    (void)unlink(fresh);
    if (named) return fd;
    (void)close(fd);
    return -1;
}

/* Checks that the file begins like a trace, before appending. Returns an errno, or 0. */
static int check_file(int fd, struct stat *st)
{
    char first = '[';
    if (fstat(fd, st) != 0) return errno;
    if (!S_ISREG(st->st_mode)) return EINVAL;
    if (st->st_size > 0 && base_read_some(fd, 0, &first, 1) != 1) return EIO;
    return first == '[' ? 0 : EEXIST;
}

/* Opens the file for a trace. Returns an errno, or 0. */
static int open_trace_file(struct trace *t, const char *path)
{
    struct stat st;
    t->fd = make_trace_file(path);
    if (t->fd < 0) t->fd = base_open_with(path, O_RDWR | O_APPEND | O_CREAT, 0666);
    if (t->fd < 0) return errno;
    int why = check_file(t->fd, &st);
    if (why == 0) {
        t->device = (int64_t)st.st_dev;
        t->inode = (int64_t)st.st_ino;
        return 0;
    }
    (void)close(t->fd);
    t->fd = -1;
    return why;
}

/* Returns the message for an errno value. */
static const char *errno_message(int why)
{
    return why == EEXIST ? "the file exists and is not a trace" : strerror(why);
}

/* Expands %r and %h to rank and host. Returns false if the name is too long. */
static bool expand(const char *name, int rank, const char *host, char *path, size_t size)
{
    size_t n = 0;
    for (; *name != '\0' && n + 1 < size; name++) {
        const bool marked = name[0] == '%';
        const bool is_rank = marked && name[1] == 'r', is_host = marked && name[1] == 'h';
        int put = 1;
        if (is_rank)
            put = snprintf(path + n, size - n, "%d", rank);
        else if (is_host)
            put = snprintf(path + n, size - n, "%s", host);
        else
            path[n] = *name;
        if (is_rank || is_host) name++;
        n += (size_t)put;
    }
    if (n >= size) return false;
    path[n] = '\0';
    return *name == '\0';
}

/* ---- starting ---- */

/* Data that process 0 broadcasts to start a trace. */
struct start {
    int64_t why;            /* errno if tracing is impossible */
    int64_t separate_files; /* other nodes have separate files */
    int64_t clock;          /* process 0's clock when all processes left the barrier */
    int64_t shift;          /* time of day minus the clock */
    int64_t host, id;       /* process 0's host; the dataset's number */
    char name[PATH_MAX];    /* file name, not yet expanded */
};

/* Writes a line to standard error with one write. */
static void print_line(const struct dataset *ds, const char *what, const char *why)
{
    char line[1024];
    int n = snprintf(line, sizeof line, "%.400s: %s: %.200s\n", ds->path, what, why);
    if (n > 0) (void)base_write_stream(STDERR_FILENO, line, (size_t)n);
}

static struct trace *new_trace(struct dataset *ds, bool threads)
{
    struct trace *t = base_malloc(sizeof *t);
    if (t == NULL) return NULL;
    memset(t, 0, offsetof(struct trace, text));
    pthread_mutex_init(&t->lock, NULL);
    t->ds = ds;
    t->fd = -1;
    /* The burst buffer and joins start threads at any MPI thread level. */
    t->threads = threads || ds->hints.burst == HINTS_ENABLE ||
                 ds->hints.blob_join == HINTS_JOIN_BACKGROUND;
    if (MPI_Comm_rank(MPI_COMM_WORLD, &t->pid) != MPI_SUCCESS) t->pid = ds->rank;
    t->flushed_at = base_now(CLOCK_MONOTONIC);
    return t;
}

static int64_t new_id(const struct dataset *ds)
{
    int64_t own[3] = {base_now(CLOCK_REALTIME), base_mpi_host(), (int64_t)(intptr_t)ds};
    uint64_t hash = base_hash(own, sizeof own, (uint64_t)getpid());
    return (int64_t)(hash >> 12); /* fits exactly into a double */
}

/* Opens the file that this process appends to. Returns an errno, or 0. */
static int open_own_trace(struct trace *t, const struct start *s, const char *host)
{
    char path[PATH_MAX];
    bool apart = s->separate_files && s->host != base_mpi_host();
    if (!expand(s->name, t->pid, host, path, sizeof path)) return ENAMETOOLONG;
    size_t used = strlen(path), room = sizeof path - used;
    if (apart && (size_t)snprintf(path + used, room, ".%s", host) >= room)
        return ENAMETOOLONG;
    return open_trace_file(t, path);
}

static int prepare_first(struct dataset *ds, struct start *s, const char *host)
{
    char name[MPI_MAX_INFO_VAL + 1] = "";
    int there = 0;
    if (MPI_Info_get(ds->info, "nc_trace", MPI_MAX_INFO_VAL, name, &there) !=
            MPI_SUCCESS ||
        !there)
        return EINVAL;
    snprintf(s->name, sizeof s->name, "%s", name);
    s->id = new_id(ds);
    s->host = base_mpi_host();
    if (ds->trace == NULL) return ENOMEM;
    if (strcmp(s->name, ds->full_path) == 0) return EEXIST;
    int why = open_own_trace(ds->trace, s, host);
    if (why == 0) s->separate_files = !base_fs_is_coherent(ds->trace->fd);
    return why;
}

/* Time of day minus this process's clock, in nanoseconds; 0 before the first trace. */
static _Atomic int64_t known_shift;

/* Reads both clocks several times. Returns the difference from the fastest reading. */
static int64_t find_shift(void)
{
    int64_t shift = known_shift, shortest = INT64_MAX;
    for (int i = 0; i < 10 && known_shift == 0; i++) {
        int64_t before = base_now(CLOCK_MONOTONIC), now = base_now(CLOCK_REALTIME);
        int64_t took = base_now(CLOCK_MONOTONIC) - before;
        if (took < shortest) shift = now - before - took / 2;
        if (took < shortest) shortest = took;
    }
    return shift;
}

/* Sets the clock's shift. Assumes that all processes leave a barrier simultaneously. */
static void set_clock(struct trace *t, const struct start *s, int64_t clock)
{
    bool near = s->host != 0 && s->host == base_mpi_host();
    int64_t none = 0, shift = s->shift + (near ? 0 : s->clock - clock);
    (void)atomic_compare_exchange_strong(&known_shift, &none, shift);
    t->shift = known_shift;
}

void trace_start_all(struct dataset *ds, bool threads)
{
    struct start s = {0};
    char host[64] = "";
    if (ds->hints.trace == HINTS_REPORT_NONE) return;
    ds->trace = new_trace(ds, threads);
    (void)gethostname(host, sizeof host - 1);
    if (ds->rank == 0) s.why = prepare_first(ds, &s, host);
    (void)MPI_Barrier(ds->comm);
    int64_t clock = base_now(CLOCK_MONOTONIC);
    s.clock = clock;
    s.shift = find_shift();
    int mpi = MPI_Bcast(&s, sizeof s, MPI_BYTE, 0, ds->comm);
    if (s.why != 0 || mpi != MPI_SUCCESS) {
        if (ds->rank == 0)
            print_line(ds, "no trace is written", errno_message((int)s.why));
        trace_drop(ds);
        ds->hints.trace = HINTS_REPORT_NONE;
        return;
    }
    struct trace *t = ds->trace;
    if (t == NULL) return; /* out of memory; trace_stop_all reports it */
    set_clock(t, &s, clock);
    t->id = s.id;
    if (ds->rank != 0) t->why = open_own_trace(t, &s, host);
    trace_add_process(t, host);
    trace_add_dataset(t, host);
    t->depth = 1; /* the call that creates or opens the dataset has begun */
    t->caller = trace_thread(t);
}

/* ---- end ---- */

void trace_drop(struct dataset *ds)
{
    struct trace *t = ds->trace;
    if (t == NULL) return;
    if (t->before.ncalls > 0) trace_add_group(t, &t->before);
    trace_flush(t);
    if (t->fd >= 0) (void)close(t->fd);
    pthread_mutex_destroy(&t->lock);
    base_free(t);
    ds->trace = NULL;
}

/* Adds a line per variable with the sizes of this process's values before and after
 * compression. */
static void add_framed(struct trace *t)
{
    const struct dataset *ds = t->ds;
    for (int id = 0; id < ds->frames.n; id++)
        if (ds->frames.vars[id].frames > 0) trace_add_framed(t, id, &ds->frames.vars[id]);
}

void trace_stop_all(struct dataset *ds)
{
    enum { WHY, LOST, NVALUES };
    int64_t mine[NVALUES] = {ENOMEM, 1}, worst[NVALUES] = {0};
    struct trace *t = ds->trace;
    if (ds->hints.trace == HINTS_REPORT_NONE) return;
    if (t != NULL) {
        if (t->before.ncalls > 0) trace_add_group(t, &t->before);
        t->before.ncalls = 0;
        add_framed(t);
        trace_flush(t);
        mine[WHY] = t->why;
        mine[LOST] = t->lost;
    }
    trace_drop(ds);
    int mpi = MPI_Reduce(mine, worst, NVALUES, MPI_INT64_T, MPI_MAX, 0, ds->comm);
    if (ds->rank != 0 || mpi != MPI_SUCCESS || worst[LOST] == 0) return;
    char what[128];
    snprintf(what, sizeof what,
             "the trace is incomplete: up to %lld lines of a process are missing",
             (long long)worst[LOST]);
    print_line(ds, what, errno_message((int)worst[WHY]));
}
