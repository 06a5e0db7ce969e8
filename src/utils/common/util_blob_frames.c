/* Values of blobs that are in frames (doc/formats.md): finds the frames that have what is
 * wanted, and expands these and no others. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_sum.h"
#include "blob_frame.h"
#include "blob_names.h"
#include "util_blob_impl.h"

enum { KEPT = 16 }; /* frames that are kept expanded: 4 MiB */

/* Which chain, and which frame of it; -1: none. */
struct key {
    int number, varid;
    int64_t record, blob, frame;
};

struct util_blob_frames {
    struct base_coder coder;
    struct key chain_key;
    struct blob_chain chain; /* the one read last */
    struct key keys[KEPT];
    int hand;             /* the one that makes room next */
    unsigned char *bytes; /* of a frame; then a scratch, and the values that are kept */
};

static unsigned char *part(const struct util_blob_frames *f, int i)
{
    return f->bytes + (int64_t)i * BLOB_FRAME;
}

/* Of all checksums of the dataset. */
static uint64_t seed_of(const struct util_blob *b)
{
    return b->facts.token[0] ^ b->facts.token[1];
}

static bool is_key(const struct key *a, const struct key *b)
{
    return a->frame == b->frame && a->blob == b->blob && a->number == b->number &&
           a->record == b->record && a->varid == b->varid;
}

/* ---- memory ---- */

int util_blob_frames_open(struct util_blob *b)
{
    const struct key none = {.frame = -1, .varid = -1};
    struct util_blob_frames *f = base_calloc(1, sizeof *f);
    b->frames = f;
    if (f == NULL) return NC_ENOMEM;
    f->bytes = base_malloc((size_t)(KEPT + 2) * BLOB_FRAME);
    f->chain_key = none;
    for (int i = 0; i < KEPT; i++)
        f->keys[i] = none;
    return f->bytes == NULL ? NC_ENOMEM : NC_NOERR;
}

void util_blob_frames_close(struct util_blob *b)
{
    struct util_blob_frames *f = b->frames;
    if (f == NULL) return;
    base_coder_end(&f->coder);
    base_free(f->chain.frames);
    base_free(f->bytes);
    base_free(f);
    b->frames = NULL;
}

void util_blob_rows_free(struct util_blob_rows *rows)
{
    base_free(rows->start);
    base_free(rows->count);
    base_free(rows->places);
    *rows = (struct util_blob_rows){.nblobs = 0};
}

static int reserve_rows(struct util_blob_rows *rows, int64_t n)
{
    util_blob_rows_free(rows);
    rows->start = base_malloc((size_t)n * sizeof *rows->start);
    rows->count = base_malloc((size_t)n * sizeof *rows->count);
    rows->places = base_malloc((size_t)n * sizeof *rows->places);
    if (rows->start == NULL || rows->count == NULL || rows->places == NULL) {
        util_blob_rows_free(rows);
        return util_blob_no_memory();
    }
    rows->nblobs = n;
    return NC_NOERR;
}

/* ---- errors ---- */

/* blob -1: of all that are in the subfile. */
static int complain(const struct util_blob_row *r, int64_t blob, int err,
                    const char *what)
{
    char whose[UTIL_BLOB_WHOSE];
    const char *path = r->c->blob->subs[r->number].path;
    util_blob_whose(r, blob, whose);
    return base_error_set(err, "%s: %s%s %s", path, whose,
                          blob < 0           ? ":"
                          : err == NC_ENOTNC ? " is not there:"
                                             : " cannot be read:",
                          what);
}

/* ---- the log ---- */

const char *util_blob_log_find(struct util_blob_sub *s)
{
    const struct cdf_header *h = &s->file.header;
    int id;
    if (cdf_find_var(h, BLOB_FRAMES, &id) != NC_NOERR) return "it has no log of frames";
    const struct cdf_var *v = &h->vars[id];
    if (v->type != NC_BYTE || v->ndims != 1 || !v->is_record || h->record_size != 1)
        return "its log of frames is not one of bytes";
    s->log = v->begin;
    return NULL;
}

