/* Reads values of blobs that are in frames, and checks the tables that locate the frames.
 *
 * A variable's table is a list of pages in the log of a subfile; page k covers 2^k
 * records. The module subfile reads tables, chains and frames; here they are combined. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "util_blob_impl.h"

/* ---- values ---- */

static struct subfile *file_of(const struct util_blob_row *r)
{
    return &r->c->blob->subs[r->number].subfile;
}

int util_blob_framed_at(const struct util_blob_row *r, int64_t pos,
                        struct subfile_blob *blob, bool *in_master)
{
    struct subfile_place place;
    int varid = r->var->varid, number = r->c->blob->numbers[varid];
    int err = subfile_find_blob(file_of(r), number, varid, pos, blob);
    if (err == NC_NOERR)
        err = subfile_find_place(file_of(r), varid, r->record, blob->number, &place);
    if (err == NC_NOERR) *in_master = place.bytes == 0;
    return err;
}

int util_blob_framed_chain(const struct util_blob_row *r, struct subfile_blob *blob,
                           const struct subfile_chain **chain)
{
    int varid = r->var->varid, number = r->c->blob->numbers[varid];
    int err = subfile_get_blob(file_of(r), number, varid, blob);
    return err == NC_NOERR ? subfile_find_chain(file_of(r), varid, r->record, blob, chain)
                           : err;
}

int util_blob_framed_read(const struct util_blob_row *r, int64_t at, void *bytes,
                          int64_t n)
{
    char *to = bytes;
    for (int64_t m; n > 0; n -= m, at += m, to += m) {
        struct subfile_blob blob;
        const struct subfile_chain *c = NULL;
        const unsigned char *values;
        bool in_master;
        int err = util_blob_framed_at(r, at / r->var->size, &blob, &in_master);
        if (err == NC_NOERR) err = util_blob_framed_chain(r, &blob, &c);
        if (err != NC_NOERR) return err;
        if (c == NULL)
            return subfile_complain(file_of(r), r->var->varid, r->record, blob.number,
                                    NC_ENOTNC, "they have no frames");
        int64_t from = at - blob.start * r->var->size, i = from / SUBFILE_FRAME;
        int64_t left = subfile_frame_values(c, i) - from % SUBFILE_FRAME;
        err = subfile_find_values(file_of(r), c, i, &values);
        if (err != NC_NOERR) return err;
        m = n < left ? n : left;
        memcpy(to, values + from % SUBFILE_FRAME, (size_t)m);
    }
    return NC_NOERR;
}

/* ---- tables ---- */

int64_t util_blob_framed_records(struct util_blob *b, int number)
{
    struct subfile *s = &b->subs[number].subfile;
    int64_t *pages, most = 0;
    for (int i = b->nfixed; i < b->nvars && b->subs[number].there; i++) {
        if (subfile_get_pages(s, b->vars[i].varid, true, &pages) != NC_NOERR) continue;
        for (int k = 0; k < SUBFILE_LEVELS; k++) {
            int64_t n = (INT64_C(2) << k) - 1;
            if (n > most && subfile_has_page(s, k, pages[k])) most = n;
        }
    }
    return most;
}

struct page {
    const struct util_blob_var *var;
    int64_t at, bytes;
};

struct checking {
    const struct util_classic *c;
    int number;
    util_blob_report_fn *report;
    void *to;
    int status;
};

static void complain(struct checking *x, const struct util_blob_var *v, const char *what)
{
    char line[NC_MAX_NAME + 120];
    snprintf(line, sizeof line, "variable '%s': %s", x->c->header.vars[v->varid].name,
             what);
    x->report(x->to, x->c->blob->subs[x->number].path, line);
    x->status = -1;
}

static int by_place(const void *a, const void *b)
{
    const struct page *p = a, *q = b;
    return (p->at > q->at) - (p->at < q->at);
}

/* Appends those of the variable's pages that are in the log to the list. Returns the new
 * length of the list. */
static int list_pages(struct checking *x, const struct util_blob_var *v,
                      struct page *list, int n)
{
    struct subfile *s = &x->c->blob->subs[x->number].subfile;
    int64_t nblobs = subfile_nblobs(s->facts, x->number), *at;
    if (subfile_var(s, v->varid) < 0) return n;
    int err = subfile_get_pages(s, v->varid, true, &at);
    if (err != NC_NOERR) {
        x->report(x->to, NULL, util_blob_message(err));
        x->status = -1;
    }
    for (int k = 0; k < (v->record ? SUBFILE_LEVELS : 1) && err == NC_NOERR; k++) {
        char what[64];
        snprintf(what, sizeof what, "the offset of page %d of its table is damaged", k);
        if (at[k] < 0)
            complain(x, v, what);
        else if (at[k] > 0 && subfile_has_page(s, k, at[k]))
            list[n++] = (struct page){v, at[k], subfile_page_size(k, nblobs)};
        else if (at[k] > 0)
            complain(x, v,
                     "a page of its table is outside the log or extends beyond its end");
    }
    return n;
}

static void check_sub(struct checking *x, struct page *list)
{
    struct util_blob *b = x->c->blob;
    int n = 0;
    for (int i = 0; i < b->nvars; i++)
        n = list_pages(x, &b->vars[i], list, n);
    if (n > 0) qsort(list, (size_t)n, sizeof *list, by_place);
    for (int i = 1; i < n; i++)
        if (list[i].at - list[i - 1].at < list[i - 1].bytes)
            complain(x, list[i].var, "a page of its table overlaps another page");
}

int util_blob_check_tables(const struct util_classic *c, util_blob_report_fn *report,
                           void *to)
{
    struct util_blob *b = c->blob;
    struct checking x = {.c = c, .report = report, .to = to};
    if (!b->facts.framed) return 0;
    struct page *list = base_malloc((size_t)b->nvars * SUBFILE_LEVELS * sizeof *list + 1);
    if (list == NULL) {
        report(to, NULL, base_error_text(NC_ENOMEM));
        return -1;
    }
    for (x.number = 0; x.number < b->facts.nsubfiles; x.number++)
        if (b->subs[x.number].there) check_sub(&x, list);
    base_free(list);
    return x.status;
}
