/* Writes logs. A log consists of a metadata file and a data file. It has one writer, or
 * several processes that share a burst_space. A put writes its values first, then the
 * entries, and last a commit record, which makes the entries valid. Local; no MPI. */
#ifndef BURST_LOG_H
#define BURST_LOG_H

#include <stdatomic.h>
#include <sys/uio.h>

#include "burst_format.h"

/* The extents and identities of a log's files. For a shared log this struct is in memory
 * shared by the processes of the node. */
struct burst_space {
    _Atomic int64_t meta; /* bytes used in the metadata log, after entry_begin */
    _Atomic int64_t data; /* bytes used in the data log */
    int64_t meta_file[2]; /* device and inode of the metadata log */
    int64_t data_file[2]; /* device and inode of the data log */
};

/* The mapped part of the metadata log that is being filled. */
struct burst_window {
    unsigned char *bytes; /* NULL if none */
    int64_t at, size, used;
};

/* The file in which burst_log_spill stores values. */
struct burst_spill {
    int fd; /* -1 if none */
    int64_t size;
};

struct burst_log {
    char *meta_path, *data_path;
    int meta_fd, data_fd; /* -1 if not open */
    struct burst_header header;
    struct burst_space own, *space;
    bool shared;
    bool mapped;    /* the metadata log is mapped; if false, entries are encoded in memory
                     * and then written */
    int error;      /* error of the first failed write; nothing is logged after it */
    bool gone;      /* the metadata log has been unlinked */
    bool lost;      /* values of this generation are lost, so every read fails */
    int head_error; /* error of the last attempt to write the commit record */
    unsigned char *head; /* the header and the commit records */
    size_t head_size;
    int slot; /* index of this process's commit record */
    int turn; /* index of the copy that was written last */
    struct burst_slot commit;
    bool used; /* something has been logged in some generation */
    struct burst_note note;
    struct burst_window window;
    int64_t sum_at;             /* offset of the last entry's checksum */
    int64_t extent, extent_end; /* this process's free part of the data log */
    struct burst_spill spill;
};

enum { BURST_CHUNK = 1 << 20, BURST_EXTENT = 4 << 20 };

/* Offsets at or above this one are in the file of burst_log_spill. */
#define BURST_SPILLED ((int64_t)1 << 62)

/* Initializes a log that does not exist yet; burst_log_end frees it. */
void burst_log_init(struct burst_log *l);

/* Creates PATH.meta and PATH.data. `h` must be complete except for the offsets. `space`
 * is NULL unless several processes share the log. NC_ENOMEM, NC_EFILE, NC_EACCESS,
 * NC_ENO_SPACE ... */
int burst_log_create(struct burst_log *l, const char *path, const struct burst_header *h,
                     struct burst_space *space);
/* Joins a log that another process of the node has created with the same `h`. `slot` is
 * the index of this process's commit record. Returns NC_EFILE, for example, if another
 * file has taken one of the log's names. */
int burst_log_join(struct burst_log *l, const char *path, const struct burst_header *h,
                   struct burst_space *space, int slot);

/* Reserves space for `bytes` bytes of values, and returns its offset. Never fails. */
int64_t burst_log_reserve(struct burst_log *l, int64_t bytes);
/* Reserves space for values that the log cannot accept, in an unlinked file in the
 * directory of `beside`. Sets *at to its offset. NC_EWRITE, NC_EACCESS ... */
int burst_log_spill(struct burst_log *l, const char *beside, int64_t bytes, int64_t *at);
/* Writes values at `at`. May change `pieces`. NC_EWRITE, NC_ENO_SPACE ... */
int burst_log_write(struct burst_log *l, int64_t at, struct iovec *pieces, int n);

/* Appends an entry. It becomes valid when burst_log_commit counts it. NC_EWRITE ... */
int burst_log_add(struct burst_log *l, const struct burst_entry *e);
int burst_log_commit(struct burst_log *l, int64_t count);

