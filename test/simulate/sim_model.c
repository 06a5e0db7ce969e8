/* What must be true, of what was begun and told: doc/reliability.md and doc/behaviour.md.
 * An element is one process's, so that what it may hold is what that one has put, in the
 * order of the program:
 *
 * - what was put last, as all processes were told, or later, whatever becomes of them;
 * - with the power gone, what was put and told before a sync that told success, or later;
 *   with a node gone that had kept writes, likewise, or before a close;
 * - where nothing has gone wrong, what was put last.
 *
 * A variable is there if the enddef that made it told success, and before that may be;
 * with the power gone, only what a sync made sure of. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

enum {
    NOT = -9999, /* has not returned */
    EBADLOG = -238
};

static bool begun[SIM_TELLS][SIM_PROCESSES];
static int told[SIM_TELLS][SIM_PROCESSES];
static char said[SIM_TELLS][600];
static bool harmed, powerless, erred, finding;
static int64_t records_told[SIM_SETS] = {-1, -1};
static bool lossy; /* what nobody has synced may be gone: with the power, or a node */
static bool writes_lost; /* ... by a sync that failed, of which an op tells */

/* ---- what is told ---- */

static void prepare(void)
{
    if (finding) return;
    finding = true;
    for (int i = 0; i < SIM_TELLS; i++)
        for (int k = 0; k < SIM_PROCESSES; k++)
            told[i][k] = NOT;
}

void sim_harmed(enum sim_harm harm)
{
    harmed = true;
    powerless |= harm == SIM_POWER;
    lossy |= powerless || (harm == SIM_NODE && sim_mount_loses(sim_the_plan()->mount));
    erred |= harm == SIM_ERROR;
}

void sim_lost_writes(void)
{
    lossy = writes_lost = true;
    sim_note("writes are lost");
}

void sim_next_job(void)
{
    prepare();
    for (int op = SIM_OPENED; op < SIM_TELLS; op++)
        for (int k = 0; k < SIM_PROCESSES; k++)
            told[op][k] = NOT;
    for (int set = 0; set < SIM_SETS; set++)
        records_told[set] = -1;
}

void sim_begins(int op)
{
    prepare();
    begun[op][sim_self()->rank] = true;
    sim_note("begins %d", op);
}

void sim_told(int op, int err, const char *words)
{
    prepare();
    told[op][sim_self()->rank] = err;
    sim_note("told %d: %d %s", op, err, words);
    if (err == 0) return;
    snprintf(said[op], sizeof said[op], "%s", words);
    if (!harmed)
        sim_fail(SIM_LOST, "op %d is told %d without a fault: %s", op, err, words);
}

void sim_told_wrong(const char *what, int expected, int err)
{
    sim_note("%s: %d", what, err);
    if (!harmed && err != expected)
        sim_fail(SIM_WRONG, "%s is told %d, not %d", what, err, expected);
}

void sim_got_records(int set, int64_t n)
{
    records_told[set] = n;
}

/* Have they all been told success? (A collective call that one is told so of has been
 * completed by all.) */
static bool any_told(int op)
{
    prepare();
    for (int k = 0; k < sim_the_plan()->procs; k++)
        if (told[op][k] == 0) return true;
    return false;
}

static bool all_told(int op)
{
    for (int k = 0; k < sim_the_plan()->procs; k++)
        if (told[op][k] != 0) return false;
    return true;
}

/* ---- what an element may hold ---- */

/* Ops that may have put it; what was there before any, and whatever. */
struct may {
    uint32_t ops;
    bool fill, anything;
};

/* A close brings all to the file, and only a sync to the device. */
static bool secures(int op, int set)
{
    const struct sim_op *o = &sim_the_plan()->ops[op];
    return o->set == set &&
           (o->what == SIM_SYNC || (o->what == SIM_REOPEN && !powerless));
}

