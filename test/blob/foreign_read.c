/* Tests datasets that other libraries wrote into subfiles. Each must read as a single
 * dataset, with any number of processes and every kind of access, and errors in the
 * subfiles must be reported. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../api/made_dataset.h"
#include "foreign_make.h"

enum { MOST = 4096, SLABS = 12 };

static const char *const layouts[] = {"e3sm", "master", "pnetcdf"};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static void make(const char *layout, const char *name, int subfiles, const char *wrong)
{
    int bad =
        check.rank == 0 ? foreign_make(layout, check_path(name), subfiles, wrong) : 0;
    CHECK(bad == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int open_to_read(const char *name)
{
    int ncid = -1;
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path(name), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    return ncid;
}

/* ---- comparing the definitions ---- */

static void same_atts(int a, int b, int varid)
{
    int na = -1, nb = -2;
    char name[NC_MAX_NAME + 1], words[64] = "", others[64] = "";
    CHECK_NC(NC_NOERR, ncmpi_inq_varnatts(a, varid, &na));
    CHECK_NC(NC_NOERR, ncmpi_inq_varnatts(b, varid, &nb));
    CHECK_EQ(na, nb);
    for (int i = 0; i < na && na == nb; i++) {
        CHECK_NC(NC_NOERR, ncmpi_inq_attname(a, varid, i, name));
        CHECK_NC(NC_NOERR, ncmpi_get_att_text(a, varid, name, words));
        CHECK_NC(NC_NOERR, ncmpi_get_att_text(b, varid, name, others));
        CHECK_STR(words, others);
    }
}

static void same_dims(int a, int b, int n)
{
    for (int i = 0; i < n; i++) {
        char name[NC_MAX_NAME + 1], other[NC_MAX_NAME + 1];
        MPI_Offset length = -1, its = -2;
        CHECK_NC(NC_NOERR, ncmpi_inq_dim(a, i, name, &length));
        CHECK_NC(NC_NOERR, ncmpi_inq_dim(b, i, other, &its));
        CHECK_STR(name, other);
        CHECK_EQ(length, its);
    }
}

static int same_definitions(int a, int b)
{
    int ndims[2] = {0, 0}, nvars[2] = {0, 0}, natts[2], unlimited[2];
    CHECK_NC(NC_NOERR, ncmpi_inq(a, &ndims[0], &nvars[0], &natts[0], &unlimited[0]));
    CHECK_NC(NC_NOERR, ncmpi_inq(b, &ndims[1], &nvars[1], &natts[1], &unlimited[1]));
    CHECK_EQ(natts[0], natts[1]);
    CHECK_EQ(unlimited[0], unlimited[1]);
    if (!CHECK_EQ(ndims[0], ndims[1]) || !CHECK_EQ(nvars[0], nvars[1])) return 0;
    same_dims(a, b, ndims[0]);
    for (int id = 0; id < nvars[0]; id++) {
        char name[NC_MAX_NAME + 1], other[NC_MAX_NAME + 1];
        int n[2] = {0, 0}, dims[2][8];
        nc_type type[2] = {NC_NAT, NC_NAT};
        CHECK_NC(NC_NOERR, ncmpi_inq_var(a, id, name, &type[0], &n[0], dims[0], NULL));
        CHECK_NC(NC_NOERR, ncmpi_inq_var(b, id, other, &type[1], &n[1], dims[1], NULL));
        CHECK_STR(name, other);
        CHECK_EQ(type[0], type[1]);
        if (CHECK_EQ(n[0], n[1]))
            CHECK_BYTES(dims[0], dims[1], (size_t)n[0] * sizeof **dims);
        same_atts(a, b, id);
    }
    return nvars[0];
}

/* ---- comparing the values ---- */

struct slab {
    MPI_Offset start[3], count[3], stride[3], imap[3], n;
};

/* Returns a random slab, different on each process, sometimes with 0 elements. */
static struct slab random_slab(int ncid, int varid)
{
    struct slab s = {.n = 1};
    int ndims = 0, dims[8];
    CHECK_NC(NC_NOERR, ncmpi_inq_varndims(ncid, varid, &ndims));
    CHECK_NC(NC_NOERR, ncmpi_inq_vardimid(ncid, varid, dims));
    for (int i = 0; i < ndims; i++) {
        MPI_Offset length = 0;
        CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, dims[i], &length));
        s.stride[i] = 1 + (MPI_Offset)check_random_own(4);
        s.start[i] = (MPI_Offset)check_random_own((uint64_t)length);
        MPI_Offset most = (length - 1 - s.start[i]) / s.stride[i] + 1;
        s.count[i] = (MPI_Offset)check_random_own((uint64_t)most + 1);
    }
    s.imap[0] = 1; /* the first dimension varies fastest */
    for (int i = 1; i < ndims; i++)
        s.imap[i] = s.imap[i - 1] * s.count[i - 1];
    for (int i = 0; i < ndims; i++)
        s.n *= s.count[i];
    return s;
}

