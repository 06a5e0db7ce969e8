/* Calls every inquiry function on a dataset with known properties. */
#include <string.h>

#include "made_dataset.h"

enum { T, Y, X }; /* dimension ids */
enum { SCALAR, GRID, SERIES, LABEL };

static int known_dataset(void)
{
    int ncid = new_dataset("a.nc");
    int dims[3] = {new_dim(ncid, "t", NC_UNLIMITED), new_dim(ncid, "y", 3),
                   new_dim(ncid, "x", 5)};
    CHECK_EQ(SCALAR, new_var(ncid, "scalar", NC_DOUBLE, 0, NULL));
    CHECK_EQ(GRID, new_var(ncid, "grid", NC_FLOAT, 2, dims + 1));
    CHECK_EQ(SERIES, new_var(ncid, "series", NC_SHORT, 2, dims));
    CHECK_EQ(LABEL, new_var(ncid, "label", NC_CHAR, 3, dims));
    int three[3] = {1, 2, 3};
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 5, "known"));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, GRID, "units", 1, "K"));
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, GRID, "three", NC_SHORT, 3, three));
    return ncid;
}

static int known_dataset_reopened(void)
{
    close_dataset(known_dataset());
    return open_dataset("a.nc", NC_NOWRITE);
}

static void counts_of_the_dataset_are_returned(void)
{
    int ncid = known_dataset_reopened(), n[4];
    CHECK_NC(NC_NOERR, ncmpi_inq(ncid, &n[0], &n[1], &n[2], &n[3]));
    CHECK_EQ(3, n[0]);
    CHECK_EQ(4, n[1]);
    CHECK_EQ(1, n[2]);
    CHECK_EQ(T, n[3]);
    CHECK_NC(NC_NOERR, ncmpi_inq(ncid, NULL, NULL, NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_ndims(ncid, &n[0]));
    CHECK_NC(NC_NOERR, ncmpi_inq_nvars(ncid, &n[1]));
    CHECK_NC(NC_NOERR, ncmpi_inq_natts(ncid, &n[2]));
    CHECK_NC(NC_NOERR, ncmpi_inq_unlimdim(ncid, &n[3]));
    CHECK_EQ(3, n[0]);
    CHECK_EQ(4, n[1]);
    CHECK_EQ(1, n[2]);
    CHECK_EQ(T, n[3]);
    CHECK_NC(NC_NOERR, ncmpi_inq_num_rec_vars(ncid, &n[0]));
    CHECK_NC(NC_NOERR, ncmpi_inq_num_fix_vars(ncid, &n[1]));
    CHECK_EQ(2, n[0]);
    CHECK_EQ(2, n[1]);
    close_dataset(ncid);
}

static void no_unlimited_dimension_is_minus_one(void)
{
    int ncid = new_dataset("a.nc"), id = 7;
    new_dim(ncid, "x", 5);
    CHECK_NC(NC_NOERR, ncmpi_inq_unlimdim(ncid, &id));
    CHECK_EQ(-1, id);
    close_dataset(ncid);
}

static void dimensions_are_returned(void)
{
    static const char *const names[] = {"t", "y", "x"};
    static const MPI_Offset lengths[] = {0, 3, 5};
    int ncid = known_dataset_reopened(), id;
    for (int i = 0; i < 3; i++) {
        char name[NC_MAX_NAME + 1] = "";
        MPI_Offset length = -1;
        CHECK_NC(NC_NOERR, ncmpi_inq_dim(ncid, i, name, &length));
        CHECK_STR(names[i], name);
        CHECK_EQ(lengths[i], length);
        CHECK_NC(NC_NOERR, ncmpi_inq_dim(ncid, i, NULL, NULL));
        name[0] = '\0';
        CHECK_NC(NC_NOERR, ncmpi_inq_dimname(ncid, i, name));
        CHECK_STR(names[i], name);
        CHECK_EQ(lengths[i], dim_length(ncid, i));
        CHECK_NC(NC_NOERR, ncmpi_inq_dimid(ncid, names[i], &id));
        CHECK_EQ(i, id);
    }
    CHECK_NC(NC_EBADDIM, ncmpi_inq_dimid(ncid, "none", &id));
    CHECK_NC(NC_EBADDIM, ncmpi_inq_dim(ncid, 3, NULL, NULL));
    CHECK_NC(NC_EBADDIM, ncmpi_inq_dim(ncid, -1, NULL, NULL));
    close_dataset(ncid);
}

static void variables_are_returned(void)
{
    static const struct {
        const char *name;
        nc_type type;
        int ndims, dimids[3], natts;
    } known[] = {{"scalar", NC_DOUBLE, 0, {0}, 0},
                 {"grid", NC_FLOAT, 2, {Y, X}, 2},
                 {"series", NC_SHORT, 2, {T, Y}, 0},
                 {"label", NC_CHAR, 3, {T, Y, X}, 0}};
    int ncid = known_dataset_reopened();
    for (int i = 0; i < 4; i++) {
        char name[NC_MAX_NAME + 1];
        nc_type type[2];
        int ndims[2], dimids[2][3], natts[2], id;
        CHECK_NC(NC_NOERR,
                 ncmpi_inq_var(ncid, i, name, &type[0], &ndims[0], dimids[0], &natts[0]));
        CHECK_STR(known[i].name, name);
        name[0] = '\0';
        CHECK_NC(NC_NOERR, ncmpi_inq_varname(ncid, i, name));
        CHECK_STR(known[i].name, name);
        CHECK_NC(NC_NOERR, ncmpi_inq_vartype(ncid, i, &type[1]));
        CHECK_NC(NC_NOERR, ncmpi_inq_varndims(ncid, i, &ndims[1]));
        CHECK_NC(NC_NOERR, ncmpi_inq_vardimid(ncid, i, dimids[1]));
        CHECK_NC(NC_NOERR, ncmpi_inq_varnatts(ncid, i, &natts[1]));
        for (int way = 0; way < 2; way++) {
            CHECK_EQ(known[i].type, type[way]);
            CHECK_EQ(known[i].ndims, ndims[way]);
            CHECK_EQ(known[i].natts, natts[way]);
            for (int d = 0; d < known[i].ndims; d++)
                CHECK_EQ(known[i].dimids[d], dimids[way][d]);
        }
        CHECK_NC(NC_NOERR, ncmpi_inq_var(ncid, i, NULL, NULL, NULL, NULL, NULL));
        CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, known[i].name, &id));
        CHECK_EQ(i, id);
    }
    close_dataset(ncid);
}

