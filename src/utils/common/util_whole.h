/* Has a dataset, open through the library, all values that its header tells of? The
 * library reads what lies behind a file's end as it finds it; a tool must know. */
#ifndef UTIL_WHOLE_H
#define UTIL_WHOLE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Are all values of a dataset in its one file, at the places that inquiries tell? */
bool util_is_one_file(int ncid);

/* Names what of a netCDF-4 file the library leaves out. One process calls it. */
void util_tell_left_out(const char *tool, const char *path, int ncid);

/* Bytes of a dataset's file, told to all processes of MPI_COMM_WORLD; -1 if they cannot
 * be had, or tell nothing, as values are in subfiles, too. */
int64_t util_file_size(int ncid, const char *path);

/* Does a variable end behind `size`, unless that is -1? It has so many records, or 1, of
 * `piece` bytes each. 0, with a line if its last values, `most` bytes, are zeros that are
 * not in the file (util_file_is_short), or -1 after an error line. */
int util_whole(const char *tool, const char *path, int64_t size, int ncid, int varid,
               int64_t records, int64_t piece, int64_t most);

#endif
