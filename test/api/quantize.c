/* Tests which variables are quantized, and that every kind of put quantizes its values
 * exactly once. The quantized values themselves are tested by
 * test/conv/conv_quantize_test.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conv_quantize.h"
#include "made_dataset.h"

enum { N = 37, BITGROOM_DIGITS = 3 };

static const char *const attribute[] = {
    "", "_QuantizeBitGroomNumberOfSignificantDigits",
    "_QuantizeGranularBitRoundNumberOfSignificantDigits",
    "_QuantizeBitRoundNumberOfSignificantBits"};

static int create_with(const char *hints)
{
    int ncid = -1;
    MPI_Info info = check_info(hints);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                    NC_CLOBBER | check.cmode, info, &ncid));
    MPI_Info_free(&info);
    return ncid;
}

static void check_quantized(int mode, int digits, int ncid, int varid)
{
    int m = -1, d = -1;
    CHECK_NC(NC_NOERR, ncmpix_inq_var_quantize(ncid, varid, &m, &d));
    CHECK_EQ(mode, m);
    CHECK_EQ(digits, d);
}

/* Returns the number of digits or bits in the variable's attribute for `mode`, or 0 if it
 * has no such attribute. */
static int get_digits_attribute(int ncid, int varid, int mode)
{
    int digits = 0;
    nc_type type = NC_NAT;
    MPI_Offset n = 0;
    if (ncmpi_inq_att(ncid, varid, attribute[mode], &type, &n) != NC_NOERR) return 0;
    CHECK_EQ(NC_INT, type);
    CHECK_EQ(1, n);
    CHECK_NC(NC_NOERR, ncmpi_get_att_int(ncid, varid, attribute[mode], &digits));
    return digits;
}

/* Computes the `n` floats that the file must contain. */
static void expect(int mode, int digits, const double *values, int n, float *expected)
{
    const float fill = NC_FILL_FLOAT;
    for (int i = 0; i < n; i++)
        expected[i] = (float)values[i];
    conv_quantize(mode, digits, NC_FLOAT, expected, (size_t)n, 0, &fill);
}

static void make_values(double *values, int n)
{
    for (int i = 0; i < n; i++)
        values[i] = sin((double)check_random_own(1000000)) * pow(10, i % 20 - 10);
    values[n / 2] = 0;
    values[n / 3] = (double)NC_FILL_FLOAT;
}

/* ---- all kinds of puts ---- */

/* Each of the functions below puts N values to v(x), starting at index `at`. */
static int wait_all(int ncid, int err)
{
    int waited = check.collective ? ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL)
                                  : ncmpi_wait(ncid, NC_REQ_ALL, NULL, NULL);
    return err != NC_NOERR ? err : waited;
}

static int put_vara(int ncid, int v, MPI_Offset at, const double *values)
{
    MPI_Offset count = N;
    return check.collective ? ncmpi_put_vara_double_all(ncid, v, &at, &count, values)
                            : ncmpi_put_vara_double(ncid, v, &at, &count, values);
}

