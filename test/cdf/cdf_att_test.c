/* Tests creating, replacing, deleting and renaming attributes in short and long lists,
 * and that no memory leaks. */
#include "cdf_random.h"
#include "unit.h"
#include "base_mem.h"

static struct cdf_header h;

static int start(void **state)
{
    int varid;
    (void)state;
    cdf_init(&h, 5);
    return cdf_def_var(&h, "v", NC_INT, 0, NULL, &varid);
}

static int stop(void **state)
{
    (void)state;
    cdf_free(&h);
    return base_mem_in_use() == 0 ? 0 : -1;
}

static void put(int varid, const char *name, const char *text)
{
    void *values;
    int64_t n = (int64_t)strlen(text);
    assert_int_equal(NC_NOERR, cdf_put_att(&h, varid, name, NC_CHAR, n, &values));
    memcpy(values, text, (size_t)n);
}

static void holds(int varid, const char *name, const char *text)
{
    int id;
    assert_int_equal(NC_NOERR, cdf_find_att(&h, varid, name, &id));
    const struct cdf_att *a = &cdf_atts(&h, varid)->list[id];
    assert_string_equal(name, a->name);
    assert_int_equal(strlen(text), a->nelems);
    assert_memory_equal(text, a->values, strlen(text));
    assert_true(a->capacity >= strlen(text));
}

static void attributes_are_created_and_replaced(void **state)
{
    (void)state;
    int id;
    put(NC_GLOBAL, "a", "first");
    put(0, "a", "of the variable");
    put(NC_GLOBAL, "b", "second");
    put(NC_GLOBAL, "a", "a longer value than it had before");
    holds(NC_GLOBAL, "a", "a longer value than it had before");
    holds(NC_GLOBAL, "b", "second");
    holds(0, "a", "of the variable");
    put(NC_GLOBAL, "b", "");
    holds(NC_GLOBAL, "b", "");
    assert_int_equal(2, h.gatts.count);
    assert_int_equal(NC_NOERR, cdf_find_att(&h, NC_GLOBAL, "b", &id));
    assert_int_equal(1, id);
}

/* In bytes, the first name is only one higher than its composed form. */
static void attributes_are_found_by_any_form_of_their_name(void **state)
{
    (void)state;
    int id;
    put(0, "x\xcd\x80", "grave");
    if (strcmp(h.vars[0].atts.list[0].name, "x\xcc\x80") != 0) skip(); /* no utf8proc */
    put(0, "x\xcd\x80", "again");
    holds(0, "x\xcc\x80", "again");
    assert_int_equal(1, h.vars[0].atts.count);
    assert_int_equal(NC_NOERR, cdf_find_att(&h, 0, "x\xcd\x80", &id));
}

static void attributes_are_checked(void **state)
{
    (void)state;
    void *values;
    int id;
    assert_int_equal(NC_ENOTVAR, cdf_put_att(&h, 1, "a", NC_INT, 1, &values));
    assert_int_equal(NC_ENOTVAR, cdf_put_att(&h, -2, "a", NC_INT, 1, &values));
    assert_int_equal(NC_EBADNAME, cdf_put_att(&h, 0, "", NC_INT, 1, &values));
    assert_int_equal(NC_EBADTYPE, cdf_put_att(&h, 0, "a", 99, 1, &values));
    assert_int_equal(NC_EINVAL, cdf_put_att(&h, 0, "a", NC_INT, -1, &values));
    assert_int_equal(NC_EINVAL, cdf_put_att(&h, 0, "a", NC_INT, INT64_MAX, &values));
    h.format = 1;
    assert_int_equal(NC_ESTRICTCDF2, cdf_put_att(&h, 0, "a", NC_INT64, 1, &values));
    assert_int_equal(NC_EINVAL,
                     cdf_put_att(&h, 0, "a", NC_INT, (int64_t)1 << 31, &values));
    assert_int_equal(0, h.vars[0].atts.count);
    assert_int_equal(NC_ENOTVAR, cdf_find_att(&h, 7, "a", &id));
    assert_int_equal(NC_ENOTATT, cdf_find_att(&h, 0, "a", &id));
    assert_int_equal(NC_ENOTATT, cdf_find_att(&h, 0, NULL, &id));
    assert_int_equal(NC_ENOTVAR, cdf_del_att(&h, 7, "a"));
    assert_int_equal(NC_ENOTATT, cdf_del_att(&h, 0, "a"));
    assert_null(cdf_atts(&h, 1));
}

