/* Subfiles: datasets of their own, on the driver that the master is on. */
#define _GNU_SOURCE /* memmem */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "blob.h"
#include "blob_frames.h"
#include "blob_hold.h"
#include "blob_names.h"
#include "blob_source.h"
#include "node.h"

char *blob_sub_master(const char *path)
{
    char known[PATH_MAX];
    return base_strdup(realpath(path, known) == NULL ? path : known);
}

int blob_sub_refuse(const struct dataset *ds)
{
    enum { LONGEST = sizeof ".joining-0123456789abcdef" - 1, DIRECTORY = PATH_MAX };
    char *master = blob_sub_master(ds->full), folder[DIRECTORY] = ".";
    if (master == NULL) return NC_ENOMEM;
    const char *slash = strrchr(master, '/'), *name = slash == NULL ? master : slash + 1;
    if (slash != NULL)
        snprintf(folder, sizeof folder, "%.*s/", (int)(slash - master), master);
    long most = pathconf(folder, _PC_NAME_MAX);
    bool fits = most < 0 || (long)strlen(name) + LONGEST <= most;
    fits = fits && strlen(master) + LONGEST < PATH_MAX;
    int err =
        fits ? NC_NOERR
             : base_error_set(NC_EBAD_FILE,
                              "%s: its name is too long for the files beside it, whose "
                              "names have %d bytes more",
                              ds->path, LONGEST);
    base_free(master);
    return err;
}

/* Hints for one plain file. */
static struct base_hints plain_hints(struct base_hints h)
{
    h.burst = h.blob = BASE_DISABLE;
    h.e10_cache = BASE_DISABLE;
    h.transfer = BASE_TRANSFER_AUTO;
    h.num_subfiles = h.no_indep_rw = h.node_procs = 0;
    h.report = h.trace = BASE_REPORT_NONE;
    return h;
}

static void free_sub(struct blob_sub *s)
{
    if (s == NULL) return;
    cdf_free(&s->ds.header);
    base_free(s->ds.path);
    base_free(s->ds.full);
    base_free(s->ds.node); /* it was not found: closing has left it */
    base_free(s->varids);
    blob_frames_free_sub(s);
    base_free(s);
}

char *blob_sub_path(void *who, int number)
{
    const struct blob *b = who;
    return blob_is_foreign(b) ? blob_foreign_path(&b->foreign, b->path, number)
                              : blob_source_path(b->path, number);
}

void blob_sub_describe(const struct blob *b, struct dataset *ds)
{
    const struct dataset *master = b->base.ds;
    ds->prefixed = master->prefixed;
    ds->hints = plain_hints(master->hints);
    ds->writable = master->writable;
    ds->info = master->info;
}

/* A dataset that is not open yet; NULL: no memory. */
static struct blob_sub *new_sub(struct blob *b, int number, bool together)
{
    struct blob_sub *s = base_calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    cdf_init(&s->ds.header, 5);
    blob_sub_describe(b, &s->ds);
    s->number = number;
    s->ours = together;
    s->ds.comm = together ? b->comm : b->alone;
    s->ds.rank = together ? b->rank : 0;
    s->ds.nprocs = together ? b->size : 1;
    s->ds.path = blob_sub_path(b, number);
    s->ds.full = blob_sub_path(b, number);
    s->ds.whole = together;
    s->ds.partial = b->facts.nsubfiles > 1;
    s->ds.node = node_new();
    if (s->ds.path != NULL && s->ds.full != NULL && s->ds.node != NULL) return s;
    free_sub(s);
    return NULL;
}

/* ---- is it one of this dataset? ---- */

static int not_ours(const struct blob_sub *s, const char *why)
{
    return base_error_set(NC_ENOTNC, "%s: %s", s->ds.path, why);
}

/* One process looks at the moment of a subfile that its group opens. */
static int check_sub(struct blob *b, struct blob_sub *s)
{
    if (blob_is_foreign(b)) return blob_foreign_size(s);
    const char *wrong = blob_source_foreign(&s->ds.header, &b->facts, s->number);
    if (wrong != NULL) return not_ours(s, wrong);
    return s->ours && b->rank > 0 ? NC_NOERR : blob_hold_check(b, s);
}

/* A value that cannot be converted becomes the fill value that the master has now, and
 * holes are filled with it: so the subfile's variable has the same. */
