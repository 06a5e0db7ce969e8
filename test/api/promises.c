/* Tests those guarantees in doc/behaviour.md that no other test covers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_dataset.h"
#include "made_dataset.h"

enum { N = 5 }; /* elements per process */

static int reopen_with(const char *key, const char *value)
{
    MPI_Info info;
    int ncid = -1;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &ncid));
    MPI_Info_free(&info);
    return ncid;
}

/* As long as the header fits into its space, no data may move, whatever the stripe
 * size. */
static void a_stripe_size_moves_nothing(void)
{
    static const char *const stripes[] = {"4096", "1048576"};
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", (MPI_Offset)N * check.nprocs);
    int v = new_var(ncid, "v", NC_INT, 1, &x), values[N], back[N];
    MPI_Offset start = N * check.rank, count = N, before = -1, after = -2;
    for (int i = 0; i < N; i++)
        values[i] = 10 * check.rank + i;
    begin_data(ncid);
    CHECK_NC(NC_NOERR, put_ints(ncid, v, &start, &count, values));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, v, &before));
    end_data(ncid);
    close_dataset(ncid);
    for (int i = 0; i < 2; i++) {
        char name[16];
        ncid = reopen_with("striping_unit", stripes[i]);
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        snprintf(name, sizeof name, "a%d", i);
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, name, 4, "text"));
        begin_data(ncid);
        CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, v, &after));
        CHECK_EQ(before, after);
        CHECK_NC(NC_NOERR, get_ints(ncid, v, &start, &count, back));
        CHECK_BYTES(values, back, sizeof back);
        end_data(ncid);
        close_dataset(ncid);
    }
}

static void header_size_is_known_before_the_first_enddef(void)
{
    MPI_Offset empty = -1, grown = -1, final = -1;
    int ncid = new_dataset("a.nc");
    CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &empty));
    new_dim(ncid, "abcd", 7);
    CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &grown));
    CHECK_EQ(check.format == 5 ? 8 + 4 + 8 : 4 + 4 + 4, grown - empty);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &final));
    CHECK_EQ(grown, final);
    close_dataset(ncid);
}

/* The header of the file is longer than the library would encode it, because another
 * program has padded a name with zeros. A call that fails does not write it, so the
 * library must remember its size. */
