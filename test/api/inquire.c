/* Every question a dataset answers, on one whose answers are known. */
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

static void counts_of_the_dataset(void)
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

static void dimensions(void)
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

static void variables(void)
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

static void variables_that_are_not_there(void)
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

static void the_path_is_the_one_given(void)
{
    int ncid = known_dataset_reopened(), length = -1;
    char path[4096] = "";
    CHECK_NC(NC_NOERR, ncmpi_inq_path(ncid, &length, path));
    CHECK_STR(check_path("a.nc"), path);
    CHECK_EQ(strlen(path), length);
    CHECK_NC(NC_NOERR, ncmpi_inq_path(ncid, NULL, NULL));
    close_dataset(ncid);
}

static void sizes_and_places(void)
{
    int ncid = known_dataset();
    MPI_Offset size, extent, recsize, offset[4] = {-1, -1, -1, -1};
    for (int i = 0; i < 4; i++) {
        CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, i, &offset[i]));
        CHECK_EQ(0, offset[i]); /* no place yet */
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
    CHECK_EQ(offset[SERIES] + 8, offset[LABEL]); /* 3 shorts, padded */
    CHECK_EQ(8 + 16, recsize);                   /* and 15 characters */
    close_dataset(ncid);
}

/* Bytes that this process has put, and got, since it asked last. */
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

/* Each process counts what it asked for, whoever moved it. */
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

/* Requests count when they have been carried out: not when posted, nor if cancelled. */
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

/* Headers are process 0's; each process fills its share. */
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
    /* Process 0 looks whether another program has made the file its own: before all agree
     * on the definitions, and with the header locked. */
    int looked = check.rank == 0 ? 2 * 4 : 0;
    expect_moved(ncid, 4 * EACH + (check.rank == 0 ? size : 0), looked);
    close_dataset(ncid);
}

static void striping_can_be_asked(void)
{
    int ncid = known_dataset_reopened(), size = -1, count = -1;
    CHECK_NC(NC_NOERR, ncmpi_inq_striping(ncid, &size, &count));
    CHECK(size >= 0 && count >= 0);
    close_dataset(ncid);
}

static void memory_is_given_back(void)
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

static void questions_of_a_bad_id(void)
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

/* Nothing that an inquiry could tell must be wanted. */
static void nothing_is_wanted(void)
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
    {"nothing is wanted", nothing_is_wanted, CHECK_FORMATS},
    {"counts of the dataset", counts_of_the_dataset, CHECK_FORMATS},
    {"no unlimited dimension is -1", no_unlimited_dimension_is_minus_one, 0},
    {"dimensions", dimensions, CHECK_FORMATS},
    {"variables", variables, CHECK_FORMATS},
    {"variables that are not there", variables_that_are_not_there, 0},
    {"attributes", attributes_of_the_known_dataset, CHECK_FORMATS},
    {"format and version", format_and_version, CHECK_FORMATS},
    {"the path is the one given", the_path_is_the_one_given, 0},
    {"sizes and places", sizes_and_places, CHECK_FORMATS},
    {"bytes moved are counted", bytes_moved_are_counted, 0},
    {"bytes of requests are counted", bytes_of_requests_are_counted, 0},
    {"bytes of headers and filling are counted", bytes_of_headers_and_filling_are_counted,
     0},
    {"striping can be asked", striping_can_be_asked, 0},
    {"memory is given back", memory_is_given_back, CHECK_FORMATS},
    {"questions of a bad id", questions_of_a_bad_id, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
