/* Closes that return before all is in the file: see api_closing.c.
 *
 * With nc_deferred_close or nc_blob_join=behind (api_closing) a dataset lives on
 * behind its close, without an id, on a list, if each layer's defer says that it may;
 * one agreement makes that the same on all its processes. Those who can end it
 * together do so in one of the calls that doc/burst-buffer.md names, in the order of
 * numbers that datasets have from their create or open on. Of a create or open the
 * agreement on its terms tells whether any process has such a dataset that is in its
 * way; only then do the processes agree on one after the other, which they end, as far
 * as all that had it open take part in the call. base_mpi_at_end has what is left when
 * MPI ends: datasets first, then the windows that are kept, then the stages, in the
 * same order on every process. */
#ifndef API_CLOSING_H
#define API_CLOSING_H

#include "api_dataset.h"

/* May the rest of a close, which began with this span, come later? Then the dataset is
 * the caller's no more: it is not found by its id, and the first to come of those below
 * ends it. Collective; agreed. */
bool api_closing_defer_all(struct api_dataset *d, struct trace_span span);

/* Does a file that is to be created or opened, whose terms are agreed on, have to wait
 * for any such dataset of this process? Local. */
bool api_closing_is_due(const struct dataset *ds);

/* Where any process said so: ends all that are of this one's processes only. What one of
 * them met with is told, and then nothing is to be created or opened; so is NC_EBADLOG
 * where the file itself is one that other processes have to end, too. Collective;
 * agreed. */
int api_closing_make_way_all(struct dataset *ds);

/* Is there a dataset of this process whose close was deferred, and is not complete?
 * Local. */
bool api_closing_is_pending(void);

/* Deletes a file; who has it no longer needs to bring anything there. Local. Errors
 * as of driver_delete. */
int api_closing_delete(const char *path, MPI_Info info);

#endif
