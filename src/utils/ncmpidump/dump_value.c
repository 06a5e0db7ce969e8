/* Formats numbers as CDL, by the default format or a printf format. */
#include "dump_value.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "conv.h"
#include "pnetcdf_constants.h"
#include "util_number.h"
#include "util_type.h"

static const struct {
    enum dump_kind kind;
    bool wide;
} types[] = {
    [NC_BYTE] = {DUMP_SIGNED, false},    [NC_CHAR] = {DUMP_SIGNED, false},
    [NC_SHORT] = {DUMP_SIGNED, false},   [NC_INT] = {DUMP_SIGNED, false},
    [NC_FLOAT] = {DUMP_REAL, false},     [NC_DOUBLE] = {DUMP_REAL, false},
    [NC_UBYTE] = {DUMP_SIGNED, false},   [NC_USHORT] = {DUMP_SIGNED, false},
    [NC_UINT] = {DUMP_SIGNED, false},    [NC_INT64] = {DUMP_SIGNED, true},
    [NC_UINT64] = {DUMP_UNSIGNED, true},
};

enum { FLOAT_DIGITS = 7, DOUBLE_DIGITS = 15 };

void dump_format_init(struct dump_format *f, int type, int digits)
{
    if (digits == 0) digits = type == NC_FLOAT ? FLOAT_DIGITS : DOUBLE_DIGITS;
    *f = (struct dump_format){
        .kind = types[type].kind,
        .type = type,
        .digits = digits,
        .printf_wide = types[type].wide,
    };
}

/* Returns the length of flags, width and precision, or -1 if one of them is too large. */
static int measure_field(const char *p)
{
    const char *start = p;
    p += strspn(p, "-+ #0");
    size_t width = strspn(p, "0123456789");
    p += width;
    size_t precision = *p == '.' ? strspn(p + 1, "0123456789") : 0;
    p += *p == '.' ? 1 + precision : 0;
    return width > 2 || precision > 2 || p - start > 10 ? -1 : (int)(p - start);
}

/* Accepts a format with exactly one numeric conversion, and replaces its length modifiers
 * with the correct one. */
bool dump_format_printf(struct dump_format *f, const char *format, size_t length)
{
    char text[DUMP_FORMAT_SIZE];
    if (length == 0 || length >= sizeof text / 2 || memchr(format, '\0', length))
        return false;
    memcpy(text, format, length);
    text[length] = '\0';

    char *percent = strchr(text, '%');
    int field = percent == NULL ? -1 : measure_field(percent + 1);
    if (field < 0) return false;
    const char *conversion = percent + 1 + field;
    conversion += strspn(conversion, f->kind == DUMP_REAL ? "l" : "hl");
    const char *allowed = f->kind == DUMP_REAL ? "eEfFgGaA" : "diouxX";
    if (*conversion == '\0' || strchr(allowed, *conversion) == NULL) return false;
    if (strchr(conversion, '%') != NULL) return false;

    snprintf(f->printf_format, sizeof f->printf_format, "%.*s%s%s",
             (int)(percent - text) + 1 + field, text, f->printf_wide ? "ll" : "",
             conversion);
    return true;
}

void dump_format_fill(struct dump_format *f, union dump_number fill)
{
    f->has_fill = true;
    f->fill = fill;
    if (f->kind == DUMP_REAL && isfinite(fill.r))
        f->tolerance = fabs(fill.r) * (f->type == NC_FLOAT ? FLT_EPSILON : DBL_EPSILON);
}

void dump_decode(const struct dump_format *f, union dump_number *to, const void *external,
                 size_t n)
{
    static const enum conv_type memory[] = {
        [DUMP_SIGNED] = CONV_LONGLONG,
        [DUMP_UNSIGNED] = CONV_ULONGLONG,
        [DUMP_REAL] = CONV_DOUBLE,
    };
    conv_get(to, memory[f->kind], external, f->type, n);
}

static bool is_fill(const struct dump_format *f, union dump_number v)
{
    if (f->kind != DUMP_REAL) return v.u == f->fill.u;
    if (isnan(v.r) || isnan(f->fill.r)) return isnan(v.r) && isnan(f->fill.r);
    return v.r == f->fill.r || fabs(v.r - f->fill.r) <= f->tolerance;
}

static char *put_text(char *p, const char *text)
{
    size_t length = strlen(text);
    memcpy(p, text, length);
    return p + length;
}

static char *put_infinite(char *p, double value)
{
    return put_text(p, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

static double real_of(const struct dump_format *f, union dump_number v)
{
    switch (f->kind) {
    case DUMP_REAL:
        return v.r;
    case DUMP_SIGNED:
        return (double)v.i;
    default:
        return (double)v.u;
    }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static char *put_printf(const struct dump_format *f, union dump_number v, char *p)
{
    int n;
    if (f->kind == DUMP_REAL)
        n = snprintf(p, DUMP_VALUE_SIZE, f->printf_format, v.r);
    else if (f->printf_wide)
        n = snprintf(p, DUMP_VALUE_SIZE, f->printf_format, (long long)v.i);
    else
        n = snprintf(p, DUMP_VALUE_SIZE, f->printf_format, (int)v.i);
    return n > 0 ? p + n : p;
}
#pragma GCC diagnostic pop

/* Writes a quoted date. Returns NULL if the value has no date. */
static char *put_date(const struct dump_format *f, union dump_number v, char *p)
{
    size_t n = dump_put_date(p + 1, f->epoch, real_of(f, v), f->date_mark);
    if (n == 0) return NULL;
    p[0] = '"';
    p[n + 1] = '"';
    return p + n + 2;
}

char *dump_put_value(const struct dump_format *f, union dump_number v, char *p)
{
    if (f->has_fill && is_fill(f, v)) {
        *p = '_';
        return p + 1;
    }
    if (f->epoch != NULL) {
        char *end = put_date(f, v, p);
        if (end != NULL) return end;
    }
    if (f->kind == DUMP_REAL && !isfinite(v.r)) {
        p = put_infinite(p, v.r);
        return f->type == NC_FLOAT ? put_text(p, "f") : p;
    }
    if (f->printf_format[0] != '\0') return put_printf(f, v, p);
    switch (f->kind) {
    case DUMP_REAL:
        return util_put_real(p, v.r, f->digits);
    case DUMP_SIGNED:
        return util_put_int(p, v.i);
    default:
        return util_put_uint(p, v.u);
    }
}

char *dump_put_typed(const struct dump_format *f, union dump_number v, char *p)
{
    char *end = dump_put_value(f, v, p);
    if (f->kind == DUMP_REAL) {
        if (!isfinite(v.r)) return end;
        size_t length = (size_t)(end - p);
        if (memchr(p, '.', length) == NULL) {
            char *e = memchr(p, 'e', length);
            char *at = e == NULL ? end : e;
            memmove(at + 1, at, (size_t)(end - at));
            *at = '.';
            end++;
        }
    }
    return put_text(end, util_type_suffix(f->type));
}
