/* Accumulates the sums of a trace: processes, calls, agreements, transfers. */
#include <stdlib.h>
#include <string.h>

#include "base_mem.h"
#include "trace.h"

enum {
    SEVERAL = -2,
    MOST_BOXES = 40000,
    LONG = 100 /* microseconds; shorter waits do not count as long */
};

/* Adds n to a sum. Saturates on overflow, which no real program can cause. */
static void increase(int64_t *sum, int64_t n)
{
    if (__builtin_add_overflow(*sum, n, sum)) *sum = INT64_MAX;
}

/* ---- processes and datasets ---- */

static struct trace_process *process(struct trace *t, int64_t pid)
{
    if (pid < 0 || pid >= TRACE_PROCESSES) return NULL;
    if (pid >= t->nprocesses) {
        int64_t room = pid + 64;
        void *grown = base_realloc(t->processes, (size_t)room * sizeof *t->processes);
        if (grown == NULL) return NULL;
        t->processes = grown;
        for (; t->nprocesses < room; t->nprocesses++)
            t->processes[t->nprocesses] = (struct trace_process){.host = -1};
    }
    return &t->processes[pid];
}

int trace_add_process(struct trace *t, int64_t pid, double begin, double end)
{
    struct trace_process *p = process(t, pid);
    if (p == NULL) return -1;
    if (!p->there) {
        p->there = true;
        p->begin = begin;
        p->end = end;
        t->there++;
    }
    if (begin < p->begin) p->begin = begin;
    if (end > p->end) p->end = end;
    if (t->events == 0 || begin < t->begin) t->begin = begin;
    if (t->events == 0 || end > t->end) t->end = end;
    t->events++;
    return 0;
}

static int host(struct trace *t, const char *name)
{
    char **hosts = t->hosts.items;
    for (int i = 0; i < t->hosts.n; i++)
        if (strcmp(hosts[i], name) == 0) return i;
    char *copy = base_strdup(name);
    if (copy == NULL || trace_append(&t->hosts, sizeof copy, &copy) == NULL) return -1;
    return (int)t->hosts.n - 1;
}

static int add_variable(struct trace *t, const struct trace_note *n)
{
    struct trace_variable *v =
        trace_lookup(&t->variables, sizeof *v, n->set, n->var, true);
    if (v == NULL) return -1;
    base_free(v->name);
    v->name = base_strdup(n->variable);
    v->record = n->record > 0;
    return v->name == NULL ? -1 : 0;
}

static int add_framed(struct trace *t, const struct trace_note *n)
{
    struct trace_variable *v =
        trace_lookup(&t->variables, sizeof *v, n->set, n->var, true);
    if (v == NULL) return -1;
    increase(&v->values, n->values);
    increase(&v->frames, n->frames);
    v->packing += n->packing;
    return 0;
}

/* Each hint is mentioned once, whatever the number of datasets. */
static void add_unused(struct trace *t, const struct trace_note *n)
{
    char line[300];
    size_t used = strlen(t->unused);
    snprintf(line, sizeof line, "%.40s (%.240s)", n->hint,
             n->reason == NULL ? "" : n->reason);
    if (strstr(t->unused, line) != NULL) return;
    snprintf(t->unused + used, sizeof t->unused - used, "%s%s", used > 0 ? ", " : "",
             line);
}

int trace_add_note(struct trace *t, const struct trace_note *n)
{
    struct trace_set *s = trace_lookup(&t->sets, sizeof *s, n->set, 0, true);
    struct trace_process *p = process(t, n->pid);
    if (s == NULL || p == NULL) return -1;
    if (n->variable != NULL) return add_variable(t, n);
    if (n->hint != NULL) add_unused(t, n);
    if (n->frames > 0) return add_framed(t, n);
    if (n->stripe > 0) s->stripe = n->stripe;
    if (n->stripes > 0) s->stripes = n->stripes;
    if (n->path == NULL) return 0;
    if (s->path == NULL) s->path = base_strdup(n->path);
    s->processes = n->processes;
    s->seen++;
    s->pids += n->pid;
    p->host = n->host == NULL ? -1 : host(t, n->host);
    return s->path == NULL ? -1 : 0;
}

/* ---- calls and parts ---- */

struct trace_row *trace_row(struct trace *t, const char *name, bool call)
{
    for (int i = 0; i < t->nrows; i++)
        if (t->rows[i].call == call && strcmp(t->rows[i].name, name) == 0)
            return &t->rows[i];
    if (t->nrows == TRACE_NAMES || strlen(name) >= TRACE_WORD) return NULL;
    struct trace_row *r = &t->rows[t->nrows++];
    *r = (struct trace_row){.call = call};
    strcpy(r->name, name);
    return r;
}

static void add_cell(struct trace_cell *sum, const struct trace_cell *c)
{
    increase(&sum->n, c->n);
    increase(&sum->bytes, c->bytes);
    sum->time += c->time;
    sum->own += c->own;
    if (c->longest > sum->longest) sum->longest = c->longest;
}

