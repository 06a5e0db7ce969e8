/* What the files of ncoffsets share. */
#ifndef OFFSETS_H
#define OFFSETS_H

#include <stdbool.h>
#include <stdint.h>

#include "util_classic.h"
#include "util_out.h"

#define OFFSETS_TOOL "ncoffsets"

struct offsets {
    const char *variables; /* only these, as a list; NULL: all */
    bool gaps_only, yes_or_no, json;
    bool all_records;
    int64_t record; /* which one of record variables */
    struct util_classic file;
    struct util_out out;
    bool *wanted; /* of each variable */
};

/* Writes what is asked for. */
void offsets_show(struct offsets *o);

#endif
