/* Describes user buffers. A predefined MPI datatype becomes a value type. A derived
 * datatype becomes a value type and a region of memory. The lower layers do not use MPI
 * datatypes for memory. */
#include "api_buffer.h"

#include "api_errors.h"
#include "base_mem.h"
#include "pnetcdf.h"
#include "region_mpi.h"

enum family { TEXT, SIGNED, UNSIGNED, FLOATING };

/* Predefined types. A size of 0 means that the size depends on the Fortran compiler and
 * must be queried from MPI. */
static const struct {
    MPI_Datatype type;
    enum family family;
    int size;
} predefined[] = {
    {MPI_FLOAT, FLOATING, sizeof(float)},
    {MPI_DOUBLE, FLOATING, sizeof(double)},
    {MPI_INT, SIGNED, sizeof(int)},
    {MPI_CHAR, TEXT, sizeof(char)},
    {MPI_SIGNED_CHAR, SIGNED, sizeof(char)},
    {MPI_UNSIGNED_CHAR, UNSIGNED, sizeof(char)},
    {MPI_SHORT, SIGNED, sizeof(short)},
    {MPI_UNSIGNED_SHORT, UNSIGNED, sizeof(short)},
    {MPI_UNSIGNED, UNSIGNED, sizeof(int)},
    {MPI_LONG, SIGNED, sizeof(long)},
    {MPI_UNSIGNED_LONG, UNSIGNED, sizeof(long)},
    {MPI_LONG_LONG_INT, SIGNED, sizeof(long long)},
    {MPI_UNSIGNED_LONG_LONG, UNSIGNED, sizeof(long long)},
    {MPI_INT8_T, SIGNED, sizeof(int8_t)},
    {MPI_INT16_T, SIGNED, sizeof(int16_t)},
    {MPI_INT32_T, SIGNED, sizeof(int32_t)},
    {MPI_INT64_T, SIGNED, sizeof(int64_t)},
    {MPI_UINT8_T, UNSIGNED, sizeof(uint8_t)},
    {MPI_UINT16_T, UNSIGNED, sizeof(uint16_t)},
    {MPI_UINT32_T, UNSIGNED, sizeof(uint32_t)},
    {MPI_UINT64_T, UNSIGNED, sizeof(uint64_t)},
    {MPI_AINT, SIGNED, sizeof(MPI_Aint)},
    {MPI_OFFSET, SIGNED, sizeof(MPI_Offset)},
    {MPI_COUNT, SIGNED, sizeof(MPI_Count)},
    {MPI_CHARACTER, TEXT, 0},
    {MPI_INTEGER, SIGNED, 0},
    {MPI_INTEGER1, SIGNED, 0},
    {MPI_INTEGER2, SIGNED, 0},
    {MPI_INTEGER4, SIGNED, 0},
    {MPI_INTEGER8, SIGNED, 0},
    {MPI_LOGICAL, SIGNED, 0},
    {MPI_REAL, FLOATING, 0},
    {MPI_REAL4, FLOATING, 0},
    {MPI_REAL8, FLOATING, 0},
    {MPI_DOUBLE_PRECISION, FLOATING, 0},
};

enum { NPREDEFINED = sizeof predefined / sizeof predefined[0] };

static int by_family(enum family family, int size, enum conv_type *type)
{
    static const signed char types[][9] = {
        [TEXT] = {-1, CONV_TEXT, -1, -1, -1, -1, -1, -1, -1},
        [SIGNED] = {-1, CONV_SCHAR, CONV_SHORT, -1, CONV_INT, -1, -1, -1, CONV_LONGLONG},
        [UNSIGNED] = {-1, CONV_UCHAR, CONV_USHORT, -1, CONV_UINT, -1, -1, -1,
                      CONV_ULONGLONG},
        [FLOATING] = {-1, -1, -1, -1, CONV_FLOAT, -1, -1, -1, CONV_DOUBLE},
    };
    if (size < 1 || size > 8 || types[family][size] < 0)
        return base_error_set(NC_EUNSPTETYPE, "the type has %d bytes", size);
    *type = (enum conv_type)types[family][size];
    return NC_NOERR;
}

/* Returns the type's index in the table, or -1. */
static int find_predefined(MPI_Datatype type)
{
    for (int i = 0; i < NPREDEFINED && type != MPI_DATATYPE_NULL; i++)
        if (predefined[i].type == type) return i;
    return -1;
}

