/* The program that a simulated process runs. Each process has its own copy of the program
 * and the library. In the first job, the program executes the plan's operations. In a
 * later job, it opens the remaining datasets, reads and checks everything in them, and
 * closes them; or it runs a tool, or deletes or replaces a dataset. The program passes
 * the result of each call to the model. */
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"
#include "pnetcdf_ext.h"
#include "sim.h"
#include "sim_define.h"
#include "sim_wrapped.h"

int sim_main(int argc, char **argv);
int __wrap_MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copies,
                                  MPI_Comm_delete_attr_function *deletes, int *key,
                                  void *extra);
int __wrap_MPI_Finalize(void);
int __real_MPI_Finalize(void);
int ncmpilog_main(int argc, char **argv);
int ncvalidator_main(int argc, char **argv);
int ncmpijoin_main(int argc, char **argv);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument);
int __real_MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copies,
                                  MPI_Comm_delete_attr_function *deletes, int *key,
                                  void *extra);

static const struct sim_plan *p;
static int rank, ncids[SIM_SETS], times[SIM_SETS] /* ids of the unlimited dimensions */,
    vars[SIM_VARS];
static MPI_Info info = MPI_INFO_NULL;

/* Returns the hints for opens. Their nc_compress may differ from the one used at
 * creation. */
static MPI_Info info_again(void)
{
    MPI_Info again;
    MPI_Info_dup(info, &again);
    if (!p->framed || p->listed) return again;
    if (p->again[0] != '\0')
        MPI_Info_set(again, "nc_compress", p->again);
    else
        MPI_Info_delete(again, "nc_compress");
    return again;
}

static void set_hints(void)
{
    char text[SIM_HINTS], *rest = text, *word;
    MPI_Info_create(&info);
    snprintf(text, sizeof text, "%s", p->listed ? "" : p->hints);
    while ((word = strtok_r(rest, ";", &rest)) != NULL) {
        char *value = strchr(word, '=');
        *value = '\0';
        MPI_Info_set(info, word, value + 1);
    }
}

/* ---- putting and getting rows ---- */

/* Describes the access to this process's part of the op's rows. */
static struct access part_of(const struct sim_op *op, enum access_verb verb)
{
    const struct sim_var *v = &p->vars[op->var];
    const bool rich = p->seed >= SIM_RICH;
    return (struct access){
        .verb = verb,
        .kind = op->kind,
        .all = true,
        .ncid = ncids[op->set],
        .varid = vars[op->var],
        .type = v->type,
        .memory = sim_memory_for(v, rich ? (uint64_t)op->memory : SIM_DOUBLE),
        .cancels = op->takes,
        .slab = {2,
                 {op->first, v->mixed ? rank : rank * (int64_t)v->each},
                 {op->n, v->each},
                 {1, v->mixed ? p->procs : 1}},
        .values = sim_room((size_t)op->n * (size_t)v->each * sizeof(uint64_t)),
        .shape = {v->rows, sim_row(p, op->var)}};
}

/* Returns the index, within a row, of the k-th element of a process's part. */
static int64_t place(const struct sim_op *op, int whose, int64_t k)
{
    const struct sim_var *v = &p->vars[op->var];
    return v->mixed ? whose + k * p->procs : (int64_t)whose * v->each + k;
}

static int first_of(int one, int other)
{
    return one != NC_NOERR ? one : other;
}

