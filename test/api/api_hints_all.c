/* Tests every hint and environment variable in doc/hints.md: its default, its value when
 * set, which setting takes precedence, and the value that the library reports. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "made_dataset.h"

/* A hint's default value (`otherwise`), and the value that takes effect (`then`) when the
 * program sets the hint to `value`. */
static const struct known {
    const char *key, *otherwise, *value, *then;
} hints[] = {
    {"nc_header_align_size", "512", "1024", "1024"},
    {"nc_var_align_size", "512", "2048", "2048"},
    {"nc_record_align_size", "4", "64", "64"},
    {"nc_header_read_chunk_size", "262144", "16", "16"},
    {"nc_data_move_chunk_size", "4194304", "100", "100"},
    {"nc_redef_wait_seconds", "10", "3", "3"},
    {"nc_ibuf_size", "16777216", "4096", "4096"},
    {"nc_in_place_swap", "auto", "enable", "enable"},
    {"nc_in_place_swap", "auto", "disable", "disable"},
    {"nc_in_place_swap", "auto", "sometimes", "auto"},
    {"nc_hash_size_dim", "256", "64", "64"},
    {"nc_hash_size_var", "256", "64", "64"},
    {"nc_hash_size_gattr", "64", "16", "16"},
    {"nc_hash_size_vattr", "8", "16", "16"},
    {"nc_num_aggrs_per_node", "0", "2", "2"},
    {"nc_num_subfiles", "0", "4", "4"},
    {"pnetcdf_subfiling", "disable", "enable", "enable"},
    {"nc_blob", "disable", "enable", "enable"},
    {"nc_blob_checksums", "enable", "disable", "disable"},
    {"nc_driver", "mpiio", "gio", "mpiio"},
#ifdef OMPI_MAJOR_VERSION
    {"nc_transfer", "auto", "view", "auto"}, /* the method "view" would hide errors */
#else
    {"nc_transfer", "auto", "view", "view"},
#endif
    {"nc_transfer", "auto", "direct", "direct"},
    {"nc_transfer", "auto", "node", "node"},
    {"nc_transfer", "auto", "teleport", "auto"},
    {"nc_node_share_size", "262144", "4096", "4096"},
    {"nc_ibuf_size", "16777216", "-1", "16777216"},
    {"nc_record_align_size", "4", "many", "4"},
    {"nc_var_align_size", "512", "197", "200"}, /* rounded up to a multiple of 4 */
    {"nc_header_align_size", "512", "1", "4"},
};
enum { HINTS = sizeof hints / sizeof hints[0] };

static int create(const char *key, const char *value, int *ncid)
{
    MPI_Info info = MPI_INFO_NULL;
    if (key != NULL) {
        MPI_Info_create(&info);
        MPI_Info_set(info, key, value);
    }
    int rc = ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, ncid);
    if (key != NULL) MPI_Info_free(&info);
    return rc;
}

/* Writes two variables, adds definitions that move the records, closes and reopens the
 * dataset, and reads the values. */
