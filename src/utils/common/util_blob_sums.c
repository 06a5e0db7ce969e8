/* Are the values of blobs those that were written? Their checksums tell. */
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_share.h"
#include "blob_names.h"
#include "blob_sum.h"
#include "conv.h"
#include "util_blob_impl.h"

enum { MOST_BLOBS = 4096 }; /* looked at together */

struct checking {
    const struct util_classic *c;
    struct util_blob *b;
    util_blob_tell *tell;
    void *to;
    struct util_blob_sums *sums;
    int64_t list[3][MOST_BLOBS]; /* checksums; first elements; how many */
};

/* One variable of a subfile, one record of it. */
struct checked {
    const struct util_blob_var *var;
    struct util_blob_sub *sub;
    struct blob_source source;
    int number, id, sums; /* of the subfile; its variables */
    int64_t record;
};

/* ---- what there is to be checked ---- */

/* Records that any of the files has something of. */
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

/* A subfile's variables, in the order of the file. */
static int64_t turns_of(const struct util_classic *c)
{
    const struct util_blob *b = c->blob;
    return b->nfixed + (b->nvars - b->nfixed) * records_of(c);
}

/* ---- one variable, one record ---- */

void util_blob_whose(const struct util_blob_row *r, int64_t blob,
                     char words[UTIL_BLOB_WHOSE])
{
    const struct cdf_envelope *e = &r->c->blob->facts;
    char record[48] = "", process[64] = "";
    int64_t round = e->nsubfiles - 1;
    int64_t number = (r->number * e->nprocs + round) / e->nsubfiles + blob;
    if (r->var->record)
        snprintf(record, sizeof record, ", record %lld", (long long)r->record);
    if (blob >= 0)
        snprintf(process, sizeof process, ": what process %lld wrote", (long long)number);
    snprintf(words, UTIL_BLOB_WHOSE, "variable '%s'%s%s",
             r->c->header.vars[r->var->varid].name, record, process);
}

static int complain(struct checking *x, const struct checked *v, int64_t blob,
                    const char *what)
{
    const struct util_blob_row row = {x->c, v->number, v->var, v->record};
    char whose[UTIL_BLOB_WHOSE], line[UTIL_BLOB_WHOSE + 80];
    util_blob_whose(&row, blob, whose);
    snprintf(line, sizeof line, "%s %s", whose, what);
    x->tell(x->to, v->sub->path, line);
    x->sums->wrong++;
    return -1;
}

static int tell_error(struct checking *x, int err)
{
    if (err == NC_NOERR) return 0;
    x->tell(x->to, NULL, base_error_detail(err));
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
            seed = blob_sum_add_external(seed, x->b->bytes, v->var->size, m);
    }
    *sum = blob_sum_end(seed);
    return err;
}

static int check_blob(struct checking *x, const struct checked *v, int64_t blob,
                      int64_t i)
{
    uint64_t sum, told = (uint64_t)x->list[0][i];
    int64_t first = x->list[1][i], n = x->list[2][i];
    if (n == 0) return 0;
    if (!blob_sum_is_known(told)) {
        x->sums->none++;
        return 0;
    }
    if (first < 0 || n < 0 || first > v->source.nelems || n > v->source.nelems - first)
        return complain(x, v, blob, "has a map that points outside");
    int status = tell_error(x, sum_of(x, v, first, n, &sum));
    if (status != 0) return status;
    if (sum != told) return complain(x, v, blob, "is not there: its checksum differs");
    x->sums->right++;
    return 0;
}

/* Sums of n blobs from `first` on; behind the end of the file there are none. */
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
    const struct blob_source *s = &v->source;
    int status = 0;
    for (int64_t at = 0, n; at < s->nblobs; at += n) {
        n = s->nblobs - at < MOST_BLOBS ? s->nblobs - at : MOST_BLOBS;
        const struct blob_numbers lists[] = {{s->start, 0, at, n, x->list[1]},
                                             {s->count, 0, at, n, x->list[2]}};
        memset(x->list[0], 0, sizeof x->list[0]);
        int err = v->sums < 0 ? NC_NOERR : read_sums(x, v, at, n);
        for (int i = 0; i < 2 && err == NC_NOERR; i++)
            err = util_blob_numbers(x->b, v->number, &lists[i]);
        if (err != NC_NOERR) return tell_error(x, err);
        for (int64_t i = 0; i < n; i++)
            if (check_blob(x, v, at + i, i) != 0) status = -1;
    }
    return status;
}

/* Of values in frames these themselves tell. */
static int check_frames(struct checking *x, const struct checked *v)
{
    const struct util_blob_row row = {x->c, v->number, v->var, v->record};
    int64_t n;
    int status = tell_error(x, util_blob_framed_blobs(&row, &n));
    x->sums->wrong += status != 0;
    for (int64_t i = 0; i < n; i++) {
        bool any = false;
        int err = util_blob_framed_check(&row, i, &any);
        if (tell_error(x, err) != 0) status = -1;
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
    v.id = v.sub->there ? v.sub->varids[v.var->varid] : -1;
    if (v.id < 0) return 0;
    const struct util_blob_decomp *d = &b->decomps[v.var->decomp];
    const struct cdf_header *h = &v.sub->file.header;
    if (b->facts.framed) return check_frames(x, &v);
    int err = util_blob_source(b, number, v.id, d, &v.source);
    if (err != NC_NOERR) return tell_error(x, err);
    v.sums = blob_sum_var(h, d->number, v.var->varid);
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
                         util_blob_tell *tell, void *to, struct util_progress *progress,
                         struct util_blob_sums *sums)
{
    struct util_blob *b = c->blob;
    *sums = (struct util_blob_sums){0, 0, 0};
    if (util_blob_is_foreign(b) || (!base_can_sum() && !b->facts.framed)) return 0;
    struct checking *x = base_malloc(sizeof *x);
    if (x == NULL) {
        tell(to, NULL, base_error_text(NC_ENOMEM));
        return -1;
    }
    *x = (struct checking){.c = c, .b = b, .tell = tell, .to = to, .sums = sums};
    int64_t turns = turns_of(c), all = turns * b->facts.nsubfiles;
    int64_t first = base_share_begin(all, shares, share);
    int64_t end = base_share_begin(all, shares, share + 1);
    int status = share == 0 ? util_blob_check_tables(c, tell, to) : 0;
    for (int64_t i = first; i < end; i++) {
        if (check_turn(x, (int)(i / turns), i % turns) != 0) status = -1;
        util_progress_at(progress, i + 1 - first);
    }
    base_free(x);
    return status;
}
