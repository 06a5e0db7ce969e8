/* The interface to a dataset's file. No other module calls MPI_File_*, or reads or writes
 * the dataset's bytes.
 *
 * A process opens the file when it first reads or writes, so processes without data put
 * no load on the file system. It uses a descriptor where that is safe
 * (base_fs_is_coherent, base_fs_bypass_cache, hint nc_file_io), and MPI-IO elsewhere.
 * Process 0 opens the file when the dataset is opened. A collective handle is opened when
 * a view is first needed. If independent I/O is ruled out, this handle is opened with the
 * dataset and is the only one. In these comments, "another job" includes another open of
 * the same file by this program. */
#ifndef FILE_H
#define FILE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file_descriptor.h"
#include "file_coherence.h"
#include "file_fdpass.h"

/* One process's access to a dataset's file. */
struct file {
    struct dataset *ds;
    int amode;                  /* mode for MPI_File_open once the file exists */
    struct file_descriptor own; /* this process's descriptor; fd is -1 if none */
    struct file_fdpass share;   /* shares a descriptor within the node */
    int guard;    /* process 0's descriptor that holds the dataset's lock; -1 if none */
    int replaced; /* descriptor of the old file that this one replaced; -1 if none */
    MPI_File own_handle;             /* this process's handle, if it uses MPI-IO */
    MPI_File view;                   /* handle opened by all processes */
    bool bypasses_cache;             /* own.fd bypasses the node's page cache */
    struct file_coherence coherence; /* state for mounts that may be stale */
    int64_t kernel_size;             /* file size in bytes known to this node's kernel */
    int cached_fd;     /* descriptor that uses the page cache; -1 until needed */
    bool own_size;     /* nodes trust their own view of the file's size */
    char warning[384]; /* warning for the user about the file system, or "" */
    bool mpi;          /* process 0 uses MPI-IO, so all do */
    bool dirty;        /* this process has unsynced writes, or `found` is unsynced */
    bool found;        /* the contents predate this open and may be unsynced */
    bool logged;       /* another job may have logs, which a write must disown */
    bool named;        /* this process need not sync the directory entry */
    bool no_indep;     /* no independent I/O on the file (romio_no_indep_rw) */
    int64_t end;      /* lower bound on the file's size in bytes, known to this process */
    int64_t stripe;   /* stripe size in bytes; 0 if unknown */
    int64_t stripes;  /* number of servers; 0 if unknown */
    bool objects;     /* each server locks its part as a whole (base_fs.h) */
    bool spans_nodes; /* several nodes use this file or others on the same servers */
    bool stripes_shared; /* `spans_nodes`, and the stripes are known: only one node should
                          * write each stripe */
    bool shares;         /* processes on a node may share a descriptor */
};

/* Returns a descriptor for file operations that MPI-IO lacks, or -1 if there is none. */
static inline int file_fd(const struct file *f)
{
    return f->own.fd >= 0 ? f->own.fd : f->guard;
}

/* Open and close the file. Collective; all processes get the same result. `error` is the
 * caller's earlier error: if any process has one, none opens the file. On success f->end
 * is the file's size, and f->stripe is the same on all processes. Returns NC_NOERR,
 * NC_ENOENT, NC_EEXIST, NC_EACCESS, NC_EFILE ... Only process 0's permissions matter
 * here; another process without permission fails at its first read or write. */
int file_open_all(struct file *f, struct dataset *ds, int amode, int error);
int file_close_all(struct file *f);

/* After the first call, lets one process on each node open the file for all processes
 * that share the board. Collective over these processes, but without an agreement. */
void file_share_all(struct file *f, struct node_board board);

/* Returns whether the stripe size is known and is a multiple of FILE_PAGE, at least two
 * pages. An exchange lets only one node access each such stripe, if it fits into the
 * node's buffer. The result is the same on all processes. */
enum { FILE_PAGE = 4096 };
bool file_striped(const struct file *f);

/* Opens the file for this process if necessary; from then on this process does not use
 * the file's name. Returns NC_ENOENT, NC_EACCESS, NC_EFILE ... Local. */
int file_ready(struct file *f);

/* Opens f->view, the handle that all processes share. Collective; the result is local. */
int file_open_view_all(struct file *f);

/* Read or write n bytes at `offset`; n may be any size. Bytes beyond the end of the file
 * are read as zeros. Return NC_EREAD; NC_EWRITE, NC_ENO_SPACE, NC_EQUOTA; or, if a
 * process's first call cannot open the file, NC_ENOENT, NC_EACCESS, NC_EFILE ...
 * Independent. */
int file_read(struct file *f, int64_t offset, void *bytes, int64_t n);
int file_write(struct file *f, int64_t offset, const void *bytes, int64_t n);

/* Read or write n bytes on process 0; n is the same on all processes. If `bytes` is NULL,
 * process 0 joins but transfers nothing. Process 0 returns the result; the other
 * processes return NC_NOERR. Collective. */
