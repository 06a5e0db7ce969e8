m4_include(`tables.m4')m4_include([serial_tables.m4])m4_dnl
/* Generated from serial_data.c.m4: netCDF-C's data functions, and functions that return
 * sizes. */
#include "serial.h"

int ncserial_inq_dim(int ncid, int dimid, char *name, size_t *lenp)
{
    return ncmpi_inq_dim(ncid, dimid, name, (MPI_Offset *)lenp);
}

int ncserial_inq_dimlen(int ncid, int dimid, size_t *lenp)
{
    return ncmpi_inq_dimlen(ncid, dimid, (MPI_Offset *)lenp);
}

int ncserial_inq_att(int ncid, int varid, const char *name, nc_type *xtypep, size_t *lenp)
{
    return ncmpi_inq_att(ncid, varid, name, xtypep, (MPI_Offset *)lenp);
}

int ncserial_inq_attlen(int ncid, int varid, const char *name, size_t *lenp)
{
    return ncmpi_inq_attlen(ncid, varid, name, (MPI_Offset *)lenp);
}

int ncserial__create(const char *path, int cmode, size_t size, const size_t *chunk, int *ncidp)
{
    (void)size, (void)chunk; /* tuning parameters for the serial library's buffers;
                              * ignored */
    return ncserial_create(path, cmode, ncidp);
}

int ncserial__open(const char *path, int omode, const size_t *chunk, int *ncidp)
{
    (void)chunk;
    return ncserial_open(path, omode, ncidp);
}

int ncserial__enddef(int ncid, size_t h_minfree, size_t v_align, size_t v_minfree,
                     size_t r_align)
{
    return ncmpi__enddef(ncid, (MPI_Offset)h_minfree, (MPI_Offset)v_align,
                         (MPI_Offset)v_minfree, (MPI_Offset)r_align);
}
foreach_serial_direction([foreach_serial_kind([foreach_serial_type([
int ncserial_[]D_NAME[]_[]K_NAME[]S_SUFFIX[](int ncid, int varid,S_DECL D_CONST[]S_C *buf)
{
    const struct serial_slab s = {S_FLAG, S_INIT};
    return serial_[]D_NAME[](ncid, varid, &s, buf, S_MPI);
}
])])])m4_dnl
