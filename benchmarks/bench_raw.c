/* The raw ways: the same processes, the same bytes, system calls alone. What is written
 * is what lies in memory; the file's byte order is not their matter. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bench.h"

enum { PIECES = 1024, LARGEST = 1 << 30 };
enum { MOST_RUNS = 100000 }; /* a process: by then it is known what one takes */

/* What lies side by side in the file but apart in memory goes in one call. */
struct gather {
    int fd;
    bool put;
    int n;
    int64_t runs, bytes; /* so far */
    const struct bench_piece *piece;
    int64_t at, end;
    struct iovec pieces[PIECES];
};

int bench_raw_open(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0666);
    if (fd < 0) bench_stop(strerror(errno), path);
    return fd;
}

void bench_raw_close(int fd)
{
    if (close(fd) != 0) bench_stop(strerror(errno), "close");
}

static void move(int fd, bool put, unsigned char *buf, int64_t size, int64_t at)
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
        move(g->fd, g->put, g->pieces[0].iov_base, (int64_t)g->pieces[0].iov_len, g->at);
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
    bool apart = p->way == BENCH_INDEPENDENT && run->piece != g->piece; /* its own call */
    if (g->n == PIECES || at != g->end || at + bytes - g->at > LARGEST || apart) flush(g);
    g->piece = run->piece;
    if (g->n == 0) g->at = at;
    g->pieces[g->n++] = (struct iovec){run->piece->buf + run->mem * size, (size_t)bytes};
    g->end = at + bytes;
}

int64_t bench_raw_runs(const struct bench_plan *p, int fd, bool put)
{
    struct gather g = {.fd = fd, .put = put};
    bench_runs(p, move_run, &g);
    flush(&g);
    return g.bytes;
}

void bench_raw_contig(const struct bench_plan *p, int fd, int64_t at, bool put)
{
    move(fd, put, p->memory, p->file_bytes, at);
}
