/* Tests the checksums of blobs. The checksums in the subfiles must be correct after every
 * put by any process, and later changes to values must be detected. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../api/made_dataset.h"
#include "base_sum.h"
#include "util_blob.h"

enum { NX = 12, NY = 7, NZ = NX * NY, VARS = 4 };

static const struct {
    const char *name;
    nc_type type;
    int record;
} vars[VARS] = {{"fixed", NC_INT, 0},
                {"doubles", NC_DOUBLE, 1},
                {"floats", NC_FLOAT, 1},
                {"bytes", NC_BYTE, 1}};

struct scene {
    int ncid, varid[VARS], dims[3];
};

static const char blobs_wanted[] = "nc_blob=enable;nc_num_subfiles=2";
static const char *hints = blobs_wanted;

static struct scene define(void)
{
    struct scene s = {.ncid = -1};
    MPI_Info info = check_info(hints);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                    NC_CLOBBER | check.cmode, info, &s.ncid));
    MPI_Info_free(&info);
    s.dims[0] = new_dim(s.ncid, "time", NC_UNLIMITED);
    s.dims[1] = new_dim(s.ncid, "y", NY);
    s.dims[2] = new_dim(s.ncid, "x", NX);
    for (int i = 0; i < VARS; i++)
        s.varid[i] = new_var(s.ncid, vars[i].name, vars[i].type, 2 + vars[i].record,
                             s.dims + 1 - vars[i].record);
    CHECK_NC(NC_NOERR, ncmpi_enddef(s.ncid));
    return s;
}

/* ---- puts ---- */

/* Selects this process's columns, or rows, of one record. */
static void own_part(bool rows, int record, MPI_Offset *start, MPI_Offset *count)
{
    MPI_Offset n = rows ? NY : NX, low = n * check.rank / check.nprocs,
               high = n * (check.rank + 1) / check.nprocs;
    start[0] = record, count[0] = 1;
    start[1] = rows ? low : 0, count[1] = rows ? high - low : NY;
    start[2] = rows ? 0 : low, count[2] = rows ? NX : high - low;
}

enum how { OWN_TYPE, OTHER_TYPE, MAPPED, HOWS };

/* Puts new values into this process's part. Occasionally a value is out of range for the
 * variable's type. */
static void put_part(const struct scene *s, int i, int record, bool rows, enum how how)
{
    MPI_Offset start[3], count[3], imap[3];
    double values[NZ];
    float floats[NZ];
    int ints[NZ];
    unsigned char bytes[NZ];
    int skip = 1 - vars[i].record, rc;
    own_part(rows, record, start, count);
    for (int k = 0; k < NZ; k++) {
        values[k] = ints[k] = (int)check_random_own(100);
        floats[k] = (float)values[k];
        bytes[k] = (unsigned char)(values[k] + 100);
    }
    imap[2] = count[1], imap[1] = 1, imap[0] = NZ;
    MPI_Offset *from = start + skip, *n = count + skip;
    if (check_random(8) == 0)
        values[check_random_own(NZ)] = 1e300; /* an out-of-range value on every process */
    if (how == MAPPED)
        rc = ncmpi_put_varm_int_all(s->ncid, s->varid[i], from, n, NULL, imap + skip,
                                    ints);
    else if (how == OTHER_TYPE && vars[i].type == NC_BYTE)
        rc = ncmpi_put_vara_uchar_all(s->ncid, s->varid[i], from, n, bytes);
    else if (how == OTHER_TYPE || vars[i].type == NC_DOUBLE)
        rc = ncmpi_put_vara_double_all(s->ncid, s->varid[i], from, n, values);
    else if (vars[i].type == NC_FLOAT)
        rc = ncmpi_put_vara_float_all(s->ncid, s->varid[i], from, n, floats);
    else
        rc = ncmpi_put_vara_int_all(s->ncid, s->varid[i], from, n, ints);
    CHECK(rc == NC_NOERR || rc == NC_ERANGE);
}

