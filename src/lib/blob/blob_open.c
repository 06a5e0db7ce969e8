/* How the layer begins: create, open, and what the dataset is found to be. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "node.h"
#include "blob.h"
#include "blob_frames.h"
#include "blob_hold.h"
#include "blob_names.h"
#include "blob_settle.h"
#include "blob_source.h"

/* ---- variables ---- */

void blob_count_open(struct blob *b)
{
    b->open_vars = 0;
    for (int id = 0; id < b->nvars; id++)
        b->open_vars += b->state[id] == BLOB_OPEN;
    /* Who makes no frames must not move the log of who does. */
    bool may = !b->facts.framed || b->makes;
    b->settles = b->open_vars > 0 && b->comm != MPI_COMM_NULL && may;
}

int blob_grow(struct blob *b, int nvars)
{
    size_t n = (size_t)nvars + 1;
    int sums = blob_sums_grow(&b->sums, b->nvars, nvars);
    int counted = trace_stats_grow(b->base.ds, b->nvars, nvars);
    if (sums == NC_NOERR) sums = counted;
    int *state = base_realloc(b->state, n * sizeof *state);
    if (state != NULL) b->state = state;
    unsigned char *touched = base_realloc(b->touched, n);
    if (touched != NULL) b->touched = touched;
    uint64_t *wanted = base_realloc(b->frames.wanted, n * sizeof *wanted);
    if (wanted != NULL) b->frames.wanted = memset(wanted, 0, n * sizeof *wanted);
    return state == NULL || touched == NULL || wanted == NULL ? NC_ENOMEM : sums;
}

/* ---- the envelope ---- */

static void make_master_token(uint64_t *token, int64_t salt)
{
    struct timespec now;
    if (getrandom(token, 2 * sizeof *token, 0) == (ssize_t)(2 * sizeof *token)) return;
    clock_gettime(CLOCK_REALTIME, &now);
    token[0] = (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec;
    token[1] = (uint64_t)getpid() << 32 ^ (uint64_t)salt;
}

int blob_commit_all(struct blob *b, const struct blob_new *fresh, int n)
{
    struct dataset *ds = b->base.ds;
    struct cdf_envelope before = b->facts, back = before;
    int64_t torn = 0;
    b->facts.defined = true;
    for (int i = 0; i < n; i++)
        if (fresh[i].number > 0)
            b->facts.committed[fresh[i].number / 8] |=
                (unsigned char)(1 << fresh[i].number % 8);
    int err = ds->rank == 0 ? blob_hold_commit(b, &back, &b->facts) : NC_NOERR;
    if (err != NC_NOERR) torn = blob_hold_commit(b, &b->facts, &back) != NC_NOERR;
    err = dataset_agree_all(ds, err, NULL, &torn, 1);
    if (err != NC_NOERR) b->facts = before;
    b->torn = torn != 0;
    b->unsynced = true;
    return err;
}

/* Process 0's facts, or its error, on all. Agreed. */
static int share_facts_all(struct blob *b, int error)
{
    struct dataset *ds = b->base.ds;
    int err = dataset_agree_all(ds, error, NULL, NULL, 0);
    if (err != NC_NOERR) return dataset_share_words_all(ds, err, error);
    err = dataset_share_all(ds, &b->facts, sizeof b->facts, 0);
    return dataset_agree_all(ds, err, NULL, NULL, 0);
}

/* ---- groups ---- */

/* The first process of a group. */
int64_t blob_first_of(const struct cdf_envelope *e, int64_t group)
{
    return (group * e->nprocs + e->nsubfiles - 1) / e->nsubfiles;
}

/* Neighbours share a subfile: where processes are placed node by node, those of a node.
 */
static void find_group(struct blob *b)
{
    const struct dataset *ds = b->base.ds;
    b->grouped = ds->nprocs == b->facts.nprocs;
    if (!b->grouped) return;
    b->group = (int)(ds->rank * b->facts.nsubfiles / b->facts.nprocs);
    int64_t first = blob_first_of(&b->facts, b->group);
    b->rank = ds->rank - (int)first;
    b->size = (int)(blob_first_of(&b->facts, b->group + 1) - first);
}

/* How many nodes there are. */
static int count_nodes_all(struct dataset *ds, int64_t *nodes)
{
    int64_t lacking;
    int err;
    struct node *node = node_find_all(ds, &err, &lacking);
    int64_t first = !lacking && node->rank == 0;
    err = dataset_agree_all(ds, err, NULL, &lacking, 1);
    if (lacking) node_lose(ds);
    if (!lacking) node_release_all(node);
    if (err != NC_NOERR) return err;
    int mpi = MPI_Allreduce(&first, nodes, 1, MPI_INT64_T, MPI_SUM, ds->comm);
    return base_mpi_error(mpi, NC_EMPI, "counting nodes");
}

static int choose_subfiles_all(struct blob *b)
{
    const struct base_hints *h = &b->base.ds->hints;
    int64_t nprocs = b->base.ds->nprocs, n = h->num_subfiles;
    int err = NC_NOERR;
    if (n == 0 && h->node_procs > 0)
        n = (nprocs + h->node_procs - 1) / h->node_procs;
    else if (n == 0)
        err = count_nodes_all(b->base.ds, &n);
    b->facts.nprocs = nprocs;
    b->facts.nsubfiles = n < 1 ? 1 : n < nprocs ? n : nprocs;
    return err;
}

/* The group's communicator. None is freed that others lack. Agreed. */
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
    if (!lacking) b->comm = group; /* freed with the layer */
    return err;
}

