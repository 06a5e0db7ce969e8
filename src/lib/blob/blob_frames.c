/* Values from frames: for who gets them, and for the master. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_lock.h"
#include "base_mem.h"
#include "blob_frames.h"

enum { CHAINS = 16, KEPT = 16 }; /* at a time; a frame has BLOB_FRAME bytes */

/* A chain that was read, and of which subfile; no frames: none. */
struct known {
    int sub;
    int64_t at; /* its place */
    struct blob_chain chain;
};

struct blob_chains {
    struct known list[CHAINS];
    int hand;
};

struct blob_kept {
    struct {
        int sub;
        int64_t at; /* 0: nothing */
    } of[KEPT];
    int hand;
    unsigned char *values[KEPT]; /* NULL: not needed yet */
    unsigned char stored[BLOB_FRAME], scratch[BLOB_FRAME];
};

void blob_frames_free(struct blob *b)
{
    struct blob_frames *f = &b->frames;
    for (int i = 0; f->chains != NULL && i < CHAINS; i++)
        base_free(f->chains->list[i].chain.frames);
    for (int i = 0; f->kept != NULL && i < KEPT; i++)
        base_free(f->kept->values[i]);
    base_coder_end(&f->coder);
    base_free(f->wanted);
    base_free(f->chains);
    base_free(f->kept);
    base_free(f->rows);
}

/* ---- errors ---- */

static int complain(struct blob *b, const struct blob_sub *sub,
                    const struct blob_chain *c, const char *what)
{
    const struct cdf_var *v = &b->base.ds->header.vars[c->varid];
    char record[48] = "";
    if (v->is_record)
        snprintf(record, sizeof record, ", record %lld", (long long)c->record);
    int err = base_has_codec(c->codec) ? NC_ENOTNC : NC_ENOTBUILT;
    return base_error_set(
        err, "%s: variable '%s'%s: what process %lld wrote is not there: %s",
        sub->ds.path, v->name, record,
        (long long)(blob_first_of(&b->facts, sub->number) + c->blob), what);
}

uint64_t blob_frames_seed(const struct blob *b)
{
    return b->facts.token[0] ^ b->facts.token[1];
}

/* ---- chains and frames ---- */

/* Reads the chain that should be this one, at its place. */
static int read_chain(struct blob *b, struct blob_sub *sub, const struct blob_place *p,
                      struct blob_chain *c)
{
    int64_t n = blob_chain_frames(c->nelems * c->size), bytes = blob_chain_bytes(n);
    if (p->bytes != bytes)
        return complain(b, sub, c, "its chain of frames has another length");
    unsigned char *raw = base_malloc((size_t)bytes);
    c->frames = base_malloc((size_t)n * sizeof *c->frames);
    int err = raw == NULL || c->frames == NULL ? NC_ENOMEM
                                               : blob_log_read(sub, p->at, raw, bytes);
    if (err == NC_NOERR) {
        const char *wrong = blob_chain_decode(c, blob_frames_seed(b), raw, bytes);
        if (wrong != NULL) err = complain(b, sub, c, wrong);
    }
    base_free(raw);
    if (err == NC_NOERR) return NC_NOERR;
    base_free(c->frames);
    c->frames = NULL;
    return err;
}

static int find_chain(struct blob *b, struct blob_sub *sub, const struct blob_place *p,
                      const struct blob_chain *should, const struct blob_chain **found)
{
    struct blob_frames *f = &b->frames;
    if (f->chains == NULL) f->chains = base_calloc(1, sizeof *f->chains);
    if (f->chains == NULL) return NC_ENOMEM;
    for (int i = 0; i < CHAINS; i++) {
        const struct known *k = &f->chains->list[i];
        *found = &k->chain;
        if (k->chain.frames != NULL && k->sub == sub->number && k->at == p->at)
            return NC_NOERR;
    }
    struct known *k = &f->chains->list[f->chains->hand++ % CHAINS];
    base_free(k->chain.frames);
    *k = (struct known){.sub = sub->number, .at = p->at, .chain = *should};
    *found = &k->chain;
    return read_chain(b, sub, p, &k->chain);
}

