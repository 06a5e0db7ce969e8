/* Converts MPI datatypes to regions: decodes the type's constructor with
 * MPI_Type_get_envelope and MPI_Type_get_contents, converts its component types, and
 * combines their regions. */
#include "config.h"

#include "region_mpi.h"

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "region_tree.h"

/* The argument lists that MPI returns for a constructor. */
enum { INTS, ADDRESSES, COUNTS, TYPES, NLISTS };

/* One instance of a decoded datatype. */
struct part {
    struct region *region;
    MPI_Datatype basic;
    int64_t bytes;
    int64_t extent;
};

/* The constructor of a datatype and its arguments. */
struct contents {
    int combiner;
    MPI_Count n[NLISTS];
    int *ints;
    MPI_Aint *addresses;
    MPI_Count *counts;
    MPI_Datatype *types;
    int64_t *args;      /* integers, then addresses, then counts, all as 64-bit numbers */
    int64_t at[NLISTS]; /* next position in args for each of the three lists */
    struct part *parts; /* the component types, decoded */
    bool overflow;
};

/* ---- querying MPI ---- */

/* A type created with large counts can be queried only with large counts. */
static int read_envelope(MPI_Datatype type, struct contents *c)
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

static int get_contents(MPI_Datatype type, const struct contents *c)
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

/* Frees a handle from MPI_Type_get_contents. Predefined types must not be freed. */
static int release_type(MPI_Datatype type)
{
    struct contents c;
    int err = read_envelope(type, &c);
    if (err != NC_NOERR || predefined(c.combiner)) return err;
    return base_mpi_error(MPI_Type_free(&type), NC_EUNSPTETYPE, "MPI_Type_free");
}

static int get_extent(MPI_Datatype type, int64_t *extent)
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

static int64_t multiply(struct contents *c, int64_t a, int64_t b)
{
    int64_t product;
    if (!__builtin_mul_overflow(a, b, &product)) return product;
    c->overflow = true;
    return 0;
}

/* ---- constructors: each combines c->parts into a region ---- */

/* Returns the first part's region, which the caller then owns. */
static struct region *detach_first_region(struct contents *c)
{
    struct region *r = c->parts[0].region;
    c->parts[0].region = NULL;
    return r;
}

static struct region *build_same(struct contents *c)
{
    return detach_first_region(c);
}

static struct region *contiguous(struct contents *c)
{
    int64_t count = *next_counts(c, 1);
    return region_repeat(detach_first_region(c), count, c->parts[0].extent);
}

static struct region *repeat_twice(struct contents *c, int64_t count, int64_t length,
                                   int64_t stride)
{
    struct region *row =
        region_repeat(detach_first_region(c), length, c->parts[0].extent);
    return region_repeat(row, count, stride);
}

static struct region *vector(struct contents *c)
{
    const int64_t *v = next_counts(c, 3); /* count, blocklength, stride */
    return repeat_twice(c, v[0], v[1], multiply(c, v[2], c->parts[0].extent));
}

static struct region *hvector(struct contents *c)
{
    const int64_t *v = next_counts(c, 2);
    return repeat_twice(c, v[0], v[1], *next_addresses(c, 1));
}

/* The pieces of an indexed type: length[i * length_step] instances of the old type,
 * displaced by displ[i] * unit bytes. */
struct pieces {
    int64_t n;
    const int64_t *length, *displ;
    int length_step; /* 0 if all pieces have the same length */
    int64_t unit;
};

