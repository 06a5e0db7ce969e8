/* Draws pictures with gnuplot, which the tools need for no other purpose. */
#ifndef UTIL_PLOT_H
#define UTIL_PLOT_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct util_plot {
    FILE *out; /* stream for gnuplot commands */
    const char *tool, *path;
    pid_t child;
};

/* Starts a picture, PATH.svg or PATH.png, 1000 points wide. Returns 0, or -1 after
 * printing an error. */
int util_plot_open(struct util_plot *p, const char *tool, const char *path,
                   int64_t height);

/* Completes the picture. Returns 0, or -1 after printing an error; the file is then
 * missing or incomplete. */
int util_plot_close(struct util_plot *p);

/* Writes a text in quotes for gnuplot, with '?' instead of quotes and characters that
 * gnuplot would interpret. */
void util_plot_quoted(FILE *out, const char *text);

#endif
