/* Creates, opens, closes, aborts and deletes datasets.
 *
 * Create and open proceed as follows:
 * 1. Each process prepares a dataset with its hints.
 * 2. All processes adopt process 0's terms (hints, mode, format) and duplicate the
 *    communicator.
 * 3. Deferred closes that this call must wait for are completed.
 * 4. The drivers create or open the file.
 *
 * If any process fails in steps 1 to 3, all processes return an error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api_deferred_close.h"
#include "api_dataset.h"
#include "api_safe.h"
#include "api_errors.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "base_number.h"
#include "file_identity.h"
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

/* Arguments that must be the same on all processes. Process 0's take precedence. */
struct terms {
    struct hints hints;
    int64_t mode;
    int64_t format; /* format requested by the mode, or a negative error code */
    int64_t number; /* unique number of the dataset, from process 0's clock */
    int64_t safe_mode;
    int64_t error;
    uint64_t path_hash;
    char path[128];             /* last part of the path, for messages */
    struct hints_message share; /* hints from process 0's hints file */
};

static int compare_terms(const struct terms *mine, const struct terms *theirs)
{
    char text[200];
    if (theirs->error != NC_NOERR) return (int)theirs->error;
    if (mine->error != NC_NOERR) return (int)mine->error;
    /* Paths are compared in safe mode. They are also compared if all processes open the
     * file together, because each process then passes its own path to MPI-IO. */
    if (!theirs->safe_mode && !theirs->hints.no_indep_rw) return NC_NOERR;
    if (mine->path_hash != theirs->path_hash)
        return base_error_set(NC_EMULTIDEFINE_FNC_ARGS,
                              "path is '%s', but '%s' on process 0", mine->path,
                              theirs->path);
    if (theirs->safe_mode &&
        hints_compare(&mine->hints, &theirs->hints, text, sizeof text))
        return base_error_set(NC_EMULTIDEFINE_HINTS, "%s", text);
    return NC_NOERR;
}

/* Values that are reduced together with the terms. LACKING: a process could not duplicate
 * the communicator. DUE: deferred closes must be completed first. OPEN, LEAST: the
 * largest and the smallest number of a dataset that the program has open with the same
 * file and with values in a log (0: none); the smallest is negated. */
enum { LACKING, DUE, OPEN, LEAST, NFLAGS };

/* Distributes the error of the first process that has one. Each flag becomes the maximum
 * over all processes. */
static int report_all(struct dataset *ds, int error, int64_t *says)
{
    char text[512];
    snprintf(text, sizeof text, "%s", base_error_detail(error));
    return api_share_report_all(ds, error, text, sizeof text, says,
                                says == NULL ? 0 : NFLAGS);
}

/* State of a create or open call until the processes have agreed on the terms, including
 * the caller's error handler and process 0's hints file. The agreement uses the caller's
 * communicator, because MPI may fail to duplicate it on a single process. */
struct caller {
    MPI_Comm own;
    MPI_Errhandler handler;
    bool kept, changed;
    struct hints_file file;
};

/* Duplicates the communicator. MPI limits the number of communicators, and reaching the
 * limit must not end the program, so the caller's error handler is replaced
 * temporarily. */
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

/* Restores the caller's error handler and gives the dataset its own communicator. If any
 * process could not create one, no process gets one, because MPI cannot free a
 * communicator on only some of its processes. */
static void restore_comm(struct dataset *ds, const struct caller *c, bool lacking)
{
    MPI_Errhandler handler = c->handler;
    if (c->changed) (void)MPI_Comm_set_errhandler(ds->comm, handler);
    if (c->kept) (void)MPI_Errhandler_free(&handler);
    ds->comm = lacking ? MPI_COMM_NULL : c->own;
}

/* Applies process 0's value of romio_no_indep_rw. If processes passed different values,
 * MPI-IO would hang. */