static void missing_variables_are_an_error(void)
{
    int ncid = known_dataset_reopened(), id;
    nc_type type;
    CHECK_NC(NC_ENOTVAR, ncmpi_inq_varid(ncid, "none", &id));
    for (int bad = -2; bad < 5; bad += bad == -2 ? 6 : 1) {
        CHECK_NC(NC_ENOTVAR, ncmpi_inq_var(ncid, bad, NULL, NULL, NULL, NULL, NULL));
        CHECK_NC(NC_ENOTVAR, ncmpi_inq_vartype(ncid, bad, &type));
        CHECK_NC(NC_ENOTVAR, ncmpi_inq_varndims(ncid, bad, &id));
        CHECK_NC(NC_ENOTVAR, ncmpi_inq_varnatts(ncid, bad, &id));
    }
    CHECK_NC(NC_NOERR, ncmpi_inq_varnatts(ncid, NC_GLOBAL, &id));
    CHECK_EQ(1, id);
    close_dataset(ncid);
}

static void attributes_of_the_known_dataset(void)
{
    int ncid = known_dataset_reopened(), id;
    char name[NC_MAX_NAME + 1];
    nc_type type;
    MPI_Offset length;
    CHECK_NC(NC_NOERR, ncmpi_inq_att(ncid, GRID, "three", &type, &length));
    CHECK_EQ(NC_SHORT, type);
    CHECK_EQ(3, length);
    CHECK_NC(NC_NOERR, ncmpi_inq_att(ncid, GRID, "three", NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_atttype(ncid, NC_GLOBAL, "title", &type));
    CHECK_EQ(NC_CHAR, type);
    CHECK_NC(NC_NOERR, ncmpi_inq_attlen(ncid, NC_GLOBAL, "title", &length));
    CHECK_EQ(5, length);
    CHECK_NC(NC_NOERR, ncmpi_inq_attid(ncid, GRID, "three", &id));
    CHECK_EQ(1, id);
    CHECK_NC(NC_NOERR, ncmpi_inq_attname(ncid, GRID, 0, name));
    CHECK_STR("units", name);
    CHECK_NC(NC_ENOTATT, ncmpi_inq_attname(ncid, GRID, 2, name));
    CHECK_NC(NC_ENOTATT, ncmpi_inq_attname(ncid, GRID, -1, name));
    CHECK_NC(NC_ENOTATT, ncmpi_inq_attid(ncid, GRID, "none", &id));
    CHECK_NC(NC_ENOTATT, ncmpi_inq_att(ncid, NC_GLOBAL, "units", &type, &length));
    CHECK_NC(NC_ENOTVAR, ncmpi_inq_att(ncid, 99, "units", &type, &length));
    close_dataset(ncid);
}

static void format_and_version(void)
{
    int ncid = known_dataset_reopened(), format = 0, mode = -1;
    CHECK_NC(NC_NOERR, ncmpi_inq_format(ncid, &format));
    CHECK_EQ(check.format, format);
    CHECK_NC(NC_NOERR, ncmpi_inq_version(ncid, &mode));
    CHECK_EQ(check.format == 1 ? NC_CLASSIC_MODEL : check.cmode, mode);
    format = 0;
    CHECK_NC(NC_NOERR, ncmpi_inq_file_format(check_path("a.nc"), &format));
    CHECK_EQ(check.format, format);
    CHECK_NC(NC_ENOENT, ncmpi_inq_file_format(check_path("none.nc"), &format));
    if (check.rank == 0) {
        CHECK(check_write_file(check_path("text"), "not a dataset", 13));
        CHECK_NC(NC_NOERR, ncmpi_inq_file_format(check_path("text"), &format));
        CHECK_EQ(NC_FORMAT_UNKNOWN, format);
    }
    close_dataset(ncid);
}

static void the_path_is_returned_as_given(void)
{
    int ncid = known_dataset_reopened(), length = -1;
    char path[4096] = "";
    CHECK_NC(NC_NOERR, ncmpi_inq_path(ncid, &length, path));
    CHECK_STR(check_path("a.nc"), path);
    CHECK_EQ(strlen(path), length);
    CHECK_NC(NC_NOERR, ncmpi_inq_path(ncid, NULL, NULL));
    close_dataset(ncid);
}

static void sizes_and_offsets_are_returned(void)
{
    int ncid = known_dataset();
    MPI_Offset size, extent, recsize, offset[4] = {-1, -1, -1, -1};
    for (int i = 0; i < 4; i++) {
        CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, i, &offset[i]));
        CHECK_EQ(0, offset[i]); /* 0 before enddef */
    }
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &size));
    CHECK_NC(NC_NOERR, ncmpi_inq_header_extent(ncid, &extent));
    CHECK_NC(NC_NOERR, ncmpi_inq_recsize(ncid, &recsize));
    for (int i = 0; i < 4; i++)
        CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, i, &offset[i]));
    CHECK(size > 100 && size <= extent);
    CHECK_EQ(extent, offset[SCALAR]);
    CHECK_EQ(offset[SCALAR] + 8, offset[GRID]);
    CHECK(offset[SERIES] >= offset[GRID] + 15 * 4);
    CHECK_EQ(offset[SERIES] + 8, offset[LABEL]); /* 3 shorts, padded to 8 */
    CHECK_EQ(8 + 16, recsize);                   /* plus 15 characters, padded to 16 */
    close_dataset(ncid);
}

