/* Conversion between values in memory and external values: big-endian, of one of
 * the 11 types of the file. Type change, range check and byte swap are one pass.
 *
 * Everything here is pure: no state, no allocation, any alignment, no overlap of
 * source and destination. Elements that fit are always converted, whatever
 * happens to others. */
#ifndef CONV_H
#define CONV_H

#include <stdbool.h>
#include <stddef.h>

#include "pnetcdf_constants.h"

/* Types in memory. `long` is one of them by its width. */
enum conv_type {
    CONV_TEXT, /* char, only to and from NC_CHAR */
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

/* Bytes of one element in memory. */
int conv_size(enum conv_type type);

/* The type in memory with the same values as an external type: NC_BYTE is
 * CONV_SCHAR, NC_CHAR is CONV_TEXT, NC_INT64 is CONV_LONGLONG ...; -1 if there is
 * no such type. */
static inline int conv_type_of(int xtype)
{
    static const signed char types[] = {
        -1,          CONV_SCHAR, CONV_TEXT,   CONV_SHORT, CONV_INT,      CONV_FLOAT,
        CONV_DOUBLE, CONV_UCHAR, CONV_USHORT, CONV_UINT,  CONV_LONGLONG, CONV_ULONGLONG,
    };
    return xtype < NC_BYTE || xtype > NC_UINT64 ? -1 : types[xtype];
}

/* NC_NOERR if values can go between the two; NC_ECHAR for text with a number,
 * NC_EBADTYPE if there is no such external type. The functions below say the same
 * and then do nothing. */
static inline int conv_check(int xtype, enum conv_type type)
{
    if (xtype < NC_BYTE || xtype > NC_UINT64) return NC_EBADTYPE;
    return (xtype == NC_CHAR) == (type == CONV_TEXT) ? NC_NOERR : NC_ECHAR;
}

/* The external type whose rules hold: in CDF-1 and CDF-2 NC_BYTE read or written
 * as unsigned char is NC_UBYTE, so that 0 ... 255 pass unchecked. */
static inline int conv_effective_type(int format, int xtype, enum conv_type type)
{
    bool unchecked = format != NC_FORMAT_CDF5 && xtype == NC_BYTE && type == CONV_UCHAR;
    return unchecked ? NC_UBYTE : xtype;
}

/* n contiguous elements at src, of `type`, become external values at xdst.
 * An element out of the external type's range (NaN into an integer is one) becomes
 * *xfill, one external value, and the result is NC_ERANGE; else NC_NOERR.
 * A value fits an integer if it lies between the least and the greatest; its
 * fraction is then cut off, so 127.5 and -0.5 do not fit NC_BYTE and NC_UBYTE. A
 * double is too large for a float where it would round to infinity; an infinity and
 * NaN themselves fit. */
int conv_put(void *xdst, int xtype, const void *src, enum conv_type type, size_t n,
             const void *xfill);

/* n external values at xsrc become contiguous elements at dst. One out of range
 * becomes the default fill value of the type in memory (NC_FILL_INT for int ...),
 * and the result is NC_ERANGE; else NC_NOERR. */
int conv_get(void *dst, enum conv_type type, const void *xsrc, int xtype, size_t n);

/* True if no value can be out of range when it is put. */
bool conv_always_fits(int xtype, enum conv_type type);

/* What conv_put would return; nothing is stored. */
int conv_try(int xtype, const void *src, enum conv_type type, size_t n);

/* True if a conversion leaves every bit in place: copying does it. */
int conv_is_copy(int xtype, enum conv_type type);

/* External values of a type of the same values become those in memory, in their place:
 * n elements of xsize bytes (1, 2, 4, 8). */
void conv_get_here(void *array, int xsize, size_t n);

/* Repeats one external value of xsize bytes (1, 2, 4, 8) n times. */
void conv_fill(void *xdst, const void *xvalue, int xsize, size_t n);

#endif
