/* The blob driver: stores each process's values of a variable contiguously, in one of a
 * few subfiles. doc/blob.md describes how a put is handled, and doc/formats.md the files.
 * Private to this module.
 *
 * Each element of a variable has exactly one location. If the variable has a
 * decomposition, which has a map for each process, the elements listed in a map are in
 * that process's blob. All other elements are in the master file, at their ordinary
 * offsets. So if an element is put twice, the later put takes precedence, no matter which
 * process and call makes it.
 *
 * With the hint nc_blob, this driver is stacked on mpio, which owns the master file: one
 * extra page (dataset.base), followed by an ordinary dataset. Subfiles are datasets of
 * their own (blob_sub) on the same lower driver, each opened by the group of processes
 * that share it, or by a single process that needs values of another group.
 *
 * 1. blob_transfer splits the requests of a call. Those for decomposed variables go to
 *    blob_move, the others to mpio, whose agreement also reports whether any process has
 *    a variable to decompose (chosen by blob_decompose, written by blob_define).
 * 2. A request for a process's whole blob becomes one contiguous request to the subfile
 *    with the same buffer. The processes of a group put such requests collectively.
 * 3. Any other request is traversed (blob_walk). Its elements are looked up in this
 *    process's map or in an index of all maps (blob_find; the module subfile reads and
 *    validates them). subfile_parts joins parts that are contiguous in a file, even if
 *    other parts come between them in the request.
 * 4. blob_sums stores checksums of whole blobs, and invalidates them in memory and in the
 *    file before a part of the blob changes.
 *
 * For subfiles of other libraries subfile_foreign builds the definitions of the whole
 * dataset and a decomposition for each variable: from E3SM's maps, from PnetCDF's ranges,
 * or with the whole variable in a single file. These subfiles are then read like the
 * driver's own. If a path has no file, driver_open_all checks whether another file can be
 * opened in its place. */
#ifndef BLOB_H
#define BLOB_H

#include "base_arena.h"
#include "blob_walk.h"
#include "cdf_superblock.h"
#include "driver.h"
#include "file_descriptor.h"
#include "subfile_cache.h"
#include "subfile_foreign.h"
#include "subfile_map.h"
#include "subfile_open.h"
#include "subfile_parts.h"

/* A subfile that this process has open: a separate dataset on the lower driver. */
struct blob_sub {
    struct dataset ds;
    struct file_descriptor made; /* descriptor of a new file until ds is opened; fd may be
                                  * -1 */
    struct driver *driver;
    struct subfile subfile; /* its contents, to be read through this struct */
    bool ours;       /* opened collectively by its group, not just by this process */
    bool defined;    /* the subfile has a header */
    int64_t records; /* number of records in the header when it was opened */
    int64_t summed;  /* number of records that may have checksums; if not 0, fixed-size
                      * variables may have them, too */
};

/* A decomposition: how the elements of one or more variables with the same dimensions are
 * distributed over processes. */
struct blob_decomp {
    int number;             /* k in the name Dk */
    int varid;              /* one of its variables, which determines the dimensions */
    bool mine;              /* `own` is valid: same number of processes as at creation */
    bool read;              /* all processes of the group have read their `own` */
    struct subfile_map own; /* elements in this process's blob */
    int64_t hint, next;     /* lookup hints for own and for index */
    int64_t start;          /* first element of the blob in the subfile's variable */
    struct subfile_slab form; /* `own` as a hyperslab, if it is one */
    struct subfile_index index;
};

/* Checksums that have not been written to the subfiles yet. */
struct blob_sums {
    struct blob_sum_entry *list; /* hash table of the checksums of this process's blob */
    int64_t n, room;
    unsigned char *changed;   /* one per variable: 1 if parts of blobs were put here */
    struct blob_taken *taken; /* places whose checksums in the files have already been
                               * invalidated */
};

/* State of frames (see blob_frames.h). */
struct blob_frames {
    int64_t end;  /* end of the group's log, as agreed in the group; 0 if unknown */
    int64_t safe; /* number of records that may be on the devices; if not 0, fixed-size
                   * variables may be there, too */
    bool added;   /* this process has added pages that the file does not list yet */
    uint64_t *wanted;           /* one per variable: bitmap of missing pages */
    char rules[1024];           /* rules of nc_compress in effect */
    struct subfile_cache cache; /* also contains the coder that packs frames */
};

