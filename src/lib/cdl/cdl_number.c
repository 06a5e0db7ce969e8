/* Parses numbers. The type of a number follows from its suffix or from its value. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base_error.h"
#include "cdl_reader.h"

static const struct {
    const char *suffix;
    int type;
} suffixes[] = {
    {"b", NC_BYTE},     {"s", NC_SHORT},  {"l", NC_INT},     {"ub", NC_UBYTE},
    {"us", NC_USHORT},  {"u", NC_UINT},   {"ul", NC_UINT},   {"ll", NC_INT64},
    {"ull", NC_UINT64}, {"bu", NC_UBYTE}, {"su", NC_USHORT}, {"lu", NC_UINT},
    {"llu", NC_UINT64},
};

int cdl_number_put(const struct cdl_number *n, int type, void *x)
{
    unsigned char fill[8];
    if (type == NC_CHAR && n->quoted) {
        *(char *)x = (char)n->value.i;
        return NC_NOERR;
    }
    cdf_default_fill(type, fill);
    if (n->minus_zero && (type == NC_FLOAT || type == NC_DOUBLE))
        return conv_put(x, type, &(double){-0.0}, CONV_DOUBLE, 1, fill);
    return conv_put(x, type, &n->value, n->kind, 1, fill);
}

static bool is_word(const char *start, const char *end, const char *word)
{
    size_t length = (size_t)(end - start);
    return strlen(word) == length && strncasecmp(start, word, length) == 0;
}

/* Returns the type that a suffix denotes, 0 if there is no suffix, or -1 if it is
 * invalid. */
static int suffix_type(const char *start, const char *end)
{
    if (start == end) return 0;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (is_word(start, end, suffixes[i].suffix)) return suffixes[i].type;
    return -1;
}

struct cdl_number cdl_special(const char *text)
{
    bool negative = *text == '-', sign = negative || *text == '+';
    const char *name = text + sign;
    bool nan = (*name | 32) == 'n';
    /* The f in "inf" is not a suffix. */
    size_t length = strlen(name);
    bool single = (name[length - 1] | 32) == 'f' && length != (nan ? 0 : 3);
    double value = nan ? NAN : negative ? -INFINITY : INFINITY;
    return (struct cdl_number){
        single ? NC_FLOAT : NC_DOUBLE, CONV_DOUBLE, false, false, {.d = value}};
}

/* Returns the type of an integer without a suffix, as in ncgen: int if the value fits,
 * otherwise int64 if it is negative, otherwise uint or uint64. */
static int smallest_type(const struct cdl_number *n)
{
    if (n->kind == CONV_ULONGLONG) return NC_UINT64;
    if (n->value.i < 0) return n->value.i < INT32_MIN ? NC_INT64 : NC_INT;
    if (n->value.i <= INT32_MAX) return NC_INT;
    return n->value.i <= UINT32_MAX ? NC_UINT : NC_UINT64;
}

/* Parses digits and returns their end. Sets errno if the number is too large. */
static const char *read_integer(const char *p, bool negative, struct cdl_number *n)
{
    bool hex = p[0] == '0' && (p[1] | 32) == 'x';
    char *end;
    uint64_t size = strtoull(p, &end, hex ? 16 : *p == '0' ? 8 : 10);
    n->kind = size > INT64_MAX && !negative ? CONV_ULONGLONG : CONV_LONGLONG;
    if (n->kind == CONV_ULONGLONG)
        n->value.u = size;
    else
        n->value.i = (int64_t)(negative ? -size : size);
    if (negative && size > (uint64_t)INT64_MAX + 1) errno = ERANGE;
    n->minus_zero = negative && size == 0;
    n->type = smallest_type(n);
    return end;
}

/* Checks the range of a value. A signed byte may be written as an unsigned number. */
static int check_range(struct cdl_number *n)
{
    unsigned char x[8];
    if (n->type == NC_BYTE && n->value.i > INT8_MAX && n->value.i <= UINT8_MAX)
        n->value.i -= UINT8_MAX + 1;
    return errno == ERANGE ? NC_ERANGE : cdl_number_put(n, n->type, x);
}

int cdl_integer(const char *text, struct cdl_number *n)
{
    *n = (struct cdl_number){0};
    errno = 0;
    const char *digits = text + (*text == '-' || *text == '+');
    const char *end = read_integer(digits, *text == '-', n);
    int type = suffix_type(end, end + strlen(end));
    if (type < 0) return NC_ENOTNC;
    if (type > 0) n->type = type;
    return check_range(n);
}

/* Parses a real number. A float is rounded only once, directly from the text. Underflow
 * is not an error. */
int cdl_real(const struct cdl_reader *r, const char *text, int length,
             struct cdl_number *n)
{
    bool single = (text[length - 1] | 32) == 'f';
    *n = (struct cdl_number){
        single ? NC_FLOAT : NC_DOUBLE, CONV_DOUBLE, false, false, {0}};
    n->value.d = single ? (double)strtof_l(text, NULL, r->numbers)
                        : strtod_l(text, NULL, r->numbers);
    return isfinite(n->value.d) ? NC_NOERR : NC_ERANGE;
}
