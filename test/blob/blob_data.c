/* Tests the values of datasets in subfiles. Every element must have exactly one location,
 * no matter which process puts or gets it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../api/made_dataset.h"
#include "../driver/counts.h"

enum { NX = 12, NY = 7, NZ = NX * NY };

/* Hints for a dataset with blobs, in two subfiles if there are at least two processes. */
static const char two_subfiles[] = "nc_blob=enable;nc_num_subfiles=2";
static const char *hints = two_subfiles;

struct scene {
    int ncid, fixed, record, single, rest; /* no map contains variable `rest` */
};

static struct scene define(const char *name)
{
    struct scene s = {.ncid = -1};
    MPI_Info info = check_info(hints);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path(name),
                                    NC_CLOBBER | check.cmode, info, &s.ncid));
    MPI_Info_free(&info);
    int dims[3] = {new_dim(s.ncid, "time", NC_UNLIMITED), new_dim(s.ncid, "y", NY),
                   new_dim(s.ncid, "x", NX)};
    s.fixed = new_var(s.ncid, "fixed", NC_INT, 2, dims + 1);
    s.record = new_var(s.ncid, "record", NC_DOUBLE, 3, dims);
    s.single = new_var(s.ncid, "single", NC_INT, 2, dims + 1);
    s.rest = new_var(s.ncid, "rest", NC_SHORT, 1, dims + 2);
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(s.ncid, s.record, 0, NULL));
    CHECK_NC(NC_NOERR, ncmpi_enddef(s.ncid));
    return s;
}

static int value_of(int record, int i)
{
    return 1000 * (record + 1) + i;
}

/* Selects this process's columns of one record. */
static void columns(MPI_Offset *start, MPI_Offset *count, int record)
{
    start[0] = record;
    count[0] = 1;
    start[1] = 0;
    count[1] = NY;
    start[2] = NX * check.rank / check.nprocs;
    count[2] = NX * (check.rank + 1) / check.nprocs - start[2];
}

static void put_columns(const struct scene *s, int record, int shift)
{
    MPI_Offset start[3], count[3];
    int values[NZ], n = 0;
    columns(start, count, record);
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < count[2]; x++)
            values[n++] = value_of(record, y * NX + (int)start[2] + x) + shift;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(s->ncid, s->record, start, count, values));
    if (record == 0)
        CHECK_NC(NC_NOERR,
                 ncmpi_put_vara_int_all(s->ncid, s->fixed, start + 1, count + 1, values));
}

static struct scene filled(const char *name)
{
    struct scene s = define(name);
    short rest[NX];
    int one[NZ];
    for (int i = 0; i < NX; i++)
        rest[i] = (short)(7 * i);
    for (int i = 0; i < NZ; i++)
        one[i] = -i;
    put_columns(&s, 0, 0);
    put_columns(&s, 1, 0);
    MPI_Offset start[2] = {0, 0}, count[2] = {check.rank == 0 ? NY : 0, NX};
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(s.ncid, s.single, start, count, one));
    CHECK_NC(NC_NOERR, ncmpi_put_var_short_all(s.ncid, s.rest, rest));
    return s;
}

/* Checks with independent and collective gets that all values are those that were put. */
static void check_all(const struct scene *s, int nrecords)
{
    double record[NZ];
    int fixed[NZ], single[NZ];
    short rest[NX];
    for (int r = 0; r < nrecords; r++) {
        MPI_Offset start[3] = {r, 0, 0}, count[3] = {1, NY, NX};
        CHECK_NC(NC_NOERR,
                 ncmpi_get_vara_double_all(s->ncid, s->record, start, count, record));
        for (int i = 0; i < NZ; i++)
            if (!CHECK(record[i] == value_of(r, i))) break;
    }
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(s->ncid, s->fixed, fixed));
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(s->ncid, s->single, single));
    CHECK_NC(NC_NOERR, ncmpi_get_var_short_all(s->ncid, s->rest, rest));
    for (int i = 0; i < NZ; i++)
        if (!CHECK_EQ(value_of(0, i), fixed[i]) || !CHECK_EQ(-i, single[i])) break;
    for (int i = 0; i < NX; i++)
        CHECK_EQ(7 * i, rest[i]);
}

