/* Writes the marked bytes of a block, which need not be contiguous, to the file.
 *
 * During an exchange no other process writes to this part of the file. So small gaps
 * close to each other may be read from the file first, in order to write one large piece.
 * Bytes that were not put do not change. */
#include <string.h>

#include "base_error.h"
#include "twophase.h"

enum { GAP = 2048 }; /* bytes; reading and rewriting such a gap is cheaper than a call */

/* Returns the end of the run of marks equal to `kind` that begins at i; at most n. */
static int64_t end_of_marks(const unsigned char *marks, int64_t i, int64_t n, int kind)
{
    const unsigned char *end = memchr(marks + i, 1 - kind, (size_t)(n - i));
    return end == NULL ? n : end - marks;
}

/* Reads the gaps between marks i and end from the file. */
static int fill_holes(struct twophase *t, const struct access_block *b, int64_t i,
                      int64_t end)
{
    int64_t low = i << b->shift, n = (end - i) << b->shift;
    int err = access_staging_reserve(t->staging, (size_t)n);
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

/* Returns the end of the last gap to read together with the gap at `hole`, and sets
 * *count to the number of gaps. Each gap is small and close to the previous one. */
static int64_t end_of_holes(const struct access_block *b, int64_t hole, int64_t n,
                            int64_t *count)
{
    int64_t end = hole;
    *count = 0;
    while (hole < n) {
        int64_t next = end_of_marks(b->marks, hole, n, 0);
        if (next == n || (next - end) << b->shift > GAP) break;
        ++*count;
        end = next;
        hole = end_of_marks(b->marks, next, n, 1);
    }
    return end;
}

/* Fills gaps after mark i, and returns the end of the marks that can then be written in
 * one call. Does not fill a single gap: reading it would cost the call that it saves. */
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
