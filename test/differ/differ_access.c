/* Puts and gets, as random as they come. */
#include "differ_access.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"var",  "var1", "vara", "vars",
                                    "varm", "varn", "vard"};
static const char *const shapes[] = {"typed", "plain",   "no type", "contiguous",
                                     "gaps",  "ignored", "wrong",   "mixed"};

/* ---- drawing ---- */

static MPI_Offset length_of(const struct access *a, int dim)
{
    const struct differ_var *v = a->v;
    if (dim > 0 || !v->is_record || (a->put && a->kind != VAR)) return v->shape[dim];
    return a->kind == VAR ? d.length[d.unlimited] : d.numrecs;
}

/* A slab of which each process then takes a share, or all the same. */
static void draw_slab(struct access *a, bool strided)
{
    for (int i = 0; i < a->v->ndims; i++) {
        MPI_Offset length = length_of(a, i);
        uint64_t at = draw(1 << 20), many = draw(1 << 20), step = draw(9);
        a->stride[i] = strided && step < 3 ? 1 + (MPI_Offset)step : 1;
        if (length <= 0 || a->kind == VAR) {
            a->count[i] = length;
            continue;
        }
        a->start[i] = (MPI_Offset)(at % (uint64_t)length);
        MPI_Offset most = (length - a->start[i] - 1) / a->stride[i] + 1;
        a->count[i] = a->kind == VAR1 ? 1 : 1 + (MPI_Offset)(many % (uint64_t)most);
    }
}

static void take_share(struct access *a)
{
    if (a->v->ndims == 0) return;
    int dim = (int)draw((uint64_t)a->v->ndims);
    MPI_Offset low = a->count[dim] * d.rank / d.nprocs;
    MPI_Offset high = a->count[dim] * (d.rank + 1) / d.nprocs;
    a->count[dim] = high - low;
    if (high > low) a->start[dim] += low * a->stride[dim];
}

/* Makes one argument a wrong one, or an unusual one. */
static void spoil(struct access *a)
{
    int dim = a->v->ndims == 0 ? 0 : (int)draw_own((uint64_t)a->v->ndims);
    MPI_Offset length = a->v->shape[dim], huge = (MPI_Offset)1 << (40 + draw_own(23));
    bool grows = a->v->is_record && dim == 0 && a->put;
    switch (draw_own(15)) {
    case 0:
        a->start[dim] = -1;
        break;
    case 1:
        a->start[dim] = grows ? -5 : length;
        break;
    case 2:
        a->start[dim] = grows ? -huge : length + 3;
        break;
    case 3:
        a->count[dim] = -1;
        break;
    case 4:
        a->count[dim] = grows ? -huge : length + 1;
        break;
    case 5:
        a->count[dim] = grows ? -2 : huge;
        break;
    case 6:
        a->stride[dim] = 0;
        break;
    case 7:
        a->stride[dim] = -1;
        break;
    case 8:
        a->stride[dim] = grows ? -3 : huge;
        break;
    case 9:
        a->pstart = NULL;
        break;
    case 10:
        a->pcount = NULL;
        break;
    case 11:
        a->count[dim] = 0;
        break;
    case 12:
        a->start[dim] = grows ? -1 : huge;
        break;
    case 13:
        a->imap[dim] = a->put ? 0 : 1;
        break;
    default:
        a->start[dim] = grows ? 0 : length;
        a->count[dim] = 0;
    }
}

/* Is each argument what it should be? */
static bool sound(const struct access *a)
{
    bool all = true;
    for (int i = 0; i < a->v->ndims && all; i++) {
        MPI_Offset length = length_of(a, i), start = a->start[i], n = a->count[i];
        all = start >= 0 && start <= length && n >= 0 && n <= length &&
              a->stride[i] > 0 && a->stride[i] <= MOST &&
              (n == 0 || start + (n - 1) * a->stride[i] < length);
    }
    return all && (a->v->ndims == 0 || (a->pstart != NULL && a->pcount != NULL));
}

