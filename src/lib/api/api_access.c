/* Converts the arguments of an access into a request, in the order in which pnetcdf.h
 * promises to report errors:
 * 1. Look up the variable and the buffer's type.
 * 2. Check and copy the hyperslab.
 * 3. Describe the buffer: its map or derived datatype becomes a region of memory.
 *
 * A varn call makes one request per hyperslab unless api_runs.c can merge some. */
#include "api_access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_buffer.h"
#include "api_queue.h"
#include "api_errors.h"
#include "base_mem.h"
#include "pnetcdf.h"

int api_find_data(int ncid, bool put, unsigned how, struct api_dataset **d)
{
    int err = api_find(ncid, d);
    if (err != NC_NOERR) return err;
    if (put && !(*d)->ds.writable) return api_refuse(*d, NC_EPERM);
    if ((*d)->defining) return api_refuse(*d, NC_EINDEFINE);
    bool indep = !(how & API_COLL);
    if ((*d)->indep == indep) return NC_NOERR;
    return api_refuse(*d, indep ? NC_ENOTINDEP : NC_EINDEP);
}

/* ---- the region of the variable ---- */

/* A hyperslab that has not been checked yet. */
struct slab {
    const int64_t *start, *count, *stride; /* stride is NULL if all strides are 1 */
};

/* Returns whether an empty access to a dimension may start just past its end. */
static bool may_start_at_end(void)
{
    const char *value = getenv("PNETCDF_RELAX_COORD_BOUND");
    return value == NULL || strcmp(value, "0") != 0;
}

static const char *dim_name(const struct api_dataset *d, const struct cdf_var *v, int dim)
{
    return d->ds.header.dims[v->dimids[dim]].name;
}

static int check_start(const struct api_dataset *d, const struct cdf_var *v,
                       const struct slab *s, bool put)
{
    for (int i = 0; i < v->ndims; i++) {
        int64_t length = api_length_of(d, v, i, put);
        bool at_end = s->start[i] == length && s->count[i] == 0 && may_start_at_end();
        if (s->start[i] < 0 || (s->start[i] >= length && !at_end))
            return base_error_set(
                NC_EINVALCOORDS, "variable '%s', dimension '%s': start %lld, length %lld",
                v->name, dim_name(d, v, i), (long long)s->start[i], (long long)length);
    }
    return NC_NOERR;
}

static int negative_count(const struct api_dataset *d, const struct cdf_var *v, int dim,
                          int64_t count)
{
    return base_error_set(NC_ENEGATIVECNT, "variable '%s', dimension '%s': count %lld",
                          v->name, dim_name(d, v, dim), (long long)count);
}

static int fail_edge(const struct api_dataset *d, const struct cdf_var *v, int dim,
                     const struct slab *s, int64_t length)
{
    char stride[40] = "";
    if (s->stride != NULL && s->stride[dim] > 1)
        snprintf(stride, sizeof stride, ", stride %lld", (long long)s->stride[dim]);
    return base_error_set(
        NC_EEDGE, "variable '%s', dimension '%s': start %lld, count %lld%s, length %lld",
        v->name, dim_name(d, v, dim), (long long)s->start[dim], (long long)s->count[dim],
        stride, (long long)length);
}

static int check_count(const struct api_dataset *d, const struct cdf_var *v,
                       const struct slab *s, bool put)
{
    for (int i = 0; i < v->ndims; i++) {
        int64_t length = api_length_of(d, v, i, put), room = length - s->start[i], last;
        int64_t step = s->stride == NULL || s->stride[i] < 1 ? 1 : s->stride[i];
        if (s->count[i] < 0) return negative_count(d, v, i, s->count[i]);
        if (s->count[i] == 0) continue;
        if (__builtin_mul_overflow(s->count[i] - 1, step, &last) || last >= room)
            return fail_edge(d, v, i, s, length);
    }
    for (int i = 0; s->stride != NULL && i < v->ndims; i++)
        if (s->stride[i] < 1)
            return base_error_set(NC_ESTRIDE,
                                  "variable '%s', dimension '%s': stride %lld", v->name,
                                  dim_name(d, v, i), (long long)s->stride[i]);
    return NC_NOERR;
}

