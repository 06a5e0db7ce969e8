/* Decodes the bytes of a header in one pass: the magic number, numrecs, and the lists of
 * dimensions, global attributes and variables. Then it computes and checks the layout. A
 * count is not trusted until the bytes that it implies are available, so memory and time
 * are proportional to the length. */
#include "cdf_impl.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"

/* The input and the current position. */
struct source {
    const unsigned char *bytes;
    size_t length, at;
    int64_t file_size;      /* at least length */
    int width;              /* width of a count in bytes, 4 or 8 */
    int64_t estimated_size; /* estimated length of the header */
    struct cdf_header *h;
    struct cdf_fault *fault;
    struct cdf_validator *validator; /* NULL if decoding stops at the first error */
    bool misplaced;                  /* the layout is not checked */
};

static int vfail(struct source *s, int code, size_t at, const char *format, va_list args)
{
    struct cdf_fault fault;
    vsnprintf(fault.reason, sizeof fault.reason, format, args);
    fault.offset = (int64_t)at;
    fault.estimated_size = 0;
    if (s->fault != NULL) *s->fault = fault;
    if (s->validator != NULL)
        cdf_validate_report(s->validator, &(struct cdf_finding){.code = code,
                                                                .offset = fault.offset,
                                                                .reason = fault.reason});
    return base_error_set(code, "%s, at byte %zu of the header", fault.reason, at);
}

/* Reports an error after which decoding cannot continue. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static int
fail(struct source *s, int code, size_t at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfail(s, code, at, format, args);
    va_end(args);
    return code;
}

/* Reports an error. In cdf_validate, returns NC_NOERR so that decoding continues. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static int
report_format_error(struct source *s, int code, size_t at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfail(s, code, at, format, args);
    va_end(args);
    return s->validator != NULL ? NC_NOERR : code;
}

/* ---- reading ---- */

/* Checks that n more bytes are available. If not, returns CDF_MORE if the file contains
 * them, otherwise an error. */
static int check_available(struct source *s, uint64_t n, const char *what)
{
    if (n <= s->length - s->at) return NC_NOERR;
    if (n <= (uint64_t)s->file_size - s->at) return CDF_MORE;
    return fail(s, NC_ENOTNC, s->at,
                "the file is truncated or corrupt: %s extends beyond its end", what);
}

/* Callers of get_u32 and get_wide must first check that the bytes are available. */
static uint32_t get_u32(struct source *s)
{
    uint32_t v = cdf_load32(s->bytes + s->at);
    s->at += 4;
    return v;
}

/* Reads a count without checking it: 32 bits, or 64 bits that may be negative. */
static int64_t get_wide(struct source *s)
{
    if (s->width == 4) return get_u32(s);
    int64_t v = (int64_t)cdf_load64(s->bytes + s->at);
    s->at += 8;
    return v;
}

/* Reads a count. Fails with `code` if the count is negative or exceeds `most`. */
static int get_count(struct source *s, const char *what, int64_t most, int code,
                     int64_t *n)
{
    int err = check_available(s, (uint64_t)s->width, what);
    if (err != NC_NOERR) return err;
    *n = get_wide(s);
    if (*n >= 0 && *n <= most) return NC_NOERR;
    return fail(s, code, s->at - (size_t)s->width, "%s is %lld, which is out of range",
                what, (long long)*n);
}

/* Sets *bytes to the next n bytes. Advances past these bytes and their padding. */
static int get_bytes(struct source *s, const char *what, int64_t n,
                     const unsigned char **bytes)
{
    int err = check_available(s, (uint64_t)cdf_pad4(n), what);
    if (err != NC_NOERR) return err;
    *bytes = s->bytes + s->at;
    if (s->validator != NULL && n % 4 != 0)
        cdf_validate_padding(s->validator, *bytes, (int64_t)s->at, n);
    s->at += (size_t)cdf_pad4(n);
    return NC_NOERR;
}

