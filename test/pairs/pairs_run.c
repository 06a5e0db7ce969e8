/* Plays a schedule.
 *
 * Each step begins after the previous one has ended, unless the two run together or the
 * previous one was stopped. The results of calls are recorded in ops and sessions, which
 * pairs_model.c judges. At the end, all jobs close the dataset, the killed jobs' data is
 * recovered, and a new process and the tools read the result. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pairs.h"

struct pairs_counts pairs_counts;

enum { NC_NOERR = 0 };

static const struct pairs_stack *const no_stack = &pairs_stacks[0];

static const char *path_of(const char *name)
{
    static char paths[4][160];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", pairs_place.run, name);
    return path;
}

/* ---- dataset files ---- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    return ftw->level == 0 ? 0 : remove(path);
}

static void clear_folder(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Returns whether the file is a master file, which does not begin with CDF as an ordinary
 * file does. */
static bool is_master(const char *path)
{
    char magic[4] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, magic, sizeof magic);
    if (fd >= 0) close(fd);
    return n == sizeof magic && memcmp(magic, "CDF", 3) != 0;
}

static bool copy_file(const char *from, const char *to)
{
    char bytes[65536];
    int in = open(from, O_RDONLY | O_CLOEXEC),
        out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t n = -1;
    while (in >= 0 && out >= 0 && (n = read(in, bytes, sizeof bytes)) > 0)
        if (write(out, bytes, (size_t)n) != n) break;
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    return n == 0;
}

/* ---- orders ---- */

static void hints_of(const struct pairs_stack *stack, char *hints, size_t size)
{
    snprintf(hints, size, "%s;nc_redef_wait_seconds=1", stack->hints);
    if (!stack->logs) return;
    size_t n = strlen(hints);
    const char *name =
        strstr(hints, "e10") != NULL ? "e10_cache_path" : "nc_burst_buf_dirname";
    snprintf(hints + n, size - n, ";%s=%s", name, path_of("logs"));
}

static void fill_order(struct pairs_order *o, const struct pairs_run *r,
                       const struct pairs_op *op, const struct pairs_stack *stack)
{
    *o = (struct pairs_order){
        .step = *op->step, .seed = r->plan->seed, .put = op->number, .made = op->made};
    snprintf(o->path, sizeof o->path, "%s", path_of("a.nc"));
    hints_of(stack, o->hints, sizeof o->hints);
}

/* ---- results ---- */

static void print_op(const struct pairs_run *r, const struct pairs_op *op)
{
    char text[256] = "";
    if (!r->trace) return;
    if (op->number < PAIRS_STEPS)
        pairs_step_print(r->plan, op->number, text, sizeof text);
    else
        snprintf(text, sizeof text, "-- %-4s %s", pairs_actor_name(op->step->actor),
                 pairs_kind_name(op->step->kind));
    printf("    %s: %s%s\n", text,
           op->end == PAIRS_NEVER ? "stopped"
           : op->killed           ? "killed"
           : op->rc == 0          ? "ok"
                                  : "",
           op->rc != 0 ? op->text : "");
    fflush(stdout);
}

static void commit(struct pairs_run *r, int session)
{
    for (int i = 0; i < r->nops; i++) {
        struct pairs_op *op = &r->ops[i];
        if (op->session == session && op->step->kind == PAIRS_PUT &&
            op->commit == PAIRS_NEVER)
            op->commit = r->clock;
    }
}

/* Called when a deferred close fails: its puts no longer count as acknowledged. */
static void take_back(struct pairs_run *r, int actor)
{
    for (int i = 0; i < r->nops; i++) {
        struct pairs_op *op = &r->ops[i];
        const struct pairs_session *s =
            op->session < 0 ? NULL : &r->sessions[op->session];
        if (s != NULL && s->actor == actor && s->stack->waits &&
            s->waited == PAIRS_NEVER && op->commit >= s->closed)
            op->commit = PAIRS_NEVER;
    }
}

static void note_waited(struct pairs_run *r, int actor, int rc)
{
    if (rc != NC_NOERR) take_back(r, actor);
    for (int i = 0; i < r->nsessions; i++) {
        struct pairs_session *s = &r->sessions[i];
        if (s->actor != actor || s->closed == PAIRS_NEVER || s->waited != PAIRS_NEVER)
            continue;
        s->waited = r->clock;
        if (rc != NC_NOERR && s->stack->waits && s->told == PAIRS_NEVER)
            s->told = r->clock;
    }
}

