/* Compares values piece by piece. Pieces are assigned to the processes round-robin. */
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "diff.h"
#include "util_message.h"

enum { ROUND = 16 }; /* pieces that each process compares between two agreements */

struct work {
    struct diff *d;
    char *values[2];
    int64_t *length;        /* dimension lengths of the variable */
    int64_t *start, *count; /* extents of the piece */
    int64_t pieces;         /* number of pieces so far, over all processes */
    int64_t bytes;          /* bytes compared so far */
    bool stop;
    int status;
};

/* Sets the dimension lengths of the part that both files have in common. */
static void set_lengths(struct work *w, const struct diff_pair *pair)
{
    const struct cdf_var *v = &w->d->header[0]->vars[pair->varid[0]];
    for (int i = 0; i < v->ndims; i++)
        w->length[i] = diff_length(w->d, pair, i);
}

static void compare_piece(struct work *w, int i, const struct util_piece *p)
{
    struct diff *d = w->d;
    const struct diff_pair *pair = &d->pairs[i];
    const struct cdf_var *v = &d->header[0]->vars[pair->varid[0]];
    for (int s = 0; s < 2; s++)
        if (d->read(d, s, pair->varid[s], p, w->values[s]) != 0) {
            w->status = -1;
            w->stop = true;
            return;
        }
    diff_values(&d->results[i], d->map, v->type, &pair->tolerance, d->options.nan_differs,
                (const void *const[2]){w->values[0], w->values[1]}, p->n, p->first);
    if (d->options.first_only && d->results[i].differing > 0) w->stop = true;
}

/* Returns whether to stop. Several processes stop early only if first_only is set, and
 * only at the end of a round, if they agree to stop. */
static bool must_stop(struct work *w)
{
    struct diff *d = w->d;
    if (d->agree == NULL) return w->stop;
    if (!d->options.first_only || w->pieces % ((int64_t)d->nprocs * ROUND) != 0)
        return false;
    return d->agree(d, w->stop);
}

static int64_t bytes_to_compare(const struct diff *d)
{
    int64_t sum = 0;
    for (int i = 0; i < d->npairs; i++) {
        const struct cdf_var *v = &d->header[0]->vars[d->pairs[i].varid[0]];
        sum += d->pairs[i].total * cdf_type_size(v->type);
    }
    return sum;
}

/* Compares a variable. Returns true if the comparison must stop. */
static bool compare_variable(struct work *w, int i)
{
    struct diff *d = w->d;
    const struct diff_pair *pair = &d->pairs[i];
    const struct cdf_var *v = &d->header[0]->vars[pair->varid[0]];
    const int64_t size = cdf_type_size(v->type), most = DIFF_PIECE / size;
    struct util_piece p = {.start = w->start, .count = w->count};
    if (pair->total == 0) return false;
    set_lengths(w, pair);
    if (d->enter != NULL && d->enter(d, pair) != 0) {
        w->status = -1;
        return true;
    }
    for (int64_t at = 0; at < pair->total; at += p.n) {
        util_piece_make(&p, v->ndims, w->length, at, most);
        if (w->pieces++ % d->nprocs == d->rank && !w->stop) compare_piece(w, i, &p);
        w->bytes += p.n * size;
        util_progress_at(&d->progress, w->bytes);
        if (must_stop(w)) return true;
    }
    return false;
}

static int allocate(struct work *w)
{
    int most = 1;
    for (int i = 0; i < w->d->header[0]->nvars; i++)
        if (w->d->header[0]->vars[i].ndims > most) most = w->d->header[0]->vars[i].ndims;
    w->values[0] = base_malloc(DIFF_PIECE);
    w->values[1] = base_malloc(DIFF_PIECE);
    w->length = base_calloc((size_t)most, sizeof *w->length);
    w->start = base_calloc((size_t)most, sizeof *w->start);
    w->count = base_calloc((size_t)most, sizeof *w->count);
    if (w->values[0] != NULL && w->values[1] != NULL && w->length != NULL &&
        w->start != NULL && w->count != NULL)
        return 0;
    util_message(w->d->tool, NULL, -1, "%s", base_error_text(NC_ENOMEM));
    return -1;
}

int diff_data(struct diff *d)
{
    struct work w = {.d = d};
    w.status = allocate(&w);
    w.stop = w.status != 0;
    if (d->rank == 0) util_progress_start(&d->progress, d->tool, bytes_to_compare(d));
    for (int i = 0; i < d->npairs; i++) {
        if (diff_map_begin(d, i) != 0) {
            w.status = -1;
            w.stop = true;
        }
        bool over = compare_variable(&w, i);
        diff_map_end(d, i);
        if (over) break;
    }
    util_progress_end(&d->progress);
    base_free(w.values[0]);
    base_free(w.values[1]);
    base_free(w.length);
    base_free(w.start);
    base_free(w.count);
    return w.status;
}

void diff_merge(struct diff_result *to, const struct diff_result *from)
{
    to->compared += from->compared;
    to->differing += from->differing;
    if (from->first.element >= 0 &&
        (to->first.element < 0 || from->first.element < to->first.element))
        to->first = from->first;
    if (from->largest.element < 0) return;
    double a = to->largest.distance, b = from->largest.distance;
    if (to->largest.element < 0 || b > a ||
        (b == a && from->largest.element < to->largest.element))
        to->largest = from->largest;
}
