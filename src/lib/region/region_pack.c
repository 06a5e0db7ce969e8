/* Moving the bytes of a region to and from one contiguous piece of memory. */
#include "region.h"

#include <string.h>

/* Copies count pieces of `length` bytes. With a length known where it is inlined,
 * each copy is one load and one store. */
static inline __attribute__((always_inline)) void
copy_each(unsigned char *to, int64_t to_step, const unsigned char *from,
          int64_t from_step, int64_t count, size_t length)
{
    for (; count >= 4; count -= 4) {
        memcpy(to, from, length);
        memcpy(to + to_step, from + from_step, length);
        memcpy(to + 2 * to_step, from + 2 * from_step, length);
        memcpy(to + 3 * to_step, from + 3 * from_step, length);
        to += 4 * to_step;
        from += 4 * from_step;
    }
    for (; count > 0; count--, to += to_step, from += from_step)
        memcpy(to, from, length);
}

/* Of any length; apart, so that the short ones need not save registers for its calls. */
static __attribute__((noinline)) void copy_long(unsigned char *to, int64_t to_step,
                                                const unsigned char *from,
                                                int64_t from_step, int64_t count,
                                                size_t length)
{
    copy_each(to, to_step, from, from_step, count, length);
}

static void copy_strip(unsigned char *to, int64_t to_step, const unsigned char *from,
                       int64_t from_step, int64_t count, int64_t length)
{
    switch (length) {
    case 1:
        copy_each(to, to_step, from, from_step, count, 1);
        break;
    case 2:
        copy_each(to, to_step, from, from_step, count, 2);
        break;
    case 4:
        copy_each(to, to_step, from, from_step, count, 4);
        break;
    case 8:
        copy_each(to, to_step, from, from_step, count, 8);
        break;
    case 16:
        copy_each(to, to_step, from, from_step, count, 16);
        break;
    default:
        copy_long(to, to_step, from, from_step, count, (size_t)length);
        break;
    }
}

/* Offsets may be addresses, with base NULL (MPI_BOTTOM); adding them to a null
 * pointer would be no C. */
static unsigned char *place(const void *base, int64_t offset)
{
    return (unsigned char *)((uintptr_t)base + (uintptr_t)offset);
}

/* How much of n bytes is left to do, as the cursor counts. */
static int64_t rest(size_t n, size_t done)
{
    return n - done > INT64_MAX ? INT64_MAX : (int64_t)(n - done);
}

size_t region_gather(struct region_cursor *c, const void *base, void *packed, size_t n)
{
    unsigned char *to = packed;
    size_t done = 0;
    struct region_strip s;
    while (done < n && region_next(c, rest(n, done), INT64_MAX, &s)) {
        copy_strip(to + done, s.length, place(base, s.offset), s.stride, s.count,
                   s.length);
        done += (size_t)(s.count * s.length);
    }
    return done;
}

size_t region_scatter(struct region_cursor *c, void *base, const void *packed, size_t n)
{
    const unsigned char *from = packed;
    size_t done = 0;
    struct region_strip s;
    while (done < n && region_next(c, rest(n, done), INT64_MAX, &s)) {
        copy_strip(place(base, s.offset), s.stride, from + done, s.length, s.count,
                   s.length);
        done += (size_t)(s.count * s.length);
    }
    return done;
}
