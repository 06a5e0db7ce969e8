m4_changequote([,])m4_divert(-1)
# Generates a function direction_from_to for each direction and each pair of types.

# The types: name; C type; s(igned), u(nsigned) or f(loating); bits of an element; binary
# digits that it represents exactly; minimum and maximum; public names.
m4_define([TYPE], [
m4_define([ctype_$1], [$2])m4_define([kind_$1], [$3])m4_define([bits_$1], [$4])
m4_define([digits_$1], [$5])m4_define([min_$1], [$6])m4_define([max_$1], [$7])
m4_define([mem_$1], [$8])m4_define([ext_$1], [$9])])
TYPE([schar],  [int8_t],   [s], [8],  [7],  [INT8_MIN],  [INT8_MAX],   [CONV_SCHAR],     [NC_BYTE])
TYPE([uchar],  [uint8_t],  [u], [8],  [8],  [0],         [UINT8_MAX],  [CONV_UCHAR],     [NC_UBYTE])
TYPE([short],  [int16_t],  [s], [16], [15], [INT16_MIN], [INT16_MAX],  [CONV_SHORT],     [NC_SHORT])
TYPE([ushort], [uint16_t], [u], [16], [16], [0],         [UINT16_MAX], [CONV_USHORT],    [NC_USHORT])
TYPE([int],    [int32_t],  [s], [32], [31], [INT32_MIN], [INT32_MAX],  [CONV_INT],       [NC_INT])
TYPE([uint],   [uint32_t], [u], [32], [32], [0],         [UINT32_MAX], [CONV_UINT],      [NC_UINT])
TYPE([int64],  [int64_t],  [s], [64], [63], [INT64_MIN], [INT64_MAX],  [CONV_LONGLONG],  [NC_INT64])
TYPE([uint64], [uint64_t], [u], [64], [64], [0],         [UINT64_MAX], [CONV_ULONGLONG], [NC_UINT64])
TYPE([float],  [float],    [f], [32], [24], [],          [],           [CONV_FLOAT],     [NC_FLOAT])
TYPE([double], [double],   [f], [64], [53], [],          [],           [CONV_DOUBLE],    [NC_DOUBLE])
m4_define([TYPES], [[schar], [uchar], [short], [ushort], [int], [uint], [int64], [uint64], [float], [double]])

# OF(column, name): the table's entry for a type.
m4_define([OF], [m4_indir([$1_$2])])

# EACH(MACRO, argument): expands MACRO(argument, name) for every type.
m4_define([EACH], [WALK([$1], [$2], TYPES)])
m4_define([WALK], [m4_ifelse([$3], [], [],
    [$1([$2], [$3])WALK([$1], [$2], m4_shift(m4_shift(m4_shift($@))))])])

# The function being generated is DIRECTION_S_T, from source to target. In its body:
#   SOURCE        C type of an element v of the source
#   COUNTER       unsigned type of the same width, so that both fill vectors evenly
#   RAW(array)    bits of element i of an array with the source's type
#   VALUE(array)  the same element as a SOURCE
#   BITS          unsigned type for an element of the target
#   RESULT        v, converted to the target's type and byte order
#   STORE(bits)   stores element i of the target
#   FILL          value stored in the target for values out of range
m4_define([SOURCE], [OF([ctype], S)])
m4_define([COUNTER], [uint[]m4_ifelse(OF([bits], S), [8], [16], OF([bits], S))_t])
m4_define([RAW], [conv_load[]OF([bits], S)($1, i)])
m4_define([VALUE], [m4_ifelse(
    OF([kind], S), [f], [conv_[]S[](IF_GET([BIG_ENDIAN(S, [RAW([$1])])], [RAW([$1])]))],
    [(SOURCE)IF_GET([BIG_ENDIAN(S, [RAW([$1])])], [RAW([$1])])])])
m4_define([BITS], [uint[]OF([bits], T)_t])
m4_define([RESULT], [IF_GET([CONVERTED], [BIG_ENDIAN(T, [CONVERTED])])])
m4_define([CONVERTED], [m4_ifelse(
    OF([kind], T), [f], [conv_[]T[]_bits((OF([ctype], T))v)],
    OF([kind], T), [s], [(BITS)(OF([ctype], T))v],
    [(BITS)v])])
m4_define([STORE], [conv_store[]OF([bits], T)(dst, i, $1)])
m4_define([FILL], [conv_load[]OF([bits], T)(fill, 0)])
m4_define([IF_GET], [m4_ifelse(DIRECTION, [get], [$1], [$2])])
m4_define([BIG_ENDIAN], [conv_big[]OF([bits], $1)($2)])

# FITS: the condition that v can be converted; empty if it always can. If the maximum of
# an integer type has more digits than a floating-point type, the condition uses the next
# power of 2. NaN is out of range for every integer type.
m4_define([FITS], [m4_ifelse(S T, [double float], [fits_float(v)],
    OF([kind], T), [f], [],
    OF([kind], S), [f], [(v >= OF([min], T)) & (BELOW)],
    [BOTH(LEAST, GREATEST)])])
m4_define([BELOW], [m4_ifelse(S_IS_LONGER, [1], [v <= OF([max], T)],
    [v < 0x1p[]OF([digits], T)[]m4_ifelse(S, [float], [f])])])
