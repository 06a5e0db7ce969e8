/* Tests the log formats byte by byte: PnetCDF's logs against the published grammar, and
 * this library's logs against doc/formats.md. */
#include "unit.h"

#include <sys/mman.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_sum.h"
#include "burst_log.h"
#include "burst_reader.h"
#include "conv.h"

static char directory[] = "/tmp/burst_format.XXXXXX";

static const char *path_of(const char *name)
{
    static char path[100];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t n)
{
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    assert_int_equal(n, fwrite(bytes, 1, n, f));
    assert_int_equal(0, fclose(f));
}

/* ---- version 0, written by hand from the grammar ---- */

struct bytes {
    unsigned char at[4096];
    size_t n;
};

static void add(struct bytes *b, const void *p, size_t n)
{
    memcpy(b->at + b->n, p, n);
    b->n += n;
}

static void add32(struct bytes *b, int32_t v)
{
    add(b, &v, 4);
}

static void add64(struct bytes *b, int64_t v)
{
    add(b, &v, 8);
}

static void add_name(struct bytes *b, const char *name)
{
    add32(b, (int32_t)strlen(name));
    add(b, name, strlen(name));
    while (b->n % 4 != 0)
        b->at[b->n++] = 0;
}

/* Returns whether this machine is big-endian. */
static bool big_endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0;
}

static void add_header(struct bytes *b, int64_t entries)
{
    add(b, "PnetCDF0CDF5\0\0\0\0", 16);
    add32(b, big_endian()); /* byte order of this machine */
    add32(b, 0);            /* values are in native representation */
    add64(b, 4);            /* number of ranks */
    add64(b, 2);            /* rank of this log's process */
    add64(b, 3);            /* maximum number of dimensions */
    add64(b, entries);
    size_t begin_at = b->n;
    add64(b, 0);
    add_name(b, "out.nc");
    add_name(b, "node17.site");
    int64_t begin = (int64_t)b->n;
    memcpy(b->at + begin_at, &begin, 8);
}

static void add_entry(struct bytes *b, int kind, int itype, int varid, int ndims,
                      int64_t off, int64_t len, const int64_t *arrays, int n)
{
    add64(b, 40 + 8 * n);
    add32(b, kind);
    add32(b, itype);
    add32(b, varid);
    add32(b, ndims);
    add64(b, off);
    add64(b, len);
    add(b, arrays, 8 * (size_t)n);
}

static void a_log_of_version_0_is_read(void **state)
{
    static const int64_t vara[] = {1, 2, 3, 4}, vars[] = {0, 0, 2, 2, 3, 5};
    static const int64_t varn[] = {1, 1, 5, 5, 2, 2, 3, 3};
    struct bytes b = {.n = 0};
    struct burst_reader *r;
    struct burst_entry e;
    bool more;
    enum burst_busy busy;
    (void)state;
    add_header(&b, 3);
    add_entry(&b, -3, 6, 7, 2, 8, 48, vara, 4);
    add_entry(&b, -4, 9, 1, 2, 56, 32, vars, 6);
    add_entry(&b, 2, 4, 0, 2, 88, 26, varn, 8);
    write_file("zero.meta", b.at, b.n);
    write_file("zero.data", "PnetCDF0", 8);

    assert_int_equal(NC_NOERR, burst_reader_open(path_of("zero.meta"), 0, &r, &busy));
    const struct burst_header *h = burst_reader_header(r);
    assert_int_equal(0, h->version);
    assert_int_equal(5, h->format);
    assert_int_equal(4, h->num_ranks);
    assert_int_equal(2, h->rank_id);
    assert_string_equal("out.nc", h->basename);
    assert_string_equal("node17.site", h->proc_name);

    assert_int_equal(NC_NOERR, burst_reader_next(r, false, &e, &more));
    assert_true(more && e.kind == BURST_VARA && e.varid == 7 && e.ndims == 2);
    assert_int_equal(CONV_INT, burst_conv_type(e.itype));
    assert_true(e.start[1] == 2 && e.count[1] == 4 && e.stride == NULL);
    assert_int_equal(NC_NOERR, burst_reader_next(r, false, &e, &more));
    assert_true(more && e.kind == BURST_VARS && e.stride[1] == 5);
    assert_int_equal(CONV_DOUBLE, burst_conv_type(e.itype));
    assert_int_equal(NC_NOERR, burst_reader_next(r, false, &e, &more));
    assert_true(more && e.nreqs == 2 && e.start[2] == 5 && e.count[3] == 3);
    assert_int_equal(NC_EBADLOG, burst_reader_check(r, &e)); /* the values are missing */
    assert_int_equal(NC_NOERR, burst_reader_next(r, false, &e, &more));
    assert_false(more);
    burst_reader_close(r);
}