/* Checks how many bytes this process has put and got since the last call. An argument of
 * -1 accepts any number. */
static void expect_moved(int ncid, long long put, long long got)
{
    static MPI_Offset seen[2];
    MPI_Offset now[2];
    CHECK_NC(NC_NOERR, ncmpi_inq_put_size(ncid, &now[0]));
    CHECK_NC(NC_NOERR, ncmpi_inq_get_size(ncid, &now[1]));
    if (put >= 0) CHECK_EQ(put, now[0] - seen[0]);
    if (got >= 0) CHECK_EQ(got, now[1] - seen[1]);
    seen[0] = now[0];
    seen[1] = now[1];
}

/* Bytes are counted on the process that requested them, even if another process
 * transferred them. */
static void bytes_moved_are_counted(void)
{
    enum { EACH = 1000 };
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", EACH * check.nprocs);
    int v = new_var(ncid, "v", NC_INT, 1, &x), values[EACH] = {0};
    MPI_Offset start = check.rank, count = EACH, stride = check.nprocs;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    expect_moved(ncid, -1, -1);
    CHECK_NC(NC_NOERR, ncmpi_put_vars_int_all(ncid, v, &start, &count, &stride, values));
    expect_moved(ncid, 4 * EACH, 0);
    CHECK_NC(NC_NOERR, ncmpi_get_vars_int_all(ncid, v, &start, &count, &stride, values));
    expect_moved(ncid, 0, 4 * EACH);
    start = EACH * check.nprocs;
    CHECK_NC(NC_EINVALCOORDS, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
    CHECK_NC(NC_EINVALCOORDS, ncmpi_get_vara_int_all(ncid, v, &start, &count, values));
    expect_moved(ncid, 0, 0);
    close_dataset(ncid);
}

/* The bytes of a request are counted when it is executed, not when it is posted, and
 * never if it is cancelled. */
static void bytes_of_requests_are_counted(void)
{
    enum { EACH = 10 };
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", EACH * check.nprocs);
    int v = new_var(ncid, "v", NC_SHORT, 1, &x), values[EACH] = {0}, id;
    MPI_Offset start = EACH * check.rank, count = EACH;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    expect_moved(ncid, -1, -1);
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, v, &start, &count, values, NULL));
    CHECK_NC(NC_NOERR, ncmpi_iput_var1_int(ncid, v, &start, values, &id));
    expect_moved(ncid, 0, 0);
    CHECK_NC(NC_NOERR, ncmpi_cancel(ncid, 1, &id, NULL));
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
    expect_moved(ncid, 2 * EACH, 0);
    CHECK_NC(NC_NOERR, ncmpi_iget_vara_int(ncid, v, &start, &count, values, NULL));
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
    expect_moved(ncid, 0, 2 * EACH);
    close_dataset(ncid);
}

