/* From a block that is partly covered to the file, and not a byte more than was put.
 *
 * While processes move data together nobody else writes to this part of the file: small
 * holes are read, so that one large piece can be written. */
#include <string.h>

#include "base_error.h"
#include "twophase.h"

enum { HOLE = 2048 }; /* reading and writing so many bytes is cheaper than another call */

/* The end of the marks from i on that are `kind`; n at most. */
static int64_t end_of(const unsigned char *marks, int64_t i, int64_t n, int kind)
{
    const unsigned char *end = memchr(marks + i, 1 - kind, (size_t)(n - i));
    return end == NULL ? n : end - marks;
}

/* Takes what lies in the holes of marks [i, end) from the file. */
static int fill_holes(struct twophase *t, const struct access_block *b, int64_t i,
                      int64_t end)
{
    int64_t low = i << b->shift, n = (end - i) << b->shift;
    int err = access_staging_make(t->staging, (size_t)n);
    if (err == NC_NOERR) err = file_read(t->file, b->origin + low, t->staging->bytes, n);
    while (err == NC_NOERR && i < end) {
        int64_t hole = end_of(b->marks, i, end, 1);
        i = end_of(b->marks, hole, end, 0);
        memcpy(b->bytes + (hole << b->shift),
               t->staging->bytes + ((hole << b->shift) - low),
               (size_t)((i - hole) << b->shift));
    }
    return err;
}

/* The end of the marks that are written at once, from i on: with the small holes
 * between them. */
static int64_t end_of_group(const struct access_block *b, int64_t i, int64_t n,
                            bool *holes)
{
    int64_t end = end_of(b->marks, i, n, 1);
    *holes = false;
    for (;;) {
        int64_t next = end_of(b->marks, end, n, 0);
        if (next == n || (next - end) << b->shift > HOLE) return end;
        *holes = true;
        end = end_of(b->marks, next, n, 1);
    }
}

int twophase_cover_write(struct twophase *t, const struct access_block *b, int64_t low,
                         int64_t high)
{
    int64_t first = low >> b->shift, n = ((high - 1) >> b->shift) + 1, end;
    int result = NC_NOERR;
    if (low >= high) return NC_NOERR;
    for (int64_t i = end_of(b->marks, first, n, 0); i < n;
         i = end_of(b->marks, end, n, 0)) {
        bool holes;
        int64_t at = i << b->shift;
        end = end_of_group(b, i, n, &holes);
        int err = holes ? fill_holes(t, b, i, end) : NC_NOERR;
        if (err == NC_NOERR)
            err =
                file_write(t->file, b->origin + at, b->bytes + at, (end - i) << b->shift);
        if (result == NC_NOERR) result = err;
    }
    memset(b->marks + first, 0, (size_t)(n - first));
    return result;
}
