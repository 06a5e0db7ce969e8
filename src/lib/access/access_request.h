/* A request: which values of a variable, and where they lie in memory. */
#ifndef ACCESS_REQUEST_H
#define ACCESS_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base_error.h"
#include "cdf.h"
#include "conv.h"
#include "region.h"

/* One hyperslab of one variable, to or from one buffer. Compact, as there can be
 * millions: the variable's number of dimensions and the bits say how long slab[] is. */
struct access_request {
    void *buf; /* a put never changes it */
    int varid;
    short status;           /* out: this request's own result, an NC_ code */
    unsigned char type : 4; /* of the values in memory: enum conv_type */
    bool strided : 1;
    bool raw : 1;    /* in place of start and count: a pointer to the region of the file,
                      * its number of elements, and the record in whose part of the
                      * variable it begins: offsets are relative to the first byte there */
    bool mapped : 1; /* access_mem says where the values are in buf */
    bool taken : 1;  /* a pending put whose values the driver has: buf is its ticket */
    unsigned char flags; /* the caller's own */
    int64_t slab[];      /* if mapped, a pointer to the region of buf; start, count
                          * and, if strided, stride: ndims each */
};

/* The bytes of the values in buf, in order; NULL: contiguous. */
static inline const struct region *access_mem(const struct access_request *r)
{
    return r->mapped ? (const struct region *)(intptr_t)r->slab[0] : NULL;
}

/* mem may be NULL; only a mapped request has room for another. */
static inline void access_set_mem(struct access_request *r, const struct region *mem)
{
    if (r->mapped) r->slab[0] = (int64_t)(intptr_t)mem;
}

/* What a driver's post made of a request, see there; 0: nothing. */
static inline uint32_t access_ticket(const struct access_request *r)
{
    return r->taken ? (uint32_t)(uintptr_t)r->buf : 0;
}

static inline void access_set_ticket(struct access_request *r, uint32_t ticket)
{
    r->taken = true;
    r->buf = (void *)(uintptr_t)ticket;
}

/* A put without a buffer, of the variable's fill value throughout. buf alone may be NULL:
 * that is MPI_BOTTOM, and access_mem has addresses. */
static inline bool access_is_fill(const struct access_request *r)
{
    return r->buf == NULL && access_mem(r) == NULL;
}

/* The first bad result of a request is its status, what is out of range the least. */
static inline void access_blame(struct access_request *r, int err)
{
    r->status = (short)base_error_worse(r->status, err);
}

enum { ACCESS_RAW_SLAB = 3 }; /* entries of slab[] that take start's place if raw */

static inline const int64_t *access_start(const struct access_request *r)
{
    return r->slab + r->mapped;
}

static inline const struct region *access_raw_region(const struct access_request *r)
{
    return (const struct region *)(intptr_t)access_start(r)[0];
}

/* What the offsets of its region are relative to. */
static inline int64_t access_raw_shift(const struct cdf_header *h,
                                       const struct access_request *r)
{
    return h->vars[r->varid].begin + access_start(r)[2] * h->record_size;
}

static inline const int64_t *access_count(const struct access_request *r, int ndims)
{
    return access_start(r) + ndims;
}

/* NULL where all strides are 1. */
static inline const int64_t *access_stride(const struct access_request *r, int ndims)
{
    return r->strided ? access_start(r) + 2 * (size_t)ndims : NULL;
}

/* Elements that it moves; who made it knows that the product fits. */
static inline int64_t access_nelems(const struct access_request *r, int ndims)
{
    const int64_t *count = access_count(r, ndims);
    int64_t n = 1;
    if (r->raw) return access_start(r)[1];
    for (int i = 0; i < ndims; i++)
        n *= count[i];
    return n;
}

/* Records that there are at least once a request has been put; 0 if it is of none. */
int64_t access_records(const struct cdf_header *h, const struct access_request *r);

#endif