static int get_name(struct source *s, const char *what, const char **name)
{
    const unsigned char *bytes;
    int64_t length;
    int err = get_count(s, what, INT64_MAX - 3, NC_ENOTNC, &length);
    if (err != NC_NOERR) return err;
    if (length > NC_MAX_NAME)
        err = report_format_error(s, NC_ENOTNC, s->at - (size_t)s->width,
                                  "%s is %lld, but the maximum is %d", what,
                                  (long long)length, NC_MAX_NAME);
    if (err == NC_NOERR) err = get_bytes(s, "a name", length, &bytes);
    if (err != NC_NOERR) return err;
    if (length > NC_MAX_NAME) length = NC_MAX_NAME;
    if (s->validator != NULL)
        cdf_validate_name(s->validator, bytes, length, bytes - s->bytes);
    /* Some writers include a trailing NUL in the length. */
    const size_t stored = strnlen((const char *)bytes, (size_t)length);
    if (s->misplaced && (int64_t)stored < length &&
        !base_is_zero(bytes + stored, length - (int64_t)stored))
        return fail(s, NC_ENOTNC, s->at, "a name contains a NUL");
    *name = cdf_name_store(&s->h->arena, NULL, (const char *)bytes, stored);
    return *name == NULL ? NC_ENOMEM : NC_NOERR;
}

/* Reads the head of a list whose entries have at least `least` bytes each. Fails with
 * `too_many` if the list has more entries than a dataset may have. */
static int get_list(struct source *s, const char *what, uint32_t tag, int least,
                    int too_many, int *count)
{
    const size_t start = s->at;
    int err = check_available(s, 4 + (uint64_t)s->width, what);
    if (err != NC_NOERR) return err;
    uint32_t found = get_u32(s);
    int64_t n = get_wide(s);
    if (found != tag && found != CDF_TAG_ABSENT)
        return fail(s, NC_ENOTNC, start, "expected %s, with tag %u, but found tag %u",
                    what, tag, found);
    if (found == CDF_TAG_ABSENT && n != 0)
        return report_format_error(s, NC_ENOTNC, start,
                                   "%s is marked as absent but has %lld entries", what,
                                   (long long)n);
    if (n < 0 || n > INT_MAX)
        return fail(s, too_many, start + 4,
                    "%s has %lld entries, which exceeds the limit", what, (long long)n);
    if (n > (s->file_size - (int64_t)s->at) / least)
        return fail(s, NC_ENOTNC, start + 4,
                    "%s has %lld entries, more than the file can contain", what,
                    (long long)n);
    if (n > (int64_t)((s->length - s->at) / (size_t)least)) {
        s->estimated_size =
            (int64_t)s->at + 3 * n * least; /* assumes names and attributes of
                                             * typical size */
        return CDF_MORE;
    }
    *count = (int)n;
    return NC_NOERR;
}

/* ---- the objects ---- */

/* Reads a dimension. In cdf_validate, an invalid length becomes -1. */
static int get_dim(struct source *s, struct cdf_dim *d, int id)
{
    int err = get_name(s, "the length of a dimension's name", &d->name);
    if (err == NC_NOERR)
        err = check_available(s, (uint64_t)s->width, "the length of a dimension");
    if (err != NC_NOERR) return err;
    const size_t at = s->at;
    d->length = get_wide(s);
    if (d->length < 0 || d->length > cdf_max_dim_read(s->h->format)) {
        err = report_format_error(
            s, NC_ENOTNC, at, "the length of a dimension is %lld, which is out of range",
            (long long)d->length);
        d->length = -1;
    }
    if (d->length != NC_UNLIMITED) return err;
    if (s->h->unlimited >= 0) {
        d->length = -1;
        return report_format_error(s, NC_EUNLIMIT, at,
                                   "dimensions '%.40s' and '%.40s' are both unlimited",
                                   s->h->dims[s->h->unlimited].name, d->name);
    }
    s->h->unlimited = id;
    return NC_NOERR;
}

/* Adds the names of the objects first ... end - 1 to a name table. */
static int enter_names(struct cdf_header *h, struct base_names *names,
                       base_names_text *text, const void *of, int first, int end)
{
    int entered = base_names_add_range(names, first, end, text, of);
    if (entered < 0) return NC_ENOMEM;
    if (entered < end - first) h->has_duplicate_names = true;
    return NC_NOERR;
}

