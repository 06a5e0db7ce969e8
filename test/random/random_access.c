/* Random puts and gets. An access is a slab, a buffer of some type and shape, and a way.
 */
#include "random_access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "shortage.h"

bool random_troubles;

enum way { PLAIN, MAPPED, GAPPED, MANY, PENDING, BUFFERED, ALONE, NWAYS };

enum { MOST = 2 * MAX_RECORDS * MAX_LENGTH * MAX_LENGTH * MAX_LENGTH };

struct request {
    int ncid, varid;
    const struct model_var *v;
    struct slab s;
    MPI_Offset n;
    MPI_Datatype type;
    enum way way;
    bool put;
    struct trouble trouble;
    bool met;
    MPI_Offset imap[MAX_RANK];
    double buf[MOST]; /* of any type */
};

/* ---- trouble ---- */

/* What fails, of the dataset's files; NULL: memory. */
static const char *const plans[] = {NULL,
                                    "write:%ld:EIO:%s*",
                                    "write:%ld+:ENOSPC:%s*",
                                    "write:%ld:short:%s*",
                                    "sync:%ld:EIO:%s*",
                                    "truncate:%ld:ENOSPC:%s*"};
enum { PLANS = sizeof plans / sizeof plans[0] };

bool any_process(bool here)
{
    int mine = here, any;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any != 0;
}

struct trouble random_trouble(void)
{
    struct trouble t = {random_troubles && check_random(4) == 0, 0, 0, 0};
    if (!t.any) return t;
    t.who = (int)check_random((uint64_t)check.nprocs);
    t.plan = (int)check_random(PLANS);
    t.nth = 1 + (long)check_random(4);
    return t;
}

void trouble_begin(const struct trouble *t)
{
    char text[4500];
    if (!t->any || check.rank != t->who) return;
    if (plans[t->plan] == NULL) {
        shortage_arm(t->nth);
        return;
    }
    snprintf(text, sizeof text, plans[t->plan], t->nth, check_path(""));
    CHECK(fault_arm(text));
}

static bool trouble_end(const struct trouble *t)
{
    if (!t->any || check.rank != t->who) return false;
    bool failed = plans[t->plan] == NULL ? shortage_disarm() : fault_disarm() > 0;
    return failed &&
           strstr(plans[t->plan] == NULL ? "" : plans[t->plan], "short") == NULL;
}

bool trouble_end_all(const struct trouble *t)
{
    return t->any && any_process(trouble_end(t));
}

/* ---- what is accessed ---- */

/* Where the i-th element of the slab lies in the buffer. */
static MPI_Offset place(const struct request *r, MPI_Offset i)
{
    if (r->way == GAPPED) return 2 * i;
    if (r->way != MAPPED) return i;
    MPI_Offset at = 0;
    for (int d = r->v->ndims - 1; d >= 0; d--) {
        at += i % r->s.count[d] * r->imap[d];
        i /= r->s.count[d];
    }
    return at;
}

/* Memory in the order of Fortran: the first dimension varies fastest. */
static void transpose(struct request *r)
{
    MPI_Offset step = 1;
    for (int d = 0; d < r->v->ndims; d++) {
        r->imap[d] = step;
        step *= r->s.count[d] > 0 ? r->s.count[d] : 1;
    }
}

/* ---- the ways ---- */

static int plain(struct request *r, MPI_Offset count, MPI_Datatype type)
{
    const MPI_Offset *start = r->s.start, *n = r->s.count, *step = r->s.stride;
    if (r->way == ALONE)
        return r->put ? ncmpi_put_vars(r->ncid, r->varid, start, n, step, r->buf, count,
                                       type)
                      : ncmpi_get_vars(r->ncid, r->varid, start, n, step, r->buf, count,
                                       type);
    if (r->way == MAPPED)
        return r->put ? ncmpi_put_varm_all(r->ncid, r->varid, start, n, step, r->imap,
                                           r->buf, count, type)
                      : ncmpi_get_varm_all(r->ncid, r->varid, start, n, step, r->imap,
                                           r->buf, count, type);
    return r->put ? ncmpi_put_vars_all(r->ncid, r->varid, start, n, step, r->buf, count,
                                       type)
                  : ncmpi_get_vars_all(r->ncid, r->varid, start, n, step, r->buf, count,
                                       type);
}

