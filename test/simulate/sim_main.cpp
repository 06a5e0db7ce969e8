/* The main program: simulate PROGRAM [OPTION...]. main() prints the usage. For each seed,
 * the program draws a plan and runs it several times. The first run has no fault. Each
 * later run has a fault at a different step, and possibly another one in the job that
 * recovers. If a run fails, the program removes operations and processes from the plan as
 * long as some run of the smaller plan fails with the same verdict. Exits with 1 if any
 * seed failed. */
#include <sys/personality.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include <simgrid/s4u.hpp>

#include "sim_run.hpp"

/* Chooses a random fault for a job with most[0] steps and most[1] allocations. */
static Fault draw_fault(uint64_t *chance, const int64_t most[2], bool sure,
                        const sim_plan &plan)
{
    static const int errors[] = {EIO, ENOSPC, EAGAIN /* causes a short write */};
    Fault f = {SIM_NOTHING, 0, errors[sim_draw(chance, 3)]};
    if (sure || sim_draw(chance, 3) == 0)
        f.harm = static_cast<sim_harm>(1 + sim_draw(chance, SIM_HARMS - 1));
    /* Without locks, a restarted node cannot find out that its earlier processes are
     * dead. */
    bool restarts =
        f.harm == SIM_POWER || (f.harm == SIM_NODE && sim_mount_loses(plan.mount));
    if (plan.lockless && restarts) f.harm = SIM_KILL;
    int64_t n = most[f.harm == SIM_MEMORY];
    f.step = 1 + (int64_t)sim_draw(chance, (uint64_t)(n > 0 ? n : 1));
    return f;
}

/* Measurements taken in the run without a fault. */
struct Whole {
    int64_t most[2][2]; /* steps and allocations in the first two jobs */
    Moments moments;
};

/* Moves the fault close to a step that changes what a power failure would leave
 * behind. */
static void strike_at_a_moment(Fault *f, uint64_t *chance, const Run &r, const Moments &m)
{
    static const sim_harm harms[] = {SIM_POWER, SIM_POWER, SIM_KILL, SIM_NODE};
    if (m.seen == 0) return;
    f->harm = r.plan.lockless ? SIM_KILL : harms[sim_draw(chance, 4)];
    auto n = static_cast<uint64_t>(std::min<int64_t>(m.seen, Moments::MOST));
    f->step = m.step[sim_draw(chance, n)] + (int64_t)sim_draw(chance, 16) - 4;
}

/* Moves the second job's fault to the job's early steps, during which it recovers. In
 * half of the runs, makes one open fail instead. */
static void strike_what_recovers(Fault *f, uint64_t *chance)
{
    f->step = (f->step + 3) / 4;
    if (sim_draw(chance, 2) != 0) return;
    f->harm = SIM_ERROR;
    f->step = 0;
    f->open = 1 + (int)sim_draw(chance, 24);
}

/* Performs the n-th run of a plan. Run 0 has no fault. In runs from AT_MOMENTS on, the
 * fault is close to one of the recorded steps (struct Moments). */
static const Result *nth_run(Run *r, int n, Whole *whole)
{
    enum { AT_MOMENTS = 5 };
    uint64_t chance = r->plan.seed * 1000003 + (uint64_t)n;
    r->faults[0] = r->faults[1] = {SIM_NOTHING, 0, 0};
    for (int i = 0; i < 2 && n > 0; i++)
        r->faults[i] = draw_fault(&chance, whole->most[i], i == 0, r->plan);
    if (n >= AT_MOMENTS) {
        strike_at_a_moment(&r->faults[0], &chance, *r, whole->moments);
        strike_what_recovers(&r->faults[1], &chance);
    }
    const Result *got = sim_perform(*r);
    for (int i = 0; i < 2 && n == 0; i++) {
        whole->most[i][0] = got->steps[i];
        whole->most[i][1] = got->allocations[i];
    }
    if (n == 0) whole->moments = got->moments;
    return got;
}

/* Performs at most `runs` runs of the plan, and returns whether one of them had this
 * verdict. If so, *r is that run. */
static bool goes_wrong(Run *r, int runs, sim_verdict how)
{
    Whole whole = {};
    for (int n = 0; n < runs; n++)
        if (nth_run(r, n, &whole)->verdict == how) return true;
    return false;
}

/* Removes an operation from a plan. */
static void leave_out(struct sim_plan *p, int op)
{
    memmove(&p->ops[op], &p->ops[op + 1], (size_t)(p->nops - op - 1) * sizeof p->ops[0]);
    p->nops--;
    for (int i = 0; i < p->nvars; i++)
        if (p->vars[i].since > op) p->vars[i].since--;
}

static bool defines(const struct sim_plan *p, int op)
{
    for (int i = 0; i < p->nvars; i++)
        if (p->vars[i].since == op) return true;
    return false;
}

