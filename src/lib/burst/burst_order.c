/* Order between processes: of two writes to one place by different processes, the one of
 * the later collective call holds. Keeping to that while the logs drain costs an
 * agreement for each call, so it is done only for variables in which it could make a
 * difference: where the processes' parts, each taken as one regular box, overlap.
 *
 * No process learns all parts. They climb a tree: in its k-th step every other of the
 * processes that are left hands what it knows of the 2^k processes from itself on to the
 * one that knows as many before it, who holds both against each other. Each two processes
 * are so compared once, where their rows come together. What a row of processes has
 * written of a variable is a list of at most FEW boxes: boxes that lie side by side
 * become one, which makes few of the grids, rows and cycles that programs deal out by
 * rank; where there still are more, two become one that holds both.
 *
 * A box is only ever replaced by one that holds all of its places and all of its epochs.
 * So if the parts of two processes overlap, the boxes that are compared for them do, and
 * the variable is contested. The other way round need not be: then it is drained in order
 * for nothing. Memory and messages are bounded by FEW, whatever the number of processes.
 */
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "base_number.h"
#include "burst.h"

/* A box as numbers: epochs from and to, then for each dimension its indices
 * low + i * step + j up to last, for all i, and j below width. */
enum { FROM, TO, BOX };
enum { LOW, LAST, STEP, WIDTH, PER_DIM };
enum {
    FEW = 16,
    ROOM = 1 << 17, /* numbers in the lists of variables that are taken at a time */
    PARTS = 0x6f72  /* a message's tag */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t *dim_of(int64_t *box, int i)
{
    return box + BOX + (ptrdiff_t)i * PER_DIM;
}

static int64_t box_size(int ndims)
{
    return BOX + (int64_t)ndims * PER_DIM;
}

/* ---- what this process has written ---- */

static void join_dim(int64_t *dim, int64_t start, int64_t count, int64_t stride,
                     bool first)
{
    int64_t last = start + (count - 1) * stride;
    if (first) dim[LOW] = start, dim[LAST] = last, dim[STEP] = 0;
    int64_t apart = start > dim[LOW] ? start - dim[LOW] : dim[LOW] - start;
    dim[STEP] = base_gcd(dim[STEP], apart);
    if (count > 1) dim[STEP] = base_gcd(dim[STEP], stride);
    dim[LOW] = least(dim[LOW], start);
    dim[LAST] = most(dim[LAST], last);
    dim[WIDTH] = 1;
}

/* Makes the box hold a write, too; first: nothing else. */
static void extend_box(int64_t *box, const struct burst_write *w, int ndims, bool first)
{
    box[FROM] = first ? w->epoch : least(box[FROM], w->epoch);
    box[TO] = first ? w->epoch : most(box[TO], w->epoch);
    for (int i = 0; i < ndims; i++) {
        int64_t *dim = dim_of(box, i);
        if (w->flags & BURST_RAW) /* anywhere */
            dim[LOW] = 0, dim[LAST] = INT64_MAX, dim[STEP] = dim[WIDTH] = 1;
        else
            join_dim(dim, w->slab[i], w->slab[ndims + i],
                     w->strided ? w->slab[2 * ndims + i] : 1, first);
    }
}

/* ---- boxes ---- */

static bool dims_overlap(const int64_t *p, const int64_t *q)
{
    int64_t step = base_gcd(p[STEP], q[STEP]), widths = p[WIDTH] + q[WIDTH] - 1;
    if (p[LOW] > q[LAST] || q[LOW] > p[LAST]) return false;
    /* Is q's beginning less than p's width behind a place of p's, modulo the step both
     * have, or less than its own before one? */
    int64_t apart = (q[LOW] - p[LOW] + q[WIDTH] - 1) % step;
    return (apart < 0 ? apart + step : apart) < widths;
}

static bool order_boxes_overlap(int64_t *a, int64_t *b, int ndims)
{
    bool one_call = a[FROM] == a[TO] && b[FROM] == b[TO] && a[FROM] == b[FROM];
    bool all = !one_call;
    for (int i = 0; i < ndims && all; i++)
        all = dims_overlap(dim_of(a, i), dim_of(b, i));
    return all;
}

/* The indices of p and q, and at most some behind the end of the shorter, in *p; false:
 * they do not lie side by side. */
static bool unite_dims(int64_t *p, const int64_t *q)
{
    const int64_t *first = p[LOW] <= q[LOW] ? p : q, *second = first == p ? q : p;
    int64_t low = first[LOW], last = most(p[LAST], q[LAST]), width = 1, step = 1;
    bool dense = p[STEP] == 1 && q[STEP] == 1;
    if (dense && second[LOW] - 1 > first[LAST]) return false;
    if (!dense) {
        if (p[STEP] != q[STEP] || second[LOW] - low != first[WIDTH]) return false;
        step = p[STEP];
        width = p[WIDTH] + q[WIDTH];
        if (width >= step) step = width = 1;
    }
    p[LOW] = low, p[LAST] = last, p[STEP] = step, p[WIDTH] = width;
    return true;
}

static void unite_epochs(int64_t *a, const int64_t *b)
{
    a[FROM] = least(a[FROM], b[FROM]);
    a[TO] = most(a[TO], b[TO]);
}

/* Makes a hold b as well, if they are the same but for one dimension in which they lie
 * side by side. */
static bool unite(int64_t *a, int64_t *b, int ndims)
{
    int other = -1;
    for (int i = 0; i < ndims; i++) {
        if (memcmp(dim_of(a, i), dim_of(b, i), PER_DIM * sizeof *a) == 0) continue;
        if (other >= 0) return false;
        other = i;
    }
    if (other >= 0 && !unite_dims(dim_of(a, other), dim_of(b, other))) return false;
    unite_epochs(a, b);
    return true;
}

/* The same whatever they are, and all that lies between them. */
static void cover(int64_t *a, int64_t *b, int ndims)
{
    for (int i = 0; i < ndims; i++) {
        int64_t *p = dim_of(a, i);
        const int64_t *q = dim_of(b, i);
        p[LOW] = least(p[LOW], q[LOW]);
        p[LAST] = most(p[LAST], q[LAST]);
        p[STEP] = p[WIDTH] = 1;
    }
    unite_epochs(a, b);
}

/* ---- lists: how many boxes, and these ---- */

static int64_t list_size(int ndims)
{
    return 1 + FEW * box_size(ndims);
}

static int64_t *order_box(int64_t *list, int64_t i, int ndims)
{
    return list + 1 + i * box_size(ndims);
}

/* Adds a box, which may change; as often as it becomes one with another, that one is
 * taken out for it. */
static void order_add_box(int64_t *list, int64_t *box, int ndims)
{
    size_t bytes = (size_t)box_size(ndims) * sizeof *box;
    for (int64_t i = 0; i < list[0]; i++) {
        int64_t *other = order_box(list, i, ndims);
        if (!unite(box, other, ndims)) continue;
        memmove(other, order_box(list, --list[0], ndims), bytes);
        i = -1;
    }
    if (list[0] == FEW)
        cover(order_box(list, FEW - 1, ndims), box, ndims);
    else
        memcpy(order_box(list, list[0]++, ndims), box, bytes);
}

/* Adds the boxes of another list, which may change. Does one of them overlap one of those
 * that are there? */
static bool add_list(int64_t *list, int64_t *more, int ndims)
{
    bool overlap = false;
    for (int64_t i = 0; i < list[0] && !overlap; i++)
        for (int64_t j = 0; j < more[0] && !overlap; j++)
            overlap = order_boxes_overlap(order_box(list, i, ndims),
                                          order_box(more, j, ndims), ndims);
    for (int64_t j = 0; j < more[0]; j++)
        order_add_box(list, order_box(more, j, ndims), ndims);
    return overlap;
}

/* ---- the tree ---- */

/* Variables [first, last), and of those that several processes have written to the list
 * of what a row of processes has there. */
struct parts {
    const struct cdf_header *h;
    int first, last;
    int *touched;             /* how many processes have written to each variable */
    int64_t *lists, *message; /* both have the same room */
    int64_t *places;          /* of the lists */
};

static bool takes_part(const struct parts *p, int varid)
{
    return varid >= p->first && varid < p->last && p->touched[varid] > 1;
}

/* The next of them, behind varid; p->last: there is none. */
static int next_var(const struct parts *p, int varid)
{
    do
        varid++;
    while (varid < p->last && !takes_part(p, varid));
    return varid;
}

static void fill_lists(const struct burst *b, uint64_t vars, struct parts *p)
{
    int64_t at = 0;
    for (int id = next_var(p, p->first - 1); id < p->last; id = next_var(p, id)) {
        p->places[id] = at;
        p->lists[at] = 0;
        at += list_size(p->h->vars[id].ndims);
    }
    for (int64_t i = 0; i < b->nwrites; i++) {
        const struct burst_write *w = b->writes[i];
        if (!takes_part(p, w->varid) || !(vars & burst_bit(w->varid))) continue;
        int64_t *list = p->lists + p->places[w->varid];
        extend_box(list + 1, w, p->h->vars[w->varid].ndims, list[0] == 0);
        list[0] = 1;
    }
    for (int id = next_var(p, p->first - 1); id < p->last; id = next_var(p, id)) {
        int64_t *list = p->lists + p->places[id];
        for (int i = 0; list[0] > 0 && i < p->h->vars[id].ndims; i++)
            if (dim_of(list + 1, i)[STEP] == 0) dim_of(list + 1, i)[STEP] = 1; /* one */
    }
}

/* The lists, without their room. How many numbers. */
static int64_t write_letter(const struct parts *p)
{
    int64_t *to = p->message, *list = p->lists;
    for (int id = next_var(p, p->first - 1); id < p->last; id = next_var(p, id)) {
        int ndims = p->h->vars[id].ndims;
        int64_t n = 1 + list[0] * box_size(ndims);
        memcpy(to, list, (size_t)n * sizeof *to);
        to += n;
        list += list_size(ndims);
    }
    return to - p->message;
}

static void read_letter(const struct parts *p, unsigned char *flags)
{
    int64_t *from = p->message, *list = p->lists;
    for (int id = next_var(p, p->first - 1); id < p->last; id = next_var(p, id)) {
        int ndims = p->h->vars[id].ndims;
        if (add_list(list, from, ndims)) flags[id] = 1;
        from += 1 + from[0] * box_size(ndims);
        list += list_size(ndims);
    }
}

/* One step, of all processes: each sends, or receives, or does neither. */
static int climb_all(const struct dataset *ds, const struct parts *p, int step, int room,
                     unsigned char *flags)
{
    bool sends = ds->rank % (2 * step) == step;
    bool receives = ds->rank % (2 * step) == 0 && ds->rank + step < ds->nprocs;
    int n = sends ? (int)write_letter(p) : 0;
    int mpi = MPI_Sendrecv(sends ? p->message : NULL, n, MPI_INT64_T,
                           sends ? ds->rank - step : MPI_PROC_NULL, PARTS,
                           receives ? p->message : NULL, receives ? room : 0, MPI_INT64_T,
                           receives ? ds->rank + step : MPI_PROC_NULL, PARTS, ds->comm,
                           MPI_STATUS_IGNORE);
    if (receives && mpi == MPI_SUCCESS) read_letter(p, flags);
    return base_mpi_error(mpi, NC_EMPI, "MPI_Sendrecv");
}

/* Takes as many variables from p->first on as there is room for. How many numbers. */
static int64_t take_vars(struct parts *p)
{
    int64_t numbers = 0;
    for (p->last = p->first; p->last < p->h->nvars; p->last++) {
        int64_t more = list_size(p->h->vars[p->last].ndims);
        if (p->touched[p->last] < 2) continue;
        if (numbers > 0 && numbers + more > ROOM) break;
        numbers += more;
    }
    return numbers;
}

/* Marks variables in which parts overlap, each on the process that finds it. */
static int compare_all(struct burst *b, uint64_t vars, struct parts *p,
                       unsigned char *flags)
{
    const struct dataset *ds = b->base.ds;
    int err = NC_NOERR;
    for (p->first = 0; p->first < p->h->nvars; p->first = p->last) {
        int room = (int)take_vars(p);
        if (room == 0) continue;
        fill_lists(b, vars, p);
        for (int step = 1; step < ds->nprocs; step *= 2) {
            int climbed = climb_all(ds, p, step, room, flags);
            if (err == NC_NOERR) err = climbed;
        }
    }
    return err;
}

static int count_touched_all(struct burst *b, uint64_t vars, int *touched)
{
    for (int64_t i = 0; i < b->nwrites; i++)
        if (vars & burst_bit(b->writes[i]->varid)) touched[b->writes[i]->varid] = 1;
    int mpi = MPI_Allreduce(MPI_IN_PLACE, touched, b->base.ds->header.nvars, MPI_INT,
                            MPI_SUM, b->base.ds->comm);
    return base_mpi_error(mpi, NC_EMPI, "MPI_Allreduce");
}

/* Marks the variables that processes contest, alike everywhere. Agreed. */
static int mark_contested_all(struct burst *b, uint64_t vars, struct parts *p,
                              unsigned char *flags, bool *any)
{
    struct dataset *ds = b->base.ds;
    int nvars = ds->header.nvars, err = count_touched_all(b, vars, p->touched);
    if (err == NC_NOERR) err = compare_all(b, vars, p, flags);
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    if (err != NC_NOERR) return err;
    int mpi =
        MPI_Allreduce(MPI_IN_PLACE, flags, nvars, MPI_UNSIGNED_CHAR, MPI_MAX, ds->comm);
    for (int id = 0; id < nvars; id++)
        if (flags[id]) *any = true;
    return base_mpi_error(mpi, NC_EMPI, "MPI_Allreduce");
}

/* Numbers in the lists of all variables, or of as many as are taken at a time. */
static int64_t most_numbers(const struct cdf_header *h)
{
    int64_t all = 0, largest = 0;
    for (int id = 0; id < h->nvars; id++) {
        int64_t size = list_size(h->vars[id].ndims);
        all += size;
        largest = most(largest, size);
    }
    return least(all, most(ROOM, largest));
}

int burst_contested_all(struct burst *b, uint64_t vars, unsigned char **flags)
{
    const struct cdf_header *h = &b->base.ds->header;
    size_t nvars = (size_t)h->nvars, room = (size_t)most_numbers(h) * sizeof(int64_t);
    int *touched = base_calloc(nvars, sizeof *touched);
    int64_t *places = base_malloc(nvars * sizeof *places);
    int64_t *lists = base_malloc(room), *message = base_malloc(room);
    unsigned char *marks = base_calloc(nvars, 1);
    bool any = false, short_of = touched == NULL || marks == NULL || places == NULL ||
                                 lists == NULL || message == NULL;
    int err =
        dataset_agree_all(b->base.ds, short_of ? NC_ENOMEM : NC_NOERR, NULL, NULL, 0);
    if (err == NC_NOERR && touched != NULL && marks != NULL) {
        struct parts p = {.h = h};
        p.touched = touched, p.places = places, p.lists = lists, p.message = message;
        err = mark_contested_all(b, vars, &p, marks, &any);
    }
    base_free(touched);
    base_free(places);
    base_free(lists);
    base_free(message);
    if (err != NC_NOERR || !any) {
        base_free(marks);
        marks = NULL;
    }
    *flags = marks;
    return err;
}
