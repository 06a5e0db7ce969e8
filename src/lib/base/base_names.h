/* Name table: finds the index of a name in an array the caller keeps. */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty and ready. */
struct base_names {
    struct base_names_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t used;     /* slots not empty, those of removed names included */
};

/* Tells the name that index stands for; `of` is the caller's own. */
typedef const char *base_names_text(const void *of, int index);

/* 64-bit hash of bytes; well mixed, not cryptographic. Start with seed 0 and
 * feed a result as the next seed to hash a sequence. */
uint64_t base_hash(const void *bytes, size_t length, uint64_t seed);

/* The index entered under name, or -1. */
int base_names_find(const struct base_names *t, const char *name, base_names_text *text,
                    const void *of);

/* Enters index under name. Returns 0, or -1 when memory is short (the table is
 * then as before). The caller makes sure that the name is not there yet. */
int base_names_add(struct base_names *t, const char *name, int index);

/* Enters first ... end - 1, each under the name that text tells, but of two with one
 * name only the first; what is there already stays. Faster than one by one. Returns
 * how many were entered, or -1 when memory is short (the table is then as before). */
int base_names_add_range(struct base_names *t, int first, int end, base_names_text *text,
                         const void *of);

/* Makes room for so many more names at once. Returns 0, or -1 when memory is short
 * (the table is then as before). */
int base_names_reserve(struct base_names *t, size_t more);

/* Removes index, entered under name; nothing if it is not there. */
void base_names_remove(struct base_names *t, const char *name, int index);

/* After an index has been removed and its entry taken out of the caller's array:
 * every index behind it goes down by one. */
void base_names_close_gap(struct base_names *t, int index);

/* Makes *to (uninitialised) a copy of *from. Returns 0, or -1 when memory is short
 * (*to is then empty). */
int base_names_copy(struct base_names *to, const struct base_names *from);

void base_names_free(struct base_names *t);

#endif