/* State of a variable. A value above BLOB_OPEN is the number of its decomposition. */
enum { BLOB_CANONICAL = -1, BLOB_OPEN = 0 };

struct blob {
    struct driver base;
    struct cdf_superblock facts; /* the master's first page, current while writable */
    struct cdf_superblock found; /* first page as process 0 found it during open */
    bool untouched; /* no subfile has the new generation: `found` can be restored */
    struct subfile_foreign foreign; /* used if another library wrote the dataset */
    char *path;                     /* path of the master, with symbolic links resolved */
    bool complete;  /* the subfiles and the master contain all values that were put */
    bool created;   /* created by this opening: no subfile may be a symbolic link */
    bool fresh;     /* created by this opening, and no enddef has completed yet */
    bool grouped;   /* the job has as many processes as created the dataset */
    bool settles;   /* some variables may still get a decomposition */
    int group;      /* number of this process's subfile, if grouped */
    int rank, size; /* this process's rank in its group, and the group's size */
    MPI_Comm comm;  /* communicator of the group; MPI_COMM_NULL if not grouped or a
                     * subfile is missing */
    MPI_Comm alone; /* communicator with only this process; MPI_COMM_NULL until needed */
    struct blob_sub **subs; /* facts.nsubfiles entries; NULL for those not open here */
    struct blob_sub *own;   /* subs[group] if the group opened it collectively, or NULL */
    int ndecomps;
    struct blob_decomp *decomps;
    int nvars;
    int *state;             /* state of each variable; the same on all processes */
    unsigned char *touched; /* one per variable: 1 if open, with values in the master */
    int64_t open_vars;      /* number of variables in state BLOB_OPEN */
    int64_t last;           /* largest number assigned to any decomposition so far */
    struct blob_sums sums;
    struct blob_frames frames;
    struct blob_join *join; /* state of a join into one file; NULL if there is none */
    bool deferred;          /* the join continues after close */
    bool unsynced;          /* the device may not have the current first page yet */
    bool unfinished;        /* a redefinition of the group's subfile may be incomplete */
    bool torn;              /* the first page may be damaged, so puts are refused */
};

/* Returns the index of a variable's first fixed dimension. */
static inline int blob_first_dim(const struct cdf_var *v)
{
    return v->is_record ? 1 : 0;
}

/* Returns the layer of an open dataset in subfiles; NULL if it is an ordinary dataset. */
struct blob *blob_of_driver(struct driver *top);

/* ---- blob_close.c: see struct driver_ops ---- */
/* Frees the layer once its files are closed. Collective. */
void blob_free_all(struct blob *b);
/* Grows the arrays to nvars variables. Local. NC_ENOMEM. */
int blob_grow(struct blob *b, int nvars);
int blob_enddef_all(struct driver *self, const struct cdf_header *before);
int blob_write_header_all(struct driver *self);
int blob_sync_all(struct driver *self);
int blob_sync(struct driver *self);
int blob_close_all(struct driver *self, bool abort);
void blob_prepare_close_all(struct driver *self);

/* Returns whether another library wrote the dataset, which is then read-only. */
static inline bool blob_is_foreign(const struct blob *b)
{
    return b->foreign.kind != SUBFILE_FOREIGN_NONE;
}

/* ---- blob_request.c: requests that this layer makes itself ---- */

/* Fills in a request for n 64-bit integers of a variable, starting at `first`, in row
 * `row` if it has two dimensions. A put with `values` NULL writes the fill value. */
void blob_request_numbers(struct access_request *r, const struct cdf_header *h, int varid,
                          int64_t row, int64_t first, int64_t n, void *values);
/* Read lists of numbers from subfile `sub`, a struct blob_sub (see struct subfile). */
int blob_read_numbers(void *sub, const struct subfile_numbers *lists, int n, int error);
int blob_read_numbers_all(void *sub, const struct subfile_numbers *lists, int n,
                          int error);
