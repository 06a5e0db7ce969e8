/* Defines the steps, and checks the dataset after each of them. The steps access the
 * variables fixed(x), series(t) and wide(w). kept(x) is written before any step and must
 * always remain intact. */
#include "each_fault_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "fault_calls.h"
#include "kept_files.h"
#include "rounded.h"

enum { SHIFT = N }; /* number of new records per process */

int ncid, wide, told = NC_NOERR;
static int x, t, fixed, series, kept, filled, late;

/* ---- agreement ---- */

bool all_well(int rc)
{
    return cases_most(rc != NC_NOERR) == 0;
}

/* ---- a dataset ---- */

/* The tests make their own MPI calls through PMPI functions, into which no faults are
 * injected. */
MPI_Info info_of_hints(void)
{
    char text[6000], *rest = text;
    MPI_Info info;
    PMPI_Info_create(&info);
    snprintf(text, sizeof text, "%s", hints);
    for (char *pair; (pair = strtok_r(rest, ";", &rest)) != NULL;) {
        char *value = strchr(pair, '=');
        *value++ = '\0';
        PMPI_Info_set(info, pair, value);
    }
    if (strstr(hints, "nc_burst_buf=") != NULL)
        PMPI_Info_set(info, "nc_burst_buf_dirname", check_path(""));
    return info;
}

nc_type type_of_variables(void)
{
    return strstr(hints, "nc_quantize=bitround:9") != NULL ? NC_FLOAT : NC_INT;
}

int value_in(int round, MPI_Offset place)
{
    int value = value_at(round, place);
    return type_of_variables() == NC_FLOAT ? rounded(value, KEPT_BITS) : value;
}

int create(void)
{
    MPI_Info info = info_of_hints();
    ncid = -1;
    int rc = ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), NC_CLOBBER | check.cmode,
                          info, &ncid);
    PMPI_Info_free(&info);
    return rc;
}

static int open_as(int mode)
{
    MPI_Info info = info_of_hints();
    ncid = -1;
    int rc = ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), mode, info, &ncid);
    PMPI_Info_free(&info);
    return rc;
}

int open_to_write(void)
{
    return open_as(NC_WRITE);
}

int open_to_read(void)
{
    return open_as(NC_NOWRITE);
}

static void define(void)
{
    const nc_type type = type_of_variables();
    x = new_dim(ncid, "x", (MPI_Offset)N * check.nprocs);
    t = new_dim(ncid, "t", NC_UNLIMITED);
    int w = new_dim(ncid, "w", (MPI_Offset)WIDE_EACH * check.nprocs), dims[2] = {t, x};
    kept = new_var(ncid, "kept", type, 1, &x);
    fixed = new_var(ncid, "fixed", type, 1, &x);
    wide = new_var(ncid, "wide", type, 1, &w);
    series = new_var(ncid, "series", type, 1, &t);
    filled = new_var(ncid, "filled", type, 2, dims);
    int y = new_dim(ncid, "y", (MPI_Offset)N * check.nprocs);
    late = new_var(ncid, "late", type, 1, &y);
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, filled, 0, NULL));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, fixed, "units", 6, "metres"));
}

/* Puts the values of round 1 to three variables. Uses independent puts unless blobs are
 * enabled: to be stored in subfiles, a variable must first be put collectively. */
static void write_first(void)
{
    const int varids[] = {kept, fixed, series};
    bool blobs = strstr(hints, "nc_blob=") != NULL;
    struct arguments g;
    if (!blobs) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    for (int i = 0; i < 3; i++) {
        prepare(&g, &families[2], varids[i], true, 1);
        int rc = blobs ? families[2].call(ncid, &g.a, true)
                       : ncmpi_put_vara_int(ncid, varids[i], g.start, g.count, g.values);
        CHECK_NC(NC_NOERR, rc);
    }
    if (!blobs) CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
}

static void defined(void)
{
    CHECK_NC(NC_NOERR, create());
    define();
}

