/* A subfile whose values are in frames, written anew without the frames, chains and pages
 * that nothing refers to. */
#include "util_blob_compact.h"

#include <string.h>

#include "base_bytes.h"
#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_sum.h"
#include "blob_frame.h"
#include "blob_names.h"
#include "util_blob_impl.h"

enum { NUMRECS_AT = 4, NUMRECS = 8 }; /* in the header of a CDF-5 file */

struct compacting {
    const struct util_classic *c;
    struct util_blob *b;
    int number, fd;
    const char *path;  /* of the new file */
    int64_t log, end;  /* where its log begins in it; how long that is */
    int64_t nbuffered; /* the last bytes of it are not in the file yet */
    char *buffer;      /* UTIL_BLOB_BYTES */
};

/* ---- the new log ---- */

static int flush(struct compacting *x)
{
    int64_t at = x->log + x->end - x->nbuffered, n = x->nbuffered;
    x->nbuffered = 0;
    return n == 0 ? NC_NOERR : base_write_at(x->fd, at, x->buffer, n, x->path);
}

static int append(struct compacting *x, const void *bytes, int64_t n)
{
    int err = x->nbuffered + n > UTIL_BLOB_BYTES ? flush(x) : NC_NOERR;
    if (err != NC_NOERR) return err;
    if (n > UTIL_BLOB_BYTES)
        err = base_write_at(x->fd, x->log + x->end, bytes, n, x->path);
    else
        memcpy(x->buffer + x->nbuffered, bytes, (size_t)n);
    if (n <= UTIL_BLOB_BYTES) x->nbuffered += n;
    x->end += n;
    return err;
}

/* ---- one blob of a record ---- */

static int copy_frames(struct compacting *x, const struct util_blob_row *r, int64_t blob,
                       struct blob_chain *chain, int64_t n)
{
    int err = NC_NOERR;
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        const unsigned char *bytes;
        struct blob_frame *f = &chain->frames[i];
        err = util_blob_framed_bytes(r, blob, i, f, &bytes);
        f->at = x->end;
        if (err == NC_NOERR) err = append(x, bytes, f->bytes);
    }
    return err;
}

static int copy_blob(struct compacting *x, const struct util_blob_row *r, int64_t blob,
                     struct blob_place *place)
{
    const struct cdf_envelope *e = &x->b->facts;
    struct blob_chain chain;
    *place = (struct blob_place){0, 0};
    int err = util_blob_framed_chain(r, blob, &chain);
    int64_t n = err == NC_NOERR ? blob_chain_frames(chain.nelems * chain.size) : 0;
    if (n == 0) return err;
    int64_t bytes = blob_chain_bytes(n);
    unsigned char *encoded = base_malloc((size_t)bytes);
    chain.frames = base_malloc((size_t)n * sizeof *chain.frames);
    err = encoded == NULL || chain.frames == NULL ? util_blob_no_memory() : NC_NOERR;
    if (err == NC_NOERR) err = copy_frames(x, r, blob, &chain, n);
    if (err == NC_NOERR) {
        blob_chain_encode(&chain, e->token[0] ^ e->token[1], encoded);
        *place = (struct blob_place){x->end, bytes};
        err = append(x, encoded, bytes);
    }
    base_free(encoded);
    base_free(chain.frames);
    return err;
}

/* ---- tables ---- */

/* The places go to `at` of the new log. */
static int copy_row(struct compacting *x, const struct util_blob_row *r, int64_t at)
{
    int64_t n;
    int err = util_blob_framed_blobs(r, &n);
    unsigned char *row = base_malloc((size_t)n * BLOB_PLACE + 1);
    if (err == NC_NOERR && row == NULL) err = util_blob_no_memory();
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        struct blob_place place;
        err = copy_blob(x, r, i, &place);
        blob_place_encode(&place, row + i * BLOB_PLACE);
    }
    if (err == NC_NOERR)
        err = base_write_at(x->fd, x->log + at, row, n * BLOB_PLACE, x->path);
    base_free(row);
    return err;
}

/* A page, and what it refers to, behind it. */
static int copy_page(struct compacting *x, struct util_blob_row *r, int level)
{
    int64_t nblobs = util_blob_group_size(x->b, x->number), page = x->end;
    int64_t first = (INT64_C(1) << level) - 1, end = first + (INT64_C(1) << level);
    int64_t records = r->var->record ? x->c->header.numrecs : 1;
    int err = flush(x);
    x->end += blob_page_bytes(level, nblobs);
    for (int64_t i = first; i < end && i < records && err == NC_NOERR; i++) {
        r->record = i;
        err = copy_row(x, r, blob_place_at(page, i, nblobs, 0));
    }
    return err;
}

