/* Prints the data section: the variables in order, and each variable's values row by row.
 * A row consists of the elements along the last dimension. Values are read and formatted
 * in tiles. */
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mem.h"
#include "dump.h"
#include "util_name.h"
#include "util_read.h"
#include "dump_text.h"
#include "dump_value.h"
#include "util_message.h"
#include "util_progress.h"

enum {
    TILE = 1 << 17,  /* number of elements read at a time */
    END_ROOM = 2,    /* columns left free at the end of a line */
    SHORT_TOKEN = 2, /* tokens up to this length are never moved to the next line */
};

/* State of the variable that is being printed. Its last dimension forms the rows. */
struct walk {
    struct dump *d;
    const struct cdf_var *var;
    char name[UTIL_NAME_SIZE];
    int64_t total;  /* number of elements */
    int64_t done;   /* number of elements printed */
    int64_t row;    /* elements per row */
    int64_t column; /* current column of the output line */
    int64_t limit;  /* maximum length of a line, in columns */
    struct dump_format format;
    struct dump_text text;
    bool in_row, braced;
    int64_t bytes; /* bytes printed so far, for all variables */
    struct util_progress progress;
    char external[TILE * 8];
    union dump_number values[TILE];
};

static int64_t dim_length(const struct walk *w, int i)
{
    return i == 0 && w->var->is_record ? w->d->file.header.numrecs : w->var->shape[i];
}

static void line_break(struct walk *w)
{
    util_out_bytes(&w->d->out, "\n    ", 5);
    w->column = 4;
}

/* ---- indices in comments ---- */

/* Prints an element's indices, except for the last `skip` dimensions, either in C order
 * starting at 0 or in Fortran order starting at 1. */
static void put_indices(struct walk *w, int64_t element, int skip, char language)
{
    struct util_out *out = &w->d->out;
    int n = w->var->ndims - skip, shown = 0;
    int64_t volume = w->total;
    if (language == 'f') {
        for (int i = w->var->ndims - 1; i >= 0; i--) {
            int64_t length = dim_length(w, i);
            long long index = element % length + 1;
            if (i < n) util_out_print(out, "%s%lld", shown++ ? "," : "", index);
            element /= length;
        }
        return;
    }
    for (int i = 0; i < n; i++) {
        volume /= dim_length(w, i);
        util_out_print(out, "%s%lld", shown++ ? "," : "", (long long)(element / volume));
        element %= volume;
    }
}

/* Prints a comment with the indices of an element, after each value. For text, prints it
 * only after each row, with the indices of the row's last element. */
static void put_element_comment(struct walk *w, int64_t element)
{
    util_out_print(&w->d->out, "  // %s", w->name);
    if (w->var->ndims > 0) {
        util_out_bytes(&w->d->out, "(", 1);
        put_indices(w, element, 0, w->d->options.language);
        util_out_bytes(&w->d->out, ")", 1);
    }
    line_break(w);
}

/* Prints a comment before a row, with the range of its indices. */
static void put_row_comment(struct walk *w)
{
    struct util_out *out = &w->d->out;
    bool fortran = w->d->options.language == 'f';
    bool single = w->row == 1;
    util_out_print(out, "// %s(", w->name);
    if (fortran && single)
        util_out_bytes(out, "1,", 2);
    else if (fortran)
        util_out_print(out, "1-%lld ,", (long long)w->row);
    put_indices(w, w->done, 1, w->d->options.language);
    if (!fortran && single)
        util_out_bytes(out, ",0", 2);
    else if (!fortran)
        util_out_print(out, ", 0-%lld", (long long)w->row - 1);
    util_out_bytes(out, ")", 1);
    line_break(w);
}

/* ---- rows ---- */

/* Returns the number of braces that open (or close) at an element that begins (or ends) a
 * row. The elements of an unlimited dimension are enclosed in braces, unless it is the
 * first dimension. */
