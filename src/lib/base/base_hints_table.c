/* Hints, by one table: a key, how its text is read, where its value goes. */
#include "base_hints_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_mem.h"
#include "base_rules.h"

/* Words and the values they stand for; the first word of a value is the one that is
 * reported. */
struct base_word {
    const char *text;
    int64_t value;
};
static const struct base_word choice[] = {
    {"enable", BASE_ENABLE}, {"disable", BASE_DISABLE}, {"auto", BASE_AUTO}, {NULL, 0}};
static const struct base_word truth[] = {{"true", 1}, {"false", 0}, {NULL, 0}};
static const struct base_word transfers[] = {{"auto", BASE_TRANSFER_AUTO},
                                             {"direct", BASE_TRANSFER_DIRECT},
                                             {"node", BASE_TRANSFER_NODE},
                                             {"view", BASE_TRANSFER_VIEW},
                                             {NULL, 0}};
static const struct base_word file_ios[] = {{"auto", BASE_FILE_IO_AUTO},
                                            {"posix", BASE_FILE_IO_POSIX},
                                            {"mpi", BASE_FILE_IO_MPI},
                                            {NULL, 0}};
static const struct base_word joins[] = {{"later", BASE_JOIN_LATER},
                                         {"close", BASE_JOIN_CLOSE},
                                         {"behind", BASE_JOIN_BEHIND},
                                         {NULL, 0}};
static const struct base_word reports[] = {{"0", BASE_REPORT_NONE},
                                           {"disable", BASE_REPORT_NONE},
                                           {"1", BASE_REPORT_STDERR},
                                           {"enable", BASE_REPORT_STDERR},
                                           {NULL, BASE_REPORT_FILE}}; /* its path */
static const struct base_word traces[] = {{"0", BASE_REPORT_NONE},
                                          {"disable", BASE_REPORT_NONE},
                                          {NULL, BASE_REPORT_FILE}}; /* likewise */
static const struct base_word recoveries[] = {{"enable", BASE_RECOVER_REPLAY},
                                              {"disable", BASE_RECOVER_DISABLE},
                                              {"error", BASE_RECOVER_ERROR},
                                              {"always", BASE_RECOVER_ALWAYS},
                                              {NULL, 0}};
static const struct base_word flushes[] = {{"flush_onclose", BASE_FLUSH_ON_CLOSE},
                                           {"flush_immediate", BASE_FLUSH_IMMEDIATE},
                                           {NULL, 0}};
static const struct base_word log_ats[] = {
    {"wait", BASE_LOG_AT_WAIT}, {"post", BASE_LOG_AT_POST}, {NULL, 0}};
static const struct base_word caches[] = {{"enable", BASE_ENABLE},
                                          {"disable", BASE_DISABLE},
                                          {"coherent", BASE_COHERENT},
                                          {NULL, 0}};
static const struct base_word scopes[] = {
    {"node", BASE_STAGE_NODE}, {"global", BASE_STAGE_GLOBAL}, {NULL, 0}};
static const struct base_word drivers[] = {{"mpiio", 0}, {"gio", 0}, {NULL, 1}};

#define PLACE(member)                                                                    \
    offsetof(struct base_hints, member), sizeof((struct base_hints *)NULL)->member
