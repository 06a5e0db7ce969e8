/* Runs random programs for comparisons with PnetCDF; see differ.h. Usage: differ
 * DIRECTORY FIRST LAST, under MPI. Runs the programs for seeds FIRST to LAST one after
 * the other on the dataset DIRECTORY/file.nc. Each process writes its transcript to
 * DIRECTORY/RANK, with "==" lines before and after each program. After each program,
 * process 0 also prints the contents of the file. PNETCDF_SAFE_MODE must be set. */
#include "differ.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "splitmix.h"

struct differ d;
static volatile sig_atomic_t out_file; /* the transcript, for the signal handler */

uint64_t draw(uint64_t n)
{
    return splitmix_next(&d.shared) % n;
}
uint64_t draw_own(uint64_t n)
{
    return splitmix_next(&d.own) % n;
}
bool once_in(uint64_t n)
{
    return draw(n) == 0;
}

/* ---- the transcript ---- */

void call(const char *format, ...)
{
    static const char states[] = "XDCI";
    va_list args;
    va_start(args, format);
    fprintf(d.out, "%c%c ", states[d.state], d.writable ? 'w' : 'r');
    vfprintf(d.out, format, args);
    va_end(args);
}

int came(int err)
{
    fprintf(d.out, " = %s(%d)", ncmpi_strerrno(err), err);
    return err;
}

void put_out(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(d.out, format, args);
    va_end(args);
}

void put_name(const char *name)
{
    if (name == NULL) {
        put_out("NULL");
        return;
    }
    if (strlen(name) > 60) {
        put_out("\"%.8s...%d\"", name, (int)strlen(name));
        return;
    }
    put_out("\"");
    for (; *name != 0; name++)
        put_out((unsigned char)*name < ' ' ? "\\%d" : "%c", *name);
    put_out("\"");
}

void done(void)
{
    fprintf(d.out, "\n");
}

int simple(int err)
{
    came(err);
    done();
    return err;
}

