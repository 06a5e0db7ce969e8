/* Helpers for the netCDF-Fortran functions. */
#ifndef SERIAL_NF_H
#define SERIAL_NF_H

#include "serial.h"

#pragma GCC visibility push(hidden)

enum { SERIAL_DIMS = 1024 }; /* netCDF's NC_MAX_VAR_DIMS */

/* A hyperslab in C order: dimensions are reversed, and indices start at 0. */
struct serial_nf_slab {
    int varid;
    struct serial_slab slab;
    MPI_Offset room[4][SERIAL_DIMS];
};
void serial_nf_slab(struct serial_nf_slab *at, enum serial_kind kind, int ncid, int varid,
                    const int *start, const int *count, const int *stride,
                    const int *imap);

/* Converts a length to a Fortran integer. Returns an error if the length is out of
 * range. */
int serial_length(MPI_Offset length, int *out);

/* Returns a copy of a string without trailing blanks, or NULL if out of memory. The
 * caller frees it. */
char *serial_nf_text_in(const char *text, F77_STRLEN len);

/* Fills `text` with a string and trailing blanks. Truncates a string that does not
 * fit. */
void serial_nf_text_out(char *text, F77_STRLEN len, const char *string);

#pragma GCC visibility pop

#endif