static void note_killed(struct pairs_run *r, int actor)
{
    r->kills++;
    pairs_counts.kills++;
    for (int i = 0; i < r->nsessions; i++) {
        struct pairs_session *s = &r->sessions[i];
        const bool done =
            s->stack->waits ? s->waited != PAIRS_NEVER : s->closed != PAIRS_NEVER;
        if (s->actor == actor && !done && s->killed == PAIRS_NEVER) s->killed = r->clock;
    }
    r->of_actor[actor] = -1;
}

static struct pairs_session *add_session(struct pairs_run *r, struct pairs_op *op,
                                         const struct pairs_reply *got)
{
    const int actor = op->step->actor;
    struct pairs_session *s = &r->sessions[r->nsessions];
    *s = (struct pairs_session){.actor = actor,
                                .procs = r->plan->jobs[actor].procs,
                                .stack = r->plan->jobs[actor].stack,
                                .writes = op->step->kind != PAIRS_READ,
                                .made = got->made,
                                .present = got->present,
                                .opened = op->begin,
                                .usable = r->clock,
                                .refreshed = op->begin,
                                .closing = PAIRS_NEVER,
                                .closed = PAIRS_NEVER,
                                .waited = PAIRS_NEVER,
                                .killed = PAIRS_NEVER,
                                .told = PAIRS_NEVER};
    op->session = r->of_actor[actor] = r->nsessions++;
    return s;
}

static bool is_create(enum pairs_kind kind)
{
    return kind == PAIRS_CREATE || kind == PAIRS_CREATE_NEW;
}

static bool opens(enum pairs_kind kind)
{
    return is_create(kind) || kind == PAIRS_OPEN || kind == PAIRS_READ;
}

static void note_opened(struct pairs_run *r, struct pairs_op *op,
                        const struct pairs_reply *got)
{
    op->phase = got->phase;
    if (op->rc != NC_NOERR && op->phase == 0) return;
    struct pairs_session *s = add_session(r, op, got);
    s->created = is_create(op->step->kind);
    s->defining = s->created && op->phase < 2;
    s->leased = s->writes && (s->created ? s->stack->blob : is_master(path_of("a.nc")));
    if (op->rc != NC_NOERR) s->told = r->clock;
    if (!s->created && got->made < 0)
        pairs_fail(r, PAIRS_LIE, "step %d opened a dataset that nobody defined",
                   op->number);
}

/* Returns whether the actor has a deferred close for which it has not waited. If so, its
 * next open returns the error of that close. */
static bool has_deferred_close(const struct pairs_run *r, int actor)
{
    for (int i = 0; i < r->nsessions; i++) {
        const struct pairs_session *s = &r->sessions[i];
        if (s->actor == actor && s->stack->waits && s->closed != PAIRS_NEVER &&
            s->waited == PAIRS_NEVER)
            return true;
    }
    return false;
}

/* Returns whether no process was killed and no other process or tool may be in the middle
 * of an operation. */
static bool is_quiet(const struct pairs_run *r, const struct pairs_op *op)
{
    if (r->kills > 0) return false;
    for (int a = 0; a < PAIRS_JOBS; a++)
        if (has_deferred_close(r, a) || pairs_actors[a].wounded) return false;
    for (int i = 0; i < r->nops; i++) {
        const struct pairs_op *other = &r->ops[i];
        /* The first put to a variable may define the variable in subfiles. */
        const bool defines = other->step->kind == PAIRS_PUT &&
                             r->plan->jobs[other->step->actor].stack->blob;
        if (other != op && other->end > op->begin && other->step->kind != PAIRS_SYNC &&
            (other->step->kind != PAIRS_PUT || defines))
            return false;
    }
    return true;
}

static bool is_written(const struct pairs_run *r)
{
    for (int a = 0; a < PAIRS_JOBS; a++)
        if (r->of_actor[a] >= 0 && r->sessions[r->of_actor[a]].writes) return true;
    return false;
}

static bool is_fatal(int rc)
{
    return rc != NC_NOERR && rc != -40 && rc != -57 &&
           rc != -49; /* NC_EINVALCOORDS, NC_EEDGE, NC_ENOTVAR */
}

