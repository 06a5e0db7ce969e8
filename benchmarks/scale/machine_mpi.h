/* MPI calls of the simulated machine. */
#ifndef SCALE_MACHINE_MPI_H
#define SCALE_MACHINE_MPI_H

#include <mpi.h>

#include "machine_impl.h"

/* What errno means in MPI's words. */
int machine_mpi_error(int number);

/* The result, and status, of a transfer of `done` bytes; done < 0: see errno. */
int machine_mpi_moved(int64_t done, MPI_Status *status);

/* Starts to read or write; MPI_Wait and the like know the request. */
MPI_Request task_new(struct store_file *f, int64_t offset, void *bytes, int64_t n,
                     bool writing);

#endif
