/* Creates, on one process, a small dataset in the subfile layouts of other libraries. */
#include "foreign_make.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

enum { NPROCS = 6, NRECORDS = 3, NLEV = 5, NCOL = 131, NBND = 2, MOST = NLEV * NCOL };

static int bad;

static void must(int err, const char *what)
{
    if (err == NC_NOERR) return;
    printf("%s: %s\n", what, ncmpi_strerror(err));
    bad = 1;
}

/* ---- the dataset ---- */

enum { TIME, LEV, COL, BND, NDIMS };
static const struct {
    const char *name;
    MPI_Offset length;
} dims[NDIMS] = {{"time", NC_UNLIMITED}, {"lev", NLEV}, {"ncol", NCOL}, {"nbnd", NBND}};

/* A variable. `number` is its decomposition in E3SM's layout, or 0 if it has none.
 * `divided` is set if PnetCDF divides it among the subfiles. */
struct var {
    const char *name;
    int type, ndims, dimids[3], number;
    bool divided;
};
static const struct var vars[] = {
    {"area", NC_DOUBLE, 1, {COL}, 1, true},
    {"T", NC_FLOAT, 3, {TIME, LEV, COL}, 2, true},
    {"P0", NC_INT, 0, {0}, 0, false},
    {"PS", NC_DOUBLE, 2, {TIME, COL}, 1, false},
    {"mask", NC_SHORT, 2, {LEV, COL}, 2, true},
    {"time_bnds", NC_DOUBLE, 2, {TIME, BND}, 0, false},
    {"name", NC_CHAR, 1, {COL}, 1, true},
    {"other", NC_INT64, 1, {COL}, 1, true},
};
enum { NVARS = sizeof vars / sizeof *vars };

static int first_dim(const struct var *v)
{
    return v->ndims > 0 && v->dimids[0] == TIME;
}

/* Returns the number of elements per record. */
static int nelems(const struct var *v)
{
    int n = 1;
    for (int i = first_dim(v); i < v->ndims; i++)
        n *= (int)dims[v->dimids[i]].length;
    return n;
}

static const char *fault;
static int nsubfiles;

static bool is_fault(const char *name)
{
    return strcmp(fault, name) == 0;
}

/* Returns true if the element's column is not in any map. In the variants with sea
 * points, this is about a third of the columns, including the first and the last one. */
static bool is_at_sea(int element)
{
    int column = element % NCOL;
    return (is_fault("land") || is_fault("lost")) &&
           (column % 10 < 3 || column == NCOL - 1);
}

static double value(const struct var *v, int record, int element)
{
    if (v->number > 0 && is_at_sea(element)) return 0;
    return 32 + ((v - vars) * 31 + record * 17 + element * 7) % 91;
}

static int create(const char *name)
{
    int ncid = -1;
    must(ncmpi_create(MPI_COMM_SELF, name, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                      &ncid),
         name);
    return ncid;
}

static void def_dims(int ncid)
{
    int id;
    for (int i = 0; i < NDIMS; i++)
        must(ncmpi_def_dim(ncid, dims[i].name, dims[i].length, &id), dims[i].name);
}

static int def_var(int ncid, const struct var *v, int ndims, const int *dimids)
{
    int id = -1;
    must(ncmpi_def_var(ncid, v->name, v->type, ndims, dimids, &id), v->name);
    must(ncmpi_put_att_text(ncid, id, "units", 1, "K"), "units");
    return id;
}

static void put_int(int ncid, int varid, const char *name, int n, const int *values)
{
    must(ncmpi_put_att_int(ncid, varid, name, NC_INT, n, values), name);
}

/* Puts one record of a variable, or all of a fixed-size variable. The values are those of
 * elements list[0..n), or of elements 0 to n - 1 if list is NULL. If the variable has a
 * single fixed dimension, the values are put at indices `at` to at + n - 1; otherwise
 * they cover all fixed dimensions. */
static void put(int ncid, int id, const struct var *v, int record, const int *list, int n,
                MPI_Offset at)
{
    double values[MOST];
    char text[MOST];
    MPI_Offset start[4] = {0}, count[4] = {0};
    int ndims, first = first_dim(v);
    must(ncmpi_inq_varndims(ncid, id, &ndims), v->name);
    int dimids[4];
    must(ncmpi_inq_vardimid(ncid, id, dimids), v->name);
    for (int i = 0; i < ndims; i++)
        must(ncmpi_inq_dimlen(ncid, dimids[i], &count[i]), v->name);
    if (first) {
        start[0] = record;
        count[0] = 1;
    }
    if (ndims == first + 1) {
        start[first] = at;
        count[first] = n;
    }
    for (int i = 0; i < n; i++)
        text[i] = (char)(values[i] = value(v, record, list == NULL ? i : list[i]));
    if (v->type == NC_CHAR)
        must(ncmpi_put_vara_text_all(ncid, id, start, count, text), v->name);
    else
        must(ncmpi_put_vara_double_all(ncid, id, start, count, values), v->name);
}

