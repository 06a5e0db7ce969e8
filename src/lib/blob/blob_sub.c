/* Opens, checks and closes subfiles, which are datasets on the master's lower driver. */
#define _GNU_SOURCE /* for memmem */
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
#include "base_number.h"
#include "blob.h"
#include "blob_frames.h"
#include "blob_lease.h"
#include "file_identity.h"
#include "file_temporary.h"
#include "node.h"
#include "subfile_digest.h"
#include "subfile_generation.h"
#include "subfile_names.h"

char *blob_sub_master(const char *path)
{
    char known[PATH_MAX];
    return base_strdup(realpath(path, known) == NULL ? path : known);
}

int blob_sub_refuse(const struct dataset *ds)
{
    enum { LONGEST = sizeof ".joining-0123456789abcdef" - 1, DIRECTORY = PATH_MAX };
    char *master = blob_sub_master(ds->full_path), folder[DIRECTORY] = ".";
    if (master == NULL) return NC_ENOMEM;
    const char *slash = strrchr(master, '/'), *name = slash == NULL ? master : slash + 1;
    if (slash != NULL)
        snprintf(folder, sizeof folder, "%.*s/", (int)(slash - master), master);
    long most = pathconf(folder, _PC_NAME_MAX);
    bool fits = most < 0 || (long)strlen(name) + LONGEST <= most;
    fits = fits && strlen(master) + LONGEST < PATH_MAX;
    int err = fits ? NC_NOERR
                   : base_error_set(NC_EBAD_FILE,
                                    "%s: the name is too long: the names of temporary "
                                    "files are %d bytes longer",
                                    ds->path, LONGEST);
    base_free(master);
    return err;
}

static void free_sub(struct blob_sub *s)
{
    if (s == NULL) return;
    cdf_free(&s->ds.header);
    base_free(s->ds.path);
    base_free(s->ds.full_path);
    base_free(s->ds.node); /* unused, or NULL after node_leave_all */
    subfile_free(&s->subfile);
    (void)file_descriptor_close(&s->made, "");
    base_free(s);
}

char *blob_sub_path(void *who, int number)
{
    const struct blob *b = who;
    return blob_is_foreign(b) ? subfile_foreign_path(&b->foreign, b->path, number)
                              : subfile_path(b->path, number);
}

void blob_sub_describe(const struct blob *b, struct dataset *ds)
{
    const struct dataset *master = b->base.ds;
    ds->prefixed = master->prefixed;
    ds->hints = master->hints;
    ds->hints.burst = ds->hints.blob = ds->hints.e10_cache = HINTS_DISABLE;
    ds->hints.transfer = HINTS_TRANSFER_AUTO;
    ds->hints.num_subfiles = ds->hints.no_indep_rw = ds->hints.node_procs = 0;
    ds->hints.report = ds->hints.trace = HINTS_REPORT_NONE;
    ds->writable = master->writable;
    ds->info = master->info;
    ds->may_write = master->lease == NULL ? NULL : blob_may_write;
    ds->may_write_arg = master->lease;
    ds->violations = master->violations;
}

int blob_may_write(void *lease)
{
    return blob_lease_check_soon(lease);
}

/* Returns the struct of a subfile that is not open yet; NULL if out of memory. */
static struct blob_sub *new_sub(struct blob *b, int number, bool together)
{
    struct blob_sub *s = base_calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    cdf_init(&s->ds.header, 5);
    s->made = FILE_NO_DESCRIPTOR;
    s->ds.created_descriptor = b->created ? &s->made : NULL;
    blob_sub_describe(b, &s->ds);
    s->ours = together;
    s->ds.comm = together ? b->comm : b->alone;
    s->ds.rank = together ? b->rank : 0;
    s->ds.nprocs = together ? b->size : 1;
    s->ds.path = blob_sub_path(b, number);
    s->ds.full_path = blob_sub_path(b, number);
    s->ds.extend_at_close = together;
    s->ds.partial = b->facts.nsubfiles > 1;
    s->ds.node = node_new();
    s->subfile = (struct subfile){.facts = &b->facts,
                                  .master = &b->base.ds->header,
                                  .foreign = &b->foreign,
                                  .cache = &b->frames.cache,
                                  .h = &s->ds.header,
                                  .path = s->ds.path,
                                  .number = number,
                                  .size = INT64_MAX,
                                  .owned = together && b->base.ds->writable,
                                  .read_log = blob_read_log,
                                  .read_numbers = blob_read_numbers,
                                  .who = s,
                                  .log = -1};
    if (s->ds.path != NULL && s->ds.full_path != NULL && s->ds.node != NULL) return s;
    free_sub(s);
    return NULL;
}

