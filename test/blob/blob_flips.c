/* Checks that damaged metadata of a dataset in subfiles causes an error, and never wrong
 * values.
 *
 * Two processes create a small dataset. Then bits of its metadata are flipped, one at a
 * time: in the master's first page and header, and in the subfiles' headers, maps,
 * generations, checksums, tables, chains and frames. After each flip either the dataset
 * reads as before, with all definitions, attributes and values, or reading it returns an
 * error that names a file. This must be true for the library, on one process and on two,
 * and for ncvalidator and ncmpijoin. Uncompressed values in the master file and in blobs,
 * and unused bytes, are not flipped.
 *
 *   BLOB_FLIPS=N flips a bit of every Nth byte (default 11)
 *   BLOB_FLIPS=all  flips each bit of every byte, and all eight at once */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../api/made_dataset.h"
#include "base_compress.h"
#include "base_error.h"
#include "base_sum.h"
#include "cdf_superblock.h"
#include "subfile_names.h"
#include "util_blob.h"
#include "util_message.h"

enum {
    FILES = 3,
    NAME = 256,
    NY = 5,
    NX = 9,
    NZ = 8,
    RECORDS = 4,
    DIMS = 16,
    MOST = 1 << 16
};

static const char suffixes[FILES][8] = {"", ".0000", ".0001"};

/* ---- the dataset ---- */

static void put_part(int ncid, int varid, nc_type type, const MPI_Offset *start,
                     const MPI_Offset *count, int n)
{
    unsigned char values[8 * NY * NX];
    for (size_t i = 0; i < sizeof values; i++)
        values[i] = (unsigned char)check_random_own(256);
    for (int i = 0; i < NY * NX && type == NC_FLOAT; i++)
        values[4 * i + 3] &= 0x3f; /* prevents NaNs */
    for (int i = 0; i < NY * NX && type == NC_DOUBLE; i++)
        values[8 * i + 7] &= 0x3f;
    CHECK_NC(NC_NOERR,
             ncmpi_put_vara_all(ncid, varid, start, count, values, n, MPI_DATATYPE_NULL));
}

/* Puts this process's columns. No process puts the last column, so it is not in any
 * blob. */
static void put_columns(int ncid, int varid, nc_type type, bool of_record, int record)
{
    const MPI_Offset half = NX / 2;
    MPI_Offset start[] = {record, 0, check.rank == 0 ? 0 : half};
    MPI_Offset count[] = {1, NY, check.rank == 0 ? half : NX - 1 - half};
    put_part(ncid, varid, type, start + !of_record, count + !of_record, -1);
}

/* Puts the first n0 elements of a row on process 0, and the remaining ones on process
 * 1. */
static void put_row(int ncid, int varid, nc_type type, int record, int n0)
{
    MPI_Offset start[] = {record, check.rank == 0 ? 0 : n0};
    MPI_Offset count[] = {1, check.rank == 0 ? n0 : NZ - n0};
    put_part(ncid, varid, type, start, count, -1);
}

static void make(const char *hints)
{
    int dims[4], ncid = -1, fixed, record, series, alone;
    const float numbers[] = {1.25F, -7.5F, 1e30F};
    const short fill = -77;
    MPI_Info info = check_info(hints);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("f.nc"),
                                    NC_CLOBBER | NC_64BIT_DATA, info, &ncid));
    MPI_Info_free(&info);
    dims[0] = new_dim(ncid, "time", NC_UNLIMITED);
    dims[1] = new_dim(ncid, "y", NY);
    dims[2] = new_dim(ncid, "x", NX);
    dims[3] = new_dim(ncid, "zeta", NZ);
    fixed = new_var(ncid, "fixed", NC_INT, 2, dims + 1);
    record = new_var(ncid, "record", NC_DOUBLE, 3, dims);
    series = new_var(ncid, "series", NC_SHORT, 2, (const int[]){dims[0], dims[3]});
    alone = new_var(ncid, "alone", NC_FLOAT, 1, dims + 3);
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 5, "flips"));
    CHECK_NC(NC_NOERR,
             ncmpi_put_att_float(ncid, record, "valid_range", NC_FLOAT, 3, numbers));
    CHECK_NC(NC_NOERR,
             ncmpi_put_att_short(ncid, series, "_FillValue", NC_SHORT, 1, &fill));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    put_columns(ncid, fixed, NC_INT, false, 0);
    for (int i = 0; i < RECORDS; i++) {
        put_columns(ncid, record, NC_DOUBLE, true, i);
        put_row(ncid, series, NC_SHORT, i, 3);
    }
    put_columns(ncid, record, NC_DOUBLE, true, 1); /* a second put, which adds new
                                                    * frames */
    MPI_Offset start[] = {2, 0}, count[] = {check.rank, 2};
    put_part(ncid, series, NC_SHORT, start, count,
             -1); /* replaces part of a frame; stored outside of the frames */
    MPI_Offset from = 0, n = check.rank == 0 ? NZ : 0;
    put_part(ncid, alone, NC_FLOAT, &from, &n, -1);
    CHECK_NC(NC_NOERR, ncmpi_rename_var(ncid, alone, "lone"));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 5, "FLIPS"));
    close_dataset(ncid);
}

