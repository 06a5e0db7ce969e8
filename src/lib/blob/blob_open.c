/* Creates and opens datasets in subfiles. An open reads the first page on process 0,
 * opens the subfiles in groups, and derives the states of the variables from them. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "blob.h"
#include "blob_decompose.h"
#include "blob_frames.h"
#include "blob_lease.h"
#include "node.h"
#include "subfile_names.h"

/* ---- first page ---- */

static void make_master_token(uint64_t *token, int64_t salt)
{
    struct timespec now;
    if (getrandom(token, 2 * sizeof *token, 0) == (ssize_t)(2 * sizeof *token)) return;
    clock_gettime(CLOCK_REALTIME, &now);
    token[0] = (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec;
    token[1] = (uint64_t)getpid() << 32 ^ (uint64_t)salt;
}

/* Distributes process 0's facts with the owner's record, or process 0's error. Agreed. */
static int share_facts_all(struct blob *b, int error)
{
    struct dataset *ds = b->base.ds;
    if (ds->lease != NULL)
        memcpy(b->facts.owner, ds->lease->record, sizeof b->facts.owner);
    int err = dataset_agree_all(ds, error, NULL, NULL, 0);
    if (err != NC_NOERR) return dataset_share_message_all(ds, err, error);
    err = dataset_share_all(ds, &b->facts, sizeof b->facts, 0);
    return dataset_agree_all(ds, err, NULL, NULL, 0);
}

/* ---- groups ---- */

/* Assigns this process to a group. A group has consecutive ranks, usually those of one
 * node, and shares one subfile. */
static void find_group(struct blob *b)
{
    const struct dataset *ds = b->base.ds;
    b->grouped = ds->nprocs == b->facts.nprocs;
    if (!b->grouped) return;
    b->group = (int)(ds->rank * b->facts.nsubfiles / b->facts.nprocs);
    b->rank = ds->rank - (int)subfile_first_rank(&b->facts, b->group);
    b->size = (int)subfile_nblobs(&b->facts, b->group);
}

/* Chooses the number of subfiles: the hint's value or, without it, one per node. */
static int choose_subfiles_all(struct blob *b)
{
    struct dataset *ds = b->base.ds;
    const struct hints *h = &ds->hints;
    int64_t n = h->num_subfiles, lacking;
    int err = NC_NOERR;
    if (n == 0 && h->node_procs > 0) {
        n = (ds->nprocs + h->node_procs - 1) / h->node_procs;
    } else if (n == 0) {
        struct node *node = node_find_all(ds, &err, &lacking);
        int64_t first = !lacking && node->rank == 0;
        err = dataset_agree_all(ds, err, NULL, &lacking, 1);
        if (lacking) node_abandon(ds);
        if (!lacking) node_release_all(node);
        if (err == NC_NOERR) {
            int mpi = MPI_Allreduce(&first, &n, 1, MPI_INT64_T, MPI_SUM, ds->comm);
            err = base_mpi_error(mpi, NC_EMPI, "counting nodes");
        }
    }
    b->facts.nprocs = ds->nprocs;
    b->facts.nsubfiles = n < 1 ? 1 : n < ds->nprocs ? n : ds->nprocs;
    return err;
}

/* Creates the group's communicator, on all processes or on none. Agreed. */
static int make_comm_all(struct blob *b)
{
    struct dataset *ds = b->base.ds;
    MPI_Comm group = MPI_COMM_NULL;
    int mpi = MPI_Comm_split(ds->comm, b->group, ds->rank, &group);
    if (mpi != MPI_SUCCESS) group = MPI_COMM_NULL;
    if (mpi == MPI_SUCCESS) mpi = MPI_Comm_set_errhandler(group, MPI_ERRORS_RETURN);
    int err = base_mpi_error(mpi, NC_ENFILE, "a communicator for a subfile");
    int64_t lacking = group == MPI_COMM_NULL;
    err = dataset_agree_all(ds, err, NULL, &lacking, 1);
    if (!lacking) b->comm = group; /* to be freed by blob_free_all */
    return err;
}

/* ---- layer ---- */

static const struct driver_ops slots;

/* Allocates memory whose size depends on the facts. */
static int reserve_attributes(struct blob *b)
{
    struct dataset *ds = b->base.ds;
    b->subs = base_calloc((size_t)b->facts.nsubfiles, sizeof(struct blob_sub *));
    if (b->subs == NULL) return NC_ENOMEM;
    if (ds->writable && ds->lease == NULL) {
        ds->lease = blob_lease_share(ds->full_path, b->facts.owner);
        if (ds->lease == NULL) return NC_ENOMEM;
    }
    ds->may_write = ds->writable ? blob_may_write : NULL;
    ds->may_write_arg = ds->lease;
    return blob_grow(b, ds->header.nvars);
}

/* Returns the layer or, after an error, frees all of it. */
static int start_blob_all(struct blob *b, int err, struct driver **self)
{
    if (err == NC_NOERR) {
        *self = &b->base;
        return NC_NOERR;
    }
    if (b->subs != NULL) (void)blob_sub_close_alone(b);
    blob_free_all(b);
    return err;
}

/* Allocates the layer on all processes or on none. On error, sets *layer to NULL. */
static int make_layer_all(struct dataset *ds, struct driver *lower, struct blob **layer)
{
    struct blob *b = *layer = base_calloc(1, sizeof *b);
    char *path = blob_sub_master(ds->full_path);
    bool lacking = b == NULL || path == NULL;
    int err = dataset_agree_all(ds, lacking ? NC_ENOMEM : NC_NOERR, NULL, NULL, 0);
    if (err != NC_NOERR || b == NULL) {
        base_free(path);
        base_free(b);
        *layer = NULL;
        return err != NC_NOERR ? err : NC_ENOMEM;
    }
    driver_stack(&b->base, &slots, lower, ds);
    b->comm = b->alone = MPI_COMM_NULL;
    b->path = path;
    return NC_NOERR;
}

static int create_files_all(struct blob *b)
{
    struct dataset *ds = b->base.ds;
    struct blob_sub *own = NULL;
    int err = ds->rank == 0 ? blob_page_create(b) : NC_NOERR;
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    if (err != NC_NOERR) return err;
    ds->base = CDF_SUPERBLOCK;
    err = blob_sub_open_all(b, true, &own);
    b->own = own;
    if (own != NULL) b->subs[b->group] = own;
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    if (err != NC_NOERR) (void)blob_sub_close_all(b, true);
    return err;
}

static int blob_create_all(struct dataset *ds, int cmode, struct driver *lower,
                           struct driver **self)
{
    struct blob *b;
    (void)cmode;
    int err = make_layer_all(ds, lower, &b);
    if (err != NC_NOERR) return err;
    b->created = b->fresh = true;
    err = choose_subfiles_all(b);
    b->facts.framed = blob_frames_wanted(&ds->hints);
    b->facts.checked = true;
    memcpy(b->frames.rules, ds->hints.compress, sizeof b->frames.rules);
    if (ds->rank == 0) make_master_token(b->facts.token, ds->identity.inode);
    if (ds->rank == 0) blob_page_first(&b->facts);
    err = share_facts_all(b, err);
    find_group(b);
    if (err == NC_NOERR)
        err = dataset_agree_all(ds, reserve_attributes(b), NULL, NULL, 0);
    if (err == NC_NOERR) err = make_comm_all(b);
    if (err == NC_NOERR) err = create_files_all(b);
    return start_blob_all(b, err, self);
}

/* ---- another library's dataset ---- */

/* Replaces the definitions of the opened file with those of the whole dataset. Agreed. */
static int use_whole_all(struct blob *b)
{
    struct dataset *ds = b->base.ds;
    struct cdf_header whole;
    int err = subfile_foreign_begin(&b->foreign, &ds->header, ds->is_stand_in, ds->path,
                                    &whole);
    base_free(b->path);
    b->path = ds->is_stand_in ? subfile_foreign_dataset(ds->full_path)
                              : blob_sub_master(ds->full_path);
    if (err == NC_NOERR && b->path == NULL) err = NC_ENOMEM;
    err = dataset_concur_all(ds, err, NULL, NULL, 0);
    if (err != NC_NOERR) {
        cdf_free(&whole);
        return err;
    }
    cdf_free(&ds->header);
    ds->header = whole;
    b->facts.nsubfiles = b->foreign.nfiles;
    b->facts.nprocs = b->foreign.nprocs;
    b->facts.defined = true;
    return NC_NOERR;
}

/* Replaces the definitions with those of the whole dataset. If the attributes show only
 * that this ordinary dataset used to be in subfiles, sets *ordinary instead. Returns an
 * error on all processes or on none. */
static int begin_foreign_all(struct blob *b, bool *ordinary)
{
    struct dataset *ds = b->base.ds;
    enum subfile_foreign_kind kind = subfile_foreign_kind(&ds->header, ds->is_stand_in);
    struct stat st;
    int64_t complete = kind == SUBFILE_FOREIGN_E3SM && !ds->is_stand_in &&
                       ds->rank == 0 && stat(ds->full_path, &st) == 0 &&
                       subfile_foreign_is_complete(&ds->header, st.st_size);
    int err = dataset_agree_all(ds, NC_NOERR, NULL, &complete, 1);
    *ordinary = complete != 0;
    if (err != NC_NOERR || *ordinary) return err;
    if (kind == SUBFILE_FOREIGN_NONE)
        return base_error_set(
            NC_ENOENT, "%s: the file without the suffix .0000 does not exist", ds->path);
    if (ds->writable)
        return base_error_set(NC_ENOTSUPPORT,
                              "%s: another library wrote its subfiles, so it can only be "
                              "read; to modify it, join it into one file with ncmpijoin",
                              ds->path);
    return use_whole_all(b);
}

/* ---- open ---- */

/* Divides the subfiles among the processes and tallies their headers. Skips a missing
 * subfile of this library, because the values in the other ones can still be read. Sets
 * *looked if this process has read any subfile. */
static int look_at_subfiles(struct blob *b, struct subfile_tally *t, bool *looked)
{
    int first = NC_NOERR;
    *looked = b->own != NULL;
    if (b->own != NULL) subfile_tally_add(t, &b->own->subfile);
    for (int64_t i = b->base.ds->rank; i < b->facts.nsubfiles && b->own == NULL;
         i += b->base.ds->nprocs) {
        struct blob_sub *s;
        int err = blob_sub_get(b, (int)i, &s);
        if (err == NC_NOERR) {
            subfile_tally_add(t, &s->subfile);
            *looked = true;
        } else if ((err != NC_ENOENT || blob_is_foreign(b)) && first == NC_NOERR) {
            first = err;
        }
    }
    return first;
}

/* Combines the tallies of all processes, and sets the state of each variable. A variable
 * has a decomposition if all existing subfiles record the same one; otherwise its values
 * are in the master. A decomposition is valid only once all subfiles define it. */
static int set_states_all(struct blob *b, struct subfile_tally *t)
{
    struct dataset *ds = b->base.ds;
    struct cdf_header *h = &ds->header;
    int mpi =
        MPI_Allreduce(MPI_IN_PLACE, t->sums, t->nsums, MPI_INT64_T, MPI_SUM, ds->comm);
    int other =
        MPI_Allreduce(MPI_IN_PLACE, t->most, t->nmost, MPI_INT64_T, MPI_MAX, ds->comm);
    int err =
        base_mpi_error(mpi == MPI_SUCCESS ? other : mpi, NC_EMPI, "examining subfiles");
    if (err == NC_NOERR && blob_is_foreign(b))
        err = subfile_foreign_assign(&b->foreign, h, b->path, t);
    b->nvars = h->nvars;
    if (!blob_is_foreign(b)) b->last = t->most[0];
    for (int id = 0; id < h->nvars && err == NC_NOERR; id++) {
        int number = blob_is_foreign(b) ? b->foreign.locations[id].number
                                        : subfile_tally_number(t, ds->path, h, id, &err);
        if (blob_is_foreign(b) && h->vars[id].nelems == 0) number = 0;
        b->state[id] = number > 0 ? number : BLOB_CANONICAL;
        if (number > 0) err = blob_add_decomposition(b, number, id);
    }
    return err;
}

/* Passes the error and message of process `from` to the processes that have no error. */
static int share_error_all(struct dataset *ds, int own, int from)
{
    struct {
        int code;
        char words[1020];
    } report = {.code = own};
    strncpy(report.words, base_error_detail(own), sizeof report.words - 1);
    int err = dataset_share_all(ds, &report, sizeof report, from);
    if (own != NC_NOERR || err != NC_NOERR) return own != NC_NOERR ? own : err;
    return base_error_set(report.code, "%s", report.words);
}

static int find_states_all(struct blob *b)
{
    struct dataset *ds = b->base.ds;
    struct subfile_tally t;
    bool looked = false;
    int err = subfile_tally_begin(&t, &b->foreign, ds->header.nvars);
    if (err == NC_NOERR) err = look_at_subfiles(b, &t, &looked);
    int64_t counts[] = {looked, err == NC_NOERR ? 0 : ds->nprocs - ds->rank};
    int own = err;
    err = dataset_agree_all(ds, err, NULL, counts, 2);
    if (err != NC_NOERR || counts[0] == 0) {
        subfile_tally_free(&t);
        if (counts[1] > 0) return share_error_all(ds, own, ds->nprocs - (int)counts[1]);
        return err != NC_NOERR
                   ? err
                   : base_error_set(NC_ENOENT, "%s: none of its %lld subfiles exists",
                                    ds->path, (long long)b->facts.nsubfiles);
    }
    /* Every subfile has the previous generation. Writes the new one to all of them. */
    b->untouched = false;
    int begun = ds->writable ? blob_page_stamp(b, 0, true) : NC_NOERR;
    err = set_states_all(b, &t);
    subfile_tally_free(&t);
    own = begun != NC_NOERR ? begun : err;
    err = dataset_concur_all(ds, own, NULL, NULL, 0);
    /* The next agreement reports an error of this step. */
    if (err == NC_NOERR && ds->writable && ds->rank == 0)
        dataset_defer_error(ds, blob_page_begun(b));
    if (err == NC_NOERR && ds->writable) b->facts.stage = CDF_WRITING;
    return err;
}

/* Opens the group's subfile collectively, to access its values and to add definitions. If
 * this fails in any group, each process opens the subfiles that it needs by itself, and
 * nothing can be defined. */
static int open_groups_all(struct blob *b)
{
    struct blob_sub *own = NULL;
    if (b->comm == MPI_COMM_NULL) return NC_NOERR;
    int err = blob_sub_open_all(b, false, &own);
    b->own = own;
    if (own != NULL) b->subs[b->group] = own;
    int64_t lacking = err != NC_NOERR;
    err = dataset_agree_all(b->base.ds, NC_NOERR, NULL, &lacking, 1);
    if (err != NC_NOERR || !lacking) return err;
    (void)blob_sub_leave_all(b);
    MPI_Comm_free(&b->comm);
    b->comm = MPI_COMM_NULL;
    return NC_NOERR;
}

static int blob_open_all(struct dataset *ds, int omode, struct driver *lower,
                         struct driver **self)
{
    struct blob *b;
    bool ordinary = false;
    (void)omode;
    int err = make_layer_all(ds, lower, &b);
    if (err != NC_NOERR) return err;
    if (ds->base == 0) {
        err = begin_foreign_all(b, &ordinary);
    } else {
        err = share_facts_all(b, ds->rank == 0 ? blob_page_open(b) : NC_NOERR);
        if (err == NC_NOERR && b->facts.checked) ds->header.numrecs = b->facts.numrecs;
        if (err == NC_NOERR) find_group(b);
    }
    if (err == NC_NOERR && ordinary) {
        blob_free_all(b);
        *self = lower;
        return NC_NOERR;
    }
    if (err == NC_NOERR)
        err = dataset_agree_all(ds, reserve_attributes(b), NULL, NULL, 0);
    if (err == NC_NOERR && b->grouped) err = make_comm_all(b);
    if (err == NC_NOERR) err = open_groups_all(b);
    if (err == NC_NOERR) err = find_states_all(b);
    if (err != NC_NOERR) (void)blob_sub_leave_all(b);
    if (err == NC_NOERR) blob_count_open(b);
    if (err == NC_NOERR) blob_frames_opened(b);
    const struct driver_parts parts = {.n = (int)b->facts.nsubfiles,
                                       .all = blob_is_foreign(b),
                                       .path = blob_sub_path,
                                       .arg = b};
    if (err == NC_NOERR) driver_call(lower, files.parts, &parts);
    return start_blob_all(b, err, self);
}

struct blob *blob_of_driver(struct driver *top)
{
    while (top != NULL && top->ops.close_all != blob_close_all)
        top = top->lower;
    return (struct blob *)top;
}

/* ---- hints ---- */

static int inq_blob_info(struct driver *self, MPI_Info info)
{
    struct blob *b = (struct blob *)self;
    for (int64_t i = 0; i < b->facts.nsubfiles; i++)
        if (b->subs[i] != NULL)
            trace_stats_take(&b->base.ds->stats, &b->subs[i]->ds.stats);
    int err = driver_call(self->lower, inq_info, info);
    if (err != NC_NOERR) return err;
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)b->facts.nsubfiles);
    int mpi = MPI_Info_set(info, "nc_blob", "enable");
    if (mpi == MPI_SUCCESS) mpi = MPI_Info_set(info, "nc_num_subfiles", number);
    const char *rules = b->facts.framed ? b->frames.rules : "";
    if (mpi == MPI_SUCCESS)
        mpi = MPI_Info_set(info, "nc_compress", rules[0] == '\0' ? "none" : rules);
    return base_mpi_error(mpi, NC_EMPI, "MPI_Info_set");
}

static const struct driver_ops slots = {
    .close_all = blob_close_all,
    .enddef_all = blob_enddef_all,
    .write_header_all = blob_write_header_all,
    .put_all = blob_put_all,
    .get_all = blob_get_all,
    .put = blob_put,
    .get = blob_get,
    .sync_all = blob_sync_all,
    .sync = blob_sync,
    .inq_info = inq_blob_info,
    .background = {.flush_start = blob_flush_start,
                   .prepare_close_all = blob_prepare_close_all,
                   .defer = blob_defer},
    .prefetching = {.prefetch = blob_prefetch},
};

const struct driver_kind blob_driver = {
    .wanted = blob_is_wanted,
    .refuse = blob_sub_refuse,
    .create_all = blob_create_all,
    .open_all = blob_open_all,
    .acquire = blob_acquire,
    .release = blob_release,
    .remove_parts = blob_remove_parts,
    .stand_in = subfile_foreign_first,
};
