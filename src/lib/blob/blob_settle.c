/* Which variables get a decomposition, and which one: found from the first put of each.
 *
 * Each process knows the elements that it puts of a variable. A sum over all processes of
 * a hash of these and the process's rank is a fingerprint of the whole: variables of the
 * same dimensions and fingerprint share a decomposition. A table with a row for each open
 * variable, in one reduction, tells all processes all that is needed to decide alike.
 *
 * Maps must not overlap, or an element would have two homes. Whether those of all
 * processes do is found with a bit for each element: the exclusive or of all processes'
 * bits has as many bits set as there are elements in all maps if and only if none is in
 * two of them. It goes round in tiles, with a bit for 2^grain elements if all runs begin
 * and end at multiples of that. */
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "blob_settle.h"

/* ---- what this process puts ---- */

/* One process's maps, each of them once. */
struct claims {
    int *claim; /* of each variable: its map's number here; -1: none */
    struct blob_claim *list;
    int n;
    int64_t room;
};

static void free_claims(struct claims *c)
{
    for (int i = 0; i < c->n; i++)
        blob_map_free(&c->list[i].map);
    base_free(c->list);
    base_free(c->claim);
}

/* Do two variables have the same fixed dimensions? */
static bool same_dims(const struct cdf_header *h, int a, int b)
{
    const struct cdf_var *v = &h->vars[a], *w = &h->vars[b];
    int first = blob_first_dim(v), other = blob_first_dim(w);
    return v->ndims - first == w->ndims - other &&
           memcmp(v->dimids + first, w->dimids + other,
                  (size_t)(v->ndims - first) * sizeof *v->dimids) == 0;
}

static int add_claim(const struct cdf_header *h, const struct access_request *r,
                     struct blob_map *map)
{
    struct blob_walk w;
    struct blob_stretch s;
    bool alike = !r->raw && h->vars[r->varid].is_record; /* all records of it */
    int err = blob_walk_begin(&w, h, r);
    while (err == NC_NOERR && blob_walk_next(&w, &s) &&
           !(alike && s.record != access_start(r)[0]))
        err = blob_map_add(map, s.at, s.n);
    blob_walk_end(&w);
    return err;
}

/* What one variable's requests, reqs[0..n), name. */
static int describe_claims(const struct cdf_header *h, struct access_request *const *reqs,
                           int64_t n, struct blob_claim *c)
{
    struct blob_form form;
    int err = NC_NOERR;
    blob_form_of(&h->vars[reqs[0]->varid], reqs[0], &c->form);
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        blob_form_of(&h->vars[reqs[i]->varid], reqs[i], &form);
        bool again = i > 0 && blob_form_is(&form, &c->form);
        if (!again) err = add_claim(h, reqs[i], &c->map);
        if (i > 0 && !again) c->form.ndims = -1;
    }
    return err == NC_NOERR ? blob_map_settle(&c->map) : err;
}

static bool same_map(const struct blob_map *a, const struct blob_map *b)
{
    return a->n == b->n &&
           memcmp(a->runs, b->runs, (size_t)(a->n + 1) * sizeof *a->runs) == 0;
}

/* A variable's requests become a claim, or share one. */
static int claim(const struct cdf_header *h, struct access_request *const *reqs,
                 int64_t n, struct claims *c)
{
    int varid = reqs[0]->varid;
    struct blob_claim mine = {.varid = varid};
    if (n == 1) { /* the usual case: is it as the one before? */
        blob_form_of(&h->vars[varid], reqs[0], &mine.form);
        for (int i = 0; i < c->n; i++)
            if (same_dims(h, varid, c->list[i].varid) &&
                (blob_form_is(&mine.form, &c->list[i].form) ||
                 blob_walk_is_map(&h->vars[varid], reqs[0], &c->list[i].map))) {
                c->claim[varid] = i;
                return NC_NOERR;
            }
    }
    int err = describe_claims(h, reqs, n, &mine);
    for (int i = 0; i < c->n && err == NC_NOERR; i++) {
        if (!same_dims(h, varid, c->list[i].varid)) continue;
        if (!same_map(&mine.map, &c->list[i].map)) continue;
        blob_map_free(&mine.map);
        c->claim[varid] = i;
        return NC_NOERR;
    }
    void *grown = base_grow(c->list, &c->room, c->n + 1, sizeof *c->list);
    if (grown != NULL) c->list = grown;
    if (err == NC_NOERR && grown == NULL) err = NC_ENOMEM;
    if (err != NC_NOERR) {
        blob_map_free(&mine.map);
        return err;
    }
    c->claim[varid] = c->n;
    c->list[c->n++] = mine;
    return NC_NOERR;
}

