/* Plays schedules of two or three jobs on one dataset, and checks the results.
 *
 * A seed determines everything: the jobs, the hints and number of processes of each job,
 * and a sequence of steps. A step is a call of one job (create, open, put, sync ...), a
 * tool run (ncmpijoin, ncvalidator, ncmpilog), a rename of another file over the dataset,
 * or a signal (kill, continue). A call or a tool may be killed or stopped at one of its
 * system calls, and two neighbouring steps may run at the same time.
 *
 *     pairs.c         the command: seeds, shrinking of failing schedules, the summary
 *     pairs_plan.c    draws a schedule, and prints it
 *     pairs_run.c     plays a schedule: starts steps, waits for them, records results
 *     pairs_actor.c   the processes of jobs and tools: start, signals, messages
 *     pairs_job.c     a process of a job: executes orders with the library
 *     pairs_model.c   checks what was read against the calls that were made
 *
 * The controller is not an MPI program. It plays the steps one by one, so the model needs
 * only one clock, which counts the beginnings and ends of steps. */
#ifndef PAIRS_H
#define PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    PAIRS_JOBS = 3,
    PAIRS_TOOL = PAIRS_JOBS, /* the actor that runs tools and new readers */
    PAIRS_ACTORS,
    PAIRS_PROCS = 2,
    PAIRS_STEPS = 28,
    PAIRS_OPS = 4 * PAIRS_STEPS, /* includes the steps that pairs_run.c adds at the end */
    PAIRS_SESSIONS = PAIRS_OPS,
    PAIRS_VARS = 5,
    PAIRS_ADDED = 3, /* index of the first variable that a redefinition adds */
    PAIRS_ROWS = 5,
    PAIRS_X = 211,
    PAIRS_VALUES = PAIRS_VARS * PAIRS_ROWS * PAIRS_X,
    PAIRS_TEXT = 320,
    PAIRS_OTHER =
        1000 /* incarnation number of the file that is renamed over the dataset */
};

/* A time after all other times. */
#define PAIRS_NEVER 1000000

enum pairs_kind {
    PAIRS_CREATE,
    PAIRS_CREATE_NEW, /* NC_NOCLOBBER */
    PAIRS_ENDDEF,     /* first enddef of a dataset whose create did not include it */
    PAIRS_OPEN,       /* opens for writing */
    PAIRS_READ,       /* opens for reading */
    PAIRS_REDEF,      /* adds a variable and an attribute, and ends define mode */
    PAIRS_PUT,
    PAIRS_GET, /* gets all values */
    PAIRS_SYNC,
    PAIRS_CLOSE,
    PAIRS_ABORT,
    PAIRS_WAIT, /* ncmpix_wait_closed */
    PAIRS_DELETE,
    PAIRS_JOIN, /* first of the tools */
    PAIRS_JOIN_CHECK,
    PAIRS_JOIN_REMOVE, /* replaces the dataset with the joined file */
    PAIRS_COMPACT,
    PAIRS_VALIDATE,
    PAIRS_FINISH, /* ncvalidator -f */
    PAIRS_REPLAY, /* last of the tools */
    PAIRS_REPLACE,
    PAIRS_KILL,
    PAIRS_CONTINUE,
    PAIRS_KINDS
};

/* PAIRS_WOUNDED: one process of a job is killed, and the others stay alive until
 * PAIRS_CONTINUE kills them. */
enum pairs_fault { PAIRS_WHOLE, PAIRS_KILLED, PAIRS_WOUNDED, PAIRS_STOPPED };

enum pairs_way { PAIRS_BLOCKS, PAIRS_ALONE, PAIRS_POSTED, PAIRS_STRIDED, PAIRS_WAYS };

struct pairs_step {
    enum pairs_kind kind;
    int actor;
    int var, row, rows, col, cols; /* region to put */
    int way;                       /* enum pairs_way; for a create, 1 omits the enddef */
    int length;                    /* length in bytes of the attribute that a redefinition
                                    * adds */
    bool together;                 /* whether the next step begins before this one ends */
    enum pairs_fault fault;
    int point; /* 2 n: the fault occurs before the nth system call; 2 n + 1: just after
                * it */
    int rank;  /* rank of the process in which the fault occurs */
};

