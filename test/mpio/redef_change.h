/* A dataset, the changes that its definitions are put to, and what must hold of it
 * whatever came between. For redef_killed and redef_faults. */
#ifndef REDEF_CHANGE_H
#define REDEF_CHANGE_H

#include <mpi.h>
#include <stdbool.h>

/* Names of the changes, NULL at the end; the one behind it is a dataset that is made. */
extern const char *const redef_names[];
int redef_creation(void);

/* Hints of a change: for all who open its dataset. */
void redef_hints(int change, const char *path, MPI_Info info);

/* Hears of what has returned: definitions ('d'), puts ('p'), a sync behind both ('s'). */
typedef void redef_teller(char what);

/* Makes the dataset; tries a change from open to close. The first error of all calls. */
int redef_make(const char *path, MPI_Info info, redef_teller *tell);
int redef_try(const char *path, int change, MPI_Info info, redef_teller *tell);

/* Is it as it was made (0), or as the change wanted it (1), with all its values? -1 and a
 * line on standard error if neither. `put`: all records that were being put have to be
 * there. To be called with the dataset open for reading or writing. */
int redef_is(int ncid, int change, bool put);

#endif
