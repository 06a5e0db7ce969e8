/* Maps from subfiles: of one blob, or the part of an index of all. */
#include "blob_source.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_bytes.h"
#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "blob_names.h"
#include "conv.h"

enum {
    TILE = 1 << 14,       /* runs read at a time */
    MOST_PIECES = 1 << 20 /* of an index: 32 MiB */
};

int blob_source_att(const struct cdf_header *h, int varid, const char *name,
                    int64_t *values, int most)
{
    int i;
    if (cdf_find_att(h, varid, name, &i) != NC_NOERR) return 0;
    const struct cdf_att *a =
        &(varid == NC_GLOBAL ? &h->gatts : &h->vars[varid].atts)->list[i];
    if (a->type != NC_INT && a->type != NC_INT64) return 0;
    int n = a->nelems < most ? (int)a->nelems : most;
    (void)conv_get(values, CONV_LONGLONG, a->values, a->type, (size_t)n);
    return n;
}

char *blob_source_path(const char *master, int number)
{
    size_t size = strlen(master) + 16;
    char *path = base_malloc(size);
    if (path != NULL) snprintf(path, size, "%s.%04d", master, number);
    return path;
}

char *blob_source_joining(const char *path, const struct cdf_envelope *e)
{
    size_t size = strlen(path) + 48;
    char *joining = base_malloc(size);
    if (joining != NULL)
        snprintf(joining, size, "%s.joining-%016" PRIx64, path,
                 e->token[0] ^ e->token[1]);
    return joining;
}

int blob_source_page(int fd, const char *master, struct cdf_envelope *e)
{
    unsigned char page[CDF_ENVELOPE];
    int err = base_read_at(fd, 0, page, sizeof page, master);
    return err == NC_NOERR ? cdf_decode_envelope(e, page, sizeof page) : err;
}

bool blob_source_blank(const char *path)
{
    enum { PAGE = 4096 };
    static const unsigned char zeros[PAGE];
    unsigned char page[PAGE];
    struct stat st;
    int fd = base_open(path, O_RDONLY);
    bool regular = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    int64_t n = regular ? base_read_some(fd, 0, page, PAGE) : -1;
    if (fd >= 0) (void)close(fd);
    return n >= 0 && memcmp(page, zeros, (size_t)n) == 0;
}

int blob_source_envelope(const char *master, struct cdf_envelope *e)
{
    int fd = base_open(master, O_RDONLY);
    if (fd < 0) return base_error_system(NC_EFILE, "opening", master);
    int err = blob_source_page(fd, master, e);
    (void)close(fd);
    return err;
}

const char *blob_source_foreign(struct cdf_header *h, const struct cdf_envelope *e,
                                int number)
{
    int64_t token[2] = {0, 0}, is = -1, of = -1, procs = -1;
    if (blob_source_att(h, NC_GLOBAL, BLOB_ATT_TOKEN, token, 2) != 2 ||
        (uint64_t)token[0] != e->token[0] || (uint64_t)token[1] != e->token[1])
        return "it is a subfile of another dataset, or of another run";
    (void)blob_source_att(h, NC_GLOBAL, BLOB_ATT_NUMBER, &is, 1);
    (void)blob_source_att(h, NC_GLOBAL, BLOB_ATT_SUBFILES, &of, 1);
    (void)blob_source_att(h, NC_GLOBAL, BLOB_ATT_NPROCS, &procs, 1);
    if (is != number) return "it was the subfile of another number";
    if (of != e->nsubfiles || procs != e->nprocs)
        return "it has another number of subfiles or of processes than the master file "
               "says";
    return NULL;
}

bool blob_source_is_framed(const struct cdf_header *h, int id)
{
    int64_t type;
    return blob_source_att(h, id, BLOB_ATT_TYPE, &type, 1) == 1;
}

/* Is it the table of a variable of that type? */
static bool is_table(const struct cdf_header *h, int id, int type)
{
    const struct cdf_var *v = &h->vars[id];
    int64_t told = 0;
    (void)blob_source_att(h, id, BLOB_ATT_TYPE, &told, 1);
    return told == type && v->type == NC_INT64 && !v->is_record && v->ndims == 1 &&
           v->nelems == BLOB_LEVELS;
}

const char *blob_source_variable(struct cdf_header *h, int id,
                                 const struct cdf_header *master, int *varid)
{
    int64_t number = -1;
    *varid = -1;
    if (blob_source_att(h, id, BLOB_ATT_VARID, &number, 1) != 1) return NULL;
    if (number < 0 || number >= master->nvars) return NULL;
    const struct cdf_var *v = &h->vars[id], *of = &master->vars[number];
    bool framed = blob_source_is_framed(h, id);
    bool good = framed ? is_table(h, id, of->type)
                       : v->type == of->type && v->is_record == of->is_record &&
                             v->ndims == 1 + of->is_record;
    if (!good) return "a variable is not as the master file has it";
    *varid = (int)number;
    return NULL;
}

