/* join_write FORMAT NAME [more]: writes a dataset with variables of all types, which are
 * distributed over the processes in different ways. Each value depends only on its
 * position, not on the process that puts it, so the datasets of all runs can be compared.
 * With `more`, opens an existing dataset, adds a record, and puts some values a second
 * time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

enum { NY = 29, NX = 37, NRECORDS = 3, NIRREGULAR = 1009, NTYPES = 11 };

static int rank, nprocs, ncid, bad;

static void must(int err, const char *what)
{
    if (err == NC_NOERR) return;
    printf("process %d: %s: %s\n", rank, what, ncmpi_strerror(err));
    bad++;
}

static long long value(int varid, long long element)
{
    return (element * 7 + varid * 31) % 113;
}

/* ---- definitions ---- */

static int ndims, dims[3], blocks[NTYPES], records[NTYPES], irregular, irregular_record,
    whole, single, scalar, gaps;

static int define(const char *name, int type, int n, const int *dimids)
{
    int id = -1;
    must(ncmpi_def_var(ncid, name, type, n, dimids, &id), name);
    return id;
}

static void define_all(int ntypes)
{
    char name[32];
    int list;
    must(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]), "time");
    must(ncmpi_def_dim(ncid, "y", NY, &dims[1]), "y");
    must(ncmpi_def_dim(ncid, "x", NX, &dims[2]), "x");
    must(ncmpi_def_dim(ncid, "list", NIRREGULAR, &list), "list");
    for (int i = 0; i < ntypes; i++) {
        snprintf(name, sizeof name, "block_%d", i + 1);
        blocks[i] = define(name, i + 1, 2, dims + 1);
        snprintf(name, sizeof name, "record_%d", i + 1);
        records[i] = define(name, i + 1, 3, dims);
    }
    int of_record[2] = {dims[0], list};
    irregular = define("irregular", NC_DOUBLE, 1, &list);
    irregular_record = define("irregular_record", NC_FLOAT, 2, of_record);
    whole = define("whole", NC_INT, 2, dims + 1);
    single = define("single", NC_SHORT, 1, &list);
    scalar = define("scalar", NC_DOUBLE, 0, NULL);
    gaps = define("gaps", NC_INT, 2, dims + 1);
    must(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 5, "words"), "title");
    must(ncmpi_enddef(ncid), "enddef");
}

static void find_all(int ntypes)
{
    char name[32];
    for (int i = 0; i < ntypes; i++) {
        snprintf(name, sizeof name, "block_%d", i + 1);
        must(ncmpi_inq_varid(ncid, name, &blocks[i]), name);
        snprintf(name, sizeof name, "record_%d", i + 1);
        must(ncmpi_inq_varid(ncid, name, &records[i]), name);
    }
    must(ncmpi_inq_varid(ncid, "irregular_record", &irregular_record),
         "irregular_record");
    must(ncmpi_inq_varid(ncid, "single", &single), "single");
}

/* ---- values ---- */

static void put(int varid, const MPI_Offset *start, const MPI_Offset *count)
{
    static int values[NY * NX + NIRREGULAR];
    static char text[NY * NX];
    int type, n = 0;
    must(ncmpi_inq_vartype(ncid, varid, &type), "type");
    must(ncmpi_inq_varndims(ncid, varid, &ndims), "ndims");
    const MPI_Offset *s = start + ndims - 2, *c = count + ndims - 2;
    MPI_Offset record = ndims == 3 ? start[0] : 0;
    for (MPI_Offset y = s[0]; y < s[0] + c[0]; y++)
        for (MPI_Offset x = s[1]; x < s[1] + c[1]; x++, n++) {
            values[n] = (int)value(varid, (record * NY + y) * NX + x);
            text[n] = (char)values[n];
        }
    if (type == NC_CHAR)
        must(ncmpi_put_vara_text_all(ncid, varid, start, count, text), "text");
    else
        must(ncmpi_put_vara_int_all(ncid, varid, start, count, values), "put");
}

/* For even i, puts blocks of rows. For odd i, puts blocks of columns, except on the last
 * process, which puts nothing (unless it is the only one). */
