/* Quantizes a number with a different algorithm from the library's, to check the
 * library's results. */
#ifndef ROUNDED_H
#define ROUNDED_H

/* Returns a positive number quantized by bitround, which keeps `bits` bits after the
 * leading one and rounds the last of them half up. */
static inline int rounded(int value, int bits)
{
    int step = 1;
    while ((value >> (bits + 1)) >= step)
        step *= 2;
    return (value + step / 2) / step * step;
}

#endif
