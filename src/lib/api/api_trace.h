/* What the trace calls the calls that access data. */
#ifndef API_TRACE_H
#define API_TRACE_H

#include "api.h"
#include "api_dataset.h"

/* What is done; and kinds of access that are no enum of api.h, as they have functions of
 * their own. */
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

/* The function's name without the type, a constant; `how` as in api.h. */
const char *api_call_name(enum api_verb verb, unsigned kind, unsigned how);

static inline enum api_verb api_verb_now(bool put)
{
    return put ? API_PUT_NOW : API_GET_NOW;
}

static inline enum api_verb api_verb_later(bool put, unsigned how)
{
    if (!put) return API_IGET;
    return how & API_BUFFERED ? API_BPUT : API_IPUT;
}

/* Such a call ends with err, and words that an earlier one had for it are dropped; with
 * the lock that it began with. Local. */
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
