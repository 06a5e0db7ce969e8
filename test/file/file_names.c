/* Used by names.sh and names_users.sh: makes the calls in which the library creates
 * files. Depending on the hints, these are logs, subfiles, staged files, traces and so
 * on.
 *
 *   file_names WHAT FILE
 *
 * WHAT is one of the following:
 *
 * - write: creates FILE, puts two records and syncs. Then adds a variable, which moves
 *   data, puts a record and closes.
 * - add: opens FILE for writing, puts a record independently and closes.
 * - over: opens FILE for writing, puts a record and runs `write`. Then closes FILE, which
 *   must return an error.
 * - leave: does what `add` does, but exits without a close, so values remain in logs.
 * - read: opens FILE for reading and compares all values.
 * - delete: deletes FILE.
 *
 * Values are random bits. If a call returns an error, the program prints it and exits
 * with status 2. If a value differs from the one that was put, it exits with status 3. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pnetcdf.h"
#include "splitmix.h"

enum { NX = 1237, TEXT = 20011 };

static int rank, nprocs, ncid, status;

static void check(int rc, const char *what)
{
    if (rc == NC_NOERR || status != 0) return;
    fprintf(stderr, "process %d: %s: %s\n", rank, what, ncmpi_strerror(rc));
    status = 2;
}

static int bits_of(MPI_Offset record, MPI_Offset x)
{
    return (int)splitmix_hash(((uint64_t)record << 32 ^ (uint64_t)x) + 1);
}

static void put_record(int independent)
{
    MPI_Offset records, from = (MPI_Offset)NX * rank / nprocs;
    MPI_Offset end = (MPI_Offset)NX * (rank + 1) / nprocs;
    int values[NX], varid;
    check(ncmpi_inq_dimlen(ncid, 0, &records), "inq_dimlen");
    check(ncmpi_inq_varid(ncid, "bits", &varid), "inq_varid");
    MPI_Offset start[2] = {records, from}, count[2] = {1, end - from};
    for (MPI_Offset x = from; x < end; x++)
        values[x - from] = bits_of(records, x);
    if (!independent) {
        check(ncmpi_put_vara_int_all(ncid, varid, start, count, values), "put_all");
        return;
    }
    check(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    check(ncmpi_put_vara_int(ncid, varid, start, count, values), "put");
    check(ncmpi_end_indep_data(ncid), "end_indep_data");
}

static void move_data(void)
{
    static char text[TEXT];
    int x, varid;
    memset(text, 'a', sizeof text);
    check(ncmpi_redef(ncid), "redef");
    check(ncmpi_put_att_text(ncid, NC_GLOBAL, "text", sizeof text, text), "put_att");
    check(ncmpi_inq_dimid(ncid, "x", &x), "inq_dimid");
    check(ncmpi_def_var(ncid, "more", NC_DOUBLE, 1, &x, &varid), "def_var");
    check(ncmpi_def_var_fill(ncid, varid, 0, NULL), "def_var_fill");
    check(ncmpi_enddef(ncid), "enddef of redef");
}

static void write_dataset(const char *path)
{
    int dims[2], varid;
    check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                       &ncid),
          "create");
    if (status != 0) return;
    check(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]), "def_dim");
    check(ncmpi_def_dim(ncid, "x", NX, &dims[1]), "def_dim");
    check(ncmpi_def_var(ncid, "bits", NC_INT, 2, dims, &varid), "def_var");
    check(ncmpi_enddef(ncid), "enddef");
    put_record(0);
    put_record(0);
    check(ncmpi_sync(ncid), "sync");
    move_data();
    put_record(0);
    check(ncmpi_close(ncid), "close");
}

static void add_record(const char *path, int leave)
{
    check(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), "open");
    if (status != 0) return;
    put_record(1);
    if (leave) {
        MPI_Barrier(MPI_COMM_WORLD);
        _exit(status);
    }
    check(ncmpi_close(ncid), "close");
}

static void write_over(const char *path)
{
    check(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), "open");
    if (status != 0) return;
    put_record(0);
    int old = ncid;
    write_dataset(path);
    if (ncmpi_close(old) == NC_NOERR && status == 0) {
        fprintf(stderr, "process %d: the close of %s is no error\n", rank, path);
        status = 2;
    }
}

static void read_dataset(const char *path)
{
    MPI_Offset records;
    int values[NX], varid;
    check(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    if (status != 0) return;
    check(ncmpi_inq_dimlen(ncid, 0, &records), "inq_dimlen");
    check(ncmpi_inq_varid(ncid, "bits", &varid), "inq_varid");
    for (MPI_Offset r = 0; r < records; r++) {
        MPI_Offset start[2] = {r, 0}, count[2] = {1, NX};
        check(ncmpi_get_vara_int_all(ncid, varid, start, count, values), "get");
        for (MPI_Offset x = 0; x < NX && status == 0; x++)
            if (values[x] != bits_of(r, x)) status = 3;
    }
    if (status == 3) fprintf(stderr, "process %d: another value\n", rank);
    check(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    const char *what = argc == 3 ? argv[1] : "";
    if (strcmp(what, "write") == 0)
        write_dataset(argv[2]);
    else if (strcmp(what, "read") == 0)
        read_dataset(argv[2]);
    else if (strcmp(what, "over") == 0)
        write_over(argv[2]);
    else if (strcmp(what, "delete") == 0)
        check(ncmpi_delete(argv[2], MPI_INFO_NULL), "delete");
    else
        add_record(argv[2], strcmp(what, "leave") == 0);
    MPI_Finalize();
    return status;
}
