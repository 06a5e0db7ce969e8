/* What scanner, grammar and definitions share. */
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
    CDL_OTHERS /* of netCDF-4 */
};

/* The scanner holds itself, its buffer, what it knows of that, and a list of one buffer.
 */
enum { CDL_NAMES = 4, CDL_PIECES = 8 };

/* An attribute's, and the type that stands in front of it, or 0. */
struct cdl_owner {
    const char *variable; /* NULL: it is global */
    int varid, type;
};

struct cdl_reader {
    struct cdl_source source; /* what is left of it */
    int64_t taken;
    int err; /* the first; it ends the reading */
    jmp_buf short_memory;

    /* Scanner. */
    void *pieces[CDL_PIECES]; /* of memory */
    struct cdl_place next;    /* behind the token */
    locale_t numbers;         /* in which a decimal point is a point */
    enum cdl_section section;
    bool colon, bracket;     /* in this statement; open */
    int back;                /* where a comment or string returns to */
    struct cdl_place opened; /* the comment or string */
    char title[NC_MAX_NAME + 1];
    size_t title_length, title_end; /* with blanks behind it; without */
    /* Names last read, in turn: an owner, an attribute and one read ahead live at once.
     */
    char names[CDL_NAMES][NC_MAX_NAME + 1];
    int name;

    /* Definitions. */
    struct cdf_header *h;
    bool settled; /* the format: not to be changed for what is still defined */
    int least_format;
    int raised; /* the error for which the format was last raised, and its words */
    char why_raised[400];
    char variable[NC_MAX_NAME + 1]; /* the one being defined */
    int *dimids, ndims;
    int64_t dimids_capacity;
    struct cdl_values values;

    const struct cdl_sink *sink;
    void *to;
};

/* ---- scanner: cdl_scanner.l, cdl_number.c ---- */

/* The number that a text is, up to its NUL. NC_ENOTNC, NC_ERANGE. */
int cdl_integer(const char *text, struct cdl_number *n);
int cdl_real(const struct cdl_reader *r, const char *text, int length,
             struct cdl_number *n);

/* NaN or Infinity, with or without sign and f. */
struct cdl_number cdl_special(const char *text);

/* A part of a string; lives until the next token is read. */
struct cdl_part {
    const char *bytes;
    size_t n;
};

/* ---- definitions: cdl_define.c ---- */

enum cdl_section cdl_section_named(const char *name);

/* A type's number; 0 if it is of netCDF-4 only, -1 if there is none. */
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

/* ---- values: of an attribute, or, in the data section, for the sink ---- */

int cdl_take_number(struct cdl_reader *r, struct cdl_place at,
                    const struct cdl_number *n);
int cdl_take_fill(struct cdl_reader *r, struct cdl_place at);
int cdl_take_string(struct cdl_reader *r, struct cdl_place at);
int cdl_take_part(struct cdl_reader *r, const char *bytes, size_t n);
int cdl_take_string_end(struct cdl_reader *r);
int cdl_take_variable(struct cdl_reader *r, struct cdl_place at, const char *name);

#endif