static int put_flexible(int ncid, int v, MPI_Offset at, const double *values)
{
    double apart[2 * N];
    MPI_Offset count = N;
    MPI_Datatype type;
    for (int i = 0; i < N; i++)
        apart[2 * i] = values[i];
    MPI_Type_vector(N, 1, 2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    int err = check.collective ? ncmpi_put_vara_all(ncid, v, &at, &count, apart, 1, type)
                               : ncmpi_put_vara(ncid, v, &at, &count, apart, 1, type);
    MPI_Type_free(&type);
    return err;
}

static int put_mapped(int ncid, int v, MPI_Offset at, const double *values)
{
    double apart[3 * N];
    const MPI_Offset count = N, map = 3;
    for (int i = 0; i < N; i++)
        apart[3 * i] = values[i];
    return check.collective
               ? ncmpi_put_varm_double_all(ncid, v, &at, &count, NULL, &map, apart)
               : ncmpi_put_varm_double(ncid, v, &at, &count, NULL, &map, apart);
}

/* Puts a list of slabs of different lengths. */
static void make_slabs(MPI_Offset at, MPI_Offset *starts, MPI_Offset *counts, int *n)
{
    *n = 0;
    for (MPI_Offset done = 0; done < N; done += counts[(*n)++]) {
        starts[*n] = at + done;
        counts[*n] = done + *n % 4 + 1 <= N ? *n % 4 + 1 : N - done;
    }
}

static int put_slabs(int ncid, int v, MPI_Offset at, const double *values)
{
    MPI_Offset start[N], count[N], *starts[N], *counts[N];
    int n;
    make_slabs(at, start, count, &n);
    for (int i = 0; i < n; i++)
        starts[i] = &start[i], counts[i] = &count[i];
    return check.collective
               ? ncmpi_put_varn_double_all(ncid, v, n, starts, counts, values)
               : ncmpi_put_varn_double(ncid, v, n, starts, counts, values);
}

static int post_slabs(int ncid, int v, MPI_Offset at, const double *values)
{
    MPI_Offset start[N], count[N], *starts[N], *counts[N];
    int n, id;
    make_slabs(at, start, count, &n);
    for (int i = 0; i < n; i++)
        starts[i] = &start[i], counts[i] = &count[i];
    return wait_all(ncid,
                    ncmpi_iput_varn_double(ncid, v, n, starts, counts, values, &id));
}

static int post(int ncid, int v, MPI_Offset at, const double *values)
{
    MPI_Offset count = N;
    return wait_all(ncid, ncmpi_iput_vara_double(ncid, v, &at, &count, values, NULL));
}

static int post_buffered(int ncid, int v, MPI_Offset at, const double *values)
{
    double gone[N];
    MPI_Offset count = N, used = -1;
    memcpy(gone, values, sizeof gone);
    CHECK_NC(NC_NOERR, ncmpi_buffer_attach(ncid, N * sizeof(float)));
    int err = ncmpi_bput_vara_double(ncid, v, &at, &count, gone, NULL);
    memset(gone, 1, sizeof gone);
    err = wait_all(ncid, err);
    CHECK_NC(NC_NOERR, ncmpi_inq_buffer_usage(ncid, &used));
    CHECK_EQ(0, used);
    CHECK_NC(NC_NOERR, ncmpi_buffer_detach(ncid));
    return err;
}

static int put_filetype(int ncid, int v, MPI_Offset at, const double *values)
{
    MPI_Datatype type;
    int length = N, displ = (int)at;
    MPI_Type_indexed(1, &length, &displ, MPI_FLOAT, &type);
    MPI_Type_commit(&type);
    int err = check.collective ? ncmpi_put_vard_all(ncid, v, type, values, N, MPI_DOUBLE)
                               : ncmpi_put_vard(ncid, v, type, values, N, MPI_DOUBLE);
    MPI_Type_free(&type);
    return err;
}

/* Puts floats, which need no conversion. */
static int put_floats(int ncid, int v, MPI_Offset at, const double *values)
{
    float floats[N], before[N];
    MPI_Offset count = N;
    for (int i = 0; i < N; i++)
        floats[i] = (float)values[i];
    memcpy(before, floats, sizeof before);
    int err = check.collective ? ncmpi_put_vara_float_all(ncid, v, &at, &count, floats)
                               : ncmpi_put_vara_float(ncid, v, &at, &count, floats);
    CHECK_BYTES(before, floats, sizeof floats);
    return err;
}

static const struct {
    const char *name;
    int (*put)(int ncid, int v, MPI_Offset at, const double *values);
} ways[] = {
    {"vara", put_vara},      {"flexible", put_flexible}, {"varm", put_mapped},
    {"varn", put_slabs},     {"iput varn", post_slabs},  {"iput", post},
    {"bput", post_buffered}, {"vard", put_filetype},     {"floats", put_floats},
};
enum { WAYS = sizeof ways / sizeof *ways };

static void put_in_all_ways(const char *hints, int mode, int digits)
{
    double values[WAYS][N], before[N];
    float expected[N], got[N];
    MPI_Offset count = N;
    int ncid = create_with(hints), v[WAYS], x = new_dim(ncid, "x", N * check.nprocs);
    for (int w = 0; w < WAYS; w++) {
        char name[20];
        snprintf(name, sizeof name, "v%d", w);
        v[w] = new_var(ncid, name, NC_FLOAT, 1, &x);
        CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, v[w], mode, digits));
    }
    begin_data(ncid);
    for (int w = 0; w < WAYS; w++) {
        make_values(values[w], N);
        memcpy(before, values[w], sizeof before);
        check_nc(NC_NOERR, ways[w].put(ncid, v[w], N * check.rank, values[w]),
                 ways[w].name, __FILE__, __LINE__);
        CHECK_BYTES(before, values[w], sizeof before);
    }
    /* Reads the values while they may still be in a log, and once more from the file. */
    for (int again = 0; again < 2; again++) {
        MPI_Offset at = N * check.rank;
        for (int w = 0; w < WAYS; w++) {
            expect(mode, digits, values[w], N, expected);
            CHECK_NC(NC_NOERR,
                     check.collective
                         ? ncmpi_get_vara_float_all(ncid, v[w], &at, &count, got)
                         : ncmpi_get_vara_float(ncid, v[w], &at, &count, got));
            check_bytes(expected, got, sizeof got, ways[w].name, __FILE__, __LINE__);
        }
        if (again == 0) {
            end_data(ncid);
            close_dataset(ncid);
            complete_closes();
            ncid = open_dataset("a.nc", NC_NOWRITE);
            if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        }
    }
    close_dataset(ncid);
}