static void live_through(int ncid, MPI_Info info)
{
    enum { N = 300 };
    int dims[2], values[N], back[N];
    dims[0] = new_dim(ncid, "t", NC_UNLIMITED);
    dims[1] = new_dim(ncid, "x", (MPI_Offset)N * check.nprocs);
    int v = new_var(ncid, "v", NC_INT, 2, dims),
        w = new_var(ncid, "w", NC_DOUBLE, 1, dims + 1);
    MPI_Offset start[2] = {0, (MPI_Offset)N * check.rank}, count[2] = {1, N};
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int i = 0; i < N; i++)
        values[i] = 1000 * check.rank + i;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, count, values));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, w, start + 1, count + 1, values));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    new_var(ncid, "u", NC_SHORT, 2, dims);
    new_var(ncid, "f", NC_SHORT, 1, dims + 1);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    close_dataset(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE, info, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, start, count, back));
    CHECK_BYTES(values, back, sizeof back);
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, w, start + 1, count + 1, back));
    CHECK_BYTES(values, back, sizeof back);
    close_dataset(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void each_hint_is_reported_and_changes_no_value(void)
{
    for (int i = 0; i < HINTS; i++) {
        MPI_Info info;
        int ncid = -1;
        CHECK_NC(NC_NOERR, create(NULL, NULL, &ncid));
        CHECK_STR(hints[i].otherwise, hint_in_force(ncid, hints[i].key));
        close_dataset(ncid);
        CHECK_NC(NC_NOERR, create(hints[i].key, hints[i].value, &ncid));
        if (!CHECK_STR(hints[i].then, hint_in_force(ncid, hints[i].key)))
            fprintf(stderr, "# %s\n", hints[i].key);
        MPI_Info_create(&info);
        MPI_Info_set(info, hints[i].key, hints[i].value);
        live_through(ncid, info);
        MPI_Info_free(&info);
    }
}

/* Unknown hints are accepted, have no effect and are not reported. */
static void hints_of_other_systems_are_accepted(void)
{
    static const char *const others[][2] = {{"file_striping", "inherit"},
                                            {"file_striping", "auto"},
                                            {"nc_ina_node_list", "somewhere"},
                                            {"striping_unit", "1048576"},
                                            {"cb_nodes", "1"},
                                            {"nobody_knows", "this"}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        int ncid = -1;
        CHECK_NC(NC_NOERR, create(others[i][0], others[i][1], &ncid));
        live_through(ncid, MPI_INFO_NULL);
    }
}

static void an_unknown_driver_is_refused(void)
{
    int ncid = -1;
    CHECK_NC(NC_EDRIVER, create("nc_driver", "steam", &ncid));
    for (int known = 0; known < 2; known++) {
        CHECK_NC(NC_NOERR, create("nc_driver", known ? "gio" : "mpiio", &ncid));
        close_dataset(ncid);
    }
}

/* ---- precedence ---- */

/* Calls ncmpi__enddef with the given alignments and returns the offsets of both
 * sections. */
static void sections(int ncid, MPI_Offset fixed_align, MPI_Offset record_align,
                     MPI_Offset *fixed, MPI_Offset *record)
{
    int t = new_dim(ncid, "t", NC_UNLIMITED), x = new_dim(ncid, "x", 3);
    int f = new_var(ncid, "f", NC_SHORT, 1, &x), r = new_var(ncid, "r", NC_SHORT, 1, &t);
    CHECK_NC(NC_NOERR, ncmpi__enddef(ncid, 0, fixed_align, 0, record_align));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, f, fixed));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, r, record));
}

static void PNETCDF_HINTS_overrides_info_which_overrides_arguments(void)
{
    static const struct {
        const char *info, *environment;
        MPI_Offset fixed;
    } known[] = {{NULL, NULL, 4096},
                 {"1024", NULL, 1024},
                 {NULL, "nc_var_align_size=8192", 8192},
                 {"1024", "nc_var_align_size=8192;nc_record_align_size=16384", 8192}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        MPI_Offset fixed, record;
        int ncid = -1;
        if (known[i].environment != NULL)
            CHECK_EQ(0, setenv("PNETCDF_HINTS", known[i].environment, 1));
        const char *key = known[i].info == NULL ? NULL : "nc_var_align_size";
        CHECK_NC(NC_NOERR, create(key, known[i].info, &ncid));
        sections(ncid, 4096, 512, &fixed, &record);
        CHECK_EQ(known[i].fixed, fixed);
        CHECK_EQ(i == 3 ? 16384 : fixed + 512, record);
        close_dataset(ncid);
        CHECK_EQ(0, unsetenv("PNETCDF_HINTS"));
    }
}

/* Within one source, the hint for the section takes precedence over the header's. A
 * source that takes precedence decides with either of them. */