static void put_block(int i, int record)
{
    int id = record < 0 ? blocks[i] : records[i];
    int owners = nprocs > 1 ? nprocs - i % 2 : 1, dim = 1 + i % 2;
    MPI_Offset start[3] = {record, 0, 0}, count[3] = {1, NY, NX};
    MPI_Offset of = dim == 1 ? NY : NX;
    start[dim] = rank < owners ? of * rank / owners : 0;
    count[dim] = rank < owners ? of * (rank + 1) / owners - start[dim] : 0;
    put(id, start + (record < 0), count + (record < 0));
}

/* Puts runs of one to four elements. Each process's runs are scattered over the
 * variable. */
static void put_irregular(int varid, int record)
{
    static MPI_Offset starts[NIRREGULAR][2], counts[NIRREGULAR][2];
    static MPI_Offset *s[NIRREGULAR], *c[NIRREGULAR];
    static double values[NIRREGULAR];
    int n = 0, k = 0, turn = 0;
    for (int at = 0, length; at < NIRREGULAR; at += length, turn++) {
        length = 1 + turn * turn % 4;
        if (length > NIRREGULAR - at) length = NIRREGULAR - at;
        if ((turn * 5 + turn / 7) % nprocs != rank) continue;
        int d = record >= 0;
        starts[n][0] = record;
        counts[n][0] = 1;
        starts[n][d] = at;
        counts[n][d] = length;
        s[n] = starts[n];
        c[n] = counts[n];
        n++;
        for (int i = 0; i < length; i++)
            values[k++] =
                (double)value(varid, (record < 0 ? 0 : record) * NIRREGULAR + at + i);
    }
    must(ncmpi_put_varn_double_all(ncid, varid, n, s, c, values), "varn");
}

static void put_single(int by)
{
    static int values[NIRREGULAR];
    MPI_Offset start = 5, count = rank == by ? NIRREGULAR - 17 : 0;
    for (int i = 0; i < NIRREGULAR; i++)
        values[i] = (int)value(single, i);
    must(ncmpi_put_vara_int_all(ncid, single, &start, &count, values), "single");
}

static void put_all(int ntypes)
{
    MPI_Offset all[2] = {NY, NX}, none[2] = {0, 0}, start[2] = {0, rank},
               count[2] = {NY / 2, rank < NX ? 1 : 0}, step[2] = {2, 1};
    static int column[NY];
    double pi = 3.25;
    for (int i = 0; i < ntypes; i++)
        put_block(i, -1);
    for (int record = 0; record < NRECORDS; record++) {
        for (int i = 0; i < ntypes; i++)
            put_block(i, record);
        put_irregular(irregular_record, record);
    }
    put_irregular(irregular, -1);
    put(whole, none, all);
    put_single(0);
    must(ncmpi_put_var_double_all(ncid, scalar, &pi), "scalar");
    for (int y = 0; y < NY; y++)
        column[y] = 1000 + y;
    must(ncmpi_put_vars_int_all(ncid, gaps, start, count, step, column), "gaps");
}

static void put_more(int ntypes)
{
    for (int i = 0; i < ntypes; i += 2)
        put_block(i, -1);
    for (int i = 0; i < ntypes; i++)
        put_block(i, NRECORDS);
    put_irregular(irregular_record, 1);
    put_irregular(irregular_record, NRECORDS);
    put_single(nprocs - 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    int format = argc > 2 ? atoi(argv[1]) : 1, ntypes = format == 5 ? NTYPES : 6;
    int mode = format == 5 ? NC_64BIT_DATA : format == 2 ? NC_64BIT_OFFSET : 0;
    if (argc > 3) {
        must(ncmpi_open(MPI_COMM_WORLD, argv[2], NC_WRITE, MPI_INFO_NULL, &ncid), "open");
        if (bad == 0) find_all(ntypes);
        if (bad == 0) put_more(ntypes);
    } else {
        must(ncmpi_create(MPI_COMM_WORLD, argv[2], mode, MPI_INFO_NULL, &ncid), "create");
        if (bad == 0) define_all(ntypes);
        if (bad == 0) put_all(ntypes);
    }
    must(ncmpi_close(ncid), "close");
    MPI_Finalize();
    return bad != 0;
}
