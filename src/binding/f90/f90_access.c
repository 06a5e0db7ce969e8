/* Reads and writes variables for Fortran 90: fills in defaults, and makes one flexible
 * access. A process with a local error still makes a collective call, but passes a buffer
 * that the library rejects. */
#include "f90_access.h"

#include "api.h"
#include "base_error.h"
#include "base_mem.h"
#include "pnetcdf.h"

/* ---- the buffer ---- */

/* Memory to transfer: `count` items of `type` at `base`. */
struct buffer {
    void *base;
    MPI_Offset count;
    MPI_Datatype type;
    bool made;    /* the type was created here and must be freed */
    void *packed; /* contiguous copy of a section; NULL if none */
};

/* Describes the first n elements of an array section as an MPI datatype. */
static int describe_section(const struct f90_values *v, MPI_Offset n, struct buffer *b)
{
    if (n <= 0) return NC_NOERR;
    int err = f90_section_type(v, n, &b->type);
    b->made = err == NC_NOERR;
    b->count = 1;
    return err;
}

/* Describes the first n values. If there are fewer values, or if a map may reach beyond
 * them, passes the number of values, which the library compares with the request. */
static int describe_values(const struct f90_values *v, MPI_Offset n, bool mapped,
                           struct buffer *b)
{
    bool all = (mapped || n > v->size) && v->size >= 0;
    *b = (struct buffer){.base = v->base, .count = NC_COUNT_IGNORE, .type = v->type};
    if (!v->contiguous) return describe_section(v, all && n > 0 ? v->size : n, b);
    if (all) b->count = v->size;
    return NC_NOERR;
}

/* Describes memory with the caller's datatype. The datatype applies to a contiguous
 * array, so a section is copied first. A pending request cannot own such a copy, so iput
 * and iget reject sections with gaps. bput makes its own copy. */
static int describe_by_type(const struct f90_values *v, MPI_Offset bufcount,
                            MPI_Datatype buftype, int mode, struct buffer *b)
{
    *b = (struct buffer){.base = v->base, .count = bufcount, .type = buftype};
    if (v->contiguous) return NC_NOERR;
    if (mode == F90_IPUT || mode == F90_IGET)
        return base_error_set(NC_EINVAL, "a nonblocking call with buftype cannot use an "
                                         "array section with gaps: pass the whole array");
    b->packed = base_malloc((size_t)(v->size * v->width));
    if (b->packed == NULL) return NC_ENOMEM;
    b->base = b->packed;
    f90_pack(v, b->packed);
    return NC_NOERR;
}

/* Sets a buffer that every call rejects. */
static void refuse(struct buffer *b)
{
    b->base = NULL;
    b->count = NC_COUNT_IGNORE;
    b->type = MPI_BYTE;
}

static void free_buffer(const struct f90_values *v, int mode, struct buffer *b)
{
    if (b->packed != NULL && (mode == F90_GET || mode == F90_GET_ALL))
        f90_unpack(v, b->packed);
    base_free(b->packed);
    if (b->made) (void)MPI_Type_free(&b->type);
}

/* ---- hyperslabs ---- */

static MPI_Offset extent(const CFI_cdesc_t *list, int dim)
{
    return list->dim[dim].extent;
}

/* Returns list(i + 1, j + 1). */
static MPI_Offset entry(const CFI_cdesc_t *list, int i, int j)
{
    const char *at = (const char *)list->base_addr + i * list->dim[0].sm;
    if (list->rank > 1) at += j * list->dim[1].sm;
    return *(const int64_t *)at;
}

