/* Calls every collective function on all processes, one of which makes a mistake: it
 * passes an invalid argument or a closed id, calls a different function, or makes
 * different definitions. This is tested in every mode of a dataset, with every transfer
 * method, and with and without safe mode.
 *
 * All processes must return. The process that makes the mistake must get the error code
 * that it would get if it ran alone. On every process where the call succeeds, it must
 * have its full effect. The dataset must remain usable and have the right values, in
 * memory and in the file.
 *
 * By default the test runs a selection of the cases, the same one every time;
 * NCMPI_ONE_BAD=all runs all of them. It prints a table at the end. */
#include "one_bad.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const ways[] = {
    "nc_transfer=auto",
    "nc_transfer=direct",
    "nc_transfer=node",
    "nc_transfer=view",
    "romio_no_indep_rw=true",
    "nc_file_io=mpi",
    "nc_burst_buf=enable",
    "nc_burst_buf=enable;nc_burst_buf_log_at=post",
    "nc_burst_buf=enable;nc_burst_buf_shared_logs=enable",
    "nc_burst_buf=enable;nc_burst_buf_flush=flush_immediate;nc_burst_buf_delay=0",
    "nc_burst_buf=enable;nc_deferred_close=enable",
    "nc_stage=enable",
};
enum { WAYS = sizeof ways / sizeof ways[0] };
static const char *const mode_names[MODES] = {"fresh", "redef",   "together",
                                              "indep", "reading", "closed"};

static bool safe;
static int who; /* rank of the process that makes the mistake */

/* ---- cases ---- */

static void begin_case(const char *function, const char *mistake, enum mode mode)
{
    int m = 0;
    while (m < MODES - 1 && 1 << m != (int)mode)
        m++;
    cases_begin("%s%s, %s, %s, %s on process %d", way, safe ? ", safe" : "",
                mode_names[m], function, mistake, who);
}

/* ---- result of a call made by a single process ---- */

static int error_on_own_comm(const struct bad_call *c, int mistake, enum mode mode)
{
    int format;
    use_own();
    set_up(mode);
    int rc = c->call(mistake);
    if (ncmpi_inq_format(scene.ncid, &format) == NC_NOERR) (void)ncmpi_abort(scene.ncid);
    use_world();
    return rc;
}

/* ---- functions that change definitions or modes ---- */

/* Checks the codes that the processes got from a call in which one of them made a
 * mistake. */
static void judge_mistake(int rc, int alone)
{
    int codes[MOST];
    all_codes(rc, codes);
    int theirs = codes[who];
    bool reported = theirs == alone || (safe && differs_code(theirs));
    if (check.rank == who && !reported)
        complain(theirs == NC_NOERR ? LIED : WRONG, "%s, alone it was %s",
                 ncmpi_strerrno(theirs), ncmpi_strerrno(alone));
    bool fine = rc == NC_NOERR || rc == theirs || differs_code(rc);
    if (check.rank != who && !fine)
        complain(WRONG, "%s, on the bad process %s", ncmpi_strerrno(rc),
                 ncmpi_strerrno(theirs));
}

static void try_mistake(const struct bad_call *c, int mistake, enum mode mode)
{
    char name[32];
    snprintf(name, sizeof name, "mistake %d", mistake);
    begin_case(c->function, name, mode);
    int alone = error_on_own_comm(c, mistake, mode);
    if (alone == NC_NOERR) complain(LIED, "it is no mistake alone");
    set_up(mode);
    judge_mistake(c->call(check.rank == who ? mistake : 0), alone);
    as_it_should_be();
    cases_end();
}

/* All processes make the same valid call, but the dataset may be in the wrong mode for
 * it. */
static void try_good(const struct bad_call *c, enum mode mode)
{
    begin_case(c->function, "no mistake", mode);
    int alone = error_on_own_comm(c, 0, mode);
    if ((alone == NC_NOERR) != ((c->modes & mode) != 0))
        complain(WRONG, "alone: %s", ncmpi_strerror(alone));
    set_up(mode);
    int rc = c->call(0);
    if (rc != alone)
        complain(WRONG, "%s, alone it was %s", ncmpi_strerrno(rc), ncmpi_strerrno(alone));
    as_it_should_be();
    cases_end();
}

