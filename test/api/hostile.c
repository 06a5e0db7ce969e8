/* Tests hostile hints, environment variables and paths:
 * - every known hint with absurd values, with and without the burst buffer, on all
 *   processes or on one;
 * - environment variables with the same values and with very long ones;
 * - unusable files at the path of a dataset, a journal, a log or a report.
 *
 * All calls must return, with the same code and a message on all processes. If they
 * succeed, the dataset must be correct. Unrelated files must not change.
 *
 * By default the test runs a selection of the cases, the same one every time;
 * NCMPI_HOSTILE=all runs all of them. It prints a table at the end. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "hints_table.h"
#include "cases.h"
#include "made_dataset.h"

enum { N = 40 }; /* elements per process and row, distributed cyclically */

static int home;

/* Starts a table of results. Changes to the case's directory, so that reports with
 * relative paths are written there. */
static void start(void)
{
    int nowhere = open("/dev/null", O_WRONLY);
    cases_start("NCMPI_HOSTILE", (uint32_t)check.nprocs);
    cases.voice = dup(STDERR_FILENO); /* discards the library's reports only */
    home = open(".", O_RDONLY | O_DIRECTORY);
    CHECK(dup2(nowhere, STDERR_FILENO) >= 0 && chdir(check_path("")) == 0);
    close(nowhere);
}

static void end(const char *name)
{
    CHECK(dup2(cases.voice, STDERR_FILENO) >= 0 && fchdir(home) == 0);
    close(cases.voice);
    close(home);
    cases.voice = STDERR_FILENO;
    cases_table(name);
}

/* Checks that all processes got the same code and that the code has a name. Returns
 * whether the code means success. */
static bool codes_are_equal(const char *call, int rc)
{
    int first = rc;
    MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rc != first)
        complain(WRONG, "%s: %s, on process 0 %s", call, ncmpi_strerrno(rc),
                 ncmpi_strerrno(first));
    if (strncmp(ncmpi_strerrno(rc), "Unknown", 7) == 0)
        complain(WRONG, "%s: code %d", call, rc);
    return rc == NC_NOERR;
}

/* ---- a dataset's life ---- */

static int value_at(int round, MPI_Offset at)
{
    return 1000 * round + (int)at;
}

/* Puts or gets this process's elements of a row. */
static int access_row(int ncid, int varid, MPI_Offset row, int round, bool put)
{
    int values[N];
    MPI_Offset start[2] = {row, check.rank}, count[2] = {1, N},
               stride[2] = {1, check.nprocs};
    for (int i = 0; i < N; i++)
        values[i] = put ? value_at(round, check.rank + i * check.nprocs) : -1;
    int rc = put ? ncmpi_put_vars_int_all(ncid, varid, start, count, stride, values)
                 : ncmpi_get_vars_int_all(ncid, varid, start, count, stride, values);
    for (int i = 0; i < N && !put && rc == NC_NOERR; i++)
        if (values[i] != value_at(round, check.rank + i * check.nprocs)) {
            complain(LIED, "record %d, element %d is %d", (int)row, i, values[i]);
            break;
        }
    return rc;
}

/* Creates a dataset, writes to it, adds definitions that move data, and writes again. If
 * a call fails, aborts the dataset. Returns whether all calls succeeded. */
static bool lives(const char *path, int cmode, MPI_Info info)
{
    int ncid = -1, dims[2], v = 0, rc;
    if (!codes_are_equal("create",
                         ncmpi_create(MPI_COMM_WORLD, path, cmode, info, &ncid)))
        return false;
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", (MPI_Offset)N * check.nprocs, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &v));
    bool well = codes_are_equal("enddef", ncmpi_enddef(ncid));
    well = well && codes_are_equal("put", access_row(ncid, v, 0, 1, true));
    well = well && codes_are_equal("put", access_row(ncid, v, 1, 2, true));
    if (well && codes_are_equal("redef", ncmpi_redef(ncid))) {
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "w", NC_DOUBLE, 1, dims + 1, NULL));
        well = codes_are_equal("enddef again", ncmpi_enddef(ncid));
    }
    well = well && codes_are_equal("get", access_row(ncid, v, 0, 1, false));
    well = well && codes_are_equal("put", access_row(ncid, v, 2, 3, true));
    rc = well ? ncmpi_close(ncid) : ncmpi_abort(ncid);
    if (!codes_are_equal("close", rc) && well) well = false;
    MPI_Barrier(MPI_COMM_WORLD);
    return well;
}

