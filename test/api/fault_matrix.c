/* Calls every family of collective data functions while one process has nothing to do,
 * passes invalid arguments, or has a failing disk. All processes must return. The process
 * at fault must get the right error, and the calls of the other processes must
 * succeed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "fault_calls.h"

/* ---- the dataset ---- */

static const char *const ways[] = {"auto", "direct", "node", "view"};
enum { DIRECT = 1, VIEW = 3, WAYS = 4 };

static int way; /* index of the transfer method in use */
static int ncid, t, x, fixed, series, text, filled;
static bool safe;

/* Creates the integer variables fixed(x), series(t) and filled(t, x), and text(x). The
 * hints select the current transfer method. */
static void begin(int which, bool safe_mode)
{
    MPI_Info info;
    way = which;
    safe = safe_mode;
    CHECK_EQ(0, setenv("PNETCDF_SAFE_MODE", safe ? "1" : "0", 1));
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_transfer", ways[way]);
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    t = new_dim(ncid, "t", NC_UNLIMITED);
    x = new_dim(ncid, "x", (MPI_Offset)N * check.nprocs);
    int dims[2] = {t, x};
    fixed = new_var(ncid, "fixed", NC_INT, 1, &x);
    series = new_var(ncid, "series", NC_INT, 1, &t);
    text = new_var(ncid, "text", NC_CHAR, 1, &x);
    filled = new_var(ncid, "filled", NC_INT, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, filled, 0, NULL));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
}

static void end(void)
{
    close_dataset(ncid);
    CHECK_EQ(0, unsetenv("PNETCDF_SAFE_MODE"));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) (void)remove(check_path("a.nc"));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Calls `test` for each transfer method, with and without safe mode. With more than four
 * processes, or for formats other than CDF-5, runs only half of these combinations. */
static void each_way(void (*test)(void))
{
    for (int i = DIRECT; i < WAYS; i++)
        for (int safe_mode = 0; safe_mode <= 1; safe_mode++) {
            bool part = check.nprocs > 4 || check.format != 5;
            if (part && safe_mode != i % 2) continue;
            begin(i, safe_mode);
            test();
            end();
        }
}

/* ---- a single call ---- */

/* Checks that the elements have the values of a round. */
static bool holds(const struct family *f, int round, const int *values)
{
    for (MPI_Offset i = 0; i < elements_of(f->shape); i++)
        if (!CHECK_EQ(value_at(round, place_of(f->shape, i)), values[i])) {
            fprintf(stderr, "# %s, element %lld\n", f->name, (long long)i);
            return false;
        }
    return true;
}

/* Reads this process's elements from the file and, if `expected` is set, checks that they
 * have the values of a round. */
static void file_holds_here(const struct family *f, int varid, int round, bool expected)
{
    struct arguments g;
    static const struct family *by_stride = &families[3];
    struct family same = *by_stride;
    same.shape = f->shape;
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    prepare(&g, &same, varid, false, round);
    CHECK_NC(NC_NOERR, same.call(ncid, &g.a, false));
    if (expected) holds(f, round, g.values);
}

static void file_holds(const struct family *f, int varid, int round)
{
    file_holds_here(f, varid, round, true);
}

