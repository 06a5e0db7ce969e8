/* Releases a dataset after its driver has closed the file: writes the report and the
 * trace, and frees the id, the communicators and all memory. api_open.c calls this for a
 * close or a failed open, api_deferred_close.c for a deferred close. */
#include "api_dataset.h"
#include "base_mem.h"
#include "node.h"
#include "pnetcdf.h"

void api_release_all(struct api_dataset *d, const struct api_dataset *spare)
{
    trace_drop(&d->ds);
    if (d->ncid >= 0) api_leave(d);
    api_queue_free(d->queue);
    cdf_free(&d->before);
    cdf_free(&d->ds.header);
    pthread_mutex_destroy(&d->lock);
    base_free(d->ds.frames.vars);
    base_free(d->ds.path);
    base_free(d->ds.full_path);
    if (d->ds.info != MPI_INFO_NULL) MPI_Info_free(&d->ds.info);
    node_leave_all(&d->ds);
    if (d->ds.comm != MPI_COMM_NULL) MPI_Comm_free(&d->ds.comm);
    if (d != spare) base_free(d);
}

int api_end_all(struct api_dataset *d, int err)
{
    int unused = api_effects_report_all(d), reported = NC_NOERR;
    if (d->ds.hints.report > HINTS_REPORT_NONE) reported = trace_stats_report_all(&d->ds);
    if (reported == NC_NOERR) reported = unused;
    trace_stop_all(&d->ds);
    api_release_all(d, NULL);
    return err != NC_NOERR ? err : reported;
}