/* A job that writes makes the log longer while it is read. */
bool util_blob_log_has(struct util_blob *b, int number, int64_t at, int64_t n)
{
    struct util_blob_sub *s = &b->subs[number];
    struct stat st;
    if (at < BLOB_LOG_BEGIN) return false;
    if (at <= s->file.size - s->log - n) return true;
    int fd = b->facts.stage == CDF_COMPLETE ? -1 : util_blob_fd(b, number);
    if (fd >= 0 && fstat(fd, &st) == 0) s->file.size = st.st_size;
    return at <= s->file.size - s->log - n;
}

static int read_log(struct util_blob *b, int number, int64_t at, void *bytes, int64_t n)
{
    return util_blob_bytes(b, number, b->subs[number].log + at, bytes, n);
}

/* ---- blobs, and the places of their chains ---- */

/* They lie in order, each behind those before: so each element has one. */
static bool are_in_order(struct util_blob_rows *rows, int64_t most)
{
    int64_t end = 0;
    for (int64_t i = 0; i < rows->nblobs; i++) {
        int64_t n = rows->count[i];
        if (n < 0 || n > most - end) return false;
        if (n == 0) rows->start[i] = end;
        if (rows->start[i] < end || rows->start[i] > most - n) return false;
        end = rows->start[i] + n;
    }
    return true;
}

static int load_blobs(const struct util_blob_row *r)
{
    struct util_blob *b = r->c->blob;
    struct util_blob_sub *sub = &b->subs[r->number];
    struct util_blob_rows *rows = &sub->rows;
    const struct util_blob_decomp *d = &b->decomps[r->var->decomp];
    struct blob_source s;
    if (rows->decomp == d) return NC_NOERR;
    int err = util_blob_source(b, r->number, sub->varids[r->var->varid], d, &s);
    if (err != NC_NOERR) return err;
    if (s.nblobs > sub->file.size / BLOB_PLACE)
        return util_blob_cut(sub, &sub->file.header.vars[s.start]);
    err = reserve_rows(rows, s.nblobs);
    const struct blob_numbers lists[] = {{s.start, 0, 0, s.nblobs, rows->start},
                                         {s.count, 0, 0, s.nblobs, rows->count}};
    for (int i = 0; i < 2 && err == NC_NOERR; i++)
        err = util_blob_numbers(b, r->number, &lists[i]);
    if (err != NC_NOERR) return err;
    if (!are_in_order(rows, s.nelems < d->nelems ? s.nelems : d->nelems))
        return base_error_set(NC_ENOTNC,
                              "%s: the blobs of decomposition D%d are not in "
                              "order, or point outside of their variable",
                              sub->path, d->number);
    rows->decomp = d;
    return NC_NOERR;
}

/* Where the places of this record's chains are; 0: there are none. */
static int find_row(const struct util_blob_row *r, int64_t *at)
{
    struct util_blob *b = r->c->blob;
    const struct util_blob_sub *sub = &b->subs[r->number];
    int64_t page = 0, nblobs = sub->rows.nblobs, size = nblobs * BLOB_PLACE;
    int level = blob_level(r->record);
    const struct blob_numbers list = {sub->varids[r->var->varid], 0, level, 1, &page};
    *at = 0;
    if (level >= BLOB_LEVELS || nblobs == 0) return NC_NOERR;
    int err = util_blob_numbers(b, r->number, &list);
    if (err != NC_NOERR || page == 0) return err;
    int64_t before = r->record + 1 - (INT64_C(1) << level);
    bool good = page > 0 && before <= (INT64_MAX - page) / size - 1;
    *at = good ? blob_place_at(page, r->record, nblobs, 0) : -1;
    if (good && util_blob_log_has(b, r->number, *at, size)) return NC_NOERR;
    return complain(r, -1, NC_ENOTNC, "its table of frames points outside of the log");
}

static int load_row(const struct util_blob_row *r)
{
    struct util_blob *b = r->c->blob;
    struct util_blob_rows *rows = &b->subs[r->number].rows;
    int64_t at;
    int err = load_blobs(r);
    if (err != NC_NOERR) return err;
    if (rows->var == r->var && rows->record == r->record) return NC_NOERR;
    rows->var = NULL;
    err = find_row(r, &at);
    if (err != NC_NOERR) return err;
    memset(rows->places, 0, (size_t)rows->nblobs * sizeof *rows->places);
    if (at > 0) err = read_log(b, r->number, at, rows->places, rows->nblobs * BLOB_PLACE);
    if (err != NC_NOERR) return err;
    /* Each is decoded where its bytes lie. */
    if (!blob_places_decode(rows->places, (unsigned char *)rows->places, rows->nblobs))
        return complain(r, -1, NC_ENOTNC, "its table tells of places that cannot be");
    rows->var = r->var;
    rows->record = r->record;
    return NC_NOERR;
}

