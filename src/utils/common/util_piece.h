/* An array cut into pieces that are hyperslabs and follow each other in its order. */
#ifndef UTIL_PIECE_H
#define UTIL_PIECE_H

#include <stdint.h>

struct util_piece {
    int64_t first, n;       /* elements, counted through the array */
    int64_t *start, *count; /* the same as a hyperslab; the caller's room, ndims long */
};

/* The piece that starts at element `first` of an array of length[ndims], and has at most
 * `most` elements. To be asked for at 0 and then where the one before it ended. */
void util_piece_make(struct util_piece *p, int ndims, const int64_t *length,
                     int64_t first, int64_t most);

#endif
