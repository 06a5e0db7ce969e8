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

/* A positive code is one of the system. 1 is .true. to every compiler. */
int F77_NAME(nfmpi_issyserr, NFMPI_ISSYSERR)(const int *err)
{
    return *err > 0;
}
