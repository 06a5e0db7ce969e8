/* MPI datatypes to regions. */
#include "config.h"

#include "region_mpi.h"

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "region_tree.h"

/* Where an argument of a constructor is found: MPI keeps three lists. */
enum { INTS, ADDRESSES, COUNTS, TYPES, NLISTS };

/* One datatype, taken apart: one instance of it. */
struct part {
    struct region *region;
    MPI_Datatype basic;
    int64_t bytes;
    int64_t extent;
};

/* What a datatype was made of. */
struct contents {
    int combiner;
    MPI_Count n[NLISTS];
    int *ints;
    MPI_Aint *addresses;
    MPI_Count *counts;
    MPI_Datatype *types;
    int64_t *args;      /* ints, then addresses, then counts: one width for all */
    int64_t at[NLISTS]; /* where in args each of the three is read next */
    struct part *parts; /* the types, taken apart */
    bool overflow;
};

/* ---- what MPI tells ---- */

/* A type made with large counts can be asked about with large counts only. */
static int ask_envelope(MPI_Datatype type, struct contents *c)
{
#ifdef HAVE_MPI_TYPE_GET_CONTENTS_C
    int err = MPI_Type_get_envelope_c(type, &c->n[INTS], &c->n[ADDRESSES], &c->n[COUNTS],
                                      &c->n[TYPES], &c->combiner);
#else
    int ints, addresses, types;
    int err = MPI_Type_get_envelope(type, &ints, &addresses, &types, &c->combiner);
    c->n[INTS] = ints;
    c->n[ADDRESSES] = addresses;
    c->n[COUNTS] = 0;
    c->n[TYPES] = types;
#endif
    return base_mpi_error(err, NC_EUNSPTETYPE, "MPI_Type_get_envelope");
}

static int ask_contents(MPI_Datatype type, const struct contents *c)
{
#ifdef HAVE_MPI_TYPE_GET_CONTENTS_C
    int err =
        MPI_Type_get_contents_c(type, c->n[INTS], c->n[ADDRESSES], c->n[COUNTS],
                                c->n[TYPES], c->ints, c->addresses, c->counts, c->types);
#else
    int err = MPI_Type_get_contents(type, (int)c->n[INTS], (int)c->n[ADDRESSES],
                                    (int)c->n[TYPES], c->ints, c->addresses, c->types);
#endif
    return base_mpi_error(err, NC_EUNSPTETYPE, "MPI_Type_get_contents");
}

static bool predefined(int combiner)
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ||
           combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX;
}

/* Frees a handle that MPI_Type_get_contents gave: predefined types are not ours. */
static int release_type(MPI_Datatype type)
{
    struct contents c;
    int err = ask_envelope(type, &c);
    if (err != NC_NOERR || predefined(c.combiner)) return err;
    return base_mpi_error(MPI_Type_free(&type), NC_EUNSPTETYPE, "MPI_Type_free");
}

static int ask_extent(MPI_Datatype type, int64_t *extent)
{
    MPI_Count low, length;
    int err = MPI_Type_get_extent_x(type, &low, &length);
    if (err != MPI_SUCCESS)
        return base_mpi_error(err, NC_EUNSPTETYPE, "MPI_Type_get_extent_x");
    *extent = length;
    return NC_NOERR;
}

/* ---- reading a constructor's arguments ---- */

static const int64_t *next(struct contents *c, int list, int64_t n)
{
    const int64_t *p = c->args + c->at[list];
    c->at[list] += n;
    return p;
}

static const int64_t *next_counts(struct contents *c, int64_t n)
{
    return next(c, c->n[COUNTS] > 0 ? COUNTS : INTS, n);
}

static const int64_t *next_addresses(struct contents *c, int64_t n)
{
    return next(c, c->n[COUNTS] > 0 ? COUNTS : ADDRESSES, n);
}

static int64_t times(struct contents *c, int64_t a, int64_t b)
{
    int64_t product;
    if (!__builtin_mul_overflow(a, b, &product)) return product;
    c->overflow = true;
    return 0;
}

/* ---- constructors: each makes the new region of c->parts ---- */

/* The first part's region, which is the caller's then. */
static struct region *take_first(struct contents *c)
{
    struct region *r = c->parts[0].region;
    c->parts[0].region = NULL;
    return r;
}

static struct region *same(struct contents *c)
{
    return take_first(c);
}

static struct region *contiguous(struct contents *c)
{
    int64_t count = *next_counts(c, 1);
    return region_repeat(take_first(c), count, c->parts[0].extent);
}

