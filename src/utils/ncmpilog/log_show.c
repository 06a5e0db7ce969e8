/* What is in a log, and whether it is whole. */
#include <inttypes.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "log.h"

static int open_log(const char *path, FILE *out, struct burst_reader **r)
{
    int err = burst_reader_open(path, BURST_READ_ANYBODYS, r, NULL);
    if (err != NC_NOERR) fprintf(out, "%s: %s\n", path, base_error_text(err));
    return err == NC_NOERR ? 0 : 1;
}

static const char *dataset_of(const struct burst_header *h)
{
    return h->path[0] != '\0' ? h->path : h->basename;
}

int log_show(const char *path, FILE *out)
{
    struct burst_reader *r;
    int64_t count, drained, generation;
    if (open_log(path, out, &r) != 0) return 1;
    const struct burst_header *h = burst_reader_header(r);
    burst_reader_counts(r, &count, &drained, &generation);
    fprintf(out,
            "%s: version %d, %s, process %" PRId64 " of %" PRId64 " on %s, %" PRId64
            " entries, %" PRId64 " of them drained\n",
            path, h->version, dataset_of(h), h->rank_id, h->num_ranks, h->proc_name,
            count, drained);
    burst_reader_close(r);
    return 0;
}

/* ---- entries ---- */

static void print_numbers(FILE *out, const char *what, const int64_t *numbers, int64_t n)
{
    if (numbers == NULL) return;
    fprintf(out, " %s", what);
    for (int64_t i = 0; i < n; i++)
        fprintf(out, "%s%" PRId64, i == 0 ? " " : ",", numbers[i]);
}

static const char *type_name(int itype)
{
    static const char *const names[] = {"?",     "text",   "schar",    "uchar",
                                        "short", "ushort", "int",      "uint",
                                        "float", "double", "longlong", "ulonglong"};
    return itype < 1 || itype > 11 ? names[0] : names[itype];
}

static const char *kind_name(const struct burst_entry *e)
{
    static const char *const names[] = {"?", "var", "var1", "vara", "vars"};
    if (e->flags & BURST_RAW) return "runs";
    return e->kind > 0 ? "varn" : names[-e->kind];
}

static void print_entry(FILE *out, const struct burst_entry *e)
{
    int64_t n = e->ndims * e->nreqs;
    fprintf(out, "%" PRId64 ": %s %s of variable %d, call %" PRId64 ", process %" PRId64,
            e->seq, kind_name(e), e->flags & BURST_FILL ? "fill" : type_name(e->itype),
            e->varid, e->epoch, e->rank);
    print_numbers(out, "start", e->start, n);
    print_numbers(out, "count", e->count, n);
    print_numbers(out, "stride", e->stride, e->ndims);
    fprintf(out, ", %" PRId64 " bytes at %" PRId64 "%s\n", e->data_len, e->data_off,
            e->flags & BURST_CANCELLED ? ", cancelled" : "");
}

int log_print(const char *path, FILE *out)
{
    struct burst_reader *r;
    struct burst_entry e;
    bool more;
    int err, status = log_show(path, out);
    if (status != 0 || open_log(path, out, &r) != 0) return 1;
    while ((err = burst_reader_next(r, true, &e, &more)) == NC_NOERR && more)
        print_entry(out, &e);
    if (err == NC_NOERR) err = burst_reader_complete(r);
    if (err != NC_NOERR) fprintf(out, "%s: %s\n", path, base_error_text(err));
    burst_reader_close(r);
    return err != NC_NOERR;
}

int log_verify(const char *path, FILE *out)
{
    struct burst_reader *r;
    struct burst_entry e;
    bool more;
    int64_t good = 0, bad = 0;
    int err;
    if (open_log(path, out, &r) != 0) return 1;
    while ((err = burst_reader_next(r, false, &e, &more)) == NC_NOERR && more) {
        int broken = burst_reader_check(r, &e);
        good += broken == NC_NOERR;
        if (broken == NC_NOERR) continue;
        bad++;
        fprintf(out, "lost: %s; entry ", base_error_detail(broken));
        print_entry(out, &e);
    }
    if (err == NC_NOERR) err = burst_reader_complete(r);
    if (err != NC_NOERR)
        fprintf(out, "%s: %s\n", path, base_error_detail(err));
    else
        fprintf(out, "%s: %s, %" PRId64 " entries wait%s\n", path,
                bad > 0 ? "values are broken" : "whole", good + bad,
                burst_reader_header(r)->version == 0 ? " (no checksums)" : "");
    burst_reader_close(r);
    return err != NC_NOERR || bad > 0;
}

/* ---- what is not there ---- */

/* Whose entries a set of logs of one opening holds. */
struct set {
    uint64_t token;
    int64_t num_ranks, waiting;
    bool *here;
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
    snprintf(s->dataset, sizeof s->dataset, "%s", dataset_of(h));
    s->here = base_calloc((size_t)h->num_ranks, sizeof *s->here);
    return s;
}

static void add_to_set(struct set *s, const struct burst_reader *r)
{
    int64_t count, drained, generation, rank;
    burst_reader_counts(r, &count, &drained, &generation);
    s->waiting += count - drained;
    for (int64_t i = 0; s->here != NULL && (rank = burst_reader_rank(r, i)) >= 0; i++)
        if (rank < s->num_ranks) s->here[rank] = true;
}

static int tell_missing(const struct set *s, FILE *out)
{
    int status = 0;
    for (int64_t i = 0; s->here != NULL && s->waiting > 0 && i < s->num_ranks; i++) {
        if (s->here[i]) continue;
        fprintf(out,
                "lost: %s: no log of process %" PRId64 " of %" PRId64
                ": whatever it wrote since the last flush\n",
                s->dataset, i, s->num_ranks);
        status = 1;
    }
    return status;
}

int log_missing(const struct log_list *list, FILE *out)
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
        status |= tell_missing(&sets[i], out);
        base_free(sets[i].here);
    }
    base_free(sets);
    return status;
}
