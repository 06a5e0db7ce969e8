/* Copies values from blobs to their places in the single file.
 *
 * For each variable that overlaps the window, the index yields the pieces to be read from
 * subfiles. These are collected, joined into runs in subfile order, so that neighbours in
 * a blob are read together, and copied to the window. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "util_blob_impl.h"

/* The part of the single file that is being read. */
struct window {
    struct util_blob *b;
    const struct util_classic *c;
    int64_t low, high; /* it covers file offsets [low, high) */
    char *bytes;
    int64_t end; /* end of the last byte that came from a blob */
};

/* A range of elements of a record or of a fixed-size variable. */
struct stretch {
    const struct util_blob_var *var;
    int64_t record, begin; /* number of the record; file offset of its part */
    int64_t first, last;   /* elements [first, last) */
};

/* ---- reading the collected pieces ---- */

/* Joins pieces that are adjacent in a subfile into runs, even if other pieces come
 * between them in the single file, so there are about as many runs as blobs. */
static int make_runs(struct util_blob *b)
{
    const struct subfile_joining how = {.most = INT64_MAX, .longest = UTIL_BLOB_BYTES};
    int64_t before = 0;
    bool apart;
    int err = subfile_runs_make(&b->runs, b->pieces, b->npieces, &how);
    if (err == NC_NOERR) err = subfile_runs_sort(&b->runs, &apart);
    for (int64_t i = 0; i < b->runs.n && err == NC_NOERR; i++) {
        struct subfile_part *run = subfile_runs_at(&b->runs, i);
        run->copy = before; /* index in b->order of the run's next piece */
        before += run->run;
    }
    for (int i = 0; i < b->npieces && err == NC_NOERR; i++)
        b->order[b->runs.list[b->pieces[i].run].copy++] = i;
    return err;
}

/* Returns the number of runs, starting with run i, that one call can read. Sets *end to
 * the end of the last one. Reading a small gap costs less than another call. */
static int64_t together(const struct util_blob *b, int64_t i, int64_t *end)
{
    enum { GAP = 1 << 13 };
    const struct subfile_part *first = subfile_runs_at(&b->runs, i);
    int64_t k = 1;
    *end = first->at + first->n;
    for (; i + k < b->runs.n; k++) {
        const struct subfile_part *r = subfile_runs_at(&b->runs, i + k);
        if (r->sub != first->sub || r->at - *end > GAP) break;
        if (r->at + r->n - first->at > UTIL_BLOB_BYTES) break;
        if (r->at + r->n > *end) *end = r->at + r->n;
    }
    return k;
}

/* Reads n runs, starting with run i. If there is only one piece, reads it directly into
 * its destination. */
static int read_group(struct util_blob *b, int64_t i, int64_t n, int64_t end)
{
    const struct subfile_part *first = subfile_runs_at(&b->runs, i);
    int64_t from = first->copy - first->run,
            to = subfile_runs_at(&b->runs, i + n - 1)->copy;
    bool one = to - from == 1;
    char *bytes = one ? b->pieces[b->order[from]].values : b->bytes;
    int err = util_blob_bytes(b, first->sub, first->at, bytes, end - first->at);
    for (int64_t k = from; k < to && !one && err == NC_NOERR; k++) {
        const struct subfile_part *w = &b->pieces[b->order[k]];
        memcpy(w->values, bytes + (w->at - first->at), (size_t)w->n);
    }
    return err;
}

/* Reads the pieces of run i, which are in frames. Because runs are sorted, each frame is
 * expanded only once. */
static int read_framed(const struct util_classic *c, const struct stretch *s, int64_t i)
{
    struct util_blob *b = c->blob;
    const struct subfile_part *run = subfile_runs_at(&b->runs, i);
    const struct util_blob_row row = {c, run->sub, s->var, s->record};
    int err = NC_NOERR;
    for (int64_t k = run->copy - run->run; k < run->copy && err == NC_NOERR; k++) {
        const struct subfile_part *w = &b->pieces[b->order[k]];
        err = util_blob_framed_read(&row, w->at, w->values, w->n);
    }
    return err;
}

static int read_pieces(const struct window *w, const struct stretch *s)
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
    b->npieces = 0;
    return err;
}

static int add_part(struct window *window, const struct stretch *s,
                    const struct subfile_part *w)
{
    struct util_blob *b = window->b;
    if (b->npieces > 0) {
        struct subfile_part *last = &b->pieces[b->npieces - 1];
        if (last->sub == w->sub && last->at + last->n == w->at &&
            last->values + last->n == w->values) {
            last->n += w->n;
            return NC_NOERR;
        }
    }
    int err = b->npieces == UTIL_BLOB_PIECES ? read_pieces(window, s) : NC_NOERR;
    b->pieces[b->npieces++] = *w;
    return err;
}

/* ---- collecting the pieces of a variable ---- */

/* Sets the error for elements that are in none of the existing blobs, but may be in a
 * missing subfile. */
static int report_missing(const struct window *w, const struct stretch *s, int64_t from,
                          int64_t to)
{
    const struct util_blob *b = w->b;
    int i = 0;
    while (b->subs[i].there)
        i++;
    char record[48] = "";
    if (s->var->record)
        snprintf(record, sizeof record, " of record %lld", (long long)s->record);
    return base_error_set(
        NC_ENOENT, "variable '%s': elements %lld to %lld%s are in a missing subfile: %s",
        w->c->header.vars[s->var->varid].name, (long long)from, (long long)to - 1, record,
        b->subs[i].path);
}

