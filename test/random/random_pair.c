/* Tests two random actors on one dataset. Each actor opens the dataset on one process
 * (the same process or different ones). The actors take turns: they put and get records,
 * change an attribute or a name in data mode, redefine with and without moving data,
 * sync, close and open. Between their steps, the serial netCDF library changes the file
 * or a tool reads it.
 *
 * A model predicts the result of each call. A call either returns an error and changes
 * nothing, or its result is in the file at the end. If one actor moves data after the
 * other has written, the close of the other must report an error.
 *
 * NCMPI_RANDOM_PAIRS=N runs N programs for each format and process count (default 8);
 * NCMPI_TEST_SEED sets the first seed. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "pnetcdf.h"

enum { ACTORS = 2, VARS = 5, RECORDS = 9, X = 40, STEPS = 40, TEXT = 32 };

enum state { CLOSED, DATA, DEFINE };

struct actor {
    enum state state;
    int ncid;        /* id on the actor's process */
    int version;     /* version of the header that the actor last read */
    int places;      /* version of the layout that the actor last read */
    bool wrote;      /* whether the actor has put values since its open */
    int records;     /* number of records when the actor called redef */
    bool adds;       /* in define mode: adds a variable rather than changing the title */
    char text[TEXT]; /* name of the new variable, or new title */
};

static struct {
    struct actor actors[ACTORS];
    int version, places; /* number of changes to the header, and to the layout */
    int nvars, records, writes;
    double value[VARS][RECORDS]; /* number of the put that wrote the record; 0 if
                                  * unknown */
    char title[TEXT], name[TEXT];
    bool spoilt; /* a close has reported lost values, so no value is checked */
} all;

static const char *path(void)
{
    return check_path("pair.nc");
}

static bool chance(uint32_t of)
{
    return check_random(of) == 0;
}

/* Broadcasts the result of a step from the actor's process. */
static int told(int actor, int err)
{
    MPI_Bcast(&err, 1, MPI_INT, actor % check.nprocs, MPI_COMM_WORLD);
    return err;
}

static bool is_mine(int actor)
{
    return actor % check.nprocs == check.rank;
}

#define BY(actor, call) told(actor, is_mine(actor) ? (call) : NC_NOERR)

/* ---- opening and closing ---- */

static void make(void)
{
    int ncid = -1, dims[2], varid;
    memset(&all, 0, sizeof all);
    strcpy(all.title, "title 00000");
    strcpy(all.name, "name_00000");
    all.nvars = 2;
    MPI_Offset room = (MPI_Offset)check_random(3) * 1500;
    if (check.rank == 0) {
        CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_SELF, path(), NC_CLOBBER | check.cmode,
                                        MPI_INFO_NULL, &ncid));
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", X, &dims[1]));
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, all.name, NC_DOUBLE, 2, dims, &varid));
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "other", NC_DOUBLE, 2, dims, &varid));
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "title",
                                              (MPI_Offset)strlen(all.title), all.title));
        CHECK_NC(NC_NOERR, ncmpi__enddef(ncid, room, 4, 0, 4));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void open_it(int i)
{
    static const char *const ways[] = {"", "nc_file_io=mpi", "nc_file_io=posix"};
    struct actor *a = &all.actors[i];
    MPI_Info info = check_info(ways[check_random(3)]);
    CHECK_NC(NC_NOERR,
             BY(i, ncmpi_open(MPI_COMM_SELF, path(), NC_WRITE, info, &a->ncid)));
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    *a = (struct actor){
        .state = DATA, .ncid = a->ncid, .version = all.version, .places = all.places};
}

/* Checks the result of a close or abort. It must be NC_EFILE if another actor has moved
 * data and this actor has put values, which may be at the wrong offsets. */
static void end_it(int i, int err)
{
    struct actor *a = &all.actors[i];
    bool lost = a->wrote && a->places != all.places;
    CHECK_NC(lost ? NC_EFILE : NC_NOERR, err);
    all.spoilt |= lost;
    a->state = CLOSED;
}

static void close_it(int i)
{
    end_it(i, BY(i, ncmpi_close(all.actors[i].ncid)));
}

/* ---- values ---- */

/* Sets the values of a record. No two puts have the same values. */
static void fill(double *values, int write)
{
    for (int i = 0; i < X; i++)
        values[i] = write * 100.0 + i;
}

static void note_put(int var, int rec)
{
    all.value[var][rec] = all.writes;
    if (rec >= all.records) all.records = rec + 1;
}

