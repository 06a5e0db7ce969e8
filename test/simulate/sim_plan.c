/* Draws a plan from a seed: variables, operations, hints, mount and other jobs. Also
 * computes the values that processes put, and prints plans. Each newer feature uses its
 * own random sequence, so that smaller seeds still draw the same plans. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "splitmix.h"

/* Types in the file, with their default fill values. */
static const struct {
    int type;
    uint64_t fill;
} types[] = {
    {PLAN_BYTE, 0x81},
    {PLAN_SHORT, 0x8001},
    {PLAN_INT, 0x80000001},
    {PLAN_FLOAT, 0x7cf00000},
    {PLAN_DOUBLE, 0x479e000000000000},
    {PLAN_CHAR, 0},
    {PLAN_UBYTE, 0xff},
    {PLAN_USHORT, 0xffff},
    {PLAN_UINT, 0xffffffff},
    {PLAN_INT64, 0x8000000000000002},
    {PLAN_UINT64, 0xfffffffffffffffe},
};
/* All seeds draw from the first OLD_TYPES types. Seeds from SIM_RICH on also draw from
 * the next type and, for CDF-5, from the remaining ones. */
enum { OLD_TYPES = 5, TYPES = sizeof types / sizeof types[0] };

static int kind_of(int type)
{
    int i = 0;
    while (i < TYPES - 1 && types[i].type != type)
        i++;
    return i;
}

int sim_type_size(int type)
{
    return (int)plan_memory_size(plan_memory_of(type));
}

const char *sim_path(int set)
{
    static const char *const paths[SIM_SETS] = {SIM_FILE, SIM_STORE "b.nc"};
    return paths[set];
}

uint64_t sim_draw(uint64_t *state, uint64_t n)
{
    return splitmix_next(state) % n;
}

int64_t sim_row(const struct sim_plan *p, int var)
{
    return (int64_t)p->vars[var].each * p->procs;
}

int sim_owner(const struct sim_plan *p, int var, int64_t i)
{
    return (int)(p->vars[var].mixed ? i % p->procs : i / p->vars[var].each);
}

uint64_t sim_value(const struct sim_plan *p, int op, int var, int64_t row, int64_t i)
{
    const struct sim_var *v = &p->vars[var];
    if (op < 0) return types[kind_of(v->type)].fill;
    uint64_t x = splitmix_hash(p->seed + (uint64_t)op), value;
    x = splitmix_hash(x + ((uint64_t)var << 40) + ((uint64_t)row << 20) + (uint64_t)i);
    if (!v->small) return plan_value(v->type, v->other, x);
    (void)plan_convert(5, PLAN_UBYTE, 1 + x % 100, plan_memory_of(v->type), &value);
    return value;
}

bool sim_covers(const struct sim_plan *p, int op, int var, int64_t row, int64_t i,
                int *who)
{
    const struct sim_op *o = &p->ops[op];
    const struct sim_var *v = &p->vars[var];
    const bool put = o->what == SIM_PUT || o->what == SIM_PUT_OWN || o->what == SIM_POST;
    if (!put || o->var != var || row < o->first || row >= o->first + o->n) return false;
    *who = (sim_owner(p, var, i) + p->procs - o->shift) % p->procs;
    return o->part == 0 || (v->mixed ? i / p->procs : i % v->each) < o->part;
}

bool sim_is_of_frames(const char *words)
{
    return strstr(words, "the values that process ") != NULL &&
           strstr(words, "are damaged") != NULL;
}

int sim_taken(const struct sim_plan *p, int op)
{
    if (!p->ops[op].takes) return -1;
    for (int i = op - 1; i >= 0; i--)
        if (p->ops[i].what == SIM_REDEFINE && p->ops[i].set == p->ops[op].set) return i;
    return -1;
}

/* ---- drawing plans ---- */

static void add_word(struct sim_plan *p, const char *hint)
{
    size_t n = strlen(p->hints);
    snprintf(p->hints + n, sizeof p->hints - n, "%s%s", n > 0 ? ";" : "", hint);
}

