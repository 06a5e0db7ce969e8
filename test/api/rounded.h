/* What quantization makes of numbers, worked out in another way than the library does. */
#ifndef ROUNDED_H
#define ROUNDED_H

/* A positive number as bitround leaves it: so many bits behind the first one, the last of
 * them rounded, halves up. */
static inline int rounded(int value, int bits)
{
    int step = 1;
    while ((value >> (bits + 1)) >= step)
        step *= 2;
    return (value + step / 2) / step * step;
}

#endif