static int subfiles(void)
{
    return check.nprocs < 2 ? 1 : 2;
}

static const char *subfile_name(const char *name, int number)
{
    static char path[64];
    snprintf(path, sizeof path, "%s.%04d", name, number);
    return path;
}

static const char *subfile(const char *name, int number)
{
    return check_path(subfile_name(name, number));
}

/* ---- */

static void values_of_blobs_are_read_back(void)
{
    struct scene s = filled("a.nc");
    CHECK_NC(NC_NOERR, ncmpi_sync(s.ncid));
    check_all(&s, 2);
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(s.ncid));
    CHECK_NC(NC_NOERR, ncmpi_sync(s.ncid));
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(s.ncid));
    close_dataset(s.ncid);
    s.ncid = open_dataset("a.nc", NC_NOWRITE);
    check_all(&s, 2);
    close_dataset(s.ncid);
}

/* Checks for the attributes that E3SM writes to its blob files. */
static void subfiles_have_the_attributes_of_E3SMs_blob_files(void)
{
    struct scene s = filled("a.nc");
    close_dataset(s.ncid);
    for (int i = 0; i < subfiles(); i++) {
        int ncid = -1, number = -1, varid, ndims, dims[2], id = -1, ids[3] = {-1, -1, -1};
        char name[NC_MAX_NAME + 1];
        MPI_Offset n, all = 0;
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, subfile("a.nc", i), NC_NOWRITE,
                                      MPI_INFO_NULL, &ncid));
        CHECK_NC(NC_NOERR, ncmpi_get_att_int(ncid, NC_GLOBAL, "num_subfiles", &number));
        CHECK_EQ(subfiles(), number);
        CHECK_NC(NC_NOERR, ncmpi_get_att_int(ncid, NC_GLOBAL, "global_nprocs", &number));
        CHECK_EQ(check.nprocs, number);
        CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "record", &varid));
        CHECK_NC(NC_NOERR, ncmpi_inq_var(ncid, varid, NULL, NULL, &ndims, dims, NULL));
        CHECK_EQ(2, ndims);
        CHECK_NC(NC_NOERR, ncmpi_inq_dim(ncid, dims[1], name, &n));
        CHECK_STR("D1.nelems", name);
        CHECK_NC(NC_NOERR, ncmpi_get_att_int(ncid, varid, "decomposition_ID", &id));
        CHECK_EQ(1, id);
        CHECK_NC(NC_NOERR, ncmpi_get_att_int(ncid, varid, "global_dimids", ids));
        CHECK(ids[0] == 0 && ids[1] == 1 && ids[2] == 2);
        CHECK_NC(NC_NOERR, ncmpi_inq_dimid(ncid, "nblobs", &id));
        CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, id, &n));
        CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "D1.blob_count", &varid));
        long long *count = calloc((size_t)n, sizeof *count);
        CHECK_NC(NC_NOERR, ncmpi_get_var_longlong_all(ncid, varid, count));
        for (int b = 0; b < n; b++)
            all += count[b];
        free(count);
        CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "fixed", &varid));
        CHECK_NC(NC_NOERR, ncmpi_inq_var(ncid, varid, NULL, NULL, NULL, dims, NULL));
        CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, dims[0], &n));
        CHECK_EQ(n, all);
        close_dataset(ncid);
    }
}

/* Puts rows where columns were put before, so most values go to other processes'
 * blobs. */
