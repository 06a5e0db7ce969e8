/* Proof that the files of a dataset belong together. Each opening for writing makes a new
 * moment: it is written into the master's first page and, before any value changes, into
 * every subfile; each collective sync counts on. So a file that was put back from a copy
 * does not fit the others. Known without MPI, for the tools. */
#ifndef BLOB_MOMENT_H
#define BLOB_MOMENT_H

#include "cdf.h"
#include "cdf_envelope.h"

/* Numbers of a moment, as a subfile's variable has them. */
enum { BLOB_MOMENT = 3 };

/* A subfile's variable that has its moment; -1: it has none. */
int blob_moment_var(const struct cdf_header *h);

/* NULL: a subfile with these numbers fits the master's first page; else what is wrong.
 *
 * A subfile may be ahead by the sync that a kill has interrupted, and by one more where
 * the power went and the page had not reached its device. One that is behind was put
 * back. */
const char *blob_moment_wrong(const struct cdf_envelope *e,
                              const int64_t numbers[BLOB_MOMENT]);

/* Is it from before the dataset was closed, or that never got to its device? Its close
 * counts as a sync does in the subfiles alone, as nobody waits for their devices. What
 * was put since the last sync may be missing. */
bool blob_moment_behind(const struct cdf_envelope *e, const int64_t numbers[BLOB_MOMENT]);

#endif
