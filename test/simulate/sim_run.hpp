/* A run: a program, what breaks in it, and what came of it. */
#ifndef SIM_RUN_HPP
#define SIM_RUN_HPP

#include <cstdint>

#include "sim.h"

struct Fault {
    sim_harm harm;
    int64_t step; /* of its job; of SIM_MEMORY, the allocation */
    int error;    /* of SIM_ERROR */
    int open = 0; /* SIM_ERROR: only of the so-manieth open; 0: of any call */
};

/* Where a process waits until all others have ended or wait for it. */
enum { SIM_STOPS = 2 };

struct Run {
    sim_plan plan;
    Fault faults[2];          /* of the first job, and of the second */
    bool even;                /* all steps take the same time; else as the seed has it */
    int moving;               /* the job that stops */
    int64_t stops[SIM_STOPS]; /* where it does; 0: nowhere */
    uint64_t chance;          /* decides all else, as what a power cut leaves */
    bool trace;
};

/* Whose it was, on what, and whether others can tell. */
struct Step {
    uint32_t who, what;
    int64_t number; /* of the moving job's; 0: another job's */
    bool changes;
};

/* Steps of the first job that make names, or make something last: what is true after a
 * power cut changes there. Some of them, drawn, where there are many. */
struct Moments {
    enum { MOST = 32 };
    int64_t seen, step[MOST];
};

/* What a run leaves in memory that it shares. */
struct Result {
    sim_verdict verdict;
    int64_t steps[SIM_JOBS], allocations[SIM_JOBS];
    Moments moments;
    char words[700];
    int64_t listed;
    Step list[4096]; /* the first ones of that job and later ones; the last member */
};

extern const char *const sim_verdicts[];

/* The machine, with copies of the program from that file. False: it is not to be had. */
bool sim_machine_begin(const char *program);

/* Each is a process of the system of its own; the result is valid until the next one. */
const Result *sim_perform(const Run &what);

/* Says what went wrong. */
void sim_describe(const Run &r, const Result &got);

/* Small programs, in all orders of their steps: sim_orders.cpp. True: all went well. */
bool sim_orders(const char *name, double seconds, int64_t only);

#endif
