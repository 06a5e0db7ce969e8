/* The default driver stores the dataset in one shared file.
 *
 * ncmpi_def_* and attribute calls change only the in-memory header (cdf). ncmpi_enddef
 * computes the layout: cdf_layout leaves every variable in place if possible, and
 * cdf_next_move enumerates what has to move, starting from the end of the file.
 *
 * mpio_image.c writes the header. A crash at any time leaves either the old header or the
 * new one in the file. Changes by another program are not overwritten: process 0 first
 * compares the header in the file with the one it knows (mpio_check.c). The first page of
 * a new file is written last. If all differences are within one page, a single write
 * replaces them. Otherwise the header is written through the journal, a file NAME.redef
 * next to the dataset, which process 0 creates.
 *
 * A redefinition that moves data (mpio_move.c) also uses the journal:
 *
 * 1. All processes sync what they wrote. Process 0 extends the file and allocates the
 *    blocks that data will move to. It then creates the journal with both headers, and
 *    replaces the dataset's first 12 bytes with a mark, so that no reader takes the file
 *    for netCDF. Each step is on the device before the next one begins.
 * 2. Data move in rounds, from the end of the file. A round that writes only beyond the
 *    bytes that are still to be moved can be repeated at any time. If data do not move
 *    far enough for that, the round's bytes are first saved in the journal. Once all
 *    earlier rounds are on the device, a round is recorded, first in the journal and then
 *    in the mark. Only then do all processes write. journal_rounds.c explains why this is
 *    safe.
 * 3. Gaps that the data left behind are filled with zeros (cdf_find_gap), and new
 *    variables with fill values.
 * 4. The new header is written, its first 12 bytes last, and the journal is removed.
 *
 * After an error in steps 2 to 4 the rounds are undone in reverse order and the old
 * header is written: the dataset is as it was before enddef, and still in define mode. If
 * that also fails, the file and its journal remain as they are, and every call that would
 * write the header returns an error.
 *
 * Only one job at a time may do this (journal_lease). Process 0 of each job that writes
 * has a shared lock on the dataset's file (file_write_lock, base_lock). For steps 1 to 4,
 * and to finish an interrupted redefinition, it makes the lock exclusive. Not all file
 * systems have such locks. Therefore the journal also names its owner: host, boot,
 * process and start time, and a nonce (base_owner), which the mark repeats. Each process
 * checks the owner before each piece that it moves, and process 0 also before it writes
 * each state and each part of a header. Once another process has taken over, no further
 * piece is begun. `ncvalidator -f -f` relies only on that: it changes the journal's
 * owner, lets the old owner finish its current piece, or the filling of new variables,
 * and completes the redefinition in copies (validator_force).
 *
 * The next job that opens the dataset for writing, on any number of processes, resumes
 * what the journal has recorded (mpio_recover.c); ncvalidator -f does the same without
 * MPI (validator_finish). The module journal implements the format of the journal and the
 * order of rounds; its caller passes the functions that move bytes, agree and sync
 * (struct journal_movers). A round takes two agreements: the bytes of the next round are
 * saved while this one is written, so that one sync covers both. Each process uses one
 * chunk of memory (nc_data_move_chunk_size). A saved round has as many bytes as fit into
 * the memory of all processes, or a sixteenth of all bytes that move, but at most 256
 * MiB; the journal has space for two rounds. If nothing moves, there is no agreement and
 * no file beyond what driver.h lists for enddef, unless the header changes in several
 * pages.
 *
 * Each file calls only files that come after it in this list: open; define; transfer;
 * header; recover; move; image; check; run, direct, file. */
#ifndef MPIO_H
#define MPIO_H

#include "access_tile.h"
#include "driver.h"
#include "file.h"
#include "twophase.h"