static int agree_with_mpi(struct dataset *ds, const struct hints *mine)
{
    const char *value = ds->hints.no_indep_rw ? "true" : "false";
    if (mine->no_indep_rw == ds->hints.no_indep_rw) return NC_NOERR;
    if (ds->info == MPI_INFO_NULL) return NC_NOERR; /* the error was reported earlier */
    return base_mpi_error(MPI_Info_set(ds->info, "romio_no_indep_rw", value), NC_EMPI,
                          "MPI_Info_set");
}

/* Returns the hints file that the environment names. Only process 0 reads it. */
static struct hints_file read_hints_file(const struct dataset *ds)
{
    const char *name = getenv("PNETCDF_HINTS_FILE");
    bool asked = name != NULL && *name != '\0' && ds->rank == 0 && ds->full_path != NULL;
    return (struct hints_file){.name = asked ? name : NULL};
}

/* Adopts the hints from process 0's hints file. The first hints arrive with the terms,
 * the rest in further messages. */
static int receive_file_hints_all(struct dataset *ds, const struct hints_file *file,
                                  struct hints_message *s, struct hints *mine)
{
    int err = NC_NOERR, shared = NC_NOERR;
    while (shared == NC_NOERR) {
        bool take = ds->rank != 0 && ds->info != MPI_INFO_NULL;
        int taken = take ? hints_unpack(mine, ds->info, s) : NC_NOERR;
        if (err == NC_NOERR) err = taken;
        if (!s->more) return err;
        if (ds->rank == 0) hints_pack(&ds->hints, ds->info, ds->full_path, file, s);
        shared = dataset_share_all(ds, s, sizeof *s, 0);
    }
    return shared;
}

/* Adds a line to the report for each entry of the hints file that applies to this
 * dataset. */
static void report_file_hints(const struct dataset *ds, const struct hints_file *f)
{
    int n = 0;
    for (int i = 0; i < f->nentries; i++) {
        const struct hints_file_entry *e = &f->entries[i];
        char line[4096];
        size_t used;
        if (!hints_file_entry_matches(e, ds->full_path)) continue;
        n++;
        used = (size_t)snprintf(line, sizeof line,
                                "hints from %.500s, line %d, %s %.500s:", f->name,
                                e->place.line, e->guard ? "Guardnames" : "Path", e->path);
        for (int k = 0; k < e->npairs && used < sizeof line; k++)
            used += (size_t)snprintf(line + used, sizeof line - used, " %s=%s",
                                     e->pairs[k].key, e->pairs[k].value);
        trace_stats_add_line(ds, line);
    }
    if (n == 0 && f->name != NULL) {
        char line[600];
        snprintf(line, sizeof line, "hints from %.500s: none, because no Path matches",
                 f->name);
        trace_stats_add_line(ds, line);
    }
}

static void report_invalid_hint(void *of, const char *words)
{
    char line[400];
    snprintf(line, sizeof line, "hint ignored: %s", words);
    trace_stats_add_line(of, line);
}

/* Reports `err` and the flags, and drains the logs of the program's other openings of the
 * file, one after the other. */
static int drain_own_logs_all(struct dataset *ds, int err, int64_t *says)
{
    int64_t after = 0;
    int own = err;
    bool common;
    do {
        struct api_dataset *before = api_reopen_find(ds, after);
        says[OPEN] = before == NULL ? 0 : before->number;
        says[LEAST] = -says[OPEN];
        err = report_all(ds, own, says);
        common = err == NC_NOERR && says[OPEN] > 0 && says[OPEN] == -says[LEAST];
        after = says[OPEN];
        own = api_reopen_end_all(before, common);
    } while (common);
    return err;
}

/* Makes all processes adopt process 0's terms, or return the same error. A mode that
 * differs from process 0's is not an error yet. Instead, *differs is set to `code`
 * (otherwise to NC_NOERR), which create or open returns at the end. In safe mode *differs
 * is the same on all processes. */
