/* Two records in a log's head, after the commit records. One names the log's holder: the
 * job that writes the log, or the process that replays it. The other identifies the file
 * of the log itself, so that a copy can be recognized. If the file system supports locks,
 * a lock (flock) shows whether the holder is alive, and the record only names the holder.
 * Without locks, the record alone shows it. No MPI. */
#ifndef BURST_HOLDER_H
#define BURST_HOLDER_H

#include "base_lock.h"
#include "base_owner.h"
#include "burst_format.h"

struct burst_holder {
    struct base_owner owner;
    bool replays;  /* the holder replays the log; if false, it writes the log */
    bool released; /* the holder has given up the log, though it may be alive */
};

/* Writes both records into the head of a new log, which is open as `fd`. */
void burst_holder_start(unsigned char *head, const struct burst_header *h, int fd);

/* Releases the log if this process is its holder, so that another opening by the same
 * process can acquire it. */
void burst_holder_release(int fd, const struct burst_header *h);

/* Returns whether the file open as `fd` differs from the one that the log's record
 * identifies, and so is a copy; false if unknown. */
bool burst_holder_copied(int fd, const struct burst_header *h);

/* Stores this file's identity in the log, so that it no longer counts as a copy.
 * NC_EWRITE ... */
int burst_holder_adopt(int fd, const struct burst_header *h, const char *path);

/* ---- claims of readers ---- */

/* A reader's claim to the log that is open as `fd`. */
struct burst_claim {
    int fd; /* the metadata log */
    const struct burst_header *header;
    const char *path;
    struct burst_holder holder; /* this reader's record; all zero until it has acquired
                                 * the log */
    bool lockless; /* no lock prevents other processes from taking over the log */
};
enum burst_busy {
    BURST_FREE,
    BURST_WRITTEN, /* the process that writes it is alive */
    BURST_READ,    /* another reader is replaying it */
    BURST_UNSEEN   /* no locks, and the last holder is on another host */
};

/* Locks both files. If one is already locked, sets *busy to the reason. */
enum base_locked burst_claim_lock(const struct burst_claim *c, int data_fd,
                                  enum burst_busy *busy);
/* Decides whether this reader owns the log. `locked` is what burst_claim_lock returned,
 * and `err` the result of reading the head. If `seize`, acquires the log even if a holder
 * on another host may be alive. NC_EFILE, with a message naming the holder, or `err`. */
int burst_claim_decide(struct burst_claim *c, enum base_locked locked, bool seize,
                       int err, enum burst_busy *busy);
/* Returns whether another process could take over the log because no lock protects it. */
bool burst_claim_is_lockless(const struct burst_claim *c);
/* Checks that no other process took over the log. NC_EFILE if the reader must stop. */
int burst_claim_check(const struct burst_claim *c);

#endif
