/* Prints a dataset as JSON in the layout of NCO's ncks --json: dimensions, then variables
 * with shape, type, attributes and data as nested arrays, then global attributes. */
#include <math.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "dump.h"
#include "dump_value.h"
#include "util_json.h"
#include "util_message.h"
#include "util_progress.h"
#include "util_read.h"
#include "util_type.h"

enum { ELEMENTS = 1 << 16 }; /* number of elements read at a time */

/* State of the variable whose data are being printed. The last dimension forms the rows,
 * each on one line. Each row of text is one string. */
struct writer {
    struct dump *d;
    struct util_json j;
    const struct cdf_var *var;
    struct dump_format format;
    int64_t total, done, row;
    char *text; /* buffer for a row of text */
    int64_t bytes;
    struct util_progress progress;
    char external[ELEMENTS * 8];
    union dump_number values[ELEMENTS];
};

/* ---- values ---- */

/* Writes a number as JSON: null for a fill value; a string for a date or for a value that
 * JSON cannot represent, such as NaN. */
static char *put_number(const struct dump_format *f, union dump_number v, char *p)
{
    char *end = dump_put_value(f, v, p);
    if (end - p == 1 && *p == '_') return memcpy(p, "null", 4), p + 4;
    if (f->kind != DUMP_REAL || isfinite(v.r) || *p == '"') return end;
    const char *text = isnan(v.r) ? "\"NaN\""
                       : v.r > 0  ? "\"Infinity\""
                                  : "\"-Infinity\"";
    size_t length = strlen(text);
    memcpy(p, text, length);
    return p + length;
}

/* Allocates space for `length` bytes of text and a NUL. Returns NULL after printing an
 * error if out of memory. */
static char *make_room(int64_t length)
{
    char *room = base_malloc((size_t)length + 1);
    if (room == NULL) util_message(DUMP_TOOL, NULL, -1, "%s", base_error_text(NC_ENOMEM));
    return room;
}

/* Prints the text in `room` without trailing NULs. */
static void put_string(struct util_json *j, const char *name, char *room, int64_t length)
{
    room[length] = '\0';
    while (length > 0 && room[length - 1] == '\0')
        length--;
    util_json_string(j, name, room, (size_t)length);
}

/* ---- attributes ---- */

static void put_att_numbers(struct writer *w, const struct cdf_att *a)
{
    const struct dump_options *o = &w->d->options;
    const size_t size = (size_t)cdf_type_size(a->type);
    const bool array = a->nelems != 1;
    struct dump_format f;
    dump_format_init(&f, a->type,
                     a->type == NC_FLOAT ? o->float_digits : o->double_digits);
    if (array) util_json_open(&w->j, "data", '[');
    for (int64_t i = 0; i < a->nelems; i++) {
        char text[DUMP_VALUE_SIZE];
        union dump_number v;
        dump_decode(&f, &v, (const char *)a->values + (size_t)i * size, 1);
        *put_number(&f, v, text) = '\0';
        util_json_raw(&w->j, array ? NULL : "data", text);
    }
    if (array) util_json_close(&w->j, ']');
}

static int put_att_text(struct writer *w, const struct cdf_att *a)
{
    char *room = make_room(a->nelems);
    if (room == NULL) return -1;
    if (a->nelems > 0) memcpy(room, a->values, (size_t)a->nelems);
    put_string(&w->j, "data", room, a->nelems);
    base_free(room);
    return 0;
}

static int put_attribute(struct writer *w, const struct cdf_att *a)
{
    int status = 0;
    util_json_open(&w->j, a->name, '{');
    util_json_text(&w->j, "type", util_type_name(a->type));
    if (a->type == NC_CHAR)
        status = put_att_text(w, a);
    else
        put_att_numbers(w, a);
    util_json_close(&w->j, '}');
    return status;
}

static int put_attributes(struct writer *w, const struct cdf_atts *atts, bool special)
{
    int status = 0;
    if (atts->count == 0 && !special) return 0;
    util_json_open(&w->j, "attributes", '{');
    for (int i = 0; i < atts->count && status == 0; i++)
        status = put_attribute(w, &atts->list[i]);
    if (special) {
        util_json_open(&w->j, "_Format", '{');
        util_json_text(&w->j, "type", "char");
        util_json_text(&w->j, "data", util_format_name(util_format(&w->d->file)));
        util_json_close(&w->j, '}');
    }
    util_json_close(&w->j, '}');
    return status;
}

/* ---- data ---- */

static int64_t length_of(const struct writer *w, int dim)
{
    return dim == 0 && w->var->is_record ? w->d->file.header.numrecs : w->var->shape[dim];
}

/* Opens or closes the arrays that begin or end at this element, except for the innermost
 * one. */
static void bracket(struct writer *w, char which)
{
    int64_t volume = w->row;
    int n = 0;
    for (int i = w->var->ndims - 2; i >= 0; i--) {
        volume *= length_of(w, i);
        n += w->done % volume == 0;
    }
    for (int i = 0; i < n; i++)
        if (which == ']')
            util_json_close(&w->j, which);
        else
            util_json_open(&w->j, w->done == 0 && i == 0 ? "data" : NULL, which);
}

/* Returns the name of the value or array that starts at this element: "data" if no array
 * is open, else NULL. */
