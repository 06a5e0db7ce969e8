/* Makes random puts and gets for the random programs. All processes draw the same random
 * numbers: a hyperslab, a type in memory and the kind of call (see access.h). Each
 * process accesses its share of the slab. A put may have a fault or a wrong argument on
 * one process. */
#include "random_access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "pnetcdf.h"
#include "shortage.h"
#include "util_classic.h"

bool random_troubles;

struct request {
    struct access a;
    const struct model_var *v;
    bool is_alone; /* whether to make the access in independent mode */
    struct trouble trouble;
    bool met; /* a fault made a call fail on at least one process */
    uint64_t values[MOST];
};

/* ---- faults ---- */

/* Plans for fault_arm that inject faults into calls on the dataset's files. NULL makes an
 * allocation fail instead. */
static const char *const plans[] = {NULL,
                                    "write:%ld:EIO:%s*",
                                    "write:%ld+:ENOSPC:%s*",
                                    "write:%ld:short:%s*",
                                    "sync:%ld:EIO:%s*",
                                    "truncate:%ld:ENOSPC:%s*"};
enum { PLANS = sizeof plans / sizeof plans[0] };

bool any_process(bool here)
{
    int mine = here, any;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any != 0;
}

struct trouble random_trouble(void)
{
    struct trouble t = {random_troubles && check_random(4) == 0, 0, 0, 0};
    if (!t.any) return t;
    t.who = (int)check_random((uint64_t)check.nprocs);
    t.plan = (int)check_random(PLANS);
    t.nth = 1 + (long)check_random(4);
    return t;
}

void trouble_begin(const struct trouble *t)
{
    char text[4500];
    if (!t->any || check.rank != t->who) return;
    if (plans[t->plan] == NULL) {
        shortage_arm(t->nth);
        return;
    }
    snprintf(text, sizeof text, plans[t->plan], t->nth, check_path(""));
    CHECK(fault_arm(text));
}

/* Disarms the fault. Returns whether it made a call fail. A short write does not count,
 * because the library completes it. */
static bool trouble_end(const struct trouble *t)
{
    if (!t->any || check.rank != t->who) return false;
    bool failed = plans[t->plan] == NULL ? shortage_disarm() : fault_disarm() > 0;
    return failed &&
           strstr(plans[t->plan] == NULL ? "" : plans[t->plan], "short") == NULL;
}

bool trouble_end_all(const struct trouble *t)
{
    return t->any && any_process(trouble_end(t));
}

/* ---- kinds of access ---- */

struct access random_call(int ncid, const struct model *m, int varid, bool put,
                          const struct plan_slab *s, bool indep)
{
    enum { MANY_SINGLES = 40 };
    static const enum access_verb verbs[2][6] = {
        {ACCESS_GET, ACCESS_GET, ACCESS_GET, ACCESS_GET, ACCESS_IGET, ACCESS_IGET},
        {ACCESS_PUT, ACCESS_PUT, ACCESS_PUT, ACCESS_PUT, ACCESS_IPUT, ACCESS_BPUT}};
    const struct model_var *v = &m->vars[varid];
    struct access a = {.verb = verbs[put][check_random(6)],
                       .kind = (enum plan_kind)check_random(PLAN_KINDS),
                       .all = !indep,
                       .is_independent = indep,
                       .ncid = ncid,
                       .varid = varid,
                       .type = v->type,
                       .memory = model_random_memory(v),
                       .slab = *s,
                       .is_record = v->is_record,
                       .halves = check_random(2) == 0,
                       .cancels = check_random(4) == 0};
    const bool posts = a.verb > ACCESS_GET;
    bool is_strided = false;
    for (int d = 0; d < v->ndims; d++) {
        a.shape[d] = v->shape[d];
        is_strided |= s->stride[d] != 1;
    }
    if ((a.kind == PLAN_BLOCK && is_strided) ||
        (a.kind == PLAN_SINGLE &&
         (!(posts || indep) || plan_slab_size(s) > MANY_SINGLES)) ||
        ((a.kind == PLAN_MANY || a.kind == PLAN_TYPED) && posts))
        a.kind = PLAN_STRIDED;
    return a;
}

/* Randomly chooses a variable, a kind of access, a type, and the slab that all processes
 * together access. Returns NULL if there is nothing to get. */
static struct request *draw(int ncid, const struct model *m, bool put)
{
    struct plan_slab whole;
    int varid = (int)check_random((uint64_t)m->nvars);
    const bool is_alone = check_random(7) == 0;
    bool some = model_random_slab(m, &m->vars[varid], put, &whole);
    struct access a = random_call(ncid, m, varid, put, &whole, is_alone);
    if (!some) return NULL;
    struct request *r = calloc(1, sizeof *r);
    if (r == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        return NULL;
    }
    *r = (struct request){.a = a, .v = &m->vars[varid], .is_alone = is_alone};
    r->a.values = r->values;
    return r;
}

/* Arms the request's fault, makes the access, and returns its error code. */
static int run(struct request *r)
{
    const int ncid = r->a.ncid;
    if (r->is_alone) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    trouble_begin(&r->trouble);
    int err = access_run(&r->a), ended = NC_NOERR;
    r->met = trouble_end_all(&r->trouble);
    if (r->is_alone) ended = ncmpi_end_indep_data(ncid);
    if (!r->met) CHECK_NC(NC_NOERR, ended);
    return err != NC_NOERR ? err : ended;
}

/* ---- puts ---- */

