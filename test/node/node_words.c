/* Tests the node module: the processes on a node and the memory that they share, with
 * barriers, counters, words to wait on, references, and simulated nodes. */
#include "node.h"

#include <string.h>

#include "base_mem.h"
#include "check.h"

enum { WORDS = 3, ROUNDS = 500 };

/* The contents of the shared memory. */
struct shared {
    struct node_word words[WORDS];
    int64_t numbers[]; /* one element per process */
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
                                       .expected = p->node->nprocs,
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

/* A store before a barrier must be visible to all processes after the barrier. */
static void stores_before_a_barrier_are_visible_after_it(void)
{
    struct place p;
    if (!begin(&p, 0)) return;
    for (int round = 1; round <= ROUNDS; round++) {
        p.shared->numbers[p.node->rank] = round;
        node_barrier_all(&p.counter);
        for (int rank = 0; rank < p.node->nprocs; rank++)
            CHECK_EQ(round, p.shared->numbers[rank]);
        node_barrier_all(&p.counter);
    }
    end(&p);
}

/* Arrivals are counted, so a process may arrive several times before the others wait for
 * it. */
static void arrivals_are_counted(void)
{
    struct place p;
    if (!begin(&p, 0)) return;
    p.counter.expected = 1;
    for (int i = 0; i < ROUNDS && p.node->rank == 0; i++)
        node_arrive(&p.counter);
    node_await(&p.counter, 1);
    node_await(&p.counter, ROUNDS);
    node_end_call(&p.counter, ROUNDS);
    CHECK_EQ(ROUNDS, p.counter.since);
    end(&p);
}

/* A process that waits on a word must wake up whenever the word changes. */
static void a_waiting_process_wakes_up_when_a_word_changes(void)
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

static void one_of_several_processes_changes_a_word(void)
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

/* All layers of a dataset share one node object. A reference keeps the object valid after
 * the dataset is closed. */
static void layers_of_a_dataset_share_one_node_object(void)
{
    struct place p;
    int64_t lacking;
    int err;
    if (!begin(&p, 0)) return;
    struct node *again = node_find_all(&p.ds, &err, &lacking), *kept = node_retain(again);
    CHECK_NC(NC_NOERR, err);
    CHECK(again == p.node);
    node_release_all(again);
    end(&p);
    struct dataset next = {.comm = MPI_COMM_WORLD, .node = node_new()};
    node_assign(&next, kept);
    CHECK(next.node == kept);
    MPI_Barrier(kept->comm);
    node_release_all(kept);
    node_leave_all(&next);
    CHECK(next.node == NULL);
}

/* nc_node_procs=2 divides a node into parts of two processes. */
static void nc_node_procs_divides_a_node(void)
{
    struct place p;
    if (!begin(&p, 2)) return;
    CHECK_EQ(check.rank % 2, p.node->rank);
    CHECK_EQ(check.rank / 2 * 2 + 2 <= check.nprocs ? 2 : 1, p.node->nprocs);
    end(&p);
}

/* If any process fails to get the node object, all processes release it and get it
 * again. */
static void a_failure_on_one_process_drops_the_node_object_on_all(void)
{
    struct place p;
    int64_t lacking;
    int err;
    if (!begin(&p, 0)) return;
    MPI_Comm comm = p.node->comm;
    node_memory_free_all(&p.memory);
    node_abandon(&p.ds);
    CHECK(!p.ds.node->found);
    p.node = node_find_all(&p.ds, &err, &lacking);
    CHECK_NC(NC_NOERR, err);
    CHECK(p.node == p.ds.node && p.node->comm != comm);
    MPI_Comm_free(&comm); /* the communicator must be the same on all processes */
    end(&p);
}

static const struct check_test tests[] = {
    {"stores before a barrier are visible after it",
     stores_before_a_barrier_are_visible_after_it, 0},
    {"arrivals are counted", arrivals_are_counted, 0},
    {"a waiting process wakes up when a word changes",
     a_waiting_process_wakes_up_when_a_word_changes, 0},
    {"one of several processes changes a word", one_of_several_processes_changes_a_word,
     0},
    {"layers of a dataset share one node object",
     layers_of_a_dataset_share_one_node_object, 0},
    {"nc_node_procs divides a node", nc_node_procs_divides_a_node, 0},
    {"a failure on one process drops the node object on all",
     a_failure_on_one_process_drops_the_node_object_on_all, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 4");
}
