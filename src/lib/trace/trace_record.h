/* The trace: when each call of a dataset began and ended on this process, and the parts
 * that its time went to (hint nc_trace). doc/trace.md describes the file.
 *
 * Without the hint ds->trace is NULL, and all that is left of this is one comparison
 * where a call or a part of it begins and one where it ends. With it, memory is one
 * buffer of text a dataset and process. A file with a line for each call of a microsecond
 * would be as large as the data, and writing it slower than they: short calls that follow
 * each other are one line, with their number, their sum and the longest; and so are the
 * short parts of a call.
 *
 * A part that others lie in (an exchange, say, reads and writes) counts what is left of
 * its time when theirs is taken off: `own`. So the parts' own times add up to the call's.
 */
#ifndef TRACE_RECORD_H
#define TRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_error.h"

struct dataset;
struct trace;

/* The parts, each with a row in trace_parts.def. */
enum trace_part {
#define TRACE_PART(id, name) TRACE_##id,
#include "trace_parts.def"
#undef TRACE_PART
    TRACE_PARTS
};

/* A call or a part that has begun. */
struct trace_span {
    int64_t since;   /* nanoseconds of this process's clock */
    int64_t counted; /* that parts of this process had taken by then */
    int64_t bytes;   /* of a call: put and got by then */
};

/* What is told of a part: which of its kind, where in the file, how much. */
struct trace_where {
    int64_t number; /* of the agreement, broadcast ...; -1: none */
    int64_t offset; /* in the file; -1: nowhere */
    int64_t bytes;
};

int64_t trace_clock(void);

struct trace_span trace_begin_part(struct trace *t);
void trace_end_part(struct trace *t, enum trace_part part, struct trace_span span,
                    struct trace_where where);
struct trace_span trace_begin_call(struct trace *t, bool alone);
void trace_end_call(struct trace *t, struct trace_span span, const char *name, int varid,
                    int err);

/* A part begins, or ends; t is ds->trace. Local. */
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

/* The same of one that has a number, and of one that moves bytes of the file. */
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
    if (bytes < 0) bytes = 0; /* it failed */
    trace_end_part(t, part, span, (struct trace_where){-1, offset, bytes});
}

/* A public call begins; and ends with err, its name a constant; so do the words of err.
 * varid: -1 where it is about no variable, or several. */
static inline struct trace_span trace_enter(struct trace *t)
{
    if (t == NULL) return (struct trace_span){0};
    return trace_begin_call(t, false);
}

/* The same of an access that this process may make alone, and very often. */
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

/* Begins the trace of a dataset that has its hints and no file yet, if the hint asks for
 * one. What stands in its way is reported on standard error, and is no error. `threads`:
 * other threads of the process may come, too. Collective where there is a trace: process
 * 0 tells where it goes and how late it is. */
void trace_start_all(struct dataset *ds, bool threads);

/* The dataset has its file, which lies in stripes of so many bytes on so many servers;
 * and definitions, from variable `first` on. Local. */
void trace_note_file(struct dataset *ds, int64_t stripe, int64_t stripes);
void trace_note_variables(struct dataset *ds, int first);

/* Ends it: the rest is written, and process 0 tells what any process has lost. Collective
 * where the hint asks for a trace. */
void trace_stop_all(struct dataset *ds);

/* The same where there is nobody to tell. Local. */
void trace_drop(struct dataset *ds);

#endif
