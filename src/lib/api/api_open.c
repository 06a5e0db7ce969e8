/* Create, open, close, abort, delete. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api_closing.h"
#include "api_dataset.h"
#include "api_safe.h"
#include "api_words.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "node.h"
#include "base_path.h"
#include "pnetcdf.h"

static _Atomic int default_format = NC_FORMAT_CLASSIC;

int ncmpi_set_default_format(int format, int *old_formatp)
{
    if (old_formatp != NULL) *old_formatp = default_format;
    switch (format) {
    case NC_FORMAT_CLASSIC:
    case NC_FORMAT_CDF2:
    case NC_FORMAT_CDF5:
    case NC_FORMAT_NETCDF4:
    case NC_FORMAT_NETCDF4_CLASSIC:
        default_format = format;
        return NC_NOERR;
    default:
        return base_error_set(NC_EINVAL, "format %d", format);
    }
}

int ncmpi_inq_default_format(int *formatp)
{
    if (formatp != NULL) *formatp = default_format;
    return NC_NOERR;
}

const char *api_path(const char *path)
{
    static const char *const known[] = {
        "ufs",    "nfs",    "xfs",   "pfs",    "sfs",  "tfs",  "piofs",
        "pvfs",   "pvfs2",  "panfs", "lustre", "gpfs", "bgl",  "bglockless",
        "zoidfs", "testfs", "ftp",   "gsiftp", "ime",  "daos", "unifyfs"};
    const char *colon = strchr(path, ':');
    if (colon == NULL) return path;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i]) == (size_t)(colon - path) &&
            strncasecmp(known[i], path, (size_t)(colon - path)) == 0)
            return colon + 1;
    return path;
}

/* What must be the same everywhere; process 0's counts. */
struct terms {
    struct base_hints hints;
    int64_t mode;
    int64_t format; /* that the mode asks for, or the error that it is */
    int64_t number; /* of the dataset, from process 0's clock */
    int64_t safe_mode;
    int64_t error;
    uint64_t path_hash;
    char path[128];          /* its end */
    struct base_share share; /* what process 0 has from a file of hints */
};

static int compare_terms(const struct terms *mine, const struct terms *theirs)
{
    char text[200];
    if (theirs->error != NC_NOERR) return (int)theirs->error;
    if (mine->error != NC_NOERR) return (int)mine->error;
    /* MPI-IO opens what it is to open together by its name. */
    if (!theirs->safe_mode && !theirs->hints.no_indep_rw) return NC_NOERR;
    if (mine->path_hash != theirs->path_hash)
        return base_error_set(NC_EMULTIDEFINE_FNC_ARGS,
                              "path is '%s', on process 0 it is '%s'", mine->path,
                              theirs->path);
    if (theirs->safe_mode &&
        base_hints_compare(&mine->hints, &theirs->hints, text, sizeof text))
        return base_error_set(NC_EMULTIDEFINE_HINTS, "%s", text);
    return NC_NOERR;
}

/* What any process says beside its terms: that there is no communicator for the dataset;
 * that others have to be ended before it. */
enum { LACKING, DUE, SAYINGS };

/* What every process says of an error, this one's or that of the first which has one.
 * Of SAYINGS each becomes the largest of all processes. */
static int report_all(struct dataset *ds, int error, int64_t *says)
{
    char text[512];
    snprintf(text, sizeof text, "%s", base_error_detail(error));
    return api_share_report_all(ds, error, text, sizeof text, says,
                                says == NULL ? 0 : SAYINGS);
}

/* What there is until the terms are agreed on. The dataset's own communicator, while it
 * is agreed over the caller's: MPI may refuse it to one process alone. How the caller's
 * treats errors. And process 0's file of hints. */
struct caller {
    MPI_Comm own;
    MPI_Errhandler handler;
    bool kept, changed;
    struct base_hints_file file;
};

/* The communicators of a program are limited: there are none left is no reason to end it,
 * as the caller's own way with errors would. */
static int duplicate_all(MPI_Comm comm, struct caller *c)
{
    c->kept = MPI_Comm_get_errhandler(comm, &c->handler) == MPI_SUCCESS;
    c->changed =
        c->kept && MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN) == MPI_SUCCESS;
    int mpi = MPI_Comm_dup(comm, &c->own);
    if (mpi != MPI_SUCCESS) c->own = MPI_COMM_NULL;
    if (mpi == MPI_SUCCESS) mpi = MPI_Comm_set_errhandler(c->own, MPI_ERRORS_RETURN);
    return base_mpi_error(mpi, NC_ENFILE, "duplicating the communicator");
}

