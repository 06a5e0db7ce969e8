/* Counted allocation: every byte the library holds is known, so that leaks
 * and memory bounds can be tested (ncmpi_inq_malloc_size and its siblings). Where it
 * goes:
 *
 * - A request's size never decides how much memory the library takes: a hyperslab is a
 *   few loops, not a list of offsets, and values are staged tile by tile, 1 MiB and
 *   65536 pieces at most when written directly, nc_ibuf_size (16 MiB) through a view.
 *   Values that need no change are not staged at all, and contiguous ones that are got
 *   are turned round where they lie. One short run goes through the stack.
 * - Shared memory of a node, for what goes together: two buffers, each of
 *   nc_node_share_size (256 KiB, 4 MiB at most) for each process or of a stripe (of 4
 *   MiB at most) for each that stores, whichever is more, rounded down to a power of
 *   2; marks, at most as large as the buffers, used as far as needed; with several
 *   nodes the areas, together two and a half times a buffer. That is up to 1 MiB a
 *   process on one node, 1.6 MiB with several, at 256 KiB. A process that exchanges
 *   with other nodes has besides room for two messages, 32 bytes for each node, and of
 *   gets the questions of the nodes that have some, until they are answered.
 * - Up to two of these shared memories are kept when datasets are closed, until MPI
 *   ends.
 * - A header takes memory in proportion to its bytes in the file, whatever they claim;
 *   names and values live in an arena that is freed as one.
 * - Attached buffers (ncmpi_buffer_attach) are as large as the user says.
 * - All of it is allocated through base_mem.h and counted: ncmpi_inq_malloc_size is 0
 *   when every dataset is closed, and the tests hold us to it. What is held for a
 *   deferred close is not reported once nothing else is open; it is freed when that
 *   close is complete. */
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
