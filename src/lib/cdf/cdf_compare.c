/* Are two headers of one mind? Each difference has its code and its sentence. */
#include "cdf_impl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "pnetcdf_constants.h"

/* Where the sentence goes. */
struct report {
    char *text;
    size_t size;
};

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static int
differ(struct report *r, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (r->size > 0) vsnprintf(r->text, r->size, format, args);
    va_end(args);
    return code;
}

static int compare_dims(struct report *r, const struct cdf_header *mine,
                        const struct cdf_header *theirs)
{
    if (mine->ndims != theirs->ndims)
        return differ(r, NC_EMULTIDEFINE_DIM_NUM,
                      "there are %d dimensions here, %d on process 0", mine->ndims,
                      theirs->ndims);
    for (int i = 0; i < mine->ndims; i++) {
        const struct cdf_dim *a = &mine->dims[i], *b = &theirs->dims[i];
        if (strcmp(a->name, b->name) != 0)
            return differ(r, NC_EMULTIDEFINE_DIM_NAME,
                          "dimension %d is '%s' here, '%s' on process 0", i, a->name,
                          b->name);
        if (a->length != b->length)
            return differ(r, NC_EMULTIDEFINE_DIM_SIZE,
                          "dimension '%s' has length %lld here, %lld on process 0",
                          a->name, (long long)a->length, (long long)b->length);
    }
    return NC_NOERR;
}

/* ---- attributes ---- */

/* One value of an attribute as a person writes it; text as far as it fits. */
static void show_value(const struct cdf_att *a, int64_t i, char *out, size_t size)
{
    const unsigned char *p =
        (const unsigned char *)a->values + i * cdf_type_size(a->type);
    uint32_t bits32 = 0;
    uint64_t bits64 = 0;
    float f;
    double d;
    if (cdf_type_size(a->type) == 4) bits32 = cdf_load32(p);
    if (cdf_type_size(a->type) == 8) bits64 = cdf_load64(p);
    memcpy(&f, &bits32, sizeof f);
    memcpy(&d, &bits64, sizeof d);
    switch (a->type) {
    case NC_BYTE:
        snprintf(out, size, "%d", (signed char)p[0]);
        break;
    case NC_UBYTE:
        snprintf(out, size, "%u", p[0]);
        break;
    case NC_SHORT:
        snprintf(out, size, "%d", (int16_t)(p[0] << 8 | p[1]));
        break;
    case NC_USHORT:
        snprintf(out, size, "%u", (unsigned)(p[0] << 8 | p[1]));
        break;
    case NC_INT:
        snprintf(out, size, "%" PRId32, (int32_t)bits32);
        break;
    case NC_UINT:
        snprintf(out, size, "%" PRIu32, bits32);
        break;
    case NC_FLOAT:
        snprintf(out, size, "%.9g", f);
        break;
    case NC_DOUBLE:
        snprintf(out, size, "%.17g", d);
        break;
    case NC_INT64:
        snprintf(out, size, "%" PRId64, (int64_t)bits64);
        break;
    case NC_UINT64:
        snprintf(out, size, "%" PRIu64, bits64);
        break;
    default:
        snprintf(out, size, "'%.*s'", (int)a->nelems, (const char *)a->values);
    }
}

static int differ_in_value(struct report *r, int varid, const char *owner,
                           const struct cdf_att *a, const struct cdf_att *b)
{
    const int size = cdf_type_size(a->type);
    const unsigned char *p = a->values, *q = b->values;
    int64_t i = 0;
    while (memcmp(p + i * size, q + i * size, (size_t)size) == 0)
        i++;
    char here[64], there[64];
    show_value(a, i, here, sizeof here);
    show_value(b, i, there, sizeof there);
    bool fill = varid != NC_GLOBAL && strcmp(a->name, NC_FillValue) == 0;
    return differ(
        r, fill ? NC_EMULTIDEFINE_VAR_FILL_VALUE : NC_EMULTIDEFINE_ATTR_VAL,
        "attribute '%s' of %s differs in element %lld: %s here, %s on process 0", a->name,
        owner, (long long)i, here, there);
}

