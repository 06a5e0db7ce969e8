/* Writes JSON as a stream. The caller opens and closes objects and arrays in the right
 * order. */
#ifndef UTIL_JSON_H
#define UTIL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util_out.h"

struct util_json {
    struct util_out *out;
    int depth;    /* number of open objects and arrays */
    bool comma;   /* a comma must precede the next element */
    bool compact; /* write everything on one line, in ASCII; cleared by util_json_start */
};

void util_json_start(struct util_json *j, struct util_out *out);

/* Open an object ('{') or array ('['), and close it with the matching bracket. `name` is
 * the name of the member, or NULL outside of objects. */
void util_json_open(struct util_json *j, const char *name, char bracket);
void util_json_close(struct util_json *j, char bracket);

/* Each function writes one member of an object, or one array element if `name` is NULL.
 * Invalid UTF-8 becomes U+FFFD. */
void util_json_int(struct util_json *j, const char *name, int64_t value);
void util_json_bool(struct util_json *j, const char *name, bool value);
void util_json_text(struct util_json *j, const char *name, const char *text);

/* Writes a string of `length` bytes, which may include NULs. Another NUL must follow the
 * string. */
void util_json_string(struct util_json *j, const char *name, const char *text,
                      size_t length);

/* Writes a number that is already formatted as JSON: digits, or "null". */
void util_json_raw(struct util_json *j, const char *name, const char *text);

/* Writes a number with `digits` significant digits. Writes NaN and infinities as strings,
 * because JSON cannot represent them. */
void util_json_real(struct util_json *j, const char *name, double value, int digits);

#endif
