/* Hints as MPI has them: from the info object, a file and the environment, and back. */
#include "base_hints.h"

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

/* An info object that pairs are added to. */
struct target {
    MPI_Info info;
    int mpi;   /* the first result that is none of success */
    bool warn; /* of what is passed over */
};

static bool is_short_hint(const char *key, const char *value)
{
    return strlen(key) < MPI_MAX_INFO_KEY && strlen(value) < MPI_MAX_INFO_VAL;
}

static void pass_over(void *of, const char *piece)
{
    const struct target *t = of;
    if (t->warn)
        fprintf(stderr, "PNETCDF_HINTS: '%s' is not key=value; ignored\n", piece);
}

/* A value that a hint of ours does not take leaves what the program, or a file, asked
 * for. MPI-IO judges of its own. */
static bool refuse_hint(const struct target *t, const char *variable, const char *key,
                        const char *value)
{
    char words[300];
    if (!base_hint_blame(key, value, words, sizeof words)) return false;
    if (t->warn) fprintf(stderr, "%s: %s; ignored\n", variable, words);
    return base_hint_is_ours(key) && base_hint_find(key) != NULL;
}

static bool take_pair(void *of, const char *variable, const char *key, const char *value)
{
    struct target *t = of;
    if (refuse_hint(t, variable, key, value)) return true;
    if (is_short_hint(key, value))
        t->mpi = MPI_Info_set(t->info, key, value);
    else
        pass_over(of, key);
    return t->mpi == MPI_SUCCESS;
}

/* One look at the environment is enough for a program that opens many datasets, as long
 * as it says the same. */
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
    struct target t = {info, MPI_SUCCESS, warn};
    const struct base_environment e = {take_pair, pass_over, &t};
    if (!base_hints_environment(&e)) return NC_ENOMEM;
    return base_mpi_error(t.mpi, NC_EMPI, "MPI_Info_set");
}

/* Some of what a file has that is passed over. */
static void complain(const struct base_hints_file *f, struct base_file_place place,
                     const char *words)
{
    enum { MOST = 20 };
    if (f->nwarned <= MOST)
        fprintf(stderr, "file of hints %s: line %d, column %d: %s\n", f->name, place.line,
                place.column, words);
    if (f->nwarned == MOST + 1)
        fprintf(stderr, "file of hints %s: there is more; ncmpihints tells all of it\n",
                f->name);
}

static int add_file(MPI_Info info, const char *path, struct base_hints_file *f)
{
    f->warn = complain;
    int err = base_hints_file_read(f), mpi = MPI_SUCCESS;
    for (int i = 0; i < f->nentries && err == NC_NOERR; i++) {
        const struct base_file_entry *e = &f->entries[i];
        if (!base_file_entry_names(e, path)) continue;
        for (int k = 0; k < e->npairs && mpi == MPI_SUCCESS; k++)
            if (is_short_hint(e->pairs[k].key, e->pairs[k].value))
                mpi = MPI_Info_set(info, e->pairs[k].key, e->pairs[k].value);
    }
    return err == NC_NOERR ? base_mpi_error(mpi, NC_EMPI, "MPI_Info_set") : err;
}

static int take_hints(struct base_hints *h, MPI_Info info)
{
    int nkeys, flag, result = MPI_Info_get_nkeys(info, &nkeys);
    for (int i = 0; result == MPI_SUCCESS && i < nkeys; i++) {
        char key[MPI_MAX_INFO_KEY + 1], text[MPI_MAX_INFO_VAL + 1];
        result = MPI_Info_get_nthkey(info, i, key);
        if (result != MPI_SUCCESS) break;
        result = MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &flag);
        if (result == MPI_SUCCESS && flag) base_hints_take(h, key, text);
    }
    return base_mpi_error(result, NC_EMPI, "reading the info object");
}