/* ---- begin and end ---- */

static const struct driver_ops slots;

static struct blob *new_layer(struct dataset *ds, struct driver *lower)
{
    struct blob *b = base_calloc(1, sizeof *b);
    if (b == NULL) return NULL;
    driver_stack(&b->base, &slots, lower, ds);
    b->comm = b->alone = MPI_COMM_NULL;
    b->hold.fd = -1;
    b->path = blob_sub_master(ds->full);
    if (b->path != NULL) return b;
    base_free(b);
    return NULL;
}

void blob_free_all(struct blob *b)
{
    for (int i = 0; i < b->ndecomps; i++) {
        blob_map_free(&b->decomps[i].own);
        blob_index_free(&b->decomps[i].index);
    }
    if (b->comm != MPI_COMM_NULL) MPI_Comm_free(&b->comm);
    if (b->alone != MPI_COMM_NULL) MPI_Comm_free(&b->alone);
    blob_hold_drop(b);
    blob_foreign_free(&b->foreign);
    blob_sums_free(&b->sums);
    blob_frames_free(b);
    base_free(b->decomps);
    base_free(b->state);
    base_free(b->touched);
    base_free(b->subs);
    base_free(b->path);
    base_free(b);
}

/* Memory that depends on the facts. */
static int reserve_attributes(struct blob *b)
{
    b->subs = base_calloc((size_t)b->facts.nsubfiles, sizeof(struct blob_sub *));
    if (b->subs == NULL) return NC_ENOMEM;
    return blob_grow(b, b->base.ds->header.nvars);
}

/* The layer is made, or none of it is left. */
static int start_blob_all(struct blob *b, int err, struct driver **self)
{
    if (err == NC_NOERR) {
        *self = &b->base;
        return NC_NOERR;
    }
    if (b == NULL) return err;
    if (b->subs != NULL) (void)blob_sub_close_alone(b);
    blob_free_all(b);
    return err;
}

/* One that nobody lacks memory for; NULL on all if anybody does. */
static int make_layer_all(struct dataset *ds, struct driver *lower, struct blob **layer)
{
    struct blob *b = new_layer(ds, lower);
    int err = dataset_agree_all(ds, b == NULL ? NC_ENOMEM : NC_NOERR, NULL, NULL, 0);
    if (err != NC_NOERR && b != NULL) {
        base_free(b->path);
        base_free(b);
        b = NULL;
    }
    *layer = b;
    return err;
}

static int create_files_all(struct blob *b)
{
    struct dataset *ds = b->base.ds;
    struct blob_sub *own = NULL;
    int err = ds->rank == 0 ? blob_hold_create(b) : NC_NOERR;
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    if (err != NC_NOERR) return err;
    ds->base = CDF_ENVELOPE;
    err = blob_sub_open_all(b, true, &own);
    b->own = own;
    if (own != NULL) b->subs[b->group] = own;
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    if (err != NC_NOERR) (void)blob_sub_close_all(b, true);
    return err;
}

int blob_create_all(struct dataset *ds, int cmode, struct driver *lower,
                    struct driver **self)
{
    struct blob *b;
    (void)cmode;
    int err = make_layer_all(ds, lower, &b);
    if (err != NC_NOERR) return err;
    b->fresh = true;
    err = choose_subfiles_all(b);
    b->makes = true;
    b->facts.framed = blob_frames_wanted(&ds->hints);
    memcpy(b->frames.rules, ds->hints.compress, sizeof b->frames.rules);
    if (ds->rank == 0) make_master_token(b->facts.token, ds->inode);
    if (ds->rank == 0) blob_hold_first(&b->facts);
    err = share_facts_all(b, err);
    find_group(b);
    if (err == NC_NOERR)
        err = dataset_agree_all(ds, reserve_attributes(b), NULL, NULL, 0);
    if (err == NC_NOERR) err = make_comm_all(b);
    if (err == NC_NOERR) err = create_files_all(b);
    return start_blob_all(b, err, self);
}

