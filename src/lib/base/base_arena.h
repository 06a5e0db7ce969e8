/* An arena: many small allocations that are freed together. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct base_arena_chunk;

/* An arena must be zero-initialized. */
struct base_arena {
    struct base_arena_chunk *head; /* the chunk being filled */
    size_t used;                   /* bytes allocated from this chunk */
};

/* Allocates `size` bytes, aligned for any type and not zeroed. Returns NULL if out of
 * memory. Chunks grow geometrically, so n allocations cost O(n) and at most a quarter of
 * the memory is unused. */
void *base_arena_alloc(struct base_arena *arena, size_t size);

/* Like base_arena_alloc, but aligned only to `align`, a power of two that does not exceed
 * the alignment of max_align_t. For strings and other small objects. */
void *base_arena_alloc_packed(struct base_arena *arena, size_t size, size_t align);

/* Frees all allocations. The arena can be used again. */
void base_arena_free(struct base_arena *arena);

#endif