/* ---- version 0, as PnetCDF 1.15 writes it ---- */

/* Adds a header that has the given numbers at offsets 48 and 56. Returns the offset of
 * the first entry. */
static size_t add_written_header(struct bytes *b, const char *path, int64_t at48,
                                 int64_t at56)
{
    static const char host[] = "node17";
    add(b, "PnetCDF0CDF0\0\0\0\0", 16);
    add32(b, big_endian());
    add32(b, 0);
    add64(b, 2); /* number of ranks */
    add64(b, 1); /* rank of this log's process */
    add64(b, 0); /* number of dimensions, which PnetCDF leaves 0 */
    add64(b, at48);
    add64(b, at56);
    add64(b, (int64_t)strlen(path));
    add(b, path, strlen(path) + 1);
    add32(b, (int32_t)strlen(host));
    add(b, host, strlen(host) + 1);
    size_t begin = (80 + strlen(path) + 1 + 4 + strlen(host) + 1 + 15) / 16 * 16;
    while (b->n < begin)
        b->at[b->n++] = 0;
    return begin;
}

static void logs_of_pnetcdf_are_read(void **state)
{
    static const int64_t vara[] = {1, 2, 3, 4, 0, 0}; /* unused strides are 0 */
    static const int64_t varn[] = {1, 1, 5, 5, 2, 2, 0, 3};
    struct bytes b = {.n = 0};
    struct burst_reader *r;
    struct burst_entry e;
    bool more;
    (void)state;
    size_t begin = add_written_header(&b, "/scratch/run 7/out.nc", 0, 2);
    add_entry(&b, -3, 13, 7, 2, 8, 96, vara, 6);
    add_entry(&b, 2, 4, 0, 2, 104, 8, varn, 8);
    write_file("zero.meta", b.at, b.n);
    assert_int_equal(NC_NOERR, burst_reader_open(path_of("zero.meta"), 0, &r, NULL));
    const struct burst_header *h = burst_reader_header(r);
    assert_string_equal("/scratch/run 7/out.nc", h->path);
    assert_string_equal("node17", h->proc_name);
    assert_int_equal(2, h->num_ranks);
    assert_int_equal(1, h->rank_id);
    assert_int_equal(2, h->num_entries);
    assert_int_equal(begin, h->entry_begin);
    assert_int_equal(NC_NOERR, burst_reader_next(r, false, &e, &more));
    assert_true(more && e.kind == BURST_VARA && e.count[1] == 4);
    assert_int_equal(sizeof(long), conv_size((enum conv_type)burst_conv_type(e.itype)));
    assert_int_equal(NC_NOERR, burst_reader_next(r, false, &e, &more));
    assert_true(more && e.nreqs == 2 && e.count[2] == 0);
    assert_int_equal(NC_NOERR, burst_reader_next(r, false, &e, &more));
    assert_false(more);
    burst_reader_close(r);
}

static int64_t entries_of(int64_t at48, int64_t at56, int entries)
{
    static const int64_t one[] = {0, 1, 0};
    struct bytes b = {.n = 0};
    struct burst_header h;
    add_written_header(&b, "/a.nc", at48, at56);
    for (int i = 0; i < entries; i++)
        add_entry(&b, -3, 2, 0, 1, 8 + i, 1, one, 3);
    assert_int_equal(NC_NOERR, burst_decode_header(&h, b.at, b.n));
    return h.num_entries;
}

/* As long as the number of entries is unknown, its field contains the offset of the first
 * entry (112). */
static void the_number_of_entries_follows_from_their_offset(void **state)
{
    enum { BEGIN = 112 };
    (void)state;
    assert_int_equal(0, entries_of(0, BEGIN, 0));
    assert_int_equal(0, entries_of(0, BEGIN, 1)); /* killed before the number was
                                                   * stored */
    assert_int_equal(3, entries_of(0, 3, 3));
    assert_int_equal(0, entries_of(0, 0, 3)); /* a log that was flushed */
    assert_int_equal(2, entries_of(2, BEGIN, 2));
}

