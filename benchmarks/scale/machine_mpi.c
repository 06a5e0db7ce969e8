/* Replacements for MPI-IO, and for calls that would block the whole simulation or take no
 * simulated time. The linker redirects the library's calls to NAME to __wrap_NAME. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mpi.h>
#include <sched.h>
#include <simgrid/actor.h>
#include <simgrid/host.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "machine_mpi.h"

/* ---- MPI-IO ---- */

/* State of a process's file handle. */
struct handle {
    struct store_file *file;
};

static struct handle *handle_of(MPI_File f)
{
    return (struct handle *)f;
}

int machine_mpi_error(int number)
{
    switch (number) {
    case 0:
        return MPI_SUCCESS;
    case ENOENT:
        return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
        return MPI_ERR_FILE_EXISTS;
    case EACCES:
        return MPI_ERR_ACCESS;
    case ENOSPC:
        return MPI_ERR_NO_SPACE;
    default:
        return MPI_ERR_IO;
    }
}

static int flags_of(int amode)
{
    int flags = O_RDWR;
    if (amode & MPI_MODE_RDONLY) flags = O_RDONLY;
    if (amode & MPI_MODE_WRONLY) flags = O_WRONLY;
    return flags;
}

/* Process 0 creates the file, and the others open it. Each process sends a metadata
 * request. */
int __wrap_MPI_File_open(MPI_Comm comm, const char *path, int amode, MPI_Info info,
                         MPI_File *f)
{
    (void)info;
    int rank, flags = flags_of(amode), err = 0;
    struct handle *h = calloc(1, sizeof *h);
    if (h == NULL) machine_fail("out of memory", path);
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) {
        int create = (amode & MPI_MODE_CREATE ? O_CREAT : 0) |
                     (amode & MPI_MODE_EXCL ? O_EXCL : 0);
        h->file = store_open(path, flags | create);
        if (h->file == NULL) err = machine_mpi_error(errno);
    }
    int mpi = MPI_Bcast(&err, 1, MPI_INT, 0, comm);
    if (mpi != MPI_SUCCESS) err = mpi;
    if (rank != 0 && err == 0) {
        h->file = store_open(path, flags);
        if (h->file == NULL) err = machine_mpi_error(errno);
    }
    if (err != 0) free(h);
    *f = err == 0 ? (MPI_File)h : MPI_FILE_NULL;
    return err;
}

int __wrap_MPI_File_close(MPI_File *f)
{
    store_close(handle_of(*f)->file);
    free(handle_of(*f));
    *f = MPI_FILE_NULL;
    return MPI_SUCCESS;
}

int __wrap_MPI_File_delete(const char *path, MPI_Info info)
{
    (void)info;
    if (path[0] == '\0') return MPI_ERR_NO_SUCH_FILE;
    return store_delete(path) == 0 ? MPI_SUCCESS : machine_mpi_error(errno);
}

int __wrap_MPI_File_get_size(MPI_File f, MPI_Offset *size)
{
    *size = store_size(handle_of(f)->file);
    return *size >= 0 ? MPI_SUCCESS : MPI_ERR_IO;
}

/* The first caller sets the size. The other processes find that it is already set. */
int __wrap_MPI_File_set_size(MPI_File f, MPI_Offset size)
{
    return store_resize(handle_of(f)->file, size) == 0 ? MPI_SUCCESS
                                                       : machine_mpi_error(errno);
}

int __wrap_MPI_File_sync(MPI_File f)
{
    return store_sync(handle_of(f)->file) == 0 ? MPI_SUCCESS : machine_mpi_error(errno);
}

int __wrap_MPI_File_get_info(MPI_File f, MPI_Info *info)
{
    char text[32];
    (void)f;
    int mpi = MPI_Info_create(info);
    snprintf(text, sizeof text, "%lld", (long long)machine_get()->stripe);
    if (mpi == MPI_SUCCESS) mpi = MPI_Info_set(*info, "striping_unit", text);
    snprintf(text, sizeof text, "%d", machine_file_servers());
    if (mpi == MPI_SUCCESS) mpi = MPI_Info_set(*info, "striping_factor", text);
    return mpi;
}

int __wrap_MPI_File_set_errhandler(MPI_File f, MPI_Errhandler handler)
{
    (void)f;
    (void)handler;
    return MPI_SUCCESS;
}

int __wrap_MPI_File_get_errhandler(MPI_File f, MPI_Errhandler *handler)
{
    (void)f;
    *handler = MPI_ERRORS_RETURN;
    return MPI_SUCCESS;
}

/* File views would need an implementation of MPI-IO's two-phase algorithm, which is
 * missing here. The functions are weak, so that another machine can provide one. */
#pragma weak __wrap_MPI_File_set_view
#pragma weak __wrap_MPI_File_read_at_all
#pragma weak __wrap_MPI_File_write_at_all

int __wrap_MPI_File_set_view(MPI_File f, MPI_Offset at, MPI_Datatype etype,
                             MPI_Datatype type, const char *how, MPI_Info info)
{
    (void)f, (void)at, (void)etype, (void)type, (void)how, (void)info;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

int machine_mpi_moved(int64_t done, MPI_Status *status)
{
    if (done < 0) return machine_mpi_error(errno);
    if (status != MPI_STATUS_IGNORE) {
        memset(status, 0, sizeof *status);
        status->count = (int)done;
    }
    return MPI_SUCCESS;
}

static int64_t bytes_of(int count, MPI_Datatype type)
{
    int size = 0;
    MPI_Type_size(type, &size);
    return (int64_t)count * size;
}

int __wrap_MPI_File_read_at(MPI_File f, MPI_Offset at, void *buf, int count,
                            MPI_Datatype type, MPI_Status *status)
{
    return machine_mpi_moved(
        store_read(handle_of(f)->file, at, buf, bytes_of(count, type)), status);
}

int __wrap_MPI_File_write_at(MPI_File f, MPI_Offset at, const void *buf, int count,
                             MPI_Datatype type, MPI_Status *status)
{
    return machine_mpi_moved(
        store_write(handle_of(f)->file, at, buf, bytes_of(count, type)), status);
}

/* Without file views, each process transfers its own data, as ROMIO does when collective
 * buffering is disabled. */
int __wrap_MPI_File_read_at_all(MPI_File f, MPI_Offset at, void *buf, int count,
                                MPI_Datatype type, MPI_Status *status)
{
    return __wrap_MPI_File_read_at(f, at, buf, count, type, status);
}

int __wrap_MPI_File_write_at_all(MPI_File f, MPI_Offset at, const void *buf, int count,
                                 MPI_Datatype type, MPI_Status *status)
{
    return __wrap_MPI_File_write_at(f, at, buf, count, type, status);
}

int __wrap_MPI_File_iread_at(MPI_File f, MPI_Offset at, void *buf, int count,
                             MPI_Datatype type, MPI_Request *request)
{
    *request = task_new(handle_of(f)->file, at, buf, bytes_of(count, type), false);
    return MPI_SUCCESS;
}

int __wrap_MPI_File_iwrite_at(MPI_File f, MPI_Offset at, const void *buf, int count,
                              MPI_Datatype type, MPI_Request *request)
{
    *request = task_new(handle_of(f)->file, at, (void *)buf, bytes_of(count, type), true);
    return MPI_SUCCESS;
}
