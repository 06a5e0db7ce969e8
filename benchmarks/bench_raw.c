/* The raw ways: the same processes transfer the same bytes with plain system calls. The
 * bytes are written as they are in memory, without byte swapping. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bench.h"

enum { PIECES = 1024, LARGEST = 1 << 30 };
enum {
    MOST_RUNS = 100000
}; /* maximum number of runs per process; enough to measure the time per run */

/* Collects runs that are contiguous in the file, but not in memory, for one system
 * call. */
struct gather {
    int fd;
    bool put;
    int n;
    int64_t runs, bytes; /* runs and bytes transferred so far */
    const struct bench_piece *piece;
    int64_t at, end;
    struct iovec pieces[PIECES];
};

static void transfer(int fd, bool put, unsigned char *buf, int64_t size, int64_t at)
{
    while (size > 0) {
        size_t now = size < LARGEST ? (size_t)size : LARGEST;
        ssize_t n = put ? pwrite(fd, buf, now, at) : pread(fd, buf, now, at);
        if (n <= 0) bench_stop(n < 0 ? strerror(errno) : "end of file", "raw");
        buf += n;
        size -= n;
        at += n;
    }
}

static void flush(struct gather *g)
{
    if (g->n == 1) {
        transfer(g->fd, g->put, g->pieces[0].iov_base, (int64_t)g->pieces[0].iov_len,
                 g->at);
    } else if (g->n > 1) {
        ssize_t n = g->put ? pwritev(g->fd, g->pieces, g->n, g->at)
                           : preadv(g->fd, g->pieces, g->n, g->at);
        if (n != g->end - g->at) bench_stop("short or failed", "raw, in pieces");
    }
    g->n = 0;
}

static void move_run(const struct bench_plan *p, const struct bench_run *run, void *arg)
{
    struct gather *g = arg;
    const struct bench_var *v = &p->vars[run->piece->var];
    int size = bench_type_size(v->type);
    if (g->runs == MOST_RUNS) return;
    int64_t at = bench_offset(p, run), bytes = run->n * size;
    g->runs++;
    g->bytes += bytes;
    bool apart = p->call == BENCH_INDEPENDENT &&
                 run->piece != g->piece; /* the run needs a separate call */
    if (g->n == PIECES || at != g->end || at + bytes - g->at > LARGEST || apart) flush(g);
    g->piece = run->piece;
    if (g->n == 0) g->at = at;
    g->pieces[g->n++] = (struct iovec){run->piece->buf + run->mem * size, (size_t)bytes};
    g->end = at + bytes;
}

static int64_t move_runs(const struct bench_plan *p, struct bench_handle h, bool put)
{
    struct gather g = {.fd = h.id, .put = put};
    bench_runs(p, move_run, &g);
    flush(&g);
    return g.bytes;
}

static int64_t move_contig(const struct bench_plan *p, struct bench_handle h, bool put)
{
    transfer(h.id, put, p->memory, p->file_bytes, h.at);
    return p->file_bytes;
}

/* If every process has a single run, `contig` does the same as `runs`. */
static bool has_runs(struct bench *b, const struct bench_plan *p)
{
    return bench_sum(b, p->nruns > 1) > 0;
}

static void open_path(const char *path, int64_t at, struct bench_handle *h)
{
    *h = (struct bench_handle){.id = open(path, O_RDWR | O_CREAT, 0666), .at = at};
    bench_need_system(h->id >= 0, path);
}

static void open_raw(struct bench *b, struct bench_plan *p, enum bench_step step,
                     struct bench_handle *h)
{
    (void)step;
    open_path(b->raw, p->contig_at, h);
}

/* Returns the name of this process's own file. */
static const char *own_name(const struct bench *b)
{
    static char path[BENCH_PATH + 16];
    snprintf(path, sizeof path, "%s.%d", b->raw, b->rank);
    return path;
}

static void open_own(struct bench *b, struct bench_plan *p, enum bench_step step,
                     struct bench_handle *h)
{
    (void)p, (void)step;
    open_path(own_name(b), 0, h);
}

static void sync_raw(struct bench_handle h)
{
    bench_need_system(fsync(h.id) == 0, "fsync");
}

static void close_raw(struct bench *b, const struct bench_plan *p, struct bench_handle h,
                      enum bench_step step)
{
    (void)b, (void)p, (void)step;
    bench_need_system(close(h.id) == 0, "close");
}

static void close_own(struct bench *b, const struct bench_plan *p, struct bench_handle h,
                      enum bench_step step)
{
    close_raw(b, p, h, step);
    if (step == BENCH_GET) bench_need_system(unlink(own_name(b)) == 0, own_name(b));
}

const struct bench_way bench_raw = {"runs",    false,    NULL,     open_raw,
                                    move_runs, sync_raw, close_raw},
                       bench_contig = {"contig",    false,    has_runs, open_raw,
                                       move_contig, sync_raw, close_raw},
                       bench_files = {"files",     false,    NULL,     open_own,
                                      move_contig, sync_raw, close_own};
