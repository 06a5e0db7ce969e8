/* Tests indices that are too large for a file offset, or become too large when
 * multiplied. Every kind of access must reject them without changing the file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault_calls.h"

#define TO(n) ((MPI_Offset)1 << (n))

/* Numbers that are too large, either in themselves or when multiplied. */
static const MPI_Offset huge[] = {
    TO(61) - 1, TO(61),          TO(61) + 1,    TO(62) - 1,    TO(62),
    TO(62) + 1, TO(62) + TO(61), INT64_MAX - 3, INT64_MAX - 1, INT64_MAX};
enum { HUGE = sizeof huge / sizeof huge[0] };

static int ncid, t, series, wide, fixed;
static const int first[N] = {11, 12, 13, 14, 15, 16, 17};

/* Creates variables series(t), wide(t, w) and fixed(x). Puts one record of series. */
static void begin(void)
{
    MPI_Offset start = 0, count = 1, none = 0, all = N * check.nprocs;
    ncid = new_dataset("a.nc");
    t = new_dim(ncid, "t", NC_UNLIMITED);
    int dims[2] = {t, new_dim(ncid, "w", 1000)}, x = new_dim(ncid, "x", all);
    series = new_var(ncid, "series", NC_INT, 1, &t);
    wide = new_var(ncid, "wide", NC_DOUBLE, 2, dims);
    fixed = new_var(ncid, "fixed", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, series, &start,
                                              check.rank ? &none : &count, first));
}

static bool first_record_holds(void)
{
    MPI_Offset start = 0;
    int value = -1;
    CHECK_NC(NC_NOERR, ncmpi_get_var1_int_all(ncid, series, &start, &value));
    bool kept = CHECK_EQ(first[0], value);
    return CHECK_EQ(1, dim_length(ncid, t)) && kept;
}

/* Checks that the first record is intact, both in memory and in the file. */
static void end(void)
{
    first_record_holds();
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    first_record_holds();
    close_dataset(ncid);
}

static bool refuses(int rc)
{
    return rc == NC_EINVALCOORDS || rc == NC_EEDGE || rc == NC_EINTOVERFLOW ||
           rc == NC_EIOMISMATCH;
}

/* Makes an access that must fail on every process. */
static void is_refused(const struct family *f, struct access *a, bool put)
{
    int rc = f->call(ncid, a, put);
    if (CHECK(refuses(rc))) return;
    fprintf(stderr, "# %s, %s: %d; start %lld, count %lld, stride %lld, imap %lld\n",
            put ? "put" : "get", f->name, rc, (long long)a->start[0],
            (long long)a->count[0], (long long)a->stride[0], (long long)a->imap[0]);
}

/* Calls all function families that take the arguments `needs`. Sets one argument to
 * `number`: `at` selects start (0), count (1), stride (2) or imap (3). */
static void each_family(unsigned needs, int at, MPI_Offset number, int varid)
{
    int values[N] = {0};
    for (int i = 0; i < FAMILIES; i++) {
        const struct family *f = &families[i];
        MPI_Offset n[4] = {0, N, 1, 1};
        bool flexible = strstr(f->name, "_int") == NULL;
        if ((f->takes & needs) != needs || (f->takes & FILETYPE)) continue;
        /* The call passes no buffer size, so the library cannot detect the error. */
        if (!flexible && (needs & (COUNT | IMAP)) && !(needs & STRIDE)) continue;
        if (f->takes & IMAP || f->takes & STRIDE) n[1] = elements_of(f->shape);
        n[at] = number;
        struct access a = {varid, 1, &n[0], &n[1], &n[2], &n[3], values, N + 1, MPI_INT};
        if (at != 3) a.bufcount = f->shape == ONE ? 1 : N;
        is_refused(f, &a, true);
        is_refused(f, &a, false);
    }
}

static void starts_beyond_all_offsets_are_refused(void)
{
    begin();
    for (int i = 0; i < HUGE; i++) {
        each_family(START, 0, huge[i], series);
        each_family(START, 0, huge[i], fixed);
    }
    each_family(START, 0, TO(32), fixed);
    if (check.format != 5) each_family(START, 0, TO(32) - 2, series);
    if (check.format != 5) each_family(START, 0, TO(32) - 1, series);
    if (check.format != 5) each_family(START, 0, TO(32), series);
    end();
}

static void counts_beyond_all_offsets_are_refused(void)
{
    begin();
    for (int i = 0; i < HUGE; i++) {
        each_family(START | COUNT, 1, huge[i], series);
        each_family(START | COUNT, 1, huge[i], fixed);
    }
    each_family(START | COUNT, 1, TO(31), fixed);
    each_family(START | COUNT, 1, TO(32), series);
    end();
}

static void strides_beyond_all_offsets_are_refused(void)
{
    begin();
    for (int i = 0; i < HUGE; i++) {
        each_family(STRIDE, 2, huge[i], series);
        each_family(STRIDE, 2, huge[i], fixed);
    }
    end();
}

