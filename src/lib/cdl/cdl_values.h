/* The values of an attribute, as they are written in the text. */
#ifndef CDL_VALUES_H
#define CDL_VALUES_H

#include "cdf.h"
#include "cdl.h"

/* A zero-initialized object is empty. Its memory is reused for the next attribute. */
struct cdl_values {
    char *bytes; /* text, or an array of struct cdl_number */
    size_t used;
    int64_t capacity;
    int type;        /* NC_CHAR for text, otherwise a type that represents all numbers */
    bool all_quoted; /* every value is a character in single quotes */
};

/* Discards the values. */
void cdl_values_begin(struct cdl_values *v);

/* Append values. Consecutive strings are concatenated. An attribute without values is an
 * empty string. */
int cdl_values_string(const struct cdl_reader *r, struct cdl_place at,
                      struct cdl_values *v);
int cdl_values_text(struct cdl_values *v, const char *bytes, size_t n);
int cdl_values_number(const struct cdl_reader *r, struct cdl_place at,
                      struct cdl_values *v, const struct cdl_number *n);

/* Returns the number of values. Each byte of a text counts as one value. */
int64_t cdl_values_count(const struct cdl_values *v);

/* Returns the type of the attribute. `type` is the requested type, or 0. Returns -1 if
 * text was requested but the values are numbers, or vice versa. */
int cdl_values_type(const struct cdl_values *v, int type);

/* Writes the values to x in big-endian order. Returns NC_NOERR or NC_ERANGE. */
int cdl_values_write(const struct cdl_values *v, int type, void *x);

void cdl_values_free(struct cdl_values *v);

#endif
