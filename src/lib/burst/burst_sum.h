/* The checksum of the logs: XXH3, of 64 bits, compiled in. */
#ifndef BURST_SUM_H
#define BURST_SUM_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#endif
