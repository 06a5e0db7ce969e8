/* netCDF-C, loaded when it is first needed: a table of its functions. */
#ifndef NC4_LIBRARY_H
#define NC4_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* Its functions that all of its versions from 4.1 on have, with their results and
 * arguments. */
#define NC4_FUNCTIONS(X)                                                                 \
    X(const char *, nc_strerror, (int code))                                             \
    X(int, nc_open, (const char *path, int mode, int *ncid))                             \
    X(int, nc_create, (const char *path, int mode, int *ncid))                           \
    X(int, nc_close, (int ncid))                                                         \
    X(int, nc_redef, (int ncid))                                                         \
    X(int, nc_enddef, (int ncid))                                                        \
    X(int, nc_sync, (int ncid))                                                          \
    X(int, nc_inq_format, (int ncid, int *format))                                       \
    X(int, nc_inq_grps, (int ncid, int *n, int *ids))                                    \
    X(int, nc_inq_dimids, (int ncid, int *n, int *ids, int parents))                     \
    X(int, nc_inq_unlimdims, (int ncid, int *n, int *ids))                               \
    X(int, nc_inq_varids, (int ncid, int *n, int *ids))                                  \
    X(int, nc_inq_dim, (int ncid, int id, char *name, size_t *length))                   \
    X(int, nc_inq_grpname, (int ncid, char *name))                                       \
    X(int, nc_inq_natts, (int ncid, int *n))                                             \
    X(int, nc_inq_var,                                                                   \
      (int ncid, int id, char *name, int *type, int *ndims, int *dimids, int *natts))    \
    X(int, nc_inq_var_fill, (int ncid, int id, int *no_fill, void *value))               \
    X(int, nc_inq_attname, (int ncid, int id, int number, char *name))                   \
    X(int, nc_inq_att, (int ncid, int id, const char *name, int *type, size_t *n))       \
    X(int, nc_get_att, (int ncid, int id, const char *name, void *values))               \
    X(int, nc_put_att,                                                                   \
      (int ncid, int id, const char *name, int type, size_t n, const void *values))      \
    X(int, nc_del_att, (int ncid, int id, const char *name))                             \
    X(int, nc_rename_dim, (int ncid, int id, const char *name))                          \
    X(int, nc_rename_var, (int ncid, int id, const char *name))                          \
    X(int, nc_def_dim, (int ncid, const char *name, size_t length, int *id))             \
    X(int, nc_def_var,                                                                   \
      (int ncid, const char *name, int type, int ndims, const int *dimids, int *id))     \
    X(int, nc_def_var_fill, (int ncid, int id, int no_fill, const void *value))          \
    X(int, nc_def_var_chunking, (int ncid, int id, int storage, const size_t *sizes))    \
    X(int, nc_def_var_deflate, (int ncid, int id, int shuffle, int deflate, int level))  \
    X(int, nc_get_vars,                                                                  \
      (int ncid, int id, const size_t *start, const size_t *count,                       \
       const ptrdiff_t *stride, void *values))                                           \
    X(int, nc_put_vars,                                                                  \
      (int ncid, int id, const size_t *start, const size_t *count,                       \
       const ptrdiff_t *stride, const void *values))

#define NC4_FUNCTION(result, name, arguments) result(*name) arguments;
extern struct nc4_functions {
    NC4_FUNCTIONS(NC4_FUNCTION)
} nc4_functions;
#undef NC4_FUNCTION

/* Calls one: nc4_call(nc_close, ncid). Never where nc4_load has failed. */
#define nc4_call(name, ...) nc4_unlock((nc4_lock(), nc4_functions.name(__VA_ARGS__)))
void nc4_lock(void);
int nc4_unlock(int result);

/* Loads netCDF-C, once for the process: the library that NCMPI_NETCDF4 in the environment
 * names, else the one that `configure --with-netcdf4=` did, else the first that there is
 * of those of Debian and others; of parallel ones the one for this MPI, where `parallel`
 * asks for it first. NC_ENOTBUILT, with words on what to install. */
int nc4_load(bool parallel);

/* A function that only some of them have, by its name; NULL. And of another library, as
 * the loaded one would call it. */
typedef void (*nc4_any_function)(void);
nc4_any_function nc4_find(const char *name);

/* The name it was loaded by. */
const char *nc4_name(void);

#endif