static int adopt_terms_all(struct dataset *ds, const struct hints_file *file,
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
        hints_pack(&ds->hints, ds->info, ds->full_path, file, &terms->share);
    struct terms mine = *terms;
    int err = dataset_share_all(ds, terms, sizeof *terms, 0);
    if (err != NC_NOERR) return err;

    int taken = receive_file_hints_all(ds, file, &terms->share, &mine.hints);
    ds->hints = terms->hints;
    ds->safe_mode = terms->safe_mode != 0;
    err = compare_terms(&mine, terms);
    if (err == NC_NOERR) err = taken;
    if (err == NC_NOERR) err = agree_with_mpi(ds, &mine.hints);
    says[DUE] = api_deferred_close_is_due(ds);
    bool opens = code == NC_EMULTIDEFINE_OMODE;
    err = opens ? drain_own_logs_all(ds, err, says) : report_all(ds, err, says);
    if (err != NC_NOERR) return err;
    *differs = mine.mode == terms->mode
                   ? NC_NOERR
                   : base_error_set(code, "mode is %#llx, but %#llx on process 0",
                                    (unsigned long long)mine.mode,
                                    (unsigned long long)terms->mode);
    if (ds->safe_mode) *differs = report_all(ds, *differs, NULL);
    return NC_NOERR;
}

/* Agrees on the terms and duplicates the communicator. Same result on all processes. */
static int agree_on_terms_all(struct dataset *ds, struct caller *c, struct terms *terms,
                              int code, int *differs)
{
    int64_t says[NFLAGS] = {[LACKING] = c->own == MPI_COMM_NULL};
    int err = adopt_terms_all(ds, &c->file, terms, code, differs, says);
    restore_comm(ds, c, says[LACKING]);
    if (err == NC_NOERR) report_file_hints(ds, &c->file);
    hints_file_free(&c->file);
    return err == NC_NOERR && says[DUE] ? api_deferred_close_end_all(ds) : err;
}

static bool environment_is_1(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && strcmp(value, "1") == 0;
}

/* Allocates a dataset and reads its hints. The dataset has no file yet, and uses the
 * caller's communicator. agree_on_terms_all later returns this process's errors. If out
 * of memory, the process joins that agreement with `spare` instead. */
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
    d->ds.violations = base_violations();
    d->ds.node = node_new();
    if (d->ds.node == NULL) *error = NC_ENOMEM;
    d->fill_mode = NC_NOFILL;
    d->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    int level = MPI_THREAD_MULTIPLE, duplicated = duplicate_all(comm, caller);
    if (*error == NC_NOERR) *error = duplicated;
    int mpi = MPI_Comm_rank(comm, &d->ds.rank);
    if (mpi == MPI_SUCCESS) mpi = MPI_Comm_size(comm, &d->ds.nprocs);
    if (mpi == MPI_SUCCESS) mpi = MPI_Query_thread(&level);
    if (*error == NC_NOERR)
        *error = base_mpi_error(mpi, NC_EMPI, "examining the communicator");
    d->threads = level == MPI_THREAD_MULTIPLE;
    d->unready = true;
    d->user = api_this_thread();
    d->ds.path = base_strdup(path == NULL ? "" : api_path(path));
    d->ds.prefixed = path != NULL && api_path(path) != path;
    if (d->ds.path != NULL) d->ds.full_path = base_path_absolute(d->ds.path);
    caller->file = read_hints_file(&d->ds);
    int read = hints_read(&d->ds.hints, info, d->ds.rank == 0, d->ds.full_path,
                          &caller->file, &d->ds.info);
    if (*error == NC_NOERR) *error = read;
    if (d->ds.rank == 0 && d->ds.hints.report > HINTS_REPORT_NONE)
        (void)hints_report_invalid(info, report_invalid_hint, &d->ds);
    if (*error == NC_NOERR && d->ds.full_path == NULL) *error = NC_ENOMEM;
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

