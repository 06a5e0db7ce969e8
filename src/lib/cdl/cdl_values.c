/* Values of attributes: text, or numbers that take one type. */
#include "cdl_values.h"

#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"

int cdl_check(const struct cdl_scan *s, const char *where, int err)
{
    char detail[256];
    if (err == NC_NOERR || err == NC_ENOMEM) return err;
    snprintf(detail, sizeof detail, "%s", base_error_detail(err));
    return cdl_fail(s, where, err, "%s",
                    detail[0] == '\0' ? base_error_name(err) : detail);
}

/* Room for `size` bytes more, behind those in use; NULL when memory is short. */
static char *more(struct cdl_values *v, size_t size)
{
    if (size > v->capacity - v->used) {
        size_t capacity = v->used + size + v->capacity / 2;
        char *grown = base_realloc(v->bytes, capacity);
        if (grown == NULL) return NULL;
        v->bytes = grown;
        v->capacity = capacity;
    }
    return v->bytes + v->used;
}

static bool is_real(int type)
{
    return type == NC_FLOAT || type == NC_DOUBLE;
}

/* The type for values of both types: real if one is, else the wider one, and of two as
 * wide the one without a sign. */
static int common_type(int a, int b)
{
    if (is_real(a) != is_real(b)) return is_real(a) ? a : b;
    if (cdf_type_size(a) != cdf_type_size(b))
        return cdf_type_size(a) > cdf_type_size(b) ? a : b;
    return a > b ? a : b;
}

static int add_text(struct cdl_scan *s, struct cdl_values *v)
{
    if (v->type != 0 && v->type != NC_CHAR)
        return cdl_fail(s, s->start, NC_ECHAR, "text among numbers");
    char *to = more(v, (size_t)(s->at - s->start));
    if (to == NULL) return NC_ENOMEM;
    v->used += cdl_string(s, to);
    v->type = NC_CHAR;
    return NC_NOERR;
}

static int add_number(struct cdl_scan *s, struct cdl_values *v)
{
    if (v->type == NC_CHAR)
        return cdl_fail(s, s->start, NC_ECHAR, "a number behind text");
    char *to = more(v, sizeof s->number);
    if (to == NULL) return NC_ENOMEM;
    memcpy(to, &s->number, sizeof s->number);
    v->used += sizeof s->number;
    v->type = v->type == 0 ? s->number.type : common_type(v->type, s->number.type);
    v->all_quoted = v->all_quoted && s->number.quoted;
    return NC_NOERR;
}

int cdl_values_read(struct cdl_scan *s, struct cdl_values *v)
{
    v->used = 0;
    v->type = 0;
    v->all_quoted = true;
    if (s->kind == ';') return NC_NOERR;
    for (;; cdl_next(s)) {
        int err;
        if (s->kind == CDL_STRING)
            err = add_text(s, v);
        else if (cdl_want_number(s))
            err = add_number(s, v);
        else
            err = cdl_unexpected(s, "a value");
        if (err != NC_NOERR) return err;
        cdl_next(s);
        if (s->kind != ',') return NC_NOERR;
    }
}

static struct cdl_number number_at(const struct cdl_values *v, size_t i)
{
    struct cdl_number n;
    memcpy(&n, v->bytes + i * sizeof n, sizeof n);
    return n;
}

static int put_numbers(const struct cdl_values *v, int type, char *x)
{
    int err = NC_NOERR;
    size_t size = (size_t)cdf_type_size(type);
    for (size_t i = 0; i < v->used / sizeof(struct cdl_number) && err == NC_NOERR; i++) {
        struct cdl_number n = number_at(v, i);
        if (type == NC_CHAR)
            x[i] = (char)n.value.i;
        else
            err = cdl_number_put(&n, type, x + i * size);
    }
    return err;
}

int cdl_values_store(const struct cdl_scan *s, const char *where,
                     const struct cdl_values *v, struct cdf_header *h, int varid,
                     const char *name, int type)
{
    bool text = v->type == NC_CHAR;
    void *x;
    if (type == 0) type = v->type == 0 ? NC_CHAR : v->type;
    if (v->used > 0 && (type == NC_CHAR) != (text || v->all_quoted))
        if (text || type == NC_CHAR)
            return cdl_fail(s, where, NC_ECHAR, "attribute '%.80s' takes %s", name,
                            text ? "numbers, not text" : "text, not numbers");
    size_t count = text ? v->used : v->used / sizeof(struct cdl_number);
    int err = cdf_put_att(h, varid, name, type, (int64_t)count, &x);
    if (err != NC_NOERR) return cdl_check(s, where, err);
    if (text && count > 0) memcpy(x, v->bytes, count);
    if (!text && put_numbers(v, type, x) != NC_NOERR)
        return cdl_fail(s, where, NC_ERANGE,
                        "a value of attribute '%.80s' is out of its type's range", name);
    return NC_NOERR;
}

void cdl_values_free(struct cdl_values *v)
{
    base_free(v->bytes);
    *v = (struct cdl_values){0};
}
