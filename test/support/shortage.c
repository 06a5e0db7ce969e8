/* Interposes base_malloc and its siblings. The linker's --wrap option redirects their
 * calls to the functions here. */
#include "shortage.h"

#include <stddef.h>

#include "base_mem.h"

static long until; /* number of allocations until one fails; 0 if none will */
static bool failed, held;

void shortage_arm(long nth)
{
    until = nth;
    failed = false;
}

void shortage_hold(bool on)
{
    held = on;
}

bool shortage_disarm(void)
{
    until = 0;
    return failed;
}

static bool fails(void)
{
    if (held || until == 0 || --until > 0) return false;
    failed = true;
    return true;
}

void *__real_base_malloc(size_t size);
void *__real_base_calloc(size_t count, size_t size);
void *__real_base_realloc(void *ptr, size_t size);
char *__real_base_strdup(const char *text);
void *__wrap_base_malloc(size_t size);
void *__wrap_base_calloc(size_t count, size_t size);
void *__wrap_base_realloc(void *ptr, size_t size);
char *__wrap_base_strdup(const char *text);

void *__wrap_base_malloc(size_t size)
{
    return fails() ? NULL : __real_base_malloc(size);
}

void *__wrap_base_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_base_calloc(count, size);
}

void *__wrap_base_realloc(void *ptr, size_t size)
{
    return fails() ? NULL : __real_base_realloc(ptr, size);
}

char *__wrap_base_strdup(const char *text)
{
    return fails() ? NULL : __real_base_strdup(text);
}
