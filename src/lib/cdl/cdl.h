/* CDL, the notation for datasets that ncdump prints and ncgen reads: from text to the
 * model of a header and, on request, to values. Tokens are defined in cdl_scanner.l, the
 * grammar in cdl_grammar.y. Text is read once, from beginning to end, and not kept.
 *
 * Accepts the classic model: one unlimited dimension, the types of CDF-5, no
 * groups, no user-defined types, no strings but text attributes.
 *
 * Errors are recorded with base_error_set as "FILE: line L, column C: reason". Columns
 * count bytes. */
#ifndef CDL_H
#define CDL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cdf.h"
#include "conv.h"

struct cdl_place {
    int64_t line, column;
};

struct cdl_number {
    int type;            /* NC_BYTE ... */
    enum conv_type kind; /* which of the values: CONV_LONGLONG, _ULONGLONG, _DOUBLE */
    bool quoted;         /* a character */
    bool minus_zero;     /* of an integer: real values have a sign then */
    union {
        int64_t i;
        uint64_t u; /* above INT64_MAX */
        double d;
    } value;
};

struct cdl_reader;

/* Where text comes from: length bytes of memory, or, if text is NULL, a file that is open
 * for reading. */
struct cdl_source {
    const char *name; /* as errors call it */
    const char *text;
    size_t length;
    int fd;
};

/* Who takes the data section. Each function returns NC_NOERR, or what cdl_read is to
 * return at once. */
struct cdl_sink {
    /* All is defined, layout included; called without a data section too. */
    int (*begin)(void *to, const struct cdl_reader *r);
    int (*variable)(void *to, struct cdl_place at, int varid);
    int (*number)(void *to, struct cdl_place at, const struct cdl_number *n);
    int (*fill)(void *to, struct cdl_place at); /* _ */
    /* A string comes in parts of 64 bytes at most, escapes resolved. */
    int (*string)(void *to, struct cdl_place at);
    int (*part)(void *to, const char *bytes, size_t n);
    int (*string_end)(void *to);
    int (*variable_end)(void *to);
};

/* Makes *h of the text, layout included and without records; free it with cdf_free. With
 * a sink the text is read to its end, without one to where data begin.
 *
 * format is 1, 2 or 5, or 0: then the global attribute _Format decides ("classic",
 * "64-bit offset", "64-bit data" or "cdf5"), else the least format that has all types
 * and sizes, and that is not below what a comment "// file format: CDF-N" says. _Format
 * does not become an attribute, nor do those others by which ncdump tells how a file of
 * netCDF-4 is stored.
 *
 * NC_ENOTNC     not CDL
 * NC_ENOTSUPPORT strings, groups and whatever else is of netCDF-4 only
 * NC_EBADTYPE, NC_EBADDIM, NC_ENOTVAR    no such type, dimension, variable
 * NC_ERANGE, NC_ECHAR    a value that its type does not have
 * NC_EREAD      the file cannot be read on
 * and what cdf_def_dim, cdf_def_var, cdf_put_att and cdf_layout return. */
int cdl_read(const struct cdl_source *source, int format, const struct cdl_sink *sink,
             void *to, struct cdf_header *h);

/* ---- for sinks ---- */

/* What stands behind the word netcdf, NC_MAX_NAME bytes at most. */
const char *cdl_title(const struct cdl_reader *r);

/* Bytes of the text that have been read. */
int64_t cdl_taken(const struct cdl_reader *r);

/* Records what is wrong at a place in the text and returns code. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
int cdl_fail(const struct cdl_reader *r, struct cdl_place at, int code,
             const char *format, ...);

/* The external value of a number in a type. NC_ERANGE, NC_ECHAR. */
int cdl_number_put(const struct cdl_number *n, int type, void *x);

#endif
