/* The default driver: one shared file through MPI-IO.
 *
 * ncmpi_def_* and attributes change the model in cdf only. ncmpi_enddef computes the
 * layout; cdf_layout keeps every start where it can stay. What has to move is
 * enumerated by cdf_next_move, last place first.
 *
 * mpio_image writes a header so that the old one or the new one is in the file
 * whenever the process ends, and so that what another program has done to it meanwhile
 * is not overwritten (mpio_check: process 0 compares the header in the file with the
 * one that it knows): a new file's first page comes last; what differs within one page
 * of the file is one write; what differs in more goes through the journal, a file
 * NAME.redef beside the dataset which process 0 makes. So does a redefinition that
 * moves data:
 *
 * 1. All sync what they wrote. Process 0 makes the file as long as it has to be, with
 *    blocks where data go, then the journal, with both headers; then it changes the
 *    dataset's first 12 bytes to a mark, so that no reader takes it for netCDF. Each
 *    of these is on the device before the next.
 * 2. Data move in rounds, from the end of the file. A round whose bytes all go behind
 *    the last of them can be done again at any time. Where the way is too short for
 *    that, the round's bytes are first saved in the journal. The round gets on record
 *    when those before it are on the device: the journal gets its state, then the mark
 *    names that; then all write. journal_rounds.c says why this is safe.
 * 3. Where data have moved away, zeros are written (cdf_find_vacancy), and new
 *    variables are filled.
 * 4. The new header is written, its first 12 bytes last; the journal goes.
 *
 * After an error in 2 to 4 the rounds go backwards, and the old header is written: the
 * dataset is as before enddef, and still in define mode. If that fails, too, the file and
 * its journal stay as they are, the header is no longer written, and each call that would
 * write it says so.
 *
 * One opening at a time does that (journal_owner). Process 0 of each opening for
 * writing holds a lock on the dataset's file (file_guard, base_lock), shared with the
 * others; for 1 to 4 it takes it alone, as does one that finishes what was
 * interrupted. Beside it, and where the file system has no such locks, the journal
 * says who works on it: host, boot, process and its start, and a nonce (base_owner),
 * which the mark has, too. Each process looks, before each piece that it moves,
 * whether the journal still says so, process 0 before each state and each part of a
 * header, too; where another one has taken over nothing more is begun. ncvalidator -f
 * -f relies on that alone: it changes the journal's owner, lets the old one end the
 * piece that it is at, or the filling of new variables, and finishes the redefinition
 * in copies (validator_force).
 *
 * mpio_recover, at an open for writing, goes on from what the journal has on record,
 * on any number of processes; ncvalidator -f does the same without MPI
 * (validator_finish). The module journal knows the bytes of the journal and the order of
 * rounds; functions that move bytes, agree and sync are passed to it (struct
 * journal_crew). A round takes two agreements: the bytes of the next one are saved while
 * this one is written, so that both go to the device together. Memory is one chunk
 * (nc_data_move_chunk_size) a process. A round that is saved has as many bytes as all
 * processes can have in memory or a sixteenth of what moves, 256 MiB at most, and the
 * journal room for two of them. Where nothing moves there is no agreement and no file
 * more than driver.h tells of enddef, but for headers that change in several pages. */
#ifndef MPIO_H
#define MPIO_H

#include "access_tile.h"
#include "driver.h"
#include "file.h"
#include "twophase.h"

struct mpio {
    struct driver base;
    struct file file;
    bool created;           /* made by us and no enddef has completed yet */
    bool begun;             /* of such a file a header may have been written */
    bool wrote;             /* this process has been asked to put values */
    bool defined;           /* an enddef has completed: close gives the file its size */
    int64_t opened_records; /* that there were when it was opened: more, and so it does */
    int64_t numrecs_in_file; /* what the header in the file says */
    bool lowered;            /* by another program; process 0 has seen it */
    int64_t failures;        /* the dataset's, when that was written */
    int64_t known_size;      /* the file has at least this many bytes, all know */
    bool pending;            /* a redefinition was left to the next to open the file;
                              * process 0 knows */
    bool lost;               /* and that one has taken it from this one: see journal.h */
    bool adrift;             /* and data lie between two layouts: none are moved here, all
                              * know */
    unsigned char *image;    /* the header as it is in the file, on process 0 */
    int64_t image_size;
    int64_t torn_low, torn_high;   /* bytes of it that may be others */
    struct twophase together;      /* how processes move data together */
    struct access_staging staging; /* kept between calls */
};

/* ---- mpio_open.c ---- */

/* Before all may read or write: where nodes are several, one process of each opens the
 * file. Collective. */
void mpio_share_own_all(struct mpio *m);
static inline void mpio_share_file_all(struct mpio *m)
{
    if (m->file.shares) mpio_share_own_all(m);
}

int mpio_create_all(struct dataset *ds, int cmode, struct driver *lower,
                    struct driver **self);
int mpio_open_all(struct dataset *ds, int omode, struct driver *lower,
                  struct driver **self);
int mpio_close_all(struct driver *self, bool abort);

/* ---- mpio_header.c, mpio_image.c: collective, the result local unless said otherwise
 * ---- */

/* Process 0 reads and decodes the header, all receive it. Agreed. */
int mpio_read_header_all(struct mpio *m);
/* Process 0 writes the header, from the definitions of the dataset: in the file is the
 * new one then or, should the process end or the call fail, the old one still. */