static void in_data_mode(void)
{
    defined();
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    write_first();
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- expected contents ---- */

static bool written;                /* whether the values of round 1 were put */
static int target = -1;             /* variable to which this process last put */
static const struct family *family; /* function family of that put; NULL if none */
static MPI_Offset shift;            /* offset added to that put's indices */
static bool had;                    /* whether round 1 put values to those elements */

/* Reads this process's elements of a variable and checks that each has the value of one
 * of the two given rounds. If `here` is false, the process participates in the call but
 * reads nothing. */
static void holds(enum verdict v, int varid, enum shape shape, MPI_Offset by, int round,
                  int other, bool here)
{
    struct arguments g;
    struct family same = families[3]; /* a strided get can access any element */
    same.shape = shape;
    prepare(&g, &same, varid, false, 0);
    g.start[0] = here ? g.start[0] + by : 0;
    if (!here) g.count[0] = g.a.bufcount = 0;
    int rc = same.call(ncid, &g.a, false);
    if (rc != NC_NOERR) complain(v, "get of %d: %s", varid, ncmpi_strerror(rc));
    for (MPI_Offset i = 0; here && rc == NC_NOERR && i < elements_of(shape); i++) {
        MPI_Offset place = place_of(shape, i) + by;
        int value = g.values[i];
        if (value == value_in(round, place) || value == value_in(other, place)) continue;
        complain(v, "variable %d, place %lld: %d", varid, (long long)place, value);
        return;
    }
}

/* Puts or gets this process's part of record RECORD of `filled`. */
enum { RECORD = 2 };
static bool record_told; /* whether this process's put of the record succeeded */

static int part_of_record(bool put, int *values)
{
    MPI_Offset start[2] = {RECORD, (MPI_Offset)N * check.rank}, count[2] = {1, N};
    if (!put && !record_told) start[0] = start[1] = count[0] = 0;
    return put ? ncmpi_put_vara_int_all(ncid, filled, start, count, values)
               : ncmpi_get_vara_int_all(ncid, filled, start, count, values);
}

static void holds_record(void)
{
    int values[N], rc = part_of_record(false, values);
    if (rc != NC_NOERR) complain(LIED, "get of a record: %s", ncmpi_strerror(rc));
    for (int i = 0; record_told && rc == NC_NOERR && i < N; i++)
        if (values[i] != value_in(2, i))
            complain(LIED, "record, place %d: %d", i, values[i]);
}

static void holds_all(void)
{
    if (cases_most(record_told)) holds_record();
    if (written) holds(LOST, kept, BLOCK, 0, 1, 1, true);
    if (family == NULL) return;
    holds(told == NC_NOERR ? LIED : LOST, target, family->shape, shift, 2,
          told == NC_NOERR ? 2 : 1, told == NC_NOERR || had);
}

/* Returns whether some process reported that a redefinition could be neither completed
 * nor undone because writes keep failing. All calls report this error until the dataset
 * is reopened, which completes the redefinition. */
static bool waits_for_opening(int rc)
{
    bool says_so = rc != NC_NOERR &&
                   strstr(ncmpi_strerror(rc), "neither completed nor undone") != NULL;
    return any_fault && cases_most(says_so) > 0;
}

/* The first sync may report another process's error. The second must succeed, unless an
 * interrupted redefinition keeps the dataset unreadable until it is reopened. */
bool sync_until_quiet(void)
{
    int rc = ncmpi_sync(ncid);
    if (!any_fault && rc != NC_NOERR) complain(WRONG, "sync: %s", ncmpi_strerror(rc));
    if (all_well(rc)) return true;
    rc = ncmpi_sync(ncid);
    bool waits = waits_for_opening(rc);
    if (rc != NC_NOERR && !waits) complain(WRONG, "sync again: %s", ncmpi_strerror(rc));
    MPI_Barrier(MPI_COMM_WORLD);
    return !waits;
}

void close_it(void)
{
    int rc = ncmpi_close(ncid);
    if (rc != NC_NOERR && !any_fault) complain(WRONG, "close: %s", ncmpi_strerror(rc));
}

/* Reopens the dataset and checks it. Opening it for writing replays logs and completes an
 * interrupted redefinition. */
static void reopened_by(int (*open)(void))
{
    MPI_Barrier(MPI_COMM_WORLD);
    any_fault = false;
    int rc = open();
    if (!all_well(rc)) {
        complain(LOST, "open again: %s", ncmpi_strerror(rc));
        return;
    }
    holds_all();
    close_it();
}

static void reopened(void)
{
    bool logs = strstr(hints, "nc_burst_buf=") != NULL;
    reopened_by(logs ? open_to_write : open_to_read);
}

/* Checks a dataset in data mode, then closes it and checks it again. */
void as_it_should_be(int rc)
{
    (void)rc;
    bool readable = sync_until_quiet();
    if (readable) holds_all();
    close_it();
    if (readable)
        reopened();
    else
        reopened_by(open_to_write);
}

static void without_data(void)
{
    written = record_told = false;
    family = NULL;
}

static void with_data(void)
{
    record_told = false;
    written = true;
    family = NULL;
}

/* ---- create, open, definitions ---- */

static void nothing(void)
{
    without_data();
}

/* Writes to the dataset that the step created. If the step failed, first creates the
 * dataset. */
static void made(int rc)
{
    if (rc != NC_NOERR && create() != NC_NOERR) {
        complain(WRONG, "create again fails");
        return;
    }
    define();
    rc = ncmpi_enddef(ncid);
    if (rc != NC_NOERR) complain(WRONG, "enddef: %s", ncmpi_strerror(rc));
    write_first();
    written = true;
    as_it_should_be(rc);
}

void file_there(void)
{
    with_data();
    in_data_mode();
    close_it();
    MPI_Barrier(MPI_COMM_WORLD);
}

void opened(int rc)
{
    if (rc != NC_NOERR && !all_well(rc = open_to_write())) {
        complain(WRONG, "open again: %s", ncmpi_strerror(rc));
        return;
    }
    as_it_should_be(rc);
}

static void ready_to_define(void)
{
    without_data();
    defined();
}

static int enddef(void)
{
    return ncmpi_enddef(ncid);
}

static void new_definitions(int rc)
{
    if (rc != NC_NOERR) rc = ncmpi_enddef(ncid);
    if (!all_well(rc)) {
        complain(WRONG, "enddef again: %s", ncmpi_strerror(rc));
        ncmpi_abort(ncid);
        return;
    }
    write_first();
    written = true;
    as_it_should_be(rc);
}

void ready(void)
{
    with_data();
    in_data_mode();
}

static int redef(void)
{
    return ncmpi_redef(ncid);
}

static void in_define_mode(int rc)
{
    if (rc != NC_NOERR) rc = ncmpi_redef(ncid);
    if (all_well(rc)) {
        new_var(ncid, "another", NC_INT, 1, &x);
        rc = ncmpi_enddef(ncid);
    }
    bool waits = waits_for_opening(rc);
    if (rc != NC_NOERR && !waits) complain(WRONG, "redef again: %s", ncmpi_strerror(rc));
    as_it_should_be(rc);
}

/* Adds definitions that make enddef move all data. */
static void redefined(void)
{
    ready();
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    for (int i = 0; i < 40; i++) {
        char name[32];
        snprintf(name, sizeof name, "attribute %d", i);
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, fixed, name, 10, "ten bytes."));
    }
    new_var(ncid, "another", NC_DOUBLE, 1, &t);
}