static int read_frame(struct blob *b, struct blob_sub *sub, const struct blob_chain *c,
                      int64_t i, unsigned char *values)
{
    struct blob_kept *x = b->frames.kept;
    int err = blob_log_read(sub, c->frames[i].at, x->stored, c->frames[i].bytes);
    if (err != NC_NOERR) return err;
    const char *wrong = blob_frame_unpack(&b->frames.coder, c, i, blob_frames_seed(b),
                                          x->stored, x->scratch, values);
    return wrong == NULL ? NC_NOERR : complain(b, sub, c, wrong);
}

/* The values of frame i, which stay where they are until others are wanted. */
static int find_frame(struct blob *b, struct blob_sub *sub, const struct blob_chain *c,
                      int64_t i, const unsigned char **values)
{
    struct blob_frames *f = &b->frames;
    if (f->kept == NULL) f->kept = base_calloc(1, sizeof *f->kept);
    if (f->kept == NULL) return NC_ENOMEM;
    struct blob_kept *x = f->kept;
    for (int k = 0; k < KEPT; k++) {
        *values = x->values[k];
        if (x->of[k].at == c->frames[i].at && x->of[k].sub == sub->number)
            return NC_NOERR;
    }
    int k = x->hand++ % KEPT;
    if (x->values[k] == NULL) x->values[k] = base_malloc(BLOB_FRAME);
    if (x->values[k] == NULL) return NC_ENOMEM;
    x->of[k].at = 0;
    int err = read_frame(b, sub, c, i, x->values[k]);
    if (err != NC_NOERR) return err;
    x->of[k].at = c->frames[i].at;
    x->of[k].sub = sub->number;
    *values = x->values[k];
    return NC_NOERR;
}

/* ---- what is got ---- */

/* Elements of one blob, of one record: n from number `from` of the blob on. */
struct piece {
    struct blob_sub *sub;
    struct blob_chain should; /* which chain has them */
    int64_t from, n;
    int type; /* of the values in memory */
    char *to;
};

static int get_piece(struct blob *b, struct piece *x)
{
    struct blob_place place;
    const struct blob_chain *c;
    const unsigned char *values;
    int size = x->should.size, xtype = b->base.ds->header.vars[x->should.varid].type;
    int64_t per = BLOB_FRAME / size;
    int ranged = NC_NOERR;
    int err = blob_frames_place(b, x->sub, (int)x->should.varid, x->should.record,
                                x->should.blob, &place);
    if (err == NC_NOERR) err = find_chain(b, x->sub, &place, &x->should, &c);
    for (int64_t m; x->n > 0 && err == NC_NOERR; x->n -= m, x->from += m) {
        int64_t in = x->from % per;
        m = per - in < x->n ? per - in : x->n;
        err = find_frame(b, x->sub, c, x->from / per, &values);
        if (err != NC_NOERR) break;
        int got = conv_get(x->to, x->type, values + in * size, xtype, (size_t)m);
        if (got != NC_NOERR) ranged = got;
        x->to += m * conv_size(x->type);
    }
    return err != NC_NOERR ? err : ranged;
}

int64_t blob_frames_stride(const struct blob *b, const struct blob_sub *sub, int varid)
{
    const struct blob_decomp *d = blob_decomp_of(b, varid);
    return blob_source_nelems(&sub->ds.header, blob_sub_var(sub, varid), d->number) *
           cdf_type_size(b->base.ds->header.vars[varid].type);
}

/* One run of a raw request, of so many bytes from an offset on. */
static int get_run(struct blob *b, struct blob_sub *sub, struct blob_decomp *d,
                   const struct access_request *r, int64_t offset, int64_t bytes,
                   char **to)
{
    const struct cdf_var *v = &b->base.ds->header.vars[r->varid];
    int64_t stride = blob_frames_stride(b, sub, r->varid), first, count;
    int size = cdf_type_size(v->type), ranged = NC_NOERR;
    for (int64_t n; bytes > 0; offset += n * size, bytes -= n * size) {
        int64_t pos = offset % stride / size;
        struct piece x = {.sub = sub,
                          .type = r->type,
                          .to = *to,
                          .should = {.varid = r->varid,
                                     .record = access_start(r)[2] + offset / stride,
                                     .size = size}};
        int err = blob_frames_find(b, sub, d, pos, &x.should.blob, &first, &count);
        if (err != NC_NOERR) return err;
        n = first + count - pos;
        if (n > bytes / size) n = bytes / size;
        x.should.nelems = count;
        x.from = pos - first;
        x.n = n;
        err = get_piece(b, &x);
        if (err != NC_NOERR && err != NC_ERANGE) return err;
        if (err != NC_NOERR) ranged = err;
        *to = x.to;
    }
    return ranged;
}

