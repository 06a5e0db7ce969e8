/* Tests the details that ncmpi_strerror appends to a message. They must name the object
 * on which the call failed, and must not be left over from an earlier call that returned
 * the same code. */
#include <stdio.h>
#include <string.h>

#include "made_dataset.h"

static int ncid, v, text;

static void open_both(void)
{
    int dims[2];
    ncid = new_dataset("words.nc");
    dims[0] = new_dim(ncid, "t", NC_UNLIMITED);
    dims[1] = new_dim(ncid, "x", 4);
    v = new_var(ncid, "temp", NC_BYTE, 2, dims);
    text = new_var(ncid, "label", NC_CHAR, 1, &dims[1]);
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, v, "units", 1, "K"));
}

/* Checks that a call returned the given code and that the code's message contains the
 * given text. */
static void told(int code, int err, const char *words, int line)
{
    char shown[300];
    const char *all = ncmpi_strerror(err);
    if (!check_nc(code, err, words, __FILE__, line)) return;
    if (strstr(all, words) != NULL) return;
    snprintf(shown, sizeof shown, "%s: %s", words, all);
    check_that(false, shown, __FILE__, line);
}
#define TOLD(code, call, words) told(code, call, words, __LINE__)

static void messages_name_the_definition(void)
{
    int id, dim = 17, value = 5;
    MPI_Offset length;
    open_both();
    TOLD(NC_EBADTYPE, ncmpi_put_att_int(ncid, v, "_FillValue", NC_INT, 1, &value),
         "variable 'temp' has type NC_BYTE");
    TOLD(NC_EBADTYPE, ncmpi_def_var(ncid, "w", 99, 0, NULL, &id), "99");
    TOLD(NC_EBADTYPE, ncmpi_put_att_int(ncid, v, "_FillValue", NC_INT, 1, &value),
         "variable 'temp' has type NC_BYTE");
    TOLD(NC_EBADDIM, ncmpi_def_var(ncid, "z", NC_INT, 1, &dim, &id), "'z'");
    TOLD(NC_EBADDIM, ncmpi_inq_dimid(ncid, "lat", &id), "'lat'");
    TOLD(NC_EBADDIM, ncmpi_inq_dimlen(ncid, 5, &length), "id 5, but the dataset has 2");
    TOLD(NC_EBADDIM, ncmpi_rename_dim(ncid, 6, "q"), "id 6");
    TOLD(NC_ENOTVAR, ncmpi_inq_varid(ncid, "wind", &id), "'wind'");
    TOLD(NC_ENOTVAR, ncmpi_inq_varndims(ncid, 7, &id), "id 7, but the dataset has 2");
    TOLD(NC_ENOTVAR, ncmpi_inq_attlen(ncid, 8, "units", &length), "id 8");
    TOLD(NC_ENOTVAR, ncmpi_rename_var(ncid, 9, "q"), "id 9");
    TOLD(NC_EGLOBAL, ncmpi_inq_varndims(ncid, NC_GLOBAL, &id), "NC_GLOBAL");
    TOLD(NC_ENOTATT, ncmpi_inq_attlen(ncid, v, "scale", &length),
         "variable 'temp' has no attribute 'scale'");
    TOLD(NC_ENOTATT, ncmpi_get_att_int(ncid, NC_GLOBAL, "title", &value),
         "global attribute 'title'");
    TOLD(NC_ENOTATT, ncmpi_del_att(ncid, v, "offset"), "'offset'");
    TOLD(NC_ECHAR, ncmpi_get_att_int(ncid, v, "units", &value),
         "'units' has type NC_CHAR, but the values are numbers");
    TOLD(NC_EINVAL, ncmpi_put_att_text(ncid, v, "units", -3, "K"), "-3 elements");
    TOLD(NC_EINVAL, ncmpi_set_fill(ncid, 77, NULL), "0x4d");
    TOLD(NC_EINVAL, ncmpi_put_att_text(ncid, v, "note", 1, NULL), "'note'");
    TOLD(NC_EBADNAME, ncmpi_inq_varid(ncid, "", &id), "empty");
    TOLD(NC_EBADNAME, ncmpi_rename_var(ncid, v, "a/b"), "'a/b'");
    TOLD(NC_EBADNAME, ncmpi_rename_att(ncid, v, "units", NULL), "empty");
    TOLD(NC_EINDEFINE, ncmpi_redef(ncid), "words.nc");
    close_dataset(ncid);
}

