/* Parses CDL from a string. Shared by the unit tests of the CDL parser. */
#ifndef CDL_TEXT_H
#define CDL_TEXT_H

#include "cdl.h"
#include "pnetcdf_constants.h"

/* Calls cdl_read for a string, without a sink. Error messages name the source "text". */
int read_text(const char *text, int format, struct cdf_header *h);

#endif
