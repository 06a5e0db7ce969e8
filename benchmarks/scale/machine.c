/* Reads the machine's parameters and charges processes for the time that their work
 * takes. */
#include "machine.h"

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine_impl.h"

struct machine_counts machine_count;
static struct machine given;

#define PARAMETER(name)                                                                  \
    {                                                                                    \
#name, offsetof(struct machine, name)                                            \
    }
static const struct {
    const char *name;
    size_t place;
} parameters[] = {
    PARAMETER(nodes),
    PARAMETER(servers),
    PARAMETER(servers_per_node),
    PARAMETER(stripe_count),
    PARAMETER(server_rate),
    PARAMETER(server_request),
    PARAMETER(request_bytes),
    PARAMETER(stripe),
    PARAMETER(lock_transfer),
    PARAMETER(lock_transfer_reading),
    PARAMETER(lock_grows),
    PARAMETER(stall_every),
    PARAMETER(stall_time),
    PARAMETER(others),
    PARAMETER(seed),
    PARAMETER(file_latency),
    PARAMETER(process_rate),
    PARAMETER(opens),
    PARAMETER(link_rate),
    PARAMETER(link_latency),
    PARAMETER(network_rate),
    PARAMETER(copy_rate),
    PARAMETER(node_copy_rate),
    PARAMETER(piece_time),
    PARAMETER(wake_time),
    PARAMETER(message_time),
    PARAMETER(compress_rate),
    PARAMETER(expand_rate),
    PARAMETER(spoil),
};

void machine_fail(const char *what, const char *which)
{
    fprintf(stderr, "simulated machine: %s: %s\n", what, which);
    exit(1);
}

static void set(const char *name, double value)
{
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        if (strcmp(parameters[i].name, name) != 0) continue;
        *(double *)((char *)&given + parameters[i].place) = value;
        return;
    }
    machine_fail("there is no such parameter", name);
}

/* Parses lines of the form "name value # source of the value". */
static void read_parameters(const char *path)
{
    char line[512], name[64];
    double value;
    FILE *f = fopen(path, "r");
    if (f == NULL) machine_fail("no file of parameters", path);
    while (fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "#\n")] = '\0';
        int n = sscanf(line, "%63s %lf", name, &value);
        if (n == 2) set(name, value);
        if (n == 1) machine_fail("a parameter without a number", name);
    }
    fclose(f);
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("SCALE_MACHINE");
    if (path == NULL) machine_fail("not set", "SCALE_MACHINE");
    read_parameters(path);
    if (given.nodes < 1 || given.stripe < 1 || given.copy_rate <= 0)
        machine_fail("parameters are missing", path);
}

const struct machine *machine_get(void)
{
    return &given;
}

const struct machine_counts *machine_counts_get(void)
{
    return &machine_count;
}

int machine_servers(void)
{
    if (given.servers_per_node <= 0) return (int)given.servers;
    double n = given.servers_per_node * given.nodes;
    return n < 1 ? 1 : (int)n;
}

int machine_file_servers(void)
{
    int all = machine_servers();
    return given.stripe_count > 0 && given.stripe_count < all ? (int)given.stripe_count
                                                              : all;
}

double machine_limit(void)
{
    double servers = machine_file_servers() * given.server_rate * (1 - given.others);
    double links = given.nodes * given.link_rate;
    if (given.network_rate > 0 && given.network_rate < links) links = given.network_rate;
    return servers < links ? servers : links;
}

double machine_now(void)
{
    return simgrid_get_clock();
}

void machine_wait_until(double time)
{
    double now = machine_now();
    if (time > now) sg_actor_sleep_for(time - now);
}

int machine_node(void)
{
    const char *name = sg_host_self_get_name();
    return (int)strtol(name + strcspn(name, "0123456789"), NULL, 10);
}

/* ---- work ---- */

struct debt {
    int64_t bytes, pieces;
};
static struct debt *debts; /* indexed by process number within the simulation */
static long ndebts;

static struct debt *my_debt(void)
{
    long me = sg_actor_self_get_pid();
    if (me >= ndebts) {
        long n = 2 * me + 64;
        debts = machine_grow(debts, ndebts, n, sizeof *debts);
        ndebts = n;
    }
    return &debts[me];
}

void *machine_grow(void *array, long old, long n, size_t size)
{
    char *more = realloc(array, (size_t)n * size);
    if (more == NULL) machine_fail("out of memory", "of this machine");
    memset(more + (size_t)old * size, 0, (size_t)(n - old) * size);
    return more;
}

/* Spends the simulated time of the work charged so far. In SimGrid's platform, a host has
 * the speed of one core, and as many cores as can copy memory at full speed at the same
 * time. */
static void pay(struct debt *d)
{
    struct debt due = *d;
    *d = (struct debt){0, 0};
    machine_count.copied_bytes += due.bytes;
    sg_actor_execute((double)due.bytes +
                     (double)due.pieces * given.piece_time * given.copy_rate);
}

void machine_work(int64_t bytes, int64_t pieces)
{
    enum { LOT = 1 << 18 };
    if (sg_actor_self() == NULL) return;
    struct debt *d = my_debt();
    d->bytes += bytes;
    d->pieces += pieces;
    if ((double)d->bytes + (double)d->pieces * given.piece_time * given.copy_rate > LOT)
        pay(d);
}

void machine_settle(void)
{
    struct debt *d = my_debt();
    if (d->bytes > 0 || d->pieces > 0) pay(d);
}

/* Charges for computation. Unlike copying, computation is not slowed down by other
 * cores. */
void machine_compute(int64_t bytes, double rate)
{
    if (rate <= 0) return;
    machine_settle();
    sg_actor_sleep_for((double)bytes / rate);
}
