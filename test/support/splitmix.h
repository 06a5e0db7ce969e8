/* The random number generator of the tests, splitmix64. Any number is a valid initial
 * state. */
#ifndef SPLITMIX_H
#define SPLITMIX_H

#include <stdint.h>

/* Returns a number whose bits all depend on all bits of x. */
static inline uint64_t splitmix_hash(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Advances the state and returns a random number. */
static inline uint64_t splitmix_next(uint64_t *state)
{
    return splitmix_hash(*state += 0x9e3779b97f4a7c15u);
}

#endif
