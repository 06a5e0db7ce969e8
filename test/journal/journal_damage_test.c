/* Tests interrupted moves, damaged journals and torn marks. If any write fails, or the
 * process ends in it, the dataset must be complete, old or new, at the latest when the
 * next process has finished the redefinition. If a dataset begins with a mixture of a
 * header and a mark, the redefinition must be finished from the journal. Bytes of the
 * mark must never be mistaken for the number of records. If any byte of a journal has
 * changed, the journal must either be rejected, or be read with the same contents as
 * before. A rejection must not change the dataset or the journal. */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base_bytes.h"
#include "base_error.h"
#include "base_io.h"
#include "base_names.h"
#include "journal.h"

enum { MOST = 1 << 16, CUTS = JOURNAL_MARK };

/* The contents of the dataset and of the journal. */
struct image {
    unsigned char bytes[2][MOST];
    int64_t size[2]; /* size in bytes; -1 if the file does not exist */
};

static char folder[64], paths[2][96];
static struct cdf_header before, after;
static int64_t seed_records;

/* ---- files ---- */

static void take_image(struct image *m)
{
    for (int i = 0; i < 2; i++) {
        int fd = open(paths[i], O_RDONLY);
        m->size[i] = fd < 0 ? -1 : read(fd, m->bytes[i], MOST);
        assert_true(m->size[i] < MOST);
        if (fd >= 0) close(fd);
    }
}

/* Overwrites the files in place, so their inodes remain the same. */
static void put_image(const struct image *m)
{
    for (int i = 0; i < 2; i++) {
        if (m->size[i] < 0) unlink(paths[i]);
        if (m->size[i] < 0) continue;
        int fd = open(paths[i], O_RDWR | O_CREAT, 0600);
        assert_true(fd >= 0);
        assert_int_equal(0, ftruncate(fd, (off_t)m->size[i]));
        assert_int_equal(m->size[i], pwrite(fd, m->bytes[i], (size_t)m->size[i], 0));
        close(fd);
    }
}

static void assert_unchanged(const struct image *m)
{
    static struct image now;
    take_image(&now);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(m->size[i], now.size[i]);
        assert_memory_equal(m->bytes[i], now.bytes[i], (size_t)m->size[i]);
    }
}

/* ---- writes that fail ---- */

/* Numbers of the write that fails and of the last one, in which the process ends. Half of
 * their bytes are written. */
static struct {
    int64_t fails, ends, calls;
} writes = {-1, -1, 0};

/* Counts a write of n bytes. Returns the number of bytes that are written. */
static int64_t limit_write(int64_t n)
{
    int64_t call = writes.calls++;
    if (writes.ends >= 0 && call > writes.ends) return 0;
    return call == writes.fails || call == writes.ends ? n / 2 : n;
}

int __real_base_write_at(int fd, int64_t at, const void *bytes, int64_t n,
                         const char *path);
int __wrap_base_write_at(int fd, int64_t at, const void *bytes, int64_t n,
                         const char *path);
int __wrap_base_write_at(int fd, int64_t at, const void *bytes, int64_t n,
                         const char *path)
{
    int64_t most = limit_write(n);
    int err = most > 0 ? __real_base_write_at(fd, at, bytes, most, path) : NC_NOERR;
    return most == n ? err : base_error_set(NC_EWRITE, "%s", path);
}

/* Number of the read that fails. */
static int64_t failing_read = -1;

int __real_base_read_at(int fd, int64_t at, void *bytes, int64_t n, const char *path);
int __wrap_base_read_at(int fd, int64_t at, void *bytes, int64_t n, const char *path);
int __wrap_base_read_at(int fd, int64_t at, void *bytes, int64_t n, const char *path)
{
    if (failing_read-- == 0) return base_error_set(NC_EREAD, "%s", path);
    return __real_base_read_at(fd, at, bytes, n, path);
}