/* Opens the dataset again and adds a variable and a record. */
static void make_more(void)
{
    int ncid = open_dataset("f.nc", NC_WRITE), more, series, dims[2];
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "series", &series));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_dimid(ncid, "y", &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_inq_dimid(ncid, "x", &dims[1]));
    more = new_var(ncid, "more", NC_BYTE, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    put_columns(ncid, more, NC_BYTE, false, 0);
    put_row(ncid, series, NC_SHORT, RECORDS, 3);
    close_dataset(ncid);
}

/* ---- everything that a reader gets, as one string ---- */

struct text {
    unsigned char *bytes;
    size_t n;
};

static int add(struct text *t, const void *bytes, size_t n)
{
    if (n > MOST - t->n) return NC_ENOMEM;
    memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
    return NC_NOERR;
}

static int add_number(struct text *t, int64_t number)
{
    return add(t, &number, sizeof number);
}

static int read_att(int ncid, int varid, int number, struct text *t)
{
    char name[NC_MAX_NAME + 1];
    static unsigned char values[MOST];
    nc_type type = NC_CHAR;
    MPI_Offset n = 0;
    int err = ncmpi_inq_attname(ncid, varid, number, name);
    if (err == NC_NOERR) err = ncmpi_inq_att(ncid, varid, name, &type, &n);
    const int size = cdf_type_size(type);
    if (err == NC_NOERR && n * size > MOST) err = NC_ENOMEM;
    if (err == NC_NOERR) err = ncmpi_get_att(ncid, varid, name, values);
    if (err == NC_NOERR) err = add(t, name, strlen(name) + 1);
    if (err == NC_NOERR) err = add_number(t, type);
    return err == NC_NOERR ? add(t, values, (size_t)n * (size_t)size) : err;
}

static int read_var(int ncid, int varid, struct text *t)
{
    char name[NC_MAX_NAME + 1];
    nc_type type;
    int ndims, dimids[DIMS], natts;
    static unsigned char values[MOST];
    MPI_Offset n = 1, length;
    int err = ncmpi_inq_varndims(ncid, varid, &ndims);
    if (err == NC_NOERR && ndims > DIMS) err = NC_ENOMEM;
    if (err == NC_NOERR)
        err = ncmpi_inq_var(ncid, varid, name, &type, &ndims, dimids, &natts);
    if (err == NC_NOERR) err = add(t, name, strlen(name) + 1);
    if (err == NC_NOERR) err = add_number(t, type);
    for (int i = 0; i < ndims && err == NC_NOERR; i++) {
        err = add_number(t, dimids[i]);
        if (err == NC_NOERR) err = ncmpi_inq_dimlen(ncid, dimids[i], &length);
        if (err == NC_NOERR && length > MOST / n) err = NC_ENOMEM;
        if (err == NC_NOERR) n *= length;
    }
    for (int i = 0; i < natts && err == NC_NOERR; i++)
        err = read_att(ncid, varid, i, t);
    if (err == NC_NOERR && n > MOST / 8) err = NC_ENOMEM;
    if (err != NC_NOERR) return err;
    memset(values, 0x5a, (size_t)n * 8);
    err = ncmpi_get_var_all(ncid, varid, values, -1, MPI_DATATYPE_NULL);
    return err == NC_NOERR ? add(t, values, (size_t)n * 8) : err;
}

