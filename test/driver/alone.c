/* Tests that each independent function returns when only one process calls it, in each
 * mode and with each driver. Meanwhile the other processes wait in a barrier, where they
 * make no library calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pnetcdf.h"

enum { X = 12, RECORDS = 3 };

static const char *const ways[] = {
    "nc_report=0",
    "nc_transfer=view",
    "romio_no_indep_rw=true",
    "nc_burst_buf=enable",
    "nc_burst_buf=enable;nc_burst_buf_log_at=post;nc_burst_buf_shared_logs=enable",
    "nc_burst_buf=enable;nc_burst_buf_flush=flush_immediate",
    "nc_burst_buf=enable;romio_no_indep_rw=true",
    "nc_burst_buf=enable;nc_burst_buf_log_at=post;romio_no_indep_rw=true",
    "e10_cache=coherent",
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static int ncid, fixed, record;
static int values[RECORDS * X], back[RECORDS * X];
static int id;
static const MPI_Offset start[2] = {1, 2}, count[2] = {2, 3}, stride[2] = {1, 2},
                        imap[2] = {3, 1};
static MPI_Offset one[2] = {0, 5}, two[2] = {2, 7}, *starts[] = {one, two};

/* ---- functions ---- */

static int put_var1(void)
{
    return ncmpi_put_var1_int(ncid, record, start, values);
}

static int put_vara(void)
{
    return ncmpi_put_vara_int(ncid, record, start, count, values);
}

static int put_vars(void)
{
    return ncmpi_put_vars_int(ncid, record, start, count, stride, values);
}

static int put_varm(void)
{
    return ncmpi_put_varm_int(ncid, record, start, count, stride, imap, values);
}

static int put_varn(void)
{
    return ncmpi_put_varn_int(ncid, record, 2, starts, NULL, values);
}

static int put_var(void)
{
    return ncmpi_put_var_int(ncid, fixed, values);
}

static int put_converted(void)
{
    double value = 7;
    return ncmpi_put_var1_double(ncid, fixed, start, &value);
}

