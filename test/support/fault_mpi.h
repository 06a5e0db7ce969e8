/* Lets calls of MPI fail in the process that asks for it, as fault.h says, and counts
 * what MPI was asked for and not given back. Add $(fault_mpi) to a test's sources.
 *
 * A collective call that fails here is made all the same, so that the others come back
 * from it; what it made nobody is told of. Calls that carry messages do not fail: there
 * is no agreeing without them. */
#ifndef FAULT_MPI_H
#define FAULT_MPI_H

#include <stdbool.h>
#include <stddef.h>

/* Did a collective call fail here that makes something, so that the others may be left
 * with what they cannot free without this process? Since fault_mpi_sweep_all. */
bool fault_mpi_lost(void);

/* Was it a window? Those of other nodes can be freed. */
bool fault_mpi_lost_window(void);

/* What there is that was not given back, in words; how much. What was lost is not part of
 * it. */
int fault_mpi_left(char *text, size_t size);

/* What MPI does at its end to what is cached with a communicator. */
void fault_mpi_end_all(void);

/* Gives back all that is left and lost, in the order it was made. */
void fault_mpi_sweep_all(void);

#endif