static void is_right(const char *path)
{
    int ncid = -1, v = -1;
    if (!codes_are_equal(
            "open", ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid))) {
        complain(WRONG, "what was made cannot be opened");
        return;
    }
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "v", &v));
    for (int row = 0; row < 3; row++)
        CHECK_NC(NC_NOERR, access_row(ncid, v, row, row + 1, false));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void make_room(void)
{
    MPI_Offset bytes = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) (void)remove(check_path("a.nc"));
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&bytes));
    if (bytes != 0) complain(LEAKED, "%lld bytes are left", (long long)bytes);
    cases_end();
}

/* ---- hints ---- */

static const char *const values[] = {" ",
                                     "0",
                                     "1",
                                     "-1",
                                     "3",
                                     "4097",
                                     "1e9",
                                     "0x10",
                                     "12abc",
                                     "nan",
                                     "2147483647",
                                     "2147483648",
                                     "4294967296",
                                     "1099511627776",
                                     "9223372036854775807",
                                     "-9223372036854775808",
                                     "99999999999999999999",
                                     "%s%n%s%n%d",
                                     "\xff\xfe\x80",
                                     ";==;",
                                     "enable",
                                     "disable",
                                     "auto",
                                     "true",
                                     "/",
                                     "../../..",
                                     "\n",
                                     "/dev/null",
                                     "/nowhere/at/all",
                                     "",
                                     "flush_immediate"};
enum { VALUES = sizeof values / sizeof values[0] };

/* Tests one value of a hint, set on all processes or on one. */
static void try_hint(const char *key, const char *value, int who, const char *more)
{
    MPI_Info info = check_info(more);
    cases_begin("%s=%.60s%s%s, process %d", key, value, more[0] ? ";" : "", more, who);
    MPI_Info_set(info, "nc_burst_buf_dirname", check_path(""));
    if (value[0] != '\0' && (who < 0 || who == check.rank))
        MPI_Info_set(info, key, value);
    if (lives(check_path("a.nc"), check.cmode, info)) is_right(check_path("a.nc"));
    MPI_Info_free(&info);
    make_room();
}

static void try_key(const char *key)
{
    static char long_value[MPI_MAX_INFO_VAL < 1020 ? MPI_MAX_INFO_VAL : 1020];
    memset(long_value, 'x', sizeof long_value - 1);
    for (int v = 0; v <= VALUES; v++)
        for (int who = -1; who < check.nprocs; who++)
            for (int log = 0; log <= 1; log++)
                if (cases_turn(150))
                    try_hint(
                        key, v < VALUES ? values[v] : long_value, who,
                        log ? "nc_burst_buf=enable;nc_burst_buf_flush=flush_immediate"
                            : "");
}

static void every_hint(void)
{
    start();
    for (const struct hints_row *t = hints_table; t->key != NULL; t++)
        try_key(t->key);
    try_hint("nc_node_procs", "4294967296", -1, ""); /* its lower 32 bits are 0 */
    try_hint("romio_no_indep_rw", "true", 0, "");    /* must be set on all processes */
    end("hostile hints");
}

/* ---- environment variables ---- */

static const char *const variables[] = {"PNETCDF_HINTS",      "PNETCDF_REPORT",
                                        "PNETCDF_SAFE_MODE",  "PNETCDF_RELAX_COORD_BOUND",
                                        "PNETCDF_HINTS_FILE", "PNETCDF_TRACE"};
enum { VARIABLES = sizeof variables / sizeof variables[0] };

static void try_variable(const char *name, const char *value, int who)
{
    cases_begin("%s=%.60s, process %d", name, value, who);
    if (who < 0 || who == check.rank) CHECK_EQ(0, setenv(name, value, 1));
    if (lives(check_path("a.nc"), check.cmode, MPI_INFO_NULL))
        is_right(check_path("a.nc"));
    CHECK_EQ(0, unsetenv(name));
    make_room();
}

/* Returns a string of 64 KiB that consists of copies of the text. */
static char *repeated(const char *text)
{
    enum { SIZE = 65536 };
    char *all = malloc(SIZE + 1);
    size_t n = strlen(text);
    for (size_t i = 0; i < SIZE; i++)
        all[i] = text[i % n];
    all[SIZE] = '\0';
    return all;
}

