/* What the files of ncmpigen share. The text is read by cdl_read, as the library does;
 * its values come here as they are read. */
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
struct gen_reader;

/* What becomes of the data: a file, or a program. Functions return 0, or -1 after an
 * error line. */
struct gen_sink {
    enum { GEN_NOTHING, GEN_FILE, GEN_PROGRAM } makes;
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
    const char *input;
    const char *asked;          /* the output that was asked for, or NULL */
    char name[NC_MAX_NAME + 4]; /* NAME.nc, of the dataset's name */
    const char *dataset;        /* the file that is made, by us or by the program */
    int format;                 /* 1, 2, 5; 0: what the text needs */
    bool no_fill;
    const struct gen_sink *sink;
    const struct cdl_reader *reader;
    struct cdf_header header;
    int64_t *written; /* elements of each variable */
    struct gen_reader *values;
    struct util_out *out; /* of a program */
    struct util_progress progress;
    int fd;       /* of what is written; -1 before the definitions have been read */
    bool filling; /* a program: the values are written, what is left is fill values */
};

/* ---- gen_main.c ---- */

/* Opens what is to be written, once the dataset's name is known. 0, or -1 after an error
 * line. */
int gen_open(struct gen *g);

/* ---- gen_data.c ---- */

/* Something has been said already, and is not to be said again. */
enum { GEN_SAID = 1 };

/* Reads all the text and feeds the sink; `length` is what there is of it, or 0 where
 * nobody knows. 0, or -1 after an error line. */
int gen_read(struct gen *g, const struct cdl_source *source, int64_t length);

/* Says what base_error_set recorded. -1. */
int gen_complain(int err);

/* ---- the sinks ---- */

extern const struct gen_sink gen_check, gen_file, gen_c, gen_f77, gen_f90;

#endif
