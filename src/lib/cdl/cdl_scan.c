/* Tokens: blanks, comments, names and strings. */
#define _GNU_SOURCE
#include "cdl_scan.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base_error.h"

int cdl_scan_start(struct cdl_scan *s, const char *file, const char *text, size_t length)
{
    *s = (struct cdl_scan){.file = file, .text = text, .end = text + length};
    cdl_scan_rewind(s);
    s->numbers = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    return s->numbers == (locale_t)0 ? NC_ENOMEM : NC_NOERR;
}

void cdl_scan_stop(struct cdl_scan *s)
{
    if (s->numbers != (locale_t)0) freelocale(s->numbers);
    s->numbers = (locale_t)0;
}

void cdl_scan_rewind(struct cdl_scan *s)
{
    s->at = s->start = s->text;
    s->kind = CDL_BAD;
    s->err = NC_NOERR;
}

/* ---- what is wrong ---- */

int cdl_fail(const struct cdl_scan *s, const char *where, int code, const char *format,
             ...)
{
    char reason[320];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);

    const char *line = s->text;
    long long lines = 1;
    for (const char *p; (p = memchr(line, '\n', (size_t)(where - line))) != NULL; lines++)
        line = p + 1;
    return base_error_set(code, "%s: line %lld, column %lld: %s", s->file, lines,
                          (long long)(where - line) + 1, reason);
}

int cdl_unexpected(const struct cdl_scan *s, const char *wanted)
{
    if (s->kind == CDL_BAD) return s->err;
    if (s->kind == CDL_END)
        return cdl_fail(s, s->start, NC_ENOTNC, "the text ends where %s should be",
                        wanted);
    long length = s->at - s->start;
    return cdl_fail(s, s->start, NC_ENOTNC, "'%.*s' stands where %s should be",
                    length < 40 ? (int)length : 40, s->start, wanted);
}

static void bad(struct cdl_scan *s, const char *reason)
{
    s->kind = CDL_BAD;
    s->err = cdl_fail(s, s->start, NC_ENOTNC, "%s", reason);
}

/* ---- blanks ---- */

/* Comments mean nothing but for the one by which a tool tells the format. */
static const char *skip_comment(struct cdl_scan *s, const char *p)
{
    static const char note[] = " file format: CDF-";
    p += 2;
    if (strncmp(p, note, sizeof note - 1) == 0) {
        char digit = p[sizeof note - 1];
        if (digit == '1' || digit == '2' || digit == '5') s->least_format = digit - '0';
    }
    const char *newline = memchr(p, '\n', (size_t)(s->end - p));
    return newline == NULL ? s->end : newline + 1;
}

static const char *skip_blank(struct cdl_scan *s, const char *p)
{
    for (;;) {
        p += strspn(p, " \t\r\n\f\v");
        if (p[0] != '/' || p[1] != '/') return p;
        p = skip_comment(s, p);
    }
}

/* ---- escapes ---- */

static const char *octal(const char *p, char *c)
{
    unsigned value = 0;
    for (int i = 0; i < 3 && *p >= '0' && *p <= '7'; i++)
        value = value * 8 + (unsigned)(*p++ - '0');
    *c = (char)value;
    return p;
}

static const char *hexadecimal(const char *p, char *c)
{
    unsigned value = 0;
    for (int i = 0; i < 2 && isxdigit((unsigned char)*p); i++, p++)
        value = value * 16 + (unsigned)(*p <= '9' ? *p - '0' : (*p | 32) - 'a' + 10);
    *c = (char)value;
    return p;
}

/* The character whose escape goes on at p, behind the backslash; returns the end. As
 * for ncgen, ? is the character DEL. */
static const char *escape(const char *p, char *c)
{
    static const char letters[] = "a\ab\bf\fn\nr\rt\tv\v?\177";
    if (*p >= '0' && *p <= '7') return octal(p, c);
    if (*p == 'x' && isxdigit((unsigned char)p[1])) return hexadecimal(p + 1, c);
    *c = *p;
    for (const char *l = letters; *l != '\0'; l += 2)
        if (*l == *p) *c = l[1];
    return p + 1;
}

