/* Reads and formats hints. One table lists the key, kind and member of each hint. */
#include "hints_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_mem.h"
#include "base_rules.h"

/* Words, and the values that they represent. If several words have the same value,
 * reports use the first of them. */
struct hints_word {
    const char *text;
    int64_t value;
};
static const struct hints_word choice[] = {{"enable", HINTS_ENABLE},
                                           {"disable", HINTS_DISABLE},
                                           {"auto", HINTS_AUTO},
                                           {NULL, 0}};
static const struct hints_word truth[] = {{"true", 1}, {"false", 0}, {NULL, 0}};
static const struct hints_word transfers[] = {{"auto", HINTS_TRANSFER_AUTO},
                                              {"direct", HINTS_TRANSFER_DIRECT},
                                              {"node", HINTS_TRANSFER_NODE},
                                              {"view", HINTS_TRANSFER_VIEW},
                                              {NULL, 0}};
static const struct hints_word short_files[] = {{"error", HINTS_SHORT_ERROR},
                                                {"warn", HINTS_SHORT_WARN},
                                                {"zeros", HINTS_SHORT_ZEROS},
                                                {NULL, 0}};
static const struct hints_word file_ios[] = {{"auto", HINTS_FILE_IO_AUTO},
                                             {"posix", HINTS_FILE_IO_POSIX},
                                             {"mpi", HINTS_FILE_IO_MPI},
                                             {NULL, 0}};
static const struct hints_word joins[] = {{"later", HINTS_JOIN_LATER},
                                          {"close", HINTS_JOIN_CLOSE},
                                          {"behind", HINTS_JOIN_BACKGROUND},
                                          {NULL, 0}};
static const struct hints_word reports[] = {
    {"0", HINTS_REPORT_NONE},        {"none", HINTS_REPORT_SILENT},
    {"disable", HINTS_REPORT_NONE},  {"1", HINTS_REPORT_STDERR},
    {"enable", HINTS_REPORT_STDERR}, {NULL, HINTS_REPORT_FILE}}; /* a path */
static const struct hints_word traces[] = {{"0", HINTS_REPORT_NONE},
                                           {"disable", HINTS_REPORT_NONE},
                                           {NULL, HINTS_REPORT_FILE}}; /* a path */
static const struct hints_word recoveries[] = {{"enable", HINTS_RECOVER_REPLAY},
                                               {"disable", HINTS_RECOVER_DISABLE},
                                               {"error", HINTS_RECOVER_ERROR},
                                               {"always", HINTS_RECOVER_ALWAYS},
                                               {NULL, 0}};
static const struct hints_word flushes[] = {{"flush_onclose", HINTS_FLUSH_ON_CLOSE},
                                            {"flush_immediate", HINTS_FLUSH_IMMEDIATE},
                                            {NULL, 0}};
static const struct hints_word log_ats[] = {
    {"wait", HINTS_LOG_AT_WAIT}, {"post", HINTS_LOG_AT_POST}, {NULL, 0}};
static const struct hints_word caches[] = {{"enable", HINTS_ENABLE},
                                           {"disable", HINTS_DISABLE},
                                           {"coherent", HINTS_COHERENT},
                                           {NULL, 0}};
static const struct hints_word scopes[] = {
    {"node", HINTS_STAGE_NODE}, {"global", HINTS_STAGE_GLOBAL}, {NULL, 0}};
static const struct hints_word drivers[] = {{"mpiio", 0}, {"gio", 0}, {NULL, 1}};

#define PLACE(member) offsetof(struct hints, member), sizeof((struct hints *)NULL)->member
#define HINTS_NUMBER(group, key, member, value, least, reported, values, without, what)  \
    {HINTS_GROUP_##group,                                                                \
     HINTS_KIND_NUMBER,                                                                  \
     key,                                                                                \
     PLACE(member),                                                                      \
     value,                                                                              \
     least,                                                                              \
     NULL,                                                                               \
     NULL,                                                                               \
     NULL,                                                                               \
     reported,                                                                           \
     values,                                                                             \
     without,                                                                            \
     what},
