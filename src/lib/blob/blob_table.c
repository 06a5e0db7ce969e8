/* Where chains of frames are: tables in logs, and the logs themselves. */
#include <string.h>
#include <sys/stat.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "blob_frames.h"
#include "blob_names.h"

enum { ROWS = 256, ROW = 32 }; /* kept at a time; places of each */

/* ---- the log ---- */

int blob_log_request(const struct blob_sub *sub, struct blob_log_request *q,
                     struct region *where, int64_t n, const void *bytes)
{
    struct access_request *r = &q->one.r;
    q->where = where;
    *r = (struct access_request){
        .buf = (void *)bytes, .varid = sub->log, .type = CONV_SCHAR, .raw = true};
    r->slab[0] = (int64_t)(intptr_t)where;
    r->slab[1] = n;
    r->slab[2] = 0;
    return where == NULL ? NC_ENOMEM : NC_NOERR;
}

int blob_log_read(struct blob_sub *sub, int64_t at, void *bytes, int64_t n)
{
    struct blob_log_request q;
    struct access_request *r = &q.one.r;
    int err = blob_log_request(sub, &q, region_block(at, n), n, bytes);
    if (err == NC_NOERR) err = driver_call(sub->driver, get, &r, 1);
    region_free(q.where);
    return err;
}

int blob_log_write(struct blob_sub *sub, int64_t at, const void *bytes, int64_t n)
{
    struct blob_log_request q;
    struct access_request *r = &q.one.r;
    int err = blob_log_request(sub, &q, region_block(at, n), n, bytes);
    if (err == NC_NOERR) err = driver_call(sub->driver, put, &r, 1);
    region_free(q.where);
    return err;
}

int64_t blob_frames_records(const struct blob *b, int64_t records)
{
    if (!b->facts.framed) return records;
    return b->frames.end > 0 || b->own == NULL ? b->frames.end
                                               : b->own->ds.header.numrecs;
}

/* ---- what is known of a subfile ---- */

/* The first element of each blob of a decomposition, and one more. */
struct blob_starts {
    int decomposition;
    int64_t n;
    int64_t *list;
    struct blob_starts *next;
};

struct blob_tables {
    struct blob_starts *starts;
    int nvars;       /* of the master that the list below is long */
    int64_t **pages; /* of each of them BLOB_LEVELS; NULL: not read yet */
};

static struct blob_tables *tables_of(struct blob_sub *sub)
{
    if (sub->tables == NULL) sub->tables = base_calloc(1, sizeof *sub->tables);
    return sub->tables;
}

void blob_frames_free_sub(struct blob_sub *sub)
{
    struct blob_tables *t = sub->tables;
    if (t == NULL) return;
    for (int i = 0; i < t->nvars; i++)
        base_free(t->pages[i]);
    for (struct blob_starts *s = t->starts, *next; s != NULL; s = next) {
        next = s->next;
        base_free(s->list);
        base_free(s);
    }
    base_free(t->pages);
    base_free(t);
    sub->tables = NULL;
}

/* ---- blobs ---- */

static int read_var(struct blob_sub *sub, int varid, void *list, int64_t n)
{
    union {
        struct access_request r;
        unsigned char room[sizeof(struct access_request) + 2 * sizeof(int64_t)];
    } one = {.r = {.buf = list, .varid = varid, .type = CONV_LONGLONG}};
    struct access_request *r = &one.r;
    r->slab[0] = 0;
    r->slab[1] = n;
    return driver_call(sub->driver, get, &r, 1);
}

static int read_starts(struct blob *b, struct blob_sub *sub, struct blob_decomp *d,
                       struct blob_starts *s)
{
    const struct cdf_header *h = &sub->ds.header;
    struct blob_source source = {.h = &sub->ds.header, .path = sub->ds.path};
    const struct cdf_var *whole = &b->base.ds->header.vars[d->varid];
    int id = blob_sub_var(sub, d->varid);
    int64_t nelems = id < 0 ? 0 : blob_source_nelems(h, id, d->number);
    int err = blob_source_find(&source, d->number, nelems, whole->nelems);
    if (err != NC_NOERR) return err;
    s->n = source.nblobs;
    s->list = base_malloc((size_t)(s->n + 1) * sizeof *s->list);
    if (s->list == NULL) return NC_ENOMEM;
    err = read_var(sub, source.start, s->list, s->n);
    s->list[s->n] = nelems;
    for (int64_t i = 0; i <= s->n && err == NC_NOERR; i++)
        if (s->list[i] < (i == 0 ? 0 : s->list[i - 1]) || s->list[i] > nelems)
            err = base_error_set(NC_ENOTNC, "%s: blobs of decomposition D%d overlap",
                                 sub->ds.path, d->number);
    return err;
}

