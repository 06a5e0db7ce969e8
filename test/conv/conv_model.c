/* See conv_model.h. */
#include "conv_model.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plan_value.h"
#include "pnetcdf_constants.h"
#include "splitmix.h"

/* A type that can represent every 64-bit integer, signed or unsigned. */
#if defined __SIZEOF_INT128__
__extension__ typedef __int128 whole;
#elif LDBL_MANT_DIG >= 64
typedef long double whole;
#else
#error "no type holds all integers of 64 bits, signed and unsigned"
#endif

#define TWO_TO(n)                                                                        \
    ((whole)(UINT64_C(1) << (n) / 2) * (whole)(UINT64_C(1) << ((n) - (n) / 2)))

/* The types that values can have. `fill` is one of the NC_FILL_* values. */
static const struct {
    const char *name;
    int xtype, size;
    bool real;
    whole least, greatest;
    whole fill;
} types[CONV_NTYPES] = {
    [CONV_SCHAR] = {"schar", NC_BYTE, 1, false, -TWO_TO(7), TWO_TO(7) - 1, -127},
    [CONV_UCHAR] = {"uchar", NC_UBYTE, 1, false, 0, TWO_TO(8) - 1, 255},
    [CONV_SHORT] = {"short", NC_SHORT, 2, false, -TWO_TO(15), TWO_TO(15) - 1, -32767},
    [CONV_USHORT] = {"ushort", NC_USHORT, 2, false, 0, TWO_TO(16) - 1, 65535},
    [CONV_INT] = {"int", NC_INT, 4, false, -TWO_TO(31), TWO_TO(31) - 1, -2147483647},
    [CONV_UINT] = {"uint", NC_UINT, 4, false, 0, TWO_TO(32) - 1, 4294967295},
    [CONV_LONGLONG] = {"longlong", NC_INT64, 8, false, -TWO_TO(63), TWO_TO(63) - 1,
                       -9223372036854775806},
    [CONV_ULONGLONG] = {"ulonglong", NC_UINT64, 8, false, 0, TWO_TO(64) - 1,
                        TWO_TO(64) - 2},
    [CONV_FLOAT] = {"float", NC_FLOAT, 4, true, 0, 0, 0},
    [CONV_DOUBLE] = {"double", NC_DOUBLE, 8, true, 0, 0, 0},
};

/* A value of any type: `real` if the type is a floating-point type, `integer`
 * otherwise. */
struct value {
    whole integer;
    double real;
};

bool conv_model_next(struct conv_model_pair *pair)
{
    if (pair->from == 0) {
        *pair = (struct conv_model_pair){false, CONV_SCHAR, CONV_SCHAR};
        return true;
    }
    if (++pair->to < CONV_NTYPES) return true;
    pair->to = CONV_SCHAR;
    if (++pair->from < CONV_NTYPES) return true;
    pair->from = CONV_SCHAR;
    if (pair->put) return false;
    return pair->put = true;
}

const char *conv_model_name(struct conv_model_pair pair)
{
    static char name[64];
    snprintf(name, sizeof name, "%s of %s to %s", pair.put ? "put" : "get",
             types[pair.from].name, types[pair.to].name);
    return name;
}

int conv_model_xtype(enum conv_type type)
{
    return types[type].xtype;
}

static void reverse(unsigned char *bytes, int size)
{
    for (int i = 0; i < size / 2; i++) {
        unsigned char byte = bytes[i];
        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = byte;
    }
}

/* Converts between native and big-endian byte order. */
static void swap_if_little(unsigned char *bytes, int size)
{
    const uint16_t one = 1;
    if (*(const unsigned char *)&one == 1) reverse(bytes, size);
}

static void encode(enum conv_type type, struct value v, unsigned char *native)
{
    float f = (float)v.real;
    if (type == CONV_FLOAT) {
        memcpy(native, &f, sizeof f);
    } else if (type == CONV_DOUBLE) {
        memcpy(native, &v.real, sizeof v.real);
    } else {
        uint64_t bits = v.integer < 0 ? -(uint64_t)-v.integer : (uint64_t)v.integer;
        for (int i = types[type].size; i-- > 0; bits >>= 8)
            native[i] = (unsigned char)(bits & 255);
        swap_if_little(native, types[type].size);
    }
}

bool conv_model_convert(struct conv_model_pair pair, void *to, const void *from,
                        const void *fill)
{
    unsigned char bytes[8];
    size_t size = (size_t)types[pair.to].size;
    memcpy(bytes, from, (size_t)types[pair.from].size);
    if (!pair.put) swap_if_little(bytes, types[pair.from].size);
    uint64_t value = plan_load(bytes, plan_memory_of(types[pair.from].xtype), 0);
    const int memory = plan_memory_of(types[pair.to].xtype);
    if (!plan_convert(5, types[pair.from].xtype, value, memory, &value)) {
        memcpy(to, fill, size);
        return false;
    }
    plan_store(bytes, memory, 0, value);
    if (pair.put) swap_if_little(bytes, types[pair.to].size);
    memcpy(to, bytes, size);
    return true;
}