int api_conv_type(MPI_Datatype basic, int xtype, enum conv_type *type)
{
    if (basic == MPI_BYTE) {
        *type = xtype == NC_CHAR ? CONV_TEXT : CONV_UCHAR;
        return NC_NOERR;
    }
    int i = find_predefined(basic), size = i < 0 ? 0 : predefined[i].size;
    if (i < 0 || (size == 0 && MPI_Type_size(basic, &size) != MPI_SUCCESS))
        return api_no_type(basic);
    return by_family(predefined[i].family, size, type);
}

static int bad_count(MPI_Offset bufcount)
{
    return base_error_set(NC_EIOMISMATCH, "bufcount is %lld", (long long)bufcount);
}

/* Describes a buffer whose items have a predefined type or the variable's type. */
static int plain_buffer(MPI_Datatype buftype, MPI_Offset bufcount, int xtype,
                        struct api_buffer *b)
{
    b->mem = NULL;
    if (buftype == MPI_DATATYPE_NULL) {
        b->type = (enum conv_type)conv_type_of(xtype);
        b->nelems = NC_COUNT_IGNORE;
        return NC_NOERR;
    }
    b->nelems = bufcount;
    int err = api_conv_type(buftype, xtype, &b->type);
    return err == NC_NOERR && bufcount < NC_COUNT_IGNORE ? bad_count(bufcount) : err;
}

static int derived(MPI_Datatype buftype, MPI_Offset bufcount, int xtype,
                   struct api_buffer *b)
{
    if (bufcount < 0) return bad_count(bufcount);
    MPI_Datatype basic;
    int64_t bytes, offset;
    int err = region_from_datatype(buftype, bufcount, &basic, &bytes, &b->mem);
    if (err != NC_NOERR) return err;

    b->nelems = 0;
    b->type = (enum conv_type)conv_type_of(xtype); /* placeholder: an empty buffer has
                                                    * no basic type */
    err = bytes == 0 ? NC_NOERR : api_conv_type(basic, xtype, &b->type);
    if (err == NC_NOERR && bytes > 0)
        b->nelems = region_bytes(b->mem) / conv_size(b->type);
    if (err != NC_NOERR || (region_is_block(b->mem, &offset) && offset == 0)) {
        region_free(b->mem);
        b->mem = NULL;
    }
    return err;
}

int api_describe_buffer(MPI_Datatype buftype, MPI_Offset bufcount, int xtype,
                        struct api_buffer *b)
{
    b->type = CONV_TEXT;
    bool named = buftype == MPI_DATATYPE_NULL || find_predefined(buftype) >= 0;
    if (!named && region_datatype_named(buftype, &named) != NC_NOERR)
        return api_no_type(MPI_DATATYPE_NULL);
    return named ? plain_buffer(buftype, bufcount, xtype, b)
                 : derived(buftype, bufcount, xtype, b);
}

/* ---- lists of elements, for mapped buffers with a derived type ---- */

int api_element_offsets(const struct region *user, int64_t size, int64_t **places)
{
    int64_t n = 0;
    struct region_strip s;
    struct region_cursor *c = region_cursor_new(user);
    *places = base_malloc((size_t)(region_bytes(user) / size) * sizeof **places);
    if (c == NULL || *places == NULL) {
        region_cursor_free(c);
        base_free(*places);
        *places = NULL;
        return NC_ENOMEM;
    }
    while (region_next(c, INT64_MAX, INT64_MAX, &s))
        for (int64_t i = 0; i < s.count; i++)
            for (int64_t at = 0; at < s.length; at += size)
                (*places)[n++] = s.offset + i * s.stride + at;
    region_cursor_free(c);
    return NC_NOERR;
}

struct region *api_elements(const int64_t *places, int64_t n, int64_t size)
{
    int64_t *lengths = base_malloc((size_t)n * sizeof *lengths);
    if (lengths == NULL) return NULL;
    for (int64_t i = 0; i < n; i++)
        lengths[i] = size;
    struct region *r = region_blocks(n, places, lengths);
    base_free(lengths);
    return r;
}

struct region *api_compose(const struct region *map, const struct region *user,
                           int64_t size)
{
    int64_t *from = NULL, *picked = NULL, n = region_bytes(map) / size;
    struct region *r = NULL;
    if (api_element_offsets(user, size, &from) == NC_NOERR &&
        api_element_offsets(map, size, &picked) == NC_NOERR) {
        for (int64_t i = 0; i < n; i++)
            picked[i] = from[picked[i] / size];
        r = api_elements(picked, n, size);
    }
    base_free(from);
    base_free(picked);
    return r;
}