int __real_base_resize(int fd, int64_t size, const char *path);
int __wrap_base_resize(int fd, int64_t size, const char *path);
int __wrap_base_resize(int fd, int64_t size, const char *path)
{
    if (limit_write(1) == 0) return base_error_set(NC_EWRITE, "%s", path);
    return __real_base_resize(fd, size, path);
}

int __real_base_sync_data(int fd, const char *path);
int __wrap_base_sync_data(int fd, const char *path);
int __wrap_base_sync_data(int fd, const char *path)
{
    if (limit_write(1) == 0) return base_error_set(NC_EWRITE, "%s", path);
    return __real_base_sync_data(fd, path);
}

int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __wrap_unlink(const char *path)
{
    return writes.ends >= 0 && writes.calls > writes.ends ? -1 : __real_unlink(path);
}

/* ---- a dataset and its redefinition ---- */

static void define(struct cdf_header *h, int format, bool more)
{
    const struct cdf_padding room = {
        .header_minfree = 0, .fixed_align = 4, .record_align = 4};
    int dims[2], id;
    cdf_init(h, format);
    assert_int_equal(NC_NOERR, cdf_def_dim(h, "time", NC_UNLIMITED, &dims[0]));
    assert_int_equal(NC_NOERR, cdf_def_dim(h, "x", 3, &dims[1]));
    assert_int_equal(NC_NOERR, cdf_def_var(h, "fixed", NC_SHORT, 1, &dims[1], &id));
    assert_int_equal(NC_NOERR, cdf_def_var(h, "v", NC_INT, 2, dims, &id));
    if (more)
        assert_int_equal(NC_NOERR, cdf_def_var(h, "w", NC_DOUBLE, 1, &dims[1], &id));
    h->numrecs = seed_records;
    assert_int_equal(NC_NOERR, cdf_layout(h, more ? &before : NULL, &room));
}

static void make_dataset_of(int format, int64_t records)
{
    unsigned char *bytes = calloc(1, MOST);
    seed_records = records;
    define(&before, format, false);
    define(&after, format, true);
    cdf_encode(&before, bytes);
    for (int64_t i = before.size; i < cdf_file_size(&before); i++)
        bytes[i] = (unsigned char)random();
    int fd = open(paths[0], O_RDWR | O_CREAT | O_TRUNC, 0600);
    int64_t size = cdf_file_size(&before);
    assert_true(fd >= 0 && size < MOST);
    assert_int_equal(size, pwrite(fd, bytes, (size_t)size, 0));
    close(fd);
    free(bytes);
}

static void make_dataset(int format)
{
    make_dataset_of(format, 300 + random() % 1000);
}

static void end_dataset(void)
{
    cdf_free(&before);
    cdf_free(&after);
    unlink(paths[0]);
    unlink(paths[1]);
}

/* Acquires the dataset's journal as the next process does. Returns its result. */
static int acquire(struct journal *j)
{
    assert_int_equal(NC_NOERR, journal_init(j, paths[0]));
    assert_int_equal(NC_NOERR, journal_open_dataset(j, 0));
    j->guard = j->file;
    return journal_acquire(j, 0);
}

/* Marks the dataset, creates a journal with areas of `area` bytes, and records the
 * state *s if it is not the initial one. Leaves both files in place, as a killed
 * process would. */