/* Returns the format (NC_FORMAT_*) that a creation mode requests, or an error code. */
static int format_of(int cmode)
{
    const int kinds = cmode & (NC_64BIT_OFFSET | NC_64BIT_DATA | NC_NETCDF4);
    if ((kinds & (kinds - 1)) != 0)
        return base_error_set(NC_EINVAL_CMODE,
                              "mode %#x: only one of NC_64BIT_OFFSET, NC_64BIT_DATA and "
                              "NC_NETCDF4 can be given",
                              (unsigned)cmode);
    if (cmode & (NC_DISKLESS | NC_MMAP))
        return base_error_set(NC_EINVAL_CMODE,
                              "mode %#x: in-memory datasets are not supported",
                              (unsigned)cmode);
    if (cmode & NC_BP)
        return base_error_set(NC_ENOTBUILT, "ADIOS BP files are not supported");
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

/* Returns NC_EINVAL for an intercommunicator, whose collective calls would hang because
 * they address the remote group. Each process can detect this locally. */
static int check_communicator(MPI_Comm comm)
{
    int inter = 0;
    base_error_begin();
    if (comm == MPI_COMM_NULL)
        return base_error_set(NC_EINVAL, "the communicator is MPI_COMM_NULL");
    int err = base_mpi_error(MPI_Comm_test_inter(comm, &inter), NC_EMPI,
                             "examining the communicator");
    if (err != NC_NOERR || !inter) return err;
    return base_error_set(NC_EINVAL,
                          "the communicator is an intercommunicator; pass an "
                          "intracommunicator, such as the result of MPI_Intercomm_merge");
}

/* Records the time at which create or open began, since the trace starts later. */
static struct trace_span opening(void)
{
    base_error_begin();
    return (struct trace_span){.since = base_now(CLOCK_MONOTONIC)};
}

static int finish_all(struct api_dataset *d, const struct api_dataset *spare, int err,
                      int differs, int *ncidp)
{
    if (err != NC_NOERR) {
        api_release_all(d, spare);
        return err;
    }
    api_set_unready(d, false);
    if (ncidp != NULL) *ncidp = d->ncid;
    return differs;
}

int ncmpi_create(MPI_Comm comm, const char *path, int cmode, MPI_Info info, int *ncidp)
{
    struct api_dataset spare;
    struct caller caller;
    int error, differs = NC_NOERR, refused = check_communicator(comm);
    if (refused != NC_NOERR) return refused;
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
    d->ds.effects.facts = HINTS_CREATED;
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
    int error, differs = NC_NOERR, refused = check_communicator(comm);
    if (refused != NC_NOERR) return refused;
    const struct trace_span span = opening();
    struct api_dataset *d = prepare_all(comm, path, info, &spare, &caller, &error);
    if (error == NC_NOERR && ncidp == NULL) error = api_null(NC_EINVAL, "ncidp");

    struct terms terms = {.mode = omode, .number = span.since, .error = error};
    int err =
        agree_on_terms_all(&d->ds, &caller, &terms, NC_EMULTIDEFINE_OMODE, &differs);
    d->number = terms.number;
    if (err == NC_NOERR) trace_start_all(&d->ds, d->threads);
    if (err == NC_NOERR && (terms.mode & (NC_DISKLESS | NC_MMAP)))
        err = base_error_set(NC_EINVAL_OMODE,
                             "mode %#x: in-memory datasets are not supported",
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

/* Discards requests that no wait has completed. Returns NC_EPENDING if there were any. */
static int discard_pending(struct api_dataset *d)
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

    api_set_unready(d, true);
    struct trace_span span = trace_enter(d->ds.trace);
    int pending = discard_pending(d);
    if (d->defining)
        err = api_end_define_all(
            d, &(struct cdf_padding){.header_minfree = CDF_DEFAULT_PADDING});
    if (err == NC_NOERR && api_deferred_close_begin_all(d, span)) return pending;
    /* If enddef failed, abort: a new file without a header must not remain. */
    int closed = driver_call(d->top, close_all, d->defining);
    file_explain_replaced(&d->ds, closed);
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

    api_set_unready(d, true);
    if (d->defining && !d->fresh) { /* returns to the definitions in the file */
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
    return base_error_end(api_deferred_close_delete(api_path(filename), info));
}