int blob_frames_get(struct blob *b, struct blob_sub *sub, struct access_request *r)
{
    struct blob_decomp *d = blob_decomp_of(b, r->varid);
    struct region_cursor *c = region_cursor_new(access_raw_region(r));
    struct region_strip strip;
    char *to = r->buf;
    int err = c == NULL ? NC_ENOMEM : NC_NOERR, ranged = NC_NOERR;
    while (err == NC_NOERR && region_next(c, INT64_MAX, 1, &strip)) {
        err = get_run(b, sub, d, r, strip.offset, strip.length, &to);
        if (err == NC_ERANGE) ranged = err;
        if (err == NC_ERANGE) err = NC_NOERR;
    }
    region_cursor_free(c);
    if (err == NC_NOERR) err = ranged;
    if (err != NC_NOERR) access_blame(r, err);
    return err;
}

/* ---- homes ---- */

int blob_frames_home(struct blob *b, struct blob_decomp *d, int64_t at,
                     struct blob_part *part)
{
    struct blob_sub *sub;
    struct blob_place place;
    int64_t blob, first, count;
    int varid = part->of->varid;
    if (part->sub < 0) return NC_NOERR;
    int err = blob_sub_get(b, part->sub, &sub);
    if (err == NC_NOERR)
        err = blob_frames_find(b, sub, d, part->at, &blob, &first, &count);
    if (err == NC_NOERR)
        err = blob_frames_place(b, sub, varid, part->record, blob, &place);
    if (err != NC_NOERR || place.bytes > 0) return err;
    part->sub = -1;
    part->at = at;
    return NC_NOERR;
}

/* ---- values for the master ---- */

/* A blob's record that leaves its frames. */
struct leaving {
    struct blob *b;
    struct blob_sub *sub;
    struct blob_decomp *d;
    struct blob_chain should;
    const struct blob_map *map;
    char *values; /* of a frame, in memory */
};

/* n elements of the blob, from number `from` on, to their places in the master. */
static int put_in_master(struct leaving *x, int64_t from, int64_t n)
{
    struct blob *b = x->b;
    int varid = (int)x->should.varid, size = x->should.size;
    int64_t blocks = 0, end = from + n, runs = x->map->n;
    union {
        struct access_request r;
        unsigned char
            room[sizeof(struct access_request) + ACCESS_RAW_SLAB * sizeof(int64_t)];
    } one = {.r = {.buf = x->values, .varid = varid, .raw = true}};
    struct access_request *r = &one.r;
    struct region_extent *e = base_malloc((size_t)runs * sizeof *e);
    if (e == NULL) return NC_ENOMEM;
    for (int64_t i = 0; i < runs; i++) {
        const struct blob_run *run = &x->map->runs[i];
        int64_t low = run->pos > from ? run->pos : from;
        int64_t high = run[1].pos < end ? run[1].pos : end;
        if (low < high)
            e[blocks++] = (struct region_extent){(run->at + low - run->pos) * size,
                                                 (high - low) * size};
    }
    struct region *where = region_of_extents(e, blocks);
    if (where == NULL) return NC_ENOMEM;
    r->type = (unsigned char)conv_type_of(b->base.ds->header.vars[varid].type);
    r->slab[0] = (int64_t)(intptr_t)where;
    r->slab[1] = n;
    r->slab[2] = x->should.record;
    int err = driver_call(b->base.lower, put, &r, 1);
    region_free(where);
    return err;
}

static int move_to_master(struct leaving *x)
{
    int64_t per = BLOB_FRAME / x->should.size, left = x->should.nelems;
    int type = conv_type_of(x->b->base.ds->header.vars[x->should.varid].type);
    int err = NC_NOERR;
    for (int64_t from = 0, m; left > 0 && err == NC_NOERR; left -= m, from += m) {
        m = left < per ? left : per;
        struct piece piece = {.sub = x->sub,
                              .should = x->should,
                              .from = from,
                              .n = m,
                              .type = type,
                              .to = x->values};
        err = get_piece(x->b, &piece);
        if (err == NC_NOERR) err = put_in_master(x, from, m);
    }
    return err;
}

