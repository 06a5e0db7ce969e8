/* An access as the user asks for it, checked and brought into the form that drivers
 * take. */
#ifndef API_ACCESS_H
#define API_ACCESS_H

#include "api.h"
#include "api_dataset.h"

/* May data be accessed now, and in this way? Errors that are the same on every process of
 * a collective call. NC_EBADID, NC_EPERM, NC_EINDEFINE, NC_EINDEP, NC_ENOTINDEP. */
int api_find_data(int ncid, bool put, unsigned how, struct api_dataset **d);

/* Checks everything else and makes the request; NULL in *req where there is nothing to
 * move. Errors in the order that pnetcdf.h promises. */
int api_request_make(const struct api_dataset *d, const struct api_access *a, bool put,
                     struct access_request **req);

/* The same for many. *reqs is an array of *n requests, to be freed with base_free. */
int api_requests_make(const struct api_dataset *d, const struct api_access *a,
                      const struct api_slabs *slabs, bool put,
                      struct access_request ***reqs, int64_t *n);

/* NC_ERANGE if a value of a put does not fit its variable; NC_ENOMEM. */
int api_request_range(const struct api_dataset *d, const struct access_request *req);

/* A request for all of them, of nelems elements (or NC_COUNT_IGNORE) from a->buf on, or a
 * few. False if they are not runs of bytes, mostly in the order of the file, if anything
 * is wrong with them, and when memory is short. */
bool api_runs_make(const struct api_dataset *d, const struct api_access *a,
                   const struct api_slabs *slabs, bool put, enum conv_type type,
                   int64_t nelems, struct access_request ***reqs, int64_t *n);

/* The length of a dimension as an access sees it: a put may add records. */
int64_t api_length_of(const struct api_dataset *d, const struct cdf_var *v, int dim,
                      bool put);

/* Has the request own a copy of its values, in place of the user's buffer. NC_ENOMEM. */
int api_request_copy(const struct api_dataset *d, struct access_request *req);

/* The same for few values: they stand in the request itself, which may move. */
int api_request_keep(const struct api_dataset *d, struct access_request **req);

/* Gives one call's n puts copies of their values, quantized, where their variables ask
 * for that. All that is below, from logs to checksums, sees those alone. Passes over
 * requests that have them already, and does nothing after an error. Returns that, or
 * NC_ENOMEM. */
int api_quantize(const struct api_dataset *d, struct access_request **reqs, int64_t n,
                 int err);

/* Frees the copy of a request whose values the driver has taken. */
void api_request_shed(const struct api_dataset *d, struct access_request **req);

/* Bytes of a request's values in memory. */
int64_t api_value_bytes(const struct api_dataset *d, const struct access_request *r);

/* Ends a request and frees what it owns. Returns its status. */
int api_request_end(struct access_request *req);

/* The driver has a request's values: it needs the caller's buffer no more. It counts as
 * one that was copied. */
void api_request_leave(struct access_request *req);

/* Hands requests over and ends them. In a collective call this process takes part
 * whatever its own error err; alone it has nothing to do then. */
int api_transfer_either(struct api_dataset *d, struct access_request **reqs, int64_t n,
                        bool put, unsigned how, int err);

/* Frees *n requests and their array; *n becomes 0. */
void api_requests_drop(struct access_request **reqs, int64_t *n);

/* flags of a request */
enum {
    API_COPIED = 1,    /* buf is the request's own */
    API_PUT = 2,       /* a pending put, rather than a get */
    API_CHOSEN = 4,    /* one of those that are waited for */
    API_TOLD = 8,      /* of values out of range the caller has heard */
    API_KEPT = 16,     /* the values stand behind slab[] */
    API_CHARGED = 32,  /* it has its share of the attached buffer */
    API_QUANTIZED = 64 /* a put's values stand behind slab[], quantized */
};

#endif
