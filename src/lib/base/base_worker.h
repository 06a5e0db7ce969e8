/* Worker threads, and the lock and conditions that they share with their owner. They call
 * no MPI, so that any level of thread support does. All signals are blocked in them, but
 * those of a fault: the program's handlers run on the program's own threads.
 *
 * A worker calls `step` with the lock, again as long as it returns true. On false it
 * sleeps until it is woken, and calls it again; it ends when `stop` is set and step
 * returns false. A step that takes long unlocks meanwhile.
 *
 * No wake-up is lost. What step looks at is changed with the lock, and waking follows.
 * From the moment when step looks until the worker sleeps the lock is held: so the change
 * comes before, and step sees it, or after, and finds the worker asleep. The same holds
 * of `stop`, and of what base_worker_wait is called for, in a loop that looks at it.
 * Workers sleep in pthread_cond_wait; nothing is polled. */
#ifndef BASE_WORKER_H
#define BASE_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct base_worker {
    pthread_mutex_t lock;
    pthread_cond_t work;         /* there may be something to do */
    pthread_cond_t done;         /* something was done */
    _Atomic bool stop;           /* set with the lock; may be looked at without */
    struct base_thread *threads; /* those that run; the owner's alone */
};

/* Before all else. It has no thread yet. */
void base_worker_init(struct base_worker *w);

/* One more thread. False: there is none to be had. */
bool base_worker_start(struct base_worker *w, bool (*step)(void *of), void *of);

/* Waits until all threads have ended, having told them to, and takes the worker down.
 * Nobody else uses it any more. */
void base_worker_stop(struct base_worker *w);

void base_worker_lock(struct base_worker *w);
void base_worker_unlock(struct base_worker *w);

/* There is something to do, for one thread or all. With the lock or after it. */
void base_worker_wake(struct base_worker *w);
void base_worker_wake_all(struct base_worker *w);

/* Something was done, and the wait for that; with the lock, which waiting gives away
 * meanwhile. */
void base_worker_tell(struct base_worker *w);
void base_worker_wait(struct base_worker *w);

/* A step's wait until there is more to do, so many microseconds at the most. With the
 * lock. */
void base_worker_sleep(struct base_worker *w, int64_t microseconds);

#endif
