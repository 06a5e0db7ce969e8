/* Locks that control changes to a dataset's layout. A lock belongs to an open file, and
 * ends when that file is closed or its process ends. It is valid on all nodes if the file
 * system supports that.
 *
 * A lock covers one byte beyond all data. It conflicts neither with MPI-IO's locks, which
 * cover the bytes that MPI-IO writes, nor with locks for another purpose. Two openings of
 * a file exclude each other even within one process (open file description locks,
 * fcntl(2)). */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

enum base_lock_place {
    BASE_LOCK_LAYOUT,  /* dataset: its data are being moved, joined or replayed */
    BASE_LOCK_MOVERS,  /* journal: a process may still write to the dataset */
    BASE_LOCK_PARTS,   /* master file: lease on its dataset (blob_lease.h) */
    BASE_LOCK_HEADER,  /* dataset: its header or record count is being written */
    BASE_LOCK_FRAMES,  /* subfile: values in frames are being moved to the master */
    BASE_LOCK_WRITERS, /* master file: a process of the lease's owner may write */
    BASE_LOCK_NAME,    /* dataset: a new file is about to get its name */
};

enum base_locked {
    BASE_LOCKED,  /* the descriptor owns the lock */
    BASE_BUSY,    /* another opening owns the lock */
    BASE_LOCKLESS /* the file system or the kernel does not support such locks */
};

/* Tries to acquire a lock without waiting. Exclusive locks need a writable descriptor,
 * shared locks a readable one. If the descriptor already owns the lock, changes its
 * kind. */
enum base_locked base_lock_try(int fd, enum base_lock_place place, bool exclusive);

/* Returns whether this system supports such locks. A file system may still lack them. */
bool base_lock_is_known(void);

/* Acquire the lock on the header, on the name, or on frames, if supported. Wait while
 * another opening owns it. NC_EFILE after a timeout: ten seconds for the header, thirty
 * for the name, and for frames five minutes since the last write to the master file. */
int base_lock_header(int fd, const char *path);
int base_lock_name(int fd, const char *path);
int base_lock_frames(int fd, const char *path, const char *master);

/* Returns whether another opening owns a lock that conflicts with an exclusive one. */
bool base_lock_busy(int fd, enum base_lock_place place);

/* Returns what base_lock_try would return, without acquiring the lock. BASE_LOCKED means
 * that the lock is free. Accepts any open descriptor. */
enum base_locked base_lock_test(int fd, enum base_lock_place place, bool exclusive);

/* Releases the lock if the descriptor owns it. */
void base_lock_release(int fd, enum base_lock_place place);

/* Locks a whole file other than a dataset (a log or a staged file) while this process
 * reads or writes it. The lock proves that the process is alive, because it ends when the
 * descriptor is closed. */
enum base_locked base_lock_whole(int fd, bool exclusive);

/* Lock and unlock n bytes at an offset (n = 0: to the end of the file). Unlike the locks
 * above, these also exclude processes that share one open file. base_lock_bytes waits.
 * The lock also ends when the process closes the file. Return false and set errno on
 * error. */
bool base_lock_bytes(int fd, int64_t at, int64_t n);
bool base_unlock_bytes(int fd, int64_t at, int64_t n);

#endif
