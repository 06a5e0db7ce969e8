/* Prints the offsets of variables as text or as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "offsets.h"
#include "util_json.h"
#include "util_name.h"
#include "util_type.h"

/* Extent of a variable, or of one record of a record variable. */
struct place {
    int64_t start, end; /* byte offsets of its data, without padding */
    int64_t gap;        /* number of unused bytes before the data */
};

/* Calls `show` for every fixed-size variable, or for every record variable, in definition
 * order. */
static void each(struct offsets *o, bool records, int64_t *end,
                 void (*show)(void *to, int varid, const struct place *p), void *to)
{
    const struct cdf_header *h = &o->file.header;
    for (int i = 0; i < h->nvars; i++) {
        const struct cdf_var *v = &h->vars[i];
        if (v->is_record != records) continue;
        struct place p = {.start = cdf_record_offset(h, v, o->record),
                          .gap = v->begin - *end};
        p.end = p.start + v->nelems * cdf_type_size(v->type);
        *end = v->begin + v->size;
        if (o->wanted[i] && (p.gap > 0 || !o->gaps_only)) show(to, i, &p);
    }
}

static void each_of_all(struct offsets *o,
                        void (*show)(void *to, int varid, const struct place *p),
                        void *to)
{
    int64_t end = o->file.header.size;
    each(o, false, &end, show, to);
    each(o, true, &end, show, to);
}

/* ---- text ---- */

static void put_shape(struct offsets *o, const struct cdf_var *v)
{
    const struct cdf_header *h = &o->file.header;
    char name[UTIL_NAME_SIZE];
    for (int i = 0; i < v->ndims; i++) {
        util_name(name, sizeof name, h->dims[v->dimids[i]].name);
        util_out_print(&o->out, "%s%s", i == 0 ? "(" : ", ", name);
    }
    if (v->ndims > 0) util_out_bytes(&o->out, ")", 1);
}

/* Prints a line. `record` is the index of the record, or -1 for a fixed-size variable. */
static void put_line(struct offsets *o, const struct cdf_var *v, const struct place *p,
                     int64_t record)
{
    char name[UTIL_NAME_SIZE];
    util_name(name, sizeof name, v->name);
    util_out_print(&o->out, "%15" PRId64 " %15" PRId64 " %15" PRId64 " %11" PRId64,
                   p->start, p->end, p->end - p->start, p->gap);
    util_out_print(&o->out, "  %s %s", util_type_name(v->type), name);
    put_shape(o, v);
    if (record >= 0) util_out_print(&o->out, ", record %" PRId64, record);
    util_out_bytes(&o->out, "\n", 1);
}

static void text_of_one(void *to, int varid, const struct place *p)
{
    struct offsets *o = to;
    const struct cdf_header *h = &o->file.header;
    const struct cdf_var *v = &h->vars[varid];
    if (!o->all_records || !v->is_record) {
        put_line(o, v, p, -1);
        return;
    }
    for (int64_t i = 0; i < h->numrecs && o->out.error == 0; i++) {
        struct place of = {.start = cdf_record_offset(h, v, i), .gap = p->gap};
        of.end = of.start + p->end - p->start;
        put_line(o, v, &of, i);
    }
}

static void put_text(struct offsets *o)
{
    const struct cdf_header *h = &o->file.header;
    struct util_out *out = &o->out;
    util_out_print(out, "CDF-%d file (%s) of %" PRId64 " bytes\n", h->format,
                   util_format_name(h->format), o->file.size);
    util_out_print(out, "header: %" PRId64 " bytes", h->size);
    if (h->nvars > 0)
        util_out_print(out, ", followed by %" PRId64 " free bytes",
                       h->begin_fixed - h->size);
    util_out_print(out, "\nfixed-size variables: %d", h->nvars - h->nrecord_vars);
    if (h->nvars > h->nrecord_vars)
        util_out_print(out, ", from %" PRId64, h->begin_fixed);
    util_out_print(out, "\nrecord variables: %d", h->nrecord_vars);
    if (h->nrecord_vars > 0)
        util_out_print(out,
                       ", from %" PRId64 ", %" PRId64 " records of %" PRId64 " bytes",
                       h->begin_record, h->numrecs, h->record_size);
    util_out_print(out, "\n\n%15s %15s %15s %11s  variable", "start", "end", "bytes",
                   "gap before");
    if (h->nrecord_vars > 0 && !o->all_records)
        util_out_print(out, " (record variables: in record %" PRId64 ")", o->record);
    util_out_bytes(out, "\n", 1);
    each_of_all(o, text_of_one, o);
}

/* ---- JSON ---- */

struct writer {
    struct offsets *o;
    struct util_json j;
};

static void json_of_one(void *to, int varid, const struct place *p)
{
    struct writer *w = to;
    struct util_json *j = &w->j;
    const struct cdf_header *h = &w->o->file.header;
    const struct cdf_var *v = &h->vars[varid];
    util_json_open(j, NULL, '{');
    util_json_text(j, "name", v->name);
    util_json_int(j, "id", varid);
    util_json_text(j, "type", util_type_name(v->type));
    util_json_bool(j, "record", v->is_record);
    util_json_open(j, "dimensions", '[');
    for (int i = 0; i < v->ndims; i++)
        util_json_text(j, NULL, h->dims[v->dimids[i]].name);
    util_json_close(j, ']');
    util_json_int(j, "start", p->start);
    util_json_int(j, "end", p->end);
    util_json_int(j, "bytes", p->end - p->start);
    util_json_int(j, "gap", p->gap);
    util_json_close(j, '}');
}

static void put_json(struct offsets *o)
{
    const struct cdf_header *h = &o->file.header;
    struct writer w = {.o = o};
    struct util_json *j = &w.j;
    util_json_start(j, &o->out);
    util_json_open(j, NULL, '{');
    util_json_text(j, "file", o->file.path);
    util_json_int(j, "format", h->format);
    util_json_int(j, "file_bytes", o->file.size);
    util_json_int(j, "header_bytes", h->size);
    util_json_int(j, "header_free", h->nvars > 0 ? h->begin_fixed - h->size : 0);
    util_json_int(j, "fixed_start", h->begin_fixed);
    util_json_int(j, "record_start", h->begin_record);
    util_json_int(j, "record_bytes", h->record_size);
    util_json_int(j, "records", h->numrecs);
    util_json_int(j, "record_shown", o->record);
    util_json_open(j, "variables", '[');
    each_of_all(o, json_of_one, &w);
    util_json_close(j, ']');
    util_json_close(j, '}');
}

/* ---- the whole report ---- */

static void count_gap(void *to, int varid, const struct place *p)
{
    (void)varid;
    *(int *)to += p->gap > 0;
}

void offsets_show(struct offsets *o)
{
    int gaps = 0;
    if (o->yes_or_no) {
        each_of_all(o, count_gap, &gaps);
        util_out_text(&o->out, gaps > 0 ? "1\n" : "0\n");
    } else if (o->json)
        put_json(o);
    else
        put_text(o);
}
