/* Files that are broken, hostile, or something else: every process gets the same clean
 * error, and nothing is left behind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "made_dataset.h"

/* The dataset that is broken in many ways; bytes of it on every process. */
static unsigned char *good;
static size_t good_length, header_length;

static void make_good(void)
{
    int ncid = new_dataset("good.nc"), values[6] = {1, 2, 3, 4, 5, 6}, dims[2];
    MPI_Offset start[2] = {0, 0}, count[2] = {check.rank == 0 ? 2 : 0, 3}, size;
    dims[0] = new_dim(ncid, "t", NC_UNLIMITED);
    dims[1] = new_dim(ncid, "x", 3);
    int r = new_var(ncid, "r", NC_INT, 2, dims),
        f = new_var(ncid, "f", NC_SHORT, 1, dims + 1);
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, r, "units", 6, "meters"));
    CHECK_NC(NC_NOERR, ncmpi__enddef(ncid, 0, 4, 0, 4));
    CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(ncid, f, values));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, r, start, count, values));
    CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &size));
    header_length = (size_t)size;
    close_dataset(ncid);
    complete_closes();
    MPI_Barrier(MPI_COMM_WORLD);
    good = check_read_file(check_path("good.nc"), &good_length);
}

static MPI_Offset memory_in_use(void)
{
    MPI_Offset size = 0;
    ncmpi_inq_malloc_size(&size);
    return size;
}

/* Every process got the same code. */
static void all_have(int rc)
{
    int least, most;
    MPI_Allreduce(&rc, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&rc, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK_EQ(least, most);
}

/* Whatever can be asked of a dataset that opened; codes do not matter. */
static void look_around(int ncid)
{
    int nvars = 0, n, values[64];
    MPI_Offset one[8] = {1, 1, 1, 1, 1, 1, 1, 1}, zero[8] = {0};
    CHECK_NC(NC_NOERR, ncmpi_inq_nvars(ncid, &nvars));
    for (int v = 0; v < nvars && v < 8; v++) {
        CHECK_NC(NC_NOERR, ncmpi_inq_varndims(ncid, v, &n));
        if (n <= 8) ncmpi_get_vara_int_all(ncid, v, zero, one, values);
    }
}

/* Opens these bytes as a file on all processes; the code. */
static int open_bytes(const unsigned char *bytes, size_t length)
{
    int ncid = -1;
    complete_closes();
    MPI_Offset before = memory_in_use();
    if (check.rank == 0) check_write_file(check_path("bad.nc"), bytes, length);
    MPI_Barrier(MPI_COMM_WORLD);
    int rc = ncmpi_open(MPI_COMM_WORLD, check_path("bad.nc"), NC_NOWRITE, MPI_INFO_NULL,
                        &ncid);
    all_have(rc);
    if (rc == NC_NOERR) {
        look_around(ncid);
        close_dataset(ncid);
    }
    CHECK_EQ(before, memory_in_use());
    return rc;
}

static void headers_truncated_at_any_byte(void)
{
    make_good();
    for (size_t length = 0; length < header_length; length++)
        CHECK_NC(NC_ENOTNC, open_bytes(good, length));
    CHECK_NC(NC_NOERR, open_bytes(good, header_length));
    CHECK_NC(NC_NOERR, open_bytes(good, good_length));
    free(good);
}

static void headers_with_any_byte_changed(void)
{
    make_good();
    unsigned char *bad = malloc(good_length);
    for (int i = 0; i < 150; i++) {
        memcpy(bad, good, good_length);
        for (uint64_t changes = 1 + check_random(3); changes > 0; changes--) {
            unsigned char *byte = &bad[check_random(header_length)];
            *byte = (unsigned char)(check_random(2) ? 0xff : check_random(256));
        }
        open_bytes(bad, good_length);
    }
    free(bad);
    free(good);
}

static void known_bytes_that_are_no_dataset(void)
{
    static const unsigned char thirteen[] = {0x43, 0x44, 0x46, 0x01, 0x00, 0x00, 0x00,
                                             0xb9, 0x8d, 0xff, 0xff, 0x08, 0xdb};
    static const char *const texts[] = {"",
                                        "C",
                                        "CDF",
                                        "CDF\3",
                                        "CDF\4xxxxxxxxxxxxxxxxxxxxxxxx",
                                        "netcdf a { }\n",
                                        "\x89PNG\r\n\x1a\n"};
    CHECK_NC(NC_ENOTNC, open_bytes(thirteen, sizeof thirteen));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK_NC(NC_ENOTNC,
                 open_bytes((const unsigned char *)texts[i], strlen(texts[i])));
}

static void an_hdf5_file_is_told_as_such(void)
{
    static const unsigned char signature[] = {0x89, 'H',  'D',  'F',
                                              '\r', '\n', 0x1a, '\n'};
    unsigned char *bytes = calloc(1, 5000);
    for (size_t place = 0; place <= 4096; place = place ? place * 2 : 512) {
        memset(bytes, 0, 5000);
        memcpy(bytes + place, signature, sizeof signature);
        int rc = open_bytes(bytes, 5000);
        /* Whose file it is; of netCDF-C, if that is there, what is wrong with it. */
        CHECK(rc == NC_ENOTBUILT || rc == NC_EHDFERR || rc == NC_ENOTNC);
        CHECK(strstr(ncmpi_strerror(rc), "netCDF-4") ||
              strstr(ncmpi_strerror(rc), "netCDF-C"));
    }
    free(bytes);
}

/* BP4 and BP5 say so first, BP3 near its end. */
static void an_adios_file_is_told_as_such(void)
{
    unsigned char bytes[300] = {0};
    for (size_t place = 0; place < sizeof bytes; place += sizeof bytes - 56) {
        memset(bytes, 0, sizeof bytes);
        memcpy(bytes + place, "ADIOS-BP", 8);
        CHECK_NC(NC_ENOTBUILT, open_bytes(bytes, sizeof bytes));
        CHECK(strstr(ncmpi_strerror(NC_ENOTBUILT), "ADIOS") != NULL);
    }
}

/* One field at a time is given a value that means gigabytes, or nothing. */
static void hostile_numbers(void)
{
    make_good();
    unsigned char *bad = malloc(good_length);
    for (size_t place = 4; place + 4 <= header_length; place += 4) {
        static const unsigned values[] = {0xffffffff, 0x7fffffff, 0x80000000, 0x10000000};
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            memcpy(bad, good, good_length);
            for (int b = 0; b < 4; b++)
                bad[place + (size_t)b] = (unsigned char)(values[i] >> (24 - 8 * b));
            MPI_Offset most = 0;
            open_bytes(bad, good_length);
            if (ncmpi_inq_malloc_max_size(&most) == NC_NOERR) CHECK(most < 16 << 20);
        }
    }
    free(bad);
    free(good);
}

