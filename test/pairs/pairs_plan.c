/* Draws a schedule from a seed. Chooses each step of a job for the state that the job
 * would be in if all its previous calls had succeeded. When the schedule is played, steps
 * that do not apply are skipped. */
#include <stdio.h>
#include <string.h>

#include "pairs.h"
#include "splitmix.h"

const struct pairs_stack pairs_stacks[] = {
    {"plain", "", .direct = true},
    {"burst", "nc_burst_buf=enable", .logs = true},
    {"shared", "nc_burst_buf=enable;nc_burst_buf_shared_logs=enable", .logs = true},
    {"blob1", "nc_blob=enable;nc_num_subfiles=1", .blob = true, .direct = true},
    {"blob2", "nc_blob=enable;nc_num_subfiles=2", .blob = true, .direct = true},
    {"zstd", "nc_blob=enable;nc_num_subfiles=2;nc_compress=zstd", .blob = true},
    {"joinclose", "nc_blob=enable;nc_num_subfiles=2;nc_blob_join=close", .blob = true,
     .joins = true},
    {"joinbehind", "nc_blob=enable;nc_num_subfiles=2;nc_blob_join=behind", .blob = true,
     .joins = true, .waits = true},
    {"blobburst", "nc_blob=enable;nc_num_subfiles=2;nc_burst_buf=enable", .blob = true,
     .logs = true},
    {"stage", "nc_stage=enable", .direct = true},
    {"e10", "e10_cache=enable", .logs = true},
    {"deferred", "nc_burst_buf=enable;nc_deferred_close=enable", .logs = true,
     .waits = true},
};

int pairs_nstacks(void)
{
    return sizeof pairs_stacks / sizeof pairs_stacks[0];
}

static const char *const kinds[PAIRS_KINDS] = {
    "create",  "create-new", "enddef", "open",   "read",   "redef", "put",   "get",
    "sync",    "close",      "abort",  "wait",   "delete", "join",  "check", "joinremove",
    "compact", "validate",   "finish", "replay", "rename", "kill",  "cont"};

const char *pairs_kind_name(enum pairs_kind kind)
{
    return kinds[kind];
}

const char *pairs_actor_name(int actor)
{
    static const char *const names[PAIRS_ACTORS] = {"A", "B", "C", "tool"};
    return names[actor];
}

uint64_t pairs_draw(uint64_t *state, uint64_t n)
{
    return splitmix_next(state) % n;
}

int pairs_value(uint64_t seed, int put, int var, int row, int col)
{
    uint64_t x = splitmix_hash(seed + 0x9E3779B97F4A7C15u * (uint64_t)(put + 1));
    x = splitmix_hash(x + ((uint64_t)pairs_at(var, row, col) << 8));
    int value = var == 2 ? (int16_t)(x >> 16) : (int32_t)(x >> 16);
    return value == 0 ? 1 : value;
}

bool pairs_is_record(int var)
{
    return var == 0 || var == 2 || var == 4;
}

int pairs_at(int var, int row, int col)
{
    return (var * PAIRS_ROWS + row) * PAIRS_X + col;
}

/* ---- drawing ---- */

/* The state that a job is in if all its calls succeed. */
enum open { CLOSED, DEFINING, WRITING, READING };

static bool chance(uint64_t *s, uint64_t of)
{
    return pairs_draw(s, of) == 0;
}

static void draw_region(struct pairs_step *step, uint64_t *s)
{
    step->var = (int)pairs_draw(s, chance(s, 4) ? PAIRS_VARS : PAIRS_ADDED);
    step->row = (int)pairs_draw(s, PAIRS_ROWS);
    step->rows =
        1 + (int)pairs_draw(s, chance(s, 3) ? (uint64_t)(PAIRS_ROWS - step->row) : 1);
    step->cols = PAIRS_X;
    step->way = PAIRS_BLOCKS;
    if (chance(s, 3)) {
        step->cols = 1 + (int)pairs_draw(s, PAIRS_X);
        step->col = (int)pairs_draw(s, (uint64_t)(PAIRS_X - step->cols + 1));
    }
    if (chance(s, 3)) step->way = (int)pairs_draw(s, PAIRS_WAYS);
}

static enum pairs_kind draw_call(enum open *open, uint64_t *s)
{
    static const enum pairs_kind closed[] = {
        PAIRS_CREATE, PAIRS_OPEN,       PAIRS_OPEN,   PAIRS_OPEN,   PAIRS_READ,
        PAIRS_OPEN,   PAIRS_CREATE_NEW, PAIRS_DELETE, PAIRS_CREATE, PAIRS_READ};
    static const enum pairs_kind writing[] = {
        PAIRS_PUT,  PAIRS_PUT,   PAIRS_PUT,   PAIRS_PUT,   PAIRS_PUT,
        PAIRS_SYNC, PAIRS_SYNC,  PAIRS_REDEF, PAIRS_CLOSE, PAIRS_CLOSE,
        PAIRS_GET,  PAIRS_CLOSE, PAIRS_ABORT};
    enum pairs_kind kind;
    if (*open == DEFINING) {
        *open = WRITING;
        return PAIRS_ENDDEF;
    }
    if (*open == READING) {
        if (!chance(s, 3)) return PAIRS_GET;
        *open = CLOSED;
        return PAIRS_CLOSE;
    }
    if (*open == CLOSED) {
        kind = closed[pairs_draw(s, sizeof closed / sizeof closed[0])];
        *open = kind == PAIRS_READ ? READING : kind == PAIRS_DELETE ? CLOSED : WRITING;
        return kind;
    }
    kind = writing[pairs_draw(s, sizeof writing / sizeof writing[0])];
    if (kind == PAIRS_ABORT && chance(s, 2)) kind = PAIRS_SYNC;
    if (kind == PAIRS_CLOSE || kind == PAIRS_ABORT) *open = CLOSED;
    return kind;
}