static void every_put_is_quantized(void)
{
    for (int mode = NC_QUANTIZE_BITGROOM; mode <= NC_QUANTIZE_BITROUND; mode++)
        put_in_all_ways("", mode, 3);
}

static void every_layer_keeps_quantized_values(void)
{
    static const char *const layers[] = {"nc_burst_buf=enable",
                                         "nc_burst_buf=enable;nc_burst_buf_log_at=post",
                                         "nc_blob=enable;nc_num_subfiles=2",
                                         "nc_blob=enable;nc_burst_buf=enable",
                                         "nc_transfer=node",
                                         "nc_transfer=view",
                                         "nc_file_io=mpi"};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        put_in_all_ways(layers[i], NC_QUANTIZE_BITGROOM, BITGROOM_DIGITS);
}

/* BitGroom clears bits in one value and sets them in the next, and starts over with each
 * put. The slabs of a varn count as one put, but each variable in an mput counts as a
 * separate put. */
static void each_part_of_an_mput_is_quantized_separately(void)
{
    double values[2][3] = {{1.1, 1.1, 1.1}, {1.1, 1.1, 1.1}};
    const float cut = 1.09960938f;
    float got[6];
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", 6);
    int v = new_var(ncid, "v", NC_FLOAT, 1, &x), varids[2] = {v, v};
    MPI_Offset start[] = {0, 3}, count[] = {3, 3}, *starts[] = {&start[0], &start[1]},
               *counts[] = {&count[0], &count[1]};
    double *bufs[] = {values[0], values[1]};
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, v, NC_QUANTIZE_BITGROOM, 3));
    begin_data(ncid);
    CHECK_NC(NC_NOERR,
             check.collective
                 ? ncmpi_mput_vara_double_all(ncid, 2, varids, starts, counts, bufs)
                 : ncmpi_mput_vara_double(ncid, 2, varids, starts, counts, bufs));
    make_visible(ncid);
    CHECK_NC(NC_NOERR, check.collective ? ncmpi_get_var_float_all(ncid, v, got)
                                        : ncmpi_get_var_float(ncid, v, got));
    for (int i = 0; i < 6; i++)
        CHECK((got[i] == cut) == (i % 3 != 1));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR,
             check.collective
                 ? ncmpi_put_varn_double_all(ncid, v, 2, starts, counts, values[0])
                 : ncmpi_put_varn_double(ncid, v, 2, starts, counts, values[0]));
    make_visible(ncid);
    CHECK_NC(NC_NOERR, check.collective ? ncmpi_get_var_float_all(ncid, v, got)
                                        : ncmpi_get_var_float(ncid, v, got));
    for (int i = 0; i < 6; i++)
        CHECK((got[i] == cut) == (i % 2 == 0));
    end_data(ncid);
    close_dataset(ncid);
}

/* ---- values ---- */

