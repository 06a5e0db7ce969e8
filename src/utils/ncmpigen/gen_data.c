/* Values, as they come from the data section, are gathered in pieces. Functions return 0,
 * GEN_SAID after an error line, or an error of cdl_fail. */
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "gen.h"
#include "util_message.h"

enum { ROOM = 1 << 20 }; /* bytes of a piece */

/* The variable whose values are being read. */
struct gen_reader {
    struct gen *g;
    int varid;
    const struct cdf_var *v;
    int size;
    int64_t most;    /* elements the variable may have */
    int64_t *length; /* of its dimensions */
    struct util_piece piece;
    int64_t used;   /* elements in the piece */
    int64_t string; /* of the string that is being read */
    struct cdl_place at;
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

/* ---- pieces ---- */

static void next_piece(struct gen_reader *r, int64_t first)
{
    int64_t most = ROOM / r->size;
    if (r->g->sink->most < most) most = r->g->sink->most;
    util_piece_make(&r->piece, r->v->ndims, r->length, first, most);
    r->used = 0;
}

static int put_piece(struct gen_reader *r)
{
    if (r->used == 0) return 0;
    r->g->written[r->varid] = r->piece.first + r->piece.n;
    if (r->g->sink->piece(r->g, r->varid, &r->piece, r->values) != 0) return GEN_SAID;
    util_progress_at(&r->g->progress, cdl_taken(r->g->reader));
    next_piece(r, r->piece.first + r->piece.n);
    return 0;
}

/* Room for n elements at most, and at least one: *n of them, at *to. */
static int room(struct gen_reader *r, int64_t *n, unsigned char **to)
{
    if (r->used == r->piece.n) {
        int status = put_piece(r);
        if (status != 0) return status;
    }
    int64_t at = r->piece.first + r->used;
    if (at >= r->most) {
        cdl_fail(r->g->reader, r->at, NC_EEDGE,
                 "more values than variable '%.80s' has elements (%lld)", r->v->name,
                 (long long)r->most);
        return NC_EEDGE;
    }
    if (*n > r->piece.n - r->used) *n = r->piece.n - r->used;
    if (*n > r->most - at) *n = r->most - at;
    *to = r->values + r->used * r->size;
    r->used += *n;
    return 0;
}

static int put_fill(struct gen_reader *r, int64_t n)
{
    while (n > 0) {
        int64_t part = n;
        unsigned char *to;
        int status = room(r, &part, &to);
        if (status != 0) return status;
        conv_fill(to, r->fill, r->size, (size_t)part);
        n -= part;
    }
    return 0;
}

static int put_text(struct gen_reader *r, const char *bytes, int64_t n)
{
    while (n > 0) {
        int64_t part = n;
        unsigned char *to;
        int status = room(r, &part, &to);
        if (status != 0) return status;
        memcpy(to, bytes, (size_t)part);
        bytes += part;
        n -= part;
    }
    return 0;
}

/* The last piece goes on to its end, but not behind the last record begun. */
static int finish(struct gen_reader *r)
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
    int status = put_fill(r, end - have);
    if (status == 0) status = put_piece(r);
    /* What is missing in the last record. */
    int64_t rest = v->is_record && v->nelems > 0 ? end % v->nelems : 0;
    if (status != 0 || rest == 0) return status;
    status = put_fill(r, v->nelems - rest);
    return status == 0 ? put_piece(r) : status;
}

/* ---- variables ---- */

static int begin_variable(void *to, struct cdl_place at, int varid)
{
    struct gen_reader *r = to;
    const struct cdf_header *h = &r->g->header;
    const struct cdf_var *v = &h->vars[varid];
    r->varid = varid;
    r->v = v;
    r->at = at;
    r->size = cdf_type_size(v->type);
    r->most = v->is_record ? INT64_MAX / 16 : v->nelems;
    if (v->is_record && v->nelems == 0) r->most = 0;
    int64_t *lengths =
        base_realloc(r->length, 3 * ((size_t)v->ndims + 1) * sizeof *lengths);
    if (lengths == NULL) return NC_ENOMEM;
    r->length = lengths;
    for (int i = 0; i < v->ndims; i++)
        lengths[i] = i == 0 && v->is_record ? INT64_MAX / 2 : v->shape[i];
    r->piece.start = lengths + v->ndims;
    r->piece.count = r->piece.start + v->ndims;
    cdf_fill_value(h, varid, r->fill);
    r->g->written[varid] = 0;
    next_piece(r, 0);
    return 0;
}

static int end_variable(void *to)
{
    return finish(to);
}

/* ---- values ---- */

static int take_number(void *to, struct cdl_place at, const struct cdl_number *n)
{
    struct gen_reader *r = to;
    int64_t one = 1;
    unsigned char *x;
    r->at = at;
    int status = room(r, &one, &x);
    if (status != 0) return status;
    int err = cdl_number_put(n, r->v->type, x);
    if (err == NC_NOERR) return 0;
    return cdl_fail(r->g->reader, at, err, "a value that variable '%.80s' cannot have",
                    r->v->name);
}

static int take_fill(void *to, struct cdl_place at)
{
    struct gen_reader *r = to;
    r->at = at;
    return put_fill(r, 1);
}

/* A string fills rows of the last dimension; those of one dimension follow each other. */
static int take_string(void *to, struct cdl_place at)
{
    struct gen_reader *r = to;
    r->at = at;
    r->string = 0;
    if (r->v->type == NC_CHAR) return 0;
    return cdl_fail(r->g->reader, at, NC_ECHAR, "text for variable '%.80s' of numbers",
                    r->v->name);
}

static int take_part(void *to, const char *bytes, size_t n)
{
    struct gen_reader *r = to;
    r->string += (int64_t)n;
    return put_text(r, bytes, (int64_t)n);
}

static int end_string(void *to)
{
    struct gen_reader *r = to;
    const struct cdf_var *v = r->v;
    if (v->ndims < 2) return 0;
    int64_t row = v->shape[v->ndims - 1], n = r->string;
    return put_fill(r, n == 0 ? row : (row - n % row) % row);
}

/* ---- all of it ---- */

static int begin(void *to, const struct cdl_reader *reader)
{
    struct gen_reader *r = to;
    struct gen *g = r->g;
    g->reader = reader;
    g->written = base_calloc((size_t)g->header.nvars, sizeof *g->written);
    r->values = base_malloc(ROOM);
    if (g->written == NULL || r->values == NULL) return NC_ENOMEM;
    return gen_open(g) == 0 && g->sink->begin(g) == 0 ? 0 : GEN_SAID;
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

static const struct cdl_sink sink = {
    .begin = begin,
    .variable = begin_variable,
    .number = take_number,
    .fill = take_fill,
    .string = take_string,
    .part = take_part,
    .string_end = end_string,
    .variable_end = end_variable,
};

int gen_read(struct gen *g, const struct cdl_source *source, int64_t length)
{
    struct gen_reader r = {.g = g};
    util_progress_start(&g->progress, GEN_TOOL, length);
    int err = cdl_read(source, g->format, &sink, &r, &g->header);
    int status = err == NC_NOERR ? fill_rest(g) : -1;
    if (status == 0) status = g->sink->end(g);
    util_progress_end(&g->progress);
    if (err < 0) gen_complain(err);
    if (err == NC_NOERR) cdf_free(&g->header);
    base_free(r.values);
    base_free(r.length);
    base_free(g->written);
    return status;
}
