/* Replacements for calls within a node that would block the whole simulation. The linker
 * redirects the library's calls to NAME to __wrap_NAME. */
#include <errno.h>
#include <linux/futex.h>
#include <mpi.h>
#include <sched.h>
#include <simgrid/actor.h>
#include <simgrid/semaphore.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>

#include "machine_impl.h"

/* ---- shared memory of a node ---- */

int __wrap_MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                                   void *base, MPI_Win *win)
{
    int nprocs = 1;
    MPI_Comm_size(comm, &nprocs);
    if (size / nprocs > machine_count.window_bytes)
        machine_count.window_bytes = size / nprocs;
    return MPI_Win_allocate_shared(size, unit, info, comm, base, win);
}

/* ---- waits for other processes of the node ---- */

struct sleeper {
    const void *word;
    sg_sem_t awake;       /* a semaphore, because suspending a process also stops its
                           * messages */
    struct sleeper *next; /* next sleeper in the queue, in order of arrival */
};
enum { QUEUES = 4096 };
static struct sleeper *queues[QUEUES];

static struct sleeper **queue_of(const void *word)
{
    return &queues[((uintptr_t)word >> 6) * 0x9E3779B97F4A7C15u >> 52];
}

static long futex_wait(const unsigned *word, unsigned old)
{
    struct sleeper me = {word, NULL, NULL};
    machine_settle();
    if (*(const volatile unsigned *)word != old) {
        errno = EAGAIN;
        return -1;
    }
    machine_count.waits++;
    me.awake = sg_sem_init(0);
    struct sleeper **last = queue_of(word);
    while (*last != NULL)
        last = &(*last)->next;
    *last = &me;
    sg_sem_acquire(me.awake);
    sg_sem_destroy(me.awake);
    sg_actor_sleep_for(machine_get()->wake_time);
    return 0;
}

static long futex_wake(const unsigned *word, unsigned most)
{
    long woken = 0;
    machine_settle();
    for (struct sleeper **s = queue_of(word); *s != NULL && woken < (long)most;) {
        if ((*s)->word != word) {
            s = &(*s)->next;
            continue;
        }
        sg_sem_t awake = (*s)->awake;
        *s = (*s)->next;
        sg_sem_release(awake);
        woken++;
    }
    return woken;
}

long __wrap_syscall(long number, ...)
{
    va_list args;
    va_start(args, number);
    if (number != SYS_futex) machine_fail("unknown system call", "in the library");
    unsigned *word = va_arg(args, unsigned *);
    int what = va_arg(args, int) & FUTEX_CMD_MASK;
    unsigned value = va_arg(args, unsigned);
    va_end(args);
    if (what == FUTEX_WAIT) return futex_wait(word, value);
    if (what == FUTEX_WAKE) return futex_wake(word, value);
    machine_fail("unknown operation", "of a futex");
}

int __wrap_sched_yield(void)
{
    machine_settle();
    sg_actor_sleep_for(1e-6);
    return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)left;
    machine_settle();
    sg_actor_sleep_for((double)time->tv_sec + 1e-9 * (double)time->tv_nsec);
    return 0;
}
