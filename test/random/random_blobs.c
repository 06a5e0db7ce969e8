/* Runs random programs with and without blobs. Each program runs twice with the same
 * random numbers: once with a plain file, and once with subfiles, compressed or not.
 * Afterwards both datasets must have the same values, including those that were never
 * put. Joining the subfiles must yield a file that is identical to the plain one.
 *
 * NCMPI_RANDOM_PROGRAMS=N runs N programs for each format and process count (default 4);
 * NCMPI_TEST_SEED sets the first seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf_ext.h"
#include "api_calls.h"
#include "random_access.h"

/* A run of a program. */
struct twin {
    const char *path;
    bool blobs;
    int subfiles;         /* number of subfiles if `blobs` is set */
    const char *compress; /* compression hint if `blobs` is set, or "" */
    int ncid;
    struct model m;
    int natts, first_att; /* attributes first_att to natts - 1 currently exist */
};

static int program; /* number of the current program, for messages */

/* ---- opening and closing ---- */

/* Returns the hints for one twin. Randomly chooses how to join the subfiles. Both twins
 * make this choice, so that they consume the same random numbers, but it affects only the
 * twin with subfiles, and only if `joins` is set. */
static MPI_Info draw_hints(const struct twin *t, bool joins)
{
    static const char *const joined[] = {"", ";nc_blob_join=close",
                                         ";nc_blob_join=behind"};
    uint64_t draw = check_random(6);
    char words[128] = "";
    if (t->blobs)
        snprintf(words, sizeof words, "nc_blob=enable;nc_num_subfiles=%d%s%s",
                 t->subfiles, joins && draw < 3 ? joined[draw] : "", t->compress);
    return check_info(words);
}

static void open_all(struct twin *t)
{
    MPI_Info info = draw_hints(t, true);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path(t->path), NC_WRITE, info, &t->ncid));
    MPI_Info_free(&info);
}

static void close_all(struct twin *t)
{
    CHECK_NC(NC_NOERR, ncmpi_close(t->ncid));
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(check_path(t->path)));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- definitions ---- */

static void add_dim(struct twin *t)
{
    struct model *m = &t->m;
    char name[32];
    bool unlimited = m->unlimited < 0 && check_random(2) == 0;
    MPI_Offset length = 1 + (MPI_Offset)check_random(MAX_LENGTH);
    if (m->ndims == MAX_DIMS) return;
    snprintf(name, sizeof name, "dim%d", m->names++);
    if (unlimited) length = NC_UNLIMITED;
    CHECK_NC(NC_NOERR, ncmpi_def_dim(t->ncid, name, length, NULL));
    if (unlimited) m->unlimited = m->ndims;
    m->length[m->ndims++] = length;
}

/* Chooses a variable's dimensions at random. If there is an unlimited dimension, half of
 * the variables are record variables. */
static int draw_dims(const struct model *m, int *dimids)
{
    int n = 0, ndims = m->ndims == 0 ? 0 : (int)check_random(MAX_RANK);
    if (m->unlimited >= 0 && check_random(2) == 0) dimids[n++] = m->unlimited;
    for (int i = 0; i < ndims; i++) {
        int dim = (int)check_random((uint64_t)m->ndims);
        if (dim != m->unlimited) dimids[n++] = dim;
    }
    return n;
}

static void add_var(struct twin *t)
{
    struct model *m = &t->m;
    char name[32];
    int dimids[MAX_RANK], id, ndims = draw_dims(m, dimids);
    nc_type type = 1 + (nc_type)check_random(check.format == 5 ? NC_UINT64 : NC_DOUBLE);
    uint64_t fill = check_random(4);
    if (m->nvars == MAX_VARS) return;
    snprintf(name, sizeof name, "a_variable_%d", m->names++);
    CHECK_NC(NC_NOERR, ncmpi_def_var(t->ncid, name, type, ndims, dimids, &id));
    if (fill < 2) CHECK_NC(NC_NOERR, ncmpi_def_var_fill(t->ncid, id, fill == 0, NULL));
    model_add_var(m, type, ndims, dimids);
}

static void add_att(struct twin *t)
{
    char name[32], text[300];
    memset(text, 'x', sizeof text);
    MPI_Offset n = 1 + (MPI_Offset)check_random(check_random(4) == 0 ? sizeof text : 30);
    snprintf(name, sizeof name, "att%d", t->natts++);
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(t->ncid, NC_GLOBAL, name, n, text));
}

static void delete_att(struct twin *t)
{
    char name[32];
    if (t->first_att == t->natts) return;
    snprintf(name, sizeof name, "att%d", t->first_att++);
    CHECK_NC(NC_NOERR, ncmpi_del_att(t->ncid, NC_GLOBAL, name));
}

