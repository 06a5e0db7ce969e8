/* Assigns offsets to the sections in this order: header, free space, fixed-size
 * variables, free space, records. After a redef no offset decreases. Sections remain in
 * place if they still fit and are sufficiently aligned. */
#include "cdf_impl.h"

#include "base_error.h"
#include "base_require.h"

/* Returns at + free, limited to the largest offset. */
static int64_t add_free_space(int64_t at, int64_t free)
{
    if (free > 0 && __builtin_add_overflow(at, free, &at)) return CDF_MAX_OFFSET;
    return at > CDF_MAX_OFFSET ? CDF_MAX_OFFSET : at;
}

/* Sets *unit to align, rounded up to a multiple of 4 (at least 4). Returns at % *unit. */
static int64_t misalignment(int64_t at, int64_t align, int64_t *unit)
{
    *unit = align < 4 ? 4 : align > CDF_MAX_OFFSET ? CDF_MAX_OFFSET : cdf_pad4(align);
    return at % *unit;
}

/* Returns `at`, rounded up to a multiple of align. */
static int64_t round_place_up(int64_t at, int64_t align)
{
    int64_t unit, rest = misalignment(at, align, &unit);
    if (rest == 0) return at;
    return at - rest > CDF_MAX_OFFSET - unit ? CDF_MAX_OFFSET : at - rest + unit;
}

/* Returns the start of a section that was at `old`. The section remains there if `old` is
 * at least `least` and, if strict, aligned. Otherwise it moves to `anew`, or to an
 * aligned offset after `old` if that is higher. */
static int64_t section_begin(int64_t old, int64_t least, int64_t anew, int64_t align,
                             bool strict)
{
    int64_t unit;
    if (old >= least && (!strict || misalignment(old, align, &unit) == 0)) return old;
    return anew > old ? anew : round_place_up(old, align);
}

/* Returns the maximum vsize. In CDF-1 and CDF-2 the last record variable, or the last
 * variable in a file without record variables, may be larger, because no offset in the
 * header depends on its size. */
static int64_t max_size(int format)
{
    if (format == 1) return INT32_MAX - 3;
    if (format == 2) return (int64_t)UINT32_MAX - 3;
    return CDF_MAX_OFFSET;
}

static int check_section(const struct cdf_header *h, bool records, bool followed)
{
    const struct cdf_var *large = NULL;
    for (int i = 0; i < h->nvars && !(large != NULL && followed); i++) {
        const struct cdf_var *v = &h->vars[i];
        if (v->is_record != records) continue;
        followed |= large != NULL;
        if (large == NULL && v->size > max_size(h->format)) large = v;
    }
    if (large == NULL || !followed) return NC_NOERR;
    return base_error_set(NC_EVARSIZE,
                          "variable '%.80s' has %lld bytes: in CDF-%d only the last%s "
                          "can be so large; CDF-5 has no such limit",
                          large->name, (long long)large->size, h->format,
                          records ? " record variable"
                                  : " variable of a file without record variables");
}

int cdf_check_sizes(const struct cdf_header *h)
{
    int err = check_section(h, false, h->nrecord_vars > 0);
    return err == NC_NOERR ? check_section(h, true, false) : err;
}

static int set_begin(const struct cdf_header *h, struct cdf_var *v, int64_t begin)
{
    const int64_t most = h->format == 1 ? INT32_MAX : CDF_MAX_OFFSET;
    if (begin > most || begin > CDF_MAX_OFFSET - v->size)
        return base_error_set(NC_EVARSIZE,
                              "variable '%.80s' would start at byte %lld and have %lld "
                              "bytes, which is too large for CDF-%d",
                              v->name, (long long)begin, (long long)v->size, h->format);
    v->begin = begin;
    return NC_NOERR;
}

/* Assigns offsets to the fixed-size variables, starting at begin_fixed. Existing
 * variables remain in place unless a preceding variable needs the space. */
static int place_fixed(struct cdf_header *h, const struct cdf_header *before,
                       int64_t *end)
{
    const int old = before == NULL ? 0 : before->nvars;
    *end = h->begin_fixed;
    for (int i = 0; i < h->nvars; i++) {
        struct cdf_var *v = &h->vars[i];
        if (v->is_record) continue;
        int64_t begin = cdf_pad4(*end);
        if (i < old && before->vars[i].begin >= *end) begin = before->vars[i].begin;
        int err = set_begin(h, v, begin);
        if (err != NC_NOERR) return err;
        *end = begin + v->size;
    }
    return NC_NOERR;
}

/* The variables of `before` keep their offsets within a record, because each record moves
 * as a whole. */