static int take_fill_value(const struct cdf_header *master, int varid,
                           struct cdf_header *h, int id)
{
    unsigned char theirs[8] = {0}, ours[8] = {0};
    void *to;
    size_t size = (size_t)cdf_type_size(h->vars[id].type);
    cdf_fill_value(master, varid, theirs);
    cdf_fill_value(h, id, ours);
    if (memcmp(theirs, ours, size) == 0) return NC_NOERR;
    int err = cdf_put_att(h, id, "_FillValue", h->vars[id].type, 1, &to);
    if (err == NC_NOERR) memcpy(to, theirs, size);
    return err;
}

static int list_ours(const struct cdf_header *master, struct blob_sub *s, int *ids)
{
    struct cdf_header *h = &s->ds.header;
    for (int i = 0; i < master->nvars; i++)
        ids[i] = -1;
    for (int id = 0; id < h->nvars; id++) {
        int varid;
        const char *wrong = blob_source_variable(h, id, master, &varid);
        if (wrong != NULL) return not_ours(s, wrong);
        if (varid >= 0) ids[varid] = id;
    }
    return NC_NOERR;
}

/* One that nobody has defined yet has none. */
static int find_log(const struct blob *b, struct blob_sub *s)
{
    const struct cdf_header *h = &s->ds.header;
    s->log = -1;
    if (!b->facts.framed || h->nvars == 0) return NC_NOERR;
    bool good = cdf_find_var(h, BLOB_FRAMES, &s->log) == NC_NOERR &&
                h->vars[s->log].type == NC_BYTE && h->vars[s->log].is_record &&
                h->vars[s->log].ndims == 1 && h->record_size == 1;
    for (int i = 0; i < s->nvars && good; i++)
        good = s->varids[i] < 0 || blob_source_is_framed(h, s->varids[i]);
    return good ? NC_NOERR : not_ours(s, "its values are not in frames");
}

int blob_sub_list(struct blob *b, struct blob_sub *s)
{
    struct cdf_header *h = &s->ds.header;
    const struct cdf_header *master = &b->base.ds->header;
    int *ids = base_malloc((size_t)(master->nvars + 1) * sizeof *ids);
    if (ids == NULL) return NC_ENOMEM;
    int err = blob_is_foreign(b)
                  ? blob_foreign_list(&b->foreign, master, h, s->ds.path, s->number, ids)
                  : list_ours(master, s, ids);
    for (int i = 0; i < master->nvars && err == NC_NOERR; i++)
        if (ids[i] >= 0 && !b->facts.framed) err = take_fill_value(master, i, h, ids[i]);
    if (err != NC_NOERR) {
        base_free(ids);
        return err;
    }
    base_free(s->varids);
    s->varids = ids;
    s->nvars = master->nvars;
    return find_log(b, s);
}

int blob_sub_var(const struct blob_sub *s, int varid)
{
    return varid < s->nvars ? s->varids[varid] : -1;
}

int blob_sub_find(struct blob *b, int number, int varid, struct blob_sub **sub, int *id)
{
    int err = blob_sub_get(b, number, sub);
    *id = err == NC_NOERR ? blob_sub_var(*sub, varid) : -1;
    if (err == NC_NOERR && *id < 0)
        err = base_error_set(NC_ENOTNC, "%s: variable '%s' is missing", (*sub)->ds.path,
                             b->base.ds->header.vars[varid].name);
    return err;
}

/* ---- opening ---- */

/* Records that a file may have something of, whatever its header says; one at least. */
static int64_t records_in(const struct cdf_header *h, const char *path)
{
    struct stat st;
    if (base_fs_stat(path, &st) != 0) return INT64_MAX;
    if (h->record_size == 0 || st.st_size <= h->begin_record) return 1;
    return (st.st_size - h->begin_record + h->record_size - 1) / h->record_size;
}

static int open_driver_all(struct blob *b, struct blob_sub *s, bool create)
{
    struct dataset *ds = &s->ds;
    const struct driver_kind *kind = driver_registry[0];
    if (create) return kind->create_all(ds, NC_CLOBBER, NULL, &s->driver);
    int err = kind->open_all(ds, ds->writable ? NC_WRITE : NC_NOWRITE, NULL, &s->driver);
    if (err != NC_NOERR) return err;
    s->driver = driver_call(b->base.lower, files.part, s->number, s->driver);
    s->defined = true;
    s->records = ds->header.numrecs;
    s->summed = records_in(&ds->header, ds->full);
    return NC_NOERR;
}

