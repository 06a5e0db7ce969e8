/* Reads a hints file. jansson parses the JSON and reports syntax errors. For all other
 * messages, a second pass over the text, now known to be valid JSON, finds the line and
 * column of each part. */
#include "config.h"

#include "hints_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "hints_table.h"
#include "base_io.h"
#include "base_mem.h"

void hints_file_free(struct hints_file *f)
{
    base_arena_free(&f->arena);
    f->entries = NULL;
    f->guards = NULL;
    f->nentries = f->nguards = 0;
}

#ifdef HAVE_JANSSON

#include <jansson.h>

struct walk {
    struct hints_file *f;
    const char *at, *end;
    struct hints_file_place place;
    int err; /* first error */
};

/* ---- errors ---- */

/* Replaces control characters with '?', because they might affect a terminal. */
static void replace_controls(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f) *text = '?';
}

__attribute__((format(printf, 3, 4))) static void
refuse(struct walk *w, struct hints_file_place place, const char *format, ...)
{
    char words[300];
    va_list args;
    if (w->err != NC_NOERR) return;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    replace_controls(words);
    w->err = base_error_set(NC_EINVAL, "hints file %.200s: line %d, column %d: %s",
                            w->f->name, place.line, place.column, words);
}

__attribute__((format(printf, 3, 4))) static void
warn(struct walk *w, struct hints_file_place place, const char *format, ...)
{
    char words[300];
    va_list args;
    w->f->nwarned++;
    if (w->f->warn == NULL) return;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    replace_controls(words);
    w->f->warn(w->f, place, words);
}

static void set_no_memory(struct walk *w)
{
    if (w->err == NC_NOERR) w->err = NC_ENOMEM;
}

/* ---- lines and columns ---- */

static void advance_byte(struct walk *w)
{
    if (*w->at == '\n') {
        w->place.line++;
        w->place.column = 1;
    } else if (((unsigned char)*w->at & 0xc0) != 0x80) { /* first byte of a UTF-8
                                                          * character */
        w->place.column++;
    }
    w->at++;
}

static bool is_at_any(const struct walk *w, const char *any)
{
    return w->at < w->end && *w->at != '\0' && strchr(any, *w->at) != NULL;
}

/* Advances to the start of the next part. Returns its position. */
static struct hints_file_place skip_separators(struct walk *w)
{
    while (is_at_any(w, " \t\r\n,:"))
        advance_byte(w);
    return w->place;
}

static void skip_string(struct walk *w)
{
    advance_byte(w);
    while (w->at < w->end && *w->at != '"') {
        if (*w->at == '\\' && w->at + 1 < w->end) advance_byte(w);
        advance_byte(w);
    }
    if (w->at < w->end) advance_byte(w);
}

/* Advances past a value of any kind. */
static void skip_value(struct walk *w)
{
    int depth = 0;
    skip_separators(w);
    do {
        if (is_at_any(w, "\"")) {
            skip_string(w);
            continue;
        }
        if (is_at_any(w, "[{")) depth++;
        if (is_at_any(w, "]}")) depth--;
        if (w->at < w->end) advance_byte(w);
        if (depth == 0)
            while (w->at < w->end && !is_at_any(w, " \t\r\n,:]}"))
                advance_byte(w); /* remainder of a number or literal */
    } while (depth > 0 && w->at < w->end);
}

/* ---- parts ---- */

static const char *copy_text(struct walk *w, const char *text)
{
    size_t size = strlen(text) + 1;
    char *kept = base_arena_alloc_packed(&w->f->arena, size, 1);
    if (kept == NULL) set_no_memory(w);
    return kept == NULL ? "" : memcpy(kept, text, size);
}

/* Converts a string, an integer or a boolean to text. Returns false for other values. */
static bool value_text(const json_t *value, char *text, size_t size)
{
    int n = -1;
    if (json_is_string(value)) n = snprintf(text, size, "%s", json_string_value(value));
    if (json_is_integer(value))
        n = snprintf(text, size, "%lld", (long long)json_integer_value(value));
    if (json_is_boolean(value))
        n = snprintf(text, size, "%s", json_is_true(value) ? "true" : "false");
    return n >= 0 && (size_t)n < size;
}

static bool has_controls(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f) return true;
    return false;
}

/* Reads a hint in an entry. Returns false if the hint is to be ignored. */
static bool read_pair(struct walk *w, const char *key, const json_t *value,
                      struct hints_file_place place, struct hints_file_pair *pair)
{
    char text[HINTS_VALUE];
    if (*key == '\0' || strlen(key) >= HINTS_KEY || has_controls(key)) {
        warn(w, place, "'%.80s' is not a valid hint name", key);
        return false;
    }
    if (!value_text(value, text, sizeof text) || *text == '\0' || has_controls(text)) {
        warn(w, place,
             "the value of '%s' must be a string of 1 to %d bytes, or a whole number",
             key, HINTS_VALUE - 1);
        return false;
    }
    char words[300];
    if (hints_describe_error(key, text, words, sizeof words)) warn(w, place, "%s", words);
    const struct hints_row *known = hints_find(key);
    if (known != NULL && !hints_accepts(known, text)) return false;
    *pair = (struct hints_file_pair){copy_text(w, key), copy_text(w, text), place};
    return true;
}

