/* What cdfdiff and ncmpidiff share: two datasets are compared by name, header first, then
 * values, piece by piece. Reading is the tools' own. */
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
    double absolute, relative; /* values are the same within one of them */
};

enum {
    DIFF_PIECE = 1 << 20, /* bytes compared at a time */
    DIFF_MOST_TOLERANCES = 256
};

struct diff_options {
    bool header_only, data_only, verbose, quiet, json;
    bool nan_differs; /* NaN is another value than NaN */
    bool first_only;  /* one difference is enough */
    bool map;         /* as text */
    const char *draw; /* the picture, or NULL */
    const char *variables;
    struct diff_tolerance tolerance;
    const char *own[DIFF_MOST_TOLERANCES]; /* VAR=ABS[,REL] */
    int nown;
    const char *path[2];
};

/* A value as it is in memory. */
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
    int64_t element; /* counted through the variable; -1: none */
    union diff_value value[2];
    double distance; /* between the two */
};

/* What was found in one variable. */
struct diff_result {
    int64_t compared, differing;
    struct diff_place first, largest;
};

/* A variable that both have. */
struct diff_pair {
    int varid[2];
    int64_t total; /* elements to compare; 0 where shapes or types differ */
    bool shape_differs;
    struct diff_tolerance tolerance;
};

enum {
    DIFF_MAPS = 16, /* of the first variables that differ */
    DIFF_MAP_HEIGHT = 120,
    DIFF_MAP_WIDTH = 240
};

/* Where in a variable values differ: cells of row_step x column_step indices of its last
 * two dimensions, over all indices of the others. */
struct diff_map {
    int pair;
    int64_t outer, rows, columns; /* of the variable */
    int64_t row_step, column_step;
    int height, width;  /* cells */
    int64_t *differing; /* values of each cell */
    double *largest;    /* distance of two of them */
};

struct diff;

/* How a tool reads: the piece of variable varid of one side, as values in memory. 0, or
 * -1 after an error line. */
typedef int diff_read(struct diff *d, int side, int varid, const struct util_piece *piece,
                      void *values);
/* Told before the pieces of a variable; may be NULL. 0 or -1, as reading. */
typedef int diff_enter(struct diff *d, const struct diff_pair *pair);
/* Agrees whether to stop: has any process found a reason? May be NULL. */
typedef bool diff_agree(struct diff *d, bool stop);

struct diff {
    const char *tool;
    struct diff_options options;
    const struct cdf_header *header[2];
    diff_read *read;
    diff_enter *enter;
    diff_agree *agree;
    void *self; /* the tool's own */
    int rank, nprocs;

    struct util_out *out;
    struct util_json j;
    int64_t header_differences;
    struct diff_pair *pairs;
    struct diff_result *results; /* of each pair */
    int npairs;
    struct diff_map maps[DIFF_MAPS]; /* in the order of the pairs */
    int nmaps;
    struct diff_map *map; /* of the variable that is being compared, or NULL */
    struct util_progress progress;
};

/* ---- diff_options.c ---- */

/* 0, or UTIL_WRONG or UTIL_ANSWERED. */
int diff_parse(struct diff_options *o, const char *tool, int argc, char **argv);

/* "ABS" or "ABS,REL". 0, or -1. */
int diff_parse_tolerance(const char *text, struct diff_tolerance *t);

/* ---- diff_header.c ---- */

/* Compares the definitions, and finds the pairs. The first process tells. 0, or -1 after
 * an error line. */
int diff_header(struct diff *d);

/* ---- diff_data.c ---- */

/* Compares this process' share of the values. 0, or -1 after an error line. */
int diff_data(struct diff *d);

/* Takes what another process found in a variable into *to. */
void diff_merge(struct diff_result *to, const struct diff_result *from);

/* ---- diff_value.c ---- */

/* A value of a type as a double. */
double diff_number(int type, const union diff_value *v);

/* Compares n values of a type; the first is element `element` of its variable. map: NULL
 * if none is wanted. */
void diff_values(struct diff_result *r, struct diff_map *map, int type,
                 const struct diff_tolerance *t, bool nan_differs,
                 const void *const both[2], int64_t n, int64_t element);

enum { DIFF_TEXT = 64 };
/* A value as text, with a NUL. */
void diff_value_text(char text[DIFF_TEXT], int type, const union diff_value *v);
/* An external value. */
void diff_value_load(union diff_value *v, int type, const void *external);

/* ---- diff_map.c ---- */

/* Length of dimension i of what is compared of a pair. */
int64_t diff_length(const struct diff *d, const struct diff_pair *p, int i);

/* Before a pair is compared and after it: sets d->map, and keeps it if values differ. 0,
 * or -1 after an error line. */
int diff_map_begin(struct diff *d, int pair);
void diff_map_end(struct diff *d, int pair);
void diff_map_add(struct diff_map *m, int64_t element, double apart);
void diff_map_free(struct diff *d);

/* The pairs whose maps count, by the results of all processes. How many. */
int diff_map_choose(const struct diff *d, int pairs[DIFF_MAPS]);
/* Makes this process's maps those of these pairs, empty where it had none. 0, or -1 after
 * an error line. */
int diff_map_complete(struct diff *d, const int *pairs, int n);

/* The map of a pair, or NULL; as text; as a member "map". */
const struct diff_map *diff_map_of(const struct diff *d, int pair);
void diff_map_show(struct diff *d, const struct diff_map *m);
void diff_map_json(struct diff *d, const struct diff_map *m);

/* ---- diff_draw.c ---- */

/* Draws the maps. 0, or -1 after an error line. */
int diff_draw(struct diff *d);

/* ---- diff_report.c ---- */

void diff_report_start(struct diff *d);
/* One line on a difference of the definitions. */
__attribute__((format(printf, 2, 3))) void diff_report_header(struct diff *d,
                                                              const char *format, ...);
/* What was found in all variables, and the end. An exit status. */
int diff_report_data(struct diff *d);

/* ---- diff_run.c ---- */

/* All of it, once the headers are there; merge (or NULL) brings the results of all
 * processes to the first. An exit status, on the first process. */
int diff_run(struct diff *d, int (*merge)(struct diff *d, int status));

#endif
