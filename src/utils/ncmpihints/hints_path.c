/* Prints the hints that apply to a dataset and their origin, and checks hints files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "hints_file.h"
#include "hints_table.h"
#include "base_mem.h"
#include "base_path.h"
#include "hints_tool.h"
#include "util_message.h"

/* A hint setting from the file or the environment. Lists of settings are sorted by
 * precedence, lowest first. */
struct setting {
    const char *key, *value,
        *variable; /* name of the environment variable; NULL if from the file */
    const struct hints_file_entry *entry;
    int line;
};

struct settings {
    struct base_arena arena;
    struct setting *list;
    int n;
    int64_t capacity;
    bool lacking; /* an allocation failed */
    int warned;
    const char *file;
};

static void add_setting(struct settings *s, struct setting one)
{
    void *grown = base_grow(s->list, &s->capacity, s->n + 1, sizeof *s->list);
    s->lacking |= grown == NULL;
    if (grown == NULL) return;
    s->list = grown;
    s->list[s->n++] = one;
}

static const char *copy(struct settings *s, const char *text)
{
    char *kept = base_arena_alloc_packed(&s->arena, strlen(text) + 1, 1);
    s->lacking |= kept == NULL;
    return kept == NULL ? "" : strcpy(kept, text);
}

static bool add_setting_pair(void *of, const char *variable, const char *key,
                             const char *value)
{
    struct settings *s = of;
    add_setting(s, (struct setting){copy(s, key), copy(s, value), variable, NULL, 0});
    return true;
}

static void report_ignored(void *of, const char *piece)
{
    ((struct settings *)of)->warned = 1;
    util_message(HINTS_TOOL, "PNETCDF_HINTS", -1, "'%s' is not key=value", piece);
}

static void warn(const struct hints_file *f, struct hints_file_place place,
                 const char *words)
{
    util_message(HINTS_TOOL, f->name, -1, "line %d, column %d: %s", place.line,
                 place.column, words);
}

/* Reads the file. Returns 0, or -1 after printing an error. */
static int read_file(struct settings *s, struct hints_file *f)
{
    *f = (struct hints_file){.name = s->file, .warn = warn};
    int err = hints_file_read(f);
    s->warned |= f->nwarned > 0;
    if (err == NC_NOERR) return 0;
    const char *words = base_error_detail(err);
    util_message(HINTS_TOOL, NULL, -1, "%s",
                 *words == '\0' ? base_error_text(err) : words);
    return -1;
}

/* ---- a path ---- */

static void add_entries(struct settings *s, const struct hints_file *f, const char *full)
{
    for (int i = 0; i < f->nentries; i++) {
        const struct hints_file_entry *e = &f->entries[i];
        if (!hints_file_entry_matches(e, full)) continue;
        for (int k = 0; k < e->npairs; k++)
            add_setting(s, (struct setting){e->pairs[k].key, e->pairs[k].value, NULL, e,
                                            e->pairs[k].place.line});
    }
}

static bool is_overridden(const struct settings *s, int i)
{
    for (int k = i + 1; k < s->n; k++)
        if (strcmp(s->list[k].key, s->list[i].key) == 0) return true;
    return false;
}

/* Returns whether the value is invalid for the hint. */
static bool is_invalid_value(const struct setting *one)
{
    const struct hints_row *t = hints_find(one->key);
    return t != NULL && !hints_accepts(t, one->value);
}

static void show_json(const struct settings *s, struct util_json *j)
{
    for (int i = 0; i < s->n; i++) {
        const struct setting *one = &s->list[i];
        util_json_open(j, NULL, '{');
        util_json_text(j, "hint", one->key);
        util_json_text(j, "value", one->value);
        util_json_text(j, "from", one->variable != NULL ? one->variable : s->file);
        if (one->variable == NULL) {
            util_json_int(j, "line", one->line);
            util_json_text(j, "path", one->entry->path);
        }
        util_json_bool(j, "overruled", is_overridden(s, i));
        util_json_bool(j, "known", hints_find(one->key) != NULL);
        util_json_bool(j, "passed_over", is_invalid_value(one));
        util_json_close(j, '}');
    }
}

static void show(const struct settings *s, struct util_out *out)
{
    for (int i = 0; i < s->n; i++) {
        const struct setting *one = &s->list[i];
        char words[300];
        util_out_print(out, "%.200s=%.1030s  from ", one->key, one->value);
        if (one->variable != NULL)
            util_out_print(out, "%s", one->variable);
        else
            util_out_print(out, "%.500s, line %d, %s %.500s", s->file, one->line,
                           one->entry->guard ? "Guardnames" : "Path", one->entry->path);
        if (is_overridden(s, i)) util_out_text(out, "; overridden below");
        if (hints_describe_error(one->key, one->value, words, sizeof words))
            util_out_print(out, "; ignored: %s", words);
        else if (hints_find(one->key) == NULL)
            util_out_text(
                out, "; passed to MPI-IO, because this library has no hint of this name");
        util_out_text(out, "\n");
    }
}

int hints_of_path(const char *file, const char *path, struct util_out *out,
                  struct util_json *j)
{
    struct settings s = {.file = file};
    struct hints_file f = {.name = file};
    char *full = base_path_absolute(path);
    const struct hints_from_environment e = {add_setting_pair, report_ignored, &s};
    int status = full == NULL ? -1 : 0;
    if (file != NULL && status == 0) status = read_file(&s, &f);
    if (status == 0) {
        add_entries(&s, &f, full);
        s.lacking |= !hints_environment(&e);
        if (j != NULL)
            show_json(&s, j);
        else if (s.n == 0)
            util_out_print(out, "no hints for %.1000s\n", full);
        else
            show(&s, out);
    }
    if (s.lacking || full == NULL) {
        util_message(HINTS_TOOL, NULL, -1, "out of memory");
        status = -1;
    }
    hints_file_free(&f);
    base_arena_free(&s.arena);
    base_free(s.list);
    base_free(full);
    return status != 0 ? status : s.warned;
}

/* ---- a file ---- */

static void show_sums(const struct hints_file *f, int pairs, struct util_json *j)
{
    util_json_open(j, NULL, '{');
    util_json_text(j, "file", f->name);
    util_json_int(j, "paths", f->nentries);
    util_json_int(j, "hints", pairs);
    util_json_int(j, "guarded_names", f->nguards);
    util_json_int(j, "passed_over", f->nwarned);
    util_json_close(j, '}');
}

int hints_check(const char *file, struct util_out *out, struct util_json *j)
{
    struct settings s = {.file = file};
    struct hints_file f;
    int status = read_file(&s, &f), pairs = 0, paths = f.nentries - f.nguards;
    for (int i = f.nguards; i < f.nentries; i++)
        pairs += f.entries[i].npairs;
    if (status == 0 && j != NULL)
        show_sums(&f, pairs, j);
    else if (status == 0)
        util_out_print(out, "%.1000s: %d Path%s, %d hint%s, %d guarded name%s\n", file,
                       paths, paths == 1 ? "" : "s", pairs, pairs == 1 ? "" : "s",
                       f.nguards, f.nguards == 1 ? "" : "s");
    hints_file_free(&f);
    return status != 0 ? status : s.warned;
}