static int put(const struct sim_op *op, int number)
{
    const bool posts = op->what == SIM_POST, own = op->what == SIM_PUT_OWN;
    struct access a = part_of(op, !posts         ? ACCESS_PUT
                                  : op->buffered ? ACCESS_BPUT
                                                 : ACCESS_IPUT);
    a.all = posts ? !op->own : !own;
    const int whose = (rank + op->shift) % p->procs;
    a.slab.start[1] = place(op, whose, 0);
    if (op->part > 0) a.slab.count[1] = op->part;
    for (int64_t k = 0, each = a.slab.count[1]; k < a.slab.count[0] * each; k++)
        (void)plan_convert(p->format, a.type,
                           sim_value(p, number, op->var, op->first + k / each,
                                     place(op, whose, k % each)),
                           a.memory, &a.values[k]);
    if (op->shift > 0) MPI_Barrier(MPI_COMM_WORLD);
    int err = own ? ncmpi_begin_indep_data(a.ncid) : NC_NOERR;
    if (err == NC_NOERR) {
        err = access_run(&a);
        if (own) err = first_of(err, ncmpi_end_indep_data(a.ncid));
    }
    free(a.values);
    if (op->shift > 0) MPI_Barrier(MPI_COMM_WORLD);
    return err;
}

/* Returns whether `err` is an NC_ERANGE that is expected, because the type in memory
 * cannot represent all values, including fill values. */
static bool is_out_of_range(const struct access *a, int err)
{
    return err == NC_ERANGE && !sim_memory_has_all(a->memory, a->type);
}

/* Passes to the model the rows that a get returned. */
static void give(const struct sim_op *op, int number, const struct access *a)
{
    const int64_t each = a->slab.count[1];
    uint64_t *row = sim_room((size_t)a->shape[1] * sizeof *row);
    for (int64_t r = 0; r < a->slab.count[0]; r++) {
        for (int64_t k = 0; k < each; k++)
            row[place(op, rank, k)] = a->values[r * each + k];
        sim_got(number, op->var, op->first + r, a->memory, row);
    }
    free(row);
}

static int get(const struct sim_op *op, int number)
{
    struct access a = part_of(op, op->posted ? ACCESS_IGET : ACCESS_GET);
    MPI_Offset records = 0;
    int dim, err = NC_NOERR;
    if (p->vars[op->var].record) { /* the record may not exist yet */
        err = ncmpi_inq_unlimdim(a.ncid, &dim);
        if (err == NC_NOERR) err = ncmpi_inq_dimlen(a.ncid, dim, &records);
        if (a.slab.start[0] + a.slab.count[0] > records)
            a.slab.count[0] = a.slab.start[0] = 0;
    }
    a.all = !op->own;
    const bool own = op->own && !op->posted;
    if (err == NC_NOERR && own) err = ncmpi_begin_indep_data(a.ncid);
    if (err == NC_NOERR) {
        err = access_run(&a);
        if (own) err = first_of(err, ncmpi_end_indep_data(a.ncid));
    }
    if (err == NC_NOERR) give(op, number, &a);
    if (is_out_of_range(&a, err)) err = NC_NOERR;
    free(a.values);
    return err;
}

/* ---- definitions ---- */

static int define_var(int i)
{
    char name[16];
    int two[2], err, ncid = ncids[p->vars[i].set];
    snprintf(name, sizeof name, "x%d", i);
    err = ncmpi_def_dim(ncid, name, sim_row(p, i), &two[1]);
    snprintf(name, sizeof name, "r%d", i);
    two[0] = times[p->vars[i].set];
    if (err == NC_NOERR && !p->vars[i].record)
        err = ncmpi_def_dim(ncid, name, p->vars[i].rows, &two[0]);
    snprintf(name, sizeof name, "v%d", i);
    if (err == NC_NOERR)
        err = ncmpi_def_var(ncid, name, (nc_type)p->vars[i].type, 2, two, &vars[i]);
    return err;
}

static int define_all(int set, int since)
{
    int err = NC_NOERR;
    for (int i = 0; i < p->nvars && err == NC_NOERR; i++)
        if (p->vars[i].since == since && p->vars[i].set == set) err = define_var(i);
    return err;
}

