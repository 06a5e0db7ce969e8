/* Creates the datasets for one_bad.c, in which one process makes a mistake, and checks
 * them afterwards. */
#include "one_bad.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scene scene;
const char *way;

/* ---- the dataset ---- */

void use_world(void)
{
    scene.comm = MPI_COMM_WORLD;
    scene.prefix[0] = '\0';
}

void use_own(void)
{
    scene.comm = MPI_COMM_SELF;
    snprintf(scene.prefix, sizeof scene.prefix, "own%d-", check.rank);
}

const char *path_of(const char *name)
{
    char text[64];
    snprintf(text, sizeof text, "%s%s", scene.prefix, name);
    return check_path(text);
}

MPI_Info info_of_way(void)
{
    MPI_Info info = check_info(way);
    MPI_Info_set(info, "nc_burst_buf_dirname", check_path(""));
    MPI_Info_set(info, "nc_stage_dirname", check_path(""));
    return info;
}

void define_all_variables(void)
{
    int dims[2], varid, level = 1;
    MPI_Offset length = (MPI_Offset)N * check.nprocs;
    CHECK_NC(NC_NOERR, ncmpi_def_dim(scene.ncid, "t", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(scene.ncid, "x", length, &dims[1]));
    static const struct {
        const char *name;
        nc_type type;
        int ndims;
    } list[] = {{"fixed", NC_INT, 1},
                {"record", NC_INT, 2},
                {"text", NC_CHAR, 1},
                {"other", NC_CHAR, 1},
                {"wide", NC_INT, 1}};
    for (int i = 0; i < 5; i++)
        CHECK_NC(NC_NOERR,
                 ncmpi_def_var(scene.ncid, list[i].name, list[i].type, list[i].ndims,
                               dims + 2 - list[i].ndims, &varid));
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(scene.ncid, RECORD, 0, NULL));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(scene.ncid, FIXED, "units", 1, "m"));
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(scene.ncid, FIXED, "level", NC_INT, 1, &level));
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(scene.ncid, WIDE, "level", NC_INT, 1, &level));
}

const int plain[PLAIN] = {FIXED, TEXT, OTHER_TEXT, WIDE};

/* Puts a whole variable. Collective. */
int put_whole(int varid, const int *values)
{
    char text[PLACES];
    for (int i = 0; i < N * check.nprocs; i++)
        text[i] = (char)values[i];
    return varid == TEXT || varid == OTHER_TEXT
               ? ncmpi_put_var_text_all(scene.ncid, varid, text)
               : ncmpi_put_var_int_all(scene.ncid, varid, values);
}

int get_whole(int varid, int *values)
{
    char text[PLACES] = "";
    if (varid != TEXT && varid != OTHER_TEXT)
        return ncmpi_get_var_int_all(scene.ncid, varid, values);
    int rc = ncmpi_get_var_text_all(scene.ncid, varid, text);
    for (int i = 0; i < N * check.nprocs; i++)
        values[i] = (unsigned char)text[i];
    return rc;
}

void put_first_values(void)
{
    int values[PLACES];
    for (int i = 0; i < N * check.nprocs; i++)
        values[i] = one_bad_value(1, i);
    for (int v = 0; v < PLAIN; v++)
        CHECK_NC(NC_NOERR, put_whole(plain[v], values));
}

void create_file(const char *name)
{
    MPI_Info info = info_of_way();
    CHECK_NC(NC_NOERR,
             ncmpi_create(scene.comm, path_of(name), check.cmode, info, &scene.ncid));
    MPI_Info_free(&info);
    define_all_variables();
}

static void open_file(void)
{
    MPI_Info info = info_of_way();
    CHECK_NC(NC_NOERR,
             ncmpi_open(scene.comm, path_of("a.nc"), NC_NOWRITE, info, &scene.ncid));
    MPI_Info_free(&info);
}

/* Creates a dataset with values and puts it into the given mode. */
void set_up(enum mode mode)
{
    scene.mode = mode;
    create_file("a.nc");
    if (mode == FRESH) return;
    CHECK_NC(NC_NOERR, ncmpi_enddef(scene.ncid));
    put_first_values();
    if (mode == REDEF) CHECK_NC(NC_NOERR, ncmpi_redef(scene.ncid));
    if (mode == INDEP) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(scene.ncid));
    if (mode == READING || mode == CLOSED) CHECK_NC(NC_NOERR, ncmpi_close(scene.ncid));
    if (mode == READING) open_file();
}

/* ---- definitions ---- */

static void mix(uint64_t *sum, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < n; i++)
        *sum = (*sum ^ b[i]) * UINT64_C(1099511628211);
}

static void mix_atts(uint64_t *sum, int varid)
{
    int n = 0;
    if (varid == NC_GLOBAL)
        CHECK_NC(NC_NOERR, ncmpi_inq_natts(scene.ncid, &n));
    else
        CHECK_NC(NC_NOERR, ncmpi_inq_varnatts(scene.ncid, varid, &n));
    for (int i = 0; i < n; i++) {
        char name[NC_MAX_NAME + 1] = "", values[64] = "";
        nc_type type = 0;
        MPI_Offset length = 0;
        CHECK_NC(NC_NOERR, ncmpi_inq_attname(scene.ncid, varid, i, name));
        CHECK_NC(NC_NOERR, ncmpi_inq_att(scene.ncid, varid, name, &type, &length));
        if (length <= 8)
            CHECK_NC(NC_NOERR, ncmpi_get_att(scene.ncid, varid, name, values));
        mix(sum, name, sizeof name);
        mix(sum, &type, sizeof type);
        mix(sum, &length, sizeof length);
        mix(sum, values, sizeof values);
    }
}

