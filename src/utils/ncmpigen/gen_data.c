/* The data section: NAME = VALUE, ... ; for each variable. Values are gathered in pieces.
 */
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "gen.h"
#include "util_message.h"

enum { ROOM = 1 << 20 }; /* bytes of a piece */

/* The variable whose values are being read. */
struct reader {
    struct gen *g;
    struct cdl_scan *s;
    int varid;
    const struct cdf_var *v;
    int size;
    int64_t most;    /* elements the variable may have */
    int64_t *length; /* of its dimensions */
    struct util_piece piece;
    int64_t used; /* elements in the piece */
    unsigned char fill[8];
    unsigned char *values;
};

int gen_complain(int err)
{
    const char *detail = base_error_detail(err);
    if (detail[0] == '\0') detail = base_error_text(err);
    util_message(GEN_TOOL, NULL, -1, "%s", detail);
    return -1;
}

static int misplaced(struct reader *r, const char *wanted)
{
    return gen_complain(cdl_unexpected(r->s, wanted));
}

/* ---- pieces ---- */

static void next_piece(struct reader *r, int64_t first)
{
    int64_t most = ROOM / r->size;
    if (r->g->sink->most < most) most = r->g->sink->most;
    util_piece_make(&r->piece, r->v->ndims, r->length, first, most);
    r->used = 0;
}

static int put_piece(struct reader *r)
{
    if (r->used == 0) return 0;
    r->g->written[r->varid] = r->piece.first + r->piece.n;
    if (r->g->sink->piece(r->g, r->varid, &r->piece, r->values) != 0) return -1;
    util_progress_at(&r->g->progress, r->s->at - r->s->text);
    next_piece(r, r->piece.first + r->piece.n);
    return 0;
}

/* Room for one element; NULL after an error line. */
static unsigned char *room(struct reader *r)
{
    if (r->piece.first + r->used >= r->most) {
        gen_complain(cdl_fail(r->s, r->s->start, NC_EEDGE,
                              "more values than variable '%.80s' has elements (%lld)",
                              r->v->name, (long long)r->most));
        return NULL;
    }
    if (r->used == r->piece.n && put_piece(r) != 0) return NULL;
    return r->values + r->used++ * r->size;
}

static int put_fill(struct reader *r, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        unsigned char *to = room(r);
        if (to == NULL) return -1;
        memcpy(to, r->fill, (size_t)r->size);
    }
    return 0;
}

/* The last piece goes on to its end, but not behind the last record begun. */
static int finish(struct reader *r)
{
    const struct cdf_var *v = r->v;
    int64_t have = r->piece.first + r->used, end = r->piece.first + r->piece.n;
    if (r->used == 0) return 0;
    if (v->is_record && v->nelems > 0 && r->piece.count[0] > 1) {
        int64_t records = (have + v->nelems - 1) / v->nelems;
        r->piece.count[0] = records - r->piece.start[0];
        end = records * v->nelems;
        r->piece.n = end - r->piece.first;
    }
    if (put_fill(r, end - have) != 0 || put_piece(r) != 0) return -1;
    /* What is missing in the last record. */
    int64_t rest = v->is_record && v->nelems > 0 ? end % v->nelems : 0;
    if (rest == 0) return 0;
    if (put_fill(r, v->nelems - rest) != 0) return -1;
    return put_piece(r);
}

/* ---- values ---- */

/* A string fills rows of the last dimension; those of one dimension follow each other. */
static int put_string(struct reader *r)
{
    struct cdl_scan *s = r->s;
    const struct cdf_var *v = r->v;
    if (v->type != NC_CHAR)
        return gen_complain(cdl_fail(s, s->start, NC_ECHAR,
                                     "text for variable '%.80s' of numbers", v->name));
    char *text = base_malloc((size_t)(s->at - s->start));
    if (text == NULL) return gen_complain(NC_ENOMEM);
    int64_t n = (int64_t)cdl_string(s, text), i = 0;
    for (unsigned char *to; i < n && (to = room(r)) != NULL; i++)
        *to = (unsigned char)text[i];
    base_free(text);
    if (i < n) return -1;
    int64_t row = v->ndims > 1 ? v->shape[v->ndims - 1] : 1;
    int64_t rest = n == 0 && v->ndims > 1 ? row : (row - n % row) % row;
    return put_fill(r, rest);
}

