/* How a call's part of the file is divided among the nodes. */
#include "twophase_domain.h"

#include "access_walk.h"

/* Where domains begin. Stripes, if they are known; else what is worth a message. */
static int64_t unit_of(const struct twophase *t)
{
    enum { WORTH = 1 << 16 };
    const struct twophase_window *w = &t->window;
    if (w->nodes == 1 || t->unit > w->size) return w->size;
    if (file_striped(t->file)) return t->unit;
    return w->size < WORTH ? w->size : WORTH;
}

static int64_t most_stripes(const struct twophase *t, const struct twophase_domains *d)
{
    int64_t most = t->window.size / d->unit;
    return most > 0 ? most : 1;
}

/* Stripes of a block: of all nodes together they keep each server busy, if it is known
 * how many there are; and no more than there is memory for. Where a few more divide the
 * servers, blocks side by side have different ones, wherever they begin. */
static int64_t stripes_of(const struct twophase *t, const struct twophase_domains *d)
{
    int64_t most = most_stripes(t, d), factor = t->file->stripes;
    if (factor == 0 || d->unit != t->unit) return most;
    int64_t busy = (factor + d->nodes - 1) / d->nodes, even = busy;
    while (even < 2 * busy && factor % even != 0)
        even++;
    if (even < 2 * busy && even <= most && 2 * (factor / even) > d->nodes) busy = even;
    return busy < most ? busy : most;
}

