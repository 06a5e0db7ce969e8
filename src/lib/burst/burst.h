/* The burst-buffer driver. With the hint nc_burst_buf it is stacked on mpio: puts go to a
 * log on a fast device, and are written to the dataset's file later, through the layer
 * below. doc/burst-buffer.md promises what users see. The stages, with their source files
 * in reading order:
 *
 * 1. Write. burst_lifecycle.c creates a log for each process, or one for each node, when
 *    the dataset is created or opened. A put (burst_put.c; burst_iput.c if it is logged
 *    when it is posted) appends values to the data log and an entry for each request to
 *    the metadata log (burst_log.c; burst_format.c encodes them), adds the writes to the
 *    list of logged writes (burst_list.c), and stores a commit record that makes the
 *    entries valid. If the log fails, puts go to the file.
 * 2. Drain. A flush, a close, a wait or a get that needs values in the file walks through
 *    the list and puts it, batch by batch, through the layer below (burst_drain.c,
 *    burst_batch.c). If parts of several processes may overlap, later calls must
 *    overwrite earlier ones, so these variables are drained epoch by epoch
 *    (burst_conflicts.c). Threads may drain while the program computes (burst_pool.c);
 *    these writes are provisional, because a later drain may have to repeat them.
 * 3. Commit. burst_commit.c syncs the file, and surrounds each change of it by notes in
 *    the log, from which a replay learns whether anything else has changed the file
 *    (burst_file.c). Once the file has everything, all logs restart empty
 *    (burst_lifecycle.c). In independent mode, each process immediately retires the
 *    writes that it has drained itself.
 * 4. Overlay. A get reads the file, and then overlays the newer values that this process
 *    has logged (burst_get.c). A collective get first drains any values that one process
 *    has logged and another one reads (burst_conflicts.c).
 * 5. Recover. After a job was killed, the next open finds its logs (burst_scan_logs.c),
 *    locks and reads them (burst_reader.c, burst_holder.c), checks that they match the
 *    file's present state, lists their writes and drains them (burst_recover.c).
 *
 * burst_open.c implements the driver's operations on top of these parts. One invariant
 * connects them: a value whose put has returned is in the log until it is in the file,
 * and the log records that it is in the file only after it is. */
#ifndef BURST_H
#define BURST_H

#include "burst_commit.h"
#include "burst_drain.h"
#include "burst_file.h"
#include "burst_lifecycle.h"
#include "burst_list.h"
#include "burst_recover.h"

struct burst {
    struct driver base;
    struct node *node;
    int64_t epoch; /* number of the collective call, stored with new writes */
    bool indep;
    bool coherent; /* logged values must reach the file before any process reads them */
    struct burst_log log;
    struct burst_logging logging;
    struct burst_list list;
    struct burst_drain drain;
    struct burst_file file;
    struct burst_commit commit;
    struct burst_recover recover;
};

/* Returns whether only collective calls may write to the file. HDF5 extends records and
 * writes compressed chunks only in collective calls; independent puts to such a file
 * bypass the log. */
static inline bool burst_together(const struct burst *b)
{
    const struct dataset *ds = b->base.ds;
    return ds->hints.no_indep_rw || (ds->netcdf4 && ds->nprocs > 1 && !b->indep);
}

/* ---- burst_open.c ---- */

/* Add and remove a layer on top of `lower`. It has no log yet. Collective; agreed. */
int burst_attach_all(struct dataset *ds, struct driver *lower, struct burst **out);
void burst_detach_all(struct burst *b);

/* ---- burst_put.c ---- */

/* Adds the time since `since` (from MPI_Wtime) to the time spent in puts and waits. */
void burst_add_time(struct burst *b, double since);
int burst_put_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                  int error);
int burst_put(struct driver *self, struct access_request *const *reqs, int64_t n);

/* Logs requests if there is a log, and returns the number of requests logged. If the log
 * fails, clears b->logging.active. */
int64_t burst_log_requests(struct burst *b, struct access_request *const *reqs,
                           int64_t n);

/* ---- burst_iput.c: nonblocking puts that are logged when they are posted ---- */
void burst_iput(struct driver *self, struct access_request *const *reqs, int64_t n);
int burst_wait_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                   int error);
int burst_wait(struct driver *self, struct access_request *const *reqs, int64_t n);
void burst_cancel(struct driver *self, struct access_request *const *reqs, int64_t n);

/* ---- burst_get.c ---- */
int burst_get_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                  int error);
int burst_get(struct driver *self, struct access_request *const *reqs, int64_t n);
#endif
