/* Reading logs: which there are, whether they are whole, and their entries. No MPI. */
#ifndef BURST_READER_H
#define BURST_READER_H

#include "burst_format.h"

struct burst_reader;

/* Opens PATH.meta (given with its ending) and the data log beside it. Locked, nobody else
 * has it from here on; *busy (may be NULL) says why that cannot be, with NC_EFILE and
 * words that name who has it. NC_EBADLOG, NC_ENOENT, NC_EACCESS, NC_ENOMEM. */
enum {
    BURST_READ_LOCK = 1,
    BURST_READ_ANYBODYS = 2, /* whichever user's file it is */
    BURST_READ_SEIZE = 4     /* whatever a process that cannot be seen does with it */
};
enum burst_busy {
    BURST_FREE,
    BURST_WRITTEN, /* its writer lives */
    BURST_READ,    /* another reader has it */
    BURST_UNSEEN   /* no locks, and a process of another host had it last */
};
int burst_reader_open(const char *meta_path, int how, struct burst_reader **out,
                      enum burst_busy *busy);
void burst_reader_close(struct burst_reader *r);
/* A locked log whose file system has no locks: another process may take it over. Has one?
 * NC_EFILE, and words that name it: this reader has nothing more to do. */
bool burst_reader_watched(const struct burst_reader *r);
int burst_reader_check_mine(const struct burst_reader *r);
/* Removes both files. NC_EFILE: another process has taken the log over. */
int burst_reader_remove(struct burst_reader *r);
/* Is it a copy, as one from a backup that was put back? False where nothing tells. */
bool burst_reader_copied(const struct burst_reader *r);
/* The dataset is as the log's job left it, so that a copy is as good: it takes the place
 * of the log, for the next reader, should this one be killed while it replays. */
int burst_reader_adopt(struct burst_reader *r);

const struct burst_header *burst_reader_header(const struct burst_reader *r);
const char *burst_reader_path(const struct burst_reader *r);

/* What the log promises: entries, how many of them are drained, and its generation (the
 * highest of its processes). Version 0: its num_entries, 0 and 0. */
void burst_reader_counts(const struct burst_reader *r, int64_t *count, int64_t *drained,
                         int64_t *generation);

/* Do the entries that wait go by definitions with this digest? */
bool burst_reader_fits(const struct burst_reader *r, uint64_t definitions);

/* What the log's processes knew of the dataset's file, of all the latest; false: one may
 * have been changing it when it ended, or its note is lost. */
bool burst_reader_note(const struct burst_reader *r, struct burst_note *latest);
/* Notes in the log that this reader changes the file now, or what it has become, for the
 * next one, should this one be killed. NC_EWRITE ... A log that may only be read is
 * passed over. */
int burst_reader_set_note(struct burst_reader *r, struct burst_note note);
/* Notes in the log, and on its device, that all of it is in the file: behind a power cut,
 * logs that were to be removed with others do not lack those. */
int burst_reader_drained(struct burst_reader *r);

/* Has the machine been started anew since the log was written? */
bool burst_reader_rebooted(const struct burst_reader *r);
/* To be called then: what was logged behind the last sync counts only as far as it is
 * whole, as only some of it may have reached the device. What was synced has to be there:
 * the log is refused later if it is not. NC_ENOMEM, NC_EREAD. */
int burst_reader_trim(struct burst_reader *r);
/* Was anything of what it holds synced? */
bool burst_reader_synced(const struct burst_reader *r);
/* Nothing in it counts. */
void burst_reader_forget(struct burst_reader *r);

/* The rank of the i-th process that appends to the log; -1 behind the last. */
int64_t burst_reader_rank(const struct burst_reader *r, int64_t i);

/* The next entry. NC_EBADLOG when one is broken; then, and at the end, *more is false.
 * An entry that was drained is passed over unless all are asked for. */
int burst_reader_next(struct burst_reader *r, bool all, struct burst_entry *e,
                      bool *more);
void burst_reader_rewind(struct burst_reader *r);

/* Are there as many entries as the log promises? To be asked at the end. NC_EBADLOG. */
int burst_reader_complete(const struct burst_reader *r);

/* Bytes [at, at + n) of the data log. */
int burst_reader_read(const struct burst_reader *r, int64_t at, void *bytes, int64_t n);
/* Holds an entry's values against its checksum (version 0 has none: only their presence).
 * NC_EBADLOG, NC_ENOMEM. */
int burst_reader_check(const struct burst_reader *r, const struct burst_entry *e);

#endif