/* Puts the values of a round to all elements of a variable. Collective. */
static void write_all(int varid, int round)
{
    struct arguments g;
    const struct family *f = &families[2];
    prepare(&g, f, varid, true, round);
    CHECK_NC(NC_NOERR, f->call(ncid, &g.a, true));
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- nothing to do ---- */

/* Changes the arguments so that nothing is accessed. Returns false if the family's
 * functions always access something. */
static bool take_away(struct arguments *g, const struct family *f)
{
    if (f->takes & NUM) {
        g->a.num = 0;
        return true;
    }
    g->count[0] = 0;
    g->a.bufcount = 0;
    return (f->takes & (COUNT | FILETYPE)) != 0;
}

static void bring_nothing(const struct family *f, int varid, int idle, int round)
{
    struct arguments g;
    bool busy = check.rank != idle;
    write_all(varid, round);
    prepare(&g, f, varid, true, round + 1);
    if (!busy) take_away(&g, f);
    CHECK_NC(NC_NOERR, f->call(ncid, &g.a, true));
    bool by_others = f->shape == ALL && check.nprocs > 1;
    file_holds(f, varid, busy || by_others ? round + 1 : round);

    write_all(varid, round);
    prepare(&g, f, varid, false, round);
    if (!busy) take_away(&g, f);
    CHECK_NC(NC_NOERR, f->call(ncid, &g.a, false));
    if (busy)
        holds(f, round, g.values);
    else
        CHECK_EQ(-1, g.values[0]);
}

/* Returns whether to test this family with the current transfer method and safe mode.
 * Tests all families that have their own path through the library, but only a third of
 * the others, or a sixth with more than four processes. */
static bool has_its_turn(int family)
{
    int turns = check.nprocs > 4 ? 6 : 3;
    return family < FIRST_FAMILIES ||
           family % turns == (2 * (way - DIRECT) + safe) % turns;
}

static void nothing_in_any_family(void)
{
    int round = 1;
    for (int i = 0; i < FAMILIES; i++) {
        struct arguments g;
        if (!has_its_turn(i)) continue;
        prepare(&g, &families[i], fixed, true, 0);
        if (!take_away(&g, &families[i])) continue;
        bring_nothing(&families[i], fixed, i % check.nprocs, round);
        if (!(families[i].takes & FILETYPE))
            bring_nothing(&families[i], series, (i + 1) % check.nprocs, round);
        round += 2;
    }
}

static void a_process_without_elements_does_not_affect_the_others(void)
{
    each_way(nothing_in_any_family);
}

/* All processes must see a new record, whichever process wrote it. */
static void records_of_one_process(void)
{
    for (int i = 1; i < FAMILIES; i++) {
        struct arguments g;
        if (!(families[i].takes & (COUNT | NUM)) || families[i].shape == ALL) continue;
        bool busy = check.rank == i % check.nprocs;
        MPI_Offset last = 3 * i + 1;
        prepare(&g, &families[i], series, true, i);
        g.start[0] = last;
        g.count[0] = g.a.bufcount = 1;
        if (!busy) take_away(&g, &families[i]);
        CHECK_NC(NC_NOERR, families[i].call(ncid, &g.a, true));
        CHECK_EQ(last + 1, dim_length(ncid, t));
    }
}

static void records_that_one_process_adds_are_counted_by_all(void)
{
    each_way(records_of_one_process);
}

/* ---- bad arguments ---- */

static MPI_Datatype mixed; /* a type that consists of an int and a double */

static void bad_varid(struct arguments *g)
{
    g->a.varid = 99;
}

static void global_varid(struct arguments *g)
{
    g->a.varid = NC_GLOBAL;
}

static void text_variable(struct arguments *g)
{
    g->a.varid = text;
}

static void negative_start(struct arguments *g)
{
    g->start[0] = -1;
}

static void far_start(struct arguments *g)
{
    g->start[0] = (MPI_Offset)N * check.nprocs;
}

static void long_count(struct arguments *g)
{
    g->count[0] = g->a.bufcount = (MPI_Offset)N * check.nprocs + 1;
}

static void negative_count(struct arguments *g)
{
    g->count[0] = -1;
}

static void no_start(struct arguments *g)
{
    g->a.start = NULL;
}

static void no_count(struct arguments *g)
{
    g->a.count = NULL;
}

static void stride_of_nothing(struct arguments *g)
{
    g->stride[0] = 0;
}

static void stride_backwards(struct arguments *g)
{
    g->stride[0] = -2;
}

static void wide_map(struct arguments *g)
{
    g->imap[0] = 2;
    g->a.bufcount++; /* more than the elements accessed, but fewer than the map spans */
}

static void no_buffer(struct arguments *g)
{
    g->a.buf = NULL;
}

static void another_bufcount(struct arguments *g)
{
    g->a.bufcount++;
}

static void negative_bufcount(struct arguments *g)
{
    g->a.bufcount = -7;
}

static void foreign_type(struct arguments *g)
{
    g->a.buftype = MPI_LONG_DOUBLE;
}

static void several_types(struct arguments *g)
{
    g->a.buftype = mixed;
    g->a.bufcount = 1;
}

static void negative_num(struct arguments *g)
{
    g->a.num = -1;
}

/* The invalid arguments to try. Each applies to the families whose functions take all
 * arguments in `needs`. */
static const struct mistake {
    const char *name;
    void (*make)(struct arguments *g);
    unsigned needs;
    int code, code_of_filetype; /* code_of_filetype is for vard; if 0, `code` is used */
    bool of_buffer;             /* whether only flexible functions can make the mistake */
} mistakes[] = {
    {"no such variable", bad_varid, 0, NC_ENOTVAR, 0, false},
    {"the global id", global_varid, 0, NC_EGLOBAL, 0, false},
    {"text", text_variable, 0, NC_ECHAR, 0, false},
    {"negative start", negative_start, START, NC_EINVALCOORDS, 0, false},
    {"start too far", far_start, START, NC_EINVALCOORDS, 0, false},
    {"count too long", long_count, START | COUNT, NC_EEDGE, 0, false},
    {"file type too long", long_count, FILETYPE, NC_EEDGE, 0, false},
    {"file type before", negative_start, FILETYPE, NC_EEDGE, 0, false},
    {"negative count", negative_count, COUNT, NC_ENEGATIVECNT, 0, false},
    {"no start", no_start, START, NC_EINVALCOORDS, 0, false},
    {"no count", no_count, COUNT, NC_EEDGE, 0, false},
    {"stride 0", stride_of_nothing, STRIDE, NC_ESTRIDE, 0, false},
    {"stride -2", stride_backwards, STRIDE, NC_ESTRIDE, 0, false},
    {"map too wide", wide_map, IMAP, NC_EIOMISMATCH, 0, true},
    {"no buffer", no_buffer, 0, NC_EINVAL, 0, false},
    {"another bufcount", another_bufcount, 0, NC_EIOMISMATCH, 0, true},
    {"negative bufcount", negative_bufcount, 0, NC_EIOMISMATCH, 0, true},
    {"foreign type", foreign_type, 0, NC_EUNSPTETYPE, 0, true},
    {"several types", several_types, 0, NC_EMULTITYPES, 0, true},
    {"negative num", negative_num, NUM, NC_EINVAL, 0, false},
};
enum { MISTAKES = sizeof mistakes / sizeof mistakes[0] };

static bool applies(const struct mistake *m, const struct family *f)
{
    bool flexible = strstr(f->name, "_int") == NULL;
    /* with imap, a larger bufcount is valid */
    if (m->make == another_bufcount && (f->takes & IMAP)) return false;
    return (f->takes & m->needs) == m->needs && (flexible || !m->of_buffer);
}

/* Returns the code that a call must return on this process. `bad` is set on the process
 * that passes the invalid argument. */
static int expected(const struct mistake *m, const struct family *f, bool bad)
{
    int code =
        (f->takes & FILETYPE) && m->code_of_filetype != 0 ? m->code_of_filetype : m->code;
    if (m->make == no_start && strstr(f->name, "varn") != NULL) code = NC_ENULLSTART;
    /* In safe mode all processes get the error, unless it concerns only a process's own
     * buffer. */
    bool own = code == NC_EIOMISMATCH || code == NC_EMULTITYPES;
    if (safe && !(f->takes & POSTED) && !own) return code;
    return bad ? code : NC_NOERR;
}

static void one_mistake(const struct mistake *m, const struct family *f, int who,
                        bool put, int round)
{
    struct arguments g;
    bool bad = check.rank == who;
    prepare(&g, f, fixed, put, round + put);
    if (bad) m->make(&g);
    int code = expected(m, f, bad), rc = f->call(ncid, &g.a, put);
    if (!CHECK_NC(code, rc))
        fprintf(stderr, "# %s, %s, %s on process %d\n", put ? "put" : "get", f->name,
                m->name, who);
    if (bad) return;
    if (!put) holds(f, round, g.values);
}

static void mistakes_in_any_family(void)
{
    /* Each combination of transfer method and safe mode tries some of the mistakes.
     * Together, the combinations cover all mistakes, both with and without safe mode. */
    int round = 1, step = check.nprocs < 3 ? 3 : check.nprocs;
    int first = 2 * (way - DIRECT) + safe;
    MPI_Datatype two[2] = {MPI_INT, MPI_DOUBLE};
    int lengths[2] = {1, 1};
    MPI_Aint displs[2] = {0, 8};
    MPI_Type_create_struct(2, lengths, displs, two, &mixed);
    MPI_Type_commit(&mixed);
    write_all(fixed, round);
    for (int i = first % step; i < FAMILIES * MISTAKES; i += step) {
        const struct family *f = &families[i / MISTAKES];
        const struct mistake *m = &mistakes[i % MISTAKES];
        int who = i / step % check.nprocs;
        if (!applies(m, f)) continue;
        one_mistake(m, f, who, false, round);
        one_mistake(m, f, who, true, round);
        bool refused = expected(m, f, false) == NC_EMULTIDEFINE_FNC_ARGS;
        bool good = check.rank != who || f->shape == ALL;
        if (check.nprocs > 1) file_holds(f, fixed, good && !refused ? round + 1 : round);
        round++;
        write_all(fixed, round);
    }
    MPI_Type_free(&mixed);
}

static void an_invalid_argument_on_one_process_affects_no_other(void)
{
    each_way(mistakes_in_any_family);
}

/* One process waits for a nonexistent request and then passes invalid request lists. */
static void wait_for_strange_requests(void)
{
    int who = check.nprocs - 1, id = 4711, status = NC_NOERR;
    bool bad = check.rank == who;
    struct arguments g;
    prepare(&g, &families[2], fixed, true, 5);
    if (!bad) {
        CHECK_NC(NC_NOERR,
                 ncmpi_iput_vara_int(ncid, fixed, g.start, g.count, g.values, &id));
    }
    CHECK_NC(bad ? NC_EINVAL_REQUEST : NC_NOERR, ncmpi_wait_all(ncid, 1, &id, &status));
    CHECK_NC(bad ? NC_EINVAL_REQUEST : NC_NOERR, status);
    int rc = ncmpi_wait_all(ncid, bad ? 1 : 0, NULL, NULL);
    if (bad || safe) CHECK_NC(NC_EINVAL, rc);
    if (!bad && !safe) CHECK_NC(NC_NOERR, rc);
    rc = ncmpi_wait_all(ncid, bad ? -77 : 0, NULL, NULL);
    if (bad || safe) CHECK_NC(NC_EINVAL, rc);
    if (!bad) {
        prepare(&g, &families[2], fixed, false, 5);
        CHECK_NC(NC_NOERR, families[2].call(ncid, &g.a, false));
        holds(&families[2], 5, g.values);
    } else {
        g.count[0] = 0;
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, fixed, g.start, g.count, &id));
    }
}

