/* Reads logs: locks a log, validates it, and returns its entries and values. No MPI. */
#ifndef BURST_READER_H
#define BURST_READER_H

#include "burst_format.h"
#include "burst_holder.h"

struct burst_reader;

/* Opens PATH.meta and its data log. With BURST_READ_LOCK, acquires the log exclusively.
 * If another process holds it, returns NC_EFILE with a message that names the process,
 * and sets *busy (may be NULL). NC_EBADLOG, NC_ENOENT, NC_EACCESS, NC_ENOMEM. */
enum {
    BURST_READ_LOCK = 1,
    BURST_READ_ANYBODYS = 2, /* accept files of other users */
    BURST_READ_SEIZE = 4     /* acquire it even if a remote holder may be alive */
};
int burst_reader_open(const char *meta_path, int how, struct burst_reader **out,
                      enum burst_busy *busy);
void burst_reader_close(struct burst_reader *r);
/* Checks that no other process has taken over the log, which can happen if the log has no
 * lock. If this returns NC_EFILE, the reader must stop. */
int burst_reader_check_mine(const struct burst_reader *r);
/* Removes both files. NC_EFILE if another process has taken over the log. */
int burst_reader_remove(struct burst_reader *r);
/* Returns whether the log is a copy, for example from a backup; false if unknown. */
bool burst_reader_copied(const struct burst_reader *r);
/* Makes a copy count as the original, in case this reader is killed and another resumes.
 * Call it only once the dataset is known to be as the log's job left it. */
int burst_reader_adopt(struct burst_reader *r);

const struct burst_header *burst_reader_header(const struct burst_reader *r);
const char *burst_reader_path(const struct burst_reader *r);

/* Counts of a log: its entries, those of them that are drained, and the highest
 * generation of its processes. In version 0 the last two are 0. */
struct burst_counts {
    int64_t count, drained, generation;
};
struct burst_counts burst_reader_counts(const struct burst_reader *r);

/* Returns whether `definitions` is the digest that the undrained entries depend on. */
bool burst_reader_fits(const struct burst_reader *r, uint64_t definitions);

/* Sets *latest to the latest values in any note about the dataset's file. Returns false
 * if a process may have been changing the file when it ended, or if its note is lost. */
bool burst_reader_note(const struct burst_reader *r, struct burst_note *latest);
/* Writes a note that this reader is changing the file, or about the file's new state, to
 * the log. The next reader needs it if this one is killed. No-op if read-only. NC_EWRITE
 * ... */
int burst_reader_set_note(struct burst_reader *r, struct burst_note note);
/* Records in the log that all its entries are in the file, and syncs the record. After a
 * power cut this log is then valid even if the other logs of the same opening have been
 * removed. In version 0, sets the number of entries to 0, as PnetCDF's flush does. */
int burst_reader_drained(struct burst_reader *r);

/* Returns whether the machine has been restarted since the log was written. */
bool burst_reader_rebooted(const struct burst_reader *r);
/* After a restart, drops the first damaged entry and everything after it, because what
 * was logged after the last sync may have reached the device only in part. Keeps synced
 * entries: if one of them is broken, the log is rejected later. NC_ENOMEM, NC_EREAD. */
int burst_reader_trim(struct burst_reader *r);
/* Returns whether the log has entries that were synced but not drained. */
bool burst_reader_synced(const struct burst_reader *r);
/* Drops all entries. */
void burst_reader_forget(struct burst_reader *r);

/* Returns the rank of the i-th process that appended to the log; -1 if i is too large. */
int64_t burst_reader_rank(const struct burst_reader *r, int64_t i);

/* Reads the next entry. Sets *more to false at the end, or if an entry is broken
 * (NC_EBADLOG). Skips drained entries unless `all`. */
int burst_reader_next(struct burst_reader *r, bool all, struct burst_entry *e,
                      bool *more);
void burst_reader_rewind(struct burst_reader *r);

/* Checks, after the last entry has been read, that no entry was missing. NC_EBADLOG. */
int burst_reader_complete(const struct burst_reader *r);

/* Converts a data_off to an offset in the data log. In a version 0 log shared by several
 * processes, data_off includes the number of the process's stream. */
int64_t burst_reader_place(const struct burst_reader *r, int64_t at);

/* Reads n bytes of the data log at `at`, an offset like an entry's data_off. */
int burst_reader_read(const struct burst_reader *r, int64_t at, void *bytes, int64_t n);
/* Verifies the checksum of an entry's values. In version 0, which has no checksums, only
 * checks that the values exist. NC_EBADLOG, NC_ENOMEM. */
int burst_reader_check(const struct burst_reader *r, const struct burst_entry *e);

#endif