static void put_one_alone(int ncid, int varid, bool of_record, int record)
{
    MPI_Offset at[3] = {record, (MPI_Offset)check_random_own(NY),
                        (MPI_Offset)check_random_own(NX)};
    int value = (int)check_random_own(100);
    CHECK_NC(NC_NOERR, ncmpi_put_var1_int(ncid, varid, at + 1 - of_record, &value));
}

/* ---- contents of the files ---- */

static int wrong;

static void note(void *to, const char *path, const char *reason)
{
    (void)to;
    wrong++;
    printf("# %s: %s\n", path == NULL ? "" : path, reason);
}

/* Checks on process 0 that the recorded checksums are correct. */
static struct util_blob_sums look(void)
{
    struct util_blob_sums sums = {0, 0, 0};
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        struct util_classic c;
        struct util_progress p = {0};
        wrong = 0;
        if (CHECK_EQ(0, util_classic_open(&c, "test", check_path("a.nc")))) {
            CHECK_EQ(0, util_blob_check_sums(&c, 0, 1, note, NULL, &p, &sums));
            util_classic_close(&c);
        }
        CHECK_EQ(0, wrong);
        CHECK_EQ(0, sums.wrong);
    }
    MPI_Bcast(&sums, 3, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return sums;
}

static struct scene filled(int records)
{
    struct scene s = define();
    for (int r = 0; r < records; r++)
        for (int i = 0; i < VARS; i++)
            if (r == 0 || vars[i].record) put_part(&s, i, r, false, OWN_TYPE);
    return s;
}

static void reopen(struct scene *s)
{
    s->ncid = open_dataset("a.nc", NC_WRITE);
}

/* Returns the number of blobs that contain values if there are `records` records. */
static int blobs(int records)
{
    return check.nprocs * (1 + 3 * records);
}

/* ---- */

static void blobs_that_are_put_whole_have_checksums(void)
{
    struct scene s = filled(3);
    CHECK_NC(NC_NOERR, ncmpi_sync(s.ncid));
    struct util_blob_sums sums = look();
    /* Blobs with out-of-range values have no checksum. */
    CHECK(sums.right + sums.none == blobs(3));
    CHECK(sums.right >= sums.none);
    put_part(&s, 1, 1, false, OWN_TYPE);
    CHECK_EQ(sums.right + sums.none, look().right + look().none);
    close_dataset(s.ncid);
    look();
}

static void a_hint_disables_checksums(void)
{
    hints = "nc_blob=enable;nc_num_subfiles=2;nc_blob_checksums=disable";
    struct scene s = filled(2);
    hints = blobs_wanted;
    close_dataset(s.ncid);
    CHECK_EQ(0, look().right);
    reopen(&s);
    put_part(&s, 1, 1, false, OWN_TYPE);
    close_dataset(s.ncid);
    struct util_blob_sums sums = look();
    CHECK(sums.right == 0 && sums.none == blobs(2));
}

