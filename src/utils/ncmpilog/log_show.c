/* Shows the contents of logs, verifies them, and reports missing logs, as text or as
 * JSON. */
#include <inttypes.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "log.h"

static const char *dataset_of(const struct burst_header *h)
{
    return h->path[0] != '\0' ? h->path : h->basename;
}

/* Reports an error in a log: as a line, or as a member of the current JSON object. */
static void put_error(const struct log_out *to, const char *path, const char *words)
{
    if (to->j != NULL)
        util_json_text(to->j, "error", words);
    else
        util_out_print(to->out, "%s: %s\n", path, words);
}

/* Opens a log and, for JSON output, begins an object, which close_log ends. */
static int open_log(const char *path, const struct log_out *to, struct burst_reader **r)
{
    int err = burst_reader_open(path, BURST_READ_ANYBODYS, r, NULL);
    if (to->j != NULL) {
        util_json_open(to->j, NULL, '{');
        util_json_text(to->j, "log", path);
    }
    if (err == NC_NOERR) return 0;
    put_error(to, path, base_error_text(err));
    if (to->j != NULL) util_json_close(to->j, '}');
    return 1;
}

static void close_log(struct burst_reader *r, const struct log_out *to)
{
    if (to->j != NULL) util_json_close(to->j, '}');
    burst_reader_close(r);
}

static void put_facts(const char *path, const struct log_out *to,
                      const struct burst_reader *r)
{
    const struct burst_header *h = burst_reader_header(r);
    const struct burst_counts n = burst_reader_counts(r);
    if (to->j == NULL) {
        char others[64] = "";
        if (h->nslots > 1)
            snprintf(others, sizeof others, " (and %" PRId64 " others)", h->nslots - 1);
        util_out_print(to->out,
                       "%s: version %d, %s, process %" PRId64 "%s of %" PRId64
                       " on %s, %" PRId64 " entries, %" PRId64 " of them drained\n",
                       path, h->version, dataset_of(h), h->rank_id, others, h->num_ranks,
                       h->proc_name, n.count, n.drained);
        return;
    }
    util_json_int(to->j, "version", h->version);
    util_json_text(to->j, "dataset", dataset_of(h));
    util_json_int(to->j, "process", h->rank_id);
    util_json_int(to->j, "processes", h->num_ranks);
    util_json_int(to->j, "writers", h->nslots);
    util_json_text(to->j, "host", h->proc_name);
    util_json_int(to->j, "entries", n.count);
    util_json_int(to->j, "drained", n.drained);
}

int log_show(const char *path, const struct log_out *to)
{
    struct burst_reader *r;
    if (open_log(path, to, &r) != 0) return 1;
    put_facts(path, to, r);
    close_log(r, to);
    return 0;
}

/* ---- entries ---- */

static void put_numbers(const struct log_out *to, const char *what,
                        const int64_t *numbers, int64_t n)
{
    if (numbers == NULL) return;
    if (to->j != NULL)
        util_json_open(to->j, what, '[');
    else
        util_out_print(to->out, " %s", what);
    for (int64_t i = 0; i < n; i++)
        if (to->j != NULL)
            util_json_int(to->j, NULL, numbers[i]);
        else
            util_out_print(to->out, "%s%" PRId64, i == 0 ? " " : ",", numbers[i]);
    if (to->j != NULL) util_json_close(to->j, ']');
}

static const char *type_name(int itype)
{
    static const char *const names[] = {"?",     "text",   "schar",    "uchar",
                                        "short", "ushort", "int",      "uint",
                                        "float", "double", "longlong", "ulonglong"};
    if (itype == BURST_LONG) return "long";
    return itype < 1 || itype > 11 ? names[0] : names[itype];
}

static const char *kind_name(const struct burst_entry *e)
{
    static const char *const names[] = {"?", "var", "var1", "vara", "vars"};
    if (e->flags & BURST_RAW) return "runs";
    return e->kind > 0 ? "varn" : names[-e->kind];
}

