/* Checks the values that were read against the calls that were made.
 *
 * The clock counts the beginnings and ends of steps. Two calls that overlap may have
 * happened in either order, so the model assumes neither order. An incarnation is one of
 * the datasets that have had the dataset's name, one after another. Each incarnation was
 * made by a create or a rename, and its number is stored in the file as an attribute.
 * There are two rules.
 *
 * Which dataset exists: an incarnation exists until a taker (another create, a delete or
 * a rename) removes it. A value that was put after the last taker returned, and was
 * acknowledged, must be in the incarnation that exists at the end. An incarnation that
 * was removed must not come back.
 *
 * Which value is read: an acknowledged put f overwrites a put e if f began when e was
 * certainly in the file. A read may return any put that was not overwritten, and nothing
 * else. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pairs.h"

void pairs_fail(struct pairs_run *r, enum pairs_verdict verdict, const char *format, ...)
{
    va_list list;
    if (r->verdict != PAIRS_FINE || (r->ignored >> verdict & 1)) return;
    r->verdict = verdict;
    va_start(list, format);
    vsnprintf(r->what, sizeof r->what, format, list);
    va_end(list);
}

const char *pairs_verdict_name(enum pairs_verdict v)
{
    static const char *const names[PAIRS_VERDICTS] = {
        "fine",    "silent loss", "lie",      "unreadable", "unrefused",
        "refused", "invalid",     "leftover", "hang",       "broken"};
    return names[v];
}

static const struct pairs_session *session_of(const struct pairs_run *r,
                                              const struct pairs_op *op)
{
    return op->session < 0 ? NULL : &r->sessions[op->session];
}

static bool creates(const struct pairs_op *op)
{
    return op->step->kind == PAIRS_CREATE || op->step->kind == PAIRS_CREATE_NEW ||
           op->step->kind == PAIRS_REPLACE;
}

/* Returns whether the op's result is unknown, because the op was killed or has not
 * returned. */
static bool is_open_ended(const struct pairs_op *op)
{
    return op->killed || op->end == PAIRS_NEVER;
}

/* ---- which dataset ---- */

/* Returns whether the op may have removed an incarnation other than `made`. If `certain`
 * is set, returns whether it certainly did so. */
static bool takes(const struct pairs_op *op, int made, bool certain)
{
    const bool joined = op->step->kind == PAIRS_JOIN_REMOVE && op->phase == 3;
    if (!joined && op->step->kind != PAIRS_DELETE && !creates(op)) return false;
    if (creates(op) && op->made == made) return false;
    if (is_open_ended(op)) return !certain;
    return creates(op) ? op->phase >= 1 : op->rc == 0;
}

/* Returns the time until which puts to the incarnation that `op` removed may be lost
 * without an error. Normally this is the end of the op. For a successful delete, it is
 * the time when another dataset gets the name, because a program may delete an open
 * file. */
static int excuse_end(const struct pairs_run *r, const struct pairs_op *op, int made)
{
    int end = op->end;
    if (op->step->kind != PAIRS_DELETE || op->rc != 0) return end;
    end = PAIRS_NEVER;
    for (int i = 0; i < r->nops; i++) {
        const struct pairs_op *c = &r->ops[i];
        if (creates(c) && c->made != made && c->phase >= 1 && c->end > op->begin &&
            c->end < end)
            end = c->end;
    }
    return end > op->end ? end : op->end;
}

/* Returns the time when the call that created the incarnation began. */
static int birth(const struct pairs_run *r, int made)
{
    for (int i = 0; i < r->nops; i++)
        if (creates(&r->ops[i]) && r->ops[i].made == made) return r->ops[i].begin;
    return 0;
}

/* Returns whether the incarnation may have been removed after the time `since`. */
static bool may_be_taken(const struct pairs_run *r, int made, int since)
{
    const int born = birth(r, made);
    for (int i = 0; i < r->nops; i++) {
        const struct pairs_op *op = &r->ops[i];
        if (takes(op, made, false) && op->end >= born && excuse_end(r, op, made) >= since)
            return true;
    }
    return false;
}

