/* Error texts: one table, and a note per thread about the last error. */
#include "base_error.h"

/* What the analyzer sees in their place. */
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
static _Thread_local bool earlier;    /* an earlier call recorded it */
static _Thread_local char both[1536]; /* the table's text and the detail */

static _Thread_local char unknown[48];

static int row_of(int code)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].code == code) return (int)i;
    return -1;
}

/* Clients' tests look for these words. */
static const char *unknown_error(int code)
{
    snprintf(unknown, sizeof unknown, "Unknown Error %d", code);
    return unknown;
}

/* Of errno. C libraries have words for numbers that they do not know, too: GNU's and
 * musl's. */
static const char *system_text(int code)
{
    const char *text = strerror(code);
    bool known = strncmp(text, "Unknown error", 13) != 0 &&
                 strcmp(text, "No error information") != 0;
    return known ? text : unknown_error(code);
}

const char *base_error_text(int code)
{
    if (code > 0) return system_text(code);
    int row = row_of(code);
    if (row < 0) return unknown_error(code);
    if (code == NC_NOERR || code != last.code) return table[row].text;
    const char *detail = base_error_detail(code);
    if (detail[0] == '\0') return table[row].text;
    snprintf(both, sizeof both, "%s (%s)", table[row].text, detail);
    return both;
}

const char *base_error_name(int code)
{
    int row = row_of(code);
    if (row >= 0) return table[row].name;
    snprintf(unknown, sizeof unknown, "Unknown code %d", code);
    return unknown;
}

int base_error_set(int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last.detail, sizeof last.detail, format, args);
    va_end(args);
    last.code = code;
    last.format = NULL;
    earlier = false;
    return code;
}

int base_error_named(int code, const char *format, const char *name, const char *other)
{
    const char *names[] = {name, other};
    for (int i = 0; i < 2; i++) {
        size_t n = names[i] == NULL ? 0 : strnlen(names[i], sizeof last.names[i] - 1);
        if (n > 0) memcpy(last.names[i], names[i], n);
        last.names[i][n] = '\0';
    }
    last.code = code;
    last.format = format;
    earlier = false;
    return code;
}

const char *base_error_detail(int code)
{
    if (code != last.code) return "";
    if (last.format != NULL)
        snprintf(last.detail, sizeof last.detail, last.format, last.names[0],
                 last.names[1]);
    last.format = NULL;
    return last.detail;
}

void base_error_begin(void)
{
    earlier = true;
}

int base_error_ended(int code)
{
    if (code == last.code && earlier) last.code = NC_NOERR;
    return code;
}

void base_error_keep(struct base_error_note *note)
{
    *note = last;
}

void base_error_restore(const struct base_error_note *note)
{
    last = *note;
    earlier = false;
}

/* As MPI-IO has them, where it has one. */
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
    for (size_t i = 0; i < sizeof system_codes / sizeof system_codes[0]; i++)
        if (system_codes[i].number == saved) code = system_codes[i].code;
    return base_error_set(code, "%s %s: %s", what, path, strerror(saved));
}