static void moved(int rc)
{
    if (rc != NC_NOERR) rc = ncmpi_enddef(ncid);
    if (all_well(rc)) {
        as_it_should_be(rc);
        return;
    }
    ncmpi_abort(ncid);
    reopened_by(open_to_write);
}

static int give_up(void)
{
    return ncmpi_abort(ncid);
}

void given_up(int rc)
{
    (void)rc;
    reopened();
}

static int another_value(void)
{
    return ncmpi_put_att_text(ncid, fixed, "units", 5, "miles");
}

static int a_shorter_name(void)
{
    return ncmpi_rename_var(ncid, series, "s");
}

static int fill(void)
{
    return ncmpi_fill_var_rec(ncid, filled, 3);
}

static int sync_it(void)
{
    return ncmpi_sync(ncid);
}

static int flush_it(void)
{
    return ncmpi_flush(ncid);
}

static int inquire(void)
{
    MPI_Info info = MPI_INFO_NULL;
    int rc = ncmpi_inq_file_info(ncid, &info);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    return rc;
}

static int begin_indep(void)
{
    return ncmpi_begin_indep_data(ncid);
}

static void in_indep_mode(int rc)
{
    if (!all_well(rc)) (void)ncmpi_begin_indep_data(ncid);
    rc = ncmpi_end_indep_data(ncid);
    if (rc != NC_NOERR) rc = ncmpi_end_indep_data(ncid);
    as_it_should_be(rc);
}

static void ready_alone(void)
{
    ready();
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
}

/* Appends records with independent puts. */
static void put_alone(struct arguments *g)
{
    family = &families[2];
    target = series;
    shift = (MPI_Offset)SHIFT * check.nprocs;
    had = false;
    prepare(g, family, series, true, 2);
    g->start[0] += shift;
    for (int i = 0; i < N; i++)
        g->values[i] = value_at(2, g->start[0] + i);
    told = ncmpi_put_vara_int(ncid, series, g->start, g->count, g->values);
}

