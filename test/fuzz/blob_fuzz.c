/* Fuzz target for datasets in subfiles, for libFuzzer and replay.c. Decodes the input as
 * the first page of a master file and as a subfile. The input must be rejected with an
 * error message, or result in maps whose pieces are sorted and inside the variable. The
 * maps' numbers are taken from the end of the input, regardless of the offset in the
 * header. */
#include "cdf_fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "pnetcdf_constants.h"
#include "subfile.h"
#include "subfile_decomp.h"
#include "subfile_generation.h"
#include "subfile_names.h"

const char fuzz_corpus[] = "blob-corpus";

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);      \
            abort();                                                                     \
        }                                                                                \
    } while (0)

/* ---- the first page ---- */

/* Offset of the page's checksum, and offset of the second range that the checksum covers.
 * The first range consists of the bytes before the checksum. */
enum { SUM_AT = 112, REST_AT = 640 };

static uint64_t add(uint64_t sum, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(1099511628211);
    return sum;
}

static void seal(unsigned char *page)
{
    uint64_t sum = add(UINT64_C(14695981039346656037), page, SUM_AT);
    sum = add(sum, page + REST_AT, CDF_SUPERBLOCK - REST_AT);
    for (int i = 7; i >= 0; i--, sum >>= 8)
        page[SUM_AT + i] = (unsigned char)sum;
}

static void check_page(const uint8_t *data, size_t size)
{
    unsigned char page[CDF_SUPERBLOCK] = {0}, again[CDF_SUPERBLOCK];
    struct cdf_superblock e, same;
    memcpy(page, data, size < sizeof page ? size : sizeof page);
    seal(page);
    int err = cdf_decode_superblock(&e, page, size % 2 == 0 ? size : sizeof page);
    CHECK(err == NC_NOERR || *base_error_detail(err) != '\0');
    if (err != NC_NOERR) return;
    CHECK(e.nprocs > 0 && e.nsubfiles > 0 && e.nsubfiles <= e.nprocs);
    cdf_encode_superblock(&e, again);
    CHECK(cdf_decode_superblock(&same, again, sizeof again) == NC_NOERR);
    CHECK(e.nprocs == same.nprocs && e.nsubfiles == same.nsubfiles);
    CHECK(e.token[0] == same.token[0] && e.token[1] == same.token[1]);
    CHECK(e.defined == same.defined && e.purpose == same.purpose);
    CHECK(e.stage == same.stage);
    CHECK(memcmp(&e.now, &same.now, sizeof e.now) == 0);
    CHECK(memcmp(&e.before, &same.before, sizeof e.before) == 0);
    CHECK(memcmp(e.owner, same.owner, sizeof e.owner) == 0);
    CHECK(memcmp(e.committed, same.committed, sizeof e.committed) == 0);
}

/* ---- a subfile ---- */

enum { Y = 4, X = 6, BLOBS = 2 };

static int make_master(struct cdf_header *h)
{
    int dims[3], id;
    const struct cdf_padding room = {.header_minfree = 0};
    cdf_init(h, 5);
    int err = cdf_def_dim(h, "time", 0, &dims[0]);
    if (err == NC_NOERR) err = cdf_def_dim(h, "y", Y, &dims[1]);
    if (err == NC_NOERR) err = cdf_def_dim(h, "x", X, &dims[2]);
    if (err == NC_NOERR) err = cdf_def_var(h, "fixed", NC_INT, 2, dims + 1, &id);
    if (err == NC_NOERR) err = cdf_def_var(h, "record", NC_DOUBLE, 3, dims, &id);
    if (err == NC_NOERR) err = cdf_def_var(h, "rest", NC_SHORT, 1, dims + 2, &id);
    return err == NC_NOERR ? cdf_layout(h, NULL, &room) : err;
}

/* The end of the input, from which the maps' numbers are taken. */
struct tail {
    const uint8_t *bytes;
    size_t length;
    struct cdf_header *h;
};

/* Makes up the values of a list: converts bytes from the tail to numbers, some of them
 * large. */
static int take_list(const struct tail *t, const struct subfile_numbers *l)
{
    static const int64_t large[] = {INT64_MAX, INT64_MIN, (int64_t)1 << 40, -1};
    const struct cdf_var *v = &t->h->vars[l->varid];
    CHECK(l->row >= 0 && l->first >= 0 && l->n >= 0);
    CHECK(l->n <= v->shape[v->ndims - 1] - l->first);
    CHECK(l->row == 0 || (v->ndims == 2 && l->row < v->shape[0]));
    if (t->length == 0) return NC_EREAD;
    for (int64_t i = 0; i < l->n; i++) {
        uint64_t at = (uint64_t)(8 * l->varid + 4 * l->row + l->first + i);
        uint8_t byte = t->bytes[at % t->length];
        l->values[i] = byte < 252 ? byte : large[byte - 252];
    }
    return NC_NOERR;
}