#define HINTS_WORD(group, key, member, value, words, reported, values, without, what)    \
    {HINTS_GROUP_##group,                                                                \
     HINTS_KIND_WORD,                                                                    \
     key,                                                                                \
     PLACE(member),                                                                      \
     value,                                                                              \
     0,                                                                                  \
     words,                                                                              \
     NULL,                                                                               \
     NULL,                                                                               \
     reported,                                                                           \
     values,                                                                             \
     without,                                                                            \
     what},
#define HINTS_TEXT(group, key, member, text, reported, values, without, what)            \
    {HINTS_GROUP_##group,                                                                \
     HINTS_KIND_TEXT,                                                                    \
     key,                                                                                \
     PLACE(member),                                                                      \
     0,                                                                                  \
     0,                                                                                  \
     NULL,                                                                               \
     NULL,                                                                               \
     text,                                                                               \
     reported,                                                                           \
     values,                                                                             \
     without,                                                                            \
     what},
#define HINTS_RULES(group, key, member, modes, reported, values, without, what)          \
    {HINTS_GROUP_##group,                                                                \
     HINTS_KIND_RULES,                                                                   \
     key,                                                                                \
     PLACE(member),                                                                      \
     0,                                                                                  \
     0,                                                                                  \
     NULL,                                                                               \
     modes,                                                                              \
     "",                                                                                 \
     reported,                                                                           \
     values,                                                                             \
     without,                                                                            \
     what},
#define HINTS_OTHER(group, key, values, without, what)                                   \
    {HINTS_GROUP_##group,                                                                \
     HINTS_KIND_OTHER,                                                                   \
     key,                                                                                \
     0,                                                                                  \
     0,                                                                                  \
     0,                                                                                  \
     0,                                                                                  \
     NULL,                                                                               \
     NULL,                                                                               \
     NULL,                                                                               \
     false,                                                                              \
     values,                                                                             \
     without,                                                                            \
     what},

const struct hints_row hints_table[] = {
#include "hints.def"
    {0}};
_Static_assert(sizeof hints_table / sizeof hints_table[0] <= HINTS_MOST,
               "raise HINTS_MOST");

const struct hints_row *hints_find(const char *key)
{
    for (const struct hints_row *t = hints_table; t->key != NULL; t++)
        if (strcmp(t->key, key) == 0) return t;
    return NULL;
}

static bool is_text(const struct hints_row *t)
{
    return t->kind == HINTS_KIND_TEXT || t->kind == HINTS_KIND_RULES;
}

static int64_t *number_of_hint(struct hints *h, const struct hints_row *t)
{
    return (int64_t *)((char *)h + t->offset);
}

static char *text_of_hint(struct hints *h, const struct hints_row *t)
{
    return (char *)h + t->offset;
}

/* ---- from text ---- */

static bool read_word(const struct hints_row *t, const char *text, int64_t *value)
{
    const struct hints_word *w = t->words;
    while (w->text != NULL && strcmp(w->text, text) != 0)
        w++;
    *value = w->value;
    /* A nonzero value in the last row applies to any other text, such as a file name. */
    return w->text != NULL || w->value != 0;
}

static bool read_number(const struct hints_row *t, const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *value >= t->least;
}

static bool read_value(const struct hints_row *t, const char *text, int64_t *value)
{
    switch (t->kind) {
    case HINTS_KIND_NUMBER:
        return read_number(t, text, value);
    case HINTS_KIND_WORD:
        return read_word(t, text, value);
    case HINTS_KIND_TEXT:
        return strlen(text) < t->size;
    case HINTS_KIND_RULES:
        return strlen(text) < t->size && base_rules_check(t->modes, text);
    default:
        return true;
    }
}

