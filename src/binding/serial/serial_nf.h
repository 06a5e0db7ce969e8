/* What the functions of netCDF-Fortran are made of. */
#ifndef SERIAL_NF_H
#define SERIAL_NF_H

#include "serial.h"

#pragma GCC visibility push(hidden)

enum { SERIAL_DIMS = 1024 }; /* netCDF's NC_MAX_VAR_DIMS */

/* A hyperslab as C has it: dimensions the other way round, counted from 0. */
struct serial_nf_slab {
    int varid;
    struct serial_slab slab;
    MPI_Offset room[4][SERIAL_DIMS];
};
void serial_nf_slab(struct serial_nf_slab *at, enum serial_kind kind, int ncid, int varid,
                    const int *start, const int *count, const int *stride,
                    const int *imap);

/* A length as an integer of Fortran, if it is one. */
int serial_length(MPI_Offset length, int *out);

/* A string without the blanks at its end, to be freed; NULL where memory is short. */
char *serial_nf_text_in(const char *text, F77_STRLEN len);

/* Fills text with a string and blanks behind it; what does not fit is left out. */
void serial_nf_text_out(char *text, F77_STRLEN len, const char *string);

#pragma GCC visibility pop

#endif