/* Adds a hint, unless the plan already has one with this name. */
static void add_new_word(struct sim_plan *p, const char *hint)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s=", (int)strcspn(hint, "="), hint);
    if (strstr(p->hints, name) == NULL) add_word(p, hint);
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

/* Chooses values of newer hints. Uses its own random sequence. */
static void draw_more_hints(struct sim_plan *p, uint64_t *s)
{
    const bool logs = strstr(p->hints, "nc_burst_buf=enable") != NULL;
    const uint64_t join = sim_draw(s, 4);
    p->joined = p->parts && join < 2;
    if (p->joined) add_word(p, join ? "nc_blob_join=close" : "nc_blob_join=behind");
    if (logs && sim_draw(s, 4) == 0) add_word(p, "nc_deferred_close=enable");
    if (sim_draw(s, 8) == 0) add_word(p, "nc_stage=enable");
    /* Without locks, recovery must find out whether a process is alive, which is possible
     * only on that process's node. */
    p->lockless = sim_draw(s, 4) == 0 && p->nodes == 1;
    if (p->lockless) p->company = SIM_ALONE; /* jobs would take over each other's files */
    if (p->lockless || sim_draw(s, 6) > 0) return;
    p->tool = logs && sim_draw(s, 2) ? SIM_REPLAY : SIM_FINISH;
    if (p->company == SIM_ALONE) p->company = SIM_TOGETHER;
}