static int braces_at(const struct walk *w, int64_t element)
{
    int64_t volume = 1;
    int n = 0;
    for (int i = w->var->ndims - 1; i > 0 && w->braced; i--) {
        volume *= dim_length(w, i);
        n += element % volume == 0 && util_is_limitless(&w->d->file, w->var->dimids[i]);
    }
    return n;
}

static void put_braces(struct walk *w, const char *brace)
{
    for (int n = braces_at(w, w->done); n > 0; n--) {
        util_out_bytes(&w->d->out, brace, 1);
        w->column++;
    }
}

static void begin_row(struct walk *w)
{
    w->in_row = true;
    if (w->var->ndims < 2) return;
    if (w->done == 0) {
        util_out_bytes(&w->d->out, "\n  ", 3);
        w->column = 2;
    }
    put_braces(w, "{");
    if (w->d->options.brief) put_row_comment(w);
}

/* Ends a row after its last element. Ends the variable if all elements are done. */
static void end_row(struct walk *w)
{
    struct util_out *out = &w->d->out;
    bool last = w->done == w->total;
    w->in_row = false;
    put_braces(w, "}");
    if (w->d->options.full) {
        util_out_bytes(out, last ? ";" : ",", 1);
        put_element_comment(w, w->done - 1);
    } else if (last)
        util_out_text(out, " ;\n");
    else {
        util_out_text(out, ",\n  ");
        w->column = 2;
    }
}

/* ---- numbers ---- */

/* Prints one value. The text at `from` must have space for two more bytes. */
static void put_token(struct walk *w, char *from, size_t length)
{
    bool ends_row = (w->done + 1) % w->row == 0;
    if (!ends_row) {
        from[length++] = ',';
        from[length++] = ' ';
    }
    int64_t width = (int64_t)length + (ends_row ? braces_at(w, w->done + 1) : 0);
    if (width > SHORT_TOKEN && w->column + width > w->limit) line_break(w);
    util_out_bytes(&w->d->out, from, length);
    w->column += (int64_t)length;
    w->done++;
    if (ends_row)
        end_row(w);
    else if (w->d->options.full)
        put_element_comment(w, w->done - 1);
}

static void put_numbers(struct walk *w, int64_t n)
{
    dump_decode(&w->format, w->values, w->external, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        char text[DUMP_VALUE_SIZE + 2];
        if (!w->in_row) begin_row(w);
        char *end = dump_put_value(&w->format, w->values[i], text);
        put_token(w, text, (size_t)(end - text));
    }
}

/* ---- text ---- */

static void put_text(struct walk *w, int64_t n)
{
    for (int64_t i = 0; i < n;) {
        if (!w->in_row) {
            begin_row(w);
            dump_text_begin(&w->text);
        }
        int64_t piece = w->row - w->done % w->row;
        if (piece > n - i) piece = n - i;
        dump_text_piece(&w->text, w->external + i, (size_t)piece);
        i += piece;
        w->done += piece;
        if (w->done % w->row == 0) {
            dump_text_end(&w->text);
            end_row(w);
        }
    }
}

/* ---- variables ---- */

static const struct cdf_att *find_att(const struct dump *d, int varid, const char *name)
{
    int attid;
    if (cdf_find_att(&d->file.header, varid, name, &attid) != NC_NOERR) return NULL;
    return &d->file.header.vars[varid].atts.list[attid];
}

/* A byte variable has a fill value only if it has the attribute _FillValue. */
static void set_fill(const struct dump *d, int varid, struct dump_format *f)
{
    const int type = d->file.header.vars[varid].type;
    const struct cdf_att *a = find_att(d, varid, "_FillValue");
    bool own = a != NULL && a->type == type && a->nelems == 1;
    bool byte = type == NC_BYTE || type == NC_UBYTE;
    if (byte && !own) return;

    char external[8];
    union dump_number fill;
    cdf_fill_value(&d->file.header, varid, external);
    dump_decode(f, &fill, external, 1);
    dump_format_fill(f, fill);
}

