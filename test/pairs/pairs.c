/* Plays schedules of jobs on one dataset, and looks for lost or wrong values: see
 * pairs.h.
 *
 *     pairs [--seeds N] [--from S] [--stack NAME,...] [--ignore VERDICT,...] [--shrink N]
 *     pairs --seed S [--keep I,...]
 *
 * For a schedule that fails, prints the shortest variant that was found to fail, and the
 * command that repeats it. Only the first failures are shortened (--shrink, 3). Exits
 * with 1 if a schedule fails. PAIRS_TOOLS sets the build directory (default: .). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pairs.h"

static struct {
    uint64_t seed, from, seeds;
    unsigned stacks, ignored;
    const char *keep;
    bool one;
    int shrink;
    double seconds;
} asked = {.from = 1, .seeds = 100, .stacks = ~0u, .shrink = 3};

static enum pairs_verdict play(struct pairs_run *r, const struct pairs_plan *p,
                               bool trace)
{
    memset(r, 0, sizeof *r);
    r->trace = trace;
    r->ignored = asked.ignored;
    pairs_play(r, p);
    return r->verdict;
}

/* Creates the file that is renamed over the dataset: an ordinary dataset with all values
 * of the first variables. */
static bool make_other(void)
{
    struct pairs_order o = {.step = {.kind = PAIRS_CREATE}, .made = PAIRS_OTHER};
    struct pairs_actor *a = &pairs_actors[PAIRS_TOOL];
    if (!pairs_actor_get(PAIRS_TOOL, 1)) return false;
    snprintf(o.path, sizeof o.path, "%s/other.nc", pairs_place.dir);
    for (int i = 0; i < PAIRS_ADDED + 2; i++) {
        if (!pairs_actor_order(PAIRS_TOOL, &o) ||
            !pairs_actors_wait(1u << PAIRS_TOOL, 60) || a->state != PAIRS_IDLE ||
            a->reply[0].rc != 0)
            return false;
        o.step = (struct pairs_step){.kind = i < PAIRS_ADDED ? PAIRS_PUT : PAIRS_CLOSE,
                                     .var = i,
                                     .rows = PAIRS_ROWS,
                                     .cols = PAIRS_X};
    }
    pairs_actor_kill(PAIRS_TOOL);
    return true;
}

/* ---- shrinking ---- */

/* Plays the schedule once more, without including it in the statistics. Returns whether
 * it still fails in the same way. */
static bool still_fails(const struct pairs_plan *p, enum pairs_verdict verdict)
{
    static struct pairs_run r;
    const struct pairs_counts counts = pairs_counts;
    const enum pairs_verdict now = play(&r, p, false);
    pairs_counts = counts;
    return now == verdict;
}

static void shrink(struct pairs_plan *p, enum pairs_verdict verdict)
{
    const int all = p->nsteps;
    for (int n = 2; n < all; n++) {
        p->nsteps = n;
        if (still_fails(p, verdict)) break;
        p->nsteps = all;
    }
    for (int i = p->nsteps - 1; i >= 0; i--) {
        p->left_out[i] = true;
        if (!still_fails(p, verdict)) p->left_out[i] = false;
    }
}

static void report(struct pairs_plan *p, struct pairs_run *r)
{
    const enum pairs_verdict verdict = r->verdict;
    printf("seed %llu: %s: %s\n", (unsigned long long)p->seed,
           pairs_verdict_name(verdict), r->what);
    fflush(stdout);
    if (asked.shrink-- <= 0) return;
    shrink(p, verdict);
    printf("  repeat: dev/pairs --seed %llu --keep ", (unsigned long long)p->seed);
    const char *comma = "";
    for (int i = 0; i < p->nsteps; i++) {
        if (p->left_out[i]) continue;
        printf("%s%d", comma, i);
        comma = ",";
    }
    printf("\n ");
    for (int i = 0; i < p->njobs; i++)
        printf(" %s: %s, %d process%s%s", pairs_actor_name(i), p->jobs[i].stack->name,
               p->jobs[i].procs, p->jobs[i].procs > 1 ? "es" : "",
               i + 1 < p->njobs ? ";" : "\n");
    const struct pairs_counts counts = pairs_counts;
    play(r, p, true);
    pairs_counts = counts;
    printf("    %s: %s\n", pairs_verdict_name(r->verdict), r->what);
    fflush(stdout);
}

/* ---- the main program ---- */

static void leave_out(struct pairs_plan *p, const char *keep)
{
    for (int i = 0; i < p->nsteps; i++)
        p->left_out[i] = true;
    for (char *end; *keep != '\0'; keep = *end == ',' ? end + 1 : end) {
        long i = strtol(keep, &end, 10);
        if (end == keep) break;
        if (i >= 0 && i < p->nsteps) p->left_out[i] = false;
    }
}

