/* Functions whose result is no error code. Of a string the caller passes the place and
 * the length first. */
#include "f77.h"

#include <string.h>

void F77_NAME(nfmpi_inq_libvers, NFMPI_INQ_LIBVERS)(char *text, F77_STRLEN len)
{
    f77_text_out(text, len, ncmpi_inq_libvers());
}

void F77_NAME(nfmpi_strerror, NFMPI_STRERROR)(char *text, F77_STRLEN len, const int *err)
{
    f77_text_out(text, len, ncmpi_strerror(*err));
}

/* The names of codes begin with NF_ here. */
void F77_NAME(nfmpi_strerrno, NFMPI_STRERRNO)(char *text, F77_STRLEN len, const int *err)
{
    const char *name = ncmpi_strerrno(*err);
    f77_text_out(text, len, name);
    if (strncmp(name, "NC", 2) == 0 && len > 1) text[1] = 'F';
}

/* Behind those three in PnetCDF's own library, for programs that link to it: ncmpi_ as it
 * is, into text that the caller has. */
int F77_NAME(nfmpi_xinq_libvers, NFMPI_XINQ_LIBVERS)(char *text, F77_STRLEN len)
{
    f77_text_out(text, len, ncmpi_inq_libvers());
    return NC_NOERR;
}

int F77_NAME(nfmpi_xstrerror, NFMPI_XSTRERROR)(const int *err, char *text, F77_STRLEN len)
{
    f77_text_out(text, len, ncmpi_strerror(*err));
    return NC_NOERR;
}

int F77_NAME(nfmpi_xstrerrno, NFMPI_XSTRERRNO)(const int *err, char *text, F77_STRLEN len)
{
    f77_text_out(text, len, ncmpi_strerrno(*err));
    return NC_NOERR;
}

int F77_NAME(nfmpi_inq_version, NFMPI_INQ_VERSION)(const int *ncid, int *mode)
{
    return ncmpi_inq_version(*ncid, mode);
}

/* A positive code is one of the system. 1 is .true. to every compiler. */
int F77_NAME(nfmpi_issyserr, NFMPI_ISSYSERR)(const int *err)
{
    return *err > 0;
}
