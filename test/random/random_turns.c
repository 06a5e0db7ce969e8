/* Lets random processes take turns in independent mode; see random_access.h. In each turn
 * one process puts a slab, mostly the same one, with a blocking or nonblocking call, and
 * completes the put by a sync, a flush, a flush by the drain thread or a change of modes.
 * After a barrier, the next process puts, or a process reads the slab and compares it
 * with the model. */
#include "pnetcdf_ext.h"
#include "random_access.h"

/* State shared by all turns. */
struct game {
    int ncid, varid;
    struct model *m;
    struct model_var *v;
    struct plan_slab place; /* slab to which most turns put */
    int64_t records;        /* record count that all processes know */
};

/* ---- ways to complete a put ---- */

static void sync_by_all(struct game *g)
{
    CHECK_NC(NC_NOERR, ncmpi_sync(g->ncid));
}

static void flush_by_all(struct game *g)
{
    CHECK_NC(NC_NOERR, ncmpi_flush(g->ncid));
}

static void let_threads(struct game *g)
{
    int done = 0;
    CHECK_NC(NC_NOERR, ncmpix_flush_start(g->ncid));
    while (!done && CHECK_NC(NC_NOERR, ncmpix_flush_test(g->ncid, &done)))
        continue;
}

static void change_modes(struct game *g)
{
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(g->ncid));
    g->records = g->m->numrecs;
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(g->ncid));
}

static const struct {
    void (*done)(struct game *g);
    bool all; /* whether all processes call `done`, not only the one that put */
} ways[] = {{sync_by_all, false},  {sync_by_all, true},  {flush_by_all, false},
            {flush_by_all, false}, {let_threads, false}, {change_modes, true}};

static void finish_turn(struct game *g, int who)
{
    uint64_t way = check_random(sizeof ways / sizeof ways[0]);
    if (ways[way].all || check.rank == who) ways[way].done(g);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- turns ---- */

static void take_turn(struct game *g, put_mirror *mirror, void *to)
{
    uint64_t values[MOST];
    struct plan_slab s = g->place, other;
    int who = (int)check_random((uint64_t)check.nprocs), write = ++g->m->writes;
    bool same = check_random(4) > 0;
    (void)model_random_slab(g->m, g->v, true, &other);
    if (!same) s = other;
    struct access a = random_call(g->ncid, g->m, g->varid, true, &s, true);
    a.values = values;
    random_set_values(&a, g->v, write);
    if (check.rank == who) CHECK_NC(NC_NOERR, access_run(&a));
    model_write(g->m, g->v, &s, write, a.memory);
    mirror(to, g->varid, g->v, &s);
    finish_turn(g, who);
}

/* Makes one process get a slab and compare it with the model. The next turn starts
 * afterwards. */
static void look(const struct game *g)
{
    uint64_t values[MOST];
    struct plan_slab s;
    struct model known = *g->m;
    int who = (int)check_random((uint64_t)check.nprocs);
    known.numrecs = g->records;
    bool some = model_random_slab(&known, g->v, false, &s);
    struct access a = random_call(g->ncid, g->m, g->varid, false, &s, true);
    a.values = values;
    if (some && check.rank == who) random_check_values(&a, g->v, access_run(&a));
    MPI_Barrier(MPI_COMM_WORLD);
}

void random_turns(int ncid, struct model *m, put_mirror *mirror, void *to)
{
    int varid = (int)check_random((uint64_t)m->nvars);
    struct game g = {ncid, varid, m, &m->vars[varid], .records = m->numrecs};
    (void)model_random_slab(m, g.v, true, &g.place);
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    for (int turns = 2 + (int)check_random(6); turns > 0; turns--) {
        take_turn(&g, mirror, to);
        if (check_random(2) == 0) look(&g);
    }
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
}
