/* Numbers: their types are told by suffixes, or by what the values need. */
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
    {"b", NC_BYTE},   {"s", NC_SHORT},   {"l", NC_INT},
    {"ub", NC_UBYTE}, {"us", NC_USHORT}, {"u", NC_UINT},
    {"ul", NC_UINT},  {"ll", NC_INT64},  {"ull", NC_UINT64},
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

/* The type that a suffix stands for; 0 if there is no suffix, -1 if it is none. */
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
    /* The f of "inf" is its own. */
    size_t length = strlen(name);
    bool single = (name[length - 1] | 32) == 'f' && length != (nan ? 0 : 3);
    double value = nan ? NAN : negative ? -INFINITY : INFINITY;
    return (struct cdl_number){
        single ? NC_FLOAT : NC_DOUBLE, CONV_DOUBLE, false, false, {.d = value}};
}

/* The type of an integer without a suffix: the least of int, uint, int64 and uint64, as
 * ncgen has it. */
static int least_type(const struct cdl_number *n)
{
    if (n->kind == CONV_ULONGLONG) return NC_UINT64;
    if (n->value.i < 0) return n->value.i < INT32_MIN ? NC_INT64 : NC_INT;
    if (n->value.i <= INT32_MAX) return NC_INT;
    return n->value.i <= UINT32_MAX ? NC_UINT : NC_UINT64;
}

/* Returns where the digits end; errno tells of a number too large. */
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
    n->type = least_type(n);
    return end;
}

/* A byte may be written without a sign. */
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

/* A float is rounded only once. Too small is no error. */
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
