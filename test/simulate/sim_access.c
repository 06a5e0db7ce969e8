/* One function for each type in memory, made of a few macros; a table has them. */
#include "sim_access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

/* The library's own order of it, and no longer than what it gets. */
struct call {
    const struct sim_access *a;
    void *values;
    MPI_Offset imap[2];
    int n; /* of SIM_LIST */
    MPI_Offset **starts, **counts, **strides, **maps;
    MPI_Offset steps[2], map[2];
    bool single;  /* pieces are elements, and told so */
    int *request; /* of what is posted */
    MPI_Datatype filetype;
};

/* ---- types of MPI ---- */

enum { GAP = 2 }; /* SIM_FLEXIBLE: every other element */

static int flexible(const struct call *c, MPI_Datatype element)
{
    const struct sim_access *a = c->a;
    const MPI_Offset *at = a->start, *n = a->count, *by = a->stride;
    MPI_Datatype spread;
    int err = NC_NOERR;
    MPI_Type_vector((int)(a->rows * a->each), 1, GAP, element, &spread);
    MPI_Type_commit(&spread);
    switch (a->verb) {
    case SIM_PUTS:
        err = (a->all ? ncmpi_put_vars_all : ncmpi_put_vars)(a->ncid, a->var, at, n, by,
                                                             c->values, 1, spread);
        break;
    case SIM_GETS:
        err = (a->all ? ncmpi_get_vars_all : ncmpi_get_vars)(a->ncid, a->var, at, n, by,
                                                             c->values, 1, spread);
        break;
    case SIM_IPUTS:
        err =
            ncmpi_iput_vars(a->ncid, a->var, at, n, by, c->values, 1, spread, c->request);
        break;
    case SIM_BPUTS:
        err =
            ncmpi_bput_vars(a->ncid, a->var, at, n, by, c->values, 1, spread, c->request);
        break;
    case SIM_IGETS:
        err =
            ncmpi_iget_vars(a->ncid, a->var, at, n, by, c->values, 1, spread, c->request);
    }
    MPI_Type_free(&spread);
    return err;
}

static int typed(const struct call *c, MPI_Datatype element)
{
    const struct sim_access *a = c->a;
    MPI_Offset n = a->rows * a->each;
    if (a->verb == SIM_PUTS)
        return (a->all ? ncmpi_put_vard_all : ncmpi_put_vard)(
            a->ncid, a->var, c->filetype, c->values, n, element);
    return (a->all ? ncmpi_get_vard_all : ncmpi_get_vard)(a->ncid, a->var, c->filetype,
                                                          c->values, n, element);
}

/* ---- one function for each type ---- */

/* verb: as in ncmpi_verb_vara_T; how: _all or nothing; behind it what is posted has. */
#define BY_KIND(verb, T, how, element, ...)                                              \
    switch (a->kind) {                                                                   \
    case SIM_BLOCK:                                                                      \
        return ncmpi_##verb##_vara_##T##how(a->ncid, a->var, a->start, a->count,         \
                                            v __VA_OPT__(, ) __VA_ARGS__);               \
    case SIM_SINGLE:                                                                     \
        return ncmpi_##verb##_var1_##T##how(a->ncid, a->var, a->start,                   \
                                            v __VA_OPT__(, ) __VA_ARGS__);               \
    case SIM_MAPPED:                                                                     \
        return ncmpi_##verb##_varm_##T##how(a->ncid, a->var, a->start, a->count,         \
                                            a->stride, c->imap,                          \
                                            v __VA_OPT__(, ) __VA_ARGS__);               \
    case SIM_LIST:                                                                       \
        return ncmpi_##verb##_varn_##T##how(a->ncid, a->var, c->n, c->starts, c->counts, \
                                            v __VA_OPT__(, ) __VA_ARGS__);               \
    case SIM_FLEXIBLE:                                                                   \
        return flexible(c, element);                                                     \
    case SIM_TYPED:                                                                      \
        return typed(c, element);                                                        \
    default:                                                                             \
        return ncmpi_##verb##_vars_##T##how(a->ncid, a->var, a->start, a->count,         \
                                            a->stride, v __VA_OPT__(, ) __VA_ARGS__);    \
    }

