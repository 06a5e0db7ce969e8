/* Implements netCDF's functions for features that classic files lack: groups, types,
 * chunks, compression. They return the same results as netCDF does for classic files.
 * This file also contains nc_copy_var. */
#include "serial.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int known(int ncid)
{
    int ndims;
    return ncmpi_inq_ndims(ncid, &ndims);
}

static int known_var(int ncid, int varid)
{
    int ndims;
    return ncmpi_inq_varndims(ncid, varid, &ndims);
}

/* Sets *out to `value`, unless out is NULL or err is an error. Returns err. */
static int answer(int err, int value, int *out)
{
    if (err == NC_NOERR && out) *out = value;
    return err;
}

static int answer_size(int err, size_t value, size_t *out)
{
    if (err == NC_NOERR && out) *out = value;
    return err;
}

/* ---- features that only netCDF-4 has ---- */

int ncserial_not4(int ncid, ...)
{
    int err = known(ncid);
    return err == NC_NOERR ? NC_ENOTNC4 : err;
}

int ncserial_nothing(void)
{
    return NC_NOERR;
}

int ncserial_inq_var_chunking(int ncid, int varid, int *storagep,
                              const size_t *chunksizesp)
{
    (void)chunksizesp; /* classic files have no chunks */
    return answer(known_var(ncid, varid), NC_CONTIGUOUS, storagep);
}

int ncserial_inq_var_deflate(int ncid, int varid, int *shufflep, int *deflatep,
                             int *levelp)
{
    int err = answer(known_var(ncid, varid), 0, shufflep);
    err = answer(err, 0, deflatep);
    return answer(err, 0, levelp);
}

int ncserial_inq_var_fletcher32(int ncid, int varid, int *fletcher32p)
{
    return answer(known_var(ncid, varid), NC_NOCHECKSUM, fletcher32p);
}

int ncserial_inq_var_szip(int ncid, int varid, int *optionsp, int *pixelsp)
{
    return answer(answer(known_var(ncid, varid), 0, optionsp), 0, pixelsp);
}

int ncserial_inq_var_filter(int ncid, int varid, unsigned int *idp, const size_t *nparams,
                            const unsigned int *params)
{
    (void)nparams, (void)params;
    int err = known_var(ncid, varid);
    if (err == NC_NOERR && idp) *idp = 0;
    return err;
}

/* ---- groups: a classic file has one ---- */

int ncserial_inq_grps(int ncid, int *ngroups, const int *ncids)
{
    (void)ncids;
    return answer(known(ncid), 0, ngroups);
}

int ncserial_inq_typeids(int ncid, int *ntypes, const int *typeids)
{
    (void)typeids;
    return answer(known(ncid), 0, ntypes);
}

int ncserial_inq_grpname_full(int ncid, size_t *lenp, char *name)
{
    int err = answer_size(known(ncid), 1, lenp);
    if (err == NC_NOERR && name) memcpy(name, "/", 2);
    return err;
}

int ncserial_inq_grpname(int ncid, char *name)
{
    return ncserial_inq_grpname_full(ncid, NULL, name);
}

int ncserial_inq_grpname_len(int ncid, size_t *lenp)
{
    return ncserial_inq_grpname_full(ncid, lenp, NULL);
}

int ncserial_inq_grp_parent(int ncid, const int *parent)
{
    (void)parent;
    int err = known(ncid);
    return err == NC_NOERR ? NC_ENOGRP : err;
}

int ncserial_inq_ncid(int ncid, const char *name, int *group)
{
    (void)name;
    return answer(known(ncid), ncid, group);
}

int ncserial_inq_grp_ncid(int ncid, const char *name, int *group)
{
    return ncserial_inq_ncid(ncid, name, group);
}

int ncserial_inq_grp_full_ncid(int ncid, const char *name, const int *group)
{
    (void)name;
    return ncserial_inq_grp_parent(ncid, group);
}

