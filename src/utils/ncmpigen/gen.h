/* ncmpigen turns CDL into a file, or into a program that creates the file. cdl_read,
 * which the library also uses, parses the text and passes on the values as it reads them.
 * gen_data.c gathers the values into pieces and passes these to a sink. This header
 * contains the declarations that the files share. */
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

/* A sink consumes the data: it writes a file or a program. Its functions return 0, or -1
 * after printing an error. */
struct gen_sink {
    enum { GEN_NOTHING, GEN_FILE, GEN_PROGRAM } makes;
    int64_t most; /* maximum number of elements in a piece */
    int (*begin)(struct gen *g);
    /* Writes values of a variable, in the external representation. */
    int (*piece)(struct gen *g, int varid, const struct util_piece *p,
                 const void *values);
    /* Sets the elements from `first` up to `end` to the fill value. In record variables
     * these elements make up whole records. */
    int (*fill)(struct gen *g, int varid, int64_t first, int64_t end);
    int (*end)(struct gen *g);
};

struct gen {
    const char *input;
    const char *output_path;    /* path given on the command line, or NULL */
    char name[NC_MAX_NAME + 4]; /* NAME.nc, derived from the dataset's name */
    const char *dataset; /* path of the dataset, created by the tool or by the generated
                            program */
    int format;          /* 1, 2 or 5; 0 for the first format that suffices */
    bool no_fill;
    const struct gen_sink *sink;
    const struct cdl_reader *reader;
    struct cdf_header header;
    int64_t *written; /* number of elements of each variable written so far */
    struct gen_reader *values;
    struct util_out *out; /* output of a sink that writes a program */
    struct util_progress progress;
    int text;     /* descriptor of the input */
    int fd;       /* descriptor of the output; -1 before the definitions have been read */
    bool filling; /* when writing a program: only fill values remain */
};

/* ---- gen_main.c ---- */

/* Opens the output once the dataset's name is known. Returns 0, or -1 after printing an
 * error. */
int gen_open(struct gen *g);

/* ---- gen_data.c ---- */

/* Result of functions that have already printed the error, so their callers must not. */
enum { GEN_REPORTED = 1 };

/* Reads the whole text and passes its contents to the sink. `length` is the length of the
 * text in bytes, or 0 if unknown. Returns 0, or -1 after printing an error. */
int gen_read(struct gen *g, const struct cdl_source *source, int64_t length);

/* Prints the error that base_error_set recorded. Returns -1. */
int gen_complain(int err);

/* ---- the sinks ---- */

extern const struct gen_sink gen_check, gen_file, gen_c, gen_f77, gen_f90;

#endif
