/* Collects the values of an attribute: text, or numbers of one type. */
#include "cdl_values.h"

#include <string.h>

#include "base_error.h"
#include "base_mem.h"

/* Reserves `size` bytes after those in use. Returns NULL if out of memory. */
static char *reserve_bytes(struct cdl_values *v, size_t size)
{
    char *grown = base_grow(v->bytes, &v->capacity, (int64_t)(v->used + size), 1);
    if (grown == NULL) return NULL;
    v->bytes = grown;
    return v->bytes + v->used;
}

static bool is_real(int type)
{
    return type == NC_FLOAT || type == NC_DOUBLE;
}

/* Returns the type that represents values of both types: a real type if either is real,
 * otherwise the wider type. If both are equally wide, returns the unsigned type. */
static int common_type(int a, int b)
{
    if (is_real(a) != is_real(b)) return is_real(a) ? a : b;
    if (cdf_type_size(a) != cdf_type_size(b))
        return cdf_type_size(a) > cdf_type_size(b) ? a : b;
    return a > b ? a : b;
}

void cdl_values_begin(struct cdl_values *v)
{
    v->used = 0;
    v->type = 0;
    v->all_quoted = true;
}

int cdl_values_string(const struct cdl_reader *r, struct cdl_place at,
                      struct cdl_values *v)
{
    if (v->type != 0 && v->type != NC_CHAR)
        return cdl_fail(r, at, NC_ECHAR, "text in a list of numbers");
    v->type = NC_CHAR;
    return NC_NOERR;
}

int cdl_values_text(struct cdl_values *v, const char *bytes, size_t n)
{
    char *to = reserve_bytes(v, n);
    if (to == NULL) return NC_ENOMEM;
    memcpy(to, bytes, n);
    v->used += n;
    return NC_NOERR;
}

int cdl_values_number(const struct cdl_reader *r, struct cdl_place at,
                      struct cdl_values *v, const struct cdl_number *n)
{
    if (v->type == NC_CHAR) return cdl_fail(r, at, NC_ECHAR, "number after text");
    v->type = v->type == 0 ? n->type : common_type(v->type, n->type);
    v->all_quoted = v->all_quoted && n->quoted;
    return cdl_values_text(v, (const char *)n, sizeof *n);
}

int64_t cdl_values_count(const struct cdl_values *v)
{
    return (int64_t)(v->type == NC_CHAR ? v->used : v->used / sizeof(struct cdl_number));
}

int cdl_values_type(const struct cdl_values *v, int type)
{
    if (type == 0) return v->type == 0 ? NC_CHAR : v->type;
    if (v->used == 0 || (type == NC_CHAR) == (v->type == NC_CHAR)) return type;
    return type == NC_CHAR && v->all_quoted ? type : -1;
}

int cdl_values_write(const struct cdl_values *v, int type, void *x)
{
    int err = NC_NOERR;
    size_t size = (size_t)cdf_type_size(type);
    if (v->type == NC_CHAR) {
        if (v->used > 0) memcpy(x, v->bytes, v->used);
        return NC_NOERR;
    }
    for (int64_t i = 0; i < cdl_values_count(v) && err == NC_NOERR; i++) {
        struct cdl_number n;
        memcpy(&n, v->bytes + (size_t)i * sizeof n, sizeof n);
        err = cdl_number_put(&n, type, (char *)x + (size_t)i * size);
    }
    return err;
}

void cdl_values_free(struct cdl_values *v)
{
    base_free(v->bytes);
    *v = (struct cdl_values){0};
}