/* Allocates a request with space for a hyperslab of v and, if the access is mapped, for
 * the region of its buffer. Returns NULL if out of memory. */
static struct access_request *
new_request(const struct cdf_var *v, const struct api_access *a, bool mapped, int type)
{
    bool strided = a->stride != NULL && (a->how & API_KIND) >= API_VARS;
    size_t n = (size_t)v->ndims * (strided ? 3 : 2) + mapped;
    struct access_request *r = base_malloc(sizeof *r + n * sizeof r->slab[0]);
    if (r == NULL) return NULL;
    *r = (struct access_request){.varid = a->varid,
                                 .buf = (void *)a->buf,
                                 .type = (unsigned char)type,
                                 .strided = strided,
                                 .mapped = mapped};
    access_set_mem(r, NULL);
    return r;
}

/* Copies the caller's hyperslab. The access kind determines defaults for missing
 * lists. */
static void copy_slab(const struct api_dataset *d, const struct cdf_var *v,
                      const struct api_access *a, struct access_request *r)
{
    unsigned kind = a->how & API_KIND;
    int64_t *start = r->slab + r->mapped, *count = start + v->ndims,
            *stride = count + v->ndims;
    for (int i = 0; i < v->ndims; i++) {
        bool record = i == 0 && v->is_record;
        start[i] = kind == API_VAR ? 0 : a->start[i];
        if (kind == API_VAR)
            count[i] = record ? d->ds.header.numrecs : v->shape[i];
        else
            count[i] = kind == API_VAR1 || a->count == NULL ? 1 : a->count[i];
        if (r->strided) stride[i] = a->stride[i];
    }
}

/* Copies the hyperslab from Fortran lists: reverses the dimensions and makes the indices
 * zero-based. */
static void set_fortran_slab(const struct cdf_var *v, const struct api_access *a,
                             struct access_request *r)
{
    int64_t *start = r->slab + r->mapped, *count = start + v->ndims,
            *stride = count + v->ndims;
    for (int i = v->ndims - 1, j = 0; i >= 0; i--, j++) {
        start[i] = j < a->fortran_lengths[0] ? (int64_t)((uint64_t)a->start[j] - 1) : 0;
        count[i] = j < a->fortran_lengths[1] ? a->count[j] : 1;
        if (r->strided) stride[i] = j < a->fortran_lengths[2] ? a->stride[j] : 1;
    }
}

static int too_many_bytes(const struct cdf_var *v)
{
    return base_error_set(NC_EINTOVERFLOW,
                          "variable '%s': the request has more than 2^63 bytes", v->name);
}

/* Computes the product of the counts. Returns NC_EINTOVERFLOW if the values occupy more
 * than 2^63 bytes in the file or in memory. */
static int count_elements(const struct cdf_var *v, const int64_t *count,
                          enum conv_type type, int64_t *nelems)
{
    int64_t n = 1, xsize = cdf_type_size(v->type), bytes = conv_size(type);
    if (xsize > bytes) bytes = xsize;
    bool overflow = false;
    *nelems = 0;
    for (int i = 0; i < v->ndims; i++) {
        if (count[i] == 0) return NC_NOERR;
        overflow = __builtin_mul_overflow(n, count[i], &n) || overflow;
    }
    if (overflow || __builtin_mul_overflow(n, bytes, &bytes)) return too_many_bytes(v);
    *nelems = n;
    return NC_NOERR;
}

static int fail_null_start(int err, const struct cdf_var *v)
{
    return base_error_set(err, "variable '%s': start is NULL", v->name);
}

