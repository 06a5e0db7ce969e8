/* Tests that a hint which has no effect is reported, with the reason: at close on process
 * 0's standard error, in the report and, if it is known by then, by ncmpi_inq_file_info.
 * A hint that has an effect is not reported. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "made_dataset.h"

enum { X = 96 };

/* Actions of a program on its dataset. */
enum act { PUT = 1, INDEPENDENT = 2, READ = 4, CHANGE = 8, RECORDS = 16, NETCDF4 = 32 };

static void put_values(int ncid, int varid, unsigned acts)
{
    MPI_Offset start[2] = {0, X * check.rank}, count[2] = {1, X};
    double values[X];
    const bool records = (acts & RECORDS) != 0;
    for (int i = 0; i < X; i++)
        values[i] = (double)check_random_own(UINT64_MAX) * 1.7e-9;
    if (acts & INDEPENDENT) {
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        CHECK_NC(NC_NOERR, ncmpi_put_vara_double(ncid, varid, start + !records,
                                                 count + !records, values));
        CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    } else if (acts & PUT) {
        CHECK_NC(NC_NOERR, ncmpi_put_vara_double_all(ncid, varid, start + !records,
                                                     count + !records, values));
    }
}

/* Returns what ncmpi_inq_file_info says about hints without effect. */
static void get_unused(int ncid, char *text)
{
    MPI_Info info = MPI_INFO_NULL;
    int found = 0;
    text[0] = '\0';
    CHECK_NC(NC_NOERR, ncmpi_inq_file_info(ncid, &info));
    MPI_Info_get(info, "nc_unused_hints", MPI_MAX_INFO_VAL, text, &found);
    MPI_Info_free(&info);
}

static int open_with(const char *name, unsigned acts, const char *hints)
{
    int ncid = -1;
    MPI_Info info = stack_info(hints);
    if (acts & (READ | CHANGE))
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path(name),
                                      acts & READ ? NC_NOWRITE : NC_WRITE, info, &ncid));
    else
        CHECK_NC(NC_NOERR,
                 ncmpi_create(MPI_COMM_WORLD, check_path(name),
                              NC_CLOBBER | (acts & NETCDF4 ? NC_NETCDF4 : check.cmode),
                              info, &ncid));
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    return ncid;
}

/* Opens or creates a dataset with hints, uses it, and closes it. Stores in `at_open` what
 * an inquiry says, and in `at_close` what the close prints. */
static void use(unsigned acts, const char *hints, char *at_open, char *at_close)
{
    static int number;
    char path[64], name[32];
    int varid = 0, kept;
    snprintf(name, sizeof name, "%d.nc", number++); /* each path is reported once */
    if (acts & (READ | CHANGE)) {
        int ncid = open_with(name, acts & RECORDS, ""),
            dim = new_dim(ncid, "x", X * check.nprocs);
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_DOUBLE, 1, &dim, &varid));
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        put_values(ncid, varid, PUT);
        close_dataset(ncid);
    }
    int ncid = open_with(name, acts, hints);
    if ((acts & (READ | CHANGE)) == 0) {
        int dims[2] = {-1, new_dim(ncid, "x", X * check.nprocs)};
        if (acts & RECORDS) dims[0] = new_dim(ncid, "t", NC_UNLIMITED);
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_DOUBLE, acts & RECORDS ? 2 : 1,
                                         dims + !(acts & RECORDS), &varid));
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    }
    get_unused(ncid, at_open);
    if (acts & READ) {
        MPI_Offset start = X * check.rank, count = X;
        double values[X];
        CHECK_NC(NC_NOERR, ncmpi_get_vara_double_all(ncid, 0, &start, &count, values));
    } else {
        put_values(ncid, varid, acts);
    }
    snprintf(path, sizeof path, "stderr%d", check.rank);
    fflush(stderr);
    kept = dup(2);
    CHECK(kept >= 0 && freopen(check_path(path), "w+", stderr) != NULL);
    int err = ncmpi_close(ncid);
    complete_closes();
    fflush(stderr);
    rewind(stderr);
    at_close[fread(at_close, 1, 1999, stderr)] = '\0';
    CHECK(dup2(kept, 2) == 2);
    close(kept);
    CHECK_NC(NC_NOERR, err);
}

/* For each hint, a use without effect and the reason (a part of it), whether the reason
 * is known when the dataset is open, and a use with effect. */