static void enumerate(struct access *a)
{
    const struct differ_var *v = a->v;
    int total = 1;
    for (int i = 0; i < v->ndims; i++)
        total *= (int)a->count[i];
    for (int i = 0; i < total; i++) {
        int rest = i, step = 1, element = 0, place = 0;
        for (int k = v->ndims - 1; k >= 0; k--) {
            int many = a->count[k] > 1 ? (int)a->count[k] : 1, index = rest % many;
            element += ((int)a->start[k] + index * (int)a->stride[k]) * step;
            place += index * (int)a->imap[k];
            rest /= many;
            step *= (int)v->shape[k];
        }
        a->element[i] = element;
        a->place[i] = a->kind == VARM && a->pimap != NULL ? place : i;
        if (a->shape == GAPS) a->place[i] *= 2;
    }
    a->n = total;
}

/* The slab as a list: its rows, or its elements one by one. */
static void make_list(struct access *a)
{
    bool single = a->v->ndims == 0 || once_in(3);
    a->has_counts = !single || once_in(2);
    a->num = a->odd || !single ? 1 : a->n;
    if (!single && !a->odd && a->v->ndims > 0) a->num = (int)a->count[0];
    for (int i = 0; i < a->num; i++) {
        MPI_Offset *start = a->part[i][0], *count = a->part[i][1];
        int rest = i;
        for (int k = a->v->ndims - 1; k >= 0; k--) {
            bool whole = a->odd || (!single && k > 0);
            int many = whole ? 1 : (int)a->count[k];
            start[k] = a->start[k] + (many > 0 ? rest % many : 0);
            count[k] = whole ? a->count[k] : 1;
            rest /= many > 0 ? many : 1;
        }
        a->starts[i] = a->pstart == NULL ? NULL : start;
        a->counts[i] = a->pcount == NULL ? NULL : count;
    }
}

static void make_memory(struct access *a)
{
    MPI_Datatype one = memories[a->memory].type, mixed[2] = {MPI_INT, MPI_SHORT};
    int lengths[2] = {1, 1}, n = a->n > 0 ? a->n : 1;
    MPI_Aint at[2] = {0, 4};
    a->buftype = one;
    a->bufcount = a->n;
    switch (a->shape) {
    case NO_TYPE:
        a->buftype = MPI_DATATYPE_NULL;
        a->bufcount = (MPI_Offset)draw_own(3); /* whatever */
        break;
    case CONTIGUOUS:
        MPI_Type_contiguous(n, one, &a->buftype);
        break;
    case GAPS:
        MPI_Type_vector(n, 1, 2, one, &a->buftype);
        break;
    case IGNORED:
        a->bufcount = -1;
        break;
    case WRONG:
        a->bufcount = draw_own(3) == 0 ? -2 : a->n + 1;
        break;
    case MIXED:
        MPI_Type_create_struct(2, lengths, at, mixed, &a->buftype);
        break;
    default:
        return;
    }
    if (a->shape != CONTIGUOUS && a->shape != GAPS && a->shape != MIXED) return;
    MPI_Type_commit(&a->buftype);
    a->bufcount = a->shape == MIXED ? n : a->n > 0;
}

/* The elements as they lie in the file. */
static void make_filetype(struct access *a)
{
    MPI_Aint at[MOST];
    int ones[MOST];
    MPI_Offset recsize = 0;
    MPI_Datatype one = memories[a->memory].type;
    int per = a->v->is_record ? a->v->nelems / MAX_RECORDS : a->v->nelems;
    ncmpi_inq_recsize(d.ncid, &recsize);
    for (int i = 0; i < a->n; i++) {
        ones[i] = 1;
        at[i] = a->element[i] / per * (MPI_Aint)recsize +
                a->element[i] % per * (MPI_Aint)memories[a->memory].size;
    }
    MPI_Type_create_hindexed(a->n, ones, at, one, &a->filetype);
    MPI_Type_commit(&a->filetype);
}

