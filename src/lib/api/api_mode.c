/* Switches between define mode, collective data mode and independent data mode. At the
 * end of define mode, all processes compare a hash of their definitions. If the hashes
 * differ, process 0 distributes its definitions, which take precedence. The library then
 * computes the layout, and the driver writes the header. */
#include <stdio.h>
#include <string.h>

#include "api_dataset.h"
#include "api_safe.h"
#include "api_errors.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "base_sum.h"
#include "file_identity.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

/* ---- comparing definitions across processes ---- */

/* Bytes per variable for fill mode and quantization: settings that must be the same on
 * all processes but are not in the header. */
enum { SETTINGS = 3 };

static void store_settings(const struct cdf_header *h, unsigned char *to)
{
    for (int id = 0; id < h->nvars; id++, to += SETTINGS) {
        to[0] = h->vars[id].fill;
        to[1] = h->vars[id].quantize;
        to[2] = h->vars[id].digits;
    }
}

static void load_settings(struct cdf_header *h, const unsigned char *from)
{
    for (int id = 0; id < h->nvars; id++, from += SETTINGS) {
        h->vars[id].fill = from[0];
        h->vars[id].quantize = from[1];
        h->vars[id].digits = from[2];
    }
}

/* Hashes everything that must be the same on all processes: definitions, layout and
 * settings. The number of records is agreed on elsewhere. */
static int digest_definitions(const struct cdf_header *h, uint64_t *hash)
{
    size_t n = (size_t)h->size + SETTINGS * (size_t)h->nvars;
    unsigned char *bytes = base_malloc(n);
    if (bytes == NULL) return NC_ENOMEM;
    struct cdf_header same = *h; /* shallow copy */
    same.numrecs = 0;
    cdf_encode(&same, bytes);
    store_settings(h, bytes + h->size);
    *hash = base_can_sum() ? base_sum(bytes, n, 0) : base_hash(bytes, n, 0);
    base_free(bytes);
    return NC_NOERR;
}

/* Distributes process 0's definitions as bytes: the header, followed by the settings of
 * each variable. sizes[] contains the sizes of both parts and process 0's hash. */
static int share_definitions_all(struct dataset *ds, unsigned char **bytes,
                                 int64_t *sizes)
{
    struct cdf_header *h = &ds->header;
    sizes[0] = h->size;
    sizes[1] = SETTINGS * (int64_t)h->nvars;
    int err = dataset_share_all(ds, sizes, 3 * sizeof sizes[0], 0);
    if (err != NC_NOERR) return err;

    *bytes = base_malloc((size_t)(sizes[0] + sizes[1]));
    err = dataset_agree_all(ds, *bytes == NULL ? NC_ENOMEM : NC_NOERR, NULL, NULL, 0);
    if (err != NC_NOERR) return err;
    if (ds->rank == 0 && *bytes != NULL) {
        cdf_encode(h, *bytes);
        store_settings(h, *bytes + h->size);
    }
    return dataset_share_all(ds, *bytes, sizes[0] + sizes[1], 0);
}

/* Compares this process's definitions with process 0's, and replaces them. Sets *code to
 * NC_EMULTIDEFINE_* if anything other than attribute values differs. In data mode,
 * replaces only attribute values, because other threads may be reading the rest. */
static int adopt_definitions(struct api_dataset *a, const unsigned char *bytes,
                             const int64_t *sizes, struct cdf_difference *d, int *code)
{
    struct dataset *ds = &a->ds;
    struct cdf_header theirs;
    int err = cdf_decode(&theirs, bytes, (size_t)sizes[0], INT64_MAX, NULL);
    if (err != NC_NOERR) return err;

    theirs.numrecs = ds->header.numrecs;
    *code = cdf_compare(&ds->header, &theirs, d);
    load_settings(&theirs, bytes + sizes[0]);
    for (int id = 0; id < theirs.nvars; id++) {
        if (*code != NC_NOERR || theirs.vars[id].fill == ds->header.vars[id].fill)
            continue;
        *code = NC_EMULTIDEFINE_VAR_FILL_MODE;
        snprintf(d->text, sizeof d->text,
                 "variable '%s' is in %s mode here, but in %s mode on process 0",
                 theirs.vars[id].name, theirs.vars[id].fill ? "no-fill" : "fill",
                 theirs.vars[id].fill ? "fill" : "no-fill");
    }
    if (a->defining) {
        struct cdf_header mine = ds->header;
        ds->header = theirs;
        theirs = mine;
    } else if (*code == NC_NOERR) {
        err = cdf_replace_atts(&ds->header, &theirs);
    }
    cdf_free(&theirs);
    return err;
}

