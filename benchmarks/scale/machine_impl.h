/* Declarations that are shared by the source files of the machine. */
#ifndef SCALE_MACHINE_IMPL_H
#define SCALE_MACHINE_IMPL_H

#include "machine.h"

extern struct machine_counts machine_count;

void machine_fail(const char *what, const char *which) __attribute__((noreturn));

/* Resizes an array to n elements and clears the new ones. */
void *machine_grow(void *array, long old, long n, size_t size);

#endif
