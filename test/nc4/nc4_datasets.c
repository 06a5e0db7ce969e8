/* Tests netCDF-4 datasets. Gets must return the values that were put, and operations that
 * HDF5 requires to be collective must be collective. If netCDF-C is not built for this
 * MPI, only process 0 writes, and all processes read. */
#include <stdlib.h>

#include "made_dataset.h"

enum { N = 6 };

/* Returns true if netCDF-C is missing, in which case the test is skipped. */
static bool is_missing(void)
{
    int ncid, err = NC_NOERR;
    if (check.rank == 0)
        err = ncmpi_create(MPI_COMM_SELF, check_path("x.nc"), NC_NETCDF4, MPI_INFO_NULL,
                           &ncid);
    if (check.rank == 0 && err == NC_NOERR) close_dataset(ncid);
    MPI_Bcast(&err, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (err == NC_ENOTBUILT) check_skip("no netCDF-C");
    return err == NC_ENOTBUILT;
}

/* Creates a file on all processes. If netCDF-C is not built for this MPI, only process 0
 * creates it, and the other processes return -1. */
static bool all_write;

static int new_netcdf4(const char *name, const char *hints)
{
    int ncid = -1;
    MPI_Info info = check_info(hints);
    int err = ncmpi_create(MPI_COMM_WORLD, check_path(name), NC_NETCDF4, info, &ncid);
    all_write = err == NC_NOERR;
    if (err == NC_ENOTBUILT) {
        CHECK(strstr(ncmpi_strerror(err), "libnetcdf") != NULL);
        if (check.rank == 0)
            err = ncmpi_create(MPI_COMM_SELF, check_path(name), NC_NETCDF4, info, &ncid);
        else
            err = NC_NOERR;
    }
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, err);
    return ncid;
}

/* Returns true if this process can write. */
static bool writes(int ncid)
{
    return ncid >= 0;
}

/* Defines a record variable r(t, x), a fixed-size variable f(x) of doubles, and text
 * c(x). */
static int new_known(const char *hints, int *dims)
{
    int ncid = new_netcdf4("a.nc", hints);
    if (!writes(ncid)) return -1;
    dims[0] = new_dim(ncid, "t", NC_UNLIMITED);
    dims[1] = new_dim(ncid, "x", N);
    (void)new_var(ncid, "r", NC_INT, 2, dims);
    (void)new_var(ncid, "f", NC_DOUBLE, 1, dims + 1);
    (void)new_var(ncid, "c", NC_CHAR, 1, dims + 1);
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, 0, "units", 1, "m"));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    return ncid;
}

/* Puts records. The values of record `rec` are 100 * rec + 0, 1, 2 ... */
static void put_records(int ncid, int first, int n)
{
    int values[4 * N];
    MPI_Offset start[2] = {first, 0}, count[2] = {n, N};
    for (int i = 0; i < n * N; i++)
        values[i] = 100 * (first + i / N) + i % N;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, 0, start, count, values));
}

static void check_records(int ncid, int n)
{
    for (MPI_Offset rec = 0; rec < n; rec++) {
        int got[N] = {0};
        MPI_Offset start[2] = {rec, 0}, count[2] = {1, N};
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, 0, start, count, got));
        for (int i = 0; i < N; i++)
            CHECK_EQ(100 * rec + i, got[i]);
    }
}

/* Puts one record from each process, or all records from the only process that can
 * write. */
static void put_all_records(int ncid)
{
    const double fixed[N] = {0.5, 1.5, 2.5, 3.5, 4.5, 300};
    if (!writes(ncid)) return;
    put_records(ncid, all_write ? check.rank : 0, all_write ? 1 : check.nprocs);
    CHECK_NC(NC_NOERR, ncmpi_put_var_double_all(ncid, 1, fixed));
    CHECK_NC(NC_NOERR, ncmpi_put_var_text_all(ncid, 2, "abcdef"));
}

