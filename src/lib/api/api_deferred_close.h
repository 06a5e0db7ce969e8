/* Deferred closes, which return before all data are written. See api_deferred_close.c.
 *
 * With nc_deferred_close or nc_blob_join=behind, a closed dataset stays on this process's
 * list, without an id, until its close is complete. A close is deferred only if every
 * layer's `defer` allows it on every process, which one agreement determines. The
 * processes complete the close later, in one of the calls listed in doc/burst-buffer.md,
 * in the order of the numbers assigned at create or open:
 * 1. In create and open, the agreement on the terms (see api_open.c) also determines
 *    whether any process has a deferred close that must be completed first.
 * 2. If so, the processes agree on one such dataset at a time. They complete only
 *    datasets whose processes all take part in the call.
 * 3. base_mpi_at_end completes all others when MPI ends, before cached windows and stages
 *    are freed, in the same order on every process. */
#ifndef API_DEFERRED_CLOSE_H
#define API_DEFERRED_CLOSE_H

#include "api_dataset.h"

/* Defers the rest of a close, if possible. `span` began when the close did. On success,
 * the caller no longer owns the dataset: its id is invalid, and a function below or the
 * end of MPI completes the close. Collective; same result on all processes. */
bool api_deferred_close_begin_all(struct api_dataset *d, struct trace_span span);

/* Returns whether creating or opening a file must wait for a deferred close on this
 * process. Call it only after the processes have agreed on the terms. Local. */
bool api_deferred_close_is_due(const struct dataset *ds);

/* Completes the deferred closes whose processes all take part in this call. Returns the
 * error of one of them. Returns NC_EBADLOG if the file itself has a deferred close that
 * needs other processes; the caller must then not create or open it. Collective; same
 * result on all processes. */
int api_deferred_close_end_all(struct dataset *ds);

/* Returns whether this process has an incomplete deferred close. Local. */
bool api_deferred_close_is_pending(void);

/* Deletes a file. Its deferred closes then complete without writing to it. Returns the
 * result of driver_delete. Local. */
int api_deferred_close_delete(const char *path, MPI_Info info);

#endif
