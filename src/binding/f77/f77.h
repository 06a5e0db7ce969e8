/* nfmpi_*: the functions of pnetcdf.h for Fortran. Fortran counts ids, elements and
 * records from 1 and names the fastest dimension first; strings have a length and blanks
 * at their end; arguments are references. Each function here turns its arguments to what
 * C wants and calls its twin; all else is decided there.
 *
 * An error that is met here, memory that is short, must not keep a process from a
 * collective call: the C function is called all the same, with an id that is none. */
#ifndef F77_H
#define F77_H

#include <config.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <stddef.h>

/* Fortran calls without a prototype. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* What is defined in this room is called from outside, but for what is hidden below. */
#pragma GCC visibility push(hidden)

enum { F77_NAME_ROOM = NC_MAX_NAME + 2, F77_DIMS = 16 };

/* From Fortran's counting to C's. What is out of range stays so. */
static inline int f77_id(int id)
{
    return (int)((unsigned)id - 1U);
}
static inline MPI_Offset f77_index(MPI_Offset index)
{
    return (MPI_Offset)((unsigned long long)index - 1ULL);
}

/* Text as C has it, without the blanks at the end; cut where it is longer than there is
 * room. */
void f77_text_in(char *string, size_t size, const char *text, F77_STRLEN len);

/* A name as C has it: without the blanks at the end. One that is too long for a name is
 * cut so that it still is too long. */
void f77_name_in(char name[F77_NAME_ROOM], const char *text, F77_STRLEN len);

/* The same for strings of any length; NULL where memory is short. To be freed with
 * base_free. */
char *f77_path_in(const char *text, F77_STRLEN len);

/* Fills text with a string and blanks behind it; what does not fit is left out. */
void f77_text_out(char *text, F77_STRLEN len, const char *string);

/* The place of a hyperslab as C has it. */
struct f77_slab {
    int varid;
    const MPI_Offset *start, *count, *stride, *imap; /* NULL where none was given */
    int err;
    MPI_Offset room[4 * F77_DIMS], *more; /* more: where that is too small */
};
void f77_slab_make(struct f77_slab *at, int ncid, int varid, const MPI_Offset *start,
                   const MPI_Offset *count, const MPI_Offset *stride,
                   const MPI_Offset *imap);

/* The places of many: starts and counts are arrays of Fortran, (ndims, num). */
struct f77_list {
    int varid;
    MPI_Offset **starts, **counts;
    int err;
};
void f77_list_make(struct f77_list *at, int ncid, int varid, int num,
                   const MPI_Offset *starts, const MPI_Offset *counts);

/* Frees what was made; the result of the call, given that of the C function. */
int f77_slab_end(struct f77_slab *at, int err);
int f77_list_end(struct f77_list *at, int err);

#pragma GCC visibility pop
#pragma GCC visibility push(default)

#endif