/* Identifies the differences and applies process 0's definitions. Outside of safe mode,
 * attribute values may differ, and only the lowest rank with such a difference adds it to
 * the report. For any other difference, all processes get the same error. */
static int reconcile_all(struct api_dataset *a, uint64_t hash, int *difference)
{
    struct dataset *ds = &a->ds;
    unsigned char *bytes = NULL;
    int64_t sizes[3] = {0, 0, (int64_t)hash};
    struct cdf_difference d = {0};
    int code = NC_NOERR, err = share_definitions_all(ds, &bytes, sizes);
    if (err == NC_NOERR && bytes != NULL && sizes[2] != (int64_t)hash)
        err = adopt_definitions(a, bytes, sizes, &d, &code);
    base_free(bytes);
    int64_t first = d.atts > 0 ? ds->nprocs - ds->rank : 0;
    err = dataset_agree_all(ds, err, NULL, &first, 1);
    if (err != NC_NOERR) return err;

    ds->stats.atts_overruled += d.atts;
    if (code == NC_NOERR && ds->safe_mode) code = d.att_code;
    *difference = api_share_report_all(ds, code, d.text, sizeof d.text, NULL, 0);
    if (*difference == NC_NOERR && first > 0 && ds->rank == ds->nprocs - (int)first)
        trace_stats_add_line(ds, d.text);
    return NC_NOERR;
}

/* Makes all processes adopt process 0's definitions. Sets *difference to the error code
 * for the first difference, or to NC_NOERR. Outside of safe mode, attribute values may
 * differ. Same result on all processes. */
static int agree_on_definitions_all(struct api_dataset *a, int err, int *difference)
{
    uint64_t hash = 0;
    *difference = NC_NOERR;
    if (err == NC_NOERR) err = digest_definitions(&a->ds.header, &hash);
    /* All hashes are equal if their maximum equals their minimum. One MAX reduction of
     * the hash and its negative computes both. */
    int64_t all[2] = {(int64_t)(hash >> 1), -(int64_t)(hash >> 1)};
    err = dataset_agree_all(&a->ds, err, NULL, all, 2);
    if (err == NC_NOERR && all[0] != -all[1]) err = reconcile_all(a, hash, difference);
    return err;
}

int api_begin_change(struct api_dataset *d)
{
    if (d->defining) return NC_NOERR;
    int err = cdf_copy(&d->before, &d->ds.header);
    d->changing = err == NC_NOERR;
    return err;
}

/* Ends a change: keeps the new definitions if `made`, else restores the old ones. */
static void end_change(struct api_dataset *d, bool made)
{
    struct cdf_header *h = &d->ds.header;
    if (d->changing && !made) {
        struct cdf_header given_up = *h;
        *h = d->before;
        h->numrecs = given_up.numrecs;
        d->before = given_up;
    }
    if (d->changing) cdf_free(&d->before);
    d->changing = false;
}

static int commit_change_all(struct api_dataset *d, int err)
{
    struct dataset *ds = &d->ds;
    const int64_t size = ds->header.size;
    const bool changes = d->changing;
    int difference;
    ds->header.size = cdf_encoded_size(&ds->header);
    err = agree_on_definitions_all(d, err, &difference);
    if (err == NC_NOERR) err = difference;
    if (err != NC_NOERR) {
        end_change(d, false);
        if (!changes) ds->header.size = size; /* an encoded name may be shorter */
        return err;
    }
    ds->header.size = cdf_encoded_size(&ds->header); /* attributes may have changed */
    int own = driver_call(d->top, write_header_all);
    err = dataset_agree_all(ds, own, NULL, NULL, 0);
    end_change(d, err == NC_NOERR);
    if (err == NC_NOERR) return err;
    err = dataset_share_message_all(ds, err, own);
    /* The file may contain parts of the new header, so the old one is rewritten. */
    struct base_error_note note;
    base_error_save(&note);
    (void)driver_call(d->top, write_header_all);
    base_error_restore(&note);
    return err;
}

