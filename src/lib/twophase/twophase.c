/* Two-phase exchange.
 *
 * Each node has a domain of the file and goes through it block by block, all nodes side
 * by side: that is a round. (In a short call it has several, in lanes side by side: what
 * is said of its block is true of all of these together.) A process puts its values
 * straight to their places in its own node's block, which lies in shared memory, and
 * packs what is for the other nodes' blocks into its area; some processes of the node
 * send that and receive the others'; the rest write the block when it is complete, while
 * values of the next round are put into the other buffer. (On one node all write; one
 * process that is a node does both.) What does not fit an area is sent in another step of
 * the same round. Rounds that nobody has values in are left out. Gets are the same
 * backwards: what is packed says which bytes are wanted, and the answer has them.
 *
 * Nobody waits but for counters in the window (see twophase_window.h), and those that
 * exchange with other nodes for messages. A buffer, an area and the slots of a step serve
 * again two steps later. That this is safe:
 * - slots of step s are read before their reader has packed s + 1, and written again by
 *   who packs s + 2, which needs what is known of s + 1, so that all have packed it; who
 *   reads the block of a get looks at them later, but before it has stored s, which all
 *   await before they pack s + 2;
 * - areas of step s have been sent when TWOPHASE_MOVED says so, which packing s + 2
 * awaits; of gets each process has taken its answers of s before it packs s + 2;
 * - a block that is put has been written when TWOPHASE_STORED says so, which putting into
 * its buffer again awaits;
 * - steps of one round that get share a buffer: each reads what is not in it yet, where
 *   nobody looks before. A block is read into the buffer of the one before the last,
 *   whose last step was s at most if this one begins with s + 2: after all have packed
 *   s + 2, which each does after taking its values of s, and answering for them.
 * Nobody awaits what comes later in the order of another: to pack s + 1 takes but the
 * counting of s, to exchange s + 1 that all have packed it, and to write or read block s
 * and to answer its questions the exchange of s. */
#include "twophase.h"

#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "trace_record.h"
#include "twophase_exchange.h"

/* One process's part in a call. */
struct twophase_call {
    struct twophase *t;
    struct twophase_window *w;
    struct access_walk *walk;
    const struct access_survey *mine;
    const struct twophase_domains *d;
    int64_t own;      /* this node's domain, or one of them; -1: none */
    int64_t from, to; /* the domains this process has values in */
    int64_t visit;    /* of them, so many are packed in this round */
    bool resumes;     /* the next one has been begun */
    bool near[2];     /* of gets: values of this node's block are wanted */
    struct twophase_packed packed[2]; /* of a step and the next */
    struct twophase_exchange messages[2];
    int share, shares; /* of so many of the next block, that one is stored; -1: none */
    int64_t steps, blocks;       /* so many were there */
    int64_t have_low, have_high; /* of gets, places in the buffer: read of this block */
    int result, io;
};

/* Waits for the other processes of the node. */
static void await(const struct twophase_call *x, enum twophase_counter c, int64_t times)
{
    struct trace *trace = x->t->ds->trace;
    struct trace_span span = trace_begin(trace);
    node_await(&x->w->counters[c], times);
    trace_end(trace, TRACE_WAIT, span);
}

static void note_io(struct twophase_call *x, int err)
{
    if (x->io == NC_NOERR) x->io = err;
}

static bool across(const struct twophase_call *x)
{
    return x->w->nodes > 1;
}

static bool exchanges(const struct twophase_call *x)
{
    return x->w->column != MPI_COMM_NULL;
}

static bool stores(const struct twophase_call *x)
{
    return x->w->rank >= x->w->first_storer;
}

/* This node's block of a round in one of its lanes, in one of the buffers; false: it has
 * none. */
static bool own_block(const struct twophase_call *x, int64_t lane, int64_t round,
                      int64_t buffer, struct access_block *b)
{
    const struct twophase_buffer *memory = &x->w->buffers[buffer % TWOPHASE_BUFFERS];
    int64_t at = lane * x->d->pitch,
            own = twophase_domain_of_node(x->d, x->w->node, lane);
    *b = (struct access_block){.bytes = memory->bytes + at,
                               .marks = memory->marks + (at >> x->d->shift),
                               .shift = x->d->shift};
    if (own < 0) return false;
    return twophase_domain_block(x->d, own, round, &b->origin, &b->start, &b->end);
}

