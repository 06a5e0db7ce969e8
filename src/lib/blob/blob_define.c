/* The subfiles' definitions: decompositions, the variables that have them, and the maps,
 * which are written once.
 *
 * A variable counts as settled, for who opens the dataset later, if every subfile defines
 * it. Its first value is written after all processes have agreed that all do: a job that
 * is killed in between leaves the variable in the master, where it has nothing yet. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "blob_frames.h"
#include "blob_hold.h"
#include "blob_names.h"
#include "blob_settle.h"

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

static int put_number_att(struct cdf_header *h, const char *name, int64_t value)
{
    return put_numbers(h, NC_GLOBAL, name, NC_INT, &value, 1);
}

static int put_text(struct cdf_header *h, int varid, const char *name, const char *text)
{
    void *to;
    size_t n = strlen(text);
    int err = cdf_put_att(h, varid, name, NC_CHAR, (int64_t)n, &to);
    if (err == NC_NOERR) memcpy(to, text, n);
    return err;
}

static int put_words(struct cdf_header *h, int varid, const char *words)
{
    return put_text(h, varid, "description", words);
}

/* The words of maps are not for the program's names; nor, as its variables may be
 * renamed, is a name twice. What has no name here goes by its number in the master. */
static bool is_our_att(const char *name)
{
    size_t digits = name[0] == 'D' ? strspn(name + 1, "0123456789") : 0;
    return strcmp(name, BLOB_DIM_BLOBS) == 0 || strcmp(name, BLOB_MOMENT_NAME) == 0 ||
           strcmp(name, BLOB_FRAMES) == 0 || strcmp(name, BLOB_DIM_LEVELS) == 0 ||
           (digits > 0 && name[1 + digits] == '.') ||
           strncmp(name, BLOB_OTHER, sizeof BLOB_OTHER - 1) == 0;
}

static const char *name_for(const char *name, bool taken, int id, char room[64])
{
    if (!taken && !is_our_att(name)) return name;
    snprintf(room, 64, "%s%d", BLOB_OTHER, id);
    return room;
}

/* The log of frames takes the record dimension. */
static int def_log(const struct blob *b, struct cdf_header *h)
{
    int dim, id;
    int err = cdf_def_dim(h, BLOB_DIM_LEVELS, BLOB_LEVELS, &id);
    if (err == NC_NOERR) err = cdf_def_dim(h, BLOB_FRAMES, NC_UNLIMITED, &dim);
    if (err == NC_NOERR) err = cdf_def_var(h, BLOB_FRAMES, NC_BYTE, 1, &dim, &id);
    if (err == NC_NOERR) err = put_text(h, NC_GLOBAL, BLOB_ATT_CODEC, b->frames.rules);
    return err == NC_NOERR ? put_words(h, id, "values of blobs, compressed") : err;
}

/* What a subfile says of itself, and the master's dimensions, which global_dimids count.
 */
static int begin_header(const struct blob *b, struct cdf_header *h)
{
    const struct cdf_header *master = &b->base.ds->header;
    int64_t token[2] = {(int64_t)b->facts.token[0], (int64_t)b->facts.token[1]};
    char other[64];
    int id, err = put_number_att(h, BLOB_ATT_NPROCS, b->facts.nprocs);
    if (err == NC_NOERR) err = put_number_att(h, BLOB_ATT_DECOMPOSITIONS, 0);
    if (err == NC_NOERR) err = put_number_att(h, BLOB_ATT_SUBFILES, b->facts.nsubfiles);
    if (err == NC_NOERR) err = put_number_att(h, BLOB_ATT_NUMBER, b->group);
    if (err == NC_NOERR)
        err = put_numbers(h, NC_GLOBAL, BLOB_ATT_TOKEN, NC_INT64, token, 2);
    for (int i = 0; i < master->ndims && err == NC_NOERR; i++) {
        bool other_records = b->facts.framed && master->dims[i].length == NC_UNLIMITED;
        err = cdf_def_dim(h, name_for(master->dims[i].name, false, i, other),
                          other_records ? 1 : master->dims[i].length, &id);
    }
    if (err == NC_NOERR) err = cdf_def_dim(h, BLOB_DIM_BLOBS, b->size, &id);
    if (err == NC_NOERR && b->facts.framed) err = def_log(b, h);
    return err == NC_NOERR ? blob_hold_define(h) : err;
}

static int def_numbered_dim(struct cdf_header *h, int number, const char *what,
                            int64_t length, int *id)
{
    char name[64];
    snprintf(name, sizeof name, "D%d.%s", number, what);
    return cdf_def_dim(h, name, length > 0 ? length : 1, id);
}