/* Each piece as if it were of a variable of its own. */
#define BY_PIECES(verb, T, how)                                                          \
    c->single ? ncmpi_##verb##_var1_##T##how(a->ncid, c->n, ids, c->starts, parts)       \
    : a->rows % 3 == 1 ? ncmpi_##verb##_vars_##T##how(a->ncid, c->n, ids, c->starts,     \
                                                      c->counts, c->strides, parts)      \
    : a->rows % 3 == 2                                                                   \
        ? ncmpi_##verb##_varm_##T##how(a->ncid, c->n, ids, c->starts, c->counts,         \
                                       c->strides, c->maps, parts)                       \
        : ncmpi_##verb##_vara_##T##how(a->ncid, c->n, ids, c->starts, c->counts, parts)
#define MANY(verb, T, C, how)                                                            \
    do {                                                                                 \
        C **parts = sim_room((size_t)c->n * sizeof *parts);                              \
        int *ids = sim_room((size_t)c->n * sizeof *ids);                                 \
        const int64_t each = a->rows * a->each / (c->n > 0 ? c->n : 1);                  \
        for (int i = 0; i < c->n; i++) {                                                 \
            parts[i] = v + i * each;                                                     \
            ids[i] = a->var;                                                             \
        }                                                                                \
        int err = BY_PIECES(verb, T, how);                                               \
        free(ids);                                                                       \
        free(parts);                                                                     \
        return err;                                                                      \
    } while (0)

#define DEFINE(T, C, element)                                                            \
    static int do_##T(const struct call *c)                                              \
    {                                                                                    \
        const struct sim_access *a = c->a;                                               \
        C *v = c->values;                                                                \
        switch (a->verb) {                                                               \
        case SIM_PUTS:                                                                   \
            if (a->kind == SIM_MANY && a->all) MANY(mput, T, C, _all);                   \
            if (a->kind == SIM_MANY) MANY(mput, T, C, );                                 \
            if (a->all) BY_KIND(put, T, _all, element)                                   \
            BY_KIND(put, T, , element)                                                   \
        case SIM_GETS:                                                                   \
            if (a->kind == SIM_MANY && a->all) MANY(mget, T, C, _all);                   \
            if (a->kind == SIM_MANY) MANY(mget, T, C, );                                 \
            if (a->all) BY_KIND(get, T, _all, element)                                   \
            BY_KIND(get, T, , element)                                                   \
        case SIM_IPUTS:                                                                  \
            BY_KIND(iput, T, , element, c->request)                                      \
        case SIM_BPUTS:                                                                  \
            BY_KIND(bput, T, , element, c->request)                                      \
        default:                                                                         \
            BY_KIND(iget, T, , element, c->request)                                      \
        }                                                                                \
    }                                                                                    \
    static void set_##T(void *values, int64_t i, double value)                           \
    {                                                                                    \
        ((C *)values)[i] = (C)value;                                                     \
    }                                                                                    \
    static double get_##T(const void *values, int64_t i)                                 \
    {                                                                                    \
        return (double)((const C *)values)[i];                                           \
    }

#define DEFINE_ATTRIBUTE(T)                                                              \
    static int write_##T(int ncid, int var, const char *name, nc_type type,              \
                         MPI_Offset n, const void *values)                               \
    {                                                                                    \
        return ncmpi_put_att_##T(ncid, var, name, type, n, values);                      \
    }                                                                                    \
    static int read_##T(int ncid, int var, const char *name, void *values)               \
    {                                                                                    \
        return ncmpi_get_att_##T(ncid, var, name, values);                               \
    }

static int write_text(int ncid, int var, const char *name, nc_type type, MPI_Offset n,
                      const void *values)
{
    (void)type;
    return ncmpi_put_att_text(ncid, var, name, n, values);
}

static int read_text(int ncid, int var, const char *name, void *values)
{
    return ncmpi_get_att_text(ncid, var, name, values);
}

/* Name, type, MPI's, NetCDF's, and the largest value of a variable it has with all below.
 */