static int get_dims(struct source *s)
{
    struct cdf_header *h = s->h;
    int n = 0;
    int err = get_list(s, "the list of dimensions", CDF_TAG_DIMS, 2 * s->width,
                       NC_EMAXDIMS, &n);
    if (err != NC_NOERR || n == 0) return err;
    h->dims = base_malloc((size_t)n * sizeof *h->dims);
    if (h->dims == NULL) return NC_ENOMEM;
    h->dims_capacity = n;
    if (base_names_reserve(&h->dim_names, (size_t)n) != 0) return NC_ENOMEM;
    for (int i = 0; i < n; i++) {
        const size_t at = s->at;
        err = get_dim(s, &h->dims[i], i);
        if (err != NC_NOERR) return err;
        h->ndims = i + 1;
        if (s->validator != NULL)
            cdf_validate_dim(s->validator, h, i, (int64_t)at + s->width);
    }
    return enter_names(h, &h->dim_names, cdf_dim_text, h->dims, 0, n);
}

/* Reads a type that must exist in the format. In cdf_validate, an invalid type becomes
 * 0. */
static int get_type(struct source *s, const char *owner, int *type)
{
    int err = check_available(s, 4, "a type");
    if (err != NC_NOERR) return err;
    uint32_t v = get_u32(s);
    *type = v > INT_MAX || cdf_type_size((int)v) == 0 ? 0 : (int)v;
    if (*type == 0 || (s->h->format != 5 && v > NC_DOUBLE))
        return report_format_error(s, NC_EBADTYPE, s->at - 4,
                                   "'%.60s' has type %u, which does not exist in CDF-%d",
                                   owner, v, s->h->format);
    return NC_NOERR;
}

static int get_att(struct source *s, struct cdf_att *a)
{
    const unsigned char *bytes;
    const int64_t most = s->width == 4 ? INT32_MAX : CDF_MAX_OFFSET / 8;
    int err = get_name(s, "the length of an attribute's name", &a->name);
    if (err == NC_NOERR) err = get_type(s, a->name, &a->type);
    if (err == NC_NOERR)
        err = get_count(s, "the length of an attribute", most, NC_ENOTNC, &a->nelems);
    if (err != NC_NOERR) return err;

    if (a->type == 0) return NC_EBADTYPE; /* the next attribute cannot be located */
    int64_t size = a->nelems * cdf_type_size(a->type);
    err = get_bytes(s, "the value of an attribute", size, &bytes);
    if (err != NC_NOERR) return err;
    a->capacity = (size_t)size;
    a->values = base_arena_alloc_packed(&s->h->arena, (size_t)size, 1);
    if (a->values == NULL) return NC_ENOMEM;
    memcpy(a->values, bytes, (size_t)size);
    return NC_NOERR;
}

static int get_atts(struct source *s, struct cdf_atts *atts)
{
    int n = 0;
    int err = get_list(s, "a list of attributes", CDF_TAG_ATTS, 2 * s->width + 4,
                       NC_EMAXATTS, &n);
    if (err != NC_NOERR || n == 0) return err;
    err = cdf_atts_reserve(s->h, atts, n);
    if (err != NC_NOERR) return err;
    for (int i = 0; i < n; i++) {
        const size_t at = s->at;
        err = get_att(s, &atts->list[i]);
        if (err != NC_NOERR) return err;
        atts->count = i + 1;
        if (s->validator != NULL)
            cdf_validate_att(s->validator, atts, i, (int64_t)at + s->width);
    }
    cdf_atts_index(s->h, atts);
    return NC_NOERR;
}

/* Reads dimension ids. Clears *known if one of them is invalid. */
static int get_dimids(struct source *s, struct cdf_var *v, bool *known)
{
    const size_t width = (size_t)s->width;
    int64_t n;
    int *ids;
    int err = get_count(s, "the number of a variable's dimensions", NC_MAX_VAR_DIMS,
                        NC_EMAXDIMS, &n);
    if (err != NC_NOERR) return err;
    err = check_available(s, (uint64_t)n * width, "the dimension ids of a variable");
    if (err != NC_NOERR) return err;
    if (cdf_var_dims(s->h, v, (int)n, &ids) != NC_NOERR) return NC_ENOMEM;
    for (int i = 0; i < (int)n; i++) {
        int64_t id = get_wide(s);
        bool good = id >= 0 && id < s->h->ndims;
        if (!good)
            err = report_format_error(
                s, NC_EBADDIM, s->at - width,
                "variable '%.60s' has dimension id %lld, but there are only %d "
                "dimensions",
                v->name, (long long)id, s->h->ndims);
        else if (i > 0 && id == s->h->unlimited)
            err = report_format_error(s, NC_EUNLIMPOS, s->at - width,
                                      "variable '%.40s', unlimited dimension '%.40s'",
                                      v->name, s->h->dims[id].name);
        if (err != NC_NOERR) return err;
        ids[i] = good ? (int)id : 0;
        *known &= good && (i == 0 || id != s->h->unlimited) && s->h->dims[id].length >= 0;
    }
    return NC_NOERR;
}

