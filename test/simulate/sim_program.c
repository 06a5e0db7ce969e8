/* A process: linked with the library, one copy for each. It does what the plan says, or,
 * in a later job, opens what was left, reads it and closes it. */
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"
#include "pnetcdf_ext.h"
#include "sim.h"
#include "sim_wrapped.h"

int sim_main(int argc, char **argv);
int __wrap_MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copies,
                                  MPI_Comm_delete_attr_function *deletes, int *key,
                                  void *extra);
int __wrap_MPI_Finalize(void);
int __real_MPI_Finalize(void);
int ncmpilog_main(int argc, char **argv);
int ncvalidator_main(int argc, char **argv);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument);
int __real_MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copies,
                                  MPI_Comm_delete_attr_function *deletes, int *key,
                                  void *extra);

static const struct sim_plan *p;
static int ncid, rank, dims[SIM_VARS + 1], vars[SIM_VARS];
static MPI_Info info = MPI_INFO_NULL;

static void set_hints(void)
{
    char text[SIM_HINTS], *rest = text, *word;
    MPI_Info_create(&info);
    snprintf(text, sizeof text, "%s", p->hints);
    while ((word = strtok_r(rest, ";", &rest)) != NULL) {
        char *value = strchr(word, '=');
        *value = '\0';
        MPI_Info_set(info, word, value + 1);
    }
}

/* Rows of a variable: this process's part of each, as a strided access. */
struct part {
    MPI_Offset start[2], count[2], stride[2];
    int64_t n;
};

static struct part part_of(const struct sim_op *op)
{
    const struct sim_var *v = &p->vars[op->var];
    return (struct part){{op->first, v->mixed ? rank : rank * (MPI_Offset)v->each},
                         {op->n, v->each},
                         {1, v->mixed ? p->procs : 1},
                         (int64_t)op->n * v->each};
}

static int64_t place(const struct sim_op *op, int64_t k)
{
    const struct sim_var *v = &p->vars[op->var];
    return v->mixed ? rank + k * p->procs : (int64_t)rank * v->each + k;
}

static double *values_of(const struct sim_op *op, int number)
{
    const struct sim_var *v = &p->vars[op->var];
    double *values = sim_room((size_t)op->n * (size_t)v->each * sizeof *values);
    for (int64_t k = 0; k < (int64_t)op->n * v->each; k++)
        values[k] = sim_value(p, number, op->var, op->first + k / v->each,
                              place(op, k % v->each));
    return values;
}

static int first_of(int one, int other)
{
    return one != NC_NOERR ? one : other;
}

static int put(const struct sim_op *op, int number)
{
    struct part a = part_of(op);
    double *values = values_of(op, number);
    int err, request, status = NC_NOERR, var = vars[op->var];
    switch (op->what) {
    case SIM_PUT:
        err = ncmpi_put_vars_double_all(ncid, var, a.start, a.count, a.stride, values);
        break;
    case SIM_PUT_OWN:
        err = ncmpi_begin_indep_data(ncid);
        if (err == NC_NOERR) {
            err = ncmpi_put_vars_double(ncid, var, a.start, a.count, a.stride, values);
            err = first_of(err, ncmpi_end_indep_data(ncid));
        }
        break;
    default:
        err = ncmpi_iput_vars_double(ncid, var, a.start, a.count, a.stride, values,
                                     &request);
        if (err != NC_NOERR) request = NC_REQ_NULL;
        err = first_of(err, ncmpi_wait_all(ncid, 1, &request, &status));
        err = first_of(err, status);
    }
    free(values);
    return err;
}

