/* Shared declarations of ncmpidiff, which compares two datasets in parallel. The
 * comparison itself is in ../cdfdiff/diff.h. */
#ifndef NCMPIDIFF_H
#define NCMPIDIFF_H

#include "cdf.h"

#define NCMPIDIFF_TOOL "ncmpidiff"

/* Fills *h with the definitions and the number of records of an open dataset, as the
 * inquiry functions return them. File offsets are not set. Returns NC_NOERR, or an error
 * with *h empty. */
int ncmpidiff_header(int ncid, struct cdf_header *h);

#endif
