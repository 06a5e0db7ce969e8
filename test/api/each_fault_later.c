/* Steps whose work continues after the call returns: drains started by the program,
 * deferred closes that later calls complete, and prefetching of parts that are read
 * later. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "each_fault_scene.h"
#include "pnetcdf_ext.h"

/* Adds these hints to the current ones. */
static void with_hints(const char *more)
{
    static char texts[2][6000];
    static int last;
    char *all = texts[last = 1 - last];
    snprintf(all, sizeof texts[0], "%s%s%s", hints, hints[0] == '\0' ? "" : ";", more);
    hints = all;
}

/* Enables the burst buffer in the current hints and adds the given hints. */
static void with_log(const char *more)
{
    if (strstr(hints, "nc_burst_buf=") == NULL) with_hints("nc_burst_buf=enable");
    with_hints(more);
}

/* ---- flush_start ---- */

void put_before(void)
{
    ready();
    CHECK_NC(NC_NOERR, put_by(&families[2]));
}

/* Starts a flush and waits until it completes or fails. */
int flush_start(void)
{
    int done = 0, rc = ncmpix_flush_start(ncid);
    for (int i = 0; i < 20000 && rc == NC_NOERR && !done; i++) {
        rc = ncmpix_flush_test(ncid, &done);
        if (!done) usleep(500);
    }
    if (rc == NC_NOERR && !done) complain(WRONG, "it does not end");
    return rc;
}

/* ---- deferred closes ---- */

void put_for_later(void)
{
    with_log("nc_deferred_close=enable");
    put_before();
}

int close_for_later(void)
{
    return ncmpi_close(ncid);
}

/* Completes deferred closes. Operations that failed in the background thread are retried
 * and must now succeed. */
void closed_later(int rc)
{
    int waited = ncmpix_wait_closed(NULL);
    if (waited != NC_NOERR) complain(WRONG, "wait_closed: %s", ncmpi_strerror(waited));
    given_up(rc);
}

void left_for_later(void)
{
    put_for_later();
    close_it();
}

int wait_closed(void)
{
    return ncmpix_wait_closed(NULL);
}

/* A second dataset that the step creates. It must exist afterwards unless its deferred
 * close could not be completed. */
static int other;

int create_another(void)
{
    other = -1;
    MPI_Info info = info_of_hints();
    int rc = ncmpi_create(MPI_COMM_WORLD, check_path("b.nc"), NC_CLOBBER | check.cmode,
                          info, &other);
    PMPI_Info_free(&info);
    return rc;
}

void another_is_there(int rc)
{
    if (rc != NC_NOERR && !all_well(rc = create_another()))
        complain(WRONG, "create again: %s", ncmpi_strerror(rc));
    if (other >= 0 && (rc = ncmpi_abort(other)) != NC_NOERR && !any_fault)
        complain(WRONG, "abort: %s", ncmpi_strerror(rc));
    given_up(rc);
}

/* ---- staging ---- */

void open_staged(void)
{
    char stage[5000];
    file_there();
    with_hints("nc_stage=enable");
    snprintf(stage, sizeof stage, "nc_stage_dirname=%s", check_path(""));
    with_hints(stage);
    CHECK_NC(NC_NOERR, open_to_read());
}

/* Prefetches one variable or the whole file, independently or collectively, and then
 * reads it. */
int prefetch(void)
{
    const int varids[] = {wide, NC_GLOBAL, NC_GLOBAL};
    int rc = variant == 2 ? ncmpix_prefetch_all(ncid, varids[variant], NULL, NULL)
                          : ncmpix_prefetch(ncid, varids[variant], NULL, NULL);
    int waited = ncmpix_prefetch_wait(ncid), got = get_by(&families[2]);
    return rc != NC_NOERR ? rc : waited != NC_NOERR ? waited : got;
}