static void start_redefinition(int64_t area, const struct journal_state *s)
{
    struct journal j;
    bool now = area == 0 && s->high == 0;
    enum journal_phase first = now ? s->phase : JOURNAL_READY;
    assert_int_equal(NC_NOERR, journal_init(&j, paths[0]));
    assert_int_equal(NC_NOERR, journal_open_dataset(&j, 0));
    assert_int_equal(NC_NOERR, journal_claim(&j));
    assert_int_equal(NC_NOERR, journal_start(&j, before.size, &after, area, first));
    struct journal_state state = *s;
    for (int k = 1; k >= 0 && area > 0; k--) {
        unsigned char bytes[MOST];
        for (int64_t i = 0; i < area; i++)
            bytes[i] = (unsigned char)random();
        j.sum = 0; /* written in two parts, as if by two processes */
        assert_int_equal(NC_NOERR, journal_write_area(&j, k, 0, bytes, 101));
        assert_int_equal(NC_NOERR,
                         journal_write_area(&j, k, 101, bytes + 101, area - 101));
        assert_true(j.sum == journal_sum(0, bytes, area));
    }
    if (s->saved) state.sum = j.sum + JOURNAL_SUM_KNOWN;
    if (s->phase != first) assert_int_equal(NC_NOERR, journal_record(&j, state));
    journal_free(&j);
}

/* ---- finishing ---- */

/* Copies the bytes of a round one by one, as its positions are defined. */
static int carry(void *arg, const struct journal_state *round, enum journal_place from,
                 enum journal_place to)
{
    struct journal *j = arg;
    unsigned char bytes[MOST];
    const int64_t n = round->high - round->low, most = limit_write(n);
    int err = NC_NOERR;
    if (from == JOURNAL_AREA) err = journal_read_area(j, round->area, 0, bytes, n);
    for (int64_t i = 0; i < n; i++) {
        struct cdf_move_state state;
        struct cdf_move m;
        (void)cdf_seek_move(&before, &after, round->low + i, &state, &m);
        const int64_t ends[] = {m.from + m.length - 1, m.to + m.length - 1};
        if (from != JOURNAL_AREA)
            assert_int_equal(1, pread(j->file, &bytes[i], 1, ends[from == JOURNAL_NEW]));
        if (to == JOURNAL_AREA || i >= most || err != NC_NOERR) continue;
        assert_int_equal(1, pwrite(j->file, &bytes[i], 1, ends[to == JOURNAL_NEW]));
    }
    if (to == JOURNAL_AREA) err = journal_write_area(j, round->area, 0, bytes, n);
    return err == NC_NOERR && most < n ? NC_EWRITE : err;
}

/* Writes the new variable. */
static int complete(void *arg)
{
    const struct cdf_var *w = &after.vars[after.nvars - 1];
    static const unsigned char bytes[] = "the values of w, 24 byte";
    struct journal *j = arg;
    return base_write_at(j->file, w->begin, bytes, 24, j->dataset_path);
}

static int nothing(void *arg)
{
    (void)arg;
    return NC_NOERR;
}

static int concur(void *arg, int err)
{
    (void)arg;
    return err;
}

static int add(void *arg, uint64_t *sum)
{
    (void)arg, (void)sum;
    return NC_NOERR;
}

/* The one process of a job that moves data. `least` is the length of an unsaved round. */
static struct journal_movers movers_of(struct journal *j, int64_t least)
{
    return (struct journal_movers){.j = j,
                                   .before = &before,
                                   .after = &after,
                                   .first = true,
                                   .share = 512,
                                   .least = least,
                                   .arg = j,
                                   .carry_all = carry,
                                   .complete_all = complete,
                                   .secure_all = nothing,
                                   .concur_all = concur,
                                   .add_all = add};
}

static int finish(struct journal *j)
{
    struct cdf_header was, is;
    unsigned char bytes[4096];
    assert_int_equal(NC_NOERR, journal_read_headers(j, bytes));
    assert_int_equal(NC_NOERR, journal_decode_headers(&j->facts, bytes, &was, &is));
    struct journal_movers c = movers_of(j, 64);
    c.before = &was;
    c.after = &is;
    int err = journal_resume_all(&c);
    cdf_free(&was);
    cdf_free(&is);
    return err;
}

static int clear(void)
{
    struct journal j;
    assert_int_equal(NC_NOERR, journal_init(&j, paths[0]));
    assert_int_equal(NC_NOERR, journal_open_dataset(&j, 0));
    int err = journal_clear(&j);
    journal_free(&j);
    return err;
}