static const struct {
    const char *hint, *hints;
    unsigned acts;
    const char *reason;
    bool early;
    const char *good_hints;
    unsigned good_acts;
} rows[] = {
    {"nc_header_align_size", "nc_header_align_size=2048", CHANGE,
     "no variable was defined", false, "nc_header_align_size=2048", PUT},
    {"nc_header_align_size", "nc_header_align_size=2048;nc_var_align_size=64", PUT,
     "nc_var_align_size takes precedence", true, NULL, 0},
    {"nc_var_align_size", "nc_var_align_size=2048", READ, "no variable was defined",
     false, "nc_var_align_size=2048", PUT},
    {"nc_record_align_size", "nc_record_align_size=2048", PUT, "no record variables",
     false, "nc_record_align_size=2048", PUT | RECORDS},
    {"nc_header_read_chunk_size", "nc_header_read_chunk_size=64", PUT,
     "no header to read", true, "nc_header_read_chunk_size=64", READ},
    {"nc_data_move_chunk_size", "nc_data_move_chunk_size=77", READ, "opened for reading",
     true, "nc_data_move_chunk_size=77", CHANGE},
    {"nc_redef_wait_seconds", "nc_redef_wait_seconds=3", PUT, "new dataset", true,
     "nc_redef_wait_seconds=3", CHANGE},
    {"nc_ibuf_size", "nc_ibuf_size=4096", PUT, "nc_transfer=view", false, NULL, 0},
    {"nc_transfer", "nc_transfer=direct", INDEPENDENT, "no collective call", false,
     "nc_transfer=direct", PUT},
    {"nc_file_io", "nc_file_io=posix;romio_no_indep_rw=true", PUT, "through MPI-IO",
     false, "nc_file_io=posix", PUT},
    {"nc_short_file", "nc_short_file=error", PUT, "a new file", true,
     "nc_short_file=error", READ},
    {"cb_nodes", "cb_nodes=1;nc_transfer=direct", PUT, "between nodes", false, NULL, 0},
    {"nc_num_aggrs_per_node", "nc_num_aggrs_per_node=1;nc_transfer=direct", PUT,
     "between nodes", false, NULL, 0},
    {"nc_node_share_size", "nc_node_share_size=8192;nc_transfer=direct", PUT,
     "no transfer was joint", false, NULL, 0},
    {"nc_blob", "nc_blob=enable", CHANGE, "when the dataset is created", true,
     "nc_blob=enable", PUT},
    {"nc_blob", "nc_blob=enable", INDEPENDENT, "no values were put collectively", false,
     NULL, 0},
    {"nc_num_subfiles", "nc_num_subfiles=2", PUT, "nc_blob=enable", true,
     "nc_blob=enable;nc_num_subfiles=1", PUT},
    {"nc_num_subfiles", "nc_blob=enable;nc_num_subfiles=99", PUT, "fewer processes", true,
     NULL, 0},
    {"pnetcdf_subfiling", "pnetcdf_subfiling=enable", PUT, "nc_num_subfiles above 1",
     true, NULL, 0},
    {"nc_blob_checksums", "nc_blob_checksums=disable", PUT, "nc_blob=enable", true,
     "nc_blob=enable;nc_blob_checksums=disable", PUT},
    {"nc_blob_join", "nc_blob_join=close", PUT, "no subfiles", true,
     "nc_blob=enable;nc_blob_join=close", PUT},
    {"striping_unit", "striping_unit=65536", CHANGE, "keeps its stripes", false, NULL, 0},
    {"striping_factor", "striping_factor=3", READ, "keeps its stripes", false, NULL, 0},
    {"nc_quantize", "nc_quantize=bitround:9@none", PUT, "that it selects was defined",
     false, "nc_quantize=bitround:9", PUT},
    {"nc_compress", "nc_compress=lz4", PUT, "nc_blob=enable", true,
     "nc_blob=enable;nc_compress=lz4", PUT},
    {"nc_compress", "nc_blob=enable;nc_compress=lz4", INDEPENDENT,
     "no values of a variable that it selects were put collectively", false, NULL, 0},
    {"nc_chunk", "nc_chunk=v:2", PUT, "only netCDF-4 files have chunks", true, NULL, 0},
    {"nc_burst_buf", "nc_burst_buf=enable", READ, "opened for reading", true,
     "nc_burst_buf=enable;nc_burst_buf_dirname=%s", PUT},
    {"nc_burst_buf", "nc_burst_buf=enable;nc_burst_buf_dirname=/nonexistent/logs", PUT,
     "/nonexistent/logs", true, NULL, 0},
    {"nc_burst_buf", "nc_burst_buf=enable;nc_burst_buf_dirname=%s", 0,
     "no values were put into the log", false, NULL, 0},
    {"nc_burst_buf_dirname", "nc_burst_buf_dirname=/tmp", PUT, "nc_burst_buf=enable",
     true, "nc_burst_buf=enable;nc_burst_buf_dirname=%s", PUT},
    {"nc_burst_buf_del_on_close", "nc_burst_buf_del_on_close=disable", PUT,
     "nc_burst_buf=enable", true, NULL, 0},
    {"nc_burst_buf_flush_buffer_size", "nc_burst_buf_flush_buffer_size=999", PUT,
     "nc_burst_buf=enable", true, NULL, 0},
    {"nc_burst_buf_shared_logs", "nc_burst_buf_shared_logs=enable", PUT,
     "nc_burst_buf=enable", true, NULL, 0},
    {"nc_burst_buf_recover", "nc_burst_buf_recover=error", PUT, "nc_burst_buf=enable",
     true, NULL, 0},
    {"nc_burst_buf_flush", "nc_burst_buf_flush=flush_immediate", PUT,
     "nc_burst_buf=enable", true, NULL, 0},
    {"nc_burst_buf_flush",
     "nc_blob=enable;nc_burst_buf=enable;nc_burst_buf_dirname=%s;nc_burst_buf_flush="
     "flush_immediate",
     PUT, "has subfiles", true, NULL, 0},
    {"nc_burst_buf_log_at", "nc_burst_buf_log_at=post", PUT, "nc_burst_buf=enable", true,
     NULL, 0},
    {"nc_burst_buf_threads", "nc_burst_buf_threads=3", PUT, "nc_burst_buf=enable", true,
     NULL, 0},
    {"nc_burst_buf_delay", "nc_burst_buf_delay=3", PUT, "nc_burst_buf=enable", true, NULL,
     0},
    {"nc_burst_buf_bandwidth", "nc_burst_buf_bandwidth=99", PUT, "nc_burst_buf=enable",
     true, NULL, 0},
    {"nc_deferred_close", "nc_deferred_close=enable", PUT, "nc_burst_buf=enable", true,
     NULL, 0},
    {"e10_cache", "e10_cache=enable;e10_cache_path=/nonexistent/logs", PUT,
     "/nonexistent/logs", true, "e10_cache=enable;e10_cache_path=%s", PUT},
    {"e10_cache_path", "e10_cache_path=/tmp", PUT, "e10_cache=enable", true,
     "e10_cache=enable;e10_cache_path=%s", PUT},
    {"e10_cache_threads", "e10_cache_threads=2", READ, "e10_cache=enable", true, NULL, 0},
    {"nc_burst_buf_threads", "nc_burst_buf_threads=2;e10_cache=enable;e10_cache_path=%s",
     PUT, "take its place", true, NULL, 0},
    {"nc_stage", "nc_stage=enable", PUT, "only datasets that are opened for reading",
     true, "nc_stage=enable;nc_stage_dirname=%s", READ},
    {"nc_stage", "nc_stage=enable;nc_stage_dirname=/nonexistent/stage", READ,
     "/nonexistent/stage", true, NULL, 0},
    {"nc_stage_size", "nc_stage_size=4096", READ, "nc_stage=enable", true,
     "nc_stage=enable;nc_stage_dirname=%s;nc_stage_size=4096", READ},
    {"nc_in_place_swap", "nc_in_place_swap=enable", PUT, "accepted for compatibility",
     true, NULL, 0},
    {"nc_hash_size_gattr", "nc_hash_size_gattr=7", PUT, "accepted for compatibility",
     true, NULL, 0},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

#ifdef OPEN_MPI
enum { HAS_ROMIO = 0 };
#else
enum { HAS_ROMIO = 1 };
#endif

/* Returns whether a text reports the hint with this reason. */
static bool reports(const char *text, const char *before, const char *hint,
                    const char *between, const char *reason)
{
    char words[200];
    snprintf(words, sizeof words, "%s%s%s", before, hint, between);
    const char *at = strstr(text, words);
    return at != NULL && strstr(at, reason) != NULL;
}

static bool needs_burst(const char *hints)
{
    return strstr(hints, "burst_buf=enable") != NULL || strstr(hints, "e10_") != NULL ||
           strstr(hints, "burst_buf_dirname=%s") != NULL;
}

static void each_hint_without_effect_is_reported(void)
{
    char at_open[MPI_MAX_INFO_VAL + 1], at_close[2000];
    for (int i = 0; i < ROWS; i++) {
        if (!PNETCDF_BURST_BUFFERING && needs_burst(rows[i].hints)) continue;
        if (!HAS_ROMIO && strstr(rows[i].hints, "romio") != NULL) continue;
        use(rows[i].acts, rows[i].hints, at_open, at_close);
        /* Only the process that could not create a log or a stage knows the details. */
        const char *reason = check.rank == 0 ? rows[i].reason : "";
        bool early = reports(at_open, "", rows[i].hint, ": ", reason);
        bool late = reports(at_close, ": the hint ", rows[i].hint,
                            " has no effect: ", rows[i].reason);
        if (!CHECK(MPI_MAX_INFO_VAL < 500 || early == rows[i].early) ||
            !CHECK_EQ(check.rank == 0, late))
            printf("# %s: '%s', '%s'\n", rows[i].hints, at_open, at_close);
    }
}

static void a_hint_with_an_effect_is_not_reported(void)
{
    char at_open[MPI_MAX_INFO_VAL + 1], at_close[2000];
    for (int i = 0; i < ROWS; i++) {
        const char *hints = rows[i].good_hints;
        if (hints == NULL || (!PNETCDF_BURST_BUFFERING && needs_burst(hints))) continue;
        use(rows[i].good_acts, hints, at_open, at_close);
        if (!CHECK_STR("", at_open) || !CHECK_STR("", at_close)) printf("# %s\n", hints);
    }
}

static void a_default_is_not_a_request(void)
{
    char at_open[MPI_MAX_INFO_VAL + 1], at_close[2000];
    use(INDEPENDENT,
        "nc_blob=disable;nc_stage=auto;nc_burst_buf_threads=1;nc_compress=none", at_open,
        at_close);
    CHECK_STR("", at_open);
    CHECK_STR("", at_close);
}

static void nc_report_none_silences_the_close(void)
{
    char at_open[MPI_MAX_INFO_VAL + 1], at_close[2000];
    use(READ, "nc_blob=enable;nc_report=none", at_open, at_close);
    CHECK(strstr(at_open, "nc_blob: ") != NULL);
    CHECK_STR("", at_close);
}

/* A program that opens a dataset for each time step gets one line. */
static void a_dataset_and_a_hint_are_reported_once(void)
{
    char first[2000], again[2000], at_open[MPI_MAX_INFO_VAL + 1];
    use(PUT, "", at_open, first);
    int ncid = open_with("same.nc", PUT, "");
    close_dataset(ncid);
    for (int i = 0; i < 2; i++) {
        char *text = i == 0 ? first : again;
        int kept = dup(2);
        CHECK(freopen(check_path(check.rank == 0 ? "one" : "others"), "w+", stderr) !=
              NULL);
        ncid = open_with("same.nc", READ, "nc_blob=enable");
        close_dataset(ncid);
        fflush(stderr);
        rewind(stderr);
        text[fread(text, 1, 1999, stderr)] = '\0';
        CHECK(dup2(kept, 2) == 2);
        close(kept);
    }
    CHECK_EQ(check.rank == 0, strstr(first, "nc_blob has no effect") != NULL);
    CHECK_STR("", again);
}

static void the_report_names_them(void)
{
    char at_open[MPI_MAX_INFO_VAL + 1], at_close[2000], hints[200];
    snprintf(hints, sizeof hints, "nc_blob=enable;nc_report=%s", check_path("report"));
    use(READ, hints, at_open, at_close);
    if (check.rank != 0) return;
    size_t length = 0;
    unsigned char *text = check_read_file(check_path("report"), &length);
    CHECK(text != NULL &&
          memmem(text, length, "nc_blob has no effect: an existing", 34) != NULL);
    free(text);
}

static const struct check_test tests[] = {
    {"each hint without effect is reported", each_hint_without_effect_is_reported, 0},
    {"a hint with an effect is not reported", a_hint_with_an_effect_is_not_reported, 0},
    {"a default is not a request", a_default_is_not_a_request, 0},
    {"nc_report=none silences the close", nc_report_none_silences_the_close, 0},
    {"a dataset and a hint are reported once", a_dataset_and_a_hint_are_reported_once, 0},
    {"the report names them", the_report_names_them, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    unsetenv("PNETCDF_HINTS");
    return check_main(argc, argv, tests, "1 3");
}
