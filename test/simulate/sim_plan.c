/* What the processes of a seed are to do, and with which values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

/* The numbers of pnetcdf.h. */
enum { BYTE = 1, SHORT = 3, INT = 4, FLOAT = 5, DOUBLE = 6 };

static const struct {
    int type, size;
    double fill, most;
} types[] = {
    {BYTE, 1, -127, 100},
    {SHORT, 2, -32767, 30000},
    {INT, 4, -2147483647, 1e9},
    {FLOAT, 4, 9.9692099683868690e+36f, 1e7},
    {DOUBLE, 8, 9.9692099683868690e+36, 1e15},
};
enum { TYPES = sizeof types / sizeof types[0] };

static int kind_of(int type)
{
    int i = 0;
    while (i < TYPES - 1 && types[i].type != type)
        i++;
    return i;
}

int sim_type_size(int type)
{
    return types[kind_of(type)].size;
}

static uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

uint64_t sim_draw(uint64_t *state, uint64_t n)
{
    return mixed(*state += 0x9E3779B97F4A7C15u) % n;
}

int64_t sim_row(const struct sim_plan *p, int var)
{
    return (int64_t)p->vars[var].each * p->procs;
}

int sim_owner(const struct sim_plan *p, int var, int64_t i)
{
    return (int)(p->vars[var].mixed ? i % p->procs : i / p->vars[var].each);
}

double sim_value(const struct sim_plan *p, int op, int var, int64_t row, int64_t i)
{
    int k = kind_of(p->vars[var].type);
    if (op < 0) return types[k].fill;
    uint64_t x = mixed(p->seed + (uint64_t)op);
    x = mixed(x + ((uint64_t)var << 40) + ((uint64_t)row << 20) + (uint64_t)i);
    return 1 + (double)(x % (uint64_t)types[k].most);
}

/* ---- drawing ---- */

static void add_word(struct sim_plan *p, const char *hint)
{
    size_t n = strlen(p->hints);
    snprintf(p->hints + n, sizeof p->hints - n, "%s%s", n > 0 ? ";" : "", hint);
}

static void add_hint(struct sim_plan *p, const char *name, int64_t value)
{
    char hint[64];
    snprintf(hint, sizeof hint, "%s=%lld", name, (long long)value);
    add_word(p, hint);
}

static void draw_hints(struct sim_plan *p, uint64_t *s)
{
    static const char *const ways[] = {"nc_transfer=auto", "romio_ds_write=enable",
                                       "romio_cb_write=enable", "romio_cb_write=disable"};
    if (p->parts) add_hint(p, "nc_num_subfiles", 1 + (int64_t)sim_draw(s, 3));
    if (p->parts) add_word(p, "nc_blob=enable");
    if (sim_draw(s, 5) < 2) {
        add_word(p, "nc_burst_buf=enable;nc_burst_buf_dirname=" SIM_LOGS);
        if (sim_draw(s, 2)) add_word(p, "nc_burst_buf_shared_logs=enable");
        if (sim_draw(s, 2))
            add_hint(p, "nc_burst_buf_flush_buffer_size", 512 << sim_draw(s, 4));
    }
    if (sim_draw(s, 2)) add_word(p, ways[sim_draw(s, sizeof ways / sizeof ways[0])]);
    if (sim_draw(s, 2)) add_hint(p, "nc_data_move_chunk_size", 64 << sim_draw(s, 9));
    if (sim_draw(s, 3) == 0) add_hint(p, "nc_header_align_size", 4 << sim_draw(s, 12));
    if (sim_draw(s, 3) == 0) add_hint(p, "nc_var_align_size", 4 << sim_draw(s, 8));
    if (sim_draw(s, 3) == 0) add_hint(p, "cb_buffer_size", 256 << sim_draw(s, 6));
    if (sim_draw(s, 3) == 0) add_hint(p, "cb_nodes", 1 + (int64_t)sim_draw(s, 3));
}

/* What came later than the rest has chance of its own, so that seeds stay what they were.
 */
static void draw_more_hints(struct sim_plan *p, uint64_t *s)
{
    const bool logs = strstr(p->hints, "nc_burst_buf=enable") != NULL;
    const uint64_t join = sim_draw(s, 4);
    p->joined = p->parts && join < 2;
    if (p->joined) add_word(p, join ? "nc_blob_join=close" : "nc_blob_join=behind");
    if (logs && sim_draw(s, 4) == 0) add_word(p, "nc_deferred_close=enable");
    if (sim_draw(s, 8) == 0) add_word(p, "nc_stage=enable");
    /* On another node nobody knows whether a process lives, and who recovers has to ask.
     */
    p->lockless = sim_draw(s, 4) == 0 && p->nodes == 1;
    if (p->lockless)
        p->company = SIM_ALONE; /* each of two would take what the other has */
    if (p->lockless || sim_draw(s, 6) > 0) return;
    p->tool = logs && sim_draw(s, 2) ? SIM_REPLAY : SIM_FINISH;
    if (p->company == SIM_ALONE) p->company = SIM_TOGETHER;
}