/* All lanes, as messages have them: places are those in the buffer. */
static struct access_block all_lanes(const struct twophase_call *x, int64_t buffer)
{
    const struct twophase_buffer *memory = &x->w->buffers[buffer % TWOPHASE_BUFFERS];
    return (struct access_block){.bytes = memory->bytes,
                                 .marks = memory->marks,
                                 .end = x->d->lanes * x->d->pitch,
                                 .shift = x->d->shift};
}

/* The node's values of a round, those of this process: to or from their places. */
static void move_own(struct twophase_call *x, int64_t round, int64_t buffer)
{
    struct trace *trace = x->t->ds->trace;
    struct trace_span span = trace_begin(trace);
    struct access_block b;
    for (int64_t lane = 0; lane < x->d->lanes; lane++)
        if (own_block(x, lane, round, buffer, &b))
            access_walk_note(&x->result, access_walk_block(x->walk, &b));
    trace_end(trace, TRACE_CONVERSION, span);
}

/* ---- for other nodes ---- */

/* Domain number i of those to visit: first those behind this node's own, so that not all
 * begin with the same. */
static int64_t domain_to_visit(const struct twophase_call *x, int64_t i)
{
    int64_t n = x->to - x->from, first = x->own < 0 ? x->d->count / 2 : x->own + 1;
    first = first < x->from || first >= x->to ? 0 : first - x->from;
    return x->from + (first + i) % n;
}

/* What the process has of a round for one node; false if there is no room for all. */
static bool pack_domain(struct twophase_call *x, struct twophase_packed *p,
                        int64_t domain, int64_t round, struct twophase_entry *e)
{
    int64_t origin, low, high;
    bool all = true;
    *e = (struct twophase_entry){
        .node = twophase_domain_node(x->d, domain), .offset = p->used, .asked = p->asked};
    if (!twophase_domain_block(x->d, domain, round, &origin, &low, &high)) return true;
    int64_t lane = twophase_domain_lane(x->d, domain);
    int err = twophase_pack(x->walk, p, low, high, origin - lane * x->d->pitch,
                            x->resumes, &all);
    access_walk_note(&x->result, err);
    x->resumes = !all;
    e->used = p->used - e->offset;
    e->asked = p->asked - e->asked;
    return all;
}

/* Packs what the process has of a round for other nodes, from where it left off; so many
 * entries come of it. */
static int64_t pack_others(struct twophase_call *x, int64_t round, int64_t step)
{
    struct twophase_window *w = x->w;
    struct twophase_packed *p = &x->packed[step % 2];
    int64_t records = x->walk->put ? w->area_size : w->area_size / 4, n = 0;
    p->bytes = twophase_window_area(w, step, w->rank);
    p->used = p->asked = p->nlist = 0;
    int64_t entries = w->area_size / 8;
    p->most = w->area_size - records - entries;
    for (; x->visit < x->to - x->from; x->visit++) {
        int64_t domain = domain_to_visit(x, x->visit);
        struct twophase_entry e;
        if (twophase_domain_node(x->d, domain) == w->node) continue;
        int64_t taken = (n + 1) * (int64_t)sizeof e;
        p->room = x->walk->put ? records - taken : taken <= entries ? records : 0;
        bool all = pack_domain(x, p, domain, round, &e);
        e.answer = records + p->asked - e.asked;
        if (e.used > 0) *twophase_entry_at(w, step, w->rank, n++) = e;
        if (!all) break;
    }
    return n;
}

/* ---- what all know of a step ---- */

/* The next round after this one that brings the process to values of a domain. */
static int64_t next_in_domain(struct twophase_call *x, int64_t domain, int64_t round)
{
    int64_t low, high, at;
    for (int part = 0; part < TWOPHASE_DOMAIN_PARTS; part++) {
        if (!twophase_domain_rest(x->d, domain, round, part, &low, &high)) continue;
        if (low < x->mine->low) low = x->mine->low;
        while ((low = twophase_domain_next(x->d, domain, low)) < high &&
               low < x->mine->high) {
            access_walk_note(&x->result, access_walk_next(x->walk, low, &at));
            low = twophase_domain_next(x->d, domain, at);
            if (low == at && at < high) return twophase_domain_round(x->d, domain, at);
        }
    }
    return INT64_MAX;
}

