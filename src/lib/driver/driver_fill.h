/* Filling variables: ordinary collective puts of the fill value. */
#ifndef DRIVER_FILL_H
#define DRIVER_FILL_H

#include "driver.h"

/* Fills variables first <= id < last that are in fill mode, every process its share:
 * fixed-size ones whole, and nrecs records from rec on of record variables. Collective.
 * The result is this process's own. */
int driver_fill_all(struct driver *d, int first, int last, MPI_Offset rec,
                    MPI_Offset nrecs);

#endif
