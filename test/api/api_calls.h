/* Tables of all typed and flexible data functions and all attribute functions, which let
 * a test call every function in a loop. The tables are generated from src/tables. */
#ifndef API_CALLS_H
#define API_CALLS_H

#include <pnetcdf.h>
#include <stdbool.h>

enum calls_mode {
    CALLS_put,
    CALLS_get,
    CALLS_iput,
    CALLS_iget,
    CALLS_bput,
    CALLS_mput,
    CALLS_mget
};
enum calls_kind { CALLS_var, CALLS_var1, CALLS_vara, CALLS_vars, CALLS_varm, CALLS_varn };

/* A C type in memory, with functions that access the elements of a buffer. */
struct calls_type {
    const char *name;
    size_t size;
    MPI_Datatype (*mpi)(void);
    void (*set)(void *buf, size_t i, int value);
    int (*get)(const void *buf, size_t i);
};
extern const struct calls_type calls_types[];
extern const int calls_type_count;

/* Arguments for all functions. Each function uses the ones that match its parameters. */
struct calls_args {
    int ncid, varid;
    MPI_Offset *start, *count, *stride, *imap;
    int num; /* number of pieces (varn) or variables (mput, mget) */
    int *varids;
    MPI_Offset **starts, **counts, **strides, **imaps;
    void *buf, **bufs;
    MPI_Offset bufcount, *bufcounts;
    MPI_Datatype buftype, *buftypes;
    int *req;
};

struct calls_row {
    const char *name;
    enum calls_mode mode;
    enum calls_kind kind;
    bool collective;
    const struct calls_type *type; /* NULL for flexible functions */
    int (*run)(const struct calls_args *args);
};
extern const struct calls_row calls_rows[];
extern const int calls_row_count;

/* The put and get attribute functions for one numeric C type. */
struct calls_att {
    const char *name;
    const struct calls_type *type;
    int (*put)(int ncid, int varid, const char *name, nc_type xtype, MPI_Offset n,
               const void *values);
    int (*get)(int ncid, int varid, const char *name, void *values);
};
extern const struct calls_att calls_atts[];
extern const int calls_att_count;

#endif
