/* What the files of ncmpidump share. */
#ifndef DUMP_H
#define DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "dump_date.h"
#include "dump_value.h"
#include "util_classic.h"
#include "util_out.h"

#define DUMP_TOOL "ncmpidump"

struct dump_options {
    bool header_only, coordinates_only;
    const char *variables;           /* only these, as a list; NULL: all */
    bool brief, full;                /* comments with the indices of rows, of values */
    char language;                   /* whose indices: 'c' or 'f' */
    int width;                       /* of lines of numbers */
    const char *name;                /* of the dataset; NULL: the file's */
    int float_digits, double_digits; /* 0: not given */
    bool kind, special, json;
    char date_mark; /* between date and time; 0: numbers, no dates */
};

struct dump {
    struct dump_options options;
    struct util_classic file;
    struct util_out out;
    bool *wanted;      /* of each variable: are its data shown? */
    int *bounds_owner; /* of each variable: the one whose bounds it holds, or -1 */
};

/* ---- dump_select.c ---- */

/* Fills wanted and bounds_owner. 0, or -1 after an error line. */
int dump_select(struct dump *d);

/* Is the numeric variable a time, and counted from when? With bounds, also if it
 * holds the bounds of one. */
bool dump_is_time(const struct dump *d, int varid, bool bounds, struct dump_epoch *epoch);

/* ---- dump_att.c ---- */

/* One attribute; owner is its variable's name as CDL writes it, or "". epoch is its
 * variable's, if that is a time, else NULL. */
void dump_attribute(struct dump *d, const char *owner, const struct cdf_att *a,
                    const struct dump_epoch *epoch);

/* ---- dump_header.c ---- */

/* Everything up to the data. */
void dump_header(struct dump *d);

/* ---- dump_special.c ---- */

/* How a variable, or with NC_GLOBAL the dataset, is stored, as the attributes that ncdump
 * -s makes of it. */
void dump_special(struct dump *d, const char *owner, int varid);

/* ---- dump_data.c ---- */

/* The data of the variables wanted. 0, or -1 after an error line. */
int dump_data(struct dump *d);

/* How a variable's values are written, and with which dates: *epoch lives as long. */
void dump_set_format(const struct dump *d, int varid, struct dump_format *f,
                     struct dump_epoch *epoch);

/* Bytes of data that are shown, for progress; 0 if the text itself goes to a terminal,
 * where it shows how far it is. */
int64_t dump_bytes(const struct dump *d);

/* ---- dump_json.c ---- */

/* All of it. 0, or -1 after an error line. */
int dump_json(struct dump *d);

#endif