static void draw_vars(struct sim_plan *p, uint64_t *s)
{
    p->nvars = 1 + (int)sim_draw(s, SIM_VARS);
    for (int i = 0; i < p->nvars; i++)
        p->vars[i] = (struct sim_var){
            .type = types[sim_draw(s, OLD_TYPES)].type,
            .record = sim_draw(s, 2),
            .rows = 1 + (int)sim_draw(s, SIM_RECORDS),
            .each = 1 + (int)(sim_draw(s, 4) ? sim_draw(s, 40) : sim_draw(s, 400)),
            .mixed = sim_draw(s, 2),
            .other = MEMORY_DOUBLE,
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

/* Moves the definitions of some variables to a redefinition, and removes earlier accesses
 * to them. */
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

/* Returns whether the hints request MPI-IO. With MPI-IO, the library does not guarantee
 * that nodes see each other's writes. */
static bool asks_for_mpi(const struct sim_plan *p)
{
    return strstr(p->hints, "nc_file_io=mpi") != NULL ||
           strstr(p->hints, "nc_transfer=view") != NULL ||
           strstr(p->hints, "romio_no_indep_rw") != NULL;
}

/* Draws the mount. Half of the seeds use a file system whose nodes cache data or
 * attributes. */
static void draw_mount(struct sim_plan *p)
{
    uint64_t s = splitmix_hash(p->seed * 2 + 3);
    if (sim_draw(&s, 2) == 0 && !asks_for_mpi(p))
        p->mount = (enum sim_mount)(1 + sim_draw(&s, SIM_MOUNTS - 1));
    /* On mounts with a write-back cache, the processes of a job exchange file sizes, but
     * other jobs and tools on the node do not learn the sizes. */
    if (p->mount == SIM_BACK && (p->company == SIM_BESIDE || p->tool != SIM_NO_TOOL))
        p->mount = SIM_THROUGH;
    /* A program that sets this hint on NFS must not read data that another node
     * writes. */
    if (p->mount == SIM_NFS && strstr(p->hints, "nc_file_io=posix") != NULL)
        p->mount = SIM_COHERENT;
}

/* ---- features that are used only by seeds from SIM_RICH on ---- */

static void draw_last_hints(struct sim_plan *p, uint64_t *s)
{
    static const char *const words[] = {"nc_transfer=direct",
                                        "nc_transfer=node",
                                        "nc_transfer=view",
                                        "nc_file_io=mpi",
                                        "nc_file_io=posix",
                                        "nc_trace=" SIM_NOTES "trace",
                                        "nc_statistics=enable",
                                        "nc_report=" SIM_NOTES "report",
                                        "nc_node_procs=2",
                                        "nc_num_aggrs_per_node=1",
                                        "nc_num_aggrs_per_node=2",
                                        "striping_unit=4096;striping_factor=2",
                                        "nc_record_align_size=64",
                                        "romio_no_indep_rw=true",
                                        "nc_node_share_size=4096",
                                        "nc_header_read_chunk_size=64",
                                        "nc_ibuf_size=1024",
                                        "nc_blob_checksums=disable",
                                        "nc_burst_buf_log_at=post",
                                        "nc_burst_buf_flush=flush_immediate",
                                        "nc_burst_buf_threads=3",
                                        "nc_burst_buf_delay=0",
                                        "nc_burst_buf_bandwidth=100000",
                                        "nc_burst_buf_recover=always",
                                        "nc_stage_block_size=4096",
                                        "nc_stage_checksums=enable",
                                        "nc_stage_scope=global",
                                        "nc_stage_prefetch=open",
                                        "nc_stage_prefetch=v0,v1",
                                        "nc_stage_size=65536",
                                        "nc_stage_ahead=disable",
                                        "nc_stage_exchange=disable"};
    const uint64_t n = sizeof words / sizeof words[0];
    for (uint64_t most = sim_draw(s, 6); most > 0; most--)
        add_new_word(p, words[sim_draw(s, n)]);
    if (p->seed % 3 == 0 && sim_draw(s, 2) && strstr(p->hints, "nc_stage=") == NULL)
        add_word(p, "nc_stage=enable");
    p->listed = sim_draw(s, 4) == 0;
    p->safe = sim_draw(s, 4) == 0;
}

/* Gives some plans many processes with few elements each. */
static void draw_many(struct sim_plan *p, uint64_t *s)
{
    const uint64_t kind = sim_draw(s, 64);
    if (p->lockless || kind > 8) return;
    p->procs = kind == 0 ? SIM_PROCESSES : 6 + (int)sim_draw(s, 11);
    p->nodes = 1 + (int)sim_draw(s, 8);
    p->recoverers = 1 + (int)sim_draw(s, 6);
    for (int i = 0; i < p->nvars; i++)
        p->vars[i].each = 1 + p->vars[i].each % 6;
}

static void draw_kinds(struct sim_plan *p, uint64_t *s)
{
    for (int i = 0; i < p->nops; i++) {
        struct sim_op *op = &p->ops[i];
        const struct sim_var *v = &p->vars[op->var];
        op->kind = (enum plan_kind)sim_draw(s, PLAN_KINDS);
        op->memory = (int)sim_draw(s, 1 << 20);
        op->own = sim_draw(s, 3) == 0;
        op->buffered = sim_draw(s, 2);
        op->posted = sim_draw(s, 3) == 0;
        op->takes = sim_draw(s, 3) == 0;
        const bool posts = op->what == SIM_POST || (op->what == SIM_GET && op->posted);
        if ((op->kind == PLAN_BLOCK && v->mixed && p->procs > 1) ||
            (op->kind == PLAN_SINGLE &&
             (op->n * v->each > 24 || (op->what == SIM_GET && v->record))) ||
            (op->kind == PLAN_MANY && posts) ||
            (op->kind == PLAN_TYPED && (v->record || posts || v->type == PLAN_CHAR)))
            op->kind = PLAN_STRIDED;
    }
}

/* Chooses the number of datasets, and the dataset of each variable and operation. */
static void draw_sets(struct sim_plan *p, uint64_t *s)
{
    p->sets = sim_draw(s, 4) == 0 && p->nvars > 1 ? 2 : 1;
    for (int i = 0; i < p->nvars; i++)
        p->vars[i].set = p->sets > 1 ? i % 2 : 0;
    for (int i = 0; i < p->nops; i++) {
        struct sim_op *op = &p->ops[i];
        bool access = op->what == SIM_PUT || op->what == SIM_PUT_OWN ||
                      op->what == SIM_POST || op->what == SIM_GET;
        op->set = access ? p->vars[op->var].set : (int)sim_draw(s, (uint64_t)p->sets);
        for (int v = 0; v < p->nvars; v++)
            if (p->vars[v].since == i) op->set = p->vars[v].set;
    }
}

static void draw_rich(struct sim_plan *p, uint64_t *s)
{
    for (int i = 0; i < p->nvars; i++) {
        p->vars[i].type = types[sim_draw(s, p->format == 5 ? TYPES : OLD_TYPES + 1)].type;
        p->vars[i].small = sim_draw(s, 2);
    }
    for (int i = 0; i < p->nvars; i++) {
        const uint64_t x = splitmix_hash(p->seed * SIM_VARS + (uint64_t)i);
        const int own = plan_memory_of(p->vars[i].type);
        p->vars[i].other =
            x % 2 || own == MEMORY_TEXT ? own : 1 + (int)(x / 2 % (MEMORY_TYPES - 1));
    }
    draw_many(p, s);
    draw_sets(p, s);
    draw_kinds(p, s);
    draw_last_hints(p, s);
    p->fine = sim_draw(s, 2);
    if (!p->parts || p->joined || p->lockless || sim_draw(s, 3) > 0) return;
    p->tool = SIM_JOIN;
    p->company = SIM_TOGETHER;
}

/* Randomly enables staging: several nodes read a file long after its last change, and
 * exchange staged blocks. Uses its own sequence of random numbers. */
static void draw_staging(struct sim_plan *p)
{
    static const char *const words[] = {
        "nc_stage_exchange=enable",  "nc_stage_scope=global",  "nc_stage_size=8192",
        "nc_stage_checksums=enable", "nc_stage_prefetch=open", "nc_stage_keep=enable"};
    uint64_t s = splitmix_hash(~p->seed);
    const bool stages = !p->lockless && sim_draw(&s, 3) == 0;
    if (stages) add_new_word(p, "nc_stage=enable");
    if (strstr(p->hints, "nc_stage=") != NULL) add_word(p, "nc_stage_dirname=/sim");
    if (!stages) return;
    if (sim_draw(&s, 4) > 0) add_new_word(p, "nc_stage_block_size=4096");
    for (uint64_t most = sim_draw(&s, 4); most > 0; most--)
        add_new_word(p, words[sim_draw(&s, sizeof words / sizeof words[0])]);
    p->rest = 10 + (int)sim_draw(&s, 8);
    /* SimGrid allocates error handlers only for as many processes as the first job has,
     * and for at least 3. */
    const int most = p->procs > 3 ? p->procs : 3;
    if (p->nodes == 1) p->nodes = 2 + (int)sim_draw(&s, 3);
    p->recoverers += 1 + (int)sim_draw(&s, 3);
    if (p->recoverers > most) p->recoverers = most;
}

/* Makes some puts write only part of a process's elements, or another process's elements.
 * The library must then move the values out of the blob's frames. */
static void draw_partial_puts(struct sim_plan *p, uint64_t *s)
{
    /* If puts are shifted, a process gets values that another process put, without a sync
     * in between. */
    const bool shifts = p->procs > 1 && p->mount == SIM_COHERENT && !asks_for_mpi(p) &&
                        strstr(p->hints, "nc_burst_buf=enable") == NULL;
    for (int i = 0; i < p->nops; i++) {
        struct sim_op *op = &p->ops[i];
        const uint64_t kind = sim_draw(s, 8);
        if (kind < 2) op->part = 1 + (int)sim_draw(s, (uint64_t)p->vars[op->var].each);
        if (kind == 2 && shifts) op->shift = 1 + (int)sim_draw(s, (uint64_t)p->procs - 1);
    }
}

/* Randomly enables compression. Because it requires subfiles, adds them to some plans
 * that have none. Uses its own random sequence. */
static void draw_frames(struct sim_plan *p)
{
    static const char *const words[] = {"zstd",       "zstd:5",       "zstd",       "lz4",
                                        "zstd@v0,v1", "zstd/none@v0", "lz4/zstd@v1"};
    static const char *const again[] = {"", "lz4", "zstd:3", "none", "zstd/lz4@v0"};
    char hint[64];
    uint64_t s = splitmix_hash(p->seed * 2 + 4);
    if (!p->parts && sim_draw(&s, 6) > 0) return;
    if (sim_draw(&s, 4) == 0 && p->parts) return;
    if (!p->parts) {
        add_hint(p, "nc_num_subfiles", 1 + (int64_t)sim_draw(&s, 3));
        add_word(p, "nc_blob=enable");
        p->parts = true;
    }
    p->framed = true;
    const char *word = words[sim_draw(&s, sizeof words / sizeof words[0])];
    snprintf(hint, sizeof hint, "nc_compress=%s", word);
    add_word(p, hint);
    if (sim_draw(&s, 2)) word = again[sim_draw(&s, sizeof again / sizeof again[0])];
    snprintf(p->again, sizeof p->again, "%s", word);
    if (sim_draw(&s, 16) == 0 && sim_type_size(p->vars[0].type) == 8)
        p->vars[0].each = 45000; /* makes the blob longer than one frame */
    draw_partial_puts(p, &s);
}

/* Randomly adds invalid hints, which the library must ignore, and invalid calls, which
 * must not change anything. Uses its own random sequence. */
static void draw_errors(struct sim_plan *p)
{
    static const char *const words[] = {
        "nc_transfer=banana",        "nc_var_align_size=four", "nc_stage_size=-1",
        "nc_burst_buf_threads=many", "nc_compress=zip:3",      "nc_blob_join=never",
        "nc_data_move_chunk_size=0", "cb_buffer_size=x",       "nc_burst_buf_flush=later",
        "nc_stage_prefetch=nobody",  "nc_quantize=bitgroom",   "nc_no_such_hint=1",
        "nc_burst_buf_bandwidth=1e9"};
    uint64_t s = splitmix_hash(p->seed * 2 + 5);
    for (uint64_t most = sim_draw(&s, 3); most > 0; most--)
        add_new_word(p, words[sim_draw(&s, sizeof words / sizeof words[0])]);
    for (int i = 0; i < p->nops; i++)
        if (sim_draw(&s, 3) == 0) p->ops[i].wrong = 1 + (int)sim_draw(&s, 1000);
}

/* Gives some headers enough padding for all redefinitions, each of which adds more than a
 * page. Data therefore never moves, and the journal protects only the new header, often
 * after unsynced puts. Uses its own random sequence. */
static void draw_roomy_header(struct sim_plan *p)
{
    uint64_t s = splitmix_hash(p->seed * 2 + 6);
    if (sim_draw(&s, 4) > 0 || strstr(p->hints, "nc_header_align_size=") != NULL) return;
    add_hint(p, "nc_header_align_size", 1 << 17);
    if (p->ops[0].what != SIM_REDEFINE) p->ops[0].what = SIM_SYNC;
    for (int i = 0; i < p->nops; i++) {
        struct sim_op *op = &p->ops[i];
        if (op->what == SIM_GET && sim_draw(&s, 4) > 0) op->what = SIM_REDEFINE;
        if (op->what != SIM_REDEFINE) continue;
        op->n = 4096 + op->n % 4096;
        op->own = false; /* if set, the op adds a variable and moves data */
    }
}

/* Randomly adds one or two other jobs, or a tool, which usually run while the first job
 * writes its dataset. These plans use subfiles more often than others. Uses its own
 * random sequence. */
static void draw_company(struct sim_plan *p)
{
    static const enum sim_tool any[] = {SIM_NO_TOOL, SIM_NO_TOOL, SIM_VALIDATE,
                                        SIM_FINISH, SIM_REPLAY};
    static const enum sim_tool parts[] = {
        SIM_NO_TOOL, SIM_NO_TOOL, SIM_VALIDATE, SIM_JOIN,    SIM_COMPACT, SIM_COMPACT,
        SIM_REMOVE,  SIM_REMOVE,  SIM_DELETE,   SIM_CLOBBER, SIM_REPLAY,  SIM_FINISH};
    uint64_t s = splitmix_hash(p->seed * 2 + 7);
    if (p->lockless) return;
    if (!p->parts && sim_draw(&s, 2)) {
        add_hint(p, "nc_num_subfiles", 1 + (int64_t)sim_draw(&s, 3));
        add_new_word(p, "nc_blob=enable");
        p->parts = true;
    }
    p->company = sim_draw(&s, 3) ? SIM_BESIDE : SIM_TOGETHER;
    p->tool = p->parts ? parts[sim_draw(&s, sizeof parts / sizeof parts[0])]
                       : any[sim_draw(&s, sizeof any / sizeof any[0])];
    if (p->joined &&
        (p->tool == SIM_JOIN || p->tool == SIM_REMOVE || p->tool == SIM_COMPACT))
        p->tool = SIM_NO_TOOL;
    if (p->tool == SIM_DELETE || p->tool == SIM_CLOBBER) p->company = SIM_BESIDE;
    p->three = p->company == SIM_BESIDE && sim_draw(&s, 3) == 0;
    if (p->mount == SIM_BACK) p->mount = SIM_THROUGH; /* as in draw_mount */
}

void sim_plan_draw(struct sim_plan *p, uint64_t seed)
{
    static const int formats[] = {1, 2, 5};
    uint64_t s = splitmix_hash(seed * 2 + 1);
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
    s = splitmix_hash(seed * 2 + 2);
    draw_more_hints(p, &s);
    p->sets = 1;
    if (seed < SIM_RICH) return;
    draw_rich(p, &s);
    draw_staging(p);
    draw_mount(p);
    if (seed >= SIM_FRAMED) draw_frames(p);
    if (seed >= SIM_ERRING) draw_errors(p);
    if (seed >= SIM_ERRING) draw_roomy_header(p);
    if (seed >= SIM_PAIRED) draw_company(p);
    /* MPI-IO extends a file by rewriting its last byte, which could overwrite a value
     * that another job has just put. */
    if (asks_for_mpi(p) && p->company == SIM_BESIDE) p->company = SIM_ALONE;
}

/* ---- small plans for sim_orders.cpp ---- */

#define LOGS "nc_burst_buf=enable;nc_burst_buf_dirname=" SIM_LOGS
#define SUBS "nc_blob=enable;nc_num_subfiles=2"
#define OP(does, v, row, rows)                                                           \
    {                                                                                    \
        .what = (does), .var = (v), .first = (row), .n = (rows)                          \
    }
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
     {OP(SIM_PUT, 0, 0, 2), OP(SIM_SYNC, 0, 0, 0), OP(SIM_REDEFINE, 0, 0, 300)}},
    {"log",
     LOGS,
     SIM_ALONE,
     0,
     3,
     {OP(SIM_PUT, 0, 0, 2), OP(SIM_SYNC, 0, 0, 0), OP(SIM_PUT, 1, 0, 1)}},
    {"replay",
     LOGS ";nc_burst_buf_shared_logs=enable",
     SIM_TOGETHER,
     1,
     2,
     {OP(SIM_PUT, 0, 0, 2), OP(SIM_PUT, 1, 0, 1)}},
    {"deferred",
     LOGS ";nc_deferred_close=enable",
     SIM_ALONE,
     0,
     1,
     {OP(SIM_PUT, 0, 0, 2)}},
    {"blobs", SUBS, SIM_ALONE, 0, 2, {OP(SIM_PUT, 0, 0, 2), OP(SIM_SYNC, 0, 0, 0)}},
    {"join", SUBS ";nc_blob_join=close", SIM_ALONE, 0, 1, {OP(SIM_PUT, 0, 0, 2)}},
    {"behind", SUBS ";nc_blob_join=behind", SIM_ALONE, 0, 1, {OP(SIM_PUT, 0, 0, 2)}},
    {"stage",
     "nc_stage=enable;nc_stage_block_size=4096;nc_stage_size=4096",
     SIM_ALONE,
     1,
     1,
     {OP(SIM_PUT, 0, 0, 2)}},
};

