/* Implements netCDF-Fortran functions that take a path or text, and helpers for the
 * generated functions. */
#include "serial_nf.h"

#include "f77_message.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

int serial_length(MPI_Offset length, int *out)
{
    if (length > INT_MAX) return NC_EINTOVERFLOW;
    *out = (int)length;
    return NC_NOERR;
}

static const MPI_Offset *reversed(const int *list, int n, int first, MPI_Offset *out)
{
    if (!list) return NULL;
    for (int i = 0; i < n; i++)
        out[i] = (MPI_Offset)list[n - 1 - i] - first;
    return out;
}

void serial_nf_slab(struct serial_nf_slab *at, enum serial_kind kind, int ncid, int varid,
                    const int *start, const int *count, const int *stride,
                    const int *imap)
{
    int n = 0;
    at->varid = (int)((unsigned)varid - 1U);
    int err = ncmpi_inq_varndims(ncid, at->varid, &n);
    if (err != NC_NOERR || n > SERIAL_DIMS) {
        if (err == NC_NOERR) at->varid = -2; /* an id that no variable can have */
        n = 0;
    }
    at->slab.kind = kind;
    at->slab.start = reversed(start, n, 1, at->room[0]);
    at->slab.count = reversed(count, n, 0, at->room[1]);
    at->slab.stride = reversed(stride, n, 0, at->room[2]);
    at->slab.imap = reversed(imap, n, 0, at->room[3]);
}

char *serial_nf_text_in(const char *text, F77_STRLEN len)
{
    size_t n = (size_t)len;
    while (n > 0 && text[n - 1] == ' ')
        n--;
    return strndup(text, n);
}

void serial_nf_text_out(char *text, F77_STRLEN len, const char *string)
{
    size_t room = (size_t)len, n = strlen(string);
    if (n > room) n = room;
    memcpy(text, string, n);
    memset(text + n, ' ', room - n);
}

int F77_NAME(nf_create, NF_CREATE)(const char *text, const int *cmode, int *ncid,
                                   F77_STRLEN len)
{
    char *path = serial_nf_text_in(text, len);
    int err = path ? ncserial_create(path, *cmode, ncid) : NC_ENOMEM;
    free(path);
    return err;
}

int F77_NAME(nf_open, NF_OPEN)(const char *text, const int *omode, int *ncid,
                               F77_STRLEN len)
{
    char *path = serial_nf_text_in(text, len);
    int err = path ? ncserial_open(path, *omode, ncid) : NC_ENOMEM;
    free(path);
    return err;
}

int F77_NAME(nf_delete, NF_DELETE)(const char *text, F77_STRLEN len)
{
    char *path = serial_nf_text_in(text, len);
    int err = path ? ncserial_delete(path) : NC_ENOMEM;
    free(path);
    return err;
}

int F77_NAME(nf_set_fill, NF_SET_FILL)(const int *ncid, const int *mode, int *old)
{
    return ncserial_set_fill(*ncid, *mode, old);
}

/* Sets the communicator for all files that are opened later. */
void F77_NAME(nf_serial_comm, NF_SERIAL_COMM)(const MPI_Fint *comm)
{
    ncserial_comm(MPI_Comm_f2c(*comm));
}

void F77_NAME(nf_strerror, NF_STRERROR)(char *text, F77_STRLEN len, const int *err)
{
    static const struct f77_names names = {"NF_", "nf", false};
    f77_message(text, (size_t)len, ncmpi_strerror(*err), &names);
}

void F77_NAME(nf_inq_libvers, NF_INQ_LIBVERS)(char *text, F77_STRLEN len)
{
    serial_nf_text_out(text, len, ncmpi_inq_libvers());
}

int F77_NAME(nf_issyserr, NF_ISSYSERR)(const int *err)
{
    return *err > 0;
}

/* ---- functions that only netCDF-Fortran has ---- */

int F77_NAME(nf_redef, NF_REDEF)(const int *ncid)
{
    return ncserial_redef(*ncid);
}

int F77_NAME(nf_inq_var_fill, NF_INQ_VAR_FILL)(const int *ncid, const int *varid,
                                               int *no_fill, void *fill_value)
{
    return ncserial_inq_var_fill(*ncid, (int)((unsigned)*varid - 1U), no_fill,
                                 fill_value);
}

int F77_NAME(nf__create, NF__CREATE)(const char *text, const int *cmode, const int *size,
                                     const int *chunk, int *ncid, F77_STRLEN len)
{
    (void)size, (void)chunk; /* tuning parameters for the serial library's buffers;
                              * ignored */
    return F77_NAME(nf_create, NF_CREATE)(text, cmode, ncid, len);
}

