/* What the files of ncmpigen share. The definitions are read by cdl_header, which the
 * library has too; the data, here, by the same scanner. */
#ifndef GEN_H
#define GEN_H

#include <stdbool.h>
#include <stdint.h>

#include "cdf.h"
#include "cdl.h"
#include "pnetcdf_constants.h"
#include "util_out.h"
#include "util_piece.h"
#include "util_progress.h"

#define GEN_TOOL "ncmpigen"

struct gen;

/* What becomes of the data: a file, or a program. Functions return 0, or -1 after an
 * error line. */
struct gen_sink {
    int64_t most; /* elements of a piece */
    int (*begin)(struct gen *g);
    /* Values of a variable, as a file has them. */
    int (*piece)(struct gen *g, int varid, const struct util_piece *p,
                 const void *values);
    /* Elements from first up to end are fill values; whole records, of record variables.
     */
    int (*fill)(struct gen *g, int varid, int64_t first, int64_t end);
    int (*end)(struct gen *g);
};

struct gen {
    const char *input, *output; /* output: NULL for a program on standard output */
    int format;                 /* 1, 2, 5; 0: what the text needs */
    bool no_fill;
    const struct gen_sink *sink;
    struct cdl_scan scan;
    struct cdf_header header;
    int64_t *written; /* elements of each variable */
    struct util_out *out;
    struct util_progress progress;
    int fd;       /* of the file made */
    bool filling; /* a program: the values are written, what is left is fill values */
};

/* ---- gen_text.c ---- */

/* The text of a file, or of standard input for "-", a NUL behind it. A file's is mapped:
 * it takes no memory. 0, or -1 after an error line. */
struct gen_text {
    char *text;
    size_t length, mapped;
};
int gen_text_open(struct gen_text *t, const char *path);
void gen_text_close(struct gen_text *t);

/* ---- gen_data.c ---- */

/* Reads the data section, if there is one, and feeds the sink. 0, or -1 after an error
 * line. */
int gen_data(struct gen *g);

/* Says what base_error_set recorded. -1. */
int gen_complain(int err);

/* ---- the sinks ---- */

extern const struct gen_sink gen_check, gen_file, gen_c, gen_fortran;

#endif
