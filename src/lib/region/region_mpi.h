/* Converts MPI datatypes to regions. Only this part of the module uses MPI. */
#ifndef REGION_MPI_H
#define REGION_MPI_H

#include <mpi.h>

#include "region.h"

/* Decodes an MPI datatype: any nesting of constructors over one basic type. Sets *basic
 * to that predefined type, and *bytes to the number of data bytes in one instance.
 * *region contains the bytes of `count` instances, one extent apart, relative to the
 * buffer's address, in typemap order. If these bytes form a single run, region_is_block
 * returns true for the region. The datatype may be freed afterwards. NC_EMULTITYPES for
 * more than one basic type; NC_EUNSPTETYPE for a basic type without a counterpart here or
 * MPI_DATATYPE_NULL; NC_ENOMEM; NC_EINVAL for a negative count. */
int region_from_datatype(MPI_Datatype type, int64_t count, MPI_Datatype *basic,
                         int64_t *bytes, struct region **region);

/* Determines whether a datatype is predefined. NC_EUNSPTETYPE if MPI does not know the
 * type. Only this file queries datatypes, because MPI aborts the program if a type
 * created with large counts is queried without them. */
int region_datatype_named(MPI_Datatype type, bool *named);

#endif