int mpio_write_header_all(struct driver *self);
/* Process 0 writes the old one once more, after that has failed. */
void mpio_restore_header_all(struct mpio *m);
/* Should that have failed, too, it is tried again. Local. */
int mpio_mend_torn(struct mpio *m);
static inline int mpio_mend_header(struct mpio *m)
{
    return m->torn_high > 0 ? mpio_mend_torn(m) : NC_NOERR;
}
/* The header of the definitions, encoded, and zeros as far as the one in the file goes;
 * NULL on others than process 0, and where there is no memory. And: the one in the file
 * is this one now. Local. */
unsigned char *mpio_encode_header(const struct mpio *m);
void mpio_keep_header(struct mpio *m, unsigned char *bytes);
/* An error of process 0's, with its words, on every process. Agreed. */
int mpio_explain_all(struct dataset *ds, int code);
/* That error, or NC_EFILE, in words that say what was left in the file. */
int mpio_tell_pending(const struct mpio *m, int code);
/* Process 0 writes numrecs if the file has another, and what of the header may be torn.
 * Called with numrecs agreed. */
int mpio_write_numrecs_all(struct mpio *m);
/* This process alone, in independent mode: its numrecs is in the file, if the file has
 * fewer, and is at least the file's. */
int mpio_sync_numrecs(struct mpio *m);
/* Agrees on numrecs and writes it. */
int mpio_sync_numrecs_all(struct driver *self);

/* ---- mpio_check.c: what others did to the file; local unless they end in _all ---- */

/* From here until it is unlocked no other opening of the file writes its header or number
 * of records, so that what is found there holds. Waits for one that does; NC_EFILE where
 * that takes too long. Does nothing where the file system has no such locks. */
int mpio_lock_header(struct mpio *m);
void mpio_unlock_header(struct mpio *m);
/* The number of records in the file's header, as process 0 finds it now; -1: the header
 * tells none. NC_EFILE if the file begins with other bytes than it did. */
int mpio_look_records(struct mpio *m, int64_t *there);
/* The same, for the next agreement to tell all: there are as many at least. */
int mpio_learn_records(struct mpio *m);
/* On process 0: is the header in the file the one that was read or written here last, or
 * is there none yet in a new file? NC_EFILE in words if not; else *records is the number
 * of records that it tells, or -1. */
int mpio_check_header(struct mpio *m, int64_t *records);
/* Before the file follows new definitions: that, and nobody has added records that this
 * would have to move or to fill. */
int mpio_check_definitions(struct driver *self, const struct cdf_header *before);
/* At the end: are all variables where they were, whatever else the header may say now?
 */
int mpio_check_places(struct mpio *m);
/* Makes the file so long at least, and never shorter. Every process gives the same size.
 * The result is process 0's own there and, as a rule, NC_NOERR elsewhere. */
int mpio_extend_all(struct file *f, int64_t size);

/* ---- mpio_define.c, mpio_move.c ---- */
int mpio_redef_all(struct driver *self);
int mpio_enddef_all(struct driver *self, const struct cdf_header *before);
/* Moves what has another place in the new layout, fills what is new and writes the
 * header, all processes together; or all is as it was, or pending. Agreed. */
int mpio_move_all(struct mpio *m, const struct cdf_header *before);
/* Fills variables from `first` on. */
int mpio_fill_new_all(struct mpio *m, int first);

/* ---- mpio_recover.c ---- */

/* Brings an interrupted redefinition to its end. Agreed. */
int mpio_recover_all(struct mpio *m);
/* Removes a dataset; local. NC_ENOENT, NC_EFILE ... */
int mpio_delete(const char *path, MPI_Info info);

/* ---- mpio_direct.c ---- */

/* Transfers the (sorted) tile between its memory and the file: each process its own
 * pieces, one by one, or all processes together through a file view. Local result. */
int mpio_write_tile(struct mpio *m, const struct access_tile *t);
int mpio_read_tile(struct mpio *m, const struct access_tile *t);
int mpio_view_tile_all(struct mpio *m, const struct access_tile *t, bool put);

/* ---- mpio_run.c ---- */

/* Is an access better left to go directly? Pieces of some KiB are; with stripes a run of
 * two or more, most of which nobody else touches. (Where nodes cache pages of their own,
 * which is where MPI-IO is used, a page that two of them write would lose bytes.) */
static inline bool mpio_is_long(const struct mpio *m, const struct access_survey *s)
{
    enum { STRIPES = 2, LONG = 8192 };
    const struct file *f = &m->file;
    if (!f->stripes_shared) return s->bytes / s->pieces >= LONG;
    return !f->mpi && s->pieces == 1 && s->bytes >= STRIPES * f->stripe;
}

/* Moves a request that is one run of the file, of which `s` tells where. Local. Its own
 * result, which its status takes; *io gets the last error that came from the file. */
int mpio_move_run(struct mpio *m, struct access_request *r, const struct access_survey *s,
                  bool put, int *io);

/* ---- mpio_transfer.c ---- */
int mpio_put_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                 int error);
int mpio_get_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                 int error);
int mpio_put(struct driver *self, struct access_request *const *reqs, int64_t n);
int mpio_get(struct driver *self, struct access_request *const *reqs, int64_t n);

#endif
