/* Tests the table of staged blocks. Only one caller may fetch a block, a reader must
 * notice if the block is evicted while it reads, and blocks of an earlier version of the
 * file must not be found. */
#include "stage_table.h"
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>

enum { BLOCKS = 20, FEW = 3 };

static struct stage_table *new_table(int64_t nblocks, int64_t nslots)
{
    struct stage_table *t = malloc(stage_table_bytes(nblocks, nslots));
    assert_non_null(t);
    stage_table_init(t, nblocks, nslots);
    return t;
}

static struct stage_claim bring(struct stage_table *t, int64_t block)
{
    struct stage_claim c;
    assert_int_equal(STAGE_CLAIMED, stage_table_claim(t, block, &c));
    stage_table_finish(t, &c, true);
    return c;
}

static void one_brings_a_block(void **state)
{
    (void)state;
    struct stage_table *t = new_table(BLOCKS, BLOCKS);
    struct stage_claim c, other;
    struct stage_slot_ref h;
    assert_false(stage_table_find(t, 5, &h));
    assert_int_equal(STAGE_CLAIMED, stage_table_claim(t, 5, &c));
    assert_int_equal(STAGE_BUSY, stage_table_claim(t, 5, &other));
    assert_false(stage_table_find(t, 5, &h));
    stage_table_finish(t, &c, true);
    assert_int_equal(STAGE_ALREADY_STAGED, stage_table_claim(t, 5, &other));
    assert_true(stage_table_find(t, 5, &h));
    assert_int_equal(c.slot, h.slot);
    assert_true(stage_table_is_current(t, &h));
    free(t);
}

static void what_could_not_be_brought_is_tried_again(void **state)
{
    (void)state;
    struct stage_table *t = new_table(BLOCKS, BLOCKS);
    struct stage_claim c;
    struct stage_slot_ref h;
    assert_int_equal(STAGE_CLAIMED, stage_table_claim(t, 5, &c));
    stage_table_finish(t, &c, false);
    assert_false(stage_table_find(t, 5, &h));
    (void)bring(t, 5);
    assert_true(stage_table_find(t, 5, &h));
    free(t);
}

static void a_reader_learns_that_its_block_went(void **state)
{
    (void)state;
    struct stage_table *t = new_table(BLOCKS, FEW);
    struct stage_slot_ref h;
    (void)bring(t, 0);
    assert_true(stage_table_find(t, 0, &h));
    for (int64_t i = 1; i < 3 * FEW; i++)
        (void)bring(t, i);
    assert_false(stage_table_is_current(t, &h));
    assert_false(stage_table_find(t, 0, &h));
    free(t);
}

static void a_block_has_its_own_place(void **state)
{
    (void)state;
    struct stage_table *t = new_table(BLOCKS, BLOCKS);
    struct stage_claim c;
    struct stage_slot_ref h;
    stage_table_fix_slots(t);
    for (int64_t i = BLOCKS - 1; i >= 0; i -= 3)
        assert_int_equal(i, bring(t, i).slot);
    assert_true(stage_table_find(t, BLOCKS - 4, &h));
    assert_int_equal(BLOCKS - 4, h.slot);
    stage_table_invalidate(t);
    assert_int_equal(BLOCKS - 1, bring(t, BLOCKS - 1).slot);
    /* A slot must never receive bytes of two versions of the file at the same time. */
    assert_int_equal(STAGE_CLAIMED, stage_table_claim(t, 5, &c));
    stage_table_invalidate(t);
    assert_int_equal(STAGE_NO_SPACE, stage_table_claim(t, 5, &(struct stage_claim){0}));
    stage_table_finish(t, &c, true);
    assert_false(stage_table_find(t, 5, &h));
    assert_int_equal(5, bring(t, 5).slot);
    free(t);
}

static void what_is_barred_nobody_brings(void **state)
{
    (void)state;
    struct stage_table *t = new_table(BLOCKS, BLOCKS);
    struct stage_claim c, other;
    struct stage_slot_ref h;
    stage_table_fix_slots(t);
    assert_int_equal(STAGE_CLAIMED, stage_table_claim(t, 7, &c));
    stage_table_refuse(t, &c);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(STAGE_NO_SPACE, stage_table_claim(t, 7, &other));
        assert_false(stage_table_find(t, 7, &h));
        assert_false(stage_table_is_busy(t, 7));
        assert_false(stage_table_is_pending(t, &c));
        stage_table_finish(t, &c, false);
    }
    (void)bring(t, 6);
    stage_table_invalidate(t);
    (void)bring(t, 7);
    assert_true(stage_table_find(t, 7, &h));
    free(t);
}

static void what_is_used_stays(void **state)
{
    (void)state;
    struct stage_table *t = new_table(BLOCKS, FEW);
    struct stage_slot_ref h;
    for (int64_t i = 0; i < FEW; i++)
        (void)bring(t, i);
    assert_true(bring(t, FEW).dropped);
    for (int64_t i = FEW + 1; i < BLOCKS; i++) {
        bool there = stage_table_find(t, FEW, &h);
        (void)bring(t, i);
        assert_true(there);
    }
    free(t);
}