int64_t blob_source_nelems(const struct cdf_header *h, int id, int decomposition)
{
    char name[64];
    int dim;
    if (!blob_source_is_framed(h, id)) return h->vars[id].nelems;
    snprintf(name, sizeof name, "D%d.nelems", decomposition);
    return cdf_find_dim(h, name, &dim) == NC_NOERR ? h->dims[dim].length : 0;
}

bool blob_places_decode(struct blob_place *list, const unsigned char *bytes, int64_t n)
{
    bool good = true;
    for (int64_t i = 0; i < n; i++) {
        list[i].at = (int64_t)base_get_word(&bytes);
        list[i].bytes = (int64_t)base_get_word(&bytes);
        good = good && list[i].bytes >= 0 &&
               (list[i].bytes == 0 || list[i].at >= BLOB_LOG_BEGIN) &&
               list[i].at <= INT64_MAX - list[i].bytes;
    }
    return good;
}

void blob_place_encode(const struct blob_place *p, unsigned char *bytes)
{
    (void)base_put_word(base_put_word(bytes, (uint64_t)p->at), (uint64_t)p->bytes);
}

static int tell_broken_blob(const struct blob_source *s, int64_t blob, const char *what)
{
    return base_error_set(NC_ENOTNC, "%s: the map of blob %lld in decomposition D%d %s",
                          s->path, (long long)blob, s->decomposition, what);
}

static int find_var(const struct blob_source *s, const char *what, int ndims, int *id)
{
    char name[64];
    snprintf(name, sizeof name, "D%d.%s", s->decomposition, what);
    int err = cdf_find_var(s->h, name, id);
    if (err == NC_NOERR && s->h->vars[*id].ndims == ndims) return NC_NOERR;
    return base_error_set(
        NC_ENOTNC, "%s: variable '%s' is missing or has other dimensions", s->path, name);
}

int blob_source_find(struct blob_source *s, int decomposition, int64_t nelems,
                     int64_t limit)
{
    s->decomposition = decomposition;
    s->nelems = nelems;
    s->limit = limit;
    int err = find_var(s, "nreqs", 1, &s->nreqs);
    if (err == NC_NOERR) err = find_var(s, "blob_start", 1, &s->start);
    if (err == NC_NOERR) err = find_var(s, "blob_count", 1, &s->count);
    if (err == NC_NOERR) err = find_var(s, "offsets", 2, &s->offsets);
    if (err == NC_NOERR) err = find_var(s, "lengths", 2, &s->lengths);
    if (err != NC_NOERR) return err;
    const struct cdf_var *vars = s->h->vars;
    s->nblobs = vars[s->nreqs].shape[0];
    s->most = vars[s->offsets].shape[1];
    bool good =
        vars[s->start].shape[0] == s->nblobs && vars[s->count].shape[0] == s->nblobs &&
        vars[s->offsets].shape[0] == s->nblobs &&
        vars[s->lengths].shape[0] == s->nblobs && vars[s->lengths].shape[1] == s->most;
    return good ? NC_NOERR : tell_broken_blob(s, -1, "has other dimensions");
}

/* What is known of a blob. */
struct facts {
    int64_t nreqs, start, count;
};

static int read_blob_facts(const struct blob_source *s, int64_t blob, struct facts *f,
                           int error)
{
    const struct blob_numbers lists[] = {{s->nreqs, 0, blob, 1, &f->nreqs},
                                         {s->start, 0, blob, 1, &f->start},
                                         {s->count, 0, blob, 1, &f->count}};
    int err = s->numbers(s->who, lists, error == NC_NOERR ? 3 : 0, error);
    if (error != NC_NOERR || err != NC_NOERR) return error != NC_NOERR ? error : err;
    bool good = f->nreqs >= 0 && f->nreqs <= s->most && f->start >= 0 && f->count >= 0 &&
                f->start <= s->nelems && f->count <= s->nelems - f->start;
    return good ? NC_NOERR : tell_broken_blob(s, blob, "points outside of its variable");
}

/* Where a blob's map has been read to. */
struct progress {
    int64_t blob, done, end; /* elements; of the last run */
    bool more;
};

