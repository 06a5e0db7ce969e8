/* Opens a dataset's subfiles, reads their maps, and checks subfiles and maps.
 *
 * util_blob_open reads the facts about the dataset, opens and checks each subfile, and
 * lists the variables whose values are in blobs. util_blob_index then reads the maps part
 * by part, as values are needed. A subfile is accepted only if its header, digest,
 * generation and size match the master file. */
#include "util_blob.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "conv.h"
#include "subfile_digest.h"
#include "subfile_generation.h"
#include "util_blob_impl.h"

/* ---- reporting ---- */

/* A callback that receives reports. `status` is 0 until it has received one, then -1. */
struct reporter {
    util_blob_report_fn *report;
    void *to;
    int status;
};

static void report_fault(struct reporter *t, const char *path, const char *reason)
{
    t->report(t->to, path, reason);
    t->status = -1;
}

static void report_error(struct reporter *t, int err)
{
    if (err != NC_NOERR) report_fault(t, NULL, util_blob_message(err));
}

/* ---- reading subfiles ---- */

/* Returns the descriptor of a subfile, which it opens if necessary. On error, returns -1
 * and sets errno. */
static int open_again(struct util_blob *b, int number)
{
    enum { MOST_OPEN = 128 };
    struct util_blob_sub *s = &b->subs[number];
    if (s->file.fd >= 0) return s->file.fd;
    s->file.fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (s->file.fd < 0 || b->nopen < MOST_OPEN) {
        b->nopen += s->file.fd >= 0;
        return s->file.fd;
    }
    /* Too many subfiles are open. Close another one, in round-robin order. */
    do
        b->hand = (b->hand + 1) % (int)b->facts.nsubfiles;
    while (b->hand == number || b->subs[b->hand].file.fd < 0);
    close(b->subs[b->hand].file.fd);
    b->subs[b->hand].file.fd = -1;
    return s->file.fd;
}

int util_blob_bytes(struct util_blob *b, int number, int64_t at, void *bytes, int64_t n)
{
    const struct util_blob_sub *s = &b->subs[number];
    int64_t got = open_again(b, number) < 0
                      ? -1
                      : util_classic_read(&s->file, at, bytes, (size_t)n);
    if (got < 0) return base_error_system(NC_EREAD, "reading", s->path);
    memset((char *)bytes + got, 0, (size_t)(n - got));
    return NC_NOERR;
}

int util_blob_cut(const struct util_blob_sub *s, const struct cdf_var *v)
{
    return base_error_set(
        NC_ENOTNC,
        "%s: offset %lld: variable '%s': the file ends before the end of its data",
        s->path, (long long)s->file.size, v->name);
}

static int read_list(struct util_blob *b, int number, const struct subfile_numbers *list)
{
    const struct util_blob_sub *s = &b->subs[number];
    const struct cdf_var *v = &s->file.header.vars[list->varid];
    int size = cdf_type_size(v->type);
    int64_t n = list->n, row = v->ndims == 2 ? list->row * v->shape[1] : 0;
    int64_t at = v->begin + (row + list->first) * size;
    int err = at > s->file.size - n * size ? util_blob_cut(s, v) : NC_NOERR;
    if (err != NC_NOERR) return err;
    for (int64_t done = 0, m; done < n && err == NC_NOERR; done += m) {
        m = n - done < UTIL_BLOB_BYTES / size ? n - done : UTIL_BLOB_BYTES / size;
        err = util_blob_bytes(b, number, at + done * size, b->bytes, m * size);
        if (err == NC_NOERR)
            err = conv_get(list->values + done, CONV_LONGLONG, b->bytes, v->type,
                           (size_t)m);
    }
    if (err == NC_NOERR || err == NC_EREAD) return err;
    return base_error_set(NC_ENOTNC, "%s: variable '%s' is not numeric", s->path,
                          v->name);
}

