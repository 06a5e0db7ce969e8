/* Shows a tool's progress on a terminal if its work takes more than two seconds. */
#ifndef UTIL_PROGRESS_H
#define UTIL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct util_progress {
    const char *tool;
    int64_t total;      /* value of `done` at the end */
    bool terminal;      /* standard error is a terminal */
    double start, next; /* times of the start and of the next update, in seconds */
};

void util_progress_start(struct util_progress *p, const char *tool, int64_t total);

/* Reports that `done` of the total is complete. May be called every few milliseconds. */
void util_progress_at(struct util_progress *p, int64_t done);

/* Removes the progress line for good. */
void util_progress_end(struct util_progress *p);

/* Removes the progress line until the next update, so that a message can be printed in
 * its place. */
void util_progress_clear(void);

#endif
