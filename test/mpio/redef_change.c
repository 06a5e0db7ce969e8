/* See redef_change.h. Values tell where they belong; the header is longer than a page, so
 * that most changes concern several of its pages. */
#include "redef_change.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

enum { FIXED = 3001, WIDE = 701, RECORDS = 6, SHORT = 60, MORE = 5000 };
enum { GROW, ADD_FIXED, ADD_RECORD, ALIGN, DELETE, RENAME, APPEND };
const char *const redef_names[] = {
    "a header that grows", "a new variable", "a new record variable", "another alignment",
    "attributes that go",  "a new name",     "new records",           NULL};

static int value(int var, int at)
{
    return (var + 1) * 1000000 + at * 7 + 1;
}

/* The first error counts. */
static void keep(int *err, int rc)
{
    if (*err == NC_NOERR) *err = rc;
}

/* ---- the dataset: a fixed-size variable, two of records, and many that are short ----
 */

static void name_short(int i, char *name, size_t size)
{
    snprintf(name, size, "a_variable_of_no_dimensions_%03d", i);
}

static int define(int ncid)
{
    int t, x, w, v, err = NC_NOERR, dims[2];
    char name[64], text[100];
    memset(text, 'a', sizeof text);
    keep(&err, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &t));
    keep(&err, ncmpi_def_dim(ncid, "x", FIXED, &x));
    keep(&err, ncmpi_def_dim(ncid, "w", WIDE, &w));
    if (err != NC_NOERR) return err;
    keep(&err, ncmpi_put_att_text(ncid, NC_GLOBAL, "first", sizeof text, text));
    keep(&err, ncmpi_def_var(ncid, "fixed", NC_INT, 1, &x, &v));
    dims[0] = t;
    dims[1] = w;
    keep(&err, ncmpi_def_var(ncid, "one", NC_INT, 2, dims, &v));
    keep(&err, ncmpi_def_var(ncid, "other", NC_INT, 2, dims, &v));
    for (int i = 0; i < SHORT && err == NC_NOERR; i++) {
        name_short(i, name, sizeof name);
        keep(&err, ncmpi_def_var(ncid, name, NC_INT, 0, NULL, &v));
        if (err == NC_NOERR)
            keep(&err, ncmpi_put_att_text(ncid, v, "long_name", 40, text));
    }
    return err;
}

/* Process 0 brings n values of a variable, in this record of it; all take part. */
static int put(int ncid, int var, MPI_Offset rec, int n)
{
    static int values[FIXED];
    int rank, ndims = var == 0 ? 1 : var < 3 ? 2 : 0;
    MPI_Offset start[2] = {rec, 0}, count[2] = {1, n};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < n; i++)
        values[i] = value(var, (int)rec * n + i);
    if (rank != 0) count[0] = count[1] = 0;
    if (ndims == 0 && rank != 0)
        return ncmpi_put_varn_int_all(ncid, var, 0, NULL, NULL, values);
    return ncmpi_put_vara_int_all(ncid, var, start + 2 - ndims, count + 2 - ndims,
                                  values);
}

static int put_records(int ncid, int from, int to)
{
    int err = NC_NOERR;
    for (int rec = from; rec < to; rec++)
        for (int var = 1; var < 3; var++)
            keep(&err, put(ncid, var, rec, WIDE));
    return err;
}

int redef_make(const char *path)
{
    int ncid;
    int err = ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, &ncid);
    if (err != NC_NOERR) return err;
    err = define(ncid);
    keep(&err, ncmpi_enddef(ncid));
    keep(&err, put(ncid, 0, 0, FIXED));
    keep(&err, put_records(ncid, 0, RECORDS));
    for (int i = 0; i < SHORT; i++)
        keep(&err, put(ncid, 3 + i, 0, 1));
    keep(&err, ncmpi_close(ncid));
    return err;
}

/* ---- the changes ---- */

static int add_variable(int ncid, bool record)
{
    int dims[2] = {0, 2}, v;
    int err =
        ncmpi_def_var(ncid, "new", NC_INT, 1 + record, record ? dims : &dims[1], &v);
    if (err == NC_NOERR) err = ncmpi_def_var_fill(ncid, v, 0, NULL);
    return err;
}

static int define_again(int ncid, int change)
{
    static char text[MORE];
    int err = ncmpi_redef(ncid);
    if (err != NC_NOERR) return err;
    memset(text, 'g', sizeof text);
    if (change == GROW)
        keep(&err, ncmpi_put_att_text(ncid, NC_GLOBAL, "grown", MORE, text));
    if (change == ADD_FIXED || change == ADD_RECORD)
        keep(&err, add_variable(ncid, change == ADD_RECORD));
    for (int i = 0; change == DELETE && i < SHORT; i++)
        keep(&err, ncmpi_del_att(ncid, 3 + i, "long_name"));
    keep(&err,
         change == ALIGN ? ncmpi__enddef(ncid, 0, 65536, 0, 4096) : ncmpi_enddef(ncid));
    return err;
}

