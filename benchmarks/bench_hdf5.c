/* The way `hdf5`: the same variables as datasets of a parallel HDF5 file, each piece one
 * collective call (independent, where the plan says so). Record dimensions are as long
 * as they get, which spares HDF5 the growing. Built where parallel HDF5 is. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#ifdef BENCH_HDF5
#include <hdf5.h>

#define NEED(call) bench_hdf5_need((call) < 0, #call)

enum {
    MOST_SEGMENTS = 2000
}; /* of a varn call: selections are put together one by one */

struct bench_hdf5 {
    hid_t file, how;
    int nvars;
    hid_t vars[];
};

static void bench_hdf5_need(bool failed, const char *what)
{
    if (failed) bench_stop("HDF5 failed", what);
}

static hid_t type_of(nc_type type)
{
    switch (type) {
    case NC_BYTE:
        return H5T_NATIVE_SCHAR;
    case NC_CHAR:
        return H5T_NATIVE_CHAR;
    case NC_SHORT:
        return H5T_NATIVE_SHORT;
    case NC_INT:
        return H5T_NATIVE_INT;
    case NC_FLOAT:
        return H5T_NATIVE_FLOAT;
    case NC_DOUBLE:
        return H5T_NATIVE_DOUBLE;
    default:
        bench_stop("type", "HDF5");
        return -1;
    }
}

bool bench_hdf5_can(struct bench *b, const struct bench_plan *p)
{
    int64_t not_here = 0;
    for (int64_t i = 0; i < p->npieces; i++)
        not_here += p->pieces[i].nsegs > MOST_SEGMENTS || p->pieces[i].ghost > 0;
    /* Collective calls of one variable: each process must make as many. */
    int64_t all[2] = {p->npieces, -p->npieces};
    bench_need_mpi(MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT64_T, MPI_MAX, b->comm),
                   "MPI_Allreduce");
    return bench_sum(b, not_here) == 0 && all[0] == -all[1];
}

/* How many records the pieces of all processes reach. */
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

static hid_t make_var(hid_t file, const struct bench_var *v, int i, int64_t nrecs)
{
    hsize_t shape[BENCH_DIMS];
    char name[32];
    snprintf(name, sizeof name, "var_%d", i);
    for (int k = 0; k < v->ndims; k++)
        shape[k] = (hsize_t)(k == 0 && v->record ? nrecs : v->shape[k]);
    hid_t space =
        v->ndims > 0 ? H5Screate_simple(v->ndims, shape, NULL) : H5Screate(H5S_SCALAR);
    hid_t var = H5Dcreate2(file, name, type_of(v->type), space, H5P_DEFAULT, H5P_DEFAULT,
                           H5P_DEFAULT);
    NEED(var);
    NEED(H5Sclose(space));
    return var;
}

struct bench_hdf5 *bench_hdf5_open(struct bench *b, const struct bench_plan *p,
                                   bool fresh)
{
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
    NEED(H5Pset_dxpl_mpio(h->how, p->way == BENCH_INDEPENDENT ? H5FD_MPIO_INDEPENDENT
                                                              : H5FD_MPIO_COLLECTIVE));
    h->nvars = p->nvars;
    int64_t nrecs = fresh ? records(b, p) : 0;
    for (int i = 0; i < p->nvars; i++) {
        char name[32];
        snprintf(name, sizeof name, "var_%d", i);
        h->vars[i] = fresh ? make_var(h->file, &p->vars[i], i, nrecs)
                           : H5Dopen2(h->file, name, H5P_DEFAULT);
        NEED(h->vars[i]);
    }
    return h;
}

/* A hyperslab, or several put together. */
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

void bench_hdf5_move(const struct bench_plan *p, struct bench_hdf5 *h, bool put)
{
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
}

void bench_hdf5_sync(struct bench_hdf5 *h)
{
    NEED(H5Fflush(h->file, H5F_SCOPE_GLOBAL));
}

void bench_hdf5_close(struct bench_hdf5 *h)
{
    for (int i = 0; i < h->nvars; i++)
        NEED(H5Dclose(h->vars[i]));
    NEED(H5Pclose(h->how));
    NEED(H5Fclose(h->file));
    free(h);
}

#else

bool bench_hdf5_can(struct bench *b, const struct bench_plan *p)
{
    (void)p;
    if (b->rank == 0) bench_stop("this program was built without parallel HDF5", "-5");
    return false;
}

struct bench_hdf5 *bench_hdf5_open(struct bench *b, const struct bench_plan *p,
                                   bool fresh)
{
    (void)b, (void)p, (void)fresh;
    return NULL;
}

void bench_hdf5_move(const struct bench_plan *p, struct bench_hdf5 *h, bool put)
{
    (void)p, (void)h, (void)put;
}

void bench_hdf5_sync(struct bench_hdf5 *h)
{
    (void)h;
}

void bench_hdf5_close(struct bench_hdf5 *h)
{
    (void)h;
}

#endif