static void places_that_are_being_filled_stay(void **state)
{
    (void)state;
    struct stage_table *t = new_table(BLOCKS, FEW);
    struct stage_claim c[FEW], more;
    for (int64_t i = 0; i < FEW; i++)
        assert_int_equal(STAGE_CLAIMED, stage_table_claim(t, i, &c[i]));
    assert_int_equal(STAGE_NO_SPACE, stage_table_claim(t, FEW, &more));
    stage_table_finish(t, &c[1], true);
    assert_int_equal(STAGE_CLAIMED, stage_table_claim(t, FEW, &more));
    assert_int_equal(c[1].slot, more.slot);
    free(t);
}

/* A block that was claimed before the file changed must not be found, and must not
 * interfere with the caller that meanwhile fetches the new bytes. */
static void a_changed_file_is_another(void **state)
{
    (void)state;
    struct stage_table *t = new_table(BLOCKS, BLOCKS);
    struct stage_claim old, new;
    struct stage_slot_ref h, before;
    (void)bring(t, 1);
    assert_true(stage_table_find(t, 1, &before));
    assert_int_equal(STAGE_CLAIMED, stage_table_claim(t, 2, &old));
    stage_table_invalidate(t);
    assert_false(stage_table_find(t, 1, &h));
    assert_int_equal(STAGE_CLAIMED, stage_table_claim(t, 2, &new));
    assert_int_not_equal(old.slot, new.slot);
    stage_table_finish(t, &old, true);
    assert_false(stage_table_find(t, 2, &h));
    stage_table_finish(t, &new, true);
    assert_true(stage_table_find(t, 2, &h));
    assert_int_equal(new.slot, h.slot);
    (void)bring(t, 1);
    assert_false(stage_table_is_current(t, &before));

    assert_int_equal(STAGE_CLAIMED, stage_table_claim(t, 3, &old));
    stage_table_invalidate(t);
    stage_table_finish(t, &old, true); /* no other caller has claimed the slot since */
    assert_false(stage_table_find(t, 3, &h));
    (void)bring(t, 3);
    assert_true(stage_table_find(t, 3, &h));
    free(t);
}

static void a_full_device_keeps_what_it_has(void **state)
{
    (void)state;
    struct stage_table *t = new_table(BLOCKS, BLOCKS);
    struct stage_claim c;
    struct stage_slot_ref h;
    (void)bring(t, 0);
    (void)bring(t, 1);
    assert_int_equal(STAGE_CLAIMED, stage_table_claim(t, 2, &c));
    stage_table_shrink(t, c.slot);
    stage_table_finish(t, &c, false);
    assert_true(stage_table_find(t, 0, &h));
    assert_true(bring(t, 2).slot < 2);
    assert_false(stage_table_is_disabled(t));
    stage_table_shrink(t, 0);
    assert_true(stage_table_is_disabled(t));
    free(t);
}

/* ---- many threads: a slot belongs to its last claim ---- */

enum { THREADS = 4, ROUNDS = 20000 };
struct shared {
    struct stage_table *t;
    _Atomic uint32_t places[FEW]; /* checksum of the block in each slot */
    atomic_uint serial;
    atomic_int wrong, read;
};

static void *use(void *arg)
{
    struct shared *s = arg;
    unsigned seed = (unsigned)(uintptr_t)&seed;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t block = rand_r(&seed) % (2 * FEW);
        struct stage_claim c;
        struct stage_slot_ref h;
        if (stage_table_find(s->t, block, &h)) {
            uint32_t there =
                atomic_load_explicit(&s->places[h.slot], memory_order_relaxed);
            if (!stage_table_is_current(s->t, &h)) continue;
            atomic_fetch_add(&s->read, 1);
            if (there != h.sum || there % (2 * FEW) != block)
                atomic_fetch_add(&s->wrong, 1);
        } else if (stage_table_claim(s->t, block, &c) == STAGE_CLAIMED) {
            c.sum = 2 * FEW * (atomic_fetch_add(&s->serial, 1) + 1) + (uint32_t)block;
            atomic_store_explicit(&s->places[c.slot], c.sum, memory_order_relaxed);
            stage_table_finish(s->t, &c, i % 7 != 0);
        }
        if (i % 1000 == 0) stage_table_invalidate(s->t);
    }
    return NULL;
}

static void threads_agree(void **state)
{
    (void)state;
    struct shared s = {.t = new_table(2 * FEW, FEW)};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, use, &s));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(0, atomic_load(&s.wrong));
    assert_true(atomic_load(&s.read) > 0);
    free(s.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_brings_a_block),
        cmocka_unit_test(what_could_not_be_brought_is_tried_again),
        cmocka_unit_test(a_reader_learns_that_its_block_went),
        cmocka_unit_test(what_is_used_stays),
        cmocka_unit_test(places_that_are_being_filled_stay),
        cmocka_unit_test(a_changed_file_is_another),
        cmocka_unit_test(a_full_device_keeps_what_it_has),
        cmocka_unit_test(a_block_has_its_own_place),
        cmocka_unit_test(what_is_barred_nobody_brings),
        cmocka_unit_test(threads_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
