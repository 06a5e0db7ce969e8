/* Filling variables: ordinary collective puts of the fill value. */
#ifndef DRIVER_FILL_H
#define DRIVER_FILL_H

#include "driver.h"

/* Fill, every process its share. Collective; the result is this process's own. */

/* All that is there of the variables from `first` on that are in fill mode. */
int driver_fill_new_all(struct driver *d, int first);

/* A record of a record variable, be it in fill mode or not; nothing where this process
 * has an error from before. */
int driver_fill_record_all(struct driver *d, int varid, int64_t rec, int error);

#endif
