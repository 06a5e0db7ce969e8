/* Broken logs: bits that flipped, tails that are missing. Either the log is refused or it
 * gives what was logged, never anything else. BURST_FLIPS=N tries N flips. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "burst_log.h"
#include "burst_reader.h"
#include "conv.h"

enum { ENTRIES = 12, META = 0, DATA = 1 };

static char directory[] = "/tmp/burst_broken.XXXXXX";
static const char *const endings[] = {"meta", "data"};
static unsigned char *whole[2];
static size_t length[2];

static const char *path_of(const char *name, int which)
{
    static char paths[2][100];
    snprintf(paths[which], sizeof paths[0], "%s/%s.%s", directory, name, endings[which]);
    return paths[which];
}

static void put_file(int which, const unsigned char *bytes, size_t n)
{
    FILE *f = fopen(path_of("try", which), "wb");
    assert_non_null(f);
    assert_int_equal(n, fwrite(bytes, 1, n, f));
    assert_int_equal(0, fclose(f));
}

static void log_one(struct burst_log *l, int i)
{
    int64_t start[2] = {i, 2 * i}, count[2] = {1, 3}, values[3] = {i, i * i, -i};
    struct iovec piece = {values, sizeof values};
    struct burst_entry e = {.size = burst_entry_size(4),
                            .kind = BURST_VARA,
                            .itype = burst_itype(CONV_LONGLONG),
                            .varid = i % 3,
                            .ndims = 2,
                            .nreqs = 1,
                            .data_len = sizeof values,
                            .start = start,
                            .count = count,
                            .seq = i,
                            .data_sum = burst_sum(values, sizeof values, 0)};
    e.data_off = burst_log_reserve(l, e.data_len);
    assert_int_equal(NC_NOERR, burst_log_write(l, e.data_off, &piece, 1));
    assert_int_equal(NC_NOERR, burst_log_add(l, &e));
    burst_log_commit(l, 1);
}

static int make_log(void **state)
{
    struct burst_log l;
    struct burst_header h = {.format = 5,
                             .num_ranks = 1,
                             .chunk = 4096,
                             .nslots = 1,
                             .token = 12345,
                             .basename = "a.nc",
                             .path = "/there/a.nc"};
    char path[100];
    (void)state;
    if (mkdtemp(directory) == NULL) return -1;
    snprintf(path, sizeof path, "%s/log", directory);
    assert_int_equal(NC_NOERR, burst_log_create(&l, path, &h, NULL));
    for (int i = 0; i < ENTRIES; i++)
        log_one(&l, i);
    for (int which = 0; which < 2; which++) {
        FILE *f = fopen(path_of("log", which), "rb");
        whole[which] = malloc(1 << 16);
        length[which] = fread(whole[which], 1, 1 << 16, f);
        fclose(f);
        put_file(which, whole[which], length[which]);
    }
    burst_log_end(&l, true);
    return 0;
}

static int tidy(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        unlink(path_of("try", which));
        free(whole[which]);
    }
    return rmdir(directory);
}

/* NC_NOERR only if it gives all that was logged, as it was. */
static int read_all(void)
{
    struct burst_reader *r;
    struct burst_entry e;
    bool more, busy;
    int n = 0, err = burst_reader_open(path_of("try", META), false, &r, &busy);
    if (err != NC_NOERR) return err;
    while ((err = burst_reader_next(r, false, &e, &more)) == NC_NOERR && more) {
        int64_t v[3];
        err = burst_reader_check(r, &e);
        if (err != NC_NOERR) break;
        assert_int_equal(NC_NOERR, burst_reader_read(r, e.data_off, v, sizeof v));
        assert_true(e.seq == n && e.varid == n % 3 && e.ndims == 2 &&
                    e.kind == BURST_VARA);
        assert_true(e.start[0] == n && e.start[1] == 2 * n && e.count[1] == 3);
        assert_true(v[0] == n && v[1] == n * n && v[2] == -n);
        n++;
    }
    if (err == NC_NOERR) err = burst_reader_complete(r);
    burst_reader_close(r);
    if (err == NC_NOERR) assert_int_equal(ENTRIES, n);
    return err;
}

static void flipped_bits_never_give_wrong_values(void **state)
{
    const char *asked = getenv("BURST_FLIPS");
    long flips = asked == NULL ? 2000 : atol(asked), refused = 0;
    (void)state;
    srandom(20261121);
    for (long i = 0; i < flips; i++) {
        int which = i % 3 == 2 ? DATA : META;
        /* Most of a chunk is empty: look for what is not. */
        size_t used = which == META ? 4096 + ENTRIES * 128 : length[DATA];
        size_t at = (size_t)random() % used;
        unsigned char bit = (unsigned char)(1 << random() % 8);
        whole[which][at] ^= bit;
        put_file(which, whole[which], length[which]);
        int err = read_all();
        assert_true(err == NC_NOERR || err == NC_EBADLOG);
        refused += err != NC_NOERR;
        whole[which][at] ^= bit;
        put_file(which, whole[which], length[which]);
    }
    assert_true(refused > flips / 4);
    assert_int_equal(NC_NOERR, read_all());
}

static void a_torn_tail_is_found(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        size_t used = which == META ? 4096 + ENTRIES * 120 : length[DATA];
        for (size_t n = 0; n < used; n += which == META && n < 4000 ? 61 : 1) {
            put_file(which, whole[which], n);
            assert_int_equal(NC_EBADLOG, read_all());
        }
        put_file(which, whole[which], length[which]);
    }
    assert_int_equal(NC_NOERR, read_all());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flipped_bits_never_give_wrong_values),
        cmocka_unit_test(a_torn_tail_is_found),
    };
    return cmocka_run_group_tests(tests, make_log, tidy);
}
