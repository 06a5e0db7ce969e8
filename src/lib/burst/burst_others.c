/* Has a process logged anything where another one reads? What each has logged and reads
 * is known to itself alone, and nobody gathers it: memory and messages do not grow with
 * the number of processes. Only that counts which lies in what all read together.
 *
 * First by boxes: each process learns between which bytes those before it have logged
 * anything, and those behind it. Where processes have their parts in the order of their
 * ranks, and read them, that settles it. Else by a map: what is read is cut into CELLS
 * cells, and of each is known the highest and the lowest rank of those that have logged
 * something there. Where both are this process, it is its own.
 *
 * Nothing is missed: let p read a byte that lies between the bounds of a write of q,
 * another process. It lies in what all read, so q counts the write: its box holds the
 * byte, and with it that of all on q's side of p; and the byte's cell, which q has marked
 * and p looks at, has q's rank or one beyond it, on the same side of p's. The other way
 * round, bounds and cells are more than what is touched: then it drains for nothing. */
#include "base_error.h"
#include "base_mpi.h"
#include "burst.h"

enum { CELLS = 2048, BOX = 0x6278 /* a message's tag */ };

/* Bytes [low, high) of the file; none if high is not above low. */
struct box {
    int64_t low, high;
};
static const struct box nothing = {INT64_MAX, 0}, everything = {0, INT64_MAX};

static void add_box(struct box *all, struct box more)
{
    if (more.low < all->low) all->low = more.low;
    if (more.high > all->high) all->high = more.high;
}

static bool boxes_overlap(struct box a, struct box b)
{
    return a.low < b.high && b.low < a.high && a.low < a.high && b.low < b.high;
}

/* ---- by boxes ---- */

/* This process's box goes `away` ranks up, if that is one of all, and the box of the one
 * that lies so far below comes; away may be negative. */
static int pass_on_all(const struct dataset *ds, int away, struct box mine,
                       struct box *theirs)
{
    int to = ds->rank + away, from = ds->rank - away;
    if (to < 0 || to >= ds->nprocs) to = MPI_PROC_NULL;
    if (from < 0 || from >= ds->nprocs) from = MPI_PROC_NULL;
    *theirs = nothing;
    int mpi = MPI_Sendrecv(&mine, 2, MPI_INT64_T, to, BOX, theirs, 2, MPI_INT64_T, from,
                           BOX, ds->comm, MPI_STATUS_IGNORE);
    return base_mpi_error(mpi, NC_EMPI, "MPI_Sendrecv");
}

/* The boxes of all processes before this one, and of all behind it. What a process knows
 * doubles with each step: rows of processes that end with it, and that begin with it. */
static int boxes_all(const struct dataset *ds, struct box mine, struct box *before,
                     struct box *behind)
{
    struct box ending = mine, beginning = mine, theirs;
    int err = NC_NOERR;
    *before = *behind = nothing;
    for (int away = 1; away < ds->nprocs; away *= 2) {
        int up = pass_on_all(ds, away, ending, &theirs);
        add_box(before, theirs);
        add_box(&ending, theirs);
        int down = pass_on_all(ds, -away, beginning, &theirs);
        add_box(behind, theirs);
        add_box(&beginning, theirs);
        if (err == NC_NOERR) err = up != NC_NOERR ? up : down;
    }
    return err;
}

/* ---- what this process knows ---- */

/* What it has logged of these variables in a part of the file. */
static struct box logged_box(struct burst *b, uint64_t vars, struct box part)
{
    int64_t n;
    struct box all = nothing;
    if (burst_touching(b, part.low, part.high, INT64_MAX, &n) != NC_NOERR)
        return everything;
    for (int64_t i = 0; i < n; i++) {
        const struct burst_write *w = b->writes[b->touching[i]];
        if (vars & burst_bit(w->varid)) add_box(&all, (struct box){w->low, w->high});
    }
    return all;
}

static struct box box_of(const struct burst *b, const struct access_request *r)
{
    struct box box;
    burst_request_bounds(b, r, &box.low, &box.high);
    return box;
}

/* ---- by a map ---- */

/* Of each cell the highest rank and one, and the number of processes less the lowest
 * rank; both 0 where nobody has logged anything. */
