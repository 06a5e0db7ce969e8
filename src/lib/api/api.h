/* Untyped entry points. Each typed function, generated from src/tables, is a one-line
 * call to one of these. */
#ifndef API_H
#define API_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* What kind of access a call is; `how` is one kind, with flags added. */
enum {
    API_VAR,  /* the whole variable: start, count, stride, imap unused */
    API_VAR1, /* one element at start */
    API_VARA, /* start, count */
    API_VARS, /* start, count, stride */
    API_VARM, /* start, count, stride, imap */
    API_KIND = 7,
    API_COLL = 8,      /* collective; otherwise independent */
    API_BUFFERED = 16, /* bput: the values are copied to the attached buffer */
    API_ROOM = 32,     /* bufcount is how many may be accessed, not how many are */
    API_FLEETING = 64  /* iput: the buffer is gone after the call, its values are taken */
};

/* One access: the arguments of a put or get. start, count, stride, imap have one entry
 * per dimension, in elements; those that the kind has no use for are NULL. buf holds
 * bufcount items of buftype. The typed functions pass the predefined MPI type of their C
 * type and bufcount NC_COUNT_IGNORE (the amount follows from count[]); MPI_CHAR is text.
 * The rules, and the order in which errors are found, are those of pnetcdf.h.
 *
 * Where `given` is not NULL the lists are those of Fortran, and the kind is API_VARM: the
 * fastest dimension comes first, elements count from 1, and given[0] to given[3] entries
 * are in start, count, stride and imap. Where a list ends, it goes on with the first
 * element, one, each of them, without gaps. */
struct api_access {
    int varid;
    const MPI_Offset *start, *count, *stride, *imap;
    const void *buf; /* a put never changes it */
    MPI_Offset bufcount;
    MPI_Datatype buftype;
    unsigned how;
    const int64_t *given;
};

/* Blocking, and nonblocking access; *req gets the id of the request. The C++ interface
 * calls the second from a library of its own. */
int api_access_now_either(int ncid, const struct api_access *a, bool put);
__attribute__((visibility("default"))) int
api_access_later(int ncid, const struct api_access *a, bool put, int *req);

/* The same of n hyperslabs of one variable, whose values lie one behind the other in the
 * buffer; start and count of the access are not used. */
struct api_slabs {
    int n;
    MPI_Offset *const *starts, *const *counts;
    bool pending; /* the layout may be another one when they are moved; the callee's */
};
int api_access_many_now_either(int ncid, const struct api_access *a,
                               const struct api_slabs *slabs, bool put);
int api_access_many_later(int ncid, const struct api_access *a,
                          const struct api_slabs *slabs, bool put, int *req);

/* num accesses to variables varids[i], each with its own buffer; lists that a kind does
 * not have are NULL. The typed functions pass bufcounts and buftypes NULL and their type
 * as `type`; the flexible ones MPI_DATATYPE_NULL as type. */
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

/* Attributes. type is the MPI type of the values in memory, or MPI_DATATYPE_NULL for
 * the C type that corresponds to the external one. */
int api_put_att_all(int ncid, int varid, const char *name, int xtype, MPI_Offset nelems,
                    const void *values, MPI_Datatype type);
int api_get_att(int ncid, int varid, const char *name, void *values, MPI_Datatype type);

#endif