/* The caller's communicator is as it was, and the dataset has its own; nobody has one if
 * it was refused to anybody, as it cannot be freed by some alone. */
static void hand_back(struct dataset *ds, const struct caller *c, bool lacking)
{
    MPI_Errhandler handler = c->handler;
    if (c->changed) (void)MPI_Comm_set_errhandler(ds->comm, handler);
    if (c->kept) (void)MPI_Errhandler_free(&handler);
    ds->comm = lacking ? MPI_COMM_NULL : c->own;
}

/* Where this hint differs MPI-IO waits for ever: process 0's holds for it, too. */
static int agree_with_mpi(struct dataset *ds, const struct base_hints *mine)
{
    const char *value = ds->hints.no_indep_rw ? "true" : "false";
    if (mine->no_indep_rw == ds->hints.no_indep_rw) return NC_NOERR;
    if (ds->info == MPI_INFO_NULL) return NC_NOERR; /* there is an error already */
    return base_mpi_error(MPI_Info_set(ds->info, "romio_no_indep_rw", value), NC_EMPI,
                          "MPI_Info_set");
}

/* The file that the environment names, which process 0 alone reads. */
static struct base_hints_file file_of_hints(const struct dataset *ds)
{
    const char *name = getenv("PNETCDF_HINTS_FILE");
    bool asked = name != NULL && *name != '\0' && ds->rank == 0 && ds->full != NULL;
    return (struct base_hints_file){.name = asked ? name : NULL};
}

/* Takes what process 0 has from its file: with the terms, and what they had no room for.
 */
static int take_file_all(struct dataset *ds, const struct base_hints_file *file,
                         struct base_share *s, struct base_hints *mine)
{
    int err = NC_NOERR, shared = NC_NOERR;
    while (shared == NC_NOERR) {
        bool take = ds->rank != 0 && ds->info != MPI_INFO_NULL;
        int taken = take ? base_hints_unpack(mine, ds->info, s) : NC_NOERR;
        if (err == NC_NOERR) err = taken;
        if (!s->more) return err;
        if (ds->rank == 0) base_hints_pack(&ds->hints, ds->info, ds->full, file, s);
        shared = dataset_share_all(ds, s, sizeof *s, 0);
    }
    return shared;
}

/* A line of the report for each entry of the file that is about this dataset. */
static void tell_of_file(const struct dataset *ds, const struct base_hints_file *f)
{
    int n = 0;
    for (int i = 0; i < f->nentries; i++) {
        const struct base_file_entry *e = &f->entries[i];
        char line[4096];
        size_t used;
        if (!base_file_entry_names(e, ds->full)) continue;
        n++;
        used = (size_t)snprintf(line, sizeof line,
                                "hints of %.500s, line %d, %s %.500s:", f->name,
                                e->place.line, e->guard ? "Guardnames" : "Path", e->path);
        for (int k = 0; k < e->npairs && used < sizeof line; k++)
            used += (size_t)snprintf(line + used, sizeof line - used, " %s=%s",
                                     e->pairs[k].key, e->pairs[k].value);
        trace_stats_tell(ds, line);
    }
    if (n == 0 && f->name != NULL) {
        char line[600];
        snprintf(line, sizeof line, "hints of %.500s: no Path names this", f->name);
        trace_stats_tell(ds, line);
    }
}

static void tell_wrong(void *of, const char *words)
{
    char line[400];
    snprintf(line, sizeof line, "hint ignored: %s", words);
    trace_stats_tell(of, line);
}

/* All processes come to process 0's terms, or none goes on and all know why. Agreed. A
 * mode that is another here is in the way of nothing: *differs is what to say of it in
 * the end, `code` or NC_NOERR; in safe mode all say so. */
