/* The journal of a redefinition is a file next to the dataset from which an interrupted
 * redefinition can be completed or undone. This module makes no MPI calls.
 *
 * NAME.redef, pages of 4096 bytes:
 *       0      the dataset it belongs to: struct journal_facts
 *       1, 2   progress: struct journal_state; the two copies alternate, so that
 *              one is always valid
 *       3      the owner: struct journal_record
 *       4 ...  the old header, the new header, and a byte for each variable of the new
 *              header (whether to fill it); then two areas, used in turn, for bytes
 *              that are about to be overwritten
 *
 * doc/formats.md describes every field.
 *
 * Order of writes
 * 1. The journal is complete and on the device before anything in the dataset changes.
 * 2. The dataset's first bytes are then replaced by a mark, which no reader mistakes for
 *    a netCDF file. The mark is on the device before anything else in the dataset
 *    changes.
 * 3. The journal is removed only after a whole header, old or new, is back on the device.
 *
 * So a dataset with a header is complete, old or new, whatever journal is next to it, and
 * a dataset with a mark can be completed from its journal.
 *
 * The mark contains the nonce of the owner (base_owner) and selects the valid state. A
 * new state is written first; then the mark is changed to select it; then the previous
 * state is erased if areas are in use; and only then do data move. A process that takes
 * over first replaces the nonce in both. So a dataset or journal that was restored from
 * an older backup is detected.
 *
 * Only one job at a time moves data. If the file system has locks, that job holds the
 * dataset's lock (BASE_LOCK_LAYOUT) exclusively from before the creation of the journal
 * until after its removal, and each process that writes holds a lock on the journal
 * (BASE_LOCK_MOVERS). On every file system the journal names its owner. An owner that
 * finds another owner's record there, or no journal, has lost the redefinition and writes
 * nothing more. */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base_owner.h"
#include "base_require.h"
#include "cdf.h"

enum { JOURNAL_PAGE = 4096, JOURNAL_MARK = 12 };

struct journal_facts {
    uint64_t inode, birth;        /* file identity; birth is 0 if unknown */
    int64_t old_size, new_size;   /* dataset size in bytes before and during the move */
    int64_t before, after, fills; /* sizes in bytes of the old header, the new header and
                                   * the fill modes */
    int64_t area;                 /* size of each of the two areas in bytes */
    uint64_t sum;                 /* checksum of the headers and fill modes */
};

enum journal_phase {
    JOURNAL_NONE,       /* there is no redefinition to finish */
    JOURNAL_READY,      /* nothing has been moved yet */
    JOURNAL_MOVING,     /* round [low, high) is being moved; earlier ones are complete */
    JOURNAL_RESTORING,  /* bytes that the round overwrote are being restored */
    JOURNAL_FILLING,    /* all data are moved; new variables are being filled */
    JOURNAL_COMMITTING, /* all data match the new header, which is being written */
    JOURNAL_RETURNING   /* all data match the old header, which is being written */
};

struct journal_state {
    int64_t serial; /* incremented with each new state */
    enum journal_phase phase;
    bool back;         /* rounds move data back to the old layout */
    bool saved;        /* the area contains a copy of the round's bytes */
    int area;          /* number of the round's area: 0 or 1 */
    int64_t low, high; /* range of positions (see cdf_seek_move) */
    uint64_t sum; /* journal_sum of the saved bytes plus JOURNAL_SUM_KNOWN; 0 if unknown,
                   * as in older journals */
};
enum { JOURNAL_SUM_KNOWN = 1 };

/* The process that owns the journal. */
struct journal_record {
    struct base_owner owner; /* its nonce is also in the dataset's mark */
    uint64_t earlier; /* during a takeover, the previous nonce in the mark; otherwise 0 */
    bool released;    /* the owner has given up, and the next process may finish */
};

/* ---- journal_format.c: encoding; no file access ---- */

/* Encode one page of JOURNAL_PAGE bytes. */
void journal_encode_facts(const struct journal_facts *f, unsigned char *page);
void journal_encode_state(const struct journal_state *s, unsigned char *page);
void journal_encode_record(const struct journal_record *h, unsigned char *page);

/* Decodes the first page of a journal of `size` bytes. Returns NULL, or a message that
 * describes what is wrong with it. */
const char *journal_decode_facts(struct journal_facts *f, const unsigned char *page,
                                 int64_t size);

/* Decodes a state. Returns false if the page is torn or is no state of this journal. */
bool journal_decode_state(struct journal_state *s, const unsigned char *page,
                          const struct journal_facts *f);

/* Decodes an owner's record. Returns false if the page is torn or contains none. */
bool journal_decode_record(struct journal_record *h, const unsigned char *page);

/* The mark consists of JOURNAL_MARK bytes at the start of a dataset of this format (1, 2
 * or 5) while its data move. It contains a name, which is nonce + serial. Decoding
 * returns the name, or 0 if the bytes are not a mark. */