static int written(const char *hints)
{
    int dims[2], ncid = new_known(hints, dims);
    put_all_records(ncid);
    if (writes(ncid)) close_dataset(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
    return open_dataset("a.nc", NC_NOWRITE);
}

static void written_values_are_read_back(void)
{
    if (is_missing()) return;
    int ncid = written(""), format = 0, unlimited = -1;
    char text[N + 1] = "";
    check_records(ncid, check.nprocs);
    CHECK_NC(NC_NOERR, ncmpi_get_var_text_all(ncid, 2, text));
    CHECK_STR("abcdef", text);
    CHECK_NC(NC_NOERR, ncmpi_inq_format(ncid, &format));
    CHECK_EQ(NC_FORMAT_NETCDF4, format);
    CHECK_NC(NC_NOERR, ncmpi_inq_unlimdim(ncid, &unlimited));
    CHECK_EQ(0, unlimited);
    CHECK_EQ(check.nprocs, dim_length(ncid, 0));
    close_dataset(ncid);
}

static void every_kind_of_access_reads_the_values(void)
{
    if (is_missing()) return;
    int ncid = written(""), got[N] = {0}, id, status;
    signed char small[N];
    MPI_Offset one[1] = {1}, three[1] = {3}, two[1] = {2};
    CHECK_NC(NC_NOERR, ncmpi_get_vars_int_all(ncid, 1, one, three, two, got));
    CHECK(got[0] == 1 && got[1] == 3 && got[2] == 300);
    CHECK_NC(NC_ERANGE, ncmpi_get_var_schar_all(ncid, 1, small));
    CHECK(small[4] == 4 && small[5] == NC_FILL_BYTE);

    MPI_Offset starts[2][2] = {{0, 4}, {0, 0}}, counts[2][2] = {{1, 2}, {1, 3}};
    MPI_Offset *start[2] = {starts[0], starts[1]}, *count[2] = {counts[0], counts[1]};
    CHECK_NC(NC_NOERR, ncmpi_get_varn_int_all(ncid, 0, 2, start, count, got));
    CHECK(got[0] == 4 && got[1] == 5 && got[2] == 0 && got[4] == 2);

    MPI_Offset imap[2] = {1, 2}, wide[2] = {1, 3}, at[2] = {0, 1};
    CHECK_NC(NC_NOERR, ncmpi_get_varm_int_all(ncid, 0, at, wide, NULL, imap, got));
    CHECK(got[0] == 1 && got[2] == 2 && got[4] == 3);

    CHECK_NC(NC_NOERR, ncmpi_iget_vara_int(ncid, 0, starts[0], counts[0], got, &id));
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, 1, &id, &status));
    CHECK_NC(NC_NOERR, status);
    CHECK_EQ(5, got[1]);

    MPI_Datatype runs;
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &runs);
    MPI_Type_commit(&runs);
    double values[3] = {0};
    CHECK_NC(NC_NOERR, ncmpi_get_vard_all(ncid, 1, runs, values, 3, MPI_DOUBLE));
    CHECK(values[0] == 0.5 && values[1] == 2.5 && values[2] == 4.5);
    MPI_Type_free(&runs);

    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    if (check.rank == 0) CHECK_NC(NC_NOERR, ncmpi_get_vara_int(ncid, 0, at, wide, got));
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    close_dataset(ncid);
}

/* Attributes must keep their order when some are created, changed and deleted, and
 * variables and dimensions can be renamed. */
static void a_redefinition_changes_attributes_and_names(void)
{
    if (is_missing()) return;
    int dims[2], ncid = new_known("", dims), natts = -1;
    char name[NC_MAX_NAME + 1] = "";
    if (writes(ncid)) {
        put_all_records(ncid);
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, 0, "long_name", 4, "deep"));
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, 0, "third", 1, "3"));
        CHECK_NC(NC_NOERR, ncmpi_rename_att(ncid, 0, "units", "unit"));
        CHECK_NC(NC_NOERR, ncmpi_rename_var(ncid, 0, "f_"));
        CHECK_NC(NC_NOERR, ncmpi_rename_var(ncid, 1, "r"));
        CHECK_NC(NC_NOERR, ncmpi_rename_var(ncid, 0, "f"));
        CHECK_NC(NC_NOERR, ncmpi_rename_dim(ncid, 1, "width"));
        (void)new_var(ncid, "later", NC_UINT64, 2, dims);
        CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, 3, 0, NULL));
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, 0, "unit", 1, "k"));
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_del_att(ncid, 0, "long_name"));
        close_dataset(ncid);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    check_records(ncid, check.nprocs);
    CHECK_NC(NC_NOERR, ncmpi_inq_varname(ncid, 0, name));
    CHECK_STR("f", name);
    CHECK_NC(NC_NOERR, ncmpi_inq_varname(ncid, 1, name));
    CHECK_STR("r", name);
    CHECK_NC(NC_NOERR, ncmpi_inq_dimname(ncid, 1, name));
    CHECK_STR("width", name);
    CHECK_NC(NC_NOERR, ncmpi_inq_varnatts(ncid, 0, &natts));
    CHECK_EQ(2, natts);
    CHECK_NC(NC_NOERR, ncmpi_inq_attname(ncid, 0, 0, name));
    CHECK_STR("unit", name);
    CHECK_NC(NC_NOERR, ncmpi_inq_attname(ncid, 0, 1, name));
    CHECK_STR("third", name);
    unsigned long long filled = 0;
    MPI_Offset at[2] = {0, 2};
    CHECK_NC(NC_NOERR, ncmpi_get_var1_ulonglong_all(ncid, 3, at, &filled));
    CHECK(filled == NC_FILL_UINT64);
    close_dataset(ncid);
}

