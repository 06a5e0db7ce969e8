/* Hints, by one table: a key, how its text is read, where its value goes. */
#include "base_hints.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "base_path.h"

/* Words and the values they stand for; the first word of a value is the one that is
 * reported. */
struct word {
    const char *text;
    int64_t value;
};
static const struct word choice[] = {
    {"enable", BASE_ENABLE}, {"disable", BASE_DISABLE}, {"auto", BASE_AUTO}, {NULL, 0}};
static const struct word truth[] = {{"true", 1}, {"false", 0}, {NULL, 0}};
static const struct word transfers[] = {{"auto", BASE_TRANSFER_AUTO},
                                        {"direct", BASE_TRANSFER_DIRECT},
                                        {"node", BASE_TRANSFER_NODE},
                                        {"view", BASE_TRANSFER_VIEW},
                                        {NULL, 0}};
static const struct word file_ios[] = {{"auto", BASE_FILE_IO_AUTO},
                                       {"posix", BASE_FILE_IO_POSIX},
                                       {"mpi", BASE_FILE_IO_MPI},
                                       {NULL, 0}};
static const struct word reports[] = {{"0", BASE_REPORT_NONE},
                                      {"disable", BASE_REPORT_NONE},
                                      {"1", BASE_REPORT_STDERR},
                                      {"enable", BASE_REPORT_STDERR},
                                      {NULL, BASE_REPORT_FILE}}; /* its path */
static const struct word traces[] = {{"0", BASE_REPORT_NONE},
                                     {"disable", BASE_REPORT_NONE},
                                     {NULL, BASE_REPORT_FILE}}; /* likewise */
static const struct word recoveries[] = {{"enable", BASE_RECOVER_REPLAY},
                                         {"disable", BASE_RECOVER_DISABLE},
                                         {"error", BASE_RECOVER_ERROR},
                                         {"always", BASE_RECOVER_ALWAYS},
                                         {NULL, 0}};
static const struct word flushes[] = {{"flush_onclose", BASE_FLUSH_ON_CLOSE},
                                      {"flush_immediate", BASE_FLUSH_IMMEDIATE},
                                      {NULL, 0}};
static const struct word log_ats[] = {
    {"wait", BASE_LOG_AT_WAIT}, {"post", BASE_LOG_AT_POST}, {NULL, 0}};
static const struct word caches[] = {{"enable", BASE_ENABLE},
                                     {"disable", BASE_DISABLE},
                                     {"coherent", BASE_COHERENT},
                                     {NULL, 0}};
/* A file is not divided: what asks for that is passed over. */
static const struct word no_subfiling[] = {{"disable", BASE_DISABLE}, {NULL, 0}};
static const struct word one_file[] = {{"0", 0}, {"1", 1}, {NULL, 0}};
static const struct word drivers[] = {{"mpiio", 0}, {"gio", 0}, {NULL, 1}};

#define AT(member) offsetof(struct base_hints, member)

