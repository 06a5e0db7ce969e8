/* Tests record variables: the number of records, how the processes agree on it, and how
 * records are laid out in the file. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "made_dataset.h"

enum { W = 3 }; /* elements per process in a record */

static int t, v;

static int one_series(void)
{
    int ncid = new_dataset("a.nc"), dims[2];
    dims[0] = t = new_dim(ncid, "t", NC_UNLIMITED);
    dims[1] = new_dim(ncid, "x", W * check.nprocs);
    v = new_var(ncid, "v", NC_INT, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    return ncid;
}

static void numbered(int *values, MPI_Offset rec)
{
    for (int i = 0; i < W; i++)
        values[i] = (int)(rec * 1000) + check.rank * W + i;
}

/* Returns the number of records in the file's header, which process 0 reads. */
static int64_t numrecs_in_file(void)
{
    unsigned char head[12] = {0};
    int64_t n = 0;
    int width = check.format == 5 ? 8 : 4;
    complete_closes();
    FILE *f = check.rank == 0 ? fopen(check_path("a.nc"), "rb") : NULL;
    if (f != NULL) {
        if (fread(head, 1, sizeof head, f) != sizeof head) head[4] = 0xff;
        fclose(f);
    }
    for (int i = 0; i < width; i++)
        n = n << 8 | head[4 + i];
    MPI_Bcast(&n, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return n;
}

static void every_process_appends_its_own_record(void)
{
    int ncid = one_series(), values[W], back[W];
    MPI_Offset start[2] = {check.nprocs - 1 - check.rank, W * check.rank};
    MPI_Offset count[2] = {1, W};
    numbered(values, start[0]);
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, count, values));
    CHECK_EQ(check.nprocs, dim_length(ncid, t));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, start, count, back));
    CHECK_BYTES(values, back, sizeof values);
    close_dataset(ncid);
    CHECK_EQ(check.nprocs, numrecs_in_file());
}

static void numrecs_never_shrinks(void)
{
    int ncid = one_series(), values[W];
    MPI_Offset start[2] = {4, W * check.rank}, count[2] = {1, W};
    numbered(values, 4);
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, count, values));
    CHECK_EQ(5, dim_length(ncid, t));
    start[0] = 1;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, count, values));
    CHECK_EQ(5, dim_length(ncid, t));
    close_dataset(ncid);
    CHECK_EQ(5, numrecs_in_file());
    ncid = open_dataset("a.nc", NC_WRITE);
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, count, values));
    CHECK_EQ(5, dim_length(ncid, t));
    close_dataset(ncid);
    CHECK_EQ(5, numrecs_in_file());
}

/* Makes the last process append a record independently. The tests differ in how the other
 * processes learn of it. */
static int one_process_appends(MPI_Offset rec)
{
    int ncid = one_series(), values[W * 16] = {0};
    MPI_Offset start[2] = {rec, 0}, count[2] = {1, W};
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    if (check.rank == check.nprocs - 1) {
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, v, start, count, values));
        CHECK_EQ(rec + 1, dim_length(ncid, t));
    }
    return ncid;
}

static void end_indep_data_agrees_on_numrecs(void)
{
    int ncid = one_process_appends(6);
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    CHECK_EQ(7, dim_length(ncid, t));
    close_dataset(ncid);
    CHECK_EQ(7, numrecs_in_file());
}

static void sync_agrees_on_numrecs(void)
{
    int ncid = one_process_appends(2);
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid)); /* sync is not collective in this mode */
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(3, numrecs_in_file());
    /* The second sync reads the synced number of records. */
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    CHECK_EQ(3, dim_length(ncid, t));
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    close_dataset(ncid);
}

static void sync_numrecs_agrees_on_numrecs(void)
{
    int ncid = one_process_appends(3);
    CHECK_NC(NC_NOERR, ncmpi_sync_numrecs(ncid));
    CHECK_EQ(4, dim_length(ncid, t));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(4, numrecs_in_file());
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    close_dataset(ncid);
}

static void redef_agrees_on_numrecs(void)
{
    int ncid = one_process_appends(4);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_EQ(5, dim_length(ncid, t));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_EQ(5, dim_length(ncid, t));
    close_dataset(ncid);
    CHECK_EQ(5, numrecs_in_file());
}