static int numbers(void *who, const struct subfile_numbers *lists, int n, int error)
{
    int err = error;
    for (int i = 0; i < n && err == NC_NOERR; i++)
        err = take_list(who, &lists[i]);
    return err;
}

/* The subfiles from which maps are read: one subfile, or two identical ones. */
struct opening {
    struct subfile files[2];
    struct tail tail;
    int number, id;
    int64_t limit;
};

static int open_source(void *who, int number, struct subfile_decomp *s)
{
    static const struct cdf_superblock facts;
    struct opening *o = who;
    o->files[number] = (struct subfile){.facts = &facts,
                                        .h = o->tail.h,
                                        .path = "subfile",
                                        .number = number,
                                        .read_numbers = numbers,
                                        .who = &o->tail};
    *s = (struct subfile_decomp){.file = &o->files[number], .read = numbers};
    int64_t nelems = subfile_nelems(o->tail.h, o->id, o->number);
    int err = subfile_decomp_find(s, o->number, nelems, o->limit);
    if (err == NC_NOERR && s->nblobs > BLOBS)
        err = base_error_set(NC_ENOTNC, "too many blobs");
    return err;
}

static void check_index(const struct subfile_index *x, const struct opening *o,
                        int64_t at)
{
    int64_t nelems = subfile_nelems(o->tail.h, o->id, o->number);
    CHECK(x->low >= 0 && x->low <= at && at < x->high && x->high <= o->limit);
    for (int64_t i = 0; i < x->n; i++) {
        const struct subfile_piece *p = &x->pieces[i];
        CHECK(p->at >= 0 && p->n > 0 && p->n <= o->limit - p->at);
        CHECK(p->pos >= 0 && p->n <= nelems - p->pos);
        CHECK(i == 0 || p->at >= p[-1].at + p[-1].n);
    }
    CHECK(subfile_index_find(x, at) <= x->n);
}

static void check_maps(struct opening *o, int nsubs)
{
    struct subfile_index x = {.n = 0};
    int err = NC_NOERR;
    for (int64_t at = 0; at < o->limit && err == NC_NOERR; at = x.high) {
        err = subfile_decomp_read_index(&x, o->limit, at, nsubs, open_source, o);
        CHECK(err == NC_NOERR || *base_error_detail(err) != '\0' || err == NC_EREAD);
        if (err == NC_NOERR) check_index(&x, o, at);
    }
    subfile_index_free(&x);
}

static void check_variable(struct cdf_header *h, const struct cdf_header *master, int id,
                           const uint8_t *data, size_t size)
{
    struct opening o = {.id = id};
    int varid;
    int64_t number = 0;
    const char *wrong = subfile_get_varid(h, id, master, &varid);
    CHECK(wrong == NULL || *wrong != '\0');
    if (wrong != NULL || varid < 0) return;
    CHECK(varid < master->nvars);
    (void)subfile_get_att(h, id, SUBFILE_ATT_DECOMPOSITION, &number, 1);
    if (number < 1 || number > 99) return;
    size_t tail = size < 128 ? size : 128;
    o.tail = (struct tail){data + size - tail, tail, h};
    o.number = (int)number;
    o.limit = master->vars[varid].nelems;
    check_maps(&o, 1 + (int)(size % 2));
}

static void check_subfile(const uint8_t *data, size_t size)
{
    struct cdf_header h, master;
    struct cdf_fault fault;
    struct cdf_superblock e = {.nprocs = 2, .nsubfiles = 1, .token = {1, 2}};
    if (cdf_decode(&h, data, size, INT64_MAX, &fault) != NC_NOERR) return;
    CHECK(make_master(&master) == NC_NOERR);
    const char *wrong = subfile_check_header(&h, &e, 0);
    CHECK(wrong == NULL || *wrong != '\0');
    int moment = subfile_generation_var(&h);
    CHECK(moment < h.nvars);
    for (int id = 0; id < h.nvars && id < 64; id++)
        check_variable(&h, &master, id, data, size);
    cdf_free(&h);
    cdf_free(&master);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t memory = base_mem_in_use();
    if (size > 0) {
        check_page(data, size);
        check_subfile(data, size);
    }
    CHECK(base_mem_in_use() == memory);
    return 0;
}