static void note_call(struct pairs_run *r, struct pairs_op *op,
                      const struct pairs_reply *got)
{
    const enum pairs_kind kind = op->step->kind;
    struct pairs_session *s = op->session < 0 ? NULL : &r->sessions[op->session];
    const bool deferred = has_deferred_close(r, op->step->actor);
    if (opens(kind) || kind == PAIRS_WAIT || kind == PAIRS_DELETE) {
        if (op->rc == NC_NOERR || kind == PAIRS_WAIT)
            note_waited(r, op->step->actor, op->rc);
        else
            take_back(r, op->step->actor);
    }
    if (opens(kind)) note_opened(r, op, got);
    if (kind == PAIRS_READ && op->rc != NC_NOERR && is_quiet(r, op) && !deferred &&
        pairs_must_be(r) >= 0)
        pairs_fail(r, PAIRS_REFUSED, "step %d: a reader is refused: %s", op->number,
                   op->text);
    if (s == NULL) return;
    if (kind == PAIRS_ENDDEF && op->rc == NC_NOERR) s->defining = false;
    if (kind == PAIRS_REDEF && op->rc == NC_NOERR) s->present |= 1 << op->step->var;
    if (kind == PAIRS_GET && op->rc == NC_NOERR)
        pairs_judge_get(r, op->session, op->begin, got);
    const bool ends = kind == PAIRS_CLOSE || kind == PAIRS_ABORT;
    const bool acknowledges = kind == PAIRS_SYNC || kind == PAIRS_CLOSE;
    if (ends) {
        s->closed = r->clock;
        r->of_actor[op->step->actor] = -1;
    }
    if (kind == PAIRS_SYNC && op->rc == NC_NOERR) s->refreshed = op->begin;
    if (acknowledges && op->rc == NC_NOERR && s->told == PAIRS_NEVER)
        commit(r, op->session);
    const bool tells = acknowledges || kind == PAIRS_ENDDEF || kind == PAIRS_PUT;
    if (((tells && is_fatal(op->rc)) || kind == PAIRS_ABORT) && s->told == PAIRS_NEVER)
        s->told = r->clock;
}

/* ---- tools ---- */

static const char *tool_path(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", pairs_place.tools, name);
    return path;
}

static void start_tool(const struct pairs_step *step)
{
    const char *const nc = path_of("a.nc"), *const out = path_of("out.nc"),
                      *const logs = path_of("logs");
    const char *argv[6] = {tool_path("ncmpijoin"), NULL};
    int n = 1;
    switch (step->kind) {
    case PAIRS_JOIN_CHECK:
    case PAIRS_JOIN_REMOVE:
        argv[n++] = step->kind == PAIRS_JOIN_CHECK ? "--check" : "--remove";
        /* fall through */
    case PAIRS_JOIN:
        argv[n++] = nc;
        argv[n++] = out;
        break;
    case PAIRS_COMPACT:
        argv[n++] = "--compact";
        argv[n++] = nc;
        break;
    case PAIRS_REPLAY:
        argv[0] = tool_path("ncmpilog");
        argv[n++] = "replay";
        argv[n++] = "-q";
        argv[n++] = "-r";
        argv[n++] = logs;
        break;
    default:
        argv[0] = tool_path("ncvalidator");
        if (step->kind == PAIRS_FINISH) argv[n++] = "-f";
        argv[n++] = nc;
    }
    argv[n] = NULL;
    pairs_actor_tool(argv, step);
}

