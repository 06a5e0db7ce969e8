/* Values from blobs at their places in the one file. The pieces of a stretch of it are
 * read in the order of the subfiles, in which those of one blob lie together. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_sort.h"
#include "util_blob_impl.h"

/* The part of the file that is read. */
struct window {
    struct util_blob *b;
    const struct util_classic *c;
    int64_t low, high; /* offsets */
    char *bytes;
    int64_t end; /* behind the last byte that came from a blob */
};

/* ---- reading what was collected ---- */

enum { ENDS = 1 << 9 }; /* of runs that are looked for; a power of 2 */

static uint64_t slot_of(int sub, int64_t at)
{
    uint64_t x = (uint64_t)at * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)sub;
    return (x ^ x >> 32) & (ENDS - 1);
}

static bool goes_on(const struct util_blob_want *run, const struct util_blob_want *w)
{
    return run->sub == w->sub && run->from + run->n == w->from &&
           run->n + w->n <= UTIL_BLOB_BYTES;
}

/* Pieces that lie side by side in a subfile, though others come between them in the one
 * file, become a run: there are about as many of these as there are blobs. */
static int make_runs(struct util_blob *b)
{
    int ends[ENDS], nruns = 0;
    memset(ends, -1, sizeof ends);
    for (int i = 0; i < b->nwants; i++) {
        struct util_blob_want *w = &b->wants[i];
        int number = ends[slot_of(w->sub, w->from)];
        if (number < 0 || !goes_on(&b->runs[number], w)) {
            number = nruns++;
            b->runs[number] = *w;
            b->runs[number].next = -1;
            b->runs[number].n = 0;
        }
        struct util_blob_want *run = &b->runs[number];
        w->next = run->next;
        run->next = i;
        run->n += w->n;
        ends[slot_of(w->sub, w->from + w->n)] = number;
    }
    return nruns;
}

/* The i-th run in the order of subfiles and places there. */
static const struct util_blob_want *run_at(const struct util_blob *b, int i)
{
    return &b->runs[b->keys[i].index];
}

static void sort_runs(struct util_blob *b, int n)
{
    struct base_key *keys = b->keys, *spare = b->keys + UTIL_BLOB_WANTS;
    for (int i = 0; i < n; i++)
        keys[i] = (struct base_key){(uint64_t)b->runs[i].from, i};
    base_sort_keys(keys, spare, n);
    for (int i = 0; i < n; i++)
        keys[i].key = (uint64_t)run_at(b, i)->sub;
    base_sort_keys(keys, spare, n);
}

/* How many of the runs from number i on are read at once, and where they end: to skip a
 * small gap costs less than a call. */
static int together(const struct util_blob *b, int i, int n, int64_t *end)
{
    enum { GAP = 1 << 13 };
    const struct util_blob_want *first = run_at(b, i);
    int k = 1;
    *end = first->from + first->n;
    for (; i + k < n; k++) {
        const struct util_blob_want *r = run_at(b, i + k);
        if (r->sub != first->sub || r->from - *end > GAP) break;
        if (r->from + r->n - first->from > UTIL_BLOB_BYTES) break;
        if (r->from + r->n > *end) *end = r->from + r->n;
    }
    return k;
}

/* Runs from number i on; one of a single piece goes where that belongs at once. */
static int read_group(struct util_blob *b, int i, int n, int64_t end)
{
    const struct util_blob_want *first = run_at(b, i);
    const struct util_blob_want *only = &b->wants[first->next];
    if (n == 1 && only->next < 0)
        return util_blob_bytes(b, only->sub, only->from, only->to, only->n);
    int err = util_blob_bytes(b, first->sub, first->from, b->bytes, end - first->from);
    for (int k = 0; k < n && err == NC_NOERR; k++)
        for (int j = run_at(b, i + k)->next; j >= 0; j = b->wants[j].next) {
            const struct util_blob_want *w = &b->wants[j];
            memcpy(w->to, b->bytes + (w->from - first->from), (size_t)w->n);
        }
    return err;
}

