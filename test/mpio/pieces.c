/* Tests independent puts of short pieces, which the library writes one by one. These
 * writes must update the file's times and size just as pwrite does, and are subject to
 * the same limits. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "counts.h"
#include "made_dataset.h"

enum { TALL = 127, WIDE = 17 };
static int table[TALL][WIDE];

static void draw_column(int column)
{
    for (int y = 0; y < TALL; y++)
        table[y][column] = (int)check_random(1 << 30);
}

static void put_column(int ncid, int column)
{
    MPI_Offset start[2] = {0, column}, count[2] = {TALL, 1};
    int values[TALL];
    for (int y = 0; y < TALL; y++)
        values[y] = table[y][column];
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, 0, start, count, values));
}

/* Creates a table of random values, opens its file (*fd), and puts one column in
 * independent mode. */
static int new_table(int *fd)
{
    int ncid = counting_dataset("a.nc", NULL, NULL), dims[2];
    dims[0] = new_dim(ncid, "y", TALL);
    dims[1] = new_dim(ncid, "x", WIDE);
    new_var(ncid, "v", NC_INT, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int x = 0; x < WIDE; x++)
        draw_column(x);
    CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(ncid, 0, &table[0][0]));
    *fd = open(check_path("a.nc"), O_RDWR);
    CHECK(*fd >= 0);
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    draw_column(3);
    put_column(ncid, 3);
    return ncid;
}

static void check_table(void)
{
    static int found[TALL][WIDE];
    int ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, 0, &found[0][0]));
    CHECK_BYTES(table, found, sizeof table);
    close_dataset(ncid);
}

static void short_pieces_are_written_by_one_call_each(void)
{
    int fd, ncid = new_table(&fd);
    long long writes = count_of(ncid, "file_writes"),
              singles = count_of(ncid, "file_singles");
    draw_column(5);
    put_column(ncid, 5);
    CHECK_EQ(TALL, count_of(ncid, "file_writes") - writes);
    CHECK_EQ(TALL, count_of(ncid, "file_singles") - singles);
    (void)close(fd);
    close_dataset(ncid);
    check_table();
}

/* rsync, staging and the burst buffer's logs rely on the file's times. */
static void short_pieces_change_the_times_of_the_file(void)
{
    int fd, ncid = new_table(&fd);
    struct stat before, after;
    for (int i = 0; i < 3; i++) {
        const struct timespec tick = {0, 20000000};
        CHECK_EQ(0, fstat(fd, &before));
        (void)nanosleep(&tick, NULL);
        draw_column(i);
        put_column(ncid, i);
        CHECK_EQ(0, fstat(fd, &after));
        CHECK(after.st_mtim.tv_sec > before.st_mtim.tv_sec ||
              after.st_mtim.tv_nsec != before.st_mtim.tv_nsec);
        CHECK(after.st_ctim.tv_sec > before.st_ctim.tv_sec ||
              after.st_ctim.tv_nsec != before.st_ctim.tv_nsec);
    }
    (void)close(fd);
    close_dataset(ncid);
    check_table();
}

/* Another program truncates the file in the middle of a page to which pieces have been
 * written. */
static void pieces_beyond_a_new_end_of_the_file_are_kept(void)
{
    int fd, ncid = new_table(&fd);
    MPI_Offset begin;
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, 0, &begin));
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(0, ftruncate(fd, begin + (off_t)check_random(sizeof table)));
        draw_column(7);
        put_column(ncid, 7);
        for (int y = 0; y < TALL; y++) {
            int found = -1;
            off_t at = begin + (off_t)((char *)&table[y][7] - (char *)table);
            CHECK_EQ(4, pread(fd, &found, sizeof found, at));
            CHECK_EQ(table[y][7], (int)ntohl((uint32_t)found));
        }
    }
    (void)close(fd);
    close_dataset(ncid);
}

/* The process's file size limit is slightly larger than the dataset. SIGXFSZ must not
 * kill the process. */
static void a_file_size_limit_is_an_error_and_no_signal(void)
{
    struct rlimit before, few;
    CHECK_EQ(0, getrlimit(RLIMIT_FSIZE, &before));
    few = before;
    few.rlim_cur = 2 * sizeof table;
    CHECK_EQ(0, setrlimit(RLIMIT_FSIZE, &few));
    int fd, ncid = new_table(&fd);
    (void)close(fd);
    close_dataset(ncid);
    CHECK_EQ(0, setrlimit(RLIMIT_FSIZE, &before));
    check_table();
}

static const struct check_test tests[] = {
    {"short pieces are written by one call each",
     short_pieces_are_written_by_one_call_each, 0},
    {"short pieces change the times of the file",
     short_pieces_change_the_times_of_the_file, 0},
    {"pieces beyond a new end of the file are kept",
     pieces_beyond_a_new_end_of_the_file_are_kept, 0},
    {"a file size limit is an error and no signal",
     a_file_size_limit_is_an_error_and_no_signal, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1");
}
