/* Prints where a map is stored in a file, so that gnuplot can read and draw the map
 * directly:
 *
 *     plotfield NAME FILE VARIABLE
 *
 * The last two dimensions are latitude and longitude, or any other axes. For dimensions
 * between the first and the last two, only the first index is used. The program prints
 * gnuplot assignments. NAME is the data to plot, without skip=, dx=, dy= and origin=.
 * Step i of the first dimension, which has NAME_steps steps, starts at byte NAME_begin +
 * i * NAME_stride of the file. NAME_west, _east, _south, _north are the centres of the
 * outer cells, NAME_dx and _dy their distances. NAME_even is 1 if the cells are evenly
 * spaced. Otherwise NAME_xs and _ys list their edges, for use with NAME_cells, the same
 * array as one list. NAME_degrees is 1 if the axes are longitude and latitude, NAME_time
 * is 1 if the steps are times. NAME_xname and _yname are the names of the axes. NAME_low,
 * _high, _spread describe the values of the first and the middle step. NAME_missing is
 * the missing value. NAME_title and _units are strings. gnuplot reads the array directly,
 * in the big-endian order of classic files. */
#include <math.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_DIMS = 16, TEXT = 256 };
enum { Y, X };

/* Coordinates along one of the last two dimensions, or 0, 1, 2 ... if the file has
 * none. */
struct axis {
    MPI_Offset n;
    double *at;
    bool even, geographic;
    char name[NC_MAX_NAME + 1];
};

struct map {
    const char *path;
    int ncid, varid, ndims, dims[MAX_DIMS];
    const char *format; /* name of the type in gnuplot */
    MPI_Offset begin, steps;
    MPI_Offset stride; /* bytes from one step to the next */
    struct axis axes[2];
    double missing; /* _FillValue, or NaN */
};

static const struct {
    nc_type type;
    const char *format;
    int size;
} types[] = {
    {NC_BYTE, "%int8", 1},     {NC_SHORT, "%int16", 2},   {NC_INT, "%int32", 4},
    {NC_FLOAT, "%float", 4},   {NC_DOUBLE, "%double", 8}, {NC_UBYTE, "%uint8", 1},
    {NC_USHORT, "%uint16", 2}, {NC_UINT, "%uint32", 4},   {NC_INT64, "%int64", 8},
    {NC_UINT64, "%uint64", 8},
};

static void need(int status, const char *what, const char *which)
{
    if (status == NC_NOERR) return;
    fprintf(stderr, "plotfield: %s %s: %s\n", what, which, ncmpi_strerror(status));
    MPI_Finalize();
    exit(EXIT_FAILURE);
}

/* Returns whether a text attribute of a variable begins with `with`, ignoring case. */
static bool begins(const struct map *m, int varid, const char *attribute,
                   const char *with)
{
    char text[TEXT + 1] = "";
    MPI_Offset length;
    nc_type type;
    if (ncmpi_inq_att(m->ncid, varid, attribute, &type, &length) != NC_NOERR ||
        type != NC_CHAR || length > TEXT)
        return false;
    need(ncmpi_get_att_text(m->ncid, varid, attribute, text), "reading", attribute);
    return strncasecmp(text, with, strlen(with)) == 0;
}

/* Returns whether all distances are within one percent of their mean. */
static bool is_even(const struct axis *a)
{
    const double step = (a->at[a->n - 1] - a->at[0]) / (double)(a->n > 1 ? a->n - 1 : 1);
    for (MPI_Offset i = 1; i < a->n; i++)
        if (!(fabs(a->at[i] - a->at[0] - step * (double)i) <= 0.01 * fabs(step)))
            return false;
    return true;
}

static bool is_monotonic(const struct axis *a)
{
    for (MPI_Offset i = 1; i < a->n; i++)
        if (!((a->at[i] - a->at[i - 1]) * (a->at[a->n - 1] - a->at[0]) > 0)) return false;
    return true;
}

/* Reads the coordinates in file order. Uses indices if there are no suitable
 * coordinates. */
static void find_axis(struct map *m, int which, int dim)
{
    static const char *const degrees[] = {"degrees_n", "degrees_e"};
    struct axis *a = &m->axes[which];
    int varid, ndims = 0;
    nc_type type = NC_CHAR;
    need(ncmpi_inq_dim(m->ncid, dim, a->name, &a->n), "looking at a dimension of",
         m->path);
    a->at = calloc((size_t)a->n + 1, sizeof *a->at);
    need(a->at != NULL ? NC_NOERR : NC_ENOMEM, "finding memory for", a->name);
    bool there = ncmpi_inq_varid(m->ncid, a->name, &varid) == NC_NOERR;
    if (there) {
        need(ncmpi_inq_varndims(m->ncid, varid, &ndims), "looking at", a->name);
        need(ncmpi_inq_vartype(m->ncid, varid, &type), "looking at", a->name);
    }
    if (ndims == 1 && type != NC_CHAR) {
        need(ncmpi_get_var_double_all(m->ncid, varid, a->at), "reading", a->name);
        a->geographic = begins(m, varid, "units", degrees[which]);
    }
    if (ndims != 1 || type == NC_CHAR || !is_monotonic(a)) {
        a->geographic = false;
        for (MPI_Offset i = 0; i < a->n; i++)
            a->at[i] = (double)i;
    }
    a->even = is_even(a);
}

