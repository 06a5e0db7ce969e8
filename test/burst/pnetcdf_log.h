/* Writes logs in the format of PnetCDF 1.15, using only the description in
 * doc/formats.md. A log contains the entries of one process, or of n processes that share
 * it. */
#ifndef PNETCDF_LOG_H
#define PNETCDF_LOG_H

#include <stdint.h>

enum { PNETCDF_LOG_MOST = 4, PNETCDF_LOG_BLOCK = 8 << 20 };
enum { PNETCDF_VARA = -3, PNETCDF_VARS = -4 };
enum { PNETCDF_INT = 6, PNETCDF_DOUBLE = 9 };

struct pnetcdf_log {
    int meta, data; /* descriptors of the metadata and data files */
    int n;          /* number of processes that share the log */
    struct {
        int64_t begin, meta, data, entries; /* offsets in the stream; number of entries */
    } streams[PNETCDF_LOG_MOST];
};

/* Creates PATH.meta and PATH.data for processes first to first + n - 1, out of `ranks`
 * processes. Like the other functions, exits the program if an error occurs. */
void pnetcdf_log_start(struct pnetcdf_log *l, const char *path, const char *dataset,
                       int first, int n, int ranks);

/* Appends an entry for process first + s. `stride` may be NULL. */
void pnetcdf_log_put(struct pnetcdf_log *l, int s, int type, int varid, int ndims,
                     const int64_t *start, const int64_t *count, const int64_t *stride,
                     const void *values, int64_t bytes);
void pnetcdf_log_end(struct pnetcdf_log *l);

#endif