static int by_variable(const void *a, const void *b)
{
    const struct access_request *p = *(struct access_request *const *)a,
                                *q = *(struct access_request *const *)b;
    return (p->varid > q->varid) - (p->varid < q->varid);
}

static int make_claims(struct blob *b, struct access_request *const *reqs, int64_t n,
                       struct claims *c)
{
    const struct cdf_header *h = &b->base.ds->header;
    struct access_request **sorted =
        base_malloc((size_t)(n + 1) * sizeof(struct access_request *));
    int err = sorted == NULL ? NC_ENOMEM : NC_NOERR;
    *c = (struct claims){.claim = base_malloc((size_t)(h->nvars + 1) * sizeof(int))};
    if (c->claim == NULL) err = NC_ENOMEM;
    for (int i = 0; c->claim != NULL && i < h->nvars; i++)
        c->claim[i] = -1;
    if (err == NC_NOERR && n > 0) {
        memcpy(sorted, reqs, (size_t)n * sizeof(struct access_request *));
        qsort(sorted, (size_t)n, sizeof(struct access_request *), by_variable);
    }
    for (int64_t from = 0, to; err == NC_NOERR && from < n; from = to) {
        for (to = from + 1; to < n && sorted[to]->varid == sorted[from]->varid;)
            to++;
        err = claim(h, sorted + from, to - from, c);
    }
    base_free(sorted);
    return err;
}

/* ---- the table ---- */

enum { PUTTERS, TOUCHED, ELEMENTS, RUNS, PRINT, PRINT2, COLUMNS };

static void fill_row(const struct blob *b, const struct claims *c, int varid,
                     uint64_t *row)
{
    memset(row, 0, COLUMNS * sizeof *row);
    row[TOUCHED] = b->touched[varid];
    if (c->claim[varid] < 0 || c->list == NULL) return;
    const struct blob_map *map = &c->list[c->claim[varid]].map;
    uint64_t rank = (uint64_t)b->base.ds->rank;
    row[PUTTERS] = 1;
    row[ELEMENTS] = (uint64_t)blob_map_count(map);
    row[RUNS] = (uint64_t)map->n;
    row[PRINT] = blob_map_print(map, rank + 1);
    row[PRINT2] = blob_map_print(map, ~rank);
}

/* Rows of the open variables, in their order, added up over all processes. */
static int add_up_claims_all(struct blob *b, const struct claims *c, uint64_t *table)
{
    int64_t row = 0;
    for (int id = 0; id < b->nvars; id++)
        if (b->state[id] == BLOB_OPEN) fill_row(b, c, id, table + COLUMNS * row++);
    enum { ROWS = 1 << 20 }; /* of one reduction: messages stay small */
    int mpi = MPI_SUCCESS;
    for (int64_t at = 0; at < row && mpi == MPI_SUCCESS; at += ROWS) {
        int64_t n = row - at < ROWS ? row - at : ROWS;
        mpi = MPI_Allreduce(MPI_IN_PLACE, table + COLUMNS * at, (int)(COLUMNS * n),
                            MPI_UINT64_T, MPI_SUM, b->base.ds->comm);
    }
    return base_mpi_error(mpi, NC_EMPI, "finding decompositions");
}

/* Does a decomposition pay? Its map takes 8 bytes a run, for one record or many. One
 * process's values alone, or what all write whole, belong into the master; and so does
 * what has been put there before. */
static bool pays(const struct blob *b, int varid, const uint64_t *row)
{
    enum { MAP = 8, RECORDS = 8 };
    const struct cdf_var *v = &b->base.ds->header.vars[varid];
    uint64_t bytes = row[ELEMENTS] * (uint64_t)cdf_type_size(v->type);
    return b->last < CDF_COMMITTED && row[TOUCHED] == 0 &&
           (row[PUTTERS] > 1 || b->base.ds->nprocs == 1) &&
           row[ELEMENTS] <= (uint64_t)v->nelems &&
           row[RUNS] * MAP <= bytes * (v->is_record ? RECORDS : 1);
}

/* ---- do maps overlap? ---- */

enum { TILE_BYTES = 1 << 20, TILE_BITS = 8 * TILE_BYTES };

static void set_bits(unsigned char *bytes, int64_t from, int64_t to)
{
    while (from < to && from % 8 != 0) {
        bytes[from / 8] |= (unsigned char)(1 << from % 8);
        from++;
    }
    memset(bytes + from / 8, 0xff, (size_t)((to - from) / 8));
    for (from += (to - from) / 8 * 8; from < to; from++)
        bytes[from / 8] |= (unsigned char)(1 << from % 8);
}

