/* Rewrites a subfile whose values are in frames, and drops data that nothing refers to.
 *
 * The part of the subfile before the log is copied unchanged, with empty tables. Then
 * each table page is copied to the new log, followed by the chains and frames that it
 * refers to. Finally the tables and the length of the log are set. Frames, chains and
 * pages that nothing refers to are not copied. */
#include "util_blob_compact.h"

#include <string.h>

#include "base_bytes.h"
#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "subfile_digest.h"
#include "subfile_names.h"
#include "util_blob_impl.h"

enum { NUMRECS_AT = 4, NUMRECS = 8 }; /* offset and size of the record count in CDF-5 */

struct compacting {
    const struct util_classic *c;
    struct util_blob *b;
    int number, fd;
    const char *path;  /* path of the new file */
    int64_t log, end;  /* offset of the log in the new file; length of the log in bytes */
    int64_t nbuffered; /* bytes at the end of the log that are only in the buffer */
    char *buffer;      /* UTIL_BLOB_BYTES bytes */
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

/* Copies the frames of a chain, and sets their offsets in the new log. */
static int copy_frames(struct compacting *x, const struct subfile_chain *from,
                       struct subfile_frame *frames, int64_t n)
{
    int err = NC_NOERR;
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        const unsigned char *bytes;
        frames[i] = from->frames[i];
        frames[i].at = x->end;
        err = subfile_read_frame(&x->b->subs[x->number].subfile, from, i, &bytes);
        if (err == NC_NOERR) err = append(x, bytes, frames[i].bytes);
    }
    return err;
}

static int copy_blob(struct compacting *x, const struct util_blob_row *r, int64_t number,
                     struct subfile_place *place)
{
    struct subfile_blob blob = {.number = number};
    const struct subfile_chain *from;
    *place = (struct subfile_place){0, 0};
    int err = util_blob_framed_chain(r, &blob, &from);
    if (err != NC_NOERR || from == NULL) return err;
    int64_t n = subfile_chain_frames(from->nelems * from->size),
            bytes = subfile_chain_size(n);
    struct subfile_chain chain = *from;
    unsigned char *encoded = base_malloc((size_t)bytes);
    chain.frames = base_malloc((size_t)n * sizeof *chain.frames);
    err = encoded == NULL || chain.frames == NULL ? util_blob_no_memory() : NC_NOERR;
    if (err == NC_NOERR) err = copy_frames(x, from, chain.frames, n);
    if (err == NC_NOERR) {
        subfile_chain_encode(&chain, subfile_seed(&x->b->facts), encoded);
        *place = (struct subfile_place){x->end, bytes};
        err = append(x, encoded, bytes);
    }
    base_free(encoded);
    base_free(chain.frames);
    return err;
}

/* ---- tables ---- */

/* Copies a row of a table, with its chains and frames. Writes its places at offset `at`
 * of the new log. */
static int copy_row(struct compacting *x, const struct util_blob_row *r, int64_t at)
{
    int64_t n = subfile_nblobs(&x->b->facts, x->number);
    unsigned char *row = base_malloc((size_t)n * SUBFILE_PLACE + 1);
    int err = row == NULL ? util_blob_no_memory() : NC_NOERR;
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        struct subfile_place place;
        err = copy_blob(x, r, i, &place);
        subfile_place_encode(&x->b->facts, &place, row + i * SUBFILE_PLACE);
    }
    if (err == NC_NOERR)
        err = base_write_at(x->fd, x->log + at, row, n * SUBFILE_PLACE, x->path);
    base_free(row);
    return err;
}

/* Copies a page to the new log, followed by the chains and frames that it refers to. */
static int copy_page(struct compacting *x, struct util_blob_row *r, int level)
{
    int64_t nblobs = subfile_nblobs(&x->b->facts, x->number), page = x->end;
    int64_t first = (INT64_C(1) << level) - 1, end = first + (INT64_C(1) << level);
    int64_t records = r->var->record ? x->c->header.numrecs : 1;
    int err = flush(x);
    x->end += subfile_page_size(level, nblobs);
    for (int64_t i = first; i < end && i < records && err == NC_NOERR; i++) {
        r->record = i;
        err = copy_row(x, r, subfile_place_offset(page, i, nblobs, 0));
    }
    return err;
}

