/* Divides the part of the file that a call moves among the nodes.
 *
 * twophase_domains_make chooses the block size, the number of domains and where each
 * begins, so that the servers of the file are used evenly in every round. The special
 * cases follow: server counts that are not a multiple of a block's stripes, servers that
 * lock their part of the file as a whole, and short calls. The remaining functions map
 * between domains, rounds, nodes and offsets. */
#include "twophase_domain.h"

#include "access_walk.h"

/* Returns the domain alignment: the stripe size, or if unknown, a good message size. */
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

/* Returns the number of stripes in a block. If the number of servers is known, the blocks
 * of all nodes together keep each server busy, as far as memory permits. A slightly
 * larger number is preferred if it divides the number of servers, because adjacent blocks
 * then use different servers wherever they begin. */
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

/* Cuts the range into blocks of `stripes` stripes. Returns the number of blocks. */
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

/* Returns the length of the ring, which is the number of consecutive blocks on different
 * servers; 0 if unknown. */
static int64_t ring_of(const struct twophase *t, const struct twophase_domains *d)
{
    return d->unit == t->unit ? t->file->stripes / (d->block / d->unit) : 0;
}

/* Returns the number of domains after which the starting block must advance by one. Nodes
 * process their domains in step, so blocks that are moved at the same time should be on
 * different servers. Domains begin at equal distances, so after a certain number of
 * domains (the result), their first blocks would be on the same servers again. Therefore
 * the next group of that many domains starts one block later, and so on, until every
 * position in the ring is used. */
static int64_t period_of(const struct twophase *t, const struct twophase_domains *d)
{
    int64_t ring = ring_of(t, d);
    return ring <= 1 ? d->count : ring / common_divisor(d->each, ring);
}

/* Divides `blocks` into at most `count` domains of `each` blocks; the last domain has the
 * rest. Returns a lower bound on the number of blocks that the busiest server moves: one
 * per round for each concurrent domain that uses it, plus the last domain's excess. */
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

/* Assigns each of n nodes a domain, unless fewer domains, a multiple of the ring, would
 * use the servers so much more evenly that they finish much earlier. */
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

/* ---- server counts that are not a multiple of a block's stripes ---- */

enum { SERVERS_MOST = 256 };

static bool shares_servers(const struct twophase *t, const struct twophase_domains *d)
{
    int64_t servers = t->file->stripes;
    return d->unit == t->unit && d->count > 1 && servers > 0 && servers <= SERVERS_MOST &&
           servers % (d->block / d->unit) != 0;
}

/* Returns the number of stripes that the busiest server moves in a round. */
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

/* Estimates, from a sample of rounds, how long the servers need, in stripes. Stops early
 * once the estimate exceeds `best`. */
static int64_t time_of(const struct twophase_domains *d, int64_t servers, int64_t best)
{
    enum { LOOKS = 8 };
    int64_t looks = d->rounds < LOOKS ? d->rounds : LOOKS, sum = 0;
    for (int64_t i = 0; i < looks && sum * d->rounds / looks < best; i++)
        sum += busiest(d, i * d->rounds / looks, servers);
    return sum * d->rounds / looks;
}

/* Tries several periods for one division. Stores the best in *d; returns its time. */
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

/* Handles server counts that are not a multiple of a block's stripes: concurrent blocks
 * then share some server whatever period_of returns. Tries several block sizes and
 * periods and chooses the fastest. Used for calls of three rounds or more; it takes 0.05
 * ms with 4 nodes and 31 servers, and 0.6 ms with 200 nodes and 251 servers. */
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

/* Assigns each domain its own servers: the number of domains divides the number of
 * servers, and the number of stripes in a block divides the number of a domain's servers.
 * No-op if too few nodes would have a domain. */
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
    d->count = d->block_stride = n;
    d->each = d->rounds = (blocks + n - 1) / n;
}

/* ---- short calls ---- */

/* Returns the number of rounds in which a short call moves a stripe; 1 if stripes are not
 * divided. Each part must be worth a request to the server, and there must not be too
 * many parts, because a process checks each one for values. */
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

/* Assigns the stripes of a short call to the nodes. Counting starts at the first stripe
 * of the file, so that other calls of this size assign the same stripes to the same
 * nodes. Nearly all of a node's stripes are adjacent, because values that are adjacent in
 * the file are often on the same node. Adjacent stripes begin with different parts: if
 * pieces repeat after a stripe or two, the first parts of all stripes might belong to a
 * few nodes, which would be the only senders. */
static void assign_stripes(struct twophase_domains *d, const struct twophase *t)
{
    enum { APART = 1 << ACCESS_COARSE }; /* exceeds the slack; separates lanes' marks */
    if (d->unit != t->unit || !file_striped(t->file)) return;
    int64_t first = d->low / d->unit, last = (d->high - 1) / d->unit, row = 1;
    int64_t stripes = last + 1 - first;
    if (stripes / 2 < d->nodes) return;
    while (2 * row * d->nodes <= stripes)
        row *= 2;
    int64_t parts = parts_of(t, d, stripes), block = d->unit / parts;
    int64_t turn = row * d->nodes, lanes = (last / turn - first / turn + 1) * row;
    if (parts == 1 || lanes > t->window.size / (block + APART)) return;
    d->stripes_per_node = row;
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
    if (d->rounds > SHORT && d->block_stride == 0 && shares_servers(t, d))
        try_sizes(d, t, n);
    d->lanes = 1;
    d->pitch = d->block;
    if (d->rounds <= SHORT && d->block_stride == 0 && d->nodes > 1 && most == 0)
        assign_stripes(d, t);
}

