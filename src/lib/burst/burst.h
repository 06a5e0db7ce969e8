/* The log driver: puts go to a log on a fast device; what is logged reaches the file when
 * it is flushed. The parts of one dataset's layer, private to this module.
 *
 * With the hint nc_burst_buf the driver burst stands above mpio. Its put appends to a log
 * and returns; flush, close and other operations that need the complete file drain the
 * log through the put of the layer below. doc/burst-buffer.md has the rest. */
#ifndef BURST_H
#define BURST_H

#include <pthread.h>

#include "base_arena.h"
#include "burst_log.h"
#include "burst_reader.h"
#include "driver.h"
#include "file_descriptor.h"
#include "file_late.h"
#include "node.h"

/* A logged write whose values may not be in the file yet. */
struct burst_write {
    int64_t data_off; /* in the log; unused where flags say fill */
    int64_t nelems;
    int64_t low, high; /* bytes of the file that it touches lie in [low, high) */
    int64_t serial;    /* its number among all of this layer, from 1 */
    int64_t sum_at;    /* of its entry in the log: where its checksum lies */
    int64_t epoch;     /* collective calls come one after the other, of all processes */
    int64_t seq;       /* of its entry in the log, from 0; -1: it has none */
    int varid;
    int source;            /* of its values: a reader, or -1 for this process's own log */
    int status;            /* what came of the last attempt to bring it to the file */
    unsigned char type;    /* of its values: enum conv_type */
    bool external;         /* they are as in the file */
    unsigned char flags;   /* BURST_FILL, BURST_RAW */
    unsigned char fill[8]; /* if BURST_FILL: the value, as in the file */
    bool strided;
    bool chosen; /* somebody waits for it */
    bool cancelled;
    bool written;   /* in the file, as far as this process alone is concerned */
    bool alone;     /* put in independent mode: once written, never again */
    int64_t slab[]; /* start, count, stride; raw: how many runs, then offset and length
                     * of each, relative to the variable */
};

struct burst_pool;

struct burst {
    struct driver base;
    struct burst_log log;
    char *path; /* of the dataset, absolute, without symbolic links: the logs' names */
    char *dir;  /* of the logs, absolute */
    struct file_descriptor file; /* the dataset's; its fd is -1: none */
    struct file_late late;       /* ... on a mount that may be late */
    pthread_mutex_t noting;      /* what follows, and the log's note */
    int changers;                /* that are changing the file just now */
    bool look;                   /* some of it only this process knows of */
    bool made;                   /* there is a log, on every process */
    bool logging;                /* false: puts go straight to the file */
    bool fresh; /* the log may be written from its beginning: its device knows that too */
    bool indep;
    bool shared;          /* one log for all processes of a node */
    bool coherent;        /* nobody reads what has not reached the file */
    bool promised;        /* a sync said that what is logged now is safe */
    bool doubtful;        /* and one of the file failed: the log alone is */
    bool named;           /* the dataset's name is on the device */
    int64_t records_told; /* of those in the file, what this process put there alone */
    bool file_dirty;      /* something was brought to the file since its last sync */
    bool unsynced;        /* likewise by threads of this process */
    bool halfway; /* the layer below may keep some of a change to itself: netCDF-C does */
    bool unnoted; /* what the log says is in the file may not be on its device */
    uint64_t token;
    int64_t epoch;
    int64_t drained_at; /* bytes that had been logged when the caller last drained some */

    /* In the order in which they were made. */
    struct burst_write **writes;
    int64_t nwrites, capacity;
    int64_t serial; /* of the last one */
    int64_t
        asked; /* of the last one when the program last said that draining may begin */
    struct base_arena arena;
    uint64_t vars;              /* which variables they are of: bit varid % 64 */
    struct burst_place *places; /* of the first so many, in order */
    int64_t nplaces;
    int64_t *touching; /* what burst_touching found */
    int64_t touching_capacity;