void journal_encode_mark(int format, uint64_t name, unsigned char *mark);
uint64_t journal_decode_mark(const unsigned char *mark);

/* Returns the checksum of `n` bytes at offset `at` of an area. The checksums of parts add
 * up to the checksum of the whole, whichever processes wrote the parts. */
uint64_t journal_sum(int64_t at, const unsigned char *bytes, int64_t n);

int64_t journal_headers_at(void);
int64_t journal_area_at(const struct journal_facts *f, int area);
int64_t journal_size(const struct journal_facts *f);

/* Decodes both headers, which must be uninitialised, and the fill modes of the new one
 * from the journal's bytes. After an error, NC_ENOTNC with a message or NC_ENOMEM,
 * neither is initialised. */
int journal_decode_headers(const struct journal_facts *f, const unsigned char *bytes,
                           struct cdf_header *before, struct cdf_header *after);

/* ---- journal_file.c: file access; a failed function sets a message ---- */

struct journal {
    int fd;    /* descriptor of the journal; -1 if not open here */
    int file;  /* descriptor of the dataset, opened with O_DSYNC; -1 if not open here */
    int guard; /* the caller's descriptor, which has the dataset's lock; -1 if there is no
                * lock and the owner's record decides */
    char *path, *dataset_path;
    struct stat model; /* status of the dataset, whose owner and permissions the journal
                        * gets */
    int64_t base;      /* offset of the dataset in its file; all other offsets are
                        * relative to it */
    struct journal_facts facts;
    struct journal_state state;
    struct journal_record lease;      /* this job's owner record, if `claimed` */
    uint64_t mark_nonce;              /* nonce read from the mark */
    unsigned char head[JOURNAL_MARK]; /* the header bytes that the mark replaces */
    bool claimed;                     /* this process may change the layout */
    bool marked;                      /* this process has marked the dataset */
    bool written;                     /* the owner's record is in the journal */
    bool ended;   /* the redefinition is finished and the journal removed */
    bool dirty;   /* an area has bytes that are not yet on the device */
    uint64_t sum; /* checksum of the bytes that this process saved in the round's area */
    bool pending; /* the dataset is still marked; the next job must repair it */
    bool lost;    /* another process took over: this one must not write */
    int64_t violations; /* base_violations() when the journal was initialized */
};

/* journal_init initializes an empty journal for this dataset. NC_ENOMEM. journal_free
 * gives up the claim, but the guard keeps the shared lock if the dataset is open for
 * writing. */
int journal_init(struct journal *j, const char *dataset);
void journal_free(struct journal *j);

/* Opens the dataset. Returns NC_EFILE unless it has this inode (0 for any). */
int journal_open_dataset(struct journal *j, uint64_t inode);

/* Truncates the file to `size`, for example to remove records that a killed job wrote but
 * did not count, because they would be read as values in another layout. NC_EWRITE. */
int journal_cut(struct journal *j, int64_t size);

/* Extends the file to the size of `after` and allocates the blocks to which data move.
 * After an error the file is unchanged: NC_ENO_SPACE, NC_EQUOTA, NC_EWRITE. */
int journal_reserve_space(struct journal *j, const struct cdf_header *before,
                          const struct cdf_header *after);

/* Creates the journal: reads the old header of `before` bytes from the dataset, encodes
 * the new one, and reserves two areas of `area` bytes. Removes an older journal if the
 * dataset does not need it. Then marks the dataset. On error the dataset is unchanged or
 * pending. The dataset must have been claimed. */
int journal_start(struct journal *j, int64_t before, const struct cdf_header *after,
                  int64_t area, enum journal_phase phase);

/* Writes the mark for the current state. */
int journal_mark(struct journal *j);

/* Replaces the header of `before` bytes if no data move. On error the dataset has the old
 * header or is pending. It must have been claimed. */
int journal_replace(struct journal *j, int64_t before, const struct cdf_header *after);

/* Checks that a state may follow the recorded one if `total` bytes move. All data must be
 * at their old offsets before the old header returns, and at their new offsets before new
 * variables are filled. */
int journal_check_state(const struct journal *j, const struct journal_state *s,
                        int64_t total);

/* Writes a new state to the device. */
int journal_record(struct journal *j, struct journal_state s);

/* Read and write bytes at offset `at` of an area. */
int journal_read_area(struct journal *j, int area, int64_t at, void *bytes, int64_t n);
int journal_write_area(struct journal *j, int area, int64_t at, const void *bytes,
                       int64_t n);

/* Verifies the checksum of the saved bytes. NC_ENOTNC, NC_EREAD. */
int journal_check_area(struct journal *j);

/* Flushes what this process wrote to the areas. */
int journal_sync_areas(struct journal *j);

/* Writes the header that the phase requires, its first bytes last, and removes the
 * journal. */