static int def_numbered_var(struct cdf_header *h, int number, const char *what, int type,
                            int ndims, const int *dimids, const char *words, int *id)
{
    char name[64];
    snprintf(name, sizeof name, "D%d.%s", number, what);
    int err = cdf_def_var(h, name, type, ndims, dimids, id);
    return err == NC_NOERR ? put_words(h, *id, words) : err;
}

/* The ids of a variable's dimensions, from `first` on. */
static int put_dimids(struct cdf_header *h, int varid, const struct cdf_var *v, int first)
{
    int64_t *ids = base_malloc((size_t)(v->ndims + 1) * sizeof *ids);
    if (ids == NULL) return NC_ENOMEM;
    for (int i = first; i < v->ndims; i++)
        ids[i - first] = v->dimids[i];
    int err = put_numbers(h, varid, BLOB_ATT_DIMIDS, NC_INT, ids, v->ndims - first);
    base_free(ids);
    return err;
}

static int def_decomposition(const struct blob *b, struct cdf_header *h,
                             const struct blob_new *f)
{
    const struct cdf_var *v = &b->base.ds->header.vars[f->varid];
    int k = f->number, type = v->nelems > INT_MAX ? NC_INT64 : NC_INT, dims[2], nelems,
        id;
    int err = cdf_find_dim(h, BLOB_DIM_BLOBS, &dims[0]);
    if (err == NC_NOERR) err = def_numbered_dim(h, k, "nelems", f->nelems, &nelems);
    if (err == NC_NOERR)
        err = def_numbered_dim(h, k, "max_nreqs", f->most_runs, &dims[1]);
    if (err == NC_NOERR)
        err = def_numbered_var(h, k, "nreqs", NC_INT, 1, dims,
                               "number of runs of elements in each blob", &id);
    if (err == NC_NOERR) err = put_dimids(h, id, v, blob_first_dim(v));
    if (err == NC_NOERR)
        err = def_numbered_var(h, k, "blob_start", NC_INT64, 1, dims,
                               "first element of each blob in a variable", &id);
    if (err == NC_NOERR)
        err = def_numbered_var(h, k, "blob_count", NC_INT64, 1, dims,
                               "number of elements in each blob", &id);
    if (err == NC_NOERR)
        err = def_numbered_var(h, k, "offsets", type, 2, dims,
                               "first element, of the whole variable, of each run", &id);
    if (err == NC_NOERR)
        err = def_numbered_var(h, k, "lengths", type, 2, dims,
                               "number of elements in each run", &id);
    return err;
}

/* Its records came after the subfile's header. */
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

/* In place of a variable whose values are in frames. */
static int def_table(struct cdf_header *h, const char *name, int64_t type, int *id)
{
    int dim;
    int err = cdf_find_dim(h, BLOB_DIM_LEVELS, &dim);
    if (err == NC_NOERR) err = cdf_def_var(h, name, NC_INT64, 1, &dim, id);
    return err == NC_NOERR ? put_numbers(h, *id, BLOB_ATT_TYPE, NC_INT, &type, 1) : err;
}

static int def_variable(const struct blob *b, struct cdf_header *h, int varid, int number)
{
    const struct cdf_header *master = &b->base.ds->header;
    const struct cdf_var *v = &master->vars[varid];
    char name[64], other[64];
    int dims[2], id, err = NC_NOERR;
    int64_t of = varid, k = number;
    const char *own =
        name_for(v->name, cdf_find_var(h, v->name, &id) == NC_NOERR, varid, other);
    snprintf(name, sizeof name, "D%d.nelems", number);
    if (b->facts.framed) {
        err = def_table(h, own, v->type, &id);
    } else {
        if (v->is_record) err = define_records(master, h);
        dims[0] = h->unlimited;
        if (err == NC_NOERR) err = cdf_find_dim(h, name, &dims[v->is_record]);
        if (err == NC_NOERR)
            err = cdf_def_var(h, own, v->type, 1 + v->is_record, dims, &id);
    }
    if (err == NC_NOERR) err = put_numbers(h, id, BLOB_ATT_DECOMPOSITION, NC_INT, &k, 1);
    if (err == NC_NOERR) err = put_dimids(h, id, v, 0);
    if (err == NC_NOERR) err = put_numbers(h, id, BLOB_ATT_VARID, NC_INT, &of, 1);
    return err;
}

/* Its checksums, none of which is known. The file is new: records of them that nobody has
 * written are zeros as they are, however many there are. */
