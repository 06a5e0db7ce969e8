/* Error texts: one table, and a note per thread about the last error. */
#include "base_error.h"

#include <stdarg.h>
#include <stddef.h>
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

static _Thread_local struct {
    int code;
    char detail[1024];
    char text[1536]; /* the table's text and the detail */
} last;

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

/* Of errno. The C library has words for numbers that it does not know, too. */
static const char *system_text(int code)
{
    const char *text = strerror(code);
    return strncmp(text, "Unknown error", 13) == 0 ? unknown_error(code) : text;
}

const char *base_error_text(int code)
{
    if (code > 0) return system_text(code);
    int row = row_of(code);
    if (row < 0) return unknown_error(code);
    if (code == NC_NOERR || code != last.code) return table[row].text;
    snprintf(last.text, sizeof last.text, "%s (%s)", table[row].text, last.detail);
    return last.text;
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
    return code;
}

const char *base_error_detail(int code)
{
    return code == last.code ? last.detail : "";
}
