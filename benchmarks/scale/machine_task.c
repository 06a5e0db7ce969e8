/* Nonblocking file transfers, and functions that wait for them. Each transfer is made by
 * an additional simulated process on the same node. SMPI's generalized requests
 * (MPI_Grequest_start) are unsuitable, because they complete immediately if a call waits
 * for several of them. This file therefore defines its own kind of request, which the
 * wait functions distinguish from SMPI's. */
#include <errno.h>
#include <simgrid/actor.h>
#include <simgrid/host.h>
#include <stdlib.h>
#include <string.h>

#include "machine_mpi.h"

static const uint64_t mark = 0x6e636d70695f696f; /* not a valid address, unlike SMPI's
                                                  * requests */

struct task {
    uint64_t mark;
    struct store_file *file;
    int64_t offset, n, moved;
    void *bytes;
    bool writing, done;
    int error;
    sg_actor_t waiting;
};

static void run(int argc, char **argv)
{
    struct task *t = sg_actor_self_get_data();
    (void)argc;
    (void)argv;
    t->moved = t->writing ? store_write(t->file, t->offset, t->bytes, t->n)
                          : store_read(t->file, t->offset, t->bytes, t->n);
    t->error = errno;
    t->done = true;
    if (t->waiting != NULL) sg_actor_resume(t->waiting);
}

MPI_Request task_new(struct store_file *f, int64_t offset, void *bytes, int64_t n,
                     bool writing)
{
    struct task *t = malloc(sizeof *t);
    if (t == NULL) machine_fail("out of memory", "of a task");
    *t = (struct task){.mark = mark,
                       .file = f,
                       .offset = offset,
                       .n = n,
                       .bytes = bytes,
                       .writing = writing};
    machine_settle();
    sg_actor_t actor = sg_actor_init("file", sg_host_self());
    sg_actor_set_data(actor, t);
    sg_actor_start(actor, run, 0, NULL);
    return (MPI_Request)t;
}

/* Returns the task of a request, or NULL if the request belongs to SMPI. */
static struct task *task_of(MPI_Request r)
{
    uint64_t first;
    if (r == MPI_REQUEST_NULL) return NULL;
    memcpy(&first, (const void *)r, sizeof first);
    return first == mark ? (struct task *)r : NULL;
}

static int finish(MPI_Request *r, MPI_Status *status)
{
    struct task *t = task_of(*r);
    errno = t->error;
    int mpi = machine_mpi_moved(t->moved, status);
    free(t);
    *r = MPI_REQUEST_NULL;
    return mpi;
}

int __wrap_MPI_Wait(MPI_Request *r, MPI_Status *status)
{
    struct task *t = task_of(*r);
    if (t == NULL) return MPI_Wait(r, status);
    machine_settle();
    if (!t->done) {
        t->waiting = sg_actor_self();
        sg_actor_suspend(t->waiting);
    }
    return finish(r, status);
}

int __wrap_MPI_Test(MPI_Request *r, int *flag, MPI_Status *status)
{
    struct task *t = task_of(*r);
    if (t == NULL) return MPI_Test(r, flag, status);
    machine_settle();
    *flag = t->done;
    if (t->done) return finish(r, status);
    sg_actor_sleep_for(machine_get()->message_time); /* take simulated time, or a polling
                                                      * loop would never end */
    return MPI_SUCCESS;
}

static MPI_Status *nth(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

int __wrap_MPI_Waitall(int n, MPI_Request *r, MPI_Status *statuses)
{
    int first = MPI_SUCCESS;
    for (int i = 0; i < n; i++) {
        int mpi = __wrap_MPI_Wait(&r[i], nth(statuses, i));
        if (first == MPI_SUCCESS) first = mpi;
    }
    return first;
}

/* Sets *index to a completed request. If there are no active requests, sets *index to
 * MPI_UNDEFINED and *flag to true. */
int __wrap_MPI_Testany(int n, MPI_Request *r, int *index, int *flag, MPI_Status *status)
{
    bool any = false;
    *index = MPI_UNDEFINED;
    for (int i = 0; i < n; i++) {
        if (r[i] == MPI_REQUEST_NULL) continue;
        any = true;
        int mpi = __wrap_MPI_Test(&r[i], flag, status);
        if (*flag || mpi != MPI_SUCCESS) {
            *index = i;
            return mpi;
        }
    }
    *flag = !any;
    return MPI_SUCCESS;
}

/* Calls SMPI's function if all requests belong to SMPI. Otherwise polls, which takes
 * simulated time. */
int __wrap_MPI_Waitany(int n, MPI_Request *r, int *index, MPI_Status *status)
{
    bool tasks = false;
    for (int i = 0; i < n; i++)
        tasks = tasks || task_of(r[i]) != NULL;
    if (!tasks) return MPI_Waitany(n, r, index, status);
    for (int flag = 0;;) {
        int mpi = __wrap_MPI_Testany(n, r, index, &flag, status);
        if (flag || mpi != MPI_SUCCESS) return mpi;
        sg_actor_sleep_for(machine_get()->wake_time);
    }
}

int __wrap_MPI_Testall(int n, MPI_Request *r, int *flag, MPI_Status *statuses)
{
    bool tasks = false;
    *flag = 1;
    for (int i = 0; i < n; i++) {
        struct task *t = task_of(r[i]);
        tasks = tasks || t != NULL;
        if (t != NULL && !t->done) *flag = 0;
    }
    if (!tasks) return MPI_Testall(n, r, flag, statuses);
    for (int i = 0; i < n && *flag; i++) {
        int one = 1;
        if (r[i] != MPI_REQUEST_NULL && task_of(r[i]) == NULL)
            MPI_Request_get_status(r[i], &one, MPI_STATUS_IGNORE);
        *flag = one;
    }
    if (*flag) return __wrap_MPI_Waitall(n, r, statuses);
    sg_actor_sleep_for(machine_get()->message_time);
    return MPI_SUCCESS;
}

/* Waits for all requests by completing one after the other. */
int __wrap_MPI_Waitsome(int n, MPI_Request *r, int *done, int *indices,
                        MPI_Status *statuses)
{
    int mpi = __wrap_MPI_Waitany(n, r, indices, nth(statuses, 0));
    *done = *indices == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
    return mpi;
}
