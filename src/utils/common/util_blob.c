/* Which subfiles there are, what they have, and whether it is right. */
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
#include "base_mem.h"
#include "blob_names.h"
#include "conv.h"
#include "util_blob_impl.h"

/* ---- what is reported ---- */

/* To whom, and whether there was anything. */
struct teller {
    util_blob_tell *tell;
    void *to;
    int status;
};

static void report_fault(struct teller *t, const char *path, const char *reason)
{
    t->tell(t->to, path, reason);
    t->status = -1;
}

/* ---- is a subfile one of this dataset? ---- */

/* Lists its variables by the master's. NULL, or what is wrong. */
static const char *list_vars(const struct cdf_header *master, bool framed,
                             struct util_blob_sub *s)
{
    struct cdf_header *h = &s->file.header;
    for (int id = 0; id < h->nvars; id++) {
        int varid;
        const char *wrong = blob_source_variable(h, id, master, &varid);
        if (wrong != NULL) return wrong;
        if (varid < 0) continue;
        if (blob_source_is_framed(h, id) != framed)
            return "a variable is not as the master file has it";
        s->varids[varid] = id;
    }
    return NULL;
}

/* ---- opening ---- */

static bool take_header(struct util_blob *b, const struct util_classic *c, int number,
                        struct teller *t)
{
    const struct cdf_header *master = &c->header;
    struct util_blob_sub *s = &b->subs[number];
    struct cdf_fault fault = {.reason = "it is behind an envelope itself"};
    if (s->file.base > 0 || util_classic_try(&s->file, &fault) != 0) {
        if (fault.reason[0] == '\0')
            t->status = -1;
        else
            report_fault(t, s->path, fault.reason);
        return false;
    }
    if (util_blob_is_foreign(b)) {
        int err = blob_foreign_list(&b->foreign, master, &s->file.header, s->path, number,
                                    s->varids);
        if (err != NC_NOERR) report_fault(t, NULL, base_error_detail(err));
        return err == NC_NOERR;
    }
    const char *wrong = blob_source_foreign(&s->file.header, &b->facts, number);
    if (wrong == NULL) wrong = list_vars(master, b->facts.framed, s);
    if (wrong == NULL && b->facts.framed) wrong = util_blob_log_find(s);
    if (wrong == NULL) wrong = util_blob_wrong_moment(b, c, number);
    if (wrong == NULL) wrong = util_blob_wrong_size(b, number);
    if (wrong == NULL) return true;
    report_fault(t, s->path, wrong);
    return false;
}

/* One of no bytes, of a job that was killed early, is there and has no variables. */
static void open_sub(struct util_blob *b, const struct util_classic *c, int number,
                     struct teller *t)
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
    if (st.st_size == 0) {
        s->there = !b->facts.defined;
        if (b->facts.defined) report_fault(t, s->path, "it is empty: it was cut off");
        return;
    }
    if (util_classic_open_any(&s->file, c->tool, s->path) != 0) {
        s->file.fd = -1;
        t->status = -1;
        return;
    }
    s->there = take_header(b, c, number, t);
    /* Opened again when its values are wanted: there may be more than descriptors. */
    close(s->file.fd);
    s->file.fd = -1;
}

/* The number that all subfiles that are there give a variable; 0: they do not. */
static int64_t number_of(const struct util_blob *b, int varid)
{
    if (util_blob_is_foreign(b)) return b->foreign.homes[varid].number;
    int64_t common = 0;
    for (int64_t i = 0; i < b->facts.nsubfiles; i++) {
        struct util_blob_sub *s = &b->subs[i];
        int64_t number = 0;
        if (!s->there) continue;
        int id = s->varids[varid];
        if (id < 0) return 0;
        (void)blob_source_att(&s->file.header, id, BLOB_ATT_DECOMPOSITION, &number, 1);
        if (!cdf_is_committed(&b->facts, number)) return 0;
        if (common != 0 && number != common) return 0;
        common = number;
    }
    return common;
}

/* The decomposition of a variable, one more if it is new. */
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

