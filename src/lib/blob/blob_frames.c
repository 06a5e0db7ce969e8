/* Gets values from frames, and moves blobs from frames to the master. */
#include <fcntl.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_lock.h"
#include "base_mem.h"
#include "blob_frames.h"
#include "file_identity.h"
#include "subfile_names.h"

void blob_frames_free(struct blob *b)
{
    subfile_cache_free(&b->frames.cache);
    base_free(b->frames.wanted);
}

/* One record of a blob. */
struct framed {
    struct blob_sub *sub;
    int varid;
    int64_t record;
    struct subfile_blob blob;
};

/* Finds the blob that contains element `pos` of a subfile's variable. The extent of this
 * process's own blob is already known. */
static int find_blob(struct blob *b, struct blob_decomp *d, int64_t pos, struct framed *x)
{
    int64_t own = d->mine ? subfile_map_count(&d->own) : 0;
    if (x->sub == b->own && pos >= d->start && pos - d->start < own) {
        x->blob = (struct subfile_blob){b->rank, d->start, own};
        return NC_NOERR;
    }
    return subfile_find_blob(&x->sub->subfile, d->number, x->varid, pos, &x->blob);
}

/* ---- get ---- */

/* Gets n elements of a blob from its frames, starting at element `from` of the blob.
 * Advances *to. */
static int get_elements(struct blob *b, const struct framed *x, int64_t from, int64_t n,
                        int type, char **to)
{
    struct subfile *s = &x->sub->subfile;
    const struct subfile_chain *c;
    const unsigned char *values;
    int xtype = b->base.ds->header.vars[x->varid].type, size = cdf_type_size(xtype);
    int64_t per = SUBFILE_FRAME / size;
    int ranged = NC_NOERR;
    int err = subfile_find_chain(s, x->varid, x->record, &x->blob, &c);
    if (err == NC_NOERR && c == NULL)
        err = subfile_complain(s, x->varid, x->record, x->blob.number, NC_ENOTNC,
                               "they have no frames");
    if (err == NC_NOERR)
        err = base_holds(from >= 0 && n > 0 && n <= x->blob.nelems - from);
    for (int64_t m; n > 0 && err == NC_NOERR; n -= m, from += m) {
        int64_t in = from % per;
        m = per - in < n ? per - in : n;
        err = subfile_find_values(s, c, from / per, &values);
        if (err != NC_NOERR) break;
        int got = conv_get(*to, type, values + in * size, xtype, (size_t)m);
        if (got != NC_NOERR) ranged = got;
        *to += m * conv_size(type);
    }
    return err != NC_NOERR ? err : ranged;
}

int64_t blob_frames_stride(const struct blob *b, const struct blob_sub *sub, int varid)
{
    const struct blob_decomp *d = blob_decomp_of(b, varid);
    return subfile_nelems(&sub->ds.header, subfile_var(&sub->subfile, varid), d->number) *
           cdf_type_size(b->base.ds->header.vars[varid].type);
}

int blob_frames_get(struct blob *b, struct blob_sub *sub, struct access_request *r)
{
    struct blob_decomp *d = blob_decomp_of(b, r->varid);
    struct region_cursor *c = region_cursor_new(access_raw_region(r));
    struct region_strip run;
    char *to = r->buf;
    int size = cdf_type_size(b->base.ds->header.vars[r->varid].type);
    int64_t stride = blob_frames_stride(b, sub, r->varid);
    int err = c == NULL ? NC_ENOMEM : NC_NOERR, ranged = NC_NOERR;
    while (err == NC_NOERR && region_next(c, INT64_MAX, 1, &run))
        for (int64_t n; run.length > 0 && err == NC_NOERR;) {
            int64_t pos = run.offset % stride / size;
            struct framed x = {.sub = sub,
                               .varid = r->varid,
                               .record = access_start(r)[2] + run.offset / stride};
            err = find_blob(b, d, pos, &x);
            if (err != NC_NOERR) break;
            n = x.blob.start + x.blob.nelems - pos;
            if (n > run.length / size) n = run.length / size;
            err = get_elements(b, &x, pos - x.blob.start, n, r->type, &to);
            if (err == NC_ERANGE) ranged = err;
            if (err == NC_ERANGE) err = NC_NOERR;
            run.offset += n * size;
            run.length -= n * size;
        }
    region_cursor_free(c);
    if (err == NC_NOERR) err = ranged;
    if (err != NC_NOERR) access_set_status(r, err);
    return err;
}

/* ---- locations ---- */

/* Finds the blob and the record that contain a part, and the place of their chain. */
static int find_place(struct blob *b, struct blob_decomp *d,
                      const struct subfile_part *part, struct framed *x,
                      struct subfile_place *place)
{
    *x = (struct framed){.varid = part->of->varid, .record = part->record};
    int err = blob_sub_get(b, part->sub, &x->sub);
    if (err == NC_NOERR) err = find_blob(b, d, part->at, x);
    return err != NC_NOERR ? err
                           : subfile_find_place(&x->sub->subfile, x->varid, x->record,
                                                x->blob.number, place);
}

int blob_frames_locate(struct blob *b, struct blob_decomp *d, int64_t at,
                       struct subfile_part *part)
{
    struct framed x;
    struct subfile_place place;
    if (part->sub < 0) return NC_NOERR;
    int err = find_place(b, d, part, &x, &place);
    if (err != NC_NOERR || place.bytes > 0) return err;
    part->sub = -1;
    part->at = at;
    return NC_NOERR;
}

