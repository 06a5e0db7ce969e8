/* A table of error codes with their names and messages, and each thread's last errors. A
 * failing call often cleans up, and the cleanup may fail with another code. The last note
 * with a different code is therefore preserved until the call ends. */
#include "base_error.h"

/* For the static analyzer, macros of the same names replace these functions. */
#undef base_error_set
#undef base_error_named

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
    int code;
    const char *name;
    const char *text;
} table[] = {
#define BASE_ERROR(code, text) {code, #code, text},
#include "base_errors.def"
#undef BASE_ERROR
};

static _Thread_local struct base_error_note last;
static _Thread_local struct base_error_note before; /* this call's last note with a
                                                     * different code */
static _Thread_local bool earlier;    /* `last` was recorded by an earlier call */
static _Thread_local char both[1536]; /* detail, followed by the text from the table */

static _Thread_local char unknown[48];

static int row_of(int code)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].code == code) return (int)i;
    return -1;
}

/* Client programs' test suites check for this text. */
static const char *unknown_error(int code)
{
    snprintf(unknown, sizeof unknown, "Unknown Error %d", code);
    return unknown;
}

/* Returns the text of an errno value. In glibc and musl, strerror also returns a text for
 * an unknown number, which is replaced here. */
static const char *system_text(int code)
{
    const char *text = strerror(code);
    bool known = strncmp(text, "Unknown error", 13) != 0 &&
                 strcmp(text, "No error information") != 0;
    return known ? text : unknown_error(code);
}

/* Advice for system errors whose messages contain none. */
static const struct {
    int number;
    const char *advice;
} system_advice[] = {
    {EFAULT, "the values are in memory that cannot be accessed: it is GPU memory, or was "
             "freed; copy the values to host memory first"},
    {EINVAL, "the file system does not support this call; use another access method "
             "(hint nc_file_io) or another file system"},
    {EFBIG,
     "the file would exceed the limit of the process (ulimit -f) or of the file system"},
    {EIO, "the device or the file server failed; check the system log"},
    {ESTALE, "the file was removed or replaced on the file server; close the dataset and "
             "open it again"},
    {EROFS, "mount it for writing, or write elsewhere"},
    {EACCES, "check the permissions of the file and of each directory in its path"},
    {EPERM, "check the file's owner and attributes (lsattr), the sticky bit of its "
            "directory, and the security policy of the system"},
    {ENAMETOOLONG, "most systems allow 255 bytes for a name and 4095 for a path"},
    {ENOTDIR, "a component of the path is not a directory"},
    {ELOOP, "there is a loop of symbolic links in the path"},
    {EMFILE, "the process has as many open files as ulimit -n allows; close some, or "
             "raise the limit"},
    {ENFILE, "the system has as many open files as it allows; ask its administrator to "
             "raise the limit"},
    {ENXIO, "it is a pipe, a socket, or a device without a driver; use a regular file"},
    {ENODEV, "the file system does not support this call; use another file system"},
    {EBADF, "the program may have closed a descriptor that the library uses"},
    {ENOLCK, "the file system or its lock server has run out of locks"},
    {ETIMEDOUT, "the file server does not respond; check that it is running and mounted"},
    {ENOTCONN, "the file server is not connected; mount the file system again"},
    {EISDIR, "specify a file instead of a directory"},
};

enum { LAST_NUMBER = EHWPOISON }; /* largest errno value of Linux */

static const char *advice_on(int number)
{
    for (size_t i = 0; i < sizeof system_advice / sizeof system_advice[0]; i++)
        if (system_advice[i].number == number) return system_advice[i].advice;
    return "";
}

/* Returns whether a text ends with a punctuation mark, a blank and `end`. */
static bool ends_with(const char *text, char mark, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return m > 0 && n > m + 2 && strcmp(text + n - m, end) == 0 &&
           text[n - m - 1] == ' ' && text[n - m - 2] == mark;
}

/* Returns the part of a row's text that a detail does not contain. The message of a
 * system error replaces the phrase, and its advice also replaces the remedy. */