static bool has_an_id(const struct bad_call *c)
{
    return strcmp(c->function, "ncmpi_create") != 0 &&
           strcmp(c->function, "ncmpi_open") != 0;
}

/* One process passes an invalid id. Its call must fail immediately, because without a
 * dataset the library has no communicator on which the processes could agree. The other
 * processes wait in their call until this process makes the right one. */
static void try_wrong_id(const struct bad_call *c, enum mode mode)
{
    static const int wrong[] = {9999, -1, INT32_MIN, INT32_MAX};
    begin_case(c->function, "a wrong id", mode);
    int alone = error_on_own_comm(c, 0, mode);
    set_up(mode);
    struct scene good = scene;
    scene.comm = MPI_COMM_NULL; /* used by create and open */
    for (int i = 0; i < 4 && check.rank == who; i++) {
        scene.ncid = wrong[i];
        int rc = c->call(0);
        if (rc != (has_an_id(c) ? NC_EBADID : NC_EINVAL))
            complain(WRONG, "id %d: %s", wrong[i], ncmpi_strerrno(rc));
    }
    scene = good;
    int rc = c->call(0);
    if (rc != alone) complain(WRONG, "%s", ncmpi_strerror(rc));
    as_it_should_be();
    cases_end();
}

/* In safe mode, one process calls a different function than the others. */
static void try_other_call(const struct bad_call *c, const struct bad_call *other,
                           enum mode mode)
{
    begin_case(c->function, other->function, mode);
    set_up(mode);
    int rc = check.rank == who ? other->call(0) : c->call(0);
    if (!differs_code(rc)) complain(WRONG, "%s", ncmpi_strerror(rc));
    same_code(rc, "the call");
    as_it_should_be();
    cases_end();
}

static void each_call_in(enum mode mode)
{
    for (const struct bad_call *c = bad_calls; c->function != NULL; c++) {
        if (cases_turn(40)) try_good(c, mode);
        for (who = 0; who < check.nprocs; who++) {
            if (c->modes & mode)
                for (int m = 1; m <= c->mistakes; m++)
                    if (cases_turn(1500)) try_mistake(c, m, mode);
            if (mode != CLOSED && cases_turn(600)) try_wrong_id(c, mode);
        }
    }
}

/* Returns whether the call is collective over the dataset's communicator in this mode. */
static bool is_shared(const struct bad_call *c, enum mode mode)
{
    bool sync = strcmp(c->function, "ncmpi_sync") == 0;
    bool flush = strcmp(c->function, "ncmpi_flush") == 0;
    if ((sync || flush) && mode == INDEP) return false;
    return (c->modes & mode) && has_an_id(c) && !(flush && mode & DEFINING);
}

static void pairs_in(enum mode mode)
{
    for (const struct bad_call *c = bad_calls; c->function != NULL; c++)
        for (const struct bad_call *o = bad_calls; o->function != NULL; o++)
            for (who = 0; who < check.nprocs; who++)
                if (is_shared(c, mode) && is_shared(o, mode) &&
                    strncmp(c->function, o->function, 13) != 0 && cases_turn(1500))
                    try_other_call(c, o, mode);
}

/* ---- different paths ---- */

/* One process passes a different path. Process 0's path must take effect, and each
 * process whose calls succeed must find its values in the file at that path. */