/* Checks that readers detect the torn mark, that cleaning up does not change either file,
 * and that finishing the redefinition writes header `h`. */
static void assert_finished(const unsigned char *head, const struct cdf_header *h)
{
    static struct image torn, now;
    unsigned char header[1024];
    struct journal j;
    bool is_torn;
    take_image(&torn);
    assert_int_equal(NC_NOERR, journal_check_head(paths[0], &is_torn));
    assert_true(is_torn || head[0] == 'R');
    journal_tidy(-1, paths[0]);
    assert_unchanged(&torn);
    assert_int_equal(NC_EFILE, clear());
    assert_unchanged(&torn);
    assert_int_equal(NC_NOERR, acquire(&j));
    assert_int_not_equal(JOURNAL_NONE, j.state.phase);
    assert_int_equal(NC_NOERR, finish(&j));
    journal_free(&j);
    cdf_encode(h, header);
    take_image(&now);
    assert_memory_equal(header, now.bytes[0], (size_t)h->size);
    assert_int_equal(-1, now.size[1]);
}

/* ---- moves that are interrupted ---- */

/* Returns whether the dataset has header `h`, and the values of image `m`, which has the
 * old header, in that layout. */
static bool is_complete(const struct cdf_header *h, const struct image *m)
{
    static struct image now;
    unsigned char header[1024];
    take_image(&now);
    cdf_encode(h, header);
    bool good = memcmp(header, now.bytes[0], (size_t)h->size) == 0 &&
                now.size[0] >= cdf_file_size(h);
    for (int id = 0; id < before.nvars; id++) {
        const struct cdf_var *was = &before.vars[id], *is = &h->vars[id];
        int64_t size = was->nelems * cdf_type_size(was->type);
        for (int64_t rec = 0; rec < (was->is_record ? seed_records : 1); rec++)
            good = good && memcmp(m->bytes[0] + cdf_record_offset(&before, was, rec),
                                  now.bytes[0] + cdf_record_offset(h, is, rec),
                                  (size_t)size) == 0;
    }
    if (h == &after)
        good = good && memcmp("the values of w, 24 byte",
                              now.bytes[0] + after.vars[after.nvars - 1].begin, 24) == 0;
    return good;
}

/* Redefines the dataset until a write fails or the process ends. Returns the result, or
 * NC_EFILE if the next process must finish. */
static int redefine(int64_t share, int64_t least)
{
    struct journal j;
    struct journal_movers c = movers_of(&j, least);
    c.share = share;
    assert_int_equal(NC_NOERR, journal_init(&j, paths[0]));
    assert_int_equal(NC_NOERR, journal_open_dataset(&j, 0));
    assert_int_equal(NC_NOERR, journal_claim(&j));
    int err = journal_reserve_space(&j, &before, &after);
    if (err == NC_NOERR)
        err = journal_start(&j, before.size, &after, journal_area_for(&c), JOURNAL_READY);
    if (err == NC_NOERR) err = journal_move_all(&c);
    if (j.pending) err = NC_EFILE;
    journal_free(&j);
    return err;
}

/* Finishes the redefinition as the next process does. Returns its result. */
static int recover(void)
{
    struct journal j;
    int err = acquire(&j);
    if (err == NC_NOERR && j.state.phase != JOURNAL_NONE) err = finish(&j);
    journal_free(&j);
    return err;
}

/* Lets write `fails` fail (none if -1), and ends the process in write `ends`, or, if that
 * is -1, never. The next process also ends, in its write `again`. Returns whether the
 * writes were reached. */