static int come_to_terms_all(struct dataset *ds, const struct base_hints_file *file,
                             struct terms *terms, int code, int *differs, int64_t *says)
{
    const char *path = ds->path == NULL ? "" : ds->path;
    size_t length = strlen(path);
    terms->hints = ds->hints;
    terms->safe_mode = ds->safe_mode;
    terms->path_hash = base_hash(path, length, 0);
    size_t kept = length < sizeof terms->path ? length : sizeof terms->path - 1;
    memcpy(terms->path, path + length - kept, kept);
    if (ds->info != MPI_INFO_NULL && file->name != NULL)
        base_hints_pack(&ds->hints, ds->info, ds->full, file, &terms->share);
    struct terms mine = *terms;
    int err = dataset_share_all(ds, terms, sizeof *terms, 0);
    if (err != NC_NOERR) return err;

    int taken = take_file_all(ds, file, &terms->share, &mine.hints);
    ds->hints = terms->hints;
    ds->safe_mode = terms->safe_mode != 0;
    err = compare_terms(&mine, terms);
    if (err == NC_NOERR) err = taken;
    if (err == NC_NOERR) err = agree_with_mpi(ds, &mine.hints);
    says[DUE] = api_closing_is_due(ds);
    err = report_all(ds, err, says);
    if (err != NC_NOERR) return err;
    *differs = mine.mode == terms->mode
                   ? NC_NOERR
                   : base_error_set(code, "mode is %#llx, on process 0 it is %#llx",
                                    (unsigned long long)mine.mode,
                                    (unsigned long long)terms->mode);
    if (ds->safe_mode) *differs = report_all(ds, *differs, NULL);
    return NC_NOERR;
}

/* The same, and then the dataset has a communicator of its own. Agreed. */
static int agree_on_terms_all(struct dataset *ds, struct caller *c, struct terms *terms,
                              int code, int *differs)
{
    int64_t says[SAYINGS] = {[LACKING] = c->own == MPI_COMM_NULL};
    int err = come_to_terms_all(ds, &c->file, terms, code, differs, says);
    hand_back(ds, c, says[LACKING]);
    if (err == NC_NOERR) tell_of_file(ds, &c->file);
    base_hints_file_free(&c->file);
    return err == NC_NOERR && says[DUE] ? api_closing_make_way_all(ds) : err;
}

static bool environment_is_1(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && strcmp(value, "1") == 0;
}

/* Frees it, but not the memory of a spare one. */
static void release_all(struct api_dataset *d, const struct api_dataset *spare)
{
    trace_drop(&d->ds);
    if (d->ncid >= 0) api_leave(d);
    api_queue_free(d->queue);
    cdf_free(&d->before);
    cdf_free(&d->ds.header);
    pthread_mutex_destroy(&d->lock);
    base_free(d->ds.framed);
    base_free(d->ds.path);
    base_free(d->ds.full);
    if (d->ds.info != MPI_INFO_NULL) MPI_Info_free(&d->ds.info);
    node_leave_all(&d->ds);
    if (d->ds.comm != MPI_COMM_NULL) MPI_Comm_free(&d->ds.comm);
    if (d != spare) base_free(d);
}

int api_end_all(struct api_dataset *d, int err)
{
    int told = d->ds.hints.report ? trace_stats_report_all(&d->ds) : NC_NOERR;
    trace_stop_all(&d->ds);
    release_all(d, NULL);
    return err != NC_NOERR ? err : told;
}

/* A dataset with its hints, no file yet. Its communicator is the caller's still. Errors
 * of this process alone are left to agree_on_terms, for which one without memory takes
 * part with the spare. */
