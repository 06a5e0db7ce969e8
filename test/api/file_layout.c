/* Compares files byte by byte with the specification of the classic formats. Also opens
 * files as other programs may write them: with different padding, wrong sizes, or
 * trailing bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "made_dataset.h"

/* ---- an encoder for one known header, independent of the library ---- */

static unsigned char bytes[1024];
static size_t at;
static uint64_t wrong_vsize; /* if nonzero, is written in place of every correct vsize */

static void number(uint64_t value, int width)
{
    for (int i = width - 1; i >= 0; i--)
        bytes[at++] = (unsigned char)(value >> 8 * i);
}

static void size(uint64_t value) /* number of elements, or size in bytes */
{
    number(value, check.format == 5 ? 8 : 4);
}

static void offset(uint64_t value)
{
    number(value, check.format == 1 ? 4 : 8);
}

static void vsize(uint64_t value)
{
    size(wrong_vsize != 0 ? wrong_vsize : value);
}

static void padded(const char *text, size_t length)
{
    size(length);
    memcpy(bytes + at, text, length);
    at += (length + 3) / 4 * 4; /* the buffer is zeroed, and so is the padding */
}

static void expected_header(uint64_t begin)
{
    memset(bytes, 0, sizeof bytes);
    at = 0;
    memcpy(bytes, "CDF", 3);
    bytes[3] = (unsigned char)check.format;
    at = 4;
    size(2); /* number of records */
    number(10, 4), size(2);
    padded("t", 1), size(0);
    padded("xdim", 4), size(3);
    number(12, 4), size(1);
    padded("title", 5), number(NC_CHAR, 4), padded("abcde", 5);
    number(11, 4), size(2);
    /* short f(xdim), with an attribute of 3 shorts */
    padded("f", 1), size(1), size(1);
    number(12, 4), size(1), padded("s", 1), number(NC_SHORT, 4), size(3);
    number(1, 2), number(0xfffe, 2), number(3, 2), number(0, 2);
    number(NC_SHORT, 4), vsize(8), offset(begin);
    /* float r(t) without an attribute */
    padded("r", 1), size(1), size(0);
    number(0, 4), size(0);
    number(NC_FLOAT, 4), vsize(4), offset(begin + 8);
}

static void every_byte_is_as_specified(void)
{
    short three[3] = {1, -2, 3};
    float two[2] = {1.5f, -2};
    int ncid = new_dataset("a.nc");
    int t = new_dim(ncid, "t", NC_UNLIMITED), x = new_dim(ncid, "xdim", 3);
    int f = new_var(ncid, "f", NC_SHORT, 1, &x), r = new_var(ncid, "r", NC_FLOAT, 1, &t);
    MPI_Offset start = 0, count = check.rank == 0 ? 2 : 0, begin;
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 5, "abcde"));
    CHECK_NC(NC_NOERR, ncmpi_put_att_short(ncid, f, "s", NC_SHORT, 3, three));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, f, &begin));
    CHECK_NC(NC_NOERR, ncmpi_put_var_short_all(ncid, f, three));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_float_all(ncid, r, &start, &count, two));
    close_dataset(ncid);
    complete_closes();
    expected_header((uint64_t)begin);
    CHECK(at <= (size_t)begin);
    size_t length;
    unsigned char *file = check_read_file(check_path("a.nc"), &length);
    if (CHECK_EQ(begin + 8 + 8, length)) {
        static const unsigned char data[] = {0,    1,    0xff, 0xfe, 0,    3, 0, 0,
                                             0x3f, 0xc0, 0,    0,    0xc0, 0, 0, 0};
        CHECK_BYTES(bytes, file, at);
        CHECK_BYTES(data, file + begin, 6);
        CHECK_BYTES(data + 8, file + begin + 8, 8);
    }
    free(file);
}

/* Defines a variable of 5 GiB. It is never written, so nearly the whole file is a
 * hole. */
static int huge_var(int ncid, const char *name, const int *dims)
{
    return new_var(ncid, name, NC_BYTE, 2, dims);
}

static int huge_dims(int ncid, int *dims)
{
    dims[0] = new_dim(ncid, "y", 5);
    dims[1] = new_dim(ncid, "x", 1 << 30);
    return new_var(ncid, "small", NC_BYTE, 1, dims);
}

