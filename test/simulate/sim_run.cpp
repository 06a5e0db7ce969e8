/* Performs a run. Each run is a child process, forked after all copies of the library
 * have been loaded. The child starts the jobs and injects the faults. At each step it
 * decides how much time passes, which determines the process that runs next. Finally it
 * calls the model, which judges the files that the last job has left. */
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <simgrid/actor.h>
#include <simgrid/s4u.hpp>
#include <simgrid/semaphore.h>
#include <smpi/smpi.h>

#include "sim_run.hpp"

namespace s4u = simgrid::s4u;

const char *const sim_verdicts[] = {"fine", "lost", "wrong", "hung", "left", "broken"};
static Run run;
static Result *result;
static FILE *trace; /* a copy of stdout, which is redirected to /dev/null */

/* ---- processes ---- */

struct Process {
    sim_process known;
    sim_thread main;
    std::vector<s4u::Actor *> actors;
};

struct Job {
    std::vector<Process *> processes;
    sg_sem_t over = nullptr;
    Fault fault = {SIM_NOTHING, 0, 0};
    bool dead = false;
};

using Main = int (*)(int, char **);
using Count = void (*)(void);
static std::vector<Main> copies;
static std::vector<Count> counts; /* each copy's sim_count; null without --coverage */
static size_t copies_used;
static std::vector<s4u::Host *> hosts;
static s4u::Host *elsewhere;
static Job jobs[SIM_JOBS];
static uint64_t schedule; /* random state that determines the order of steps and the
                           * faults */

const sim_plan *sim_the_plan(void)
{
    return &run.plan;
}

sim_process *sim_self(void)
{
    if (sg_actor_self() == nullptr) return nullptr;
    auto *t = static_cast<sim_thread *>(sg_actor_self_get_data());
    return t != nullptr ? t->process : nullptr;
}

const sim_process *sim_find(int node, int64_t pid)
{
    for (const Job &j : jobs)
        for (const Process *p : j.processes)
            if (p->known.node == node && p->known.pid == pid && !p->known.dead &&
                !p->known.ended)
                return &p->known;
    return nullptr;
}

static Process *process_of(const sim_process *p)
{
    return jobs[p->job].processes[(size_t)p->rank];
}

void sim_thread_begins(void *actor, sim_thread *t)
{
    process_of(t->process)->actors.push_back(static_cast<s4u::Actor *>(actor));
}

void sim_thread_ends(void *actor, sim_thread *t)
{
    auto &all = process_of(t->process)->actors;
    all.erase(std::remove(all.begin(), all.end(), actor), all.end());
}

double sim_clock(void)
{
    return 1.8e9 + s4u::Engine::get_clock();
}

void sim_note(const char *format, ...)
{
    if (!run.trace) return;
    const sim_process *p = sim_self();
    va_list args;
    va_start(args, format);
    fprintf(trace, "%.9f %d.%d@%d ", s4u::Engine::get_clock(), p ? p->job : -1,
            p ? p->rank : 0, p ? p->node : 0);
    vfprintf(trace, format, args);
    fprintf(trace, "\n");
    va_end(args);
}

[[noreturn]] static void end(void)
{
    for (size_t i = 0; i < copies_used && counts[i] != nullptr; i++)
        counts[i]();
    fflush(trace);
    _exit(0);
}

void sim_fail(sim_verdict verdict, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(result->words, sizeof result->words, format, args);
    va_end(args);
    result->verdict = verdict;
    sim_note("%s: %s", sim_verdicts[verdict], result->words);
    end();
}

/* ---- faults ---- */

/* Marks a process as dead and closes its descriptors. The process reaches at most one
 * more step. */
static void mark_dead(Process *p)
{
    if (p->known.dead || p->known.ended) return;
    p->known.dead = true;
    sim_close_all(&p->known);
}

/* Suspends the actors of a dead process. Meanwhile, other actors may run. */
static void suspend(const Process *p)
{
    for (s4u::Actor *a : p->actors)
        if (a != s4u::Actor::self() && p->known.dead) a->suspend();
}