static void find_steps(struct map *m, int size)
{
    int unlimited;
    need(ncmpi_inq_unlimdim(m->ncid, &unlimited), "asking", m->path);
    m->stride = m->axes[Y].n * m->axes[X].n * size;
    m->steps = 1;
    for (int i = m->ndims - 3; i > 0; i--) {
        MPI_Offset length;
        need(ncmpi_inq_dimlen(m->ncid, m->dims[i], &length), "asking", m->path);
        m->stride *= length;
    }
    if (m->ndims < 3) return;
    need(ncmpi_inq_dimlen(m->ncid, m->dims[0], &m->steps), "asking", m->path);
    if (m->dims[0] == unlimited)
        need(ncmpi_inq_recsize(m->ncid, &m->stride), "asking", m->path);
}

static void find(struct map *m, const char *path, const char *variable)
{
    nc_type type;
    m->path = path;
    need(ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, MPI_INFO_NULL, &m->ncid), "opening",
         path);
    need(ncmpi_inq_varid(m->ncid, variable, &m->varid), "looking for", variable);
    need(ncmpi_inq_varndims(m->ncid, m->varid, &m->ndims), "looking at", variable);
    need(m->ndims >= 2 && m->ndims <= MAX_DIMS ? NC_NOERR : NC_EINVAL, "drawing a map of",
         variable);
    need(ncmpi_inq_var(m->ncid, m->varid, NULL, &type, NULL, m->dims, NULL), "looking at",
         variable);
    need(ncmpi_inq_varoffset(m->ncid, m->varid, &m->begin), "looking at", variable);

    const int *last = m->dims + m->ndims - 2;
    if (ncmpi_get_att_double(m->ncid, m->varid, "_FillValue", &m->missing) != NC_NOERR)
        m->missing = NAN;
    find_axis(m, Y, last[0]);
    find_axis(m, X, last[1]);
    need(m->axes[Y].n > 0 && m->axes[X].n > 0 ? NC_NOERR : NC_EINVAL, "drawing an empty",
         variable);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].type != type) continue;
        m->format = types[i].format;
        find_steps(m, types[i].size);
    }
    need(m->format != NULL ? NC_NOERR : NC_ECHAR, "drawing", variable);
}

/* Prints text as the contents of a double-quoted gnuplot string. Doubles the character
 * `twice`. */
static void print_quoted(const char *text, char twice)
{
    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            fputs("\\n", stdout);
            continue;
        }
        if (*text == '"' || *text == '\\') putchar('\\');
        if (*text == twice) putchar(twice);
        putchar(*text);
    }
}

/* Prints a text attribute, or a default text. */
static void print_attribute(const struct map *m, const char *name, const char *suffix,
                            const char *attribute, const char *otherwise)
{
    char text[TEXT + 1] = "";
    MPI_Offset length;
    nc_type type;
    if (ncmpi_inq_att(m->ncid, m->varid, attribute, &type, &length) == NC_NOERR &&
        type == NC_CHAR && length <= TEXT)
        need(ncmpi_get_att_text(m->ncid, m->varid, attribute, text), "reading",
             attribute);
    printf("%s_%s = \"", name, suffix);
    print_quoted(text[0] != '\0' ? text : otherwise, '\0');
    puts("\"");
}

static void print_missing(const struct map *m, const char *name)
{
    if (isnan(m->missing))
        printf("%s_missing = NaN\n", name);
    else
        printf("%s_missing = %.17g\n", name, m->missing);
}

static double step_of(const struct axis *a)
{
    return a->n > 1 ? (a->at[a->n - 1] - a->at[0]) / (double)(a->n - 1) : 1;
}

static void print_array(const struct map *m, const char *name)
{
    const MPI_Offset nx = m->axes[X].n, ny = m->axes[Y].n;
    static const char *const suffix[] = {"", "_cells"};
    for (int list = 0; list < 2; list++) {
        printf("%s%s = \"'", name, suffix[list]);
        print_quoted(m->path, '\'');
        if (list)
            printf("' binary record=(%lld)", (long long)(nx * ny));
        else
            printf("' binary array=(%lld,%lld)", (long long)nx, (long long)ny);
        printf(" format='%s' endian=big%s%s\"\n", m->format,
               !list && step_of(&m->axes[X]) < 0 ? " flipx" : "",
               !list && step_of(&m->axes[Y]) < 0 ? " flipy" : "");
    }
    printf("%s_begin = %lld\n%s_stride = %lld\n%s_steps = %lld\n", name,
           (long long)m->begin, name, (long long)m->stride, name, (long long)m->steps);
}

