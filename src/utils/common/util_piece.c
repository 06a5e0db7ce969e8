/* Cuts an array into hyperslabs of bounded size. Only one dimension is cut: a piece spans
 * all indices of the inner dimensions and a single index of each outer one. */
#include "util_piece.h"

/* Returns the dimension to cut. Sets *inner to the number of elements at each index of
 * that dimension. */
static int cut_dimension(int ndims, const int64_t *length, int64_t most, int64_t *inner)
{
    int i = ndims - 1;
    for (*inner = 1; i > 0 && *inner * length[i] <= most; i--)
        *inner *= length[i];
    return i;
}

void util_piece_make(struct util_piece *p, int ndims, const int64_t *length,
                     int64_t first, int64_t most)
{
    int64_t inner;
    int cut = cut_dimension(ndims, length, most, &inner);
    p->first = first;
    p->n = 1;
    if (ndims == 0) return;
    int64_t steps = first / inner;
    int64_t left = length[cut] - steps % length[cut];
    int64_t n = most / inner < left ? most / inner : left;
    if (n < 1) n = 1;
    p->n = n * inner;
    for (int i = ndims - 1; i >= 0; i--) {
        p->start[i] = i > cut ? 0 : steps % length[i];
        p->count[i] = i > cut ? length[i] : i == cut ? n : 1;
        if (i <= cut) steps /= length[i];
    }
}
