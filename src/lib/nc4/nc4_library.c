/* Finds and loads netCDF-C. */
#include "nc4_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "config.h"

#include "base_error.h"

struct nc4_functions nc4_functions;

static pthread_mutex_t calls = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static void *library;
static char library_name[256];

#ifdef NCMPI_NETCDF4
static const char *const serial[] = {
    "libnetcdf.so.19", "libnetcdf.so.22", "libnetcdf.so.18", "libnetcdf.so", NULL,
};
#ifdef NCMPI_NETCDF4_PARALLEL
static const char *const parallel_ones[] = {NCMPI_NETCDF4_PARALLEL, NULL};
#else
static const char *const parallel_ones[] = {NULL};
#endif

/* Returns the flags for dlopen. RTLD_DEEPBIND makes netCDF-C use its own PnetCDF and
 * HDF5, even if the program contains others. It cannot be used with Open MPI, where
 * MPI_SUM, MPI_INFO_NULL and others are objects that are copied into the program. A
 * library bound in this way would use the originals, which are never initialized. The
 * address sanitizer also rejects such a library. */
static int flags(void)
{
    int deep = 0;
#if defined(RTLD_DEEPBIND) && !defined(__SANITIZE_ADDRESS__)
    if (dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") == NULL) deep = RTLD_DEEPBIND;
#endif
    return RTLD_NOW | RTLD_LOCAL | deep;
}

static bool load_named(const char *name)
{
    library = dlopen(name, flags());
    if (library != NULL) snprintf(library_name, sizeof library_name, "%s", name);
    return library != NULL;
}

static bool load_first(const char *const *names)
{
    for (; *names != NULL; names++)
        if (load_named(*names)) return true;
    return false;
}

/* Loads a library. If the user or configure has named one, tries only that one. */
static bool load_one(bool parallel)
{
    const char *named = getenv("NCMPI_NETCDF4");
    if (named == NULL || *named == '\0') named = NCMPI_NETCDF4;
    if (*named != '\0') return load_named(named);
    return load_first(parallel ? parallel_ones : serial) ||
           load_first(parallel ? serial : parallel_ones);
}

static int fill_table(void)
{
    static const struct {
        const char *name;
        size_t at;
    } entries[] = {
#define NC4_ENTRY(name, arguments) {#name, offsetof(struct nc4_functions, name)},
        NC4_FUNCTIONS(NC4_ENTRY)
#undef NC4_ENTRY
    };
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        void *function = dlsym(library, entries[i].name);
        if (function == NULL)
            return base_error_set(
                NC_ENOTBUILT,
                "%s, which was loaded for netCDF-4 files, has no function %s",
                library_name, entries[i].name);
        *(void **)((char *)&nc4_functions + entries[i].at) = function;
    }
    return NC_NOERR;
}

/* Loads a library and its functions. After a failure, the next call tries again, because
 * the environment may have changed. */
static int load(bool parallel)
{
    if (!load_one(parallel)) {
        const char *why = dlerror();
        return base_error_set(
            NC_ENOTBUILT,
            "netCDF-4 files need netCDF-C, which was not found; install it (Debian: "
            "libnetcdf19, or libnetcdf-mpi-19 to write from several processes of Open "
            "MPI), or set NCMPI_NETCDF4 to its file name: %s",
            why == NULL ? "no file name" : why);
    }
    int err = fill_table();
    if (err == NC_NOERR) return NC_NOERR;
    dlclose(library);
    library = NULL;
    return err;
}
#else
static int load(bool parallel)
{
    (void)parallel;
    return base_error_set(NC_ENOTBUILT, "a netCDF-4 file, but this library was "
                                        "configured with --without-netcdf4; convert the "
                                        "file to a classic one (nccopy -k cdf5)");
}
#endif

int nc4_load(bool parallel)
{
    pthread_mutex_lock(&loading);
    int err = library == NULL ? load(parallel) : NC_NOERR;
    pthread_mutex_unlock(&loading);
    return err;
}

nc4_any_function nc4_find(const char *name)
{
    nc4_any_function f;
    *(void **)&f = dlsym(library, name);
    return f;
}

bool nc4_is_parallel(void)
{
    const void *its = dlsym(library, "PMPI_Comm_rank");
    return nc4_find("nc_var_par_access") != NULL && its != NULL &&
           its == dlsym(RTLD_DEFAULT, "PMPI_Comm_rank");
}

const char *nc4_name(void)
{
    return library_name;
}

/* Acquires the lock. Also disables HDF5's error messages, as each thread must. */
void nc4_lock(void)
{
    static _Thread_local bool warned;
    pthread_mutex_lock(&calls);
    if (warned) return;
    warned = true;
    typedef int set_auto(int64_t stack, void *function, void *data);
    nc4_any_function f = nc4_find("H5Eset_auto2");
    if (f != NULL) (void)((set_auto *)f)(0, NULL, NULL);
}

int nc4_unlock(int result)
{
    pthread_mutex_unlock(&calls);
    return result;
}
