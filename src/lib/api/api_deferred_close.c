/* Deferred closes return as soon as all values are safe: in the log (hint
 * nc_deferred_close) or in subfiles (nc_blob_join=behind). In the background,
 * burst-buffer threads write the values to the file, or blob-driver threads join the
 * subfiles. All of a dataset's processes complete the close collectively in their next
 * call to create or open (a dataset with such a hint, or the same file),
 * ncmpix_wait_closed, or MPI_Finalize.
 *
 * A process must never wait for another process that is not in such a call. Create and
 * open therefore complete only datasets whose processes all take part in the call. With
 * several threads, one process may have progressed further with a close than another, so
 * the processes first agree on each dataset. They identify it by a number assigned when
 * it was created or opened, and complete the datasets in the order of these numbers. */
#include "api_deferred_close.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api_safe.h"
#include "base_io.h"
#include "base_mpi.h"
#include "base_path.h"
#include "file_identity.h"
#include "pnetcdf_ext.h"

enum { MOST = 16 }; /* limit, because each one uses descriptors and communicators */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct api_dataset *list[MOST];
static int listed;

/* ---- the list ---- */

/* Returns the listed dataset with this number, or NULL. The caller holds the lock. */
static struct api_dataset *find_closing(int64_t number)
{
    for (int i = 0; i < listed; i++)
        if (list[i]->number == number) return list[i];
    return NULL;
}

/* Adds a dataset to the list. Returns false if the list is full or already contains this
 * number. */
static bool list_dataset(struct api_dataset *d)
{
    pthread_mutex_lock(&mutex);
    bool may = listed < MOST && find_closing(d->number) == NULL;
    if (may) list[listed++] = d;
    pthread_mutex_unlock(&mutex);
    return may;
}

/* Removes a dataset from the list. The caller holds the lock. */
static void remove_from_list(const struct api_dataset *d)
{
    int i = 0;
    while (i < listed && list[i] != d)
        i++;
    if (i < listed) list[i] = list[--listed];
}