/* Values of ours that were refused are not told as if they were in force. */
static int put_right(struct base_hints *h, MPI_Info info)
{
    char text[MPI_MAX_INFO_VAL + 1], own[32];
    int mpi = MPI_SUCCESS, there = 0;
    for (const struct base_hint *t = base_hint_table;
         t->key != NULL && mpi == MPI_SUCCESS; t++) {
        mpi = MPI_Info_get(info, t->key, MPI_MAX_INFO_VAL, text, &there);
        if (mpi != MPI_SUCCESS || !there || base_hint_takes(t, text)) continue;
        if (!base_hint_is_ours(t->key)) continue;
        const char *value = base_hint_value(h, t, own, sizeof own);
        mpi = value[0] == '\0' ? MPI_Info_delete(info, t->key)
                               : MPI_Info_set(info, t->key, value);
    }
    return base_mpi_error(mpi, NC_EMPI, "MPI_Info_set");
}

int base_hints_blame(MPI_Info info, void (*tell)(void *of, const char *words), void *of)
{
    int nkeys = 0, flag, mpi = MPI_SUCCESS;
    if (info != MPI_INFO_NULL) mpi = MPI_Info_get_nkeys(info, &nkeys);
    for (int i = 0; mpi == MPI_SUCCESS && i < nkeys; i++) {
        char key[MPI_MAX_INFO_KEY + 1], text[MPI_MAX_INFO_VAL + 1], words[300];
        mpi = MPI_Info_get_nthkey(info, i, key);
        if (mpi == MPI_SUCCESS)
            mpi = MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &flag);
        if (mpi == MPI_SUCCESS && flag && base_hint_blame(key, text, words, sizeof words))
            tell(of, words);
    }
    return base_mpi_error(mpi, NC_EMPI, "reading the info object");
}

/* What we do in the words of E10 MPI-IO is not to do again. */
static int keep_e10(const struct base_hints *h, MPI_Info info)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int there = 0;
    if (h->e10_cache == BASE_DISABLE) return NC_NOERR;
    int mpi = MPI_Info_get(info, "e10_cache", MPI_MAX_INFO_VAL, text, &there);
    if (mpi == MPI_SUCCESS && there) mpi = MPI_Info_delete(info, "e10_cache");
    return base_mpi_error(mpi, NC_EMPI, "MPI_Info_delete");
}

/* Report and trace are written later, wherever the program is by then. */
static int fix_path(int64_t where, const char *key, MPI_Info info)
{
    char text[MPI_MAX_INFO_VAL + 1] = "";
    int flag = 0;
    if (where != BASE_REPORT_FILE) return NC_NOERR;
    int mpi = MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &flag);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "MPI_Info_get");
    char *full = base_path_absolute(text);
    if (full == NULL) return NC_ENOMEM;
    if (flag && strlen(full) < MPI_MAX_INFO_VAL) mpi = MPI_Info_set(info, key, full);
    base_free(full);
    return base_mpi_error(mpi, NC_EMPI, "MPI_Info_set");
}

int base_hints_read(struct base_hints *h, MPI_Info user, bool warn, const char *path,
                    struct base_hints_file *file, MPI_Info *info)
{
    base_hints_default(h);
    int result = user == MPI_INFO_NULL ? MPI_Info_create(info) : MPI_Info_dup(user, info);
    if (result != MPI_SUCCESS) return base_mpi_error(result, NC_EMPI, "MPI_Info_dup");
    int err = file->name == NULL ? NC_NOERR : add_file(*info, path, file);
    if (err == NC_NOERR) err = add_environment(*info, warn);
    if (err == NC_NOERR) err = take_hints(h, *info);
    if (err == NC_NOERR) err = put_right(h, *info);
    if (err == NC_NOERR) err = keep_e10(h, *info);
    if (err == NC_NOERR) err = fix_path(h->report, "nc_report", *info);
    if (err == NC_NOERR) err = fix_path(h->trace, "nc_trace", *info);
    base_hints_settle(h);
    if (err != NC_NOERR) MPI_Info_free(info);
    return err;
}