/* ---- checks ---- */

static int not_ours(const struct blob_sub *s, const char *why)
{
    return base_error_set(NC_ENOTNC, "%s: %s", s->ds.path, why);
}

/* Reads the generation from the subfile itself, not from its staged copy. */
static int read_generation(void *sub, const struct subfile_numbers *list, int n,
                           int error)
{
    struct blob_sub *s = sub;
    (void)n;
    return error != NC_NOERR
               ? error
               : blob_move_numbers(s->driver->bottom, &s->ds.header, list->varid, 0,
                                   list->n, list->values, false);
}

int blob_sub_stamp(const struct blob *b, struct blob_sub *s, uint64_t syncs, bool sync)
{
    int64_t numbers[] = {(int64_t)b->facts.now.opening, (int64_t)b->facts.now.nonce,
                         (int64_t)syncs};
    if (!s->defined) return NC_NOERR;
    base_require(b->base.ds->writable);
    int id = subfile_generation_var(&s->ds.header);
    if (id < 0) return not_ours(s, "its generation is missing");
    int err = blob_move_numbers(s->driver->bottom, &s->ds.header, id, 0,
                                SUBFILE_GENERATION, numbers, true);
    return err == NC_NOERR && sync ? driver_call(s->driver, sync) : err;
}

/* Checks that the subfile belongs to the dataset. If a group opens it, only the group's
 * process 0 checks the header and the generation. */
static int check_sub(struct blob *b, struct blob_sub *s)
{
    struct stat st;
    bool stale;
    if (blob_is_foreign(b)) {
        if (base_fs_stat(s->ds.full_path, &st) != 0)
            return base_error_system(NC_EFILE, "examining", s->ds.path);
        s->subfile.size = st.st_size;
        return NC_NOERR;
    }
    const char *wrong = subfile_check_header(&s->ds.header, &b->facts, s->subfile.number);
    if (wrong != NULL) return not_ours(s, wrong);
    if (s->ours && b->rank > 0) return NC_NOERR;
    int err = subfile_digest_check_subfile(&s->ds.header, &b->facts, s->ds.path);
    if (err != NC_NOERR) return err;
    const char *master = b->base.ds->writable ? NULL : b->base.ds->full_path;
    return subfile_generation_check(&s->subfile, read_generation, master, &stale);
}

/* Copies the master's current fill value to the subfile's variable, because it replaces
 * values that cannot be converted, and is stored in gaps. */