static void another_decomposition_finds_the_same_locations(void)
{
    struct scene s = filled("a.nc");
    for (int r = 0; r < 2; r++) {
        MPI_Offset first = NY * check.rank / check.nprocs,
                   rows = NY * (check.rank + 1) / check.nprocs - first;
        MPI_Offset start[3] = {r, first, 0}, count[3] = {1, rows, NX};
        double values[NZ], back[NZ];
        for (int i = 0; i < rows * NX; i++)
            values[i] = -value_of(r, (int)first * NX + i);
        CHECK_NC(NC_NOERR,
                 ncmpi_put_vara_double_all(s.ncid, s.record, start, count, values));
        CHECK_NC(NC_NOERR,
                 ncmpi_get_vara_double_all(s.ncid, s.record, start, count, back));
        CHECK_BYTES(values, back, (size_t)(rows * NX) * sizeof back[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        columns(start, count, r);
        CHECK_NC(NC_NOERR,
                 ncmpi_get_vara_double_all(s.ncid, s.record, start, count, back));
        for (int i = 0; i < NY * count[2]; i++)
            CHECK(back[i] == -value_of(r, i / (int)count[2] * NX + (int)start[2] +
                                              i % (int)count[2]));
    }
    put_columns(&s, 0, 0); /* the later put takes precedence */
    put_columns(&s, 1, 0);
    close_dataset(s.ncid);
    s.ncid = open_dataset("a.nc", NC_NOWRITE);
    check_all(&s, 2);
    close_dataset(s.ncid);
}

static void values_put_by_a_single_process_are_read_back(void)
{
    struct scene s = filled("a.nc");
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(s.ncid));
    for (int r = 0; r < 4; r++)
        for (int i = check.rank; i < NZ; i += check.nprocs) {
            MPI_Offset at[3] = {r, i / NX, i % NX};
            int value = value_of(r, i);
            CHECK_NC(NC_NOERR, ncmpi_put_var1_int(s.ncid, s.record, at, &value));
        }
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(s.ncid));
    close_dataset(s.ncid);
    s.ncid = open_dataset("a.nc", NC_NOWRITE);
    check_all(&s, 4);
    close_dataset(s.ncid);
}

/* A single process reads the dataset, and then appends to it. */
static void a_single_process_can_read_and_append(void)
{
    struct scene s = filled("a.nc");
    close_dataset(s.ncid);
    if (check.rank == 0) {
        int values[NZ];
        MPI_Offset start[3] = {2, 0, 0}, count[3] = {1, NY, NX};
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_SELF, check_path("a.nc"), NC_WRITE,
                                      MPI_INFO_NULL, &s.ncid));
        check_all(&s, 2);
        for (int i = 0; i < NZ; i++)
            values[i] = value_of(2, i);
        CHECK_NC(NC_NOERR,
                 ncmpi_put_vara_int_all(s.ncid, s.record, start, count, values));
        CHECK_NC(NC_NOERR, ncmpi_close(s.ncid));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    s.ncid = open_dataset("a.nc", NC_WRITE);
    check_all(&s, 3);
    put_columns(&s, 3, 0);
    check_all(&s, 4);
    close_dataset(s.ncid);
}

/* Only one process contributes to the last record. Each subfile must nevertheless be as
 * long as its header requires, or readers would treat it as truncated. */
static void subfiles_are_as_long_as_their_headers_require(void)
{
    struct scene s = filled("a.nc");
    MPI_Offset start[3], count[3], at, step, n, length;
    double values[NZ] = {0};
    close_dataset(s.ncid);
    s.ncid = open_dataset("a.nc", NC_WRITE);
    columns(start, count, 2);
    if (check.rank > 0) count[0] = 0;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_double_all(s.ncid, s.record, start, count, values));
    close_dataset(s.ncid);
    for (int i = 0; i < subfiles(); i++) {
        struct stat st;
        int ncid = open_dataset(subfile_name("a.nc", i), NC_NOWRITE), varid, dims[2];
        CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "record", &varid));
        CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, varid, &at));
        CHECK_NC(NC_NOERR, ncmpi_inq_recsize(ncid, &step));
        CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, 0, &n));
        CHECK_EQ(3, n);
        CHECK_EQ(0, stat(subfile("a.nc", i), &st));
        CHECK_NC(NC_NOERR, ncmpi_inq_vardimid(ncid, varid, dims));
        CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, dims[1], &length));
        CHECK(st.st_size >= at + (n - 1) * step + length * (MPI_Offset)sizeof values[0]);
        close_dataset(ncid);
    }
}