/* Excludes an entry from replay, because it was cancelled or reached the file before
 * earlier entries. `sum_at` is the offset of its checksum. Call this at most once per
 * entry. NC_EWRITE ... */
int burst_log_strike(struct burst_log *l, int64_t sum_at);

/* Records that this process's first n entries are in the file and must not be replayed.
 * burst_log_write_head reports errors. */
void burst_log_drained(struct burst_log *l, int64_t n);
/* Sets the serial of a note about the dataset's file, and writes the note. May run
 * concurrently with the functions above, but not with itself. */
void burst_log_note(struct burst_log *l, struct burst_note note);
/* Starts the next generation, which discards all entries. In a shared log, no process may
 * add entries until all have called this. burst_log_write_head reports errors. */
void burst_log_reset(struct burst_log *l);
/* If the last attempt to write the commit record failed, tries again. NC_EWRITE ... */
int burst_log_write_head(struct burst_log *l);
/* Starts the next generation, whose entries depend on the definitions with this digest
 * and may be added immediately. No process may have entries in the current generation. */
void burst_log_define(struct burst_log *l, uint64_t definitions);
/* Flushes everything logged so far to the device. NC_EWRITE ... */
int burst_log_sync(struct burst_log *l);
/* Records that all entries and the dataset's file have been synced. */
void burst_log_synced(struct burst_log *l);
/* Flushes the commit records to the device, to survive a power cut. NC_EWRITE ... */
int burst_log_sync_head(struct burst_log *l);

/* Reads logged values. NC_EREAD; NC_EBADLOG if some are lost. */
int burst_log_read(const struct burst_log *l, int64_t at, void *bytes, int64_t n);

/* Verifies logged values after a failed sync, since the system may have dropped their
 * pages. On a checksum mismatch, all later reads of this generation fail. */
void burst_log_check(struct burst_log *l, int64_t at, int64_t n, uint64_t sum);

/* Computes the checksum of n bytes of values at `at`, which it reads by calling `read`
 * with the open `log`. Returns the error of `read`, or NC_ENOMEM. */
typedef int burst_value_reader(const void *log, int64_t at, void *bytes, int64_t n);
int burst_sum_values(burst_value_reader *read, const void *log, int64_t at, int64_t n,
                     uint64_t *sum);

/* Closes the log, and removes its files if `remove`. */
void burst_log_end(struct burst_log *l, bool remove);

/* Removes a metadata log and its data log. If `wanted`, the log still has entries to
 * replay, so the data log is removed only after the metadata log's new name is on the
 * device. */
void burst_remove(const char *meta_path, bool wanted);

/* Classifies a file in the log directory that is not a metadata log. */
enum burst_orphans {
    BURST_LEFT_NOTHING, /* belongs to an existing log, or is not one of our files */
    BURST_LEFT_EMPTY,   /* left by an interrupted creation or removal; removed if
                         * `remove` */
    BURST_LEFT_VALUES   /* a data log whose metadata log is gone */
};
enum burst_orphans burst_orphans(const char *path, bool remove);

/* Returns whether a file name ends in `ending` and is longer than it. */
bool burst_has_ending(const char *name, const char *ending);

/* Reads exactly n bytes at `at`. NC_EREAD; NC_EBADLOG if the file ends earlier. */
int burst_read_file(int fd, int64_t at, void *bytes, int64_t n, const char *path);

/* Returns a number that identifies the current boot of this machine; 0 if unknown. */
uint64_t burst_boot(void);

/* Opens one of a log's files, for writing too if that is permitted. It must be a regular
 * file, not a symbolic link, and belong to this user unless `anybody`. On error, returns
 * -1 and sets errno; EPERM means that the file does not meet these conditions. */
int burst_open_own(const char *path, bool anybody);
/* Returns whose file is at a log's path, if any, and sets *user to its owner's id. */
enum burst_owner { BURST_NO_FILE, BURST_OWN, BURST_FOREIGN };
enum burst_owner burst_get_owner(const char *path, int64_t *user);

#endif