/* ... of any domain. */
static int64_t next_round(struct twophase_call *x, int64_t round)
{
    int64_t least = INT64_MAX;
    if (across(x) && x->visit < x->to - x->from) return round;
    for (int64_t domain = x->from; domain < x->to; domain++) {
        int64_t next = next_in_domain(x, domain, round);
        if (next < least) least = next;
        if (least == round + 1) break;
    }
    return least;
}

static void publish(struct twophase_call *x, int64_t step, struct twophase_slot slot)
{
    *twophase_window_slot(x->w, step, x->w->rank) = slot;
    node_arrive(&x->w->counters[TWOPHASE_PACKED]);
}

static int64_t least_of(const struct twophase_window *w, int64_t step)
{
    int64_t least = INT64_MAX;
    for (int rank = 0; rank < w->nprocs; rank++) {
        int64_t next = twophase_window_slot(w, step, rank)->next;
        if (next < least) least = next;
    }
    return least;
}

/* Messages of a step. As soon as all nodes are known to have packed it, the others of
 * this one learn which round comes next. */
static void exchange_all(struct twophase_call *x, int64_t step, int64_t buffer)
{
    struct twophase_window *w = x->w;
    struct access_block b = all_lanes(x, buffer);
    struct twophase_exchange *e = &x->messages[step % 2];
    struct twophase_slot *mine = twophase_window_slot(w, step, w->nprocs + w->rank);
    await(x, TWOPHASE_PACKED, step + 1);
    int64_t least = least_of(w, step);
    *e = (struct twophase_exchange){.t = x->t, .put = x->walk->put};
    struct trace_span span = trace_begin(x->t->ds->trace);
    note_io(x, twophase_exchange_collect(e, step));
    note_io(x, twophase_exchange_count_all(e, &least));
    *mine = (struct twophase_slot){.next = least, .low = INT64_MAX};
    if (w->rank == 0) node_arrive(&w->counters[TWOPHASE_PLANNED]);
    note_io(x, twophase_exchange_messages(e, &b, &mine->low, &mine->high));
    trace_end(x->t->ds->trace, TRACE_MESSAGES, span);
    if (e->put) twophase_exchange_free(e);
    node_arrive(&w->counters[TWOPHASE_MOVED]);
}

/* Which round comes after this step. */
static int64_t learn_step(const struct twophase_call *x, int64_t step)
{
    await(x, across(x) ? TWOPHASE_PLANNED : TWOPHASE_PACKED, step + 1);
    if (!across(x)) return least_of(x->w, step);
    return twophase_window_slot(x->w, step, x->w->nprocs)->next;
}

/* All that this step needs from the processes of this node and of others has come. */
static void await_step(const struct twophase_call *x, int64_t step)
{
    await(x, TWOPHASE_PACKED, step + 1);
    if (across(x)) await(x, TWOPHASE_MOVED, step + 1);
}

/* ---- the file ---- */

/* Where the i-th of n shares of bytes [low, high) of the file begins: at whole stripes,
 * or at parts of them where there are not so many. One process alone may not write as
 * fast as a server, and those of a node have its locks together; the more so if nobody
 * else writes to that server. */
static int64_t bound(const struct twophase_call *x, int i, int n, int64_t low,
                     int64_t high)
{
    enum { LEAST_SHARE = 65536, PART = 2 << 20, PART_OF_SERVER = 1 << 20 };
    const struct twophase *t = x->t;
    int64_t part = x->d->apart > 0 ? PART_OF_SERVER : PART;
    if (i == 0 || low >= high) return low;
    if (i == n) return high;
    int64_t unit = t->unit > t->window.size / 2 ? FILE_PAGE : t->unit;
    int64_t first = low / unit * unit;
    while (unit % (2 * part) == 0 && (high - first) / unit < n)
        unit /= 2;
    int64_t units = (high - first + unit - 1) / unit;
    int64_t share = (units + n - 1) / n * unit;
    if (share < LEAST_SHARE) share = (LEAST_SHARE + unit - 1) / unit * unit;
    return i * share < high - first ? first + i * share : high;
}

