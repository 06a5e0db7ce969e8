/* The model. From the calls that began and their results, it derives what the files may
 * contain according to doc/reliability.md and doc/behaviour.md. If the files contain
 * anything else, the model ends the run with a verdict. All puts to the same element have
 * a definite order. After the last job, an element may have
 *
 * - without a fault: the value that was put last;
 * - after processes were killed: the value of the last put that succeeded on all
 *   processes, or of a later one;
 * - after a power failure: the value of the last put that was followed by a successful
 *   sync, or of a later one; after the failure of a node that caches writes: the same,
 *   except that a successful close counts as a sync.
 *
 * A variable must exist if the enddef that defined it succeeded and, in the case of a
 * power failure, was followed by a sync. It may exist if that enddef was begun. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

enum {
    NOT = -9999, /* the op has begun but has not returned */
    EBADLOG = -238
};

static bool begun[SIM_TELLS][SIM_PROCESSES];
static int told[SIM_TELLS][SIM_PROCESSES];
static char said[SIM_TELLS][600];
static bool harmed, powerless, erred, finding;
static int64_t records_told[SIM_SETS] = {-1, -1};
static bool lossy;       /* whether a fault may have lost unsynced data */
static bool writes_lost; /* whether a failed sync has discarded writes */

/* ---- results of operations ---- */

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
    if (harm != SIM_NOTHING && harm != SIM_STOP) sim_lease_harmed();
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
    sim_lease_begins(op);
    sim_note("begins %d", op);
}

void sim_told(int op, int err, const char *words)
{
    prepare();
    told[op][sim_self()->rank] = err;
    sim_lease_told(op, err);
    sim_note("told %d: %d %s", op, err, words);
    if (err == 0) return;
    snprintf(said[op], sizeof said[op], "%s", words);
    if (!harmed)
        sim_fail(SIM_LOST, "op %d returned %d without a fault: %s", op, err, words);
}

void sim_told_wrong(const char *what, int expected, int err)
{
    sim_note("%s: %d", what, err);
    if (!harmed && err != expected)
        sim_fail(SIM_WRONG, "%s: returned %d instead of %d", what, err, expected);
}

void sim_got_records(int set, int64_t n)
{
    records_told[set] = n;
}

/* Returns whether an op has succeeded on any process. If a collective call succeeds on
 * one process, it is complete on all of them. */
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

/* ---- permitted values ---- */

/* The values that an element may have: those put by the ops in a bit mask, the fill
 * value, or anything that the file contained before. */
struct may {
    uint32_t ops;
    bool fill, anything;
};

/* Returns whether an op of this kind makes earlier data safe. A close writes the data to
 * the file system, but only a sync writes it to the device. */
static bool secures(int op, int set)
{
    const struct sim_op *o = &sim_the_plan()->ops[op];
    return o->set == set &&
           (o->what == SIM_SYNC || (o->what == SIM_REOPEN && !powerless));
}

/* Returns whether an op may have reported that writes were lost, because it began but did
 * not succeed on all processes. */
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

/* Returns whether an op's effect must be in the file. The op must have succeeded. If a
 * fault may have lost data, the close or an op from `first` on must also have made the
 * effect safe. */
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

/* Returns whether a variable is filled. The fill mode set at creation applies to
 * variables that are defined before the dataset is closed, except for record
 * variables. */
static bool is_filled(int var)
{
    const struct sim_plan *p = sim_the_plan();
    for (int op = 0; op < p->vars[var].since; op++)
        if (p->ops[op].what == SIM_REOPEN && p->ops[op].set == p->vars[var].set)
            return false;
    return p->fill && !p->vars[var].record;
}

/* Returns the permitted values of an element before op `until` begins. If `own` is set,
 * the element's owner reads it in the first job and must get the value that it put
 * last. */
