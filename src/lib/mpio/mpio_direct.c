/* Tiles to and from the file: each process its own pieces, or all through a view. */
#include <stdlib.h>
#include <string.h>

#include "access_tile.h"
#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "mpio.h"

/* ---- direct ---- */

/* What lies near each other in the file goes through a buffer in one call. Reading across
 * a small gap is cheaper than another call; so is copying short pieces that are written.
 */
enum { GAP = 4096, SHORT = 8192, SIEVE = 1 << 20, PAGE = 4096 };

/* How many pieces from i on to read together: their span fits the sieve buffer. */
static int64_t group(const struct access_tile *t, int64_t i)
{
    int64_t first = t->pieces[i].offset, n = 1;
    for (; i + n < t->npieces; n++) {
        const struct access_piece *p = &t->pieces[i + n], *before = p - 1;
        if (p->offset - (before->offset + before->length) > GAP) break;
        if (p->offset + p->length - first > SIEVE) break;
    }
    return n;
}

/* And to write together: short ones before `end`, without gaps. */
static int64_t chain(const struct access_tile *t, int64_t i, int64_t end)
{
    int64_t first = t->pieces[i].offset, n = 1;
    if (t->pieces[i].length > SHORT) return 1;
    for (; i + n < end; n++) {
        const struct access_piece *p = &t->pieces[i + n], *before = p - 1;
        if (p->offset != before->offset + before->length || p->length > SHORT) break;
        if (p->offset + p->length - first > SIEVE) break;
    }
    return n;
}

static int write_chain(struct mpio *m, const struct access_tile *t, int64_t i, int64_t n,
                       unsigned char *sieve)
{
    const struct access_piece *p = &t->pieces[i];
    int64_t span = 0;
    for (int64_t k = 0; k < n; span += p[k++].length)
        memcpy(sieve + span, t->bytes + p[k].pos, (size_t)p[k].length);
    return file_write(&m->file, p->offset, sieve, span);
}

/* Pieces from i on up to `end`, a call for each that nothing adjoins. */
static int write_pieces(struct mpio *m, const struct access_tile *t, int64_t i,
                        int64_t end)
{
    unsigned char *sieve = NULL;
    int err = NC_NOERR;
    for (int64_t n; i < end && err == NC_NOERR; i += n) {
        const struct access_piece *p = &t->pieces[i];
        n = chain(t, i, end);
        if (n > 1 && sieve == NULL && (sieve = base_malloc(SIEVE)) == NULL)
            err = NC_ENOMEM;
        else if (n > 1)
            err = write_chain(m, t, i, n, sieve);
        else
            err = file_write(&m->file, p->offset, t->bytes + p->pos, p->length);
    }
    base_free(sieve);
    return err;
}

/* How many short pieces from i on lie near each other, and what there is to be gained by
 * storing them many at a time: they are more than what that costs. */
static int64_t crowd(const struct access_tile *t, int64_t i, bool *gains)
{
    enum { WORTH = 8 }; /* calls that a call with many places takes as long as, and ... */
    enum { A_PAGE = 2 }; /* ... that finding a page does */
    int64_t low = t->pieces[i].offset, n = 0, runs = 0, end = low;
    for (; i + n < t->npieces; n++) {
        const struct access_piece *p = &t->pieces[i + n];
        if (p->length > FILE_SCATTER_LONGEST || p->offset - end > GAP) break;
        runs += n == 0 || p->offset > end;
        end = p->offset + p->length;
    }
    *gains = runs > WORTH + A_PAGE * ((end - low) / PAGE + 1);
    return n;
}

static int scatter_pieces(struct mpio *m, const struct access_tile *t, int64_t i,
                          int64_t end)
{
    int err = NC_NOERR;
    for (; i < end && err == NC_NOERR; i++) {
        const struct access_piece *p = &t->pieces[i];
        err = file_scatter(&m->file, p->offset, t->bytes + p->pos, p->length);
    }
    int flushed = file_scatter_flush(&m->file);
    return err != NC_NOERR ? err : flushed;
}

