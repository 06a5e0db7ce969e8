/* Worker threads, and the lock and conditions that they share with their owner. They call
 * no MPI, so that any level of thread support does. All signals are blocked in them, but
 * those of a fault: the program's handlers run on the program's own threads.
 *
 * A worker calls `step` with the lock, again as long as it returns true. On false it
 * sleeps until it is woken, and calls it again; it ends when `stop` is set and step
 * returns false. A step that takes long unlocks meanwhile.
 *
 * No wake-up is lost. What step looks at is changed with the lock, and waking follows.
 * From the moment when step looks until the worker sleeps the lock is held: so the change
 * comes before, and step sees it, or after, and finds the worker asleep. The same holds
 * of `stop`, and of what base_worker_wait is called for, in a loop that looks at it.
 * Workers sleep in pthread_cond_wait; nothing is polled.
 *
 * Threads of the program. With MPI_THREAD_MULTIPLE threads may use different datasets
 * at the same time, and one dataset together as long as none of them changes
 * definitions or the data mode: they may access data independently, post requests,
 * wait for their own, and ask. Each dataset has a mutex for that, which is taken only
 * if MPI was initialised so. The few real functions behind the typed ones hold it
 * while they look at what others may be changing: number of records, queue, counters,
 * staging memory. The tables of ids have their own, but finding takes no lock; memory
 * is counted with atomics, and the words of an error belong to the thread.
 * test/api/threads is run with ThreadSanitizer by dev/check. ROMIO makes its own lock
 * when it is first wanted, and two threads at that time make two: file_open makes a
 * first call alone.
 *
 * What is shared without a lock, and why that is right on any processor:
 *
 * - tables of ids (base_ids), shared by threads: a table, and an object in it, is
 *   stored whole and read with acquire; smaller tables stay until nothing is entered
 * - counts: memory, statistics of threads, numbers of threads and owners, shared by
 *   threads: nothing hangs on a count but the count
 * - wishes: stop, paused, putting, unwanted, shared by threads: what is done about
 *   them is looked at under a mutex, or may come a moment later
 * - what a program has one of, shared by threads: the default format, the hints that were
 *   seen last, the clocks' difference, whether there are duties. Each is one value
 * - "it wrote" (file_late), shared by threads: set behind the write, taken back before
 *   the sync
 * - words and counters (node_word) for blocks of shared memory, shared by processes of a
 *   node: changing one releases what was written before, seeing that acquires it; who
 *   sleeps is found out in one order for all. See node.h
 * - where a shared log is used (burst_space), shared by processes of a node: each
 *   addition gives a part to one process; the first values come before a broadcast
 * - slots of a log (burst_log), shared by a reader, when the writer is dead: entries,
 *   a fence, the slot, a fence; a checksum, and another slot that is whole
 * - the table of staged blocks (stage_table), shared by processes of a node and their
 *   threads: a seqlock; see the comment there
 * - what a staged file's source is (stage_part), shared by processes of a node and
 *   their threads: sequentially consistent, with a version that is odd while it
 *   changes
 * - which node keeps a block, which nodes fail (stage_nodes), shared by processes of a
 *   node: one number each, and another node is asked whether it has the block
 *
 * The library's own threads are all made by base_worker, which has their lock, their
 * two conditions (there is work; some was done) and their end. What they do is a step
 * that burst, stage or blob hands to it. They call no MPI, and signals are left to the
 * program's threads.
 *
 * Memory of a node is MPI's: base_mpi.h says what is relied on.
 *
 * ROMIO holds one lock during each collective call, while it waits for other
 * processes. So threads of several processes must make transfers through a view, on
 * which MPI-IO is called together, in the same order everywhere, also on different
 * files; and close what has had one. Nothing else has that restriction from MPI-IO. */
#ifndef BASE_WORKER_H
#define BASE_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct base_worker {
    pthread_mutex_t lock;
    pthread_cond_t work;         /* there may be something to do */
    pthread_cond_t done;         /* something was done */
    _Atomic bool stop;           /* set with the lock; may be looked at without */
    struct base_thread *threads; /* those that run; the owner's alone */
};

/* Before all else. It has no thread yet. */
void base_worker_init(struct base_worker *w);

/* One more thread. False: there is none to be had. */
bool base_worker_start(struct base_worker *w, bool (*step)(void *of), void *of);

/* Waits until all threads have ended, having told them to, and takes the worker down.
 * Nobody else uses it any more. */
void base_worker_stop(struct base_worker *w);

void base_worker_lock(struct base_worker *w);
void base_worker_unlock(struct base_worker *w);

/* There is something to do, for one thread or all. With the lock or after it. */
void base_worker_wake(struct base_worker *w);
void base_worker_wake_all(struct base_worker *w);

/* Something was done, and the wait for that; with the lock, which waiting gives away
 * meanwhile. */
void base_worker_tell(struct base_worker *w);
void base_worker_wait(struct base_worker *w);

/* A step's wait until there is more to do, so many microseconds at the most. With the
 * lock. */
void base_worker_sleep(struct base_worker *w, int64_t microseconds);

#endif