int file_read_root_all(struct file *f, int64_t offset, void *bytes, int64_t n);
int file_write_root_all(struct file *f, int64_t offset, const void *bytes, int64_t n);

/* Read or write n bytes (less than 2^31) between memory and the file. memtype describes
 * the memory at `bytes`, and filetype the view of the file; processes without data pass
 * MPI_BYTE and 0. Reading beyond the end of the file is undefined, so the caller checks
 * first. Collective. */
int file_read_view_all(struct file *f, MPI_Datatype filetype, MPI_Datatype memtype,
                       void *bytes, int64_t n);
int file_write_view_all(struct file *f, MPI_Datatype filetype, MPI_Datatype memtype,
                        const void *bytes, int64_t n);

/* Records that this process has just changed, or tried to change, the file. Local. */
static inline void file_mark_dirty(struct file *f)
{
    f->dirty = true;
    file_coherence_mark_written(&f->coherence);
}

/* Removes the token that marks the file as having another job's logs (BASE_FS_LOGS).
 * Called before this process first writes to the file, and by process 0 when puts are
 * synced or the file is closed. If the other job is then killed, its logs are not
 * replayed over this job's values. Local. */
void file_disown_logs(struct file *f);

/* Records the file's size, which the next agreement passes to all processes. Local. */
static inline void file_set_end(struct file *f, int64_t size)
{
    if (size < f->end) f->kernel_size = 0;
    f->end = f->ds->slots[DATASET_SLOT_END] = size;
}

/* Returns a lower bound on the file's size in bytes: the end of all data that any process
 * had written before the last agreement. Local. */
int64_t file_known_end(const struct file *f);
/* Returns the offset up to which other processes may have written values. If nodes trust
 * their own view of the file's size, this includes bytes that they have only announced.
 * Local. */
int64_t file_expected_end(const struct file *f);
/* Sets *size to the file's size in bytes if this process has opened the file, otherwise
 * to a lower bound. The maximum over all processes is the file's size. Local. */
int file_size(struct file *f, int64_t *size);
/* Checks that this process can read all bytes that it knows the file contains. Returns
 * NC_EREAD if the mount's view of the file's size is wrong. Local. */
int file_check_end(struct file *f);
/* Raises this node's view of the file's size to the sizes that others have reported. Must
 * be called before the system's size is used, because a node with a write-back cache
 * trusts its own size. The next agreement reports errors. Local. */
void file_merge_end(struct file *f);
/* Sets the file's size; all processes pass the same size. Process 0 returns the result;
 * the others usually return NC_NOERR. Collective. */
int file_resize_all(struct file *f, int64_t size);

/* Flushes written data to the device, so that every process that opens or reads the file
 * later sees it. Collective; each process returns its own result. */
int file_sync_all(struct file *f);

/* Acquire and release, on process 0, the lock shared by all jobs that write to the file
 * (journal.h). Acquiring waits while another job moves data. Returns NC_EFILE. Local. */
int file_write_lock_acquire(struct file *f);
void file_write_lock_release(struct file *f);

/* Acquires that lock exclusively through `fd`, which was just opened for a new dataset,
 * so that the file may be emptied. `fd` becomes the guard. Sets *how to the result. If
 * `exclusive` is set, returns NC_EEXIST if another job has the file open for writing.
 * NC_EFILE ... Local. */
enum file_lock_result {
    FILE_LOCKED, /* this process has the lock, and the file may be emptied */
    FILE_AGAIN,  /* the name now refers to another file: retry with that file */
    FILE_USED    /* another job has, or may have, the file open for writing */
};
int file_write_lock_create(struct file *f, int fd, bool exclusive,
                           enum file_lock_result *how);

/* Makes `fd`, which has the exclusive lock, a new dataset's guard. NC_EWRITE. Local. */
int file_write_lock_adopt(struct file *f, int fd);

/* Downgrades the lock to shared once the file is empty. Local. */
void file_write_lock_share(struct file *f);

/* Flushes this process's writes to the device. Local. */
int file_sync(struct file *f);

/* Starts writing a range to the device early, because the caller will sync. Local. */
void file_write_back(struct file *f, int64_t offset, int64_t n);

/* Adds to `info` the hints that the user set, those that MPI-IO uses if it has the file
 * open on this process, and the file's stripes. Local. */
int file_info(struct file *f, MPI_Info info);

/* Removes the file when the dataset could not be created, but never another file that has
 * taken its name. Called on process 0 only, before file_close_all, while the lock still
 * keeps other jobs from using the file. `replaced` is the descriptor of the file that the
 * new one replaced, or -1. If another job is still writing to the replaced file,
 * truncates the new one instead of removing it, so that the other job detects that its
 * name was taken. NC_EFILE ... */
int file_remove(struct dataset *ds, int replaced);

/* Removes a file. Returns NC_ENOENT, NC_EFILE ... Local. */
int file_delete(const char *path, MPI_Info info);

#endif