static void draw_vars(struct sim_plan *p, uint64_t *s)
{
    p->nvars = 1 + (int)sim_draw(s, SIM_VARS);
    for (int i = 0; i < p->nvars; i++)
        p->vars[i] = (struct sim_var){
            .type = types[sim_draw(s, TYPES)].type,
            .record = sim_draw(s, 2),
            .rows = 1 + (int)sim_draw(s, SIM_RECORDS),
            .each = 1 + (int)(sim_draw(s, 4) ? sim_draw(s, 40) : sim_draw(s, 400)),
            .mixed = sim_draw(s, 2),
            .since = -1};
}

static void draw_op(struct sim_plan *p, struct sim_op *op, uint64_t *s)
{
    static const enum sim_what often[] = {
        SIM_PUT,  SIM_PUT, SIM_PUT, SIM_PUT_OWN,  SIM_POST,     SIM_POST,
        SIM_SYNC, SIM_GET, SIM_GET, SIM_REDEFINE, SIM_REDEFINE, SIM_REOPEN};
    op->what = often[sim_draw(s, sizeof often / sizeof often[0])];
    op->var = (int)sim_draw(s, (uint64_t)p->nvars);
    op->first = (int)sim_draw(s, (uint64_t)p->vars[op->var].rows);
    op->n = 1 + (int)sim_draw(s, (uint64_t)(p->vars[op->var].rows - op->first));
    if (op->what == SIM_REDEFINE)
        op->n = 1 + (int)(sim_draw(s, 2) ? sim_draw(s, 100) : sim_draw(s, 6000));
}

/* Some variables come with a redefinition, and nothing is put into them before. */
static void defer_vars(struct sim_plan *p, uint64_t *s)
{
    for (int i = 0; i < p->nops; i++) {
        int v = (int)sim_draw(s, (uint64_t)p->nvars);
        if (p->ops[i].what == SIM_REDEFINE && v > 0 && p->vars[v].since < 0 &&
            (v == p->nvars - 1 || p->vars[v + 1].since > i) && sim_draw(s, 2) == 0)
            p->vars[v].since = i;
    }
    for (int i = 0; i < p->nops; i++)
        if (p->vars[p->ops[i].var].since >= i) p->ops[i].var = 0;
    for (int i = 0; i < p->nops; i++) {
        struct sim_op *op = &p->ops[i];
        if (op->what == SIM_REDEFINE) continue;
        if (op->first >= p->vars[op->var].rows) op->first = 0;
        if (op->first + op->n > p->vars[op->var].rows) op->n = 1;
    }
}

/* Half of the later seeds are on file systems whose nodes keep something for themselves.
 */
static void draw_mount(struct sim_plan *p)
{
    enum { FIRST = 1000000 };
    uint64_t s = mixed(p->seed * 2 + 3);
    if (p->seed >= FIRST && sim_draw(&s, 2) == 0)
        p->mount = (enum sim_mount)(1 + sim_draw(&s, SIM_MOUNTS - 1));
}

void sim_plan_draw(struct sim_plan *p, uint64_t seed)
{
    static const int formats[] = {1, 2, 5};
    uint64_t s = mixed(seed * 2 + 1);
    memset(p, 0, sizeof *p);
    p->seed = seed;
    p->format = formats[sim_draw(&s, 3)];
    p->procs = 1 + (int)sim_draw(&s, 5);
    p->nodes = 1 + (int)sim_draw(&s, (uint64_t)p->procs);
    p->recoverers = 1 + (int)sim_draw(&s, 3);
    p->company = sim_draw(&s, 4) > 0 ? SIM_ALONE
                 : sim_draw(&s, 2)   ? SIM_TOGETHER
                                     : SIM_BESIDE;
    p->fill = sim_draw(&s, 2);
    p->parts = sim_draw(&s, 6) == 0;
    draw_hints(p, &s);
    draw_vars(p, &s);
    p->nops = 2 + (int)sim_draw(&s, SIM_OPS - 2);
    for (int i = 0; i < p->nops; i++)
        draw_op(p, &p->ops[i], &s);
    defer_vars(p, &s);
    s = mixed(seed * 2 + 2);
    draw_more_hints(p, &s);
    draw_mount(p);
}

