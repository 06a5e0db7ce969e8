/* Computes the mean of a field over time and the anomaly of each step, in parallel:
 *
 *     mpiexec -n 4 climate INPUT VARIABLE OUTPUT [MOST]
 *
 * The first dimension of VARIABLE is time (or depth), and its last two are latitude and
 * longitude. For dimensions in between, only the first index is used. Each process reads
 * a band of latitudes. At the end, each process reads a band of longitudes of the output
 * and compares it with the input. The program uses at most MOST values, in whole steps,
 * but at least one step. */
#include <math.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIME, LAT, LON, AXES };
enum { MAX_DIMS = 16 };

struct source {
    const char *path;
    int ncid, varid, ndims;
    int dimid[AXES];
    MPI_Offset length[AXES];
    char name[AXES][NC_MAX_NAME + 1];
    double scale, offset; /* scale and offset of packed values */
    double missing[2];    /* values that mark missing data; NaN if undefined */
};

/* A range of latitudes and longitudes. */
struct block {
    MPI_Offset y, x, ny, nx;
};

struct climate {
    struct block band;
    double *values; /* [time][ny][nx] of the band: first the input, then the anomalies */
    double *mean;   /* [ny][nx] */
    unsigned *counted;               /* [ny][nx]: number of steps with a value */
    double *world;                   /* [time]: mean over the whole area */
    double lowest, highest, average; /* minimum, maximum and average of the mean */
    double gaps;                     /* fraction of missing values */
};

struct output {
    int ncid, coordinate[AXES], mean, counted, anomaly, world;
};

struct pace {
    double seconds, mebibytes;
};

static int rank, nprocs;

/* Checks the result of a call on all processes. If the call failed on any process, one
 * failed process prints the error, and all processes exit. */
static void need(int status, const char *what, const char *which)
{
    struct {
        int status, rank;
    } mine = {status, rank}, worst;
    MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
    if (worst.status == NC_NOERR) return;
    if (rank == worst.rank)
        fprintf(stderr, "climate: %s %s: %s\n", what, which, ncmpi_strerror(status));
    MPI_Finalize();
    exit(EXIT_FAILURE);
}

static void *room(MPI_Offset count, size_t size)
{
    void *p = calloc((size_t)count + 1, size);
    need(p != NULL ? NC_NOERR : NC_ENOMEM, "finding memory for", "the data");
    return p;
}