const char *sim_plan_small(struct sim_plan *p, int i, int *moving)
{
    if (i < 0 || i >= (int)(sizeof small / sizeof small[0])) return NULL;
    *p = (struct sim_plan){.seed = 2,
                           .format = 1,
                           .procs = 2,
                           .nodes = 2,
                           .recoverers = 1,
                           .company = small[i].company,
                           .sets = 1,
                           .parts = strstr(small[i].hints, SUBS) != NULL,
                           .joined = strstr(small[i].hints, "nc_blob_join") != NULL,
                           .nvars = 2,
                           .nops = small[i].nops,
                           .vars = {{.type = PLAN_INT,
                                     .other = MEMORY_DOUBLE,
                                     .rows = 2,
                                     .each = 3,
                                     .mixed = true,
                                     .since = -1},
                                    {.type = PLAN_SHORT,
                                     .other = MEMORY_DOUBLE,
                                     .record = true,
                                     .rows = 1,
                                     .each = 2,
                                     .since = -1}}};
    memcpy(p->ops, small[i].ops, sizeof small[i].ops);
    add_word(p, small[i].hints);
    p->reads = p->fine = strcmp(small[i].name, "stage") == 0;
    if (p->reads) p->recoverers = 3;
    *moving = small[i].moving;
    return small[i].name;
}

