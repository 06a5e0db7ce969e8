/* Converts the arguments of a put or get into requests for the drivers. api_access.c
 * checks arguments and makes requests, api_runs.c merges hyperslabs of one variable into
 * few requests, and api_blocking.c passes the requests to the driver. api_request.h
 * describes what a request owns and how it ends. */
#ifndef API_ACCESS_H
#define API_ACCESS_H

#include "api.h"
#include "api_request.h"

/* Finds a dataset and checks that the current mode allows this access. Collective calls
 * return the same result on every process: NC_EBADID, NC_EPERM, NC_EINDEFINE, NC_EINDEP,
 * NC_ENOTINDEP. */
int api_find_data(int ncid, bool put, unsigned how, struct api_dataset **d);

/* Checks all other arguments and makes the request. *req is NULL if there is nothing to
 * transfer. Checks for errors in the order that pnetcdf.h promises. */
int api_request_make(const struct api_dataset *d, const struct api_access *a, bool put,
                     struct access_request **req);

/* Makes the requests for several hyperslabs of one variable. Sets *reqs to an array of *n
 * requests, which the caller frees with base_free. */
int api_requests_make(const struct api_dataset *d, const struct api_access *a,
                      const struct api_slabs *slabs, bool put,
                      struct access_request ***reqs, int64_t *n);

/* Merges all hyperslabs into as few requests as possible. The buffer at a->buf has nelems
 * elements (or NC_COUNT_IGNORE). Returns false if a hyperslab is not contiguous in the
 * file, if too many are out of file order, if one is invalid, or if memory runs out.
 * api_requests_make then makes one request per hyperslab. */
bool api_runs_make(const struct api_dataset *d, const struct api_access *a,
                   const struct api_slabs *slabs, bool put, enum conv_type type,
                   int64_t nelems, struct access_request ***reqs, int64_t *n);

/* Passes requests to the driver and ends them. If err is an error, passes none: an
 * independent call then skips the driver, but a collective call still enters it. */
int api_transfer_either(struct api_dataset *d, struct access_request **reqs, int64_t n,
                        bool put, unsigned how, int err);

#endif