/* This process's share of bytes [*low, *high); the last one's has what is behind `end`
 * (where all is behind it, that is shared). */
static void take_share(const struct twophase_call *x, int64_t end, int64_t *low,
                       int64_t *high)
{
    int64_t from = *low, to = *high, cut = from < end && end < to ? end : to;
    if (x->share < 0) {
        *high = from;
        return;
    }
    *low = bound(x, x->share, x->shares, from, cut);
    *high = bound(x, x->share + 1, x->shares, from, cut);
    if (*high == cut && *low < cut) *high = to;
}

/* All that store have an equal share. */
static void share_equally(struct twophase_call *x)
{
    x->share = x->w->rank - x->w->first_storer;
    x->shares = x->w->counters[TWOPHASE_STORED].all;
}

/* The lanes that this process stores: one block that is alone is shared by all. */
static int64_t first_lane(const struct twophase_call *x)
{
    return x->d->dealt > 0 ? x->share : 0;
}

static void write_block(struct twophase_call *x, int64_t round, int64_t step,
                        int64_t block)
{
    struct access_block b;
    if (!stores(x)) return;
    await_step(x, step);
    for (int64_t i = first_lane(x); i < x->d->lanes; i += x->shares) {
        if (!own_block(x, i, round, block, &b)) continue;
        int64_t low = b.start, high = b.end;
        if (x->d->dealt == 0) take_share(x, b.end, &low, &high);
        note_io(x, twophase_cover_write(x->t, &b, low - b.origin, high - b.origin));
    }
    node_arrive(&x->w->counters[TWOPHASE_STORED]);
}

/* Between which places of the buffer lie the bytes that anybody needs. */
static void needed(const struct twophase_call *x, int64_t step, int64_t *low,
                   int64_t *high)
{
    const struct twophase_window *w = x->w;
    *low = INT64_MAX;
    *high = 0;
    for (int i = 0; i < w->nprocs + w->columns; i++) {
        const struct twophase_slot *s = twophase_window_slot(w, step, i);
        if (s->low == INT64_MAX) continue;
        if (s->low < *low) *low = s->low;
        if (s->high > *high) *high = s->high;
    }
}

/* The bytes [*low, *high) of the file that are needed of a block, and that this process
 * is to read: with the slack, where the values do not end before. */
static void needed_here(const struct twophase_call *x, int64_t lane,
                        const struct access_block *b, int64_t *low, int64_t *high)
{
    int64_t shift = b->origin - lane * x->d->pitch;
    *low = *low + shift < b->start ? b->start : *low + shift;
    *high = *high + shift > b->end + ACCESS_SLACK ? b->end + ACCESS_SLACK : *high + shift;
    if (x->d->dealt == 0) take_share(x, b->end, low, high);
}

/* Who takes much out of a block comes late to the next one: the others read that, if they
 * are half of those who store. All of these go by the same slots, before they say that
 * the block is read. */
static void share_next(struct twophase_call *x, int64_t step)
{
    enum { MUCH = 1 << 18 };
    const struct twophase_window *w = x->w;
    int mine = -1, n = 0;
    for (int rank = w->first_storer; rank < w->nprocs; rank++) {
        const struct twophase_slot *s = twophase_window_slot(w, step, rank);
        if (s->low != INT64_MAX && s->high - s->low >= MUCH) continue;
        if (rank == w->rank) mine = n;
        n++;
    }
    share_equally(x);
    if (x->d->dealt > 0 || 2 * n < x->shares) return;
    x->share = mine;
    x->shares = n;
}

/* This process's share of what lies between two places of the buffer. */
static void read_places(struct twophase_call *x, int64_t round, int64_t block,
                        int64_t from, int64_t to)
{
    struct access_block b;
    if (from >= to) return;
    for (int64_t i = first_lane(x); i < x->d->lanes; i += x->shares) {
        int64_t low = from, high = to;
        if (!own_block(x, i, round, block, &b)) continue;
        needed_here(x, i, &b, &low, &high);
        if (low < high)
            note_io(x,
                    file_read(x->t->file, low, b.bytes + (low - b.origin), high - low));
    }
}

/* What earlier steps of this round have read is there: what lies below that and above is
 * read, so that it stays one stretch. All who store go by the same slots and know what
 * there is. */
