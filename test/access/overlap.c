/* Compares access_overlap with a bitmap of all owners, on random spans in short ranges.
 * In long ranges the expected result is known by construction. Spans that violate the
 * invariant are an error on all processes. */
#include "access_overlap.h"

#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_require.h"
#include "check.h"

enum { MOST = 3000 };

struct span {
    int64_t low, high;
};
static struct span spans[MOST];

static void get_span(const void *list, int64_t i, int64_t *low, int64_t *high)
{
    const struct span *s = (const struct span *)list + i;
    *low = s->low;
    *high = s->high;
}

static bool overlap_of(int64_t n, int64_t length)
{
    const struct access_spans mine = {n, spans, get_span};
    bool overlap = false;
    CHECK_NC(NC_NOERR, access_overlap_all(MPI_COMM_WORLD, &mine, length, &overlap));
    return overlap;
}

/* Chooses random disjoint spans for this process, in ascending order. Their bounds are
 * multiples of `unit`. */
static int64_t draw_spans(int64_t length, int64_t unit, int64_t gap, int64_t size)
{
    int64_t n = 0;
    for (int64_t at = 0; n < MOST; n++) {
        int64_t low = at + (int64_t)check_random_own((uint64_t)gap) * unit;
        int64_t high = low + (1 + (int64_t)check_random_own((uint64_t)size)) * unit;
        if (high > length) break;
        spans[n] = (struct span){low, high};
        at = high + unit;
    }
    return n;
}

static void random_spans_are_compared_exactly(void)
{
    enum { LENGTH = 4000 };
    for (int round = 0; round < 200; round++) {
        int owners[LENGTH] = {0}, most = 0;
        int64_t unit = INT64_C(1) << check_random(4);
        int64_t gap = 1 + (int64_t)check_random(check_random(2) ? 800 : 20);
        int64_t n = draw_spans(LENGTH, unit, gap * check.nprocs, 6);
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = spans[i].low; k < spans[i].high; k++)
                owners[k] = 1;
        MPI_Allreduce(MPI_IN_PLACE, owners, LENGTH, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int k = 0; k < LENGTH; k++)
            if (owners[k] > most) most = owners[k];
        if (!CHECK_EQ(most > 1, overlap_of(n, LENGTH))) return;
    }
}

static void cycles_over_several_tiles_do_not_overlap(void)
{
    enum { STEP = 7001 };
    const int64_t length = INT64_C(20) * 1000 * 1000;
    int64_t n = 0;
    for (int64_t at = check.rank * STEP; at + STEP <= length && n < MOST;
         at += STEP * check.nprocs)
        spans[n++] = (struct span){at, at + STEP};
    CHECK_EQ(false, overlap_of(n, length));
    if (check.nprocs == 1) return;
    if (check.rank == 1) spans[n / 2].high++; /* overlaps another process's span */
    CHECK_EQ(true, overlap_of(n, length));
}

/* Every process owns a few numbers at random positions in a long range. A bitmap of that
 * range would take hours to fill. */
static void a_long_range_costs_no_more_than_its_contents(void)
{
    const int64_t length = INT64_MAX - 5;
    double since = MPI_Wtime();
    for (int shared = 0; shared < 2; shared++) {
        int64_t where = (int64_t)check_random((uint64_t)length / 4) * 2 + 1;
        spans[0] = (struct span){where + 7 * check.rank, where + 7 * check.rank + 7};
        spans[1] = (struct span){length - 3 * (check.nprocs - check.rank),
                                 length - 3 * (check.nprocs - check.rank) + 3};
        if (shared && check.rank == 0) spans[1].high = length;
        CHECK_EQ(shared && check.nprocs > 1, overlap_of(2, length));
    }
    CHECK(MPI_Wtime() - since < 60);
}

static void processes_that_own_nothing_take_part(void)
{
    spans[0] = (struct span){5, 100};
    CHECK_EQ(false, overlap_of(check.rank == check.nprocs - 1, 1000));
    CHECK_EQ(false, overlap_of(0, 1000));
    CHECK_EQ(false, overlap_of(0, 0));
}

/* Only one process has spans that overlap each other, but all get the error. */
static void spans_that_do_not_ascend_are_an_internal_error(void)
{
    static const struct span bad[][2] = {
        {{5, 7}, {3, 4}}, {{5, 7}, {6, 9}}, {{5, 4}, {6, 9}}, {{0, 1}, {9, 11}}};
    for (int i = 0; i < 4; i++) {
        const bool mine = check.rank == check.nprocs - 1;
        const struct access_spans some = {mine ? 2 : 0, bad[i], get_span};
        bool overlap = false;
        CHECK_NC(NC_EINTERNAL, access_overlap_all(MPI_COMM_WORLD, &some, 10, &overlap));
        CHECK(overlap);
        CHECK_EQ(mine ? i + 1 : 0, base_violations());
        if (mine) CHECK(strstr(base_error_detail(NC_EINTERNAL), "sound") != NULL);
    }
}

static const struct check_test tests[] = {
    {"random spans are compared exactly", random_spans_are_compared_exactly, 0},
    {"cycles over several tiles do not overlap", cycles_over_several_tiles_do_not_overlap,
     0},
    {"a long range costs no more than its contents",
     a_long_range_costs_no_more_than_its_contents, 0},
    {"processes that own nothing take part", processes_that_own_nothing_take_part, 0},
    {"spans that do not ascend are an internal error",
     spans_that_do_not_ascend_are_an_internal_error, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3 4");
}
