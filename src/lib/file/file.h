/* The file: the only place that calls MPI_File_*, and where a dataset's bytes are read
 * and written. */
#ifndef FILE_H
#define FILE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file_descriptor.h"
#include "file_late.h"
#include "file_lend.h"

struct file_scatter;

/* A process opens the file for itself when it first reads or writes, so that who moves
 * nothing does not trouble the file system: by a descriptor of the system where that is
 * safe (base_fs_coherent, base_fs_go_around, and the hint nc_file_io), else through
 * MPI-IO. Process 0 has
 * it from the beginning. A handle of all processes together is opened when a view is
 * first needed; where independent I/O is ruled out, at the beginning, and then it is the
 * only one. */
struct file {
    struct dataset *ds;
    int amode;                    /* of MPI_File_open, once the file is there */
    struct file_descriptor own;   /* this process's; its fd is -1: none */
    struct file_lend share;       /* how it may come by one */
    int guard;                    /* on process 0 of a dataset open for writing, the
                                   * descriptor that holds its lock; -1: none */
    struct file_scatter *scatter; /* short pieces on their way; NULL: none yet */
    MPI_File alone;               /* the same through MPI-IO */
    MPI_File view;                /* all processes' */
    bool around;                  /* ... goes around the pages that this node keeps */
    struct file_late late;        /* ... which may not be enough */
    int64_t reached;              /* its kernel knows of so many bytes */
    int through;                  /* an open that does not go around them; -1: none yet */
    bool own_size;     /* a node takes its own idea of the size for the file's */
    char warning[384]; /* about the file system, for people; "": none */
    bool mpi;          /* process 0 goes through MPI-IO, so all do */
    bool dirty; /* this process wrote by its own handle since the last sync, or has not
                 * synced yet what it found */
    bool found; /* what there is was written by an earlier opening, and perhaps not synced
                 */
    bool named; /* the file's name is on the device, as far as this process knows */
    bool no_indep;   /* no independent I/O on the file: see romio_no_indep_rw */
    int64_t end;     /* this process knows that the file has as many bytes at least */
    int64_t stripe;  /* bytes that the file system keeps together; 0: nobody knows */
    int64_t stripes; /* over so many servers; 0: nobody knows */
    bool objects;    /* each of which locks its part as a whole: see base_fs.h */
    bool across;     /* the processes run on several nodes, or others do that write to the
                      * same servers */
    bool stripes_shared; /* nodes share it, and its stripes are known: each is best
                          * written by one of them */
    bool shares; /* processes of a node may share an open: there are several nodes, and
                  * they go by descriptors */
};

/* Collective and agreed. Where a process has an `error` from before nobody gets a file;
 * else f->end is the file's size, f->stripe the same everywhere. NC_ENOENT, NC_EEXIST,
 * NC_EACCESS, NC_EFILE ... Process 0's access counts: a process that is refused the file
 * says so when it first reads or writes. */
int file_open_all(struct file *f, struct dataset *ds, int amode, int error);
int file_close_all(struct file *f);

/* From the first call on, one process of each node opens the file for all that
 * share the board. Collective, of these; it takes part in no agreement. */
void file_share_all(struct file *f, struct node_board board);

/* Are stripes known, of which an exchange lets one node alone touch each, if they fit
 * into its buffer? They are whole pages, and more than one. The same everywhere. */
enum { FILE_PAGE = 4096 };
bool file_striped(const struct file *f);

/* This process has the file open: it does not matter any more what its name is. Local.
 * NC_ENOENT, NC_EACCESS, NC_EFILE ... */
int file_ready(struct file *f);

/* f->view, the handle of all processes together, is open. Collective; the result is each
 * process's own. */
int file_open_view_all(struct file *f);

/* Independent. n bytes of any amount at offset. What lies behind the file's end reads
 * as zeros. NC_EREAD; NC_EWRITE, NC_ENO_SPACE, NC_EQUOTA; and of the process's
 * first, why it may not open the file: NC_ENOENT, NC_EACCESS, NC_EFILE ... */
