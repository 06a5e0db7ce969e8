/* Steps in which the processes have different roles or post several requests each. The
 * steps put and get the variable wide(w). */
#include <string.h>

#include "each_fault_scene.h"
#include "fault_calls.h"

enum { W = WIDE_EACH };

/* ---- different roles ---- */

static int role(void)
{
    return (check.rank + variant / 2) % ROLES;
}

/* Computes which elements of this process's part of `wide` to access: all of them, every
 * second one, or none. Returns their number, or 0 if the process passes invalid
 * arguments. */
static MPI_Offset slab_of(MPI_Offset *start, MPI_Offset *count, MPI_Offset *stride)
{
    *start = (MPI_Offset)W * check.rank;
    *stride = role() == SHORT_PIECES ? 2 : 1;
    *count = role() == NOTHING ? 0 : W / *stride;
    MPI_Offset real = *count;
    if (role() == A_MISTAKE) *start = -5, real = 0;
    return real;
}

static int mixed(bool put, int round, bool posted)
{
    int values[W], status = NC_NOERR, id = NC_REQ_NULL;
    MPI_Offset start, count, stride, n = slab_of(&start, &count, &stride);
    for (int i = 0; i < W; i++)
        values[i] = put ? value_at(round, start + i * stride) : -1;
    int rc;
    if (posted) {
        rc = put ? ncmpi_iput_vars_int(ncid, wide, &start, &count, &stride, values, &id)
                 : ncmpi_iget_vars_int(ncid, wide, &start, &count, &stride, values, &id);
        int waited = ncmpi_wait_all(ncid, 1, &id, &status);
        if (waited == NC_ENOMEM) (void)ncmpi_cancel(ncid, NC_REQ_ALL, NULL, NULL);
        if (rc == NC_NOERR) rc = waited != NC_NOERR ? waited : status;
    } else {
        rc = put ? ncmpi_put_vars_int_all(ncid, wide, &start, &count, &stride, values)
                 : ncmpi_get_vars_int_all(ncid, wide, &start, &count, &stride, values);
    }
    for (MPI_Offset i = 0; !put && rc == NC_NOERR && i < n; i++)
        if (values[i] != value_in(round, start + i * stride)) {
            complain(LIED, "mixed get: place %lld is %d", (long long)(start + i * stride),
                     values[i]);
            break;
        }
    if (role() != A_MISTAKE) return rc;
    if (rc == NC_NOERR) complain(LIED, "mistake: no error");
    return rc == NC_EINVALCOORDS ? NC_NOERR : rc;
}

int put_mixed(void)
{
    return told = mixed(true, 2, variant % 2 == 1);
}

void mixed_is_there(int rc)
{
    int before = told;
    if (!sync_until_quiet()) {
        as_it_should_be(rc);
        return;
    }
    if (before == NC_NOERR || role() == A_MISTAKE || role() == NOTHING) {
        rc = mixed(false, 2, false);
    } else {
        MPI_Offset none = 0;
        int value;
        rc = ncmpi_get_vars_int_all(ncid, wide, &none, &none, NULL, &value);
    }
    if (rc != NC_NOERR) complain(LIED, "get of mixed: %s", ncmpi_strerror(rc));
    as_it_should_be(rc);
}

void mixed_there(void)
{
    ready();
    CHECK_NC(NC_NOERR, mixed(true, 1, false));
}

int get_mixed(void)
{
    return mixed(false, 1, variant % 2 == 1);
}

/* ---- many requests, each with its own status ---- */

enum { REQUESTS = 4, PART = W / REQUESTS };
static int statuses[REQUESTS];

/* Posts several requests for this process's elements of `wide`, alternately with and
 * without gaps, and waits for them. */
static int all_parts(bool put, int round, int values[REQUESTS][PART])
{
    int ids[REQUESTS], first = NC_NOERR;
    for (int i = 0; i < REQUESTS; i++) {
        MPI_Offset start = (MPI_Offset)W * check.rank + (MPI_Offset)i * PART;
        MPI_Offset stride = 1 + i % 2, count = PART / stride;
        for (int k = 0; k < PART; k++)
            values[i][k] = put ? value_at(round, start + k * stride) : -1;
        int rc = put ? ncmpi_iput_vars_int(ncid, wide, &start, &count, &stride, values[i],
                                           &ids[i])
                     : ncmpi_iget_vars_int(ncid, wide, &start, &count, &stride, values[i],
                                           &ids[i]);
        statuses[i] = rc;
        if (first == NC_NOERR) first = rc;
        if (rc != NC_NOERR) ids[i] = NC_REQ_NULL;
    }
    int waited[REQUESTS] = {NC_EPENDING, NC_EPENDING, NC_EPENDING, NC_EPENDING};
    int rc = ncmpi_wait_all(ncid, REQUESTS, ids, waited);
    for (int i = 0; i < REQUESTS; i++)
        if (statuses[i] == NC_NOERR) statuses[i] = waited[i];
    if (rc != NC_NOERR) (void)ncmpi_cancel(ncid, NC_REQ_ALL, NULL, NULL);
    return first != NC_NOERR ? first : rc;
}

/* Checks that every part whose request succeeded has the values of the given round. */
static void parts_hold(int round, int values[REQUESTS][PART])
{
    for (int i = 0; i < REQUESTS; i++)
        for (int k = 0; k < PART / (1 + i % 2) && statuses[i] == NC_NOERR; k++) {
            int place = W * check.rank + i * PART + k * (1 + i % 2);
            if (values[i][k] == value_in(round, place)) continue;
            complain(LIED, "request %d, place %d: %d", i, place, values[i][k]);
            break;
        }
}

int put_parts(void)
{
    int values[REQUESTS][PART];
    return all_parts(true, 2, values);
}

void parts_are_there(int rc)
{
    int values[REQUESTS][PART], told_of[REQUESTS];
    memcpy(told_of, statuses, sizeof told_of);
    if (!sync_until_quiet()) {
        as_it_should_be(rc);
        return;
    }
    rc = all_parts(false, 2, values);
    if (rc != NC_NOERR) complain(LIED, "get of parts: %s", ncmpi_strerror(rc));
    memcpy(statuses, told_of, sizeof told_of);
    parts_hold(2, values);
    as_it_should_be(rc);
}

void parts_there(void)
{
    ready();
    CHECK_NC(NC_NOERR, put_parts());
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
}

int get_parts(void)
{
    int values[REQUESTS][PART], rc = all_parts(false, 2, values);
    parts_hold(2, values);
    return rc;
}