struct map {
    struct box part;
    int64_t cell; /* bytes of one */
    int ranks[CELLS][2];
};

/* Cells [*first, *last) of a box. */
static void cells_of(const struct map *m, struct box box, int64_t *first, int64_t *last)
{
    *first = *last = 0;
    if (!boxes_overlap(m->part, box)) return;
    if (box.low < m->part.low) box.low = m->part.low;
    if (box.high > m->part.high) box.high = m->part.high;
    *first = (box.low - m->part.low) / m->cell;
    *last = (box.high - 1 - m->part.low) / m->cell + 1;
}

static void mark(struct map *m, const struct dataset *ds, struct box box)
{
    int64_t i, last;
    for (cells_of(m, box, &i, &last); i < last; i++) {
        m->ranks[i][0] = ds->rank + 1;
        m->ranks[i][1] = ds->nprocs - ds->rank;
    }
}

static void mark_logged(struct map *m, struct burst *b, uint64_t vars)
{
    int64_t n;
    int err = burst_touching(b, m->part.low, m->part.high, INT64_MAX, &n);
    if (err != NC_NOERR) mark(m, b->base.ds, everything);
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        const struct burst_write *w = b->writes[b->touching[i]];
        if (vars & burst_bit(w->varid))
            mark(m, b->base.ds, (struct box){w->low, w->high});
    }
}

static bool others_marked(const struct map *m, const struct dataset *ds, struct box box)
{
    int64_t i, last;
    for (cells_of(m, box, &i, &last); i < last; i++)
        if (m->ranks[i][0] > ds->rank + 1 || m->ranks[i][1] > ds->nprocs - ds->rank)
            return true;
    return false;
}

/* ---- all together ---- */

/* The worst that any process has found. */
static int agree_found_all(const struct burst *b, int *found)
{
    int mpi = MPI_Allreduce(MPI_IN_PLACE, found, 1, MPI_INT, MPI_MAX, b->base.ds->comm);
    return base_mpi_error(mpi, NC_EMPI, "MPI_Allreduce");
}

static int look_at_map_all(struct burst *b, uint64_t vars, struct box part,
                           struct access_request *const *reqs, int64_t n, int *found)
{
    const struct dataset *ds = b->base.ds;
    struct map m = {.part = part, .cell = (part.high - part.low - 1) / CELLS + 1};
    mark_logged(&m, b, vars);
    int mpi = MPI_Allreduce(MPI_IN_PLACE, m.ranks, 2 * CELLS, MPI_INT, MPI_MAX, ds->comm);
    *found = 0;
    for (int64_t i = 0; i < n && !*found; i++)
        *found = others_marked(&m, ds, box_of(b, reqs[i]));
    int err = agree_found_all(b, found);
    return mpi != MPI_SUCCESS ? base_mpi_error(mpi, NC_EMPI, "MPI_Allreduce") : err;
}

int burst_others_all(struct burst *b, uint64_t vars, struct access_request *const *reqs,
                     int64_t n, bool own, bool *meets)
{
    enum { NONE, PERHAPS, SURE };
    struct dataset *ds = b->base.ds;
    struct box reads = nothing, before, behind;
    int found = NONE;
    *meets = false;
    for (int64_t i = 0; i < n; i++)
        add_box(&reads, box_of(b, reqs[i]));
    int64_t all[2] = {-reads.low, reads.high};
    int err = dataset_agree_all(ds, NC_NOERR, NULL, all, 2);
    struct box part = {-all[0], all[1]};
    if (err != NC_NOERR || part.low >= part.high) return err;

    int lost = boxes_all(ds, logged_box(b, vars, part), &before, &behind);
    if (boxes_overlap(reads, before) || boxes_overlap(reads, behind)) found = PERHAPS;
    if (own && boxes_overlap(reads, logged_box(b, vars, reads))) found = SURE;
    if (lost != NC_NOERR) found = SURE; /* as nothing is known */
    err = agree_found_all(b, &found);
    if (err == NC_NOERR && found == PERHAPS)
        err = look_at_map_all(b, vars, part, reqs, n, &found);
    *meets = found != NONE;
    return err;
}
