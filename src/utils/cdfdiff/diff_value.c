/* Compares values of all types. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "conv.h"
#include "diff.h"
#include "util_number.h"

enum { BLOCK = 4096 }; /* number of bytes per memcmp; equal blocks are skipped */

static bool is_real(int type)
{
    return type == NC_FLOAT || type == NC_DOUBLE;
}

static double real_of(int type, const union diff_value *v)
{
    return type == NC_FLOAT ? (double)v->f : v->d;
}

/* Returns an integer's bits, extended to 64. */
static uint64_t bits_of(int type, const union diff_value *v)
{
    switch (type) {
    case NC_BYTE:
        return (uint64_t)v->b;
    case NC_CHAR:
    case NC_UBYTE:
        return v->ub;
    case NC_SHORT:
        return (uint64_t)v->s;
    case NC_USHORT:
        return v->us;
    case NC_INT:
        return (uint64_t)v->i;
    case NC_UINT:
        return v->ui;
    case NC_INT64:
        return (uint64_t)v->i64;
    default:
        return v->u64;
    }
}

double diff_number(int type, const union diff_value *v)
{
    if (is_real(type)) return real_of(type, v);
    const uint64_t bits = bits_of(type, v);
    return type == NC_UINT64 ? (double)bits : (double)(int64_t)bits;
}

/* Returns the difference between two integers of the same type, and stores their
 * magnitudes in size[]. The difference is exact until it is converted to double, because
 * it fits in an unsigned 64-bit integer. */
static double integer_distance(int type, const union diff_value v[2], double size[2])
{
    uint64_t a = bits_of(type, &v[0]), b = bits_of(type, &v[1]);
    bool less = a < b;
    size[0] = (double)a;
    size[1] = (double)b;
    if (type != NC_UINT64) {
        less = (int64_t)a < (int64_t)b;
        size[0] = fabs((double)(int64_t)a);
        size[1] = fabs((double)(int64_t)b);
    }
    return (double)(less ? b - a : a - b);
}

/* Returns the difference between two values, and stores the larger magnitude in *size.
 * The difference between NaN and a number is infinite, and so is the difference between
 * an infinity and any other value. */
static double distance(int type, const union diff_value v[2], bool nan_differs,
                       double *size)
{
    if (!is_real(type)) {
        double magnitude[2], apart = integer_distance(type, v, magnitude);
        *size = magnitude[0] > magnitude[1] ? magnitude[0] : magnitude[1];
        return apart;
    }
    double a = real_of(type, &v[0]), b = real_of(type, &v[1]);
    *size = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
    if (isnan(a) && isnan(b)) return nan_differs ? (double)INFINITY : 0;
    if (a == b) return 0;
    double apart = fabs(a - b);
    return isnan(apart) ? (double)INFINITY : apart;
}

static bool is_tolerated(const struct diff_tolerance *t, double apart, double size)
{
    if (apart == 0 || apart <= t->absolute) return true;
    return isfinite(apart) && isfinite(size) && apart <= t->relative * size;
}

static void add_difference(struct diff_result *r, const union diff_value v[2],
                           double apart, int64_t element)
{
    struct diff_place place = {element, {v[0], v[1]}, apart};
    r->differing++;
    if (r->first.element < 0 || element < r->first.element) r->first = place;
    if (r->largest.element < 0 || apart > r->largest.distance) r->largest = place;
}

void diff_values(struct diff_result *r, struct diff_map *map, int type,
                 const struct diff_tolerance *t, bool nan_differs,
                 const void *const both[2], int64_t n, int64_t element)
{
    const size_t size = (size_t)cdf_type_size(type);
    const int64_t block = BLOCK / (int64_t)size;
    const bool look = nan_differs && is_real(type);
    const char *x = both[0], *y = both[1];
    r->compared += n;
    for (int64_t from = 0; from < n; from += block) {
        int64_t end = from + block < n ? from + block : n;
        size_t at = (size_t)from * size;
        if (!look && memcmp(x + at, y + at, (size_t)(end - from) * size) == 0) continue;
        for (int64_t i = from; i < end; i++) {
            union diff_value v[2];
            double magnitude;
            at = (size_t)i * size;
            if (!look && memcmp(x + at, y + at, size) == 0) continue;
            memcpy(&v[0], x + at, size);
            memcpy(&v[1], y + at, size);
            double apart = distance(type, v, nan_differs, &magnitude);
            if (is_tolerated(t, apart, magnitude)) continue;
            add_difference(r, v, apart, element + i);
            if (map != NULL) diff_map_add(map, element + i, apart);
        }
    }
}

void diff_value_load(union diff_value *v, int type, const void *external)
{
    *v = (union diff_value){0};
    conv_get(v, (enum conv_type)conv_type_of(type), external, type, 1);
}

static void put_real(char *text, int type, const union diff_value *v)
{
    double value = real_of(type, v);
    if (!isfinite(value))
        strcpy(text, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    else
        *util_put_real(text, value, type == NC_FLOAT ? 9 : 17) = '\0';
}

void diff_value_text(char text[DIFF_TEXT], int type, const union diff_value *v)
{
    if (type == NC_CHAR && isprint(v->ub))
        snprintf(text, DIFF_TEXT, "'%c'", v->ub);
    else if (type == NC_CHAR)
        snprintf(text, DIFF_TEXT, "'\\%03o'", v->ub);
    else if (is_real(type))
        put_real(text, type, v);
    else if (type == NC_UINT64)
        *util_put_uint(text, v->u64) = '\0';
    else
        *util_put_int(text, (int64_t)bits_of(type, v)) = '\0';
}