static int create(int set)
{
    int cmode = NC_CLOBBER | (p->format == 2   ? NC_64BIT_OFFSET
                              : p->format == 5 ? NC_64BIT_DATA
                                               : 0);
    int *id = &ncids[set], old;
    int err = ncmpi_create(MPI_COMM_WORLD, sim_path(set), cmode, info, id);
    if (err != NC_NOERR) return err;
    if (p->fill) err = ncmpi_set_fill(*id, NC_FILL, &old);
    if (err == NC_NOERR) err = ncmpi_def_dim(*id, "t", NC_UNLIMITED, &times[set]);
    if (err == NC_NOERR) err = define_all(set, -1);
    return first_of(err, ncmpi_enddef(*id));
}

static int put_text(int ncid, int number, int n)
{
    char name[16], *text = sim_room((size_t)n);
    snprintf(name, sizeof name, "a%d", number);
    memset(text, 'a' + number, (size_t)n);
    int err = ncmpi_put_att_text(ncid, NC_GLOBAL, name, n, text);
    free(text);
    return err;
}

/* Deletes the attribute that an earlier redefinition added, unless the redefinition
 * failed. */
static int take_attribute(int ncid, int op)
{
    char name[16];
    snprintf(name, sizeof name, "a%d", op);
    int err = op < 0 ? NC_NOERR : ncmpi_del_att(ncid, NC_GLOBAL, name);
    return err == NC_ENOTATT ? NC_NOERR : err;
}

static int redefine(const struct sim_op *op, int number)
{
    const int ncid = ncids[op->set];
    int err = ncmpi_redef(ncid);
    if (err != NC_NOERR) return err;
    if (p->seed < SIM_RICH)
        err = put_text(ncid, number, op->n);
    else
        err = sim_define(ncid, number, op->n);
    if (err == NC_NOERR && op->own) err = sim_define_more(ncid, number);
    if (err == NC_NOERR) err = take_attribute(ncid, sim_taken(p, number));
    if (err == NC_NOERR) err = define_all(op->set, number);
    err = first_of(err, ncmpi_enddef(ncid));
    for (int i = 0; i < p->nvars && err != NC_NOERR; i++)
        if (p->vars[i].since == number) vars[i] = -1;
    return err;
}

static int find_vars(int set)
{
    char name[16];
    int err = ncmpi_inq_dimid(ncids[set], "t", &times[set]);
    for (int i = 0; i < p->nvars; i++) {
        if (p->vars[i].set != set) continue;
        snprintf(name, sizeof name, "v%d", i);
        if (ncmpi_inq_varid(ncids[set], name, &vars[i]) != NC_NOERR) vars[i] = -1;
    }
    return err;
}

/* Opens a dataset. If that fails, invalidates its id, because the id may be assigned to
 * another dataset. */
static int open_again(int set, int mode)
{
    MPI_Info again = info_again();
    int err = ncmpi_open(MPI_COMM_WORLD, sim_path(set), mode, again, &ncids[set]);
    /* Another job may hold the lease on a dataset in subfiles, so failed opens are
     * retried. */
    const struct timespec pause = {.tv_sec = 1};
    for (int i = 0; i < 600 && err == NC_EFILE && p->parts && p->company != SIM_ALONE &&
                    strstr(ncmpi_strerror(err), "try again when that ") != NULL;
         i++) {
        (void)__wrap_nanosleep(&pause, NULL);
        err = ncmpi_open(MPI_COMM_WORLD, sim_path(set), mode, again, &ncids[set]);
    }
    MPI_Info_free(&again);
    if (err != NC_NOERR) ncids[set] = -1;
    return err;
}

static int reopen(int set)
{
    int err = ncmpi_close(ncids[set]);
    int opened = open_again(set, NC_WRITE);
    if (opened == NC_NOERR) opened = find_vars(set);
    return first_of(err, opened);
}

static int synchronize(const struct sim_op *op)
{
    const int ncid = ncids[op->set];
    int err = op->own ? ncmpi_flush(ncid) : NC_NOERR;
    if (op->own) err = first_of(err, ncmpi_sync_numrecs(ncid));
    return first_of(err, ncmpi_sync(ncid));
}

