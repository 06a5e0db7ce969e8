/* Compares the name table with a plain array of names. */
#include "base_names.h"
#include "unit.h"
#include "base_mem.h"

enum { N = 2000 };
static char names[N][16];

static const char *text(const void *of, int index)
{
    const char(*list)[16] = of;
    return list[index];
}

static int find(const struct base_names *t, const char *name)
{
    return base_names_find(t, name, text, names);
}

static void name_all(void)
{
    for (int i = 0; i < N; i++)
        snprintf(names[i], sizeof names[i], "name%d", i * 7);
}

static void added_names_are_found(void **state)
{
    (void)state;
    struct base_names t = {0};
    name_all();
    assert_int_equal(-1, find(&t, "name0"));
    for (int i = 0; i < N; i++) {
        assert_int_equal(-1, find(&t, names[i]));
        assert_int_equal(0, base_names_add(&t, names[i], i));
    }
    for (int i = 0; i < N; i++)
        assert_int_equal(i, find(&t, names[i]));
    assert_int_equal(-1, find(&t, "name1"));
    assert_int_equal(-1, find(&t, ""));
    base_names_free(&t);
    assert_int_equal(-1, find(&t, "name0"));
}

static void removed_names_are_not_found(void **state)
{
    (void)state;
    struct base_names t = {0};
    name_all();
    base_names_remove(&t, names[0], 0);
    for (int i = 0; i < N; i++)
        assert_int_equal(0, base_names_add(&t, names[i], i));
    for (int i = 0; i < N; i += 2)
        base_names_remove(&t, names[i], i);
    base_names_remove(&t, names[1], 3); /* the name is not in the table yet */
    for (int i = 0; i < N; i++)
        assert_int_equal(i % 2 == 0 ? -1 : i, find(&t, names[i]));
    base_names_free(&t);
}

static void random_use_agrees_with_an_array(void **state)
{
    (void)state;
    const unsigned seed = 4711;
    static int present[N];
    struct base_names t = {0};
    name_all();
    srand(seed);
    print_message("# seed %u\n", seed);
    memset(present, 0, sizeof present);
    for (int step = 0; step < 100000; step++) {
        int i = rand() % N;
        assert_int_equal(present[i] ? i : -1, find(&t, names[i]));
        if (present[i])
            base_names_remove(&t, names[i], i);
        else
            assert_int_equal(0, base_names_add(&t, names[i], i));
        present[i] = !present[i];
    }
    base_names_free(&t);
}

static void repeated_add_and_remove_uses_no_more_memory(void **state)
{
    (void)state;
    struct base_names t = {0};
    int64_t before = base_mem_in_use();
    name_all();
    for (int step = 0; step < 100000; step++) {
        assert_int_equal(0, base_names_add(&t, names[step % N], step % N));
        base_names_remove(&t, names[step % N], step % N);
    }
    assert_true(base_mem_in_use() - before <= 1024);
    base_names_free(&t);
    assert_int_equal(before, base_mem_in_use());
}

static void closing_a_gap_renumbers_later_entries(void **state)
{
    (void)state;
    struct base_names t = {0};
    name_all();
    for (int i = 0; i < 100; i++)
        assert_int_equal(0, base_names_add(&t, names[i], i));
    base_names_remove(&t, names[40], 40);
    base_names_close_gap(&t, 40);
    memmove(names[40], names[41], (N - 41) * sizeof names[0]);
    for (int i = 0; i < 99; i++)
        assert_int_equal(i, find(&t, names[i]));
    base_names_free(&t);
}

static void a_range_adds_the_first_of_equal_names(void **state)
{
    (void)state;
    struct base_names t = {0};
    name_all();
    strcpy(names[30], names[7]);
    strcpy(names[31], names[25]);
    strcpy(names[40], names[39]);
    assert_int_equal(0, base_names_add_range(&t, 5, 5, text, names));
    assert_int_equal(20, base_names_add_range(&t, 0, 20, text, names));
    assert_int_equal(N - 20 - 3, base_names_add_range(&t, 20, N, text, names));
    for (int i = 0; i < N; i++)
        assert_int_equal(i == 30   ? 7
                         : i == 31 ? 25
                         : i == 40 ? 39
                                   : i,
                         find(&t, names[i]));
    assert_int_equal(0, base_names_add_range(&t, 0, N, text, names));
    base_names_free(&t);
}

static void reserved_space_suffices(void **state)
{
    (void)state;
    for (int n = 0; n < N; n += 97) {
        struct base_names t = {0};
        name_all();
        assert_int_equal(0, base_names_reserve(&t, (size_t)n));
        int64_t before = base_mem_in_use();
        assert_int_equal(n, base_names_add_range(&t, 0, n, text, names));
        assert_int_equal(before, base_mem_in_use());
        base_names_free(&t);
    }
}

static void a_copy_is_independent(void **state)
{
    (void)state;
    struct base_names t = {0}, copy, none = {0};
    name_all();
    assert_int_equal(0, base_names_copy(&copy, &none));
    assert_int_equal(-1, find(&copy, names[0]));
    for (int i = 0; i < 100; i++)
        assert_int_equal(0, base_names_add(&t, names[i], i));
    assert_int_equal(0, base_names_copy(&copy, &t));
    base_names_free(&t);
    for (int i = 0; i < 100; i++)
        assert_int_equal(i, find(&copy, names[i]));
    assert_int_equal(0, base_names_add(&copy, names[100], 100));
    base_names_free(&copy);
}

static void hashes_depend_on_every_byte_and_the_length(void **state)
{
    (void)state;
    unsigned char bytes[40] = {0};
    for (size_t n = 0; n < sizeof bytes; n++)
        assert_true(base_hash(bytes, n, 0) != base_hash(bytes, n + 1, 0));
    uint64_t plain = base_hash(bytes, sizeof bytes, 0);
    assert_true(base_hash(bytes, sizeof bytes, 1) != plain);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = 1;
        assert_true(base_hash(bytes, sizeof bytes, 0) != plain);
        bytes[i] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(added_names_are_found),
        cmocka_unit_test(removed_names_are_not_found),
        cmocka_unit_test(random_use_agrees_with_an_array),
        cmocka_unit_test(repeated_add_and_remove_uses_no_more_memory),
        cmocka_unit_test(closing_a_gap_renumbers_later_entries),
        cmocka_unit_test(a_range_adds_the_first_of_equal_names),
        cmocka_unit_test(reserved_space_suffices),
        cmocka_unit_test(a_copy_is_independent),
        cmocka_unit_test(hashes_depend_on_every_byte_and_the_length),
    };
    return cmocka_run_group_tests_name("base_names", tests, NULL, NULL);
}