/* Reads a member of an entry: its Path, its Type, or a hint. */
static void read_member(struct walk *w, struct hints_file_entry *e, const char *key,
                        const json_t *value, struct hints_file_place at, bool *wanted)
{
    if (strcmp(key, "Path") == 0) {
        if (!json_is_string(value) || json_string_length(value) == 0)
            refuse(w, at, "Path must be a non-empty string");
        else
            e->path = copy_text(w, json_string_value(value));
        e->place = at;
    } else if (strcmp(key, "Type") == 0) {
        *wanted = json_is_string(value) && strcmp(json_string_value(value), "MPI") == 0;
        if (!*wanted) warn(w, at, "entries with a Type other than \"MPI\" are ignored");
    } else if (read_pair(w, key, value, at, &e->pairs[e->npairs])) {
        e->npairs++;
    }
}

static void read_entry(struct walk *w, json_t *entry)
{
    struct hints_file_entry *e = &w->f->entries[w->f->nentries];
    struct hints_file_place begin = skip_separators(w);
    const char *key;
    json_t *value;
    bool wanted = true;
    *e = (struct hints_file_entry){.place = begin};
    if (!json_is_object(entry)) {
        refuse(w, begin, "an entry of File is not an object");
        return;
    }
    e->pairs =
        base_arena_alloc(&w->f->arena, (json_object_size(entry) + 1) * sizeof *e->pairs);
    if (e->pairs == NULL) {
        set_no_memory(w);
        return;
    }
    advance_byte(w);
    json_object_foreach(entry, key, value)
    {
        struct hints_file_place at = skip_separators(w);
        read_member(w, e, key, value, at, &wanted);
        skip_value(w);
        skip_value(w);
    }
    skip_separators(w);
    advance_byte(w);
    if (e->path == NULL) refuse(w, begin, "an entry of File has no Path");
    if (wanted) w->f->nentries++;
}

static int by_path(const void *a, const void *b)
{
    const struct hints_file_entry *const *p = a, *const *q = b;
    int order = strcmp((*p)->path, (*q)->path);
    return order != 0 ? order : *p < *q ? -1 : *p > *q;
}

static void warn_of_duplicates(struct walk *w)
{
    const struct hints_file *f = w->f;
    if (f->warn == NULL || w->err != NC_NOERR || f->nentries < 2) return;
    size_t size = sizeof(struct hints_file_entry *);
    const struct hints_file_entry **order = base_malloc((size_t)f->nentries * size);
    if (order == NULL) {
        set_no_memory(w);
        return;
    }
    for (int i = 0; i < f->nentries; i++)
        order[i] = &f->entries[i];
    qsort(order, (size_t)f->nentries, size, by_path);
    for (int i = 1; i < f->nentries; i++)
        if (strcmp(order[i]->path, order[i - 1]->path) == 0)
            warn(w, order[i]->place,
                 "line %d has the same Path; if both specify a hint, this line takes "
                 "precedence",
                 order[i - 1]->place.line);
    base_free(order);
}

static void read_entries(struct walk *w, json_t *list, struct hints_file_place at)
{
    size_t i;
    json_t *entry;
    if (!json_is_array(list)) {
        refuse(w, at, "File must be a list");
        return;
    }
    w->f->entries = base_arena_alloc(&w->f->arena,
                                     (json_array_size(list) + 1) * sizeof *w->f->entries);
    if (w->f->entries == NULL) {
        set_no_memory(w);
        return;
    }
    skip_separators(w);
    advance_byte(w);
    json_array_foreach(list, i, entry)
    {
        if (w->err == NC_NOERR) read_entry(w, entry);
    }
    skip_separators(w);
    advance_byte(w);
    warn_of_duplicates(w);
}

/* Adds a name, or several names separated by commas. */
static void add_guards(struct walk *w, const char *names)
{
    while (*names != '\0') {
        size_t length = strcspn(names, ", ");
        char *name = base_arena_alloc_packed(&w->f->arena, length + 1, 1);
        if (name == NULL) {
            set_no_memory(w);
            return;
        }
        memcpy(name, names, length);
        name[length] = '\0';
        if (length > 0) w->f->guards[w->f->nguards++] = name;
        names += length + (names[length] != '\0');
    }
}

/* Reads Guardnames: a string, or a list of strings. */
static void read_guards(struct walk *w, json_t *names, struct hints_file_place at)
{
    size_t i, bytes = json_string_length(names);
    json_t *name;
    bool good = json_is_string(names) || json_is_array(names);
    json_array_foreach(names, i, name)
    {
        good &= json_is_string(name);
        bytes += json_string_length(name) + 1;
    }
    if (!good) {
        warn(w, at, "Guardnames must be a string or a list of strings; ignored");
        return;
    }
    w->f->guarded = at;
    w->f->guards = base_arena_alloc(&w->f->arena, (bytes / 2 + 2) * sizeof *w->f->guards);
    if (w->f->guards == NULL) {
        set_no_memory(w);
        return;
    }
    if (json_is_string(names)) add_guards(w, json_string_value(names));
    for (i = 0; i < json_array_size(names); i++)
        add_guards(w, json_string_value(json_array_get(names, i)));
}