static void put_whole(int ncid, int id, const struct var *v)
{
    for (int r = 0; r < (first_dim(v) ? NRECORDS : 1); r++)
        put(ncid, id, v, r, NULL, nelems(v), 0);
}

/* ---- a single file ---- */

static void write_whole(const char *name)
{
    int ncid = create(name), ids[NVARS];
    def_dims(ncid);
    for (int i = 0; i < NVARS; i++)
        ids[i] = def_var(ncid, &vars[i], vars[i].ndims, vars[i].dimids);
    must(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 5, "words"), "title");
    must(ncmpi_enddef(ncid), "enddef");
    for (int i = 0; i < NVARS; i++)
        put_whole(ncid, ids[i], &vars[i]);
    must(ncmpi_close(ncid), "close");
}

/* ---- E3SM ---- */

static int owner(int decomposition, int element)
{
    int column = element % NCOL, lev = element / NCOL;
    if (is_at_sea(element)) return NPROCS;
    int process = (column / 3 * 5 + column / 7 + (decomposition == 2 ? lev : 0)) % NPROCS;
    return process == 2 && is_fault("land") ? 3 : process;
}

/* A blob's runs, which are in descending order on some processes, and its elements. */
struct blob {
    int n, offsets[MOST], lengths[MOST], nelems, elements[MOST];
    int lost; /* number of elements that are not in any run */
};

static void add_run(struct blob *b, int at, int n)
{
    b->offsets[b->n] = at;
    b->lengths[b->n++] = n;
    for (int i = 0; i < n; i++)
        b->elements[b->nelems++] = at + i;
}

static void make_blob(struct blob *b, int decomposition, int process)
{
    int total = decomposition == 1 ? NCOL : NLEV * NCOL, starts[MOST], ends[MOST], n = 0;
    for (int e = 0; e < total; e++) {
        if (owner(decomposition, e) != process) continue;
        bool goes_on = n > 0 && ends[n - 1] == e;
        if (!goes_on) starts[n++] = e;
        ends[n - 1] = e + 1;
    }
    b->n = b->nelems = b->lost = 0;
    for (int i = 0; i < n; i++) {
        int k = process % 2 == 0 ? i : n - 1 - i;
        add_run(b, starts[k], ends[k] - starts[k]);
    }
    if (process != NPROCS - 1 || decomposition != 1) return;
    if (is_fault("hole") || is_fault("lost")) {
        b->lost = b->lengths[--b->n];
        b->nelems -= b->lost;
    }
    if (is_fault("overlap")) b->offsets[0] = b->offsets[1];
    if (is_fault("outside")) b->offsets[0] = NCOL;
    if (is_fault("negative")) b->offsets[0] = -1;
}

static void put_facts(int ncid, int number)
{
    const int nprocs = NPROCS, ndecomps = 2;
    int n = nsubfiles + (number == nsubfiles - 1 && is_fault("run"));
    put_int(ncid, NC_GLOBAL, "global_nprocs", 1, &nprocs);
    put_int(ncid, NC_GLOBAL, "num_decompositions", 1, &ndecomps);
    put_int(ncid, NC_GLOBAL, "num_subfiles", 1, &n);
    must(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 5, "words"), "title");
}

/* The maps in one subfile. */
struct maps {
    struct blob blobs[NPROCS];
    int first, n, most, nelems, dim, vars[5];
};

static void def_maps(int ncid, struct maps *m, int k, int nblobs)
{
    static const char *const names[] = {"nreqs", "blob_start", "blob_count", "offsets",
                                        "lengths"};
    static const int types[] = {NC_INT, NC_INT64, NC_INT64, NC_INT, NC_INT};
    const int ids[] = {LEV, COL};
    char name[32];
    int pair[2] = {nblobs, -1};
    snprintf(name, sizeof name, "D%d.nelems", k);
    must(ncmpi_def_dim(ncid, name, m->nelems, &m->dim), name);
    snprintf(name, sizeof name, "D%d.max_nreqs", k);
    must(ncmpi_def_dim(ncid, name, m->most, &pair[1]), name);
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "D%d.%s", k, names[i]);
        must(ncmpi_def_var(ncid, name, types[i], i < 3 ? 1 : 2, pair, &m->vars[i]), name);
    }
    put_int(ncid, m->vars[0], "global_dimids", k, ids + 2 - k);
}