static int read_wants(struct util_blob *b)
{
    int err = NC_NOERR, nruns = make_runs(b);
    int64_t end;
    sort_runs(b, nruns);
    for (int i = 0, n; i < nruns && err == NC_NOERR; i += n) {
        n = together(b, i, nruns, &end);
        err = read_group(b, i, n, end);
    }
    b->nwants = 0;
    return err;
}

static int want(struct util_blob *b, const struct util_blob_want *w)
{
    if (b->nwants > 0) {
        struct util_blob_want *last = &b->wants[b->nwants - 1];
        if (last->sub == w->sub && last->from + last->n == w->from &&
            last->to + last->n == w->to) {
            last->n += w->n;
            return NC_NOERR;
        }
    }
    int err = b->nwants == UTIL_BLOB_WANTS ? read_wants(b) : NC_NOERR;
    b->wants[b->nwants++] = *w;
    return err;
}

/* ---- what is wanted of a variable ---- */

/* A stretch of a variable: of one record, or of all of it. */
struct stretch {
    const struct util_blob_var *var;
    int64_t record, begin; /* begin: where in the file this record does */
    int64_t first, last;   /* elements, the last one not included */
};

/* Elements that are in no blob that is there may be in one that is not. */
static int missing(const struct window *w, const struct stretch *s, int64_t from,
                   int64_t to)
{
    const struct util_blob *b = w->b;
    int i = 0;
    while (b->subs[i].there)
        i++;
    char record[48] = "";
    if (s->var->record)
        snprintf(record, sizeof record, " of record %lld", (long long)s->record);
    return base_error_set(NC_ENOENT,
                          "variable '%s': elements %lld to %lld%s are in a subfile that "
                          "is missing: %s",
                          w->c->header.vars[s->var->varid].name, (long long)from,
                          (long long)to - 1, record, b->subs[i].path);
}

/* What no blob has is in the master file, as a rule. */
static int lacking(const struct window *w, const struct stretch *s, int64_t from,
                   int64_t to)
{
    if (w->b->nmissing > 0) return missing(w, s, from, to);
    if (!util_blob_is_foreign(w->b)) return NC_NOERR;
    return blob_foreign_hole(&w->b->foreign, &w->c->header, w->c->path, s->var->varid,
                             s->record, from);
}

static int want_piece(struct window *w, const struct stretch *s,
                      const struct blob_piece *p)
{
    const struct util_blob_sub *sub = &w->b->subs[p->sub];
    const struct cdf_header *h = &sub->file.header;
    const struct cdf_var *v = &h->vars[sub->varids[s->var->varid]];
    int size = s->var->size;
    int err =
        util_blob_is_foreign(w->b)
            ? blob_foreign_reaches(h, sub->path, sub->file.size,
                                   sub->varids[s->var->varid], s->record, p->pos, p->n)
            : NC_NOERR;
    if (err != NC_NOERR) return err;
    if (p->pos > v->nelems - p->n || (v->is_record && s->record >= cdf_max_records(h)))
        return base_error_set(NC_ENOTNC, "%s: a map points outside of variable '%s'",
                              sub->path, v->name);
    int64_t low = s->begin + p->at * size, high = low + p->n * size;
    int64_t from = cdf_record_offset(h, v, s->record) + p->pos * size;
    if (low < w->low) {
        from += w->low - low;
        low = w->low;
    }
    if (high > w->high) high = w->high;
    bool told = !v->is_record || s->record < h->numrecs;
    if (told && from > sub->file.size - (high - low)) return util_blob_cut(sub, v);
    if (high > w->end) w->end = high;
    return want(w->b, &(struct util_blob_want){.from = from,
                                               .n = high - low,
                                               .to = w->bytes + (low - w->low),
                                               .sub = p->sub});
}

