/* libpnetcdf_serial: programs written for the serial netCDF library, unchanged. The names
 * of C are mapped by its netcdf.h, those of Fortran are symbols of this library alone, so
 * that libpnetcdf never stands in netCDF's way.
 *
 * All files are opened on one communicator, and every call is collective on it. As netCDF
 * does, and libpnetcdf does not, elements that are not written are filled. */
#ifndef SERIAL_H
#define SERIAL_H

#include <config.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <stddef.h>

/* Sizes and places are handed on by pointer. */
_Static_assert(sizeof(size_t) == sizeof(MPI_Offset), "size_t has the size of MPI_Offset");
_Static_assert(sizeof(ptrdiff_t) == sizeof(MPI_Offset), "and so has ptrdiff_t");

/* Called from Fortran, or by the names that netcdf.h of this library declares. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum serial_kind { SERIAL_VAR, SERIAL_VAR1, SERIAL_VARA, SERIAL_VARS, SERIAL_VARM };

#pragma GCC visibility push(hidden)

/* The elements of one access; lists that its kind has no use for are NULL. */
struct serial_slab {
    enum serial_kind kind;
    const MPI_Offset *start, *count, *stride, *imap;
};

/* type MPI_DATATYPE_NULL: the values are of the variable's own type. */
int serial_put(int ncid, int varid, const struct serial_slab *s, const void *buf,
               MPI_Datatype type);
int serial_get(int ncid, int varid, const struct serial_slab *s, void *buf,
               MPI_Datatype type);

#pragma GCC visibility pop
#pragma GCC visibility push(default)

/* Public: the communicator for all files opened from now on; else MPI_COMM_SELF. */
void ncserial_comm(MPI_Comm comm);

int ncserial_create(const char *path, int cmode, int *ncidp);
int ncserial_open(const char *path, int omode, int *ncidp);
int ncserial_delete(const char *path);
int ncserial_set_fill(int ncid, int fillmode, int *old_modep);
int ncserial_redef(int ncid);
int ncserial_inq_var_fill(int ncid, int varid, int *no_fillp, void *fill_valuep);
int ncserial_not4(int ncid, ...);
int ncserial_inq_base_pe(int ncid, int *pe);
int ncserial_set_base_pe(int ncid, int pe);
int ncserial_copy_var(int ncid_in, int varid, int ncid_out);
int ncserial_inq_var_chunking(int ncid, int varid, int *storagep,
                              const size_t *chunksizesp);
int ncserial_inq_var_deflate(int ncid, int varid, int *shufflep, int *deflatep,
                             int *levelp);
int ncserial_inq_var_fletcher32(int ncid, int varid, int *fletcher32p);
int ncserial_inq_var_szip(int ncid, int varid, int *optionsp, int *pixelsp);
int ncserial_inq_var_filter(int ncid, int varid, unsigned int *idp, const size_t *nparams,
                            const unsigned int *params);
int ncserial_inq_grps(int ncid, int *ngroups, const int *ncids);
int ncserial_inq_typeids(int ncid, int *ntypes, const int *typeids);
int ncserial_inq_grpname(int ncid, char *name);
int ncserial_inq_grpname_len(int ncid, size_t *lenp);
int ncserial_inq_grp_parent(int ncid, const int *parent);
int ncserial_inq_ncid(int ncid, const char *name, int *group);
int ncserial_inq_grp_full_ncid(int ncid, const char *name, const int *group);
int ncserial_inq_type(int ncid, nc_type type, char *name, size_t *sizep);
int ncserial_inq_typeid(int ncid, const char *name, nc_type *typep);

#endif
