/* Untyped entry points for the API. Each typed function is generated from src/tables and
 * calls one of these functions. */
#ifndef API_H
#define API_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Access kinds, and flags to OR with them. `how` is one kind combined with any flags. */
enum {
    API_VAR,  /* the whole variable; start, count, stride and imap are unused */
    API_VAR1, /* one element; uses start */
    API_VARA, /* uses start and count */
    API_VARS, /* uses start, count and stride */
    API_VARM, /* uses start, count, stride and imap */
    API_KIND = 7,
    API_COLL = 8,      /* collective; otherwise independent */
    API_BUFFERED = 16, /* bput: copy the values to the attached buffer */
    API_UPPER_BOUND =
        32,            /* bufcount is an upper bound, not the exact number of elements */
    API_TEMPORARY = 64 /* iput: the buffer is temporary, so copy its values */
};

/* Arguments of a put or get. start, count, stride and imap have one entry per dimension,
 * in elements. Lists that the kind does not use are NULL. buf contains bufcount items of
 * buftype. The typed functions pass the predefined MPI type of their C type, MPI_CHAR for
 * text, and NC_COUNT_IGNORE as bufcount: count[] determines the number of elements.
 * pnetcdf.h defines the rules, and the order in which errors are detected.
 *
 * If fortran_lengths is not NULL, the lists are in Fortran order and the kind is
 * API_VARM: the fastest dimension comes first and indices start at 1.
 * fortran_lengths[0..3] are the lengths of start, count, stride and imap. Missing entries
 * default to the first element, a count of one, a stride of one, and contiguous
 * memory. */
struct api_access {
    int varid;
    const MPI_Offset *start, *count, *stride, *imap;
    const void *buf; /* the user's buffer; only a get writes to it */
    MPI_Offset bufcount;
    MPI_Datatype buftype;
    unsigned how;
    const int64_t *fortran_lengths;
};

/* Put or get one hyperslab. api_access_later only posts a request and stores its id in
 * *req. It is exported for the C++ interface, which is a separate library. */
int api_access_now_either(int ncid, const struct api_access *a, bool put);
__attribute__((visibility("default"))) int
api_access_later(int ncid, const struct api_access *a, bool put, int *req);

/* A list of hyperslabs of one variable, whose values are contiguous in the buffer. The
 * functions below put or get all hyperslabs, and ignore a->start and a->count. */
struct api_slabs {
    int n;
    MPI_Offset *const *starts, *const *counts;
    bool pending; /* set internally: the file layout may change before the values are
                   * transferred */
};
int api_access_many_now_either(int ncid, const struct api_access *a,
                               const struct api_slabs *slabs, bool put);
int api_access_many_later(int ncid, const struct api_access *a,
                          const struct api_slabs *slabs, bool put, int *req);

/* Arguments of mput and mget, for variables varids[i], each with its own buffer. Lists
 * that the access kind does not use are NULL. Typed functions set `type`, and pass NULL
 * for bufcounts and buftypes. Flexible functions pass MPI_DATATYPE_NULL as type. */
struct api_several {
    const int *varids;
    MPI_Offset *const *starts, *const *counts, *const *strides, *const *imaps;
    void *const *bufs;
    const MPI_Offset *bufcounts;
    const MPI_Datatype *buftypes;
    MPI_Datatype type;
    unsigned how;
};
int api_several_either(int ncid, int num, const struct api_several *s, bool put);

/* Put or get an attribute. `type` is the MPI type of the values in memory, or
 * MPI_DATATYPE_NULL for the C type that corresponds to the external type. */
int api_put_att_all(int ncid, int varid, const char *name, int xtype, MPI_Offset nelems,
                    const void *values, MPI_Datatype type);
int api_get_att(int ncid, int varid, const char *name, void *values, MPI_Datatype type);

#endif