int mpio_write_tile(struct mpio *m, const struct access_tile *t)
{
    int err = NC_NOERR;
    for (int64_t i = 0, n; i < t->npieces && err == NC_NOERR; i += n) {
        bool gains;
        n = crowd(t, i, &gains);
        if (n == 0) n = 1;
        if (gains && file_scatters(&m->file)) {
            err = scatter_pieces(m, t, i, i + n);
            continue;
        }
        if (gains) m->base.ds->stats.file_singles += n;
        err = write_pieces(m, t, i, i + n);
    }
    return err;
}

static int read_group(struct mpio *m, const struct access_tile *t, int64_t i, int64_t n,
                      unsigned char *sieve)
{
    const struct access_piece *p = &t->pieces[i], *last = p + n - 1;
    int64_t span = last->offset + last->length - p->offset;
    int err = file_read(&m->file, p->offset, sieve, span);
    for (int64_t k = 0; k < n && err == NC_NOERR; k++)
        memcpy(t->bytes + p[k].pos, sieve + (p[k].offset - p->offset),
               (size_t)p[k].length);
    return err;
}

int mpio_read_tile(struct mpio *m, const struct access_tile *t)
{
    unsigned char *sieve = NULL;
    int err = NC_NOERR;
    for (int64_t i = 0, n; i < t->npieces && err == NC_NOERR; i += n) {
        const struct access_piece *p = &t->pieces[i];
        n = group(t, i);
        if (n > 1 && sieve == NULL && (sieve = base_malloc(SIEVE)) == NULL)
            err = NC_ENOMEM;
        else if (n > 1)
            err = read_group(m, t, i, n, sieve);
        else
            err = file_read(&m->file, p->offset, t->bytes + p->pos, p->length);
    }
    base_free(sieve);
    return err;
}

/* ---- view ---- */

/* Where a piece lies, in the file or in the tile's memory. */
static int64_t in_file(const struct access_piece *p)
{
    return p->offset;
}

static int64_t in_memory(const struct access_piece *p)
{
    return p->pos;
}

/* The pieces where `place` says they lie, as a flat list of byte runs: MPICH up to
 * 4.0.3 writes to wrong places through deeper file types. */
static int list_type(const struct access_tile *t,
                     int64_t (*place)(const struct access_piece *), MPI_Datatype *type)
{
    int n = (int)t->npieces;
    int *lengths = base_malloc((size_t)n * sizeof *lengths);
    MPI_Aint *displs = base_malloc((size_t)n * sizeof *displs);
    int mpi = MPI_ERR_NO_MEM;
    if (lengths != NULL && displs != NULL) {
        for (int i = 0; i < n; i++) {
            lengths[i] = (int)t->pieces[i].length;
            displs[i] = place(&t->pieces[i]);
        }
        mpi = base_mpi_runs(n, lengths, displs, type);
    }
    base_free(lengths);
    base_free(displs);
    return base_mpi_error(mpi, NC_EFILEVIEW, "describing a region to MPI");
}

/* Do the pieces lie one behind the other in memory, from its start? */
static bool packed(const struct access_tile *t)
{
    int64_t at = 0;
    for (int64_t i = 0; i < t->npieces; at += t->pieces[i++].length)
        if (t->pieces[i].pos != at) return false;
    return true;
}

int mpio_view_tile_all(struct mpio *m, const struct access_tile *t, bool put)
{
    MPI_Datatype filetype = MPI_BYTE, memtype = MPI_BYTE;
    int64_t n = 0;
    for (int64_t i = 0; i < t->npieces; i++)
        n += t->pieces[i].length;

    /* Whatever goes wrong here, the others wait in the collective transfer. */
    int err = n > 0 ? list_type(t, in_file, &filetype) : NC_NOERR;
    if (err == NC_NOERR && !packed(t)) err = list_type(t, in_memory, &memtype);
    if (err != NC_NOERR) {
        if (filetype != MPI_BYTE) MPI_Type_free(&filetype);
        filetype = MPI_BYTE;
        n = 0;
    }
    int moved = put ? file_write_view_all(&m->file, filetype, memtype, t->bytes, n)
                    : file_read_view_all(&m->file, filetype, memtype, t->bytes, n);
    if (filetype != MPI_BYTE) MPI_Type_free(&filetype);
    if (memtype != MPI_BYTE) MPI_Type_free(&memtype);
    return err != NC_NOERR ? err : moved;
}