int api_commit_all(struct api_dataset *d, int err)
{
    if (d->defining) return api_agree_if_safe_all(d, err);
    struct trace_span span = trace_enter(d->ds.trace);
    err = commit_change_all(d, err);
    return trace_leave(d->ds.trace, span, "header change", -1, err);
}

/* ---- enddef ---- */

/* Returns the first of the three values that is positive, or 0 if none is. */
static int64_t first_set(int64_t a, int64_t b, int64_t c)
{
    return a > 0 ? a : b > 0 ? b : c > 0 ? c : 0;
}

static bool only_records(const struct cdf_header *h)
{
    for (int id = 0; id < h->nvars; id++)
        if (!h->vars[id].is_record) return false;
    return h->nvars > 0;
}

/* Chooses padding and alignments from hints and arguments. Hints apply only to sections
 * that have no offset yet. Arguments to ncmpi__enddef (0 means the default) also apply to
 * sections that could remain in place, unless a hint overrides them. The padding after
 * the header depends on whether the user set the alignment of the next section. */
static struct cdf_padding choose_padding(const struct api_dataset *d,
                                         const struct cdf_padding *asked)
{
    const struct hints *hints = &d->ds.hints;
    const bool has_padding = asked->header_minfree != CDF_DEFAULT_PADDING;
    struct cdf_padding room = *asked;
    room.fixed_align =
        first_set(hints->var_align, hints->header_align, asked->fixed_align);
    room.record_align = first_set(hints->record_align, asked->record_align, 0);
    room.fixed_strict = has_padding && (asked->fixed_align == 0 ||
                                        room.fixed_align == asked->fixed_align);
    room.record_strict = has_padding && (asked->record_align == 0 ||
                                         room.record_align == asked->record_align);

    bool aligned =
        room.fixed_align > 0 || (room.record_align > 0 && only_records(&d->ds.header));
    if (!aligned) room.fixed_align = HINTS_FIXED_ALIGN;
    if (aligned && !has_padding) room.header_minfree = 0;
    if (room.record_align == 0) room.record_align = HINTS_RECORD_ALIGN;
    return room;
}

/* Returns whether enddef has chosen the place of a variable. */
static bool has_placed(const struct cdf_header *h, const struct cdf_header *before)
{
    int old = before == NULL ? 0 : before->nvars, i = 0;
    while (i < old && h->vars[i].begin == before->vars[i].begin)
        i++;
    return i < h->nvars;
}

int api_end_define_all(struct api_dataset *d, const struct cdf_padding *asked)
{
    const struct cdf_padding room = choose_padding(d, asked);
    const struct cdf_header *before = d->fresh ? NULL : &d->before;
    int difference, own = api_quantize_add_attributes(d);
    if (own == NC_NOERR) own = cdf_layout(&d->ds.header, before, &room);
    if (own == NC_NOERR) own = driver_call(d->top, check_definitions, before);
    int err = agree_on_definitions_all(d, own, &difference);
    if (err != NC_NOERR) return dataset_share_message_all(&d->ds, err, own);
    err = driver_call(d->top, enddef_all, before);
    if (err != NC_NOERR) return err;

    trace_note_variables(&d->ds, before == NULL ? 0 : before->nvars);
    api_quantize_update(d);
    if (has_placed(&d->ds.header, before)) d->ds.effects.facts |= HINTS_LAID_OUT;
    d->defining = d->fresh = false;
    cdf_free(&d->before);
    return difference;
}

int ncmpi_enddef(int ncid)
{
    struct api_dataset *d;
    int err = api_find_defining(ncid, &d);
    if (err != NC_NOERR) return err;
    struct trace_span span = trace_enter(d->ds.trace);
    err = api_same_call_all(d, "ncmpi_enddef");
    if (err == NC_NOERR)
        err = api_end_define_all(
            d, &(struct cdf_padding){.header_minfree = CDF_DEFAULT_PADDING});
    return trace_leave(d->ds.trace, span, "ncmpi_enddef", -1, err);
}

