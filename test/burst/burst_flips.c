/* Changes one byte of a log at a time, and replays the log with ncmpilog or by opening
 * the dataset for writing. Either the dataset gets the values that were put, or the
 * dataset and the log remain unchanged and a message reports the error.
 *
 *     burst_flips own DIR        this library's log, replayed by ncmpilog replay -r -f
 *     burst_flips open DIR       the same log, recovered by an open for writing
 *     burst_flips pnetcdf DIR    logs of two processes, in PnetCDF's format
 *     burst_flips shared DIR     one log for both processes, in PnetCDF's format
 *
 * DIR must be empty. PnetCDF's logs have no checksums, so some changes to bytes that
 * describe the values' locations cannot be detected. The test counts these bytes.
 * BURST_FLIPS=N makes it try N changes to each byte. */
#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "pnetcdf.h"
#include "pnetcdf_log.h"

enum { MOST = 24 << 20, PAGE = 4096, LOGS = 4, ROWS = 5, COLUMNS = 7, PUTS = 6 };

/* A file, and its original contents. */
struct kept {
    char path[256];
    unsigned char *bytes;
    int64_t size;
    struct stat st;
};

static struct kept dataset, logs[LOGS];
static int nlogs;
static unsigned char *expected;
static int64_t expected_size;
static bool by_opening;
static char dir[200];

static void need(bool good, const char *what)
{
    if (good) return;
    perror(what);
    exit(3);
}

static void need_nc(int rc, const char *what)
{
    if (rc == NC_NOERR) return;
    fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(rc));
    exit(3);
}

/* ---- files ---- */

static int64_t read_file(const char *path, unsigned char **bytes)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0) return -1;
    need(fstat(fd, &st) == 0, path);
    if (st.st_size >= MOST) { /* after a replay has written a record far beyond all
                               * others */
        close(fd);
        return -1;
    }
    *bytes = malloc((size_t)st.st_size + 1);
    need(*bytes != NULL && pread(fd, *bytes, (size_t)st.st_size, 0) == st.st_size, path);
    close(fd);
    return st.st_size;
}

static void keep_file(struct kept *k, const char *path)
{
    snprintf(k->path, sizeof k->path, "%s", path);
    k->size = read_file(path, &k->bytes);
    need(k->size >= 0 && stat(path, &k->st) == 0, path);
}

static bool is_blank(const unsigned char *bytes, int64_t n)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, (size_t)n - 1) == 0;
}

/* Restores the file in place, including its times. Skips pages of zeros. */
static void restore(const struct kept *k)
{
    const struct timespec times[2] = {k->st.st_atim, k->st.st_mtim};
    int fd = open(k->path, O_RDWR | O_CREAT, 0600);
    need(fd >= 0 && ftruncate(fd, 0) == 0 && ftruncate(fd, (off_t)k->size) == 0, k->path);
    for (int64_t at = 0; at < k->size; at += PAGE) {
        int64_t n = k->size - at < PAGE ? k->size - at : PAGE;
        if (!is_blank(k->bytes + at, n))
            need(pwrite(fd, k->bytes + at, (size_t)n, at) == n, k->path);
    }
    need(futimens(fd, times) == 0, k->path);
    close(fd);
}

static void restore_all(void)
{
    restore(&dataset);
    for (int i = 0; i < nlogs; i++)
        restore(&logs[i]);
}

static bool dataset_is(const unsigned char *bytes, int64_t size)
{
    unsigned char *now = NULL;
    bool same =
        read_file(dataset.path, &now) == size && memcmp(now, bytes, (size_t)size) == 0;
    free(now);
    return same;
}

static bool logs_are_there(void)
{
    for (int i = 0; i < nlogs; i++)
        if (access(logs[i].path, F_OK) != 0) return false;
    return true;
}

/* ---- datasets and logs ---- */

static double value_of(int i)
{
    return (double)((unsigned)(i + 1) * 2654435761u) / 3 - 5e8;
}

static void make_dataset(const char *path, MPI_Info info, int *ncid)
{
    int dims[3], v;
    need_nc(ncmpi_create(MPI_COMM_SELF, path, NC_64BIT_DATA, info, ncid), "create");
    need_nc(ncmpi_def_dim(*ncid, "t", NC_UNLIMITED, &dims[0]), "def_dim");
    need_nc(ncmpi_def_dim(*ncid, "y", ROWS, &dims[1]), "def_dim");
    need_nc(ncmpi_def_dim(*ncid, "x", COLUMNS, &dims[2]), "def_dim");
    need_nc(ncmpi_def_var(*ncid, "a", NC_DOUBLE, 2, dims + 1, &v), "def_var");
    need_nc(ncmpi_def_var(*ncid, "b", NC_DOUBLE, 2, dims + 1, &v), "def_var");
    int record[2] = {dims[0], dims[2]};
    need_nc(ncmpi_def_var(*ncid, "r", NC_FLOAT, 2, record, &v), "def_var");
    need_nc(ncmpi_enddef(*ncid), "enddef");
}