static void a_directory_is_no_dataset(void)
{
    int ncid = -1;
    if (check.rank == 0) CHECK_EQ(0, mkdir(check_path("dir"), 0777));
    MPI_Barrier(MPI_COMM_WORLD);
    int rc =
        ncmpi_open(MPI_COMM_WORLD, check_path("dir"), NC_NOWRITE, MPI_INFO_NULL, &ncid);
    CHECK(rc != NC_NOERR);
    CHECK(strstr(ncmpi_strerror(rc), "is a directory") != NULL);
    all_have(rc);
    rc = ncmpi_create(MPI_COMM_WORLD, check_path("dir"), check.cmode, MPI_INFO_NULL,
                      &ncid);
    CHECK(rc != NC_NOERR);
    CHECK(strstr(ncmpi_strerror(rc), "is a directory") != NULL);
    all_have(rc);
    rc = ncmpi_delete(check_path("dir"), MPI_INFO_NULL);
    CHECK(rc != NC_NOERR);
    CHECK(strstr(ncmpi_strerror(rc), "is a directory") != NULL);
}

/* The file has its header, and less data than the header tells. */
static void data_truncated_at_any_byte(void)
{
    make_good();
    for (size_t length = header_length; length < good_length; length++) {
        int ncid = -1, values[6];
        if (check.rank == 0) check_write_file(check_path("bad.nc"), good, length);
        MPI_Barrier(MPI_COMM_WORLD);
        if (!CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("bad.nc"),
                                           NC_NOWRITE, MPI_INFO_NULL, &ncid)))
            continue;
        memset(values, 0x55, sizeof values);
        CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, 0, values));
        for (int i = 0; i < 6; i++) /* what is missing reads as zeros */
            CHECK(values[i] == i + 1 || values[i] == 0);
        close_dataset(ncid);
    }
    free(good);
}

static const struct check_test tests[] = {
    {"headers truncated at any byte", headers_truncated_at_any_byte, CHECK_FORMATS},
    {"headers with any byte changed", headers_with_any_byte_changed, CHECK_FORMATS},
    {"known bytes that are no dataset", known_bytes_that_are_no_dataset, 0},
    {"an HDF5 file is told as such", an_hdf5_file_is_told_as_such, 0},
    {"an ADIOS file is told as such", an_adios_file_is_told_as_such, 0},
    {"hostile numbers", hostile_numbers, CHECK_FORMATS},
    {"a directory is no dataset", a_directory_is_no_dataset, 0},
    {"data truncated at any byte", data_truncated_at_any_byte, CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
