/* Finds chains of frames through a subfile's tables: finds the blob that contains an
 * element, the page that covers a record, and the place in that page. */
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_require.h"
#include "subfile_cache.h"
#include "subfile_digest.h"
#include "subfile_names.h"
#include "subfile_open.h"

enum { ROWS = 256, ROW = 32 }; /* number of cached row parts; number of places in each */

/* ---- blobs ---- */

/* The first element of each blob of a decomposition, and the end of the last blob. */
struct subfile_starts {
    int decomposition;
    int64_t n;
    int64_t *list;
    struct subfile_starts *next;
};

/* Finds a decomposition's blobs in the cache, or reads them. Returns NULL on error. */
static const struct subfile_starts *find_starts(struct subfile *s, int decomposition,
                                                int varid, int *err)
{
    struct subfile_starts *x = s->starts;
    struct subfile_decomp d;
    *err = NC_NOERR;
    while (x != NULL && x->decomposition != decomposition)
        x = x->next;
    if (x != NULL) return x;
    *err = subfile_find_decomp(s, decomposition, varid, &d);
    if (*err == NC_NOERR && d.nblobs > s->size / SUBFILE_PLACE)
        *err = base_error_set(NC_ENOTNC, "%s: the file ends before the end of its maps",
                              s->path);
    if (*err != NC_NOERR) return NULL;
    int64_t n = d.nblobs, *count = base_malloc((size_t)(n + 1) * sizeof *count);
    int64_t *list = base_arena_alloc(&s->arena, (size_t)(n + 1) * sizeof *list);
    x = base_arena_alloc(&s->arena, sizeof *x);
    *err = x == NULL || list == NULL || count == NULL
               ? NC_ENOMEM
               : subfile_decomp_read_blobs(&d, list, count);
    base_free(count);
    if (*err != NC_NOERR) return NULL;
    list[n] = d.nelems;
    *x = (struct subfile_starts){decomposition, n, list, s->starts};
    return s->starts = x;
}

int subfile_get_blob(struct subfile *s, int decomposition, int varid,
                     struct subfile_blob *blob)
{
    int err;
    const struct subfile_starts *x = find_starts(s, decomposition, varid, &err);
    if (x == NULL) return err;
    base_require(blob->number >= 0 && blob->number < x->n);
    blob->start = x->list[blob->number];
    blob->nelems = x->list[blob->number + 1] - blob->start;
    return NC_NOERR;
}

int subfile_find_blob(struct subfile *s, int decomposition, int varid, int64_t pos,
                      struct subfile_blob *blob)
{
    int err;
    const struct subfile_starts *x = find_starts(s, decomposition, varid, &err);
    if (x == NULL) return err;
    if (pos < 0 || pos >= x->list[x->n])
        return subfile_complain(s, varid, 0, -1, NC_ENOTNC,
                                "a map refers to an element that is outside all blobs");
    int64_t low = 0, high = x->n; /* find the last blob that begins at or before pos */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        *(x->list[middle] <= pos ? &low : &high) = middle;
    }
    *blob = (struct subfile_blob){low, x->list[low], x->list[low + 1] - x->list[low]};
    return NC_NOERR;
}

/* ---- pages ---- */

static int64_t **pages_of(struct subfile *s, int varid)
{
    int nvars = s->master->nvars;
    if (s->npages < nvars) {
        int64_t **grown = base_arena_alloc(&s->arena, (size_t)nvars * sizeof *grown);
        if (grown == NULL) return NULL;
        for (int i = 0; i < nvars; i++)
            grown[i] = i < s->npages ? s->pages[i] : NULL;
        s->pages = grown;
        s->npages = nvars;
    }
    return &s->pages[varid];
}

