/* C functions that implement the generic functions with which module pnetcdf accesses
 * variable values. They take Fortran's arguments: indices start at 1, and the fastest
 * dimension comes first. Descriptors and pointers are NULL for absent arguments.
 *
 * A generic function of module pnetcdf has one specific function for each type. That
 * function takes values of any rank (Fortran 2018), and passes their descriptor to C.
 * f90_access.c makes one flexible access, with the lists in Fortran order. api_access
 * converts the order and the indices while it copies the lists, so a small put costs
 * hardly more than in C. f90_values.c describes an array section as an MPI datatype, so
 * the section is accessed in place. None of this uses Fortran's run-time library, so C
 * programs do not need that library. */
#ifndef F90_ACCESS_H
#define F90_ACCESS_H

#include "f90_values.h"

/* The operation. pnetcdf.f90.m4 contains the same numbers. */
enum f90_mode {
    F90_PUT,
    F90_GET,
    F90_PUT_ALL,
    F90_GET_ALL,
    F90_IPUT,
    F90_IGET,
    F90_BPUT
};

/* Describes a call: the operation, the value type and, for text, the string length. */
struct f90_call {
    int mode, type;
    int64_t len;
    int ncid, varid;
};

/* Indices of the lists that describe a hyperslab; LISTS is the number of lists. */
enum { START, COUNT, STRIDE, MAP, LISTS };

/* given[START] ... given[MAP] are the lengths of the lists, or 0 if a list is absent. */
int f90_var(const struct f90_call *call, const int64_t given[LISTS],
            const CFI_cdesc_t *values, const MPI_Offset *start, const MPI_Offset *count,
            const MPI_Offset *stride, const MPI_Offset *map, const int64_t *bufcount,
            const int *buftype, int *req);
int f90_varn(const struct f90_call *call, const CFI_cdesc_t *values, int *req, int num,
             const CFI_cdesc_t *start, const CFI_cdesc_t *count);
int f90_vard(const struct f90_call *call, int filetype, const CFI_cdesc_t *buf,
             int64_t bufcount, int buftype);
/* Fills `text` with the message for an error and trailing blanks. Returns NC_ESTS if the
 * message does not fit. */
int f90_message(int err, char *text, int64_t len);
/* Prefetches a hyperslab. Collective if `all` is true. */
int f90_prefetch(int all, int ncid, int varid, const int64_t given[2],
                 const int64_t *start, const int64_t *count);

#endif
