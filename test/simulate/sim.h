/* A machine that breaks: processes on nodes, over one file system, all of it in memory,
 * and all of it decided by a seed. SimGrid runs the processes, as for benchmarks/scale;
 * what they call of the system and of threads is here. One runs at a time, and others
 * only when it comes to a step, so that nothing here needs a lock.
 *
 *     sim_main.cpp    seeds: what is drawn, and made smaller
 *     sim_orders.cpp  small programs, in all orders of their steps
 *     sim_run.cpp     a run: what is started, broken, started again and judged
 *     sim_plan.c      what the processes are to do
 *     sim_program.c   a process, linked with the library, of which each has a copy
 *     sim_access.c    its accesses of all kinds
 *     sim_define.c    its attributes, and what it asks
 *     sim_system.c    the system's calls; sim_files.c: descriptors, names, locks
 *     sim_sockets.c   its calls of sockets; sim_network.c: what is on its way
 *     sim_disk.c      what the disks have, and what a power cut leaves of it
 *     sim_cache.c     what nodes keep of files for themselves
 *     sim_threads.c   threads; sim_atomics.c: memory that they and processes share
 *     sim_machine.c   what benchmarks/scale's part of MPI-IO and of waiting asks for
 *     sim_model.c     what must be true; sim_decode.c reads the file for it */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_STORE "/sim/" /* below that all is simulated */
#define SIM_FILE  SIM_STORE "a.nc"
#define SIM_LOGS  SIM_STORE "logs"
#define SIM_WHOLE SIM_NOTES "whole.nc"
#define SIM_NOTES SIM_STORE "x." /* what is nobody's dataset begins so */

enum { SIM_PAGE = 4096, SIM_PROCESSES = 32, SIM_JOBS = 4, SIM_SETS = 2 };

/* ---- chance ---- */

/* Numbers below n (> 0), from a state that any number begins. */
uint64_t sim_draw(uint64_t *state, uint64_t n);

/* ---- processes ---- */

/* ncmpilog, ncvalidator -f, ncmpijoin */
enum sim_tool { SIM_NO_TOOL, SIM_REPLAY, SIM_FINISH, SIM_JOIN };

struct sim_process {
    int job, rank, node;
    enum sim_tool tool;
    int64_t pid, started; /* as the system tells them */
    bool dead, ended, lost /* dead, with its node */;
    const volatile void *looked_at; /* what it waits for, if it does: sim_atomics.c */
    uint64_t saw;
    int looks;
};

struct sim_thread {
    struct sim_process *process;
    void *(*run)(void *);
    void *argument, *result;
    bool over;
};

/* NULL: it is none of a job. */
struct sim_process *sim_self(void);

/* A thread of the same process, which `actor` is. */
void sim_thread_begins(void *actor, struct sim_thread *t);
void sim_thread_ends(void *actor, struct sim_thread *t);

/* The living process of that number on the node; NULL: there is none. */
const struct sim_process *sim_find(int node, int64_t pid);

/* Where others may go on, and where what is to break breaks: each call of the system,
 * with what it is about, comes here before it does anything. 0, or the errno that it
 * fails with. May not return. */
int sim_step(const char *call, const char *path, int64_t at, int64_t n);

/* Zeros, for a process's own use: there always are some. */
void *sim_room(size_t n);

/* Each allocation of the library comes here. False: there is no memory. */
bool sim_memory(void);

/* The seconds of the machine's clock, since 1970. */
double sim_clock(void);

