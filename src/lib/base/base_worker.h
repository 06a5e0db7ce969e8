/* Worker threads, with a lock and conditions that they share with their owner. Workers do
 * not call MPI, so any level of thread support suffices. They block all signals except
 * faults, so the program's signal handlers run on the program's own threads.
 *
 * A worker calls `step` with the lock held, repeatedly while it returns true. When step
 * returns false, the worker sleeps until it is woken, and then calls step again. The
 * worker ends when `stop` is set and step returns false. A long step releases the lock
 * while it works.
 *
 * No wake-up is lost:
 * 1. The state that step reads is changed with the lock held, and the wake-up follows.
 * 2. The worker holds the lock from the moment step reads the state until it sleeps.
 * 3. A change is therefore made either before step reads the state, and step sees it, or
 *    after the worker has gone to sleep, and the wake-up reaches it. The same is true of
 *    `stop`, and of base_worker_wait, which callers use in a loop that checks a
 *    condition. Workers sleep in pthread_cond_wait; nothing polls.
 *
 * The program's threads. With MPI_THREAD_MULTIPLE, threads may use different datasets at
 * the same time. They may share one dataset as long as none of them changes definitions
 * or the data mode: they may access data independently, post requests, wait for their own
 * requests, and inquire. Each dataset has a mutex, which is used only if MPI was
 * initialized with that level. The API's untyped functions hold it while they access what
 * other threads may change: number of records, queue, counters, staging memory. The
 * tables of ids have their own lock, which look-ups do not take. Memory is counted with
 * atomics, and error messages are per thread. dev/check runs test/api/threads with
 * ThreadSanitizer. ROMIO creates its lock on first use, when two threads could create two
 * locks, so file_open makes the first call with only one thread.
 *
 * The following state is shared without a lock. The list explains why each use is correct
 * on any processor:
 *
 * - tables of ids (base_ids), shared by threads: a table, and an object in it, is stored
 *   complete and read with acquire; smaller tables remain until the map is empty
 * - counts (memory, statistics of threads, numbers of threads and owners), shared by
 *   threads: no other memory depends on their values
 * - flags (stop, paused, putting, unwanted), shared by threads: checked again under a
 *   mutex, or may take effect later
 * - global variables, shared by threads: the default format, the last hints seen, the
 *   clock difference, whether there is work to do when MPI ends. Each is a single value
 * - "this process has written" (file_coherence), shared by threads: set after the write,
 *   cleared before the sync
 * - words and counters (node_word) for blocks of shared memory, shared by processes of a
 *   node: changes are releases, reads are acquires; sleeping is sequentially consistent.
 *   See node.h
 * - the used part of a shared log (burst_space), shared by processes on a node: each
 *   addition assigns a range to one process; a broadcast follows the initial values
 * - slots of a log (burst_log), read by another process after the writer has died: the
 *   writer stores the entries and then one of two copies of the slot, with fences; a torn
 *   copy has a wrong checksum, and the other copy is then complete
 * - the table of staged blocks (stage_table), shared by processes on a node and their
 *   threads: a seqlock; see the comment there
 * - the source of a staged file (stage_part), shared by processes on a node and their
 *   threads: sequentially consistent, with a version that is odd during a change
 * - the node that caches a block, and the nodes that fail (stage_nodes), shared by
 *   processes on a node: one number each; the other node confirms that it has the block
 *
 * base_worker creates and ends all threads of the library. It provides the lock and the
 * two conditions (work available; work done) for each group of threads. The modules
 * burst, stage and blob define the steps.
 *
 * A node's shared memory is an MPI window; see node.h.
 *
 * ROMIO holds one lock during each collective call, even while it waits for other
 * processes. Transfers through a view call MPI-IO collectively, so threads of several
 * processes must make them in the same order on all processes, even for different files.
 * The same applies to closing a file that has had a view. MPI-IO imposes no other
 * restriction. */
#ifndef BASE_WORKER_H
#define BASE_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct base_worker {
    pthread_mutex_t lock;
    pthread_cond_t work;         /* work may be available */
    pthread_cond_t done;         /* work was done */
    _Atomic bool stop;           /* set with the lock held; may be read without it */
    struct base_thread *threads; /* list of running threads; accessed only by the owner */
};

/* Initializes a worker without threads. */
void base_worker_init(struct base_worker *w);

/* Starts one more thread. Returns false if the system refuses to create it. */
bool base_worker_start(struct base_worker *w, bool (*step)(void *of), void *of);

/* Ends all threads, waits for them, and destroys the worker, which no other thread may be
 * using. */
void base_worker_stop(struct base_worker *w);

void base_worker_lock(struct base_worker *w);
void base_worker_unlock(struct base_worker *w);

/* Wake one thread, or all. The caller holds the lock or has just released it. */
void base_worker_wake(struct base_worker *w);
void base_worker_wake_all(struct base_worker *w);

/* base_worker_report_done reports that work was done; base_worker_wait waits for such a
 * report. The caller holds the lock, which base_worker_wait releases while it waits. */
void base_worker_report_done(struct base_worker *w);
void base_worker_wait(struct base_worker *w);

/* In a step, waits up to `microseconds` for more work. The caller holds the lock. */
void base_worker_sleep(struct base_worker *w, int64_t microseconds);

#endif