struct pairs_stack {
    const char *name, *hints;
    bool blob;   /* whether creates request subfiles */
    bool logs;   /* whether puts go to logs first */
    bool direct; /* whether a value has reached the file when its put returns */
    bool joins;  /* whether a close may join the subfiles into an ordinary file */
    bool waits;  /* whether a close is complete only after ncmpix_wait_closed */
};

extern const struct pairs_stack pairs_stacks[];
int pairs_nstacks(void);

struct pairs_plan {
    uint64_t seed;
    int njobs;
    struct {
        const struct pairs_stack *stack;
        int procs;
    } jobs[PAIRS_JOBS];
    int nsteps;
    struct pairs_step steps[PAIRS_STEPS];
    bool left_out[PAIRS_STEPS];
};

/* Draws the schedule for a seed. Bit i of `only` allows stack i. */
void pairs_plan_draw(struct pairs_plan *p, uint64_t seed, unsigned only);
void pairs_step_print(const struct pairs_plan *p, int i, char *text, size_t size);
const char *pairs_kind_name(enum pairs_kind kind);
const char *pairs_actor_name(int actor);
/* Returns a random number below n, which must be positive, and advances the state. */
uint64_t pairs_draw(uint64_t *state, uint64_t n);

/* Returns the value that put number `put` writes to an element, converted to the
 * variable's type. The value is never 0. */
int pairs_value(uint64_t seed, int put, int var, int row, int col);
bool pairs_is_record(int var);
/* Returns the index of an element in an array of PAIRS_VALUES values. */
int pairs_at(int var, int row, int col);

/* ---- messages between the controller and the processes of jobs ---- */

struct pairs_hello {
    int token, rank;
    pid_t pid;
};

struct pairs_order {
    struct pairs_step step;
    uint64_t seed;
    int put;  /* number of the put */
    int made; /* incarnation number that a create assigns */
    char path[128], hints[512];
};

struct pairs_reply {
    int rank, rc;
    int phase;   /* for a create: 1 after ncmpi_create, 2 after the enddef */
    int made;    /* incarnation of the open dataset; -1 if it has no number */
    int present; /* bit v is set if variable v exists */
    int records;
    int length[2]; /* lengths of the attributes that redefinitions added; -1 if there is
                    * none */
    bool right[2]; /* whether the attributes have the text that was put */
    char text[PAIRS_TEXT];
    int values[PAIRS_VALUES]; /* set by a get that returned NC_NOERR */
};

/* Runs a process of a job: connects to the socket, and executes orders until the socket
 * is closed. */
int pairs_job(const char *path, int token);

/* ---- processes: pairs_actor.c ---- */

enum pairs_state { PAIRS_ABSENT, PAIRS_IDLE, PAIRS_BUSY, PAIRS_ASLEEP };

/* Paths of the dataset's directory, of the tools, and of the controller's socket. */
struct pairs_place {
    char dir[64], run[80], socket[80];
    const char *tools, *program;
    int listener;
};
extern struct pairs_place pairs_place;

bool pairs_place_make(const char *program);
void pairs_place_remove(void);

struct pairs_actor {
    enum pairs_state state;
    int procs, token;
    pid_t child; /* the only process, or the launcher */
    struct {
        int fd; /* -1 if it is closed */
        pid_t pid;
        bool answered;
    } ranks[PAIRS_PROCS];
    int status; /* exit status of a tool */
    bool tool;
    bool wounded; /* whether one process was killed while others stay alive */
    struct pairs_reply reply[PAIRS_PROCS];
};
extern struct pairs_actor pairs_actors[PAIRS_ACTORS];

/* Ensures that the actor has `procs` idle processes, and starts new ones if necessary. */
bool pairs_actor_get(int actor, int procs);
bool pairs_actor_order(int actor, const struct pairs_order *order);
void pairs_actor_tool(const char *const *argv, const struct pairs_step *step);
void pairs_actor_kill(int actor);
/* Continues a stopped actor, or kills a wounded job. */
void pairs_actor_continue(int actor);
/* Waits until no actor in the mask is busy. Returns false if some actor is still busy
 * after `seconds`. Afterwards, a stopped actor is asleep, and a killed one is absent. */
bool pairs_actors_wait(unsigned mask, double seconds);
void pairs_actors_end(void);

/* ---- history: recorded by pairs_run.c, judged by pairs_model.c ---- */

