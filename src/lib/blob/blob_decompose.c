/* Decides at the first put to each variable whether it gets a decomposition, and which
 * one.
 *
 * 1. Each process knows which elements of a variable it puts, and hashes them together
 *    with its rank. The sum of these hashes over all processes is a fingerprint of the
 *    distribution. Variables with the same dimensions and fingerprint share a
 *    decomposition.
 * 2. One reduction over a table with a row for each open variable gives all processes the
 *    data that they need to make the same decision.
 * 3. Maps must not overlap (access_overlap), or an element would have two locations. */
#include <stdlib.h>
#include <string.h>

#include "access_overlap.h"
#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "blob_decompose.h"

/* ---- the elements that this process puts ---- */

/* This process's claims, one for each distinct map. */
struct claims {
    int *claim; /* for each variable, index of its claim in list; -1 if none */
    struct blob_claim *list;
    int n;
    int64_t room;
};

/* Returns whether two variables have the same fixed dimensions. */
static bool same_dims(const struct cdf_header *h, int a, int b)
{
    const struct cdf_var *v = &h->vars[a], *w = &h->vars[b];
    int first = blob_first_dim(v), other = blob_first_dim(w);
    return v->ndims - first == w->ndims - other &&
           memcmp(v->dimids + first, w->dimids + other,
                  (size_t)(v->ndims - first) * sizeof *v->dimids) == 0;
}

/* Computes the map of one variable's requests, reqs[0..n). */
static int describe_claims(const struct cdf_header *h, struct access_request *const *reqs,
                           int64_t n, struct blob_claim *c)
{
    const struct cdf_var *v = &h->vars[reqs[0]->varid];
    int err = NC_NOERR;
    blob_walk_slab(v, reqs[0], &c->form);
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        struct subfile_slab form;
        struct blob_walk w;
        struct blob_stretch s;
        bool alike = !reqs[i]->raw && v->is_record; /* same elements in all records */
        blob_walk_slab(v, reqs[i], &form);
        if (i > 0 && subfile_slab_is(&form, &c->form)) continue;
        if (i > 0) c->form.ndims = -1;
        err = blob_walk_begin(&w, h, reqs[i]);
        while (err == NC_NOERR && blob_walk_next(&w, &s) &&
               !(alike && s.record != access_start(reqs[i])[0]))
            err = subfile_map_add(&c->map, s.at, s.n);
        blob_walk_end(&w);
    }
    if (err == NC_NOERR) err = subfile_map_sort(&c->map);
    if (err != NC_NOERR) return err;
    base_require(c->map.n > 0 && c->map.runs[0].at >= 0);
    const struct subfile_run *last = &c->map.runs[c->map.n - 1];
    base_require(subfile_run_length(last) <= v->nelems - last->at);
    return NC_NOERR;
}

