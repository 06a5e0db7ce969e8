/* An arena of chunks. Each new chunk is about a quarter as large as all earlier chunks
 * together. */
#include "base_arena.h"

#include <stdint.h>

#include "base_mem.h"

enum { FIRST_CHUNK = 2048 };

struct base_arena_chunk {
    struct base_arena_chunk *next;
    size_t size;  /* size of data[] in bytes */
    size_t total; /* total size of data[] in this and all earlier chunks */
    _Alignas(max_align_t) unsigned char data[];
};

static struct base_arena_chunk *new_chunk(struct base_arena_chunk *head, size_t least)
{
    size_t before = head == NULL ? 0 : head->total;
    size_t size = before / 4 > FIRST_CHUNK ? before / 4 : FIRST_CHUNK;
    if (size < least) size = least;

    struct base_arena_chunk *chunk = base_malloc(sizeof *chunk + size);
    if (chunk == NULL) return NULL;
    chunk->next = head;
    chunk->size = size;
    chunk->total = before + size;
    return chunk;
}

void *base_arena_alloc_packed(struct base_arena *arena, size_t size, size_t align)
{
    if (size > PTRDIFF_MAX / 2) return NULL;
    size_t at = (arena->used + align - 1) & ~(align - 1);
    if (arena->head == NULL || at > arena->head->size || size > arena->head->size - at) {
        struct base_arena_chunk *chunk = new_chunk(arena->head, size);
        if (chunk == NULL) return NULL;
        arena->head = chunk;
        at = 0;
    }
    arena->used = at + size;
    return arena->head->data + at;
}

void *base_arena_alloc(struct base_arena *arena, size_t size)
{
    return base_arena_alloc_packed(arena, size, _Alignof(max_align_t));
}

void base_arena_free(struct base_arena *arena)
{
    while (arena->head != NULL) {
        struct base_arena_chunk *next = arena->head->next;
        base_free(arena->head);
        arena->head = next;
    }
    arena->used = 0;
}