/* Process 0 also counts the header. Each process fills part of the variable, and counts
 * the bytes that it filled. */
static void bytes_of_headers_and_filling_are_counted(void)
{
    enum { EACH = 10 };
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", EACH * check.nprocs);
    MPI_Offset size;
    new_var(ncid, "v", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_set_fill(ncid, NC_FILL, NULL));
    expect_moved(ncid, -1, -1);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &size));
    /* Process 0 reads the file's mark twice to check that no other program has taken over
     * the file: once before the processes agree on the definitions, and once while the
     * header is locked. */
    int looked = check.rank == 0 ? 2 * 4 : 0;
    expect_moved(ncid, 4 * EACH + (check.rank == 0 ? size : 0), looked);
    close_dataset(ncid);
}

static void the_striping_is_returned(void)
{
    int ncid = known_dataset_reopened(), size = -1, count = -1;
    CHECK_NC(NC_NOERR, ncmpi_inq_striping(ncid, &size, &count));
    CHECK(size >= 0 && count >= 0);
    close_dataset(ncid);
}

static void all_memory_is_freed(void)
{
    MPI_Offset before = 0, during = 0, after = 0, most = 0;
    int rc = ncmpi_inq_malloc_size(&before);
    if (rc == NC_ENOTENABLED) {
        check_skip("memory is not counted in this build");
        return;
    }
    CHECK_NC(NC_NOERR, rc);
    int ncid = known_dataset();
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&during));
    close_dataset(ncid);
    complete_closes();
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&after));
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_max_size(&most));
    CHECK(during > before);
    CHECK_EQ(before, after);
    CHECK(most >= during);
}

