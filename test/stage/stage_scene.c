/* Implements stage_scene.h: writes and reads the dataset for the staging tests. */
#include "stage_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

int grid[X][Y];
double line[RECORDS][Y];
signed char small[RECORDS][X];

int subfiles, writers;
long later;
int clock_gettime(clockid_t clock, struct timespec *now)
{
    long result = syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME) now->tv_sec += later;
    return (int)result;
}

MPI_Info hints(const char *more)
{
    char text[1400];
    snprintf(text, sizeof text,
             "nc_stage=enable;nc_stage_block_size=%d;nc_statistics=enable;%s", BLOCK,
             more);
    MPI_Info info = check_info(text);
    if (strstr(more, "dirname") == NULL)
        MPI_Info_set(info, "nc_stage_dirname", check_path(""));
    return info;
}

void fill_model(void)
{
    for (int x = 0; x < X; x++)
        for (int y = 0; y < Y; y++)
            grid[x][y] = (int)check_random(1000000);
    for (int r = 0; r < RECORDS; r++)
        for (int y = 0; y < Y; y++)
            line[r][y] = (double)check_random(1000000) / 8;
    for (int r = 0; r < RECORDS; r++)
        for (int x = 0; x < X; x++)
            small[r][x] = (signed char)check_random(100);
}

/* Writes the dataset on the n processes of `comm`, in which this process has rank
 * `rank`. */
static void write_all(MPI_Comm comm, int n, int rank)
{
    char text[100] = "";
    int ncid, dims[3], v;
    if (subfiles > 0)
        snprintf(text, sizeof text, "nc_blob=enable;nc_num_subfiles=%d", subfiles);
    MPI_Info info = check_info(text);
    const MPI_Offset begin = Y * rank / n, end = Y * (rank + 1) / n;
    const MPI_Offset first[2] = {rank, 0}, rows[2] = {(X - rank + n - 1) / n, Y},
                     every[2] = {n, 1}, from[2] = {0, begin},
                     columns[2] = {RECORDS, end - begin}, none[2] = {0, 0},
                     bytes[2] = {rank == 0 ? RECORDS : 0, X};
    const MPI_Offset imap[2] = {(MPI_Offset)n * Y, 1}, of_row[2] = {Y, 1};
    CHECK_NC(NC_NOERR, ncmpi_create(comm, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", X, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "y", Y, &dims[2]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "grid", NC_INT, 2, dims + 1, &v));
    const int of_line[2] = {dims[0], dims[2]};
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "line", NC_DOUBLE, 2, of_line, &v));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "small", NC_BYTE, 2, dims, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR,
             ncmpi_put_varm_int_all(ncid, 0, first, rows, every, imap, &grid[rank][0]));
    CHECK_NC(NC_NOERR, ncmpi_put_varm_double_all(ncid, 1, from, columns, NULL, of_row,
                                                 &line[0][begin]));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_schar_all(ncid, 2, none, bytes, &small[0][0]));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

void write_model(void)
{
    MPI_Comm comm;
    int n = subfiles == 0 ? 1 : writers > 0 ? writers : check.nprocs;
    MPI_Comm_split(MPI_COMM_WORLD, check.rank < n ? 0 : MPI_UNDEFINED, check.rank, &comm);
    if (check.rank < n) {
        write_all(comm, n, check.rank);
        MPI_Comm_free(&comm);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int open_staged(const char *more)
{
    int ncid = -1;
    MPI_Info info = hints(more);
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE, info, &ncid));
    MPI_Info_free(&info);
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    return ncid;
}

void start(void)
{
    fill_model();
    write_model();
}

long long statistic(int ncid, const char *name)
{
    char key[64], value[MPI_MAX_INFO_VAL + 1] = "";
    int there = 0;
    MPI_Info info;
    snprintf(key, sizeof key, "nc_stat_%s", name);
    CHECK_NC(NC_NOERR, ncmpi_inq_file_info(ncid, &info));
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there);
    MPI_Info_free(&info);
    CHECK(there);
    return atoll(value);
}

