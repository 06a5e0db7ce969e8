/* Records where the values of a variable differ: in a grid over its last two dimensions,
 * accumulated over the other dimensions. */
#include <stdio.h>

#include "base_error.h"
#include "base_mem.h"
#include "diff.h"
#include "util_message.h"

enum { CELLS = DIFF_MAP_HEIGHT * DIFF_MAP_WIDTH };

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t steps(int64_t n, int64_t step)
{
    return n / step + (n % step != 0);
}

int64_t diff_length(const struct diff *d, const struct diff_pair *p, int i)
{
    const struct cdf_var *v = &d->header[0]->vars[p->varid[0]];
    return i > 0 || !v->is_record ? v->shape[i] : p->total / v->nelems;
}

static int allocate(struct diff_map *m)
{
    if (m->differing == NULL) m->differing = base_calloc(CELLS, sizeof *m->differing);
    if (m->largest == NULL) m->largest = base_calloc(CELLS, sizeof *m->largest);
    return m->differing != NULL && m->largest != NULL ? 0 : NC_ENOMEM;
}

/* Sets up the next map for a pair. The array must have space for it. */
static int init_map(struct diff *d, int pair)
{
    const struct diff_pair *p = &d->pairs[pair];
    const int n = d->header[0]->vars[p->varid[0]].ndims;
    struct diff_map *m = &d->maps[d->nmaps];
    if (allocate(m) != 0) {
        util_message(d->tool, NULL, -1, "%s", base_error_text(NC_ENOMEM));
        return -1;
    }
    m->pair = pair;
    m->rows = n > 1 ? diff_length(d, p, n - 2) : 1;
    m->columns = diff_length(d, p, n - 1);
    m->outer = p->total / (m->rows * m->columns);
    m->row_step = steps(m->rows, DIFF_MAP_HEIGHT);
    m->column_step = steps(m->columns, DIFF_MAP_WIDTH);
    m->height = (int)steps(m->rows, m->row_step);
    m->width = (int)steps(m->columns, m->column_step);
    return 0;
}

int diff_map_begin(struct diff *d, int pair)
{
    const struct diff_pair *p = &d->pairs[pair];
    d->map = NULL;
    if (!d->options.map && d->options.draw == NULL) return 0;
    if (d->nmaps == DIFF_MAPS || p->total == 0 ||
        d->header[0]->vars[p->varid[0]].ndims == 0)
        return 0;
    if (init_map(d, pair) != 0) return -1;
    d->map = &d->maps[d->nmaps];
    return 0;
}

void diff_map_end(struct diff *d, int pair)
{
    if (d->map != NULL && d->results[pair].differing > 0) d->nmaps++;
    d->map = NULL;
}

void diff_map_add(struct diff_map *m, int64_t element, double apart)
{
    const int64_t at = element % (m->rows * m->columns);
    const int64_t y = at / m->columns / m->row_step, x = at % m->columns / m->column_step;
    const int64_t cell = y * m->width + x;
    m->differing[cell]++;
    if (apart > m->largest[cell]) m->largest[cell] = apart;
}

void diff_map_free(struct diff *d)
{
    for (int i = 0; i < DIFF_MAPS; i++) {
        base_free(d->maps[i].differing);
        base_free(d->maps[i].largest);
    }
}

/* ---- several processes ---- */

int diff_map_choose(const struct diff *d, int pairs[DIFF_MAPS])
{
    int n = 0;
    if (!d->options.map && d->options.draw == NULL) return 0;
    for (int i = 0; i < d->npairs && n < DIFF_MAPS; i++)
        if (d->results[i].differing > 0 &&
            d->header[0]->vars[d->pairs[i].varid[0]].ndims > 0)
            pairs[n++] = i;
    return n;
}

int diff_map_complete(struct diff *d, const int *pairs, int n)
{
    for (int k = 0; k < n; k++) {
        if (k < d->nmaps && d->maps[k].pair == pairs[k]) continue;
        /* Shifts the later maps up. If the array is full, frees the last map, whose pair
         * was not chosen. */
        const struct diff_map last = d->maps[DIFF_MAPS - 1];
        const int kept = d->nmaps;
        for (int i = DIFF_MAPS - 1; i > k; i--)
            d->maps[i] = d->maps[i - 1];
        d->maps[k] = (struct diff_map){.differing = NULL};
        base_free(last.differing);
        base_free(last.largest);
        d->nmaps = k;
        int status = init_map(d, pairs[k]);
        d->nmaps = (int)min(kept + 1, DIFF_MAPS);
        if (status != 0) return -1;
    }
    d->nmaps = n;
    return 0;
}

