/* The rules by which a requested hint has no effect. Each rule names a hint, the facts of
 * which one must hold, and the reason and the cure if none does. The first broken rule
 * counts. Upper limits and sizes of buffers have an effect even if they are not reached.
 * Requesting a hint's default is not a request. */
#include "hints_effect.h"

#include <string.h>

static const char hdf5_layout[] = "HDF5 determines the layout of a netCDF-4 file",
                  hdf5_access[] = "HDF5 accesses a netCDF-4 file",
                  only_create[] = "an existing dataset keeps its form; set the hint when "
                                  "the dataset is created",
                  only_write[] = "the dataset was opened for reading",
                  no_layout[] = "no variable was defined or had to move",
                  no_subfiles[] =
                      "it requires nc_blob=enable when the dataset is created",
                  no_log[] = "it requires nc_burst_buf=enable or e10_cache=enable",
                  only_read[] = "only datasets that are opened for reading are staged",
                  no_e10[] = "it requires e10_cache=enable",
                  by_e10[] = "with e10_cache, the hints e10_cache_* take its place",
                  no_stripe_change[] = "an existing file keeps its stripes",
                  no_stripes[] = "the file system reports no stripes",
                  accepted[] = "it is accepted for compatibility; remove it";

#define NEEDS_LOG(key)                                                                   \
    {key, 0, HINTS_WANTS_LOG, no_log},                                                   \
        {key, 0, HINTS_WRITABLE | HINTS_REPLAYED, only_write},                           \
    {                                                                                    \
        key, 0, HINTS_LOG | HINTS_REPLAYED, NULL                                         \
    }

