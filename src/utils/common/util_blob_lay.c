/* Values from blobs at their places in the one file. The pieces of a stretch of it are
 * read in the order of the subfiles, in which those of one blob lie together. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "util_blob_impl.h"

/* The part of the file that is read. */
struct window {
    struct util_blob *b;
    const struct util_classic *c;
    int64_t low, high; /* offsets */
    char *bytes;
    int64_t end; /* behind the last byte that came from a blob */
};

/* A stretch of a variable: of one record, or of all of it. */
struct stretch {
    const struct util_blob_var *var;
    int64_t record, begin; /* begin: where in the file this record does */
    int64_t first, last;   /* elements, the last one not included */
};

/* ---- reading what was collected ---- */

/* Pieces that lie side by side in a subfile, though others come between them in the one
 * file, become a run: there are about as many of these as there are blobs. */
static int make_runs(struct util_blob *b)
{
    const struct blob_joining how = {.most = INT64_MAX, .longest = UTIL_BLOB_BYTES};
    int64_t before = 0;
    bool apart;
    int err = blob_runs_make(&b->runs, b->wants, b->nwants, &how);
    if (err == NC_NOERR) err = blob_runs_sort(&b->runs, &apart);
    for (int64_t i = 0; i < b->runs.n && err == NC_NOERR; i++) {
        struct blob_part *run = blob_runs_at(&b->runs, i);
        run->copy = before; /* where its pieces are in the order, as far as they are */
        before += run->run;
    }
    for (int i = 0; i < b->nwants && err == NC_NOERR; i++)
        b->order[b->runs.list[b->wants[i].run].copy++] = i;
    return err;
}

/* How many of the runs from number i on are read at once, and where they end: to skip a
 * small gap costs less than a call. */
static int64_t together(const struct util_blob *b, int64_t i, int64_t *end)
{
    enum { GAP = 1 << 13 };
    const struct blob_part *first = blob_runs_at(&b->runs, i);
    int64_t k = 1;
    *end = first->at + first->n;
    for (; i + k < b->runs.n; k++) {
        const struct blob_part *r = blob_runs_at(&b->runs, i + k);
        if (r->sub != first->sub || r->at - *end > GAP) break;
        if (r->at + r->n - first->at > UTIL_BLOB_BYTES) break;
        if (r->at + r->n > *end) *end = r->at + r->n;
    }
    return k;
}

/* n runs from number i on; one of a single piece goes where that belongs at once. */
static int read_group(struct util_blob *b, int64_t i, int64_t n, int64_t end)
{
    const struct blob_part *first = blob_runs_at(&b->runs, i);
    int64_t from = first->copy - first->run, to = blob_runs_at(&b->runs, i + n - 1)->copy;
    bool one = to - from == 1;
    char *bytes = one ? b->wants[b->order[from]].values : b->bytes;
    int err = util_blob_bytes(b, first->sub, first->at, bytes, end - first->at);
    for (int64_t k = from; k < to && !one && err == NC_NOERR; k++) {
        const struct blob_part *w = &b->wants[b->order[k]];
        memcpy(w->values, bytes + (w->at - first->at), (size_t)w->n);
    }
    return err;
}

/* The pieces of run number i, if they are in frames: these are expanded once, as runs
 * are in order. */
static int read_framed(const struct util_classic *c, const struct stretch *s, int64_t i)
{
    struct util_blob *b = c->blob;
    const struct blob_part *run = blob_runs_at(&b->runs, i);
    const struct util_blob_row row = {c, run->sub, s->var, s->record};
    int err = NC_NOERR;
    for (int64_t k = run->copy - run->run; k < run->copy && err == NC_NOERR; k++) {
        const struct blob_part *w = &b->wants[b->order[k]];
        err = util_blob_framed_read(&row, w->at, w->values, w->n);
    }
    return err;
}

static int read_wants(const struct window *w, const struct stretch *s)
{
    struct util_blob *b = w->b;
    int err = make_runs(b);
    int64_t end;
    for (int64_t i = 0, n = 1; i < b->runs.n && err == NC_NOERR; i += n) {
        if (b->facts.framed) {
            err = read_framed(w->c, s, i);
            continue;
        }
        n = together(b, i, &end);
        err = read_group(b, i, n, end);
    }
    b->nwants = 0;
    return err;
}

static int want(struct window *window, const struct stretch *s, const struct blob_part *w)
{
    struct util_blob *b = window->b;
    if (b->nwants > 0) {
        struct blob_part *last = &b->wants[b->nwants - 1];
        if (last->sub == w->sub && last->at + last->n == w->at &&
            last->values + last->n == w->values) {
            last->n += w->n;
            return NC_NOERR;
        }
    }
    int err = b->nwants == UTIL_BLOB_WANTS ? read_wants(window, s) : NC_NOERR;
    b->wants[b->nwants++] = *w;
    return err;
}

/* ---- what is wanted of a variable ---- */

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

/* What of a piece is in the window, if the piece begins `from` bytes behind the beginning
 * of its home. */
static struct blob_part clip(struct window *w, const struct stretch *s,
                             const struct blob_piece *p, int64_t from)
{
    int64_t low = s->begin + p->at * s->var->size, high = low + p->n * s->var->size;
    if (low < w->low) {
        from += w->low - low;
        low = w->low;
    }
    if (high > w->high) high = w->high;
    if (high > w->end) w->end = high;
    return (struct blob_part){
        .at = from, .n = high - low, .values = w->bytes + (low - w->low), .sub = p->sub};
}

/* Some blobs of a record have frames; the values of the others are in the master file. */
static int want_framed(struct window *w, const struct stretch *s,
                       const struct blob_piece *p)
{
    const struct util_blob_row row = {w->c, p->sub, s->var, s->record};
    int err = NC_NOERR;
    for (int64_t done = 0; done < p->n && err == NC_NOERR;) {
        struct blob_piece q = {p->at + done, p->n - done, p->pos + done, p->sub};
        struct util_blob_framed blob;
        err = util_blob_framed_at(&row, q.pos, &blob);
        if (err != NC_NOERR) return err;
        if (q.n > blob.end - q.pos) q.n = blob.end - q.pos;
        struct blob_part part = clip(w, s, &q, q.pos * s->var->size);
        if (!blob.in_master) err = want(w, s, &part);
        done += q.n;
    }
    return err;
}

static int want_plain(struct window *w, const struct stretch *s,
                      const struct blob_piece *p)
{
    const struct util_blob_sub *sub = &w->b->subs[p->sub];
    const struct cdf_header *h = &sub->file.header;
    int id = sub->varids[s->var->varid];
    const struct cdf_var *v = &h->vars[id];
    int err = util_blob_is_foreign(w->b)
                  ? blob_foreign_reaches(h, sub->path, sub->file.size, id, s->record,
                                         p->pos, p->n)
                  : NC_NOERR;
    if (err != NC_NOERR) return err;
    if (p->pos > v->nelems - p->n || (v->is_record && s->record >= cdf_max_records(h)))
        return base_error_set(NC_ENOTNC, "%s: a map points outside of variable '%s'",
                              sub->path, v->name);
    struct blob_part part =
        clip(w, s, p, cdf_record_offset(h, v, s->record) + p->pos * s->var->size);
    bool told = !v->is_record || s->record < h->numrecs;
    if (told && part.at > sub->file.size - part.n) return util_blob_cut(sub, v);
    return want(w, s, &part);
}

static int want_piece(struct window *w, const struct stretch *s,
                      const struct blob_piece *p)
{
    return w->b->facts.framed ? want_framed(w, s, p) : want_plain(w, s, p);
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
    int done = read_wants(w, s);
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
