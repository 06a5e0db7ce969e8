/* A netCDF dataset in a file, open for reading without MPI: a classic one, or a netCDF-4
 * one as far as the classic model has a place for it. */
#ifndef UTIL_CLASSIC_H
#define UTIL_CLASSIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cdf.h"

struct util_blob;
struct nc4_file;

struct util_classic {
    const char *tool, *path;
    int fd;
    int64_t base;   /* where the dataset begins: behind an envelope, if there is one; then
                     * values are in subfiles, too */
    bool stands_in; /* the file is the first subfile: path itself has none */
    struct util_blob *blob; /* subfiles, which are open; else NULL */
    int64_t size;           /* bytes of the file, from there on */
    struct cdf_header header;
    struct nc4_file *nc4; /* a netCDF-4 file, which has a header as of CDF-5; else NULL */
};

/* Opens the file and decodes its header, and opens the subfiles that it has. 0, or -1
 * after a line on standard error: a netCDF-4 file is refused. */
int util_classic_open(struct util_classic *c, const char *tool, const char *path);

/* Likewise, and netCDF-4 files too, the values of which util_read reads. A line tells
 * what is left out. */
int util_open(struct util_classic *c, const char *tool, const char *path);

void util_classic_close(struct util_classic *c);

/* Opens it without a look at its bytes: header is empty. */
int util_classic_open_any(struct util_classic *c, const char *tool, const char *path);

/* What kind of file it is, for util_format_name. */
int util_format(const struct util_classic *c);

/* Has the dimension no limit? */
bool util_is_limitless(const struct util_classic *c, int dimid);

/* True, after a line that names other tools, if it is a netCDF-4 file. */
bool util_refuse_nc4(const struct util_classic *c);

/* Does it begin as one whose data are being moved? */
bool util_classic_is_moving(const struct util_classic *c);

/* The first bytes of a file, more of them with each call, up to all that it has. Starts
 * zeroed; base_free bytes at last. 0, or -1 after an error line. */
struct util_head {
    unsigned char *bytes;
    size_t length;
};
int util_classic_more(struct util_classic *c, struct util_head *head);

/* Decodes the header. 0; or -1: *fault tells why; its reason is empty after an error
 * line. */
int util_classic_try(struct util_classic *c, struct cdf_fault *fault);

/* Reads bytes at offset, up to the end of the file; with what is in open subfiles.
 * Returns how many they were, or -1: util_classic_why tells why, errno too. */
int64_t util_classic_read(const struct util_classic *c, int64_t offset, void *bytes,
                          size_t length);
const char *util_classic_why(const struct util_classic *c);

#endif
