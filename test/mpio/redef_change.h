/* Creates, changes and checks a dataset. Used by redef_killed and redef_faults, which
 * interrupt a change of definitions or make one of its calls fail. Changes are identified
 * by numbers. */
#ifndef REDEF_CHANGE_H
#define REDEF_CHANGE_H

#include <mpi.h>
#include <stdbool.h>

/* redef_names contains the names of the changes, terminated by NULL. redef_creation
 * returns the number that stands for creating the dataset, which is one more than that of
 * the last change. */
extern const char *const redef_names[];
int redef_creation(void);

/* Sets the hints that a change needs. All programs that open the dataset must use the
 * same hints. */
void redef_hints(int change, const char *path, MPI_Info info);

/* A callback that is called after each successful step. Its argument is 'd' after the
 * definitions, 'p' after the puts, and 's' after the sync that follows both. */
typedef void redef_teller(char what);

/* redef_make creates the dataset. redef_try opens it, makes a change and closes it. Both
 * return the first error. */
int redef_make(const char *path, MPI_Info info, redef_teller *tell);
int redef_try(const char *path, int change, MPI_Info info, redef_teller *tell);

/* Checks an open dataset. Returns 0 if it has its original definitions and all values, or
 * 1 if it has been changed and has all values. Otherwise prints the reason and returns
 * -1. If `put` is set, all records that the change puts must exist. */
int redef_is(int ncid, int change, bool put);

#endif