static void a_failed_call_keeps_the_header_size(void)
{
    static const char stored[] = "vvv\0"; /* 5 bytes, of which 3 count */
    struct api_dataset *d;
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", 3);
    new_var(ncid, "vvvvv", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, 0, "a", 1, "b"));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    close_dataset(ncid);
    if (check.rank == 0) {
        size_t n = 0;
        unsigned char *bytes = check_read_file(check_path("a.nc"), &n), *at = bytes;
        while (at != NULL && memcmp(at, "vvvvv", 5) != 0)
            at++;
        if (at != NULL) memcpy(at, stored, 5);
        if (at != NULL) CHECK(check_write_file(check_path("a.nc"), bytes, n));
        free(bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    ncid = reopen_with("nc_header_read_chunk_size", "0");
    for (int call = 0; call < 5; call++) {
        if (!CHECK_NC(NC_NOERR, api_find(ncid, &d))) break;
        int64_t size = d->ds.header.size;
        CHECK_EQ(cdf_encoded_size(&d->ds.header) + 4, size);
        int rc = call == 0   ? ncmpi_rename_var(ncid, 7, "w")
                 : call == 1 ? ncmpi_rename_dim(ncid, 7, "w")
                 : call == 2 ? ncmpi_rename_att(ncid, 0, "none", "c")
                 : call == 3 ? ncmpi_put_att_text(ncid, 7, "a", 1, "c")
                             : ncmpi_put_att_text(ncid, 0, "a", 99, "too long");
        CHECK(rc != NC_NOERR);
        CHECK_EQ(size, d->ds.header.size);
    }
    close_dataset(ncid);
}

/* Calling set_fill in a later define phase affects only variables added in that phase.
 * Existing values must not change. */
static void set_fill_does_not_change_written_values(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", (MPI_Offset)N * check.nprocs);
    int old = new_var(ncid, "old", NC_INT, 1, &x), values[N], back[N];
    MPI_Offset start = N * check.rank, count = N;
    for (int i = 0; i < N; i++)
        values[i] = 100 + i;
    begin_data(ncid);
    CHECK_NC(NC_NOERR, put_ints(ncid, old, &start, &count, values));
    end_data(ncid);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    int before = new_var(ncid, "before", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_set_fill(ncid, NC_FILL, NULL));
    int after = new_var(ncid, "after", NC_INT, 1, &x);
    begin_data(ncid);
    CHECK_NC(NC_NOERR, get_ints(ncid, old, &start, &count, back));
    CHECK_BYTES(values, back, sizeof back);
    for (int varid = before; varid <= after; varid++) {
        CHECK_NC(NC_NOERR, get_ints(ncid, varid, &start, &count, back));
        for (int i = 0; i < N; i++)
            CHECK_EQ(NC_FILL_INT, back[i]);
    }
    end_data(ncid);
    close_dataset(ncid);
}

/* Tests blocking varn calls for which `counts`, or one of its elements, is NULL. */
static void a_part_without_count_is_one_element(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", (MPI_Offset)N * check.nprocs);
    int v = new_var(ncid, "v", NC_INT, 1, &x), values[3] = {7, 8, 9}, back[3] = {0};
    MPI_Offset a = N * check.rank + 3, b = N * check.rank, two = 2;
    MPI_Offset *starts[2] = {&a, &b}, *counts[2] = {NULL, &two};
    begin_data(ncid);
    CHECK_NC(NC_NOERR, check.collective
                           ? ncmpi_put_varn_int_all(ncid, v, 2, starts, counts, values)
                           : ncmpi_put_varn_int(ncid, v, 2, starts, counts, values));
    CHECK_NC(NC_NOERR, check.collective
                           ? ncmpi_get_varn_int_all(ncid, v, 2, starts, counts, back)
                           : ncmpi_get_varn_int(ncid, v, 2, starts, counts, back));
    CHECK_BYTES(values, back, sizeof back);
    CHECK_NC(NC_NOERR, check.collective
                           ? ncmpi_get_varn_int_all(ncid, v, 2, starts, NULL, back)
                           : ncmpi_get_varn_int(ncid, v, 2, starts, NULL, back));
    CHECK(back[0] == 7 && back[1] == 8);
    end_data(ncid);
    close_dataset(ncid);
}

/* For scalars, all position arguments may be NULL. Each process accesses a different
 * scalar. */
static void every_kind_of_call_accesses_scalars(void)
{
    int ncid = new_dataset("a.nc"), v = check.rank, back = 0, value = 3 + 10 * check.rank;
    for (int i = 0; i < check.nprocs; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        new_var(ncid, name, NC_INT, 0, NULL);
    }
    begin_data(ncid);
    for (int kind = 0; kind < 4; kind++, value++) {
        int put[4], get[4];
        if (check.collective) {
            put[0] = ncmpi_put_var1_int_all(ncid, v, NULL, &value);
            put[1] = ncmpi_put_vara_int_all(ncid, v, NULL, NULL, &value);
            put[2] = ncmpi_put_vars_int_all(ncid, v, NULL, NULL, NULL, &value);
            put[3] = ncmpi_put_varm_int_all(ncid, v, NULL, NULL, NULL, NULL, &value);
            get[0] = ncmpi_get_var1_int_all(ncid, v, NULL, &back);
            get[1] = ncmpi_get_vara_int_all(ncid, v, NULL, NULL, &back);
            get[2] = ncmpi_get_vars_int_all(ncid, v, NULL, NULL, NULL, &back);
            get[3] = ncmpi_get_varm_int_all(ncid, v, NULL, NULL, NULL, NULL, &back);
        } else {
            put[0] = ncmpi_put_var1_int(ncid, v, NULL, &value);
            put[1] = ncmpi_put_vara_int(ncid, v, NULL, NULL, &value);
            put[2] = ncmpi_put_vars_int(ncid, v, NULL, NULL, NULL, &value);
            put[3] = ncmpi_put_varm_int(ncid, v, NULL, NULL, NULL, NULL, &value);
            get[0] = ncmpi_get_var1_int(ncid, v, NULL, &back);
            get[1] = ncmpi_get_vara_int(ncid, v, NULL, NULL, &back);
            get[2] = ncmpi_get_vars_int(ncid, v, NULL, NULL, NULL, &back);
            get[3] = ncmpi_get_varm_int(ncid, v, NULL, NULL, NULL, NULL, &back);
        }
        CHECK_NC(NC_NOERR, put[kind]);
        CHECK_NC(NC_NOERR, get[kind]);
        CHECK_EQ(value, back);
    }
    end_data(ncid);
    close_dataset(ncid);
}

/* put_att must check the mode before it checks whether values are out of range. */
static void a_new_attribute_in_data_mode_is_refused_before_its_range(void)
{
    double much = 1e30;
    short small = -1;
    int ncid = new_dataset("a.nc"), one = 1;
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, NC_GLOBAL, "a", NC_SHORT, 1, &one));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_ECHAR, ncmpi_put_att_double(ncid, NC_GLOBAL, "b", NC_CHAR, 1, &much));
    CHECK_NC(NC_EINVAL, ncmpi_put_att_double(ncid, NC_GLOBAL, "b", NC_SHORT, -1, &much));
    CHECK_NC(NC_ENOTINDEFINE,
             ncmpi_put_att_double(ncid, NC_GLOBAL, "b", NC_SHORT, 1, &much));
    CHECK_NC(NC_ERANGE, ncmpi_put_att_double(ncid, NC_GLOBAL, "a", NC_SHORT, 1, &much));
    CHECK_NC(NC_NOERR, ncmpi_get_att_short(ncid, NC_GLOBAL, "a", &small));
    CHECK_EQ(NC_FILL_SHORT, small);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_ERANGE, ncmpi_put_att_double(ncid, NC_GLOBAL, "c", NC_SHORT, 1, &much));
    close_dataset(ncid);
}

