/* Writes a log with valid checksums but invalid contents.
 *
 *     burst_hostile FILE LOGS        creates a dataset, and a log with runs of bytes
 * whose lengths add up to 24 modulo 2^64 burst_hostile FILE LOGS fill   or with a run
 * that is both raw and a fill value */
#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_sum.h"
#include "burst_log.h"
#include "conv.h"
#include "pnetcdf.h"

enum { N = 6, RUNS = 4, ROOM = 1 << 16 };

static void need(int good, const char *what)
{
    if (good) return;
    fprintf(stderr, "%s\n", what);
    exit(3);
}

/* Opens the only metadata log in a directory. */
static int open_log(const char *directory)
{
    DIR *d = opendir(directory);
    struct dirent *entry;
    char path[5000];
    int fd = -1;
    need(d != NULL, directory);
    while (fd < 0 && (entry = readdir(d)) != NULL) {
        size_t n = strlen(entry->d_name);
        if (n < 5 || strcmp(entry->d_name + n - 5, ".meta") != 0) continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        fd = open(path, O_RDWR);
    }
    closedir(d);
    need(fd >= 0, "there is no log");
    return fd;
}

/* Replaces the log's first entry, which contains this process's values. */
static void rewrite_entry(const char *logs, const int *values, bool fill)
{
    static unsigned char bytes[ROOM];
    struct burst_header h;
    struct burst_slot slot;
    int fd = open_log(logs);
    need(pread(fd, bytes, sizeof bytes, 0) > 0, "reading");
    need(burst_decode_header(&h, bytes, sizeof bytes) == NC_NOERR, "the header");
    need(burst_decode_slot(bytes + h.slots_begin, h.token, &slot) > 0, "the record");
    const int64_t quarter = (int64_t)1 << 62;
    const int64_t starts[RUNS] = {0, 0, 0, 0};
    const int64_t lengths[RUNS] = {quarter, quarter, quarter, quarter + N * 4},
                  one = N * 4;
    struct burst_entry e = {.size = burst_entry_size(fill ? 2 : 2 * (int64_t)RUNS),
                            .kind = fill ? BURST_VARA : RUNS,
                            .itype = burst_itype(CONV_INT),
                            .ndims = 1,
                            .nreqs = fill ? 1 : RUNS,
                            .data_off = 8,
                            .data_len = N * 4,
                            .start = starts,
                            .count = fill ? &one : lengths,
                            .flags = fill ? BURST_RAW | BURST_FILL : BURST_RAW,
                            .data_sum = base_sum(values, N * 4, 0)};
    burst_encode_entry(&e, h.token, slot.generation, h.entry_begin, bytes);
    need(pwrite(fd, bytes, (size_t)e.size, h.entry_begin) == e.size, "writing");
    close(fd);
}

int main(int argc, char **argv)
{
    int ncid, dim, v, values[N] = {1, 2, 3, 4, 5, 6};
    MPI_Offset start = 0, count = N;
    MPI_Info info;
    if (argc < 3) return 2;
    (void)mkdir(argv[2], 0777);
    MPI_Init(&argc, &argv);
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_burst_buf", "enable");
    MPI_Info_set(info, "nc_burst_buf_dirname", argv[2]);
    int rc = ncmpi_create(MPI_COMM_SELF, argv[1], NC_64BIT_DATA, info, &ncid);
    if (rc == NC_NOERR) rc = ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dim);
    if (rc == NC_NOERR) rc = ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &v);
    if (rc == NC_NOERR) rc = ncmpi_enddef(ncid);
    if (rc == NC_NOERR) rc = ncmpi_put_vara_int_all(ncid, v, &start, &count, values);
    need(rc == NC_NOERR, ncmpi_strerror(rc));
    rewrite_entry(argv[2], values, argc > 3);
    fflush(NULL);
    _exit(0); /* exits without draining, like a process that was killed */
}
