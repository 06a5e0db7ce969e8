/* Random programs, compared with netCDF. Each program defines, puts, gets, redefines,
 * closes and opens at random. All processes run it with this library, and process 0
 * repeats it with the serial netCDF library. Afterwards both files must have the same
 * contents. There are three tests:
 *
 * - programs in which a few steps are turns in independent mode (see random_turns.c);
 * - programs with faults: a write, a sync or an allocation fails on one process, or a
 *   process passes a wrong argument. The programs repeat calls that failed;
 * - programs in which about half of the steps are turns.
 *
 * NCMPI_RANDOM_PROGRAMS=N runs N programs for each format and process count. With the
 * default of 5, a run of all checks, which uses two MPI libraries, runs 300 programs.
 * NCMPI_TEST_SEED sets the first seed. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf_ext.h"
#include "random_access.h"

/* The program's two datasets. netCDF's dataset is open only on process 0. */
struct pair {
    int ours, theirs;
    struct model m;
    int defined; /* number of variables before the last redefinition */
    bool over;   /* whether the program has ended early, with both datasets closed */
};

/* whether about half of the steps are turns in independent mode */
static bool random_order;

#define THEIRS(call)                                                                     \
    do {                                                                                 \
        if (check.rank == 0) CHECK_EQ(NC_NOERR, call);                                   \
    } while (0)

/* ---- definitions ---- */

static const char *new_name(struct model *m, const char *what, char *name)
{
    sprintf(name, "%s_%d%.*s", what, m->names++, (int)check_random(5), "longer");
    return name;
}

static void add_dim(struct pair *p)
{
    struct model *m = &p->m;
    char name[32];
    bool unlimited = m->unlimited < 0 && check_random(3) == 0;
    MPI_Offset length = 1 + (MPI_Offset)check_random(MAX_LENGTH);
    if (m->ndims == MAX_DIMS) return;
    new_name(m, "dim", name);
    if (unlimited) length = NC_UNLIMITED;
    CHECK_NC(NC_NOERR, ncmpi_def_dim(p->ours, name, length, NULL));
    THEIRS(nc_def_dim(p->theirs, name, (size_t)length, NULL));
    if (unlimited) m->unlimited = m->ndims;
    m->length[m->ndims++] = length;
}

static void add_var(struct pair *p)
{
    struct model *m = &p->m;
    char name[32];
    int dimids[MAX_RANK], ndims = (int)check_random(MAX_RANK + 1);
    nc_type type = 1 + (nc_type)check_random(check.format == 5 ? NC_UINT64 : NC_DOUBLE);
    if (m->ndims == 0) ndims = 0;
    for (int i = 0; i < ndims; i++) {
        dimids[i] = (int)check_random((uint64_t)m->ndims);
        if (i > 0 && dimids[i] == m->unlimited) ndims = i;
    }
    if (m->nvars == MAX_VARS) return;
    new_name(m, "var", name);
    CHECK_NC(NC_NOERR, ncmpi_def_var(p->ours, name, type, ndims, dimids, NULL));
    THEIRS(nc_def_var(p->theirs, name, type, ndims, dimids, NULL));
    model_add_var(m, type, ndims, dimids);
}

static void add_att(struct pair *p)
{
    struct model *m = &p->m;
    double values[9];
    char name[32];
    int varid = (int)check_random((uint64_t)m->nvars + 1) - 1; /* -1 is NC_GLOBAL */
    int n = (int)check_random(9);
    nc_type type = 1 + (nc_type)check_random(check.format == 5 ? NC_UINT64 : NC_DOUBLE);
    for (int i = 0; i < 9; i++)
        values[i] = (double)check_random(100);
    new_name(m, "att", name);
    if (type == NC_CHAR) {
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(p->ours, varid, name, n, "some text"));
        THEIRS(nc_put_att_text(p->theirs, varid, name, (size_t)n, "some text"));
    } else {
        CHECK_NC(NC_NOERR, ncmpi_put_att_double(p->ours, varid, name, type, n, values));
        THEIRS(nc_put_att_double(p->theirs, varid, name, type, (size_t)n, values));
    }
}

static void rename_var(struct pair *p)
{
    char name[32];
    if (p->m.nvars == 0) return;
    int varid = (int)check_random((uint64_t)p->m.nvars);
    new_name(&p->m, "renamed", name);
    CHECK_NC(NC_NOERR, ncmpi_rename_var(p->ours, varid, name));
    THEIRS(nc_rename_var(p->theirs, varid, name));
}