static void maps_beyond_all_addresses_are_refused(void)
{
    begin();
    for (int i = 0; i < HUGE; i++) {
        each_family(IMAP, 3, huge[i], fixed);
        each_family(IMAP, 3, -huge[i], fixed);
    }
    each_family(IMAP, 3, TO(31), fixed);
    each_family(IMAP, 3, TO(32), fixed);
    each_family(IMAP, 3, INT64_MIN, fixed);
    end();
}

/* Tests maps whose steps have a sum that wraps around to a small number, and a map that
 * leads to an address before the buffer of a derived type. */
static void maps_that_wrap_around_are_refused(void)
{
    MPI_Datatype eight;
    int values[16] = {0};
    MPI_Offset start[2] = {0, 0}, count[2] = {1, 3}, none[2] = {0, 0};
    const MPI_Offset maps[][2] = {
        {TO(62), TO(62)}, {TO(62), -TO(62)}, {0, TO(62)}, {0, INT64_MIN}, {0, INT64_MAX}};
    begin();
    MPI_Type_vector(8, 1, 2, MPI_INT, &eight);
    MPI_Type_commit(&eight);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 2; j++)
            CHECK_NC(NC_EIOMISMATCH,
                     ncmpi_put_varm_all(ncid, wide, start, count, NULL, maps[i], values,
                                        j ? 1 : 8, j ? eight : MPI_INT));
    const MPI_Offset back[2] = {1, -1};
    CHECK_NC(NC_EIOMISMATCH, ncmpi_put_varm_all(ncid, wide, start, count, NULL, back,
                                                values + 4, 1, eight));
    /* A step that is never taken may have any value. */
    const MPI_Offset idle[2] = {INT64_MIN, 2};
    CHECK_NC(NC_NOERR,
             ncmpi_put_varm_all(ncid, wide, start, check.rank ? none : count, NULL, idle,
                                values, check.rank ? 0 : 8, MPI_INT));
    MPI_Type_free(&eight);
    end();
}

static void buffers_beyond_all_addresses_are_refused(void)
{
    MPI_Datatype two;
    MPI_Offset start = 0, count = N;
    int values[N] = {0};
    begin();
    MPI_Type_vector(2, 1, 2, MPI_INT, &two);
    MPI_Type_commit(&two);
    for (int i = 0; i < HUGE; i++)
        for (int j = 0; j < 2; j++)
            CHECK(refuses(ncmpi_put_vara_all(ncid, fixed, &start, &count, values, huge[i],
                                             j ? two : MPI_INT)));
    MPI_Type_free(&two);
    end();
}

/* Tests large records. The total size of all records is limited. */
static void wide_records_end_before_2_to_63(void)
{
    double value = -77;
    const MPI_Offset records[] = {TO(50), TO(60), TO(60) + 1, INT64_MAX / 8004};
    int id;
    begin();
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    for (int i = check.format == 5; i < 4; i++) {
        MPI_Offset start[2] = {records[i], 0};
        CHECK_NC(NC_EINVALCOORDS, ncmpi_put_var1_double(ncid, wide, start, &value));
        CHECK_NC(NC_EINVALCOORDS, ncmpi_iput_var1_double(ncid, wide, start, &value, &id));
    }
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    for (int i = check.format == 5; i < 4; i++) {
        MPI_Offset start[2] = {records[i], 0}, count[2] = {1, 1}, stride[2] = {1, 1};
        MPI_Offset *starts[5] = {start, start, start, start, start};
        double values[5] = {0};
        CHECK_NC(NC_EINVALCOORDS, ncmpi_put_var1_double_all(ncid, wide, start, &value));
        CHECK_NC(NC_EINVALCOORDS,
                 ncmpi_put_varn_double_all(ncid, wide, 5, starts, NULL, values));
        start[0] = 1;
        stride[0] = records[i] - 1;
        count[0] = 2;
        CHECK_NC(NC_EEDGE,
                 ncmpi_put_vars_double_all(ncid, wide, start, count, stride, values));
    }
    end();
}

static void file_types_beyond_all_offsets_are_refused(void)
{
    begin();
    for (int i = 0; i < HUGE; i++) {
        MPI_Datatype filetype;
        MPI_Aint place = (MPI_Aint)(huge[i] / 4 * 4);
        int length = 1, value = 5;
        MPI_Type_create_hindexed(1, &length, &place, MPI_INT, &filetype);
        MPI_Type_commit(&filetype);
        int rc = ncmpi_put_vard_all(ncid, fixed, filetype, &value, 1, MPI_INT);
        CHECK(rc == NC_EEDGE || rc == NC_EINTOVERFLOW || rc == NC_ENOMEM);
        if (check.format != 5 || place > INT64_MAX - 9000) {
            rc = ncmpi_put_vard_all(ncid, series, filetype, &value, 1, MPI_INT);
            CHECK(rc == NC_EEDGE || rc == NC_EINTOVERFLOW || rc == NC_ENOMEM);
        }
        MPI_Type_free(&filetype);
    }
    end();
}

