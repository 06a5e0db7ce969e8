/* Converts between values in memory and external values, which are big-endian and have
 * one of the file's 11 types. One pass converts types, checks ranges and swaps bytes.
 *
 * All functions are pure: they have no state, do not allocate, and accept any alignment.
 * Source and destination must not overlap. Elements in range are always converted, even
 * if others are out of range.
 *
 * conv_loops.c.m4 generates a loop for each pair of types and each direction from a table
 * of types. A loop loads an element, checks its range, converts it, swaps its bytes and
 * stores it. The loops are plain C, which the compiler vectorizes. The file is compiled
 * twice, for any processor and for AVX2, and the table of loops is selected at run time.
 * Integers are checked and converted in the same pass. Floating-point values are checked
 * first, in blocks that fit the L1 cache. A value out of range must not be converted,
 * because the conversion is undefined and raises a signal in programs that trap
 * floating-point exceptions. benchmarks/bench conv compares the speed with memcpy. */
#ifndef CONV_H
#define CONV_H

#include <stdbool.h>
#include <stddef.h>

#include "pnetcdf_constants.h"

/* Types in memory. `long` maps to the type of the same width. */
enum conv_type {
    CONV_TEXT, /* char; converts only to and from NC_CHAR */
    CONV_SCHAR,
    CONV_UCHAR,
    CONV_SHORT,
    CONV_USHORT,
    CONV_INT,
    CONV_UINT,
    CONV_LONGLONG,
    CONV_ULONGLONG,
    CONV_FLOAT,
    CONV_DOUBLE,
    CONV_NTYPES
};

/* Returns the size of one element in memory, in bytes. */
int conv_size(enum conv_type type);

/* Returns the type in memory with the same values as an external type: CONV_SCHAR for
 * NC_BYTE, CONV_TEXT for NC_CHAR, CONV_LONGLONG for NC_INT64, and so on. Returns -1 if
 * the type does not exist. */
static inline int conv_type_of(int xtype)
{
    static const signed char types[] = {
        -1,          CONV_SCHAR, CONV_TEXT,   CONV_SHORT, CONV_INT,      CONV_FLOAT,
        CONV_DOUBLE, CONV_UCHAR, CONV_USHORT, CONV_UINT,  CONV_LONGLONG, CONV_ULONGLONG,
    };
    return xtype < NC_BYTE || xtype > NC_UINT64 ? -1 : types[xtype];
}

/* Returns NC_NOERR if values can be converted between the two types; NC_ECHAR if only one
 * of them is text; NC_EBADTYPE if the external type does not exist. The functions below
 * return the same errors, and then do nothing. */
static inline int conv_check(int xtype, enum conv_type type)
{
    if (xtype < NC_BYTE || xtype > NC_UINT64) return NC_EBADTYPE;
    return (xtype == NC_CHAR) == (type == CONV_TEXT) ? NC_NOERR : NC_ECHAR;
}

/* Returns the external type whose rules apply. In CDF-1, CDF-2 and the classic model of
 * netCDF-4, NC_BYTE that is read or written as unsigned char counts as NC_UBYTE, so that
 * values from 0 to 255 are in range. */
static inline int conv_effective_type(int format, int xtype, enum conv_type type)
{
    bool unchecked = format != NC_FORMAT_CDF5 && xtype == NC_BYTE && type == CONV_UCHAR;
    return unchecked ? NC_UBYTE : xtype;
}

/* Converts n contiguous elements of `type` at src to external values at xdst. An element
 * outside the external type's range (including NaN for an integer type) becomes *xfill,
 * which is one external value. Returns NC_ERANGE if there was such an element, otherwise
 * NC_NOERR. A value is in range of an integer type if it is between the minimum and the
 * maximum before its fraction is truncated. So 127.5 is out of range for NC_BYTE, and
 * -0.5 for NC_UBYTE. A double is out of range for a float if it would round to infinity.
 * Infinity and NaN are in range. */
int conv_put(void *xdst, int xtype, const void *src, enum conv_type type, size_t n,
             const void *xfill);

/* Converts n external values at xsrc to contiguous elements at dst. A value out of range
 * becomes the default fill value of the memory type (NC_FILL_INT for int, and so on).
 * Returns NC_ERANGE if there was such a value, otherwise NC_NOERR. */
int conv_get(void *dst, enum conv_type type, const void *xsrc, int xtype, size_t n);

/* Returns whether a put of `type` to a variable of type xtype can never fail with
 * NC_ERANGE, because every value of `type` is in range. */
bool conv_always_fits(int xtype, enum conv_type type);

/* Returns the result that conv_put would return, but stores nothing. */
int conv_check_range(int xtype, const void *src, enum conv_type type, size_t n);

/* Returns whether a conversion is a plain copy. */
int conv_is_copy(int xtype, enum conv_type type);

/* Swaps n external values of xsize bytes (1, 2, 4, 8) to native order in place. */
void conv_get_in_place(void *array, int xsize, size_t n);

/* Stores one external value of xsize bytes (1, 2, 4, 8) n times. */
void conv_fill(void *xdst, const void *xvalue, int xsize, size_t n);

#endif
