/* Makes calls to malloc and its siblings fail. To use it, add $(SHORT_MEMORY), which
 * redirects these functions, to the test's LDFLAGS. */
#ifndef SHORT_MEMORY_H
#define SHORT_MEMORY_H

/* Number of further allocations that succeed before one fails. If -1, the initial value,
 * no allocation fails. */
extern int short_memory_in;

#endif