static int write_levels(const struct compacting *x, int id, const int64_t *levels)
{
    const struct cdf_var *v = &x->b->subs[x->number].file.header.vars[id];
    unsigned char bytes[BLOB_LEVELS * 8], *at = bytes;
    for (int k = 0; k < BLOB_LEVELS; k++)
        at = base_put_word(at, (uint64_t)levels[k]);
    return base_write_at(x->fd, v->begin, bytes, sizeof bytes, x->path);
}

static int copy_variable(struct compacting *x, const struct util_blob_var *v)
{
    struct util_blob_row row = {x->c, x->number, v, 0};
    int64_t was[BLOB_LEVELS], now[BLOB_LEVELS] = {0};
    int id = x->b->subs[x->number].varids[v->varid];
    int64_t records = v->record ? x->c->header.numrecs : 1;
    int err = id < 0 ? NC_NOERR : util_blob_levels(x->b, x->number, v, was);
    for (int k = 0; k < BLOB_LEVELS && id >= 0 && err == NC_NOERR; k++) {
        if (was[k] == 0 || (INT64_C(1) << k) > records) continue;
        if (!util_blob_page_is_there(x->b, x->number, k, was[k]))
            return base_error_set(NC_ENOTNC,
                                  "%s: variable '%s': a page of its table is outside of "
                                  "the log",
                                  x->b->subs[x->number].path,
                                  x->c->header.vars[v->varid].name);
        now[k] = x->end;
        err = copy_page(x, &row, k);
    }
    return err == NC_NOERR && id >= 0 ? write_levels(x, id, now) : err;
}

/* ---- the file ---- */

/* All that lies before the log; tables without a page, as nothing refers to values of a
 * variable that was never settled. */
static int copy_front(struct compacting *x)
{
    const int64_t none[BLOB_LEVELS] = {0};
    const struct cdf_header *h = &x->b->subs[x->number].file.header;
    int err = NC_NOERR;
    for (int64_t at = 0, n; at < x->log && err == NC_NOERR; at += n) {
        n = x->log - at < UTIL_BLOB_BYTES ? x->log - at : UTIL_BLOB_BYTES;
        err = util_blob_bytes(x->b, x->number, at, x->buffer, n);
        if (err == NC_NOERR) err = base_write_at(x->fd, at, x->buffer, n, x->path);
    }
    for (int id = 0; id < h->nvars && err == NC_NOERR; id++)
        if (blob_source_is_framed(h, id) && h->vars[id].nelems == BLOB_LEVELS)
            err = write_levels(x, id, none);
    return err;
}

static int finish(struct compacting *x)
{
    unsigned char numrecs[NUMRECS];
    int err = flush(x);
    (void)base_put_word(numrecs, (uint64_t)x->end);
    if (err == NC_NOERR) err = base_resize(x->fd, x->log + x->end, x->path);
    return err == NC_NOERR ? base_write_at(x->fd, NUMRECS_AT, numrecs, NUMRECS, x->path)
                           : err;
}

/* Can the log be written anew without a look at anything else? */
static int check_layout(const struct util_blob_sub *s)
{
    const struct cdf_header *h = &s->file.header;
    bool good = h->format == 5;
    for (int id = 0; id < h->nvars; id++)
        good = good && (h->vars[id].is_record || h->vars[id].begin < s->log);
    if (good) return NC_NOERR;
    return base_error_set(NC_ENOTNC, "%s: its log of frames is not the last part of it",
                          s->path);
}

int util_blob_compact(const struct util_classic *c, int number, int fd, const char *path,
                      int64_t *saved)
{
    static const unsigned char unused[BLOB_LOG_BEGIN];
    struct util_blob *b = c->blob;
    const struct util_blob_sub *s = &b->subs[number];
    struct compacting x = {
        .c = c, .b = b, .number = number, .fd = fd, .path = path, .log = s->log};
    int err = check_layout(s);
    if (err != NC_NOERR) return err;
    x.buffer = base_malloc(UTIL_BLOB_BYTES);
    if (x.buffer == NULL) return util_blob_no_memory();
    err = copy_front(&x);
    if (err == NC_NOERR) err = append(&x, unused, sizeof unused);
    for (int i = 0; i < b->nvars && err == NC_NOERR; i++)
        err = copy_variable(&x, &b->vars[i]);
    if (err == NC_NOERR) err = finish(&x);
    base_free(x.buffer);
    *saved = s->file.size - x.log - x.end;
    return err;
}

bool util_blob_has_frames(const struct util_classic *c)
{
    return c->blob != NULL && c->blob->facts.framed;
}

bool util_blob_is_empty(const struct util_classic *c, int number)
{
    return c->blob->subs[number].file.size == 0;
}