int conv_model_run(struct conv_model_pair pair, void *to, const void *from, size_t n,
                   const void *fill)
{
    bool fit = true;
    for (size_t i = 0; i < n; i++)
        fit &= conv_model_convert(pair, (char *)to + i * (size_t)types[pair.to].size,
                                  (const char *)from + i * (size_t)types[pair.from].size,
                                  fill);
    return fit ? NC_NOERR : NC_ERANGE;
}

int conv_model_call(struct conv_model_pair pair, void *to, const void *from, size_t n,
                    const void *fill)
{
    return pair.put ? conv_put(to, types[pair.to].xtype, from, pair.from, n, fill)
                    : conv_get(to, pair.to, from, types[pair.from].xtype, n);
}

void conv_model_fill(struct conv_model_pair pair, void *fill)
{
    struct value v = {types[pair.to].fill, 9.969209968386869e+36};
    if (pair.put)
        memcpy(fill, "\x12\x34\x56\x78\x9a\xbc\xde\xf0", 8);
    else
        encode(pair.to, v, fill);
}

/* ---- values ---- */

struct list {
    struct conv_model_pair pair;
    unsigned char *bytes;
    size_t n, capacity;
};

static void add_bytes(struct list *list, const void *native)
{
    size_t size = (size_t)types[list->pair.from].size;
    if (list->n == list->capacity) {
        list->capacity = 2 * list->capacity + 64;
        list->bytes = realloc(list->bytes, list->capacity * size);
        if (list->bytes == NULL) exit(99);
    }
    unsigned char *at = list->bytes + list->n++ * size;
    memcpy(at, native, size);
    if (!list->pair.put) swap_if_little(at, (int)size);
}

/* Adds those values of the source type that are nearest to an integer, and their
 * neighbors. */
static void add_near(struct list *list, whole integer)
{
    enum conv_type from = list->pair.from;
    unsigned char bytes[8];
    for (int i = -2; i <= 2 && !types[from].real; i++) {
        whole v = integer + i;
        if (v < types[from].least || v > types[from].greatest) continue;
        encode(from, (struct value){v, 0}, bytes);
        add_bytes(list, bytes);
    }
    for (int half = -2; half <= 2 && types[from].real; half++) {
        double v = (double)integer + 0.5 * half;
        const double tries[] = {v, nextafter(v, INFINITY), nextafter(v, -INFINITY),
                                (double)nextafterf((float)v, INFINITY),
                                (double)nextafterf((float)v, -INFINITY)};
        for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
            encode(from, (struct value){0, tries[i]}, bytes);
            add_bytes(list, bytes);
        }
    }
}

/* Adds values near the limits of float, infinity, and NaN. */
static void add_real(struct list *list)
{
    static const double values[] = {
        0.0,
        0x1p-149,
        0x1p-150,
        0x1p-1074,
        0x1p-126,
        0x1.fffffep-127,
        0x1p-1022,
        0x1.fffffep127,
        0x1.fffffefp127,
        0x1.fffffeffffffep127,
        0x1.fffffefffffffp127,
        0x1.ffffffp127,
        0x1.ffffff0000001p127,
        0x1p128,
        0x1.fffffffffffffp1023,
        9.969209968386869e+36,
        3.40282347e+38,
        1e300,
        INFINITY,
        NAN,
    };
    unsigned char bytes[8];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            encode(list->pair.from, (struct value){0, sign * values[i]}, bytes);
            add_bytes(list, bytes);
        }
}

/* Adds random integers of all lengths. For floating-point types, adds values of moderate
 * size and values with random bits. */
static void add_random(struct list *list)
{
    for (int i = 0; i < 3000; i++) {
        uint64_t bits = conv_model_random();
        int shift = (int)(conv_model_random() % 64);
        if (!types[list->pair.from].real) {
            add_near(list, (whole)((int64_t)bits >> shift));
            continue;
        }
        unsigned char bytes[8];
        encode(list->pair.from, (struct value){0, ldexp((double)(int64_t)bits, -shift)},
               bytes);
        add_bytes(list, bytes);
        add_bytes(list, &bits);
    }
}

void *conv_model_values(struct conv_model_pair pair, size_t *n)
{
    struct list list = {pair, NULL, 0, 0};
    enum conv_type from = pair.from;
    if (types[from].size <= 2) {
        unsigned char bytes[8];
        for (whole v = types[from].least; v <= types[from].greatest; v++) {
            encode(from, (struct value){v, 0}, bytes);
            add_bytes(&list, bytes);
        }
    } else {
        for (int bit = 0; bit <= 65; bit++) {
            add_near(&list, TWO_TO(bit));
            add_near(&list, -TWO_TO(bit));
        }
        if (types[from].real) add_real(&list);
        add_random(&list);
    }
    *n = list.n;
    return list.bytes;
}

static uint64_t state;

void conv_model_seed(void)
{
    const char *given = getenv("CONV_SEED");
    state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    printf("# CONV_SEED=%" PRIu64 "\n", state);
    fflush(stdout);
}

uint64_t conv_model_random(void)
{
    return splitmix_next(&state);
}
