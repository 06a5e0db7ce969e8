/* Makes one of the library's allocations fail in the calling process. To use it, add
 * shortage.c to a test's sources and $(SHORTAGE_WRAP) to its LDFLAGS. */
#ifndef SHORTAGE_H
#define SHORTAGE_H

#include <stdbool.h>

/* Makes the nth allocation from now fail; 1 is the next one. Later allocations
 * succeed. */
void shortage_arm(long nth);

/* Suspends or resumes the plan set by shortage_arm. While it is suspended, allocations do
 * not fail and are not counted. */
void shortage_hold(bool on);

/* Ends the plan. Returns whether it has made an allocation fail. */
bool shortage_disarm(void);

#endif
