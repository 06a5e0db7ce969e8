/* Reads hints from an info object, a file and the environment, and reports them. */
#include "hints.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "base_names.h"
#include "base_path.h"

/* ---- reading ---- */

/* An info object to which key-value pairs are added. */
struct target {
    MPI_Info info;
    int mpi;                         /* first error, or MPI_SUCCESS */
    bool warn;                       /* report ignored pairs */
    bool aligns_header, aligns_vars; /* these hints were among the pairs */
};

static void note_alignment(struct target *t, const char *key)
{
    t->aligns_header |= strcmp(key, "nc_header_align_size") == 0;
    t->aligns_vars |= strcmp(key, "nc_var_align_size") == 0;
}

/* nc_var_align_size takes precedence over nc_header_align_size only if both come from the
 * same source: otherwise, the source that takes precedence decides. Returns whether the
 * former must not apply. */
static bool override_alignment(struct target *t)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int there = 0;
    if (t->mpi != MPI_SUCCESS || !t->aligns_header || t->aligns_vars) return false;
    t->mpi = MPI_Info_get(t->info, "nc_var_align_size", MPI_MAX_INFO_VAL, text, &there);
    if (t->mpi == MPI_SUCCESS && there)
        t->mpi = MPI_Info_delete(t->info, "nc_var_align_size");
    return true;
}

static bool is_short_hint(const char *key, const char *value)
{
    return strlen(key) < MPI_MAX_INFO_KEY && strlen(value) < MPI_MAX_INFO_VAL;
}

static void report_ignored_pair(void *of, const char *piece)
{
    const struct target *t = of;
    if (t->warn)
        fprintf(stderr, "PNETCDF_HINTS: '%s' is not key=value; ignored\n", piece);
}

/* Warns about an invalid hint. Returns true if it is one of the library's own hints,
 * which then retains its earlier value. MPI-IO checks its hints itself. */
static bool refuse_hint(const struct target *t, const char *variable, const char *key,
                        const char *value)
{
    char words[300];
    if (!hints_describe_error(key, value, words, sizeof words)) return false;
    if (t->warn) fprintf(stderr, "%s: %s; ignored\n", variable, words);
    return hints_is_ours(key) && hints_find(key) != NULL;
}

static bool set_pair(void *of, const char *variable, const char *key, const char *value)
{
    struct target *t = of;
    if (refuse_hint(t, variable, key, value)) return true;
    note_alignment(t, key);
    if (is_short_hint(key, value))
        t->mpi = MPI_Info_set(t->info, key, value);
    else
        report_ignored_pair(of, key);
    return t->mpi == MPI_SUCCESS;
}

/* Returns whether PNETCDF_HINTS has changed since the last call, so that a program that
 * opens many datasets gets each warning only once. */
static bool is_new(void)
{
    static _Atomic uint64_t seen;
    const char *text = getenv("PNETCDF_HINTS");
    uint64_t now = text == NULL ? 0 : base_hash(text, strlen(text), 1);
    return atomic_exchange(&seen, now) != now;
}

static int add_environment(MPI_Info info, bool warn)
{
    warn = is_new() && warn;
    struct target t = {.info = info, .mpi = MPI_SUCCESS, .warn = warn};
    const struct hints_from_environment e = {set_pair, report_ignored_pair, &t};
    if (!hints_environment(&e)) return NC_ENOMEM;
    (void)override_alignment(&t);
    return base_mpi_error(t.mpi, NC_EMPI, "MPI_Info_set");
}

/* Reports ignored parts of a hints file, up to a limit. */
static void warn_ignored(const struct hints_file *f, struct hints_file_place place,
                         const char *words)
{
    enum { MOST = 20 };
    if (f->nwarned <= MOST)
        fprintf(stderr, "hints file %s: line %d, column %d: %s\n", f->name, place.line,
                place.column, words);
    if (f->nwarned == MOST + 1)
        fprintf(stderr,
                "hints file %s: more warnings were omitted; run ncmpihints to see all of "
                "them\n",
                f->name);
}

static int add_file(MPI_Info info, const char *path, struct hints_file *f)
{
    struct target t = {.info = info, .mpi = MPI_SUCCESS};
    f->warn = warn_ignored;
    int err = hints_file_read(f);
    for (int i = 0; i < f->nentries && err == NC_NOERR; i++) {
        const struct hints_file_entry *e = &f->entries[i];
        if (!hints_file_entry_matches(e, path)) continue;
        for (int k = 0; k < e->npairs && t.mpi == MPI_SUCCESS; k++) {
            note_alignment(&t, e->pairs[k].key);
            if (is_short_hint(e->pairs[k].key, e->pairs[k].value))
                t.mpi = MPI_Info_set(info, e->pairs[k].key, e->pairs[k].value);
        }
    }
    (void)override_alignment(&t);
    return err == NC_NOERR ? base_mpi_error(t.mpi, NC_EMPI, "MPI_Info_set") : err;
}