/* Variables that are in blobs, fixed ones first, in the order of the file. */
static void find_vars(struct util_blob *b, const struct cdf_header *h)
{
    for (int id = 0; id < h->nvars; id++) {
        const struct cdf_var *v = &h->vars[id];
        int64_t number = number_of(b, id);
        if (number == 0 || v->nelems == 0) continue;
        int size = cdf_type_size(v->type);
        int d = decomposition(b, (int)number, id, v->nelems);
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
        size_t n = (size_t)c->header.nvars + 1;
        s->file.fd = -1;
        s->path = util_blob_is_foreign(b) ? blob_foreign_path(&b->foreign, master, i)
                                          : blob_source_path(master, i);
        s->varids = base_malloc(n * sizeof *s->varids);
        if (s->path == NULL || s->varids == NULL) return NC_ENOMEM;
        for (size_t k = 0; k < n; k++)
            s->varids[k] = -1;
    }
    return NC_NOERR;
}

static int reserve(struct util_blob *b, const struct util_classic *c)
{
    size_t n = (size_t)c->header.nvars + 1;
    b->subs = base_calloc((size_t)b->facts.nsubfiles, sizeof *b->subs);
    b->vars = base_calloc(n, sizeof *b->vars);
    b->decomps = base_calloc(n, sizeof *b->decomps);
    b->wants = base_malloc(UTIL_BLOB_WANTS * sizeof *b->wants);
    b->order = base_malloc(UTIL_BLOB_WANTS * sizeof *b->order);
    b->bytes = base_malloc(UTIL_BLOB_BYTES);
    if (b->subs == NULL || b->vars == NULL || b->decomps == NULL || b->wants == NULL ||
        b->bytes == NULL || b->order == NULL)
        return NC_ENOMEM;
    int err = b->facts.framed ? util_blob_frames_open(b) : NC_NOERR;
    return err == NC_NOERR ? reserve_subs(b, c) : err;
}

void util_blob_close(struct util_classic *c)
{
    struct util_blob *b = c->blob;
    if (b == NULL) return;
    for (int i = 0; b->subs != NULL && i < b->facts.nsubfiles; i++) {
        cdf_free(&b->subs[i].file.header);
        if (b->subs[i].file.fd >= 0) close(b->subs[i].file.fd);
        base_free(b->subs[i].path);
        base_free(b->subs[i].varids);
        util_blob_rows_free(&b->subs[i].rows);
    }
    for (int i = 0; b->decomps != NULL && i < b->ndecomps; i++)
        blob_index_free(&b->decomps[i].index);
    blob_foreign_free(&b->foreign);
    base_free(b->head);
    base_free(b->subs);
    base_free(b->vars);
    base_free(b->decomps);
    base_free(b->wants);
    base_free(b->order);
    blob_runs_free(&b->runs);
    util_blob_frames_close(b);
    base_free(b->bytes);
    base_free(b);
    c->blob = NULL;
}

static int read_facts(struct util_classic *c, struct util_blob *b)
{
    return c->base == 0 ? util_blob_take_whole(c)
                        : blob_source_envelope(c->path, &b->facts);
}

int util_blob_open(struct util_classic *c, util_blob_tell *tell, void *to)
{
    struct teller t = {tell, to, 0};
    struct util_blob *b = c->blob = base_calloc(1, sizeof *b);
    int err = b == NULL ? NC_ENOMEM : read_facts(c, b);
    if (err == NC_NOERR) err = reserve(b, c);
    if (err != NC_NOERR) {
        report_fault(&t, c->path, base_error_detail(err));
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
        report_fault(&t, c->path, "none of its subfiles is there");
    if (util_blob_is_foreign(b)) err = util_blob_take_homes(c);
    if (err != NC_NOERR && t.status == 0) report_fault(&t, NULL, base_error_detail(err));
    if (err != NC_NOERR) return -1;
    find_vars(b, &c->header);
    return t.status;
}

/* ---- maps ---- */

int util_blob_fd(struct util_blob *b, int number)
{
    enum { MOST_OPEN = 128 };
    struct util_blob_sub *s = &b->subs[number];
    if (s->file.fd >= 0) return s->file.fd;
    s->file.fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (s->file.fd < 0 || b->nopen < MOST_OPEN) {
        b->nopen += s->file.fd >= 0;
        return s->file.fd;
    }
    /* The next one in turn is closed in its place. */
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
    int64_t got = util_blob_fd(b, number) < 0
                      ? -1
                      : util_classic_read(&s->file, at, bytes, (size_t)n);
    if (got < 0) return base_error_system(NC_EREAD, "reading", s->path);
    memset((char *)bytes + got, 0, (size_t)(n - got));
    return NC_NOERR;
}

int util_blob_cut(const struct util_blob_sub *s, const struct cdf_var *v)
{
    return base_error_set(NC_ENOTNC,
                          "%s: offset %lld: variable '%s': the file ends before its data "
                          "do",
                          s->path, (long long)s->file.size, v->name);
}

int util_blob_numbers(struct util_blob *b, int number, const struct blob_numbers *list)
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
    return base_error_set(NC_ENOTNC, "%s: variable '%s' has no numbers", s->path,
                          v->name);
}

