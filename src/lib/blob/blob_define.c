/* In the subfiles, defines decompositions and the variables that have them, and writes
 * the maps, which never change.
 *
 * A later opening considers a variable decomposed if every subfile defines it. Its first
 * value is written only after all processes have agreed that all subfiles define it. If a
 * job is killed before that, the variable stays in the master, where it has no values
 * yet. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "blob_decompose.h"
#include "blob_frames.h"
#include "subfile_digest.h"
#include "subfile_names.h"

/* ---- attributes, dimensions, variables ---- */

static int put_numbers(struct cdf_header *h, int varid, const char *name, int type,
                       const int64_t *values, int64_t n)
{
    void *to;
    unsigned char xfill[8] = {0};
    int err = cdf_put_att(h, varid, name, type, n, &to);
    return err == NC_NOERR ? conv_put(to, type, values, CONV_LONGLONG, (size_t)n, xfill)
                           : err;
}

static int put_int(struct cdf_header *h, int varid, const char *name, int64_t value)
{
    return put_numbers(h, varid, name, NC_INT, &value, 1);
}

static int put_text(struct cdf_header *h, int varid, const char *name, const char *text)
{
    void *to;
    size_t n = strlen(text);
    int err = cdf_put_att(h, varid, name, NC_CHAR, (int64_t)n, &to);
    if (err == NC_NOERR) memcpy(to, text, n);
    return err;
}

/* Returns the name that a dimension or variable of the master has in the subfile. Names
 * of maps are reserved, and the program may rename variables, so that a name may already
 * be taken. It is then replaced by a name that contains the id in the master. */
static const char *name_for(const char *name, bool taken, int id, char room[64])
{
    static const char *const reserved[] = {SUBFILE_DIM_BLOBS, SUBFILE_VAR_GENERATION,
                                           SUBFILE_VAR_FRAMES, SUBFILE_DIM_LEVELS};
    size_t digits = name[0] == 'D' ? strspn(name + 1, "0123456789") : 0;
    taken = taken || (digits > 0 && name[1 + digits] == '.') ||
            strncmp(name, SUBFILE_RENAMED, sizeof SUBFILE_RENAMED - 1) == 0;
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        taken = taken || strcmp(name, reserved[i]) == 0;
    if (!taken) return name;
    snprintf(room, 64, "%s%d", SUBFILE_RENAMED, id);
    return room;
}

/* Defines a subfile's attributes, and the master's dimensions, to which the attributes
 * global_dimids refer. A log of frames uses the record dimension. */
static int begin_header(const struct blob *b, struct cdf_header *h)
{
    const struct cdf_header *master = &b->base.ds->header;
    const bool framed = b->facts.framed;
    int64_t token[2] = {(int64_t)b->facts.token[0], (int64_t)b->facts.token[1]};
    const int64_t no_sum = 0;
    char other[64];
    int dim, id, err = put_int(h, NC_GLOBAL, SUBFILE_ATT_NPROCS, b->facts.nprocs);
    if (err == NC_NOERR) err = put_int(h, NC_GLOBAL, SUBFILE_ATT_DECOMPOSITIONS, 0);
    if (err == NC_NOERR)
        err = put_int(h, NC_GLOBAL, SUBFILE_ATT_SUBFILES, b->facts.nsubfiles);
    if (err == NC_NOERR) err = put_int(h, NC_GLOBAL, SUBFILE_ATT_NUMBER, b->group);
    if (err == NC_NOERR)
        err = put_numbers(h, NC_GLOBAL, SUBFILE_ATT_TOKEN, NC_INT64, token, 2);
    if (err == NC_NOERR && b->facts.checked)
        err = put_numbers(h, NC_GLOBAL, SUBFILE_ATT_SUM, NC_INT64, &no_sum, 1);
    for (int i = 0; i < master->ndims && err == NC_NOERR; i++) {
        bool records = framed && master->dims[i].length == NC_UNLIMITED;
        err = cdf_def_dim(h, name_for(master->dims[i].name, false, i, other),
                          records ? 1 : master->dims[i].length, &id);
    }
    if (err == NC_NOERR) err = cdf_def_dim(h, SUBFILE_DIM_BLOBS, b->size, &id);
    if (err == NC_NOERR && framed) {
        err = cdf_def_dim(h, SUBFILE_DIM_LEVELS, SUBFILE_LEVELS, &id);
        if (err == NC_NOERR) err = cdf_def_dim(h, SUBFILE_VAR_FRAMES, NC_UNLIMITED, &dim);
        if (err == NC_NOERR)
            err = cdf_def_var(h, SUBFILE_VAR_FRAMES, NC_BYTE, 1, &dim, &id);
        if (err == NC_NOERR)
            err = put_text(h, NC_GLOBAL, SUBFILE_ATT_CODEC, b->frames.rules);
        if (err == NC_NOERR)
            err = put_text(h, id, SUBFILE_ATT_DESCRIPTION, "values of blobs, compressed");
    }
    return err == NC_NOERR ? blob_page_define(h) : err;
}

