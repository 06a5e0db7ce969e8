/* netCDF-4 files, which netCDF-C reads, behind struct util_classic. */
#ifndef UTIL_NC4_H
#define UTIL_NC4_H

#include <stdbool.h>
#include <stdint.h>

#include "util_classic.h"
#include "util_piece.h"

/* Has the open file HDF5's signature? */
bool util_nc4_is(const struct util_classic *c);

/* Reads the definitions, and names what is left out. 0, or -1 after an error line. */
int util_nc4_open(struct util_classic *c);
void util_nc4_close(struct util_classic *c);

/* One of UTIL_NC4 and UTIL_NC7. */
int util_nc4_format(const struct util_classic *c);

/* Reads a piece of a variable as external values. 0, or -1 after an error line. */
int util_nc4_read(const struct util_classic *c, int varid, const struct util_piece *p,
                  void *external);

#endif
