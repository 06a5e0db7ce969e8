/* Escapes characters in CDL strings. */
#include "dump_text.h"

#include <stdio.h>

void dump_text_begin(struct dump_text *t)
{
    t->nuls = 0;
    util_out_bytes(t->out, "\"", 1);
}

void dump_text_end(struct dump_text *t)
{
    util_out_bytes(t->out, "\"", 1);
}

static bool is_plain(const struct dump_text *t, unsigned char c)
{
    if (c >= 0x80) return !t->escape_high;
    return c >= ' ' && c != '"' && c != '\\' && c != '\'' && c != 0x7f;
}

static void put_special(struct dump_text *t, unsigned char c)
{
    static const char letters[] = "b\bf\fn\nr\rt\tv\v\"\"\\\\''";
    for (const char *p = letters; *p != '\0'; p += 2)
        if ((unsigned char)p[1] == c) {
            util_out_bytes(t->out, (char[]){'\\', p[0]}, 2);
            if (c == '\n' && t->indent != NULL)
                util_out_print(t->out, "\",\n%s\"", t->indent);
            return;
        }
    char *p = util_out_room(t->out);
    p[0] = '\\';
    p[1] = (char)('0' + (c >> 6));
    p[2] = (char)('0' + (c >> 3 & 7));
    p[3] = (char)('0' + (c & 7));
    util_out_advance(t->out, 4);
}

void dump_text_piece(struct dump_text *t, const void *bytes, size_t length)
{
    const unsigned char *p = bytes, *end = p + length;
    while (p < end) {
        if (*p == '\0') {
            t->nuls++;
            p++;
            continue;
        }
        for (; t->nuls > 0; t->nuls--)
            put_special(t, '\0');
        const unsigned char *start = p;
        while (p < end && is_plain(t, *p))
            p++;
        if (p > start)
            util_out_bytes(t->out, start, (size_t)(p - start));
        else
            put_special(t, *p++);
    }
}