static void rename_var(struct twin *t)
{
    char name[32], before[NC_MAX_NAME + 1];
    if (t->m.nvars == 0) return;
    int id = (int)check_random((uint64_t)t->m.nvars);
    snprintf(name, sizeof name, "v%d", t->m.names++);
    CHECK_NC(NC_NOERR, ncmpi_inq_varname(t->ncid, id, before));
    if (strlen(name) <= strlen(before)) /* data mode does not allow longer names */
        CHECK_NC(NC_NOERR, ncmpi_rename_var(t->ncid, id, name));
}

static void set_fill(struct twin *t)
{
    int mode = check_random(3) == 0 ? NC_FILL : NC_NOFILL, before;
    CHECK_NC(NC_NOERR, ncmpi_set_fill(t->ncid, mode, &before));
}

static void define(struct twin *t, int steps)
{
    static void (*const kinds[])(struct twin *) = {add_dim,    add_dim,    add_var,
                                                   add_var,    add_var,    add_att,
                                                   delete_att, rename_var, set_fill};
    while (steps-- > 0)
        kinds[check_random(sizeof kinds / sizeof kinds[0])](t);
    static const MPI_Offset aligns[] = {4, 4, 32, 512, 1024};
    MPI_Offset room[2] = {(MPI_Offset)check_random(300), (MPI_Offset)check_random(300)},
               align[2] = {aligns[check_random(5)], aligns[check_random(5)]};
    bool plain = check_random(2) == 0;
    CHECK_NC(NC_NOERR,
             plain ? ncmpi_enddef(t->ncid)
                   : ncmpi__enddef(t->ncid, room[0], align[0], room[1], align[1]));
}

static void redefine(struct twin *t)
{
    CHECK_NC(NC_NOERR, ncmpi_redef(t->ncid));
    define(t, 1 + (int)check_random(4));
}

/* ---- values ---- */

/* The mirror function for random_put. It does nothing, because there is no second
 * dataset. */
static void none(void *to, int varid, const struct model_var *v,
                 const struct plan_slab *s)
{
    (void)to, (void)varid, (void)v, (void)s;
}

static void put(struct twin *t)
{
    if (t->m.nvars > 0) random_put(t->ncid, &t->m, none, NULL);
}

static void get(struct twin *t)
{
    if (t->m.nvars > 0) random_get(t->ncid, &t->m);
}

/* Fills a record of a variable. Afterwards the model treats the record's values as
 * unknown. */
static void fill_record(struct twin *t)
{
    int no_fill = 1, id = (int)check_random((uint64_t)t->m.nvars + 1);
    int64_t record = (int64_t)check_random(MAX_RECORDS);
    if (id == t->m.nvars || !t->m.vars[id].is_record) return;
    struct model_var *v = &t->m.vars[id];
    CHECK_NC(NC_NOERR, ncmpi_inq_var_fill(t->ncid, id, &no_fill, NULL));
    if (no_fill) return;
    CHECK_NC(NC_NOERR, ncmpi_fill_var_rec(t->ncid, id, record));
    const int64_t n = v->nelems / MAX_RECORDS;
    memset(v->known + record * n, 0, (size_t)n * sizeof *v->known);
    if (record >= t->m.numrecs) t->m.numrecs = record + 1;
}

/* Puts a slab on process 0 only. */
static void put_alone(struct twin *t)
{
    uint64_t values[MOST];
    struct plan_slab s;
    struct model *m = &t->m;
    if (m->nvars == 0) return;
    int id = (int)check_random((uint64_t)m->nvars), write = ++m->writes;
    struct model_var *v = &m->vars[id];
    (void)model_random_slab(m, v, true, &s);
    struct access a = random_call(t->ncid, m, id, true, &s, false);
    a.values = values;
    random_set_values(&a, v, write);
    if (check.rank == 0) CHECK_NC(NC_NOERR, access_run(&a));
    model_write(m, v, &s, write, a.memory);
}

/* Closes the dataset. Then process 0 opens it alone, as another job would, and puts
 * values. */
static void another_job(struct twin *t)
{
    MPI_Info info = draw_hints(t, false);
    close_all(t);
    if (check.rank == 0)
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_SELF, check_path(t->path), NC_WRITE, info,
                                      &t->ncid));
    MPI_Info_free(&info);
    for (int puts = (int)check_random(3); puts >= 0; puts--)
        put_alone(t);
    if (check.rank == 0) CHECK_NC(NC_NOERR, ncmpi_close(t->ncid));
    open_all(t);
}

static void reopen(struct twin *t)
{
    close_all(t);
    open_all(t);
}

static void sync_it(struct twin *t)
{
    CHECK_NC(NC_NOERR, ncmpi_sync(t->ncid));
}

/* ---- a program ---- */

