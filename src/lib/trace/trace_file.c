/* The file of a trace.
 *
 * Ten thousand processes shall neither have a file each nor send what they have to one of
 * them. So they append whole lines to one file: of a file opened with O_APPEND, a write()
 * goes behind all that others have written, as POSIX has it and file systems do whose
 * processes see the same bytes (base_fs_coherent). On others (NFS) that holds among the
 * processes of a node alone: those of process 0's have the file, and those of another
 * node one of their own, with its name behind. %r and %h in the name are rank and host:
 * who wants a file a process has it.
 *
 * Clocks: CLOCK_MONOTONIC is one clock on a node. Processes on process 0's node take over
 * its time of day; those of others know how late it is there when all come out of a
 * barrier, so that they are wrong by what a barrier takes, and by what clocks drift apart
 * later (a few microseconds a second). What a process has found for its first dataset
 * holds for all, as the times of one process must be in order. */
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

/* Makes the file with the bracket that a list begins with, unless it is there: never
 * without it for a moment, as others may come to append. */
static void make_trace_file(const char *path)
{
    char fresh[PATH_MAX];
    int64_t own[2] = {trace_clock(), base_mpi_host()};
    unsigned long long mark = base_hash(own, sizeof own, (uint64_t)getpid());
    if (access(path, F_OK) == 0) return;
    if ((size_t)snprintf(fresh, sizeof fresh, "%s.%llx", path, mark) >= sizeof fresh)
        return;
    int fd = base_open_with(fresh, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0) return; /* opening it will say why */
    bool made = base_write_on(fd, "[\n", 2);
    (void)close(fd);
    if (made) (void)link(fresh, path);
    (void)unlink(fresh);
}

/* Is the file a trace, as far as its beginning tells? Nobody wants one appended to
 * anything else. An errno, or 0. */
static int check_file(int fd, struct stat *st)
{
    char first = '[';
    if (fstat(fd, st) != 0) return errno;
    if (!S_ISREG(st->st_mode)) return EINVAL;
    if (st->st_size > 0 && base_read_some(fd, 0, &first, 1) != 1) return EIO;
    return first == '[' ? 0 : EEXIST;
}

