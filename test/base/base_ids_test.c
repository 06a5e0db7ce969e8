/* Compares the table of small ids with a plain array, and uses the table from several
 * threads. */
#include "base_ids.h"
#include "unit.h"
#include "base_mem.h"

enum { MOST = 100, STEPS = 5000, THREADS = 4 };

static int smallest_free(void *const *model)
{
    int id = 0;
    while (model[id] != NULL)
        id++;
    return id;
}

static void check_all(struct base_ids *t, void *const *model)
{
    int ids[MOST], n = base_ids_list(t, ids), i = 0;
    assert_int_equal(n, base_ids_list(t, NULL));
    for (int id = 0; id < MOST; id++) {
        assert_ptr_equal(model[id], base_ids_find(t, id));
        if (model[id] != NULL) assert_int_equal(id, ids[i++]);
    }
    assert_int_equal(n, i);
}

static void the_smallest_free_id_is_assigned(void **state)
{
    static struct base_ids t = BASE_IDS_EMPTY;
    static char objects[STEPS];
    void *model[MOST] = {NULL};
    int used = 0;
    (void)state;
    srand(5);
    for (int i = 0; i < STEPS; i++) {
        int id = rand() % (MOST + 1) - 1;
        if (rand() % 100 < (i / 500 % 2 ? 20 : 80) && used < MOST - 1) {
            id = smallest_free(model);
            assert_int_equal(id, base_ids_enter(&t, &objects[i]));
            model[id] = &objects[i];
            used++;
        } else {
            void *expected = id < 0 || id == MOST ? NULL : model[id];
            assert_ptr_equal(expected, base_ids_leave(&t, id));
            if (expected == NULL) continue;
            model[id] = NULL;
            used--;
        }
        if (i % 50 == 0) check_all(&t, model);
    }
    for (int id = 0; id < MOST; id++)
        base_ids_leave(&t, id);
    assert_int_equal(0, base_mem_in_use());
}

static void unknown_ids_are_not_found(void **state)
{
    static struct base_ids t = BASE_IDS_EMPTY;
    static const int none[] = {-1, 0, 1, 16, INT32_MIN, INT32_MAX};
    int object;
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (size_t i = round; i < sizeof none / sizeof none[0]; i++) {
            if (round == 1 && none[i] == 0) continue;
            assert_null(base_ids_find(&t, none[i]));
            assert_null(base_ids_leave(&t, none[i]));
        }
        if (round == 0) assert_int_equal(0, base_ids_enter(&t, &object));
    }
    assert_ptr_equal(&object, base_ids_leave(&t, 0));
    assert_int_equal(0, base_mem_in_use());
}

static struct base_ids shared = BASE_IDS_EMPTY;

/* Adds, finds and removes this thread's objects while other threads do the same with
 * theirs. */
static void *use(void *wrong)
{
    int objects[8], ids[8];
    for (int round = 0; round < 2000; round++) {
        for (int i = 0; i < 8; i++)
            ids[i] = base_ids_enter(&shared, &objects[i]);
        for (int i = 0; i < 8; i++) {
            *(int *)wrong += base_ids_find(&shared, ids[i]) != &objects[i];
            *(int *)wrong += base_ids_leave(&shared, ids[i]) != &objects[i];
        }
    }
    return NULL;
}

static void threads_share_a_table(void **state)
{
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0};
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, use, &wrong[i]));
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        assert_int_equal(0, wrong[i]);
    }
    assert_int_equal(0, base_ids_list(&shared, NULL));
    assert_int_equal(0, base_mem_in_use());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_free_id_is_assigned),
        cmocka_unit_test(unknown_ids_are_not_found),
        cmocka_unit_test(threads_share_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
