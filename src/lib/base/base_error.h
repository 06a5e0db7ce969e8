/* Error codes with their names and messages, and the details of the last error. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "pnetcdf_constants.h"

/* Returns the message for a code: the cause and a remedy. If this thread last recorded
 * this code with base_error_set, the message begins with the detail and is valid until
 * the thread calls base_error_set again. Never returns NULL. Positive codes are errno
 * values. Fortran translates the text (f77_message.c): in a message, the numbers that
 * Fortran counts from 1 follow "start", "record", "variable id", "dimension id" and the
 * like, names are in single quotes, and dimensions of a variable have names. */
const char *base_error_text(int code);

/* Returns the name of a code, such as "NC_EBADID", or "Unknown code N". Never returns
 * NULL. */
const char *base_error_name(int code);

/* Records the detail of an error for this thread and returns the code. Usage: `return
 * base_error_set(NC_ENOTNC, "...", ...)`. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int base_error_set(int code, const char *format, ...);

/* Records the names of one or two objects (`other` may be NULL). `format` is a string
 * literal with a %s for each. The text is formatted only on request, because programs
 * often look for objects that may not exist and should not pay for messages that are
 * never read. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 0)))
#endif
int base_error_named(int code, const char *format, const char *name, const char *other);

#ifdef __clang_analyzer__ /* the analyzer cannot see that these functions return an      \
                           * error */
#define base_error_set(code, ...)   ((void)(base_error_set)(code, __VA_ARGS__), (code))
#define base_error_named(code, ...) ((void)(base_error_named)(code, __VA_ARGS__), (code))
#endif

/* The message of an error belongs to the call that returned the error. It remains
 * available until another call fails, since programs often close files before they print
 * the message. base_error_begin starts an API call on this thread. base_error_end ends
 * it, discards the note for `code` if an earlier call recorded it, and returns code. */
void base_error_begin(void);
int base_error_end_call(int code);
static inline int base_error_end(int code)
{
    return code == NC_NOERR ? code : base_error_end_call(code);
}

/* Returns the code for errno if there is one (NC_ENOENT, NC_EACCESS, NC_ENO_SPACE ...),
 * else `otherwise`. Records the operation (`what`), the path and the system's message. */
int base_error_system(int otherwise, const char *what, const char *path);

/* Returns which of two results to report: the first error, except that any other error
 * takes precedence over NC_ERANGE, which affects only values out of range. */
static inline int base_error_merge(int first, int err)
{
    return first == NC_NOERR || (first == NC_ERANGE && err != NC_NOERR) ? err : first;
}

/* Returns the detail that this thread last recorded if it belongs to this code, otherwise
 * "". Also finds the detail of an earlier error in the same call if a cleanup has since
 * failed with a different code. */
const char *base_error_detail(int code);

/* Save and restore the last note around an operation whose failure is ignored. */
struct base_error_note {
    int code;
    const char *format; /* format of base_error_named if detail is not formatted yet */
    char detail[1024], names[2][84];
};
void base_error_save(struct base_error_note *note);
void base_error_restore(const struct base_error_note *note);

#endif
