/* Random MPI datatypes for the tests. */
#ifndef REGION_TYPES_H
#define REGION_TYPES_H

#include <mpi.h>

/* Some nesting of constructors over basic, a few levels deep; not committed. Free it
 * with types_free: it may be basic itself. The same on every process. */
MPI_Datatype types_random(int depth, MPI_Datatype basic);
void types_free(MPI_Datatype *type, MPI_Datatype basic);

/* Every constructor for itself: makes a type of old, or frees nothing and returns
 * MPI_DATATYPE_NULL where this MPI has no such. */
struct types_maker {
    const char *name;
    MPI_Datatype (*make)(MPI_Datatype old);
};
extern const struct types_maker types_makers[];
extern const int types_nmakers;

#endif
