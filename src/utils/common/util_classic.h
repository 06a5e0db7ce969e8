/* A netCDF dataset opened for reading without MPI: a classic dataset, or those parts of a
 * netCDF-4 dataset that fit the classic model. */
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
    int64_t base;   /* offset of the header: size of the superblock that marks a dataset
                     * with subfiles, or 0 if there is none */
    bool stands_in; /* fd is the first subfile, because there is no file at `path` */
    struct util_blob *blob; /* the open subfiles, or NULL */
    int64_t size;           /* size of the file minus `base`, in bytes */
    struct cdf_header header;
    struct nc4_file
        *nc4; /* the netCDF-4 file, whose header is presented as CDF-5; NULL if classic */
};

/* Opens the file, decodes its header and opens its subfiles. Refuses netCDF-4 files.
 * Returns 0, or -1 after printing an error. */
int util_classic_open(struct util_classic *c, const char *tool, const char *path);

/* Same as util_classic_open, but also opens netCDF-4 files. Use util_read to read their
 * values. Prints a line for each object that is omitted. */
int util_open(struct util_classic *c, const char *tool, const char *path);

void util_classic_close(struct util_classic *c);

/* Opens the file but does not decode it: the header is left empty. */
int util_classic_open_any(struct util_classic *c, const char *tool, const char *path);

/* Returns the kind of file, for util_format_name. */
int util_format(const struct util_classic *c);

/* Returns whether a dimension is unlimited. */
bool util_is_limitless(const struct util_classic *c, int dimid);

/* Returns whether the file is a netCDF-4 file; if so, prints a line that names suitable
 * tools. */
bool util_refuse_nc4(const struct util_classic *c);

/* Sets *moving if the file begins with the mark of an interrupted redefinition, even a
 * torn one; clears it otherwise. The redefinition must be finished before the file can be
 * read. Returns 0, or -1 after printing an error if this cannot be determined. */
int util_classic_check_head(const struct util_classic *c, bool *moving);

/* A prefix of a file. Each call to util_classic_more extends the prefix, up to the whole
 * file. The caller must zero the struct before the first call, and free `bytes` with
 * base_free after the last one. Returns 0, or -1 after printing an error. */
struct util_head {
    unsigned char *bytes;
    size_t length;
};
int util_classic_more(struct util_classic *c, struct util_head *head);

/* Decodes the header. Returns 0, or -1 with the reason in *fault. The reason is empty if
 * an error has already been printed. */
int util_classic_try(struct util_classic *c, struct cdf_fault *fault);

/* Reads bytes at an offset, up to the end of the file, including values in subfiles.
 * Returns the number of bytes read, or -1 with errno set; util_classic_why returns the
 * reason. */
int64_t util_classic_read(const struct util_classic *c, int64_t offset, void *bytes,
                          size_t length);
const char *util_classic_why(const struct util_classic *c);

#endif