static bool has_ended(const Job &j)
{
    for (const Process *p : j.processes)
        if (!p->known.ended) return false;
    return true;
}

static void kill_job(int number)
{
    Job &j = jobs[number];
    if (j.dead || has_ended(j)) return;
    j.dead = true;
    for (Process *p : j.processes)
        mark_dead(p);
    for (const Process *p : j.processes)
        suspend(p);
    sg_sem_release(j.over);
}

/* Kills a job after a random time, as a launcher does when one of its processes dies. */
static void kill_later(int number)
{
    double time = 1e-6 * (double)sim_draw(&schedule, 2000000);
    s4u::Actor::create("reaper", elsewhere, [number, time] {
        s4u::this_actor::sleep_for(time);
        kill_job(number);
    });
}

/* Kills process p, or all processes of a job on p's node. Kills the rest of the job
 * later. */
static void kill_some(int number, const sim_process *p, bool node)
{
    auto dies = [&](const Process *q) {
        bool there = node && q->known.node == p->node && !q->known.ended;
        return there || &q->known == p;
    };
    auto &all = jobs[number].processes;
    if (std::none_of(all.begin(), all.end(), dies)) return;
    kill_later(number);
    for (Process *q : all) {
        q->known.lost = node && q->known.node == p->node;
        if (dies(q)) mark_dead(q);
    }
    for (const Process *q : all)
        if (dies(q)) suspend(q);
}

static bool is_one_of(std::initializer_list<const char *> calls, const char *call)
{
    return std::any_of(calls.begin(), calls.end(),
                       [call](const char *c) { return strcmp(c, call) == 0; });
}

static bool moves_bytes(const char *call)
{
    return is_one_of({"pwrite", "pread", "fsync", "ftruncate", "open", "socket", "accept",
                      "connect", "send", "receive", "poll"},
                     call);
}

/* Returns whether an error may be injected into this call. If nodes cache writes, half of
 * the seeds inject errors only into syncs, because a failed sync may discard cached
 * writes. */
static bool may_fail(const char *call)
{
    if (sim_mount_loses(run.plan.mount) && run.plan.seed % 2)
        return strcmp(call, "fsync") == 0;
    return moves_bytes(call);
}

/* Returns whether to inject an error into this call. If the fault is for the n-th open,
 * counts the opens. */
static bool fails(const char *call, Fault *f)
{
    if (!may_fail(call)) return false;
    return f->open == 0 || (strcmp(call, "open") == 0 && --f->open == 0);
}

/* Injects a job's fault into process p. Returns the errno with which the call must fail,
 * or 0. Does not return if the process dies. */
static int do_harm(const sim_process *p, const char *call, Fault *f)
{
    sim_harm what = f->harm;
    f->harm = SIM_NOTHING;
    sim_note("fault injected: %d", (int)what);
    if (what == SIM_STOP) {
        s4u::this_actor::sleep_for(1e-3 * (double)sim_draw(&schedule, 100000));
        return 0;
    }
    sim_harmed(what);
    if (what == SIM_POWER || what == SIM_NODE)
        sim_nodes_fail(what == SIM_POWER ? -1 : p->node);
    if (what == SIM_ERROR && strcmp(call, "open") == 0 && f->error == EAGAIN)
        return EMFILE;
    if (what == SIM_ERROR && strcmp(call, "pwrite") != 0) return EIO;
    if (what == SIM_ERROR) return f->error;
    if (what == SIM_POWER) {
        int begun = 0; /* jobs so far; more may begin during the second loop */
        for (const Job &j : jobs) {
            begun += !j.processes.empty();
            for (Process *q : j.processes)
                mark_dead(q);
        }
        sim_power_cut(&schedule);
        for (int i = 0; i < begun; i++)
            kill_job(i);
    } else if (what == SIM_KILL && sim_draw(&schedule, 2) == 0) {
        kill_job(p->job);
    } else {
        for (int i = 0; i < SIM_JOBS; i++)
            if (i == p->job || (what == SIM_NODE && run.plan.seed >= SIM_RICH))
                kill_some(i, p, what == SIM_NODE);
    }
    s4u::this_actor::suspend();
    sim_fail(SIM_BROKEN, "a dead process continued");
}