/* Inserts the Guardnames entries before those from File, which may override them. */
static void enter_guards(struct walk *w)
{
    struct hints_file *f = w->f;
    size_t n = (size_t)f->nguards, all = n + (size_t)f->nentries;
    if (n == 0 || w->err != NC_NOERR) return;
    struct hints_file_entry *e = base_arena_alloc(&f->arena, all * sizeof *e);
    struct hints_file_pair *pair = base_arena_alloc(&f->arena, sizeof *pair);
    if (e == NULL || pair == NULL) {
        set_no_memory(w);
        return;
    }
    *pair = (struct hints_file_pair){"nc_deferred_close", "enable", f->guarded};
    for (size_t i = 0; i < n; i++)
        e[i] = (struct hints_file_entry){.path = f->guards[i],
                                         .place = f->guarded,
                                         .pairs = pair,
                                         .npairs = 1,
                                         .guard = true};
    for (size_t i = n; i < all; i++)
        e[i] = f->entries[i - n];
    f->entries = e;
    f->nentries = (int)all;
}

static void read_hints(struct walk *w, json_t *root)
{
    const char *key;
    json_t *value;
    struct hints_file_place begin = skip_separators(w);
    if (!json_is_object(root)) {
        refuse(w, begin, "expected an object with a list `File`");
        return;
    }
    advance_byte(w);
    json_object_foreach(root, key, value)
    {
        struct hints_file_place at = skip_separators(w);
        skip_value(w);
        if (strcmp(key, "File") == 0) {
            read_entries(w, value, at);
            if (w->err != NC_NOERR) return;
            continue;
        }
        if (strcmp(key, "Guardnames") == 0)
            read_guards(w, value, at);
        else
            warn(w, at, "'%.80s' is neither File nor Guardnames; ignored", key);
        skip_value(w);
    }
    if (json_object_get(root, "File") == NULL && w->f->nguards == 0)
        warn(w, begin, "there is neither `File` nor `Guardnames`, so there are no hints");
}

int hints_file_parse(struct hints_file *f, const char *text, size_t length)
{
    struct walk w = {.f = f, .at = text, .end = text + length, .place = {1, 1}};
    json_error_t error;
    json_t *root =
        json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (root == NULL) {
        struct hints_file_place at = {error.line < 1 ? 1 : error.line,
                                      error.column < 1 ? 1 : error.column};
        if (json_error_code(&error) == json_error_out_of_memory) return NC_ENOMEM;
        refuse(&w, at, "%s", error.text);
        return w.err;
    }
    read_hints(&w, root);
    enter_guards(&w);
    json_decref(root);
    return w.err;
}

#else

int hints_file_parse(struct hints_file *f, const char *text, size_t length)
{
    (void)text;
    (void)length;
    return base_error_set(NC_EINVAL,
                          "hints file %.200s: cannot be read, as the library was built "
                          "without jansson (JSON)",
                          f->name);
}

#endif

/* ---- the file ---- */

static int refuse_file(const struct hints_file *f, const char *why)
{
    return base_error_set(NC_EINVAL, "hints file %.200s: %s", f->name, why);
}

/* Checks that the file is regular and not too large. Sets *size. */
static int check_hints_file(const struct hints_file *f, int fd, int64_t *size)
{
    struct stat st;
    char words[80];
    if (fstat(fd, &st) != 0) return refuse_file(f, strerror(errno));
    if (S_ISDIR(st.st_mode)) return refuse_file(f, "a directory");
    if (!S_ISREG(st.st_mode)) return refuse_file(f, "not a regular file");
    *size = st.st_size;
    if (st.st_size <= HINTS_FILE_MOST) return NC_NOERR;
    snprintf(words, sizeof words,
             "not read: %lld bytes, but a hints file may have at most %d",
             (long long)st.st_size, HINTS_FILE_MOST);
    return refuse_file(f, words);
}

static int read_bytes(struct hints_file *f, int fd)
{
    int64_t size = 0;
    int err = check_hints_file(f, fd, &size);
    if (err != NC_NOERR) return err;
    char *text = base_malloc((size_t)size + 1);
    ssize_t n = 1;
    size_t length = 0;
    if (text == NULL) return NC_ENOMEM;
    while (length < (size_t)size && n > 0) {
        n = read(fd, text + length, (size_t)size - length);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            length += (size_t)n;
    }
    err = n < 0 ? refuse_file(f, strerror(errno)) : hints_file_parse(f, text, length);
    base_free(text);
    return err;
}

int hints_file_read(struct hints_file *f)
{
    /* base_open does not block if the file is a pipe. */
    int fd = base_open(f->name, O_RDONLY);
    if (fd < 0) return refuse_file(f, strerror(errno));
    int err = read_bytes(f, fd);
    close(fd);
    return err;
}
