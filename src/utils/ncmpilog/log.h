/* Internals shared by the files of ncmpilog. */
#ifndef LOG_H
#define LOG_H

#include <stdbool.h>
#include <stdio.h>

#include "burst_reader.h"
#include "util_json.h"
#include "util_out.h"

#define LOG_TOOL "ncmpilog"

struct log_options {
    const char *dataset; /* -d: dataset; NULL to use the one named in the logs */
    bool force; /* -f: replay even if the dataset is not the file named in the logs */
    bool keep_going; /* -k: replay all intact entries */
    bool remove;     /* -r: remove replayed logs */
    bool quiet;      /* -q: print neither progress nor what was replayed */
    bool json;       /* -j */
};

/* The metadata logs that are named on the command line, or are in directories named
 * there. The list is sorted, and the same on every process. */
struct log_list {
    char **paths;
    int n;
};

/* ---- log_find.c ---- */

/* Lists the logs. Sets *status to 2 after reporting a log that it cannot read, or to 1 if
 * a file of values lacks its metadata log. Returns the number of logs, or -1 on error.
 * Collective: process 0 searches. */
int log_find_all(char **operands, int n, struct log_list *list, int *status);
void log_free(struct log_list *list);

/* Destination of the output: JSON to j if it is not NULL, otherwise lines of text to
 * `out`. */
struct log_out {
    struct util_out *out;
    struct util_json *j;
};

/* ---- log_show.c ---- */

/* Each function writes its output about one log, and returns a status: 0, or 1 if
 * something is wrong with the log. */
int log_show(const char *path, const struct log_out *to);
int log_verify(const char *path, const struct log_out *to);
int log_print(const char *path, const struct log_out *to);
/* Reports the processes whose logs are not in the list. Returns the status. */
int log_missing(const struct log_list *list, const struct log_out *to);

/* ---- log_replay.c ---- */

/* Replays the logs into their datasets. Returns the status. Collective. */
int log_replay(const struct log_list *list, const struct log_options *o);

#endif