static void put_regions(const struct log_out *to, const struct burst_entry *e)
{
    int64_t n = e->ndims * e->nreqs;
    put_numbers(to, "start", e->start, n);
    put_numbers(to, "count", e->count, n);
    put_numbers(to, "stride", e->stride, e->ndims);
}

/* Writes an entry as JSON. `lost` describes the problem with the entry's values; it is
 * NULL if there is none. */
static void json_entry(const struct log_out *to, const struct burst_entry *e,
                       int64_t offset, const char *lost)
{
    util_json_open(to->j, NULL, '{');
    if (lost != NULL) util_json_text(to->j, "lost", lost);
    util_json_int(to->j, "number", e->seq);
    util_json_text(to->j, "kind", kind_name(e));
    util_json_text(to->j, "type", e->flags & BURST_FILL ? "fill" : type_name(e->itype));
    util_json_int(to->j, "variable", e->varid);
    util_json_int(to->j, "call", e->epoch);
    util_json_int(to->j, "process", e->rank);
    put_regions(to, e);
    util_json_int(to->j, "bytes", e->data_len);
    util_json_int(to->j, "offset", offset);
    util_json_bool(to->j, "cancelled", (e->flags & BURST_CANCELLED) != 0);
    util_json_close(to->j, '}');
}

static void put_entry(const struct log_out *to, const struct burst_reader *r,
                      const struct burst_entry *e, const char *lost)
{
    int64_t offset = burst_reader_place(r, e->data_off);
    if (to->j != NULL) {
        json_entry(to, e, offset, lost);
        return;
    }
    if (lost != NULL) util_out_print(to->out, "lost: %s; entry ", lost);
    util_out_print(
        to->out, "%" PRId64 ": %s %s of variable %d, call %" PRId64 ", process %" PRId64,
        e->seq, kind_name(e), e->flags & BURST_FILL ? "fill" : type_name(e->itype),
        e->varid, e->epoch, e->rank);
    put_regions(to, e);
    util_out_print(to->out, ", %" PRId64 " bytes at %" PRId64 "%s\n", e->data_len, offset,
                   e->flags & BURST_CANCELLED ? ", cancelled" : "");
}

int log_print(const char *path, const struct log_out *to)
{
    struct burst_reader *r;
    struct burst_entry e;
    bool more;
    int err;
    if (open_log(path, to, &r) != 0) return 1;
    put_facts(path, to, r);
    if (to->j != NULL) util_json_open(to->j, "list", '[');
    while ((err = burst_reader_next(r, true, &e, &more)) == NC_NOERR && more)
        put_entry(to, r, &e, NULL);
    if (to->j != NULL) util_json_close(to->j, ']');
    if (err == NC_NOERR) err = burst_reader_complete(r);
    if (err != NC_NOERR) put_error(to, path, base_error_text(err));
    close_log(r, to);
    return err != NC_NOERR;
}

static void put_verdict(const char *path, const struct log_out *to, bool broken,
                        int64_t waiting, bool checksums)
{
    if (to->j == NULL) {
        util_out_print(to->out, "%s: %s, %" PRId64 " entries pending%s\n", path,
                       broken ? "corrupt" : "intact", waiting,
                       checksums ? "" : " (no checksums)");
        return;
    }
    util_json_int(to->j, "waiting", waiting);
    util_json_bool(to->j, "checksums", checksums);
}

int log_verify(const char *path, const struct log_out *to)
{
    struct burst_reader *r;
    struct burst_entry e;
    bool more;
    int64_t good = 0, bad = 0;
    int err;
    if (open_log(path, to, &r) != 0) return 1;
    if (to->j != NULL) util_json_open(to->j, "broken", '[');
    while ((err = burst_reader_next(r, false, &e, &more)) == NC_NOERR && more) {
        int broken = burst_reader_check(r, &e);
        good += broken == NC_NOERR;
        bad += broken != NC_NOERR;
        if (broken != NC_NOERR) put_entry(to, r, &e, base_error_detail(broken));
    }
    if (to->j != NULL) util_json_close(to->j, ']');
    if (err == NC_NOERR) err = burst_reader_complete(r);
    if (to->j != NULL) util_json_bool(to->j, "whole", err == NC_NOERR && bad == 0);
    if (err != NC_NOERR)
        put_error(to, path, base_error_detail(err));
    else
        put_verdict(path, to, bad > 0, good + bad, burst_reader_header(r)->version != 0);
    close_log(r, to);
    return err != NC_NOERR || bad > 0;
}

