/* Tells the user which of the requested hints have no effect on a dataset, and why: in
 * the info object of ncmpi_inq_file_info, and at close on standard error. hints_effect.c
 * has the rules. */
#include <stdio.h>
#include <string.h>

#include "api_dataset.h"
#include "base_mpi.h"

/* Collects the facts that this process knows. */
static struct hints_effects effects_of(const struct api_dataset *d)
{
    const struct dataset *ds = &d->ds;
    const struct trace_stats *s = &ds->stats;
    const struct {
        bool holds;
        unsigned facts;
    } facts[] = {
        {(ds->effects.facts & HINTS_CREATED) == 0, HINTS_EXISTED},
        {ds->writable, HINTS_WRITABLE},
        {!ds->writable, HINTS_READ_ONLY},
        {ds->netcdf4 == 0, HINTS_CLASSIC},
        {ds->netcdf4 != 0, HINTS_NETCDF4},
        {ds->base > 0, HINTS_SUBFILES},
        {ds->nprocs > 1, HINTS_SEVERAL},
        {ds->hints.num_subfiles <= ds->nprocs, HINTS_ENOUGH},
        {d->fresh, HINTS_LOG | HINTS_THREADS}, /* unknown until the first enddef */
        {s->burst_replayed_bytes > 0, HINTS_REPLAYED},
        {ds->hints.burst == HINTS_ENABLE, HINTS_WANTS_LOG},
        {ds->hints.stage == HINTS_ENABLE, HINTS_WANTS_STAGE},
#ifndef OPEN_MPI
        {true, HINTS_ROMIO},
#endif
        {ds->header.nrecord_vars > 0, HINTS_RECORDS},
        {d->quantizes, HINTS_QUANTIZED},
        {s->calls_direct + s->calls_node + s->calls_across + s->calls_view > 0,
         HINTS_TOGETHER},
        {s->calls_view > 0, HINTS_VIEWED},
        {s->calls_node + s->calls_across > 0, HINTS_JOINT},
        {s->calls_across > 0, HINTS_ACROSS},
        {s->file_opens > s->file_opens_mpi, HINTS_POSIX},
        {s->blob_put_bytes > 0, HINTS_BLOBS},
        {s->blob_framed_bytes > 0, HINTS_FRAMES},
        {s->burst_logged_bytes > 0, HINTS_LOGGED},
        {s->stage_copied_bytes + s->stage_read_bytes > 0, HINTS_STAGED},
    };
    struct hints_effects e = ds->effects;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        if (facts[i].holds) e.facts |= facts[i].facts;
    return e;
}

int api_effects_info(const struct api_dataset *d, MPI_Info info)
{
    const struct hints_effects e = effects_of(d);
    char text[MPI_MAX_INFO_VAL] = "";
    size_t used = 0;
    for (const struct hints_row *t = hints_table; t->key != NULL; t++) {
        const char *reason = hints_unused(&d->ds.hints, t, &e, false);
        if (reason == NULL || used >= sizeof text) continue;
        int n = snprintf(text + used, sizeof text - used, "%s%s: %s",
                         used > 0 ? "; " : "", t->key, reason);
        used += n > 0 ? (size_t)n : 0;
    }
    if (used >= sizeof text) memcpy(text + sizeof text - 4, "...", 4);
    int mpi = used > 0 ? MPI_Info_set(info, "nc_unused_hints", text) : MPI_SUCCESS;
    return base_mpi_error(mpi, NC_EMPI, "MPI_Info_set");
}

/* Reports on process 0. */
static void report_unused(const struct dataset *ds, const struct hints_effects *e)
{
    const struct hints *h = &ds->hints;
    for (const struct hints_row *t = hints_table; t->key != NULL; t++) {
        const char *reason = hints_unused(h, t, e, true);
        char line[400];
        if (reason == NULL || ds->rank != 0) continue;
        snprintf(line, sizeof line, "the hint %s has no effect: %s", t->key, reason);
        trace_note_unused(ds->trace, t->key, reason);
        trace_stats_warn(ds, line);
    }
}

/* A fact holds for the dataset if any process knows it. */
int api_effects_report_all(struct api_dataset *d)
{
    struct dataset *ds = &d->ds;
    int world = 0;
    if (!ds->hints.any_asked || ds->hints.report == HINTS_REPORT_SILENT) return NC_NOERR;
    struct hints_effects e = effects_of(d);
    unsigned mine = e.facts;
    int mpi = MPI_Reduce(&mine, &e.facts, 1, MPI_UNSIGNED, MPI_BOR, 0, ds->comm);
    /* If processes open datasets alone, one of them is enough. */
    if (ds->nprocs == 1) (void)MPI_Comm_rank(MPI_COMM_WORLD, &world);
    if (mpi == MPI_SUCCESS && world == 0) report_unused(ds, &e);
    return base_mpi_error(mpi, NC_EMPI, "comparing the effects of hints");
}