struct mpio {
    struct driver base;
    struct file file;
    bool created;            /* this job created the file, and no enddef has completed
                              * yet */
    bool begun;              /* a header may have been written to the new file */
    bool wrote;              /* this process has been asked to put values */
    bool defined;            /* an enddef has completed: close sets the file's size */
    int64_t opened_records;  /* number of records at open; if more, close sets the size */
    int64_t numrecs_in_file; /* number of records according to the file's header */
    bool numrecs_lowered;    /* on process 0: another program has lowered that number */
    int64_t failures;        /* ds->failures at the last write of the record count */
    int64_t known_size;   /* lower bound on the file's size in bytes, on all processes */
    bool pending;         /* on process 0: the next job must finish a redefinition */
    bool lost;            /* another job has taken over the redefinition (journal.h) */
    bool between_layouts; /* on all processes: data are between two layouts, so puts and
                           * gets are refused */
    int64_t short_end;    /* file size in bytes at open if it was less than the header
                           * implied, otherwise INT64_MAX */
    unsigned char *image; /* on process 0: a copy of the header in the file */
    int64_t image_size;   /* size of the image in bytes */
    int64_t torn_low, torn_high;   /* range of the image that a failed write may have left
                                    * torn in the file; empty if torn_high is 0 */
    struct twophase exchange;      /* state for two-phase exchanges */
    struct access_staging staging; /* memory that is reused between calls */
};

/* Shares the file within each node: if there are several nodes, one process on each node
 * opens the file and passes its descriptor to the others. Called before all processes
 * read or write the file together. Collective. */
void mpio_share_own_all(struct mpio *m);
static inline void mpio_share_file_all(struct mpio *m)
{
    if (m->file.shares) mpio_share_own_all(m);
}

/* Extends the file to at least `size` bytes, which is the same on all processes; never
 * shortens it. Process 0 returns its result, the others usually NC_NOERR. Collective. */
int mpio_extend_all(struct file *f, int64_t size);

/* ---- mpio_check.c: changes made by other programs. For process 0; local. ---- */

/* Returns `code` or NC_EFILE, with a message about the file's unfinished redefinition. */
int mpio_report_pending(const struct mpio *m, int code);

/* Locks the header and the number of records against other jobs, so that values read from
 * the file stay valid. Waits for the lock, and returns NC_EFILE after a timeout. No-op if
 * the file system has no such locks. */
int mpio_lock_header(struct mpio *m);
void mpio_unlock_header(struct mpio *m);

/* Sets *there to the number of records in the file's header, or to -1 if it cannot be
 * read. Returns NC_EFILE if the file's first bytes have changed. */
int mpio_read_records(struct mpio *m, int64_t *there);

/* Reads the number of records from the file on process 0. The next agreement distributes
 * the maximum to all processes. */
int mpio_read_numrecs(struct mpio *m);

/* Checks that the header in the file is the one that this job last read or wrote, or that
 * a new file has no header yet; otherwise returns NC_EFILE. Sets *records to the header's
 * number of records, or to -1. */
int mpio_check_header(struct mpio *m, int64_t *records);

/* Before new definitions take effect, checks that the header is unchanged and that no
 * other program has added records that would have to be moved or filled. */
int mpio_check_definitions(struct driver *self, const struct cdf_header *before);

/* Checks at close that all variables are still at their offsets, even if the header has
 * changed in other ways. */
int mpio_check_offsets(struct mpio *m);

/* Records that the file is shorter than its header implies, and if the hint nc_short_file
 * requests it, adds a line to the report. Same result on all processes. */
void mpio_report_short_file(struct mpio *m);

/* If nc_short_file is `error` and a get needs values beyond the end of the file, returns
 * NC_EREAD, which also becomes the status of the affected requests. Local. */
int mpio_find_beyond_end(struct mpio *m, struct access_request *const *reqs, int64_t n);
static inline int mpio_check_reach(struct mpio *m, struct access_request *const *reqs,
                                   int64_t n)
{
    if (m->base.ds->hints.short_file != HINTS_SHORT_ERROR) return NC_NOERR;
    return mpio_find_beyond_end(m, reqs, n);
}

/* ---- mpio_image.c: collective if named _all; results are local ---- */

/* Writes the header for the current definitions, on process 0. If the process dies or the
 * call fails, the file contains either the old header or the new one. */
int mpio_write_header_all(struct driver *self);

