/* Reading a variable from its first element to its last, whatever its size. */
#ifndef UTIL_READ_H
#define UTIL_READ_H

#include <stdint.h>

#include "util_classic.h"

struct util_reader {
    const struct util_classic *file;
    const struct cdf_var *var;
    int element;   /* bytes of one */
    int64_t total; /* elements, of all records */
    int64_t done;  /* elements read */
    char *span;    /* records read together, other variables' bytes included */
    int64_t *box;  /* of a netCDF-4 file: shape, and start and count of what is read */
    bool is_short; /* the file ends before the variable, which was said */
};

/* 0, or -1 after an error line. util_reader_free is due in both cases. */
int util_reader_init(struct util_reader *r, const struct util_classic *file,
                     const struct cdf_var *var);
void util_reader_free(struct util_reader *r);

/* Reads the next elements, at most `most`, as external values. How many they are, 0 at
 * the end, -1 after an error line. Where the file ends before the variable they are
 * zeros, after a line that says so (util_file_is_short). */
int64_t util_read(struct util_reader *r, void *values, int64_t most);

#endif