/* Makes a claim for a variable's requests, or reuses an equal claim. */
static int claim(const struct cdf_header *h, struct access_request *const *reqs,
                 int64_t n, struct claims *c)
{
    int varid = reqs[0]->varid, err = NC_NOERR, known = -1;
    struct blob_claim mine = {.varid = varid};
    if (n == 1) /* the usual case: compare with existing claims first */
        blob_walk_slab(&h->vars[varid], reqs[0], &mine.form);
    for (int i = 0; i < c->n && n == 1 && known < 0; i++)
        if (same_dims(h, varid, c->list[i].varid) &&
            (subfile_slab_is(&mine.form, &c->list[i].form) ||
             blob_walk_is_map(&h->vars[varid], reqs[0], &c->list[i].map)))
            known = i;
    if (known < 0) err = describe_claims(h, reqs, n, &mine);
    for (int i = 0; i < c->n && err == NC_NOERR && known < 0; i++) {
        const struct subfile_map *a = &mine.map, *b = &c->list[i].map;
        if (same_dims(h, varid, c->list[i].varid) && a->n == b->n &&
            memcmp(a->runs, b->runs, (size_t)(a->n + 1) * sizeof *a->runs) == 0)
            known = i;
    }
    if (err == NC_NOERR && known < 0) {
        void *grown = base_grow(c->list, &c->room, c->n + 1, sizeof *c->list);
        if (grown == NULL) err = NC_ENOMEM;
        if (grown != NULL) c->list = grown;
    }
    if (err != NC_NOERR || known >= 0) subfile_map_free(&mine.map);
    if (err != NC_NOERR) return err;
    if (known < 0) c->list[known = c->n++] = mine;
    c->claim[varid] = known;
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

/* Fills in this process's rows for open variables, and sums them over all processes. */
static int add_up_claims_all(struct blob *b, const struct claims *c, uint64_t *table)
{
    enum { ROWS = 1 << 20 }; /* maximum number of rows per reduction */
    uint64_t *row = table, rank = (uint64_t)b->base.ds->rank;
    for (int id = 0; id < b->nvars; id++) {
        if (b->state[id] != BLOB_OPEN) continue;
        memset(row, 0, COLUMNS * sizeof *row);
        row[TOUCHED] = b->touched[id];
        if (c->claim[id] >= 0 && c->list != NULL) {
            const struct subfile_map *map = &c->list[c->claim[id]].map;
            row[PUTTERS] = 1;
            row[ELEMENTS] = (uint64_t)subfile_map_count(map);
            row[RUNS] = (uint64_t)map->n;
            row[PRINT] = subfile_map_hash(map, rank + 1);
            row[PRINT2] = subfile_map_hash(map, ~rank);
        }
        row += COLUMNS;
    }
    int mpi = MPI_SUCCESS;
    for (int64_t at = 0; at < b->open_vars && mpi == MPI_SUCCESS; at += ROWS) {
        int64_t n = b->open_vars - at < ROWS ? b->open_vars - at : ROWS;
        mpi = MPI_Allreduce(MPI_IN_PLACE, table + COLUMNS * at, (int)(COLUMNS * n),
                            MPI_UINT64_T, MPI_SUM, b->base.ds->comm);
    }
    return base_mpi_error(mpi, NC_EMPI, "finding decompositions");
}

/* Returns whether a decomposition is worthwhile. Its map needs 8 bytes for each run,
 * regardless of the number of records. Values belong in the master if only one process
 * puts them, if every process puts all of them, or if the variable already has values
 * there. */
static bool pays(const struct blob *b, int varid, const uint64_t *row)
{
    enum { MAP = 8, RECORDS = 8 };
    const struct cdf_var *v = &b->base.ds->header.vars[varid];
    uint64_t bytes = row[ELEMENTS] * (uint64_t)cdf_type_size(v->type);
    return row[TOUCHED] == 0 && (row[PUTTERS] > 1 || b->base.ds->nprocs == 1) &&
           row[ELEMENTS] <= (uint64_t)v->nelems &&
           row[RUNS] * MAP <= bytes * (v->is_record ? RECORDS : 1);
}

/* ---- deciding ---- */

/* The decision about the open variables, which is the same on all processes. */
struct decision {
    uint64_t *table;
    struct claims claims;
    struct blob_new *fresh; /* new decompositions */
    int nfresh;
    int *state; /* new state of each variable */
};

/* Chooses the new state of each variable: the master, or a new decomposition, which
 * variables with the same dimensions and fingerprint share. */
static void decide(struct blob *b, struct decision *x)
{
    const struct cdf_header *h = &b->base.ds->header;
    const uint64_t *row = x->table - COLUMNS;
    memcpy(x->state, b->state, (size_t)b->nvars * sizeof *x->state);
    for (int id = 0; id < b->nvars; id++) {
        if (b->state[id] != BLOB_OPEN) continue;
        row += COLUMNS;
        if (row[PUTTERS] == 0) continue;
        x->state[id] = BLOB_CANONICAL;
        if (!pays(b, id, row)) continue;
        int i = 0, own = x->claims.claim[id];
        while (i < x->nfresh && !(x->fresh[i].print[0] == row[PRINT] &&
                                  x->fresh[i].print[1] == row[PRINT2] &&
                                  same_dims(h, id, x->fresh[i].varid)))
            i++;
        if (i == x->nfresh && b->last + i + 1 >= 8 * CDF_COMMITTED)
            continue; /* the superblock has no bit left for its number */
        if (i == x->nfresh)
            x->fresh[x->nfresh++] =
                (struct blob_new){.number = (int)b->last + i + 1,
                                  .varid = id,
                                  .print = {row[PRINT], row[PRINT2]},
                                  .claim = own < 0 ? NULL : &x->claims.list[own]};
        x->state[id] = x->fresh[i].number;
    }
}

/* See struct access_spans. */
static void get_map_run(const void *list, int64_t i, int64_t *low, int64_t *high)
{
    const struct subfile_run *run = (const struct subfile_run *)list + i;
    *low = run->at;
    *high = run->at + subfile_run_length(run);
}

/* Leaves variables in the master if their processes' maps overlap. */
static int refuse_overlaps_all(struct blob *b, struct decision *x)
{
    const struct dataset *ds = b->base.ds;
    int err = NC_NOERR;
    for (int i = 0; i < x->nfresh && err == NC_NOERR; i++) {
        struct blob_new *f = &x->fresh[i];
        struct access_spans spans = {.bounds = get_map_run};
        bool overlap = false;
        if (f->claim != NULL) {
            spans.n = f->claim->map.n;
            spans.list = f->claim->map.runs;
        }
        err = access_overlap_all(ds->comm, &spans, ds->header.vars[f->varid].nelems,
                                 &overlap);
        if (!overlap) continue;
        for (int id = 0; id < b->nvars; id++)
            if (x->state[id] == f->number) x->state[id] = BLOB_CANONICAL;
        f->number = 0;
    }
    return err;
}

/* Gives a variable that has not been put yet the decomposition of another variable with
 * the same dimensions, which will probably suit it. This avoids a redefinition of the
 * subfiles at every put. Even if the guess is wrong, each element has a location. */
static void foresee(const struct blob *b, struct decision *x)
{
    const uint64_t *row = x->table - COLUMNS;
    for (int id = 0; id < b->nvars; id++) {
        if (b->state[id] != BLOB_OPEN) continue;
        row += COLUMNS;
        bool idle = row[PUTTERS] == 0 && row[TOUCHED] == 0;
        for (int i = 0; i < x->nfresh && idle && x->state[id] == BLOB_OPEN; i++)
            if (x->fresh[i].number > 0 &&
                same_dims(&b->base.ds->header, id, x->fresh[i].varid))
                x->state[id] = x->fresh[i].number;
    }
}

/* Returns whether the subfiles need new definitions. */
static bool changes(const struct blob *b, const struct decision *x)
{
    for (int id = 0; id < b->nvars; id++)
        if (b->state[id] == BLOB_OPEN && x->state[id] > BLOB_OPEN) return true;
    return false;
}

void blob_count_open(struct blob *b)
{
    b->open_vars = 0;
    for (int id = 0; id < b->nvars; id++)
        b->open_vars += b->state[id] == BLOB_OPEN;
    b->settles = b->open_vars > 0 && b->comm != MPI_COMM_NULL;
}

/* Writes the decision to the subfiles. First closes the subfiles that processes have
 * opened alone, because their cached headers would become stale. Agreed. */
static int make_decomps_all(struct blob *b, const struct decision *x)
{
    int made = blob_sub_close_alone(b);
    int defined = blob_define_all(b, x->fresh, x->nfresh, x->state);
    if (made == NC_NOERR) made = defined;
    made = dataset_agree_all(b->base.ds, made, NULL, NULL, 0);
    return made == NC_NOERR ? blob_commit_all(b, x->fresh, x->nfresh) : made;
}

static int prepare_decision(struct blob *b, struct access_request *const *reqs, int64_t n,
                            struct decision *x)
{
    size_t open = (size_t)b->open_vars + 1;
    *x = (struct decision){.table = base_malloc(open * COLUMNS * sizeof *x->table),
                           .fresh = base_calloc(open, sizeof *x->fresh),
                           .state = base_malloc((size_t)(b->nvars + 1) * sizeof(int))};
    int err = make_claims(b, reqs, n, &x->claims);
    bool lacking = x->table == NULL || x->fresh == NULL || x->state == NULL;
    return lacking ? NC_ENOMEM : err;
}

void blob_decompose_all(struct blob *b, struct access_request *const *reqs, int64_t n)
{
    struct dataset *ds = b->base.ds;
    struct decision x;
    int err = prepare_decision(b, reqs, n, &x);
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    if (err == NC_NOERR) {
        err = add_up_claims_all(b, &x.claims, x.table);
        decide(b, &x);
        if (err == NC_NOERR) err = refuse_overlaps_all(b, &x);
        err = dataset_agree_all(ds, err, NULL, NULL, 0);
    }
    if (err == NC_NOERR) {
        foresee(b, &x);
        b->last += x.nfresh; /* numbers of discarded decompositions are not reused */
        bool any = changes(b, &x);
        int made = any ? make_decomps_all(b, &x) : NC_NOERR;
        for (int id = 0; id < b->nvars; id++)
            if (made != NC_NOERR && b->state[id] == BLOB_OPEN && x.state[id] > BLOB_OPEN)
                x.state[id] = BLOB_CANONICAL;
        if (made == NC_NOERR && any) blob_adopt(b, x.fresh, x.nfresh);
        memcpy(b->state, x.state, (size_t)b->nvars * sizeof *b->state);
        blob_count_open(b);
    }
    for (int i = 0; i < x.nfresh; i++)
        subfile_map_free(&x.fresh[i].own);
    for (int i = 0; i < x.claims.n; i++)
        subfile_map_free(&x.claims.list[i].map);
    base_free(x.claims.list);
    base_free(x.claims.claim);
    base_free(x.table);
    base_free(x.fresh);
    base_free(x.state);
}
