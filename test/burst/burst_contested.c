/* Tests how processes find the variables in which their logged writes could overlap.
 * Every overlap must be found. The usual ways to distribute a grid among processes must
 * not be mistaken for an overlap. */
#include <stdlib.h>
#include <string.h>

#include "base_mem.h"
#include "burst.h"
#include "check.h"

enum { VARS = 6, MOST = 40 };

static const int ndims_of[VARS] = {0, 1, 2, 2, 3, 4};

/* Number of messages, and length of the longest one. The library may exchange only a few
 * messages, none of them longer than a list of variables. */
static int messages, longest;

int MPI_Sendrecv(const void *out, int nout, MPI_Datatype type, int to, int tag, void *in,
                 int nin, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    messages++;
    if (nout > longest) longest = nout;
    return PMPI_Sendrecv(out, nout, type, to, tag, in, nin, in_type, from, in_tag, comm,
                         status);
}

/* A burst buffer that contains only writes, and a dataset that contains only variables.
 * burst_contested_all uses no other members. */
struct made {
    struct dataset ds;
    struct cdf_var vars[VARS];
    struct burst b;
    struct burst_write *writes[MOST];
};

static void begin(struct made *m)
{
    memset(m, 0, sizeof *m);
    m->ds.comm = MPI_COMM_WORLD;
    m->ds.rank = check.rank;
    m->ds.nprocs = check.nprocs;
    m->ds.header.nvars = VARS;
    m->ds.header.vars = m->vars;
    for (int i = 0; i < VARS; i++)
        m->vars[i].ndims = ndims_of[i];
    m->b.base.ds = &m->ds;
    m->b.list.writes = m->writes;
}

static void end(struct made *m)
{
    base_arena_free(&m->b.list.arena);
}

static void add(struct made *m, int varid, int64_t epoch, const int64_t *slab)
{
    size_t numbers = 3 * (size_t)ndims_of[varid];
    struct burst_write *w = burst_list_new(&m->b.list, varid, numbers);
    if (!CHECK(w != NULL && m->b.list.n < MOST) || w == NULL) return;
    memcpy(w->slab, slab, numbers * sizeof slab[0]);
    w->strided = true;
    w->epoch = epoch;
    w->high = INT64_MAX; /* only indices can show that two writes do not overlap */
    m->writes[m->b.list.n++] = w;
}

/* Returns whether the variable is contested. Checks that all processes get the same
 * result. */
static bool contested(struct made *m, int varid)
{
    unsigned char *flags = NULL;
    CHECK_NC(NC_NOERR, burst_contested_all(&m->b, BURST_ALL, &flags));
    int said = flags != NULL && flags[varid], all[2] = {said, -said};
    base_free(flags);
    MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK_EQ(all[0], -all[1]);
    return said;
}

/* Skips the test and returns true if there are more than 5 processes. Only one test needs
 * more, namely 33. */
static bool too_many(void)
{
    if (check.nprocs > 5) check_skip("so many processes take long");
    return check.nprocs > 5;
}

/* ---- common distributions ---- */

static int64_t part_from(int64_t length, int i, int n)
{
    return length * i / n;
}

/* Adds this process's block to the writes. The processes form a grid with `columns`
 * columns. Each block is written in two records, each in its own epoch. */
static void blocks(struct made *m, int columns)
{
    enum { Y = 1000, X = 77 };
    int rows = (check.nprocs + columns - 1) / columns, y = check.rank / columns,
        x = check.rank % columns;
    for (int t = 0; t < 2; t++) {
        int64_t from = part_from(Y, y, rows), low = part_from(X, x, columns);
        const int64_t slab[9] = {t,
                                 from,
                                 low,
                                 1,
                                 part_from(Y, y + 1, rows) - from,
                                 part_from(X, x + 1, columns) - low,
                                 1,
                                 1,
                                 1};
        add(m, 4, t, slab);
    }
}

/* Adds writes to every nprocs-th index, starting at (rank + turn) % nprocs, in two
 * epochs. */
static void cycle(struct made *m, int turn)
{
    int n = check.nprocs, first = (check.rank + turn) % n;
    for (int t = 0; t < 2; t++) {
        const int64_t slab[6] = {t, first, 1, (40 - first + n - 1) / n, 1, n};
        add(m, 3, t, slab);
    }
}

static void disjoint_parts_are_not_contested(void)
{
    if (too_many()) return;
    struct made m;
    int steps = 0;
    while (1 << steps < check.nprocs)
        steps++;
    for (int columns = 1; columns <= check.nprocs; columns++) {
        begin(&m);
        messages = longest = 0;
        blocks(&m, columns);
        CHECK(!contested(&m, 4));
        CHECK_EQ(check.nprocs > 1 ? steps : 0, messages);
        CHECK(longest <= 1 + 16 * 16);
        end(&m);
    }
    for (int turn = 0; turn < 2; turn++) {
        begin(&m);
        cycle(&m, turn);
        CHECK(!contested(&m, 3));
        end(&m);
    }
}

/* Each process writes its part. One process also writes an element of its neighbour's
 * part, in either a later call or the same call. Writes in the same call are
 * unordered. */
static void overlapping_parts_are_contested(void)
{
    if (too_many()) return;
    struct made m;
    for (int who = 1; who < check.nprocs; who++)
        for (int64_t later = 0; later < 2; later++) {
            begin(&m);
            const int64_t own[3] = {10 * (int64_t)check.rank, 10, 1};
            const int64_t other[3] = {10 * (int64_t)check.rank - 1, 1, 1};
            add(&m, 1, 5, own);
            if (check.rank == who) add(&m, 1, 5 + later, other);
            CHECK_EQ(later, contested(&m, 1));
            end(&m);
            begin(&m);
            cycle(&m, 0);
            const int64_t stranger[6] = {1, who - 1, 1, 1, 1, 1};
            if (check.rank == who) add(&m, 3, 7, stranger);
            CHECK(contested(&m, 3));
            end(&m);
        }
}

