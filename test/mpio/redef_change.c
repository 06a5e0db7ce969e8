/* Implements redef_change.h. Each value encodes its variable and position. The header is
 * longer than a page, and most changes modify several of its pages. */
#include "redef_change.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

enum { FIXED = 3001, WIDE = 701, RECORDS = 6, ALL = 8, SHORT = 60, MORE = 5000 };
enum {
    GROW,
    ADD_FIXED,
    ADD_RECORD,
    ALIGN,
    DELETE,
    RENAME,
    APPEND,
    APPEND_GROW,
    LOGGED,
    EXCHANGE,
    CREATE
};
const char *const redef_names[] = {"a header that grows",
                                   "a new variable",
                                   "a new record variable",
                                   "another alignment",
                                   "attributes that go",
                                   "a new name",
                                   "new records",
                                   "new records, and a header that grows",
                                   "the same through logs",
                                   "attributes that go for a record variable",
                                   NULL};

int redef_creation(void)
{
    return CREATE;
}

void redef_hints(int change, const char *path, MPI_Info info)
{
    char directory[4096];
    const char *slash = strrchr(path, '/');
    if (change != LOGGED || slash == NULL) return;
    snprintf(directory, sizeof directory, "%.*s", (int)(slash - path), path);
    MPI_Info_set(info, "nc_burst_buf", "enable");
    MPI_Info_set(info, "nc_burst_buf_dirname", directory);
}

static int value(int var, int at)
{
    return (var + 1) * 1000000 + at * 7 + 1;
}

/* Stores the first error that occurs. */
static void keep(int *err, int rc)
{
    if (*err == NC_NOERR) *err = rc;
}

/* ---- the dataset: a fixed-size variable, two record variables, and many scalars ---- */

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

/* Puts this process's part of a variable with `n` values, or of record `rec` if it is a
 * record variable. */
static int put(int ncid, int var, MPI_Offset rec, int n)
{
    static int values[FIXED];
    int rank, nprocs, ndims = var == 0 ? 1 : var < 3 ? 2 : 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    int first = n * rank / nprocs, part = n * (rank + 1) / nprocs - first;
    MPI_Offset start[2] = {rec, first}, count[2] = {1, part};
    for (int i = 0; i < part; i++)
        values[i] = value(var, (int)rec * n + first + i);
    if (ndims == 0 && part == 0)
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

static void told(redef_teller *tell, int err, char what)
{
    if (tell != NULL && err == NC_NOERR) tell(what);
}

int redef_make(const char *path, MPI_Info info, redef_teller *tell)
{
    int ncid;
    int err = ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, info, &ncid);
    if (err != NC_NOERR) return err;
    err = define(ncid);
    keep(&err, ncmpi_enddef(ncid));
    told(tell, err, 'd');
    keep(&err, put(ncid, 0, 0, FIXED));
    keep(&err, put_records(ncid, 0, RECORDS));
    for (int i = 0; i < SHORT; i++)
        keep(&err, put(ncid, 3 + i, 0, 1));
    told(tell, err, 'p');
    keep(&err, ncmpi_sync(ncid));
    told(tell, err, 's');
    keep(&err, ncmpi_close(ncid));
    return err;
}

/* ---- the changes ---- */

static bool adds_records(int change)
{
    return change == ADD_RECORD || change == EXCHANGE;
}

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
    if (change == GROW || change == APPEND_GROW || change == LOGGED)
        keep(&err, ncmpi_put_att_text(ncid, NC_GLOBAL, "grown", MORE, text));
    if (change == ADD_FIXED || adds_records(change))
        keep(&err, add_variable(ncid, adds_records(change)));
    for (int i = 0; (change == DELETE || change == EXCHANGE) && i < SHORT; i++)
        keep(&err, ncmpi_del_att(ncid, 3 + i, "long_name"));
    keep(&err,
         change == ALIGN ? ncmpi__enddef(ncid, 0, 65536, 0, 4096) : ncmpi_enddef(ncid));
    return err;
}

static bool appends(int change)
{
    return change == APPEND || change == APPEND_GROW || change == LOGGED;
}

