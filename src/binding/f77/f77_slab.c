/* Converts hyperslabs: reverses the order of dimensions, and numbers elements from 0. */
#include "base_mem.h"
#include "f77.h"

enum { NO_VARIABLE = -2 };

/* Returns the number of dimensions of a variable, or 0 if the variable does not exist.
 * The C function then reports the error. */
static size_t dims_of(int ncid, int varid)
{
    int ndims = 0;
    if (ncmpi_inq_varndims(ncid, varid, &ndims) != NC_NOERR) return 0;
    return (size_t)ndims;
}

/* Writes a list in reverse order, and subtracts `first` from each element. */
static const MPI_Offset *reversed(const MPI_Offset *list, size_t n,
                                  unsigned long long first, MPI_Offset **room)
{
    if (!list) return NULL;
    MPI_Offset *out = *room;
    for (size_t i = 0; i < n; i++)
        out[i] = (MPI_Offset)((unsigned long long)list[n - 1 - i] - first);
    *room += n;
    return out;
}

void f77_slab_make(struct f77_slab *at, int ncid, int varid, const MPI_Offset *start,
                   const MPI_Offset *count, const MPI_Offset *stride,
                   const MPI_Offset *imap)
{
    at->varid = f77_id(varid);
    at->err = NC_NOERR;
    at->more = NULL;
    size_t n = start ? dims_of(ncid, at->varid) : 0;
    MPI_Offset *room = at->room;
    if (n > F77_DIMS) {
        room = at->more = base_malloc(4 * n * sizeof *room);
        if (!room) {
            at->err = NC_ENOMEM;
            at->varid = NO_VARIABLE;
            room = at->room;
            n = 0;
        }
    }
    at->start = reversed(start, n, 1, &room);
    at->count = reversed(count, n, 0, &room);
    at->stride = reversed(stride, n, 0, &room);
    at->imap = reversed(imap, n, 0, &room);
}

int f77_slab_end(struct f77_slab *at, int err)
{
    if (at->more) base_free(at->more);
    return at->err != NC_NOERR ? at->err : err;
}

void f77_list_make(struct f77_list *at, int ncid, int varid, int num,
                   const MPI_Offset *starts, const MPI_Offset *counts)
{
    at->varid = f77_id(varid);
    at->err = NC_NOERR;
    size_t n = dims_of(ncid, at->varid), pieces = num > 0 ? (size_t)num : 0;
    at->starts =
        base_calloc(pieces, 2 * sizeof *at->starts + 2 * n * sizeof **at->starts);
    if (!at->starts) {
        at->counts = NULL;
        at->err = NC_ENOMEM;
        at->varid = NO_VARIABLE;
        return;
    }
    at->counts = at->starts + pieces;
    MPI_Offset *room = (MPI_Offset *)(at->counts + pieces);
    for (size_t i = 0; i < pieces; i++) {
        at->starts[i] = room;
        reversed(starts + i * n, n, 1, &room);
        at->counts[i] = room;
        reversed(counts + i * n, n, 0, &room);
    }
}

int f77_list_end(struct f77_list *at, int err)
{
    base_free(at->starts);
    return at->err != NC_NOERR ? at->err : err;
}
