/* What the files of ncvalidator share. */
#ifndef VALIDATOR_H
#define VALIDATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "util_classic.h"
#include "util_json.h"
#include "util_out.h"

#define VALIDATOR_TOOL "ncvalidator"

/* Exit statuses. */
enum { VALIDATOR_GOOD, VALIDATOR_BAD, VALIDATOR_TROUBLE };

struct validator {
    bool quiet, no_notes, json;
    int finish; /* how often -f was given: twice takes it from a process at work on it */
    bool pad;   /* set padding right in the file itself */
    const char *repair; /* the copy to write, or NULL */
    struct util_out out;
    struct util_json j;

    /* Of the file being checked: */
    const char *path;
    int64_t base; /* where in it the header begins */
    int64_t violations, notes, fixes;
    int copy;       /* the copy being written, or the file itself, or -1 */
    int copy_error; /* errno of the first write that failed, or 0 */
};

/* ---- validator_check.c ---- */

/* Checks one file, and tells. An exit status. */
int validator_check(struct validator *v, const char *path);

/* ---- validator_blob.c ---- */

/* Holds the subfiles of a dataset against its header, which is good, and against each
 * other; `take` gets what is found. 0, or -1: no memory for it. */
int validator_subfiles(struct validator *v, struct util_classic *file, cdf_tell *take);

/* ---- validator_finish.c ---- */

struct journal;

/* Completes a redefinition that was interrupted, or takes it back. 0, or -1 after an
 * error line. */
int validator_finish(struct validator *v, const char *path);

/* The same of a journal that is open, with its dataset. NC_NOERR, or an error with words.
 */
int validator_resume(struct journal *j);

/* ---- validator_force.c ---- */

/* Takes it from the process that works on it, and finishes it in a copy, which takes the
 * dataset's place. The same result. */
int validator_force(struct journal *j);

/* ---- validator_repair.c ---- */

/* Begins the copy of an open file: its bytes as they are. 0, or -1 after an error line.
 */
int validator_copy_start(struct validator *v, const struct util_classic *file);

/* For the file itself instead: opens it for writing, before it is examined; closes it. 0,
 * or -1 after an error line. */
int validator_pad_start(struct validator *v, const char *path);
int validator_pad_finish(struct validator *v, const char *path);

/* Puts in the copy what a finding says would be right. */
void validator_copy_fix(struct validator *v, const struct cdf_finding *f);

/* Ends it, and removes it after an error. 0, or -1 after an error line. */
int validator_copy_finish(struct validator *v);

#endif