static void variables_may_be_added_by_a_redefinition(void)
{
    struct scene s = filled("a.nc");
    int dims[2], values[NZ];
    MPI_Offset start[3], count[3];
    CHECK_NC(NC_NOERR, ncmpi_redef(s.ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_vardimid(s.ncid, s.fixed, dims));
    CHECK_NC(NC_NOERR, ncmpi_rename_var(s.ncid, s.record, "rec"));
    int more = new_var(s.ncid, "more", NC_INT, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(s.ncid));
    columns(start, count, 0);
    for (int i = 0; i < NY * count[2]; i++)
        values[i] = i + check.rank;
    CHECK_NC(NC_NOERR,
             ncmpi_put_vara_int_all(s.ncid, more, start + 1, count + 1, values));
    put_columns(&s, 2, 0);
    close_dataset(s.ncid);
    s.ncid = open_dataset("a.nc", NC_NOWRITE);
    int back[NZ];
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(s.ncid, more, start + 1, count + 1, back));
    CHECK_BYTES(values, back, (size_t)(NY * count[2]) * sizeof back[0]);
    check_all(&s, 3);
    close_dataset(s.ncid);
}

/* Adding variables moves the records in subfiles, including records that were appended by
 * another job or by a different number of processes. */
static void a_redefinition_moves_records_that_other_jobs_appended(void)
{
    struct scene s = filled("a.nc");
    int dims[3], values[NZ];
    MPI_Offset start[3], count[3];
    close_dataset(s.ncid);
    for (int job = 0; job < 2; job++) {
        if (job == 1 && check.rank == 0) { /* a single process appends */
            MPI_Offset from[3] = {2, 0, 0}, all[3] = {1, NY, NX};
            for (int i = 0; i < NZ; i++)
                values[i] = value_of(2, i);
            CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_SELF, check_path("a.nc"), NC_WRITE,
                                          MPI_INFO_NULL, &s.ncid));
            CHECK_NC(NC_NOERR,
                     ncmpi_put_vara_int_all(s.ncid, s.record, from, all, values));
            CHECK_NC(NC_NOERR, ncmpi_close(s.ncid));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        s.ncid = open_dataset("a.nc", NC_WRITE);
        CHECK_NC(NC_NOERR, ncmpi_redef(s.ncid));
        CHECK_NC(NC_NOERR, ncmpi_inq_vardimid(s.ncid, s.record, dims));
        int more = new_var(s.ncid, job == 0 ? "more" : "most", NC_INT, 3, dims);
        CHECK_NC(NC_NOERR, ncmpi_enddef(s.ncid));
        columns(start, count, 0);
        for (int i = 0; i < NY * count[2]; i++)
            values[i] = -1;
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(s.ncid, more, start, count, values));
        check_all(&s, 2 + job);
        close_dataset(s.ncid);
    }
    s.ncid = open_dataset("a.nc", NC_NOWRITE);
    check_all(&s, 3);
    close_dataset(s.ncid);
}

static void overlapping_requests_have_one_location(void)
{
    struct scene s = define("a.nc");
    int values[NZ], back[NZ];
    for (int i = 0; i < NZ; i++)
        values[i] = 3 * i;
    MPI_Offset start[2] = {check.rank % NY, 0}, count[2] = {NY - check.rank % NY, NX};
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(s.ncid, s.fixed, start, count,
                                              values + start[0] * NX));
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(s.ncid, s.fixed, back));
    CHECK_BYTES(values, back, sizeof back);
    close_dataset(s.ncid);
}