static void tool_text(char *text, size_t size)
{
    char path[160];
    snprintf(path, sizeof path, "%s/tool.out", pairs_place.dir);
    FILE *f = fopen(path, "r");
    size_t n = f == NULL ? 0 : fread(text, 1, size - 1, f);
    if (f != NULL) fclose(f);
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

/* Runs a tool on behalf of the controller. */
static int run_tool(enum pairs_kind kind, char *text, size_t size)
{
    const struct pairs_step step = {.kind = kind, .actor = PAIRS_TOOL};
    start_tool(&step);
    if (!pairs_actors_wait(1u << PAIRS_TOOL, 40)) return 124;
    tool_text(text, size);
    return pairs_actors[PAIRS_TOOL].status;
}

/* Opens a file in a new process and reads it. If `recovers` is not NULL, only recovers
 * the file, with that stack's hints. */
static int read_fresh(const struct pairs_run *r, const char *path,
                      const struct pairs_stack *recovers, struct pairs_reply *got)
{
    static const enum pairs_kind calls[2][3] = {{PAIRS_READ, PAIRS_GET, PAIRS_CLOSE},
                                                {PAIRS_OPEN, PAIRS_SYNC, PAIRS_CLOSE}};
    int rc = NC_NOERR;
    pairs_actor_kill(PAIRS_TOOL);
    if (!pairs_actor_get(PAIRS_TOOL, 1)) return 999;
    struct pairs_actor *a = &pairs_actors[PAIRS_TOOL];
    for (int i = 0; i < 3 && rc == NC_NOERR; i++) {
        struct pairs_order o = {.seed = r->plan->seed,
                                .step.kind = calls[recovers != NULL][i]};
        snprintf(o.path, sizeof o.path, "%s", path);
        if (recovers != NULL) hints_of(recovers, o.hints, sizeof o.hints);
        if (!pairs_actor_order(PAIRS_TOOL, &o) ||
            !pairs_actors_wait(1u << PAIRS_TOOL, 40))
            rc = 124;
        else if (a->state != PAIRS_IDLE)
            rc = 998;
        else
            rc = a->reply[0].rc;
        if (i == 1 || rc != NC_NOERR) *got = a->reply[0];
    }
    pairs_actor_kill(PAIRS_TOOL);
    return rc;
}

/* Renames the joined file to the dataset's name, unless another dataset has taken the
 * name in the meantime. */
static void finish_join_remove(struct pairs_op *op)
{
    const bool whole = is_there(path_of("out.nc"));
    if (op->rc == 0 && is_there(path_of("a.nc"))) {
        op->phase = 3;
        unlink(path_of("out.nc"));
        return;
    }
    if (op->rc == 0 || (op->killed && whole)) {
        unlink(path_of("a.nc.0000"));
        unlink(path_of("a.nc.0001"));
        if (rename(path_of("out.nc"), path_of("a.nc")) != 0) op->rc = 2;
    }
    unlink(path_of("out.nc"));
}

static void note_tool(struct pairs_run *r, struct pairs_op *op)
{
    static struct pairs_reply got;
    const enum pairs_kind kind = op->step->kind;
    if (kind == PAIRS_JOIN_REMOVE) {
        finish_join_remove(op);
        return;
    }
    if ((kind == PAIRS_JOIN || kind == PAIRS_JOIN_CHECK) && op->rc == 0 && !op->killed) {
        int rc = read_fresh(r, path_of("out.nc"), NULL, &got);
        if (rc != NC_NOERR)
            pairs_fail(r, PAIRS_UNREADABLE, "step %d: the joined file: %s", op->number,
                       got.text);
        else
            pairs_judge_joined(r, &got);
    }
    unlink(path_of("out.nc"));
    if (kind == PAIRS_VALIDATE && op->rc != 0 && !op->killed && is_quiet(r, op) &&
        !is_written(r) && pairs_must_be(r) >= 0)
        pairs_fail(r, PAIRS_INVALID, "step %d: ncvalidator: %s", op->number, op->text);
}

/* ---- steps ---- */

static void finish_op(struct pairs_run *r, int actor)
{
    struct pairs_op *op = &r->ops[r->op_of[actor]];
    struct pairs_actor *a = &pairs_actors[actor];
    r->op_of[actor] = -1;
    op->end = ++r->clock;
    op->killed = a->state == PAIRS_ABSENT;
    if (actor == PAIRS_TOOL) {
        op->rc = op->killed ? 0 : a->status;
        if (op->rc != 0) tool_text(op->text, sizeof op->text);
        if (op->killed) note_killed(r, actor);
        print_op(r, op);
        note_tool(r, op);
    } else if (op->killed) {
        print_op(r, op);
        note_killed(r, actor);
    } else {
        struct pairs_reply *got = &a->reply[0];
        for (int p = a->procs - 1; p >= 0; p--)
            if (a->reply[p].rc != NC_NOERR) got = &a->reply[p];
        op->rc = got->rc;
        memcpy(op->text, got->text, sizeof op->text);
        print_op(r, op);
        note_call(r, op, got);
    }
    if (op->rc != 0 && (op->step->kind == PAIRS_OPEN || is_create(op->step->kind)))
        pairs_counts.refusals++;
    pairs_judge_lease(r, op);
}

/* Waits for all busy actors. If one of them appears to be waiting for a stopped actor,
 * continues the stopped actor after some time. */
static void wait_for(struct pairs_run *r)
{
    bool asleep = false;
    for (int i = 0; i < PAIRS_ACTORS; i++)
        asleep |= pairs_actors[i].state == PAIRS_ASLEEP;
    bool ended = pairs_actors_wait((1u << PAIRS_ACTORS) - 1, asleep ? 4 : 60);
    if (!ended && asleep) {
        pairs_counts.waits++;
        for (int i = 0; i < PAIRS_ACTORS; i++)
            pairs_actor_continue(i);
        ended = pairs_actors_wait((1u << PAIRS_ACTORS) - 1, 60);
    }
    for (int i = 0; i < PAIRS_ACTORS; i++) {
        if (r->op_of[i] < 0) continue;
        struct pairs_op *op = &r->ops[r->op_of[i]];
        if (pairs_actors[i].state == PAIRS_BUSY) {
            pairs_fail(r, PAIRS_HANG, "step %d (%s by %s) does not return", op->number,
                       pairs_kind_name(op->step->kind), pairs_actor_name(i));
            return;
        }
        if (pairs_actors[i].state != PAIRS_ASLEEP) {
            finish_op(r, i);
        } else if (asleep == false) {
            pairs_counts.stops++;
            print_op(r, op);
        }
    }
}

static bool applies(const struct pairs_run *r, const struct pairs_step *step)
{
    const int open = r->of_actor[step->actor];
    const struct pairs_session *s = open < 0 ? NULL : &r->sessions[open];
    const enum pairs_state state = pairs_actors[step->actor].state;
    if (step->kind == PAIRS_CONTINUE) return state == PAIRS_ASLEEP;
    if (step->kind == PAIRS_KILL) return s != NULL || state == PAIRS_ASLEEP;
    if (r->op_of[step->actor] >= 0) return false;
    if (step->kind == PAIRS_REPLACE) return !r->renamed;
    if (step->actor == PAIRS_TOOL) return true;
    switch (step->kind) {
    case PAIRS_ENDDEF:
        return s != NULL && s->defining;
    case PAIRS_REDEF:
        return s != NULL && s->writes && !s->defining &&
               (s->present >> step->var & 1) == 0;
    case PAIRS_PUT:
        return s != NULL && s->writes && !s->defining && (s->present >> step->var & 1);
    case PAIRS_GET:
        return s != NULL && !s->defining;
    case PAIRS_SYNC:
        return s != NULL && s->writes && !s->defining;
    case PAIRS_CLOSE:
    case PAIRS_ABORT:
        return s != NULL;
    case PAIRS_WAIT:
        return r->plan->jobs[step->actor].stack->waits;
    default:
        return s == NULL;
    }
}

static void replace_file(struct pairs_run *r, struct pairs_op *op)
{
    char template[128];
    snprintf(template, sizeof template, "%s/other.nc", pairs_place.dir);
    op->made = PAIRS_OTHER;
    if (!copy_file(template, path_of("other.nc")) ||
        rename(path_of("other.nc"), path_of("a.nc")) != 0)
        pairs_fail(r, PAIRS_BROKEN, "the other file cannot be renamed");
    op->phase = 2;
    op->end = ++r->clock;
    r->renamed = true;
    print_op(r, op);
}

static void count_pair(const struct pairs_step *step)
{
    static int last_actor;
    static enum pairs_kind last;
    if (last_actor != step->actor) pairs_counts.pairs[last][step->kind]++;
    last = step->kind;
    last_actor = step->actor;
    pairs_counts.steps++;
    pairs_counts.together += step->together;
}

static void begin_step(struct pairs_run *r, const struct pairs_step *step, int number)
{
    static struct pairs_order order;
    const int actor = step->actor;
    if (!applies(r, step) || r->nops == PAIRS_OPS) return;
    count_pair(step);
    if (step->kind == PAIRS_CONTINUE) {
        pairs_actor_continue(actor);
        return;
    }
    struct pairs_op *op = &r->ops[r->nops++];
    *op = (struct pairs_op){.step = step,
                            .number = number,
                            .session = r->of_actor[actor],
                            .begin = ++r->clock,
                            .end = PAIRS_NEVER,
                            .made = is_create(step->kind) ? number : -1,
                            .commit = PAIRS_NEVER};
    if (op->session >= 0 && (step->kind == PAIRS_CLOSE || step->kind == PAIRS_ABORT))
        r->sessions[op->session].closing = op->begin;
    if (step->kind == PAIRS_KILL) {
        const bool busy = r->op_of[actor] >= 0;
        pairs_actor_kill(actor);
        op->end = ++r->clock;
        if (busy)
            finish_op(r, actor);
        else
            note_killed(r, actor);
        print_op(r, op);
    } else if (step->kind == PAIRS_REPLACE) {
        replace_file(r, op);
    } else if (actor == PAIRS_TOOL) {
        r->op_of[actor] = r->nops - 1;
        start_tool(step);
    } else {
        fill_order(&order, r, op, r->plan->jobs[actor].stack);
        r->op_of[actor] = r->nops - 1;
        if (!pairs_actor_get(actor, r->plan->jobs[actor].procs) ||
            !pairs_actor_order(actor, &order))
            pairs_fail(r, PAIRS_BROKEN, "the processes of %s cannot be started",
                       pairs_actor_name(actor));
    }
}

/* ---- the end of a schedule ---- */

/* Performs a step that is not part of the plan, and waits until it ends. */
static void add_step(struct pairs_run *r, enum pairs_kind kind, int actor)
{
    static struct pairs_step steps[PAIRS_KINDS][PAIRS_ACTORS];
    struct pairs_step *step = &steps[kind][actor];
    *step = (struct pairs_step){.kind = kind, .actor = actor};
    if (r->verdict == PAIRS_HANG || r->verdict == PAIRS_BROKEN) return;
    begin_step(r, step, PAIRS_STEPS + r->nops);
    wait_for(r);
}

static void close_all(struct pairs_run *r)
{
    for (int i = 0; i < PAIRS_ACTORS; i++)
        if (pairs_actors[i].state == PAIRS_ASLEEP) add_step(r, PAIRS_CONTINUE, i);
    for (int i = 0; i < r->plan->njobs; i++) {
        if (r->of_actor[i] >= 0) {
            const struct pairs_session *s = &r->sessions[r->of_actor[i]];
            add_step(r, s->defining && s->told != PAIRS_NEVER ? PAIRS_ABORT : PAIRS_CLOSE,
                     i);
        }
    }
    for (int i = 0; i < r->plan->njobs; i++)
        if (pairs_actors[i].state == PAIRS_IDLE) add_step(r, PAIRS_WAIT, i);
}

static int entries(const char *path, bool (*is_wrong)(const char *name), char *which,
                   size_t size)
{
    DIR *dir = opendir(path);
    int n = 0;
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] == '.' || !is_wrong(e->d_name)) continue;
        snprintf(which, size, "%.200s", e->d_name);
        n++;
    }
    if (dir != NULL) closedir(dir);
    return n;
}