/* ---- chains ---- */

/* Of so many frames, for which there is room in f. */
static int read_chain(const struct util_blob_row *r, const struct key *key, int64_t n,
                      const struct blob_place *place)
{
    struct util_blob *b = r->c->blob;
    struct util_blob_frames *f = b->frames;
    unsigned char *bytes = base_malloc((size_t)place->bytes);
    struct blob_frame *list = base_realloc(f->chain.frames, (size_t)n * sizeof *list);
    if (list != NULL) f->chain.frames = list;
    int err = bytes == NULL || list == NULL ? NC_ENOMEM : NC_NOERR;
    if (err == NC_NOERR) err = read_log(b, r->number, place->at, bytes, place->bytes);
    const char *wrong =
        err == NC_NOERR ? blob_chain_decode(&f->chain, seed_of(b), bytes, place->bytes)
                        : NULL;
    base_free(bytes);
    if (wrong != NULL) return complain(r, key->blob, NC_ENOTNC, wrong);
    return err == NC_ENOMEM ? util_blob_no_memory() : err;
}

/* The chain of a blob is in b->frames then. */
static int need_chain(const struct util_blob_row *r, int64_t blob)
{
    struct util_blob *b = r->c->blob;
    struct util_blob_frames *f = b->frames;
    const struct util_blob_rows *rows = &b->subs[r->number].rows;
    const struct blob_place *place = &rows->places[blob];
    const struct key key = {r->number, r->var->varid, r->record, blob, 0};
    if (is_key(&f->chain_key, &key)) return NC_NOERR;
    f->chain_key.frame = -1;
    f->chain = (struct blob_chain){.varid = r->var->varid,
                                   .record = r->record,
                                   .blob = blob,
                                   .nelems = rows->count[blob],
                                   .size = r->var->size,
                                   .frames = f->chain.frames};
    int64_t n = blob_chain_frames(f->chain.nelems * f->chain.size);
    if (place->bytes != blob_chain_bytes(n) || n == 0)
        return complain(r, blob, NC_ENOTNC, "its chain of frames has another length");
    if (!util_blob_log_has(b, r->number, place->at, place->bytes))
        return complain(r, blob, NC_ENOTNC, "its chain of frames is outside of the log");
    int err = read_chain(r, &key, n, place);
    if (err == NC_NOERR) f->chain_key = key;
    return err;
}

/* ---- frames ---- */

/* Its bytes, to where those of a frame go. */
static int read_frame(const struct util_blob_row *r, int64_t blob,
                      const struct blob_frame *f)
{
    struct util_blob *b = r->c->blob;
    if (!util_blob_log_has(b, r->number, f->at, f->bytes))
        return complain(r, blob, NC_ENOTNC, "a frame is outside of the log");
    return read_log(b, r->number, f->at, part(b->frames, 0), f->bytes);
}

static int expand(const struct util_blob_row *r, const struct key *key,
                  unsigned char *values)
{
    struct util_blob *b = r->c->blob;
    struct util_blob_frames *f = b->frames;
    int err = read_frame(r, key->blob, &f->chain.frames[key->frame]);
    if (err != NC_NOERR) return err;
    const char *wrong = blob_frame_unpack(&f->coder, &f->chain, key->frame, seed_of(b),
                                          part(f, 0), part(f, 1), values);
    if (wrong == NULL) return NC_NOERR;
    err = base_has_codec(f->chain.codec) || f->chain.codec >= BASE_CODECS ? NC_ENOTNC
                                                                          : NC_ENOTBUILT;
    return complain(r, key->blob, err, wrong);
}

/* The values of a frame of the chain that was read last. */
static int need_frame(const struct util_blob_row *r, int64_t blob, int64_t i,
                      const unsigned char **values)
{
    struct util_blob_frames *f = r->c->blob->frames;
    const struct key key = {r->number, r->var->varid, r->record, blob, i};
    int slot = 0;
    while (slot < KEPT && !is_key(&f->keys[slot], &key))
        slot++;
    bool known = slot < KEPT;
    if (!known) slot = f->hand = (f->hand + 1) % KEPT;
    *values = part(f, 2 + slot);
    if (known) return NC_NOERR;
    f->keys[slot].frame = -1;
    int err = expand(r, &key, part(f, 2 + slot));
    if (err == NC_NOERR) f->keys[slot] = key;
    return err;
}

