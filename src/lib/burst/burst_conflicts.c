/* Finds the variables in which several processes access the same elements: before a
 * drain, elements that they have written in different calls, because these writes must be
 * drained in order; before a get, elements that one process reads and another one has
 * logged.
 *
 * If two processes write to the same place, the later collective call takes precedence.
 * Draining in that order costs an agreement per call, and draining before a get costs
 * transfers. So this is done only if the processes' parts, which are approximated by
 * regular boxes of indices, overlap.
 *
 * 1. No process gathers all parts. They are combined in a tree: before step k, each
 *    remaining process has the parts of 2^k consecutive processes, starting with itself.
 *    In step k every second remaining process sends them to the remaining process before
 *    it, which compares the two sets. So each pair of processes is compared once, and no
 *    process is compared with itself.
 * 2. A list of at most FEW boxes describes what consecutive processes have written to a
 *    variable, and another list what they read. Adjacent boxes are merged, so the grids,
 *    rows and cycles that programs assign by rank become few boxes. If there are still
 *    too many, two are replaced by one that covers both.
 * 3. A box is replaced only by one that covers all of its indices, bytes and epochs. So
 *    if parts of two processes overlap, so do the boxes compared for them.
 * 4. The converse is not true: boxes may overlap even if no parts do. Then the variable
 *    is drained, or drained in order, without need.
 * 5. FEW bounds memory and messages, regardless of the number of processes. */
#include <string.h>

#include "access_walk.h"
#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "base_number.h"
#include "burst.h"

/* Layout of a box: first and last epoch; bytes [begin, end) of the file; then, for each
 * dimension, indices low + i * step + j, up to `last`, for all i and all j < width. */
