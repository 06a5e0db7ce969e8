/* A request: a hyperslab of a variable, and the memory for its values. */
#ifndef ACCESS_REQUEST_H
#define ACCESS_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base_error.h"
#include "cdf.h"
#include "conv.h"
#include "region.h"

/* A hyperslab of one variable and the buffer for its values. It is compact, because there
 * can be millions: the variable's number of dimensions and the bit fields determine the
 * length of slab[]. */
struct access_request {
    void *buf; /* memory for the values, which a put never changes */
    int varid;
    short status;           /* result of the request, an NC_ code */
    unsigned char type : 4; /* type of the values in memory: enum conv_type */
    bool strided : 1;
    bool raw : 1;        /* instead of start and count, slab[] has a pointer to the file
                          * region, its number of elements, and its first record; offsets
                          * are relative to the variable's first byte in that record */
    bool mapped : 1;     /* access_mem describes the positions of the values in buf */
    bool has_ticket : 1; /* a pending put: values are copied, and buf is its ticket */
    unsigned char flags; /* reserved for the caller */
    int64_t slab[];      /* if mapped, the region of buf; then start, count and, if
                          * strided, stride, with ndims elements each */
};

/* Returns the values' region in buf, or NULL if the values are contiguous. */
static inline const struct region *access_mem(const struct access_request *r)
{
    return r->mapped ? (const struct region *)(intptr_t)r->slab[0] : NULL;
}

/* Sets the values' region in buf. If `mem` is not NULL, the request must be mapped. */
static inline void access_set_mem(struct access_request *r, const struct region *mem)
{
    if (r->mapped) r->slab[0] = (int64_t)(intptr_t)mem;
}

/* Returns the ticket that a driver's `post` has assigned, or 0 if none. */
static inline uint32_t access_ticket(const struct access_request *r)
{
    return r->has_ticket ? (uint32_t)(uintptr_t)r->buf : 0;
}

static inline void access_set_ticket(struct access_request *r, uint32_t ticket)
{
    r->has_ticket = true;
    r->buf = (void *)(uintptr_t)ticket;
}

/* Returns whether this is a put, without a buffer, of the variable's fill value. (If buf
 * is NULL but has a region, it is MPI_BOTTOM, and the region contains addresses.) */
static inline bool access_is_fill(const struct access_request *r)
{
    return r->buf == NULL && access_mem(r) == NULL;
}

/* Sets the status unless it is already an error; any other error replaces NC_ERANGE. */
static inline void access_set_status(struct access_request *r, int err)
{
    r->status = (short)base_error_merge(r->status, err);
}

enum { ACCESS_RAW_SLAB = 3 }; /* number of entries of slab[] in a raw request */

static inline const int64_t *access_start(const struct access_request *r)
{
    return r->slab + r->mapped;
}

/* A request that the library makes itself: raw, or with at most two dimensions. */
union access_own_request {
    struct access_request r;
    unsigned char room[sizeof(struct access_request) + 4 * sizeof(int64_t)];
};

/* Makes a raw request for n elements in a region of the variable relative to `record`.
 * The caller frees the region. NC_ENOMEM if it is NULL. */
static inline int access_set_raw(struct access_request *r, int varid, int type,
                                 const struct region *where, int64_t n, int64_t record,
                                 const void *values)
{
    *r = (struct access_request){.buf = (void *)(intptr_t)values,
                                 .varid = varid,
                                 .type = (unsigned char)type,
                                 .raw = true};
    r->slab[0] = (int64_t)(intptr_t)where;
    r->slab[1] = n;
    r->slab[2] = record;
    return where == NULL ? NC_ENOMEM : NC_NOERR;
}

static inline const struct region *access_raw_region(const struct access_request *r)
{
    return (const struct region *)(intptr_t)access_start(r)[0];
}

/* Returns the offset to which a raw request's region is relative. */
static inline int64_t access_raw_shift(const struct cdf_header *h,
                                       const struct access_request *r)
{
    return h->vars[r->varid].begin + access_start(r)[2] * h->record_size;
}

static inline const int64_t *access_count(const struct access_request *r, int ndims)
{
    return access_start(r) + ndims;
}

/* Returns the strides, or NULL if all are 1. */
static inline const int64_t *access_stride(const struct access_request *r, int ndims)
{
    return r->strided ? access_start(r) + 2 * (size_t)ndims : NULL;
}

/* Returns the number of elements. The request's creator has checked for overflow. */
static inline int64_t access_nelems(const struct access_request *r, int ndims)
{
    const int64_t *count = access_count(r, ndims);
    int64_t n = 1;
    if (r->raw) return access_start(r)[1];
    for (int i = 0; i < ndims; i++)
        n *= count[i];
    return n;
}

/* Returns the number of records that a put requires; 0 for a fixed-size variable. */
int64_t access_records(const struct cdf_header *h, const struct access_request *r);

#endif