static int put_of_this_alone(void)
{
    struct arguments g;
    put_alone(&g);
    return told;
}

static int get_of_this_alone(void)
{
    struct arguments g;
    prepare(&g, &families[2], fixed, false, 1);
    int rc = ncmpi_get_vara_int(ncid, fixed, g.start, g.count, g.values);
    for (int i = 0; i < N && rc == NC_NOERR; i++)
        if (g.values[i] != value_in(1, g.start[0] + i)) complain(LIED, "get: values");
    return rc;
}

static void then_together(int rc)
{
    rc = ncmpi_end_indep_data(ncid);
    if (rc != NC_NOERR) rc = ncmpi_end_indep_data(ncid);
    as_it_should_be(rc);
}

static void put_by_all_alone(void)
{
    struct arguments g;
    ready_alone();
    put_alone(&g);
    CHECK_NC(NC_NOERR, told);
}

static int end_indep(void)
{
    return ncmpi_end_indep_data(ncid);
}

static void together_again(int rc)
{
    /* Independent mode may already have ended. */
    if (rc != NC_NOERR) (void)ncmpi_end_indep_data(ncid);
    as_it_should_be(rc);
}

static int close_now(void)
{
    return ncmpi_close(ncid);
}

/* ---- collective data calls ---- */

enum { BY_FAMILY = 2 * FIRST_FAMILIES }; /* each family for `fixed` and for records */

static const struct family *family_at_hand(void)
{
    return &families[variant / 2];
}

/* Puts this process's elements of `fixed`, or of new records. */
int put_by(const struct family *f)
{
    struct arguments g;
    bool records = variant % 2 == 1, moves = records && f->shape != ALL;
    family = f;
    target = records ? series : fixed;
    shift = moves ? (MPI_Offset)SHIFT * check.nprocs : 0;
    had = !moves;
    prepare(&g, f, target, true, 2);
    if (moves) g.start[0] += shift;
    for (MPI_Offset i = 0; i < elements_of(f->shape); i++)
        g.values[i] = value_at(2, place_of(f->shape, i) + shift);
    if ((f->takes & FILETYPE) && moves) { /* offsets in the type refer to `fixed` */
        target = fixed;
        shift = 0;
        had = true;
        prepare(&g, f, target, true, 2);
    }
    told = f->call(ncid, &g.a, true);
    return told;
}

int get_by(const struct family *f)
{
    struct arguments g;
    prepare(&g, f, fixed, false, 1);
    int rc = f->call(ncid, &g.a, false);
    for (MPI_Offset i = 0; i < elements_of(f->shape) && rc == NC_NOERR; i++)
        if (g.values[i] != value_in(1, place_of(f->shape, i))) {
            complain(LIED, "get by %s: place %lld is %d", f->name,
                     (long long)place_of(f->shape, i), g.values[i]);
            break;
        }
    return rc;
}

static int put_next(void)
{
    return put_by(family_at_hand());
}

/* Puts to a variable that has no values yet. */
static int put_first(void)
{
    struct arguments g;
    family = &families[variant];
    target = late;
    shift = 0;
    had = false;
    prepare(&g, family, late, true, 2);
    return told = family->call(ncid, &g.a, true);
}

/* Appends a record to a record variable with two dimensions. */
static int put_record(void)
{
    int values[N];
    for (int i = 0; i < N; i++)
        values[i] = value_at(2, i);
    told = part_of_record(true, values);
    record_told = told == NC_NOERR;
    return told;
}

static int get_next(void)
{
    return get_by(family_at_hand());
}

/* Gets some data, so that the node's shared memory already exists when the step runs. */
static void warm(void)
{
    ready();
    CHECK_NC(NC_NOERR, get_by(&families[2]));
}

/* Gets data from another dataset and closes it, so that the node's shared memory already
 * exists when the step runs. */
static void pooled(void)
{
    ready();
    CHECK_NC(NC_NOERR, get_by(&families[2]));
    close_it();
    MPI_Barrier(MPI_COMM_WORLD);
    ready();
}

/* ---- after a killed job ---- */

/* Adds hints so that logs are drained only by a flush or close, and so that opening the
 * dataset for reading also replays them. */
