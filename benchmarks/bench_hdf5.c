/* The way `hdf5`, which stores the same variables as datasets of a parallel HDF5 file.
 * Each piece is transferred by one collective call, or by an independent one if the plan
 * requires that. Record dimensions have their final length from the start, so HDF5 never
 * extends them. This code is compiled only if parallel HDF5 is available. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#ifdef BENCH_HDF5
#include <hdf5.h>

#define NEED(call) need_hdf5((call) < 0, #call)

/* Maximum number of segments in a call. HDF5 would take too long to combine more
 * selections. */
enum { MOST_SEGMENTS = 2000 };

struct bench_hdf5 {
    hid_t file, how;
    int nvars;
    hid_t vars[];
};

static void need_hdf5(bool failed, const char *what)
{
    if (failed) bench_stop("HDF5 failed", what);
}

/* Indexed by type, from NC_BYTE (1) to NC_DOUBLE (6). */
static hid_t type_of(nc_type type)
{
    const hid_t types[] = {-1,
                           H5T_NATIVE_SCHAR,
                           H5T_NATIVE_CHAR,
                           H5T_NATIVE_SHORT,
                           H5T_NATIVE_INT,
                           H5T_NATIVE_FLOAT,
                           H5T_NATIVE_DOUBLE};
    return types[type];
}

static bool can(struct bench *b, const struct bench_plan *p)
{
    int64_t not_here = 0;
    for (int64_t i = 0; i < p->npieces; i++)
        not_here += p->pieces[i].nsegs > MOST_SEGMENTS || p->pieces[i].ghost > 0;
    /* If calls are collective, all processes must have the same number of pieces. */
    int64_t all[2] = {p->npieces, -p->npieces};
    bench_need_mpi(MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT64_T, MPI_MAX, b->comm),
                   "MPI_Allreduce");
    return bench_sum(b, not_here) == 0 &&
           (all[0] == -all[1] || p->call == BENCH_INDEPENDENT);
}

/* Returns the number of records that the pieces of all processes cover. */
static int64_t records(struct bench *b, const struct bench_plan *p)
{
    int64_t most = 1;
    for (int64_t i = 0; i < p->npieces; i++) {
        const struct bench_piece *q = &p->pieces[i];
        int n = p->vars[q->var].ndims;
        for (int64_t s = 0; s < q->nsegs && p->vars[q->var].record; s++)
            if (q->start[s * n] + q->count[s * n] > most)
                most = q->start[s * n] + q->count[s * n];
    }
    bench_need_mpi(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, b->comm),
                   "MPI_Allreduce");
    return most;
}

static hid_t make_var(hid_t file, const struct bench_plan *p, int i, int64_t nrecs)
{
    const struct bench_var *v = &p->vars[i];
    hsize_t shape[BENCH_DIMS], chunk[BENCH_DIMS];
    char name[32];
    snprintf(name, sizeof name, "var_%d", i);
    for (int k = 0; k < v->ndims; k++) {
        shape[k] = (hsize_t)(k == 0 && v->record ? nrecs : v->shape[k]);
        chunk[k] = p->chunked ? (hsize_t)p->pieces[0].count[k] : 1;
    }
    hid_t space =
        v->ndims > 0 ? H5Screate_simple(v->ndims, shape, NULL) : H5Screate(H5S_SCALAR);
    hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    if (p->chunked) NEED(H5Pset_chunk(plist, v->ndims, chunk));
    if (p->deflate) {
        NEED(H5Pset_shuffle(plist));
        NEED(H5Pset_deflate(plist, 1));
        NEED(H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER));
    }
    hid_t var =
        H5Dcreate2(file, name, type_of(v->type), space, H5P_DEFAULT, plist, H5P_DEFAULT);
    NEED(var);
    NEED(H5Pclose(plist));
    NEED(H5Sclose(space));
    return var;
}

/* Opens a dataset. If its chunks are not deflated, its cache is large enough for all of
 * them. */
static hid_t open_var(hid_t file, const struct bench_plan *p, int i)
{
    char name[32];
    snprintf(name, sizeof name, "var_%d", i);
    hid_t cache = H5Pcreate(H5P_DATASET_ACCESS);
    if (p->chunked && !p->deflate)
        NEED(H5Pset_chunk_cache(cache, 100003, (size_t)1 << 40, 0));
    hid_t var = H5Dopen2(file, name, cache);
    NEED(H5Pclose(cache));
    return var;
}

