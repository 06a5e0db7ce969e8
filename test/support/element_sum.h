/* A sum over the elements of a variable that depends on each element's value and place,
 * and not on the order or the parts in which they are added. */
#ifndef ELEMENT_SUM_H
#define ELEMENT_SUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of n elements of `size` bytes as they are in memory, whose places count from `first`.
 */
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
