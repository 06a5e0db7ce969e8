/* Helpers for tests in which two programs have a dataset open: the test itself, on all
 * processes, and another program, which process 0 simulates. */
#ifndef TWO_OPENINGS_H
#define TWO_OPENINGS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "made_dataset.h"

enum { X = 1000, FIRST = 0, SECOND = 1 };

/* Executes a statement on process 0 while all other processes wait. */
#define BESIDE(...)                                                                      \
    do {                                                                                 \
        MPI_Barrier(MPI_COMM_WORLD);                                                     \
        if (check.rank == 0) {                                                           \
            __VA_ARGS__;                                                                 \
        }                                                                                \
        MPI_Barrier(MPI_COMM_WORLD);                                                     \
    } while (0)

/* Creates a dataset with two record variables, an attribute, and padding after the
 * header. */
static inline void make_dataset(const char *name, MPI_Offset room)
{
    int ncid = new_dataset(name);
    int dims[] = {new_dim(ncid, "t", NC_UNLIMITED), new_dim(ncid, "x", X)};
    int first = new_var(ncid, "first", NC_DOUBLE, 2, dims);
    new_var(ncid, "second", NC_DOUBLE, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, first, "units", 6, "metres"));
    CHECK_NC(NC_NOERR, ncmpi__enddef(ncid, room, 4, 0, 4));
    close_dataset(ncid);
    complete_closes();
}

static inline int open_with(const char *name, const char *hints)
{
    int ncid = -1;
    MPI_Info info = check_info(hints);
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path(name), NC_WRITE, info, &ncid));
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    return ncid;
}

/* Opens the dataset on process 0 only. */
static inline int open_beside(const char *name, int omode)
{
    int ncid = -1;
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_SELF, check_path(name), omode, MPI_INFO_NULL, &ncid));
    return ncid;
}

static inline double value_of(int varid, int rec)
{
    return 100 * (varid + 1) + rec;
}

/* Puts one record of a variable, on process 0 only. */
static inline int put_record(int ncid, int varid, int rec, bool collective)
{
    double values[X];
    MPI_Offset start[] = {rec, 0}, count[] = {1, X};
    for (int i = 0; i < X; i++)
        values[i] = value_of(varid, rec);
    if (check.rank != 0) count[0] = 0;
    return collective ? ncmpi_put_vara_double_all(ncid, varid, start, count, values)
                      : ncmpi_put_vara_double(ncid, varid, start, count, values);
}

/* Checks on process 0 that the record has the values that were put. */
static inline void expect_record(const char *name, int varid, int rec)
{
    double values[X] = {0};
    MPI_Offset start[] = {rec, 0}, count[] = {1, X};
    int wrong = 0, ncid = open_beside(name, NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_get_vara_double_all(ncid, varid, start, count, values));
    for (int i = 0; i < X; i++)
        wrong += values[i] != value_of(varid, rec);
    CHECK_EQ(0, wrong);
    close_dataset(ncid);
}

/* Checks the number of records, and that the file ends exactly at the end of the last
 * record. */
static inline void expect_records(const char *name, MPI_Offset records)
{
    MPI_Offset length = -1, size = 0, begin = -1;
    struct stat st;
    int ncid = open_beside(name, NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, 0, &length));
    CHECK_EQ(records, length);
    CHECK_NC(NC_NOERR, ncmpi_inq_recsize(ncid, &size));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, FIRST, &begin));
    close_dataset(ncid);
    CHECK_EQ(0, stat(check_path(name), &st));
    CHECK_EQ(begin + records * size, st.st_size);
}

/* Returns the contents of the file. The caller must free them. */
static inline char *contents(const char *name, long *size)
{
    FILE *f = fopen(check_path(name), "r");
    CHECK(f != NULL && fseek(f, 0, SEEK_END) == 0);
    *size = ftell(f);
    char *bytes = malloc((size_t)*size + 1);
    rewind(f);
    CHECK_EQ(1, fread(bytes, (size_t)*size, 1, f));
    fclose(f);
    return bytes;
}

static inline void expect_contents(const char *name, char *bytes, long size)
{
    long now;
    char *is = contents(name, &now);
    CHECK_EQ(size, now);
    CHECK(size == now && memcmp(bytes, is, (size_t)size) == 0);
    free(is);
    free(bytes);
}

/* Checks that a call has failed, and that its message names the file and contains
 * `words`. */
static inline void expect_refused(int err, const char *words)
{
    CHECK_NC(NC_EFILE, err);
    CHECK(strstr(ncmpi_strerror(err), words) != NULL);
    CHECK(strstr(ncmpi_strerror(err), ".nc: ") != NULL);
}

/* Checks the value that an attribute has for this ncid. */
static inline void expect_units(int ncid, const char *expected)
{
    char text[64] = "";
    CHECK_NC(NC_NOERR, ncmpi_get_att_text(ncid, FIRST, "units", text));
    CHECK_STR(expected, text);
}

#endif
