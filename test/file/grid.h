/* Support for programs that run on several nodes. Their dataset has the dimensions time,
 * y and x, and each process puts a part of every record. */
#ifndef GRID_H
#define GRID_H

#include <mpi.h>
#include <stdio.h>

#include "pnetcdf.h"

static inline void need(int rc, const char *what)
{
    if (rc == NC_NOERR) return;
    fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(rc));
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Creates the dataset and its dimensions t, y and x. Returns it in define mode. */
static inline int create_grid(const char *path, MPI_Offset rows, MPI_Offset columns,
                              int dims[3])
{
    int ncid;
    need(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, &ncid),
         "create");
    need(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]), "def_dim");
    need(ncmpi_def_dim(ncid, "y", rows, &dims[1]), "def_dim");
    need(ncmpi_def_dim(ncid, "x", columns, &dims[2]), "def_dim");
    return ncid;
}

#endif
