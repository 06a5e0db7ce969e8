/* Reads a variable of any size from its first element to its last. */
#ifndef UTIL_READ_H
#define UTIL_READ_H

#include <stdint.h>

#include "util_classic.h"

struct util_reader {
    const struct util_classic *file;
    const struct cdf_var *var;
    int element;   /* size of an element in bytes */
    int64_t total; /* number of elements in all records */
    int64_t done;  /* number of elements that have been read */
    char *span;   /* buffer for records read together, including other variables' bytes */
    int64_t *box; /* for netCDF-4 files: shape, then start and count of the next piece */
    bool is_short; /* the file ends before the variable does; already reported */
};

/* Starts reading a variable at its first element. Returns 0, or -1 after printing an
 * error. In either case the caller must call util_reader_free. */
int util_reader_init(struct util_reader *r, const struct util_classic *file,
                     const struct cdf_var *var);
void util_reader_free(struct util_reader *r);

/* Reads at most `most` of the next elements as external values. Returns the number of
 * elements read, 0 at the end, or -1 after printing an error. Elements beyond the end of
 * the file are read as zeros; this is reported once (util_file_is_short). */
int64_t util_read(struct util_reader *r, void *values, int64_t most);

#endif