static void run(struct twin *t)
{
    static void (*const kinds[])(struct twin *) = {
        put,         put,         put,    put,     put,       put,
        put,         put,         get,    get,     redefine,  redefine,
        fill_record, another_job, reopen, sync_it, rename_var};
    MPI_Info info = draw_hints(t, true);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path(t->path),
                                    NC_CLOBBER | check.cmode, info, &t->ncid));
    MPI_Info_free(&info);
    define(t, 4 + (int)check_random(8));
    for (int steps = 4 + (int)check_random(20); steps > 0; steps--)
        kinds[check_random(sizeof kinds / sizeof kinds[0])](t);
    close_all(t);
}

/* ---- comparing ---- */

/* Compares the values of a slab in both datasets. */
static void compare_slab(int a, int b, int id, const struct model_var *v,
                         const struct plan_slab *s)
{
    MPI_Offset n = plan_slab_size(s), start[MAX_RANK], count[MAX_RANK];
    double *ours = calloc((size_t)n + 1, sizeof *ours),
           *theirs = calloc((size_t)n + 1, sizeof *theirs);
    MPI_Datatype type = calls_types[plan_memory_of(v->type)].mpi();
    for (int d = 0; d < s->ndims; d++) {
        start[d] = s->start[d];
        count[d] = s->count[d];
    }
    CHECK_NC(NC_NOERR, ncmpi_get_vara_all(a, id, start, count, ours, n, type));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_all(b, id, start, count, theirs, n, type));
    if (!CHECK_BYTES(ours, theirs, (size_t)n * sizeof *ours))
        printf("# program %d, variable %d\n", program, id);
    free(ours);
    free(theirs);
}

/* Compares the values of all variables, which are read both as a whole and in shares
 * along each dimension. */
static void compare_values(MPI_Comm comm, const struct model *m,
                           const char *const path[2])
{
    int ncid[2] = {-1, -1}, rank, nprocs;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &nprocs);
    for (int i = 0; i < 2; i++)
        CHECK_NC(NC_NOERR, ncmpi_open(comm, check_path(path[i]), NC_NOWRITE,
                                      MPI_INFO_NULL, &ncid[i]));
    for (int id = 0; id < m->nvars; id++) {
        const struct model_var *v = &m->vars[id];
        struct plan_slab whole = {.ndims = v->ndims};
        for (int d = 0; d < v->ndims; d++) {
            whole.stride[d] = 1;
            whole.count[d] = d == 0 && v->is_record ? m->numrecs : v->shape[d];
        }
        compare_slab(ncid[0], ncid[1], id, v, &whole);
        for (int d = 0; d < v->ndims; d++) {
            struct plan_slab part = plan_slab_share(&whole, d, rank, nprocs);
            compare_slab(ncid[0], ncid[1], id, v, &part);
        }
    }
    for (int i = 0; i < 2; i++)
        CHECK_NC(NC_NOERR, ncmpi_close(ncid[i]));
}

static void compare_files(const char *const path[2])
{
    char first[4200], second[4200];
    snprintf(first, sizeof first, "%s", check_path(path[0]));
    snprintf(second, sizeof second, "%s",
             random_join(check_path(path[1]), check_path("joined.nc")));
    if (!check_same_files(first, second)) printf("# program %d\n", program);
}

static void one_program(void)
{
    static const char *const path[2] = {"plain.nc", "blobs.nc"};
    const int counts[] = {1, 2, check.nprocs};
    static const char *const compressed[] = {"", ";nc_compress=zstd",
                                             ";nc_compress=lz4/none@a"};
    int subfiles = counts[check_random(3)];
    const char *compress = compressed[check_random(3)];
    uint64_t begin = check_random_state();
    struct twin t[2] = {{.path = path[0], .m = {.unlimited = -1}},
                        {.path = path[1],
                         .blobs = true,
                         .subfiles = subfiles,
                         .compress = compress,
                         .m = {.unlimited = -1}}};
    run(&t[0]);
    uint64_t end = check_random_state();
    check_random_again(begin);
    run(&t[1]);
    CHECK(check_random_state() == end);
    compare_values(MPI_COMM_WORLD, &t[0].m, path);
    if (check.rank == 0) {
        compare_values(MPI_COMM_SELF, &t[0].m, path);
        compare_files(path);
    }
    for (int i = 0; i < 2; i++)
        model_free(&t[i].m);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void blobs_change_no_byte(void)
{
    const char *many = getenv("NCMPI_RANDOM_PROGRAMS");
    int n = many == NULL ? 4 : atoi(many);
    for (program = 1; program <= n; program++)
        one_program();
}

static const struct check_test tests[] = {
    {"blobs change no byte of random programs", blobs_change_no_byte, CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 5");
}
