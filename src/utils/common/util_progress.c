/* Prints progress on one line of standard error that is overwritten each time. */
#include "util_progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double patience = 2, interval = 0.2;
static bool shown; /* the progress line is on the screen */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void util_progress_start(struct util_progress *p, const char *tool, int64_t total)
{
    *p = (struct util_progress){.tool = tool, .total = total};
    p->terminal = total > 0 && isatty(STDERR_FILENO);
    if (!p->terminal) return;
    p->start = now();
    p->next = p->start + patience;
}

void util_progress_at(struct util_progress *p, int64_t done)
{
    if (!p->terminal) return;
    double t = now();
    if (t < p->next) return;
    p->next = t + interval;
    shown = true;
    double part = (double)done / (double)p->total;
    fprintf(stderr, "\r%s: %3.0f %%", p->tool, 100 * (part < 1 ? part : 1));
    if (part > 0 && part < 1)
        fprintf(stderr, ", %.0f s left   ", (t - p->start) * (1 - part) / part);
    fflush(stderr);
}

void util_progress_clear(void)
{
    if (shown) fputs("\r\033[K", stderr);
    shown = false;
}

void util_progress_end(struct util_progress *p)
{
    util_progress_clear();
    p->terminal = false;
}
