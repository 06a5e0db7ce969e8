/* Draws the maps, one below the other: colours show by how much the values differ. An
 * axis uses the coordinates of the first file if its dimension has a monotonic coordinate
 * variable; latitudes then increase towards the top. Otherwise it uses indices, with the
 * first row at the top. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base_mem.h"
#include "diff.h"
#include "util_plot.h"

/* An axis: the coordinates of its n indices. If `at` is NULL, the indices serve as
 * coordinates. */
struct axis {
    const char *name;
    int64_t n;
    double *at;
};

struct range {
    double least, most; /* smallest and largest finite difference; 1 if there is none */
};

static struct range range_of(const struct diff_map *m)
{
    struct range r = {INFINITY, 0};
    for (int i = 0; i < m->height * m->width; i++) {
        const double apart = m->largest[i];
        if (m->differing[i] == 0 || !isfinite(apart)) continue;
        if (apart < r.least) r.least = apart;
        if (apart > r.most) r.most = apart;
    }
    return r.most > 0 ? r : (struct range){1, 1};
}

/* ---- axes ---- */

/* Returns the dimension's coordinate variable if both files have it, else NULL. */
static const struct diff_pair *coordinates_of(const struct diff *d, int dimid)
{
    enum { MOST = 1 << 20 };
    const struct cdf_header *h = d->header[0];
    for (int i = 0; i < d->npairs; i++) {
        const struct cdf_var *v = &h->vars[d->pairs[i].varid[0]];
        if (v->ndims == 1 && v->dimids[0] == dimid && v->type != NC_CHAR &&
            d->pairs[i].total <= MOST && strcmp(v->name, h->dims[dimid].name) == 0)
            return &d->pairs[i];
    }
    return NULL;
}

/* Reads all n values of a one-dimensional variable from the first file. Returns 0 or
 * -1. */
static int read_numbers(struct diff *d, const struct diff_pair *pair, int64_t n,
                        double *to)
{
    const struct cdf_var *v = &d->header[0]->vars[pair->varid[0]];
    const int64_t size = cdf_type_size(v->type), most = DIFF_PIECE / size;
    char *values = base_malloc(DIFF_PIECE);
    int status = values == NULL || (d->enter != NULL && d->enter(d, pair) != 0) ? -1 : 0;
    for (int64_t at = 0, count; status == 0 && at < n; at += count) {
        count = n - at < most ? n - at : most;
        const struct util_piece p = {
            .first = at, .n = count, .start = &at, .count = &count};
        status = d->read(d, 0, pair->varid[0], &p, values);
        for (int64_t i = 0; status == 0 && i < count; i++) {
            union diff_value value;
            memcpy(&value, values + i * size, (size_t)size);
            to[at + i] = diff_number(v->type, &value);
        }
    }
    base_free(values);
    return status;
}

static bool is_steady(const double *at, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (!((at[i] - at[i - 1]) * (at[n - 1] - at[0]) > 0)) return false;
    return isfinite(at[0]) && isfinite(at[n - 1]);
}

static struct axis axis_of(struct diff *d, int dimid, int64_t n)
{
    const struct diff_pair *pair = coordinates_of(d, dimid);
    struct axis a = {.name = d->header[0]->dims[dimid].name, .n = n};
    if (pair == NULL || pair->total < n || n < 2) return a;
    a.at = base_malloc((size_t)n * sizeof *a.at);
    if (a.at == NULL || (read_numbers(d, pair, n, a.at) == 0 && is_steady(a.at, n)))
        return a;
    base_free(a.at);
    a.at = NULL;
    return a;
}

/* Returns the boundary between indices i - 1 and i. */
static double edge(const struct axis *a, int64_t i)
{
    if (a->at == NULL) return (double)i - 0.5;
    if (i == 0) return 1.5 * a->at[0] - 0.5 * a->at[1];
    if (i == a->n) return 1.5 * a->at[i - 1] - 0.5 * a->at[i - 2];
    return (a->at[i - 1] + a->at[i]) / 2;
}

/* ---- maps ---- */

/* Writes the cells that contain differences as boxes. Infinite differences get the colour
 * of the largest finite one. */