int file_read(struct file *f, int64_t offset, void *bytes, int64_t n);
int file_write(struct file *f, int64_t offset, const void *bytes, int64_t n);

/* The same for short pieces that lie near each other, in the order of the file: see
 * file_scatter.c. They are queued, and are in the file after the flush; where a piece
 * cannot be queued the result is why others before it could not be written. False: the
 * file has to be written otherwise. Local. */
enum { FILE_SCATTER_LONGEST = 8192 };
bool file_scatters(struct file *f);
int file_scatter(struct file *f, int64_t offset, const void *bytes, int64_t n);
int file_scatter_flush(struct file *f);
void file_scatter_free(struct file *f);

/* Collective: process 0 transfers n bytes, the others nothing; n is the same everywhere.
 * With bytes NULL process 0 takes part and transfers nothing either.
 * The result is process 0's own there and NC_NOERR elsewhere. */
int file_read_root_all(struct file *f, int64_t offset, void *bytes, int64_t n);
int file_write_root_all(struct file *f, int64_t offset, const void *bytes, int64_t n);

/* Collective: n bytes (less than 2^31) between memory, as memtype describes it from
 * bytes, and the file through a view of filetype; MPI_BYTE and 0 on those that have
 * nothing. Reading behind the file's end is undefined: the caller looks first. */
int file_read_view_all(struct file *f, MPI_Datatype filetype, MPI_Datatype memtype,
                       void *bytes, int64_t n);
int file_write_view_all(struct file *f, MPI_Datatype filetype, MPI_Datatype memtype,
                        const void *bytes, int64_t n);

/* This process has just changed the file, or tried to. Local. */
static inline void file_wrote(struct file *f)
{
    f->dirty = true;
    file_late_wrote(&f->late);
}

/* It has so many bytes now, which the others hear of with the next agreement. Local. */
static inline void file_ends_at(struct file *f, int64_t size)
{
    if (size < f->end) f->reached = 0;
    f->end = f->ds->word[DATASET_WORD_END] = size;
}

/* The file's size in bytes, where this process has opened it; else what it knows of it.
 * The largest of all is right. Local. */
int file_size(struct file *f, int64_t *size);
/* Does this process see as many bytes as it knows that the file has? On a mount that goes
 * by its own idea of the size, NC_EREAD. Local. */
int file_check_end(struct file *f);
/* Makes this process's node know of as many bytes as others have told of, before anybody
 * goes by the size that the system tells: a node with a write-back cache takes its own
 * size for the file's. What fails the next agreement tells. Local. */
void file_learn_end(struct file *f);
/* Collective; every process gives the same size. The result is process 0's own there and,
 * as a rule, NC_NOERR elsewhere. */
int file_resize_all(struct file *f, int64_t size);

/* Collective: what was written is on the device, and seen by all who come after. The
 * result is each process's own. */
int file_sync_all(struct file *f);

/* Process 0 takes the lock that an opening for writing holds, and gives it back: see
 * journal.h. It waits while another one moves data. Local. NC_EFILE. */
int file_guard_take(struct file *f);
void file_guard_drop(struct file *f);

/* What this process wrote is on the device; local. */
int file_sync(struct file *f);

/* A sync will follow: the device may begin with what was written there. Local. */
void file_write_back(struct file *f, int64_t offset, int64_t n);

/* Adds to info what was asked for, the hints that MPI-IO has in force where this process
 * has opened the file through it, and the file's stripes; local. */
int file_info(struct file *f, MPI_Info info);

/* Removes the file that was open, and never another that has its name by now; on process
 * 0. NC_EFILE ... */
int file_remove(struct dataset *ds);

/* Removes a file; local. NC_ENOENT, NC_EFILE ... */
int file_delete(const char *path, MPI_Info info);

#endif