static const struct hint {
    const char *key;
    size_t offset;
    int64_t value;            /* the default */
    int64_t least;            /* numbers below it are passed over */
    const struct word *words; /* NULL: a number */
    bool reported;
} table[] = {
    {"nc_header_align_size", AT(header_align), 0, 1, NULL, true},
    {"nc_var_align_size", AT(var_align), 0, 1, NULL, true},
    {"nc_record_align_size", AT(record_align), 0, 1, NULL, true},
    {"nc_header_read_chunk_size", AT(header_read_chunk), 262144, 1, NULL, true},
    {"nc_data_move_chunk_size", AT(move_chunk), 4194304, 1, NULL, true},
    {"nc_ibuf_size", AT(ibuf_size), 16777216, 1, NULL, true},
    {"nc_in_place_swap", AT(in_place_swap), BASE_AUTO, 0, choice, true},
    {"nc_hash_size_dim", AT(hash_size_dim), 256, 1, NULL, true},
    {"nc_hash_size_var", AT(hash_size_var), 256, 1, NULL, true},
    {"nc_hash_size_gattr", AT(hash_size_gattr), 64, 1, NULL, true},
    {"nc_hash_size_vattr", AT(hash_size_vattr), 8, 1, NULL, true},
    {"nc_num_aggrs_per_node", AT(aggregators_per_node), 0, 0, NULL, true},
    {"cb_nodes", AT(cb_nodes), 0, 1, NULL, false},
    {"nc_num_subfiles", AT(num_subfiles), 0, 0, one_file, true},
    {"pnetcdf_subfiling", AT(subfiling), BASE_DISABLE, 0, no_subfiling, true},
    {"nc_transfer", AT(transfer), BASE_TRANSFER_AUTO, 0, transfers, true},
    {"nc_file_io", AT(file_io), BASE_FILE_IO_AUTO, 0, file_ios, true},
    {"nc_statistics", AT(statistics), BASE_DISABLE, 0, choice, false},
    {"nc_report", AT(report), BASE_REPORT_NONE, 0, reports, false},
    {"nc_trace", AT(trace), BASE_REPORT_NONE, 0, traces, false},
    {"nc_node_procs", AT(node_procs), 0, 0, NULL, true},
    {"nc_node_share_size", AT(node_share), 262144, 1, NULL, true},
    {"nc_burst_buf", AT(burst), BASE_DISABLE, 0, choice, true},
    {"nc_burst_buf_del_on_close", AT(burst_del_on_close), BASE_ENABLE, 0, choice, true},
    {"nc_burst_buf_flush_buffer_size", AT(burst_flush_buffer), 0, 0, NULL, true},
    {"nc_burst_buf_shared_logs", AT(burst_shared_logs), BASE_AUTO, 0, choice, true},
    {"nc_burst_buf_recover", AT(burst_recover), BASE_RECOVER_REPLAY, 0, recoveries, true},
    {"nc_burst_buf_flush", AT(burst_flush), BASE_FLUSH_ON_CLOSE, 0, flushes, true},
    {"nc_burst_buf_log_at", AT(burst_log_at), BASE_LOG_AT_WAIT, 0, log_ats, true},
    {"nc_burst_buf_threads", AT(burst_threads), 1, 1, NULL, true},
    {"nc_burst_buf_bandwidth", AT(burst_bandwidth), 0, 0, NULL, true},
    {"nc_burst_buf_delay", AT(burst_delay), 2, 0, NULL, true},
    {"e10_cache", AT(e10_cache), BASE_DISABLE, 0, caches, true},
    {"e10_cache_flush_flag", AT(e10_flush), BASE_FLUSH_IMMEDIATE, 0, flushes, false},
    {"e10_cache_discard_flag", AT(e10_discard), BASE_ENABLE, 0, choice, false},
    {"e10_cache_threads", AT(e10_threads), 1, 1, NULL, false},
    {"romio_no_indep_rw", AT(no_indep_rw), 0, 0, truth, false},
    {"nc_driver", AT(bad_driver), 0, 0, drivers, true},
};

/* Hints that are text. */
static const struct text_hint {
    const char *key;
    size_t offset, size;
    const char *text; /* the default */
    bool reported;
} texts[] = {
    {"nc_burst_buf_dirname", AT(burst_dirname),
     sizeof((struct base_hints *)NULL)->burst_dirname, "./", true},
    {"e10_cache_path", AT(e10_path), sizeof((struct base_hints *)NULL)->e10_path, "",
     false},
};
enum { NTEXTS = sizeof texts / sizeof texts[0] };

static int64_t *value_of(struct base_hints *h, const struct hint *t)
{
    return (int64_t *)((char *)h + t->offset);
}

