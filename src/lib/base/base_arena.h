/* An arena: many small allocations, freed all at once. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct base_arena_chunk;

/* Zero-initialised is empty and ready. */
struct base_arena {
    struct base_arena_chunk *head; /* the chunk being filled */
    size_t used;                   /* bytes taken from it */
};

/* `size` bytes, aligned for any type, not zeroed; NULL when memory is short.
 * Chunks grow geometrically, so n allocations cost O(n) and at most a quarter
 * of the memory is unused. */
void *base_arena_alloc(struct base_arena *arena, size_t size);

/* Likewise, aligned to `align` only, a power of two up to that of max_align_t: for
 * strings and the like, of which there are many. */
void *base_arena_alloc_packed(struct base_arena *arena, size_t size, size_t align);

/* Frees everything; the arena is empty and ready again. */
void base_arena_free(struct base_arena *arena);

#endif
