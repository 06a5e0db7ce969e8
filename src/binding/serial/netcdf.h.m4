m4_include(`tables.m4')m4_include([serial_tables.m4])m4_divert(-1)
m4_define([SAME], [#define nc_$1 ncmpi_$1
])
m4_define([OWN], [#define nc_$1 ncserial_$1
])
m4_divert[]m4_dnl
/* Generated from netcdf.h.m4: the serial interface of netCDF for classic files, in terms
 * of libpnetcdf. Programs written for netCDF compile with it unchanged; every file is
 * opened on MPI_COMM_SELF, or on the communicator that ncserial_comm was given. */
#ifndef PNETCDF_SERIAL_NETCDF_H
#define PNETCDF_SERIAL_NETCDF_H

#include <pnetcdf.h>
#include <stddef.h>

/* Serial programs have arrays of these lengths. */
#undef NC_MAX_DIMS
#undef NC_MAX_ATTRS
#undef NC_MAX_VARS
#undef NC_MAX_VAR_DIMS
#define NC_MAX_DIMS 1024
#define NC_MAX_ATTRS 8192
#define NC_MAX_VARS 8192
#define NC_MAX_VAR_DIMS 1024

#ifndef _FillValue
#define _FillValue "_FillValue"
#endif

foreach_serial_same([SAME])m4_dnl
OWN([create])OWN([open])OWN([delete])OWN([set_fill])m4_dnl
OWN([_create])OWN([_open])OWN([_enddef])m4_dnl
OWN([inq_dim])OWN([inq_dimlen])OWN([inq_att])OWN([inq_attlen])m4_dnl
foreach_serial_direction([foreach_serial_kind([foreach_serial_type([m4_dnl
OWN(D_NAME[]_[]K_NAME[]S_SUFFIX)])])])m4_dnl

#ifdef __cplusplus
extern "C" {
#endif

void ncserial_comm(MPI_Comm comm);
int ncserial_create(const char *path, int cmode, int *ncidp);
int ncserial_open(const char *path, int omode, int *ncidp);
int ncserial_delete(const char *path);
int ncserial_set_fill(int ncid, int fillmode, int *old_modep);
int ncserial__create(const char *path, int cmode, size_t size, const size_t *chunk, int *ncidp);
int ncserial__open(const char *path, int omode, const size_t *chunk, int *ncidp);
int ncserial__enddef(int ncid, size_t h_minfree, size_t v_align, size_t v_minfree,
                     size_t r_align);
int ncserial_inq_dim(int ncid, int dimid, char *name, size_t *lenp);
int ncserial_inq_dimlen(int ncid, int dimid, size_t *lenp);
int ncserial_inq_att(int ncid, int varid, const char *name, nc_type *xtypep, size_t *lenp);
int ncserial_inq_attlen(int ncid, int varid, const char *name, size_t *lenp);
foreach_serial_direction([foreach_serial_kind([foreach_serial_type([m4_dnl
int ncserial_[]D_NAME[]_[]K_NAME[]S_SUFFIX[](int ncid, int varid,S_DECL D_CONST[]S_C *buf);
])])])m4_dnl

#ifdef __cplusplus
}
#endif

#endif