static void close_agrees_on_numrecs(void)
{
    int ncid = one_process_appends(5);
    close_dataset(ncid);
    CHECK_EQ(6, numrecs_in_file());
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_EQ(6, dim_length(ncid, t));
    close_dataset(ncid);
}

static void reading_beyond_the_last_record_is_refused(void)
{
    int ncid = one_series(), values[W];
    MPI_Offset start[2] = {0, W * check.rank}, count[2] = {2, W}, stride[2] = {1, 1};
    int two[2 * W] = {0};
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, count, two));
    start[0] = 2;
    count[0] = 1;
    CHECK_NC(NC_EINVALCOORDS, ncmpi_get_vara_int_all(ncid, v, start, count, values));
    start[0] = 1;
    count[0] = 2;
    CHECK_NC(NC_EEDGE, ncmpi_get_vara_int_all(ncid, v, start, count, two));
    start[0] = 0;
    stride[0] = 2;
    CHECK_NC(NC_EEDGE, ncmpi_get_vars_int_all(ncid, v, start, count, stride, two));
    start[0] = 2;
    count[0] = 0;
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, start, count, two));
    close_dataset(ncid);
}

static void a_strided_put_extends_to_its_last_record(void)
{
    int ncid = one_series(), values[3 * W];
    MPI_Offset start[2] = {1, W * check.rank}, count[2] = {3, W}, stride[2] = {4, 1};
    memset(values, 0, sizeof values);
    CHECK_NC(NC_NOERR, ncmpi_put_vars_int_all(ncid, v, start, count, stride, values));
    CHECK_EQ(1 + 2 * 4 + 1, dim_length(ncid, t));
    close_dataset(ncid);
    CHECK_EQ(10, numrecs_in_file());
}

/* In the file, the records of several variables with odd sizes alternate. */
static void records_of_several_variables_alternate(void)
{
    enum { RECS = 5 };
    static const nc_type types[3] = {NC_SHORT, NC_INT, NC_BYTE};
    int ncid = new_dataset("a.nc"), vars[3], dims[2], back[3][RECS][W];
    MPI_Offset offset[3], recsize, start[2] = {0, W * check.rank}, count[2] = {RECS, W};
    dims[0] = t = new_dim(ncid, "t", NC_UNLIMITED);
    dims[1] = new_dim(ncid, "x", W * check.nprocs);
    for (int i = 0; i < 3; i++) {
        char name[2] = {(char)('a' + i), '\0'};
        vars[i] = new_var(ncid, name, types[i], 2, dims);
    }
    begin_data(ncid);
    for (int i = 0; i < 3; i++) {
        int values[RECS][W];
        for (int r = 0; r < RECS; r++)
            for (int j = 0; j < W; j++)
                values[r][j] = (i * 40 + r * 7 + check.rank * W + j) % 120;
        CHECK_NC(NC_NOERR, put_ints(ncid, vars[i], start, count, values[0]));
        CHECK_NC(NC_NOERR, get_ints(ncid, vars[i], start, count, back[i][0]));
        CHECK_BYTES(values, back[i], sizeof values);
        CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, vars[i], &offset[i]));
    }
    end_data(ncid);
    MPI_Offset n = W * check.nprocs;
    CHECK_EQ((n * 2 + 3) / 4 * 4, offset[1] - offset[0]);
    CHECK_EQ(n * 4, offset[2] - offset[1]);
    CHECK_NC(NC_NOERR, ncmpi_inq_recsize(ncid, &recsize));
    CHECK_EQ((n * 2 + 3) / 4 * 4 + n * 4 + (n + 3) / 4 * 4, recsize);
    close_dataset(ncid);
}