/* ---- printing plans ---- */

void sim_plan_print(const struct sim_plan *p)
{
    static const char *const words[SIM_WHATS] = {
        [SIM_PUT] = "put",           [SIM_PUT_OWN] = "put, independent",
        [SIM_POST] = "iput, wait",   [SIM_SYNC] = "sync",
        [SIM_GET] = "get",           [SIM_REDEFINE] = "redefine",
        [SIM_REOPEN] = "close, open"};
    static const char *const company[] = {"", " in each of two concurrent jobs",
                                          ", concurrently with the first job"};
    static const char *const tools[] = {"",
                                        " (ncmpilog replay)",
                                        " (ncvalidator -f)",
                                        " (ncmpijoin)",
                                        " (ncvalidator)",
                                        " (ncmpijoin --compact)",
                                        " (ncmpijoin --remove)",
                                        " (ncmpi_delete)",
                                        " (ncmpi_create)"};
    static const char *const kinds[PLAN_KINDS] = {
        "", ", vara", ", var1", ", varm", ", varn", ", mput", ", flexible", ", vard"};
    printf("CDF-%d, %d processes on %d nodes, then %d processes%s%s\nhints: %s\n",
           p->format, p->procs, p->nodes, p->recoverers, company[p->company],
           tools[p->tool], p->hints);
    printf("create%s%s%s, on %s\n", p->fill ? ", fill" : "",
           p->lockless ? ", without locks" : "", p->listed ? ", hints from a file" : "",
           sim_mount_name(p->mount));
    if (p->three) printf("a third job runs at the same time\n");
    if (p->safe) printf("PNETCDF_SAFE_MODE=1\n");
    if (p->framed) printf("opened with nc_compress=%s\n", p->again);
    if (p->rest > 0) printf("staged %d s later\n", p->rest);
    for (int i = 0; i < p->nvars; i++)
        printf("  v%d%s: type %d, %s %d x %lld, %s, from op %d\n", i,
               p->vars[i].set ? " of dataset 1" : "", p->vars[i].type,
               p->vars[i].record ? "records" : "rows", p->vars[i].rows,
               (long long)sim_row(p, i), p->vars[i].mixed ? "round-robin" : "blocks",
               p->vars[i].since);
    for (int i = 0; i < p->nops; i++) {
        const struct sim_op *op = &p->ops[i];
        bool access =
            op->what != SIM_SYNC && op->what != SIM_REOPEN && op->what != SIM_REDEFINE;
        printf("%3d %s", i, words[op->what]);
        if (access)
            printf(" v%d, rows %d to %d%s%s%s%s", op->var, op->first,
                   op->first + op->n - 1, kinds[op->kind], op->own ? ", independent" : "",
                   op->buffered ? ", buffered" : "", op->posted ? ", posted" : "");
        if (access && op->part > 0) printf(", %d elements of each part", op->part);
        if (access && op->shift > 0) printf(", part of rank + %d", op->shift);
        if (op->what == SIM_REDEFINE)
            printf(", adds %d values%s", op->n,
                   op->takes ? ", deletes an attribute" : "");
        if (op->set > 0) printf(", dataset 1");
        if (op->wrong > 0) printf(", after invalid call %d", op->wrong - 1);
        printf("\n");
    }
    printf("close\n");
}
