/* Stages of datasets that are closed, for when the same processes open the same file
 * again. */
#ifndef STAGE_KEEP_H
#define STAGE_KEEP_H

#include "stage.h"

/* The number of one that is kept of this file and these processes, and was asked for in
 * the same way; 0: none. Local: the others may have kept another. */
int64_t stage_keep_find(const struct stage *s);

/* Takes that one; all processes do. */
void stage_keep_take(struct stage *s, int64_t number);

/* The end of a stage: it is kept if all can, or freed. Collective; agreed. */
int stage_keep_or_free_all(struct stage *s);

#endif
