/* Between define mode, collective and independent data mode. */
#include <stdio.h>
#include <string.h>

#include "api_dataset.h"
#include "api_safe.h"
#include "api_words.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "base_sum.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

/* ---- do all processes define the same? ---- */

/* What is the same everywhere and in no header: of each variable its fill mode, and how
 * it is quantized. */
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

/* Of everything that is to be the same: definitions, layout, settings; the number of
 * records is agreed on elsewhere. */
static int digest_definitions(const struct cdf_header *h, uint64_t *hash)
{
    size_t n = (size_t)h->size + SETTINGS * (size_t)h->nvars;
    unsigned char *bytes = base_malloc(n);
    if (bytes == NULL) return NC_ENOMEM;
    struct cdf_header same = *h; /* only to be read */
    same.numrecs = 0;
    cdf_encode(&same, bytes);
    store_settings(h, bytes + h->size);
    *hash = base_can_sum() ? base_sum(bytes, n, 0) : base_hash(bytes, n, 0);
    base_free(bytes);
    return NC_NOERR;
}

/* Process 0's definitions as bytes, on every process: the header, then the
 * settings of each variable. sizes tells the bytes of both, and process 0's digest. */
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

/* Compares with process 0's definitions, which are taken over: *code is NC_EMULTIDEFINE_*
 * where they differ in more than what attributes say. In data mode only that is taken, so
 * that nothing moves which others may be looking at. */
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
                 "variable '%s' is in %s mode here, in %s mode on process 0",
                 theirs.vars[id].name, theirs.vars[id].fill ? "no-fill" : "fill",
                 theirs.vars[id].fill ? "fill" : "no-fill");
    }
    if (a->defining) {
        struct cdf_header mine = ds->header;
        ds->header = theirs;
        theirs = mine;
    } else if (*code == NC_NOERR) {
        err = cdf_take_atts(&ds->header, &theirs);
    }
    cdf_free(&theirs);
    return err;
}

/* Finds what differs and lets process 0's definitions hold. What attributes say may
 * differ, outside safe mode: the first process where it does names it in the report.
 * Anything else is named on every process. Agreed. */
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
        trace_stats_tell(ds, d.text);
    return NC_NOERR;
}

/* *difference is NC_NOERR if all processes define the same, but for what attributes say;
 * else what does not, named. All have process 0's definitions then. Agreed. */
static int agree_on_definitions_all(struct api_dataset *a, int err, int *difference)
{
    uint64_t hash = 0;
    *difference = NC_NOERR;
    if (err == NC_NOERR) err = digest_definitions(&a->ds.header, &hash);
    /* Equal everywhere if the largest and the smallest are: one maximum tells both. */
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

/* The change was made, or the definitions are as they were. */
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
    int difference;
    ds->header.size = cdf_encoded_size(&ds->header);
    err = agree_on_definitions_all(d, err, &difference);
    if (err == NC_NOERR) err = difference;
    if (err != NC_NOERR) {
        end_change(d, false);
        return err;
    }
    ds->header.size = cdf_encoded_size(&ds->header); /* by process 0's attributes */
    int own = driver_call(d->top, write_header_all);
    err = dataset_agree_all(ds, own, NULL, NULL, 0);
    end_change(d, err == NC_NOERR);
    if (err == NC_NOERR) return err;
    err = dataset_share_words_all(ds, err, own);
    /* What there is of the new one may be in the file. */
    struct base_error_note note;
    base_error_keep(&note);
    (void)driver_call(d->top, write_header_all);
    base_error_restore(&note);
    return err;
}

int api_commit_all(struct api_dataset *d, int err)
{
    if (d->defining) return api_tell_all(d, err);
    struct trace_span span = trace_enter(d->ds.trace);
    err = commit_change_all(d, err);
    return trace_leave(d->ds.trace, span, "header change", -1, err);
}

/* ---- enddef ---- */

/* The first of three that is set, or 0. */
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

/* Room and alignments by hints and arguments. Hints say where what has to be placed goes;
 * the arguments of ncmpi__enddef also hold where everything could stay, 0 for the
 * default, unless a hint says otherwise. The room behind the header depends on who sets
 * the alignment of what follows it. */
static struct cdf_room choose_room(const struct api_dataset *d,
                                   const struct cdf_room *asked)
{
    const struct base_hints *hints = &d->ds.hints;
    const bool told = asked->header_minfree != CDF_SOME_ROOM;
    struct cdf_room room = *asked;
    room.fixed_align =
        first_set(hints->var_align, hints->header_align, asked->fixed_align);
    room.record_align = first_set(hints->record_align, asked->record_align, 0);
    room.fixed_strict =
        told && (asked->fixed_align == 0 || room.fixed_align == asked->fixed_align);
    room.record_strict =
        told && (asked->record_align == 0 || room.record_align == asked->record_align);

    bool aligned =
        room.fixed_align > 0 || (room.record_align > 0 && only_records(&d->ds.header));
    if (!aligned) room.fixed_align = BASE_FIXED_ALIGN;
    if (aligned && !told) room.header_minfree = 0;
    if (room.record_align == 0) room.record_align = BASE_RECORD_ALIGN;
    return room;
}