static void put(int i)
{
    struct actor *a = &all.actors[i];
    int var = (int)check_random(2), rec = (int)check_random(RECORDS);
    bool independent = chance(3);
    MPI_Offset start[] = {rec, 0}, count[] = {1, X};
    double values[X];
    int err = NC_NOERR;
    fill(values, ++all.writes);
    if (is_mine(i) && independent) err = ncmpi_begin_indep_data(a->ncid);
    if (is_mine(i) && err == NC_NOERR)
        err = independent ? ncmpi_put_vara_double(a->ncid, var, start, count, values)
                          : ncmpi_put_vara_double_all(a->ncid, var, start, count, values);
    if (is_mine(i) && independent) {
        int ended = ncmpi_end_indep_data(a->ncid);
        if (err == NC_NOERR) err = ended;
    }
    CHECK_NC(NC_NOERR, told(i, err));
    a->wrote = true;
    note_put(var, rec);
}

/* Reads a record. Returns the number of wrong values, or an error code. */
static int misread(int ncid, int var, int rec)
{
    MPI_Offset start[] = {rec, 0}, count[] = {1, X};
    double values[X], expected[X];
    int wrong = 0, err = ncmpi_get_vara_double_all(ncid, var, start, count, values);
    fill(expected, (int)all.value[var][rec]);
    for (int i = 0; i < X; i++)
        wrong += values[i] != expected[i];
    return err != NC_NOERR ? err : wrong;
}

/* Syncs, checks that both actors' records are visible, and reads one record. */
static void get(int i)
{
    struct actor *a = &all.actors[i];
    MPI_Offset records = -1;
    int var = (int)check_random(2), rec = (int)check_random(RECORDS), wrong = 0;
    CHECK_NC(NC_NOERR, BY(i, ncmpi_sync(a->ncid)));
    if (is_mine(i)) {
        CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(a->ncid, 0, &records));
        CHECK_EQ(all.records, records);
        if (all.value[var][rec] > 0) wrong = misread(a->ncid, var, rec);
    }
    CHECK_EQ(0, told(i, wrong));
}

/* ---- definitions ---- */

/* Checks the result of changing the header in data mode. An actor must not overwrite the
 * header if its own copy is outdated. Returns whether the change succeeded. */
static bool changed(int i, int err)
{
    struct actor *a = &all.actors[i];
    CHECK_NC(a->version == all.version ? NC_NOERR : NC_EFILE, err);
    if (err == NC_NOERR) a->version = ++all.version;
    return err == NC_NOERR;
}

static void put_title(int i)
{
    char text[TEXT];
    sprintf(text, "title %05d", ++all.writes % 100000);
    int err = BY(i, ncmpi_put_att_text(all.actors[i].ncid, NC_GLOBAL, "title",
                                       (MPI_Offset)strlen(text), text));
    if (changed(i, err)) strcpy(all.title, text);
}

static void rename_it(int i)
{
    char text[TEXT];
    sprintf(text, "name_%05d", ++all.writes % 100000);
    if (changed(i, BY(i, ncmpi_rename_var(all.actors[i].ncid, 0, text))))
        strcpy(all.name, text);
}

static void redef(int i)
{
    struct actor *a = &all.actors[i];
    CHECK_NC(NC_NOERR, BY(i, ncmpi_redef(a->ncid)));
    a->state = DEFINE;
    a->records = all.records;
    a->adds = all.nvars < VARS && chance(2);
    sprintf(a->text, a->adds ? "more_%05d" : "title %05d", ++all.writes % 100000);
    if (!is_mine(i)) return;
    int dims[] = {0, 1}, varid;
    if (a->adds)
        CHECK_NC(NC_NOERR, ncmpi_def_var(a->ncid, a->text, NC_DOUBLE, 2, dims, &varid));
    else
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(a->ncid, NC_GLOBAL, "title",
                                              (MPI_Offset)strlen(a->text), a->text));
}

/* Returns whether the other actor has the dataset open. If so, an enddef that moves data
 * may be refused, but it must not wait. */
static bool has_company(int i)
{
    return all.actors[1 - i].state != CLOSED;
}

static void enddef(int i)
{
    struct actor *a = &all.actors[i];
    int err = BY(i, ncmpi_enddef(a->ncid));
    bool stale = a->version != all.version || (a->adds && a->records != all.records);
    bool may = stale || (a->adds && has_company(i));
    CHECK(err == NC_NOERR || (err == NC_EFILE && may));
    CHECK(err != NC_NOERR || !stale);
    if (err != NC_NOERR) {
        end_it(i, BY(i, ncmpi_abort(a->ncid)));
        return;
    }
    a->state = DATA;
    a->version = ++all.version;
    if (a->adds) {
        a->places = ++all.places;
        all.nvars++;
    } else {
        strcpy(all.title, a->text);
    }
}

/* ---- other programs ---- */