static void take_word(struct base_hints *h, const struct hint *t, const char *text)
{
    const struct word *w = t->words;
    while (w->text != NULL && strcmp(w->text, text) != 0)
        w++;
    /* Some give a word that is not there a meaning: their last row. */
    if (w->text != NULL || w->value != 0) *value_of(h, t) = w->value;
}

static void take_number(struct base_hints *h, const struct hint *t, const char *text)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && number >= t->least)
        *value_of(h, t) = number;
}

static void take(struct base_hints *h, const char *key, const char *text)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].key, key) != 0) continue;
        if (table[i].words != NULL)
            take_word(h, &table[i], text);
        else
            take_number(h, &table[i], text);
    }
    for (int i = 0; i < NTEXTS; i++)
        if (strcmp(texts[i].key, key) == 0 && strlen(text) < texts[i].size)
            strcpy((char *)h + texts[i].offset, text);
}

/* What is asked for in the words of E10 becomes our own. MPI-IO is not to do it again. */
static int take_e10(struct base_hints *h, MPI_Info info)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int there = 0;
    if (h->e10_cache == BASE_DISABLE) return NC_NOERR;
    h->burst = BASE_ENABLE;
    h->burst_coherent = h->e10_cache == BASE_COHERENT;
    h->burst_flush = h->e10_flush;
    h->burst_del_on_close = h->e10_discard;
    h->burst_threads = h->e10_threads;
    if (h->e10_path[0] != '\0') strcpy(h->burst_dirname, h->e10_path);
    int mpi = MPI_Info_get(info, "e10_cache", MPI_MAX_INFO_VAL, text, &there);
    if (mpi == MPI_SUCCESS && there) mpi = MPI_Info_delete(info, "e10_cache");
    return base_mpi_error(mpi, NC_EMPI, "MPI_Info_delete");
}

/* Makes key and value of a piece of PNETCDF_HINTS. Is it of that form? */
static bool split(char *pair, char **value)
{
    *value = strchr(pair, '=');
    if (*value == NULL || *value == pair || (*value)[1] == '\0') return false;
    *(*value)++ = '\0';
    (*value)[strcspn(*value, " \t\n")] = '\0';
    return strlen(pair) < MPI_MAX_INFO_KEY && strlen(*value) < MPI_MAX_INFO_VAL;
}

/* Adds the pairs of PNETCDF_HINTS to info. */
static int add_pairs(MPI_Info info, bool warn)
{
    const char *variable = getenv("PNETCDF_HINTS");
    if (variable == NULL) return NC_NOERR;
    char *copy = base_strdup(variable), *rest = copy, *pair, *saved;
    if (copy == NULL) return NC_ENOMEM;

    int result = MPI_SUCCESS;
    for (; (pair = strtok_r(rest, ";", &saved)) != NULL; rest = NULL) {
        char *value;
        pair += strspn(pair, " \t\n");
        if (*pair == '\0') continue;
        if (split(pair, &value))
            result = MPI_Info_set(info, pair, value);
        else if (warn)
            fprintf(stderr, "PNETCDF_HINTS: '%s' is not key=value and is passed over\n",
                    pair);
        if (result != MPI_SUCCESS) break;
    }
    base_free(copy);
    return base_mpi_error(result, NC_EMPI, "MPI_Info_set");
}

static int add_environment(MPI_Info info, bool warn)
{
    static const char *const variables[][2] = {{"PNETCDF_REPORT", "nc_report"},
                                               {"PNETCDF_TRACE", "nc_trace"}};
    int mpi = MPI_SUCCESS;
    for (int i = 0; i < 2 && mpi == MPI_SUCCESS; i++) {
        const char *value = getenv(variables[i][0]);
        if (value != NULL && *value != '\0' && strlen(value) < MPI_MAX_INFO_VAL)
            mpi = MPI_Info_set(info, variables[i][1], value);
    }
    return mpi == MPI_SUCCESS ? add_pairs(info, warn)
                              : base_mpi_error(mpi, NC_EMPI, "MPI_Info_set");
}

