/* Implements netCDF-Fortran functions for groups, types and filters, which return the
 * same results as netCDF does for classic files. Also contains functions for parallel
 * files. */
#include "serial_nf.h"

#include <stdlib.h>
#include <string.h>

/* ---- groups: a classic file has one ---- */

int F77_NAME(nf_inq_grps, NF_INQ_GRPS)(const int *ncid, int *n, const int *ids)
{
    return ncserial_inq_grps(*ncid, n, ids);
}

int F77_NAME(nf_inq_grpname, NF_INQ_GRPNAME)(const int *ncid, char *text, F77_STRLEN len)
{
    char name[NC_MAX_NAME + 1];
    int err = ncserial_inq_grpname(*ncid, name);
    if (err == NC_NOERR) serial_nf_text_out(text, len, name);
    return err;
}

int F77_NAME(nf_inq_grpname_full, NF_INQ_GRPNAME_FULL)(const int *ncid, int *length,
                                                       char *text, F77_STRLEN len)
{
    *length = 1;
    return F77_NAME(nf_inq_grpname, NF_INQ_GRPNAME)(ncid, text, len);
}

int F77_NAME(nf_inq_grpname_len, NF_INQ_GRPNAME_LEN)(const int *ncid, int *length)
{
    size_t n = 0;
    int err = ncserial_inq_grpname_len(*ncid, &n);
    if (err == NC_NOERR) *length = (int)n;
    return err;
}

int F77_NAME(nf_inq_grp_parent, NF_INQ_GRP_PARENT)(const int *ncid, const int *parent)
{
    return ncserial_inq_grp_parent(*ncid, parent);
}

int F77_NAME(nf_inq_ncid, NF_INQ_NCID)(const int *ncid, const char *name, int *group,
                                       F77_STRLEN len)
{
    (void)len;
    return ncserial_inq_ncid(*ncid, name, group);
}

int F77_NAME(nf_inq_grp_ncid, NF_INQ_GRP_NCID)(const int *ncid, const char *name,
                                               int *group, F77_STRLEN len)
{
    return F77_NAME(nf_inq_ncid, NF_INQ_NCID)(ncid, name, group, len);
}

int F77_NAME(nf_inq_grp_full_ncid, NF_INQ_GRP_FULL_NCID)(const int *ncid,
                                                         const char *name,
                                                         const int *group, F77_STRLEN len)
{
    (void)len;
    return ncserial_inq_grp_full_ncid(*ncid, name, group);
}

/* ---- types and filters ---- */

int F77_NAME(nf_inq_typeids, NF_INQ_TYPEIDS)(const int *ncid, int *n, const int *ids)
{
    return ncserial_inq_typeids(*ncid, n, ids);
}

int F77_NAME(nf_inq_typeid, NF_INQ_TYPEID)(const int *ncid, const char *text, int *type,
                                           F77_STRLEN len)
{
    char *name = serial_nf_text_in(text, len);
    int err = name ? ncserial_inq_typeid(*ncid, name, type) : NC_ENOMEM;
    free(name);
    return err;
}

int F77_NAME(nf_inq_type, NF_INQ_TYPE)(const int *ncid, const int *type, char *text,
                                       int *size, F77_STRLEN len)
{
    char name[NC_MAX_NAME + 1];
    size_t bytes = 0;
    int err = ncserial_inq_type(*ncid, *type, name, &bytes);
    if (err != NC_NOERR) return err;
    serial_nf_text_out(text, len, name);
    *size = (int)bytes;
    return err;
}

int F77_NAME(nf_inq_var_filter, NF_INQ_VAR_FILTER)(const int *ncid, const int *varid,
                                                   int *id, const int *nparams,
                                                   const int *params)
{
    (void)nparams, (void)params;
    unsigned int filter = 0;
    int err =
        ncserial_inq_var_filter(*ncid, (int)((unsigned)*varid - 1U), &filter, NULL, NULL);
    if (err == NC_NOERR) *id = (int)filter;
    return err;
}

/* Classic files have neither chunks nor variable-length values. */
int F77_NAME(nf_get_chunk_cache, NF_GET_CHUNK_CACHE)(void)
{
    return NC_ENOTNC4;
}

int F77_NAME(nf_free_vlen, NF_FREE_VLEN)(void)
{
    return NC_ENOTNC4;
}

/* ---- parallel files: not available under these names ---- */

int F77_NAME(nf_create_par, NF_CREATE_PAR)(void)
{
    return NC_ENOPAR;
}

int F77_NAME(nf_open_par, NF_OPEN_PAR)(void)
{
    return NC_ENOPAR;
}

int F77_NAME(nf_var_par_access, NF_VAR_PAR_ACCESS)(void)
{
    return NC_ENOPAR;
}
