/* Reading a file of hints. jansson reads the JSON, and says where it is none; where its
 * parts stand, for what is wrong with one of them, is found by walking through the text
 * beside it: what is JSON is easily passed over. */
#include "config.h"

#include "base_hints_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_hints_table.h"
#include "base_io.h"
#include "base_mem.h"

void base_hints_file_free(struct base_hints_file *f)
{
    base_arena_free(&f->arena);
    f->entries = NULL;
    f->guards = NULL;
    f->nentries = f->nguards = 0;
}

#ifdef HAVE_JANSSON

#include <jansson.h>

struct walk {
    struct base_hints_file *f;
    const char *at, *end;
    struct base_file_place place;
    int err; /* the first */
};

/* ---- what is wrong ---- */

/* What would steer a terminal is shown as '?'. */
static void tame(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f) *text = '?';
}

__attribute__((format(printf, 3, 4))) static void
refuse(struct walk *w, struct base_file_place place, const char *format, ...)
{
    char words[300];
    va_list args;
    if (w->err != NC_NOERR) return;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    tame(words);
    w->err = base_error_set(NC_EINVAL, "file of hints %.200s: line %d, column %d: %s",
                            w->f->name, place.line, place.column, words);
}

__attribute__((format(printf, 3, 4))) static void
warn(struct walk *w, struct base_file_place place, const char *format, ...)
{
    char words[300];
    va_list args;
    w->f->nwarned++;
    if (w->f->warn == NULL) return;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    tame(words);
    w->f->warn(w->f, place, words);
}

static void lack_memory(struct walk *w)
{
    if (w->err == NC_NOERR) w->err = NC_ENOMEM;
}

/* ---- places ---- */

static void step(struct walk *w)
{
    if (*w->at == '\n') {
        w->place.line++;
        w->place.column = 1;
    } else if (((unsigned char)*w->at & 0xc0) != 0x80) { /* not within a character */
        w->place.column++;
    }
    w->at++;
}

static bool here(const struct walk *w, const char *any)
{
    return w->at < w->end && *w->at != '\0' && strchr(any, *w->at) != NULL;
}

/* To the next part. */
static struct base_file_place arrive(struct walk *w)
{
    while (here(w, " \t\r\n,:"))
        step(w);
    return w->place;
}

static void pass_text(struct walk *w)
{
    step(w);
    while (w->at < w->end && *w->at != '"') {
        if (*w->at == '\\' && w->at + 1 < w->end) step(w);
        step(w);
    }
    if (w->at < w->end) step(w);
}

/* Behind the value, whatever it is. */
static void pass(struct walk *w)
{
    int depth = 0;
    arrive(w);
    do {
        if (here(w, "\"")) {
            pass_text(w);
            continue;
        }
        if (here(w, "[{")) depth++;
        if (here(w, "]}")) depth--;
        if (w->at < w->end) step(w);
        if (depth == 0)
            while (w->at < w->end && !here(w, " \t\r\n,:]}"))
                step(w); /* the rest of a number or a word */
    } while (depth > 0 && w->at < w->end);
}

/* ---- parts ---- */

static const char *copy_text(struct walk *w, const char *text)
{
    size_t size = strlen(text) + 1;
    char *kept = base_arena_alloc_packed(&w->f->arena, size, 1);
    if (kept == NULL) lack_memory(w);
    return kept == NULL ? "" : memcpy(kept, text, size);
}

/* A value as hints have it: text, and whole numbers and truth too. False: it is neither.
 */
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

/* A hint of an entry. False: it is passed over. */
static bool read_pair(struct walk *w, const char *key, const json_t *value,
                      struct base_file_place place, struct base_file_pair *pair)
{
    char text[BASE_HINT_VALUE];
    if (*key == '\0' || strlen(key) >= BASE_HINT_KEY || has_controls(key)) {
        warn(w, place, "'%.80s' is no name of a hint", key);
        return false;
    }
    if (!value_text(value, text, sizeof text) || *text == '\0' || has_controls(text)) {
        warn(w, place,
             "the value of '%s' is no text of 1 to %d bytes, and no whole number", key,
             BASE_HINT_VALUE - 1);
        return false;
    }
    char words[300];
    if (base_hint_blame(key, text, words, sizeof words)) warn(w, place, "%s", words);
    const struct base_hint *known = base_hint_find(key);
    if (known != NULL && !base_hint_takes(known, text)) return false;
    *pair = (struct base_file_pair){copy_text(w, key), copy_text(w, text), place};
    return true;
}

