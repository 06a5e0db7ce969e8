/* Makes random puts and gets. Randomly chooses the kind of call, the slab, the memory
 * layout and sometimes an invalid argument. Then calls the function and prints the
 * arguments and the result. After a put, every process updates its information on which
 * elements are known. After a get, only known elements are printed. */
#include "differ_access.h"

#include <stdlib.h>
#include <string.h>

#include "splitmix.h"

static const char *const kinds[] = {"var",  "var1", "vara", "vars",
                                    "varm", "varn", "vard"};
static const char *const shapes[] = {"typed", "plain",   "no type", "contiguous",
                                     "gaps",  "ignored", "wrong",   "mixed"};

/* ---- random arguments ---- */

static MPI_Offset length_of(const struct access *a, int dim)
{
    const struct differ_var *v = a->v;
    if (dim > 0 || !v->is_record || (a->put && a->kind != VAR)) return v->shape[dim];
    return a->kind == VAR ? d.length[d.unlimited] : d.numrecs;
}

/* Chooses a random slab. Either each process accesses its share of the slab, or all
 * processes access the whole slab. */
static void draw_slab(struct access *a, bool strided)
{
    struct plan_slab *s = &a->slab;
    s->ndims = a->v->ndims;
    for (int i = 0; i < s->ndims; i++) {
        const int64_t length = length_of(a, i);
        const uint64_t at = draw(1 << 20), many = draw(1 << 20), step = draw(9);
        const int64_t stride = strided && step < 3 ? 1 + (int64_t)step : 1;
        s->stride[i] = stride;
        s->count[i] = length;
        if (length <= 0 || a->kind == VAR) continue;
        plan_slab_set(s, i, length, at, many, stride);
        if (a->kind == VAR1) s->count[i] = 1;
    }
}

/* Replaces one argument with an invalid or unusual one. */
static void spoil(struct access *a)
{
    struct plan_slab *s = &a->slab;
    int dim = a->v->ndims == 0 ? 0 : (int)draw_own((uint64_t)a->v->ndims);
    int64_t length = a->v->shape[dim], huge = (int64_t)1 << (40 + draw_own(23));
    bool grows = a->v->is_record && dim == 0 && a->put;
    switch (draw_own(15)) {
    case 0:
        s->start[dim] = -1;
        break;
    case 1:
        s->start[dim] = grows ? -5 : length;
        break;
    case 2:
        s->start[dim] = grows ? -huge : length + 3;
        break;
    case 3:
        s->count[dim] = -1;
        break;
    case 4:
        s->count[dim] = grows ? -huge : length + 1;
        break;
    case 5:
        s->count[dim] = grows ? -2 : huge;
        break;
    case 6:
        s->stride[dim] = 0;
        break;
    case 7:
        s->stride[dim] = -1;
        break;
    case 8:
        s->stride[dim] = grows ? -3 : huge;
        break;
    case 9:
        a->no_start = true;
        break;
    case 10:
        a->no_count = true;
        break;
    case 11:
        s->count[dim] = 0;
        break;
    case 12:
        s->start[dim] = grows ? -1 : huge;
        break;
    case 13:
        a->imap[dim] = a->put ? 0 : 1;
        break;
    default:
        s->start[dim] = grows ? 0 : length;
        s->count[dim] = 0;
    }
}

/* Returns whether all arguments are valid. */
static bool sound(const struct access *a)
{
    const struct plan_slab *s = &a->slab;
    bool all = true;
    for (int i = 0; i < s->ndims && all; i++) {
        const int64_t length = length_of(a, i), start = s->start[i], n = s->count[i];
        all = start >= 0 && start <= length && n >= 0 && n <= length &&
              s->stride[i] > 0 && s->stride[i] <= MOST &&
              (n == 0 || start + (n - 1) * s->stride[i] < length);
    }
    return all && (s->ndims == 0 || !(a->no_start || a->no_count));
}