static const struct rule {
    const char *key;    /* a name that ends in an underscore stands for all hints that
                         * begin with it */
    int64_t value;      /* the rule applies to this value of the hint; 0: to any */
    unsigned facts;     /* the hint has an effect only if one of them holds */
    const char *reason; /* NULL: the reason why there is no log or no stage */
} rules[] = {
    {"nc_header_align_size", 0, HINTS_CLASSIC, hdf5_layout},
    {"nc_header_align_size", 0, HINTS_LAID_OUT, no_layout},
    {"nc_var_align_size", 0, HINTS_CLASSIC, hdf5_layout},
    {"nc_var_align_size", 0, HINTS_LAID_OUT, no_layout},
    {"nc_record_align_size", 0, HINTS_CLASSIC, hdf5_layout},
    {"nc_record_align_size", 0, HINTS_LAID_OUT, no_layout},
    {"nc_record_align_size", 0, HINTS_RECORDS, "the dataset has no record variables"},
    {"nc_header_read_chunk_size", 0, HINTS_CLASSIC, hdf5_access},
    {"nc_header_read_chunk_size", 0, HINTS_EXISTED,
     "a new dataset has no header to read"},
    {"nc_data_move_chunk_size", 0, HINTS_CLASSIC, hdf5_layout},
    {"nc_data_move_chunk_size", 0, HINTS_WRITABLE, only_write},
    {"nc_redef_wait_seconds", 0, HINTS_CLASSIC, hdf5_layout},
    {"nc_redef_wait_seconds", 0, HINTS_EXISTED, "nobody else moves a new dataset's data"},
    {"nc_ibuf_size", 0, HINTS_CLASSIC, hdf5_access},
    {"nc_ibuf_size", 0, HINTS_VIEWED,
     "no transfer used a file view, which nc_transfer=view requests"},
    {"nc_transfer", 0, HINTS_CLASSIC, hdf5_access},
    {"nc_transfer", 0, HINTS_TOGETHER,
     "no collective call transferred values to or from the file"},
    {"nc_transfer", HINTS_TRANSFER_VIEW, HINTS_VIEWED, "no transfer could use a view"},
    {"nc_transfer", HINTS_TRANSFER_NODE, HINTS_JOINT,
     "no processes share memory, so each made its own transfers"},
    {"nc_file_io", 0, HINTS_CLASSIC, hdf5_access},
    {"nc_file_io", HINTS_FILE_IO_POSIX, HINTS_POSIX,
     "the file is accessed through MPI-IO, because of a prefix of its name, "
     "romio_no_indep_rw, or its file system"},
    {"nc_short_file", 0, HINTS_CLASSIC, hdf5_access},
    {"nc_short_file", 0, HINTS_EXISTED,
     "a new file is never shorter than its header says"},
    {"cb_nodes", 0, HINTS_NETCDF4 | HINTS_ACROSS | HINTS_VIEWED,
     "no transfer was joint between nodes or used a file view"},
    {"nc_num_aggrs_per_node", 0, HINTS_CLASSIC, hdf5_access},
    {"nc_num_aggrs_per_node", 0, HINTS_ACROSS,
     "no transfer was joint between nodes; on one node all processes access the file"},
    {"nc_node_share_size", 0, HINTS_CLASSIC, hdf5_access},
    {"nc_node_share_size", 0, HINTS_JOINT,
     "no transfer was joint, so no buffer in shared memory was needed"},
    {"nc_node_procs", 0, HINTS_SEVERAL, "there is only one process"},
    {"nc_blob", 0, HINTS_CLASSIC, "a netCDF-4 file has no subfiles"},
    {"nc_blob", 0, HINTS_CREATED, only_create},
    {"nc_blob", 0, HINTS_BLOBS,
     "no values were put collectively, and only such values are stored in subfiles; use "
     "the calls that end in _all"},
    {"pnetcdf_subfiling", 0, HINTS_CLASSIC, "a netCDF-4 file has no subfiles"},
    {"pnetcdf_subfiling", 0, HINTS_CREATED, only_create},
    {"pnetcdf_subfiling", 0, HINTS_SUBFILES, "it requires nc_num_subfiles above 1"},
    {"nc_num_subfiles", 0, HINTS_CREATED, only_create},
    {"nc_num_subfiles", 0, HINTS_SUBFILES, no_subfiles},
    {"nc_num_subfiles", 0, HINTS_ENOUGH,
     "there are fewer processes, each of which has one subfile"},
    {"nc_blob_checksums", 0, HINTS_CREATED, only_create},
    {"nc_blob_checksums", 0, HINTS_SUBFILES, no_subfiles},
    {"nc_blob_join", 0, HINTS_SUBFILES, "the dataset has no subfiles"},
    {"nc_blob_join", 0, HINTS_WRITABLE, only_write},
    {"striping_unit", 0, HINTS_NETCDF4 | HINTS_CREATED | HINTS_ACROSS, no_stripe_change},
    {"striping_unit", 0, HINTS_NETCDF4 | HINTS_STRIPES | HINTS_ACROSS, no_stripes},
    {"striping_factor", 0, HINTS_NETCDF4 | HINTS_CREATED | HINTS_ACROSS,
     no_stripe_change},
    {"striping_factor", 0, HINTS_NETCDF4 | HINTS_STRIPES | HINTS_ACROSS, no_stripes},
    {"nc_quantize", 0, HINTS_WRITABLE, only_write},
    {"nc_quantize", 0, HINTS_QUANTIZED,
     "no variable of type float or double that it selects was defined"},
    {"nc_compress", 0, HINTS_WRITABLE, only_write},
    {"nc_compress", 0, HINTS_SUBFILES | HINTS_NETCDF4,
     "it requires nc_blob=enable or the format NC_NETCDF4"},
    {"nc_compress", 0, HINTS_FRAMES | HINTS_NETCDF4,
     "no values of a variable that it selects were put collectively, and only such "
     "values are compressed; use the calls that end in _all"},
    {"nc_chunk", 0, HINTS_NETCDF4, "only netCDF-4 files have chunks"},
    {"nc_chunk", 0, HINTS_LAID_OUT, "no variables were defined"},
    {"romio_no_indep_rw", 0, HINTS_ROMIO, "Open MPI does not use ROMIO"},

    NEEDS_LOG("nc_burst_buf"),
    {"nc_burst_buf", 0, HINTS_LOGGED | HINTS_REPLAYED, "no values were put into the log"},
    {"nc_burst_buf_recover", 0, HINTS_WANTS_LOG, no_log},
    {"nc_burst_buf_recover", 0, HINTS_EXISTED, "a new dataset has no old logs"},
    NEEDS_LOG("nc_burst_buf_dirname"),
    NEEDS_LOG("nc_burst_buf_del_on_close"),
    NEEDS_LOG("nc_burst_buf_flush_buffer_size"),
    NEEDS_LOG("nc_burst_buf_shared_logs"),
    NEEDS_LOG("nc_burst_buf_flush"),
    {"nc_burst_buf_flush", HINTS_FLUSH_IMMEDIATE, HINTS_THREADS,
     "threads must not write to this file: its file system does not keep the caches of "
     "nodes coherent, or the file is in HDF5 format or has subfiles"},
    NEEDS_LOG("nc_burst_buf_log_at"),
    NEEDS_LOG("nc_burst_buf_threads"),
    NEEDS_LOG("nc_burst_buf_delay"),
    NEEDS_LOG("nc_burst_buf_bandwidth"),
    NEEDS_LOG("nc_deferred_close"),
    {"nc_deferred_close", 0, HINTS_DEFERRED,
     "the close had to complete the file: threads must not write to it, a value could "
     "not "
     "be logged, or too many closes are deferred"},
    {"e10_cache", 0, HINTS_LOG | HINTS_STAGE | HINTS_REPLAYED, NULL},
    {"e10_cache", 0, HINTS_LOGGED | HINTS_STAGED | HINTS_REPLAYED,
     "no values were put into the log or read through the stage"},
    {"e10_cache_", 0, HINTS_LOG | HINTS_STAGE | HINTS_REPLAYED, NULL},

    {"nc_stage", 0, HINTS_CLASSIC, "a netCDF-4 file is not staged"},
    {"nc_stage", 0, HINTS_READ_ONLY, only_read},
    {"nc_stage", 0, HINTS_STAGE, NULL},
    {"nc_stage", 0, HINTS_STAGED, "no values were read through the stage"},
    {"nc_stage_", 0, HINTS_WANTS_STAGE, "it requires nc_stage=enable"},
    {"nc_stage_", 0, HINTS_READ_ONLY, only_read},
    {"nc_stage_", 0, HINTS_STAGE, NULL},

    {"nc_in_place_swap", 0, 0, accepted},
    {"nc_hash_size_", 0, 0, accepted},
    {"file_striping", 0, 0, "a new file inherits its directory's striping"},
    {"nc_ina_node_list", 0, 0, accepted},
};

