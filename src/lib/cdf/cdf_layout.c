/* Where the data lies: first the fixed-size variables, then the records. */
#include "cdf_impl.h"

#include "base_error.h"

/* So many free bytes behind `at`. */
static int64_t behind(int64_t at, int64_t free)
{
    if (free > 0 && __builtin_add_overflow(at, free, &at)) return CDF_MAX_OFFSET;
    return at > CDF_MAX_OFFSET ? CDF_MAX_OFFSET : at;
}

/* How far `at` is behind a multiple of align, which is of 4 at least. */
static int64_t beyond(int64_t at, int64_t align, int64_t *unit)
{
    *unit = align < 4 ? 4 : align > CDF_MAX_OFFSET ? CDF_MAX_OFFSET : cdf_pad4(align);
    return at % *unit;
}

/* The next multiple of align from `at` on. */
static int64_t round_place_up(int64_t at, int64_t align)
{
    int64_t unit, rest = beyond(at, align, &unit);
    if (rest == 0) return at;
    return at - rest > CDF_MAX_OFFSET - unit ? CDF_MAX_OFFSET : at - rest + unit;
}

/* A section that began at `old` stays if that is not before `least`, and a multiple of
 * align where it must be; else it goes to `anew`, or further on: never back. */
static int64_t section_begin(int64_t old, int64_t least, int64_t anew, int64_t align,
                             bool strict)
{
    int64_t unit;
    if (old >= least && (!strict || beyond(old, align, &unit) == 0)) return old;
    return anew > old ? anew : round_place_up(old, align);
}

/* The largest vsize. In CDF-1 and CDF-2 the last variable of a section may be larger,
 * since nothing is to be found by it. */
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
    return base_error_set(
        NC_EVARSIZE,
        "variable '%.80s' has %lld bytes: in CDF-%d so large a one must be "
        "the last%s; CDF-5 has no such limit",
        large->name, (long long)large->size, h->format,
        records ? " record variable" : ", without record variables");
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
        return base_error_set(
            NC_EVARSIZE,
            "variable '%.80s' would start at %lld, with %lld bytes: too far "
            "for CDF-%d",
            v->name, (long long)begin, (long long)v->size, h->format);
    v->begin = begin;
    return NC_NOERR;
}

/* Places the fixed-size variables from begin_fixed on; those that were there before
 * stay unless they are pushed. */
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

static int place_records(struct cdf_header *h)
{
    int64_t next = h->begin_record;
    for (int i = 0; i < h->nvars; i++) {
        struct cdf_var *v = &h->vars[i];
        if (!v->is_record) continue;
        int err = set_begin(h, v, next);
        if (err != NC_NOERR) return err;
        next += v->size;
    }
    if (h->numrecs > cdf_max_records(h))
        return base_error_set(NC_EVARSIZE,
                              "%lld records of %lld bytes would end behind 2^63",
                              (long long)h->numrecs, (long long)h->record_size);
    return NC_NOERR;
}

/* Behind the header, and behind the one before: while that is still in force nothing may
 * be filled there. */
static int64_t header_end(const struct cdf_header *h, const struct cdf_header *before)
{
    return before != NULL && before->size > h->size ? before->size : h->size;
}

static int64_t header_room(const struct cdf_header *h, const struct cdf_room *room)
{
    enum { SHARE = 16, MOST = 1 << 20 };
    if (room->header_minfree != CDF_SOME_ROOM) return room->header_minfree;
    return h->size < (int64_t)SHARE * MOST ? h->size / SHARE : MOST;
}

/* Keeps to the place in `before` if there are fixed-size variables. */
static int64_t choose_begin_fixed(const struct cdf_header *h,
                                  const struct cdf_header *before, bool fixed,
                                  const struct cdf_room *room)
{
    int64_t anew = round_place_up(behind(header_end(h, before), header_room(h, room)),
                                  room->fixed_align);
    if (!fixed || before == NULL || before->nvars == 0) return anew;
    return section_begin(before->begin_fixed, behind(h->size, room->header_minfree), anew,
                         room->fixed_align, room->fixed_strict);
}

/* Records without fixed-size variables before them leave both free rooms behind the
 * header; they were given them once, and do not get them again at every redef. Where
 * fixed-size variables would begin then holds if that is strict. What the header before
 * took up is of no account to records that stay: they never lay in it. */
static int64_t choose_begin_record(const struct cdf_header *h,
                                   const struct cdf_header *before,
                                   const struct cdf_room *room, int64_t end)
{
    if (h->nrecord_vars == 0) return cdf_pad4(end);
    int64_t anew = round_place_up(behind(end, room->fixed_minfree), room->record_align);
    if (before == NULL || before->nrecord_vars == 0) return anew;
    if (h->nrecord_vars == h->nvars) {
        end = behind(h->size, room->header_minfree);
        if (room->fixed_strict) end = round_place_up(end, room->fixed_align);
    }
    return section_begin(before->begin_record, behind(end, room->fixed_minfree), anew,
                         room->record_align, room->record_strict);
}

int cdf_layout(struct cdf_header *h, const struct cdf_header *before,
               const struct cdf_room *room)
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
    return place_records(h);
}

int64_t cdf_record_offset(const struct cdf_header *h, const struct cdf_var *v,
                          int64_t rec)
{
    return v->is_record ? v->begin + rec * h->record_size : v->begin;
}

/* In CDF-1 and CDF-2 a number of all ones is left by writers that did not come to say it.
 */
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
