/* Compares quantized values and their attributes, bit by bit, with those that netCDF-C
 * writes to netCDF-4 files. NCMPI_TEST_QUANTIZED=N tests N values for each number of
 * digits (default: 20000). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_dataset.h"

#include <netcdf.h>

static size_t values_tried(void)
{
    const char *text = getenv("NCMPI_TEST_QUANTIZED");
    return text == NULL ? 20000 : strtoul(text, NULL, 0);
}

/* A quantized variable v(x) in two files: one written by this library, one by
 * netCDF-C. */
struct pair {
    nc_type type;
    int mode, digits;
    size_t n, size; /* length of v; element size in bytes */
    const void *fill;
    int ours, our_var, theirs, their_var;
};

/* Returns the path of a file private to this process. */
static const char *own_path(const char *name)
{
    char own[20];
    snprintf(own, sizeof own, "%s-%d.nc", name, check.rank);
    return check_path(own);
}

/* Returns false if the installed netCDF-C does not support netCDF-4 files or this number
 * of digits. */
static bool define_theirs(struct pair *p)
{
    int dim;
    if (nc_create(own_path("theirs"), NC_NETCDF4 | NC_CLOBBER, &p->theirs) != NC_NOERR)
        return false;
    CHECK_EQ(NC_NOERR, nc_def_dim(p->theirs, "x", p->n, &dim));
    CHECK_EQ(NC_NOERR, nc_def_var(p->theirs, "v", p->type, 1, &dim, &p->their_var));
    if (p->fill != NULL)
        CHECK_EQ(NC_NOERR, nc_def_var_fill(p->theirs, p->their_var, 0, p->fill));
    int err = nc_def_var_quantize(p->theirs, p->their_var, p->mode, p->digits);
    if (err == NC_NOERR) CHECK_EQ(NC_NOERR, nc_enddef(p->theirs));
    if (err != NC_NOERR) CHECK_EQ(NC_NOERR, nc_close(p->theirs));
    return err == NC_NOERR;
}

static void define_ours(struct pair *p)
{
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_SELF, own_path("ours"),
                                    NC_CLOBBER | check.cmode, MPI_INFO_NULL, &p->ours));
    int dim = new_dim(p->ours, "x", (MPI_Offset)p->n);
    p->our_var = new_var(p->ours, "v", p->type, 1, &dim);
    CHECK_NC(NC_NOERR, ncmpix_def_var_quantize(p->ours, p->our_var, p->mode, p->digits));
    if (p->fill != NULL)
        CHECK_NC(NC_NOERR, ncmpi_def_var_fill(p->ours, p->our_var, 0, p->fill));
    CHECK_NC(NC_NOERR, ncmpi_enddef(p->ours));
}

static bool begin_pair(struct pair *p)
{
    p->size = p->type == NC_FLOAT ? sizeof(float) : sizeof(double);
    if (!define_theirs(p)) return false;
    define_ours(p);
    return true;
}

static void end_pair(struct pair *p)
{
    CHECK_EQ(NC_NOERR, nc_close(p->theirs));
    close_dataset(p->ours);
}

/* Compares the attributes that describe the quantization. Ignores all others, because
 * netCDF-4 files have additional attributes. */
static void compare_attributes(const struct pair *p)
{
    char name[NC_MAX_NAME + 1];
    int value = -1;
    bool noted = false;
    for (int i = 0; nc_inq_attname(p->theirs, p->their_var, i, name) == NC_NOERR; i++) {
        if (strncmp(name, "_Quantize", 9) != 0) continue;
        noted = true;
        CHECK_NC(NC_NOERR, ncmpi_get_att_int(p->ours, p->our_var, name, &value));
        CHECK_EQ(p->digits, value);
        CHECK_EQ(NC_NOERR, nc_get_att_int(p->theirs, p->their_var, name, &value));
        CHECK_EQ(p->digits, value);
    }
    CHECK(noted);
}

