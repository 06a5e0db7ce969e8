/* Table of open datasets, indexed by id. */
#include "api_errors.h"
#include "base_ids.h"
#include "pnetcdf.h"

static struct base_ids open_datasets = BASE_IDS_EMPTY;

const void *api_this_thread(void)
{
    static _Thread_local char here;
    return &here;
}

int api_find(int ncid, struct api_dataset **d)
{
    base_error_begin();
    *d = base_ids_find(&open_datasets, ncid);
    if (*d != NULL && (*d)->threads) {
        (*d)->user = api_this_thread();
        if ((*d)->draining) { /* waits until the drain has ended */
            api_lock(*d);
            api_unlock(*d);
        }
    }
    return *d == NULL ? base_error_set(NC_EBADID, "id %d", ncid) : NC_NOERR;
}

int api_find_defining(int ncid, struct api_dataset **d)
{
    int err = api_find(ncid, d);
    if (err != NC_NOERR) return err;
    return (*d)->defining ? NC_NOERR : api_refuse(*d, NC_ENOTINDEFINE);
}

int api_find_to_change(int ncid, struct api_dataset **d)
{
    int err = api_find_defining(ncid, d);
    if (err == NC_ENOTINDEFINE && !(*d)->ds.writable) err = api_refuse(*d, NC_EPERM);
    return err;
}

int api_enter(struct api_dataset *d)
{
    d->ncid = base_ids_enter(&open_datasets, d);
    return d->ncid < 0 ? NC_ENOMEM : NC_NOERR;
}

void api_leave(struct api_dataset *d)
{
    base_ids_leave(&open_datasets, d->ncid);
}

struct api_dataset *api_find_open(bool (*fits)(void *dataset, void *of), void *of)
{
    return base_ids_search(&open_datasets, fits, of);
}

int ncmpi_inq_files_opened(int *num, int *ncids)
{
    int open = base_ids_list(&open_datasets, ncids);
    if (num != NULL) *num = open;
    return NC_NOERR;
}