static int get(const struct sim_op *op, int number)
{
    struct part a = part_of(op);
    const struct sim_var *v = &p->vars[op->var];
    MPI_Offset records = 0;
    if (v->record) { /* of those that there are */
        int dim, err = ncmpi_inq_unlimdim(ncid, &dim);
        if (err == NC_NOERR) err = ncmpi_inq_dimlen(ncid, dim, &records);
        if (err != NC_NOERR) return err;
        if (a.start[0] + a.count[0] > records) a.count[0] = a.start[0] = 0;
    }
    double *values = sim_room((size_t)a.n * sizeof *values), *row;
    int err = ncmpi_get_vars_double_all(ncid, vars[op->var], a.start, a.count, a.stride,
                                        values);
    row = sim_room((size_t)sim_row(p, op->var) * sizeof *row);
    for (int r = 0; r < a.count[0] && err == NC_NOERR; r++) {
        for (int k = 0; k < v->each; k++)
            row[place(op, k)] = values[(int64_t)r * v->each + k];
        sim_got(number, op->var, op->first + r, row);
    }
    free(row);
    free(values);
    return err;
}

static int define_var(int i)
{
    char name[16];
    int two[2], err;
    snprintf(name, sizeof name, "x%d", i);
    err = ncmpi_def_dim(ncid, name, sim_row(p, i), &two[1]);
    snprintf(name, sizeof name, "r%d", i);
    two[0] = dims[SIM_VARS];
    if (err == NC_NOERR && !p->vars[i].record)
        err = ncmpi_def_dim(ncid, name, p->vars[i].rows, &two[0]);
    snprintf(name, sizeof name, "v%d", i);
    if (err == NC_NOERR)
        err = ncmpi_def_var(ncid, name, (nc_type)p->vars[i].type, 2, two, &vars[i]);
    return err;
}

static int define_all(int since)
{
    int err = NC_NOERR;
    for (int i = 0; i < p->nvars && err == NC_NOERR; i++)
        if (p->vars[i].since == since) err = define_var(i);
    return err;
}

static int create(void)
{
    int cmode = NC_CLOBBER | (p->format == 2   ? NC_64BIT_OFFSET
                              : p->format == 5 ? NC_64BIT_DATA
                                               : 0);
    int old, err = ncmpi_create(MPI_COMM_WORLD, SIM_FILE, cmode, info, &ncid);
    if (err != NC_NOERR) return err;
    if (p->fill) err = ncmpi_set_fill(ncid, NC_FILL, &old);
    if (err == NC_NOERR) err = ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[SIM_VARS]);
    if (err == NC_NOERR) err = define_all(-1);
    return first_of(err, ncmpi_enddef(ncid));
}

static int redefine(const struct sim_op *op, int number)
{
    char name[16];
    int err = ncmpi_redef(ncid);
    char *text = sim_room((size_t)op->n);
    if (err != NC_NOERR) {
        free(text);
        return err;
    }
    snprintf(name, sizeof name, "a%d", number);
    memset(text, 'a' + number, (size_t)op->n);
    err = ncmpi_put_att_text(ncid, NC_GLOBAL, name, op->n, text);
    if (err == NC_NOERR) err = define_all(number);
    free(text);
    err = first_of(err, ncmpi_enddef(ncid));
    for (int i = 0; i < p->nvars && err != NC_NOERR; i++)
        if (p->vars[i].since == number) vars[i] = -1;
    return err;
}

static int find_vars(void)
{
    char name[16];
    int err = ncmpi_inq_dimid(ncid, "t", &dims[SIM_VARS]);
    for (int i = 0; i < p->nvars; i++) {
        snprintf(name, sizeof name, "v%d", i);
        if (ncmpi_inq_varid(ncid, name, &vars[i]) != NC_NOERR) vars[i] = -1;
    }
    return err;
}

static int reopen(void)
{
    int err = ncmpi_close(ncid);
    int opened = ncmpi_open(MPI_COMM_WORLD, SIM_FILE, NC_WRITE, info, &ncid);
    if (opened == NC_NOERR) opened = find_vars();
    return first_of(err, opened);
}

static int do_op(const struct sim_op *op, int number)
{
    switch (op->what) {
    case SIM_SYNC:
        return ncmpi_sync(ncid);
    case SIM_GET:
        return get(op, number);
    case SIM_REDEFINE:
        return redefine(op, number);
    case SIM_REOPEN:
        return reopen();
    default:
        return put(op, number);
    }
}

static void told(int op, int err)
{
    sim_told(op, err, err == NC_NOERR ? "" : ncmpi_strerror(err));
}

