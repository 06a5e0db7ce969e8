/* Implements burst_plan.h. */
#define _GNU_SOURCE
#include "burst_plan.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pnetcdf.h"

struct path path_of(const char *name)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    struct path p;
    pthread_mutex_lock(&one);
    snprintf(p.text, sizeof p.text, "%s", check_path(name));
    pthread_mutex_unlock(&one);
    return p;
}

MPI_Info hints_of(const char *hints)
{
    MPI_Info info = check_info(hints);
    if (strstr(hints, "nc_burst_buf=") == NULL)
        MPI_Info_set(info, "nc_burst_buf", "enable");
    MPI_Info_set(info, "nc_burst_buf_dirname", path_of("").text);
    return info;
}

const char deferred[] = "nc_deferred_close=enable";

int plan_create(const struct plan *p, int *ncid)
{
    int dims[2], v, nprocs;
    struct path own = path_of(p->name);
    const char *path = strchr(p->name, '/') == NULL ? own.text : p->name;
    MPI_Info info = hints_of(p->hints);
    int rc = ncmpi_create(p->comm, path, check.cmode, info, ncid);
    MPI_Info_free(&info);
    if (rc != NC_NOERR) return rc;
    MPI_Comm_size(p->comm, &nprocs);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(*ncid, "t", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(*ncid, "x", (MPI_Offset)N * nprocs, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(*ncid, "f", NC_INT, 1, &dims[1], &v));
    CHECK_NC(NC_NOERR, ncmpi_def_var(*ncid, "r", NC_INT, 2, dims, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(*ncid));
    return NC_NOERR;
}

int plan_value(int seed, int var, int record, int64_t x)
{
    return (int)(seed * 1000000 + var * 100000 + record * 10000 + x);
}

/* Puts this process's part of a record, or of the fixed-size variable if `record` is
 * -1. */
static void put(const struct plan *p, int ncid, int record)
{
    int values[N], rank;
    MPI_Comm_rank(p->comm, &rank);
    MPI_Offset start[2] = {record, (MPI_Offset)rank * N}, count[2] = {1, N};
    int var = record >= 0, skip = 1 - var;
    for (int i = 0; i < N; i++)
        values[i] = plan_value(p->seed, var, record, start[1] + i);
    CHECK_NC(NC_NOERR,
             check.collective
                 ? ncmpi_put_vara_int_all(ncid, var, start + skip, count + skip, values)
                 : ncmpi_put_vara_int(ncid, var, start + skip, count + skip, values));
}

void plan_put(const struct plan *p, int ncid)
{
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    for (int record = -1; record < RECORDS; record++)
        put(p, ncid, record);
}

int plan_make(const struct plan *p)
{
    int ncid;
    int rc = plan_create(p, &ncid);
    if (rc != NC_NOERR) return rc;
    plan_put(p, ncid);
    return ncmpi_close(ncid);
}

/* ---- checks ---- */

int64_t plan_big_endian(const unsigned char *b, int n)
{
    int64_t value = 0;
    for (int i = 0; i < n; i++)
        value = value << 8 | b[i];
    return value;
}

bool plan_is_complete(const char *path, int seed, int nprocs, int64_t begin)
{
    static unsigned char bytes[1 << 20];
    FILE *f = fopen(path, "rb");
    size_t n = f == NULL ? 0 : fread(bytes, 1, sizeof bytes, f);
    int64_t wrong = 0, x = (int64_t)N * nprocs;
    if (f != NULL) fclose(f);
    if ((int64_t)n < begin + 4 * x * (1 + RECORDS)) return false;
    if (plan_big_endian(bytes + 4, check.format == 5 ? 8 : 4) != RECORDS) return false;
    for (int record = -1; record < RECORDS; record++)
        for (int64_t i = 0; i < x; i++)
            wrong += plan_big_endian(bytes + begin + 4 * ((record + 1) * x + i), 4) !=
                     plan_value(seed, record >= 0, record, i);
    return wrong == 0;
}

int64_t plan_first_byte(void)
{
    MPI_Offset begin = 0;
    int ncid;
    const struct plan p = {MPI_COMM_SELF, "probe", "x=y", 0};
    char name[30];
    snprintf(name, sizeof name, "probe.%d", check.rank);
    CHECK_NC(NC_NOERR, plan_create(&(struct plan){p.comm, name, p.hints, 0}, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, 0, &begin));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    return begin;
}

void plan_is_there(const char *name, int seed, int nprocs)
{
    int64_t begin = plan_first_byte();
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(plan_is_complete(check_path(name), seed, nprocs, begin));
    MPI_Barrier(MPI_COMM_WORLD);
}

int plan_count_logs(const char *name)
{
    int n = 0;
    size_t length = strlen(name);
    DIR *dir = opendir(check_path(""));
    if (dir == NULL) return -1;
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        n += strncmp(e->d_name, name, length) == 0 && strstr(e->d_name, ".meta") != NULL;
    closedir(dir);
    return n;
}

void plan_logs_are(const char *name, bool there)
{
    MPI_Barrier(MPI_COMM_WORLD);
    int n = plan_count_logs(name);
    CHECK(n >= 0 && there == (n > 0));
    MPI_Barrier(MPI_COMM_WORLD);
}

void plan_read_back(const struct plan *p)
{
    int ncid, values[N], rank, wrong = 0;
    MPI_Comm_rank(p->comm, &rank);
    CHECK_NC(NC_NOERR,
             ncmpi_open(p->comm, check_path(p->name), NC_NOWRITE, MPI_INFO_NULL, &ncid));
    for (int record = -1; record < RECORDS; record++) {
        MPI_Offset start[2] = {record, (MPI_Offset)rank * N}, count[2] = {1, N};
        int var = record >= 0, skip = 1 - var;
        CHECK_NC(NC_NOERR,
                 ncmpi_get_vara_int_all(ncid, var, start + skip, count + skip, values));
        for (int i = 0; i < N; i++)
            wrong += values[i] != plan_value(p->seed, var, record, start[1] + i);
    }
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}
