/* What the machine's files share. */
#ifndef SCALE_MACHINE_IMPL_H
#define SCALE_MACHINE_IMPL_H

#include "machine.h"

extern struct machine_counts machine_count;

void machine_fail(const char *what, const char *which) __attribute__((noreturn));

/* realloc of old to n elements; the new ones are zero. */
void *machine_grow(void *array, long old, long n, size_t size);

#endif
