/* JSON, as a stream: the caller opens and closes what it writes in the right order. */
#ifndef UTIL_JSON_H
#define UTIL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util_out.h"

struct util_json {
    struct util_out *out;
    int depth;    /* of what is open */
    bool comma;   /* does something precede the next element? */
    bool compact; /* all on one line, in ASCII; false after util_json_start */
};

void util_json_start(struct util_json *j, struct util_out *out);

/* '{' or '[' and its end. name: of the member it is, or NULL outside of objects. */
void util_json_open(struct util_json *j, const char *name, char bracket);
void util_json_close(struct util_json *j, char bracket);

/* One member, or element where name is NULL. Bytes that are not UTF-8 become U+FFFD. */
void util_json_int(struct util_json *j, const char *name, int64_t value);
void util_json_bool(struct util_json *j, const char *name, bool value);
void util_json_text(struct util_json *j, const char *name, const char *text);

/* ... of so many bytes, behind which there is a NUL; others are text, too. */
void util_json_string(struct util_json *j, const char *name, const char *text,
                      size_t length);

/* A number as JSON writes it, already text: digits, or "null". */
void util_json_raw(struct util_json *j, const char *name, const char *text);

/* A number with so many digits; as text where JSON has none: NaN and infinities. */
void util_json_real(struct util_json *j, const char *name, double value, int digits);

#endif