/* ---- from process 0 to all ---- */

/* The value of a hint that the file has, as it came to be in the end. */
static bool final_value(const struct base_hints *h, MPI_Info info, const char *key,
                        char *text)
{
    int there = 0;
    if (MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &there) == MPI_SUCCESS && there)
        return true;
    const struct base_hint *t = base_hint_find(key);
    if (t == NULL) return false;
    const char *value = base_hint_value(h, t, text, MPI_MAX_INFO_VAL);
    if (value != text) snprintf(text, MPI_MAX_INFO_VAL, "%s", value);
    return true;
}

/* The next pair of an entry that names the dataset; NULL: there is none. */
static const struct base_file_pair *next_pair(const struct base_hints_file *f,
                                              const char *path, struct base_share *s)
{
    for (; s->entry < f->nentries; s->entry++, s->pair = 0) {
        const struct base_file_entry *e = &f->entries[s->entry];
        if (s->pair == 0 && !base_file_entry_names(e, path)) continue;
        if (s->pair < e->npairs) return &e->pairs[s->pair];
    }
    return NULL;
}

void base_hints_pack(const struct base_hints *h, MPI_Info info, const char *path,
                     const struct base_hints_file *f, struct base_share *s)
{
    const struct base_file_pair *p;
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

int base_hints_unpack(struct base_hints *h, MPI_Info info, const struct base_share *s)
{
    int mpi = MPI_SUCCESS;
    for (int64_t at = 0; at < s->used && mpi == MPI_SUCCESS;) {
        const char *key = s->text + at, *value = key + strlen(key) + 1;
        base_hints_take(h, key, value);
        mpi = MPI_Info_set(info, key, value);
        at += (int64_t)(strlen(key) + strlen(value) + 2);
    }
    char text[MPI_MAX_INFO_VAL + 1];
    int there = 1;
    if (mpi == MPI_SUCCESS)
        mpi = MPI_Info_get(info, "nc_stage", MPI_MAX_INFO_VAL, text, &there);
    if (!there) h->stage = BASE_AUTO; /* what the words of E10 make of it is to be seen */
    base_hints_settle(h);
    return mpi == MPI_SUCCESS ? keep_e10(h, info)
                              : base_mpi_error(mpi, NC_EMPI, "MPI_Info_set");
}

/* ---- telling ---- */

/* With what holds where nothing was asked for. */
static struct base_hints settled(struct base_hints h)
{
    if (h.var_align == 0) h.var_align = h.header_align;
    if (h.var_align == 0) h.var_align = BASE_FIXED_ALIGN;
    if (h.header_align == 0) h.header_align = h.var_align;
    if (h.record_align == 0) h.record_align = BASE_RECORD_ALIGN;
    return h;
}

int base_hints_report(const struct base_hints *asked, MPI_Info info)
{
    struct base_hints h = settled(*asked);
    int result = MPI_SUCCESS;
    for (const struct base_hint *t = base_hint_table;
         t->key != NULL && result == MPI_SUCCESS; t++) {
        char text[32];
        if (!t->reported) continue;
        const char *value = base_hint_value(&h, t, text, sizeof text);
        /* Open MPI takes no empty one. */
        if (value[0] != '\0') result = MPI_Info_set(info, t->key, value);
    }
    return base_mpi_error(result, NC_EMPI, "MPI_Info_set");
}

bool base_hints_compare(const struct base_hints *mine, const struct base_hints *theirs,
                        char *text, size_t size)
{
    for (const struct base_hint *t = base_hint_table; t->key != NULL; t++) {
        char a[32], b[32];
        const char *here = base_hint_value(mine, t, a, sizeof a);
        const char *there = base_hint_value(theirs, t, b, sizeof b);
        if (strcmp(here, there) == 0) continue;
        snprintf(text, size, "hint %s is %.60s, on process 0 it is %.60s", t->key, here,
                 there);
        return true;
    }
    return false;
}