static void messages_name_the_data_call(void)
{
    MPI_Offset start[2] = {0, 0}, count[2] = {1, 4}, stride[2] = {1, 0};
    MPI_Offset minus[2] = {1, -3}, long_count[2] = {1, 5}, outside[2] = {0, 4};
    int values[8] = {1000}, id;
    open_both();
    TOLD(NC_EINDEFINE, ncmpi_put_vara_int_all(ncid, v, start, count, values), "words.nc");
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    TOLD(NC_ENOTINDEP, ncmpi_put_vara_int(ncid, v, start, count, values), "words.nc");
    TOLD(NC_ENOTINDEFINE, ncmpi_def_dim(ncid, "y", 3, &id), "words.nc");
    TOLD(NC_ENOTINDEFINE, ncmpi_rename_var(ncid, v, "temperature"), "'temperature'");
    TOLD(NC_ENOTINDEFINE, ncmpi_put_att_text(ncid, v, "more", 1, "K"), "'more'");
    TOLD(NC_ENEGATIVECNT, ncmpi_put_vara_int_all(ncid, v, start, minus, values),
         "variable 'temp', dimension 'x': count -3");
    TOLD(NC_ESTRIDE, ncmpi_put_vars_int_all(ncid, v, start, count, stride, values),
         "variable 'temp', dimension 'x': stride 0");
    TOLD(NC_EEDGE, ncmpi_put_vara_int_all(ncid, v, start, long_count, values),
         "variable 'temp', dimension 'x': start 0, count 5, length 4: Start plus");
    TOLD(NC_EINVALCOORDS, ncmpi_put_var1_int_all(ncid, v, outside, values), "start 4");
    TOLD(NC_ECHAR, ncmpi_put_vara_text_all(ncid, v, start, count, "abcd"),
         "variable 'temp' has type NC_BYTE, but the values are text");
    TOLD(NC_ECHAR, ncmpi_put_var_int_all(ncid, text, values),
         "variable 'label' has type NC_CHAR, but the values are numbers");
    TOLD(NC_EINVAL, ncmpi_put_vara_int_all(ncid, v, start, count, NULL), "'temp'");
    TOLD(NC_ENOTVAR, ncmpi_put_vara_int_all(ncid, 5, start, count, values), "id 5");
    TOLD(NC_ERANGE, ncmpi_put_vara_int_all(ncid, v, start, count, values),
         "variable 'temp' of type NC_BYTE");
    TOLD(NC_ENOTFILL, ncmpi_fill_var_rec(ncid, v, 0), "'temp'");
    TOLD(NC_ENOTRECVAR, ncmpi_fill_var_rec(ncid, text, 0), "'label'");
    close_dataset(ncid);
}

static void messages_name_the_request(void)
{
    MPI_Offset start[2] = {0, 0}, count[2] = {1, 4};
    int values[8] = {1000}, ids[1] = {4711}, status[1], req;
    open_both();
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    TOLD(NC_ERANGE, ncmpi_iput_vara_int(ncid, v, start, count, values, &req),
         "variable 'temp' of type NC_BYTE");
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
    (void)ncmpi_wait_all(ncid, 1, ids, status);
    TOLD(NC_EINVAL_REQUEST, status[0], "request id 4711");
    TOLD(NC_EINVAL, ncmpi_wait_all(ncid, 2, NULL, NULL), "req_ids is NULL");
    TOLD(NC_ENULLABUF, ncmpi_buffer_detach(ncid), "words.nc");
    TOLD(NC_ENULLBUF, ncmpi_buffer_attach(ncid, -2), "-2 bytes");
    CHECK_NC(NC_NOERR, ncmpi_buffer_attach(ncid, 2));
    TOLD(NC_EPREVATTACHBUF, ncmpi_buffer_attach(ncid, 2), "has 2 bytes");
    TOLD(NC_EINSUFFBUF, ncmpi_bput_vara_int(ncid, v, start, count, values, &req),
         "needs 4 bytes, but only 2 of 2");
    CHECK_NC(NC_NOERR, ncmpi_buffer_detach(ncid));
    close_dataset(ncid);
    TOLD(NC_EBADID, ncmpi_wait_all(ncid, 0, NULL, NULL), "id ");
}

