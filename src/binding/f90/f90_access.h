/* Behind the generic functions of module pnetcdf that move values of variables. Arguments
 * are those of Fortran: indices from 1, the fastest dimension first; descriptors and
 * pointers are NULL for what is not given.
 *
 * A generic function of module pnetcdf has one specific function for each type, which
 * takes values of any rank (Fortran 2018) and passes their descriptor on to C.
 * f90_access makes one flexible access of it, with the lists as Fortran has them:
 * api_access turns order and indices round while it copies them, so that a small put
 * costs hardly more; f90_values makes a section of an array an MPI datatype, so that
 * it is used where it lies. Nothing in the module needs Fortran's run-time library, so
 * programs in C need it neither. */
#ifndef F90_ACCESS_H
#define F90_ACCESS_H

#include "f90_values.h"

/* Which function; pnetcdf.f90.m4 has the same numbers. */
enum f90_mode {
    F90_PUT,
    F90_GET,
    F90_PUT_ALL,
    F90_GET_ALL,
    F90_IPUT,
    F90_IGET,
    F90_BPUT
};

/* A call: the function, the type of the values and, of text, the length. */
struct f90_call {
    int mode, type;
    int64_t len;
    int ncid, varid;
};

/* The lists of a hyperslab, and how many. */
enum { START, COUNT, STRIDE, MAP, LISTS };

/* The lists have given[START] ... given[MAP] elements, 0 where there is none. */
int f90_var(const struct f90_call *call, const int64_t given[LISTS],
            const CFI_cdesc_t *values, const MPI_Offset *start, const MPI_Offset *count,
            const MPI_Offset *stride, const MPI_Offset *map, const int64_t *bufcount,
            const int *buftype, int *req);
int f90_varn(const struct f90_call *call, const CFI_cdesc_t *values, int *req, int num,
             const CFI_cdesc_t *start, const CFI_cdesc_t *count);
int f90_vard(const struct f90_call *call, int filetype, const CFI_cdesc_t *buf,
             int64_t bufcount, int buftype);
/* all: collective. */
int f90_prefetch(int all, int ncid, int varid, const int64_t given[2],
                 const int64_t *start, const int64_t *count);

#endif