static double total(double mine)
{
    double sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static double largest(double mine)
{
    double max;
    MPI_Allreduce(&mine, &max, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return max;
}

/* Computes this process's share of n items. */
static void share(MPI_Offset n, MPI_Offset *first, MPI_Offset *count)
{
    *first = n * rank / nprocs;
    *count = n * (rank + 1) / nprocs - *first;
}

/* Returns a numeric attribute of the variable, or a default value. */
static double number(const struct source *s, const char *name, double otherwise)
{
    MPI_Offset n;
    double value;
    nc_type type;
    if (ncmpi_inq_att(s->ncid, s->varid, name, &type, &n) != NC_NOERR) return otherwise;
    if (type == NC_CHAR || n != 1) return otherwise;
    return ncmpi_get_att_double(s->ncid, s->varid, name, &value) == NC_NOERR ? value
                                                                             : otherwise;
}

static void open_source(struct source *s, const char *path, const char *variable)
{
    int dims[MAX_DIMS];
    s->path = path;
    need(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &s->ncid), "opening",
         path);
    need(ncmpi_inq_varid(s->ncid, variable, &s->varid), "looking for", variable);
    need(ncmpi_inq_varndims(s->ncid, s->varid, &s->ndims), "looking at", variable);
    need(s->ndims >= AXES && s->ndims <= MAX_DIMS ? NC_NOERR : NC_EINVAL,
         "finding time, latitude and longitude of", variable);
    need(ncmpi_inq_vardimid(s->ncid, s->varid, dims), "looking at", variable);
    for (int a = 0; a < AXES; a++) {
        s->dimid[a] = a == TIME ? dims[0] : dims[s->ndims - AXES + a];
        need(ncmpi_inq_dim(s->ncid, s->dimid[a], s->name[a], &s->length[a]),
             "looking at a dimension of", variable);
        need(s->length[a] > 0 ? NC_NOERR : NC_EINVAL, "taking an empty dimension,",
             s->name[a]);
    }
    s->scale = number(s, "scale_factor", 1);
    s->offset = number(s, "add_offset", 0);
    s->missing[0] = number(s, "_FillValue", NAN);
    s->missing[1] = number(s, "missing_value", NAN);
}

/* Limits the number of steps so that they contain at most `most` values, but uses at
 * least one step. */
static void limit_steps(struct source *s, MPI_Offset most)
{
    MPI_Offset steps = most / s->length[LAT] / s->length[LON];
    if (steps >= s->length[TIME]) return;
    if (rank == 0)
        printf("%s: the first %lld of %lld steps\n", s->path,
               (long long)(steps > 0 ? steps : 1), (long long)s->length[TIME]);
    s->length[TIME] = steps > 0 ? steps : 1;
}

/* Reads all steps of a block. Missing values become NaN. */
static void read_block(const struct source *s, const struct block *b, double *values)
{
    MPI_Offset start[MAX_DIMS] = {0}, count[MAX_DIMS];
    for (int i = 0; i < s->ndims; i++)
        count[i] = 1;
    count[0] = s->length[TIME];
    start[s->ndims - 2] = b->y, count[s->ndims - 2] = b->ny;
    start[s->ndims - 1] = b->x, count[s->ndims - 1] = b->nx;
    need(ncmpi_get_vara_double_all(s->ncid, s->varid, start, count, values), "reading",
         s->path);

    MPI_Offset n = s->length[TIME] * b->ny * b->nx;
    for (MPI_Offset i = 0; i < n; i++) {
        bool none = values[i] == s->missing[0] || values[i] == s->missing[1];
        values[i] = none ? NAN : values[i] * s->scale + s->offset;
    }
}

/* Finds the coordinate variable of a dimension. Returns false if there is none. */
static bool coordinate_of(const struct source *s, int axis, int *varid)
{
    int ndims, dim;
    nc_type type;
    if (ncmpi_inq_varid(s->ncid, s->name[axis], varid) != NC_NOERR) return false;
    need(ncmpi_inq_varndims(s->ncid, *varid, &ndims), "looking at", s->name[axis]);
    if (ndims != 1) return false;
    need(ncmpi_inq_var(s->ncid, *varid, NULL, &type, NULL, &dim, NULL), "looking at",
         s->name[axis]);
    return dim == s->dimid[axis] && type != NC_CHAR;
}

static double *read_coordinate(const struct source *s, int axis)
{
    int varid;
    if (!coordinate_of(s, axis, &varid)) return NULL;
    double *at = room(s->length[axis], sizeof *at);
    const MPI_Offset start = 0;
    need(ncmpi_get_vara_double_all(s->ncid, varid, &start, &s->length[axis], at),
         "reading", s->name[axis]);
    return at;
}

static void means_and_anomalies(const struct source *s, struct climate *c)
{
    MPI_Offset places = c->band.ny * c->band.nx;
    MPI_Offset n = s->length[TIME] * places;
    for (MPI_Offset i = 0; i < n; i++) {
        if (isnan(c->values[i])) continue;
        c->mean[i % places] += c->values[i];
        c->counted[i % places]++;
    }
    for (MPI_Offset i = 0; i < places; i++)
        c->mean[i] = c->counted[i] > 0 ? c->mean[i] / c->counted[i] : NAN;
    for (MPI_Offset i = 0; i < n; i++)
        c->values[i] -= c->mean[i % places];
}

/* Returns an area weight for each row of a band; all are 1 if the rows are not
 * latitudes. */
static double *row_weights(const struct source *s, const struct block *band)
{
    double *weight = room(band->ny, sizeof *weight);
    double *lat = read_coordinate(s, LAT);
    for (MPI_Offset y = 0; y < band->ny; y++)
        weight[y] = lat == NULL || fabs(lat[band->y + y]) > 90
                        ? 1
                        : cos(lat[band->y + y] * M_PI / 180);
    free(lat);
    return weight;
}

/* Returns the weighted mean of the values that are not missing, over the bands of all
 * processes. */
static double area_mean(const struct block *b, const double *values, const double *weight)
{
    double sum = 0, area = 0;
    for (MPI_Offset i = 0; i < b->ny * b->nx; i++) {
        if (isnan(values[i])) continue;
        sum += values[i] * weight[i / b->nx];
        area += weight[i / b->nx];
    }
    area = total(area);
    sum = total(sum);
    return area > 0 ? sum / area : NAN;
}

static void sum_up(const struct source *s, struct climate *c)
{
    MPI_Offset places = c->band.ny * c->band.nx, present = 0;
    double *weight = row_weights(s, &c->band);
    c->lowest = HUGE_VAL;
    c->highest = -HUGE_VAL;
    for (MPI_Offset i = 0; i < places; i++) {
        present += c->counted[i];
        c->lowest = fmin(c->lowest, c->mean[i]);
        c->highest = fmax(c->highest, c->mean[i]);
    }
    c->lowest = -largest(-c->lowest);
    c->highest = largest(c->highest);
    c->gaps =
        1 - total((double)present) / ((double)s->length[TIME] * (double)s->length[LAT] *
                                      (double)s->length[LON]);
    c->average = area_mean(&c->band, c->mean, weight);
    for (MPI_Offset t = 0; t < s->length[TIME]; t++)
        c->world[t] = area_mean(&c->band, c->values + t * places, weight);
    free(weight);
}

static void compute(const struct source *s, struct climate *c, struct pace *reading)
{
    c->band = (struct block){.nx = s->length[LON]};
    share(s->length[LAT], &c->band.y, &c->band.ny);
    MPI_Offset places = c->band.ny * c->band.nx;
    c->values = room(s->length[TIME] * places, sizeof *c->values);
    c->mean = room(places, sizeof *c->mean);
    c->counted = room(places, sizeof *c->counted);
    c->world = room(s->length[TIME], sizeof *c->world);

    MPI_Offset before, after;
    need(ncmpi_inq_get_size(s->ncid, &before), "asking", s->path);
    double since = MPI_Wtime();
    read_block(s, &c->band, c->values);
    reading->seconds = largest(MPI_Wtime() - since);
    need(ncmpi_inq_get_size(s->ncid, &after), "asking", s->path);
    reading->mebibytes = total((double)(after - before)) / (1 << 20);

    means_and_anomalies(s, c);
    sum_up(s, c);
}

/* Copies a variable's attributes except for those that describe how values are stored. */
static void copy_attributes(const struct source *s, int from, int to_ncid, int to)
{
    static const char *const storage[] = {"_FillValue", "missing_value", "scale_factor",
                                          "add_offset", "valid_range",   "valid_min",
                                          "valid_max"};
    int natts;
    char name[NC_MAX_NAME + 1];
    need(from == NC_GLOBAL ? ncmpi_inq_natts(s->ncid, &natts)
                           : ncmpi_inq_varnatts(s->ncid, from, &natts),
         "counting attributes of", s->path);
    for (int i = 0; i < natts; i++) {
        bool skip = false;
        need(ncmpi_inq_attname(s->ncid, from, i, name), "reading an attribute of",
             s->path);
        for (size_t k = 0; k < sizeof storage / sizeof *storage; k++)
            skip = skip || strcmp(name, storage[k]) == 0;
        if (!skip)
            need(ncmpi_copy_att(s->ncid, from, name, to_ncid, to), "copying attribute",
                 name);
    }
}

static void text(int ncid, int varid, const char *name, const char *value)
{
    need(ncmpi_put_att_text(ncid, varid, name, (MPI_Offset)strlen(value), value),
         "writing attribute", name);
}

/* Defines an output variable and its attributes. Its name is the input's name plus a
 * suffix. */
static int define(const struct source *s, int ncid, const char *variable,
                  const char *ending, nc_type type, int ndims, const int *dims)
{
    int varid;
    char name[NC_MAX_NAME + 1];
    need(snprintf(name, sizeof name, "%s_%s", variable, ending) < (int)sizeof name
             ? NC_NOERR
             : NC_EMAXNAME,
         "naming", ending);
    need(ncmpi_def_var(ncid, name, type, ndims, dims, &varid), "defining", name);
    if (type != NC_FLOAT) return varid;
    copy_attributes(s, s->varid, ncid, varid);
    float fill = NC_FILL_FLOAT;
    need(ncmpi_put_att_float(ncid, varid, "_FillValue", NC_FLOAT, 1, &fill),
         "writing _FillValue of", name);
    return varid;
}

static void define_all(const struct source *s, struct output *o, const char *variable)
{
    int dims[AXES], from;
    for (int a = 0; a < AXES; a++) {
        need(ncmpi_def_dim(o->ncid, s->name[a], a == TIME ? NC_UNLIMITED : s->length[a],
                           &dims[a]),
             "defining", s->name[a]);
        o->coordinate[a] = -1;
        if (!coordinate_of(s, a, &from)) continue;
        need(
            ncmpi_def_var(o->ncid, s->name[a], NC_DOUBLE, 1, &dims[a], &o->coordinate[a]),
            "defining", s->name[a]);
        copy_attributes(s, from, o->ncid, o->coordinate[a]);
    }
    o->mean = define(s, o->ncid, variable, "mean", NC_FLOAT, 2, dims + LAT);
    o->counted = define(s, o->ncid, variable, "counted", NC_UINT, 2, dims + LAT);
    o->anomaly = define(s, o->ncid, variable, "anomaly", NC_FLOAT, AXES, dims);
    o->world = define(s, o->ncid, variable, "world_anomaly", NC_FLOAT, 1, dims);
    copy_attributes(s, NC_GLOBAL, o->ncid, NC_GLOBAL);
    text(o->ncid, NC_GLOBAL, "computed_from", s->path);
    text(o->ncid, o->mean, "cell_methods", "time: mean");
    need(ncmpi_enddef(o->ncid), "ending the definitions of", variable);
}

/* Replaces missing values with the fill value. */
static void mark_missing(double *values, MPI_Offset n)
{
    for (MPI_Offset i = 0; i < n; i++)
        if (isnan(values[i])) values[i] = NC_FILL_FLOAT;
}

/* Writes all small variables with nonblocking calls and one wait. */
static void write_small(const struct source *s, const struct output *o,
                        const struct climate *c)
{
    const struct block *b = &c->band;
    MPI_Offset start[] = {b->y, b->x}, count[] = {b->ny, b->nx}, first = 0;
    double *at[AXES];
    need(ncmpi_iput_vara_double(o->ncid, o->mean, start, count, c->mean, NULL),
         "announcing", "the mean");
    need(ncmpi_iput_vara_uint(o->ncid, o->counted, start, count, c->counted, NULL),
         "announcing", "the counts");
    if (rank == 0)
        ncmpi_iput_vara_double(o->ncid, o->world, &first, &s->length[TIME], c->world,
                               NULL);
    for (int a = 0; a < AXES; a++) {
        at[a] = read_coordinate(s, a);
        if (at[a] != NULL && rank == 0)
            ncmpi_iput_vara_double(o->ncid, o->coordinate[a], &first, &s->length[a],
                                   at[a], NULL);
    }
    need(ncmpi_wait_all(o->ncid, NC_REQ_ALL, NULL, NULL), "writing", "the small fields");
    for (int a = 0; a < AXES; a++)
        free(at[a]);
}

static void write_all(const struct source *s, struct climate *c, const char *variable,
                      const char *path, struct pace *writing)
{
    struct output o;
    const struct block *b = &c->band;
    MPI_Offset start[] = {0, b->y, b->x}, count[] = {s->length[TIME], b->ny, b->nx},
               bytes;
    mark_missing(c->values, s->length[TIME] * b->ny * b->nx);
    mark_missing(c->mean, b->ny * b->nx);
    mark_missing(c->world, s->length[TIME]);

    need(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                      &o.ncid),
         "making", path);
    define_all(s, &o, variable);
    MPI_Barrier(MPI_COMM_WORLD);
    double since = MPI_Wtime();
    write_small(s, &o, c);
    need(ncmpi_put_vara_double_all(o.ncid, o.anomaly, start, count, c->values), "writing",
         path);
    need(ncmpi_inq_put_size(o.ncid, &bytes), "asking", path);
    need(ncmpi_close(o.ncid), "closing", path);
    writing->seconds = largest(MPI_Wtime() - since);
    writing->mebibytes = total((double)bytes) / (1 << 20);
}

