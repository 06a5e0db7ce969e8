/* The driver for netCDF-4 datasets, at the bottom of their stack.
 *
 * With any netCDF-C, each process opens the file independently if it only reads or is the
 * dataset's only process. Several processes can write only if netCDF-C and HDF5 were
 * built for the same MPI (nc_create_par). Otherwise creating a file, or opening it for
 * writing, returns NC_ENOTBUILT. The driver converts values, and passes them to netCDF-C
 * in their variables' types.
 *
 * When several processes write, HDF5 requires some operations to be collective:
 * - Definitions: all processes make the same calls, after the agreement in enddef.
 * - New records: the agreement in a put determines the number of records. Each record
 *   variable is then extended by a collective write of one value in the last record, so
 *   that puts and gets can be independent (nc4_extend_all). In independent mode a put
 *   cannot add records: NC_ECANTEXTEND.
 * - Variables with filters: rounds of collective calls. An agreement before each round
 *   selects the variable. Processes without data for it transfer nothing. In independent
 *   mode these variables cannot be accessed: NC_EINDEP.
 *
 * HDF5 locks its files: if one process has a file open for writing, other programs cannot
 * open it (NC_EHDFERR). With HDF5_USE_FILE_LOCKING=FALSE in the environment they can, but
 * may then read incomplete data. Each process transfers values through a buffer of 4 MiB,
 * which each call allocates.
 *
 * A failed redefinition leaves the changes made so far in the file, because netCDF-C
 * cannot undo them. Only names and attributes are restored. */
#ifndef NC4_DRIVER_H
#define NC4_DRIVER_H

#include "driver.h"
#include "nc4.h"

struct nc4 {
    struct driver base;
    struct nc4_file file;
    bool created;     /* this job created the file, and no enddef has completed yet */
    bool parallel;    /* the file is open in parallel, for writing */
    int64_t extended; /* minimum number of records in each record variable */
    bool *filtered;   /* for each variable, whether its filters require collective
                       * access */
    bool any_filtered;
};

/* Determines how each variable is accessed. Must be called after the definitions have
 * changed. NC_NOERR, NC_ENOMEM. */
int nc4_set_access_modes(struct nc4 *m);

/* Extends all record variables to `records` records. Collective if the file is open in
 * parallel. All processes get the same result. */
int nc4_extend_all(struct nc4 *m, int64_t records);

int nc4_put_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                int error);
int nc4_get_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                int error);
int nc4_put_alone(struct driver *self, struct access_request *const *reqs, int64_t n);
int nc4_get_alone(struct driver *self, struct access_request *const *reqs, int64_t n);

#endif
