/* Numbers: their types are told by suffixes, or by what the values need. */
#define _GNU_SOURCE
#include "cdl_scan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base_error.h"
#include "cdf.h"

static const struct {
    const char *suffix;
    int type;
} suffixes[] = {
    {"b", NC_BYTE},   {"s", NC_SHORT},  {"l", NC_INT},      {"f", NC_FLOAT},
    {"d", NC_DOUBLE}, {"ub", NC_UBYTE}, {"us", NC_USHORT},  {"u", NC_UINT},
    {"ul", NC_UINT},  {"ll", NC_INT64}, {"ull", NC_UINT64},
};

static const struct {
    const char *name;
    int type;
    double value;
} specials[] = {
    {"NaN", NC_DOUBLE, NAN},
    {"NaNf", NC_FLOAT, NAN},
    {"Infinity", NC_DOUBLE, INFINITY},
    {"Infinityf", NC_FLOAT, INFINITY},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_sign(char c)
{
    return c == '+' || c == '-';
}

/* Digits, or a sign or point in front of them; a sign in front of a name too. */
bool cdl_number_starts(const char *p)
{
    if (is_sign(*p)) return true;
    return is_digit(*p) || (*p == '.' && is_digit(p[1]));
}

int cdl_number_put(const struct cdl_number *n, int type, void *x)
{
    unsigned char fill[8];
    cdf_default_fill(type, fill);
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

static bool want_special(struct cdl_scan *s, const char *start)
{
    double sign = *s->start == '-' ? -1 : 1;
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        if (!is_word(start, s->at, specials[i].name)) continue;
        double value = isnan(specials[i].value) ? NAN : sign * specials[i].value;
        s->number =
            (struct cdl_number){specials[i].type, CONV_DOUBLE, false, {.d = value}};
        s->kind = CDL_NUMBER;
        return true;
    }
    return false;
}

bool cdl_want_number(struct cdl_scan *s)
{
    return s->kind == CDL_NUMBER || (s->kind == CDL_NAME && want_special(s, s->start));
}

/* Has the number that goes on at p, without its sign, a point, an exponent or a suffix
 * that makes it real? */
static bool is_real(const char *p, const char *end)
{
    p += strspn(p, "0123456789");
    return p < end && strchr(".eEfFdD", *p) != NULL;
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
    n->type = least_type(n);
    return end;
}

/* Returns where the number ends, its suffix left out. A float is rounded only once. */
static const char *read_real(const struct cdl_scan *s, struct cdl_number *n)
{
    char *end;
    n->kind = CONV_DOUBLE;
    n->type = NC_DOUBLE;
    n->value.d = strtod_l(s->start, &end, s->numbers);
    if (suffix_type(end, s->at) == NC_FLOAT)
        n->value.d = strtof_l(s->start, &end, s->numbers);
    if (isfinite(n->value.d)) errno = 0; /* too small is no error */
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

void cdl_scan_number(struct cdl_scan *s)
{
    const char *p = s->start + is_sign(*s->start);
    struct cdl_number *n = &s->number;
    s->at = p;
    while (cdl_is_name_byte((unsigned char)*s->at))
        s->at++;
    if (want_special(s, p)) return;

    *n = (struct cdl_number){0};
    s->kind = CDL_NUMBER;
    errno = 0;
    bool hex = p[0] == '0' && (p[1] | 32) == 'x';
    bool digits = is_digit(p[*p == '.']);
    bool real = digits && !hex && is_real(p, s->at);
    const char *end = !digits ? p
                      : real  ? read_real(s, n)
                              : read_integer(p, *s->start == '-', n);
    int type = digits ? suffix_type(end, s->at) : -1;
    if (type > 0) n->type = type;
    bool real_type = n->type == NC_FLOAT || n->type == NC_DOUBLE;
    int width = (int)(s->at - s->start < 40 ? s->at - s->start : 40);
    s->err = NC_NOERR;
    if (type < 0 || real_type != real)
        s->err = cdl_fail(s, s->start, NC_ENOTNC, "'%.*s' is no number", width, s->start);
    else if (check_range(n) != NC_NOERR)
        s->err = cdl_fail(s, s->start, NC_ERANGE, "'%.*s' is too large for its type",
                          width, s->start);
    if (s->err != NC_NOERR) s->kind = CDL_BAD;
}
