m4_include(`tables.m4')m4_include([serial_tables.m4])m4_divert(-1)
m4_define([SAME], [#define nc_$1 ncmpi_$1
])
m4_define([OWN], [#define nc_$1 ncserial_$1
])
m4_define([MORE], [OWN([$1])])
m4_define([NOT4], [#define nc_$1 ncserial_not4
])
m4_define([NOTHING], [#define nc_$1(...) ncserial_nothing()
])
m4_define([MISSING], [#define nc_$1(...) ncserial_needs_netcdf4()
])
m4_define([DECLARE], [int ncserial_$1($2);
])
m4_divert[]m4_dnl
/* Generated from netcdf.h.m4: the serial interface of netCDF for classic files,
 * implemented by libpnetcdf. Programs written for netCDF compile with this header
 * unchanged. All files are opened on MPI_COMM_SELF, or on the communicator passed to
 * ncserial_comm. */
#ifndef PNETCDF_SERIAL_NETCDF_H
#define PNETCDF_SERIAL_NETCDF_H

#include <pnetcdf.h>
#include <stddef.h>

/* Serial programs declare arrays with these lengths. */
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

/* Functions for groups, user-defined types and chunks. Classic files have only one group,
 * no such types, and no chunks. */
foreach_serial_more([MORE])m4_dnl
foreach_serial_not4([NOT4])m4_dnl
foreach_serial_nothing([NOTHING])m4_dnl
foreach_serial_missing([MISSING])m4_dnl

#define NC_SYSERR (-31)
#define NC_EXDR (-32)
#define NC_ENTOOL NC_EMAXNAME
#define NC_SZIP_EC 4
#define NC_SZIP_NN 32
#define NC_FATAL 1
#define NC_VERBOSE 2
#define NC_TURN_OFF_LOGGING (-1)
#define NC_QUANTIZE_BITROUND 3
#define NC_NODIMSCALE_ATTACH 0x40000

#if defined(__GNUC__)
#define NCSERIAL_ERROR(text) __attribute__((error(text)))
#else
#define NCSERIAL_ERROR(text) /* programs that call these functions fail to link instead */
#endif

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
foreach_serial_more([DECLARE])m4_dnl
int ncserial_not4(int ncid, ...);
int ncserial_nothing(void);
int ncserial_needs_netcdf4(void) NCSERIAL_ERROR(
    "is for netCDF-4 files; these are classic ones: see porting.md, Without edits");

#ifdef __cplusplus
}
#endif

#endif
