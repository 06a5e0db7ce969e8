/* Presents netCDF-4 files, which netCDF-C reads, as struct util_classic. */
#ifndef UTIL_NC4_H
#define UTIL_NC4_H

#include <stdbool.h>
#include <stdint.h>

#include "util_classic.h"
#include "util_piece.h"

/* Returns whether the open file has HDF5's signature. */
bool util_nc4_is(const struct util_classic *c);

/* Reads the definitions and prints a line for each object that is omitted. Returns 0, or
 * -1 after printing an error. */
int util_nc4_open(struct util_classic *c);
void util_nc4_close(struct util_classic *c);

/* Returns UTIL_NC4 or UTIL_NC7. */
int util_nc4_format(const struct util_classic *c);

/* Reads a piece of a variable as external values. Returns 0, or -1 after printing an
 * error. */
int util_nc4_read(const struct util_classic *c, int varid, const struct util_piece *p,
                  void *external);

#endif