enum { LATE = ~(HINTS_LAID_OUT - 1) }; /* facts that may become true until the close */

static bool names_hint(const struct rule *r, const char *key)
{
    size_t n = strlen(r->key);
    return r->key[n - 1] == '_' ? strncmp(key, r->key, n) == 0 : strcmp(key, r->key) == 0;
}

/* Returns the reason of a rule without a text of its own. */
static const char *failure_of(const struct rule *r, const struct hints_effects *e)
{
    const bool stage = (r->facts & HINTS_STAGE) != 0 && (e->facts & HINTS_READ_ONLY) != 0;
    const char *known = stage ? e->no_stage : e->no_log;
    if (known[0] != '\0') return known;
    return stage ? "the stage could not be created" : "the log could not be created";
}

const char *hints_unused(const struct hints *h, const struct hints_row *t,
                         const struct hints_effects *e, bool closing)
{
    static const char *const replaced[] = {"nc_burst_buf_flush", "nc_burst_buf_threads",
                                           "nc_burst_buf_del_on_close"};
    if (!h->asked[t - hints_table]) return NULL;
    if (strncmp(t->key, "e10_cache_", 10) == 0 && h->e10_cache == HINTS_DISABLE)
        return no_e10;
    for (int i = 0; i < 3; i++)
        if (h->e10_cache != HINTS_DISABLE && strcmp(t->key, replaced[i]) == 0)
            return by_e10;
    if (strcmp(t->key, "nc_header_align_size") == 0 && h->var_align > 0)
        return "nc_var_align_size takes precedence";
    if (strcmp(t->key, "nc_transfer") == 0 && h->transfer == HINTS_TRANSFER_AUTO &&
        (e->facts & HINTS_ROMIO) == 0)
        return "with Open MPI, whose collective transfers do not report errors, view "
               "means auto";
    const bool blob = h->blob == HINTS_ENABLE || h->subfiling == HINTS_ENABLE;
    if (blob && h->no_indep_rw && (e->facts & HINTS_SUBFILES) == 0 &&
        strstr("nc_blob pnetcdf_subfiling nc_num_subfiles nc_blob_checksums", t->key) !=
            NULL)
        return "romio_no_indep_rw=true rules out subfiles";
    if (h->short_file == HINTS_SHORT_ERROR && (e->facts & HINTS_STAGE) == 0 &&
        strncmp(t->key, "nc_stage", 8) == 0)
        return "nc_short_file=error rules out staging";
    const int64_t value = t->kind == HINTS_KIND_WORD ? hints_number(h, t) : 0;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const struct rule *r = &rules[i];
        if (!names_hint(r, t->key) || (r->value != 0 && r->value != value)) continue;
        if ((e->facts & r->facts) != 0) continue;
        if (!closing && (r->facts & LATE) != 0) return NULL;
        return r->reason != NULL ? r->reason : failure_of(r, e);
    }
    return NULL;
}
