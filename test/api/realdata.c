/* Reads and rewrites real files on all processes: realdata OUTDIR FILE...
 *
 * For each FILE, writes files with the same base name to OUTDIR. The .read file contains
 * the text that support/nc_read would print; .1, .2 and .5 are copies in the three
 * formats. Each process reads and writes one slab of every variable. */
#include <inttypes.h>
#include <libgen.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element_sum.h"
#include "pnetcdf.h"

enum { MAX_DIMS = 16 };

static int rank, nprocs;

static void need(int rc, const char *what)
{
    if (rc == NC_NOERR) return;
    fprintf(stderr, "process %d: %s: %s\n", rank, what, ncmpi_strerror(rc));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *room(size_t size)
{
    void *p = malloc(size + 1);
    if (p == NULL) need(NC_ENOMEM, "memory");
    return p;
}

static size_t size_of(nc_type type)
{
    static const size_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    return sizes[type];
}

/* ---- a variable, and this process's slab ---- */

struct slab {
    char name[NC_MAX_NAME + 1];
    nc_type type;
    int ndims, natts, dimids[MAX_DIMS];
    MPI_Offset shape[MAX_DIMS], start[MAX_DIMS], count[MAX_DIMS];
    int split; /* index of the longest dimension, which is divided; -1 for scalars */
    size_t n;  /* number of elements in the slab */
};

static void find_slab(int ncid, int varid, struct slab *s)
{
    need(ncmpi_inq_varndims(ncid, varid, &s->ndims), "ncmpi_inq_varndims");
    if (s->ndims > MAX_DIMS) need(NC_EMAXDIMS, "this test");
    need(ncmpi_inq_var(ncid, varid, s->name, &s->type, &s->ndims, s->dimids, &s->natts),
         "ncmpi_inq_var");
    s->split = s->ndims - 1;
    for (int d = s->ndims - 1; d >= 0; d--) {
        need(ncmpi_inq_dimlen(ncid, s->dimids[d], &s->shape[d]), s->name);
        s->start[d] = 0;
        s->count[d] = s->shape[d];
        if (s->shape[d] > s->shape[s->split]) s->split = d;
    }
    if (s->split >= 0) {
        MPI_Offset whole = s->shape[s->split];
        s->start[s->split] = whole * rank / nprocs;
        s->count[s->split] = whole * (rank + 1) / nprocs - s->start[s->split];
    }
    s->n = 1;
    for (int d = 0; d < s->ndims; d++)
        s->n *= (size_t)s->count[d];
}

/* Returns the contribution of this process's slab to the variable's sum. The slab covers
 * every dimension completely, except for the divided one. */
static uint64_t slab_sum(const struct slab *s, const unsigned char *values)
{
    uint64_t sum = 0, inner = 1, size = size_of(s->type);
    if (s->split < 0) return rank == 0 ? element_sum(0, values, 1, size) : 0;
    for (int d = s->split + 1; d < s->ndims; d++)
        inner *= (uint64_t)s->shape[d];
    uint64_t run = (uint64_t)s->count[s->split] * inner;
    uint64_t first = (uint64_t)s->start[s->split] * inner;
    for (size_t done = 0; done < s->n; done += run) {
        sum += element_sum(first, values + done * size, run, size);
        first += (uint64_t)s->shape[s->split] * inner;
    }
    return sum;
}

/* ---- printing the contents ---- */

static void print_attributes(FILE *out, int ncid, int varid, int natts)
{
    for (int a = 0; a < natts; a++) {
        char name[NC_MAX_NAME + 1];
        nc_type type;
        MPI_Offset length;
        need(ncmpi_inq_attname(ncid, varid, a, name), "ncmpi_inq_attname");
        need(ncmpi_inq_att(ncid, varid, name, &type, &length), name);
        unsigned char *values = room((size_t)length * size_of(type));
        need(ncmpi_get_att(ncid, varid, name, values), name);
        fprintf(out, "  att %s type %d length %lld ", name, type, (long long)length);
        for (size_t i = 0; i < (size_t)length * size_of(type); i++)
            fprintf(out, "%02x", values[i]);
        fprintf(out, "\n");
        free(values);
    }
}

static void print_variable(FILE *out, int ncid, int varid)
{
    struct slab s;
    uint64_t sum;
    find_slab(ncid, varid, &s);
    fprintf(out, "var %s type %d dims", s.name, s.type);
    for (int d = 0; d < s.ndims; d++)
        fprintf(out, " %d", s.dimids[d]);
    fprintf(out, "\n");
    print_attributes(out, ncid, varid, s.natts);
    void *values = room(s.n * size_of(s.type));
    need(ncmpi_get_vara_all(ncid, varid, s.start, s.count, values, 0, MPI_DATATYPE_NULL),
         s.name);
    sum = slab_sum(&s, values);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    fprintf(out, "  sum %016" PRIx64 "\n", sum);
    free(values);
}

static void describe(int ncid, const char *path)
{
    int ndims, nvars, natts, unlimited;
    FILE *out = fopen(rank == 0 ? path : "/dev/null", "w");
    if (out == NULL) need(NC_EFILE, path);
    need(ncmpi_inq(ncid, &ndims, &nvars, &natts, &unlimited), "ncmpi_inq");
    for (int d = 0; d < ndims; d++) {
        char name[NC_MAX_NAME + 1];
        MPI_Offset length;
        need(ncmpi_inq_dim(ncid, d, name, &length), "ncmpi_inq_dim");
        fprintf(out, "dim %s %lld%s\n", name, (long long)length,
                d == unlimited ? " unlimited" : "");
    }
    print_attributes(out, ncid, NC_GLOBAL, natts);
    for (int v = 0; v < nvars; v++)
        print_variable(out, ncid, v);
    if (fclose(out) != 0) need(NC_EWRITE, path);
}

/* ---- copies to a new file ---- */

static void copy_attributes(int from, int to, int varid, int natts)
{
    for (int a = 0; a < natts; a++) {
        char name[NC_MAX_NAME + 1];
        need(ncmpi_inq_attname(from, varid, a, name), "ncmpi_inq_attname");
        need(ncmpi_copy_att(from, varid, name, to, varid), name);
    }
}

static void define_copy(int from, int to)
{
    int ndims, nvars, natts, unlimited, id;
    need(ncmpi_inq(from, &ndims, &nvars, &natts, &unlimited), "ncmpi_inq");
    for (int d = 0; d < ndims; d++) {
        char name[NC_MAX_NAME + 1];
        MPI_Offset length;
        need(ncmpi_inq_dim(from, d, name, &length), "ncmpi_inq_dim");
        need(ncmpi_def_dim(to, name, d == unlimited ? NC_UNLIMITED : length, &id), name);
    }
    copy_attributes(from, to, NC_GLOBAL, natts);
    for (int v = 0; v < nvars; v++) {
        struct slab s;
        find_slab(from, v, &s);
        need(ncmpi_def_var(to, s.name, s.type, s.ndims, s.dimids, &id), s.name);
        copy_attributes(from, to, v, s.natts);
    }
}

static void copy(int from, const char *path, int cmode)
{
    int to, nvars;
    need(ncmpi_create(MPI_COMM_WORLD, path, cmode, MPI_INFO_NULL, &to), path);
    define_copy(from, to);
    need(ncmpi_enddef(to), path);
    need(ncmpi_inq_nvars(from, &nvars), path);
    for (int v = 0; v < nvars; v++) {
        struct slab s;
        find_slab(from, v, &s);
        void *values = room(s.n * size_of(s.type));
        need(ncmpi_get_vara_all(from, v, s.start, s.count, values, 0, MPI_DATATYPE_NULL),
             s.name);
        need(ncmpi_put_vara_all(to, v, s.start, s.count, values, 0, MPI_DATATYPE_NULL),
             s.name);
        free(values);
    }
    need(ncmpi_close(to), path);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *suffix;
        int cmode;
    } formats[] = {{"1", 0}, {"2", NC_64BIT_OFFSET}, {"5", NC_64BIT_DATA}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    for (int i = 2; i < argc; i++) {
        int ncid, format;
        char path[4096], name[4096];
        snprintf(name, sizeof name, "%s", argv[i]);
        need(ncmpi_open(MPI_COMM_WORLD, argv[i], NC_NOWRITE, MPI_INFO_NULL, &ncid),
             argv[i]);
        snprintf(path, sizeof path, "%.2000s/%.1000s.read", argv[1], basename(name));
        describe(ncid, path);
        need(ncmpi_inq_format(ncid, &format), argv[i]);
        for (int f = format == NC_FORMAT_CDF5 ? 2 : 0; f < 3; f++) {
            snprintf(path, sizeof path, "%.2000s/%.1000s.%s", argv[1], basename(name),
                     formats[f].suffix);
            copy(ncid, path, formats[f].cmode);
        }
        need(ncmpi_close(ncid), argv[i]);
    }
    MPI_Finalize();
    return 0;
}
