/* Preloaded under MPICH (ch4:ucx), whose processes spin while they wait: with more
 * processes than cores, the one that is waited for gets no core. Here a process that
 * found nothing to do gives its core away, and sleeps for a moment once it has done so
 * a few times in vain.
 *
 * On several nodes (test/support/nodes) it also keeps MPI_Finalize from closing
 * connections one by one: there MPICH 4.0.2 may wait for ever for a process that is no
 * longer listening. They end with the processes. */
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker);
__attribute__((visibility("default"))) void *ucp_disconnect_nb(void *connection);

unsigned ucp_worker_progress(void *worker)
{
    static const struct timespec moment = {0, 10000};
    static unsigned (*real)(void *);
    static int in_vain;
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (real == NULL) return 0;
    unsigned events = real(worker);
    in_vain = events > 0 ? 0 : in_vain + 1;
    if (in_vain > 20)
        nanosleep(&moment, NULL);
    else if (in_vain > 0)
        sched_yield();
    return events;
}

/* NULL: done. */
void *ucp_disconnect_nb(void *connection)
{
    static void *(*real)(void *);
    if (getenv("NCMPI_TEST_NODES") != NULL) return NULL;
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "ucp_disconnect_nb");
    return real == NULL ? NULL : real(connection);
}