static void filling_records_beyond_all_offsets_is_refused(void)
{
    ncid = new_dataset("a.nc");
    t = new_dim(ncid, "t", NC_UNLIMITED);
    series = new_var(ncid, "series", NC_INT, 1, &t);
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, series, 0, NULL));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int i = 1; i < HUGE; i++)
        CHECK_NC(NC_EINVALCOORDS, ncmpi_fill_var_rec(ncid, series, huge[i]));
    if (check.format != 5)
        CHECK_NC(NC_EINVALCOORDS, ncmpi_fill_var_rec(ncid, series, TO(32) - 2));
    CHECK_EQ(0, dim_length(ncid, t));
    close_dataset(ncid);
}

/* Posts requests in define mode, in which the record size is not yet known. */
static void records_that_become_too_long_are_refused(void)
{
    int id[2], status[2], value[2] = {5, 6};
    MPI_Offset far = TO(61), near = 0;
    ncid = new_dataset("a.nc");
    t = new_dim(ncid, "t", NC_UNLIMITED);
    series = new_var(ncid, "series", NC_INT, 1, &t);
    int rc = ncmpi_iput_var1_int(ncid, series, &far, &value[1], &id[1]);
    CHECK_NC(NC_NOERR, ncmpi_iput_var1_int(ncid, series, &near, &value[0], &id[0]));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    if (check.format != 5) CHECK_NC(NC_EINVALCOORDS, rc);
    if (rc == NC_NOERR) {
        CHECK_NC(NC_EINVALCOORDS, ncmpi_wait_all(ncid, 1, &id[1], &status[1]));
        CHECK_NC(NC_EINVALCOORDS, status[1]);
    }
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, 1, &id[0], &status[0]));
    CHECK_EQ(1, dim_length(ncid, t));
    CHECK_NC(NC_NOERR, ncmpi_get_var1_int_all(ncid, series, &near, value));
    CHECK_EQ(5, value[0]);
    close_dataset(ncid);
}

/* In CDF-1 and CDF-2, the number of records 2^32 - 1 is reserved for "unknown". */
static void the_last_possible_record_can_be_written(void)
{
    if (check.format == 5) return;
    MPI_Offset last = TO(32) - 3, beyond = TO(32) - 2;
    signed char value = 7, back = 0;
    ncid = new_dataset("a.nc");
    t = new_dim(ncid, "t", NC_UNLIMITED);
    series = new_var(ncid, "series", NC_BYTE, 1, &t);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_EINVALCOORDS, ncmpi_put_var1_schar_all(ncid, series, &beyond, &value));
    CHECK_NC(NC_NOERR, ncmpi_put_var1_schar_all(ncid, series, &last, &value));
    CHECK_NC(NC_EINVALCOORDS, ncmpi_put_var1_schar_all(ncid, series, &beyond, &value));
    CHECK_EQ(last + 1, dim_length(ncid, t));
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_EQ(last + 1, dim_length(ncid, t));
    CHECK_NC(NC_NOERR, ncmpi_get_var1_schar_all(ncid, series, &last, &back));
    CHECK_EQ(value, back);
    close_dataset(ncid);
}

/* If one of the counts is 0, the product of the others may overflow. */
static void a_count_of_0_prevents_an_overflow_of_the_others(void)
{
    if (check.format != 5) return;
    ncid = new_dataset("a.nc");
    int dims[3] = {new_dim(ncid, "x", 2), new_dim(ncid, "y", TO(30)),
                   new_dim(ncid, "z", TO(29))},
        v = new_var(ncid, "v", NC_INT, 3, dims), value = 0;
    MPI_Offset start[3] = {0}, count[3] = {0, TO(30), TO(29)},
               all[3] = {2, TO(30), TO(29)};
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, count, &value));
    CHECK_NC(NC_EINTOVERFLOW, ncmpi_get_vara_all(ncid, v, start, all, &value,
                                                 NC_COUNT_IGNORE, MPI_DOUBLE));
    ncmpi_close(ncid); /* fails on most file systems: the file is too large */
}

static const struct check_test tests[] = {
    {"starts beyond all offsets are refused", starts_beyond_all_offsets_are_refused,
     CHECK_FORMATS},
    {"counts beyond all offsets are refused", counts_beyond_all_offsets_are_refused,
     CHECK_FORMATS},
    {"strides beyond all offsets are refused", strides_beyond_all_offsets_are_refused,
     CHECK_FORMATS},
    {"maps beyond all addresses are refused", maps_beyond_all_addresses_are_refused, 0},
    {"maps that wrap around are refused", maps_that_wrap_around_are_refused, 0},
    {"buffers beyond all addresses are refused", buffers_beyond_all_addresses_are_refused,
     0},
    {"wide records end before 2^63", wide_records_end_before_2_to_63, CHECK_FORMATS},
    {"file types beyond all offsets are refused",
     file_types_beyond_all_offsets_are_refused, CHECK_FORMATS},
    {"filling records beyond all offsets is refused",
     filling_records_beyond_all_offsets_is_refused, CHECK_FORMATS},
    {"records that become too long are refused", records_that_become_too_long_are_refused,
     CHECK_FORMATS},
    {"the last possible record can be written", the_last_possible_record_can_be_written,
     CHECK_FORMATS},
    {"a count of 0 prevents an overflow of the others",
     a_count_of_0_prevents_an_overflow_of_the_others, CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2");
}