static void a_rejected_put_keeps_the_old_value(void **state)
{
    (void)state;
    void *values;
    put(0, "a", "old");
    assert_int_equal(NC_EINVAL, cdf_put_att(&h, 0, "a", NC_INT, -1, &values));
    assert_int_equal(NC_EBADTYPE, cdf_put_att(&h, 0, "a", 99, 1, &values));
    holds(0, "a", "old");
    /* larger than the machine's memory */
    int64_t huge = INT64_MAX / 16;
    int err = cdf_put_att(&h, 0, "a", NC_BYTE, huge, &values);
    assert_true(err == NC_ENOMEM || err == NC_EINVAL);
    holds(0, "a", "old");
}

static void attributes_are_renamed(void **state)
{
    (void)state;
    put(0, "a", "1");
    put(0, "b", "2");
    assert_int_equal(NC_ENOTVAR, cdf_rename_att(&h, 5, "a", "c"));
    assert_int_equal(NC_ENOTATT, cdf_rename_att(&h, 0, "x", "c"));
    assert_int_equal(NC_ENAMEINUSE, cdf_rename_att(&h, 0, "a", "b"));
    assert_int_equal(NC_EBADNAME, cdf_rename_att(&h, 0, "a", "/"));
    assert_int_equal(NC_NOERR, cdf_rename_att(&h, 0, "a", "a longer name"));
    holds(0, "a longer name", "1");
    holds(0, "b", "2");
}

/* ---- comparison with a simple list ---- */

enum { MOST = 60 };

struct entry {
    int name, value;
};

static void name_of(int number, char *name)
{
    sprintf(name, "attribute%d", number);
}

static void value_of(int number, char *text)
{
    int n = number % 37;
    memset(text, 'a' + number % 26, (size_t)n);
    text[n] = '\0';
}

static int index_of(const struct entry *list, int n, int name)
{
    for (int i = 0; i < n; i++)
        if (list[i].name == name) return i;
    return -1;
}

static void check_list(const struct entry *list, int n)
{
    char name[32], text[40];
    int id;
    assert_int_equal(n, h.vars[0].atts.count);
    for (int i = 0; i < n; i++) {
        name_of(list[i].name, name);
        value_of(list[i].value, text);
        holds(0, name, text);
        assert_int_equal(NC_NOERR, cdf_find_att(&h, 0, name, &id));
        assert_int_equal(i, id);
    }
}

static int take_out(struct entry *list, int n, int i)
{
    memmove(list + i, list + i + 1, (size_t)(n - i - 1) * sizeof *list);
    return n - 1;
}

static int random_step(struct entry *list, int n, int names)
{
    char name[32], other[32], text[40];
    int one = (int)random_of(0, names - 1), two = (int)random_of(0, names - 1);
    int i = index_of(list, n, one), k = index_of(list, n, two);
    name_of(one, name);
    name_of(two, other);
    switch (random_of(0, 3)) {
    case 0:
        assert_int_equal(i < 0 ? NC_ENOTATT : NC_NOERR, cdf_del_att(&h, 0, name));
        return i < 0 ? n : take_out(list, n, i);
    case 1:
        assert_int_equal(i < 0    ? NC_ENOTATT
                         : k >= 0 ? NC_ENAMEINUSE
                                  : NC_NOERR,
                         cdf_rename_att(&h, 0, name, other));
        if (i >= 0 && k < 0) list[i].name = two;
        return n;
    default:
        if (i < 0) i = n++;
        list[i] = (struct entry){one, (int)random_of(0, 1000)};
        value_of(list[i].value, text);
        put(0, name, text);
        return n;
    }
}

