/* Reading and writing variables for Fortran 90: defaults filled in, then one flexible
 * call. In collective calls a process with an error of
 * its own takes part all the same, with a buffer that the library refuses. */
#include "f90_access.h"

#include "api.h"
#include "base_error.h"
#include "base_mem.h"
#include "pnetcdf.h"

/* ---- the buffer ---- */

/* What the library is asked to move: count items of type at base. */
struct buffer {
    void *base;
    MPI_Offset count;
    MPI_Datatype type;
    bool made;    /* the type is ours, to be freed */
    void *packed; /* a copy of a section, or NULL */
};

/* n elements of a section, or all, as a datatype that lists them. */
static int take_section(const struct f90_values *v, MPI_Offset n, struct buffer *b)
{
    if (n <= 0) return NC_NOERR;
    int err = f90_section_type(v, n, &b->type);
    b->made = err == NC_NOERR;
    b->count = 1;
    return err;
}

/* Of the values, n elements. Where n is too many, or a map may reach too far, the library
 * is told how many there are and compares. */
static int take_values(const struct f90_values *v, MPI_Offset n, bool mapped,
                       struct buffer *b)
{
    bool all = (mapped || n > v->size) && v->size >= 0;
    *b = (struct buffer){.base = v->base, .count = NC_COUNT_IGNORE, .type = v->type};
    if (!v->contiguous) return take_section(v, all && n > 0 ? v->size : n, b);
    if (all) b->count = v->size;
    return NC_NOERR;
}

/* What a datatype of the caller's describes. It applies to an array without gaps, so a
 * section is copied; there is no place for a copy while a request waits, but bput makes
 * one of its own. */
static int take_described(const struct f90_values *v, MPI_Offset bufcount,
                          MPI_Datatype buftype, int mode, struct buffer *b)
{
    *b = (struct buffer){.base = v->base, .count = bufcount, .type = buftype};
    if (v->contiguous) return NC_NOERR;
    if (mode == F90_IPUT || mode == F90_IGET)
        return base_error_set(NC_EINVAL, "a section of an array with gaps, together with "
                                         "buftype, cannot wait: pass the whole array");
    b->packed = base_malloc((size_t)(v->size * v->width));
    if (b->packed == NULL) return NC_ENOMEM;
    b->base = b->packed;
    f90_pack(v, b->packed);
    return NC_NOERR;
}

/* A buffer that no call accepts. */
static void refuse(struct buffer *b)
{
    b->base = NULL;
    b->count = NC_COUNT_IGNORE;
    b->type = MPI_BYTE;
}

static void give_back(const struct f90_values *v, int mode, struct buffer *b)
{
    if (b->packed != NULL && (mode == F90_GET || mode == F90_GET_ALL))
        f90_unpack(v, b->packed);
    base_free(b->packed);
    if (b->made) (void)MPI_Type_free(&b->type);
}

/* ---- which elements ---- */

static MPI_Offset extent(const CFI_cdesc_t *list, int dim)
{
    return list->dim[dim].extent;
}

/* list(i + 1, j + 1) */
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

/* Of a variable that there is not, 0: the call itself will tell. */
static int dimensions(const struct f90_call *call)
{
    int ndims;
    int err = ncmpi_inq_varndims(call->ncid, call->varid - 1, &ndims);
    return err == NC_NOERR ? ndims : 0;
}

static MPI_Offset elements(const struct f90_call *call, const struct api_access *a)
{
    MPI_Offset n = 1;
    for (int i = 0, ndims = dimensions(call); i < ndims && i < a->given[COUNT]; i++)
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

/* Fewer counts than the values have dimensions: the others are those of the values. */
struct counts {
    MPI_Offset list[CFI_MAX_RANK + 1];
    int64_t given[LISTS];
};

static void count_values(const struct f90_values *v, struct api_access *a,
                         struct counts *c)
{
    for (int i = 0; i < v->rank; i++)
        c->list[i] = i < a->given[COUNT] ? a->count[i] : v->extent[i];
    for (int i = 0; i < LISTS; i++)
        c->given[i] = i == COUNT ? v->rank : a->given[i];
    a->count = c->list;
    a->given = c->given;
}

/* Everything that is not said here is left to the library, which turns the lists round as
 * it copies them: small puts shall cost hardly more than from C. */
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
                           .given = given};
    bool put = modes[call->mode].put;
    int own = NC_NOERR, err;
    f90_describe(values, (enum f90_type)call->type, call->len, &v);
    if (given[COUNT] < v.rank) count_values(&v, &a, &counts);
    if (buftype != NULL) {
        own = take_described(&v, bufcount != NULL ? *bufcount : NC_COUNT_IGNORE,
                             MPI_Type_f2c(*buftype), call->mode, &b);
    } else if (v.contiguous) {
        b = (struct buffer){.base = v.base, .count = v.size, .type = v.type};
        a.how |= API_ROOM;
    } else {
        own = take_values(&v, elements(call, &a), map != NULL, &b);
    }
    if (own != NC_NOERR) refuse(&b);
    a.buf = b.base;
    a.bufcount = b.count;
    a.buftype = b.type;
    err = req == NULL ? api_access_now_either(call->ncid, &a, put)
                      : api_access_later(call->ncid, &a, put, req);
    give_back(&v, call->mode, &b);
    return own != NC_NOERR ? own : err;
}

/* ---- lists of blocks ---- */

struct blocks {
    int num;
    MPI_Offset **starts, **counts; /* NULL where counts were not given */
    MPI_Offset n;                  /* elements */
};

/* One allocation holds it all: the pointers, then what they point to. */
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
    if (own == NC_NOERR) own = take_values(&v, l.n, false, &b);
    if (own != NC_NOERR) refuse(&b);

    int err = move_blocks(call, &l, &b, req);
    give_back(&v, call->mode, &b);
    base_free(l.starts);
    return own != NC_NOERR ? own : err;
}

/* ---- what an MPI datatype describes in the file ---- */

int f90_vard(const struct f90_call *call, int filetype, const CFI_cdesc_t *buf,
             int64_t bufcount, int buftype)
{
    struct f90_values v;
    struct buffer b;
    MPI_Datatype file = MPI_Type_f2c(filetype);
    int ncid = call->ncid, varid = call->varid - 1, err;
    f90_describe(buf, (enum f90_type)call->type, call->len, &v);
    int own = take_described(&v, bufcount, MPI_Type_f2c(buftype), call->mode, &b);
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
    give_back(&v, call->mode, &b);
    return own != NC_NOERR ? own : err;
}
