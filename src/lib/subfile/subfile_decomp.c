/* Reads the map of one blob, or a part of the index of all blobs, from subfiles. */
#include "subfile_decomp.h"

#include <stdio.h>

#include "base_error.h"
#include "base_mem.h"
#include "subfile_names.h"

enum {
    TILE = 1 << 14,       /* number of runs read at one time */
    MOST_PIECES = 1 << 20 /* maximum number of pieces in an index (32 MiB) */
};

static int report_map(const struct subfile_decomp *s, int64_t blob, const char *what)
{
    return base_error_set(NC_ENOTNC, "%s: the map of blob %lld in decomposition D%d %s",
                          s->file->path, (long long)blob, s->decomposition, what);
}

int subfile_decomp_find(struct subfile_decomp *s, int decomposition, int64_t nelems,
                        int64_t limit)
{
    const struct {
        const char *name;
        int ndims, *id;
    } vars[] = {{"nreqs", 1, &s->nreqs},      {"blob_start", 1, &s->start},
                {"blob_count", 1, &s->count}, {"offsets", 2, &s->offsets},
                {"lengths", 2, &s->lengths},  {SUBFILE_VAR_MAP_SUMS, 1, &s->sums}};
    const size_t n = sizeof vars / sizeof *vars - !s->file->facts->checked;
    bool good = true;
    s->decomposition = decomposition;
    s->nelems = nelems;
    s->limit = limit;
    for (size_t i = 0; i < n; i++) {
        char name[64];
        snprintf(name, sizeof name, "D%d.%s", decomposition, vars[i].name);
        if (cdf_find_var(s->file->h, name, vars[i].id) != NC_NOERR ||
            s->file->h->vars[*vars[i].id].ndims != vars[i].ndims)
            return base_error_set(
                NC_ENOTNC,
                "%s: variable '%s' is missing or has the wrong number of dimensions",
                s->file->path, name);
        const int64_t *shape = s->file->h->vars[*vars[i].id].shape;
        if (i == 0) s->nblobs = shape[0];
        if (vars[i].id == &s->offsets) s->most = shape[1];
        good =
            good && shape[0] == s->nblobs && (vars[i].ndims == 1 || shape[1] == s->most);
    }
    return good ? NC_NOERR : report_map(s, -1, "has inconsistent dimensions");
}

int subfile_decomp_read_blobs(const struct subfile_decomp *s, int64_t *start,
                              int64_t *count)
{
    const struct subfile_numbers lists[] = {{s->start, 0, 0, s->nblobs, start},
                                            {s->count, 0, 0, s->nblobs, count}};
    int64_t end = 0;
    int err = s->read(s->file->who, lists, 2, NC_NOERR);
    for (int64_t i = 0; i < s->nblobs && err == NC_NOERR; i++) {
        if (start[i] != end || count[i] < 0 || count[i] > s->nelems - end)
            return report_map(s, i, "does not begin at the end of the preceding blob");
        end += count[i];
    }
    /* A dimension's length is at least 1, even if there are no elements. */
    if (err == NC_NOERR && end != s->nelems && (end != 0 || s->nelems != 1))
        return report_map(s, s->nblobs - 1, "does not end at the end of its variable");
    return err;
}

/* The entries about one blob in the variables that describe the maps. */
struct facts {
    int64_t nreqs, start, count, sum;
};

static int read_blob_facts(const struct subfile_decomp *s, int64_t blob, struct facts *f,
                           int error)
{
    const struct subfile_numbers lists[] = {{s->nreqs, 0, blob, 1, &f->nreqs},
                                            {s->start, 0, blob, 1, &f->start},
                                            {s->count, 0, blob, 1, &f->count},
                                            {s->sums, 0, blob, 1, &f->sum}};
    int n = s->file->facts->checked ? 4 : 3;
    int err = s->read(s->file->who, lists, error == NC_NOERR ? n : 0, error);
    if (error != NC_NOERR || err != NC_NOERR) return error != NC_NOERR ? error : err;
    bool good = f->nreqs >= 0 && f->nreqs <= s->most && f->start >= 0 && f->count >= 0 &&
                f->start <= s->nelems && f->count <= s->nelems - f->start;
    return good ? NC_NOERR : report_map(s, blob, "exceeds the bounds of its variable");
}

/* Progress in reading the map of a blob. */
struct progress {
    int64_t blob, done, end; /* number of the blob; elements read; end of the last run */
    uint64_t sum;
    bool more;
};

static int add_tile(const struct subfile_decomp *s, const struct facts *f,
                    const int64_t *tile, int64_t n, subfile_add_piece *add, void *to,
                    struct progress *x)
{
    int err = NC_NOERR;
    for (int64_t i = 0; i < n && x->more && err == NC_NOERR; i++) {
        struct subfile_piece p = {tile[i], tile[TILE + i], f->start + x->done,
                                  s->file->number};
        bool good = (p.at >= x->end || s->any_order) && p.at >= 0 && p.n > 0 &&
                    p.at < s->limit && p.n <= s->limit - p.at &&
                    p.n <= f->count - x->done;
        if (!good)
            return report_map(s, x->blob,
                              "is out of order or exceeds the bounds of its variable");
        x->done += p.n;
        x->end = p.at + p.n;
        x->sum = subfile_map_sum_add(x->sum, p.at, p.n);
        x->more = add(to, &p, &err);
    }
    return err;
}

