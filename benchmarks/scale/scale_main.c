/* Runs one workload on a simulated machine: creates a file, puts, closes, opens it again,
 * gets and compares every value. Prints one line each for `header` (create, enddef and
 * close), `put` and `get`. If SCALE_REPEAT=N is set in the environment, N lines of `put+`
 * and `get+` follow, which represent the later steps of a program. `run` formats the
 * lines as tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "scale.h"

void scale_need(int err, const char *what)
{
    if (err == NC_NOERR) return;
    fprintf(stderr, "scale: %s: %s\n", what, ncmpi_strerror(err));
    exit(1);
}

void *scale_alloc(int64_t n, size_t size)
{
    void *p = calloc(n > 0 ? (size_t)n : 1, size);
    if (p == NULL) scale_need(NC_ENOMEM, "buffers");
    return p;
}

void scale_part_new(struct scale_part *p, int ndims, int64_t n)
{
    *p = (struct scale_part){.ndims = ndims, .nsegs = n};
    p->starts = scale_alloc(2 * n, sizeof *p->starts);
    p->counts = p->starts + n;
    MPI_Offset *place = scale_alloc(2 * n * ndims, sizeof *place);
    for (int64_t i = 0; i < 2 * n; i++)
        p->starts[i] = place + i * ndims;
}

void scale_part_free(struct scale_part *p)
{
    if (p->starts == NULL) return;
    free(p->starts[0]);
    free(p->starts);
    *p = (struct scale_part){0};
}

/* ---- values: an element's value depends on its position ---- */

static int bits = 32; /* number of random bits in a value; the other bits are zero */

static uint32_t value_at(int var, uint64_t place)
{
    uint64_t x = (place + 1) * 0x9E3779B97F4A7C15u + (uint64_t)var * 0xD1B54A32D192ED03u;
    x = (x ^ x >> 32) *
        0xD6E8FEB86659FD93u; /* decorrelates neighbours, which would compress too well */
    return (uint32_t)(x >> (64 - bits));
}

static int64_t width_of(nc_type type)
{
    return type == NC_DOUBLE ? 8 : 4;
}

/* Generates or verifies n values, starting with the element at `place`. Returns the
 * number of wrong values. */
static int64_t see_row(nc_type type, void *at, int var, uint64_t place, int64_t n,
                       bool fill)
{
    int64_t wrong = 0;
    int32_t *whole = at;
    double *real = at;
    for (int64_t i = 0; i < n; i++) {
        int32_t value = (int32_t)value_at(var, place + (uint64_t)i);
        if (fill && type == NC_INT) whole[i] = value;
        if (fill && type == NC_DOUBLE) real[i] = value;
        if (!fill) wrong += type == NC_INT ? whole[i] != value : real[i] != value;
    }
    return wrong;
}

/* Generates or verifies the values of a box. Returns the number of wrong values. */
static int64_t see_box(const struct scale_var *v, int var, const MPI_Offset *start,
                       const MPI_Offset *count, char **at, bool fill)
{
    MPI_Offset index[SCALE_MAX_DIMS] = {0};
    int last = v->ndims - 1, d;
    int64_t wrong = 0;
    do {
        uint64_t place = 0;
        for (d = 0; d <= last; d++)
            place = place * (uint64_t)(v->shape[d] > 0 ? v->shape[d] : 1) +
                    (uint64_t)(start[d] + index[d]);
        wrong += see_row(v->type, *at, var, place, count[last], fill);
        *at += count[last] * width_of(v->type);
        for (d = last - 1; d >= 0 && ++index[d] == count[d]; d--)
            index[d] = 0;
    } while (d >= 0);
    return wrong;
}

/* Generates or verifies the values of all variables, one variable after the other. */
static int64_t see_all(const struct scale_plan *plan, char *at, bool fill)
{
    int64_t wrong = 0;
    for (int i = 0, var = 0; i < plan->nvars; i++) {
        const struct scale_var *v = &plan->vars[i];
        for (int c = 0; c < v->copies; c++, var++)
            for (int64_t k = 0; k < v->part.nsegs; k++)
                wrong += see_box(v, var, v->part.starts[k], v->part.counts[k], &at, fill);
    }
    return wrong;
}

static int64_t bytes_of(const struct scale_plan *plan)
{
    int64_t n = 0;
    for (int i = 0; i < plan->nvars; i++) {
        const struct scale_var *v = &plan->vars[i];
        n += v->part.nelems * v->copies * width_of(v->type);
    }
    return n;
}

/* ---- library calls ---- */