/* Has any process been told that values may not have got there? */
static bool tells_loss(int op)
{
    for (int k = 0; k < sim_the_plan()->procs && writes_lost; k++)
        if (begun[op][k] && told[op][k] != 0) return true;
    return false;
}

static bool closing_secures(int set)
{
    const int op = SIM_CLOSED + set;
    return !powerless && any_told(op) && !tells_loss(op);
}

/* Must it be there, if that was told success, and then the ops from first on? */
static bool sure_since(int tell, int set, int first)
{
    const struct sim_plan *p = sim_the_plan();
    if (!any_told(tell)) return false;
    if (!lossy) return true;
    for (int op = first; op < p->nops; op++) {
        if (p->ops[op].set == set && tells_loss(op)) return false;
        if (secures(op, set) && any_told(op)) return true;
    }
    return closing_secures(set);
}

static bool sure(int op)
{
    return sure_since(op, sim_the_plan()->ops[op].set, op + 1);
}

static bool sure_of_set(int set)
{
    return sure_since(SIM_CREATED + set, set, 0);
}

/* The mode that creation sets is an opening's: what is defined later is not filled, and
 * records are not at all. */
static bool is_filled(int var)
{
    const struct sim_plan *p = sim_the_plan();
    for (int op = 0; op < p->vars[var].since; op++)
        if (p->ops[op].what == SIM_REOPEN && p->ops[op].set == p->vars[var].set)
            return false;
    return p->fill && !p->vars[var].record;
}

/* Before op `until` begins: for its owner, who gets what it has put last, or for who
 * comes later. */
static struct may may_hold(int var, int64_t row, int64_t i, int until, bool own)
{
    const struct sim_plan *p = sim_the_plan();
    bool fills = is_filled(var);
    const int set = p->vars[var].set;
    struct may m = {.anything = true};
    int last = NOT; /* the last put, if that told success */
    for (int op = 0, who; op < until && op < p->nops; op++) {
        if (p->ops[op].set == set && tells_loss(op)) {
            last = NOT;
            fills = false;
        }
        if (sim_covers(p, op, var, row, i, &who) && begun[op][who]) {
            last = told[op][who] == 0 ? op : NOT;
            if (last != NOT && (own ? !writes_lost : !lossy && all_told(op)))
                m = (struct may){0};
            m.ops |= 1u << op;
        } else if (secures(op, set) && any_told(op) && op > p->vars[var].since) {
            if (last != NOT) m = (struct may){.ops = 1u << last};
            if (m.ops == 0 && fills) m = (struct may){.fill = true};
        }
    }
    if (until < SIM_TELLS || !closing_secures(set)) return m;
    if (last != NOT) return (struct may){.ops = 1u << last};
    return m.ops == 0 && fills ? (struct may){.fill = true} : m;
}

static bool allows(const struct may *m, int var, int64_t row, int64_t i, double value)
{
    const struct sim_plan *p = sim_the_plan();
    if (m->anything && !p->framed) /* fill values, zeros of a hole, or what was put */
        return true;
    if (m->anything && (value == 0 || value == sim_value(p, -1, var, row, i)))
        return true;
    if (m->fill && value == sim_value(p, -1, var, row, i)) return true;
    for (int op = 0; op < p->nops; op++)
        if (m->ops >> op & 1 && value == sim_value(p, op, var, row, i)) return true;
    return false;
}

/* Is it what who gets integers makes of a double? */
static bool is_whole_part(double value, const unsigned char bytes[8])
{
    uint64_t bits = 0;
    double real;
    for (int k = 0; k < 8; k++)
        bits = bits << 8 | bytes[k];
    memcpy(&real, &bits, sizeof real);
    return trunc(real) == value;
}

