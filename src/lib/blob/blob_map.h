/* Maps: which elements of a variable, in the order of the file, a blob has. No MPI. */
#ifndef BLOB_MAP_H
#define BLOB_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Elements from `at` on are in the blob from `pos` on, as far as to the next one's pos.
 */
struct blob_run {
    int64_t at, pos;
};

/* n runs that ascend, and one more, whose pos is the number of all elements. */
struct blob_map {
    struct blob_run *runs;
    int64_t n, room;
};

static inline int64_t blob_map_count(const struct blob_map *m)
{
    return m->runs == NULL ? 0 : m->runs[m->n].pos;
}

static inline int64_t blob_run_length(const struct blob_run *r)
{
    return r[1].pos - r[0].pos;
}

/* Adds elements, in any order; blob_map_settle then makes a map of it, in which each
 * element is once. NC_ENOMEM. */
int blob_map_add(struct blob_map *m, int64_t at, int64_t n);
int blob_map_settle(struct blob_map *m);
void blob_map_free(struct blob_map *m);

/* The last run that begins at `at` or before; -1: none. Quick for who asks for one after
 * the other: *hint, 0 at first, is where the last one was. */
int64_t blob_map_find(const struct blob_map *m, int64_t at, int64_t *hint);

/* A number for the map: equal ones have equal ones, others hardly ever. The same on every
 * machine. */
uint64_t blob_map_print(const struct blob_map *m, uint64_t seed);

/* A hyperslab of the fixed dimensions, to know it again quickly. ndims -1: none. */
enum { BLOB_FORM_DIMS = 8 };
struct blob_form {
    int64_t ndims;
    int64_t start[BLOB_FORM_DIMS], count[BLOB_FORM_DIMS], stride[BLOB_FORM_DIMS];
};
bool blob_form_is(const struct blob_form *f, const struct blob_form *g);

/* ---- the runs of all blobs ---- */

struct blob_piece {
    int64_t at, n, pos; /* pos in the subfile's variable */
    int sub;
};

/* Those of the elements [low, high), in their order; low == high: none are known. */
struct blob_index {
    int64_t low, high;
    struct blob_piece *pieces;
    int64_t n, room;
};

int blob_index_add(struct blob_index *x, const struct blob_piece *piece);
/* Sorts; false where two pieces overlap: *first is the first of them. */
bool blob_index_settle(struct blob_index *x, const struct blob_piece **first);
/* The first piece that ends behind `at`; x->n: none. */
int64_t blob_index_find(const struct blob_index *x, int64_t at);
/* The same, quick for who asks for one after the other: *hint is where the last one was.
 */
int64_t blob_index_find_next(const struct blob_index *x, int64_t at, int64_t *hint);
void blob_index_free(struct blob_index *x);

#endif