/* Callbacks of struct subfile. */
static int read_numbers(void *who, const struct subfile_numbers *lists, int n, int error)
{
    const struct util_blob_sub *s = who;
    for (int i = 0; i < n && error == NC_NOERR; i++)
        error = read_list(s->of, s->subfile.number, &lists[i]);
    return error;
}

static int read_log(void *who, int64_t at, void *bytes, int64_t n)
{
    const struct util_blob_sub *s = who;
    int64_t begin = s->file.header.vars[s->subfile.log].begin;
    return util_blob_bytes(s->of, s->subfile.number, begin + at, bytes, n);
}

/* ---- opening ---- */

static bool read_header(struct util_blob *b, const struct util_classic *c, int number,
                        struct reporter *t)
{
    struct util_blob_sub *s = &b->subs[number];
    struct cdf_fault fault = {.reason = "it is a master file, not a subfile"};
    bool moving = false;
    if (s->file.base == 0 && util_classic_check_head(&s->file, &moving) != 0) {
        t->status = -1;
        return false;
    }
    if (moving)
        snprintf(fault.reason, sizeof fault.reason, "its redefinition was interrupted");
    if (s->file.base > 0 || moving || util_classic_try(&s->file, &fault) != 0) {
        if (fault.reason[0] == '\0')
            t->status = -1;
        else
            report_fault(t, s->path, fault.reason);
        return false;
    }
    s->subfile.size = s->file.size;
    const char *wrong = util_blob_is_foreign(b)
                            ? NULL
                            : subfile_check_header(&s->file.header, &b->facts, number);
    if (wrong != NULL) {
        report_fault(t, s->path, wrong);
        return false;
    }
    int err = subfile_digest_check_subfile(&s->file.header, &b->facts, s->path);
    if (err == NC_NOERR) err = subfile_list(&s->subfile);
    if (err == NC_NOERR && !util_blob_is_foreign(b)) {
        err = subfile_generation_check(&s->subfile, read_numbers, c->path, &s->behind);
        bool cut = b->facts.stage == CDF_COMPLETE &&
                   s->file.size < cdf_file_size(&s->file.header);
        if (err == NC_NOERR && cut)
            err = base_error_set(NC_ENOTNC, "%s: it was truncated", s->path);
    }
    report_error(t, err);
    return err == NC_NOERR;
}

/* Opens and checks a subfile. A job that was killed early may have left a subfile without
 * a header, which the superblock records. Such a file is valid and has no variables. */
static void open_sub(struct util_blob *b, const struct util_classic *c, int number,
                     struct reporter *t)
{
    struct util_blob_sub *s = &b->subs[number];
    struct stat st;
    if (stat(s->path, &st) != 0) {
        if (errno != ENOENT || util_blob_is_foreign(b))
            report_fault(t, s->path, strerror(errno));
        return;
    }
    if (!S_ISREG(st.st_mode)) {
        report_fault(t, s->path, "Not a regular file");
        return;
    }
    if (!b->facts.defined && subfile_is_blank(s->path)) {
        int err = subfile_list(&s->subfile);
        s->there = err == NC_NOERR;
        report_error(t, err);
        return;
    }
    if (st.st_size == 0) {
        report_fault(t, s->path, "it is empty: it was truncated");
        return;
    }
    if (util_classic_open_any(&s->file, c->tool, s->path) != 0) {
        s->file.fd = -1;
        t->status = -1;
        return;
    }
    s->there = read_header(b, c, number, t);
    /* The subfile is reopened when its values are needed, because there may be more
     * subfiles than descriptors. */
    close(s->file.fd);
    s->file.fd = -1;
}

/* Determines the decomposition of each variable, on which all existing subfiles must
 * agree. If another library wrote the dataset, also completes its header. */