static int close_driver_all(struct blob_sub *s, bool abort)
{
    struct driver *d = s->driver;
    s->driver = NULL;
    if (d == NULL) return NC_NOERR;
    int err = driver_call(d, close_all, abort);
    node_leave_all(&s->ds);
    return err;
}

/* It was opened, perhaps for writing, and is left as it was found. */
static void leave_driver_all(struct blob_sub *s)
{
    s->ds.held = s->ds.header.numrecs = s->records;
    s->ds.whole = false;
    (void)close_driver_all(s, false);
}

/* Is it a subfile, of whatever dataset? Its attributes come early in its header. */
static bool is_subfile(const char *path)
{
    enum { HEAD = 1 << 18 };
    static const char mark[] = {'C', 'D', 'F', 5}, name[] = BLOB_ATT_TOKEN;
    char *head = base_malloc(HEAD);
    int fd = head == NULL ? -1 : base_open(path, O_RDONLY);
    int64_t n = fd < 0 ? -1 : base_read_some(fd, 0, head, HEAD);
    bool is = n > (int64_t)sizeof name && memcmp(head, mark, sizeof mark) == 0 &&
              memmem(head, (size_t)n, name, sizeof name - 1) != NULL;
    if (fd >= 0) (void)close(fd);
    base_free(head);
    return is;
}

/* Those of the dataset that this one takes the place of are gone: what has this name is
 * somebody's, or another dataset's that was given another name. */
static int refuse_foreign(const struct blob *b, const struct blob_sub *s)
{
    struct stat st;
    const char *path = s->ds.path;
    if (base_fs_gone(path) || lstat(path, &st) != 0) return NC_NOERR;
    if (!S_ISREG(st.st_mode) || !blob_source_blank(path))
        return base_error_set(NC_EEXIST,
                              "%s: %s has the name that a subfile of %s needs; move it, "
                              "or remove it",
                              path,
                              is_subfile(path) ? "a subfile of another dataset"
                                               : "a file that is no subfile",
                              b->base.ds->path);
    return unlink(path) == 0 ? NC_NOERR : base_error_system(NC_EFILE, "removing", path);
}

/* Process 0 of the group makes the file, with the rights of the master. */
static int make_sub_file(const struct blob *b, const struct blob_sub *s)
{
    const char *master = b->base.ds->full;
    int err = refuse_foreign(b, s);
    if (err != NC_NOERR) return err;
    int model = base_open(master, O_RDONLY);
    if (model < 0) return base_error_system(NC_EFILE, "opening", master);
    err = blob_hold_make_file(model, s->ds.path);
    (void)close(model);
    return err;
}

int blob_sub_open_all(struct blob *b, bool create, struct blob_sub **sub)
{
    struct dataset spare = {.comm = b->comm, .rank = b->rank, .nprocs = b->size};
    struct blob_sub *s = new_sub(b, b->group, true);
    *sub = NULL;
    int err = s == NULL ? NC_ENOMEM : NC_NOERR;
    bool made = err == NC_NOERR && create && b->rank == 0;
    if (made) err = make_sub_file(b, s);
    int agreed = dataset_agree_all(&spare, err, NULL, NULL, 0);
    if (agreed == NC_NOERR && s != NULL) {
        agreed = open_driver_all(b, s, create);
        if (agreed == NC_NOERR && !create) {
            err = check_sub(b, s);
            if (err == NC_NOERR) err = blob_sub_list(b, s);
            agreed = dataset_agree_all(&s->ds, err, NULL, NULL, 0);
            if (agreed != NC_NOERR) leave_driver_all(s);
        }
    }
    if (agreed != NC_NOERR && made && err == NC_NOERR) (void)unlink(s->ds.path);
    if (agreed == NC_NOERR)
        *sub = s;
    else
        free_sub(s);
    return err != NC_NOERR ? err : agreed;
}

static int open_sub_alone(struct blob *b, struct blob_sub *s)
{
    int err = open_driver_all(b, s, false);
    if (err != NC_NOERR && !b->facts.defined && blob_source_blank(s->ds.path))
        return blob_sub_list(b, s);
    if (err != NC_NOERR) return err;
    err = check_sub(b, s);
    if (err == NC_NOERR) err = blob_sub_list(b, s);
    if (err != NC_NOERR) leave_driver_all(s);
    return err;
}