    struct burst_reader **sources; /* while logs are replayed */
    int nsources;
    struct burst_reader **watched; /* likewise, until they are closed */
    int nwatched;
    void (*progress)(const struct burst *b, int64_t done, int64_t all); /* may be NULL */
    bool by_hand;           /* the logs were named, by the user, to be replayed */
    bool any_file, any_log; /* replay to a file that is not the same one; what there is */

    struct burst_space *space; /* of a shared log */
    struct node_memory memory;
    struct node *node;
    struct burst_pool *pool; /* threads that drain; NULL: none */
    _Atomic bool putting;    /* the caller is at a put just now */
    int64_t unlogged;        /* puts that are posted and have no ticket */
};

/* May no process write to the file without the others? HDF5 extends records and writes
 * compressed chunks only so. What is put in independent mode goes straight to it. */
static inline bool burst_together(const struct burst *b)
{
    const struct dataset *ds = b->base.ds;
    return ds->hints.no_indep_rw || (ds->netcdf4 && ds->nprocs > 1 && !b->indep);
}

/* Of values. */
static inline int64_t burst_bytes(const struct burst_write *w)
{
    return w->flags & BURST_FILL ? 0 : w->nelems * conv_size((enum conv_type)w->type);
}

/* To be called when any of them has changed. */
static inline void burst_note_waiting(struct trace_stats *s)
{
    int64_t waiting =
        s->burst_logged_bytes - s->burst_drained_bytes - s->burst_cancelled_bytes;
    s->burst_waiting_bytes = waiting > 0 ? waiting : 0;
}

/* What is in the file has to be written once more, behind something that failed. */
static inline void burst_unwrite(struct burst *b, struct burst_write *w)
{
    if (w->written) b->base.ds->stats.burst_drained_bytes -= burst_bytes(w);
    w->written = false;
}

static inline uint64_t burst_bit(int varid)
{
    return (uint64_t)1 << (varid % 64);
}
#define BURST_ALL UINT64_MAX

/* ---- burst_open.c ---- */

/* A layer above `lower`, with no log, and its end. Collective; agreed. */
int burst_attach_all(struct dataset *ds, struct driver *lower, struct burst **out);
void burst_detach_all(struct burst *b);

/* Those of the layer below, which may change the file. */
int burst_sync_all(struct burst *b);
/* Before the log is started anew, of what was promised in it. Agreed. */
int burst_sync_drained_all(struct burst *b);
int burst_sync_numrecs_all(struct driver *self);

/* ---- burst_index.c: what is logged ---- */

/* A write with room for `numbers` in its slab; not yet among the others. NULL: no memory.
 */
struct burst_write *burst_new_write(struct burst *b, int varid, size_t numbers);
/* Tells where they lie in the file and adds them all; so many bytes of them are new in
 * the log. NC_ENOMEM. */
int burst_add_writes(struct burst *b, struct burst_write **writes, int64_t n,
                     int64_t logged);
static inline int burst_add_write(struct burst *b, struct burst_write *w)
{
    return burst_add_writes(b, &w, 1, 0);
}
/* Serial numbers go up from 1. A request's ticket is the lower half of one, which is
 * never 0; there are no 2^32 writes at a time. */
static inline int64_t burst_next_serial(int64_t serial)
{
    return serial + ((uint32_t)(serial + 1) == 0 ? 2 : 1);
}
/* The write that has this ticket; NULL: it is forgotten. */
struct burst_write *burst_find(const struct burst *b, uint32_t ticket);
/* Forgets those of some variables that are written, or cancelled. */
void burst_forget(struct burst *b, uint64_t vars);

/* Where the elements of a slab, or the runs of a raw write, lie in the file. */
void burst_bounds(const struct cdf_header *h, const struct burst_write *w, int64_t *low,
                  int64_t *high);
/* The same region, to be walked; NULL: no memory. */
struct region *burst_region(const struct cdf_header *h, const struct burst_write *w);
/* Of a raw write whose variable starts at begin. */
struct region *burst_runs(const struct burst_write *w, int64_t begin);

/* ---- burst_place.c ---- */