bool hints_accepts(const struct hints_row *t, const char *text)
{
    int64_t value;
    return read_value(t, text, &value);
}

bool hints_is_ours(const char *key)
{
    return strncmp(key, "nc_", 3) == 0 || strncmp(key, "pnetcdf_", 8) == 0 ||
           strncmp(key, "e10_", 4) == 0;
}

/* Returns the edit distance of two strings: the number of insertions, deletions and
 * substitutions. */
static int distance(const char *a, const char *b)
{
    enum { MOST = 63 };
    int row[MOST + 1], na = (int)strnlen(a, MOST), nb = (int)strnlen(b, MOST);
    for (int j = 0; j <= nb; j++)
        row[j] = j;
    for (int i = 1; i <= na; i++) {
        int before = row[0]++;
        for (int j = 1; j <= nb; j++) {
            int least = before + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < least) least = row[j] + 1;
            if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
            before = row[j];
            row[j] = least;
        }
    }
    return row[nb];
}

/* Returns the hint with the most similar name, or NULL if none is similar. */
static const char *nearest(const char *key)
{
    enum { TOO_FAR = 5 };
    const char *found = NULL;
    int least = TOO_FAR;
    for (const struct hints_row *t = hints_table; t->key != NULL; t++) {
        int d = distance(key, t->key);
        if (d >= least) continue;
        least = d;
        found = t->key;
    }
    return found;
}

bool hints_describe_error(const char *key, const char *value, char *words, size_t size)
{
    const struct hints_row *t = hints_find(key);
    const char *meant = t == NULL ? nearest(key) : NULL;
    if (t == NULL && !hints_is_ours(key)) return false;
    if (t != NULL && hints_accepts(t, value)) return false;
    if (t == NULL)
        snprintf(words, size, "unknown hint '%.80s'%s%s%s", key,
                 meant == NULL ? "" : "; did you mean '", meant == NULL ? "" : meant,
                 meant == NULL ? "" : "'?");
    else if (t->kind == HINTS_KIND_NUMBER)
        snprintf(words, size,
                 "invalid value for %s: '%.80s'; expected a number, %lld or more", key,
                 value, (long long)t->least);
    else if (t->kind == HINTS_KIND_TEXT)
        snprintf(words, size, "invalid value for %s; expected at most %zu bytes", key,
                 t->size - 1);
    else
        snprintf(words, size, "invalid value for %s: '%.80s'; expected one of: %s", key,
                 value, t->values);
    return true;
}

static void set(struct hints *h, const struct hints_row *t, int64_t value,
                const char *text)
{
    if (t->kind == HINTS_KIND_NUMBER || t->kind == HINTS_KIND_WORD)
        *number_of_hint(h, t) = value;
    if (is_text(t)) strcpy(text_of_hint(h, t), text);
}

void hints_set_defaults(struct hints *h)
{
    *h = (struct hints){0};
    for (const struct hints_row *t = hints_table; t->key != NULL; t++)
        set(h, t, t->value, t->text);
}

/* Returns whether a value differs from the default, also from a documented default that
 * the library chooses if the hint is not set, and that programs may pass on from
 * ncmpi_inq_file_info. */
static bool is_request(const struct hints_row *t, int64_t value, const char *text)
{
    switch (t->kind) {
    case HINTS_KIND_NUMBER:
        return value != t->value && value != strtoll(t->without, NULL, 10);
    case HINTS_KIND_WORD:
        return value != t->value &&
               !(t->value == HINTS_AUTO && t->words == choice && value == HINTS_DISABLE);
    case HINTS_KIND_RULES:
        return strcmp(text, "none") != 0;
    default:
        return t->text == NULL || strcmp(text, t->text) != 0;
    }
}

