/* What a request touches, as stretches of elements. */
#ifndef BLOB_WALK_H
#define BLOB_WALK_H

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
    const struct access_request *r;
    const struct cdf_var *v;
    struct region *own;
    struct region_cursor *cursor;
    int shift; /* 2 to this: bytes of the region that an element takes */
    int64_t record, records, step; /* of a hyperslab: this one, how many remain */
    int64_t record_size;           /* of raw ones, that may go on in the next record */
    struct region_strip strip;
    int64_t next;     /* run of the strip */
    int64_t at, left; /* what remains of a run */
};

int blob_walk_begin(struct blob_walk *w, const struct cdf_header *h,
                    const struct access_request *r);
/* False at the end, or after an error (*err). */
bool blob_walk_next(struct blob_walk *w, struct blob_stretch *s, int *err);
void blob_walk_end(struct blob_walk *w);

#endif