static int find_starts(struct blob *b, struct blob_sub *sub, struct blob_decomp *d,
                       const struct blob_starts **found)
{
    struct blob_tables *t = tables_of(sub);
    struct blob_starts *s = t == NULL ? NULL : t->starts;
    while (s != NULL && s->decomposition != d->number)
        s = s->next;
    *found = s;
    if (t == NULL) return NC_ENOMEM;
    if (s != NULL) return NC_NOERR;
    s = base_calloc(1, sizeof *s);
    if (s == NULL) return NC_ENOMEM;
    s->decomposition = d->number;
    int err = read_starts(b, sub, d, s);
    if (err != NC_NOERR) {
        base_free(s->list);
        base_free(s);
        return err;
    }
    s->next = t->starts;
    *found = t->starts = s;
    return NC_NOERR;
}

int blob_frames_find(struct blob *b, struct blob_sub *sub, struct blob_decomp *d,
                     int64_t pos, int64_t *blob, int64_t *first, int64_t *n)
{
    const struct blob_starts *s;
    int64_t own = d->mine ? blob_map_count(&d->own) : 0;
    if (sub == b->own && pos >= d->start && pos - d->start < own) {
        *blob = b->rank;
        *first = d->start;
        *n = own;
        return NC_NOERR;
    }
    int err = find_starts(b, sub, d, &s);
    if (err != NC_NOERR) return err;
    int64_t low = 0, high = s->n; /* the last one that begins at pos or before */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        *(s->list[middle] <= pos ? &low : &high) = middle;
    }
    *blob = low;
    *first = s->list[low];
    *n = s->list[low + 1] - *first;
    return NC_NOERR;
}

/* ---- pages ---- */

static int64_t **pages_of(struct blob *b, struct blob_sub *sub, int varid)
{
    struct blob_tables *t = tables_of(sub);
    int nvars = b->base.ds->header.nvars;
    if (t == NULL) return NULL;
    if (t->nvars < nvars) {
        int64_t **grown = base_realloc(t->pages, (size_t)nvars * sizeof *grown);
        if (grown == NULL) return NULL;
        for (int i = t->nvars; i < nvars; i++)
            grown[i] = NULL;
        t->pages = grown;
        t->nvars = nvars;
    }
    return &t->pages[varid];
}

/* A page stays where it is: only what is not known yet is read again. */
static int read_pages(struct blob *b, struct blob_sub *sub, int varid, int64_t **pages)
{
    int64_t list[BLOB_LEVELS] = {0};
    int id = blob_sub_var(sub, varid);
    if (id < 0)
        return base_error_set(NC_ENOTNC, "%s: variable '%s' is missing", sub->ds.path,
                              b->base.ds->header.vars[varid].name);
    int err = read_var(sub, id, list, BLOB_LEVELS);
    if (err != NC_NOERR) return err;
    for (int i = 0; i < BLOB_LEVELS; i++)
        if (list[i] != 0 && (list[i] < BLOB_LOG_BEGIN || list[i] > INT64_MAX / 2))
            return base_error_set(NC_ENOTNC,
                                  "%s: variable '%s' has a table that cannot be",
                                  sub->ds.path, b->base.ds->header.vars[varid].name);
    if (*pages == NULL) *pages = base_calloc(BLOB_LEVELS, sizeof **pages);
    if (*pages == NULL) return NC_ENOMEM;
    for (int i = 0; i < BLOB_LEVELS; i++)
        if ((*pages)[i] == 0) (*pages)[i] = list[i];
    return NC_NOERR;
}

int blob_frames_page(struct blob *b, struct blob_sub *sub, int varid, int64_t record,
                     int64_t *page)
{
    int64_t **pages = pages_of(b, sub, varid);
    int level = blob_level(record), err = NC_NOERR;
    *page = 0;
    if (pages == NULL) return NC_ENOMEM;
    if (level >= BLOB_LEVELS) return NC_NOERR;
    /* In the own subfile this opening adds pages itself, and nobody else does. */
    if (*pages == NULL || ((*pages)[level] == 0 && !(sub == b->own && b->makes)))
        err = read_pages(b, sub, varid, pages);
    if (err != NC_NOERR) return err;
    *page = (*pages)[level];
    return NC_NOERR;
}

int blob_frames_add_page(struct blob *b, struct blob_sub *sub, int varid, int level,
                         int64_t page)
{
    int64_t **pages = pages_of(b, sub, varid);
    if (pages == NULL) return NC_ENOMEM;
    if (*pages == NULL) {
        int err = read_pages(b, sub, varid, pages);
        if (err != NC_NOERR) return err;
    }
    (*pages)[level] = page;
    return NC_NOERR;
}

const int64_t *blob_frames_known(const struct blob_sub *sub, int varid)
{
    const struct blob_tables *t = sub->tables;
    return t == NULL || varid >= t->nvars ? NULL : t->pages[varid];
}

/* ---- places ---- */

/* Places of a record, of ROW blobs from a multiple of that on. */
struct row {
    int64_t turn, record, first;
    int varid, sub;
    struct blob_place list[ROW];
};

struct blob_rows {
    struct row list[ROWS];
};