#define TYPES(X)                                                                         \
    X(schar, signed char, MPI_SIGNED_CHAR, NC_BYTE, 127)                                 \
    X(short, short, MPI_SHORT, NC_SHORT, 32767)                                          \
    X(int, int, MPI_INT, NC_INT, 2147483647)                                             \
    X(float, float, MPI_FLOAT, NC_FLOAT, 16777216)                                       \
    X(double, double, MPI_DOUBLE, NC_DOUBLE, 9e15)                                       \
    X(uchar, unsigned char, MPI_UNSIGNED_CHAR, NC_UBYTE, 255)                            \
    X(ushort, unsigned short, MPI_UNSIGNED_SHORT, NC_USHORT, 65535)                      \
    X(uint, unsigned, MPI_UNSIGNED, NC_UINT, 4294967295.)                                \
    X(long, long, MPI_LONG, NC_NAT, 9e15)                                                \
    X(longlong, long long, MPI_LONG_LONG, NC_INT64, 9e15)                                \
    X(ulonglong, unsigned long long, MPI_UNSIGNED_LONG_LONG, NC_UINT64, 9e15)

#define DEFINE_BOTH(T, C, element, type, most) DEFINE(T, C, element) DEFINE_ATTRIBUTE(T)
TYPES(DEFINE_BOTH)
DEFINE(text, char, MPI_CHAR)

