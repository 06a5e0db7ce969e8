/* Formats trace lines: trace-event JSON with one event per line. So the file stays
 * readable even if several processes append to it or a writer is killed. Numbers are
 * formatted without printf, which would take longer than the events themselves. */
#include <string.h>
#include <time.h>

#include "base_number.h"
#include "base_utf8.h"
#include "config.h"
#include "trace_impl.h"

static const char *const part_names[TRACE_PARTS] = {
#define TRACE_PART(id, name) name,
#include "trace_parts.def"
#undef TRACE_PART
};

/* Times are relative to the start of 2026, so that a double resolves a few
 * nanoseconds. */
static const int64_t epoch = 1767225600LL * 1000000000;

/* ---- pieces ---- */

static void put_string(struct trace *t, const char *text)
{
    size_t n = strlen(text);
    memcpy(t->text + t->used, text, n);
    t->used += n;
}

static void put_digits(struct trace *t, uint64_t number, int least)
{
    char digits[24];
    int at = sizeof digits;
    for (; number > 0 || least > 0; number /= 10, least--)
        digits[--at] = (char)('0' + number % 10);
    memcpy(t->text + t->used, digits + at, sizeof digits - (size_t)at);
    t->used += sizeof digits - (size_t)at;
}

static void put_numbered(struct trace *t, const char *key, int64_t number)
{
    put_string(t, key);
    if (number < 0) put_string(t, "-");
    put_digits(t, number < 0 ? -(uint64_t)number : (uint64_t)number, 1);
}

/* Writes nanoseconds as microseconds. */
static void put_time(struct trace *t, const char *key, int64_t ns)
{
    put_numbered(t, key, ns / 1000);
    put_string(t, ".");
    put_digits(t, ns < 0 ? 0 : (uint64_t)(ns % 1000), 3);
}

/* Writes a string with arbitrary characters. If it is long, writes only its end. */
static void put_text(struct trace *t, const char *key, const char *text)
{
    enum { MOST = 1000 };
    static const char hex[] = "0123456789abcdef";
    size_t length = strlen(text);
    const unsigned char *s = (const unsigned char *)text;
    if (length > MOST) s += length - MOST;
    while (length > MOST && (*s & 0xC0) == 0x80)
        s++;
    put_string(t, key);
    put_string(t, "\"");
    for (size_t n; *s != '\0'; s += n) {
        n = base_utf8_length((const char *)s);
        if (n > 1 || (n == 1 && *s >= ' ' && *s != '"' && *s != '\\' && *s != 0x7F)) {
            memcpy(t->text + t->used, s, n);
            t->used += n;
            continue;
        }
        n = 1;
        const char escaped[] = {'\\', 'u', '0', '0', hex[*s >> 4], hex[*s & 15], '\0'};
        put_string(t, escaped);
    }
    put_string(t, "\"");
}

/* ---- lines ---- */

static void begin_line(struct trace *t, const char *name, const char *kind, int thread,
                       int64_t since)
{
    put_string(t, "{\"name\":\"");
    put_string(t, name);
    put_string(t, kind);
    put_numbered(t, ",\"pid\":", t->pid);
    put_numbered(t, ",\"tid\":", thread);
    put_time(t, ",\"ts\":", since + t->shift - epoch);
}

static void end_line(struct trace *t)
{
    put_string(t, "},\n");
    if (t->fd < 0) t->lost++;
    if (t->used >= TRACE_TEXT) trace_flush(t);
}

static void put_call(struct trace *t, const struct trace_call *c, bool first)
{
    put_string(t, first ? "\"" : ",\"");
    put_string(t, c->name);
    put_numbered(t, "\":{\"n\":", c->n);
    put_time(t, ",\"us\":", c->time);
    put_time(t, ",\"own\":", c->own);
    if (c->n > 1) put_time(t, ",\"longest\":", c->longest);
    if (c->bytes > 0) put_numbered(t, ",\"bytes\":", c->bytes);
    if (c->varid >= 0) put_numbered(t, ",\"var\":", c->varid);
    if (c->err != 0) put_numbered(t, ",\"error\":", c->err);
    put_string(t, "}");
}

static void put_part(struct trace *t, const char *name, const struct trace_sum *p,
                     bool first)
{
    put_string(t, first ? "\"" : ",\"");
    put_string(t, name);
    put_numbered(t, "\":{\"n\":", p->n);
    put_time(t, ",\"us\":", p->own);
    put_time(t, ",\"longest\":", p->longest);
    if (p->bytes > 0) put_numbered(t, ",\"bytes\":", p->bytes);
    if (p->low >= 0) put_numbered(t, ",\"low\":", p->low);
    if (p->low >= 0) put_numbered(t, ",\"high\":", p->high);
    if (p->first >= 0) put_numbered(t, ",\"first\":", p->first);
    if (p->first >= 0) put_numbered(t, ",\"last\":", p->last);
    put_string(t, "}");
}

