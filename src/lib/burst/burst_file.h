/* The dataset's file as seen by its logs: paths, identity, and the notes that show
 * whether another program has changed the file. */
#ifndef BURST_FILE_H
#define BURST_FILE_H

#include <pthread.h>

#include "burst_log.h"
#include "burst_reader.h"
#include "driver.h"
#include "file_coherence.h"
#include "file_descriptor.h"
#include "node.h"

struct burst_file {
    struct dataset *ds;
    char *path; /* absolute path of the dataset, with symbolic links resolved */
    char *dir;  /* absolute path of the log directory */
    struct file_descriptor handle;   /* fd is -1 if the file is not open */
    struct file_coherence coherence; /* for `handle`, on file systems with delays */
    pthread_mutex_t lock;            /* protects the members below and the log's note */
    struct burst_log *log;           /* this process's log, to which notes are written */
    struct burst_reader *replayed;   /* a log that also gets the notes; NULL if none */
    bool replaying;                  /* until the replay ends, the notes stay open */
    int changers;                    /* number of changes to the file in progress */
    bool must_stat; /* read the file's size and times when the last change ends */
    bool buffered;  /* netCDF-C, as the layer below, may still buffer part of a change */
};

/* Finds the paths of the file and of its logs. Must be called during create or open,
 * before the program can change its directory or rename the file; later calls use only
 * these paths. Local. NC_ENOMEM. */
int burst_file_find_paths(struct burst_file *f);
/* Writes the prefix that the names of the dataset's logs share, without the directory. */
void burst_file_log_prefix(const struct burst_file *f, char *prefix, size_t size);
/* Opens the dataset's file once per node, and shares the descriptor. On failure,
 * handle.fd is -1 and this process has no log and no threads. Collective on the node. */
void burst_file_open_all(struct burst_file *f, const struct node *node);
void burst_file_close(struct burst_file *f);
/* Assigns an id to the dataset's file if it has none. Returns the value that logs record
 * as the file's birth; 0 if unknown. */
uint64_t burst_file_birth(const struct burst_file *f);
/* Sets the header fields that distinguish the file from a later file of the same name.
 * Unknown fields are 0. */
void burst_file_identity(const struct burst_file *f, struct burst_header *h);
/* Returns the user id of the file's owner, or -1 if unknown. */
int64_t burst_file_owner(const struct burst_file *f);
/* Returns whether the file is the one that a log header identifies. */
bool burst_file_is(const struct burst_file *f, const struct burst_header *h,
                   bool same_boot);
/* Returns a digest of the definitions that a log's entries depend on. */
uint64_t burst_definitions(const struct dataset *ds);
/* Returns whether the file may be written without MPI-IO and all nodes see its current
 * times. */
bool burst_file_coherent(const struct burst_file *f);

/* Begin and end a change to the file. Changes may nest, and threads may call both
 * functions. If `look`, this process reads the file's new state when the last change
 * ends; otherwise another process does so after an agreement. */
void burst_begin_change(struct burst_file *f);
void burst_end_change(struct burst_file *f, bool look);
/* Renews the note that the file is being changed; call this during a long change. */
void burst_renew_change(struct burst_file *f);
/* Flush a change to a netCDF-4 file completely. If neither is called before the change
 * ends, the notes continue to mark the file as being changed. burst_flush_change is a
 * no-op if there are several processes. burst_flush_change_all is collective; agreed. */
int burst_flush_change_all(struct burst_file *f, struct driver *lower);
int burst_flush_change(struct burst_file *f, struct driver *lower);

/* Stores the file's size and times in a note. Returns false if they are unknown. */
bool burst_file_get_note(const struct burst_file *f, struct burst_note *note);
/* If the log token stored with the file is `from`, replaces it with `to`; 0 means no
 * token. Only one process may set a token, but any process may remove one. Local. */
void burst_file_set_token(const struct burst_file *f, uint64_t from, uint64_t to);
/* Checks that nothing else has changed the file since the latest notes in the logs with
 * this token. `what` is a combination of the flags below. Local. NC_EBADLOG, NC_EFILE. */
enum {
    BURST_UNQUIET = 1,  /* a process was killed while it was changing the file */
    BURST_REBOOTED = 2, /* the machine has been restarted since then */
    BURST_COPIED = 4,   /* some logs are copies */
    BURST_UNORDERED = 8 /* some logs have version 0, which does not record when the file
                         * was opened */
};
int burst_file_check_unchanged(const struct burst_file *f, uint64_t token,
                               const struct burst_note *last, int what);

#endif
