/* Tracks which values are safe in the dataset's file and which are only in the log. */
#ifndef BURST_COMMIT_H
#define BURST_COMMIT_H

#include "driver.h"

struct burst;

struct burst_commit {
    bool dirty;         /* the file has been written since its last sync */
    bool threads_dirty; /* this process's threads have written since its last sync */
    bool promised;      /* a sync has returned: logged values must survive a power cut */
    bool doubtful;      /* a sync of the file has failed, so only the log is safe */
    bool named;         /* the directory entry of the dataset has been synced */
    bool head_dirty;    /* the log's device may lack the record of what is in the file */
    int64_t numrecs;    /* number of records that this process last wrote to the file */
};

/* ---- calls to the layer below ---- */

/* Begin and end a collective call that may change the file. `err` is the result of the
 * call. burst_end_change_all returns `err`, or its own error if `err` is NC_NOERR. */
void burst_begin_collective_change(struct burst *b);
int burst_end_change_all(struct burst *b, int err);
/* Syncs the file. Collective. */
int burst_sync_all(struct burst *b);
/* Syncs the file before restarting a log that contains values which an earlier sync made
 * durable. Once a sync has failed, all later calls fail. Collective; agreed. */
int burst_sync_drained_all(struct burst *b);
/* Writes the number of records to the file. Collective. */
int burst_sync_numrecs_all(struct driver *self);

/* ---- what this process has drained independently ---- */

/* In independent mode, removes the writes that are in the file from the list, and marks
 * them in the log as not to be replayed. No-op in collective mode. On error, the writes
 * stay listed, but are not written again. Local. NC_EWRITE ... */
int burst_commit(struct burst *b);
/* Records in the log that everything is in the file. Local. NC_EWRITE ... */
int burst_commit_log(struct burst *b);
/* Flushes what burst_commit_log recorded to the log's device. Local. NC_EWRITE ... */
int burst_sync_committed(struct burst *b);
/* Raises the file's number of records to the number known to this process. Local. */
int burst_write_records(struct burst *b);

#endif