/* Reports, at position `at`, the error that a model function has recorded. */
static int report_recorded(struct source *s, int code, size_t at)
{
    char detail[sizeof s->fault->reason];
    snprintf(detail, sizeof detail, "%s", base_error_detail(code));
    return report_format_error(s, code, at, "%s", detail);
}

/* Reads type, vsize and begin. Ignores vsize, which is redundant and sometimes wrong. */
static int get_place(struct source *s, struct cdf_var *v)
{
    const int offset_width = cdf_offset_width(s->h->format);
    int err = get_type(s, v->name, &v->type);
    if (err != NC_NOERR) return err;
    err = check_available(s, (uint64_t)s->width + (uint64_t)offset_width, "a variable");
    if (err != NC_NOERR) return err;
    s->at += (size_t)s->width;
    const unsigned char *p = s->bytes + s->at;
    v->begin = offset_width == 4 ? (int32_t)cdf_load32(p) : (int64_t)cdf_load64(p);
    s->at += (size_t)offset_width;
    return NC_NOERR;
}

/* Computes the variable's size if type and dimensions are known. */
static int measure_variable(struct source *s, struct cdf_var *v, bool *known, size_t at)
{
    if (*known) {
        int err = cdf_var_measure(s->h, v);
        if (err == NC_NOERR) return NC_NOERR;
        *known = false;
        err = report_recorded(s, err, at);
        if (err != NC_NOERR) return err;
    }
    v->is_record = v->ndims > 0 && v->dimids[0] == s->h->unlimited;
    v->nelems = v->size = 0;
    return NC_NOERR;
}

static int get_var(struct source *s, struct cdf_var *v)
{
    const size_t start = s->at;
    bool known = true;
    int err = get_name(s, "the length of a variable's name", &v->name);
    if (err == NC_NOERR) err = get_dimids(s, v, &known);
    if (err == NC_NOERR) err = get_atts(s, &v->atts);
    if (err == NC_NOERR) err = get_place(s, v);
    if (err != NC_NOERR) return err;
    known &= v->type != 0;
    err = measure_variable(s, v, &known, start);
    if (s->validator == NULL || err != NC_NOERR) return err;
    const struct cdf_var_places places = {
        .name = (int64_t)start + s->width,
        .begin = (int64_t)s->at - cdf_offset_width(s->h->format),
        .known = known,
    };
    return cdf_validate_var(s->validator, s->h, &places, s->bytes);
}

static int get_vars(struct source *s)
{
    struct cdf_header *h = s->h;
    const int least = 4 * s->width + 8 + cdf_offset_width(h->format);
    /* Small enough for names to remain in the CPU cache until they are added. */
    enum { NAMES_AT_ONCE = 16 };
    int n = 0, named = 0;
    int err = get_list(s, "the list of variables", CDF_TAG_VARS, least, NC_EMAXVARS, &n);
    if (err != NC_NOERR || n == 0) return err;
    h->vars = base_malloc((size_t)n * sizeof *h->vars);
    if (h->vars == NULL) return NC_ENOMEM;
    h->vars_capacity = n;
    if (base_names_reserve(&h->var_names, (size_t)n) != 0) return NC_ENOMEM;
    const size_t first = s->at;
    for (int i = 0; i < n; i++) {
        h->vars[i] = (struct cdf_var){.fill = true};
        h->nvars = i + 1; /* so that cdf_free frees the attributes even after an error */
        err = get_var(s, &h->vars[i]);
        if (err == CDF_MORE)
            s->estimated_size =
                (int64_t)((double)first + (double)(s->at - first) / (i + 1) * n);
        if (err != NC_NOERR) return err;
        if ((i + 1) % NAMES_AT_ONCE != 0 && i + 1 < n) continue;
        err = enter_names(h, &h->var_names, cdf_var_text, h->vars, named, i + 1);
        if (err != NC_NOERR) return err;
        named = i + 1;
    }
    return NC_NOERR;
}

/* ---- the layout ---- */

