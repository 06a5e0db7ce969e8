/* Preloaded with MPICH (ch4:ucx), whose processes spin while they wait. If there are more
 * processes than cores, the spinning processes may occupy all cores while the process
 * they wait for has none. This module makes a process without work yield its core and,
 * after a few yields, sleep for a moment.
 *
 * On several nodes (test/support/nodes) it also prevents MPI_Finalize from closing
 * connections one by one, because MPICH 4.0.2 may wait forever for a process that no
 * longer listens. The connections are closed anyway when the processes exit. */
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

/* Returns NULL, which means that the connection is already closed. */
void *ucp_disconnect_nb(void *connection)
{
    static void *(*real)(void *);
    if (getenv("NCMPI_TEST_NODES") != NULL) return NULL;
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "ucp_disconnect_nb");
    return real == NULL ? NULL : real(connection);
}