/* Computes the index of each element of the slab in the variable and in memory. */
static void enumerate(struct access *a)
{
    a->n = (int)plan_slab_size(&a->slab);
    for (int i = 0; i < a->n; i++) {
        int64_t index[PLAN_RANK], place = 0;
        plan_slab_index(&a->slab, i, index);
        for (int k = 0; k < a->slab.ndims; k++)
            place += index[k] * a->imap[k];
        a->element[i] = (int)plan_slab_element(&a->slab, a->v->shape, i);
        a->place[i] = a->kind == VARM && !a->no_imap ? (int)place : i;
        if (a->shape == GAPS) a->place[i] *= 2;
    }
}

/* Divides the slab into a list of rows or single elements for varn. */
static void make_list(struct access *a)
{
    bool single = a->v->ndims == 0 || once_in(3);
    a->has_counts = !single || once_in(2);
    a->num = a->odd || !single ? 1 : a->n;
    if (!single && !a->odd && a->v->ndims > 0) a->num = (int)a->slab.count[0];
    for (int i = 0; i < a->num; i++) {
        MPI_Offset *start = a->part[i][0], *count = a->part[i][1];
        int rest = i;
        for (int k = a->v->ndims - 1; k >= 0; k--) {
            bool whole = a->odd || (!single && k > 0);
            int many = whole ? 1 : (int)a->slab.count[k];
            start[k] = a->slab.start[k] + (many > 0 ? rest % many : 0);
            count[k] = whole ? a->slab.count[k] : 1;
            rest /= many > 0 ? many : 1;
        }
        a->starts[i] = a->no_start ? NULL : start;
        a->counts[i] = a->no_count ? NULL : count;
    }
}