/* Puts values and then kills this process, so that the log remains. */
static void put_and_die(const char *path)
{
    MPI_Info info;
    int ncid;
    MPI_Init(NULL, NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_burst_buf", "enable");
    MPI_Info_set(info, "nc_burst_buf_dirname", dir);
    make_dataset(path, info, &ncid);
    for (int i = 0; i < PUTS; i++) {
        MPI_Offset start[2] = {i % ROWS, i % 3}, count[2] = {1, 3}, stride[2] = {1, 2};
        double values[3] = {value_of(3 * i), value_of(3 * i + 1), value_of(3 * i + 2)};
        if (i == 3) need_nc(ncmpi_sync(ncid), "sync");
        if (i % 3 == 0)
            need_nc(ncmpi_put_vars_double_all(ncid, i % 2, start, count, stride, values),
                    "put");
        else
            need_nc(ncmpi_put_vara_double_all(ncid, i % 3, start, count, values), "put");
    }
    _exit(0);
}

static void leave_own_log(const char *path)
{
    int status;
    pid_t child = fork();
    if (child == 0) put_and_die(path);
    need(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child");
}

static void put_rows(struct pnetcdf_log *l, int s, int rank)
{
    for (int i = 0; i < 3; i++) {
        int64_t start[2] = {rank * 2 + i % 2, i}, count[2] = {1, 3}, stride[2] = {1, 2};
        double values[3] = {value_of(9 * rank + 3 * i), value_of(9 * rank + 3 * i + 1),
                            value_of(9 * rank + 3 * i + 2)};
        pnetcdf_log_put(l, s, PNETCDF_DOUBLE, i % 3, 2, start, count,
                        i == 1 ? stride : NULL, values, sizeof values);
    }
}

static void leave_pnetcdf_logs(const char *path, bool shared)
{
    struct pnetcdf_log l;
    char name[300];
    int ncid;
    make_dataset(path, MPI_INFO_NULL, &ncid);
    need_nc(ncmpi_close(ncid), "close");
    for (int rank = 0; rank < 2; rank += shared ? 2 : 1) {
        snprintf(name, sizeof name, "%s/a.nc_0_%d", dir, rank);
        pnetcdf_log_start(&l, name, path, rank, shared ? 2 : 1, 2);
        put_rows(&l, 0, rank);
        if (shared) put_rows(&l, 1, 1);
        pnetcdf_log_end(&l);
    }
}

static void keep_logs(void)
{
    char command[600], path[256];
    snprintf(command, sizeof command, "ls %s/*.meta %s/*.data", dir, dir);
    FILE *f = popen(command, "r");
    need(f != NULL, "ls");
    while (nlogs < LOGS && fscanf(f, "%255s", path) == 1)
        keep_file(&logs[nlogs++], path);
    pclose(f);
}

/* ---- replaying ---- */

static int open_and_close(void)
{
    MPI_Info info;
    int ncid;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_burst_buf", "enable");
    MPI_Info_set(info, "nc_burst_buf_dirname", dir);
    int err = ncmpi_open(MPI_COMM_SELF, dataset.path, NC_WRITE, info, &ncid);
    MPI_Info_free(&info);
    if (err != NC_NOERR) fprintf(stderr, "%s\n", ncmpi_strerror(err));
    return err == NC_NOERR ? ncmpi_close(ncid) : 1;
}

static int replay(void)
{
    char *paths[LOGS];
    struct log_list list = {.paths = paths};
    const struct log_options o = {
        .dataset = dataset.path, .force = true, .remove = true, .quiet = true};
    if (by_opening) return open_and_close();
    for (int i = 0; i < nlogs; i++)
        if (strstr(logs[i].path, ".meta") != NULL) paths[list.n++] = logs[i].path;
    return log_replay(&list, &o);
}

/* Discards the messages on standard error. Returns their length. */
static int64_t take_messages(void)
{
    fflush(stderr);
    int64_t n = lseek(STDERR_FILENO, 0, SEEK_CUR);
    need(ftruncate(STDERR_FILENO, 0) == 0 && lseek(STDERR_FILENO, 0, SEEK_SET) == 0,
         "stderr");
    return n;
}

/* ---- selecting bytes ---- */

/* Returns whether a PnetCDF log may look valid after this byte has changed, which is true
 * of bytes in entry counts, types, variables, starts, strides and values. */
static bool is_indistinguishable(const struct kept *k, int64_t at)
{
    enum { ENTRIES_AT = 56, FRAME = 40, ENTRY = FRAME + 48 };
    if (by_opening || logs[0].bytes[7] != '0') return false;
    at %= PNETCDF_LOG_BLOCK;
    if (strstr(k->path, ".data") != NULL) return at >= 8;
    int64_t begin = 72 + 8 + (int64_t)strlen(dataset.path) + 1 + 4 + 5 + 1;
    begin = (begin + 15) / 16 * 16;
    if (at >= ENTRIES_AT && at < ENTRIES_AT + 8) return true;
    if (at < begin) return false;
    int64_t in = (at - begin) % ENTRY, entry = (at - begin) / ENTRY;
    bool start = in >= FRAME && in < FRAME + 16;
    bool stride = entry == 1 && in >= FRAME + 32;
    return (in >= 12 && in < 20) || start || stride;
}

/* Returns the offset of the next byte to change. In a blank part of the file, only the
 * first byte is changed. */
static int64_t next_byte(const struct kept *k, int64_t at)
{
    enum { PART = 64 };
    at++;
    while (at + PART < k->size && is_blank(k->bytes + at, PART))
        at = (at / PART + 1) * PART;
    return at;
}

/* Changes a byte and replays the log. Returns whether the replay was refused. Sets *good
 * to whether the outcome is correct. */
static bool change(const struct kept *k, int64_t at, unsigned char bits, bool *good)
{
    unsigned char byte = k->bytes[at] ^ bits;
    restore_all();
    int fd = open(k->path, O_RDWR);
    need(fd >= 0 && pwrite(fd, &byte, 1, at) == 1, k->path);
    close(fd);
    bool refused = replay() != 0, told = take_messages() > 0;
    *good = refused ? told && dataset_is(dataset.bytes, dataset.size) && logs_are_there()
                    : dataset_is(expected, expected_size) && !logs_are_there();
    return refused;
}

/* Returns the number of changes to try on a byte. In each of the first bytes, which
 * identify the file, every bit is flipped, and a random value is tried; in other bytes,
 * one bit is flipped, and a random value is tried. */
static int times(int64_t at)
{
    enum { FIRST = 64, BITS = 8 };
    const char *asked = getenv("BURST_FLIPS");
    return asked != NULL ? atoi(asked) : at < FIRST ? BITS + 1 : 2;
}

static void change_each(const struct kept *k)
{
    int64_t tried = 0, refused = 0, silent = 0, wrong = 0;
    for (int64_t at = 0; at < k->size; at = next_byte(k, at)) {
        for (int i = times(at); i > 0; i--) {
            bool good;
            int bits = i > 1 ? 1 << (i + at) % 8 : 1 + (int)(random() % 255);
            refused += change(k, at, (unsigned char)bits, &good);
            tried++;
            if (good) continue;
            bool excused = is_indistinguishable(k, at);
            silent += excused;
            wrong += !excused;
            if (!excused)
                printf("# %s: byte %lld, bits %d\n", k->path, (long long)at, bits);
        }
    }
    printf("# %s: %lld changes, %lld refused, %lld cannot be recognized, %lld wrong\n",
           strrchr(k->path, '/') + 1, (long long)tried, (long long)refused,
           (long long)silent, (long long)wrong);
    fflush(stdout);
    if (wrong > 0) exit(1);
}

int main(int argc, char **argv)
{
    char path[256], messages[256];
    if (argc != 3) return 2;
    snprintf(dir, sizeof dir, "%s", argv[2]);
    snprintf(path, sizeof path, "%s/a.nc", dir);
    bool own = strcmp(argv[1], "own") == 0;
    by_opening = strcmp(argv[1], "open") == 0;
    srandom(20261129);
    if (own || by_opening) leave_own_log(path);
    MPI_Init(&argc, &argv);
    if (!own && !by_opening) leave_pnetcdf_logs(path, strcmp(argv[1], "shared") == 0);
    keep_file(&dataset, path);
    keep_logs();
    snprintf(messages, sizeof messages, "%s/messages", dir);
    int status = replay();
    if (status == 0) expected_size = read_file(path, &expected);
    if (status == 0 && freopen(messages, "w+", stderr) == NULL) status = 3;
    for (int i = 0; i < nlogs && status == 0; i++)
        change_each(&logs[i]);
    MPI_Finalize();
    return status;
}
