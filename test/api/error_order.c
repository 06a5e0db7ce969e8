/* Tests which error a data call or definition returns if several arguments are invalid,
 * and that an error in any single argument is detected. */
#include "made_dataset.h"

static int ncid, v, text, readonly;

/* Creates two datasets, one writable and one opened for reading only. */
static void two_datasets(void)
{
    int dims[2];
    close_dataset(new_dataset("b.nc"));
    ncid = new_dataset("a.nc");
    dims[0] = new_dim(ncid, "y", 4);
    dims[1] = new_dim(ncid, "x", 5);
    v = new_var(ncid, "v", NC_INT, 2, dims);
    text = new_var(ncid, "text", NC_CHAR, 2, dims);
    readonly = open_dataset("b.nc", NC_NOWRITE);
}

static void close_both(void)
{
    close_dataset(ncid);
    close_dataset(readonly);
}

/* Makes a put and a get with the given arguments, several of which may be invalid, and
 * checks the codes. In collective mode, all processes pass the same arguments. */
static void put_and_get(int put_code, int get_code, int id, int varid,
                        const MPI_Offset *start, const MPI_Offset *count,
                        const MPI_Offset *stride)
{
    int values[20] = {0};
    CHECK_NC(put_code,
             check.collective
                 ? ncmpi_put_vars_int_all(id, varid, start, count, stride, values)
                 : ncmpi_put_vars_int(id, varid, start, count, stride, values));
    CHECK_NC(get_code,
             check.collective
                 ? ncmpi_get_vars_int_all(id, varid, start, count, stride, values)
                 : ncmpi_get_vars_int(id, varid, start, count, stride, values));
}

static void both(int code, int id, int varid, const MPI_Offset *start,
                 const MPI_Offset *count, const MPI_Offset *stride)
{
    put_and_get(code, code, id, varid, start, count, stride);
}

static void no_buffer(int code, const MPI_Offset *start, const MPI_Offset *count,
                      const MPI_Offset *stride)
{
    CHECK_NC(code, check.collective
                       ? ncmpi_put_vars_int_all(ncid, v, start, count, stride, NULL)
                       : ncmpi_put_vars_int(ncid, v, start, count, stride, NULL));
    CHECK_NC(code, check.collective
                       ? ncmpi_get_vars_int_all(ncid, v, start, count, stride, NULL)
                       : ncmpi_get_vars_int(ncid, v, start, count, stride, NULL));
}

static void errors_of_mode_and_id_have_PnetCDFs_codes(void)
{
    MPI_Offset start[2] = {9, 9}, count[2] = {9, 9}, stride[2] = {-1, 0};
    two_datasets();
    both(NC_EBADID, 999, 99, start, count, stride);
    both(NC_EINDEFINE, ncid, 99, start, count, stride);
    begin_data(ncid);
    check.collective = !check.collective; /* calls functions of the wrong mode */
    both(check.collective ? NC_EINDEP : NC_ENOTINDEP, ncid, 99, start, count, stride);
    check.collective = !check.collective;
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(readonly));
    put_and_get(NC_EPERM, NC_ENOTVAR, readonly, 99, start, count, stride);
    end_data(ncid);
    close_both();
}

static void errors_of_variable_and_position_have_PnetCDFs_codes(void)
{
    MPI_Offset good_start[2] = {0, 0}, good_count[2] = {2, 2}, good_stride[2] = {1, 2};
    MPI_Offset far_start[2] = {4, 0}, negative[2] = {0, -1}, long_count[2] = {2, 6};
    MPI_Offset bad_stride[2] = {1, 0};
    two_datasets();
    begin_data(ncid);
    both(NC_ENOTVAR, ncid, 99, far_start, negative, bad_stride);
    both(NC_ENOTVAR, ncid, -2, far_start, negative, bad_stride);
    both(NC_ECHAR, ncid, text, far_start, long_count, bad_stride);
    both(NC_EINVALCOORDS, ncid, v, far_start, long_count, good_stride);
    both(NC_EINVALCOORDS, ncid, v, negative, good_count, good_stride);
    both(NC_EEDGE, ncid, v, good_start, long_count, good_stride);
    both(NC_EEDGE, ncid, v, good_start, long_count, bad_stride);
    both(NC_ESTRIDE, ncid, v, good_start, good_count, bad_stride);
    no_buffer(NC_ESTRIDE, good_start, good_count, bad_stride);
    no_buffer(NC_EINVAL, good_start, good_count, good_stride);
    both(NC_ENEGATIVECNT, ncid, v, good_start, negative, good_stride);
    both(NC_EINVALCOORDS, ncid, v, NULL, good_count, good_stride);
    both(NC_EEDGE, ncid, v, good_start, NULL, good_stride);
    both(NC_EINVALCOORDS, ncid, v, far_start, NULL, good_stride);
    both(NC_NOERR, ncid, v, good_start, good_count, good_stride);
    both(NC_NOERR, ncid, v, good_start, good_count, NULL);
    end_data(ncid);
    close_both();
}

