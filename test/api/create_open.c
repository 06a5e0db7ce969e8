/* Tests creating, opening, closing, aborting and deleting datasets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "made_dataset.h"

static void noclobber_refuses_an_existing_file(void)
{
    int ncid = -1;
    close_dataset(new_dataset("a.nc"));
    CHECK_NC(NC_EEXIST, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                     NC_NOCLOBBER | check.cmode, MPI_INFO_NULL, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("b.nc"),
                                    NC_NOCLOBBER | check.cmode, MPI_INFO_NULL, &ncid));
    close_dataset(ncid);
}

static void clobber_empties_an_existing_file(void)
{
    struct stat st;
    int ncid;
    char junk[5000];
    memset(junk, 7, sizeof junk);
    if (check.rank == 0) check_write_file(check_path("a.nc"), junk, sizeof junk);
    MPI_Barrier(MPI_COMM_WORLD);
    close_dataset(new_dataset("a.nc"));
    CHECK_EQ(0, stat(check_path("a.nc"), &st));
    CHECK(st.st_size < (off_t)sizeof junk);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    close_dataset(ncid);
}

static void clobber_through_a_link_keeps_the_link(void)
{
    struct stat st;
    if (check.rank == 0) {
        check_write_file(check_path("target.nc"), "old bytes", 9);
        CHECK_EQ(0, symlink("target.nc", check_path("link.nc")));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    close_dataset(new_dataset("link.nc"));
    CHECK(lstat(check_path("link.nc"), &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(lstat(check_path("target.nc"), &st) == 0 && S_ISREG(st.st_mode));
    close_dataset(open_dataset("target.nc", NC_NOWRITE));
}

static void opening_a_missing_file_fails(void)
{
    int ncid = -1;
    CHECK_NC(NC_ENOENT, ncmpi_open(MPI_COMM_WORLD, check_path("none.nc"), NC_NOWRITE,
                                   MPI_INFO_NULL, &ncid));
    CHECK_NC(NC_ENOENT, ncmpi_open(MPI_COMM_WORLD, check_path("none.nc"), NC_WRITE,
                                   MPI_INFO_NULL, &ncid));
    CHECK(access(check_path("none.nc"), F_OK) != 0);
}

static void creating_below_a_missing_directory_fails(void)
{
    int ncid = -1;
    CHECK(ncmpi_create(MPI_COMM_WORLD, check_path("none/a.nc"), check.cmode,
                       MPI_INFO_NULL, &ncid) != NC_NOERR);
}

static void a_file_system_prefix_is_stripped(void)
{
    static const char *const prefixes[] = {"ufs:", "nfs:", "lustre:"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        int ncid = -1, format = 0;
        char path[4200];
        snprintf(path, sizeof path, "%s%s", prefixes[i], check_path("a.nc"));
        CHECK_NC(NC_NOERR,
                 ncmpi_create(MPI_COMM_WORLD, path, check.cmode, MPI_INFO_NULL, &ncid));
        close_dataset(ncid);
        CHECK(access(check_path("a.nc"), F_OK) == 0);
        CHECK_NC(NC_NOERR, ncmpi_inq_file_format(path, &format));
        CHECK_EQ(check.format, format);
        CHECK_NC(NC_NOERR,
                 ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
        close_dataset(ncid);
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == 0) CHECK_NC(NC_NOERR, ncmpi_delete(path, MPI_INFO_NULL));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(access(check_path("a.nc"), F_OK) != 0);
    }
}

static void a_colon_in_a_name_is_kept(void)
{
    close_dataset(new_dataset("a:b.nc"));
    CHECK(access(check_path("a:b.nc"), F_OK) == 0);
    close_dataset(open_dataset("a:b.nc", NC_NOWRITE));
    /* also tests a relative name without a directory */
    int ncid = -1;
    char back[4096];
    CHECK(getcwd(back, sizeof back) != NULL && chdir(check_path("")) == 0);
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, "c:d.nc", check.cmode, MPI_INFO_NULL, &ncid));
    close_dataset(ncid);
    CHECK(access("c:d.nc", F_OK) == 0);
    CHECK_EQ(0, chdir(back));
}

static void communicator_and_info_may_be_freed(void)
{
    MPI_Comm comm;
    MPI_Info info;
    int ncid = -1;
    for (int pass = 0; pass < 2; pass++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Info_create(&info);
        MPI_Info_set(info, "nc_header_align_size", "1024");
        if (pass == 0)
            CHECK_NC(NC_NOERR,
                     ncmpi_create(comm, check_path("a.nc"), check.cmode, info, &ncid));
        else
            CHECK_NC(NC_NOERR,
                     ncmpi_open(comm, check_path("a.nc"), NC_WRITE, info, &ncid));
        MPI_Comm_free(&comm);
        MPI_Info_free(&info);
        if (pass == 0) new_dim(ncid, "x", 3);
        CHECK_EQ(3, dim_length(ncid, 0));
        close_dataset(ncid);
    }
}

