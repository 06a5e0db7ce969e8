/* Writing a log: two files of a directory, appended to by one process, or by several with
 * a common burst_space. Local; no MPI. */
#ifndef BURST_LOG_H
#define BURST_LOG_H

#include <stdatomic.h>
#include <sys/uio.h>

#include "burst_format.h"

/* What of a log's files is taken: by one process, or in memory that several share. */
struct burst_space {
    _Atomic int64_t meta; /* bytes behind entry_begin */
    _Atomic int64_t data; /* bytes of the data log */
};

struct burst_log {
    char *meta_path, *data_path;
    int meta_fd, data_fd; /* -1: none */
    struct burst_header header;
    struct burst_space own, *space;
    bool shared;
    bool mapped;         /* the metadata log; else what is put there is written, too */
    int error;           /* of the first write that failed; nothing is logged any more */
    bool gone;           /* the metadata log has no name any more */
    int unnoted;         /* why it does not say that what is in the file is there */
    unsigned char *head; /* the header and the commit records */
    size_t head_size;
    int slot; /* which record is ours */
    int turn; /* which copy of it was written last */
    struct burst_slot commit;
    bool used; /* something was logged, in whatever generation */
    struct burst_note note;
    unsigned char *window; /* the part of the metadata log that is being filled */
    int64_t window_at, window_size, window_used;
    int64_t sum_at;             /* where the checksum of the last entry lies */
    int64_t extent, extent_end; /* of the data log: ours, and free */
    int kept_fd;                /* see burst_log_keep; -1: none */
    int64_t kept;               /* bytes there */
};

enum { BURST_CHUNK = 1 << 20, BURST_EXTENT = 4 << 20 };

/* Places of values from here on are of those that were kept. */
#define BURST_KEPT ((int64_t)1 << 62)

/* Sets up a log that is not there yet: nothing to be freed but by burst_log_end. */
void burst_log_init(struct burst_log *l);

/* Makes the files PATH.meta and PATH.data. h tells all but where things lie. space is
 * NULL for a log of one process. NC_ENOMEM, NC_EFILE, NC_EACCESS, NC_ENO_SPACE ... */
int burst_log_create(struct burst_log *l, const char *path, const struct burst_header *h,
                     struct burst_space *space);
/* Joins a log that another process has made with the same h, as its `slot`th. */
int burst_log_join(struct burst_log *l, const char *path, const struct burst_header *h,
                   struct burst_space *space, int slot);

/* Room for bytes of values; *at is where. Nothing can fail. */
int64_t burst_log_reserve(struct burst_log *l, int64_t bytes);
/* Room for values that the log does not take, in a file without a name that lies beside
 * the given one and goes with this process. NC_EWRITE, NC_EACCESS, NC_ENO_SPACE ... */
int burst_log_keep(struct burst_log *l, const char *beside, int64_t bytes, int64_t *at);
/* Writes values there. May change the pieces. NC_EWRITE, NC_ENO_SPACE ... */
int burst_log_write(struct burst_log *l, int64_t at, struct iovec *pieces, int n);

/* Adds an entry behind those that are there; it counts once burst_log_commit says so.
 * NC_EWRITE ... */
int burst_log_add(struct burst_log *l, const struct burst_entry *e);
int burst_log_commit(struct burst_log *l, int64_t count);

/* The entry whose checksum lies there will not be replayed: it was cancelled, or is in
 * the file before others that were logged earlier. Once for each. NC_EWRITE ... */
int burst_log_strike(struct burst_log *l, int64_t sum_at);

/* The first n entries of this process are in the file: they will not be replayed.
 * burst_log_noted has the errors. */
void burst_log_drained(struct burst_log *l, int64_t n);
/* Notes what is known of the dataset's file; of the serial it sees to itself. May be
 * called beside the functions above, but not by two threads at once. */
void burst_log_note(struct burst_log *l, struct burst_note note);
/* Starts anew, with the next generation: what was logged is forgotten. In a shared log,
 * no process may add to it before all have done this. burst_log_noted has the errors. */
void burst_log_reset(struct burst_log *l);
/* Does the log say of all that is in the file that it is? Tries again where it could not
 * be written. NC_EWRITE ... */
int burst_log_noted(struct burst_log *l);
/* What is logged from here on goes by other definitions, of which this is the digest: the
 * next generation, in which any process may add to the log at once. Nothing is logged
 * when this is called, by any of them. */
void burst_log_define(struct burst_log *l, uint64_t definitions);
/* What was logged is on the device. NC_EWRITE ... */
int burst_log_sync(struct burst_log *l);
/* Notes that it is, and that the dataset it is of is as well. */
void burst_log_synced(struct burst_log *l);
/* The commit records are on the device: whether what was logged is in the file or not is
 * known after a power cut, too. NC_EWRITE ... */
int burst_log_sync_head(struct burst_log *l);

/* Reads values back. NC_EREAD. */
int burst_log_read(const struct burst_log *l, int64_t at, void *bytes, int64_t n);

/* Closes the files; removes them if asked to. */
void burst_log_end(struct burst_log *l, bool remove);

/* Removes a log of which all is in the file: this one and the data log beside it. wanted:
 * it does not say itself that nothing waits, so that after a power cut the values may not
 * be missed. */
void burst_remove(const char *meta_path, bool wanted);

/* What a file of a directory of logs, by its name, is that is no metadata log. */
enum burst_left {
    BURST_LEFT_NOTHING, /* of a log that is there, or none of ours */
    BURST_LEFT_EMPTY,   /* of one that was being made or removed; it can go, and does if
                         * that is asked for */
    BURST_LEFT_VALUES   /* a data log whose metadata log is gone */
};
enum burst_left burst_left(const char *path, bool remove);

/* All of n bytes at `at` of a file. NC_EREAD: fewer are there, too. */
int burst_read_file(int fd, int64_t at, void *bytes, int64_t n, const char *path);

/* Tells one start of this machine from others; 0: unknown. */
uint64_t burst_boot(void);

/* Opens a file of a log, and nothing else that somebody may have put in its place: a
 * regular file, of this user's unless `anybody`, by no symbolic link; for writing too if
 * that may be. -1: see errno; EPERM where it is something else. */
int burst_open_own(const char *path, bool anybody);
/* Whose file it is that bears a log's name. */
enum burst_whose { BURST_NOBODYS, BURST_OURS, BURST_OTHERS };
enum burst_whose burst_whose(const char *path, int64_t *user);

#endif
