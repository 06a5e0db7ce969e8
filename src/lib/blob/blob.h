/* The driver blob: what each process puts of a variable lies together in one of a few
 * subfiles. doc/blob.md describes the ways of a put, doc/formats.md the files; private to
 * this module.
 *
 * Each element of a variable has one home, once it is settled: a variable that has a
 * decomposition keeps what its maps name in blobs, one of each process; everything else
 * is in the master file, at the place it has in any dataset. So the later of two puts
 * takes effect, whichever process makes it and however.
 *
 * With the hint nc_blob the driver blob stands above mpio, which has the master file:
 * a dataset like any other behind one page (dataset.base). Subfiles are datasets of
 * their own (blob_sub), on the same driver, of the group of processes that shares one,
 * or of one process that needs values of another group's. blob_transfer parts a call's
 * requests: those of variables with a decomposition go to their homes (blob_place), the
 * rest goes on to mpio, in whose agreement all also hear whether anybody has a variable
 * to settle (blob_settle: which decomposition; blob_define: into the subfiles). A
 * request for the whole of the process's blob becomes one of a run of the subfile, with
 * the same buffer, and a group of processes puts these together. Any other is walked
 * (blob_walk), and its elements looked up in the own map or in an index of all maps
 * (blob_find; blob_source, which trusts nothing that it reads); what goes on in a
 * file where something before ended becomes a run, however much comes between
 * (blob_parts). blob_sums keeps checksums of whole blobs, and takes them away, here and
 * in the file, before a part changes.
 *
 * Of other libraries' subfiles blob_foreign makes the definitions of the whole, and
 * for each variable a decomposition: E3SM's maps, PnetCDF's ranges, or one file that
 * has all of it. From then on they are read like the driver's own; the driver below has
 * only the file with the definitions. Where a path has no file
 * driver_open_all asks whether another one stands in for it. */
#ifndef BLOB_H
#define BLOB_H

#include "base_arena.h"
#include "base_compress.h"
#include "blob_foreign.h"
#include "blob_map.h"
#include "blob_parts.h"
#include "blob_walk.h"
#include "cdf_envelope.h"
#include "driver.h"

/* A subfile that this process has open: a dataset of its own, on the driver below. */
struct blob_sub {
    struct dataset ds;
    struct driver *driver;
    int number;
    bool ours;       /* opened by its group together; else by this process alone */
    bool defined;    /* it has a header */
    int64_t records; /* that its header told when it was opened */
    int64_t size;    /* of another library's: the bytes of the file */
    int64_t summed;  /* records of which it may have checksums; of fixed ones if not 0 */
    int log;         /* its variable that has frames; -1: none */
    struct blob_tables *tables; /* what is known of its tables; NULL: nothing */
    int nvars;                  /* of the master that the list below is long */
    int *varids;                /* its variable for each of the master's; -1: none */
};

/* How the elements of variables of the same dimensions are dealt out to the processes. */
struct blob_decomp {
    int number;            /* k of Dk */
    int varid;             /* a variable that has it, and the dimensions */
    bool mine;             /* own is known: this job has the processes that made it */
    bool read;             /* ... to all of the group */
    struct blob_map own;   /* what is in this process's blob */
    int64_t hint, next;    /* of it, and of the index: where the last one was */
    int64_t start;         /* of the blob in the subfile's variable, in elements */
    struct blob_form form; /* the hyperslab that own is, if it is one */
    struct blob_index index;
};

/* Checksums that are not in the subfiles yet. */
struct blob_sums {
    struct blob_sum_entry *list; /* of the own blob; a table by variable and record */
    int64_t n, room;
    unsigned char *changed;   /* of each variable: parts of blobs were put here */
    struct blob_taken *taken; /* where files are known to have none */
};

/* What is known of frames: see blob_frames.h. */
struct blob_frames {
    int64_t end;      /* of the own log, the same in the group; 0: not found out yet */
    int64_t safe;     /* records that may be on the devices; of fixed ones if not 0 */
    int64_t turn;     /* counts calls: what was read of tables before is old */
    bool added;       /* there are pages that the file does not tell of yet */
    uint64_t *wanted; /* of each variable: a bit for each page that is lacking */
    char rules[1024]; /* of nc_compress */
    struct blob_rows *rows; /* of tables, as they were read */
    struct blob_kept *kept; /* frames, expanded */
    struct blob_chains *chains;
    struct base_coder coder;
};

