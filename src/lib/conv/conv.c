/* Divides conversions into blocks and calls the loop for each block. */
#include "config.h"

#include "conv.h"

#include <stdint.h>
#include <string.h>

#include "conv_loops.h"

/* The types in memory, with their fill values in native byte order. Values are less than
 * 2^above, and at least -2^below; `below` is 0 for types without negative values. */
static const struct {
    int below, above;
    const void *fill;
} types[CONV_NTYPES] = {
    [CONV_TEXT] = {0, 8, &(const char){NC_FILL_CHAR}},
    [CONV_SCHAR] = {7, 7, &(const signed char){NC_FILL_BYTE}},
    [CONV_UCHAR] = {0, 8, &(const unsigned char){NC_FILL_UBYTE}},
    [CONV_SHORT] = {15, 15, &(const short){NC_FILL_SHORT}},
    [CONV_USHORT] = {0, 16, &(const unsigned short){NC_FILL_USHORT}},
    [CONV_INT] = {31, 31, &(const int){NC_FILL_INT}},
    [CONV_UINT] = {0, 32, &(const unsigned int){NC_FILL_UINT}},
    [CONV_LONGLONG] = {63, 63, &(const long long){NC_FILL_INT64}},
    [CONV_ULONGLONG] = {0, 64, &(const unsigned long long){NC_FILL_UINT64}},
    [CONV_FLOAT] = {128, 128, &(const float){NC_FILL_FLOAT}},
    [CONV_DOUBLE] = {1024, 1024, &(const double){NC_FILL_DOUBLE}},
};

int conv_size(enum conv_type type)
{
    static const unsigned char sizes[CONV_NTYPES] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    return sizes[type];
}

int conv_is_copy(int xtype, enum conv_type type)
{
    return conv_type_of(xtype) == (int)type &&
           (conv_size(type) == 1 || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

const struct conv_loops *conv_loops_best(void)
{
#ifdef CONV_AVX2
    if (__builtin_cpu_supports("avx2")) return &conv_loops_avx2;
#endif
    return &conv_loops_plain;
}

static int run_loop(conv_loop *loop, char *dst, size_t dst_size, const char *src,
                    size_t src_size, size_t n, const void *fill)
{
    bool out_of_range = false;
    while (n > 0) {
        size_t piece = n < CONV_BLOCK ? n : CONV_BLOCK;
        out_of_range |= loop(dst, src, piece, fill);
        dst += piece * dst_size;
        src += piece * src_size;
        n -= piece;
    }
    return out_of_range ? NC_ERANGE : NC_NOERR;
}

int conv_put(void *xdst, int xtype, const void *src, enum conv_type type, size_t n,
             const void *xfill)
{
    int err = conv_check(xtype, type);
    if (err != NC_NOERR || n == 0) return err;
    size_t size = (size_t)conv_size(type);
    if (conv_is_copy(xtype, type)) {
        memcpy(xdst, src, n * size);
        return NC_NOERR;
    }
    size_t xsize = (size_t)conv_size((enum conv_type)conv_type_of(xtype));
    return run_loop(conv_loops_best()->put[xtype][type], xdst, xsize, src, size, n,
                    xfill);
}

int conv_get(void *dst, enum conv_type type, const void *xsrc, int xtype, size_t n)
{
    int err = conv_check(xtype, type);
    if (err != NC_NOERR || n == 0) return err;
    size_t size = (size_t)conv_size(type);
    if (conv_is_copy(xtype, type)) {
        memcpy(dst, xsrc, n * size);
        return NC_NOERR;
    }
    size_t xsize = (size_t)conv_size((enum conv_type)conv_type_of(xtype));
    return run_loop(conv_loops_best()->get[xtype][type], dst, size, xsrc, xsize, n,
                    types[type].fill);
}

bool conv_always_fits(int xtype, enum conv_type type)
{
    int to = conv_type_of(xtype);
    return to >= 0 && types[type].below <= types[to].below &&
           types[type].above <= types[to].above;
}

int conv_check_range(int xtype, const void *src, enum conv_type type, size_t n)
{
    enum { PIECE = 512 };
    const char *from = src;
    double external[PIECE], fill = 0; /* large enough for any type */
    int err = NC_NOERR;
    for (size_t at = 0; at < n && err == NC_NOERR; at += PIECE)
        err = conv_put(external, xtype, from + at * (size_t)conv_size(type), type,
                       n - at < PIECE ? n - at : PIECE, &fill);
    return err;
}

void conv_get_in_place(void *array, int xsize, size_t n)
{
    conv_swap_loop *turn = conv_loops_best()->swap[xsize];
    if (turn != NULL) turn(array, n);
}

/* Copies the values written so far to the space after them, doubling the size of the
 * pieces until they fill a part of the L1 cache. */
void conv_fill(void *xdst, const void *xvalue, int xsize, size_t n)
{
    enum { LONGEST = 8192 };
    if (n == 0) return;
    char *to = xdst;
    size_t left = n * (size_t)xsize, written = (size_t)xsize;
    memcpy(to, xvalue, written);
    to += written, left -= written;
    while (left > 0) {
        size_t piece = written < left ? written : left;
        memcpy(to, xdst, piece);
        to += piece, left -= piece;
        if (written < LONGEST) written += piece;
    }
}
