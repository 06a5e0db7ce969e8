/* Private declarations for the trace module. trace_record.c combines calls and parts into
 * lines, trace_text.c formats the lines, trace_write.c appends them to the file, and
 * trace_file.c opens and closes the file. */
#ifndef TRACE_IMPL_H
#define TRACE_IMPL_H

#include <pthread.h>
#include <stddef.h>

#include "dataset.h"
#include "trace_record.h"

/* Maximum number of different call names per line; sizes in bytes of line and buffer. */
enum { TRACE_NAMES = 8, TRACE_LINE = 8192, TRACE_TEXT = 65536 };

/* Consecutive calls with the same name. Times are in nanoseconds. */
struct trace_call {
    const char *name;
    int64_t n, time, longest;
    int64_t own; /* time spent outside of parts */
    int64_t bytes;
    int varid; /* -1 if the calls use no variable or several */
    int err;   /* first error */
};

/* Totals for all parts of one kind. */
struct trace_sum {
    int64_t n, own, longest, bytes;
    int64_t low, high;   /* range of file offsets; low is -1 if none */
    int64_t first, last; /* numbers of the first and last parts; -1 if none */
};

/* The calls that share a line: several short calls, or one long call. */
struct trace_group {
    int64_t start, end;
    int thread;
    int ncalls;
    struct trace_call calls[TRACE_NAMES];
    unsigned used; /* bit mask of the kinds of parts that have occurred */
    struct trace_sum parts[TRACE_PARTS];
};

struct trace {
    const struct dataset *ds;
    int pid;       /* this process's rank in the program */
    int64_t id;    /* id of this open dataset, the same on all processes */
    int64_t shift; /* process 0's time of day minus this process's clock */
    bool threads;
    pthread_mutex_t lock; /* used if several threads may make calls */

    int depth;       /* nesting depth of calls; 0 outside of calls */
    int caller;      /* thread that made the current call */
    int64_t counted; /* total time of the parts of this thread's calls */
    bool alone;      /* the call is an independent access */
    bool untimed;    /* the call's parts are counted but not timed */
    int brief;       /* number of consecutive short calls */
    int64_t own;     /* time outside of parts in the last call whose parts were timed */
    struct trace_group before, now;

    int fd;                /* -1 if there is no file, or it was closed */
    int64_t device, inode; /* identity of the trace file */
    int why;               /* errno of the failure that lost lines; 0 if none */
    int64_t lost,
        flushed_at; /* number of lost lines; time of the last write to the file */
    size_t used;
    char text[TRACE_TEXT + TRACE_LINE];
};

/* Returns the calling thread's number. Threads are numbered from 0 in the order of their
 * first call. */
int trace_thread(const struct trace *t);

/* Add a line for a group or a part. A nearly full buffer is written to the file. */
void trace_add_group(struct trace *t, const struct trace_group *g);
void trace_add_part(struct trace *t, enum trace_part part, int64_t start, int64_t end,
                    int64_t own, struct trace_where where);
void trace_add_process(struct trace *t, const char *host);
void trace_add_dataset(struct trace *t, const char *host);
void trace_add_file(struct trace *t, int64_t stripe, int64_t stripes);
void trace_add_variable(struct trace *t, int varid);
void trace_add_unused(struct trace *t, const char *key, const char *reason);
void trace_add_framed(struct trace *t, int varid, const struct trace_framed *f);

/* Writes the buffer to the file. */
void trace_flush(struct trace *t);

#endif
