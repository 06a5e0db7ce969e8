/* Sets the access rights of the file that ncmpicopy writes. */
#ifndef COPY_TARGET_H
#define COPY_TARGET_H

#include <sys/types.h>

#include "copy.h"

struct copy_target {
    bool fresh;   /* no such file exists, so the library must create it or fail */
    mode_t mode;  /* mode with which to create the copy */
    int from, to; /* descriptors of the source and of the file to overwrite; -1 if none */
};

/* Examines the source and the target. If the target exists and will be overwritten,
 * reduces its rights. Returns 0, or -1 with errno set. Called by process 0. */
int copy_target_begin(const struct copy *c, struct copy_target *t);

/* Sets the rights of the created file and records its identity, or cleans up if it could
 * not be created. Closes the descriptors. Called by process 0. */
void copy_target_end(struct copy *c, struct copy_target *t, bool created);

/* Sets the rights of subfiles that were created before the rights of the copy were set.
 * Called by process 0 when the copy is complete. */
void copy_target_finish(const struct copy *c);

#endif
