/* Hints that the user sets with an MPI_Info object, in the file that PNETCDF_HINTS_FILE
 * names, or in the environment variable PNETCDF_HINTS. PNETCDF_REPORT and PNETCDF_TRACE
 * set the hints nc_report and nc_trace. */
#ifndef HINTS_H
#define HINTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "hints_file.h"
#include "hints_table.h"

/* Reads the hints for the dataset with this absolute path. Later sources override earlier
 * ones: defaults, `user` (may be MPI_INFO_NULL), the file (if it has a name), the
 * environment. Invalid values are ignored. If `warn` is set, reports meaningless parts of
 * the file, and errors in PNETCDF_HINTS (once for each value of the variable), on
 * standard error. A file that cannot be read or parsed is an error. Sets *info to a new
 * info object with all keys, to be passed to MPI_File_open and freed by the caller. In
 * that object, values in effect replace invalid values of the library's hints. Local.
 * NC_ENOMEM, NC_EMPI, NC_EINVAL. The caller must call hints_file_free in any case. */
int hints_read(struct hints *h, MPI_Info user, bool warn, const char *path,
               struct hints_file *file, MPI_Info *info);

/* Reports each invalid hint in an info object (may be MPI_INFO_NULL). Local. NC_EMPI. */
int hints_report_invalid(MPI_Info info, void (*report)(void *of, const char *words),
                         void *of);

/* A message with hints from the file, sent by the process that read it. Holds as many
 * pairs of strings as fit. Zero-initialize it. Repeat hints_pack while `more` is set. */
struct hints_message {
    int64_t used, more;
    int64_t entry, pair; /* next pair to be packed */
    char text[2048];     /* large enough for any single pair */
};
void hints_pack(const struct hints *h, MPI_Info info, const char *path,
                const struct hints_file *f, struct hints_message *s);
/* Overrides this process's hints with the hints in a message. NC_EMPI. */
int hints_unpack(struct hints *h, MPI_Info info, const struct hints_message *s);

/* Adds the hints in effect to info. Local. NC_EMPI. */
int hints_report(const struct hints *h, MPI_Info info);

/* Describes the first hint that differs, with both values. Returns false if all hints are
 * equal. */
bool hints_compare(const struct hints *mine, const struct hints *theirs, char *text,
                   size_t size);

#endif