static int find_numbers(struct util_blob *b, struct util_classic *c, struct reporter *t)
{
    const struct cdf_header *h = &c->header;
    struct subfile_tally tally;
    int err = subfile_tally_begin(&tally, &b->foreign, h->nvars);
    for (int64_t i = 0; i < b->facts.nsubfiles && err == NC_NOERR; i++)
        if (b->subs[i].there) subfile_tally_add(&tally, &b->subs[i].subfile);
    if (err == NC_NOERR && util_blob_is_foreign(b)) err = util_blob_assign(c, &tally);
    for (int id = 0; id < h->nvars && err == NC_NOERR; id++) {
        int differs = NC_NOERR;
        b->numbers[id] = util_blob_is_foreign(b)
                             ? b->foreign.locations[id].number
                             : subfile_tally_number(&tally, c->path, h, id, &differs);
        report_error(t, differs);
    }
    subfile_tally_free(&tally);
    return err;
}

/* Returns the index of a decomposition in the list. Adds the decomposition if new. */
static int decomposition(struct util_blob *b, int number, int varid, int64_t nelems)
{
    int i = 0;
    while (i < b->ndecomps &&
           (b->decomps[i].number != number || b->decomps[i].nelems != nelems))
        i++;
    if (i == b->ndecomps)
        b->decomps[b->ndecomps++] =
            (struct util_blob_decomp){.number = number, .varid = varid, .nelems = nelems};
    return i;
}

static int by_place(const void *a, const void *b)
{
    const struct util_blob_var *p = a, *q = b;
    if (p->record != q->record) return p->record - q->record;
    return (p->begin > q->begin) - (p->begin < q->begin);
}

/* Lists variables with values in blobs: fixed-size ones first, then by file offset. */
static void find_vars(struct util_blob *b, const struct cdf_header *h)
{
    for (int id = 0; id < h->nvars; id++) {
        const struct cdf_var *v = &h->vars[id];
        int number = b->numbers[id];
        if (number == 0 || v->nelems == 0) continue;
        int size = cdf_type_size(v->type);
        int d = decomposition(b, number, id, v->nelems);
        b->vars[b->nvars++] = (struct util_blob_var){.varid = id,
                                                     .decomp = d,
                                                     .size = size,
                                                     .begin = v->begin,
                                                     .bytes = v->nelems * size,
                                                     .record = v->is_record};
        if (!v->is_record) b->nfixed++;
    }
    if (b->nvars > 0) qsort(b->vars, (size_t)b->nvars, sizeof *b->vars, by_place);
}

/* ---- memory ---- */

static int reserve_subs(struct util_blob *b, const struct util_classic *c)
{
    char known[PATH_MAX];
    const char *master = realpath(c->path, known) == NULL ? c->path : known;
    for (int i = 0; i < b->facts.nsubfiles; i++) {
        struct util_blob_sub *s = &b->subs[i];
        s->of = b;
        s->file.fd = -1;
        s->path = util_blob_is_foreign(b) ? subfile_foreign_path(&b->foreign, master, i)
                                          : subfile_path(master, i);
        if (s->path == NULL) return NC_ENOMEM;
        s->subfile = (struct subfile){.facts = &b->facts,
                                      .master = &c->header,
                                      .foreign = &b->foreign,
                                      .cache = &b->cache,
                                      .h = &s->file.header,
                                      .path = s->path,
                                      .number = i,
                                      .read_log = read_log,
                                      .read_numbers = read_numbers,
                                      .who = s,
                                      .log = -1};
    }
    return NC_NOERR;
}

static int reserve(struct util_blob *b, const struct util_classic *c)
{
    size_t n = (size_t)c->header.nvars + 1;
    b->subs = base_calloc((size_t)b->facts.nsubfiles, sizeof *b->subs);
    b->vars = base_calloc(n, sizeof *b->vars);
    b->decomps = base_calloc(n, sizeof *b->decomps);
    b->numbers = base_calloc(n, sizeof *b->numbers);
    b->pieces = base_malloc(UTIL_BLOB_PIECES * sizeof *b->pieces);
    b->order = base_malloc(UTIL_BLOB_PIECES * sizeof *b->order);
    b->bytes = base_malloc(UTIL_BLOB_BYTES);
    if (b->subs == NULL || b->vars == NULL || b->decomps == NULL || b->pieces == NULL ||
        b->bytes == NULL || b->order == NULL || b->numbers == NULL)
        return NC_ENOMEM;
    return reserve_subs(b, c);
}