void trace_add_group(struct trace *t, const struct trace_group *g)
{
    begin_line(t, g->ncalls > 1 ? "several calls" : g->calls[0].name,
               "\",\"cat\":\"call\",\"ph\":\"X\"", g->thread, g->start);
    put_time(t, ",\"dur\":", g->end - g->start);
    put_numbered(t, ",\"args\":{\"set\":", t->id);
    put_string(t, ",\"calls\":{");
    for (int i = 0; i < g->ncalls; i++)
        put_call(t, &g->calls[i], i == 0);
    put_string(t, "}");
    if (g->used != 0) put_string(t, ",\"parts\":{");
    for (unsigned left = g->used; left != 0; left &= left - 1) {
        int part = __builtin_ctz(left);
        put_part(t, part_names[part], &g->parts[part], left == g->used);
    }
    put_string(t, g->used != 0 ? "}}" : "}");
    end_line(t);
}

void trace_add_part(struct trace *t, enum trace_part part, int64_t start, int64_t end,
                    int64_t own, struct trace_where where)
{
    begin_line(t, part_names[part], "\",\"cat\":\"part\",\"ph\":\"X\"", trace_thread(t),
               start);
    put_time(t, ",\"dur\":", end - start);
    put_numbered(t, ",\"args\":{\"set\":", t->id);
    if (own != end - start) put_time(t, ",\"own\":", own);
    if (where.number >= 0) put_numbered(t, ",\"number\":", where.number);
    if (where.offset >= 0) put_numbered(t, ",\"offset\":", where.offset);
    if (where.bytes > 0) put_numbered(t, ",\"bytes\":", where.bytes);
    put_string(t, "}");
    end_line(t);
}

static void begin_note(struct trace *t, const char *name)
{
    begin_line(t, name, "\",\"cat\":\"note\",\"ph\":\"i\",\"s\":\"t\"", trace_thread(t),
               base_now(CLOCK_MONOTONIC));
    put_numbered(t, ",\"args\":{\"set\":", t->id);
}

void trace_add_process(struct trace *t, const char *host)
{
    char name[64] = "process ";
    begin_line(t, "process_name", "\",\"ph\":\"M\"", 0, base_now(CLOCK_MONOTONIC));
    put_text(t, ",\"args\":{\"name\":", strncat(name, host, sizeof name - 16));
    put_numbered(t, ",\"rank\":", t->pid);
    put_text(t, ",\"library\":", LIBRARY_VERSIONS);
    put_string(t, "}");
    end_line(t);
    begin_line(t, "process_sort_index", "\",\"ph\":\"M\"", 0, base_now(CLOCK_MONOTONIC));
    put_numbered(t, ",\"args\":{\"sort_index\":", t->pid);
    put_string(t, "}");
    end_line(t);
}

void trace_add_dataset(struct trace *t, const char *host)
{
    begin_note(t, "dataset");
    put_text(t, ",\"path\":", t->ds->path);
    put_text(t, ",\"host\":", host);
    put_numbered(t, ",\"rank\":", t->ds->rank);
    put_numbered(t, ",\"processes\":", t->ds->nprocs);
    put_string(t, "}");
    end_line(t);
}

void trace_add_file(struct trace *t, int64_t stripe, int64_t stripes)
{
    begin_note(t, "file");
    put_numbered(t, ",\"stripe\":", stripe);
    put_numbered(t, ",\"stripes\":", stripes);
    put_string(t, "}");
    end_line(t);
}

void trace_add_variable(struct trace *t, int varid)
{
    const struct cdf_var *v = &t->ds->header.vars[varid];
    begin_note(t, "variable");
    put_numbered(t, ",\"var\":", varid);
    put_text(t, ",\"variable\":", v->name);
    put_numbered(t, ",\"record\":", v->is_record);
    put_string(t, "}");
    end_line(t);
}

void trace_add_unused(struct trace *t, const char *key, const char *reason)
{
    begin_note(t, "unused hint");
    put_text(t, ",\"hint\":", key);
    put_text(t, ",\"reason\":", reason);
    put_string(t, "}");
    end_line(t);
}

void trace_add_framed(struct trace *t, int varid, const struct trace_framed *f)
{
    begin_note(t, "frames");
    put_numbered(t, ",\"var\":", varid);
    put_numbered(t, ",\"values\":", f->values);
    put_numbered(t, ",\"frames\":", f->frames);
    put_time(t, ",\"us\":", f->time);
    put_string(t, "}");
    end_line(t);
}
