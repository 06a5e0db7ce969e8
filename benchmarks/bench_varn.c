/* A workload that resembles an unstructured mesh. Each process owns short segments that
 * are scattered over the variable. */
#include "bench.h"

/* Segments of 1 to 8 elements. A hash of the segment's number determines its owner. */
struct mesh {
    int64_t next; /* number of the next segment */
    int64_t at;   /* first element of the next segment */
    int64_t length;
    int owner;
};

static void next_segment(struct bench *b, struct mesh *m)
{
    uint64_t h = bench_hash((uint64_t)m->next++);
    m->at += m->length;
    m->length = 1 + (int64_t)(h % 8);
    m->owner = (int)((h >> 32) % (uint64_t)b->nprocs);
}

/* Plans one varn call with about `arg` segments per process. */
void bench_unstructured(struct bench *b, struct bench_plan *p)
{
    int64_t each = bench_at_most(b, b->row->arg);
    int64_t all = each * b->nprocs, mine = 0;
    struct mesh m = {0};
    for (int64_t i = 0; i < all; i++) {
        next_segment(b, &m);
        mine += m.owner == b->rank;
    }
    int dim = bench_dim(p, m.at + m.length);
    struct bench_piece *piece = bench_piece(p, bench_var(p, NC_DOUBLE, 1, &dim), mine);
    piece->varn = true;
    m = (struct mesh){0};
    for (int64_t i = 0, k = 0; i < all; i++) {
        next_segment(b, &m);
        if (m.owner != b->rank) continue;
        piece->start[k] = m.at;
        piece->count[k++] = m.length;
    }
}