/* Stores the ids of a variable's dimensions, starting with dimension `first`. */
static int put_dimids(struct cdf_header *h, int varid, const struct cdf_var *v, int first)
{
    int64_t *ids = base_malloc((size_t)(v->ndims + 1) * sizeof *ids);
    if (ids == NULL) return NC_ENOMEM;
    for (int i = first; i < v->ndims; i++)
        ids[i - first] = v->dimids[i];
    int err = put_numbers(h, varid, SUBFILE_ATT_DIMIDS, NC_INT, ids, v->ndims - first);
    base_free(ids);
    return err;
}

static int def_numbered_dim(struct cdf_header *h, int number, const char *what,
                            int64_t length, int *id)
{
    char name[64];
    snprintf(name, sizeof name, "D%d.%s", number, what);
    return cdf_def_dim(h, name, length > 0 ? length : 1, id);
}

static int def_decomposition(const struct blob *b, struct cdf_header *h,
                             const struct blob_new *f)
{
    const struct cdf_var *v = &b->base.ds->header.vars[f->varid];
    base_require(f->nelems <= v->nelems && f->most_runs <= f->nelems);
    const int type = v->nelems > INT_MAX ? NC_INT64 : NC_INT;
    const struct {
        const char *name, *words;
        int type, ndims;
    } vars[] = {
        {"nreqs", "number of runs of elements in each blob", NC_INT, 1},
        {"blob_start", "first element of each blob in a variable", NC_INT64, 1},
        {"blob_count", "number of elements in each blob", NC_INT64, 1},
        {"offsets", "first element, of the whole variable, of each run", type, 2},
        {"lengths", "number of elements in each run", type, 2},
        {SUBFILE_VAR_MAP_SUMS, "checksum of the map of each blob", NC_INT64, 1},
    };
    const int nvars = (int)(sizeof vars / sizeof *vars) - !b->facts.checked;
    int dims[2], id, err = cdf_find_dim(h, SUBFILE_DIM_BLOBS, &dims[0]);
    if (err == NC_NOERR) err = def_numbered_dim(h, f->number, "nelems", f->nelems, &id);
    if (err == NC_NOERR)
        err = def_numbered_dim(h, f->number, "max_nreqs", f->most_runs, &dims[1]);
    for (int i = 0; i < nvars && err == NC_NOERR; i++) {
        char name[64];
        snprintf(name, sizeof name, "D%d.%s", f->number, vars[i].name);
        err = cdf_def_var(h, name, vars[i].type, vars[i].ndims, dims, &id);
        if (err == NC_NOERR)
            err = put_text(h, id, SUBFILE_ATT_DESCRIPTION, vars[i].words);
        if (err == NC_NOERR && i == 0) err = put_dimids(h, id, v, blob_first_dim(v));
    }
    return err;
}

/* Defines the record dimension if the master got it after the subfile's header was
 * written. */
static int define_records(const struct cdf_header *master, struct cdf_header *h)
{
    char other[64];
    int id;
    if (h->unlimited >= 0) return NC_NOERR;
    const char *name = master->dims[master->unlimited].name;
    bool taken = cdf_find_dim(h, name, &id) == NC_NOERR;
    return cdf_def_dim(h, name_for(name, taken, master->unlimited, other), NC_UNLIMITED,
                       &id);
}

