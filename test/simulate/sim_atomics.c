/* Turns atomic accesses to shared memory into simulation steps. Sources that use shared
 * memory are compiled with -fsanitize=thread, so each atomic access calls a sanitizer
 * function. This file replaces these functions with ones that let other processes and
 * threads run before each access. Accesses that are not atomic are not steps. */
#include <stddef.h>
#include <stdint.h>

#include "sim.h"

/* Simulates a load. A process that repeatedly loads the same value from the same address
 * is polling. After a few such loads, further ones are not steps. */
static void look(const volatile void *at, uint64_t value)
{
    enum { OFTEN = 3 };
    struct sim_process *p = sim_self();
    if (p == NULL || !sim_the_plan()->fine) return;
    p->looks = p->looked_at == at && p->saw == value ? p->looks + 1 : 0;
    p->looked_at = at;
    p->saw = value;
    if (p->looks < OFTEN) (void)sim_step("look", "", (intptr_t)at, 0);
}

static void change(const volatile void *at)
{
    struct sim_process *p = sim_self();
    if (p == NULL || !sim_the_plan()->fine) return;
    p->looked_at = NULL;
    (void)sim_step("change", "", (intptr_t)at, 0);
}

/* The compiler determines these names and arguments. */
#define CHANGE(N, T, name, new)                                                          \
    T __tsan_atomic##N##_##name(volatile T *at, T value, int order)                      \
    {                                                                                    \
        (void)order;                                                                     \
        change(at);                                                                      \
        const T old = *at;                                                               \
        *at = (T)(new);                                                                  \
        return old;                                                                      \
    }
#define COMPARE(N, T, name)                                                              \
    int __tsan_atomic##N##_##name(volatile T *at, T *old, T value, int order, int other) \
    {                                                                                    \
        (void)order, (void)other;                                                        \
        change(at);                                                                      \
        const T is = *at, wanted = *old;                                                 \
        if (is == wanted) *at = value;                                                   \
        *old = is;                                                                       \
        return is == wanted;                                                             \
    }
#define ATOMICS(N, T)                                                                    \
    T __tsan_atomic##N##_load(const volatile T *at, int order)                           \
    {                                                                                    \
        (void)order;                                                                     \
        look(at, *at);                                                                   \
        return *at;                                                                      \
    }                                                                                    \
    void __tsan_atomic##N##_store(volatile T *at, T value, int order)                    \
    {                                                                                    \
        (void)order;                                                                     \
        change(at);                                                                      \
        *at = value;                                                                     \
    }                                                                                    \
    CHANGE(N, T, exchange, value)                                                        \
    CHANGE(N, T, fetch_add, old + value)                                                 \
    CHANGE(N, T, fetch_sub, old - value)                                                 \
    CHANGE(N, T, fetch_or, old | value)                                                  \
    CHANGE(N, T, fetch_and, old &value)                                                  \
    COMPARE(N, T, compare_exchange_strong)                                               \
    COMPARE(N, T, compare_exchange_weak)
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

/* A no-op: only one process runs at a time, so it sees all earlier accesses. */
void __tsan_atomic_thread_fence(int order)
{
    (void)order;
}

void __tsan_init(void)
{
}

#define PLAIN(name)                                                                      \
    void __tsan_##name(void *at)                                                         \
    {                                                                                    \
        (void)at;                                                                        \
    }
#define BOTH(size) PLAIN(read##size) PLAIN(write##size)
BOTH(1)
BOTH(2)
BOTH(4)
BOTH(8)
BOTH(16)

void __tsan_read_range(void *at, size_t n)
{
    (void)at, (void)n;
}

void __tsan_write_range(void *at, size_t n)
{
    (void)at, (void)n;
}