/* Process 0's hold on the master file: see blob_hold.h. */
struct blob_hold {
    int fd;                  /* with the lock; -1: not held */
    uint64_t syncs;          /* by all, in the moment that the page has */
    bool untouched;          /* a moment has begun, and no subfile has it yet ... */
    struct cdf_envelope was; /* ... so the page may be this again */
};

/* What becomes of a variable: above BLOB_OPEN it has the decomposition of that number. */
enum { BLOB_CANONICAL = -1, BLOB_OPEN = 0 };

struct blob {
    struct driver base;
    struct cdf_envelope facts;
    struct blob_foreign foreign; /* whose it is, if it is another library's */
    char *path;                  /* of the master, without symbolic links */
    struct blob_hold hold;
    bool makes;     /* this opening has made the moment that the files are of */
    bool complete;  /* all that was put is in subfiles and master */
    bool fresh;     /* created, and no enddef has completed yet */
    bool grouped;   /* the job has as many processes as made the dataset */
    bool settles;   /* there are variables that may be given a decomposition */
    int group;      /* this process's subfile, if grouped */
    int rank, size; /* among those who share it */
    MPI_Comm
        comm; /* of these; MPI_COMM_NULL: not grouped, or a group lacks its subfile */
    MPI_Comm alone;         /* of this process; MPI_COMM_NULL: it was not wanted yet */
    struct blob_sub **subs; /* facts.nsubfiles; NULL: not open here */
    struct blob_sub *own;   /* subs[group], opened by the group together; or NULL */
    int ndecomps;
    struct blob_decomp *decomps;
    int nvars;
    int *state;             /* of each variable; the same everywhere */
    unsigned char *touched; /* ... which this process, or a fill, put into the master */
    int64_t open_vars;      /* variables whose state is BLOB_OPEN */
    int64_t last;           /* the largest number that a decomposition was ever given */
    struct blob_sums sums;
    struct blob_frames frames;
    struct blob_join *join; /* one file is being made of it; NULL: none is */
    bool deferred;          /* ... behind its close */
    bool unsynced;          /* the envelope may not be on its device yet */
    bool unfinished; /* the group's subfile may have a redefinition to be finished */
    bool torn;       /* nobody knows what the envelope says: nothing is put any more */
};

/* Where the fixed dimensions of a variable begin: behind that of records. */
static inline int blob_first_dim(const struct cdf_var *v)
{
    return v->is_record ? 1 : 0;
}

/* ---- blob_open.c ---- */
int blob_create_all(struct dataset *ds, int cmode, struct driver *lower,
                    struct driver **self);
int blob_open_all(struct dataset *ds, int omode, struct driver *lower,
                  struct driver **self);
/* Frees the layer, whose files are closed. Collective. */
void blob_free_all(struct blob *b);
/* Room for the variables there are now; new ones are open. Local. NC_ENOMEM. */
int blob_grow(struct blob *b, int nvars);
/* A decomposition of this number, that a variable has, is there. Local. NC_ENOMEM. */
int blob_add_decomposition(struct blob *b, int number, int varid);
/* The first process of a group. */
int64_t blob_first_of(const struct cdf_envelope *e, int64_t group);
/* Counts the variables that are open. Local. */
void blob_count_open(struct blob *b);

/* ---- blob_close.c: see struct driver_ops ---- */
int blob_enddef_all(struct driver *self, const struct cdf_header *before);
int blob_sync_all(struct driver *self);
int blob_sync(struct driver *self);
int blob_close_all(struct driver *self, bool abort);
void blob_prepare_close_all(struct driver *self);
enum driver_defer blob_defer(struct driver *self);
int blob_flush_start(struct driver *self);

/* ---- blob_foreign_open.c: another library's dataset, which is only read ---- */

