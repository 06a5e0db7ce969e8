/* From a block that is partly covered to the file, and not a byte more than was put.
 *
 * While processes move data together nobody else writes to this part of the file: small
 * holes that lie near each other are read, so that one large piece can be written. */
#include <string.h>

#include "base_error.h"
#include "twophase.h"

enum { HOLE = 2048 }; /* reading and writing so many bytes is cheaper than another call */

/* The end of the marks from i on that are `kind`; n at most. */
static int64_t end_of_marks(const unsigned char *marks, int64_t i, int64_t n, int kind)
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
        int64_t hole = end_of_marks(b->marks, i, end, 1);
        i = end_of_marks(b->marks, hole, end, 0);
        memcpy(b->bytes + (hole << b->shift),
               t->staging->bytes + ((hole << b->shift) - low),
               (size_t)((i - hole) << b->shift));
    }
    return err;
}

/* From a hole on, the end of the last one that is to be read with it, and how many they
 * are: each small, and near the one before. */
static int64_t end_of_holes(const struct access_block *b, int64_t hole, int64_t n,
                            int64_t *count)
{
    int64_t end = hole;
    *count = 0;
    while (hole < n) {
        int64_t next = end_of_marks(b->marks, hole, n, 0);
        if (next == n || (next - end) << b->shift > HOLE) break;
        ++*count;
        end = next;
        hole = end_of_marks(b->marks, next, n, 1);
    }
    return end;
}

/* The end of the marks that are written at once, from i on, with holes between them that
 * have been filled. A hole by itself is none of these: to read it costs the call that it
 * would save. */
static int64_t fill_group(struct twophase *t, const struct access_block *b, int64_t i,
                          int64_t n, int *err)
{
    int64_t end = end_of_marks(b->marks, i, n, 1), count;
    for (;;) {
        int64_t filled = end_of_holes(b, end, n, &count);
        if (count < 2) return end;
        int read = fill_holes(t, b, end, filled);
        if (*err == NC_NOERR) *err = read;
        end = end_of_marks(b->marks, filled, n, 1);
    }
}

int twophase_cover_write(struct twophase *t, const struct access_block *b, int64_t low,
                         int64_t high)
{
    int64_t first = low >> b->shift, n = ((high - 1) >> b->shift) + 1, end;
    int result = NC_NOERR;
    if (low >= high) return NC_NOERR;
    for (int64_t i = end_of_marks(b->marks, first, n, 0); i < n;
         i = end_of_marks(b->marks, end, n, 0)) {
        int64_t at = i << b->shift;
        int err = NC_NOERR;
        end = fill_group(t, b, i, n, &err);
        if (err == NC_NOERR)
            err =
                file_write(t->file, b->origin + at, b->bytes + at, (end - i) << b->shift);
        if (result == NC_NOERR) result = err;
    }
    memset(b->marks + first, 0, (size_t)(n - first));
    return result;
}