/* Reduces a failing run, and returns the smallest run found that has the same verdict. */
static Run shrink(Run r, sim_verdict how)
{
    enum { RUNS = 40 };
    for (int op = r.plan.nops - 1; op >= 0; op--) {
        Run less = r;
        if (defines(&less.plan, op)) continue;
        leave_out(&less.plan, op);
        if (goes_wrong(&less, RUNS, how)) r = less;
    }
    while (r.plan.procs > 1) {
        Run less = r;
        less.plan.procs--;
        if (less.plan.nodes > less.plan.procs) less.plan.nodes = less.plan.procs;
        if (!goes_wrong(&less, RUNS, how)) break;
        r = less;
    }
    return r;
}

/* ---- the command line ---- */

struct Options {
    uint64_t from = 1, seeds = 1;
    double seconds = 0; /* limit on the elapsed time; 0 for none */
    int runs = 6, only = -1;
    bool trace = false, whole = false, first = false, orders = false;
    std::string of; /* name of the only small program to run; "" for all */
};

/* Performs all runs for a seed. Returns true if none failed. */
static bool seed(const Options &o, uint64_t number, int64_t counts[])
{
    Run r = {};
    Whole whole = {};
    sim_plan_draw(&r.plan, number);
    for (int n = 0; n < o.runs; n++) {
        r.trace = o.trace && n == o.only;
        const Result *got = nth_run(&r, n, &whole);
        counts[got->verdict]++;
        if (got->verdict == SIM_FINE) continue;
        sim_describe(r, *got);
        printf("  repeat: --seed %llu --run %d --trace\n", (unsigned long long)number, n);
        if (!o.whole) {
            Run small = shrink(r, got->verdict);
            sim_describe(small, *sim_perform(small));
            sim_plan_print(&small.plan);
        }
        return false;
    }
    return true;
}

static int simulate(const Options &o)
{
    int64_t counts[SIM_BROKEN + 1] = {0};
    const time_t begun = time(nullptr);
    uint64_t failed = 0, n = 0;
    while (n < o.seeds && !(o.first && failed > 0) &&
           (o.seconds <= 0 || difftime(time(nullptr), begun) < o.seconds)) {
        failed += !seed(o, o.from + n++, counts);
        if (isatty(2) && n % 16 == 0)
            fprintf(stderr, "\r%llu seeds, %llu failed ", (unsigned long long)n,
                    (unsigned long long)failed);
    }
    if (isatty(2)) fprintf(stderr, "\r%40s\r", "");
    printf("%llu seeds", (unsigned long long)n);
    for (int v = SIM_LOST; v <= SIM_BROKEN; v++)
        printf(", %lld %s", (long long)counts[v], sim_verdicts[v]);
    printf(" (%lld runs)\n", (long long)counts[0] + (long long)failed);
    return failed > 0;
}

static bool read_options(int argc, char **argv, Options *o)
{
    for (int i = 2; i < argc; i++) {
        std::string name = argv[i];
        if (name == "--trace") {
            o->trace = true;
        } else if (name == "--whole") {
            o->whole = true;
        } else if (name == "--first") {
            o->first = true;
        } else if (name == "--orders") {
            o->orders = true;
            if (i + 1 < argc && argv[i + 1][0] != '-') o->of = argv[++i];
        } else if (i + 1 < argc) {
            uint64_t n = strtoull(argv[++i], nullptr, 10);
            if (name == "--seeds") o->seeds = n;
            if (name == "--from" || name == "--seed") o->from = n;
            if (name == "--run") o->only = (int)n;
            if (name == "--runs") o->runs = (int)n;
            if (name == "--seconds") o->seconds = (double)n;
        } else {
            return false;
        }
    }
    if (o->only >= o->runs) o->runs = o->only + 1;
    return argc > 1;
}

int main(int argc, char **argv)
{
    Options o;
    /* Disables address space randomization if the system permits it, so that runs are
     * reproducible. */
    if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE) &&
        personality(ADDR_NO_RANDOMIZE) != -1)
        execv("/proc/self/exe", argv);
    if (!read_options(argc, argv, &o)) {
        fprintf(stderr,
                "usage: simulate PROGRAM [--seeds N] [--from S] [--seconds N] "
                "[--runs N] [--first] [--whole]\n"
                "       simulate PROGRAM --seed S [--run N] [--trace]\n"
                "       simulate PROGRAM --orders [NAME] [--seconds N] [--run N]\n");
        return 2;
    }
    char program[] = "simulate", quiet[] = "--log=root.thres:critical";
    char *arguments[] = {program, quiet, nullptr};
    int n = 2;
    simgrid::s4u::Engine engine(&n, arguments);
    if (!sim_machine_begin(argv[1])) return 2;
    if (!o.orders) return simulate(o);
    return sim_orders(o.of.c_str(), o.seconds > 0 ? o.seconds : 1e9, o.only) ? 0 : 1;
}