int F77_NAME(nf__open, NF__OPEN)(const char *text, const int *omode, const int *chunk,
                                 int *ncid, F77_STRLEN len)
{
    (void)chunk;
    return F77_NAME(nf_open, NF_OPEN)(text, omode, ncid, len);
}

int F77_NAME(nf__enddef, NF__ENDDEF)(const int *ncid, const int *h_minfree,
                                     const int *v_align, const int *v_minfree,
                                     const int *r_align)
{
    return ncmpi__enddef(*ncid, *h_minfree, *v_align, *v_minfree, *r_align);
}

int F77_NAME(nf__create_mp, NF__CREATE_MP)(const char *text, const int *cmode,
                                           const int *size, const int *pe,
                                           const int *chunk, int *ncid, F77_STRLEN len)
{
    (void)size, (void)chunk;
    return *pe == 0 ? F77_NAME(nf_create, NF_CREATE)(text, cmode, ncid, len) : NC_EINVAL;
}

int F77_NAME(nf__open_mp, NF__OPEN_MP)(const char *text, const int *omode, const int *pe,
                                       const int *chunk, int *ncid, F77_STRLEN len)
{
    (void)chunk;
    return *pe == 0 ? F77_NAME(nf_open, NF_OPEN)(text, omode, ncid, len) : NC_EINVAL;
}

int F77_NAME(nf_delete_mp, NF_DELETE_MP)(const char *text, const int *pe, F77_STRLEN len)
{
    (void)pe;
    return F77_NAME(nf_delete, NF_DELETE)(text, len);
}

int F77_NAME(nf_inq_base_pe, NF_INQ_BASE_PE)(const int *ncid, int *pe)
{
    return ncserial_inq_base_pe(*ncid, pe);
}

int F77_NAME(nf_set_base_pe, NF_SET_BASE_PE)(const int *ncid, const int *pe)
{
    return ncserial_set_base_pe(*ncid, *pe);
}

int F77_NAME(nf_copy_var, NF_COPY_VAR)(const int *in, const int *varid, const int *out)
{
    return ncserial_copy_var(*in, (int)((unsigned)*varid - 1U), *out);
}

/* Sets ids[] to 1 ... n. */
static int from_one(int err, int n, int *ids)
{
    for (int i = 0; err == NC_NOERR && i < n; i++)
        ids[i] = i + 1;
    return err;
}

int F77_NAME(nf_inq_dimids, NF_INQ_DIMIDS)(const int *ncid, int *n, int *ids,
                                           const int *parents)
{
    (void)parents;
    int err = ncmpi_inq_ndims(*ncid, n);
    return from_one(err, *n, ids);
}

int F77_NAME(nf_inq_varids, NF_INQ_VARIDS)(const int *ncid, int *n, int *ids)
{
    int err = ncmpi_inq_nvars(*ncid, n);
    return from_one(err, *n, ids);
}

int F77_NAME(nf_inq_var_chunking, NF_INQ_VAR_CHUNKING)(const int *ncid, const int *varid,
                                                       int *storage, const int *sizes)
{
    (void)sizes; /* classic files have no chunks */
    return ncserial_inq_var_chunking(*ncid, (int)((unsigned)*varid - 1U), storage, NULL);
}

int F77_NAME(nf_inq_var_deflate, NF_INQ_VAR_DEFLATE)(const int *ncid, const int *varid,
                                                     int *shuffle, int *deflate,
                                                     int *level)
{
    return ncserial_inq_var_deflate(*ncid, (int)((unsigned)*varid - 1U), shuffle, deflate,
                                    level);
}

int F77_NAME(nf_inq_var_fletcher32, NF_INQ_VAR_FLETCHER32)(const int *ncid,
                                                           const int *varid, int *sum)
{
    return ncserial_inq_var_fletcher32(*ncid, (int)((unsigned)*varid - 1U), sum);
}

int F77_NAME(nf_inq_var_szip, NF_INQ_VAR_SZIP)(const int *ncid, const int *varid,
                                               int *options, int *pixels)
{
    return ncserial_inq_var_szip(*ncid, (int)((unsigned)*varid - 1U), options, pixels);
}

int F77_NAME(nf_set_chunk_cache, NF_SET_CHUNK_CACHE)(const int *size, const int *elements,
                                                     const int *preemption)
{
    (void)size, (void)elements, (void)preemption;
    return NC_NOERR;
}

int F77_NAME(nf_set_log_level, NF_SET_LOG_LEVEL)(const int *level)
{
    (void)level;
    return NC_NOERR;
}