/* ---- open ---- */

/* The decomposition that a subfile gives a variable; 0: it does not know the variable. */
static int64_t number_in(const struct blob *b, struct blob_sub *s, int varid)
{
    int id = blob_sub_var(s, varid);
    int64_t number = 0;
    if (id >= 0)
        (void)blob_source_att(&s->ds.header, id, BLOB_ATT_DECOMPOSITION, &number, 1);
    return cdf_is_committed(&b->facts, number) ? number : 0;
}

/* What all subfiles say of each variable: both the least and the largest of the numbers
 * that this process found; those that look at none have nothing to say. */
static void look_at_sub(const struct blob *b, struct blob_sub *s, int nvars,
                        int64_t *least, int64_t *most)
{
    int64_t last = 0;
    (void)blob_source_att(&s->ds.header, NC_GLOBAL, BLOB_ATT_DECOMPOSITIONS, &last, 1);
    if (last > most[nvars]) most[nvars] = last;
    for (int id = 0; id < nvars; id++) {
        int64_t number = number_in(b, s, id);
        if (number < least[id]) least[id] = number;
        if (number > most[id]) most[id] = number;
    }
}

/* The subfiles are dealt out to the processes to be looked at. One that is not there is
 * left out: what is in the others can be read. *looked: at least at one. */
static int look_at_subfiles(struct blob *b, int64_t *least, int64_t *most, bool *looked)
{
    int nvars = b->base.ds->header.nvars, first = NC_NOERR;
    if (b->own != NULL) {
        look_at_sub(b, b->own, nvars, least, most);
        *looked = true;
        return NC_NOERR;
    }
    for (int64_t i = b->base.ds->rank; i < b->facts.nsubfiles; i += b->base.ds->nprocs) {
        struct blob_sub *s;
        int err = blob_sub_get(b, (int)i, &s);
        if (err == NC_NOERR) {
            look_at_sub(b, s, nvars, least, most);
            *looked = true;
        } else if (err != NC_ENOENT && first == NC_NOERR) {
            first = err;
        }
    }
    return first;
}

int blob_add_decomposition(struct blob *b, int number, int varid)
{
    for (int i = 0; i < b->ndecomps; i++)
        if (b->decomps[i].number == number) return NC_NOERR;
    void *grown =
        base_realloc(b->decomps, (size_t)(b->ndecomps + 1) * sizeof *b->decomps);
    if (grown == NULL) return NC_ENOMEM;
    b->decomps = grown;
    b->decomps[b->ndecomps++] =
        (struct blob_decomp){.number = number, .varid = varid, .form = {.ndims = -1}};
    return NC_NOERR;
}

/* A variable has a decomposition where all subfiles say so, and the same; any other has
 * its values in the master. */
static int take_states(struct blob *b, const int64_t *least, const int64_t *most)
{
    int err = NC_NOERR;
    b->nvars = b->base.ds->header.nvars;
    b->last = most[b->nvars] > 0 ? most[b->nvars] : 0;
    for (int id = 0; id < b->nvars; id++) {
        bool settled = least[id] > 0 && least[id] == most[id];
        b->state[id] = settled ? (int)least[id] : BLOB_CANONICAL;
        b->touched[id] = 1;
        if (settled && err == NC_NOERR) err = blob_add_decomposition(b, b->state[id], id);
    }
    return err;
}

/* The error of the process `from`, with its words, where a process has none itself. */
static int tell_words_all(struct dataset *ds, int own, int from)
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

/* Each subfile gets the moment that this opening makes, when all are found to be of the
 * one before. Local. */
static int begin_parts(struct blob *b)
{
    b->hold.untouched = false;
    return b->makes ? blob_hold_stamp(b, 0, true) : NC_NOERR;
}