static int copy_fill_value(const struct cdf_header *master, int varid,
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

int blob_sub_list(struct blob *b, struct blob_sub *s)
{
    const struct cdf_header *master = &b->base.ds->header;
    int err = subfile_list(&s->subfile);
    for (int i = 0; i < master->nvars && err == NC_NOERR && !b->facts.framed; i++) {
        int id = s->subfile.varids[i];
        if (id >= 0) err = copy_fill_value(master, i, &s->ds.header, id);
    }
    if (err != NC_NOERR) s->subfile.nvars = -1;
    return err;
}

int blob_sub_find(struct blob *b, int number, int varid, struct blob_sub **sub, int *id)
{
    int err = blob_sub_get(b, number, sub);
    *id = err == NC_NOERR ? subfile_var(&(*sub)->subfile, varid) : -1;
    if (err == NC_NOERR && *id < 0)
        err = base_error_set(NC_ENOTNC, "%s: variable '%s' is missing", (*sub)->ds.path,
                             b->base.ds->header.vars[varid].name);
    return err;
}

/* ---- opening ---- */

/* Opens or creates the file through the lower driver. Sets s->summed to the number of
 * records that may have data in the file, but at least 1. Records the file's size only if
 * this job does not write; otherwise other processes may extend the file. */
static int open_driver_all(struct blob *b, struct blob_sub *s, bool create)
{
    struct dataset *ds = &s->ds;
    const struct cdf_header *h = &ds->header;
    const struct driver_kind *kind = driver_registry[0];
    struct stat st;
    if (create) return kind->create_all(ds, NC_CLOBBER, NULL, &s->driver);
    int err = kind->open_all(ds, ds->writable ? NC_WRITE : NC_NOWRITE, NULL, &s->driver);
    if (err != NC_NOERR) return err;
    s->driver = driver_call(b->base.lower, files.part, s->subfile.number, s->driver);
    s->defined = true;
    s->records = h->numrecs;
    s->summed = 1;
    bool seen = base_fs_stat(ds->full_path, &st) == 0;
    if (seen && !ds->writable) s->subfile.size = st.st_size;
    if (!seen)
        s->summed = INT64_MAX;
    else if (h->record_size > 0 && st.st_size > h->begin_record)
        s->summed = (st.st_size - h->begin_record + h->record_size - 1) / h->record_size;
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

/* Closes a subfile that may be open for writing, without changing it. */
static void leave_driver_all(struct blob_sub *s)
{
    s->ds.numrecs_seen = s->ds.header.numrecs = s->records;
    s->ds.extend_at_close = false;
    (void)close_driver_all(s, false);
}

/* Returns whether the file is a subfile of some dataset. It recognises one by the name of
 * an attribute near the start of the header. */
static bool is_subfile(const char *path)
{
    enum { HEAD = 1 << 18 };
    static const char mark[] = {'C', 'D', 'F', 5}, name[] = SUBFILE_ATT_TOKEN;
    char *head = base_malloc(HEAD);
    int fd = head == NULL ? -1 : base_open(path, O_RDONLY);
    int64_t n = fd < 0 ? -1 : base_read_some(fd, 0, head, HEAD);
    bool is = n > (int64_t)sizeof name && memcmp(head, mark, sizeof mark) == 0 &&
              memmem(head, (size_t)n, name, sizeof name - 1) != NULL;
    if (fd >= 0) (void)close(fd);
    base_free(head);
    return is;
}

int blob_sub_refuse_foreign(const struct dataset *master, const char *path)
{
    struct stat st;
    if (base_fs_is_name_free(path) || lstat(path, &st) != 0) return NC_NOERR;
    if (!S_ISREG(st.st_mode) || !subfile_is_blank(path))
        return base_error_set(
            NC_EEXIST,
            "%s: %s has the name that a subfile of %s requires; move or remove it", path,
            is_subfile(path) ? "a subfile of another dataset"
                             : "a file that is not a subfile",
            master->path);
    return unlink(path) == 0 ? NC_NOERR : base_error_system(NC_EFILE, "removing", path);
}

int blob_sub_open_all(struct blob *b, bool create, struct blob_sub **sub)
{
    struct dataset spare = {.comm = b->comm, .rank = b->rank, .nprocs = b->size};
    struct blob_sub *s = new_sub(b, b->group, true);
    *sub = NULL;
    int err = s == NULL ? NC_ENOMEM : NC_NOERR;
    bool made = s != NULL && create && b->rank == 0;
    if (made) { /* process 0 of the group creates it, as accessible as the master */
        int model;
        err = blob_sub_refuse_foreign(b->base.ds, s->ds.path);
        if (err == NC_NOERR) err = file_reopen(b->base.ds, O_RDONLY, &model);
        if (err == NC_NOERR) {
            err = file_create_like(model, s->ds.path, &s->made);
            (void)close(model);
        }
    }
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

/* Opens the subfile in this process only. A reader waits briefly if the dataset's owner
 * may be about to write the subfile's header or to move its data. */
static int open_sub_alone(struct blob *b, struct blob_sub *s)
{
    enum { TURNS = 200 };
    bool waits = !b->base.ds->writable && !blob_is_foreign(b);
    int err = open_driver_all(b, s, false);
    for (int turn = 0; waits && err == NC_ENOTNC && turn < TURNS; turn++) {
        int fd = base_open(b->base.ds->full_path, O_RDONLY);
        waits = fd >= 0 && blob_lease_is_held(fd);
        if (fd >= 0) (void)close(fd);
        if (waits) base_sleep_us(5000);
        waits = waits && (b->facts.defined || !subfile_is_blank(s->ds.path));
        if (waits) err = open_driver_all(b, s, false);
    }
    if (err != NC_NOERR && !b->facts.defined && subfile_is_blank(s->ds.path))
        return blob_sub_list(b, s);
    if (err != NC_NOERR) return err;
    err = check_sub(b, s);
    if (err == NC_NOERR) err = blob_sub_list(b, s);
    if (err != NC_NOERR) leave_driver_all(s);
    return err;
}

/* On first use, creates a communicator that has only this process. Most jobs do not need
 * it, and MPI can create only a few thousand. */
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

int blob_sub_get(struct blob *b, int number, struct blob_sub **sub)
{
    *sub = NULL;
    base_require(number >= 0 && number < b->facts.nsubfiles);
    struct blob_sub *s = *sub = b->subs[number];
    int err = NC_NOERR;
    if (s == NULL) {
        err = make_comm(b);
        if (err != NC_NOERR) return err;
        s = new_sub(b, number, false);
        err = s == NULL ? NC_ENOMEM : open_sub_alone(b, s);
        if (err != NC_NOERR) free_sub(s);
        if (err != NC_NOERR) return err;
        *sub = b->subs[number] = s;
    } else if (s->subfile.nvars != b->base.ds->header.nvars) {
        err = blob_sub_list(b, s);
    }
    /* The file will be long enough for all records when its group closes it. */
    if (!s->ours && !b->facts.framed)
        s->ds.announced_size = s->ds.header.begin_record +
                               b->base.ds->header.numrecs * s->ds.header.record_size;
    return err;
}

/* ---- closing ---- */

static int close_one_all(struct blob *b, struct blob_sub *s, bool abort)
{
    s->ds.deleted = b->base.ds->deleted; /* another file may have the name by now */
    int err = close_driver_all(s, abort);
    trace_stats_take(&b->base.ds->stats, &s->ds.stats);
    b->subs[s->subfile.number] = NULL;
    free_sub(s);
    return err;
}

/* Closes the subfiles that this process opened alone. Does not change their record
 * counts, which their groups write and only other readers use. */
int blob_sub_close_alone(struct blob *b)
{
    int first = NC_NOERR;
    for (int64_t i = 0; i < b->facts.nsubfiles; i++) {
        struct blob_sub *s = b->subs[i];
        if (s == NULL || s->ours) continue;
        s->ds.numrecs_seen = s->ds.header.numrecs = s->records;
        int err = close_one_all(b, s, false);
        if (first == NC_NOERR) first = err;
    }
    return first;
}

/* Closes the group's subfile without changing it. */
int blob_sub_leave_all(struct blob *b)
{
    struct blob_sub *s = b->own;
    b->own = NULL;
    if (s == NULL) return NC_NOERR;
    leave_driver_all(s);
    return close_one_all(b, s, false);
}

/* Closes the group's subfile. If a redefinition of it is unfinished, opens it once more
 * to complete the redefinition; otherwise other jobs could not read the dataset. */
int blob_sub_close_all(struct blob *b, bool abort)
{
    struct blob_sub *s = b->own;
    if (s == NULL) return NC_NOERR;
    b->own = NULL;
    s->ds.numrecs_seen = blob_frames_records(b, b->base.ds->header.numrecs);
    int err = close_one_all(b, s, abort), finished = NC_NOERR;
    if (b->unfinished && !abort) {
        finished = blob_sub_open_all(b, false, &s);
        if (finished == NC_NOERR) {
            s->ds.numrecs_seen = s->ds.header.numrecs;
            finished = close_one_all(b, s, false);
        }
    }
    b->unfinished = false;
    return err != NC_NOERR ? err : finished;
}