static void an_unknown_request_on_one_process_affects_no_other(void)
{
    each_way(wait_for_strange_requests);
}

/* ---- filling a record ---- */

static void bad_fills(void)
{
    static const int codes[] = {NC_ENOTVAR, NC_ENOTRECVAR, NC_ENOTFILL, NC_EINVAL};
    const int varids[] = {99, fixed, series, filled};
    for (int i = 0; i < 4; i++) {
        bool bad = check.rank == i % check.nprocs;
        int rc = ncmpi_fill_var_rec(ncid, bad ? varids[i] : filled, bad ? -1 : i);
        bool compared = safe && check.nprocs > 1;
        CHECK_NC(compared ? NC_EMULTIDEFINE_FNC_ARGS : bad ? codes[i] : NC_NOERR, rc);
    }
    CHECK_NC(NC_NOERR, ncmpi_fill_var_rec(ncid, filled, 4));
    CHECK_EQ(5, dim_length(ncid, t));
}

static void filling_an_unknown_variable_affects_no_other_process(void)
{
    each_way(bad_fills);
}

/* ---- a failing disk ---- */

static bool io_code(int rc)
{
    return rc == NC_ENO_SPACE || rc == NC_EWRITE || rc == NC_EREAD || rc == NC_EIO;
}

static int most_of(int value)
{
    int most;
    MPI_Allreduce(&value, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/* Checks that every process gets an error if a fault occurred anywhere, either from the
 * call that returned `rc` or from its next call. */
static void all_know(int rc, int faults, const char *name)
{
    struct arguments g;
    const struct family *f = &families[2];
    int any = most_of(faults);
    prepare(&g, f, fixed, false, 0);
    g.count[0] = g.a.bufcount = 0;
    int next = f->call(ncid, &g.a, false);
    bool told = any == 0 ? rc == NC_NOERR && next == NC_NOERR
                         : io_code(rc) || (!safe && io_code(next));
    if (faults > 0 && !io_code(rc)) told = false;
    if (!CHECK(told))
        fprintf(stderr, "# %s: %s, then %s, %d faults here\n", name, ncmpi_strerrno(rc),
                ncmpi_strerrno(next), faults);
    CHECK_NC(NC_NOERR, f->call(ncid, &g.a, false)); /* an error is reported only once */
}

static void one_failure(const struct family *f, const char *what, int who, bool put,
                        int round)
{
    struct arguments g;
    char plan[64];
    bool short_only = strcmp(what, "short") == 0, direct = way == DIRECT;
    write_all(fixed, round);
    prepare(&g, f, fixed, put, round + put);
    snprintf(plan, sizeof plan, "%s:1+:%s:*/a.nc", put ? "write" : "read", what);
    if (short_only)
        snprintf(plan, sizeof plan, "%s:1:short:*/a.nc", put ? "write" : "read");
    if (check.rank == who) CHECK(fault_arm(plan));
    int rc = f->call(ncid, &g.a, put), faults = check.rank == who ? fault_disarm() : 0;
    if (check.rank == who && direct) CHECK(faults > 0);
    if (short_only) {
        CHECK_NC(NC_NOERR, rc);
        faults = 0;
    }
    all_know(rc, faults, f->name);
    bool good = short_only || (direct && faults == 0);
    if (put)
        file_holds_here(f, fixed, round + 1, good && (check.rank != who || short_only));
    else if (good)
        holds(f, round, g.values);
}

static void failures_in_any_family(void)
{
    static const char *const what[] = {"EIO", "ENOSPC", "short"};
    int round = 1, step = check.nprocs > 4 ? 5 : 1;
    for (int i = 0; i < FAMILIES * 3; i += step) {
        const struct family *f = &families[i / 3];
        if (!has_its_turn(i / 3)) continue;
        one_failure(f, what[i % 3], i % check.nprocs, true, round);
        /* If one process cannot read, ROMIO's collective read leaves the others
         * waiting. */
        if (way != VIEW || check.nprocs == 1 || i % 3 == 2)
            one_failure(f, what[i % 3], i % check.nprocs, false, round + 1);
        round += 2;
    }
}

static void a_failed_disk_of_one_process_is_reported(void)
{
    each_way(failures_in_any_family);
}

/* Each process fills its part of a record. */
static void fills_that_fail(void)
{
    for (int who = 0; who<check.nprocs; who += check.nprocs> 4 ? 5 : 1) {
        if (check.rank == who) CHECK(fault_arm("write:1+:ENOSPC:*/a.nc"));
        int rc = ncmpi_fill_var_rec(ncid, filled, who);
        all_know(rc, check.rank == who ? fault_disarm() : 0, "fill_var_rec");
    }
}

static void a_failed_disk_of_one_process_is_reported_while_filling(void)
{
    each_way(fills_that_fail);
}

/* If process 0 fails to write the number of records, a later call must write it. */
static void numrecs_that_cannot_be_written(void)
{
    struct arguments g;
    const struct family *f = &families[2];
    prepare(&g, f, series, true, 1);
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, series, g.start, g.count, g.values));
    if (check.rank == 0) CHECK(fault_arm("write:1+:EIO:*/a.nc"));
    int rc = ncmpi_end_indep_data(ncid), faults = check.rank == 0 ? fault_disarm() : 0;
    CHECK_EQ(1, most_of(faults));
    all_know(rc, faults, "end_indep_data");
    file_holds(f, series, 1);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_WRITE);
    CHECK_EQ(N * check.nprocs, dim_length(ncid, t));
    file_holds(f, series, 1);
}