static void try_other_path(bool create, bool there)
{
    MPI_Info info = info_of_way();
    const char *mine = check.rank == who ? "odd.nc" : "a.nc",
               *first = who == 0 ? "odd.nc" : "a.nc";
    begin_case(create ? "ncmpi_create" : "ncmpi_open",
               there ? "another path" : "a path to nothing", FRESH);
    for (int i = 0; i < (there ? 2 : 1); i++) {
        create_file(i == 0 ? first : who == 0 ? "a.nc" : "odd.nc");
        CHECK_NC(NC_NOERR, ncmpi_enddef(scene.ncid));
        put_first_values();
        CHECK_NC(NC_NOERR, ncmpi_close(scene.ncid));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int told =
        create ? ncmpi_create(scene.comm, path_of(mine), check.cmode, info, &scene.ncid)
               : ncmpi_open(scene.comm, path_of(mine), NC_WRITE, info, &scene.ncid);
    MPI_Info_free(&info);
    same_code(told, "the call");
    if (told == NC_NOERR) {
        int values[N], all[PLACES], rc;
        MPI_Offset start = (MPI_Offset)N * check.rank, count = N;
        if (create) {
            define_all_variables();
            CHECK_NC(NC_NOERR, ncmpi_enddef(scene.ncid));
        }
        for (int i = 0; i < N; i++)
            values[i] = one_bad_value(2, start + i);
        told = ncmpi_put_vara_int_all(scene.ncid, FIXED, &start, &count, values);
        rc = ncmpi_sync(scene.ncid);
        if (told == NC_NOERR) told = rc;
        rc = ncmpi_close(scene.ncid);
        if (told == NC_NOERR) told = rc;
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_NC(NC_NOERR, ncmpi_open(scene.comm, path_of(first), NC_WRITE, MPI_INFO_NULL,
                                      &scene.ncid));
        rc = get_whole(FIXED, all);
        if (rc != NC_NOERR) complain(LOST, "get: %s", ncmpi_strerror(rc));
        for (int i = 0; i < N && told == NC_NOERR; i++)
            if (all[start + i] != values[i]) {
                complain(LIED, "place %d is %d", (int)start + i, all[start + i]);
                break;
            }
        CHECK_NC(NC_NOERR, ncmpi_close(scene.ncid));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        (void)remove(path_of("odd.nc"));
        (void)remove(path_of("a.nc"));
    }
    cases_end();
}

static void each_path(void)
{
    for (who = 0; who < check.nprocs; who++)
        for (int i = 0; i < 4; i++)
            if (cases_turn(20)) try_other_path(i % 2 == 1, i / 2 == 1);
}

/* ---- data ---- */

static int model[PLAIN][PLACES]; /* expected values */
static int own, ours;            /* this process's own dataset; the common one */

/* The effect of a call on this process's own dataset: its code, the resulting values of
 * the variables, and the buffer. */
struct effect {
    int rc, values[PLAIN][PLACES], back[PLACES];
};

static void call_alone(const struct calls_row *row, int mistake, int round,
                       struct effect *e)
{
    scene.ncid = own;
    for (int v = 0; v < PLAIN; v++)
        CHECK_NC(NC_NOERR, put_whole(plain[v], model[v]));
    memset(e, 0, sizeof *e);
    e->rc = data_call(row, mistake, round, e->back);
    for (int v = 0; v < PLAIN; v++)
        CHECK_NC(NC_NOERR, get_whole(plain[v], e->values[v]));
    scene.ncid = ours;
}

/* Checks the variables of the common dataset. For each process whose call succeeded, they
 * must reflect the changes that the same call made to that process's own dataset. Changes
 * by processes that got an error may be missing. */
static void compare_model(const struct effect *e, int rc)
{
    struct effect of = *e;
    int values[PLAIN][PLACES], maybe[PLAIN][PLACES], told[MOST];
    bool either[PLAIN][PLACES] = {{false}};
    CHECK_NC(NC_NOERR, ncmpi_sync(ours));
    MPI_Barrier(MPI_COMM_WORLD);
    all_codes(rc, told);
    memcpy(maybe, model, sizeof maybe);
    for (int p = 0; p < check.nprocs; p++) {
        of = *e;
        MPI_Bcast(&of, sizeof of, MPI_BYTE, p, MPI_COMM_WORLD);
        for (int v = 0; v < PLAIN; v++)
            for (int i = 0; i < N * check.nprocs; i++) {
                if (of.values[v][i] == model[v][i]) continue;
                either[v][i] = told[p] != NC_NOERR && maybe[v][i] == model[v][i];
                maybe[v][i] = of.values[v][i];
            }
    }
    for (int v = 0; v < PLAIN; v++) {
        int got = get_whole(plain[v], values[v]);
        if (got != NC_NOERR) complain(WRONG, "get: %s", ncmpi_strerror(got));
        for (int i = 0; i < N * check.nprocs; i++)
            if (values[v][i] != maybe[v][i] &&
                !(either[v][i] && values[v][i] == model[v][i])) {
                complain(LOST, "variable %d, place %d is %d, not %d", plain[v], i,
                         values[v][i], maybe[v][i]);
                break;
            }
    }
    memcpy(model, values, sizeof model);
    MPI_Bcast(model, sizeof model, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void try_data(const struct calls_row *row, int mistake, int round)
{
    static struct effect e;
    int back[PLACES] = {0};
    begin_case(row->name, data_mistake_name(mistake), TOGETHER);
    int mine = check.rank == who ? mistake : 0;
    call_alone(row, mine, round, &e);
    scene.ncid = ours;
    int rc = data_call(row, mine, round, back), codes[MOST], of_bad = e.rc;
    all_codes(rc, codes);
    MPI_Bcast(&of_bad, 1, MPI_INT, who, MPI_COMM_WORLD);
    if (rc != e.rc && !(safe && rc == of_bad))
        complain(rc == NC_NOERR ? LIED : WRONG, "%s, alone it was %s", ncmpi_strerrno(rc),
                 ncmpi_strerrno(e.rc));
    if (rc == NC_NOERR && memcmp(back, e.back, sizeof back) != 0)
        complain(LIED, "got other values than alone");
    compare_model(&e, rc);
    cases_end();
}

static void open_both(void)
{
    use_own();
    create_file("data.nc");
    CHECK_NC(NC_NOERR, ncmpi_enddef(scene.ncid));
    own = scene.ncid;
    use_world();
    create_file("data.nc");
    CHECK_NC(NC_NOERR, ncmpi_enddef(scene.ncid));
    ours = scene.ncid;
    put_first_values();
    for (int v = 0; v < PLAIN; v++)
        for (int i = 0; i < PLACES; i++)
            model[v][i] = one_bad_value(1, i);
}

static void data_calls_with_mistakes(void)
{
    int round = 1;
    open_both();
    for (int r = 0; r < calls_row_count; r++) {
        const struct calls_row *row = &calls_rows[r];
        if (!row->collective) continue;
        for (int m = 0; m <= DATA_MISTAKES; m++)
            for (who = 0; who < check.nprocs; who++)
                if ((m == 0 || data_mistake_fits(row, m)) && cases_turn(2500))
                    try_data(row, m, ++round);
    }
    CHECK_NC(NC_NOERR, ncmpi_close(own));
    CHECK_NC(NC_NOERR, ncmpi_close(ours));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Makes data calls in a mode that does not allow them. Whatever else is wrong, the calls
 * must return the error for the wrong mode. */
static void data_calls_in(enum mode mode)
{
    static const int codes[MODES] = {NC_EINDEFINE, NC_EINDEFINE, NC_NOERR,
                                     NC_EINDEP,    NC_EPERM,     NC_EBADID};
    int m = 0, back[PLACES];
    who = 0;
    begin_case("data calls", "all kinds", mode);
    while (1 << m != (int)mode)
        m++;
    set_up(mode);
    for (int r = 0; r < calls_row_count; r++) {
        const struct calls_row *row = &calls_rows[r];
        bool put = row->mode == CALLS_put || row->mode == CALLS_mput;
        if (!row->collective || (mode == READING && !put)) continue;
        int mistake = (int)check_random_own(DATA_MISTAKES + 1);
        if (mistake > 0 && !data_mistake_fits(row, mistake)) mistake = 0;
        int rc = data_call(row, mistake, 1, back);
        if (rc != codes[m])
            complain(WRONG, "%s, %s: %s", row->name, data_mistake_name(mistake),
                     ncmpi_strerrno(rc));
        cases.tried++;
    }
    as_it_should_be();
    cases_end();
}

/* ---- definitions that one process omits or changes ---- */

enum { LIKE_ALL, LEFT_OUT, OTHERWISE };

static void def_a_dim(int how)
{
    if (how != LEFT_OUT)
        ncmpi_def_dim(scene.ncid, how == OTHERWISE ? "odd" : "even", 3, NULL);
}

static void def_a_var(int how)
{
    int dim = X;
    if (how != LEFT_OUT)
        ncmpi_def_var(scene.ncid, "new", how == OTHERWISE ? NC_DOUBLE : NC_INT, 1, &dim,
                      NULL);
}

static void def_many_vars(int how)
{
    for (int i = 0, dim = X; i < (how == LIKE_ALL   ? 300
                                  : how == LEFT_OUT ? 0
                                                    : 150);
         i++) {
        char name[32];
        snprintf(name, sizeof name, "one of many %d", i);
        ncmpi_def_var(scene.ncid, name, NC_INT, 1, &dim, NULL);
    }
}

static void put_an_att(int how)
{
    if (how != LEFT_OUT)
        ncmpi_put_att_text(scene.ncid, FIXED, "new", how == OTHERWISE ? 5 : 3,
                           "whatever");
}

static void delete_an_att(int how)
{
    if (how != LEFT_OUT)
        ncmpi_del_att(scene.ncid, FIXED, how == OTHERWISE ? "level" : "units");
}

static void rename_a_var(int how)
{
    if (how != LEFT_OUT)
        ncmpi_rename_var(scene.ncid, WIDE, how == OTHERWISE ? "odd" : "even");
}

static void rename_a_dim(int how)
{
    if (how != LEFT_OUT)
        ncmpi_rename_dim(scene.ncid, X, how == OTHERWISE ? "odd" : "even");
}

static void fill_a_var(int how)
{
    if (how != LEFT_OUT) ncmpi_def_var_fill(scene.ncid, WIDE, how == OTHERWISE, NULL);
}

static void fill_all(int how)
{
    if (how != LEFT_OUT)
        ncmpi_set_fill(scene.ncid, how == OTHERWISE ? NC_NOFILL : NC_FILL, NULL);
}

static const struct {
    const char *name;
    void (*make)(int how);
} differences[] = {
    {"a dimension", def_a_dim},
    {"a variable", def_a_var},
    {"many variables", def_many_vars},
    {"an attribute", put_an_att},
    {"an attribute deleted", delete_an_att},
    {"a variable renamed", rename_a_var},
    {"a dimension renamed", rename_a_dim},
    {"a variable filled", fill_a_var},
    {"fill mode", fill_all},
};

static void try_difference(int d, int how, enum mode mode)
{
    begin_case(differences[d].name, how == LEFT_OUT ? "left out" : "otherwise", mode);
    set_up(mode);
    differences[d].make(check.rank == who ? how : LIKE_ALL);
    as_it_should_be();
    cases_end();
}

static void differences_in(enum mode mode)
{
    for (int d = 0; d < (int)(sizeof differences / sizeof differences[0]); d++)
        for (int how = LEFT_OUT; how <= OTHERWISE; how++)
            for (who = 0; who < check.nprocs; who++)
                if (cases_turn(60)) try_difference(d, how, mode);
}

/* ---- all cases ---- */

static void start(void)
{
    cases_start("NCMPI_ONE_BAD", (uint32_t)check.nprocs);
    use_world();
    way = ways[0];
    safe = false;
    create_file("there.nc"); /* for cases that call ncmpi_open */
    CHECK_NC(NC_NOERR, ncmpi_close(scene.ncid));
    use_own();
    create_file("there.nc");
    CHECK_NC(NC_NOERR, ncmpi_close(scene.ncid));
    use_world();
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Calls `test` for every transfer method, with and without safe mode. */
static void each_way(const char *name, void (*test)(void))
{
    char what[100];
    start();
    for (int w = 0; w < WAYS; w++)
        for (int s = 0; s <= 1; s++) {
            way = ways[w];
            safe = s == 1;
            CHECK_EQ(0, setenv("PNETCDF_SAFE_MODE", safe ? "1" : "0", 1));
            test();
        }
    CHECK_EQ(0, unsetenv("PNETCDF_SAFE_MODE"));
    snprintf(what, sizeof what, "one bad process, %s", name);
    cases_table(what);
}

static void each_mode_of_calls(void)
{
    for (int m = 0; m < MODES; m++)
        each_call_in((enum mode)(1 << m));
}

static void in_each_mode(void)
{
    each_way("calls with a mistake", each_mode_of_calls);
}

static void each_mode_of_data(void)
{
    for (int m = 0; m < MODES; m++)
        if (1 << m != TOGETHER && cases_turn(30)) data_calls_in((enum mode)(1 << m));
}

static void data_in_wrong_modes(void)
{
    each_way("data in the wrong mode", each_mode_of_data);
}

static void data_with_mistakes(void)
{
    each_way("data with a mistake", data_calls_with_mistakes);
}

static void each_pair(void)
{
    for (int m = 0; m < MODES - 1 && safe; m++)
        pairs_in((enum mode)(1 << m));
}

static void calls_that_differ(void)
{
    each_way("calls that differ, in safe mode", each_pair);
}

static void each_difference(void)
{
    if (safe) return; /* in safe mode, each of these calls fails on its own */
    differences_in(FRESH);
    differences_in(REDEF);
}

static void different_definitions_on_one_process_are_reported(void)
{
    each_way("definitions that differ", each_difference);
}

static void different_paths_on_one_process_are_reported(void)
{
    each_way("paths that differ", each_path);
}

/* ---- completeness of the tables ---- */

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* Returns whether a function is local, that is, not collective. */
static bool is_local(const char *name)
{
    static const char *const prefixes[] = {"cdl_hdr_",    "ncmpi_inq",   "ncmpi_get_att",
                                           "ncmpi_iput_", "ncmpi_iget_", "ncmpi_bput_",
                                           "ncmpi_strerr"};
    static const char *const names[] = {
        "ncmpi_buffer_attach", "ncmpi_buffer_detach",      "ncmpi_cancel", "ncmpi_delete",
        "ncmpi_get_file_info", "ncmpi_set_default_format", "ncmpi_wait"};
    static const char *const data[] = {"ncmpi_put_var", "ncmpi_get_var", "ncmpi_mput_var",
                                       "ncmpi_mget_var"};
    size_t length = strlen(name);
    bool all = length > 4 && strcmp(name + length - 4, "_all") == 0;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (begins(name, prefixes[i])) return true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) return true;
    for (size_t i = 0; i < sizeof data / sizeof data[0]; i++)
        if (begins(name, data[i]) && !all) return true;
    return false;
}

static bool has_a_row(const char *name)
{
    for (const struct bad_call *c = bad_calls; c->function != NULL; c++)
        if (strcmp(c->function, name) == 0) return true;
    for (int r = 0; r < calls_row_count; r++)
        if (calls_rows[r].collective && strcmp(calls_rows[r].name, name) == 0)
            return true;
    return false;
}

/* Checks that a function is either local or has a row in a table here. An @ in the name
 * stands for every C type. */
static void must_have_a_row(const char *pattern)
{
    char name[200];
    const char *at = strchr(pattern, '@');
    for (int t = 0; t < (at == NULL ? 1 : calls_type_count); t++) {
        int head = (int)(at == NULL ? strlen(pattern) : (size_t)(at - pattern));
        snprintf(name, sizeof name, "%.*s%s%s", head, pattern,
                 at == NULL ? "" : calls_types[t].name, at == NULL ? "" : at + 1);
        if (is_local(name) == has_a_row(name))
            CHECK_STR("a row here, or a name of one that is local", name);
    }
}

/* Checks all functions listed in functions.txt. header.sh compares that list with
 * pnetcdf.h. */
static void every_function_has_an_entry_in_a_table(void)
{
    const char *top = getenv("srcdir");
    char path[4096], line[1000], name[200];
    int n = 0;
    snprintf(path, sizeof path, "%s/test/api/functions.txt", top == NULL ? "../.." : top);
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    if (f == NULL) return;
    while (fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "int %199[^(](", name) != 1) continue;
        must_have_a_row(name);
        n++;
    }
    fclose(f);
    CHECK(n > 200);
}

static const struct check_test tests[] = {
    {"every function has an entry in a table", every_function_has_an_entry_in_a_table, 0},
    {"an invalid call on one process affects no other", in_each_mode, 0},
    {"data calls in the wrong mode are refused", data_in_wrong_modes, 0},
    {"an invalid data call on one process affects no other", data_with_mistakes, 0},
    {"in safe mode different calls are reported", calls_that_differ, CHECK_SEVERAL},
    {"different definitions on one process are reported",
     different_definitions_on_one_process_are_reported, CHECK_SEVERAL},
    {"different paths on one process are reported",
     different_paths_on_one_process_are_reported, CHECK_SEVERAL},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
