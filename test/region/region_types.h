/* Generates random MPI datatypes. */
#ifndef REGION_TYPES_H
#define REGION_TYPES_H

#include <mpi.h>

/* Returns a type built from `basic` by nested random constructors. The result is the same
 * on every process. It is not committed. Free it with types_free, because it may be
 * `basic` itself. */
MPI_Datatype types_random(int depth, MPI_Datatype basic);
void types_free(MPI_Datatype *type, MPI_Datatype basic);

/* A constructor, which builds a type from `old` without freeing `old`. Returns
 * MPI_DATATYPE_NULL if the MPI library does not have the constructor. */
struct types_maker {
    const char *name;
    MPI_Datatype (*make)(MPI_Datatype old);
};
extern const struct types_maker types_makers[];
extern const int types_nmakers;

#endif