/* Returns the header offset of a variable's begin field if it is known. */
static size_t start_field(const struct source *s, int varid)
{
    return s->validator == NULL ? s->at : (size_t)s->validator->vars[varid].begin;
}

/* Checks that a variable ends at a valid offset. */
static int check_end(struct source *s, int varid)
{
    const struct cdf_var *v = &s->h->vars[varid];
    if (v->begin <= CDF_MAX_OFFSET - v->size) return NC_NOERR;
    int err = report_format_error(s, NC_EVARSIZE, start_field(s, varid),
                                  "variable '%.60s' ends beyond byte 2^63", v->name);
    if (err == NC_NOERR) cdf_validate_free(s->validator, s->h, varid);
    return err;
}

/* Returns begin + size, limited to the largest offset. The sum can be larger in
 * cdf_validate, which continues after check_end has reported it. */
static int64_t end_of_var(int64_t begin, int64_t size)
{
    return begin <= CDF_MAX_OFFSET - size ? begin + size : CDF_MAX_OFFSET;
}

/* Checks that the fixed-size variables come first and in order; gaps are allowed. Sets
 * *end to the end of the last one. */
static int check_fixed(struct source *s, int64_t *end)
{
    struct cdf_header *h = s->h;
    *end = h->size;
    h->begin_fixed = -1;
    for (int i = 0; i < h->nvars; i++) {
        const struct cdf_var *v = &h->vars[i];
        if (v->is_record) continue;
        int err = NC_NOERR;
        if (v->begin < *end)
            err = report_format_error(
                s, NC_ENOTNC, start_field(s, i),
                "variable '%.60s' starts at byte %lld, before byte %lld, the end of %s",
                v->name, (long long)v->begin, (long long)*end,
                h->begin_fixed < 0 ? "the header" : "the preceding variable");
        if (err == NC_NOERR) err = check_end(s, i);
        if (err != NC_NOERR) return err;
        if (v->begin < *end) continue;
        if (h->begin_fixed < 0) h->begin_fixed = v->begin;
        *end = end_of_var(v->begin, v->size);
    }
    return NC_NOERR;
}

/* Checks that the record variables follow one another without gaps. With a gap, a record
 * would overlap the next record. */
static int check_records(struct source *s, int64_t end)
{
    struct cdf_header *h = s->h;
    int64_t next = -1;
    h->begin_record = cdf_pad4(end);
    for (int i = 0; i < h->nvars; i++) {
        const struct cdf_var *v = &h->vars[i];
        if (!v->is_record) continue;
        int err = NC_NOERR;
        bool first = next < 0;
        bool off = first ? v->begin < end : v->begin != next;
        if (off)
            err = report_format_error(
                s, NC_ENOTNC, start_field(s, i),
                "record variable '%.60s' starts at byte %lld, but byte %lld is the %s",
                v->name, (long long)v->begin, (long long)(first ? end : next),
                first ? "minimum" : "end of the preceding variable");
        if (err == NC_NOERR) err = check_end(s, i);
        if (err != NC_NOERR) return err;
        if (first && !off) h->begin_record = v->begin;
        next = end_of_var(first && !off ? v->begin
                          : first       ? h->begin_record
                                        : next,
                          v->size);
        if (s->validator == NULL) continue;
        if (!s->validator->vars[i].known) break;
        s->validator->vars[i].known = !off; /* or records would be counted wrongly */
    }
    if (h->begin_fixed < 0) h->begin_fixed = h->begin_record;
    return NC_NOERR;
}

/* Computes the number of records from the size of the file. Needed for files from
 * streaming writers, which set all bits of numrecs instead of storing the number. */
static int64_t count_records(const struct source *s)
{
    const struct cdf_header *h = s->h;
    if (h->record_size == 0 || s->file_size == INT64_MAX) return 0;
    if (s->file_size <= h->begin_record) return 0;
    int64_t n = (s->file_size - h->begin_record) / h->record_size;
    return n < cdf_max_records(h) ? n : cdf_max_records(h);
}

static int check_numrecs(struct source *s)
{
    struct cdf_header *h = s->h;
    const bool streaming = h->numrecs == (s->width == 4 ? (int64_t)UINT32_MAX : -1);
    if (streaming) h->numrecs = count_records(s);
    if (s->validator != NULL) return cdf_validate_numrecs(s->validator, h, streaming);
    if (h->numrecs < 0)
        return fail(s, NC_ENOTNC, 4, "the number of records is %lld",
                    (long long)h->numrecs);
    if (h->numrecs > cdf_max_records(h))
        return fail(s, NC_ENOTNC, 4, "%lld records would end beyond byte 2^63",
                    (long long)h->numrecs);
    return NC_NOERR;
}

