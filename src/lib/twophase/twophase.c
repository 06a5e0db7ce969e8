/* Runs the rounds of a two-phase exchange.
 *
 * Each node owns a domain of the file and processes it block by block; all nodes work in
 * step. A round processes one block of every node. (In a short call a node owns several
 * domains, whose blocks are stored side by side in lanes; "block" below then means all of
 * them.)
 *
 * In a round of a put:
 * 1. Each process stores its values for its own node's block in that block, which is in
 *    shared memory, and packs its values for other nodes' blocks into its area.
 * 2. The exchanging processes on the node send the areas, and receive those of other
 *    nodes.
 * 3. The storing processes write the block when it is complete. Meanwhile all processes
 *    start step 1 of the next round in the other buffer. On a single node all processes
 *    are storing processes; a process that is alone on its node exchanges and stores.
 *    Values that do not fit into an area are sent in a further step of the same round.
 *    Rounds without values are skipped. Gets run in reverse: the packed records
 *    (questions) describe the requested bytes, and the answers contain them.
 *
 * Processes wait only on the counters in the window (twophase_window.h); those that
 * exchange with other nodes also wait for messages. A buffer, an area and the slots of a
 * step are reused two steps later. This is safe for these reasons:
 * 1. Slots. The slots of step s are read before their reader has packed step s + 1. They
 *    are overwritten by a process that packs s + 2. That process needs the result of s +
 *    1, so every process has already packed s + 1. A process that reads the block of a
 *    get reads the slots later, but before it increments TWOPHASE_STORED for s, and every
 *    process waits for that increment before it packs s + 2.
 * 2. Areas. TWOPHASE_MOVED shows that the areas of step s have been sent; packing s + 2
 *    waits for it. In a get, each process unpacks its answers of s before it packs s + 2.
 * 3. Blocks of a put. TWOPHASE_STORED shows that a block has been written; storing
 *    values in its buffer again waits for it.
 * 4. Blocks of a get. The steps of one round share a buffer. Each step reads only bytes
 *    that the buffer does not contain yet, and that no process has accessed so far. A new
 *    block is read into the buffer of the block before the last one. If the new block
 *    begins with step s + 2, the last step of that older block is at most s. The read
 *    happens after every process has packed s + 2, which each does only after it has
 *    unpacked its values of s and answered the questions of s.
 * There is no deadlock, because no process waits for something that another process does
 * later in this order: packing s + 1 needs only the message counts of s; exchanging s + 1
 * needs only that all have packed it; writing or reading block s, and answering questions
 * about it, need only the exchange of s. */
#include "twophase.h"

#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "trace_record.h"
#include "twophase_exchange.h"

/* One process's state in a call. */
struct twophase_call {
    struct twophase *t;
    struct twophase_window *w;
    struct access_walk *walk;
    const struct access_extent *mine;
    const struct twophase_domains *d;
    int64_t own;      /* this node's domain; -1 if it has none */
    int64_t from, to; /* range of domains in which this process may have values */
    int64_t visit;    /* number of domains in this range visited so far in this round */
    bool resumes;     /* the next domain is already partly packed */
    bool near[2];     /* gets: this process needs bytes from its node's block */
    struct twophase_packed packed[2]; /* data packed in even and odd steps */
    struct twophase_exchange messages[2];
    int share, shares;           /* this process stores share number `share` of `shares`;
                                  * -1 if it stores none */
    int64_t steps, blocks;       /* numbers of completed steps and of started blocks */
    int64_t have_low, have_high; /* gets: range of the buffer read so far */
    int result, io;
};

/* Waits until every process that uses the counter has incremented it `times` times. */
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

static bool has_other_nodes(const struct twophase_call *x)
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

/* Describes the block that one of this node's lanes has in a round. Returns false if
 * there is none. */
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

/* Describes all lanes as one block, because messages contain offsets in the buffer. */
static struct access_block all_lanes(const struct twophase_call *x, int64_t buffer)
{
    const struct twophase_buffer *memory = &x->w->buffers[buffer % TWOPHASE_BUFFERS];
    return (struct access_block){.bytes = memory->bytes,
                                 .marks = memory->marks,
                                 .end = x->d->lanes * x->d->pitch,
                                 .shift = x->d->shift};
}