static void a_record_is_filled(void)
{
    struct scene s = filled("a.nc");
    double back[NZ];
    MPI_Offset start[3] = {2, 0, 0}, count[3] = {1, NY, NX};
    CHECK_NC(NC_NOERR, ncmpi_fill_var_rec(s.ncid, s.record, 2));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_double_all(s.ncid, s.record, start, count, back));
    for (int i = 0; i < NZ; i++)
        if (!CHECK(back[i] == NC_FILL_DOUBLE)) break;
    put_columns(&s, 2, 0);
    check_all(&s, 3);
    close_dataset(s.ncid);
}

/* ---- errors ---- */

static void a_missing_subfile_is_named(void)
{
    struct scene s = filled("a.nc");
    int fixed[NZ];
    short rest[NX];
    close_dataset(s.ncid);
    if (check.rank == 0) CHECK_EQ(0, unlink(subfile("a.nc", subfiles() - 1)));
    MPI_Barrier(MPI_COMM_WORLD);
    int rc = ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE, MPI_INFO_NULL,
                        &s.ncid);
    if (subfiles() == 1) {
        CHECK_NC(NC_ENOENT, rc);
        return;
    }
    CHECK_NC(NC_NOERR, rc);
    rc = ncmpi_get_var_int_all(s.ncid, s.fixed, fixed);
    CHECK_NC(NC_ENOENT, rc);
    CHECK(strstr(ncmpi_strerror(rc), "'fixed'") != NULL);
    CHECK(strstr(ncmpi_strerror(rc), "a.nc.0001") != NULL);
    CHECK_NC(NC_NOERR, ncmpi_get_var_short_all(s.ncid, s.rest, rest));
    (void)ncmpi_close(s.ncid);
}

/* A subfile that was truncated to zero bytes must not be mistaken for one that a killed
 * job had not yet written. */
static void an_emptied_subfile_is_refused(void)
{
    struct scene s = filled("a.nc");
    close_dataset(s.ncid);
    if (check.rank == 0) CHECK_EQ(0, truncate(subfile("a.nc", 0), 0));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_ENOTNC, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                   MPI_INFO_NULL, &s.ncid));
    CHECK_NC(NC_ENOTNC, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE,
                                   MPI_INFO_NULL, &s.ncid));
}

static void a_subfile_of_another_run_is_refused(void)
{
    struct scene s = filled("a.nc"), t = filled("b.nc");
    close_dataset(s.ncid);
    close_dataset(t.ncid);
    if (check.rank == 0) CHECK_EQ(0, rename(subfile("b.nc", 0), subfile("a.nc", 0)));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_ENOTNC, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                   MPI_INFO_NULL, &s.ncid));
}

static void a_create_keeps_a_file_with_a_subfiles_name(void)
{
    MPI_Info info = check_info(hints);
    int ncid;
    if (check.rank == 0) CHECK(check_write_file(subfile("a.nc", 0), "mine", 4));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_EEXIST, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                     NC_CLOBBER | check.cmode, info, &ncid));
    MPI_Info_free(&info);
    struct stat st;
    CHECK_EQ(0, stat(subfile("a.nc", 0), &st));
    CHECK_EQ(4, st.st_size);
    CHECK(access(check_path("a.nc"), F_OK) != 0);
}