/* ---- for the others ---- */

/* The last blob that does not begin behind element pos: any that has it. */
static int64_t blob_of(const struct util_blob_rows *rows, int64_t pos)
{
    int64_t low = 0, high = rows->nblobs;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (rows->start[middle] <= pos)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int util_blob_framed_at(const struct util_blob_row *r, int64_t pos,
                        struct util_blob_framed *to)
{
    const struct util_blob_rows *rows = &r->c->blob->subs[r->number].rows;
    int err = load_row(r);
    if (err != NC_NOERR) return err;
    int64_t i = blob_of(rows, pos);
    if (rows->nblobs == 0 || pos < rows->start[i] ||
        pos - rows->start[i] >= rows->count[i])
        return complain(r, -1, NC_ENOTNC, "a map points outside of it");
    *to = (struct util_blob_framed){.blob = i,
                                    .start = rows->start[i],
                                    .end = rows->start[i] + rows->count[i],
                                    .in_master = rows->places[i].bytes == 0};
    return NC_NOERR;
}

int util_blob_framed_read(const struct util_blob_row *r, int64_t at, void *bytes,
                          int64_t n)
{
    const struct util_blob_frames *f = r->c->blob->frames;
    char *to = bytes;
    for (int64_t m; n > 0; n -= m, at += m, to += m) {
        struct util_blob_framed x;
        const unsigned char *values;
        int err = util_blob_framed_at(r, at / r->var->size, &x);
        if (err == NC_NOERR) err = need_chain(r, x.blob);
        if (err != NC_NOERR) return err;
        int64_t from = at - x.start * r->var->size, i = from / BLOB_FRAME;
        int64_t left = blob_frame_values(&f->chain, i) - from % BLOB_FRAME;
        err = need_frame(r, x.blob, i, &values);
        if (err != NC_NOERR) return err;
        m = n < left ? n : left;
        memcpy(to, values + from % BLOB_FRAME, (size_t)m);
    }
    return NC_NOERR;
}

int util_blob_framed_blobs(const struct util_blob_row *r, int64_t *n)
{
    int err = load_row(r);
    *n = err == NC_NOERR ? r->c->blob->subs[r->number].rows.nblobs : 0;
    return err;
}

int util_blob_framed_chain(const struct util_blob_row *r, int64_t blob,
                           struct blob_chain *chain)
{
    const struct util_blob_rows *rows = &r->c->blob->subs[r->number].rows;
    int err = load_row(r);
    *chain = (struct blob_chain){.nelems = 0};
    if (err != NC_NOERR || rows->places[blob].bytes == 0) return err;
    err = need_chain(r, blob);
    if (err == NC_NOERR) *chain = r->c->blob->frames->chain;
    return err;
}

int util_blob_framed_bytes(const struct util_blob_row *r, int64_t blob, int64_t i,
                           struct blob_frame *frame, const unsigned char **bytes)
{
    struct util_blob *b = r->c->blob;
    int err = need_chain(r, blob);
    if (err != NC_NOERR) return err;
    *frame = b->frames->chain.frames[i];
    *bytes = part(b->frames, 0);
    err = read_frame(r, blob, frame);
    if (err != NC_NOERR ||
        base_sum(*bytes, (size_t)frame->bytes, seed_of(b)) == frame->sum)
        return err;
    return complain(r, blob, NC_ENOTNC, "the checksum of a frame differs");
}

int util_blob_framed_check(const struct util_blob_row *r, int64_t blob, bool *any)
{
    const struct util_blob_frames *f = r->c->blob->frames;
    const struct util_blob_rows *rows = &r->c->blob->subs[r->number].rows;
    int err = load_row(r);
    *any = err == NC_NOERR && rows->places[blob].bytes > 0;
    if (!*any) return err;
    err = need_chain(r, blob);
    int64_t n = err == NC_NOERR ? blob_chain_frames(f->chain.nelems * f->chain.size) : 0;
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        const unsigned char *values;
        err = need_frame(r, blob, i, &values);
    }
    return err;
}
