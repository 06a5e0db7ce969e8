/* ncmpitrace summarizes the traces that the library writes. trace_read.c parses a trace
 * line by line, and trace_sum.c accumulates the sums. The other files print the sums,
 * draw a picture and give advice. Memory use grows with the number of processes, names,
 * agreements and stripes, not with the number of lines. */
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util_out.h"

#define TRACE_TOOL "ncmpitrace"

/* A file that exceeds these limits was not written by this library: it contains more
 * names than the library uses, or more processes than any program has. */
enum { TRACE_NAMES = 200, TRACE_PROCESSES = 1 << 24, TRACE_WORD = 64 };

/* Calls, or parts of calls, with the same name in one process. Times are in microseconds.
 */
struct trace_cell {
    int64_t n, bytes;
    double time, own, longest;
};

/* A kind of call or part of a call, with the sum over all processes and a cell for each
 * process. */
struct trace_row {
    char name[TRACE_WORD];
    bool call;
    struct trace_cell all, *cells;
    int64_t ncells;
};

struct trace_process {
    bool there;
    int host;           /* index in `hosts`; -1 if unknown */
    int64_t lane;       /* index of the lane in the picture */
    double begin, end;  /* start of its first event; end of its last event */
    double time;        /* time in calls */
    double caused;      /* time that other processes waited for this one */
    int64_t late_count; /* number of long waits for this process */
};

/* Accesses to one variable: number of calls, and bytes. */
struct trace_variable {
    int64_t set, id;
    char *name;
    bool record;
    int64_t n, bytes;
    int64_t values, frames; /* bytes before and after compression */
    double packing;         /* time spent compressing */
};

/* An agreement, and the times that processes spent in it. */
struct trace_agreement {
    int64_t set, number;
    int64_t seen, pids; /* number of processes that reported it, and sum of their ranks */
    double sum, least;
    int64_t last; /* rank of the process that arrived last, which spent the least time */
};

struct trace_set {
    int64_t id, zero;
    char *path;
    int64_t processes, seen, pids;
    int64_t stripe, stripes;
    int64_t read_low, read_high; /* byte range that was read; empty if none */
};

/* A stripe that was written. `host` is the host that wrote it, or -2 if several did. */
struct trace_stripe {
    int64_t set, stripe;
    int host;
};

/* A rectangle of the picture. */
struct trace_box {
    double start, time;
    int pid;
    int row;
};

struct trace_list {
    void *items;
    int64_t n, room;
};

/* A list whose items are looked up by two numbers. */
struct trace_table {
    int64_t *places; /* hash table; an entry is 1 + an index in the list, or 0 if free */
    int64_t size;
    struct trace_list list;
};

/* Size classes of reads and writes: below 4 KiB, 64 KiB, 1 MiB, 16 MiB, and larger. */
enum { TRACE_CLASSES = 5 };
enum { TRACE_ADVICE = 512 }; /* size of a piece of advice */

struct trace {
    struct trace_row rows[TRACE_NAMES];
    int nrows;
    struct trace_process *processes;
    int64_t nprocesses, there; /* length of the array; number of entries in use */
    struct trace_list hosts;   /* char * */
    struct trace_table sets, variables, agreements, stripes;
    struct trace_list boxes;
    double least_box; /* boxes shorter than this have been dropped */
    int64_t reads[TRACE_CLASSES], writes[TRACE_CLASSES];
    int64_t events, errors;
    char unused[TRACE_ADVICE]; /* hints without effect, with the reasons */
    double begin, end;         /* start and end of the trace */

    double waited;      /* time spent in agreements waiting for the last process */
    int64_t late_count; /* number of long waits */
    double unknown;     /* time spent waiting for an unknown process */
    int64_t shared_stripes, all_stripes;
    int64_t read_bytes;  /* bytes read from files, counted each time they were read */
    int64_t read_extent; /* distance from the first byte read to the last, summed over all
                          * files */
};

/* trace_read.c. Reads a file into *t. Returns 0 on success. After printing an error,
 * returns 1 if part of the file could not be read, or -1 if nothing could. */
int trace_read(struct trace *t, const char *path);

/* trace_sum.c. The reader passes its data to these functions. They return -1 if they run
 * out of memory or exceed a limit. */
struct trace_note {
    int64_t set, pid;
    const char *path, *host, *variable;
    const char *hint, *reason; /* of a hint without effect */
    int64_t processes, stripe, stripes, var, record;
    int64_t values, frames;
    double packing;
};
int trace_add_note(struct trace *t, const struct trace_note *n);
int trace_add_process(struct trace *t, int64_t pid, double begin, double end);
struct trace_row *trace_row(struct trace *t, const char *name, bool call);
int trace_add_cell(struct trace *t, const char *name, bool call, int64_t pid,
                   const struct trace_cell *c);
int trace_add_access(struct trace *t, int64_t set, int64_t var, int64_t n, int64_t bytes);
int trace_add_box(struct trace *t, const char *name, bool call, int64_t pid, double start,
                  double time);
/* Adds n agreements, numbered from `first` to `last`, that took `time` in total. */
int trace_add_agreements(struct trace *t, int64_t set, int64_t pid, int64_t first,
                         int64_t last, int64_t n, double time);
/* Adds n reads or writes of `bytes` in total within the range [low, high). */
int trace_add_transfer(struct trace *t, int64_t set, int64_t pid, bool write, int64_t n,
                       int64_t bytes, int64_t low, int64_t high);
void trace_end(struct trace *t); /* must follow the last event */
void trace_free(struct trace *t);

/* trace_find returns the row with this name, or NULL. trace_own returns the time spent in
 * that row but outside other parts, or 0. trace_call_time returns the time in calls, and
 * trace_library_time how much of it was spent outside all parts of calls. */
const struct trace_row *trace_find(const struct trace *t, const char *name);
double trace_own(const struct trace *t, const char *name);
double trace_call_time(const struct trace *t);
double trace_library_time(const struct trace *t);

/* trace_list.c */
void *trace_append(struct trace_list *l, size_t size, const void *item);
/* Returns the item whose first two numbers are a and b. If there is none and `make` is
 * set, appends an item with these numbers and zeros elsewhere. Returns NULL if there is
 * none, or if out of memory. */
void *trace_lookup(struct trace_table *t, size_t size, int64_t a, int64_t b, bool make);

/* trace_show.c, trace_advice.c, trace_json.c, trace_draw.c */
void trace_show(const struct trace *t, struct util_out *out);
/* Formats the next piece of advice, starting the search at index *i. Returns false after
 * the last one. */
bool trace_advise(const struct trace *t, int *i, const char **rule,
                  char words[TRACE_ADVICE]);
void trace_write_json(const struct trace *t, struct util_out *out);
/* Draws a picture with gnuplot, in SVG or PNG format depending on the file's name.
 * Returns 0, or -1 after printing an error. */
int trace_draw(const struct trace *t, const char *path);

#endif