static void one_process_may_open_its_own_file(void)
{
    char name[32];
    int ncid = -1;
    snprintf(name, sizeof name, "%d.nc", check.rank);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_SELF, check_path(name), check.cmode,
                                    MPI_INFO_NULL, &ncid));
    new_dim(ncid, "x", check.rank + 1);
    close_dataset(ncid);
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_SELF, check_path(name), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    CHECK_EQ(check.rank + 1, dim_length(ncid, 0));
    close_dataset(ncid);
}

static void many_files_are_open_at_once(void)
{
    enum { N = 20 };
    int ncids[N], open[N + 8], n = 0;
    for (int i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d.nc", i);
        ncids[i] = new_dataset(name);
        new_dim(ncids[i], "x", i + 1);
        for (int j = 0; j < i; j++)
            CHECK(ncids[j] != ncids[i]);
    }
    CHECK_NC(NC_NOERR, ncmpi_inq_files_opened(&n, NULL));
    CHECK_EQ(N, n);
    CHECK_NC(NC_NOERR, ncmpi_inq_files_opened(&n, open));
    for (int i = 0; i < N; i++) {
        int there = 0;
        for (int j = 0; j < N; j++)
            there += open[j] == ncids[i];
        CHECK_EQ(1, there);
        CHECK_EQ(i + 1, dim_length(ncids[i], 0));
    }
    for (int i = 0; i < N; i++)
        close_dataset(ncids[(i * 7) % N]);
    CHECK_NC(NC_NOERR, ncmpi_inq_files_opened(&n, NULL));
    CHECK_EQ(0, n);
}

static void a_closed_id_is_invalid(void)
{
    int ncid = new_dataset("a.nc"), n;
    close_dataset(ncid);
    CHECK_NC(NC_EBADID, ncmpi_close(ncid));
    CHECK_NC(NC_EBADID, ncmpi_inq_ndims(ncid, &n));
    CHECK_NC(NC_EBADID, ncmpi_enddef(ncid));
    CHECK_NC(NC_EBADID, ncmpi_redef(ncid));
    CHECK_NC(NC_EBADID, ncmpi_sync(ncid));
    CHECK_NC(NC_EBADID, ncmpi_abort(ncid));
    CHECK_NC(NC_EBADID, ncmpi_close(-1));
    CHECK_NC(NC_EBADID, ncmpi_close(1 << 30));
}

static void close_in_define_mode_completes_the_definitions(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", 5), value[5] = {0};
    int v = new_var(ncid, "v", NC_INT, 1, &x);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_WRITE);
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, v, value));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    new_dim(ncid, "y", 6);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_EQ(6, dim_length(ncid, 1));
    close_dataset(ncid);
}

static void close_reports_pending_requests(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", check.nprocs), req = 0, n = -1;
    int v = new_var(ncid, "v", NC_INT, 1, &x);
    MPI_Offset start = check.rank, count = 1;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, v, &start, &count, &n, &req));
    CHECK_NC(NC_EPENDING, ncmpi_close(ncid));
    CHECK_NC(NC_EBADID, ncmpi_inq_ndims(ncid, &n));
    close_dataset(open_dataset("a.nc", NC_NOWRITE));
}

static void abort_removes_a_new_file(void)
{
    int ncid = new_dataset("a.nc");
    new_dim(ncid, "x", 5);
    CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(access(check_path("a.nc"), F_OK) != 0);
    CHECK_NC(NC_EBADID, ncmpi_abort(ncid));
}

static void abort_after_redef_restores_the_file(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", 5),
        values[5] = {1, 2, 3, 4, 5};
    int v = new_var(ncid, "v", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(ncid, v, values));
    close_dataset(ncid);
    complete_closes();
    size_t length;
    unsigned char *before = check_read_file(check_path("a.nc"), &length);
    MPI_Barrier(MPI_COMM_WORLD);
    ncid = open_dataset("a.nc", NC_WRITE);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    new_dim(ncid, "y", 100);
    CHECK_NC(NC_NOERR, ncmpi_rename_var(ncid, v, "w"));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, v, "units", 3, "K/s"));
    CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    size_t after_length;
    unsigned char *after = check_read_file(check_path("a.nc"), &after_length);
    if (CHECK_EQ(length, after_length)) CHECK_BYTES(before, after, length);
    free(before);
    free(after);
}

static void abort_in_data_mode_keeps_the_file(void)
{
    int ncid = new_dataset("a.nc");
    new_dim(ncid, "x", 5);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_EQ(5, dim_length(ncid, 0));
    close_dataset(ncid);
}

static void delete_removes_a_file(void)
{
    close_dataset(new_dataset("a.nc"));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        CHECK_NC(NC_NOERR, ncmpi_delete(check_path("a.nc"), MPI_INFO_NULL));
        CHECK(access(check_path("a.nc"), F_OK) != 0);
        CHECK_NC(NC_ENOENT, ncmpi_delete(check_path("a.nc"), MPI_INFO_NULL));
    }
}

