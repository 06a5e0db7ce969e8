/* Regions and MPI datatypes: the one place where region meets MPI. */
#ifndef REGION_MPI_H
#define REGION_MPI_H

#include <mpi.h>

#include "region.h"

/* Takes an MPI datatype apart, any nesting of constructors over one basic type.
 * *basic is that type (a predefined one), *bytes how many bytes of data one instance
 * has, and *region where they lie, for `count` instances an extent apart, relative to
 * the buffer's address, in typemap order. A type that is one run gives a region
 * for which region_is_block holds. The datatype may be freed afterwards.
 * NC_EMULTITYPES: more than one basic type; NC_EUNSPTETYPE: one without a counterpart
 * here, or MPI_DATATYPE_NULL; NC_ENOMEM; NC_EINVAL for a negative count. */
int region_from_datatype(MPI_Datatype type, int64_t count, MPI_Datatype *basic,
                         int64_t *bytes, struct region **region);

/* Whether a datatype is one of MPI's own, which no constructor made. NC_EUNSPTETYPE: MPI
 * does not know it. MPI's questions about datatypes are asked here only: one made by a
 * large-count constructor must be asked about by a large-count function, and ends the
 * program otherwise. */
int region_datatype_named(MPI_Datatype type, bool *named);

#endif
