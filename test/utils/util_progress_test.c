/* Tests the progress line of the tools. It must not appear in the first two seconds, or
 * if standard error is not a terminal. Later it must be overwritten in place, and erased
 * before any other output. The test replaces the clock. */
#define _GNU_SOURCE
#include "util_progress.h"
#include "unit.h"

#include <fcntl.h>
#include <time.h>

#include "util_message.h"

static double clock_now;

int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
    (void)id;
    t->tv_sec = (time_t)clock_now;
    t->tv_nsec = (long)((clock_now - (double)t->tv_sec) * 1e9);
    return 0;
}

static int terminal, kept;

static int open_terminal(void **unused)
{
    (void)unused;
    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return -1;
    int other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    kept = dup(STDERR_FILENO);
    if (other < 0 || kept < 0 || dup2(other, STDERR_FILENO) < 0) return -1;
    return close(other);
}

static int close_terminal(void **unused)
{
    (void)unused;
    int status = dup2(kept, STDERR_FILENO) < 0;
    close(kept);
    close(terminal);
    return status;
}

/* Checks the output to the terminal since the last call. The terminal delivers it in
 * pieces and with a delay, so a mark is written before reading, to show where the
 * output ends. */
static void seen(const char *want)
{
    static const char mark = '\001';
    char got[512];
    size_t n = 0;
    assert_int_equal(1, write(STDERR_FILENO, &mark, 1));
    do {
        ssize_t more = read(terminal, got + n, sizeof got - n);
        assert_true(more > 0);
        n += (size_t)more;
    } while (got[n - 1] != mark && n < sizeof got);
    got[n - 1] = '\0';
    assert_string_equal(got, want);
}

static void at(struct util_progress *p, double time, int64_t done)
{
    clock_now = time;
    util_progress_at(p, done);
}

static void a_line_after_two_seconds(void **unused)
{
    struct util_progress p;
    (void)unused;
    clock_now = 100;
    util_progress_start(&p, "tool", 1000);
    at(&p, 101.9, 190);
    seen("");
    at(&p, 104, 250);
    seen("\rtool:  25 %, 12 s left   ");
    at(&p, 104.1, 260);
    seen(""); /* too soon after the previous update */
    at(&p, 108, 500);
    seen("\rtool:  50 %, 8 s left   ");
    at(&p, 110, 1001);
    seen("\rtool: 100 %");
    util_progress_end(&p);
    seen("\r\033[K");
    at(&p, 120, 1002);
    seen("");
}

static void nothing_to_take_away(void **unused)
{
    struct util_progress p;
    (void)unused;
    clock_now = 7;
    util_progress_start(&p, "tool", 10);
    at(&p, 8, 10);
    util_progress_end(&p);
    seen("");
    util_progress_start(&p, "tool", 0); /* no work to do */
    at(&p, 20, 0);
    util_progress_end(&p);
    seen("");
}

static void a_message_has_the_line_for_itself(void **unused)
{
    struct util_progress p;
    (void)unused;
    clock_now = 0;
    util_progress_start(&p, "tool", 10);
    at(&p, 10, 0);
    seen("\rtool:   0 %");
    util_message("tool", "file", 5, "bad");
    seen("\r\033[Ktool: file: offset 5: bad\r\n");
    util_progress_end(&p);
    seen("");
}

static void nobody_looks(void **unused)
{
    struct util_progress p;
    int file[2];
    char byte;
    (void)unused;
    assert_int_equal(pipe2(file, O_NONBLOCK), 0);
    int tty = dup(STDERR_FILENO);
    dup2(file[1], STDERR_FILENO);
    clock_now = 0;
    util_progress_start(&p, "tool", 10);
    at(&p, 10, 5);
    util_progress_end(&p);
    dup2(tty, STDERR_FILENO);
    assert_int_equal(read(file[0], &byte, 1), -1);
    close(tty);
    close(file[0]);
    close(file[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_after_two_seconds),
        cmocka_unit_test(nothing_to_take_away),
        cmocka_unit_test(a_message_has_the_line_for_itself),
        cmocka_unit_test(nobody_looks),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("util_progress", tests, open_terminal,
                                       close_terminal);
}