static int same_padding_all(struct api_dataset *d, MPI_Offset h_minfree,
                            MPI_Offset v_align, MPI_Offset v_minfree, MPI_Offset r_align)
{
    struct api_args a;
    if (!d->ds.safe_mode) return NC_NOERR;
    api_args_start(&a, "ncmpi__enddef");
    api_arg_number(&a, "h_minfree", NC_EMULTIDEFINE_FNC_ARGS, h_minfree);
    api_arg_number(&a, "v_align", NC_EMULTIDEFINE_FNC_ARGS, v_align);
    api_arg_number(&a, "v_minfree", NC_EMULTIDEFINE_FNC_ARGS, v_minfree);
    api_arg_number(&a, "r_align", NC_EMULTIDEFINE_FNC_ARGS, r_align);
    return api_args_agree_all(&d->ds, &a);
}

int ncmpi__enddef(int ncid, MPI_Offset h_minfree, MPI_Offset v_align,
                  MPI_Offset v_minfree, MPI_Offset r_align)
{
    struct api_dataset *d;
    int err = api_find_defining(ncid, &d);
    if (err != NC_NOERR) return err;
    err = same_padding_all(d, h_minfree, v_align, v_minfree, r_align);
    if (err != NC_NOERR) return err;
    struct trace_span span = trace_enter(d->ds.trace);
    if (h_minfree < 0 || v_minfree < 0 || v_align < 0 || r_align < 0)
        err = base_error_set(NC_EINVAL,
                             "h_minfree %lld, v_align %lld, v_minfree %lld, r_align %lld",
                             (long long)h_minfree, (long long)v_align,
                             (long long)v_minfree, (long long)r_align);
    err = dataset_agree_all(&d->ds, err, NULL, NULL, 0);
    if (err == NC_NOERR)
        err = api_end_define_all(d, &(struct cdf_padding){.header_minfree = h_minfree,
                                                          .fixed_align = v_align,
                                                          .fixed_minfree = v_minfree,
                                                          .record_align = r_align});
    return trace_leave(d->ds.trace, span, "ncmpi__enddef", -1, err);
}

/* ---- other mode changes ---- */

/* Finds a dataset in data mode, for a collective call whose only argument is the id. */
static int find_in_data_mode_all(int ncid, const char *function, struct api_dataset **d)
{
    int err = api_find(ncid, d);
    if (err != NC_NOERR) return err;
    return (*d)->defining ? api_refuse(*d, NC_EINDEFINE)
                          : api_same_call_all(*d, function);
}

/* Leaves independent data mode if the dataset is in it. Same result on all processes. */
static int to_collective_all(struct api_dataset *d)
{
    if (!d->indep) return NC_NOERR;
    d->indep = false;
    return driver_call(d->top, end_indep_all);
}

int ncmpi_redef(int ncid)
{
    struct api_dataset *d;
    int err = find_in_data_mode_all(ncid, "ncmpi_redef", &d);
    if (err != NC_NOERR) return err;
    if (!d->ds.writable) return api_refuse(d, NC_EPERM);

    struct trace_span span = trace_enter(d->ds.trace);
    int left = to_collective_all(d);
    err = driver_call(d->top, redef_all);
    if (err == NC_NOERR) err = left;
    int copied = cdf_copy(&d->before, &d->ds.header);
    if (err == NC_NOERR) err = copied;
    err = dataset_agree_all(&d->ds, err, NULL, NULL, 0);
    if (err == NC_NOERR)
        d->defining = true;
    else if (copied == NC_NOERR)
        cdf_free(&d->before);
    return trace_leave(d->ds.trace, span, "ncmpi_redef", -1, err);
}

int ncmpi_begin_indep_data(int ncid)
{
    struct api_dataset *d;
    int err = find_in_data_mode_all(ncid, "ncmpi_begin_indep_data", &d);
    if (err != NC_NOERR || d->indep) return err;
    struct trace_span span = trace_enter(d->ds.trace);
    err = driver_call(d->top, begin_indep_all);
    if (err == NC_NOERR) d->indep = true;
    return trace_leave(d->ds.trace, span, "ncmpi_begin_indep_data", -1, err);
}