/* Returns whether mean and anomaly, both rounded to float, add up to the value. */
static bool agrees(double value, double mean, double anomaly)
{
    if (isnan(value)) return isnan(anomaly);
    return fabs(mean + anomaly - value) <= 1.5e-7 * (fabs(mean) + fabs(anomaly));
}

/* Reads the output with a decomposition that differs from the one used to write it.
 * Returns the number of wrong values. */
static double compare(const struct source *s, const char *variable, const char *path)
{
    struct source mean = {0}, anomaly = {0};
    struct block b = {.ny = s->length[LAT]};
    char name[NC_MAX_NAME + 1];
    share(s->length[LON], &b.x, &b.nx);
    MPI_Offset places = b.ny * b.nx, n = s->length[TIME] * places, wrong = 0;
    double *was = room(n, sizeof *was), *is = room(n, sizeof *is);
    double *middle = room(places, sizeof *middle);

    snprintf(name, sizeof name, "%s_anomaly", variable);
    open_source(&anomaly, path, name);
    read_block(s, &b, was);
    read_block(&anomaly, &b, is);

    snprintf(name, sizeof name, "%s_mean", variable);
    MPI_Offset start[] = {b.y, b.x}, count[] = {b.ny, b.nx};
    need(ncmpi_inq_varid(anomaly.ncid, name, &mean.varid), "looking for", name);
    need(ncmpi_get_vara_double_all(anomaly.ncid, mean.varid, start, count, middle),
         "reading", path);
    for (MPI_Offset i = 0; i < n; i++)
        wrong += !agrees(was[i], middle[i % places], is[i]);
    need(ncmpi_close(anomaly.ncid), "closing", path);
    free(was), free(is), free(middle);
    return total((double)wrong);
}

