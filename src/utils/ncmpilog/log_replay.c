/* Replays logs, one dataset after another, with all processes together.
 *
 * Process 0 reads the name of the dataset from each log. Then, for each dataset, every
 * process opens its share of the logs, and all processes open the dataset, drain the logs
 * and, with -r, remove them. Process 0 then prints what was replayed. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_lock.h"
#include "base_mem.h"
#include "base_number.h"
#include "base_path.h"
#include "burst.h"
#include "log.h"
#include "node.h"
#include "util_message.h"

/* ---- assigning logs to datasets ---- */

static const char *dataset_in(struct burst_reader *r)
{
    const struct burst_header *h = burst_reader_header(r);
    return h->path[0] != '\0' ? h->path : h->basename;
}

/* Returns the path of the dataset that a log belongs to. If the log cannot be read,
 * returns NULL and sets *err. */
static const char *dataset_of(const char *path, const struct log_options *o, char *name,
                              int *err)
{
    struct burst_reader *r;
    if (o->dataset != NULL) return o->dataset;
    *err = burst_reader_open(path, BURST_READ_ANYBODYS, &r, NULL);
    if (*err != NC_NOERR) return NULL;
    snprintf(name, BURST_MAX_PATH, "%s", dataset_in(r));
    burst_reader_close(r);
    return name;
}

/* The logs, grouped by dataset. The plan is complete before the first log is replayed,
 * because replaying may remove logs. */
struct plan {
    char **datasets; /* on process 0: dataset of each log; NULL if unreadable */
    int *first;      /* for each log: index of the dataset's first log; -1 if unknown */
};

static void free_plan(const struct log_list *list, struct plan *p)
{
    for (int i = 0; p->datasets != NULL && i < list->n; i++)
        base_free(p->datasets[i]);
    base_free(p->datasets);
    base_free(p->first);
}

/* Adds log i to the plan. Called by process 0. Returns false if out of memory. */
static bool plan_log(const struct log_list *list, const struct log_options *o, int i,
                     struct plan *p, int *status)
{
    char name[BURST_MAX_PATH];
    int err = NC_NOERR;
    const char *dataset = dataset_of(list->paths[i], o, name, &err);
    p->first[i] = dataset == NULL ? -1 : i;
    if (dataset == NULL) {
        util_message(LOG_TOOL, list->paths[i], -1, "%s", base_error_text(err));
        *status = 1;
        return true;
    }
    p->datasets[i] = base_strdup(dataset);
    for (int k = i - 1; k >= 0 && p->first[i] == i; k--)
        if (p->datasets[k] != NULL && strcmp(p->datasets[k], dataset) == 0)
            p->first[i] = p->first[k];
    return p->datasets[i] != NULL;
}

/* Makes the plan. Returns 0 on success. Collective. */
static int make_plan_all(const struct log_list *list, const struct log_options *o,
                         struct plan *p, int *status)
{
    int rank, failed;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *p = (struct plan){base_calloc((size_t)list->n, sizeof(char *)),
                       base_calloc((size_t)list->n, sizeof(int))};
    bool good = p->datasets != NULL && p->first != NULL;
    for (int i = 0; rank == 0 && good && i < list->n; i++)
        good = plan_log(list, o, i, p, status);
    failed = !good;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!failed) MPI_Bcast(p->first, list->n, MPI_INT, 0, MPI_COMM_WORLD);
    return failed;
}

/* ---- one dataset ---- */

/* Logs that this process has opened. */
struct log_share {
    struct burst_reader **logs;
    int n;
};

static void show_progress(const struct burst *b, int64_t done, int64_t all)
{
    if (b->base.ds->rank == 0)
        fprintf(stderr, "\r%s: %" PRId64 " of %" PRId64 " rounds%s", b->base.ds->path,
                done, all, done == all ? "\n" : "");
}

/* Returns whether a log is for this dataset. A log that was unreadable when the plan was
 * made could belong to any dataset. If it is still unreadable, it prevents the replay of
 * every dataset. Otherwise it now names its dataset. */