static void a_file_that_took_a_subfile_s_name_is_kept(void)
{
    struct scene s = filled("a.nc");
    const int last = subfiles() - 1;
    close_dataset(s.ncid);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        struct stat st;
        CHECK(check_write_file(subfile("a.nc", last), "mine", 4));
        CHECK_NC(NC_NOERR, ncmpi_delete(check_path("a.nc"), MPI_INFO_NULL));
        CHECK_EQ(0, stat(subfile("a.nc", last), &st));
        CHECK_EQ(4, st.st_size);
        CHECK_EQ(last == 0, access(subfile("a.nc", 0), F_OK) == 0);
        CHECK(access(check_path("a.nc"), F_OK) != 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void deleting_a_dataset_deletes_its_subfiles(void)
{
    struct scene s = filled("a.nc");
    close_dataset(s.ncid);
    int ncid = new_dataset("a.nc"); /* replaces the dataset with an ordinary file */
    close_dataset(ncid);
    CHECK(access(subfile("a.nc", 0), F_OK) != 0);
    s = filled("a.nc");
    close_dataset(s.ncid);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0)
        CHECK_NC(NC_NOERR, ncmpi_delete(check_path("a.nc"), MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(access(subfile("a.nc", 0), F_OK) != 0);
    s = define("a.nc");
    CHECK_NC(NC_NOERR, ncmpi_close(s.ncid));
    s.ncid = open_dataset("a.nc", NC_NOWRITE); /* a dataset without values */
    close_dataset(s.ncid);
}

/* Variables may have names that subfiles use internally, or the former name of another
 * variable. */
static void variables_may_have_any_name(void)
{
    MPI_Info info = check_info(hints);
    MPI_Offset start = 3 * check.rank, count = 3;
    int ncid, varids[3], values[3], got[3];
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                    NC_CLOBBER | check.cmode, info, &ncid));
    MPI_Info_free(&info);
    int dims[2] = {new_dim(ncid, "nblobs", 3 * (MPI_Offset)check.nprocs),
                   new_dim(ncid, "D1.nelems", 3 * (MPI_Offset)check.nprocs)};
    varids[0] = new_var(ncid, "D1.nreqs", NC_INT, 1, &dims[0]);
    varids[1] = new_var(ncid, "global_id_0", NC_INT, 1, &dims[1]);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int v = 0; v < 3; v++) {
        if (v == 2) { /* reuses the first variable's name */
            CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
            CHECK_NC(NC_NOERR, ncmpi_rename_var(ncid, varids[1], "another"));
            varids[2] = new_var(ncid, "global_id_0", NC_INT, 1, &dims[1]);
            CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        }
        for (int i = 0; i < 3; i++)
            values[i] = 100 * v + (int)start + i;
        CHECK_NC(NC_NOERR,
                 ncmpi_put_vara_int_all(ncid, varids[v], &start, &count, values));
    }
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    close_dataset(ncid);
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_SELF, subfile("a.nc", 0), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    for (int v = 0; v < 3; v++) { /* subfiles name these variables after their ids */
        char name[32];
        snprintf(name, sizeof name, "global_id_%d", v);
        CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, name, &got[v]));
    }
    close_dataset(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    for (int v = 0; v < 3; v++) {
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, varids[v], &start, &count, got));
        for (int i = 0; i < 3; i++)
            CHECK_EQ(100 * v + start + i, got[i]);
    }
    close_dataset(ncid);
}

static void same_bytes(const char *name, const char *as)
{
    size_t n, m;
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank > 0) return;
    unsigned char *bytes = check_read_file(check_path(name), &n),
                  *other = check_read_file(check_path(as), &m);
    CHECK(n > 0 && n == m);
    if (bytes != NULL && other != NULL && n == m) CHECK(memcmp(bytes, other, n) == 0);
    free(bytes);
    free(other);
}

static void a_dataset_is_joined_at_close(void)
{
    hints = "nc_blob=disable";
    struct scene s = filled("plain.nc");
    close_dataset(s.ncid);
    hints = "nc_blob=enable;nc_num_subfiles=2;nc_blob_join=close";
    s = filled("a.nc");
    CHECK(access(subfile("a.nc", 0), F_OK) == 0);
    close_dataset(s.ncid);
    same_bytes("a.nc", "plain.nc");
    CHECK(access(subfile("a.nc", 0), F_OK) != 0);
    hints = two_subfiles;
    s = filled("b.nc"); /* will be joined by a job that appends */
    close_dataset(s.ncid);
    MPI_Info info = check_info("nc_blob_join=close");
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("b.nc"), NC_WRITE, info, &s.ncid));
    MPI_Info_free(&info);
    put_columns(&s, 0, 0);
    close_dataset(s.ncid);
    same_bytes("b.nc", "plain.nc");
}

