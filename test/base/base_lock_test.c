/* Tests the locks between openings of a file and between real processes: which ones
 * exclude each other, when they end, who inherits them, and how long a process waits. The
 * test's own clock makes the waits short. */
#define _GNU_SOURCE
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base_error.h"
#include "base_lock.h"

enum { PLACES = BASE_LOCK_NAME + 1, WHOLE = PLACES };

static char path[64], master[64];

static int open_file(void)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static enum base_locked try_lock(int fd, int place, bool exclusive)
{
    if (place == WHOLE) return base_lock_whole(fd, exclusive);
    return base_lock_try(fd, (enum base_lock_place)place, exclusive);
}

/* ---- one process, two openings ---- */

static void only_locks_for_the_same_purpose_conflict(void **state)
{
    (void)state;
    for (int p = 0; p <= WHOLE; p++) {
        int fd = open_file(), other = open_file();
        assert_int_equal(BASE_LOCKED, try_lock(fd, p, true));
        assert_int_equal(BASE_LOCKED,
                         try_lock(fd, p, true)); /* it has the lock already */
        for (int q = 0; q <= WHOLE; q++) {
            enum base_locked want = p == q ? BASE_BUSY : BASE_LOCKED;
            for (int exclusive = 0; exclusive < 2 && q < PLACES; exclusive++) {
                enum base_lock_place place = (enum base_lock_place)q;
                assert_int_equal(want, base_lock_test(other, place, exclusive != 0));
            }
            if (q < PLACES)
                assert_int_equal(p == q, base_lock_busy(other, (enum base_lock_place)q));
            assert_int_equal(want, try_lock(other, q, false));
            assert_int_equal(want, try_lock(other, q, true));
        }
        close(fd);
        assert_int_equal(BASE_LOCKED, try_lock(other, p, true));
        close(other);
    }
}

static void a_shared_lock_excludes_only_exclusive_ones(void **state)
{
    (void)state;
    for (int p = 0; p <= WHOLE; p++) {
        int fd = open_file(), other = open_file();
        assert_int_equal(BASE_LOCKED, try_lock(fd, p, true));
        assert_int_equal(BASE_LOCKED, try_lock(fd, p, false)); /* changes its kind */
        assert_int_equal(BASE_LOCKED, try_lock(other, p, false));
        assert_int_equal(BASE_BUSY, try_lock(fd, p, true));
        if (p < PLACES) {
            enum base_lock_place place = (enum base_lock_place)p;
            int third = open_file();
            assert_int_equal(BASE_LOCKED, base_lock_test(third, place, false));
            assert_true(base_lock_busy(third, place)); /* which does not lock it: */
            close(third);
            base_lock_release(other, place);
            assert_int_equal(BASE_LOCKED, base_lock_try(fd, place, true));
            base_lock_release(other, place); /* has no lock to release */
            assert_int_equal(BASE_BUSY, base_lock_try(other, place, false));
        }
        close(fd);
        close(other);
    }
}

static void a_lock_needs_a_matching_descriptor(void **state)
{
    (void)state;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(BASE_LOCKED, base_lock_try(fd, BASE_LOCK_LAYOUT, false));
    assert_int_equal(BASE_LOCKLESS, base_lock_try(fd, BASE_LOCK_LAYOUT, true));
    assert_int_equal(BASE_LOCKED, base_lock_test(fd, BASE_LOCK_LAYOUT, true));
    close(fd);
    assert_int_equal(BASE_LOCKLESS, base_lock_try(fd, BASE_LOCK_LAYOUT, false));
    assert_int_equal(BASE_LOCKLESS, base_lock_test(fd, BASE_LOCK_LAYOUT, false));
    assert_int_equal(BASE_LOCKLESS, base_lock_whole(fd, false));
    assert_false(base_lock_bytes(fd, 0, 1));
    assert_true(base_lock_is_known());
}

/* ---- several processes ---- */

/* Forks a process that calls act(fd, arg), reports that it has returned, and waits to be
 * killed. *report is readable then. If `fd` is -1, the process opens the file itself. */
