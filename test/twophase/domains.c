/* Tests how the part of the file that a call accesses is divided into file domains. For
 * random sizes, each byte must be transferred exactly once, no two nodes may access the
 * same stripe, and the functions for rounds and lanes must agree with the division. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "twophase_domain.h"
#include "access_walk.h"

static struct dataset dataset;
static struct file file;

/* Chooses a random machine and a random part of a file. Returns the machine. */
static struct twophase some_machine(int64_t *low, int64_t *high)
{
    static const int64_t units[] = {4096, 8192, 12288, 65536, 1 << 20, 4 << 20};
    static const int64_t sizes[] = {64, 4096, 65536, 1 << 20, 128 << 20};
    struct twophase m;
    memset(&m, 0, sizeof m);
    m.ds = &dataset;
    m.file = &file;
    m.unit = units[check_random(6)];
    m.window.nodes = 1 + (int)check_random(9);
    m.window.size = sizes[check_random(5)];
    file.stripe = check_random(4) > 0 ? m.unit : 0;
    file.stripes = (int64_t)check_random(40);
    file.objects = check_random(2);
    dataset.hints.cb_nodes = check_random(4) > 0 ? 0 : 1 + (int64_t)check_random(12);
    *low = (int64_t)check_random((uint64_t)(50 * m.unit)) / 64 * 64;
    *high = *low + 64 +
            (int64_t)check_random((uint64_t)(m.unit * (int64_t)(1 + check_random(60)))) /
                64 * 64;
    return m;
}

struct piece {
    int64_t low, high, domain;
};

static int by_place(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return x->low < y->low ? -1 : x->low > y->low;
}

/* Returns all blocks, sorted by offset. */
static struct piece *all_blocks(const struct twophase_domains *d, int64_t *n)
{
    struct piece *p = malloc((size_t)(d->count * d->rounds) * sizeof *p);
    int64_t origin;
    *n = 0;
    for (int64_t domain = 0; domain < d->count; domain++)
        for (int64_t round = 0; round < d->rounds; round++) {
            struct piece *at = &p[*n];
            if (!twophase_domain_block(d, domain, round, &origin, &at->low, &at->high))
                continue;
            CHECK(origin <= at->low && at->high <= origin + d->block);
            CHECK_EQ(domain, twophase_domain_at(d, at->low));
            CHECK_EQ(domain, twophase_domain_at(d, at->high - 1));
            CHECK_EQ(round, twophase_domain_round(d, domain, at->low));
            at->domain = domain;
            ++*n;
        }
    qsort(p, (size_t)*n, sizeof *p, by_place);
    return p;
}

static void each_byte_once(void)
{
    for (int i = 0; i < 3000; i++) {
        struct twophase_domains d;
        int64_t low, high, n;
        struct twophase m = some_machine(&low, &high);
        twophase_domains_make(&d, &m, low, high, 0, check_random(2));
        struct piece *p = all_blocks(&d, &n);
        CHECK(n > 0);
        for (int64_t k = 0; k < n; k++)
            CHECK_EQ(k == 0 ? low : p[k - 1].high, p[k].low);
        CHECK_EQ(high, n > 0 ? p[n - 1].high : 0);
        bool whole = file_striped(&file) && m.unit <= m.window.size;
        for (int64_t k = 1; whole && m.window.nodes > 1 && k < n; k++)
            if (p[k].low % m.unit != 0)
                CHECK_EQ(twophase_domain_node(&d, p[k - 1].domain),
                         twophase_domain_node(&d, p[k].domain));
        free(p);
    }
}

static void processes_of_a_node_have_separate_parts(void)
{
    int64_t dealt = 0;
    for (int i = 0; i < 3000; i++) {
        struct twophase_domains d;
        int64_t low, high, found = 0;
        struct twophase m = some_machine(&low, &high);
        twophase_domains_make(&d, &m, low, high, 0, check_random(2));
        CHECK(d.lanes * d.pitch <= m.window.size);
        CHECK(d.lanes == 1 || d.pitch >= d.block + ACCESS_SLACK);
        CHECK_EQ(0, d.lanes > 1 ? d.pitch % (1 << ACCESS_COARSE) : 0);
        for (int node = 0; node < d.nodes; node++)
            for (int64_t lane = 0; lane < d.lanes; lane++) {
                int64_t domain = twophase_domain_of_node(&d, node, lane);
                if (domain < 0) continue;
                CHECK(domain < d.count);
                CHECK_EQ(node, twophase_domain_node(&d, domain));
                CHECK_EQ(lane, twophase_domain_lane(&d, domain));
                found++;
            }
        CHECK_EQ(d.count, found);
        dealt += d.stripes_per_node > 0;
    }
    CHECK(dealt > 20);
}