/* Path and Type of an entry, and the rest. */
static void read_member(struct walk *w, struct base_file_entry *e, const char *key,
                        const json_t *value, struct base_file_place at, bool *wanted)
{
    if (strcmp(key, "Path") == 0) {
        if (!json_is_string(value) || json_string_length(value) == 0)
            refuse(w, at, "Path is no text, or empty");
        else
            e->path = copy_text(w, json_string_value(value));
        e->place = at;
    } else if (strcmp(key, "Type") == 0) {
        *wanted = json_is_string(value) && strcmp(json_string_value(value), "MPI") == 0;
        if (!*wanted) warn(w, at, "entries of another Type than \"MPI\" are passed over");
    } else if (read_pair(w, key, value, at, &e->pairs[e->npairs])) {
        e->npairs++;
    }
}

static void read_entry(struct walk *w, json_t *entry)
{
    struct base_file_entry *e = &w->f->entries[w->f->nentries];
    struct base_file_place begin = arrive(w);
    const char *key;
    json_t *value;
    bool wanted = true;
    *e = (struct base_file_entry){.place = begin};
    if (!json_is_object(entry)) {
        refuse(w, begin, "an entry of File is no object");
        return;
    }
    e->pairs =
        base_arena_alloc(&w->f->arena, (json_object_size(entry) + 1) * sizeof *e->pairs);
    if (e->pairs == NULL) {
        lack_memory(w);
        return;
    }
    step(w);
    json_object_foreach(entry, key, value)
    {
        struct base_file_place at = arrive(w);
        read_member(w, e, key, value, at, &wanted);
        pass(w);
        pass(w);
    }
    arrive(w);
    step(w);
    if (e->path == NULL) refuse(w, begin, "an entry of File has no Path");
    if (wanted) w->f->nentries++;
}

static int by_path(const void *a, const void *b)
{
    const struct base_file_entry *const *p = a, *const *q = b;
    int order = strcmp((*p)->path, (*q)->path);
    return order != 0 ? order : *p < *q ? -1 : *p > *q;
}

static void warn_of_twins(struct walk *w)
{
    const struct base_hints_file *f = w->f;
    if (f->warn == NULL || w->err != NC_NOERR || f->nentries < 2) return;
    size_t size = sizeof(struct base_file_entry *);
    const struct base_file_entry **order = base_malloc((size_t)f->nentries * size);
    if (order == NULL) {
        lack_memory(w);
        return;
    }
    for (int i = 0; i < f->nentries; i++)
        order[i] = &f->entries[i];
    qsort(order, (size_t)f->nentries, size, by_path);
    for (int i = 1; i < f->nentries; i++)
        if (strcmp(order[i]->path, order[i - 1]->path) == 0)
            warn(w, order[i]->place,
                 "line %d has the same Path; where both have a hint, this one holds",
                 order[i - 1]->place.line);
    base_free(order);
}

static void read_entries(struct walk *w, json_t *list, struct base_file_place at)
{
    size_t i;
    json_t *entry;
    if (!json_is_array(list)) {
        refuse(w, at, "File is no list");
        return;
    }
    w->f->entries = base_arena_alloc(&w->f->arena,
                                     (json_array_size(list) + 1) * sizeof *w->f->entries);
    if (w->f->entries == NULL) {
        lack_memory(w);
        return;
    }
    arrive(w);
    step(w);
    json_array_foreach(list, i, entry)
    {
        if (w->err == NC_NOERR) read_entry(w, entry);
    }
    arrive(w);
    step(w);
    warn_of_twins(w);
}

/* One name, or several with commas between them. */
static void add_guards(struct walk *w, const char *names)
{
    while (*names != '\0') {
        size_t length = strcspn(names, ", ");
        char *name = base_arena_alloc_packed(&w->f->arena, length + 1, 1);
        if (name == NULL) {
            lack_memory(w);
            return;
        }
        memcpy(name, names, length);
        name[length] = '\0';
        if (length > 0) w->f->guards[w->f->nguards++] = name;
        names += length + (names[length] != '\0');
    }
}