static void through_logs(void)
{
    static char with_logs[600];
    snprintf(with_logs, sizeof with_logs,
             "%s%s;nc_burst_buf_flush=flush_onclose;nc_burst_buf_recover=always", hints,
             strstr(hints, "nc_burst_buf=") != NULL ? "" : ";nc_burst_buf=enable");
    hints = with_logs;
}

/* Leaves logs behind, as if the job had been killed after its puts returned. */
static void logs_left(void)
{
    through_logs();
    ready();
    CHECK_NC(NC_NOERR, put_by(&families[2]));
    kept_files_keep();
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    kept_files_put_back();
}

/* Interrupts a redefinition by making all writes fail from some point on. If it has
 * already started to move data, it can be neither completed nor undone. */
static void redefinition_left(void)
{
    char plan[5000];
    redefined();
    snprintf(plan, sizeof plan, "write:%d+:EIO:%s", 2 + variant, check_path("a.nc"));
    CHECK(fault_arm(plan));
    (void)ncmpi_enddef(ncid);
    (void)ncmpi_abort(ncid);
    (void)fault_disarm();
    MPI_Barrier(MPI_COMM_WORLD);
}

const struct step steps[STEPS] = {
    {"create", true, 1, nothing, create, made},
    {"open to write", true, 1, file_there, open_to_write, opened},
    {"open to read", true, 1, file_there, open_to_read, opened},
    {"enddef", true, 1, ready_to_define, enddef, new_definitions},
    {"redef", false, 1, ready, redef, in_define_mode},
    {"enddef with a move", true, 1, redefined, enddef, moved},
    {"abort", false, 1, redefined, give_up, given_up},
    {"put_att", true, 1, ready, another_value, as_it_should_be},
    {"rename_var", true, 1, ready, a_shorter_name, as_it_should_be},
    {"fill_var_rec", false, 1, ready, fill, as_it_should_be},
    {"sync", false, 1, ready, sync_it, as_it_should_be},
    {"flush", false, 1, ready, flush_it, as_it_should_be},
    {"inq_file_info", false, 1, ready, inquire, as_it_should_be},
    {"begin_indep_data", false, 1, ready, begin_indep, in_indep_mode},
    {"end_indep_data", false, 1, put_by_all_alone, end_indep, together_again},
    {"put alone", false, 1, ready_alone, put_of_this_alone, then_together},
    {"get alone", false, 1, ready_alone, get_of_this_alone, then_together},
    {"close", false, 1, ready, close_now, given_up},
    {"put", false, BY_FAMILY, ready, put_next, as_it_should_be},
    {"get", false, BY_FAMILY, ready, get_next, as_it_should_be},
    {"first put", false, FIRST_FAMILIES, ready, put_first, as_it_should_be},
    {"put of a record", false, 1, ready, put_record, as_it_should_be},
    {"put again", false, BY_FAMILY, warm, put_next, as_it_should_be},
    {"get again", false, BY_FAMILY, warm, get_next, as_it_should_be},
    {"put, memory of another", false, BY_FAMILY, pooled, put_next, as_it_should_be},
    {"mixed put", false, 2 * ROLES, ready, put_mixed, mixed_is_there},
    {"put of parts", false, 1, ready, put_parts, parts_are_there},
    {"get of parts", false, 1, parts_there, get_parts, as_it_should_be},
    {"mixed get", false, 2 * ROLES, mixed_there, get_mixed, as_it_should_be},
    {"replay of logs", true, 2, logs_left, open_to_write, opened},
    {"replay to read", true, 2, logs_left, open_to_read, opened},
    {"end of a redefinition", true, 4, redefinition_left, open_to_write, opened},
    {"flush_start", false, 2, put_before, flush_start, as_it_should_be},
    {"close for later", false, 2, put_for_later, close_for_later, closed_later},
    {"wait_closed", true, 2, left_for_later, wait_closed, given_up},
    {"open behind a close", true, 2, left_for_later, open_to_write, opened},
    {"create behind a close", true, 2, left_for_later, create_another, another_is_there},
    {"prefetch", false, 3, open_staged, prefetch, as_it_should_be},
};

/* Besides the datasets, removes subfiles and a journal that a step may have left
 * behind. */
void remove_files(void)
{
    static const char *const names[] = {"a.nc",      "a.nc.redef", "a.nc.0000",
                                        "a.nc.0001", "a.nc.0002",  "a.nc.0003",
                                        "b.nc",      "b.nc.0000"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)remove(check_path(names[i]));
}