static void describe(const struct source *s, const struct climate *c,
                     const char *variable)
{
    char units[NC_MAX_NAME + 1] = "";
    MPI_Offset length;
    int format;
    if (ncmpi_inq_attlen(s->ncid, s->varid, "units", &length) == NC_NOERR &&
        length < (MPI_Offset)sizeof units)
        ncmpi_get_att_text(s->ncid, s->varid, "units", units);
    need(ncmpi_inq_format(s->ncid, &format), "asking", s->path);
    if (rank != 0) return;
    printf("%s of %s (CDF-%d)\n", variable, s->path, format);
    printf("  %lld steps of %lld x %lld values, %.1f %% missing; %d processes\n",
           (long long)s->length[TIME], (long long)s->length[LAT],
           (long long)s->length[LON], 100 * c->gaps, nprocs);
    printf("  mean %.2f %s, from %.2f to %.2f\n", c->average, units, c->lowest,
           c->highest);
}

static void report(const char *what, const struct pace *p, const char *path)
{
    if (rank == 0)
        printf("  %-5s %8.2f MiB in %7.1f ms, %7.1f MiB/s  %s\n", what, p->mebibytes,
               1e3 * p->seconds, p->mebibytes / p->seconds, path);
}

int main(int argc, char **argv)
{
    struct source s = {0};
    struct climate c = {0};
    struct pace reading, writing;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    need(argc == 4 || argc == 5 ? NC_NOERR : NC_EINVAL,
         "usage:", "climate INPUT VARIABLE OUTPUT [MOST]");

    open_source(&s, argv[1], argv[2]);
    if (argc == 5) limit_steps(&s, strtoll(argv[4], NULL, 10));
    compute(&s, &c, &reading);
    describe(&s, &c, argv[2]);
    report("read", &reading, argv[1]);
    write_all(&s, &c, argv[2], argv[3], &writing);
    report("wrote", &writing, argv[3]);

    double wrong = compare(&s, argv[2], argv[3]);
    if (rank == 0)
        printf("  %s: %.0f values read back by longitudes, %.0f wrong\n",
               wrong == 0 ? "ok" : "FAILED",
               (double)s.length[TIME] * (double)s.length[LAT] * (double)s.length[LON],
               wrong);
    need(ncmpi_close(s.ncid), "closing", argv[1]);
    free(c.values), free(c.mean), free(c.counted), free(c.world);
    MPI_Finalize();
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