static bool take_run(void *to, const struct blob_piece *p, int *err)
{
    *err = blob_map_add(to, p->at, p->n);
    return *err == NC_NOERR;
}

/* The map of any blob, its own memory where it is not the process's. */
static int find_map(struct leaving *x, struct blob_map *read)
{
    struct blob_source s;
    x->map = &x->d->own;
    if (x->sub == x->b->own && x->should.blob == x->b->rank && x->d->mine)
        return NC_NOERR;
    int err = blob_read_source(x->b, x->d, x->sub->number, &s);
    if (err == NC_NOERR)
        err = blob_source_read(&s, x->should.blob, take_run, read, NC_NOERR);
    if (err == NC_NOERR) err = blob_map_settle(read);
    x->map = read;
    if (err == NC_NOERR && blob_map_count(read) != x->should.nelems)
        err = base_error_set(NC_ENOTNC, "%s: the map of a blob has another length",
                             x->sub->ds.path);
    return err;
}

/* Values first, then the place; both may be on the device at any time, so, where what was
 * there may be, in that order there, too. */
static int move_and_tell(struct leaving *x, int64_t page, int64_t nblobs)
{
    static const unsigned char nowhere[BLOB_PLACE];
    struct blob *b = x->b;
    bool of_record = b->base.ds->header.vars[x->should.varid].is_record;
    bool safe = of_record ? x->should.record < b->frames.safe : b->frames.safe > 0;
    struct blob_map read = {NULL, 0, 0};
    int err = find_map(x, &read);
    if (err == NC_NOERR) err = move_to_master(x);
    if (err == NC_NOERR && safe) err = driver_call(b->base.lower, sync);
    if (err == NC_NOERR)
        err = blob_log_write(
            x->sub, blob_place_at(page, x->should.record, nblobs, x->should.blob),
            nowhere, BLOB_PLACE);
    x->map = NULL;
    blob_map_free(&read);
    return err;
}

/* Under the lock the table is read again. */
static int leave_frames(struct leaving *x)
{
    struct blob *b = x->b;
    const struct cdf_envelope *e = &b->facts;
    const char *path = x->sub->ds.full;
    int varid = (int)x->should.varid;
    struct blob_place place;
    int64_t page;
    int fd = base_open(path, O_RDWR);
    if (fd < 0) return base_error_system(NC_EFILE, "opening", path);
    int err = base_lock_frames(fd, path, b->base.ds->full);
    blob_frames_forget(b);
    if (err == NC_NOERR)
        err =
            blob_frames_place(b, x->sub, varid, x->should.record, x->should.blob, &place);
    if (err == NC_NOERR && place.bytes > 0) {
        err = blob_frames_page(b, x->sub, varid, x->should.record, &page);
        x->values = base_malloc((size_t)BLOB_FRAME);
        if (err == NC_NOERR && x->values == NULL) err = NC_ENOMEM;
        if (err == NC_NOERR)
            err = move_and_tell(x, page,
                                blob_first_of(e, x->sub->number + 1) -
                                    blob_first_of(e, x->sub->number));
        base_free(x->values);
    }
    (void)close(fd);
    blob_frames_forget(b);
    return err;
}

int blob_frames_leave(struct blob *b, struct blob_decomp *d, int64_t at,
                      struct blob_part *part)
{
    struct leaving x = {.b = b, .d = d};
    struct blob_place place;
    int64_t first;
    int varid = part->of->varid;
    if (part->sub < 0) return NC_NOERR;
    x.should =
        (struct blob_chain){.varid = varid,
                            .record = part->record,
                            .size = cdf_type_size(b->base.ds->header.vars[varid].type)};
    int err = blob_sub_get(b, part->sub, &x.sub);
    if (err == NC_NOERR)
        err = blob_frames_find(b, x.sub, d, part->at, &x.should.blob, &first,
                               &x.should.nelems);
    if (err == NC_NOERR)
        err = blob_frames_place(b, x.sub, varid, part->record, x.should.blob, &place);
    if (err == NC_NOERR && place.bytes > 0) err = leave_frames(&x);
    part->sub = -1;
    part->at = at;
    return err;
}
