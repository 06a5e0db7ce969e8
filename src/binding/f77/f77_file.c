/* Implements functions that take or return a path. */
#include "base_mem.h"
#include "f77.h"

/* Returns the path, or "" if it could not be allocated. No file is named "", so the call
 * fails on all processes. */
static const char *path_or_empty(const char *path)
{
    return path ? path : "";
}

static int path_end(char *path, int err)
{
    if (!path) return NC_ENOMEM;
    base_free(path);
    return err;
}

int F77_NAME(nfmpi_create, NFMPI_CREATE)(const MPI_Fint *comm, const char *text,
                                         const int *cmode, const MPI_Fint *info,
                                         int *ncid, F77_STRLEN len)
{
    char *path = f77_path_in(text, len);
    return path_end(path, ncmpi_create(MPI_Comm_f2c(*comm), path_or_empty(path), *cmode,
                                       MPI_Info_f2c(*info), ncid));
}

int F77_NAME(nfmpi_open, NFMPI_OPEN)(const MPI_Fint *comm, const char *text,
                                     const int *omode, const MPI_Fint *info, int *ncid,
                                     F77_STRLEN len)
{
    char *path = f77_path_in(text, len);
    return path_end(path, ncmpi_open(MPI_Comm_f2c(*comm), path_or_empty(path), *omode,
                                     MPI_Info_f2c(*info), ncid));
}

int F77_NAME(nfmpi_delete, NFMPI_DELETE)(const char *text, const MPI_Fint *info,
                                         F77_STRLEN len)
{
    char *path = f77_path_in(text, len);
    return path_end(path, ncmpi_delete(path_or_empty(path), MPI_Info_f2c(*info)));
}

int F77_NAME(nfmpi_inq_file_format, NFMPI_INQ_FILE_FORMAT)(const char *text, int *format,
                                                           F77_STRLEN len)
{
    char *path = f77_path_in(text, len);
    return path_end(path, ncmpi_inq_file_format(path_or_empty(path), format));
}

int F77_NAME(nfmpi_inq_path, NFMPI_INQ_PATH)(const int *ncid, int *pathlen, char *text,
                                             F77_STRLEN len)
{
    int err = ncmpi_inq_path(*ncid, pathlen, NULL);
    if (err != NC_NOERR) return err;
    char *path = base_malloc((size_t)*pathlen + 1);
    if (!path) return NC_ENOMEM;
    err = ncmpi_inq_path(*ncid, pathlen, path);
    if (err == NC_NOERR) f77_text_out(text, len, path);
    return path_end(path, err);
}