static int do_op(const struct sim_op *op, int number)
{
    switch (op->what) {
    case SIM_SYNC:
        return synchronize(op);
    case SIM_GET:
        return get(op, number);
    case SIM_REDEFINE:
        return redefine(op, number);
    case SIM_REOPEN:
        return reopen(op->set);
    default:
        return put(op, number);
    }
}

/* Makes the op's invalid call, if the dataset has a fixed-size numeric variable. */
static void do_wrong(const struct sim_op *op)
{
    struct wrong_dataset d = {sim_path(op->set), ncids[op->set], -1, 0, p->safe};
    for (int i = 0; i < p->nvars; i++)
        if (p->vars[i].set == op->set && vars[i] >= 0 && !p->vars[i].record &&
            p->vars[i].type != NC_CHAR) {
            d.var = vars[i];
            d.row = sim_row(p, i);
        }
    if (op->wrong > 0 && d.var >= 0)
        sim_go_wrong(&d, op->wrong - 1, op->wrong % p->procs == rank);
}

static void told(int op, int err)
{
    sim_told(op, err, err == NC_NOERR ? "" : ncmpi_strerror(err));
}

/* Waits for deferred closes or, depending on the seed, leaves that to MPI_Finalize. Data
 * that these closes could not write to the file remains in logs or subfiles. */
static void finish(void)
{
    if (p->seed % 2) return;
    sim_begins(SIM_FINISHED);
    told(SIM_FINISHED, ncmpix_wait_closed(NULL));
}

/* Executes the plan. This is the program of the first job. */
static void act(void)
{
    int made[SIM_SETS];
    for (int set = 0; set < p->sets; set++) {
        sim_begins(SIM_CREATED + set);
        made[set] = create(set);
        told(SIM_CREATED + set, made[set]);
    }
    for (int i = 0; i < p->nops; i++) {
        if (made[p->ops[i].set] != NC_NOERR) continue;
        do_wrong(&p->ops[i]);
        sim_begins(i);
        told(i, do_op(&p->ops[i], i));
    }
    for (int set = 0; set < p->sets; set++) {
        sim_begins(SIM_CLOSED + set);
        told(SIM_CLOSED + set,
             made[set] == NC_NOERR ? ncmpi_close(ncids[set]) : made[set]);
    }
    finish();
}

/* Reads a variable that has lost some of its frames. Each read covers one process's part
 * of one row. */
static void look_in_pieces(int var, MPI_Offset rows)
{
    const struct sim_var *v = &p->vars[var];
    struct access a = {.verb = ACCESS_GET,
                       .kind = PLAN_STRIDED,
                       .ncid = ncids[v->set],
                       .varid = vars[var],
                       .type = v->type,
                       .memory = sim_memory_for(v, SIM_DOUBLE),
                       .slab = {2, {0, 0}, {1, v->each}, {1, v->mixed ? p->procs : 1}},
                       .shape = {rows, sim_row(p, var)}};
    a.values = sim_room((size_t)v->each * sizeof *a.values);
    for (MPI_Offset r = 0; r < rows; r++)
        for (int who = 0; who < p->procs; who++) {
            a.slab.start[0] = r;
            a.slab.start[1] = v->mixed ? who : who * (int64_t)v->each;
            int err = access_run(&a);
            if (err != NC_NOERR)
                sim_lacks(var, r, who, ncmpi_strerror(err));
            else
                sim_got_part(var, r, who, a.memory, a.values);
        }
    free(a.values);
}