/* ---- numbers ---- */

static int count_up(int err, int n, int *np, int *ids)
{
    err = answer(err, n, np);
    for (int i = 0; err == NC_NOERR && ids && i < n; i++)
        ids[i] = i;
    return err;
}

int ncserial_inq_dimids(int ncid, int *ndims, int *ids, int parents)
{
    (void)parents;
    int n = 0, err = ncmpi_inq_ndims(ncid, &n);
    return count_up(err, n, ndims, ids);
}

int ncserial_inq_varids(int ncid, int *nvars, int *ids)
{
    int n = 0, err = ncmpi_inq_nvars(ncid, &n);
    return count_up(err, n, nvars, ids);
}

int ncserial_inq_unlimdims(int ncid, int *n, int *ids)
{
    int dim = -1, err = ncmpi_inq_unlimdim(ncid, &dim);
    err = answer(err, dim >= 0, n);
    return dim < 0 ? err : answer(err, dim, ids);
}

int ncserial_inq_path(int ncid, size_t *lenp, char *path)
{
    int len = 0, err = ncmpi_inq_path(ncid, &len, path);
    return answer_size(err, (size_t)len, lenp);
}

int ncserial_inq_format_extended(int ncid, int *formatp, int *modep)
{
    static const int modes[] = {
        [NC_FORMAT_CDF2] = NC_64BIT_OFFSET, [NC_FORMAT_CDF5] = NC_64BIT_DATA};
    int format = 0, err = ncmpi_inq_format(ncid, &format);
    err = answer(err, NC_FORMATX_NC3, formatp);
    return err == NC_NOERR ? answer(err, modes[format], modep) : err;
}

/* ---- types ---- */

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [NC_BYTE] = {"byte", 1},   [NC_CHAR] = {"char", 1},     [NC_SHORT] = {"short", 2},
    [NC_INT] = {"int", 4},     [NC_FLOAT] = {"float", 4},   [NC_DOUBLE] = {"double", 8},
    [NC_UBYTE] = {"ubyte", 1}, [NC_USHORT] = {"ushort", 2}, [NC_UINT] = {"uint", 4},
    [NC_INT64] = {"int64", 8}, [NC_UINT64] = {"uint64", 8}, [NC_STRING] = {"string", 8},
};
enum { NTYPES = sizeof types / sizeof types[0] };

int ncserial_inq_type(int ncid, nc_type type, char *name, size_t *sizep)
{
    int err = known(ncid);
    if (err == NC_NOERR && (type < NC_BYTE || type >= NTYPES)) err = NC_EBADTYPE;
    if (err == NC_NOERR && name) strcpy(name, types[type].name);
    return err == NC_NOERR ? answer_size(err, types[type].size, sizep) : err;
}

/* netCDF finds only these types by name in classic files. */
int ncserial_inq_typeid(int ncid, const char *name, nc_type *typep)
{
    int err = known(ncid);
    for (int t = NC_BYTE; err == NC_NOERR && t <= NC_DOUBLE; t++)
        if (strcmp(types[t].name, name) == 0) return answer(err, t, typep);
    return err == NC_NOERR ? NC_ENOTNC4 : err;
}

int ncserial_inq_type_equal(int ncid1, nc_type type1, int ncid2, nc_type type2,
                            int *equal)
{
    int err = known(ncid1);
    if (err == NC_NOERR) err = known(ncid2);
    return answer(err, type1 == type2, equal);
}

/* ---- processing elements on obsolete machines ---- */

int ncserial_inq_base_pe(int ncid, int *pe)
{
    return answer(known(ncid), 0, pe);
}

int ncserial_set_base_pe(int ncid, int pe)
{
    (void)pe;
    return known(ncid);
}

int ncserial__create_mp(const char *path, int cmode, size_t size, int pe,
                        const size_t *chunk, int *ncidp)
{
    (void)size, (void)chunk;
    return pe == 0 ? ncserial_create(path, cmode, ncidp) : NC_EINVAL;
}

