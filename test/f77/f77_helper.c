/* C functions that the Fortran tests call to compare the two languages. They transfer
 * whole variables, or compare whole files. */
#include "f77_helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Converts a path from a Fortran string to a C string, in one of two static buffers that
 * are used alternately. */
static const char *path_of(const char *text, F77_STRLEN len, int which)
{
    static char paths[2][512];
    size_t n = (size_t)len;
    while (n > 0 && text[n - 1] == ' ')
        n--;
    snprintf(paths[which], sizeof paths[which], "%.*s", (int)n, text);
    return paths[which];
}

/* Write or read all `n` values of a variable. They are numbers or, if `text` is set,
 * character codes. Collective. */
int F77_NAME(helper_write_var, HELPER_WRITE_VAR)(const int *ncid, const int *varid,
                                                 const int *text, const int *n,
                                                 const int *values)
{
    if (!*text) return ncmpi_put_var_int_all(*ncid, *varid - 1, values);
    char *letters = malloc((size_t)*n);
    if (!letters) return NC_ENOMEM;
    for (int i = 0; i < *n; i++)
        letters[i] = (char)values[i];
    int err = ncmpi_put_var_text_all(*ncid, *varid - 1, letters);
    free(letters);
    return err;
}

int F77_NAME(helper_read_var, HELPER_READ_VAR)(const int *ncid, const int *varid,
                                               const int *text, const int *n, int *values)
{
    if (!*text) return ncmpi_get_var_int_all(*ncid, *varid - 1, values);
    char *letters = malloc((size_t)*n);
    if (!letters) return NC_ENOMEM;
    int err = ncmpi_get_var_text_all(*ncid, *varid - 1, letters);
    for (int i = 0; i < *n; i++)
        values[i] = letters[i];
    free(letters);
    return err;
}

/* Returns 1 if two files contain the same bytes, otherwise 0. */
int F77_NAME(helper_same_files, HELPER_SAME_FILES)(const char *text, const char *other,
                                                   F77_STRLEN len, F77_STRLEN other_len)
{
    FILE *a = fopen(path_of(text, len, 0), "rb");
    FILE *b = fopen(path_of(other, other_len, 1), "rb");
    int same = a && b, one = 0, two = 0;
    while (same && one != EOF) {
        one = getc(a);
        two = getc(b);
        same = one == two;
    }
    if (a) fclose(a);
    if (b) fclose(b);
    return same;
}