/* Defines a variable; if its values are in frames, defines its table instead. */
static int def_variable(const struct blob *b, struct cdf_header *h, int varid, int number)
{
    const struct cdf_header *master = &b->base.ds->header;
    const struct cdf_var *v = &master->vars[varid];
    char name[64], other[64];
    int dims[2], id, err = NC_NOERR;
    const char *own =
        name_for(v->name, cdf_find_var(h, v->name, &id) == NC_NOERR, varid, other);
    if (b->facts.framed) {
        err = cdf_find_dim(h, SUBFILE_DIM_LEVELS, dims);
        if (err == NC_NOERR) err = cdf_def_var(h, own, NC_INT64, 1, dims, &id);
        if (err == NC_NOERR) err = put_int(h, id, SUBFILE_ATT_TYPE, v->type);
    } else {
        snprintf(name, sizeof name, "D%d.nelems", number);
        if (v->is_record) err = define_records(master, h);
        dims[0] = h->unlimited;
        if (err == NC_NOERR) err = cdf_find_dim(h, name, &dims[v->is_record]);
        if (err == NC_NOERR)
            err = cdf_def_var(h, own, v->type, 1 + v->is_record, dims, &id);
    }
    if (err == NC_NOERR) err = put_int(h, id, SUBFILE_ATT_DECOMPOSITION, number);
    if (err == NC_NOERR) err = put_dimids(h, id, v, 0);
    return err == NC_NOERR ? put_int(h, id, SUBFILE_ATT_VARID, varid) : err;
}

/* Defines the variable for checksums. Its values are initially 0, which means unknown. In
 * a new file its unwritten records read as zeros, so they need no fill. */
static int def_sums(const struct blob *b, struct cdf_header *h, int varid, int number,
                    bool is_new)
{
    const struct cdf_header *master = &b->base.ds->header;
    bool of_record = master->vars[varid].is_record;
    const int64_t unknown = 0;
    char name[64];
    int dims[2], id, err = of_record ? define_records(master, h) : NC_NOERR;
    snprintf(name, sizeof name, SUBFILE_VAR_SUMS, (long long)number, varid);
    dims[0] = h->unlimited;
    if (err == NC_NOERR) err = cdf_find_dim(h, SUBFILE_DIM_BLOBS, &dims[of_record]);
    if (err == NC_NOERR) err = cdf_def_var(h, name, NC_INT64, 1 + of_record, dims, &id);
    if (err != NC_NOERR) return err;
    h->vars[id].fill = !(is_new && of_record);
    return put_numbers(h, id, "_FillValue", NC_INT64, &unknown, 1);
}

/* ---- writing the header ---- */

/* Makes the header. Adds padding for definitions by later puts, so that they need not
 * move any data. Values come last in the file, so that a truncated file lacks values. */
static int make_header(struct blob *b, struct cdf_header *h,
                       const struct cdf_header *before, const struct blob_new *fresh,
                       int n, const int *state)
{
    enum { DECOMPOSITION = 1280, VARIABLE = 280, PAGE = 4096, MAPS = 1 << 20 };
    struct cdf_padding room = {.header_minfree = 8 * (int64_t)DECOMPOSITION,
                               .fixed_align = PAGE,
                               .fixed_minfree = MAPS,
                               .record_align = PAGE};
    bool sums = blob_sums_wanted(b);
    int err = before == NULL ? begin_header(b, h) : NC_NOERR;
    for (int i = 0; i < n && err == NC_NOERR; i++)
        if (fresh[i].number > 0) err = def_decomposition(b, h, &fresh[i]);
    for (int turn = sums ? 0 : 1; turn < 2; turn++)
        for (int id = 0; id < b->nvars && err == NC_NOERR; id++)
            if (b->state[id] == BLOB_OPEN && state[id] > BLOB_OPEN)
                err = turn == 0 ? def_sums(b, h, id, state[id], before == NULL)
                                : def_variable(b, h, id, state[id]);
    if (err == NC_NOERR) err = put_int(h, NC_GLOBAL, SUBFILE_ATT_DECOMPOSITIONS, b->last);
    for (int id = 0; id < b->nvars; id++)
        if (b->state[id] == BLOB_OPEN)
            room.header_minfree +=
                VARIABLE + (int64_t)strlen(b->base.ds->header.vars[id].name);
    if (err == NC_NOERR) err = cdf_layout(h, before, &room);
    return err == NC_NOERR && b->facts.checked ? subfile_digest_seal(h) : err;
}

/* Replaces the header of the group's subfile. If any process has an error, keeps the old
 * header. Agreed in the group. */
