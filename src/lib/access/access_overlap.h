/* Determines whether the parts of a range that several processes own overlap. No process
 * gathers all parts, so memory and messages do not grow with the number of processes, nor
 * with the length of subranges where at most one process owns anything. */
#ifndef ACCESS_OVERLAP_H
#define ACCESS_OVERLAP_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* This process's part: n disjoint spans in ascending order. `bounds` stores the bounds of
 * span i in [*low, *high). */
struct access_spans {
    int64_t n;
    const void *list;
    void (*bounds)(const void *list, int64_t i, int64_t *low, int64_t *high);
};

/* Sets *overlap if any number in [0, length) is in the spans of two processes, else
 * clears it. Uses 2 MiB of memory. Collective. NC_ENOMEM or NC_EINTERNAL, on all
 * processes; NC_EMPI. */
int access_overlap_all(MPI_Comm comm, const struct access_spans *spans, int64_t length,
                       bool *overlap);

#endif
