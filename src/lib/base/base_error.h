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

/* The same with the names of one or two objects, `other` may be NULL, in a literal format
 * that has a %s for each. It is put together when somebody asks for the text: programs
 * look for what may not be there, and are not to pay for words that nobody reads. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 0)))
#endif
int base_error_named(int code, const char *format, const char *name, const char *other);

#ifdef __clang_analyzer__ /* it cannot see that these return an error */
#define base_error_set(code, ...)   ((void)(base_error_set)(code, __VA_ARGS__), (code))
#define base_error_named(code, ...) ((void)(base_error_named)(code, __VA_ARGS__), (code))
#endif

/* The text of an error belongs to the call that returned it, and stays until another one
 * fails: programs close what they have open before they print it. A call of the interface
 * begins on this thread; it ends with `code`, for which what an earlier call recorded
 * does not count. Returns code. */
void base_error_begin(void);
int base_error_ended(int code);
static inline int base_error_end(int code)
{
    return code == NC_NOERR ? code : base_error_ended(code);
}

/* The code for errno as a system call left it: one of its own where there is one
 * (NC_ENOENT, NC_EACCESS, NC_ENO_SPACE ...), else otherwise. Recorded is what was being
 * done to which file, and the system's words. */
int base_error_system(int otherwise, const char *what, const char *path);

/* Of two results the one to be told: the first error, but a value that is out of range
 * moves no others out of their way, and is the least. */
static inline int base_error_worse(int first, int err)
{
    return first == NC_NOERR || (first == NC_ERANGE && err != NC_NOERR) ? err : first;
}

/* What base_error_set last recorded on this thread for this code, or "". */
const char *base_error_detail(int code);

/* What was last recorded, and recording it again, around an attempt that may fail without
 * anybody being told. */
struct base_error_note {
    int code;
    const char *format; /* of base_error_named: detail is to be made of it */
    char detail[1024], names[2][84];
};
void base_error_keep(struct base_error_note *note);
void base_error_restore(const struct base_error_note *note);

#endif