static int read_blob_block(const struct subfile_decomp *s, subfile_add_piece *add,
                           void *to)
{
    const struct subfile_block *b = &s->block;
    int64_t row = b->length * b->inner;
    bool more = true;
    int err = NC_NOERR;
    for (int64_t i = s->low / row; more && i < b->outer && i * row < s->high; i++)
        more = add(to,
                   &(struct subfile_piece){.at = i * row + b->low * b->inner,
                                           .n = b->n * b->inner,
                                           .pos = i * b->n * b->inner,
                                           .sub = s->file->number},
                   &err);
    return err;
}

int subfile_decomp_read_map(const struct subfile_decomp *s, int64_t blob,
                            subfile_add_piece *add, void *to, int error)
{
    if (s->block.inner > 0)
        return error != NC_NOERR ? error : read_blob_block(s, add, to);
    struct facts f = {.nreqs = 0};
    struct progress x = {.blob = blob, .more = true};
    int64_t *tile = base_malloc(2 * (size_t)TILE * sizeof *tile);
    if (error == NC_NOERR && tile == NULL) error = NC_ENOMEM;
    int err = read_blob_facts(s, blob, &f, error);
    x.sum = subfile_map_mix((uint64_t)f.start);
    for (int64_t at = 0; at < (s->together ? s->most : f.nreqs); at += TILE) {
        if (!s->together && (err != NC_NOERR || !x.more)) break;
        int64_t left = err == NC_NOERR && x.more ? f.nreqs - at : 0;
        int64_t n = left < 0 ? 0 : left < TILE ? left : TILE;
        const struct subfile_numbers lists[] = {{s->offsets, blob, at, n, tile},
                                                {s->lengths, blob, at, n, tile + TILE}};
        int got = s->read(s->file->who, lists, n > 0 ? 2 : 0, err);
        if (err == NC_NOERR) err = got;
        if (err == NC_NOERR && tile != NULL) err = add_tile(s, &f, tile, n, add, to, &x);
    }
    base_free(tile);
    if (err == NC_NOERR && x.more && x.done != f.count)
        err = report_map(s, blob, "does not have the number of elements that it states");
    bool all = err == NC_NOERR && x.more && s->file->facts->checked;
    if (all && subfile_map_sum_add(x.sum, f.nreqs, f.count) != (uint64_t)f.sum)
        err = report_map(s, blob, "is damaged: its checksum is wrong");
    return err;
}

/* ---- index of all blobs ---- */

/* Collects the pieces of [low, high), until the index is full. */
struct window {
    struct subfile_index *index;
    bool full;
};

static bool add_to_window(void *to, const struct subfile_piece *piece, int *err)
{
    struct window *w = to;
    if (piece->at >= w->index->high || piece->at + piece->n <= w->index->low) return true;
    w->full = w->index->n == MOST_PIECES;
    if (!w->full) *err = subfile_index_add(w->index, piece);
    return !w->full && *err == NC_NOERR;
}

int subfile_decomp_read_index(struct subfile_index *x, int64_t limit, int64_t at,
                              int nsubs, subfile_decomp_open *open_decomp, void *who)
{
    if (at >= x->low && at < x->high) return NC_NOERR;
    bool first = x->high == 0;
    int64_t width = first ? limit : x->high - x->low, begin = first ? 0 : at;
    for (;; width /= 2) {
        struct window w = {.index = x};
        const struct subfile_piece *bad;
        if (at - begin >= width) begin = at;
        x->n = 0;
        x->low = begin;
        x->high = width < limit - begin ? begin + width : limit;
        int err = NC_NOERR;
        for (int i = 0; i < nsubs && err == NC_NOERR && !w.full; i++) {
            struct subfile_decomp s;
            err = open_decomp(who, i, &s);
            s.low = x->low;
            s.high = x->high;
            for (int64_t blob = 0; err == NC_NOERR && !w.full && blob < s.nblobs; blob++)
                err = subfile_decomp_read_map(&s, blob, add_to_window, &w, NC_NOERR);
        }
        if (err == NC_NOERR && !w.full) {
            err = subfile_index_sort(x, &bad);
            if (err == NC_NOERR && bad != NULL)
                err = base_error_set(NC_ENOTNC, "two blobs contain element %lld",
                                     (long long)bad->at);
        }
        if (err == NC_NOERR && w.full && width <= 1)
            err = base_error_set(NC_ENOTNC, "too many blobs contain element %lld",
                                 (long long)at);
        if (err != NC_NOERR) subfile_index_free(x);
        if (err != NC_NOERR || !w.full) return err;
    }
}
