/* The driver of netCDF-4 datasets, at the bottom of their stacks.
 *
 * A process that only reads opens the file for itself, with any netCDF-C, and so does one
 * that has the dataset alone. Several processes write through a netCDF-C and an HDF5 that
 * were made for this very MPI (nc_create_par); where there are none a create, or an open
 * for writing, is NC_ENOTBUILT. Values are converted here, and netCDF-C gets them in the
 * types of their variables.
 *
 * Where several write, HDF5 wants some things done by all of them at once:
 * - definitions: all make the same calls, after enddef's agreement
 * - more records: the agreement of a put tells how many there are to be. Each record
 *   variable then gets as long by one collective write of a value of the last record, so
 *   that puts and gets go independently (nc4_extend_all). A put in independent mode
 *   cannot add records: NC_ECANTEXTEND
 * - variables with filters: rounds of collective calls; an agreement before each says
 *   which variable is next, and who has nothing of it moves nothing. In independent mode
 *   they cannot be accessed: NC_EINDEP
 *
 * HDF5 locks its files: one that a process has open for writing cannot be opened by
 * others meanwhile, NC_EHDFERR (HDF5_USE_FILE_LOCKING=FALSE in the environment: it can
 * be, and what is read may be half-written). Values pass through 4 MiB a process, in each
 * call.
 *
 * A redefinition that fails leaves what it has already done to the file (netCDF-C takes
 * nothing back), but for names and attributes, which get their old values. */
#ifndef NC4_DRIVER_H
#define NC4_DRIVER_H

#include "driver.h"
#include "nc4.h"

struct nc4 {
    struct driver base;
    struct nc4_file file;
    bool created;     /* made by us, and no enddef has completed yet */
    bool parallel;    /* open in all processes at once, to be written */
    int64_t extended; /* records that all record variables are known to have */
    bool *together;   /* of each variable: it has filters, and access is collective */
    bool any_together;
};

/* Finds out how each variable is to be accessed, after the definitions have changed.
 * NC_ENOMEM. */
int nc4_settle_access(struct nc4 *m);

/* All record variables have as many records; collective where the file is. Agreed. */
int nc4_extend_all(struct nc4 *m, int64_t records);

int nc4_put_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                int error);
int nc4_get_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                int error);
int nc4_put_alone(struct driver *self, struct access_request *const *reqs, int64_t n);
int nc4_get_alone(struct driver *self, struct access_request *const *reqs, int64_t n);

#endif
