/* Counted allocation. The library counts every byte that it allocates, so tests can check
 * for leaks and memory limits (ncmpi_inq_malloc_size and related functions). Memory is
 * used for:
 *
 * - Transfers. The memory does not depend on the size of a request: a hyperslab is stored
 *   as a few loops, not as a list of offsets. Values are staged in tiles of at most 1 MiB
 *   and 65536 pieces for direct writes, and of nc_ibuf_size (16 MiB) through a view.
 *   Values that need no conversion are not staged, and if a get's values are contiguous,
 *   their bytes are swapped in place. A single short run uses the stack.
 * - A node's shared memory for the two-phase exchange: two buffers, marks and message
 *   areas (twophase.h). A buffer has nc_node_share_size (256 KiB, at most 4 MiB) for each
 *   process, or a stripe (at most 4 MiB) for each storing process, whichever is larger,
 *   rounded down to a power of 2. Marks are at most as large as the buffers, and only the
 *   parts in use occupy memory. With several nodes, the areas are two and a half times as
 *   large as a buffer. At 256 KiB this amounts to at most 1 MiB per process on one node,
 *   and 1.6 MiB on several. A process that takes part in the exchange also has two
 *   message buffers, 32 bytes for each node and, during gets, the queries from other
 *   nodes until they are answered.
 * - Up to two of these shared memory segments, which are cached from the close of a
 *   dataset until MPI ends.
 * - Headers. A header takes memory proportional to its size in the file, whatever its
 *   counts claim. Names and values are in an arena.
 * - Attached buffers (ncmpi_buffer_attach), which are as large as the user requests.
 *
 * ncmpi_inq_malloc_size is 0 when every dataset is closed, which the tests check. Memory
 * that a deferred close still uses is not reported if no dataset is open. It is freed
 * when the close is complete. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Like malloc, calloc, realloc, free and strdup, but counted. A request for 0 bytes
 * returns a pointer that can be freed. All return NULL if out of memory or on overflow.
 * Thread-safe. */
void *base_malloc(size_t size);
void *base_calloc(size_t count, size_t size);
void *base_realloc(void *ptr, size_t size);
void base_free(void *ptr);
char *base_strdup(const char *text);

/* Grows a list to at least `needed` entries of `size` bytes. Adds at least half of the
 * capacity, so that n entries cost O(n). Returns the list, which may have moved. If out
 * of memory, returns NULL and leaves the list unchanged. */
void *base_grow_list(void *list, int64_t *capacity, int64_t needed, size_t size);
static inline void *base_grow(void *list, int64_t *capacity, int64_t needed, size_t size)
{
    if (list != NULL && needed <= *capacity) return list;
    return base_grow_list(list, capacity, needed, size);
}

/* Excludes cached memory from the count, or includes it again, so that a program sees
 * only leaks after its last close. ptr may be NULL. */
void base_mem_exclude(void *ptr, bool aside);

/* Return the number of bytes in use, and the maximum so far, excluding bookkeeping. */
int64_t base_mem_in_use(void);
int64_t base_mem_high_water(void);

/* Resets the maximum to the current usage. For tests. */
void base_mem_reset_high_water(void);

#endif
