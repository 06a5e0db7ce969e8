/* Pictures, drawn by gnuplot, which is asked for when a tool is run and not before. */
#ifndef UTIL_PLOT_H
#define UTIL_PLOT_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct util_plot {
    FILE *out; /* gnuplot's commands go there */
    const char *tool, *path;
    pid_t child;
};

/* Starts a picture, PATH.svg or PATH.png, 1000 points wide. 0, or -1 after an error line.
 */
int util_plot_open(struct util_plot *p, const char *tool, const char *path,
                   int64_t height);

/* Ends it. 0, or -1 after an error line, and the file is not there or not whole. */
int util_plot_close(struct util_plot *p);

/* A text in quotes, for gnuplot: these and what steers gnuplot are left out. */
void util_plot_quoted(FILE *out, const char *text);

#endif