static int put_number(struct reader *r)
{
    const struct cdl_number *n = &r->s->number;
    unsigned char *to = room(r);
    if (to == NULL) return -1;
    if (r->v->type == NC_CHAR && n->quoted) {
        *to = (unsigned char)n->value.i;
        return 0;
    }
    int err = cdl_number_put(n, r->v->type, to);
    if (err == NC_NOERR) return 0;
    return gen_complain(cdl_fail(
        r->s, r->s->start, err, "a value that variable '%.80s' cannot have", r->v->name));
}

static int put_value(struct reader *r)
{
    struct cdl_scan *s = r->s;
    if (s->kind == CDL_STRING) return put_string(r);
    if (cdl_is(s, "_")) return put_fill(r, 1);
    if (cdl_want_number(s)) return put_number(r);
    return misplaced(r, "a value");
}

static int put_values(struct reader *r)
{
    if (r->s->kind == ';') return 0;
    for (;; cdl_next(r->s)) {
        if (put_value(r) != 0) return -1;
        cdl_next(r->s);
        if (r->s->kind == ';') return finish(r);
        if (r->s->kind != ',') return misplaced(r, "',' or ';'");
    }
}

/* ---- variables ---- */

static int begin_variable(struct reader *r, int varid)
{
    const struct cdf_header *h = &r->g->header;
    const struct cdf_var *v = &h->vars[varid];
    r->varid = varid;
    r->v = v;
    r->size = cdf_type_size(v->type);
    r->most = v->is_record ? INT64_MAX / 16 : v->nelems;
    if (v->is_record && v->nelems == 0) r->most = 0;
    int64_t *room = base_realloc(r->length, 3 * ((size_t)v->ndims + 1) * sizeof *room);
    if (room == NULL) return gen_complain(NC_ENOMEM);
    r->length = room;
    for (int i = 0; i < v->ndims; i++)
        room[i] = i == 0 && v->is_record ? INT64_MAX / 2 : v->shape[i];
    r->piece.start = room + v->ndims;
    r->piece.count = r->piece.start + v->ndims;
    cdf_fill_value(h, varid, r->fill);
    r->g->written[varid] = 0;
    next_piece(r, 0);
    return 0;
}

/* NAME = VALUES ; */
static int variable(struct reader *r)
{
    struct cdl_scan *s = r->s;
    char name[NC_MAX_NAME + 1];
    int varid;
    if (s->kind != CDL_NAME) return misplaced(r, "a variable's name or '}'");
    int err = cdl_name(s, name);
    if (err == NC_NOERR && cdf_find_var(&r->g->header, name, &varid) != NC_NOERR)
        err = cdl_fail(s, s->start, NC_ENOTVAR, "there is no variable '%.80s'", name);
    if (err != NC_NOERR) return gen_complain(err);
    cdl_next(s);
    if (s->kind != '=') return misplaced(r, "'='");
    cdl_next(s);
    if (begin_variable(r, varid) != 0 || put_values(r) != 0) return -1;
    cdl_next(s);
    return 0;
}

/* As many records as the variable has that has most; the others are filled up. */
static int fill_rest(struct gen *g)
{
    struct cdf_header *h = &g->header;
    for (int i = 0; i < h->nvars; i++) {
        const struct cdf_var *v = &h->vars[i];
        if (!v->is_record || v->nelems == 0) continue;
        int64_t records = g->written[i] / v->nelems;
        if (records > h->numrecs) h->numrecs = records;
    }
    for (int i = 0; i < h->nvars && !g->no_fill; i++) {
        const struct cdf_var *v = &h->vars[i];
        int64_t total = v->is_record ? v->nelems * h->numrecs : v->nelems;
        if (g->written[i] < total && g->sink->fill(g, i, g->written[i], total) != 0)
            return -1;
    }
    return 0;
}

static int read_section(struct reader *r)
{
    r->values = base_malloc(ROOM);
    if (r->values == NULL) return gen_complain(NC_ENOMEM);
    int status = 0;
    if (r->s->kind == ':') {
        cdl_next(r->s);
        while (status == 0 && r->s->kind != '}')
            status = variable(r);
    }
    if (status == 0) {
        cdl_next(r->s);
        if (r->s->kind != CDL_END) status = misplaced(r, "the end");
    }
    return status;
}

int gen_data(struct gen *g)
{
    struct reader r = {.g = g, .s = &g->scan};
    int status = read_section(&r);
    base_free(r.values);
    base_free(r.length);
    return status == 0 ? fill_rest(g) : -1;
}