static void a_file_opened_to_read_cannot_be_changed(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", 5), value[5] = {0}, id;
    int v = new_var(ncid, "v", NC_INT, 1, &x);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_EPERM, ncmpi_redef(ncid));
    CHECK_NC(NC_EPERM, ncmpi_put_var_int_all(ncid, v, value));
    CHECK_NC(NC_EPERM, ncmpi_put_att_text(ncid, v, "a", 1, "b"));
    CHECK_NC(NC_EPERM, ncmpi_rename_var(ncid, v, "u"));
    CHECK_NC(NC_EPERM, ncmpi_rename_dim(ncid, x, "y"));
    CHECK(ncmpi_def_dim(ncid, "z", 1, &id) != NC_NOERR);
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, v, value));
    close_dataset(ncid);
}

static void two_formats_at_once_are_refused(void)
{
    int ncid = -1;
    CHECK_NC(NC_EINVAL_CMODE,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                          NC_64BIT_OFFSET | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    CHECK(access(check_path("a.nc"), F_OK) != 0);
}

/* Returns a distinct path for each number. Every open dataset needs its own file, because
 * creating a file at an existing path would replace the file of the earlier dataset. */
static const char *one_of_many(int number)
{
    static char name[32];
    snprintf(name, sizeof name, "a%d.nc", number);
    return check_path(name);
}

/* Creates datasets until MPI or the system runs out of resources. The create call that
 * fails must return an error, and the datasets already open must remain usable. `spare`
 * communicators are created in advance; their number determines which call fails
 * first. */
static void as_many_as_can_be_had(int spare)
{
    enum { MOST = 2100 };
    static int ncids[MOST];
    MPI_Comm others[2];
    int n = 0, value = 7, back, err = NC_NOERR;
    for (int i = 0; i < spare; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &others[i]);
    while (n < MOST && err == NC_NOERR) {
        err = ncmpi_create(MPI_COMM_WORLD, one_of_many(n), check.cmode, MPI_INFO_NULL,
                           &ncids[n]);
        if (err == NC_NOERR) n++;
    }
    CHECK(n > 100);
    if (err != NC_NOERR) CHECK(err == NC_ENFILE || err == NC_EFILE);
    int v = new_var(ncids[n - 1], "v", NC_INT, 0, NULL);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncids[n - 1]));
    CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(ncids[n - 1], v, &value));
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncids[n - 1], v, &back));
    CHECK_EQ(value, back);
    for (int i = n - 1; i >= 0; i--)
        CHECK_NC(NC_NOERR, ncmpi_close(ncids[i]));
    for (int i = 0; i < spare; i++)
        MPI_Comm_free(&others[i]);
}

static void too_many_files_are_an_error(void)
{
    const char *hints = getenv("PNETCDF_HINTS");
    if (hints != NULL && strstr(hints, "nc_transfer=view") != NULL) {
        check_skip("a view takes another communicator, when the first values move");
        return;
    }
    for (int spare = 0; spare <= 2; spare++)
        as_many_as_can_be_had(spare);
}

static const struct check_test tests[] = {
    {"NOCLOBBER refuses an existing file", noclobber_refuses_an_existing_file,
     CHECK_FORMATS},
    {"CLOBBER empties an existing file", clobber_empties_an_existing_file, CHECK_FORMATS},
    {"CLOBBER through a link keeps the link", clobber_through_a_link_keeps_the_link,
     CHECK_FORMATS},
    {"opening a missing file fails", opening_a_missing_file_fails, CHECK_FORMATS},
    {"creating below a missing directory fails", creating_below_a_missing_directory_fails,
     CHECK_FORMATS},
    {"a file-system prefix is stripped", a_file_system_prefix_is_stripped, CHECK_FORMATS},
    {"a colon in a name is kept", a_colon_in_a_name_is_kept, CHECK_FORMATS},
    {"communicator and info may be freed", communicator_and_info_may_be_freed,
     CHECK_FORMATS},
    {"one process may open its own file", one_process_may_open_its_own_file,
     CHECK_FORMATS},
    {"many files are open at once", many_files_are_open_at_once, 0},
    {"too many files are an error", too_many_files_are_an_error, 0},
    {"a closed id is invalid", a_closed_id_is_invalid, CHECK_FORMATS},
    {"close in define mode completes the definitions",
     close_in_define_mode_completes_the_definitions, CHECK_FORMATS},
    {"close reports pending requests", close_reports_pending_requests, CHECK_FORMATS},
    {"abort removes a new file", abort_removes_a_new_file, CHECK_FORMATS},
    {"abort after redef restores the file", abort_after_redef_restores_the_file,
     CHECK_FORMATS},
    {"abort in data mode keeps the file", abort_in_data_mode_keeps_the_file,
     CHECK_FORMATS},
    {"delete removes a file", delete_removes_a_file, CHECK_FORMATS},
    {"a file opened to read cannot be changed", a_file_opened_to_read_cannot_be_changed,
     CHECK_FORMATS},
    {"two formats at once are refused", two_formats_at_once_are_refused, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 4");
}