static void edges_are_checked_with_strides(void)
{
    MPI_Offset start[2] = {0, 1}, count[2] = {1, 2}, stride[2] = {1, 3};
    two_datasets();
    begin_data(ncid);
    both(NC_NOERR, ncid, v, start, count, stride); /* accesses elements 1 and 4 of 5 */
    start[1] = 2;
    both(NC_EEDGE, ncid, v, start, count, stride); /* would access elements 2 and 5 */
    stride[1] = 1LL << 62;
    both(NC_EEDGE, ncid, v, start, count, stride);
    count[1] = 1;
    both(NC_NOERR, ncid, v, start, count, stride); /* stride is unused if count is 1 */
    count[1] = 1LL << 62;
    both(NC_EEDGE, ncid, v, start, count, NULL);
    start[1] = 1LL << 62;
    both(NC_EINVALCOORDS, ncid, v, start, count, NULL);
    end_data(ncid);
    close_both();
}

static void single_elements_are_checked(void)
{
    MPI_Offset place[2] = {0, 5};
    int value = 1;
    two_datasets();
    begin_data(ncid);
    CHECK_NC(NC_EINVALCOORDS, check.collective
                                  ? ncmpi_put_var1_int_all(ncid, v, place, &value)
                                  : ncmpi_put_var1_int(ncid, v, place, &value));
    place[1] = 4;
    CHECK_NC(NC_NOERR, check.collective ? ncmpi_put_var1_int_all(ncid, v, place, &value)
                                        : ncmpi_put_var1_int(ncid, v, place, &value));
    CHECK_NC(NC_EINVALCOORDS, check.collective
                                  ? ncmpi_put_var1_int_all(ncid, v, NULL, &value)
                                  : ncmpi_put_var1_int(ncid, v, NULL, &value));
    end_data(ncid);
    close_both();
}

/* A missing attached buffer is reported before an invalid position. If the list of starts
 * is NULL or has a NULL element, the call returns NC_ENULLSTART. */
static void errors_in_lists_of_positions_have_PnetCDFs_codes(void)
{
    MPI_Offset far[2] = {4, 0}, good[2] = {0, 0}, *starts[2] = {good, far};
    MPI_Offset *gap[2] = {good, NULL};
    int values[2] = {1, 2}, id;
    two_datasets();
    CHECK_NC(NC_ENOTVAR, ncmpi_bput_varn_int(ncid, 99, 2, starts, NULL, values, &id));
    bool log = has_log(ncid); /* a bput to a log needs no buffer */
    CHECK_NC(log ? NC_EINVALCOORDS : NC_ENULLABUF,
             ncmpi_bput_varn_int(ncid, v, 2, starts, NULL, values, &id));
    CHECK_NC(log ? NC_ENULLSTART : NC_ENULLABUF,
             ncmpi_bput_varn_int(ncid, v, 1, NULL, NULL, values, &id));
    CHECK_NC(NC_NOERR, ncmpi_buffer_attach(ncid, 100));
    CHECK_NC(NC_EINVALCOORDS, ncmpi_bput_varn_int(ncid, v, 2, starts, NULL, values, &id));
    CHECK_NC(NC_ENULLSTART, ncmpi_bput_varn_int(ncid, v, 1, NULL, NULL, values, &id));
    CHECK_NC(NC_NOERR, ncmpi_buffer_detach(ncid));
    CHECK_NC(NC_ENULLSTART, ncmpi_iput_varn_int(ncid, v, 1, NULL, NULL, values, &id));
    CHECK_NC(NC_ENULLSTART, ncmpi_iput_varn_int(ncid, v, 2, gap, NULL, values, &id));
    CHECK_NC(NC_EINVALCOORDS, ncmpi_iput_vara_int(ncid, v, NULL, NULL, values, &id));
    CHECK_NC(NC_EEDGE, ncmpi_iput_vara_int(ncid, v, good, NULL, values, &id));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    close_both();
}