/* Cuts what is moved into blocks of so many stripes; how many blocks. */
static int64_t cut_domains(struct twophase_domains *d, int64_t stripes)
{
    d->block = stripes * d->unit;
    d->first = d->low / d->block;
    return (d->high - 1) / d->block + 1 - d->first;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b > 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* So many blocks are on different servers, the next ones on the same again. 0: not known.
 */
static int64_t ring_of(const struct twophase *t, const struct twophase_domains *d)
{
    return d->unit == t->unit ? t->file->stripes / (d->block / d->unit) : 0;
}

/* Nodes go through their domains side by side: that not all are at one server at once,
 * blocks that are moved at the same time are to be on different ones, as long as there
 * are any. There are as many places as blocks on different servers, in a ring. Where
 * domains begin comes back to the same place after so many of them: the next ones begin a
 * block later in their domain, and so on, until all places are taken. That takes domains
 * that are equally long. */
static int64_t period_of(const struct twophase *t, const struct twophase_domains *d)
{
    int64_t ring = ring_of(t, d);
    return ring <= 1 ? d->count : ring / common_divisor(d->each, ring);
}

/* `blocks` to `count` domains of `each` blocks, the last one having what is left. What a
 * server moves until all are at their end, if it is as good as it can be: of the domains
 * that go on together as many as meet at one, and what the last one has besides. */
static int64_t divide(struct twophase_domains *d, int64_t ring, int64_t blocks,
                      int64_t count, int64_t each)
{
    int64_t needed = (blocks + each - 1) / each;
    d->each = each;
    d->count = needed < count ? needed : count;
    int64_t last = blocks - (d->count - 1) * each, more = last > each ? last - each : 0;
    d->rounds = each + more;
    return each * (ring > 1 ? (d->count + ring - 1) / ring : 1) + more;
}

/* Each of n nodes gets a domain, unless servers are used so unevenly then that fewer,
 * a multiple of the ring, are done much earlier. */
static void divide_best(struct twophase_domains *d, const struct twophase *t,
                        int64_t blocks, int64_t n)
{
    enum { WORTH = 8 };
    int64_t ring = ring_of(t, d), best = INT64_MAX;
    struct twophase_domains tried = *d;
    for (int64_t count = n; count > 0; count = ring > 1 ? (count - 1) / ring * ring : 0)
        for (int64_t up = 0; up < 2; up++) {
            int64_t each = (blocks + up * (count - 1)) / count;
            int64_t cost = divide(&tried, ring, blocks, count, each);
            if (cost >= (count < n ? best - best / WORTH : best)) continue;
            best = cost;
            *d = tried;
        }
}

/* ---- servers that blocks do not divide ---- */

enum { SERVERS_MOST = 256 };

static bool uneven(const struct twophase *t, const struct twophase_domains *d)
{
    int64_t servers = t->file->stripes;
    return d->unit == t->unit && d->count > 1 && servers > 0 && servers <= SERVERS_MOST &&
           servers % (d->block / d->unit) != 0;
}

/* Stripes that come to the busiest server in a round. */
static int64_t busiest(const struct twophase_domains *d, int64_t round, int64_t servers)
{
    int change[SERVERS_MOST] = {0}, all = 0, most = 0;
    int64_t origin, low, high, stripes = d->block / d->unit;
    for (int64_t domain = 0; domain < d->count; domain++) {
        if (!twophase_domain_block(d, domain, round, &origin, &low, &high)) continue;
        int64_t from = origin / d->unit % servers, to = (from + stripes) % servers;
        change[from]++;
        change[to]--;
        if (to <= from) all++;
    }
    for (int64_t server = 0; server < servers; server++) {
        all += change[server];
        if (all > most) most = all;
    }
    return most;
}

/* How long the servers need, in stripes, by some of the rounds; not looked at to the end
 * if it is no less than `best`. */
static int64_t time_of(const struct twophase_domains *d, int64_t servers, int64_t best)
{
    enum { LOOKS = 8 };
    int64_t looks = d->rounds < LOOKS ? d->rounds : LOOKS, sum = 0;
    for (int64_t i = 0; i < looks && sum * d->rounds / looks < best; i++)
        sum += busiest(d, i * d->rounds / looks, servers);
    return sum * d->rounds / looks;
}

/* The ways to begin of one division; the quickest of all so far is in *d. */
static int64_t try_periods(struct twophase_domains *d, struct twophase_domains tried,
                           int64_t servers, int64_t best)
{
    const int64_t periods[] = {tried.count, 1, 2, (tried.count + 1) / 2};
    for (int i = 0; i < 4; i++) {
        tried.period = periods[i];
        int64_t time = time_of(&tried, servers, best);
        if (time >= best) continue;
        best = time;
        *d = tried;
    }
    return best;
}

/* Blocks that are moved at the same time meet at some server, whatever the rule above
 * says, if they do not divide the servers. So some sizes and ways to begin are tried, and
 * what takes least is taken: a call of three rounds or more waits for that, 0.05 ms with
 * 4 nodes and 31 servers, 0.6 ms with 200 and 251. */
static void try_sizes(struct twophase_domains *d, const struct twophase *t, int64_t n)
{
    enum { MORE = 3 };
    const int64_t servers = t->file->stripes, even = servers / n;
    const int64_t sizes[] = {even, even - 1, even * 3 / 4, 2 * servers / n};
    struct twophase_domains tried = *d;
    int64_t best = time_of(d, servers, INT64_MAX);
    for (int i = 0; i < 4; i++) {
        if (sizes[i] < 1 || sizes[i] > most_stripes(t, d)) continue;
        int64_t blocks = cut_domains(&tried, sizes[i]),
                each = blocks / n > 1 ? blocks / n : 1;
        for (int64_t more = 0; more < MORE; more++) {
            divide(&tried, 0, blocks, n, each + more);
            best = try_periods(d, tried, servers, best);
        }
    }
}

/* ---- servers that lock their part of a file as a whole ---- */

static int64_t largest_divisor(int64_t of, int64_t most)
{
    int64_t divisor = most < of ? most : of;
    while (divisor > 1 && of % divisor != 0)
        divisor--;
    return divisor;
}

/* Each domain has servers to itself: as many domains as divide the servers, and blocks
 * that divide what is a domain's. Not done if too few nodes had one. */
static void divide_by_server(struct twophase_domains *d, const struct twophase *t,
                             int64_t nodes)
{
    int64_t servers = t->file->stripes;
    if (!t->file->objects || d->unit != t->unit || servers == 0 || nodes < 2) return;
    int64_t most = nodes < servers ? nodes : servers, n = largest_divisor(servers, most);
    if (n < 2 || 2 * n < most) return;
    d->block = largest_divisor(servers / n, most_stripes(t, d)) * d->unit;
    d->first = d->low / d->block / n * n;
    int64_t blocks = (d->high - 1) / d->block + 1 - d->first;
    d->count = d->apart = n;
    d->each = d->rounds = (blocks + n - 1) / n;
}

/* ---- short calls ---- */

/* In how many rounds a short call moves a stripe: each is a request to the server, and
 * worth one; a process looks at each block whether it has something for it. 1: it is not
 * to be cut. */
static int64_t parts_of(const struct twophase *t, const struct twophase_domains *d,
                        int64_t stripes)
{
    enum { MOST = 4, WORTH = 1 << 18, VISITS = 512, OF_BUFFER = 64 };
    int64_t worth = t->window.size / OF_BUFFER, parts = MOST;
    if (worth > WORTH) worth = WORTH;
    while (parts > 1 && (d->unit / parts < worth || stripes * parts > VISITS ||
                         d->unit % (parts << ACCESS_COARSE) != 0))
        parts /= 2;
    return parts;
}

/* Stripes to the nodes, from the first of all that the file has: so other calls of this
 * size find the same stripes with the same nodes. As many in a row as each gets anyway,
 * about, since neighbours in the file are often on one node. Stripes side by side begin
 * with different parts: where pieces repeat after a stripe or two, the first part of all
 * would be what a few nodes have, and these alone would send. */
static void deal_out_domains(struct twophase_domains *d, const struct twophase *t)
{
    enum { APART = 1 << ACCESS_COARSE }; /* more than the slack, and marks do not touch */
    if (d->unit != t->unit || !file_striped(t->file)) return;
    int64_t first = d->low / d->unit, last = (d->high - 1) / d->unit, row = 1;
    int64_t stripes = last + 1 - first;
    if (stripes / 2 < d->nodes) return;
    while (2 * row * d->nodes <= stripes)
        row *= 2;
    int64_t parts = parts_of(t, d, stripes), block = d->unit / parts;
    int64_t turn = row * d->nodes, lanes = (last / turn - first / turn + 1) * row;
    if (parts == 1 || lanes > t->window.size / (block + APART)) return;
    d->dealt = row;
    d->lanes = lanes;
    d->pitch = block + APART;
    d->block = block;
    d->first = first * parts;
    d->count = stripes;
    d->period = 1;
    d->each = d->rounds = parts;
}

void twophase_domains_make(struct twophase_domains *d, const struct twophase *t,
                           int64_t low, int64_t high, int shift, bool put)
{
    enum { SHORT = 2 };
    int64_t most = t->ds->hints.cb_nodes;
    *d = (struct twophase_domains){
        .low = low, .high = high, .nodes = t->window.nodes, .shift = shift};
    d->unit = unit_of(t);
    int64_t blocks = cut_domains(d, stripes_of(t, d));
    int64_t n = most > 0 && most < d->nodes ? most : d->nodes;
    divide_best(d, t, blocks, n < blocks ? n : blocks);
    d->period = period_of(t, d);
    if (put && d->rounds > SHORT) divide_by_server(d, t, n);
    if (d->rounds > SHORT && d->apart == 0 && uneven(t, d)) try_sizes(d, t, n);
    d->lanes = 1;
    d->pitch = d->block;
    if (d->rounds <= SHORT && d->apart == 0 && d->nodes > 1 && most == 0)
        deal_out_domains(d, t);
}

/* Of a domain that is one. */
static int64_t stripe_of(const struct twophase_domains *d, int64_t domain)
{
    return d->first / d->each + domain;
}

/* Short calls, of a block for each node at most, find the same blocks with the same nodes
 * whatever the call. */
int twophase_domain_node(const struct twophase_domains *d, int64_t domain)
{
    if (d->dealt > 0) return (int)(stripe_of(d, domain) / d->dealt % d->nodes);
    if (d->rounds == 1 && d->apart == 0) return (int)((d->first + domain) % d->nodes);
    return (int)(domain * d->nodes / d->count);
}

int64_t twophase_domain_lane(const struct twophase_domains *d, int64_t domain)
{
    if (d->dealt == 0) return 0;
    int64_t turn = d->dealt * d->nodes, stripe = stripe_of(d, domain);
    return (stripe / turn - stripe_of(d, 0) / turn) * d->dealt + stripe % d->dealt;
}

int64_t twophase_domain_of_node(const struct twophase_domains *d, int node, int64_t lane)
{
    int64_t domain = (node * d->count + d->nodes - 1) / d->nodes;
    if (d->dealt > 0) {
        int64_t turn = d->dealt * d->nodes, first = stripe_of(d, 0);
        domain = (first / turn + lane / d->dealt) * turn + node * d->dealt +
                 lane % d->dealt - first;
    } else if (d->rounds == 1 && d->apart == 0) {
        domain = (node - d->first % d->nodes + d->nodes) % d->nodes;
    }
    bool there = domain >= 0 && domain < d->count;
    return there && twophase_domain_node(d, domain) == node ? domain : -1;
}

int64_t twophase_domain_at(const struct twophase_domains *d, int64_t offset)
{
    int64_t block = offset / d->block - d->first, domain = block / d->each;
    if (d->apart > 0) return block % d->apart;
    return domain < d->count ? domain : d->count - 1;
}

void twophase_domains_between(const struct twophase_domains *d, int64_t low, int64_t high,
                              int64_t *from, int64_t *to)
{
    *from = twophase_domain_at(d, low);
    *to = twophase_domain_at(d, high - 1) + 1;
    if (d->apart == 0) return;
    if (*from < *to && (high - 1) / d->block - low / d->block < d->apart) return;
    *from = 0;
    *to = d->count;
}

/* Where a block begins: the last one in the file may end behind all numbers. */
static int64_t place_of_block(const struct twophase_domains *d, int64_t block)
{
    int64_t at;
    return __builtin_mul_overflow(d->first + block, d->block, &at) ? INT64_MAX : at;
}

/* Number i of a domain's blocks. */
static int64_t block_of(const struct twophase_domains *d, int64_t domain, int64_t i)
{
    return d->apart > 0 ? i * d->apart + domain : domain * d->each + i;
}

int64_t twophase_domain_next(const struct twophase_domains *d, int64_t domain,
                             int64_t offset)
{
    int64_t block = offset / d->block - d->first;
    if (d->apart == 0 || block % d->apart == domain) return offset;
    int64_t behind = (domain - block % d->apart + d->apart) % d->apart;
    return place_of_block(d, block + behind);
}

/* With which block a domain begins. What the last one has besides comes last, so that all
 * stay in step. */
static int64_t begins_with(const struct twophase_domains *d, int64_t domain)
{
    if (d->apart > 0) return domain * d->each / d->count;
    return domain / d->period % d->each;
}

static int64_t blocks_of(const struct twophase_domains *d, int64_t domain)
{
    return domain == d->count - 1 && d->apart == 0 ? d->rounds : d->each;
}

bool twophase_domain_block(const struct twophase_domains *d, int64_t domain,
                           int64_t round, int64_t *origin, int64_t *low, int64_t *high)
{
    int64_t number = round < d->each ? (begins_with(d, domain) + round) % d->each : round;
    int64_t block = block_of(d, domain, number), end = place_of_block(d, block + 1);
    *origin = place_of_block(d, block);
    *low = *origin > d->low ? *origin : d->low;
    *high = d->high < end ? d->high : end;
    return *low < *high && number < blocks_of(d, domain);
}

bool twophase_domain_rest(const struct twophase_domains *d, int64_t domain, int64_t round,
                          int part, int64_t *low, int64_t *high)
{
    int64_t begin = begins_with(d, domain);
    int64_t next = begin + round + 1, end = d->each;
    if (part < 2 && round >= d->each) return false;
    if (part == 1) {
        next = next > d->each ? next - d->each : 0;
        end = begin;
    } else if (part == 2) {
        next = round < d->each ? d->each : round + 1;
        end = blocks_of(d, domain);
    }
    *low = place_of_block(d, block_of(d, domain, next));
    *high = place_of_block(d, block_of(d, domain, end - 1) + 1);
    return next < end && *low < *high;
}

int64_t twophase_domain_round(const struct twophase_domains *d, int64_t domain,
                              int64_t offset)
{
    int64_t block = offset / d->block - d->first;
    int64_t number = d->apart > 0 ? block / d->apart : block - domain * d->each;
    if (number >= d->each) return number;
    return (number - begins_with(d, domain) + d->each) % d->each;
}