static void an_invalid_name_is_reported(void **state)
{
    struct bytes b = {.n = 0};
    struct burst_header h;
    (void)state;
    size_t begin = add_written_header(&b, "/a.nc", 0, 0);
    assert_int_equal(NC_NOERR, burst_decode_header(&h, b.at, begin));
    for (size_t n = 0; n < begin; n++)
        assert_int_equal(NC_EBADLOG, burst_decode_header(&h, b.at, n));
    static const size_t places[] = {72 + 2, 72 + 5, 72 + 6 + 4 + 2, 72 + 6 + 4 + 6};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        unsigned char was = b.at[places[i]];
        b.at[places[i]] = was == 0 ? 'x' : 0; /* makes the name too long or too short */
        assert_int_equal(NC_EBADLOG, burst_decode_header(&h, b.at, begin));
        b.at[places[i]] = was;
    }
    int64_t lengths[] = {-1, 6, 4096, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        memcpy(b.at + 64, &lengths[i], 8);
        assert_int_equal(NC_EBADLOG, burst_decode_header(&h, b.at, begin));
    }
}

static void files_that_are_not_logs_are_rejected(void **state)
{
    struct bytes b = {.n = 0};
    struct burst_header h;
    (void)state;
    add_header(&b, 0);
    assert_int_equal(NC_NOERR, burst_decode_header(&h, b.at, b.n));
    for (size_t n = 0; n < b.n; n++)
        assert_int_equal(NC_EBADLOG, burst_decode_header(&h, b.at, n));
    b.at[7] = '7';
    assert_int_equal(NC_EBADLOG, burst_decode_header(&h, b.at, b.n));
    assert_non_null(strstr(base_error_detail(NC_EBADLOG), "version"));
    b.at[7] = '0';
    b.at[16 + 3] = !big_endian(); /* the other byte order */
    assert_int_equal(NC_EBADLOG, burst_decode_header(&h, b.at, b.n));
    assert_non_null(strstr(base_error_detail(NC_EBADLOG), "byte order"));
    memcpy(b.at, "NetCDF", 6);
    assert_int_equal(NC_EBADLOG, burst_decode_header(&h, b.at, b.n));
}

/* ---- this library's logs (version 1) ---- */

static void start_log(struct burst_log *l, const char *name, int nslots,
                      struct burst_space *space)
{
    struct burst_header h = {.format = 2,
                             .num_ranks = 3,
                             .rank_id = 1,
                             .chunk = 4096,
                             .nslots = nslots,
                             .token = 4711,
                             .basename = "a.nc",
                             .proc_name = "here",
                             .path = "/there/a.nc"};
    assert_int_equal(NC_NOERR, burst_log_create(l, path_of(name), &h, space));
}

static void log_numbers(struct burst_log *l, int rank, int first, int n)
{
    int64_t start = first, count = n, values[512];
    for (int i = 0; i < n; i++)
        values[i] = first + i;
    struct iovec piece = {values, (size_t)n * 8};
    struct burst_entry e = {.size = burst_entry_size(2),
                            .kind = BURST_VARA,
                            .itype = burst_itype(CONV_LONGLONG),
                            .ndims = 1,
                            .nreqs = 1,
                            .data_len = n * 8,
                            .start = &start,
                            .count = &count,
                            .seq = first,
                            .rank = rank,
                            .data_sum = base_sum(values, (size_t)n * 8, 0)};
    e.data_off = burst_log_reserve(l, e.data_len);
    assert_int_equal(NC_NOERR, burst_log_write(l, e.data_off, &piece, 1));
    assert_int_equal(NC_NOERR, burst_log_add(l, &e));
    burst_log_commit(l, 1);
}

