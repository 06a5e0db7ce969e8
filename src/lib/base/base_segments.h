/* Lists of segments. A segment is a contiguous stretch of a file, a variable or memory. A
 * list is an array of n structs, each of `size` bytes. They may be of any type whose
 * first members are two int64_t: the segment's offset and its length. The end of a
 * segment must not exceed INT64_MAX. */
#ifndef BASE_SEGMENTS_H
#define BASE_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

/* Returns the offset and the length of segment i. */
static inline const int64_t *base_segment_at(const void *list, int64_t i, size_t size)
{
    return (const int64_t *)(const void *)((const char *)list + (size_t)i * size);
}

static inline int64_t base_segment_end(const int64_t *segment)
{
    return segment[0] + segment[1];
}

/* Sorts structs by their first member, the offset. The sort is stable, and fast if the
 * list ascends already. NC_ENOMEM; then the list is unchanged. */
int base_segments_sort(void *list, int64_t n, size_t size);

/* Returns the first segment of a sorted list that ends after its successor begins; -1 if
 * the segments are disjoint. */
int64_t base_segments_find_overlap(const void *list, int64_t n, size_t size);

/* Returns the first segment that ends after `at`; n if there is none. The list must be
 * sorted and disjoint. */
static inline int64_t base_segments_find(const void *list, int64_t n, size_t size,
                                         int64_t at)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (base_segment_end(base_segment_at(list, middle, size)) <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