/* Returns random hints that select a driver or the way in which the file is accessed. */
static MPI_Info random_hints(void)
{
    static const char *const ways[] = {
        "nc_transfer=auto",
        "nc_transfer=direct",
        "nc_transfer=node;nc_node_share_size=300",
        "nc_transfer=node;nc_node_procs=2",
        "nc_transfer=view",
        "nc_file_io=mpi",
        "nc_data_move_chunk_size=100",
        "nc_burst_buf=enable",
        "nc_burst_buf=enable;nc_burst_buf_flush=flush_immediate;nc_burst_buf_delay=0",
        "nc_burst_buf=enable;nc_burst_buf_log_at=post",
        "nc_burst_buf=enable;nc_burst_buf_shared_logs=enable",
        "nc_burst_buf=enable;nc_deferred_close=enable",
        "nc_blob=enable;nc_num_subfiles=2",
        "nc_blob=enable;nc_burst_buf=enable",
    };
    MPI_Info info = check_info(ways[check_random(sizeof ways / sizeof ways[0])]);
    MPI_Info_set(info, "nc_burst_buf_dirname", check_path(""));
    return info;
}

static void open_again(struct pair *p)
{
    MPI_Info info = random_hints();
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("ours.nc"), NC_WRITE, info, &p->ours));
    MPI_Info_free(&info);
}

/* Syncs the dataset. If faults are injected, retries a failed sync, because each process
 * that shares the open file may report an earlier failure to write to the device. */
static void sync_ours(struct pair *p)
{
    int err = ncmpi_sync(p->ours);
    for (int i = 0; random_troubles && err == NC_EWRITE && i < check.nprocs; i++)
        err = ncmpi_sync(p->ours);
    CHECK_NC(NC_NOERR, err);
}

/* Closes the dataset. If faults prevented data from being drained, reopens and closes it,
 * because the next open replays the logs, which still contain the data. */
static void close_ours(struct pair *p)
{
    int err = ncmpi_close(p->ours);
    for (int i = 0; random_troubles && err == NC_EWRITE && i < check.nprocs; i++) {
        open_again(p);
        err = ncmpi_close(p->ours);
    }
    CHECK_NC(NC_NOERR, err);
}

/* Returns whether, on any process, enddef could neither finish moving data nor undo the
 * move. */
static bool is_left(int err)
{
    const char *words = err == NC_NOERR ? "" : ncmpi_strerror(err);
    return any_process(strstr(words, "neither completed nor undone") != NULL);
}

/* Opens the dataset after an incomplete move of its data, and ends the program. The open
 * must complete or undo the move, so the definitions must be the new or the old ones. */
static void finish_by_opening(struct pair *p)
{
    int n = -1;
    p->over = true;
    (void)ncmpi_close(p->ours);
    open_again(p);
    CHECK_NC(NC_NOERR, ncmpi_inq_nvars(p->ours, &n));
    CHECK(n == p->defined || n == p->m.nvars);
    close_ours(p);
    THEIRS(nc_close(p->theirs));
}

static void define(struct pair *p, int steps)
{
    p->defined = p->m.nvars;
    static void (*const kinds[])(struct pair *) = {add_dim, add_var, add_var, add_att,
                                                   rename_var};
    while (steps-- > 0)
        kinds[check_random(sizeof kinds / sizeof kinds[0])](p);

    uint64_t align = check_random(3);
    MPI_Offset room = (MPI_Offset)check_random(300);
    struct trouble t = random_trouble();
    trouble_begin(&t);
    int err = align == 0 ? ncmpi_enddef(p->ours)
                         : ncmpi__enddef(p->ours, room, align == 1 ? 4 : 1024, room, 8);
    /* Each process that shares the open file may report the failure again. */
    bool met = trouble_end_all(&t);
    for (int i = 0; i <= check.nprocs && met && any_process(err != NC_NOERR); i++)
        err = ncmpi_enddef(p->ours);
    if (met && is_left(err)) {
        finish_by_opening(p);
        return;
    }
    CHECK_NC(NC_NOERR, err);
    THEIRS(nc_enddef(p->theirs));
}

/* ---- steps ---- */