static void numrecs_is_tried_again(void)
{
    each_way(numrecs_that_cannot_be_written);
}

/* Process 0 fails to write the number of records in the close itself, so no later call
 * could report the error. */
static void close_reports_a_number_of_records_that_was_not_written(void)
{
    struct arguments g;
    for (int safe_mode = 0; safe_mode <= 1; safe_mode++) {
        begin(DIRECT, safe_mode);
        prepare(&g, &families[2], series, true, 1);
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, series, g.start, g.count, g.values));
        if (check.rank == 0) CHECK(fault_arm("write:1+:ENOSPC:*/a.nc"));
        CHECK(io_code(ncmpi_close(ncid)));
        if (check.rank == 0) CHECK(fault_disarm() > 0);

        begin(DIRECT, safe_mode);
        prepare(&g, &families[2], fixed, true, 1);
        if (check.rank == check.nprocs - 1) CHECK(fault_arm("write:1+:EIO:*/a.nc"));
        int rc = families[2].call(ncid, &g.a, true);
        if (check.rank == check.nprocs - 1 || safe) CHECK(io_code(rc));
        fault_disarm();
        rc = ncmpi_close(ncid);
        if (!safe) CHECK(io_code(rc));
    }
    CHECK_EQ(0, unsetenv("PNETCDF_SAFE_MODE"));
}