static int find_states_all(struct blob *b)
{
    struct dataset *ds = b->base.ds;
    size_t n = (size_t)ds->header.nvars + 1;
    int64_t *least = base_malloc(2 * n * sizeof *least), *most = least + n;
    bool looked = false;
    int err = least == NULL ? NC_ENOMEM : NC_NOERR;
    for (size_t i = 0; i < n && err == NC_NOERR; i++) {
        least[i] = INT64_MAX;
        most[i] = -INT64_MAX;
    }
    if (err == NC_NOERR) err = look_at_subfiles(b, least, most, &looked);
    int64_t told[] = {looked, err == NC_NOERR ? 0 : ds->nprocs - ds->rank};
    int own = err;
    err = dataset_agree_all(ds, err, NULL, told, 2);
    if (err != NC_NOERR || least == NULL) {
        base_free(least);
        return told[1] > 0 ? tell_words_all(ds, own, ds->nprocs - (int)told[1]) : err;
    }
    if (told[0] == 0) {
        base_free(least);
        return base_error_set(NC_ENOENT, "%s: none of its %lld subfiles is there",
                              ds->path, (long long)b->facts.nsubfiles);
    }
    int begun = begin_parts(b);
    int mpi = MPI_Allreduce(MPI_IN_PLACE, least, (int)n, MPI_INT64_T, MPI_MIN, ds->comm);
    int other = MPI_Allreduce(MPI_IN_PLACE, most, (int)n, MPI_INT64_T, MPI_MAX, ds->comm);
    err =
        base_mpi_error(mpi == MPI_SUCCESS ? other : mpi, NC_EMPI, "looking at subfiles");
    if (err == NC_NOERR) err = take_states(b, least, most);
    base_free(least);
    own = begun != NC_NOERR ? begun : err;
    err = dataset_concur_all(ds, own, NULL, NULL, 0);
    /* What fails here the next agreement tells. */
    if (err == NC_NOERR && b->hold.fd >= 0 && b->makes)
        dataset_owe(ds, blob_hold_begun(b));
    if (err == NC_NOERR && b->makes) b->facts.stage = CDF_WRITING;
    return err;
}

/* Groups open their subfiles together, for what belongs there and to define more;
 * where one cannot, each process opens what it needs, and nothing is defined. */
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

/* What the master's page tells; of another library's dataset, what its header does. */
static int read_facts_all(struct blob *b, bool *ordinary)
{
    struct dataset *ds = b->base.ds;
    *ordinary = false;
    if (ds->base == 0) return blob_foreign_begin_all(b, ordinary);
    int err = ds->rank == 0 ? blob_hold_open(b) : NC_NOERR;
    err = share_facts_all(b, err);
    b->makes = ds->writable && b->facts.stage == CDF_BEGINNING;
    if (err == NC_NOERR) find_group(b);
    return err;
}

int blob_open_all(struct dataset *ds, int omode, struct driver *lower,
                  struct driver **self)
{
    struct blob *b;
    bool ordinary;
    (void)omode;
    int err = make_layer_all(ds, lower, &b);
    if (err != NC_NOERR) return err;
    err = read_facts_all(b, &ordinary);
    if (err == NC_NOERR && ordinary) {
        blob_free_all(b);
        *self = lower;
        return NC_NOERR;
    }
    if (err == NC_NOERR)
        err = dataset_agree_all(ds, reserve_attributes(b), NULL, NULL, 0);
    if (err == NC_NOERR && b->grouped) err = make_comm_all(b);
    if (err == NC_NOERR) err = open_groups_all(b);
    if (err == NC_NOERR)
        err = blob_is_foreign(b) ? blob_foreign_states_all(b) : find_states_all(b);
    if (err != NC_NOERR) (void)blob_sub_leave_all(b);
    if (err == NC_NOERR) blob_count_open(b);
    if (err == NC_NOERR) blob_frames_opened(b);
    const struct driver_parts parts = {.n = (int)b->facts.nsubfiles,
                                       .all = blob_is_foreign(b),
                                       .path = blob_sub_path,
                                       .who = b};
    if (err == NC_NOERR) driver_call(lower, files.parts, &parts);
    return start_blob_all(b, err, self);
}

/* ---- hints ---- */

static int inq_blob_info(struct driver *self, MPI_Info info)
{
    struct blob *b = (struct blob *)self;
    for (int64_t i = 0; i < b->facts.nsubfiles; i++)
        if (b->subs[i] != NULL) blob_sub_count(b, b->subs[i]);
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

static bool blob_is_wanted(const struct dataset *ds, bool create)
{
    const struct base_hints *h = &ds->hints;
    bool subfiles = h->subfiling == BASE_ENABLE && h->num_subfiles > 1;
    if (ds->netcdf4 != 0) return false;
    if (!create && ds->base > 0) return true;
    if (!create)
        return ds->stands_in ||
               blob_foreign_kind(&ds->header, false) != BLOB_FOREIGN_NONE;
    return (h->blob == BASE_ENABLE || subfiles) && !h->no_indep_rw;
}

static const struct driver_ops slots = {
    .close_all = blob_close_all,
    .enddef_all = blob_enddef_all,
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
    .ahead = {.prefetch = blob_prefetch},
};

const struct driver_kind blob_driver = {
    .wanted = blob_is_wanted,
    .refuse = blob_sub_refuse,
    .create_all = blob_create_all,
    .open_all = blob_open_all,
    .remove_parts = blob_remove_parts,
    .stand_in = blob_foreign_first,
};
