/* Cuts an array into consecutive pieces, each of which is a hyperslab. */
#ifndef UTIL_PIECE_H
#define UTIL_PIECE_H

#include <stdint.h>

struct util_piece {
    int64_t first, n; /* first element and number of elements, in array order */
    int64_t *start,
        *count; /* the same piece as a hyperslab; the caller allocates the arrays */
};

/* Sets *p to the piece that starts at element `first` of an array of shape length[ndims]
 * and has at most `most` elements. `first` is 0 or the end of the previous piece. */
void util_piece_make(struct util_piece *p, int ndims, const int64_t *length,
                     int64_t first, int64_t most);

#endif