/* Words for the trace, if there is one. */
void sim_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The run is over, and has gone wrong. Does not return. */
enum sim_verdict { SIM_FINE, SIM_LOST, SIM_WRONG, SIM_HUNG, SIM_LEFT, SIM_BROKEN };
void sim_fail(enum sim_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

/* ---- waiting: sim_threads.c ---- */

/* Until sim_wake of that address, or the machine's clock is at `until` (0: for ever). */
void sim_wait(const void *address, double until);
void sim_wake(const void *address, long most);
/* A process that was killed in the moment it woke up does nothing more. */
void sim_stay_dead(void);

/* ---- files: sim_disk.c ---- */

struct sim_write {
    int64_t page; /* -1: a new size */
    int64_t at, n;
    unsigned char *bytes;
    struct sim_write *next;
};

/* None is left; *last is where the next one goes. */
void sim_writes_drop(struct sim_write **first, struct sim_write ***last);

struct sim_bytes {
    unsigned char *at;
    int64_t size, room;
};

struct sim_lock {
    const void *owner; /* an open of the file, or a process */
    int64_t first, last;
    bool exclusive;
    struct sim_lock *next;
};

struct sim_file {
    int64_t inode;
    unsigned mode;
    int links;
    double modified, changed;
    int64_t version;                   /* how often it has changed */
    struct sim_bytes now, safe;        /* for who reads; what outlives the power */
    struct sim_write *pending, **last; /* from safe to now, in order */
    struct sim_lock *locks;
    struct sim_file *next;
};

struct sim_file *sim_file_new(unsigned mode);
int64_t sim_file_read(const struct sim_file *f, int64_t at, void *bytes, int64_t n);
void sim_file_write(struct sim_file *f, int64_t at, const void *bytes, int64_t n);
void sim_file_resize(struct sim_file *f, int64_t size);
void sim_file_sync(struct sim_file *f);
void sim_file_sync_range(struct sim_file *f, int64_t from, int64_t to);

/* NULL: nobody has that name. */
struct sim_file *sim_name_find(const char *path);
/* The i-th name; NULL: there are no more. */
const char *sim_name(int i);
void sim_name_set(const char *path, struct sim_file *f); /* NULL: it is taken away */
void sim_name_move(const char *from, const char *to);
void sim_names_sync(void);

/* Each page, each size and the names are as they were at another moment since they were
 * synced last. */
void sim_power_cut(uint64_t *chance);
int sim_boots(void); /* how many times there was one */

/* ---- files as the node of the process has them: sim_cache.c ---- */

/* What a node promises of files that others change. */
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
const char *sim_mount_name(enum sim_mount mount); /* as the system tells it */
int64_t sim_mount_type(void);                     /* likewise, of the plan's */
/* Does a node that fails take with it what was written there? */
bool sim_mount_loses(enum sim_mount mount);

/* direct: around its pages, as the descriptor says. */
int64_t sim_node_read(struct sim_file *f, bool direct, int64_t at, void *bytes,
                      int64_t n);
void sim_node_write(struct sim_file *f, bool direct, int64_t at, const void *bytes,
                    int64_t n);
void sim_node_write_failed(struct sim_file *f, bool direct, int64_t end);
void sim_node_resize(struct sim_file *f, int64_t size);
void sim_node_reserve(struct sim_file *f, int64_t end);
void sim_node_sync(struct sim_file *f, int64_t from, int64_t to);
/* What the node kept of it may not have got there, and is not tried again. */
void sim_node_sync_failed(struct sim_file *f);
void sim_node_locked(struct sim_file *f);
void sim_node_unlocks(struct sim_file *f);
void sim_node_opened(struct sim_file *f);
/* A descriptor; `last`: the last one of an opening. */
void sim_node_closed(struct sim_file *f, int node, bool last);
void sim_node_asks(struct sim_file *f); /* for size and times */
struct sim_look {
    int64_t size;
    double modified, changed;
};
/* False: nobody has it any more, and the node has found out. */
bool sim_node_look(struct sim_file *f, struct sim_look *l);

struct sim_file *sim_node_find(const char *path);
void sim_node_named(const char *path); /* the node knows whose name it is, or nobody's */

/* What the node has kept is lost; -1: all nodes. */
void sim_nodes_fail(int node);
/* How often it has lost something so. */
int sim_failures(int node);

/* All descriptors of a process are closed, as the system does. */
void sim_close_all(const struct sim_process *p);

/* ---- what is done: sim_plan.c ---- */

enum { SIM_VARS = 4, SIM_OPS = 24, SIM_HINTS = 1024, SIM_RECORDS = 8 };

/* Seeds below are drawn as they were at first, and so stay what they have found. */
enum { SIM_RICH = 1000000, SIM_FRAMED = 3000000, SIM_ERRING = 4000000 };

struct sim_var {
    int set;        /* the dataset that it is in */
    int type;       /* NC_INT ... */
    bool small;     /* any type in memory has its values */
    bool record;    /* its first dimension is the unlimited one */
    int rows, each; /* rows x (processes of the first job x each) elements */
    bool mixed;     /* element by element to the processes in turn, else in blocks */
    int since;      /* the op that defines it; -1: the creation */
};

enum sim_what {
    SIM_PUT,     /* collective */
    SIM_PUT_OWN, /* in independent mode */
    SIM_POST,    /* nonblocking, and waited for together */
    SIM_SYNC,
    SIM_GET,
    SIM_REDEFINE, /* an attribute of n bytes; and the variables that it is to define */
    SIM_REOPEN,
    SIM_WHATS
};

enum { SIM_DOUBLE = 4 }; /* the type in memory that sim_access.c has there */

/* How the library is asked; the last two are with MPI's types, of memory and of the file.
 */
enum sim_kind {
    SIM_STRIDED,
    SIM_BLOCK,
    SIM_SINGLE,
    SIM_MAPPED,
    SIM_LIST,
    SIM_MANY, /* ncmpi_mput_ */
    SIM_FLEXIBLE,
    SIM_TYPED,
    SIM_KINDS
};

struct sim_op {
    enum sim_what what;
    int var, first, n; /* rows, or records; or bytes */
    int set;
    enum sim_kind kind;
    int memory;    /* the type of values in memory: sim_access.c */
    bool own;      /* in independent mode; a redefinition: with more than one attribute */
    bool buffered; /* posted, and copied */
    bool posted;   /* a get that is waited for */
    bool takes;    /* a redefinition takes an attribute away; of posts one is cancelled */
    int part;      /* elements that a process puts of its part of a row; 0: all */
    int shift;     /* whose part a process puts: that of so many ranks on */
    int wrong;     /* which wrong call comes before it, and 1; 0: none */
};

/* Whom the second job meets: nobody, the third, or the first one. */
enum sim_company { SIM_ALONE, SIM_TOGETHER, SIM_BESIDE };

struct sim_plan {
    uint64_t seed;
    int format; /* 1, 2, 5 */
    int procs, nodes;
    int recoverers; /* processes of the next jobs */
    enum sim_company company;
    bool fill, parts, joined; /* parts: subfiles; joined: until a close makes one file */
    bool lockless;            /* the file system has no locks */
    bool listed, safe;        /* the hints come from a file; PNETCDF_SAFE_MODE */
    bool fine;                /* steps within shared memory, too */
    bool reads;               /* later jobs only read */
    int rest;                 /* seconds before an opening that stages; 0: none */
    bool framed;              /* blobs are compressed */
    char again[32];           /* nc_compress of all openings; "": none */
    int sets;                 /* datasets */
    enum sim_mount mount;
    enum sim_tool tool; /* is the company's */
    char hints[SIM_HINTS];
    int nvars, nops;
    struct sim_var vars[SIM_VARS];
    struct sim_op ops[SIM_OPS];
};

void sim_plan_draw(struct sim_plan *p, uint64_t seed);
/* The i-th of a few small ones, of which all orders are tried; NULL: there are no more.
 * *moving: the job that it is about. */
const char *sim_plan_small(struct sim_plan *p, int i, int *moving);
void sim_plan_print(const struct sim_plan *p);
int sim_type_size(int type);
double sim_fill(int type);
double sim_most(const struct sim_var *v);
/* Its name. */
const char *sim_path(int set);
/* Elements of a row, of all processes; whose the i-th is. */
int64_t sim_row(const struct sim_plan *p, int var);
int sim_owner(const struct sim_plan *p, int var, int64_t i);
/* Does the op put that element? *who: which process does, where it does. */
bool sim_covers(const struct sim_plan *p, int op, int var, int64_t row, int64_t i,
                int *who);
/* Do these words of an error name the frames of a process? */
bool sim_is_of_frames(const char *words);
/* The redefinition whose attribute that one takes away; -1: none. */
int sim_taken(const struct sim_plan *p, int op);
/* What op puts at element i of row r; op -1: fill. */
double sim_value(const struct sim_plan *p, int op, int var, int64_t row, int64_t i);

/* ---- what a process tells: sim_model.c ---- */

/* Ops that no plan has, for each dataset: of the first job, and of those behind it. */
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
/* This process begins an op; it has returned, with these words. */
void sim_begins(int op);
void sim_told(int op, int err, const char *words);
/* A wrong call has returned err; unless something has broken that is what is expected. */
void sim_told_wrong(const char *what, int expected, int err);
/* A row of a variable, as the library gives it: in the first job this process's part. */
void sim_got(int op, int var, int64_t row, const double *values);
/* In a later job that process's part of a row cannot be had: the error's words. */
void sim_lacks(int var, int64_t row, int who, const char *words);
/* It can, while others cannot. */
void sim_got_part(int var, int64_t row, int who, const double *values);
/* A later job does not find it. */
void sim_misses(int var);
/* How many records there are, as the library says to a later job; -1: it does not. */
void sim_got_records(int set, int64_t n);
/* Is the attribute of that redefinition there, and is it what was put? */
void sim_got_attribute(int op, bool there, bool right);

/* What is to break, and when it has: what is told depends on it. */
enum sim_harm {
    SIM_NOTHING,
    SIM_KILL,   /* a process, and the job some time later; or the job */
    SIM_POWER,  /* of all, and of the servers */
    SIM_ERROR,  /* of a call */
    SIM_NODE,   /* all its processes at once, and the job later */
    SIM_MEMORY, /* an allocation fails */
    SIM_STOP,   /* a process goes on much later: no harm at all */
    SIM_HARMS
};
void sim_harmed(enum sim_harm harm);
/* An error of a sync has taken along what was put before. */
void sim_lost_writes(void);

/* Another job begins, behind the first. */
void sim_next_job(void);

/* Judges what the last job has left. */
void sim_judge(void);

/* ---- the file, read without the library: sim_decode.c ---- */

enum { SIM_DECODED = SIM_VARS + SIM_OPS };

struct sim_decoded {
    bool there;      /* 0 < size, and it begins as such a file */
    char wrong[200]; /* or why it is none */
    int64_t records;
    int nvars;
    struct {
        char name[16];
        int type;
        bool record;
        int64_t row, rows, begin, step; /* elements of a row; bytes from row to row */
    } vars[SIM_DECODED];
};

void sim_decode(struct sim_decoded *d, const struct sim_bytes *file);
/* A value as such a file has it, in as many bytes as the type has. */
void sim_encode(int type, double value, unsigned char bytes[8]);
double sim_decoded_value(const struct sim_decoded *d, const struct sim_bytes *file,
                         int var, int64_t row, int64_t i);

#ifdef __cplusplus
}
#endif

#endif