static int write_header_all(struct blob *b, const struct blob_new *fresh, int n,
                            const int *state, int error)
{
    struct blob_sub *s = b->own;
    struct cdf_header *h = &s->ds.header, before = {.nvars = 0};
    bool first = !s->defined;
    int ended = blob_frames_made(b) && !first ? blob_frames_end_all(b) : NC_NOERR;
    if (error == NC_NOERR) error = ended;
    /* This moves all records, including those that only other processes have counted. */
    dataset_raise_records(&s->ds, blob_frames_records(b, b->base.ds->header.numrecs));
    int err = first ? NC_NOERR : driver_call(s->driver, redef_all);
    int copied = cdf_copy(&before, h);
    if (error == NC_NOERR) error = copied;
    if (err == NC_NOERR) err = error;
    if (err == NC_NOERR) err = make_header(b, h, first ? NULL : &before, fresh, n, state);
    err = dataset_agree_all(&s->ds, err, NULL, NULL, 0);
    if (err == NC_NOERR) {
        err = driver_call(s->driver, enddef_all, first ? NULL : &before);
        b->unfinished = b->unfinished || (err != NC_NOERR && !first);
    }
    if (err != NC_NOERR && copied == NC_NOERR) {
        struct cdf_header given_up = *h;
        *h = before;
        before = given_up;
    }
    if (copied == NC_NOERR) cdf_free(&before);
    if (err == NC_NOERR) s->defined = true;
    return err;
}

int blob_define_empty_all(struct blob *b)
{
    if (b->own == NULL || b->own->defined) return NC_NOERR;
    int err = write_header_all(b, NULL, 0, b->state, NC_NOERR);
    return err == NC_NOERR ? blob_page_stamp(b, b->facts.now.syncs, false) : err;
}

/* ---- maps ---- */

/* Writes the map of this process's blob. Collective, because each map is small. */
static int write_map_all(struct blob *b, const struct blob_new *f, int error)
{
    enum { LISTS = 6 };
    const struct cdf_header *h = &b->own->ds.header;
    int64_t n = f->own.n, facts[] = {n, f->start, subfile_map_count(&f->own),
                                     (int64_t)subfile_map_sum(&f->own, f->start)};
    int64_t *runs = base_malloc((2 * (size_t)n + 1) * sizeof *runs), bytes = 0;
    const struct {
        const char *name;
        int64_t n, *values;
    } lists[LISTS] = {{"nreqs", 1, &facts[0]},      {"blob_start", 1, &facts[1]},
                      {"blob_count", 1, &facts[2]}, {"offsets", n, runs},
                      {"lengths", n, runs + n},     {SUBFILE_VAR_MAP_SUMS, 1, &facts[3]}};
    union access_own_request list[LISTS];
    struct access_request *reqs[LISTS];
    int nreqs = 0, err = error == NC_NOERR && runs == NULL ? NC_ENOMEM : error;
    if (err == NC_NOERR)
        err = base_holds(n <= f->most_runs && f->start >= 0 &&
                         subfile_map_count(&f->own) <= f->nelems - f->start);
    for (int64_t i = 0; i < n && runs != NULL; i++) {
        runs[i] = f->own.runs[i].at;
        runs[n + i] = subfile_run_length(&f->own.runs[i]);
    }
    for (int i = 0; i < LISTS - !b->facts.checked && err == NC_NOERR; i++) {
        char name[64];
        int id;
        snprintf(name, sizeof name, "D%d.%s", f->number, lists[i].name);
        err = cdf_find_var(h, name, &id);
        if (err != NC_NOERR || lists[i].n == 0) continue;
        reqs[nreqs] = &list[nreqs].r;
        blob_request_numbers(reqs[nreqs++], h, id, b->rank,
                             h->vars[id].ndims == 2 ? 0 : b->rank, lists[i].n,
                             lists[i].values);
        bytes += lists[i].n * cdf_type_size(h->vars[id].type);
    }
    int put =
        driver_call(b->own->driver, put_all, reqs, err == NC_NOERR ? nreqs : 0, err);
    base_free(runs);
    if (err == NC_NOERR && put == NC_NOERR) b->base.ds->stats.blob_map_bytes += bytes;
    return err != NC_NOERR ? err : put;
}

/* ---- new decompositions ---- */

/* Allocates the decompositions and copies this process's maps, before any agreement, so
 * that out of memory is reported to all. */