static void the_last_fixed_variable_may_be_huge(void)
{
    int ncid = new_dataset("a.nc"), dims[2];
    MPI_Offset start[2] = {4, (1 << 30) - 1}, begin;
    signed char value = 77, back = 0;
    huge_dims(ncid, dims);
    int v = huge_var(ncid, "huge", dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, v, &begin));
    CHECK(begin < 100000);
    MPI_Offset count[2] = {check.rank == check.nprocs - 1, 1};
    CHECK_NC(NC_NOERR, ncmpi_put_vara_schar_all(ncid, v, start, count, &value));
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_get_var1_schar_all(ncid, v, start, &back));
    CHECK_EQ(77, back);
    close_dataset(ncid);
    struct stat st;
    CHECK_EQ(0, stat(check_path("a.nc"), &st));
    CHECK_EQ(begin + (5LL << 30), st.st_size);
}

/* The header ends with the variable's vsize and offset. The test checks the vsize. */
static void a_huge_vsize_is_written_as_all_ones(void)
{
    int ncid = new_dataset("a.nc"), dims[2];
    MPI_Offset header;
    huge_dims(ncid, dims);
    huge_var(ncid, "huge", dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &header));
    close_dataset(ncid);
    unsigned char head[1024], expected[8] = {0, 0, 0, 1, 0x40, 0, 0, 0};
    FILE *f = fopen(check_path("a.nc"), "rb");
    CHECK(f != NULL && header < 1024 &&
          fread(head, 1, (size_t)header, f) == (size_t)header);
    if (f != NULL) fclose(f);
    if (check.format == 5) {
        CHECK_BYTES(expected, head + header - 16, 8);
    } else {
        memset(expected, 0xff, 4);
        CHECK_BYTES(expected, head + header - (check.format == 1 ? 8 : 12), 4);
    }
}

static void a_second_huge_variable_is_refused(void)
{
    int ncid = new_dataset("a.nc"), dims[2];
    huge_dims(ncid, dims);
    huge_var(ncid, "huge", dims);
    huge_var(ncid, "more", dims);
    CHECK_NC(check.format == 5 ? NC_NOERR : NC_EVARSIZE, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
}

static void a_huge_variable_that_is_not_last_is_refused(void)
{
    int ncid = new_dataset("a.nc"), dims[2];
    huge_dims(ncid, dims);
    huge_var(ncid, "huge", dims);
    new_var(ncid, "last", NC_BYTE, 1, dims);
    CHECK_NC(check.format == 5 ? NC_NOERR : NC_EVARSIZE, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
}

/* Their offsets must not be computed as if the huge variable were the last, as it is in
 * CDF-1 and CDF-2. */
static void in_CDF_5_other_variables_may_follow_a_huge_one(void)
{
    int ncid = new_dataset("a.nc"), dims[2];
    MPI_Offset start[2] = {4, (1 << 30) - 1}, first = 0, begin[3];
    huge_dims(ncid, dims);
    const int t = new_dim(ncid, "t", NC_UNLIMITED);
    const int vars[3] = {huge_var(ncid, "huge", dims),
                         new_var(ncid, "last", NC_BYTE, 1, dims),
                         new_var(ncid, "record", NC_BYTE, 1, &t)};
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int i = 0; i < 3; i++) {
        const signed char value = (signed char)(71 + i);
        const MPI_Offset *place = i == 0 ? start : &first;
        CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, vars[i], &begin[i]));
        CHECK_NC(NC_NOERR, ncmpi_put_var1_schar_all(ncid, vars[i], place, &value));
    }
    CHECK_EQ(begin[0] + (5LL << 30), begin[1]);
    CHECK_EQ(begin[1] + 8, begin[2]);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    for (int i = 0; i < 3; i++) {
        signed char back = 0;
        CHECK_NC(NC_NOERR,
                 ncmpi_get_var1_schar_all(ncid, vars[i], i == 0 ? start : &first, &back));
        CHECK_EQ(71 + i, back);
    }
    close_dataset(ncid);
}

static void a_huge_variable_before_records_is_refused(void)
{
    int ncid = new_dataset("a.nc"), dims[2];
    huge_dims(ncid, dims);
    huge_var(ncid, "huge", dims);
    int t = new_dim(ncid, "t", NC_UNLIMITED);
    new_var(ncid, "record", NC_BYTE, 1, &t);
    CHECK_NC(check.format == 5 ? NC_NOERR : NC_EVARSIZE, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
}

static void write_scratch(const unsigned char *content, size_t length)
{
    if (check.rank == 0) check_write_file(check_path("b.nc"), content, length);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Opens b.nc and checks that f is {1, -2, 3}, as in every_byte_is_as_specified. */
static void b_reads_well(void)
{
    short back[3] = {0, 0, 0}, three[3] = {1, -2, 3};
    int ncid = open_dataset("b.nc", NC_NOWRITE), f = -1;
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "f", &f));
    CHECK_NC(NC_NOERR, ncmpi_get_var_short_all(ncid, f, back));
    CHECK_BYTES(three, back, sizeof three);
    close_dataset(ncid);
}

