/* Finds the gaps that result from a layout change: bytes that belonged to a variable or
 * to the header, and now belong to nothing, or to a new variable that is not filled. Gaps
 * must read as zeros until they are written, as in a file created with the new layout.
 *
 * Gaps are found by comparing layouts, not by listing the bytes of each record. One list
 * contains the gaps before the records. Another contains the gaps within one record,
 * which are the same in every record. */
#include "base_error.h"
#include "base_mem.h"
#include "base_require.h"
#include "cdf_impl.h"

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Search state: both layouts and the resulting list. */
struct search {
    const struct cdf_header *before, *after;
    struct cdf_gap *v;
    int64_t records_end; /* end of the records in the old layout */
    int64_t room;
    int err;
};

/* Adds [low, high) if it is not empty. */
static void add_extent(struct search *s, int64_t low, int64_t high)
{
    struct cdf_gap *v = s->v;
    int n = v->nfixed + v->ntail;
    if (low >= high || s->err != NC_NOERR) return;
    void *grown = base_grow(v->list, &s->room, (int64_t)n + 1, sizeof *v->list);
    if (grown == NULL) s->err = NC_ENOMEM;
    if (grown == NULL) return;
    v->list = grown;
    v->list[n] = (struct cdf_extent){low, high - low};
}

static void add_common(struct search *s, int64_t low, int64_t high, int64_t begin,
                       int64_t end)
{
    low = larger(low, begin);
    high = smaller(high, end);
    add_extent(s, low, high);
    if (low < high && s->err == NC_NOERR) s->v->nfixed++;
}

/* Adds those parts of an unused range before the new records that belonged to the old
 * header, to old variables, or to old records. */
static void add_gap(struct search *s, int64_t low, int64_t high)
{
    const struct cdf_header *before = s->before;
    if (low >= high) return;
    add_common(s, low, high, s->after->size, before->size);
    for (int i = 0; i < before->nvars; i++) {
        const struct cdf_var *v = &before->vars[i];
        if (!v->is_record && v->begin != s->after->vars[i].begin)
            add_common(s, low, high, v->begin, v->begin + v->size);
    }
    add_common(s, low, high, before->begin_record, s->records_end);
}

/* Returns the number of bytes of a variable that will be overwritten, by moved data or by
 * fill values. The padding after the values is never filled. */
static int64_t bytes_overwritten(const struct search *s, int id)
{
    const struct cdf_var *v = &s->after->vars[id];
    if (id < s->before->nvars) return v->size;
    return v->fill ? v->nelems * cdf_type_size(v->type) : 0;
}

static void search_fixed(struct search *s)
{
    const struct cdf_header *after = s->after;
    int64_t at = after->size;
    for (int id = 0; id < after->nvars; id++) {
        const struct cdf_var *v = &after->vars[id];
        int64_t n = v->is_record ? 0 : bytes_overwritten(s, id);
        if (n == 0) continue;
        add_gap(s, at, v->begin);
        at = v->begin + n;
    }
    add_gap(s, at, after->begin_record);
}

/* Adds the parts of a new record that no old variable overwrites. The old variables are
 * adjacent at the start of the record. */
static void search_record(struct search *s)
{
    const struct cdf_header *after = s->after;
    struct cdf_gap *v = s->v;
    int64_t at = s->before->record_size;
    for (int id = s->before->nvars; id <= after->nvars; id++) {
        bool last = id == after->nvars;
        int64_t n = last || !after->vars[id].is_record ? 0 : bytes_overwritten(s, id);
        if (n == 0 && !last) continue;
        int64_t begin =
            last ? after->record_size : after->vars[id].begin - after->begin_record;
        add_extent(s, at, begin);
        if (at < begin && s->err == NC_NOERR) v->ntail++;
        at = begin + n;
    }
}

/* Returns the number of gap bytes in a record before `end`, an offset in the record. */
static int64_t tail_before(const struct cdf_gap *v, int64_t end)
{
    int64_t sum = 0;
    for (int i = v->nfixed; i < v->nfixed + v->ntail; i++) {
        const struct cdf_extent *x = &v->list[i];
        sum += larger(0, smaller(x->length, end - x->offset));
    }
    return sum;
}

/* Computes the totals. The file contains nothing beyond the end of the old records. */
static void sum_gaps(struct search *s)
{
    struct cdf_gap *v = s->v;
    int64_t length = s->records_end - s->after->begin_record;
    for (int i = 0; i < v->nfixed; i++)
        v->fixed += v->list[i].length;
    v->begin = s->after->begin_record;
    v->step = s->after->record_size;
    v->tail = tail_before(v, v->step);
    v->total = v->fixed;
    if (v->tail > 0 && length > 0)
        v->total += length / v->step * v->tail + tail_before(v, length % v->step);
}

int cdf_find_gap(struct cdf_gap *v, const struct cdf_header *before,
                 const struct cdf_header *after)
{
    struct search s = {.before = before, .after = after, .v = v};
    bool stay = before->begin_record == after->begin_record &&
                before->record_size == after->record_size;
    s.records_end = before->begin_record;
    if (before->nrecord_vars > 0 && !stay)
        s.records_end += before->numrecs * before->record_size;
    *v = (struct cdf_gap){.list = NULL};
    search_fixed(&s);
    search_record(&s);
    if (s.err == NC_NOERR) sum_gaps(&s);
    if (s.err == NC_NOERR) s.err = base_holds(v->fixed <= after->begin_record);
    if (s.err == NC_NOERR) s.err = base_holds(v->tail <= v->step);
    if (s.err != NC_NOERR) cdf_free_gap(v);
    return s.err;
}

void cdf_free_gap(struct cdf_gap *v)
{
    base_free(v->list);
    *v = (struct cdf_gap){.list = NULL};
}

struct cdf_extent cdf_gap_extent_at(const struct cdf_gap *v, int64_t place)
{
    int i = 0;
    int64_t shift = 0, left = v->total - place;
    if (place >= v->fixed) {
        i = v->nfixed;
        shift = v->begin + (place - v->fixed) / v->tail * v->step;
        place = (place - v->fixed) % v->tail;
    }
    for (; place >= v->list[i].length; i++)
        place -= v->list[i].length;
    return (struct cdf_extent){shift + v->list[i].offset + place,
                               smaller(v->list[i].length - place, left)};
}