/* The characters between the quotes. */
size_t cdl_string(const struct cdl_scan *s, char *to)
{
    char *start = to;
    for (const char *p = s->start + 1; p < s->at - 1; to++)
        if (*p == '\\')
            p = escape(p + 1, to);
        else
            *to = *p++;
    return (size_t)(to - start);
}

int cdl_name(const struct cdl_scan *s, char *name)
{
    size_t length = 0;
    for (const char *p = s->start; p < s->at; p++) {
        if (length == NC_MAX_NAME)
            return cdl_fail(s, s->start, NC_EMAXNAME, "a name of more than %d bytes",
                            NC_MAX_NAME);
        if (*p == '\\') p++;
        name[length++] = *p;
    }
    name[length] = '\0';
    return NC_NOERR;
}

/* ---- names and strings ---- */

/* Letters, digits and marks that need no escape; beyond ASCII anything. */
bool cdl_is_name_byte(unsigned char c)
{
    return c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c != '\0' && strchr("_.@+-%", c) != NULL);
}

static void scan_name(struct cdl_scan *s)
{
    const char *p = s->start;
    while (cdl_is_name_byte((unsigned char)*p) ||
           (*p == '\\' && (unsigned char)p[1] >= ' '))
        p += *p == '\\' ? 2 : 1;
    s->kind = CDL_NAME;
    s->at = p;
    if (p > s->start) return;
    unsigned char c = (unsigned char)*p;
    s->at = p + 1;
    bad(s, c < ' ' || c == 0x7f ? "a control character" : "a character out of place");
}

/* The closing quote, or NULL. */
static const char *find_quote(const struct cdl_scan *s)
{
    const char *p = s->start + 1;
    while (p < s->end && *p != *s->start)
        p += *p == '\\' ? 2 : 1;
    return p < s->end ? p : NULL;
}

static void scan_quoted(struct cdl_scan *s)
{
    const char *quote = find_quote(s);
    s->at = quote == NULL ? s->end : quote + 1;
    s->kind = *s->start == '"' ? CDL_STRING : CDL_NUMBER;
    if (quote == NULL)
        bad(s, "a quote that is not closed");
    else if (s->kind == CDL_NUMBER) {
        char c[8];
        if (s->at - s->start > (ptrdiff_t)sizeof c || cdl_string(s, c) != 1)
            bad(s, "more or less than one character in single quotes");
        else
            s->number = (struct cdl_number){
                NC_BYTE, CONV_LONGLONG, true, {.i = (signed char)c[0]}};
    }
}

void cdl_next(struct cdl_scan *s)
{
    const char *p = s->start = skip_blank(s, s->at);
    s->at = p + 1;
    if (p == s->end) {
        s->kind = CDL_END;
        s->at = p;
    } else if (*p != '\0' && strchr("{}(),:;=", *p) != NULL)
        s->kind = (unsigned char)*p;
    else if (*p == '"' || *p == '\'')
        scan_quoted(s);
    else if (cdl_number_starts(p))
        cdl_scan_number(s);
    else
        scan_name(s);
}

int cdl_peek(const struct cdl_scan *s)
{
    struct cdl_scan ahead = *s;
    cdl_next(&ahead);
    return ahead.kind;
}

void cdl_skip_to(struct cdl_scan *s, char c)
{
    const char *p = s->at;
    while (p < s->end && *p != c)
        p += *p == '\\' && p + 1 < s->end ? 2 : 1;
    s->at = p;
}

bool cdl_is(const struct cdl_scan *s, const char *word)
{
    size_t length = strlen(word);
    return s->kind == CDL_NAME && (size_t)(s->at - s->start) == length &&
           strncasecmp(s->start, word, length) == 0;
}
