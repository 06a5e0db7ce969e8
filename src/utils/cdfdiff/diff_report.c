/* Prints the report as text or as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "diff.h"
#include "util_message.h"

static bool is_silent(const struct diff *d)
{
    return d->rank != 0 || d->options.quiet;
}

void diff_report_start(struct diff *d)
{
    if (is_silent(d) || !d->options.json) return;
    util_json_open(&d->j, NULL, '{');
    util_json_open(&d->j, "files", '[');
    util_json_text(&d->j, NULL, d->options.path[0]);
    util_json_text(&d->j, NULL, d->options.path[1]);
    util_json_close(&d->j, ']');
    util_json_open(&d->j, "definitions", '[');
}

void diff_report_header(struct diff *d, const char *format, ...)
{
    char line[2048];
    va_list args;
    d->header_differences++;
    if (is_silent(d) || (d->options.first_only && d->header_differences > 1)) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (d->options.json) {
        util_json_text(&d->j, NULL, line);
        return;
    }
    util_escape_controls(line);
    util_out_print(d->out, "%s\n", line);
}

/* ---- indices ---- */

/* Calls put with each index of an element, starting with the first dimension. */
static void indices(struct diff *d, const struct diff_pair *p, int64_t element,
                    void (*put)(struct diff *d, int64_t index, bool first))
{
    const struct cdf_var *v = &d->header[0]->vars[p->varid[0]];
    int64_t volume = p->total;
    for (int i = 0; i < v->ndims; i++) {
        volume /= diff_length(d, p, i);
        put(d, element / volume, i == 0);
        element %= volume;
    }
}

static void put_index(struct diff *d, int64_t index, bool first)
{
    util_out_print(d->out, "%s%" PRId64, first ? "" : ", ", index);
}

static void put_json_index(struct diff *d, int64_t index, bool first)
{
    (void)first;
    util_json_int(&d->j, NULL, index);
}

static void put_place(struct diff *d, const struct diff_pair *p, const char *what,
                      const struct diff_place *at)
{
    const struct cdf_var *v = &d->header[0]->vars[p->varid[0]];
    char text[2][DIFF_TEXT];
    diff_value_text(text[0], v->type, &at->value[0]);
    diff_value_text(text[1], v->type, &at->value[1]);
    util_out_print(d->out, "    %s at (", what);
    indices(d, p, at->element, put_index);
    util_out_print(d->out, "): %s, %s", text[0], text[1]);
    bool real = v->type == NC_FLOAT || v->type == NC_DOUBLE;
    if (isfinite(at->distance))
        util_out_print(d->out, ", %.*g apart", real ? 9 : 17, at->distance);
    util_out_text(d->out, "\n");
}

static void put_json_place(struct diff *d, const struct diff_pair *p, const char *what,
                           const struct diff_place *at)
{
    const struct cdf_var *v = &d->header[0]->vars[p->varid[0]];
    util_json_open(&d->j, what, '{');
    util_json_open(&d->j, "index", '[');
    indices(d, p, at->element, put_json_index);
    util_json_close(&d->j, ']');
    util_json_open(&d->j, "values", '[');
    for (int s = 0; s < 2; s++) {
        char text[DIFF_TEXT];
        diff_value_text(text, v->type, &at->value[s]);
        bool number = v->type != NC_CHAR && text[0] != 'N' && text[0] != 'I' &&
                      !(text[0] == '-' && text[1] == 'I');
        if (number)
            util_json_raw(&d->j, NULL, text);
        else
            util_json_text(&d->j, NULL, text);
    }
    util_json_close(&d->j, ']');
    util_json_real(&d->j, "apart", at->distance, 17);
    util_json_close(&d->j, '}');
}

/* ---- variables ---- */

static void put_result(struct diff *d, const struct diff_pair *p,
                       const struct diff_result *r)
{
    const char *name = d->header[0]->vars[p->varid[0]].name;
    bool differs = r->differing > 0 || p->shape_differs;
    if (!differs && !d->options.verbose) return;
    char tame[NC_MAX_NAME + 1];
    snprintf(tame, sizeof tame, "%s", name);
    util_escape_controls(tame);
    if (p->shape_differs)
        util_out_print(d->out, "variable %s: types or shapes differ%s\n", tame,
                       p->total > 0 ? "; only the common elements were compared"
                                    : ", values were not compared");
    if (r->differing == 0 && p->shape_differs) return;
    util_out_print(d->out, "variable %s: %" PRId64 " of %" PRId64 " values differ\n",
                   tame, r->differing, r->compared);
    if (r->differing == 0) return;
    put_place(d, p, "first", &r->first);
    put_place(d, p, "largest", &r->largest);
    const struct diff_map *m = diff_map_of(d, (int)(p - d->pairs));
    if (d->options.map && m != NULL) diff_map_show(d, m);
}

static void put_json_result(struct diff *d, const struct diff_pair *p,
                            const struct diff_result *r)
{
    util_json_open(&d->j, NULL, '{');
    util_json_text(&d->j, "name", d->header[0]->vars[p->varid[0]].name);
    util_json_bool(&d->j, "same_shape", !p->shape_differs);
    util_json_int(&d->j, "compared", r->compared);
    util_json_int(&d->j, "differing", r->differing);
    if (r->differing > 0) {
        put_json_place(d, p, "first", &r->first);
        put_json_place(d, p, "largest", &r->largest);
        const struct diff_map *m = diff_map_of(d, (int)(p - d->pairs));
        if (d->options.map && m != NULL) diff_map_json(d, m);
    }
    util_json_close(&d->j, '}');
}

int diff_report_data(struct diff *d)
{
    int64_t different = 0;
    bool json = d->options.json && !is_silent(d);
    if (json) util_json_close(&d->j, ']');
    if (json) util_json_open(&d->j, "variables", '[');
    for (int i = 0; i < d->npairs && !d->options.header_only; i++) {
        const struct diff_pair *p = &d->pairs[i];
        different += d->results[i].differing > 0 || p->shape_differs;
        if (json)
            put_json_result(d, p, &d->results[i]);
        else if (!is_silent(d))
            put_result(d, p, &d->results[i]);
    }
    bool same = different == 0 && d->header_differences == 0;
    if (json) {
        util_json_close(&d->j, ']');
        util_json_bool(&d->j, "same", same);
        util_json_close(&d->j, '}');
    } else if (!is_silent(d) && (!same || d->options.verbose))
        util_out_print(
            d->out, "%" PRId64 " definitions and %" PRId64 " of %d variables differ\n",
            d->header_differences, different, d->options.header_only ? 0 : d->npairs);
    return same ? DIFF_SAME : DIFF_DIFFERENT;
}
