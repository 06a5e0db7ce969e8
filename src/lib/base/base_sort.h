/* Sorting by numbers, in time that grows with how many there are and no more. */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stdint.h>

struct base_key {
    uint64_t key;
    int64_t index; /* the caller's: which one it is of */
};

/* Sorts n keys; equal ones keep their order, so that who sorts by several numbers begins
 * with the least important one. spare has room for as many. */
void base_sort_keys(struct base_key *keys, struct base_key *spare, int64_t n);

#endif