/* Puts or gets n 64-bit integers of a one-dimensional variable via a driver. Local. */
int blob_move_numbers(struct driver *d, const struct cdf_header *h, int varid,
                      int64_t first, int64_t n, void *values, bool put);
/* Reads n bytes of a subfile's log. `sub` is a struct blob_sub. Local. */
int blob_read_log(void *sub, int64_t at, void *bytes, int64_t n);
/* Writes n bytes to a subfile's log. Local. */
int blob_put_log(struct blob_sub *sub, int64_t at, const void *bytes, int64_t n);

/* ---- blob_sub.c: subfiles ---- */

/* Opens the group's subfile collectively. If `create`, creates it without a header. On
 * error, sets *sub to NULL. All processes of the group return the same result. */
int blob_sub_open_all(struct blob *b, bool create, struct blob_sub **sub);
/* Opens any subfile in this process only; it stays open until the dataset is closed. A
 * subfile without a header has no variables. Error messages name the file. Local. */
int blob_sub_get(struct blob *b, int number, struct blob_sub **sub);
/* Rebuilds the list of variables from the current header. Local. NC_ENOMEM, NC_ENOTNC. */
int blob_sub_list(struct blob *b, struct blob_sub *sub);
/* Finds a subfile and, in it, a variable of the master. NC_ENOTNC if the subfile does not
 * have the variable. Local. */
int blob_sub_find(struct blob *b, int number, int varid, struct blob_sub **sub, int *id);
/* Checks that the name of a new subfile is free. Removes a leftover subfile without
 * values. The subfiles of the replaced dataset have been removed before, so any other
 * file with that name is unrelated, and the result is NC_EEXIST. Local. */
int blob_sub_refuse_foreign(const struct dataset *master, const char *path);
/* Writes the generation and the number of syncs to an open subfile. If `sync`, also syncs
 * it. Local. */
int blob_sub_stamp(const struct blob *b, struct blob_sub *s, uint64_t syncs, bool sync);
/* Checks that this job still owns the lease (see struct dataset). Local. */
int blob_may_write(void *lease);
/* Initialises a subfile's dataset with the settings of the master. */
void blob_sub_describe(const struct blob *b, struct dataset *ds);
/* Returns the path of a subfile, which the caller frees; NULL if out of memory. */
char *blob_sub_path(void *b, int number);
/* Close subfiles: blob_sub_close_alone those that this process opened alone, and
 * blob_sub_close_all, collectively, the group's. Both add the subfiles' counters to the
 * dataset's statistics. */
int blob_sub_close_alone(struct blob *b);
int blob_sub_close_all(struct blob *b, bool abort);
/* Closes the group's subfile without changing it. */
int blob_sub_leave_all(struct blob *b);
/* Checks that the names of all files that may be created beside the master are short
 * enough (see struct driver_kind). */
int blob_sub_refuse(const struct dataset *ds);
/* Returns the master's path with symbolic links resolved, from which the subfiles' paths
 * are derived; NULL if out of memory. The caller frees it. */
char *blob_sub_master(const char *path);

/* ---- blob_page.c ---- */

/* The master's first page and the generation of all files (subfile_generation.h). The job
 * that owns the lease (blob_lease.h) caches the page in b->facts; process 0 writes it. An
 * opening for writing
 *
 * 1. writes a new generation into the page, with the stage CDF_BEGINNING, and syncs it;
 * 2. writes the generation into all subfiles, and syncs them;
 * 3. sets the stage CDF_WRITING: from here on values may change;
 * 4. counts each collective sync, first in the subfiles, then in the page;
 * 5. sets the stage CDF_COMPLETE when all files are closed, and releases the lease.
 *
 * So the files match, no matter when the job is killed. */

/* Sets a new dataset's first generation. */
void blob_page_first(struct cdf_superblock *e);
/* Writes the first page of a new dataset; process 0 only. Local. */
int blob_page_create(struct blob *b);
/* Reads the page on process 0. If opening for writing, also begins a generation and
 * removes what a killed join has left behind. Local. */