static void the_alignment_of_the_first_source_applies(void)
{
    static const struct {
        const char *environment, *key, *value;
        MPI_Offset fixed;
    } cases[] = {
        {"nc_header_align_size=4096", "nc_var_align_size", "1024", 4096},
        {"nc_var_align_size=4096", "nc_header_align_size", "1024", 4096},
        {"nc_header_align_size=4096;nc_var_align_size=2048", "nc_var_align_size", "1024",
         2048},
        {"nc_var_align_size=2048;nc_header_align_size=4096", "nc_var_align_size", "1024",
         2048},
        {"nc_ibuf_size=512", "nc_var_align_size", "1024", 1024},
    };
    for (int i = 0; i < 5; i++) {
        MPI_Offset fixed, record;
        int ncid = -1;
        CHECK_EQ(0, setenv("PNETCDF_HINTS", cases[i].environment, 1));
        CHECK_NC(NC_NOERR, create(cases[i].key, cases[i].value, &ncid));
        CHECK_EQ(0, unsetenv("PNETCDF_HINTS"));
        sections(ncid, 0, 0, &fixed, &record);
        CHECK_EQ(cases[i].fixed, fixed);
        close_dataset(ncid);
    }
}

/* ---- environment variables ---- */

/* Creates a dataset and stores in `text` everything that this process prints to standard
 * error in the meantime. Returns the length of the text. */
static size_t complaints(char *text, size_t size)
{
    char path[64];
    int ncid = -1;
    snprintf(path, sizeof path, "stderr%d", check.rank);
    fflush(stderr);
    int kept = dup(2);
    CHECK(kept >= 0 && freopen(check_path(path), "w+", stderr) != NULL);
    int rc = create(NULL, NULL, &ncid);
    fflush(stderr);
    rewind(stderr);
    size_t length = fread(text, 1, size - 1, stderr);
    text[length] = '\0';
    CHECK(dup2(kept, 2) == 2);
    close(kept);
    CHECK_NC(NC_NOERR, rc);
    close_dataset(ncid);
    return length;
}

static void malformed_pairs_are_ignored_with_a_warning(void)
{
    static const char setting[] = "nc_ibuf_size=512 ;; nonsense; =5; empty=;"
                                  "\tnc_var_align_size=1024";
    char text[2000];
    int ncid = -1;
    CHECK_EQ(0, setenv("PNETCDF_HINTS", setting, 1));
    complaints(text, sizeof text);
    CHECK_NC(NC_NOERR, create(NULL, NULL, &ncid));
    CHECK_STR("512", hint_in_force(ncid, "nc_ibuf_size"));
    CHECK_STR("1024", hint_in_force(ncid, "nc_var_align_size"));
    close_dataset(ncid);
    CHECK_STR(setting, getenv("PNETCDF_HINTS"));
    if (check.rank == 0)
        CHECK(strstr(text, "'nonsense'") && strstr(text, "'=5'") &&
              strstr(text, "'empty='"));
    else
        CHECK_STR("", text);
    CHECK_EQ(0, setenv("PNETCDF_HINTS", "nc_ibuf_size=512;", 1));
    CHECK_EQ(0, complaints(text, sizeof text));
    CHECK_EQ(0, unsetenv("PNETCDF_HINTS"));
}

static const char *in_force_of(MPI_Info info, const char *key)
{
    static char value[MPI_MAX_INFO_VAL + 1];
    int ncid = -1, there = 0;
    MPI_Info used;
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), NC_CLOBBER, info, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_file_info(ncid, &used));
    value[0] = '\0';
    MPI_Info_get(used, key, MPI_MAX_INFO_VAL, value, &there);
    MPI_Info_free(&used);
    close_dataset(ncid);
    return value;
}

/* An invalid value set by the program or the environment must neither take effect nor be
 * reported as if it had. For an unknown hint, the library suggests the most similar known
 * name, but prints the suggestion only once. */
