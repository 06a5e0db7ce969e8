/* A dataset as the interface sees it, and the table that finds it by its id. */
#ifndef API_DATASET_H
#define API_DATASET_H

#include <pthread.h>
#include <stdbool.h>

#include "base_error.h"
#include "driver.h"

struct api_queue;

/* Closes that come later, see api_closing.c: whose turn it is. */
enum api_closing { API_OPEN, API_DEFERRED, API_ENDING };

struct api_dataset {
    struct dataset ds;
    struct driver *top;
    int ncid;
    bool fresh;               /* created, and no enddef yet */
    bool defining;            /* in define mode */
    bool indep;               /* in independent data mode */
    bool quantizes;           /* values of some variable, when they are put */
    int fill_mode;            /* of variables to come: NC_FILL or NC_NOFILL */
    struct cdf_header before; /* while redefining: the definitions as they were */
    bool changing;            /* the same of one change, in data mode */
    struct api_queue *queue;  /* pending nonblocking requests; NULL: never any */
    int64_t number;           /* the same on all, and another dataset's is another one */
    enum api_closing closing;
    bool deleted;         /* the file is, by this process, since close returned */
    bool threads;         /* MPI allows them: the lock is needed */
    pthread_mutex_t lock; /* see api_lock */
};

/* The path without a file-system prefix that MPI-IO knows ("lustre:/a"); others are
 * part of the name ("a:b.nc"). */
const char *api_path(const char *path);

/* A call begins that is about a dataset: finds it by its id. NC_EBADID. */
int api_find(int ncid, struct api_dataset **d);

/* The same, and in define mode, as what is open for reading never is: NC_ENOTINDEFINE. */
int api_find_defining(int ncid, struct api_dataset **d);

/* The same, for what tells of a dataset that is open for reading only: also NC_EPERM. */
int api_find_to_change(int ncid, struct api_dataset **d);

/* With MPI_THREAD_MULTIPLE threads may access the data of one dataset at the same time,
 * post requests, wait for them and ask. What that changes is looked at with the lock
 * held: number of records, queue, counters, and all that the drivers have. Who changes
 * definitions or modes must be alone with the dataset. Held too by collective calls,
 * which of one dataset only one thread can make at a time anyway. Without such threads
 * there is nothing to lock. */
static inline void api_lock(struct api_dataset *d)
{
    if (d->threads) pthread_mutex_lock(&d->lock);
}

static inline void api_unlock(struct api_dataset *d)
{
    if (d->threads) pthread_mutex_unlock(&d->lock);
}

/* Enters a dataset, which gets its id; takes it out again. NC_ENFILE, NC_ENOMEM. */
int api_enter(struct api_dataset *d);
void api_leave(struct api_dataset *d);

/* The end of a dataset whose file the drivers closed, or could not, with err. Returns
 * that, or what the report met with. Collective. */
int api_end_all(struct api_dataset *d, int err);

/* Leaves define mode: agrees on the definitions, lays them out, and has them written.
 * Collective; agreed. */
int api_end_define_all(struct api_dataset *d, const struct cdf_room *room);

/* May anything be called so? Name errors. */
int api_check_name(const char *name);

/* A netCDF-4 file of the classic model has the types of CDF-2: NC_ESTRICTCDF2. */
static inline int api_check_strict(const struct api_dataset *d, int xtype)
{
    bool strict = d->ds.netcdf4 == NC_FORMAT_NETCDF4_CLASSIC && xtype > NC_DOUBLE;
    return strict && cdf_type_size(xtype) > 0 ? cdf_check_type(2, xtype) : NC_NOERR;
}

/* May what is called `old` get this name, which may be taken? Outside define mode it must
 * not grow: the header has no room for it. Name errors, NC_ENAMEINUSE, NC_ENOTINDEFINE.
 */
int api_check_rename(const struct api_dataset *d, const char *old, const char *name,
                     bool taken);

/* Before the definitions change in any mode: in data mode they are kept, for the case
 * that some process cannot change them. NC_ENOMEM. */
int api_begin_change(struct api_dataset *d);

/* Ends a change of the definitions that met with err. In define mode that is all; in
 * data mode the processes agree and the header is written, or all have the definitions
 * that they had. Collective in data mode. */
int api_commit_all(struct api_dataset *d, int err);

/* The type of values in memory that an MPI type of one basic type stands for; MPI_BYTE
 * stands for whatever xtype is. NC_EUNSPTETYPE. */
int api_conv_type(MPI_Datatype basic, int xtype, enum conv_type *type);

/* The variable, or NULL if there is no such one. */
static inline const struct cdf_var *api_var(const struct api_dataset *d, int varid)
{
    return varid < 0 || varid >= d->ds.header.nvars ? NULL : &d->ds.header.vars[varid];
}

/* Has the driver begin with what the hint nc_stage_prefetch names. Local. */
void api_prefetch_hinted(struct api_dataset *d);

/* Has a new variable quantized if the hint nc_quantize says so. */
void api_quantize_hinted(struct api_dataset *d, int varid);

/* Gives the variables of this define phase that are quantized the attribute that says
 * how. NC_ENOMEM. */
int api_quantize_note(struct api_dataset *d);

/* Finds out from their attributes which variables of an opened file are quantized. */
void api_quantize_opened(struct api_dataset *d);

/* Keeps in d->quantizes whether there are any, once the definitions are agreed on. */
void api_quantize_settle(struct api_dataset *d);

/* Pending nonblocking requests; freeing forgets them. */
int api_queue_pending(const struct api_queue *q);
void api_queue_free(struct api_queue *q);

#endif
