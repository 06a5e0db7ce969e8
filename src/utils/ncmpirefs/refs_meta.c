/* Writes Zarr's metadata for groups and arrays: JSON documents, stored as strings in the
 * references. */
#include <math.h>
#include <string.h>

#include "base_bytes.h"
#include "base_error.h"
#include "base_mem.h"
#include "conv.h"
#include "refs.h"
#include "util_message.h"
#include "util_number.h"

/* A JSON document under construction in memory. */
struct document {
    struct util_json j;
    struct util_out out;
};

static struct document *begin(void)
{
    struct document *d = base_malloc(sizeof *d);
    if (d == NULL) return NULL;
    util_out_init_memory(&d->out);
    util_json_start(&d->j, &d->out);
    d->j.compact = true;
    return d;
}

/* Ends the document and returns its text, to be freed with base_free. Returns NULL if out
 * of memory. */
static char *end(struct document *d, size_t *length)
{
    char *text = util_out_flush(&d->out) == 0 ? d->out.text : NULL;
    *length = d->out.length;
    if (text == NULL) base_free(d->out.text);
    base_free(d);
    return text;
}

char *refs_quoted(const char *text)
{
    size_t length;
    struct document *d = begin();
    if (d == NULL) return NULL;
    d->j.compact = false;
    util_json_text(&d->j, NULL, text);
    return end(d, &length);
}

/* Adds the document under "NAME/KEY", or "KEY" for the group. */
static int add_document(struct refs *r, const char *name, const char *key,
                        struct document *d)
{
    char path[NC_MAX_NAME + 16] = "";
    size_t length;
    char *text = d == NULL ? NULL : end(d, &length);
    if (text == NULL) {
        util_message(REFS_TOOL, NULL, -1, "%s", base_error_text(NC_ENOMEM));
        return -1;
    }
    if (name != NULL) strcat(strcpy(path, name), "/");
    strcat(path, key);
    util_json_string(&r->j, path, text, length);
    base_free(text);
    return 0;
}

/* ---- values ---- */

static const char *const types[] = {
    [NC_BYTE] = "|i1",  [NC_CHAR] = "|S1",   [NC_SHORT] = ">i2",  [NC_INT] = ">i4",
    [NC_FLOAT] = ">f4", [NC_DOUBLE] = ">f8", [NC_UBYTE] = "|u1",  [NC_USHORT] = ">u2",
    [NC_UINT] = ">u4",  [NC_INT64] = ">i8",  [NC_UINT64] = ">u8",
};

/* Returns the name of a non-finite number. The name is not valid JSON, but Python writes
 * such numbers in this form, and accepts no other. */
