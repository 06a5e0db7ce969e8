/* Tests whether nodes see each other's writes to a mounted file system (file_probe.c). */
#ifndef FILE_PROBE_H
#define FILE_PROBE_H

#include "dataset.h"

/* Results of the test. FILE_OWN_SIZE means that a node sees what others wrote only after
 * it has set the file's size itself. */
enum file_probe { FILE_UNTRIED, FILE_RIGHT, FILE_OWN_SIZE, FILE_WRONG };

/* Returns the cached result for the mount that contains the dataset's file. Local. */
enum file_probe file_probe_known(const struct dataset *ds);

/* Tests the mount if there are several nodes. *result is the same on all processes, and
 * is unchanged if the test could not be run. All processes get the same result. */
int file_probe_all(struct dataset *ds, enum file_probe *result);

#endif
