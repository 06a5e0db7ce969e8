/* Random puts and gets. An access is a slab, a buffer of some type and shape, and a way.
 */
#include "random_access.h"

#include <stdlib.h>
#include <string.h>

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
    MPI_Offset imap[MAX_RANK];
    double buf[MOST]; /* of any type */
};

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
    if (err == NC_NOERR && nlow > 0) err = post(r, &low, (char *)r->buf, nlow, &ids[1]);
    CHECK_NC(NC_NOERR, err);
    if (r->way == BUFFERED) memset(r->buf, 0x55, sizeof r->buf); /* ours no longer */
    err = ncmpi_wait_all(r->ncid, 2, ids, statuses);
    return err != NC_NOERR ? err : statuses[0] != NC_NOERR ? statuses[0] : statuses[1];
}

static int run(struct request *r)
{
    if (r->way == GAPPED && r->n > 0) return gapped(r);
    if (r->way == MANY) return many(r);
    if (r->way == PENDING || r->way == BUFFERED) return pending(r);
    if (r->way != ALONE) return plain(r, r->n, r->type);

    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(r->ncid));
    int err = plain(r, r->n, r->type);
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(r->ncid));
    return err;
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

void random_put(int ncid, struct model *m, put_mirror *mirror, void *to)
{
    struct slab whole = {0};
    struct request *r = draw(ncid, m, true, &whole);
    if (r == NULL) return;
    struct model_var *v = &m->vars[r->varid];
    int write = ++m->writes,
        dim = v->ndims > 0 ? (int)check_random((uint64_t)v->ndims) : 0;
    take_slab(r, model_share(v, &whole, dim, check.rank, check.nprocs));

    for (MPI_Offset i = 0; i < r->n; i++)
        memory_set(r->buf, r->type, place(r, i),
                   model_value(v, write, slab_element(v, &r->s, i)));
    CHECK_NC(NC_NOERR, run(r));
    model_write(m, v, &whole, write);
    mirror(to, r->varid, v, &whole, write);
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
