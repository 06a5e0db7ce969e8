/* Checks a file against the format and reports all violations. cdf_decode.c finds errors
 * that prevent decoding. This file finds violations that decoding tolerates: in padding,
 * names, sizes, and the length of the file. */
#include "cdf_impl.h"

#include <stdarg.h>
#include <stdio.h>

#include "base_error.h"
#include "base_mem.h"

void cdf_validate_report(struct cdf_validator *e, const struct cdf_finding *f)
{
    if (e->report != NULL) e->report(e->to, f);
}

/* Formats the message of a finding and reports the finding. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void
report_finding(struct cdf_validator *e, struct cdf_finding f, const char *format, ...)
{
    char reason[320];
    va_list args;
    if (e->report == NULL) return;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    f.reason = reason;
    e->report(e->to, &f);
}

void cdf_validate_padding(struct cdf_validator *e, const unsigned char *bytes,
                          int64_t offset, int64_t n)
{
    for (int64_t i = n; i < cdf_pad4(n); i++)
        if (bytes[i] != 0) {
            struct cdf_finding f = {.offset = offset + i,
                                    .fix_length = (int)(cdf_pad4(n) - i)};
            report_finding(e, f, "padding is 0x%02x instead of NUL", bytes[i]);
            return;
        }
}

/* ---- names ---- */

void cdf_validate_name(struct cdf_validator *e, const unsigned char *bytes,
                       int64_t length, int64_t offset)
{
    char name[NC_MAX_NAME + 1], norm[NC_MAX_NAME + 1];
    int64_t end = (int64_t)strnlen((const char *)bytes, (size_t)length);
    struct cdf_finding f = {.offset = offset};
    memcpy(name, bytes, (size_t)end);
    name[end] = '\0';
    int err = cdf_check_name(name, norm);
    if (end < length)
        report_finding(e, (struct cdf_finding){.offset = offset + end},
                       "the name '%.80s' of %lld bytes contains a NUL", name,
                       (long long)length);
    else if (err == NC_ENOMEM)
        e->err = err;
    else if (err != NC_NOERR)
        report_finding(e, f, "%s", base_error_detail(err));
    else if (strcmp(name, norm) != 0) {
        f.note = true;
        report_finding(e, f, "the name '%.80s' is not in composed form (NFC)", name);
    }
}

static void check_unique_name(struct cdf_validator *e, struct base_names *names, int id,
                              base_names_text *text, const void *of, const char *what,
                              int64_t offset)
{
    if (id == 0) base_names_free(names);
    const char *name = text(of, id);
    int first = base_names_find(names, name, text, of);
    if (first >= 0)
        report_finding(e, (struct cdf_finding){.offset = offset},
                       "%s %d and %d have the same name '%.80s'", what, first, id, name);
    else if (base_names_add(names, name, id) != 0)
        e->err = NC_ENOMEM;
}

void cdf_validate_dim(struct cdf_validator *e, const struct cdf_header *h, int id,
                      int64_t name)
{
    check_unique_name(e, &e->objects, id, cdf_dim_text, h->dims, "dimensions", name);
}

static const char *name_of_att(const void *atts, int index)
{
    return ((const struct cdf_att *)atts)[index].name;
}

void cdf_validate_att(struct cdf_validator *e, const struct cdf_atts *atts, int id,
                      int64_t name)
{
    check_unique_name(e, &e->atts, id, name_of_att, atts->list, "attributes", name);
}

/* ---- variables ---- */

static int store_places(struct cdf_validator *e, int id,
                        const struct cdf_var_places *places)
{
    void *grown = base_grow(e->vars, &e->capacity, (int64_t)id + 1, sizeof *e->vars);
    if (grown == NULL) return NC_ENOMEM;
    e->vars = grown;
    e->vars[id] = *places;
    return NC_NOERR;
}

/* Compares vsize with the computed size. A size too large for the field is stored with
 * all bits set. The vsize of a record variable may omit the padding, since a single
 * record variable has no padding between records. */
static void check_vsize(struct cdf_validator *e, const struct cdf_header *h,
                        const struct cdf_var *v, const unsigned char *bytes,
                        int64_t offset)
{
    const int width = cdf_count_width(h->format);
    const unsigned char *field = bytes + offset;
    int64_t found = width == 4 ? cdf_load32(field) : (int64_t)cdf_load64(field);
    int64_t right = width == 4 && v->size > UINT32_MAX ? UINT32_MAX : v->size;
    if (found == right) return;
    if (v->is_record && found == v->nelems * cdf_type_size(v->type)) return;
    struct cdf_finding f = {.offset = offset, .fix_length = width};
    if (width == 4)
        cdf_store32(f.fix, (uint32_t)right);
    else
        cdf_store64(f.fix, (uint64_t)right);
    report_finding(e, f, "variable '%.80s': vsize is %lld instead of %lld", v->name,
                   (long long)found, (long long)right);
}