static struct api_dataset *prepare_all(MPI_Comm comm, const char *path, MPI_Info info,
                                       struct api_dataset *spare, struct caller *caller,
                                       int *error)
{
    struct api_dataset *d = base_calloc(1, sizeof *d);
    *error = d == NULL ? NC_ENOMEM : NC_NOERR;
    if (d == NULL) d = memset(spare, 0, sizeof *spare);
    d->ncid = -1;
    d->ds.info = MPI_INFO_NULL;
    d->ds.comm = comm;
    d->ds.node = node_new();
    if (d->ds.node == NULL) *error = NC_ENOMEM;
    d->fill_mode = NC_NOFILL;
    d->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    int level = MPI_THREAD_MULTIPLE, duplicated = duplicate_all(comm, caller);
    if (*error == NC_NOERR) *error = duplicated;
    int mpi = MPI_Comm_rank(comm, &d->ds.rank);
    if (mpi == MPI_SUCCESS) mpi = MPI_Comm_size(comm, &d->ds.nprocs);
    if (mpi == MPI_SUCCESS) mpi = MPI_Query_thread(&level);
    if (*error == NC_NOERR) *error = base_mpi_error(mpi, NC_EMPI, "the communicator");
    d->threads = level == MPI_THREAD_MULTIPLE;
    d->ds.path = base_strdup(path == NULL ? "" : api_path(path));
    d->ds.prefixed = path != NULL && api_path(path) != path;
    if (d->ds.path != NULL) d->ds.full = base_path_absolute(d->ds.path);
    caller->file = file_of_hints(&d->ds);
    int read = base_hints_read(&d->ds.hints, info, d->ds.rank == 0, d->ds.full,
                               &caller->file, &d->ds.info);
    if (*error == NC_NOERR) *error = read;
    if (d->ds.rank == 0 && d->ds.hints.report != BASE_REPORT_NONE)
        (void)base_hints_blame(info, tell_wrong, &d->ds);
    if (*error == NC_NOERR && d->ds.full == NULL) *error = NC_ENOMEM;
    if (*error == NC_NOERR && (path == NULL || *d->ds.path == '\0'))
        *error = base_error_set(NC_EINVAL, "path is %s", path == NULL ? "NULL" : "empty");
    if (*error == NC_NOERR && d->ds.hints.bad_driver)
        *error =
            base_error_set(NC_EDRIVER, "invalid value for nc_driver; expected one of: "
                                       "mpiio, gio");
    if (*error == NC_NOERR) *error = api_enter(d);
    d->ds.safe_mode = environment_is_1("PNETCDF_SAFE_MODE");
    return d;
}

/* The format that a creation mode asks for, as NC_FORMAT_ of netCDF; or an error. */
static int format_of(int cmode)
{
    const int kinds = cmode & (NC_64BIT_OFFSET | NC_64BIT_DATA | NC_NETCDF4);
    if ((kinds & (kinds - 1)) != 0)
        return base_error_set(NC_EINVAL_CMODE,
                              "mode %#x: more than one of NC_64BIT_OFFSET, "
                              "NC_64BIT_DATA and NC_NETCDF4",
                              (unsigned)cmode);
    if (cmode & (NC_DISKLESS | NC_MMAP))
        return base_error_set(NC_EINVAL_CMODE, "mode %#x: datasets are not in memory",
                              (unsigned)cmode);
    if (cmode & NC_BP)
        return base_error_set(NC_ENOTBUILT, "ADIOS BP is another library's");
    const bool classic = cmode & NC_CLASSIC_MODEL;
    switch (kinds) {
    case NC_64BIT_DATA:
        return NC_FORMAT_CDF5;
    case NC_64BIT_OFFSET:
        return NC_FORMAT_CDF2;
    case NC_NETCDF4:
        return classic ? NC_FORMAT_NETCDF4_CLASSIC : NC_FORMAT_NETCDF4;
    default:
        return classic ? NC_FORMAT_CLASSIC : default_format;
    }
}

/* There is nobody else to report it to. */
static int no_communicator(void)
{
    base_error_begin();
    return base_error_set(NC_EINVAL, "the communicator is MPI_COMM_NULL");
}

/* When create or open began: the trace comes later. */
static struct trace_span opening(void)
{
    base_error_begin();
    return (struct trace_span){.since = trace_clock()};
}

static int finish_all(struct api_dataset *d, const struct api_dataset *spare, int err,
                      int differs, int *ncidp)
{
    if (err != NC_NOERR) {
        release_all(d, spare);
        return err;
    }
    if (ncidp != NULL) *ncidp = d->ncid;
    return differs;
}

int ncmpi_create(MPI_Comm comm, const char *path, int cmode, MPI_Info info, int *ncidp)
{
    struct api_dataset spare;
    struct caller caller;
    int error, differs = NC_NOERR;
    if (comm == MPI_COMM_NULL) return no_communicator();
    const struct trace_span span = opening();
    struct api_dataset *d = prepare_all(comm, path, info, &spare, &caller, &error);
    if (error == NC_NOERR && ncidp == NULL) error = api_null(NC_EINVAL, "ncidp");

    struct terms terms = {
        .mode = cmode, .format = format_of(cmode), .number = span.since, .error = error};
    int err =
        agree_on_terms_all(&d->ds, &caller, &terms, NC_EMULTIDEFINE_CMODE, &differs);
    d->number = terms.number;
    if (err == NC_NOERR) trace_start_all(&d->ds, d->threads);
    if (err == NC_NOERR && terms.format < 0) err = (int)terms.format;
    d->fresh = d->defining = d->ds.writable = true;
    bool netcdf4 =
        terms.format == NC_FORMAT_NETCDF4 || terms.format == NC_FORMAT_NETCDF4_CLASSIC;
    if (netcdf4) d->ds.netcdf4 = (int)terms.format;
    cdf_init(&d->ds.header, err != NC_NOERR ? 1 : netcdf4 ? 5 : (int)terms.format);
    if (err == NC_NOERR) err = driver_create_all(&d->ds, (int)terms.mode, &d->top);
    trace_leave(d->ds.trace, span, "ncmpi_create", -1, err);
    return finish_all(d, &spare, err, differs, ncidp);
}