/* The map's bits in [low, high), from run *next on. */
static void draw(const struct blob_map *m, int grain, int64_t low, int64_t high,
                 unsigned char *bytes, int64_t *next)
{
    memset(bytes, 0, TILE_BYTES);
    for (; m != NULL && *next < m->n; ++*next) {
        int64_t from = m->runs[*next].at >> grain,
                to = from + (blob_run_length(&m->runs[*next]) >> grain);
        if (from >= high) return;
        set_bits(bytes, (from > low ? from : low) - low, (to < high ? to : high) - low);
        if (to > high) return;
    }
}

static int64_t count_bits(const unsigned char *bytes, size_t n)
{
    int64_t count = 0;
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        for (; word != 0; word &= word - 1)
            count++;
    }
    return count;
}

/* The largest power of two that all places and lengths are multiples of. */
static int find_grain_all(struct blob *b, const struct blob_map *m, int *grain)
{
    uint64_t bits = UINT64_C(1) << 62;
    for (int64_t i = 0; m != NULL && i < m->n; i++)
        bits |= (uint64_t)m->runs[i].at | (uint64_t)blob_run_length(&m->runs[i]);
    int mpi =
        MPI_Allreduce(MPI_IN_PLACE, &bits, 1, MPI_UINT64_T, MPI_BOR, b->base.ds->comm);
    for (*grain = 0; (bits & 1) == 0; bits >>= 1)
        ++*grain;
    return base_mpi_error(mpi, NC_EMPI, "comparing maps");
}

/* tile is twice TILE_BYTES of memory: what is told and what is heard. MPICH up to 4.0.2
 * crashes where the root of a reduction is another than the first process and has
 * MPI_IN_PLACE. */
static int find_overlap_all(struct blob *b, const struct blob_map *m, int64_t nelems,
                            int64_t total, unsigned char *tile, bool *overlap)
{
    int grain, err = find_grain_all(b, m, &grain), mpi = MPI_SUCCESS;
    int64_t bits = (nelems >> grain) + 1, set = 0, next = 0;
    if (err != NC_NOERR) return err;
    const struct dataset *ds = b->base.ds;
    for (int64_t low = 0; low < bits && mpi == MPI_SUCCESS; low += TILE_BITS) {
        int64_t high = bits - low < TILE_BITS ? bits : low + TILE_BITS;
        int root = (int)(low / TILE_BITS % ds->nprocs), n = (int)((high - low + 63) / 64);
        draw(m, grain, low, high, tile, &next);
        mpi = MPI_Reduce(tile, tile + TILE_BYTES, n, MPI_UINT64_T, MPI_BXOR, root,
                         ds->comm);
        if (ds->rank == root) set += count_bits(tile + TILE_BYTES, 8 * (size_t)n);
    }
    if (mpi == MPI_SUCCESS)
        mpi = MPI_Allreduce(MPI_IN_PLACE, &set, 1, MPI_INT64_T, MPI_SUM, ds->comm);
    *overlap = set != total >> grain;
    return base_mpi_error(mpi, NC_EMPI, "comparing maps");
}

/* ---- deciding ---- */

/* What is decided for open variables: the same on all processes. */
struct decision {
    uint64_t *table;
    unsigned char *tile;
    struct claims claims;
    struct blob_new *fresh; /* new decompositions */
    int nfresh;
    int *state; /* of each variable, as it will be */
};

/* The new decomposition that a variable shares; one more if there is none. */
static struct blob_new *find_new(struct blob *b, struct decision *x, int varid,
                                 const uint64_t *row)
{
    for (int i = 0; i < x->nfresh; i++)
        if (x->fresh[i].print[0] == row[PRINT] && x->fresh[i].print[1] == row[PRINT2] &&
            same_dims(&b->base.ds->header, varid, x->fresh[i].varid))
            return &x->fresh[i];
    int number = (int)b->last + x->nfresh + 1, own = x->claims.claim[varid];
    struct blob_new *f = &x->fresh[x->nfresh++];
    *f = (struct blob_new){.number = number,
                           .varid = varid,
                           .print = {row[PRINT], row[PRINT2]},
                           .total = (int64_t)row[ELEMENTS],
                           .claim = own < 0 ? NULL : &x->claims.list[own]};
    return f;
}

static void decide(struct blob *b, struct decision *x)
{
    const uint64_t *row = x->table;
    for (int id = 0; id < b->nvars; id++) {
        x->state[id] = b->state[id];
        if (b->state[id] != BLOB_OPEN) continue;
        const uint64_t *mine = row;
        row += COLUMNS;
        if (mine[PUTTERS] == 0) continue;
        x->state[id] = BLOB_CANONICAL;
        if (!pays(b, id, mine)) continue;
        x->state[id] = find_new(b, x, id, mine)->number;
    }
}

