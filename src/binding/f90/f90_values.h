/* Describes the values that a Fortran caller passes in an array or array section of any
 * rank. */
#ifndef F90_VALUES_H
#define F90_VALUES_H

#include <ISO_Fortran_binding.h>
#include <mpi.h>
#include <stdbool.h>

/* Types of values. pnetcdf.f90.m4 contains the same numbers. */
enum f90_type { F90_TEXT, F90_INT1, F90_INT2, F90_INT4, F90_INT8, F90_REAL4, F90_REAL8 };

/* Values of a Fortran array. For text, the characters form the first dimension. */
struct f90_values {
    void *base;
    MPI_Datatype type; /* type of an element */
    MPI_Offset width;  /* size of an element in bytes */
    int rank;
    MPI_Offset extent[CFI_MAX_RANK + 1];
    MPI_Offset step[CFI_MAX_RANK + 1]; /* distance between adjacent elements in bytes */
    MPI_Offset size;                   /* number of elements; -1 if unknown */
    bool contiguous;
};

/* MPI datatype and size of each type of values. */
extern const struct f90_type_row {
    MPI_Datatype type;
    int width;
} f90_types[];

/* Fills *v from an array descriptor. `len` is the string length of text, and is ignored
 * for other types. The elem_len of text is not reliable: gfortran 12 sets it incorrectly
 * for substrings. Inline, because every put uses it, including small ones. */
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
    v->size = size < 0 ? -1 : size; /* the last extent of an assumed-size array is -1 */
    v->contiguous = !gaps || size == 0;
}

/* Creates an MPI datatype for the first n elements in Fortran order, relative to v->base.
 * The caller must free it. Returns an NC_ code. */
int f90_section_type(const struct f90_values *v, MPI_Offset n, MPI_Datatype *type);

/* Copy all elements to or from contiguous memory. */
void f90_pack(const struct f90_values *v, void *packed);
void f90_unpack(const struct f90_values *v, const void *packed);

#endif
