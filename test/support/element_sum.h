/* Computes a checksum of a variable. It depends on the value and the position of each
 * element, but not on the order in which the elements are added, nor on how they are
 * divided into parts. */
#ifndef ELEMENT_SUM_H
#define ELEMENT_SUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns the sum of n elements of `size` bytes each, in native byte order. `first` is
 * the position of the first element. */
static inline uint64_t element_sum(uint64_t first, const void *elements, size_t n,
                                   size_t size)
{
    const unsigned char *p = elements;
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++, p += size) {
        uint64_t z = 0;
        memcpy(&z, p, size);
        z += (first + i + 1) * 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        sum += z ^ (z >> 31);
    }
    return sum;
}

#endif
