/* ncmpitrace: the parts of the tool. A trace is read line by line and summed up as it
 * comes; memory grows with processes, names, agreements and stripes, not with its lines.
 */
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util_out.h"

#define TRACE_TOOL "ncmpitrace"

/* More names than the library has, and more processes than any program, are no trace of
 * ours. */
enum { TRACE_NAMES = 200, TRACE_PROCESSES = 1 << 24, TRACE_WORD = 64 };

/* What one process did under one name. Times in microseconds. */
struct trace_cell {
    int64_t n, bytes;
    double time, own, longest;
};

/* A call or a part: what all processes did; each has its cell. */
struct trace_row {
    char name[TRACE_WORD];
    bool call;
    struct trace_cell all, *cells;
    int64_t ncells;
};

struct trace_process {
    bool there;
    int host;          /* in hosts; -1: not told */
    int64_t lane;      /* in the picture, by rank */
    double begin, end; /* of what it did */
    double time;       /* in calls */
    double caused;     /* that others waited for it */
    int64_t late;      /* how often that was long */
};

/* Accesses of one variable: calls and their bytes. */
struct trace_variable {
    int64_t set, id;
    char *name;
    bool record;
    int64_t n, bytes;
    int64_t values, frames; /* bytes that were compressed, and what came of them */
    double packing;         /* the time that took */
};

/* An agreement, by the times that processes spent in it. */
struct trace_agreement {
    int64_t set, number;
    int64_t seen, pids; /* processes, and the sum of their ranks */
    double sum, least;
    int64_t last; /* who spent least in it came last */
};

struct trace_set {
    int64_t id, zero;
    char *path;
    int64_t processes, seen, pids;
    int64_t stripe, stripes;
    int64_t read_low, read_high; /* the bytes that were read lie between; 0, 0: none */
};

/* Stripes that have been written, and by whom: a host, or -2 for several. */
struct trace_stripe {
    int64_t set, stripe;
    int host;
};

/* One rectangle of the picture. */
struct trace_box {
    double start, time;
    int pid;
    int row;
};

struct trace_list {
    void *items;
    int64_t n, room;
};

/* A list whose members are found by two numbers. */
struct trace_table {
    int64_t *places; /* 1 + index in the list; 0: free */
    int64_t size;
    struct trace_list list;
};

/* Sizes of reads or writes: less than 4 KiB, 64 KiB, 1 MiB, 16 MiB, and more. */
enum { TRACE_CLASSES = 5 };

struct trace {
    struct trace_row rows[TRACE_NAMES];
    int nrows;
    struct trace_process *processes;
    int64_t nprocesses, there; /* places; how many of them are there */
    struct trace_list hosts;   /* char * */
    struct trace_table sets, variables, agreements, stripes;
    struct trace_list boxes;
    double least_box; /* shorter ones have been left out */
    int64_t reads[TRACE_CLASSES], writes[TRACE_CLASSES];
    int64_t events, errors;
    double begin, end; /* of the trace */

    double waited;  /* in agreements for who came last */
    int64_t late;   /* how often that was long */
    double unknown; /* ... of whom nobody knows who that was */
    int64_t shared_stripes, all_stripes;
    int64_t read_bytes;  /* from files, as often as they were read */
    int64_t read_extent; /* of all files: from the first byte read to the last */
};

/* trace_read.c. Reads a file into it. 0, 1 if some of it could not be read, -1 if none;
 * it has been told. */
int trace_read(struct trace *t, const char *path);

/* trace_sum.c: what the reader finds. -1: no memory, or too much of something. */
struct trace_note {
    int64_t set, pid;
    const char *path, *host, *variable;
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
/* Agreements first to last, n of them, that took `time` together. */
int trace_add_agreements(struct trace *t, int64_t set, int64_t pid, int64_t first,
                         int64_t last, int64_t n, double time);
/* Reads or writes: n of them, of so many bytes, between two places. */
int trace_add_transfer(struct trace *t, int64_t set, int64_t pid, bool write, int64_t n,
                       int64_t bytes, int64_t low, int64_t high);
void trace_end(struct trace *t); /* all has been read */
void trace_free(struct trace *t);

/* The sum of what rows say; NULL where there is no such row. */
const struct trace_row *trace_find(const struct trace *t, const char *name);
double trace_own(const struct trace *t, const char *name);
double trace_call_time(const struct trace *t);
double trace_library_time(const struct trace *t);

/* trace_list.c */
void *trace_append(struct trace_list *l, size_t size, const void *item);
/* The member with these numbers, which stand first in it; or, if `make`, a new one of 0s.
 * NULL: there is none; no memory. */
void *trace_lookup(struct trace_table *t, size_t size, int64_t a, int64_t b, bool make);

/* trace_show.c, trace_advice.c, trace_json.c, trace_draw.c */
void trace_show(const struct trace *t, struct util_out *out);
enum { TRACE_ADVICE = 512 };
/* The i-th piece of advice; false behind the last one. */
bool trace_advise(const struct trace *t, int *i, const char **rule,
                  char words[TRACE_ADVICE]);
void trace_write_json(const struct trace *t, struct util_out *out);
/* A picture by gnuplot, SVG or PNG by the file's name. 0, or -1 after an error line. */
int trace_draw(const struct trace *t, const char *path);

#endif
