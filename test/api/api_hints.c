/* Tests the effects of hints on a dataset, and checks that ncmpi_inq_file_info reports
 * the values in effect. Interposes MPI-IO and system calls in order to count independent
 * accesses and syncs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "made_dataset.h"

/* ---- interposed functions that count calls ---- */

static int independent, syncs, before_sync;
static off_t data_at; /* offset of the first value, after the header */

int MPI_File_write_at(MPI_File f, MPI_Offset offset, const void *buf, int count,
                      MPI_Datatype type, MPI_Status *status)
{
    independent++;
    return PMPI_File_write_at(f, offset, buf, count, type, status);
}

int MPI_File_read_at(MPI_File f, MPI_Offset offset, void *buf, int count,
                     MPI_Datatype type, MPI_Status *status)
{
    independent++;
    return PMPI_File_read_at(f, offset, buf, count, type, status);
}

int MPI_File_write(MPI_File f, const void *buf, int count, MPI_Datatype type,
                   MPI_Status *status)
{
    independent++;
    return PMPI_File_write(f, buf, count, type, status);
}

int MPI_File_read(MPI_File f, void *buf, int count, MPI_Datatype type, MPI_Status *status)
{
    independent++;
    return PMPI_File_read(f, buf, count, type, status);
}

int MPI_File_iwrite_at(MPI_File f, MPI_Offset offset, const void *buf, int count,
                       MPI_Datatype type, MPI_Request *request)
{
    independent++;
    return PMPI_File_iwrite_at(f, offset, buf, count, type, request);
}

int MPI_File_iread_at(MPI_File f, MPI_Offset offset, void *buf, int count,
                      MPI_Datatype type, MPI_Request *request)
{
    independent++;
    return PMPI_File_iread_at(f, offset, buf, count, type, request);
}

/* MPI-IO also calls the system functions below. */
ssize_t pwrite(int fd, const void *buf, size_t length, off_t offset)
{
    ssize_t (*next)(int, const void *, size_t, off_t);
    *(void **)&next = dlsym(RTLD_NEXT, "pwrite");
    before_sync += syncs == 0 && offset >= data_at;
    return next(fd, buf, length, offset);
}

ssize_t pread(int fd, void *buf, size_t length, off_t offset)
{
    ssize_t (*next)(int, void *, size_t, off_t);
    *(void **)&next = dlsym(RTLD_NEXT, "pread");
    before_sync += syncs == 0 && offset >= data_at;
    return next(fd, buf, length, offset);
}

int fsync(int fd)
{
    int (*next)(int);
    *(void **)&next = dlsym(RTLD_NEXT, "fsync");
    syncs++;
    return next(fd);
}

int fdatasync(int fd)
{
    int (*next)(int);
    *(void **)&next = dlsym(RTLD_NEXT, "fdatasync");
    syncs++;
    return next(fd);
}

/* ---- */

static int with_hint(const char *name, const char *key, const char *value)
{
    MPI_Info info;
    int ncid = -1;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path(name), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    return ncid;
}

/* Defines a fixed-size variable and a record variable. Returns the file offsets of the
 * two sections. */
static void sections(int ncid, MPI_Offset *fixed, MPI_Offset *record)
{
    int t = new_dim(ncid, "t", NC_UNLIMITED), x = new_dim(ncid, "x", 3);
    int f = new_var(ncid, "f", NC_SHORT, 1, &x), r = new_var(ncid, "r", NC_SHORT, 1, &t);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, f, fixed));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, r, record));
}

static void the_header_has_free_space_by_default(void)
{
    MPI_Offset fixed, record;
    int ncid = new_dataset("a.nc");
    sections(ncid, &fixed, &record);
    CHECK_EQ(512, fixed);
    CHECK_EQ(512 + 8, record);
    close_dataset(ncid);
}

static void alignment_hints_are_followed(void)
{
    static const struct {
        const char *key, *value;
        MPI_Offset fixed, record;
    } known[] = {{"nc_header_align_size", "2048", 2048, 2056},
                 {"nc_var_align_size", "4096", 4096, 4104},
                 {"nc_record_align_size", "1024", 512, 1024}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        MPI_Offset fixed, record;
        int ncid = with_hint("a.nc", known[i].key, known[i].value);
        sections(ncid, &fixed, &record);
        CHECK_EQ(known[i].fixed, fixed);
        CHECK_EQ(known[i].record, record);
        CHECK_STR(known[i].value, hint_in_force(ncid, known[i].key));
        close_dataset(ncid);
    }
}