m4_define([LEAST], [m4_ifelse(
    OF([kind], S), [u], [],
    OF([kind], T) S_IS_LONGER, [s 0], [],
    [v >= OF([min], T)])])
m4_define([GREATEST], [m4_ifelse(S_IS_LONGER, [1], [v <= OF([max], T)])])
m4_define([BOTH], [m4_ifelse([$1], [], [$2], [$2], [], [$1], [$1 && $2])])
m4_define([S_IS_LONGER], [m4_eval(OF([digits], S) > OF([digits], T))])

m4_define([FUNCTION], [m4_define([DIRECTION], [$1])m4_define([S], [$2])m4_define([T], [$3])
static bool $1_$2_$3(void *restrict dst, const void *restrict src, size_t n,
                     const void *fill)
{
m4_ifelse(FITS, [], [UNCHECKED], OF([kind], S), [f], [CHECKED_FLOATING], [CHECKED_INTEGER])}
])

m4_define([UNCHECKED], [    (void)fill;
    for (size_t i = 0; i < n; i++) {
        SOURCE v = VALUE(src);
        STORE(RESULT);
    }
    return false;
])

# An integer may be converted before the range check, so one pass does everything. The
# loop counts values in range: compilers do not vectorize an `or` of conditions.
m4_define([CHECKED_INTEGER], [    BITS other = FILL;
    COUNTER good = 0;
    for (size_t i = 0; i < n; i++) {
        SOURCE v = VALUE(src);
        bool fits = FITS;
        good += fits;
        STORE(fits ? RESULT : other);
    }
    return good != n;
])

# A floating-point value out of range must not be converted. The conversion is undefined,
# and raises a signal in programs that trap floating-point exceptions. If there are such
# values, a copy is converted in which zeros replace them.
m4_define([CHECKED_FLOATING], [    COUNTER good = 0;
    for (size_t i = 0; i < n; i++) {
        SOURCE v = VALUE(src);
        good += FITS;
    }
    COUNTER safe[[CONV_BLOCK]];
    const void *from = good == n ? src : safe;
    for (size_t i = 0; from == safe && i < n; i++) {
        SOURCE v = VALUE(src);
        bool fits = FITS;
        safe[[i]] = fits ? RAW(src) : 0;
    }
    for (size_t i = 0; i < n; i++) {
        SOURCE v = VALUE(from);
        STORE(RESULT);
    }
    BITS other = FILL;
    for (size_t i = 0; from == safe && i < n; i++) {
        SOURCE v = VALUE(src);
        bool fits = FITS;
        if (!fits) STORE(other);
    }
    return good != n;
])

m4_define([PUT_AND_GET],
    [m4_ifelse([$1], [$2], [], [FUNCTION([put], $@)FUNCTION([get], $@)])])
m4_define([FROM], [EACH([PUT_AND_GET], [$2])])

# Tables of the functions: put converts to the external type, get converts from it.
m4_define([AT], [[[$1]]])
m4_define([SAME], [m4_ifelse(OF([bits], [$1]), [8], [NULL], [same[]OF([bits], [$1])])])
m4_define([PUT_ENTRY], [
            AT(OF([mem], [$2])) = m4_ifelse([$1], [$2], [SAME([$1])], [put_$2_$1]),])
m4_define([GET_ENTRY], [
            AT(OF([mem], [$2])) = m4_ifelse([$1], [$2], [SAME([$1])], [get_$1_$2]),])
m4_define([ROW], [
        AT(OF([ext], [$2])) = {EACH([$1_ENTRY], [$2])
        },])

# A pair of equal types: values are not checked. The second function works in place.
m4_define([SAME_LOOP], [
static bool same$1(void *restrict dst, const void *restrict src, size_t n,
                   const void *fill)
{
    (void)fill;
    for (size_t i = 0; i < n; i++)
        conv_store$1(dst, i, conv_big$1(conv_load$1(src, i)));
    return false;
}

static void turn$1(void *array, size_t n)
{
    for (size_t i = 0; i < n; i++)
        conv_store$1(array, i, conv_big$1(conv_load$1(array, i)));
}
])

m4_divert[]m4_dnl
/* Generated from conv_loops.c.m4. */
#include "conv_loops.h"

#include <stdint.h>
#include <string.h>

#include "conv_bytes.h"

/* Returns whether v is in range for a float. Finite values of at least 2^128 - 2^103 are
 * not, because they would round to infinity. Infinities and NaN are. Compares the bits,
 * because a comparison of doubles could raise an exception for NaN: the bits of positive
 * doubles are ordered like their values, with NaN last. */
static inline bool fits_float(double v)
{
    int64_t magnitude = (int64_t)(conv_double_bits(v) & INT64_MAX);
    return (magnitude < 0x47effffff0000000) | (magnitude >= 0x7ff0000000000000);
}
SAME_LOOP([16])SAME_LOOP([32])SAME_LOOP([64])m4_dnl
EACH([FROM])
const struct conv_loops CONV_LOOPS = {
    .put = {EACH([ROW], [PUT])
    },
    .get = {EACH([ROW], [GET])
    },
    .swap = {AT(2) = turn16, AT(4) = turn32, AT(8) = turn64},
};