/* Returns the temporary name of the joined file, which contains the master's token. */
static const char *joining(const char *name)
{
    static char path[4200];
    size_t n;
    unsigned char *page = check_read_file(check_path(name), &n);
    snprintf(path, sizeof path, "%s.joining-", check_path(name));
    for (int i = 16; page != NULL && i < 24; i++)
        snprintf(path + strlen(path), 3, "%02x", page[i] ^ page[i + 8]);
    free(page);
    return path;
}

static void a_failed_join_keeps_the_dataset(void)
{
    struct scene s = filled("a.nc");
    close_dataset(s.ncid);
    MPI_Info info = check_info("nc_blob_join=close");
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &s.ncid));
    MPI_Info_free(&info);
    if (check.rank == 0) CHECK_EQ(0, mkdir(joining("a.nc"), 0777));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(ncmpi_close(s.ncid) != NC_NOERR);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) CHECK_EQ(0, rmdir(joining("a.nc")));
    s.ncid = open_dataset("a.nc", NC_NOWRITE);
    check_all(&s, 2);
    close_dataset(s.ncid);
}

static void an_abort_removes_all_files_of_a_new_dataset(void)
{
    MPI_Info info = check_info(hints);
    int ncid;
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                    NC_CLOBBER | check.cmode, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(access(check_path("a.nc"), F_OK) != 0);
    CHECK(access(subfile("a.nc", 0), F_OK) != 0);
}

/* Each process puts its part of a variable, and the first `more` elements of the next
 * process's part. */
static void put_parts(int ncid, int varid, int64_t n, int more)
{
    MPI_Offset start = n * check.rank / check.nprocs;
    MPI_Offset count = n * (check.rank + 1) / check.nprocs - start;
    if (check.rank < check.nprocs - 1) count += more;
    signed char *values = malloc((size_t)count);
    for (MPI_Offset i = 0; i < count; i++)
        values[i] = (signed char)((start + i) % 127);
    CHECK_NC(NC_NOERR, ncmpi_put_vara_schar_all(ncid, varid, &start, &count, values));
    free(values);
}

static void check_parts(int ncid, int varid, int64_t n)
{
    int part = check.nprocs - 1 - check.rank, wrong = 0;
    MPI_Offset start = n * part / check.nprocs;
    MPI_Offset count = n * (part + 1) / check.nprocs - start;
    signed char *values = calloc((size_t)count, 1);
    CHECK_NC(NC_NOERR, ncmpi_get_vara_schar_all(ncid, varid, &start, &count, values));
    for (MPI_Offset i = 0; i < count; i++)
        wrong += values[i] != (start + i) % 127;
    CHECK_EQ(0, wrong);
    free(values);
}

/* There are more elements than one process compares at a time, so each process compares a
 * part. */
static void large_maps_are_compared_in_parts(void)
{
    enum { MANY = 20000001 };
    int ncid, many, lap, dims[2];
    MPI_Info info = check_info("nc_blob=enable;nc_num_subfiles=2;nc_statistics=enable");
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("d.nc"),
                                    NC_CLOBBER | NC_64BIT_DATA, info, &ncid));
    MPI_Info_free(&info);
    dims[0] = new_dim(ncid, "x", MANY);
    dims[1] = new_dim(ncid, "y", MANY);
    many = new_var(ncid, "many", NC_BYTE, 1, &dims[0]);
    lap = new_var(ncid, "lap", NC_BYTE, 1, &dims[1]);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    put_parts(ncid, many, MANY, 0);
    put_parts(ncid, lap, MANY, 1);
    if (check.nprocs > 1) CHECK_EQ(1, count_of(ncid, "blob_decompositions"));
    check_parts(ncid, many, MANY);
    check_parts(ncid, lap, MANY);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static double noise_at(int record, int64_t i)
{
    return (double)(record + 1) + (double)((i * 2654435761 + record) % 4096) / 4096;
}

/* Puts more values than are compressed in one round, and a different number on each
 * process. Some processes begin their next round while others are still in the previous
 * one. */