static void other_types_are_converted_first(void)
{
    int ints[N], ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", N);
    int v = new_var(ncid, "v", NC_FLOAT, 1, &x), w = new_var(ncid, "w", NC_DOUBLE, 1, &x);
    double values[N], doubles[N], got[N];
    float floats[N], expected[N];
    const double fill = NC_FILL_DOUBLE;
    for (int i = 0; i < N; i++)
        values[i] = ints[i] = (int)check_random(1 << 30), doubles[i] = values[i];
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, v, NC_QUANTIZE_GRANULARBR, 2));
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, w, NC_QUANTIZE_BITROUND, 5));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(ncid, v, ints));
    CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(ncid, w, ints));
    CHECK_NC(NC_NOERR, ncmpi_get_var_float_all(ncid, v, floats));
    CHECK_NC(NC_NOERR, ncmpi_get_var_double_all(ncid, w, got));
    expect(NC_QUANTIZE_GRANULARBR, 2, values, N, expected);
    conv_quantize(NC_QUANTIZE_BITROUND, 5, NC_DOUBLE, doubles, N, 0, &fill);
    CHECK_BYTES(expected, floats, sizeof floats);
    CHECK_BYTES(doubles, got, sizeof got);
    close_dataset(ncid);
}

/* A variable's own fill value must not be quantized. Out-of-range values are replaced
 * with that fill value, and the put returns an error. */
static void fill_values_are_not_quantized(void)
{
    const float own = 1.2345678f;
    const double values[] = {(double)own, 1.2345679, 1e300, 2.3456789};
    float got[4] = {0};
    int id, ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", 4);
    int v = new_var(ncid, "v", NC_FLOAT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, v, NC_QUANTIZE_BITROUND, 2));
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, v, 0, &own));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int later = 0; later < 2; later++) {
        if (later) {
            CHECK_NC(NC_ERANGE, ncmpi_iput_var_double(ncid, v, values, &id));
            CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, 1, &id, NULL));
        } else {
            CHECK_NC(NC_ERANGE, ncmpi_put_var_double_all(ncid, v, values));
        }
        CHECK_NC(NC_NOERR, ncmpi_get_var_float_all(ncid, v, got));
        CHECK(got[0] == own && got[1] == 1.25f && got[2] == own && got[3] == 2.5f);
    }
    close_dataset(ncid);
}

static void puts_without_elements_are_accepted(void)
{
    int ncid = new_dataset("a.nc"), t = new_dim(ncid, "t", NC_UNLIMITED);
    int v = new_var(ncid, "v", NC_FLOAT, 1, &t),
        s = new_var(ncid, "s", NC_DOUBLE, 0, NULL);
    const MPI_Offset start = check.rank, none = 0;
    const double value = 0.1;
    double got = 0;
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, v, NC_QUANTIZE_BITROUND, 2));
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, s, NC_QUANTIZE_BITROUND, 1));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_double_all(ncid, v, &start, &none, &value));
    CHECK_NC(NC_NOERR, ncmpi_put_var1_double_all(ncid, v, &start, &value));
    CHECK_NC(NC_NOERR, ncmpi_get_var1_double_all(ncid, v, &start, &got));
    CHECK(got == 0.09375);
    CHECK_NC(NC_NOERR, ncmpi_put_var_double_all(ncid, s, &value));
    CHECK_NC(NC_NOERR, ncmpi_get_var_double_all(ncid, s, &got));
    CHECK(got == 0.09375);
    close_dataset(ncid);
}

/* ---- definitions ---- */

static void enddef_adds_the_attribute(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", N), n = -1;
    int v = new_var(ncid, "v", NC_FLOAT, 1, &x), w = new_var(ncid, "w", NC_DOUBLE, 1, &x);
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, v, NC_QUANTIZE_BITGROOM, 3));
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, v, NC_QUANTIZE_BITROUND, 23));
    check_quantized(NC_QUANTIZE_BITROUND, 23, ncid, v);
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, w, NC_QUANTIZE_GRANULARBR, 15));
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, w, NC_NOQUANTIZE, 99));
    check_quantized(NC_NOQUANTIZE, 0, ncid, w);
    CHECK_NC(NC_NOERR, ncmpi_inq_varnatts(ncid, v, &n));
    CHECK_EQ(0, n);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_varnatts(ncid, v, &n));
    CHECK_EQ(1, n);
    CHECK_EQ(23, get_digits_attribute(ncid, v, NC_QUANTIZE_BITROUND));
    CHECK_NC(NC_NOERR, ncmpi_inq_varnatts(ncid, w, &n));
    CHECK_EQ(0, n);
    close_dataset(ncid);
}

