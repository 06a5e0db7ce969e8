/* Lets an allocation of the library fail, in the process that asks for it. Add
 * shortage.c to a test's sources and $(SHORTAGE_WRAP) to its LDFLAGS. */
#ifndef SHORTAGE_H
#define SHORTAGE_H

#include <stdbool.h>

/* The nth allocation from now fails, 1 being the next. Only that one. */
void shortage_arm(long nth);

/* Between two calls allocations neither fail nor count. */
void shortage_hold(bool on);

/* No more. Did it come to that allocation? */
bool shortage_disarm(void);

#endif
