/* Runs small programs in all orders of their steps (delay-bounded scheduling; see Emmi,
 * Qadeer and Rakamaric, 2011). All steps take the same time, so processes and threads
 * alternate. A process or thread can be stopped before one of its steps until all others
 * have ended or are waiting for it. The program tries one stop at every step, two stops
 * at every pair of steps, and a kill or a power failure at every step, with and without a
 * stop.
 *
 * A stop before a step matters only if another process or thread changes the object that
 * the step accesses, or accesses an object that the step changes. All other stops are
 * skipped. */
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include "sim_run.hpp"

struct Crash {
    sim_harm harm;
    uint64_t chance;
};
/* Kinds of crashes. A kill ends the job or one of its processes; a power failure leaves
 * the disks in one of three states. */
static const Crash alone[] = {
    {SIM_KILL, 1}, {SIM_KILL, 2}, {SIM_POWER, 1}, {SIM_POWER, 2}, {SIM_POWER, 3}};
static const Crash stopped[] = {{SIM_KILL, 1}, {SIM_POWER, 1}};
static const int64_t nalone = sizeof alone / sizeof alone[0],
                     nstopped = sizeof stopped / sizeof stopped[0];

struct Orders {
    Run whole;
    int64_t steps;
    std::vector<int64_t> stops; /* steps before which a stop matters */
};

static bool makes_a_difference(const Result &r, const Step &mine)
{
    for (int64_t i = 0; i < r.listed && mine.what != 0; i++) {
        const Step &other = r.list[i];
        if (other.who != mine.who && other.what == mine.what &&
            (other.changes || mine.changes))
            return true;
    }
    return false;
}

static bool prepare(Orders *o)
{
    const Result *r = sim_perform(o->whole);
    if (r->verdict != SIM_FINE) {
        sim_describe(o->whole, *r);
        return false;
    }
    o->steps = r->steps[o->whole.moving];
    for (int64_t i = 0; i < r->listed; i++)
        if (r->list[i].number > 0 && makes_a_difference(*r, r->list[i]))
            o->stops.push_back(r->list[i].number);
    return true;
}

static int64_t how_many(const Orders &o)
{
    auto m = (int64_t)o.stops.size();
    return nalone * o.steps + m + m * (m - 1) / 2 + nstopped * m * o.steps;
}

static void break_at(Run *r, const Crash &c, int64_t step)
{
    r->chance = c.chance;
    r->faults[r->moving] = {c.harm, step, 0};
}

/* Returns the i-th order. Orders with a crash but no stop come first, then those with one
 * stop, with two stops, and with a stop and a crash. */
static Run order(const Orders &o, int64_t i)
{
    auto m = (int64_t)o.stops.size();
    Run r = o.whole;
    if (i < nalone * o.steps) {
        break_at(&r, alone[i % nalone], 1 + i / nalone);
        return r;
    }
    i -= nalone * o.steps;
    if (i < m) {
        r.stops[0] = o.stops[(size_t)i];
        return r;
    }
    i -= m;
    if (i < m * (m - 1) / 2) {
        int64_t first = 0;
        while (i >= m - 1 - first)
            i -= m - 1 - first++;
        r.stops[0] = o.stops[(size_t)first];
        r.stops[1] = o.stops[(size_t)(first + 1 + i)];
        return r;
    }
    i -= m * (m - 1) / 2;
    r.stops[0] = o.stops[(size_t)(i / (nstopped * o.steps))];
    i %= nstopped * o.steps;
    break_at(&r, stopped[i % nstopped], 1 + i / nstopped);
    return r;
}

/* Runs all orders of a program, or only one of them, until the time limit is reached.
 * Returns true if none failed. */
static bool try_all(const Orders &o, const char *name, double seconds, int64_t only)
{
    const int64_t all = how_many(o);
    const time_t begun = time(nullptr);
    int64_t bad = 0, n = 0, at = only >= 0 ? only : 0;
    for (; at < all && (only < 0 || n == 0) && difftime(time(nullptr), begun) <= seconds;
         at++, n++) {
        Run r = order(o, at);
        r.trace = only >= 0;
        const Result *got = sim_perform(r);
        if (isatty(2) && n % 64 == 0)
            fprintf(stderr, "\r%s: %lld of %lld ", name, (long long)at, (long long)all);
        if (got->verdict == SIM_FINE) continue;
        if (bad++ > 4) continue;
        sim_describe(r, *got);
        printf("  stops at %lld, %lld; repeat: --orders %s --run %lld\n",
               (long long)r.stops[0], (long long)r.stops[1], name, (long long)at);
    }
    if (isatty(2)) fprintf(stderr, "\r%40s\r", "");
    printf("%-9s %4lld steps, %3zu possible stops: %6lld of %6lld orders, %lld failed\n",
           name, (long long)o.steps, o.stops.size(), (long long)n, (long long)all,
           (long long)bad);
    fflush(stdout);
    return bad == 0;
}

bool sim_orders(const char *name, double seconds, int64_t only)
{
    bool good = true;
    for (int i = 0;; i++) {
        Orders o = {};
        const char *one = sim_plan_small(&o.whole.plan, i, &o.whole.moving);
        if (one == nullptr) return good;
        if (*name != '\0' && strcmp(name, one) != 0) continue;
        o.whole.even = true;
        o.whole.chance = 1;
        /* Kills the first job, so that the next one has something to recover. */
        if (o.whole.moving > 0 && !o.whole.plan.reads)
            o.whole.faults[0] = {SIM_KILL, 150, 0};
        good = prepare(&o) && try_all(o, one, seconds, only) && good;
    }
}