/* Prints the edges of cells: the midpoints between centres, and the outer edges at the
 * same distance from the outer centres. */
static void print_edges(const struct axis *a, const char *name, char letter)
{
    const MPI_Offset n = a->n;
    printf("%s_%cs = \"", name, letter);
    for (MPI_Offset i = 0; i <= n; i++) {
        double edge = n == 1   ? a->at[0] - 0.5 + (double)i
                      : i == 0 ? 1.5 * a->at[0] - 0.5 * a->at[1]
                      : i == n ? 1.5 * a->at[n - 1] - 0.5 * a->at[n - 2]
                               : (a->at[i - 1] + a->at[i]) / 2;
        printf("%.10g ", edge);
    }
    puts("\"");
}

static void print_axes(const struct map *m, const char *name)
{
    static const char *const low[] = {"south", "west"}, *const high[] = {"north", "east"};
    const bool even = m->axes[Y].even && m->axes[X].even;
    for (int i = Y; i <= X; i++) {
        const struct axis *a = &m->axes[i];
        const char letter = i == X ? 'x' : 'y';
        const double first = a->at[0], last = a->at[a->n - 1];
        printf("%s_%s = %.10g\n%s_%s = %.10g\n", name, low[i], fmin(first, last), name,
               high[i], fmax(first, last));
        printf("%s_d%c = %.10g\n%s_%cname = \"", name, letter, fabs(step_of(a)), name,
               letter);
        print_quoted(a->name, '\0');
        puts("\"");
        if (!even) print_edges(a, name, letter);
    }
    printf("%s_even = %d\n%s_degrees = %d\n", name, even, name,
           m->axes[Y].geographic && m->axes[X].geographic);
}

/* Prints whether the steps are times, judging by the name of the first dimension. */
static void print_time(const struct map *m, const char *name)
{
    char dim[NC_MAX_NAME + 1];
    need(ncmpi_inq_dimname(m->ncid, m->dims[0], dim), "looking at a dimension of",
         m->path);
    printf("%s_time = %d\n", name, m->ndims > 2 && strncasecmp(dim, "time", 4) == 0);
}

struct range {
    MPI_Offset n;
    double low, high, mean, squares;
};

static void add_step(const struct map *m, MPI_Offset step, double *v, struct range *r)
{
    const MPI_Offset cells = m->axes[Y].n * m->axes[X].n;
    MPI_Offset start[MAX_DIMS] = {0}, count[MAX_DIMS];
    for (int i = 0; i < m->ndims; i++)
        count[i] = 1;
    if (m->ndims > 2) start[0] = step;
    count[m->ndims - 2] = m->axes[Y].n;
    count[m->ndims - 1] = m->axes[X].n;
    need(ncmpi_get_vara_double_all(m->ncid, m->varid, start, count, v), "reading",
         m->path);
    for (MPI_Offset i = 0; i < cells; i++) {
        if (isnan(v[i]) || v[i] == m->missing) continue;
        r->low = fmin(r->low, v[i]);
        r->high = fmax(r->high, v[i]);
        double from_mean = v[i] - r->mean;
        r->mean += from_mean / (double)++r->n;
        r->squares += from_mean * (v[i] - r->mean);
    }
}

/* Prints the minimum, maximum and standard deviation of the values in the steps that are
 * drawn: the first and the middle one. */
static void print_range(const struct map *m, const char *name)
{
    struct range r = {.low = HUGE_VAL, .high = -HUGE_VAL};
    double *v = calloc((size_t)(m->axes[Y].n * m->axes[X].n), sizeof *v);
    need(v != NULL ? NC_NOERR : NC_ENOMEM, "finding memory for", m->path);
    if (m->steps > 0) add_step(m, 0, v, &r);
    if (m->steps > 1) add_step(m, m->steps / 2, v, &r);
    free(v);
    printf("%s_low = %.6g\n%s_high = %.6g\n%s_spread = %.6g\n", name, r.n ? r.low : 0.0,
           name, r.n ? r.high : 1.0, name, r.n ? sqrt(r.squares / (double)r.n) : 1.0);
}

int main(int argc, char **argv)
{
    struct map m = {0};
    MPI_Init(&argc, &argv);
    need(argc == 4 ? NC_NOERR : NC_EINVAL, "usage:", "plotfield NAME FILE VARIABLE");
    find(&m, argv[2], argv[3]);
    print_array(&m, argv[1]);
    print_axes(&m, argv[1]);
    print_time(&m, argv[1]);
    print_range(&m, argv[1]);
    print_missing(&m, argv[1]);
    print_attribute(&m, argv[1], "title", "long_name", argv[3]);
    print_attribute(&m, argv[1], "units", "units", "");
    need(ncmpi_close(m.ncid), "closing", argv[2]);
    free(m.axes[Y].at), free(m.axes[X].at);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