/* Writes that touch bytes [low, high) of the file, as they follow each other: *n of them,
 * at most so many, in b->touching. NC_ENOMEM. */
int burst_touching(struct burst *b, int64_t low, int64_t high, int64_t most, int64_t *n);
/* To be called when they are others. */
void burst_forget_places(struct burst *b);

/* ---- burst_put.c ---- */
int burst_put_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                  int error);
int burst_put(struct driver *self, struct access_request *const *reqs, int64_t n);

/* Logs requests, if there is a log; how many. Where there is none any more, it says so.
 */
int64_t burst_log_requests(struct burst *b, struct access_request *const *reqs,
                           int64_t n);

/* ---- burst_post.c: nonblocking puts that are logged when they are posted ---- */
void burst_post(struct driver *self, struct access_request *const *reqs, int64_t n);
int burst_wait_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                   int error);
int burst_wait(struct driver *self, struct access_request *const *reqs, int64_t n);
void burst_cancel(struct driver *self, struct access_request *const *reqs, int64_t n);

/* ---- burst_get.c, burst_others.c, burst_overlay.c ---- */
int burst_get_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                  int error);
int burst_get(struct driver *self, struct access_request *const *reqs, int64_t n);
/* Does any process read where another has logged something of these variables, or where
 * it itself has if own? The same answer everywhere; perhaps true where nothing meets.
 * Collective. NC_EMPI. */
int burst_others_all(struct burst *b, uint64_t vars, struct access_request *const *reqs,
                     int64_t n, bool own, bool *meets);
/* Where a request lies in the file; of an empty one *high is 0. */
void burst_request_bounds(const struct burst *b, const struct access_request *r,
                          int64_t *low, int64_t *high);
/* Lays this process's logged values over what a get read from the file. */
int burst_overlay(struct burst *b, struct access_request *r);

/* ---- burst_batch.c: from the log to the file, piece by piece ---- */

/* Which writes, and how far they have come. */
struct burst_walk {
    struct burst *b;
    const struct cdf_header *header;
    struct burst_write *const *writes;
    uint64_t vars;
    const unsigned char *contested; /* by variable; NULL: none is */
    bool want_contested;            /* only those, or only the others */
    bool again;                     /* those that are written too, unless put alone */
    bool chosen;                    /* only those that are */
    int64_t epoch;                  /* only of this one; -1: of all */
    int64_t end;                    /* only those before this one */
    int64_t limit;                  /* bytes of a batch */
    int64_t i, done;                /* the next write, and its elements that are past */
};
/* Bytes that a process may take for draining. */
int64_t burst_memory(const struct burst *b);
void burst_walk_start(struct burst_walk *k, struct burst *b, uint64_t vars);
/* Would a batch be empty? */
bool burst_walk_ended(struct burst_walk *k);
/* How many batches there are; the walk stays where it is. */
int64_t burst_walk_batches(const struct burst_walk *k);
/* The next writes, or parts of one that is larger than the limit, as requests. */
struct burst_batch {
    struct base_arena arena;
    struct burst_piece *pieces;
    struct access_request **reqs;
    int64_t n, made; /* requests; so many of the first have their values */
    int64_t used;    /* bytes of these */
    unsigned char *bytes;
};
/* Of one that is zeroed; it is to be freed, also after an error. May be called by a
 * thread, for writes that are its own. */
int burst_batch_make(struct burst_walk *k, struct burst_batch *t);
void burst_batch_free(struct burst_batch *t);
/* Hands the next batch, with nothing in it at the end, to the layer below. Writes that
 * are through are marked so. */
int burst_walk_put_all(struct burst_walk *k);
int burst_walk_put(struct burst_walk *k);
/* Of the walks that follow: nothing has failed yet. */
void burst_walk_forgive(struct burst *b);
/* Says of all writes that failed since then which they are, and takes it that they and
 * all behind them are not in the file. Returns the first code. */
int burst_walk_report(struct burst *b);
/* Reads elements [from, from + n) of a write, of its own type; xtype is the variable's.
 */
int burst_read_values(const struct burst *b, const struct burst_write *w, int xtype,
                      int64_t from, int64_t n, void *bytes);

