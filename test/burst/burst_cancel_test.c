/* Tests cancelling puts that are in the log. A cancelled entry must never be replayed,
 * even if a failed commit had struck it out before: a second strike would make it valid
 * again. An entry whose values are in the file remains. */
#include "burst.h"
#include "unit.h"

#include "base_mem.h"
#include "base_sum.h"
#include "burst_log.h"
#include "burst_reader.h"

static const struct row {
    bool struck, written, listed; /* before the cancel */
    int status;
    bool valid; /* the entry, after it */
} rows[] = {
    {false, false, true, NC_NOERR, false},    {true, false, true, NC_NOERR, false},
    {false, true, true, NC_EFLUSHED, true},   {true, true, true, NC_EFLUSHED, false},
    {false, false, false, NC_EFLUSHED, true}, {false, false, true, NC_NOERR, false}};
enum { ROWS = sizeof rows / sizeof rows[0] };

static char folder[] = "/tmp/burst_cancel.XXXXXX";
static struct dataset ds;
static struct burst b;

/* Logs a put of one int, and lists it. Returns its ticket. */
static uint32_t log_put(int i)
{
    int64_t start = i, count = 1;
    int value = 0x1020304 * (i + 1);
    struct iovec piece = {&value, sizeof value};
    struct burst_write *w = burst_list_new(&b.list, 0, 2);
    struct burst_entry e = {.size = burst_entry_size(2),
                            .kind = BURST_VARA,
                            .itype = burst_itype(CONV_INT),
                            .ndims = 1,
                            .nreqs = 1,
                            .data_len = sizeof value,
                            .start = &start,
                            .count = &count,
                            .seq = i,
                            .data_sum = base_sum(&value, sizeof value, 0)};
    assert_non_null(w);
    e.data_off = burst_log_reserve(&b.log, e.data_len);
    assert_int_equal(NC_NOERR, burst_log_write(&b.log, e.data_off, &piece, 1));
    assert_int_equal(NC_NOERR, burst_log_add(&b.log, &e));
    assert_int_equal(NC_NOERR, burst_log_commit(&b.log, 1));
    w->slab[0] = i;
    w->slab[1] = w->nelems = 1;
    w->type = CONV_INT;
    w->source = -1;
    w->seq = i;
    w->sum_at = b.log.sum_at;
    assert_int_equal(NC_NOERR, burst_list_add(&b.list, &ds.header, &w, 1));
    if (rows[i].struck) {
        assert_int_equal(NC_NOERR, burst_log_strike(&b.log, w->sum_at));
        w->seq = -1;
    }
    w->written = rows[i].written;
    return (uint32_t)w->serial;
}

static void a_cancelled_entry_is_never_valid(void **state)
{
    static union access_own_request requests[ROWS];
    struct access_request *reqs[ROWS];
    struct burst_header h = {.format = 5,
                             .num_ranks = 1,
                             .chunk = 4096,
                             .nslots = 1,
                             .token = 4711,
                             .basename = "a.nc",
                             .proc_name = "here",
                             .path = "/there/a.nc"};
    char path[64], file[80];
    struct burst_reader *r;
    struct burst_entry e;
    bool more;
    (void)state;
    snprintf(path, sizeof path, "%s/log", folder);
    assert_int_equal(NC_NOERR, burst_log_create(&b.log, path, &h, NULL));
    for (int i = 0; i < ROWS; i++) {
        uint32_t ticket = log_put(i);
        requests[i].r = (struct access_request){.varid = 0};
        access_set_ticket(&requests[i].r, rows[i].listed ? ticket : ticket + ROWS);
        reqs[i] = &requests[i].r;
    }
    burst_cancel(&b.base, reqs, ROWS);
    assert_int_equal(3 * sizeof(int), ds.stats.burst_cancelled_bytes);
    snprintf(file, sizeof file, "%s.meta", path);
    assert_int_equal(NC_NOERR, burst_reader_open(file, 0, &r, NULL));
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(rows[i].status, reqs[i]->status);
        assert_int_equal(NC_NOERR, burst_reader_next(r, true, &e, &more));
        assert_true(more && e.start[0] == i);
        assert_int_equal(!rows[i].valid, (e.flags & BURST_CANCELLED) != 0);
    }
    burst_reader_close(r);
    burst_log_end(&b.log, true);
}

static int begin_test(void **state)
{
    const struct cdf_padding padding = {0, 4, 0, 4, false, false};
    int x, v;
    (void)state;
    cdf_init(&ds.header, 5);
    ds.hints.burst_log_at = HINTS_LOG_AT_POST;
    b.base.ds = &ds;
    return cdf_def_dim(&ds.header, "x", ROWS, &x) || mkdtemp(folder) == NULL ||
           cdf_def_var(&ds.header, "v", NC_INT, 1, &x, &v) ||
           cdf_layout(&ds.header, NULL, &padding);
}

static int end_test(void **state)
{
    (void)state;
    burst_list_free(&b.list);
    cdf_free(&ds.header);
    assert_int_equal(0, base_mem_in_use());
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cancelled_entry_is_never_valid)};
    return cmocka_run_group_tests(tests, begin_test, end_test);
}