static void wrong_arguments_are_refused(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", N), m = 7;
    int v = new_var(ncid, "v", NC_FLOAT, 1, &x), w = new_var(ncid, "w", NC_DOUBLE, 1, &x);
    int i = new_var(ncid, "i", NC_INT, 1, &x);
    const int most[] = {0, 7, 7, 23}, most_double[] = {0, 15, 15, 52};
    for (int mode = NC_QUANTIZE_BITGROOM; mode <= NC_QUANTIZE_BITROUND; mode++) {
        CHECK_NC(NC_EINVAL, ncmpix_def_var_quantize(ncid, v, mode, 0));
        CHECK_NC(NC_EINVAL, ncmpix_def_var_quantize(ncid, v, mode, -1));
        CHECK_NC(NC_EINVAL, ncmpix_def_var_quantize(ncid, v, mode, most[mode] + 1));
        CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, v, mode, most[mode]));
        CHECK_NC(NC_EINVAL,
                 ncmpix_def_var_quantize(ncid, w, mode, most_double[mode] + 1));
        CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, w, mode, most_double[mode]));
        CHECK_NC(NC_EINVAL, ncmpix_def_var_quantize(ncid, i, mode, 3));
    }
    CHECK_NC(NC_EINVAL, ncmpix_def_var_quantize(ncid, v, 4, 3));
    CHECK_NC(NC_EINVAL, ncmpix_def_var_quantize(ncid, v, -1, 3));
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, i, NC_NOQUANTIZE, 0));
    CHECK_NC(NC_ENOTVAR, ncmpix_def_var_quantize(ncid, 99, 1, 3));
    CHECK_NC(NC_EGLOBAL, ncmpix_def_var_quantize(ncid, NC_GLOBAL, 1, 3));
    CHECK_NC(NC_EBADID, ncmpix_def_var_quantize(-1, v, 1, 3));
    CHECK_NC(NC_EBADID, ncmpix_inq_var_quantize(-1, v, &m, &m));
    CHECK_NC(NC_ENOTVAR, ncmpix_inq_var_quantize(ncid, 99, &m, &m));
    CHECK_NC(NC_EGLOBAL, ncmpix_inq_var_quantize(ncid, NC_GLOBAL, &m, &m));
    CHECK_EQ(7, m);
    CHECK_NC(NC_NOERR, ncmpix_inq_var_quantize(ncid, v, NULL, NULL));
    check_quantized(NC_QUANTIZE_BITROUND, 23, ncid, v);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_ENOTINDEFINE, ncmpix_def_var_quantize(ncid, v, 1, 3));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_ELATEDEF, ncmpix_def_var_quantize(ncid, v, 1, 3));
    CHECK_NC(NC_ELATEDEF, ncmpix_def_var_quantize(ncid, i, NC_NOQUANTIZE, 0));
    close_dataset(ncid);
}

static void a_reopened_file_is_quantized_as_before(void)
{
    const float values[3] = {1.2345f, 1.2345f, 1.2345f};
    float got[3];
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", 3), u, strange = 99;
    int v = new_var(ncid, "v", NC_FLOAT, 1, &x), w = new_var(ncid, "w", NC_FLOAT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, v, NC_QUANTIZE_BITROUND, 2));
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, w, attribute[1], NC_INT, 1, &strange));
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_WRITE);
    check_quantized(NC_QUANTIZE_BITROUND, 2, ncid, v);
    check_quantized(NC_NOQUANTIZE, 0, ncid, w);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    u = new_var(ncid, "u", NC_FLOAT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, u, NC_QUANTIZE_BITROUND, 1));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int varid = v; varid <= u; varid++) {
        CHECK_NC(NC_NOERR, ncmpi_put_var_float_all(ncid, varid, values));
        CHECK_NC(NC_NOERR, ncmpi_get_var_float_all(ncid, varid, got));
        CHECK(got[0] == (varid == v ? 1.25f : varid == w ? 1.2345f : 1));
    }
    check_quantized(NC_QUANTIZE_BITROUND, 2, ncid, v);
    CHECK_EQ(2, get_digits_attribute(ncid, v, NC_QUANTIZE_BITROUND));
    CHECK_EQ(1, get_digits_attribute(ncid, u, NC_QUANTIZE_BITROUND));
    close_dataset(ncid);
}

/* As in netCDF-C, the attribute alone does not enable quantization: values that are
 * copied together with their attributes are already quantized. */