/* Elements two apart. */
static int gapped(struct request *r)
{
    MPI_Datatype vector;
    MPI_Type_vector((int)r->n, 1, 2, r->type, &vector);
    MPI_Type_commit(&vector);
    int err = plain(r, 1, vector);
    MPI_Type_free(&vector);
    return err;
}

/* Element by element, in one call. */
static int many(struct request *r)
{
    MPI_Offset at[MOST / 2][MAX_RANK], *starts[MOST / 2];
    for (MPI_Offset i = 0; i < r->n; i++) {
        MPI_Offset rest = i;
        starts[i] = at[i];
        for (int d = r->v->ndims - 1; d >= 0; d--) {
            at[i][d] = r->s.start[d] + rest % r->s.count[d] * r->s.stride[d];
            rest /= r->s.count[d];
        }
    }
    return r->put ? ncmpi_put_varn_all(r->ncid, r->varid, (int)r->n, starts, NULL, r->buf,
                                       r->n, r->type)
                  : ncmpi_get_varn_all(r->ncid, r->varid, (int)r->n, starts, NULL, r->buf,
                                       r->n, r->type);
}

static int post(struct request *r, const struct slab *s, char *buf, MPI_Offset n, int *id)
{
    if (!r->put)
        return ncmpi_iget_vars(r->ncid, r->varid, s->start, s->count, s->stride, buf, n,
                               r->type, id);
    if (r->way == BUFFERED)
        return ncmpi_bput_vars(r->ncid, r->varid, s->start, s->count, s->stride, buf, n,
                               r->type, id);
    return ncmpi_iput_vars(r->ncid, r->varid, s->start, s->count, s->stride, buf, n,
                           r->type, id);
}

/* Two requests, the second half of dimension 0 first. */
static int pending(struct request *r)
{
    int ids[2] = {NC_REQ_NULL, NC_REQ_NULL}, statuses[2], size;
    MPI_Type_size(r->type, &size);
    struct slab low = r->s, high = r->s;
    if (r->v->ndims > 0) {
        low.count[0] = r->s.count[0] / 2;
        high.count[0] = r->s.count[0] - low.count[0];
        high.start[0] += low.count[0] * r->s.stride[0];
    }
    MPI_Offset nlow = r->v->ndims > 0 ? slab_nelems(r->v, &low) : 0;
    int err = post(r, &high, (char *)r->buf + nlow * size, r->n - nlow, &ids[0]);
    int other = nlow > 0 ? post(r, &low, (char *)r->buf, nlow, &ids[1]) : NC_NOERR;
    if (err == NC_NOERR) err = other;
    if (r->way == BUFFERED) memset(r->buf, 0x55, sizeof r->buf); /* ours no longer */
    int waited = ncmpi_wait_all(r->ncid, 2, ids, statuses);
    if (waited == NC_ENOMEM) (void)ncmpi_cancel(r->ncid, NC_REQ_ALL, NULL, NULL);
    if (err != NC_NOERR || waited != NC_NOERR) return err != NC_NOERR ? err : waited;
    return statuses[0] != NC_NOERR ? statuses[0] : statuses[1];
}

static int by_way(struct request *r)
{
    if (r->way == GAPPED && r->n > 0) return gapped(r);
    if (r->way == MANY) return many(r);
    if (r->way == PENDING || r->way == BUFFERED) return pending(r);
    return plain(r, r->n, r->type);
}

static int run(struct request *r)
{
    if (r->way == ALONE) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(r->ncid));
    trouble_begin(&r->trouble);
    int err = by_way(r), ended = NC_NOERR;
    r->met = trouble_end_all(&r->trouble);
    if (r->way == ALONE) ended = ncmpi_end_indep_data(r->ncid);
    if (!r->met) CHECK_NC(NC_NOERR, ended);
    return err != NC_NOERR ? err : ended;
}

/* ---- the accesses ---- */

static struct request *draw(int ncid, const struct model *m, bool put, struct slab *whole)
{
    struct request *r = calloc(1, sizeof *r);
    if (r == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        return NULL;
    }
    int varid = (int)check_random((uint64_t)m->nvars);
    const struct model_var *v = &m->vars[varid];
    *r = (struct request){.ncid = ncid, .varid = varid, .v = v, .put = put};
    r->way = (enum way)check_random(NWAYS);
    r->type = memory_type(v);
    bool some = model_random_slab(m, v, put, whole);
    if (some) return r;
    free(r);
    return NULL;
}