void util_blob_close(struct util_classic *c)
{
    struct util_blob *b = c->blob;
    if (b == NULL) return;
    for (int i = 0; b->subs != NULL && i < b->facts.nsubfiles; i++) {
        cdf_free(&b->subs[i].file.header);
        if (b->subs[i].file.fd >= 0) close(b->subs[i].file.fd);
        base_free(b->subs[i].path);
        subfile_free(&b->subs[i].subfile);
    }
    for (int i = 0; b->decomps != NULL && i < b->ndecomps; i++)
        subfile_index_free(&b->decomps[i].index);
    subfile_foreign_free(&b->foreign);
    base_free(b->head);
    base_free(b->subs);
    base_free(b->vars);
    base_free(b->decomps);
    base_free(b->numbers);
    base_free(b->pieces);
    base_free(b->order);
    subfile_runs_free(&b->runs);
    subfile_cache_free(&b->cache);
    base_free(b->bytes);
    base_free(b);
    c->blob = NULL;
}

static int read_facts(struct util_classic *c, struct util_blob *b)
{
    if (c->base == 0) return util_blob_compose(c);
    int err = subfile_read_superblock(c->path, &b->facts);
    if (err == NC_NOERR)
        err = subfile_digest_check_master(&c->header, &b->facts, c->fd, c->path);
    if (err == NC_NOERR)
        err = subfile_digest_check_bytes(c->header.format, &b->facts, c->fd, c->path);
    return err;
}

int util_blob_open(struct util_classic *c, util_blob_report_fn *report, void *to)
{
    struct reporter t = {report, to, 0};
    struct util_blob *b = c->blob = base_calloc(1, sizeof *b);
    int err = b == NULL ? NC_ENOMEM : read_facts(c, b);
    if (err == NC_NOERR) err = reserve(b, c);
    if (err != NC_NOERR) {
        bool named = c->base > 0 && err != NC_ENOMEM;
        report_fault(&t, named ? NULL : c->path, util_blob_message(err));
        util_blob_close(c);
        return -1;
    }
    int there = 0;
    for (int i = 0; i < b->facts.nsubfiles; i++) {
        open_sub(b, c, i, &t);
        there += b->subs[i].there;
    }
    b->nmissing = (int)b->facts.nsubfiles - there;
    if (there == 0 && t.status == 0)
        report_fault(&t, c->path, "none of its subfiles exists");
    err = find_numbers(b, c, &t);
    if (t.status == 0) report_error(&t, err);
    if (err != NC_NOERR) return -1;
    find_vars(b, &c->header);
    return t.status;
}

/* ---- maps ---- */

struct indexing {
    struct util_blob *b;
    const struct util_blob_decomp *d;
};

static int open_source(void *who, int number, struct subfile_decomp *s)
{
    struct indexing *x = who;
    struct util_blob_sub *sub = &x->b->subs[number];
    *s = (struct subfile_decomp){.nblobs = 0};
    if (!sub->there) return NC_NOERR;
    return subfile_find_decomp(&sub->subfile, x->d->number, x->d->varid, s);
}

/* Checks that all elements exist. No-op unless another library wrote the dataset and no
 * subfile is missing. */
static int check_count(const struct util_classic *c, struct util_blob_decomp *d)
{
    const struct util_blob *b = c->blob;
    if (!util_blob_is_foreign(b) || b->nmissing > 0) return NC_NOERR;
    return subfile_foreign_check_count(&b->foreign, &c->header, c->path, d->varid,
                                       &d->index, &d->found);
}

