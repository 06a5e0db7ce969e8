/* Tables of values in frames: where their pages lie in the logs of subfiles. */
#include <stdio.h>
#include <stdlib.h>

#include "base_error.h"
#include "base_mem.h"
#include "util_blob_impl.h"

struct page {
    const struct util_blob_var *var;
    int64_t at, bytes;
};

int util_blob_levels(struct util_blob *b, int number, const struct util_blob_var *v,
                     int64_t at[BLOB_LEVELS])
{
    const struct blob_numbers list = {b->subs[number].varids[v->varid], 0, 0, BLOB_LEVELS,
                                      at};
    for (int i = 0; i < BLOB_LEVELS; i++)
        at[i] = 0;
    if (list.varid < 0) return NC_NOERR;
    int err = util_blob_numbers(b, number, &list);
    for (int i = 1; i < BLOB_LEVELS && !v->record; i++)
        at[i] = 0;
    return err;
}

bool util_blob_page_is_there(struct util_blob *b, int number, int level, int64_t at)
{
    const struct util_blob_sub *s = &b->subs[number];
    int64_t nblobs = util_blob_group_size(b, number);
    if (at <= 0 || nblobs > (s->file.size / BLOB_PLACE) >> level) return false;
    return util_blob_log_has(b, number, at, blob_page_bytes(level, nblobs));
}

int64_t util_blob_framed_records(struct util_blob *b, int number)
{
    int64_t at[BLOB_LEVELS], most = 0;
    for (int i = b->nfixed; i < b->nvars && b->subs[number].there; i++) {
        if (util_blob_levels(b, number, &b->vars[i], at) != NC_NOERR) continue;
        for (int k = 0; k < BLOB_LEVELS; k++) {
            int64_t n = (INT64_C(2) << k) - 1;
            if (n > most && util_blob_page_is_there(b, number, k, at[k])) most = n;
        }
    }
    return most;
}

/* ---- the check ---- */

struct checking {
    const struct util_classic *c;
    int number;
    util_blob_tell *tell;
    void *to;
    int status;
};

static void complain(struct checking *x, const struct util_blob_var *v, const char *what)
{
    char line[NC_MAX_NAME + 120];
    snprintf(line, sizeof line, "variable '%s': %s", x->c->header.vars[v->varid].name,
             what);
    x->tell(x->to, x->c->blob->subs[x->number].path, line);
    x->status = -1;
}

static int by_place(const void *a, const void *b)
{
    const struct page *p = a, *q = b;
    return (p->at > q->at) - (p->at < q->at);
}

/* Adds the pages of a variable that are in the log to the list; how many it has then. */
static int list_pages(struct checking *x, const struct util_blob_var *v,
                      struct page *list, int n)
{
    struct util_blob *b = x->c->blob;
    int64_t at[BLOB_LEVELS];
    int err = util_blob_levels(b, x->number, v, at);
    if (err != NC_NOERR) {
        x->tell(x->to, NULL, base_error_detail(err));
        x->status = -1;
        return n;
    }
    for (int k = 0; k < BLOB_LEVELS; k++) {
        if (at[k] == 0) continue;
        if (util_blob_page_is_there(b, x->number, k, at[k]))
            list[n++] = (struct page){
                v, at[k], blob_page_bytes(k, util_blob_group_size(b, x->number))};
        else
            complain(x, v,
                     "a page of its table is outside of the log, or reaches beyond "
                     "its end");
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
            complain(x, list[i].var,
                     "a page of its table is where another one is already");
}

int util_blob_check_tables(const struct util_classic *c, util_blob_tell *tell, void *to)
{
    struct util_blob *b = c->blob;
    struct checking x = {.c = c, .tell = tell, .to = to};
    if (!b->facts.framed) return 0;
    struct page *list = base_malloc((size_t)b->nvars * BLOB_LEVELS * sizeof *list + 1);
    if (list == NULL) {
        tell(to, NULL, base_error_text(NC_ENOMEM));
        return -1;
    }
    for (x.number = 0; x.number < b->facts.nsubfiles; x.number++)
        if (b->subs[x.number].there) check_sub(&x, list);
    base_free(list);
    return x.status;
}