/* Counts the domain's bytes between two offsets. */
static int64_t bytes_within(const struct twophase_domains *d, int64_t domain,
                            int64_t from, int64_t to)
{
    int64_t bytes = 0;
    while ((from = twophase_domain_next(d, domain, from)) < to) {
        int64_t end = (from / d->block + 1) * d->block;
        if (end > to) end = to;
        bytes += end - from;
        from = end;
    }
    return bytes;
}

/* After each round, the rest of a domain must consist of the blocks of later rounds. */
static void the_rest_of_a_domain_is_the_blocks_of_later_rounds(void)
{
    for (int i = 0; i < 2000; i++) {
        struct twophase_domains d;
        int64_t low, high, origin, from, to;
        struct twophase m = some_machine(&low, &high);
        twophase_domains_make(&d, &m, low, high, 0, check_random(2));
        int64_t domain = (int64_t)check_random((uint64_t)d.count);
        int64_t round = (int64_t)check_random((uint64_t)d.rounds), later = 0, rest = 0;
        for (int64_t k = round + 1; k < d.rounds; k++)
            if (twophase_domain_block(&d, domain, k, &origin, &from, &to))
                later += to - from;
        for (int part = 0; part < TWOPHASE_DOMAIN_PARTS; part++) {
            if (!twophase_domain_rest(&d, domain, round, part, &from, &to)) continue;
            if (from < low) from = low;
            if (to > high) to = high;
            rest += bytes_within(&d, domain, from, to);
        }
        CHECK_EQ(later, rest);
    }
}

/* Returns the number of bytes that the busiest server transfers in a round, which
 * determines how long the round takes. Adds the bytes of all servers to *moved. */
static int64_t busiest(const struct twophase_domains *d, const struct twophase *m,
                       int64_t round, int64_t *moved)
{
    int64_t load[256] = {0}, most = 0, origin, low, high;
    for (int64_t domain = 0; domain < d->count; domain++) {
        if (!twophase_domain_block(d, domain, round, &origin, &low, &high)) continue;
        for (int64_t next; low < high; low = next) {
            next = (low / m->unit + 1) * m->unit;
            if (next > high) next = high;
            int64_t server = low / m->unit % m->file->stripes;
            load[server] += next - low;
            *moved += next - low;
            if (load[server] > most) most = load[server];
        }
    }
    return most;
}

/* Checks, for random numbers of nodes, how well calls use the servers. Each call must
 * transfer at least the fraction `least` of what the servers could transfer in the same
 * time; for all calls together, this fraction must be at least `mean`. */
static void they_work_alike(const int *servers, int n, double least, double mean)
{
    enum { CALLS = 400 };
    double sum = 0;
    dataset.hints.cb_nodes = 0;
    for (int i = 0; i < CALLS; i++) {
        struct twophase m;
        struct twophase_domains d;
        memset(&m, 0, sizeof m);
        m.ds = &dataset;
        m.file = &file;
        m.unit = file.stripe = 1 << 20;
        file.stripes = servers[check_random((uint64_t)n)];
        m.window.nodes = 2 + (int)check_random(150);
        m.window.size = 128 << 20;
        int64_t stripes = m.window.nodes;
        if (stripes < file.stripes) stripes = file.stripes;
        stripes = 8 * stripes + (int64_t)check_random((uint64_t)(20 * stripes));
        int64_t low = (int64_t)check_random(1 << 20) / 64 * 64, moved = 0, took = 0;
        twophase_domains_make(&d, &m, low, low + stripes * m.unit, 0, check_random(2));
        for (int64_t round = 0; round < d.rounds; round++)
            took += busiest(&d, &m, round, &moved);
        CHECK_EQ(stripes * m.unit, moved);
        double part = (double)moved / ((double)took * (double)file.stripes);
        sum += part / CALLS;
        if (CHECK(part >= least)) continue;
        printf("# %d nodes, %d servers, %d stripes: %.2f of what they could\n",
               m.window.nodes, (int)file.stripes, (int)stripes, part);
    }
    if (!CHECK(sum >= mean)) printf("# %.2f of what they could\n", sum);
}

