/* Compares the definitions of two datasets by name. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "diff.h"
#include "util_message.h"
#include "util_name.h"
#include "util_select.h"
#include "util_type.h"

static const char *const sides[] = {"first", "second"};

static const char *kind_of(const struct cdf_header *h, int dimid)
{
    return dimid == h->unlimited ? "unlimited" : "fixed";
}

static int64_t length_of(const struct cdf_header *h, int dimid)
{
    return dimid == h->unlimited ? h->numrecs : h->dims[dimid].length;
}

/* ---- dimensions ---- */

static void compare_dims(struct diff *d)
{
    const struct cdf_header *a = d->header[0], *b = d->header[1];
    int other;
    for (int i = 0; i < a->ndims; i++) {
        const char *name = a->dims[i].name;
        if (cdf_find_dim(b, name, &other) != NC_NOERR) {
            diff_report_header(d, "dimension %s exists only in the first file", name);
            continue;
        }
        if ((i == a->unlimited) != (other == b->unlimited))
            diff_report_header(d,
                               "dimension %s is %s in the first file, %s in the second",
                               name, kind_of(a, i), kind_of(b, other));
        if (length_of(a, i) != length_of(b, other))
            diff_report_header(d,
                               "dimension %s has length %" PRId64
                               " in the first file, %" PRId64 " in the second",
                               name, length_of(a, i), length_of(b, other));
    }
    for (int i = 0; i < b->ndims; i++)
        if (cdf_find_dim(a, b->dims[i].name, &other) != NC_NOERR)
            diff_report_header(d, "dimension %s exists only in the second file",
                               b->dims[i].name);
}

/* ---- attributes ---- */

enum { SHOWN = 200 };

/* Formats an attribute's type and as many of its values as fit. */
static void att_text(char text[SHOWN], const struct cdf_att *a)
{
    const size_t size = (size_t)cdf_type_size(a->type);
    if (a->type == NC_CHAR) {
        int n = a->nelems < 60 ? (int)a->nelems : 60;
        snprintf(text, SHOWN, "\"%.*s\"%s", n, (const char *)a->values,
                 n < a->nelems ? "..." : "");
        return;
    }
    size_t used = (size_t)snprintf(text, SHOWN, "%s", util_type_name(a->type));
    for (int64_t i = 0; i < a->nelems; i++) {
        char value[DIFF_TEXT];
        union diff_value v;
        if (used + DIFF_TEXT + 8 > SHOWN) {
            strcpy(text + used, " ...");
            return;
        }
        diff_value_load(&v, a->type, (const char *)a->values + (size_t)i * size);
        diff_value_text(value, a->type, &v);
        used += (size_t)snprintf(text + used, SHOWN - used, " %s", value);
    }
}

static bool same_att(const struct cdf_att *a, const struct cdf_att *b)
{
    return a->type == b->type && a->nelems == b->nelems &&
           memcmp(a->values, b->values,
                  (size_t)a->nelems * (size_t)cdf_type_size(a->type)) == 0;
}

/* Compares the attributes of varid[0] and varid[1], which may be NC_GLOBAL. Messages
 * refer to that variable as `owner`. */
static void compare_atts(struct diff *d, const int varid[2], const char *owner)
{
    const struct cdf_atts *atts[2];
    int other;
    for (int s = 0; s < 2; s++)
        atts[s] = varid[s] == NC_GLOBAL ? &d->header[s]->gatts
                                        : &d->header[s]->vars[varid[s]].atts;
    for (int i = 0; i < atts[0]->count; i++) {
        const struct cdf_att *a = &atts[0]->list[i];
        char text[2][SHOWN];
        if (cdf_find_att(d->header[1], varid[1], a->name, &other) != NC_NOERR)
            diff_report_header(d, "attribute %s:%s exists only in the first file", owner,
                               a->name);
        else if (!same_att(a, &atts[1]->list[other])) {
            att_text(text[0], a);
            att_text(text[1], &atts[1]->list[other]);
            diff_report_header(
                d, "attribute %s:%s is %s in the first file, %s in the second", owner,
                a->name, text[0], text[1]);
        }
    }
    for (int i = 0; i < atts[1]->count; i++)
        if (cdf_find_att(d->header[0], varid[0], atts[1]->list[i].name, &other) !=
            NC_NOERR)
            diff_report_header(d, "attribute %s:%s exists only in the second file", owner,
                               atts[1]->list[i].name);
}

/* ---- variables ---- */

static void shape_text(char *text, size_t size, const struct cdf_header *h,
                       const struct cdf_var *v)
{
    size_t used = (size_t)snprintf(text, size, "(");
    for (int i = 0; i < v->ndims && used + 64 < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%.40s", i > 0 ? ", " : "",
                                 h->dims[v->dimids[i]].name);
    snprintf(text + used, size - used, ")");
}

/* Returns whether two variables have dimensions with the same names. */
static bool same_dims(const struct diff *d, const struct cdf_var *a,
                      const struct cdf_var *b)
{
    if (a->ndims != b->ndims) return false;
    for (int i = 0; i < a->ndims; i++)
        if (strcmp(d->header[0]->dims[a->dimids[i]].name,
                   d->header[1]->dims[b->dimids[i]].name) != 0)
            return false;
    return true;
}

/* Sets the number of elements to compare. Only records that both files have are
 * compared. */
