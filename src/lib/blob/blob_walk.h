/* Iterates over the elements of a request as stretches of contiguous elements. */
#ifndef BLOB_WALK_H
#define BLOB_WALK_H

#include "access_runs.h"
#include "driver.h"
#include "subfile_map.h"

/* Computes the hyperslab that a request covers in the fixed dimensions. */
void blob_walk_slab(const struct cdf_var *v, const struct access_request *r,
                    struct subfile_slab *f);

/* Returns whether a request that is a list of runs in one record has exactly the elements
 * of the map. Compares only the list as given, so false does not prove a difference. */
bool blob_walk_is_map(const struct cdf_var *v, const struct access_request *r,
                      const struct subfile_map *m);

/* n elements of a record (0 for a fixed-size variable), starting at element `at`. */
struct blob_stretch {
    int64_t record, at, n;
};

/* Iterator over the stretches of a request, in the order of its values. */
struct blob_walk {
    struct access_runs runs;
    int64_t nelems, record_size; /* per record; record_size is 0 without records */
    int shift;                   /* log2 of the element size in bytes */
    int64_t first;               /* offset of the variable in the file */
    int64_t record, begin;       /* current record; offset of its part of the variable */
    struct region_strip strip;
    int64_t next;     /* index of the next run in the strip */
    int64_t at, left; /* rest of the current run: offset and length */
};

int blob_walk_begin(struct blob_walk *w, const struct cdf_header *h,
                    const struct access_request *r);
bool blob_walk_next(struct blob_walk *w, struct blob_stretch *s);
void blob_walk_end(struct blob_walk *w);

#endif