/* Where two pages meet in an element, and the power went, it may have bytes of two. */
static bool is_torn(const struct may *m, int var, int64_t row, int64_t i, double value)
{
    const struct sim_plan *p = sim_the_plan();
    const int size = sim_type_size(p->vars[var].type);
    unsigned char is[8], of[SIM_OPS + 2][8];
    int n = 0;
    if (!lossy && !m->anything) return false;
    if (m->anything) sim_encode(p->vars[var].type, 0, of[n++]);
    sim_encode(p->vars[var].type, value, is);
    for (int op = -1; op < p->nops; op++)
        if (op < 0 ? m->fill || m->anything : m->ops >> op & 1)
            sim_encode(p->vars[var].type, sim_value(p, op, var, row, i), of[n++]);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            for (int k = 1; k < size; k++) {
                unsigned char mixed[8];
                memcpy(mixed, of[a], sizeof mixed);
                memcpy(mixed + k, of[b] + k, (size_t)(size - k));
                if (memcmp(is, mixed, (size_t)size) == 0 ||
                    (p->vars[var].type == 6 && is_whole_part(value, mixed)))
                    return true;
            }
    return false;
}

static void check_value(const struct may *m, int var, int64_t row, int64_t i,
                        double value, const char *by)
{
    char words[600] = "";
    if (allows(m, var, row, i, value) || is_torn(m, var, row, i, value)) return;
    for (int op = 0; op < sim_the_plan()->nops; op++)
        if (m->ops >> op & 1)
            snprintf(words + strlen(words), sizeof words - strlen(words),
                     " %.17g (op %d)", sim_value(sim_the_plan(), op, var, row, i), op);
    sim_fail(SIM_WRONG, "%s: v%d[%lld][%lld] is %.17g, not%s%s", by, var, (long long)row,
             (long long)i, value, words, m->fill ? " fill" : "");
}

void sim_got(int op, int var, int64_t row, const double *values)
{
    const struct sim_process *me = sim_self();
    const bool beside = sim_the_plan()->company == SIM_BESIDE;
    if (me->job > 0 && (!sure_of_set(sim_the_plan()->vars[var].set) || beside))
        return; /* what there is to be then, the file says in the end */
    for (int64_t i = 0; i < sim_row(sim_the_plan(), var); i++) {
        if (me->job == 0 && sim_owner(sim_the_plan(), var, i) != me->rank) continue;
        struct may m = may_hold(var, row, i, me->job == 0 ? op : SIM_TELLS, me->job == 0);
        check_value(&m, var, row, i, values[i], "the library");
    }
}

/* With the power the frames may be gone of what was put since the last sync, if that was
 * the first time, and then getting it is an error. */
static bool may_lack_frames(int var, int64_t row, int who)
{
    const struct sim_plan *p = sim_the_plan();
    for (int64_t i = 0; i < sim_row(p, var) && p->framed && lossy; i++) {
        if (sim_owner(p, var, i) != who) continue;
        struct may m = may_hold(var, row, i, SIM_TELLS, false);
        if (m.anything && m.ops != 0) return true;
    }
    return false;
}

static bool may_lack_any(int set)
{
    const struct sim_plan *p = sim_the_plan();
    for (int var = 0; var < p->nvars; var++)
        for (int64_t row = 0; row < SIM_RECORDS && p->vars[var].set == set; row++)
            for (int who = 0; who < p->procs; who++)
                if (may_lack_frames(var, row, who)) return true;
    return false;
}

void sim_lacks(int var, int64_t row, int who, const char *words)
{
    sim_note("v%d[%lld] of process %d: %s", var, (long long)row, who, words);
    if (sim_the_plan()->company == SIM_BESIDE ||
        !sure_of_set(sim_the_plan()->vars[var].set))
        return;
    if (!sim_is_of_frames(words) || !may_lack_frames(var, row, who))
        sim_fail(SIM_LOST, "v%d[%lld] of process %d cannot be read: %s", var,
                 (long long)row, who, words);
}

void sim_got_part(int var, int64_t row, int who, const double *values)
{
    const struct sim_plan *p = sim_the_plan();
    if (p->company == SIM_BESIDE || !sure_of_set(p->vars[var].set)) return;
    for (int64_t i = 0, k = 0; i < sim_row(p, var); i++) {
        if (sim_owner(p, var, i) != who) continue;
        struct may m = may_hold(var, row, i, SIM_TELLS, false);
        check_value(&m, var, row, i, values[k++], "the library");
    }
}