/* ---- missing logs ---- */

/* The logs that one job wrote for a dataset between opening and closing it. */
struct set {
    uint64_t token;
    int64_t num_ranks, waiting;
    bool *here;    /* whether each rank has a log; NULL if out of memory */
    int64_t twice; /* a rank that has two logs; -1 if none */
    char dataset[BURST_MAX_PATH];
};

static struct set *find_set(struct set *sets, int *n, const struct burst_header *h)
{
    for (int i = 0; i < *n; i++)
        if (sets[i].token == h->token && strcmp(sets[i].dataset, dataset_of(h)) == 0)
            return &sets[i];
    struct set *s = &sets[(*n)++];
    s->token = h->token;
    s->num_ranks = h->num_ranks;
    s->twice = -1;
    snprintf(s->dataset, sizeof s->dataset, "%s", dataset_of(h));
    s->here = base_calloc((size_t)h->num_ranks, sizeof *s->here);
    return s;
}

static void add_to_set(struct set *s, const struct burst_reader *r)
{
    const struct burst_counts n = burst_reader_counts(r);
    int64_t rank;
    s->waiting += n.count - n.drained;
    for (int64_t i = 0; s->here != NULL && (rank = burst_reader_rank(r, i)) >= 0; i++)
        if (rank < s->num_ranks) {
            if (s->here[rank]) s->twice = rank;
            s->here[rank] = true;
        }
}

static void put_set_fault(const struct set *s, int64_t process, const char *what,
                          const struct log_out *to)
{
    if (to->j == NULL) {
        util_out_print(to->out, "lost: %s: %s of process %" PRId64 " of %" PRId64 "\n",
                       s->dataset, what, process, s->num_ranks);
        return;
    }
    util_json_open(to->j, NULL, '{');
    util_json_text(to->j, "dataset", s->dataset);
    util_json_int(to->j, "process", process);
    util_json_int(to->j, "processes", s->num_ranks);
    util_json_text(to->j, "error", what);
    util_json_close(to->j, '}');
}

/* Reports the first few processes whose logs are missing, and a process that has two
 * logs. Returns the status. */
static int report_set(const struct set *s, const struct log_out *to)
{
    enum { MOST = 64 };
    int64_t missing = 0;
    if (s->waiting == 0) return 0;
    if (s->here == NULL) {
        put_set_fault(s, 0, "out of memory while searching for the log", to);
        return 1;
    }
    for (int64_t i = 0; i < s->num_ranks && missing < MOST; i++)
        if (!s->here[i] && ++missing > 0) put_set_fault(s, i, "no log", to);
    if (s->twice >= 0) put_set_fault(s, s->twice, "two logs", to);
    return missing > 0 || s->twice >= 0;
}

int log_missing(const struct log_list *list, const struct log_out *to)
{
    struct set *sets = base_calloc((size_t)list->n, sizeof *sets);
    int n = 0, status = 0;
    if (sets == NULL) return 1;
    for (int i = 0; i < list->n; i++) {
        struct burst_reader *r;
        if (burst_reader_open(list->paths[i], BURST_READ_ANYBODYS, &r, NULL) != NC_NOERR)
            continue;
        add_to_set(find_set(sets, &n, burst_reader_header(r)), r);
        burst_reader_close(r);
    }
    for (int i = 0; i < n; i++) {
        status |= report_set(&sets[i], to);
        base_free(sets[i].here);
    }
    base_free(sets);
    return status;
}