static void an_attribute_alone_does_not_enable_quantization(void)
{
    const float value = 1.2345f;
    float got = 0;
    int two = 2, ncid = new_dataset("a.nc"), v = new_var(ncid, "v", NC_FLOAT, 0, NULL);
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, v, attribute[3], NC_INT, 1, &two));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    check_quantized(NC_NOQUANTIZE, 0, ncid, v);
    CHECK_NC(NC_NOERR, ncmpi_put_var_float_all(ncid, v, &value));
    CHECK_NC(NC_NOERR, ncmpi_get_var_float_all(ncid, v, &got));
    CHECK(got == value);
    close_dataset(ncid);
}

static void aborted_definitions_leave_no_quantization(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", N);
    int v = new_var(ncid, "v", NC_FLOAT, 1, &x);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_WRITE);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    int w = new_var(ncid, "w", NC_FLOAT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, w, NC_QUANTIZE_BITROUND, 2));
    CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
    ncid = open_dataset("a.nc", NC_NOWRITE);
    check_quantized(NC_NOQUANTIZE, 0, ncid, v);
    CHECK_NC(NC_ENOTVAR, ncmpix_inq_var_quantize(ncid, w, NULL, NULL));
    close_dataset(ncid);
}

/* ---- differences between processes ---- */

static void process_0s_arguments_take_precedence(void)
{
    const float value = 1.2345f;
    float got = 0;
    int ncid = new_dataset("a.nc"), v = new_var(ncid, "v", NC_FLOAT, 0, NULL);
    int digits = check.rank == 0 ? 2 : 9;
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, v, NC_QUANTIZE_BITROUND, digits));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    check_quantized(NC_QUANTIZE_BITROUND, 2, ncid, v);
    CHECK_EQ(2, get_digits_attribute(ncid, v, NC_QUANTIZE_BITROUND));
    CHECK_NC(NC_NOERR, ncmpi_put_var_float_all(ncid, v, &value));
    CHECK_NC(NC_NOERR, ncmpi_get_var_float_all(ncid, v, &got));
    CHECK(got == 1.25f);
    close_dataset(ncid);
}

static void safe_mode_reports_different_arguments(void)
{
    setenv("PNETCDF_SAFE_MODE", "1", 1);
    int ncid = new_dataset("a.nc"), v = new_var(ncid, "v", NC_FLOAT, 0, NULL);
    int other = check.rank == check.nprocs - 1;
    CHECK_NC(NC_EMULTIDEFINE_FNC_ARGS, ncmpix_def_var_quantize(ncid, v, 3, 2 + other));
    CHECK_NC(NC_EMULTIDEFINE_FNC_ARGS, ncmpix_def_var_quantize(ncid, v, 1 + other, 2));
    check_quantized(NC_NOQUANTIZE, 0, ncid, v);
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, v, 3, 2));
    close_dataset(ncid);
    unsetenv("PNETCDF_SAFE_MODE");
}

/* ---- the hint ---- */

static void check_hinted(const char *hint, int x_mode, int t_mode, int u_mode, int s_mode)
{
    char pair[100];
    snprintf(pair, sizeof pair, "nc_quantize=%s", hint);
    int ncid = create_with(pair), x = new_dim(ncid, "x", N);
    int v = new_var(ncid, "x", NC_DOUBLE, 1, &x), t = new_var(ncid, "T", NC_FLOAT, 1, &x);
    int u = new_var(ncid, "U", NC_DOUBLE, 1, &x),
        s = new_var(ncid, "S", NC_DOUBLE, 0, NULL);
    int i = new_var(ncid, "I", NC_INT, 1, &x), modes[4], digits;
    const int expected[] = {x_mode, t_mode, u_mode, s_mode}, varids[] = {v, t, u, s};
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_STR(hint, hint_in_force(ncid, "nc_quantize"));
    for (int k = 0; k < 4; k++) {
        CHECK_NC(NC_NOERR, ncmpix_inq_var_quantize(ncid, varids[k], &modes[k], &digits));
        check_eq(expected[k], modes[k], hint, __FILE__, __LINE__);
        if (modes[k] > 0)
            CHECK_EQ(digits, get_digits_attribute(ncid, varids[k], modes[k]));
    }
    check_quantized(NC_NOQUANTIZE, 0, ncid, i);
    close_dataset(ncid);
}