static int read_all(MPI_Comm comm, const char *path, struct text *t)
{
    int ncid, ndims, nvars, natts, limitless;
    char name[NC_MAX_NAME + 1];
    MPI_Offset length;
    t->n = 0;
    int err = ncmpi_open(comm, path, NC_NOWRITE, MPI_INFO_NULL, &ncid);
    if (err != NC_NOERR) return err;
    err = ncmpi_inq(ncid, &ndims, &nvars, &natts, &limitless);
    if (err == NC_NOERR) err = add_number(t, limitless);
    for (int i = 0; i < ndims && err == NC_NOERR; i++) {
        err = ncmpi_inq_dim(ncid, i, name, &length);
        if (err == NC_NOERR) err = add(t, name, strlen(name) + 1);
        if (err == NC_NOERR) err = add_number(t, length);
    }
    for (int i = 0; i < natts && err == NC_NOERR; i++)
        err = read_att(ncid, NC_GLOBAL, i, t);
    for (int i = 0; i < nvars && err == NC_NOERR; i++)
        err = read_var(ncid, i, t);
    int closed = ncmpi_close(ncid);
    return err != NC_NOERR ? err : closed;
}

/* ---- choosing the flips ---- */

struct flip {
    int file;
    int64_t at;
};

struct flips {
    struct flip *list;
    int64_t n, room;
};

static void add_range(struct flips *f, int file, int64_t low, int64_t high)
{
    if (f->n + high - low > f->room) {
        f->room = 2 * (f->n + high - low);
        f->list = realloc(f->list, (size_t)f->room * sizeof *f->list);
    }
    for (int64_t at = low; at < high; at++)
        f->list[f->n++] = (struct flip){file, at};
}

/* Adds all bytes of a subfile's variable, unless it contains uncompressed values of
 * blobs. */
static void add_var(struct flips *f, int file, int ncid, int varid)
{
    nc_type type;
    int ndims, dimids[DIMS], limitless;
    MPI_Offset at, size, length, records = 1, n = 1;
    CHECK_NC(NC_NOERR, ncmpi_inq_unlimdim(ncid, &limitless));
    CHECK_NC(NC_NOERR, ncmpi_inq_var(ncid, varid, NULL, &type, &ndims, dimids, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, varid, &at));
    CHECK_NC(NC_NOERR, ncmpi_inq_recsize(ncid, &size));
    bool values =
        ncmpi_inq_att(ncid, varid, SUBFILE_ATT_DECOMPOSITION, NULL, NULL) == NC_NOERR &&
        ncmpi_inq_att(ncid, varid, SUBFILE_ATT_TYPE, NULL, NULL) != NC_NOERR;
    if (values) return;
    for (int i = 0; i < ndims; i++) {
        CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, dimids[i], &length));
        *(dimids[i] == limitless ? &records : &n) *= length;
    }
    int bytes = type == NC_BYTE ? 1 : type == NC_INT ? 4 : 8;
    for (MPI_Offset i = 0; i < records; i++)
        add_range(f, file, at + i * size, at + i * size + n * bytes);
}

/* Lists all bytes in the files of f.nc whose bits are to be flipped. */
static struct flips find_flips(void)
{
    struct flips f = {.n = 0};
    for (int file = 0; file < FILES; file++) {
        char name[NAME];
        int ncid, nvars;
        MPI_Offset head;
        snprintf(name, sizeof name, "%s%s", check_path("f.nc"), suffixes[file]);
        if (!CHECK_NC(NC_NOERR,
                      ncmpi_open(MPI_COMM_SELF, name, NC_NOWRITE, MPI_INFO_NULL, &ncid)))
            continue;
        CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &head));
        CHECK_NC(NC_NOERR, ncmpi_inq_nvars(ncid, &nvars));
        add_range(&f, file, 0, head + (file == 0 ? CDF_SUPERBLOCK : 0));
        for (int i = 0; i < nvars && file > 0; i++)
            add_var(&f, file, ncid, i);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
    return f;
}

