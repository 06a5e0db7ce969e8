/* Compares two headers. Each kind of difference has an error code and a message. */
#include "cdf_impl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "pnetcdf_constants.h"

/* Reports a fatal difference, whose message replaces all others. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static int
differ(struct cdf_difference *d, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(d->text, sizeof d->text, format, args);
    va_end(args);
    return code;
}

/* Reports a difference between attributes, whose message is appended if it fits. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void
note(struct cdf_difference *d, int code, const char *format, ...)
{
    char one[sizeof d->text];
    size_t used = strlen(d->text), room = sizeof d->text - used;
    va_list args;
    va_start(args, format);
    vsnprintf(one, sizeof one, format, args);
    va_end(args);
    if (d->atts++ == 0) d->att_code = code;
    if (used == 0 || strlen(one) + sizeof "; " <= room)
        snprintf(d->text + used, room, "%s%s", used > 0 ? "; " : "", one);
}

static int compare_dims(struct cdf_difference *d, const struct cdf_header *mine,
                        const struct cdf_header *theirs)
{
    if (mine->ndims != theirs->ndims)
        return differ(d, NC_EMULTIDEFINE_DIM_NUM,
                      "there are %d dimensions here, but %d on process 0", mine->ndims,
                      theirs->ndims);
    for (int i = 0; i < mine->ndims; i++) {
        const struct cdf_dim *a = &mine->dims[i], *b = &theirs->dims[i];
        if (strcmp(a->name, b->name) != 0)
            return differ(d, NC_EMULTIDEFINE_DIM_NAME,
                          "dimension %d is '%s' here, but '%s' on process 0", i, a->name,
                          b->name);
        if (a->length != b->length)
            return differ(d, NC_EMULTIDEFINE_DIM_SIZE,
                          "dimension '%s' has length %lld here, but %lld on process 0",
                          a->name, (long long)a->length, (long long)b->length);
    }
    return NC_NOERR;
}

/* ---- attributes ---- */

/* Prints value i of an attribute or, for text, as much of the text as fits. */
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

static void differ_in_value(struct cdf_difference *d, int varid, const char *owner,
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
    note(d, fill ? NC_EMULTIDEFINE_VAR_FILL_VALUE : NC_EMULTIDEFINE_ATTR_VAL,
         "attribute '%s' of %s differs in element %lld: %s here, but %s on process 0",
         a->name, owner, (long long)i, here, there);
}

static void compare_att(struct cdf_difference *d, int varid, const char *owner,
                        const struct cdf_att *a, const struct cdf_att *b)
{
    if (a->type != b->type) {
        note(d, NC_EMULTIDEFINE_ATTR_TYPE,
             "attribute '%s' of %s has type %d here, but %d on process 0", a->name, owner,
             a->type, b->type);
    } else if (a->nelems != b->nelems) {
        note(d, NC_EMULTIDEFINE_ATTR_LEN,
             "attribute '%s' of %s has length %lld here, but %lld on process 0", a->name,
             owner, (long long)a->nelems, (long long)b->nelems);
    } else if (!cdf_same_values(a, b)) {
        differ_in_value(d, varid, owner, a, b);
    }
}

static int compare_atts(struct cdf_difference *d, int varid, const char *owner,
                        const struct cdf_atts *a, const struct cdf_atts *b)
{
    if (a->count != b->count)
        return differ(d, NC_EMULTIDEFINE_ATTR_NUM,
                      "%s has %d attributes here, but %d on process 0", owner, a->count,
                      b->count);
    for (int i = 0; i < a->count; i++) {
        if (strcmp(a->list[i].name, b->list[i].name) != 0)
            return differ(d, NC_EMULTIDEFINE_ATTR_NAME,
                          "attribute %d of %s is '%s' here, but '%s' on process 0", i,
                          owner, a->list[i].name, b->list[i].name);
        compare_att(d, varid, owner, &a->list[i], &b->list[i]);
    }
    return NC_NOERR;
}

/* ---- variables ---- */

/* Compares the dimensions of two variables, given those of the dataset, which are equal.
 */
static int compare_dimids(struct cdf_difference *d, const struct cdf_dim *dims,
                          const struct cdf_var *a, const struct cdf_var *b)
{
    if (a->ndims != b->ndims)
        return differ(d, NC_EMULTIDEFINE_VAR_NDIMS,
                      "variable '%s' has %d dimensions here, but %d on process 0",
                      a->name, a->ndims, b->ndims);
    for (int i = 0; i < a->ndims; i++)
        if (a->dimids[i] != b->dimids[i])
            return differ(d, NC_EMULTIDEFINE_VAR_DIMIDS,
                          "variable '%s' has dimension '%s' here, but '%s' on process 0",
                          a->name, dims[a->dimids[i]].name, dims[b->dimids[i]].name);
    return NC_NOERR;
}

static int compare_var(struct cdf_difference *d, const struct cdf_dim *dims, int id,
                       const struct cdf_var *a, const struct cdf_var *b)
{
    char owner[NC_MAX_NAME + 16];
    if (strcmp(a->name, b->name) != 0)
        return differ(d, NC_EMULTIDEFINE_VAR_NAME,
                      "variable %d is '%s' here, but '%s' on process 0", id, a->name,
                      b->name);
    if (a->type != b->type)
        return differ(d, NC_EMULTIDEFINE_VAR_TYPE,
                      "variable '%s' has type %d here, but %d on process 0", a->name,
                      a->type, b->type);
    int err = compare_dimids(d, dims, a, b);
    if (err != NC_NOERR) return err;
    snprintf(owner, sizeof owner, "variable '%s'", a->name);
    err = compare_atts(d, id, owner, &a->atts, &b->atts);
    if (err != NC_NOERR) return err;
    return NC_NOERR;
}

static int compare_starts(struct cdf_difference *d, const struct cdf_header *mine,
                          const struct cdf_header *theirs)
{
    for (int i = 0; i < mine->nvars; i++) {
        const struct cdf_var *a = &mine->vars[i], *b = &theirs->vars[i];
        if (a->begin != b->begin)
            return differ(
                d, NC_EMULTIDEFINE_VAR_BEGIN,
                "variable '%s' starts at byte %lld here, but at %lld on process 0",
                a->name, (long long)a->begin, (long long)b->begin);
    }
    return NC_NOERR;
}

static int compare_vars(struct cdf_difference *d, const struct cdf_header *mine,
                        const struct cdf_header *theirs)
{
    if (mine->nvars != theirs->nvars)
        return differ(d, NC_EMULTIDEFINE_VAR_NUM,
                      "there are %d variables here, but %d on process 0", mine->nvars,
                      theirs->nvars);
    for (int i = 0; i < mine->nvars; i++) {
        int err = compare_var(d, mine->dims, i, &mine->vars[i], &theirs->vars[i]);
        if (err != NC_NOERR) return err;
    }
    return NC_NOERR;
}

int cdf_compare(const struct cdf_header *mine, const struct cdf_header *theirs,
                struct cdf_difference *d)
{
    *d = (struct cdf_difference){0};
    if (mine->format != theirs->format)
        return differ(d, NC_EMULTIDEFINE_CMODE,
                      "the file format is CDF-%d here, but CDF-%d on process 0",
                      mine->format, theirs->format);
    int err = compare_dims(d, mine, theirs);
    if (err == NC_NOERR)
        err = compare_atts(d, NC_GLOBAL, "the dataset", &mine->gatts, &theirs->gatts);
    if (err == NC_NOERR) err = compare_vars(d, mine, theirs);
    if (err == NC_NOERR && mine->size == theirs->size)
        err = compare_starts(d, mine, theirs);
    return err;
}