/* Repeats a put with netCDF on process 0. */
static void mirror(void *to, int varid, const struct model_var *v,
                   const struct plan_slab *s)
{
    const struct pair *p = to;
    size_t start[MAX_RANK], count[MAX_RANK];
    ptrdiff_t stride[MAX_RANK];
    const int64_t n = plan_slab_size(s);
    uint64_t *values = malloc((size_t)n * sizeof *values);
    for (int i = 0; i < v->ndims; i++) {
        start[i] = (size_t)s->start[i];
        count[i] = (size_t)s->count[i];
        stride[i] = (ptrdiff_t)s->stride[i];
    }
    for (int64_t i = 0; i < n && values != NULL; i++)
        plan_store(values, plan_memory_of(v->type), i,
                   v->value[plan_slab_element(s, v->shape, i)]);
    THEIRS(nc_put_vars(p->theirs, varid, start, count, stride, values));
    free(values);
}

static void reopen(struct pair *p)
{
    if (random_troubles) sync_ours(p);
    close_ours(p);
    THEIRS(nc_close(p->theirs));
    open_again(p);
    THEIRS(nc_open(check_path("theirs.nc"), NC_WRITE, &p->theirs));
    THEIRS(nc_set_fill(p->theirs, NC_NOFILL, NULL));
}

/* Enters define mode. If there are faults, syncs first, because redef syncs earlier puts
 * and would report their failures. */
static void redef_ours(struct pair *p)
{
    if (random_troubles) sync_ours(p);
    CHECK_NC(NC_NOERR, ncmpi_redef(p->ours));
}

/* Calls abort in define mode. The dataset must return to the state that it had before the
 * redef. */
