/* Tests damaged logs: flipped bits, missing tails, sectors that were never written. The
 * reader must either reject a log or return exactly what was logged. It must reject a log
 * in which a relevant byte is damaged. The test maps the log's files, so that the reader
 * sees changes immediately. BURST_FLIPS=N makes it try N faults. */
#include "unit.h"

#include <sys/mman.h>

#include "base_error.h"
#include "base_sum.h"
#include "burst_log.h"
#include "burst_reader.h"
#include "conv.h"

enum { ENTRIES = 40, META = 0, DATA = 1, CHUNK = 4096, BEGIN = 4096, ENTRY = 120 };

static char directory[] = "/tmp/burst_broken.XXXXXX";
static const char *const endings[] = {"meta", "data"};
static unsigned char *whole[2], *mapped[2];
static size_t length[2];
static int fds[2];

static const char *path_of(const char *name, int which)
{
    static char paths[2][100];
    snprintf(paths[which], sizeof paths[0], "%s/%s.%s", directory, name, endings[which]);
    return paths[which];
}

/* Writes the original file and maps it into memory. */
static void put_file(int which)
{
    FILE *f = fopen(path_of("try", which), "wb+");
    assert_non_null(f);
    assert_int_equal(length[which], fwrite(whole[which], 1, length[which], f));
    assert_int_equal(0, fflush(f));
    fds[which] = dup(fileno(f));
    assert_int_equal(0, fclose(f));
    mapped[which] =
        mmap(NULL, length[which], PROT_READ | PROT_WRITE, MAP_SHARED, fds[which], 0);
    assert_true(mapped[which] != MAP_FAILED);
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
                            .data_sum = base_sum(values, sizeof values, 0)};
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
                             .chunk = CHUNK,
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
        put_file(which);
    }
    burst_log_end(&l, true);
    return 0;
}

static int tidy(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        munmap(mapped[which], length[which]);
        close(fds[which]);
        unlink(path_of("try", which));
        free(whole[which]);
    }
    return rmdir(directory);
}

/* Returns NC_NOERR only if the reader returns everything that was logged. The reader may
 * skip broken entries before it rejects the log. */
static int read_all(void)
{
    struct burst_reader *r;
    struct burst_entry e;
    bool more;
    enum burst_busy busy;
    int n = 0, err = burst_reader_open(path_of("try", META), 0, &r, &busy);
    int64_t i, last = -1;
    if (err != NC_NOERR) return err;
    while ((err = burst_reader_next(r, false, &e, &more)) == NC_NOERR && more) {
        int64_t v[3];
        err = burst_reader_check(r, &e);
        if (err != NC_NOERR) break;
        assert_int_equal(NC_NOERR, burst_reader_read(r, e.data_off, v, sizeof v));
        i = e.seq;
        assert_true(i > last && i < ENTRIES && e.varid == i % 3 && e.ndims == 2);
        assert_true(e.kind == BURST_VARA && e.start[0] == i && e.start[1] == 2 * i);
        assert_true(e.count[0] == 1 && e.count[1] == 3);
        assert_true(v[0] == i && v[1] == i * i && v[2] == -i);
        last = i;
        n++;
    }
    if (err == NC_NOERR) err = burst_reader_complete(r);
    burst_reader_close(r);
    if (err == NC_NOERR) assert_int_equal(ENTRIES, n);
    return err;
}

/* ---- faults ---- */

/* Returns whether the byte is covered by a checksum that the reader must verify. In the
 * header's page, only the beginning is always covered. The rest consists of unused bytes
 * and copies of the commit record, one of which suffices. */
static bool matters(int which, size_t at)
{
    if (which == DATA) return at >= 8;
    if (at < BEGIN) return at < 140;
    return (at - BEGIN) % CHUNK < CHUNK / ENTRY * ENTRY &&
           (at - BEGIN) / CHUNK * (CHUNK / ENTRY) + (at - BEGIN) % CHUNK / ENTRY <
               ENTRIES;
}

static long below(size_t limit)
{
    return random() % (long)limit;
}

/* The following functions damage a file, and return whether they changed a relevant
 * byte. */
static bool flip(int which)
{
    size_t at = (size_t)below(length[which]);
    mapped[which][at] ^= (unsigned char)(1 << below(8));
    return matters(which, at);
}

static bool flip_many(int which)
{
    bool found = false;
    for (long n = 2 + below(6); n > 0; n--) {
        size_t at = (size_t)below(length[which]);
        unsigned char was = mapped[which][at];
        mapped[which][at] = (unsigned char)random();
        if (mapped[which][at] != was) found |= matters(which, at);
    }
    return found;
}

static bool set_to_zero(int which, size_t from, size_t to)
{
    bool found = false;
    for (size_t i = from; i < to && i < length[which]; i++) {
        found |= mapped[which][i] != 0 && matters(which, i);
        mapped[which][i] = 0;
    }
    return found;
}

static bool lose_the_tail(int which)
{
    return set_to_zero(which, (size_t)below(length[which]), length[which]);
}

static bool lose_a_sector(int which)
{
    size_t at = (size_t)below(length[which]) / 512 * 512;
    return set_to_zero(which, at, at + 512);
}

static bool cut(int which)
{
    size_t n = (size_t)below(length[which]);
    bool found = false;
    for (size_t i = n; i < length[which] && !found; i++)
        found = matters(which, i);
    assert_int_equal(0, ftruncate(fds[which], (off_t)n));
    return found;
}

static void mend(int which)
{
    assert_int_equal(0, ftruncate(fds[which], (off_t)length[which]));
    memcpy(mapped[which], whole[which], length[which]);
}

static void broken_logs_never_give_wrong_values(void **state)
{
    static bool (*const faults[])(int) = {flip, flip_many, lose_the_tail, lose_a_sector,
                                          cut};
    const char *asked = getenv("BURST_FLIPS");
    long tries = asked == NULL ? 5000 : atol(asked), refused[5] = {0};
    (void)state;
    srandom(20261121);
    for (long i = 0; i < tries; i++) {
        int which = i % 2 == 0 ? META : DATA;
        /* half of the faults flip a bit; the other half alternate between the remaining
         * kinds */
        int kind = i % 4 < 2 ? 0 : 1 + (int)(i / 4 % 4);
        bool must = faults[kind](which);
        int err = read_all();
        assert_true(err == NC_EBADLOG || (err == NC_NOERR && !must));
        refused[kind] += err != NC_NOERR;
        mend(which);
    }
    for (int kind = 0; kind < 5; kind++)
        assert_true(refused[kind] > tries / 40);
    assert_int_equal(NC_NOERR, read_all());
    print_message("# %ld faults: refused %ld, %ld, %ld, %ld, %ld\n", tries, refused[0],
                  refused[1], refused[2], refused[3], refused[4]);
}

static void a_torn_tail_is_found(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        size_t used =
            which == META ? BEGIN + CHUNK + (ENTRIES - 34) * ENTRY : length[DATA];
        for (size_t n = 0; n < used; n += which == META && n < 4000 ? 61 : 1) {
            assert_int_equal(0, ftruncate(fds[which], (off_t)n));
            assert_int_equal(NC_EBADLOG, read_all());
            mend(which);
        }
    }
    assert_int_equal(NC_NOERR, read_all());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_logs_never_give_wrong_values),
        cmocka_unit_test(a_torn_tail_is_found),
    };
    return cmocka_run_group_tests(tests, make_log, tidy);
}
