/* What the files of ncmpidiff share. */
#ifndef NCMPIDIFF_H
#define NCMPIDIFF_H

#include "cdf.h"

#define NCMPIDIFF_TOOL "ncmpidiff"

/* Makes *h of an open dataset: definitions and number of records, as its inquiries tell
 * them. The places in the file are not known. NC_NOERR, or an error with *h empty. */
int ncmpidiff_header(int ncid, struct cdf_header *h);

#endif
