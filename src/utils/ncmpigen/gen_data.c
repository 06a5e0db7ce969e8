/* Gathers the values of the data section into pieces and passes them to the sink.
 * Functions return 0, GEN_REPORTED if the error has been printed, or an error code from
 * cdl_fail. */
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "gen.h"
#include "util_message.h"

enum { ROOM = 1 << 20 }; /* size of a piece in bytes */

/* State of the variable whose values are being read. */
struct gen_reader {
    struct gen *g;
    int varid;
    const struct cdf_var *v;
    int size;
    int64_t most;    /* maximum number of elements of the variable */
    int64_t *length; /* lengths of its dimensions */
    struct util_piece piece;
    int64_t used;   /* number of elements in the piece so far */
    int64_t string; /* number of bytes read of the current string */
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
    if (r->g->sink->piece(r->g, r->varid, &r->piece, r->values) != 0) return GEN_REPORTED;
    util_progress_at(&r->g->progress, cdl_bytes_read(r->g->reader));
    next_piece(r, r->piece.first + r->piece.n);
    return 0;
}

/* Reserves space for at least one and at most *n elements. Sets *n to the number reserved
 * and *to to the space. */
static int reserve_elements(struct gen_reader *r, int64_t *n, unsigned char **to)
{
    if (r->used == r->piece.n) {
        int status = put_piece(r);
        if (status != 0) return status;
    }
    int64_t at = r->piece.first + r->used;
    if (at >= r->most) {
        cdl_fail(r->g->reader, r->at, NC_EEDGE,
                 "variable '%.80s' has more values than elements (%lld)", r->v->name,
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
        int status = reserve_elements(r, &part, &to);
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
        int status = reserve_elements(r, &part, &to);
        if (status != 0) return status;
        memcpy(to, bytes, (size_t)part);
        bytes += part;
        n -= part;
    }
    return 0;
}

/* Fills the rest of the last piece, but not beyond the last record that was begun. */
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
    /* number of elements in the last record if it is incomplete */
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

static int add_number_value(void *to, struct cdl_place at, const struct cdl_number *n)
{
    struct gen_reader *r = to;
    int64_t one = 1;
    unsigned char *x;
    r->at = at;
    int status = reserve_elements(r, &one, &x);
    if (status != 0) return status;
    int err = cdl_number_put(n, r->v->type, x);
    if (err == NC_NOERR) return 0;
    return cdl_fail(r->g->reader, at, err, "invalid value for variable '%.80s'",
                    r->v->name);
}

static int add_fill_value(void *to, struct cdl_place at)
{
    struct gen_reader *r = to;
    r->at = at;
    return put_fill(r, 1);
}

/* A string fills rows of the last dimension. The strings of a one-dimensional variable
 * are concatenated. */
static int begin_string(void *to, struct cdl_place at)
{
    struct gen_reader *r = to;
    r->at = at;
    r->string = 0;
    if (r->v->type == NC_CHAR) return 0;
    return cdl_fail(r->g->reader, at, NC_ECHAR,
                    "text for variable '%.80s', which is numeric", r->v->name);
}

static int add_string_bytes(void *to, const char *bytes, size_t n)
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

/* ---- the whole text ---- */

static int begin(void *to, const struct cdl_reader *reader)
{
    struct gen_reader *r = to;
    struct gen *g = r->g;
    g->reader = reader;
    g->written = base_calloc((size_t)g->header.nvars, sizeof *g->written);
    r->values = base_malloc(ROOM);
    if (g->written == NULL || r->values == NULL) return NC_ENOMEM;
    return gen_open(g) == 0 && g->sink->begin(g) == 0 ? 0 : GEN_REPORTED;
}

/* All record variables get as many records as the longest one, so missing records are
 * filled. */
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
    .number = add_number_value,
    .fill = add_fill_value,
    .string = begin_string,
    .part = add_string_bytes,
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