static int take_maps(struct blob *b, struct blob_new *fresh, int n)
{
    void *grown =
        base_realloc(b->decomps, (size_t)(b->ndecomps + n + 1) * sizeof *b->decomps);
    int err = grown == NULL ? NC_ENOMEM : NC_NOERR;
    if (grown != NULL) b->decomps = grown;
    for (int i = 0; i < n && err == NC_NOERR; i++) {
        struct subfile_map *own = &fresh[i].own;
        const struct subfile_map *from =
            fresh[i].claim == NULL ? NULL : &fresh[i].claim->map;
        for (int64_t k = 0; from != NULL && k < from->n && err == NC_NOERR; k++)
            err = subfile_map_add(own, from->runs[k].at,
                                  subfile_run_length(&from->runs[k]));
        if (err == NC_NOERR) err = subfile_map_sort(own);
        if (err == NC_NOERR && from != NULL)
            err = base_holds(own->n == from->n &&
                             subfile_map_count(own) == subfile_map_count(from));
    }
    return err;
}

/* Computes where blobs begin, and the totals of the group. */
static int place_all(struct blob *b, struct blob_new *fresh, int n)
{
    for (int i = 0; i < n; i++) {
        struct blob_new *f = &fresh[i];
        int64_t count = subfile_map_count(&f->own);
        f->start = 0;
        f->nelems = count;
        f->most_runs = f->own.n;
        int mpi = MPI_Exscan(&count, &f->start, 1, MPI_INT64_T, MPI_SUM, b->comm);
        if (b->rank == 0) f->start = 0;
        if (mpi == MPI_SUCCESS)
            mpi =
                MPI_Allreduce(MPI_IN_PLACE, &f->nelems, 1, MPI_INT64_T, MPI_SUM, b->comm);
        if (mpi == MPI_SUCCESS)
            mpi = MPI_Allreduce(MPI_IN_PLACE, &f->most_runs, 1, MPI_INT64_T, MPI_MAX,
                                b->comm);
        if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "placing blobs");
    }
    return NC_NOERR;
}

int blob_define_all(struct blob *b, struct blob_new *fresh, int n, const int *state)
{
    bool first = !b->own->defined;
    int err = dataset_agree_all(b->base.ds, take_maps(b, fresh, n), NULL, NULL, 0);
    if (err != NC_NOERR) return err;
    err = place_all(b, fresh, n);
    err = write_header_all(b, fresh, n, state, err);
    if (err != NC_NOERR) return err; /* all processes of the group get the same error */
    err = blob_sub_list(b, b->own);
    if (err == NC_NOERR && first) err = blob_page_stamp(b, b->facts.now.syncs, false);
    bool mapped = false;
    for (int i = 0; i < n; i++) {
        if (fresh[i].number > 0) err = write_map_all(b, &fresh[i], err);
        mapped = mapped || fresh[i].number > 0;
    }
    /* Syncs the maps before the page commits them. Otherwise the page could reach its
     * device first, and refer to maps that a power failure has destroyed. */
    int synced = mapped ? driver_call(b->own->driver, sync_all) : NC_NOERR;
    return err != NC_NOERR ? err : synced;
}

int blob_commit_all(struct blob *b, const struct blob_new *fresh, int n)
{
    struct dataset *ds = b->base.ds;
    struct cdf_superblock before = b->facts, back = before;
    int64_t torn = 0;
    b->facts.defined = true;
    for (int i = 0; i < n; i++)
        if (fresh[i].number > 0)
            b->facts.committed[fresh[i].number / 8] |=
                (unsigned char)(1 << fresh[i].number % 8);
    int err = ds->rank == 0 ? blob_page_commit(b) : NC_NOERR;
    if (err != NC_NOERR) torn = blob_page_undo(b, &back) != NC_NOERR;
    err = dataset_agree_all(ds, err, NULL, &torn, 1);
    if (err != NC_NOERR) b->facts = before;
    b->torn = torn != 0;
    b->unsynced = true;
    return err;
}

void blob_adopt(struct blob *b, struct blob_new *fresh, int n)
{
    for (int i = 0; i < n; i++) {
        struct blob_new *f = &fresh[i];
        if (f->number == 0) continue;
        struct blob_decomp *d = &b->decomps[b->ndecomps++];
        *d = (struct blob_decomp){.number = f->number,
                                  .varid = f->varid,
                                  .mine = true,
                                  .read = true,
                                  .own = f->own,
                                  .start = f->start,
                                  .form = {.ndims = -1}};
        if (f->claim != NULL) d->form = f->claim->form;
        f->own = (struct subfile_map){NULL, 0, 0};
    }
}
