/* Sorts lists of segments, and finds overlaps. */
#include "base_segments.h"

#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_sort.h"

/* Moves segment keys[i].index to place i, for all i. `copy` has space for the list. */
static void permute(void *list, int64_t n, size_t size, const struct base_key *keys,
                    void *copy)
{
    char *to = list;
    memcpy(copy, list, (size_t)n * size);
    for (int64_t i = 0; i < n; i++, to += size)
        memcpy(to, base_segment_at(copy, keys[i].index, size), size);
}

int base_segments_sort(void *list, int64_t n, size_t size)
{
    struct base_key few[128], *keys = few;
    int64_t i = 1;
    while (i < n &&
           base_segment_at(list, i - 1, size)[0] <= base_segment_at(list, i, size)[0])
        i++;
    if (i >= n) return NC_NOERR;
    size_t bytes = (size_t)n * (2 * sizeof *keys + size);
    if (bytes > sizeof few) keys = base_malloc(bytes);
    if (keys == NULL) return NC_ENOMEM;
    for (i = 0; i < n; i++) { /* negative offsets come first */
        uint64_t key = (uint64_t)base_segment_at(list, i, size)[0] ^ (uint64_t)1 << 63;
        keys[i] = (struct base_key){key, i};
    }
    base_sort_keys(keys, keys + n, n);
    permute(list, n, size, keys, keys + 2 * n);
    if (keys != few) base_free(keys);
    return NC_NOERR;
}

int64_t base_segments_find_overlap(const void *list, int64_t n, size_t size)
{
    for (int64_t i = 0; i < n - 1; i++)
        if (base_segment_end(base_segment_at(list, i, size)) >
            base_segment_at(list, i + 1, size)[0])
            return i;
    return -1;
}