int ncmpi_end_indep_data(int ncid)
{
    struct api_dataset *d;
    int err = find_in_data_mode_all(ncid, "ncmpi_end_indep_data", &d);
    if (err != NC_NOERR) return err;
    struct trace_span span = trace_enter(d->ds.trace);
    err = to_collective_all(d);
    return trace_leave(d->ds.trace, span, "ncmpi_end_indep_data", -1, err);
}

/* Enclose a driver call: hold the lock, and trace the call. */
static struct trace_span begin_driver_call(struct api_dataset *d)
{
    api_lock(d);
    return trace_enter(d->ds.trace);
}

static int end_driver_call(struct api_dataset *d, struct trace_span span,
                           const char *function, int err)
{
    trace_leave(d->ds.trace, span, function, -1, err);
    api_unlock(d);
    return err;
}

static bool is_indep(int ncid)
{
    struct api_dataset *d;
    return api_find(ncid, &d) == NC_NOERR && !d->defining && d->indep;
}

/* Makes a sync or flush fail on all processes if another program has replaced the file:
 * process 0 detects the replacement, and the next agreement reports it. */
static void defer_replaced_error(struct api_dataset *d)
{
    if (d->ds.rank == 0) dataset_defer_error(&d->ds, file_check_replaced(&d->ds));
}

static int sync_checked_all(struct api_dataset *d)
{
    defer_replaced_error(d);
    int err = driver_call(d->top, sync_all);
    file_explain_replaced(&d->ds, err);
    return err;
}

static int flush_checked_all(struct api_dataset *d)
{
    defer_replaced_error(d);
    int err = driver_call(d->top, flush_all);
    file_explain_replaced(&d->ds, err);
    return err;
}

/* Returns an error if another program has replaced the file, and otherwise err, the
 * result of an independent call. */
static int with_file(const struct api_dataset *d, int err)
{
    int replaced = file_check_replaced(&d->ds);
    return replaced != NC_NOERR ? replaced : err;
}

/* In independent data mode, a single process may call this to sync its own writes. */
int ncmpi_sync(int ncid)
{
    struct api_dataset *d;
    bool alone = is_indep(ncid);
    int err = alone ? api_find(ncid, &d) : find_in_data_mode_all(ncid, "ncmpi_sync", &d);
    if (err != NC_NOERR) return err;
    struct trace_span span = begin_driver_call(d);
    err = alone ? with_file(d, driver_call(d->top, sync)) : sync_checked_all(d);
    return end_driver_call(d, span, "ncmpi_sync", err);
}

int ncmpi_sync_numrecs(int ncid)
{
    struct api_dataset *d;
    int err = find_in_data_mode_all(ncid, "ncmpi_sync_numrecs", &d);
    if (err != NC_NOERR || !d->ds.writable) return err;
    struct trace_span span = begin_driver_call(d);
    err = driver_call(d->top, sync_numrecs_all);
    return end_driver_call(d, span, "ncmpi_sync_numrecs", err);
}

/* A no-op in define mode, because ncmpi_redef has flushed. */
int ncmpi_flush(int ncid)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR || d->defining) return err;
    if (!d->indep) err = find_in_data_mode_all(ncid, "ncmpi_flush", &d);
    if (err != NC_NOERR) return err;
    struct trace_span span = begin_driver_call(d);
    err = d->indep ? with_file(d, driver_call(d->top, flush)) : flush_checked_all(d);
    return end_driver_call(d, span, "ncmpi_flush", err);
}

int ncmpix_flush_start(int ncid)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR || d->defining) return err;
    struct trace_span span = begin_driver_call(d);
    err = driver_call(d->top, background.flush_start);
    return end_driver_call(d, span, "ncmpix_flush_start", err);
}

int ncmpix_flush_test(int ncid, int *done)
{
    struct api_dataset *d;
    bool through = true;
    int err = api_find(ncid, &d);
    if (err == NC_NOERR && !d->defining) {
        api_lock(d);
        err = driver_call(d->top, background.flush_test, &through);
        api_unlock(d);
    }
    if (done != NULL && err == NC_NOERR) *done = through;
    return err;
}