int redef_try(const char *path, int change, MPI_Info info)
{
    int ncid;
    int err = ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid);
    if (err != NC_NOERR) return err;
    if (change == RENAME)
        err = ncmpi_rename_var(ncid, 3, "b");
    else if (change == APPEND)
        err = put_records(ncid, RECORDS, RECORDS + 2);
    else
        err = define_again(ncid, change);
    if (change == APPEND) keep(&err, ncmpi_sync(ncid));
    int closed = ncmpi_close(ncid);
    keep(&err, closed);
    return err;
}

/* ---- what is there? ---- */

static int complain(const char *what, int a, int b)
{
    fprintf(stderr, "%s: %d, %d\n", what, a, b);
    return -1;
}

static int check_values(int ncid, int var, int n)
{
    int *values = malloc((size_t)n * sizeof *values), bad = 0;
    if (ncmpi_get_var_int_all(ncid, var, values) != NC_NOERR)
        bad = complain("variable cannot be read", var, n);
    for (int i = 0; i < n && bad == 0; i++)
        if (values[i] != value(var, i)) bad = complain("value of a variable", var, i);
    free(values);
    return bad;
}

static int check_filled(int ncid, int var, int n)
{
    int *values = malloc((size_t)n * sizeof *values), bad = 0;
    if (ncmpi_get_var_int_all(ncid, var, values) != NC_NOERR)
        bad = complain("new variable cannot be read", var, n);
    for (int i = 0; i < n && bad == 0; i++)
        if (values[i] != NC_FILL_INT) bad = complain("fill value", i, values[i]);
    free(values);
    return bad;
}

/* Names and attributes of the short ones: they have all been changed, or none. */
static int check_short(int ncid, int change)
{
    int is = -2;
    for (int i = 0; i < SHORT; i++) {
        char name[NC_MAX_NAME + 1] = "", mine[64];
        int att, this = ncmpi_inq_attid(ncid, 3 + i, "long_name", &att) != NC_NOERR;
        if (ncmpi_inq_varname(ncid, 3 + i, name) != NC_NOERR)
            return complain("name", i, 0);
        name_short(i, mine, sizeof mine);
        if (change == RENAME) this = i == 0 && strcmp(name, "b") == 0;
        if (change == RENAME && i > 0) this = is;
        bool same = strcmp(name, mine) == 0 || (this && change == RENAME && i == 0);
        if (!same || (is != -2 && this != is)) return complain("short variable", i, this);
        is = this;
    }
    return is;
}

/* Which of both it claims to be. */
static int claim(int ncid, int change, int records)
{
    int id;
    MPI_Offset offset = 0;
    int is = check_short(ncid, change);
    switch (change) {
    case GROW:
        return is < 0 ? is : ncmpi_inq_attid(ncid, NC_GLOBAL, "grown", &id) == NC_NOERR;
    case ADD_FIXED:
    case ADD_RECORD:
        return is < 0 ? is : ncmpi_inq_varid(ncid, "new", &id) == NC_NOERR;
    case ALIGN:
        (void)ncmpi_inq_varoffset(ncid, 0, &offset);
        return is < 0 ? is : offset % 65536 == 0;
    case APPEND:
        return is < 0 ? is : records > RECORDS;
    default:
        return is;
    }
}

int redef_is(int ncid, int change)
{
    MPI_Offset records = 0;
    int id, bad = 0;
    if (ncmpi_inq_dimlen(ncid, 0, &records) != NC_NOERR || records < RECORDS)
        return complain("number of records", (int)records, RECORDS);
    int is = claim(ncid, change, (int)records);
    if (is < 0) return is;
    bad |= check_values(ncid, 0, FIXED);
    /* of records that are being appended some may not be there yet */
    if (change != APPEND || is == 0) {
        bad |= check_values(ncid, 1, (int)records * WIDE);
        bad |= check_values(ncid, 2, (int)records * WIDE);
    }
    for (int i = 0; i < SHORT; i++)
        bad |= check_values(ncid, 3 + i, 1);
    if (ncmpi_inq_varid(ncid, "new", &id) == NC_NOERR)
        bad |= check_filled(ncid, id, change == ADD_RECORD ? (int)records * WIDE : WIDE);
    return bad != 0 ? -1 : is;
}
