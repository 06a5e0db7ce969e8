/* Tests one call that puts more variables, each with a decomposition of its own, than the
 * first page of a dataset in subfiles can mark as committed. The rest must be stored in
 * the master file, and all values must be read back. */
#include <stdlib.h>

#include "made_dataset.h"
#include "plan_value.h"

enum { VARS = 25000 }; /* there is space for 24,575 decompositions */

static unsigned char value(int var, int i)
{
    return (unsigned char)plan_int(PLAN_UBYTE, (uint64_t)var * 16 + (uint64_t)i);
}

static void create(const char *name)
{
    MPI_Info info = check_info("nc_blob=enable;nc_num_subfiles=1");
    char text[32];
    int ncid, dim, var;
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path(name), NC_64BIT_DATA, info, &ncid));
    MPI_Info_free(&info);
    for (int i = 0; i < VARS; i++) {
        snprintf(text, sizeof text, "d%d", i);
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, text, 16 + i, &dim));
        snprintf(text, sizeof text, "v%d", i);
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, text, NC_UBYTE, 1, &dim, &var));
    }
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int i = 0; i < VARS; i++) {
        unsigned char values[8];
        MPI_Offset start = 8 * check.rank, count = 8;
        for (int k = 0; k < 8; k++)
            values[k] = value(i, (int)start + k);
        CHECK_NC(NC_NOERR, ncmpi_iput_vara_uchar(ncid, i, &start, &count, values, NULL));
    }
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
    close_dataset(ncid);
}

static void each_variable_may_have_its_own_decomposition(void)
{
    create("a.nc");
    int ncid = open_dataset("a.nc", NC_NOWRITE), wrong = 0;
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    for (int i = check.rank; i < VARS; i += check.nprocs) {
        unsigned char values[16] = {0};
        MPI_Offset start = 0, count = 16;
        CHECK_NC(NC_NOERR, ncmpi_get_vara_uchar(ncid, i, &start, &count, values));
        for (int k = 0; k < 16; k++)
            wrong += values[k] != value(i, k);
    }
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"each variable may have its own decomposition",
     each_variable_may_have_its_own_decomposition, CHECK_SEVERAL},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "2");
}
