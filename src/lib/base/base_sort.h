/* Sorts by numeric keys in linear time. */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stdint.h>

struct base_key {
    uint64_t key;
    int64_t index; /* the caller's index of the item with this key */
};

/* Sorts n keys. The sort is stable: to sort by several numbers, sort by the least
 * significant one first. `spare` has space for n keys. */
void base_sort_keys(struct base_key *keys, struct base_key *spare, int64_t n);

#endif