static MPI_Datatype file_type(void)
{
    MPI_Datatype type;
    MPI_Type_vector(3, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

static int put_vard(void)
{
    MPI_Datatype type = file_type();
    int rc = ncmpi_put_vard(ncid, fixed, type, values, 3, MPI_INT);
    MPI_Type_free(&type);
    return rc;
}

static int get_var1(void)
{
    return ncmpi_get_var1_int(ncid, record, start, back);
}

static int get_vara(void)
{
    return ncmpi_get_vara_int(ncid, record, start, count, back);
}

static int get_vars(void)
{
    return ncmpi_get_vars_int(ncid, record, start, count, stride, back);
}

static int get_varm(void)
{
    return ncmpi_get_varm_int(ncid, record, start, count, stride, imap, back);
}

static int get_varn(void)
{
    return ncmpi_get_varn_int(ncid, record, 2, starts, NULL, back);
}

static int get_var(void)
{
    return ncmpi_get_var_int(ncid, fixed, back);
}

static int get_converted(void)
{
    double all[X];
    return ncmpi_get_var_double(ncid, fixed, all);
}

static int get_vard(void)
{
    MPI_Datatype type = file_type();
    int rc = ncmpi_get_vard(ncid, fixed, type, back, 3, MPI_INT);
    MPI_Type_free(&type);
    return rc;
}

static int iput(void)
{
    return ncmpi_iput_vara_int(ncid, record, start, count, values, &id);
}

static int iput_varn(void)
{
    return ncmpi_iput_varn_int(ncid, record, 2, starts, NULL, values, &id);
}

static int iget(void)
{
    return ncmpi_iget_var_int(ncid, fixed, back, &id);
}

static int bput(void)
{
    return ncmpi_bput_vara_int(ncid, record, start, count, values, &id);
}

static int wait_last(void)
{
    int status = NC_NOERR, rc = ncmpi_wait(ncid, 1, &id, &status);
    return rc != NC_NOERR ? rc : status;
}

static int wait_any(void)
{
    return ncmpi_wait(ncid, NC_REQ_ALL, NULL, NULL);
}

static int cancel_last(void)
{
    int status = NC_NOERR, rc = ncmpi_cancel(ncid, 1, &id, &status);
    return rc != NC_NOERR ? rc : status;
}

static int cancel_any(void)
{
    return ncmpi_cancel(ncid, NC_REQ_ALL, NULL, NULL);
}

static int attach(void)
{
    return ncmpi_buffer_attach(ncid, 1000);
}

static int detach(void)
{
    return ncmpi_buffer_detach(ncid);
}

static int sync_file(void)
{
    return ncmpi_sync(ncid);
}

static int flush_file(void)
{
    return ncmpi_flush(ncid);
}

static int first_error(const int *rcs, int n)
{
    for (int i = 0; i < n; i++)
        if (rcs[i] != NC_NOERR) return rcs[i];
    return NC_NOERR;
}

static int inquire_definitions(void)
{
    int n, other, dims[2], natts;
    char name[NC_MAX_NAME + 1];
    nc_type type;
    MPI_Offset length;
    const int rcs[] = {
        ncmpi_inq(ncid, &n, &n, &n, &n),
        ncmpi_inq_version(ncid, &n),
        ncmpi_inq_format(ncid, &n),
        ncmpi_inq_dimid(ncid, "t", &n),
        ncmpi_inq_dim(ncid, 0, name, &length),
        ncmpi_inq_varid(ncid, "r", &n),
        ncmpi_inq_var(ncid, record, name, &type, &other, dims, &natts),
        ncmpi_inq_var_fill(ncid, record, &n, &other),
        ncmpi_inq_att(ncid, NC_GLOBAL, "a", &type, &length),
        ncmpi_get_att_text(ncid, NC_GLOBAL, "a", name),
        ncmpi_inq_num_fix_vars(ncid, &n),
        ncmpi_inq_num_rec_vars(ncid, &n),
    };
    return first_error(rcs, sizeof rcs / sizeof rcs[0]);
}

static int inquire_file(void)
{
    MPI_Offset length;
    MPI_Info info = MPI_INFO_NULL;
    char path[2000];
    int n;
    const int rcs[] = {
        ncmpi_inq_path(ncid, &n, NULL),
        ncmpi_inq_path(ncid, NULL, path),
        ncmpi_inq_nreqs(ncid, &n),
        ncmpi_inq_put_size(ncid, &length),
        ncmpi_inq_get_size(ncid, &length),
        ncmpi_inq_header_size(ncid, &length),
        ncmpi_inq_header_extent(ncid, &length),
        ncmpi_inq_recsize(ncid, &length),
        ncmpi_inq_varoffset(ncid, fixed, &length),
        ncmpi_inq_striping(ncid, &n, &n),
        ncmpi_inq_file_info(ncid, &info),
        ncmpi_inq_malloc_size(&length),
        ncmpi_inq_file_format(check_path("a.nc"), &n),
    };
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    return first_error(rcs, sizeof rcs / sizeof rcs[0]);
}

static int inquire_buffer(void)
{
    MPI_Offset bytes;
    const int rcs[] = {ncmpi_inq_buffer_usage(ncid, &bytes),
                       ncmpi_inq_buffer_size(ncid, &bytes)};
    return first_error(rcs, 2);
}

/* ---- the calls, in order, with the modes in which they are valid ---- */

enum { DEFINING = 1, TOGETHER = 2, INDEP = 4, ANY = 7, DATA = 6 };

#define CALL(function, modes)                                                            \
    {                                                                                    \
#function, function, modes                                                       \
    }
static const struct {
    const char *name;
    int (*call)(void);
    int modes;
} calls[] = {
    CALL(inquire_definitions, ANY),
    CALL(inquire_file, DATA),
    CALL(put_var1, INDEP),
    CALL(put_vara, INDEP),
    CALL(sync_file, INDEP),
    CALL(put_vars, INDEP),
    CALL(put_varm, INDEP),
    CALL(flush_file, INDEP),
    CALL(put_varn, INDEP),
    CALL(put_var, INDEP),
    CALL(put_converted, INDEP),
    CALL(put_vard, INDEP),
    CALL(get_var1, INDEP),
    CALL(get_vara, INDEP),
    CALL(get_vars, INDEP),
    CALL(get_varm, INDEP),
    CALL(get_varn, INDEP),
    CALL(get_var, INDEP),
    CALL(get_converted, INDEP),
    CALL(get_vard, INDEP),
    CALL(iput, ANY),
    CALL(inquire_file, DATA),
    CALL(cancel_last, ANY),
    CALL(iput, ANY),
    CALL(wait_last, INDEP),
    CALL(iput_varn, ANY),
    CALL(iget, ANY),
    CALL(wait_any, INDEP),
    CALL(cancel_any, ANY),
    CALL(attach, ANY),
    CALL(bput, ANY),
    CALL(inquire_buffer, ANY),
    CALL(wait_last, INDEP),
    CALL(cancel_any, ANY),
    CALL(detach, ANY),
    CALL(put_vara, INDEP),
    CALL(sync_file, INDEP),
    CALL(get_vara, INDEP),
    CALL(flush_file, INDEP),
};
enum { CALLS = sizeof calls / sizeof calls[0] };

static void call_alone(int mode, int who, const char *way)
{
    for (int i = 0; i < CALLS; i++) {
        if (!(calls[i].modes & mode)) continue;
        if (check.rank == who && !CHECK_NC(NC_NOERR, calls[i].call()))
            printf("# %s in mode %d, %s\n", calls[i].name, mode, way);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* ---- the dataset ---- */

static MPI_Info info_with(const char *way)
{
    MPI_Info info;
    char dir[1000], hints[300], *rest = hints, *hint;
    snprintf(dir, sizeof dir, "%s", check_path(""));
    snprintf(hints, sizeof hints, "%s", way);
    MPI_Info_create(&info);
    MPI_Info_set(info, strncmp(way, "e10", 3) ? "nc_burst_buf_dirname" : "e10_cache_path",
                 dir);
    while ((hint = strtok_r(rest, ";", &rest)) != NULL) {
        char *value = strchr(hint, '=');
        *value = '\0';
        MPI_Info_set(info, hint, value + 1);
    }
    return info;
}

static void define(void)
{
    int dims[2];
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", X, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "f", NC_INT, 1, dims + 1, &fixed));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "r", NC_INT, 2, dims, &record));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "a", 3, "abc"));
}

/* Puts all elements of both variables. Collective. */
static void put_all(void)
{
    const MPI_Offset origin[2] = {0}, edges[2] = {check.rank == 0 ? RECORDS : 0, X};
    for (int i = 0; i < RECORDS * X; i++)
        values[i] = i;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, record, origin, edges, values));
    CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(ncid, fixed, values));
    CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
}

/* Checks on all processes that the variables have the values that the single process put
 * last. */
static void look(void)
{
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, record, start, count, back));
    CHECK_BYTES(values, back, 6 * sizeof back[0]);
}

static void all_modes(const char *way, int who)
{
    MPI_Info info = info_with(way);
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    define();
    call_alone(DEFINING, who, way);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    put_all();
    call_alone(TOGETHER, who, way);
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    call_alone(INDEP, who, way);
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    look();
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void one_process_may_make_every_independent_call(void)
{
    for (int i = 0; i < WAYS; i++)
        for (int who = 0; who < check.nprocs; who++)
            all_modes(ways[i], who);
}

static const struct check_test tests[] = {
    {"one process may make every independent call",
     one_process_may_make_every_independent_call, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "2 3");
}