/* Counts the entries that a reader returns. Compares each of them with the original. */
static int count_entries(const char *name, int64_t *sum)
{
    struct burst_reader *r;
    struct burst_entry e;
    bool more;
    enum burst_busy busy;
    int n = 0;
    *sum = 0;
    assert_int_equal(NC_NOERR, burst_reader_open(path_of(name), 0, &r, &busy));
    while (burst_reader_next(r, false, &e, &more) == NC_NOERR && more) {
        int64_t value;
        assert_int_equal(NC_NOERR, burst_reader_check(r, &e));
        assert_int_equal(NC_NOERR, burst_reader_read(r, e.data_off, &value, 8));
        assert_int_equal(e.start[0], value);
        *sum += value;
        n++;
    }
    assert_int_equal(NC_NOERR, burst_reader_complete(r));
    burst_reader_close(r);
    return n;
}

static void logged_entries_are_read_back(void **state)
{
    struct burst_log l;
    int64_t sum;
    (void)state;
    start_log(&l, "one", 1, NULL);
    for (int i = 0; i < 300; i++) /* fills several chunks */
        log_numbers(&l, 1, i, 1 + i % 7);
    assert_int_equal(300, count_entries("one.meta", &sum));
    assert_int_equal(300 * 299 / 2, sum);
    assert_int_equal(NC_NOERR, burst_log_sync(&l));

    burst_log_drained(&l, 300);
    log_numbers(&l, 1, 1000, 5);
    assert_int_equal(1, count_entries("one.meta", &sum));
    assert_int_equal(1000, sum);

    burst_log_reset(&l);
    assert_int_equal(0, count_entries("one.meta", &sum));
    for (int i = 0; i < 10; i++)
        log_numbers(&l, 1, i, 2);
    assert_int_equal(10, count_entries("one.meta", &sum));
    assert_int_equal(45, sum);
    burst_log_end(&l, true);
    assert_int_equal(-1, access(path_of("one.meta"), F_OK));
    assert_int_equal(-1, access(path_of("one.data"), F_OK));
}

static void uncommitted_entries_are_ignored(void **state)
{
    struct burst_log l;
    int64_t sum, start = 3, count = 1;
    struct burst_entry e = {.size = burst_entry_size(2),
                            .kind = BURST_VARA,
                            .itype = 1,
                            .ndims = 1,
                            .nreqs = 1,
                            .start = &start,
                            .count = &count,
                            .seq = 1,
                            .rank = 1};
    (void)state;
    start_log(&l, "two", 1, NULL);
    log_numbers(&l, 1, 7, 1);
    assert_int_equal(NC_NOERR, burst_log_add(&l, &e));
    assert_int_equal(1, count_entries("two.meta", &sum));
    burst_log_end(&l, true);
}

static void processes_share_a_log(void **state)
{
    struct burst_space space;
    struct burst_log one, two;
    struct burst_header h;
    int64_t sum;
    (void)state;
    start_log(&one, "shared", 2, &space);
    h = one.header;
    h.rank_id = 2;
    assert_int_equal(NC_NOERR, burst_log_join(&two, path_of("shared"), &h, &space, 1));
    for (int i = 0; i < 400; i++)
        log_numbers(i % 3 == 0 ? &one : &two, i % 3 == 0 ? 1 : 2, i, 1 + i % 500);
    assert_int_equal(400, count_entries("shared.meta", &sum));
    assert_int_equal(400 * 399 / 2, sum);
    /* After a drain, one process resets its part of the log. The other one is killed
     * before it does so. */
    burst_log_reset(&two);
    assert_int_equal(0, count_entries("shared.meta", &sum));
    burst_log_end(&two, false);
    burst_log_end(&one, true);
}

static void a_log_in_use_is_not_read(void **state)
{
    struct burst_log l;
    struct burst_reader *r;
    enum burst_busy busy;
    (void)state;
    start_log(&l, "busy", 1, NULL);
    assert_int_not_equal(
        NC_NOERR, burst_reader_open(path_of("busy.meta"), BURST_READ_LOCK, &r, &busy));
    assert_int_equal(BURST_WRITTEN, busy);
    assert_non_null(
        strstr(base_error_detail(NC_EFILE), "busy.meta is being written by process"));
    burst_log_end(&l, true);
}

/* ---- forged headers ---- */

static const int64_t forged[] = {
    0,   1,   -1,   INT64_MIN, INT64_MAX, 64,        255,
    256, 257, 4095, 65535,     INT32_MAX, INT32_MIN, INT64_MAX - 4096};
enum { FORGED = sizeof forged / sizeof forged[0] };

