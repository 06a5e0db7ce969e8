/* Simulates, entirely in memory, a machine that fails. The machine's nodes share one file
 * system, and a seed determines every event. SimGrid runs the processes and simulates
 * MPI, as it does for benchmarks/scale; this directory simulates system calls and
 * threads. Only one process or thread runs at a time, and it runs until it reaches a step
 * (sim_step), so this code needs no locks.
 *
 * A run executes a plan. The first job writes one or two datasets, and a fault occurs
 * while it does so. Later jobs open, read and close the remaining datasets. These jobs
 * may also fail. Finally, a model checks whether the files contain what the library
 * guarantees.
 *
 *     sim_main.cpp    draws plans and faults from seeds, and reduces plans that fail
 *     sim_orders.cpp  runs small programs in all orders of their steps
 *     sim_run.cpp     performs a run: starts jobs, injects faults, calls the model
 *     sim_plan.c      draws what the processes do
 *     sim_program.c   the program of a process; each has its own copy of the library
 *     sim_define.c    the program's definitions and inquiries
 *     sim_system.c    system calls; sim_files.c: descriptors and locks
 *     sim_sockets.c   socket calls; sim_network.c: connections and messages
 *     sim_disk.c      files and names, on disk and in memory, and power failures
 *     sim_cache.c     the caches of nodes
 *     sim_threads.c   threads; sim_atomics.c: atomic accesses to shared memory
 *     sim_machine.c   the functions that the MPI-IO of benchmarks/scale calls
 *     sim_model.c     judges the result; sim_decode.c reads the file for it
 *     sim_lease.c     judges jobs that start while the first one writes a dataset */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan_slab.h"
#include "plan_value.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_STORE "/sim/" /* files below this directory are simulated */
#define SIM_FILE  SIM_STORE "a.nc"
#define SIM_LOGS  SIM_STORE "logs"
#define SIM_WHOLE SIM_NOTES "whole.nc"
#define SIM_NOTES SIM_STORE "x." /* prefix of paths that do not belong to a dataset */

enum { SIM_PAGE = 4096, SIM_PROCESSES = 32, SIM_JOBS = 4, SIM_SETS = 2 };

/* ---- random numbers ---- */

/* Returns a random number below n, which must be positive, and advances the state. Any
 * number is a valid initial state. */
uint64_t sim_draw(uint64_t *state, uint64_t n);

/* ---- processes ---- */

/* The task that a job runs instead of the program. SIM_REPLAY to SIM_COMPACT run
 * ncmpilog, ncvalidator -f, ncmpijoin, ncvalidator and ncmpijoin --compact. SIM_REMOVE
 * runs ncmpijoin --remove and renames the result to the dataset's name. SIM_DELETE and
 * SIM_CLOBBER call ncmpi_delete and ncmpi_create. */
enum sim_tool {
    SIM_NO_TOOL,
    SIM_REPLAY,
    SIM_FINISH,
    SIM_JOIN,
    SIM_VALIDATE,
    SIM_COMPACT,
    SIM_REMOVE,
    SIM_DELETE,
    SIM_CLOBBER
};

struct sim_process {
    int job, rank, node;
    enum sim_tool tool;
    int64_t pid, started; /* id and start time that the process sees */
    bool dead, ended, lost /* whether the process's node failed */;
    const volatile void *looked_at; /* address last loaded; see sim_atomics.c */
    uint64_t saw;
    int looks;
    bool has_unset[2]; /* variables of the environment; see __wrap_unsetenv */
};

struct sim_thread {
    struct sim_process *process;
    void *(*run)(void *);
    void *argument, *result;
    bool over;
};

/* Returns the calling process, or NULL if the caller does not belong to a job. */
struct sim_process *sim_self(void);

/* Add and remove a thread of a process. `actor` is the SimGrid actor that runs the
 * thread. */
void sim_thread_begins(void *actor, struct sim_thread *t);
void sim_thread_ends(void *actor, struct sim_thread *t);

/* Returns the live process with this id on the node, or NULL if there is none. */
const struct sim_process *sim_find(int node, int64_t pid);

/* Simulates a step. Every simulated system call passes its name and arguments to this
 * function before it takes effect. During a step, time passes, other processes may run,
 * and faults may occur. Returns 0, or the errno with which the system call must fail.
 * Does not return if the process is killed. */
int sim_step(const char *call, const char *path, int64_t at, int64_t n);

/* Allocates `n` zeroed bytes for the simulator's own use. Never fails. */
void *sim_room(size_t n);

/* The library calls this before each allocation. Returns false if the allocation must
 * fail. */
bool sim_memory(void);

/* Returns the simulated time, in seconds since 1970. */
double sim_clock(void);

/* Prints a line to the trace if tracing is enabled. */
void sim_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the run with a verdict: lost data, wrong values, a hung job, leftover files, or an
 * error in the simulator itself. Does not return. */