enum { VARA, VARS, VARM, VARN, ALONE, IGET, WAYS };

static void get(int ncid, int id, int way, const struct slab *s, double *to)
{
    MPI_Offset *starts[] = {(MPI_Offset *)s->start}, *counts[] = {(MPI_Offset *)s->count};
    int request = NC_REQ_NULL, status = NC_NOERR;
    switch (way) {
    case VARA:
        CHECK_NC(NC_NOERR, ncmpi_get_vara_double_all(ncid, id, s->start, s->count, to));
        return;
    case VARS:
        CHECK_NC(NC_NOERR,
                 ncmpi_get_vars_double_all(ncid, id, s->start, s->count, s->stride, to));
        return;
    case VARM:
        CHECK_NC(NC_NOERR, ncmpi_get_varm_double_all(ncid, id, s->start, s->count,
                                                     s->stride, s->imap, to));
        return;
    case VARN:
        CHECK_NC(NC_NOERR, ncmpi_get_varn_double_all(ncid, id, 1, starts, counts, to));
        return;
    case ALONE:
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        CHECK_NC(NC_NOERR,
                 ncmpi_get_vars_double(ncid, id, s->start, s->count, s->stride, to));
        CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
        return;
    default:
        CHECK_NC(NC_NOERR, ncmpi_iget_vars_double(ncid, id, s->start, s->count, s->stride,
                                                  to, &request));
        CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, 1, &request, &status));
        CHECK_NC(NC_NOERR, status);
    }
}

static void same_text(int a, int b, int id)
{
    char text[MOST] = {0}, other[MOST] = {1};
    MPI_Offset n = 0;
    int dim;
    CHECK_NC(NC_NOERR, ncmpi_inq_vardimid(a, id, &dim));
    CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(a, dim, &n));
    CHECK_NC(NC_NOERR, ncmpi_get_var_text_all(a, id, text));
    CHECK_NC(NC_NOERR, ncmpi_get_var_text_all(b, id, other));
    CHECK_BYTES(text, other, (size_t)n);
}

static void same_values(int a, int b, int nvars)
{
    static double mine[MOST], theirs[MOST];
    for (int id = 0; id < nvars; id++) {
        nc_type type = NC_NAT;
        CHECK_NC(NC_NOERR, ncmpi_inq_vartype(a, id, &type));
        if (type == NC_CHAR) {
            same_text(a, b, id);
            continue;
        }
        for (int i = 0; i < SLABS; i++) {
            struct slab s = random_slab(a, id);
            get(a, id, i % WAYS, &s, mine);
            get(b, id, i % WAYS, &s, theirs);
            if (!CHECK_BYTES(mine, theirs, (size_t)s.n * sizeof *mine)) return;
        }
    }
}

static void read_all_layouts(const char *which, int most)
{
    make("whole", "w.nc", 1, which);
    for (int i = 0; i < LAYOUTS; i++)
        for (int n = 1; n <= most; n += 1 + n / 2) {
            char name[32];
            snprintf(name, sizeof name, "%s%d.nc", layouts[i], n);
            make(layouts[i], name, n, which);
            int w = open_to_read("w.nc"), f = open_to_read(name);
            same_values(w, f, same_definitions(w, f));
            CHECK_NC(NC_NOERR, ncmpi_close(f));
            CHECK_NC(NC_NOERR, ncmpi_close(w));
        }
}

static void any_access_reads_all_values(void)
{
    read_all_layouts("", 6);
}

/* Elements that are in no map must have the same value as unwritten elements of an
 * ordinary file. */
static void elements_outside_of_all_maps_are_zero(void)
{
    read_all_layouts("land", 3);
}

