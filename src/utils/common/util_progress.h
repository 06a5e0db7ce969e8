/* How far a tool has come, on a terminal, for what takes more than two seconds. */
#ifndef UTIL_PROGRESS_H
#define UTIL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct util_progress {
    const char *tool;
    int64_t total;      /* what util_progress_at counts up to */
    bool terminal;      /* is there anybody to look? */
    double start, next; /* seconds: of the beginning, and of the next line */
};

void util_progress_start(struct util_progress *p, const char *tool, int64_t total);

/* So much is done. May be called as often as one likes, every some milliseconds say. */
void util_progress_at(struct util_progress *p, int64_t done);

/* Takes the line away, for good. */
void util_progress_end(struct util_progress *p);

/* Takes it away until the next time, so that something else can be said there. */
void util_progress_clear(void);

#endif