static struct region *repeat_twice(struct contents *c, int64_t count, int64_t length,
                                   int64_t stride)
{
    struct region *row = region_repeat(take_first(c), length, c->parts[0].extent);
    return region_repeat(row, count, stride);
}

static struct region *vector(struct contents *c)
{
    const int64_t *v = next_counts(c, 3); /* count, blocklength, stride */
    return repeat_twice(c, v[0], v[1], times(c, v[2], c->parts[0].extent));
}

static struct region *hvector(struct contents *c)
{
    const int64_t *v = next_counts(c, 2);
    return repeat_twice(c, v[0], v[1], *next_addresses(c, 1));
}

/* The pieces of an indexed type. length[i * length_step] instances of the old type
 * are at displ[i] * unit bytes. */
struct pieces {
    int64_t n;
    const int64_t *length, *displ;
    int length_step; /* 0: one length for all */
    int64_t unit;
};

/* Pieces of an old type that is one dense block are plain blocks. */
static struct region *dense_pieces(struct contents *c, const struct pieces *p,
                                   int64_t first)
{
    int64_t *v = base_calloc((size_t)p->n, 2 * sizeof *v);
    if (v == NULL) return NULL;
    int64_t *displ = v, *length = v + p->n;
    for (int64_t i = 0; i < p->n; i++) {
        displ[i] = times(c, p->displ[i], p->unit);
        length[i] = times(c, p->length[i * p->length_step], c->parts[0].bytes);
    }
    struct region *r = region_blocks(p->n, displ, length);
    base_free(v);
    if (r == NULL || region_shift(r, first)) return r;
    region_free(r);
    return NULL;
}

static struct region *sparse_pieces(struct contents *c, const struct pieces *p)
{
    int64_t *displ = base_calloc((size_t)p->n, sizeof *displ);
    struct region **children = base_calloc((size_t)p->n, sizeof(struct region *));
    struct region *r = NULL;
    if (displ != NULL && children != NULL) {
        for (int64_t i = 0; i < p->n; i++) {
            displ[i] = times(c, p->displ[i], p->unit);
            children[i] =
                region_repeat(region_clone(c->parts[0].region),
                              p->length[i * p->length_step], c->parts[0].extent);
        }
        r = region_list(p->n, displ, children);
    }
    base_free(children);
    base_free(displ);
    return r;
}

static struct region *all_pieces(struct contents *c, const struct pieces *p)
{
    const struct part *old = &c->parts[0];
    int64_t first;
    if (region_is_block(old->region, &first) && old->extent == old->bytes)
        return dense_pieces(c, p, first);
    return sparse_pieces(c, p);
}

static struct region *indexed(struct contents *c)
{
    int64_t n = *next_counts(c, 1);
    const int64_t *length = next_counts(c, n);
    return all_pieces(c, &(struct pieces){.n = n,
                                          .length = length,
                                          .length_step = 1,
                                          .displ = next_counts(c, n),
                                          .unit = c->parts[0].extent});
}

static struct region *hindexed(struct contents *c)
{
    int64_t n = *next_counts(c, 1);
    const int64_t *length = next_counts(c, n);
    return all_pieces(c, &(struct pieces){.n = n,
                                          .length = length,
                                          .length_step = 1,
                                          .displ = next_addresses(c, n),
                                          .unit = 1});
}

static struct region *indexed_block(struct contents *c)
{
    const int64_t *v = next_counts(c, 2); /* count, blocklength */
    return all_pieces(c, &(struct pieces){.n = v[0],
                                          .length = v + 1,
                                          .displ = next_counts(c, v[0]),
                                          .unit = c->parts[0].extent});
}

static struct region *hindexed_block(struct contents *c)
{
    const int64_t *v = next_counts(c, 2);
    return all_pieces(
        c, &(struct pieces){
               .n = v[0], .length = v + 1, .displ = next_addresses(c, v[0]), .unit = 1});
}

/* A member of length 0 is no part of the type: its basic type does not count. */
static struct region *structure(struct contents *c)
{
    int64_t n = *next_counts(c, 1);
    const int64_t *length = next_counts(c, n), *displ = next_addresses(c, n);
    struct region **members = base_calloc((size_t)n, sizeof(struct region *));
    if (members == NULL) return NULL;
    for (int64_t i = 0; i < n; i++) {
        struct part *p = &c->parts[i];
        members[i] = region_repeat(p->region, length[i], p->extent);
        p->region = NULL;
        if (length[i] == 0) p->bytes = 0;
    }
    struct region *r = region_list(n, displ, members);
    base_free(members);
    return r;
}