/* If a server locks its part of the file as a whole, only one node may access this
 * server, and it must be the same node in every call. */
static void each_server_is_used_by_one_node(void)
{
    int64_t by_server = 0;
    dataset.hints.cb_nodes = 0;
    for (int i = 0; i < 300; i++) {
        struct twophase m;
        struct twophase_domains d;
        int64_t origin, from, to;
        int node_of[64];
        memset(&m, 0, sizeof m);
        m.ds = &dataset;
        m.file = &file;
        m.unit = file.stripe = 1 << 20;
        file.stripes = 8 << check_random(4);
        file.objects = true;
        m.window.nodes = 2 + (int)check_random(100);
        m.window.size = 16 << 20;
        memset(node_of, -1, sizeof node_of);
        for (int call = 0; call < 3; call++) {
            int64_t low = (int64_t)check_random(UINT64_C(1) << 36);
            int64_t high = low + ((int64_t)(1 + check_random(4000)) << 20);
            twophase_domains_make(&d, &m, low, high, 0, true);
            if (d.block_stride == 0) continue;
            by_server++;
            for (int64_t domain = 0; domain < d.count; domain++)
                for (int64_t round = 0; round < d.rounds; round++) {
                    if (!twophase_domain_block(&d, domain, round, &origin, &from, &to))
                        continue;
                    for (int64_t s = from >> 20; s <= (to - 1) >> 20; s++) {
                        int *node = &node_of[s % file.stripes];
                        if (*node < 0) *node = twophase_domain_node(&d, domain);
                        CHECK_EQ(*node, twophase_domain_node(&d, domain));
                    }
                }
        }
    }
    file.objects = false;
    CHECK(by_server > 300);
}

/* All servers must do the same amount of work in calls of any size, unless one block per
 * node is a large fraction of the call. */
static void servers_do_equal_work(void)
{
    static const int servers[] = {8, 16, 32, 48, 100};
    they_work_alike(servers, 5, 0.7, 0.9);
}

static void servers_without_divisors(void)
{
    static const int servers[] = {7, 13, 31, 37, 62, 97, 127};
    they_work_alike(servers, 7, 0.3, 0.8);
}

/* Runs are assigned to processes round-robin, and all nodes have the same number of
 * processes. In a short call, no node may then send more than twice its share in a
 * round. */
static void nodes_send_equal_amounts(void)
{
    int64_t dealt = 0;
    dataset.hints.cb_nodes = 0;
    for (int i = 0; i < 300; i++) {
        struct twophase m;
        struct twophase_domains d;
        int64_t run = INT64_C(1) << (13 + check_random(6)), nprocs, origin, low, high;
        memset(&m, 0, sizeof m);
        m.ds = &dataset;
        m.file = &file;
        m.unit = file.stripe = 4 << 20;
        file.stripes = 32;
        m.window.nodes = 4 << check_random(2);
        m.window.size = 64 << 20;
        nprocs = 32 * m.window.nodes;
        twophase_domains_make(&d, &m, 0, nprocs << 20, 0, false);
        if (d.stripes_per_node == 0) continue;
        dealt++;
        for (int64_t round = 0; round < d.rounds; round++) {
            int64_t has[8] = {0}, all = 0;
            for (int64_t domain = 0; domain < d.count; domain++) {
                if (!twophase_domain_block(&d, domain, round, &origin, &low, &high))
                    continue;
                for (; low < high; low += run, all += run)
                    has[low / run % nprocs / 32] += run;
            }
            for (int node = 0; node < m.window.nodes; node++)
                CHECK(has[node] * m.window.nodes <= 2 * all);
        }
    }
    CHECK(dealt > 0);
}

static const struct check_test tests[] = {
    {"each byte has one process, each stripe one node", each_byte_once, 0},
    {"processes of a node have separate parts", processes_of_a_node_have_separate_parts,
     0},
    {"the rest of a domain is the blocks of later rounds",
     the_rest_of_a_domain_is_the_blocks_of_later_rounds, 0},
    {"each server is used by one node", each_server_is_used_by_one_node, 0},
    {"servers do equal work", servers_do_equal_work, 0},
    {"servers do equal work if blocks do not divide them", servers_without_divisors, 0},
    {"nodes send equal amounts", nodes_send_equal_amounts, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1");
}