void dump_set_format(const struct dump *d, int varid, struct dump_format *f,
                     struct dump_epoch *epoch)
{
    const struct dump_options *o = &d->options;
    const int type = d->file.header.vars[varid].type;
    const int digits = type == NC_FLOAT ? o->float_digits : o->double_digits;
    dump_format_init(f, type, digits);
    set_fill(d, varid, f);

    const struct cdf_att *a = find_att(d, varid, "C_format");
    const bool digits_given = f->kind == DUMP_REAL && digits != 0;
    if (a != NULL && a->type == NC_CHAR && !digits_given)
        dump_format_printf(f, a->values, strnlen(a->values, (size_t)a->nelems));
    if (dump_is_time(d, varid, true, epoch)) {
        f->epoch = epoch;
        f->date_mark = o->date_mark;
    }
}

static int put_elements(struct walk *w, void (*put)(struct walk *, int64_t))
{
    struct util_reader reader;
    int64_t n = -1;
    if (util_reader_init(&reader, &w->d->file, w->var) == 0)
        while ((n = util_read(&reader, w->external, TILE)) > 0 && w->d->out.error == 0) {
            put(w, n);
            w->bytes += n * reader.element;
            util_progress_at(&w->progress, w->bytes);
        }
    util_reader_free(&reader);
    return n < 0 ? -1 : 0;
}

static int put_variable(struct walk *w, int varid)
{
    const struct cdf_header *h = &w->d->file.header;
    w->var = &h->vars[varid];
    w->total = w->var->is_record ? w->var->nelems * h->numrecs : w->var->nelems;
    if (w->total == 0) return 0;
    w->done = 0;
    w->row = w->var->ndims > 0 ? dim_length(w, w->var->ndims - 1) : 1;
    util_name(w->name, sizeof w->name, w->var->name);
    bool rows = w->var->ndims > 1;
    w->braced = false;
    for (int i = 1; i < w->var->ndims; i++)
        w->braced |= util_is_limitless(&w->d->file, w->var->dimids[i]);
    util_out_print(&w->d->out, "\n %s =%s", w->name, rows ? "" : " ");
    w->column = (int64_t)strlen(w->var->name) + 4; /* same computation as in ncdump */

    if (w->var->type == NC_CHAR) {
        /* Prints one string for each row, whatever it contains, because ncgen expects
         * this. */
        w->text = (struct dump_text){.out = &w->d->out, .escape_high = true};
        return put_elements(w, put_text);
    }
    struct dump_epoch epoch;
    dump_set_format(w->d, varid, &w->format, &epoch);
    return put_elements(w, put_numbers);
}

int64_t dump_bytes(const struct dump *d)
{
    const struct cdf_header *h = &d->file.header;
    int64_t bytes = 0;
    for (int i = 0; i < h->nvars; i++) {
        const struct cdf_var *v = &h->vars[i];
        if (!d->wanted[i]) continue;
        bytes += v->nelems * cdf_type_size(v->type) * (v->is_record ? h->numrecs : 1);
    }
    return isatty(STDOUT_FILENO) ? 0 : bytes;
}

int dump_data(struct dump *d)
{
    const struct cdf_header *h = &d->file.header;
    struct walk *w = base_malloc(sizeof *w);
    if (w == NULL) {
        util_message(DUMP_TOOL, NULL, -1, "%s", base_error_text(NC_ENOMEM));
        return -1;
    }
    w->d = d;
    w->in_row = false;
    /* If a comment follows each value, lines are broken only after comments. */
    w->limit = d->options.full ? INT64_MAX : d->options.width - END_ROOM;
    w->bytes = 0;
    util_progress_start(&w->progress, DUMP_TOOL, dump_bytes(d));
    int status = 0;
    if (h->nvars > 0) util_out_text(&d->out, "data:\n");
    for (int i = 0; i < h->nvars && status == 0 && d->out.error == 0; i++)
        if (d->wanted[i]) status = put_variable(w, i);
    util_progress_end(&w->progress);
    base_free(w);
    return status;
}