static void read_round_block(struct twophase_call *x, int64_t round, int64_t step,
                             int64_t block, bool begins)
{
    int64_t low, high;
    if (!stores(x)) return;
    await_step(x, step);
    needed(x, step, &low, &high);
    if (begins) x->have_low = x->have_high = 0;
    if (low < high) {
        if (x->have_low == x->have_high) x->have_low = x->have_high = low;
        read_places(x, round, block, low, x->have_low);
        read_places(x, round, block, x->have_high, high);
        if (low < x->have_low) x->have_low = low;
        if (high > x->have_high) x->have_high = high;
    }
    share_next(x, step);
    node_arrive(&x->w->counters[TWOPHASE_STORED]);
}

/* ---- puts ---- */

/* The values of a new round into the block, when its buffer is free; and what there is
 * for others, of this round or what is left of it. */
static void put_step(struct twophase_call *x, int64_t round, int64_t step, bool begins)
{
    struct twophase_slot slot = {.low = INT64_MAX};
    if (begins) x->visit = 0;
    if (across(x)) {
        await(x, TWOPHASE_MOVED, step - 1);
        slot.entries = pack_others(x, round, step);
    }
    if (begins) {
        await(x, TWOPHASE_STORED, x->blocks - 1);
        move_own(x, round, x->blocks);
        x->blocks++;
    }
    slot.next = next_round(x, round);
    publish(x, step, slot);
}

static void put_rounds_all(struct twophase_call *x)
{
    int64_t round = 0, next = 0;
    put_step(x, round, 0, true);
    for (int64_t step = 0; next != INT64_MAX; step++) {
        int64_t block = x->blocks - 1;
        if (exchanges(x)) exchange_all(x, step, block);
        next = learn_step(x, step);
        if (next != INT64_MAX) put_step(x, next, step + 1, next != round);
        if (next != round) write_block(x, round, step, block);
        round = next;
        x->steps = step + 1;
    }
    node_settle(&x->w->counters[TWOPHASE_STORED], x->blocks);
}

/* All marks that can be needed are 0, from the first call that needs them on. */
static void clear_marks_all(struct twophase_call *x)
{
    struct twophase_window *w = x->w;
    int64_t marks = ((w->size + ACCESS_SLACK) >> x->d->shift) + 1;
    int64_t block = x->d->low / x->d->block * x->d->block;
    int64_t bytes = x->d->dealt > 0 ? x->d->lanes * x->d->pitch : x->d->high - block;
    int64_t extent = (bytes >> x->d->shift) + 1;
    if (extent < marks) marks = extent;
    if (marks <= w->cleared) return;
    int64_t each = (marks - w->cleared) / w->nprocs + 1;
    int64_t low = w->cleared + w->rank * each;
    int64_t high = low + each < marks ? low + each : marks;
    for (int i = 0; i < TWOPHASE_BUFFERS && low < high; i++)
        memset(w->buffers[i].marks + low, 0, (size_t)(high - low));
    w->cleared = marks;
    node_meet_all(&w->counters[TWOPHASE_ARRIVED]);
}

/* ---- gets ---- */

/* What the process needs of a block of this node's, as places in the buffer. */
static void need(struct twophase_call *x, int64_t lane, int64_t round,
                 struct twophase_slot *slot)
{
    struct access_block b;
    int64_t low, high;
    if (!own_block(x, lane, round, x->blocks, &b)) return;
    access_walk_note(&x->result, access_walk_needs(x->walk, b.start, b.end, &low, &high));
    if (low == INT64_MAX) return;
    int64_t shift = b.origin - lane * x->d->pitch;
    if (low - shift < slot->low) slot->low = low - shift;
    if (high - shift > slot->high) slot->high = high - shift;
}

/* Which bytes the process needs of a new round in this node's block; and which of
 * others', in this round or what is left of it. */
static void get_step(struct twophase_call *x, int64_t round, int64_t step, bool begins)
{
    struct twophase_slot slot = {.low = INT64_MAX};
    if (begins) {
        x->visit = 0;
        for (int64_t lane = 0; lane < x->d->lanes; lane++)
            need(x, lane, round, &slot);
        x->blocks++;
    }
    x->near[step % 2] = slot.low != INT64_MAX;
    if (across(x)) slot.entries = pack_others(x, round, step);
    slot.next = next_round(x, round);
    publish(x, step, slot);
}

