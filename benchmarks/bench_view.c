/* Implements `view`, which does what an application with direct MPI-IO would do. Each
 * process sets a file view that consists of all its runs, and one collective call
 * transfers them. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct place {
    int64_t offset, memory, bytes;
};

struct places {
    struct place *list;
    int64_t n;
};

static void add(const struct bench_plan *p, const struct bench_run *run, void *arg)
{
    struct places *all = arg;
    int size = bench_type_size(p->vars[run->piece->var].type);
    all->list[all->n++] =
        (struct place){.offset = bench_offset(p, run),
                       .memory = run->piece->buf + run->mem * size - p->memory,
                       .bytes = run->n * size};
}

static int by_offset(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    return p->offset < q->offset ? -1 : p->offset > q->offset;
}

/* Collects the runs and sorts them by offset, because MPI requires the offsets of a file
 * view to be nondecreasing. */
static void find_places(const struct bench_plan *p, struct places *all)
{
    *all = (struct places){.list = bench_alloc(p->nruns * (int64_t)sizeof *all->list)};
    bench_runs(p, add, all);
    int64_t i = 1;
    while (i < all->n && all->list[i - 1].offset <= all->list[i].offset)
        i++;
    if (i < all->n) qsort(all->list, (size_t)all->n, sizeof *all->list, by_offset);
}

/* Returns the datatype that describes the runs in the file or in memory. */
static MPI_Datatype list_type(const struct places *all, bool file)
{
    MPI_Datatype type;
    int *lengths = bench_alloc(all->n * (int64_t)sizeof *lengths);
    MPI_Aint *displs = bench_alloc(all->n * (int64_t)sizeof *displs);
    for (int64_t i = 0; i < all->n; i++) {
        lengths[i] = (int)all->list[i].bytes;
        displs[i] = file ? all->list[i].offset : all->list[i].memory;
    }
    bench_need_mpi(
        MPI_Type_create_hindexed((int)all->n, lengths, displs, MPI_BYTE, &type),
        "MPI_Type_create_hindexed");
    bench_need_mpi(MPI_Type_commit(&type), "MPI_Type_commit");
    free(lengths);
    free(displs);
    return type;
}

/* Views with more runs than this would take minutes. */
static bool can(struct bench *b, const struct bench_plan *p)
{
    enum { MOST_RUNS = 4000000 };
    return bench_sum(b, p->nruns > MOST_RUNS || p->memory_bytes > INT32_MAX) == 0;
}

static void open_file(struct bench *b, struct bench_plan *p, enum bench_step step,
                      struct bench_handle *h)
{
    (void)p, (void)step;
    bench_need_mpi(MPI_File_open(b->comm, b->raw, MPI_MODE_RDWR | MPI_MODE_CREATE,
                                 MPI_INFO_NULL, &h->file),
                   "MPI_File_open");
}

static int64_t move(const struct bench_plan *p, struct bench_handle h, bool put)
{
    struct places all;
    MPI_Status status;
    find_places(p, &all);
    MPI_Datatype file = list_type(&all, true), memory = list_type(&all, false);
    bench_need_mpi(MPI_File_set_view(h.file, 0, MPI_BYTE, file, "native", MPI_INFO_NULL),
                   "MPI_File_set_view");
    bench_need_mpi(put ? MPI_File_write_all(h.file, p->memory, 1, memory, &status)
                       : MPI_File_read_all(h.file, p->memory, 1, memory, &status),
                   put ? "MPI_File_write_all" : "MPI_File_read_all");
    MPI_Type_free(&file);
    MPI_Type_free(&memory);
    free(all.list);
    return p->file_bytes;
}

static void sync_file(struct bench_handle h)
{
    bench_need_mpi(MPI_File_sync(h.file), "MPI_File_sync");
}

static void close_file(struct bench *b, const struct bench_plan *p, struct bench_handle h,
                       enum bench_step step)
{
    (void)b, (void)p, (void)step;
    bench_need_mpi(MPI_File_close(&h.file), "MPI_File_close");
}

const struct bench_way bench_view = {"view", true,      can,       open_file,
                                     move,   sync_file, close_file};
