/* The values that a Fortran caller passes: an array of any rank, or a section of one. */
#ifndef F90_VALUES_H
#define F90_VALUES_H

#include <ISO_Fortran_binding.h>
#include <mpi.h>
#include <stdbool.h>

/* The types of values; pnetcdf.f90.m4 has the same numbers. */
enum f90_type { F90_TEXT, F90_INT1, F90_INT2, F90_INT4, F90_INT8, F90_REAL4, F90_REAL8 };

/* Text has its characters for a first dimension. */
struct f90_values {
    void *base;
    MPI_Datatype type; /* of an element */
    MPI_Offset width;  /* its bytes */
    int rank;
    MPI_Offset extent[CFI_MAX_RANK + 1];
    MPI_Offset step[CFI_MAX_RANK + 1]; /* bytes between neighbours */
    MPI_Offset size;                   /* elements; -1 where the caller does not know */
    bool contiguous;
};

/* What values of a type are for MPI. */
extern const struct f90_type_row {
    MPI_Datatype type;
    int width;
} f90_types[];

/* Reads a descriptor; len is the length of text, otherwise unused: the elem_len of text
 * is not to be trusted, gfortran 12 gets it wrong for substrings. Every put comes here,
 * small ones too, so it is made part of its callers. */
static inline void f90_describe(const CFI_cdesc_t *values, enum f90_type type,
                                MPI_Offset len, struct f90_values *v)
{
    int rank = 0;
    MPI_Offset size = 1, bytes = f90_types[type].width;
    bool gaps = false;
    v->base = values->base_addr;
    v->type = f90_types[type].type;
    v->width = bytes;
    if (type == F90_TEXT) {
        v->extent[rank] = size = bytes = len;
        v->step[rank++] = 1;
    }
    for (int i = 0; i < values->rank; i++, rank++) {
        MPI_Offset extent = values->dim[i].extent, step = values->dim[i].sm;
        v->extent[rank] = extent;
        v->step[rank] = step;
        gaps |= extent != 1 && step != bytes;
        size *= extent;
        bytes *= extent;
    }
    v->rank = rank;
    v->size = size < 0 ? -1 : size; /* the last extent of an assumed size is -1 */
    v->contiguous = !gaps || size == 0;
}

/* Makes an MPI datatype of the first n elements, in the order of Fortran, relative to
 * v->base; to be freed. Returns an NC_ code. */
int f90_section_type(const struct f90_values *v, MPI_Offset n, MPI_Datatype *type);

/* Copies all elements to or from contiguous memory. */
void f90_pack(const struct f90_values *v, void *packed);
void f90_unpack(const struct f90_values *v, const void *packed);

#endif