/* Returns the op that defines an incarnation, if it has begun: either the create or the
 * first enddef. */
static const struct pairs_op *definition(const struct pairs_run *r, int made)
{
    const struct pairs_op *found = NULL;
    for (int i = 0; i < r->nops; i++) {
        const struct pairs_op *op = &r->ops[i];
        const struct pairs_session *s = session_of(r, op);
        if (creates(op) && op->made == made && op->step->way == 0) found = op;
        if (op->step->kind == PAIRS_ENDDEF && s != NULL && s->made == made && s->created)
            found = op;
        if (op->step->kind == PAIRS_CLOSE && s != NULL && s->made == made && s->created &&
            found == NULL)
            found = op; /* a close in define mode ends the definitions first */
    }
    return found;
}

/* Returns whether the incarnation that `create` made was defined by a call that reported
 * success to its job. */
static bool is_defined(const struct pairs_run *r, const struct pairs_op *create)
{
    const struct pairs_op *d = definition(r, create->made);
    return d != NULL && d->rc == 0 && !is_open_ended(d);
}

int pairs_must_be(const struct pairs_run *r)
{
    for (int i = 0; i < r->nops; i++) {
        const struct pairs_op *op = &r->ops[i];
        if (creates(op) && is_defined(r, op) &&
            !may_be_taken(r, op->made, definition(r, op->made)->begin))
            return op->made;
    }
    return -1;
}

/* Returns whether some dataset must exist. If several creates run at the same time, one
 * of them gets the name. */
static bool must_be_any(const struct pairs_run *r)
{
    bool any = false;
    for (int i = 0; i < r->nops; i++) {
        const struct pairs_op *op = &r->ops[i];
        if (!takes(op, -1, false)) continue;
        if (!creates(op) || !is_defined(r, op)) return false;
        any = true;
    }
    return any;
}

/* Returns whether incarnation `made` may be the one that exists at the end. */
static bool may_be(const struct pairs_run *r, int made)
{
    const struct pairs_op *d = definition(r, made);
    if (d == NULL) return false;
    for (int i = 0; i < r->nops; i++)
        if (takes(&r->ops[i], made, true) && r->ops[i].begin > d->end) return false;
    return true;
}

/* ---- which value ---- */

static bool covers(const struct pairs_op *op, int var, int row, int col)
{
    const struct pairs_step *s = op->step;
    return s->kind == PAIRS_PUT && s->var == var && row >= s->row &&
           row < s->row + s->rows && col >= s->col && col < s->col + s->cols;
}

/* Returns the time from which a put was certainly in the file, or PAIRS_NEVER. */
static int in_file(const struct pairs_run *r, const struct pairs_op *op)
{
    const struct pairs_session *s = session_of(r, op);
    /* A sync only writes logs to the device; a close drains them to the file. */
    int end = s->stack->waits ? s->waited : s->stack->logs ? s->closed : op->commit;
    if (op->rc == 0 && !is_open_ended(op) && s->stack->direct) end = op->end;
    if (end == PAIRS_NEVER) end = s->killed;
    if (end == PAIRS_NEVER && !s->stack->waits) end = s->closed;
    return end;
}

/* Returns whether a put must be in the dataset at the end unless it was overwritten. */
static bool is_certain(const struct pairs_run *r, const struct pairs_op *op)
{
    const struct pairs_session *s = session_of(r, op);
    if (op->rc != 0 || is_open_ended(op)) return false;
    /* A sync or a deferred close leaves values in logs. If another job changes the file
     * before the logs are replayed, the next open reports the conflict and keeps the
     * logs. */
    if (s->stack->logs && s->killed != PAIRS_NEVER && r->logs_refused) return false;
    if (op->commit != PAIRS_NEVER) return true;
    if (s->told != PAIRS_NEVER || s->killed == PAIRS_NEVER) return false;
    /* The puts of a killed job survive, with two exceptions: frames, and values that
     * e10_cache stores in a local file. Only a sync writes those to the file. */
    return s->stack->direct || (s->stack->logs && !r->logs_refused);
}