static void random_use_agrees_with_a_list(void **state)
{
    (void)state;
    const int names[] = {8, 20, MOST};
    for (int round = 0; round < 3; round++) {
        struct entry list[MOST];
        int n = 0;
        int64_t most[2] = {0, 0}; /* peak memory usage in each half of the steps */
        for (int step = 0; step < 20000; step++) {
            n = random_step(list, n, names[round]);
            if (step % 50 == 0) check_list(list, n);
            int64_t *half = &most[step / 10000], now = base_mem_in_use();
            if (now > *half) *half = now;
        }
        assert_true(most[1] <= most[0] + most[0] / 2); /* memory grows in steps */
        while (n > 0) {
            char name[32];
            int i = (int)random_of(0, n - 1);
            name_of(list[i].name, name);
            assert_int_equal(NC_NOERR, cdf_del_att(&h, 0, name));
            n = take_out(list, n, i);
            check_list(list, n);
        }
    }
}

/* ---- memory ---- */

static void repeated_overwrites_use_no_more_memory(void **state)
{
    (void)state;
    char text[101];
    int64_t before = 0;
    for (int i = 0; i < 50000; i++) {
        if (i == 1000) before = base_mem_in_use();
        memset(text, 'x', 100);
        text[i * 31 % 101] = '\0';
        text[100] = '\0';
        put(0, "a", text);
    }
    assert_int_equal(before, base_mem_in_use());
}

static void repeated_delete_and_put_uses_no_more_memory(void **state)
{
    (void)state;
    char name[32];
    int64_t before = 0;
    for (int i = 0; i < 50000; i++) {
        if (i == 1000) before = base_mem_in_use();
        sprintf(name, "stamp%d", i);
        put(0, name, "12345678901234567890123456789012345678901234567890");
        put(0, "small", "1");
        assert_int_equal(NC_NOERR, cdf_del_att(&h, 0, name));
        assert_int_equal(NC_NOERR, cdf_del_att(&h, 0, "small"));
    }
    assert_int_equal(before, base_mem_in_use());
}

static void growing_in_steps_uses_at_most_twice_the_size(void **state)
{
    (void)state;
    void *values;
    for (int n = 1; n < 100000; n += 10)
        assert_int_equal(NC_NOERR, cdf_put_att(&h, 0, "a", NC_BYTE, n, &values));
    assert_true(base_mem_in_use() < 6 * 100000);
}

static void short_lists_have_no_table(void **state)
{
    (void)state;
    char name[32];
    for (int i = 0; i < 16; i++) {
        name_of(i, name);
        put(0, name, "x");
    }
    assert_int_equal(0, h.vars[0].atts.names.capacity);
    put(0, "one more", "x");
    assert_true(h.vars[0].atts.names.capacity > 0);
    holds(0, "one more", "x");
}

#define with_header(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
    random_start();
    const struct CMUnitTest tests[] = {
        with_header(attributes_are_created_and_replaced),
        with_header(attributes_are_found_by_any_form_of_their_name),
        with_header(attributes_are_checked),
        with_header(a_rejected_put_keeps_the_old_value),
        with_header(attributes_are_renamed),
        with_header(random_use_agrees_with_a_list),
        with_header(repeated_overwrites_use_no_more_memory),
        with_header(repeated_delete_and_put_uses_no_more_memory),
        with_header(growing_in_steps_uses_at_most_twice_the_size),
        with_header(short_lists_have_no_table),
    };
    return cmocka_run_group_tests_name("cdf_att", tests, NULL, NULL);
}
