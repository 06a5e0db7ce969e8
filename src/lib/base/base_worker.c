/* Starts, wakes and stops worker threads. */
#include "base_worker.h"

#include <signal.h>
#include <time.h>

#include "base_mem.h"

struct base_thread {
    struct base_thread *next;
    struct base_worker *worker;
    bool (*step)(void *of);
    void *of;
    pthread_t id;
};

void base_worker_init(struct base_worker *w)
{
    pthread_condattr_t clock;
    *w = (struct base_worker){.stop = false};
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->work, &clock);
    pthread_condattr_destroy(&clock);
    pthread_cond_init(&w->done, NULL);
}

static void *run_worker(void *arg)
{
    struct base_thread *t = arg;
    struct base_worker *w = t->worker;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        if (t->step(t->of)) continue;
        if (w->stop) break;
        pthread_cond_wait(&w->work, &w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Threads inherit the signal mask of their creator. Fault signals remain unblocked,
 * because blocking them is undefined behaviour. */
static bool create_thread(struct base_thread *t)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&blocked, faults[i]);
    if (pthread_sigmask(SIG_BLOCK, &blocked, &before) != 0) return false;
    bool made = pthread_create(&t->id, NULL, run_worker, t) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return made;
}

bool base_worker_start(struct base_worker *w, bool (*step)(void *of), void *of)
{
    struct base_thread *t = base_malloc(sizeof *t);
    if (t == NULL) return false;
    *t = (struct base_thread){.next = w->threads, .worker = w, .step = step, .of = of};
    bool made = create_thread(t);
    if (made)
        w->threads = t;
    else
        base_free(t);
    return made;
}

void base_worker_stop(struct base_worker *w)
{
    base_worker_lock(w);
    w->stop = true;
    base_worker_wake_all(w);
    base_worker_unlock(w);
    while (w->threads != NULL) {
        struct base_thread *t = w->threads;
        (void)pthread_join(t->id, NULL);
        w->threads = t->next;
        base_free(t);
    }
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->work);
    pthread_cond_destroy(&w->done);
}

void base_worker_lock(struct base_worker *w)
{
    pthread_mutex_lock(&w->lock);
}

void base_worker_unlock(struct base_worker *w)
{
    pthread_mutex_unlock(&w->lock);
}

void base_worker_wake(struct base_worker *w)
{
    pthread_cond_signal(&w->work);
}

void base_worker_wake_all(struct base_worker *w)
{
    pthread_cond_broadcast(&w->work);
}

void base_worker_report_done(struct base_worker *w)
{
    pthread_cond_broadcast(&w->done);
}

void base_worker_wait(struct base_worker *w)
{
    pthread_cond_wait(&w->done, &w->lock);
}

void base_worker_sleep(struct base_worker *w, int64_t microseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + microseconds % 1000000 * 1000;
    until.tv_sec += microseconds / 1000000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_cond_timedwait(&w->work, &w->lock, &until);
}