/* Chooses the duration of a step, which is usually short and sometimes long. */
static double delay(void)
{
    if (run.even) return 1e-7;
    uint64_t kind = sim_draw(&schedule, 16);
    double most = kind < 9 ? 1e-7 : kind < 14 ? 1e-5 : kind < 15 ? 1e-3 : 1e-1;
    return most * (double)(1 + sim_draw(&schedule, 1000)) / 1000;
}

static bool changes(const char *call, int64_t flags)
{
    if (strcmp(call, "open") == 0) return (flags & O_CREAT) != 0;
    return is_one_of({"pwrite", "ftruncate", "rename", "unlink", "fsync", "lock", "flock",
                      "mutex", "fallocate", "change"},
                     call);
}

static void note_generation(const char *call, int64_t flags, int64_t step)
{
    static uint64_t chance; /* separate state, so that these draws do not affect the order
                             * of steps */
    Moments &m = result->moments;
    bool makes = strcmp(call, "open") == 0 && (flags & O_CREAT) != 0;
    if (!makes && !is_one_of({"fsync", "rename", "unlink", "ftruncate"}, call)) return;
    uint64_t place = static_cast<uint64_t>(m.seen++);
    if (place >= Moments::MOST) place = sim_draw(&chance, place + 1);
    if (place < Moments::MOST) m.step[place] = step;
}

/* Returns the object that is accessed by a step without a path: an address in shared
 * memory, or the process's mutexes. Returns 0 if no other process or thread can access
 * the object. */
static uint32_t what_of(const sim_process *p, const char *call, int64_t at)
{
    if (is_one_of({"look", "change"}, call)) return static_cast<uint32_t>(at);
    return strcmp(call, "mutex") == 0 ? static_cast<uint32_t>(p->pid) : 0;
}

/* Appends a step to the list of steps. Each thread counts as a process. */
static void list_step(const sim_process *p, int64_t step, const char *call,
                      const char *path, int64_t at)
{
    const auto &all = process_of(p)->actors;
    auto thread = std::find(all.begin(), all.end(), s4u::Actor::self()) - all.begin();
    auto rank = static_cast<uint32_t>(p->rank);
    auto what = static_cast<uint32_t>(std::hash<std::string_view>()(path));
    if (*path == '\0') what = what_of(p, call, at);
    if (result->listed < (int64_t)(sizeof result->list / sizeof result->list[0]))
        result->list[result->listed++] = {
            (static_cast<uint32_t>(p->job) * SIM_PROCESSES + rank) * 16 +
                static_cast<uint32_t>(thread),
            what, p->job == run.moving ? step : 0, changes(call, at)};
}

/* If the plan stops the job at this step, suspends the caller for longer than any timeout
 * and longer than the other processes need to end. */
static void stop(int64_t step)
{
    for (int64_t at : run.stops)
        if (at == step) s4u::this_actor::sleep_for(5);
}

int sim_step(const char *call, const char *path, int64_t at, int64_t n)
{
    enum { MOST = 16000000 };
    const sim_process *p = sim_self();
    if (p == nullptr) return 0;
    int64_t step = ++result->steps[p->job];
    if (step > MOST) sim_fail(SIM_HUNG, "too many steps; the last one is %s", call);
    if (run.even && p->job >= run.moving) list_step(p, step, call, path, at);
    if (p->job == 0) note_generation(call, at, step);
    if (run.even && p->job == run.moving) stop(step);
    s4u::this_actor::sleep_for(delay());
    if (p->dead) s4u::this_actor::suspend(); /* killed during the step */
    sim_note("%lld %s %s %lld %lld", (long long)step, call, path, (long long)at,
             (long long)n);
    Fault *f = &jobs[p->job].fault;
    bool now = f->harm != SIM_NOTHING && f->harm != SIM_MEMORY && step >= f->step;
    return now && (f->harm != SIM_ERROR || fails(call, f)) ? do_harm(p, call, f) : 0;
}