static void draw_memory(struct access *a, bool same)
{
    uint64_t choice = same ? draw(NMEMORY - 1) : draw_own(NMEMORY - 1);
    bool text = a->v->type == NC_CHAR, swap = draw_own(60) == 0;
    a->memory = text ? TEXT : 1 + (int)choice;
    if (swap) a->memory = text ? 5 : TEXT;
    a->shape = (enum shape)draw_own(2 * NSHAPES);
    if (a->shape >= NSHAPES) a->shape = TYPED;
    if (a->shape >= WRONG && draw_own(3) > 0) a->shape = PLAIN;
    if (a->kind == VARD) a->shape = PLAIN;
    if (a->kind == VARD || a->shape == NO_TYPE)
        a->memory = memory_of(a->v->type) < 0 ? 5 : memory_of(a->v->type);
    /* Maps and gaps together would reach too far. */
    if (a->kind == VARM && a->shape == GAPS) a->shape = PLAIN;
    if (swap && a->kind != VARD)
        a->shape = TYPED; /* PnetCDF 1.12 crashes with other shapes */
    a->odd = a->shape == WRONG || a->shape == MIXED || swap;
}

static void fill_buffer(struct access *a)
{
    a->buf = a->room + 64;
    memset(a->room, 0x5a, sizeof a->room);
    if (!a->put) return;
    for (int i = 0; i < a->n; i++) {
        int value = (a->element[i] * 7 + d.epoch * 31) % 100;
        memory_put(a->buf, a->memory, a->place[i], value, a->wild);
    }
}

static enum kind draw_kind(bool posted)
{
    static const enum kind likely[] = {VARA, VARA, VARS, VARM, VARN, VAR1, VAR, VARD};
    return likely[draw(posted ? 7 : 8)];
}

static enum mode draw_mode(bool put, bool posted)
{
    enum mode right = d.state == INDEPENDENT ? ALONE : TOGETHER;
    if (posted) return put && once_in(3) ? BUFFERED : POSTED;
    return once_in(40) ? 1 - right : right;
}

