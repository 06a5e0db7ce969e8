/* Declares a table of netCDF-C's functions, which is loaded on first use. */
#ifndef NC4_LIBRARY_H
#define NC4_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* Functions available in all versions since 4.1, with their parameters. */
#define NC4_FUNCTIONS(X)                                                                 \
    X(nc_open, (const char *path, int mode, int *ncid))                                  \
    X(nc_create, (const char *path, int mode, int *ncid))                                \
    X(nc_close, (int ncid))                                                              \
    X(nc_redef, (int ncid))                                                              \
    X(nc_enddef, (int ncid))                                                             \
    X(nc_sync, (int ncid))                                                               \
    X(nc_inq_format, (int ncid, int *format))                                            \
    X(nc_inq_grps, (int ncid, int *n, int *ids))                                         \
    X(nc_inq_grpname, (int ncid, char *name))                                            \
    X(nc_inq_dimids, (int ncid, int *n, int *ids, int parents))                          \
    X(nc_inq_unlimdims, (int ncid, int *n, int *ids))                                    \
    X(nc_inq_varids, (int ncid, int *n, int *ids))                                       \
    X(nc_inq_natts, (int ncid, int *n))                                                  \
    X(nc_inq_dim, (int ncid, int id, char *name, size_t *length))                        \
    X(nc_inq_var,                                                                        \
      (int ncid, int id, char *name, int *type, int *n, int *dims, int *natts))          \
    X(nc_inq_var_fill, (int ncid, int id, int *no_fill, void *value))                    \
    X(nc_inq_attname, (int ncid, int id, int number, char *name))                        \
    X(nc_inq_att, (int ncid, int id, const char *name, int *type, size_t *n))            \
    X(nc_get_att, (int ncid, int id, const char *name, void *values))                    \
    X(nc_put_att,                                                                        \
      (int ncid, int id, const char *name, int type, size_t n, const void *v))           \
    X(nc_del_att, (int ncid, int id, const char *name))                                  \
    X(nc_rename_dim, (int ncid, int id, const char *name))                               \
    X(nc_rename_var, (int ncid, int id, const char *name))                               \
    X(nc_def_dim, (int ncid, const char *name, size_t length, int *id))                  \
    X(nc_def_var,                                                                        \
      (int ncid, const char *name, int type, int n, const int *dims, int *id))           \
    X(nc_def_var_fill, (int ncid, int id, int no_fill, const void *value))               \
    X(nc_def_var_chunking, (int ncid, int id, int storage, const size_t *sizes))         \
    X(nc_def_var_deflate, (int ncid, int id, int shuffle, int deflate, int level))       \
    X(nc_get_vars,                                                                       \
      (int, int, const size_t *, const size_t *, const ptrdiff_t *, void *))             \
    X(nc_put_vars,                                                                       \
      (int, int, const size_t *, const size_t *, const ptrdiff_t *, const void *))

#define NC4_FUNCTION(name, arguments) int(*name) arguments;
extern struct nc4_functions {
    NC4_FUNCTIONS(NC4_FUNCTION)
} nc4_functions;

/* Calls a function: nc4_call(nc_close, ncid). Requires a successful nc4_load. */
#define nc4_call(name, ...) nc4_unlock((nc4_lock(), nc4_functions.name(__VA_ARGS__)))
void nc4_lock(void);
int nc4_unlock(int result);

/* Loads netCDF-C, once per process: the library named by the environment variable
 * NCMPI_NETCDF4, else the one named by `configure --with-netcdf4=`, else the first one
 * found under the names that Debian and other distributions use. If `parallel`, prefers
 * libraries built for this MPI. If there is none, returns NC_ENOTBUILT with a message
 * that names the package to install. */
int nc4_load(bool parallel);

/* Returns a function that only some versions have, or NULL. Also finds functions in the
 * libraries with which netCDF-C is linked. */
typedef void (*nc4_any_function)(void);
nc4_any_function nc4_find(const char *name);

/* Returns whether netCDF-C and its HDF5 were built for this program's MPI. */
bool nc4_is_parallel(void);

/* Returns the name by which the library was loaded. */
const char *nc4_name(void);

#endif
