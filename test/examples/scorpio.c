/* Imitates the I/O layers of climate models (PIO, SCORPIO). A global attribute differs
 * between processes, and each record is written by buffered puts (bput_varn) of many
 * pieces of each variable. Then the program opens the file again and appends a record,
 * which is filled and then put in part. The file must contain process 0's attribute and
 * the right values, and elements that were not put must have the fill value. */
#include <stdio.h>
#include <string.h>

#include "made_dataset.h"

enum { COLUMNS = 12, LEVELS = 3, STEPS = 3, VARS = 2 };
static const double MISSING = -1e9;
static const char *const names[VARS] = {"T", "Q"};

static int ncid, vars[VARS], clock_var;

static double value(int var, int step, int level, int column)
{
    return var * 1e6 + step * 1e4 + level * 1e3 + column;
}

static void define(void)
{
    char words[64];
    int dims[3];
    ncid = new_dataset("a.nc");
    snprintf(words, sizeof words, "written by process %d", check.rank);
    CHECK_NC(NC_NOERR,
             ncmpi_put_att_text(ncid, NC_GLOBAL, "history", strlen(words), words));
    dims[0] = new_dim(ncid, "time", NC_UNLIMITED);
    dims[1] = new_dim(ncid, "lev", LEVELS);
    dims[2] = new_dim(ncid, "ncol", (MPI_Offset)COLUMNS * check.nprocs);
    clock_var = new_var(ncid, "time", NC_DOUBLE, 1, dims);
    for (int i = 0; i < VARS; i++) {
        vars[i] = new_var(ncid, names[i], NC_DOUBLE, 3, dims);
        CHECK_NC(NC_NOERR, ncmpi_put_att_double(ncid, vars[i], "_FillValue", NC_DOUBLE, 1,
                                                &MISSING));
    }
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
}

/* Puts a record's time, and this process's columns as one-element pieces. */
static void put_step(int step, int levels)
{
    for (int i = 0; i < VARS; i++) {
        MPI_Offset starts[LEVELS * COLUMNS][3], *list[LEVELS * COLUMNS];
        double values[LEVELS * COLUMNS];
        int n = 0;
        for (int level = 0; level < levels; level++)
            for (int k = 0; k < COLUMNS; k++, n++) {
                int column = k * check.nprocs + check.rank;
                starts[n][0] = step, starts[n][1] = level, starts[n][2] = column;
                list[n] = starts[n];
                values[n] = value(i, step, level, column);
            }
        CHECK_NC(NC_NOERR,
                 ncmpi_bput_varn_double(ncid, vars[i], n, list, NULL, values, NULL));
    }
    if (check.rank == 0) {
        MPI_Offset at = step;
        double now = step * 0.5;
        CHECK_NC(NC_NOERR, ncmpi_bput_var1_double(ncid, clock_var, &at, &now, NULL));
    }
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
}

static void attach(void)
{
    CHECK_NC(NC_NOERR, ncmpi_buffer_attach(ncid, 1 << 16));
}

static void finish(void)
{
    CHECK_NC(NC_NOERR, ncmpi_buffer_detach(ncid));
    close_dataset(ncid);
}

/* Checks the columns that another process has put. */
static void check_step(int step, int levels)
{
    const int owner = (check.rank + 1) % check.nprocs;
    const MPI_Offset start[3] = {step, 0, owner}, count[3] = {1, LEVELS, COLUMNS},
                     stride[3] = {1, 1, check.nprocs};
    for (int i = 0; i < VARS; i++) {
        double back[LEVELS][COLUMNS] = {{0}};
        CHECK_NC(NC_NOERR,
                 ncmpi_get_vars_double_all(ncid, vars[i], start, count, stride, back[0]));
        for (int level = 0; level < LEVELS; level++)
            for (int k = 0; k < COLUMNS; k++) {
                double want = value(i, step, level, k * check.nprocs + owner);
                CHECK_EQ(level < levels ? want : MISSING, back[level][k]);
            }
    }
}

static void check_attribute(void)
{
    char words[64] = "";
    CHECK_NC(NC_NOERR, ncmpi_get_att_text(ncid, NC_GLOBAL, "history", words));
    CHECK_STR("written by process 0", words);
}

static void a_run_is_continued_by_another_one(void)
{
    define();
    attach();
    for (int step = 0; step < STEPS; step++)
        put_step(step, LEVELS);
    check_attribute();
    finish();

    ncid = open_dataset("a.nc", NC_WRITE);
    check_attribute();
    attach();
    for (int i = 0; i < VARS; i++) {
        int no_fill = -1;
        double fill = 0;
        CHECK_NC(NC_NOERR, ncmpi_inq_var_fill(ncid, vars[i], &no_fill, &fill));
        CHECK_EQ(MISSING, fill);
        CHECK_EQ(0, no_fill);
        CHECK_NC(NC_NOERR, ncmpi_fill_var_rec(ncid, vars[i], STEPS));
    }
    put_step(STEPS, LEVELS - 1);
    for (int step = 0; step <= STEPS; step++)
        check_step(step, step < STEPS ? LEVELS : LEVELS - 1);
    finish();
}

static const struct check_test tests[] = {
    {"a run is continued by another one", a_run_is_continued_by_another_one,
     CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 4");
}
