/* Internals shared by the files of ncvalidator. */
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
    int finish; /* number of -f options; if 2, take over the redefinition even from a
                 * running process */
    bool pad;   /* -x: fix padding in the file itself */
    const char *repair; /* -r: path of the repaired copy, or NULL */
    struct util_out out;
    struct util_json j;

    /* The file being checked: */
    const char *path;
    int64_t base; /* offset of the header in the file */
    int64_t violations, notes, fixes;
    int copy; /* descriptor of the repaired copy or, with -x, of the file; -1 if none */
    int copy_error; /* errno of the first failed write, or 0 */
};

/* ---- validator_check.c ---- */

/* Checks one file and reports the findings. Returns an exit status. */
int validator_check(struct validator *v, const char *path);

/* ---- validator_blob.c ---- */

/* Checks the subfiles of a dataset with a valid header against that header and against
 * each other, and passes findings to `take`. Returns 0, or -1 if out of memory. */
int validator_subfiles(struct validator *v, struct util_classic *file,
                       cdf_report_fn *take);

/* ---- validator_finish.c ---- */

struct journal;

/* Finishes an interrupted redefinition or rolls it back, whichever the journal requires.
 * Returns 0, or -1 after printing an error. */
int validator_finish(struct validator *v, const char *path);

/* Finishes or rolls back a redefinition whose journal and dataset are open. Returns
 * NC_NOERR, or an NC_ error after setting a message. */
int validator_resume(struct journal *j);

/* ---- validator_force.c ---- */

/* Takes over a redefinition from the process that is working on it, and finishes it in a
 * copy that replaces the dataset. Returns NC_NOERR, or an NC_ error after setting a
 * message. */
int validator_force(struct journal *j);

/* ---- validator_repair.c ---- */

/* Creates an empty copy; validator_copy_start also fills it with the bytes of the file.
 * Return 0, or -1 after printing an error. */
int validator_copy_create(struct validator *v, const struct util_classic *file);
int validator_copy_start(struct validator *v, const struct util_classic *file);

/* Open the file itself for writing, which must precede the examination, and close it.
 * Return 0, or -1 after printing an error. */
int validator_pad_start(struct validator *v, const struct util_classic *file);
int validator_pad_finish(struct validator *v, const char *path);

/* Writes to the copy. Stores an error in v->copy_error. */
void validator_copy_write(struct validator *v, const void *bytes, size_t length,
                          int64_t offset);

/* Applies the fix for a finding to the copy. */
void validator_copy_fix(struct validator *v, const struct cdf_finding *f);

/* Closes the copy, and removes it after an error. Returns 0, or -1 after printing an
 * error. */
int validator_copy_finish(struct validator *v);

/* ---- validator_rescue.c ---- */

/* If only the places of the variables are invalid, and known, writes a copy in a valid
 * layout. Returns its format; 0 if there is nothing to rescue, or no certain way; or -1
 * after printing an error. */
int validator_rescue(struct validator *v, struct util_classic *file);

#endif
