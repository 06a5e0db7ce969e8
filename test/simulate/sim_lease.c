/* Checks that only one job at a time writes a dataset in subfiles. The first job owns its
 * dataset from the time when all its processes have created or opened it until the first
 * of them begins to close it. During this time, any other job must get an error if it
 * opens the dataset for writing, creates a dataset in its place, deletes it, joins it or
 * compacts it. Nothing is checked once a process has been killed, because a dead owner
 * may be replaced. A stopped process still owns its open datasets. */
#include <string.h>

#include "sim.h"

static struct {
    int opened;    /* number of processes in the first job that have the dataset open */
    int ownership; /* number of times that the first job has closed the dataset */
    int tried[SIM_JOBS]; /* for each job, 1 + the value of `ownership` when its call
                          * began, or 0 if the dataset had no owner */
    bool trying[SIM_JOBS], harmed, replaced;
} lease;

/* Returns whether ownership can be checked. On some mounts, locks may be local to a node.
 * If romio_no_indep_rw is set, the library ignores the hint that requests subfiles. */
static bool is_checked(const struct sim_plan *p)
{
    return p->seed >= SIM_PAIRED && p->parts && !p->lockless &&
           p->mount == SIM_COHERENT && strstr(p->hints, "romio_no_indep_rw") == NULL;
}

static bool reopens(const struct sim_plan *p, int op)
{
    return op < p->nops && p->ops[op].what == SIM_REOPEN && p->ops[op].set == 0;
}

void sim_lease_begins(int op)
{
    if (sim_self()->job > 0 || (op != SIM_CLOSED && !reopens(sim_the_plan(), op))) return;
    if (lease.opened > 0) lease.ownership++;
    lease.opened = 0;
}

void sim_lease_told(int op, int err)
{
    if (sim_self()->job > 0 || err != 0) return;
    if (op == SIM_CREATED || reopens(sim_the_plan(), op)) lease.opened++;
}

void sim_lease_harmed(void)
{
    lease.harmed = true;
}

static bool is_owned(void)
{
    return !lease.harmed && lease.opened == sim_the_plan()->procs;
}

void sim_lease_tries(void)
{
    const int job = sim_self()->job;
    if (lease.trying[job])
        return; /* another process of this job has already begun the call */
    lease.trying[job] = true;
    lease.tried[job] = is_owned() ? lease.ownership + 1 : 0;
}

void sim_lease_tried(const char *what, int err)
{
    const int job = sim_self()->job;
    const bool owned = lease.tried[job] == lease.ownership + 1 && is_owned();
    lease.trying[job] = false;
    if (err == 0 && owned && is_checked(sim_the_plan()))
        sim_fail(SIM_WRONG, "%s succeeded while another job was writing the dataset",
                 what);
    if (err == 0 && (strcmp(what, "delete") == 0 || strcmp(what, "create") == 0))
        lease.replaced = true;
}

bool sim_lease_replaced(void)
{
    return lease.replaced;
}
