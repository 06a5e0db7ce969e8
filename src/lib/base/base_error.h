/* Error codes, their names and texts, and what is known about the last one. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "pnetcdf_constants.h"

/* The text of a code: what it means and what to do. If base_error_set recorded
 * something about this very code last on this thread, that is part of it; the
 * text then lives until the thread's next call of base_error_set.
 * Never NULL. Codes above 0 are errno values. */
const char *base_error_text(int code);

/* The name of a code, "NC_EBADID"; "Unknown code N" for others. Never NULL. */
const char *base_error_name(int code);

/* Records for this thread what exactly went wrong and returns code, so that
 * `return base_error_set(NC_ENOTNC, "...", ...)` says both. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int base_error_set(int code, const char *format, ...);

/* The code for errno as a system call left it: one of its own where there is one
 * (NC_ENOENT, NC_EACCESS, NC_ENO_SPACE ...), else otherwise. Recorded is what was being
 * done to which file, and the system's words. */
int base_error_system(int otherwise, const char *what, const char *path);

/* What base_error_set last recorded on this thread for this code, or "". */
const char *base_error_detail(int code);

/* What it last recorded, to be recorded again by who tries what may fail, and nobody is
 * told. */
struct base_error_note {
    int code;
    char detail[1024];
};
void base_error_keep(struct base_error_note *note);
void base_error_restore(const struct base_error_note *note);

#endif