int ncmpi_open(MPI_Comm comm, const char *path, int omode, MPI_Info info, int *ncidp)
{
    struct api_dataset spare;
    struct caller caller;
    int error, differs = NC_NOERR;
    if (comm == MPI_COMM_NULL) return no_communicator();
    const struct trace_span span = opening();
    struct api_dataset *d = prepare_all(comm, path, info, &spare, &caller, &error);
    if (error == NC_NOERR && ncidp == NULL) error = api_null(NC_EINVAL, "ncidp");

    struct terms terms = {.mode = omode, .number = span.since, .error = error};
    int err =
        agree_on_terms_all(&d->ds, &caller, &terms, NC_EMULTIDEFINE_OMODE, &differs);
    d->number = terms.number;
    if (err == NC_NOERR) trace_start_all(&d->ds, d->threads);
    if (err == NC_NOERR && (terms.mode & (NC_DISKLESS | NC_MMAP)))
        err = base_error_set(NC_EINVAL_OMODE, "mode %#x: datasets are not in memory",
                             (unsigned)terms.mode);
    d->ds.writable = terms.mode & NC_WRITE;
    cdf_init(&d->ds.header, 1);
    if (err == NC_NOERR) err = driver_open_all(&d->ds, (int)terms.mode, &d->top);
    if (err == NC_NOERR) trace_note_variables(&d->ds, 0);
    if (err == NC_NOERR) api_quantize_opened(d);
    if (err == NC_NOERR) api_prefetch_hinted(d);
    trace_leave(d->ds.trace, span, "ncmpi_open", -1, err);
    return finish_all(d, &spare, err, differs, ncidp);
}

/* What nobody waited for is given up: NC_EPENDING. */
static int forget_pending(struct api_dataset *d)
{
    int n = api_queue_pending(d->queue);
    api_queue_free(d->queue);
    d->queue = NULL;
    return n == 0 ? NC_NOERR : base_error_set(NC_EPENDING, "%d requests", n);
}

int ncmpi_close(int ncid)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err == NC_NOERR) err = api_same_call_all(d, "ncmpi_close");
    if (err != NC_NOERR) return err;

    struct trace_span span = trace_enter(d->ds.trace);
    int pending = forget_pending(d);
    if (d->defining)
        err = api_end_define_all(d, &(struct cdf_room){.header_minfree = CDF_SOME_ROOM});
    if (err == NC_NOERR && api_closing_defer_all(d, span)) return pending;
    /* Definitions that could not be completed: a new file would not be one. */
    int closed = driver_call(d->top, close_all, d->defining);
    trace_leave(d->ds.trace, span, "ncmpi_close", -1, err != NC_NOERR ? err : closed);
    closed = api_end_all(d, closed);
    if (err == NC_NOERR) err = closed;
    return err != NC_NOERR ? err : pending;
}

int ncmpi_abort(int ncid)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err == NC_NOERR) err = api_same_call_all(d, "ncmpi_abort");
    if (err != NC_NOERR) return err;

    if (d->defining && !d->fresh) { /* back to what the file says */
        struct cdf_header given_up = d->ds.header;
        d->ds.header = d->before;
        d->before = given_up;
    }
    struct trace_span span = trace_enter(d->ds.trace);
    err = driver_call(d->top, close_all, true);
    trace_leave(d->ds.trace, span, "ncmpi_abort", -1, err);
    return api_end_all(d, err);
}

int ncmpi_delete(const char *filename, MPI_Info info)
{
    base_error_begin();
    if (filename == NULL) return api_null(NC_EINVAL, "filename");
    return base_error_end(api_closing_delete(api_path(filename), info));
}