static bool interrupt(const struct image *m, int64_t least, int64_t fails, int64_t ends,
                      int64_t again)
{
    put_image(m);
    writes.calls = 0;
    writes.fails = fails;
    writes.ends = ends;
    int err = redefine(96, least);
    bool ended = ends >= 0 && writes.calls > ends,
         reached = ended || writes.calls > fails;
    writes.fails = -1;
    if (!ended && err != NC_EFILE)
        assert_true(is_complete(err == NC_NOERR ? &after : &before, m));
    writes.calls = 0;
    writes.ends = again;
    (void)recover();
    writes.ends = -1;
    int rc = recover();
    bool old = is_complete(&before, m), new = is_complete(&after, m);
    if (rc != NC_NOERR || !(new || (old && (ended || err != NC_NOERR))))
        fail_msg("write %lld fails, processes end in writes %lld and %lld: %s",
                 (long long)fails, (long long)ends, (long long)again,
                 base_error_text(rc));
    assert_true(access(paths[1], F_OK) != 0 || ended);
    return reached && (ends < 0 || ended);
}

static void each_interrupted_move_can_be_finished(void **state)
{
    static struct image m;
    (void)state;
    for (int saved = 0; saved < 2; saved++) {
        int64_t least = saved ? 1 << 20 : 1, n = 0;
        make_dataset_of(saved ? 5 : 2, 31);
        take_image(&m);
        while (interrupt(&m, least, n, -1, -1))
            n++;
        assert_true(n > 30);
        for (int64_t fails = -1; fails < n; fails++)
            for (int64_t ends = fails + 1; ends < n + 40;
                 ends += ends < fails + 12 ? 1 : 9)
                (void)interrupt(&m, least, fails, ends, random() % 25);
        end_dataset();
    }
}

/* A process that forces a take-over must not continue with a state that it could not
 * read. */
static void a_failed_take_over_is_reported(void **state)
{
    static struct image left;
    bool taken = false;
    (void)state;
    make_dataset(5);
    start_redefinition(0, &(struct journal_state){.phase = JOURNAL_COMMITTING});
    take_image(&left);
    for (int64_t fails = 0; !taken && fails < 50; fails++) {
        struct journal j;
        put_image(&left);
        assert_int_equal(NC_NOERR, journal_init(&j, paths[0]));
        assert_int_equal(NC_NOERR, journal_open_dataset(&j, 0));
        failing_read = fails;
        int err = journal_take_over(&j);
        taken = failing_read >= 0;
        failing_read = -1;
        assert_true(err != NC_NOERR || j.state.phase == JOURNAL_COMMITTING);
        assert_true(err == NC_NOERR || !taken);
        journal_free(&j);
    }
    assert_true(taken);
    end_dataset();
}

/* ---- torn marks ---- */

/* Mixes two versions of the first bytes: for every position, joins the beginning of one
 * version to the rest of the other, and vice versa. Checks each mixture that equals
 * neither version. */
static void tear(const struct image *m, const unsigned char *one,
                 const unsigned char *other, const struct cdf_header *h)
{
    static struct image torn;
    for (int cut = 1; cut < CUTS; cut++) {
        for (int turn = 0; turn < 2; turn++) {
            const unsigned char *low = turn == 0 ? one : other,
                                *high = turn == 0 ? other : one;
            torn = *m;
            memcpy(torn.bytes[0], low, (size_t)cut);
            memcpy(torn.bytes[0] + cut, high + cut, (size_t)(CUTS - cut));
            unsigned char *head = torn.bytes[0];
            if (memcmp(head, one, CUTS) == 0 || memcmp(head, other, CUTS) == 0) continue;
            put_image(&torn);
            assert_finished(head, h);
        }
    }
}

static void first_bytes(const struct cdf_header *h, unsigned char *head)
{
    unsigned char bytes[1024];
    cdf_encode(h, bytes);
    memcpy(head, bytes, CUTS);
}

/* For each format, simulates torn writes: the first bytes of `h` over the mark, and the
 * mark over those bytes. */
