/* Performs puts and gets of all kinds for random programs. The caller passes the values
 * in the order of the slab's elements. Each function needs a buffer of a certain layout
 * and type; access_run copies the values to and from such a buffer. */
#ifndef ACCESS_H
#define ACCESS_H

#include <mpi.h>
#include <stdbool.h>

#include "plan_slab.h"
#include "plan_value.h"

enum access_verb { ACCESS_PUT, ACCESS_GET, ACCESS_IPUT, ACCESS_BPUT, ACCESS_IGET };

struct access {
    enum access_verb verb;
    enum plan_kind kind;
    bool all;            /* whether the call, or the wait after a post, is collective */
    bool is_independent; /* whether the dataset is in independent data mode */
    int ncid, varid, type, memory; /* types in the file (plan_type) and in memory */
    struct plan_slab slab;
    int64_t shape[PLAN_RANK]; /* lengths of the variable's dimensions */
    bool is_record;           /* for PLAN_TYPED: whether the first one is unlimited */
    uint64_t *values;         /* in the representation of the type in memory */
    bool halves;  /* whether to post a request for each half of the first dimension, the
                   * second half first; not for PLAN_SINGLE */
    bool cancels; /* whether to post an additional request and cancel it */
};

/* Makes an access and waits for any request that it posts, collectively or independently.
 * A blocking independent access must be made in independent data mode. A nonblocking one
 * enters that mode for the wait if necessary. Returns an NC_ code. A get stores its
 * values if the code is NC_NOERR or NC_ERANGE. */
int access_run(struct access *a);

/* Put and get an attribute whose type is that of `memory`. `values` has the
 * representation of the type in memory. */
int access_put_att(int ncid, int varid, const char *name, int type, int memory,
                   MPI_Offset n, const void *values);
int access_get_att(int ncid, int varid, const char *name, int memory, void *values);

#endif