enum sim_verdict { SIM_FINE, SIM_LOST, SIM_WRONG, SIM_HUNG, SIM_LEFT, SIM_BROKEN };
void sim_fail(enum sim_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

/* ---- waiting: sim_threads.c ---- */

/* Waits until sim_wake is called for the address, or until the time `until` (0 means no
 * limit). */
void sim_wait(const void *address, double until);
/* Wakes up to `most` threads that are waiting on the address. */
void sim_wake(const void *address, long most);
/* Suspends the caller forever if its process was killed while the caller was waiting. */
void sim_stay_dead(void);

/* ---- files: sim_disk.c ---- */

struct sim_write {
    int64_t page; /* page number; -1 if the write changes the file's size */
    int64_t at, n;
    unsigned char *bytes;
    struct sim_write *next;
};

/* Frees all writes in a list and makes *last point to the list's head. */
void sim_writes_drop(struct sim_write **first, struct sim_write ***last);

struct sim_bytes {
    unsigned char *at;
    int64_t size, room;
};

struct sim_lock {
    const void *owner; /* an open file description, or a process */
    int64_t first, last;
    bool exclusive;
    struct sim_lock *next;
};

struct sim_file {
    int64_t inode;
    unsigned mode;
    int links;
    double modified, changed;
    int64_t version;                   /* number of changes to the file so far */
    struct sim_bytes now, safe;        /* contents that readers see; contents on disk */
    struct sim_write *pending, **last; /* writes that are not on disk yet, in order */
    struct sim_lock *locks;
    struct sim_file *next;
};

struct sim_file *sim_file_new(unsigned mode);
int64_t sim_file_read(const struct sim_file *f, int64_t at, void *bytes, int64_t n);
void sim_file_write(struct sim_file *f, int64_t at, const void *bytes, int64_t n);
void sim_file_resize(struct sim_file *f, int64_t size);
void sim_file_sync(struct sim_file *f);
void sim_file_sync_range(struct sim_file *f, int64_t from, int64_t to);

/* Returns the file with this name, or NULL. */
struct sim_file *sim_name_find(const char *path);
/* Returns the i-th name, or NULL after the last one. */
const char *sim_name(int i);
void sim_name_set(const char *path, struct sim_file *f); /* removes the name if f is
                                                          * NULL */
void sim_name_move(const char *from, const char *to);
void sim_names_sync(void);

/* Simulates a power failure. Each page, each file size and the list of names reverts
 * independently to a state that it had at or after its last sync. */
void sim_power_cut(uint64_t *chance);
int sim_boots(void); /* number of power failures so far */

/* ---- files as the calling process's node sees them: sim_cache.c ---- */

/* Mount type. It determines how consistent the file system is across nodes; see
 * sim_cache.c. */
enum sim_mount {
    SIM_COHERENT,
    SIM_THROUGH,
    SIM_BACK,
    SIM_MOOSE,
    SIM_GLUSTER,
    SIM_CEPH,
    SIM_NFS,
    SIM_MOUNTS
};
const char *sim_mount_name(enum sim_mount mount); /* file system type in mountinfo */
int64_t sim_mount_type(void);                     /* f_type of the plan's mount */
/* Returns whether writes may be lost when the node that made them fails. */
bool sim_mount_loses(enum sim_mount mount);

/* `direct` bypasses the node's page cache (O_DIRECT). */
int64_t sim_node_read(struct sim_file *f, bool direct, int64_t at, void *bytes,
                      int64_t n);
void sim_node_write(struct sim_file *f, bool direct, int64_t at, const void *bytes,
                    int64_t n);
void sim_node_write_failed(struct sim_file *f, bool direct, int64_t end);
void sim_node_resize(struct sim_file *f, int64_t size);
void sim_node_reserve(struct sim_file *f, int64_t end);
void sim_node_sync(struct sim_file *f, int64_t from, int64_t to);
/* Records that a sync failed. The node may then discard its cached writes. */
void sim_node_sync_failed(struct sim_file *f);
void sim_node_locked(struct sim_file *f);
void sim_node_unlocks(struct sim_file *f);
void sim_node_opened(struct sim_file *f);
/* Records that a descriptor was closed. `last` is true if it was the last descriptor of
 * its open file description. */
void sim_node_closed(struct sim_file *f, int node, bool last);
void sim_node_asks(struct sim_file *f); /* revalidates the cached size and times */
struct sim_look {
    int64_t size;
    double modified, changed;
};
/* Stores the size and times as the node sees them. Returns false if the node has noticed
 * that the file was deleted. */
bool sim_node_look(struct sim_file *f, struct sim_look *l);

struct sim_file *sim_node_find(const char *path); /* looks up a name */
void sim_node_named(const char *path);            /* revalidates a cached name */

/* Discards everything that a node has cached. If `node` is -1, does so on all nodes. */
void sim_nodes_fail(int node);
/* Returns the number of times that a node has failed on a mount where this may lose
 * writes. */
int sim_failures(int node);

/* Closes all descriptors of a process that has exited or was killed. */
void sim_close_all(const struct sim_process *p);

/* ---- plans: sim_plan.c ---- */

enum { SIM_VARS = 4, SIM_OPS = 24, SIM_HINTS = 1024, SIM_RECORDS = 8 };

/* For each newer feature, the smallest seed whose plans may use it. Smaller seeds still
 * produce the same plans as before, so old failures can be repeated. */
enum {
    SIM_RICH = 1000000,
    SIM_FRAMED = 3000000,
    SIM_ERRING = 4000000,
    SIM_PAIRED = 5000000
};

struct sim_var {
    int set;        /* index of the variable's dataset */
    int type;       /* one of enum plan_type, numbered as NC_INT ... */
    bool small;     /* whether all values fit into every numeric type in memory */
    int other;      /* if not small: the only other type in memory that is used, which
                     * also represents all values; see plan_value */
    bool record;    /* whether the first dimension is unlimited */
    int rows, each; /* number of rows; elements per row and process in the first job */
    bool mixed;     /* whether rows are distributed cyclically rather than in blocks */
    int since;      /* op that defines the variable; -1 if it is defined at creation */
};

enum sim_what {
    SIM_PUT,     /* collective put */
    SIM_PUT_OWN, /* put in independent mode */
    SIM_POST,    /* nonblocking puts, completed by one wait */
    SIM_SYNC,
    SIM_GET,
    SIM_REDEFINE, /* enters define mode, and adds an attribute of n values and the
                   * variables whose `since` is this op */
    SIM_REOPEN,
    SIM_WHATS
};

enum { SIM_DOUBLE = 4 }; /* index of double in the table of types in sim_define.c */

struct sim_op {
    enum sim_what what;
    int var, first, n; /* variable; first row; number of rows or attribute values */
    int set;
    enum plan_kind kind;
    int memory;    /* number that selects the type in memory; see sim_memory_for */
    bool own;      /* put or get: whether it is independent; redefinition: whether to add
                    * another variable */
    bool buffered; /* whether a post uses bput */
    bool posted;   /* whether a get uses iget */
    bool takes;    /* redefinition: whether to also delete an attribute; post: whether to
                    * also cancel a request */
    int part;      /* number of elements that a process puts in each row; 0 for all of its
                    * elements */
    int shift;     /* offset in ranks: process r puts the part of process
                    * (r + shift) % procs */
    int wrong;     /* 1 + kind of the invalid call made before the op; 0 if none */
};

/* When the second job runs: after the first, concurrently with the third, or concurrently
 * with the first. */
enum sim_company { SIM_ALONE, SIM_TOGETHER, SIM_BESIDE };

struct sim_plan {
    uint64_t seed;
    int format; /* CDF-1, 2 or 5 */
    int procs, nodes;
    int recoverers; /* number of processes in later jobs */
    enum sim_company company;
    bool fill, parts, joined; /* whether to write subfiles, and whether a close joins
                               * them */
    bool lockless;            /* whether the file system lacks locks */
    bool listed, safe;        /* whether hints are in a file; whether safe mode is on */
    bool fine;                /* whether atomic accesses to shared memory are steps */
    bool reads;               /* whether later jobs only read */
    int rest;                 /* seconds to wait before an open that stages */
    bool framed;              /* whether blobs are compressed */
    char again[32];           /* value of nc_compress in later opens; "" if not set */
    int sets;                 /* number of datasets */
    enum sim_mount mount;
    enum sim_tool tool; /* tool that the second job runs */
    bool three;         /* whether a third job runs concurrently with the second */
    char hints[SIM_HINTS];
    int nvars, nops;
    struct sim_var vars[SIM_VARS];
    struct sim_op ops[SIM_OPS];
};

void sim_plan_draw(struct sim_plan *p, uint64_t seed);
/* Stores in *p the i-th of the small plans that are run in all orders, and in *moving the
 * job whose steps are reordered. Returns the plan's name, or NULL after the last one. */
const char *sim_plan_small(struct sim_plan *p, int i, int *moving);
void sim_plan_print(const struct sim_plan *p);
int sim_type_size(int type);
/* Returns the path of a dataset. */
const char *sim_path(int set);
/* Returns the number of elements in a row, summed over all processes. */
int64_t sim_row(const struct sim_plan *p, int var);
/* Returns the rank of the process that owns the i-th element of a row. */
int sim_owner(const struct sim_plan *p, int var, int64_t i);
/* Returns whether an op puts an element. If so, stores in *who the rank of the process
 * that puts it. */
bool sim_covers(const struct sim_plan *p, int op, int var, int64_t row, int64_t i,
                int *who);
/* Returns whether an error message reports that compressed frames of a process are
 * damaged. */
bool sim_is_of_frames(const char *words);
/* Returns the redefinition that added the attribute which `op` deletes, or -1 if there is
 * none. */
int sim_taken(const struct sim_plan *p, int op);
/* Returns the value that op puts into element i of a row, or the default fill value if op
 * is -1. The value has the representation of the variable's type; see plan_value.h. */
uint64_t sim_value(const struct sim_plan *p, int op, int var, int64_t row, int64_t i);

/* ---- results that processes report: sim_model.c ---- */

/* Numbers for ops that are not in the plan: the first job's create and close, and the
 * actions of later jobs. Each dataset has its own numbers. */
enum {
    SIM_CREATED = SIM_OPS,
    SIM_CLOSED = SIM_CREATED + SIM_SETS,
    SIM_OPENED = SIM_CLOSED + SIM_SETS,
    SIM_GET_AFTER = SIM_OPENED + SIM_SETS,
    SIM_CLOSED_AFTER = SIM_GET_AFTER + SIM_SETS,
    SIM_FINISHED = SIM_CLOSED_AFTER + SIM_SETS,
    SIM_TELLS
};

const struct sim_plan *sim_the_plan(void);
/* Records that this process is beginning an op. */
void sim_begins(int op);
/* Records the error code and message that an op returned on this process. */
void sim_told(int op, int err, const char *words);
/* Checks that an invalid call returned the expected error code, unless a fault has
 * occurred. */
void sim_told_wrong(const char *what, int expected, int err);
/* Checks a row that a get returned, in the representation of the type in memory. In the
 * first job, checks only this process's part. */
void sim_got(int op, int var, int64_t row, int memory, const uint64_t *values);
/* Called if a later job could not read a process's part of a row. Checks that the part is
 * allowed to be missing. */
void sim_lacks(int var, int64_t row, int who, const char *words);
/* Checks process `who`'s part of a row when other parts of the row could not be read. */
void sim_got_part(int var, int64_t row, int who, int memory, const uint64_t *values);
/* Called if a later job did not find a variable. Checks that it is allowed to be
 * missing. */
void sim_misses(int var);
/* Stores the number of records that an inquiry returned in a later job; -1 if the call
 * failed. */
void sim_got_records(int set, int64_t n);
/* Checks that a redefinition's attribute has the right values. If the attribute is
 * missing, checks that it is allowed to be. */
void sim_got_attribute(int op, bool there, bool right);

/* ---- only one job at a time may write a dataset in subfiles: sim_lease.c ---- */

/* Record that a process begins an op, and that the op has returned `err`. */
void sim_lease_begins(int op);
void sim_lease_told(int op, int err);
/* Records that a fault occurred. */
void sim_lease_harmed(void);
/* Record that another job or a tool begins a call that only the owner may make, and that
 * the call has returned `err`. */
void sim_lease_tries(void);
void sim_lease_tried(const char *what, int err);
/* Returns whether the first job's dataset was deleted or replaced after it was closed. */
bool sim_lease_replaced(void);

/* Kinds of faults. */
enum sim_harm {
    SIM_NOTHING,
    SIM_KILL,   /* kills one process and later its job, or the whole job immediately */
    SIM_POWER,  /* cuts the power to all nodes and servers */
    SIM_ERROR,  /* makes a system call fail */
    SIM_NODE,   /* kills all processes on a node immediately, and their jobs later */
    SIM_MEMORY, /* makes an allocation fail */
    SIM_STOP,   /* suspends a process for a long time; not a fault */
    SIM_HARMS
};
/* Records that a fault occurred, which suspends some of the library's guarantees. */
void sim_harmed(enum sim_harm harm);
/* Records that earlier writes were discarded because of a failed sync. */
void sim_lost_writes(void);

/* Records that a later job begins. */
void sim_next_job(void);

/* Checks the files that the last job left. */
void sim_judge(void);

/* ---- file decoder that does not use the library: sim_decode.c ---- */

enum { SIM_DECODED = SIM_VARS + SIM_OPS };

struct sim_decoded {
    bool there;      /* whether the file begins with "CDF" */
    char wrong[200]; /* reason why the file is invalid; "" if it is valid */
    int64_t records;
    int nvars;
    struct {
        char name[16];
        int type;
        bool record;
        int64_t row, rows, begin, step; /* elements per row; number of rows; offset of
                                         * the first row; bytes between rows */
    } vars[SIM_DECODED];
};

void sim_decode(struct sim_decoded *d, const struct sim_bytes *file);
uint64_t sim_decoded_value(const struct sim_decoded *d, const struct sim_bytes *file,
                           int var, int64_t row, int64_t i);

#ifdef __cplusplus
}
#endif

#endif