static void the_path_is_returned_as_it_was_given(void)
{
    char path[4096] = "";
    int length = 0;
    make("e3sm", "p.nc", 2, "");
    int ncid = open_to_read("p.nc");
    CHECK_NC(NC_NOERR, ncmpi_inq_path(ncid, &length, path));
    CHECK_STR(check_path("p.nc"), path);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* ---- errors ---- */

static void writing_is_refused(void)
{
    for (int i = 0; i < LAYOUTS; i++) {
        int ncid;
        make(layouts[i], "r.nc", 2, "");
        CHECK_NC(NC_ENOTSUPPORT, ncmpi_open(MPI_COMM_WORLD, check_path("r.nc"), NC_WRITE,
                                            MPI_INFO_NULL, &ncid));
    }
}

/* Opens the dataset and reads all of one variable. Returns the first error. */
static int read_all(const char *name, const char *variable)
{
    static double values[MOST];
    int ncid, id;
    int err =
        ncmpi_open(MPI_COMM_WORLD, check_path(name), NC_NOWRITE, MPI_INFO_NULL, &ncid);
    if (err != NC_NOERR) return err;
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, variable, &id));
    err = ncmpi_get_var_double_all(ncid, id, values);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    return err;
}

static void bad_maps_are_reported(void)
{
    static const struct {
        const char *layout, *wrong, *variable;
    } cases[] = {
        {"e3sm", "overlap", "area"},   {"e3sm", "hole", "area"},
        {"e3sm", "outside", "area"},   {"e3sm", "negative", "area"},
        {"e3sm", "run", "area"},       {"e3sm", "records", "T"},
        {"e3sm", "lost", "area"},      {"master", "lost", "other"},
        {"master", "overlap", "area"}, {"master", "hole", "area"},
        {"master", "run", "area"},     {"pnetcdf", "overlap", "area"},
        {"pnetcdf", "hole", "area"},   {"pnetcdf", "outside", "area"},
        {"pnetcdf", "records", "T"},   {"pnetcdf", "second", "T"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(cases[i].layout, "x.nc", 3, cases[i].wrong);
        if (!CHECK_NC(NC_ENOTNC, read_all("x.nc", cases[i].variable)))
            printf("# %s %s\n", cases[i].layout, cases[i].wrong);
    }
}

static const char *const seconds[] = {".0001", ".0001", ".subfile_1.nc"};

static void a_missing_subfile_is_an_error(void)
{
    for (int i = 0; i < LAYOUTS; i++) {
        char name[32];
        snprintf(name, sizeof name, "m.nc%s", seconds[i]);
        make(layouts[i], "m.nc", 3, "");
        if (check.rank == 0) CHECK_EQ(0, unlink(check_path(name)));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_NC(NC_ENOENT, read_all("m.nc", "area"));
    }
}

/* Truncates a subfile. An error must be returned when its values are read, if not
 * earlier. */
static void a_truncated_subfile_is_an_error(void)
{
    for (int i = 0; i < LAYOUTS; i++) {
        char name[32];
        size_t size = 0;
        snprintf(name, sizeof name, "c.nc%s", seconds[i]);
        make(layouts[i], "c.nc", 2, "");
        if (check.rank == 0) {
            free(check_read_file(check_path(name), &size));
            CHECK_EQ(0, truncate(check_path(name), (off_t)(size / 3)));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(read_all("c.nc", "other") != NC_NOERR);
        CHECK(read_all("c.nc", "T") != NC_NOERR);
    }
}

/* ---- removing a dataset ---- */

/* Returns the name of subfile `number`, which need not exist. */
static const char *part_of(int layout, const char *name, int number)
{
    static char path[4200];
    static const char *const forms[] = {"%s.%04d", "%s.%04d", "%s.subfile_%d.nc"};
    snprintf(path, sizeof path, forms[layout], name, number);
    return path;
}

static bool is_there(const char *name)
{
    return access(check_path(name), F_OK) == 0;
}

static void delete (const char *name, int expected)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0)
        CHECK_NC(expected, ncmpi_delete(check_path(name), MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void deleting_a_dataset_deletes_its_subfiles(void)
{
    for (int i = 0; i < LAYOUTS; i++) {
        make(layouts[i], "d.nc", 3, "");
        make("whole", part_of(i, "d.nc", 3), 1, "");
        delete ("d.nc", NC_NOERR);
        CHECK(!is_there("d.nc"));
        for (int s = 0; s < 3; s++)
            CHECK(!is_there(part_of(i, "d.nc", s)));
        CHECK(is_there(part_of(i, "d.nc", 3)));
        delete ("d.nc", NC_ENOENT);
    }
}

static void write_words(const char *name)
{
    FILE *f = check.rank == 0 ? fopen(check_path(name), "w") : NULL;
    if (f == NULL) return;
    CHECK(fputs("words", f) >= 0 && fclose(f) == 0);
}

/* Deleting a dataset must not remove other files that have the name of one of its
 * subfiles: another dataset, a text file, or a subfile of another dataset. */
static void files_that_are_not_its_subfiles_are_kept(void)
{
    for (int i = 0; i < LAYOUTS; i++) {
        char first[4200], last[4200];
        make(layouts[i], "k.nc", 6, "");
        make("whole", part_of(i, "k.nc", 1), 1, "");
        write_words(part_of(i, "k.nc", 2));
        make(layouts[i], "other.nc", 5, "");
        snprintf(first, sizeof first, "%s", part_of(i, "k.nc", 4));
        snprintf(last, sizeof last, "%s", check_path(part_of(i, "other.nc", 3)));
        if (check.rank == 0) CHECK_EQ(0, rename(last, check_path(first)));
        delete ("k.nc", NC_NOERR);
        CHECK(!is_there("k.nc"));
        for (int s = 0; s < 6; s++)
            CHECK_EQ(s == 1 || s == 2 || s == 4, is_there(part_of(i, "k.nc", s)));
        MPI_Barrier(MPI_COMM_WORLD);
        for (int s = 1; s < 5; s++)
            if (check.rank == 0) (void)unlink(check_path(part_of(i, "k.nc", s)));
        delete ("other.nc", NC_NOERR);
    }
}

/* A create must remove PnetCDF's subfiles, but not E3SM's: E3SM creates its subfiles
 * again under the same names, possibly before the file that refers to them. */
static void a_create_removes_only_subfiles_that_PnetCDF_made(void)
{
    for (int i = 0; i < LAYOUTS; i++) {
        int ncid, nvars = -1;
        make(layouts[i], "a.nc", 2, "");
        CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), NC_CLOBBER,
                                        MPI_INFO_NULL, &ncid));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        for (int s = 0; s < 2; s++)
            CHECK_EQ(strcmp(layouts[i], "pnetcdf") != 0, is_there(part_of(i, "a.nc", s)));
        ncid = open_to_read("a.nc");
        CHECK_NC(NC_NOERR, ncmpi_inq_nvars(ncid, &nvars));
        CHECK_EQ(0, nvars);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        delete ("a.nc", NC_NOERR);
    }
}