static bool is_of(struct burst_reader *r, const struct log_options *o, int first,
                  const char *dataset)
{
    return o->dataset != NULL || first >= 0 || strcmp(dataset_in(r), dataset) == 0;
}

/* Opens this process's share of the logs of one dataset. `of` is the index of the
 * dataset's first log. */
static int open_share(const struct log_list *list, const struct log_options *o,
                      const int *first, int of, const struct dataset *ds,
                      struct log_share *share)
{
    int how = BURST_READ_LOCK | BURST_READ_ANYBODYS | (o->force ? BURST_READ_SEIZE : 0);
    int err = NC_NOERR;
    for (int i = 0; i < list->n && err == NC_NOERR; i++) {
        bool mine = o->dataset != NULL || first[i] == of || first[i] < 0;
        if (!mine || i % ds->nprocs != ds->rank) continue;
        struct burst_reader *r;
        int opened = burst_reader_open(list->paths[i], how, &r, NULL);
        if (opened == NC_NOERR && is_of(r, o, first[i], ds->path))
            share->logs[share->n++] = r;
        else if (opened == NC_NOERR)
            burst_reader_close(r);
        else if (!o->keep_going)
            err = opened;
    }
    return err;
}

/* Locks the dataset against other writers: process 0 acquires the lock that every program
 * holds while it has the dataset open for writing. If another program holds the lock,
 * retries for two seconds, because that program may be about to close the dataset. */
static int claim(const struct burst *b)
{
    enum { TRIES = 40 };
    if (b->base.ds->rank != 0 || b->file.handle.fd < 0) return NC_NOERR;
    for (int i = 0; i < TRIES; i++) {
        if (base_lock_try(b->file.handle.fd, BASE_LOCK_LAYOUT, true) != BASE_BUSY)
            return NC_NOERR;
        base_sleep_us(50000);
    }
    return base_error_set(NC_EFILE,
                          "%s is open for writing by another program; replay its logs "
                          "when that program has closed it",
                          b->file.path);
}

/* Initializes the fields that must be set before the dataset is opened. Error messages
 * about its logs name the directory of `log`. */
static int start_dataset(struct dataset *ds, const char *dataset, const char *log)
{
    MPI_Info info;
    struct hints_file none = {.name = NULL};
    memset(ds, 0, sizeof *ds);
    unsetenv("PNETCDF_HINTS");
    ds->comm = MPI_COMM_WORLD;
    ds->info = MPI_INFO_NULL;
    MPI_Comm_rank(ds->comm, &ds->rank);
    MPI_Comm_size(ds->comm, &ds->nprocs);
    ds->writable = true;
    ds->violations = base_violations();
    ds->path = base_strdup(dataset);
    ds->full_path = base_path_absolute(dataset);
    ds->node = node_new();
    cdf_init(&ds->header, 1);
    int mpi = MPI_Info_create(&info);
    if (mpi != MPI_SUCCESS || ds->path == NULL || ds->full_path == NULL ||
        ds->node == NULL)
        return NC_ENOMEM;
    int err = hints_read(&ds->hints, info, false, ds->full_path, &none, &ds->info);
    const char *end = strrchr(log, '/');
    if (end != NULL)
        snprintf(ds->hints.burst_dirname, sizeof ds->hints.burst_dirname, "%.*s",
                 end == log ? 1 : (int)(end - log), log);
    MPI_Info_free(&info);
    return err;
}

static int replay_all(struct burst *b, const struct log_options *o,
                      struct log_share *share)
{
    b->recover.by_hand = true;
    b->recover.any_file = o->force;
    b->recover.any_log = o->keep_going;
    b->drain.progress = o->quiet ? NULL : show_progress;
    int err = burst_share_error_all(b->base.ds, claim(b));
    if (err == NC_NOERR)
        err =
            burst_share_error_all(b->base.ds, burst_replay_all(b, share->logs, share->n));
    if (err == NC_NOERR)
        err = burst_share_error_all(
            b->base.ds, burst_replayed_all(b, share->logs, share->n, o->remove));
    return err;
}

