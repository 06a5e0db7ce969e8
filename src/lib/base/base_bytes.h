/* Big-endian numbers of 8 bytes, one after the other, as files of our own have them. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* Returns where the next one goes. */
static inline unsigned char *base_put_word(unsigned char *p, uint64_t value)
{
    value = htobe64(value);
    memcpy(p, &value, sizeof value);
    return p + sizeof value;
}

/* Goes on to the next one. */
static inline uint64_t base_get_word(const unsigned char **p)
{
    uint64_t value;
    memcpy(&value, *p, sizeof value);
    *p += sizeof value;
    return be64toh(value);
}

#endif
