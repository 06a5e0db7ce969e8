/* Verifies the checksums of blobs.
 *
 * The work is divided into turns: a turn is one fixed-size variable, or one record of a
 * record variable, in one subfile. Turns are numbered by subfile and then in file order,
 * so that processes can share them. */
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_share.h"
#include "conv.h"
#include "subfile_names.h"
#include "subfile_sum.h"
#include "util_blob_impl.h"

enum { MOST_BLOBS = 4096 }; /* maximum number of blobs checked together */

struct checking {
    const struct util_classic *c;
    struct util_blob *b;
    util_blob_report_fn *report;
    void *to;
    struct util_blob_sums *sums;
    int64_t list[3][MOST_BLOBS]; /* checksums, first elements and lengths of blobs */
};

/* One record of a variable in a subfile. */
struct checked {
    const struct util_blob_var *var;
    struct util_blob_sub *sub;
    struct subfile_decomp source;
    int number, id, sums; /* number of the subfile; ids of its variables with the values
                           * and with the checksums */
    int64_t record;
};

/* ---- numbering the turns ---- */

/* Returns the number of records for which any subfile contains values. */
static int64_t records_of(const struct util_classic *c)
{
    struct util_blob *b = c->blob;
    int64_t most = 0;
    for (int i = 0; i < b->facts.nsubfiles; i++) {
        if (b->facts.framed) {
            int64_t n = util_blob_framed_records(b, i);
            if (n > most) most = n;
            continue;
        }
        const struct util_classic *f = &b->subs[i].file;
        int64_t size = f->header.record_size, from = f->header.begin_record;
        if (!b->subs[i].there || size == 0 || f->size <= from) continue;
        int64_t n = (f->size - from + size - 1) / size;
        if (n > most) most = n;
    }
    return most < c->header.numrecs ? most : c->header.numrecs;
}

/* Returns the number of turns per subfile. */
static int64_t turns_of(const struct util_classic *c)
{
    const struct util_blob *b = c->blob;
    return b->nfixed + (b->nvars - b->nfixed) * records_of(c);
}

/* ---- checking a turn ---- */

static int complain(struct checking *x, const struct checked *v, int64_t blob,
                    const char *what)
{
    char values[SUBFILE_TEXT], line[SUBFILE_TEXT + 80];
    subfile_describe(&v->sub->subfile, v->var->varid, v->record, blob, values);
    snprintf(line, sizeof line, "%s %s", values, what);
    x->report(x->to, v->sub->path, line);
    x->sums->wrong++;
    return -1;
}

static int report_error(struct checking *x, int err)
{
    if (err == NC_NOERR) return 0;
    x->report(x->to, NULL, util_blob_message(err));
    return -1;
}

static int sum_of(struct checking *x, const struct checked *v, int64_t first, int64_t n,
                  uint64_t *sum)
{
    const struct cdf_header *h = &v->sub->file.header;
    int64_t at = cdf_record_offset(h, &h->vars[v->id], v->record) + first * v->var->size;
    int64_t left = n * v->var->size;
    uint64_t seed = 0;
    int err = NC_NOERR;
    for (int64_t m; left > 0 && err == NC_NOERR; left -= m, at += m) {
        m = left < UTIL_BLOB_BYTES ? left : UTIL_BLOB_BYTES;
        err = util_blob_bytes(x->b, v->number, at, x->b->bytes, m);
        if (err == NC_NOERR)
            seed = subfile_sum_add_external(seed, x->b->bytes, v->var->size, m);
    }
    *sum = subfile_sum_end(seed);
    return err;
}

static int check_blob(struct checking *x, const struct checked *v, int64_t blob,
                      int64_t i)
{
    uint64_t sum, recorded = (uint64_t)x->list[0][i];
    int64_t first = x->list[1][i], n = x->list[2][i];
    if (n == 0) return 0;
    if (!subfile_sum_is_known(recorded)) {
        x->sums->none++;
        return 0;
    }
    if (first < 0 || n < 0 || first > v->source.nelems || n > v->source.nelems - first)
        return complain(x, v, blob, "have a map that exceeds the bounds of the variable");
    int status = report_error(x, sum_of(x, v, first, n, &sum));
    if (status != 0) return status;
    if (sum != recorded)
        return complain(x, v, blob, "are damaged: their checksum is wrong");
    x->sums->right++;
    return 0;
}

/* Reads the checksums of n blobs, starting with blob `first`. Checksums after the end of
 * the file are 0, which means that none is recorded. */
static int read_sums(struct checking *x, const struct checked *v, int64_t first,
                     int64_t n)
{
    unsigned char bytes[MOST_BLOBS * 8];
    const struct cdf_header *h = &v->sub->file.header;
    int64_t at = cdf_record_offset(h, &h->vars[v->sums], v->record) + 8 * first;
    int err = util_blob_bytes(x->b, v->number, at, bytes, 8 * n);
    if (err != NC_NOERR) return err;
    return conv_get(x->list[0], CONV_LONGLONG, bytes, NC_INT64, (size_t)n);
}