static struct region *shifted(struct region *r, int64_t by)
{
    return region_list(1, &by, &r);
}

static struct region *subarray(struct contents *c)
{
    int64_t ndims = *next(c, INTS, 1);
    const int64_t *size = next_counts(c, ndims), *subsize = next_counts(c, ndims);
    const int64_t *start = next_counts(c, ndims);
    bool fortran = *next(c, INTS, 1) == MPI_ORDER_FORTRAN;
    struct region *r = take_first(c);
    int64_t step = c->parts[0].extent;
    for (int64_t i = 0; i < ndims; i++) {
        int64_t k = fortran ? i : ndims - 1 - i; /* the fastest first */
        r = shifted(region_repeat(r, subsize[k], step), times(c, start[k], step));
        step = times(c, step, size[k]);
    }
    return r;
}

/* One dimension of a distributed array: every cycle elements, a block is ours. */
struct share {
    int64_t size, block, cycle, first;
};

static struct share share_of(int64_t size, int64_t distribution, int64_t arg,
                             int64_t nprocs, int64_t coord)
{
    struct share s = {.size = size, .block = arg};
    if (distribution == MPI_DISTRIBUTE_NONE)
        s.block = size;
    else if (arg == MPI_DISTRIBUTE_DFLT_DARG)
        s.block = distribution == MPI_DISTRIBUTE_BLOCK ? (size + nprocs - 1) / nprocs : 1;
    s.cycle = s.block * nprocs;
    s.first = s.block * coord;
    return s;
}

/* Our share of a dimension of inner regions, step bytes apart. Takes over inner. */
static struct region *distribute(struct contents *c, struct region *inner,
                                 const struct share *s, int64_t step)
{
    int64_t whole = 0, rest = 0, after = s->first; /* whole blocks, then part of one */
    if (s->first + s->block <= s->size)
        whole = (s->size - s->first - s->block) / s->cycle + 1;
    after += whole * s->cycle;
    if (after < s->size) rest = s->size - after;
    if (inner == NULL) return NULL;

    int64_t cycle = whole > 1 ? times(c, s->cycle, step) : 0;
    int64_t displ[2] = {whole > 0 ? times(c, s->first, step) : 0,
                        rest > 0 ? times(c, after, step) : 0};
    struct region *pieces[2];
    pieces[0] =
        region_repeat(region_repeat(region_clone(inner), s->block, step), whole, cycle);
    pieces[1] = region_repeat(inner, rest, step);
    return region_list(2, displ, pieces);
}

/* The place in a grid of processes, whose last dimension always varies fastest. */
static int64_t grid_coord(int64_t rank, int64_t ndims, const int64_t *nprocs, int64_t k)
{
    for (int64_t j = ndims - 1; j > k; j--)
        rank /= nprocs[j];
    return rank % nprocs[k];
}

static struct region *darray(struct contents *c)
{
    const int64_t *v = next(c, INTS, 3); /* processes, rank, dimensions */
    int64_t rank = v[1], ndims = v[2];
    const int64_t *size = next_counts(c, ndims), *distribution = next(c, INTS, ndims);
    const int64_t *arg = next(c, INTS, ndims), *nprocs = next(c, INTS, ndims);
    bool fortran = *next(c, INTS, 1) == MPI_ORDER_FORTRAN;
    struct region *r = take_first(c);
    int64_t step = c->parts[0].extent;
    for (int64_t i = 0; i < ndims; i++) {
        int64_t k = fortran ? i : ndims - 1 - i;
        struct share s = share_of(size[k], distribution[k], arg[k], nprocs[k],
                                  grid_coord(rank, ndims, nprocs, k));
        r = distribute(c, r, &s, step);
        step = times(c, step, size[k]);
    }
    return r;
}

static const struct {
    int combiner;
    struct region *(*build)(struct contents *c);
} builders[] = {
    {MPI_COMBINER_DUP, same},
    {MPI_COMBINER_RESIZED, same},
    {MPI_COMBINER_CONTIGUOUS, contiguous},
    {MPI_COMBINER_VECTOR, vector},
    {MPI_COMBINER_HVECTOR, hvector},
    {MPI_COMBINER_INDEXED, indexed},
    {MPI_COMBINER_HINDEXED, hindexed},
    {MPI_COMBINER_INDEXED_BLOCK, indexed_block},
    {MPI_COMBINER_HINDEXED_BLOCK, hindexed_block},
    {MPI_COMBINER_STRUCT, structure},
    {MPI_COMBINER_SUBARRAY, subarray},
    {MPI_COMBINER_DARRAY, darray},
};