static void give_up(struct pair *p)
{
    redef_ours(p);
    CHECK_NC(NC_NOERR, ncmpi_def_var(p->ours, "given_up", NC_INT, 0, NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(p->ours, NC_GLOBAL, "given up", 4, "text"));
    CHECK_NC(NC_NOERR, ncmpi_abort(p->ours));
    open_again(p);
}

static void redefine(struct pair *p)
{
    redef_ours(p);
    THEIRS(nc_redef(p->theirs));
    define(p, 1 + (int)check_random(4));
}

/* Takes turns without faults. Syncs first, so that failures of earlier steps are reported
 * before the turns. */
static void turns(struct pair *p)
{
    if (random_troubles) sync_ours(p);
    random_turns(p->ours, &p->m, mirror, p);
}

static void step(struct pair *p)
{
    uint64_t kind = check_random(20), most = random_order ? 10 : 1;
    if (p->m.nvars > 0 && check_random(20) < most) {
        turns(p);
    } else if (kind == 0) {
        reopen(p);
    } else if (kind < 3) {
        redefine(p);
    } else if (kind == 4 && random_troubles) {
        give_up(p);
    } else if (kind == 3) {
        sync_ours(p);
    } else if (p->m.nvars > 0) {
        if (kind < 13)
            random_put(p->ours, &p->m, mirror, p);
        else
            random_get(p->ours, &p->m);
    }
}

/* ---- comparison with netCDF on process 0 ---- */

static void compare_atts(int a, int b, int varid, int natts)
{
    for (int i = 0; i < natts; i++) {
        char name[NC_MAX_NAME + 1], other[NC_MAX_NAME + 1];
        nc_type type[2];
        size_t n[2];
        double values[2][16] = {{0}, {0}};
        CHECK_EQ(NC_NOERR, nc_inq_attname(a, varid, i, name));
        CHECK_EQ(NC_NOERR, nc_inq_attname(b, varid, i, other));
        if (!CHECK_STR(name, other)) continue;
        CHECK_EQ(NC_NOERR, nc_inq_att(a, varid, name, &type[0], &n[0]));
        CHECK_EQ(NC_NOERR, nc_inq_att(b, varid, name, &type[1], &n[1]));
        CHECK_EQ(type[0], type[1]);
        CHECK_EQ(n[0], n[1]);
        CHECK_EQ(NC_NOERR, nc_get_att(a, varid, name, values[0]));
        CHECK_EQ(NC_NOERR, nc_get_att(b, varid, name, values[1]));
        CHECK_BYTES(values[0], values[1], sizeof values[0]);
    }
}

static void read_all(int ncid, int varid, const struct model *m,
                     const struct model_var *v, uint64_t *values)
{
    size_t start[MAX_RANK] = {0}, count[MAX_RANK];
    for (int i = 0; i < v->ndims; i++)
        count[i] = (size_t)(i == 0 && v->is_record ? m->numrecs : v->shape[i]);
    CHECK_EQ(NC_NOERR, nc_get_vara(ncid, varid, start, count, values));
}

static void compare_var(int a, int b, int varid, const struct model *m)
{
    const struct model_var *v = &m->vars[varid];
    char name[NC_MAX_NAME + 1], other[NC_MAX_NAME + 1];
    nc_type type;
    int natts[2];
    CHECK_EQ(NC_NOERR, nc_inq_var(a, varid, name, &type, NULL, NULL, &natts[0]));
    CHECK_EQ(NC_NOERR, nc_inq_var(b, varid, other, NULL, NULL, NULL, &natts[1]));
    CHECK_STR(other, name);
    CHECK_EQ(v->type, type);
    if (CHECK_EQ(natts[1], natts[0])) compare_atts(a, b, varid, natts[0]);

    uint64_t *ours = calloc((size_t)v->nelems, sizeof *ours);
    uint64_t *theirs = calloc((size_t)v->nelems, sizeof *theirs);
    read_all(a, varid, m, v, ours);
    read_all(b, varid, m, v, theirs);
    for (int64_t i = 0, own = plan_memory_of(v->type); i < v->nelems; i++) {
        if (!v->known[i]) continue;
        CHECK_EQ(v->value[i], plan_load(ours, (int)own, i));
        CHECK_EQ(v->value[i], plan_load(theirs, (int)own, i));
    }
    free(ours);
    free(theirs);
}

static void compare(const struct model *m)
{
    int a, b, n[2][4];
    size_t length[2];
    if (check.rank > 0) return;
    CHECK_EQ(NC_NOERR, nc_open(random_join(check_path("ours.nc"), check_path("plain.nc")),
                               NC_NOWRITE, &a));
    CHECK_EQ(NC_NOERR, nc_open(check_path("theirs.nc"), NC_NOWRITE, &b));
    CHECK_EQ(NC_NOERR, nc_inq(a, &n[0][0], &n[0][1], &n[0][2], &n[0][3]));
    CHECK_EQ(NC_NOERR, nc_inq(b, &n[1][0], &n[1][1], &n[1][2], &n[1][3]));
    if (CHECK_BYTES(n[1], n[0], sizeof n[0])) {
        for (int i = 0; i < m->ndims; i++) {
            CHECK_EQ(NC_NOERR, nc_inq_dimlen(a, i, &length[0]));
            CHECK_EQ(NC_NOERR, nc_inq_dimlen(b, i, &length[1]));
            CHECK_EQ(length[1], length[0]);
        }
        compare_atts(a, b, NC_GLOBAL, n[0][2]);
        for (int i = 0; i < m->nvars; i++)
            compare_var(a, b, i, m);
    }
    nc_close(a);
    nc_close(b);
}

/* ---- programs ---- */

static void one_program(void)
{
    struct pair p = {.m = {.unlimited = -1}};
    MPI_Info info = random_hints();
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("ours.nc"),
                                    NC_CLOBBER | check.cmode, info, &p.ours));
    MPI_Info_free(&info);
    THEIRS(nc_create(check_path("theirs.nc"), NC_CLOBBER | check.cmode, &p.theirs));
    THEIRS(nc_set_fill(p.theirs, NC_NOFILL, NULL));
    define(&p, 4 + (int)check_random(8));
    for (int steps = 5 + (int)check_random(30); steps > 0; steps--) {
        step(&p);
        if (p.over) break;
    }
    if (!p.over) {
        close_ours(&p);
        CHECK_NC(NC_NOERR, ncmpix_wait_closed(check_path("ours.nc")));
        THEIRS(nc_close(p.theirs));
        compare(&p.m);
    }
    model_free(&p.m);
}

static void random_programs_agree(void)
{
    const char *many = getenv("NCMPI_RANDOM_PROGRAMS");
    for (int n = many == NULL ? 5 : atoi(many); n > 0; n--)
        one_program();
}

static void random_programs_with_faults_agree(void)
{
    random_troubles = true;
    random_programs_agree();
    random_troubles = false;
}

static void random_programs_in_turns_agree(void)
{
    random_order = true;
    random_programs_agree();
    random_order = false;
}

static const struct check_test tests[] = {
    {"random programs agree with netCDF", random_programs_agree, CHECK_FORMATS},
    {"random programs with faults agree", random_programs_with_faults_agree,
     CHECK_FORMATS},
    {"random programs in turns agree", random_programs_in_turns_agree, CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 4 16");
}