/* ---- values ---- */

static double some_value(size_t i)
{
    int e = (int)check_random(100) - 50;
    switch (i % 5) {
    case 0:
        return pow(10, e % 30);
    case 1:
        return ldexp(1, e);
    case 2:
        return (double)check_random(4096) / 2;
    case 3:
        return (double)check_random(2000000) / 1000 - 1000;
    default:
        return -ldexp((double)check_random(INT64_MAX), e - 60);
    }
}

/* Generates the values to quantize. Half of them have random bits; the others are close
 * to a value at which the number of digits or bits changes. */
static void make_values(const struct pair *p, char *values)
{
    for (size_t i = 0; i < p->n; i++) {
        uint64_t bits = check_random(INT64_MAX) << 1 | check_random(2);
        double d = some_value(i);
        float f = (float)d;
        uint32_t narrow;
        memcpy(&narrow, &f, sizeof narrow);
        narrow += (uint32_t)(i % 7 == 0 ? check_random(5) - 2 : 0);
        if (i % 2) {
            memcpy(&bits, &d, sizeof bits);
            bits += i % 7 == 0 ? check_random(5) - 2 : 0;
        } else {
            narrow = (uint32_t)bits;
        }
        if (p->type == NC_FLOAT)
            memcpy(values + i * p->size, &narrow, p->size);
        else
            memcpy(values + i * p->size, &bits, p->size);
        if (p->fill != NULL && i % 11 == 0)
            memcpy(values + i * p->size, p->fill, p->size);
    }
}

static double value_at(const struct pair *p, const char *values, size_t i)
{
    float f;
    double d;
    memcpy(&d, values + i * p->size, p->size);
    memcpy(&f, values + i * p->size, sizeof f);
    return p->type == NC_FLOAT ? (double)f : d;
}

/* Returns whether netCDF-C 4.9.0 corrupts this value. That version corrupts values that
 * cannot be quantized, and floats with seven digits. This library must leave them
 * unchanged. */
static bool is_beyond(const struct pair *p, double value)
{
    bool all = p->type == NC_FLOAT && p->digits == 7 && p->mode != NC_QUANTIZE_BITROUND;
    return value == 0 || !isfinite(value) || all;
}

/* Counts for the current mode and type: values compared, and values that netCDF-C
 * corrupts but this library rightly left unchanged. */
static int64_t tried, left_alone;

static void compare_values(const struct pair *p, const char *values, const char *ours,
                           const char *theirs)
{
    int64_t wrong = 0;
    for (size_t i = 0; i < p->n; i++) {
        size_t at = i * p->size;
        if (memcmp(ours + at, theirs + at, p->size) == 0) continue;
        bool kept = memcmp(ours + at, values + at, p->size) == 0;
        if (kept && is_beyond(p, value_at(p, values, i)))
            left_alone++;
        else
            wrong++;
    }
    tried += (int64_t)p->n;
    if (!CHECK_EQ(0, wrong))
        printf("# type %d, mode %d, %d digits\n", p->type, p->mode, p->digits);
}

static void try_digits(nc_type type, int mode, int digits)
{
    static const float fill_float = 1.2345678f;
    static const double fill_double = 1.2345678901234567;
    struct pair p = {.type = type, .mode = mode, .digits = digits, .n = values_tried()};
    if (digits % 2) p.fill = type == NC_FLOAT ? (const void *)&fill_float : &fill_double;
    if (!begin_pair(&p)) return;
    char *values = malloc(p.n * p.size), *ours = malloc(p.n * p.size),
         *theirs = malloc(p.n * p.size);
    make_values(&p, values);
    CHECK_EQ(NC_NOERR, nc_put_var(p.theirs, p.their_var, values));
    CHECK_EQ(NC_NOERR, nc_get_var(p.theirs, p.their_var, theirs));
    MPI_Datatype mpi_type = type == NC_FLOAT ? MPI_FLOAT : MPI_DOUBLE;
    CHECK_NC(NC_NOERR,
             ncmpi_put_var_all(p.ours, p.our_var, values, (MPI_Offset)p.n, mpi_type));
    CHECK_NC(NC_NOERR,
             ncmpi_get_var_all(p.ours, p.our_var, ours, (MPI_Offset)p.n, mpi_type));
    compare_values(&p, values, ours, theirs);
    compare_attributes(&p);
    end_pair(&p);
    free(values);
    free(ours);
    free(theirs);
}

