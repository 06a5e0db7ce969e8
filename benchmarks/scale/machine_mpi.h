/* Helpers for the simulated machine's MPI calls. */
#ifndef SCALE_MACHINE_MPI_H
#define SCALE_MACHINE_MPI_H

#include <mpi.h>

#include "machine_impl.h"

/* Converts errno to an MPI error. */
int machine_mpi_error(int number);

/* Sets the status of a transfer of `done` bytes and returns its MPI error code. If `done`
 * is negative, the transfer failed with errno. */
int machine_mpi_moved(int64_t done, MPI_Status *status);

/* Starts a read or write. MPI_Wait and similar calls accept the request. */
MPI_Request task_new(struct store_file *f, int64_t offset, void *bytes, int64_t n,
                     bool writing);

#endif