/* ---- burst_drain.c ---- */

/* Everything that is logged of some variables is in the file. Collective; agreed. */
int burst_drain_all(struct burst *b, uint64_t vars);
/* The same for what this process logged that touches bytes [low, high) of the file, and
 * for all that it logged before: without the others. */
int burst_drain_alone(struct burst *b, int64_t low, int64_t high);
/* The same for writes that are chosen, on any process: vars are their variables, on all.
 * Where order between processes matters, the whole variable. */
int burst_drain_chosen_all(struct burst *b, uint64_t vars);
/* Those of this process, without the others. */
int burst_drain_chosen_alone(struct burst *b);

/* ---- burst_retire.c: what this process alone has brought to the file ---- */

/* In independent mode, what this process has logged and brought to the file is done with:
 * it is forgotten, and the log says that it is not to be replayed. Elsewhere there is
 * nothing to do. Local. NC_EWRITE ...: it stays listed, and is not put again. */
int burst_retire(struct burst *b);
/* All that this process has logged is in the file: the log says so. Local. */
int burst_retire_log(struct burst *b);
/* What the log says is in the file is on the log's device, too. Local. NC_EWRITE ... */
int burst_sync_retired(struct burst *b);
/* The number of records in the file is not less than this process knows. Local. */
int burst_tell_records(struct burst *b);

/* ---- burst_order.c ---- */

/* In which variables may writes of several processes, of different epochs, overlap?
 * *flags gets a byte for each variable; NULL if there are none. Collective; agreed. */
int burst_contested_all(struct burst *b, uint64_t vars, unsigned char **flags);

/* ---- burst_begin.c: the log of a dataset ---- */

/* Logs from here on, if a log can be made everywhere; without one puts go straight to the
 * file. Collective. NC_EMPI. */
int burst_begin_all(struct burst *b);
/* Time that the caller has spent here since then. */
void burst_note_time(struct burst *b, double since);
/* Logs by the definitions as they are now; nothing was logged since redef. Local. */
void burst_resume(struct burst *b);
/* Ends the log, which is empty unless keep. Collective. */
void burst_end_all(struct burst *b, bool keep);
/* All values are in the file: so is the number of records. Collective; agreed. */
int burst_settle_records_all(struct burst *b);
/* Everything is in the file: the log starts anew. Collective; agreed. */
int burst_restart_all(struct burst *b);
/* A digest of what a log depends on in a dataset's definitions. */
uint64_t burst_definitions(const struct dataset *ds);
/* The beginning of the names of a dataset's logs, without the directory. */
void burst_log_prefix(const struct burst *b, char *prefix, size_t size);

/* ---- burst_file.c: where the dataset's file and the logs are ---- */

/* Finds both, as long as the program's directory and the file's name are those that the
 * caller of create or open saw: whatever is done later goes through what this keeps.
 * Local; NC_ENOMEM. */
int burst_find_file(struct burst *b);
/* Opens the dataset's file, once on each node; b->file.fd stays -1 where it fails, and
 * this process then has no log and no threads. Collective, of b->node. */
void burst_open_file_all(struct burst *b);
void burst_forget_file(struct burst *b);
/* What tells a file from a later one of the same name; 0 where nothing does. */
void burst_file_identity(const struct burst *b, struct burst_header *h);
/* The user who owns it; -1: unknown. */
int64_t burst_file_owner(const struct burst *b);
/* Is it the file that a log says it is of? */
bool burst_file_is(const struct burst *b, const struct burst_header *h, bool same_boot);
/* May bytes be written there beside MPI-IO, and does it tell at once when it was changed?
 */
bool burst_file_coherent(const struct burst *b);
/* Around whatever may change the file; they nest, and threads may call them. look: this
 * process is to find out what the file has become; else another one does, after an
 * agreement behind the change. */