/* A text, or a list of texts. */
static void read_guards(struct walk *w, json_t *names, struct base_file_place at)
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
        warn(w, at,
             "Guardnames is neither a text nor a list of texts, and is passed over");
        return;
    }
    w->f->guarded = at;
    w->f->guards = base_arena_alloc(&w->f->arena, (bytes / 2 + 2) * sizeof *w->f->guards);
    if (w->f->guards == NULL) {
        lack_memory(w);
        return;
    }
    if (json_is_string(names)) add_guards(w, json_string_value(names));
    for (i = 0; i < json_array_size(names); i++)
        add_guards(w, json_string_value(json_array_get(names, i)));
}

/* Before those of File, which may say otherwise. */
static void enter_guards(struct walk *w)
{
    struct base_hints_file *f = w->f;
    size_t n = (size_t)f->nguards, all = n + (size_t)f->nentries;
    if (n == 0 || w->err != NC_NOERR) return;
    struct base_file_entry *e = base_arena_alloc(&f->arena, all * sizeof *e);
    struct base_file_pair *pair = base_arena_alloc(&f->arena, sizeof *pair);
    if (e == NULL || pair == NULL) {
        lack_memory(w);
        return;
    }
    *pair = (struct base_file_pair){"nc_deferred_close", "enable", f->guarded};
    for (size_t i = 0; i < n; i++)
        e[i] = (struct base_file_entry){.path = f->guards[i],
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
    struct base_file_place begin = arrive(w);
    if (!json_is_object(root)) {
        refuse(w, begin, "what should be an object with a list `File` is none");
        return;
    }
    step(w);
    json_object_foreach(root, key, value)
    {
        struct base_file_place at = arrive(w);
        pass(w);
        if (strcmp(key, "File") == 0) {
            read_entries(w, value, at);
            if (w->err != NC_NOERR) return;
            continue;
        }
        if (strcmp(key, "Guardnames") == 0)
            read_guards(w, value, at);
        else
            warn(w, at, "'%.80s' is neither File nor Guardnames, and is passed over",
                 key);
        pass(w);
    }
    if (json_object_get(root, "File") == NULL)
        warn(w, begin, "there is no list `File`, so no hint for anybody");
}

int base_hints_file_parse(struct base_hints_file *f, const char *text, size_t length)
{
    struct walk w = {.f = f, .at = text, .end = text + length, .place = {1, 1}};
    json_error_t error;
    json_t *root =
        json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (root == NULL) {
        struct base_file_place at = {error.line < 1 ? 1 : error.line,
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

int base_hints_file_parse(struct base_hints_file *f, const char *text, size_t length)
{
    (void)text;
    (void)length;
    return base_error_set(NC_EINVAL,
                          "file of hints %.200s: this library was built without jansson, "
                          "which reads JSON",
                          f->name);
}

#endif

/* ---- the file ---- */

static int refuse_file(const struct base_hints_file *f, const char *why)
{
    return base_error_set(NC_EINVAL, "file of hints %.200s: %s", f->name, why);
}

/* Open, and of a size that can be read. *size gets that. */
static int look_at_hints(const struct base_hints_file *f, int fd, int64_t *size)
{
    struct stat st;
    char words[80];
    if (fstat(fd, &st) != 0) return refuse_file(f, strerror(errno));
    if (S_ISDIR(st.st_mode)) return refuse_file(f, "a directory");
    if (!S_ISREG(st.st_mode)) return refuse_file(f, "no regular file");
    *size = st.st_size;
    if (st.st_size <= BASE_HINTS_FILE_MOST) return NC_NOERR;
    snprintf(words, sizeof words,
             "%lld bytes; hints take %d at most, and it was not read",
             (long long)st.st_size, BASE_HINTS_FILE_MOST);
    return refuse_file(f, words);
}

static int read_bytes(struct base_hints_file *f, int fd)
{
    int64_t size = 0;
    int err = look_at_hints(f, fd, &size);
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
    err =
        n < 0 ? refuse_file(f, strerror(errno)) : base_hints_file_parse(f, text, length);
    base_free(text);
    return err;
}

int base_hints_file_read(struct base_hints_file *f)
{
    /* Who opens a pipe otherwise waits for its other end. */
    int fd = base_open(f->name, O_RDONLY);
    if (fd < 0) return refuse_file(f, strerror(errno));
    int err = read_bytes(f, fd);
    close(fd);
    return err;
}
