/* Translates error messages for Fortran. The library composes messages for C, and does
 * not know who calls it. Only a Fortran program calls the strerror functions for Fortran,
 * so these translate the finished text, word by word:
 *
 * - functions and constants get their Fortran names;
 * - indices and ids, which follow certain words, count from 1.
 *
 * Names of variables, dimensions and attributes are in quotes and remain unchanged, as do
 * absolute paths, up to the colon after them, and words that are part of other paths.
 * Messages contain the names of dimensions rather than their positions, so the order of
 * dimensions does not matter. */
#include "f77_message.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct f77_names f77_names_nfmpi = {"NF_", "nfmpi", false};
const struct f77_names f77_names_nf90mpi = {"NF90_", "nf90mpi", true};

/* The translated text. */
struct buffer {
    char text[4096];
    size_t n;
};

static void add_text(struct buffer *to, const char *text, size_t n)
{
    if (n > sizeof to->text - 1 - to->n) n = sizeof to->text - 1 - to->n;
    memcpy(to->text + to->n, text, n);
    to->n += n;
    to->text[to->n] = '\0';
}

static void add_string(struct buffer *to, const char *text)
{
    add_text(to, text, strlen(text));
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool ends_with(const char *text, size_t n, const char *suffix)
{
    size_t length = strlen(suffix);
    return n >= length && strncmp(text + n - length, suffix, length) == 0;
}

/* Adds the name of a data function: _put_vara_float_all becomes _put_vara_real_all. */
static void add_typed(struct buffer *to, const char *name, size_t n)
{
    static const struct {
        const char *c, *fortran;
    } types[] = {{"_schar", "_int1"},
                 {"_short", "_int2"},
                 {"_longlong", "_int8"},
                 {"_float", "_real"}};
    const char *all = ends_with(name, n, "_all") ? "_all" : "", *type = "";
    n -= strlen(all);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (ends_with(name, n, types[i].c)) {
            n -= strlen(types[i].c);
            type = types[i].fortran;
            break;
        }
    add_text(to, name, n);
    add_string(to, type);
    add_string(to, all);
}

/* Adds the name of a generic function: _put_vara_float_all becomes _put_var_all. The
 * stem, such as put_var, ends at `stem`. */
static void add_generic(struct buffer *to, const char *name, size_t n, size_t stem)
{
    bool list = name[stem] == 'n' || name[stem] == 'd';
    add_text(to, name, stem + list);
    if (ends_with(name, n, "_all")) add_string(to, "_all");
}

/* Returns the length of a data function's stem, such as _iput_var or _get_att, or 0 if
 * this is another function. */
static size_t stem_length(const char *name)
{
    static const char *const stems[] = {"_put_", "_get_", "_iput_", "_iget_", "_bput_"};
    for (size_t i = 0; i < sizeof stems / sizeof stems[0]; i++) {
        size_t n = strlen(stems[i]);
        if (begins_with(name, stems[i]) &&
            (begins_with(name + n, "var") || begins_with(name + n, "att")))
            return n + 3;
    }
    return 0;
}

/* Adds the name of a function without its prefix, ncmpi. */
static void add_function(struct buffer *to, const char *name, size_t n,
                         const struct f77_names *names)
{
    size_t stem = stem_length(name);
    add_string(to, names->functions);
    if (stem > 0 && !names->generic)
        add_typed(to, name, n);
    else if (stem > 0)
        add_generic(to, name, n, stem);
    else if (names->generic && begins_with(name, "__enddef"))
        add_text(to, name + 1, n - 1);
    else
        add_text(to, name, n);
}

/* Returns whether there is a number at `at`, perhaps with a sign. */
static bool is_number(const char *at)
{
    return isdigit((unsigned char)at[*at == '-']);
}

/* Returns whether a number at `at` counts from 1 in Fortran. */
static bool is_index(const char *message, const char *at)
{
    if (!is_number(at)) return false;
    static const char *const words[] = {
        "start ",        "record ",    "element ",          "variable ",
        "attribute ",    "dimension ", "attribute number ", "variable id ",
        "dimension id ", "varid is ",  " id is ",           "recno is "};
    size_t n = (size_t)(at - message);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);
        if (ends_with(message, n, words[i]) &&
            (n == length || !is_word_char(at[-(int)length - 1])))
            return true;
    }
    return false;
}

