/* Encodes and decodes big-endian 8-byte numbers, as used in the library's file formats,
 * and computes a checksum that is the same on every machine. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Writes a number and returns the address after it. */
static inline unsigned char *base_put_word(unsigned char *p, uint64_t value)
{
    value = htobe64(value);
    memcpy(p, &value, sizeof value);
    return p + sizeof value;
}

/* Reads a number and advances *p. */
static inline uint64_t base_get_word(const unsigned char **p)
{
    uint64_t value;
    memcpy(&value, *p, sizeof value);
    *p += sizeof value;
    return be64toh(value);
}

/* Adds n bytes to an FNV-1a checksum, which starts as BASE_FNV_BEGIN. */
#define BASE_FNV_BEGIN UINT64_C(14695981039346656037)
static inline uint64_t base_fnv_add(uint64_t sum, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(1099511628211);
    return sum;
}

#endif
