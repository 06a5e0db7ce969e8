/* Makes MPI calls fail in the calling process (see fault.h), and counts the MPI objects
 * that were not freed. To use it, add $(fault_mpi) to a test's sources.
 *
 * When a collective call is made to fail, it is executed nevertheless, because the other
 * processes must return from it. The object that it creates on this process is lost.
 * Calls that send or receive messages never fail, because without them the processes
 * could not agree on anything. */
#ifndef FAULT_MPI_H
#define FAULT_MPI_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether this process has lost an object since the last fault_mpi_sweep_all,
 * because a collective call that creates one was made to fail. If so, the other processes
 * may be unable to free theirs. */
bool fault_mpi_lost(void);

/* Returns whether any lost object was a window. If so, processes on other nodes can still
 * free their windows. */
bool fault_mpi_lost_window(void);

/* Stores in `text` a description of the objects that were not freed, and returns their
 * number. Lost objects do not count. */
int fault_mpi_left(char *text, size_t size);

/* Frees objects that are cached as communicator attributes, as MPI_Finalize would. */
void fault_mpi_end_all(void);

/* Frees all remaining and lost objects in the order in which they were created. */
void fault_mpi_sweep_all(void);

#endif