static bool is_any(const char *name)
{
    (void)name;
    return true;
}

static bool is_unexpected(const char *name)
{
    return strcmp(name, "a.nc") != 0 && strcmp(name, "logs") != 0;
}

static bool is_no_part(const char *name)
{
    return is_unexpected(name) && (strncmp(name, "a.nc.0", 6) != 0 || strlen(name) != 9);
}

/* Recovers what killed jobs left behind, as the next job or an administrator would. If
 * the recovery fails, its error counts as a report that values may be lost. */
static void recover(struct pairs_run *r)
{
    static struct pairs_reply got;
    char text[PAIRS_TEXT] = "";
    const struct pairs_stack *burst = &pairs_stacks[1];
    if (r->kills == 0) return;
    int rc = read_fresh(r, path_of("a.nc"), burst, &got);
    if (r->trace) printf("    recovery: %s\n", rc == NC_NOERR ? "ok" : got.text);
    if (entries(path_of("logs"), is_any, text, sizeof text) == 0) return;
    if (run_tool(PAIRS_REPLAY, text, sizeof text) != 0 || rc != NC_NOERR) {
        r->logs_refused = true;
        if (r->trace) printf("    replay: %s\n", text);
        clear_folder(path_of("logs"));
        rc = read_fresh(r, path_of("a.nc"), no_stack, &got);
    }
}