/* ---- small ones ---- */

#define LOGS "nc_burst_buf=enable;nc_burst_buf_dirname=" SIM_LOGS
#define SUBS "nc_blob=enable;nc_num_subfiles=2"
static const struct {
    const char *name, *hints;
    enum sim_company company;
    int moving, nops;
    struct sim_op ops[4];
} small[] = {
    {"journal",
     "nc_data_move_chunk_size=64",
     SIM_ALONE,
     0,
     3,
     {{SIM_PUT, 0, 0, 2}, {SIM_SYNC, 0, 0, 0}, {SIM_REDEFINE, 0, 0, 300}}},
    {"log",
     LOGS,
     SIM_ALONE,
     0,
     3,
     {{SIM_PUT, 0, 0, 2}, {SIM_SYNC, 0, 0, 0}, {SIM_PUT, 1, 0, 1}}},
    {"replay",
     LOGS ";nc_burst_buf_shared_logs=enable",
     SIM_TOGETHER,
     1,
     2,
     {{SIM_PUT, 0, 0, 2}, {SIM_PUT, 1, 0, 1}}},
    {"deferred", LOGS ";nc_deferred_close=enable", SIM_ALONE, 0, 1, {{SIM_PUT, 0, 0, 2}}},
    {"blobs", SUBS, SIM_ALONE, 0, 2, {{SIM_PUT, 0, 0, 2}, {SIM_SYNC, 0, 0, 0}}},
    {"join", SUBS ";nc_blob_join=close", SIM_ALONE, 0, 1, {{SIM_PUT, 0, 0, 2}}},
    {"behind", SUBS ";nc_blob_join=behind", SIM_ALONE, 0, 1, {{SIM_PUT, 0, 0, 2}}},
};

const char *sim_plan_small(struct sim_plan *p, int i, int *moving)
{
    if (i < 0 || i >= (int)(sizeof small / sizeof small[0])) return NULL;
    *p = (struct sim_plan){
        .seed = 2,
        .format = 1,
        .procs = 2,
        .nodes = 2,
        .recoverers = 1,
        .company = small[i].company,
        .parts = strstr(small[i].hints, SUBS) != NULL,
        .joined = strstr(small[i].hints, "nc_blob_join") != NULL,
        .nvars = 2,
        .nops = small[i].nops,
        .vars = {{INT, false, 2, 3, true, -1}, {SHORT, true, 1, 2, false, -1}}};
    memcpy(p->ops, small[i].ops, sizeof small[i].ops);
    add_word(p, small[i].hints);
    *moving = small[i].moving;
    return small[i].name;
}

/* ---- words ---- */

void sim_plan_print(const struct sim_plan *p)
{
    static const char *const words[SIM_WHATS] = {
        [SIM_PUT] = "put",           [SIM_PUT_OWN] = "put, independent",
        [SIM_POST] = "iput, wait",   [SIM_SYNC] = "sync",
        [SIM_GET] = "get",           [SIM_REDEFINE] = "redefine",
        [SIM_REOPEN] = "close, open"};
    static const char *const company[] = {"", ", two jobs of them at once",
                                          ", the first of them meanwhile"};
    static const char *const tools[] = {"", " (ncmpilog replay)", " (ncvalidator -f)"};
    printf("CDF-%d, %d processes on %d nodes, then %d processes%s%s\nhints: %s\n",
           p->format, p->procs, p->nodes, p->recoverers, company[p->company],
           tools[p->tool], p->hints);
    printf("create%s%s, on %s\n", p->fill ? ", fill" : "",
           p->lockless ? ", without locks" : "", sim_mount_name(p->mount));
    for (int i = 0; i < p->nvars; i++)
        printf("  v%d: type %d, %s %d x %lld, %s, from op %d\n", i, p->vars[i].type,
               p->vars[i].record ? "records" : "rows", p->vars[i].rows,
               (long long)sim_row(p, i), p->vars[i].mixed ? "in turn" : "blocks",
               p->vars[i].since);
    for (int i = 0; i < p->nops; i++) {
        const struct sim_op *op = &p->ops[i];
        bool access =
            op->what != SIM_SYNC && op->what != SIM_REOPEN && op->what != SIM_REDEFINE;
        printf("%3d %s", i, words[op->what]);
        if (access)
            printf(" v%d, rows %d to %d", op->var, op->first, op->first + op->n - 1);
        if (op->what == SIM_REDEFINE) printf(", %d bytes more", op->n);
        printf("\n");
    }
    printf("close\n");
}