int trace_add_cell(struct trace *t, const char *name, bool call, int64_t pid,
                   const struct trace_cell *c)
{
    struct trace_row *r = trace_row(t, name, call);
    struct trace_process *p = process(t, pid);
    if (r == NULL || p == NULL) return -1;
    if (pid >= r->ncells) {
        int64_t room = t->nprocesses;
        void *grown = base_realloc(r->cells, (size_t)room * sizeof *r->cells);
        if (grown == NULL) return -1;
        r->cells = grown;
        memset(r->cells + r->ncells, 0, (size_t)(room - r->ncells) * sizeof *r->cells);
        r->ncells = room;
    }
    add_cell(&r->cells[pid], c);
    add_cell(&r->all, c);
    if (call) p->time += c->time;
    return 0;
}

int trace_add_access(struct trace *t, int64_t set, int64_t var, int64_t n, int64_t bytes)
{
    struct trace_variable *v = trace_lookup(&t->variables, sizeof *v, set, var, true);
    if (v == NULL) return -1;
    increase(&v->n, n);
    increase(&v->bytes, bytes);
    return 0;
}

/* ---- boxes ---- */

static int by_time(const void *a, const void *b)
{
    const struct trace_box *p = a, *q = b;
    return p->time > q->time ? -1 : p->time < q->time;
}

/* Keeps only the longest boxes, because shorter ones would not be visible. */
int trace_add_box(struct trace *t, const char *name, bool call, int64_t pid, double start,
                  double time)
{
    const struct trace_row *r = trace_row(t, name, call);
    if (r == NULL) return -1;
    const struct trace_box b = {start, time, (int)pid, (int)(r - t->rows)};
    if (time < t->least_box) return 0;
    if (trace_append(&t->boxes, sizeof b, &b) == NULL) return -1;
    if (t->boxes.n < MOST_BOXES) return 0;
    struct trace_box *boxes = t->boxes.items;
    qsort(boxes, (size_t)t->boxes.n, sizeof b, by_time);
    t->boxes.n /= 2;
    t->least_box = boxes[t->boxes.n].time;
    return 0;
}

/* ---- agreements, and the processes that others waited for ---- */

static int add_agreement(struct trace *t, int64_t set, int64_t number, int64_t pid,
                         double time)
{
    struct trace_agreement *a =
        trace_lookup(&t->agreements, sizeof *a, set, number, true);
    if (a == NULL) return -1;
    if (a->seen == 0 || time < a->least) {
        a->least = time;
        a->last = pid;
    }
    a->seen++;
    a->pids += pid;
    a->sum += time;
    return 0;
}

/* A line for several agreements may represent every agreement in a range, or for all
 * except those with their own lines. In the second case it is unknown which agreements
 * the line covers, so it is ignored. */
int trace_add_agreements(struct trace *t, int64_t set, int64_t pid, int64_t first,
                         int64_t last, int64_t n, double time)
{
    enum { MOST = 1 << 20 }; /* maximum number of agreements per line */
    if (n > MOST) return -1;
    if (n != last - first + 1) return 0;
    for (int64_t i = 0; i < n; i++)
        if (add_agreement(t, set, first + i, pid, time / (double)n) != 0) return -1;
    return 0;
}

/* Attributes the waiting time of an agreement. No process leaves an agreement before the
 * last one arrives, so the process that spent the least time in it arrived last. Every
 * other process waited for the difference between its time and that least time. If
 * exactly one process did not report the agreement, that process spent little time in it,
 * so it was the last. */
static void attribute_wait(struct trace *t, const struct trace_agreement *a)
{
    const struct trace_set *s = trace_lookup(&t->sets, sizeof *s, a->set, 0, false);
    int64_t processes = s == NULL ? 0 : s->processes, last = a->last;
    if (processes < 2 || s->seen != processes) return;
    int64_t missing = processes - a->seen;
    if (missing < 0) return; /* the file contains several runs with the same number */
    double waited = a->sum - (double)a->seen * a->least;
    if (missing == 1) {
        last = s->pids - a->pids;
        waited = a->sum;
    }
    if (missing > 1 || last < 0 || last >= t->nprocesses) {
        t->unknown += a->sum;
        t->waited += a->sum;
        return;
    }
    bool is_long = waited >= LONG;
    t->processes[last].caused += waited;
    t->processes[last].late_count += is_long;
    t->waited += waited;
    t->late_count += is_long;
}

/* ---- the file ---- */

static void add_size(int64_t *classes, int64_t n, int64_t bytes)
{
    static const int64_t below[TRACE_CLASSES - 1] = {4096, 65536, 1 << 20, 1 << 24};
    int i = 0;
    while (i < TRACE_CLASSES - 1 && bytes / n >= below[i])
        i++;
    increase(&classes[i], n);
}