static int read_row(struct blob *b, struct blob_sub *sub, struct row *x)
{
    unsigned char bytes[ROW * BLOB_PLACE];
    const struct cdf_envelope *e = &b->facts;
    int64_t nblobs = blob_first_of(e, sub->number + 1) - blob_first_of(e, sub->number);
    int64_t n = nblobs - x->first < ROW ? nblobs - x->first : ROW, page;
    memset(x->list, 0, sizeof x->list);
    int err = blob_frames_page(b, sub, x->varid, x->record, &page);
    if (err != NC_NOERR || page == 0) return err;
    err = blob_log_read(sub, blob_place_at(page, x->record, nblobs, x->first), bytes,
                        n * BLOB_PLACE);
    if (err != NC_NOERR || blob_places_decode(x->list, bytes, n)) return err;
    return base_error_set(
        NC_ENOTNC, "%s: the table of variable '%s' is damaged at record %lld",
        sub->ds.path, b->base.ds->header.vars[x->varid].name, (long long)x->record);
}

int blob_frames_place(struct blob *b, struct blob_sub *sub, int varid, int64_t record,
                      int64_t blob, struct blob_place *place)
{
    struct blob_frames *f = &b->frames;
    int64_t first = blob - blob % ROW;
    uint64_t mix = ((uint64_t)record * 31 + (uint64_t)varid) * 31 +
                   (uint64_t)sub->number * 7 + (uint64_t)(first / ROW);
    if (f->rows == NULL) f->rows = base_calloc(1, sizeof *f->rows);
    if (f->rows == NULL) return NC_ENOMEM;
    struct row *x = &f->rows->list[mix % ROWS];
    int err = NC_NOERR;
    if (x->turn != f->turn || x->record != record || x->first != first ||
        x->varid != varid || x->sub != sub->number) {
        *x = (struct row){.record = record, .first = first, .varid = varid};
        x->sub = sub->number;
        err = read_row(b, sub, x);
        x->turn = err == NC_NOERR ? f->turn : f->turn - 1;
    }
    *place = x->list[blob - first];
    return err;
}

/* ---- the log's end ---- */

/* Behind all that there may be something of, as process 0 of the group finds it: bytes
 * that a killed job has put behind the records of the header, and pages, of which there
 * may be nothing yet. */
static int find_end(struct blob *b, int64_t *end)
{
    struct blob_sub *s = b->own;
    const struct cdf_header *h = &s->ds.header, *master = &b->base.ds->header;
    struct stat st;
    int err = NC_NOERR;
    *end = h->numrecs < BLOB_LOG_BEGIN ? BLOB_LOG_BEGIN : h->numrecs;
    if (base_fs_stat(s->ds.full, &st) != 0)
        return base_error_system(NC_EFILE, "looking at", s->ds.full);
    if (st.st_size - h->begin_record > *end) *end = st.st_size - h->begin_record;
    for (int id = 0; id < master->nvars && err == NC_NOERR; id++) {
        int64_t **pages = pages_of(b, s, id);
        if (pages == NULL) return NC_ENOMEM;
        if (blob_sub_var(s, id) < 0) continue;
        if (*pages == NULL) err = read_pages(b, s, id, pages);
        for (int i = 0; i < BLOB_LEVELS && err == NC_NOERR; i++) {
            int64_t page = (*pages)[i], behind = page + blob_page_bytes(i, b->size);
            if (page != 0 && behind > *end) *end = behind;
        }
    }
    return err;
}

int blob_frames_end_all(struct blob *b)
{
    int64_t end = 0;
    if (b->frames.end > 0) return NC_NOERR;
    int err = b->rank == 0 ? find_end(b, &end) : NC_NOERR;
    if (err != NC_NOERR) end = -1;
    int mpi = MPI_Bcast(&end, 1, MPI_INT64_T, 0, b->comm);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "the end of a log");
    b->frames.end = end > 0 ? end : 0;
    if (end > 0) return NC_NOERR;
    return err != NC_NOERR ? err
                           : base_error_set(NC_EREAD, "%s: its log could not be read",
                                            b->own->ds.path);
}

void blob_frames_opened(struct blob *b)
{
    const char *hint = b->base.ds->hints.compress;
    struct blob_frames *f = &b->frames;
    int i;
    f->safe = b->base.ds->header.numrecs > 0 ? b->base.ds->header.numrecs : 1;
    memcpy(f->rules, hint, sizeof f->rules);
    if (hint[0] != '\0' || b->own == NULL) return;
    const struct cdf_header *h = &b->own->ds.header;
    if (cdf_find_att(h, NC_GLOBAL, BLOB_ATT_CODEC, &i) != NC_NOERR) return;
    const struct cdf_att *a = &h->gatts.list[i];
    if (a->type != NC_CHAR || a->nelems >= (int64_t)sizeof f->rules) return;
    memcpy(f->rules, a->values, (size_t)a->nelems);
    f->rules[a->nelems] = '\0';
}