/* Moves this process's values to or from its own node's block. */
static void move_own(struct twophase_call *x, int64_t round, int64_t buffer)
{
    struct trace *trace = x->t->ds->trace;
    struct trace_span span = trace_begin(trace);
    struct access_block b;
    for (int64_t lane = 0; lane < x->d->lanes; lane++)
        if (own_block(x, lane, round, buffer, &b))
            access_walk_set_error(&x->result, access_walk_block(x->walk, &b));
    trace_end(trace, TRACE_CONVERSION, span);
}

/* ---- values for other nodes ---- */

/* Returns the i-th domain to visit. The order begins after this node's own domain, so
 * that every node starts with a different one. */
static int64_t domain_to_visit(const struct twophase_call *x, int64_t i)
{
    int64_t n = x->to - x->from, first = x->own < 0 ? x->d->count / 2 : x->own + 1;
    first = first < x->from || first >= x->to ? 0 : first - x->from;
    return x->from + (first + i) % n;
}

/* Packs this process's values for one domain in a round. Returns false if some do not
 * fit. */
static bool pack_domain(struct twophase_call *x, struct twophase_packed *p,
                        int64_t domain, int64_t round, struct twophase_entry *e)
{
    int64_t origin, low, high;
    bool all = true;
    *e = (struct twophase_entry){.node = twophase_domain_node(x->d, domain),
                                 .offset = p->used,
                                 .answer_size = p->answer_size};
    if (!twophase_domain_block(x->d, domain, round, &origin, &low, &high)) return true;
    int64_t lane = twophase_domain_lane(x->d, domain);
    int err = twophase_pack(x->walk, p, low, high, origin - lane * x->d->pitch,
                            x->resumes, &all);
    access_walk_set_error(&x->result, err);
    x->resumes = !all;
    e->used = p->used - e->offset;
    e->answer_size = p->answer_size - e->answer_size;
    return all;
}

/* Packs this process's values for other nodes in a round, starting where the last step
 * ended. Returns the number of entries. */
static int64_t pack_others(struct twophase_call *x, int64_t round, int64_t step)
{
    struct twophase_window *w = x->w;
    struct twophase_packed *p = &x->packed[step % 2];
    int64_t records = x->walk->put ? w->area_size : w->area_size / 4, n = 0;
    p->bytes = twophase_window_area(w, step, w->rank);
    p->used = p->answer_size = p->nlist = 0;
    int64_t entries = w->area_size / 8;
    p->max_answer_size = w->area_size - records - entries;
    for (; x->visit < x->to - x->from; x->visit++) {
        int64_t domain = domain_to_visit(x, x->visit);
        struct twophase_entry e;
        if (twophase_domain_node(x->d, domain) == w->node) continue;
        int64_t taken = (n + 1) * (int64_t)sizeof e;
        p->capacity = x->walk->put ? records - taken : taken <= entries ? records : 0;
        bool all = pack_domain(x, p, domain, round, &e);
        e.answer = records + p->answer_size - e.answer_size;
        if (e.used > 0) {
            int err = base_holds(p->used <= p->capacity &&
                                 (x->walk->put || p->answer_size <= p->max_answer_size));
            note_io(x, err);
            if (err == NC_NOERR) *twophase_entry_at(w, step, w->rank, n++) = e;
        }
        if (!all) break;
    }
    return n;
}

/* ---- choosing the next round ---- */

/* Returns the next round after this one in which the process has values in the domain. */
static int64_t next_in_domain(struct twophase_call *x, int64_t domain, int64_t round)
{
    int64_t low, high, at;
    for (int part = 0; part < TWOPHASE_DOMAIN_PARTS; part++) {
        if (!twophase_domain_rest(x->d, domain, round, part, &low, &high)) continue;
        if (low < x->mine->low) low = x->mine->low;
        while ((low = twophase_domain_next(x->d, domain, low)) < high &&
               low < x->mine->high) {
            access_walk_set_error(&x->result, access_walk_next(x->walk, low, &at));
            low = twophase_domain_next(x->d, domain, at);
            if (low == at && at < high) return twophase_domain_round(x->d, domain, at);
        }
    }
    return INT64_MAX;
}

