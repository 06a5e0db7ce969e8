/* netCDF-Fortran: what the generated functions share, and those with a path or a text. */
#include "serial_nf.h"

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
        if (err == NC_NOERR)
            at->varid = -2; /* no variable that a program could have made */
        n = 0;
    }
    at->slab.kind = kind;
    at->slab.start = reversed(start, n, 1, at->room[0]);
    at->slab.count = reversed(count, n, 0, at->room[1]);
    at->slab.stride = reversed(stride, n, 0, at->room[2]);
    at->slab.imap = reversed(imap, n, 0, at->room[3]);
}

/* A path without the blanks at its end, to be freed; NULL where memory is short. */
static char *path_of(const char *text, F77_STRLEN len)
{
    size_t n = (size_t)len;
    while (n > 0 && text[n - 1] == ' ')
        n--;
    return strndup(text, n);
}

int F77_NAME(nf_create, NF_CREATE)(const char *text, const int *cmode, int *ncid,
                                   F77_STRLEN len)
{
    char *path = path_of(text, len);
    int err = path ? ncserial_create(path, *cmode, ncid) : NC_ENOMEM;
    free(path);
    return err;
}

int F77_NAME(nf_open, NF_OPEN)(const char *text, const int *omode, int *ncid,
                               F77_STRLEN len)
{
    char *path = path_of(text, len);
    int err = path ? ncserial_open(path, *omode, ncid) : NC_ENOMEM;
    free(path);
    return err;
}

int F77_NAME(nf_delete, NF_DELETE)(const char *text, F77_STRLEN len)
{
    char *path = path_of(text, len);
    int err = path ? ncserial_delete(path) : NC_ENOMEM;
    free(path);
    return err;
}

int F77_NAME(nf_set_fill, NF_SET_FILL)(const int *ncid, const int *mode, int *old)
{
    return ncserial_set_fill(*ncid, *mode, old);
}

/* The communicator for all files opened from now on. */
void F77_NAME(nf_serial_comm, NF_SERIAL_COMM)(const MPI_Fint *comm)
{
    ncserial_comm(MPI_Comm_f2c(*comm));
}

static void text_out(char *text, F77_STRLEN len, const char *string)
{
    size_t room = (size_t)len, n = strlen(string);
    if (n > room) n = room;
    memcpy(text, string, n);
    memset(text + n, ' ', room - n);
}

void F77_NAME(nf_strerror, NF_STRERROR)(char *text, F77_STRLEN len, const int *err)
{
    text_out(text, len, ncmpi_strerror(*err));
}

void F77_NAME(nf_inq_libvers, NF_INQ_LIBVERS)(char *text, F77_STRLEN len)
{
    text_out(text, len, ncmpi_inq_libvers());
}

int F77_NAME(nf_issyserr, NF_ISSYSERR)(const int *err)
{
    return *err > 0;
}