/* Returns the number of the stripe that makes up a domain of a short call. */
static int64_t stripe_of(const struct twophase_domains *d, int64_t domain)
{
    return d->first / d->each + domain;
}

/* In calls of at most one block per node, a block always belongs to the same node. */
int twophase_domain_node(const struct twophase_domains *d, int64_t domain)
{
    if (d->stripes_per_node > 0)
        return (int)(stripe_of(d, domain) / d->stripes_per_node % d->nodes);
    if (d->rounds == 1 && d->block_stride == 0)
        return (int)((d->first + domain) % d->nodes);
    return (int)(domain * d->nodes / d->count);
}

int64_t twophase_domain_lane(const struct twophase_domains *d, int64_t domain)
{
    if (d->stripes_per_node == 0) return 0;
    int64_t turn = d->stripes_per_node * d->nodes, stripe = stripe_of(d, domain);
    return (stripe / turn - stripe_of(d, 0) / turn) * d->stripes_per_node +
           stripe % d->stripes_per_node;
}

int64_t twophase_domain_of_node(const struct twophase_domains *d, int node, int64_t lane)
{
    int64_t domain = (node * d->count + d->nodes - 1) / d->nodes;
    if (d->stripes_per_node > 0) {
        int64_t turn = d->stripes_per_node * d->nodes, first = stripe_of(d, 0);
        domain = (first / turn + lane / d->stripes_per_node) * turn +
                 node * d->stripes_per_node + lane % d->stripes_per_node - first;
    } else if (d->rounds == 1 && d->block_stride == 0) {
        domain = (node - d->first % d->nodes + d->nodes) % d->nodes;
    }
    bool there = domain >= 0 && domain < d->count;
    return there && twophase_domain_node(d, domain) == node ? domain : -1;
}

int64_t twophase_domain_at(const struct twophase_domains *d, int64_t offset)
{
    int64_t block = offset / d->block - d->first, domain = block / d->each;
    if (d->block_stride > 0) return block % d->block_stride;
    return domain < d->count ? domain : d->count - 1;
}

void twophase_domains_between(const struct twophase_domains *d, int64_t low, int64_t high,
                              int64_t *from, int64_t *to)
{
    *from = twophase_domain_at(d, low);
    *to = twophase_domain_at(d, high - 1) + 1;
    if (d->block_stride == 0) return;
    if (*from < *to && (high - 1) / d->block - low / d->block < d->block_stride) return;
    *from = 0;
    *to = d->count;
}

/* Returns the offset of a block. The end of the last block may exceed INT64_MAX. */
static int64_t place_of_block(const struct twophase_domains *d, int64_t block)
{
    int64_t at;
    return __builtin_mul_overflow(d->first + block, d->block, &at) ? INT64_MAX : at;
}

/* Returns the number of the i-th block in a domain. */
static int64_t block_of(const struct twophase_domains *d, int64_t domain, int64_t i)
{
    return d->block_stride > 0 ? i * d->block_stride + domain : domain * d->each + i;
}

int64_t twophase_domain_next(const struct twophase_domains *d, int64_t domain,
                             int64_t offset)
{
    int64_t block = offset / d->block - d->first;
    if (d->block_stride == 0 || block % d->block_stride == domain) return offset;
    int64_t behind =
        (domain - block % d->block_stride + d->block_stride) % d->block_stride;
    return place_of_block(d, block + behind);
}

/* Returns the block with which a domain begins. The excess blocks of the last domain come
 * last, so that all domains stay in step. */
static int64_t first_block_of(const struct twophase_domains *d, int64_t domain)
{
    if (d->block_stride > 0) return domain * d->each / d->count;
    return domain / d->period % d->each;
}

static int64_t blocks_of(const struct twophase_domains *d, int64_t domain)
{
    return domain == d->count - 1 && d->block_stride == 0 ? d->rounds : d->each;
}

bool twophase_domain_block(const struct twophase_domains *d, int64_t domain,
                           int64_t round, int64_t *origin, int64_t *low, int64_t *high)
{
    int64_t number =
        round < d->each ? (first_block_of(d, domain) + round) % d->each : round;
    int64_t block = block_of(d, domain, number), end = place_of_block(d, block + 1);
    *origin = place_of_block(d, block);
    *low = *origin > d->low ? *origin : d->low;
    *high = d->high < end ? d->high : end;
    return *low < *high && number < blocks_of(d, domain);
}

bool twophase_domain_rest(const struct twophase_domains *d, int64_t domain, int64_t round,
                          int part, int64_t *low, int64_t *high)
{
    int64_t begin = first_block_of(d, domain);
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
    int64_t number =
        d->block_stride > 0 ? block / d->block_stride : block - domain * d->each;
    if (number >= d->each) return number;
    return (number - first_block_of(d, domain) + d->each) % d->each;
}