static int set_slab(const struct api_dataset *d, const struct cdf_var *v,
                    const struct api_access *a, bool put, struct access_request *r,
                    int64_t *nelems)
{
    unsigned kind = a->how & API_KIND;
    *nelems = 1;
    if (v->ndims == 0) return NC_NOERR;
    if (a->fortran_lengths != NULL) {
        set_fortran_slab(v, a, r);
    } else {
        if (kind != API_VAR && a->start == NULL)
            return fail_null_start(NC_EINVALCOORDS, v);
        copy_slab(d, v, a, r);
    }

    const int64_t *count = access_count(r, v->ndims);
    const struct slab s = {access_start(r), count, access_stride(r, v->ndims)};
    int err = kind == API_VAR ? NC_NOERR : check_start(d, v, &s, put);
    if (err == NC_NOERR && a->fortran_lengths == NULL && kind > API_VAR1 &&
        a->count == NULL)
        err = base_error_set(NC_EEDGE, "variable '%s': count is NULL", v->name);
    if (err == NC_NOERR && kind != API_VAR) err = check_count(d, v, &s, put);
    return err == NC_NOERR ? count_elements(v, count, (enum conv_type)r->type, nelems)
                           : err;
}

/* ---- the buffer ---- */

/* Computes how many elements a mapped access spans, from the first to the last, and
 * whether the map describes a contiguous row-major array. Returns false if the span, at
 * `size` bytes per element, exceeds the address range. */
static bool map_extent(int ndims, const int64_t *count, const MPI_Offset *imap,
                       int64_t size, int64_t *extent, bool *plain)
{
    int64_t span, bytes, step = 1;
    *extent = 1;
    *plain = true;
    for (int i = ndims - 1; i >= 0; i--) {
        if (count[i] <= 1) continue; /* the map entry has no effect */
        if (imap[i] != step) *plain = false;
        step *= count[i];
        if (__builtin_mul_overflow(count[i] - 1, imap[i], &span) || span == INT64_MIN ||
            __builtin_add_overflow(*extent, llabs(span), extent))
            return false;
    }
    return !__builtin_mul_overflow(*extent, size, &bytes);
}

/* Returns the region of memory that the map selects, relative to the first element.
 * Returns NULL if out of memory. */
static struct region *map_region(const struct access_request *r, int ndims,
                                 const MPI_Offset *imap)
{
    int64_t size = conv_size((enum conv_type)r->type);
    int64_t *strides = base_malloc((size_t)ndims * sizeof *strides);
    if (strides == NULL) return NULL;
    for (int i = 0; i < ndims; i++)
        strides[i] = access_count(r, ndims)[i] > 1 ? imap[i] * size : 0;
    struct region *mem = region_loops(0, ndims, access_count(r, ndims), strides, size);
    base_free(strides);
    return mem;
}

/* Returns the map in C order. A Fortran map is first copied to *made, reversed and with
 * defaults for missing entries; the caller frees *made. Returns NULL if out of memory. */
static const MPI_Offset *map_of(const struct api_access *a, int ndims,
                                const int64_t *count, MPI_Offset **made)
{
    MPI_Offset step = 1;
    *made = NULL;
    if (a->fortran_lengths == NULL) return a->imap;
    *made = base_malloc((size_t)ndims * sizeof **made);
    for (int i = ndims - 1, j = 0; *made != NULL && i >= 0; i--, j++) {
        (*made)[i] = j < a->fortran_lengths[3] ? a->imap[j] : step;
        step *= count[i];
    }
    return *made;
}

/* Applies the map to the buffer. If the buffer has a derived type, the map counts
 * elements of that type and must not extend beyond the buffer. For a contiguous buffer,
 * bufcount may be the number of elements accessed or the number that the map spans. */