/* Restores the old header after mpio_write_header_all has failed. */
void mpio_restore_header_all(struct mpio *m);

/* Retries a failed header write. Local. */
int mpio_rewrite_torn(struct mpio *m);
static inline int mpio_repair_header(struct mpio *m)
{
    return m->torn_high > 0 ? mpio_rewrite_torn(m) : NC_NOERR;
}

/* Returns the encoded header of the definitions, padded with zeros to the length of the
 * header in the file. Returns NULL on processes other than 0, if out of memory, and if an
 * invariant is violated. Local. */
unsigned char *mpio_encode_header(const struct mpio *m);

/* Takes ownership of `bytes` as the image of the header that is in the file. Local. */
void mpio_set_image(struct mpio *m, unsigned char *bytes);

/* ---- mpio_direct.c: transfers of sorted tiles. Results are local. ---- */

/* Write or read a tile. Each process transfers its own pieces one by one. */
int mpio_write_tile(struct mpio *m, const struct access_tile *t);
int mpio_read_tile(struct mpio *m, const struct access_tile *t);

/* Writes or reads a tile through a file view. Collective. */
int mpio_view_tile_all(struct mpio *m, const struct access_tile *t, bool put);

/* ---- mpio_run.c ---- */

/* Returns whether a request is faster by independent access: its pieces average several
 * KiB or, in a striped file, it is one run of at least two stripes. In the latter case
 * returns false with MPI-IO: two nodes that cache and write one page would lose bytes. */
static inline bool mpio_is_long(const struct mpio *m, const struct access_extent *s)
{
    enum { STRIPES = 2, LONG = 8192 };
    const struct file *f = &m->file;
    if (!f->stripes_shared) return s->bytes / s->pieces >= LONG;
    return !f->mpi && s->pieces == 1 && s->bytes >= STRIPES * f->stripe;
}

/* Transfers a request for one run of the file, described by `s`. The result is also the
 * request's status; *io is set to the last I/O error. Local. */
int mpio_move_run(struct mpio *m, struct access_request *r, const struct access_extent *s,
                  bool put, int *io);

/* ---- mpio_move.c ---- */

/* Moves the variables whose offsets change in the new layout, fills new variables, and
 * writes the header. On error, the file is unchanged or the redefinition is pending.
 * Collective; all processes get the same result. */
int mpio_move_all(struct mpio *m, const struct cdf_header *before);

/* ---- mpio_recover.c ---- */

/* Completes an interrupted redefinition. All processes get the same result. */
int mpio_recover_all(struct mpio *m);
/* Removes a dataset and its journal. Returns NC_ENOENT, NC_EFILE ... Local. */
int mpio_delete(const char *path, MPI_Info info);

/* ---- mpio_header.c: collective if named _all; results are local unless agreed ---- */

/* Reads the header on process 0 and decodes it on all. Returns the agreed result. */
int mpio_read_header_all(struct mpio *m);

/* Writes the agreed number of records if the file has a different number, and rewrites
 * header bytes that may be torn. */
int mpio_write_numrecs_all(struct mpio *m);

/* Raises the number of records, in this process and in the file, to the larger of the
 * two. For independent mode. */
int mpio_sync_numrecs(struct mpio *m);

/* Agrees on the number of records and writes it. */
int mpio_sync_numrecs_all(struct driver *self);

/* ---- mpio_transfer.c, mpio_define.c, mpio_open.c: the driver's operations ---- */

int mpio_put_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                 int error);
int mpio_get_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                 int error);
int mpio_put(struct driver *self, struct access_request *const *reqs, int64_t n);
int mpio_get(struct driver *self, struct access_request *const *reqs, int64_t n);

int mpio_redef_all(struct driver *self);
int mpio_enddef_all(struct driver *self, const struct cdf_header *before);

int mpio_create_all(struct dataset *ds, int cmode, struct driver *lower,
                    struct driver **self);
int mpio_open_all(struct dataset *ds, int omode, struct driver *lower,
                  struct driver **self);
int mpio_close_all(struct driver *self, bool abort);

#endif