static size_t place_of(const char *text, size_t length)
{
    for (size_t i = 0; i + length <= at; i++)
        if (memcmp(bytes + i, text, length) == 0) return i;
    CHECK(!"the text is in the header");
    return 0;
}

static size_t with_data_behind(void)
{
    static const unsigned char data[] = {0,    1,    0xff, 0xfe, 0,    3, 0, 0,
                                         0x3f, 0xc0, 0,    0,    0xc0, 0, 0, 0};
    expected_header(512);
    memcpy(bytes + 512, data, sizeof data);
    return 512 + sizeof data;
}

static void other_padding_bytes_are_accepted(void)
{
    size_t length = with_data_behind(), value = place_of("abcde", 5);
    memset(bytes + value + 5, 0xff, 3);
    memset(bytes + place_of("title", 5) + 5, ' ', 3);
    write_scratch(bytes, length);
    b_reads_well();
}

static void a_wrong_vsize_is_not_trusted(void)
{
    static const uint64_t wrong[] = {4, 0x11111111, 0xffffffff};
    for (int i = 0; i < 3; i++) {
        float two[2] = {0, 0};
        MPI_Offset recsize = 0;
        wrong_vsize = wrong[i];
        size_t length = with_data_behind();
        wrong_vsize = 0;
        write_scratch(bytes, length);
        b_reads_well();
        int ncid = open_dataset("b.nc", NC_NOWRITE);
        CHECK_NC(NC_NOERR, ncmpi_inq_recsize(ncid, &recsize));
        CHECK_EQ(4, recsize);
        CHECK_NC(NC_NOERR, ncmpi_get_var_float_all(ncid, 1, two));
        CHECK(two[0] == 1.5f && two[1] == -2);
        close_dataset(ncid);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void a_file_longer_than_computed_can_be_opened(void)
{
    size_t length = with_data_behind();
    write_scratch(bytes, length + 200);
    b_reads_well();
}

static void a_deleted_attribute_leaves_the_file_readable(void)
{
    size_t length = with_data_behind();
    write_scratch(bytes, length);
    int ncid = open_dataset("b.nc", NC_WRITE);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_del_att(ncid, NC_GLOBAL, "title"));
    close_dataset(ncid);
    b_reads_well();
}

static void a_header_that_fits_is_not_moved(void)
{
    size_t length = with_data_behind();
    write_scratch(bytes, length);
    int ncid = open_dataset("b.nc", NC_WRITE);
    MPI_Offset begin = -1;
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "more", 9, "more text"));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, 0, &begin));
    CHECK_EQ(512, begin);
    close_dataset(ncid);
    b_reads_well();
}

static const struct check_test tests[] = {
    {"every byte is as specified", every_byte_is_as_specified, CHECK_FORMATS},
    {"the last fixed variable may be huge", the_last_fixed_variable_may_be_huge,
     CHECK_FORMATS},
    {"a huge vsize is written as all ones", a_huge_vsize_is_written_as_all_ones,
     CHECK_FORMATS},
    {"a second huge variable is refused", a_second_huge_variable_is_refused,
     CHECK_FORMATS},
    {"a huge variable that is not last is refused",
     a_huge_variable_that_is_not_last_is_refused, CHECK_FORMATS},
    {"in CDF-5 other variables may follow a huge one",
     in_CDF_5_other_variables_may_follow_a_huge_one, 0},
    {"a huge variable before records is refused",
     a_huge_variable_before_records_is_refused, CHECK_FORMATS},
    {"other padding bytes are accepted", other_padding_bytes_are_accepted, CHECK_FORMATS},
    {"a wrong vsize is not trusted", a_wrong_vsize_is_not_trusted, CHECK_FORMATS},
    {"a file longer than computed can be opened",
     a_file_longer_than_computed_can_be_opened, CHECK_FORMATS},
    {"a deleted attribute leaves the file readable",
     a_deleted_attribute_leaves_the_file_readable, CHECK_FORMATS},
    {"a header that fits is not moved", a_header_that_fits_is_not_moved, CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