/* ---- results of a flip ---- */

struct scene {
    char path[NAME]; /* path of the master file */
    int fds[FILES];
    struct text all, now;     /* everything read before and after a flip */
    struct text file, joined; /* bytes of the joined file before and after a flip */
    int64_t good, bad;        /* numbers of harmless flips and of detected ones */
    int64_t silent[2];        /* numbers of wrong results: from the library, from tools */
};

static void complain(struct scene *s, const struct flip *f, int pattern, const char *who,
                     int64_t *count)
{
    enum { SHOWN = 12 };
    if ((*count)++ < SHOWN)
        printf("# %s%s byte %lld ^ %02x: %s\n", s->path + strlen(s->path) - 4,
               suffixes[f->file], (long long)f->at, (unsigned)pattern, who);
}

static bool same(const struct text *a, const struct text *b)
{
    return a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

static char reported[4096]; /* last error that a tool reported */

static void note(void *to, const char *path, const char *reason)
{
    (void)to;
    snprintf(reported, sizeof reported, "%s: %s", path == NULL ? "" : path, reason);
}

/* Reads the dataset as ncvalidator and `ncmpijoin --check` do. Returns 0 or -1. */
static int read_by_tools(const char *path, struct text *t)
{
    struct util_classic c;
    struct util_blob_sums sums = {0, 0, 0};
    struct util_progress progress = {0};
    t->n = 0;
    if (util_classic_open(&c, "test", path) != 0) return -1;
    int status = c.blob == NULL ? -1 : util_blob_check(&c, note, NULL);
    if (status == 0)
        status = util_blob_check_sums(&c, 0, 1, note, NULL, &progress, &sums);
    int64_t got = status == 0 ? util_classic_read(&c, 0, t->bytes, MOST) : -1;
    if (got >= 0) t->n = (size_t)got;
    util_classic_close(&c);
    return got < 0 ? -1 : 0;
}

static void change_byte(const struct scene *s, const struct flip *f, int pattern)
{
    unsigned char byte;
    CHECK_EQ(1, pread(s->fds[f->file], &byte, 1, f->at));
    byte ^= (unsigned char)pattern;
    CHECK_EQ(1, pwrite(s->fds[f->file], &byte, 1, f->at));
}

static void try_flip(struct scene *s, const struct flip *f, int pattern)
{
    change_byte(s, f, pattern);
    int err = read_all(MPI_COMM_SELF, s->path, &s->now);
    if (err == NC_NOERR && !same(&s->all, &s->now))
        complain(s, f, pattern, "the library reads something else", &s->silent[0]);
    else if (err != NC_NOERR && err != NC_ENOMEM &&
             strstr(base_error_detail(err), s->path) == NULL)
        complain(s, f, pattern, base_error_detail(err), &s->silent[0]);
    *(err == NC_NOERR ? &s->good : &s->bad) += 1;
    int status = read_by_tools(s->path, &s->joined);
    if (status == 0 && !same(&s->file, &s->joined))
        complain(s, f, pattern, "the tools read something else", &s->silent[1]);
    if (status == 0 && err != NC_NOERR)
        complain(s, f, pattern, "the tools find nothing", &s->silent[1]);
    change_byte(s, f, pattern);
}

static void copy_files(struct scene *s)
{
    char to[2 * NAME];
    snprintf(to, sizeof to, "r%d.nc", check.rank);
    snprintf(s->path, sizeof s->path, "%s", check_path(to));
    for (int i = 0; i < FILES; i++) {
        char from[2 * NAME];
        size_t n = 0;
        snprintf(from, sizeof from, "%s%s", check_path("f.nc"), suffixes[i]);
        snprintf(to, sizeof to, "%s%s", s->path, suffixes[i]);
        unsigned char *bytes = check_read_file(from, &n);
        CHECK(bytes != NULL && check_write_file(to, bytes, n));
        free(bytes);
        s->fds[i] = open(to, O_RDWR);
        CHECK(s->fds[i] >= 0);
    }
}

static void reserve(struct scene *s)
{
    struct text *texts[] = {&s->all, &s->now, &s->file, &s->joined};
    for (int i = 0; i < 4; i++)
        texts[i]->bytes = malloc(MOST);
}

static void release(struct scene *s)
{
    struct text *texts[] = {&s->all, &s->now, &s->file, &s->joined};
    for (int i = 0; i < 4; i++)
        free(texts[i]->bytes);
    for (int i = 0; i < FILES; i++)
        (void)close(s->fds[i]);
}

static int64_t step(bool *all)
{
    const char *wanted = getenv("BLOB_FLIPS");
    *all = wanted != NULL && strcmp(wanted, "all") == 0;
    int64_t n = wanted == NULL || *all ? 0 : strtoll(wanted, NULL, 10);
    return n > 0 ? n : *all ? 1 : 11;
}

/* Each process flips bits in its own copy of the files. */
static void flip_alone(const struct flips *f)
{
    struct scene s = {.good = 0};
    bool all;
    int64_t every = step(&all);
    copy_files(&s);
    reserve(&s);
    util_mute(true);
    CHECK_NC(NC_NOERR, read_all(MPI_COMM_SELF, s.path, &s.all));
    CHECK_EQ(0, read_by_tools(s.path, &s.file));
    for (int64_t i = check.rank * every; i < f->n; i += every * check.nprocs) {
        if (!all) try_flip(&s, &f->list[i], 1 << (i / every / check.nprocs % 8));
        for (int bit = 0; bit < 8 && all; bit++)
            try_flip(&s, &f->list[i], 1 << bit);
        if (all) try_flip(&s, &f->list[i], 0xff);
    }
    util_mute(false);
    if (check.rank == 0)
        printf("# of %lld: %lld read as before, %lld are errors\n",
               (long long)(s.good + s.bad), (long long)s.good, (long long)s.bad);
    CHECK_EQ(0, s.silent[0]);
    CHECK_EQ(0, s.silent[1]);
    CHECK(s.bad > s.good / 8);
    release(&s);
}

/* Flips bits on process 0, and reads the dataset on both processes. Since these processes
 * also created it, each of them uses its own map. */
static void flip_together(const struct flips *f)
{
    struct scene s = {.good = 0};
    bool all;
    int64_t every = 3 * step(&all), first = 0;
    struct text *now = &s.now;
    copy_files(&s);
    reserve(&s);
    char path[NAME];
    snprintf(path, sizeof path, "%s", s.path);
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR, read_all(MPI_COMM_WORLD, path, &s.all));
    while (first < f->n && f->list[first].file == 0)
        first++;
    for (int64_t i = first; i < f->n; i += every) {
        int pattern = 1 << (i / every % 8);
        if (check.rank == 0) change_byte(&s, &f->list[i], pattern);
        MPI_Barrier(MPI_COMM_WORLD);
        int err = read_all(MPI_COMM_WORLD, path, now);
        if (err == NC_NOERR && !same(&s.all, now))
            complain(&s, &f->list[i], pattern, "both read something else", &s.silent[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == 0) change_byte(&s, &f->list[i], pattern);
    }
    CHECK_EQ(0, s.silent[0]);
    release(&s);
}

static void flip(const char *hints)
{
    make(hints);
    make_more();
    MPI_Barrier(MPI_COMM_WORLD);
    struct flips f = find_flips();
    flip_alone(&f);
    flip_together(&f);
    free(f.list);
}

static void values_in_blobs(void)
{
    flip("nc_blob=enable;nc_num_subfiles=2");
}

static void values_in_frames(void)
{
    if (!base_can_sum() || !base_has_codec(BASE_CODEC_ZSTD))
        check_skip("no zstd, or no checksums");
    else
        flip("nc_blob=enable;nc_num_subfiles=2;nc_compress=zstd");
}

static const struct check_test tests[] = {
    {"no flipped bit changes values in blobs", values_in_blobs, 0},
    {"no flipped bit changes values in frames", values_in_frames, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "2");
}