/* Handles old types that are one dense block, so the pieces are plain blocks. */
static struct region *dense_pieces(struct contents *c, const struct pieces *p,
                                   int64_t first)
{
    int64_t *v = base_calloc((size_t)p->n, 2 * sizeof *v);
    if (v == NULL) return NULL;
    int64_t *displ = v, *length = v + p->n;
    for (int64_t i = 0; i < p->n; i++) {
        displ[i] = multiply(c, p->displ[i], p->unit);
        length[i] = multiply(c, p->length[i * p->length_step], c->parts[0].bytes);
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
            displ[i] = multiply(c, p->displ[i], p->unit);
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

/* Members of length 0 are not part of the type, so their basic types are ignored. */
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
    struct region *r = detach_first_region(c);
    int64_t step = c->parts[0].extent;
    for (int64_t i = 0; i < ndims; i++) {
        int64_t k = fortran ? i : ndims - 1 - i; /* the fastest dimension first */
        r = shifted(region_repeat(r, subsize[k], step), multiply(c, start[k], step));
        step = multiply(c, step, size[k]);
    }
    return r;
}

/* This process's share of a distributed array's dimension: a block in every `cycle`
 * elements. */
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

/* Distributes a dimension of inner regions that are `step` bytes apart, and creates this
 * process's share. Takes ownership of `inner`. */
static struct region *distribute(struct contents *c, struct region *inner,
                                 const struct share *s, int64_t step)
{
    /* `rest` elements at `after`, a partial block, may follow the `whole` full blocks. */
    int64_t whole = 0, rest = 0, after = s->first;
    if (s->first + s->block <= s->size)
        whole = (s->size - s->first - s->block) / s->cycle + 1;
    after += whole * s->cycle;
    if (after < s->size) rest = s->size - after;
    if (inner == NULL) return NULL;

    int64_t cycle = whole > 1 ? multiply(c, s->cycle, step) : 0;
    int64_t displ[2] = {whole > 0 ? multiply(c, s->first, step) : 0,
                        rest > 0 ? multiply(c, after, step) : 0};
    struct region *pieces[2];
    pieces[0] =
        region_repeat(region_repeat(region_clone(inner), s->block, step), whole, cycle);
    pieces[1] = region_repeat(inner, rest, step);
    return region_list(2, displ, pieces);
}

/* Computes coordinate k of a process in a grid whose last dimension varies fastest. */
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
    struct region *r = detach_first_region(c);
    int64_t step = c->parts[0].extent;
    for (int64_t i = 0; i < ndims; i++) {
        int64_t k = fortran ? i : ndims - 1 - i;
        struct share s = share_of(size[k], distribution[k], arg[k], nprocs[k],
                                  grid_coord(rank, ndims, nprocs, k));
        r = distribute(c, r, &s, step);
        step = multiply(c, step, size[k]);
    }
    return r;
}

static const struct {
    int combiner;
    struct region *(*build)(struct contents *c);
} builders[] = {
    {MPI_COMBINER_DUP, build_same},
    {MPI_COMBINER_RESIZED, build_same},
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

/* ---- decoding ---- */

static int decode_type(MPI_Datatype type, struct part *part);

/* Returns whether values of a predefined type can be stored. If MPI was built without
 * Fortran, Fortran types are MPI_DATATYPE_NULL. */
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

static int decode_named(MPI_Datatype type, struct part *part)
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

/* Maps a Fortran type chosen by precision to the named type of its class and size. */
static int decode_f90(MPI_Datatype type, int combiner, struct part *part)
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
    return decode_named(type, part);
}

/* Finds the basic type that all parts with data share. */
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
    return base_error_set(NC_EUNSPTETYPE, "MPI datatype combiner %d is not supported",
                          c->combiner);
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

/* Decodes the datatype's component types, and frees their handles even after an error. */
static int decode_contents(struct contents *c)
{
    int err = NC_NOERR;
    for (MPI_Count i = 0; i < c->n[TYPES]; i++) {
        if (err == NC_NOERR) err = decode_type(c->types[i], &c->parts[i]);
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

static int decode_derived(MPI_Datatype type, struct contents *c, struct part *part)
{
    int err = allocate(c);
    if (err == NC_NOERR) err = get_contents(type, c);
    if (err == NC_NOERR) {
        align_args(c);
        err = decode_contents(c);
    }
    if (err == NC_NOERR) err = build(c, part);
    free_contents(c);
    return err;
}

static int decode_type(MPI_Datatype type, struct part *part)
{
    struct contents c = {0};
    int err = read_envelope(type, &c);
    *part = (struct part){0};
    if (err == NC_NOERR) err = get_extent(type, &part->extent);
    if (err != NC_NOERR) return err;
    if (c.combiner == MPI_COMBINER_NAMED)
        err = decode_named(type, part);
    else if (predefined(c.combiner))
        err = decode_f90(type, c.combiner, part);
    else
        err = decode_derived(type, &c, part);
    if (err != NC_NOERR) {
        region_free(part->region);
        part->region = NULL;
    }
    return err;
}

int region_datatype_named(MPI_Datatype type, bool *named)
{
    struct contents c;
    int err = read_envelope(type, &c);
    *named = err == NC_NOERR && c.combiner == MPI_COMBINER_NAMED;
    return err;
}

int region_from_datatype(MPI_Datatype type, int64_t count, MPI_Datatype *basic,
                         int64_t *bytes, struct region **region)
{
    struct part one;
    int64_t product;
    *region = NULL;
    if (count < 0) return base_error_set(NC_EINVAL, "a count of %lld", (long long)count);
    if (type == MPI_DATATYPE_NULL)
        return base_error_set(NC_EUNSPTETYPE, "MPI_DATATYPE_NULL");
    int err = decode_type(type, &one);
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
