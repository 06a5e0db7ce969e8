/* The trace: the start and end of each call on a dataset in this process, and the parts
 * that make up the call (hint nc_trace). doc/trace.md describes the file.
 *
 * Without the hint, ds->trace is NULL, and the only cost is one comparison at the start
 * and one at the end of each call or part. With the hint, each process has a text buffer
 * per dataset. If every microsecond-long call had its own line, the file would be as
 * large as the data, and slower to write. Consecutive short calls therefore share a line,
 * which contains their number, total time and maximum time. The short parts of a call
 * also share a line.
 *
 * The `own` time of a part excludes the parts nested in it: an exchange, for example,
 * contains reads and writes. A call's time is its own time plus the `own` time of each
 * part. */
#ifndef TRACE_RECORD_H
#define TRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_error.h"

struct dataset;
struct trace;

/* The kinds of parts, one for each row of trace_parts.def. */
enum trace_part {
#define TRACE_PART(id, name) TRACE_##id,
#include "trace_parts.def"
#undef TRACE_PART
    TRACE_PARTS
};

/* The start of a call or a part. */
struct trace_span {
    int64_t since;   /* this process's clock time, in nanoseconds */
    int64_t counted; /* total time of this process's earlier parts */
    int64_t bytes;   /* for a call: number of bytes put and read before it */
};

/* Details of a part: its number, file offset and size. */
struct trace_where {
    int64_t number; /* number of the agreement, broadcast and so on; -1 if none */
    int64_t offset; /* offset in the file; -1 if none */
    int64_t bytes;
};

struct trace_span trace_begin_part(struct trace *t);
void trace_end_part(struct trace *t, enum trace_part part, struct trace_span span,
                    struct trace_where where);
struct trace_span trace_begin_call(struct trace *t, bool alone);
void trace_end_call(struct trace *t, struct trace_span span, const char *name, int varid,
                    int err);

/* Begin and end a part. `t` is ds->trace. Local. */
static inline struct trace_span trace_begin(struct trace *t)
{
    if (t == NULL) return (struct trace_span){0};
    return trace_begin_part(t);
}

static inline void trace_end(struct trace *t, enum trace_part part,
                             struct trace_span span)
{
    if (t == NULL) return;
    trace_end_part(t, part, span, (struct trace_where){-1, -1, 0});
}

/* End a part that has a number, or a part that transfers file bytes. */
static inline void trace_end_numbered(struct trace *t, enum trace_part part,
                                      struct trace_span span, int64_t number)
{
    if (t == NULL) return;
    trace_end_part(t, part, span, (struct trace_where){number, -1, 0});
}

static inline void trace_end_at(struct trace *t, enum trace_part part,
                                struct trace_span span, int64_t offset, int64_t bytes)
{
    if (t == NULL) return;
    if (bytes < 0) bytes = 0; /* the transfer failed */
    trace_end_part(t, part, span, (struct trace_where){-1, offset, bytes});
}

/* Begin and end an API call. Its name is a string constant. `err` is its result, whose
 * message is also recorded. varid is -1 if the call concerns no variable or several.
 * trace_leave returns err. */
static inline struct trace_span trace_enter(struct trace *t)
{
    if (t == NULL) return (struct trace_span){0};
    return trace_begin_call(t, false);
}

/* Begins an API call that may be independent and very frequent. */
static inline struct trace_span trace_enter_access(struct trace *t, bool alone)
{
    if (t == NULL) return (struct trace_span){0};
    return trace_begin_call(t, alone);
}

static inline int trace_leave(struct trace *t, struct trace_span span, const char *name,
                              int varid, int err)
{
    if (t != NULL) trace_end_call(t, span, name, varid, err);
    return base_error_end(err);
}

/* Starts a trace if the hint requests one. Called when the dataset has hints but no file
 * yet. Failures are reported on standard error and do not fail the call. `threads` is
 * true if several threads may make calls. Collective if there is a trace, because process
 * 0 broadcasts the file's name and its time. */
void trace_start_all(struct dataset *ds, bool threads);

/* Record the stripe size and the number of servers of the dataset's file, and the
 * definitions of variables `first` and above. Local. */
void trace_note_file(struct dataset *ds, int64_t stripe, int64_t stripes);
void trace_note_variables(struct dataset *ds, int first);

/* Records a hint that has had no effect. Local. */
void trace_note_unused(struct trace *t, const char *key, const char *reason);

/* Writes the remaining lines and ends the trace. Process 0 reports lines that any process
 * has lost. Collective if the hint requests a trace. */
void trace_stop_all(struct dataset *ds);

/* Ends the trace without a report. Local. */
void trace_drop(struct dataset *ds);

#endif
