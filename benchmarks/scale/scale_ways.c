/* Transfers the same values without the library, for comparison.
 *
 * - `romio`: two-phase I/O like ROMIO on a striped file. There is one aggregator for each
 *   of the file's servers or, if there are fewer nodes, for each node; stripes are
 *   assigned to them round-robin. Each aggregator handles 16 MiB per round, and all
 *   processes participate in every round: they exchange the message sizes, send the
 *   messages, and the aggregators write when everything has arrived. Reads reverse these
 *   steps. No two steps overlap.
 * - `files`: each process has a separate file on one server. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "scale.h"

/* A run of a process's bytes, and its position in memory. Runs are in file order. */
struct run {
    int64_t offset, bytes, place;
};

struct runs {
    struct run *at;
    int64_t n, room, next; /* `next` is the index of the first run not yet transferred */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void add_run(struct runs *r, int64_t offset, int64_t bytes, int64_t place)
{
    if (r->n == r->room) {
        r->room = 2 * r->room + 64;
        r->at = realloc(r->at, (size_t)r->room * sizeof *r->at);
        if (r->at == NULL) scale_need(NC_ENOMEM, "runs");
    }
    r->at[r->n++] = (struct run){offset, bytes, place};
}

/* Adds the rows of a box in file order. */
static int64_t add_box(struct runs *r, const struct scale_var *v, const MPI_Offset *start,
                       const MPI_Offset *count, int64_t base, int64_t place)
{
    MPI_Offset index[SCALE_MAX_DIMS] = {0};
    int last = v->ndims - 1, d;
    int64_t width = v->type == NC_DOUBLE ? 8 : 4;
    do {
        int64_t at = 0;
        for (d = 0; d <= last; d++)
            at = at * (v->shape[d] > 0 ? v->shape[d] : 1) + start[d] + index[d];
        add_run(r, base + at * width, count[last] * width, place);
        place += count[last] * width;
        for (d = last - 1; d >= 0 && ++index[d] == count[d]; d--)
            index[d] = 0;
    } while (d >= 0);
    return place;
}

static int by_offset(const void *a, const void *b)
{
    const struct run *p = a, *q = b;
    return p->offset < q->offset ? -1 : p->offset > q->offset;
}

/* Finds the runs of a process. The file has no header, and variables follow each other
 * without gaps. */
static int64_t find_runs(const struct scale_plan *plan, struct runs *r)
{
    int64_t base = 0, place = 0;
    *r = (struct runs){.n = 0};
    for (int i = 0; i < plan->nvars; i++) {
        const struct scale_var *v = &plan->vars[i];
        int64_t bytes = v->type == NC_DOUBLE ? 8 : 4;
        for (int d = 0; d < v->ndims; d++)
            bytes *= v->shape[d] > 0 ? v->shape[d] : 1;
        for (int c = 0; c < v->copies; c++, base += bytes)
            for (int64_t k = 0; k < v->part.nsegs; k++)
                place = add_box(r, v, v->part.starts[k], v->part.counts[k], base, place);
    }
    qsort(r->at, (size_t)r->n, sizeof *r->at, by_offset);
    return base;
}

/* ---- two phases ---- */

struct two_phases {
    int nprocs, rank, aggregators, apart; /* every `apart`-th process is an aggregator */
    int64_t stripe, stripes; /* stripe size; stripes per aggregator and round */
    struct store_file *file;
    char *buf, *block;
    bool put;
    int *sizes, *sizes_here;
};

/* A piece in a message: its position in the aggregator's block and its length. */
struct piece {
    int64_t at, bytes;
};

/* The pieces that one aggregator receives in a round, followed by their values. */
struct parcel {
    struct piece *pieces;
    struct run *runs;
    int64_t n, room, bytes;
    char *message;
    int size;
};

static void add_piece(struct parcel *p, int64_t at, struct run r)
{
    if (p->n == p->room) {
        p->room = 2 * p->room + 16;
        p->pieces = realloc(p->pieces, (size_t)p->room * sizeof *p->pieces);
        p->runs = realloc(p->runs, (size_t)p->room * sizeof *p->runs);
        if (p->pieces == NULL || p->runs == NULL) scale_need(NC_ENOMEM, "pieces");
    }
    p->pieces[p->n] = (struct piece){at, r.bytes};
    p->runs[p->n++] = r;
    p->bytes += r.bytes;
}

/* Distributes the runs before offset `end` to the aggregators, and splits them at stripe
 * boundaries. */
static void deal(const struct two_phases *t, struct runs *r, int64_t end,
                 struct parcel *to)
{
    for (; r->next < r->n && r->at[r->next].offset < end; r->next++) {
        struct run *left = &r->at[r->next];
        while (left->bytes > 0 && left->offset < end) {
            int64_t stripe = left->offset / t->stripe, in = left->offset % t->stripe;
            int64_t n = least(left->bytes, t->stripe - in);
            int64_t own = stripe / t->aggregators % t->stripes;
            add_piece(&to[stripe % t->aggregators], own * t->stripe + in,
                      (struct run){left->offset, n, left->place});
            left->offset += n;
            left->place += n;
            left->bytes -= n;
        }
        if (left->bytes > 0) return;
    }
}

static void pack(const struct two_phases *t, struct parcel *p)
{
    int64_t heads = p->n * (int64_t)sizeof *p->pieces;
    p->size = (int)(heads + (t->put ? p->bytes : 0));
    p->message = scale_alloc(heads + p->bytes, 1);
    memcpy(p->message, p->pieces, (size_t)heads);
    char *at = p->message + heads;
    for (int64_t i = 0; t->put && i < p->n; at += p->runs[i++].bytes)
        memcpy(at, t->buf + p->runs[i].place, (size_t)p->runs[i].bytes);
    machine_work(p->size, 2 * p->n);
}

static void unpack_answer(const struct two_phases *t, const struct parcel *p)
{
    const char *at = p->message;
    for (int64_t i = 0; i < p->n; at += p->runs[i++].bytes)
        memcpy(t->buf + p->runs[i].place, at, (size_t)p->runs[i].bytes);
    machine_work(p->bytes, p->n);
}

/* Copies a message's pieces to or from the block. Returns their total size in bytes. */
static int64_t place_pieces(const struct two_phases *t, const char *message, int size,
                            char *values, int64_t *low, int64_t *high)
{
    int64_t bytes = 0, n = 0;
    struct piece p;
    for (int64_t seen = 0; seen < size;
         n++, seen += (int64_t)sizeof p + (t->put ? p.bytes : 0))
        memcpy(&p, message + n * (int64_t)sizeof p, sizeof p);
    const char *from = message + n * (int64_t)sizeof p;
    for (int64_t i = 0; i < n; i++, bytes += p.bytes) {
        memcpy(&p, message + i * (int64_t)sizeof p, sizeof p);
        if (t->put) memcpy(t->block + p.at, from + bytes, (size_t)p.bytes);
        if (values != NULL) memcpy(values + bytes, t->block + p.at, (size_t)p.bytes);
        *low = least(*low, p.at);
        if (p.at + p.bytes > *high) *high = p.at + p.bytes;
    }
    machine_work(t->put || values != NULL ? bytes : 0, n);
    return bytes;
}

/* Transfers the block's stripes between these offsets to or from the file. */
static void move_block(const struct two_phases *t, int64_t round, int64_t low,
                       int64_t high)
{
    int64_t mine = t->rank / t->apart;
    for (int64_t at = low, next; at < high; at = next) {
        int64_t i = at / t->stripe;
        next = least(high, (i + 1) * t->stripe);
        int64_t stripe = (round * t->stripes + i) * t->aggregators + mine;
        int64_t offset = stripe * t->stripe + at % t->stripe;
        if (t->put)
            (void)store_write(t->file, offset, t->block + at, next - at);
        else
            (void)store_read(t->file, offset, t->block + at, next - at);
    }
}

/* Processes the messages that this aggregator receives in one round. */
static void aggregate(const struct two_phases *t, int64_t round)
{
    char **messages = scale_alloc(t->nprocs, sizeof *messages);
    MPI_Request *requests = scale_alloc(t->nprocs, sizeof *requests);
    int64_t low = INT64_MAX, high = 0;
    int n = 0;
    for (int rank = 0; rank < t->nprocs; rank++) {
        if (t->sizes_here[rank] == 0) continue;
        messages[rank] = scale_alloc(t->sizes_here[rank], 1);
        MPI_Irecv(messages[rank], t->sizes_here[rank], MPI_BYTE, rank, 1, MPI_COMM_WORLD,
                  &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int rank = 0; rank < t->nprocs; rank++)
        if (messages[rank] != NULL)
            place_pieces(t, messages[rank], t->sizes_here[rank], NULL, &low, &high);
    move_block(t, round, low, high);
    for (int rank = 0; rank < t->nprocs && !t->put; rank++) {
        if (messages[rank] == NULL) continue;
        char *values = scale_alloc(t->stripes * t->stripe, 1);
        int64_t bytes =
            place_pieces(t, messages[rank], t->sizes_here[rank], values, &low, &high);
        MPI_Send(values, (int)bytes, MPI_BYTE, rank, 2, MPI_COMM_WORLD);
        free(values);
    }
    for (int rank = 0; rank < t->nprocs; rank++)
        free(messages[rank]);
    free(messages);
    free(requests);
}

static void one_round(const struct two_phases *t, int64_t round, struct runs *r)
{
    struct parcel *to = scale_alloc(t->aggregators, sizeof *to);
    MPI_Request *requests = scale_alloc(2 * t->aggregators, sizeof *requests);
    int n = 0;
    deal(t, r, (round + 1) * t->stripes * t->aggregators * t->stripe, to);
    memset(t->sizes, 0, (size_t)t->nprocs * sizeof *t->sizes);
    for (int i = 0; i < t->aggregators; i++) {
        pack(t, &to[i]);
        t->sizes[i * t->apart] = to[i].size;
    }
    MPI_Alltoall(t->sizes, 1, MPI_INT, t->sizes_here, 1, MPI_INT, MPI_COMM_WORLD);
    char **answers = scale_alloc(t->aggregators, sizeof *answers);
    for (int i = 0; i < t->aggregators; i++) {
        if (to[i].size == 0) continue;
        MPI_Isend(to[i].message, to[i].size, MPI_BYTE, i * t->apart, 1, MPI_COMM_WORLD,
                  &requests[n++]);
        if (t->put) continue;
        answers[i] = scale_alloc(to[i].bytes, 1);
        MPI_Irecv(answers[i], (int)to[i].bytes, MPI_BYTE, i * t->apart, 2, MPI_COMM_WORLD,
                  &requests[n++]);
    }
    if (t->rank % t->apart == 0 && t->rank / t->apart < t->aggregators)
        aggregate(t, round);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < t->aggregators; i++) {
        free(to[i].message);
        to[i].message = answers[i];
        if (answers[i] != NULL) unpack_answer(t, &to[i]);
        free(answers[i]);
        free(to[i].pieces);
        free(to[i].runs);
    }
    free(answers);
    free(requests);
    free(to);
}

static void by_two_phases(const struct scale *s, const char *path,
                          const struct scale_plan *plan, char *buf, bool put)
{
    enum { BUFFER = 16 << 20 };
    const struct machine *m = machine_get();
    struct two_phases t = {.nprocs = s->nprocs, .rank = s->rank, .buf = buf, .put = put};
    struct runs r;
    int64_t bytes = find_runs(plan, &r);
    t.aggregators = (int)least(machine_file_servers(), (int64_t)m->nodes);
    t.apart = s->nprocs / t.aggregators;
    t.stripe = (int64_t)m->stripe;
    t.stripes = BUFFER / t.stripe > 0 ? BUFFER / t.stripe : 1;
    t.block = scale_alloc(t.stripes * t.stripe, 1);
    t.sizes = scale_alloc(s->nprocs, sizeof *t.sizes);
    t.sizes_here = scale_alloc(s->nprocs, sizeof *t.sizes_here);
    t.file = store_open(path, put ? O_RDWR | O_CREAT : O_RDWR);
    if (t.file == NULL) scale_need(NC_EFILE, path);
    for (int64_t round = 0; round * t.stripes * t.aggregators * t.stripe < bytes; round++)
        one_round(&t, round, &r);
    store_close(t.file);
    free(r.at);
    free(t.block);
    free(t.sizes);
    free(t.sizes_here);
}

/* ---- one file per process ---- */

static void by_files(const struct scale *s, const char *path,
                     const struct scale_plan *plan, char *buf, bool put)
{
    char own[4096];
    struct runs r;
    int64_t bytes = 0;
    find_runs(plan, &r);
    for (int64_t i = 0; i < r.n; i++)
        bytes += r.at[i].bytes;
    free(r.at);
    snprintf(own, sizeof own, "%s.%d", path, s->rank);
    struct store_file *f = store_open(own, put ? O_RDWR | O_CREAT : O_RDWR);
    if (f == NULL) scale_need(NC_EFILE, own);
    store_narrow(f, 1);
    int64_t moved = put ? store_write(f, 0, buf, bytes) : store_read(f, 0, buf, bytes);
    if (moved != bytes) scale_need(NC_EWRITE, own);
    store_close(f);
}

void scale_move_by(const char *way, const struct scale *s, const char *path,
                   const struct scale_plan *plan, char *buf, bool put)
{
    if (strcmp(way, "romio") == 0)
        by_two_phases(s, path, plan, buf, put);
    else if (strcmp(way, "files") == 0)
        by_files(s, path, plan, buf, put);
    else
        scale_need(NC_EINVAL, way);
}