/* The dataset as seen by a session. Session -1 is the final reader. */
struct view {
    const struct pairs_run *r;
    int session, begin, refreshed, made;
};

static bool is_own(const struct view *v, const struct pairs_op *op)
{
    return v->session >= 0 && op->session == v->session;
}

/* Returns whether the put was made to the view's dataset. Puts that run concurrently with
 * a get are included, because the get may return their values. */
static bool of_this(const struct view *v, const struct pairs_op *op)
{
    const struct pairs_session *s = session_of(v->r, op);
    return s != NULL && s->made == v->made;
}

/* Returns whether the view must contain the put's values or later ones. */
static bool is_seen(const struct view *v, const struct pairs_op *op)
{
    if (is_own(v, op)) return op->rc == 0 && op->end <= v->begin;
    if (v->session < 0) return is_certain(v->r, op);
    return op->rc == 0 && op->commit <= v->refreshed && in_file(v->r, op) <= v->refreshed;
}

static bool is_overwritten(const struct view *v, const struct pairs_op *e, int var,
                           int row, int col)
{
    for (int i = 0; i < v->r->nops; i++) {
        const struct pairs_op *f = &v->r->ops[i];
        if (f == e || !covers(f, var, row, col) || !of_this(v, f) || !is_seen(v, f))
            continue;
        int end = f->session == e->session ? e->end : in_file(v->r, e);
        if (f->begin > end) return true;
    }
    return false;
}

/* Reports a wrong value, and the put that wrote it. */
static void blame(struct pairs_run *r, const struct view *v, const int at[3], int value)
{
    const char *who = "nobody";
    int number = -1, made = -1, expected = -1;
    for (int i = 0; i < r->nops; i++) {
        const struct pairs_op *op = &r->ops[i];
        if (!covers(op, at[0], at[1], at[2])) continue;
        if (of_this(v, op) && is_seen(v, op)) expected = op->number;
        if (pairs_value(r->plan->seed, op->number, at[0], at[1], at[2]) != value)
            continue;
        number = op->number;
        who = pairs_actor_name(op->step->actor);
        made = session_of(r, op)->made;
    }
    const char *reader = v->session < 0 ? "the reader at the end"
                                        : pairs_actor_name(r->sessions[v->session].actor);
    if (value == 0 || (number >= 0 && made == v->made))
        pairs_fail(r, PAIRS_LOSS,
                   "v%d[%d][%d]: %s has %s (step %d), not what step %d put", at[0], at[1],
                   at[2], reader, value == 0 ? "nothing" : "an older value", number,
                   expected);
    else
        pairs_fail(
            r, PAIRS_LIE,
            "v%d[%d][%d]: %s has a value of %s (step %d, dataset %d) in dataset %d",
            at[0], at[1], at[2], reader, who, number, made, v->made);
}

static bool judge_element(struct pairs_run *r, const struct view *v, const int at[3],
                          int value)
{
    bool unwritten = true;
    for (int i = 0; i < r->nops; i++) {
        const struct pairs_op *op = &r->ops[i];
        if (!covers(op, at[0], at[1], at[2]) || !of_this(v, op)) continue;
        if (is_seen(v, op)) unwritten = false;
        if (value == pairs_value(r->plan->seed, op->number, at[0], at[1], at[2]) &&
            !is_overwritten(v, op, at[0], at[1], at[2]))
            return true;
    }
    if (unwritten && v->made == PAIRS_OTHER && at[0] < PAIRS_ADDED &&
        value == pairs_value(0, 0, at[0], at[1], at[2])) /* value in the file that was
                                                          * renamed over the dataset */
        return true;
    if (value == 0 && unwritten && (v->made != PAIRS_OTHER || at[0] >= PAIRS_ADDED))
        return true;
    blame(r, v, at, value);
    return false;
}

/* Judges the values and the number of records. Values in missing rows are treated as if
 * they had never been put. */
