/* Values of external types as CDL. */
#ifndef DUMP_VALUE_H
#define DUMP_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dump_date.h"

/* One number in memory. */
union dump_number {
    int64_t i;
    uint64_t u;
    double r;
};

enum dump_kind { DUMP_SIGNED, DUMP_UNSIGNED, DUMP_REAL };

enum {
    DUMP_FORMAT_SIZE = 64, /* of a printf format */
    DUMP_VALUE_SIZE = 1024 /* bytes of a value as text, whatever its format */
};

/* How the numbers of a variable or an attribute are written. */
struct dump_format {
    enum dump_kind kind;
    int type;      /* NC_BYTE ... NC_UINT64, but not NC_CHAR */
    int digits;    /* of real numbers */
    bool has_fill; /* are values like `fill` written as '_'? */
    union dump_number fill;
    double tolerance; /* by which a real number may differ from fill */
    bool printf_wide; /* printf_format takes 64 bits, not 32 */
    char printf_format[DUMP_FORMAT_SIZE]; /* or "" */
    const struct dump_epoch *epoch;       /* for dates, or NULL */
    char date_mark;
};

/* The plain format of a type. digits: 0 for the usual ones. */
void dump_format_init(struct dump_format *f, int type, int digits);

/* Writes with the printf format, if it is one that fits the type; else says false. */
bool dump_format_printf(struct dump_format *f, const char *format, size_t length);

void dump_format_fill(struct dump_format *f, union dump_number fill);

/* n external values to memory. */
void dump_decode(const struct dump_format *f, union dump_number *to, const void *external,
                 size_t n);

/* Writes a value at p, without a NUL; returns the end. At most DUMP_VALUE_SIZE bytes. */
char *dump_put_value(const struct dump_format *f, union dump_number v, char *p);

/* As dump_put_value, but with the point and the letters that tell an attribute's type. */
char *dump_put_typed(const struct dump_format *f, union dump_number v, char *p);

#endif
