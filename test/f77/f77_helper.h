/* Declares the functions of f77_helper.c and f77_twin_c.c under the names by which
 * Fortran programs call them. */
#ifndef F77_HELPER_H
#define F77_HELPER_H

#include <config.h>
#include <pnetcdf.h>
#include <stddef.h>

int F77_NAME(helper_write_var, HELPER_WRITE_VAR)(const int *ncid, const int *varid,
                                                 const int *text, const int *n,
                                                 const int *values);
int F77_NAME(helper_read_var, HELPER_READ_VAR)(const int *ncid, const int *varid,
                                               const int *text, const int *n,
                                               int *values);
int F77_NAME(helper_same_files, HELPER_SAME_FILES)(const char *text, const char *other,
                                                   F77_STRLEN len, F77_STRLEN other_len);

/* Writes, in C, the same file as f77_twin.f. */
int F77_NAME(helper_twin_file, HELPER_TWIN_FILE)(const char *text, const int *cmode,
                                                 F77_STRLEN len);

#endif