static inline bool blob_is_foreign(const struct blob *b)
{
    return b->foreign.kind != BLOB_FOREIGN_NONE;
}

/* The dataset has the definitions of the whole from here on; or it is an ordinary one
 * that says it once was in subfiles. An error on all or on none. */
int blob_foreign_begin_all(struct blob *b, bool *ordinary);
/* Looks at all subfiles: each variable has a decomposition. An error on all or on none.
 */
int blob_foreign_states_all(struct blob *b);
/* Are n elements there, from `at` on in file `number`? -1: of no file, from `at` on in
 * the variable; an error. Local. */
int blob_foreign_part(struct blob *b, int varid, int number, int64_t record, int64_t at,
                      int64_t n);
/* Takes note of the size of the file. Local. */
int blob_foreign_size(struct blob_sub *s);

/* ---- blob_sub.c: subfiles ---- */

/* The group's subfile, together; `create`: a new one, which has no header yet. *sub is
 * NULL after an error. The result is agreed in the group. */
int blob_sub_open_all(struct blob *b, bool create, struct blob_sub **sub);
/* Any subfile, by this process alone, kept open until the dataset is closed. One that
 * nobody has defined yet has no variables. Errors name the file. Local. */
int blob_sub_get(struct blob *b, int number, struct blob_sub **sub);
/* Lists the variables of the header as it is now. Local. NC_ENOMEM, NC_ENOTNC. */
int blob_sub_list(struct blob *b, struct blob_sub *sub);
/* Its variable for the master's; -1: none. */
int blob_sub_var(const struct blob_sub *sub, int varid);
/* Both: a subfile, and its variable. NC_ENOTNC, if it has none. Local. */
int blob_sub_find(struct blob *b, int number, int varid, struct blob_sub **sub, int *id);
/* What the dataset of a file beside the master has of the master's. */
void blob_sub_describe(const struct blob *b, struct dataset *ds);
/* The name of a subfile of this dataset; NULL: no memory. The caller frees it. */
char *blob_sub_path(void *b, int number);
/* Closes those that this process has open alone; then, all of a group, theirs. What they
 * counted is added to the dataset's statistics. */
int blob_sub_close_alone(struct blob *b);
int blob_sub_close_all(struct blob *b, bool abort);
/* The same with the group's, as it was found. */
int blob_sub_leave_all(struct blob *b);
/* Adds what its driver counted to the dataset's statistics. Local. */
void blob_sub_count(struct blob *b, struct blob_sub *sub);
/* See struct driver_kind: are the names of all that may come to lie beside the master
 * short enough? */
int blob_sub_refuse(const struct dataset *ds);
/* The master's own name, by which subfiles go, not a link's; NULL: no memory. The caller
 * frees it. */
char *blob_sub_master(const char *path);

/* ---- blob_remove.c ---- */

/* Removes the subfiles of a dataset that has this envelope. Local. */
int blob_remove_subfiles(const char *master, const struct cdf_envelope *e);
/* See struct driver_kind. */
int blob_remove_parts(const char *path, bool anew, bool *all);

/* ---- blob_define.c: decompositions are found and written ---- */

/* Settles what open variables of all processes' puts become; reqs are this process's,
 * each of an open variable and no fill. Collective. Who could not take part has an error;
 * then variables stay in the master, which is no error. */
void blob_settle_all(struct blob *b, struct access_request *const *reqs, int64_t n);
/* A header for a subfile that has none. Of its group together. */
int blob_define_empty_all(struct blob *b);

/* ---- blob_read.c: maps as they are in subfiles ---- */

/* The own map of a decomposition, if this job is grouped. Local. */
int blob_read_own(struct blob *b, struct blob_decomp *d);
/* Those that anybody of the group wants for its requests, all settled, and that not all
 * know yet; together, as many small pieces are read. */
int blob_read_own_all(struct blob *b, struct access_request *const *reqs, int64_t n);
/* The maps of a decomposition in a subfile. Local. */
struct blob_source;
int blob_read_source(struct blob *b, struct blob_decomp *d, int number,
                     struct blob_source *s);