long long of_all(int ncid, const char *name)
{
    long long one = statistic(ncid, name), all;
    MPI_Allreduce(&one, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* ---- gets ---- */

/* Chooses a random hyperslab of a two-dimensional array with these lengths. */
static void random_slab(int nx, int ny, MPI_Offset *from, MPI_Offset *count,
                        MPI_Offset *stride)
{
    const int n[2] = {nx, ny};
    for (int i = 0; i < 2; i++) {
        from[i] = (MPI_Offset)check_random_own((uint64_t)n[i]);
        stride[i] = 1 + (MPI_Offset)check_random_own(4);
        count[i] = 1 + (MPI_Offset)check_random_own(
                           (uint64_t)((n[i] - from[i] + stride[i] - 1) / stride[i]));
    }
}

void get_grid(int ncid)
{
    static int values[X * Y];
    MPI_Offset from[2], count[2], stride[2];
    int wrong = 0, n = 0;
    random_slab(X, Y, from, count, stride);
    CHECK_NC(NC_NOERR, check.collective
                           ? ncmpi_get_vars_int_all(ncid, 0, from, count, stride, values)
                           : ncmpi_get_vars_int(ncid, 0, from, count, stride, values));
    for (int i = 0; i < count[0]; i++)
        for (int j = 0; j < count[1]; j++)
            wrong +=
                values[n++] != grid[from[0] + i * stride[0]][from[1] + j * stride[1]];
    CHECK_EQ(0, wrong);
}

/* Gets the values as a different type, and in a different order in memory. */
void get_line(int ncid)
{
    static float values[RECORDS * Y];
    MPI_Offset from[2], count[2], stride[2];
    int wrong = 0;
    random_slab(RECORDS, Y, from, count, stride);
    const MPI_Offset imap[2] = {1, count[0]};
    CHECK_NC(NC_NOERR,
             check.collective
                 ? ncmpi_get_varm_float_all(ncid, 1, from, count, stride, imap, values)
                 : ncmpi_get_varm_float(ncid, 1, from, count, stride, imap, values));
    for (int i = 0; i < count[0]; i++)
        for (int j = 0; j < count[1]; j++)
            wrong += values[i + j * count[0]] !=
                     (float)line[from[0] + i * stride[0]][from[1] + j * stride[1]];
    CHECK_EQ(0, wrong);
}

/* Posts two nonblocking requests and waits for both at the same time. */
void get_small(int ncid)
{
    signed char one[X], other[RECORDS];
    int ids[2], states[2], wrong = 0;
    MPI_Offset row[2] = {(MPI_Offset)check_random_own(RECORDS), 0}, along[2] = {1, X},
               column[2] = {0, (MPI_Offset)check_random_own(X)}, down[2] = {RECORDS, 1};
    CHECK_NC(NC_NOERR, ncmpi_iget_vara_schar(ncid, 2, row, along, one, &ids[0]));
    CHECK_NC(NC_NOERR, ncmpi_iget_vara_schar(ncid, 2, column, down, other, &ids[1]));
    CHECK_NC(NC_NOERR, check.collective ? ncmpi_wait_all(ncid, 2, ids, states)
                                        : ncmpi_wait(ncid, 2, ids, states));
    for (int x = 0; x < X; x++)
        wrong += one[x] != small[row[0]][x];
    for (int r = 0; r < RECORDS; r++)
        wrong += other[r] != small[r][column[1]];
    CHECK_EQ(0, wrong);
}

void get_all(int ncid)
{
    static int values[X][Y];
    static double doubles[RECORDS][Y];
    const MPI_Offset from[2] = {0, 0}, all[2] = {X, Y}, rows[2] = {RECORDS, Y};
    CHECK_NC(NC_NOERR, check.collective
                           ? ncmpi_get_vara_int_all(ncid, 0, from, all, &values[0][0])
                           : ncmpi_get_vara_int(ncid, 0, from, all, &values[0][0]));
    CHECK_BYTES(grid, values, sizeof grid);
    CHECK_NC(NC_NOERR,
             check.collective
                 ? ncmpi_get_vara_double_all(ncid, 1, from, rows, &doubles[0][0])
                 : ncmpi_get_vara_double(ncid, 1, from, rows, &doubles[0][0]));
    CHECK_BYTES(line, doubles, sizeof line);
}

void get_some(int ncid)
{
    for (int i = 0; i < 6; i++) {
        get_grid(ncid);
        get_line(ncid);
        get_small(ncid);
    }
    get_all(ncid);
}

void get_without_the_file(int ncid)
{
    MPI_Barrier(MPI_COMM_WORLD); /* waits until no process is fetching */
    long long before = statistic(ncid, "file_read_bytes");
    get_all(ncid);
    CHECK_EQ(before, statistic(ncid, "file_read_bytes"));
    CHECK_EQ(0, statistic(ncid, "stage_fallbacks"));
}

void change_some(void)
{
    int ncid;
    uint64_t who = check_random((uint64_t)check.nprocs), what = check_random(3);
    MPI_Offset at[2] = {(MPI_Offset)check_random(X), (MPI_Offset)check_random(Y)},
               record[2] = {(MPI_Offset)check_random(RECORDS), at[1]};
    grid[at[0]][at[1]] = (int)check_random(1000000);
    line[record[0]][at[1]] = (double)check_random(1000);
    if (what == 0) fill_model();
    MPI_Barrier(MPI_COMM_WORLD); /* waits until no process is reading */
    if (what == 0 && subfiles == 0) {
        write_model();
    } else if (check.rank == (int)who) {
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_SELF, check_path("a.nc"), NC_WRITE,
                                      MPI_INFO_NULL, &ncid));
        if (what == 0) {
            CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(ncid, 0, &grid[0][0]));
            CHECK_NC(NC_NOERR, ncmpi_put_var_double_all(ncid, 1, &line[0][0]));
            CHECK_NC(NC_NOERR, ncmpi_put_var_schar_all(ncid, 2, &small[0][0]));
        }
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        CHECK_NC(NC_NOERR, ncmpi_put_var1_int(ncid, 0, at, &grid[at[0]][at[1]]));
        CHECK_NC(NC_NOERR,
                 ncmpi_put_var1_double(ncid, 1, record, &line[record[0]][at[1]]));
        CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Makes the library revalidate the file. Returns the dataset's id, which is different if
 * the dataset was reopened. */
static int look_anew(int ncid, int round, bool anew)
{
    uint64_t how = check_random(4);
    if (how == 0) {
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        if (anew && check_random(3) == 0) start();
        return open_staged(round % 3 == 0   ? "nc_stage_size=8192"
                           : round % 3 == 1 ? "nc_stage_keep=enable"
                                            : "");
    }
    if (how == 1) {
        CHECK_NC(NC_NOERR, check.collective ? ncmpi_begin_indep_data(ncid)
                                            : ncmpi_end_indep_data(ncid));
        CHECK_NC(NC_NOERR, check.collective ? ncmpi_end_indep_data(ncid)
                                            : ncmpi_begin_indep_data(ncid));
    } else {
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    }
    return ncid;
}

void take_turns(int rounds, bool anew)
{
    const char *asked = getenv("NCMPI_STAGE_ROUNDS");
    if (asked != NULL) rounds = atoi(asked);
    int ncid = open_staged("");
    for (int i = 0; i < rounds; i++) {
        get_grid(ncid);
        get_line(ncid);
        if (check_random(4) == 0) get_all(ncid);
        change_some();
        ncid = look_anew(ncid, i, anew);
        MPI_Barrier(MPI_COMM_WORLD); /* revalidation is not collective */
        get_all(ncid);
    }
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}