static struct may may_hold(int var, int64_t row, int64_t i, int until, bool own)
{
    const struct sim_plan *p = sim_the_plan();
    bool fills = is_filled(var);
    const int set = p->vars[var].set;
    struct may m = {.anything = true};
    int last = NOT; /* last put; NOT if there is none or its values may be lost */
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

/* A value that was read, in the representation of a type in memory. */
struct found {
    int var, memory;
    int64_t row, i;
    uint64_t value;
};

/* Returns whether a read of `value`, which has the variable's type, results in f. */
static bool is_same(const struct found *f, uint64_t value)
{
    const struct sim_plan *p = sim_the_plan();
    uint64_t converted;
    return plan_convert(p->format, p->vars[f->var].type, value, f->memory, &converted) &&
           plan_is_same(f->memory, converted, f->value);
}

/* Returns whether an element has the value that an op has put, or the fill value if op is
 * -1. */
static bool is_put(const struct found *f, int op)
{
    return is_same(f, sim_value(sim_the_plan(), op, f->var, f->row, f->i));
}

static bool allows(const struct may *m, const struct found *f)
{
    const struct sim_plan *p = sim_the_plan();
    if (m->anything && !p->framed) /* fill value, zeros from a hole, or a put value */
        return true;
    if (m->anything && (is_same(f, 0) || is_put(f, -1))) return true;
    if (m->fill && is_put(f, -1)) return true;
    for (int op = 0; op < p->nops; op++)
        if (m->ops >> op & 1 && is_put(f, op)) return true;
    return false;
}

/* Returns whether a value combines bytes from two permitted values. An element that
 * crosses a page boundary may be torn if data was lost. */
static bool is_torn(const struct may *m, const struct found *f)
{
    const struct sim_plan *p = sim_the_plan();
    const int size = sim_type_size(p->vars[f->var].type);
    uint64_t of[SIM_OPS + 2];
    int n = 0;
    if (!lossy && !m->anything) return false;
    if (m->anything) of[n++] = 0;
    for (int op = -1; op < p->nops; op++)
        if (op < 0 ? m->fill || m->anything : m->ops >> op & 1)
            of[n++] = sim_value(p, op, f->var, f->row, f->i);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            for (int k = 1; k < size; k++) {
                const uint64_t low = (UINT64_C(1) << 8 * k) - 1;
                if (is_same(f, (of[a] & ~low) | (of[b] & low))) return true;
            }
    return false;
}

static void check_value(const struct may *m, const struct found *f, const char *by)
{
    char words[600] = "";
    if (allows(m, f) || is_torn(m, f)) return;
    for (int op = 0; op < sim_the_plan()->nops; op++)
        if (m->ops >> op & 1)
            snprintf(
                words + strlen(words), sizeof words - strlen(words), " %#llx (op %d)",
                (unsigned long long)sim_value(sim_the_plan(), op, f->var, f->row, f->i),
                op);
    sim_fail(SIM_WRONG, "%s: v%d[%lld][%lld] is %#llx (%.17g), not%s%s", by, f->var,
             (long long)f->row, (long long)f->i, (unsigned long long)f->value,
             plan_number(f->memory, f->value), words, m->fill ? " fill" : "");
}

void sim_got(int op, int var, int64_t row, int memory, const uint64_t *values)
{
    const struct sim_process *me = sim_self();
    const bool beside = sim_the_plan()->company == SIM_BESIDE;
    if (me->job > 0 && (!sure_of_set(sim_the_plan()->vars[var].set) || beside))
        return; /* the file itself is checked at the end of the run */
    for (int64_t i = 0; i < sim_row(sim_the_plan(), var); i++) {
        if (me->job == 0 && sim_owner(sim_the_plan(), var, i) != me->rank) continue;
        struct may m = may_hold(var, row, i, me->job == 0 ? op : SIM_TELLS, me->job == 0);
        check_value(&m, &(struct found){var, memory, row, i, values[i]}, "the library");
    }
}

/* Returns whether a process's part of a row may be unreadable. If the part was first put
 * after the last sync, a power failure may have destroyed the compressed frames that
 * contain it. */
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

void sim_got_part(int var, int64_t row, int who, int memory, const uint64_t *values)
{
    const struct sim_plan *p = sim_the_plan();
    if (p->company == SIM_BESIDE || !sure_of_set(p->vars[var].set)) return;
    for (int64_t i = 0, k = 0; i < sim_row(p, var); i++) {
        if (sim_owner(p, var, i) != who) continue;
        struct may m = may_hold(var, row, i, SIM_TELLS, false);
        check_value(&m, &(struct found){var, memory, row, i, values[k++]}, "the library");
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
    if (there && !right) sim_fail(SIM_WRONG, "the attribute of op %d is wrong", op);
    if (there && taken) sim_fail(SIM_LOST, "the deleted attribute of op %d exists", op);
    if (!there && sure(op) && !may_be_taken)
        sim_fail(SIM_LOST, "the attribute of op %d is missing", op);
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

/* Checks the number of records. It must include all records that were made safe, and may
 * include those for which a put began. */
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
        sim_fail(SIM_LOST, "%s: %lld records, but %lld were safe", by, (long long)n,
                 (long long)least);
    if (n > most)
        sim_fail(SIM_WRONG, "%s: %lld records, but at most %lld were put", by,
                 (long long)n, (long long)most);
}

static void check_var(const struct sim_decoded *d, int v, int var,
                      const struct sim_bytes *bytes, const char *by)
{
    const struct sim_plan *p = sim_the_plan();
    if (d->vars[v].type != p->vars[var].type || d->vars[v].row != sim_row(p, var) ||
        d->vars[v].record != p->vars[var].record ||
        (!d->vars[v].record && d->vars[v].rows != p->vars[var].rows))
        sim_fail(SIM_WRONG, "%s: the definition of v%d is wrong", by, var);
    for (int64_t row = 0; row < d->vars[v].rows; row++)
        for (int64_t i = 0; i < d->vars[v].row; i++) {
            struct may m = may_hold(var, row, i, SIM_TELLS, false);
            const struct found f = {var, plan_memory_of(p->vars[var].type), row, i,
                                    sim_decoded_value(d, bytes, v, row, i)};
            check_value(&m, &f, by);
        }
}

/* Returns whether a name belongs to a subfile, as "a.nc.0003" does. */
static bool is_part(const char *name, int set)
{
    const char *path = sim_path(set);
    const size_t n = strlen(path);
    return strncmp(name, path, n) == 0 && name[n] == '.' &&
           strspn(name + n + 1, "0123456789") == 4 && name[n + 5] == '\0';
}

/* Returns whether a file belongs to a dataset. After a fault, subfiles may remain next to
 * the joined file, because a process that is killed after the rename leaves them
 * behind. */
static bool belongs(const char *name, int set)
{
    const struct sim_plan *p = sim_the_plan();
    const bool parts = p->parts && !(p->joined && !harmed);
    return strcmp(name, sim_path(set)) == 0 || (parts && is_part(name, set));
}

/* Returns whether a file that does not belong to a dataset may remain: a stale journal
 * that could not be examined because of an error; the temporary file of a coherence probe
 * or compaction that was killed; a staged file, which a later job deletes after a minute;
 * or a trace, report or hints file. */
static bool is_set_aside(const char *name)
{
    return (erred && strstr(name, ".redef.") != NULL) ||
           (harmed && strstr(name, ".trial-") != NULL) ||
           (harmed && strstr(name, ".compact-") != NULL) ||
           (harmed && strstr(name, "/.ncmpi-stage-") != NULL) ||
           strncmp(name, SIM_NOTES, strlen(SIM_NOTES)) == 0;
}

/* Checks that no other files remain. Without locks, a dead process's files may remain,
 * because other processes cannot find out that it is dead. */
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

/* Checks a file with the decoder. Skips the master file of a dataset in subfiles, because
 * the decoder cannot read it. */
static void check_file(int set, const struct sim_file *f, const char *by)
{
    const struct sim_plan *p = sim_the_plan();
    struct sim_decoded d;
    sim_decode(&d, &f->now);
    if (!d.there || d.wrong[0] != '\0')
        sim_fail(SIM_LOST, "%s is not a valid dataset: %s", by, d.wrong);
    check_records(set, d.records, by);
    for (int var = 0, v; var < p->nvars; var++) {
        if (p->vars[var].set != set) continue;
        if ((v = find(&d, var)) >= 0)
            check_var(&d, v, var, &f->now, by);
        else if (sure_of(var))
            sim_fail(SIM_LOST, "%s has no v%d", by, var);
    }
}

/* Checks a dataset. Returns false if arbitrary files may remain, either because the
 * dataset may not exist or because a tool was interrupted. */
static bool judge_set(int set)
{
    const struct sim_plan *p = sim_the_plan();
    const struct sim_file *f = sim_name_find(sim_path(set));
    const int opened = SIM_OPENED + set, got = SIM_GET_AFTER + set,
              closed = SIM_CLOSED_AFTER + set;
    if (!sure_of_set(set)) return false;
    /* The tool was killed before it renamed the joined file to the dataset's name. */
    if (p->tool == SIM_REMOVE && set == 0 && sim_name_find(SIM_WHOLE) != NULL)
        return false;
    if (f == NULL) sim_fail(SIM_LOST, "%s is missing", sim_path(set));
    /* If two jobs were writing at the same time, the open may return NC_EBADLOG
     * (doc/burst-buffer.md). */
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
    if (sim_lease_replaced()) return;
    bool known = true;
    for (int set = 0; set < sim_the_plan()->sets; set++)
        known = judge_set(set) && known;
    /* ncmpijoin does not replay logs, so the joined file may lack their values. */
    bool logged = harmed && strstr(sim_the_plan()->hints, "nc_burst_buf=enable") != NULL;
    const bool beside =
        sim_the_plan()->company == SIM_BESIDE; /* the joined file may be out of date */
    if (whole != NULL && sure_of_set(0) && !logged && !beside)
        check_file(0, whole, "the joined file");
    if (known) check_what_is_left();
}
