/* Name table: finds the index of a name in an array that the caller owns. */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* A zero-initialized table is empty. */
struct base_names {
    struct base_names_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t used;     /* slots that are not empty, including those of removed names */
};

/* Returns the name with this index. `of` is the caller's context. */
typedef const char *base_names_text(const void *of, int index);

/* Returns a 64-bit hash of bytes that is well mixed, but not cryptographic. The seed is
 * initially 0. To hash a sequence, pass each result as the next seed. */
uint64_t base_hash(const void *bytes, size_t length, uint64_t seed);

/* Returns the index of a name, or -1. */
int base_names_find(const struct base_names *t, const char *name, base_names_text *text,
                    const void *of);

/* Adds an index under a name, which must not be in the table. Returns -1 if out of
 * memory. */
int base_names_add(struct base_names *t, const char *name, int index);

/* Adds the indices first ... end - 1, each under the name that `text` returns, which is
 * faster than adding them one by one. Skips names that are already in the table. Returns
 * the number of entries added, or -1 if out of memory (the table is unchanged). */
int base_names_add_range(struct base_names *t, int first, int end, base_names_text *text,
                         const void *of);

/* Reserves space for `more` names. Returns -1 if out of memory. */
int base_names_reserve(struct base_names *t, size_t more);

/* Removes an index that was added under a name, if it is in the table. */
void base_names_remove(struct base_names *t, const char *name, int index);

/* Decrements all indices above a removed one, whose entry the caller has deleted. */
void base_names_close_gap(struct base_names *t, int index);

/* Copies *from to *to, which is uninitialized. Returns -1 if out of memory (*to is
 * empty). */
int base_names_copy(struct base_names *to, const struct base_names *from);

void base_names_free(struct base_names *t);

#endif
