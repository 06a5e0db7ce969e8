/* Replays unfinished logs. burst_scan_logs.c finds and locks a dataset's logs;
 * burst_recover.c checks and replays them. */
#ifndef BURST_RECOVER_H
#define BURST_RECOVER_H

#include "burst_reader.h"
#include "driver.h"

struct burst;

struct burst_recover {
    struct burst_reader **sources; /* logs being replayed */
    int nsources;
    struct burst_reader **checked; /* replayed logs that no other process may take over */
    int nchecked;
    int (*lower_may_write)(void *argument); /* the layer below's check; may be NULL */
    void *lower_argument;
    bool by_hand;           /* the user named the logs to replay */
    bool any_file, any_log; /* replay into any file; replay every valid entry */
};

/* The logs that this process has opened and locked. */
struct burst_found {
    struct burst_reader **logs;
    int n;
    int64_t capacity;
    int64_t contested; /* number of logs that another opening is replaying */
    uint64_t progress; /* hash of the heads of those logs; changes as their replay
                        * advances */
    char message[512]; /* names the holder of the last such log; empty if there is none */
    bool nearby;       /* the search is for logs of other processes in directories that
                        * this node sees */
    int64_t directory; /* on a node's first process, inode of the directory; 0 if other
                        * nodes may see a different one */
};
/* Opens and locks the dataset's logs, each on one process. Waits while another opening is
 * replaying them. Collective; agreed. */
int burst_scan_logs_all(struct burst *b, struct burst_found *f);
void burst_found_free(struct burst_found *f);
/* On each node's first process, removes logs of an earlier file with the same name.
 * Local. */
void burst_remove_old_logs(struct burst *b);

/* Replays and removes unfinished logs of the dataset being opened. Collective; agreed. */
int burst_recover_all(struct burst *b);
/* Replays logs that the caller has opened and divided among the processes. Does not close
 * them. Collective; agreed. */
int burst_replay_all(struct burst *b, struct burst_reader **logs, int n);
/* Ends a replay: syncs the file, records this in the logs unless they are kept for
 * another file, and removes them if `remove` is set. Collective; agreed. */
int burst_replayed_all(struct burst *b, struct burst_reader **logs, int n, bool remove);
/* Start and stop checking before each write that nobody has taken over a replayed log. */
void burst_begin_write_checks(struct burst *b);
void burst_end_write_checks(struct burst *b);
/* Exempts the replayed logs from these checks. Call it before closing the logs; a tool
 * calls it after closing the dataset. */
void burst_end_replay_checks(struct burst *b);
/* Returns the worst error of all processes, with the first message. Collective. */
int burst_share_error_all(struct dataset *ds, int err);

#endif
