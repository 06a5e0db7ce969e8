/* Waits for words in shared memory to change: polls first, then sleeps on a futex (or, on
 * systems other than Linux, yields the processor). node.h explains why no wake-up is
 * lost. */
#include "node.h"

#include <limits.h>
#include <stddef.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#else
#include <sched.h>
#endif

int node_spins(int nprocs)
{
    enum { FEW = 500, MANY = 20000 };
    return sysconf(_SC_NPROCESSORS_ONLN) < nprocs ? FEW : MANY;
}

/* Sleeps while the word equals `old`. May return early. */
static void sleep_on(atomic_uint *word, unsigned old)
{
#ifdef __linux__
    (void)syscall(SYS_futex, word, FUTEX_WAIT, old, NULL, NULL, 0);
#else
    (void)word;
    (void)old;
    (void)sched_yield();
#endif
}

static void wake_sleepers(struct node_word *w)
{
    if (atomic_load(&w->sleepers) == 0) return;
#ifdef __linux__
    (void)syscall(SYS_futex, &w->value, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
#endif
}

unsigned node_word_get(const struct node_word *w)
{
    return atomic_load_explicit(&w->value, memory_order_acquire);
}

void node_word_set(struct node_word *w, unsigned value)
{
    atomic_store(&w->value, value);
    wake_sleepers(w);
}

bool node_word_change(struct node_word *w, unsigned from, unsigned to)
{
    return atomic_compare_exchange_strong(&w->value, &from, to);
}

void node_word_await(struct node_word *w, unsigned value)
{
    unsigned now;
    atomic_fetch_add(&w->sleepers, 1);
    while ((now = atomic_load(&w->value)) != value)
        sleep_on(&w->value, now);
    atomic_fetch_sub(&w->sleepers, 1);
}

void node_arrive(struct node_counter *c)
{
    unsigned value = atomic_fetch_add(&c->word->value, 1) + 1;
    if ((value - c->since) % (unsigned)c->expected == 0) wake_sleepers(c->word);
}

/* Compares counts that wrap around. Their differences are far below 2^31. */
static bool reached(unsigned count, unsigned due)
{
    return (int)(count - due) >= 0;
}

void node_await(const struct node_counter *c, int64_t times)
{
    struct node_word *w = c->word;
    unsigned due = c->since + (unsigned)(times * c->expected), count;
    for (int i = 0; i < c->spins; i++)
        if (reached(atomic_load_explicit(&w->value, memory_order_acquire), due)) return;
    atomic_fetch_add(&w->sleepers, 1);
    while (!reached(count = atomic_load(&w->value), due))
        sleep_on(&w->value, count);
    atomic_fetch_sub(&w->sleepers, 1);
}

void node_end_call(struct node_counter *c, int64_t times)
{
    c->since += (unsigned)(times * c->expected);
}

void node_barrier_all(struct node_counter *c)
{
    node_arrive(c);
    node_await(c, 1);
    node_end_call(c, 1);
}