static void every_variable(void)
{
    static const char *const many[] = {"x",
                                       "=",
                                       ";",
                                       "k=v;",
                                       "%n",
                                       "\xff",
                                       "a=",
                                       "=b;",
                                       "a=b=c;",
                                       " ",
                                       "nc_transfer=node;",
                                       "/"};
    start();
    for (int e = 0; e < VARIABLES; e++) {
        for (int who = -1; who < check.nprocs; who++) {
            for (int v = 0; v < VALUES; v++)
                if (cases_turn(20)) try_variable(variables[e], values[v], who);
            for (size_t m = 0; m < sizeof many / sizeof many[0]; m++) {
                char *text = repeated(many[m]);
                if (cases_turn(20)) try_variable(variables[e], text, who);
                free(text);
            }
        }
    }
    end("hostile variables");
}

/* ---- paths ---- */

enum kind {
    DANGLING,
    LOOP,
    TO_DIRECTORY,
    TO_FILE,
    FIFO,
    DIRECTORY,
    DEV_NULL,
    DEV_FULL,
    SOCKET,
    READ_ONLY,
    OF_ANOTHER,
    TEXT_FILE,
    KINDS
};
static const char *const kinds[KINDS] = {"dangling link",
                                         "link to itself",
                                         "link to a directory",
                                         "link to a text",
                                         "pipe",
                                         "directory",
                                         "/dev/null",
                                         "/dev/full",
                                         "socket",
                                         "read-only text",
                                         "text of another user",
                                         "text"};
static const char text[] = "not a dataset, but dear to somebody\n";

static void make_link(const char *to, const char *path)
{
    CHECK_EQ(0, symlink(to, path));
}

static void make_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%.100s", path);
    CHECK_EQ(0, bind(fd, (struct sockaddr *)&address, sizeof address));
    close(fd);
}

static void make_text(const char *path, unsigned mode, unsigned user)
{
    check_write_file(path, text, strlen(text));
    CHECK_EQ(0, chmod(path, mode));
    if (user != 0 && chown(path, user, user) != 0) CHECK_EQ(EPERM, errno);
}

static void make(enum kind kind, const char *path)
{
    char beside[4200];
    snprintf(beside, sizeof beside, "%s.beside", path);
    switch (kind) {
    case DANGLING:
        make_link(beside, path);
        break;
    case LOOP:
        make_link(path, path);
        break;
    case TO_DIRECTORY:
        CHECK_EQ(0, mkdir(beside, 0777));
        make_link(beside, path);
        break;
    case TO_FILE:
        make_text(beside, 0666, 0);
        make_link(beside, path);
        break;
    case FIFO:
        CHECK(mkfifo(path, 0666) == 0 && chmod(path, 0666) == 0);
        break;
    case DIRECTORY:
        CHECK(mkdir(path, 0777) == 0 && chmod(path, 0777) == 0);
        break;
    case DEV_NULL:
        make_link("/dev/null", path);
        break;
    case DEV_FULL:
        make_link("/dev/full", path);
        break;
    case SOCKET:
        make_socket(path);
        break;
    case READ_ONLY:
        make_text(path, 0444, 4242);
        break;
    case OF_ANOTHER:
        make_text(path, 0600, 4242);
        break;
    default:
        make_text(path, 0666, 0);
    }
}

static bool is_text(enum kind kind)
{
    return kind == TO_FILE || kind == READ_ONLY || kind == OF_ANOTHER ||
           kind == TEXT_FILE;
}

/* Checks that the file still exists and is unchanged. */
static void unharmed(enum kind kind, const char *path)
{
    static const mode_t types[KINDS] = {S_IFLNK,  S_IFLNK, S_IFLNK, S_IFLNK,
                                        S_IFIFO,  S_IFDIR, S_IFLNK, S_IFLNK,
                                        S_IFSOCK, S_IFREG, S_IFREG, S_IFREG};
    struct stat st;
    char got[sizeof text] = "";
    if (lstat(path, &st) != 0 || (st.st_mode & S_IFMT) != types[kind]) {
        complain(LOST, "it is not there any more");
        return;
    }
    if (!is_text(kind)) return;
    FILE *f = fopen(path, "r");
    if (f == NULL || fread(got, 1, sizeof got, f) != strlen(text) ||
        strcmp(got, text) != 0)
        complain(LOST, "its text was changed");
    if (f != NULL) fclose(f);
}

