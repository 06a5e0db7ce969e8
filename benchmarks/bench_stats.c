/* Reports the library's own statistics (option -c). The library stores them in the info
 * object of a dataset that was opened with nc_statistics=enable. Other libraries have no
 * statistics, so nothing is reported for them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const char prefix[] = "nc_stat_";
enum { PREFIX = sizeof prefix - 1 };

/* Returns the hints for a dataset, which the caller must free. Returns MPI_INFO_NULL if
 * no statistics were requested. */
MPI_Info bench_stats_hints(const struct bench *b)
{
    MPI_Info info = MPI_INFO_NULL;
    if (!b->options.stats) return info;
    bench_need_mpi(MPI_Info_create(&info), "MPI_Info_create");
    bench_need_mpi(MPI_Info_set(info, "nc_statistics", "enable"), "MPI_Info_set");
    return info;
}

static int64_t value_of(MPI_Info info, const char *key)
{
    char text[MPI_MAX_INFO_VAL + 1] = "";
    int there;
    bench_need_mpi(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &there), key);
    return strtoll(text, NULL, 10);
}

int64_t bench_stat(int ncid, const char *key)
{
    MPI_Info info;
    bench_need(ncmpi_inq_file_info(ncid, &info), "ncmpi_inq_file_info");
    int64_t value = value_of(info, key);
    bench_need_mpi(MPI_Info_free(&info), "MPI_Info_free");
    return value;
}

void bench_stats_read(const struct bench *b, int ncid, struct bench_stats *s)
{
    MPI_Info info;
    int nkeys;
    *s = (struct bench_stats){0};
    if (!b->options.stats) return;
    bench_need(ncmpi_inq_file_info(ncid, &info), "ncmpi_inq_file_info");
    bench_need_mpi(MPI_Info_get_nkeys(info, &nkeys), "MPI_Info_get_nkeys");
    for (int i = 0; i < nkeys; i++) {
        char key[MPI_MAX_INFO_KEY + 1];
        bench_need_mpi(MPI_Info_get_nthkey(info, i, key), "MPI_Info_get_nthkey");
        if (strncmp(key, prefix, PREFIX) != 0) continue;
        if (s->n == BENCH_STATS) bench_stop("more counts than room", key);
        snprintf(s->names[s->n], sizeof s->names[0], "%.*s", BENCH_STAT_NAME - 1,
                 key + PREFIX);
        s->values[s->n++] = value_of(info, key);
    }
    bench_need_mpi(MPI_Info_free(&info), "MPI_Info_free");
}

/* The keys and their order are the same on all processes and in every call. */
void bench_stats_report(struct bench *b, int ncid, const struct bench_stats *before,
                        const char *op, const char *variant)
{
    struct bench_stats s;
    int64_t sum[BENCH_STATS], most[BENCH_STATS];
    bench_stats_read(b, ncid, &s);
    if (s.n == 0) return;
    for (int i = 0; i < s.n; i++)
        s.values[i] -= before->n > 0 ? before->values[i] : 0;
    MPI_Reduce(s.values, sum, s.n, MPI_INT64_T, MPI_SUM, 0, b->comm);
    MPI_Reduce(s.values, most, s.n, MPI_INT64_T, MPI_MAX, 0, b->comm);
    for (int i = 0; i < s.n && b->rank == 0; i++)
        if (sum[i] != 0)
            bench_print(b, "count", op, "lib", variant, "%s\t%lld\t%lld", s.names[i],
                        (long long)most[i], (long long)sum[i]);
}