struct pairs_session {
    int actor, procs;
    const struct pairs_stack *stack;
    bool writes, created;
    int made;            /* incarnation of the dataset */
    int present;         /* bit mask of variables that existed at the open */
    bool defining;       /* whether the dataset has not left define mode yet */
    bool leased;         /* whether the session has the lease on a dataset in subfiles */
    int opened, usable;  /* times when the open began, and when it returned */
    int refreshed;       /* time of the open or last sync, which makes changes by others
                          * visible */
    int closing, closed; /* times when the close began and returned, or PAIRS_NEVER */
    int waited;          /* time when ncmpix_wait_closed returned, if it is needed */
    int killed;          /* time of the kill, or PAIRS_NEVER */
    int told;            /* time of an error that reported a possible loss */
};

struct pairs_op {
    const struct pairs_step *step;
    int number; /* index of the step */
    int session;
    int begin, end; /* end is PAIRS_NEVER if the call has not returned */
    int rc;
    bool killed;
    int phase;  /* for a create: 1 after ncmpi_create, 2 after the enddef; for a join: 3
                 * if it removed the dataset */
    int made;   /* incarnation number that a create or replacement assigns */
    int commit; /* for a put: time when the next sync or close returned, or PAIRS_NEVER */
    char text[PAIRS_TEXT];
};

enum pairs_verdict {
    PAIRS_FINE,
    PAIRS_LOSS,       /* an acknowledged value is missing, and no error was reported */
    PAIRS_LIE,        /* a value or dataset exists that no call wrote */
    PAIRS_UNREADABLE, /* a dataset was closed without an error, but is unreadable */
    PAIRS_UNREFUSED, /* a second job changed a dataset in subfiles while its owner had the
                      * lease */
    PAIRS_REFUSED,   /* a reader was refused without a reason */
    PAIRS_INVALID,   /* a tool rejected a valid dataset */
    PAIRS_LEFTOVER,  /* a file remains that should have been removed */
    PAIRS_HANG,
    PAIRS_BROKEN, /* the harness itself failed */
    PAIRS_VERDICTS
};
const char *pairs_verdict_name(enum pairs_verdict v);

struct pairs_run {
    const struct pairs_plan *plan;
    int clock;
    int nops, nsessions;
    struct pairs_op ops[PAIRS_OPS];
    struct pairs_session sessions[PAIRS_SESSIONS];
    int of_actor[PAIRS_ACTORS]; /* the actor's open session; -1 if there is none */
    int op_of[PAIRS_ACTORS];    /* the actor's unfinished op; -1 if there is none */
    bool renamed;               /* whether a file was renamed over the dataset */
    int kills;                  /* number of processes killed */
    bool logs_refused; /* whether an error reported that the logs of killed jobs could not
                        * be replayed */
    unsigned ignored;  /* bit mask of verdicts to ignore */
    enum pairs_verdict verdict;
    char what[PAIRS_TEXT + 256];
    bool trace;
};

/* Statistics on all runs. */
struct pairs_counts {
    long schedules, steps, kills, stops, waits, refusals, together;
    long verdicts[PAIRS_VERDICTS];
    long pairs[PAIRS_KINDS]
              [PAIRS_KINDS]; /* consecutive steps of different actors, by kind */
};
extern struct pairs_counts pairs_counts;

void pairs_play(struct pairs_run *r, const struct pairs_plan *plan);
/* Records a failure, unless one has already been recorded or the verdict is ignored. */
void pairs_fail(struct pairs_run *r, enum pairs_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Judges the result of a get that began at time `begin`. `session` is the session that
 * called it; -1 means the final reader. */
void pairs_judge_get(struct pairs_run *r, int session, int begin,
                     const struct pairs_reply *got);
/* Judges the final state. `got` is NULL if there is no dataset. */
void pairs_judge_end(struct pairs_run *r, const struct pairs_reply *got);
/* Judges a file into which the dataset was joined. */
void pairs_judge_joined(struct pairs_run *r, const struct pairs_reply *got);
/* Judges an op that ran while another job had the lease. */
void pairs_judge_lease(struct pairs_run *r, const struct pairs_op *op);
/* Returns an incarnation that must still exist; -1 if there is none. */
int pairs_must_be(const struct pairs_run *r);

#endif