static void a_hints_rules_select_variables(void)
{
    check_hinted("bitgroom:3", 0, 1, 1, 1);
    check_hinted("granularbr:3", 0, 2, 2, 2);
    check_hinted("bitround:10", 0, 3, 3, 3);
    check_hinted("none", 0, 0, 0, 0);
    check_hinted("bitround:10@T", 0, 3, 0, 0);
    check_hinted("bitround:10@x,U,I,nowhere", 3, 0, 3, 0);
    check_hinted("bitround:10/none@T,S", 0, 0, 3, 0);
    check_hinted("none@T,S/bitround:10", 0, 0, 3, 0);
    check_hinted("bitround:10/bitgroom:2@T/granularbr:4@U", 0, 1, 2, 3);
    check_hinted("bitround:30", 0, 0, 3, 3); /* more bits than a float has */
}

static void invalid_rules_are_ignored(void)
{
    static const char *const wrong[] = {"bitgroom",      "bitgroom:",
                                        "bitgroom:0",    "bitgroom:16",
                                        "bitround:53",   "bitround:-1",
                                        "bitround:3x",   "bitround:3@",
                                        "bitround:3@,T", "bitround:3@T,",
                                        "bitround:3/",   "/bitround:3",
                                        "bitround: 3",   "bitround:99999999999999999999",
                                        "shave:3",       "none:3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char pair[100];
        snprintf(pair, sizeof pair, "nc_quantize=%s", wrong[i]);
        int ncid = create_with(pair), v = new_var(ncid, "v", NC_FLOAT, 0, NULL);
        check_str("", hint_in_force(ncid, "nc_quantize"), wrong[i], __FILE__, __LINE__);
        check_quantized(NC_NOQUANTIZE, 0, ncid, v);
        close_dataset(ncid);
    }
}

/* Calls by the program take precedence over the hint, and the hint does not affect
 * existing variables. */
static void a_hint_affects_only_new_variables(void)
{
    int ncid = create_with("nc_quantize=bitround:5");
    int v = new_var(ncid, "v", NC_FLOAT, 0, NULL),
        w = new_var(ncid, "w", NC_FLOAT, 0, NULL);
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, v, NC_NOQUANTIZE, 0));
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(ncid, w, NC_QUANTIZE_BITGROOM, 1));
    close_dataset(ncid);
    MPI_Info info = check_info("nc_quantize=granularbr:4");
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    int u = new_var(ncid, "u", NC_FLOAT, 0, NULL);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    check_quantized(NC_NOQUANTIZE, 0, ncid, v);
    check_quantized(NC_QUANTIZE_BITGROOM, 1, ncid, w);
    check_quantized(NC_QUANTIZE_GRANULARBR, 4, ncid, u);
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"every put is quantized", every_put_is_quantized, CHECK_FORMATS | CHECK_MODES},
    {"every layer keeps quantized values", every_layer_keeps_quantized_values,
     CHECK_MODES},
    {"each part of an mput is quantized separately",
     each_part_of_an_mput_is_quantized_separately, CHECK_MODES},
    {"other types are converted first", other_types_are_converted_first, CHECK_FORMATS},
    {"fill values are not quantized", fill_values_are_not_quantized, CHECK_FORMATS},
    {"puts without elements are accepted", puts_without_elements_are_accepted,
     CHECK_FORMATS},
    {"enddef adds the attribute", enddef_adds_the_attribute, CHECK_FORMATS},
    {"wrong arguments are refused", wrong_arguments_are_refused, 0},
    {"a reopened file is quantized as before", a_reopened_file_is_quantized_as_before,
     CHECK_FORMATS},
    {"an attribute alone does not enable quantization",
     an_attribute_alone_does_not_enable_quantization, 0},
    {"aborted definitions leave no quantization",
     aborted_definitions_leave_no_quantization, 0},
    {"process 0's arguments take precedence", process_0s_arguments_take_precedence,
     CHECK_SEVERAL},
    {"safe mode reports different arguments", safe_mode_reports_different_arguments,
     CHECK_SEVERAL},
    {"a hint's rules select variables", a_hints_rules_select_variables, 0},
    {"invalid rules are ignored", invalid_rules_are_ignored, 0},
    {"a hint affects only new variables", a_hint_affects_only_new_variables, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 4");
}