/* What was asked for in a step, out of the block and the answers. */
static void take_round_values(struct twophase_call *x, int64_t round, int64_t step,
                              int64_t block)
{
    await(x, TWOPHASE_STORED, step + 1);
    if (x->near[step % 2]) move_own(x, round, block);
    if (!across(x)) return;
    await(x, TWOPHASE_ANSWERED, step + 1);
    const unsigned char *answers =
        twophase_window_area(x->w, step, x->w->rank) + x->w->area_size / 4;
    access_walk_note(&x->result,
                     twophase_pack_take(x->walk, &x->packed[step % 2], answers));
}

static void answer_step(struct twophase_call *x, int64_t step, int64_t block)
{
    struct twophase_exchange *e = &x->messages[step % 2];
    struct access_block b = all_lanes(x, block);
    await(x, TWOPHASE_STORED, step + 1);
    struct trace_span span = trace_begin(x->t->ds->trace);
    note_io(x, twophase_exchange_answers(e, &b));
    trace_end(x->t->ds->trace, TRACE_MESSAGES, span);
    twophase_exchange_free(e);
    node_arrive(&x->w->counters[TWOPHASE_ANSWERED]);
}

/* A step's beginning: what is needed is announced, and read; of the step before the
 * values are still to be answered for and taken. */
static void ask_all(struct twophase_call *x, int64_t round, int64_t step, bool begins)
{
    get_step(x, round, step, begins);
    int64_t block = x->blocks - 1;
    if (exchanges(x)) exchange_all(x, step, block);
    read_round_block(x, round, step, block, begins);
}

static void get_rounds_all(struct twophase_call *x)
{
    int64_t round = 0, next = 0;
    ask_all(x, round, 0, true);
    for (int64_t step = 0; next != INT64_MAX; step++) {
        int64_t block = x->blocks - 1;
        next = learn_step(x, step);
        if (next != INT64_MAX) ask_all(x, next, step + 1, next != round);
        if (exchanges(x)) answer_step(x, step, block);
        take_round_values(x, round, step, block);
        round = next;
        x->steps = step + 1;
    }
    node_settle(&x->w->counters[TWOPHASE_STORED], x->steps);
    if (across(x)) node_settle(&x->w->counters[TWOPHASE_ANSWERED], x->steps);
}

/* ---- both ---- */

/* The worst error that anybody met with the file or with messages. Nobody goes on before
 * all are through. */
static int worst_all(struct twophase_call *x)
{
    struct twophase_window *w = x->w;
    int worst = NC_NOERR;
    if (across(x)) return dataset_agree_all(x->t->ds, x->io, NULL, NULL, 0);
    twophase_window_slot(w, x->steps, w->rank)->error = x->io;
    node_meet_all(&w->counters[TWOPHASE_ARRIVED]);
    for (int rank = 0; rank < w->nprocs; rank++) {
        int error = (int)twophase_window_slot(w, x->steps, rank)->error;
        if (error < worst) worst = error;
    }
    return worst;
}

int twophase_all(struct twophase *t, struct access_walk *walk,
                 const struct access_survey *mine, const struct twophase_domains *d,
                 int *io)
{
    struct twophase_call x = {.t = t,
                              .w = &t->window,
                              .walk = walk,
                              .mine = mine,
                              .d = d,
                              .own = twophase_domain_of_node(d, t->window.node, 0)};
    share_equally(&x);
    if (mine->low < mine->high) {
        twophase_domains_between(d, mine->low, mine->high, &x.from, &x.to);
    }
    if (walk->put) {
        clear_marks_all(&x);
        put_rounds_all(&x);
    } else {
        get_rounds_all(&x);
    }
    node_settle(&x.w->counters[TWOPHASE_PACKED], x.steps);
    if (across(&x)) node_settle(&x.w->counters[TWOPHASE_PLANNED], x.steps);
    if (across(&x)) node_settle(&x.w->counters[TWOPHASE_MOVED], x.steps);
    *io = worst_all(&x);
    base_free(x.packed[0].list);
    base_free(x.packed[1].list);
    return x.result;
}