static int apply_map(const struct cdf_var *v, const MPI_Offset *imap, int64_t nelems,
                     struct api_buffer *b, struct access_request *r)
{
    bool plain;
    int64_t extent;
    if (!map_extent(v->ndims, access_count(r, v->ndims), imap, conv_size(b->type),
                    &extent, &plain))
        return base_error_set(
            NC_EIOMISMATCH, "variable '%s': the map spans more than 2^63 bytes", v->name);
    bool accessed = b->mem == NULL && b->nelems == nelems;
    if (b->nelems != NC_COUNT_IGNORE && extent > b->nelems && !accessed)
        return base_error_set(
            NC_EIOMISMATCH,
            "variable '%s': the map spans %lld elements, but the buffer has %lld",
            v->name, (long long)extent, (long long)b->nelems);
    if (plain) return NC_NOERR;

    struct region *map = map_region(r, v->ndims, imap);
    if (map == NULL) return NC_ENOMEM;
    struct region *user = b->mem;
    int64_t low, high;
    region_bounds(map, &low, &high);
    if (user != NULL && low < 0) {
        region_free(map);
        return base_error_set(NC_EIOMISMATCH,
                              "variable '%s': the map refers to memory before the buffer",
                              v->name);
    }
    b->mem = user == NULL ? map : api_compose(map, user, conv_size(b->type));
    if (user != NULL) region_free(map);
    region_free(user);
    return b->mem == NULL ? NC_ENOMEM : NC_NOERR;
}

static int fail_count_mismatch(const struct cdf_var *v, int64_t nelems, int64_t given)
{
    return base_error_set(
        NC_EIOMISMATCH,
        "variable '%s': the request has %lld elements, but the buffer has %lld", v->name,
        (long long)nelems, (long long)given);
}

static int fail_null_buffer(const struct cdf_var *v)
{
    return base_error_named(NC_EINVAL, "variable '%.80s': the buffer is NULL%s", v->name,
                            NULL);
}

static int set_buffer(const struct cdf_var *v, const struct api_access *a, int64_t nelems,
                      struct api_buffer *b, struct access_request *r)
{
    bool mapped = (a->how & API_KIND) == API_VARM && a->imap != NULL && v->ndims > 0;
    bool fits = a->how & API_UPPER_BOUND ? nelems <= b->nelems : nelems == b->nelems;
    if (nelems == 0) return NC_NOERR;
    if (b->nelems != NC_COUNT_IGNORE && !fits && !mapped)
        return fail_count_mismatch(v, nelems, b->nelems);
    if (a->buf == NULL && b->mem == NULL)
        return fail_null_buffer(v); /* MPI_BOTTOM is NULL, but mem is set */
    MPI_Offset *made = NULL;
    int err = NC_NOERR;
    if (mapped) {
        const MPI_Offset *map = map_of(a, v->ndims, access_count(r, v->ndims), &made);
        err = map == NULL ? NC_ENOMEM : apply_map(v, map, nelems, b, r);
        base_free(made);
    }
    if (err == NC_NOERR && b->mem != NULL)
        err = base_holds(region_bytes(b->mem) / conv_size(b->type) >= nelems);
    access_set_mem(r, b->mem);
    b->mem = NULL;
    return err;
}

/* ---- requests ---- */

/* Returns whether the caller passes an empty buffer. With API_UPPER_BOUND, as in typed
 * Fortran calls, bufcount is only the capacity, so 0 does not mean empty. */
static bool is_buffer_empty(const struct api_access *a)
{
    return a->bufcount == 0 && a->buftype != MPI_DATATYPE_NULL &&
           !(a->how & API_UPPER_BOUND);
}

/* Ignores NC_EIOMISMATCH if an independent call passes an empty buffer: such a call
 * accesses nothing. A collective call must pass zero counts instead. */
static int ignore_empty_buffer(const struct api_access *a, int err)
{
    bool nothing = is_buffer_empty(a) && !(a->how & API_COLL);
    return err == NC_EIOMISMATCH && nothing ? NC_NOERR : err;
}

/* Looks up the variable and describes the buffer before any other check. *later receives
 * the buffer's error, which the caller reports only if the hyperslab is valid. */