/* ---- taking apart ---- */

static int take_type_apart(MPI_Datatype type, struct part *part);

/* Whether values of a predefined type have a counterpart in the file. Fortran's are
 * MPI_DATATYPE_NULL where there is no Fortran. */
static bool supported(MPI_Datatype type)
{
    const MPI_Datatype known[] = {
        MPI_CHAR,
        MPI_SIGNED_CHAR,
        MPI_UNSIGNED_CHAR,
        MPI_BYTE,
        MPI_SHORT,
        MPI_UNSIGNED_SHORT,
        MPI_INT,
        MPI_UNSIGNED,
        MPI_LONG,
        MPI_UNSIGNED_LONG,
        MPI_LONG_LONG_INT,
        MPI_UNSIGNED_LONG_LONG,
        MPI_FLOAT,
        MPI_DOUBLE,
        MPI_INT8_T,
        MPI_UINT8_T,
        MPI_INT16_T,
        MPI_UINT16_T,
        MPI_INT32_T,
        MPI_UINT32_T,
        MPI_INT64_T,
        MPI_UINT64_T,
        MPI_OFFSET,
        MPI_AINT,
        MPI_COUNT,
        MPI_CHARACTER,
        MPI_INTEGER,
        MPI_REAL,
        MPI_INTEGER1,
        MPI_INTEGER2,
        MPI_INTEGER4,
        MPI_INTEGER8,
        MPI_REAL4,
        MPI_REAL8,
        MPI_DOUBLE_PRECISION,
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i] == type) return type != MPI_DATATYPE_NULL;
    return false;
}

static int take_named(MPI_Datatype type, struct part *part)
{
    MPI_Count size;
    if (!supported(type)) {
        char name[MPI_MAX_OBJECT_NAME] = "";
        int length;
        if (MPI_Type_get_name(type, name, &length) != MPI_SUCCESS) name[0] = '\0';
        return base_error_set(NC_EUNSPTETYPE, "MPI type %s", name);
    }
    int err = MPI_Type_size_x(type, &size);
    if (err != MPI_SUCCESS) return base_mpi_error(err, NC_EUNSPTETYPE, "MPI_Type_size_x");
    part->basic = type;
    part->bytes = size;
    part->region = region_block(0, size);
    return part->region == NULL ? NC_ENOMEM : NC_NOERR;
}

/* A Fortran type chosen by its precision is the named type of its class and size. */
static int take_f90(MPI_Datatype type, int combiner, struct part *part)
{
    int size, err = MPI_Type_size(type, &size);
    if (err != MPI_SUCCESS) return base_mpi_error(err, NC_EUNSPTETYPE, "MPI_Type_size");
    if (combiner == MPI_COMBINER_F90_COMPLEX)
        return base_error_set(NC_EUNSPTETYPE, "complex numbers");
    int class_ =
        combiner == MPI_COMBINER_F90_REAL ? MPI_TYPECLASS_REAL : MPI_TYPECLASS_INTEGER;
    err = MPI_Type_match_size(class_, size, &type);
    if (err != MPI_SUCCESS)
        return base_mpi_error(err, NC_EUNSPTETYPE, "MPI_Type_match_size");
    return take_named(type, part);
}

/* The basic type that all parts with data share. */
static int common_basic(const struct contents *c, MPI_Datatype *basic)
{
    const struct part *found = NULL;
    for (MPI_Count i = 0; i < c->n[TYPES]; i++) {
        const struct part *p = &c->parts[i];
        if (p->bytes == 0) continue;
        if (found != NULL && found->basic != p->basic) return NC_EMULTITYPES;
        found = p;
    }
    if (found == NULL && c->n[TYPES] > 0) found = &c->parts[0];
    *basic = found == NULL ? MPI_BYTE : found->basic;
    return NC_NOERR;
}

static int build(struct contents *c, struct part *part)
{
    for (size_t i = 0; i < sizeof builders / sizeof builders[0]; i++) {
        if (builders[i].combiner != c->combiner) continue;
        part->region = builders[i].build(c);
        if (c->overflow) return NC_EINTOVERFLOW;
        if (part->region == NULL) return NC_ENOMEM;
        part->bytes = region_bytes(part->region);
        return common_basic(c, &part->basic);
    }
    return base_error_set(NC_EUNSPTETYPE, "MPI datatype combiner %d", c->combiner);
}