/* A close that was deferred tells what became of it, here or at the end of MPI: what
 * could not be brought to the file is in logs or subfiles. */
static void finish(void)
{
    if (p->seed % 2) return;
    sim_begins(SIM_FINISHED);
    told(SIM_FINISHED, ncmpix_wait_closed(NULL));
}

static void act(void)
{
    sim_begins(SIM_CREATED);
    int err = create();
    told(SIM_CREATED, err);
    for (int i = 0; i < p->nops && err == NC_NOERR; i++) {
        sim_begins(i);
        told(i, do_op(&p->ops[i], i));
    }
    sim_begins(SIM_CLOSED);
    told(SIM_CLOSED, err == NC_NOERR ? ncmpi_close(ncid) : err);
    finish();
}

/* Everything, by each process. */
static void look_at(int var, MPI_Offset records)
{
    const struct sim_var *v = &p->vars[var];
    MPI_Offset rows = v->record ? records : v->rows;
    MPI_Offset start[2] = {0, 0}, count[2] = {rows, sim_row(p, var)};
    double *values = sim_room((size_t)(count[0] * count[1]) * sizeof *values);
    int err = ncmpi_get_vara_double_all(ncid, vars[var], start, count, values);
    if (err != NC_NOERR) told(SIM_GET_AFTER, err);
    for (MPI_Offset r = 0; r < rows && err == NC_NOERR; r++)
        sim_got(SIM_CLOSED, var, r, values + r * count[1]);
    free(values);
}

/* False: it could not be opened, which is so for all. */
static bool look(int mode)
{
    MPI_Offset records = 0;
    sim_begins(SIM_OPENED);
    int err = ncmpi_open(MPI_COMM_WORLD, SIM_FILE, mode, info, &ncid);
    told(SIM_OPENED, err);
    if (err != NC_NOERR) return false;
    err = find_vars();
    if (err == NC_NOERR) err = ncmpi_inq_dimlen(ncid, dims[SIM_VARS], &records);
    sim_got_records(err == NC_NOERR ? records : -1);
    for (int i = 0; i < p->nvars && err == NC_NOERR; i++)
        if (vars[i] >= 0)
            look_at(i, records);
        else
            sim_misses(i);
    sim_begins(SIM_CLOSED_AFTER);
    told(SIM_CLOSED_AFTER, ncmpi_close(ncid));
    finish();
    return true;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument)
{
    return sim_thread_create(thread, attributes, run, argument);
}

/* SMPI frees the attributes of MPI_COMM_SELF when a process is none any more. */
static MPI_Comm_delete_attr_function *at_the_end;

int __wrap_MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copies,
                                  MPI_Comm_delete_attr_function *deletes, int *key,
                                  void *extra)
{
    at_the_end = deletes;
    return __real_MPI_Comm_create_keyval(copies, MPI_COMM_NULL_DELETE_FN, key, extra);
}

int __wrap_MPI_Finalize(void)
{
    if (at_the_end != NULL) at_the_end(MPI_COMM_SELF, 0, NULL, NULL);
    return __real_MPI_Finalize();
}

/* Whatever it says: the job behind it finds all well. */
static void use_tool(enum sim_tool tool)
{
    char *replay[] = {"ncmpilog", "replay", "-r", "-q", SIM_LOGS, NULL},
         *finish[] = {"ncvalidator", "-f", "-q", SIM_FILE, NULL};
    optind = 0; /* of the C library, which all copies share */
    if (tool == SIM_REPLAY)
        (void)ncmpilog_main(5, replay);
    else
        (void)ncvalidator_main(4, finish);
}

int sim_main(int argc, char **argv)
{
    p = sim_the_plan();
    if (sim_self()->tool != SIM_NO_TOOL) {
        use_tool(sim_self()->tool);
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    set_hints();
    for (int i = 0; i < p->nvars; i++)
        vars[i] = -1; /* not yet */
    if (sim_self()->job == 0)
        act();
    else if (look(NC_WRITE) && p->seed % 3 == 0)
        (void)look(NC_NOWRITE); /* and, where the hints say so, staged */
    MPI_Info_free(&info);
    MPI_Finalize();
    return 0;
}
