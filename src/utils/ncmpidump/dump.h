/* ncmpidump prints a dataset as CDL or JSON. dump_main.c parses the options,
 * dump_select.c chooses the variables and recognizes times, dump_header.c prints the
 * definitions, and dump_data.c prints the values. dump_json.c prints everything as JSON.
 * This header contains the declarations that these files share. */
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
    const char *variables; /* comma-separated names of variables to show; NULL for all */
    bool brief, full; /* show comments with the indices of each row, or of each value */
    char language;    /* language that determines the order of indices: 'c' or 'f' */
    int width;        /* maximum length of a line of numbers, in characters */
    const char *name; /* name of the dataset; NULL to use the file's name */
    int float_digits, double_digits; /* significant digits; 0 for the default */
    bool kind, special, json;
    char date_mark; /* separator between date and time; 0 to show times as numbers */
};

struct dump {
    struct dump_options options;
    struct util_classic file;
    struct util_out out;
    bool *wanted;      /* for each variable, whether its data are shown */
    int *bounds_owner; /* for each variable, the variable whose bounds it contains, or -1
                        */
};

/* ---- dump_select.c ---- */

/* Sets `wanted` and `bounds_owner`. Returns 0, or -1 after printing an error. */
int dump_select(struct dump *d);

/* Returns whether a numeric variable is a time, and sets *epoch if it is. If `bounds` is
 * set, variables that contain the bounds of a time also count as times. */
bool dump_is_time(const struct dump *d, int varid, bool bounds, struct dump_epoch *epoch);

/* ---- dump_att.c ---- */

/* Prints one attribute. `owner` is the name of its variable in CDL, or "" for a global
 * attribute. `epoch` is the variable's epoch if the variable is a time, else NULL. */
void dump_attribute(struct dump *d, const char *owner, const struct cdf_att *a,
                    const struct dump_epoch *epoch);

/* ---- dump_header.c ---- */

/* Prints everything before the data section. */
void dump_header(struct dump *d);

/* ---- dump_special.c ---- */

/* Prints the special attributes that ncdump -s shows, which describe the storage of a
 * variable or, if `varid` is NC_GLOBAL, of the dataset. */
void dump_special(struct dump *d, const char *owner, int varid);

/* ---- dump_data.c ---- */

/* Prints the data of the chosen variables. Returns 0, or -1 after printing an error. */
int dump_data(struct dump *d);

/* Sets the format of a variable's values. *epoch is used for dates and must outlive the
 * format. */
void dump_set_format(const struct dump *d, int varid, struct dump_format *f,
                     struct dump_epoch *epoch);

/* Returns the number of bytes of data to print, for the progress line. Returns 0 if the
 * output is a terminal, where the text itself shows the progress. */
int64_t dump_bytes(const struct dump *d);

/* ---- dump_json.c ---- */

/* Prints the dataset as JSON. Returns 0, or -1 after printing an error. */
int dump_json(struct dump *d);

#endif
