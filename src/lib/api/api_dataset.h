/* An open dataset: its mode, its pending requests and its lock. Also declares the table
 * that maps ids to datasets. */
#ifndef API_DATASET_H
#define API_DATASET_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base_error.h"
#include "driver.h"

struct api_queue;

/* State of a dataset's deferred close. See api_deferred_close.c. */
enum api_close_state { API_OPEN, API_DEFERRED, API_ENDING };

struct api_dataset {
    struct dataset ds;
    struct driver *top;
    int ncid;
    bool fresh;               /* newly created; no enddef has completed yet */
    bool defining;            /* in define mode */
    bool indep;               /* in independent data mode */
    bool quantizes;           /* at least one variable is quantized */
    int fill_mode;            /* NC_FILL or NC_NOFILL, for variables defined later */
    struct cdf_header before; /* definitions saved before ncmpi_redef or a change in data
                               * mode */
    bool changing;            /* `before` is valid because a change in data mode is in
                               * progress */
    struct api_queue *queue;  /* pending nonblocking requests; NULL until the first one */
    int64_t number; /* unique number of the dataset, the same on all processes */
    enum api_close_state closing;
    bool unready;               /* it is being opened, or the last call on it has begun */
    _Atomic(const void *) user; /* identifies the thread that made the last call */
    atomic_bool draining;       /* another opening of the file drains the log */
    bool deleted;         /* this process deleted the file after the close was deferred */
    bool threads;         /* MPI was initialized with MPI_THREAD_MULTIPLE, so the lock
                           * is used */
    pthread_mutex_t lock; /* see api_lock */
};

/* Returns the path without a file-system prefix that MPI-IO understands ("lustre:/a").
 * Any other prefix is part of the file name ("a:b.nc"). */
const char *api_path(const char *path);

/* Identifies the calling thread. */
const void *api_this_thread(void);

/* Finds a dataset by its id. Every API call begins with this look-up. NC_EBADID. */
int api_find(int ncid, struct api_dataset **d);

/* Finds a dataset and checks that it is in define mode. NC_EBADID, NC_ENOTINDEFINE. */
int api_find_defining(int ncid, struct api_dataset **d);

/* Finds a dataset and checks that it is writable and in define mode. NC_EBADID, NC_EPERM,
 * NC_ENOTINDEFINE. */
int api_find_to_change(int ncid, struct api_dataset **d);

/* Under MPI_THREAD_MULTIPLE, several threads may access the data of one dataset, post
 * requests, wait for them and inquire. The lock protects everything that these calls
 * modify: the number of records, the queue, counters, and the state of all drivers. A
 * thread that changes definitions or modes must be the only one that uses the dataset.
 * Collective calls also acquire the lock, although only one thread at a time may make a
 * collective call on a dataset. At lower thread levels the lock is not used. */
static inline void api_lock(struct api_dataset *d)
{
    if (d->threads) pthread_mutex_lock(&d->lock);
}

static inline void api_unlock(struct api_dataset *d)
{
    if (d->threads) pthread_mutex_unlock(&d->lock);
}

/* Add a dataset to the table, which assigns its id, or remove it from the table.
 * NC_ENFILE, NC_ENOMEM. */
int api_enter(struct api_dataset *d);
void api_leave(struct api_dataset *d);

/* Returns the open dataset for which `fits` returns true, or NULL. No dataset leaves the
 * table meanwhile. */
struct api_dataset *api_find_open(bool (*fits)(void *dataset, void *of), void *of);

/* A dataset of this thread whose file is about to be opened again, and whose log may have
 * values that are not in the file. api_reopen_find returns the one with the lowest number
 * above `after`, locked, or NULL. If all processes have the same one (`common`),
 * api_reopen_end_all drains the log. It unlocks the dataset in any case. Collective; each
 * process returns its own error. */
