/* Compares two datasets, for cdfdiff and ncmpidiff. Matches dimensions, variables and
 * attributes by name, compares the headers first and then the values piece by piece, and
 * reports the differences as text or JSON. Each tool supplies its own read functions;
 * ncmpidiff also supplies a function with which its processes agree on whether to
 * stop. */
#ifndef DIFF_H
#define DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "cdf.h"
#include "util_json.h"
#include "util_out.h"
#include "util_piece.h"
#include "pnetcdf_constants.h"
#include "util_progress.h"

/* Exit statuses. */
enum { DIFF_SAME, DIFF_DIFFERENT, DIFF_TROUBLE };

struct diff_tolerance {
    double absolute, relative; /* values are equal if they are within either tolerance */
};

enum {
    DIFF_PIECE = 1 << 20, /* number of bytes compared at a time */
    DIFF_MOST_TOLERANCES = 256
};

struct diff_options {
    bool header_only, data_only, verbose, quiet, json;
    bool nan_differs; /* treat two NaNs as different */
    bool first_only;  /* stop after the first difference */
    bool map;         /* show maps as text */
    const char *draw; /* file name of the picture, or NULL */
    const char *variables;
    struct diff_tolerance tolerance;
    const char *own[DIFF_MOST_TOLERANCES]; /* arguments of -T: VAR=ABS[,REL] */
    int nown;
    const char *path[2];
};

/* A value in memory. */
union diff_value {
    signed char b;
    unsigned char ub;
    short s;
    unsigned short us;
    int i;
    unsigned ui;
    float f;
    double d;
    long long i64;
    unsigned long long u64;
};

struct diff_place {
    int64_t element; /* index of the element within the variable; -1 if none */
    union diff_value value[2];
    double distance; /* difference between the two values */
};

/* Result of comparing one variable. */
struct diff_result {
    int64_t compared, differing;
    struct diff_place first, largest;
};

/* A variable that both datasets have. */
struct diff_pair {
    int varid[2];
    int64_t total; /* number of elements to compare; 0 if shapes or types differ */
    bool shape_differs;
    struct diff_tolerance tolerance;
};

enum {
    DIFF_MAPS = 16, /* maximum number of maps (of the first variables that differ) */
    DIFF_MAP_HEIGHT = 120,
    DIFF_MAP_WIDTH = 240
};

/* Map of the differences in a variable. Each cell covers row_step x column_step indices
 * of the last two dimensions, and combines all indices of the other dimensions. */
struct diff_map {
    int pair;
    int64_t outer, rows, columns; /* shape; `outer` combines the other dimensions */
    int64_t row_step, column_step;
    int height, width;  /* size of the map in cells */
    int64_t *differing; /* number of differing values in each cell */
    double *largest;    /* largest difference in each cell */
};

struct diff;

/* Reads a piece of variable `varid` from file `side` (0 or 1) into memory. Returns 0, or
 * -1 after printing an error. */
typedef int diff_read(struct diff *d, int side, int varid, const struct util_piece *piece,
                      void *values);
/* Called before the pieces of a variable are read; may be NULL. Returns 0 or -1 like
 * diff_read. */
typedef int diff_enter(struct diff *d, const struct diff_pair *pair);
/* Agrees among all processes on whether to stop: returns true if any process passes true.
 * May be NULL. */
typedef bool diff_agree(struct diff *d, bool stop);

struct diff {
    const char *tool;
    struct diff_options options;
    const struct cdf_header *header[2];
    diff_read *read;
    diff_enter *enter;
    diff_agree *agree;
    void *self; /* private data of the tool */
    int rank, nprocs;

    struct util_out *out;
    struct util_json j;
    int64_t header_differences;
    struct diff_pair *pairs;
    struct diff_result *results; /* results, one for each pair of variables */
    int npairs;
    struct diff_map maps[DIFF_MAPS]; /* maps, in ascending order of pairs */
    int nmaps;
    struct diff_map *map; /* map of the variable being compared, or NULL */
    struct util_progress progress;
};

