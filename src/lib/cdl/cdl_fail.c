/* Records errors in CDL text. Each message names the text, the line and the column. */
#include <stdarg.h>
#include <stdio.h>

#include "base_error.h"
#include "cdl_reader.h"

int cdl_fail(const struct cdl_reader *r, struct cdl_place at, int code,
             const char *format, ...)
{
    char reason[320];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return base_error_set(code, "%s: line %lld, column %lld: %s", r->source.name,
                          (long long)at.line, (long long)at.column, reason);
}
