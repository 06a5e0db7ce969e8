/* ncmpidiff compares two netCDF files in parallel. Each process opens both files
 * collectively and compares its share of the pieces; then the results are merged on
 * process 0, which prints them. */
#include <mpi.h>
#include <stdlib.h>

#include "base_mem.h"
#include "diff.h"
#include "ncmpidiff.h"
#include "pnetcdf.h"
#include "util_message.h"
#include "util_options.h"
#include "util_whole.h"

struct sides {
    int ncid[2];
    struct cdf_header header[2];
    int64_t size[2]; /* sizes of the files in bytes */
};

static int complain(const char *path, int err)
{
    util_message(NCMPIDIFF_TOOL, path, -1, "%s", ncmpi_strerror(err));
    return -1;
}

static int read_piece(struct diff *d, int side, int varid, const struct util_piece *p,
                      void *values)
{
    const struct sides *s = d->self;
    int ndims = s->header[side].vars[varid].ndims, err = NC_ENOMEM;
    MPI_Offset *start = base_malloc(2 * (size_t)ndims * sizeof *start);
    for (int i = 0; start != NULL && i < ndims; i++) {
        start[i] = p->start[i];
        start[ndims + i] = p->count[i];
    }
    if (start != NULL)
        err = ncmpi_get_vara(s->ncid[side], varid, start, start + ndims, values, 0,
                             MPI_DATATYPE_NULL);
    base_free(start);
    if (err == NC_NOERR) return 0;
    util_message(NCMPIDIFF_TOOL, d->options.path[side], -1, "variable '%s': %s",
                 s->header[side].vars[varid].name, ncmpi_strerror(err));
    return -1;
}

/* Checks that both files contain all values of a pair of variables. All processes call
 * this and get the same result. */
static int enter_pair(struct diff *d, const struct diff_pair *pair)
{
    const struct sides *s = d->self;
    int status = 0;
    util_mute(d->rank != 0);
    for (int i = 0; i < 2 && status == 0; i++) {
        const struct cdf_header *h = &s->header[i];
        const struct cdf_var *v = &h->vars[pair->varid[i]];
        status =
            util_check_complete(NCMPIDIFF_TOOL, d->options.path[i], s->size[i],
                                s->ncid[i], pair->varid[i], v->is_record ? h->numrecs : 1,
                                v->nelems * cdf_type_size(v->type), UTIL_LACKING_MOST);
    }
    util_mute(false);
    return status;
}

/* ---- merging ---- */

static bool agree(struct diff *d, bool stop)
{
    int any = stop;
    (void)d;
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return any != 0;
}

/* An MPI_User_function, whose parameters are not const.
 * NOLINTNEXTLINE(readability-non-const-parameter) */
static void merge_results(void *from, void *to, int *n, MPI_Datatype *type)
{
    struct diff_result *a = to;
    const struct diff_result *b = from;
    (void)type;
    for (int i = 0; i < *n; i++)
        diff_merge(&a[i], &b[i]);
}

/* Merges the maps of all processes on process 0, which chooses the variables that get
 * maps. */
static int merge_maps(struct diff *d)
{
    int pairs[DIFF_MAPS], n = d->rank == 0 ? diff_map_choose(d, pairs) : 0;
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(pairs, n, MPI_INT, 0, MPI_COMM_WORLD);
    if (agree(d, diff_map_complete(d, pairs, n) != 0)) return -1;
    for (int i = 0; i < n; i++) {
        struct diff_map *m = &d->maps[i];
        const int cells = m->height * m->width;
        const bool root = d->rank == 0;
        MPI_Reduce(root ? MPI_IN_PLACE : m->differing, root ? m->differing : NULL, cells,
                   MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Reduce(root ? MPI_IN_PLACE : m->largest, root ? m->largest : NULL, cells,
                   MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    }
    return 0;
}

/* Merges the results of all processes on process 0. If one process has failed, all return
 * an error. */
static int merge(struct diff *d, int status)
{
    MPI_Datatype type;
    MPI_Op op;
    int bad = status != 0;
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (bad) return -1;
    MPI_Type_contiguous((int)sizeof(struct diff_result), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(merge_results, 1, &op);
    void *to = d->results;
    MPI_Reduce(d->rank == 0 ? MPI_IN_PLACE : to, d->rank == 0 ? to : NULL, d->npairs,
               type, op, 0, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    return merge_maps(d);
}

/* ---- files ---- */

static int open_side(struct sides *s, int side, const char *path, int rank)
{
    int err = ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &s->ncid[side]);
    if (err != NC_NOERR) return complain(path, err);
    if (rank == 0) util_report_omitted(NCMPIDIFF_TOOL, path, s->ncid[side]);
    err = ncmpidiff_header(s->ncid[side], &s->header[side]);
    if (err == NC_NOERR) err = ncmpi_begin_indep_data(s->ncid[side]);
    if (err == NC_NOERR) return 0;
    complain(path, err);
    cdf_free(&s->header[side]);
    ncmpi_close(s->ncid[side]);
    return -1;
}

static void close_side(struct sides *s, int side)
{
    ncmpi_end_indep_data(s->ncid[side]);
    ncmpi_close(s->ncid[side]);
    cdf_free(&s->header[side]);
}

static int compare(const struct diff_options *o, int rank, int nprocs)
{
    static struct sides s;
    struct diff d = {.tool = NCMPIDIFF_TOOL, .options = *o, .self = &s};
    d.rank = rank;
    d.nprocs = nprocs;
    d.read = read_piece;
    d.enter = enter_pair;
    d.agree = agree;
    util_mute(rank != 0);
    int opened = 0;
    while (opened < 2 && open_side(&s, opened, o->path[opened], rank) == 0)
        opened++;
    util_mute(false);
    int status = DIFF_TROUBLE;
    if (opened == 2) {
        d.header[0] = &s.header[0];
        d.header[1] = &s.header[1];
        for (int i = 0; i < 2; i++)
            s.size[i] = util_file_size(s.ncid[i], o->path[i]);
        status = diff_run(&d, merge);
    }
    while (opened > 0)
        close_side(&s, --opened);
    return status;
}

int main(int argc, char **argv)
{
    static struct diff_options options;
    int rank, nprocs;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    util_mute(rank != 0);
    int status = diff_parse(&options, NCMPIDIFF_TOOL, argc, argv);
    util_mute(false);
    if (status == 0)
        status = compare(&options, rank, nprocs);
    else
        status = status == UTIL_ANSWERED ? DIFF_SAME : DIFF_TROUBLE;
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return status;
}