/* The log does not record which elements a write of raw bytes contains, so the write may
 * overlap any of them. */
static void raw_bytes_may_overlap_any_element(void)
{
    if (too_many()) return;
    struct made m;
    begin(&m);
    const int64_t slab[3] = {10 * (int64_t)check.rank, 10, 1};
    add(&m, 1, check.rank, slab);
    if (check.rank == 0) m.writes[0]->flags = BURST_RAW;
    CHECK_EQ(check.nprocs > 1, contested(&m, 1));
    end(&m);
}

/* ---- random writes ---- */

enum { LENGTH = 6, ELEMENTS = LENGTH * LENGTH * LENGTH * LENGTH };

/* Marks the elements of a slab with the epoch that wrote them, or with -2 if several
 * epochs did. */
static void mark(int64_t *epochs, int ndims, const int64_t *slab, int64_t epoch)
{
    int64_t all = 1;
    for (int i = 0; i < ndims; i++)
        all *= slab[ndims + i];
    for (int64_t k = 0; k < all; k++) {
        int64_t at = 0, rest = k;
        for (int i = ndims - 1; i >= 0; i--) {
            int64_t index = slab[i] + rest % slab[ndims + i] * slab[2 * ndims + i], n = 1;
            for (int j = i + 1; j < ndims; j++)
                n *= LENGTH;
            at += index * n;
            rest /= slab[ndims + i];
        }
        epochs[at] = epochs[at] == -1 || epochs[at] == epoch ? epoch : -2;
    }
}

static void random_slab(int ndims, int64_t *slab)
{
    for (int i = 0; i < ndims; i++) {
        int64_t start = (int64_t)check_random(LENGTH);
        int64_t stride = 1 + (int64_t)check_random(3);
        int64_t room = (LENGTH - 1 - start) / stride + 1;
        slab[i] = start;
        slab[ndims + i] =
            1 + (int64_t)check_random(check_random(3) > 0 ? 1 : (uint64_t)room);
        slab[2 * ndims + i] = stride;
    }
}

/* Generates one process's writes to each variable. All processes use the same random
 * numbers, so each of them knows all writes. */
static void play(struct made *m, int rank, int64_t (*epochs)[VARS][ELEMENTS])
{
    for (int v = 0; v < VARS; v++) {
        int n = (int)check_random(4);
        for (int64_t *e = epochs[rank][v]; e < epochs[rank][v] + ELEMENTS; e++)
            *e = -1;
        for (int i = 0; i < n; i++) {
            int64_t slab[12], epoch = (int64_t)check_random(3);
            random_slab(ndims_of[v], slab);
            mark(epochs[rank][v], ndims_of[v], slab, epoch);
            if (rank == check.rank) add(m, v, epoch, slab);
        }
    }
}

static bool overlap(const int64_t *a, const int64_t *b)
{
    for (int i = 0; i < ELEMENTS; i++)
        if (a[i] != -1 && b[i] != -1 && (a[i] != b[i] || a[i] == -2)) return true;
    return false;
}

static void every_overlap_is_found(void)
{
    if (too_many()) return;
    int64_t(*epochs)[VARS][ELEMENTS] = calloc((size_t)check.nprocs, sizeof *epochs);
    int missed = 0, found = 0;
    for (int round = 0; round < 150 && CHECK(epochs != NULL); round++) {
        struct made m;
        unsigned char *flags = NULL;
        begin(&m);
        for (int rank = 0; rank < check.nprocs; rank++)
            play(&m, rank, epochs);
        CHECK_NC(NC_NOERR, burst_contested_all(&m.b, BURST_ALL, &flags));
        for (int v = 0; v < VARS; v++) {
            bool really = false;
            for (int p = 1; p < check.nprocs; p++)
                for (int q = 0; q < p; q++)
                    really |= overlap(epochs[p][v], epochs[q][v]);
            missed += really && (flags == NULL || !flags[v]);
            found += really;
        }
        base_free(flags);
        end(&m);
    }
    CHECK_EQ(0, missed);
    CHECK(found > 0 || check.nprocs == 1);
    free(epochs);
}

/* The list has no space for the parts of 32 processes, so some parts are merged into one
 * that contains them all. A later write that overlaps any of the merged parts must still
 * be found. */
static void overlaps_are_found_when_the_list_of_parts_is_full(void)
{
    struct made m;
    for (int of = 0; of < 32 && check.nprocs > 32; of++) {
        begin(&m);
        const int64_t own[3] = {10 * (int64_t)(check.rank == 32 ? of : check.rank), 1, 1};
        add(&m, 1, check.rank == 32, own);
        CHECK(contested(&m, 1));
        end(&m);
    }
}

static const struct check_test tests[] = {
    {"disjoint parts are not contested", disjoint_parts_are_not_contested, 0},
    {"overlapping parts are contested", overlapping_parts_are_contested, CHECK_SEVERAL},
    {"raw bytes may overlap any element", raw_bytes_may_overlap_any_element, 0},
    {"every overlap is found", every_overlap_is_found, 0},
    {"overlaps are found when the list of parts is full",
     overlaps_are_found_when_the_list_of_parts_is_full, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 5 33");
}
