/* Implements functions that do not return an error code. If a function returns a string,
 * the caller passes the string's address and length before the other arguments. */
#include "f77.h"
#include "f77_message.h"

#include <string.h>

void F77_NAME(nfmpi_inq_libvers, NFMPI_INQ_LIBVERS)(char *text, F77_STRLEN len)
{
    f77_text_out(text, len, ncmpi_inq_libvers());
}

void F77_NAME(nfmpi_strerror, NFMPI_STRERROR)(char *text, F77_STRLEN len, const int *err)
{
    f77_message(text, (size_t)len, ncmpi_strerror(*err), &f77_names_nfmpi);
}

/* In Fortran, the names of error codes begin with NF_. */
void F77_NAME(nfmpi_strerrno, NFMPI_STRERRNO)(char *text, F77_STRLEN len, const int *err)
{
    const char *name = ncmpi_strerrno(*err);
    f77_text_out(text, len, name);
    if (strncmp(name, "NC", 2) == 0 && len > 1) text[1] = 'F';
}

/* In PnetCDF, the three functions above call the following ones, so programs may have
 * been linked to these. They copy the string that the ncmpi_ function returns to the
 * caller's buffer. */
int F77_NAME(nfmpi_xinq_libvers, NFMPI_XINQ_LIBVERS)(char *text, F77_STRLEN len)
{
    f77_text_out(text, len, ncmpi_inq_libvers());
    return NC_NOERR;
}

int F77_NAME(nfmpi_xstrerror, NFMPI_XSTRERROR)(const int *err, char *text, F77_STRLEN len)
{
    f77_message(text, (size_t)len, ncmpi_strerror(*err), &f77_names_nfmpi);
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

/* Positive codes are system errors. All compilers represent .true. as 1. */
int F77_NAME(nfmpi_issyserr, NFMPI_ISSYSERR)(const int *err)
{
    return *err > 0;
}
