/* Writes JSON with each member and element on its own line, indented by its depth. */
#include "util_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base_utf8.h"
#include "util_number.h"

void util_json_start(struct util_json *j, struct util_out *out)
{
    *j = (struct util_json){.out = out};
}

static void new_line(struct util_json *j)
{
    if (j->compact) return;
    util_out_bytes(j->out, "\n", 1);
    for (int i = 0; i < j->depth; i++)
        util_out_bytes(j->out, "  ", 2);
}

static void line(struct util_json *j)
{
    if (j->comma) util_out_bytes(j->out, ",", 1);
    if (j->depth > 0 || j->comma) new_line(j);
    j->comma = true;
}

/* Writes a UTF-8 character of n > 1 bytes as \u escapes. */
static void escape(struct util_json *j, const unsigned char *p, size_t n)
{
    unsigned code = p[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++)
        code = code << 6 | (p[i] & 0x3fu);
    if (code > 0xffff) {
        util_out_print(j->out, "\\u%04x", 0xd7c0 + (code >> 10));
        code = 0xdc00 | (code & 0x3ff);
    }
    util_out_print(j->out, "\\u%04x", code);
}

static void quoted(struct util_json *j, const char *text, size_t length)
{
    util_out_bytes(j->out, "\"", 1);
    const unsigned char *p = (const unsigned char *)text, *end = p + length;
    while (p < end) {
        size_t n = *p == '\0' ? 1 : base_utf8_length((const char *)p);
        if (n == 0)
            util_out_text(j->out, "\\ufffd");
        else if (*p < ' ' || *p == 0x7f)
            util_out_print(j->out, "\\u%04x", *p);
        else if (n > 1 && j->compact)
            escape(j, p, n);
        else {
            if (*p == '"' || *p == '\\') util_out_bytes(j->out, "\\", 1);
            util_out_bytes(j->out, p, n);
        }
        p += n == 0 ? 1 : n;
    }
    util_out_bytes(j->out, "\"", 1);
}

static void begin_member(struct util_json *j, const char *name)
{
    line(j);
    if (name == NULL) return;
    quoted(j, name, strlen(name));
    util_out_bytes(j->out, ": ", 2);
}

void util_json_open(struct util_json *j, const char *name, char bracket)
{
    begin_member(j, name);
    util_out_bytes(j->out, &bracket, 1);
    j->depth++;
    j->comma = false;
}

void util_json_close(struct util_json *j, char bracket)
{
    bool any = j->comma;
    j->depth--;
    j->comma = false;
    if (any) new_line(j);
    util_out_bytes(j->out, &bracket, 1);
    j->comma = j->depth > 0;
    if (j->depth == 0) new_line(j);
}

void util_json_raw(struct util_json *j, const char *name, const char *text)
{
    begin_member(j, name);
    util_out_text(j->out, text);
}

void util_json_int(struct util_json *j, const char *name, int64_t value)
{
    char text[UTIL_NUMBER_MAX];
    *util_put_int(text, value) = '\0';
    util_json_raw(j, name, text);
}

void util_json_bool(struct util_json *j, const char *name, bool value)
{
    util_json_raw(j, name, value ? "true" : "false");
}

void util_json_text(struct util_json *j, const char *name, const char *text)
{
    util_json_string(j, name, text, strlen(text));
}

void util_json_string(struct util_json *j, const char *name, const char *text,
                      size_t length)
{
    begin_member(j, name);
    quoted(j, text, length);
}

void util_json_real(struct util_json *j, const char *name, double value, int digits)
{
    char text[UTIL_NUMBER_MAX];
    if (!isfinite(value)) {
        util_json_text(j, name,
                       isnan(value) ? "NaN"
                       : value > 0  ? "Infinity"
                                    : "-Infinity");
        return;
    }
    *util_put_real(text, value, digits) = '\0';
    util_json_raw(j, name, text);
}