static void open_file(struct bench *b, struct bench_plan *p, enum bench_step step,
                      struct bench_handle *handle)
{
    bool fresh = step == BENCH_FRESH;
    struct bench_hdf5 *h =
        bench_alloc((int64_t)sizeof *h + p->nvars * (int64_t)sizeof(hid_t));
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    NEED(H5Pset_fapl_mpio(access, b->comm, MPI_INFO_NULL));
    NEED(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
    h->file = fresh ? H5Fcreate(b->raw, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                    : H5Fopen(b->raw, H5F_ACC_RDWR, access);
    NEED(h->file);
    NEED(H5Pclose(access));
    h->how = H5Pcreate(H5P_DATASET_XFER);
    NEED(H5Pset_dxpl_mpio(h->how, p->call == BENCH_INDEPENDENT ? H5FD_MPIO_INDEPENDENT
                                                               : H5FD_MPIO_COLLECTIVE));
    h->nvars = p->nvars;
    int64_t nrecs = fresh ? records(b, p) : 0;
    for (int i = 0; i < p->nvars; i++) {
        h->vars[i] = fresh ? make_var(h->file, p, i, nrecs) : open_var(h->file, p, i);
        NEED(h->vars[i]);
    }
    handle->hdf5 = h;
}

/* Selects one hyperslab, or the union of several. */
static hid_t select_file(const struct bench_plan *p, const struct bench_piece *q,
                         hid_t var)
{
    int n = p->vars[q->var].ndims;
    hid_t space = H5Dget_space(var);
    NEED(space);
    if (n == 0) return space;
    if (q->nelems == 0) {
        NEED(H5Sselect_none(space));
        return space;
    }
    for (int64_t s = 0; s < q->nsegs; s++) {
        hsize_t start[BENCH_DIMS], stride[BENCH_DIMS], count[BENCH_DIMS];
        for (int k = 0; k < n; k++) {
            start[k] = (hsize_t)q->start[s * n + k];
            count[k] = (hsize_t)q->count[s * n + k];
            stride[k] = q->stride[k] > 0 ? (hsize_t)q->stride[k] : 1;
        }
        NEED(H5Sselect_hyperslab(space, s == 0 ? H5S_SELECT_SET : H5S_SELECT_OR, start,
                                 stride, count, NULL));
    }
    return space;
}

static int64_t move(const struct bench_plan *p, struct bench_handle handle, bool put)
{
    struct bench_hdf5 *h = handle.hdf5;
    for (int64_t i = 0; i < p->npieces; i++) {
        const struct bench_piece *q = &p->pieces[i];
        hsize_t n = (hsize_t)(q->nelems > 0 ? q->nelems : 1);
        hid_t file = select_file(p, q, h->vars[q->var]);
        hid_t memory = H5Screate_simple(1, &n, NULL), type = type_of(p->vars[q->var].mem);
        if (q->nelems == 0) NEED(H5Sselect_none(memory));
        if (put)
            NEED(H5Dwrite(h->vars[q->var], type, memory, file, h->how, q->buf));
        else
            NEED(H5Dread(h->vars[q->var], type, memory, file, h->how, q->buf));
        NEED(H5Sclose(memory));
        NEED(H5Sclose(file));
    }
    return p->file_bytes;
}

static void sync_file(struct bench_handle h)
{
    NEED(H5Fflush(h.hdf5->file, H5F_SCOPE_GLOBAL));
}

static void close_file(struct bench *b, const struct bench_plan *p,
                       struct bench_handle handle, enum bench_step step)
{
    (void)b, (void)p, (void)step;
    struct bench_hdf5 *h = handle.hdf5;
    for (int i = 0; i < h->nvars; i++)
        NEED(H5Dclose(h->vars[i]));
    NEED(H5Pclose(h->how));
    NEED(H5Fclose(h->file));
    free(h);
}

const struct bench_way bench_hdf5 = {"hdf5", true,      can,       open_file,
                                     move,   sync_file, close_file};

#else

static bool can(struct bench *b, const struct bench_plan *p)
{
    (void)p;
    if (b->rank == 0) bench_stop("this program was built without parallel HDF5", "-5");
    return false;
}

const struct bench_way bench_hdf5 = {.name = "hdf5", .can = can};

#endif