/* Decodes headers that end where the memory ends, so that reading more is a fault. */
static void a_forged_header_is_not_read_beyond_its_end(void **state)
{
    enum { PAGE = 65536 };
    struct bytes b[2] = {{.n = 0}, {.n = 0}};
    struct burst_header h;
    (void)state;
    add_header(&b[0], 0);
    b[1].n = add_written_header(&b[1], "/scratch/run 7/out.nc", 0, 0);
    unsigned char *end = mmap(NULL, 2 * (size_t)PAGE, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(end != MAP_FAILED);
    end += PAGE;
    assert_int_equal(0, mprotect(end, PAGE, PROT_NONE));
    for (int v = 0; v < 2; v++)
        for (size_t n = b[v].n; n >= 8; n--)
            for (size_t i = 0; i < FORGED * (n - 7); i++) {
                memcpy(end - n, b[v].at, n);
                memcpy(end - n + i / FORGED, &forged[i % FORGED], n % 2 == 0 ? 8 : 4);
                if (burst_decode_header(&h, end - n, n) != NC_NOERR) continue;
                assert_true(h.entry_begin >= 0 && h.num_entries >= 0 && n > 64);
                assert_true(memchr(h.path, 0, sizeof h.path) != NULL &&
                            memchr(h.proc_name, 0, sizeof h.proc_name) != NULL);
            }
    munmap(end - PAGE, 2 * (size_t)PAGE);
}

/* Replaces each number of the header with a valid checksum. The reader maps the file, and
 * reading beyond it is a fault. */
static void a_sealed_forged_header_is_refused_or_harmless(void **state)
{
    static unsigned char bytes[16384];
    struct burst_log l;
    (void)state;
    start_log(&l, "forged", 1, NULL);
    for (int i = 0; i < 30; i++)
        log_numbers(&l, 1, i, 2);
    FILE *f = fopen(path_of("forged.meta"), "rb");
    size_t size = fread(bytes, 1, sizeof bytes, f);
    assert_true(f != NULL && size > 4096 && size < sizeof bytes);
    fclose(f);
    struct burst_header h = l.header;
    static unsigned char head[16384];
    size_t sum_at = burst_encode_header(&h, head, sizeof head) - 8;
    assert_memory_equal(head, bytes, sum_at + 8);
    burst_log_end(&l, false);
    for (size_t i = 0; i < FORGED * (sum_at / 4 - 1); i++) {
        size_t at = i / FORGED * 4;
        struct burst_reader *r;
        struct burst_entry e;
        bool more = true;
        memcpy(bytes, head, sum_at + 8);
        memcpy(bytes + at, &forged[i % FORGED], at + 8 <= sum_at ? 8 : 4);
        struct burst_header was = {.token = 0};
        (void)burst_decode_header(&was, bytes,
                                  size); /* the checksum includes the token */
        uint64_t sum = base_sum(bytes, sum_at, was.token);
        memcpy(bytes + sum_at, &sum, sizeof sum);
        write_file("forged.meta", bytes, size);
        if (burst_reader_open(path_of("forged.meta"), 0, &r, NULL) != NC_NOERR) continue;
        while (burst_reader_next(r, false, &e, &more) == NC_NOERR && more)
            (void)burst_reader_check(r, &e);
        burst_reader_close(r);
    }
    unlink(path_of("forged.meta"));
    unlink(path_of("forged.data"));
}

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) == NULL;
}

static int remove_directory(void **state)
{
    (void)state;
    unlink(path_of("zero.meta"));
    unlink(path_of("zero.data"));
    assert_int_equal(0, base_mem_in_use());
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_of_version_0_is_read),
        cmocka_unit_test(logs_of_pnetcdf_are_read),
        cmocka_unit_test(the_number_of_entries_follows_from_their_offset),
        cmocka_unit_test(an_invalid_name_is_reported),
        cmocka_unit_test(files_that_are_not_logs_are_rejected),
        cmocka_unit_test(logged_entries_are_read_back),
        cmocka_unit_test(uncommitted_entries_are_ignored),
        cmocka_unit_test(processes_share_a_log),
        cmocka_unit_test(a_log_in_use_is_not_read),
        cmocka_unit_test(a_forged_header_is_not_read_beyond_its_end),
        cmocka_unit_test(a_sealed_forged_header_is_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