static int read_info_hints(struct hints *h, MPI_Info info)
{
    int nkeys, flag, result = MPI_Info_get_nkeys(info, &nkeys);
    for (int i = 0; result == MPI_SUCCESS && i < nkeys; i++) {
        char key[MPI_MAX_INFO_KEY + 1], text[MPI_MAX_INFO_VAL + 1];
        result = MPI_Info_get_nthkey(info, i, key);
        if (result != MPI_SUCCESS) break;
        result = MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &flag);
        if (result == MPI_SUCCESS && flag) hints_set(h, key, text);
    }
    return base_mpi_error(result, NC_EMPI, "reading the info object");
}

/* Replaces invalid values of the library's hints in info with the values in effect, so
 * that info does not report invalid values. */
static int replace_invalid(struct hints *h, MPI_Info info)
{
    char text[MPI_MAX_INFO_VAL + 1], own[32];
    int mpi = MPI_SUCCESS, there = 0;
    for (const struct hints_row *t = hints_table; t->key != NULL && mpi == MPI_SUCCESS;
         t++) {
        mpi = MPI_Info_get(info, t->key, MPI_MAX_INFO_VAL, text, &there);
        if (mpi != MPI_SUCCESS || !there || hints_accepts(t, text)) continue;
        if (!hints_is_ours(t->key)) continue;
        const char *value = hints_value(h, t, own, sizeof own);
        mpi = value[0] == '\0' ? MPI_Info_delete(info, t->key)
                               : MPI_Info_set(info, t->key, value);
    }
    return base_mpi_error(mpi, NC_EMPI, "MPI_Info_set");
}

int hints_report_invalid(MPI_Info info, void (*report)(void *of, const char *words),
                         void *of)
{
    int nkeys = 0, flag, mpi = MPI_SUCCESS;
    if (info != MPI_INFO_NULL) mpi = MPI_Info_get_nkeys(info, &nkeys);
    for (int i = 0; mpi == MPI_SUCCESS && i < nkeys; i++) {
        char key[MPI_MAX_INFO_KEY + 1], text[MPI_MAX_INFO_VAL + 1], words[300];
        mpi = MPI_Info_get_nthkey(info, i, key);
        if (mpi == MPI_SUCCESS)
            mpi = MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &flag);
        if (mpi == MPI_SUCCESS && flag &&
            hints_describe_error(key, text, words, sizeof words))
            report(of, words);
    }
    return base_mpi_error(mpi, NC_EMPI, "reading the info object");
}

/* Removes the hint e10_cache if this library acts on it, so that MPI-IO does not. */
static int remove_e10_hints(const struct hints *h, MPI_Info info)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int there = 0;
    if (h->e10_cache == HINTS_DISABLE) return NC_NOERR;
    int mpi = MPI_Info_get(info, "e10_cache", MPI_MAX_INFO_VAL, text, &there);
    if (mpi == MPI_SUCCESS && there) mpi = MPI_Info_delete(info, "e10_cache");
    return base_mpi_error(mpi, NC_EMPI, "MPI_Info_delete");
}

/* Makes the path absolute. Report and trace are written later, when the working directory
 * may have changed. */
static int fix_path(int64_t where, const char *key, MPI_Info info)
{
    char text[MPI_MAX_INFO_VAL + 1] = "";
    int flag = 0;
    if (where != HINTS_REPORT_FILE) return NC_NOERR;
    int mpi = MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &flag);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "MPI_Info_get");
    char *full = base_path_absolute(text);
    if (full == NULL) return NC_ENOMEM;
    if (flag && strlen(full) < MPI_MAX_INFO_VAL) mpi = MPI_Info_set(info, key, full);
    base_free(full);
    return base_mpi_error(mpi, NC_EMPI, "MPI_Info_set");
}

int hints_read(struct hints *h, MPI_Info user, bool warn, const char *path,
               struct hints_file *file, MPI_Info *info)
{
    hints_set_defaults(h);
    int result = user == MPI_INFO_NULL ? MPI_Info_create(info) : MPI_Info_dup(user, info);
    if (result != MPI_SUCCESS) return base_mpi_error(result, NC_EMPI, "MPI_Info_dup");
    int err = file->name == NULL ? NC_NOERR : add_file(*info, path, file);
    if (err == NC_NOERR) err = add_environment(*info, warn);
    if (err == NC_NOERR) err = read_info_hints(h, *info);
    if (err == NC_NOERR) err = replace_invalid(h, *info);
    if (err == NC_NOERR) err = remove_e10_hints(h, *info);
    if (err == NC_NOERR) err = fix_path(h->report, "nc_report", *info);
    if (err == NC_NOERR) err = fix_path(h->trace, "nc_trace", *info);
    hints_complete(h);
    if (err != NC_NOERR) MPI_Info_free(info);
    return err;
}

