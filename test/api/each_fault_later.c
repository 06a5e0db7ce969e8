/* Steps whose work goes on behind the call: draining that the program has begun, closes
 * that are deferred and completed by other calls, parts that are staged before they are
 * read. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "each_fault_scene.h"
#include "pnetcdf_ext.h"

/* The way's own hints, and more. */
static void with_hints(const char *more)
{
    static char texts[2][6000];
    static int last;
    char *all = texts[last = 1 - last];
    snprintf(all, sizeof texts[0], "%s%s%s", hints, hints[0] == '\0' ? "" : ";", more);
    hints = all;
}

/* In every way, but with a log. */
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

/* Until all is there, or cannot be. */
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

/* What a thread met is tried again, and goes well now. */
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

/* Of another name: it is made, or the first could not be completed. */
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

/* One variable or the file, by each process or together, and read then. */
int prefetch(void)
{
    const int varids[] = {wide, NC_GLOBAL, NC_GLOBAL};
    int rc = variant == 2 ? ncmpix_prefetch_all(ncid, varids[variant], NULL, NULL)
                          : ncmpix_prefetch(ncid, varids[variant], NULL, NULL);
    int waited = ncmpix_prefetch_wait(ncid), got = get_by(&families[2]);
    return rc != NC_NOERR ? rc : waited != NC_NOERR ? waited : got;
}