/* Adds the number at `at`, plus one, and the number to which the message compares it, if
 * any ("varid is 3, but 4 on process 0"). Returns the text after them. */
static const char *add_index(struct buffer *to, const char *at)
{
    char number[24], *end;
    unsigned long long value = (unsigned long long)strtoll(at, &end, 10);
    snprintf(number, sizeof number, "%lld", (long long)(value + 1));
    add_string(to, number);
    const char *other = end + strlen(", but ");
    if (!begins_with(end, ", but ") || !is_number(other)) return end;
    add_text(to, end, (size_t)(other - end));
    return add_index(to, other);
}

/* Returns whether a word is part of a path or file name. */
static bool in_path(const char *message, const char *word, const char *end)
{
    if (word > message && strchr("/.-~", word[-1]) != NULL) return true;
    return *end == '/' || (*end == '.' && is_word_char(end[1]));
}

/* Translates the word at `at` and returns the text after it. */
static const char *add_word(struct buffer *to, const char *message, const char *at,
                            const struct f77_names *names)
{
    const char *end = at;
    while (is_word_char(*end) || (end == at && *end == '-'))
        end++;
    size_t n = (size_t)(end - at);
    const bool path = in_path(message, at, end);
    if (!path && strspn(at, "-0123456789") == n && n < 21 && is_index(message, at)) {
        end = add_index(to, at);
    } else if (!path && begins_with(at, "NC_")) {
        add_string(to, names->constants);
        add_text(to, at + 3, n - 3);
    } else if (!path && (begins_with(at, "ncmpi_") || begins_with(at, "ncmpix_"))) {
        add_function(to, at + 5, n - 5, names);
    } else {
        add_text(to, at, n);
    }
    return end;
}

/* Returns the length of a quoted name at `at`, with its quotes, or 0 if there is none. An
 * apostrophe in a word is no quote. */
static size_t quoted_length(const char *message, const char *at)
{
    if (*at != '\'' || (at > message && is_word_char(at[-1]))) return 0;
    const char *end = at + 1;
    while (*end != '\0' && (*end != '\'' || is_word_char(end[1])))
        end++;
    return *end == '\0' ? 0 : (size_t)(end + 1 - at);
}

/* Returns the length of an absolute path at `at`, which a colon or the end of the message
 * terminates because names may contain blanks; or 0 if there is none. */
static size_t path_length(const char *message, const char *at)
{
    if (*at != '/' || (at > message && at[-1] != ' ') || at[1] == ' ') return 0;
    const char *end = strstr(at, ": ");
    return end == NULL ? strlen(at) : (size_t)(end - at);
}

static void translate_text(struct buffer *to, const char *message,
                           const struct f77_names *names)
{
    const char *at = message;
    while (*at != '\0') {
        size_t n = quoted_length(message, at);
        if (n == 0) n = path_length(message, at);
        if (n == 0 && (is_word_char(*at) || *at == '-')) {
            at = add_word(to, message, at, names);
            continue;
        }
        if (n == 0) n = 1;
        add_text(to, at, n);
        at += n;
    }
}

/* Removes the directories of the first absolute path that has any, and returns whether
 * there was one. */
static bool shorten_path(struct buffer *b)
{
    char *end;
    for (char *at = b->text; *at != '\0'; at = end) {
        at += strspn(at, " '(");
        end = at + strcspn(at, " '(");
        char *file = end;
        while (file > at && file[-1] != '/')
            file--;
        if (*at != '/' || !is_word_char(*file)) continue;
        b->n -= (size_t)(file - at);
        memmove(at, file, strlen(file) + 1);
        return true;
    }
    return false;
}

bool f77_message(char *text, size_t size, const char *message,
                 const struct f77_names *names)
{
    struct buffer b;
    b.n = 0;
    b.text[0] = '\0';
    translate_text(&b, message, names);
    bool fits = b.n <= size;
    while (b.n > size && shorten_path(&b))
        continue;
    size_t n = b.n < size ? b.n : size;
    memcpy(text, b.text, n);
    memset(text + n, ' ', size - n);
    return fits;
}
