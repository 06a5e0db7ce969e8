/* MPI error classes to NC_ codes, by a table. */
#include "base_mpi.h"

#include <stddef.h>
#include <string.h>

#include "base_error.h"

static const struct {
    int class, code;
} classes[] = {
    {MPI_ERR_FILE_EXISTS, NC_EEXIST}, {MPI_ERR_NO_SUCH_FILE, NC_ENOENT},
    {MPI_ERR_AMODE, NC_EINVAL_OMODE}, {MPI_ERR_ACCESS, NC_EACCESS},
    {MPI_ERR_READ_ONLY, NC_EPERM},    {MPI_ERR_NO_SPACE, NC_ENO_SPACE},
    {MPI_ERR_QUOTA, NC_EQUOTA},       {MPI_ERR_BAD_FILE, NC_EBAD_FILE},
    {MPI_ERR_NO_MEM, NC_ENOMEM},
};

/* MPICH's words go on with the stack of its calls: the first line is for people. */
static void keep_first_line(char *text)
{
    static const char stack[] = ", error stack:";
    text[strcspn(text, "\n")] = '\0';
    size_t length = strlen(text), tail = sizeof stack - 1;
    if (length >= tail && strcmp(text + length - tail, stack) == 0)
        text[length - tail] = '\0';
}

int base_mpi_error(int mpi_result, int otherwise, const char *what)
{
    if (mpi_result == MPI_SUCCESS) return NC_NOERR;

    char text[MPI_MAX_ERROR_STRING] = "";
    int length, class, code = otherwise;
    if (MPI_Error_string(mpi_result, text, &length) != MPI_SUCCESS) text[0] = '\0';
    keep_first_line(text);
    if (MPI_Error_class(mpi_result, &class) == MPI_SUCCESS)
        for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
            if (classes[i].class == class) code = classes[i].code;
    return base_error_set(code, "%s: %s", what, text);
}