int blob_page_open(struct blob *b);
/* Records, on process 0, that all subfiles have the generation. Local. */
int blob_page_begun(struct blob *b);
/* Writes b->facts, with the committed decompositions, on process 0. Local. */
int blob_page_commit(struct blob *b);
/* Restores the page to its state before a failed commit. Local. */
int blob_page_undo(struct blob *b, const struct cdf_superblock *before);
/* Returns the number of the next collective sync on process 0, and 0 elsewhere. Local. */
int64_t blob_page_next_sync(const struct blob *b);
/* Counts a completed collective sync in the page; process 0 writes it. Local. */
int blob_page_synced(struct blob *b, int64_t syncs);
/* Stores the checksums of the master's old and new headers in the page. Called on process
 * 0 before the new header is written. Local. */
int blob_page_redefine(struct blob *b);
/* Records that the new header has been written. Local. */
void blob_page_redefined(struct blob *b);
/* Ends the lease. `complete` means that the closed files have all values. Local. */
int blob_page_end(struct blob *b, bool complete);
/* After a failed open, restores the page if no subfile has the new generation. Local. */
void blob_page_restore(struct blob *b);
/* Writes the generation and the number of syncs to the subfiles for which this process is
 * responsible. If `sync`, also syncs them. Local. */
int blob_page_stamp(struct blob *b, uint64_t syncs, bool sync);
/* Defines the variable in which a subfile stores its generation. */
int blob_page_define(struct cdf_header *h);

/* ---- blob_remove.c ---- */

/* See struct driver_kind. */
bool blob_is_wanted(const struct dataset *ds, bool create);
int blob_acquire(const struct dataset *ds, int fd, enum driver_intent intent,
                 struct blob_lease **lease);
void blob_release(struct blob_lease *lease);

/* Removes the subfiles of the dataset that has superblock `e`. Local. */
int blob_remove_subfiles(const char *master, const struct cdf_superblock *e);
/* See struct driver_kind. */
int blob_remove_parts(const char *path, bool anew, bool *all);

/* ---- blob_define.c: choosing and writing decompositions ---- */

/* Assigns decompositions to the open variables that the processes put, or leaves these
 * variables in the master. reqs are this process's requests, which must be for open
 * variables and not be fills. If a process cannot participate, the variables stay in the
 * master; this is not an error. Collective. */
void blob_decompose_all(struct blob *b, struct access_request *const *reqs, int64_t n);
/* Writes a header to the group's subfile if it has none. Collective in the group. */
int blob_define_empty_all(struct blob *b);

/* ---- blob_sums.c: checksums ---- */

/* Grows the arrays from `before` to nvars variables. Local. NC_ENOMEM. */
int blob_sums_grow(struct blob_sums *s, int before, int nvars);
void blob_sums_free(struct blob_sums *s);

/* Invalidate checksums before values change: of all blobs of a subfile if a part of any
 * blob changes, or of this process's blob if it changes as a whole, in `records` records
 * that are `step` apart. If this fails, nothing may be put. Local. */
int blob_sums_change_part(struct blob *b, struct blob_sub *sub, int varid,
                          int64_t record);
int blob_sums_change_own(struct blob *b, struct blob_sub *sub, int varid, int64_t record,
                         int64_t records, int64_t step);
/* Returns whether this opening computes checksums. */
bool blob_sums_wanted(const struct blob *b);
/* Stores the checksums of this process's blob. Must be called after request r has put the
 * blob to its subfile. Local. */
void blob_sums_keep(struct blob *b, int varid, struct access_request *r);
/* Returns whether checksums must be written to the files before others are added. */
bool blob_sums_full(const struct blob *b);

/* Write the checksums to the files. Must be called by all processes.
 * blob_sums_fill_shared fills in this process's numbers; blob_sums_write_all needs their
 * maxima over all processes. BLOB_SUMS_RECORDS is the number of records. BLOB_SUMS_SYNC,
 * the number of a sync, is used only by callers. The result is agreed in the group. */
enum { BLOB_SUMS_RECORDS = 2, BLOB_SUMS_SYNC, BLOB_SUMS_SHARED };
void blob_sums_fill_shared(const struct blob *b, int64_t shared[BLOB_SUMS_SHARED]);
int blob_sums_write_all(struct blob *b, const int64_t shared[BLOB_SUMS_SHARED]);
/* Same as blob_sums_write_all, but agrees on the numbers first. */
int blob_sums_flush_all(struct blob *b);