static int def_sums(const struct blob *b, struct cdf_header *h, int varid, int number,
                    bool is_new)
{
    const struct cdf_header *master = &b->base.ds->header;
    bool of_record = master->vars[varid].is_record;
    static const int64_t unknown;
    char name[64];
    int dims[2], id, err = of_record ? define_records(master, h) : NC_NOERR;
    snprintf(name, sizeof name, BLOB_SUMS_NAME, (long long)number, varid);
    dims[0] = h->unlimited;
    if (err == NC_NOERR) err = cdf_find_dim(h, BLOB_DIM_BLOBS, &dims[of_record]);
    if (err == NC_NOERR) err = cdf_def_var(h, name, NC_INT64, 1 + of_record, dims, &id);
    if (err != NC_NOERR) return err;
    h->vars[id].fill = !(is_new && of_record);
    return put_numbers(h, id, "_FillValue", NC_INT64, &unknown, 1);
}

/* ---- all of it into the header, and the header into the file ---- */

/* Room for what later puts may settle, so that no data move then. */
static struct cdf_room room_of_master(const struct blob *b)
{
    enum { DECOMPOSITION = 1024, VARIABLE = 280, PAGE = 4096, MAPS = 1 << 20 };
    int64_t bytes = 8 * (int64_t)DECOMPOSITION;
    for (int id = 0; id < b->nvars; id++)
        if (b->state[id] == BLOB_OPEN)
            bytes += VARIABLE + (int64_t)strlen(b->base.ds->header.vars[id].name);
    return (struct cdf_room){.header_minfree = bytes,
                             .fixed_align = PAGE,
                             .fixed_minfree = MAPS,
                             .record_align = PAGE};
}

static int make_header(struct blob *b, struct cdf_header *h,
                       const struct cdf_header *before, const struct blob_new *fresh,
                       int n, const int *state)
{
    int err = before == NULL ? begin_header(b, h) : NC_NOERR;
    for (int i = 0; i < n && err == NC_NOERR; i++)
        if (fresh[i].number > 0) err = def_decomposition(b, h, &fresh[i]);
    /* Values lie last, so that who cuts off a subfile cuts off some. */
    for (int id = 0; id < b->nvars && err == NC_NOERR && blob_sums_wanted(b); id++) {
        if (b->state[id] == BLOB_OPEN && state[id] > BLOB_OPEN)
            err = def_sums(b, h, id, state[id], before == NULL);
    }
    for (int id = 0; id < b->nvars && err == NC_NOERR; id++) {
        if (b->state[id] == BLOB_OPEN && state[id] > BLOB_OPEN)
            err = def_variable(b, h, id, state[id]);
    }
    if (err == NC_NOERR) err = put_number_att(h, BLOB_ATT_DECOMPOSITIONS, b->last);
    struct cdf_room room = room_of_master(b);
    return err == NC_NOERR ? cdf_layout(h, before, &room) : err;
}

/* The group's subfile gets its new header, or keeps the old one; that, where a process
 * has an error already. Agreed in the group. */
static int write_master_all(struct blob *b, const struct blob_new *fresh, int n,
                            const int *state, int error)
{
    struct blob_sub *s = b->own;
    struct cdf_header *h = &s->ds.header, before = {.nvars = 0};
    bool first = !s->defined;
    int ended = blob_frames_made(b) && !first ? blob_frames_end_all(b) : NC_NOERR;
    if (error == NC_NOERR) error = ended;
    /* All that there are move, also those that others appended and did not count here. */
    dataset_hold_records(&s->ds, blob_frames_records(b, b->base.ds->header.numrecs));
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
    int err = write_master_all(b, NULL, 0, b->state, NC_NOERR);
    return err == NC_NOERR ? blob_hold_stamp(b, b->facts.now.syncs, false) : err;
}

/* ---- maps ---- */

/* What a process tells of its blob, as requests that a group makes together: one for each
 * of the five variables. */
enum { MAP_VARS = 5 };
struct map_puts {
    union {
        struct access_request r;
        unsigned char room[sizeof(struct access_request) + 4 * sizeof(int64_t)];
    } list[MAP_VARS];
    struct access_request *reqs[MAP_VARS];
    int64_t n, facts[3]; /* runs, first element, elements */
    int64_t *runs;       /* places, then lengths */
};

static int add_put(struct blob *b, struct map_puts *p, int number, const char *what,
                   int64_t n, const int64_t *values)
{
    struct blob_sub *s = b->own;
    char name[64];
    int varid;
    snprintf(name, sizeof name, "D%d.%s", number, what);
    int err = cdf_find_var(&s->ds.header, name, &varid);
    if (err != NC_NOERR || n == 0) return err;
    int ndims = s->ds.header.vars[varid].ndims;
    struct access_request *r = &p->list[p->n].r;
    *r = (struct access_request){
        .buf = (void *)values, .varid = varid, .type = CONV_LONGLONG};
    r->slab[0] = b->rank;
    r->slab[ndims] = 1;
    if (ndims == 2) {
        r->slab[1] = 0;
        r->slab[3] = n;
    }
    p->reqs[p->n++] = r;
    return NC_NOERR;
}

