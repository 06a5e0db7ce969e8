/* The values of a put as the file has them, one after the other. No MPI. */
#ifndef BLOB_VALUES_H
#define BLOB_VALUES_H

#include "access_request.h"

enum { BLOB_VALUES_TILE = 1 << 14 }; /* elements that are converted together */

struct blob_values {
    const struct access_request *r;
    struct region_cursor *memory; /* NULL: contiguous */
    int64_t done;                 /* elements */
    int xtype;                    /* whose rules hold: see conv_effective_type */
    unsigned char xfill[8];       /* for what does not fit it */
    unsigned char *packed;        /* as in memory: a tile */
};

/* NC_ENOMEM: then there is nothing to be ended. */
int blob_values_begin(struct blob_values *v, const struct access_request *r, int xtype,
                      const unsigned char xfill[8]);
/* The next n. NC_ERANGE: some do not fit their type. */
int blob_values_next(struct blob_values *v, void *to, int64_t n);
void blob_values_end(struct blob_values *v);

#endif