static void inquiries_of_an_invalid_id_fail(void)
{
    int n;
    MPI_Offset size;
    CHECK_NC(NC_EBADID, ncmpi_inq(99, &n, &n, &n, &n));
    CHECK_NC(NC_EBADID, ncmpi_inq_dim(99, 0, NULL, NULL));
    CHECK_NC(NC_EBADID, ncmpi_inq_var(99, 0, NULL, NULL, NULL, NULL, NULL));
    CHECK_NC(NC_EBADID, ncmpi_inq_format(99, &n));
    CHECK_NC(NC_EBADID, ncmpi_inq_header_size(99, &size));
    CHECK_NC(NC_EBADID, ncmpi_inq_recsize(99, &size));
    CHECK_NC(NC_EBADID, ncmpi_inq_path(99, &n, NULL));
    CHECK_NC(NC_EBADID, ncmpi_inq_nreqs(99, &n));
    CHECK_NC(NC_EBADID, ncmpi_inq_put_size(99, &size));
}

/* Calls every inquiry function with NULL for all output arguments. */
static void every_output_argument_may_be_NULL(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", 4);
    int v = new_var(ncid, "v", NC_INT, 1, &x), one = 1, id, n = -1;
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, v, "a", NC_INT, 1, &one));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_buffer_attach(ncid, 64));
    CHECK_NC(NC_NOERR, ncmpi_inq_buffer_usage(ncid, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_buffer_size(ncid, NULL));
    CHECK_NC(NC_NOERR, ncmpi_buffer_detach(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_file_format(check_path("a.nc"), NULL));
    CHECK_NC(NC_ENOENT, ncmpi_inq_file_format(check_path("none.nc"), NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_files_opened(NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_files_opened(NULL, &id));
    CHECK_EQ(ncid, id);
    CHECK_NC(NC_NOERR, ncmpi_inq_files_opened(&n, NULL));
    CHECK_EQ(1, n);
    CHECK_NC(NC_NOERR, ncmpi_inq_default_format(NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_max_size(NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq(ncid, NULL, NULL, NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_format(ncid, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_version(ncid, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_nreqs(ncid, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_path(ncid, NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_striping(ncid, NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_file_info(ncid, NULL));
    CHECK_NC(NC_NOERR, ncmpi_get_file_info(ncid, NULL));
    CHECK_NC(NC_ENOTENABLED, ncmpi_inq_malloc_list());
    CHECK_NC(NC_NOERR, ncmpi_inq_put_size(ncid, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_get_size(ncid, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_header_extent(ncid, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_recsize(ncid, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_num_rec_vars(ncid, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_num_fix_vars(ncid, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_dimid(ncid, "x", NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_dim(ncid, x, NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "v", NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_var(ncid, v, NULL, NULL, NULL, NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, v, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_var_fill(ncid, v, NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_att(ncid, v, "a", NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_attid(ncid, v, "a", NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_attname(ncid, v, 0, NULL));
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"every output argument may be NULL", every_output_argument_may_be_NULL,
     CHECK_FORMATS},
    {"counts of the dataset are returned", counts_of_the_dataset_are_returned,
     CHECK_FORMATS},
    {"the id of no unlimited dimension is -1", no_unlimited_dimension_is_minus_one, 0},
    {"dimensions are returned", dimensions_are_returned, CHECK_FORMATS},
    {"variables are returned", variables_are_returned, CHECK_FORMATS},
    {"missing variables are an error", missing_variables_are_an_error, 0},
    {"attributes are returned", attributes_of_the_known_dataset, CHECK_FORMATS},
    {"format and version", format_and_version, CHECK_FORMATS},
    {"the path is returned as given", the_path_is_returned_as_given, 0},
    {"sizes and offsets are returned", sizes_and_offsets_are_returned, CHECK_FORMATS},
    {"bytes moved are counted", bytes_moved_are_counted, 0},
    {"bytes of requests are counted", bytes_of_requests_are_counted, 0},
    {"bytes of headers and filling are counted", bytes_of_headers_and_filling_are_counted,
     0},
    {"the striping is returned", the_striping_is_returned, 0},
    {"all memory is freed", all_memory_is_freed, CHECK_FORMATS},
    {"inquiries of an invalid id fail", inquiries_of_an_invalid_id_fail, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