/* netCDF-C would damage the file when it renames this dimension, so enddef must fail and
 * the old definitions must remain. */
static void a_dimension_is_not_renamed_to_a_variable(void)
{
    if (is_missing()) return;
    int dims[2], ncid = new_known("", dims);
    char name[NC_MAX_NAME + 1] = "";
    put_all_records(ncid);
    if (writes(ncid)) {
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_rename_dim(ncid, 1, "f"));
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, 0, "units", 1, "k"));
        CHECK_NC(NC_ENOTSUPPORT, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    check_records(ncid, check.nprocs);
    CHECK_NC(NC_NOERR, ncmpi_inq_dimname(ncid, 1, name));
    CHECK_STR("x", name);
    CHECK_NC(NC_NOERR, ncmpi_get_att_text(ncid, 0, "units", name));
    CHECK(name[0] == 'm');
    close_dataset(ncid);
}

static void abort_removes_a_new_file(void)
{
    if (is_missing()) return;
    int ncid = new_netcdf4("gone.nc", "");
    if (writes(ncid)) {
        (void)new_dim(ncid, "x", 3);
        CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_ENOENT, ncmpi_open(MPI_COMM_WORLD, check_path("gone.nc"), NC_NOWRITE,
                                   MPI_INFO_NULL, &ncid));
}

static void an_abort_undoes_a_redefinition(void)
{
    if (is_missing()) return;
    int dims[2], ncid = new_known("", dims);
    put_all_records(ncid);
    if (writes(ncid)) {
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_del_att(ncid, 0, "units"));
        CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    check_records(ncid, check.nprocs);
    CHECK_NC(NC_NOERR, ncmpi_inq_attid(ncid, 0, "units", &(int){0}));
    close_dataset(ncid);
}

/* Hints set chunk sizes and compression. The processes post different numbers of puts, or
 * none. */
static void compressed_values_are_written_in_rounds(void)
{
    if (is_missing()) return;
    int dims[2], ids[4] = {0}, values[4][N], n = 0;
    int ncid = new_known("nc_compress=zstd;nc_chunk=x:9/r:1,3", dims);
    if (writes(ncid)) {
        int first = all_write ? check.rank : 0, end = all_write ? 1 : check.nprocs;
        for (int rec = first; rec < first + end; rec++) {
            for (int part = 0; part < 2; part++) {
                MPI_Offset start[2] = {rec, 3 * part}, count[2] = {1, 3};
                for (int i = 0; i < 3; i++)
                    values[n][i] = 100 * rec + 3 * part + i;
                if (rec == 1 && part == 1) continue;
                CHECK_NC(NC_NOERR,
                         ncmpi_iput_vara_int(ncid, 0, start, count, values[n], &ids[n]));
                n++;
                if (n == 4) {
                    CHECK(!all_write);
                    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, n, ids, NULL));
                    n = 0;
                }
            }
        }
        CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, n, ids, NULL));
        bool mine = check.nprocs > 1 && check.rank == (all_write ? 1 : 0);
        const int rest[3] = {103, 104, 105};
        MPI_Offset start[2] = {mine, 3 * mine}, count[2] = {mine, 3 * mine};
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, 0, start, count, rest));
        check_records(ncid, check.nprocs);
        close_dataset(ncid);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    check_records(ncid, check.nprocs);
    close_dataset(ncid);
}

/* In independent mode, existing records may be overwritten, but records can be added only
 * by collective calls. */
static void records_are_added_collectively(void)
{
    if (is_missing()) return;
    int dims[2], ncid = new_known("", dims);
    put_all_records(ncid);
    if (writes(ncid)) {
        MPI_Offset start[2] = {all_write ? check.rank : 0, 0}, count[2] = {1, 1};
        MPI_Offset beyond[2] = {check.nprocs + 3, 0};
        int value = 100 * (int)start[0];
        bool several = all_write && check.nprocs > 1;
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, 0, start, count, &value));
        if (several && check.rank == 0) {
            CHECK_NC(NC_ECANTEXTEND, ncmpi_put_vara_int(ncid, 0, beyond, count, &value));
            CHECK(strstr(ncmpi_strerror(NC_ECANTEXTEND), "collectively") != NULL);
        }
        CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
        CHECK_EQ(check.nprocs, dim_length(ncid, 0));
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        check_records(ncid, check.nprocs);
        close_dataset(ncid);
    }
}