static int list_map(struct blob *b, const struct blob_new *f, struct map_puts *p)
{
    int64_t n = f->own.n;
    p->facts[0] = n;
    p->facts[1] = f->start;
    p->facts[2] = blob_map_count(&f->own);
    p->runs = base_malloc((2 * (size_t)n + 1) * sizeof *p->runs);
    if (p->runs == NULL) return NC_ENOMEM;
    for (int64_t i = 0; i < n; i++) {
        p->runs[i] = f->own.runs[i].at;
        p->runs[n + i] = blob_run_length(&f->own.runs[i]);
    }
    int err = add_put(b, p, f->number, "nreqs", 1, &p->facts[0]);
    if (err == NC_NOERR) err = add_put(b, p, f->number, "blob_start", 1, &p->facts[1]);
    if (err == NC_NOERR) err = add_put(b, p, f->number, "blob_count", 1, &p->facts[2]);
    if (err == NC_NOERR) err = add_put(b, p, f->number, "offsets", n, p->runs);
    if (err == NC_NOERR) err = add_put(b, p, f->number, "lengths", n, p->runs + n);
    return err;
}

static int64_t bytes_in_sub(const struct blob_sub *s, const struct access_request *r)
{
    const struct cdf_var *v = &s->ds.header.vars[r->varid];
    return access_nelems(r, v->ndims) * cdf_type_size(v->type);
}

/* The group together, as each blob's part is small. */
static int write_map_all(struct blob *b, const struct blob_new *f, int error)
{
    struct map_puts p = {.n = 0};
    int err = error;
    if (err == NC_NOERR) err = list_map(b, f, &p);
    int put =
        driver_call(b->own->driver, put_all, p.reqs, err == NC_NOERR ? p.n : 0, err);
    base_free(p.runs);
    for (int64_t i = 0; i < p.n && err == NC_NOERR && put == NC_NOERR; i++)
        b->base.ds->stats.blob_map_bytes += bytes_in_sub(b->own, p.reqs[i]);
    return err != NC_NOERR ? err : put;
}

/* ---- a group's share of new decompositions ---- */

static int copy_map(struct blob_map *to, const struct blob_map *from)
{
    size_t n = (size_t)(from->n + 1);
    to->runs = base_malloc(n * sizeof *to->runs);
    if (to->runs == NULL) return NC_ENOMEM;
    memcpy(to->runs, from->runs, n * sizeof *to->runs);
    to->n = from->n;
    to->room = (int64_t)n;
    return NC_NOERR;
}

/* What this process needs, before anything is agreed on. */
static int take_maps(struct blob *b, struct blob_new *fresh, int n)
{
    void *grown =
        base_realloc(b->decomps, (size_t)(b->ndecomps + n + 1) * sizeof *b->decomps);
    int err = grown == NULL ? NC_ENOMEM : NC_NOERR;
    if (grown != NULL) b->decomps = grown;
    for (int i = 0; i < n && err == NC_NOERR; i++) {
        struct blob_new *f = &fresh[i];
        err = f->claim == NULL ? blob_map_settle(&f->own)
                               : copy_map(&f->own, &f->claim->map);
    }
    return err;
}

/* Where blobs begin, and how much there is of all of the group. */
static int place_all(struct blob *b, struct blob_new *fresh, int n)
{
    for (int i = 0; i < n; i++) {
        struct blob_new *f = &fresh[i];
        int64_t count = blob_map_count(&f->own);
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
    err = write_master_all(b, fresh, n, state, err);
    if (err != NC_NOERR) return err; /* of all of the group */
    err = blob_sub_list(b, b->own);
    if (err == NC_NOERR && first) err = blob_hold_stamp(b, b->facts.now.syncs, false);
    bool mapped = false;
    for (int i = 0; i < n; i++) {
        if (fresh[i].number > 0) err = write_map_all(b, &fresh[i], err);
        mapped = mapped || fresh[i].number > 0;
    }
    /* A page that counts them may be on its device at once: with the power gone it would
     * tell of maps that are not. */
    int synced = mapped ? driver_call(b->own->driver, sync_all) : NC_NOERR;
    return err != NC_NOERR ? err : synced;
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
        f->own = (struct blob_map){NULL, 0, 0};
    }
}
