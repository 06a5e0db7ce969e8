/* Copies a region's bytes to and from contiguous memory. */
#include "region_tree.h"

#include <string.h>

/* Copies count pieces of `length` bytes. When this is inlined with a constant length,
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

/* Copies pieces of any length. Not inlined, so that the code for short lengths need not
 * save registers for the calls made here. */
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

void region_copy_pieces(void *to, int64_t to_step, const void *from, int64_t from_step,
                        int64_t count, int64_t length)
{
    copy_strip(to, to_step, from, from_step, count, length);
}

/* Parameters for copying one plane of pieces to another. */
struct copy {
    unsigned char *to;
    const unsigned char *from;
    int64_t to_step, to_pitch, from_step, from_pitch;
    int64_t count, rows, length;
};

/* Copies a part of each row: `count` pieces, starting with piece `first`. */
static void copy_rows(const struct copy *c, int64_t first, int64_t count)
{
    unsigned char *to = c->to + first * c->to_step;
    const unsigned char *from = c->from + first * c->from_step;
    for (int64_t r = 0; r < c->rows; r++)
        copy_strip(to + r * c->to_pitch, c->to_step, from + r * c->from_pitch,
                   c->from_step, count, c->length);
}

/* Copies a plane. In a transposition, the neighbours of a piece in its cache line belong
 * to the next rows. So only a few pieces of each row are copied at a time, while their
 * cache lines are still present. If pieces overlap, whole rows are copied, because the
 * last piece must take precedence. */
static void copy_plane(const struct copy *c, const struct region_plane *p)
{
    enum { AT_ONCE = 64 };
    int64_t pitch = p->pitch < 0 ? -p->pitch : p->pitch;
    int64_t stride = p->strip.stride < 0 ? -p->strip.stride : p->strip.stride;
    int64_t part = c->count;
    if (c->rows > 1 && pitch >= c->length && stride / c->rows >= pitch) part = AT_ONCE;
    for (int64_t first = 0; first < c->count; first += part)
        copy_rows(c, first, c->count - first < part ? c->count - first : part);
}

/* Offsets may be addresses, with a NULL base (MPI_BOTTOM). In C, adding an offset to a
 * null pointer is undefined. */
static unsigned char *place_in_memory(const void *base, int64_t offset)
{
    return (unsigned char *)((uintptr_t)base + (uintptr_t)offset);
}

/* Returns n - done in the cursor's type, limited to its maximum. */
static int64_t rest(size_t n, size_t done)
{
    return n - done > INT64_MAX ? INT64_MAX : (int64_t)(n - done);
}

size_t region_gather(struct region_cursor *c, const void *base, void *packed, size_t n)
{
    unsigned char *to = packed;
    size_t done = 0;
    struct region_plane p;
    while (done < n && region_next_plane(c, rest(n, done), &p)) {
        const struct region_strip *s = &p.strip;
        const struct copy copy = {.to = to + done,
                                  .to_step = s->length,
                                  .to_pitch = s->length * s->count,
                                  .from = place_in_memory(base, s->offset),
                                  .from_step = s->stride,
                                  .from_pitch = p.pitch,
                                  .count = s->count,
                                  .rows = p.rows,
                                  .length = s->length};
        copy_plane(&copy, &p);
        done += (size_t)(s->count * s->length * p.rows);
    }
    return done;
}

size_t region_scatter(struct region_cursor *c, void *base, const void *packed, size_t n)
{
    const unsigned char *from = packed;
    size_t done = 0;
    struct region_plane p;
    while (done < n && region_next_plane(c, rest(n, done), &p)) {
        const struct region_strip *s = &p.strip;
        const struct copy copy = {.to = place_in_memory(base, s->offset),
                                  .to_step = s->stride,
                                  .to_pitch = p.pitch,
                                  .from = from + done,
                                  .from_step = s->length,
                                  .from_pitch = s->length * s->count,
                                  .count = s->count,
                                  .rows = p.rows,
                                  .length = s->length};
        copy_plane(&copy, &p);
        done += (size_t)(s->count * s->length * p.rows);
    }
    return done;
}