static pid_t start(bool (*act)(int, int), int fd, int arg, int *report)
{
    int ends[2];
    assert_int_equal(0, pipe(ends));
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (act(fd < 0 ? open(path, O_RDWR) : fd, arg) && write(ends[1], "+", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    close(ends[1]);
    *report = ends[0];
    return pid;
}

static bool has_reported(int report, int ms)
{
    struct pollfd p = {report, POLLIN, 0};
    char c = 0;
    return poll(&p, 1, ms) == 1 && read(report, &c, 1) == 1 && c == '+';
}

static void end(pid_t pid, int report)
{
    int status;
    assert_int_equal(0, kill(pid, SIGKILL));
    assert_int_equal(pid, waitpid(pid, &status, 0));
    close(report);
}

static bool lock(int fd, int place)
{
    return try_lock(fd, place, true) == BASE_LOCKED;
}

static bool do_nothing(int fd, int place)
{
    (void)fd, (void)place;
    return true;
}

static void a_lock_ends_with_its_process(void **state)
{
    int report, fd = open_file();
    (void)state;
    for (int p = 0; p <= WHOLE; p++) {
        pid_t pid = start(lock, -1, p, &report);
        assert_true(has_reported(report, -1));
        assert_int_equal(BASE_BUSY, try_lock(fd, p, true));
        assert_int_equal(0, kill(pid, SIGSTOP));
        assert_int_equal(pid, waitpid(pid, NULL, WUNTRACED));
        assert_int_equal(BASE_BUSY, try_lock(fd, p, false)); /* it may yet resume */
        end(pid, report);
        assert_int_equal(BASE_LOCKED, try_lock(fd, p, true));
    }
    close(fd);
}

/* A fork shares the open file, and the lock belongs to the open file. */
static void a_child_inherits_the_lock(void **state)
{
    int report;
    (void)state;
    for (int p = 0; p <= WHOLE; p++) {
        int fd = open_file(), other = open_file();
        assert_true(lock(fd, p));
        pid_t pid = start(do_nothing, fd, p, &report);
        assert_true(has_reported(report, -1));
        close(fd);
        assert_int_equal(BASE_BUSY, try_lock(other, p, true));
        end(pid, report);
        assert_int_equal(BASE_LOCKED, try_lock(other, p, true));
        close(other);
    }
}

static const int64_t far = INT64_C(1) << 62;

static bool lock_some_bytes(int fd, int which)
{
    static const int64_t at[] = {0, 99, 199, 200, far};
    return base_lock_bytes(fd, at[which], 1);
}

/* Locks of bytes exclude a process that shares the open file. A process that wants bytes
 * in [100, 200), or after `far` - 1, waits until they are unlocked. */
static void locks_of_bytes_are_not_inherited(void **state)
{
    static const bool waits[] = {false, false, true, false, true};
    (void)state;
    for (int which = 0; which < 5; which++) {
        int fd = open_file(), report;
        assert_true(base_lock_bytes(fd, 100, 100));
        assert_true(base_lock_bytes(fd, far - 1, 0));
        pid_t pid = start(lock_some_bytes, fd, which, &report);
        assert_int_equal(!waits[which], has_reported(report, waits[which] ? 50 : -1));
        assert_true(base_unlock_bytes(fd, 100, 99));
        if (waits[which]) assert_false(has_reported(report, 20));
        assert_true(base_unlock_bytes(fd, 199, 0));
        if (waits[which]) assert_true(has_reported(report, -1));
        end(pid, report);
        close(fd);
    }
}

/* ---- waiting ---- */

static int64_t waited; /* nanoseconds slept, by the test's clock */
static struct {
    int fd;                   /* the descriptor that has the lock */
    int64_t release, work[2]; /* seconds after which it is released, the master written */
} rival;

int __wrap_nanosleep(const struct timespec *t, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *t, struct timespec *rest)
{
    const int64_t second = 1000000000;
    (void)rest;
    int64_t before = waited / second;
    assert_true(t->tv_sec == 0 && t->tv_nsec < second / 9);
    waited += t->tv_nsec;
    for (int i = 0; i < 2; i++) {
        if (before >= rival.work[i] || waited / second < rival.work[i]) continue;
        struct timespec past[2] = {{.tv_sec = i}, {.tv_sec = i}};
        assert_int_equal(0, utimensat(AT_FDCWD, master, past, 0)); /* changes st_ctim */
    }
    if (rival.release > 0 && waited / second >= rival.release) close(rival.fd);
    return 0;
}

static void waits_are_limited(void **state)
{
    const int64_t never = INT64_MAX, second = 1000000000;
    const struct {
        enum base_lock_place place;
        int64_t release, work[2];
        int64_t least, most; /* seconds until the call returns */
    } rows[] = {
        {BASE_LOCK_HEADER, 0, {never, never}, 10, 10},
        {BASE_LOCK_HEADER, 9, {never, never}, 9, 9},
        {BASE_LOCK_NAME, 0, {never, never}, 30, 30},
        {BASE_LOCK_NAME, 29, {never, never}, 29, 29},
        {BASE_LOCK_HEADER, 0, {5, never}, 10, 10}, /* writes to the master do not count */
        {BASE_LOCK_FRAMES, 0, {never, never}, 301, 303},
        {BASE_LOCK_FRAMES, 0, {250, never}, 550, 553},
        {BASE_LOCK_FRAMES, 0, {250, 500}, 800, 804},
        {BASE_LOCK_FRAMES, 700, {250, 500}, 700, 700},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int err, fd = open_file();
        rival.fd = open_file();
        rival.release = rows[i].release;
        memcpy(rival.work, rows[i].work, sizeof rival.work);
        waited = 0;
        assert_true(lock(rival.fd, rows[i].place));
        if (rows[i].place == BASE_LOCK_HEADER) err = base_lock_header(fd, path);
        if (rows[i].place == BASE_LOCK_NAME) err = base_lock_name(fd, path);
        if (rows[i].place == BASE_LOCK_FRAMES) err = base_lock_frames(fd, path, master);
        assert_in_range(waited, rows[i].least * second, (rows[i].most + 1) * second - 1);
        bool busy = rows[i].release == 0;
        assert_int_equal(busy ? NC_EFILE : NC_NOERR, err);
        if (busy) assert_non_null(strstr(base_error_detail(err), path));
        if (busy) close(rival.fd);
        rival.fd = open_file();
        assert_int_equal(busy ? BASE_LOCKED : BASE_BUSY,
                         base_lock_test(rival.fd, rows[i].place, true));
        close(rival.fd);
        close(fd);
    }
}

static int make_files(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "%s/ncmpi-lock.XXXXXX", unit_directory());
    snprintf(master, sizeof master, "%s/ncmpi-lock.XXXXXX", unit_directory());
    int fd = mkstemp(path), other = mkstemp(master);
    if (fd < 0 || other < 0) return -1;
    return close(fd) + close(other);
}

static int remove_files(void **state)
{
    (void)state;
    return unlink(path) + unlink(master);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_locks_for_the_same_purpose_conflict),
        cmocka_unit_test(a_shared_lock_excludes_only_exclusive_ones),
        cmocka_unit_test(a_lock_needs_a_matching_descriptor),
        cmocka_unit_test(a_lock_ends_with_its_process),
        cmocka_unit_test(a_child_inherits_the_lock),
        cmocka_unit_test(locks_of_bytes_are_not_inherited),
        cmocka_unit_test(waits_are_limited),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