/* Changes the title or a record through the serial netCDF library, on process 0. */
static void netcdf_beside(void)
{
    int kind = (int)check_random(2), var = (int)check_random(2), ncid;
    int rec = (int)check_random(RECORDS);
    size_t start[] = {(size_t)rec, 0}, count[] = {1, X};
    double values[X];
    fill(values, ++all.writes);
    if (kind == 0) sprintf(all.title, "title %05d", all.writes % 100000);
    if (check.rank == 0) {
        CHECK_EQ(NC_NOERR, nc_open(path(), NC_WRITE, &ncid));
        if (kind == 0)
            CHECK_EQ(NC_NOERR, nc_put_att_text(ncid, NC_GLOBAL, "title",
                                               strlen(all.title), all.title));
        else
            CHECK_EQ(NC_NOERR, nc_put_vara_double(ncid, var, start, count, values));
        CHECK_EQ(NC_NOERR, nc_close(ncid));
    }
    if (kind == 0) all.version++;
    if (kind == 1) note_put(var, rec);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Runs a tool that reads the header, on process 0. The header must be valid at any
 * time. */
static void tool_beside(void)
{
    static const char *const tools[] = {"./ncmpidump -h", "./ncoffsets"};
    char command[512];
    snprintf(command, sizeof command, "LD_PRELOAD= %s %s >/dev/null 2>&1",
             tools[check_random(2)], path());
    if (check.rank == 0) CHECK_EQ(0, system(command));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- programs ---- */

struct move {
    void (*run)(int actor);
    enum state in;
    uint32_t often;
};

static const struct move moves[] = {
    {open_it, CLOSED, 1}, {close_it, DATA, 2},  {put, DATA, 8},   {get, DATA, 4},
    {put_title, DATA, 2}, {rename_it, DATA, 1}, {redef, DATA, 1}, {enddef, DEFINE, 1},
};
enum { MOVES = sizeof moves / sizeof moves[0] };

/* Performs a random step of an actor. If the other actor has moved data, the actor closes
 * the dataset, because its offsets are outdated. */
static void step(int i)
{
    const struct actor *a = &all.actors[i];
    uint32_t total = 0;
    if (a->state == DATA && a->places != all.places) {
        close_it(i);
        return;
    }
    for (int m = 0; m < MOVES; m++)
        total += moves[m].in == a->state ? moves[m].often : 0;
    uint32_t drawn = check_random(total);
    for (int m = 0; m < MOVES; m++) {
        if (moves[m].in != a->state) continue;
        if (drawn < moves[m].often) {
            moves[m].run(i);
            return;
        }
        drawn -= moves[m].often;
    }
}

static void compare(void)
{
    char text[64] = "", name[NC_MAX_NAME + 1] = "";
    MPI_Offset records = -1, begin = 0, size = 0;
    struct stat st;
    int ncid = -1, nvars = 0, id;
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_SELF, path(), NC_NOWRITE, MPI_INFO_NULL, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_nvars(ncid, &nvars));
    CHECK_EQ(all.nvars, nvars);
    CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, 0, &records));
    CHECK_EQ(all.records, records);
    CHECK_NC(NC_NOERR, ncmpi_get_att_text(ncid, NC_GLOBAL, "title", text));
    CHECK_STR(all.title, text);
    CHECK_NC(NC_NOERR, ncmpi_inq_varname(ncid, 0, name));
    CHECK_STR(all.name, name);
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "other", &id));
    for (int var = 0; var < 2; var++)
        for (int rec = 0; rec < RECORDS; rec++)
            if (all.value[var][rec] > 0) CHECK_EQ(0, misread(ncid, var, rec));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, 0, &begin));
    CHECK_NC(NC_NOERR, ncmpi_inq_recsize(ncid, &size));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    CHECK_EQ(0, stat(path(), &st));
    /* The serial library does not write those parts of a record that were never put. */
    CHECK(st.st_size <= begin + all.records * size);
}

static void one_program(void)
{
    make();
    for (int n = 0; n < STEPS && !all.spoilt; n++) {
        if (chance(12))
            netcdf_beside();
        else if (chance(150))
            tool_beside();
        else
            step((int)check_random(ACTORS));
    }
    for (int i = 0; i < ACTORS; i++) {
        struct actor *a = &all.actors[i];
        if (a->state == DEFINE) enddef(i);
        if (a->state != CLOSED) close_it(i);
    }
    if (check.rank == 0 && !all.spoilt) compare();
    MPI_Barrier(MPI_COMM_WORLD);
}

static void random_pairs(void)
{
    const char *text = getenv("NCMPI_RANDOM_PAIRS");
    int n = text == NULL ? 8 : atoi(text);
    for (int i = 0; i < n; i++)
        one_program();
}

static const struct check_test tests[] = {
    {"two openings take turns at random", random_pairs, CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2");
}