/* ---- the file ---- */

static bool sure_of(int var)
{
    const struct sim_var *v = &sim_the_plan()->vars[var];
    return v->since < 0 ? sure_of_set(v->set) : sure(v->since);
}

void sim_got_attribute(int op, bool there, bool right)
{
    const struct sim_plan *p = sim_the_plan();
    bool taken = false, may_be_taken = false;
    if (p->company == SIM_BESIDE || !sure_of_set(p->ops[op].set)) return;
    for (int later = op + 1; later < p->nops; later++) {
        if (p->ops[later].what != SIM_REDEFINE || sim_taken(p, later) != op) continue;
        taken |= sure(later);
        for (int k = 0; k < p->procs; k++)
            may_be_taken |= begun[later][k];
    }
    if (there && !right) sim_fail(SIM_WRONG, "the attribute of op %d is another", op);
    if (there && taken) sim_fail(SIM_LOST, "the attribute of op %d is back", op);
    if (!there && sure(op) && !may_be_taken)
        sim_fail(SIM_LOST, "the attribute of op %d is gone", op);
}

void sim_misses(int var)
{
    if (sim_the_plan()->company != SIM_BESIDE && sure_of(var))
        sim_fail(SIM_LOST, "the library does not find v%d", var);
}

static int find(const struct sim_decoded *d, int var)
{
    char name[16];
    snprintf(name, sizeof name, "v%d", var);
    for (int v = 0; v < d->nvars; v++)
        if (strcmp(d->vars[v].name, name) == 0) return v;
    return -1;
}

/* At least as many as were made sure of; at most as were begun. */
static void check_records(int set, int64_t n, const char *by)
{
    const struct sim_plan *p = sim_the_plan();
    int64_t least = 0, most = 0;
    for (int var = 0; var < p->nvars; var++) {
        if (!p->vars[var].record || p->vars[var].set != set) continue;
        for (int64_t row = 0; row < SIM_RECORDS; row++)
            for (int64_t i = 0; i < sim_row(p, var); i++) {
                struct may m = may_hold(var, row, i, SIM_TELLS, false);
                if (m.ops != 0 && row >= most) most = row + 1;
                if (m.ops != 0 && !m.anything && row >= least) least = row + 1;
            }
    }
    if (n < least)
        sim_fail(SIM_LOST, "%s: %lld records, %lld were made sure of", by, (long long)n,
                 (long long)least);
    if (n > most)
        sim_fail(SIM_WRONG, "%s: %lld records, %lld at most were put", by, (long long)n,
                 (long long)most);
}

static void check_var(const struct sim_decoded *d, int v, int var,
                      const struct sim_bytes *bytes, const char *by)
{
    const struct sim_plan *p = sim_the_plan();
    if (d->vars[v].type != p->vars[var].type || d->vars[v].row != sim_row(p, var) ||
        d->vars[v].record != p->vars[var].record ||
        (!d->vars[v].record && d->vars[v].rows != p->vars[var].rows))
        sim_fail(SIM_WRONG, "%s: v%d is another one", by, var);
    for (int64_t row = 0; row < d->vars[v].rows; row++)
        for (int64_t i = 0; i < d->vars[v].row; i++) {
            struct may m = may_hold(var, row, i, SIM_TELLS, false);
            check_value(&m, var, row, i, sim_decoded_value(d, bytes, v, row, i), by);
        }
}

/* "a.nc.0003" */
static bool is_part(const char *name, int set)
{
    const char *path = sim_path(set);
    const size_t n = strlen(path);
    return strncmp(name, path, n) == 0 && name[n] == '.' &&
           strspn(name + n + 1, "0123456789") == 4 && name[n + 5] == '\0';
}

/* The dataset's own; subfiles may be left by who was killed when the one file had its
 * name already. */
