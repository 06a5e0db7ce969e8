/* Detects files of a dataset that do not belong together. Each opening for writing
 * creates a new generation, which is written to the master's first page and, before any
 * value changes, to every subfile. Each collective sync increments the generation's
 * counter. So a file that was restored from a copy does not match the others. No MPI,
 * because tools also use this module. */
#ifndef SUBFILE_GENERATION_H
#define SUBFILE_GENERATION_H

#include "subfile.h"

/* Number of values in a generation that is stored in a subfile's variable. */
enum { SUBFILE_GENERATION = 3 };

/* Returns the subfile's variable that stores the generation; -1 if none. */
int subfile_generation_var(const struct cdf_header *h);

/* Compares a subfile's generation, which it gets by `read`, with the master's first page.
 * A reader passes the master's path: if they differ, the page is read again, because a
 * writer may have changed the dataset since. As long as the page states that nothing is
 * defined, a subfile may end before its generation. NC_ENOTNC, or the error of `read`.
 *
 * Sets *stale if the subfile dates from before the dataset's close, or the close never
 * reached the subfile's device. If so, values put since the last sync may be missing. A
 * close counts as a sync only in subfiles, since no process waits for their devices. */
int subfile_generation_check(const struct subfile *s, subfile_read *read,
                             const char *master, bool *stale);

#endif
