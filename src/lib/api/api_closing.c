/* Closes that return when all is safe, in the log (hint nc_deferred_close) or in subfiles
 * (nc_blob_join=behind). Threads of the burst buffer bring it to the file meanwhile, or
 * of the driver blob to one file; what processes must do together for that, and the real
 * close, waits for a call that all of them make: create or open, of a dataset that has
 * such a hint, too, or of the same file; ncmpix_wait_closed; MPI_Finalize.
 *
 * Nobody waits for a process that is not in such a call. So create and open end the
 * datasets whose processes all take part, and they agree on each before they do, by a
 * number that it has had from its own create or open on: with several threads, one
 * process may have come further with a close than another. All end them in the order of
 * these numbers. */
#include "api_closing.h"

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

enum { MOST = 16 }; /* at a time: each has descriptors, communicators, memory */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct api_dataset *list[MOST];
static int listed;

/* ---- the list ---- */

/* With the lock. */
static struct api_dataset *find_closing(int64_t number)
{
    for (int i = 0; i < listed; i++)
        if (list[i]->number == number) return list[i];
    return NULL;
}

/* False: there is no room, or it could not be told from another one. */
static bool list_dataset(struct api_dataset *d)
{
    pthread_mutex_lock(&mutex);
    bool may = listed < MOST && find_closing(d->number) == NULL;
    if (may) list[listed++] = d;
    pthread_mutex_unlock(&mutex);
    return may;
}

/* With the lock. */
static void take_off_list(const struct api_dataset *d)
{
    int i = 0;
    while (i < listed && list[i] != d)
        i++;
    if (i < listed) list[i] = list[--listed];
}

/* It is open, or not at all, or its close was deferred. */
static void set_closing(struct api_dataset *d, enum api_closing state)
{
    pthread_mutex_lock(&mutex);
    d->closing = state;
    if (state == API_OPEN) take_off_list(d);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

/* The one with the least number of those that `fits` takes; NULL: there is none. With
 * the lock. */
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

/* ---- ending one ---- */

/* What went wrong with one or several, for who hears of it next. */
struct trouble {
    int err;   /* the first */
    bool mine; /* this process is the first of those that met with one of them */
    char words[1024];
};

static void keep_trouble(struct trouble *t, const struct dataset *ds, int err)
{
    char line[800];
    size_t n = strlen(t->words);
    const char *words = base_error_detail(err);
    snprintf(line, sizeof line, "%.300s, whose close was deferred: %.400s", ds->full,
             *words == '\0' ? base_error_text(err) : words);
    if (t->err == NC_NOERR) t->err = err;
    t->mine |= ds->rank == 0;
    snprintf(t->words + n, sizeof t->words - n, "%s%s", n > 0 ? "; " : "", line);
    trace_stats_tell(ds, line);
}

/* Its file is complete and closed, and it is no more. Collective over its processes. */
static void end_dataset_all(struct api_dataset *d, struct trouble *t)
{
    struct trace_span span = trace_enter(d->ds.trace);
    pthread_mutex_lock(&mutex);
    int64_t deleted = d->deleted;
    pthread_mutex_unlock(&mutex);
    int agreed = dataset_agree_all(&d->ds, NC_NOERR, NULL, &deleted, 1);
    d->ds.deleted = agreed == NC_NOERR && deleted;
    int err = driver_call(d->top, close_all, false);
    trace_leave(d->ds.trace, span, "deferred close", -1, err);
    if (err != NC_NOERR) keep_trouble(t, &d->ds, err);
    set_closing(d, API_OPEN);
    err = api_end_all(d, NC_NOERR);
    if (t->err == NC_NOERR) t->err = err; /* MPI's, of the report */
}

/* The same of the one with this number, if it is this process's, too; waits for another
 * thread that is at it. */
static void end_numbered_all(int64_t number, struct trouble *t)
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

/* Those that a process ends without others to agree with: all must mean the same. */
static int end_those_all(bool (*fits)(struct api_dataset *d, void *of), void *of,
                         struct trouble *t)
{
    for (;;) {
        pthread_mutex_lock(&mutex);
        struct api_dataset *d = first_of(fits, of);
        int64_t number = d == NULL ? 0 : d->number;
        pthread_mutex_unlock(&mutex);
        if (d == NULL) break;
        end_numbered_all(number, t);
    }
    return t->err == NC_NOERR ? NC_NOERR : base_error_set(t->err, "%s", t->words);
}

/* There is nobody else to tell. */
static void end_with_mpi_all(void *of)
{
    struct trouble t = {.err = NC_NOERR};
    if (end_those_all(is_any, of, &t) == NC_NOERR || !t.mine) return;
    char line[sizeof t.words + 64];
    int n = snprintf(line, sizeof line, "%s: %s\n", base_error_name(t.err), t.words);
    (void)base_write_on(STDERR_FILENO, line, (size_t)n);
}

/* ---- in close ---- */

/* Of a dataset that is there, or may come to be so. */
static bool is_guarded(const struct dataset *ds, bool may_have_subfiles)
{
    return ds->hints.deferred_close == BASE_ENABLE ||
           (ds->hints.blob_join == BASE_JOIN_BEHIND && may_have_subfiles);
}

bool api_closing_defer_all(struct api_dataset *d, struct trace_span span)
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
    dataset_owe(ds, failed); /* for the close to tell */
    if (deferred) {
        /* Not before: threads of some would hold up those that are still to come. */
        (void)driver_call(d->top, background.flush_start);
        api_leave(d);
        d->ncid = -1;
        trace_leave(ds->trace, span, "ncmpi_close", -1, NC_NOERR);
    }
    /* From here on another thread may end it. */
    set_closing(d, deferred ? API_DEFERRED : API_OPEN);
    return deferred;
}