static void put_cells(FILE *out, const struct diff_map *m, const struct axis axes[2],
                      int number, double most)
{
    fprintf(out, "$map%d << END\nnan nan nan nan nan nan nan\n", number);
    for (int i = 0; i < m->height * m->width; i++) {
        if (m->differing[i] == 0) continue;
        const int64_t x = i % m->width, y = i / m->width;
        const int64_t column = x * m->column_step, row = y * m->row_step;
        const int64_t columns = m->columns - column, rows = m->rows - row;
        const double left = edge(&axes[1], column), top = edge(&axes[0], row);
        const double right = edge(
            &axes[1], column + (columns < m->column_step ? columns : m->column_step));
        const double bottom =
            edge(&axes[0], row + (rows < m->row_step ? rows : m->row_step));
        fprintf(out, "%.17g %.17g %.17g %.17g %.17g %.17g %.9g\n", (left + right) / 2,
                (top + bottom) / 2, left, right, top, bottom, fmin(m->largest[i], most));
    }
    fprintf(out, "END\n");
}

/* Writes the range of an axis. The range is ascending, except for rows without
 * coordinates, which are numbered from the top. */
static void put_axis(FILE *out, char letter, const struct axis *a)
{
    const double first = edge(a, 0), last = edge(a, a->n);
    const bool down = letter == 'y' && a->at == NULL;
    fprintf(out, "set %clabel ", letter);
    util_plot_quoted(out, a->name);
    fprintf(out, " noenhanced\nset %crange [%.17g:%.17g]\n", letter,
            down ? last : fmin(first, last), down ? first : fmax(first, last));
    if (a->at == NULL)
        fprintf(out, "set %ctics %" PRId64 "\n", letter,
                a->n / (letter == 'x' ? 10 : 8) + 1);
    else
        fprintf(out, "set %ctics autofreq\n", letter);
}

static void put_map(struct diff *d, FILE *out, int number)
{
    const struct diff_map *m = &d->maps[number];
    const struct diff_result *r = &d->results[m->pair];
    const struct cdf_var *v = &d->header[0]->vars[d->pairs[m->pair].varid[0]];
    struct axis axes[2] = {{.name = "", .n = 1},
                           axis_of(d, v->dimids[v->ndims - 1], m->columns)};
    if (v->ndims > 1) axes[0] = axis_of(d, v->dimids[v->ndims - 2], m->rows);
    const struct range range = range_of(m);
    const bool wide = range.most > 1000 * range.least;
    char title[NC_MAX_NAME + 80];
    snprintf(title, sizeof title, "%s: %" PRId64 " of %" PRId64 " values differ", v->name,
             r->differing, r->compared);
    put_cells(out, m, axes, number, range.most);
    fprintf(out, "set title ");
    util_plot_quoted(out, title);
    fprintf(out, " noenhanced\n");
    put_axis(out, 'x', &axes[1]);
    put_axis(out, 'y', &axes[0]);
    fprintf(out, "%s\nset cbrange [%.9g:%.9g]\n",
            wide ? "set logscale cb" : "unset logscale cb", wide ? range.least : 0,
            range.most);
    fprintf(out,
            "plot $map%d using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid noborder "
            "linecolor palette notitle\n",
            number);
    base_free(axes[0].at);
    base_free(axes[1].at);
}

int diff_draw(struct diff *d)
{
    struct util_plot p;
    if (util_plot_open(&p, d->tool, d->options.draw, 60 + 280 * d->nmaps) != 0) return -1;
    fprintf(p.out, "set multiplot layout %d,1 title ", d->nmaps);
    char title[600];
    snprintf(title, sizeof title, "%.250s, %.250s", d->options.path[0],
             d->options.path[1]);
    util_plot_quoted(p.out, title);
    fprintf(p.out,
            " noenhanced\nset cblabel 'largest difference'\n"
            "set palette defined (0 '#fee8c8', 1 '#fdbb84', 2 '#e34a33', 3 '#7f0000')\n");
    for (int i = 0; i < d->nmaps; i++)
        put_map(d, p.out, i);
    fprintf(p.out, "unset multiplot\n");
    return util_plot_close(&p);
}
