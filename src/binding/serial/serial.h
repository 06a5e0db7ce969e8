/* libpnetcdf_serial lets programs that were written for the serial netCDF library run
 * unchanged. In C, its header netcdf.h maps netCDF's names to functions of this library.
 * Only this library defines the Fortran names, so libpnetcdf itself never conflicts with
 * netCDF.
 *
 * All files are opened on one communicator, and every call is collective on it. As in
 * netCDF, and unlike in libpnetcdf, elements that are not written are filled. */
#ifndef SERIAL_H
#define SERIAL_H

#include <config.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <stddef.h>

/* Pointers to lists of sizes and indices are passed on unchanged, so the types must
 * match. */
_Static_assert(sizeof(size_t) == sizeof(MPI_Offset),
               "size_t must have the size of MPI_Offset");
_Static_assert(sizeof(ptrdiff_t) == sizeof(MPI_Offset),
               "ptrdiff_t must have the size of MPI_Offset");

/* Functions without a prototype in this header are called from Fortran or declared in
 * netcdf.h. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum serial_kind { SERIAL_VAR, SERIAL_VAR1, SERIAL_VARA, SERIAL_VARS, SERIAL_VARM };

#pragma GCC visibility push(hidden)

/* The hyperslab for an access. Lists that this kind of access does not use are NULL. */
struct serial_slab {
    enum serial_kind kind;
    const MPI_Offset *start, *count, *stride, *imap;
};

/* Put and get values. MPI_DATATYPE_NULL means the variable's type. */
int serial_put(int ncid, int varid, const struct serial_slab *s, const void *buf,
               MPI_Datatype type);
int serial_get(int ncid, int varid, const struct serial_slab *s, void *buf,
               MPI_Datatype type);

#pragma GCC visibility pop
#pragma GCC visibility push(default)

/* Sets the communicator for all files that are opened later. The default is
 * MPI_COMM_SELF. This function is public. */
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