static void subfiles_without_their_dataset_cannot_be_opened(void)
{
    int ncid;
    CHECK_NC(NC_ENOENT, ncmpi_open(MPI_COMM_WORLD, check_path("no.nc"), NC_NOWRITE,
                                   MPI_INFO_NULL, &ncid));
    CHECK(strstr(ncmpi_strerror(NC_ENOENT), "0000") == NULL);
    make("whole", "no.nc.0000", 1, "");
    CHECK_NC(NC_ENOENT, ncmpi_open(MPI_COMM_WORLD, check_path("no.nc"), NC_NOWRITE,
                                   MPI_INFO_NULL, &ncid));
}

/* If a subfile is opened by its own name, it reads as an ordinary dataset. */
static void a_subfile_opened_by_its_own_name_is_a_dataset(void)
{
    int dim;
    make("e3sm", "s.nc", 2, "");
    int ncid = open_to_read("s.nc.0001");
    CHECK_NC(NC_NOERR, ncmpi_inq_dimid(ncid, "nblobs", &dim));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static const struct check_test tests[] = {
    {"any access reads all values", any_access_reads_all_values, 0},
    {"elements outside of all maps are zero", elements_outside_of_all_maps_are_zero, 0},
    {"the path is returned as it was given", the_path_is_returned_as_it_was_given, 0},
    {"writing is refused", writing_is_refused, 0},
    {"bad maps are reported", bad_maps_are_reported, 0},
    {"a missing subfile is an error", a_missing_subfile_is_an_error, 0},
    {"a truncated subfile is an error", a_truncated_subfile_is_an_error, 0},
    {"deleting a dataset deletes its subfiles", deleting_a_dataset_deletes_its_subfiles,
     0},
    {"files that are not its subfiles are kept", files_that_are_not_its_subfiles_are_kept,
     0},
    {"a create removes only subfiles that PnetCDF made",
     a_create_removes_only_subfiles_that_PnetCDF_made, 0},
    {"subfiles without their dataset cannot be opened",
     subfiles_without_their_dataset_cannot_be_opened, 0},
    {"a subfile opened by its own name is a dataset",
     a_subfile_opened_by_its_own_name_is_a_dataset, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 4");
}
