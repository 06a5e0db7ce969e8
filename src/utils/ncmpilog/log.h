/* ncmpilog: the parts of the tool. */
#ifndef LOG_H
#define LOG_H

#include <stdbool.h>
#include <stdio.h>

#include "burst_reader.h"
#include "util_json.h"
#include "util_out.h"

#define LOG_TOOL "ncmpilog"

struct log_options {
    const char *dataset; /* -d; NULL: as the logs say */
    bool force;          /* -f: whatever file it is now */
    bool keep_going;     /* -k: replay what there is */
    bool remove;         /* -r: the logs, once they are replayed */
    bool quiet;          /* -q: no progress */
    bool json;           /* -j */
};

/* The metadata logs that were named, or lie in directories that were: sorted, the same on
 * every process. */
struct log_list {
    char **paths;
    int n;
};

/* log_find.c. Complains of what it cannot read; *status is then 2, and
 * 1 where values are left without their entries. Returns how many there are, or -1.
 * Collective: the list is process 0's. */
int log_find_all(char **operands, int n, struct log_list *list, int *status);
void log_free(struct log_list *list);

/* Where text goes; j: NULL, or JSON in place of lines. */
struct log_out {
    struct util_out *out;
    struct util_json *j;
};

/* log_show.c: text of one log. The status: 0, or 1 if something is wrong with it. */
int log_show(const char *path, const struct log_out *to);
int log_verify(const char *path, const struct log_out *to);
int log_print(const char *path, const struct log_out *to);
/* Tells of the processes whose logs are not among these. Status. */
int log_missing(const struct log_list *list, const struct log_out *to);

/* log_replay.c. Collective. Status. */
int log_replay(const struct log_list *list, const struct log_options *o);

#endif