/* Handles elements that are in no blob, and so usually in the master file. */
static int check_absent(const struct window *w, const struct stretch *s, int64_t from,
                        int64_t to)
{
    if (w->b->nmissing > 0) return report_missing(w, s, from, to);
    if (!util_blob_is_foreign(w->b)) return NC_NOERR;
    return subfile_foreign_check_gap(&w->b->foreign, &w->c->header, w->c->path,
                                     s->var->varid, s->record, from);
}

/* Clips a piece to the window. The piece begins at byte `from` of the subfile or, for
 * values in frames, of the subfile's variable. */
static struct subfile_part clip(struct window *w, const struct stretch *s,
                                const struct subfile_piece *p, int64_t from)
{
    int64_t low = s->begin + p->at * s->var->size, high = low + p->n * s->var->size;
    if (low < w->low) {
        from += w->low - low;
        low = w->low;
    }
    if (high > w->high) high = w->high;
    if (high > w->end) w->end = high;
    return (struct subfile_part){
        .at = from, .n = high - low, .values = w->bytes + (low - w->low), .sub = p->sub};
}

/* Collects the parts of a piece that are in frames. The values of blobs without frames
 * are in the master file. */
static int add_framed(struct window *w, const struct stretch *s,
                      const struct subfile_piece *p)
{
    const struct util_blob_row row = {w->c, p->sub, s->var, s->record};
    int err = NC_NOERR;
    for (int64_t done = 0; done < p->n && err == NC_NOERR;) {
        struct subfile_piece q = {p->at + done, p->n - done, p->pos + done, p->sub};
        struct subfile_blob blob;
        bool in_master;
        err = util_blob_framed_at(&row, q.pos, &blob, &in_master);
        if (err != NC_NOERR) return err;
        int64_t left = blob.start + blob.nelems - q.pos;
        if (q.n > left) q.n = left;
        struct subfile_part part = clip(w, s, &q, q.pos * s->var->size);
        if (!in_master) err = add_part(w, s, &part);
        done += q.n;
    }
    return err;
}

static int add_plain(struct window *w, const struct stretch *s,
                     const struct subfile_piece *p)
{
    const struct util_blob_sub *sub = &w->b->subs[p->sub];
    const struct cdf_header *h = &sub->file.header;
    int id = sub->subfile.varids[s->var->varid];
    const struct cdf_var *v = &h->vars[id];
    int err = util_blob_is_foreign(w->b)
                  ? subfile_foreign_check_size(&sub->subfile, id, s->record, p->pos, p->n)
                  : NC_NOERR;
    if (err != NC_NOERR) return err;
    if (p->pos > v->nelems - p->n || (v->is_record && s->record >= cdf_max_records(h)))
        return base_error_set(NC_ENOTNC, "%s: a map exceeds the bounds of variable '%s'",
                              sub->path, v->name);
    struct subfile_part part =
        clip(w, s, p, cdf_record_offset(h, v, s->record) + p->pos * s->var->size);
    bool counted = !v->is_record || s->record < h->numrecs;
    if (counted && part.at > sub->file.size - part.n) return util_blob_cut(sub, v);
    return add_part(w, s, &part);
}

static int add_piece(struct window *w, const struct stretch *s,
                     const struct subfile_piece *p)
{
    return w->b->facts.framed ? add_framed(w, s, p) : add_plain(w, s, p);
}

/* Collects the pieces for elements [at, end), which the index covers. */
static int add_index(struct window *w, const struct stretch *s,
                     const struct subfile_index *x, int64_t at, int64_t end)
{
    int err = NC_NOERR;
    for (int64_t i = subfile_index_find(x, at); i < x->n && err == NC_NOERR; i++) {
        struct subfile_piece p = x->pieces[i];
        if (p.at >= end) break;
        if (p.at < at) {
            p.pos += at - p.at;
            p.n -= at - p.at;
            p.at = at;
        }
        if (p.n > end - p.at) p.n = end - p.at;
        if (p.at > at && (err = check_absent(w, s, at, p.at)) != NC_NOERR) return err;
        err = add_piece(w, s, &p);
        at = p.at + p.n;
    }
    return err == NC_NOERR && at < end ? check_absent(w, s, at, end) : err;
}

static int insert_stretch(struct window *w, const struct stretch *s)
{
    struct util_blob_decomp *d = &w->b->decomps[s->var->decomp];
    int err = NC_NOERR;
    for (int64_t at = s->first, end; at < s->last && err == NC_NOERR; at = end) {
        err = util_blob_index(w->c, d, at);
        end = d->index.high < s->last ? d->index.high : s->last;
        if (err == NC_NOERR) err = add_index(w, s, &d->index, at, end);
    }
    int done = read_pieces(w, s);
    return err != NC_NOERR ? err : done;
}

/* ---- the variables of the window ---- */

/* Copies those variables of a list that overlap the window. `shift` is the distance in
 * bytes of this record from the first one. */
static int insert_list(struct window *w, const struct util_blob_var *vars, int n,
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
        err = insert_stretch(w, &s);
    }
    return err;
}

static int insert_records(struct window *w)
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
        err = insert_list(w, vars, n, i, i * h->record_size);
    return err;
}

int64_t util_blob_insert(const struct util_classic *c, int64_t offset, void *bytes,
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
    /* If a job was killed, it may not have extended the master file to the end of the
     * last record. */
    if (!util_blob_is_complete(c) && w.end < whole)
        w.end = whole < w.high ? whole : w.high;
    int err = insert_list(&w, w.b->vars, w.b->nfixed, 0, 0);
    if (err == NC_NOERR) err = insert_records(&w);
    if (err == NC_NOERR) return w.end - offset;
    snprintf(w.b->words, sizeof w.b->words, "%s", util_blob_message(err));
    errno = EIO;
    return -1;
}