static void measure(struct diff *d, struct diff_pair *p, const struct cdf_var *a,
                    const struct cdf_var *b)
{
    const int64_t n[2] = {d->header[0]->numrecs, d->header[1]->numrecs};
    p->shape_differs = a->type != b->type || a->ndims != b->ndims;
    for (int i = 0; i < a->ndims && !p->shape_differs; i++)
        p->shape_differs = length_of(d->header[0], a->dimids[i]) !=
                           length_of(d->header[1], b->dimids[i]);
    bool records = a->is_record && b->is_record;
    bool alike = a->type == b->type && a->ndims == b->ndims && a->nelems == b->nelems;
    for (int i = records; i < a->ndims && alike; i++)
        alike = length_of(d->header[0], a->dimids[i]) ==
                length_of(d->header[1], b->dimids[i]);
    if (!p->shape_differs)
        p->total = a->is_record ? a->nelems * n[0] : a->nelems;
    else if (alike && records)
        p->total = a->nelems * (n[0] < n[1] ? n[0] : n[1]);
}

static void compare_vars(struct diff *d, const struct diff_pair *p)
{
    const struct cdf_var *a = &d->header[0]->vars[p->varid[0]];
    const struct cdf_var *b = &d->header[1]->vars[p->varid[1]];
    if (a->type != b->type)
        diff_report_header(d,
                           "variable %s has type %s in the first file, %s in the second",
                           a->name, util_type_name(a->type), util_type_name(b->type));
    if (!same_dims(d, a, b)) {
        char text[2][400];
        shape_text(text[0], sizeof text[0], d->header[0], a);
        shape_text(text[1], sizeof text[1], d->header[1], b);
        diff_report_header(
            d, "variable %s has dimensions %s in the first file, %s in the second",
            a->name, text[0], text[1]);
    }
    compare_atts(d, p->varid, a->name);
}

/* Returns the tolerance for a variable. The last -T that names the variable takes
 * precedence. */
static struct diff_tolerance tolerance_of(const struct diff *d, const char *name)
{
    struct diff_tolerance t = d->options.tolerance;
    for (int i = 0; i < d->options.nown; i++) {
        char plain[NC_MAX_NAME + 1];
        const char *text = d->options.own[i], *sign = strrchr(text, '=');
        size_t length = (size_t)(sign - text);
        if (length > NC_MAX_NAME) continue;
        memcpy(plain, text, length);
        plain[length] = '\0';
        bool same = strcmp(plain, name) == 0;
        util_plain_name(plain);
        if (same || strcmp(plain, name) == 0) diff_parse_tolerance(sign + 1, &t);
    }
    return t;
}

/* ---- all definitions ---- */

static void report_missing(struct diff *d, int side, const char *name)
{
    diff_report_header(d, "variable %s exists only in the %s file", name, sides[side]);
}

/* Finds the pairs of variables to compare. `wanted` has a flag for each variable of the
 * first file; NULL means all variables. */
static int find_pairs(struct diff *d, const bool *wanted)
{
    const struct cdf_header *a = d->header[0], *b = d->header[1];
    d->pairs = base_calloc((size_t)a->nvars, sizeof *d->pairs);
    d->results = base_calloc((size_t)a->nvars, sizeof *d->results);
    if (d->pairs == NULL || d->results == NULL) return -1;
    for (int i = 0; i < a->nvars; i++) {
        struct diff_pair *p = &d->pairs[d->npairs];
        const char *name = a->vars[i].name;
        if (wanted != NULL && !wanted[i]) continue;
        p->varid[0] = i;
        if (cdf_find_var(b, name, &p->varid[1]) != NC_NOERR) {
            report_missing(d, 0, name);
            continue;
        }
        p->tolerance = tolerance_of(d, name);
        measure(d, p, &a->vars[i], &b->vars[p->varid[1]]);
        d->results[d->npairs].first.element = d->results[d->npairs].largest.element = -1;
        d->npairs++;
    }
    for (int i = 0, other; i < b->nvars && wanted == NULL; i++)
        if (cdf_find_var(a, b->vars[i].name, &other) != NC_NOERR)
            report_missing(d, 1, b->vars[i].name);
    return 0;
}

static int compare(struct diff *d, const bool *wanted)
{
    const int global[2] = {NC_GLOBAL, NC_GLOBAL};
    if (!d->options.data_only && wanted == NULL) {
        compare_dims(d);
        compare_atts(d, global, "");
    }
    if (find_pairs(d, wanted) != 0) {
        util_message(d->tool, NULL, -1, "%s", base_error_text(NC_ENOMEM));
        return -1;
    }
    for (int i = 0; i < d->npairs && !d->options.data_only; i++)
        compare_vars(d, &d->pairs[i]);
    return 0;
}

static int select_listed(struct diff *d, bool **wanted)
{
    const char *list = d->options.variables;
    if (list == NULL) return 0;
    *wanted = base_calloc((size_t)d->header[0]->nvars, sizeof **wanted);
    if (*wanted == NULL) return -1;
    return util_select(d->tool, d->options.path[0], d->header[0], list, *wanted);
}

int diff_header(struct diff *d)
{
    bool *wanted = NULL;
    for (int s = 0; s < 2; s++)
        if (d->header[s]->has_duplicate_names) {
            util_message(d->tool, d->options.path[s], -1,
                         "two objects in it have the same name");
            return -1;
        }
    int status = select_listed(d, &wanted);
    if (status == 0) status = compare(d, wanted);
    base_free(wanted);
    return status;
}