/* Reads a whole variable on each process and passes its rows to the model. */
static void look_at(int var, MPI_Offset records, bool all)
{
    const struct sim_var *v = &p->vars[var];
    static const enum plan_kind kinds[] = {PLAN_STRIDED, PLAN_BLOCK, PLAN_MAPPED,
                                           PLAN_LIST,    PLAN_MANY,  PLAN_FLEXIBLE};
    const MPI_Offset rows = v->record ? records : v->rows;
    const bool rich = p->seed >= SIM_RICH;
    struct access a = {.verb = ACCESS_GET,
                       .kind = rich ? kinds[p->seed / 16 % 6] : PLAN_BLOCK,
                       .all = all,
                       .ncid = ncids[v->set],
                       .varid = vars[var],
                       .type = v->type,
                       .memory = sim_memory_for(v, rich ? p->seed : SIM_DOUBLE),
                       .slab = {2, {0, 0}, {rows, sim_row(p, var)}, {1, 1}},
                       .shape = {rows, sim_row(p, var)}};
    a.values = sim_room((size_t)(rows * sim_row(p, var)) * sizeof *a.values);
    int err = access_run(&a);
    int lacks = p->framed && err != NC_NOERR && sim_is_of_frames(ncmpi_strerror(err));
    if (all && p->framed)
        MPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (err != NC_NOERR && !lacks && !is_out_of_range(&a, err))
        told(SIM_GET_AFTER + v->set, err);
    if (lacks && all) (void)ncmpi_begin_indep_data(ncids[v->set]);
    if (lacks) look_in_pieces(var, rows);
    if (lacks && all) (void)ncmpi_end_indep_data(ncids[v->set]);
    for (MPI_Offset r = 0; r < rows && err == NC_NOERR; r++)
        sim_got(SIM_CLOSED, var, r, a.memory, a.values + r * sim_row(p, var));
    free(a.values);
}

static void look_at_attributes(int set)
{
    for (int i = 0; i < p->nops; i++) {
        bool right = true;
        if (p->ops[i].what != SIM_REDEFINE || p->ops[i].set != set) continue;
        int err = sim_find_attribute(ncids[set], i, p->ops[i].n, &right);
        if (err != NC_NOERR && err != NC_ENOTATT) told(SIM_GET_AFTER + set, err);
        if (err == NC_NOERR || err == NC_ENOTATT)
            sim_got_attribute(i, err == NC_NOERR, right);
    }
}

/* Reads all variables twice in independent mode. The order differs between processes. */
static void look_alone(int set, MPI_Offset records)
{
    if (ncmpi_begin_indep_data(ncids[set]) != NC_NOERR) return;
    for (int i = 0; i < 2 * p->nvars; i++) {
        const int var = (i + rank) % p->nvars;
        if (p->vars[var].set == set && vars[var] >= 0) look_at(var, records, false);
    }
    (void)ncmpi_end_indep_data(ncids[set]);
}

/* Opens a dataset, checks everything in it and closes it. Returns false, on all
 * processes, if it could not be opened. */
static bool look(int set, int mode)
{
    MPI_Offset records = 0;
    sim_begins(SIM_OPENED + set);
    const bool tries = set == 0 && mode == NC_WRITE;
    if (tries) sim_lease_tries();
    int err = open_again(set, mode);
    if (tries) sim_lease_tried("open", err);
    told(SIM_OPENED + set, err);
    if (err != NC_NOERR) return false;
    err = find_vars(set);
    if (err == NC_NOERR) err = ncmpi_inq_dimlen(ncids[set], times[set], &records);
    sim_got_records(set, err == NC_NOERR ? records : -1);
    for (int i = 0; i < p->nvars && err == NC_NOERR; i++) {
        if (p->vars[i].set != set) continue;
        if (vars[i] >= 0)
            look_at(i, records, true);
        else
            sim_misses(i);
    }
    if (err == NC_NOERR && mode == NC_NOWRITE && p->rest > 0) look_alone(set, records);
    if (p->seed >= SIM_RICH) {
        look_at_attributes(set);
        err = sim_ask(ncids[set], sim_path(set));
        if (err != NC_NOERR) told(SIM_GET_AFTER + set, err);
    }
    sim_begins(SIM_CLOSED_AFTER + set);
    told(SIM_CLOSED_AFTER + set, ncmpi_close(ncids[set]));
    finish();
    return true;
}

/* Reopens the dataset read-only, so that the library stages it if the hints request that,
 * and reads it. Does nothing on a mount with a write-back cache: there, the library would
 * return an error, because a node that only reads cannot learn the file's size
 * (doc/filesystems.md). */
