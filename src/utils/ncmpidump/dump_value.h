/* Converts values of external types to CDL text. */
#ifndef DUMP_VALUE_H
#define DUMP_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dump_date.h"

/* A number in memory. */
union dump_number {
    int64_t i;
    uint64_t u;
    double r;
};

enum dump_kind { DUMP_SIGNED, DUMP_UNSIGNED, DUMP_REAL };

enum {
    DUMP_FORMAT_SIZE = 64, /* maximum size of a printf format */
    DUMP_VALUE_SIZE =
        1024 /* maximum length of a formatted value in bytes, in any format */
};

/* Format of the numbers of a variable or an attribute. */
struct dump_format {
    enum dump_kind kind;
    int type;      /* NC_BYTE ... NC_UINT64 except NC_CHAR */
    int digits;    /* significant digits of real numbers */
    bool has_fill; /* values equal to `fill` are printed as '_' */
    union dump_number fill;
    double tolerance; /* real numbers this close to `fill` count as equal */
    bool printf_wide; /* printf_format takes 64-bit integers instead of 32-bit ones */
    char printf_format[DUMP_FORMAT_SIZE]; /* "" if none */
    const struct dump_epoch *epoch;       /* epoch for dates; NULL to print numbers */
    char date_mark;
};

/* Initializes *f with the default format of a type. If `digits` is 0, uses the default
 * precision. */
void dump_format_init(struct dump_format *f, int type, int digits);

/* Sets a printf format. Returns false if it does not match the type. */
bool dump_format_printf(struct dump_format *f, const char *format, size_t length);

void dump_format_fill(struct dump_format *f, union dump_number fill);

/* Decodes n external values into memory. */
void dump_decode(const struct dump_format *f, union dump_number *to, const void *external,
                 size_t n);

/* Writes a value of at most DUMP_VALUE_SIZE bytes at p, without a NUL. Returns the
 * end. */
char *dump_put_value(const struct dump_format *f, union dump_number v, char *p);

/* Like dump_put_value, but adds the decimal point and the suffix that indicate an
 * attribute's type. */
char *dump_put_typed(const struct dump_format *f, union dump_number v, char *p);

#endif