static const char *non_finite_name(double value)
{
    return isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

/* Writes a number in a form that preserves its type: 1.0 does not become 1. */
static void put_number(struct util_json *j, const char *name, int type, const char *from,
                       bool quoted)
{
    char text[UTIL_NUMBER_MAX + 4];
    double real = 0;
    long long whole = 0;
    if (type == NC_UINT64) {
        unsigned long long natural = 0;
        (void)conv_get(&natural, CONV_ULONGLONG, from, type, 1);
        *util_put_uint(text, natural) = '\0';
    } else if (type != NC_FLOAT && type != NC_DOUBLE) {
        (void)conv_get(&whole, CONV_LONGLONG, from, type, 1);
        *util_put_int(text, whole) = '\0';
    } else {
        (void)conv_get(&real, CONV_DOUBLE, from, type, 1);
        if (!isfinite(real) && quoted) {
            util_json_text(j, name, non_finite_name(real));
            return;
        }
        if (isfinite(real))
            *util_put_real(text, real, 17) = '\0';
        else
            strcpy(text, non_finite_name(real));
        if (strpbrk(text, ".eNI") == NULL) strcat(text, ".0");
    }
    util_json_raw(j, name, text);
}

/* ---- attributes ---- */

static bool put_text(struct util_json *j, const struct cdf_att *a)
{
    size_t n = (size_t)a->nelems;
    const char *text = a->values;
    while (n > 0 && text[n - 1] == '\0')
        n--;
    char *copy = base_malloc(n + 1);
    if (copy == NULL) return false;
    if (n > 0) memcpy(copy, text, n);
    copy[n] = '\0';
    util_json_string(j, a->name, copy, n);
    base_free(copy);
    return true;
}

static bool put_attribute(struct util_json *j, const struct cdf_att *a)
{
    int size = cdf_type_size(a->type);
    if (a->type == NC_CHAR) return put_text(j, a);
    if (a->nelems != 1) util_json_open(j, a->name, '[');
    for (int64_t i = 0; i < a->nelems; i++)
        put_number(j, a->nelems == 1 ? a->name : NULL, a->type,
                   (const char *)a->values + i * size, false);
    if (a->nelems != 1) util_json_close(j, ']');
    return true;
}

static const char dimensions_att[] = "_ARRAY_DIMENSIONS"; /* defined by xarray */

/* Returns the variable's _FillValue, which Zarr stores outside the attributes. */
static const struct cdf_att *fill_of(const struct cdf_var *v)
{
    for (int i = 0; i < v->atts.count; i++) {
        const struct cdf_att *a = &v->atts.list[i];
        if (strcmp(a->name, "_FillValue") == 0 && a->type == v->type && a->nelems == 1)
            return a;
    }
    return NULL;
}

static bool put_attributes(struct util_json *j, const struct cdf_atts *atts,
                           const struct cdf_att *but)
{
    bool good = true;
    for (int i = 0; i < atts->count && good; i++)
        if (&atts->list[i] != but && strcmp(atts->list[i].name, dimensions_att) != 0)
            good = put_attribute(j, &atts->list[i]);
    return good;
}

static void put_dimensions(const struct refs *r, struct util_json *j, const char *name,
                           const struct cdf_var *v)
{
    util_json_open(j, name, '[');
    for (int d = 0; d < v->ndims; d++)
        util_json_text(j, NULL, r->file.header.dims[v->dimids[d]].name);
    util_json_close(j, ']');
}

/* ---- Zarr 2 ---- */

static void put_lengths(struct util_json *j, const char *name, const int64_t *list, int n)
{
    util_json_open(j, name, '[');
    for (int d = 0; d < n; d++)
        util_json_int(j, NULL, list[d]);
    util_json_close(j, ']');
}

static void put_fill(struct util_json *j, const struct cdf_att *fill)
{
    char text[REFS_BASE64(1)];
    if (fill == NULL) {
        util_json_raw(j, "fill_value", "null");
    } else if (fill->type == NC_CHAR) {
        refs_base64(fill->values, 1, "", text);
        util_json_raw(j, "fill_value", text);
    } else {
        put_number(j, "fill_value", fill->type, fill->values, true);
    }
}

static struct document *array_of(const struct refs_var *p)
{
    struct document *d = begin();
    if (d == NULL) return NULL;
    struct util_json *j = &d->j;
    bool shuffled = p->compressed && p->size > 1;
    util_json_open(j, NULL, '{');
    util_json_int(j, "zarr_format", 2);
    put_lengths(j, "shape", p->shape, p->var->ndims);
    put_lengths(j, "chunks", p->chunk, p->var->ndims);
    util_json_text(j, "dtype", types[p->var->type]);
    put_fill(j, fill_of(p->var));
    util_json_text(j, "order", "C");
    util_json_raw(j, "compressor",
                  p->compressed ? "{\"id\": \"zstd\", \"level\": 1}" : "null");
    if (shuffled) {
        util_json_open(j, "filters", '[');
        util_json_open(j, NULL, '{');
        util_json_text(j, "id", "shuffle");
        util_json_int(j, "elementsize", p->size);
        util_json_close(j, '}');
        util_json_close(j, ']');
    } else {
        util_json_raw(j, "filters", "null");
    }
    util_json_close(j, '}');
    return d;
}

/* Adds the attributes of a variable, or of the group if v is NULL. */
static int add_attributes(struct refs *r, const struct cdf_var *v)
{
    const struct cdf_atts *atts = v == NULL ? &r->file.header.gatts : &v->atts;
    struct document *d = begin();
    if (d != NULL) {
        util_json_open(&d->j, NULL, '{');
        if (v != NULL) put_dimensions(r, &d->j, dimensions_att, v);
        if (!put_attributes(&d->j, atts, v == NULL ? NULL : fill_of(v)))
            d->out.error = NC_ENOMEM;
        util_json_close(&d->j, '}');
    }
    return add_document(r, v == NULL ? NULL : v->name, ".zattrs", d);
}

int refs_group(struct refs *r)
{
    struct document *d = begin();
    if (d != NULL) util_json_raw(&d->j, NULL, "{\"zarr_format\": 2}");
    return add_document(r, NULL, ".zgroup", d) == 0 ? add_attributes(r, NULL) : -1;
}

int refs_array(struct refs *r, const struct refs_var *p)
{
    if (add_document(r, p->var->name, ".zarray", array_of(p)) != 0) return -1;
    return add_attributes(r, p->var);
}
