/* Enumerates a request's runs of bytes in the file, in the order of its values. Requests
 * are converted to bytes only here. A request for a single run, the most common kind,
 * needs neither a region nor an allocation. */
#ifndef ACCESS_RUNS_H
#define ACCESS_RUNS_H

#include "access_request.h"

struct access_runs {
    struct region_cursor *cursor; /* cursor; NULL for a single run or no run */
    struct region *own;           /* region to be freed; NULL if the request owns the
                                   * region */
    int64_t shift;                /* added to the cursor's offsets */
    int64_t begin, bytes, done;   /* single run: offset, length, bytes returned so far */
};

/* Begins the enumeration. If it returns NC_ENOMEM, access_runs_end must not be called. */
int access_runs_begin(struct access_runs *x, const struct cdf_header *h,
                      const struct access_request *r);

/* Same as access_runs_begin, but takes a region, and takes ownership of it even on
 * failure. Fails if the region is NULL. */
int access_runs_of(struct access_runs *x, struct region *region);

void access_runs_end(struct access_runs *x);

/* Creates a hyperslab's region in a file in which the dataset begins at `base`. Returns
 * NULL if out of memory. The caller must free the region. */
struct region *access_slab_region(const struct cdf_header *h, const struct cdf_var *v,
                                  int64_t base, const int64_t *start,
                                  const int64_t *count, const int64_t *stride);

/* Same as the functions of the same names in region.h. */
bool access_runs_next(struct access_runs *x, int64_t max_bytes, int64_t max_runs,
                      struct region_strip *strip);
bool access_runs_next_below(struct access_runs *x, int64_t limit, int64_t unit,
                            struct region_strip *strip);
bool access_runs_peek(struct access_runs *x, int64_t *offset);
void access_runs_skip_to(struct access_runs *x, int64_t rank);
int64_t access_runs_seek(struct access_runs *x, int64_t offset);

#endif