/* Most jobs want none, and MPI has some thousands for all datasets. Of this process's
 * group no other process takes part. */
static int make_comm(struct blob *b)
{
    MPI_Group self;
    if (b->alone != MPI_COMM_NULL) return NC_NOERR;
    int mpi = MPI_Comm_group(MPI_COMM_SELF, &self);
    if (mpi == MPI_SUCCESS) {
        mpi = MPI_Comm_create_group(b->base.ds->comm, self, 0, &b->alone);
        MPI_Group_free(&self);
        if (mpi != MPI_SUCCESS) b->alone = MPI_COMM_NULL;
    }
    if (mpi == MPI_SUCCESS) mpi = MPI_Comm_set_errhandler(b->alone, MPI_ERRORS_RETURN);
    return base_mpi_error(mpi, NC_ENFILE, "a communicator for a subfile");
}

/* When its group closes it, another one's subfile has room for all records. */
static void expect_records(const struct blob *b, struct blob_sub *s)
{
    const struct cdf_header *h = &s->ds.header;
    if (b->facts.framed) return;
    s->ds.promised = h->begin_record + b->base.ds->header.numrecs * h->record_size;
}

int blob_sub_get(struct blob *b, int number, struct blob_sub **sub)
{
    *sub = b->subs[number];
    if (*sub != NULL && !(*sub)->ours) expect_records(b, *sub);
    if (*sub != NULL && (*sub)->nvars == b->base.ds->header.nvars) return NC_NOERR;
    if (*sub != NULL) return blob_sub_list(b, *sub);
    int err = make_comm(b);
    if (err != NC_NOERR) return err;
    struct blob_sub *s = new_sub(b, number, false);
    if (s == NULL) return NC_ENOMEM;
    err = open_sub_alone(b, s);
    if (err == NC_NOERR)
        *sub = b->subs[number] = s;
    else
        free_sub(s);
    if (err == NC_NOERR) expect_records(b, s);
    return err;
}

/* ---- closing ---- */

void blob_sub_count(struct blob *b, struct blob_sub *s)
{
    trace_stats_take(&b->base.ds->stats, &s->ds.stats);
}

static int close_one_all(struct blob *b, struct blob_sub *s, bool abort)
{
    int err = close_driver_all(s, abort);
    blob_sub_count(b, s);
    b->subs[s->number] = NULL;
    free_sub(s);
    return err;
}

/* Who has a subfile alone leaves the number of records in its header to its group, or as
 * it was: nobody goes by it but other readers. */
int blob_sub_close_alone(struct blob *b)
{
    int first = NC_NOERR;
    for (int64_t i = 0; i < b->facts.nsubfiles; i++) {
        struct blob_sub *s = b->subs[i];
        if (s == NULL || s->ours) continue;
        s->ds.held = s->ds.header.numrecs = s->records;
        int err = close_one_all(b, s, false);
        if (first == NC_NOERR) first = err;
    }
    return first;
}

/* Opening it does: what could be neither completed nor taken back when it was begun would
 * keep others from reading the dataset, who were not told of it. */
static int finish_redefinition_all(struct blob *b)
{
    struct blob_sub *s;
    int err = blob_sub_open_all(b, false, &s);
    if (err != NC_NOERR) return err;
    s->ds.held = s->ds.header.numrecs;
    return close_one_all(b, s, false);
}

/* Nothing was put, and nothing is to be. */
int blob_sub_leave_all(struct blob *b)
{
    struct blob_sub *s = b->own;
    b->own = NULL;
    if (s == NULL) return NC_NOERR;
    leave_driver_all(s);
    return close_one_all(b, s, false);
}

int blob_sub_close_all(struct blob *b, bool abort)
{
    if (b->own == NULL) return NC_NOERR;
    struct blob_sub *s = b->own;
    b->own = NULL;
    s->ds.held = blob_frames_records(b, b->base.ds->header.numrecs);
    int err = close_one_all(b, s, abort);
    int finished = b->unfinished && !abort ? finish_redefinition_all(b) : NC_NOERR;
    b->unfinished = false;
    return err != NC_NOERR ? err : finished;
}
