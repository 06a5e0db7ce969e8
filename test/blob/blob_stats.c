/* Tests that statistics and traces of a dataset in subfiles show how much was written to
 * which file. */
#include <stdlib.h>
#include <string.h>

#include "../api/made_dataset.h"
#include "../driver/counts.h"
#include "base_compress.h"
#include "base_sum.h"

enum { N = 37 };

struct scene {
    int ncid, shared, single, gaps;
};

/* Creates the dataset. put_all puts `single`, and the last element of `gaps`, only on
 * process 0. */
static struct scene define(const char *const hints[][2], int n)
{
    struct scene s = {.ncid = -1};
    MPI_Info info = check_info("nc_blob=enable;nc_num_subfiles=2;nc_statistics=enable");
    for (int i = 0; i < n; i++)
        MPI_Info_set(info, hints[i][0], hints[i][1]);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("s.nc"),
                                    NC_CLOBBER | check.cmode, info, &s.ncid));
    MPI_Info_free(&info);
    int all = new_dim(s.ncid, "all", N * check.nprocs), one = new_dim(s.ncid, "one", N);
    int more = new_dim(s.ncid, "more", N * check.nprocs + 1);
    s.shared = new_var(s.ncid, "shared", NC_INT, 1, &all);
    s.single = new_var(s.ncid, "single", NC_DOUBLE, 1, &one);
    s.gaps = new_var(s.ncid, "gaps", NC_SHORT, 1, &more);
    CHECK_NC(NC_NOERR, ncmpi_enddef(s.ncid));
    return s;
}

static void put_all(const struct scene *s)
{
    int values[N + 1] = {0};
    MPI_Offset start = N * check.rank, count = N, none = 0, last = N * check.nprocs,
               one = 1;
    bool first = check.rank == 0;
    CHECK_NC(NC_NOERR,
             ncmpi_put_vara_int_all(s->ncid, s->shared, &start, &count, values));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(s->ncid, s->single, &none,
                                              first ? &count : &none, values));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(s->ncid, s->gaps, &start, &count, values));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(s->ncid, s->gaps, &last,
                                              first ? &one : &none, values));
}

static void bytes_are_counted_by_destination(void)
{
    struct scene s = define(NULL, 0);
    int values[N];
    MPI_Offset start = N * check.rank, count = N;
    bool first = check.rank == 0;
    put_all(&s);
    CHECK_EQ((4 + 2) * N, count_of(s.ncid, "blob_put_bytes"));
    CHECK_EQ(first ? 8 * N + 2 : 0, count_of(s.ncid, "blob_master_put_bytes"));
    CHECK_EQ(2, count_of(s.ncid, "blob_subfiles"));
    CHECK_EQ(2, count_of(s.ncid, "blob_decompositions"));
    /* If a blob has a single run, its map consists of the number of runs, the blob's
     * first element and element count, the map's checksum, and the run's offset and
     * length. */
    CHECK_EQ(2 * (4 + 8 + 8 + 8 + 4 + 4), count_of(s.ncid, "blob_map_bytes"));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(s.ncid, s.shared, &start, &count, values));
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(s.ncid, s.single, values));
    CHECK_EQ(4 * N, count_of(s.ncid, "blob_get_bytes"));
    CHECK_EQ(8 * N, count_of(s.ncid, "blob_master_get_bytes"));
    CHECK_NC(NC_NOERR, ncmpi_close(s.ncid));
}

/* Returns the contents of a file, terminated by a null byte. The caller must free
 * them. */
static char *text_of(const char *path)
{
    size_t length = 0;
    char *text = (char *)check_read_file(path, &length);
    if (text != NULL) text[length] = '\0'; /* check_read_file allocates an extra byte */
    return text;
}

/* Returns the first number after `what`, or -1 if there is none. */
static long long number_behind(const char *text, const char *what)
{
    const char *at = text == NULL ? NULL : strstr(text, what);
    return at == NULL ? -1 : strtoll(at + strlen(what), NULL, 10);
}

static void a_trace_counts_the_bytes_of_subfiles(void)
{
    char name[4096];
    snprintf(name, sizeof name, "%s", check_path("t.json"));
    const char *const hint[][2] = {{"nc_trace", name}};
    struct scene s = define(hint, 1);
    put_all(&s);
    CHECK_NC(NC_NOERR, ncmpi_close(s.ncid));
    if (check.rank != 0) return;
    char *text = text_of(name);
    long long sum = 0;
    /* Parts have lines of their own, or are listed in the lines of their calls. */
    for (char *at = text; at != NULL && (at = strstr(at, "\"subfiles\"")) != NULL; at++) {
        char *end = strchr(at, '}'), *bytes = strstr(at, "\"bytes\":");
        if (bytes != NULL && bytes < end) sum += number_behind(bytes, ":");
    }
    /* The last element of `gaps` is looked up in the subfiles, but none has it. */
    CHECK_EQ((4LL + 2) * N * check.nprocs + 2, sum);
    free(text);
}

static void compression_is_reported_for_each_variable(void)
{
    char report[1000], trace[1000];
    const char *const hints[][2] = {
        {"nc_compress", "zstd@shared"}, {"nc_report", report}, {"nc_trace", trace}};
    if (!base_has_codec(BASE_CODEC_ZSTD) || !base_can_sum()) {
        check_skip("nothing is compressed in this build");
        return;
    }
    snprintf(report, sizeof report, "%s", check_path("report.txt"));
    snprintf(trace, sizeof trace, "%s", check_path("%r.json"));
    struct scene s = define(hints, 3);
    put_all(&s);
    CHECK_NC(NC_NOERR, ncmpi_close(s.ncid));
    if (check.rank != 0) return;
    char *text = text_of(report), *own = text_of(check_path("0.json"));
    CHECK_EQ(4LL * N * check.nprocs, number_behind(text, "\nshared "));
    CHECK_EQ(-1, number_behind(text, "\ngaps "));
    const char *note = own == NULL ? NULL : strstr(own, "\"name\":\"frames\"");
    CHECK_EQ(4LL * N, number_behind(note, "\"var\":0,\"values\":"));
    long long frames = number_behind(note, "\"frames\":");
    CHECK(frames > 0 && frames < 2LL * N);
    free(text);
    free(own);
}

static const struct check_test tests[] = {
    {"bytes are counted by destination", bytes_are_counted_by_destination, CHECK_SEVERAL},
    {"a trace counts the bytes of subfiles", a_trace_counts_the_bytes_of_subfiles,
     CHECK_SEVERAL},
    {"compression is reported for each variable",
     compression_is_reported_for_each_variable, CHECK_SEVERAL},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "2 3");
}