/* Writes the offsets of a variable's pages. The variable has id `varid` in the master and
 * `id` in the subfile. */
static int write_levels(const struct compacting *x, int id, int varid,
                        const int64_t *levels)
{
    const struct cdf_var *v = &x->b->subs[x->number].file.header.vars[id];
    unsigned char bytes[SUBFILE_LEVELS * 8], *at = bytes;
    for (int k = 0; k < SUBFILE_LEVELS; k++)
        at = base_put_word(
            at, (uint64_t)subfile_digest_encode_page(&x->b->facts, varid, k, levels[k]));
    return base_write_at(x->fd, v->begin, bytes, sizeof bytes, x->path);
}

static int copy_variable(struct compacting *x, const struct util_blob_var *v)
{
    struct util_blob_row row = {x->c, x->number, v, 0};
    struct subfile *s = &x->b->subs[x->number].subfile;
    int64_t *was, now[SUBFILE_LEVELS] = {0};
    int id = subfile_var(s, v->varid);
    int64_t records = v->record ? x->c->header.numrecs : 1;
    if (id < 0) return NC_NOERR;
    int err = subfile_get_pages(s, v->varid, true, &was);
    for (int k = 0; k < SUBFILE_LEVELS && err == NC_NOERR; k++) {
        if (was[k] == 0 || (INT64_C(1) << k) > records) continue;
        if (!subfile_has_page(s, k, was[k]))
            return base_error_set(
                NC_ENOTNC, "%s: variable '%s': a page of its table is outside the log",
                s->path, x->c->header.vars[v->varid].name);
        now[k] = x->end;
        err = copy_page(x, &row, k);
    }
    return err == NC_NOERR ? write_levels(x, id, v->varid, now) : err;
}

/* ---- the file ---- */

/* Copies everything before the log and empties the tables. The tables of variables
 * without a decomposition stay empty, because nothing refers to their values. */
static int copy_front(struct compacting *x)
{
    const int64_t none[SUBFILE_LEVELS] = {0};
    const struct cdf_header *h = &x->b->subs[x->number].file.header;
    int err = NC_NOERR;
    for (int64_t at = 0, n; at < x->log && err == NC_NOERR; at += n) {
        n = x->log - at < UTIL_BLOB_BYTES ? x->log - at : UTIL_BLOB_BYTES;
        err = util_blob_bytes(x->b, x->number, at, x->buffer, n);
        if (err == NC_NOERR) err = base_write_at(x->fd, at, x->buffer, n, x->path);
    }
    for (int id = 0; id < h->nvars && err == NC_NOERR; id++)
        if (subfile_is_framed(h, id) && h->vars[id].nelems == SUBFILE_LEVELS)
            err = write_levels(x, id, 0, none);
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

/* Checks that the file contains only the log from the beginning of the log on. */
static int check_layout(const struct util_blob_sub *s, int64_t log)
{
    const struct cdf_header *h = &s->file.header;
    bool good = h->format == 5;
    for (int id = 0; id < h->nvars; id++)
        good = good && (h->vars[id].is_record || h->vars[id].begin < log);
    if (good) return NC_NOERR;
    return base_error_set(NC_ENOTNC,
                          "%s: its log of frames is not at the end of the file", s->path);
}

int util_blob_compact(const struct util_classic *c, int number, int fd, const char *path,
                      int64_t *saved)
{
    static const unsigned char unused[SUBFILE_LOG_BEGIN];
    struct util_blob *b = c->blob;
    const struct util_blob_sub *s = &b->subs[number];
    struct compacting x = {.c = c,
                           .b = b,
                           .number = number,
                           .fd = fd,
                           .path = path,
                           .log = s->file.header.vars[s->subfile.log].begin};
    int err = check_layout(s, x.log);
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
    return c->blob->subs[number].file.header.nvars == 0;
}
