/* A picture of the maps, one below the other: how far values are apart, by colour. */
#include <inttypes.h>
#include <math.h>

#include "diff.h"
#include "util_plot.h"

struct range {
    double least, most; /* of what is finite; 1 where nothing is */
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

/* The cells in which values differ, as boxes in the variable's own indices. What is
 * infinitely far apart is as the largest distance that is not. */
static void put_cells(FILE *out, const struct diff_map *m, int number, double most)
{
    fprintf(out, "$map%d << END\nnan nan nan nan nan nan nan\n", number);
    for (int i = 0; i < m->height * m->width; i++) {
        if (m->differing[i] == 0) continue;
        const int64_t x = i % m->width, y = i / m->width;
        const double left = (double)(x * m->column_step) - 0.5;
        const double top = (double)(y * m->row_step) - 0.5;
        const double right =
            fmin(left + (double)m->column_step, (double)m->columns - 0.5);
        const double bottom = fmin(top + (double)m->row_step, (double)m->rows - 0.5);
        fprintf(out, "%.17g %.17g %.17g %.17g %.17g %.17g %.9g\n", (left + right) / 2,
                (top + bottom) / 2, left, right, top, bottom, fmin(m->largest[i], most));
    }
    fprintf(out, "END\n");
}

static void put_axis(FILE *out, char axis, const char *name)
{
    fprintf(out, "set %clabel ", axis);
    util_plot_quoted(out, name);
    fprintf(out, " noenhanced\n");
}

static void put_map(const struct diff *d, FILE *out, int number)
{
    const struct diff_map *m = &d->maps[number];
    const struct diff_result *r = &d->results[m->pair];
    const struct cdf_var *v = &d->header[0]->vars[d->pairs[m->pair].varid[0]];
    const struct cdf_dim *dims = d->header[0]->dims;
    const struct range range = range_of(m);
    const bool wide = range.most > 1000 * range.least;
    char title[NC_MAX_NAME + 80];
    snprintf(title, sizeof title, "%s: %" PRId64 " of %" PRId64 " values differ", v->name,
             r->differing, r->compared);
    put_cells(out, m, number, range.most);
    fprintf(out, "set title ");
    util_plot_quoted(out, title);
    fprintf(out, " noenhanced\n");
    put_axis(out, 'x', dims[v->dimids[v->ndims - 1]].name);
    put_axis(out, 'y', v->ndims > 1 ? dims[v->dimids[v->ndims - 2]].name : "");
    fprintf(out, "%s\nset cbrange [%.9g:%.9g]\n",
            wide ? "set logscale cb" : "unset logscale cb", wide ? range.least : 0,
            range.most);
    fprintf(out, "set xrange [-0.5:%.17g]\nset yrange [%.17g:-0.5]\n",
            (double)m->columns - 0.5, (double)m->rows - 0.5);
    fprintf(out, "set xtics %" PRId64 "\nset ytics %" PRId64 "\n", m->columns / 10 + 1,
            m->rows / 8 + 1);
    fprintf(out,
            "plot $map%d using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid noborder "
            "linecolor palette notitle\n",
            number);
}

int diff_draw(const struct diff *d)
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
