/* Prefetches blocks, in a background thread if one can be started. */
#ifndef STAGE_PREFETCH_H
#define STAGE_PREFETCH_H

#include "stage.h"

/* Prefetches the bytes of a request, or all files if q is NULL. Succeeds even if nothing
 * can be staged. NC_ENOMEM. */
int stage_prefetch_request(struct stage_reader *r, const struct access_request *q);

/* Prefetches what a program that steps through time is likely to read after this get. */
void stage_prefetch_next(struct stage_reader *r, const struct access_request *q);

/* Waits until every prefetch has finished or failed. */
void stage_prefetch_wait(struct stage *s);

/* Stops prefetching and drops the remaining jobs. */
void stage_prefetch_stop(struct stage *s);

#endif