static int allocate(struct contents *c)
{
    size_t n[NLISTS];
    for (int i = 0; i < NLISTS; i++)
        n[i] = (size_t)c->n[i];
    c->ints = base_calloc(n[INTS], sizeof *c->ints);
    c->addresses = base_calloc(n[ADDRESSES], sizeof *c->addresses);
    c->counts = base_calloc(n[COUNTS], sizeof *c->counts);
    c->types = base_calloc(n[TYPES], sizeof(MPI_Datatype));
    c->parts = base_calloc(n[TYPES], sizeof *c->parts);
    c->args = base_calloc(n[INTS] + n[ADDRESSES] + n[COUNTS], sizeof *c->args);
    bool good = c->ints != NULL && c->addresses != NULL && c->counts != NULL &&
                c->types != NULL && c->parts != NULL && c->args != NULL;
    return good ? NC_NOERR : NC_ENOMEM;
}

static void align_args(struct contents *c)
{
    int64_t *to = c->args;
    for (MPI_Count i = 0; i < c->n[INTS]; i++)
        *to++ = c->ints[i];
    c->at[ADDRESSES] = to - c->args;
    for (MPI_Count i = 0; i < c->n[ADDRESSES]; i++)
        *to++ = c->addresses[i];
    c->at[COUNTS] = to - c->args;
    for (MPI_Count i = 0; i < c->n[COUNTS]; i++)
        *to++ = c->counts[i];
}

/* Takes the types it is made of apart, and gives all of them back whatever happens. */
static int take_contents(struct contents *c)
{
    int err = NC_NOERR;
    for (MPI_Count i = 0; i < c->n[TYPES]; i++) {
        if (err == NC_NOERR) err = take_type_apart(c->types[i], &c->parts[i]);
        int err2 = release_type(c->types[i]);
        if (err == NC_NOERR) err = err2;
    }
    return err;
}

static void free_contents(struct contents *c)
{
    for (MPI_Count i = 0; c->parts != NULL && i < c->n[TYPES]; i++)
        region_free(c->parts[i].region);
    base_free(c->parts);
    base_free(c->args);
    base_free(c->types);
    base_free(c->counts);
    base_free(c->addresses);
    base_free(c->ints);
}

static int take_derived(MPI_Datatype type, struct contents *c, struct part *part)
{
    int err = allocate(c);
    if (err == NC_NOERR) err = ask_contents(type, c);
    if (err == NC_NOERR) {
        align_args(c);
        err = take_contents(c);
    }
    if (err == NC_NOERR) err = build(c, part);
    free_contents(c);
    return err;
}

static int take_type_apart(MPI_Datatype type, struct part *part)
{
    struct contents c = {0};
    int err = ask_envelope(type, &c);
    *part = (struct part){0};
    if (err == NC_NOERR) err = ask_extent(type, &part->extent);
    if (err != NC_NOERR) return err;
    if (c.combiner == MPI_COMBINER_NAMED)
        err = take_named(type, part);
    else if (predefined(c.combiner))
        err = take_f90(type, c.combiner, part);
    else
        err = take_derived(type, &c, part);
    if (err != NC_NOERR) {
        region_free(part->region);
        part->region = NULL;
    }
    return err;
}

int region_datatype_named(MPI_Datatype type, bool *named)
{
    struct contents c;
    int err = ask_envelope(type, &c);
    *named = err == NC_NOERR && c.combiner == MPI_COMBINER_NAMED;
    return err;
}

int region_from_datatype(MPI_Datatype type, int64_t count, MPI_Datatype *basic,
                         int64_t *bytes, struct region **region)
{
    struct part one;
    int64_t product;
    *region = NULL;
    if (count < 0) return base_error_set(NC_EINVAL, "%lld instances", (long long)count);
    if (type == MPI_DATATYPE_NULL)
        return base_error_set(NC_EUNSPTETYPE, "MPI_DATATYPE_NULL");
    int err = take_type_apart(type, &one);
    if (err != NC_NOERR) return err;
    if (__builtin_mul_overflow(one.bytes, count, &product) ||
        __builtin_mul_overflow(one.extent, count, &product)) {
        region_free(one.region);
        return NC_EINTOVERFLOW;
    }
    *region = region_repeat(one.region, count, one.extent);
    *basic = one.basic;
    *bytes = one.bytes;
    return *region == NULL ? NC_ENOMEM : NC_NOERR;
}
