/* Preloaded under MPICH (ch4:ucx), whose processes spin while they wait: with more
 * processes than cores, the one that is waited for gets no core. Here a process that
 * found nothing to do gives its core away. */
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*real)(void *);
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (real == NULL) return 0;
    unsigned events = real(worker);
    if (events == 0) sched_yield();
    return events;
}