/* ---- in create and open ---- */

static bool has_file(struct api_dataset *d, void *of)
{
    const struct dataset *ds = of;
    /* Where there is no memory for a path, nothing is opened. */
    return !d->deleted && ds->full != NULL && file_has(&d->ds, ds->full);
}

bool api_closing_is_due(const struct dataset *ds)
{
    pthread_mutex_lock(&mutex);
    bool due = listed > 0 &&
               first_of(is_guarded(ds, true) ? is_any : has_file, (void *)(intptr_t)ds);
    pthread_mutex_unlock(&mutex);
    return due;
}

bool api_closing_is_pending(void)
{
    pthread_mutex_lock(&mutex);
    bool pending = listed > 0;
    pthread_mutex_unlock(&mutex);
    return pending;
}

/* Are all processes of a part among those of another group? */
static int includes(MPI_Group all, MPI_Group part, bool *is)
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

struct crew {
    MPI_Group group;
    int mpi; /* the first result that is none of success */
};

static bool is_of_crew(struct api_dataset *d, void *of)
{
    struct crew *c = of;
    MPI_Group part;
    bool is = false;
    int mpi = MPI_Comm_group(d->ds.comm, &part);
    if (mpi == MPI_SUCCESS) {
        mpi = includes(c->group, part, &is);
        MPI_Group_free(&part);
    }
    if (c->mpi == MPI_SUCCESS) c->mpi = mpi;
    return mpi == MPI_SUCCESS && is;
}

/* The next dataset that these processes can end, as any of them knows; INT64_MAX: there
 * is none. Collective; agreed. */
static int next_all(struct dataset *ds, int64_t *number)
{
    struct crew c = {.mpi = MPI_Comm_group(ds->comm, &c.group)};
    *number = -INT64_MAX;
    if (c.mpi == MPI_SUCCESS) {
        pthread_mutex_lock(&mutex);
        const struct api_dataset *d = first_of(is_of_crew, &c);
        if (d != NULL) *number = -d->number;
        pthread_mutex_unlock(&mutex);
        MPI_Group_free(&c.group);
    }
    int err = base_mpi_error(c.mpi, NC_EMPI, "the processes of a deferred close");
    err = dataset_agree_all(ds, err, NULL, number, 1);
    *number = -*number;
    return err;
}

/* Its other processes are not here. */
static int in_the_way(struct dataset *ds)
{
    pthread_mutex_lock(&mutex);
    bool is = first_of(has_file, ds) != NULL;
    pthread_mutex_unlock(&mutex);
    if (!is) return NC_NOERR;
    return base_error_set(NC_EBADLOG,
                          "the close of %.300s was deferred, and it takes all processes "
                          "that had it open to complete it: they must call "
                          "ncmpix_wait_closed before",
                          ds->full);
}

int api_closing_make_way_all(struct dataset *ds)
{
    struct trouble t = {.err = NC_NOERR};
    int64_t number;
    int err;
    while ((err = next_all(ds, &number)) == NC_NOERR && number < INT64_MAX)
        end_numbered_all(number, &t);
    if (err != NC_NOERR) return err;
    if (t.err == NC_NOERR) {
        t.err = in_the_way(ds);
        snprintf(t.words, sizeof t.words, "%s", base_error_detail(t.err));
    }
    return api_share_report_all(ds, t.err, t.words, sizeof t.words, NULL, 0);
}

/* ---- waiting, deleting ---- */

static bool has_path(struct api_dataset *d, void *of)
{
    const char *full = of;
    return strcmp(d->ds.full, full) == 0 || file_has(&d->ds, full);
}

int ncmpix_wait_closed(const char *path)
{
    struct trouble t = {.err = NC_NOERR};
    char full[PATH_MAX];
    bool every = path == NULL || *path == '\0';
    base_path_absolute_to(every ? "" : api_path(path), full, sizeof full);
    return end_those_all(every ? is_any : has_path, full, &t);
}

/* A file with another name stays. */
int api_closing_delete(const char *path, MPI_Info info)
{
    bool is[MOST] = {false};
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < listed; i++)
        is[i] = list[i]->closing != API_OPEN && file_only(&list[i]->ds, path);
    int err = driver_delete(path, info);
    for (int i = 0; i < listed; i++)
        list[i]->deleted |= is[i] && err == NC_NOERR;
    pthread_mutex_unlock(&mutex);
    return err;
}
