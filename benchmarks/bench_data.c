/* Runs a data workload. Each way writes a new file, overwrites it, and reads it. The
 * library and the raw ways take turns going first. */
#include <string.h>

#include "bench.h"

enum { WAYS = 6 };
static const struct bench_way *const ways[WAYS] = {
    &bench_lib, &bench_raw, &bench_contig, &bench_files, &bench_view, &bench_hdf5,
};

/* Returns whether no variable needs a type conversion, which a file view cannot
 * perform. */
static bool is_plain(const struct bench_plan *p)
{
    for (int i = 0; i < p->nvars; i++)
        if (p->vars[i].type != p->vars[i].mem) return false;
    return true;
}

/* Overwrites the buffer before the first get, so that stale values cannot pass
 * verification. After a put, verifies only the library's file: this program cannot decode
 * the formats of other interfaces, and raw ways may not write all runs. */
static void one_step(struct bench *b, struct bench_plan *p, const struct bench_way *way,
                     enum bench_step step, const char *variant)
{
    static const struct bench_stats none;
    bool put = step != BENCH_GET, lib = way == &bench_lib;
    const char *op = put ? "put" : "get";
    struct bench_handle h;
    struct bench_clock c;
    struct bench_stats before = none;
    if (b->rep == 0 && !put) memset(p->memory, 0xa5, (size_t)p->memory_bytes);
    way->open(b, p, step, &h);
    if (lib) bench_stats_read(b, h.id, &before);
    bench_begin(b, &c);
    int64_t bytes = way->move(p, h, put);
    if (put && b->options.sync) way->sync(h);
    bench_end(b, &c, op, way->name, variant, bytes);
    if (lib) bench_stats_report(b, h.id, &before, op, variant);
    way->close(b, p, h, step);
    if (b->rep > 0) return;
    if (lib && put) bench_check_file(b, p);
    if (!put && way->exact && (way != &bench_view || is_plain(p))) bench_check_memory(p);
}

static void one_way(struct bench *b, struct bench_plan *p, struct bench_plan *other,
                    const struct bench_way *way)
{
    bool lib = way == &bench_lib;
    const char *path = lib ? b->file : b->raw;
    bench_remove(b, path);
    bench_fill(p);
    one_step(b, p, way, BENCH_FRESH, "fresh");
    one_step(b, p, way, BENCH_OVER, "over");
    one_step(b, p, way, BENCH_GET, "warm");
    if (lib && b->options.other) one_step(b, other, way, BENCH_GET, "other");
    if (!lib || !b->options.leave) bench_remove(b, path);
}

/* In the first repetition the library goes first, because it determines the layout that
 * the other ways use. */
void bench_data(struct bench *b)
{
    const struct bench_options *o = &b->options;
    const bool asked[WAYS] = {true,    !o->alone, !o->alone, !o->alone && o->files,
                              o->view, o->hdf5};
    struct bench_plan p = {0}, other = {0};
    bool wanted[WAYS];
    b->row->plan(b, &p);
    bench_plan_finish(b, &p);
    for (int i = 0; i < WAYS; i++)
        wanted[i] = asked[i] && (ways[i]->can == NULL || ways[i]->can(b, &p));
    if (o->other) bench_plan_other(b, &p, &other);
    for (b->rep = 0; bench_again(b); b->rep++)
        for (int i = 0; i < WAYS; i++) {
            int way = b->rep % 2 == 1 ? WAYS - 1 - i : i;
            if (wanted[way]) one_way(b, &p, &other, ways[way]);
        }
    bench_plan_free(&p);
    bench_plan_free(&other);
}

void bench_leave(struct bench *b)
{
    struct bench_plan p = {0};
    struct bench_handle h;
    b->options.keep = true;
    b->row->plan(b, &p);
    bench_plan_finish(b, &p);
    bench_fill(&p);
    bench_lib.open(b, &p, BENCH_FRESH, &h);
    bench_lib.move(&p, h, true);
    bench_lib.close(b, &p, h, BENCH_FRESH);
    bench_plan_free(&p);
}