static void a_single_small_record_variable_is_not_padded(void)
{
    enum { RECS = 4 };
    static const nc_type types[] = {NC_BYTE, NC_CHAR, NC_SHORT};
    for (int i = 0; i < 3; i++) {
        unsigned char values[RECS * 3], back[RECS * 3];
        struct stat st;
        int ncid = new_dataset("a.nc"), dims[2], size = types[i] == NC_SHORT ? 2 : 1;
        MPI_Offset start[2] = {0, 0}, count[2] = {RECS, 3}, recsize, offset;
        dims[0] = new_dim(ncid, "t", NC_UNLIMITED);
        dims[1] = new_dim(ncid, "x", 3);
        v = new_var(ncid, "v", types[i], 2, dims);
        for (int j = 0; j < RECS * 3; j++)
            values[j] = (unsigned char)(j + 1);
        if (check.rank > 0) count[0] = 0;
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR,
                 types[i] == NC_CHAR
                     ? ncmpi_put_vara_text_all(ncid, v, start, count, (char *)values)
                     : ncmpi_put_vara_uchar_all(ncid, v, start, count, values));
        CHECK_NC(NC_NOERR, ncmpi_inq_recsize(ncid, &recsize));
        CHECK_EQ(3 * size, recsize);
        CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, v, &offset));
        close_dataset(ncid);
        complete_closes();
        CHECK_EQ(0, stat(check_path("a.nc"), &st));
        CHECK_EQ(offset + RECS * 3 * size, st.st_size);
        ncid = open_dataset("a.nc", NC_NOWRITE);
        CHECK_NC(NC_NOERR, types[i] == NC_CHAR
                               ? ncmpi_get_var_text_all(ncid, v, (char *)back)
                               : ncmpi_get_var_uchar_all(ncid, v, back));
        CHECK_BYTES(values, back, sizeof back);
        close_dataset(ncid);
    }
}

static void a_record_variable_may_have_one_dimension(void)
{
    int ncid = new_dataset("a.nc"), value = check.rank * 3, all[16];
    t = new_dim(ncid, "t", NC_UNLIMITED);
    v = new_var(ncid, "v", NC_SHORT, 1, &t);
    MPI_Offset start = check.rank, count = 1;
    begin_data(ncid);
    CHECK_NC(NC_NOERR, put_ints(ncid, v, &start, &count, &value));
    end_data(ncid);
    make_visible(ncid);
    CHECK_EQ(check.nprocs, dim_length(ncid, t));
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, v, all));
    for (int i = 0; i < check.nprocs; i++)
        CHECK_EQ(i * 3, all[i]);
    close_dataset(ncid);
}

/* Puts a new record of only one variable. The file must nevertheless be extended to the
 * end of the whole record. */
static void appending_extends_the_file_by_whole_records(void)
{
    struct stat st;
    int ncid = new_dataset("a.nc"), value = 5;
    MPI_Offset start = 0, count = check.rank == 0, size, offset;
    t = new_dim(ncid, "t", NC_UNLIMITED);
    int first = new_var(ncid, "first", NC_INT, 1, &t);
    int last = new_var(ncid, "last", NC_DOUBLE, 1, &t);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, last, &start, &count, &value));
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_WRITE);
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    start = 3;
    CHECK_NC(NC_NOERR, put_ints(ncid, first, &start, &count, &value));
    end_data(ncid);
    CHECK_NC(NC_NOERR, ncmpi_inq_recsize(ncid, &size));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, first, &offset));
    close_dataset(ncid);
    complete_closes();
    CHECK_EQ(0, stat(check_path("a.nc"), &st));
    CHECK_EQ(offset + 4 * size, st.st_size);
}

static const struct check_test tests[] = {
    {"every process appends its own record", every_process_appends_its_own_record,
     CHECK_FORMATS},
    {"numrecs never shrinks", numrecs_never_shrinks, CHECK_FORMATS},
    {"end_indep_data agrees on numrecs", end_indep_data_agrees_on_numrecs, CHECK_FORMATS},
    {"sync agrees on numrecs", sync_agrees_on_numrecs, CHECK_FORMATS},
    {"sync_numrecs agrees on numrecs", sync_numrecs_agrees_on_numrecs, CHECK_FORMATS},
    {"redef agrees on numrecs", redef_agrees_on_numrecs, CHECK_FORMATS},
    {"close agrees on numrecs", close_agrees_on_numrecs, CHECK_FORMATS},
    {"reading beyond the last record is refused",
     reading_beyond_the_last_record_is_refused, CHECK_FORMATS},
    {"a strided put extends to its last record", a_strided_put_extends_to_its_last_record,
     CHECK_FORMATS},
    {"records of several variables alternate", records_of_several_variables_alternate,
     CHECK_FORMATS | CHECK_MODES},
    {"a single small record variable is not padded",
     a_single_small_record_variable_is_not_padded, CHECK_FORMATS},
    {"appending extends the file by whole records",
     appending_extends_the_file_by_whole_records, CHECK_FORMATS | CHECK_MODES},
    {"a record variable may have one dimension", a_record_variable_may_have_one_dimension,
     CHECK_FORMATS | CHECK_MODES},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 4 16");
}