int redef_try(const char *path, int change, MPI_Info info, redef_teller *tell)
{
    int ncid;
    int err = ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid);
    if (err != NC_NOERR) return err;
    if (appends(change)) err = put_records(ncid, RECORDS, ALL);
    told(tell, err, 'p');
    int all = err; /* all error codes are negative */
    MPI_Allreduce(&err, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (change == RENAME)
        keep(&err, ncmpi_rename_var(ncid, 3, "b"));
    else if (change != APPEND && all == NC_NOERR)
        keep(&err, define_again(ncid, change));
    told(tell, err, 'd');
    keep(&err, ncmpi_sync(ncid));
    told(tell, err, 's');
    int closed = ncmpi_close(ncid);
    keep(&err, closed);
    return err;
}

/* ---- checks ---- */

static int complain(const char *what, int a, int b)
{
    fprintf(stderr, "%s: %d, %d\n", what, a, b);
    return -1;
}

/* Checks the first n values of a variable. For a record variable, n must be a multiple of
 * the number of values in a record. */
static int check_values(int ncid, int var, int n)
{
    int *values = malloc((size_t)n * sizeof *values), bad = 0;
    bool record = var == 1 || var == 2;
    MPI_Offset start[2] = {0, 0}, count[2] = {record ? n / WIDE : n, WIDE};
    if (ncmpi_get_vara_int_all(ncid, var, start, count, values) != NC_NOERR)
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

/* Checks the names and attributes of the scalars. Returns 1 if all scalars have been
 * changed, and 0 if none has. Any other state is an error. */
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

/* Returns 1 if the dataset has the new definitions, and 0 if it has the old ones. */
static int claim(int ncid, int change, int records)
{
    int id;
    MPI_Offset offset = 0;
    int is = check_short(ncid, change);
    switch (change) {
    case GROW:
    case APPEND_GROW:
    case LOGGED:
        return is < 0 ? is : ncmpi_inq_attid(ncid, NC_GLOBAL, "grown", &id) == NC_NOERR;
    case ADD_FIXED:
    case ADD_RECORD:
        return is < 0 ? is : ncmpi_inq_varid(ncid, "new", &id) == NC_NOERR;
    case EXCHANGE:
        if (is == (ncmpi_inq_varid(ncid, "new", &id) == NC_NOERR)) return is;
        return complain("half of the change", is, 1);
    case ALIGN:
        (void)ncmpi_inq_varoffset(ncid, 0, &offset);
        return is < 0 ? is : offset % 65536 == 0;
    case APPEND:
        return is < 0 ? is : records > RECORDS;
    default:
        return is;
    }
}

/* Checks an open dataset whose creation may have been interrupted. It must have all of
 * its definitions and, if `put` is set, all values. */
static int check_made(int ncid, bool put)
{
    int nvars = 0, is = check_short(ncid, CREATE);
    if (ncmpi_inq_nvars(ncid, &nvars) != NC_NOERR || nvars != 3 + SHORT || is != 0)
        return complain("definitions", nvars, is);
    if (!put) return 1;
    is = redef_is(ncid, GROW, false);
    return is == 0 ? 1 : is;
}

int redef_is(int ncid, int change, bool put)
{
    MPI_Offset records = 0;
    int id, bad = 0;
    if (change == CREATE) return check_made(ncid, put);
    if (ncmpi_inq_dimlen(ncid, 0, &records) != NC_NOERR || records < RECORDS)
        return complain("number of records", (int)records, RECORDS);
    int is = claim(ncid, change, (int)records);
    if (is < 0) return is;
    if (appends(change) && is == 1 && change != APPEND) put = true;
    if (put && appends(change) && records != ALL)
        return complain("number of records", (int)records, ALL);
    /* values of appended records may be missing */
    int whole = put || !appends(change) ? (int)records : RECORDS;
    bad |= check_values(ncid, 0, FIXED);
    bad |= check_values(ncid, 1, whole * WIDE);
    bad |= check_values(ncid, 2, whole * WIDE);
    for (int i = 0; i < SHORT; i++)
        bad |= check_values(ncid, 3 + i, 1);
    if (ncmpi_inq_varid(ncid, "new", &id) == NC_NOERR)
        bad |= check_filled(ncid, id, adds_records(change) ? (int)records * WIDE : WIDE);
    return bad != 0 ? -1 : is;
}
