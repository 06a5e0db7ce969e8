/* What the unit tests of this room share: CDL in a string. */
#ifndef CDL_TEXT_H
#define CDL_TEXT_H

#include "cdl.h"
#include "pnetcdf_constants.h"

/* cdl_header of a text that errors call "text"; format as there. */
int read_text(const char *text, int format, struct cdf_header *h);

#endif