static int check_layout(struct source *s)
{
    int64_t end;
    s->h->size = (int64_t)s->at;
    int err = cdf_sum_records(s->h);
    if (err != NC_NOERR) return fail(s, err, s->at, "%s", base_error_detail(err));
    if (s->misplaced) return NC_NOERR;
    err = cdf_check_sizes(s->h);
    if (err != NC_NOERR) err = report_recorded(s, err, s->at);
    if (err == NC_NOERR) err = check_fixed(s, &end);
    if (err == NC_NOERR) err = check_records(s, end);
    if (err == NC_NOERR) err = check_numrecs(s);
    return err;
}

/* ---- the whole header ---- */

static int get_magic(struct source *s)
{
    int code;
    if (s->file_size == 0) return fail(s, NC_ENOTNC, 0, "the file is empty");
    if (s->length == 0) return CDF_MORE;
    size_t seen = s->length < 4 ? s->length : 4;
    bool ours = memcmp(s->bytes, "CDF", seen < 3 ? seen : 3) == 0 &&
                (seen < 4 || s->bytes[3] == 1 || s->bytes[3] == 2 || s->bytes[3] == 5);
    if (!ours) {
        const char *reason = cdf_foreign(s->bytes, s->length, s->file_size, &code);
        return fail(s, code, 0, "%s", reason);
    }
    int err = check_available(s, 4, "the header");
    if (err != NC_NOERR) return err;
    cdf_init(s->h, s->bytes[3]);
    s->width = cdf_count_width(s->h->format);
    s->at = 4;
    return NC_NOERR;
}

static int get_header(struct source *s)
{
    int err = get_magic(s);
    if (err != NC_NOERR) return err;
    err = check_available(s, (uint64_t)s->width, "the number of records");
    if (err != NC_NOERR) return err;
    s->h->numrecs = get_wide(s);
    err = get_dims(s);
    if (err == NC_NOERR) err = get_atts(s, &s->h->gatts);
    if (err == NC_NOERR) err = get_vars(s);
    if (err == NC_NOERR) err = check_layout(s);
    return err;
}

static int decode_source(struct source *s, int64_t file_size)
{
    const int64_t length = (int64_t)s->length;
    s->file_size = file_size < length ? length : file_size;
    cdf_init(s->h, 0);
    int err = get_header(s);
    if (err == NC_NOERR) return NC_NOERR;
    cdf_free(s->h);
    if (err == NC_ENOMEM) return fail(s, err, s->at, "out of memory for the header");
    return err;
}

int cdf_decode(struct cdf_header *h, const void *bytes, size_t length, int64_t file_size,
               struct cdf_fault *fault)
{
    struct source s = {.bytes = bytes, .length = length, .h = h, .fault = fault};
    if (fault != NULL) *fault = (struct cdf_fault){0};
    int err = decode_source(&s, file_size);
    if (err == CDF_MORE && fault != NULL) fault->estimated_size = s.estimated_size;
    return err;
}

int cdf_decode_misplaced(struct cdf_header *h, const void *bytes, size_t length,
                         int64_t file_size)
{
    struct source s = {.bytes = bytes, .length = length, .h = h, .misplaced = true};
    return decode_source(&s, file_size);
}

/* Decodes the header and reports errors. Continues after errors where possible. */
int cdf_validate(const void *bytes, size_t length, int64_t file_size,
                 cdf_report_fn *to_report, void *to)
{
    struct cdf_header h;
    struct cdf_validator e = {.report = to_report, .to = to, .file_size = file_size};
    if (file_size < (int64_t)length) e.file_size = (int64_t)length;
    struct source s = {.bytes = bytes, .length = length, .h = &h, .validator = &e};
    s.file_size = e.file_size;
    cdf_init(&h, 0);
    int err = get_header(&s);
    if (err == NC_NOERR) cdf_validate_file_size(&e, &h);
    cdf_free(&h);
    base_names_free(&e.objects);
    base_names_free(&e.atts);
    base_free(e.vars);
    return err == NC_NOERR ? e.err : err;
}