static bool belongs(const char *name, int set)
{
    const struct sim_plan *p = sim_the_plan();
    const bool parts = p->parts && !(p->joined && !harmed);
    return strcmp(name, sim_path(set)) == 0 || (parts && is_part(name, set));
}

/* A journal that nobody needs any more, and that could not be looked at in time; a file
 * with which nodes were trying whether they see each other's writes when one died; a
 * staged file that a job left, until somebody stages more than a minute later; and the
 * notes that were asked for. */
static bool is_set_aside(const char *name)
{
    return (erred && strstr(name, ".redef.") != NULL) ||
           (harmed && strstr(name, ".trial-") != NULL) ||
           (harmed && strstr(name, "/.ncmpi-stage-") != NULL) ||
           strncmp(name, SIM_NOTES, strlen(SIM_NOTES)) == 0;
}

/* Without locks, what was just made may be somebody's who lives. */
static void check_what_is_left(void)
{
    const char *name;
    if (sim_the_plan()->lockless && harmed) return;
    for (int i = 0; (name = sim_name(i)) != NULL; i++) {
        bool known = is_set_aside(name);
        for (int set = 0; set < sim_the_plan()->sets; set++)
            known |= belongs(name, set);
        if (!known) sim_fail(SIM_LEFT, "%s is left behind", name);
    }
}

/* Without the library; one with subfiles is a file of its own kind. */
static void check_file(int set, const struct sim_file *f, const char *by)
{
    const struct sim_plan *p = sim_the_plan();
    struct sim_decoded d;
    sim_decode(&d, &f->now);
    if (!d.there || d.wrong[0] != '\0') sim_fail(SIM_LOST, "%s is none: %s", by, d.wrong);
    check_records(set, d.records, by);
    for (int var = 0, v; var < p->nvars; var++) {
        if (p->vars[var].set != set) continue;
        if ((v = find(&d, var)) >= 0)
            check_var(&d, v, var, &f->now, by);
        else if (sure_of(var))
            sim_fail(SIM_LOST, "%s has no v%d", by, var);
    }
}

/* False: anything may be there, and be left. */
static bool judge_set(int set)
{
    const struct sim_plan *p = sim_the_plan();
    const struct sim_file *f = sim_name_find(sim_path(set));
    const int opened = SIM_OPENED + set, got = SIM_GET_AFTER + set,
              closed = SIM_CLOSED_AFTER + set;
    if (!sure_of_set(set)) return false;
    if (f == NULL) sim_fail(SIM_LOST, "%s is gone", sim_path(set));
    /* As doc/burst-buffer.md says of several openings that write at the same time. */
    if (told[opened][0] == EBADLOG && p->company == SIM_BESIDE) return false;
    if (told[opened][0] != 0) sim_fail(SIM_LOST, "it cannot be opened: %s", said[opened]);
    bool lacks = sim_is_of_frames(said[closed]) && may_lack_any(set);
    if (told[closed][0] != 0 && !lacks)
        sim_fail(SIM_LOST, "it cannot be closed: %s", said[closed]);
    if (told[got][0] > NOT && told[got][0] != 0)
        sim_fail(SIM_LOST, "it cannot be read: %s", said[got]);
    check_records(set, records_told[set], "the library");
    if (!p->parts || (p->joined && !harmed)) check_file(set, f, "the file");
    return true;
}

void sim_judge(void)
{
    const struct sim_file *whole = sim_name_find(SIM_WHOLE);
    prepare();
    bool known = true;
    for (int set = 0; set < sim_the_plan()->sets; set++)
        known = judge_set(set) && known;
    /* ncmpijoin does not know of logs that were left. */
    bool logged = harmed && strstr(sim_the_plan()->hints, "nc_burst_buf=enable") != NULL;
    if (whole != NULL && sure_of_set(0) && !logged)
        check_file(0, whole, "the joined file");
    if (known) check_what_is_left();
}
