/* Tells gnuplot where in a file a map lies, so that it can draw it from there:
 *
 *     plotfield NAME FILE VARIABLE
 *
 * The last two dimensions are latitude and longitude, evenly spaced; of any between
 * them and the first, the first place is taken. It prints gnuplot assignments. NAME is
 * what to plot, but for skip=, dx=, dy= and origin=: step i of the first dimension
 * starts NAME_begin + i * NAME_stride bytes into the file (NAME_steps of them),
 * NAME_west, _east, _south, _north are the centres of the outer cells and NAME_dx, _dy
 * the distances; NAME_low, _high, _spread tell of the values, NAME_missing which value
 * is none; NAME_title and _units are texts. gnuplot reads the array by itself,
 * big-endian as it is in every classic file. */
#include <math.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIMS = 16, TEXT = 256 };

struct map {
    const char *path;
    int ncid, varid, ndims, dims[MAX_DIMS];
    const char *format; /* gnuplot's name of the type */
    MPI_Offset begin, ny, nx, steps;
    MPI_Offset stride;     /* bytes from one step to the next */
    double x0, y0, dx, dy; /* first longitude and latitude, and distances */
    double missing;        /* _FillValue, or NaN */
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

/* First value and mean distance of a dimension's coordinates; 0, 1, 2 ... without. */
static void axis(const struct map *m, int dim, MPI_Offset length, double *first,
                 double *step)
{
    char name[NC_MAX_NAME + 1];
    int varid;
    MPI_Offset zero = 0, end = length - 1;
    double last;
    *first = 0;
    *step = 1;
    need(ncmpi_inq_dimname(m->ncid, dim, name), "looking at a dimension of", m->path);
    if (length < 2 || ncmpi_inq_varid(m->ncid, name, &varid) != NC_NOERR) return;
    need(ncmpi_get_var1_double_all(m->ncid, varid, &zero, first), "reading", name);
    need(ncmpi_get_var1_double_all(m->ncid, varid, &end, &last), "reading", name);
    *step = (last - *first) / (double)end;
}

static void find_steps(struct map *m, int size)
{
    int unlimited;
    need(ncmpi_inq_unlimdim(m->ncid, &unlimited), "asking", m->path);
    m->stride = m->ny * m->nx * size;
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
    need(ncmpi_inq_dimlen(m->ncid, last[0], &m->ny), "asking", path);
    need(ncmpi_inq_dimlen(m->ncid, last[1], &m->nx), "asking", path);
    if (ncmpi_get_att_double(m->ncid, m->varid, "_FillValue", &m->missing) != NC_NOERR)
        m->missing = NAN;
    axis(m, last[0], m->ny, &m->y0, &m->dy);
    axis(m, last[1], m->nx, &m->x0, &m->dx);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].type != type) continue;
        m->format = types[i].format;
        find_steps(m, types[i].size);
    }
    need(m->format != NULL ? NC_NOERR : NC_ECHAR, "drawing", variable);
}

/* Prints text to stand in a gnuplot string in double quotes, each `twice` doubled. */
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

/* A text attribute, or what to say without it. */
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

static void print_array(const struct map *m, const char *name)
{
    printf("%s = \"'", name);
    print_quoted(m->path, '\'');
    printf("' binary array=(%lld,%lld) format='%s' endian=big%s%s\"\n", (long long)m->nx,
           (long long)m->ny, m->format, m->dx < 0 ? " flipx" : "",
           m->dy < 0 ? " flipy" : "");
    printf("%s_begin = %lld\n%s_stride = %lld\n%s_steps = %lld\n", name,
           (long long)m->begin, name, (long long)m->stride, name, (long long)m->steps);
}

static void print_place(const struct map *m, const char *name)
{
    double x1 = m->x0 + m->dx * (double)(m->nx - 1);
    double y1 = m->y0 + m->dy * (double)(m->ny - 1);
    printf("%s_west = %.10g\n%s_east = %.10g\n", name, fmin(m->x0, x1), name,
           fmax(m->x0, x1));
    printf("%s_south = %.10g\n%s_north = %.10g\n", name, fmin(m->y0, y1), name,
           fmax(m->y0, y1));
    printf("%s_dx = %.10g\n%s_dy = %.10g\n", name, fabs(m->dx), name, fabs(m->dy));
}

/* Least, greatest, mean and standard deviation of all values there are. */
static void print_range(const struct map *m, const char *name)
{
    MPI_Offset total = 1, length, n = 0;
    double low = HUGE_VAL, high = -HUGE_VAL, mean = 0, squares = 0;
    for (int i = 0; i < m->ndims; i++) {
        need(ncmpi_inq_dimlen(m->ncid, m->dims[i], &length), "asking", m->path);
        total *= length;
    }
    double *v = calloc((size_t)total + 1, sizeof *v);
    need(v != NULL ? NC_NOERR : NC_ENOMEM, "finding memory for", m->path);
    need(ncmpi_get_var_double_all(m->ncid, m->varid, v), "reading", m->path);
    for (MPI_Offset i = 0; i < total; i++) {
        if (isnan(v[i]) || v[i] == m->missing) continue;
        low = fmin(low, v[i]);
        high = fmax(high, v[i]);
        double from_mean = v[i] - mean;
        mean += from_mean / (double)++n;
        squares += from_mean * (v[i] - mean);
    }
    free(v);
    printf("%s_low = %.6g\n%s_high = %.6g\n%s_spread = %.6g\n", name, n ? low : 0.0, name,
           n ? high : 1.0, name, n ? sqrt(squares / (double)n) : 1.0);
}

int main(int argc, char **argv)
{
    struct map m = {0};
    MPI_Init(&argc, &argv);
    need(argc == 4 ? NC_NOERR : NC_EINVAL, "usage:", "plotfield NAME FILE VARIABLE");
    find(&m, argv[2], argv[3]);
    print_array(&m, argv[1]);
    print_place(&m, argv[1]);
    print_range(&m, argv[1]);
    print_missing(&m, argv[1]);
    print_attribute(&m, argv[1], "title", "long_name", argv[3]);
    print_attribute(&m, argv[1], "units", "units", "");
    need(ncmpi_close(m.ncid), "closing", argv[2]);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