static void judge_leftovers(struct pairs_run *r, bool blob)
{
    char which[256];
    /* If an error was reported, logs with values that could not be written may remain. */
    for (int i = 0; i < r->nsessions; i++)
        if (r->sessions[i].told != PAIRS_NEVER) return;
    if (r->kills > 0 || r->renamed) return;
    if (entries(pairs_place.run, blob ? is_no_part : is_unexpected, which, sizeof which) >
            0 ||
        entries(path_of("logs"), is_any, which, sizeof which) > 0)
        pairs_fail(r, PAIRS_LEFTOVER, "%s", which);
}

/* Runs a tool that must accept the dataset. A file that a killed job left may end before
 * the last values, and tools may report that. */
static bool is_accepted(struct pairs_run *r, enum pairs_kind kind)
{
    char text[PAIRS_TEXT] = "";
    const int status = run_tool(kind, text, sizeof text);
    if (status == 0) return true;
    for (int i = 0; i < r->nops; i++) /* a partly deleted dataset */
        if (r->ops[i].step->kind == PAIRS_DELETE && r->ops[i].killed &&
            strstr(text, "missing") != NULL)
            return false;
    if (r->kills > 0 && (strstr(text, "the number of records is") != NULL ||
                         strstr(text, "the file ends") != NULL ||
                         strstr(text, "it was truncated") != NULL))
        return false;
    pairs_fail(r, PAIRS_INVALID, "%s", text);
    return false;
}