/* Computes checksums as described in doc/formats.md. */
static void checksums_are_computed_as_documented(void)
{
    struct scene s = define();
    MPI_Offset start[3], count[3], of[2] = {0, 0}, n[2] = {1, 0};
    double values[NZ], back[NZ];
    long long sum = 0, at = 0, many = 0;
    own_part(false, 0, start, count);
    for (int i = 0; i < NZ; i++)
        values[i] = (double)check_random_own(1000);
    CHECK_NC(NC_NOERR,
             ncmpi_put_vara_double_all(s.ncid, s.varid[1], start, count, values));
    close_dataset(s.ncid);
    int subfiles = check.nprocs < 2 ? 1 : 2, varid, ncid = -1;
    int group = check.rank * subfiles / check.nprocs;
    int first = (group * check.nprocs + subfiles - 1) / subfiles;
    char path[32];
    snprintf(path, sizeof path, "a.nc.%04d", group);
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_SELF, check_path(path), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    MPI_Offset blob[2] = {0, check.rank - first};
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "D1.sums.1", &varid));
    CHECK_NC(NC_NOERR, ncmpi_get_var1_longlong(ncid, varid, blob, &sum));
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "D1.blob_start", &varid));
    CHECK_NC(NC_NOERR, ncmpi_get_var1_longlong(ncid, varid, blob + 1, &at));
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "D1.blob_count", &varid));
    CHECK_NC(NC_NOERR, ncmpi_get_var1_longlong(ncid, varid, blob + 1, &many));
    of[1] = at, n[1] = many;
    CHECK_EQ(NY * count[2], many);
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "doubles", &varid));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_double(ncid, varid, of, n, back));
    CHECK_BYTES(values, back, (size_t)many * sizeof back[0]);
    if (base_can_sum() && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        CHECK((uint64_t)sum == (base_sum(back, (size_t)many * sizeof back[0], 0) | 1));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Puts more checksums than the library keeps in memory, so it must write some of them
 * before the close. */
static void checksums_that_do_not_fit_into_memory_are_written_early(void)
{
    enum { RECORDS = 20000 };
    struct scene s = define();
    int dims[2] = {s.dims[0], -1};
    CHECK_NC(NC_NOERR, ncmpi_redef(s.ncid));
    dims[1] = new_dim(s.ncid, "one_each", check.nprocs);
    int varid = new_var(s.ncid, "many", NC_SHORT, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(s.ncid));
    short *values = calloc(RECORDS, sizeof *values);
    MPI_Offset start[2] = {0, check.rank}, count[2] = {RECORDS, 1};
    CHECK_NC(NC_NOERR, ncmpi_put_vara_short_all(s.ncid, varid, start, count, values));
    CHECK_EQ(0, look().right);
    start[0] = RECORDS, count[0] = 1;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_short_all(s.ncid, varid, start, count, values));
    int64_t kept = look().right;
    if (base_can_sum())
        CHECK(kept > RECORDS / 2 && kept < (int64_t)RECORDS * check.nprocs);
    start[0] = RECORDS + 1;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_short_all(s.ncid, varid, start, count, values));
    close_dataset(s.ncid);
    if (base_can_sum()) CHECK_EQ(kept + check.nprocs, look().right);
    free(values);
}

static void a_put_of_a_part_removes_the_checksum(void)
{
    struct scene s = filled(2);
    CHECK_NC(NC_NOERR, ncmpi_sync(s.ncid));
    int64_t before = look().right;
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(s.ncid));
    if (check.rank == 0) put_one_alone(s.ncid, s.varid[2], true, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    int64_t after = look().right;
    CHECK(after < before);
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(s.ncid));
    close_dataset(s.ncid);
    CHECK_EQ(after, look().right);
}

static void a_changed_value_is_found(void)
{
    struct scene s = define();
    MPI_Offset start[3], count[3], offset = 0, step = 0;
    int values[NZ] = {1, 2, 3}, one = 0;
    own_part(false, 0, start, count);
    CHECK_NC(NC_NOERR,
             ncmpi_put_vara_int_all(s.ncid, s.varid[0], start + 1, count + 1, values));
    close_dataset(s.ncid);
    look();
    if (!base_can_sum()) return;
    if (check.rank == 0) {
        struct util_classic c;
        struct util_progress p = {0};
        struct util_blob_sums sums;
        unsigned char byte;
        int ncid = -1, varid = -1;
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_SELF, check_path("a.nc.0000"), NC_NOWRITE,
                                      MPI_INFO_NULL, &ncid));
        CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "fixed", &varid));
        CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, varid, &offset));
        CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, 1, &step));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        int fd = open(check_path("a.nc.0000"), O_RDWR);
        CHECK(pread(fd, &byte, 1, offset + 1) == 1);
        byte ^= 4;
        CHECK(pwrite(fd, &byte, 1, offset + 1) == 1);
        CHECK_EQ(0, close(fd));
        CHECK_EQ(0, util_classic_open(&c, "test", check_path("a.nc")));
        wrong = 0;
        one = util_blob_check_sums(&c, 0, 1, note, NULL, &p, &sums);
        CHECK_EQ(-1, one);
        CHECK_EQ(1, sums.wrong);
        CHECK_EQ(1, wrong);
        CHECK_EQ(check.nprocs - 1, sums.right);
        util_classic_close(&c);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- random puts ---- */