static void take_slab(struct request *r, struct slab s)
{
    r->s = s;
    r->n = slab_nelems(r->v, &s);
    transpose(r);
}

static void set_values(struct request *r, int write)
{
    for (MPI_Offset i = 0; i < r->n; i++)
        memory_set(r->buf, r->type, place(r, i),
                   model_value(r->v, write, slab_element(r->v, &r->s, i)));
}

/* Again and again where something failed, as a program would that has room again. Who was
 * told of success, by the put and the sync, has his values there. */
static void put_at_last(struct request *r, int write)
{
    for (int tries = 0; tries < 4; tries++) {
        set_values(r, write);
        int err = run(r);
        if (!r->met && tries == 0) {
            CHECK_NC(NC_NOERR, err);
            return;
        }
        int synced = ncmpi_sync(r->ncid);
        r->trouble.any = false;
        if (!any_process(err != NC_NOERR || synced != NC_NOERR)) return;
    }
    CHECK_STR("a put that goes well at last", "none");
}

/* One process gives what cannot be: it is told, and the others have their values there.
 */
static void put_with_a_mistake(struct request *r, int write, int who)
{
    uint64_t which = check_random(3);
    const struct model_var *v = r->v;
    int last = v->ndims - 1;
    bool some = r->n > 0 && last >= 0, fixed = last > 0 || (some && !v->is_record);
    bool bad = check.rank == who;
    set_values(r, write);
    if (bad && (which == 0 || !some)) r->varid = 99;
    if (bad && which == 1 && some) r->s.start[0] = -1000; /* either half of it */
    if (bad && which == 2 && some && fixed) r->s.start[last] = MAX_LENGTH;
    if (bad && which == 2 && some && !fixed) r->varid = -1;
    int err = run(r);
    if (bad)
        CHECK(err != NC_NOERR);
    else
        CHECK_NC(NC_NOERR, err);
}

void random_put(int ncid, struct model *m, put_mirror *mirror, void *to)
{
    struct slab whole = {0};
    struct request *r = draw(ncid, m, true, &whole);
    if (r == NULL) return;
    int varid = r->varid;
    struct model_var *v = &m->vars[varid];
    int write = ++m->writes,
        dim = v->ndims > 0 ? (int)check_random((uint64_t)v->ndims) : 0;
    bool mistake = random_troubles && check_random(8) == 0 && r->way != MANY;
    int who = mistake ? (int)check_random((uint64_t)check.nprocs) : -1;
    take_slab(r, model_share(v, &whole, dim, check.rank, check.nprocs));
    if (!mistake) r->trouble = random_trouble();
    if (mistake)
        put_with_a_mistake(r, write, who);
    else
        put_at_last(r, write);

    for (int p = 0; p < check.nprocs; p++) {
        struct slab share = model_share(v, &whole, dim, p, check.nprocs);
        if (p == who || slab_nelems(v, &share) == 0) continue;
        model_write(m, v, &share, write);
        mirror(to, varid, v, &share, write);
    }
    free(r);
}

void random_get(int ncid, const struct model *m)
{
    struct slab whole = {0};
    struct request *r = draw(ncid, m, false, &whole);
    if (r == NULL) return;
    const struct model_var *v = r->v;
    int dim = v->ndims > 0 ? (int)check_random((uint64_t)v->ndims) : 0;
    bool all_the_same = check_random(4) == 0;
    take_slab(r, all_the_same ? whole
                              : model_share(v, &whole, dim, check.rank, check.nprocs));
    int err = run(r);
    bool known = true;
    for (MPI_Offset i = 0; i < r->n; i++)
        known = known && v->known[slab_element(v, &r->s, i)];
    /* What was never written may be out of the range of any type. */
    if (known || err != NC_ERANGE) CHECK_NC(NC_NOERR, err);
    for (MPI_Offset i = 0; i < r->n; i++) {
        MPI_Offset e = slab_element(v, &r->s, i);
        if (v->known[e]) CHECK_EQ(v->value[e], memory_get(r->buf, r->type, place(r, i)));
    }
    free(r);
}