/* The pieces of elements [at, end), which the index has. */
static int want_pieces(struct window *w, const struct stretch *s,
                       const struct blob_index *x, int64_t at, int64_t end)
{
    int err = NC_NOERR;
    for (int64_t i = blob_index_find(x, at); i < x->n && err == NC_NOERR; i++) {
        struct blob_piece p = x->pieces[i];
        if (p.at >= end) break;
        if (p.at < at) {
            p.pos += at - p.at;
            p.n -= at - p.at;
            p.at = at;
        }
        if (p.n > end - p.at) p.n = end - p.at;
        if (p.at > at && (err = lacking(w, s, at, p.at)) != NC_NOERR) return err;
        err = want_piece(w, s, &p);
        at = p.at + p.n;
    }
    return err == NC_NOERR && at < end ? lacking(w, s, at, end) : err;
}

static int lay_stretch(struct window *w, const struct stretch *s)
{
    struct util_blob_decomp *d = &w->b->decomps[s->var->decomp];
    int err = NC_NOERR;
    for (int64_t at = s->first, end; at < s->last && err == NC_NOERR; at = end) {
        err = util_blob_index(w->c, d, at);
        end = d->index.high < s->last ? d->index.high : s->last;
        if (err == NC_NOERR) err = want_pieces(w, s, &d->index, at, end);
    }
    int done = read_wants(w->b);
    return err != NC_NOERR ? err : done;
}

/* ---- the variables of the window ---- */

/* Those of a list that overlap it; `shift` is how far behind its first record this one
 * lies. */
static int lay_list(struct window *w, const struct util_blob_var *vars, int n,
                    int64_t record, int64_t shift)
{
    int low = 0, high = n, err = NC_NOERR;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (vars[middle].begin + vars[middle].bytes + shift <= w->low)
            low = middle + 1;
        else
            high = middle;
    }
    for (int i = low; i < n && err == NC_NOERR; i++) {
        struct stretch s = {.var = &vars[i], .record = record};
        s.begin = vars[i].begin + shift;
        int64_t end = s.begin + vars[i].bytes, size = vars[i].size;
        if (s.begin >= w->high) break;
        if (end > w->high) end = w->high;
        s.first = w->low > s.begin ? (w->low - s.begin) / size : 0;
        s.last = (end - s.begin + size - 1) / size;
        err = lay_stretch(w, &s);
    }
    return err;
}

static int lay_records(struct window *w)
{
    const struct util_blob *b = w->b;
    const struct cdf_header *h = &w->c->header;
    const struct util_blob_var *vars = b->vars + b->nfixed;
    int n = b->nvars - b->nfixed, err = NC_NOERR;
    if (n == 0 || h->record_size == 0 || w->high <= h->begin_record) return NC_NOERR;
    int64_t first =
        w->low > h->begin_record ? (w->low - h->begin_record) / h->record_size : 0;
    int64_t last = (w->high - 1 - h->begin_record) / h->record_size;
    if (last >= h->numrecs) last = h->numrecs - 1;
    for (int64_t i = first; i <= last && err == NC_NOERR; i++)
        err = lay_list(w, vars, n, i, i * h->record_size);
    return err;
}

int64_t util_blob_lay(const struct util_classic *c, int64_t offset, void *bytes,
                      size_t length, int64_t had)
{
    struct window w = {.b = c->blob,
                       .c = c,
                       .low = offset,
                       .high = offset + (int64_t)length,
                       .bytes = bytes,
                       .end = offset + had};
    memset(w.bytes + had, 0, length - (size_t)had);
    int64_t whole = cdf_file_size(&c->header);
    /* A job that was killed has not made the master as long as its records are. */
    if (!util_blob_is_complete(c) && w.end < whole)
        w.end = whole < w.high ? whole : w.high;
    int err = lay_list(&w, w.b->vars, w.b->nfixed, 0, 0);
    if (err == NC_NOERR) err = lay_records(&w);
    if (err == NC_NOERR) return w.end - offset;
    snprintf(w.b->words, sizeof w.b->words, "%s", base_error_detail(err));
    errno = EIO;
    return -1;
}