enum { FROM, TO, BEGIN, END, BOX };
enum { LOW, LAST, STEP, WIDTH, PER_DIM };
enum {
    FEW = 16,
    MOST = 1 << 17, /* numbers in the lists that are compared at one time */
    PARTS = 0x6f72, /* tag of the messages */
    READ = -1       /* stands for the epoch of values that a get reads */
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

/* ---- what this process accesses ---- */

/* Adds blocks of `width` indices to a dimension of a box. They begin at `start`, `start`
 * + `step` and so on, up to `last`. */
static void extend_dim(int64_t *dim, int64_t start, int64_t last, int64_t step,
                       int64_t width)
{
    dim[STEP] = base_gcd(base_gcd(dim[STEP], step),
                         start > dim[LOW] ? start - dim[LOW] : dim[LOW] - start);
    dim[LOW] = least(dim[LOW], start);
    dim[LAST] = most(dim[LAST], last);
    dim[WIDTH] = most(dim[WIDTH], width);
}

/* A write or read: a slab, and the bytes of the file that it touches. */
struct part {
    int64_t epoch, low, high;
    const int64_t *start, *count, *stride; /* start is NULL if any index may be touched */
};

/* Extends the only box of a list to include a part; adds the box if the list is empty. */
static void extend_list(int64_t *list, int ndims, const struct part *a)
{
    int64_t *box = list + 1;
    bool first = list[0] == 0;
    list[0] = 1;
    if (first) box[FROM] = box[TO] = a->epoch, box[BEGIN] = a->low, box[END] = a->high;
    box[FROM] = least(box[FROM], a->epoch);
    box[TO] = most(box[TO], a->epoch);
    box[BEGIN] = least(box[BEGIN], a->low);
    box[END] = most(box[END], a->high);
    for (int i = 0; i < ndims; i++) {
        int64_t *dim = dim_of(box, i), step = a->stride == NULL ? 1 : a->stride[i];
        if (a->start == NULL) {
            dim[LOW] = 0, dim[LAST] = INT64_MAX, dim[STEP] = dim[WIDTH] = 1;
            continue;
        }
        int64_t start = a->start[i], count = a->count[i];
        if (first) dim[LOW] = dim[LAST] = start, dim[STEP] = dim[WIDTH] = 0;
        if (step == 1) /* one block */
            extend_dim(dim, start, start + count - 1, 0, count);
        else
            extend_dim(dim, start, start + (count - 1) * step, count > 1 ? step : 0, 1);
    }
}

/* Normalizes each dimension of a list's only box: if it is one block, or blocks without
 * gaps, makes it single indices in steps of 1. */
static void normalize_list(int64_t *list, int ndims)
{
    for (int i = 0; list[0] > 0 && i < ndims; i++) {
        int64_t *dim = dim_of(list + 1, i);
        if (dim[STEP] == 0 || dim[WIDTH] >= dim[STEP]) dim[STEP] = dim[WIDTH] = 1;
    }
}

/* ---- boxes ---- */

static bool dims_overlap(const int64_t *p, const int64_t *q)
{
    int64_t step = base_gcd(p[STEP], q[STEP]), widths = p[WIDTH] + q[WIDTH] - 1;
    if (p[LOW] > q[LAST] || q[LOW] > p[LAST]) return false;
    /* They overlap if, modulo the common step, q begins less than p's width after an
     * index of p, or less than its own width before one. */
    int64_t apart = (q[LOW] - p[LOW] + q[WIDTH] - 1) % step;
    return (apart < 0 ? apart + step : apart) < widths;
}

static bool boxes_overlap(int64_t *a, int64_t *b, int ndims)
{
    bool one_call = a[FROM] == a[TO] && b[FROM] == b[TO] && a[FROM] == b[FROM];
    bool all = !one_call && a[BEGIN] < b[END] && b[BEGIN] < a[END];
    for (int i = 0; i < ndims && all; i++)
        all = dims_overlap(dim_of(a, i), dim_of(b, i));
    return all;
}

/* Extends p by the indices of q. Returns false if p and q are not adjacent. If they
 * differ in length, p may gain a few indices beyond the end of the shorter one. */
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

/* Extends a's ranges of epochs and bytes to cover b's and everything in between. */
static void unite_ranges(int64_t *a, const int64_t *b)
{
    a[FROM] = least(a[FROM], b[FROM]);
    a[TO] = most(a[TO], b[TO]);
    a[BEGIN] = least(a[BEGIN], b[BEGIN]);
    a[END] = most(a[END], b[END]);
}

/* Merges b into a if they have the same indices except in one dimension, in which they
 * are adjacent, or if they have the same indices and adjacent bytes. */
static bool unite(int64_t *a, int64_t *b, int ndims)
{
    int other = -1;
    for (int i = 0; i < ndims; i++) {
        if (memcmp(dim_of(a, i), dim_of(b, i), PER_DIM * sizeof *a) == 0) continue;
        if (other >= 0) return false;
        other = i;
    }
    if (other < 0 && (a[BEGIN] > b[END] || b[BEGIN] > a[END])) return false;
    if (other >= 0 && !unite_dims(dim_of(a, other), dim_of(b, other))) return false;
    unite_ranges(a, b);
    return true;
}

/* Extends a to cover both boxes and everything between them. */
static void cover(int64_t *a, int64_t *b, int ndims)
{
    for (int i = 0; i < ndims; i++) {
        int64_t *p = dim_of(a, i);
        const int64_t *q = dim_of(b, i);
        p[LOW] = least(p[LOW], q[LOW]);
        p[LAST] = most(p[LAST], q[LAST]);
        p[STEP] = p[WIDTH] = 1;
    }
    unite_ranges(a, b);
}

/* ---- lists: the number of boxes, then the boxes ---- */

static int64_t list_size(int ndims)
{
    return 1 + FEW * box_size(ndims);
}

static int64_t *box_of(int64_t *list, int64_t i, int ndims)
{
    return list + 1 + i * box_size(ndims);
}

/* Adds a box, which may be modified. First merges it with boxes of the list as long as
 * possible, and removes these from the list. */
static void add_box(int64_t *list, int64_t *box, int ndims)
{
    size_t bytes = (size_t)box_size(ndims) * sizeof *box;
    for (int64_t i = 0; i < list[0]; i++) {
        int64_t *other = box_of(list, i, ndims);
        if (!unite(box, other, ndims)) continue;
        memmove(other, box_of(list, --list[0], ndims), bytes);
        i = -1;
    }
    if (list[0] == FEW)
        cover(box_of(list, FEW - 1, ndims), box, ndims);
    else
        memcpy(box_of(list, list[0]++, ndims), box, bytes);
}

static bool lists_overlap(int64_t *a, int64_t *b, int ndims)
{
    for (int64_t i = 0; i < a[0]; i++)
        for (int64_t j = 0; j < b[0]; j++)
            if (boxes_overlap(box_of(a, i, ndims), box_of(b, j, ndims), ndims))
                return true;
    return false;
}

/* ---- the tree ---- */

/* A comparison of variables [first, last). Each compared variable has a list of what
 * consecutive processes have written and, for a get, a second list of what they read. */
struct parts {
    struct burst *b;
    const struct cdf_header *h;
    uint64_t vars;                      /* the variables to examine */
    struct access_request *const *reqs; /* requests of a get */
    int64_t n;
    int64_t low, high; /* the get reads bytes within [low, high), on all processes */
    int nlists;
    int *touched;         /* for a drain, number of processes that wrote each variable */
    unsigned char *flags; /* one per variable; 1 if parts overlap in it */
    int first, last;
    int64_t *lists, *message; /* buffers of the same size */
    int64_t *offsets;         /* offset of each variable's first list in `lists` */
};

static bool takes_part(const struct parts *p, int varid)
{
    return (p->vars & burst_bit(varid)) && (p->nlists == 2 || p->touched[varid] > 1);
}

/* Returns the next variable after varid that is compared; p->last at the end. */
static int next_var(const struct parts *p, int varid)
{
    do
        varid++;
    while (varid < p->last && !takes_part(p, varid));
    return varid;
}

/* Returns the k-th list of a variable; NULL if the variable is not compared. */
static int64_t *list_of(const struct parts *p, int varid, int k)
{
    if (varid < p->first || varid >= p->last || !takes_part(p, varid)) return NULL;
    return p->lists + p->offsets[varid] + k * list_size(p->h->vars[varid].ndims);
}

/* Fills the lists with what this process has written and, for a get, what it reads. For a
 * get, includes only writes within the range of bytes that the processes read. */
static void fill_lists(struct parts *p)
{
    struct burst_list *l = &p->b->list;
    int64_t at = 0, *list;
    for (int id = next_var(p, p->first - 1); id < p->last; id = next_var(p, id)) {
        p->offsets[id] = at;
        at += p->nlists * list_size(p->h->vars[id].ndims);
        for (int k = 0; k < p->nlists; k++)
            list_of(p, id, k)[0] = 0;
    }
    int64_t n;
    bool all = p->nlists == 1 || burst_list_find(l, p->low, p->high, &n) != NC_NOERR;
    if (all) n = l->n;
    for (int64_t i = 0; i < n; i++) {
        const struct burst_write *w = l->writes[all ? i : l->found[i]];
        int ndims = p->h->vars[w->varid].ndims;
        struct part a = {w->epoch, w->low, w->high, w->slab, w->slab + ndims, NULL};
        if (w->flags & BURST_RAW) a.start = NULL;
        if (w->strided) a.stride = a.count + ndims;
        if ((list = list_of(p, w->varid, 0)) != NULL) extend_list(list, ndims, &a);
    }
    for (int64_t i = 0; i < p->n; i++) {
        const struct access_request *r = p->reqs[i];
        struct access_extent s = access_extent_init();
        int ndims = p->h->vars[r->varid].ndims;
        if ((list = list_of(p, r->varid, 1)) == NULL || !access_extent(p->h, r, &s))
            continue;
        extend_list(list, ndims,
                    &(struct part){READ, s.low, s.high, r->raw ? NULL : access_start(r),
                                   access_count(r, ndims), access_stride(r, ndims)});
    }
    for (int id = next_var(p, p->first - 1); id < p->last; id = next_var(p, id))
        for (int k = 0; k < p->nlists; k++)
            normalize_list(list_of(p, id, k), p->h->vars[id].ndims);
}

/* Packs the lists into the message. Returns its length in numbers. */
static int64_t pack_lists(const struct parts *p)
{
    int64_t *to = p->message;
    for (int id = next_var(p, p->first - 1); id < p->last; id = next_var(p, id))
        for (int k = 0; k < p->nlists; k++) {
            const int64_t *list = list_of(p, id, k);
            int64_t n = 1 + list[0] * box_size(p->h->vars[id].ndims);
            memcpy(to, list, (size_t)n * sizeof *to);
            to += n;
        }
    return to - p->message;
}

/* Compares the lists with those of a message, and merges them. Modifies the message. */
static void merge_message(const struct parts *p)
{
    int64_t *from = p->message;
    for (int id = next_var(p, p->first - 1); id < p->last; id = next_var(p, id)) {
        int ndims = p->h->vars[id].ndims;
        int64_t *theirs[2] = {NULL, NULL};
        for (int k = 0; k < p->nlists; k++) {
            theirs[k] = from;
            from += 1 + from[0] * box_size(ndims);
        }
        for (int k = 0; k < p->nlists; k++) /* writes with writes, or reads with writes */
            if (lists_overlap(list_of(p, id, k), theirs[p->nlists - 1 - k], ndims))
                p->flags[id] = 1;
        for (int k = 0; k < p->nlists; k++)
            for (int64_t j = 0; j < theirs[k][0]; j++)
                add_box(list_of(p, id, k), box_of(theirs[k], j, ndims), ndims);
    }
}

/* Performs one step of the tree. Each process sends, receives, or does neither. */
static int climb_all(const struct parts *p, int step, int capacity)
{
    const struct dataset *ds = p->b->base.ds;
    bool sends = ds->rank % (2 * step) == step;
    bool receives = ds->rank % (2 * step) == 0 && ds->rank + step < ds->nprocs;
    int n = sends ? (int)pack_lists(p) : 0, own = base_holds(n <= capacity);
    int mpi = MPI_Sendrecv(sends ? p->message : NULL, n, MPI_INT64_T,
                           sends ? ds->rank - step : MPI_PROC_NULL, PARTS,
                           receives ? p->message : NULL, receives ? capacity : 0,
                           MPI_INT64_T, receives ? ds->rank + step : MPI_PROC_NULL, PARTS,
                           ds->comm, MPI_STATUS_IGNORE);
    if (receives && mpi == MPI_SUCCESS) merge_message(p);
    return own != NC_NOERR ? own : base_mpi_error(mpi, NC_EMPI, "MPI_Sendrecv");
}

/* Sets the flag of each variable in which parts overlap, on the process that finds the
 * overlap. Processes as many variables at a time as fit into the buffers. */
static int compare_all(struct parts *p)
{
    int err = NC_NOERR;
    if (p->b->base.ds->nprocs == 1) return NC_NOERR;
    for (p->first = 0; p->first < p->h->nvars; p->first = p->last) {
        int64_t numbers = 0;
        for (p->last = p->first; p->last < p->h->nvars; p->last++) {
            int64_t more = p->nlists * list_size(p->h->vars[p->last].ndims);
            if (!takes_part(p, p->last)) continue;
            if (numbers > 0 && numbers + more > MOST) break;
            numbers += more;
        }
        if (numbers == 0) continue;
        fill_lists(p);
        for (int step = 1; step < p->b->base.ds->nprocs; step *= 2) {
            int climbed = climb_all(p, step, (int)numbers);
            if (err == NC_NOERR) err = climbed;
        }
    }
    return err;
}

static void free_parts(struct parts *p)
{
    base_free(p->touched);
    base_free(p->offsets);
    base_free(p->lists);
    base_free(p->message);
}

/* Allocates the buffers, on all processes or on none, and agrees on the range of bytes
 * that n requests of a get read; `reqs` is NULL for a drain. The caller frees the
 * buffers, even after an error. Agreed. */
static int init_parts_all(struct parts *p, struct burst *b, uint64_t vars,
                          struct access_request *const *reqs, int64_t n, int nlists,
                          unsigned char *flags)
{
    const struct cdf_header *h = &b->base.ds->header;
    size_t nvars = (size_t)h->nvars;
    int64_t all = 0, largest = 0;
    for (int id = 0; id < h->nvars; id++) {
        int64_t size = nlists * list_size(h->vars[id].ndims);
        all += size;
        largest = most(largest, size);
    }
    size_t bytes = (size_t)least(all, most(MOST, largest)) * sizeof(int64_t);
    struct access_extent reads = access_extent_init();
    for (int64_t i = 0; i < n; i++) {
        struct access_extent s = access_extent_init();
        if (access_extent(h, reqs[i], &s)) access_extent_add(&reads, &s);
    }
    *p = (struct parts){.b = b, .h = h, .vars = vars, .reqs = reqs, .n = n};
    p->nlists = nlists;
    p->touched = base_calloc(nvars, sizeof *p->touched);
    p->flags = flags;
    p->offsets = base_malloc(nvars * sizeof *p->offsets);
    p->lists = base_malloc(bytes);
    p->message = base_malloc(bytes);
    bool lacks = p->touched == NULL || p->flags == NULL || p->offsets == NULL ||
                 p->lists == NULL || p->message == NULL;
    int64_t bounds[2] = {-reads.low, reads.high};
    int err =
        dataset_agree_all(b->base.ds, lacks ? NC_ENOMEM : NC_NOERR, NULL, bounds, 2);
    p->low = -bounds[0];
    p->high = bounds[1];
    return err;
}

/* ---- drains ---- */

static int count_touched_all(const struct parts *p)
{
    for (int64_t i = 0; i < p->b->list.n; i++) {
        int varid = p->b->list.writes[i]->varid;
        if (p->vars & burst_bit(varid)) p->touched[varid] = 1;
    }
    int mpi = MPI_Allreduce(MPI_IN_PLACE, p->touched, p->h->nvars, MPI_INT, MPI_SUM,
                            p->b->base.ds->comm);
    return base_mpi_error(mpi, NC_EMPI, "MPI_Allreduce");
}

int burst_contested_all(struct burst *b, uint64_t vars, unsigned char **flags)
{
    struct dataset *ds = b->base.ds;
    struct parts p;
    bool any = false;
    int nvars = ds->header.nvars;
    unsigned char *marks = base_calloc((size_t)nvars, 1);
    int err = init_parts_all(&p, b, vars, NULL, 0, 1, marks);
    if (err == NC_NOERR && marks != NULL) {
        err = count_touched_all(&p);
        if (err == NC_NOERR) err = compare_all(&p);
        err = dataset_agree_all(ds, err, NULL, NULL, 0);
        if (err == NC_NOERR) {
            int mpi = MPI_Allreduce(MPI_IN_PLACE, marks, nvars, MPI_UNSIGNED_CHAR,
                                    MPI_MAX, ds->comm);
            for (int id = 0; id < nvars; id++)
                if (marks[id]) any = true;
            err = base_mpi_error(mpi, NC_EMPI, "MPI_Allreduce");
        }
    }
    free_parts(&p);
    if (err != NC_NOERR || !any) {
        base_free(marks);
        marks = NULL;
    }
    *flags = marks;
    return err;
}

/* ---- gets ---- */

int burst_conflicts_all(struct burst *b, uint64_t vars,
                        struct access_request *const *reqs, int64_t n, bool own,
                        bool *found)
{
    struct parts p;
    int64_t any = own;
    unsigned char *marks = base_calloc((size_t)b->base.ds->header.nvars, 1);
    *found = false;
    int err = init_parts_all(&p, b, vars, reqs, n, 2, marks);
    if (err == NC_NOERR) {
        int compared = compare_all(&p);
        for (int id = 0; id < p.h->nvars; id++)
            any |= marks != NULL && marks[id];
        err = dataset_agree_all(b->base.ds, compared, NULL, &any, 1);
        *found = any != 0;
    }
    free_parts(&p);
    base_free(marks);
    return err;
}
