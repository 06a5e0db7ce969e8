m4_include(`tables.m4')m4_dnl
/* Generated from api_typed_att.c.m4: functions that put and get attributes. */
#include "pnetcdf.h"
#include "api.h"

int ncmpi_put_att(int ncid, int varid, const char *name, nc_type xtype,
    MPI_Offset nelems, const void *value)
{
    return api_put_att_all(ncid, varid, name, xtype, nelems, value, MPI_DATATYPE_NULL);
}

int ncmpi_put_att_text(int ncid, int varid, const char *name, MPI_Offset len,
    const char *op)
{
    return api_put_att_all(ncid, varid, name, NC_CHAR, len, op, MPI_CHAR);
}

int ncmpi_get_att(int ncid, int varid, const char *name, void *value)
{
    return api_get_att(ncid, varid, name, value, MPI_DATATYPE_NULL);
}

int ncmpi_get_att_text(int ncid, int varid, const char *name, char *ip)
{
    return api_get_att(ncid, varid, name, ip, MPI_CHAR);
}
foreach_number_att_type([
int ncmpi_put_att_[]T_NAME[](int ncid, int varid, const char *name, nc_type xtype,
    MPI_Offset len, const T_C *op)
{
    return api_put_att_all(ncid, varid, name, xtype, len, op, T_MPI);
}

int ncmpi_get_att_[]T_NAME[](int ncid, int varid, const char *name, T_C *ip)
{
    return api_get_att(ncid, varid, name, ip, T_MPI);
}
])m4_dnl
