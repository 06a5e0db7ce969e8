/* API requests: what they own in addition to the fields that drivers use, the size of
 * their values, and how they end. */
#ifndef API_REQUEST_H
#define API_REQUEST_H

#include "api_dataset.h"

/* Request flags. */
enum {
    API_COPIED = 1,    /* buf is a copy that belongs to the request */
    API_PUT = 2,       /* a put; otherwise a get */
    API_CHOSEN = 4,    /* selected by the current wait or cancel */
    API_REPORTED = 8,  /* the post already returned NC_ERANGE */
    API_INLINE = 16,   /* the values are stored after slab[] */
    API_CHARGED = 32,  /* its bytes are counted as used in the attached buffer */
    API_QUANTIZED = 64 /* the quantized values of a put are stored after slab[] */
};

/* ---- api_request.c ---- */

/* Returns the length that limits accesses along dimension `dim` of a variable: a put may
 * add records, but a get may not. */
int64_t api_length_of(const struct api_dataset *d, const struct cdf_var *v, int dim,
                      bool put);

/* Returns the size of a request's values in memory, in bytes. */
int64_t api_value_bytes(const struct api_dataset *d, const struct access_request *r);

/* Returns the size of a request's values in the external type, in bytes. A bput uses that
 * much of the attached buffer. */
int64_t api_buffered_bytes(const struct api_dataset *d, const struct access_request *r);

/* Checks the range of a put's values. NC_ERANGE, NC_ENOMEM. */
int api_request_range(const struct api_dataset *d, const struct access_request *req);

/* Frees a request and everything it owns. */
void api_request_free(struct access_request *req);

/* Frees a request and everything it owns. Returns its status. */
int api_request_end(struct access_request *req);

/* Frees *n requests and their array, and sets *n to 0. */
void api_requests_drop(struct access_request **reqs, int64_t *n);

/* ---- api_values.c: values that a request stores itself ---- */

/* Copies the values to newly allocated memory. NC_ENOMEM. */
int api_request_copy(const struct api_dataset *d, struct access_request *req);

/* Copies the values of a small request into the request itself, which may be reallocated.
 * NC_ENOMEM. */
int api_request_copy_inline(const struct api_dataset *d, struct access_request **req);

/* Shrinks a request whose values a driver has taken over. */
void api_request_drop_inline(const struct api_dataset *d, struct access_request **req);

/* Detaches a bput from the caller's buffer after a driver has taken over its values. The
 * request then counts as copied. */
void api_request_detach_buffer(struct access_request *req);

/* Quantizes the values of one call's n puts, except those of variables that are not
 * quantized and those already quantized. The requests store the quantized copies, so the
 * lower layers (logs, checksums) see only those. Does nothing if err is an error. Returns
 * err or NC_ENOMEM. */
int api_quantize(const struct api_dataset *d, struct access_request **reqs, int64_t n,
                 int err);

#endif
