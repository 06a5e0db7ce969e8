/* The shared file: the only place that calls MPI_File_*. */
#ifndef MPIO_FILE_H
#define MPIO_FILE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver.h"

/* Two handles on one file, so that changing the view never gets in the way of plain
 * bytes: `view` is opened when it is first needed. */
struct mpio_file {
    struct driver_dataset *ds;
    int amode;
    MPI_File bytes;
    MPI_File view;
    bool no_indep;   /* no independent I/O on the file: see romio_no_indep_rw */
    int64_t end;     /* this process knows that the file has as many bytes at least */
    int64_t stripe;  /* bytes that the file system keeps together; 0: nobody knows */
    int64_t stripes; /* over so many servers; 0: nobody knows */
    bool across;     /* the processes run on several nodes */
};

/* Collective and agreed. Where a process has an `error` from before nobody gets a file;
 * else f->end is the file's size, f->stripe the same everywhere. NC_ENOENT, NC_EEXIST,
 * NC_EACCESS, NC_EFILE ... */
int mpio_file_open_all(struct mpio_file *f, struct driver_dataset *ds, int amode,
                       int error);
int mpio_file_close_all(struct mpio_file *f);

/* Independent. n bytes of any amount at offset. What lies behind the file's end reads
 * as zeros. NC_EREAD; NC_EWRITE, NC_ENO_SPACE, NC_EQUOTA. */
int mpio_file_read(struct mpio_file *f, int64_t offset, void *bytes, int64_t n);
int mpio_file_write(struct mpio_file *f, int64_t offset, const void *bytes, int64_t n);

/* Collective: process 0 transfers n bytes, the others nothing; n is the same everywhere.
 * With bytes NULL process 0 takes part and transfers nothing either.
 * The result is process 0's own there and NC_NOERR elsewhere. */
int mpio_file_read_root_all(struct mpio_file *f, int64_t offset, void *bytes, int64_t n);
int mpio_file_write_root_all(struct mpio_file *f, int64_t offset, const void *bytes,
                             int64_t n);

/* Collective: n bytes (less than 2^31) between memory, as memtype describes it from
 * bytes, and the file through a view of filetype; MPI_BYTE and 0 on those that have
 * nothing. Reading behind the file's end is undefined: the caller looks first. */
int mpio_file_read_view_all(struct mpio_file *f, MPI_Datatype filetype,
                            MPI_Datatype memtype, void *bytes, int64_t n);
int mpio_file_write_view_all(struct mpio_file *f, MPI_Datatype filetype,
                             MPI_Datatype memtype, const void *bytes, int64_t n);

/* The file's size in bytes; local. */
int mpio_file_size(struct mpio_file *f, int64_t *size);
/* Collective; every process gives the same size. */
int mpio_file_resize_all(struct mpio_file *f, int64_t size);
/* Collective: what was written is on the device, and seen by all who come after. */
int mpio_file_sync_all(struct mpio_file *f);

/* What this process wrote is on the device. The handles are all processes': it takes one
 * of its own. */
int mpio_file_sync(struct mpio_file *f);

/* Adds the hints that MPI-IO has in force to info; local. */
int mpio_file_info(struct mpio_file *f, MPI_Info info);

/* Removes the file that was open, and never another that has its name by now; on process
 * 0. NC_EFILE ... */
int mpio_file_remove(struct driver_dataset *ds);

/* Removes a file; local. NC_ENOENT, NC_EFILE ... */
int mpio_file_delete(const char *path, MPI_Info info);

#endif
