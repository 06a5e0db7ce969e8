/* Implements access by file type (vard): an MPI datatype selects bytes relative to the
 * variable's first byte. The datatype may also select other variables of the same type.
 * The access is then split into requests, each for consecutive runs of one variable. */
#include "api_access.h"
#include "api_buffer.h"
#include "api_safe.h"
#include "api_trace.h"
#include "api_errors.h"
#include "base_mem.h"
#include "pnetcdf.h"
#include "region_mpi.h"

/* State of an access while its file type is converted to single-variable requests. */
struct raw {
    const struct api_dataset *d;
    const void *buf;
    bool put;
    struct api_buffer b;
    int64_t *places; /* offset of each element of a noncontiguous buffer */
    int64_t done;    /* number of elements assigned to requests so far */

    /* The current part, a sequence of runs in one variable. */
    int varid;
    int64_t nruns, room;
    int64_t *displ, *length;

    struct access_request **reqs;
    int64_t n, capacity;
};

static void free_raw(struct raw *a)
{
    region_free(a->b.mem);
    base_free(a->reqs);
    base_free(a->places);
    base_free(a->displ);
    base_free(a->length);
}

static int has_room(struct raw *a)
{
    void *grown =
        base_grow(a->reqs, &a->capacity, a->n + 1, sizeof(struct access_request *));
    if (grown != NULL) a->reqs = grown;
    return grown == NULL ? NC_ENOMEM : NC_NOERR;
}

/* Adds a request that transfers the bytes `file` of a variable. The values are in `mem`,
 * or contiguous in `buf` if mem is NULL. Takes ownership of both regions. */
static int add_raw_request(struct raw *a, int varid, struct region *file, const void *buf,
                           struct region *mem)
{
    struct access_request *r =
        base_malloc(sizeof *r + (1 + ACCESS_RAW_SLAB) * sizeof r->slab[0]);
    if (r == NULL || has_room(a) != NC_NOERR) {
        base_free(r);
        region_free(file);
        region_free(mem);
        return NC_ENOMEM;
    }
    *r = (struct access_request){.buf = (void *)buf,
                                 .varid = varid,
                                 .type = (unsigned char)a->b.type,
                                 .raw = true,
                                 .mapped = true};
    access_set_mem(r, mem);
    r->slab[1] = (int64_t)(intptr_t)file;
    r->slab[2] = region_bytes(file) / cdf_type_size(api_var(a->d, varid)->type);
    r->slab[3] = 0;
    a->reqs[a->n++] = r;
    return NC_NOERR;
}

/* ---- finding the variable that contains a byte ---- */

/* Returns the number of records that may be accessed. */
static int64_t records_of_raw(const struct raw *a)
{
    const struct cdf_header *h = &a->d->ds.header;
    return a->put ? cdf_max_records(h) : h->numrecs;
}

/* Returns the number of contiguous bytes of the variable that start at `at`, or 0. */
static int64_t contiguous_bytes_at(const struct raw *a, const struct cdf_var *v,
                                   int64_t at)
{
    int64_t bytes = v->nelems * cdf_type_size(v->type), off = at - v->begin;
    if (bytes == 0 || off < 0) return 0;
    if (v->is_record) {
        int64_t step = a->d->ds.header.record_size;
        if (bytes == step)
            bytes *= records_of_raw(a);
        else if (off / step < records_of_raw(a))
            off %= step;
    }
    return off < bytes ? bytes - off : 0;
}

/* Returns the variable that contains the byte `at`, or -1. The search starts at the
 * current variable, because the byte is most likely in it or in the next one. */
static int find_var(const struct raw *a, int64_t at, int64_t *bytes)
{
    int nvars = a->d->ds.header.nvars;
    for (int i = 0; i < nvars; i++) {
        int varid = (a->varid + i) % nvars;
        *bytes = contiguous_bytes_at(a, api_var(a->d, varid), at);
        if (*bytes > 0) return varid;
    }
    return -1;
}

/* Returns whether all runs of the strip are in the variable. Checking the first and the
 * last run suffices. */
static bool is_strip_in_var(const struct raw *a, const struct cdf_var *v,
                            const struct region_strip *s)
{
    int64_t first = v->begin + s->offset, last = first + (s->count - 1) * s->stride;
    int64_t low = first < last ? first : last, high = first < last ? last : first;
    if (contiguous_bytes_at(a, v, low) < s->length ||
        contiguous_bytes_at(a, v, high) < s->length)
        return false;
    return contiguous_bytes_at(a, v, low) >= high - low + s->length ||
           (v->is_record && s->stride % a->d->ds.header.record_size == 0);
}