static void try_type(nc_type type, int mode, int most)
{
    tried = left_alone = 0;
    for (int digits = 1; digits <= most; digits++)
        try_digits(type, mode, digits);
    if (check.rank == 0)
        printf("# %s: %lld values, %lld that netCDF-C damages are left alone\n",
               type == NC_FLOAT ? "float" : "double", (long long)tried,
               (long long)left_alone);
}

static void try_mode(int mode, int most_of_float, int most_of_double)
{
    try_type(NC_FLOAT, mode, most_of_float);
    try_type(NC_DOUBLE, mode, most_of_double);
}

static void bitgroom(void)
{
    try_mode(NC_QUANTIZE_BITGROOM, 7, 15);
}

static void granularbr(void)
{
    try_mode(NC_QUANTIZE_GRANULARBR, 7, 15);
}

static void bitround(void)
{
    try_mode(NC_QUANTIZE_BITROUND, 23, 52);
}

/* ---- identical calls ---- */

/* Tests other types in memory, partial and strided puts, and a reopened file. */
static void the_same_calls_make_the_values_of_netCDF_C(void)
{
    enum { X = 20 };
    int ints[X];
    double doubles[X];
    float ours[X], theirs[X];
    struct pair p = {.type = NC_FLOAT, .mode = NC_QUANTIZE_BITGROOM, .digits = 3, .n = X};
    size_t start = 3, count = 5;
    ptrdiff_t stride = 3;
    const MPI_Offset our_start = 3, our_count = 5, our_stride = 3;
    if (!begin_pair(&p)) return;
    for (int i = 0; i < X; i++)
        ints[i] = (int)check_random(1 << 30), doubles[i] = some_value((size_t)i) / 3;
    for (int again = 0; again < 2; again++) {
        CHECK_EQ(NC_NOERR, nc_put_var_int(p.theirs, p.their_var, ints));
        CHECK_EQ(NC_NOERR,
                 nc_put_vara_double(p.theirs, p.their_var, &start, &count, doubles));
        CHECK_EQ(NC_NOERR, nc_put_vars_double(p.theirs, p.their_var, &start, &count,
                                              &stride, doubles + again));
        CHECK_EQ(NC_NOERR, nc_get_var_float(p.theirs, p.their_var, theirs));
        CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(p.ours, p.our_var, ints));
        CHECK_NC(NC_NOERR, ncmpi_put_vara_double_all(p.ours, p.our_var, &our_start,
                                                     &our_count, doubles));
        CHECK_NC(NC_NOERR,
                 ncmpi_put_vars_double_all(p.ours, p.our_var, &our_start, &our_count,
                                           &our_stride, doubles + again));
        CHECK_NC(NC_NOERR, ncmpi_get_var_float_all(p.ours, p.our_var, ours));
        CHECK_BYTES(theirs, ours, sizeof ours);
        end_pair(&p);
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_SELF, own_path("ours"), NC_WRITE,
                                      MPI_INFO_NULL, &p.ours));
        CHECK_EQ(NC_NOERR, nc_open(own_path("theirs"), NC_WRITE, &p.theirs));
    }
    end_pair(&p);
}

static const struct check_test tests[] = {
    {"BitGroom", bitgroom, 0},
    {"Granular BitRound", granularbr, 0},
    {"BitRound", bitround, 0},
    {"the same calls make the values of netCDF-C",
     the_same_calls_make_the_values_of_netCDF_C, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1");
}
