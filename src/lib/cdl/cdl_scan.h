/* The words of CDL. One token at a time is taken from text in memory. */
#ifndef CDL_SCAN_H
#define CDL_SCAN_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conv.h"

/* Kinds of tokens; those of one character, {}(),:;= are their own kind. */
enum {
    CDL_BAD = 256, /* none; scan.err tells the code */
    CDL_END,
    CDL_NAME,   /* keywords too: they are no reserved words */
    CDL_STRING, /* in double quotes */
    CDL_NUMBER  /* or a character in single quotes */
};

struct cdl_number {
    int type;            /* NC_BYTE ... */
    enum conv_type kind; /* which of the values: CONV_LONGLONG, _ULONGLONG, _DOUBLE */
    bool quoted;         /* a character */
    union {
        int64_t i;
        uint64_t u; /* above INT64_MAX */
        double d;
    } value;
};

/* May be copied to look ahead, and the copy dropped. */
struct cdl_scan {
    const char *file; /* as errors call it */
    const char *text, *end;
    const char *at;   /* behind the token */
    locale_t numbers; /* in which a decimal point is a point */
    int least_format; /* N of a comment "file format: CDF-N", or 0 */

    /* The token: */
    int kind, err;
    const char *start;
    struct cdl_number number;
};

/* Starts before the first token; text[length] must be NUL, and text and file live as
 * long. NC_ENOMEM. cdl_scan_stop frees what is held, also after an error. */
int cdl_scan_start(struct cdl_scan *s, const char *file, const char *text, size_t length);
void cdl_scan_stop(struct cdl_scan *s);

/* Back to the beginning. */
void cdl_scan_rewind(struct cdl_scan *s);

/* Takes the next token. */
void cdl_next(struct cdl_scan *s);

/* The kind of the token that comes behind a good one. */
int cdl_peek(const struct cdl_scan *s);

/* Goes on to the next c that is not escaped, or to the end; the token stays. */
void cdl_skip_to(struct cdl_scan *s, char c);

/* Is the token this word, in capitals or not? */
bool cdl_is(const struct cdl_scan *s, const char *word);

/* The name, escapes resolved, to name, of NC_MAX_NAME + 1 bytes. NC_EMAXNAME. */
int cdl_name(const struct cdl_scan *s, char *name);

/* The characters of a string, escapes resolved, to `to`, which has room for as many
 * bytes as the token; returns how many there are. */
size_t cdl_string(const struct cdl_scan *s, char *to);

/* Where a value is wanted: makes a number of the names NaN, NaNf, Infinity and
 * Infinityf. False if the token is no number then. */
bool cdl_want_number(struct cdl_scan *s);

/* The external value of a number in a type. NC_ERANGE, NC_ECHAR. */
int cdl_number_put(const struct cdl_number *n, int type, void *x);

/* Records what is wrong at a place in the text and returns code. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
int cdl_fail(const struct cdl_scan *s, const char *where, int code, const char *format,
             ...);

/* NC_ENOTNC: the token is not what had to come; or what is wrong with the token. */
int cdl_unexpected(const struct cdl_scan *s, const char *wanted);

/* ---- between cdl_scan.c and cdl_number.c ---- */

bool cdl_is_name_byte(unsigned char c);

/* Does a number start here? */
bool cdl_number_starts(const char *p);

/* Takes the number that starts at s->start. */
void cdl_scan_number(struct cdl_scan *s);

#endif