static void messages_name_modes_and_files(void)
{
    int id;
    close_dataset(new_dataset("readonly.nc"));
    int other = open_dataset("readonly.nc", NC_NOWRITE);
    TOLD(NC_EPERM, ncmpi_redef(other), "readonly.nc");
    TOLD(NC_EPERM, ncmpi_del_att(other, NC_GLOBAL, "a"), "readonly.nc");
    close_dataset(other);
    TOLD(NC_ENOTBUILT,
         ncmpi_create(MPI_COMM_WORLD, check_path("b.bp"), NC_BP, MPI_INFO_NULL, &id),
         "ADIOS");
    TOLD(NC_EINVAL_CMODE,
         ncmpi_create(MPI_COMM_WORLD, check_path("n4.nc"),
                      NC_64BIT_DATA | NC_64BIT_OFFSET, MPI_INFO_NULL, &id),
         "NC_64BIT_OFFSET");
    TOLD(NC_EINVAL, ncmpi_open(MPI_COMM_NULL, "a", 0, MPI_INFO_NULL, &id),
         "MPI_COMM_NULL");
    TOLD(NC_EINVAL, ncmpi_open(MPI_COMM_WORLD, "", 0, MPI_INFO_NULL, &id), "empty");
    TOLD(NC_EINVAL, ncmpi_set_default_format(99, NULL), "99");
    TOLD(NC_EINVAL, ncmpi_inq_file_format(NULL, &id), "filename");
    TOLD(NC_EINVAL, ncmpi_delete(NULL, MPI_INFO_NULL), "filename");
    TOLD(NC_ENOENT, ncmpi_inq_file_format(check_path("none.nc"), &id), "none.nc");
    TOLD(NC_EDRIVER,
         ncmpi_create(MPI_COMM_WORLD, check_path("n4.nc"), 0,
                      check_info("nc_driver=tape"), &id),
         "nc_driver");
}

/* Many programs close the dataset before they print the error message. */
static void messages_survive_later_calls_that_succeed(void)
{
    MPI_Offset start[2] = {0, 0}, count[2] = {1, 9};
    int values[9] = {0}, id;
    open_both();
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    int err = ncmpi_put_vara_int_all(ncid, v, start, count, values);
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "temp", &id));
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    close_dataset(ncid);
    TOLD(NC_EEDGE, err, "count 9");
}

/* When the library reports another process's error, the message must not contain details
 * of an earlier local error. */
static void an_error_of_another_process_has_its_own_message(void)
{
    int last = check.nprocs - 1;
    open_both();
    TOLD(NC_EINVAL, ncmpi_set_fill(ncid, 77, NULL), "0x4d");
    int err = ncmpi__enddef(ncid, check.rank == last ? -5 : 0, 0, 0, 0);
    TOLD(NC_EINVAL, err,
         check.rank == last ? "h_minfree -5" : "reported by another process");
    CHECK(strstr(ncmpi_strerror(err), "0x4d") == NULL);
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"messages name the definition", messages_name_the_definition, 0},
    {"messages name the data call", messages_name_the_data_call, 0},
    {"messages name the request", messages_name_the_request, 0},
    {"messages name modes and files", messages_name_modes_and_files, 0},
    {"messages survive later calls that succeed",
     messages_survive_later_calls_that_succeed, 0},
    {"an error of another process has its own message",
     an_error_of_another_process_has_its_own_message, CHECK_SEVERAL},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2");
}
