/* nfmpi_*: the functions in pnetcdf.h for Fortran. In Fortran, ids, elements and records
 * are numbered from 1, the fastest dimension comes first, strings have a length and
 * trailing blanks, and arguments are passed by reference. Each function converts its
 * arguments and calls the C function with the same name, which does everything else.
 *
 * If a conversion fails, for example because memory is exhausted, the process must still
 * make a collective call. It therefore calls the C function nevertheless, with an invalid
 * id. */
#ifndef F77_H
#define F77_H

#include <config.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <stddef.h>

/* No prototypes: only Fortran calls these functions. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* Functions in this module are public, except for those declared below. */
#pragma GCC visibility push(hidden)

enum { F77_NAME_ROOM = NC_MAX_NAME + 2, F77_DIMS = 16 };

/* Converts an id from Fortran to C. Invalid ids remain invalid. */
static inline int f77_id(int id)
{
    return (int)((unsigned)id - 1U);
}
static inline MPI_Offset f77_index(MPI_Offset index)
{
    return (MPI_Offset)((unsigned long long)index - 1ULL);
}

/* Copies Fortran text to a C string without its trailing blanks. Truncates text that does
 * not fit. */
void f77_text_in(char *string, size_t size, const char *text, F77_STRLEN len);

/* Copies a name to a C string without its trailing blanks. A name that is too long is
 * truncated, but remains longer than any valid name. */
void f77_name_in(char name[F77_NAME_ROOM], const char *text, F77_STRLEN len);

/* Like f77_text_in, for strings of any length. Returns NULL if out of memory. The caller
 * frees the result with base_free. */
char *f77_path_in(const char *text, F77_STRLEN len);

/* Fills `text` with a string and trailing blanks. Truncates a string that does not
 * fit. */
void f77_text_out(char *text, F77_STRLEN len, const char *string);

/* A hyperslab in C order. */
struct f77_slab {
    int varid;
    const MPI_Offset *start, *count, *stride, *imap; /* NULL if absent */
    int err;
    MPI_Offset room[4 * F77_DIMS], *more; /* `more` is allocated if `room` is too small */
};
void f77_slab_make(struct f77_slab *at, int ncid, int varid, const MPI_Offset *start,
                   const MPI_Offset *count, const MPI_Offset *stride,
                   const MPI_Offset *imap);

/* A list of hyperslabs. In Fortran, starts and counts are arrays of shape (ndims,
 * num). */
struct f77_list {
    int varid;
    MPI_Offset **starts, **counts;
    int err;
};
void f77_list_make(struct f77_list *at, int ncid, int varid, int num,
                   const MPI_Offset *starts, const MPI_Offset *counts);

/* Free the memory. Return the result of the call, given the result err of the C
 * function. */
int f77_slab_end(struct f77_slab *at, int err);
int f77_list_end(struct f77_list *at, int err);

#pragma GCC visibility pop
#pragma GCC visibility push(default)

#endif