/* Who reads numbers of maps. */
struct map_reader {
    struct util_blob *b;
    int number;
};

static int read_numbers(void *who, const struct blob_numbers *lists, int n, int error)
{
    const struct map_reader *r = who;
    for (int i = 0; i < n && error == NC_NOERR; i++)
        error = util_blob_numbers(r->b, r->number, &lists[i]);
    return error;
}

int64_t util_blob_group_size(const struct util_blob *b, int64_t group)
{
    const struct cdf_envelope *e = &b->facts;
    int64_t round = e->nsubfiles - 1;
    return ((group + 1) * e->nprocs + round) / e->nsubfiles -
           (group * e->nprocs + round) / e->nsubfiles;
}

/* No more blobs than there can be, whatever the file says. */
static int check_blobs(const struct util_blob *b, const struct blob_source *s)
{
    int64_t of = util_blob_group_size(b, s->sub);
    if (s->nblobs == of) return NC_NOERR;
    return base_error_set(NC_ENOTNC, "%s: decomposition D%d has %lld blobs, not %lld",
                          s->path, s->decomposition, (long long)s->nblobs, (long long)of);
}

int util_blob_source(const struct util_blob *b, int number, int id,
                     const struct util_blob_decomp *d, struct blob_source *s)
{
    struct util_blob_sub *sub = &b->subs[number];
    *s = (struct blob_source){
        .h = &sub->file.header, .path = sub->path, .sub = number, .size = sub->file.size};
    if (util_blob_is_foreign(b))
        return blob_foreign_source(&b->foreign, b->whole, d->varid, id, s);
    int64_t nelems = blob_source_nelems(s->h, id, d->number);
    int err = blob_source_find(s, d->number, nelems, d->nelems);
    return err == NC_NOERR ? check_blobs(b, s) : err;
}

struct indexing {
    struct util_blob *b;
    const struct util_blob_decomp *d;
    struct map_reader reader;
};

static int open_source(void *who, int number, struct blob_source *s)
{
    struct indexing *x = who;
    struct util_blob_sub *sub = &x->b->subs[number];
    *s = (struct blob_source){.nblobs = 0};
    if (!sub->there) return NC_NOERR;
    x->reader = (struct map_reader){x->b, number};
    int err = util_blob_source(x->b, number, sub->varids[x->d->varid], x->d, s);
    s->numbers = read_numbers;
    s->who = &x->reader;
    return err;
}

/* In another library's dataset, which is whole: are all elements there that should be? */
static int check_count(const struct util_classic *c, struct util_blob_decomp *d)
{
    const struct util_blob *b = c->blob;
    if (!util_blob_is_foreign(b) || b->nmissing > 0) return NC_NOERR;
    return blob_foreign_count(&b->foreign, &c->header, c->path, d->varid, &d->index,
                              &d->found);
}

