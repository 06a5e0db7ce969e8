/* The values of an attribute, as they stand in the text. */
#ifndef CDL_VALUES_H
#define CDL_VALUES_H

#include "cdf.h"
#include "cdl.h"

/* Zero-initialised is empty. Used again for the next attribute, its memory stays. */
struct cdl_values {
    char *bytes; /* text, or struct cdl_number one after the other */
    size_t used;
    int64_t capacity;
    int type;        /* NC_CHAR for text, else the type that holds all the numbers */
    bool all_quoted; /* each is a character in single quotes */
};

/* Starts anew. */
void cdl_values_begin(struct cdl_values *v);

/* Strings that follow each other are one; no values at all are an empty text. */
int cdl_values_string(const struct cdl_reader *r, struct cdl_place at,
                      struct cdl_values *v);
int cdl_values_text(struct cdl_values *v, const char *bytes, size_t n);
int cdl_values_number(const struct cdl_reader *r, struct cdl_place at,
                      struct cdl_values *v, const struct cdl_number *n);

/* How many there are: bytes of text, or numbers. */
int64_t cdl_values_count(const struct cdl_values *v);

/* The type of the attribute that they make, where `type` is asked for, or 0: none. -1 for
 * text that should be numbers, or the other way. */
int cdl_values_type(const struct cdl_values *v, int type);

/* Writes them, big-endian, to x. NC_ERANGE. */
int cdl_values_write(const struct cdl_values *v, int type, void *x);

void cdl_values_free(struct cdl_values *v);

#endif