static void judge_tools(struct pairs_run *r, const struct pairs_reply *got, bool blob)
{
    static struct pairs_reply joined;
    if (!is_accepted(r, PAIRS_VALIDATE) || !blob || !is_accepted(r, PAIRS_JOIN)) return;
    if (read_fresh(r, path_of("out.nc"), NULL, &joined) != NC_NOERR)
        pairs_fail(r, PAIRS_INVALID, "the joined file: %s", joined.text);
    else if (joined.records != got->records ||
             memcmp(joined.values, got->values, sizeof got->values) != 0)
        pairs_fail(r, PAIRS_LIE, "the joined file has other values");
    unlink(path_of("out.nc"));
}

static void judge(struct pairs_run *r)
{
    static struct pairs_reply got;
    int rc = read_fresh(r, path_of("a.nc"), NULL, &got);
    const bool blob = is_master(path_of("a.nc"));
    if (r->trace)
        printf("    read: %s, dataset %d\n", rc == NC_NOERR ? "ok" : got.text,
               rc == NC_NOERR ? got.made : -1);
    pairs_judge_end(r, rc == NC_NOERR ? &got : NULL);
    if (r->verdict == PAIRS_UNREADABLE) {
        size_t n = strlen(r->what);
        snprintf(r->what + n, sizeof r->what - n, ": %s", got.text);
    }
    if (rc == NC_NOERR && r->verdict == PAIRS_FINE) judge_tools(r, &got, blob);
    judge_leftovers(r, rc == NC_NOERR && blob);
}

void pairs_play(struct pairs_run *r, const struct pairs_plan *plan)
{
    r->plan = plan;
    clear_folder(pairs_place.run);
    mkdir(path_of("logs"), 0700);
    for (int i = 0; i < PAIRS_ACTORS; i++)
        r->of_actor[i] = r->op_of[i] = -1;
    for (int i = 0; i < plan->nsteps && r->verdict == PAIRS_FINE; i++) {
        if (plan->left_out[i]) continue;
        begin_step(r, &plan->steps[i], i);
        if (!plan->steps[i].together) wait_for(r);
    }
    if (r->verdict == PAIRS_FINE) {
        wait_for(r);
        close_all(r);
    }
    if (r->verdict == PAIRS_FINE) {
        recover(r);
        judge(r);
    }
    /* Processes that got an error, or have not finished, are not reused. */
    for (int i = 0; i < PAIRS_ACTORS; i++)
        if (r->verdict != PAIRS_FINE || r->of_actor[i] >= 0 ||
            pairs_actors[i].state == PAIRS_ASLEEP)
            pairs_actor_kill(i);
    pairs_counts.schedules++;
    pairs_counts.verdicts[r->verdict]++;
}
