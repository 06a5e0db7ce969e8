/* Transfers tiles: either each process transfers its own pieces, or all processes use a
 * file view together. A direct write never touches the bytes between pieces. */
#include <stdlib.h>
#include <string.h>

#include "access_tile.h"
#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "mpio.h"

/* ---- direct ---- */

/* Limits in bytes for combining nearby pieces into one call through a buffer. Reading
 * across a small gap is cheaper than another call, and so is copying short adjacent
 * pieces before writing them. */
enum { GAP = 4096, SHORT = 8192, SIEVE = 1 << 20 };

/* Returns the number of pieces, starting with i, that one read can cover because their
 * span fits into the sieve buffer. */
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

/* Returns the number of short pieces, starting with i, that one write can cover because
 * there are no gaps between them. */
static int64_t chain(const struct access_tile *t, int64_t i)
{
    int64_t first = t->pieces[i].offset, n = 1;
    if (t->pieces[i].length > SHORT) return 1;
    for (; i + n < t->npieces; n++) {
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

/* Writes only the pieces. Another process or program may put values into the gaps at the
 * same time, so gaps must not be read and written back. */
int mpio_write_tile(struct mpio *m, const struct access_tile *t)
{
    unsigned char *sieve = NULL;
    int err = NC_NOERR;
    for (int64_t i = 0, n, end = 0; i < t->npieces && err == NC_NOERR; i += n) {
        const struct access_piece *p = &t->pieces[i];
        n = chain(t, i);
        if ((err = base_holds(p->offset >= end)) != NC_NOERR) break;
        end = p[n - 1].offset + p[n - 1].length;
        if (n > 1 && sieve == NULL && (sieve = base_malloc(SIEVE)) == NULL) {
            err = NC_ENOMEM;
        } else if (n > 1) {
            err = write_chain(m, t, i, n, sieve);
        } else {
            m->base.ds->stats.file_singles += t->npieces > 1 && p->length <= SHORT;
            err = file_write(&m->file, p->offset, t->bytes + p->pos, p->length);
        }
    }
    base_free(sieve);
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

/* Return the offset of a piece in the file, and in the tile's memory. */
static int64_t in_file(const struct access_piece *p)
{
    return p->offset;
}

static int64_t in_memory(const struct access_piece *p)
{
    return p->pos;
}

/* Creates a type for the pieces at the offsets that `place` returns. It is a flat list of
 * runs: MPICH up to 4.0.3 writes to the wrong offsets through nested file types. */
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

/* Returns whether the pieces are contiguous in memory, starting at offset 0. */
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
    int64_t n = 0, end = 0;
    bool ascending = true;
    for (int64_t i = 0; i < t->npieces; i++) {
        n += t->pieces[i].length;
        ascending &= t->pieces[i].offset >= end;
        end = t->pieces[i].offset + t->pieces[i].length;
    }

    /* After an error this process still joins the transfer, because the others wait in
     * it. */
    int err = base_holds(ascending && n <= INT32_MAX);
    if (err == NC_NOERR && n > 0) err = list_type(t, in_file, &filetype);
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