/* Tests adjacent requests whose total size exceeds 2^31 bytes. Runs only if
 * NCMPI_TEST_LARGE is set, because it needs 2.5 GB of disk space. */
static void requests_coalesce_beyond_2_gib(void)
{
    const MPI_Offset part = 836000001, parts = 3;
    signed char *values = NULL, ends[2] = {0, 0};
    if (getenv("NCMPI_TEST_LARGE") == NULL) {
        check_skip("it takes 2.5 GB of disk: NCMPI_TEST_LARGE=1 asks for it");
        return;
    }
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", part * parts);
    int v = new_var(ncid, "v", NC_BYTE, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    if (check.rank == 0) values = calloc(1, (size_t)part);
    for (MPI_Offset i = parts - 1; i >= 0 && values != NULL; i--) {
        MPI_Offset start = i * part;
        values[0] = 11;
        values[part - 1] = 12;
        CHECK_NC(NC_NOERR, ncmpi_iput_vara_schar(ncid, v, &start, &part, values, NULL));
    }
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
    for (MPI_Offset i = 0; i < parts; i++) {
        MPI_Offset first = i * part, last = first + part - 1;
        CHECK_NC(NC_NOERR, ncmpi_get_var1_schar_all(ncid, v, &first, &ends[0]));
        CHECK_NC(NC_NOERR, ncmpi_get_var1_schar_all(ncid, v, &last, &ends[1]));
        CHECK(ends[0] == 11 && ends[1] == 12);
    }
    free(values);
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"a stripe size moves nothing", a_stripe_size_moves_nothing,
     CHECK_FORMATS | CHECK_MODES},
    {"header size is known before the first enddef",
     header_size_is_known_before_the_first_enddef, CHECK_FORMATS},
    {"a failed call keeps the header size", a_failed_call_keeps_the_header_size,
     CHECK_FORMATS},
    {"set_fill does not change written values", set_fill_does_not_change_written_values,
     CHECK_FORMATS | CHECK_MODES},
    {"a part without count is one element", a_part_without_count_is_one_element,
     CHECK_FORMATS | CHECK_MODES},
    {"every kind of call accesses scalars", every_kind_of_call_accesses_scalars,
     CHECK_FORMATS | CHECK_MODES},
    {"a new attribute in data mode is refused before its range",
     a_new_attribute_in_data_mode_is_refused_before_its_range, CHECK_FORMATS},
    {"adjacent requests may exceed 2 GiB in total", requests_coalesce_beyond_2_gib, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 4 16");
}