static void one_alone_changes(const struct scene *s)
{
    int ncid = -1, i = (int)check_random(VARS), record = (int)check_random(4);
    if (check.rank == check.nprocs - 1) {
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_SELF, check_path("a.nc"), NC_WRITE,
                                      MPI_INFO_NULL, &ncid));
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        put_one_alone(ncid, s->varid[i], vars[i].record, record);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void add_variable(struct scene *s, int number)
{
    char name[32];
    MPI_Offset start[3], count[3];
    int values[NZ] = {number};
    snprintf(name, sizeof name, "more%d", number);
    CHECK_NC(NC_NOERR, ncmpi_redef(s->ncid));
    int id = new_var(s->ncid, name, NC_INT, 3 - number % 2, s->dims + number % 2);
    CHECK_NC(NC_NOERR, ncmpi_enddef(s->ncid));
    own_part(false, (int)check_random(3), start, count);
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(s->ncid, id, start + number % 2,
                                              count + number % 2, values));
}

static void any_step(struct scene *s, int number)
{
    int i = (int)check_random(VARS), record = (int)check_random(4);
    switch (check_random(12)) {
    case 0:
        put_part(s, i, record, true, (enum how)check_random(HOWS));
        return;
    case 1:
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(s->ncid));
        if (check_random_own(2) == 0)
            put_one_alone(s->ncid, s->varid[i], vars[i].record, record);
        CHECK_NC(NC_NOERR, ncmpi_end_indep_data(s->ncid));
        return;
    case 2:
        CHECK_NC(NC_NOERR, ncmpi_sync(s->ncid));
        return;
    case 3:
        close_dataset(s->ncid);
        if (check_random(2) == 0) one_alone_changes(s);
        look();
        reopen(s);
        return;
    case 4:
        if (number < 20) add_variable(s, number);
        return;
    default:
        put_part(s, i, record, false, (enum how)check_random(HOWS));
    }
}

static void checksums_match_after_arbitrary_puts(void)
{
    struct scene s = filled(1);
    for (int i = 0; i < 60; i++) {
        any_step(&s, i);
        look();
    }
    close_dataset(s.ncid);
    look();
}

/* Draining a log creates a record far beyond the last one. The skipped records are holes
 * in the subfiles. */
static void a_record_far_beyond_the_last_one_takes_no_space(void)
{
    enum { FAR = 3000000, MOST = 8 << 20 };
    double values[NZ];
    MPI_Offset start[3], count[3];
    hints = "nc_blob=enable;nc_num_subfiles=2;nc_burst_buf=enable";
    struct scene s = define();
    hints = blobs_wanted;
    own_part(false, FAR, start, count);
    for (int i = 0; i < NZ; i++)
        values[i] = i;
    CHECK_NC(NC_NOERR,
             ncmpi_put_vara_double_all(s.ncid, s.varid[1], start, count, values));
    CHECK_NC(NC_NOERR, ncmpi_close(s.ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; check.rank == 0 && i < 2; i++) {
        struct stat st;
        char name[32];
        snprintf(name, sizeof name, "a.nc.%04d", i);
        if (stat(check_path(name), &st) == 0) CHECK(st.st_blocks * 512 < MOST);
    }
}

static const struct check_test tests[] = {
    {"blobs that are put whole have checksums", blobs_that_are_put_whole_have_checksums,
     CHECK_FORMATS},
    {"a hint disables checksums", a_hint_disables_checksums, 0},
    {"checksums are computed as documented", checksums_are_computed_as_documented, 0},
    {"checksums that do not fit into memory are written early",
     checksums_that_do_not_fit_into_memory_are_written_early, 0},
    {"a put of a part removes the checksum", a_put_of_a_part_removes_the_checksum, 0},
    {"a changed value is found", a_changed_value_is_found, 0},
    {"checksums match after arbitrary puts", checksums_match_after_arbitrary_puts,
     CHECK_FORMATS},
    {"a record far beyond the last one takes no space",
     a_record_far_beyond_the_last_one_takes_no_space, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, NULL);
}
