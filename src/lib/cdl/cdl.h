/* Parser for CDL, the text form of datasets that ncdump prints and ncgen reads. It builds
 * the model of a header and, on request, delivers the values. cdl_scanner.l splits the
 * text into tokens, cdl_grammar.y contains the grammar, and cdl_define.c builds the
 * header. The text is read once from start to end and is not stored.
 *
 * The parser accepts the classic model: one unlimited dimension, the types of CDF-5, no
 * groups, no user-defined types, and no strings except text attributes.
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
    int type;            /* NC_BYTE, ... */
    enum conv_type kind; /* member of `value` that is set: CONV_LONGLONG, _ULONGLONG or
                          * _DOUBLE */
    bool quoted;         /* written as a character in quotes */
    bool minus_zero;     /* an integer written as -0, which is -0.0 as a real value */
    union {
        int64_t i;
        uint64_t u; /* used only for values above INT64_MAX */
        double d;
    } value;
};

struct cdl_reader;

/* Source of the text: `length` bytes of memory or, if `text` is NULL, a file that is open
 * for reading. */
struct cdl_source {
    const char *name; /* name in error messages */
    const char *text;
    size_t length;
    int fd;
};

/* Receives the data section. Each function returns NC_NOERR, or an error that makes
 * cdl_read return immediately. */
struct cdl_sink {
    /* Called once all definitions and the layout are complete, even if there is no data
     * section. */
    int (*begin)(void *to, const struct cdl_reader *r);
    int (*variable)(void *to, struct cdl_place at, int varid);
    int (*number)(void *to, struct cdl_place at, const struct cdl_number *n);
    int (*fill)(void *to, struct cdl_place at); /* the value `_` */
    /* A string is delivered in parts of at most 64 bytes, with escape sequences
     * resolved. */
    int (*string)(void *to, struct cdl_place at);
    int (*part)(void *to, const char *bytes, size_t n);
    int (*string_end)(void *to);
    int (*variable_end)(void *to);
};

/* Builds *h from the text, with a layout and without records. Free it with cdf_free. With
 * a sink the whole text is read. Without a sink only the part before the data section is
 * read.
 *
 * `format` is 1, 2 or 5, or 0 if the text determines the format. The global attribute
 * _Format ("classic", "64-bit offset", "64-bit data" or "cdf5") then takes precedence.
 * Without it, the parser chooses the smallest format that supports all types and sizes,
 * and that is not below the format in a comment "// file format: CDF-N". _Format does not
 * become an attribute of the dataset. Neither do the other attributes with which ncdump
 * describes the storage of netCDF-4 files.
 *
 * Returns
 *     NC_ENOTNC       not CDL
 *     NC_ENOTSUPPORT  strings, groups and other features of netCDF-4
 *     NC_EBADTYPE, NC_EBADDIM, NC_ENOTVAR  type, dimension, variable does not exist
 *     NC_ERANGE, NC_ECHAR  a value that its type cannot represent
 *     NC_EREAD        the file cannot be read
 * and the errors of cdf_def_dim, cdf_def_var, cdf_put_att and cdf_layout. */
int cdl_read(const struct cdl_source *source, int format, const struct cdl_sink *sink,
             void *to, struct cdf_header *h);

/* ---- for sinks ---- */

/* Returns the dataset name that follows the keyword netcdf, at most NC_MAX_NAME bytes. */
const char *cdl_title(const struct cdl_reader *r);

/* Returns the number of bytes of the text that have been read so far. */
int64_t cdl_bytes_read(const struct cdl_reader *r);

/* Records an error at a position in the text and returns `code`. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
int cdl_fail(const struct cdl_reader *r, struct cdl_place at, int code,
             const char *format, ...);

/* Writes a number as an external value of a type. Returns NC_NOERR, NC_ERANGE or
 * NC_ECHAR. */
int cdl_number_put(const struct cdl_number *n, int type, void *x);

#endif