static int check_blobs(struct checking *x, const struct checked *v)
{
    const struct subfile_decomp *s = &v->source;
    int status = 0;
    for (int64_t at = 0, n; at < s->nblobs; at += n) {
        n = s->nblobs - at < MOST_BLOBS ? s->nblobs - at : MOST_BLOBS;
        const struct subfile_numbers lists[] = {{s->start, 0, at, n, x->list[1]},
                                                {s->count, 0, at, n, x->list[2]}};
        memset(x->list[0], 0, sizeof x->list[0]);
        int err = v->sums < 0 ? NC_NOERR : read_sums(x, v, at, n);
        err = s->read(v->sub, lists, 2, err);
        if (err != NC_NOERR) return report_error(x, err);
        for (int64_t i = 0; i < n; i++)
            if (check_blob(x, v, at + i, i) != 0) status = -1;
    }
    return status;
}

/* Expands all frames of a blob, which verifies their checksums. Sets *any to whether the
 * blob has frames. */
static int expand_blob(const struct util_blob_row *r, struct subfile *s, int64_t number,
                       bool *any)
{
    struct subfile_blob blob = {.number = number};
    const struct subfile_chain *c;
    const unsigned char *values;
    int err = util_blob_framed_chain(r, &blob, &c);
    *any = err == NC_NOERR && c != NULL;
    int64_t n = *any ? subfile_chain_frames(c->nelems * c->size) : 0;
    for (int64_t i = 0; i < n && err == NC_NOERR; i++)
        err = subfile_find_values(s, c, i, &values);
    return err;
}

/* Checks values in frames, whose checksums are in the chains. Reports a damaged table
 * only once. */
static int check_frames(struct checking *x, const struct checked *v)
{
    const struct util_blob_row row = {x->c, v->number, v->var, v->record};
    struct subfile *s = &v->sub->subfile;
    int64_t n = subfile_nblobs(&x->b->facts, v->number);
    int status = 0;
    bool table = true;
    for (int64_t i = 0; i < n && table; i++) {
        struct subfile_blob blob = {.number = i};
        struct subfile_place place;
        bool any = false;
        int err = subfile_get_blob(s, x->b->numbers[v->var->varid], v->var->varid, &blob);
        if (err == NC_NOERR)
            err = subfile_find_place(s, v->var->varid, v->record, i, &place);
        table = err == NC_NOERR;
        if (table) err = expand_blob(&row, s, i, &any);
        if (report_error(x, err) != 0) status = -1;
        x->sums->wrong += err != NC_NOERR;
        x->sums->right += err == NC_NOERR && any;
    }
    return status;
}

static int check_turn(struct checking *x, int number, int64_t turn)
{
    struct util_blob *b = x->b;
    int64_t nrecord = b->nvars - b->nfixed, t = turn - b->nfixed;
    struct checked v = {.number = number, .sub = &b->subs[number]};
    v.var = &b->vars[t < 0 ? turn : b->nfixed + t % nrecord];
    v.record = t < 0 ? 0 : t / nrecord;
    v.id = v.sub->there ? v.sub->subfile.varids[v.var->varid] : -1;
    if (v.id < 0) return 0;
    const struct util_blob_decomp *d = &b->decomps[v.var->decomp];
    const struct cdf_header *h = &v.sub->file.header;
    if (b->facts.framed) return check_frames(x, &v);
    int err = subfile_find_decomp(&v.sub->subfile, d->number, v.var->varid, &v.source);
    if (err != NC_NOERR) return report_error(x, err);
    v.sums = subfile_sum_var(h, d->number, v.var->varid);
    if (v.sums >= 0 && (h->vars[v.sums].nelems != v.source.nblobs ||
                        h->vars[v.sums].is_record != v.var->record))
        v.sums = -1;
    return check_blobs(x, &v);
}

int64_t util_blob_sum_turns(const struct util_classic *c, int64_t share, int64_t shares)
{
    int64_t all = turns_of(c) * c->blob->facts.nsubfiles;
    return base_share_begin(all, shares, share + 1) -
           base_share_begin(all, shares, share);
}

int util_blob_check_sums(struct util_classic *c, int64_t share, int64_t shares,
                         util_blob_report_fn *report, void *to,
                         struct util_progress *progress, struct util_blob_sums *sums)
{
    struct util_blob *b = c->blob;
    *sums = (struct util_blob_sums){0, 0, 0};
    if (util_blob_is_foreign(b) || (!base_can_sum() && !b->facts.framed)) return 0;
    struct checking *x = base_malloc(sizeof *x);
    if (x == NULL) {
        report(to, NULL, base_error_text(NC_ENOMEM));
        return -1;
    }
    *x = (struct checking){.c = c, .b = b, .report = report, .to = to, .sums = sums};
    int64_t turns = turns_of(c), all = turns * b->facts.nsubfiles;
    int64_t first = base_share_begin(all, shares, share);
    int64_t end = base_share_begin(all, shares, share + 1);
    int status = share == 0 ? util_blob_check_tables(c, report, to) : 0;
    for (int64_t i = first; i < end; i++) {
        if (check_turn(x, (int)(i / turns), i % turns) != 0) status = -1;
        util_progress_at(progress, i + 1 - first);
    }
    base_free(x);
    return status;
}
