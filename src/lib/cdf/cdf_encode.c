/* Encodes the model as the bytes of a header. */
#include "cdf_impl.h"

#include "base_require.h"

/* ---- sizes ---- */

static int64_t name_size(int width, const char *name)
{
    return width + cdf_pad4((int64_t)strlen(name));
}

static int64_t atts_size(int width, const struct cdf_atts *atts)
{
    int64_t size = 4 + width;
    for (int i = 0; i < atts->count; i++) {
        const struct cdf_att *a = &atts->list[i];
        size += name_size(width, a->name) + 4 + width;
        size += cdf_pad4(a->nelems * cdf_type_size(a->type));
    }
    return size;
}

int64_t cdf_encoded_size(const struct cdf_header *h)
{
    const int width = cdf_count_width(h->format);
    const int var_fixed = width + 4 + width + cdf_offset_width(h->format);

    int64_t size = 4 + width;
    size += 4 + width;
    for (int i = 0; i < h->ndims; i++)
        size += name_size(width, h->dims[i].name) + width;
    size += atts_size(width, &h->gatts);
    size += 4 + width;
    for (int i = 0; i < h->nvars; i++) {
        const struct cdf_var *v = &h->vars[i];
        size += name_size(width, v->name) + (int64_t)v->ndims * width;
        size += atts_size(width, &v->atts) + var_fixed;
    }
    return size;
}

/* ---- bytes ---- */

static unsigned char *put_count(int format, unsigned char *p, int64_t n)
{
    return format == 5 ? cdf_store64(p, (uint64_t)n) : cdf_store32(p, (uint32_t)n);
}

/* Writes bytes, padded with NUL to a multiple of 4. */
static unsigned char *put_bytes(unsigned char *p, const void *bytes, size_t n)
{
    size_t padded = (n + 3) / 4 * 4;
    if (padded == 0) return p;
    memset(p + padded - 4, 0, 4);
    memcpy(p, bytes, n);
    return p + padded;
}

static unsigned char *put_name(int format, unsigned char *p, const char *name)
{
    size_t length = strlen(name);
    p = put_count(format, p, (int64_t)length);
    return put_bytes(p, name, length);
}

/* Writes the tag and the count of a list. An empty list has the tag ABSENT. */
static unsigned char *put_list(int format, unsigned char *p, uint32_t tag, int count)
{
    p = cdf_store32(p, count == 0 ? CDF_TAG_ABSENT : tag);
    return put_count(format, p, count);
}

static unsigned char *put_atts(int format, unsigned char *p, const struct cdf_atts *atts)
{
    p = put_list(format, p, CDF_TAG_ATTS, atts->count);
    for (int i = 0; i < atts->count; i++) {
        const struct cdf_att *a = &atts->list[i];
        p = put_name(format, p, a->name);
        p = cdf_store32(p, (uint32_t)a->type);
        p = put_count(format, p, a->nelems);
        p = put_bytes(p, a->values, (size_t)a->nelems * (size_t)cdf_type_size(a->type));
    }
    return p;
}

static unsigned char *put_var(int format, unsigned char *p, const struct cdf_var *v)
{
    (void)base_holds(v->begin >= 0 && (format != 1 || v->begin <= UINT32_MAX));
    p = put_name(format, p, v->name);
    p = put_count(format, p, v->ndims);
    for (int i = 0; i < v->ndims; i++)
        p = put_count(format, p, v->dimids[i]);
    p = put_atts(format, p, &v->atts);
    p = cdf_store32(p, (uint32_t)v->type);
    /* A size too large for the field is stored as the field's maximum. */
    p = put_count(format, p,
                  format != 5 && v->size > UINT32_MAX ? (int64_t)UINT32_MAX : v->size);
    return format == 1 ? cdf_store32(p, (uint32_t)v->begin)
                       : cdf_store64(p, (uint64_t)v->begin);
}

void cdf_encode(const struct cdf_header *h, unsigned char *bytes)
{
    const int format = h->format;
    unsigned char *p = bytes;
    memcpy(p, "CDF", 3);
    p[3] = (unsigned char)format;
    p = put_count(format, p + 4, h->numrecs);
    p = put_list(format, p, CDF_TAG_DIMS, h->ndims);
    for (int i = 0; i < h->ndims; i++) {
        p = put_name(format, p, h->dims[i].name);
        p = put_count(format, p, h->dims[i].length);
    }
    p = put_atts(format, p, &h->gatts);
    p = put_list(format, p, CDF_TAG_VARS, h->nvars);
    for (int i = 0; i < h->nvars; i++)
        p = put_var(format, p, &h->vars[i]);
    (void)base_holds(p - bytes <= h->size);
}

int cdf_encode_numrecs(int format, int64_t numrecs, unsigned char *field)
{
    return (int)(put_count(format, field, numrecs) - field);
}

int64_t cdf_decode_numrecs(int format, const unsigned char *head)
{
    enum { NUMRECS = 4 };
    unsigned char field[8];
    int width = cdf_encode_numrecs(format, 0, field);
    uint64_t records = 0, streaming = UINT64_MAX >> (64 - 8 * width);
    for (int i = 0; i < width; i++)
        records = records << 8 | head[NUMRECS + i];
    return records == streaming || records > INT64_MAX ? -1 : (int64_t)records;
}