static void a_position_out_of_bounds_is_reported_before_a_range_error(void)
{
    MPI_Offset start[2] = {0, 0}, count[2] = {1, 6};
    double values[6] = {1e30, 1e30, 1e30, 1e30, 1e30, 1e30};
    two_datasets();
    begin_data(ncid);
    CHECK_NC(NC_EEDGE, check.collective
                           ? ncmpi_put_vara_double_all(ncid, v, start, count, values)
                           : ncmpi_put_vara_double(ncid, v, start, count, values));
    count[1] = 5;
    CHECK_NC(NC_ERANGE, check.collective
                            ? ncmpi_put_vara_double_all(ncid, v, start, count, values)
                            : ncmpi_put_vara_double(ncid, v, start, count, values));
    end_data(ncid);
    close_both();
}

/* The expected codes are PnetCDF's. test/differ compares more cases. */
static void errors_in_definitions_have_PnetCDFs_codes(void)
{
    int id, bad[2] = {0, 99}, n = -1, old;
    MPI_Offset size = -1;
    two_datasets();
    CHECK_NC(NC_ENAMEINUSE, ncmpi_def_var(ncid, "v", NC_INT, 2, bad, &id));
    CHECK_NC(NC_EINVAL, ncmpi_def_var(ncid, "v", NC_INT, -1, bad, &id));
    CHECK_NC(NC_NOERR, ncmpi_rename_dim(ncid, 1, "x"));
    CHECK_NC(NC_ENAMEINUSE, ncmpi_rename_dim(ncid, 1, "y"));
    CHECK_NC(NC_ENAMEINUSE, ncmpi_rename_var(ncid, v, "v"));
    CHECK_NC(NC_EBADNAME, ncmpi_rename_att(ncid, v, "none", "/"));
    CHECK_NC(NC_ENOTVAR, ncmpi_copy_att(ncid, v, "none", ncid, 99));
    CHECK_NC(NC_EINVAL, ncmpi__enddef(ncid, 0, -1, 0, 0));
    CHECK_NC(NC_EINVAL, ncmpi__enddef(ncid, 0, 0, 0, -1));
    CHECK_NC(NC_NOERR, ncmpi_inq_var(ncid, NC_GLOBAL, NULL, NULL, NULL, NULL, &n));
    CHECK_EQ(0, n);
    CHECK_NC(NC_EGLOBAL, ncmpi_inq_var(ncid, NC_GLOBAL, NULL, &id, NULL, NULL, NULL));
    CHECK_NC(NC_EGLOBAL, ncmpi_inq_varname(ncid, NC_GLOBAL, NULL));
    CHECK_NC(NC_EBADNAME, ncmpi_inq_varid(ncid, "", &id));
    CHECK_NC(NC_EBADNAME, ncmpi_inq_dimid(ncid, "", &id));
    CHECK_NC(NC_NOERR, ncmpi_inq_buffer_size(ncid, NULL));
    CHECK_NC(NC_ENULLABUF, ncmpi_inq_buffer_size(ncid, &size));
    CHECK_NC(NC_ENOTINDEFINE, ncmpi_def_dim(readonly, "z", 1, &id));
    CHECK_NC(NC_ENOTINDEFINE, ncmpi_def_var(readonly, "z", NC_INT, 0, NULL, &id));
    CHECK_NC(NC_EPERM, ncmpi_set_fill(readonly, NC_FILL, &old));
    CHECK_NC(NC_EPERM, ncmpi_del_att(readonly, NC_GLOBAL, "z"));
    CHECK_NC(NC_NOERR, ncmpi_sync_numrecs(readonly));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_ENAMEINUSE, ncmpi_rename_dim(ncid, 1, "y"));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, v, 1, NULL));
    CHECK_NC(NC_ELATEFILL, ncmpi_def_var_fill(ncid, v, 0, &n));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    close_both();
}