static MPI_Offset times(MPI_Offset a, MPI_Offset b)
{
    MPI_Offset product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* Returns the number of dimensions of a variable, or 0 if the variable does not exist.
 * The call then reports the error. */
static int dimensions(const struct f90_call *call)
{
    int ndims;
    int err = ncmpi_inq_varndims(call->ncid, call->varid - 1, &ndims);
    return err == NC_NOERR ? ndims : 0;
}

static MPI_Offset elements(const struct f90_call *call, const struct api_access *a)
{
    MPI_Offset n = 1;
    for (int i = 0, ndims = dimensions(call); i < ndims && i < a->fortran_lengths[COUNT];
         i++)
        n = times(n, a->count[i]);
    return n;
}

static const struct {
    unsigned how;
    bool put;
} modes[] = {
    [F90_PUT] = {API_VARM, true},
    [F90_GET] = {API_VARM, false},
    [F90_PUT_ALL] = {API_VARM | API_COLL, true},
    [F90_GET_ALL] = {API_VARM | API_COLL, false},
    [F90_IPUT] = {API_VARM, true},
    [F90_IGET] = {API_VARM, false},
    [F90_BPUT] = {API_VARM | API_BUFFERED, true},
};

/* The counts for an access. In a dimension for which the caller passes no count, the
 * count is the extent of the values. */
struct counts {
    MPI_Offset list[CFI_MAX_RANK + 1];
    int64_t given[LISTS];
};

static void count_values(const struct f90_values *v, struct api_access *a,
                         struct counts *c)
{
    for (int i = 0; i < v->rank; i++)
        c->list[i] = i < a->fortran_lengths[COUNT] ? a->count[i] : v->extent[i];
    for (int i = 0; i < LISTS; i++)
        c->given[i] = i == COUNT ? v->rank : a->fortran_lengths[i];
    a->count = c->list;
    a->fortran_lengths = c->given;
}

/* Makes one access. The library fills in missing arguments, and reverses the lists while
 * it copies them, so that a small put does not cost much more than in C. */
int f90_var(const struct f90_call *call, const int64_t given[LISTS],
            const CFI_cdesc_t *values, const MPI_Offset *start, const MPI_Offset *count,
            const MPI_Offset *stride, const MPI_Offset *map, const int64_t *bufcount,
            const int *buftype, int *req)
{
    struct f90_values v;
    struct buffer b = {.made = false};
    struct counts counts;
    struct api_access a = {.varid = call->varid - 1,
                           .start = start,
                           .count = count,
                           .stride = stride,
                           .imap = map,
                           .how = modes[call->mode].how,
                           .fortran_lengths = given};
    bool put = modes[call->mode].put;
    int own = NC_NOERR, err;
    f90_describe(values, (enum f90_type)call->type, call->len, &v);
    if (given[COUNT] < v.rank) count_values(&v, &a, &counts);
    if (buftype != NULL) {
        own = describe_by_type(&v, bufcount != NULL ? *bufcount : NC_COUNT_IGNORE,
                               MPI_Type_f2c(*buftype), call->mode, &b);
    } else if (v.contiguous) {
        b = (struct buffer){.base = v.base, .count = v.size, .type = v.type};
        a.how |= API_UPPER_BOUND;
    } else {
        own = describe_values(&v, elements(call, &a), map != NULL, &b);
    }
    if (own != NC_NOERR) refuse(&b);
    a.buf = b.base;
    a.bufcount = b.count;
    a.buftype = b.type;
    err = req == NULL ? api_access_now_either(call->ncid, &a, put)
                      : api_access_later(call->ncid, &a, put, req);
    free_buffer(&v, call->mode, &b);
    return own != NC_NOERR ? own : err;
}

/* ---- lists of blocks ---- */

struct blocks {
    int num;
    MPI_Offset **starts, **counts; /* counts is NULL if absent */
    MPI_Offset n;                  /* number of elements */
};

/* Converts the lists. Allocates the pointers and the lists they point to as one block. */
static int make_blocks(int ndims, int num, const CFI_cdesc_t *start,
                       const CFI_cdesc_t *count, struct blocks *l)
{
    *l = (struct blocks){.num = 0};
    if (num <= 0) return num < 0 ? NC_EINVAL : NC_NOERR;
    if (num > extent(start, 1) || ndims > extent(start, 0))
        return base_error_set(NC_EINVAL, "start has too few elements");
    if (count != NULL && (num > extent(count, 1) || ndims > extent(count, 0)))
        return base_error_set(NC_EINVAL, "count has too few elements");

    size_t each = sizeof(MPI_Offset *) + (size_t)ndims * sizeof(MPI_Offset);
    l->starts = base_calloc(2 * (size_t)num, each);
    if (l->starts == NULL) return NC_ENOMEM;
    l->num = num;
    MPI_Offset **counts = l->starts + num, *room = (MPI_Offset *)(counts + num);
    if (count != NULL) l->counts = counts;
    for (int j = 0; j < num; j++) {
        MPI_Offset n = 1;
        l->starts[j] = room + 2 * (size_t)j * (size_t)ndims;
        counts[j] = l->starts[j] + ndims;
        for (int i = 0; i < ndims; i++) {
            l->starts[j][ndims - 1 - i] = entry(start, i, j) - 1;
            counts[j][ndims - 1 - i] = count != NULL ? entry(count, i, j) : 1;
            n = times(n, counts[j][ndims - 1 - i]);
        }
        if (n > INT64_MAX - l->n) n = INT64_MAX - l->n;
        l->n += n;
    }
    return NC_NOERR;
}

static int move_blocks(const struct f90_call *call, const struct blocks *l,
                       const struct buffer *b, int *req)
{
    int ncid = call->ncid, varid = call->varid - 1;
    switch (call->mode) {
    case F90_PUT:
        return ncmpi_put_varn(ncid, varid, l->num, l->starts, l->counts, b->base,
                              b->count, b->type);
    case F90_PUT_ALL:
        return ncmpi_put_varn_all(ncid, varid, l->num, l->starts, l->counts, b->base,
                                  b->count, b->type);
    case F90_GET:
        return ncmpi_get_varn(ncid, varid, l->num, l->starts, l->counts, b->base,
                              b->count, b->type);
    case F90_GET_ALL:
        return ncmpi_get_varn_all(ncid, varid, l->num, l->starts, l->counts, b->base,
                                  b->count, b->type);
    case F90_IPUT:
        return ncmpi_iput_varn(ncid, varid, l->num, l->starts, l->counts, b->base,
                               b->count, b->type, req);
    case F90_IGET:
        return ncmpi_iget_varn(ncid, varid, l->num, l->starts, l->counts, b->base,
                               b->count, b->type, req);
    default:
        return ncmpi_bput_varn(ncid, varid, l->num, l->starts, l->counts, b->base,
                               b->count, b->type, req);
    }
}

int f90_varn(const struct f90_call *call, const CFI_cdesc_t *values, int *req, int num,
             const CFI_cdesc_t *start, const CFI_cdesc_t *count)
{
    struct f90_values v;
    struct blocks l;
    struct buffer b = {.made = false};
    f90_describe(values, (enum f90_type)call->type, call->len, &v);
    int own = make_blocks(dimensions(call), num, start, count, &l);
    if (own == NC_NOERR) own = describe_values(&v, l.n, false, &b);
    if (own != NC_NOERR) refuse(&b);

    int err = move_blocks(call, &l, &b, req);
    free_buffer(&v, call->mode, &b);
    base_free(l.starts);
    return own != NC_NOERR ? own : err;
}

/* ---- access to a part of the file described by an MPI datatype ---- */

int f90_vard(const struct f90_call *call, int filetype, const CFI_cdesc_t *buf,
             int64_t bufcount, int buftype)
{
    struct f90_values v;
    struct buffer b;
    MPI_Datatype file = MPI_Type_f2c(filetype);
    int ncid = call->ncid, varid = call->varid - 1, err;
    f90_describe(buf, (enum f90_type)call->type, call->len, &v);
    int own = describe_by_type(&v, bufcount, MPI_Type_f2c(buftype), call->mode, &b);
    if (own != NC_NOERR) refuse(&b);

    switch (call->mode) {
    case F90_PUT:
        err = ncmpi_put_vard(ncid, varid, file, b.base, b.count, b.type);
        break;
    case F90_GET:
        err = ncmpi_get_vard(ncid, varid, file, b.base, b.count, b.type);
        break;
    case F90_PUT_ALL:
        err = ncmpi_put_vard_all(ncid, varid, file, b.base, b.count, b.type);
        break;
    default:
        err = ncmpi_get_vard_all(ncid, varid, file, b.base, b.count, b.type);
    }
    free_buffer(&v, call->mode, &b);
    return own != NC_NOERR ? own : err;
}