int util_blob_index(const struct util_classic *c, struct util_blob_decomp *d, int64_t at)
{
    struct util_blob *b = c->blob;
    struct indexing x = {.b = b, .d = d};
    bool known = at >= d->index.low && at < d->index.high;
    int err = blob_source_index(&d->index, d->nelems, at, (int)b->facts.nsubfiles,
                                open_source, &x);
    if (err == NC_NOERR && (at < d->index.low || at >= d->index.high))
        err =
            base_error_set(NC_ENOTNC, "too many blobs have element %lld", (long long)at);
    bool all = d->index.low == 0 && d->index.high == d->nelems;
    return err == NC_NOERR && all && !known ? check_count(c, d) : err;
}

/* Has the master file all values of the variables that are there alone? Where a job was
 * killed it has those whose puts had returned. */
static void check_master(const struct util_classic *c, struct teller *t)
{
    const struct cdf_header *h = &c->header;
    if (!util_blob_is_complete(c)) return;
    for (int id = 0; id < h->nvars; id++) {
        const struct cdf_var *v = &h->vars[id];
        char reason[NC_MAX_NAME + 64];
        int64_t last = v->is_record ? h->numrecs - 1 : 0;
        if (number_of(c->blob, id) != 0 || v->nelems == 0 || last < 0) continue;
        int64_t end = cdf_record_offset(h, v, last) + v->nelems * cdf_type_size(v->type);
        if (end <= c->size) continue;
        snprintf(reason, sizeof reason, "variable '%s': the file ends before its data do",
                 v->name);
        report_fault(t, c->path, reason);
    }
}

static int check_index(const struct util_classic *c, struct util_blob_decomp *d,
                       int64_t at)
{
    int err = util_blob_index(c, d, at);
    return err == NC_NOERR ? check_count(c, d) : err;
}

int util_blob_check(struct util_classic *c, util_blob_tell *tell, void *to)
{
    struct teller t = {tell, to, 0};
    struct util_blob *b = c->blob;
    for (int i = 0; i < b->facts.nsubfiles; i++)
        if (!b->subs[i].there && access(b->subs[i].path, F_OK) != 0)
            report_fault(&t, b->subs[i].path, "this subfile is missing");
    check_master(c, &t);
    for (int i = 0; util_blob_is_foreign(b) && i < b->facts.nsubfiles; i++) {
        int err = b->subs[i].there ? util_blob_find_cut(c, i) : NC_NOERR;
        if (err != NC_NOERR) report_fault(&t, NULL, base_error_detail(err));
    }
    for (int i = 0; i < b->ndecomps; i++) {
        struct util_blob_decomp *d = &b->decomps[i];
        int err = NC_NOERR;
        for (int64_t at = 0; at < d->nelems && err == NC_NOERR; at = d->index.high)
            err = check_index(c, d, at);
        if (err != NC_NOERR) report_fault(&t, c->path, base_error_detail(err));
    }
    return t.status;
}

int util_blob_count(const struct util_classic *c)
{
    if (c->blob == NULL) return 0;
    return util_blob_is_foreign(c->blob) ? blob_foreign_subfiles(&c->blob->foreign)
                                         : (int)c->blob->facts.nsubfiles;
}

const char *util_blob_path(const struct util_classic *c, int number)
{
    return c->blob->subs[number].path;
}

static bool is_part(const struct util_classic *c, const struct stat *file)
{
    struct stat st;
    bool same =
        fstat(c->fd, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
    for (int i = 0; i < util_blob_count(c) && !same; i++)
        same = stat(util_blob_path(c, i), &st) == 0 && st.st_dev == file->st_dev &&
               st.st_ino == file->st_ino;
    return same;
}

const char *util_blob_refuses(const struct util_classic *c, const char *path, bool force)
{
    struct stat st;
    if (lstat(path, &st) != 0) return errno == ENOENT ? NULL : strerror(errno);
    if (!force) return strerror(EEXIST);
    if (stat(path, &st) != 0) return NULL; /* a link that leads nowhere */
    if (S_ISDIR(st.st_mode)) return strerror(EISDIR);
    if (!S_ISREG(st.st_mode)) return "Not a regular file";
    return is_part(c, &st) ? "the dataset is in this file" : NULL;
}

const char *util_blob_why(const struct util_classic *c)
{
    return c->blob == NULL ? "" : c->blob->words;
}
