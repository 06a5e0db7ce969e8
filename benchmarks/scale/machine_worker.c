/* Replaces the threads of base_worker, through the linker, by additional simulated
 * processes on the same node. Their work takes simulated time, concurrently with their
 * owner's. The work of a real thread would take no simulated time. Only one simulated
 * process runs at a time, until it waits. */
#include <simgrid/actor.h>
#include <simgrid/cond.h>
#include <simgrid/host.h>
#include <simgrid/mutex.h>
#include <stdlib.h>
#include <string.h>

#include "base_worker.h"
#include "machine_impl.h"

void __wrap_base_worker_init(struct base_worker *w);
bool __wrap_base_worker_start(struct base_worker *w, bool (*step)(void *of), void *of);
void __wrap_base_worker_stop(struct base_worker *w);
void __wrap_base_worker_lock(struct base_worker *w);
void __wrap_base_worker_unlock(struct base_worker *w);
void __wrap_base_worker_wake(struct base_worker *w);
void __wrap_base_worker_wake_all(struct base_worker *w);
void __wrap_base_worker_report_done(struct base_worker *w);
void __wrap_base_worker_wait(struct base_worker *w);
void __wrap_base_worker_sleep(struct base_worker *w, int64_t microseconds);

/* Replaces the worker's mutex and conditions. base_worker.threads points to it. */
struct movers {
    sg_mutex_t lock;
    sg_cond_t work, done;
    int running;
};

struct hand {
    struct base_worker *worker;
    bool (*step)(void *of);
    void *of;
};

static struct movers *crew_of(const struct base_worker *w)
{
    return (struct movers *)(void *)w->threads;
}

static void run(int argc, char **argv)
{
    struct hand *h = sg_actor_self_get_data();
    struct base_worker *w = h->worker;
    struct movers *c = crew_of(w);
    (void)argc;
    (void)argv;
    sg_mutex_lock(c->lock);
    for (;;) {
        if (h->step(h->of)) continue;
        if (w->stop) break;
        sg_cond_wait(c->work, c->lock);
    }
    machine_settle();
    c->running--;
    sg_cond_notify_all(c->done);
    sg_mutex_unlock(c->lock);
    free(h);
}

void __wrap_base_worker_init(struct base_worker *w)
{
    struct movers *c = malloc(sizeof *c);
    if (c == NULL) machine_fail("out of memory", "of a worker");
    *c = (struct movers){sg_mutex_init(), sg_cond_init(), sg_cond_init(), 0};
    *w = (struct base_worker){.threads = (struct base_thread *)(void *)c};
}

bool __wrap_base_worker_start(struct base_worker *w, bool (*step)(void *of), void *of)
{
    struct hand *h = malloc(sizeof *h);
    if (h == NULL) machine_fail("out of memory", "of a worker");
    *h = (struct hand){w, step, of};
    machine_settle();
    crew_of(w)->running++;
    sg_actor_t actor = sg_actor_init("worker", sg_host_self());
    sg_actor_set_data(actor, h);
    sg_actor_start(actor, run, 0, NULL);
    return true;
}

void __wrap_base_worker_stop(struct base_worker *w)
{
    struct movers *c = crew_of(w);
    sg_mutex_lock(c->lock);
    w->stop = true;
    sg_cond_notify_all(c->work);
    while (c->running > 0)
        sg_cond_wait(c->done, c->lock);
    sg_mutex_unlock(c->lock);
    sg_cond_destroy(c->work);
    sg_cond_destroy(c->done);
    sg_mutex_destroy(c->lock);
    free(c);
    w->threads = NULL;
}

/* Charges for the work done so far before acquiring the lock. */
void __wrap_base_worker_lock(struct base_worker *w)
{
    machine_settle();
    sg_mutex_lock(crew_of(w)->lock);
}

void __wrap_base_worker_unlock(struct base_worker *w)
{
    machine_settle();
    sg_mutex_unlock(crew_of(w)->lock);
}

void __wrap_base_worker_wake(struct base_worker *w)
{
    sg_cond_notify_one(crew_of(w)->work);
}

void __wrap_base_worker_wake_all(struct base_worker *w)
{
    sg_cond_notify_all(crew_of(w)->work);
}

void __wrap_base_worker_report_done(struct base_worker *w)
{
    sg_cond_notify_all(crew_of(w)->done);
}

void __wrap_base_worker_wait(struct base_worker *w)
{
    sg_cond_wait(crew_of(w)->done, crew_of(w)->lock);
}

void __wrap_base_worker_sleep(struct base_worker *w, int64_t microseconds)
{
    (void)sg_cond_wait_for(crew_of(w)->work, crew_of(w)->lock,
                           1e-6 * (double)microseconds);
}