static const char *name_here(const struct writer *w)
{
    return w->var->ndims < 2 ? "data" : NULL;
}

/* Prints numbers. A variable without dimensions is a single value, and one with one
 * dimension is a single row. */
static void put_numbers(struct writer *w, int64_t n)
{
    struct util_out *out = &w->d->out;
    dump_decode(&w->format, w->values, w->external, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        char text[DUMP_VALUE_SIZE + 2];
        const bool scalar = w->var->ndims == 0;
        if (w->done % w->row == 0) {
            bracket(w, '[');
            util_json_raw(&w->j, name_here(w), scalar ? "" : "[");
        } else
            util_out_bytes(out, ", ", 2);
        char *end = put_number(&w->format, w->values[i], text);
        util_out_bytes(out, text, (size_t)(end - text));
        if (++w->done % w->row != 0) continue;
        if (!scalar) util_out_bytes(out, "]", 1);
        bracket(w, ']');
    }
}

static void put_text(struct writer *w, int64_t n)
{
    for (int64_t i = 0; i < n;) {
        const int64_t at = w->done % w->row;
        const int64_t piece = w->row - at < n - i ? w->row - at : n - i;
        if (at == 0) bracket(w, '[');
        memcpy(w->text + at, w->external + i, (size_t)piece);
        i += piece;
        w->done += piece;
        if (w->done % w->row != 0) continue;
        put_string(&w->j, name_here(w), w->text, w->row);
        bracket(w, ']');
    }
}

/* Reads and prints all values of a variable. Returns 0, or -1 after printing an error. */
static int put_elements(struct writer *w)
{
    struct util_reader reader;
    int64_t n = -1;
    if (util_reader_init(&reader, &w->d->file, w->var) == 0)
        while ((n = util_read(&reader, w->external, ELEMENTS)) > 0 &&
               w->d->out.error == 0) {
            if (w->var->type == NC_CHAR)
                put_text(w, n);
            else
                put_numbers(w, n);
            w->bytes += n * reader.element;
            util_progress_at(&w->progress, w->bytes);
        }
    util_reader_free(&reader);
    return n < 0 ? -1 : 0;
}

static int put_data(struct writer *w, int varid)
{
    const struct cdf_header *h = &w->d->file.header;
    struct dump_epoch epoch;
    w->total = w->var->is_record ? w->var->nelems * h->numrecs : w->var->nelems;
    w->row = w->var->ndims > 0 ? length_of(w, w->var->ndims - 1) : 1;
    w->done = 0;
    if (w->total == 0) {
        util_json_raw(&w->j, "data", "[]");
        return 0;
    }
    if (w->var->type == NC_CHAR) {
        w->text = make_room(w->row);
        if (w->text == NULL) return -1;
    } else {
        dump_set_format(w->d, varid, &w->format, &epoch);
        w->format.printf_format[0] =
            '\0'; /* the result of the format might not be valid JSON */
    }
    int status = put_elements(w);
    base_free(w->text);
    w->text = NULL;
    return status;
}

/* ---- the whole dataset ---- */

static void put_dimensions(struct writer *w)
{
    const struct cdf_header *h = &w->d->file.header;
    util_json_open(&w->j, "dimensions", '{');
    for (int i = 0; i < h->ndims; i++)
        util_json_int(&w->j, h->dims[i].name,
                      i == h->unlimited ? h->numrecs : h->dims[i].length);
    util_json_close(&w->j, '}');
    if (h->unlimited >= 0) util_json_text(&w->j, "unlimited", h->dims[h->unlimited].name);
}

static int put_variable(struct writer *w, int varid)
{
    const struct cdf_header *h = &w->d->file.header;
    w->var = &h->vars[varid];
    util_json_open(&w->j, w->var->name, '{');
    if (w->var->ndims > 0) {
        util_json_open(&w->j, "shape", '[');
        for (int i = 0; i < w->var->ndims; i++)
            util_json_text(&w->j, NULL, h->dims[w->var->dimids[i]].name);
        util_json_close(&w->j, ']');
    }
    util_json_text(&w->j, "type", util_type_name(w->var->type));
    int status = put_attributes(w, &w->var->atts, false);
    if (status == 0 && !w->d->options.header_only && w->d->wanted[varid])
        status = put_data(w, varid);
    util_json_close(&w->j, '}');
    return status;
}

int dump_json(struct dump *d)
{
    const struct cdf_header *h = &d->file.header;
    struct writer *w = base_calloc(1, sizeof *w);
    int status = 0;
    if (w == NULL) {
        util_message(DUMP_TOOL, NULL, -1, "%s", base_error_text(NC_ENOMEM));
        return -1;
    }
    w->d = d;
    util_json_start(&w->j, &d->out);
    util_progress_start(&w->progress, DUMP_TOOL, dump_bytes(d));
    util_json_open(&w->j, NULL, '{');
    put_dimensions(w);
    util_json_open(&w->j, "variables", '{');
    for (int i = 0; i < h->nvars && status == 0 && d->out.error == 0; i++)
        status = put_variable(w, i);
    util_json_close(&w->j, '}');
    if (status == 0) status = put_attributes(w, &h->gatts, d->options.special);
    util_json_close(&w->j, '}');
    util_progress_end(&w->progress);
    base_free(w);
    return status;
}
