/* Stages of datasets that are closed, for when the same processes open the same file
 * again. */
#ifndef STAGE_KEEP_H
#define STAGE_KEEP_H

#include "stage.h"

/* Takes the one that all processes have kept of this file, and that was asked for in the
 * same way; else *taken is false. `error` is this process's own. Collective; agreed. */
int stage_keep_take_all(struct stage *s, int error, bool *taken);

/* The number of a new one: agreed on, and then noted. */
int64_t stage_keep_number(void);
void stage_keep_note(struct stage *s, int64_t number);

/* The end of a stage: it is kept if all can, or freed. Collective; agreed. */
int stage_keep_or_free_all(struct stage *s);

#endif
