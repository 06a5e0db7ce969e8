/* Caches stages of closed datasets for reuse when the same processes reopen the file. */
#ifndef STAGE_CACHE_H
#define STAGE_CACHE_H

#include "stage.h"

/* Removes this file's stage from the cache and reuses it if all processes have it and the
 * hints are the same; otherwise sets *taken to false. `error` is this process's earlier
 * error. Collective; all processes get the same result. */
int stage_cache_take_all(struct stage *s, int error, bool *taken);

/* Return a proposed number for a new stage; store the number agreed on. */
int64_t stage_cache_number(void);
void stage_cache_note(struct stage *s, int64_t number);

/* Ends a stage: caches it if all processes can, or else frees it. Collective; all
 * processes get the same result. */
int stage_cache_or_free_all(struct stage *s);

#endif
