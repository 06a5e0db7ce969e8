/* Radix sort by the bytes of the key. Skips bytes that are equal in all keys. A few keys
 * are sorted by insertion. */
#include "base_sort.h"

#include <stdbool.h>
#include <string.h>

enum { DIGITS = 256, FEW = 32 };

static void sort_by_byte(const struct base_key *from, struct base_key *to, int64_t n,
                         int shift)
{
    int64_t next[DIGITS] = {0}, sum = 0;
    for (int64_t i = 0; i < n; i++)
        next[from[i].key >> shift & (DIGITS - 1)]++;
    for (int i = 0; i < DIGITS; i++) {
        int64_t many = next[i];
        next[i] = sum;
        sum += many;
    }
    for (int64_t i = 0; i < n; i++)
        to[next[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

static void insert_in_order(struct base_key *keys, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        struct base_key key = keys[i];
        int64_t at = i;
        for (; at > 0 && keys[at - 1].key > key.key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

void base_sort_keys(struct base_key *keys, struct base_key *spare, int64_t n)
{
    if (n <= FEW) {
        insert_in_order(keys, n);
        return;
    }
    struct base_key *from = keys, *to = spare;
    uint64_t differ = 0;
    bool ordered = true;
    for (int64_t i = 1; i < n; i++) {
        differ |= keys[i].key ^ keys[0].key;
        ordered = ordered && keys[i - 1].key <= keys[i].key;
    }
    for (int shift = 0; shift < 64 && !ordered; shift += 8) {
        if ((differ >> shift & (DIGITS - 1)) == 0) continue;
        sort_by_byte(from, to, n, shift);
        struct base_key *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != keys) memcpy(keys, from, (size_t)n * sizeof *keys);
}