int util_blob_index(const struct util_classic *c, struct util_blob_decomp *d, int64_t at)
{
    struct util_blob *b = c->blob;
    struct indexing x = {.b = b, .d = d};
    bool known = at >= d->index.low && at < d->index.high;
    int err = subfile_decomp_read_index(&d->index, d->nelems, at, (int)b->facts.nsubfiles,
                                        open_source, &x);
    if (err == NC_NOERR && (at < d->index.low || at >= d->index.high))
        err = base_error_set(NC_ENOTNC, "too many blobs contain element %lld",
                             (long long)at);
    bool all = d->index.low == 0 && d->index.high == d->nelems;
    return err == NC_NOERR && all && !known ? check_count(c, d) : err;
}

/* Reports variables stored only in the master file if that file ends before their data.
 * No-op after a kill, because then the master file contains only completed puts. */
static void check_master(const struct util_classic *c, struct reporter *t)
{
    const struct cdf_header *h = &c->header;
    if (!util_blob_is_complete(c)) return;
    for (int id = 0; id < h->nvars; id++) {
        const struct cdf_var *v = &h->vars[id];
        char reason[NC_MAX_NAME + 64];
        int64_t last = v->is_record ? h->numrecs - 1 : 0;
        if (c->blob->numbers[id] != 0 || v->nelems == 0 || last < 0) continue;
        int64_t end = cdf_record_offset(h, v, last) + v->nelems * cdf_type_size(v->type);
        if (end <= c->size) continue;
        snprintf(reason, sizeof reason,
                 "variable '%s': the file ends before the end of its data", v->name);
        report_fault(t, c->path, reason);
    }
}

static int check_index(const struct util_classic *c, struct util_blob_decomp *d,
                       int64_t at)
{
    int err = util_blob_index(c, d, at);
    return err == NC_NOERR ? check_count(c, d) : err;
}

int util_blob_check(struct util_classic *c, util_blob_report_fn *report, void *to)
{
    struct reporter t = {report, to, 0};
    struct util_blob *b = c->blob;
    for (int i = 0; i < b->facts.nsubfiles; i++)
        if (!b->subs[i].there && access(b->subs[i].path, F_OK) != 0)
            report_fault(&t, b->subs[i].path, "this subfile is missing");
    check_master(c, &t);
    for (int i = 0; util_blob_is_foreign(b) && i < b->facts.nsubfiles; i++) {
        if (b->subs[i].there) report_error(&t, util_blob_find_cut(c, i));
    }
    for (int i = 0; i < b->ndecomps; i++) {
        struct util_blob_decomp *d = &b->decomps[i];
        int err = NC_NOERR;
        for (int64_t at = 0; at < d->nelems && err == NC_NOERR; at = d->index.high)
            err = check_index(c, d, at);
        if (err != NC_NOERR) report_fault(&t, c->path, util_blob_message(err));
    }
    return t.status;
}

int util_blob_count(const struct util_classic *c)
{
    if (c->blob == NULL) return 0;
    return util_blob_is_foreign(c->blob) ? subfile_foreign_subfiles(&c->blob->foreign)
                                         : (int)c->blob->facts.nsubfiles;
}

const char *util_blob_path(const struct util_classic *c, int number)
{
    return c->blob->subs[number].path;
}

static bool is_part(const struct util_classic *c, const struct stat *file)
{
    struct stat st;
    bool same = fstat(c->fd, &st) == 0 && base_same_file(&st, file);
    for (int i = 0; i < util_blob_count(c) && !same; i++)
        same = stat(util_blob_path(c, i), &st) == 0 && base_same_file(&st, file);
    return same;
}

const char *util_blob_refuses(const struct util_classic *c, const char *path, bool force)
{
    struct stat st;
    if (lstat(path, &st) != 0) return errno == ENOENT ? NULL : strerror(errno);
    if (!force) return strerror(EEXIST);
    if (stat(path, &st) != 0) return NULL; /* it is a dangling symbolic link */
    if (S_ISDIR(st.st_mode)) return strerror(EISDIR);
    if (!S_ISREG(st.st_mode)) return "Not a regular file";
    return is_part(c, &st) ? "this file is part of the dataset" : NULL;
}

const char *util_blob_why(const struct util_classic *c)
{
    return c->blob == NULL ? "" : c->blob->words;
}
