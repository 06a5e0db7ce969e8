/* Replaying: the logs of one dataset after another, by all processes together. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_path.h"
#include "burst.h"
#include "log.h"
#include "util_message.h"

/* The dataset a log is for; NULL if the log cannot be read. */
static const char *dataset_of(const char *path, const struct log_options *o, char *name)
{
    struct burst_reader *r;
    if (o->dataset != NULL) return o->dataset;
    int err = burst_reader_open(path, BURST_READ_ANYBODYS, &r, NULL);
    if (err != NC_NOERR) return NULL;
    const struct burst_header *h = burst_reader_header(r);
    snprintf(name, BURST_MAX_PATH, "%s", h->path[0] != '\0' ? h->path : h->basename);
    burst_reader_close(r);
    return name;
}

static void show_progress(const struct burst *b, int64_t done, int64_t all)
{
    if (b->base.ds->rank == 0)
        fprintf(stderr, "\r%s: %" PRId64 " of %" PRId64 " rounds%s", b->base.ds->path,
                done, all, done == all ? "\n" : "");
}

/* This process's share of the logs of a dataset, opened. */
static int open_share(const struct log_list *list, const struct log_options *o,
                      const char *dataset, const struct driver_dataset *ds,
                      struct burst_reader **logs, int *n)
{
    int err = NC_NOERR;
    *n = 0;
    for (int i = 0; i < list->n && err == NC_NOERR; i++) {
        char name[BURST_MAX_PATH];
        const char *of = dataset_of(list->paths[i], o, name);
        if (i % ds->nprocs != ds->rank) continue;
        if (of != NULL && strcmp(of, dataset) != 0) continue;
        int opened = burst_reader_open(
            list->paths[i], BURST_READ_LOCK | BURST_READ_ANYBODYS, &logs[*n], NULL);
        if (opened == NC_NOERR)
            ++*n;
        else if (!o->keep_going)
            err = opened;
    }
    return err;
}

static int open_dataset(struct driver_dataset *ds, const char *dataset,
                        struct driver **top)
{
    MPI_Info info;
    struct base_hints_file none = {.name = NULL};
    memset(ds, 0, sizeof *ds);
    unsetenv("PNETCDF_HINTS");
    ds->comm = MPI_COMM_WORLD;
    ds->info = MPI_INFO_NULL;
    MPI_Comm_rank(ds->comm, &ds->rank);
    MPI_Comm_size(ds->comm, &ds->nprocs);
    ds->writable = true;
    ds->path = base_strdup(dataset);
    ds->full = base_path_absolute(dataset);
    cdf_init(&ds->header, 1);
    int mpi = MPI_Info_create(&info);
    if (mpi != MPI_SUCCESS || ds->path == NULL || ds->full == NULL) return NC_ENOMEM;
    int err = base_hints_read(&ds->hints, info, false, ds->full, &none, &ds->info);
    MPI_Info_free(&info);
    err = driver_agree_all(ds, err, NULL, NULL, 0);
    return err == NC_NOERR ? driver_open_all(ds, NC_WRITE, top) : err;
}

static int replay_dataset(const struct log_list *list, const struct log_options *o,
                          const char *dataset)
{
    struct driver_dataset ds;
    struct driver *top = NULL;
    struct burst *b = NULL;
    struct burst_reader **logs =
        base_calloc((size_t)list->n, sizeof(struct burst_reader *));
    int n = 0, err = open_dataset(&ds, dataset, &top);
    if (err == NC_NOERR) err = burst_attach_all(&ds, top, &b);
    if (err == NC_NOERR) {
        b->by_hand = true;
        b->any_file = o->force;
        b->any_log = o->keep_going;
        b->progress = o->quiet ? NULL : show_progress;
        err = driver_agree_all(&ds, open_share(list, o, dataset, &ds, logs, &n), NULL,
                               NULL, 0);
        if (err == NC_NOERR) err = burst_replay_all(b, logs, n);
        if (err == NC_NOERR) err = driver_sync_all(top);
    }
    char text[1024];
    snprintf(text, sizeof text, "%s", base_error_text(err));
    if (top != NULL) driver_close_all(top);
    if (err == NC_NOERR && b != NULL && !o->remove) (void)burst_replayed(b, logs, n);
    for (int i = 0; i < n; i++) {
        if (err == NC_NOERR && o->remove) burst_reader_remove(logs[i]);
        burst_reader_close(logs[i]);
    }
    if (b != NULL) burst_detach_all(b);
    if (err != NC_NOERR && (ds.rank == 0 || n > 0))
        util_message(LOG_TOOL, dataset, -1, "%s", text);
    cdf_free(&ds.header);
    base_free(ds.path);
    base_free(ds.full);
    base_free(logs);
    if (ds.info != MPI_INFO_NULL) MPI_Info_free(&ds.info);
    return err == NC_NOERR ? 0 : 1;
}

/* Was the dataset of log i that of an earlier one? */
static bool seen(const struct log_list *list, const struct log_options *o, int i,
                 const char *dataset)
{
    char name[BURST_MAX_PATH];
    for (int k = 0; k < i; k++) {
        const char *of = dataset_of(list->paths[k], o, name);
        if (of != NULL && strcmp(of, dataset) == 0) return true;
    }
    return false;
}

int log_replay(const struct log_list *list, const struct log_options *o)
{
    int status = 0;
    for (int i = 0; i < list->n; i++) {
        char name[BURST_MAX_PATH];
        const char *dataset = dataset_of(list->paths[i], o, name);
        if (dataset == NULL) {
            util_message(LOG_TOOL, list->paths[i], -1, "%s", base_error_text(NC_EBADLOG));
            status = 1;
        } else if (!seen(list, o, i, dataset)) {
            status |= replay_dataset(list, o, dataset);
        }
    }
    return status;
}