static void judge_values(struct pairs_run *r, const struct view *v,
                         const struct pairs_reply *got)
{
    int most = v->made == PAIRS_OTHER ? PAIRS_ROWS : 0;
    for (int i = 0; i < r->nops; i++) {
        const struct pairs_op *op = &r->ops[i];
        if (op->step->kind != PAIRS_PUT || !pairs_is_record(op->step->var) ||
            !of_this(v, op))
            continue;
        const int rows = op->step->row + op->step->rows;
        if (rows > most) most = rows;
        if (is_seen(v, op) && got->records < rows)
            pairs_fail(r, PAIRS_LOSS, "%d records; step %d put record %d", got->records,
                       op->number, rows - 1);
    }
    if (got->records > most)
        pairs_fail(r, PAIRS_LIE, "%d records; %d were put", got->records, most);
    for (int var = 0; var < PAIRS_VARS; var++)
        for (int row = 0; row < PAIRS_ROWS && (got->present >> var & 1); row++)
            for (int col = 0; col < PAIRS_X; col++) {
                if (pairs_is_record(var) && row >= got->records) break;
                const int at[3] = {var, row, col};
                if (!judge_element(r, v, at, got->values[pairs_at(var, row, col)]))
                    return;
            }
}

/* Checks that the variables and attributes that redefinitions added exist, and that they
 * have the values that were put. */
static void judge_definitions(struct pairs_run *r, const struct view *v,
                              const struct pairs_reply *got)
{
    bool must[PAIRS_VARS] = {false}, may[PAIRS_VARS] = {false};
    for (int i = 0; i < r->nops; i++) {
        const struct pairs_op *op = &r->ops[i];
        if (op->step->kind != PAIRS_REDEF || !of_this(v, op)) continue;
        may[op->step->var] = true;
        if (op->rc == 0 && !is_open_ended(op) &&
            (v->session < 0 || op->end <= v->refreshed))
            must[op->step->var] = true;
    }
    for (int var = 0; var < PAIRS_ADDED; var++)
        if ((got->present >> var & 1) == 0)
            pairs_fail(r, PAIRS_LIE, "v%d is not defined", var);
    for (int var = PAIRS_ADDED; var < PAIRS_VARS; var++) {
        const bool there = got->present >> var & 1,
                   attribute = got->length[var - PAIRS_ADDED] >= 0;
        if (must[var] && !there)
            pairs_fail(r, PAIRS_LOSS, "v%d, which was defined, is not there", var);
        if (there && !may[var]) pairs_fail(r, PAIRS_LIE, "nobody defined v%d", var);
        if (there != attribute)
            pairs_fail(r, PAIRS_LIE, "half of the definition of v%d is there", var);
        if (attribute && !got->right[var - PAIRS_ADDED])
            pairs_fail(r, PAIRS_LIE, "the attribute that came with v%d is wrong", var);
    }
}

/* ---- judging ---- */

void pairs_judge_get(struct pairs_run *r, int session, int begin,
                     const struct pairs_reply *got)
{
    const struct pairs_session *s = &r->sessions[session];
    const struct view v = {r, session, begin, s->refreshed, s->made};
    if (got->rc != 0) return;
    /* After another dataset has taken the name, or another job has changed the
     * definitions, the library guarantees nothing until the dataset is reopened. */
    if (may_be_taken(r, s->made, s->opened)) return;
    for (int i = 0; i < r->nops; i++) {
        const struct pairs_op *op = &r->ops[i];
        const bool redefines = op->step->kind == PAIRS_REDEF ||
                               op->step->kind == PAIRS_JOIN_REMOVE ||
                               (op->step->kind == PAIRS_CLOSE && op->session >= 0 &&
                                session_of(r, op)->stack->joins);
        if (redefines && op->session != session && op->end > s->opened) return;
    }
    judge_values(r, &v, got);
}