static void values_of_several_rounds_of_frames_are_read_back(void)
{
    enum { MOST = 300000, RECORDS = 3 };
    const int64_t each = MOST / (check.rank + 1);
    int64_t before = 0, all = 0;
    for (int i = 0; i < check.nprocs; i++, all += MOST / i)
        if (i == check.rank) before = all;
    int ncid = -1, dims[2];
    MPI_Info info = check_info("nc_blob=enable;nc_num_subfiles=1;nc_compress=zstd");
    double *values = malloc(RECORDS * MOST * sizeof *values);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("rounds.nc"), check.cmode,
                                    info, &ncid));
    dims[0] = new_dim(ncid, "time", NC_UNLIMITED);
    dims[1] = new_dim(ncid, "x", all);
    int v = new_var(ncid, "v", NC_DOUBLE, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    MPI_Offset start[2] = {0, before}, count[2] = {RECORDS, each};
    for (int64_t i = 0; i < RECORDS * each; i++)
        values[i] = noise_at((int)(i / each), before + i % each);
    CHECK_NC(NC_NOERR, ncmpi_put_vara_double_all(ncid, v, start, count, values));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("rounds.nc"), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    start[1] = all - before - each; /* parts that other processes have put */
    memset(values, 0, RECORDS * MOST * sizeof *values);
    CHECK_NC(NC_NOERR, ncmpi_get_vara_double_all(ncid, v, start, count, values));
    for (int64_t i = 0; i < RECORDS * each; i++)
        if (values[i] != noise_at((int)(i / each), start[1] + i % each))
            CHECK_EQ(0, i + 1); /* reports only the first failure */
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    free(values);
    MPI_Info_free(&info);
}

static const struct check_test tests[] = {
    {"values of several rounds of frames are read back",
     values_of_several_rounds_of_frames_are_read_back, CHECK_FORMATS},
    {"values of blobs are read back", values_of_blobs_are_read_back, CHECK_FORMATS},
    {"subfiles have the attributes of E3SM's blob files",
     subfiles_have_the_attributes_of_E3SMs_blob_files, CHECK_FORMATS},
    {"another decomposition finds the same locations",
     another_decomposition_finds_the_same_locations, CHECK_FORMATS},
    {"values put by a single process are read back",
     values_put_by_a_single_process_are_read_back, 0},
    {"a single process can read and append", a_single_process_can_read_and_append,
     CHECK_FORMATS},
    {"subfiles are as long as their headers require",
     subfiles_are_as_long_as_their_headers_require, 0},
    {"variables may be added by a redefinition", variables_may_be_added_by_a_redefinition,
     CHECK_FORMATS},
    {"a redefinition moves records that other jobs appended",
     a_redefinition_moves_records_that_other_jobs_appended, CHECK_FORMATS},
    {"overlapping requests have one location", overlapping_requests_have_one_location, 0},
    {"large maps are compared in parts", large_maps_are_compared_in_parts, 0},
    {"a record is filled", a_record_is_filled, 0},
    {"a missing subfile is named", a_missing_subfile_is_named, 0},
    {"an emptied subfile is refused", an_emptied_subfile_is_refused, 0},
    {"a subfile of another run is refused", a_subfile_of_another_run_is_refused, 0},
    {"a create keeps a file with a subfile's name",
     a_create_keeps_a_file_with_a_subfiles_name, 0},
    {"a file that took a subfile's name is kept",
     a_file_that_took_a_subfile_s_name_is_kept, 0},
    {"deleting a dataset deletes its subfiles", deleting_a_dataset_deletes_its_subfiles,
     0},
    {"variables may have any name", variables_may_have_any_name, CHECK_FORMATS},
    {"a dataset is joined at close", a_dataset_is_joined_at_close, CHECK_FORMATS},
    {"a failed join keeps the dataset", a_failed_join_keeps_the_dataset, 0},
    {"an abort removes all files of a new dataset",
     an_abort_removes_all_files_of_a_new_dataset, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, NULL);
}