static int play_one(void)
{
    static struct pairs_run r;
    struct pairs_plan p;
    pairs_plan_draw(&p, asked.seed, asked.stacks);
    if (asked.keep != NULL) leave_out(&p, asked.keep);
    for (int i = 0; i < p.njobs; i++)
        printf("%s: %s, %d process%s\n", pairs_actor_name(i), p.jobs[i].stack->name,
               p.jobs[i].procs, p.jobs[i].procs > 1 ? "es" : "");
    play(&r, &p, true);
    printf("%s: %s\n", pairs_verdict_name(r.verdict), r.what);
    return r.verdict != PAIRS_FINE;
}

/* For each kind of step, prints the kinds of steps by other actors that followed it, and
 * how often they did. */
static void print_pairs(void)
{
    for (int a = 0; a < PAIRS_KINDS; a++) {
        const char *before = "after ";
        for (int b = 0; b < PAIRS_KINDS; b++) {
            if (pairs_counts.pairs[a][b] == 0) continue;
            if (before[0] == 'a')
                printf("after %s:", pairs_kind_name((enum pairs_kind)a));
            printf("%s %s %ld", before[0] == 'a' ? "" : ",",
                   pairs_kind_name((enum pairs_kind)b), pairs_counts.pairs[a][b]);
            before = ", ";
        }
        if (before[0] != 'a') printf("\n");
    }
}

static double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int play_all(void)
{
    static struct pairs_run r;
    const double since = clock_seconds();
    for (uint64_t seed = asked.from; seed < asked.from + asked.seeds; seed++) {
        if (asked.seconds > 0 && clock_seconds() > since + asked.seconds) break;
        struct pairs_plan p;
        pairs_plan_draw(&p, seed, asked.stacks);
        if (play(&r, &p, false) != PAIRS_FINE) report(&p, &r);
    }
    const struct pairs_counts *c = &pairs_counts;
    print_pairs();
    printf("%ld schedules, %ld steps, %ld together, %ld killed, %ld stopped, %ld waited, "
           "%ld refused openings, "
           "%.0f seconds\n",
           c->schedules, c->steps, c->together, c->kills, c->stops, c->waits, c->refusals,
           clock_seconds() - since);
    long bad = 0;
    for (int v = PAIRS_LOSS; v < PAIRS_VERDICTS; v++) {
        printf("%s%ld %s", v > PAIRS_LOSS ? ", " : "", c->verdicts[v],
               pairs_verdict_name((enum pairs_verdict)v));
        bad += c->verdicts[v];
    }
    printf("\n");
    return bad > 0;
}

/* Returns a bit mask of the names that occur in a list. */
static unsigned bits(const char *list, int n, const char *(*name)(int))
{
    unsigned found = 0;
    for (int i = 0; i < n; i++) {
        const size_t length = strlen(name(i));
        for (const char *at = list; (at = strstr(at, name(i))) != NULL; at += length)
            if ((at == list || at[-1] == ',') &&
                (at[length] == ',' || at[length] == '\0'))
                found |= 1u << i;
    }
    return found;
}

static const char *stack_name(int i)
{
    return pairs_stacks[i].name;
}

static const char *verdict_name(int i)
{
    return pairs_verdict_name((enum pairs_verdict)i);
}

static bool read_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(name, "--seed") == 0) {
            asked.one = true;
            asked.seed = strtoull(value, NULL, 10);
        } else if (strcmp(name, "--seeds") == 0)
            asked.seeds = strtoull(value, NULL, 10);
        else if (strcmp(name, "--from") == 0)
            asked.from = strtoull(value, NULL, 10);
        else if (strcmp(name, "--keep") == 0)
            asked.keep = value;
        else if (strcmp(name, "--seconds") == 0)
            asked.seconds = atof(value);
        else if (strcmp(name, "--shrink") == 0)
            asked.shrink = atoi(value);
        else if (strcmp(name, "--stack") == 0)
            asked.stacks = bits(value, pairs_nstacks(), stack_name);
        else if (strcmp(name, "--ignore") == 0)
            asked.ignored = bits(value, PAIRS_VERDICTS, verdict_name);
        else
            return false;
    }
    return asked.stacks != 0;
}

int main(int argc, char **argv)
{
    static char program[4096];
    if (argc == 4 && strcmp(argv[1], "--job") == 0)
        return pairs_job(argv[2], atoi(argv[3]));
    if (!read_arguments(argc, argv)) {
        fprintf(stderr, "usage: pairs [--seeds N] [--from S] [--stack NAME,...] [--seed "
                        "S [--keep I,...]]\n");
        return 2;
    }
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    signal(SIGPIPE, SIG_IGN);
    int rc = 2;
    if (n > 0 && pairs_place_make(program) && make_other())
        rc = asked.one ? play_one() : play_all();
    else
        perror("pairs: the jobs' processes cannot be started");
    pairs_actors_end();
    pairs_place_remove();
    return rc;
}