/* Invalid arguments on one process must not make the other processes wait forever. */
static void an_invalid_argument_on_one_process_affects_no_other(void)
{
    if (is_missing()) return;
    int dims[2], ncid = new_known("nc_compress=zstd", dims);
    if (writes(ncid)) {
        bool bad = check.rank == 0;
        const int values[N] = {0, 1, 2, 3, 4, 5};
        MPI_Offset start[2] = {0, bad ? N + 1 : 0}, count[2] = {1, N};
        CHECK_NC(bad ? NC_EINVALCOORDS : NC_NOERR,
                 ncmpi_put_vara_int_all(ncid, 0, start, count, values));
        put_all_records(ncid);
        check_records(ncid, check.nprocs);
        close_dataset(ncid);
    }
}

static void the_classic_model_has_only_its_types(void)
{
    if (is_missing()) return;
    int ncid = -1, v, format = 0;
    MPI_Comm comm = MPI_COMM_SELF;
    if (check.rank == 0) {
        CHECK_NC(NC_NOERR,
                 ncmpi_create(comm, check_path("c.nc"), NC_NETCDF4 | NC_CLASSIC_MODEL,
                              MPI_INFO_NULL, &ncid));
        CHECK_NC(NC_ESTRICTCDF2, ncmpi_def_var(ncid, "u", NC_UINT, 0, NULL, &v));
        (void)new_var(ncid, "i", NC_INT, 0, NULL);
        CHECK_NC(NC_ESTRICTCDF2, ncmpi_put_att_int(ncid, 0, "a", NC_INT64, 1, &v));
        close_dataset(ncid);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    ncid = open_dataset("c.nc", NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_inq_format(ncid, &format));
    CHECK_EQ(NC_FORMAT_NETCDF4_CLASSIC, format);
    CHECK_NC(NC_NOERR, ncmpi_inq_version(ncid, &format));
    CHECK_EQ(NC_NETCDF4 | NC_CLASSIC_MODEL, format);
    close_dataset(ncid);
}

/* Replaces a classic file with a netCDF-4 file, and vice versa. */
static void a_file_may_be_replaced_by_one_of_another_format(void)
{
    if (is_missing()) return;
    int ncid = new_dataset("a.nc");
    close_dataset(ncid);
    close_dataset(written(""));
    ncid = new_dataset("a.nc");
    close_dataset(ncid);
    CHECK_NC(NC_NOERR, check.rank == 0 ? ncmpi_delete(check_path("a.nc"), MPI_INFO_NULL)
                                       : NC_NOERR);
}

/* After an error, HDF5 frees the MPI handles that it has created so far. They must belong
 * to this program's MPI. */
static void a_file_that_cannot_be_created_is_an_error(void)
{
    int ncid;
    if (is_missing()) return;
    CHECK(ncmpi_create(MPI_COMM_WORLD, check_path("none/a.nc"), NC_NETCDF4, MPI_INFO_NULL,
                       &ncid) != NC_NOERR);
}

static const struct check_test tests[] = {
    {"written values are read back", written_values_are_read_back, 0},
    {"every kind of access reads the values", every_kind_of_access_reads_the_values, 0},
    {"a redefinition changes attributes and names",
     a_redefinition_changes_attributes_and_names, 0},
    {"a dimension is not renamed to a variable", a_dimension_is_not_renamed_to_a_variable,
     0},
    {"abort removes a new file", abort_removes_a_new_file, 0},
    {"an abort undoes a redefinition", an_abort_undoes_a_redefinition, 0},
    {"compressed values are written in rounds", compressed_values_are_written_in_rounds,
     0},
    {"records are added collectively", records_are_added_collectively, 0},
    {"an invalid argument on one process affects no other",
     an_invalid_argument_on_one_process_affects_no_other, 0},
    {"the classic model has only its types", the_classic_model_has_only_its_types, 0},
    {"a file that cannot be created is an error",
     a_file_that_cannot_be_created_is_an_error, 0},
    {"a file may be replaced by one of another format",
     a_file_may_be_replaced_by_one_of_another_format, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