/* Prints how many bytes were replayed, and how many logs were removed, unless the replay
 * failed. Returns the exit status. Collective. */
static int report_replay_all(const struct dataset *ds, const struct log_share *share,
                             const struct log_options *o, int err)
{
    enum { BYTES, LOGS, REMOVED, FAILED, NSUMS };
    int64_t sums[NSUMS] = {ds->stats.burst_replayed_bytes, share->n, 0, err != NC_NOERR};
    for (int i = 0; i < share->n; i++)
        sums[REMOVED] += access(burst_reader_path(share->logs[i]), F_OK) != 0;
    MPI_Allreduce(MPI_IN_PLACE, sums, NSUMS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (sums[FAILED] > 0) return 1;
    if (ds->rank != 0 || o->quiet || o->json) return 0;
    const char *logs = sums[LOGS] == 1 ? "log" : "logs";
    if (sums[BYTES] == 0)
        printf("%s: nothing to replay in %" PRId64 " %s", ds->path, sums[LOGS], logs);
    else
        printf("%s: replayed %" PRId64 " bytes from %" PRId64 " %s", ds->path,
               sums[BYTES], sums[LOGS], logs);
    if (o->remove) printf(", removed %" PRId64, sums[REMOVED]);
    if (printf("\n") > 0 && fflush(stdout) == 0) return 0;
    util_message(LOG_TOOL, NULL, -1, "standard output: %s", strerror(errno));
    return 2;
}

/* Opens the logs before the dataset, because the error about a log in use names the
 * process that uses it, while the error about a locked dataset does not. */
static int replay_dataset_all(const struct log_list *list, const struct log_options *o,
                              const int *first, int of, const char *dataset)
{
    struct dataset ds;
    struct driver *top = NULL;
    struct burst *b = NULL;
    struct log_share share = {base_calloc((size_t)list->n, sizeof(struct burst_reader *)),
                              0};
    char text[1024];
    int err = start_dataset(&ds, dataset, list->paths[of]);
    if (err == NC_NOERR)
        err =
            share.logs == NULL ? NC_ENOMEM : open_share(list, o, first, of, &ds, &share);
    err = burst_share_error_all(&ds, err);
    if (err == NC_NOERR) err = driver_open_all(&ds, NC_WRITE, &top);
    if (err == NC_NOERR) err = burst_attach_all(&ds, top, &b);
    if (err == NC_NOERR) err = replay_all(b, o, &share);
    snprintf(text, sizeof text, "%s", base_error_text(err));
    int closed = top != NULL ? driver_call(top, close_all, false) : NC_NOERR;
    if (err == NC_NOERR && closed != NC_NOERR)
        snprintf(text, sizeof text, "%s", base_error_text(err = closed));
    int status = report_replay_all(&ds, &share, o, err);
    if (b != NULL) burst_end_replay_checks(b);
    for (int i = 0; i < share.n; i++)
        burst_reader_close(share.logs[i]);
    if (b != NULL) burst_detach_all(b);
    if (err != NC_NOERR) util_message(LOG_TOOL, dataset, -1, "%s", text);
    node_leave_all(&ds);
    cdf_free(&ds.header);
    base_free(ds.path);
    base_free(ds.full_path);
    base_free(share.logs);
    if (ds.info != MPI_INFO_NULL) MPI_Info_free(&ds.info);
    return status;
}

int log_replay(const struct log_list *list, const struct log_options *o)
{
    struct plan p;
    int status = 0;
    if (list->n == 0) return 0;
    if (make_plan_all(list, o, &p, &status)) status = 2;
    for (int i = 0; status != 2 && i < list->n; i++) {
        char name[BURST_MAX_PATH] = "";
        if (p.first[i] != i) continue;
        if (p.datasets[i] != NULL) snprintf(name, sizeof name, "%s", p.datasets[i]);
        MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
        status |= replay_dataset_all(list, o, p.first, i, name);
    }
    free_plan(list, &p);
    return status;
}
