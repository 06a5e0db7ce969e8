/* Fills variables by ordinary collective puts of the fill value. Each process puts its
 * share. Functions named _all are collective; their results may differ between
 * processes. */
#ifndef DRIVER_FILL_H
#define DRIVER_FILL_H

#include "driver.h"

/* Returns whether any nonempty variable numbered `first` or above is in fill mode. */
bool driver_has_fill(const struct cdf_header *h, int first);

/* Fills the variables numbered `first` and above that are in fill mode. No-op if
 * driver_has_fill finds none. */
int driver_fill_new_all(struct driver *d, int first);

/* Fills one record of a record variable, even if the variable is in no-fill mode. A
 * process that passes an error joins without values. */
int driver_fill_record_all(struct driver *d, int varid, int64_t rec, int error);

#endif