/* Opens it for t: an errno, or 0. */
static int open_trace_file(struct trace *t, const char *path)
{
    struct stat st;
    make_trace_file(path);
    t->fd = base_open_with(path, O_RDWR | O_APPEND | O_CREAT, 0666);
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

/* What an errno means here. */
static const char *words_of_errno(int why)
{
    return why == EEXIST ? "that file is something else" : strerror(why);
}

/* The name with rank and host in the place of %r and %h. False: it is too long. */
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

/* ---- text ---- */

static void give_trace_up(struct trace *t, int why)
{
    for (size_t i = 0; i < t->used; i++)
        t->lost += t->text[i] == '\n';
    if (t->fd >= 0) (void)close(t->fd);
    t->fd = -1;
    t->why = why;
}

/* The dataset may turn out to be the same file, under another name. */
static bool is_dataset(const struct trace *t)
{
    return t->ds->inode != 0 && t->inode == t->ds->inode && t->device == t->ds->device;
}

void trace_spill(struct trace *t)
{
    int saved = errno;
    if (t->fd >= 0 && is_dataset(t))
        give_trace_up(t, EEXIST);
    else if (t->fd >= 0 && t->used > 0 && !base_write_on(t->fd, t->text, t->used))
        give_trace_up(t, errno);
    t->used = 0;
    t->spilled = trace_clock();
    errno = saved;
}

/* ---- beginning ---- */

/* What process 0 tells. */
struct start {
    int64_t why;         /* there is no trace: an errno */
    int64_t apart;       /* processes of other hosts have files of their own */
    int64_t clock;       /* process 0's, when all came out of the barrier */
    int64_t shift;       /* from its clock to the time of day */
    int64_t host, id;    /* its host; the dataset's number */
    char name[PATH_MAX]; /* of the file, as it was asked for */
};

/* A line to standard error, written at once. */
static void print_line(const struct dataset *ds, const char *what, const char *why)
{
    char line[1024];
    int n = snprintf(line, sizeof line, "%.400s: %s: %.200s\n", ds->path, what, why);
    if (n > 0) (void)base_write_on(STDERR_FILENO, line, (size_t)n);
}

static struct trace *new_trace(struct dataset *ds, bool threads)
{
    struct trace *t = base_malloc(sizeof *t);
    if (t == NULL) return NULL;
    memset(t, 0, offsetof(struct trace, text));
    pthread_mutex_init(&t->lock, NULL);
    t->ds = ds;
    t->fd = -1;
    /* Threads of the burst buffer come without MPI's. */
    t->threads = threads || ds->hints.burst == BASE_ENABLE ||
                 ds->hints.blob_join == BASE_JOIN_BEHIND;
    if (MPI_Comm_rank(MPI_COMM_WORLD, &t->pid) != MPI_SUCCESS) t->pid = ds->rank;
    t->spilled = trace_clock();
    return t;
}

static int64_t new_id(const struct dataset *ds)
{
    int64_t own[3] = {base_now(CLOCK_REALTIME), base_mpi_host(), (int64_t)(intptr_t)ds};
    uint64_t hash = base_hash(own, sizeof own, (uint64_t)getpid());
    return (int64_t)(hash >> 12); /* a double has room for it */
}

/* Opens the file this process appends to. An errno, or 0. */
static int open_own_trace(struct trace *t, const struct start *s, const char *host)
{
    char path[PATH_MAX];
    bool apart = s->apart && s->host != base_mpi_host();
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
    if (strcmp(s->name, ds->full) == 0) return EEXIST;
    int why = open_own_trace(ds->trace, s, host);
    if (why == 0) s->apart = !base_fs_coherent(ds->trace->fd);
    return why;
}

/* From this process's clock to the time of day; 0: not yet known. */
static _Atomic int64_t known_shift;

/* Of several looks at both clocks the one that took the shortest. */
static int64_t find_shift(void)
{
    int64_t shift = known_shift, shortest = INT64_MAX;
    for (int i = 0; i < 10 && known_shift == 0; i++) {
        int64_t before = trace_clock(), now = base_now(CLOCK_REALTIME);
        int64_t took = trace_clock() - before;
        if (took < shortest) shift = now - before - took / 2;
        if (took < shortest) shortest = took;
    }
    return shift;
}

/* When the barrier ends it is the same time everywhere, more or less. */
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
    if (ds->hints.trace == BASE_REPORT_NONE) return;
    ds->trace = new_trace(ds, threads);
    (void)gethostname(host, sizeof host - 1);
    if (ds->rank == 0) s.why = prepare_first(ds, &s, host);
    (void)MPI_Barrier(ds->comm);
    int64_t clock = trace_clock();
    s.clock = clock;
    s.shift = find_shift();
    int mpi = MPI_Bcast(&s, sizeof s, MPI_BYTE, 0, ds->comm);
    if (s.why != 0 || mpi != MPI_SUCCESS) {
        if (ds->rank == 0)
            print_line(ds, "there is no trace", words_of_errno((int)s.why));
        trace_drop(ds);
        ds->hints.trace = BASE_REPORT_NONE;
        return;
    }
    struct trace *t = ds->trace;
    if (t == NULL) return; /* the others are told in the end */
    set_clock(t, &s, clock);
    t->id = s.id;
    if (ds->rank != 0) t->why = open_own_trace(t, &s, host);
    trace_add_process(t, host);
    trace_add_dataset(t, host);
    t->depth = 1; /* in the call that creates or opens */
    t->caller = trace_thread(t);
}

/* ---- end ---- */

void trace_drop(struct dataset *ds)
{
    struct trace *t = ds->trace;
    if (t == NULL) return;
    if (t->before.ncalls > 0) trace_add_group(t, &t->before);
    trace_spill(t);
    if (t->fd >= 0) (void)close(t->fd);
    pthread_mutex_destroy(&t->lock);
    base_free(t);
    ds->trace = NULL;
}

/* What compression made of each variable's values, of this process. */
static void add_framed(struct trace *t)
{
    const struct dataset *ds = t->ds;
    for (int id = 0; id < ds->nframed; id++)
        if (ds->framed[id].frames > 0) trace_add_framed(t, id, &ds->framed[id]);
}

void trace_stop_all(struct dataset *ds)
{
    enum { WHY, LOST, NVALUES };
    int64_t mine[NVALUES] = {ENOMEM, 1}, worst[NVALUES] = {0};
    struct trace *t = ds->trace;
    if (ds->hints.trace == BASE_REPORT_NONE) return;
    if (t != NULL) {
        if (t->before.ncalls > 0) trace_add_group(t, &t->before);
        t->before.ncalls = 0;
        add_framed(t);
        trace_spill(t);
        mine[WHY] = t->why;
        mine[LOST] = t->lost;
    }
    trace_drop(ds);
    int mpi = MPI_Reduce(mine, worst, NVALUES, MPI_INT64_T, MPI_MAX, 0, ds->comm);
    if (ds->rank != 0 || mpi != MPI_SUCCESS || worst[LOST] == 0) return;
    char what[128];
    snprintf(what, sizeof what,
             "the trace has not all lines, of one process %lld are missing",
             (long long)worst[LOST]);
    print_line(ds, what, words_of_errno((int)worst[WHY]));
}
