/* Tests worker threads. No wake-up may be lost, and all threads must end. */
#define _GNU_SOURCE
#include "base_worker.h"
#include "unit.h"

#include <signal.h>
#include <time.h>

#include "base_mem.h"
#include "no_threads.h"

enum { THREADS = 4, ROUNDS = 3000 };

/* Units of work. A thread takes a unit while it holds the lock, releases the lock, and
 * then performs the unit. */
struct work {
    struct base_worker worker;
    int left, taken, done;
};

static bool do_one(void *of)
{
    struct work *x = of;
    if (x->left == 0) return false;
    x->left--;
    x->taken++;
    base_worker_unlock(&x->worker);
    base_worker_lock(&x->worker);
    x->done++;
    base_worker_report_done(&x->worker);
    return true;
}

static void begin(struct work *x, int threads)
{
    *x = (struct work){.left = 0};
    base_worker_init(&x->worker);
    for (int i = 0; i < threads; i++)
        assert_true(base_worker_start(&x->worker, do_one, x));
}

static void add_work(struct work *x, int n)
{
    base_worker_lock(&x->worker);
    x->left += n;
    if (n == 1)
        base_worker_wake(&x->worker);
    else
        base_worker_wake_all(&x->worker);
    base_worker_unlock(&x->worker);
}

static void await_done(struct work *x, int n)
{
    base_worker_lock(&x->worker);
    while (x->done < n)
        base_worker_wait(&x->worker);
    base_worker_unlock(&x->worker);
}

/* If a wake-up were lost, the owner would wait forever. */
static void no_wake_up_is_lost(void **state)
{
    struct work x;
    (void)state;
    for (int threads = 1; threads <= THREADS; threads += THREADS - 1) {
        int n = 0;
        begin(&x, threads);
        for (int i = 0; i < ROUNDS; i++) {
            int more = i % 5 == 0 ? 7 : 1;
            add_work(&x, more);
            n += more;
            if (i % 3 != 0) await_done(&x, n);
        }
        await_done(&x, n);
        base_worker_stop(&x.worker);
        assert_int_equal(n, x.taken);
        assert_int_equal(n, x.done);
    }
    assert_int_equal(0, base_mem_in_use());
}

static void remaining_work_is_done_before_stop(void **state)
{
    struct work x;
    (void)state;
    for (int i = 0; i < 200; i++) {
        begin(&x, i % THREADS + 1);
        add_work(&x, i);
        base_worker_stop(&x.worker);
        assert_int_equal(i, x.done);
    }
}

static sigset_t theirs;

static bool note_signals(void *of)
{
    struct work *x = of;
    assert_int_equal(0, pthread_sigmask(SIG_BLOCK, NULL, &theirs));
    x->done += x->done == 0;
    base_worker_report_done(&x->worker);
    return false;
}

static void threads_do_not_receive_signals(void **state)
{
    static const int blocked[] = {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGPIPE, SIGXFSZ};
    static const int open[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct work x;
    sigset_t before, after;
    (void)state;
    assert_int_equal(0, pthread_sigmask(SIG_BLOCK, NULL, &before));
    begin(&x, 0);
    assert_true(base_worker_start(&x.worker, note_signals, &x));
    await_done(&x, 1);
    base_worker_stop(&x.worker);
    assert_int_equal(0, pthread_sigmask(SIG_BLOCK, NULL, &after));
    for (size_t i = 0; i < sizeof blocked / sizeof blocked[0]; i++) {
        assert_int_equal(1, sigismember(&theirs, blocked[i]));
        assert_int_equal(sigismember(&before, blocked[i]),
                         sigismember(&after, blocked[i]));
    }
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
        assert_int_equal(sigismember(&before, open[i]), sigismember(&theirs, open[i]));
}

/* A thread that sleeps for a short time must wake up by itself. One that sleeps for an
 * hour must be woken by another thread. */
struct sleeper {
    struct base_worker worker;
    int64_t moment;
    bool asleep, awake;
};

static bool sleep_once(void *of)
{
    struct sleeper *s = of;
    if (s->awake) return false;
    s->asleep = true;
    base_worker_report_done(&s->worker);
    base_worker_sleep(&s->worker, s->moment);
    s->awake = true;
    base_worker_report_done(&s->worker);
    return true;
}

static void sleep_ends_by_time_or_waking(void **state)
{
    static const int64_t moments[] = {0, 1, 2000, INT64_C(3600000000)};
    (void)state;
    for (size_t i = 0; i < sizeof moments / sizeof moments[0]; i++) {
        struct sleeper s = {.moment = moments[i]};
        base_worker_init(&s.worker);
        assert_true(base_worker_start(&s.worker, sleep_once, &s));
        base_worker_lock(&s.worker);
        while (!s.asleep)
            base_worker_wait(&s.worker);
        if (s.moment > 1000000) base_worker_wake(&s.worker);
        while (!s.awake)
            base_worker_wait(&s.worker);
        base_worker_unlock(&s.worker);
        base_worker_stop(&s.worker);
    }
}

static void a_failed_thread_start_returns_false(void **state)
{
    (void)state;
#ifndef __SANITIZE_THREAD__
    struct work x;
    begin(&x, 1);
    no_threads = true;
    assert_false(base_worker_start(&x.worker, do_one, &x));
    no_threads = false;
    add_work(&x, 3);
    await_done(&x, 3);
    base_worker_stop(&x.worker);
    assert_int_equal(0, base_mem_in_use());
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_wake_up_is_lost),
        cmocka_unit_test(remaining_work_is_done_before_stop),
        cmocka_unit_test(threads_do_not_receive_signals),
        cmocka_unit_test(sleep_ends_by_time_or_waking),
        cmocka_unit_test(a_failed_thread_start_returns_false),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