struct access *access_draw(bool put, bool posted)
{
    static struct differ_var nothing = {
        .ndims = 1, .shape = {3}, .nelems = 3, .type = NC_INT};
    struct access *a = calloc(1, sizeof *a);
    if (a == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    a->ncid = an_id();
    a->varid = a_varid(false);
    a->put = put;
    a->request = NEVER_SET;
    a->filetype = a->buftype = MPI_DATATYPE_NULL;
    bool there = a->varid >= 0 && a->varid < d.nvars;
    a->v = there ? &d.vars[a->varid] : &nothing;
    a->kind = draw_kind(posted);
    /* PnetCDF 1.12 waits for all that is pending in a blocking call of many parts. */
    if (a->kind == VARN && !posted && requests_any()) a->kind = VARA;
    a->mode = draw_mode(put, posted);
    bool same = a->kind == VAR || a->kind == VAR1 || once_in(5),
         spoilt = draw_own(9) == 0;
    bool wild = !same && once_in(6) && !requests_pending();
    if (d.numrecs > MAX_RECORDS) there = false; /* a difference: too many to follow */
    if (a->v->nelems == 0 || (!there && a->v != &nothing)) {
        free(a);
        return NULL;
    }
    if (!requests_pending()) d.epoch++;
    draw_slab(a, a->kind == VARS || a->kind == VARM);
    if (!same) take_share(a);
    a->wild = wild;
    MPI_Offset step = 1;
    for (int i = 0; i < a->v->ndims; i++) {
        a->imap[i] = step;
        step *= a->count[i] > 0 ? a->count[i] : 1;
        if (draw_own(12) == 0) step *= 2;
    }
    a->pstart = a->start;
    a->pcount = a->count;
    a->pstride = draw_own(8) == 0 ? NULL : a->stride;
    a->pimap = draw_own(8) == 0 ? NULL : a->imap;
    if (a->pstride == NULL)
        for (int i = 0; i < a->v->ndims; i++)
            if (a->stride[i] != 1) a->pstride = a->stride;
    bool whole = a->kind == VAR || a->kind == VARD;
    if (spoilt && !whole && !(a->kind == VAR1 && a->v->ndims == 0)) spoil(a);
    for (int i = 0; i < a->v->ndims && a->kind == VAR1; i++)
        a->count[i] = 1;
    draw_memory(a, same);
    if (sound(a)) {
        enumerate(a);
    } else {
        a->odd = true;
    }
    make_list(a);
    fill_buffer(a);
    make_memory(a);
    if (a->kind == VARD) make_filetype(a);
    return a;
}

static void free_type(MPI_Datatype *type)
{
    int ints, addresses, types, combiner = MPI_COMBINER_NAMED;
    if (*type == MPI_DATATYPE_NULL) return;
    MPI_Type_get_envelope(*type, &ints, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(type);
}

void access_free(struct access *a)
{
    free_type(&a->buftype);
    free_type(&a->filetype);
    free(a);
}

/* ---- calling ---- */

/* A pointer to a function with these arguments. */
#define AS(...) ((int (*)(int, int, __VA_ARGS__))f)
#define AT      const MPI_Offset *
#define LIST    int, MPI_Offset *const *, MPI_Offset *const *
#define FLEX    void *, MPI_Offset, MPI_Datatype

static int call_typed(const struct access *a, differ_function *f)
{
    const MPI_Offset *s = a->pstart, *n = a->pcount, *t = a->pstride, *m = a->pimap;
    MPI_Offset *const *counts = a->has_counts ? a->counts : NULL;
    int id = a->ncid, v = a->varid;
    void *b = a->buf;
    switch (a->kind) {
    case VAR:
        return AS(void *)(id, v, b);
    case VAR1:
        return AS(AT, void *)(id, v, s, b);
    case VARA:
        return AS(AT, AT, void *)(id, v, s, n, b);
    case VARS:
        return AS(AT, AT, AT, void *)(id, v, s, n, t, b);
    case VARM:
        return AS(AT, AT, AT, AT, void *)(id, v, s, n, t, m, b);
    default:
        return AS(LIST, void *)(id, v, a->num, a->starts, counts, b);
    }
}

static int call_flexible(const struct access *a, differ_function *f)
{
    const MPI_Offset *s = a->pstart, *n = a->pcount, *t = a->pstride, *m = a->pimap;
    MPI_Offset *const *counts = a->has_counts ? a->counts : NULL, bn = a->bufcount;
    MPI_Datatype bt = a->buftype;
    int id = a->ncid, v = a->varid;
    void *b = a->buf;
    switch (a->kind) {
    case VAR:
        return AS(FLEX)(id, v, b, bn, bt);
    case VAR1:
        return AS(AT, FLEX)(id, v, s, b, bn, bt);
    case VARA:
        return AS(AT, AT, FLEX)(id, v, s, n, b, bn, bt);
    case VARS:
        return AS(AT, AT, AT, FLEX)(id, v, s, n, t, b, bn, bt);
    case VARM:
        return AS(AT, AT, AT, AT, FLEX)(id, v, s, n, t, m, b, bn, bt);
    case VARD:
        return AS(MPI_Datatype, FLEX)(id, v, a->filetype, b, bn, bt);
    default:
        return AS(LIST, FLEX)(id, v, a->num, a->starts, counts, b, bn, bt);
    }
}

static int post_typed(struct access *a, differ_function *f)
{
    const MPI_Offset *s = a->pstart, *n = a->pcount, *t = a->pstride, *m = a->pimap;
    MPI_Offset *const *counts = a->has_counts ? a->counts : NULL;
    int id = a->ncid, v = a->varid, *r = &a->request;
    void *b = a->buf;
    switch (a->kind) {
    case VAR:
        return AS(void *, int *)(id, v, b, r);
    case VAR1:
        return AS(AT, void *, int *)(id, v, s, b, r);
    case VARA:
        return AS(AT, AT, void *, int *)(id, v, s, n, b, r);
    case VARS:
        return AS(AT, AT, AT, void *, int *)(id, v, s, n, t, b, r);
    case VARM:
        return AS(AT, AT, AT, AT, void *, int *)(id, v, s, n, t, m, b, r);
    default:
        return AS(LIST, void *, int *)(id, v, a->num, a->starts, counts, b, r);
    }
}

static int post_flexible(struct access *a, differ_function *f)
{
    const MPI_Offset *s = a->pstart, *n = a->pcount, *t = a->pstride, *m = a->pimap;
    MPI_Offset *const *counts = a->has_counts ? a->counts : NULL, bn = a->bufcount;
    MPI_Datatype bt = a->buftype;
    int id = a->ncid, v = a->varid, *r = &a->request;
    void *b = a->buf;
    switch (a->kind) {
    case VAR:
        return AS(FLEX, int *)(id, v, b, bn, bt, r);
    case VAR1:
        return AS(AT, FLEX, int *)(id, v, s, b, bn, bt, r);
    case VARA:
        return AS(AT, AT, FLEX, int *)(id, v, s, n, b, bn, bt, r);
    case VARS:
        return AS(AT, AT, AT, FLEX, int *)(id, v, s, n, t, b, bn, bt, r);
    case VARM:
        return AS(AT, AT, AT, AT, FLEX, int *)(id, v, s, n, t, m, b, bn, bt, r);
    default:
        return AS(LIST, FLEX, int *)(id, v, a->num, a->starts, counts, b, bn, bt, r);
    }
}

static void tell_offsets(const char *what, int n, const MPI_Offset *values)
{
    put_out(", %s", what);
    if (values == NULL) put_out(" NULL");
    for (int i = 0; i < n && values != NULL; i++)
        put_out(" %lld", (long long)values[i]);
}

static void tell(const struct access *a, const char *name)
{
    int n = a->v->ndims;
    call("%s(%d", name, a->varid);
    if (a->kind == VARN)
        put_out(", %d parts, counts %s", a->num, a->has_counts ? "given" : "NULL");
    if (a->kind != VAR) tell_offsets("start", n, a->pstart);
    if (a->kind > VAR1) tell_offsets("count", n, a->pcount);
    if (a->kind == VARS || a->kind == VARM) tell_offsets("stride", n, a->pstride);
    if (a->kind == VARM) tell_offsets("imap", n, a->pimap);
    put_out(", %s %s %d%s)", shapes[a->shape], memories[a->memory].name, (int)a->bufcount,
            a->wild ? " wild" : "");
}

/* What was never written may be anything, also out of range. */
void access_came(const struct access *a, int err, const unsigned char *skip)
{
    bool known = !a->odd && a->n > 0;
    for (int i = 0; i < a->n && known; i++)
        known = a->v->known[a->element[i]] && (skip == NULL || !skip[a->element[i]]);
    came(err == NC_ERANGE && !a->put && !known ? NC_NOERR : err);
}

int access_run(struct access *a)
{
    static const char *const before[] = {"", "", "i", "b"};
    char name[60];
    bool flexible = a->shape != TYPED, post = a->mode >= POSTED;
    snprintf(name, sizeof name, "%s%s_%s%s%s%s", before[a->mode], a->put ? "put" : "get",
             kinds[a->kind], flexible ? "" : "_",
             flexible ? "" : memories[a->memory].name, a->mode == TOGETHER ? "_all" : "");
    tell(a, name);
    differ_function *f = function("%s", name);
    int err = post ? (flexible ? post_flexible(a, f) : post_typed(a, f))
                   : (flexible ? call_flexible(a, f) : call_typed(a, f));
    access_came(a, err, NULL);
    return err;
}

/* ---- what came of it ---- */

void access_show(const struct access *a, const unsigned char *skip)
{
    size_t size = (size_t)memories[a->memory].size, inside = 0;
    static unsigned char taken[sizeof a->room];
    memset(taken, 0, sizeof taken);
    for (int i = 0; i < a->n; i++) {
        int e = a->element[i];
        memset(taken + 64 + (size_t)a->place[i] * size, 1, size);
        if (a->v->known[e] && (skip == NULL || !skip[e]))
            memory_show(a->buf, a->memory, a->place[i]);
        else
            put_out(" ?");
    }
    for (size_t i = 0; i < sizeof a->room; i++)
        inside += !taken[i] && a->room[i] != 0x5a;
    if (inside > 0 && !a->odd) put_out(" and %d bytes beside", (int)inside);
}

void access_written(struct access *a, int err)
{
    unsigned char mine[MOST + 1] = {0}, all[MOST + 1];
    bool good = err == NC_NOERR || err == NC_ERANGE;
    for (int i = 0; i < a->n && good && !a->odd; i++)
        mine[a->element[i]] = 1;
    mine[MOST] = good && a->odd; /* who knows what it wrote */
    /* In safe mode all are told of a mistake. Here values of the others are written. */
    if (d.safe && a->mode == TOGETHER && !everywhere(good ? NC_NOERR : err))
        put_out("~~\n");
    MPI_Allreduce(mine, all, MOST + 1, MPI_UNSIGNED_CHAR, MPI_BOR, MPI_COMM_WORLD);
    for (int i = 0; i < MOST; i++)
        a->v->known[i] = !all[MOST] && (a->v->known[i] || all[i]);
}

void differ_records(void)
{
    MPI_Offset length = -1;
    if (d.unlimited < 0 || d.unlimited >= MAX_DIMS || d.state == CLOSED) return;
    call("inq_dimlen(unlimited)");
    came(ncmpi_inq_dimlen(d.ncid, d.unlimited, &length));
    put_out(" %lld", (long long)length);
    done();
    look_records(length);
}

void access_put(void)
{
    struct access *a = access_draw(true, false);
    if (a == NULL) return;
    unsigned char before[sizeof a->room];
    memcpy(before, a->room, sizeof before);
    int err = access_run(a);
    if (memcmp(before, a->room, sizeof before) != 0) put_out(" and the buffer changed");
    done();
    access_written(a, err);
    differ_records();
    access_free(a);
}

void access_get(void)
{
    struct access *a = access_draw(false, false);
    if (a == NULL) return;
    int err = access_run(a);
    if ((err == NC_NOERR || err == NC_ERANGE) && !a->odd) access_show(a, NULL);
    done();
    access_free(a);
}

void access_post(void)
{
    bool put = once_in(2);
    struct access *a = requests_full() ? NULL : access_draw(put, true);
    if (a == NULL) return;
    if (requests_overlap(a)) {
        access_free(a);
        requests_mark();
        return;
    }
    int err = access_run(a);
    put_out(a->request == NEVER_SET     ? " unset"
            : a->request == NC_REQ_NULL ? " none"
                                        : " some");
    done();
    bool posted = err == NC_NOERR || err == NC_ERANGE;
    if (posted && a->request != NC_REQ_NULL && a->request != NEVER_SET)
        requests_add(a);
    else
        access_free(a);
    requests_mark();
}

/* Several variables in one call. */
void access_many(void)
{
    typedef int many(int, int, int *, MPI_Offset *const *, MPI_Offset *const *,
                     void *const *, const MPI_Offset *, const MPI_Datatype *);
    enum { MANY = 3 };
    struct access *a[MANY];
    MPI_Offset *starts[MANY], *counts[MANY], bufcounts[MANY];
    MPI_Datatype types[MANY];
    void *bufs[MANY];
    int varids[MANY], n = 0;
    bool put = once_in(2);
    if (requests_any()) return; /* as with many parts */
    for (int i = 0; i < MANY; i++) {
        a[n] = access_draw(put, false);
        if (a[n] == NULL) continue;
        bool fits = a[n]->kind == VARA && a[n]->shape <= PLAIN && a[n]->ncid == d.ncid;
        int all;
        MPI_Allreduce(&(int){fits}, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        for (int k = 0; k < n && all; k++)
            all = a[k]->v != a[n]->v; /* not twice the same */
        if (!all) {
            access_free(a[n]);
            continue;
        }
        starts[n] = a[n]->start;
        counts[n] = a[n]->count;
        bufcounts[n] = a[n]->bufcount;
        types[n] = a[n]->buftype;
        bufs[n] = a[n]->buf;
        varids[n] = a[n]->varid;
        n++;
    }
    const char *name = d.state == INDEPENDENT ? "m%s_vara" : "m%s_vara_all";
    if (n == 0) return;
    char called[40];
    snprintf(called, sizeof called, name, put ? "put" : "get");
    for (int i = 0; i < n; i++) {
        tell(a[i], called);
        done();
    }
    call("%s(%d)", called, n);
    int err = ((many *)function("%s", called))(d.ncid, n, varids, starts, counts, bufs,
                                               bufcounts, types);
    bool odd = false;
    for (int i = 0; i < n; i++)
        odd |= a[i]->odd;
    bool got = !put && (err == NC_NOERR || err == NC_ERANGE);
    came(got ? NC_NOERR : err);
    for (int i = 0; i < n && got && !odd; i++)
        access_show(a[i], NULL);
    done();
    for (int i = 0; i < n; i++) {
        a[i]->odd |= err != NC_NOERR; /* some may have been written */
        if (put) access_written(a[i], err == NC_NOERR ? err : NC_ERANGE);
        access_free(a[i]);
    }
    if (put) differ_records();
}