bool everywhere(int err)
{
    int good = err == NC_NOERR, all;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

/* ---- arguments ---- */

int an_id(void)
{
    /* PnetCDF 1.12 crashes on ids below 1024 that are not in use. */
    static const int bad[] = {-1, 1024, 100000, -1000};
    if (!once_in(40)) return d.ncid;
    int ncid = bad[draw(sizeof bad / sizeof bad[0])];
    put_out("[id %d] ", ncid);
    return ncid;
}

int a_varid(bool global)
{
    static const int bad[] = {-2, -1, MAX_VARS, 1000, 2147483647, -2147483647};
    if (once_in(25)) return bad[draw(sizeof bad / sizeof bad[0])];
    if (global && (d.nvars == 0 || once_in(3))) return NC_GLOBAL;
    return d.nvars == 0 ? 0 : (int)draw((uint64_t)d.nvars);
}

int a_dimid(void)
{
    static const int bad[] = {-1, MAX_DIMS, 1000, -1000};
    if (once_in(20) || d.ndims == 0) return bad[draw(sizeof bad / sizeof bad[0])];
    return (int)draw((uint64_t)d.ndims);
}

const char *a_name(const char *what)
{
    static char name[320];
    static const char *const bad[] = {"",  "/a", "a/b", " a",  "a ", "a\001", "\177",
                                      "-", "+x", "1a",  "a:b", "#",  "a\t"};
    size_t choice = draw(sizeof bad / sizeof bad[0]);
    if (once_in(300)) {
        memset(name, 'n', 300);
        name[256 + draw(2)] = 0; /* the name has the maximum length, or one byte more */
        return name;
    }
    if (once_in(20)) return bad[choice];
    sprintf(name, "%s%d%s", what, (int)draw(7), once_in(4) ? " \303\274ber" : "");
    return name;
}

/* ---- inquiries ---- */

void look_records(MPI_Offset length)
{
    MPI_Offset both[2] = {length, -length}, least[2];
    d.length[d.unlimited] = length;
    MPI_Allreduce(both, least, 2, MPI_OFFSET, MPI_MIN, MPI_COMM_WORLD);
    d.numrecs = -least[1] > MAX_RECORDS ? -least[1] : least[0];
}

static void look_dim(int dimid)
{
    char name[NC_MAX_NAME + 1] = "";
    MPI_Offset length = -1;
    call("inq_dim(%d)", dimid);
    came(ncmpi_inq_dim(d.ncid, dimid, name, &length));
    put_out(" ");
    put_name(name);
    put_out(" %lld", (long long)length);
    done();
    d.length[dimid] = length;
    if (dimid == d.unlimited) look_records(length);
}

/* Sets a variable's shape and number of elements. Sets nelems to 0 if there are too many
 * elements to track. */
static void shape(struct differ_var *v)
{
    MPI_Offset n = 1;
    v->is_record = v->ndims > 0 && v->dimids[0] == d.unlimited;
    for (int i = 0; i < v->ndims; i++) {
        v->shape[i] = v->is_record && i == 0 ? MAX_RECORDS : d.length[v->dimids[i]];
        n = v->shape[i] > MOST || n > MOST ? MOST + 1 : n * v->shape[i];
    }
    v->nelems = n > MOST ? 0 : (int)n;
}

static void look_var(int varid)
{
    struct differ_var *v = &d.vars[varid];
    char name[NC_MAX_NAME + 1] = "";
    int natts = -1;
    call("inq_var(%d)", varid);
    int err =
        came(ncmpi_inq_var(d.ncid, varid, name, &v->type, &v->ndims, v->dimids, &natts));
    if (err != NC_NOERR) *v = (struct differ_var){.type = NC_CHAR};
    put_out(" ");
    put_name(name);
    put_out(" type=%d atts=%d dims", v->type, natts);
    for (int i = 0; i < v->ndims; i++)
        put_out(" %d", v->dimids[i]);
    done();
    shape(v);
}

void look(void)
{
    int before = d.nvars;
    if (d.state == CLOSED) return;
    call("inq()");
    came(ncmpi_inq(d.ncid, &d.ndims, &d.nvars, &d.natts, &d.unlimited));
    put_out(" %d %d %d %d", d.ndims, d.nvars, d.natts, d.unlimited);
    done();
    d.numrecs = 0;
    for (int i = 0; i < d.ndims && i < MAX_DIMS; i++)
        look_dim(i);
    for (int i = before; i < d.nvars && i < MAX_VARS; i++)
        d.vars[i] = (struct differ_var){.fresh = d.state == DEFINE};
    for (int i = 0; i < d.nvars && i < MAX_VARS; i++)
        look_var(i);
}

/* ---- the dataset ---- */

/* Changes the dataset's state if the call succeeded on all processes. */
static bool settled(int err, enum state state)
{
    if (!everywhere(err)) return false;
    d.state = state;
    look();
    return true;
}

static void create(void)
{
    static const int formats[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA};
    static const int odd[] = {NC_64BIT_OFFSET | NC_64BIT_DATA,
                              NC_NETCDF4,
                              NC_SHARE,
                              NC_LOCK,
                              NC_NOCLOBBER,
                              NC_DISKLESS};
    int cmode = NC_CLOBBER | formats[d.format];
    if (once_in(20)) cmode |= odd[draw(sizeof odd / sizeof odd[0])];
    call("create(%#x)", cmode);
    d.writable = true;
    if (settled(
            simple(ncmpi_create(MPI_COMM_WORLD, d.path, cmode, MPI_INFO_NULL, &d.ncid)),
            DEFINE))
        return;
    d.writable = false;
}

static void create_again(void)
{
    int ncid = -1;
    bool noclobber = once_in(2);
    if (!noclobber || d.state != CLOSED) return; /* this file must not be replaced */
    call("create(NOCLOBBER)");
    int err =
        simple(ncmpi_create(MPI_COMM_WORLD, d.path, NC_NOCLOBBER, MPI_INFO_NULL, &ncid));
    if (err == NC_NOERR) ncmpi_close(ncid);
}

static void open_dataset(void)
{
    static const int odd[] = {NC_SHARE,      NC_NETCDF4,   NC_LOCK,
                              NC_64BIT_DATA, NC_NOCLOBBER, NC_CLASSIC_MODEL};
    bool missing = once_in(12), writable = !once_in(3);
    int omode = writable ? NC_WRITE : NC_NOWRITE, ncid = -1;
    char path[600];
    if (d.state != CLOSED) return;
    if (once_in(12)) omode |= odd[draw(sizeof odd / sizeof odd[0])];
    snprintf(path, sizeof path, "%s%s", d.path, missing ? ".none" : "");
    call("open(%#x%s)", omode, missing ? " missing" : "");
    int err = simple(ncmpi_open(MPI_COMM_WORLD, path, omode, MPI_INFO_NULL, &ncid));
    if (!everywhere(err)) return;
    d.ncid = ncid;
    d.writable = writable;
    settled(err, COLLECTIVE);
}

/* Removes the variables that were defined in an aborted define mode. */
static void forget_fresh(void)
{
    int n = 0;
    while (n < d.nvars && n < MAX_VARS && !d.vars[n].fresh)
        n++;
    d.nvars = n;
}

/* Enters the state CLOSED if all processes have closed the dataset. */
static void ended(int err)
{
    int closed = err == NC_NOERR || err == NC_EPENDING, all;
    MPI_Allreduce(&closed, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all) return;
    requests_forget();
    d.state = CLOSED;
}

static void filled(void);

static void close_dataset(void)
{
    int ncid = an_id();
    bool bad = ncid != d.ncid;
    if (d.state == DEFINE && !bad) filled();
    call("close(%d)", bad ? ncid : 0);
    int err = simple(ncmpi_close(ncid));
    if (bad) return;
    ended(err);
}

static void abort_dataset(void)
{
    int ncid = an_id();
    bool bad = ncid != d.ncid;
    call("abort(%d)", bad ? ncid : 0);
    int err = simple(ncmpi_abort(ncid));
    if (bad) return;
    if (d.state == DEFINE) forget_fresh();
    ended(err);
}

/* Marks the elements of new variables as known if the variables are filled. */
static void filled(void)
{
    for (int i = 0; i < d.nvars && i < MAX_VARS; i++) {
        struct differ_var *v = &d.vars[i];
        int no_fill = -1;
        unsigned char value[8] = {0};
        if (!v->fresh) continue;
        v->fresh = false;
        if (d.state == CLOSED || v->nelems == 0) continue;
        if (ncmpi_inq_var_fill(d.ncid, i, &no_fill, value) != NC_NOERR || no_fill)
            continue;
        MPI_Offset per = v->is_record ? v->nelems / MAX_RECORDS : v->nelems;
        MPI_Offset n = v->is_record ? per * d.numrecs : per;
        memset(v->known, 1, n > v->nelems ? (size_t)v->nelems : (size_t)n);
    }
}

void end_define(void)
{
    static const MPI_Offset given[] = {0, 4, 100, 512, 1000, 1, 3, -1, 4096};
    enum { N = sizeof given / sizeof given[0] };
    int ncid = an_id(), err;
    if (once_in(3)) {
        MPI_Offset a = given[draw(N)], b = given[draw(N)], c = given[draw(N)],
                   e = given[draw(N)];
        call("_enddef(%lld, %lld, %lld, %lld)", (long long)a, (long long)b, (long long)c,
             (long long)e);
        err = simple(ncmpi__enddef(ncid, a, b, c, e));
    } else {
        call("enddef()");
        err = simple(ncmpi_enddef(ncid));
    }
    if (!everywhere(err)) return;
    d.state = COLLECTIVE;
    filled();
    look();
}

void again_define(void)
{
    int ncid = an_id();
    call("redef()");
    settled(simple(ncmpi_redef(ncid)), DEFINE);
}

static void go_independent(void)
{
    int ncid = an_id();
    call("begin_indep_data()");
    settled(simple(ncmpi_begin_indep_data(ncid)), INDEPENDENT);
}

static void go_collective(void)
{
    int ncid = an_id();
    call("end_indep_data()");
    settled(simple(ncmpi_end_indep_data(ncid)), COLLECTIVE);
}

static void synchronise(void)
{
    int ncid = an_id();
    uint64_t which = draw(4);
    /* The first call writes. The second call makes visible what other processes wrote in
     * the first one. */
    for (int i = 0; i < 2; i++) {
        static const char *const names[] = {"sync", "flush", "sync_numrecs", "sync"};
        call("%s()", names[which]);
        simple(which == 1   ? ncmpi_flush(ncid)
               : which == 2 ? ncmpi_sync_numrecs(ncid)
                            : ncmpi_sync(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    look();
}

static void delete_file(void)
{
    char path[600];
    snprintf(path, sizeof path, "%s.none", d.path);
    call("delete(missing)");
    simple(ncmpi_delete(path, MPI_INFO_NULL));
}

static void default_format(void)
{
    static const int formats[] = {1, 2, 5, 3, 4, 0, -1, 6};
    int format = formats[draw(8)], old = -1;
    call("set_default_format(%d)", format);
    came(ncmpi_set_default_format(format, once_in(5) ? NULL : &old));
    put_out(" %d", old);
    done();
    call("inq_default_format()");
    came(ncmpi_inq_default_format(&old));
    put_out(" %d", old);
    done();
    ncmpi_set_default_format(NC_FORMAT_CLASSIC, NULL);
}

/* ---- programs ---- */

/* Relative frequencies of the steps for each state of the dataset. */
static const struct {
    differ_step *take;
    int weight[NSTATES];
} steps[] = {
    {open_dataset, {60, 0, 0, 0}},   {create_again, {5, 0, 0, 0}},
    {delete_file, {2, 1, 1, 1}},     {default_format, {2, 1, 1, 1}},
    {close_dataset, {2, 1, 2, 2}},   {abort_dataset, {1, 1, 1, 1}},
    {define_dim, {1, 20, 1, 1}},     {define_var, {1, 25, 1, 1}},
    {define_fill, {1, 6, 1, 1}},     {set_fill, {1, 4, 1, 1}},
    {fill_record, {1, 1, 5, 1}},     {rename_dim, {1, 4, 2, 1}},
    {rename_var, {1, 4, 2, 1}},      {put_att, {1, 16, 6, 2}},
    {get_att, {1, 8, 8, 8}},         {other_att, {1, 10, 5, 3}},
    {end_define, {1, 10, 1, 1}},     {again_define, {1, 1, 7, 2}},
    {ask_dataset, {2, 6, 6, 6}},     {ask_var, {1, 5, 5, 5}},
    {ask_dim, {1, 4, 4, 4}},         {go_independent, {1, 1, 7, 1}},
    {go_collective, {1, 1, 1, 12}},  {synchronise, {1, 2, 3, 4}},
    {access_put, {1, 2, 40, 30}},    {access_get, {1, 2, 40, 30}},
    {access_post, {1, 8, 25, 25}},   {access_many, {1, 1, 6, 6}},
    {requests_wait, {1, 2, 12, 12}}, {requests_cancel, {1, 2, 3, 3}},
    {requests_buffer, {1, 3, 4, 4}}, {requests_ask, {1, 2, 3, 3}},
};
enum { NSTEPS = sizeof steps / sizeof steps[0] };

static void one_step(void)
{
    put_out("--\n"); /* processes perform the same steps, but may print different lines */
    int sum = 0, i = 0;
    for (int k = 0; k < NSTEPS; k++)
        sum += steps[k].weight[d.state];
    int at = (int)draw((uint64_t)sum);
    while (at >= steps[i].weight[d.state])
        at -= steps[i++].weight[d.state];
    steps[i].take();
}

static void program(uint64_t seed)
{
    FILE *out = d.out;
    int rank = d.rank, nprocs = d.nprocs;
    char where[sizeof d.where];
    strcpy(where, d.where);
    d = (struct differ){
        .out = out, .rank = rank, .nprocs = nprocs, .ncid = -1, .unlimited = -1};
    d.safe = strcmp(getenv("PNETCDF_SAFE_MODE"), "1") == 0;
    d.shared = seed * 1000003;
    d.own = d.shared ^ ((uint64_t)rank + 1) << 40;
    strcpy(d.where, where);
    snprintf(d.path, sizeof d.path, "%s/file.nc", where);
    d.format = (int)draw(3);
    fprintf(out, "== %llu\n", (unsigned long long)seed);
    alarm(20);
    create();
    for (int i = 4 + (int)draw(8); i > 0 && d.state == DEFINE; i--)
        (once_in(2) ? define_var : define_dim)();
    for (int i = 10 + (int)draw(60); i > 0; i--)
        one_step();
    for (int i = 0; i < 3 && d.state != CLOSED; i++)
        close_dataset();
    MPI_Barrier(MPI_COMM_WORLD);
    put_out("--\n");
    if (rank == 0) differ_file(d.path);
    if (rank == 0) unlink(d.path);
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(0);
    fprintf(out, "==\n");
    fflush(out);
}

/* Handles signals. Records in the transcript that the library crashed or hung, or that
 * the launcher terminated this process because of another one. */
static void fell(int signal)
{
    static const char hung[] = " HANG\n", ended[] = " ENDED\n", crashed[] = " CRASH\n";
    const char *word = signal == SIGALRM ? hung : signal == SIGTERM ? ended : crashed;
    size_t n = signal == SIGALRM   ? sizeof hung
               : signal == SIGTERM ? sizeof ended
                                   : sizeof crashed;
    if (write(out_file, word, n - 1) < 0) _exit(8);
    _exit(9);
}

int main(int argc, char **argv)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM, SIGTERM};
    char name[400];
    if (argc != 4) return 2;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &d.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &d.nprocs);
    snprintf(d.where, sizeof d.where, "%s", argv[1]);
    snprintf(name, sizeof name, "%s/%d", argv[1], d.rank);
    d.out = fopen(name, "w");
    if (d.out == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    setvbuf(d.out, NULL, _IONBF, 0); /* a crash must not lose the last line */
    out_file = fileno(d.out);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], fell);
    for (uint64_t seed = strtoull(argv[2], NULL, 10); seed <= strtoull(argv[3], NULL, 10);
         seed++)
        program(seed);
    fclose(d.out);
    MPI_Finalize();
    return 0;
}