/* Determines whether the file type selects only bytes of the variable. */
static int stays_within(const struct raw *a, const struct cdf_var *v,
                        const struct region *file, bool *within)
{
    int64_t low, high;
    struct region_strip s;
    region_bounds(file, &low, &high);
    *within = contiguous_bytes_at(a, v, v->begin + low) >= high - low;
    if (*within || !v->is_record) return NC_NOERR;
    struct region_cursor *c = region_cursor_new(file);
    if (c == NULL) return NC_ENOMEM;
    *within = true;
    while (*within && region_next(c, INT64_MAX, INT64_MAX, &s))
        *within = is_strip_in_var(a, v, &s);
    region_cursor_free(c);
    return NC_NOERR;
}

/* ---- several variables ---- */

/* Makes a request from the current part, which uses the next values in the buffer. */
static int end_part(struct raw *a)
{
    if (a->nruns == 0) return NC_NOERR;
    struct region *file = region_blocks(a->nruns, a->displ, a->length), *mem = NULL;
    if (file == NULL) return NC_ENOMEM;
    int64_t size = conv_size(a->b.type);
    int64_t n = region_bytes(file) / cdf_type_size(api_var(a->d, a->varid)->type);
    const char *buf = a->buf;
    int err = base_holds(a->b.nelems == NC_COUNT_IGNORE || n <= a->b.nelems - a->done);
    if (err != NC_NOERR) {
        region_free(file);
        return err;
    }
    if (a->places != NULL) {
        mem = api_elements(a->places + a->done, n, size);
        if (mem == NULL) region_free(file);
        if (mem == NULL) return NC_ENOMEM;
    } else {
        buf += a->done * size;
    }
    a->done += n;
    a->nruns = 0;
    return add_raw_request(a, a->varid, file, buf, mem);
}

static int add_raw_run(struct raw *a, int64_t displ, int64_t length)
{
    int64_t room = a->room; /* capacity of both arrays */
    void *displs = base_grow(a->displ, &room, a->nruns + 1, sizeof *a->displ);
    if (displs == NULL) return NC_ENOMEM;
    a->displ = displs;
    void *lengths = base_grow(a->length, &a->room, a->nruns + 1, sizeof *a->length);
    if (lengths == NULL) return NC_ENOMEM;
    a->length = lengths;
    a->displ[a->nruns] = displ;
    a->length[a->nruns++] = length;
    return NC_NOERR;
}

/* Divides a run among the variables that it overlaps. */
static int share_run(struct raw *a, int type, int64_t at, int64_t length)
{
    int err = NC_NOERR;
    while (length > 0 && err == NC_NOERR) {
        int64_t n = 0;
        int varid = find_var(a, at, &n);
        if (varid >= 0 && api_var(a->d, varid)->type != type)
            return base_error_set(
                NC_EEDGE,
                "the file type covers variable '%s', which has a different type",
                api_var(a->d, varid)->name);
        if (n > length) n = length;
        int64_t end = at + n;
        if (varid < 0 || n % cdf_type_size(type) != 0)
            return base_error_set(NC_EEDGE,
                                  "the file type covers byte %lld of the file, which "
                                  "does not belong to any variable",
                                  (long long)end);
        if (varid != a->varid) err = end_part(a);
        a->varid = varid;
        if (err == NC_NOERR) err = add_raw_run(a, at - api_var(a->d, varid)->begin, n);
        at = end;
        length -= n;
    }
    return err;
}

/* Splits a file type that overlaps other variables into single-variable requests. */
static int split_raw(struct raw *a, const struct cdf_var *v, const struct region *file)
{
    struct region_strip s;
    struct region_cursor *c = region_cursor_new(file);
    int err = c == NULL ? NC_ENOMEM : NC_NOERR;
    if (err == NC_NOERR && a->b.mem != NULL)
        err = api_element_offsets(a->b.mem, conv_size(a->b.type), &a->places);
    while (err == NC_NOERR && region_next(c, INT64_MAX, INT64_MAX, &s))
        for (int64_t i = 0; i < s.count && err == NC_NOERR; i++)
            err = share_run(a, v->type, v->begin + s.offset + i * s.stride, s.length);
    region_cursor_free(c);
    return err == NC_NOERR ? end_part(a) : err;
}

/* ---- the call ---- */

/* Converts the file type to a region. Its basic type must be the variable's type. */
static int decode_filetype(const struct cdf_var *v, MPI_Datatype filetype,
                           struct region **file)
{
    MPI_Datatype basic;
    enum conv_type type;
    int64_t bytes, low, high;
    int err = region_from_datatype(filetype, 1, &basic, &bytes, file);
    if (err != NC_NOERR) return err;
    err = api_conv_type(basic, v->type, &type);
    if (err == NC_NOERR && (int)type != conv_type_of(v->type))
        err = base_error_named(NC_ETYPE_MISMATCH,
                               "variable '%.80s' has type %s, but the elements of the "
                               "file type have a different type",
                               v->name, cdf_type_name(v->type));
    region_bounds(*file, &low, &high);
    if (err == NC_NOERR && (low < -v->begin || high > INT64_MAX - v->begin))
        err =
            base_error_set(NC_EEDGE, "the file type extends beyond the limits of a file");
    return err;
}