/* The part of the index that has element `at`. Local. */
int blob_read_index(struct blob *b, struct blob_decomp *d, int64_t at);

/* ---- blob_sums.c: checksums ---- */

/* Room for the variables there are now, where there was some for `before`. Local.
 * NC_ENOMEM. */
int blob_sums_grow(struct blob_sums *s, int before, int nvars);
void blob_sums_free(struct blob_sums *s);

/* Before values of a blob change: of a part of any blob of a subfile; of all of the own
 * one, in so many records. What fails, nothing may be put. Local. */
int blob_sums_change_part(struct blob *b, struct blob_sub *sub, int varid,
                          int64_t record);
int blob_sums_change_own(struct blob *b, struct blob_sub *sub, int varid, int64_t record,
                         int64_t records, int64_t step);
/* Are sums made at all? */
bool blob_sums_wanted(const struct blob *b);
/* All of the own blob has been put, by a request of its subfile. Local. */
void blob_sums_keep(struct blob *b, int varid, const struct access_request *r);
/* Should sums go to the files before more are put? */
bool blob_sums_full(const struct blob *b);

/* They go there. All processes take part; told: the largest of what each has to tell, the
 * number of records and, for others than these, that of a sync. The result is the
 * group's. */
enum { BLOB_SUMS_RECORDS = 2, BLOB_SUMS_SYNC, BLOB_SUMS_TOLD };
void blob_sums_tell(const struct blob *b, int64_t told[BLOB_SUMS_TOLD]);
int blob_sums_write_all(struct blob *b, const int64_t told[BLOB_SUMS_TOLD]);
/* The same, with an agreement of its own. */
int blob_sums_flush_all(struct blob *b);

/* ---- blob_join.c: one file at close ---- */

/* Begins to make it: b->join. Subfiles are open and complete, and nothing is put any
 * more. The same error on all, or a process's own. */
int blob_join_begin_all(struct blob *b);
/* May its values be moved behind the close? What is needed for that is open then. Local.
 */
bool blob_join_may_wait(struct blob *b);
/* From here on they are, by a thread, if there can be one. Local. */
void blob_join_start(struct blob *b);
/* All of it is on its device, and closed; after an error, which may be the caller's own
 * from before, or if the dataset is deleted, there is none. Errors as above. */
int blob_join_end_all(struct blob *b, int error);
/* Gives it the master's name, once nobody has that open, and removes the subfiles; or,
 * after an error, removes it. Local. */
int blob_join_finish(const char *master, const struct cdf_envelope *e, int error);

/* ---- blob_find.c: where elements are ---- */

/* The decomposition of a settled variable; NULL: it has none. */
struct blob_decomp *blob_decomp_of(const struct blob *b, int varid);

struct blob_span {
    int64_t record, records, step;
};

/* Is the request for all of the own blob, and of which records? */
bool blob_find_whole(struct blob *b, struct blob_decomp *d,
                     const struct access_request *r, struct blob_span *s, int *err);

enum { BLOB_ELSEWHERE = 1 }; /* no error */

/* Where elements of part->record from `at` on are: how many of part->n, and in which
 * home. *abroad: perhaps not in the own blob. `own`: all are in that, or elsewhere.
 * Local.
 */
int blob_find_part(struct blob *b, struct blob_decomp *d, int64_t at, bool own,
                   struct blob_part *part, bool *abroad);

/* ---- blob_place.c: values between requests and their homes ---- */

/* Each request is of a variable with a decomposition. The first error. The one is local,
 * of the other all processes of the dataset take part. */
int blob_move(struct blob *b, struct access_request *const *reqs, int64_t n, bool put);
int blob_move_all(struct blob *b, struct access_request *const *reqs, int64_t n,
                  bool put);
/* What a request reads is announced to the layers below, each file's to its own. Local.
 */
int blob_prefetch(struct driver *self, const struct access_request *r);

/* ---- blob_transfer.c ---- */
int blob_put_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                 int error);
int blob_get_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                 int error);
int blob_put(struct driver *self, struct access_request *const *reqs, int64_t n);
int blob_get(struct driver *self, struct access_request *const *reqs, int64_t n);

#endif