void random_set_values(const struct access *a, const struct model_var *v, int write)
{
    for (int64_t i = 0, n = plan_slab_size(&a->slab); i < n; i++) {
        const int64_t e = plan_slab_element(&a->slab, v->shape, i);
        const uint64_t value = model_value(v, write, a->memory, e);
        CHECK(plan_convert(check.format, v->type, value, a->memory, &a->values[i]));
    }
}

/* Repeats a put and a sync until both succeed on all processes, as a program would do
 * when the disk has space again. A fault is injected only into the first attempt. If the
 * fault made no call fail, the first attempt must succeed. In the end, the file must have
 * the values. */
static void put_at_last(struct request *r)
{
    for (int tries = 0; tries < 4; tries++) {
        int err = run(r);
        if (!r->met && tries == 0) {
            CHECK_NC(NC_NOERR, err);
            return;
        }
        int synced = ncmpi_sync(r->a.ncid);
        r->trouble.any = false;
        if (!any_process(err != NC_NOERR || synced != NC_NOERR)) return;
    }
    CHECK_STR("a put that goes well at last", "none");
}

/* Puts with a wrong argument on process `who`. That process must get an error. The other
 * processes must succeed, and the file must have their values. */
static void put_with_a_mistake(struct request *r, int who)
{
    uint64_t which = check_random(3);
    const struct model_var *v = r->v;
    struct plan_slab *s = &r->a.slab;
    int last = v->ndims - 1;
    bool some = plan_slab_size(s) > 0 && last >= 0,
         fixed = last > 0 || (some && !v->is_record);
    bool bad = check.rank == who;
    if (bad && (which == 0 || !some)) r->a.varid = 99;
    if (bad && which == 1 && some) s->start[0] = -1000; /* invalid in both requests */
    if (bad && which == 2 && some && fixed) s->start[last] = MAX_LENGTH;
    if (bad && which == 2 && some && !fixed) r->a.varid = -1;
    int err = run(r);
    if (bad)
        CHECK(err != NC_NOERR);
    else
        CHECK_NC(NC_NOERR, err);
}

/* Returns whether a wrong argument always makes this kind of call fail, even if the
 * process has no elements. */
static bool can_be_wrong(const struct request *r)
{
    return r->a.kind != PLAN_SINGLE && r->a.kind != PLAN_MANY && r->a.kind != PLAN_TYPED;
}

void random_put(int ncid, struct model *m, put_mirror *mirror, void *to)
{
    struct request *r = draw(ncid, m, true);
    if (r == NULL) return;
    const int varid = r->a.varid, memory = r->a.memory;
    const struct plan_slab whole = r->a.slab;
    struct model_var *v = &m->vars[varid];
    int write = ++m->writes,
        dim = v->ndims > 0 ? (int)check_random((uint64_t)v->ndims) : 0;
    bool mistake = random_troubles && check_random(8) == 0 && can_be_wrong(r);
    int who = mistake ? (int)check_random((uint64_t)check.nprocs) : -1;
    r->a.slab = plan_slab_share(&whole, dim, check.rank, check.nprocs);
    random_set_values(&r->a, v, write);
    if (!mistake) r->trouble = random_trouble();
    if (mistake)
        put_with_a_mistake(r, who);
    else
        put_at_last(r);

    for (int p = 0; p < check.nprocs; p++) {
        struct plan_slab share = plan_slab_share(&whole, dim, p, check.nprocs);
        if (p == who || plan_slab_size(&share) == 0) continue;
        model_write(m, v, &share, write, memory);
        mirror(to, varid, v, &share);
    }
    free(r);
}

/* ---- gets ---- */

void random_check_values(const struct access *a, const struct model_var *v, int err)
{
    bool known = true, fits = true;
    for (int64_t i = 0, n = plan_slab_size(&a->slab); i < n; i++) {
        const int64_t e = plan_slab_element(&a->slab, v->shape, i);
        uint64_t expected;
        known &= v->known[e];
        if (!v->known[e]) continue;
        if (plan_convert(check.format, v->type, v->value[e], a->memory, &expected))
            CHECK(plan_is_same(a->memory, expected, a->values[i]));
        else
            fits = false;
    }
    if (known || !fits || err != NC_ERANGE) CHECK_NC(fits ? NC_NOERR : NC_ERANGE, err);
}

void random_get(int ncid, const struct model *m)
{
    struct request *r = draw(ncid, m, false);
    if (r == NULL) return;
    const struct model_var *v = r->v;
    int dim = v->ndims > 0 ? (int)check_random((uint64_t)v->ndims) : 0;
    bool all_the_same = check_random(4) == 0;
    if (!all_the_same)
        r->a.slab = plan_slab_share(&r->a.slab, dim, check.rank, check.nprocs);
    int err = run(r);
    random_check_values(&r->a, v, err);
    free(r);
}

/* ---- files ---- */

const char *random_join(const char *path, const char *joined)
{
    static unsigned char piece[1 << 16];
    struct util_classic c;
    if (util_classic_open(&c, "random", path) != 0) return path;
    if (c.base > 0) {
        FILE *f = fopen(path = joined, "w");
        CHECK(f != NULL);
        for (int64_t at = 0, n = 1; f != NULL && n > 0; at += n) {
            n = util_classic_read(&c, at, piece, sizeof piece);
            if (CHECK(n >= 0)) CHECK_EQ(n, (int64_t)fwrite(piece, 1, (size_t)n, f));
        }
        if (f != NULL) CHECK_EQ(0, fclose(f));
    }
    util_classic_close(&c);
    return path;
}