static void tear_in_each_format(const struct cdf_header *h, int64_t area,
                                enum journal_phase phase)
{
    static const int formats[] = {1, 2, 5};
    static struct image marked;
    unsigned char head[CUTS];
    for (int i = 0; i < 3; i++) {
        make_dataset(formats[i]);
        first_bytes(h, head);
        start_redefinition(area, &(struct journal_state){.phase = phase});
        take_image(&marked);
        tear(&marked, head, marked.bytes[0], h);
        end_dataset();
    }
}

static void each_torn_mark_is_finished(void **state)
{
    (void)state;
    tear_in_each_format(&before, 512, JOURNAL_READY);
}

static void each_torn_header_is_finished(void **state)
{
    (void)state;
    tear_in_each_format(&after, 0, JOURNAL_COMMITTING);
}

/* Simulates a torn write of the mark for the next state. A carry may change several bytes
 * of the state's number. */
static void each_torn_name_is_finished(void **state)
{
    static struct image marked, next;
    (void)state;
    make_dataset(5);
    start_redefinition(0, &(struct journal_state){.phase = JOURNAL_COMMITTING});
    struct journal j;
    assert_int_equal(NC_NOERR, acquire(&j));
    take_image(&marked);
    assert_int_equal(NC_NOERR, journal_record(&j, (struct journal_state){
                                                      .phase = JOURNAL_COMMITTING}));
    journal_free(&j);
    take_image(&next);
    tear(&next, marked.bytes[0], next.bytes[0], &after);
    end_dataset();
}

/* Simulates a torn write of the mark with which the next process takes over a state that
 * follows COMMITTING, whose page is still in the journal. */
static void each_torn_take_over_is_finished(void **state)
{
    const struct journal_state back = {.phase = JOURNAL_MOVING, .back = true, .high = 64};
    static struct image marked, taken;
    struct journal j;
    (void)state;
    make_dataset(5);
    start_redefinition(0, &(struct journal_state){.phase = JOURNAL_COMMITTING});
    assert_int_equal(NC_NOERR, acquire(&j));
    assert_int_equal(NC_NOERR, journal_record(&j, back));
    journal_free(&j);
    take_image(&marked);
    for (int64_t ends = 0; ends == 0 || memcmp(&taken, &marked, CUTS) == 0; ends++) {
        assert_true(ends < 20);
        put_image(&marked);
        writes.calls = 0;
        writes.ends = ends;
        (void)acquire(&j);
        writes.ends = -1;
        journal_free(&j);
        take_image(&taken);
    }
    assert_int_equal(NC_NOERR, acquire(&j));
    assert_int_equal(JOURNAL_MOVING, j.state.phase);
    journal_free(&j);
    end_dataset();
}

/* ---- a journal next to a finished dataset ---- */

static void put_records(struct image *m, int64_t n, int64_t size)
{
    (void)cdf_encode_numrecs(5, n, m->bytes[0] + 4);
    m->size[0] = size;
    put_image(m);
}

static int count_files(void)
{
    char command[128];
    int n = -1;
    snprintf(command, sizeof command, "ls %s | wc -l", folder);
    FILE *f = popen(command, "r");
    assert_true(f != NULL && fscanf(f, "%d", &n) == 1);
    pclose(f);
    return n;
}