/* Returns the next round in which the process has values, which may be this round. */
static int64_t next_round(struct twophase_call *x, int64_t round)
{
    int64_t least = INT64_MAX;
    if (has_other_nodes(x) && x->visit < x->to - x->from) return round;
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

static int64_t min_next_round(const struct twophase_window *w, int64_t step)
{
    int64_t least = INT64_MAX;
    for (int rank = 0; rank < w->nprocs; rank++) {
        int64_t next = twophase_window_slot(w, step, rank)->next;
        if (next < least) least = next;
    }
    return least;
}

/* Exchanges a step's messages. Publishes the next round within the node as soon as all
 * nodes are known to have packed this step. */
static void exchange_all(struct twophase_call *x, int64_t step, int64_t buffer)
{
    struct twophase_window *w = x->w;
    struct access_block b = all_lanes(x, buffer);
    struct twophase_exchange *e = &x->messages[step % 2];
    struct twophase_slot *mine = twophase_window_slot(w, step, w->nprocs + w->rank);
    await(x, TWOPHASE_PACKED, step + 1);
    int64_t least = min_next_round(w, step);
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

/* Returns the round of the next step, or INT64_MAX if this step was the last. */
static int64_t agree_next_step(const struct twophase_call *x, int64_t step)
{
    await(x, has_other_nodes(x) ? TWOPHASE_PLANNED : TWOPHASE_PACKED, step + 1);
    if (!has_other_nodes(x)) return min_next_round(x->w, step);
    return twophase_window_slot(x->w, step, x->w->nprocs)->next;
}

/* Waits until all values of this step, from this node and others, have arrived. */
static void await_step(const struct twophase_call *x, int64_t step)
{
    await(x, TWOPHASE_PACKED, step + 1);
    if (has_other_nodes(x)) await(x, TWOPHASE_MOVED, step + 1);
}

/* ---- the file ---- */

/* Divides bytes [low, high) of the file into n shares, and returns the offset of the
 * i-th. Shares are whole stripes, or parts of stripes if there are fewer stripes than
 * shares: one process may be slower than a server, and the processes on a node share the
 * node's locks. Parts are smaller if no other node writes to the same server. */
static int64_t bound(const struct twophase_call *x, int i, int n, int64_t low,
                     int64_t high)
{
    enum { LEAST_SHARE = 65536, PART = 2 << 20, PART_OF_SERVER = 1 << 20 };
    const struct twophase *t = x->t;
    int64_t part = x->d->block_stride > 0 ? PART_OF_SERVER : PART;
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

/* Reduces [*low, *high) to this process's share. The last share includes the bytes after
 * `end`. If all bytes are after `end`, all shares divide them. */
static void limit_to_share(const struct twophase_call *x, int64_t end, int64_t *low,
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

/* Assigns an equal share to each storing process. */
static void share_equally(struct twophase_call *x)
{
    x->share = x->w->rank - x->w->first_storer;
    x->shares = x->w->counters[TWOPHASE_STORED].expected;
}

/* Returns the first lane that this process stores. A single lane is divided among all
 * storing processes. */
static int64_t first_lane(const struct twophase_call *x)
{
    return x->d->stripes_per_node > 0 ? x->share : 0;
}

/* Checks that this node owns the block, and that this process's share consists of whole
 * marks of it. */
static int check_share(const struct twophase_call *x, const struct access_block *b,
                       int64_t low, int64_t high)
{
    const struct twophase_domains *d = x->d;
    base_require(b->start >= b->origin && b->end - b->origin <= d->block);
    base_require(twophase_domain_node(d, twophase_domain_at(d, b->start)) == x->w->node);
    base_require(twophase_domain_node(d, twophase_domain_at(d, b->end - 1)) ==
                 x->w->node);
    base_require(b->start <= low && high <= b->end);
    base_require(((low - b->origin) & ((INT64_C(1) << b->shift) - 1)) == 0);
    return NC_NOERR;
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
        if (x->d->stripes_per_node == 0) limit_to_share(x, b.end, &low, &high);
        note_io(x, check_share(x, &b, low, high));
        /* After a violation this writes nothing, but still clears the marks. */
        if (low < b.start) low = b.start;
        if (high > b.end) high = b.end;
        note_io(x, twophase_cover_write(x->t, &b, low - b.origin, high - b.origin));
    }
    node_arrive(&x->w->counters[TWOPHASE_STORED]);
}

/* Returns the range of the buffer that covers all bytes needed by any process. */
static void get_needed_range(const struct twophase_call *x, int64_t step, int64_t *low,
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

/* Converts a range of the buffer to the bytes of the file that this process reads for a
 * block. The range includes any values in the slack after the block. */
static void file_range_to_read(const struct twophase_call *x, int64_t lane,
                               const struct access_block *b, int64_t *low, int64_t *high)
{
    int64_t shift = b->origin - lane * x->d->pitch;
    *low = *low + shift < b->start ? b->start : *low + shift;
    *high = *high + shift > b->end + ACCESS_SLACK ? b->end + ACCESS_SLACK : *high + shift;
    if (x->d->stripes_per_node == 0) limit_to_share(x, b->end, low, high);
}

/* Assigns the shares of the next block. A process that copies many bytes from this block
 * reaches the next block late, so the others read that block if they are at least half of
 * the storing processes. All storing processes evaluate the same slots before they
 * increment TWOPHASE_STORED. */
static void assign_shares(struct twophase_call *x, int64_t step)
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
    if (x->d->stripes_per_node > 0 || 2 * n < x->shares) return;
    x->share = mine;
    x->shares = n;
}

/* Reads this process's share of a range of the buffer. */
static void read_places(struct twophase_call *x, int64_t round, int64_t block,
                        int64_t from, int64_t to)
{
    struct access_block b;
    if (from >= to) return;
    for (int64_t i = first_lane(x); i < x->d->lanes; i += x->shares) {
        int64_t low = from, high = to;
        if (!own_block(x, i, round, block, &b)) continue;
        file_range_to_read(x, i, &b, &low, &high);
        if (low < high)
            note_io(x,
                    file_read(x->t->file, low, b.bytes + (low - b.origin), high - low));
    }
}

/* Reads the needed bytes of a block. Extends the range that the round's earlier steps
 * have read in both directions, so the range stays contiguous. All storing processes
 * evaluate the same slots, so they agree on the range. */
static void read_round_block(struct twophase_call *x, int64_t round, int64_t step,
                             int64_t block, bool begins)
{
    int64_t low, high;
    if (!stores(x)) return;
    await_step(x, step);
    get_needed_range(x, step, &low, &high);
    if (begins) x->have_low = x->have_high = 0;
    if (low < high) {
        if (x->have_low == x->have_high) x->have_low = x->have_high = low;
        read_places(x, round, block, low, x->have_low);
        read_places(x, round, block, x->have_high, high);
        if (low < x->have_low) x->have_low = low;
        if (high > x->have_high) x->have_high = high;
    }
    assign_shares(x, step);
    node_arrive(&x->w->counters[TWOPHASE_STORED]);
}

/* ---- puts ---- */

/* Begins a step of a put: packs values for other nodes, and at the start of a round
 * stores this process's values in the block once its buffer is free. */
static void put_step(struct twophase_call *x, int64_t round, int64_t step, bool begins)
{
    struct twophase_slot slot = {.low = INT64_MAX};
    if (begins) x->visit = 0;
    if (has_other_nodes(x)) {
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
        next = agree_next_step(x, step);
        if (x->io == NC_NOERR) note_io(x, base_holds(next >= round));
        if (next != INT64_MAX) put_step(x, next, step + 1, next != round);
        if (next != round) write_block(x, round, step, block);
        round = next;
        x->steps = step + 1;
    }
    node_end_call(&x->w->counters[TWOPHASE_STORED], x->blocks);
}

/* Clears marks that were never used. Others were cleared when their bytes were
 * written. */
static void clear_marks_all(struct twophase_call *x)
{
    struct twophase_window *w = x->w;
    int64_t marks = ((w->size + ACCESS_SLACK) >> x->d->shift) + 1;
    int64_t block = x->d->low / x->d->block * x->d->block;
    int64_t bytes =
        x->d->stripes_per_node > 0 ? x->d->lanes * x->d->pitch : x->d->high - block;
    int64_t extent = (bytes >> x->d->shift) + 1;
    if (extent < marks) marks = extent;
    if (marks <= w->cleared) return;
    int64_t each = (marks - w->cleared) / w->nprocs + 1;
    int64_t low = w->cleared + w->rank * each;
    int64_t high = low + each < marks ? low + each : marks;
    for (int i = 0; i < TWOPHASE_BUFFERS && low < high; i++)
        memset(w->buffers[i].marks + low, 0, (size_t)(high - low));
    w->cleared = marks;
    node_barrier_all(&w->counters[TWOPHASE_ARRIVED]);
}

/* ---- gets ---- */

/* Extends the slot's range by the bytes that this process needs from its node's block. */
static void add_needed_range(struct twophase_call *x, int64_t lane, int64_t round,
                             struct twophase_slot *slot)
{
    struct access_block b;
    int64_t low, high;
    if (!own_block(x, lane, round, x->blocks, &b)) return;
    access_walk_set_error(&x->result,
                          access_walk_find_range(x->walk, b.start, b.end, &low, &high));
    if (low == INT64_MAX) return;
    int64_t shift = b.origin - lane * x->d->pitch;
    if (low - shift < slot->low) slot->low = low - shift;
    if (high - shift > slot->high) slot->high = high - shift;
}

/* Begins a step of a get: publishes the bytes that this process needs from its node's
 * block, and packs questions for other nodes. */
static void get_step(struct twophase_call *x, int64_t round, int64_t step, bool begins)
{
    struct twophase_slot slot = {.low = INT64_MAX};
    if (begins) {
        x->visit = 0;
        for (int64_t lane = 0; lane < x->d->lanes; lane++)
            add_needed_range(x, lane, round, &slot);
        x->blocks++;
    }
    x->near[step % 2] = slot.low != INT64_MAX;
    if (has_other_nodes(x)) slot.entries = pack_others(x, round, step);
    slot.next = next_round(x, round);
    publish(x, step, slot);
}

/* Copies a step's values from the block and the answers to the user's memory. */
static void store_round_values(struct twophase_call *x, int64_t round, int64_t step,
                               int64_t block)
{
    await(x, TWOPHASE_STORED, step + 1);
    if (x->near[step % 2]) move_own(x, round, block);
    if (!has_other_nodes(x)) return;
    await(x, TWOPHASE_ANSWERED, step + 1);
    const unsigned char *answers =
        twophase_window_area(x->w, step, x->w->rank) + x->w->area_size / 4;
    access_walk_set_error(
        &x->result, twophase_pack_store_answer(x->walk, &x->packed[step % 2], answers));
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

/* Begins a step: publishes the bytes that are needed, exchanges questions and reads the
 * block. The caller then handles the answers and values of the previous step. */
static void request_values_all(struct twophase_call *x, int64_t round, int64_t step,
                               bool begins)
{
    get_step(x, round, step, begins);
    int64_t block = x->blocks - 1;
    if (exchanges(x)) exchange_all(x, step, block);
    read_round_block(x, round, step, block, begins);
}

static void get_rounds_all(struct twophase_call *x)
{
    int64_t round = 0, next = 0;
    request_values_all(x, round, 0, true);
    for (int64_t step = 0; next != INT64_MAX; step++) {
        int64_t block = x->blocks - 1;
        next = agree_next_step(x, step);
        if (x->io == NC_NOERR) note_io(x, base_holds(next >= round));
        if (next != INT64_MAX) request_values_all(x, next, step + 1, next != round);
        if (exchanges(x)) answer_step(x, step, block);
        store_round_values(x, round, step, block);
        round = next;
        x->steps = step + 1;
    }
    node_end_call(&x->w->counters[TWOPHASE_STORED], x->steps);
    if (has_other_nodes(x)) node_end_call(&x->w->counters[TWOPHASE_ANSWERED], x->steps);
}

/* ---- puts and gets ---- */

/* Returns the worst file or message error on any process. Waits for all processes. */
static int worst_all(struct twophase_call *x)
{
    struct twophase_window *w = x->w;
    int worst = NC_NOERR;
    if (has_other_nodes(x)) return dataset_agree_all(x->t->ds, x->io, NULL, NULL, 0);
    twophase_window_slot(w, x->steps, w->rank)->error = x->io;
    node_barrier_all(&w->counters[TWOPHASE_ARRIVED]);
    for (int rank = 0; rank < w->nprocs; rank++) {
        int error = (int)twophase_window_slot(w, x->steps, rank)->error;
        if (error < worst) worst = error;
    }
    return worst;
}

int twophase_all(struct twophase *t, struct access_walk *walk,
                 const struct access_extent *mine, const struct twophase_domains *d,
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
    node_end_call(&x.w->counters[TWOPHASE_PACKED], x.steps);
    if (has_other_nodes(&x)) node_end_call(&x.w->counters[TWOPHASE_PLANNED], x.steps);
    if (has_other_nodes(&x)) node_end_call(&x.w->counters[TWOPHASE_MOVED], x.steps);
    *io = worst_all(&x);
    base_free(x.packed[0].list);
    base_free(x.packed[1].list);
    return x.result;
}
