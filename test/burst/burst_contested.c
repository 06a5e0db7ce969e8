/* In which variables processes' logged writes could overlap: whatever does is found, and
 * the ways in which programs deal out a grid among processes are not taken for it. */
#include <stdlib.h>
#include <string.h>

#include "base_mem.h"
#include "burst.h"
#include "check.h"

enum { VARS = 6, MOST = 40 };

static const int ndims_of[VARS] = {0, 1, 2, 2, 3, 4};

/* The messages are few, and none is longer than a list of variables. */
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

/* A layer with nothing but writes, and a dataset with nothing but variables. */
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
    m->b.writes = m->writes;
}

static void end(struct made *m)
{
    base_arena_free(&m->b.arena);
}

static void add(struct made *m, int varid, int64_t epoch, const int64_t *slab)
{
    size_t numbers = 3 * (size_t)ndims_of[varid];
    struct burst_write *w = burst_new_write(&m->b, varid, numbers);
    if (!CHECK(w != NULL && m->b.nwrites < MOST) || w == NULL) return;
    memcpy(w->slab, slab, numbers * sizeof slab[0]);
    w->strided = true;
    w->epoch = epoch;
    m->writes[m->b.nwrites++] = w;
}

/* What is said of a variable; the same everywhere. */
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

/* 33 processes are there for one test. */
static bool too_many(void)
{
    if (check.nprocs > 5) check_skip("so many processes take long");
    return check.nprocs > 5;
}

/* ---- how programs share ---- */

static int64_t part_from(int64_t length, int i, int n)
{
    return length * i / n;
}

/* Blocks of a grid of so many columns, in two epochs and records. */
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

/* Every nprocs-th index, in an order that is the ranks' or is turned. */
static void cycle(struct made *m, int turn)
{
    int n = check.nprocs, first = (check.rank + turn) % n;
    for (int t = 0; t < 2; t++) {
        const int64_t slab[6] = {t, first, 1, (40 - first + n - 1) / n, 1, n};
        add(m, 3, t, slab);
    }
}

static void parts_that_lie_apart_are_not_contested(void)
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
        CHECK(longest <= 1 + 16 * 14);
        end(&m);
    }
    for (int turn = 0; turn < 2; turn++) {
        begin(&m);
        cycle(&m, turn);
        CHECK(!contested(&m, 3));
        end(&m);
    }
}

/* One process reaches into its neighbour's, by one element, in a later call; or in the
 * same one, which has no order. */
static void parts_that_meet_are_contested(void)
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

/* A run of bytes is not told apart: it may be anywhere. */
static void bytes_are_anywhere(void)
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

/* ---- anything ---- */

enum { LENGTH = 6, ELEMENTS = LENGTH * LENGTH * LENGTH * LENGTH };

/* Marks the elements of a slab, with the epoch that wrote there if it is one, or -2. */
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

/* One process's writes to each variable; all know them, from the same random numbers. */
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

static void whatever_overlaps_is_found(void)
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

/* Those of 32 processes are more than are listed, and some become one that holds all:
 * what meets one of these in a later call is found. */
static void more_parts_than_are_listed(void)
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
    {"parts that lie apart are not contested", parts_that_lie_apart_are_not_contested, 0},
    {"parts that meet are contested", parts_that_meet_are_contested, CHECK_SEVERAL},
    {"bytes are anywhere", bytes_are_anywhere, 0},
    {"whatever overlaps is found", whatever_overlaps_is_found, 0},
    {"more parts than are listed", more_parts_than_are_listed, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 5 33");
}
