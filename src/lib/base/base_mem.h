/* Counted allocation: every byte the library holds is known, so that leaks
 * and memory bounds can be tested (ncmpi_inq_malloc_size and its siblings). */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* malloc, calloc (of count * size, overflow checked), realloc, free and strdup
 * with the same contracts as in <stdlib.h>; a request for 0 bytes returns a
 * pointer that can be freed. NULL when memory is short. Thread-safe. */
void *base_malloc(size_t size);
void *base_calloc(size_t count, size_t size);
void *base_realloc(void *ptr, size_t size);
void base_free(void *ptr);
char *base_strdup(const char *text);

/* Makes room in a list for `needed` entries of `size` bytes, where there is not: half as
 * many again and a few, so that n entries cost O(n). Returns the list, which the caller
 * keeps in the place of the old one; NULL when memory is short, and the old one is as
 * before. */
void *base_grow_list(void *list, int64_t *capacity, int64_t needed, size_t size);
static inline void *base_grow(void *list, int64_t *capacity, int64_t needed, size_t size)
{
    if (list != NULL && needed <= *capacity) return list;
    return base_grow_list(list, capacity, needed, size);
}

/* Memory that nobody uses and that is kept for who comes next does not count meanwhile:
 * what a program sees after its last close is what was lost. ptr may be NULL. */
void base_mem_set_aside(void *ptr, bool aside);

/* Bytes in use now, and the most there ever were, bookkeeping left out. */
int64_t base_mem_in_use(void);
int64_t base_mem_high_water(void);

/* From here on, the most there ever was is what there is now. For tests. */
void base_mem_forget_high_water(void);

#endif