static void define(int ncid, const struct scale_plan *plan)
{
    char name[64];
    int dims[SCALE_MAX_DIMS], time = -1, id;
    for (int i = 0; i < plan->nvars; i++) {
        const struct scale_var *v = &plan->vars[i];
        for (int d = 0; d < v->ndims; d++) {
            bool record = v->shape[d] == NC_UNLIMITED;
            snprintf(name, sizeof name, "%s_%d", v->name, d);
            if (record && time < 0)
                scale_need(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &time), "def_dim");
            if (!record)
                scale_need(ncmpi_def_dim(ncid, name, v->shape[d], &dims[d]), "def_dim");
            else
                dims[d] = time;
        }
        for (int c = 0; c < v->copies; c++) {
            snprintf(name, sizeof name, "%s%d", v->name, c);
            scale_need(ncmpi_def_var(ncid, name, v->type, v->ndims, dims, &id),
                       "def_var");
        }
    }
}

static int call(int ncid, int var, const struct scale_var *v, void *at, bool put,
                bool later)
{
    const struct scale_part *p = &v->part;
    MPI_Datatype type = v->type == NC_DOUBLE ? MPI_DOUBLE : MPI_INT;
    int n = (int)p->nsegs;
    if (n != 1 && later && put)
        return ncmpi_iput_varn(ncid, var, n, p->starts, p->counts, at, p->nelems, type,
                               NULL);
    if (n != 1 && later)
        return ncmpi_iget_varn(ncid, var, n, p->starts, p->counts, at, p->nelems, type,
                               NULL);
    if (n != 1 && put)
        return ncmpi_put_varn_all(ncid, var, n, p->starts, p->counts, at, p->nelems,
                                  type);
    if (n != 1)
        return ncmpi_get_varn_all(ncid, var, n, p->starts, p->counts, at, p->nelems,
                                  type);
    if (later && put)
        return ncmpi_iput_vara(ncid, var, *p->starts, *p->counts, at, p->nelems, type,
                               NULL);
    if (later)
        return ncmpi_iget_vara(ncid, var, *p->starts, *p->counts, at, p->nelems, type,
                               NULL);
    if (put)
        return ncmpi_put_vara_all(ncid, var, *p->starts, *p->counts, at, p->nelems, type);
    return ncmpi_get_vara_all(ncid, var, *p->starts, *p->counts, at, p->nelems, type);
}

static void move(int ncid, const struct scale_plan *plan, char *at, bool put)
{
    for (int i = 0, var = 0; i < plan->nvars; i++) {
        const struct scale_var *v = &plan->vars[i];
        for (int c = 0; c < v->copies; c++, var++) {
            scale_need(call(ncid, var, v, at, put, plan->nonblocking),
                       put ? "put" : "get");
            at += v->part.nelems * width_of(v->type);
        }
    }
    if (plan->nonblocking)
        scale_need(
            ncmpi_wait_all(ncid, put ? NC_PUT_REQ_ALL : NC_GET_REQ_ALL, NULL, NULL),
            "wait_all");
}

/* ---- measuring ---- */

struct look {
    double time;
    struct machine_counts counts;
};

/* Reads the time and the counters when all processes have reached the same point. */
static struct look look(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    struct look now = {machine_now(), *machine_counts_get()};
    MPI_Barrier(MPI_COMM_WORLD); /* all processes must have read the counters before any
                                  * process continues */
    return now;
}

/* Prints a line of name-value pairs. `total` is the number of bytes transferred. */
static void report(const struct scale *s, const char *workload, const char *phase,
                   const struct look *from, const struct look *to, int64_t total)
{
    const struct machine_counts *a = &from->counts, *b = &to->counts;
    double time = to->time - from->time, n = s->nprocs;
    MPI_Offset most = 0, all[2] = {0, 0}, mine[2];
    if (ncmpi_inq_malloc_max_size(&most) != NC_NOERR) most = 0;
    mine[0] = most, mine[1] = b->window_bytes;
    MPI_Reduce(mine, all, 2, MPI_OFFSET, MPI_MAX, 0, MPI_COMM_WORLD);
    if (s->rank != 0) return;
    printf("result workload %s phase %s procs %d seconds %.9f bytes %lld rate %.4g limit "
           "%.4g "
           "fraction %.4f",
           workload, phase, s->nprocs, time, (long long)total, total / time,
           machine_limit(), total / time / machine_limit());
    printf(" messages %.2f message_bytes %.0f node_messages %.2f node_message_bytes %.0f",
           (double)(b->messages - a->messages) / n,
           (double)(b->message_bytes - a->message_bytes) / n,
           (double)(b->node_messages - a->node_messages) / n,
           (double)(b->node_message_bytes - a->node_message_bytes) / n);
    printf(" reads %lld writes %lld read_bytes %lld written_bytes %lld locks %lld opens "
           "%lld "
           "metadata %lld copied %.0f waits %.1f memory %lld window %lld\n",
           (long long)(b->reads - a->reads), (long long)(b->writes - a->writes),
           (long long)(b->read_bytes - a->read_bytes),
           (long long)(b->written_bytes - a->written_bytes),
           (long long)(b->lock_transfers - a->lock_transfers),
           (long long)(b->opens - a->opens), (long long)(b->metadata - a->metadata),
           (double)(b->copied_bytes - a->copied_bytes) / n,
           (double)(b->waits - a->waits) / n, (long long)all[0], (long long)all[1]);
    fflush(stdout);
}

