/* Counted allocation. A hidden header before each block stores its size. */
#include "base_mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Aligning this header as strictly as possible also aligns the memory after it. */
struct block {
    _Alignas(max_align_t) size_t size;
    bool aside;
};

static _Atomic int64_t in_use;
static _Atomic int64_t high_water;

static void count(int64_t change)
{
    int64_t now = atomic_fetch_add(&in_use, change) + change;
    int64_t seen = atomic_load(&high_water);
    while (now > seen && !atomic_compare_exchange_weak(&high_water, &seen, now))
        continue;
}

static void *count_block(struct block *b, size_t size)
{
    if (b == NULL) return NULL;
    b->size = size;
    b->aside = false;
    count((int64_t)size);
    return b + 1;
}

void *base_malloc(size_t size)
{
    if (size > PTRDIFF_MAX - sizeof(struct block)) return NULL;
    return count_block(malloc(sizeof(struct block) + size), size);
}

void *base_calloc(size_t count_, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count_, size, &bytes)) return NULL;
    if (bytes > PTRDIFF_MAX - sizeof(struct block)) return NULL;
    return count_block(calloc(1, sizeof(struct block) + bytes), bytes);
}

void *base_realloc(void *ptr, size_t size)
{
    if (ptr == NULL) return base_malloc(size);
    if (size > PTRDIFF_MAX - sizeof(struct block)) return NULL;

    struct block *old = (struct block *)ptr - 1;
    int64_t before = (int64_t)old->size;
    struct block *b = realloc(old, sizeof(struct block) + size);
    if (b == NULL) return NULL;
    b->size = size;
    count((int64_t)size - before);
    return b + 1;
}

void base_free(void *ptr)
{
    if (ptr == NULL) return;
    struct block *b = (struct block *)ptr - 1;
    if (!b->aside) count(-(int64_t)b->size);
    free(b);
}

void base_mem_exclude(void *ptr, bool aside)
{
    if (ptr == NULL) return;
    struct block *b = (struct block *)ptr - 1;
    if (b->aside == aside) return;
    b->aside = aside;
    count(aside ? -(int64_t)b->size : (int64_t)b->size);
}

char *base_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = base_malloc(size);
    if (copy != NULL) memcpy(copy, text, size);
    return copy;
}

void *base_grow_list(void *list, int64_t *capacity, int64_t needed, size_t size)
{
    size_t bytes;
    int64_t more = *capacity / 2 + 8, most;
    if (__builtin_add_overflow(*capacity, more, &most)) return NULL;
    if (most < needed) most = needed;
    if (__builtin_mul_overflow(most, size, &bytes)) return NULL;
    void *grown = base_realloc(list, bytes);
    if (grown != NULL) *capacity = most;
    return grown;
}

int64_t base_mem_in_use(void)
{
    return atomic_load(&in_use);
}

int64_t base_mem_high_water(void)
{
    return atomic_load(&high_water);
}

void base_mem_reset_high_water(void)
{
    atomic_store(&high_water, atomic_load(&in_use));
}
