/* State and functions that the scanner, the grammar and cdl_define.c share. */
#ifndef CDL_READER_H
#define CDL_READER_H

#include <locale.h>
#include <setjmp.h>

#include "cdl.h"
#include "cdl_values.h"
#include "pnetcdf_constants.h"

enum cdl_section {
    CDL_NO_SECTION,
    CDL_DIMENSIONS,
    CDL_VARIABLES,
    CDL_DATA,
    CDL_OTHERS /* sections that only netCDF-4 has */
};

/* CDL_PIECES limits the number of allocations that the scanner may make: its state, its
 * buffer, the buffer's description, and a list of one buffer. */
enum { CDL_NAMES = 4, CDL_PIECES = 8 };

/* Owner of the current attribute, and the type that precedes it (0 if none). */
struct cdl_owner {
    const char *variable; /* NULL for a global attribute */
    int varid, type;
};

struct cdl_reader {
    struct cdl_source source; /* the text that has not been read yet */
    int64_t bytes_read;
    int err; /* first error, which stops the parser */
    jmp_buf no_memory;

    /* Scanner state. */
    void *pieces[CDL_PIECES]; /* allocated by the scanner */
    struct cdl_place next;    /* position after the current token */
    locale_t numbers;         /* locale whose decimal separator is a point */
    enum cdl_section section;
    bool colon, bracket;     /* after a colon in this statement; inside parentheses */
    int back;                /* start condition to restore after a comment or string */
    struct cdl_place opened; /* start of that comment or string */
    char title[NC_MAX_NAME + 1];
    size_t title_length, title_end; /* length with and without trailing blanks */
    /* The most recent names, in a ring: an owner, an attribute and a lookahead token may
     * be in use at the same time. */
    char names[CDL_NAMES][NC_MAX_NAME + 1];
    int name;

    /* State of the header being built. */
    struct cdf_header *h;
    bool format_fixed; /* the format is fixed and must not be changed for later
                          definitions */
    int least_format;
    int raised; /* the error that last raised the format, and its message */
    char why_raised[400];
    char variable[NC_MAX_NAME + 1]; /* variable being defined */
    int *dimids, ndims;
    int64_t dimids_capacity;
    struct cdl_values values;

    const struct cdl_sink *sink;
    void *to;
};

/* ---- scanner: cdl_scanner.l, cdl_number.c ---- */

/* Parse a NUL-terminated number. Return NC_NOERR, NC_ENOTNC or NC_ERANGE. */
int cdl_integer(const char *text, struct cdl_number *n);
int cdl_real(const struct cdl_reader *r, const char *text, int length,
             struct cdl_number *n);

/* Parses NaN or Infinity, with an optional sign and an optional suffix f. */
struct cdl_number cdl_special(const char *text);

/* Part of a string. Valid until the scanner reads the next token. */
struct cdl_part {
    const char *bytes;
    size_t n;
};

/* ---- definitions: cdl_define.c ---- */

enum cdl_section cdl_section_named(const char *name);

/* Returns the number of a type; 0 if only netCDF-4 has the type, -1 if it does not
 * exist. */
int cdl_type_named(const char *name);

bool cdl_is_variable(const struct cdl_reader *r, const char *name);

int cdl_define_dim(struct cdl_reader *r, struct cdl_place at, const char *name,
                   int64_t length);
int cdl_length(const struct cdl_reader *r, struct cdl_place at,
               const struct cdl_number *n, int64_t *length);
int cdl_add_dim(struct cdl_reader *r, struct cdl_place at, const char *name);
int cdl_define_var(struct cdl_reader *r, struct cdl_place at, int type);
int cdl_find_owner(const struct cdl_reader *r, struct cdl_place at,
                   struct cdl_owner *owner);
int cdl_define_att(struct cdl_reader *r, struct cdl_place at,
                   const struct cdl_owner *owner, const char *name);
int cdl_define_end(struct cdl_reader *r, struct cdl_place at);

/* ---- values of an attribute or, in the data section, for the sink ---- */

int cdl_add_number(struct cdl_reader *r, struct cdl_place at, const struct cdl_number *n);
int cdl_add_fill(struct cdl_reader *r, struct cdl_place at);
int cdl_begin_string(struct cdl_reader *r, struct cdl_place at);
int cdl_add_string_part(struct cdl_reader *r, const char *bytes, size_t n);
int cdl_end_string(struct cdl_reader *r);
int cdl_begin_variable(struct cdl_reader *r, struct cdl_place at, const char *name);

#endif
