/* The values of an attribute, as they stand in the text. */
#ifndef CDL_VALUES_H
#define CDL_VALUES_H

#include "cdf.h"
#include "cdl_scan.h"

/* Zero-initialised is empty. Used again for the next attribute, its memory stays. */
struct cdl_values {
    char *bytes; /* text, or struct cdl_number one after the other */
    size_t used, capacity;
    int type;        /* NC_CHAR for text, else the type that holds all the numbers */
    bool all_quoted; /* each is a character in single quotes */
};

/* Takes values from the current token on, up to what follows the last one. Strings that
 * follow each other are one; no values at all are an empty text. */
int cdl_values_read(struct cdl_scan *s, struct cdl_values *v);

/* Makes them the attribute of a variable or of NC_GLOBAL, of this type, or of their own
 * where type is 0. Complaints name the place `where`. */
int cdl_values_store(const struct cdl_scan *s, const char *where,
                     const struct cdl_values *v, struct cdf_header *h, int varid,
                     const char *name, int type);

void cdl_values_free(struct cdl_values *v);

/* Passes an error of the model on, with the place it concerns; NC_NOERR too. */
int cdl_check(const struct cdl_scan *s, const char *where, int err);

#endif