#define BASE_NUMBER(group, key, member, value, least, reported, values, without, what)   \
    {BASE_HINTS_##group,                                                                 \
     BASE_HINT_NUMBER,                                                                   \
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
#define BASE_WORD(group, key, member, value, words, reported, values, without, what)     \
    {BASE_HINTS_##group,                                                                 \
     BASE_HINT_WORD,                                                                     \
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
#define BASE_TEXT(group, key, member, text, reported, values, without, what)             \
    {BASE_HINTS_##group, BASE_HINT_TEXT, key,     PLACE(member), 0, 0, NULL, NULL, text, \
     reported,           values,         without, what},
#define BASE_RULES(group, key, member, modes, reported, values, without, what)           \
    {BASE_HINTS_##group, BASE_HINT_RULES, key,     PLACE(member), 0, 0, NULL, modes, "", \
     reported,           values,          without, what},
#define BASE_OTHER(group, key, values, without, what)                                    \
    {BASE_HINTS_##group,                                                                 \
     BASE_HINT_OTHER,                                                                    \
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

const struct base_hint base_hint_table[] = {
#include "base_hints.def"
    {0}};

const struct base_hint *base_hint_find(const char *key)
{
    for (const struct base_hint *t = base_hint_table; t->key != NULL; t++)
        if (strcmp(t->key, key) == 0) return t;
    return NULL;
}

static bool is_text(const struct base_hint *t)
{
    return t->kind == BASE_HINT_TEXT || t->kind == BASE_HINT_RULES;
}

static int64_t *number_of_hint(struct base_hints *h, const struct base_hint *t)
{
    return (int64_t *)((char *)h + t->offset);
}

static char *text_of_hint(struct base_hints *h, const struct base_hint *t)
{
    return (char *)h + t->offset;
}

/* ---- from text ---- */

static bool read_word(const struct base_hint *t, const char *text, int64_t *value)
{
    const struct base_word *w = t->words;
    while (w->text != NULL && strcmp(w->text, text) != 0)
        w++;
    *value = w->value;
    /* Some give a word that is not there a meaning: their last row. */
    return w->text != NULL || w->value != 0;
}

static bool read_number(const struct base_hint *t, const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *value >= t->least;
}

static bool read_value(const struct base_hint *t, const char *text, int64_t *value)
{
    switch (t->kind) {
    case BASE_HINT_NUMBER:
        return read_number(t, text, value);
    case BASE_HINT_WORD:
        return read_word(t, text, value);
    case BASE_HINT_TEXT:
        return strlen(text) < t->size;
    case BASE_HINT_RULES:
        return strlen(text) < t->size && base_rules_check(t->modes, text);
    default:
        return true;
    }
}

bool base_hint_takes(const struct base_hint *t, const char *text)
{
    int64_t value;
    return read_value(t, text, &value);
}

bool base_hint_is_ours(const char *key)
{
    return strncmp(key, "nc_", 3) == 0 || strncmp(key, "pnetcdf_", 8) == 0 ||
           strncmp(key, "e10_", 4) == 0;
}

/* How many characters have to be put in, left out or replaced to make one of the other.
 */
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

/* The hint that is meant by a name that does not exist, or NULL. */
static const char *nearest(const char *key)
{
    enum { TOO_FAR = 5 };
    const char *found = NULL;
    int least = TOO_FAR;
    for (const struct base_hint *t = base_hint_table; t->key != NULL; t++) {
        int d = distance(key, t->key);
        if (d >= least) continue;
        least = d;
        found = t->key;
    }
    return found;
}

bool base_hint_blame(const char *key, const char *value, char *words, size_t size)
{
    const struct base_hint *t = base_hint_find(key);
    const char *meant = t == NULL ? nearest(key) : NULL;
    if (t == NULL && !base_hint_is_ours(key)) return false;
    if (t != NULL && base_hint_takes(t, value)) return false;
    if (t == NULL)
        snprintf(words, size, "unknown hint '%.80s'%s%s%s", key,
                 meant == NULL ? "" : "; did you mean '", meant == NULL ? "" : meant,
                 meant == NULL ? "" : "'?");
    else if (t->kind == BASE_HINT_NUMBER)
        snprintf(words, size,
                 "invalid value for %s: '%.80s'; expected a number, %lld or more", key,
                 value, (long long)t->least);
    else if (t->kind == BASE_HINT_TEXT)
        snprintf(words, size, "invalid value for %s; expected at most %zu bytes", key,
                 t->size - 1);
    else
        snprintf(words, size, "invalid value for %s: '%.80s'; expected one of: %s", key,
                 value, t->values);
    return true;
}

static void set(struct base_hints *h, const struct base_hint *t, int64_t value,
                const char *text)
{
    if (t->kind == BASE_HINT_NUMBER || t->kind == BASE_HINT_WORD)
        *number_of_hint(h, t) = value;
    if (is_text(t)) strcpy(text_of_hint(h, t), text);
}

void base_hints_default(struct base_hints *h)
{
    *h = (struct base_hints){0};
    for (const struct base_hint *t = base_hint_table; t->key != NULL; t++)
        set(h, t, t->value, t->text);
}

void base_hints_take(struct base_hints *h, const char *key, const char *text)
{
    int64_t value = 0;
    const struct base_hint *t = base_hint_find(key);
    if (t != NULL && read_value(t, text, &value)) set(h, t, value, text);
}

/* What is asked for in the words of E10 becomes our own. */
static void take_e10(struct base_hints *h)
{
    if (h->e10_cache == BASE_DISABLE) return;
    h->burst = BASE_ENABLE;
    if (h->stage == BASE_AUTO) h->stage = BASE_ENABLE;
    h->burst_coherent = h->e10_cache == BASE_COHERENT;
    h->burst_flush = h->e10_flush;
    h->burst_del_on_close = h->e10_discard;
    h->burst_threads = h->e10_threads;
    if (h->e10_path[0] != '\0') strcpy(h->burst_dirname, h->e10_path);
    if (h->e10_path[0] != '\0') strcpy(h->stage_dirname, h->e10_path);
}

/* Variables start at multiples of 4 bytes. */
static void round_align_up(int64_t *align)
{
    if (*align % 4 != 0 && *align < INT64_MAX - 4) *align += 4 - *align % 4;
}

void base_hints_settle(struct base_hints *h)
{
    take_e10(h);
    if (h->stage == BASE_AUTO) h->stage = BASE_DISABLE;
    round_align_up(&h->header_align);
    round_align_up(&h->var_align);
    round_align_up(&h->record_align);
}

/* ---- to text ---- */

const char *base_hint_value(const struct base_hints *h, const struct base_hint *t,
                            char *text, size_t size)
{
    if (t->kind == BASE_HINT_OTHER) return "";
    if (is_text(t)) return text_of_hint((struct base_hints *)h, t);
    int64_t value = *number_of_hint((struct base_hints *)h, t);
    const struct base_word *w = t->words;
    while (w != NULL && w->text != NULL && w->value != value)
        w++;
    if (w != NULL && w->text != NULL) return w->text;
    snprintf(text, size, "%lld", (long long)value);
    return text;
}

/* ---- the environment ---- */

/* Makes key and value of a piece of PNETCDF_HINTS. Is it of that form? */
static bool split_pair(char *pair, char **value)
{
    *value = strchr(pair, '=');
    if (*value == NULL || *value == pair || (*value)[1] == '\0') return false;
    *(*value)++ = '\0';
    (*value)[strcspn(*value, " \t\n")] = '\0';
    return strlen(pair) < BASE_HINT_KEY && strlen(*value) < BASE_HINT_VALUE;
}

static bool take_pairs(const struct base_environment *e)
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

bool base_hints_environment(const struct base_environment *e)
{
    static const char *const variables[][2] = {{"PNETCDF_REPORT", "nc_report"},
                                               {"PNETCDF_TRACE", "nc_trace"}};
    for (int i = 0; i < 2; i++) {
        const char *value = getenv(variables[i][0]);
        if (value != NULL && *value != '\0' && strlen(value) < BASE_HINT_VALUE &&
            !e->take(e->of, variables[i][0], variables[i][1], value))
            return true;
    }
    return take_pairs(e);
}
