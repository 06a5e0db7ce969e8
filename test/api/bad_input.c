/* Opens files that are truncated, corrupt, malicious, or not datasets at all. All
 * processes must get the same error, and no memory may leak. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "made_dataset.h"

/* Contents of a valid dataset, on every process. The tests corrupt copies of them. */
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

/* Checks that all processes got the same error code. */
static void all_have(int rc)
{
    int least, most;
    MPI_Allreduce(&rc, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&rc, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK_EQ(least, most);
}

/* Queries and reads a dataset that was opened in spite of its corrupt contents, and
 * ignores the results. */
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

/* Writes the bytes to a file and opens it on all processes. Returns the NC_ code. */
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

static void a_header_truncated_at_any_byte_is_refused(void)
{
    make_good();
    for (size_t length = 0; length < header_length; length++)
        CHECK_NC(NC_ENOTNC, open_bytes(good, length));
    CHECK_NC(NC_NOERR, open_bytes(good, header_length));
    CHECK_NC(NC_NOERR, open_bytes(good, good_length));
    free(good);
}

static void a_header_with_any_byte_changed_causes_no_crash(void)
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

static void other_file_formats_are_refused(void)
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

static void an_hdf5_file_is_recognized(void)
{
    static const unsigned char signature[] = {0x89, 'H',  'D',  'F',
                                              '\r', '\n', 0x1a, '\n'};
    unsigned char *bytes = calloc(1, 5000);
    for (size_t place = 0; place <= 4096; place = place ? place * 2 : 512) {
        memset(bytes, 0, 5000);
        memcpy(bytes + place, signature, sizeof signature);
        int rc = open_bytes(bytes, 5000);
        /* The message must name the format, or netCDF-C and the error that it
         * returned. */
        CHECK(rc == NC_ENOTBUILT || rc == NC_EHDFERR || rc == NC_ENOTNC);
        CHECK(strstr(ncmpi_strerror(rc), "netCDF-4") ||
              strstr(ncmpi_strerror(rc), "netCDF-C"));
    }
    free(bytes);
}

/* BP4 and BP5 files have a signature at the beginning; BP3 files have one near the
 * end. */
static void an_adios_file_is_recognized(void)
{
    unsigned char bytes[300] = {0};
    for (size_t place = 0; place < sizeof bytes; place += sizeof bytes - 56) {
        memset(bytes, 0, sizeof bytes);
        memcpy(bytes + place, "ADIOS-BP", 8);
        CHECK_NC(NC_ENOTBUILT, open_bytes(bytes, sizeof bytes));
        CHECK(strstr(ncmpi_strerror(NC_ENOTBUILT), "ADIOS") != NULL);
    }
}

/* Overwrites each header field with values that are invalid or would require gigabytes of
 * memory. */
static void hostile_numbers_in_a_header_are_refused(void)
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

static void a_directory_is_refused(void)
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

/* Truncates the file at every offset within the data section. The header remains
 * complete. */
static void data_truncated_at_any_byte_read_as_zeros(void)
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
        for (int i = 0; i < 6; i++) /* missing data reads as zeros */
            CHECK(values[i] == i + 1 || values[i] == 0);
        close_dataset(ncid);
    }
    free(good);
}

static const struct check_test tests[] = {
    {"a header truncated at any byte is refused",
     a_header_truncated_at_any_byte_is_refused, CHECK_FORMATS},
    {"a header with any byte changed causes no crash",
     a_header_with_any_byte_changed_causes_no_crash, CHECK_FORMATS},
    {"other file formats are refused", other_file_formats_are_refused, 0},
    {"an HDF5 file is recognized", an_hdf5_file_is_recognized, 0},
    {"an ADIOS file is recognized", an_adios_file_is_recognized, 0},
    {"hostile numbers in a header are refused", hostile_numbers_in_a_header_are_refused,
     CHECK_FORMATS},
    {"a directory is refused", a_directory_is_refused, 0},
    {"data truncated at any byte read as zeros", data_truncated_at_any_byte_read_as_zeros,
     CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