/* A page never moves, so an offset that is known remains valid. */
int subfile_get_pages(struct subfile *s, int varid, bool again, int64_t **pages)
{
    int64_t list[SUBFILE_LEVELS] = {0}, **known = pages_of(s, varid);
    int id = subfile_var(s, varid);
    const struct subfile_numbers lists[] = {{id, 0, 0, SUBFILE_LEVELS, list}};
    if (known == NULL) return NC_ENOMEM;
    base_require(varid >= 0 && varid < s->npages);
    *pages = *known;
    if (*known != NULL && !again) return NC_NOERR;
    if (id < 0)
        return base_error_set(NC_ENOTNC, "%s: variable '%s' is missing", s->path,
                              s->master->vars[varid].name);
    int err = s->read_numbers(s->who, lists, 1, NC_NOERR);
    if (err != NC_NOERR) return err;
    if (*known == NULL) {
        *pages = base_arena_alloc(&s->arena, sizeof list);
        if (*pages == NULL) return NC_ENOMEM;
        memset(*pages, 0, sizeof list);
        *known = *pages;
    }
    for (int i = 0; i < SUBFILE_LEVELS; i++) {
        bool good =
            subfile_digest_decode_page(s->facts, varid, i, &list[i]) &&
            (list[i] == 0 || (list[i] >= SUBFILE_LOG_BEGIN && list[i] <= INT64_MAX / 2));
        if ((*pages)[i] <= 0) (*pages)[i] = good ? list[i] : -1;
    }
    return NC_NOERR;
}

int subfile_find_page(struct subfile *s, int varid, int64_t record, int64_t *page)
{
    int64_t *pages;
    int level = subfile_level(record);
    *page = 0;
    if (level >= SUBFILE_LEVELS) return NC_NOERR;
    int err = subfile_get_pages(s, varid, false, &pages);
    if (err == NC_NOERR && pages[level] <= 0 && !s->owned)
        err = subfile_get_pages(s, varid, true, &pages);
    if (err != NC_NOERR) return err;
    *page = pages[level];
    if (*page >= 0) return NC_NOERR;
    return subfile_complain(s, varid, record, -1, NC_ENOTNC,
                            "the offset of a page of its table is damaged");
}

bool subfile_has_page(struct subfile *s, int level, int64_t page)
{
    int64_t nblobs = subfile_nblobs(s->facts, s->number);
    if (page <= 0 || nblobs > (s->size / SUBFILE_PLACE) >> level) return false;
    return subfile_has_log(s, page, subfile_page_size(level, nblobs));
}

/* ---- places ---- */

/* The places of ROW blobs in a record. The first blob is a multiple of ROW. */
struct subfile_row {
    int64_t turn, record, first;
    int varid, sub;
    bool known;
    struct subfile_place list[ROW];
};

static int read_row(struct subfile *s, struct subfile_row *x)
{
    unsigned char bytes[ROW * SUBFILE_PLACE];
    int64_t nblobs = subfile_nblobs(s->facts, s->number), page;
    int64_t n = nblobs - x->first < ROW ? nblobs - x->first : ROW;
    base_require(x->first >= 0 && n > 0 && x->record >= 0);
    int err = subfile_find_page(s, x->varid, x->record, &page);
    if (err != NC_NOERR || page == 0) return err;
    int64_t before = x->record + 1 - (INT64_C(1) << subfile_level(x->record));
    bool good = before <= (INT64_MAX - page) / (nblobs * SUBFILE_PLACE) - 1;
    int64_t at = good ? subfile_place_offset(page, x->record, nblobs, x->first) : 0;
    if (!subfile_has_log(s, at, n * SUBFILE_PLACE))
        return subfile_complain(s, x->varid, x->record, -1, NC_ENOTNC,
                                "its table of frames points outside the log");
    err = s->read_log(s->who, at, bytes, n * SUBFILE_PLACE);
    if (err == NC_NOERR && !subfile_places_decode(s->facts, x->list, bytes, n))
        return subfile_complain(s, x->varid, x->record, -1, NC_ENOTNC,
                                "its table has invalid offsets");
    return err;
}

int subfile_find_place(struct subfile *s, int varid, int64_t record, int64_t blob,
                       struct subfile_place *place)
{
    struct subfile_cache *c = s->cache;
    int64_t first = blob - blob % ROW;
    uint64_t mix = ((uint64_t)record * 31 + (uint64_t)varid) * 31 +
                   (uint64_t)s->number * 7 + (uint64_t)(first / ROW);
    if (c->rows == NULL) c->rows = base_calloc(ROWS, sizeof *c->rows);
    if (c->rows == NULL) return NC_ENOMEM;
    struct subfile_row *x = &c->rows[mix % ROWS];
    int err = NC_NOERR;
    if (!x->known || x->turn != c->turn || x->record != record || x->first != first ||
        x->varid != varid || x->sub != s->number) {
        *x = (struct subfile_row){.turn = c->turn,
                                  .record = record,
                                  .first = first,
                                  .varid = varid,
                                  .sub = s->number};
        err = read_row(s, x);
        x->known = err == NC_NOERR;
    }
    *place = x->list[blob - first];
    return err;
}
