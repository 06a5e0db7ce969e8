/* Checks that a dataset opened through the library has all values that its header
 * describes. The library returns zeros for bytes after the end of the file, so a tool
 * must report that they are missing. */
#ifndef UTIL_WHOLE_H
#define UTIL_WHOLE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns whether all values are stored in the dataset's own file, at the offsets that
 * the inquiry functions return. */
bool util_is_one_file(int ncid);

/* Reports which objects of a netCDF-4 file the library omits. Called by one process. */
void util_report_omitted(const char *tool, const char *path, int ncid);

/* Returns the file's size in bytes on all processes of MPI_COMM_WORLD. Returns -1 if the
 * size is unknown, or is meaningless because values are in subfiles. Collective. */
int64_t util_file_size(int ncid, const char *path);

/* Checks that a variable ends at or before `size`, unless `size` is -1. The variable has
 * `records` records (1 if it is fixed-size) of `piece` bytes each. Returns 0, or -1 after
 * printing an error. If at most `most` bytes are missing, prints a note
 * (util_file_is_short) and returns 0. */
int util_check_complete(const char *tool, const char *path, int64_t size, int ncid,
                        int varid, int64_t records, int64_t piece, int64_t most);

#endif