static int look_up(const struct api_dataset *d, const struct api_access *a,
                   const struct cdf_var **v, struct api_buffer *b, int *later)
{
    *b = (struct api_buffer){0};
    *v = api_var(d, a->varid);
    if (*v == NULL) return api_no_var(d, a->varid);
    int err = api_describe_buffer(a->buftype, a->bufcount, (*v)->type, b);
    *later = err;
    if (err == NC_ENOMEM) return err;
    bool typed = err == NC_NOERR && !is_buffer_empty(a);
    err =
        typed ? api_check_values("variable", (*v)->name, (*v)->type, b->type) : NC_NOERR;
    bool needs = (a->how & API_BUFFERED) && !d->top->posts;
    bool lacking = needs && !api_buffer_attached(d->queue);
    return err == NC_NOERR && lacking ? api_refuse(d, NC_ENULLABUF) : err;
}

/* Fills in a request's hyperslab and buffer. The request then owns the buffer's
 * region. */
static int fill_in_request(const struct api_dataset *d, const struct cdf_var *v,
                           const struct api_access *a, bool put, int later,
                           struct api_buffer *b, struct access_request *r,
                           int64_t *nelems)
{
    int err = set_slab(d, v, a, put, r, nelems);
    if (err == NC_NOERR) err = later;
    return err == NC_NOERR ? set_buffer(v, a, *nelems, b, r) : err;
}

int api_request_make(const struct api_dataset *d, const struct api_access *a, bool put,
                     struct access_request **req)
{
    const struct cdf_var *v;
    struct api_buffer b;
    int64_t nelems = 0;
    int later = NC_NOERR, err = look_up(d, a, &v, &b, &later);
    bool mapped = b.mem != NULL || (a->how & API_KIND) == API_VARM;
    struct access_request *r = err == NC_NOERR ? new_request(v, a, mapped, b.type) : NULL;
    *req = NULL;
    if (err == NC_NOERR && r == NULL) err = NC_ENOMEM;
    if (err == NC_NOERR) {
        err = fill_in_request(d, v, a, put, later, &b, r, &nelems);
        if (err == NC_NOERR && nelems > 0)
            *req = r;
        else
            api_request_free(r);
    }
    if (b.mem != NULL) region_free(b.mem);
    return ignore_empty_buffer(a, err);
}

/* ---- several hyperslabs of one variable ---- */

/* State of a varn call while its requests are being made. */
struct many {
    const struct api_dataset *d;
    const struct cdf_var *v;
    struct api_access one; /* arguments for the next hyperslab, except the buffer */
    const unsigned char *buf;
    int64_t *places; /* offset of each element; NULL if the buffer is contiguous */
    int64_t done;    /* number of elements assigned to requests so far */
    int64_t given;   /* number of elements in the buffer, or NC_COUNT_IGNORE */
    bool put;
};

/* Assigns the next n elements of the buffer to a request. */
static int next_buffer(struct many *m, int64_t n, struct access_request *r)
{
    int64_t size = conv_size((enum conv_type)r->type);
    if (n > 0 && m->given != NC_COUNT_IGNORE && n > m->given - m->done)
        return fail_count_mismatch(m->v, m->done + n, m->given);
    if (n > INT64_MAX / size - m->done) return too_many_bytes(m->v);
    if (n > 0 && m->buf == NULL && m->places == NULL) return fail_null_buffer(m->v);
    r->buf = (void *)m->buf;
    if (n > 0 && m->places != NULL) {
        access_set_mem(r, api_elements(m->places + m->done, n, size));
        if (access_mem(r) == NULL) return NC_ENOMEM;
    } else if (n > 0) {
        r->buf = (void *)(m->buf + m->done * size);
    }
    m->done += n;
    return NC_NOERR;
}

