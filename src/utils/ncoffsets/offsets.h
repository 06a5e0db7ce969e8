/* Shared declarations of ncoffsets, which prints the offsets of variables in a file. */
#ifndef OFFSETS_H
#define OFFSETS_H

#include <stdbool.h>
#include <stdint.h>

#include "util_classic.h"
#include "util_out.h"

#define OFFSETS_TOOL "ncoffsets"

struct offsets {
    const char *variables; /* comma-separated names of variables to show; NULL for all */
    bool gaps_only, yes_or_no, json;
    bool all_records;
    int64_t record; /* index of the record whose offsets are shown */
    struct util_classic file;
    struct util_out out;
    bool *wanted; /* for each variable, whether it is shown */
};

/* Prints the offsets that the options select. */
void offsets_show(struct offsets *o);

#endif