static void take_away(const char *path)
{
    char beside[4200];
    snprintf(beside, sizeof beside, "%s.beside", path);
    (void)remove(path);
    (void)remove(beside);
}

/* Creates the unusable file on process 0. */
static void plant(enum kind kind, const char *path)
{
    if (check.rank == 0) make(kind, path);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void remove_planted(enum kind kind, const char *path, bool may_change)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0 && !may_change) unharmed(kind, path);
    if (check.rank == 0) take_away(path);
    make_room();
}

/* Restores this thread's ptrace capability after the thread has given up its privileges.
 * The thread makes the MPI calls. UCX, which MPICH uses, reads long messages directly
 * from the sender's memory and aborts if it lacks this capability. */
static void may_read_memory(void)
{
    struct __user_cap_header_struct who = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct may[2];
    CHECK_EQ(0, syscall(SYS_capget, &who, may));
    may[0].effective |= may[0].permitted & 1u << CAP_SYS_PTRACE;
    CHECK_EQ(0, syscall(SYS_capset, &who, may));
}

/* Switches to an unprivileged user if `begin` is set; otherwise, switches back to root,
 * which would bypass file permissions. */
static void as_nobody(bool begin)
{
    if (getuid() != 0) return;
    if (check.rank == 0 && begin) { /* gives user `nobody` access to the directory */
        CHECK_EQ(0, chmod(check_path(""), 0777));
        CHECK_EQ(0, chmod(check_path("../.."), 0711));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(0, seteuid(begin ? 65534 : 0));
    if (begin) may_read_memory();
    MPI_Barrier(MPI_COMM_WORLD); /* all processes must have switched */
}

/* Returns whether ncmpi_create may replace the object at the path. It may replace a text
 * file owned by this user, or a link to a file, even a dangling one. */
static bool may_be_replaced(enum kind kind)
{
    return kind == TEXT_FILE || kind == DANGLING || kind == TO_FILE;
}

static void where_a_dataset_is(enum kind kind, const char *hints)
{
    int ncid = -1;
    MPI_Info info = check_info(hints);
    const char *path = check_path("path.nc");
    cases_begin("a %s where a dataset is, %s", kinds[kind], hints);
    plant(kind, path);
    as_nobody(true);
    for (int i = 0; i < 2; i++)
        if (codes_are_equal("open", ncmpi_open(MPI_COMM_WORLD, path,
                                               i ? NC_WRITE : NC_NOWRITE, info, &ncid))) {
            complain(WRONG, "it was opened");
            ncmpi_close(ncid);
        }
    int rc = ncmpi_create(MPI_COMM_WORLD, path, check.cmode | NC_NOCLOBBER, info, &ncid);
    if (codes_are_equal("create", rc)) {
        if (kind != DANGLING) complain(LOST, "it was created over what is there");
        ncmpi_abort(ncid);
    } else if (!may_be_replaced(kind)) {
        bool well = lives(path, check.cmode, info);
        if (well) complain(LIED, "a dataset lived there");
    }
    as_nobody(false);
    MPI_Info_free(&info);
    remove_planted(kind, path, kind == DANGLING);
}

static void where_a_journal_is_to_be(enum kind kind, const char *hints)
{
    MPI_Info info = check_info(hints);
    cases_begin("a %s where a journal is to be, %s", kinds[kind], hints);
    plant(kind, check_path("a.nc.redef"));
    as_nobody(true);
    if (lives(check_path("a.nc"), check.cmode, info)) is_right(check_path("a.nc"));
    as_nobody(false);
    MPI_Info_free(&info);
    remove_planted(kind, check_path("a.nc.redef"), false);
}

static void where_logs_are_to_be(enum kind kind, const char *hints)
{
    MPI_Info info = check_info(hints);
    cases_begin("a %s where logs are to be, %s", kinds[kind], hints);
    plant(kind, check_path("logs"));
    MPI_Info_set(info, "nc_burst_buf", "enable");
    MPI_Info_set(info, "nc_burst_buf_dirname", check_path("logs"));
    as_nobody(true);
    if (lives(check_path("a.nc"), check.cmode, info))
        is_right(check_path("a.nc"));
    else
        complain(WRONG, "without logs it does not go");
    as_nobody(false);
    MPI_Info_free(&info);
    remove_planted(kind, check_path("logs"), false);
}

static void where_lines_are_to_be(enum kind kind, const char *hints, const char *key)
{
    MPI_Info info = check_info(hints);
    cases_begin("a %s where %s has lines added, %s", kinds[kind], key, hints);
    plant(kind, check_path("report"));
    MPI_Info_set(info, key, check_path("report"));
    as_nobody(true);
    (void)lives(check_path("a.nc"), check.cmode, info); /* the close is allowed to fail */
    is_right(check_path("a.nc"));
    as_nobody(false);
    MPI_Info_free(&info);
    remove_planted(kind, check_path("report"),
                   true); /* the library appends lines to the file */
}

static void where_a_report_is_to_be(enum kind kind, const char *hints)
{
    where_lines_are_to_be(kind, hints, "nc_report");
}

static void where_a_trace_is_to_be(enum kind kind, const char *hints)
{
    where_lines_are_to_be(kind, hints, "nc_trace");
}

static void every_kind_of_file(void)
{
    static void (*const places[])(enum kind, const char *) = {
        where_a_dataset_is, where_a_journal_is_to_be, where_logs_are_to_be,
        where_a_report_is_to_be, where_a_trace_is_to_be};
    static const char *const ways[] = {"nc_file_io=auto", "nc_file_io=mpi",
                                       "nc_transfer=view"};
    start();
    for (int p = 0; p < 5; p++)
        for (int k = 0; k < KINDS; k++)
            for (int w = 0; w < 3; w++)
                if (cases_turn(6)) places[p]((enum kind)k, ways[w]);
    end("hostile files");
}

/* Tests a file name that is too long or that contains unusual characters. */
static void try_name(const char *name, bool later)
{
    MPI_Info info = check_info(later ? "nc_burst_buf=enable;nc_deferred_close=enable"
                                     : "nc_burst_buf=enable");
    char *path = malloc(strlen(check_path("")) + strlen(name) + 1);
    int ncid = -1;
    cases_begin("a name of %zu bytes that begins %.20s%s", strlen(name), name,
                later ? ", closed later" : "");
    sprintf(path, "%s%s", check_path(""), name);
    MPI_Info_set(info, "nc_burst_buf_dirname", check_path(""));
    (void)codes_are_equal("open",
                          ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &ncid));
    bool well = lives(path, check.cmode, info);
    if (!codes_are_equal("wait_closed", ncmpix_wait_closed(path)))
        complain(WRONG, "it is not completed");
    if (well) {
        is_right(path);
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == 0) CHECK_NC(NC_NOERR, ncmpi_delete(path, MPI_INFO_NULL));
    } else {
        int rc = ncmpi_delete(path, MPI_INFO_NULL);
        if (rc == NC_NOERR) complain(LIED, "delete: there is such a file");
    }
    MPI_Info_free(&info);
    free(path);
    make_room();
}

