/* A dataset, the changes that its definitions are put to, and what must hold of it
 * whatever came between. For redef_killed and redef_faults. */
#ifndef REDEF_CHANGE_H
#define REDEF_CHANGE_H

#include <mpi.h>

/* Names of the changes, NULL at the end. */
extern const char *const redef_names[];

/* Makes the dataset; tries a change from open to close. The first error of all calls. */
int redef_make(const char *path);
int redef_try(const char *path, int change, MPI_Info info);

/* Is it as it was made (0), or as the change wanted it (1), with all its values? -1 and a
 * line on standard error if neither. To be called with the dataset open for reading or
 * writing. */
int redef_is(int ncid, int change);

#endif