static void draw_fault(struct pairs_step *step, int procs, uint64_t *s)
{
    if (!chance(s, 8)) return;
    step->fault = chance(s, 2) ? PAIRS_KILLED : PAIRS_STOPPED;
    if (step->fault == PAIRS_KILLED && procs > 1 && chance(s, 3))
        step->fault = PAIRS_WOUNDED;
    step->point = 2 + (int)pairs_draw(s, (uint64_t)4 << pairs_draw(s, 6));
    step->rank = (int)pairs_draw(s, (uint64_t)procs);
}

static void draw_step(struct pairs_plan *p, struct pairs_step *step, enum open *open,
                      uint64_t *s)
{
    *step = (struct pairs_step){.kind = PAIRS_CREATE};
    step->actor = (int)pairs_draw(s, (uint64_t)p->njobs);
    if (p->nsteps < 2) step->actor = 0;
    int procs = p->jobs[step->actor].procs;
    uint64_t other = p->nsteps < 3 ? 99 : pairs_draw(s, 24);
    if (other < 4) {
        step->kind = (enum pairs_kind)(PAIRS_JOIN +
                                       (int)pairs_draw(s, PAIRS_REPLAY - PAIRS_JOIN + 1));
        step->actor = PAIRS_TOOL;
        procs = 1;
    } else if (other == 4) {
        step->kind = chance(s, 4) ? PAIRS_REPLACE : PAIRS_KILL;
        if (step->kind == PAIRS_REPLACE)
            step->actor = PAIRS_TOOL;
        else
            open[step->actor] = CLOSED;
        return;
    } else if (other == 5) {
        step->kind = PAIRS_CONTINUE;
        return;
    } else {
        step->kind = p->nsteps == 0 ? PAIRS_CREATE : draw_call(&open[step->actor], s);
        if (p->nsteps == 0) open[0] = WRITING;
    }
    if (step->kind == PAIRS_PUT) draw_region(step, s);
    if (step->kind == PAIRS_REDEF) {
        step->length = 1 + (int)pairs_draw(s, chance(s, 2) ? 40 : 6000);
        step->var = PAIRS_ADDED + (int)pairs_draw(s, PAIRS_VARS - PAIRS_ADDED);
    }
    if ((step->kind == PAIRS_CREATE || step->kind == PAIRS_CREATE_NEW) && chance(s, 5)) {
        step->way = 1;
        open[step->actor] = DEFINING;
    }
    draw_fault(step, procs, s);
    if ((step->fault == PAIRS_KILLED || step->fault == PAIRS_WOUNDED) &&
        step->actor < PAIRS_JOBS)
        open[step->actor] = CLOSED;
    step->together = step->fault == PAIRS_WHOLE && chance(s, 10);
}

static int draw_stack(unsigned only, uint64_t *s)
{
    int stack;
    do
        stack = (int)pairs_draw(s, (uint64_t)pairs_nstacks());
    while ((only >> stack & 1) == 0);
    return stack;
}

void pairs_plan_draw(struct pairs_plan *p, uint64_t seed, unsigned only)
{
    uint64_t s = splitmix_hash(seed * 2 + 1);
    enum open open[PAIRS_JOBS] = {CLOSED, CLOSED, CLOSED};
    *p = (struct pairs_plan){.seed = seed, .njobs = 2 + chance(&s, 3)};
    for (int i = 0; i < p->njobs; i++) {
        p->jobs[i].stack =
            &pairs_stacks[i > 0 && chance(&s, 3) ? p->jobs[0].stack - pairs_stacks
                                                 : draw_stack(only, &s)];
        /* a dataset in subfiles gets a decomposition only if both processes put */
        p->jobs[i].procs = chance(&s, p->jobs[i].stack->blob ? 4 : 2) ? 1 : PAIRS_PROCS;
    }
    const int n = 6 + (int)pairs_draw(&s, PAIRS_STEPS - 8);
    while (p->nsteps < n) {
        draw_step(p, &p->steps[p->nsteps], open, &s);
        p->nsteps++;
    }
    p->steps[n - 1].together = false;
}

void pairs_step_print(const struct pairs_plan *p, int i, char *text, size_t size)
{
    const struct pairs_step *step = &p->steps[i];
    int n = snprintf(text, size, "%2d %-4s %s", i, pairs_actor_name(step->actor),
                     kinds[step->kind]);
    if (step->kind == PAIRS_PUT)
        n += snprintf(
            text + n, size - (size_t)n, " v%d[%d+%d][%d+%d]%s", step->var, step->row,
            step->rows, step->col, step->cols,
            (const char *const[]){"", " alone", " posted", " strided"}[step->way]);
    else if (step->kind == PAIRS_REDEF)
        n += snprintf(text + n, size - (size_t)n, " v%d, %d bytes", step->var,
                      step->length);
    else if (step->way)
        n += snprintf(text + n, size - (size_t)n, " without enddef");
    static const char *const faults[] = {"", "killed", "killed alone", "stopped"};
    if (step->fault != PAIRS_WHOLE)
        n += snprintf(text + n, size - (size_t)n, ", process %d %s at %d.%d", step->rank,
                      faults[step->fault], step->point / 2, step->point % 2);
    if (step->together) snprintf(text + n, size - (size_t)n, ", with the next");
}
