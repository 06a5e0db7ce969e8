/* The parts of the trace: trace_record.c puts together what a line says,
 * trace_text.c makes text of it, trace_file.c brings that to the file. */
#ifndef TRACE_IMPL_H
#define TRACE_IMPL_H

#include <pthread.h>
#include <stddef.h>

#include "dataset.h"
#include "trace_record.h"

/* So many calls of different names fit one line; no line is longer than that. */
enum { TRACE_NAMES = 8, TRACE_LINE = 8192, TRACE_TEXT = 65536 };

/* Calls of one name. Times in nanoseconds. */
struct trace_call {
    const char *name;
    int64_t n, time, longest;
    int64_t own; /* that none of its parts took */
    int64_t bytes;
    int varid; /* -1: several, or none */
    int err;   /* the first */
};

/* Parts of one kind. */
struct trace_sum {
    int64_t n, own, longest, bytes;
    int64_t low, high;   /* bytes of the file they lie between; low -1: none */
    int64_t first, last; /* numbers; -1: none */
};

/* What one line says of calls: those that were short, or one that was not. */
struct trace_group {
    int64_t start, end;
    int thread;
    int ncalls;
    struct trace_call calls[TRACE_NAMES];
    unsigned used; /* a bit for each kind of part there is */
    struct trace_sum parts[TRACE_PARTS];
};

struct trace {
    const struct dataset *ds;
    int pid;       /* this process's rank in the program */
    int64_t id;    /* of the dataset, as opened: the same on all its processes */
    int64_t shift; /* from this process's clock to the time of day on process 0 */
    bool threads;
    pthread_mutex_t lock; /* taken if others may come */

    int depth;       /* of calls within each other: 1 in a call */
    int caller;      /* the thread whose call it is */
    int64_t counted; /* what parts of its calls have taken, ever */
    bool alone;      /* the call is an access of this process alone */
    bool untimed;    /* the call's parts are counted, but no clock is looked at */
    int brief;       /* so many brief calls in a row */
    int64_t own;     /* of the last call whose parts were timed */
    struct trace_group before, now;

    int fd;                /* -1: no file, or none any more */
    int64_t device, inode; /* of that file */
    int why;               /* errno, if lines were lost */
    int64_t lost, spilled; /* lines; when the last text went to the file */
    size_t used;
    char text[TRACE_TEXT + TRACE_LINE];
};

/* The thread that runs, counted from 0 on as they come. */
int trace_thread(const struct trace *t);

/* A line each. The text goes to the file when there is enough of it. */
void trace_add_group(struct trace *t, const struct trace_group *g);
void trace_add_part(struct trace *t, enum trace_part part, int64_t start, int64_t end,
                    int64_t own, struct trace_where where);
void trace_add_process(struct trace *t, const char *host);
void trace_add_dataset(struct trace *t, const char *host);
void trace_add_file(struct trace *t, int64_t stripe, int64_t stripes);
void trace_add_variable(struct trace *t, int varid);
void trace_add_framed(struct trace *t, int varid, const struct trace_framed *f);

/* The text goes to the file. */
void trace_spill(struct trace *t);

#endif
