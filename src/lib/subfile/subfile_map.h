/* A map lists the elements of a variable that are in a blob, in file order. No MPI. */
#ifndef SUBFILE_MAP_H
#define SUBFILE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A run: elements `at`, `at` + 1, ... of the variable are at positions `pos`, `pos` + 1,
 * ... of the blob, up to the next run's pos. */
struct subfile_run {
    int64_t at, pos;
};

/* n runs in ascending order and a sentinel, whose pos is the total number of elements. */
struct subfile_map {
    struct subfile_run *runs;
    int64_t n, room;
};

static inline int64_t subfile_map_count(const struct subfile_map *m)
{
    return m->runs == NULL ? 0 : m->runs[m->n].pos;
}

static inline int64_t subfile_run_length(const struct subfile_run *r)
{
    return r[1].pos - r[0].pos;
}

/* subfile_map_add adds elements in any order. subfile_map_sort then sorts and merges them
 * into a map that contains each element once. NC_ENOMEM. */
int subfile_map_add(struct subfile_map *m, int64_t at, int64_t n);
int subfile_map_sort(struct subfile_map *m);
void subfile_map_free(struct subfile_map *m);

/* Returns the last run that begins at or before `at`; -1 if there is none. Fast for
 * ascending lookups. *hint, initially 0, is updated by each lookup. */
int64_t subfile_map_find(const struct subfile_map *m, int64_t at, int64_t *hint);

/* Returns a fingerprint of the map that is the same on every machine. Equal maps have
 * equal fingerprints, and different maps almost never do. */
uint64_t subfile_map_hash(const struct subfile_map *m, uint64_t seed);

/* Maps a number one-to-one to one with mixed bits; the same on every machine. */
uint64_t subfile_map_mix(uint64_t x);

/* Returns the checksum of a map whose blob begins at `start` of the subfile's variable:
 * subfile_map_mix(start), continued with each run, and finally with the numbers of runs
 * and elements. */
uint64_t subfile_map_sum(const struct subfile_map *m, int64_t start);
uint64_t subfile_map_sum_add(uint64_t sum, int64_t at, int64_t n);

/* A hyperslab of the fixed dimensions that is equal to a map, used to recognise the map
 * quickly. ndims is -1 if there is none. */
enum { SUBFILE_SLAB_DIMS = 8 };
struct subfile_slab {
    int64_t ndims;
    int64_t start[SUBFILE_SLAB_DIMS], count[SUBFILE_SLAB_DIMS], stride[SUBFILE_SLAB_DIMS];
};
bool subfile_slab_is(const struct subfile_slab *f, const struct subfile_slab *g);

/* ---- index of the runs of all blobs ---- */

struct subfile_piece {
    int64_t at, n, pos; /* position in the subfile's variable */
    int sub;
};

/* The pieces with elements [low, high), in order. The index is empty if low == high. */
struct subfile_index {
    int64_t low, high;
    struct subfile_piece *pieces;
    int64_t n, room;
};

int subfile_index_add(struct subfile_index *x, const struct subfile_piece *piece);
/* Sorts the pieces. Sets *first to the first one that overlaps the next; NULL if there is
 * none. NC_ENOMEM. */
int subfile_index_sort(struct subfile_index *x, const struct subfile_piece **first);
/* Returns the first piece that ends after `at`; x->n if there is none. */
int64_t subfile_index_find(const struct subfile_index *x, int64_t at);
/* Same as subfile_index_find, but fast for ascending lookups. *hint is the result of the
 * previous lookup. */
int64_t subfile_index_find_next(const struct subfile_index *x, int64_t at, int64_t *hint);
void subfile_index_free(struct subfile_index *x);

#endif