static int mark_stripe(struct trace *t, int64_t set, int64_t stripe, int host_of)
{
    struct trace_stripe *s = trace_lookup(&t->stripes, sizeof *s, set, stripe, false);
    if (s != NULL) {
        if (s->host != host_of) s->host = SEVERAL;
        return 0;
    }
    s = trace_lookup(&t->stripes, sizeof *s, set, stripe, true);
    if (s == NULL) return -1;
    s->host = host_of;
    return 0;
}

/* Marks the stripes of a range as written. If the range covers several writes, marks only
 * its first and last stripes, because these were certainly written. */
static int mark_stripes(struct trace *t, int64_t set, int64_t pid, int64_t low,
                        int64_t high, bool whole)
{
    enum { MOST = 1 << 20 };
    const struct trace_set *s = trace_lookup(&t->sets, sizeof *s, set, 0, false);
    int host_of = t->processes[pid].host;
    if (s == NULL || s->stripe <= 0 || host_of < 0 || low < 0 || high <= low) return 0;
    int64_t first = low / s->stripe, last = (high - 1) / s->stripe;
    if (!whole || last - first > MOST)
        return mark_stripe(t, set, first, host_of) | mark_stripe(t, set, last, host_of);
    int failed = 0;
    for (int64_t i = first; i <= last; i++)
        failed |= mark_stripe(t, set, i, host_of);
    return failed;
}

/* Records the range of reads. The range of collective reads through MPI-IO is unknown. */
static int mark_read(struct trace *t, int64_t set, int64_t bytes, int64_t low,
                     int64_t high)
{
    if (low < 0 || high <= low) return 0;
    struct trace_set *s = trace_lookup(&t->sets, sizeof *s, set, 0, true);
    if (s == NULL) return -1;
    if (s->read_high == 0 || low < s->read_low) s->read_low = low;
    if (high > s->read_high) s->read_high = high;
    increase(&t->read_bytes, bytes);
    return 0;
}

int trace_add_transfer(struct trace *t, int64_t set, int64_t pid, bool write, int64_t n,
                       int64_t bytes, int64_t low, int64_t high)
{
    add_size(write ? t->writes : t->reads, n, bytes);
    return write ? mark_stripes(t, set, pid, low, high, bytes >= high - low)
                 : mark_read(t, set, bytes, low, high);
}

/* ---- the whole trace ---- */

void trace_end(struct trace *t)
{
    const struct trace_agreement *a = t->agreements.list.items;
    const struct trace_stripe *s = t->stripes.list.items;
    for (int64_t i = 0; i < t->agreements.list.n; i++)
        attribute_wait(t, &a[i]);
    int64_t lanes = 0;
    for (int64_t pid = 0; pid < t->nprocesses; pid++) {
        t->processes[pid].lane = lanes;
        lanes += t->processes[pid].there;
    }
    const struct trace_set *sets = t->sets.list.items;
    for (int64_t i = 0; i < t->sets.list.n; i++)
        increase(&t->read_extent, sets[i].read_high - sets[i].read_low);
    t->all_stripes = t->stripes.list.n;
    for (int64_t i = 0; i < t->all_stripes; i++)
        t->shared_stripes += s[i].host == SEVERAL;
}

void trace_free(struct trace *t)
{
    char **hosts = t->hosts.items;
    struct trace_set *sets = t->sets.list.items;
    struct trace_variable *variables = t->variables.list.items;
    for (int64_t i = 0; i < t->hosts.n; i++)
        base_free(hosts[i]);
    for (int64_t i = 0; i < t->sets.list.n; i++)
        base_free(sets[i].path);
    for (int64_t i = 0; i < t->variables.list.n; i++)
        base_free(variables[i].name);
    for (int i = 0; i < t->nrows; i++)
        base_free(t->rows[i].cells);
    struct trace_table *const tables[] = {&t->sets, &t->variables, &t->agreements,
                                          &t->stripes};
    for (int i = 0; i < 4; i++) {
        base_free(tables[i]->places);
        base_free(tables[i]->list.items);
    }
    base_free(hosts);
    base_free(t->boxes.items);
    base_free(t->processes);
}

const struct trace_row *trace_find(const struct trace *t, const char *name)
{
    for (int i = 0; i < t->nrows; i++)
        if (strcmp(t->rows[i].name, name) == 0) return &t->rows[i];
    return NULL;
}

double trace_own(const struct trace *t, const char *name)
{
    const struct trace_row *r = trace_find(t, name);
    return r == NULL ? 0 : r->all.own;
}

double trace_call_time(const struct trace *t)
{
    double sum = 0;
    for (int i = 0; i < t->nrows; i++)
        if (t->rows[i].call) sum += t->rows[i].all.time;
    return sum;
}

double trace_library_time(const struct trace *t)
{
    double sum = 0;
    for (int i = 0; i < t->nrows; i++)
        if (t->rows[i].call) sum += t->rows[i].all.own;
    return sum;
}