void burst_change(struct burst *b);
void burst_changed(struct burst *b, bool look);
/* It may take long, and goes on. */
void burst_change_lasts(struct burst *b);
/* Before the end of a change: a netCDF-4 file has it whole. Without that the notes go on
 * saying that the file is being changed. burst_whole_all: collective, agreed;
 * burst_whole: by this process, which does nothing where others write, too. */
int burst_whole_all(struct burst *b);
int burst_whole(struct burst *b);

/* The same around a call of all to the layer below; what that returned is passed on. */
void burst_change_below(struct burst *b);
int burst_changed_below_all(struct burst *b, int err);
/* What the file is now; false: nobody can tell. */
bool burst_file_note(const struct burst *b, struct burst_note *note);
/* Has nobody changed it since the logs' latest notes? `what` is known of the logs. Local.
 * NC_EBADLOG, NC_EFILE. */
enum {
    BURST_UNQUIET = 1,  /* a process was just changing the file when it was killed */
    BURST_REBOOTED = 2, /* the machine has been started anew since */
    BURST_COPIED = 4    /* some are copies of those that were left */
};
int burst_file_unchanged(const struct burst *b, const struct burst_note *last, int what);

/* ---- burst_find.c ---- */

/* Logs that this process has opened and locked. */
struct burst_found {
    struct burst_reader **logs;
    int n;
    int64_t capacity;
    int64_t contested; /* logs that another opening is at */
    uint64_t progress; /* how far that is with those, hashed */
    char words[512];   /* who it is, of the last of them; "": none is contested here */
    int64_t directory; /* as its node's first process sees it, the number of it; 0: of a
                        * file system that other nodes may not share */
};
/* Each log of the dataset that any process sees, on one process. Waits for another
 * opening that recovers them. Collective; agreed. */
int burst_find_all(struct burst *b, struct burst_found *f);
void burst_let_go(struct burst_found *f);
/* Removes the logs of an earlier file of this name, by one process of each node. Local.
 */
void burst_discard(struct burst *b);

/* ---- burst_recover.c ---- */

/* Replays the unfinished logs of the dataset that was opened. Collective; agreed. */
int burst_recover_all(struct burst *b);
/* Replays logs that the caller has opened, some on each process; *writes counts those of
 * all. The logs stay. Collective; agreed. */
int burst_replay_all(struct burst *b, struct burst_reader **logs, int n);
/* To be called before the logs are closed, and after the dataset where that is, too. */
void burst_unwatch(struct burst *b);
/* From here on the layers below ask before they write, and to there. */
void burst_watch_writes(struct burst *b);
void burst_unwatch_writes(struct burst *b);
/* An error of any process, and the words of the first one that has some, on all. */
int burst_share_words_all(struct dataset *ds, int err);
/* Behind that: all is on the device, no entry of the logs waits any longer, unless they
 * are kept for another file, and they go if they are to. Collective; agreed. */
int burst_replayed_all(struct burst *b, struct burst_reader **logs, int n, bool remove);

/* ---- burst_pool.c: threads that drain ---- */

/* May threads write to the file at all? The same from open to close. */
bool burst_pool_may(const struct burst *b);
/* Starts the threads, if they are asked for and can reach the file. */
void burst_pool_start(struct burst *b);
void burst_pool_stop(struct burst *b);
/* Are there threads, or can there be? They then wait to be told to begin. */
bool burst_pool_ready(struct burst *b);
/* They begin at once with what is logged by now. False: there are none. */
bool burst_pool_begin(struct burst *b);
/* Is all in the file that was logged up to a serial, as far as this process alone is
 * concerned? If a thread could not write it, what that met with. */
int burst_pool_test(struct burst *b, int64_t serial, bool *through);
/* Waits until no thread writes, and keeps them from it. NULL: nothing to do. */
void burst_pool_pause(struct burst_pool *p);
void burst_pool_go_on(struct burst_pool *p);
/* The dataset's statistics learn what threads have done. */
void burst_pool_tell(struct burst_pool *p);
/* Around a change of what is logged. Unlocking wakes a thread. */
void burst_pool_lock(struct burst_pool *p);
void burst_pool_unlock(struct burst_pool *p);

#endif