static void look_later(int set)
{
    if (p->mount == SIM_BACK) return;
    const struct timespec rest = {p->rest, 0};
    if (p->rest > 0) (void)__wrap_nanosleep(&rest, NULL);
    if (p->reads || p->rest > 0 || p->seed % 3 == 0) (void)look(set, NC_NOWRITE);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument)
{
    return sim_thread_create(thread, attributes, run, argument);
}

/* The delete function for the attribute that the library sets on MPI_COMM_SELF.
 * MPI_Finalize (below) calls it, because SMPI would call it only after the simulated
 * process has ended. */
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

#ifdef SIM_COUNTS
void __gcov_dump(void);
void sim_count(void);

/* Writes the coverage counters. Called at the end of a run, because the run ends with
 * _exit. */
void sim_count(void)
{
    __gcov_dump();
}
#endif

/* Runs a tool. The next job must find everything intact, regardless of the tool's exit
 * status. */
static void use_tool(enum sim_tool tool)
{
    static char *calls[][6] = {
        [SIM_REPLAY] = {"ncmpilog", "replay", "-r", "-q", SIM_LOGS},
        [SIM_FINISH] = {"ncvalidator", "-f", "-q", SIM_FILE},
        [SIM_JOIN] = {"ncmpijoin", "-f", "-c", SIM_FILE, SIM_WHOLE},
        [SIM_VALIDATE] = {"ncvalidator", "-q", SIM_FILE},
        [SIM_COMPACT] = {"ncmpijoin", "--compact", SIM_FILE},
        [SIM_REMOVE] = {"ncmpijoin", "-f", "--remove", SIM_FILE, SIM_WHOLE}};
    static int (*const mains[])(int, char **) = {
        [SIM_REPLAY] = ncmpilog_main,   [SIM_FINISH] = ncvalidator_main,
        [SIM_JOIN] = ncmpijoin_main,    [SIM_VALIDATE] = ncvalidator_main,
        [SIM_COMPACT] = ncmpijoin_main, [SIM_REMOVE] = ncmpijoin_main};
    const bool joins = mains[tool] == ncmpijoin_main;
    int n = 0;
    while (calls[tool][n] != NULL)
        n++;
    optind = 0; /* resets getopt; all copies of the program share its state */
    if (joins) sim_lease_tries();
    int status = mains[tool](n, calls[tool]);
    sim_note("the tool says %d", status);
    if (joins) sim_lease_tried(calls[tool][1], status);
    if (tool == SIM_REMOVE && status == 0) (void)__wrap_rename(SIM_WHOLE, SIM_FILE);
}

/* Deletes the first job's dataset, or creates another dataset with the same name. */
static void interfere(enum sim_tool tool)
{
    sim_lease_tries();
    int err = tool == SIM_DELETE ? ncmpi_delete(SIM_FILE, info) : create(0);
    sim_lease_tried(tool == SIM_DELETE ? "delete" : "create", err);
    if (tool == SIM_CLOBBER && err == NC_NOERR) (void)ncmpi_close(ncids[0]);
}

int sim_main(int argc, char **argv)
{
    p = sim_the_plan();
    if (sim_self()->tool != SIM_NO_TOOL && sim_self()->tool < SIM_DELETE) {
        use_tool(sim_self()->tool);
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    set_hints();
    for (int i = 0; i < p->nvars; i++)
        vars[i] = -1; /* not defined yet */
    if (sim_self()->job == 0) act();
    if (sim_self()->tool != SIM_NO_TOOL) interfere(sim_self()->tool);
    for (int set = 0;
         set < p->sets && sim_self()->job > 0 && sim_self()->tool == SIM_NO_TOOL; set++)
        if (p->reads || look(set, NC_WRITE)) look_later(set);
    MPI_Info_free(&info);
    MPI_Finalize();
    return 0;
}
