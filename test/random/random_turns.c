/* Turns of random processes at random places, in independent mode. */
#include <stdlib.h>

#include "pnetcdf_ext.h"
#include "random_access.h"

enum { MOST = MAX_RECORDS * MAX_LENGTH * MAX_LENGTH * MAX_LENGTH };

/* What all turns have in common. */
struct game {
    int ncid, varid;
    struct model *m;
    struct model_var *v;
    struct slab place;  /* where most of them go */
    MPI_Offset records; /* that all processes know of */
};

/* ---- what says that a put is done ---- */

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
    bool all; /* all processes do it; else the one that has put */
} ways[] = {{sync_by_all, false},  {sync_by_all, true},  {flush_by_all, false},
            {flush_by_all, false}, {let_threads, false}, {change_modes, true}};

static void finish_turn(struct game *g, int who)
{
    uint64_t way = check_random(sizeof ways / sizeof ways[0]);
    if (ways[way].all || check.rank == who) ways[way].done(g);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- turns ---- */

static int put(const struct game *g, const struct slab *s, const void *buf, MPI_Offset n,
               MPI_Datatype type, bool posts)
{
    int id = NC_REQ_NULL, status = NC_NOERR;
    if (!posts)
        return ncmpi_put_vars(g->ncid, g->varid, s->start, s->count, s->stride, buf, n,
                              type);
    int err = ncmpi_iput_vars(g->ncid, g->varid, s->start, s->count, s->stride, buf, n,
                              type, &id);
    int waited = ncmpi_wait(g->ncid, 1, &id, &status);
    if (err == NC_NOERR) err = waited;
    return err == NC_NOERR ? status : err;
}

static void take_turn(struct game *g, put_mirror *mirror, void *to)
{
    double buf[MOST]; /* of any type */
    struct slab s = g->place, other;
    int who = (int)check_random((uint64_t)check.nprocs), write = ++g->m->writes;
    bool posts = check_random(3) == 0, same = check_random(4) > 0;
    MPI_Datatype type = memory_type(g->v);
    (void)model_random_slab(g->m, g->v, true, &other);
    if (!same) s = other;
    MPI_Offset n = slab_nelems(g->v, &s);
    for (MPI_Offset i = 0; i < n; i++)
        memory_set(buf, type, i, model_value(g->v, write, slab_element(g->v, &s, i)));
    if (check.rank == who) CHECK_NC(NC_NOERR, put(g, &s, buf, n, type, posts));
    model_write(g->m, g->v, &s, write);
    mirror(to, g->varid, g->v, &s, write);
    finish_turn(g, who);
}

/* One process looks, and the next turn waits for it. */
static void look(const struct game *g)
{
    double buf[MOST];
    struct slab s = {0};
    struct model known = *g->m;
    int who = (int)check_random((uint64_t)check.nprocs), unknown = 0;
    known.numrecs = g->records;
    bool some = model_random_slab(&known, g->v, false, &s);
    if (some && check.rank == who) {
        MPI_Datatype type = g->v->type == NC_CHAR ? MPI_CHAR : MPI_DOUBLE;
        MPI_Offset n = slab_nelems(g->v, &s);
        int err =
            ncmpi_get_vars(g->ncid, g->varid, s.start, s.count, s.stride, buf, n, type);
        for (MPI_Offset i = 0; i < n; i++) {
            MPI_Offset e = slab_element(g->v, &s, i);
            unknown += !g->v->known[e];
            if (g->v->known[e]) CHECK_EQ(g->v->value[e], memory_get(buf, type, i));
        }
        if (err != NC_ERANGE || unknown == 0) CHECK_NC(NC_NOERR, err);
    }
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