static int take_tile(const struct blob_source *s, const struct facts *f,
                     const int64_t *tile, int64_t n, blob_take *take, void *to,
                     struct progress *x)
{
    int err = NC_NOERR;
    for (int64_t i = 0; i < n && x->more && err == NC_NOERR; i++) {
        struct blob_piece p = {tile[i], tile[TILE + i], f->start + x->done, s->sub};
        bool good = (p.at >= x->end || s->any_order) && p.at >= 0 && p.n > 0 &&
                    p.at < s->limit && p.n <= s->limit - p.at &&
                    p.n <= f->count - x->done;
        if (!good)
            return tell_broken_blob(s, x->blob, "is not in order, or points outside");
        x->done += p.n;
        x->end = p.at + p.n;
        x->more = take(to, &p, &err);
    }
    return err;
}

static int read_blob_block(const struct blob_source *s, blob_take *take, void *to)
{
    const struct blob_block *b = &s->block;
    int64_t row = b->length * b->inner;
    bool more = true;
    int err = NC_NOERR;
    for (int64_t i = s->low / row; more && i < b->outer && i * row < s->high; i++)
        more = take(to,
                    &(struct blob_piece){.at = i * row + b->low * b->inner,
                                         .n = b->n * b->inner,
                                         .pos = i * b->n * b->inner,
                                         .sub = s->sub},
                    &err);
    return err;
}

int blob_source_read(const struct blob_source *s, int64_t blob, blob_take *take, void *to,
                     int error)
{
    if (s->block.inner > 0)
        return error != NC_NOERR ? error : read_blob_block(s, take, to);
    struct facts f = {0, 0, 0};
    struct progress x = {.blob = blob, .more = true};
    int64_t *tile = base_malloc(2 * (size_t)TILE * sizeof *tile);
    if (error == NC_NOERR && tile == NULL) error = NC_ENOMEM;
    int err = read_blob_facts(s, blob, &f, error);
    for (int64_t at = 0; at < (s->together ? s->most : f.nreqs); at += TILE) {
        if (!s->together && (err != NC_NOERR || !x.more)) break;
        int64_t left = err == NC_NOERR && x.more ? f.nreqs - at : 0;
        int64_t n = left < 0 ? 0 : left < TILE ? left : TILE;
        const struct blob_numbers lists[] = {{s->offsets, blob, at, n, tile},
                                             {s->lengths, blob, at, n, tile + TILE}};
        int got = s->numbers(s->who, lists, n > 0 ? 2 : 0, err);
        if (err == NC_NOERR) err = got;
        if (err == NC_NOERR && tile != NULL)
            err = take_tile(s, &f, tile, n, take, to, &x);
    }
    base_free(tile);
    if (err == NC_NOERR && x.more && x.done != f.count)
        err = tell_broken_blob(s, blob, "has not as many elements as it says");
    return err;
}

/* ---- all blobs' ---- */

/* Takes the pieces of [low, high), as long as there is room. */
struct window {
    struct blob_index *index;
    bool full;
};

static bool take_piece(void *to, const struct blob_piece *piece, int *err)
{
    struct window *w = to;
    if (piece->at >= w->index->high || piece->at + piece->n <= w->index->low) return true;
    w->full = w->index->n == MOST_PIECES;
    if (!w->full) *err = blob_index_add(w->index, piece);
    return !w->full && *err == NC_NOERR;
}

static int read_blobs(struct window *w, int nsubs, blob_source_open *open_it, void *who)
{
    int err = NC_NOERR;
    for (int i = 0; i < nsubs && err == NC_NOERR && !w->full; i++) {
        struct blob_source s;
        err = open_it(who, i, &s);
        s.low = w->index->low;
        s.high = w->index->high;
        for (int64_t blob = 0; err == NC_NOERR && !w->full && blob < s.nblobs; blob++)
            err = blob_source_read(&s, blob, take_piece, w, NC_NOERR);
    }
    return err;
}

int blob_source_index(struct blob_index *x, int64_t limit, int64_t at, int nsubs,
                      blob_source_open *open_it, void *who)
{
    if (at >= x->low && at < x->high) return NC_NOERR;
    bool first = x->high == 0;
    int64_t width = first ? limit : x->high - x->low, begin = first ? 0 : at;
    for (;; width /= 2) {
        struct window w = {.index = x};
        const struct blob_piece *bad;
        if (at - begin >= width) begin = at;
        x->n = 0;
        x->low = begin;
        x->high = width < limit - begin ? begin + width : limit;
        int err = read_blobs(&w, nsubs, open_it, who);
        if (err == NC_NOERR && !w.full && !blob_index_settle(x, &bad))
            err = base_error_set(NC_ENOTNC, "two blobs have element %lld",
                                 (long long)bad->at);
        if (err == NC_NOERR && w.full && width <= 1)
            err = base_error_set(NC_ENOTNC, "more blobs than can be have element %lld",
                                 (long long)at);
        if (err != NC_NOERR) blob_index_free(x);
        if (err != NC_NOERR || !w.full) return err;
    }
}
