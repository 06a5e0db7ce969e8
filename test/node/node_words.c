/* The processes of a node: found once, with memory that they share, and words in it that
 * they wait for. */
#include "node.h"

#include <string.h>

#include "base_mem.h"
#include "check.h"

enum { WORDS = 3, ROUNDS = 500 };

/* What the processes share. */
struct shared {
    struct node_word words[WORDS];
    int64_t numbers[]; /* one of each process */
};

struct place {
    struct dataset ds;
    struct node *node;
    struct node_memory memory;
    struct shared *shared;
    struct node_counter counter;
};

static bool begin(struct place *p, int64_t node_procs)
{
    int64_t lacking;
    int err;
    *p = (struct place){.ds = {.comm = MPI_COMM_WORLD,
                               .rank = check.rank,
                               .nprocs = check.nprocs,
                               .node = node_new(),
                               .hints = {.node_procs = node_procs}},
                        .memory = NODE_NO_MEMORY};
    p->node = node_find_all(&p->ds, &err, &lacking);
    if (!CHECK_NC(NC_NOERR, err) || !CHECK(!lacking)) return false;
    int64_t bytes =
        (int64_t)sizeof *p->shared + p->node->nprocs * (int64_t)sizeof(int64_t);
    if (!CHECK_NC(NC_NOERR, node_memory_make_all(p->node, bytes, &p->memory)))
        return false;
    p->shared = p->memory.bytes;
    if (p->node->rank == 0) memset(p->shared, 0, (size_t)bytes);
    node_memory_sync(&p->memory);
    MPI_Barrier(p->node->comm);
    node_memory_sync(&p->memory);
    p->counter = (struct node_counter){.word = &p->shared->words[0],
                                       .all = p->node->nprocs,
                                       .spins = node_spins(p->node->nprocs)};
    return true;
}

static void end(struct place *p)
{
    node_memory_free_all(&p->memory);
    node_release_all(p->node);
    node_leave_all(&p->ds);
    CHECK_EQ(0, base_mem_in_use());
}

/* What a process wrote before it arrived is seen by those that have met it. */
static void they_meet(void)
{
    struct place p;
    if (!begin(&p, 0)) return;
    for (int round = 1; round <= ROUNDS; round++) {
        p.shared->numbers[p.node->rank] = round;
        node_meet_all(&p.counter);
        for (int rank = 0; rank < p.node->nprocs; rank++)
            CHECK_EQ(round, p.shared->numbers[rank]);
        node_meet_all(&p.counter);
    }
    end(&p);
}

/* One goes ahead by as many times as it likes; the others' counts are told apart. */
static void times_are_counted(void)
{
    struct place p;
    if (!begin(&p, 0)) return;
    p.counter.all = 1;
    for (int i = 0; i < ROUNDS && p.node->rank == 0; i++)
        node_arrive(&p.counter);
    node_await(&p.counter, 1);
    node_await(&p.counter, ROUNDS);
    node_settle(&p.counter, ROUNDS);
    CHECK_EQ(ROUNDS, p.counter.since);
    end(&p);
}

/* Who waits for a word is woken, however it is changed. */
static void a_word_is_waited_for(void)
{
    struct place p;
    if (!begin(&p, 0)) return;
    struct node_word *turn = &p.shared->words[1];
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned whose = i % (unsigned)p.node->nprocs;
        if (whose == (unsigned)p.node->rank) {
            node_word_await(turn, i);
            CHECK_EQ(i, node_word_get(turn));
            p.shared->numbers[0] = i;
            node_word_set(turn, i + 1);
        }
    }
    node_word_await(turn, ROUNDS);
    CHECK_EQ(ROUNDS - 1, p.shared->numbers[0]);
    end(&p);
}

static void one_changes_it(void)
{
    struct place p;
    if (!begin(&p, 0)) return;
    struct node_word *word = &p.shared->words[2];
    for (unsigned i = 0; i < 50; i++) {
        int mine = node_word_change(word, i, i + 1), all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, p.node->comm);
        CHECK_EQ(1, all);
    }
    end(&p);
}

/* All layers of a dataset have the same one; what outlives the dataset holds it on. */
static void it_is_found_once(void)
{
    struct place p;
    int64_t lacking;
    int err;
    if (!begin(&p, 0)) return;
    struct node *again = node_find_all(&p.ds, &err, &lacking), *kept = node_hold(again);
    CHECK_NC(NC_NOERR, err);
    CHECK(again == p.node);
    node_release_all(again);
    end(&p);
    struct dataset next = {.comm = MPI_COMM_WORLD, .node = node_new()};
    node_take_over(&next, kept);
    CHECK(next.node == kept);
    MPI_Barrier(kept->comm);
    node_release_all(kept);
    node_leave_all(&next);
    CHECK(next.node == NULL);
}

/* As if a node had two processes. */
static void it_is_divided(void)
{
    struct place p;
    if (!begin(&p, 2)) return;
    CHECK_EQ(check.rank % 2, p.node->rank);
    CHECK_EQ(check.rank / 2 * 2 + 2 <= check.nprocs ? 2 : 1, p.node->nprocs);
    end(&p);
}

/* What some lack is nobody's; it is looked for again. */
static void it_is_lost_and_found(void)
{
    struct place p;
    int64_t lacking;
    int err;
    if (!begin(&p, 0)) return;
    MPI_Comm comm = p.node->comm;
    node_memory_free_all(&p.memory);
    node_lose(&p.ds);
    CHECK(!p.ds.node->found);
    p.node = node_find_all(&p.ds, &err, &lacking);
    CHECK_NC(NC_NOERR, err);
    CHECK(p.node == p.ds.node && p.node->comm != comm);
    MPI_Comm_free(&comm); /* all have it here */
    end(&p);
}

static const struct check_test tests[] = {
    {"they meet", they_meet, 0},
    {"times are counted", times_are_counted, 0},
    {"a word is waited for", a_word_is_waited_for, 0},
    {"one changes it", one_changes_it, 0},
    {"it is found once", it_is_found_once, 0},
    {"it is divided", it_is_divided, 0},
    {"it is lost and found", it_is_lost_and_found, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 4");
}