#define ENTRY(T, C, element, type, most)                                                 \
    {sizeof(C), type, most, do_##T, set_##T, get_##T, write_##T, read_##T},
static const struct memory {
    size_t size;
    int type;    /* of variables; NC_NAT: of none */
    double most; /* text is for its own type only */
    int (*act)(const struct call *c);
    void (*set)(void *values, int64_t i, double value);
    double (*get)(const void *values, int64_t i);
    int (*write)(int ncid, int var, const char *name, nc_type type, MPI_Offset n,
                 const void *values);
    int (*read)(int ncid, int var, const char *name, void *values);
} memories[] = {TYPES(ENTRY){sizeof(char), NC_CHAR, 0, do_text, set_text, get_text,
                             write_text, read_text}};
enum { MEMORIES = sizeof memories / sizeof memories[0] };

static bool has_values(int memory, const struct sim_var *v)
{
    return v->type == NC_CHAR || memories[memory].type == NC_CHAR
               ? memories[memory].type == v->type
               : memories[memory].most >= sim_most(v);
}

int sim_memory_for(const struct sim_var *v, uint64_t i)
{
    int memory = (int)(i % MEMORIES);
    while (!has_values(memory, v))
        memory = (memory + 1) % MEMORIES;
    return memory;
}

bool sim_memory_has_all(int memory, int type)
{
    return memories[memory].type == type ||
           (memories[memory].type == NC_DOUBLE && type != NC_CHAR);
}

/* ---- an access ---- */

/* Where the k-th of a row is in memory. */
static int64_t place(const struct sim_access *a, int64_t row, int64_t k)
{
    if (a->kind == SIM_MAPPED) return k * a->rows + row;
    return (row * a->each + k) * (a->kind == SIM_FLEXIBLE ? GAP : 1);
}

/* What the library gave: bytes are of both kinds to who asks for unsigned ones, and
 * single precision has not all digits of fill values. */
static double given(const struct sim_access *a, double value)
{
    const int type = a->of->type;
    if (type == NC_BYTE && value > 127) return value - 256;
    bool rounded = memories[a->memory].type == NC_FLOAT && value == (float)sim_fill(type);
    return rounded ? sim_fill(type) : value;
}

static void copy(const struct sim_access *a, void *values, bool in)
{
    const struct memory *m = &memories[a->memory];
    for (int64_t row = 0; row < a->rows; row++)
        for (int64_t k = 0; k < a->each; k++) {
            double *value = &a->values[row * a->each + k];
            if (in)
                m->set(values, place(a, row, k), *value);
            else
                *value = given(a, m->get(values, place(a, row, k)));
        }
}

static int first_of(int one, int other)
{
    return one != NC_NOERR ? one : other;
}

/* Rows in pieces: whole blocks of them, or element by element. */
static void list_pieces(struct call *c, MPI_Offset (*room)[2])
{
    const struct sim_access *a = c->a;
    const MPI_Offset piece = a->stride[1] == 1 ? a->each : 1, pieces = a->each / piece;
    c->n = (int)(a->rows * pieces);
    c->single = piece == 1 && a->rows % 2 == 1;
    c->steps[0] = c->steps[1] = c->map[1] = 1;
    c->map[0] = piece;
    for (int i = 0; i < c->n; i++) {
        MPI_Offset *at = room[2 * i], *n = room[2 * i + 1];
        at[0] = a->start[0] + i / pieces;
        at[1] = a->start[1] + i % pieces * a->stride[1];
        n[0] = 1;
        n[1] = piece;
        c->starts[i] = at;
        c->counts[i] = n;
        c->strides[i] = c->steps;
        c->maps[i] = c->map;
    }
}

static int perform(struct sim_access *a, struct call *c)
{
    const struct memory *m = &memories[a->memory];
    if (a->kind != SIM_SINGLE) return m->act(c);
    char *values = c->values;
    MPI_Offset first[2] = {a->start[0], a->start[1]};
    int err = NC_NOERR, *requests = c->request;
    for (int64_t i = 0; i < a->rows * a->each; i++) {
        a->start[0] = first[0] + i / a->each;
        a->start[1] = first[1] + i % a->each * a->stride[1];
        c->values = values + (size_t)i * m->size;
        c->request = requests == NULL ? NULL : requests + i;
        int one = m->act(c);
        if (one != NC_NOERR && requests != NULL) requests[i] = NC_REQ_NULL;
        err = first_of(err, one);
    }
    c->values = values;
    c->request = requests;
    return err;
}

static int wait_for(const struct sim_access *a, int n, int *requests)
{
    int *status = sim_room((size_t)n * sizeof *status), err;
    if (a->all) {
        err = ncmpi_wait_all(a->ncid, n, requests, status);
    } else {
        err = ncmpi_begin_indep_data(a->ncid);
        if (err != NC_NOERR) {
            (void)ncmpi_cancel(a->ncid, n, requests, status);
        } else {
            err = ncmpi_wait(a->ncid, n, requests, status);
            err = first_of(err, ncmpi_end_indep_data(a->ncid));
        }
    }
    for (int i = 0; i < n; i++)
        err = first_of(err, requests[i] == NC_REQ_NULL ? status[i] : NC_NOERR);
    free(status);
    return err;
}

/* The same once more, as one more request; what was brought to the file when it was
 * posted is to be waited for, too. */
static int post_and_cancel(struct sim_access *a, struct call *c, int *request)
{
    int status = NC_NOERR, *requests = c->request, posted = *request;
    c->request = &posted;
    int err = perform(a, c);
    c->request = requests;
    if (err != NC_NOERR) return err;
    *request = posted;
    err = first_of(ncmpi_cancel(a->ncid, 1, request, &status), status);
    return err == NC_EFLUSHED ? NC_NOERR : err;
}

static int post_and_wait(struct sim_access *a, struct call *c)
{
    const int n = a->kind == SIM_SINGLE ? (int)(a->rows * a->each) : 1;
    const MPI_Offset bytes = a->rows * a->each * 8;
    int *requests = sim_room((size_t)(n + 1) * sizeof *requests);
    for (int i = 0; i <= n; i++)
        requests[i] = NC_REQ_NULL;
    int attached =
        a->verb == SIM_BPUTS ? ncmpi_buffer_attach(a->ncid, 2 * bytes) : NC_NOERR;
    c->request = requests;
    int err = attached == NC_NOERR ? perform(a, c) : attached;
    if (err != NC_NOERR && a->kind != SIM_SINGLE) requests[0] = NC_REQ_NULL;
    if (a->cancels && a->kind != SIM_SINGLE && attached == NC_NOERR)
        err = first_of(err, post_and_cancel(a, c, &requests[n]));
    if (a->verb == SIM_BPUTS) /* the library has its own of them */
        memset(c->values, 0x5a, (size_t)(bytes * GAP));
    err = first_of(err, wait_for(a, n + 1, requests));
    if (a->verb == SIM_BPUTS && attached == NC_NOERR)
        err = first_of(err, ncmpi_buffer_detach(a->ncid));
    free(requests);
    return err;
}

/* Its elements' places, in bytes from where the variable begins. */
static void make_filetype(struct call *c)
{
    const struct sim_access *a = c->a;
    const int n = (int)(a->rows * a->each), size = sim_type_size(a->of->type);
    MPI_Aint *places = sim_room((size_t)n * sizeof *places);
    for (int i = 0; i < n; i++)
        places[i] = (MPI_Aint)((a->start[0] + i / a->each) * a->shape[1] + a->start[1] +
                               i % a->each * a->stride[1]) *
                    size;
    MPI_Datatype element = MPI_BYTE;
#define SET(T, C, type_of_mpi, its, most)                                                \
    if (a->of->type == (its)) element = type_of_mpi;
    TYPES(SET)
    MPI_Type_create_hindexed_block(n, 1, places, element, &c->filetype);
    MPI_Type_commit(&c->filetype);
    free(places);
}

int sim_access(struct sim_access *a)
{
    const int64_t n = a->rows * a->each;
    const bool gets = a->verb == SIM_GETS || a->verb == SIM_IGETS;
    struct call c = {.a = a, .imap = {1, a->rows}, .filetype = MPI_DATATYPE_NULL};
    MPI_Offset(*room)[2] = sim_room((size_t)(2 * n) * sizeof *room);
    c.values = sim_room((size_t)(n * GAP * 8));
    c.starts = sim_room((size_t)n * sizeof *c.starts);
    c.counts = sim_room((size_t)n * sizeof *c.counts);
    c.strides = sim_room((size_t)n * sizeof *c.strides);
    c.maps = sim_room((size_t)n * sizeof *c.maps);
    list_pieces(&c, room);
    if (a->kind == SIM_TYPED) make_filetype(&c);
    if (!gets) copy(a, c.values, true);
    int err = a->verb == SIM_PUTS || a->verb == SIM_GETS ? perform(a, &c)
                                                         : post_and_wait(a, &c);
    if (gets && err == NC_NOERR) copy(a, c.values, false);
    if (a->kind == SIM_TYPED) MPI_Type_free(&c.filetype);
    free(c.maps);
    free(c.strides);
    free(c.counts);
    free(c.starts);
    free(c.values);
    free(room);
    return err;
}

/* ---- attributes ---- */

static const struct memory *memory_of(int ncid, int op)
{
    int format, most = 5; /* types of the older formats come first, then those of CDF-5 */
    if (ncmpi_inq_format(ncid, &format) == NC_NOERR && format == NC_FORMAT_CDF5)
        most = MEMORIES;
    const struct memory *m = &memories[op % most];
    return m->type == NC_NAT ? &memories[0] : m;
}

static double attribute_value(int op, int i)
{
    return 1 + (i + op) % 100;
}

int sim_attribute_put(int ncid, int var, const char *name, int op, int n)
{
    const struct memory *m = memory_of(ncid, op);
    void *values = sim_room((size_t)n * m->size);
    for (int i = 0; i < n; i++)
        m->set(values, i, attribute_value(op, i));
    int err = m->write(ncid, var, name, m->type, n, values);
    free(values);
    return err;
}

int sim_attribute_get(int ncid, int var, const char *name, int op, int n, bool *right)
{
    const struct memory *m = memory_of(ncid, op);
    nc_type type;
    MPI_Offset there = 0;
    int err = ncmpi_inq_att(ncid, var, name, &type, &there);
    if (err != NC_NOERR) return err;
    *right = type == m->type && there == n;
    void *values = sim_room((size_t)n * m->size);
    if (*right) err = m->read(ncid, var, name, values);
    for (int i = 0; i < n && *right; i++)
        *right = m->get(values, i) == attribute_value(op, i);
    free(values);
    return err;
}
