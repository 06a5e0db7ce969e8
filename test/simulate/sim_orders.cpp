/* All orders of what is small. The steps of a program's processes and threads come in
 * turn, all of the same length, but for where one of them stops until the others have
 * ended or wait for it: with one stop, and with two, at each of its steps (delay-bounded
 * scheduling: Emmi, Qadeer, Rakamaric, 2011). And there is a crash at each step, whole
 * and with one stop.
 *
 * A stop before a step tells an order from others only if somebody else changes what the
 * step is about, or looks at what it changes: the rest are left out. */
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
/* Of the job, of one process; and three states of the disks. */
static const Crash alone[] = {
    {SIM_KILL, 1}, {SIM_KILL, 2}, {SIM_POWER, 1}, {SIM_POWER, 2}, {SIM_POWER, 3}};
static const Crash stopped[] = {{SIM_KILL, 1}, {SIM_POWER, 1}};
static const int64_t nalone = sizeof alone / sizeof alone[0],
                     nstopped = sizeof stopped / sizeof stopped[0];

struct Orders {
    Run whole;
    int64_t steps;
    std::vector<int64_t> stops; /* steps at which a stop makes a difference */
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

/* Crashes; stops; two stops; stops and crashes. */
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

/* True: all that were tried went well. */
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
        printf("  stops at %lld, %lld; again: --orders %s --run %lld\n",
               (long long)r.stops[0], (long long)r.stops[1], name, (long long)at);
    }
    if (isatty(2)) fprintf(stderr, "\r%40s\r", "");
    printf(
        "%-9s %4lld steps, %3zu with company: %6lld of %6lld orders, %lld went wrong\n",
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
        /* Who recovers has something to do. */
        if (o.whole.moving > 0 && !o.whole.plan.reads)
            o.whole.faults[0] = {SIM_KILL, 150, 0};
        good = prepare(&o) && try_all(o, one, seconds, only) && good;
    }
}