static void invalid_values_are_not_reported_as_in_effect(void)
{
    static const struct {
        const char *key, *value, *in_force, *words;
    } bad[] = {
        {"nc_transfer", "fast", "auto", "nc_transfer: 'fast'; expected one of: `auto`"},
        {"nc_statistics", "enabel", "disable",
         "nc_statistics: 'enabel'; expected one of"},
        {"nc_ibuf_size", "1M", "16777216", "nc_ibuf_size: '1M'; expected a number, 1 or"},
        {"e10_cache_threads", "0", "1", "e10_cache_threads: '0'"},
        {"nc_burst_buff", "enable", "enable",
         "unknown hint 'nc_burst_buff'; did you mean 'nc_burst_buf'?"},
        {"nc_completely_else", "1", "1", "unknown hint 'nc_completely_else'; ignored"},
    };
    char text[2000], setting[100];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(setting, sizeof setting, "%s=%s", bad[i].key, bad[i].value);
        MPI_Info info = check_info(setting);
        CHECK_STR(bad[i].in_force, in_force_of(info, bad[i].key));
        MPI_Info_free(&info);
        CHECK_EQ(0, setenv("PNETCDF_HINTS", setting, 1));
        complaints(text, sizeof text);
        if (check.rank != 0)
            CHECK_STR("", text);
        else if (strstr(text, bad[i].words) == NULL)
            CHECK_STR(bad[i].words, text);
        CHECK_EQ(0, complaints(text, sizeof text)); /* the warning is not repeated */
        /* Some hints are never reported. */
        const char *told = in_force_of(MPI_INFO_NULL, bad[i].key);
        if (told[0] != '\0') CHECK_STR(bad[i].in_force, told);
        CHECK_EQ(0, unsetenv("PNETCDF_HINTS"));
    }
    /* An invalid setting in the environment does not override the program's setting. */
    MPI_Info info = check_info("nc_transfer=direct");
    CHECK_EQ(0, setenv("PNETCDF_HINTS", "nc_transfer=fast", 1));
    CHECK_STR("direct", in_force_of(info, "nc_transfer"));
    CHECK_EQ(0, unsetenv("PNETCDF_HINTS"));
    MPI_Info_free(&info);
    /* Hints for MPI-IO cause no warning. */
    CHECK_EQ(0, setenv("PNETCDF_HINTS", "cb_buffer_sizes=4", 1));
    CHECK_EQ(0, complaints(text, sizeof text));
    CHECK_EQ(0, unsetenv("PNETCDF_HINTS"));
}

/* Only debug builds may print debugging messages. */
static void verbose_debugging_prints_nothing(void)
{
    char text[100];
    CHECK_EQ(0, setenv("PNETCDF_VERBOSE_DEBUG_MODE", "1", 1));
    CHECK_EQ(0, complaints(text, sizeof text));
    CHECK_EQ(0, unsetenv("PNETCDF_VERBOSE_DEBUG_MODE"));
}

static void a_start_at_the_end_can_be_made_an_error(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", 3), value = 1;
    int v = new_var(ncid, "v", NC_INT, 1, &x);
    MPI_Offset start = 3, count = 0;
    begin_data(ncid);
    for (int strict = 0; strict < 2; strict++) {
        int code = strict ? NC_EINVALCOORDS : NC_NOERR;
        CHECK_EQ(0, setenv("PNETCDF_RELAX_COORD_BOUND", strict ? "0" : "1", 1));
        CHECK_NC(code, put_ints(ncid, v, &start, &count, &value));
        CHECK_NC(code, get_ints(ncid, v, &start, &count, &value));
    }
    CHECK_EQ(0, unsetenv("PNETCDF_RELAX_COORD_BOUND"));
    CHECK_NC(NC_NOERR, put_ints(ncid, v, &start, &count, &value));
    end_data(ncid);
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"each hint is reported and changes no value",
     each_hint_is_reported_and_changes_no_value, 0},
    {"hints of other systems are accepted", hints_of_other_systems_are_accepted, 0},
    {"an unknown driver is refused", an_unknown_driver_is_refused, 0},
    {"PNETCDF_HINTS overrides info, which overrides arguments",
     PNETCDF_HINTS_overrides_info_which_overrides_arguments, CHECK_FORMATS},
    {"the alignment of the first source applies",
     the_alignment_of_the_first_source_applies, CHECK_FORMATS},
    {"invalid values are not reported as in effect",
     invalid_values_are_not_reported_as_in_effect, 0},
    {"malformed pairs are ignored with a warning",
     malformed_pairs_are_ignored_with_a_warning, 0},
    {"verbose debugging prints nothing", verbose_debugging_prints_nothing, 0},
    {"a start at the end can be made an error", a_start_at_the_end_can_be_made_an_error,
     CHECK_FORMATS | CHECK_MODES},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