/* ncmpi_enddef must move data, but one process cannot read, write, truncate or sync the
 * file. */
static void a_failed_move_of_data_is_reported(void)
{
    static const char *const plans[] = {"read:1+:EIO:*/a.nc", "write:1+:ENOSPC:*/a.nc",
                                        "truncate:1+:EIO:*/a.nc", "sync:1+:EIO:*/a.nc"};
    for (int i = 0; i < 4; i++) {
        begin(DIRECT, false);
        write_all(fixed, 1);
        write_all(series, 1);
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        for (int k = 0; k < 40; k++) {
            char name[16];
            snprintf(name, sizeof name, "attribute %d", k);
            CHECK_NC(NC_NOERR,
                     ncmpi_put_att_text(ncid, fixed, name, 20, "of twenty letters   "));
        }
        new_var(ncid, "another", NC_DOUBLE, 1, &t);
        /* Truncation is made to fail on process 0, because only process 0 is certain to
         * set the file's size. */
        int who = i == 2 ? 0 : i % check.nprocs;
        if (check.rank == who) CHECK(fault_arm(plans[i]));
        int rc = ncmpi_enddef(ncid), faults = check.rank == who ? fault_disarm() : 0;
        if (!CHECK(most_of(faults) > 0 ? io_code(rc) : rc == NC_NOERR))
            fprintf(stderr, "# %s: %s\n", plans[i], ncmpi_strerrno(rc));
        int closed = ncmpi_close(ncid);
        CHECK(most_of(closed != NC_NOERR) == 0 || io_code(closed));
    }
    CHECK_EQ(0, unsetenv("PNETCDF_SAFE_MODE"));
}

static const struct check_test tests[] = {
    {"a process without elements does not affect the others",
     a_process_without_elements_does_not_affect_the_others, CHECK_FORMATS},
    {"records that one process adds are counted by all",
     records_that_one_process_adds_are_counted_by_all, CHECK_FORMATS},
    {"an invalid argument on one process affects no other",
     an_invalid_argument_on_one_process_affects_no_other, 0},
    {"an unknown request on one process affects no other",
     an_unknown_request_on_one_process_affects_no_other, 0},
    {"filling an unknown variable affects no other process",
     filling_an_unknown_variable_affects_no_other_process, 0},
    {"a failed disk of one process is reported", a_failed_disk_of_one_process_is_reported,
     0},
    {"a failed disk of one process is reported while filling",
     a_failed_disk_of_one_process_is_reported_while_filling, 0},
    {"a number of records that was not written is retried", numrecs_is_tried_again,
     CHECK_FORMATS},
    {"close reports a number of records that was not written",
     close_reports_a_number_of_records_that_was_not_written, 0},
    {"a failed move of data is reported", a_failed_move_of_data_is_reported, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 4 16");
}