static int place_records(struct cdf_header *h, const struct cdf_header *before)
{
    const int old = before == NULL ? 0 : before->nvars;
    int64_t next = h->begin_record;
    for (int i = 0; i < h->nvars; i++) {
        struct cdf_var *v = &h->vars[i];
        if (!v->is_record) continue;
        base_require(i >= old || next - h->begin_record ==
                                     before->vars[i].begin - before->begin_record);
        int err = set_begin(h, v, next);
        if (err != NC_NOERR) return err;
        next += v->size;
    }
    base_require(h->nrecord_vars == 1 || next - h->begin_record == h->record_size);
    if (h->numrecs > cdf_max_records(h))
        return base_error_set(NC_EVARSIZE,
                              "%lld records of %lld bytes would end beyond byte 2^63",
                              (long long)h->numrecs, (long long)h->record_size);
    return NC_NOERR;
}

/* Returns the end of the longer of the two headers. The old header is valid until the new
 * one is written, so no fill values may overwrite it before that. */
static int64_t header_end(const struct cdf_header *h, const struct cdf_header *before)
{
    return before != NULL && before->size > h->size ? before->size : h->size;
}

static int64_t header_padding(const struct cdf_header *h, const struct cdf_padding *room)
{
    enum { SHARE = 16, MOST = 1 << 20 };
    if (room->header_minfree != CDF_DEFAULT_PADDING) return room->header_minfree;
    return h->size < (int64_t)SHARE * MOST ? h->size / SHARE : MOST;
}

/* Returns the start of the fixed-size section. If there are fixed-size variables,
 * preserves the start in `before` if possible. */
static int64_t choose_begin_fixed(const struct cdf_header *h,
                                  const struct cdf_header *before, bool fixed,
                                  const struct cdf_padding *room)
{
    int64_t anew =
        round_place_up(add_free_space(header_end(h, before), header_padding(h, room)),
                       room->fixed_align);
    if (!fixed || before == NULL || before->nvars == 0) return anew;
    return section_begin(before->begin_fixed,
                         add_free_space(h->size, room->header_minfree), anew,
                         room->fixed_align, room->fixed_strict);
}

/* Without fixed-size variables, both free spaces are between the header and the records.
 * They are inserted once, not at every redef. A strict alignment of the fixed-size
 * section then applies to the records. The size of the old header does not matter to
 * records that remain in place, because they never overlapped it. */
static int64_t choose_begin_record(const struct cdf_header *h,
                                   const struct cdf_header *before,
                                   const struct cdf_padding *room, int64_t end)
{
    if (h->nrecord_vars == 0) return cdf_pad4(end);
    int64_t anew =
        round_place_up(add_free_space(end, room->fixed_minfree), room->record_align);
    if (before == NULL || before->nrecord_vars == 0) return anew;
    if (h->nrecord_vars == h->nvars) {
        end = add_free_space(h->size, room->header_minfree);
        if (room->fixed_strict) end = round_place_up(end, room->fixed_align);
    }
    return section_begin(before->begin_record, add_free_space(end, room->fixed_minfree),
                         anew, room->record_align, room->record_strict);
}

int cdf_layout(struct cdf_header *h, const struct cdf_header *before,
               const struct cdf_padding *room)
{
    int err = cdf_sum_records(h);
    if (err == NC_NOERR) err = cdf_check_sizes(h);
    if (err != NC_NOERR) return err;

    int64_t end;
    h->size = cdf_encoded_size(h);
    const bool fixed = h->nrecord_vars < h->nvars;
    h->begin_fixed = h->nvars == 0 ? h->size : choose_begin_fixed(h, before, fixed, room);
    err = place_fixed(h, before, &end);
    if (err != NC_NOERR) return err;
    h->begin_record = choose_begin_record(h, before, room, end);
    if (!fixed) h->begin_fixed = h->begin_record;
    base_require(h->begin_fixed >= h->size);
    base_require(!fixed || h->begin_record >= end);
    base_require(before == NULL || h->record_size >= before->record_size);
    base_require(before == NULL || before->nrecord_vars == 0 ||
                 h->begin_record >= before->begin_record);
    return place_records(h, before);
}

int64_t cdf_record_offset(const struct cdf_header *h, const struct cdf_var *v,
                          int64_t rec)
{
    return v->is_record ? v->begin + rec * h->record_size : v->begin;
}

/* In CDF-1 and CDF-2, a number with all bits set is not allowed, because streaming
 * writers store it as a placeholder. */
int64_t cdf_max_records(const struct cdf_header *h)
{
    int64_t most = h->format == 5 ? INT64_MAX : (int64_t)UINT32_MAX - 1;
    if (h->record_size == 0) return most;
    int64_t room = (CDF_MAX_OFFSET - h->begin_record) / h->record_size;
    return room < most ? room : most;
}

int64_t cdf_file_size(const struct cdf_header *h)
{
    return h->begin_record + h->numrecs * h->record_size;
}