/* ---- as text ---- */

enum { TEXT_HEIGHT = 20, TEXT_WIDTH = 72 };

/* Returns how many tenths of the values differ in the map's cells starting at (y, x): at
 * least 1 if any value differs, and 10 only if all do. */
static int tenths(const struct diff_map *m, int64_t y, int64_t x, int64_t ny, int64_t nx)
{
    int64_t differing = 0;
    const int64_t down = min(y + ny, m->height), across = min(x + nx, m->width);
    for (int64_t i = y; i < down; i++)
        for (int64_t k = x; k < across; k++)
            differing += m->differing[i * m->width + k];
    const int64_t rows = min(down * m->row_step, m->rows) - y * m->row_step;
    const int64_t columns = min(across * m->column_step, m->columns) - x * m->column_step;
    const int64_t all = m->outer * rows * columns;
    if (differing == 0 || differing == all) return differing == 0 ? 0 : 10;
    const int n = (int)(10 * ((double)differing / (double)all));
    return n < 1 ? 1 : n;
}

/* Returns the escape sequence that sets the colour for a character. */
static const char *colour_of(char c)
{
    return c == '#' ? "\033[31m" : c == '.' ? "\033[0m" : "\033[33m";
}

void diff_map_show(struct diff *d, const struct diff_map *m)
{
    const struct cdf_var *v = &d->header[0]->vars[d->pairs[m->pair].varid[0]];
    const struct cdf_dim *dims = d->header[0]->dims;
    const int64_t ny = steps(m->height, TEXT_HEIGHT), nx = steps(m->width, TEXT_WIDTH);
    const bool colours = util_out_colours(d->out);
    char names[2][64] = {""};
    snprintf(names[1], sizeof names[1], "%.60s", dims[v->dimids[v->ndims - 1]].name);
    if (v->ndims > 1)
        snprintf(names[0], sizeof names[0], "%.60s", dims[v->dimids[v->ndims - 2]].name);
    util_escape_controls(names[0]);
    util_escape_controls(names[1]);
    util_out_print(d->out, "    map%s%s, across %s:\n", v->ndims > 1 ? ", down " : "",
                   names[0], names[1]);
    for (int64_t y = 0; y < m->height; y += ny) {
        char before = '.';
        util_out_text(d->out, "    |");
        for (int64_t x = 0; x < m->width; x += nx) {
            const char c = ".123456789#"[tenths(m, y, x, ny, nx)];
            if (colours &&
                (c == '#') + 2 * (c == '.') != (before == '#') + 2 * (before == '.'))
                util_out_text(d->out, colour_of(c));
            util_out_bytes(d->out, &c, 1);
            before = c;
        }
        util_out_text(d->out, colours ? "\033[0m|\n" : "|\n");
    }
}

void diff_map_json(struct diff *d, const struct diff_map *m)
{
    util_json_open(&d->j, "map", '{');
    util_json_int(&d->j, "row_step", m->row_step);
    util_json_int(&d->j, "column_step", m->column_step);
    util_json_open(&d->j, "differing", '[');
    for (int y = 0; y < m->height; y++) {
        char row[DIFF_MAP_WIDTH * 24];
        int used = 0;
        for (int x = 0; x < m->width; x++)
            used +=
                snprintf(row + used, sizeof row - (size_t)used, "%s%lld",
                         x == 0 ? "[" : ", ", (long long)m->differing[y * m->width + x]);
        snprintf(row + used, sizeof row - (size_t)used, "]");
        util_json_raw(&d->j, NULL, row);
    }
    util_json_close(&d->j, ']');
    util_json_close(&d->j, '}');
}

const struct diff_map *diff_map_of(const struct diff *d, int pair)
{
    for (int i = 0; i < d->nmaps; i++)
        if (d->maps[i].pair == pair) return &d->maps[i];
    return NULL;
}