static int take_hints(struct base_hints *h, MPI_Info info)
{
    int nkeys, flag, result = MPI_Info_get_nkeys(info, &nkeys);
    for (int i = 0; result == MPI_SUCCESS && i < nkeys; i++) {
        char key[MPI_MAX_INFO_KEY + 1], text[MPI_MAX_INFO_VAL + 1];
        result = MPI_Info_get_nthkey(info, i, key);
        if (result != MPI_SUCCESS) break;
        result = MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &flag);
        if (result == MPI_SUCCESS && flag) take(h, key, text);
    }
    return base_mpi_error(result, NC_EMPI, "reading the info object");
}

/* Variables start at multiples of 4 bytes. */
static void round_up(int64_t *align)
{
    if (*align % 4 != 0 && *align < INT64_MAX - 4) *align += 4 - *align % 4;
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

int base_hints_read(struct base_hints *h, MPI_Info user, bool warn, MPI_Info *info)
{
    *h = (struct base_hints){0};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        *value_of(h, &table[i]) = table[i].value;
    for (int i = 0; i < NTEXTS; i++)
        strcpy((char *)h + texts[i].offset, texts[i].text);

    int result = user == MPI_INFO_NULL ? MPI_Info_create(info) : MPI_Info_dup(user, info);
    if (result != MPI_SUCCESS) return base_mpi_error(result, NC_EMPI, "MPI_Info_dup");
    int err = add_environment(*info, warn);
    if (err == NC_NOERR) err = take_hints(h, *info);
    if (err == NC_NOERR) err = take_e10(h, *info);
    if (err == NC_NOERR) err = fix_path(h->report, "nc_report", *info);
    if (err == NC_NOERR) err = fix_path(h->trace, "nc_trace", *info);
    round_up(&h->header_align);
    round_up(&h->var_align);
    round_up(&h->record_align);
    if (err != NC_NOERR) MPI_Info_free(info);
    return err;
}

static void value_text(const struct hint *t, int64_t value, char *text, size_t size)
{
    const struct word *w = t->words;
    while (w != NULL && w->text != NULL && w->value != value)
        w++;
    if (w != NULL && w->text != NULL)
        snprintf(text, size, "%s", w->text);
    else
        snprintf(text, size, "%lld", (long long)value);
}

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
    for (size_t i = 0; i < sizeof table / sizeof table[0] && result == MPI_SUCCESS; i++) {
        const struct hint *t = &table[i];
        int64_t value = *value_of(&h, t);
        char text[32];
        if (!t->reported) continue;
        value_text(t, value, text, sizeof text);
        result = MPI_Info_set(info, t->key, text);
    }
    for (int i = 0; i < NTEXTS && result == MPI_SUCCESS; i++)
        if (texts[i].reported)
            result = MPI_Info_set(info, texts[i].key, (const char *)&h + texts[i].offset);
    return base_mpi_error(result, NC_EMPI, "MPI_Info_set");
}

bool base_hints_compare(const struct base_hints *mine, const struct base_hints *theirs,
                        char *text, size_t size)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct hint *t = &table[i];
        int64_t a = *value_of((struct base_hints *)mine, t);
        int64_t b = *value_of((struct base_hints *)theirs, t);
        char here[32], there[32];
        if (a == b) continue;
        value_text(t, a, here, sizeof here);
        value_text(t, b, there, sizeof there);
        snprintf(text, size, "hint %s is %s, on process 0 it is %s", t->key, here, there);
        return true;
    }
    for (int i = 0; i < NTEXTS; i++) {
        const char *a = (const char *)mine + texts[i].offset;
        const char *b = (const char *)theirs + texts[i].offset;
        if (strcmp(a, b) == 0) continue;
        snprintf(text, size, "hint %s is %.60s, on process 0 it is %.60s", texts[i].key,
                 a, b);
        return true;
    }
    return false;
}