static void hints_in_effect_are_reported(void)
{
    static const char *const keys[] = {
        "nc_header_align_size",      "nc_var_align_size", "nc_record_align_size",
        "nc_header_read_chunk_size", "nc_in_place_swap",  "nc_ibuf_size"};
    int ncid = new_dataset("a.nc");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (hint_in_force(ncid, keys[i])[0] == '\0') CHECK_STR("is told", keys[i]);
    close_dataset(ncid);
}

static void PNETCDF_HINTS_overrides_the_info_object(void)
{
    static const char setting[] = "nc_var_align_size=8192;nc_ibuf_size=65536;;=;x;y=";
    MPI_Offset fixed, record;
    CHECK_EQ(0, setenv("PNETCDF_HINTS", setting, 1));
    int ncid = with_hint("a.nc", "nc_var_align_size", "1024");
    sections(ncid, &fixed, &record);
    CHECK_EQ(8192, fixed);
    CHECK_STR("8192", hint_in_force(ncid, "nc_var_align_size"));
    CHECK_STR("65536", hint_in_force(ncid, "nc_ibuf_size"));
    CHECK_STR(setting, getenv("PNETCDF_HINTS"));
    CHECK_EQ(0, unsetenv("PNETCDF_HINTS"));
    close_dataset(ncid);
}

static void invalid_hints_are_no_error(void)
{
    static const char *const values[] = {"-5", "abc", "99999999999999999999999", "0"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        int ncid = with_hint("a.nc", "nc_header_align_size", values[i]);
        MPI_Offset fixed, record;
        sections(ncid, &fixed, &record);
        close_dataset(ncid);
        close_dataset(open_dataset("a.nc", NC_NOWRITE));
    }
}

static void a_small_staging_buffer_suffices(void)
{
    enum { N = 5000 };
    int ncid = with_hint("a.nc", "nc_ibuf_size", "100"), values[N], back[N];
    int x = new_dim(ncid, "x", N * check.nprocs),
        v = new_var(ncid, "v", NC_DOUBLE, 1, &x);
    MPI_Offset start = N * check.rank, count = N;
    for (int i = 0; i < N; i++)
        values[i] = (int)check_random_own(1u << 30);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, &start, &count, back));
    CHECK_BYTES(values, back, sizeof back);
    close_dataset(ncid);
}

/* The library ignores the hint under Open MPI, whose collective transfers hide errors. */
static void a_hint_disables_independent_access(void)
{
    int ncid, dims[2], values[3] = {1, 2, 3};
    MPI_Info info;
    MPI_Offset start[2] = {0, 3 * check.rank}, count[2] = {1, 3};
    independent = 0;
    ncid = with_hint("a.nc", "romio_no_indep_rw", "true");
    dims[0] = new_dim(ncid, "t", NC_UNLIMITED);
    dims[1] = new_dim(ncid, "x", 3 * check.nprocs);
    int v = new_var(ncid, "v", NC_INT, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (start[0] = 0; start[0] < 4; start[0]++)
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, count, values));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR,
             ncmpi_def_var_fill(ncid, new_var(ncid, "w", NC_INT, 2, dims), 0, NULL));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    close_dataset(ncid);
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_no_indep_rw", "true");
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &ncid));
    MPI_Info_free(&info);
    start[0] = 3;
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, start, count, values));
    CHECK(values[0] == 1 && values[1] == 2 && values[2] == 3);
    start[0] = 7;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, count, values));
    close_dataset(ncid);
#ifndef OMPI_MAJOR_VERSION
    CHECK_EQ(0, independent);
#endif
}

static void bytes_of_other_processes_are_synced_before_they_move(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", 100), values[100] = {0};
    int t = new_dim(ncid, "t", NC_UNLIMITED);
    int v = new_var(ncid, "v", NC_INT, 1, &x);
    MPI_Offset start = check.rank, count = 1, begin;
    new_var(ncid, "r", NC_INT, 1, &t);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, v, &begin));
    data_at = begin;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, 1, &start, &count, values));
    syncs = before_sync = 0;
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    new_var(ncid, "w", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK(syncs > 0);
    CHECK_EQ(0, before_sync);
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"the header has free space by default", the_header_has_free_space_by_default,
     CHECK_FORMATS},
    {"alignment hints are followed", alignment_hints_are_followed, 0},
    {"hints in effect are reported", hints_in_effect_are_reported, 0},
    {"PNETCDF_HINTS overrides the info object", PNETCDF_HINTS_overrides_the_info_object,
     0},
    {"invalid hints are no error", invalid_hints_are_no_error, 0},
    {"a small staging buffer suffices", a_small_staging_buffer_suffices, CHECK_FORMATS},
    {"a hint disables independent access", a_hint_disables_independent_access,
     CHECK_FORMATS},
    {"bytes of other processes are synced before they move",
     bytes_of_other_processes_are_synced_before_they_move, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, NULL);
}
