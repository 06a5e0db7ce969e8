/* Makes allocations fail, one per run. Functions must return NC_ENOMEM and leak
 * nothing. */
#include "cdf_random.h"
#include "unit.h"
#include "base_mem.h"
#include "short_memory.h"

/* Runs an operation repeatedly until it succeeds. In each run, a later allocation
 * fails. */
static void fail_each_allocation(int (*operation)(void *), void *on)
{
    int err = NC_ENOMEM;
    int64_t before = base_mem_in_use();
    for (int n = 0; err != NC_NOERR; n++) {
        short_memory_in = n;
        err = operation(on);
        short_memory_in = -1;
        assert_true(err == NC_NOERR || err == NC_ENOMEM);
        assert_true(n < 1000);
        assert_int_equal(before, base_mem_in_use());
    }
}

static int copy(void *h)
{
    struct cdf_header to;
    int err = cdf_copy(&to, h);
    if (err == NC_NOERR) cdf_free(&to);
    return err;
}

struct bytes {
    unsigned char *p;
    size_t n;
};

static int decode(void *bytes)
{
    const struct bytes *b = bytes;
    struct cdf_header h;
    int err = cdf_decode(&h, b->p, b->n, INT64_MAX, NULL);
    if (err == NC_NOERR) cdf_free(&h);
    return err;
}

static void copying_and_decoding(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct cdf_header h;
        struct bytes b;
        random_header(&h, 5);
        b.p = encoded(&h, &b.n);
        fail_each_allocation(copy, &h);
        fail_each_allocation(decode, &b);
        free(b.p);
        cdf_free(&h);
    }
}

/* Adds many definitions. Any of these calls may fail, but the header must stay
 * consistent. */
static int define(void *unused)
{
    struct cdf_header h;
    char name[300];
    int id, err = NC_NOERR;
    void *values;
    (void)unused;
    cdf_init(&h, 5);
    for (int i = 0; i < 40 && err == NC_NOERR; i++) {
        sprintf(name, "n%d", i);
        err = cdf_def_dim(&h, name, i + 1, &id);
        if (err == NC_NOERR) err = cdf_def_var(&h, name, NC_INT, 1, &id, &id);
        if (err == NC_NOERR) err = cdf_put_att(&h, 0, name, NC_INT, i, &values);
        if (err == NC_NOERR) memset(values, 0, (size_t)i * 4);
    }
    memset(name, 'x', 200);
    name[200] = '\0';
    if (err == NC_NOERR) err = cdf_rename_dim(&h, 7, name);
    if (err == NC_NOERR) err = cdf_rename_var(&h, 7, name);
    if (err == NC_NOERR) err = cdf_rename_att(&h, 0, "n7", name);
    if (err == NC_NOERR) err = cdf_put_att(&h, 0, "n9", NC_INT, 10000, &values);
    if (err == NC_NOERR) memset(values, 0, 40000);

    /* The name tables must agree with the lists, whichever calls have failed. */
    for (int i = 0; i < h.ndims; i++) {
        assert_int_equal(NC_NOERR, cdf_find_dim(&h, h.dims[i].name, &id));
        assert_int_equal(i, id);
    }
    for (int i = 0; i < h.nvars; i++) {
        assert_int_equal(NC_NOERR, cdf_find_var(&h, h.vars[i].name, &id));
        assert_int_equal(i, id);
    }
    for (int i = 0; h.nvars > 0 && i < h.vars[0].atts.count; i++) {
        assert_int_equal(NC_NOERR, cdf_find_att(&h, 0, h.vars[0].atts.list[i].name, &id));
        assert_int_equal(i, id);
    }
    cdf_free(&h);
    return err;
}

static void defining(void **state)
{
    (void)state;
    fail_each_allocation(define, NULL);
}

int main(void)
{
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copying_and_decoding),
        cmocka_unit_test(defining),
    };
    return cmocka_run_group_tests_name("cdf_memory", tests, NULL, NULL);
}