static const char *rest_of_text(const char *detail, const char *text)
{
    for (int i = 1; i <= LAST_NUMBER; i++)
        if (ends_with(detail, ';', advice_on(i)))
            return "";
        else if (ends_with(detail, ':', strerror(i)))
            return strchr(text, ';') == NULL ? "" : strchr(text, ';');
    return text;
}

const char *base_error_text(int code)
{
    if (code > 0) return system_text(code);
    int row = row_of(code);
    if (row < 0) return unknown_error(code);
    if (code == NC_NOERR || code != last.code) return table[row].text;
    const char *detail = base_error_detail(code);
    if (detail[0] == '\0') return table[row].text;
    const char *rest = rest_of_text(detail, table[row].text);
    snprintf(both, sizeof both, "%s%s%s", detail, rest == table[row].text ? ": " : "",
             rest);
    return both;
}

const char *base_error_name(int code)
{
    int row = row_of(code);
    if (row >= 0) return table[row].name;
    snprintf(unknown, sizeof unknown, "Unknown code %d", code);
    return unknown;
}

/* Prepares `last` for a new note. */
static void new_note(int code, const char *format)
{
    if (!earlier && code != last.code) before = last;
    last.code = code;
    last.format = format;
    earlier = false;
}

int base_error_set(int code, const char *format, ...)
{
    char detail[sizeof last.detail]; /* copy, because an argument may be `last.detail`
                                      * itself */
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    new_note(code, NULL);
    memcpy(last.detail, detail, sizeof detail);
    return code;
}

int base_error_named(int code, const char *format, const char *name, const char *other)
{
    const char *names[] = {name, other};
    new_note(code, format);
    for (int i = 0; i < 2; i++) {
        size_t n = names[i] == NULL ? 0 : strnlen(names[i], sizeof last.names[i] - 1);
        if (n > 0) memcpy(last.names[i], names[i], n);
        last.names[i][n] = '\0';
    }
    return code;
}

const char *base_error_detail(int code)
{
    struct base_error_note *n = code == last.code ? &last : &before;
    if (code != n->code) return "";
    if (n->format != NULL)
        snprintf(n->detail, sizeof n->detail, n->format, n->names[0], n->names[1]);
    n->format = NULL;
    return n->detail;
}

void base_error_begin(void)
{
    earlier = true;
    before.code = NC_NOERR;
}

int base_error_end_call(int code)
{
    if (code == last.code && earlier) last.code = NC_NOERR;
    if (code != last.code && code == before.code) last = before;
    return code;
}

void base_error_save(struct base_error_note *note)
{
    *note = last;
}

void base_error_restore(const struct base_error_note *note)
{
    last = *note;
    if (before.code == last.code) before.code = NC_NOERR;
    earlier = false;
}

/* Maps errno values to the same codes as the corresponding MPI-IO errors. */
static const struct {
    int number, code;
} system_codes[] = {
    {ENOENT, NC_ENOENT},     {EEXIST, NC_EEXIST},
    {EACCES, NC_EACCESS},    {EPERM, NC_EACCESS},
    {EROFS, NC_EPERM},       {ENOSPC, NC_ENO_SPACE},
    {EDQUOT, NC_EQUOTA},     {ENAMETOOLONG, NC_EBAD_FILE},
    {ENOTDIR, NC_EBAD_FILE}, {ELOOP, NC_EBAD_FILE},
    {EMFILE, NC_ENFILE},     {ENFILE, NC_ENFILE},
    {ENOMEM, NC_ENOMEM},
};

int base_error_system(int otherwise, const char *what, const char *path)
{
    int saved = errno, code = otherwise;
    const char *advice = advice_on(saved);
    for (size_t i = 0; i < sizeof system_codes / sizeof system_codes[0]; i++)
        if (system_codes[i].number == saved) code = system_codes[i].code;
    return base_error_set(code, "%s %s: %s%s%s", what, path, strerror(saved),
                          advice[0] == '\0' ? "" : "; ", advice);
}