int journal_finish(struct journal *j);

/* Removes the mark, if any, truncates the dataset to its old size and removes the
 * journal. Must be called before any data have moved. */
void journal_drop(struct journal *j);

/* ---- journal_find.c ---- */

/* Reads the journal of a marked dataset and verifies that it belongs to the dataset. If
 * not, returns NC_ENOTNC with a message. */
int journal_find(struct journal *j);

/* Reads the bytes of the headers and fill modes. NC_EREAD, NC_ENOTNC. */
int journal_read_headers(struct journal *j, unsigned char *bytes);

/* Clears the journal next to an unmarked dataset that this process may change. Removes
 * the journal if it was never completed, or if the dataset begins like one of its
 * headers, which proves that the redefinition ended. Renames it if it belongs to another
 * file or the dataset's header has changed since. Otherwise, for example while the
 * dataset's first bytes are torn, leaves the journal in place and returns NC_EFILE with a
 * message. */
int journal_clear(struct journal *j);

/* Same as journal_clear, but for a dataset with a valid header that is open for writing
 * and locked through the descriptor `guard`. Leaves a journal that cannot be cleared. */
void journal_tidy(int guard, const char *dataset);

/* Remove the journal of a dataset that is being removed or recreated. journal_of returns
 * the journal's path before the dataset is removed, or NULL if there is none;
 * journal_forget removes it afterwards. */
char *journal_of(const char *dataset);
void journal_forget(char *path);

/* ---- journal_head.c ---- */

/* Compares the first bytes of a dataset with the journal next to it, if any. Sets *torn
 * if they are a mixture of a header and the journal's mark, so the redefinition must be
 * finished first. Returns NC_ENOTNC with a message if this cannot be determined. */
int journal_check_head(const char *dataset, bool *torn);

/* ---- journal_lease.c: one owner at a time ---- */

/* Acquires the dataset's shared lock, for writing, through the descriptor `guard`. Waits
 * while another process moves data. If that process makes no progress for `patience`
 * seconds, returns NC_EFILE with a message that names it. */
int journal_lock_shared(int guard, const char *dataset, int64_t patience);

/* Claims the dataset for a redefinition: until the journal is freed, no other job can
 * open the dataset for writing. NC_EFILE. */
int journal_claim(struct journal *j);

/* Takes over an interrupted redefinition: finds its journal, and claims the journal and
 * the dataset. Waits as journal_lock_shared does. If nothing is left to do, the phase
 * becomes JOURNAL_NONE. Returns NC_EFILE with a message that names a live owner, or
 * NC_ENOTNC. */
int journal_acquire(struct journal *j, int64_t patience);

/* Takes the journal from its owner, even if the owner is alive. The owner completes the
 * write in progress but begins no other. The dataset and its mark are not changed. */
int journal_take_over(struct journal *j);

/* Opens the journal that another process in this job has created or found, and prevents a
 * takeover. */
int journal_join(struct journal *j);

/* Checks that this job still owns the journal and that no invariant has been violated.
 * Called before each write. If it returns NC_EFILE or NC_EINTERNAL, the job must not
 * write anything more. */
int journal_check(struct journal *j);

/* Writes a message for readers of a marked dataset to `text`, and returns it. The message
 * names the process that is redefining the dataset, or explains how to finish an
 * interrupted redefinition. `fd` is an open descriptor of the dataset. */
const char *journal_describe_use(const char *dataset, int fd, char text[512]);

/* ---- journal_rounds.c ---- */

enum journal_place { JOURNAL_OLD, JOURNAL_NEW, JOURNAL_AREA };

/* Describes how a process moves data: its role and the functions to call. The functions
 * named _all are collective. All except concur_all return this process's own error. */
struct journal_movers {
    struct journal *j;
    const struct cdf_header *before, *after;
    bool first;    /* this process writes the states to the journal */
    int64_t share; /* maximum total number of bytes saved in a round */
    int64_t least; /* minimum number of bytes in a round that saves none */
    void *arg;     /* argument of the functions below */
    /* copies a round's bytes; JOURNAL_AREA is the round's area */
    int (*carry_all)(void *arg, const struct journal_state *round,
                     enum journal_place from, enum journal_place to);
    int (*complete_all)(void *arg); /* called before the new header is written */
    int (*secure_all)(void *arg);
    int (*concur_all)(void *arg, int err);
    int (*add_all)(void *arg, uint64_t *sum); /* sums *sum over all processes; agreed */
};

/* Returns the required size of an area in bytes. */
int64_t journal_area_for(const struct journal_movers *c);

/* Moves all data and writes the new header. Undoes everything on error, or leaves the
 * dataset pending. All processes get the same result. */
int journal_move_all(struct journal_movers *c);

/* Finishes an interrupted redefinition from the journal's state. All processes get the
 * same result. */
int journal_resume_all(struct journal_movers *c);

#endif