void hints_set(struct hints *h, const char *key, const char *text)
{
    int64_t value = 0;
    const struct hints_row *t = hints_find(key);
    if (t == NULL || !read_value(t, text, &value)) return;
    set(h, t, value, text);
    h->asked[t - hints_table] = is_request(t, value, text);
    h->any_asked |= h->asked[t - hints_table];
}

/* Translates E10's hints to the library's hints. */
static void apply_e10_hints(struct hints *h)
{
    if (h->e10_cache == HINTS_DISABLE) return;
    h->burst = HINTS_ENABLE;
    if (h->stage == HINTS_AUTO) h->stage = HINTS_ENABLE;
    h->burst_coherent = h->e10_cache == HINTS_COHERENT;
    h->burst_flush = h->e10_flush;
    h->burst_del_on_close = h->e10_discard;
    h->burst_threads = h->e10_threads;
    if (h->e10_path[0] != '\0') strcpy(h->burst_dirname, h->e10_path);
    if (h->e10_path[0] != '\0') strcpy(h->stage_dirname, h->e10_path);
}

/* Rounds up to a multiple of 4, because variables start at such offsets. */
static void round_align_up(int64_t *align)
{
    if (*align % 4 != 0 && *align < INT64_MAX - 4) *align += 4 - *align % 4;
}

void hints_complete(struct hints *h)
{
    apply_e10_hints(h);
    if (h->stage == HINTS_AUTO) h->stage = HINTS_DISABLE;
    round_align_up(&h->header_align);
    round_align_up(&h->var_align);
    round_align_up(&h->record_align);
}

/* ---- to text ---- */

int64_t hints_number(const struct hints *h, const struct hints_row *t)
{
    return *number_of_hint((struct hints *)h, t);
}

const char *hints_value(const struct hints *h, const struct hints_row *t, char *text,
                        size_t size)
{
    if (t->kind == HINTS_KIND_OTHER) return "";
    if (is_text(t)) return text_of_hint((struct hints *)h, t);
    int64_t value = hints_number(h, t);
    const struct hints_word *w = t->words;
    while (w != NULL && w->text != NULL && w->value != value)
        w++;
    if (w != NULL && w->text != NULL) return w->text;
    snprintf(text, size, "%lld", (long long)value);
    return text;
}

/* ---- the environment ---- */

/* Splits a pair in PNETCDF_HINTS into key and value. Returns false if it is malformed. */
static bool split_pair(char *pair, char **value)
{
    *value = strchr(pair, '=');
    if (*value == NULL || *value == pair || (*value)[1] == '\0') return false;
    *(*value)++ = '\0';
    (*value)[strcspn(*value, " \t\n")] = '\0';
    return strlen(pair) < HINTS_KEY && strlen(*value) < HINTS_VALUE;
}

static bool read_pairs(const struct hints_from_environment *e)
{
    const char *variable = getenv("PNETCDF_HINTS");
    if (variable == NULL) return true;
    char *copy = base_strdup(variable), *rest = copy, *pair, *saved;
    if (copy == NULL) return false;
    for (; (pair = strtok_r(rest, ";", &saved)) != NULL; rest = NULL) {
        char *value;
        pair += strspn(pair, " \t\n");
        if (*pair == '\0') continue;
        if (split_pair(pair, &value)) {
            if (!e->take(e->of, "PNETCDF_HINTS", pair, value)) break;
        } else if (e->passed_over != NULL) {
            e->passed_over(e->of, pair);
        }
    }
    base_free(copy);
    return true;
}

bool hints_environment(const struct hints_from_environment *e)
{
    static const char *const variables[][2] = {{"PNETCDF_REPORT", "nc_report"},
                                               {"PNETCDF_TRACE", "nc_trace"}};
    for (int i = 0; i < 2; i++) {
        const char *value = getenv(variables[i][0]);
        if (value != NULL && *value != '\0' && strlen(value) < HINTS_VALUE &&
            !e->take(e->of, variables[i][0], variables[i][1], value))
            return true;
    }
    return read_pairs(e);
}
