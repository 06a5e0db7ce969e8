/* Threads, mutexes, conditions and futexes. A thread is a SimGrid actor, like the process
 * to which it belongs. Threads always wait on an address (sim_wait). A thread runs until
 * it reaches a step or waits, so a mutex is just a word that is nonzero while the mutex
 * is locked. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <simgrid/actor.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"
#include "sim_wrapped.h"

/* ---- waiting ---- */

/* The semaphore of a sleeper, with a reference count. Releasing the semaphore lets other
 * actors run, and the sleeper may meanwhile time out and return. Therefore both the
 * sleeper and the waker hold a reference. */
struct bell {
    sg_sem_t rings;
    int holders;
};

struct sleeper {
    const void *address;
    uint64_t number; /* serial number of the sleeper */
    struct bell *bell;
    struct sleeper *next;
};
static struct sleeper *sleepers, **last = &sleepers;
static uint64_t numbers;

static void let_go(struct bell *b)
{
    if (--b->holders > 0) return;
    sg_sem_destroy(b->rings);
    free(b);
}

static void leave(struct sleeper *s)
{
    struct sleeper **p = &sleepers;
    while (*p != NULL && *p != s)
        p = &(*p)->next;
    if (*p == NULL) return;
    *p = s->next;
    if (s->next == NULL) last = p;
}

/* Adds the caller to the list of sleepers. From then on, sim_wake can wake it. */
static void lie_down(struct sleeper *me, const void *address)
{
    *me = (struct sleeper){address, ++numbers, sim_room(sizeof *me->bell), NULL};
    *me->bell = (struct bell){sg_sem_init(0), 1};
    *last = me;
    last = &me->next;
}

void sim_stay_dead(void)
{
    if (sim_self() != NULL && sim_self()->dead) sg_actor_suspend(sg_actor_self());
}

static void sleep_until(struct sleeper *me, double until)
{
    if (until == 0)
        sg_sem_acquire(me->bell->rings);
    else
        (void)sg_sem_acquire_timeout(me->bell->rings,
                                     until > sim_clock() ? until - sim_clock() : 1e-9);
    leave(me);
    let_go(me->bell);
    sim_stay_dead(); /* a dead process must not continue without descriptors */
}

void sim_wait(const void *address, double until)
{
    struct sleeper me;
    lie_down(&me, address);
    sleep_until(&me, until);
}

/* Returns the first thread that sleeps on the address and whose serial number is at most
 * `number`. */
static struct sleeper *find_sleeper(const void *address, uint64_t number)
{
    struct sleeper *s = sleepers;
    while (s != NULL && (s->address != address || s->number > number))
        s = s->next;
    return s;
}

void sim_wake(const void *address, long most)
{
    const uint64_t until = numbers;
    struct sleeper *s;
    for (; most > 0 && (s = find_sleeper(address, until)) != NULL; most--) {
        struct bell *b = s->bell;
        b->holders++;
        leave(s);
        sg_sem_release(b->rings);
        let_go(b);
    }
}

static double deadline(const struct timespec *t)
{
    return (double)t->tv_sec + 1e-9 * (double)t->tv_nsec;
}

/* ---- futexes and sleep ---- */

long __wrap_syscall(long number, ...)
{
    va_list args;
    va_start(args, number);
    if (number != SYS_futex) { /* the library did not make this call */
        long a[6];
        for (int i = 0; i < 6; i++)
            a[i] = va_arg(args, long);
        va_end(args);
        return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
    unsigned *word = va_arg(args, unsigned *);
    int what = va_arg(args, int) & FUTEX_CMD_MASK;
    unsigned value = va_arg(args, unsigned);
    const struct timespec *time = va_arg(args, const struct timespec *);
    va_end(args);
    (void)sim_step("futex", "", what, value);
    if (what == FUTEX_WAKE) {
        sim_wake(word, (long)value);
        return 1;
    }
    if (*(const volatile unsigned *)word != value) {
        errno = EAGAIN;
        return -1;
    }
    sim_wait(word, what == FUTEX_WAIT && time != NULL ? sim_clock() + deadline(time) : 0);
    return 0;
}

int __wrap_sched_yield(void)
{
    (void)sim_step("yield", "", 0, 0);
    sg_actor_sleep_for(1e-6);
    return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)left;
    (void)sim_step("sleep", "", 0, 0);
    sg_actor_sleep_for(deadline(time));
    return 0;
}

/* ---- threads ---- */

static void begin(int argc, char **argv)
{
    struct sim_thread *t = sg_actor_self_get_data();
    (void)argc, (void)argv;
    t->result = t->run(t->argument);
    t->over = true;
    sim_thread_ends(sg_actor_self(), t);
    sim_wake(t, 1000);
}

int sim_thread_create(pthread_t *thread, const pthread_attr_t *attributes,
                      void *(*run)(void *), void *argument)
{
    struct sim_thread *t = calloc(1, sizeof *t);
    (void)attributes;
    if (t == NULL || sim_step("thread", "", 0, 0) != 0) {
        free(t);
        return EAGAIN;
    }
    *t = (struct sim_thread){.process = sim_self(), .run = run, .argument = argument};
    /* Runs the thread on a different host. SMPI would take a thread on the same host for
     * a process. */
    sg_actor_t actor = sg_actor_init("thread", sg_host_by_name("elsewhere"));
    sg_actor_set_data(actor, t);
    sim_thread_begins(actor, t);
    sg_actor_start(actor, begin, 0, NULL);
    *thread = (pthread_t)t;
    return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
    struct sim_thread *t = (struct sim_thread *)thread;
    while (!t->over)
        sim_wait(t, 0);
    if (result != NULL) *result = t->result;
    return 0;
}

int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    (void)how, (void)set, (void)old;
    return 0;
}

/* ---- mutexes and conditions, whose static initializers are all zeros ---- */

static int *word_of(pthread_mutex_t *m)
{
    return (int *)m;
}

int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a)
{
    (void)a;
    *word_of(m) = 0;
    return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    (void)sim_step("mutex", "", 0, 0);
    while (*word_of(m) != 0)
        sim_wait(m, 0);
    *word_of(m) = 1;
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
    *word_of(m) = 0;
    sim_wake(m, 1);
    return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *m)
{
    (void)m;
    return 0;
}

int __wrap_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a)
{
    (void)c, (void)a;
    return 0;
}

int __wrap_pthread_cond_destroy(pthread_cond_t *c)
{
    (void)c;
    return 0;
}

/* Waits for a condition. The caller becomes a sleeper before it unlocks the mutex,
 * because another thread may lock the mutex and signal immediately. */
static void wait_until(pthread_cond_t *c, pthread_mutex_t *m, double until)
{
    struct sleeper me;
    lie_down(&me, c);
    (void)__wrap_pthread_mutex_unlock(m);
    sleep_until(&me, until);
    (void)__wrap_pthread_mutex_lock(m);
}

int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    wait_until(c, m, 0);
    return 0;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                  const struct timespec *time)
{
    wait_until(c, m, deadline(time));
    return sim_clock() >= deadline(time) ? ETIMEDOUT : 0;
}

int __wrap_pthread_cond_signal(pthread_cond_t *c)
{
    sim_wake(c, 1);
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *c)
{
    sim_wake(c, 1000000);
    return 0;
}
