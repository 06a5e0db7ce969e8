/* Computes the contiguous runs of each piece without using any library. The result is the
 * reference for where each value must be in the file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

/* State for iterating over one segment. The loops cover the first `outer` dimensions; the
 * remaining ones form a run of `n` contiguous elements. */
struct walk {
    int outer;
    int64_t n;
    int64_t step[BENCH_DIMS]; /* distance between neighbours in the variable, in elements,
                               * for each dimension */
    int64_t mstep[BENCH_DIMS]; /* the same distance in the buffer */
    int64_t index, mem;        /* positions of the segment's first element */
};

static void find_steps(const struct bench_var *v, const struct bench_piece *piece,
                       const MPI_Offset *start, const MPI_Offset *count, struct walk *w)
{
    int64_t file = 1, mem = 1;
    w->index = 0;
    for (int i = v->ndims - 1; i >= 0; i--) {
        int ghost = i >= v->ndims - 3 ? piece->ghost : 0;
        w->step[i] = file * (piece->stride[i] > 0 ? piece->stride[i] : 1);
        w->mstep[i] = mem;
        w->index += start[i] * file;
        w->mem += ghost * mem;
        file *= v->shape[i];
        mem *= count[i] + 2L * ghost;
    }
}

/* Merges the inner dimensions into the run as long as they are contiguous. */
static void fold(const struct bench_var *v, const MPI_Offset *count, struct walk *w)
{
    w->outer = v->ndims;
    w->n = 1;
    while (w->outer > (v->record ? 1 : 0)) {
        int i = w->outer - 1;
        if (count[i] != 1 && (w->step[i] != w->n || w->mstep[i] != w->n)) break;
        w->n *= count[i];
        w->outer = i;
    }
}

static void walk_segment(const struct bench_plan *p, const struct walk *w,
                         const MPI_Offset *count, struct bench_run *run,
                         bench_visit *visit, void *arg)
{
    MPI_Offset at[BENCH_DIMS] = {0};
    int64_t left = 1;
    for (int i = 0; i < w->outer; i++)
        left *= count[i];
    run->index = w->index;
    run->mem = w->mem;
    run->n = w->n;
    for (; left > 0 && w->n > 0; left--) {
        visit(p, run, arg);
        for (int i = w->outer - 1; i >= 0; i--) {
            run->index += w->step[i];
            run->mem += w->mstep[i];
            if (++at[i] < count[i]) break;
            run->index -= w->step[i] * at[i];
            run->mem -= w->mstep[i] * at[i];
            at[i] = 0;
        }
    }
}

void bench_runs(const struct bench_plan *p, bench_visit *visit, void *arg)
{
    for (int64_t i = 0; i < p->npieces; i++) {
        const struct bench_piece *piece = &p->pieces[i];
        const struct bench_var *v = &p->vars[piece->var];
        struct bench_run run = {.piece = piece};
        int64_t mem = 0;
        for (int64_t s = 0; s < piece->nsegs; s++) {
            const MPI_Offset *count = piece->count + s * v->ndims;
            struct walk w = {.mem = mem};
            find_steps(v, piece, piece->start + s * v->ndims, count, &w);
            fold(v, count, &w);
            walk_segment(p, &w, count, &run, visit, arg);
            int64_t n = 1;
            for (int d = 0; d < v->ndims; d++)
                n *= count[d];
            mem += n;
        }
    }
}

int64_t bench_offset(const struct bench_plan *p, const struct bench_run *run)
{
    const struct bench_var *v = &p->vars[run->piece->var];
    int size = bench_type_size(v->type);
    if (!v->record) return v->begin + run->index * size;
    int64_t slice = 1;
    for (int i = 1; i < v->ndims; i++)
        slice *= v->shape[i];
    return v->begin + run->index / slice * p->recsize + run->index % slice * size;
}

static void fill_run(const struct bench_plan *p, const struct bench_run *run, void *arg)
{
    (void)arg;
    int var = run->piece->var;
    nc_type type = p->vars[var].mem;
    bench_values(run->piece->buf + run->mem * bench_type_size(type), type, p, var,
                 run->index, run->n);
}

void bench_fill(const struct bench_plan *p)
{
    bench_runs(p, fill_run, NULL);
}

enum { CHUNK = 4096 };

static void wrong(const struct bench_run *run, int64_t i, const char *where)
{
    char text[160];
    snprintf(text, sizeof text, "variable %d, among elements %lld to %lld",
             run->piece->var, (long long)run->index + i,
             (long long)(run->index + run->n - 1));
    bench_stop(text, where);
}

static void check_memory_run(const struct bench_plan *p, const struct bench_run *run,
                             void *arg)
{
    (void)arg;
    double want[CHUNK];
    nc_type type = p->vars[run->piece->var].mem;
    int size = bench_type_size(type);
    for (int64_t i = 0; i < run->n; i += CHUNK) {
        int64_t n = run->n - i < CHUNK ? run->n - i : CHUNK;
        bench_values(want, type, p, run->piece->var, run->index + i, n);
        if (memcmp(want, run->piece->buf + (run->mem + i) * size, (size_t)(n * size)) !=
            0)
            wrong(run, i, "WRONG VALUES READ");
    }
}

void bench_check_memory(const struct bench_plan *p)
{
    bench_runs(p, check_memory_run, NULL);
}

static void check_file_run(const struct bench_plan *p, const struct bench_run *run,
                           void *arg)
{
    double want[CHUNK], have[CHUNK];
    nc_type type = p->vars[run->piece->var].type;
    int size = bench_type_size(type);
    for (int64_t i = 0; i < run->n; i += CHUNK) {
        int64_t n = run->n - i < CHUNK ? run->n - i : CHUNK;
        bench_values(want, type, p, run->piece->var, run->index + i, n);
        bench_swap(want, type, n);
        ssize_t got =
            pread(*(int *)arg, have, (size_t)(n * size), bench_offset(p, run) + i * size);
        if (got != n * size || memcmp(want, have, (size_t)got) != 0)
            wrong(run, i, "WRONG VALUES IN THE FILE");
    }
}

/* Corrupts the last byte of the first run, to test the verification. */
static void spoil_run(const struct bench_plan *p, const struct bench_run *run, void *arg)
{
    int *fd = arg;
    if (*fd < 0) return;
    int64_t at = bench_offset(p, run);
    unsigned char byte;
    if (pread(*fd, &byte, 1, at) != 1) bench_stop(strerror(errno), "pread");
    byte ^= 0x10;
    if (pwrite(*fd, &byte, 1, at) != 1) bench_stop(strerror(errno), "pwrite");
    *fd = -1;
}

/* Returns whether the values are stored in subfiles. These values are verified when they
 * are read. */
static bool has_subfiles(int fd)
{
    unsigned char first;
    return pread(fd, &first, 1, 0) == 1 && first == 0x89;
}

void bench_check_file(struct bench *b, const struct bench_plan *p)
{
    int fd = open(b->file, b->options.spoil ? O_RDWR : O_RDONLY);
    if (fd < 0) bench_stop(strerror(errno), b->file);
    if (has_subfiles(fd)) {
        close(fd);
        return;
    }
    int spoil = fd;
    if (b->options.spoil) bench_runs(p, spoil_run, &spoil);
    bench_runs(p, check_file_run, &fd);
    close(fd);
}
