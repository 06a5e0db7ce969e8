/* Tests the harness features on which other tests rely. */
#include "check.h"

#include <stdlib.h>

#include "pnetcdf_constants.h"

static void cases_differ_in_format(void)
{
    CHECK(check.format == 1 || check.format == 2 || check.format == 5);
    CHECK_EQ(check.format == 1   ? 0
             : check.format == 2 ? NC_64BIT_OFFSET
                                 : NC_64BIT_DATA,
             check.cmode);
}

static void shared_random_numbers_are_shared(void)
{
    uint64_t mine[2] = {check_random(1u << 30), check_random_own(1u << 30)};
    uint64_t least[2], most[2];
    MPI_Allreduce(mine, least, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(mine, most, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    CHECK(least[0] == most[0]);
    CHECK(least[1] != most[1] || check.nprocs == 1);
}

static void files_can_be_written_and_compared(void)
{
    const char *a = check_path("a"), *b = check_path("b");
    size_t length;
    if (check.rank == 0) {
        check_write_file(a, "some bytes", 10);
        check_write_file(b, "some bytes", 10);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(check_same_files(a, b));
    unsigned char *bytes = check_read_file(a, &length);
    CHECK_EQ(10, length);
    CHECK_BYTES("some bytes", bytes, 10);
    free(bytes);
}

static const struct check_test tests[] = {
    {"cases differ in format", cases_differ_in_format, CHECK_FORMATS | CHECK_MODES},
    {"shared random numbers are shared", shared_random_numbers_are_shared, 0},
    {"files can be written and compared", files_can_be_written_and_compared, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 4 16");
}
