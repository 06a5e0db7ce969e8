/* What a request touches, as stretches of elements. */
#ifndef BLOB_WALK_H
#define BLOB_WALK_H

#include "access_runs.h"
#include "blob_map.h"
#include "driver.h"

/* The hyperslab of the fixed dimensions that a request is. */
void blob_form_of(const struct cdf_var *v, const struct access_request *r,
                  struct blob_form *f);

/* Is a list of runs, in one record, just the elements of the map? Looks at no more than
 * the list as it is: false may be wrong. */
bool blob_walk_is_map(const struct cdf_var *v, const struct access_request *r,
                      const struct blob_map *m);

/* n elements of a record (0 in a fixed-size variable), from `at` on. */
struct blob_stretch {
    int64_t record, at, n;
};

/* The stretches of a request, in the order of its values. */
struct blob_walk {
    struct access_runs runs;
    int64_t nelems, record_size; /* the variable's; record_size 0: of no records */
    int shift;                   /* 2 to this: bytes of an element */
    int64_t first;               /* where the variable begins in the file ... */
    int64_t record, begin;       /* ... and its part of the record at hand */
    struct region_strip strip;
    int64_t next;     /* run of the strip */
    int64_t at, left; /* what remains of a run */
};

int blob_walk_begin(struct blob_walk *w, const struct cdf_header *h,
                    const struct access_request *r);
bool blob_walk_next(struct blob_walk *w, struct blob_stretch *s);
void blob_walk_end(struct blob_walk *w);

#endif
