/* Names of the data access calls in the trace. */
#ifndef API_TRACE_H
#define API_TRACE_H

#include "api.h"
#include "api_dataset.h"

/* Kinds of calls, and kinds of access that api.h does not list because they have separate
 * functions. */
enum api_verb {
    API_PUT_NOW,
    API_GET_NOW,
    API_IPUT,
    API_IGET,
    API_BPUT,
    API_MPUT,
    API_MGET
};
enum { API_VARN = API_VARM + 1, API_VARD };

/* Returns the function's name, without its type suffix, as a string constant. `how` is as
 * in api.h. */
const char *api_call_name(enum api_verb verb, unsigned kind, unsigned how);

static inline enum api_verb api_blocking_verb(bool put)
{
    return put ? API_PUT_NOW : API_GET_NOW;
}

static inline enum api_verb api_nonblocking_verb(bool put, unsigned how)
{
    if (!put) return API_IGET;
    return how & API_BUFFERED ? API_BPUT : API_IPUT;
}

/* Ends a data access call with result err. Discards the last error message if it is from
 * an earlier call. The caller has held the lock since the call began. Local. */
static inline void api_end_access(struct api_dataset *d, struct trace_span span,
                                  enum api_verb verb, unsigned kind, unsigned how,
                                  int varid, int err)
{
    (void)base_error_end(err);
    if (d->ds.trace == NULL) return;
    trace_end_call(d->ds.trace, span, api_call_name(verb, kind & API_KIND, how), varid,
                   err);
}

#endif
