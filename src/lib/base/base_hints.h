/* Hints: what the user asked for through MPI_Info, the file that PNETCDF_HINTS_FILE
 * names, and the environment variable PNETCDF_HINTS; PNETCDF_REPORT and PNETCDF_TRACE are
 * another way to set the hints nc_report and nc_trace. */
#ifndef BASE_HINTS_H
#define BASE_HINTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "base_hints_file.h"
#include "base_hints_table.h"

/* Reads the hints of the dataset that has this path from the root: defaults, then user
 * (may be MPI_INFO_NULL), then the file, if it has a name, then the environment. Values
 * that a hint does not take are ignored. What is wrong in PNETCDF_HINTS is reported on
 * standard error where `warn`, once for each text that it has; so is what makes no sense
 * in a file, but a file that cannot be read or understood is an error. *info is a new
 * info object with all keys, for MPI_File_open; the caller frees it. Of the library's own
 * hints it has what is in force in the place of what was refused. Local. NC_ENOMEM,
 * NC_EMPI, NC_EINVAL; base_hints_file_free is due in any case. */
int base_hints_read(struct base_hints *h, MPI_Info user, bool warn, const char *path,
                    struct base_hints_file *file, MPI_Info *info);

/* Reports what is wrong with hints of an info object (may be MPI_INFO_NULL), each in
 * words. Local. NC_EMPI. */
int base_hints_blame(MPI_Info info, void (*tell)(void *of, const char *words), void *of);

/* What the file said, on its way from the one process that read it: pairs of texts with
 * their NULs, as many as there is room for. All zero at first, and packed again as long
 * as there is more. */
struct base_share {
    int64_t used, more;
    int64_t entry, pair; /* that comes next */
    char text[2048];     /* one pair of any length has room */
};
void base_hints_pack(const struct base_hints *h, MPI_Info info, const char *path,
                     const struct base_hints_file *f, struct base_share *s);
/* Takes them over one's own. NC_EMPI. */
int base_hints_unpack(struct base_hints *h, MPI_Info info, const struct base_share *s);

/* Adds the hints in force to info. Local. NC_EMPI. */
int base_hints_report(const struct base_hints *h, MPI_Info info);

/* Puts into words which hint differs first, and its values. False if none does. */
bool base_hints_compare(const struct base_hints *mine, const struct base_hints *theirs,
                        char *text, size_t size);

#endif
