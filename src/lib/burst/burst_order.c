/* Order between processes: of two writes to one place by different processes, the one of
 * the later collective call holds. Keeping to that while the logs drain costs an
 * agreement for each call, so it is done only for variables in which it could make a
 * difference: where the processes' parts, each taken as one regular box, meet. */
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "burst.h"

/* The part of a variable that one process has written, as numbers: epochs from and to,
 * then for each dimension the least and greatest index and the step between them. */
enum { FROM, TO, BOX, PER_DIM = 3 };
enum { GATHERED = 16 << 20 }; /* bytes at a time */

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void join_dim(int64_t *dim, int64_t start, int64_t count, int64_t stride,
                     bool first)
{
    int64_t last = start + (count - 1) * stride;
    if (first) dim[0] = start, dim[1] = last, dim[2] = 0;
    int64_t apart = start > dim[0] ? start - dim[0] : dim[0] - start;
    dim[2] = gcd(dim[2], apart);
    if (count > 1) dim[2] = gcd(dim[2], stride);
    if (start < dim[0]) dim[0] = start;
    if (last > dim[1]) dim[1] = last;
}

/* Adds a write to its variable's part. */
static void join(int64_t *part, const struct burst_write *w, int ndims)
{
    bool first = part[FROM] == -1;
    if (first || w->epoch < part[FROM]) part[FROM] = w->epoch;
    if (first || w->epoch > part[TO]) part[TO] = w->epoch;
    for (int i = 0; i < ndims; i++) {
        int64_t *dim = part + BOX + (ptrdiff_t)i * PER_DIM;
        if (w->flags & BURST_RAW) /* anywhere */
            dim[0] = 0, dim[1] = INT64_MAX, dim[2] = 1;
        else
            join_dim(dim, w->slab[i], w->slab[ndims + i],
                     w->strided ? w->slab[2 * ndims + i] : 1, first);
    }
}

static bool meet(const int64_t *a, const int64_t *b, int ndims)
{
    if (a[FROM] == -1 || b[FROM] == -1) return false;
    if (a[FROM] == a[TO] && b[FROM] == b[TO] && a[FROM] == b[FROM]) return false;
    for (int i = 0; i < ndims; i++) {
        ptrdiff_t at = BOX + (ptrdiff_t)i * PER_DIM;
        const int64_t *p = a + at, *q = b + at;
        int64_t step = gcd(p[2], q[2]);
        if (p[0] > q[1] || q[0] > p[1]) return false;
        if (step > 1 && (p[0] - q[0]) % step != 0) return false;
    }
    return true;
}

static int64_t numbers_of(const struct cdf_header *h, int varid)
{
    return BOX + (int64_t)h->vars[varid].ndims * PER_DIM;
}

/* The parts of this process in variables [first, last) that are to be looked at. */
static void fill_parts(const struct burst *b, uint64_t vars, const int *touched,
                       int first, int last, const int64_t *places, int64_t *parts)
{
    const struct cdf_header *h = &b->base.ds->header;
    for (int id = first; id < last; id++)
        if (touched[id] > 1) parts[places[id - first] + FROM] = -1;
    for (int64_t i = 0; i < b->nwrites; i++) {
        const struct burst_write *w = b->writes[i];
        if (w->varid < first || w->varid >= last || touched[w->varid] < 2) continue;
        if (vars & burst_bit(w->varid))
            join(parts + places[w->varid - first], w, h->vars[w->varid].ndims);
    }
}

/* The lists are there: all have agreed on that.
 * NOLINTBEGIN(clang-analyzer-core.NullDereference) */

