/* Joins the parts of requests into runs of a file, and sorts the runs. A part is
 * contiguous in the file and in memory. No MPI, because tools also use this module. */
#ifndef SUBFILE_PARTS_H
#define SUBFILE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_sort.h"

struct access_request;

struct subfile_part {
    int64_t record, at, n; /* n elements of a variable (or other units) at `at` */
    char *values;
    int64_t copy; /* offset in the copies, -1 if none; for a joined run, the run that
                   * contains it */
    struct access_request *of; /* the caller's request */
    int sub;                   /* number of its subfile; -1 for the master */
    int run; /* for a part, its run; for a run, its number of parts, 0 if joined */
};

/* Runs of parts that are adjacent in their file, even if other parts come between them in
 * the request. A zero-initialised struct is empty and ready for use. */
struct subfile_runs {
    struct subfile_part *list; /* `values` and `of` are those of the run's first part */
    int64_t n, room;
    struct base_key *keys;        /* sort keys of the list, and as much scratch space */
    int64_t keys_room, nkeys;     /* capacity; number of runs in the previous sort */
    const struct base_key *order; /* order of the runs that are not joined; NULL if it is
                                   * that of `list` */
    int64_t nordered;
};
void subfile_runs_free(struct subfile_runs *x);

struct subfile_joining {
    int64_t gap, spare; /* maximum size of a gap within a run; of all gaps together */
    int64_t most;       /* a part of at least this length is a separate run */
    int64_t longest;    /* maximum length of other runs */
};

/* Makes runs from n parts. Runs in the master get no gaps. NC_ENOMEM. */
int subfile_runs_make(struct subfile_runs *x, struct subfile_part *parts, int64_t n,
                      const struct subfile_joining *how);

/* Sorts the runs by location, record and offset; the sort is stable. Sets *apart to
 * whether no two runs overlap. Tries the previous order first, because programs usually
 * write their variables in the same order each time. NC_ENOMEM. */
int subfile_runs_sort(struct subfile_runs *x, bool *apart);

/* Joins consecutive runs, in sorted order, if the gap between them has at most how->gap
 * units; all gaps together have at most how->spare units. Then each unit is in only one
 * run, regardless of the order of the parts, so it is read only once. NC_ENOMEM. */
int subfile_runs_join(struct subfile_runs *x, const struct subfile_joining *how);

/* Returns the i-th of the x->nordered runs in sorted order. */
static inline struct subfile_part *subfile_runs_at(const struct subfile_runs *x,
                                                   int64_t i)
{
    return &x->list[x->order == NULL ? i : x->order[i].index];
}

/* Returns the run that contains a part. */
static inline const struct subfile_part *
subfile_runs_find(const struct subfile_runs *x, const struct subfile_part *part)
{
    const struct subfile_part *run = &x->list[part->run];
    return run->run > 0 ? run : &x->list[run->copy];
}

#endif
