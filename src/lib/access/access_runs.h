/* The runs of bytes that a request touches in the file, in the order of its values: the
 * one way from a request to bytes. A request for one run, the commonest, takes neither a
 * region nor memory. */
#ifndef ACCESS_RUNS_H
#define ACCESS_RUNS_H

#include "access_request.h"

struct access_runs {
    struct region_cursor *cursor; /* NULL: one run, or none at all */
    struct region *own;           /* made for it; NULL: the request brought its own */
    int64_t shift;                /* of the offsets under the cursor */
    int64_t begin, bytes, done;   /* one run: where it lies, its length, what is past */
};

/* NC_ENOMEM: then there is nothing to be ended. */
int access_runs_begin(struct access_runs *x, const struct cdf_header *h,
                      const struct access_request *r);

/* The same of a region, which it takes over, also on failure. NULL is a failure. */
int access_runs_of(struct access_runs *x, struct region *region);

void access_runs_end(struct access_runs *x);

/* The region of a hyperslab, of the file if the dataset begins at `base` there; NULL when
 * memory is short. The caller frees it. */
struct region *access_slab_region(const struct cdf_header *h, const struct cdf_var *v,
                                  int64_t base, const int64_t *start,
                                  const int64_t *count, const int64_t *stride);

/* See the functions of the same names in region.h, which these are for requests. */
bool access_runs_next(struct access_runs *x, int64_t max_bytes, int64_t max_runs,
                      struct region_strip *strip);
bool access_runs_next_below(struct access_runs *x, int64_t limit, int64_t unit,
                            struct region_strip *strip);
bool access_runs_peek(struct access_runs *x, int64_t *offset);
void access_runs_skip_to(struct access_runs *x, int64_t rank);
int64_t access_runs_seek(struct access_runs *x, int64_t offset);

#endif
