/* The lease on a dataset in subfiles. A job that creates a dataset or opens it for
 * writing owns it until the close is complete; ncmpijoin and ncmpi_delete own it while
 * they work. So whatever the owner caches about the dataset stays valid. Readers need no
 * lease.
 *
 * 1. Acquire. The first process of the job acquires an exclusive lock on a byte of the
 *    master that contains no data, and writes an owner record (base_owner.h) into the
 *    master's first page. The lock belongs to an open file, so two openings in one
 *    process exclude each other, too. If the lock is taken, acquiring fails immediately,
 *    and the message names the owner.
 * 2. Take over. A record without a lock was left by a killed owner, unless the file
 *    system has no locks or its locks work only within a node. The record is replaced if
 *    its process is dead. An owner on another host counts as dead only if there are locks
 *    and the master has not changed for a while. Other processes of the owner's job may
 *    outlive it: each writer holds a shared lock on a second byte, and the owner counts
 *    as alive while any process has that lock. Without locks, the last process to replace
 *    the record owns the dataset: each process waits and then checks whether its record
 *    is still there.
 * 3. Verify. Each process of the owner's job compares the record with its own before it
 *    writes to a file of the dataset, but at most every tenth of a second; the first
 *    process does so before each change of the first page. An owner may have been
 *    suspended, or cut off from the file system's locks, and then replaced. It then finds
 *    another record, so its lease is lost: it writes nothing more, and its calls fail.
 * 4. Renew. The owner changes the purpose in its record, as a job does when it joins the
 *    dataset at close.
 * 5. Release. The owner clears the record and releases the lock. If nothing was changed,
 *    it restores the record of the dead owner that it replaced.
 *
 * No MPI, because tools also use this module. */
#ifndef BLOB_LEASE_H
#define BLOB_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base_owner.h"
#include "cdf_superblock.h"

struct blob_lease {
    char *path;      /* path of the master */
    int fd;          /* descriptor of the master, locked if `owner`; -1 if not open */
    bool owner;      /* this process acquired the lease, and releases it */
    bool lost;       /* another job has taken over the lease */
    bool locked;     /* the file system supports locks */
    int64_t checked; /* when the record was last found in the master, in ns */
    enum cdf_purpose purpose;
    unsigned char record[BASE_OWNER_BYTES]; /* the owner's record, as in the first page */
    unsigned char before[BASE_OWNER_BYTES]; /* record of the dead owner that this one
                                             * replaced; zeros if none */
    enum cdf_purpose purpose_before;
};

/* Acquires the lease on the dataset at a path. Sets *lease to NULL on error, or if the
 * file has no subfiles. If fd is not -1, it is the caller's descriptor of the file. With
 * `anew`, a dataset in subfiles is about to be created in the file, so it gets a lease
 * even without subfiles. NC_EFILE if another job owns the dataset or the path now refers
 * to another file. */
int blob_lease_acquire(const char *path, int fd, enum cdf_purpose purpose, bool anew,
                       struct blob_lease **lease);

/* For a process that may not write to the master: checks that no other job owns the
 * dataset. NC_EFILE if one does. */
int blob_lease_look(const char *path);

/* Returns whether another opening owns the dataset whose master is open as `fd`. */
bool blob_lease_is_held(int fd);

/* Returns a lease for another process of the owner's job; NULL if out of memory. */
struct blob_lease *blob_lease_share(const char *path, const unsigned char *record);

/* Check that this job still has the lease; NC_EFILE if not. blob_lease_check reads the
 * record now; blob_lease_check_soon only if the last check was some time ago. */
int blob_lease_check(struct blob_lease *l);
int blob_lease_check_soon(struct blob_lease *l);

/* Writes the first page of a new dataset, once its file has been emptied. */
int blob_lease_begin(struct blob_lease *l, const struct cdf_superblock *page);

/* Checks the lease, then writes the first page with the owner's record. If `quietly`,
 * preserves the master's modification time, because no values change. */
int blob_lease_write(struct blob_lease *l, const struct cdf_superblock *page,
                     bool quietly);

/* Changes the purpose in the record. */
int blob_lease_renew(struct blob_lease *l, enum cdf_purpose purpose);

/* Ends the lease and frees it: writes the page, if not NULL, and clears the record. A
 * shared or lost lease writes nothing. No-op if the lease is NULL. */
int blob_lease_release(struct blob_lease *l, const struct cdf_superblock *page,
                       bool quietly);

#endif