/* Makes the requests, or none if there is nothing to transfer. Takes ownership of
 * `file`. */
static int make_raw_request(struct raw *a, int varid, struct region *file)
{
    const struct cdf_var *v = api_var(a->d, varid);
    int64_t nelems = region_bytes(file) / cdf_type_size(v->type);
    bool within = true;
    int err = stays_within(a, v, file, &within);
    if (err == NC_NOERR && nelems > INT64_MAX / conv_size(a->b.type))
        err = base_error_set(NC_EINTOVERFLOW,
                             "variable '%s': the request has more than 2^63 bytes",
                             v->name);
    if (err == NC_NOERR && nelems > 0) {
        if (a->b.nelems != NC_COUNT_IGNORE && a->b.nelems != nelems)
            err = base_error_set(
                NC_EIOMISMATCH,
                "variable '%s': the file type has %lld elements, but the buffer has %lld",
                v->name, (long long)nelems, (long long)a->b.nelems);
        else if (a->buf == NULL && a->b.mem == NULL)
            err = api_null(NC_EINVAL, "buf");
    }
    if (err == NC_NOERR && nelems > 0 && within) {
        struct region *mem = a->b.mem;
        a->b.mem = NULL;
        return add_raw_request(a, varid, file, a->buf, mem);
    }
    a->varid = varid;
    if (err == NC_NOERR && nelems > 0) err = split_raw(a, v, file);
    region_free(file);
    return err;
}

static int describe_raw(struct raw *a, int varid, MPI_Datatype filetype,
                        MPI_Offset bufcount, MPI_Datatype buftype)
{
    const struct cdf_var *v = api_var(a->d, varid);
    struct region *file = NULL;
    if (v == NULL) return api_no_var(a->d, varid);
    if (filetype == MPI_DATATYPE_NULL) return NC_NOERR;
    int err = api_describe_buffer(buftype, bufcount, v->type, &a->b);
    if (err == NC_NOERR) err = api_check_values("variable", v->name, v->type, a->b.type);
    if (err == NC_NOERR) err = decode_filetype(v, filetype, &file);
    if (err == NC_NOERR) return make_raw_request(a, varid, file);
    region_free(file);
    return err;
}

static int access_raw_either(int ncid, int varid, MPI_Datatype filetype, const void *buf,
                             MPI_Offset bufcount, MPI_Datatype buftype, bool put,
                             unsigned how)
{
    struct api_dataset *d;
    int err = api_find_data(ncid, put, how, &d);
    if (err == NC_NOERR && (how & API_COLL))
        err = api_same_call_all(d, put ? "a put" : "a get");
    if (err != NC_NOERR) return err;
    struct raw a = {.d = d, .buf = buf, .put = put};
    api_lock(d);
    struct trace_span span = trace_enter(d->ds.trace);
    err = describe_raw(&a, varid, filetype, bufcount, buftype);
    if (err != NC_NOERR) {
        for (int64_t i = 0; i < a.n; i++)
            api_request_end(a.reqs[i]);
        a.n = 0;
    }
    err = api_transfer_either(d, a.reqs, a.n, put, how, err);
    api_end_access(d, span, api_blocking_verb(put), API_VARD, how, varid, err);
    api_unlock(d);
    free_raw(&a);
    return err;
}

int ncmpi_put_vard(int ncid, int varid, MPI_Datatype filetype, const void *ip,
                   MPI_Offset bufcount, MPI_Datatype buftype)
{
    return access_raw_either(ncid, varid, filetype, ip, bufcount, buftype, true, 0);
}

int ncmpi_put_vard_all(int ncid, int varid, MPI_Datatype filetype, const void *ip,
                       MPI_Offset bufcount, MPI_Datatype buftype)
{
    return access_raw_either(ncid, varid, filetype, ip, bufcount, buftype, true,
                             API_COLL);
}

int ncmpi_get_vard(int ncid, int varid, MPI_Datatype filetype, void *ip,
                   MPI_Offset bufcount, MPI_Datatype buftype)
{
    return access_raw_either(ncid, varid, filetype, ip, bufcount, buftype, false, 0);
}

int ncmpi_get_vard_all(int ncid, int varid, MPI_Datatype filetype, void *ip,
                       MPI_Offset bufcount, MPI_Datatype buftype)
{
    return access_raw_either(ncid, varid, filetype, ip, bufcount, buftype, false,
                             API_COLL);
}