static void records_appended_beside_a_journal_are_accepted(void **state)
{
    static struct image left;
    unsigned char header[1024];
    bool torn;
    (void)state;
    make_dataset(5);
    start_redefinition(0, &(struct journal_state){.phase = JOURNAL_COMMITTING});
    take_image(&left);
    int low = left.bytes[0][11];
    cdf_encode(&after, header);
    memcpy(left.bytes[0], header, (size_t)after.size);
    int64_t more = 1 + (after.numrecs + 1 + 255 - low) / 256 * 256 + low;
    put_records(&left, more, cdf_file_size(&after) + 300 * after.record_size);
    assert_int_equal(NC_NOERR, journal_check_head(paths[0], &torn));
    assert_false(torn);
    journal_tidy(-1, paths[0]);
    assert_int_equal(2, count_files()); /* the journal was renamed */
    assert_int_equal(-1, access(paths[1], F_OK));
    assert_int_equal(0, system("rm -f \"$JOURNAL_FOLDER\"/*.redef.*"));

    /* If the number of records could be a mixture, the user must decide. */
    after.numrecs = more - 1;
    if (memcmp(left.bytes[0] + 4, header + 4, 7) == 0) {
        put_records(&left, more - 1, left.size[0]);
        assert_int_equal(NC_ENOTNC, journal_check_head(paths[0], &torn));
        assert_non_null(strstr(base_error_detail(NC_ENOTNC), "incomplete"));
        assert_unchanged(&left);
    }
    put_records(&left, seed_records, left.size[0]);
    assert_int_equal(NC_NOERR, clear());
    assert_int_equal(1, count_files());
    end_dataset();
}

/* ---- damaged journals ---- */

/* Reads the journal. Returns true if its contents match *s, or false if it was rejected
 * with a message. */
static bool read_damaged(const struct journal_state *s, const unsigned char *headers)
{
    unsigned char bytes[4096];
    struct journal j;
    assert_int_equal(NC_NOERR, journal_init(&j, paths[0]));
    assert_int_equal(NC_NOERR, journal_open_dataset(&j, 0));
    int err = journal_find(&j);
    if (err == NC_NOERR) err = journal_read_headers(&j, bytes);
    if (err == NC_NOERR) err = journal_check_area(&j);
    if (err == NC_NOERR) {
        assert_int_equal(s->phase, j.state.phase);
        assert_int_equal(s->low, j.state.low);
        assert_int_equal(s->high, j.state.high);
        assert_int_equal(s->saved, j.state.saved);
        assert_int_equal(s->area, j.state.area);
        assert_memory_equal(headers, bytes,
                            (size_t)(before.size + after.size + after.nvars));
    } else {
        assert_int_equal(NC_ENOTNC, err);
        assert_non_null(strstr(base_error_detail(err), paths[1]));
    }
    journal_free(&j);
    return err == NC_NOERR;
}

/* Returns the next byte to flip. In the unused rest of a page, only a few bytes are
 * flipped. */
static int64_t next_byte(int64_t at)
{
    enum { USED = 192, STEP = 61 };
    bool head = at < journal_headers_at();
    if (head && at % JOURNAL_PAGE >= USED) {
        int64_t page = (at / JOURNAL_PAGE + 1) * JOURNAL_PAGE;
        return at + STEP < page ? at + STEP : page;
    }
    return at + 1;
}

static void flip_each_byte(const struct journal_state *s, int64_t area)
{
    static struct image whole, broken;
    int64_t refused = 0, tried = 0;
    make_dataset(s->phase % 2 == 0 ? 5 : 1);
    start_redefinition(area, s);
    take_image(&whole);
    const unsigned char *headers = whole.bytes[1] + journal_headers_at();
    int64_t end = journal_headers_at() + before.size + after.size + after.nvars;
    assert_true(read_damaged(s, headers));
    for (int64_t at = 0; at < whole.size[1]; at = next_byte(at)) {
        broken = whole;
        broken.bytes[1][at] ^= (unsigned char)(1 + random() % 255);
        put_image(&broken);
        bool good = read_damaged(s, headers);
        assert_unchanged(&broken);
        int64_t saved = (end + JOURNAL_PAGE - 1) / JOURNAL_PAGE * JOURNAL_PAGE;
        bool matters = at >= journal_headers_at() && at < end;
        matters |= s->saved && at >= saved && at < saved + s->high;
        assert_false(good && matters);
        refused += !good;
        tried++;
    }
    assert_true(refused >= 88 + 72 + 160 + end - journal_headers_at());
    print_message("# phase %d: %lld bytes, %lld refused\n", s->phase, (long long)tried,
                  (long long)refused);
    end_dataset();
}