int api_end_define_all(struct api_dataset *d, const struct cdf_room *asked)
{
    const struct cdf_room room = choose_room(d, asked);
    const struct cdf_header *before = d->fresh ? NULL : &d->before;
    int difference, own = api_quantize_note(d);
    if (own == NC_NOERR) own = cdf_layout(&d->ds.header, before, &room);
    if (own == NC_NOERR) own = driver_call(d->top, check_definitions, before);
    int err = agree_on_definitions_all(d, own, &difference);
    if (err != NC_NOERR) return dataset_share_words_all(&d->ds, err, own);
    err = driver_call(d->top, enddef_all, before);
    if (err != NC_NOERR) return err;

    trace_note_variables(&d->ds, before == NULL ? 0 : before->nvars);
    api_quantize_settle(d);
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
        err = api_end_define_all(d, &(struct cdf_room){.header_minfree = CDF_SOME_ROOM});
    return trace_leave(d->ds.trace, span, "ncmpi_enddef", -1, err);
}

static int same_room_all(struct api_dataset *d, MPI_Offset h_minfree, MPI_Offset v_align,
                         MPI_Offset v_minfree, MPI_Offset r_align)
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
    err = same_room_all(d, h_minfree, v_align, v_minfree, r_align);
    if (err != NC_NOERR) return err;
    struct trace_span span = trace_enter(d->ds.trace);
    if (h_minfree < 0 || v_minfree < 0 || v_align < 0 || r_align < 0)
        err = base_error_set(NC_EINVAL,
                             "h_minfree %lld, v_align %lld, v_minfree %lld, r_align %lld",
                             (long long)h_minfree, (long long)v_align,
                             (long long)v_minfree, (long long)r_align);
    err = dataset_agree_all(&d->ds, err, NULL, NULL, 0);
    if (err == NC_NOERR)
        err = api_end_define_all(d, &(struct cdf_room){.header_minfree = h_minfree,
                                                       .fixed_align = v_align,
                                                       .fixed_minfree = v_minfree,
                                                       .record_align = r_align});
    return trace_leave(d->ds.trace, span, "ncmpi__enddef", -1, err);
}

/* ---- the other ways ---- */

/* Finds a dataset in data mode, for a collective call without other arguments. */
static int find_in_data_mode_all(int ncid, const char *function, struct api_dataset **d)
{
    int err = api_find(ncid, d);
    if (err != NC_NOERR) return err;
    return (*d)->defining ? api_refuse(*d, NC_EINDEFINE)
                          : api_same_call_all(*d, function);
}

/* Leaves independent data mode if it is on. Agreed. */
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

/* Around what the driver carries out. */
static struct trace_span begin_pass(struct api_dataset *d)
{
    api_lock(d);
    return trace_enter(d->ds.trace);
}

static int end_pass(struct api_dataset *d, struct trace_span span, const char *function,
                    int err)
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

/* In independent data mode by one process, for what it wrote. */
int ncmpi_sync(int ncid)
{
    struct api_dataset *d;
    bool alone = is_indep(ncid);
    int err = alone ? api_find(ncid, &d) : find_in_data_mode_all(ncid, "ncmpi_sync", &d);
    if (err != NC_NOERR) return err;
    struct trace_span span = begin_pass(d);
    err = alone ? driver_call(d->top, sync) : driver_call(d->top, sync_all);
    return end_pass(d, span, "ncmpi_sync", err);
}

/* Where nothing can have changed there is nothing to do. */
int ncmpi_sync_numrecs(int ncid)
{
    struct api_dataset *d;
    int err = find_in_data_mode_all(ncid, "ncmpi_sync_numrecs", &d);
    if (err != NC_NOERR || !d->ds.writable) return err;
    struct trace_span span = begin_pass(d);
    err = driver_call(d->top, sync_numrecs_all);
    return end_pass(d, span, "ncmpi_sync_numrecs", err);
}

/* In define mode redef has flushed already. */
int ncmpi_flush(int ncid)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR || d->defining) return err;
    if (!d->indep) err = find_in_data_mode_all(ncid, "ncmpi_flush", &d);
    if (err != NC_NOERR) return err;
    struct trace_span span = begin_pass(d);
    err = d->indep ? driver_call(d->top, flush) : driver_call(d->top, flush_all);
    return end_pass(d, span, "ncmpi_flush", err);
}

/* Likewise. */
int ncmpix_flush_start(int ncid)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR || d->defining) return err;
    struct trace_span span = begin_pass(d);
    err = driver_call(d->top, background.flush_start);
    return end_pass(d, span, "ncmpix_flush_start", err);
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