static void create(const char *path, MPI_Info info, const struct scale_plan *plan,
                   int *ncid)
{
    int mode = NC_CLOBBER | NC_64BIT_DATA;
    scale_need(ncmpi_create(MPI_COMM_WORLD, path, mode, info, ncid), path);
    define(*ncid, plan);
    scale_need(ncmpi_enddef(*ncid), "enddef");
}

static void run_header(const struct scale *s, const char *name, const char *path,
                       MPI_Info info, const struct scale_plan *plan)
{
    int ncid;
    struct look before = look();
    create(path, info, plan, &ncid);
    scale_need(ncmpi_close(ncid), "close");
    struct look after = look();
    report(s, name, "header", &before, &after, 0);
}

static int repetitions(void)
{
    const char *text = getenv("SCALE_REPEAT");
    return text == NULL ? 1 : (int)strtol(text, NULL, 10);
}

static void move_seen(const struct scale *s, const char *name, int ncid,
                      const struct scale_plan *plan, char *buf, int64_t total, bool put,
                      const char *path)
{
    const char *way = getenv("SCALE_WAY");
    static const char *const phases[2][2] = {{"get", "get+"}, {"put", "put+"}};
    for (int i = 0; i < repetitions(); i++) {
        struct look before = look();
        if (way != NULL)
            scale_move_by(way, s, path, plan, buf, put);
        else
            move(ncid, plan, buf, put);
        struct look after = look();
        report(s, name, phases[put][i > 0], &before, &after, total);
    }
}

static void run_data(const struct scale *s, const char *name, const char *path,
                     MPI_Info info, const struct scale_plan *plan)
{
    int ncid;
    int64_t mine = bytes_of(plan), total = 0, wrong, all_wrong = 0;
    char *buf = scale_alloc(mine, 1), other[4096];
    snprintf(other, sizeof other, "%s.other", path);
    see_all(plan, buf, true);
    MPI_Allreduce(&mine, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    create(path, info, plan, &ncid);
    move_seen(s, name, ncid, plan, buf, total, true, other);
    scale_need(ncmpi_close(ncid), "close");

    memset(buf, 0x55, (size_t)mine);
    scale_need(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &ncid), path);
    move_seen(s, name, ncid, plan, buf, total, false, other);
    scale_need(ncmpi_close(ncid), "close");
    wrong = see_all(plan, buf, false);
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (s->rank == 0 && all_wrong > 0) {
        fprintf(stderr, "scale: %s: %lld values are wrong\n", name, (long long)all_wrong);
        exit(1);
    }
    free(buf);
}

/* Creates an info object from arguments of the form "key=value". */
static MPI_Info hints(int n, char **text)
{
    MPI_Info info;
    MPI_Info_create(&info);
    for (int i = 0; i < n; i++) {
        char key[128];
        char *value = strchr(text[i], '=');
        if (value == NULL) scale_need(NC_EINVAL, text[i]);
        snprintf(key, sizeof key, "%.*s", (int)(value - text[i]), text[i]);
        MPI_Info_set(info, key, value + 1);
    }
    return info;
}

int main(int argc, char **argv)
{
    struct scale s;
    struct scale_plan plan = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s.nprocs);
    const char *random_bits = getenv("SCALE_BITS");
    if (random_bits != NULL) bits = (int)strtol(random_bits, NULL, 10);
    if (bits < 1 || bits > 32) scale_need(NC_EINVAL, "SCALE_BITS");
    if (argc < 4)
        scale_need(NC_EINVAL, "usage: scale FILE WORKLOAD BYTES [HINT=VALUE ...]");
    const char *path = argv[1], *name = argv[2];
    s.bytes = strtoll(argv[3], NULL, 10);
    const struct scale_workload *w = scale_workloads;
    while (w->name != NULL && strcmp(w->name, name) != 0)
        w++;
    if (w->name == NULL) scale_need(NC_EINVAL, name);
    MPI_Info info = hints(argc - 4, argv + 4);
    w->plan(&s, &plan);
    if (plan.nvars == 0)
        run_header(&s, name, path, info, &plan);
    else
        run_data(&s, name, path, info, &plan);
    MPI_Info_free(&info);
    for (int i = 0; i < plan.nvars; i++)
        scale_part_free(&plan.vars[i].part);
    free(plan.vars);
    MPI_Finalize();
    return 0;
}