/* ---- diff_options.c ---- */

/* Parses the command line into *d. Returns 0, UTIL_WRONG or UTIL_ANSWERED. */
int diff_parse(struct diff_options *o, const char *tool, int argc, char **argv);

/* Parses "ABS" or "ABS,REL". Returns 0 or -1. */
int diff_parse_tolerance(const char *text, struct diff_tolerance *t);

/* ---- diff_header.c ---- */

/* Compares the definitions and finds the pairs of variables. Process 0 prints the
 * differences. Returns 0, or -1 after printing an error. */
int diff_header(struct diff *d);

/* ---- diff_data.c ---- */

/* Compares this process's share of the values. Returns 0, or -1 after printing an
 * error. */
int diff_data(struct diff *d);

/* Merges another process's result for a variable into *to. */
void diff_merge(struct diff_result *to, const struct diff_result *from);

/* ---- diff_value.c ---- */

/* Converts a value of the given type to double. */
double diff_number(int type, const union diff_value *v);

/* Compares n values. The first one has index `element` in its variable. Adds the
 * differences to *r and, if `map` is not NULL, to the map. */
void diff_values(struct diff_result *r, struct diff_map *map, int type,
                 const struct diff_tolerance *t, bool nan_differs,
                 const void *const both[2], int64_t n, int64_t element);

enum { DIFF_TEXT = 64 };
/* Formats a value as a NUL-terminated string. */
void diff_value_text(char text[DIFF_TEXT], int type, const union diff_value *v);
/* Loads a value from its external representation. */
void diff_value_load(union diff_value *v, int type, const void *external);

/* ---- diff_map.c ---- */

/* Returns the number of indices to compare in dimension i. Records that only one of the
 * files has are not compared. */
int64_t diff_length(const struct diff *d, const struct diff_pair *p, int i);

/* diff_map_begin prepares d->map before a pair is compared, and returns 0, or -1 after
 * printing an error. diff_map_end keeps the map if values differ. */
int diff_map_begin(struct diff *d, int pair);
void diff_map_end(struct diff *d, int pair);
void diff_map_add(struct diff_map *m, int64_t element, double apart);
void diff_map_free(struct diff *d);

/* Chooses the pairs to show as maps, based on the merged results of all processes.
 * Returns the number of pairs. */
int diff_map_choose(const struct diff *d, int pairs[DIFF_MAPS]);
/* Keeps only the maps of the given pairs on this process, and adds empty maps for pairs
 * that have none. Returns 0, or -1 after printing an error. */
int diff_map_complete(struct diff *d, const int *pairs, int n);

/* diff_map_of returns the map of a pair, or NULL. diff_map_show prints a map as text, and
 * diff_map_json writes it as the JSON member "map". */
const struct diff_map *diff_map_of(const struct diff *d, int pair);
void diff_map_show(struct diff *d, const struct diff_map *m);
void diff_map_json(struct diff *d, const struct diff_map *m);

/* ---- diff_draw.c ---- */

/* Draws the maps. Returns 0, or -1 after printing an error. */
int diff_draw(struct diff *d);

/* ---- diff_report.c ---- */

void diff_report_start(struct diff *d);
/* Prints a line about a difference between the definitions. */
__attribute__((format(printf, 2, 3))) void diff_report_header(struct diff *d,
                                                              const char *format, ...);
/* Prints the results for all variables and ends the report. Returns the exit status. */
int diff_report_data(struct diff *d);

/* ---- diff_run.c ---- */

/* Runs the whole comparison after the headers have been read. `merge` collects the
 * results of all processes on process 0; it is NULL if there is only one process. Returns
 * the exit status on process 0. */
int diff_run(struct diff *d, int (*merge)(struct diff *d, int status));

#endif