/* Returns a hash of all definitions. */
static uint64_t definitions(void)
{
    uint64_t sum = 14695981039346656037u;
    int ndims = 0, nvars = 0;
    CHECK_NC(NC_NOERR, ncmpi_inq(scene.ncid, &ndims, &nvars, NULL, NULL));
    for (int d = 0; d < ndims; d++) {
        char name[NC_MAX_NAME + 1] = "";
        MPI_Offset length = -1;
        CHECK_NC(NC_NOERR, ncmpi_inq_dim(scene.ncid, d, name, &length));
        mix(&sum, name, sizeof name);
        mix(&sum, &length, sizeof length);
    }
    for (int v = 0; v < nvars; v++) {
        char name[NC_MAX_NAME + 1] = "";
        nc_type type;
        int rank = 0, dims[NC_MAX_VAR_DIMS < 16 ? NC_MAX_VAR_DIMS : 16] = {0};
        CHECK_NC(NC_NOERR, ncmpi_inq_var(scene.ncid, v, name, &type, &rank, dims, NULL));
        mix(&sum, name, sizeof name);
        mix(&sum, &type, sizeof type);
        mix(&sum, dims, (size_t)rank * sizeof dims[0]);
        mix_atts(&sum, v);
    }
    mix_atts(&sum, NC_GLOBAL);
    return sum;
}

static void same_definitions(void)
{
    uint64_t mine = definitions(), first = mine;
    MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (mine != first) complain(LOST, "other definitions than process 0");
}

/* ---- checks ---- */

/* Checks that all elements of a variable have the values of a round. */
static void holds(int varid, int round)
{
    int values[PLACES] = {0}, rc = get_whole(varid, values);
    if (rc != NC_NOERR) complain(LOST, "variable %d: %s", varid, ncmpi_strerror(rc));
    for (int i = 0; i < N * check.nprocs && rc == NC_NOERR; i++)
        if (values[i] != one_bad_value(round, i)) {
            complain(LOST, "variable %d, place %d is %d", varid, i, values[i]);
            return;
        }
}

bool differs_code(int rc)
{
    return rc <= NC_EMULTIDEFINE_FIRST && rc >= NC_EMULTIDEFINE_LAST;
}

void all_codes(int rc, int *codes)
{
    MPI_Allgather(&rc, 1, MPI_INT, codes, 1, MPI_INT, MPI_COMM_WORLD);
}

void same_code(int rc, const char *call)
{
    int codes[MOST];
    all_codes(rc, codes);
    for (int i = 0; i < check.nprocs; i++)
        if (codes[i] != rc) {
            complain(WRONG, "%s: %s, on process %d %s", call, ncmpi_strerrno(rc), i,
                     ncmpi_strerrno(codes[i]));
            return;
        }
}

/* Switches the dataset from whatever mode it is in to collective data mode. Returns
 * whether it is open. */
static bool sync_until_quiet(void)
{
    int format;
    if (ncmpi_inq_format(scene.ncid, &format) != NC_NOERR) return false;
    int rc = ncmpi_enddef(scene.ncid);
    if (rc == NC_EPERM) return true;
    same_code(rc, "enddef");
    if (rc != NC_NOERR && rc != NC_ENOTINDEFINE && !differs_code(rc))
        complain(WRONG, "enddef: %s", ncmpi_strerror(rc));
    rc = ncmpi_end_indep_data(scene.ncid);
    if (rc != NC_NOERR) complain(WRONG, "end_indep_data: %s", ncmpi_strerror(rc));
    return true;
}

static void put_own_part(int round)
{
    int values[N];
    MPI_Offset start = (MPI_Offset)N * check.rank, count = N;
    for (int i = 0; i < N; i++)
        values[i] = one_bad_value(round, start + i);
    int rc = ncmpi_put_vara_int_all(scene.ncid, FIXED, &start, &count, values);
    if (rc != NC_NOERR) complain(WRONG, "put: %s", ncmpi_strerror(rc));
    rc = ncmpi_sync(scene.ncid);
    if (rc != NC_NOERR) complain(WRONG, "sync: %s", ncmpi_strerror(rc));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void everything_holds(int round, bool others)
{
    holds(FIXED, round);
    for (int v = 1; v < PLAIN && others; v++)
        holds(plain[v], 1);
}

/* Checks that the dataset is usable and correct, both now and after it is reopened. */
void as_it_should_be(void)
{
    bool open = sync_until_quiet(), reading = scene.mode == READING;
    int round = open && !reading ? 2 : 1;
    uint64_t before = 0, after;
    if (open) {
        if (!reading) put_own_part(round);
        everything_holds(round, scene.mode != FRESH);
        same_definitions();
        before = definitions();
        int rc = ncmpi_close(scene.ncid);
        if (rc != NC_NOERR) complain(WRONG, "close: %s", ncmpi_strerror(rc));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* the new dataset was never written, or was aborted */
    if (!open && scene.mode == FRESH) return;
    open_file();
    everything_holds(round, scene.mode != FRESH);
    same_definitions();
    after = definitions();
    if (open && before != after) complain(LOST, "the file has other definitions");
    CHECK_NC(NC_NOERR, ncmpi_close(scene.ncid));
}