/* ---- distribution by process 0 ---- */

/* Sets `text` to the effective value of a hint that the hints file sets. */
static bool final_value(const struct hints *h, MPI_Info info, const char *key, char *text)
{
    int there = 0;
    if (MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &there) == MPI_SUCCESS && there)
        return true;
    const struct hints_row *t = hints_find(key);
    if (t == NULL) return false;
    const char *value = hints_value(h, t, text, MPI_MAX_INFO_VAL);
    if (value != text) snprintf(text, MPI_MAX_INFO_VAL, "%s", value);
    return true;
}

/* Returns the next pair of an entry that matches the dataset, or NULL. */
static const struct hints_file_pair *next_pair(const struct hints_file *f,
                                               const char *path, struct hints_message *s)
{
    for (; s->entry < f->nentries; s->entry++, s->pair = 0) {
        const struct hints_file_entry *e = &f->entries[s->entry];
        if (s->pair == 0 && !hints_file_entry_matches(e, path)) continue;
        if (s->pair < e->npairs) return &e->pairs[s->pair];
    }
    return NULL;
}

void hints_pack(const struct hints *h, MPI_Info info, const char *path,
                const struct hints_file *f, struct hints_message *s)
{
    const struct hints_file_pair *p;
    s->used = 0;
    s->more = false;
    for (; (p = next_pair(f, path, s)) != NULL; s->pair++) {
        char value[MPI_MAX_INFO_VAL + 1];
        if (!is_short_hint(p->key, p->value) || !final_value(h, info, p->key, value))
            continue;
        size_t key_size = strlen(p->key) + 1, value_size = strlen(value) + 1;
        if ((size_t)s->used + key_size + value_size > sizeof s->text) {
            s->more = true;
            return;
        }
        memcpy(s->text + s->used, p->key, key_size);
        memcpy(s->text + s->used + key_size, value, value_size);
        s->used += (int64_t)(key_size + value_size);
    }
}

int hints_unpack(struct hints *h, MPI_Info info, const struct hints_message *s)
{
    struct target t = {.info = info, .mpi = MPI_SUCCESS};
    for (int64_t at = 0; at < s->used && t.mpi == MPI_SUCCESS;) {
        const char *key = s->text + at, *value = key + strlen(key) + 1;
        note_alignment(&t, key);
        hints_set(h, key, value);
        t.mpi = MPI_Info_set(info, key, value);
        at += (int64_t)(strlen(key) + strlen(value) + 2);
    }
    if (override_alignment(&t)) h->var_align = 0;
    int mpi = t.mpi;
    char text[MPI_MAX_INFO_VAL + 1];
    int there = 1;
    if (mpi == MPI_SUCCESS)
        mpi = MPI_Info_get(info, "nc_stage", MPI_MAX_INFO_VAL, text, &there);
    if (!there) h->stage = HINTS_AUTO; /* derived from E10's hints by hints_complete */
    hints_complete(h);
    return mpi == MPI_SUCCESS ? remove_e10_hints(h, info)
                              : base_mpi_error(mpi, NC_EMPI, "MPI_Info_set");
}

/* ---- reports ---- */

/* Returns a copy in which hints that the user left unset have their defaults. */
static struct hints with_defaults(struct hints h)
{
    if (h.var_align == 0) h.var_align = h.header_align;
    if (h.var_align == 0) h.var_align = HINTS_FIXED_ALIGN;
    if (h.header_align == 0) h.header_align = h.var_align;
    if (h.record_align == 0) h.record_align = HINTS_RECORD_ALIGN;
    return h;
}

int hints_report(const struct hints *asked, MPI_Info info)
{
    struct hints h = with_defaults(*asked);
    int result = MPI_SUCCESS;
    for (const struct hints_row *t = hints_table; t->key != NULL && result == MPI_SUCCESS;
         t++) {
        char text[32];
        if (!t->reported) continue;
        const char *value = hints_value(&h, t, text, sizeof text);
        /* Open MPI rejects empty values. */
        if (value[0] != '\0') result = MPI_Info_set(info, t->key, value);
    }
    return base_mpi_error(result, NC_EMPI, "MPI_Info_set");
}

bool hints_compare(const struct hints *mine, const struct hints *theirs, char *text,
                   size_t size)
{
    for (const struct hints_row *t = hints_table; t->key != NULL; t++) {
        char a[32], b[32];
        const char *here = hints_value(mine, t, a, sizeof a);
        const char *there = hints_value(theirs, t, b, sizeof b);
        if (strcmp(here, there) == 0) continue;
        snprintf(text, size, "hint %s is %.60s, but %.60s on process 0", t->key, here,
                 there);
        return true;
    }
    return false;
}