/* Variables of a decomposition that cannot be stay in the master. */
static void give_decomp_up(const struct blob *b, struct decision *x, int number)
{
    for (int id = 0; id < b->nvars; id++)
        if (x->state[id] == number) x->state[id] = BLOB_CANONICAL;
}

static int look_for_overlaps_all(struct blob *b, struct decision *x)
{
    const struct cdf_header *h = &b->base.ds->header;
    int err = NC_NOERR;
    for (int i = 0; i < x->nfresh && err == NC_NOERR; i++) {
        struct blob_new *f = &x->fresh[i];
        bool overlap = false;
        err = find_overlap_all(b, f->claim == NULL ? NULL : &f->claim->map,
                               h->vars[f->varid].nelems, f->total, x->tile, &overlap);
        if (!overlap) continue;
        give_decomp_up(b, x, f->number);
        f->number = 0;
    }
    return err;
}

/* What nobody has put yet will, as a rule, be dealt out as others of its dimensions: it
 * is defined along with them, so that subfiles are not redefined with every put. Should
 * it be otherwise, its elements have homes all the same. */
static void foresee(const struct blob *b, struct decision *x)
{
    const uint64_t *row = x->table;
    for (int id = 0; id < b->nvars; id++) {
        if (b->state[id] != BLOB_OPEN) continue;
        bool idle = row[PUTTERS] == 0 && row[TOUCHED] == 0;
        row += COLUMNS;
        for (int i = 0; i < x->nfresh && idle && x->state[id] == BLOB_OPEN; i++)
            if (x->fresh[i].number > 0 &&
                same_dims(&b->base.ds->header, id, x->fresh[i].varid))
                x->state[id] = x->fresh[i].number;
    }
}

/* Is there anything new for the subfiles? */
static bool changes(const struct blob *b, const struct decision *x)
{
    for (int id = 0; id < b->nvars; id++)
        if (b->state[id] == BLOB_OPEN && x->state[id] > BLOB_OPEN) return true;
    return false;
}

static int prepare_decision(struct blob *b, struct access_request *const *reqs, int64_t n,
                            struct decision *x)
{
    size_t open = (size_t)b->open_vars + 1;
    *x = (struct decision){.table = base_malloc(open * COLUMNS * sizeof *x->table),
                           .tile = base_malloc(2 * (size_t)TILE_BYTES),
                           .fresh = base_calloc(open, sizeof *x->fresh),
                           .state = base_malloc((size_t)(b->nvars + 1) * sizeof(int))};
    int err = make_claims(b, reqs, n, &x->claims);
    bool lacking =
        x->table == NULL || x->tile == NULL || x->fresh == NULL || x->state == NULL;
    return lacking ? NC_ENOMEM : err;
}

static void finish_decision(struct decision *x)
{
    for (int i = 0; i < x->nfresh; i++)
        blob_map_free(&x->fresh[i].own);
    base_free(x->table);
    base_free(x->tile);
    base_free(x->fresh);
    base_free(x->state);
    free_claims(&x->claims);
}

/* Who opened a subfile alone has its header as it was: it is closed first. Agreed. */
static int make_decomps_all(struct blob *b, const struct decision *x)
{
    int made = blob_sub_close_alone(b);
    int defined = blob_define_all(b, x->fresh, x->nfresh, x->state);
    if (made == NC_NOERR) made = defined;
    made = dataset_agree_all(b->base.ds, made, NULL, NULL, 0);
    return made == NC_NOERR ? blob_commit_all(b, x->fresh, x->nfresh) : made;
}

void blob_settle_all(struct blob *b, struct access_request *const *reqs, int64_t n)
{
    struct decision x;
    struct dataset *ds = b->base.ds;
    int err = prepare_decision(b, reqs, n, &x);
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    if (err == NC_NOERR) {
        err = add_up_claims_all(b, &x.claims, x.table);
        decide(b, &x);
        if (err == NC_NOERR) err = look_for_overlaps_all(b, &x);
        err = dataset_agree_all(ds, err, NULL, NULL, 0);
    }
    if (err == NC_NOERR) {
        foresee(b, &x);
        b->last += x.nfresh; /* a number that was given up is not given again */
        bool any = changes(b, &x);
        int made = any ? make_decomps_all(b, &x) : NC_NOERR;
        for (int id = 0; id < b->nvars; id++)
            if (made != NC_NOERR && b->state[id] == BLOB_OPEN && x.state[id] > BLOB_OPEN)
                x.state[id] = BLOB_CANONICAL;
        if (made == NC_NOERR && any) blob_adopt(b, x.fresh, x.nfresh);
        memcpy(b->state, x.state, (size_t)b->nvars * sizeof *b->state);
        blob_count_open(b);
    }
    finish_decision(&x);
}
