/* Packs a walk's values into messages for other processes, and unpacks them. */
#ifndef TWOPHASE_PACK_H
#define TWOPHASE_PACK_H

#include "access_walk.h"

/* Consecutive values of one request whose bytes are adjacent in the answer. */
struct twophase_requested {
    int64_t number, first, nelems;
};

/* Part of a message, in memory that the node's processes share. It lists runs of bytes,
 * and for a put also contains their values. */
struct twophase_packed {
    unsigned char *bytes;
    int64_t capacity, used;
    int64_t answer_size,
        max_answer_size; /* gets: number of bytes requested, and its maximum */
    struct twophase_requested *list;
    int64_t nlist, list_capacity;
};

/* Packs the walk's values in [low, high) for the receiver's block, which starts at
 * `origin`. If `resume` is set, continues where the last call ended; it must not be set
 * in the first call. Sets *all to false if not all values fit. */
int twophase_pack(struct access_walk *w, struct twophase_packed *p, int64_t low,
                  int64_t high, int64_t origin, bool resume, bool *all);

/* Stores the requested values from an answer in the user's memory. */
int twophase_pack_store_answer(struct access_walk *w, const struct twophase_packed *p,
                               const unsigned char *bytes);

/* Stores the values from a received message of n bytes in the block and marks them. */
int twophase_unpack(const struct access_block *b, const unsigned char *bytes, int64_t n);

/* Return the number of bytes that a message requests, return the block's range that
 * contains them, and copy these bytes to an answer. NC_EMPI if it is invalid. */
int twophase_unpack_request(const struct access_block *b, const unsigned char *bytes,
                            int64_t n, int64_t *asked, int64_t *low, int64_t *high);
void twophase_unpack_answer(const struct access_block *b, const unsigned char *bytes,
                            int64_t n, unsigned char *answer);

#endif
