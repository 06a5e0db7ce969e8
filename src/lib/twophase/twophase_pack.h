/* Values of a walk for other processes: packed into messages, and taken out of them. */
#ifndef TWOPHASE_PACK_H
#define TWOPHASE_PACK_H

#include "access_walk.h"

/* Values of one request, in a row, whose bytes follow each other in what was asked for.
 */
struct twophase_asked {
    int64_t number, first, nelems;
};

/* Part of a message, in memory that the node shares. Of puts it has runs of bytes and
 * their values, of gets the runs alone. */
struct twophase_packed {
    unsigned char *bytes;
    int64_t room, used;
    int64_t asked, most; /* of gets: bytes that are asked for, and how many may be */
    struct twophase_asked *list;
    int64_t nlist, list_capacity;
};

/* Packs what there is of [low, high), which begins at `origin` for the receiver, where it
 * was left off the last time; *all: nothing is left. A first call has `resume` false. */
int twophase_pack(struct access_walk *w, struct twophase_packed *p, int64_t low,
                  int64_t high, int64_t origin, bool resume, bool *all);

/* The values that were asked for, from their bytes one behind the other. */
int twophase_pack_take(struct access_walk *w, const struct twophase_packed *p,
                       const unsigned char *bytes);

/* For who receives n bytes of runs: their values come to the block, marked. */
int twophase_unpack(const struct access_block *b, const unsigned char *bytes, int64_t n);

/* The runs that n bytes ask for: how many bytes, and where the first begins and the last
 * ends in the block; and these bytes one behind the other. NC_EMPI: it is no message. */
int twophase_unpack_asked(const struct access_block *b, const unsigned char *bytes,
                          int64_t n, int64_t *asked, int64_t *low, int64_t *high);
void twophase_unpack_answer(const struct access_block *b, const unsigned char *bytes,
                            int64_t n, unsigned char *answer);

#endif