static void formats_that_are_not_built_in_are_refused(void)
{
    int old, id;
    CHECK_NC(NC_ENOTBUILT,
             ncmpi_create(MPI_COMM_WORLD, check_path("c.nc"), NC_BP, MPI_INFO_NULL, &id));
    /* Succeeds if netCDF-4 is built in. Otherwise the message must name the missing
     * component. */
    CHECK_NC(NC_NOERR, ncmpi_set_default_format(NC_FORMAT_NETCDF4, &old));
    int err =
        ncmpi_create(MPI_COMM_WORLD, check_path("c.nc"), NC_CLOBBER, MPI_INFO_NULL, &id);
    if (err == NC_NOERR) {
        CHECK_NC(NC_NOERR, ncmpi_close(id));
    } else {
        CHECK_NC(NC_ENOTBUILT, err);
        CHECK(strstr(ncmpi_strerror(err), "netcdf") != NULL);
    }
    CHECK_NC(NC_NOERR, ncmpi_set_default_format(old, NULL));
}

static void buffer_errors_have_PnetCDFs_codes(void)
{
    MPI_Offset start[2] = {0, 0}, far[2] = {9, 0}, count[2] = {1, 2};
    int values[2] = {1, 2}, id = -77;
    two_datasets();
    CHECK_NC(NC_EPERM, ncmpi_iput_var_int(readonly, 0, values, &id));
    CHECK_EQ(NC_REQ_NULL, id);
    CHECK_NC(has_log(ncid) ? NC_EINVALCOORDS : NC_ENULLABUF,
             ncmpi_bput_vara_int(ncid, v, far, count, values, &id));
    CHECK_NC(NC_ECHAR, ncmpi_bput_vara_int(ncid, text, far, count, values, &id));
    CHECK_NC(NC_EIOMISMATCH,
             ncmpi_iput_vara(ncid, v, start, count, values, -7, MPI_INT, &id));
    CHECK_NC(NC_EINVALCOORDS,
             ncmpi_iput_vara(ncid, v, far, count, values, -7, MPI_INT, &id));
    /* If the buffer count is 0, a post returns a null request, but a collective call
     * returns an error. */
    CHECK_NC(NC_NOERR, ncmpi_iput_vara(ncid, v, start, count, values, 0, MPI_INT, &id));
    CHECK_EQ(NC_REQ_NULL, id);
    begin_data(ncid);
    CHECK_NC(check.collective ? NC_EIOMISMATCH : NC_NOERR,
             check.collective
                 ? ncmpi_get_vara_all(ncid, v, start, count, values, 0, MPI_INT)
                 : ncmpi_get_vara(ncid, v, start, count, values, 0, MPI_INT));
    end_data(ncid);
    close_both();
}

static const struct check_test tests[] = {
    {"errors in definitions have PnetCDF's codes",
     errors_in_definitions_have_PnetCDFs_codes, CHECK_FORMATS},
    {"formats that are not built in are refused",
     formats_that_are_not_built_in_are_refused, 0},
    {"buffer errors have PnetCDF's codes", buffer_errors_have_PnetCDFs_codes,
     CHECK_FORMATS | CHECK_MODES},
    {"errors of mode and id have PnetCDF's codes",
     errors_of_mode_and_id_have_PnetCDFs_codes, CHECK_FORMATS | CHECK_MODES},
    {"errors of variable and position have PnetCDF's codes",
     errors_of_variable_and_position_have_PnetCDFs_codes, CHECK_FORMATS | CHECK_MODES},
    {"edges are checked with strides", edges_are_checked_with_strides,
     CHECK_FORMATS | CHECK_MODES},
    {"single elements are checked", single_elements_are_checked,
     CHECK_FORMATS | CHECK_MODES},
    {"errors in lists of positions have PnetCDF's codes",
     errors_in_lists_of_positions_have_PnetCDFs_codes, CHECK_FORMATS},
    {"a position out of bounds is reported before a range error",
     a_position_out_of_bounds_is_reported_before_a_range_error,
     CHECK_FORMATS | CHECK_MODES},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2");
}