int cdf_validate_var(struct cdf_validator *e, const struct cdf_header *h,
                     const struct cdf_var_places *places, const unsigned char *bytes)
{
    const int id = h->nvars - 1;
    check_unique_name(e, &e->objects, id, cdf_var_text, h->vars, "variables",
                      places->name);
    if (places->known)
        check_vsize(e, h, &h->vars[id], bytes,
                    places->begin - cdf_count_width(h->format));
    return store_places(e, id, places);
}

void cdf_validate_free(struct cdf_validator *e, struct cdf_header *h, int varid)
{
    e->vars[varid].known = false;
    h->vars[varid].nelems = h->vars[varid].size = 0;
    h->vars[varid].begin = h->size;
}

/* ---- the data ---- */

static bool records_known(const struct cdf_validator *e, const struct cdf_header *h)
{
    for (int i = 0; i < h->nvars; i++)
        if (h->vars[i].is_record && !e->vars[i].known) return false;
    return true;
}

/* Returns the end of the first record's data, without the last variable's padding. */
static int64_t record_end(const struct cdf_header *h)
{
    int64_t end = h->begin_record;
    for (int i = 0; i < h->nvars; i++) {
        const struct cdf_var *v = &h->vars[i];
        int64_t bytes = v->nelems * cdf_type_size(v->type);
        if (v->is_record && bytes > 0 && v->begin + bytes > end) end = v->begin + bytes;
    }
    return end;
}

/* Returns the number of complete records in the file. */
static int64_t whole_records(const struct cdf_validator *e, const struct cdf_header *h)
{
    int64_t first_end = record_end(h);
    if (h->record_size <= 0 || e->file_size < first_end) return 0;
    int64_t n = (e->file_size - first_end) / h->record_size + 1;
    return n < cdf_max_records(h) ? n : cdf_max_records(h);
}

int cdf_validate_numrecs(struct cdf_validator *e, struct cdf_header *h, bool streaming)
{
    const bool known = records_known(e, h);
    const int64_t found = h->numrecs, whole = known ? whole_records(e, h) : 0;
    struct cdf_finding f = {.offset = 4, .note = streaming};
    const int64_t right = h->record_size > 0 ? whole : 0;
    if (known) f.fix_length = cdf_encode_numrecs(h->format, right, f.fix);
    h->numrecs = whole;
    if (streaming && !known)
        report_finding(e, f, "the number of records is indeterminate");
    else if (streaming)
        report_finding(e, f, "the number of records is indeterminate; the file has %lld",
                       (long long)whole);
    else if (found < 0) {
        f.code = NC_ENOTNC;
        report_finding(e, f, "the number of records is %lld", (long long)found);
    } else if (known && h->record_size > 0 && found > whole) {
        if (found > cdf_max_records(h)) f.code = NC_ENOTNC;
        report_finding(e, f, "the number of records is %lld, but the file has %lld",
                       (long long)found, (long long)whole);
    } else
        h->numrecs = found;
    return NC_NOERR;
}

/* Reports missing data, and bytes after the data. */
void cdf_validate_file_size(struct cdf_validator *e, const struct cdf_header *h)
{
    int64_t end = h->size;
    struct cdf_finding f = {.offset = e->file_size};
    bool known = records_known(e, h);
    for (int i = 0; i < h->nvars; i++) {
        const struct cdf_var *v = &h->vars[i];
        known &= e->vars[i].known;
        if (v->is_record || !e->vars[i].known) continue;
        int64_t v_end = v->begin + v->nelems * cdf_type_size(v->type);
        if (v->nelems > 0 && v_end > e->file_size)
            report_finding(
                e, f, "the file ends here, but variable '%.80s' extends to byte %lld",
                v->name, (long long)v_end);
        if (v->begin + v->size > end) end = v->begin + v->size;
    }
    if (!known) return;
    if (h->numrecs > 0 && h->record_size > 0)
        end = h->begin_record + h->numrecs * h->record_size;
    f.note = true;
    f.offset = cdf_pad4(end);
    if (e->file_size > f.offset && e->file_size < INT64_MAX)
        report_finding(e, f, "%lld bytes follow the data",
                       (long long)(e->file_size - f.offset));
}