/* Holds this process's parts of variables [first, last) against all others'. */
static int compare_parts_all(struct burst *b, uint64_t vars, const int *touched,
                             int first, int last, const int64_t *places, int64_t total,
                             unsigned char *flags)
{
    struct driver_dataset *ds = b->base.ds;
    int64_t *mine = base_calloc((size_t)total, sizeof *mine);
    int64_t *all = base_calloc((size_t)(total * ds->nprocs), sizeof *all);
    int err = mine == NULL || all == NULL ? NC_ENOMEM : NC_NOERR;
    err = driver_agree_all(ds, err, NULL, NULL, 0);
    if (err == NC_NOERR && mine != NULL && all != NULL) {
        fill_parts(b, vars, touched, first, last, places, mine);
        int mpi = MPI_Allgather(mine, (int)total, MPI_INT64_T, all, (int)total,
                                MPI_INT64_T, ds->comm);
        err = base_mpi_error(mpi, NC_EMPI, "MPI_Allgather");
        for (int id = first; id < last && err == NC_NOERR; id++) {
            int64_t at = places[id - first];
            for (int p = 0; touched[id] > 1 && p < ds->nprocs; p++)
                if (p != ds->rank &&
                    meet(mine + at, all + p * total + at, ds->header.vars[id].ndims))
                    flags[id] = 1;
        }
    }
    base_free(mine);
    base_free(all);
    return err;
}

/* Takes as many variables at a time as memory is meant for. */
static int compare_all(struct burst *b, uint64_t vars, const int *touched,
                       int64_t *places, unsigned char *flags)
{
    const struct cdf_header *h = &b->base.ds->header;
    int64_t most = GATHERED / 8 / b->base.ds->nprocs;
    int err = NC_NOERR;
    for (int first = 0, last; first < h->nvars && err == NC_NOERR; first = last) {
        int64_t total = 0;
        for (last = first; last < h->nvars && (total < most || total == 0); last++) {
            places[last - first] = total;
            if (touched[last] > 1) total += numbers_of(h, last);
        }
        if (total > 0)
            err = compare_parts_all(b, vars, touched, first, last, places, total, flags);
    }
    return err;
}

/* How many processes have written to each variable. */
static int count_touched_all(struct burst *b, uint64_t vars, int *touched)
{
    for (int64_t i = 0; i < b->nwrites; i++)
        if (vars & burst_bit(b->writes[i]->varid)) touched[b->writes[i]->varid] = 1;
    int mpi = MPI_Allreduce(MPI_IN_PLACE, touched, b->base.ds->header.nvars, MPI_INT,
                            MPI_SUM, b->base.ds->comm);
    return base_mpi_error(mpi, NC_EMPI, "MPI_Allreduce");
}

/* Marks the variables that processes contest, alike everywhere. Agreed. */
static int mark_contested_all(struct burst *b, uint64_t vars, int *touched,
                              int64_t *places, unsigned char *flags, bool *any)
{
    struct driver_dataset *ds = b->base.ds;
    int nvars = ds->header.nvars;
    int err = count_touched_all(b, vars, touched);
    if (err == NC_NOERR) err = compare_all(b, vars, touched, places, flags);
    err = driver_agree_all(ds, err, NULL, NULL, 0);
    if (err != NC_NOERR) return err;
    int mpi =
        MPI_Allreduce(MPI_IN_PLACE, flags, nvars, MPI_UNSIGNED_CHAR, MPI_MAX, ds->comm);
    for (int id = 0; id < nvars; id++)
        if (flags[id]) *any = true;
    return base_mpi_error(mpi, NC_EMPI, "MPI_Allreduce");
}

/* NOLINTEND(clang-analyzer-core.NullDereference) */

int burst_contested_all(struct burst *b, uint64_t vars, unsigned char **flags)
{
    size_t nvars = (size_t)b->base.ds->header.nvars;
    int *touched = base_calloc(nvars, sizeof *touched);
    int64_t *places = base_malloc(nvars * sizeof *places);
    unsigned char *marks = base_calloc(nvars, 1);
    bool any = false, short_of = touched == NULL || marks == NULL || places == NULL;
    int err =
        driver_agree_all(b->base.ds, short_of ? NC_ENOMEM : NC_NOERR, NULL, NULL, 0);
    if (err == NC_NOERR) err = mark_contested_all(b, vars, touched, places, marks, &any);
    base_free(touched);
    base_free(places);
    if (err != NC_NOERR || !any) {
        base_free(marks);
        marks = NULL;
    }
    *flags = marks;
    return err;
}
