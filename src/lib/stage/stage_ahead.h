/* Blocks that are brought ahead, in the background where there can be a thread. */
#ifndef STAGE_AHEAD_H
#define STAGE_AHEAD_H

#include "stage.h"

/* The bytes of a request, or of all files (NULL). That nothing can be staged is no error.
 * NC_ENOMEM. */
int stage_ahead_prefetch(struct stage_reader *r, const struct access_request *q);

/* What may come next, after this get of a program that goes through time. */
void stage_ahead_follow(struct stage_reader *r, const struct access_request *q);

/* Until all that was asked for is there, or cannot be. */
void stage_ahead_wait(struct stage *s);

/* Ends it, whatever is left. */
void stage_ahead_stop(struct stage *s);

#endif
