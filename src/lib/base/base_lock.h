/* Locks that say who may change a dataset's layout: held by an open file, gone with it or
 * with its process, and shared by nodes where the file system shares locks.
 *
 * A lock covers one byte that no data ever reach, so that it meets neither the locks that
 * MPI-IO takes on the bytes it writes, nor those of another purpose. Two openings of a
 * file exclude each other even in one process (open file description locks, fcntl(2)). */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

enum base_lock_place {
    BASE_LOCK_LAYOUT, /* of a dataset: its data are moved, joined or replayed */
    BASE_LOCK_MOVERS, /* of a journal: a process may still write to the dataset */
    BASE_LOCK_PARTS,  /* of a master file: its subfiles are written (shared), or joined */
    BASE_LOCK_HEADER, /* of a dataset: its header, or number of records, is compared and
                       * then written */
    BASE_LOCK_FRAMES, /* of a subfile: values in frames go to the master */
};

enum base_locked {
    BASE_LOCKED,  /* the descriptor holds it now */
    BASE_BUSY,    /* another opening holds it */
    BASE_LOCKLESS /* the file system has no such locks, or the kernel */
};

/* Tries to take a lock; does not wait. Exclusive ones need a descriptor that may write,
 * shared ones one that may read. Taking it again changes its kind. */
enum base_locked base_lock_try(int fd, enum base_lock_place place, bool exclusive);

/* Takes that of the header, or of frames, where there are locks, and waits while another
 * opening has it. NC_EFILE: for ten seconds; of frames, for five minutes in which the
 * master was not written to. */
int base_lock_header(int fd, const char *path);
int base_lock_frames(int fd, const char *path, const char *master);

/* Would an exclusive lock meet that of another opening? Takes none. */
bool base_lock_busy(int fd, enum base_lock_place place);

/* What base_lock_try would find, without taking the lock: BASE_LOCKED means that it is
 * free. Any open descriptor will do. */
enum base_locked base_lock_look(int fd, enum base_lock_place place, bool exclusive);

/* Gives it back; does nothing if it is not held. */
void base_lock_drop(int fd, enum base_lock_place place);

/* Of all of a file that is no dataset, a log or a stage: who writes it or reads it, and
 * whether he lives. Kept until the descriptor is closed. */
enum base_locked base_lock_whole(int fd, bool exclusive);

/* Between processes that share one open, which the locks above cannot tell apart: n bytes
 * from a place on, 0: all, until they are given back, or the process closes the file. It
 * waits. False: errno says why. */
bool base_lock_bytes(int fd, int64_t at, int64_t n);
bool base_unlock_bytes(int fd, int64_t at, int64_t n);

#endif