bool sim_memory(void)
{
    const sim_process *p = sim_self();
    if (p == nullptr) return true;
    Fault *f = &jobs[p->job].fault;
    int64_t number = ++result->allocations[p->job];
    if (f->harm != SIM_MEMORY || number < f->step) return true;
    f->harm = SIM_NOTHING;
    sim_note("no memory");
    sim_harmed(SIM_MEMORY);
    return false;
}

/* ---- jobs ---- */

static std::string bytes; /* contents of the program's shared object */

static bool load_copy(size_t number)
{
    std::string path =
        "/dev/shm/sim-" + std::to_string(getpid()) + "-" + std::to_string(number) + ".so";
    FILE *f = fopen(path.c_str(), "wb");
    bool written =
        f != nullptr && fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size();
    if (f != nullptr) fclose(f);
    void *copy = written ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    unlink(path.c_str());
    if (copy == nullptr) {
        fprintf(stderr, "simulate: %s\n", dlerror());
        return false;
    }
    copies.push_back(reinterpret_cast<Main>(dlsym(copy, "sim_main")));
    counts.push_back(reinterpret_cast<Count>(dlsym(copy, "sim_count")));
    return true;
}

static void start_job(int number, int n, sim_tool tool = SIM_NO_TOOL)
{
    static int64_t pids = 1000;
    std::string name = "job" + std::to_string(number);
    Job &j = jobs[number];
    j.over = sg_sem_init(0);
    SMPI_app_instance_register(name.c_str(), nullptr, n);
    for (int rank = 0; rank < n; rank++) {
        auto *p = new Process();
        int node = rank * run.plan.nodes / n;
        p->known = {number, rank,  node,    tool, ++pids, pids,          false,
                    false,  false, nullptr, 0,    0,      {false, false}};
        p->main.process = &p->known;
        j.processes.push_back(p);
    }
    for (Process *p : j.processes) {
        if (copies_used == copies.size() && !load_copy(copies_used))
            sim_fail(SIM_BROKEN, "cannot load another copy of the program");
        Main start = copies[copies_used++];
        auto actor = s4u::Actor::init(name, hosts[(size_t)p->known.node]);
        actor->set_property("instance_id", name);
        actor->set_property("rank", std::to_string(p->known.rank));
        sg_actor_set_data(actor.get(), &p->main);
        p->actors.push_back(actor.get());
        actor->start([p, start, number] {
            char program[] = "program", *arguments[] = {program, nullptr};
            start(1, arguments);
            p->known.ended = true;
            sim_close_all(&p->known);
            if (has_ended(jobs[number])) sg_sem_release(jobs[number].over);
        });
    }
}

/* Waits until a job has ended or has been killed. */
static void await_job(int number)
{
    enum { LONGEST = 50000 }; /* in simulated seconds */
    if (sg_sem_acquire_timeout(jobs[number].over, LONGEST) != 0)
        sim_fail(SIM_HUNG, "job %d has not ended", number);
}

/* Runs the concurrent jobs, and returns the number of the next job. The library may
 * refuse a concurrent job, so errors are permitted that would otherwise be permitted only
 * after a fault. */
static int meet(int number)
{
    const bool beside = run.plan.company == SIM_BESIDE;
    if (run.plan.company == SIM_ALONE) return number;
    sim_harmed(SIM_NOTHING);
    s4u::this_actor::sleep_for(1e-6 * (double)sim_draw(&schedule, 1000000));
    const bool third = !beside || run.plan.three;
    start_job(number, run.plan.tool ? 1 : run.plan.recoverers, run.plan.tool);
    if (third) start_job(number + 1, run.plan.recoverers);
    if (beside) await_job(0);
    await_job(number);
    if (third) await_job(number + 1);
    return number + (third ? 2 : 1);
}

/* Writes the hints for all datasets to the file that PNETCDF_HINTS_FILE names. */
static void list_hints(void)
{
    static const char path[] = SIM_NOTES "hints";
    std::string text = run.plan.hints;
    for (size_t i = 0; i < text.size(); i++)
        if (text[i] == '=' || text[i] == ';')
            text.replace(i, 1, text[i] == '=' ? "\":\"" : "\",\""), i += 2;
    text = "{\"File\":[{\"Path\":\"/sim\"" + (text.empty() ? "" : ",\"" + text + "\"") +
           "}]}";
    sim_file *f = sim_file_new(0644);
    sim_file_write(f, 0, text.data(), (int64_t)text.size());
    sim_file_sync(f);
    sim_name_set(path, f);
    sim_names_sync();
    setenv("PNETCDF_HINTS_FILE", path, 1);
}