int ncserial__open_mp(const char *path, int omode, int pe, const size_t *chunk,
                      int *ncidp)
{
    (void)chunk;
    return pe == 0 ? ncserial_open(path, omode, ncidp) : NC_EINVAL;
}

int ncserial_delete_mp(const char *path, int pe)
{
    (void)pe;
    return ncserial_delete(path);
}

/* ---- copying a variable ---- */

/* A variable being copied to another file. Its dimensions are matched by name. */
struct copied {
    int in, varid, out, made, ndims, *dims;
    MPI_Offset *count, *start; /* a slice of the first dimension */
    MPI_Offset slices, bytes;
};

static int find_dim(struct copied *c, int i, int dim_in)
{
    char name[NC_MAX_NAME + 1];
    MPI_Offset len;
    int err = ncmpi_inq_dim(c->in, dim_in, name, &len);
    if (err == NC_NOERR) err = ncmpi_inq_dimid(c->out, name, &c->dims[i]);
    if (err != NC_NOERR) return err;
    c->start[i] = 0;
    c->count[i] = i == 0 ? 1 : len;
    if (i == 0) c->slices = len;
    c->bytes *= c->count[i];
    return NC_NOERR;
}

static int copy_definition(struct copied *c)
{
    char name[NC_MAX_NAME + 1];
    nc_type type;
    int natts, err = ncmpi_inq_var(c->in, c->varid, name, &type, NULL, c->dims, &natts);
    if (err == NC_NOERR) c->bytes = (MPI_Offset)types[type].size;
    for (int i = 0; err == NC_NOERR && i < c->ndims; i++)
        err = find_dim(c, i, c->dims[i]);
    if (err == NC_NOERR) err = ncserial_redef(c->out);
    bool was_defining = err == NC_EINDEFINE;
    if (was_defining) err = NC_NOERR;
    if (err == NC_NOERR)
        err = ncmpi_def_var(c->out, name, type, c->ndims, c->dims, &c->made);
    for (int i = 0; err == NC_NOERR && i < natts; i++) {
        err = ncmpi_inq_attname(c->in, c->varid, i, name);
        if (err == NC_NOERR) err = ncmpi_copy_att(c->in, c->varid, name, c->out, c->made);
    }
    int end = was_defining && err != NC_NOERR ? NC_NOERR : ncmpi_enddef(c->out);
    return err == NC_NOERR ? end : err;
}

static int copy_values(struct copied *c)
{
    const struct serial_slab s = {SERIAL_VARA, c->start, c->count, NULL, NULL};
    void *values = malloc((size_t)c->bytes);
    int err = values ? NC_NOERR : NC_ENOMEM;
    for (MPI_Offset i = 0; err == NC_NOERR && i < c->slices; i++) {
        c->start[0] = i;
        err = serial_get(c->in, c->varid, &s, values, MPI_DATATYPE_NULL);
        if (err == NC_NOERR)
            err = serial_put(c->out, c->made, &s, values, MPI_DATATYPE_NULL);
    }
    free(values);
    return err;
}

int ncserial_copy_var(int ncid_in, int varid, int ncid_out)
{
    struct copied c = {.in = ncid_in, .varid = varid, .out = ncid_out, .slices = 1};
    int err = ncmpi_inq_varndims(ncid_in, varid, &c.ndims);
    if (err != NC_NOERR) return err;
    size_t n = (size_t)c.ndims + 1;
    c.dims = calloc(n, sizeof *c.dims);
    c.start = calloc(n, sizeof *c.start);
    c.count = calloc(n, sizeof *c.count);
    err = c.dims && c.start && c.count ? copy_definition(&c) : NC_ENOMEM;
    if (err == NC_NOERR) err = copy_values(&c);
    free(c.dims);
    free(c.start);
    free(c.count);
    return err;
}