static void make_memory(struct access *a)
{
    MPI_Datatype one = calls_types[a->memory].mpi(), mixed[2] = {MPI_INT, MPI_SHORT};
    int lengths[2] = {1, 1}, n = a->n > 0 ? a->n : 1;
    MPI_Aint at[2] = {0, 4};
    a->buftype = one;
    a->bufcount = a->n;
    switch (a->shape) {
    case NO_TYPE:
        a->buftype = MPI_DATATYPE_NULL;
        a->bufcount = (MPI_Offset)draw_own(3); /* the function ignores the count */
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

/* Creates the MPI type for vard, which describes the elements' offsets in the file. */
static void make_filetype(struct access *a)
{
    MPI_Aint at[MOST];
    int ones[MOST];
    MPI_Offset recsize = 0;
    MPI_Datatype one = calls_types[a->memory].mpi();
    int per = a->v->is_record ? a->v->nelems / MAX_RECORDS : a->v->nelems;
    ncmpi_inq_recsize(d.ncid, &recsize);
    for (int i = 0; i < a->n; i++) {
        ones[i] = 1;
        at[i] = a->element[i] / per * (MPI_Aint)recsize +
                a->element[i] % per * (MPI_Aint)plan_memory_size(a->memory);
    }
    MPI_Type_create_hindexed(a->n, ones, at, one, &a->filetype);
    MPI_Type_commit(&a->filetype);
}

/* Chooses the types in memory of a put. Pending puts of any process and the puts that
 * follow them may write the same elements in any order, so their values depend only on
 * the variable, the element and d.epoch. Therefore either the values are small, and fit
 * into the type in memory that was chosen, or all puts use the variable's own type and
 * one other. */
static void draw_exact(struct access *a)
{
    const uint64_t x = splitmix_hash((uint64_t)d.epoch << 8 | (uint64_t)(a->v - d.vars));
    const int own = plan_memory_of(a->v->type);
    a->exact = x % 3 == 0 ? -1 : 1 + (int)(x / 3 % (MEMORY_TYPES - 1));
    if (own < 0 || own == MEMORY_TEXT || a->exact < 0) return;
    a->memory = a->memory % 2 ? own : a->exact;
}

static void draw_memory(struct access *a, bool same)
{
    uint64_t choice = same ? draw(MEMORY_TYPES - 1) : draw_own(MEMORY_TYPES - 1);
    const int own = plan_memory_of(a->v->type);
    bool text = a->v->type == NC_CHAR, swap = draw_own(60) == 0;
    a->memory = text ? MEMORY_TEXT : 1 + (int)choice;
    if (a->put) draw_exact(a);
    if (swap) a->memory = text ? MEMORY_INT : MEMORY_TEXT;
    a->shape = (enum shape)draw_own(2 * NSHAPES);
    if (a->shape >= NSHAPES) a->shape = TYPED;
    if (a->shape >= WRONG && draw_own(3) > 0) a->shape = PLAIN;
    if (a->kind == VARD) a->shape = PLAIN;
    if (a->kind == VARD || a->shape == NO_TYPE) a->memory = own < 0 ? MEMORY_INT : own;
    /* A map with gaps would exceed the buffer. */
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
        const uint64_t seed = (uint64_t)d.epoch << 8 | (uint64_t)a->element[i];
        memory_put(a->buf, a->memory, a->place[i], a->v->type,
                   value_draw(a->v->type, a->exact, seed), seed, a->wild);
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
    /* In PnetCDF 1.12 a blocking varn call also completes all pending requests. */
    if (a->kind == VARN && !posted && requests_any()) a->kind = VARA;
    a->mode = draw_mode(put, posted);
    bool same = a->kind == VAR || a->kind == VAR1 || a->v->ndims == 0 || once_in(5),
         spoilt = draw_own(9) == 0;
    bool wild = !same && once_in(6) && !requests_pending();
    if (d.numrecs > MAX_RECORDS) there = false; /* too many records to track */
    if (a->v->nelems == 0 || (!there && a->v != &nothing)) {
        free(a);
        return NULL;
    }
    if (!requests_pending()) d.epoch++;
    draw_slab(a, a->kind == VARS || a->kind == VARM);
    const int dim = same || a->v->ndims == 0 ? 0 : (int)draw((uint64_t)a->v->ndims);
    if (!same) a->slab = plan_slab_share(&a->slab, dim, d.rank, d.nprocs);
    a->wild = wild;
    int64_t step = 1;
    bool strided = false;
    for (int i = 0; i < a->v->ndims; i++) {
        a->imap[i] = step;
        step *= a->slab.count[i] > 0 ? a->slab.count[i] : 1;
        if (draw_own(12) == 0) step *= 2;
        strided |= a->slab.stride[i] != 1;
    }
    a->no_stride = draw_own(8) == 0 && !strided;
    a->no_imap = draw_own(8) == 0;
    bool whole = a->kind == VAR || a->kind == VARD;
    if (spoilt && !whole && !(a->kind == VAR1 && a->v->ndims == 0)) spoil(a);
    for (int i = 0; i < a->v->ndims && a->kind == VAR1; i++)
        a->slab.count[i] = 1;
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

/* ---- calls ---- */

static int call_vard(const struct access *a)
{
    const bool all = a->mode == TOGETHER;
    if (a->put)
        return (all ? ncmpi_put_vard_all : ncmpi_put_vard)(
            a->ncid, a->varid, a->filetype, a->buf, a->bufcount, a->buftype);
    return (all ? ncmpi_get_vard_all : ncmpi_get_vard)(a->ncid, a->varid, a->filetype,
                                                       a->buf, a->bufcount, a->buftype);
}

static int call_by_name(struct access *a, const char *name)
{
    MPI_Offset where[4][PLAN_RANK];
    struct calls_args args = {.ncid = a->ncid,
                              .varid = a->varid,
                              .start = a->no_start ? NULL : where[0],
                              .count = a->no_count ? NULL : where[1],
                              .stride = a->no_stride ? NULL : where[2],
                              .imap = a->no_imap ? NULL : where[3],
                              .num = a->num,
                              .starts = a->starts,
                              .counts = a->has_counts ? a->counts : NULL,
                              .buf = a->buf,
                              .bufcount = a->bufcount,
                              .buftype = a->buftype,
                              .req = &a->request};
    for (int i = 0; i < a->slab.ndims; i++) {
        where[0][i] = a->slab.start[i];
        where[1][i] = a->slab.count[i];
        where[2][i] = a->slab.stride[i];
        where[3][i] = a->imap[i];
    }
    return a->kind == VARD ? call_vard(a) : function(name)->run(&args);
}

static void print_offsets(const char *what, int n, bool is_null, const int64_t *values)
{
    put_out(", %s", what);
    if (is_null) put_out(" NULL");
    for (int i = 0; i < n && !is_null; i++)
        put_out(" %lld", (long long)values[i]);
}

static void tell(const struct access *a, const char *name)
{
    int n = a->v->ndims;
    call("%s(%d", name, a->varid);
    if (a->kind == VARN)
        put_out(", %d parts, counts %s", a->num, a->has_counts ? "given" : "NULL");
    if (a->kind != VAR) print_offsets("start", n, a->no_start, a->slab.start);
    if (a->kind > VAR1) print_offsets("count", n, a->no_count, a->slab.count);
    if (a->kind == VARS || a->kind == VARM)
        print_offsets("stride", n, a->no_stride, a->slab.stride);
    if (a->kind == VARM) print_offsets("imap", n, a->no_imap, a->imap);
    put_out(", %s %s %d%s)", shapes[a->shape], calls_types[a->memory].name,
            (int)a->bufcount, a->wild ? " wild" : "");
}

/* A value that was never written may be out of range, so NC_ERANGE is not printed. */
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
    bool flexible = a->shape != TYPED;
    snprintf(name, sizeof name, "%s%s_%s%s%s%s", before[a->mode], a->put ? "put" : "get",
             kinds[a->kind], flexible ? "" : "_",
             flexible ? "" : calls_types[a->memory].name,
             a->mode == TOGETHER ? "_all" : "");
    tell(a, name);
    int err = call_by_name(a, name);
    access_came(a, err, NULL);
    return err;
}

/* ---- results ---- */

void access_show(const struct access *a, const unsigned char *skip)
{
    size_t size = plan_memory_size(a->memory), inside = 0;
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
    mine[MOST] = good && a->odd; /* any element may have been written to */
    /* In safe mode, an error on one process is returned on all processes. This library
     * still writes the values of the other processes and PnetCDF does not, so the
     * comparison ends here. */
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

/* Accesses several variables in one mput or mget call. */
void access_many(void)
{
    enum { MANY = 3 };
    struct access *a[MANY];
    MPI_Offset where[MANY][2][PLAN_RANK], *starts[MANY], *counts[MANY], bufcounts[MANY];
    MPI_Datatype types[MANY];
    void *bufs[MANY];
    int varids[MANY], n = 0;
    bool put = once_in(2);
    if (requests_any()) return; /* PnetCDF's call would also complete these requests */
    for (int i = 0; i < MANY; i++) {
        a[n] = access_draw(put, false);
        if (a[n] == NULL) continue;
        bool fits = a[n]->kind == VARA && a[n]->shape <= PLAIN && a[n]->ncid == d.ncid;
        int all;
        MPI_Allreduce(&(int){fits}, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        for (int k = 0; k < n && all; k++)
            all = a[k]->v != a[n]->v; /* each variable may occur only once in the call */
        if (!all) {
            access_free(a[n]);
            continue;
        }
        for (int k = 0; k < a[n]->slab.ndims; k++) {
            where[n][0][k] = a[n]->slab.start[k];
            where[n][1][k] = a[n]->slab.count[k];
        }
        starts[n] = where[n][0];
        counts[n] = where[n][1];
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
    int err = function(called)->run(&(struct calls_args){.ncid = d.ncid,
                                                         .num = n,
                                                         .varids = varids,
                                                         .starts = starts,
                                                         .counts = counts,
                                                         .bufs = bufs,
                                                         .bufcounts = bufcounts,
                                                         .buftypes = types});
    bool odd = false;
    for (int i = 0; i < n; i++)
        odd |= a[i]->odd;
    bool got = !put && (err == NC_NOERR || err == NC_ERANGE);
    came(got ? NC_NOERR : err);
    for (int i = 0; i < n && got && !odd; i++)
        access_show(a[i], NULL);
    done();
    for (int i = 0; i < n; i++) {
        a[i]->odd |= err != NC_NOERR; /* some of the elements may have been written */
        if (put) access_written(a[i], err == NC_NOERR ? err : NC_ERANGE);
        access_free(a[i]);
    }
    if (put) differ_records();
}