/* ---- moving a blob to the master ---- */

/* Moves a blob's values to the master, one frame at a time. `map` is the blob's map. */
static int move_to_master(struct blob *b, const struct framed *x,
                          const struct subfile_map *map)
{
    int xtype = b->base.ds->header.vars[x->varid].type, size = cdf_type_size(xtype);
    int64_t per = SUBFILE_FRAME / size, nelems = x->blob.nelems;
    char *values = base_malloc((size_t)SUBFILE_FRAME);
    int err = values == NULL ? NC_ENOMEM : NC_NOERR, type = conv_type_of(xtype);
    for (int64_t from = 0, n; from < nelems && err == NC_NOERR; from += n) {
        union access_own_request one;
        struct access_request *r = &one.r;
        char *to = values;
        int64_t blocks = 0, mapped = 0;
        n = nelems - from < per ? nelems - from : per;
        err = get_elements(b, x, from, n, type, &to);
        struct region_extent *e = base_malloc((size_t)map->n * sizeof *e);
        if (err == NC_NOERR && e == NULL) err = NC_ENOMEM;
        for (int64_t i = 0; i < map->n && e != NULL; i++) {
            const struct subfile_run *run = &map->runs[i];
            int64_t low = run->pos > from ? run->pos : from;
            int64_t high = run[1].pos < from + n ? run[1].pos : from + n;
            if (low >= high) continue;
            mapped += high - low;
            e[blocks++] = (struct region_extent){(run->at + low - run->pos) * size,
                                                 (high - low) * size};
        }
        struct region *where = e == NULL ? NULL : region_of_extents(e, blocks);
        int made = access_set_raw(r, x->varid, type, where, n, x->record, values);
        if (err == NC_NOERR) err = made;
        if (err == NC_NOERR) err = base_holds(mapped == n);
        if (err == NC_NOERR) err = driver_call(b->base.lower, put, &r, 1);
        region_free(where);
    }
    base_free(values);
    return err;
}

/* Finds the map of a blob; reads it into *read unless the blob is this process's own. */
static int find_map(struct blob *b, struct blob_decomp *d, const struct framed *x,
                    struct subfile_map *read, const struct subfile_map **map)
{
    struct subfile_decomp s;
    int64_t start;
    *map = &d->own;
    if (x->sub == b->own && x->blob.number == b->rank && d->mine) return NC_NOERR;
    *map = read;
    int err = subfile_find_decomp(&x->sub->subfile, d->number, d->varid, &s);
    if (err == NC_NOERR) err = blob_read_map(&s, x->blob.number, read, &start);
    if (err == NC_NOERR && subfile_map_count(read) != x->blob.nelems)
        err = base_error_set(NC_ENOTNC, "%s: the map of a blob has the wrong length",
                             x->sub->ds.path);
    return err;
}

/* Writes the values to the master, then clears the blob's table entry. Either write may
 * reach its device first, so if the device may have the old values, syncs the new ones
 * before the entry changes. */
static int move_and_clear(struct blob *b, struct blob_decomp *d, const struct framed *x)
{
    static const unsigned char nowhere[SUBFILE_PLACE];
    int64_t nblobs = subfile_nblobs(&b->facts, x->sub->subfile.number), page;
    struct subfile_map read = {NULL, 0, 0};
    const struct subfile_map *map;
    int err = subfile_find_page(&x->sub->subfile, x->varid, x->record, &page);
    if (err == NC_NOERR) err = base_holds(page >= SUBFILE_LOG_BEGIN);
    if (err == NC_NOERR) err = find_map(b, d, x, &read, &map);
    if (err == NC_NOERR) err = move_to_master(b, x, map);
    if (err == NC_NOERR && blob_frames_may_be_safe(b, x->varid, x->record))
        err = driver_call(b->base.lower, sync);
    if (err == NC_NOERR)
        err = blob_put_log(x->sub,
                           subfile_place_offset(page, x->record, nblobs, x->blob.number),
                           nowhere, SUBFILE_PLACE);
    subfile_map_free(&read);
    return err;
}

/* Reads the table again with the lock held, since another process may have moved the
 * blob. */
int blob_frames_leave(struct blob *b, struct blob_decomp *d, int64_t at,
                      struct subfile_part *part)
{
    struct framed x;
    struct subfile_place place;
    int fd;
    if (part->sub < 0) return NC_NOERR;
    int err = find_place(b, d, part, &x, &place);
    if (err == NC_NOERR && place.bytes > 0) {
        struct dataset *ds = &x.sub->ds;
        err = file_reopen(ds, O_RDWR, &fd);
        if (err == NC_NOERR) {
            err = base_lock_frames(fd, ds->full_path, b->base.ds->full_path);
            blob_frames_forget(b);
            if (err == NC_NOERR)
                err = subfile_find_place(&x.sub->subfile, x.varid, x.record,
                                         x.blob.number, &place);
            if (err == NC_NOERR && place.bytes > 0) err = move_and_clear(b, d, &x);
            (void)close(fd);
            blob_frames_forget(b);
        }
    }
    part->sub = -1;
    part->at = at;
    return err;
}