/* ---- blob_join.c: joining into one file ---- */
enum driver_defer blob_defer(struct driver *self);
int blob_flush_start(struct driver *self);

/* How ncmpijoin joins a dataset that it has open for reading. */
struct blob_join_options {
    const char *to;           /* path of the joined file */
    struct blob_lease *lease; /* on process 0, its lease on the dataset; NULL if none */
    void (*report)(void *arg, int64_t done, int64_t all); /* shows progress; or NULL */
    void *arg;
};

/* Begins to join the dataset into one file, and sets b->join. Without options, the file
 * replaces the dataset, whose subfiles must be open and complete; nothing may be put
 * afterwards. Errors may be this process's own. */
int blob_join_begin_all(struct blob *b, const struct blob_join_options *options);
/* Completes the joined file: flushes it to its device and closes it. On error, including
 * the caller's `error`, or if the dataset has been deleted, removes it instead. Errors
 * may differ between processes. */
int blob_join_end_all(struct blob *b, int error);
/* Renames the joined file to its final name. If that is the master's name, removes the
 * subfiles; no process may then have the master open. On error, including `error`,
 * removes the joined file. Local, on process 0. */
int blob_join_finish(struct blob *b, int error);
/* Returns whether the open file fd is the joined file. Local. */
bool blob_join_is_file(const struct blob *b, int fd);
/* Frees the resources of a join. No-op if there was none. Local. */
void blob_join_free(struct blob *b);

/* ---- blob_find.c: decompositions, their maps, and locations ---- */

/* Returns the decomposition of a variable; NULL if it has none. */
struct blob_decomp *blob_decomp_of(const struct blob *b, int varid);
/* Adds decomposition `number`, to which variable `varid` belongs. Local. NC_ENOMEM. */
int blob_add_decomposition(struct blob *b, int number, int varid);

/* If the job is grouped, reads this process's map in a decomposition. Local. */
int blob_read_own(struct blob *b, struct blob_decomp *d);
/* Reads the `own` maps of those decompositions that any process of the group needs for
 * its requests, unless the whole group has read them already. All requests must be for
 * decomposed variables. The group reads collectively, because each process's part is
 * small. */
int blob_read_own_all(struct blob *b, struct access_request *const *reqs, int64_t n);
struct subfile_decomp;
/* Reads the map of one blob. Sets *start to the index of the blob's first element in the
 * subfile's variable. The caller frees the map. */
int blob_read_map(const struct subfile_decomp *s, int64_t blob, struct subfile_map *map,
                  int64_t *start);

struct blob_span {
    int64_t record, records, step;
};

/* Returns whether the request covers all of this process's blob, in one or more records.
 * Sets *s to these records. */
bool blob_find_whole(struct blob *b, struct blob_decomp *d,
                     const struct access_request *r, struct blob_span *s, int *err);

enum { BLOB_ELSEWHERE = 1 }; /* not an error code */

/* Locates element `at` of record part->record. Sets the part's location, and reduces
 * part->n to the number of elements that are contiguous there. Sets *remote if these
 * elements may be outside this process's blob. If `own`, returns BLOB_ELSEWHERE unless
 * this process's blob contains all part->n elements. Local. */
int blob_find_part(struct blob *b, struct blob_decomp *d, int64_t at, bool own,
                   struct subfile_part *part, bool *remote);

/* ---- blob_move.c: moving values between requests and their locations ---- */

/* Move the values of requests for decomposed variables. Return the first error. blob_move
 * is local. blob_move_all must be called by all processes of the dataset. */
int blob_move(struct blob *b, struct access_request *const *reqs, int64_t n, bool put);
int blob_move_all(struct blob *b, struct access_request *const *reqs, int64_t n,
                  bool put);
/* Announces to the layers below which bytes of each file a request will read. Local. */
int blob_prefetch(struct driver *self, const struct access_request *r);

/* ---- blob_transfer.c ---- */
int blob_put_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                 int error);
int blob_get_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                 int error);
int blob_put(struct driver *self, struct access_request *const *reqs, int64_t n);
int blob_get(struct driver *self, struct access_request *const *reqs, int64_t n);

#endif