/* Judges the acknowledged puts to incarnations that no longer exist. */
static void judge_others(struct pairs_run *r, int made)
{
    for (int i = 0; i < r->nops; i++) {
        const struct pairs_op *op = &r->ops[i];
        const struct pairs_session *s = session_of(r, op);
        if (s == NULL || s->made == made || op->step->kind != PAIRS_PUT) continue;
        /* A job that is killed before its next sync or close cannot learn that its file
         * was replaced before the put. */
        const int since = op->commit == PAIRS_NEVER ? 0 : op->begin;
        if (is_certain(r, op) && !may_be_taken(r, s->made, since))
            pairs_fail(r, PAIRS_LOSS,
                       "step %d put to dataset %d, which is gone; %d is there",
                       op->number, s->made, made);
    }
}

void pairs_judge_joined(struct pairs_run *r, const struct pairs_reply *got)
{
    const struct view v = {r, -1, PAIRS_NEVER, PAIRS_NEVER, got->made};
    const bool refused = r->logs_refused;
    r->logs_refused = true; /* a joined file lacks values in a killed job's log */
    judge_values(r, &v, got);
    r->logs_refused = refused;
}

void pairs_judge_end(struct pairs_run *r, const struct pairs_reply *got)
{
    const struct view v = {r, -1, PAIRS_NEVER, PAIRS_NEVER, got == NULL ? -1 : got->made};
    const int must = pairs_must_be(r);
    if (got == NULL) {
        if (must >= 0)
            pairs_fail(r, PAIRS_UNREADABLE, "dataset %d should be there", must);
        if (must_be_any(r)) pairs_fail(r, PAIRS_UNREADABLE, "there should be a dataset");
        judge_others(r, -1);
        return;
    }
    judge_others(r, got->made);
    if (!may_be(r, got->made))
        pairs_fail(r, PAIRS_LIE, "dataset %d is there; it should be %d", got->made, must);
    judge_values(r, &v, got);
    judge_definitions(r, &v, got);
}

/* Returns whether one process of the lease's owner was killed while other processes of
 * its job are alive. In this case the lease may be taken over, because a process that has
 * not written yet holds no lock and will verify the lease before its first write. */
static bool is_wounded(const struct pairs_run *r, const struct pairs_session *s,
                       const struct pairs_op *op)
{
    for (int i = 0; i < r->nops; i++)
        if (r->ops[i].session >= 0 && &r->sessions[r->ops[i].session] == s &&
            r->ops[i].step->fault == PAIRS_WOUNDED && r->ops[i].begin < op->end)
            return true;
    return false;
}

/* Returns whether the session had the lease from the beginning to the end of the op. */
static bool holds(const struct pairs_run *r, const struct pairs_session *s,
                  const struct pairs_op *op)
{
    if (is_wounded(r, s, op)) return false;
    if (!s->leased || s->told != PAIRS_NEVER || s->usable >= op->begin) return false;
    if (s->closing < op->end || s->killed < op->end) return false;
    for (int i = 0; i < r->nops; i++)
        if (&r->ops[i] != op && takes(&r->ops[i], s->made, false) &&
            r->ops[i].end > s->opened)
            return false;
    return true;
}

void pairs_judge_lease(struct pairs_run *r, const struct pairs_op *op)
{
    const enum pairs_kind k = op->step->kind;
    if (op->rc != 0 || is_open_ended(op)) return;
    if (k != PAIRS_OPEN && k != PAIRS_DELETE && k != PAIRS_CREATE &&
        k != PAIRS_CREATE_NEW && k != PAIRS_COMPACT && k != PAIRS_JOIN &&
        k != PAIRS_JOIN_CHECK && k != PAIRS_JOIN_REMOVE)
        return;
    for (int i = 0; i < r->nsessions; i++) {
        const struct pairs_session *s = &r->sessions[i];
        if (i != op->session && s->actor != op->step->actor && holds(r, s, op))
            pairs_fail(
                r, PAIRS_UNREFUSED,
                "step %d (%s by %s) beside %s, which has the dataset open for writing",
                op->number, pairs_kind_name(k), pairs_actor_name(op->step->actor),
                pairs_actor_name(s->actor));
    }
}