static void each_changed_byte_is_refused_or_harmless(void **state)
{
    (void)state;
    for (int phase = JOURNAL_READY; phase <= JOURNAL_RETURNING; phase++) {
        struct journal_state s = {.phase = (enum journal_phase)phase};
        if (phase == JOURNAL_MOVING || phase == JOURNAL_RESTORING) s.high = 512;
        flip_each_byte(&s, 0);
        s.saved = s.high > 0;
        flip_each_byte(&s, 512);
    }
}

/* Converts a page with a state to the older format, which lacks the checksum of the
 * area. */
static void put_old_state(struct image *m, int which)
{
    enum { OLD_FIELDS = 64, DIGIT = 7 };
    unsigned char *page = m->bytes[1] + (1 + which) * JOURNAL_PAGE;
    if (memcmp(page, "NCSTATE2", DIGIT + 1) != 0) return;
    page[DIGIT] = '1';
    memset(page + OLD_FIELDS, 0, JOURNAL_PAGE - OLD_FIELDS);
    base_put_word(page + OLD_FIELDS, base_hash(page, OLD_FIELDS, 0));
}

static void a_journal_of_an_earlier_version_is_finished(void **state)
{
    static struct image m;
    struct journal_state s = {.phase = JOURNAL_MOVING, .high = 512, .saved = true};
    (void)state;
    make_dataset(2);
    start_redefinition(512, &s);
    take_image(&m);
    put_old_state(&m, 0);
    put_old_state(&m, 1);
    put_image(&m);
    assert_true(read_damaged(&s, m.bytes[1] + journal_headers_at()));
    end_dataset();
}

/* Flips bytes of the mark at the beginning of the dataset. */
static void each_changed_byte_of_a_mark_is_refused(void **state)
{
    static struct image whole, broken;
    struct journal_state s = {.phase = JOURNAL_MOVING, .high = 512};
    (void)state;
    make_dataset(5);
    start_redefinition(512, &s);
    take_image(&whole);
    for (int at = 0; at < JOURNAL_MARK; at++) {
        for (int value = 0; value < 256; value++) {
            bool torn;
            if (value == whole.bytes[0][at]) continue;
            broken = whole;
            broken.bytes[0][at] = (unsigned char)value;
            put_image(&broken);
            assert_int_equal(NC_NOERR, journal_check_head(paths[0], &torn));
            bool marked = cdf_is_moving(broken.bytes[0], JOURNAL_MARK);
            assert_true(torn || marked || memcmp(broken.bytes[0], "CDF", 3) != 0);
            if (at >= 4)
                assert_false(read_damaged(&s, whole.bytes[1] + journal_headers_at()));
            journal_tidy(-1, paths[0]);
            assert_unchanged(&broken);
        }
    }
    end_dataset();
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/ncmpi-journal.XXXXXX", unit_directory());
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(paths[0], sizeof paths[0], "%s/a.nc", folder);
    snprintf(paths[1], sizeof paths[1], "%s/a.nc.redef", folder);
    srandom(20261128);
    return setenv("JOURNAL_FOLDER", folder, 1);
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_interrupted_move_can_be_finished),
        cmocka_unit_test(a_failed_take_over_is_reported),
        cmocka_unit_test(each_torn_mark_is_finished),
        cmocka_unit_test(each_torn_header_is_finished),
        cmocka_unit_test(each_torn_name_is_finished),
        cmocka_unit_test(each_torn_take_over_is_finished),
        cmocka_unit_test(records_appended_beside_a_journal_are_accepted),
        cmocka_unit_test(each_changed_byte_is_refused_or_harmless),
        cmocka_unit_test(a_journal_of_an_earlier_version_is_finished),
        cmocka_unit_test(each_changed_byte_of_a_mark_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
