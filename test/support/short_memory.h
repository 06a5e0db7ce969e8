/* Memory that is short when a test says so. The test is linked with $(SHORT_MEMORY) in
 * its LDFLAGS, by which malloc and its siblings come by here. */
#ifndef SHORT_MEMORY_H
#define SHORT_MEMORY_H

/* Allocations that still succeed, after which one fails; -1, as at first: all do. */
extern int short_memory_in;

#endif