/* Starts one job after another until one runs without a fault. That job must find
 * everything intact. */
static void conduct(void)
{
    int number = 1;
    if (run.plan.listed) list_hints();
    if (run.plan.safe) setenv("PNETCDF_SAFE_MODE", "1", 1);
    jobs[0].fault = run.faults[0];
    jobs[1].fault = run.faults[1];
    start_job(0, run.plan.procs);
    if (run.plan.company != SIM_BESIDE) await_job(0);
    for (number = meet(number); number < SIM_JOBS; number++) {
        bool breaks = jobs[number].fault.harm != SIM_NOTHING;
        sim_next_job();
        start_job(number, run.plan.recoverers);
        await_job(number);
        if (!breaks) break;
    }
    sim_judge();
    end();
}

/* ---- the machine and the copies of the program ---- */

static void build_machine(void)
{
    auto *zone = s4u::create_full_zone("zone");
    auto *link = zone->create_link("link", 1e10)->set_latency(1e-6)->seal();
    for (int i = 0; i < SIM_PROCESSES; i++)
        hosts.push_back(zone->create_host("node" + std::to_string(i), 1e10)->seal());
    elsewhere = zone->create_host("elsewhere", 1e10)->seal();
    for (size_t i = 0; i < hosts.size(); i++)
        for (size_t k = i; k < hosts.size(); k++)
            zone->add_route(hosts[i]->get_netpoint(), hosts[k]->get_netpoint(), nullptr,
                            nullptr, {s4u::LinkInRoute(link)});
    zone->seal();
}

static bool load_copies(const char *path)
{
    char piece[65536];
    FILE *f = fopen(path, "rb");
    for (size_t n; f != nullptr && (n = fread(piece, 1, sizeof piece, f)) > 0;)
        bytes.append(piece, n);
    if (f == nullptr) return false;
    fclose(f);
    for (int i = 0; i < 5 + 3 * 3; i++)
        if (!load_copy(i)) return false;
    return true;
}

bool sim_machine_begin(const char *program)
{
    void *shared = mmap(nullptr, sizeof *result, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return false;
    result = static_cast<Result *>(shared);
    build_machine();
    SMPI_init();
    for (const char *setting :
         {"smpi/simulate-computation:no", "smpi/errors-are-fatal:no"})
        s4u::Engine::set_config(setting);
    return load_copies(program);
}

/* ---- performing runs ---- */

const Result *sim_perform(const Run &what)
{
    fflush(stdout);
    memset(result, 0, offsetof(Result, list));
    pid_t child = fork();
    if (child == 0) {
        alarm(300);
        trace = fdopen(dup(1), "w");
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 1);
        if (!what.trace) dup2(nowhere, 2);
        run = what;
        schedule = what.even ? what.chance : what.plan.seed * 31 + 7;
        s4u::Actor::create("conductor", elsewhere, conduct);
        s4u::Engine::get_instance()->run();
        sim_fail(SIM_HUNG, "deadlock: no process can continue");
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) {
        result->verdict =
            WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? SIM_HUNG : SIM_BROKEN;
        snprintf(result->words, sizeof result->words, "ended with status %#x", status);
    }
    return result;
}

void sim_describe(const Run &r, const Result &got)
{
    static const char *const harms[] = {
        "nothing",  "a kill",           "a power failure",
        "an error", "a node's failure", "an allocation failure",
        "a stop"};
    printf("seed %llu: %s: %s\n", (unsigned long long)r.plan.seed,
           sim_verdicts[got.verdict], got.words);
    for (int i = 0; i < 2; i++)
        printf("  job %d: %s at step %lld (%d)\n", i, harms[r.faults[i].harm],
               (long long)r.faults[i].step, r.faults[i].error);
}
