/* A run of a plan, its faults and its result. Shared by sim_main.cpp, sim_orders.cpp and
 * sim_run.cpp. */
#ifndef SIM_RUN_HPP
#define SIM_RUN_HPP

#include <cstdint>

#include "sim.h"

struct Fault {
    sim_harm harm;
    int64_t step; /* the job's step at which the fault occurs; for SIM_MEMORY, the
                   * allocation */
    int error;    /* errno for SIM_ERROR */
    int open = 0; /* for SIM_ERROR: number of the failing open; 0 for any call */
};

/* Maximum number of stops in a run. At a stop, a process waits before a step until all
 * others have ended or are waiting for it. */
enum { SIM_STOPS = 2 };

struct Run {
    sim_plan plan;
    Fault faults[2];          /* faults in the first two jobs */
    bool even;                /* whether all steps take the same time */
    int moving;               /* number of the job that is stopped */
    int64_t stops[SIM_STOPS]; /* steps before which that job is stopped; 0 if unused */
    uint64_t chance;          /* if `even` is set, seed of random decisions such as which
                               * data a power failure loses; otherwise plan.seed is
                               * used */
    bool trace;
};

/* A step: its thread, the object that the thread accessed, and whether it changed that
 * object. */
struct Step {
    uint32_t who, what;
    int64_t number; /* number of the step in the moving job; 0 for other jobs */
    bool changes;
};

/* Steps of the first job that create, rename, truncate, delete or sync a file, which
 * changes the state that a power failure would leave. If there are many, only a random
 * sample is stored. */
struct Moments {
    enum { MOST = 32 };
    int64_t seen, step[MOST];
};

/* The result of a run, in memory that is shared with the child process. */
struct Result {
    sim_verdict verdict;
    int64_t steps[SIM_JOBS], allocations[SIM_JOBS];
    Moments moments;
    char words[700];
    int64_t listed;
    Step list[4096]; /* first steps of the moving job and of later jobs; must be the last
                      * member */
};

extern const char *const sim_verdicts[];

/* Builds the machine and loads copies of the program from a file. Returns false if that
 * fails. */
bool sim_machine_begin(const char *program);

/* Performs a run in a child process. The returned result is valid until the next run. */
const Result *sim_perform(const Run &what);

/* Prints the verdict of a run, and its faults. */
void sim_describe(const Run &r, const Result &got);

/* Runs the small program with this name, or all small programs if the name is empty, in
 * all orders of their steps (sim_orders.cpp). Returns true if none failed. */
bool sim_orders(const char *name, double seconds, int64_t only);

#endif