/* Sets a dataset's close state and wakes the threads that wait for it to change. */
static void set_closing(struct api_dataset *d, enum api_close_state state)
{
    pthread_mutex_lock(&mutex);
    d->closing = state;
    if (state == API_OPEN) remove_from_list(d);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

/* Returns the listed dataset with the lowest number for which `fits` returns true, or
 * NULL if there is none. The caller holds the lock. */
static struct api_dataset *first_of(bool (*fits)(struct api_dataset *d, void *of),
                                    void *of)
{
    struct api_dataset *first = NULL;
    for (int i = 0; i < listed; i++)
        if (list[i]->closing != API_OPEN &&
            (first == NULL || list[i]->number < first->number) && fits(list[i], of))
            first = list[i];
    return first;
}

/* ---- completing a close ---- */

/* Errors from deferred closes, reported by the call that completes them. */
struct close_error {
    int err;   /* the first error, or NC_NOERR */
    bool mine; /* this process has rank 0 in a dataset with an error */
    char message[1024];
};

static void merge_close_error(struct close_error *t, const struct dataset *ds, int err)
{
    char line[800];
    size_t n = strlen(t->message);
    const char *message = base_error_detail(err);
    snprintf(line, sizeof line, "deferred close of %.300s: %.400s", ds->full_path,
             *message == '\0' ? base_error_text(err) : message);
    if (t->err == NC_NOERR) t->err = err;
    t->mine |= ds->rank == 0;
    snprintf(t->message + n, sizeof t->message - n, "%s%s", n > 0 ? "; " : "", line);
    trace_stats_add_line(ds, line);
}

/* Completes the file, closes it and frees the dataset. Collective over the dataset's
 * processes. */
static void end_dataset_all(struct api_dataset *d, struct close_error *t)
{
    struct trace_span span = trace_enter(d->ds.trace);
    pthread_mutex_lock(&mutex);
    int64_t deleted = d->deleted;
    pthread_mutex_unlock(&mutex);
    int agreed = dataset_agree_all(&d->ds, NC_NOERR, NULL, &deleted, 1);
    d->ds.deleted = agreed == NC_NOERR && deleted;
    int err = driver_call(d->top, close_all, false);
    trace_leave(d->ds.trace, span, "deferred close", -1, err);
    if (err != NC_NOERR) merge_close_error(t, &d->ds, err);
    set_closing(d, API_OPEN);
    err = api_end_all(d, NC_NOERR);
    if (t->err == NC_NOERR) t->err = err; /* MPI error while writing the report */
}

/* Completes the dataset with this number if it is on this process's list. If another
 * thread is already completing it, waits for that thread instead. */
static void end_numbered_all(int64_t number, struct close_error *t)
{
    struct api_dataset *d;
    pthread_mutex_lock(&mutex);
    while ((d = find_closing(number)) != NULL && d->closing != API_DEFERRED)
        pthread_cond_wait(&changed, &mutex);
    if (d != NULL) d->closing = API_ENDING;
    pthread_mutex_unlock(&mutex);
    if (d != NULL) end_dataset_all(d, t);
}

static bool is_any(struct api_dataset *d, void *of)
{
    (void)d, (void)of;
    return true;
}

/* Completes all datasets for which `fits` returns true. The processes do not agree on the
 * list first, so all of a dataset's processes must select it. */
static int end_matching_all(bool (*fits)(struct api_dataset *d, void *of), void *of,
                            struct close_error *t)
{
    for (;;) {
        pthread_mutex_lock(&mutex);
        struct api_dataset *d = first_of(fits, of);
        int64_t number = d == NULL ? 0 : d->number;
        pthread_mutex_unlock(&mutex);
        if (d == NULL) break;
        end_numbered_all(number, t);
    }
    return t->err == NC_NOERR ? NC_NOERR : base_error_set(t->err, "%s", t->message);
}

/* Completes all datasets when MPI ends. Prints their errors to standard error, since no
 * later call could return them. */
static void end_with_mpi_all(void *of)
{
    struct close_error t = {.err = NC_NOERR};
    if (end_matching_all(is_any, of, &t) == NC_NOERR || !t.mine) return;
    char line[sizeof t.message + 64];
    int n = snprintf(line, sizeof line, "%s: %s\n", base_error_name(t.err), t.message);
    (void)base_write_stream(STDERR_FILENO, line, (size_t)n);
}

/* ---- called by close ---- */

/* Returns whether the dataset's hints request a deferred close. */
static bool is_guarded(const struct dataset *ds, bool may_have_subfiles)
{
    return ds->hints.deferred_close == HINTS_ENABLE ||
           (ds->hints.blob_join == HINTS_JOIN_BACKGROUND && may_have_subfiles);
}

bool api_deferred_close_begin_all(struct api_dataset *d, struct trace_span span)
{
    struct dataset *ds = &d->ds;
    if (!is_guarded(ds, ds->base > 0) || !ds->writable) return false;
    driver_call(d->top, background.prepare_close_all);
    bool entered = list_dataset(d);
    int64_t cannot = !entered ||
                     !base_mpi_at_end(BASE_END_DATASETS, end_with_mpi_all, NULL) ||
                     driver_call(d->top, background.defer) != DRIVER_LATER;
    int failed, err = dataset_agree_all(ds, NC_NOERR, &failed, &cannot, 1);
    bool deferred = err == NC_NOERR && failed == NC_NOERR && !cannot;
    dataset_defer_error(ds, failed); /* the close reports it */
    if (deferred) {
        ds->effects.facts |= HINTS_DEFERRED;
        /* The flush starts only after the agreement, which busy background threads would
         * delay. */
        (void)driver_call(d->top, background.flush_start);
        api_leave(d);
        d->ncid = -1;
        trace_leave(ds->trace, span, "ncmpi_close", -1, NC_NOERR);
    }
    /* From now on another thread may complete the close. */
    set_closing(d, deferred ? API_DEFERRED : API_OPEN);
    return deferred;
}

/* ---- called by create and open ---- */

static bool has_file(struct api_dataset *d, void *of)
{
    const struct dataset *ds = of;
    /* If the path could not be allocated, the open fails anyway. */
    return !d->deleted && ds->full_path != NULL && file_is_at_path(&d->ds, ds->full_path);
}

bool api_deferred_close_is_due(const struct dataset *ds)
{
    pthread_mutex_lock(&mutex);
    bool due = listed > 0 &&
               first_of(is_guarded(ds, true) ? is_any : has_file, (void *)(intptr_t)ds);
    pthread_mutex_unlock(&mutex);
    return due;
}

bool api_deferred_close_is_pending(void)
{
    pthread_mutex_lock(&mutex);
    bool pending = listed > 0;
    pthread_mutex_unlock(&mutex);
    return pending;
}

/* Determines whether all processes of `part` are in `all`. Returns an MPI error code. */
static int group_includes(MPI_Group all, MPI_Group part, bool *is)
{
    enum { SOME = 64 };
    int n, mpi = MPI_Group_size(part, &n);
    *is = true;
    for (int at = 0; at < n && *is && mpi == MPI_SUCCESS; at += SOME) {
        int ranks[SOME], there[SOME], some = n - at < SOME ? n - at : SOME;
        for (int i = 0; i < some; i++)
            ranks[i] = at + i;
        mpi = MPI_Group_translate_ranks(part, some, ranks, all, there);
        for (int i = 0; i < some && mpi == MPI_SUCCESS; i++)
            *is = *is && there[i] != MPI_UNDEFINED;
    }
    return mpi;
}

/* The processes that call create or open. */
struct callers {
    MPI_Group group;
    int mpi; /* the first MPI error, or MPI_SUCCESS */
};

/* Returns whether all processes of a dataset are among the callers. */
static bool belongs_to_callers(struct api_dataset *d, void *of)
{
    struct callers *c = of;
    MPI_Group part;
    bool is = false;
    int mpi = MPI_Comm_group(d->ds.comm, &part);
    if (mpi == MPI_SUCCESS) {
        mpi = group_includes(c->group, part, &is);
        MPI_Group_free(&part);
    }
    if (c->mpi == MPI_SUCCESS) c->mpi = mpi;
    return mpi == MPI_SUCCESS && is;
}

/* Sets *number to the lowest number of any dataset that the calling processes can
 * complete together; INT64_MAX if none. Collective; same result on all processes. */
static int next_all(struct dataset *ds, int64_t *number)
{
    struct callers c = {.mpi = MPI_Comm_group(ds->comm, &c.group)};
    *number = -INT64_MAX;
    if (c.mpi == MPI_SUCCESS) {
        pthread_mutex_lock(&mutex);
        const struct api_dataset *d = first_of(belongs_to_callers, &c);
        if (d != NULL) *number = -d->number;
        pthread_mutex_unlock(&mutex);
        MPI_Group_free(&c.group);
    }
    int err =
        base_mpi_error(c.mpi, NC_EMPI, "checking the processes of a deferred close");
    err = dataset_agree_all(ds, err, NULL, number, 1);
    *number = -*number;
    return err;
}

/* Returns NC_EBADLOG if the file has a deferred close that needs other processes. */
static int check_no_pending_close(struct dataset *ds)
{
    pthread_mutex_lock(&mutex);
    bool is = first_of(has_file, ds) != NULL;
    pthread_mutex_unlock(&mutex);
    if (!is) return NC_NOERR;
    return base_error_set(
        NC_EBADLOG,
        "the deferred close of %.300s is not complete; call ncmpix_wait_closed first, on "
        "all processes that had the file open",
        ds->full_path);
}

int api_deferred_close_end_all(struct dataset *ds)
{
    struct close_error t = {.err = NC_NOERR};
    int64_t number;
    int err;
    while ((err = next_all(ds, &number)) == NC_NOERR && number < INT64_MAX)
        end_numbered_all(number, &t);
    if (err != NC_NOERR) return err;
    if (t.err == NC_NOERR) {
        t.err = check_no_pending_close(ds);
        snprintf(t.message, sizeof t.message, "%s", base_error_detail(t.err));
    }
    return api_share_report_all(ds, t.err, t.message, sizeof t.message, NULL, 0);
}

/* ---- waiting, deleting ---- */

static bool has_path(struct api_dataset *d, void *of)
{
    const char *full = of;
    return strcmp(d->ds.full_path, full) == 0 || file_is_at_path(&d->ds, full);
}

int ncmpix_wait_closed(const char *path)
{
    struct close_error t = {.err = NC_NOERR};
    char full[PATH_MAX];
    bool every = path == NULL || *path == '\0';
    base_path_absolute_to(every ? "" : api_path(path), full, sizeof full);
    return end_matching_all(every ? is_any : has_path, full, &t);
}

/* Pending data are still written if the file has another hard link. */
int api_deferred_close_delete(const char *path, MPI_Info info)
{
    bool is[MOST] = {false};
    pthread_mutex_lock(&mutex);
    bool owned = false;
    for (int i = 0; i < listed; i++) {
        is[i] = list[i]->closing != API_OPEN && file_is_only_at_path(&list[i]->ds, path);
        owned = owned || is[i];
    }
    int err = driver_delete(path, info, owned);
    for (int i = 0; i < listed; i++)
        list[i]->deleted |= is[i] && err == NC_NOERR;
    pthread_mutex_unlock(&mutex);
    return err;
}