static void strange_names_cause_no_crash(void)
{
    static const int lengths[] = {1,    200,  240,  249,  250,  255,  256,  1000,
                                  1023, 1024, 4000, 4090, 4096, 5000, 70000};
    static const char *const names[] = {
        "%s%n%d.nc", "\xff\xfe.nc", "a\nb.nc",    " ",          "-rf",   "a:b",
        "nfs:b",     "*?[",         "./././a.nc", "x//y//z.nc", "a.nc/", "a.redef",
        "..",        ".",           "a.nc/b.nc",  "\x01\x02"};
    start();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (int later = 0; later <= 1; later++)
            if (cases_turn(4)) try_name(names[i], later);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (int deep = 0; deep <= 1; deep++) {
            char *name = malloc((size_t)lengths[i] + 1);
            for (int c = 0; c < lengths[i]; c++)
                name[c] = deep && c % 2 == 1 ? '/' : 'n';
            name[lengths[i]] = '\0';
            if (cases_turn(2)) try_name(name, cases.tried % 2 == 0);
            free(name);
        }
    end("hostile names");
}

static const struct check_test tests[] = {
    {"hostile hints cause no crash", every_hint, 0},
    {"hostile environment variables cause no crash", every_variable, 0},
    {"hostile files cause no crash", every_kind_of_file, 0},
    {"strange names cause no crash", strange_names_cause_no_crash, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