static int compare_att(struct report *r, int varid, const char *owner, int id,
                       const struct cdf_att *a, const struct cdf_att *b)
{
    if (strcmp(a->name, b->name) != 0)
        return differ(r, NC_EMULTIDEFINE_ATTR_NAME,
                      "attribute %d of %s is '%s' here, '%s' on process 0", id, owner,
                      a->name, b->name);
    if (a->type != b->type)
        return differ(r, NC_EMULTIDEFINE_ATTR_TYPE,
                      "attribute '%s' of %s has type %d here, %d on process 0", a->name,
                      owner, a->type, b->type);
    if (a->nelems != b->nelems)
        return differ(r, NC_EMULTIDEFINE_ATTR_LEN,
                      "attribute '%s' of %s has length %lld here, %lld on process 0",
                      a->name, owner, (long long)a->nelems, (long long)b->nelems);
    size_t bytes = (size_t)a->nelems * (size_t)cdf_type_size(a->type);
    if (bytes == 0 || memcmp(a->values, b->values, bytes) == 0) return NC_NOERR;
    return differ_in_value(r, varid, owner, a, b);
}

static int compare_atts(struct report *r, int varid, const char *owner,
                        const struct cdf_atts *a, const struct cdf_atts *b)
{
    if (a->count != b->count)
        return differ(r, NC_EMULTIDEFINE_ATTR_NUM,
                      "%s has %d attributes here, %d on process 0", owner, a->count,
                      b->count);
    for (int i = 0; i < a->count; i++) {
        int err = compare_att(r, varid, owner, i, &a->list[i], &b->list[i]);
        if (err != NC_NOERR) return err;
    }
    return NC_NOERR;
}

/* ---- variables ---- */

static int compare_dimids(struct report *r, const struct cdf_var *a,
                          const struct cdf_var *b)
{
    if (a->ndims != b->ndims)
        return differ(r, NC_EMULTIDEFINE_VAR_NDIMS,
                      "variable '%s' has %d dimensions here, %d on process 0", a->name,
                      a->ndims, b->ndims);
    for (int i = 0; i < a->ndims; i++)
        if (a->dimids[i] != b->dimids[i])
            return differ(r, NC_EMULTIDEFINE_VAR_DIMIDS,
                          "dimension %d of variable '%s' has id %d here, %d on process 0",
                          i, a->name, a->dimids[i], b->dimids[i]);
    return NC_NOERR;
}

static int compare_var(struct report *r, int id, const struct cdf_var *a,
                       const struct cdf_var *b)
{
    char owner[NC_MAX_NAME + 16];
    if (strcmp(a->name, b->name) != 0)
        return differ(r, NC_EMULTIDEFINE_VAR_NAME,
                      "variable %d is '%s' here, '%s' on process 0", id, a->name,
                      b->name);
    if (a->type != b->type)
        return differ(r, NC_EMULTIDEFINE_VAR_TYPE,
                      "variable '%s' has type %d here, %d on process 0", a->name, a->type,
                      b->type);
    int err = compare_dimids(r, a, b);
    if (err != NC_NOERR) return err;
    snprintf(owner, sizeof owner, "variable '%s'", a->name);
    err = compare_atts(r, id, owner, &a->atts, &b->atts);
    if (err != NC_NOERR) return err;
    if (a->begin != b->begin)
        return differ(r, NC_EMULTIDEFINE_VAR_BEGIN,
                      "variable '%s' starts at byte %lld here, %lld on process 0",
                      a->name, (long long)a->begin, (long long)b->begin);
    return NC_NOERR;
}

static int compare_vars(struct report *r, const struct cdf_header *mine,
                        const struct cdf_header *theirs)
{
    if (mine->nvars != theirs->nvars)
        return differ(r, NC_EMULTIDEFINE_VAR_NUM,
                      "there are %d variables here, %d on process 0", mine->nvars,
                      theirs->nvars);
    for (int i = 0; i < mine->nvars; i++) {
        int err = compare_var(r, i, &mine->vars[i], &theirs->vars[i]);
        if (err != NC_NOERR) return err;
    }
    return NC_NOERR;
}

int cdf_compare(const struct cdf_header *mine, const struct cdf_header *theirs,
                char *text, size_t size)
{
    struct report r = {text, size};
    if (size > 0) text[0] = '\0';
    if (mine->format != theirs->format)
        return differ(&r, NC_EMULTIDEFINE_CMODE,
                      "the file's format is CDF-%d here, CDF-%d on process 0",
                      mine->format, theirs->format);
    int err = compare_dims(&r, mine, theirs);
    if (err == NC_NOERR)
        err = compare_atts(&r, NC_GLOBAL, "the dataset", &mine->gatts, &theirs->gatts);
    if (err == NC_NOERR) err = compare_vars(&r, mine, theirs);
    return err;
}
