/* Unaligned loads and stores, and byte order conversion. */
#ifndef CONV_BYTES_H
#define CONV_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Convert between native and big-endian order. */
static inline uint8_t conv_big8(uint8_t bits)
{
    return bits;
}

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
static inline uint16_t conv_big16(uint16_t bits)
{
    return bits;
}

static inline uint32_t conv_big32(uint32_t bits)
{
    return bits;
}

static inline uint64_t conv_big64(uint64_t bits)
{
    return bits;
}
#else
static inline uint16_t conv_big16(uint16_t bits)
{
    return __builtin_bswap16(bits);
}

static inline uint32_t conv_big32(uint32_t bits)
{
    return __builtin_bswap32(bits);
}

static inline uint64_t conv_big64(uint64_t bits)
{
    return __builtin_bswap64(bits);
}
#endif

/* Convert between floating-point values and their bits. */
static inline float conv_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double conv_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t conv_float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t conv_double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Load and store element i of an array of any alignment. A memcpy of constant size
 * compiles to one instruction. */
static inline uint8_t conv_load8(const void *array, size_t i)
{
    return ((const uint8_t *)array)[i];
}

static inline uint16_t conv_load16(const void *array, size_t i)
{
    uint16_t bits;
    memcpy(&bits, (const char *)array + i * sizeof bits, sizeof bits);
    return bits;
}

static inline uint32_t conv_load32(const void *array, size_t i)
{
    uint32_t bits;
    memcpy(&bits, (const char *)array + i * sizeof bits, sizeof bits);
    return bits;
}

static inline uint64_t conv_load64(const void *array, size_t i)
{
    uint64_t bits;
    memcpy(&bits, (const char *)array + i * sizeof bits, sizeof bits);
    return bits;
}

static inline void conv_store8(void *array, size_t i, uint8_t bits)
{
    ((uint8_t *)array)[i] = bits;
}

static inline void conv_store16(void *array, size_t i, uint16_t bits)
{
    memcpy((char *)array + i * sizeof bits, &bits, sizeof bits);
}

static inline void conv_store32(void *array, size_t i, uint32_t bits)
{
    memcpy((char *)array + i * sizeof bits, &bits, sizeof bits);
}

static inline void conv_store64(void *array, size_t i, uint64_t bits)
{
    memcpy((char *)array + i * sizeof bits, &bits, sizeof bits);
}

#endif