struct api_dataset *api_reopen_find(const struct dataset *ds, int64_t after);
int api_reopen_end_all(struct api_dataset *before, bool common);

/* Records whether the dataset is being opened or ended. */
static inline void api_set_unready(struct api_dataset *d, bool unready)
{
    api_lock(d);
    d->unready = unready;
    api_unlock(d);
}

/* Frees a dataset and everything it owns, including its id. Does not free the structure
 * itself if d is `spare`. Collective. */
void api_release_all(struct api_dataset *d, const struct api_dataset *spare);

/* Writes the report and the trace, and releases the dataset. Called after the drivers
 * have closed its file with result err. Returns err, or an error from writing the report.
 * Collective. */
int api_end_all(struct api_dataset *d, int err);

/* Adds to info, as nc_unused_hints, the requested hints that cannot have an effect.
 * Local. NC_EMPI. */
int api_effects_info(const struct api_dataset *d, MPI_Info info);

/* Process 0 reports the requested hints that have had no effect. Collective if a hint was
 * requested. NC_EMPI. */
int api_effects_report_all(struct api_dataset *d);

/* Leaves define mode: agrees on the definitions, computes the layout, and writes the
 * header. Collective; same result on all processes. */
int api_end_define_all(struct api_dataset *d, const struct cdf_padding *room);

int api_check_name(const char *name);

/* Checks a type. NC_ESTRICTCDF2 if the dataset is a netCDF-4 file with the classic model,
 * which allows only CDF-2's types. */
static inline int api_check_strict(const struct api_dataset *d, int xtype)
{
    bool strict = d->ds.netcdf4 == NC_FORMAT_NETCDF4_CLASSIC && xtype > NC_DOUBLE;
    return strict && cdf_type_size(xtype) > 0 ? cdf_check_type(2, xtype) : NC_NOERR;
}

/* Checks that an object may be renamed from `old` to `name`. `taken` is true if another
 * object has the new name. In data mode the new name must not be longer, because the
 * header has no space to grow. NC_ENAMEINUSE, NC_ENOTINDEFINE, or an error code for an
 * invalid name. */
int api_check_rename(const struct api_dataset *d, const char *old, const char *name,
                     bool taken);

/* Begins a change to the definitions. In data mode, first saves the definitions, so that
 * they can be restored if any process fails. NC_ENOMEM. */
int api_begin_change(struct api_dataset *d);

/* Ends a change to the definitions whose result is err. In data mode the processes agree
 * on the result: process 0 then writes the header or, after an error, all processes
 * restore their definitions. Collective in data mode. */
int api_commit_all(struct api_dataset *d, int err);

/* Finds the value type of a basic MPI type. MPI_BYTE means the variable's type, xtype.
 * NC_EUNSPTETYPE. */
int api_conv_type(MPI_Datatype basic, int xtype, enum conv_type *type);

/* Returns a variable, or NULL if the id is invalid. */
static inline const struct cdf_var *api_var(const struct api_dataset *d, int varid)
{
    return varid < 0 || varid >= d->ds.header.nvars ? NULL : &d->ds.header.vars[varid];
}

/* Starts to prefetch the variables that the hint nc_stage_prefetch names. Local. */
void api_prefetch_hinted(struct api_dataset *d);

/* Sets a new variable's quantization from the hint nc_quantize. */
void api_quantize_hinted(struct api_dataset *d, int varid);

/* Adds the attribute that describes the quantization to each new quantized variable.
 * NC_ENOMEM. */
int api_quantize_add_attributes(struct api_dataset *d);

/* Determines from the attributes of an opened file which variables are quantized. */
void api_quantize_opened(struct api_dataset *d);

/* Sets d->quantizes. Call it after the processes have agreed on the definitions. */
void api_quantize_update(struct api_dataset *d);

/* Return the number of pending requests, and free the queue and its requests. */
int api_queue_pending(const struct api_queue *q);
void api_queue_free(struct api_queue *q);

#endif