static void put_maps(int ncid, const struct maps *m)
{
    int at = 0;
    for (int i = 0; i < m->n; i++) {
        const struct blob *b = &m->blobs[i];
        MPI_Offset start[2] = {i, 0}, count[2] = {1, b->n};
        must(ncmpi_put_var1_int_all(ncid, m->vars[0], start, &b->n), "nreqs");
        must(ncmpi_put_var1_int_all(ncid, m->vars[1], start, &at), "blob_start");
        must(ncmpi_put_var1_int_all(ncid, m->vars[2], start, &b->nelems), "blob_count");
        must(ncmpi_put_vara_int_all(ncid, m->vars[3], start, count, b->offsets),
             "offsets");
        must(ncmpi_put_vara_int_all(ncid, m->vars[4], start, count, b->lengths),
             "lengths");
        at += b->nelems;
    }
}

static void make_maps(struct maps *m, int k, int group)
{
    *m = (struct maps){.first = (group * NPROCS + nsubfiles - 1) / nsubfiles};
    for (int p = m->first; p < NPROCS && p * nsubfiles / NPROCS == group; p++) {
        struct blob *b = &m->blobs[m->n++];
        make_blob(b, k, p);
        m->nelems += b->nelems + b->lost;
        if (b->n > m->most) m->most = b->n;
    }
}

static void put_blobs(int ncid, int id, const struct var *v, const struct maps *m,
                      int nrecords)
{
    int at = 0;
    for (int i = 0; i < m->n; i++) {
        for (int r = 0; r < nrecords; r++)
            put(ncid, id, v, r, m->blobs[i].elements, m->blobs[i].nelems, at);
        at += m->blobs[i].nelems;
    }
}

static void def_blob_var(int ncid, const struct var *v, const struct maps *maps, int *id)
{
    int dimids[2] = {TIME, 0}, first = first_dim(v), number = v->number;
    dimids[first] = maps[number].dim;
    *id = def_var(ncid, v, first + 1, dimids);
    put_int(ncid, *id, "decomposition_ID", 1, &number);
    put_int(ncid, *id, "global_dimids", v->ndims, v->dimids);
}

static void write_e3sm(const char *name, int group)
{
    static struct maps maps[3];
    char path[1024];
    int ids[NVARS], nblobs;
    bool last = group == nsubfiles - 1;
    int nrecords = NRECORDS - (last && is_fault("records"));
    snprintf(path, sizeof path, "%s.%04d", name, group);
    int ncid = create(path);
    def_dims(ncid);
    make_maps(&maps[1], 1, group);
    make_maps(&maps[2], 2, group);
    must(ncmpi_def_dim(ncid, "nblobs", maps[1].n, &nblobs), "nblobs");
    put_facts(ncid, group);
    for (int k = 1; k <= 2; k++)
        def_maps(ncid, &maps[k], k, nblobs);
    for (int i = 0; i < NVARS; i++) {
        const struct var *v = &vars[i];
        if (v->number > 0)
            def_blob_var(ncid, v, maps, &ids[i]);
        else
            ids[i] = def_var(ncid, v, v->ndims, v->dimids);
    }
    must(ncmpi_enddef(ncid), "enddef");
    put_maps(ncid, &maps[1]);
    put_maps(ncid, &maps[2]);
    for (int i = 0; i < NVARS; i++) {
        const struct var *v = &vars[i];
        if (v->number > 0)
            put_blobs(ncid, ids[i], v, &maps[v->number], first_dim(v) ? nrecords : 1);
        else if (group == 0)
            put_whole(ncid, ids[i], v);
    }
    must(ncmpi_close(ncid), "close");
}

/* Writes E3SM's master file, which contains only a header. */
static void write_master(const char *name)
{
    MPI_Offset size = 0;
    int ncid = create(name);
    def_dims(ncid);
    put_facts(ncid, -1);
    for (int i = 0; i < NVARS; i++)
        def_var(ncid, &vars[i], vars[i].ndims, vars[i].dimids);
    must(ncmpi_enddef(ncid), "enddef");
    must(ncmpi_inq_header_size(ncid, &size), "header");
    must(ncmpi_close(ncid), "close");
    MPI_File f;
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_set_size(f, size);
    MPI_File_close(&f);
}

/* ---- PnetCDF ---- */

#define SUBFILING "_PnetCDF_SubFiling."