static int next_request(struct many *m, enum conv_type type, const MPI_Offset *start,
                        const MPI_Offset *count, struct access_request **req)
{
    int64_t nelems = 0;
    m->one.start = start;
    m->one.count = count;
    m->one.how = count == NULL ? API_VAR1 : API_VARA;
    m->one.fortran_lengths = NULL;
    *req = NULL;
    struct access_request *r = new_request(m->v, &m->one, m->places != NULL, type);
    if (r == NULL) return NC_ENOMEM;
    int err = set_slab(m->d, m->v, &m->one, m->put, r, &nelems);
    if (err == NC_NOERR) err = next_buffer(m, nelems, r);
    if (err == NC_NOERR && nelems > 0)
        *req = r;
    else
        api_request_free(r);
    return err;
}

/* Makes a request for each hyperslab. */
static int make_each(struct many *m, const struct api_slabs *slabs, enum conv_type type,
                     struct access_request **reqs, int64_t *n)
{
    int err = NC_NOERR;
    for (int i = 0; i < slabs->n && err == NC_NOERR; i++) {
        err = next_request(m, type, slabs->starts == NULL ? NULL : slabs->starts[i],
                           slabs->counts == NULL ? NULL : slabs->counts[i], &reqs[*n]);
        if (err == NC_NOERR && reqs[*n] != NULL) ++*n;
    }
    if (err == NC_NOERR && m->given != NC_COUNT_IGNORE && m->done != m->given &&
        m->done > 0)
        err = fail_count_mismatch(m->v, m->done, m->given);
    return err;
}

/* Checks the hyperslab lists. A NULL start has a different error code than in vara. */
static int check_lists(const struct api_dataset *d, const struct cdf_var *v,
                       const struct api_slabs *slabs)
{
    bool missing = slabs->n > 0 && slabs->starts == NULL;
    for (int i = 0; i < slabs->n && v->ndims > 0 && !missing; i++)
        missing = slabs->starts[i] == NULL;
    if (missing && v->ndims > 0) return fail_null_start(NC_ENULLSTART, v);
    for (int i = 0; i < slabs->n && slabs->counts != NULL; i++)
        for (int k = 0; k < v->ndims && slabs->counts[i] != NULL; k++)
            if (slabs->counts[i][k] < 0)
                return negative_count(d, v, k, slabs->counts[i][k]);
    return NC_NOERR;
}

int api_requests_make(const struct api_dataset *d, const struct api_access *a,
                      const struct api_slabs *slabs, bool put,
                      struct access_request ***reqs, int64_t *n)
{
    struct many m = {.d = d, .one = {.varid = a->varid}, .buf = a->buf, .put = put};
    struct api_buffer b;
    int later = NC_NOERR, err = look_up(d, a, &m.v, &b, &later);
    if (err == NC_ENULLABUF && slabs->n == 0) err = NC_NOERR; /* no buffer is needed */
    m.given = later == NC_NOERR ? b.nelems : NC_COUNT_IGNORE;
    if (err == NC_NOERR && slabs->n < 0)
        err = base_error_set(NC_EINVAL, "variable '%s': %d hyperslabs", m.v->name,
                             slabs->n);
    if (err == NC_NOERR) err = check_lists(d, m.v, slabs);
    if (err == NC_NOERR && later == NC_NOERR && b.mem == NULL &&
        api_runs_make(d, a, slabs, put, b.type, m.given, reqs, n))
        return NC_NOERR;
    *n = 0;
    *reqs = NULL;
    if (err == NC_NOERR && b.mem != NULL)
        err = api_element_offsets(b.mem, conv_size(b.type), &m.places);
    if (err == NC_NOERR && slabs->n > 0) {
        *reqs = base_malloc((size_t)slabs->n * sizeof(struct access_request *));
        if (*reqs == NULL) err = NC_ENOMEM;
    }
    bool nothing = is_buffer_empty(a) && slabs->pending;
    if (err == NC_NOERR && !nothing) err = make_each(&m, slabs, b.type, *reqs, n);
    if (err == NC_NOERR) err = later;
    base_free(m.places);
    region_free(b.mem);
    if (err != NC_NOERR) api_requests_drop(*reqs, n);
    if (err != NC_NOERR) *reqs = NULL;
    return ignore_empty_buffer(a, err);
}