/* Returns the first index of the given part of a dimension that is divided among the
 * subfiles. */
static int low_of(int length, int part)
{
    return (length * part + nsubfiles - 1) / nsubfiles;
}

static void put_ranges(int ncid, int id, const struct var *v)
{
    char name[64];
    int along = v->ndims - 1;
    put_int(ncid, id, SUBFILING "par_dim_index", 1, &along);
    put_int(ncid, id, SUBFILING "ndims_org", 1, &v->ndims);
    put_int(ncid, id, SUBFILING "dimids_org", v->ndims, v->dimids);
    put_int(ncid, id, SUBFILING "num_subfiles", 1, &nsubfiles);
    for (int s = 0; s < nsubfiles; s++) {
        for (int i = 0; i < v->ndims; i++) {
            int length = (int)dims[v->dimids[i]].length;
            int range[2] = {0, length > 0 ? length - 1 : 0};
            if (i == along) {
                range[0] = low_of(length, s) - (is_fault("overlap") && s > 0);
                range[1] = low_of(length, s + 1) - 1 - is_fault("hole");
                if (is_fault("outside")) range[1] += length;
            } else if (is_fault("second") && length > 1) {
                range[0] = s % 2;
            }
            snprintf(name, sizeof name, SUBFILING "range(%s).subfile.%d",
                     dims[v->dimids[i]].name, s);
            put_int(ncid, id, name, 2, range);
        }
    }
}

static void write_parts(const char *name, int s)
{
    char path[1024], word[64];
    int ids[NVARS], id = 0;
    bool lost = is_fault("records");
    snprintf(path, sizeof path, "%s.subfile_%d.nc", name, s);
    int ncid = create(path);
    for (int i = 0; i < NVARS; i++) {
        const struct var *v = &vars[i];
        int dimids[3];
        if (!v->divided) continue;
        for (int k = 0; k < v->ndims; k++) {
            MPI_Offset n = dims[v->dimids[k]].length;
            if (k == v->ndims - 1) n = low_of((int)n, s + 1) - low_of((int)n, s);
            snprintf(word, sizeof word, "%s.%s", dims[v->dimids[k]].name, v->name);
            must(ncmpi_def_dim(ncid, word, n, &dimids[k]), word);
        }
        id = def_var(ncid, v, v->ndims, dimids);
        put_int(ncid, id, SUBFILING "subfile_index", 1, &s);
        ids[i] = id;
    }
    must(ncmpi_enddef(ncid), "enddef");
    for (int i = 0; i < NVARS; i++) {
        const struct var *v = &vars[i];
        int list[MOST], n = 0;
        if (!v->divided) continue;
        for (int e = 0; e < nelems(v); e++)
            if (e % NCOL >= low_of(NCOL, s) && e % NCOL < low_of(NCOL, s + 1))
                list[n++] = e;
        for (int r = 0; r < (first_dim(v) ? NRECORDS - lost : 1); r++)
            put(ncid, ids[i], v, r, list, n, 0);
    }
    must(ncmpi_close(ncid), "close");
}

static void write_pnetcdf(const char *name)
{
    int ncid = create(name), ids[NVARS], none = 0;
    def_dims(ncid);
    for (int i = 0; i < NVARS; i++) {
        const struct var *v = &vars[i];
        ids[i] =
            def_var(ncid, v, v->divided ? 0 : v->ndims, v->divided ? &none : v->dimids);
        if (v->divided) put_ranges(ncid, ids[i], v);
    }
    must(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 5, "words"), "title");
    put_int(ncid, NC_GLOBAL, SUBFILING "num_subfiles", 1, &nsubfiles);
    must(ncmpi_enddef(ncid), "enddef");
    for (int i = 0; i < NVARS; i++)
        if (!vars[i].divided) put_whole(ncid, ids[i], &vars[i]);
    must(ncmpi_close(ncid), "close");
    for (int s = 0; s < nsubfiles; s++)
        write_parts(name, s);
}

int foreign_make(const char *layout, const char *name, int subfiles, const char *wrong)
{
    bad = 0;
    nsubfiles = subfiles;
    fault = wrong;
    if (strcmp(layout, "whole") == 0) write_whole(name);
    if (strcmp(layout, "master") == 0) write_master(name);
    if (strcmp(layout, "pnetcdf") == 0) write_pnetcdf(name);
    bool blobs = strcmp(layout, "e3sm") == 0 || strcmp(layout, "master") == 0;
    for (int i = 0; blobs && i < nsubfiles; i++)
        write_e3sm(name, i);
    return bad;
}
